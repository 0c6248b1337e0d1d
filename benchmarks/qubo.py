"""Build the QUBO of waste from a million rows in memory, and compare with the paper's Algorithm 2 in plain Python."""

import harness
import numpy as np

import dagneal as dn
from dagneal.paper.timing import plain_scores

SCORE, MAX_PARENTS, ENCODING = dn.BDeu(1.0), 2, dn.TIGHT
WASTE = dn.load("waste")


def rows(count: int) -> np.ndarray:
    data = WASTE.expected_data(count)
    array = np.ascontiguousarray(np.repeat(data.codes, data.weights, axis=1).T)
    return np.random.default_rng(0).permutation(array).astype(np.int64)


def table_of(array: np.ndarray) -> dn.scoring.ScoreTable:
    return dn.scoring.score_table(dn.read(array, names=WASTE.names), SCORE, MAX_PARENTS)


def largest_difference(array: np.ndarray, scores: list[dict[tuple[int, ...], float]]) -> float:
    """Return the largest difference between our scores and those of plain Python."""
    table = table_of(array)
    return max(
        abs(value + table.local(WASTE.names[child], [WASTE.names[parent] for parent in parents]))
        for child, sets in enumerate(scores)
        for parents, value in sets.items()
    )


if __name__ == "__main__":
    with harness.start("qubo", __doc__) as bench:
        harness.use_one_core()
        many = rows(10_000 if bench.small else 1_000_000)
        few = rows(300 if bench.small else 10_000)
        dn.qubo.encode(table_of(many[:1000]), ENCODING)
        ours = bench.time(
            f"{len(many):,} x 9 array to QUBO, one core, merging included",
            lambda: dn.qubo.encode(table_of(many), ENCODING),
            at_most=0.1,
        )
        arities = [len(states) for states in WASTE.states.values()]
        plain_seconds, scores = harness.time_of(lambda: plain_scores(arities, few.tolist()))
        difference = largest_difference(few, scores)
        bench.exact("scores that differ by more than 1e-6", int(difference >= 1e-6), equal_to=0)
        scaled = plain_seconds * len(many) / len(few)
        bench.info(f"plain Python, {len(few):,} rows", plain_seconds, "s")
        bench.info(f"plain Python, scaled to {len(many):,} rows", scaled, "s", note="paper: 1010 s for 10^6")
        bench.info("ratio", scaled / ours, note="above 10,000 expected")
        bench.info("ratio to the 1010 s of the paper, on its machine", 1010 / ours)
