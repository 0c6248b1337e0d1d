"""Read and write score tables in the text formats of GOBNILP, BLIP and other tools.

The extensions .jkl, .scores and .jaa stand for the same format, which GOBNILP calls the Jaakkola format:

    8                        the number of variables
    smoke 4                  for each variable: its name, and the number of its parent sets
    -6935.86098563 0         for each parent set: its log score, the number of parents, and their names
    -6938.20036477 1 asia
    -6460.08128571 1 bronc
    -6464.02440183 2 asia bronc
    asia 2
    ...

GOBNILP writes .scores and .jkl files, pygobnilp .jaa files, and BLIP .jkl files. In the files of BLIP and of many other
tools, the names are the indices 0, 1, 2 and so on. Any white space separates the words of a line. Blank lines and lines
that start with `#` are ignored. A parent set that is absent from a file is not allowed. Most tools write only the sets
that score higher than all their subsets. A QUBO needs the score of each variable without parents.

A .res file has one line for each parent set, such as `4: -2797.39 (10,17,18)`. BLIP writes such files for learned networks,
with one set for each variable and a last line with the total score. `dagneal.networks.formats.read_structure` reads them as
graphs.
"""

from __future__ import annotations

import os
import re
import reprlib
from array import array
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from itertools import pairwise
from math import isfinite
from pathlib import Path
from typing import Any

import numpy as np

from dagneal.base.errors import InputError, check_text, hint
from dagneal.base.files import SCORE_FILES, atomic_write, check_format
from dagneal.base.kernels import Ints, Masks
from dagneal.base.text import printable
from dagneal.data.arrays import MAX_COLUMNS
from dagneal.scoring.sets import mask_bits, word_count
from dagneal.scoring.table import ScoreTable, check_table, table_layout

_RESULT = ".res"  # extension of files with a line for each set
_RESULT_LINE = re.compile(r"(?P<child>[^\s:,()]+):\s*(?P<score>\S+)(?:\s*\((?P<parents>[^()]*)\))?")
_TOTAL = "Score"  # name of the total score in a .res file
_LEAST = 2  # variables of a network


def is_score_file(source: Any) -> bool:
    """Return whether a value is the path of a score file, according to its extension.

    Args:
        source: any value.

    >>> is_score_file("alarm.jkl"), is_score_file("alarm.csv"), is_score_file(5)
    (True, False, False)
    """
    return isinstance(source, str | os.PathLike) and Path(source).suffix.lower() in SCORE_FILES


def read_scores(path: str | os.PathLike[str]) -> ScoreTable:
    """Read a score table from a file.

    The candidate parents of a child are the variables that occur in its parent sets. The parent limit of the table is the
    size of the largest parent set in the file. The name of the score is the name of the file.

    Args:
        path: path of a .jkl, .scores, .jaa or .res file.

    >>> import tempfile, pathlib
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "rain.jkl"
    >>> _ = path.write_text("2\\nrain 2\\n-7.5 0\\n-5.25 1 wet\\nwet 1\\n-6.0 0\\n")
    >>> table = read_scores(path)
    >>> table, table.local("rain", ["wet"])
    (ScoreTable(2 variables, at most 1 parents, 3 scores), -5.25)
    """
    if not isinstance(path, str | os.PathLike):
        raise InputError(f"path is {path!r}; give the name of a {_endings()} file")
    if not is_score_file(path):
        raise InputError(f"{path} has an unknown format for scores; give a {_endings()} file")
    try:
        with Path(path).open(encoding="utf-8-sig") as file:
            lists = _parse_result(path, file) if _is_result(path) else _parse(path, _lines(file))
    except UnicodeDecodeError as error:
        raise InputError(f"{path} is not a text file in UTF-8; give a {_endings()} file") from error
    except OSError as error:
        raise InputError(f"{path} cannot be read: {error.strerror or error}") from error
    return lists.table(printable(Path(path).name))


