"""The class `Scorer` computes score tables from data. It counts each set of variables only once."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from copy import copy
from functools import cached_property
from math import comb
from threading import Lock
from typing import Any

import networkx as nx
import numpy as np

from dagneal.base.defaults import PAPER_PARENTS
from dagneal.base.errors import InputError, hint, whole_number
from dagneal.base.kernels import Floats, Ints, Masks
from dagneal.base.machine import check_memory
from dagneal.data.dataset import Dataset
from dagneal.graphs.dags import check_dag
from dagneal.graphs.knowledge import Knowledge, as_knowledge
from dagneal.runtime.run import DEFAULT_RUN, Run
from dagneal.scoring.counting.counter import Counter
from dagneal.scoring.scores import Score, as_score
from dagneal.scoring.sets import bounded_masks, max_set_size, pair_keys, set_keys, set_members, sort_distinct
from dagneal.scoring.table import ScoreTable

MAX_CANDIDATES = 64  # bits of a mask
MAX_SCORES = 50_000_000  # 16 bytes each


class Scorer:
    """Computes local scores from data. Counts are kept and reused for later tables.

    A local score is the log score of one child given its parents.

    Args:
        data: data from which scores are computed.
        score: a score, or its name such as `"bic"`; `BDeu(1)` by default.
        knowledge: background knowledge, as an object, a dict or the path of a TOML file. Score tables omit forbidden
            parents. Other violations get a penalty, which is so large that the best network has no violation.
        run: `Run` object with the executor and the deadline for counting.
        workers: number of threads for counting; all cores by default.

    >>> from dagneal.networks.bundled import load
    >>> truth = load("lung-cancer")
    >>> scorer = Scorer(truth.expected_data(10_000))
    >>> round(scorer.score(truth.dag), 3)
    -21036.862
    >>> scorer.table(max_parents=2)
    ScoreTable(5 variables, at most 2 parents, 55 scores)
    """

    def __init__(
        self,
        data: Dataset,
        score: Score | str | None = None,
        knowledge: Knowledge | Mapping[str, Any] | str | os.PathLike[str] | None = None,
        run: Run = DEFAULT_RUN,
        workers: int | None = None,
    ) -> None:
        if not isinstance(data, Dataset):
            raise InputError(f"data is a {type(data).__name__}, not a Dataset; make one with dn.read")
        self.data = data
        self.criterion: Score = as_score(score)
        self.knowledge = as_knowledge(knowledge)
        self.counter = Counter(data, run, workers)
        self.constraints = self.knowledge.constraints(data.names, len(data.names) - 1) if self.knowledge else None
        # Pseudo-counts depend on the child only through its number of states. The sums have two columns for each number.
        arities = np.unique(data.arities) if self.criterion.depends_on_child else np.array([0])
        self._arities = arities
        # Ascending keys of the counted sets, and their sums. Both are replaced together, so threads can share a scorer.
        self._counted = np.empty(0, dtype=np.uint64), np.empty((0, 2 * len(arities)))
        self._counting = Lock()
        self._gains: Floats | None = None

    def table(
        self,
        max_parents: int | None = None,
        candidates: Mapping[str, Sequence[str]] | None = None,
        complete: bool = False,
    ) -> ScoreTable:
        """Score every set of at most `max_parents` parents of every child.

        Args:
            max_parents: parent limit; by default 2, or the number of other variables if that is smaller.
            candidates: possible parents by child. A child without an entry may have all other variables as parents.
            complete: True to include forbidden parents, with a penalty; False to omit them. Subproblems and exhaustive
                search need True, because they use every parent set.
        """
        names = self.data.names
        limit = check_max_parents(max_parents, len(names))
        possible = _check_candidates(names, candidates)
        if self.knowledge is not None and self.constraints is not None and not complete:
            self.knowledge.check(names, limit)
            possible = [self.constraints.candidates(child, given) for child, given in enumerate(possible)]
        check_set_size(min(limit, max(map(len, possible))), len(names))
        total = sum(comb(len(c), k) for c in possible for k in range(min(limit, len(c)) + 1))
        if total > MAX_SCORES:
            raise InputError(
                f"max_parents={limit} with {len(names)} variables needs {total:,} scores, more than {MAX_SCORES:,}; "
                "use a lower parent limit, or give candidates"
            )
        check_memory(self.table_bytes(total), f"a table of {total:,} scores", "use a lower parent limit, or give candidates")
        by_size = {size: bounded_masks(size, min(limit, size)) for size in {len(c) for c in possible}}
        masks = [by_size[len(c)] for c in possible]
        start = np.concatenate([[0], np.cumsum([len(m) for m in masks])])
        return ScoreTable(
            names=names,
            max_parents=limit,
            score_name=self.criterion.name,
            first=np.concatenate([[0], np.cumsum([len(c) for c in possible])]),
            candidates=np.concatenate(possible),
            start=start,
            masks=np.concatenate(masks),
            scores=self.score_sets(list(range(len(names))), possible, masks),
            required=None if self.constraints is None else self.constraints.required,
        )

    def with_run(self, run: Run) -> Scorer:
        """Return a copy of this scorer that keeps its counts, and uses the executor and deadline of another run.

        Args:
            run: `Run` object with the executor and the deadline.
        """
        other = copy(self)
        other.counter = Counter(self.data, run, self.counter.workers)
        other._counting = Lock()
        return other

    def table_bytes(self, scores: int) -> int:
        """Return the estimated peak memory, in bytes, for computing a score table. The formula comes from measurements.

        Args:
            scores: number of scores in the table.
        """
        return scores * (50 + 12 * len(self._arities))

    def local(self, child: str, parents: Iterable[str] = ()) -> float:
        """Return the log score of a child given its parents, without penalties for violations of background knowledge.

        Args:
            child: name of the child.
            parents: names of the parents; no parents by default.
        """
        position = self._position
        parent_names = list(parents)
        for name in (child, *parent_names):
            if name not in position:
                raise InputError(f"{name!r} is not a variable of the data{hint(str(name), position)}")
        indices = np.array(sorted({position[p] for p in parent_names}), dtype=np.int64)
        if position[child] in indices:
            raise InputError(f"{child!r} cannot be its own parent")
        check_set_size(len(indices), len(self.data.names))
        all_parents = np.array([(1 << len(indices)) - 1], dtype=np.uint64)
        return float(self._score_sets([position[child]], [indices], [all_parents])[0])

    @cached_property
    def _position(self) -> dict[str, int]:
        return {name: i for i, name in enumerate(self.data.names)}

    @cached_property
    def violation_penalty(self) -> float:
        """The score penalty for each violation of background knowledge.

        The penalty is larger than any possible gain. Let S be the score of the network that has only the required edges.
        This network has no violation. No network scores above 0. With the penalty 1 - S, a network with a violation scores
        at most S - 1. It is therefore never the best network.
        """
        if self.constraints is None:
            return 0.0
        names = self.data.names
        required = [[names[p] for p in np.flatnonzero(column)] for column in self.constraints.required.T]
        return 1.0 - sum(self.local(child, parents) for child, parents in zip(names, required, strict=True))

    def pair_gains(self) -> Floats:
        """Return the matrix `gains[parent, child]`: the score gain if a child without parents gets this parent.

        With background knowledge, the gain of a required edge is inf, and the gain of a forbidden edge is -inf.
        """
        if self._gains is not None:
            return self._gains
        n = len(self.data.names)
        none, single, pair = pair_keys(n)
        keys, sums = self._count(sort_distinct(np.concatenate([[none], single, pair.ravel()])))
        alone, empty = np.searchsorted(keys, single), int(np.searchsorted(keys, none))
        # Pairs with the same first variable have neighbouring keys, so rows are looked up one at a time.
        index = np.empty((n, n), dtype=np.int32)
        for first in range(n):
            index[first, first:] = index[first:, first] = np.searchsorted(keys, pair[first, first:])
        gains = np.zeros((n, n))
        for child in range(n):
            column, arity = self._column(child), int(self.data.arities[child])
            both = sums[index[child], column]
            gains[:, child] = both - sums[alone, column + 1] - sums[alone[child], column] + sums[empty, column + 1]
            if self.criterion.penalised:
                penalties = self.criterion.penalties(arity, self.data.arities.astype(np.float64), self.data.rows)
                gains[:, child] -= penalties - self.criterion.penalties(arity, np.ones(1), self.data.rows)
        np.fill_diagonal(gains, 0.0)
        if self.constraints is not None:
            gains[~self.constraints.allowed] = -np.inf
            gains[self.constraints.required] = np.inf
        self._gains = gains
        return gains

    def score(self, dag: nx.DiGraph) -> float:
        """Return the log score of any DAG, without penalties for violations of background knowledge.

        Args:
            dag: a DAG over the variables of the data.
        """
        check_dag(dag, self.data.names)
        return float(sum(self.local(child, dag.predecessors(child)) for child in self.data.names))

    def score_sets(
        self,
        children: Sequence[int],
        candidates: Sequence[Ints],
        masks: Sequence[Masks],
    ) -> Floats:
        """Return the scores of parent sets, including penalties for violations of background knowledge.

        Args:
            children: indices of the children. A child may occur several times.
            candidates: for each child, its candidate parents as an array of ascending indices. Bit b of a mask stands for
                element b of this array.
            masks: for each child, its parent sets as bit masks.

        Returns:
            One array: the scores of the first child's sets, then the scores of the second child's sets, and so on.
        """
        scores = self._score_sets(children, candidates, masks)
        if self.constraints is None:
            return scores
        violations = [self.constraints.violations(*sets) for sets in zip(children, candidates, masks, strict=True)]
        return scores - self.violation_penalty * np.concatenate(violations)

    def _score_sets(
        self,
        children: Sequence[int],
        candidates: Sequence[Ints],
        masks: Sequence[Masks],
    ) -> Floats:
        """Return the same scores as `score_sets`, but without penalties for violations."""
        n = len(self.data.names)
        parents = [set_keys(m, c, None, n) for m, c in zip(masks, candidates, strict=True)]
        families = [set_keys(m, c, i, n) for m, c, i in zip(masks, candidates, children, strict=True)]
        keys, sums = self._count(sort_distinct(np.concatenate([*parents, *families])))
        scores = []
        for child, parent_keys, family_keys, mask, possible in zip(
            children, parents, families, masks, candidates, strict=True
        ):
            arity, column = int(self.data.arities[child]), self._column(child)
            family_sums = sums[np.searchsorted(keys, family_keys), column]
            value = family_sums - sums[np.searchsorted(keys, parent_keys), column + 1]
            scores.append(value - self._penalties(arity, mask, possible) if self.criterion.penalised else value)
        return np.concatenate(scores)

    def _column(self, child: int) -> int:
        """Return the index of the column that has the sums over families of a child (the child and its parents).

        The next column has the sums over parent sets of the child.
        """
        if not self.criterion.depends_on_child:
            return 0
        return 2 * int(np.searchsorted(self._arities, self.data.arities[child]))

    def _penalties(self, arity: int, masks: Masks, candidates: Ints) -> Floats:
        cells = np.ones(len(masks))
        for bit, variable in enumerate(candidates):
            cells[(masks >> np.uint64(bit)) & np.uint64(1) == 1] *= self.data.arities[variable]
        return self.criterion.penalties(arity, cells, self.data.rows)

    def _count(self, wanted: Masks) -> tuple[Masks, Floats]:
        """Count the sets with the given keys, unless they are already counted.

        Return the tuple (keys, sums) of all sets counted so far.
        """
        with self._counting:
            keys, sums = self._counted
            at = np.searchsorted(keys, wanted)
            new = wanted[at == len(keys)] if not len(keys) else wanted[keys[np.minimum(at, len(keys) - 1)] != wanted]
            if len(new):
                merged = np.concatenate([keys, new])
                order = np.argsort(merged, kind="stable")
                sums = np.concatenate([sums, self._new_sums(new)])[order]
                self._counted = merged[order], sums
            return self._counted

    def _new_sums(self, keys: Masks) -> Floats:
        data = self.data
        members = set_members(keys, len(data.names))
        cells = np.where(members >= 0, data.arities[members].astype(np.float64), 1.0).prod(axis=1)
        sizes, which = np.unique(cells, return_inverse=True)
        wanted = np.array(
            [[a for r in self._arities for a in self.criterion.concentrations(int(r), float(q), data.rows)] for q in sizes]
        )[which]
        if np.array_equal(wanted[:, ::2], wanted[:, 1::2]):  # a family and a parent set have the same sum
            return np.repeat(self._sums_of(members, wanted[:, ::2]), 2, axis=1)
        return self._sums_of(members, wanted)

    def _sums_of(self, members: np.ndarray, concentrations: Floats) -> Floats:
        return self.counter.sums(members, np.ascontiguousarray(concentrations))


def score_table(
    data: Dataset,
    score: Score | str | None = None,
    max_parents: int | None = None,
    candidates: Mapping[str, Sequence[str]] | None = None,
) -> ScoreTable:
    """Score every parent set of every child. This is short for `Scorer(data, score).table(max_parents, candidates)`.

    Args:
        data: data from which scores are computed.
        score: a score, or its name such as `"bic"`; `BDeu(1)` by default.
        max_parents: parent limit; by default 2, or the number of other variables if that is smaller.
        candidates: possible parents by child. A child without an entry may have all other variables as parents.

    >>> from dagneal.networks.bundled import load
    >>> table = score_table(load("lung-cancer").expected_data(10_000), max_parents=1)
    >>> round(table.local("Xray", ["Cancer"]), 2)
    -4990.7
    """
    return Scorer(data, score).table(max_parents, candidates)


def check_max_parents(max_parents: int | None, variables: int) -> int:
    """Check a parent limit and return it. If it is None, return 2, or `variables - 1` if that is smaller."""
    if max_parents is None:
        return min(PAPER_PARENTS, variables - 1)
    max_parents = whole_number("max_parents", max_parents)
    if max_parents >= variables:
        raise InputError(
            f"max_parents is {max_parents}, but with {variables} variables at most {variables - 1} parents are possible"
        )
    return max_parents


def check_set_size(parents: int, variables: int) -> None:
    """Check that a key of `set_keys` can represent a set of a child and this number of parents."""
    most = max_set_size(variables) - 1
    if parents > most:
        raise InputError(f"{parents} parents are too many; with {variables} variables, use a parent limit of at most {most}")


def _check_candidates(names: Sequence[str], candidates: Mapping[str, Sequence[str]] | None) -> list[Ints]:
    """Check the candidate parents that a user gives. Return the candidates of each child as ascending indices."""
    position = {name: i for i, name in enumerate(names)}
    given = dict(candidates or {})
    for child, parents in given.items():
        for name in (child, *parents):
            if name not in position:
                raise InputError(f"candidates contain {name!r}, which is not a variable of the data{hint(str(name), names)}")
        if child in parents:
            raise InputError(f"{child!r} cannot be its own candidate parent")
    possible = [
        np.array(
            sorted({position[p] for p in given[child]}) if child in given else [j for j in range(len(names)) if j != i],
            dtype=np.int64,
        )
        for i, child in enumerate(names)
    ]
    for child, indices in zip(names, possible, strict=True):
        if len(indices) > MAX_CANDIDATES:
            raise InputError(
                f"{child!r} has {len(indices)} candidate parents; at most {MAX_CANDIDATES} are possible: "
                "choose fewer variables with columns=[...], or give candidates"
            )
    return possible
