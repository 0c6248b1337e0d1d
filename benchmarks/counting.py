"""Count sets of variables as a search requests them: each set has a base, and each other variable as its last member."""

from collections.abc import Iterator

import harness
import numpy as np

import dagneal as dn
from dagneal.scoring.counting.counter import Counter
from dagneal.scoring.sets import Members, pad_sets

BASES = 8


def chain(variables: int, states: int, rows: int) -> dn.Dataset:
    """Return data in which each variable equals the variable before it in 60 % of the rows, and is random otherwise."""
    rng = np.random.default_rng(states)
    codes = rng.integers(0, states, (variables, rows))
    for i in range(1, variables):
        codes[i] = np.where(rng.random(rows) < 0.6, codes[i - 1], codes[i])
    return dn.Dataset.from_codes([f"v{i}" for i in range(variables)], [list(map(str, range(states)))] * variables, codes)


def request(variables: int, members: int) -> Members:
    """Return sets of a random base and each other variable, in the order in which a scorer requests them."""
    rng = np.random.default_rng(members)
    bases = [set(rng.permutation(variables)[: members - 1].tolist()) for _ in range(BASES)]
    return pad_sets(sorted({tuple(sorted({*base, v})) for base in bases for v in range(variables) if v not in base}))


def cases(small: bool) -> Iterator[tuple[int, int, int]]:
    """Yield the number of rows, the number of states of each variable, and the number of members of each set."""
    for rows in (1_000,) if small else (200, 1_000, 10_000, 100_000, 1_000_000):
        for states in (2, 8, 21):
            for members in (2, 3, 4):
                yield rows, states, members


if __name__ == "__main__":
    with harness.start("counting", __doc__) as bench:
        harness.use_one_core()
        for rows, states, members in cases(bench.small):
            variables = 40 if rows <= 100_000 else 12
            data, sets = chain(variables, states, rows), request(variables, members)
            counter = Counter(data, workers=1)
            kinds, pseudo_counts = np.zeros(len(sets), dtype=np.int64), np.array([[1.0 / states**members]])
            sums = counter.sums(sets, kinds, pseudo_counts)  # prepares bit planes and terms
            seconds = harness.best_of(lambda c=counter, s=sets, k=kinds, p=pseudo_counts: c.sums(s, k, p))
            what = f"{rows:,} rows, {states} states, sets of {members}"
            bench.add(what, harness.Figure(1e6 * seconds / len(sets), "us per set", "cost"))
            bench.exact(f"{what}, sum", repr(float(sums.sum())))
