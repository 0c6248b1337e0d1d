"""Compare the anytime search with its targets: other tools, the earlier version, true networks, start-up, memory.

Usage: python benchmarks/acceptance/search.py [PART...] [--baseline CHECKOUT] [--peers PYTHON] [--networks FOLDER] ...

Parts (all by default; the complete run takes hours):
  anytime    our best network at the moment when hill climbs and the tabu search of other tools finish
  known      hailfinder and hepar2: the best known score in 5 s
  win95pts   above the true network in 8 s, and all search seeds within 1 nat
  large      diabetes, pigs and link: against the true network and pybnesian
  faster     munin1 and andes: no worse than the baseline in half its time
  wide       1,000 random variables on two cores: at most 60 s, and no worse than the baseline
  scores     asia, sachs, child, insurance, alarm, hailfinder: no score below the baseline's
  small      200, 500 and 1,000 rows: equal to exact search if it is possible, otherwise to the best of many seeds with
             twice the effort
  startup    CPU time of `dagneal learn` on a small file, and the first compilation
  annealer   `--solver sa`: seconds and scores; time per spin update and tests of equality with dwave-samplers
  workers    the same answer with one and two workers
  memory     peak memory against the baseline

Score BDeu(1) everywhere. Parent limit: the default of each version and tool; four for `--solver sa`. Encoding TIGHT. Each
search runs in a separate process. Times are CPU seconds on one core, after compilation, if not stated otherwise. CHECKOUT is
a clone of commit 7f874b9; parts that need it are skipped without it. PYTHON has pybnesian and pyAgrum. `--records FILE`
appends each search to a file, as a JSON object with sample, tool, settings, seconds, score and trace.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import networkx as nx
from verdict import Verdicts

import dagneal as dn

sys.path.append(str(Path(__file__).resolve().parents[1]))
import harness
from scale import random_network

from networks import OPTION, fetch_networks, write_sample

HERE = Path(__file__).resolve().parent
ROWS = 10_000
EQUAL = 1e-4  # nats; smaller differences are rounding errors
EXACT_PARENTS, EXACT_SECONDS = 4, 300  # exact search for references of small samples: parent limit, and seconds
EXEMPT = 0.1  # seconds; shorter budgets are exempt
PEERS = ("pybnesian climb", "pyAgrum climb", "pyAgrum tabu")
USUAL = ("asia", "sachs", "child", "insurance", "alarm", "hailfinder")
MIDDLE = ("child", "insurance", "alarm", "hailfinder", "hepar2", "win95pts")
ONE_THREAD = dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "POLARS_MAX_THREADS"), "1")

Record = dict[str, Any]


@dataclass(frozen=True)
class Sample:
    """Rows of a network in a CSV file.

    Attributes:
        name: name for the output.
        truth: true network.
        path: CSV file.
        data: the same rows, as read from the file.
    """

    name: str
    truth: dn.BayesianNetwork
    path: Path
    data: dn.Dataset

    @cached_property
    def scorer(self) -> dn.scoring.Scorer:
        """The scorer of all networks, whichever tool found them."""
        return dn.scoring.Scorer(self.data, dn.BDeu(1.0))

    @property
    def true_score(self) -> float:
        """The score of the true network."""
        return float(self.scorer.score(self.truth.dag))

    def score(self, record: Record) -> float:
        """Return the score of the edges in a record."""
        graph = nx.DiGraph()
        graph.add_nodes_from(self.data.names)
        graph.add_edges_from(map(tuple, record["edges"]))
        return float(self.scorer.score(graph))


class Acceptance:
    """The options of a run, its samples and its verdicts."""

    def __init__(self, options: argparse.Namespace, folder: Path) -> None:
        self.options, self.folder = options, folder
        self.verdicts = Verdicts()
        self.add = self.verdicts.add
        self._networks: dict[str, dn.BayesianNetwork] = {}

    def network(self, name: str) -> dn.BayesianNetwork:
        """Return a network by name; `random1000` is a random sparse network."""
        if name not in self._networks:
            wide = name.startswith("random")
            self._networks[name] = (
                random_network(int(name.removeprefix("random")))
                if wide
                else fetch_networks([name], self.options.networks)[name]
            )
        return self._networks[name]

    def sample(self, name: str, seed: int, rows: int = ROWS) -> Sample:
        """Return rows of a network."""
        truth, path = self.network(name), self.folder / f"{name}-{rows}-{seed}.csv"
        return Sample(f"{name} {seed}", truth, path, write_sample(truth, rows, seed, path))

    def chosen(self, *names: str) -> list[str]:
        """Return those names that `--only` allows."""
        return [name for name in names if not self.options.only or name in self.options.only]

    def samples(self, *names: str, most: int | None = None) -> Iterator[Sample]:
        """Yield the samples of networks for all data seeds, or for the first `most` seeds."""
        for name in self.chosen(*names):
            for seed in self.options.data_seeds[:most]:
                yield self.sample(name, seed)

    def learn(self, sample: Sample, baseline: bool = False, **settings: Any) -> Record:
        """Learn from a sample in a separate process, with this version or with the baseline.

        Args:
            sample: rows to learn from.
            baseline: True to use the baseline.
            **settings: settings of learn_once.py.
        """
        environment = dict(os.environ)
        if settings.get("cores", 1) == 1:
            environment |= ONE_THREAD
        if baseline:
            environment["PYTHONPATH"] = str(self.options.baseline / "src")
        words = [sys.executable, "-W", "ignore", str(HERE / "learn_once.py"), str(sample.path), json.dumps(settings)]
        return self._store(sample, "baseline" if baseline else "dagneal", settings, _read_record(words, environment))

    def run_peer(self, tool: str, sample: Sample) -> Record:
        """Run another tool on a sample, in a separate process on one core."""
        words = [str(self.options.peers), "-W", "ignore", str(HERE.parent / "peers" / "tools.py"), tool, str(sample.path)]
        return self._store(sample, tool, {}, _read_record([*words, "1", "--cpu"], os.environ | ONE_THREAD))

    def _store(self, sample: Sample, tool: str, settings: dict[str, Any], record: Record) -> Record:
        """Append a record to the file that the user gave, if any, and return the record."""
        if self.options.records is not None:
            plain = {key: value for key, value in record.items() if key != "edges"}
            names = {"sample": sample.path.stem, "tool": tool, "settings": settings, "score": sample.score(record)}
            with self.options.records.open("a") as file:
                file.write(json.dumps(names | plain) + "\n")
        return record

    def has_baseline(self, part: str) -> bool:
        """Return whether a baseline is given. If not, print that the part is skipped."""
        if self.options.baseline is None:
            print(f"skip  {part}: give the baseline with --baseline CHECKOUT", flush=True)
        return self.options.baseline is not None


def _read_record(words: list[str], environment: dict[str, str]) -> Record:
    done = subprocess.run(words, capture_output=True, text=True, env=environment)
    if done.returncode:
        raise SystemExit(f"{' '.join(words)} failed:\n{done.stderr}")
    record: Record = json.loads(done.stdout.strip().splitlines()[-1])
    return record


def score_at(record: Record, seconds: float) -> float:
    """Return the best score of a trace at a moment; minus infinity if there was no network yet."""
    return max((score for moment, score, *_ in record["trace"] if moment <= seconds), default=float("-inf"))


def seconds_to_best(record: Record) -> float:
    """Return the first moment when a trace has its final score."""
    final = record["trace"][-1][1]
    return min(moment for moment, score, *_ in record["trace"] if score >= final - EQUAL)


def check_anytime(run: Acceptance) -> None:
    for sample in run.samples(*MIDDLE, "andes"):
        ours = run.learn(sample)
        for tool in PEERS:
            theirs = run.run_peer(tool, sample)
            budget, score = theirs["seconds"], sample.score(theirs)
            what = f"{sample.name}: ours minus {tool}, at {budget:.3f} s"
            difference = score_at(ours, budget) - score
            if budget < EXEMPT:
                print(f"info  {what:64} {difference:+12.1f}   exempt, below {EXEMPT:g} s", flush=True)
            else:
                run.add(what, f"{difference:+.1f}", "at least 0", difference >= -EQUAL)


def check_known(run: Acceptance) -> None:
    for name in run.chosen("hailfinder", "hepar2"):
        hits = 0
        for sample in run.samples(name):
            ours = run.learn(sample)
            best = max(sample.score(run.learn(sample, seed=seed, effort=2)) for seed in run.options.searches)
            if run.options.baseline is not None:
                best = max(best, sample.score(run.learn(sample, baseline=True)))
            below = max(best, sample.score(ours)) - score_at(ours, 5.0)
            hits += below <= EQUAL
            print(f"info  {sample.name}: {below:.3f} below the best known score {best:.3f} at 5 s; {_end(ours)}", flush=True)
        count = len(run.options.data_seeds)
        run.add(f"{name}: samples with the best known score in 5 s", f"{hits} of {count}", "4 of 5", hits >= 0.8 * count)


def check_win95pts(run: Acceptance) -> None:
    for sample in run.samples("win95pts"):
        records = [run.learn(sample, seed=seed) for seed in run.options.searches]
        above = [score_at(record, 8.0) - sample.true_score for record in records]
        spread = max(above) - min(above)
        run.add(f"{sample.name}: above the true network at 8 s", f"{min(above):+.1f}", "above 0", min(above) > 0)
        run.add(f"{sample.name}: spread of {len(above)} search seeds", f"{spread:.3f}", "at most 1", spread <= 1)
        print(f"info  {sample.name}: {_end(records[0])}", flush=True)


def check_large(run: Acceptance) -> None:
    for name, limit in (("diabetes", 180.0), ("pigs", 20.0)):
        for sample in run.samples(name, most=3):
            ours = run.learn(sample)
            above = score_at(ours, limit) - sample.true_score
            what = f"{sample.name}: minus the true network, at {limit:g} s"
            run.add(what, f"{above:+.1f}", "at least 0", above >= -EQUAL)
            print(f"info  {sample.name}: {_end(ours)}", flush=True)
    for sample in run.samples("link", most=1):
        ours, theirs = run.learn(sample), run.run_peer(PEERS[0], sample)
        difference = sample.score(ours) - sample.score(theirs)
        run.add(f"{sample.name}: seconds until the end", f"{ours['seconds']:.0f}", "at most 240", ours["seconds"] <= 240)
        run.add(f"{sample.name}: ours minus {PEERS[0]}", f"{difference:+.1f}", "above 0", difference > 0)


def check_faster(run: Acceptance) -> None:
    if not run.has_baseline("faster"):
        return
    for sample in run.samples("munin1", "andes", most=run.options.baseline_samples):
        ours, before = run.learn(sample), run.learn(sample, baseline=True)
        budget = before["seconds"] / 2
        difference = score_at(ours, budget) - sample.score(before)
        what = f"{sample.name}: minus the baseline, at {budget:.1f} s"
        run.add(what, f"{difference:+.1f}", "at least 0", difference >= -EQUAL)
        print(f"info  {sample.name}: {_end(ours)}; baseline {before['seconds']:.1f} s", flush=True)


def check_wide(run: Acceptance) -> None:
    sample = run.sample("random1000", 1)
    ours = run.learn(sample, cores=2)
    seconds, score = ours["seconds"], sample.score(ours)
    run.add("1,000 random variables, two cores: wall seconds", f"{seconds:.0f}", "at most 60", seconds <= 60)
    print(f"info  1,000 random variables: {score - sample.true_score:+.1f} against the true network", flush=True)
    if run.has_baseline("wide"):
        before = run.learn(sample, baseline=True, cores=2)
        difference = score - sample.score(before)
        run.add("1,000 random variables: minus the baseline", f"{difference:+.1f}", "at least 0", difference >= -EQUAL)
        print(f"info  1,000 random variables: baseline {before['seconds']:.0f} s", flush=True)


def check_scores(run: Acceptance) -> None:
    if not run.has_baseline("scores"):
        return
    for sample in run.samples(*USUAL):
        difference = sample.score(run.learn(sample)) - sample.score(run.learn(sample, baseline=True))
        run.add(f"{sample.name}: minus the baseline", f"{difference:+.3f}", "at least 0", difference >= -EQUAL)


def check_small(run: Acceptance) -> None:
    hits = cases = 0
    for name in run.chosen(*MIDDLE):
        for rows in run.options.rows:
            for seed in run.options.data_seeds:
                sample = run.sample(name, seed, rows)
                ours = run.learn(sample)
                best, source = _find_reference(run, sample, ours)
                below = best - sample.score(ours)
                cases, hits = cases + 1, hits + (below <= EQUAL)
                print(f"info  {name}, {rows} rows, sample {seed}: {below:.3f} below {source}; {_end(ours)}", flush=True)
    run.add("small samples with the best score", f"{hits} of {cases}", "9 of 10", hits >= 0.9 * cases)


def _find_reference(run: Acceptance, sample: Sample, ours: Record) -> tuple[float, str]:
    """Return the score of exact search if it is possible; otherwise the best of many seeds with twice the effort.

    The seeds end with the first that is better than ours. The second value says where the score comes from.
    """
    sizes = [sum(child == name for _, child in ours["edges"]) for name in sample.data.names]
    limit = max(EXACT_PARENTS, *sizes)
    if limit == EXACT_PARENTS:
        with dn.limits(jobs=1):
            best = dn.learn(sample.data, dn.Exact(), score=dn.BDeu(1.0), max_parents=limit, time_limit=EXACT_SECONDS)
        if best.optimal:
            return best.score, f"the optimum for at most {limit} parents"
    score = float("-inf")
    for count in range(1, run.options.references + 1):
        score = max(score, sample.score(run.learn(sample, seed=count - 1, effort=2)))
        if score > sample.score(ours) + EQUAL:
            break
    return score, f"the best of {count} seeds"


def check_startup(run: Acceptance) -> None:
    small = run.sample("asia", 1, 1_000)
    program = [harness.dagneal_command(), "learn", "--score", "bdeu:1", "--max-parents", "4", "--quiet"]
    subprocess.run([*program, small.path], check=True, stdout=subprocess.DEVNULL)
    seconds = min(_cpu_seconds([*program, str(small.path)]) for _ in range(5))
    run.add("dagneal learn, asia, 1,000 rows: CPU seconds", f"{seconds:.2f}", "at most 0.8", seconds <= 0.8)
    first = 0.0
    environment = {"NUMBA_CACHE_DIR": str(run.folder / "cache")}
    files = [str(run.sample(name, 1, 1_000).path) for name in ("asia", "child", "alarm", "win95pts")]
    for path in files:
        begun = time.perf_counter()
        harness.run_command(*program, path, **environment)
        first += time.perf_counter() - begun
        first -= harness.run_command(*program, path, **environment)
    what = "first runs of asia, child, alarm and win95pts: compilation, wall seconds"
    run.add(what, f"{first:.1f}", "at most 8", first <= 8)


def check_annealer(run: Acceptance) -> None:
    for name, limit in (("alarm", 5.0), ("insurance", 3.0), ("hepar2", None), ("win95pts", None)):
        for sample in run.samples(name, most=1):
            annealed = run.learn(sample, solver="sa", max_parents=4)
            seconds, score = annealed["seconds"], sample.score(annealed)
            if limit is not None:
                run.add(f"{sample.name}, sa: seconds", f"{seconds:.2f}", f"at most {limit:g}", seconds <= limit)
                if run.options.baseline is not None:
                    before = run.learn(sample, baseline=True, solver="sa", max_parents=4)
                    difference = score - sample.score(before)
                    what = f"{sample.name}, sa: minus the baseline ({before['seconds']:.0f} s)"
                    run.add(what, f"{difference:+.3f}", "at least 0", difference >= -EQUAL)
            below = sample.score(run.learn(sample, max_parents=4)) - score
            print(f"info  {sample.name}, sa: {below:.1f} below the classical search, {seconds:.2f} s", flush=True)
    words = [sys.executable, str(HERE.parent / "annealer.py"), "--check", "--no-store"]
    status = subprocess.run(words).returncode
    run.add("benchmarks/annealer.py --check: exit status", status, "0", status == 0)


def check_workers(run: Acceptance) -> None:
    for sample in run.samples("alarm", "hepar2", "win95pts", most=2):
        one, two = (run.learn(sample, cores=cores) for cores in (1, 2))
        scores = [[(score, stage) for _, score, stage, *_ in record["trace"]] for record in (one, two)]
        same = one["edges"] == two["edges"] and scores[0] == scores[1]
        run.add(f"{sample.name}: same edges and trace with 1 and 2 workers", "yes" if same else "no", "yes", same)


def check_memory(run: Acceptance) -> None:
    if not run.has_baseline("memory"):
        return
    for sample in run.samples("alarm", "hailfinder", "munin1", most=1):
        peaks = []
        for baseline in (False, True):  # the first run compiles
            peaks.append(min(run.learn(sample, baseline, warm_up=False)["memory"] for _ in range(2)))
        what = f"{sample.name}: peak memory {peaks[0]:.2f} GB, baseline {peaks[1]:.2f} GB, ratio"
        run.add(what, f"{peaks[0] / peaks[1]:.2f}", "at most 1.2", peaks[0] <= 1.2 * peaks[1])


def _end(record: Record) -> str:
    """Return when a search had its best score, and when it ended."""
    return f"best at {seconds_to_best(record):.2f} s, end at {record['seconds']:.2f} s"


def _cpu_seconds(words: list[str]) -> float:
    """Run a command and return its CPU time."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run(words, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


