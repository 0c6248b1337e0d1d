"""The class `Scorer` computes score tables from data. It counts each set of variables only once."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping, Sequence
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
from dagneal.graphs.knowledge import Constraints, Knowledge, as_knowledge
from dagneal.runtime.run import DEFAULT_RUN, Run
from dagneal.scoring.adaptive import AdaptiveScores
from dagneal.scoring.counting.counter import Counter
from dagneal.scoring.scores import Adaptive, Score, as_score
from dagneal.scoring.sets import (
    Members,
    bounded_masks,
    expand_masks,
    mask_sizes,
    max_set_size,
    pad_sets,
    set_keys,
    set_members,
    sort_keys,
    state_combinations,
    word_count,
)
from dagneal.scoring.store import KeyIndex, Rows, SetStore
from dagneal.scoring.table import ScoreTable, table_layout

MAX_SCORES = 50_000_000  # 16 bytes each
_CHUNK = 1 << 16  # parent sets that are scored at a time


class Scorer:
    """Computes local scores from data. Counts are kept and reused for later tables.

    A local score is the log score of one child given its parents.

    Args:
        data: data from which scores are computed.
        score: a score, or its name such as `"bic"`; `BDeu(1)` by default.
        knowledge: background knowledge, as an object, a dict or the path of a TOML file. Score tables omit forbidden
            parents. Other violations get a penalty, which is so large that the best network has no violation. All scores
            include the log-odds of edges with a probability.
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
        # Pseudo-counts depend on the child only through its number of states. For each number, the store has a column with
        # sums over families (a child and its parents), and then a column with sums over parent sets.
        self._arities = np.unique(data.arities) if self.criterion.depends_on_child else np.array([0])
        self._column = 2 * (
            np.searchsorted(self._arities, data.arities) if self.criterion.depends_on_child else data.arities * 0
        )
        self._store = SetStore(2 * len(self._arities))
        self._adaptive = AdaptiveScores(data, self.criterion) if isinstance(self.criterion, Adaptive) else None
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
        most = max(map(len, possible))
        check_set_size(min(limit, most), len(names))
        total = sum(comb(len(c), k) for c in possible for k in range(min(limit, len(c)) + 1))
        if total > MAX_SCORES:
            raise InputError(
                f"max_parents={limit} with {len(names)} variables needs {total:,} scores, more than {MAX_SCORES:,}; "
                "use a lower parent limit, or give candidates"
            )
        needed = self.table_bytes(total, most)
        check_memory(needed, f"a table of {total:,} scores", "use a lower parent limit, or give candidates")
        words = word_count(most)
        by_size = {size: bounded_masks(size, min(limit, size), words) for size in {len(c) for c in possible}}
        masks = [by_size[len(c)] for c in possible]
        layout = table_layout(possible, masks)
        return ScoreTable(
            names=names,
            max_parents=limit,
            score_name=self.criterion.name,
            **layout,
            scores=self._score_masks(np.arange(len(names)), **layout),
            required=None if self.constraints is None else self.constraints.required,
        )

    def with_run(self, run: Run) -> Scorer:
        """Return a scorer that shares the counts of this scorer, and uses the executor and deadline of another run.

        Args:
            run: `Run` object with the executor and the deadline.
        """
        other = copy(self)
        other.counter = Counter(self.data, run, self.counter.workers)
        return other

    def limit_counts(self, most: int) -> None:
        """Forget all counts if more than `most` sets are counted, to save memory. Scores do not change.

        Other threads must not use the scorer meanwhile.

        Args:
            most: number of sets.
        """
        if len(self._store) > most:
            self._store = SetStore(2 * len(self._arities))
        if isinstance(self.criterion, Adaptive) and self._adaptive is not None and len(self._adaptive) > most:
            self._adaptive = AdaptiveScores(self.data, self.criterion)

    def table_bytes(self, scores: int, candidates: int) -> int:
        """Return the estimated peak memory, in bytes, for computing a score table. The formula comes from measurements.

        Args:
            scores: number of scores in the table.
            candidates: largest number of candidate parents of a child.
        """
        return scores * (42 + 8 * word_count(candidates) + 12 * len(self._arities))

    def local(self, child: str, parents: Iterable[str] = ()) -> float:
        """Return the log score of a child given its parents, without penalties for violations of background knowledge.

        The score includes the log-odds of edges with a probability.

        Args:
            child: name of the child.
            parents: names of the parents; no parents by default.
        """
        position = self._position
        parent_names = list(parents)
        for name in (child, *parent_names):
            if name not in position:
                raise InputError(f"{name!r} is not a variable of the data{hint(str(name), position)}")
        indices = {position[p] for p in parent_names}
        if position[child] in indices:
            raise InputError(f"{child!r} cannot be its own parent")
        check_set_size(len(indices), len(self.data.names))
        return self._local_scores([position[child]], [indices])[0]

    def _local_scores(self, children: Sequence[int], parents: Sequence[Iterable[int]]) -> list[float]:
        """Return the scores of children given their parents, without penalties for violations."""
        rows, members = np.array(children), pad_sets(parents)
        scores: list[float] = self._score(len(rows), lambda lines: (rows[lines], members[lines]), None).tolist()
        return scores

    @cached_property
    def _position(self) -> dict[str, int]:
        return {name: i for i, name in enumerate(self.data.names)}

    @cached_property
    def violation_penalty(self) -> float:
        """The score penalty for each violation of background knowledge.

        The penalty is larger than any possible gain. Let S be the score of the network that has only the required edges.
        This network has no violation. No network scores above M, the sum of all positive log-odds of edges. With the penalty
        M + 1 - S, a network with a violation scores at most S - 1. It is therefore never the best network.
        """
        if self.constraints is None:
            return 0.0
        names = self.data.names
        required = [[names[p] for p in np.flatnonzero(column)] for column in self.constraints.required.T]
        log_odds = self.constraints.log_odds
        most = 0.0 if log_odds is None else float(np.maximum(log_odds, 0.0).sum())
        return most + 1.0 - sum(self.local(child, parents) for child, parents in zip(names, required, strict=True))

    def pair_gains(self) -> Floats:
        """Return the matrix `gains[parent, child]`: the score gain if a child without parents gets this parent.

        With background knowledge, the gain of a required edge is inf, and the gain of a forbidden edge is -inf.
        """
        if self._gains is not None:
            return self._gains
        gains = self._adaptive_gains() if self._adaptive is not None else self._count_gains()
        np.fill_diagonal(gains, 0.0)
        if self.constraints is not None:
            gains[~self.constraints.allowed] = -np.inf
            gains[self.constraints.required] = np.inf
        self._gains = gains
        return gains

    def _count_gains(self) -> Floats:
        """Return the gains of all edges from the sums over the counts of all pairs of variables."""
        n = len(self.data.names)
        variables = np.arange(n, dtype=np.int32)
        first, second = (ends.astype(np.int32) for ends in np.triu_indices(n, 1))
        pairs = np.stack([first, second], axis=1)
        keys = [set_keys(sets, n) for sets in (np.empty((1, 0), dtype=np.int32), variables[:, None], pairs)]
        self._count(np.concatenate(keys))
        empty, alone, both = map(self._store.rows, keys)
        index = np.empty((n, n), dtype=np.int32)
        index[first, second] = index[second, first] = both
        index[variables, variables] = alone
        sums, gains = self._store.values, np.zeros((n, n))
        for child in range(n):
            column, arity = self._column[child], int(self.data.arities[child])
            given_parent = sums(index[child], column) - sums(alone, column + 1)
            gains[:, child] = given_parent - sums(alone[child], column) + sums(empty, column + 1)
            if self.criterion.penalised:
                penalties = self.criterion.penalties(arity, self.data.arities.astype(np.float64), self.data.rows)
                gains[:, child] -= penalties - self.criterion.penalties(arity, np.ones(1), self.data.rows)
        if self.constraints is not None and self.constraints.log_odds is not None:
            gains += self.constraints.log_odds
        return gains

    def _adaptive_gains(self) -> Floats:
        """Return the gains of all edges from the scores of all parent sets of at most one parent."""
        n = len(self.data.names)
        parents, children = np.nonzero(~np.eye(n, dtype=bool))
        rows = parents.astype(np.int32)[:, None]
        gains = np.zeros((n, n))
        gains[parents, children] = self._score(len(rows), lambda lines: (children[lines], rows[lines]), None)
        gains -= self._local_scores(range(n), [()] * n)
        return gains

    def score(self, dag: nx.DiGraph) -> float:
        """Return the log score of any DAG, without penalties for violations of background knowledge.

        The score includes the log-odds of edges with a probability.

        Args:
            dag: a DAG over the variables of the data.
        """
        names = self.data.names
        check_dag(dag, names)
        parents = [[self._position[p] for p in dag.predecessors(child)] for child in names]
        return float(sum(self._local_scores(range(len(names)), parents)))

    def score_parents(self, children: Ints, parents: Members) -> Floats:
        """Return the scores of parent sets, including penalties for violations of background knowledge.

        Args:
            children: index of the child of each parent set.
            parents: parent sets as rows of ascending indices, padded with -1 at the end.
        """
        children = np.ascontiguousarray(children, dtype=np.int64)
        parents = np.ascontiguousarray(parents, dtype=np.int32)
        if parents.ndim != 2 or children.shape != parents.shape[:1]:
            raise InputError(f"{children.shape} children and {parents.shape} parents do not match; give one row per child")
        return self._score(len(children), lambda lines: (children[lines], parents[lines]), self.constraints)

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
            masks: for each child, its parent sets as bit masks, one mask per row. All masks have the same number of words.

        Returns:
            One array: the scores of the first child's sets, then the scores of the second child's sets, and so on.
        """
        return self._score_masks(np.array(children), **table_layout(candidates, masks))

    def _score_masks(self, children: Ints, first: Ints, candidates: Ints, start: Ints, masks: Masks) -> Floats:
        """Return the same scores as `score_sets`. The arrays have the layout of a `ScoreTable`."""
        width = int(mask_sizes(masks).max(initial=0))

        def expand(lines: slice) -> tuple[Ints, Members]:
            count = lines.stop - lines.start
            groups, parents = np.empty(count, dtype=np.int64), np.empty((count, width), dtype=np.int32)
            expand_masks(first, candidates, start, masks, lines.start, groups, parents)
            return children[groups], parents

        return self._score(len(masks), expand, self.constraints)

    def _score(self, total: int, sets: Callable[[slice], tuple[Ints, Members]], rules: Constraints | None) -> Floats:
        """Return the scores of parent sets.

        The sets are processed in chunks to save memory. All sets that are not counted yet are counted together.

        Args:
            total: number of parent sets.
            sets: function that returns the children and the parent sets of a slice.
            rules: background knowledge, which adds penalties for violations; None for scores without these penalties.
        """
        scores = np.empty(total)
        chunks = [slice(begin, min(begin + _CHUNK, total)) for begin in range(0, total, _CHUNK)]
        while chunks:
            waiting, wanted = [], KeyIndex()
            for lines in chunks:
                children, parents = sets(lines)
                if self._adaptive is not None:
                    scores[lines] = self._adaptive.scores(self.counter, children, parents)
                    self._add_knowledge(scores[lines], children, parents, rules)
                    continue
                keys = self._keys(children, parents)
                rows = self._store.rows(keys)
                if (missing := rows < 0).any():
                    wanted.add(keys[missing])
                    waiting.append(lines)
                    continue
                scores[lines] = self._differences(children, parents, rows)
                self._add_knowledge(scores[lines], children, parents, rules)
            self._count(wanted.keys)
            chunks = waiting
        return scores

    def _add_knowledge(self, scores: Floats, children: Ints, parents: Members, rules: Constraints | None) -> None:
        """Add the log-odds of edges to scores, and subtract the penalties for violations, in place."""
        if self.constraints is not None and self.constraints.log_odds is not None:
            scores += self.constraints.prior(children, parents)
        if rules is not None:
            scores -= self.violation_penalty * rules.violations(children, parents)

    def _differences(self, children: Ints, parents: Members, rows: Rows) -> Floats:
        """Return the scores of parent sets, without penalties for violations.

        `rows` are the rows of the families in the store, followed by the rows of the parent sets.
        """
        families, sets = np.split(rows, 2)
        column = self._column[children]
        scores = self._store.values(families, column) - self._store.values(sets, column + 1)
        if self.criterion.penalised:
            arities, cells = self.data.arities[children], state_combinations(parents, self.data.arities)
            for arity in np.unique(arities):
                own = arities == arity
                scores[own] -= self.criterion.penalties(int(arity), cells[own], self.data.rows)
        return scores

    def _keys(self, children: Ints, parents: Members) -> Masks:
        """Return the keys of all families (children with their parents), followed by the keys of all parent sets."""
        variables = len(self.data.names)
        return np.concatenate([set_keys(parents, variables, children), set_keys(parents, variables)])

    def _count(self, keys: Masks) -> None:
        """Count the sets with the given distinct keys, unless they are already counted."""
        if not len(keys):
            return
        with self._counting:
            new = sort_keys(keys[self._store.rows(keys) < 0])  # another thread may have counted some sets
            if len(new):
                self._store.add(new, self._sums(set_members(new, len(self.data.names))))

    def _sums(self, members: Members) -> Floats:
        """Return the sums of sets that are not counted yet, for the columns that the store needs."""
        cells = state_combinations(members, self.data.arities)
        sizes = np.unique(cells)
        parameters = np.array([self._concentrations(float(size)) for size in sizes])
        columns = self._store.split_columns(parameters)
        return self.counter.sums(members, np.searchsorted(sizes, cells), np.ascontiguousarray(parameters[:, columns]))

    def _concentrations(self, cells: float) -> list[float]:
        """Return the pseudo-counts of a set with this number of state combinations, one for each column of the store."""
        return [a for arity in self._arities for a in self.criterion.concentrations(int(arity), cells, self.data.rows)]


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
    return [
        np.array(
            sorted({position[p] for p in given[child]}) if child in given else [j for j in range(len(names)) if j != i],
            dtype=np.int64,
        )
        for i, child in enumerate(names)
    ]
