"""Compare the prediction of a class by Bayesian networks with other classifiers, on real tables.

Usage: python benchmarks/acceptance/prediction.py [--quick] [--output FOLDER] [TABLE...]

Five-fold cross-validation, stratified by class. Classifiers:

- the best network and an ensemble of 50 networks (`BayesianNetworkClassifier`, default settings);
- pyAgrum's `BNClassifier` with MIIC (its default) and with TAN, and smoothing. It cuts columns with more than 12 numbers,
  because its own limit stops on some tables (a number of a test row that did not occur in the training rows);
- logistic regression on scaled numbers, and gradient boosting, both of scikit-learn, on one thread.

All get the same rows and numbers. Accuracy: higher is better. Log-loss, in nats (natural-log units): lower is better.
Probabilities below 1e-6 count as 1e-6.

The tables come from the packages scikit-learn and statsmodels. Where a table has no class, the class is whether a number is
above 0 or above the median; see `TABLES`.

A finished fold of a classifier is a line in FOLDER/prediction.jsonl and is not repeated, so the same command continues a
run. All folds take about a quarter of an hour of CPU time. --stored prints the tables of the finished folds. --quick
runs two folds, with an ensemble of 10 networks.
"""

from __future__ import annotations

import argparse
import json
import warnings
from collections.abc import Callable, Sequence
from importlib import import_module
from pathlib import Path
from statistics import mean
from time import process_time
from typing import Any

import numpy as np
import pandas as pd
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import StratifiedKFold
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from threadpoolctl import threadpool_limits

import dagneal as dn

FOLDS = 5
LEAST = 1e-6
FEW = 12  # pyAgrum cuts columns with more distinct numbers
OURS = ("best network", "ensemble")


def from_sklearn(name: str) -> pd.DataFrame:
    """Return a table of scikit-learn; the class is the column `target`."""
    return getattr(import_module("sklearn.datasets"), f"load_{name}")(as_frame=True).frame


def from_statsmodels(name: str) -> pd.DataFrame:
    """Return a table of statsmodels."""
    return import_module(f"statsmodels.datasets.{name}").load_pandas().data


def diabetes() -> pd.DataFrame:
    """Return the table diabetes; the class is whether the progression is above the median."""
    frame = from_sklearn("diabetes")
    return frame.assign(target=frame["target"] > frame["target"].median())


def anes96() -> pd.DataFrame:
    """Return the table anes96; the class is the vote."""
    return from_statsmodels("anes96").rename(columns={"vote": "target"})


def fair() -> pd.DataFrame:
    """Return the table fair; the class is whether there was an affair."""
    frame = from_statsmodels("fair")
    return frame.drop(columns="affairs").assign(target=frame["affairs"] > 0)


def star98() -> pd.DataFrame:
    """Return the table star98; the class is whether most pupils are above the national median."""
    frame = from_statsmodels("star98")
    return frame.drop(columns=["NABOVE", "NBELOW"]).assign(target=frame["NABOVE"] > frame["NBELOW"])


def randhie() -> pd.DataFrame:
    """Return the table randhie; the class is whether there was a visit to a doctor."""
    frame = from_statsmodels("randhie")
    return frame.drop(columns="mdvis").assign(target=frame["mdvis"] > 0)


TABLES: dict[str, Callable[[], pd.DataFrame]] = {
    "iris": lambda: from_sklearn("iris"),
    "wine": lambda: from_sklearn("wine"),
    "breast-cancer": lambda: from_sklearn("breast_cancer"),
    "diabetes": diabetes,
    "anes96": anes96,
    "fair": fair,
    "star98": star98,
    "randhie": randhie,
}


class PyAgrum:
    """pyAgrum's `BNClassifier`, with the classes as texts."""

    def __init__(self, method: str) -> None:
        self.method = method

    def fit(self, table: pd.DataFrame, y: np.ndarray) -> PyAgrum:
        from pyagrum import skbn
        from pyagrum.lib.discreteTypeProcessor import DiscreteTypeProcessor

        self.model = skbn.BNClassifier(
            type_processor=DiscreteTypeProcessor(discretizationThreshold=FEW), learningMethod=self.method, prior="Smoothing"
        )
        self.model.fit(X=table, y=y.astype(str))
        self.names = list(map(str, np.unique(y)))
        return self

    def predict_proba(self, table: pd.DataFrame) -> np.ndarray:
        found = np.asarray(self.model.predict_proba(table))
        order = list(map(str, self.model.classes_))
        return found[:, [order.index(name) for name in self.names]]


def classifiers(networks: int) -> dict[str, Callable[[], Any]]:
    """Return functions that make the classifiers."""
    return {
        "best network": dn.BayesianNetworkClassifier,
        "ensemble": lambda: dn.BayesianNetworkClassifier(networks=networks),
        "pyAgrum MIIC": lambda: PyAgrum("MIIC"),
        "pyAgrum TAN": lambda: PyAgrum("TAN"),
        "logistic regression": lambda: make_pipeline(StandardScaler(), LogisticRegression(max_iter=2000)),
        "gradient boosting": lambda: HistGradientBoostingClassifier(random_state=0),
    }


