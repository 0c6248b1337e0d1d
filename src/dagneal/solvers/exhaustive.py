"""Exhaustive search (the paper's ES): try all values of the edge variables. Slack and order variables get their best values.

"The paper" is Zardini et al. 2022. The energy of a set of edges is the sum of H_cycle = H_trans + H_consist and one term for
each child. The term of a child, with its best slack, depends only on the edges into the child. H_cycle depends only on the
constraint that the edges put on each pair of variables: none, first before second, or second before first. If a pair has
edges in both directions, one of the two edges contradicts the order variable of the pair. This adds delta_consist to the
energy for both values of the order variable, so the pair then counts as a pair without a constraint. The best order
variables are computed once for each of the 3^(n(n-1)/2) combinations of constraints. All 2^(n(n-1)/2) values of the order
variables are tried, including those with cycles.
"""

from __future__ import annotations

from itertools import combinations
from time import perf_counter

import numpy as np

from dagneal.base.errors import InputError
from dagneal.base.kernels import Floats, Ints, kernel, run_threads
from dagneal.graphs.dags import dag_from_parents
from dagneal.qubo.encode import PAPER, qubos
from dagneal.qubo.polynomial import moebius
from dagneal.runtime.run import DEFAULT_RUN, Run
from dagneal.scoring.sets import is_subset
from dagneal.scoring.table import ScoreTable, check_table
from dagneal.solvers.solution import Solution

MAX_VARIABLES = 5  # 2^20 sets of edges; six variables would have 2^30


def exhaustive(table: ScoreTable, run: Run = DEFAULT_RUN) -> Solution:
    """Find the ground state of the paper's QUBO by trying all values of the edge variables.

    Args:
        table: local scores of at most five variables with at most two parents.
        run: `Run` object that receives the progress reports.

    Returns:
        The best DAG, with `optimal=True`, because the penalties make the ground state the best DAG.

    >>> from dagneal.networks.bundled import load
    >>> from dagneal.scoring.scorer import score_table
    >>> solution = exhaustive(score_table(load("lung-cancer-4").expected_data(10_000)))
    >>> solution.edges
    [('Pollution', 'Cancer'), ('Smoker', 'Cancer'), ('Cancer', 'Xray')]
    """
    check_table(table)
    n = len(table.names)
    if n > MAX_VARIABLES:
        raise InputError(f"exhaustive search supports at most {MAX_VARIABLES} variables, not {n}; use exact search")
    if table.max_parents > 2:
        raise InputError(f"exhaustive search supports at most 2 parents, not {table.max_parents}; use max_parents=2")
    if not table.unrestricted:
        raise InputError(
            "exhaustive search needs a table without forbidden parents or missing parent sets; use exact search"
        )
    begun = perf_counter()
    penalties = qubos(table, PAPER).penalties
    transitivity, consistency = float(penalties.transitivity.max(initial=0.0)), float(penalties.consistency.max())
    families = _family_energies(table, moebius(table), penalties.maximum[0])
    cycles = _cycle_energies(n, transitivity, consistency)
    settings = 1 << (n * (n - 1))
    step = max(1, settings // 64)
    chunks = [(start, min(start + step, settings)) for start in range(0, settings, step)]
    pairs = np.array(list(combinations(range(n), 2)), dtype=np.int64)

    def work(chunk: tuple[int, int]) -> tuple[float, int]:
        energy, setting = _search(chunk[0], chunk[1], families, cycles, consistency, pairs)
        return float(energy), int(setting)

    _, setting = min(run_threads(work, chunks, stage="exhaustive search", progress=run.progress))
    masks = [setting >> (n - 1) * child & (1 << (n - 1)) - 1 for child in range(n)]
    parents = {
        name: [other for bit, other in enumerate(o for o in table.names if o != name) if masks[child] >> bit & 1]
        for child, name in enumerate(table.names)
    }
    dag = dag_from_parents(parents)
    return Solution(
        dag=dag,
        score=table.score(dag),
        max_parents=table.max_parents,
        solver="exhaustive",
        optimal=True,
        seconds={"solve": perf_counter() - begun},
    )


def _family_energies(table: ScoreTable, weights: Floats, delta: Floats) -> Floats:
    """Return H_score + H_max of each child, with the best slack, for every set of edges into the child."""
    n = len(table.names)
    sets = np.arange(1 << (n - 1), dtype=np.uint64)
    excess = np.maximum(np.bitwise_count(sets).astype(np.int64) - table.max_parents, 0)
    energies = np.empty((n, len(sets)))
    for child in range(n):
        entries = table.entries_of(child)
        inside = is_subset(table.masks[entries][None, :], sets[:, None, None])
        energies[child] = inside @ weights[entries] + delta[child] * excess**2
    return energies


def _cycle_energies(n: int, transitivity: float, consistency: float) -> Floats:
    """Return H_trans + H_consist, with the best order variables, for every combination of constraints on the order.

    The index of a combination is a number with one ternary digit for each pair of variables. The digit is 0 if the pair has
    no constraint, 1 for first before second, and 2 for second before first.
    """
    pairs = list(combinations(range(n), 2))
    bit = np.indices((2,) * len(pairs)) if pairs else np.zeros((0,))
    axis = {pair: bit[i] for i, pair in enumerate(pairs)}
    energy = np.zeros((2,) * len(pairs))
    for i, j, k in combinations(range(n), 3):
        r_ij, r_jk, r_ik = axis[i, j], axis[j, k], axis[i, k]
        energy = energy + transitivity * (r_ik + r_ij * r_jk - r_ij * r_ik - r_jk * r_ik)
    for pair in range(len(pairs)):
        after, before = np.moveaxis(energy, pair, 0)  # r = 0 and r = 1
        constrained = [
            np.minimum(after, before),
            np.minimum(before, after + consistency),
            np.minimum(after, before + consistency),
        ]
        energy = np.moveaxis(np.array(constrained), 0, pair)
    return energy.ravel()


@kernel
def _search(begin: int, end: int, families: Floats, cycles: Floats, consistency: float, pairs: Ints) -> tuple[float, int]:
    """Return (energy, setting): the lowest energy, and the first setting that has this energy.

    A setting is a bit mask with the values of all edge variables. The settings from `begin` to `end` - 1 are tried.
    """
    n = len(families)
    width = n - 1
    lowest = np.inf
    best = -1
    for setting in range(begin, end):
        energy = 0.0
        for child in range(n):
            energy += families[child, setting >> (width * child) & ((1 << width) - 1)]
        constraints = 0
        for pair in range(len(pairs)):
            i, j = pairs[pair]  # i < j: i is bit i of the edges into j; j is bit j - 1 of the edges into i
            forward = setting >> (width * j + i) & 1
            backward = setting >> (width * i + j - 1) & 1
            if forward and backward:
                energy += consistency
                constraints = constraints * 3
            else:
                constraints = constraints * 3 + forward + 2 * backward
        energy += cycles[constraints]
        if energy < lowest:
            lowest = energy
            best = setting
    return lowest, best
