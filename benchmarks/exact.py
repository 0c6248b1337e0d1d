"""Measure exact search: alarm-15 with two parents, 20 variables with three, 25 variables with two."""

from collections.abc import Iterator

import harness
import numpy as np

import dagneal as dn

SCORE = dn.BDeu(1.0)


def chain(n: int, rows: int = 1000) -> dn.Dataset:
    """Return data in which each variable is the noisy exclusive or of the two before it, so that no single parent helps."""
    rng = np.random.default_rng(0)
    array = rng.integers(0, 2, (rows, n))
    for i in range(2, n):
        array[:, i] = array[:, i - 1] ^ array[:, i - 2] ^ (rng.random(rows) < 0.2)
    return dn.read(array)


def cases(small: bool) -> Iterator[tuple[str, dn.Dataset, int, int, float]]:
    """Yield the name, the data, the parent limit, the number of repetitions and the target in seconds."""
    yield "alarm-15", dn.load("alarm-15").expected_data(10_000), 2, 5, 0.2
    if not small:
        yield "20 variables", chain(20), 3, 3, 10
        yield "25 variables", chain(25), 2, 2, 180


if __name__ == "__main__":
    with harness.start("exact", __doc__) as bench:
        dn.solvers.exact(dn.scoring.score_table(dn.load("monty-hall").expected_data(10), SCORE, 1))  # compiles the kernels
        for name, data, limit, times, most in cases(bench.small):
            table = dn.scoring.score_table(data, SCORE, limit)
            scores = []

            def solve(table=table, scores=scores) -> None:
                scores.append(dn.solvers.exact(table).score)

            bench.time(f"{name}, {limit} parents", solve, times, most)
            bench.exact(f"{name}, {limit} parents, score", repr(scores[-1]))
        bench.memory("peak memory of this process", harness.peak_memory(), 6)