def evaluate(title: str, make: Callable[[], Any], frame: pd.DataFrame, fold: int) -> dict[str, Any]:
    """Return the accuracy and the log-loss of a fold."""
    table, y = frame.drop(columns="target"), np.unique(frame["target"], return_inverse=True)[1]
    train, test = list(StratifiedKFold(FOLDS, shuffle=True, random_state=0).split(table, y))[fold]
    begun = process_time()
    try:
        with warnings.catch_warnings(), threadpool_limits(1):
            warnings.simplefilter("ignore")
            model = make().fit(table.iloc[train], y[train])
            probabilities = model.predict_proba(table.iloc[test])
    except Exception as error:  # another tool may fail on a table, which is a result
        if title in OURS:
            raise
        return {"failed": f"{type(error).__name__}: {error}"[:200]}
    own = np.maximum(probabilities[np.arange(len(test)), y[test]], LEAST)
    return {
        "rows": len(test),
        "correct": int((probabilities.argmax(axis=1) == y[test]).sum()),
        "loss": float(-np.log(own).sum()),
        "squares": float((np.log(own) ** 2).sum()),
        "seconds": round(process_time() - begun, 2),
    }


def records(options: argparse.Namespace) -> list[dict[str, Any]]:
    """Compute the folds that have no record yet, and return all records that the options choose."""
    path = options.output / "prediction.jsonl"
    options.output.mkdir(parents=True, exist_ok=True)
    stored = [json.loads(line) for line in path.read_text().splitlines()] if path.exists() else []
    known = {json.dumps(record["part"]): record for record in stored}
    networks = 10 if options.quick else 50
    chosen = []
    for name in [name for name in TABLES if name in (options.names or TABLES)]:
        frame = TABLES[name]().dropna()
        for fold in range(2 if options.quick else FOLDS):
            keys = {title: {"table": name, "fold": fold, "classifier": title} for title in classifiers(networks)}
            keys["ensemble"]["networks"] = networks
            if options.stored and not all(json.dumps(key) in known for key in keys.values()):
                continue
            for title, make in classifiers(networks).items():
                key = keys[title]
                record = known.get(json.dumps(key))
                if record is None:
                    record = {"part": key, "figures": evaluate(title, make, frame, fold)}
                    with path.open("a") as file:
                        file.write(json.dumps(record) + "\n")
                chosen.append(record)
    return chosen


def summarise(chosen: Sequence[dict[str, Any]]) -> dict[tuple[str, str], tuple[float, float] | None]:
    """Return the accuracy and the mean log-loss by table and classifier; None if a fold failed."""
    groups: dict[tuple[str, str], list[dict[str, Any]]] = {}
    for record in chosen:
        groups.setdefault((record["part"]["table"], record["part"]["classifier"]), []).append(record["figures"])
    result: dict[tuple[str, str], tuple[float, float] | None] = {}
    for key, figures in groups.items():
        if any("failed" in each for each in figures):
            result[key] = None
            continue
        rows = sum(each["rows"] for each in figures)
        result[key] = sum(each["correct"] for each in figures) / rows, sum(each["loss"] for each in figures) / rows
    return result


def tables(chosen: Sequence[dict[str, Any]]) -> list[str]:
    """Return the accuracies, the log-losses and all losses, as lines of Markdown."""
    found = summarise(chosen)
    names, titles = (list(dict.fromkeys(key[at] for key in found)) for at in (0, 1))
    lines = []
    for at, (what, form) in enumerate((("accuracy", ".3f"), ("log-loss", ".3f"))):
        lines += [f"| {what} | {' | '.join(names)} | mean |", "|---" * (len(names) + 2) + "|"]
        for title in titles:
            values = [found[name, title] for name in names]
            cells = ["failed" if value is None else f"{value[at]:{form}}" for value in values]
            known = [value[at] for value in values if value is not None]
            total = f"{mean(known):{form}}" if len(known) == len(values) else "-"
            lines.append(f"| {title} | {' | '.join(cells)} | {total} |")
        lines.append("")
    lines += ["Losses:", ""]
    for own in OURS:
        for other in [title for title in titles if title not in OURS]:
            worse: dict[str, list[str]] = {"accuracy": [], "log-loss": []}
            for name in names:
                mine, theirs = found[name, own], found[name, other]
                if mine is None or theirs is None:
                    continue
                if mine[0] < theirs[0]:
                    worse["accuracy"].append(f"{name} ({mine[0] - theirs[0]:+.3f})")
                if mine[1] > theirs[1]:
                    worse["log-loss"].append(f"{name} ({mine[1] - theirs[1]:+.3f})")
            for what, some in worse.items():
                lines.append(f"- {own}, worse {what} than {other}: {', '.join(some) or 'none'}")
    return lines


def main() -> None:
    """Compute the folds that are missing, and print the tables."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="*", metavar="TABLE", help=", ".join(TABLES))
    parser.add_argument("--quick", action="store_true", help="two folds and small ensembles, to check the benchmark")
    parser.add_argument("--stored", action="store_true", help="compute nothing; print the tables of the finished folds")
    parser.add_argument(
        "--output", type=Path, default=Path("docs/results"), metavar="FOLDER", help="docs/results by default"
    )
    options = parser.parse_args()
    if unknown := [name for name in options.names if name not in TABLES]:
        raise SystemExit(f"unknown name {unknown[0]!r}; give some of {', '.join(TABLES)}")
    print("\n".join(tables(records(options))))


if __name__ == "__main__":
    main()
