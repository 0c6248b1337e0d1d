"""Compare structural EM with dropping rows, a state for missing values, and complete data, on known networks.

Usage: python benchmarks/acceptance/missing_values.py [--quick] [--output FOLDER] [--networks FOLDER] [NAME...]

NAME is `asia` or `alarm`; both by default. Each value of a sample is removed with the same probability, 10%, 20% or 40%, so
the gaps carry no information. All methods maximise BIC with at most four parents: solver Auto without proofs, search seed 0.

For each method: the CPDAG distance to the true network, BIC of the learned graph on the complete sample (minus that of the
graph learned from the complete sample), the log-likelihood of a fresh complete row (minus the same), and the CPU time.
`state` learns another distribution, so it has no log-likelihood. `drop` has no figures where every row has a gap.

A finished part is a line in FOLDER/missing_values.jsonl and is not repeated, so the same command continues a run. All
parts take about half an hour of CPU time. --stored prints the tables of the finished parts.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Iterator, Sequence
from itertools import pairwise
from pathlib import Path
from statistics import mean
from time import process_time
from typing import Any

import numpy as np
import polars as pl

sys.path.insert(0, str(Path(__file__).parents[1]))

import dagneal as dn
from networks import OPTION, fetch_networks

NETWORKS = ("asia", "alarm")
ROWS = (1000, 5000)
SEEDS = (1, 2, 3, 4, 5)
SHARES = (0.1, 0.2, 0.4)
METHODS = ("complete", "em", "state", "drop")
PARENTS = 4
FRESH = 10_000  # rows on which networks are compared
QUICK = {"rows": (500,), "seeds": (1,)}


def draw(truth: dn.BayesianNetwork, rows: int, seed: int, share: float) -> tuple[pl.DataFrame, pl.DataFrame]:
    """Return a sample as texts, complete and with gaps."""
    complete = truth.sample(rows, seed).frame().select(pl.all().cast(pl.String))
    complete = complete.sample(fraction=1.0, shuffle=True, seed=seed)
    random = np.random.default_rng([seed, rows, round(100 * share)])
    gaps = {name: pl.Series(random.random(rows) < share) for name in complete.columns}
    return complete, complete.with_columns(
        pl.when(gap).then(None).otherwise(pl.col(name)).alias(name) for name, gap in gaps.items()
    )


def learn(method: str, truth: dn.BayesianNetwork, complete: pl.DataFrame, gappy: pl.DataFrame) -> dict[str, Any] | None:
    """Return the figures of a method; None if it has no rows to learn from."""
    begun = process_time()
    try:
        if method == "complete":
            data = dn.read(complete, states=truth)
        else:
            data = dn.read(gappy, missing=method, states=None if method == "state" else truth)
    except dn.InputError:
        return None
    result = dn.learn(data, dn.Auto(prove=False), score="bic", max_parents=PARENTS)
    seconds = process_time() - begun
    comparison = result.compare(truth)
    figures = {
        "cpdag": comparison.cpdag_shd,
        "shd": comparison.shd,
        "edges": len(result.edges),
        "score": dn.scoring.Scorer(dn.read(complete, states=truth), dn.BIC()).score(result.dag),
        "fresh": None,
        "seconds": round(seconds, 2),
    }
    if method != "state":
        figures["fresh"] = dn.log_likelihood(result.network, truth.sample(FRESH, 1_000_000)) / FRESH
    if result.em is not None:
        trace = result.em.trace
        figures["iterations"] = result.em.iterations
        figures["falls"] = sum(later < earlier for earlier, later in pairwise(trace))
        figures["missing"] = result.em.missing_values
    return figures


def parts(options: argparse.Namespace) -> Iterator[tuple[dict[str, Any], dn.BayesianNetwork]]:
    """Yield the key of each part, and its network."""
    chosen = QUICK if options.quick else {}
    names = [name for name in NETWORKS if name in (options.names or NETWORKS)]
    networks = fetch_networks(names, options.networks)
    for seed in chosen.get("seeds", SEEDS):  # a run that stops early has all settings, with fewer seeds
        for name, truth in networks.items():
            for rows in chosen.get("rows", ROWS):
                for share in SHARES:
                    yield {"network": name, "rows": rows, "share": share, "seed": seed}, truth


def records(options: argparse.Namespace) -> list[dict[str, Any]]:
    """Compute the parts that have no record yet, and return all records that the options choose."""
    path = options.output / "missing_values.jsonl"
    options.output.mkdir(parents=True, exist_ok=True)
    stored = [json.loads(line) for line in path.read_text().splitlines()] if path.exists() else []
    known = {json.dumps(record["part"]): record for record in stored}
    chosen = []
    for key, truth in parts(options):
        record = known.get(json.dumps(key))
        if record is None and options.stored:
            continue
        if record is None:
            tables = draw(truth, key["rows"], key["seed"], key["share"])
            record = {"part": key, "figures": {method: learn(method, truth, *tables) for method in METHODS}}
            with path.open("a") as file:
                file.write(json.dumps(record) + "\n")
        chosen.append(record)
    return chosen


def average(values: Sequence[float | None], form: str) -> str:
    """Return the mean as text; a dash if a value is unknown."""
    known = [value for value in values if value is not None]
    return f"{mean(known):{form}}" if len(known) == len(values) else "-"


def table(chosen: Sequence[dict[str, Any]]) -> list[str]:
    """Return the means over the seeds, as lines of a Markdown table."""
    lines = [
        "| network | rows | removed | method | CPDAG distance | BIC | log-likelihood | edges | seconds |",
        "|---|---|---|---|---|---|---|---|---|",
    ]
    settings = dict.fromkeys(
        (record["part"]["network"], record["part"]["rows"], record["part"]["share"]) for record in chosen
    )
    for network, rows, share in settings:
        own = [
            record["figures"]
            for record in chosen
            if (record["part"]["network"], record["part"]["rows"], record["part"]["share"]) == (network, rows, share)
        ]
        for method in METHODS:
            figures = [each[method] for each in own]
            head = f"| {network} | {rows:,} | {share:.0%} | {method} |"
            if any(each is None for each in figures):
                lines.append(f"{head} no rows left | - | - | - | - |")
                continue
            score = average([each[method]["score"] - each["complete"]["score"] for each in own], "+.1f")
            fresh = [
                None if each[method]["fresh"] is None else each[method]["fresh"] - each["complete"]["fresh"] for each in own
            ]
            cells = [
                average([each["cpdag"] for each in figures], ".1f"),
                score,
                average(fresh, "+.4f"),
                average([each["edges"] for each in figures], ".1f"),
                average([each["seconds"] for each in figures], ".1f"),
            ]
            lines.append(f"{head} {' | '.join(cells)} |")
    return lines


def main() -> None:
    """Compute the parts that are missing, and print the table and the number of times that a score fell."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="*", metavar="NAME", help=", ".join(NETWORKS))
    parser.add_argument("--quick", action="store_true", help="500 rows and one seed, to check that the benchmark works")
    parser.add_argument(
        "--output", type=Path, default=Path("docs/results"), metavar="FOLDER", help="docs/results by default"
    )
    parser.add_argument("--stored", action="store_true", help="compute nothing; print the tables of the finished parts")
    parser.add_argument(OPTION[0], **OPTION[1])
    options = parser.parse_args()
    if unknown := [name for name in options.names if name not in NETWORKS]:
        raise SystemExit(f"unknown name {unknown[0]!r}; give some of {', '.join(NETWORKS)}")
    chosen = records(options)
    print("\n".join(table(chosen)))
    falls = sum(record["figures"]["em"]["falls"] for record in chosen)
    print(f"\nThe score of structural EM fell {falls} times in {len(chosen)} runs.")
    raise SystemExit(falls > 0)


if __name__ == "__main__":
    main()
