"""Single changes of a network: additions, removals, replacements and reversals of edges, over all variables."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from dagneal.base.kernels import Floats, Ints, Masks, kernel
from dagneal.scoring.scorer import Scorer
from dagneal.scoring.sets import Members, word_count
from dagneal.search.large_sets import find_weak
from dagneal.search.proposals import Options, Rules, propose_changes, sort_rows

_EPSILON = 1e-6  # nats; smaller gains can be rounding errors
_ROWS = 500_000  # proposals that are scored at a time


@dataclass(frozen=True, eq=False)
class Change:
    """A change of a network that raises the score.

    Attributes:
        gain: rise of the log score.
        children: variables with new parents.
        rows: new parent sets of these variables, padded with -1.
    """

    gain: float
    children: Ints
    rows: Members


def best_change(parents: Members, order: Ints, rules: Rules, allowed: Options, scorer: Scorer) -> Change | None:
    """Return the single change of a network that raises the score most; None if no change raises the score.

    A change adds, removes or reverses an edge, or replaces a parent of a child by another variable. New sets obey the rule
    for large sets (see `large_sets`).

    Args:
        parents: parent set of each variable, as rows of ascending variables padded with -1.
        order: topological order of the network.
        rules: limits on parent sets.
        allowed: variables that may become parents of each child.
        scorer: scorer of the data.
    """
    everyone = np.arange(len(parents))
    present = scorer.score_parents(everyone, parents)
    descendants = _descendants(parents, order)
    best = _best_reversal(parents, rules, allowed, descendants, present, scorer)
    step = max(1, _ROWS // max(1, len(parents) * (parents.shape[1] + 1)))
    for begin in range(0, len(parents), step):
        some = everyone[begin : begin + step]
        children, rows, _ = propose_changes(some, parents[some], allowed, rules, swaps=True)
        scores = scorer.score_parents(children, rows)
        gains = scores - present[children]
        legal = np.flatnonzero(gains > (_EPSILON if best is None else best.gain))
        acyclic = np.ones(len(legal), dtype=bool)
        _find_cycles(children[legal], rows[legal], descendants, acyclic)
        legal = legal[acyclic]
        legal = legal[~find_weak(children[legal], rows[legal], scores[legal], rules.large, scorer)]
        if len(legal):
            top = legal[np.argmax(gains[legal])]
            best = Change(float(gains[top]), children[top : top + 1], rows[top : top + 1])
    return best


def _best_reversal(
    parents: Members, rules: Rules, allowed: Options, descendants: Masks, present: Floats, scorer: Scorer
) -> Change | None:
    """Return the reversal of an edge that raises the score most; None if no reversal raises the score."""
    child, place = np.nonzero(parents >= 0)
    parent = parents[child, place].astype(np.int64)
    may = np.zeros((len(parents), len(parents)), dtype=bool)  # may[child, parent]
    may[np.repeat(np.arange(len(parents)), np.diff(allowed.first)), allowed.variables] = True
    room = (parents >= 0).sum(axis=1)[parent] < rules.limits[parent]
    possible = may[parent, child] & ~rules.required[parent, child] & room
    child, parent, place = child[possible], parent[possible], place[possible]
    without, extended = reverse_edges(parents, child, parent, place)
    scores = scorer.score_parents(parent, extended)
    rises = scores - present[parent]
    rises[find_weak(parent, extended, scores, rules.large, scorer)] = -np.inf
    left = scorer.score_parents(child, without)
    gains = left - present[child] + rises
    gains[find_weak(child, without, left, rules.large, scorer)] = -np.inf
    for edge in np.argsort(-gains, kind="stable"):
        if gains[edge] <= _EPSILON:
            return None
        # After the reversal there is a cycle if another path leads from the parent to the child.
        others = without[edge][without[edge] >= 0]
        if not any(_is_descendant(descendants, int(parent[edge]), int(other)) for other in others):
            rows = np.stack([np.append(without[edge], np.int32(-1)), extended[edge]])
            return Change(float(gains[edge]), np.array([child[edge], parent[edge]]), rows)
    return None


def reverse_edges(parents: Members, child: Ints, parent: Ints, place: Ints) -> tuple[Members, Members]:
    """Return the parent sets of the child and of the parent after the reversal of each edge.

    Args:
        parents: parent set of each variable.
        child: child of each edge.
        parent: parent of each edge.
        place: column of the parent in the row of the child.
    """
    without = parents[child].copy()
    without[np.arange(len(child)), place] = -1
    extended = np.concatenate([parents[parent], child[:, None].astype(np.int32)], axis=1)
    return sort_rows(without), sort_rows(extended)


def find_descendants(parents: Members, order: Ints) -> NDArray[np.bool_]:
    """Return a matrix: `matrix[ancestor, variable]` is True if the variable is a descendant of the ancestor.

    Args:
        parents: parent set of each variable.
        order: topological order of the network.
    """
    octets = _descendants(parents, order).astype("<u8").view(np.uint8)
    return np.unpackbits(octets, axis=1, count=len(parents), bitorder="little").astype(bool)


def _descendants(parents: Members, order: Ints) -> Masks:
    """Return a bit mask with the descendants of each variable."""
    masks = np.zeros((len(parents), word_count(len(parents))), dtype=np.uint64)
    _find_descendants(parents, order, masks)
    return masks


def _is_descendant(descendants: Masks, ancestor: int, variable: int) -> bool:
    return bool(int(descendants[ancestor, variable >> 6]) >> (variable & 63) & 1)


@kernel
def _find_descendants(parents: Members, order: Ints, masks: Masks) -> None:
    """Write a bit mask with the descendants of each variable into `masks`, which contains zeros."""
    for index in range(len(parents) - 1, -1, -1):
        child = order[index]
        for place in range(parents.shape[1]):
            parent = parents[child, place]
            if parent >= 0:
                masks[parent, child >> 6] |= np.uint64(1) << np.uint64(child & 63)
                for word in range(masks.shape[1]):
                    masks[parent, word] |= masks[child, word]


@kernel
def _find_cycles(children: Ints, rows: Members, descendants: Masks, acyclic: NDArray[np.bool_]) -> None:
    """Set `acyclic` to False for each new parent set that contains a descendant of the child."""
    for index in range(len(children)):
        for place in range(rows.shape[1]):
            parent = rows[index, place]
            if parent >= 0:
                word = descendants[children[index], parent >> 6]
                if (word >> np.uint64(parent & 63)) & np.uint64(1) != np.uint64(0):
                    acyclic[index] = False
