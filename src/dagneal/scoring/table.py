"""ScoreTable: the local scores of every child with its possible parent sets, as flat arrays."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import networkx as nx
import numpy as np
from numpy.typing import NDArray

from dagneal.base.errors import InputError
from dagneal.base.kernels import Floats, Ints, Masks, kernel
from dagneal.graphs.dags import check_dag
from dagneal.scoring.sets import bounded_masks

MOST_IN_BLOCK = 28  # where exact search ends; blocks hold all sets of parents, candidates or not


@dataclass(frozen=True, eq=False)
class ScoreTable:
    """Log scores, higher is better, of the parent sets that each child may have.

    The entries of child i are at `start[i]` to `start[i + 1]`; each is a set of parents, written as bits over the
    child's own candidates, `candidates[first[i]:first[i + 1]]`, and its score. Bits ascend, so a set comes after all its
    subsets. A set that a child may not have is absent.

    Background knowledge is part of a table. Forbidden parents are not among the candidates. Sets that lack a required
    parent, or that have more parents than knowledge allows this child, are present, but at a price that exceeds any gain: no
    best network has one of them. In a `complete` table forbidden parents are candidates too, at the same price. Sets of more
    than `max_parents` parents are absent. The edges in `required` make a DAG whose parent sets are present, so a search may
    start there; only in a table of subproblems may they be more than `max_parents`.

    Attributes:
        names: the variables, in the order of the data's columns.
        max_parents: the most parents a child may have.
        score_name: the score, with its parameters.
        first: bounds of each child's candidates.
        candidates: the possible parents of each child, ascending.
        start: bounds of each child's entries.
        masks: the parent sets.
        scores: their log scores; sets that break a rule of background knowledge are priced.
        required: `required[parent, child]`, the edges that knowledge requires; None where it requires nothing.
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
        """Where each variable stands in `names`."""
        return {name: i for i, name in enumerate(self.names)}

    @cached_property
    def local_bits(self) -> Ints:
        """`local_bits[child, parent]` is the bit of a candidate in the child's masks, -1 if it is none."""
        bits = np.full((len(self.names), len(self.names)), -1, dtype=np.int64)
        for child in range(len(self.names)):
            own = self.candidates_of(child)
            bits[child, own] = np.arange(len(own))
        return bits

    @cached_property
    def best_first(self) -> tuple[Masks, Floats]:
        """Masks and scores with each child's entries by falling score; a set comes before its supersets of equal score."""
        order = np.concatenate(
            [lo + np.argsort(-self.scores[lo:hi], kind="stable") for lo, hi in zip(self.start, self.start[1:], strict=False)]
        )
        return self.masks[order], self.scores[order]

    @cached_property
    def pruned(self) -> tuple[Ints, Masks, Floats]:
        """Each child's parent sets by falling score, without those no better than one of their subsets: never needed.

        Bounds of each child's sets, the sets, and their scores.
        """
        masks, scores = self.best_first
        keep = _undominated_sets(self.start, masks)
        kept = np.concatenate([[0], np.cumsum(keep)])
        return kept[self.start], masks[keep], scores[keep]

    @property
    def unrestricted(self) -> bool:
        """Whether each child may have every set of at most `max_parents` of the other variables."""
        n = len(self.names)
        full = len(bounded_masks(n - 1, self.max_parents))
        return bool((np.diff(self.first) == n - 1).all() and (np.diff(self.start) == full).all())

    def candidates_of(self, child: int) -> Ints:
        """The possible parents of a child."""
        return self.candidates[self.first[child] : self.first[child + 1]]

    def entries_of(self, child: int) -> slice:
        """Where the entries of a child are in `masks` and `scores`."""
        return slice(int(self.start[child]), int(self.start[child + 1]))

    def local(self, child: str, parents: Iterable[str] = ()) -> float:
        """The log score of a child with these parents.

        Args:
            child: a variable.
            parents: its parents.
        """
        its_parents = list(parents)
        for name in (child, *its_parents):
            if name not in self.position:
                raise InputError(f"there is no variable {name!r} in the table")
        entries = self.entries_of(self.position[child])
        bits = self.local_bits[self.position[child], [self.position[p] for p in its_parents]]
        if (bits >= 0).all():
            mask = np.uint64(sum(1 << int(bit) for bit in set(bits)))
            found = entries.start + int(np.searchsorted(self.masks[entries], mask))
            if found < entries.stop and self.masks[found] == mask:
                return float(self.scores[found])
        raise self._outside(child, its_parents)

    def _outside(self, child: str, parents: Sequence[str]) -> InputError:
        listed = ", ".join(map(str, parents)) or "none"
        if len(parents) > self.max_parents:
            why = f"has {len(parents)} parents ({listed}); this table holds at most {self.max_parents}"
        else:
            why = f"may not have the parents ({listed}) in this table"
        return InputError(f"{child!r} {why}: use Scorer.score for any graph")

    def score(self, dag: nx.DiGraph) -> float:
        """The log score of a DAG over the variables of the table.

        Args:
            dag: a graph in which no child has parents outside the table.
        """
        check_dag(dag, self.names)
        return float(sum(self.local(child, dag.predecessors(child)) for child in self.names))

    def best_parents(self, child: int, allowed: NDArray[np.bool_]) -> list[int]:
        """The parents in the best set of a child that lies within some variables; the smallest of equals.

        Args:
            child: position of the child.
            allowed: for each variable, whether it may be a parent.
        """
        candidates = self.candidates_of(child)
        outside = np.uint64(sum(1 << bit for bit, v in enumerate(candidates) if not allowed[v]))
        fitting = np.flatnonzero(self.best_first[0][self.entries_of(child)] & outside == 0)
        if not len(fitting):
            raise InputError(f"no set of parents of {self.names[child]!r} fits")
        mask = int(self.best_first[0][self.start[child] + fitting[0]])
        return [int(v) for bit, v in enumerate(candidates) if mask >> bit & 1]

    def restrict(self, names: Sequence[str]) -> ScoreTable:
        """The table of these variables alone, in the order of this table; nothing is counted again.

        Args:
            names: some of the variables.
        """
        for name in names:
            if name not in self.position:
                raise InputError(f"there is no variable {name!r} in the table")
        if len(set(names)) != len(names) or len(names) < 2:
            raise InputError("restrict needs at least two different variables")
        kept = np.zeros(len(self.names), dtype=bool)
        kept[[self.position[name] for name in names]] = True
        place = np.cumsum(kept) - 1
        candidates, masks, scores = [], [], []
        for child in map(int, np.flatnonzero(kept)):
            own, entries = self.candidates_of(child), self.entries_of(child)
            inside = kept[own]
            outside = np.uint64(sum(1 << bit for bit in np.flatnonzero(~inside)))
            stays = self.masks[entries] & outside == 0
            packed = np.zeros(int(stays.sum()), dtype=np.uint64)
            for new, bit in enumerate(np.flatnonzero(inside)):
                packed |= ((self.masks[entries][stays] >> np.uint64(bit)) & np.uint64(1)) << np.uint64(new)
            candidates.append(place[own[inside]])
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

    def gather(self, blocks: Sequence[Sequence[int]] | Ints) -> Subproblems:
        """The scores of many blocks of the same size in one array; scores are copied, nothing is counted again.

        Args:
            blocks: positions of variables, ascending, one block per line.
        """
        try:
            members = np.asarray(blocks, dtype=np.int64)
        except ValueError as error:
            raise InputError("blocks hold positions of variables; for names use restrict") from error
        if members.ndim != 2 or members.shape[1] < 2 or (np.diff(members) <= 0).any():
            raise InputError("blocks must be lines of the same length, each at least two different positions, ascending")
        if members.size and (members.min() < 0 or members.max() >= len(self.names)):
            raise InputError(f"a block holds a position outside 0 to {len(self.names) - 1}")
        size = members.shape[1]
        if size > MOST_IN_BLOCK:
            raise InputError(f"blocks of {size} variables are too large; at most {MOST_IN_BLOCK}: use restrict")
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
        """Scores of a child in several blocks: `others[b]` are the other members, `masks` choose among them."""
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
        found = np.minimum(np.searchsorted(own, wanted), len(own) - 1)
        return np.where(possible & (own[found] == wanted), self.scores[entries][found], -np.inf)


