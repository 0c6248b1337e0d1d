"""Compare posterior probabilities of edges with their targets: enumeration, times, calibration, and Markov chains.

Usage: python benchmarks/acceptance/posteriors.py [PART...] [--plot OUTPUT.svg] [--networks N]

Parts (all by default; the complete run takes a few minutes):
  equal        all priors against enumeration of all DAGs with 2 to 5 variables
  times        sums over orders with 20 and 22 variables, at most 4 parents, 1,000 rows: wall seconds after compilation
  calibration  200 networks drawn from each prior, with parameters from the Dirichlet prior of BDeu: in ten bins of the
               posterior, the observed share of edges lies within its 99% interval
  chains       Markov chains against exact sums with 12 to 18 variables

A draw from the prior over pairs of an order and a DAG is a random order, and for each variable a random set of at most two
of the variables before it. A draw from the uniform prior over DAGs is such a draw that is accepted with the probability
1 / L, where L is the number of topological orders of the DAG. Edges of one network depend on each other, so the variance of
a bin is estimated from the sums of the networks, not from single edges.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Callable
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np
from verdict import Verdicts

import dagneal as dn
from dagneal.solvers import dag_sums, order_sums, sample_edges

sys.path.append(str(Path(__file__).resolve().parents[2] / "tests"))
from support.reference import count_orders, enumerate_edges, random_data, random_table

VARIABLES, STATES, ROWS, MAX_PARENTS, SIZE = 8, (2, 3), 300, 2, 5.0  # of the calibration; SIZE: equivalent sample size
BINS, DEVIATIONS = 10, 2.5758  # 99% of a normal distribution are within so many standard deviations
PRIORS = ("uniform", "sparse", "orders", "sparse-orders")


def check_equal(verdicts: Verdicts, options: argparse.Namespace) -> None:
    """Compare all priors with enumeration."""
    for n in range(2, 6):
        worst = 0.0
        for rows in (10, 200, 20_000):
            data = random_data(n, rows, rows + n)
            for prior in PRIORS:
                for limit in {1, n - 1}:
                    found = dn.edge_posteriors(data, max_parents=limit, prior=prior).probabilities
                    worst = max(worst, float(np.abs(found - enumerate_edges(data, limit, prior)).max()))
        verdicts.add(f"{n} variables: largest difference from enumeration", f"{worst:.1e}", "1e-10", worst <= 1e-10)


def check_times(verdicts: Verdicts, options: argparse.Namespace) -> None:
    """Measure sums over orders, and sums over DAGs."""
    order_sums(random_table(13, 2, 0))  # compiles the kernels
    dag_sums(random_table(5, 2, 0))
    for n, target in ((20, 5.0), (22, 30.0)):
        data = random_data(n, 1000, 1)
        dn.scoring.score_table(data, max_parents=1)
        begun = time.perf_counter()
        dn.edge_posteriors(data, prior="orders")
        seconds = time.perf_counter() - begun
        verdicts.add(f"sums over orders, {n} variables: seconds", f"{seconds:.2f}", f"{target:g}", seconds <= target)
    for n in (16, 18):
        begun = time.perf_counter()
        dn.edge_posteriors(random_data(n, 1000, 1))
        print(f"      sums over DAGs, {n} variables: {time.perf_counter() - begun:.2f} s", flush=True)


def draw_structure(prior: str, generator: np.random.Generator) -> list[list[int]]:
    """Return the parents of each variable in a DAG that is drawn from a prior."""
    while True:
        parents: list[list[int]] = [[] for _ in range(VARIABLES)]
        before: list[int] = []
        for child in generator.permutation(VARIABLES).tolist():
            choices = [chosen for size in range(MAX_PARENTS + 1) for chosen in combinations(sorted(before), size)]
            parents[child] = list(choices[generator.integers(len(choices))])
            before.append(child)
        if prior == "orders" or generator.random() < 1.0 / count_orders(tuple(map(frozenset, parents))):
            return parents


def draw_data(parents: list[list[int]], generator: np.random.Generator) -> dn.Dataset:
    """Return rows of a network whose parameters are drawn from the Dirichlet prior of BDeu(SIZE)."""
    arities = generator.choice(STATES, VARIABLES)
    codes = np.zeros((VARIABLES, ROWS), dtype=np.int64)
    left = set(range(VARIABLES))
    while left:
        child = next(v for v in sorted(left) if not left & set(parents[v]))
        left.remove(child)
        cells = int(np.prod(arities[parents[child]]))
        tables = generator.dirichlet([SIZE / (arities[child] * cells)] * int(arities[child]), cells)
        cell = np.zeros(ROWS, dtype=np.int64)
        for parent in parents[child]:
            cell = cell * arities[parent] + codes[parent]
        cumulated = tables.cumsum(axis=1)[cell]
        codes[child] = np.minimum((generator.random(ROWS)[:, None] > cumulated).sum(axis=1), arities[child] - 1)
    states = [[str(state) for state in range(arity)] for arity in arities]
    return dn.Dataset.from_codes([f"v{v}" for v in range(VARIABLES)], states, codes)


def calibrate(prior: str, networks: int) -> list[dict[str, float]]:
    """Return one dict for each bin: its edges, their mean posterior, the observed share and half of the 99% interval."""
    generator = np.random.default_rng(1)
    pairs = ~np.eye(VARIABLES, dtype=bool)
    expected, observed, bins = [], [], []
    for _ in range(networks):
        parents = draw_structure(prior, generator)
        data = draw_data(parents, generator)
        found = dn.edge_posteriors(data, dn.BDeu(SIZE), MAX_PARENTS, prior=prior).probabilities
        truth = np.zeros((VARIABLES, VARIABLES))
        for child, chosen in enumerate(parents):
            truth[chosen, child] = 1.0
        expected.append(found[pairs])
        observed.append(truth[pairs])
    for index in range(BINS):
        inside = [np.minimum((p * BINS).astype(int), BINS - 1) == index for p in expected]
        count = sum(int(chosen.sum()) for chosen in inside)
        mean = sum(p[chosen].sum() for p, chosen in zip(expected, inside, strict=True)) / max(count, 1)
        share = sum(o[chosen].sum() for o, chosen in zip(observed, inside, strict=True)) / max(count, 1)
        sums = [(o - p)[chosen].sum() for o, p, chosen in zip(observed, expected, inside, strict=True)]
        spread = DEVIATIONS * float(np.sqrt(np.square(sums).sum())) / max(count, 1)
        bins.append({"edges": count, "posterior": float(mean), "observed": float(share), "interval": spread})
    return bins


def check_calibration(verdicts: Verdicts, options: argparse.Namespace) -> None:
    """Compare posteriors with the observed shares of edges, and draw reliability diagrams."""
    results = {}
    for prior in ("uniform", "orders"):
        results[prior] = calibrate(prior, options.networks)
        for index, each in enumerate(results[prior]):
            difference = abs(each["observed"] - each["posterior"])
            name = f"{prior}, bin {index / BINS:.1f}-{(index + 1) / BINS:.1f} ({each['edges']:,} edges): mean posterior"
            figure = f"{each['posterior']:.3f} {each['observed']:.3f}"
            verdicts.add(f"{name}, observed", figure, f"within {each['interval']:.3f}", difference <= each["interval"])
    if options.plot:
        plot(results, options.plot)


def plot(results: dict[str, list[dict[str, float]]], path: Path) -> None:
    """Draw one reliability diagram for each prior."""
    import matplotlib

    matplotlib.use("svg")
    from matplotlib import pyplot

    matplotlib.rcParams["svg.hashsalt"] = "dagneal"
    figure, all_axes = pyplot.subplots(1, len(results), figsize=(9, 4.5), sharey=True)
    for axes, (prior, bins) in zip(all_axes, results.items(), strict=True):
        posterior, observed, interval = ([each[key] for each in bins] for key in ("posterior", "observed", "interval"))
        axes.plot([0, 1], [0, 1], color="grey", linewidth=0.8)
        axes.errorbar(posterior, observed, interval, fmt="o", capsize=3)
        axes.set(xlabel="mean posterior of the bin", title=f"prior {prior}", xlim=(0, 1), ylim=(0, 1))
        axes.grid(alpha=0.3)
    all_axes[0].set_ylabel("observed share of edges, with its 99% interval")
    figure.tight_layout()
    figure.savefig(path, metadata={"Date": None})


def check_chains(verdicts: Verdicts, options: argparse.Namespace) -> None:
    """Compare Markov chains with exact sums."""
    exact_of: dict[bool, Callable[..., Any]] = {False: dag_sums, True: order_sums}
    for n, rows in ((12, 100), (12, 5000), (16, 1000), (18, 5000)):
        table = dn.scoring.score_table(random_data(n, rows, n), max_parents=3)
        if n > 17:  # as for more variables, each child has candidates
            gains = dn.scoring.Scorer(random_data(n, rows, n)).pair_gains()
            names = table.names
            best = {name: [names[p] for p in np.argsort(-gains[:, c]) if p != c][:16] for c, name in enumerate(names)}
            table = dn.scoring.score_table(random_data(n, rows, n), max_parents=3, candidates=best)
        for per_order, name in ((False, "DAGs"), (True, "orders")):
            begun = time.perf_counter()
            edges, convergence = sample_edges(table, per_order)
            seconds = time.perf_counter() - begun
            worst = float(np.abs(edges - exact_of[per_order](table).edges).max())
            what = f"chains, {name}, {n} variables, {rows:,} rows: largest difference"
            verdicts.add(what, f"{worst:.3f}", "0.05", worst <= 0.05)
            rhat = "undefined" if convergence.rhat is None else f"{convergence.rhat:.3f}"
            print(f"      {seconds:.1f} s; R-hat {rhat}, between chains {convergence.difference:.3f}", flush=True)


def main() -> None:
    parts = {name.removeprefix("check_"): part for name, part in globals().items() if name.startswith("check_")}
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("parts", nargs="*", choices=[[], *parts], metavar="PART", help=", ".join(parts))
    parser.add_argument("--plot", type=Path, metavar="OUTPUT.svg", help="write reliability diagrams to this file")
    parser.add_argument("--networks", type=int, default=200, metavar="N", help="networks of each prior in the calibration")
    options = parser.parse_args()
    verdicts = Verdicts()
    for name in options.parts or parts:
        parts[name](verdicts, options)
    verdicts.exit()


if __name__ == "__main__":
    main()
