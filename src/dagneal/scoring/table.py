"""The class `ScoreTable` has the log scores of all children and parent sets, in flat arrays."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import networkx as nx
import numpy as np
from numpy.typing import NDArray

from dagneal.base.errors import InputError, hint
from dagneal.base.kernels import Floats, Ints, Masks, kernel
from dagneal.graphs.dags import check_dag
from dagneal.scoring.sets import bounded_masks

MAX_GATHER_SIZE = 28  # variables; the limit of exact search


@dataclass(frozen=True, eq=False)
class ScoreTable:
    """The log scores of the parent sets that each child may have. Higher is better.

    An entry of the table is a parent set and its score. The parent sets of child i are `masks[start[i]:start[i + 1]]`, and
    `scores` has the same layout. A parent set is a bit mask: bit b stands for candidate b of the child. The candidates of
    child i are `candidates[first[i]:first[i + 1]]`. The masks of a child ascend, so a set comes after all its subsets. Sets
    that are not allowed are absent, for example sets of more than `max_parents` parents.

    The scores include background knowledge. Forbidden parents are not candidates. A set that lacks a required parent, or has
    more parents than the knowledge allows, has a penalty larger than any gain, so the best network never contains it. If the
    table was made with `complete=True`, forbidden parents are candidates with the same penalty.

    The required edges form a DAG whose parent sets are in the table, so a search can start from this DAG. There is one
    exception: with `complete=True`, a child can have more required parents than `max_parents`.

    Attributes:
        names: names of the variables, in the order of the data's columns.
        max_parents: parent limit.
        score_name: name of the score, with its parameters.
        first: index in `candidates` of each child's first candidate, followed by the length of `candidates`.
        candidates: indices of the possible parents, ascending for each child.
        start: index in `masks` and `scores` of each child's first entry, followed by the length of `masks`.
        masks: parent sets as bit masks.
        scores: log scores of the parent sets, including penalties for violations of background knowledge.
        required: boolean matrix; `required[parent, child]` is True if the edge is required. None if there are no required
            edges.
    """

    names: tuple[str, ...]
    max_parents: int
    score_name: str
    first: Ints
    candidates: Ints
    start: Ints
    masks: Masks
    scores: Floats
    required: NDArray[np.bool_] | None = None

    def __repr__(self) -> str:
        return f"ScoreTable({len(self.names)} variables, at most {self.max_parents} parents, {len(self.scores):,} scores)"

    @cached_property
    def position(self) -> dict[str, int]:
        """A dict with the index of each variable in `names`."""
        return {name: i for i, name in enumerate(self.names)}

    @cached_property
    def local_bits(self) -> Ints:
        """Matrix `local_bits[child, parent]` with the index of the parent's bit in the masks of the child.

        The value is -1 if the parent is not a candidate of the child.
        """
        bits = np.full((len(self.names), len(self.names)), -1, dtype=np.int64)
        for child in range(len(self.names)):
            own = self.candidates_of(child)
            bits[child, own] = np.arange(len(own))
        return bits

    @cached_property
    def best_first(self) -> tuple[Masks, Floats]:
        """The tuple (masks, scores), with the entries of each child sorted by descending score.

        If a parent set and one of its supersets have equal scores, the smaller set comes first.
        """
        order = np.concatenate(
            [lo + np.argsort(-self.scores[lo:hi], kind="stable") for lo, hi in zip(self.start, self.start[1:], strict=False)]
        )
        return self.masks[order], self.scores[order]

    @cached_property
    def pruned(self) -> tuple[Ints, Masks, Floats]:
        """The tuple (start, masks, scores), without the parent sets that score no better than one of their subsets.

        The entries of each child are sorted by descending score. An optimal network never needs the removed sets.
        """
        masks, scores = self.best_first
        keep = _undominated_sets(self.start, masks)
        kept = np.concatenate([[0], np.cumsum(keep)])
        return kept[self.start], masks[keep], scores[keep]

    @property
    def unrestricted(self) -> bool:
        """Whether the table has, for each child, every set of at most `max_parents` other variables."""
        n = len(self.names)
        full = len(bounded_masks(n - 1, self.max_parents))
        return bool((np.diff(self.first) == n - 1).all() and (np.diff(self.start) == full).all())

    def candidates_of(self, child: int) -> Ints:
        """Return the indices of the possible parents of a child."""
        return self.candidates[self.first[child] : self.first[child + 1]]

    def entries_of(self, child: int) -> slice:
        """Return the slice that selects the entries of a child in `masks` and in `scores`."""
        return slice(int(self.start[child]), int(self.start[child + 1]))

    def local(self, child: str, parents: Iterable[str] = ()) -> float:
        """Return the log score of a child given its parents.

        Args:
            child: name of the child.
            parents: names of the parents; no parents by default.
        """
        parent_names = list(parents)
        self._check_names((child, *parent_names))
        entries = self.entries_of(self.position[child])
        bits = self.local_bits[self.position[child], [self.position[p] for p in parent_names]]
        if (bits >= 0).all():
            mask = np.uint64(sum(1 << int(bit) for bit in set(bits)))
            entry = entries.start + int(np.searchsorted(self.masks[entries], mask))
            if entry < entries.stop and self.masks[entry] == mask:
                return float(self.scores[entry])
        raise self._absent_set(child, parent_names)

    def _check_names(self, names: Iterable[str]) -> None:
        for name in names:
            if name not in self.position:
                raise InputError(f"{name!r} is not a variable of the table{hint(str(name), self.names)}")

    def _absent_set(self, child: str, parents: Sequence[str]) -> InputError:
        """Return the error for a parent set that is not in the table."""
        text = ", ".join(map(str, parents)) or "none"
        if len(parents) > self.max_parents:
            why = f"has {len(parents)} parents ({text}), but this table allows at most {self.max_parents}"
        else:
            why = f"cannot have the parents ({text}) in this table"
        return InputError(f"{child!r} {why}; use Scorer.score, or problem.table(complete=True) in a solver")

    def score(self, dag: nx.DiGraph) -> float:
        """Return the log score of a DAG over the variables of the table.

        Args:
            dag: a DAG whose parent sets are all in the table.
        """
        check_dag(dag, self.names)
        return float(sum(self.local(child, dag.predecessors(child)) for child in self.names))

    def best_parents(self, child: int, allowed: NDArray[np.bool_]) -> list[int]:
        """Return the indices of a child's best parents among the allowed variables.

        If several parent sets have the best score, return the set with the lowest mask.

        Args:
            child: index of the child.
            allowed: array with True for each variable that may be a parent.
        """
        candidates = self.candidates_of(child)
        outside = np.uint64(sum(1 << bit for bit, v in enumerate(candidates) if not allowed[v]))
        fitting = np.flatnonzero(self.best_first[0][self.entries_of(child)] & outside == 0)
        if not len(fitting):
            raise InputError(f"{self.names[child]!r} has no parent set among the allowed variables; allow more variables")
        mask = int(self.best_first[0][self.start[child] + fitting[0]])
        return [int(v) for bit, v in enumerate(candidates) if mask >> bit & 1]

    def restrict(self, names: Sequence[str]) -> ScoreTable:
        """Return the table of a subset of the variables. They keep the order of this table. No score is computed again.

        Args:
            names: variables to keep, at least two.
        """
        self._check_names(names)
        if len(set(names)) != len(names) or len(names) < 2:
            raise InputError("restrict needs at least two variables, each given once")
        kept = np.zeros(len(self.names), dtype=bool)
        kept[[self.position[name] for name in names]] = True
        new_index = np.cumsum(kept) - 1
        candidates, masks, scores = [], [], []
        for child in map(int, np.flatnonzero(kept)):
            own, entries = self.candidates_of(child), self.entries_of(child)
            inside = kept[own]
            outside = np.uint64(sum(1 << bit for bit in np.flatnonzero(~inside)))
            stays = self.masks[entries] & outside == 0
            packed = np.zeros(int(stays.sum()), dtype=np.uint64)
            for new, bit in enumerate(np.flatnonzero(inside)):
                packed |= ((self.masks[entries][stays] >> np.uint64(bit)) & np.uint64(1)) << np.uint64(new)
            candidates.append(new_index[own[inside]])
            masks.append(packed)
            scores.append(self.scores[entries][stays])
        return ScoreTable(
            names=tuple(self.names[i] for i in np.flatnonzero(kept)),
            max_parents=min(self.max_parents, len(names) - 1),
            score_name=self.score_name,
            first=np.cumsum([0, *map(len, candidates)]),
            candidates=np.concatenate(candidates),
            start=np.cumsum([0, *map(len, masks)]),
            masks=np.concatenate(masks),
            scores=np.concatenate(scores),
            required=None if self.required is None else self.required[np.ix_(kept, kept)],
        )

    def gather(self, subproblems: Sequence[Sequence[int]] | Ints) -> Subproblems:
        """Copy the scores of many subproblems of the same size into one array. No score is computed again.

        Args:
            subproblems: one subproblem per row, as ascending indices of variables.
        """
        try:
            members = np.asarray(subproblems, dtype=np.int64)
        except ValueError as error:
            raise InputError("subproblems must be indices of variables; use table.restrict to select by name") from error
        if members.ndim != 2 or members.shape[1] < 2 or (np.diff(members) <= 0).any():
            raise InputError("subproblems must be rows of equal length, each with at least two ascending indices")
        if members.size and (members.min() < 0 or members.max() >= len(self.names)):
            raise InputError(f"a subproblem has an index outside 0 to {len(self.names) - 1}")
        size = members.shape[1]
        if size > MAX_GATHER_SIZE:
            raise InputError(
                f"subproblems have {size} variables, but at most {MAX_GATHER_SIZE} are possible; use table.restrict instead"
            )
        masks = bounded_masks(size - 1, min(self.max_parents, size - 1))
        scores = np.full((len(members), size, len(masks)), -np.inf)
        for place in range(size):
            others = np.delete(members, place, axis=1)
            order = np.argsort(members[:, place], kind="stable")
            children, begins = np.unique(members[order, place], return_index=True)
            for child, lines in zip(children, np.split(order, begins[1:]), strict=False):
                scores[lines, place] = self._look_up(int(child), others[lines], masks)
        limit = min(self.max_parents, size - 1)
        return Subproblems(self.names, self.score_name, limit, members, masks, scores, self.required)

    def _look_up(self, child: int, others: Ints, masks: Masks) -> Floats:
        """Return the scores of a child in several subproblems.

        Args:
            child: index of the child.
            others: array with one subproblem per row, as indices of its variables without the child.
            masks: parent sets as bit masks; bit b stands for column b of `others`.

        Returns:
            Array of scores with one row per subproblem and one column per mask. The score of a set that is not in the
            table is minus infinity.
        """
        bits = self.local_bits[child][others]
        wanted = np.zeros((len(others), len(masks)), dtype=np.uint64)
        possible = np.ones(wanted.shape, dtype=bool)
        for column in range(others.shape[1]):
            chosen = (masks >> np.uint64(column)) & np.uint64(1)
            bit = bits[:, column]
            flag = np.where(bit >= 0, np.uint64(1) << np.maximum(bit, 0).astype(np.uint64), np.uint64(0))
            wanted |= flag[:, None] * chosen
            possible &= (bit >= 0)[:, None] | (chosen == 0)
        entries = self.entries_of(child)
        own = self.masks[entries]
        if not len(own):
            return np.full(wanted.shape, -np.inf)
        entry = np.minimum(np.searchsorted(own, wanted), len(own) - 1)
        return np.where(possible & (own[entry] == wanted), self.scores[entries][entry], -np.inf)


@dataclass(frozen=True, eq=False)
class Subproblems:
    """The log scores of many subproblems of the same size.

    Attributes:
        variables: names of all variables of the original table.
        score_name: name of the score.
        max_parents: parent limit within a subproblem.
        members: array with one subproblem per row, as ascending indices of variables.
        masks: parent sets as bit masks; bit b stands for member b of the subproblem after removal of the child.
        scores: log scores; `scores[i, j, k]` is the score of member j of subproblem i with the parent set `masks[k]`. The
            score of a parent set that is not in the table is minus infinity.
        required: boolean matrix over all variables; `required[parent, child]` is True if the edge is required. None if there
            are no required edges.
    """

    variables: tuple[str, ...]
    score_name: str
    max_parents: int
    members: Ints
    masks: Masks
    scores: Floats
    required: NDArray[np.bool_] | None = None

    def names(self, index: int) -> tuple[str, ...]:
        """Return the names of the variables of a subproblem.

        Args:
            index: row of the subproblem in `members`.
        """
        return tuple(self.variables[i] for i in self.members[index])

    def table(self, index: int) -> ScoreTable:
        """Return the score table of a subproblem.

        Args:
            index: row of the subproblem in `members`.
        """
        size = self.members.shape[1]
        present = np.isfinite(self.scores[index])
        return ScoreTable(
            names=self.names(index),
            max_parents=self.max_parents,
            score_name=self.score_name,
            first=np.arange(size + 1) * (size - 1),
            candidates=np.concatenate([np.delete(np.arange(size), child) for child in range(size)]),
            start=np.concatenate([[0], np.cumsum(present.sum(axis=1))]),
            masks=np.broadcast_to(self.masks, present.shape)[present],
            scores=self.scores[index][present],
            required=None if self.required is None else self.required[np.ix_(self.members[index], self.members[index])],
        )


@kernel
def _undominated_sets(start: Ints, masks: Masks) -> NDArray[np.bool_]:
    keep = np.zeros(len(masks), dtype=np.bool_)
    for child in range(len(start) - 1):
        kept = np.empty(start[child + 1] - start[child], dtype=np.uint64)
        count = 0
        for entry in range(start[child], start[child + 1]):
            mask = masks[entry]
            needed = True
            for other in range(count):
                if kept[other] & ~mask == np.uint64(0):
                    needed = False
                    break
            if needed:
                kept[count] = mask
                count += 1
                keep[entry] = True
    return keep


def check_table(table: Any) -> None:
    """Check that an argument is a `ScoreTable`.

    Args:
        table: argument to check.
    """
    if not isinstance(table, ScoreTable):
        raise InputError(
            f"a ScoreTable is needed, not {type(table).__name__}; make one with dn.scoring.score_table, or use dn.learn"
        )
