"""The class `ScoreTable` has the log scores of all children and parent sets, in flat arrays."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from math import comb
from typing import Any

import networkx as nx
import numpy as np
from numpy.typing import NDArray

from dagneal.base.errors import InputError, hint
from dagneal.base.kernels import Floats, Ints, Masks, kernel, kernel_with_arrays
from dagneal.graphs.dags import check_dag
from dagneal.scoring.sets import (
    Members,
    bounded_masks,
    find_mask,
    first_subset,
    flip_bit,
    is_subset,
    mask_bits,
    mask_of,
    move_bits,
    pack_flags,
    squeeze_words,
    word_count,
)

MAX_GATHER_SIZE = 28  # variables; the limit of exact search


def table_layout(candidates: Sequence[Ints], masks: Sequence[Masks]) -> dict[str, Any]:
    """Return the fields `first`, `candidates`, `start` and `masks` of a `ScoreTable`.

    Args:
        candidates: candidate parents of each child.
        masks: parent sets of each child.
    """
    return {
        "first": np.cumsum([0, *map(len, candidates)]),
        "candidates": np.concatenate(candidates),
        "start": np.cumsum([0, *map(len, masks)]),
        "masks": np.concatenate(masks),
    }


@dataclass(frozen=True, eq=False)
class ScoreTable:
    """The log scores of the parent sets that each child may have. Higher is better.

    An entry of the table is a parent set and its score. The parent sets of child i are `masks[start[i]:start[i + 1]]`, and
    `scores` has the same layout. A parent set is a bit mask: bit b stands for candidate b of the child. The candidates of
    child i are `candidates[first[i]:first[i + 1]]`. A mask is a row of 64-bit words, as many as the child with the most
    candidates needs; see `dagneal.scoring.sets`. The masks of a child ascend, so a set comes after all its subsets. Sets
    that are not allowed are absent, for example sets of more than `max_parents` parents.

    The scores include background knowledge. Forbidden parents are not candidates. A set that lacks a required parent, or has
    more parents than the knowledge allows, has a penalty larger than any gain, so the best network never contains it. If the
    table was made with `complete=True`, forbidden parents are candidates with the same penalty. If edges have probabilities,
    their log-odds are added.

    The required edges form a DAG whose parent sets are in the table, so a search can start from this DAG. There is one
    exception: with `complete=True`, a child can have more required parents than `max_parents`.

    Attributes:
        names: names of the variables, in the order of the data's columns.
        max_parents: parent limit.
        score_name: name of the score, with its parameters.
        first: index in `candidates` of each child's first candidate, followed by the length of `candidates`.
        candidates: indices of the possible parents, ascending for each child.
        start: index in `masks` and `scores` of each child's first entry, followed by the length of `masks`.
        masks: parent sets as bit masks, shape (entries, words).
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
        keep = np.zeros(len(masks), dtype=bool)
        memory = np.empty((int(np.diff(self.start).max(initial=0)), masks.shape[1]), dtype=np.uint64)
        _find_undominated(self.start, masks, memory, keep)
        kept = np.concatenate([[0], np.cumsum(keep)])
        return kept[self.start], masks[keep], scores[keep]

    def prune(self, slack: float = 0.0) -> tuple[Ints, Masks, Floats]:
        """Return (start, masks, scores) without the parent sets that score at least `slack` lower than one of their subsets.

        If a network contains such a set, the network with the subset instead scores at least `slack` more.

        Args:
            slack: difference in nats. With 0, the result is `pruned`.
        """
        if slack <= 0.0:
            return self.pruned
        masks, scores = self.best_first
        keep = np.zeros(len(masks), dtype=bool)
        start, best_masks, best_scores = self.pruned  # a set's best subset is always among these
        _find_close(self.start, squeeze_words(masks), scores, start, squeeze_words(best_masks), best_scores, slack, keep)
        kept = np.concatenate([[0], np.cumsum(keep)])
        return kept[self.start], masks[keep], scores[keep]

    @property
    def fingerprint(self) -> str:
        """A hash of the names, candidates, parent sets and scores. It identifies the table."""
        from hashlib import blake2b

        state = blake2b(json.dumps(self.names).encode(), digest_size=16)
        for values in (self.first, self.candidates, self.start, self.masks, self.scores):
            state.update(np.ascontiguousarray(values).tobytes())
        return state.hexdigest()

    @property
    def unrestricted(self) -> bool:
        """Whether the table has, for each child, every set of at most `max_parents` other variables."""
        n = len(self.names)
        full = sum(comb(n - 1, size) for size in range(self.max_parents + 1))
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
            entry = find_mask(self.masks, entries.start, entries.stop, mask_of(bits, self.masks.shape[1])[None], 0)
            if entry >= 0:
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
        candidates, entries, masks = self.candidates_of(child), self.entries_of(child), self.best_first[0]
        inside = pack_flags(allowed[candidates][None], masks.shape[1])
        entry = first_subset(squeeze_words(masks), entries.start, entries.stop, squeeze_words(inside), 0)
        if entry < 0:
            raise InputError(f"{self.names[child]!r} has no parent set among the allowed variables; allow more variables")
        return [int(v) for v in candidates[mask_bits(masks[entry : entry + 1])[0]]]

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
        children = [int(child) for child in np.flatnonzero(kept)]
        words = word_count(max(int(kept[self.candidates_of(child)].sum()) for child in children))
        candidates, masks, scores = [], [], []
        for child in children:
            own, entries = self.candidates_of(child), self.entries_of(child)
            inside = np.flatnonzero(kept[own])
            stays = is_subset(self.masks[entries], pack_flags(kept[own], self.masks.shape[1]))
            candidates.append(new_index[own[inside]])
            masks.append(move_bits(self.masks[entries][stays], inside, range(len(inside)), words))
            scores.append(self.scores[entries][stays])
        return ScoreTable(
            names=tuple(self.names[i] for i in np.flatnonzero(kept)),
            max_parents=min(self.max_parents, len(names) - 1),
            score_name=self.score_name,
            **table_layout(candidates, masks),
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
        _look_up(members, mask_bits(masks), self.local_bits, self.start, self.masks, self.scores, scores)
        limit = min(self.max_parents, size - 1)
        return Subproblems(self.names, self.score_name, limit, members, masks[:, 0], scores, self.required)


@dataclass(frozen=True, eq=False)
class Subproblems:
    """The log scores of many subproblems of the same size.

    Attributes:
        variables: names of all variables of the original table.
        score_name: name of the score.
        max_parents: parent limit within a subproblem.
        members: array with one subproblem per row, as ascending indices of variables.
        masks: parent sets as bit masks of one word; bit b stands for member b of the subproblem after removal of the child.
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
            masks=np.broadcast_to(self.masks, present.shape)[present][:, None],
            scores=self.scores[index][present],
            required=None if self.required is None else self.required[np.ix_(self.members[index], self.members[index])],
        )


@kernel_with_arrays
def _look_up(
    members: Ints, subsets: Members, local_bits: Ints, start: Ints, masks: Masks, scores: Floats, found: Floats
) -> None:
    """Write the scores of all children and parent sets of subproblems into `found`; see `Subproblems.scores`.

    `members` has one subproblem per row. Each row of `subsets` is a parent set: indices of members of the subproblem after
    removal of the child, padded with -1. The other arrays belong to a `ScoreTable`. `found` contains minus infinity, which
    stays if a set is not in the table.
    """
    wanted = np.empty((1, masks.shape[1]), dtype=np.uint64)
    for line in range(len(members)):
        for place in range(members.shape[1]):
            child = members[line, place]
            for index in range(len(subsets)):
                wanted[:] = np.uint64(0)
                bit = np.int64(0)
                for other in subsets[index]:
                    if other < 0:
                        break
                    bit = local_bits[child, members[line, other + (other >= place)]]
                    if bit < 0:
                        break
                    flip_bit(wanted, 0, bit)
                if bit >= 0:
                    entry = find_mask(masks, start[child], start[child + 1], wanted, 0)
                    if entry >= 0:
                        found[line, place, index] = scores[entry]


@kernel
def _find_undominated(start: Ints, masks: Masks, kept: Masks, keep: NDArray[np.bool_]) -> None:
    """Set `keep` to True for each set without a better subset. `kept` is working memory for the sets of a child."""
    for child in range(len(start) - 1):
        count = 0
        for entry in range(start[child], start[child + 1]):
            if first_subset(kept, 0, count, masks, entry) < 0:
                for word in range(masks.shape[1]):  # assigning a row takes 2 s to compile
                    kept[count, word] = masks[entry, word]
                count += 1
                keep[entry] = True


@kernel
def _find_close(
    start: Ints,
    masks: Masks,
    scores: Floats,
    best_start: Ints,
    best_masks: Masks,
    best_scores: Floats,
    slack: float,
    keep: NDArray[np.bool_],
) -> None:
    """Set `keep` to True for each set that scores less than `slack` lower than its best subset.

    The arrays `best_start`, `best_masks` and `best_scores` are the pruned table. The first subset there is the best one.
    """
    for child in range(len(start) - 1):
        for entry in range(start[child], start[child + 1]):
            subset = first_subset(best_masks, best_start[child], best_start[child + 1], masks, entry)
            keep[entry] = best_scores[subset] - scores[entry] < slack


def check_table(table: Any) -> None:
    """Check that an argument is a `ScoreTable`.

    Args:
        table: argument to check.
    """
    if not isinstance(table, ScoreTable):
        raise InputError(
            f"a ScoreTable is needed, not {type(table).__name__}; make one with dn.scoring.score_table, or use dn.learn"
        )
