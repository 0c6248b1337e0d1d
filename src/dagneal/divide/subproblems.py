"""Choose the subproblems of a division, count their votes, and solve many small subproblems exactly."""

from __future__ import annotations

from functools import lru_cache
from itertools import combinations, permutations, product
from math import comb

import networkx as nx
import numpy as np
from numpy.typing import NDArray

from dagneal.base.defaults import SEED
from dagneal.base.errors import InputError, whole_number
from dagneal.base.kernels import Floats, Ints, kernel_with_arrays
from dagneal.scoring.sets import bounded_masks

MAX_SUBPROBLEMS = 5_000_000
MAX_TRIPLE_COVER = 65  # variables; the search for a cover of all triples takes seconds
ENUMERATED = 4  # up to this size all DAGs of a subproblem are enumerated; for larger sizes dynamic programming is faster
TIE = 1e-9  # scores with a smaller difference count as equal


def choose_subproblems(variables: int, size: int, scheme: str = "all", seed: int = SEED) -> Ints:
    """Choose the subproblems of a division. Return the indices of their variables, ascending, one subproblem per row.

    Args:
        variables: number of variables.
        size: number of variables in a subproblem.
        scheme: `"all"` for all subsets of this size; `"cover:2"` for few subproblems that together contain every pair of
            variables; `"cover:3"` for few subproblems that together contain every triple; `"sample:F"` for a random
            fraction F of all subsets, with every pair in at least one subproblem.
        seed: seed of the random choices in a cover or a sample.

    >>> choose_subproblems(4, 3).tolist()
    [[0, 1, 2], [0, 1, 3], [0, 2, 3], [1, 2, 3]]
    >>> len(choose_subproblems(15, 4, "cover:2")) < 30
    True
    """
    if not 3 <= whole_number("size", size) <= variables:
        raise InputError(f"size is {size}; give a number from 3 to {variables} (the number of variables)")
    if not isinstance(scheme, str):
        raise InputError(f"subproblems is {scheme!r}; give 'all', 'cover:2', 'cover:3' or 'sample:F'")
    kind, _, value = scheme.partition(":")
    generator = np.random.default_rng(whole_number("seed", seed))
    if scheme == "all":
        if comb(variables, size) > MAX_SUBPROBLEMS:
            raise InputError(
                f"{variables} variables have {comb(variables, size):,} subproblems of size {size}; at most "
                f"{MAX_SUBPROBLEMS:,} are supported; use 'cover:2' or 'sample:F'"
            )
        return np.array(list(combinations(range(variables), size)), dtype=np.int64)
    if kind == "cover" and value in ("2", "3"):
        if value == "3" and variables > MAX_TRIPLE_COVER:
            raise InputError(
                f"'cover:3' is for at most {MAX_TRIPLE_COVER} variables, not {variables}; use 'cover:2' or 'all'"
            )
        return _cover(variables, size, int(value), generator)
    if kind == "sample":
        return _sample(variables, size, _parse_fraction(scheme, value), generator)
    raise InputError(f"subproblems is {scheme!r}; give 'all', 'cover:2', 'cover:3' or 'sample:F' with 0 < F <= 1")


def _parse_fraction(scheme: str, value: str) -> float:
    try:
        fraction = float(value)
    except ValueError:
        fraction = 0.0
    if not 0 < fraction <= 1:
        raise InputError(f"the fraction in {scheme!r} must be above 0 and at most 1, such as 'sample:0.2'")
    return fraction


def _cover(variables: int, size: int, strength: int, generator: np.random.Generator) -> Ints:
    """Choose few subproblems that together contain every set of `strength` variables (pairs or triples)."""
    uncovered = _all_sets(variables, strength)
    subproblems: list[list[int]] = []
    while True:
        left = np.argwhere(uncovered)
        if not len(left):
            return np.unique(np.array(subproblems, dtype=np.int64), axis=0)
        tries = []
        for _ in range(16):
            subproblem = _grow(uncovered, [int(v) for v in left[generator.integers(len(left))]], size, generator)
            tries.append((int(uncovered[np.ix_(*[subproblem] * strength)].sum()), subproblem))
        subproblem = max(tries)[1]
        subproblems.append(sorted(subproblem))
        uncovered[np.ix_(*[subproblem] * strength)] = False


def _all_sets(variables: int, strength: int) -> NDArray[np.bool_]:
    """Return an array with `strength` axes. An entry is True if all its indices are different."""
    index = np.indices((variables,) * strength)
    distinct = np.ones((variables,) * strength, dtype=bool)
    for a, b in combinations(range(strength), 2):
        distinct &= index[a] != index[b]
    return distinct


