"""The Bayesian network interchange format (BIF): read and write.

The reader takes what the public benchmark files hold: names in quotes or not, comments, properties, `table` and
`default` entries, rows for parent states, state names such as `<5` or `0.5`.
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
from dagneal.base.files import replacing
from dagneal.base.text import printable
from dagneal.networks.network import LARGEST_CPT, BayesianNetwork

_TOKEN = re.compile(
    r"""(?P<space>\s+|//[^\n]*|/\*.*?\*/)
      | "(?P<quoted>[^"]*)"
      | (?P<mark>[{}\[\](),;|])
      | (?P<word>(?:(?!//|/\*)[^\s{}\[\](),;|"])+)""",
    re.VERBOSE | re.DOTALL,
)
_NOT_QUOTABLE = re.compile('["\\r\\n\ud800-\udfff]')  # lone surrogates are not text in any encoding
_PLAIN = re.compile(r"[A-Za-z0-9_.<>=+\-/%&]+")


def read_bif(path: str | os.PathLike[str]) -> BayesianNetwork:
    """Read a network from a BIF file.

    Args:
        path: the file.
    """
    try:
        text = Path(path).read_text(encoding="utf-8-sig")
    except UnicodeDecodeError as error:
        raise InputError(f"{path} is not text in UTF-8; is it a BIF file?") from error
    except OSError as error:
        raise InputError(f"{path} cannot be read: {error.strerror or error}") from error
    return parse_bif(text, printable(str(path)))  # the name of a file may not be UTF-8, that of a network is


def parse_bif(text: str, where: str = "BIF") -> BayesianNetwork:
    """Read a network from BIF text.

    Args:
        text: the text.
        where: what to call it in errors.

    >>> parse_bif('''network coin {}
    ... variable coin { type discrete [ 2 ] { head, tail }; }
    ... probability ( coin ) { table 0.5, 0.5; }''', "coin")
    BayesianNetwork(coin: 1 variables, 0 edges)
    """
    return _Parser(text, where).network()


class _Parser:
    """Recursive descent over the tokens; every complaint names the line."""

    def __init__(self, text: str, where: str) -> None:
        self.where = where
        self.tokens = list(self._tokenise(text))
        self.next = 0
        self.states: dict[str, tuple[str, ...]] = {}
        self.tables: dict[str, tuple[tuple[str, ...], np.ndarray]] = {}
        self.title = ""
        self.rows: set[tuple[int, ...]] = set()  # of the table that is being read

    def _tokenise(self, text: str) -> Iterator[tuple[str, str, int]]:
        position, line = 0, 1
        while position < len(text):
            match = _TOKEN.match(text, position)
            if match is None:
                raise InputError(f"{self.where}, line {line}: a quote or comment is not closed")
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
            raise self.error("the file ends too early")
        self.next += 1
        kind, text, _ = self.tokens[self.next - 1]
        return kind, text

    def at(self, mark: str) -> bool:
        return self.next < len(self.tokens) and self.tokens[self.next][:2] == ("mark", mark)

    def expect(self, mark: str) -> None:
        kind, text = self.take()
        if (kind, text) != ("mark", mark):
            raise self.error(f"{mark!r} is expected, {text!r} is found")

    def name(self, what: str) -> str:
        kind, text = self.take()
        if kind == "mark":
            raise self.error(f"{what} is expected, {text!r} is found")
        return text

    def names_until(self, *marks: str) -> list[str]:
        """Names up to one of the marks, which is left; commas between them may be missing."""
        found = []
        while not any(self.at(mark) for mark in marks):
            if self.at(","):
                self.next += 1
            else:
                found.append(self.name("a name"))
        return found

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
                raise self.error(f"'network', 'variable' or 'probability' is expected, {word!r} is found")
        if not self.states:
            raise self.error("no variable is declared")
        for name in self.states:
            if name not in self.tables:
                raise self.error(f"{name!r} has no probabilities")
        parents = {name: self.tables[name][0] for name in self.states}
        tables = {name: self.tables[name][1] for name in self.states}
        network = BayesianNetwork(self.states, parents, tables, self.where)  # errors name the file
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
                raise self.error(f"{name!r} is {kind}; only discrete variables can be read")
            self.expect("[")
            count = self.name("the number of states")
            self.expect("]")
            self.expect("{")
            states = tuple(self.names_until("}"))
            self.expect("}")
            self.expect(";")
            if count != str(len(states)):
                raise self.error(f"{name!r} is said to have {count} states and lists {len(states)}")
            self.states[name] = states
        self.expect("}")
        if name not in self.states:
            raise self.error(f"the variable {name!r} has no type")

    def probability(self) -> None:
        self.expect("(")
        child = self.check_known(self.name("a variable"))
        if self.at("|"):  # older files have no bar: the first variable is the child all the same
            self.expect("|")
        parents = tuple(self.check_known(p) for p in self.names_until(")"))
        self.expect(")")
        line = self.tokens[self.next - 1][2]
        if child in self.tables:
            raise self.error(f"the probabilities of {child!r} are given twice")
        shape = [len(self.states[v]) for v in (*parents, child)]
        if len(shape) > 64 or prod(shape) > LARGEST_CPT:
            raise self.error(f"{child!r} with {len(parents)} parents needs a table that is too large")
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
        """One `table`, `default` or row of a probability block."""
        if self.at("("):
            self.expect("(")
            given = self.names_until(")")
            self.expect(")")
            if len(given) != len(parents):
                raise self.error(f"a row of {child!r} names {len(given)} states for {len(parents)} parents")
            row = tuple(self.state(p, s) for p, s in zip(parents, given, strict=True))
            if row in self.rows:
                raise self.error(f"the row ({', '.join(given)}) of {child!r} is given twice")
            self.rows.add(row)
            table[row] = self.numbers(table.shape[-1], f"a row of {child!r}")
            return
        word = self.name("'table', 'default' or a row")
        if word == "table":
            # The child varies slowest and the last parent fastest, as in the format's own dog-problem example.
            values = np.array(self.numbers(prod(table.shape), f"the table of {child!r}"))
            table[...] = np.moveaxis(values.reshape(table.shape[-1:] + table.shape[:-1]), 0, -1)
        elif word == "default":
            values = np.array(self.numbers(table.shape[-1], f"the default of {child!r}"))
            table[np.isnan(table[..., 0])] = values
        elif word == "property":
            self.skip_statement()
        else:
            raise self.error(f"'table', 'default' or a row is expected, {word!r} is found")

    def numbers(self, count: int, what: str) -> list[float]:
        words = self.names_until(";")
        try:
            values = [float(word) for word in words]
            if not all(map(isfinite, values)):
                raise ValueError
        except ValueError as error:
            raise self.error(f"{what} holds something that is not a number") from error
        if len(values) != count:
            raise self.error(f"{what} holds {len(values)} numbers where {count} are needed")
        self.expect(";")
        return values

    def check_known(self, name: str) -> str:
        if name not in self.states:
            raise self.error(f"the variable {name!r} is not declared")
        return name

    def state(self, variable: str, state: str) -> int:
        if state not in self.states[variable]:
            raise self.error(f"{variable!r} has no state {state!r}; it has {', '.join(self.states[variable])}")
        return self.states[variable].index(state)


def write_bif(network: BayesianNetwork, path: str | os.PathLike[str]) -> None:
    """Write a network as a BIF file, which reads back as the same network.

    Args:
        network: the network.
        path: the file.
    """
    with replacing(path) as file:
        file.write(format_bif(network).encode())


def format_bif(network: BayesianNetwork) -> str:
    """A network as BIF text.

    >>> from dagneal.networks.bundled import load
    >>> parse_bif(format_bif(load("waste"))).dag.edges == load("waste").dag.edges
    True
    """
    lines = [f"network {_quote(network.name)} {{", "}"]
    for name, states in network.states.items():
        listed = ", ".join(map(_quote, states))
        lines += [f"variable {_quote(name)} {{", f"  type discrete [ {len(states)} ] {{ {listed} }};", "}"]
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
    """Refuse names that BIF cannot hold."""
    for name in names:
        _quote(name)


def _quote(name: str) -> str:
    """A name as BIF wants it; what is not a plain word goes into quotes."""
    if _PLAIN.fullmatch(name) and "//" not in name and "/*" not in name:
        return name
    if _NOT_QUOTABLE.search(name):
        why = "it holds a quote, a line break or an invalid character; write it with safe=True"
        raise InputError(f"the name {name!r} cannot be written in BIF: {why}")
    return f'"{name}"'
