"""Read and write the Bayesian network interchange format (BIF).

The reader supports the features of public benchmark files: quoted and unquoted names, comments, properties, `table` and
`default` entries, one row per combination of parent states, and state names such as `<5` or `0.5`.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import product
from math import isfinite, prod
from pathlib import Path

import numpy as np

from dagneal.base.errors import InputError
from dagneal.base.files import atomic_write
from dagneal.base.text import printable
from dagneal.networks.network import LARGEST_CPT, BayesianNetwork

_TOKEN = re.compile(
    r"""(?P<space>\s+|//[^\n]*|/\*.*?\*/)
      | "(?P<quoted>[^"]*)"
      | (?P<mark>[{}\[\](),;|])
      | (?P<word>(?:(?!//|/\*)[^\s{}\[\](),;|"])+)""",
    re.VERBOSE | re.DOTALL,
)
_NOT_QUOTABLE = re.compile('["\\r\\n\ud800-\udfff]')  # no encoding can write lone surrogates
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
    return _Parser(text, where).network()


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


def write_bif(network: BayesianNetwork, path: str | os.PathLike[str]) -> None:
    """Write a network as a BIF file. Reading the file gives the same network.

    Args:
        network: network to write.
        path: path of the file.
    """
    with atomic_write(path) as file:
        file.write(format_bif(network).encode())


def format_bif(network: BayesianNetwork) -> str:
    """Return a network as BIF text.

    >>> from dagneal.networks.bundled import load
    >>> parse_bif(format_bif(load("waste"))).dag.edges == load("waste").dag.edges
    True
    """
    lines = [f"network {_quote(network.name)} {{", "}"]
    for name, states in network.states.items():
        labels = ", ".join(map(_quote, states))
        lines += [f"variable {_quote(name)} {{", f"  type discrete [ {len(states)} ] {{ {labels} }};", "}"]
    for name, table in network.cpts.items():
        parents = network.parents[name]
        condition = f" | {', '.join(map(_quote, parents))}" if parents else ""
        lines.append(f"probability ( {_quote(name)}{condition} ) {{")
        for row in product(*(range(len(network.states[p])) for p in parents)):
            given = ", ".join(_quote(network.states[p][i]) for p, i in zip(parents, row, strict=True))
            head = f"({given})" if parents else "table"
            lines.append(f"  {head} {', '.join(repr(float(v)) for v in table[row])};")
        lines.append("}")
    return "\n".join(lines) + "\n"


def check_names(names: Iterable[str]) -> None:
    """Check that all given names can be written in a BIF file."""
    for name in names:
        _quote(name)


def _quote(name: str) -> str:
    """Return a name as BIF text, in quotes if necessary. Raise an error if the name cannot be written in BIF."""
    if _UNQUOTED.fullmatch(name) and "//" not in name and "/*" not in name:
        return name
    if _NOT_QUOTABLE.search(name):
        why = "it contains a quote, a line break or an invalid character"
        raise InputError(f"the name {name!r} cannot be written in BIF: {why}; rename it, or write with safe=True")
    return f'"{name}"'
