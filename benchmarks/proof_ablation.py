"""Measure what each part of a proof attempt contributes: run attempts without it. Print a Markdown table.

Usage: python benchmarks/proof_ablation.py [NETWORK...] [--networks FOLDER] [--seconds S] [--variants NAME...] ...

Score BDeu(1), at most 3 parents, 10,000 rows, two cores. Each attempt starts with the network of the search. A cell shows
the wall seconds of a complete proof, or the gap in nats at the time limit. Without branching, an attempt ends when cuts no
longer raise the bound; then the cell shows the gap and the seconds.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from contextlib import ExitStack
from pathlib import Path
from typing import Any
from unittest.mock import patch

import networkx as nx
import numpy as np

import dagneal as dn
from dagneal.proofs import branch, cluster_cuts, prove, separation
from dagneal.proofs.branch import Prover
from dagneal.runtime.run import Deadline
from dagneal.scoring.bounded import complete_table
from dagneal.scoring.table import ScoreTable
from networks import OPTION, fetch_networks, write_sample

ROWS, MAX_PARENTS = 10_000, 3
NETWORKS = ("insurance", "barley", "hailfinder", "alarm")
SEARCH = cluster_cuts._search_clusters


def search_without_second_kind(support: Any, k: int, sets: Any, violations: Any, memory: Any) -> None:
    """Search only for cuts with k = 1. The violation of the others stays 0."""
    if k == 1:
        SEARCH(support, k, sets, violations, memory)


def stop_at_root(prover: Prover, node: Any) -> None:
    """End the attempt instead of branching. The node stays open, so that its bound counts."""
    prover._work = 0.0
    prover._push(node)


# Replaced attributes of each variant: owner, name and new value. `patch` fails if the attribute no longer exists.
VARIANTS: dict[str, list[tuple[Any, str, Any]]] = {
    "complete attempt": [],
    "without clusters with k = 2": [(cluster_cuts, "_search_clusters", search_without_second_kind)],
    "without facets": [(branch, "separate_facets", lambda *_: [])],
    "with facets of 4 variables only": [(separation, "_FACET_SIZES", (4,))],
    "without removed families": [(branch, "_FIX", 1.0)],
    "with all families as columns": [(branch, "_FIRST_COLUMNS", np.inf)],
    "without branching": [(Prover, "_branch", stop_at_root)],
    "without new networks": [(Prover, "_round", lambda *_: None)],
}


def attempt_proof(table: ScoreTable, initial: nx.DiGraph, variant: str, seconds: float) -> str:
    """Return the cell of a variant."""
    with ExitStack() as stack:
        for owner, name, value in VARIANTS[variant]:
            stack.enter_context(patch.object(owner, name, value))
        attempt = prove(table, initial, dn.Run(deadline=Deadline.after(seconds)))
    if attempt.optimal:
        return f"{attempt.seconds:.1f} s"
    gap = f"gap {attempt.bound.score - attempt.score:.2f}"
    return gap if attempt.bound.stopped == "time" else f"{gap} in {attempt.seconds:.1f} s"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="*", default=list(NETWORKS), metavar="NETWORK", help=", ".join(NETWORKS))
    parser.add_argument(OPTION[0], **OPTION[1])
    parser.add_argument("--seconds", type=float, default=60.0, metavar="S", help="time limit of an attempt")
    parser.add_argument("--data-seed", type=int, default=1, metavar="SEED")
    parser.add_argument("--variants", nargs="+", default=list(VARIANTS), metavar="NAME", help=", ".join(VARIANTS))
    options = parser.parse_args()
    small = dn.scoring.score_table(dn.load("alarm-15").sample(1_000, 1), max_parents=3)
    prove(small)  # compiles the kernels
    columns = {}
    with tempfile.TemporaryDirectory() as folder:
        for name, network in fetch_networks(options.names, options.networks).items():
            print(f"{name} ...", file=sys.stderr, flush=True)
            data = write_sample(network, ROWS, options.data_seed, Path(folder) / "rows.csv")
            found = dn.learn(data, dn.Auto(prove=False), score=dn.BDeu(1.0), max_parents=MAX_PARENTS)
            table = complete_table(dn.scoring.Scorer(data, dn.BDeu(1.0)), MAX_PARENTS)
            columns[name] = {
                variant: attempt_proof(table, found.dag, variant, options.seconds) for variant in options.variants
            }
    print("| | " + " | ".join(columns) + " |\n|---|" + "---|" * len(columns))
    for variant in options.variants:
        print(f"| {variant} | " + " | ".join(cells[variant] for cells in columns.values()) + " |")


if __name__ == "__main__":
    main()
