"""The tables of docs/divide-et-impera.md.

python benchmarks/division.py paper              the paper's rule with simulated annealing, beside its own figures
python benchmarks/division.py networks FOLDER    standard networks (.bif or .bif.gz in a folder), default learning
python benchmarks/division.py blocks FOLDER      the same by size and scheme of the blocks
"""

import gzip
import os
import sys
import time
from pathlib import Path

import numpy as np
from dwave.samplers import SimulatedAnnealingSampler

import dagneal as dn
from dagneal.networks.bif import parse_bif
from dagneal.paper.published import TABLE_9, TABLE_10, TABLE_11

# Right and wrong edges, simulated annealing, averages of five runs: the paper's Tables 9 to 11.
PUBLISHED = {
    name: {k: row.means for (k, method), row in table.items() if method == "sa"}
    for name, table in {"lung-cancer": TABLE_9, "waste": TABLE_10, "alarm-15": TABLE_11}.items()
}
PLAN = [
    # network, arities, reads, sizes of blocks, number of seeds
    ("lung-cancer", "true", "raw", (3, 4, 5), 5),
    ("waste", "true", "raw", (3, 4, 5, 6, 7, 8, 9), 5),
    ("alarm-15", "true", "raw", (3, 4), 5),
    ("alarm-15", "padded", "raw", (3, 4), 5),
    ("alarm-15", "padded", "repaired", (4,), 5),
    ("alarm-15", "true", "raw", (5, 6), 1),
    ("alarm-15", "padded", "raw", (5, 6), 1),
]


def paper() -> None:
    head = "network | arities | reads | k | blocks | right by seed | wrong by seed | right / wrong | the paper | acyclic | s"
    print(f"| {head} |\n|{'---|' * 11}", flush=True)
    for name, kind, reads, sizes, seeds in PLAN:
        truth = dn.load(name)
        data = truth.expected(10_000)
        table = dn.scoring.score_table(data.padded() if kind == "padded" else data, max_parents=2)
        for size in sizes:
            right, wrong, acyclic, spent = [], [], [], []
            for seed in range(1, seeds + 1):
                begun = time.perf_counter()
                sampler = SimulatedAnnealingSampler()
                found = dn.divide(
                    table,
                    sampler,
                    size,
                    rule="penalty",
                    repair=reads == "repaired",
                    encoding=dn.PAPER,
                    seed=seed,
                    num_reads=100,
                )
                spent.append(time.perf_counter() - begun)
                against = dn.compare(found.dag, truth.dag)
                right.append(against.right)
                wrong.append(against.wrong)
                acyclic.append(found.division.acyclic)
            cells = (
                name,
                kind,
                reads,
                size,
                found.division.subproblems,
                " ".join(map(str, right)),
                " ".join(map(str, wrong)),
                f"{np.mean(right):.1f} / {np.mean(wrong):.1f}",
                "{} / {}".format(*PUBLISHED[name][size]),
                f"{sum(acyclic)} of {seeds}",
                f"{np.mean(spent):.1f}",
            )
            print("| " + " | ".join(map(str, cells)) + " |", flush=True)


def read(folder: str, name: str) -> dn.BayesianNetwork:
    plain, packed = Path(folder) / f"{name}.bif", Path(folder) / f"{name}.bif.gz"
    text = plain.read_text() if plain.exists() else gzip.decompress(packed.read_bytes()).decode()
    return parse_bif(text, name)


def warm() -> None:
    for n, rows in ((8, 100), (24, 100)):
        data = dn.read(np.random.default_rng(0).integers(0, 2, (rows, n)))
        dn.learn(data)
        dn.divide(dn.scoring.Scorer(data), size=3)
        dn.divide(dn.scoring.Scorer(data), size=4, blocks="cover:2")


def networks(folder: str) -> None:
    os.sched_setaffinity(0, {sorted(os.sched_getaffinity(0))[0]})
    warm()
    print("| network | seed | s | solver | score - true | equals exact | right | wrong | CPDAG distance |", flush=True)
    print("|---|---|---|---|---|---|---|---|---|", flush=True)
    for name in ("lung-cancer", "waste-2p-dep", "alarm-15", "asia", "sachs", "child", "insurance", "alarm", "hailfinder"):
        truth = dn.load(name) if name in ("lung-cancer", "waste-2p-dep", "alarm-15") else read(folder, name)
        for seed in range(1, 6):
            data = truth.sample(10_000, seed)
            limit = 3 if name == "child" else None
            begun = time.perf_counter()
            found = dn.learn(data, limit, seed=seed)
            spent = time.perf_counter() - begun
            scorer = dn.scoring.Scorer(data)
            against = dn.compare(found.dag, truth.dag, scorer)
            equal = ""
            if len(truth.names) <= 20:
                best = dn.solvers.exact(scorer.table(min(limit or 4, len(truth.names) - 1)))
                equal = "yes" if abs(best.score - found.score) < 1e-6 else f"no, {best.score - found.score:.3f} below"
            cells = (
                name,
                seed,
                f"{spent:.2f}",
                found.solver,
                f"{-against.score_gap:.1f}",
                equal,
                against.right,
                against.wrong,
                against.cpdag_shd,
            )
            print("| " + " | ".join(map(str, cells)) + " |", flush=True)


def blocks(folder: str) -> None:
    os.sched_setaffinity(0, {sorted(os.sched_getaffinity(0))[0]})
    warm()
    print("| network | k | blocks | number | s | score - true | right | wrong | CPDAG distance | rounds |", flush=True)
    print("|---|---|---|---|---|---|---|---|---|---|", flush=True)
    for name in ("alarm-15", "child", "insurance", "alarm", "hailfinder"):
        truth = dn.load(name) if name == "alarm-15" else read(folder, name)
        for size, scheme in (
            (3, "all"),
            (3, "cover:2"),
            (4, "all"),
            (4, "cover:2"),
            (4, "cover:3"),
            (3, "sample:0.2"),
            (6, "cover:2"),
        ):
            if scheme == "cover:3" and len(truth.names) > 40:
                continue
            rows = []
            for seed in (1, 2, 3):
                scorer = dn.scoring.Scorer(truth.sample(10_000, seed))
                begun = time.perf_counter()
                found = dn.divide(scorer, size=size, blocks=scheme, seed=seed)
                spent = time.perf_counter() - begun
                against = dn.compare(found.dag, truth.dag, scorer)
                rows.append(
                    (spent, -against.score_gap, against.right, against.wrong, against.cpdag_shd, found.division.rounds)
                )
            mean = np.mean(rows, axis=0)
            figures = [f"{mean[0]:.2f}", *(f"{v:.1f}" for v in mean[1:])]
            print("| " + " | ".join(map(str, (name, size, scheme, found.division.subproblems, *figures))) + " |", flush=True)


if __name__ == "__main__":
    {"paper": paper, "networks": networks, "blocks": blocks}[sys.argv[1]](*sys.argv[2:])
