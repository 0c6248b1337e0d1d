"""Compare samplers with the default search on networks with more than 65 variables: the table in docs/results/division.md.

Usage: python benchmarks/samplers.py [NETWORK...] [--solver sa] [--seeds 1 2 3] [--networks FOLDER]

Rows: 10,000 rows sampled from each network. Score BDeu(1). Scores are differences from the score of the true network. Times
are CPU seconds after compilation.
"""

from __future__ import annotations

import argparse
import tempfile
from pathlib import Path
from time import process_time

import dagneal as dn
import networks

ROWS = 10_000
NETWORKS = ("hepar2", "win95pts", "andes")
SETTINGS = (
    ("default", "auto", None),
    ("default, 4 parents", "auto", 4),
    ("{}, 4 parents", None, 4),
    ("{}, 7 parents", None, 7),
)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="*", default=NETWORKS, metavar="NETWORK")
    parser.add_argument("--solver", default="sa")
    parser.add_argument("--seeds", nargs="+", type=int, default=[1, 2, 3])
    parser.add_argument(networks.OPTION[0], **networks.OPTION[1])
    options = parser.parse_args()
    warm_up = dn.load("lung-cancer").sample(1000, 1)
    dn.learn(warm_up), dn.learn(warm_up, options.solver)
    headings = [heading.format(options.solver) for heading, _, _ in SETTINGS]
    print("| network | seed |" + "".join(f" {heading} |" for heading in headings) + " seconds | windows |")
    print("|---|" + "---:|" * (len(headings) + 2) + "---|")
    with tempfile.TemporaryDirectory() as place:
        for name, network in networks.fetch_networks(options.names, options.networks).items():
            for seed in options.seeds:
                data = networks.write_sample(network, ROWS, seed, Path(place) / "rows.csv")
                compare(name, seed, data, dn.scoring.Scorer(data).score(network.dag), options.solver)


def compare(name: str, seed: int, data: dn.Dataset, truth: float, sampler: str) -> None:
    """Learn with all settings, and print one line of the table."""
    scores, seconds, windows = [], [], ""
    for _, solver, limit in SETTINGS:
        begun = process_time()
        result = dn.learn(data, solver or sampler, max_parents=limit)
        seconds.append(f"{process_time() - begun:.1f}")
        scores.append(f"{result.score - truth:.1f}")
        if result.division is not None and not windows:
            windows = next((note for note in result.division.skipped.split("; ") if "windows of" in note), "one QUBO")
    print(f"| {name} | {seed} | {' | '.join(scores)} | {', '.join(seconds)} | {windows} |", flush=True)


if __name__ == "__main__":
    main()
