"""Scorer: computes tables of local scores from data. It counts each set of variables once."""

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
    """Computes local scores from data, and keeps the counts for later tables.

    Args:
        data: the data.
        score: a score, or its name such as `"bic"`; `BDeu(1)` by default.
        knowledge: background knowledge, as an object, a dict or the path of a TOML file. Tables leave out forbidden
            parents. Other violations get a penalty so large that no best network has one.
        run: executor and deadline of the counting.
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
        # Pseudo-counts depend on the child only through its number of states: one pair of columns for each such number.
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
            max_parents: parent limit; 2 by default, or fewer if there are fewer variables.
            candidates: possible parents by child; all other variables for a child that is not a key.
            complete: whether to keep forbidden parents, with a penalty. All children then have the same sets, which
                subproblems need.
        """
        names = self.data.names
        limit = check_max_parents(max_parents, len(names))
        own = _check_candidates(names, candidates)
        if self.knowledge is not None and self.constraints is not None and not complete:
            self.knowledge.check(names, limit)
            own = [self.constraints.candidates(child, possible) for child, possible in enumerate(own)]
        check_set_size(min(limit, max(map(len, own))), len(names))
        total = sum(comb(len(c), k) for c in own for k in range(min(limit, len(c)) + 1))
        if total > MAX_SCORES:
            raise InputError(
                f"max_parents={limit} over {len(names)} variables means {total:,} scores, more than {MAX_SCORES:,}; "
                "use a lower parent limit, or give candidates"
            )
        check_memory(self.table_bytes(total), f"a table of {total:,} scores", "use a lower parent limit, or give candidates")
        by_size = {size: bounded_masks(size, min(limit, size)) for size in {len(c) for c in own}}
        masks = [by_size[len(c)] for c in own]
        start = np.concatenate([[0], np.cumsum([len(m) for m in masks])])
        return ScoreTable(
            names=names,
            max_parents=limit,
            score_name=self.criterion.name,
            first=np.concatenate([[0], np.cumsum([len(c) for c in own])]),
            candidates=np.concatenate(own),
            start=start,
            masks=np.concatenate(masks),
            scores=self.score_sets(list(range(len(names))), own, masks),
            required=None if self.constraints is None else self.constraints.required,
        )

    def with_run(self, run: Run) -> Scorer:
        """Return a copy that shares the counts made so far and counts further sets in another run.

        Args:
            run: executor and deadline of the further counting.
        """
        other = copy(self)
        other.counter = Counter(self.data, run, self.counter.workers)
        other._counting = Lock()
        return other

    def table_bytes(self, scores: int) -> int:
        """Return the measured peak memory, in bytes, of making a table. Most of it holds counts.

        Args:
            scores: number of scores in the table.
        """
        return scores * (50 + 12 * len(self._arities))

    def local(self, child: str, parents: Iterable[str] = ()) -> float:
        """Return the log score of a child with any set of parents.

        Args:
            child: name of the child.
            parents: names of its parents.
        """
        position = self._position
        parent_names = list(parents)
        for name in (child, *parent_names):
            if name not in position:
                raise InputError(f"{name!r} is not a variable of the data{hint(str(name), position)}")
        own = np.array(sorted({position[p] for p in parent_names}), dtype=np.int64)
        if position[child] in own:
            raise InputError(f"{child!r} cannot be its own parent")
        check_set_size(len(own), len(self.data.names))
        everything = np.array([(1 << len(own)) - 1], dtype=np.uint64)
        return float(self._score_sets([position[child]], [own], [everything])[0])

    @cached_property
    def _position(self) -> dict[str, int]:
        return {name: i for i, name in enumerate(self.data.names)}

    @cached_property
    def violation_penalty(self) -> float:
        """The score penalty for each violation of background knowledge.

        It is larger than any possible gain. Let S be the score of the network with only the required edges, which has no
        violation. Scores are logarithms of probabilities, so no network scores above 0. With the penalty 1 - S, a network
        with a violation scores at most S - 1, so it is never the best.
        """
        if self.constraints is None:
            return 0.0
        names = self.data.names
        required = [[names[p] for p in np.flatnonzero(column)] for column in self.constraints.required.T]
        return 1.0 - sum(self.local(child, parents) for child, parents in zip(names, required, strict=True))

    def pair_gains(self) -> Floats:
        """Return `gains[parent, child]`: the score of the child with only this parent, minus its score without parents."""
        if self._gains is not None:
            return self._gains
        n = len(self.data.names)
        none, single, pair = pair_keys(n)
        keys, sums = self._count(sort_distinct(np.concatenate([[none], single, pair.ravel()])))
        alone, empty = np.searchsorted(keys, single), int(np.searchsorted(keys, none))
        # Pairs with the same first variable have neighbouring keys, so rows are looked up one at a time.
        place = np.empty((n, n), dtype=np.int32)
        for first in range(n):
            place[first, first:] = place[first:, first] = np.searchsorted(keys, pair[first, first:])
        gains = np.zeros((n, n))
        for child in range(n):
            column, arity = self._column(child), int(self.data.arities[child])
            both = sums[place[child], column]
            gains[:, child] = both - sums[alone, column + 1] - sums[alone[child], column] + sums[empty, column + 1]
            if self.criterion.penalised:
                penalties = self.criterion.penalties(arity, self.data.arities.astype(np.float64), self.data.rows)
                gains[:, child] -= penalties - self.criterion.penalties(arity, np.ones(1), self.data.rows)
        np.fill_diagonal(gains, 0.0)
        if self.constraints is not None:  # always prefer required parents, never forbidden ones
            gains[~self.constraints.allowed] = -np.inf
            gains[self.constraints.required] = np.inf
        self._gains = gains
        return gains

    def score(self, dag: nx.DiGraph) -> float:
        """Return the log score of a DAG. Its parent sets need not be in any table.

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
        """Return the scores of given parent sets, child by child, with penalties for violations of knowledge.

        Args:
            children: positions of the children; repeats are allowed.
            candidates: for each child, the ascending variables of the bits of its masks.
            masks: for each child, its parent sets.
        """
        scores = self._score_sets(children, candidates, masks)
        if self.constraints is None:
            return scores
        violations = [self.constraints.violations(*each) for each in zip(children, candidates, masks, strict=True)]
        return scores - self.violation_penalty * np.concatenate(violations)

    def _score_sets(
        self,
        children: Sequence[int],
        candidates: Sequence[Ints],
        masks: Sequence[Masks],
    ) -> Floats:
        """Return the scores without penalties."""
        n = len(self.data.names)
        parents = [set_keys(m, c, None, n) for m, c in zip(masks, candidates, strict=True)]
        families = [set_keys(m, c, i, n) for m, c, i in zip(masks, candidates, children, strict=True)]
        keys, sums = self._count(sort_distinct(np.concatenate([*parents, *families])))
        scores = []
        for child, own, family, mask, possible in zip(children, parents, families, masks, candidates, strict=True):
            arity, column = int(self.data.arities[child]), self._column(child)
            value = sums[np.searchsorted(keys, family), column] - sums[np.searchsorted(keys, own), column + 1]
            scores.append(value - self._penalties(arity, mask, possible) if self.criterion.penalised else value)
        return np.concatenate(scores)

    def _column(self, child: int) -> int:
        """Return the column of sums for families of this child. The sums for its parent sets are in the next column."""
        if not self.criterion.depends_on_child:
            return 0
        return 2 * int(np.searchsorted(self._arities, self.data.arities[child]))

    def _penalties(self, arity: int, masks: Masks, candidates: Ints) -> Floats:
        cells = np.ones(len(masks))
        for bit, variable in enumerate(candidates):
            cells[(masks >> np.uint64(bit)) & np.uint64(1) == 1] *= self.data.arities[variable]
        return self.criterion.penalties(arity, cells, self.data.rows)

    def _count(self, wanted: Masks) -> tuple[Masks, Floats]:
        """Count the sets that have no counts yet; return the keys and sums of all counted sets."""
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
        if np.array_equal(wanted[:, ::2], wanted[:, 1::2]):  # the same sums serve for a family and for parents
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
    """Score every parent set of every child: short for `Scorer(data, score).table(max_parents, candidates)`.

    Args:
        data: the data.
        score: a score, or its name such as `"bic"`; `BDeu(1)` by default.
        max_parents: parent limit; 2 by default.
        candidates: possible parents by child; all other variables by default.

    >>> from dagneal.networks.bundled import load
    >>> table = score_table(load("lung-cancer").expected_data(10_000), max_parents=1)
    >>> round(table.local("Xray", ["Cancer"]), 2)
    -4990.7
    """
    return Scorer(data, score).table(max_parents, candidates)


def check_max_parents(max_parents: int | None, variables: int) -> int:
    """Return the checked parent limit, or the default, which is lowered if there are too few variables."""
    if max_parents is None:
        return min(PAPER_PARENTS, variables - 1)
    max_parents = whole_number("max_parents", max_parents)
    if max_parents >= variables:
        raise InputError(
            f"max_parents is {max_parents}, but with {variables} variables at most {variables - 1} parents are possible"
        )
    return max_parents


def check_set_size(parents: int, variables: int) -> None:
    """Check that the key of a set can hold this many parents and their child."""
    if parents + 1 > max_set_size(variables):
        raise InputError(
            f"at most {max_set_size(variables) - 1} parents are possible with {variables} variables, not {parents}; "
            "use a lower parent limit"
        )


def _check_candidates(names: Sequence[str], candidates: Mapping[str, Sequence[str]] | None) -> list[Ints]:
    """Return the candidates of each child as ascending positions."""
    position = {name: i for i, name in enumerate(names)}
    given = dict(candidates or {})
    for child, parents in given.items():
        for name in (child, *parents):
            if name not in position:
                raise InputError(f"candidates contain {name!r}, which is not a variable of the data{hint(str(name), names)}")
        if child in parents:
            raise InputError(f"{child!r} cannot be its own candidate parent")
    own = [
        np.array(
            sorted({position[p] for p in given[child]}) if child in given else [j for j in range(len(names)) if j != i],
            dtype=np.int64,
        )
        for i, child in enumerate(names)
    ]
    for child, possible in zip(names, own, strict=True):
        if len(possible) > MAX_CANDIDATES:
            raise InputError(
                f"{child!r} has {len(possible)} candidate parents; at most {MAX_CANDIDATES} are possible: "
                "choose fewer variables with columns=[...], or give candidates"
            )
    return own
