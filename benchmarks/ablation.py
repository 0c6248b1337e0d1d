"""Measure what each part of the anytime search contributes: run the search without it. Print a Markdown table.

Usage: python benchmarks/ablation.py [NETWORK...] [--networks FOLDER] [--data-seeds N...] [--searches N...]

Score BDeu(1), no parent limit, 10,000 rows, one core. The search runs alone, without exact search and upper bound. A cell
shows two means: the score minus that of the complete search on the same rows with the same seed, in nats, and CPU seconds.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
import time
from contextlib import ExitStack
from pathlib import Path
from statistics import mean
from typing import Any
from unittest.mock import patch

import harness
import numpy as np

import dagneal as dn
from dagneal.search import anytime
from dagneal.search.anytime import AnytimeSearch
from networks import OPTION, fetch_networks, write_sample

ROWS = 10_000
NETWORKS = ("insurance", "hailfinder", "hepar2", "win95pts", "andes")
CHAIN = AnytimeSearch._run_chain


def run_chain_without_cuts(search: AnytimeSearch, space: Any, state: Any, centres: Any, visits: int, cuts: int) -> None:
    CHAIN(search, space, state, centres, visits, 0)


def choose_best(search: AnytimeSearch, space: Any, states: list[Any], _: Any) -> Any:
    """Return the best network of the chains of a round."""
    return search._network(space, max(states, key=lambda state: float(state.score[0])))


def propose_nothing(options: Any, rules: Any, size: int) -> tuple[Any, Any]:
    """Propose no sets of parents."""
    return np.empty(0, dtype=np.int64), np.empty((0, size), dtype=np.int32)


# Replaced attributes of each variant: owner, name and new value. `patch` fails if the search no longer has the attribute.
VARIANTS: dict[str, list[tuple[Any, str, Any]]] = {
    "complete search": [],
    "without cuts": [(AnytimeSearch, "_run_chain", run_chain_without_cuts)],
    "without restarts": [(AnytimeSearch, "_restart", lambda _: None)],
    "without reversals": [(AnytimeSearch, "_reverse", lambda *_, **__: False)],
    "without exchanges": [(AnytimeSearch, "_exchange", lambda _: False)],
    "without complete lists": [(anytime, "MAX_COMPLETE", 1)],
    "without complete lists and sets of parents": [
        (anytime, "MAX_COMPLETE", 1),
        (anytime, "propose_combinations", propose_nothing),
        (anytime, "MAX_TRIPLE_COST", 0.0),
    ],
    "without larger sets": [(AnytimeSearch, "_widen", lambda *_: None)],
    "without beams": [(AnytimeSearch, "_search_beams", lambda *_: None)],
    "one chain in each round of restarts": [(anytime, "MIN_CHAINS", 1), (anytime, "MAX_CHAINS", 1)],
    "without combined restarts": [(AnytimeSearch, "_combine_states", choose_best)],
}


def search(data: dn.Dataset, variant: str, seed: int) -> tuple[float, float]:
    """Return the score that a variant of the search finds, and its CPU seconds."""
    with ExitStack() as stack:
        for owner, name, value in VARIANTS[variant]:
            stack.enter_context(patch.object(owner, name, value))
        run = dn.Run(seed)
        scorer = dn.scoring.Scorer(data, dn.BDeu(1.0), run=run, workers=1)
        start = time.process_time()
        found = AnytimeSearch(scorer, None, run)
        found.solve()
        return found.best.score, time.process_time() - start


def measure(samples: list[dn.Dataset], seeds: list[int]) -> dict[str, str]:
    """Return the cell of each variant for the samples of one network."""
    cells, complete = {}, []
    for variant in VARIANTS:
        results = [search(data, variant, seed) for data in samples for seed in seeds]
        complete = complete or [score for score, _ in results]
        difference = mean(score - best for (score, _), best in zip(results, complete, strict=True))
        cells[variant] = f"{round(difference, 1) + 0.0:+.1f} / {mean(seconds for _, seconds in results):.1f} s"
    return cells


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="*", default=list(NETWORKS), metavar="NETWORK", help=", ".join(NETWORKS))
    parser.add_argument(OPTION[0], **OPTION[1])
    parser.add_argument("--data-seeds", type=int, nargs="+", default=[1, 2], metavar="SEED")
    parser.add_argument("--searches", type=int, nargs="+", default=[0, 1], metavar="SEED", help="search seeds")
    options = parser.parse_args()
    harness.use_one_core()
    search(dn.load("alarm-15").sample(200, 1), "complete search", 0)  # compiles the kernels
    columns = {}
    with tempfile.TemporaryDirectory() as folder:
        for name, network in fetch_networks(options.names, options.networks).items():
            print(f"{name} ...", file=sys.stderr, flush=True)
            path = Path(folder) / "rows.csv"
            samples = [write_sample(network, ROWS, seed, path) for seed in options.data_seeds]
            columns[name] = measure(samples, options.searches)
    print("| | " + " | ".join(columns) + " |\n|---|" + "---|" * len(columns))
    for variant in VARIANTS:
        print(f"| {variant} | " + " | ".join(cells[variant] for cells in columns.values()) + " |")


if __name__ == "__main__":
    main()
