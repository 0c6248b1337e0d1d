"""Exact search: alarm-15, 20 variables with three parents, 25 with two."""

import numpy as np
from measure import best_of, line, peak_memory, timed

import dagneal as dn


def chain(n: int, rows: int = 1000) -> dn.Dataset:
    """Each variable the exclusive or of the two before it, with noise: no single parent helps."""
    rng = np.random.default_rng(0)
    array = rng.integers(0, 2, (rows, n))
    for i in range(2, n):
        array[:, i] = array[:, i - 1] ^ array[:, i - 2] ^ (rng.random(rows) < 0.2)
    return dn.read(array)


table = dn.scoring.score_table(dn.load("alarm-15").expected(10_000))
dn.solvers.exact(table)
line("alarm-15, two parents", f"{best_of(lambda: dn.solvers.exact(table)):.4f} s", "at most 0.2 s")
table = dn.scoring.score_table(chain(20), max_parents=3)
line("20 variables, three parents", f"{best_of(lambda: dn.solvers.exact(table), 3):.2f} s", "at most 10 s")
table = dn.scoring.score_table(chain(25), max_parents=2)
seconds, found = timed(lambda: dn.solvers.exact(table))
line("25 variables, two parents", f"{seconds:.1f} s", "at most 180 s")
line("peak memory of this process", f"{peak_memory():.2f} GB", "at most 6 GB")
