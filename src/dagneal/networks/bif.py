"""Read and write the Bayesian network interchange format (BIF).

The reader supports the features of public benchmark files: quoted and unquoted names, comments, properties, `table` and
`default` entries, one row per combination of parent states, and state names such as `<5` or `0.5`.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import product
from math import isfinite, prod
from pathlib import Path

import numpy as np

from dagneal.base.errors import InputError
from dagneal.base.files import atomic_write
from dagneal.base.text import printable
from dagneal.data.recipe import RECIPE_VERSION, Recipe
from dagneal.networks.network import LARGEST_CPT, BayesianNetwork

_TOKEN = re.compile(
    r"""(?P<space>\s+|//[^\n]*|/\*.*?\*/)
      | "(?P<quoted>[^"]*)"
      | (?P<mark>[{}\[\](),;|])
      | (?P<word>(?:(?!//|/\*)[^\s{}\[\](),;|"])+)""",
    re.VERBOSE | re.DOTALL,
)
_NOT_QUOTABLE = re.compile('["\\r\\n\ud800-\udfff]')  # no encoding can write lone surrogates
_KEYWORDS = ("network", "variable", "probability", "property", "type", "discrete", "table", "default")
# Names that pyAgrum reads. It reads no quotes except around the name of the network.
_READABLE_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_.-]*")
_READABLE_STATE = re.compile(r"[A-Za-z_][A-Za-z0-9_.-]*|-?[0-9]+")
_ORIGINAL = "original name of"  # begins the comments with names that were replaced
_STORED = re.compile(
    rf'^// {_ORIGINAL} (?:network|variable (?P<variable>\S+)|state (?P<owner>\S+) (?P<state>\S+)) (?P<original>".*")\s*$',
    re.MULTILINE,
)
_PREPARED = "preparation of the training data"  # begins the comments with the recipe, one for each variable
_RECIPE = re.compile(rf"^// {_PREPARED} (?P<column>\{{.*\}})\s*$", re.MULTILINE)
_UNQUOTED = re.compile(r"[A-Za-z0-9_.<>=+\-/%&]+")


def read_bif(path: str | os.PathLike[str]) -> BayesianNetwork:
    """Read a network from a BIF file.

    Args:
        path: path of the file.
    """
    try:
        text = Path(path).read_text(encoding="utf-8-sig")
    except UnicodeDecodeError as error:
        raise InputError(f"{path} is not UTF-8 text; give a BIF file") from error
    except OSError as error:
        raise InputError(f"{path} cannot be read: {error.strerror or error}") from error
    return parse_bif(text, printable(str(path)))  # a file name may not be valid UTF-8, a network name must be


def parse_bif(text: str, where: str = "BIF") -> BayesianNetwork:
    """Read a network from BIF text.

    Args:
        text: BIF text.
        where: source of the text, such as a file name, for error messages.

    >>> parse_bif('''network coin {}
    ... variable coin { type discrete [ 2 ] { head, tail }; }
    ... probability ( coin ) { table 0.5, 0.5; }''', "coin")
    BayesianNetwork(coin: 1 variables, 0 edges)
    """
    network = _Parser(text, where).network()
    network = _restore_names(network, text, where) if _ORIGINAL in text else network
    return _restore_recipe(network, text, where) if _PREPARED in text else network


class _Parser:
    """A recursive descent parser for BIF text. Its error messages contain the line number."""

    def __init__(self, text: str, where: str) -> None:
        self.where = where
        self.tokens = list(self._tokenise(text))
        self.next = 0
        self.states: dict[str, tuple[str, ...]] = {}
        self.tables: dict[str, tuple[tuple[str, ...], np.ndarray]] = {}
        self.title = ""
        self.rows: set[tuple[int, ...]] = set()  # parent states read so far in the current table

    def _tokenise(self, text: str) -> Iterator[tuple[str, str, int]]:
        position, line = 0, 1
        while position < len(text):
            match = _TOKEN.match(text, position)
            if match is None:
                raise InputError(f"{self.where}, line {line}: a quote or comment is not closed; close it")
            kind = str(match.lastgroup)
            if kind != "space":
                yield kind, match[kind], line
            line += text.count("\n", position, match.end())
            position = match.end()

    def error(self, what: str, line: int | None = None) -> InputError:
        if line is None:
            line = self.tokens[min(self.next, len(self.tokens)) - 1][2] if self.tokens else 1
        return InputError(f"{self.where}, line {line}: {what}")

    def take(self) -> tuple[str, str]:
        if self.next == len(self.tokens):
            raise self.error("the file ends too early; it seems to be cut off")
        self.next += 1
        kind, text, _ = self.tokens[self.next - 1]
        return kind, text

    def at(self, mark: str) -> bool:
        return self.next < len(self.tokens) and self.tokens[self.next][:2] == ("mark", mark)

    def expect(self, mark: str) -> None:
        kind, text = self.take()
        if (kind, text) != ("mark", mark):
            raise self.error(f"expected {mark!r}, found {text!r}")

    def name(self, what: str) -> str:
        kind, text = self.take()
        if kind == "mark":
            raise self.error(f"expected {what}, found {text!r}")
        return text

    def names_until(self, *marks: str) -> list[str]:
        """Read names until the next token is one of `marks`. Return the names. Commas between names are optional."""
        names = []
        while not any(self.at(mark) for mark in marks):
            if self.at(","):
                self.next += 1
            else:
                names.append(self.name("a name"))
        return names

    def skip_statement(self) -> None:
        while self.take() != ("mark", ";"):
            pass

    def network(self) -> BayesianNetwork:
        if not self.tokens:
            raise self.error("the file is empty")
        while self.next < len(self.tokens):
            word = self.name("'network', 'variable' or 'probability'")
            if word == "network":
                self.title = " ".join(self.names_until("{"))
                self.expect("{")
                while not self.at("}"):
                    self.skip_statement()
                self.expect("}")
            elif word == "variable":
                self.variable()
            elif word == "probability":
                self.probability()
            else:
                raise self.error(f"expected 'network', 'variable' or 'probability', found {word!r}")
        if not self.states:
            raise self.error("the file declares no variable")
        for name in self.states:
            if name not in self.tables:
                raise self.error(f"{name!r} has no probabilities; add a probability block")
        parents = {name: self.tables[name][0] for name in self.states}
        tables = {name: self.tables[name][1] for name in self.states}
        network = BayesianNetwork(self.states, parents, tables, self.where)  # errors show the file name
        return replace(network, name=self.title or self.where)

    def variable(self) -> None:
        name = self.name("the name of a variable")
        if name in self.states:
            raise self.error(f"the variable {name!r} is declared twice")
        self.expect("{")
        while not self.at("}"):
            word = self.name("'type' or 'property'")
            if word != "type":
                self.skip_statement()
                continue
            kind = self.name("'discrete'")
            if kind != "discrete":
                raise self.error(f"{name!r} is {kind}; only discrete variables are supported")
            self.expect("[")
            count = self.name("the number of states")
            self.expect("]")
            self.expect("{")
            states = tuple(self.names_until("}"))
            self.expect("}")
            self.expect(";")
            if count != str(len(states)):
                raise self.error(f"{name!r} declares {count} states but lists {len(states)}")
            self.states[name] = states
        self.expect("}")
        if name not in self.states:
            raise self.error(f"the variable {name!r} has no type")

    def probability(self) -> None:
        self.expect("(")
        child = self.check_declared(self.name("a variable"))
        if self.at("|"):  # older files omit the bar; the child still comes first
            self.expect("|")
        parents = tuple(self.check_declared(p) for p in self.names_until(")"))
        self.expect(")")
        line = self.tokens[self.next - 1][2]
        if child in self.tables:
            raise self.error(f"the probabilities of {child!r} are given twice")
        shape = [len(self.states[v]) for v in (*parents, child)]
        if len(shape) > 64 or prod(shape) > LARGEST_CPT:
            raise self.error(f"the table of {child!r} with {len(parents)} parents is too large; use fewer parents")
        table = np.full(shape, np.nan)
        self.rows = set()
        self.expect("{")
        while not self.at("}"):
            self.entry(child, parents, table)
        self.expect("}")
        if np.isnan(table).any():
            where = np.argwhere(np.isnan(table))[0][:-1]
            row = ", ".join(self.states[p][i] for p, i in zip(parents, where, strict=True))
            raise self.error(f"the probabilities of {child!r} given ({row}) are missing", line)
        self.tables[child] = (parents, table)

    def entry(self, child: str, parents: Sequence[str], table: np.ndarray) -> None:
        """Read one statement of a probability block and write its probabilities into `table`."""
        if self.at("("):
            self.expect("(")
            given = self.names_until(")")
            self.expect(")")
            if len(given) != len(parents):
                raise self.error(
                    f"a row of {child!r} has {len(given)} parent states, but {child!r} has {len(parents)} parents"
                )
            row = tuple(self.state(p, s) for p, s in zip(parents, given, strict=True))
            if row in self.rows:
                raise self.error(f"the row ({', '.join(given)}) of {child!r} is given twice")
            self.rows.add(row)
            table[row] = self.numbers(table.shape[-1], f"a row of {child!r}")
            return
        word = self.name("'table', 'default' or a row")
        if word == "table":
            # The child varies slowest and the last parent fastest, as in the dog-problem example of the BIF specification.
            values = np.array(self.numbers(prod(table.shape), f"the table of {child!r}"))
            table[...] = np.moveaxis(values.reshape(table.shape[-1:] + table.shape[:-1]), 0, -1)
        elif word == "default":
            values = np.array(self.numbers(table.shape[-1], f"the default of {child!r}"))
            table[np.isnan(table[..., 0])] = values
        elif word == "property":
            self.skip_statement()
        else:
            raise self.error(f"expected 'table', 'default' or a row, found {word!r}")

    def numbers(self, count: int, what: str) -> list[float]:
        words = self.names_until(";")
        try:
            values = [float(word) for word in words]
            if not all(map(isfinite, values)):
                raise ValueError
        except ValueError as error:
            raise self.error(f"{what} contains a value that is not a finite number") from error
        if len(values) != count:
            raise self.error(f"{what} has {len(values)} numbers instead of {count}")
        self.expect(";")
        return values

    def check_declared(self, name: str) -> str:
        if name not in self.states:
            raise self.error(f"the variable {name!r} is not declared")
        return name

    def state(self, variable: str, state: str) -> int:
        if state not in self.states[variable]:
            raise self.error(f"{variable!r} has no state {state!r}; it has {', '.join(self.states[variable])}")
        return self.states[variable].index(state)


def write_bif(network: BayesianNetwork, path: str | os.PathLike[str], safe: bool | None = None) -> None:
    """Write a network as a BIF file. Reading the file gives the same network.

    Args:
        network: network to write.
        path: path of the file.
        safe: None to replace only names that pyAgrum cannot read, and to store the original names as comments, which
            `read_bif` reads; True to replace all special characters for good; False to write all names unchanged.
    """
    text = format_bif(make_labels_safe(network) if safe else network, restorable=safe is None)
    with atomic_write(path) as file:
        file.write(text.encode())


def format_bif(network: BayesianNetwork, restorable: bool = True) -> str:
    """Return a network as BIF text.

    Args:
        network: network to write.
        restorable: True to replace names that pyAgrum cannot read, and to store the original names as comments; False to
            write all names unchanged.

    >>> from dagneal.networks.bundled import load
    >>> parse_bif(format_bif(load("waste"))).dag.edges == load("waste").dag.edges
    True
    """
    title, names = network.name, {name: name for name in network.names}
    labels = {name: dict(zip(states, states, strict=True)) for name, states in network.states.items()}
    if restorable:
        title = network.name if not _NOT_QUOTABLE.search(network.name) else safe_labels([network.name])[network.name]
        names = safe_labels(network.names, _READABLE_NAME)
        labels = {name: safe_labels(states, _READABLE_STATE) for name, states in network.states.items()}
    comments = _name_comments(network, title, names, labels)
    comments += _recipe_comments(network) if restorable else []
    lines = [f"network {_quote(title)} {{", "}", *comments]
    for name, states in labels.items():
        words = ", ".join(map(_quote, states.values()))
        lines += [f"variable {_quote(names[name])} {{", f"  type discrete [ {len(states)} ] {{ {words} }};", "}"]
    for name, table in network.cpts.items():
        parents = network.parents[name]
        condition = f" | {', '.join(_quote(names[parent]) for parent in parents)}" if parents else ""
        lines.append(f"probability ( {_quote(names[name])}{condition} ) {{")
        words_of = [list(map(_quote, labels[parent].values())) for parent in parents]
        for row in product(*map(range, table.shape[:-1])):
            given = ", ".join(words[at] for words, at in zip(words_of, row, strict=True))
            head = f"({given})" if parents else "table"
            lines.append(f"  {head} {', '.join(repr(float(v)) for v in table[row])};")
        lines.append("}")
    return "\n".join(lines) + "\n"


def _name_comments(
    network: BayesianNetwork, title: str, names: Mapping[str, str], labels: Mapping[str, Mapping[str, str]]
) -> list[str]:
    """Return the comments with the original names of everything that has another name in the file."""
    comments = []
    if title != network.name:
        comments.append(f"// {_ORIGINAL} network {json.dumps(network.name)}")
    for name, states in labels.items():
        if names[name] != name:
            comments.append(f"// {_ORIGINAL} variable {names[name]} {json.dumps(name)}")
        changed = [(label, state) for state, label in states.items() if label != state]
        comments += [f"// {_ORIGINAL} state {names[name]} {label} {json.dumps(state)}" for label, state in changed]
    if comments:
        comments.insert(0, "// Some programs cannot read all names of this network. dagneal reads the original names below.")
    return comments


def _restore_names(network: BayesianNetwork, text: str, where: str) -> BayesianNetwork:
    """Return a network with the original names that are stored as comments in its BIF text."""
    names = {name: name for name in network.names}
    states = {name: {state: state for state in own} for name, own in network.states.items()}
    title = network.name
    for match in _STORED.finditer(text):
        variable, owner, state = match["variable"], match["owner"], match["state"]
        try:
            original = str(json.loads(match["original"]))
        except ValueError as error:
            line = text.count("\n", 0, match.start()) + 1
            raise InputError(f"{where}, line {line}: the original name is not a JSON text; correct or remove it") from error
        if variable is not None:
            if variable in names:  # a variable that was renamed since keeps its new name
                names[variable] = original
        elif owner is None:
            title = original
        elif state in states.get(owner, {}):
            states[owner][state] = original
    if len(set(names.values())) < len(names):
        raise InputError(f"{where}: two variables have the same original name; correct the comments with original names")
    return BayesianNetwork(
        {names[name]: tuple(own.values()) for name, own in states.items()},
        {names[name]: tuple(names[parent] for parent in parents) for name, parents in network.parents.items()},
        {names[name]: table for name, table in network.cpts.items()},
        title,
    )


def _recipe_comments(network: BayesianNetwork) -> list[str]:
    """Return the comments with the recipe, without its explanations; none if the variables are unchanged columns."""
    recipe = network.recipe
    if recipe is None or all(each.unchanged for each in recipe.variables):
        return []
    plain = Recipe(tuple(replace(each, was="", became="", why="", change="") for each in recipe.variables))
    return [f"// {_PREPARED} {json.dumps(line)}" for line in plain.to_dict()["column"]]


def _restore_recipe(network: BayesianNetwork, text: str, where: str) -> BayesianNetwork:
    """Return a network with the recipe that is stored as comments in its BIF text."""
    try:
        lines = [json.loads(match["column"]) for match in _RECIPE.finditer(text)]
        recipe = Recipe.from_dict({"version": RECIPE_VERSION, "column": lines})
    except (ValueError, RecursionError) as error:
        problem = error if isinstance(error, InputError) else "it is not JSON"
        text = f"{where}: the preparation of the training data cannot be read: {problem}; correct or remove the comments"
        raise InputError(text) from error
    return replace(network, recipe=recipe) if lines else network


def make_labels_safe(network: BayesianNetwork) -> BayesianNetwork:
    """Return a copy of a network whose names and states are plain identifiers.

    A plain identifier has only letters, digits and underscores, and does not begin with a digit.

    Args:
        network: network to copy.
    """
    names = safe_labels(network.names)
    return BayesianNetwork(
        {names[name]: tuple(safe_labels(states).values()) for name, states in network.states.items()},
        {names[name]: tuple(names[p] for p in parents) for name, parents in network.parents.items()},
        {names[name]: table for name, table in network.cpts.items()},
        safe_labels([network.name])[network.name],
    )


def safe_labels(labels: Iterable[str], readable: re.Pattern[str] | None = None) -> dict[str, str]:
    """Return a plain identifier for each label. Different labels have different identifiers.

    Args:
        labels: labels to replace.
        readable: pattern of labels that stay unchanged; None to replace all labels that are not plain identifiers.

    >>> safe_labels(["Asy/Patch", "Asy Patch", "3", "table"])
    {'Asy/Patch': 'Asy_Patch', 'Asy Patch': 'Asy_Patch_2', '3': '_3', 'table': 'table_'}
    """
    given = list(labels)
    kept = {label for label in given if readable is not None and readable.fullmatch(label) and label not in _KEYWORDS}
    identifiers: dict[str, str] = {}
    used = set(kept)
    for label in given:
        plain = re.sub(r"[^A-Za-z0-9_]", "_", str(label)) or "_"
        plain = f"_{plain}" if plain[0].isdigit() else plain
        plain = f"{plain}_" if plain in _KEYWORDS else plain
        word, number = plain, 2
        while word in used:
            word, number = f"{plain}_{number}", number + 1
        identifiers[label] = label if label in kept else word
        used.add(identifiers[label])
    return identifiers


def _quote(name: str) -> str:
    """Return a name as BIF text, in quotes if necessary. Raise an error if the name cannot be written in BIF."""
    if _UNQUOTED.fullmatch(name) and "//" not in name and "/*" not in name:
        return name
    if _NOT_QUOTABLE.search(name):
        why = "it contains a quote, a line break or an invalid character"
        raise InputError(f"the name {name!r} cannot be written in BIF: {why}; rename it, or leave out safe=False")
    return f'"{name}"'