@dataclass(frozen=True, eq=False)
class Subproblems:
    """The local scores of many blocks of one size.

    Attributes:
        variables: all variables of the table that the blocks were cut from.
        score_name: its score.
        max_parents: the parent limit within a block.
        members: positions among the variables, shape (blocks, size).
        masks: the parent sets, as bits over the other members of a block in their order.
        scores: shape (blocks, size, masks); minus infinity where a set is absent.
        required: the edges between all variables that knowledge requires; None where it requires nothing.
    """

    variables: tuple[str, ...]
    score_name: str
    max_parents: int
    members: Ints
    masks: Masks
    scores: Floats
    required: NDArray[np.bool_] | None = None

    def names(self, block: int) -> tuple[str, ...]:
        """The variables of a block.

        Args:
            block: its line.
        """
        return tuple(self.variables[i] for i in self.members[block])

    def table(self, block: int) -> ScoreTable:
        """One block as a table of its own.

        Args:
            block: its line.
        """
        size = self.members.shape[1]
        present = np.isfinite(self.scores[block])
        return ScoreTable(
            names=self.names(block),
            max_parents=self.max_parents,
            score_name=self.score_name,
            first=np.arange(size + 1) * (size - 1),
            candidates=np.concatenate([np.delete(np.arange(size), child) for child in range(size)]),
            start=np.concatenate([[0], np.cumsum(present.sum(axis=1))]),
            masks=np.broadcast_to(self.masks, present.shape)[present],
            scores=self.scores[block][present],
            required=None if self.required is None else self.required[np.ix_(self.members[block], self.members[block])],
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
    """Refuse what is no table of scores.

    Args:
        table: what was given.
    """
    if not isinstance(table, ScoreTable):
        raise InputError(
            f"a ScoreTable is needed, not {type(table).__name__}; dn.scoring.score_table makes one, dn.learn takes data"
        )