def _grow(uncovered: NDArray[np.bool_], subproblem: list[int], size: int, generator: np.random.Generator) -> list[int]:
    """Extend a subproblem to `size` variables. Each new variable adds as many uncovered sets as possible."""
    while len(subproblem) < size:
        inside = uncovered[np.ix_(range(len(uncovered)), *[subproblem] * (uncovered.ndim - 1))]
        gains = inside.reshape(len(uncovered), -1).sum(axis=1) + generator.random(len(uncovered)) * 0.5
        gains[subproblem] = -1.0
        subproblem = [*subproblem, int(np.argmax(gains))]
    return subproblem


def _sample(variables: int, size: int, fraction: float, generator: np.random.Generator) -> Ints:
    """Return distinct random subproblems, and additional subproblems for pairs that no random subproblem contains."""
    total = comb(variables, size)
    count = max(1, round(fraction * total))
    if count > MAX_SUBPROBLEMS:
        raise InputError(
            f"'sample:{fraction:g}' gives {count:,} subproblems; at most {MAX_SUBPROBLEMS:,} are supported; "
            "give a smaller fraction"
        )
    chosen: set[tuple[int, ...]] = set()
    if 2 * count >= total:
        subsets = list(combinations(range(variables), size))
        chosen = {subsets[i] for i in generator.permutation(total)[:count]}
    while len(chosen) < count:
        chosen.add(tuple(sorted(int(v) for v in generator.choice(variables, size, replace=False))))
    together = np.eye(variables, dtype=bool)
    for subproblem in chosen:
        together[np.ix_(subproblem, subproblem)] = True
    while not together.all():
        grown = _grow(~together, [int(v) for v in np.argwhere(~together)[0]], size, generator)
        chosen.add(tuple(sorted(grown)))
        together[np.ix_(grown, grown)] = True
    return np.array(sorted(chosen), dtype=np.int64)


def count_votes(variables: int, members: Ints, adjacency: NDArray[np.bool_]) -> tuple[Ints, Ints]:
    """Return the matrices `votes` and `together`.

    `votes[parent, child]` is the number of solutions that contain this edge (C in the paper). `together[a, b]` is the number
    of subproblems that contain the variables a and b.

    Args:
        variables: number of variables.
        members: indices of the variables of each subproblem, one subproblem per row.
        adjacency: solutions; `adjacency[subproblem, parent, child]` is True for an edge.
    """
    votes = np.zeros((variables, variables), dtype=np.int64)
    together = np.zeros((variables, variables), dtype=np.int64)
    add_votes(votes, together, members, adjacency)
    return votes, together


def add_votes(votes: Ints, together: Ints, members: Ints, adjacency: NDArray[np.bool_]) -> None:
    """Add the votes of more subproblems to `votes` and `together`, in place.

    Args:
        votes: `votes[parent, child]` is the number of solutions that contain this edge.
        together: `together[a, b]` is the number of subproblems that contain the variables a and b.
        members: indices of the variables of each subproblem, one subproblem per row.
        adjacency: solutions; `adjacency[subproblem, parent, child]` is True for an edge.
    """
    for a, b in permutations(range(members.shape[1]), 2):
        np.add.at(votes, (members[:, a], members[:, b]), adjacency[:, a, b].astype(np.int64))
        np.add.at(together, (members[:, a], members[:, b]), 1)


@lru_cache(maxsize=8)
def small_dags(size: int, max_parents: int) -> tuple[Ints, NDArray[np.bool_]]:
    """Return all DAGs with `size` nodes and at most `max_parents` parents per node, in two arrays.

    The first array has one row per DAG and one column per child. An entry is the index of the child's parent set in
    `bounded_masks`. The second array contains the adjacency matrices of the same DAGs. The DAGs are sorted by number of
    edges. DAGs with equally many edges are sorted by their row of the first array: by the first entry, then by the second,
    and so on. `solve_small` relies on this order, because the first DAG wins if scores are equal.
    """
    masks = bounded_masks(size - 1, min(max_parents, size - 1))[:, 0].tolist()
    dags = []
    for choice in product(range(len(masks)), repeat=size):
        adjacency = np.zeros((size, size), dtype=bool)
        for child, index in enumerate(choice):
            others = [v for v in range(size) if v != child]
            adjacency[[v for bit, v in enumerate(others) if masks[index] >> bit & 1], child] = True
        if nx.is_directed_acyclic_graph(nx.from_numpy_array(adjacency, create_using=nx.DiGraph)):
            dags.append((int(adjacency.sum()), choice, adjacency))
    dags.sort(key=lambda dag: dag[:2])
    return np.array([dag[1] for dag in dags], dtype=np.int64), np.array([dag[2] for dag in dags])


