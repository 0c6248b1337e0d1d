"""Scorer: from data to tables of local scores; every set of variables is counted once."""

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
from dagneal.base.errors import InputError, whole_number
from dagneal.base.kernels import Floats, Ints, Masks
from dagneal.base.machine import check_room
from dagneal.data.dataset import Dataset
from dagneal.graphs.dags import check_dag
from dagneal.graphs.knowledge import Knowledge, as_knowledge
from dagneal.runtime.run import DEFAULT_RUN, Run
from dagneal.scoring.counting.counter import Counter
from dagneal.scoring.scores import Score, as_score
from dagneal.scoring.sets import bounded_masks, distinct, pair_keys, set_keys, set_members, widest_set
from dagneal.scoring.table import ScoreTable

MOST_CANDIDATES = 64  # bits of a mask
MOST_SCORES = 50_000_000  # 16 bytes each


class Scorer:
    """Local scores of data: it owns the counts and hands out tables.

    Args:
        data: the data.
        score: the score, or its name such as `"bic"`; `BDeu(1)` by default.
        knowledge: what is known before, also as a dict or the path of a TOML file: tables leave out parents that are not
            allowed, and price the rest so that no best network breaks a rule.
        run: where counting is done, and until when.
        workers: number of threads for counting; all cores by default.

    >>> from dagneal.networks.bundled import load
    >>> truth = load("lung-cancer")
    >>> scorer = Scorer(truth.expected(10_000))
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
            raise InputError(f"a Dataset is needed, not {type(data).__name__}; dn.read makes one")
        self.data = data
        self.rule: Score = as_score(score)
        self.knowledge = as_knowledge(knowledge)
        self.counter = Counter(data, run, workers)
        self.rules = self.knowledge.constraints(data.names, len(data.names) - 1) if self.knowledge else None
        # Pseudo-counts depend on the child only through its number of states; one pair of columns for each of those.
        arities = np.unique(data.arities) if self.rule.depends_on_child else np.array([0])
        self._arities = arities
        # Keys of the sets counted so far, ascending, and their sums; replaced as one, so that threads may share a scorer.
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
            max_parents: the most parents of a child; 2 by default, or fewer where there are fewer variables.
            candidates: the possible parents of each child; all other variables where a child is not named.
            complete: keep parents that knowledge forbids, at a price that no best network pays, so that all children have
                the same sets, as blocks need.
        """
        names = self.data.names
        limit = check_max_parents(max_parents, len(names))
        own = _check_candidates(names, candidates)
        if self.knowledge is not None and self.rules is not None and not complete:
            self.knowledge.check(names, limit)
            own = [self.rules.candidates(child, its) for child, its in enumerate(own)]
        check_width(min(limit, max(map(len, own))), len(names))
        total = sum(comb(len(c), k) for c in own for k in range(min(limit, len(c)) + 1))
        if total > MOST_SCORES:
            raise InputError(
                f"max_parents={limit} over {len(names)} variables means {total:,} scores; {MOST_SCORES:,} are possible: "
                "allow fewer parents, or name candidates"
            )
        check_room(self.bytes_of(total), f"a table of {total:,} scores", "allow fewer parents, or name candidates")
        by_size = {size: bounded_masks(size, min(limit, size)) for size in {len(c) for c in own}}
        masks = [by_size[len(c)] for c in own]
        start = np.concatenate([[0], np.cumsum([len(m) for m in masks])])
        return ScoreTable(
            names=names,
            max_parents=limit,
            score_name=self.rule.name,
            first=np.concatenate([[0], np.cumsum([len(c) for c in own])]),
            candidates=np.concatenate(own),
            start=start,
            masks=np.concatenate(masks),
            scores=self.scores_of(list(range(len(names))), own, masks),
            required=None if self.rules is None else self.rules.required,
        )

    def within(self, run: Run) -> Scorer:
        """Return a scorer with the same counts that counts more in another run.

        Args:
            run: where, and until when.
        """
        other = copy(self)
        other.counter = Counter(self.data, run, self.counter.workers)
        other._counting = Lock()
        return other

    def bytes_of(self, scores: int) -> int:
        """The memory that a table of so many scores takes while it is made, as measured; most of it goes into counts.

        Args:
            scores: how many.
        """
        return scores * (50 + 12 * len(self._arities))

    def local(self, child: str, parents: Iterable[str] = ()) -> float:
        """The log score of a child with any parents.

        Args:
            child: a variable.
            parents: its parents.
        """
        position = self._position
        its_parents = list(parents)
        for name in (child, *its_parents):
            if name not in position:
                raise InputError(f"there is no variable {name!r} in the data")
        own = np.array(sorted({position[p] for p in its_parents}), dtype=np.int64)
        if position[child] in own:
            raise InputError(f"{child!r} cannot be its own parent")
        check_width(len(own), len(self.data.names))
        everything = np.array([(1 << len(own)) - 1], dtype=np.uint64)
        return float(self._scores_of([position[child]], [own], [everything])[0])

    @cached_property
    def _position(self) -> dict[str, int]:
        return {name: i for i, name in enumerate(self.data.names)}

    @cached_property
    def price(self) -> float:
        """What breaking a rule costs: more than any network can gain by it.

        A network of the required edges alone breaks none and costs minus the sum of these scores. No network costs less than
        nothing, since a score is the logarithm of a probability; so one that pays this price is never the best.
        """
        if self.rules is None:
            return 0.0
        names = self.data.names
        wanted = [[names[p] for p in np.flatnonzero(column)] for column in self.rules.required.T]
        return 1.0 - sum(self.local(child, parents) for child, parents in zip(names, wanted, strict=True))

    def pair_gains(self) -> Floats:
        """What one parent gains: `gains[parent, child]` is the score with that parent alone minus that with none."""
        if self._gains is not None:
            return self._gains
        n = len(self.data.names)
        none, single, pair = pair_keys(n)
        keys, sums = self._count(distinct(np.concatenate([[none], single, pair.ravel()])))
        alone, empty = np.searchsorted(keys, single), int(np.searchsorted(keys, none))
        # Keys of pairs with the same first variable lie together, so they are looked up row by row; a pair counts both ways.
        place = np.empty((n, n), dtype=np.int32)
        for first in range(n):
            place[first, first:] = place[first:, first] = np.searchsorted(keys, pair[first, first:])
        gains = np.zeros((n, n))
        for child in range(n):
            column, arity = self._column(child), int(self.data.arities[child])
            both = sums[place[child], column]
            gains[:, child] = both - sums[alone, column + 1] - sums[alone[child], column] + sums[empty, column + 1]
            if self.rule.penalised:
                charged = self.rule.penalties(arity, self.data.arities.astype(np.float64), self.data.rows)
                gains[:, child] -= charged - self.rule.penalties(arity, np.ones(1), self.data.rows)
        np.fill_diagonal(gains, 0.0)
        if self.rules is not None:  # a required parent is always near, a forbidden one never
            gains[~self.rules.allowed] = -np.inf
            gains[self.rules.required] = np.inf
        self._gains = gains
        return gains

    def score(self, dag: nx.DiGraph) -> float:
        """The log score of any DAG over the variables, also with more parents than a table has.

        Args:
            dag: the graph.
        """
        check_dag(dag, self.data.names)
        return float(sum(self.local(child, dag.predecessors(child)) for child in self.data.names))

    def scores_of(
        self,
        children: Sequence[int],
        candidates: Sequence[Ints],
        masks: Sequence[Masks],
    ) -> Floats:
        """Scores of given parent sets of given children, one child after the other.

        Args:
            children: positions of variables; one may come several times.
            candidates: for each, the variables that the bits of its masks stand for, ascending.
            masks: for each, its parent sets.
        """
        found = self._scores_of(children, candidates, masks)
        if self.rules is None:
            return found
        broken = [self.rules.violations(*each) for each in zip(children, candidates, masks, strict=True)]
        return found - self.price * np.concatenate(broken)

    def _scores_of(
        self,
        children: Sequence[int],
        candidates: Sequence[Ints],
        masks: Sequence[Masks],
    ) -> Floats:
        """The same without knowledge."""
        n = len(self.data.names)
        parents = [set_keys(m, c, None, n) for m, c in zip(masks, candidates, strict=True)]
        families = [set_keys(m, c, i, n) for m, c, i in zip(masks, candidates, children, strict=True)]
        keys, sums = self._count(distinct(np.concatenate([*parents, *families])))
        found = []
        for child, own, family, mask, its_candidates in zip(children, parents, families, masks, candidates, strict=True):
            arity, column = int(self.data.arities[child]), self._column(child)
            value = sums[np.searchsorted(keys, family), column] - sums[np.searchsorted(keys, own), column + 1]
            found.append(value - self._penalties(arity, mask, its_candidates) if self.rule.penalised else value)
        return np.concatenate(found)

    def _column(self, child: int) -> int:
        """Where the sums of a child's families are; those of its parents are one further."""
        if not self.rule.depends_on_child:
            return 0
        return 2 * int(np.searchsorted(self._arities, self.data.arities[child]))

    def _penalties(self, arity: int, masks: Masks, candidates: Ints) -> Floats:
        cells = np.ones(len(masks))
        for bit, variable in enumerate(candidates):
            cells[(masks >> np.uint64(bit)) & np.uint64(1) == 1] *= self.data.arities[variable]
        return self.rule.penalties(arity, cells, self.data.rows)

    def _count(self, wanted: Masks) -> tuple[Masks, Floats]:
        """Count the sets that were not counted before; give all that are known now."""
        with self._counting:
            keys, sums = self._counted
            at = np.searchsorted(keys, wanted)
            new = wanted[at == len(keys)] if not len(keys) else wanted[keys[np.minimum(at, len(keys) - 1)] != wanted]
            if len(new):
                together = np.concatenate([keys, new])
                order = np.argsort(together, kind="stable")
                sums = np.concatenate([sums, self._new_sums(new)])[order]
                self._counted = together[order], sums
            return self._counted

    def _new_sums(self, keys: Masks) -> Floats:
        data = self.data
        members = set_members(keys, len(data.names))
        cells = np.where(members >= 0, data.arities[members].astype(np.float64), 1.0).prod(axis=1)
        sizes, which = np.unique(cells, return_inverse=True)
        wanted = np.array(
            [[a for r in self._arities for a in self.rule.concentrations(int(r), float(q), data.rows)] for q in sizes]
        )[which]
        if np.array_equal(wanted[:, ::2], wanted[:, 1::2]):  # the part a set plays makes no difference
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
    """Score every parent set of every child: the short form of `Scorer(data, score).table(max_parents, candidates)`.

    Args:
        data: the data.
        score: the score, or its name such as `"bic"`; `BDeu(1)` by default.
        max_parents: the most parents of a child; 2 by default.
        candidates: the possible parents of each child; all by default.

    >>> from dagneal.networks.bundled import load
    >>> table = score_table(load("lung-cancer").expected(10_000), max_parents=1)
    >>> round(table.local("Xray", ["Cancer"]), 2)
    -4990.7
    """
    return Scorer(data, score).table(max_parents, candidates)