PARTS: dict[str, Callable[[Acceptance], None]] = {
    "anytime": check_anytime,
    "known": check_known,
    "win95pts": check_win95pts,
    "large": check_large,
    "faster": check_faster,
    "wide": check_wide,
    "scores": check_scores,
    "small": check_small,
    "startup": check_startup,
    "annealer": check_annealer,
    "workers": check_workers,
    "memory": check_memory,
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("parts", nargs="*", metavar="PART", help=", ".join(PARTS))
    parser.add_argument("--baseline", type=Path, metavar="CHECKOUT", help="clone of commit 7f874b9")
    parser.add_argument("--peers", type=Path, default=Path(sys.executable), metavar="PYTHON", help="Python with the peers")
    parser.add_argument(OPTION[0], **OPTION[1])
    parser.add_argument("--only", nargs="+", default=[], metavar="NETWORK", help="leave out all other networks")
    parser.add_argument("--data-seeds", type=int, nargs="+", default=[1, 2, 3, 4, 5], metavar="SEED")
    parser.add_argument("--searches", type=int, nargs="+", default=[0, 1, 2, 3, 4], metavar="SEED", help="search seeds")
    parser.add_argument("--references", type=int, default=20, metavar="N", help="search seeds of a reference in `small`")
    parser.add_argument("--rows", type=int, nargs="+", default=[200, 500, 1_000], metavar="N", help="rows in `small`")
    parser.add_argument("--baseline-samples", type=int, default=2, metavar="N", help="samples in `faster`")
    parser.add_argument("--records", type=Path, metavar="FILE", help="append each search as a line of JSON")
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
