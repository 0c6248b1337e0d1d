"""Exhaustive search, the paper's ES: every setting of the edge bits, with the best slack and order bits for each.

The energy of a setting splits into one part for each child, which depends on the edges into it (with the best slack
already chosen), and H_cycle. In H_cycle an edge setting matters only through what it wants of each pair of variables:
nothing, the first before the second, or the reverse; an edge both ways costs delta_consist whatever the order. So the best
order bits are found once for each of the 3^(n(n-1)/2) wishes, among all 2^(n(n-1)/2) orders, transitive or not.
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
from dagneal.scoring.table import ScoreTable, check_table
from dagneal.solvers.solution import Solution

MOST_VARIABLES = 5  # 2^20 settings; six variables would be 2^30


def exhaustive(table: ScoreTable, run: Run = DEFAULT_RUN) -> Solution:
    """Find the ground state of the paper's QUBO by trying every setting of the edge bits.

    Args:
        table: local scores of at most five variables with at most two parents.
        run: its progress is reported.

    Returns:
        The best DAG; `optimal=True`, since the penalties make the ground state a DAG.

    >>> from dagneal.networks.bundled import load
    >>> from dagneal.scoring.scorer import score_table
    >>> found = exhaustive(score_table(load("lung-cancer-4").expected(10_000)))
    >>> found.edges
    [('Pollution', 'Cancer'), ('Smoker', 'Cancer'), ('Cancer', 'Xray')]
    """
    check_table(table)
    n = len(table.names)
    if n > MOST_VARIABLES:
        raise InputError(f"exhaustive search takes at most {MOST_VARIABLES} variables, not {n}; use exact (up to 28)")
    if not table.unrestricted:
        raise InputError("exhaustive search needs a table in which every variable may be a parent of every other")
    begun = perf_counter()
    penalties = qubos(table, PAPER).penalties
    transitivity, consistency = float(penalties.transitivity.max(initial=0.0)), float(penalties.consistency.max())
    families = _family_energies(table, moebius(table), penalties.maximum[0])
    cycles = _cycle_energies(n, transitivity, consistency)
    settings = 1 << (n * (n - 1))
    step = max(1, settings // 64)
    pieces = [(start, min(start + step, settings)) for start in range(0, settings, step)]
    pairs = np.array(list(combinations(range(n), 2)), dtype=np.int64)

    def work(piece: tuple[int, int]) -> tuple[float, int]:
        energy, setting = _search(piece[0], piece[1], families, cycles, consistency, pairs)
        return float(energy), int(setting)

    _, setting = min(run_threads(work, pieces, stage="exhaustive search", progress=run.progress))
    into = [setting >> (n - 1) * child & (1 << (n - 1)) - 1 for child in range(n)]
    parents = {
        name: [other for bit, other in enumerate(o for o in table.names if o != name) if into[child] >> bit & 1]
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
    """H_score and H_max of each child for every set of edges into it, with the best slack."""
    n = len(table.names)
    sets = np.arange(1 << (n - 1), dtype=np.uint64)
    excess = np.maximum(np.bitwise_count(sets).astype(np.int64) - table.max_parents, 0)
    energies = np.empty((n, len(sets)))
    for child in range(n):
        entries = table.entries_of(child)
        inside = table.masks[entries][None, :] & ~sets[:, None] == 0
        energies[child] = inside @ weights[entries] + delta[child] * excess**2
    return energies


def _cycle_energies(n: int, transitivity: float, consistency: float) -> Floats:
    """H_cycle with the best order bits, for every wish: one axis per pair (nothing, first before second, reverse)."""
    pairs = list(combinations(range(n), 2))
    bit = np.indices((2,) * len(pairs)) if pairs else np.zeros((0,))
    axis = {pair: bit[i] for i, pair in enumerate(pairs)}
    energy = np.zeros((2,) * len(pairs))
    for i, j, k in combinations(range(n), 3):
        r_ij, r_jk, r_ik = axis[i, j], axis[j, k], axis[i, k]
        energy = energy + transitivity * (r_ik + r_ij * r_jk - r_ij * r_ik - r_jk * r_ik)
    for place in range(len(pairs)):
        after, before = np.moveaxis(energy, place, 0)  # r = 0 and r = 1
        wishes = [
            np.minimum(after, before),
            np.minimum(before, after + consistency),
            np.minimum(after, before + consistency),
        ]
        energy = np.moveaxis(np.array(wishes), 0, place)
    return energy.ravel()


@kernel
def _search(begin: int, end: int, families: Floats, cycles: Floats, consistency: float, pairs: Ints) -> tuple[float, int]:
    """The lowest energy among settings begin..end, and the first setting that has it."""
    n = len(families)
    width = n - 1
    lowest = np.inf
    found = -1
    for setting in range(begin, end):
        energy = 0.0
        for child in range(n):
            energy += families[child, setting >> (width * child) & ((1 << width) - 1)]
        wish = 0
        for pair in range(len(pairs)):
            i, j = pairs[pair]  # i < j: in the edges into j, i is bit i; in those into i, j is bit j - 1
            forward = setting >> (width * j + i) & 1
            backward = setting >> (width * i + j - 1) & 1
            if forward and backward:
                energy += consistency
                wish = wish * 3
            else:
                wish = wish * 3 + forward + 2 * backward
        energy += cycles[wish]
        if energy < lowest:
            lowest = energy
            found = setting
    return lowest, found
