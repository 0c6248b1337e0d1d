"""Compare ways to draw bootstrap samples: the number of edges in the samples, and how well frequencies are calibrated.

Usage: python benchmarks/bootstrap.py [--quick] [--records FILE] [--states KIND...] [--rows N...]

A case is a random network with known probabilities and a number of rows. One sample of the network is the data. The table
compares the network learned from the data, the networks learned from its bootstrap samples, and the networks learned from
fresh samples of the true network. Score BDeu(1), exact search, at most 3 parents.

  edges        number of edges in the bootstrap samples, divided by the number of edges in the network: a ratio of means
  within 15%   fraction of data sets in which this ratio is from 0.85 to 1.15
  error        root mean square difference between bootstrap frequency and frequency in fresh samples, over all pairs
  bias         mean of this difference, multiplied by the number of pairs: edges that are reported too often
  slope        regression of the frequency in fresh samples on the bootstrap frequency; 1 is calibrated

Finished cases are appended to FILE as lines of JSON and are not repeated. KIND is `binary`, `few` (2 to 5 states), `mixed`
(2 to 50, small numbers are more common), `wide` (one column of 35 to 50 states) or `many` (10 to 50).
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Callable, Iterator
from dataclasses import replace
from itertools import combinations
from math import comb
from pathlib import Path
from statistics import mean
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import gammaln
from scipy.stats import binom

import dagneal as dn
from dagneal.confidence.bootstrap import reweight
from dagneal.solvers.exact import exact

VARIABLES, PARENTS = 8, 3
SCORE = dn.BDeu(1.0)
STATES = ("binary", "few", "mixed", "wide", "many")
ROWS = (200, 500, 1_000, 2_000)
NETWORKS, DATA_SETS, SAMPLES, FRESH = 2, 3, 40, 80
TOLERANCE = 0.15

Weights = NDArray[np.float64]
Adjacency = NDArray[np.float64]


def random_network(kind: str, seed: int) -> dn.BayesianNetwork:
    """Return a random network with weak and strong edges and unequal state probabilities."""
    generator = np.random.default_rng([STATES.index(kind), seed])
    low, high = {"binary": (2, 2), "few": (2, 5), "mixed": (2, 50), "wide": (2, 4), "many": (10, 50)}[kind]
    arities = np.exp(generator.uniform(np.log(low), np.log(high + 1), VARIABLES)).astype(int)
    if kind == "wide":
        arities[generator.integers(VARIABLES)] = generator.integers(35, 51)
    names = [f"v{i}" for i in range(VARIABLES)]
    parents: dict[str, tuple[str, ...]] = {}
    tables: dict[str, Any] = {}
    for child, name in enumerate(names):
        count = min(child, int(generator.choice([0, 1, 2], p=[0.1, 0.6, 0.3])))
        chosen = sorted(generator.choice(child, count, replace=False)) if count else []
        parents[name] = tuple(names[v] for v in chosen)
        shape = [*arities[chosen], arities[child]]
        base = generator.dirichlet(np.ones(shape[-1]))
        rows = generator.dirichlet(np.full(shape[-1], 1 / np.sqrt(shape[-1])), size=shape[:-1])
        strength = generator.uniform(0.2, 1.0)
        tables[name] = (1 - strength) * base + strength * rows if chosen else base
    # The order of the columns must not reveal the order of the variables.
    mixed = [names[i] for i in generator.permutation(VARIABLES)]
    states = {name: tuple(str(s) for s in range(arities[names.index(name)])) for name in mixed}
    return dn.BayesianNetwork(states, parents, tables, f"{kind} {seed}")


class Rows:
    """Distinct rows of a data set, and scores of all sets of variables for any weights of the rows.

    The library counts whole rows. This class accepts fractional weights, and computes expected scores of samples.
    """

    def __init__(self, data: dn.Dataset) -> None:
        self.data = data
        self.table = dn.scoring.Scorer(data, SCORE).table(PARENTS)
        self.groups: dict[int, tuple[NDArray[np.int64], int, float]] = {}
        for size in range(PARENTS + 2):
            for members in combinations(range(VARIABLES), size):
                key = np.zeros(data.codes.shape[1], dtype=np.int64)
                for variable in members:
                    key = key * data.arities[variable] + data.codes[variable]
                distinct, group = np.unique(key, return_inverse=True)
                cells = float(np.prod(data.arities[list(members)], dtype=float))
                self.groups[sum(1 << v for v in members)] = group, len(distinct), SCORE.ess / cells
        sets = [self.parent_mask(child, mask) for child, mask in self._entries()]
        self.parents = np.array(sets)
        self.families = self.parents | np.array([1 << child for child, _ in self._entries()])

    def _entries(self) -> Iterator[tuple[int, int]]:
        for child in range(VARIABLES):
            for mask in self.table.masks[self.table.start[child] : self.table.start[child + 1], 0]:
                yield child, int(mask)

    def parent_mask(self, child: int, mask: int) -> int:
        """Return the set of variables that a mask of the score table stands for."""
        return sum(1 << int(v) for bit, v in enumerate(self.table.candidates_of(child)) if mask >> bit & 1)

    def _sums(self, sum_of: Callable[[Weights, float], float], weights: Weights) -> Weights:
        """Return one sum for each parent set: over the cells of the family, minus over the cells of the parents."""
        sums = np.zeros(1 << VARIABLES)
        for members, (group, size, alpha) in self.groups.items():
            sums[members] = sum_of(np.bincount(group, weights, minlength=size), alpha)
        return np.asarray(sums[self.families] - sums[self.parents])

    def scores(self, weights: Weights) -> Weights:
        """Return the scores of all parent sets for weighted rows."""
        return self._sums(lambda counts, alpha: float((gammaln(counts + alpha) - gammaln(alpha))[counts > 0].sum()), weights)

    def excess(self) -> Weights:
        """Return how much the expected score of each parent set in a bootstrap sample exceeds its score in the data."""
        total = self.data.rows
        largest = np.arange(total + 1)
        draws: dict[int, tuple[int, Weights]] = {}

        def expected(counts: Weights, alpha: float) -> float:
            terms = gammaln(largest + alpha) - gammaln(alpha)
            sum_ = 0.0
            for count, times in zip(*np.unique(counts.astype(int), return_counts=True), strict=True):
                if count not in draws:
                    law = binom(total, count / total)
                    begin, end = int(law.ppf(1e-9)), int(law.ppf(1 - 1e-9)) + 1
                    draws[count] = begin, law.pmf(np.arange(begin, end + 1))
                begin, shares = draws[count]
                stop = min(begin + len(shares), total + 1)
                sum_ += times * (float(shares[: stop - begin] @ terms[begin:stop]) - terms[count])
            return float(sum_)

        return self._sums(expected, self.data.weights.astype(float))

    def parameters(self) -> Weights:
        """Return Steck and Jaakkola's correction: half the number of occupied cells, of the family minus the parents."""
        return self._sums(lambda counts, _: 0.5 * float((counts > 0).sum()), self.data.weights.astype(float))

    def learn(self, scores: Weights) -> Adjacency:
        """Return the adjacency matrix of the best network."""
        return adjacency(exact(replace(self.table, scores=scores)).dag, self.data)


