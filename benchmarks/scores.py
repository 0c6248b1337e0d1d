"""Compare scores: how well they recover known networks, and how well their networks predict other rows of real tables.

Usage: python benchmarks/scores.py [--quick] [--output FOLDER] [--networks FOLDER] [NAME...]

Solver Auto without proofs, effort "normal", search seed 0, no parent limit, no time limit: the search ends after a fixed
amount of work, so the figures do not depend on the machine. NAME is a network or a table; all by default.

Recovery: samples of each network. SHD counts missing, wrong and reversed edges; the CPDAG distance compares equivalence
classes. Prediction: five-fold cross-validation. All networks get their probabilities in the same way, with the prior of
BDeu(1). The figure is the log-likelihood of a held-out row, in nats, minus that of the score bdeu:1. It is clear if it is
more than two standard errors from 0, where rows are independent.

Cost: a search takes 1 to 3 CPU seconds on insurance and alarm, 1 to 6 on hailfinder, 1 to 13 on hepar2, 5 to 25 on win95pts
and 4 to 60 on andes. With 14 scores and three samples of four sizes, the two largest networks would take more than half of 2
CPU hours, so they have one sample of two sizes. All parts together then take about 55 CPU minutes.

The tables come from the packages scikit-learn and statsmodels. Numbers with more than 12 values are cut into quarters, and
states in fewer than 2% of the rows are merged. Rows with missing values are dropped.

A finished part, which is one sample or one fold with all scores, is a line in FOLDER/scores.jsonl and is not repeated.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Callable, Iterator, Sequence
from functools import cache
from importlib import import_module
from pathlib import Path
from statistics import mean
from time import perf_counter
from typing import Any

import numpy as np
from numpy.typing import NDArray

import dagneal as dn
from networks import OPTION, fetch_networks

SCORES = (
    *("bdeu:0.1", "bdeu:0.5", "bdeu:1", "bdeu:2", "bdeu:5", "bdeu:10", "bdeu:20"),
    *("bds:1", "bds:5", "bds:10", "bic", "aic", "qnml", "fnml"),
)
REFERENCE = "bdeu:1"
NETWORKS = ("insurance", "alarm", "hailfinder", "hepar2", "win95pts", "andes")
ROWS = (200, 500, 1000, 10_000)
SEEDS = (1, 2, 3)
LARGE = {"win95pts": ((1000, 10_000), (1,)), "andes": ((1000, 10_000), (1,))}  # sizes and seeds of the slowest networks
FOLDS = 5
SKLEARN = {"wine": "load_wine", "breast-cancer": "load_breast_cancer", "diabetes": "load_diabetes"}
STATSMODELS = {name: name for name in ("anes96", "fair", "modechoice", "randhie", "star98")}
TABLES = (*SKLEARN, *STATSMODELS)
QUICK = {"networks": ("insurance", "alarm"), "rows": (200, 1000), "seeds": (1,), "tables": ("wine", "anes96"), "folds": 2}


@cache
def read_table(name: str) -> dn.Dataset:
    """Return a table of a package as data."""
    if name in SKLEARN:
        frame = getattr(import_module("sklearn.datasets"), SKLEARN[name])(as_frame=True).frame
    else:
        frame = import_module(f"statsmodels.datasets.{STATSMODELS[name]}").load_pandas().data
    return dn.read(frame, bins="quantile:4", rare=0.02, missing="drop", merge="yes")


def split(data: dn.Dataset, fold: int) -> tuple[dn.Dataset, dn.Dataset]:
    """Return the rows to learn from and the held-out rows of a fold."""
    rows = np.random.default_rng(0).permutation(np.repeat(np.arange(len(data.weights)), data.weights))
    held_out = np.arange(len(rows)) % FOLDS == fold
    parts = (np.bincount(rows[which], minlength=len(data.weights)) for which in (~held_out, held_out))
    train, test = (dn.Dataset(data.names, data.states, data.codes, weights) for weights in parts)
    return train, test


def log_likelihoods(network: dn.BayesianNetwork, data: dn.Dataset) -> NDArray[np.float64]:
    """Return the log-likelihood of each distinct row."""
    place = {name: index for index, name in enumerate(data.names)}
    total = np.zeros(len(data.weights))
    for name, parents in network.parents.items():
        total += np.log(network.cpts[name][tuple(data.codes[place[v]] for v in (*parents, name))])
    return total


def learn(data: dn.Dataset, score: str) -> tuple[dn.Learned, float]:
    """Return a network and the time of the search in seconds."""
    begun = perf_counter()
    return dn.learn(data, dn.Auto(prove=False), score=score), perf_counter() - begun


def recover(truth: dn.BayesianNetwork, rows: int, seed: int) -> dict[str, Any]:
    """Return the distances of learned networks to a true network, by score."""
    data, figures = truth.sample(rows, seed), {}
    for score in SCORES:
        result, seconds = learn(data, score)
        comparison = dn.compare(result.dag, truth.dag)
        figures[score] = {
            "shd": comparison.shd,
            "cpdag": comparison.cpdag_shd,
            "edges": len(result.edges),
            "seconds": round(seconds, 3),
        }
    return figures


def predict(data: dn.Dataset, fold: int) -> dict[str, Any]:
    """Return the log-likelihoods of held-out rows minus those of the reference, by score: sum, and sum of squares."""
    train, test = split(data, fold)
    found = {score: learn(train, score) for score in SCORES}
    values = {score: log_likelihoods(dn.fit(result.dag, train, dn.BDeu(1.0)), test) for score, (result, _) in found.items()}
    return {
        score: {
            "rows": test.rows,
            "sum": float((values[score] - values[REFERENCE]) @ test.weights),
            "squares": float((values[score] - values[REFERENCE]) ** 2 @ test.weights),
            "edges": len(result.edges),
            "seconds": round(seconds, 3),
        }
        for score, (result, seconds) in found.items()
    }


def parts(options: argparse.Namespace) -> Iterator[tuple[dict[str, Any], Callable[[], dict[str, Any]]]]:
    """Yield the key of each part, and the function that computes its figures."""
    chosen = QUICK if options.quick else {}
    networks = [name for name in chosen.get("networks", NETWORKS) if name in (options.names or NETWORKS)]
    tables = [name for name in chosen.get("tables", TABLES) if name in (options.names or TABLES)]
    for name, truth in fetch_networks(networks, options.networks).items() if networks else ():
        sizes, seeds = LARGE.get(name, (chosen.get("rows", ROWS), chosen.get("seeds", SEEDS)))
        for rows in sizes:
            for seed in seeds:
                key = {"network": name, "rows": rows, "seed": seed}
                yield key, lambda truth=truth, rows=rows, seed=seed: recover(truth, rows, seed)
    for name in tables:
        for fold in range(chosen.get("folds", FOLDS)):
            yield {"table": name, "fold": fold}, lambda name=name, fold=fold: predict(read_table(name), fold)


def records(options: argparse.Namespace) -> list[dict[str, Any]]:
    """Compute the parts that have no record yet, and return all records that the options choose."""
    path = options.output / "scores.jsonl"
    options.output.mkdir(parents=True, exist_ok=True)
    stored = [json.loads(line) for line in path.read_text().splitlines()] if path.exists() else []
    known = {json.dumps(record["part"]): record for record in stored if [*record["figures"]] == [*SCORES]}
    chosen = []
    for key, compute in parts(options):
        record = known.get(json.dumps(key))
        if record is None:
            record = {"part": key, "figures": compute()}
            with path.open("a") as file:
                file.write(json.dumps(record) + "\n")
        chosen.append(record)
    return chosen


def recovery_table(chosen: Sequence[dict[str, Any]]) -> list[str]:
    """Return the mean distances by score and number of rows, as lines of a Markdown table."""
    sizes = sorted({record["part"]["rows"] for record in chosen})
    lines = [
        "| score | " + " | ".join(f"{rows:,} rows: SHD, CPDAG, edges" for rows in sizes) + " |",
        "|---" * (len(sizes) + 1) + "|",
    ]
    for score in SCORES:
        cells = []
        for rows in sizes:
            figures = [record["figures"][score] for record in chosen if record["part"]["rows"] == rows]
            cells.append(", ".join(f"{mean(each[what] for each in figures):.1f}" for what in ("shd", "cpdag", "edges")))
        lines.append(f"| {score} | {' | '.join(cells)} |")
    return lines


def prediction_table(chosen: Sequence[dict[str, Any]]) -> list[str]:
    """Return the differences of held-out log-likelihoods by score and table, as lines of a Markdown table."""
    names = list(dict.fromkeys(record["part"]["table"] for record in chosen))
    lines = [f"| score | {' | '.join(names)} | mean | clearly better, worse |", "|---" * (len(names) + 3) + "|"]
    for score in SCORES:
        means, errors = [], []
        for name in names:
            figures = [record["figures"][score] for record in chosen if record["part"]["table"] == name]
            rows, total, squares = (sum(each[what] for each in figures) for what in ("rows", "sum", "squares"))
            means.append(total / rows)
            errors.append(max(squares / rows - means[-1] ** 2, 0.0) ** 0.5 / rows**0.5)
        better, worse = (
            sum(sign * value > 2 * error for value, error in zip(means, errors, strict=True)) for sign in (1, -1)
        )
        cells = " | ".join(f"{value:+.3f} ± {error:.3f}" for value, error in zip(means, errors, strict=True))
        lines.append(f"| {score} | {cells} | {mean(means):+.3f} | {better}, {worse} |")
    return lines


def main() -> None:
    """Compute the parts that are missing, and print the tables."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="*", metavar="NAME", help=", ".join((*NETWORKS, *TABLES)))
    parser.add_argument("--quick", action="store_true", help="only a few small parts, to check that the benchmark works")
    parser.add_argument(
        "--output", type=Path, default=Path("docs/results"), metavar="FOLDER", help="docs/results by default"
    )
    parser.add_argument(OPTION[0], **OPTION[1])
    options = parser.parse_args()
    if unknown := [name for name in options.names if name not in (*NETWORKS, *TABLES)]:
        raise SystemExit(f"unknown name {unknown[0]!r}; give some of {', '.join((*NETWORKS, *TABLES))}")
    chosen = records(options)
    for key, table in (("network", recovery_table), ("table", prediction_table)):
        if some := [record for record in chosen if key in record["part"]]:
            print("\n".join([*table(some), ""]), flush=True)


if __name__ == "__main__":
    main()
