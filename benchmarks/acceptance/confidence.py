"""Check bootstrap frequencies, and compare consensus and ensemble with the best network.

Usage: python benchmarks/acceptance/confidence.py [PART...] [--records FILE] [--networks FOLDER] [--tables PYTHON] ...

Parts (all by default):
  bootstrap  random networks with columns of 2 to 50 states, 200 to 2,000 rows: number of edges in the bootstrap samples, and
             frequencies against fresh samples of the true network
  networks   the six usual networks, 200 to 10,000 rows: best network, consensus and ensemble by SHD, CPDAG distance, and
             log-likelihood of 10,000 other rows of the true network
  tables     eight tables from PyPI packages: log-likelihood of held-out rows, five folds

Score BDeu(1), the default solver without proofs. Finished cases are appended to FILE and are not repeated. The part `tables`
needs the site-packages folder of an environment with lifelines, causaldata, palmerpenguins and statsmodels.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import pairwise
from pathlib import Path
from statistics import mean
from typing import Any

import numpy as np
from verdict import Verdicts

import dagneal as dn
from dagneal.confidence.bootstrap import reweight

sys.path.append(str(Path(__file__).resolve().parents[1]))
from bootstrap import STATES, adjacency, random_network

from networks import OPTION, fetch_networks

SOLVER = dn.Auto(prove=False)
USUAL = ("asia", "sachs", "child", "insurance", "alarm", "hailfinder")
TABLES = {
    "ACTG175": ("lifelines/datasets/ACTG175.csv", {"drop": ["", "pidnum"]}),
    "rossi": ("lifelines/datasets/rossi.csv", {"bins": {"age": "quantile:4", "prio": "quantile:4"}, "rare": 0.0}),
    "Mroz": ("causaldata/Mroz/Mroz.csv", {"drop": [""]}),
    "black_politicians": ("causaldata/black_politicians/black_politicians.csv", {}),
    "penguins": ("palmerpenguins/data/penguins.csv", {}),
    "fair": ("statsmodels/datasets/fair/fair.csv", {}),
    "anes96": ("statsmodels/datasets/anes96/anes96.csv", {}),
    "modechoice": ("statsmodels/datasets/modechoice/modechoice.csv", {}),
}
OTHER_ROWS, OTHER_SEED, FOLDS = 10_000, 1_000_000, 5
TOLERANCE = 0.15
# Options of `Learned.ensemble`: the default, with the score of the network, and with the classical bootstrap, too.
ENSEMBLES: dict[str, dict[str, Any]] = {
    "ensemble": {},
    "ensemble, BDeu(1)": {"score": "bdeu:1"},
    "ensemble, rows, BDeu(1)": {"method": "rows", "score": "bdeu:1"},
}
KINDS = ("best", "consensus", *ENSEMBLES)
BINS = (0.0, 0.05, 0.35, 0.65, 0.95, 1.0001)

Record = dict[str, Any]


class Acceptance:
    """The options of a run, its records and its verdicts."""

    def __init__(self, options: argparse.Namespace) -> None:
        self.options, self.verdicts = options, Verdicts()
        path = options.records
        lines = path.read_text().splitlines() if path is not None and path.exists() else []
        self.records: dict[str, Record] = {record["case"]: record for record in map(json.loads, lines)}

    def record(self, case: str, measure: Callable[[], Record]) -> Record:
        """Return the record of a case. Measure it if there is none."""
        if case not in self.records:
            self.records[case] = {"case": case, **measure()}
            if self.options.records is not None:
                with self.options.records.open("a") as file:
                    file.write(json.dumps(self.records[case]) + "\n")
        return self.records[case]


class Memory:
    """A journal in memory, so that consensus and ensemble share bootstrap samples."""

    def __init__(self) -> None:
        self.values: dict[str, bytes] = {}

    def get(self, keys: Sequence[str]) -> dict[str, bytes]:
        """Return the stored values of keys."""
        return {key: self.values[key] for key in keys if key in self.values}

    def put(self, values: Mapping[str, bytes]) -> None:
        """Store values by key."""
        self.values.update(values)


def learn(data: dn.Dataset) -> dn.Learned:
    """Return the best network."""
    return dn.learn(data, SOLVER, score=dn.BDeu(1.0))


def measure_bootstrap(kind: str, rows: int, number: int, options: argparse.Namespace) -> Record:
    """Return frequencies of all pairs: in fresh samples, and for each data set in the network and in bootstrap samples."""
    truth = random_network(kind, 100 + number)  # other networks than those that the default was chosen with
    upper = np.triu_indices(len(truth.names), 1)
    fresh = [adjacency(learn(truth.sample(rows, 10_000 + seed)).dag, truth.sample(2, 0)) for seed in range(options.fresh)]
    data_sets = []
    for seed in range(options.seeds):
        result = learn(truth.sample(rows, seed))
        record: Record = {"network": adjacency(result.dag, result.data)[upper].tolist()}
        record["fresh"] = np.mean(fresh, axis=0)[upper].tolist()
        for method in ("subsample", "rows"):
            record[method] = result.bootstrap(options.samples, SOLVER, method=method).edges[upper].tolist()
        data_sets.append(record)
    return {"data": data_sets}


def check_bootstrap(run: Acceptance) -> None:
    records: dict[str, list[Record]] = {}
    for kind in STATES:
        for rows in (200, 500, 1_000, 2_000):
            for number in range(run.options.cases):
                settings = f"{run.options.samples}:{run.options.fresh}:{run.options.seeds}"
                case = f"bootstrap:{kind}:{rows}:{number}:{settings}"
                record = run.record(case, lambda k=kind, r=rows, n=number: measure_bootstrap(k, r, n, run.options))
                for group in (kind, f"{rows} rows", "all"):
                    records.setdefault(group, []).extend(record["data"])
    for group, members in records.items():
        learned = sum(sum(record["network"]) for record in members)
        kinds = ("subsample", "rows", "fresh")
        ratios = {kind: sum(sum(record[kind]) for record in members) / learned for kind in kinds}
        met = abs(ratios["subsample"] - 1) <= TOLERANCE
        what = f"edges / in the network, {group} (rows: {ratios['rows']:.2f}, fresh: {ratios['fresh']:.2f})"
        run.verdicts.add(what, f"{ratios['subsample']:.2f}", "0.85 to 1.15", met)
    for method in ("subsample", "rows"):
        sampled, fresh = (
            np.array([value for record in records["all"] for value in record[key]]) for key in (method, "fresh")
        )
        print(f"\n{method}: bootstrap frequency, and frequency in fresh samples")
        for low, high in pairwise(BINS):
            own = (sampled >= low) & (sampled < high)
            if own.any():
                cells = f"{own.sum():5} pairs  {sampled[own].mean():.3f}  {fresh[own].mean():.3f}"
                print(f"  {low:.2f} to {min(high, 1.0):.2f}  {cells}", flush=True)
        error = float(np.sqrt(((sampled - fresh) ** 2).mean()))
        print(f"  root mean square difference {error:.3f}", flush=True)


def evaluate(data: dn.Dataset, test: dn.Dataset, truth: dn.BayesianNetwork | None, networks: int, samples: int) -> Record:
    """Return the measures of the best network, the consensus and ensembles."""
    result, memory = learn(data), dn.Run(journal=Memory())
    averaged = result.consensus(samples=samples, solver=SOLVER, run=memory)
    record: Record = {"rows": data.rows}
    for name, each in (("best", result), ("consensus", averaged)):
        record[name] = {"likelihood": dn.log_likelihood(each.network, test) / test.rows, "edges": len(each.edges)}
        if truth is not None:
            comparison = each.compare(truth)
            record[name] |= {"shd": comparison.shd, "cpdag": comparison.cpdag_shd}
    for name, options in ENSEMBLES.items():
        mixture = result.ensemble(networks, SOLVER, memory, **options)
        value = float(mixture.log_likelihood(test) @ test.weights) / test.rows
        record[name] = {"likelihood": value, "networks": len(mixture.networks)}
    return record


def check_networks(run: Acceptance) -> None:
    options = run.options
    truths = fetch_networks([name for name in USUAL if name in options.only], options.networks)
    heads = ("network", "rows", "SHD: best, consensus", "CPDAG distance: best, consensus", "likelihood: best", *KINDS[1:])
    print(f"| {' | '.join(heads)} |\n|{'---|' * len(heads)}")
    gains = []
    for name, truth in truths.items():
        test = truth.sample(OTHER_ROWS, OTHER_SEED)
        for rows in options.rows:
            records = [
                run.record(
                    f"network:2:{name}:{rows}:{seed}:{options.ensemble}:{options.samples}",
                    lambda t=truth, r=rows, s=seed, o=test: evaluate(
                        t.sample(r, s), o, t, options.ensemble, options.samples
                    ),
                )
                for seed in range(options.seeds)
            ]
            value = {kind: mean(record[kind]["likelihood"] for record in records) for kind in KINDS}
            gains.append(value["ensemble"] - value["best"])
            structure = [
                ", ".join(f"{mean(record[kind][key] for record in records):.1f}" for kind in ("best", "consensus"))
                for key in ("shd", "cpdag")
            ]
            cells = [f"{value['best']:.3f}", *(f"{value[kind] - value['best']:+.3f}" for kind in KINDS[1:])]
            print(f"| {name} | {rows:,} | {' | '.join([*structure, *cells])} |", flush=True)
    better = sum(gain > 0 for gain in gains)
    run.verdicts.add(
        "ensemble predicts better than the best network", f"{better} of {len(gains)}", "most", 2 * better > len(gains)
    )


def folds(data: dn.Dataset) -> Iterator[tuple[dn.Dataset, dn.Dataset]]:
    """Yield training and test rows."""
    generator = np.random.default_rng(0)
    fold = generator.permutation(data.rows) % FOLDS
    row = np.repeat(np.arange(len(data.weights)), data.weights)
    for number in range(FOLDS):
        test = np.bincount(row[fold == number], minlength=len(data.weights))
        yield reweight(data, data.weights - test), reweight(data, test)


def read_table(folder: Path, name: str) -> dn.Dataset:
    """Return a table with binned numbers, in which rare states are merged."""
    path, options = TABLES[name]
    return dn.read(folder / path, **{"bins": "quantile:4", "rare": 0.01, "missing": "state"} | options)


def check_tables(run: Acceptance) -> None:
    options = run.options
    if options.tables is None:
        print("skip  tables: give a site-packages folder with --tables FOLDER", flush=True)
        return
    heads = ("table", "rows", "columns", "most states", *KINDS)
    print(f"| {' | '.join(heads)} |\n|{'---|' * len(heads)}")
    gains = []
    for name in [name for name in TABLES if name in options.only]:
        data = read_table(options.tables, name)
        records = [
            run.record(
                f"table:2:{name}:{number}:{options.ensemble}:{options.samples}",
                lambda a=train, b=test: evaluate(a, b, None, options.ensemble, options.samples),
            )
            for number, (train, test) in enumerate(folds(data))
            if number < options.folds
        ]
        value = {kind: mean(record[kind]["likelihood"] for record in records) for kind in KINDS}
        gains.append(value["ensemble"] - value["best"])
        cells = [f"{value['best']:.3f}", *(f"{value[kind] - value['best']:+.3f}" for kind in KINDS[1:])]
        size = f"{data.rows:,} | {len(data.names)} | {data.arities.max()}"
        print(f"| {name} | {size} | {' | '.join(cells)} |", flush=True)
    better = sum(gain > 0 for gain in gains)
    run.verdicts.add(
        "ensemble predicts better than the best network", f"{better} of {len(gains)}", "most", 2 * better > len(gains)
    )


PARTS: dict[str, Callable[[Acceptance], None]] = {
    "bootstrap": check_bootstrap,
    "networks": check_networks,
    "tables": check_tables,
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("parts", nargs="*", metavar="PART", help=", ".join(PARTS))
    parser.add_argument(OPTION[0], **OPTION[1])
    parser.add_argument("--tables", type=Path, metavar="FOLDER", help="site-packages folder with the packages of the tables")
    parser.add_argument("--records", type=Path, metavar="FILE", help="file of finished cases")
    names = [*USUAL, *TABLES]
    parser.add_argument("--only", nargs="+", default=names, choices=names, metavar="NAME", help="networks and tables")
    parser.add_argument("--rows", type=int, nargs="+", default=[200, 500, 1_000, 10_000], metavar="N")
    parser.add_argument("--seeds", type=int, default=3, metavar="N", help="data sets of each network")
    parser.add_argument("--folds", type=int, default=FOLDS, metavar="N", help="folds of each table that are used")
    parser.add_argument("--cases", type=int, default=3, metavar="N", help="random networks for each size, in `bootstrap`")
    parser.add_argument("--samples", type=int, default=100, metavar="N", help="bootstrap samples")
    parser.add_argument("--fresh", type=int, default=100, metavar="N", help="fresh samples, in `bootstrap`")
    parser.add_argument("--ensemble", type=int, default=50, metavar="N", help="bootstrap samples of an ensemble")
    options = parser.parse_args()
    if unknown := [part for part in options.parts if part not in PARTS]:
        parser.error(f"unknown part {unknown[0]!r}; give some of {', '.join(PARTS)}")
    run = Acceptance(options)
    for part in options.parts or PARTS:
        print(f"\n{part}", flush=True)
        PARTS[part](run)
    run.verdicts.exit()


if __name__ == "__main__":
    main()
