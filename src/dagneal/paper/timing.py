"""Measure the CPU time to construct QUBOs from rows, with our code and with plain Python after the paper's pseudocode."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations, product
from math import lgamma, prod
from time import process_time

import numpy as np
from numpy.typing import NDArray

import dagneal as dn
from dagneal.paper.experiments import Outcome
from dagneal.paper.problems import make_data, true_network

Examples = Sequence[Sequence[int]]
_REPEATS = 7  # number of measurements; the shortest time is recorded


def time_construction(network: str, data: str, k: int | None = None) -> Outcome:
    """Measure the CPU seconds to construct the QUBOs of all subproblems, or of the global problem, from rows in memory.

    Args:
        network: name of a bundled network.
        data: description of the data; see `problems.make_data`.
        k: variables per subproblem; None for the global problem.

    Returns:
        An `Outcome` with these keys in `result`:

        - `rows`, `problems`: number of rows, and number of QUBOs.

        The duration is `seconds["ours"]`, the shortest of several measurements.
    """
    dataset = make_data(true_network(network), data)
    rows = np.repeat(dataset.codes, dataset.weights, axis=1)
    rows = rows[:, np.random.default_rng(0).permutation(rows.shape[1])]
    spent, problems = [], 0
    for _ in range(_REPEATS + 1):  # the first repeat may include compilation, so it does not count
        begun = process_time()
        problems = _construct(dataset, rows, k)
        spent.append(process_time() - begun)
    return Outcome({"rows": dataset.rows, "problems": problems}, {"ours": min(spent[1:])})


def _construct(data: dn.Dataset, rows: NDArray[np.uint8], k: int | None) -> int:
    """Construct the QUBOs from rows with our code, and return their number."""
    table = dn.scoring.Scorer(dn.Dataset.from_codes(data.names, data.states, rows)).table(2)
    size = len(data.names) if k is None else k
    return len(dn.qubo.qubos(table.gather(dn.divide.choose_subproblems(len(data.names), size)), dn.PAPER).linear)


def time_plain_python(network: str, data: str, k: int | None = None) -> Outcome:
    """Measure the CPU seconds that plain Python takes for the local scores, and our code for the QUBOs, from the same rows.

    Args:
        network: name of a bundled network.
        data: description of the data; see `problems.make_data`.
        k: variables per subproblem; None for the global problem.

    Returns:
        An `Outcome` like that of `time_construction`. In addition, `seconds["plain"]` is the duration of plain Python.
    """
    dataset = make_data(true_network(network), data)
    examples = np.repeat(dataset.codes, dataset.weights, axis=1).T.tolist()
    arities = dataset.arities.tolist()
    n = len(arities)
    begun = process_time()
    for members in combinations(range(n), n if k is None else k):
        plain_scores([arities[v] for v in members], [[row[v] for v in members] for row in examples])
    spent = process_time() - begun
    ours = time_construction(network, data, k)
    return Outcome(ours.result, {"plain": spent, "ours": ours.seconds["ours"]})


def plain_scores(arities: Sequence[int], examples: Examples) -> list[dict[tuple[int, ...], float]]:
    """Compute all local scores with the paper's function calcS (Algorithm 2), the slowest step of constructing the QUBO.

    Args:
        arities: number of states of each variable.
        examples: rows; each row lists the states of all variables.

    >>> plain_scores([2, 2], [[0, 0], [1, 1], [0, 0]])[0][()] < 3
    True
    """
    n = len(arities)
    sets = [[p for size in range(3) for p in combinations([j for j in range(n) if j != i], size)] for i in range(n)]
    return [{parents: _local(i, parents, arities, examples) for parents in sets[i]} for i in range(n)]


def _local(i: int, parents: tuple[int, ...], arities: Sequence[int], examples: Examples) -> float:
    """Compute one local score with the paper's function calcSi. Each count reads all rows.

    The pseudo-count alpha is 1 / (number of states of variable i * number of combinations of states of its parents).
    """
    alpha = 1.0 / (arities[i] * prod(arities[p] for p in parents))
    total = 0.0
    for states in product(*(range(arities[p]) for p in parents)):
        rows = sum(_count(examples, parents, i, states, k) for k in range(arities[i]))
        total += lgamma(alpha * arities[i]) - lgamma(alpha * arities[i] + rows)
        for k in range(arities[i]):
            total += lgamma(alpha + _count(examples, parents, i, states, k)) - lgamma(alpha)
    return -total


def _count(examples: Examples, parents: tuple[int, ...], i: int, states: tuple[int, ...], k: int) -> int:
    """Count the rows with variable i in state k and its parents in the given states."""
    wanted = [(i, k), *zip(parents, states, strict=True)]
    count = 0
    for row in examples:
        for variable, state in wanted:
            if row[variable] != state:
                break
        else:
            count += 1
    return count
