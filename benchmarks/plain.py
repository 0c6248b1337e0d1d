"""The paper's algorithms in plain Python, as slow as they are published: something to compare with."""

from collections.abc import Sequence
from itertools import combinations, product
from math import lgamma, prod


def parent_sets(n: int) -> list[list[tuple[int, ...]]]:
    """All sets of at most two parents of each variable (calcParentSets)."""
    return [[p for k in range(3) for p in combinations([j for j in range(n) if j != i], k)] for i in range(n)]


def count(examples: Sequence[Sequence[int]], parents: tuple[int, ...], i: int, j: tuple[int, ...], k: int) -> int:
    """Rows with variable i in state k and its parents in state j (calcNi-pi-jk): one pass over the data."""
    wanted = [(i, k), *zip(parents, j, strict=True)]
    found = 0
    for row in examples:
        for variable, state in wanted:
            if row[variable] != state:
                break
        else:
            found += 1
    return found


def local_score(i: int, parents: tuple[int, ...], arities: Sequence[int], examples: Sequence[Sequence[int]]) -> float:
    """Algorithm 2, calcSi, with alpha = 1 / (r q)."""
    q = prod(arities[p] for p in parents)
    alpha = 1.0 / (arities[i] * q)
    total = 0.0
    for j in product(*(range(arities[p]) for p in parents)):
        a_ij = alpha * arities[i]
        n_ij = sum(count(examples, parents, i, j, k) for k in range(arities[i]))
        total += lgamma(a_ij) - lgamma(a_ij + n_ij)
        for k in range(arities[i]):
            total += lgamma(alpha + count(examples, parents, i, j, k)) - lgamma(alpha)
    return -total


def scores(arities: Sequence[int], examples: Sequence[Sequence[int]]) -> list[dict[tuple[int, ...], float]]:
    """Algorithm 2, calcS: the step that takes nearly all the time of the paper's construction of Q."""
    n = len(arities)
    sets = parent_sets(n)
    return [{p: local_score(i, p, arities, examples) for p in sets[i]} for i in range(n)]