def write_scores(table: ScoreTable, path: str | os.PathLike[str]) -> None:
    """Write all entries of a score table to a file, so that `read_scores` reads the same scores.

    The sets of each child are sorted by descending score. The file does not list required edges, but the scores contain
    the penalties and the log-odds of edges of the background knowledge.

    Args:
        table: table to write. No name of a variable may contain white space; in a .res file also no colon, comma or
            parenthesis.
        path: path of a .jkl, .scores, .jaa or .res file.

    >>> import tempfile, pathlib
    >>> from dagneal.networks.bundled import load
    >>> from dagneal.scoring.scorer import score_table
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "lc.jkl"
    >>> write_scores(score_table(load("lung-cancer").expected_data(100), max_parents=1), path)
    >>> read_scores(path)
    ScoreTable(5 variables, at most 1 parents, 25 scores)
    """
    check_table(table)
    if not isinstance(path, str | os.PathLike):
        raise InputError(f"path is {path!r}; give the name of a {_endings()} file")
    check_format(path, SCORE_FILES)
    for name in table.names:
        _check_name(name, path)
    if not np.isfinite(table.scores).all():
        raise InputError(f"cannot write {path}: a score of the table is not a finite number; remove its parent set")
    with atomic_write(path) as file:
        if not _is_result(path):
            file.write(f"{len(table.names)}\n".encode())
        for child in range(len(table.names)):
            file.write(_format_list(table, child, _is_result(path)).encode())


def _endings() -> str:
    return f"{', '.join(SCORE_FILES[:-1])} or {SCORE_FILES[-1]}"


def _check_name(name: str, path: str | os.PathLike[str]) -> None:
    """Raise an error if a score file cannot contain a name, because it would be read as something else."""
    check_text(name, f"cannot write {path}: a variable")
    if name.split() != [name]:
        problem = "contains white space, which separates the names in a score file" if name else "is empty"
    elif name.startswith("#"):
        problem = "starts with #, which marks a comment in a score file"
    elif _is_result(path) and not _RESULT_LINE.fullmatch(f"{name}: 0"):
        problem = "contains a colon, a comma or a parenthesis, which separate the names in a .res file"
    elif _is_result(path) and name == _TOTAL:
        problem = "marks the total score in a .res file"
    else:
        return
    raise InputError(f"cannot write {path}: the name of the variable {reprlib.repr(name)} {problem}; rename the variable")


def _format_list(table: ScoreTable, child: int, result: bool) -> str:
    """Return the lines of a child: its name and the number of its parent sets, and one line for each set.

    Args:
        table: score table.
        child: index of the child.
        result: True for the format of .res files, in which each line begins with the name of the child.
    """
    entries, names = table.entries_of(child), [table.names[parent] for parent in table.candidates_of(child)]
    masks, scores = table.best_first
    lines = [] if result else [f"{table.names[child]} {entries.stop - entries.start}"]
    for score, row in zip(scores[entries].tolist(), mask_bits(masks[entries]).tolist(), strict=True):
        parents = [names[bit] for bit in row if bit >= 0]
        if result:
            lines.append(f"{table.names[child]}: {score!r}" + f" ({','.join(parents)})" * bool(parents))
        else:
            lines.append(" ".join([repr(score), str(len(parents)), *parents]))
    return "\n".join(lines) + "\n"


def _is_result(path: str | os.PathLike[str]) -> bool:
    """Return whether a file has the format of .res files."""
    return Path(path).suffix.lower() == _RESULT


def _parse_result(path: str | os.PathLike[str], file: Iterable[str]) -> _Lists:
    """Parse the lines of a .res file. The sets of a variable need not follow each other."""
    lists = _Lists(path)
    found: dict[str, list[tuple[int, list[str]]]] = {}
    for number, line in enumerate(file, start=1):
        text = line.strip()
        if not text or text.startswith(("#", f"{_TOTAL}:")):
            continue
        match = _RESULT_LINE.fullmatch(text)
        if match is None:
            raise lists.error(
                number, f"{reprlib.repr(text)} is not a parent set; give a line such as 4: -2797.39 (10,17,18)"
            )
        parents = [word.strip() for word in (match["parents"] or "").split(",") if word.strip()]
        found.setdefault(match["child"], []).append((number, [match["score"], str(len(parents)), *parents]))
    if len(found) < _LEAST:
        raise InputError(f"{path} has parent sets of {len(found)} variables; give at least {_LEAST}")
    for name, sets in found.items():
        lists.add_variable(sets[0][0], [name, str(len(sets))])
        for number, words in sets:
            lists.add_set(number, words, f"a parent set of {reprlib.repr(name)}")
    return lists


