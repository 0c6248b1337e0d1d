"""Compute all local scores with at most two parents for 37 variables x 10,000 rows, and compare with numpy.bincount."""

from itertools import combinations
from math import lgamma

import harness
import numpy as np
from numba import float64, vectorize

import dagneal as dn

SCORE, MAX_PARENTS = dn.BDeu(1.0), 2


@vectorize([float64(float64)])
def gammaln(x):
    return lgamma(x)


def random_network(n: int, seed: int = 1) -> dn.BayesianNetwork:
    """Return a random network similar to alarm: 2 to 4 states, at most three parents."""
    rng = np.random.default_rng(seed)
    names = [f"v{i}" for i in range(n)]
    states = {name: tuple(str(s) for s in range(rng.integers(2, 5))) for name in names}
    parents = {
        name: tuple(sorted(rng.permutation(names[max(0, i - 8) : i])[: rng.integers(0, 4)])) for i, name in enumerate(names)
    }
    cpts = {}
    for name in names:
        shape = [len(states[v]) for v in (*parents[name], name)]
        cpts[name] = rng.dirichlet([0.3] * shape[-1], size=shape[:-1])
    return dn.BayesianNetwork(states, parents, cpts)


def bincount_scores(data: dn.Dataset) -> list[float]:
    """Compute the same scores with one bincount per child and parent set."""
    codes = np.repeat(data.codes, data.weights, axis=1).astype(np.int64)
    arities = data.arities
    scores = []
    for i in range(len(arities)):
        others = [j for j in range(len(arities)) if j != i]
        for size in range(MAX_PARENTS + 1):
            for parents in combinations(others, size):
                key = np.zeros(codes.shape[1], dtype=np.int64)
                for p in parents:
                    key = key * arities[p] + codes[p]
                q = int(np.prod(arities[list(parents)])) if parents else 1
                counts = np.bincount(key * arities[i] + codes[i], minlength=q * arities[i]).reshape(q, arities[i])
                a = 1.0 / counts.size
                total = (gammaln(counts + a) - gammaln(a)).sum()
                a *= arities[i]
                scores.append(float(total - (gammaln(counts.sum(axis=1) + a) - gammaln(a)).sum()))
    return scores


if __name__ == "__main__":
    with harness.start("table", __doc__) as bench:
        harness.use_one_core()
        data = random_network(8 if bench.small else 37).sample(1_000 if bench.small else 10_000, seed=1)

        def table() -> dn.scoring.ScoreTable:
            return dn.scoring.Scorer(data, SCORE, workers=1).table(MAX_PARENTS)

        count = len(table().scores)
        ours = bench.time(f"{count:,} scores, {len(data.weights):,} distinct rows, one core", table, at_most=0.2)
        bincount_seconds, scores = harness.time_of(lambda: bincount_scores(data))
        same = np.allclose(np.sort(scores), np.sort(table().scores), rtol=1e-9)
        bench.exact("scores equal to those of numpy.bincount", "yes" if same else "no", equal_to="yes")
        bench.exact("sum of all scores", repr(float(np.sum(np.sort(table().scores)))))
        bench.info("one numpy.bincount per (child, parents)", bincount_seconds, "s")
        bench.info("ratio", bincount_seconds / ours)
        bench.info("scores per second", count / ours)