def adjacency(dag: Any, data: dn.Dataset) -> Adjacency:
    """Return the symmetric adjacency matrix of a graph."""
    position = {name: i for i, name in enumerate(data.names)}
    matrix = np.zeros((len(position), len(position)))
    for a, b in dag.edges:
        matrix[position[a], position[b]] = matrix[position[b], position[a]] = 1
    return matrix


def learn(data: dn.Dataset) -> Adjacency:
    """Return the adjacency matrix of the best network for data with whole weights."""
    return adjacency(exact(dn.scoring.Scorer(data, SCORE).table(PARENTS)).dag, data)


def multinomial(data: dn.Dataset, generator: np.random.Generator, rows: int) -> dn.Dataset:
    """Return rows drawn with replacement."""
    return reweight(data, generator.multinomial(rows, data.weights / data.rows))


def subsample(data: dn.Dataset, generator: np.random.Generator, share: float) -> dn.Dataset:
    """Return rows drawn without replacement."""
    return reweight(data, generator.multivariate_hypergeometric(data.weights, round(share * data.rows), method="marginals"))


def ways(data: dn.Dataset) -> dict[str, Callable[[np.random.Generator], Adjacency]]:
    """Return functions that learn from one bootstrap sample, by the name of the way to draw it."""
    rows = Rows(data)
    share, total = data.weights / data.rows, data.rows
    excess, parameters = rows.excess(), rows.parameters()
    best = exact(rows.table).dag
    fitted = dn.fit(best, data, SCORE)

    def draw(generator: np.random.Generator) -> Weights:
        return generator.multinomial(total, share).astype(float)

    def bayes(generator: np.random.Generator) -> Weights:
        gamma = generator.gamma(data.weights.astype(float))
        return np.asarray(gamma * total / gamma.sum())

    def parametric(generator: np.random.Generator) -> dn.Dataset:
        return fitted.sample(total, int(generator.integers(1 << 31)))

    shares = {f"subsample {each:g}": each for each in (0.5, 0.632, 0.8, 0.9)}
    return {
        "rows": lambda generator: learn(multinomial(data, generator, total)),
        "half as many rows": lambda generator: learn(multinomial(data, generator, total // 2)),
        **{name: lambda generator, each=each: learn(subsample(data, generator, each)) for name, each in shares.items()},
        "Steck and Jaakkola": lambda generator: rows.learn(rows.scores(draw(generator)) - parameters),
        "expected score": lambda generator: rows.learn(rows.scores(draw(generator)) - excess),
        "Bayesian": lambda generator: rows.learn(rows.scores(bayes(generator))),
        "counts / 2": lambda generator: rows.learn(rows.scores(draw(generator) / 2)),
        "parametric": lambda generator: learn(parametric(generator)),
    }


def measure(kind: str, rows: int, network: int) -> dict[str, Any]:
    """Return the record of a case: frequencies of all pairs in fresh samples, and for each data set and way in samples."""
    truth = random_network(kind, network)
    upper = np.triu_indices(VARIABLES, 1)
    fresh = np.mean([learn(truth.sample(rows, 10_000 + number)) for number in range(FRESH)], axis=0)[upper]
    data_sets = []
    for seed in range(DATA_SETS):
        data = truth.sample(rows, seed)
        frequencies = {}
        for name, learn_sample in ways(data).items():
            learned = [learn_sample(np.random.default_rng([seed, number])) for number in range(SAMPLES)]
            frequencies[name] = np.mean(learned, axis=0)[upper].tolist()
        data_sets.append({"network": learn(data)[upper].tolist(), "frequencies": frequencies})
    return {"fresh": fresh.tolist(), "data": data_sets}


def summarise(records: list[dict[str, Any]], way: str) -> list[str]:
    """Return the cells of a line of the table."""
    ratios, all_fresh, all_sampled, learned, edges = [], [], [], 0.0, 0.0
    for record in records:
        for each in record["data"]:
            sampled = each["frequencies"][way]
            learned, edges = learned + sum(sampled), edges + sum(each["network"])
            ratios.append(sum(sampled) / max(sum(each["network"]), 1.0))
            all_fresh += record["fresh"]
            all_sampled += sampled
    differences = np.array(all_sampled) - np.array(all_fresh)
    slope = float(np.cov(all_sampled, all_fresh)[0, 1] / np.var(all_sampled, ddof=1))
    close = mean(abs(ratio - 1) <= TOLERANCE for ratio in ratios)
    error, bias = float(np.sqrt((differences**2).mean())), float(differences.mean()) * comb(VARIABLES, 2)
    return [f"{learned / edges:.2f}", f"{close:.0%}", f"{error:.3f}", f"{bias:+.2f}", f"{slope:.2f}"]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="one small case, only to check that the benchmark works")
    parser.add_argument("--records", type=Path, metavar="FILE", help="file of finished cases")
    parser.add_argument("--states", nargs="+", default=list(STATES), choices=STATES, metavar="KIND")
    parser.add_argument("--rows", type=int, nargs="+", default=list(ROWS), metavar="N")
    options = parser.parse_args()
    global FRESH, SAMPLES, DATA_SETS
    if options.quick:
        options.states, options.rows = ["few"], [200]
        FRESH = SAMPLES = 4
        DATA_SETS = 1
    finished: dict[str, Any] = {}
    if options.records is not None and options.records.exists():
        finished = {record["case"]: record for record in map(json.loads, options.records.read_text().splitlines())}
    by_kind: dict[str, list[dict[str, Any]]] = {}
    for kind in options.states:
        for rows in options.rows:
            for network in range(1 if options.quick else NETWORKS):
                case = f"{kind}:{rows}:{network}"
                if case not in finished:
                    finished[case] = {"case": case, **measure(kind, rows, network)}
                    if options.records is not None:
                        with options.records.open("a") as file:
                            file.write(json.dumps(finished[case]) + "\n")
                by_kind.setdefault(kind, []).append(finished[case])
                by_kind.setdefault("all", []).append(finished[case])
    names = list(by_kind["all"][0]["data"][0]["frequencies"])
    for kind in (*options.states, "all"):
        print(f"\n{kind}\n\n| way | edges | within 15% | error | bias | slope |\n|---|---|---|---|---|---|")
        for name in names:
            print(f"| {name} | {' | '.join(summarise(by_kind[kind], name))} |", flush=True)


if __name__ == "__main__":
    main()