def _lines(file: Any) -> Iterator[tuple[int, list[str]]]:
    """Yield the number and the words of each line that is neither blank nor a comment."""
    for number, line in enumerate(file, start=1):
        words = line.split()
        if words and not words[0].startswith("#"):
            yield number, words


@dataclass
class _Lists:
    """The parent sets of a score file, as they are read.

    Attributes:
        path: path of the file, for errors.
        headers: line of each variable's header, by name, in the order of the file.
        counts: number of parent sets of each variable.
        tokens: number of each parent, in the order in which parents first occur, and the line of the first occurrence.
        scores: score of each set.
        sizes: number of parents of each set.
        places: line of each set.
        parents: parents of all sets, one after the other, as numbers of tokens.
    """

    path: str | os.PathLike[str]
    headers: dict[str, int] = field(default_factory=dict)
    counts: list[int] = field(default_factory=list)
    tokens: dict[str, tuple[int, int]] = field(default_factory=dict)
    scores: array[float] = field(default_factory=lambda: array("d"))
    sizes: array[int] = field(default_factory=lambda: array("q"))
    places: array[int] = field(default_factory=lambda: array("q"))
    parents: array[int] = field(default_factory=lambda: array("q"))

    def error(self, line: int, problem: str) -> InputError:
        """Return the error for a line of the file."""
        return InputError(f"{self.path}, line {line}: {problem}")

    def add_variable(self, line: int, words: list[str]) -> None:
        """Add a variable. The words of its line are its name and the number of its parent sets."""
        count = _whole_number(words[1]) if len(words) == 2 else None
        if count is None:
            raise self.error(
                line,
                f"{reprlib.repr(' '.join(words))} is not a variable; give its name and the number of its parent sets, or "
                "correct the number of the previous variable",
            )
        name = words[0]
        if name in self.headers:
            raise self.error(
                line, f"the variable {reprlib.repr(name)} occurs twice, first in line {self.headers[name]}; remove one"
            )
        if count < 1:
            raise self.error(
                line,
                f"the variable {reprlib.repr(name)} has no parent sets; give at least one, or correct the number of the "
                "previous variable",
            )
        self.headers[name] = line
        self.counts.append(count)

    def add_set(self, line: int, words: list[str], where: str) -> None:
        """Add a parent set. The words of its line are its score, the number of parents, and their names."""
        try:
            score = float(words[0])
        except ValueError:
            score = float("nan")
        if not isfinite(score):
            raise self.error(
                line, f"{reprlib.repr(words[0])} is not a finite score ({where}); correct the line or the number"
            )
        size = _whole_number(words[1]) if len(words) > 1 else None
        if size is None:
            given = reprlib.repr(words[1]) if len(words) > 1 else "nothing"
            raise self.error(line, f"the score is followed by {given} ({where}); give the number of parents and their names")
        if size != len(words) - 2:
            raise self.error(
                line, f"the number of parents is {size}, but the line names {len(words) - 2} ({where}); correct it"
            )
        if len(set(words[2:])) != size:
            raise self.error(line, f"a parent is named twice ({where}); name it once")
        for word in words[2:]:
            self.parents.append(self.tokens.setdefault(word, (len(self.tokens), line))[0])
        self.scores.append(score)
        self.sizes.append(size)
        self.places.append(line)

    def table(self, score_name: str) -> ScoreTable:
        """Return the table of all parent sets.

        Args:
            score_name: name of the score.
        """
        indices = {name: index for index, name in enumerate(self.headers)}
        for name, (_, line) in self.tokens.items():
            if name not in indices:
                raise self.error(
                    line, f"the parent {reprlib.repr(name)} is not a variable of this file; add it{hint(name, indices)}"
                )
        variables = np.array([indices[name] for name in self.tokens], dtype=np.int64)
        sizes, places = np.array(self.sizes), np.array(self.places)
        parents = variables[np.array(self.parents, dtype=np.int64)]
        start, begins = np.cumsum([0, *self.counts]), np.concatenate([[0], np.cumsum(sizes)])
        members = [parents[begins[lo] : begins[hi]] for lo, hi in pairwise(start)]
        candidates = [np.unique(each) for each in members]
        words = word_count(max(map(len, candidates)))
        masks, scores = [], []
        for child, (lo, hi) in enumerate(pairwise(start)):
            own = _pack(members[child], sizes[lo:hi], candidates[child], words)
            order = np.lexsort(own.T)  # by the last word first, because masks are compared as numbers
            self._check_child(child, places[lo:hi], sizes[lo:hi], members[child], own[order], order)
            masks.append(own[order])
            scores.append(np.array(self.scores[lo:hi])[order])
        return ScoreTable(
            names=tuple(self.headers),
            max_parents=int(sizes.max()),
            score_name=score_name,
            **table_layout(candidates, masks),
            scores=np.concatenate(scores),
        )

    def _check_child(self, child: int, places: Ints, sizes: Ints, members: Ints, ascending: Masks, order: Ints) -> None:
        """Raise an error if a child is its own parent, or if it has a parent set twice.

        Args:
            child: index of the child.
            places: line of each set.
            sizes: size of each set.
            members: parents of all sets, one after the other.
            ascending: masks of the sets in ascending order.
            order: index of each of these masks among the sets.
        """
        own = np.flatnonzero(members == child)
        if len(own):
            line = int(np.repeat(places, sizes)[own[0]])
            name = reprlib.repr(list(self.headers)[child])
            raise self.error(line, f"{name} is its own parent; remove this parent set")
        same = np.flatnonzero((ascending[1:] == ascending[:-1]).all(axis=1))
        if len(same):
            first, second = sorted(int(places[order[at]]) for at in (same[0], same[0] + 1))
            name = reprlib.repr(list(self.headers)[child])
            raise self.error(second, f"{name} already has this parent set, in line {first}; remove one of the two lines")


