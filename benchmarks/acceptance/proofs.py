"""Compare proofs of optimality with their targets: soundness, changed proofs, mutants of the checker, and times.

Usage: python benchmarks/acceptance/proofs.py [PART...] [--networks FOLDER] [--only NETWORK...] [--data-seeds N...] ...

Parts (all by default; the complete run takes about an hour):
  soundness  random tables of 5 to 14 variables against dynamic programming; all proofs are checked
  tampered   changed files of proofs: none is accepted with a false claim
  mutants    mutation tests of the checker: no mutant that accepts more survives its tests
  times      wall seconds of proofs and of their check
  command    `dagneal learn alarm.csv --max-parents 4 --prove 120`: wall seconds, and whether the result is proved
  gap        win95pts: gap against time
  found      how often the search without a proof finds the proved optimum

Score BDeu(1) everywhere. Each part names rows and parent limit. Times are wall seconds on two cores. Proofs run in this
process, after compilation, and start with the network of the search. The scoring of parent sets is measured separately.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from statistics import median
from typing import NamedTuple

import mutation
import random_proofs
from verdict import Verdicts

import dagneal as dn
from dagneal.proofs import Attempt, Families, check_proof, prove, read_proof
from dagneal.runtime.run import Deadline
from dagneal.scoring.bounded import complete_table
from dagneal.scoring.table import ScoreTable

sys.path.append(str(Path(__file__).resolve().parents[1]))
import harness

from networks import OPTION, fetch_networks, write_sample

ROWS, FEW_ROWS = 10_000, 1_000
EQUAL = 1e-4  # nats; smaller differences are rounding errors
LIMIT = 600.0  # seconds after which a proof in `times` or `found` stops
MOMENTS = (1, 2, 5, 10, 30, 60, 120, 300)  # seconds, in `gap`
SEVEN = ("child", "insurance", "alarm", "hailfinder", "hepar2", "water", "barley")
CASES = [  # network, parent limit, and target with 10,000 rows in seconds
    *((name, limit, 10.0) for name in ("child", "insurance") for limit in (3, 4)),
    *((name, 3, 10.0) for name in ("water", "mildew", "barley", "hepar2")),
    ("hailfinder", 3, 25.0),
    ("alarm", 3, 90.0),
    ("alarm", 4, 90.0),
]
FEW_TARGET = 6.0  # seconds with 1,000 rows
CHECK_TARGET = 5.0  # seconds


class Case(NamedTuple):
    """A problem to prove.

    Attributes:
        table: score table of all parent sets.
        found: result of the search without a proof.
        scoring: seconds for the scores.
    """

    table: ScoreTable
    found: dn.Learned
    scoring: float


class Acceptance:
    """The options of a run, its samples and its verdicts."""

    def __init__(self, options: argparse.Namespace, folder: Path) -> None:
        self.options, self.folder = options, folder
        self.verdicts = Verdicts()
        self.add = self.verdicts.add
        self._networks: dict[str, dn.BayesianNetwork] = {}

    def chosen(self, *names: str) -> list[str]:
        """Return those names that `--only` allows."""
        return [name for name in names if not self.options.only or name in self.options.only]

    def sample(self, name: str, seed: int, rows: int) -> tuple[Path, dn.Dataset]:
        """Return rows of a network, as a CSV file and as data."""
        if name not in self._networks:
            self._networks |= fetch_networks([name], self.options.networks)
        path = self.folder / f"{name}.csv"
        return path, write_sample(self._networks[name], rows, seed, path)

    def case(self, name: str, seed: int, rows: int, max_parents: int) -> Case:
        """Search for a network without a proof, and score all parent sets."""
        _, data = self.sample(name, seed, rows)
        found = dn.learn(data, dn.Auto(prove=False), score=dn.BDeu(1.0), max_parents=max_parents)
        begun = time.perf_counter()
        table = complete_table(dn.scoring.Scorer(data, dn.BDeu(1.0)), max_parents)
        return Case(table, found, time.perf_counter() - begun)

    def compile_kernels(self) -> None:
        """Run a small case, so that all kernels are compiled and loaded."""
        data = dn.load("alarm-15").sample(1_000, 1)
        found = dn.learn(data, dn.Auto(prove=False), max_parents=3)
        table = random_proofs.random_table(14, 4, 9)  # needs facets and several nodes
        prove(dn.scoring.score_table(data, max_parents=3), found.dag)
        prove(table, work=1e8)


def check_soundness(run: Acceptance) -> None:
    random_proofs.check_soundness(run.verdicts, run.options.tables)


def check_tampered(run: Acceptance) -> None:
    random_proofs.check_tampered(run.verdicts, run.folder, run.options.files)


def check_mutants(run: Acceptance) -> None:
    mutation.check_mutants(run.verdicts)


def check_times(run: Acceptance) -> None:
    run.compile_kernels()
    for rows in (ROWS, FEW_ROWS):
        for name, limit, target in CASES:
            if name in run.chosen(name):
                _check_time(run, name, rows, limit, target if rows == ROWS else FEW_TARGET)


def _check_time(run: Acceptance, name: str, rows: int, limit: int, target: float) -> None:
    """Measure the proofs of all samples of one network."""
    proofs, checks = [], []
    for seed in run.options.data_seeds:
        case = run.case(name, seed, rows, limit)
        attempt = prove(case.table, case.found.dag, dn.Run(deadline=Deadline.after(LIMIT)))
        path = run.folder / "x.proof"
        attempt.proof.save(path)
        families = Families.of(case.table)
        begun = time.perf_counter()
        check_proof(read_proof(path), families)
        proofs.append(attempt.seconds if attempt.optimal else float("inf"))
        checks.append(time.perf_counter() - begun)
        state = "proved" if attempt.optimal else f"gap {attempt.bound.score - attempt.score:.3f}"
        print(
            f"info  {name}, {rows:,} rows, m = {limit}, sample {seed}: {state} in {attempt.seconds:.2f} s, "
            f"{attempt.nodes} nodes, {len(families):,} families; check {checks[-1]:.2f} s; "
            f"scoring {case.scoring:.2f} s; {path.stat().st_size / 1e3:.0f} kB",
            flush=True,
        )
    what = f"{name}, {rows:,} rows, m = {limit}: median seconds of"
    run.add(f"{what} a proof", f"{median(proofs):.2f}", f"at most {target:g}", median(proofs) <= target)
    run.add(f"{what} a check", f"{median(checks):.2f}", f"at most {CHECK_TARGET:g}", median(checks) <= CHECK_TARGET)


def check_command(run: Acceptance) -> None:
    for name in run.chosen("alarm"):
        path, _ = run.sample(name, run.options.data_seeds[0], ROWS)
        words = [harness.dagneal_command(), "learn", str(path), "--max-parents", "4", "--prove", "120", "--json", "--quiet"]
        begun = time.perf_counter()
        done = subprocess.run(words, capture_output=True, text=True, check=True)
        seconds = time.perf_counter() - begun
        result = json.loads(done.stdout)
        proved = bool(result["optimal"])
        print(f"info  seconds of each stage: {result['seconds']}", flush=True)
        run.add("dagneal learn alarm.csv --max-parents 4 --prove 120: proved", "yes" if proved else "no", "yes", proved)
        run.add("the same: wall seconds", f"{seconds:.1f}", "at most 120", seconds <= 120)


def check_gap(run: Acceptance) -> None:
    run.compile_kernels()
    for name in run.chosen("win95pts"):
        case = run.case(name, run.options.data_seeds[0], ROWS, 3)
        attempt = prove(case.table, case.found.dag, dn.Run(deadline=Deadline.after(run.options.seconds)))
        print(f"{name}, {ROWS:,} rows, m = 3, {len(Families.of(case.table)):,} families, {attempt.nodes} nodes")
        print("\n| seconds | score | bound | gap in nats |\n|---|---|---|---|")
        limit = run.options.seconds
        for moment in (*(moment for moment in MOMENTS if moment < limit), limit):
            points = [point for point in attempt.trace if point[0] <= moment]
            if points:
                _, score, bound = points[-1]
                print(f"| {moment:g} | {score:.3f} | {bound:.3f} | {bound - score:.3f} |")
        _add_valid_gap(run, name, attempt, Families.of(case.table))


def _add_valid_gap(run: Acceptance, name: str, attempt: Attempt, families: Families) -> None:
    """Check the proof of an unfinished attempt."""
    proved = families.score(check_proof(attempt.proof, families))
    gap, difference = attempt.bound.score - attempt.score, abs(proved - attempt.bound.score)
    print(f"\ninfo  {name}: {'proved' if attempt.optimal else f'gap {gap:.3f}'} after {attempt.seconds:.1f} s", flush=True)
    run.add(f"{name}: bound of the checker minus bound of the attempt", f"{difference:.1e}", "0", difference <= EQUAL)


def check_found(run: Acceptance) -> None:
    run.compile_kernels()
    total = hits = unproved = 0
    for name in run.chosen(*SEVEN):
        for rows in (FEW_ROWS, ROWS):
            missing = []
            for seed in run.options.data_seeds:
                case = run.case(name, seed, rows, 3)
                attempt = prove(case.table, case.found.dag, dn.Run(deadline=Deadline.after(LIMIT)))
                if attempt.optimal:
                    missing.append(max(attempt.score - case.found.score, 0.0))
                else:
                    unproved += 1
            own = sum(nats <= EQUAL for nats in missing)
            total, hits = total + len(missing), hits + own
            lost = ", ".join(f"{nats:.3f}" for nats in missing if nats > EQUAL) or "none"
            print(f"info  {name}, {rows:,} rows: {own} of {len(missing)} optima found; nats missing: {lost}", flush=True)
    print(f"info  samples with a proved optimum: {total}; found by the search: {hits}", flush=True)
    run.add(f"samples without a proof in {LIMIT:g} s", unproved, "0", unproved == 0)


PARTS: dict[str, Callable[[Acceptance], None]] = {
    "soundness": check_soundness,
    "tampered": check_tampered,
    "mutants": check_mutants,
    "times": check_times,
    "command": check_command,
    "gap": check_gap,
    "found": check_found,
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("parts", nargs="*", metavar="PART", help=", ".join(PARTS))
    parser.add_argument(OPTION[0], **OPTION[1])
    parser.add_argument("--only", nargs="+", default=[], metavar="NETWORK", help="leave out all other networks")
    parser.add_argument("--data-seeds", type=int, nargs="+", default=[1, 2, 3, 4, 5], metavar="SEED")
    parser.add_argument("--tables", type=int, default=1_000, metavar="N", help="tables in `soundness`")
    parser.add_argument("--files", type=int, default=200, metavar="N", help="changed proofs in `tampered`")
    parser.add_argument("--seconds", type=float, default=300.0, metavar="S", help="time limit in `gap`")
    options = parser.parse_args()
    if unknown := [part for part in options.parts if part not in PARTS]:
        parser.error(f"unknown part {unknown[0]!r}; give some of {', '.join(PARTS)}")
    with tempfile.TemporaryDirectory() as folder:
        run = Acceptance(options, Path(folder))
        for part in options.parts or PARTS:
            print(f"\n{part}", flush=True)
            PARTS[part](run)
    run.verdicts.exit()


if __name__ == "__main__":
    main()
