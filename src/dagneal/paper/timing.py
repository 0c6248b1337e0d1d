"""Runs that are timed: from rows to QUBOs, ours and in plain Python as the paper's pseudocode is written."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations, product
from math import lgamma, prod
from time import perf_counter

import numpy as np
from numpy.typing import NDArray

import dagneal as dn
from dagneal.paper.experiments import Outcome
from dagneal.paper.problems import make_data, true_network

Examples = Sequence[Sequence[int]]
_TIMES = 7  # of which the quickest counts


def construction(network: str, data: str, k: int | None = None) -> Outcome:
    """The seconds from rows in memory to the QUBOs of all sub-problems, or of the whole.

    Args:
        network: the name of a bundled one.
        data: see `problems.make_data`.
        k: variables in a sub-problem; nothing for the whole.

    Returns:
        - `rows`, `problems`: their numbers.

        Seconds: `ours`, of the quickest of several times.
    """
    found = make_data(true_network(network), data)
    rows = np.repeat(found.codes, found.weights, axis=1)
    rows = rows[:, np.random.default_rng(0).permutation(rows.shape[1])]
    spent, problems = [], 0
    for _ in range(_TIMES + 1):  # the first may compile
        begun = perf_counter()
        problems = _ours(found, rows, k)
        spent.append(perf_counter() - begun)
    return Outcome({"rows": found.rows, "problems": problems}, {"ours": min(spent[1:])})


def _ours(data: dn.Dataset, rows: NDArray[np.uint8], k: int | None) -> int:
    """Merge equal rows, score each set of parents once, encode all sub-problems."""
    table = dn.scoring.Scorer(dn.Dataset.from_codes(data.names, data.states, rows)).table(2)
    size = len(data.names) if k is None else k
    return len(dn.qubo.qubos(table.gather(dn.divide.choose_subproblems(len(data.names), size)), dn.PAPER).linear)


def plain_python(network: str, data: str, k: int | None = None) -> Outcome:
    """The same in plain Python, and ours beside it on the same rows.

    Args:
        network: the name of a bundled one.
        data: see `problems.make_data`.
        k: variables in a sub-problem; nothing for the whole.

    Returns:
        The same keys as `construction`.

        Seconds: `plain`, and `ours` as in `construction`.
    """
    found = make_data(true_network(network), data)
    examples = np.repeat(found.codes, found.weights, axis=1).T.tolist()
    arities = found.arities.tolist()
    n = len(arities)
    begun = perf_counter()
    for members in combinations(range(n), n if k is None else k):
        scores([arities[v] for v in members], [[row[v] for v in members] for row in examples])
    spent = perf_counter() - begun
    ours = construction(network, data, k)
    return Outcome(ours.result, {"plain": spent, "ours": ours.seconds["ours"]})


def scores(arities: Sequence[int], examples: Examples) -> list[dict[tuple[int, ...], float]]:
    """The paper's calcS (its Algorithm 2), which takes nearly all the time of its construction of Q.

    Args:
        arities: the number of states of each variable.
        examples: the rows.

    >>> scores([2, 2], [[0, 0], [1, 1], [0, 0]])[0][()] < 3
    True
    """
    n = len(arities)
    sets = [[p for size in range(3) for p in combinations([j for j in range(n) if j != i], size)] for i in range(n)]
    return [{parents: _local(i, parents, arities, examples) for parents in sets[i]} for i in range(n)]


def _local(i: int, parents: tuple[int, ...], arities: Sequence[int], examples: Examples) -> float:
    """calcSi with alpha = 1 / (r q): one pass over the rows for each count."""
    alpha = 1.0 / (arities[i] * prod(arities[p] for p in parents))
    total = 0.0
    for states in product(*(range(arities[p]) for p in parents)):
        rows = sum(_count(examples, parents, i, states, k) for k in range(arities[i]))
        total += lgamma(alpha * arities[i]) - lgamma(alpha * arities[i] + rows)
        for k in range(arities[i]):
            total += lgamma(alpha + _count(examples, parents, i, states, k)) - lgamma(alpha)
    return -total


def _count(examples: Examples, parents: tuple[int, ...], i: int, states: tuple[int, ...], k: int) -> int:
    """Rows with variable i in state k and its parents in these states."""
    wanted = [(i, k), *zip(parents, states, strict=True)]
    found = 0
    for row in examples:
        for variable, state in wanted:
            if row[variable] != state:
                break
        else:
            found += 1
    return found