def _pack(members: Ints, sizes: Ints, candidates: Ints, words: int) -> Masks:
    """Return the masks of parent sets, given their members one after the other."""
    masks = np.zeros((len(sizes), words), dtype=np.uint64)
    bits = np.searchsorted(candidates, members)
    rows = np.repeat(np.arange(len(sizes)), sizes)
    np.bitwise_or.at(masks, (rows, bits // 64), np.uint64(1) << (bits % 64).astype(np.uint64))
    return masks


def _parse(path: str | os.PathLike[str], lines: Iterator[tuple[int, list[str]]]) -> _Lists:
    """Parse the lines of a score file."""
    lists = _Lists(path)
    first = next(lines, None)
    if first is None:
        raise InputError(f"{path} is empty; a score file starts with the number of variables")
    line, words = first
    total = _whole_number(words[0]) if len(words) == 1 else None
    if total is None:
        raise lists.error(
            line, f"{reprlib.repr(' '.join(words))} is not a number of variables; a score file starts with this number"
        )
    if not _LEAST <= total <= MAX_COLUMNS:
        raise lists.error(line, f"the number of variables is {total}; give a number from {_LEAST} to {MAX_COLUMNS}")
    for line, words in lines:
        if len(lists.headers) == total:
            raise lists.error(
                line, f"there is text after the last of {total} variables; correct the number of variables or of parent sets"
            )
        lists.add_variable(line, words)
        name, count = words[0], lists.counts[-1]
        for number in range(1, count + 1):
            line, words = next(lines, (0, []))
            if not words:
                raise InputError(
                    f"{path}: the file ends after {number - 1} of {count} parent sets of {reprlib.repr(name)}; add the rest"
                )
            lists.add_set(line, words, f"parent set {number} of {count} of {reprlib.repr(name)}")
    if len(lists.headers) < total:
        raise InputError(
            f"{path}: the number of variables is {total}, but the file has {len(lists.headers)}; add the missing variables"
        )
    return lists


def _whole_number(word: str) -> int | None:
    """Return the number that a word stands for; None if it is not a whole number of at least 0."""
    return int(word) if word.isascii() and word.isdigit() and len(word) <= len(str(2**63)) else None