def check_max_parents(max_parents: int | None, variables: int) -> int:
    """The limit as given, or the default, lowered where there are too few variables for it."""
    if max_parents is None:
        return min(PAPER_PARENTS, variables - 1)
    max_parents = whole_number("max_parents", max_parents)
    if max_parents >= variables:
        raise InputError(
            f"max_parents is {max_parents}, but a variable out of {variables} has at most {variables - 1} parents"
        )
    return max_parents


def check_width(parents: int, variables: int) -> None:
    """Refuse more parents than the key of a set can hold."""
    if parents + 1 > widest_set(variables):
        raise InputError(
            f"at most {widest_set(variables) - 1} parents are possible with {variables} variables, not {parents}"
        )


def _check_candidates(names: Sequence[str], candidates: Mapping[str, Sequence[str]] | None) -> list[Ints]:
    """The candidates of each child as ascending positions."""
    position = {name: i for i, name in enumerate(names)}
    given = dict(candidates or {})
    for child, parents in given.items():
        for name in (child, *parents):
            if name not in position:
                raise InputError(f"candidates name {name!r}, which is not a variable")
        if child in parents:
            raise InputError(f"{child!r} cannot be its own candidate parent")
    own = [
        np.array(
            sorted({position[p] for p in given[child]}) if child in given else [j for j in range(len(names)) if j != i],
            dtype=np.int64,
        )
        for i, child in enumerate(names)
    ]
    for child, its_candidates in zip(names, own, strict=True):
        if len(its_candidates) > MOST_CANDIDATES:
            raise InputError(
                f"{child!r} has {len(its_candidates)} candidate parents; at most {MOST_CANDIDATES} are possible: "
                "choose fewer variables with columns=[...], or name candidates"
            )
    return own