def solve_small(scores: Floats, max_parents: int) -> tuple[NDArray[np.bool_], Floats, Floats]:
    """Solve many subproblems of three or four variables exactly, by enumeration of all DAGs.

    Args:
        scores: local scores, an array of shape (subproblems, size, parent sets); see `Subproblems`.
        max_parents: parent limit of the subproblems.

    Returns:
        Three arrays with one row per subproblem: the best adjacency matrix, its score, and the margin of each pair of
        variables. A margin is the best score with the pair adjacent minus the best score with the pair not adjacent.
    """
    size = scores.shape[1]
    choices, adjacency = small_dags(size, max_parents)
    pairs = list(combinations(range(size), 2))
    adjacent = np.array([[dag[a, b] or dag[b, a] for a, b in pairs] for dag in adjacency])
    best, values, margins = _enumerate(np.ascontiguousarray(scores), choices, adjacent)
    return adjacency[best], values, margins


@kernel_with_arrays
def _enumerate(scores: Floats, choices: Ints, adjacent: NDArray[np.bool_]) -> tuple[Ints, Floats, Floats]:
    subproblems, size, _ = scores.shape
    pairs = adjacent.shape[1]
    best = np.zeros(subproblems, dtype=np.int64)
    values = np.full(subproblems, -np.inf)
    margins = np.empty((subproblems, pairs))
    linked = np.empty(pairs)
    apart = np.empty(pairs)
    for subproblem in range(subproblems):
        linked[:] = -np.inf
        apart[:] = -np.inf
        for dag in range(len(choices)):
            value = 0.0
            for child in range(size):
                value += scores[subproblem, child, choices[dag, child]]
            if value > values[subproblem] + TIE:
                values[subproblem] = value
                best[subproblem] = dag
            for pair in range(pairs):
                if adjacent[dag, pair]:
                    linked[pair] = max(linked[pair], value)
                else:
                    apart[pair] = max(apart[pair], value)
        for pair in range(pairs):
            margins[subproblem, pair] = linked[pair] - apart[pair]
    return best, values, margins


def solve_exactly(scores: Floats, masks: NDArray[np.uint64]) -> tuple[NDArray[np.bool_], Floats]:
    """Solve many subproblems of any size up to 16 exactly, by dynamic programming over subsets.

    Args:
        scores: local scores, an array of shape (subproblems, size, parent sets); see `Subproblems`.
        masks: parent sets, as bit masks over the other variables of the subproblem.

    Returns:
        Two arrays with one row per subproblem: the best adjacency matrix, and its score. If scores are equal, earlier
        variables become parents of later variables, and parents that do not raise the score are left out.
    """
    size = scores.shape[1]
    if size > 16:
        raise InputError(f"size is {size}; exact search solves subproblems of at most 16 variables; give a smaller size")
    within = np.zeros((size, len(masks)), dtype=np.int64)  # parent sets, as bit masks over all variables of the subproblem
    for child in range(size):
        for bit, other in enumerate(v for v in range(size) if v != child):
            within[child] |= ((masks >> np.uint64(bit)) & np.uint64(1)).astype(np.int64) << other
    return _solve_exactly(np.ascontiguousarray(scores), within)


@kernel_with_arrays
def _solve_exactly(scores: Floats, within: Ints) -> tuple[NDArray[np.bool_], Floats]:
    subproblems, size, sets = scores.shape
    full = 1 << size
    adjacency = np.zeros((subproblems, size, size), dtype=np.bool_)
    values = np.empty(subproblems)
    local = np.empty((size, full))
    choice = np.empty((size, full), dtype=np.int64)
    best = np.empty(full)
    sink = np.empty(full, dtype=np.int64)
    for subproblem in range(subproblems):
        for child in range(size):
            local[child] = -np.inf
            choice[child] = -1
            for entry in range(sets):
                local[child, within[child, entry]] = scores[subproblem, child, entry]
                choice[child, within[child, entry]] = entry
            for w in range(full):  # the best subset of w is w itself, or the best subset of w without one member
                for bit in range(size):
                    smaller = w ^ (1 << bit)
                    if smaller < w and local[child, smaller] > local[child, w] - TIE:
                        local[child, w] = local[child, smaller]
                        choice[child, w] = choice[child, smaller]
        best[0] = 0.0
        for w in range(1, full):
            best[w] = -np.inf
            for child in range(size - 1, -1, -1):
                if w >> child & 1:
                    rest = w ^ (1 << child)
                    value = best[rest] + local[child, rest]
                    if value > best[w] + TIE or best[w] == -np.inf:
                        best[w] = value
                        sink[w] = child
        values[subproblem] = best[full - 1]
        w = full - 1
        while w and values[subproblem] > -np.inf:
            child = sink[w]
            w ^= 1 << child
            parents = within[child, choice[child, w]]
            for other in range(size):
                adjacency[subproblem, other, child] = parents >> other & 1
    return adjacency, values
