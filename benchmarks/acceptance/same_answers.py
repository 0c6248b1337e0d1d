"""Compare an earlier version with this version: the same scores and edges to the last digit, and no slower.

Usage: python benchmarks/acceptance/same_answers.py CHECKOUT [--times N] [--only TEXT] [--answers]

CHECKOUT is a clone of an earlier commit with its own virtual environment (`make .venv/installed`). Cases with the emulated
quantum annealer also need `.venv/bin/pip install -e '.[qpu]'` there, and are skipped without it. Three processes run the
cases in turn, so that all see the same load: two of the earlier version and one of this version. The best of N repetitions
counts, seven by default. The two processes of the earlier version run the same code; the relative difference of their times
is the spread. A case is too slow if its time grows by more than 5% plus the spread. `--answers` compares answers only.
"""

from __future__ import annotations

import argparse
import contextlib
import gc
import hashlib
import io
import json
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve()
SLOWER = 0.05
SHORTEST = 0.1  # seconds: shorter cases run several times per repetition
SMALL_SA = {"solver": "sa", "reads": 20}
DWAVE = "dwave.samplers:SimulatedAnnealingSampler"  # `--solver sa` meant this sampler in earlier versions
RULES = {"leaves": ["Dyspnoea"], "forbidden": [["Smoker", "Cancer"]]}

# Network (bundled, or random:N for N variables), rows (0 for expected data), seed, and differences from `learn(data)`.
LEARN_CASES: dict[str, dict[str, Any]] = {
    "auto, lung-cancer": {"network": "lung-cancer", "rows": 0, "seed": 1},
    "auto, alarm-15": {"network": "alarm-15", "rows": 10_000, "seed": 1},
    "auto, alarm-15, BIC, 3 parents": {"network": "alarm-15", "rows": 5_000, "seed": 2, "score": "BIC", "max_parents": 3},
    "auto, waste-2p-dep, K2": {"network": "waste-2p-dep", "rows": 2_000, "seed": 3, "score": "K2"},
    "auto, 30 variables": {"network": "random:30", "rows": 5_000, "seed": 1},
    "auto, 40 variables, 3 parents": {"network": "random:40", "rows": 2_000, "seed": 2, "max_parents": 3},
    "auto, 80 variables": {"network": "random:80", "rows": 2_000, "seed": 1},
    "auto, rules": {"network": "lung-cancer", "rows": 1_000, "seed": 1, "knowledge": RULES},
    "exact, alarm-15": {"network": "alarm-15", "rows": 2_000, "seed": 1, "solver": "exact", "max_parents": 3},
    "exact, waste, warm": {"network": "waste", "rows": 0, "seed": 1, "solver": "exact", "max_parents": 2},
    "order, alarm-15": {"network": "alarm-15", "rows": 2_000, "seed": 1, "solver": "order", "max_parents": 3},
    "order, 30 variables, initial DAG": {
        "network": "random:30",
        "rows": 1_000,
        "seed": 3,
        "solver": "order",
        "initial": True,
    },
    "exhaustive, lung-cancer": {"network": "lung-cancer", "rows": 1_000, "seed": 1, "solver": "exhaustive"},
    "sa, lung-cancer": {"network": "lung-cancer", "rows": 10_000, "seed": 7, **SMALL_SA},
    "sa, alarm-15": {"network": "alarm-15", "rows": 5_000, "seed": 1, **SMALL_SA},
    "sa, direct, waste": {"network": "waste", "rows": 0, "seed": 1, "direct": True, **SMALL_SA},
    "sa, direct, paper, raw, lung-cancer": {
        "network": "lung-cancer",
        "rows": 0,
        "seed": 1,
        "direct": True,
        "encoding": "PAPER",
        "repair": False,
        "solver": "sa",
        "reads": 100,
    },
    "sa, direct, num_sweeps, rules": {
        "network": "lung-cancer",
        "rows": 1_000,
        "seed": 5,
        "direct": True,
        "knowledge": RULES,
        "parameters": {"num_sweeps": 500},
        **SMALL_SA,
    },
    "sqa, direct": {"network": "lung-cancer", "rows": 1_000, "seed": 1, "direct": True, "solver": "sqa", "reads": 10},
    "greedy, direct": {"network": "waste", "rows": 1_000, "seed": 1, "direct": True, "solver": "greedy", "reads": 50},
    "random, direct": {"network": "waste", "rows": 1_000, "seed": 1, "direct": True, "solver": "random", "reads": 200},
    "divide 4, conquer, cover:2": {
        "network": "alarm-15",
        "rows": 5_000,
        "seed": 1,
        "divide": 4,
        "choice": "cover:2",
        "max_parents": 4,
    },
    "divide 3, sample, conquer": {"network": "random:30", "rows": 1_000, "seed": 2, "divide": 3, "choice": "sample:0.3"},
    "divide 4, penalty": {"network": "alarm-15", "rows": 0, "seed": 1, "divide": 4, "combine": "penalty", "max_parents": 2},
    "divide 4, count, acyclic": {
        "network": "waste",
        "rows": 500,
        "seed": 1,
        "divide": 4,
        "combine": "count",
        "acyclic": True,
        "max_parents": 2,
    },
    "divide 4, sa, penalty, paper, raw": {
        "network": "waste",
        "rows": 0,
        "seed": 1,
        "divide": 4,
        "combine": "penalty",
        "max_parents": 2,
        "encoding": "PAPER",
        "repair": False,
        **SMALL_SA,
    },
    "divide 3, sa, conquer, cover:2": {
        "network": "alarm-15",
        "rows": 2_000,
        "seed": 4,
        "divide": 3,
        "choice": "cover:2",
        **SMALL_SA,
    },
    "qpu-emulated, divide 3, penalty": {
        "network": "lung-cancer",
        "rows": 0,
        "seed": 1,
        "divide": 3,
        "combine": "penalty",
        "max_parents": 2,
        "solver": "qpu-emulated",
        "reads": 20,
        "encoding": "PAPER",
        "repair": False,
        "parameters": {"annealing_time": 1.0},
    },
    "qpu-emulated, direct": {
        "network": "lung-cancer-4",
        "rows": 0,
        "seed": 1,
        "direct": True,
        "solver": "qpu-emulated",
        "reads": 20,
        "parameters": {"annealing_time": 1.0},
    },
}
CASES: dict[str, dict[str, Any]] = {
    **{name: {"kind": "learn", **case} for name, case in LEARN_CASES.items()},
    "score table, 37 variables": {"kind": "table", "network": "random:37", "rows": 10_000, "seed": 1, "max_parents": 2},
    "score table, 20 variables, 4 parents": {
        "kind": "table",
        "network": "random:20",
        "rows": 2_000,
        "seed": 1,
        "max_parents": 4,
    },
    "QUBO of alarm-15, paper": {"kind": "encode", "network": "alarm-15", "rows": 0, "seed": 1, "encoding": "PAPER"},
    "QUBO of alarm-15, tight": {"kind": "encode", "network": "alarm-15", "rows": 0, "seed": 1, "encoding": "TIGHT"},
    "bootstrap, lung-cancer": {"kind": "bootstrap", "network": "lung-cancer", "rows": 1_000, "seed": 1, "samples": 20},
    "bootstrap, 24 variables": {"kind": "bootstrap", "network": "random:24", "rows": 500, "seed": 1, "samples": 3},
    "strengths, alarm-15": {"kind": "strengths", "network": "alarm-15", "rows": 2_000, "seed": 1},
    "bound, 30 variables": {"kind": "bound", "network": "random:30", "rows": 1_000, "seed": 1, "max_parents": 2},
    "dagneal learn": {"kind": "command", "network": "alarm-15", "rows": 5_000, "seed": 1, "words": {}},
    "dagneal learn --divide 4 --rule penalty": {
        "kind": "command",
        "network": "lung-cancer",
        "rows": 5_000,
        "seed": 1,
        "words": {"both": f"--sampler {DWAVE} --divide 4 --rule penalty --reads 50 --seed 3"},
    },
    "dagneal learn, the paper's settings": {
        "kind": "command",
        "network": "lung-cancer",
        "rows": 5_000,
        "seed": 1,
        "words": {
            "both": f"--sampler {DWAVE} --divide 4 --rule count --reads 50 --seed 3",
            "old": "--encoding paper --raw --acyclic",
            "new": "--set encoding=paper --set repair=false --set acyclic=true",
        },
    },
    "dagneal learn --bootstrap": {
        "kind": "command",
        "network": "lung-cancer",
        "rows": 5_000,
        "seed": 1,
        "words": {"both": "--bootstrap 10"},
    },
}


# Code that runs in both versions


def is_new() -> bool:
    """Return whether the installed version has solver objects."""
    import dagneal as dn

    return hasattr(dn, "Anneal")


def random_network(n: int, seed: int = 1) -> Any:
    """Return a random sparse network: two or three states, up to three parents."""
    import numpy as np

    import dagneal as dn

    generator = np.random.default_rng(seed)
    names = [f"v{i}" for i in range(n)]
    states = {name: tuple(str(s) for s in range(generator.integers(2, 4))) for name in names}
    parents, tables = {}, {}
    for position, name in enumerate(names):
        pool = names[max(0, position - 20) : position]
        count = min(len(pool), int(generator.integers(0, 4)))
        parents[name] = tuple(sorted(str(v) for v in generator.choice(pool, count, replace=False))) if count else ()
    for name in names:
        shape = [len(states[v]) for v in (*parents[name], name)]
        tables[name] = generator.dirichlet([0.5] * shape[-1], size=shape[:-1])
    return dn.BayesianNetwork(states, parents, tables)


def truth_and_data(case: dict[str, Any]) -> tuple[Any, Any]:
    """Return the network of a case and its data."""
    import dagneal as dn

    name, _, count = case["network"].partition(":")
    truth = random_network(int(count)) if count else dn.load(name)
    expected = getattr(truth, "expected_data", None) or truth.expected  # earlier versions have the shorter name
    return truth, truth.sample(case["rows"], case["seed"]) if case["rows"] else expected(10_000)


def make_sampler(name: str) -> Any:
    """Return a sampler by name."""
    from dwave import samplers

    if name == "qpu-emulated":
        from importlib import import_module

        candidates = (("dagneal.qpu.emulator", "emulated"), ("dagneal.qpu.emulate", "emulated"))
        for module, function in (*candidates, ("dagneal.qpu.emulate", "emulated_qpu")):
            with contextlib.suppress(ModuleNotFoundError, AttributeError):
                return getattr(import_module(module), function)()
        raise ImportError("the emulator is not installed")
    classes = {
        "sa": "SimulatedAnnealingSampler",
        "sqa": "PathIntegralAnnealingSampler",
        "greedy": "SteepestDescentSolver",
        "random": "RandomSampler",
    }
    return getattr(samplers, classes[name])()


def prepare_learn(case: dict[str, Any]) -> Callable[[], Any]:
    """Return a function that calls `learn`."""
    import dagneal as dn

    truth, data = truth_and_data(case)
    score = getattr(dn, case.get("score", "BDeu"))()
    knowledge = dn.Knowledge(**case["knowledge"]) if "knowledge" in case else None
    encoding = getattr(dn, case.get("encoding", "TIGHT"))
    initial = truth.dag if case.get("initial") else None
    reads = {"num_reads": case["reads"]} if "reads" in case else {}
    parameters = case.get("parameters", {})
    name = case.get("solver")
    if is_new():
        solver: Any = {"exact": dn.Exact, "order": dn.OrderSearch, "exhaustive": dn.Exhaustive, None: dn.Auto}.get(name)
        settings = {key: case[key] for key in ("direct", "repair") if key in case}
        solver = (
            dn.Anneal(make_sampler(str(name)), **reads, encoding=encoding, parameters=parameters, **settings)
            if solver is None
            else solver()
        )
        if "divide" in case:
            rule = {key: case[key] for key in ("combine", "acyclic") if key in case}
            inner = dn.Exact() if name is None else solver
            solver = dn.Divide(inner, case["divide"], case.get("choice", "all"), **rule)
        more: dict[str, Any] = {"score": score, "max_parents": case.get("max_parents"), "knowledge": knowledge}
        return lambda: dn.learn(data, solver, **more, initial=initial, seed=case["seed"])
    old: Any = {"exact": dn.exact, "order": dn.order, "exhaustive": dn.exhaustive, None: None}.get(name, "sampler")
    options: dict[str, Any] = {"knowledge": knowledge, "start": initial} | parameters | reads
    if old == "sampler":
        old = make_sampler(str(name))
        options |= {"encoding": encoding} | {key: case[key] for key in ("direct", "repair") if key in case}
    if "divide" in case:
        options |= {"divide": case["divide"], "blocks": case.get("choice", "all"), "rule": case.get("combine", "conquer")}
        options["acyclic"] = case.get("acyclic", False)
    return lambda: dn.learn(data, case.get("max_parents"), score, old, case["seed"], **options)


def describe_result(result: Any) -> dict[str, Any]:
    """Return all values of a result that must not change, as text."""
    reads = getattr(result, "reads", None) or getattr(result, "annealed", None)
    plain: dict[str, Any] = {
        "score": repr(float(result.score)),
        "edges": [list(edge) for edge in result.edges],
        "optimal": bool(result.optimal),
        "max_parents": result.max_parents,
        "bound": None if result.bound is None else repr(float(result.bound.score)),
    }
    if reads is not None:
        variables = reads.qubo_variables if hasattr(reads, "qubo_variables") else reads.bits  # the earlier version
        sizes = (variables, reads.interactions, reads.reads)
        values = (reads.lowest_energy, reads.feasible, reads.baseline, reads.repaired.score)
        plain["reads"] = [*map(int, sizes), *(repr(float(value)) for value in values)]
    if result.division is not None and result.division.votes is not None:
        plain["votes"] = [result.division.votes.tolist(), result.division.against.tolist()]
    return plain


def digest(*arrays: Any) -> str:
    """Return a hash that changes with any digit of the arrays."""
    import numpy as np

    sha = hashlib.sha256()
    for array in arrays:
        sha.update(np.ascontiguousarray(array).tobytes())
    return sha.hexdigest()


def prepare(case: dict[str, Any]) -> tuple[Callable[[], Any], Callable[[Any], Any]]:
    """Return the function to time, and a function that converts its result to plain values."""
    import dagneal as dn

    kind, new = case["kind"], is_new()
    if kind == "learn":
        return prepare_learn(case), describe_result
    _, data = truth_and_data(case)
    if kind == "command":
        return prepare_command(case, data, new)
    scoring = dn.scoring if new else dn
    table = scoring.score_table
    limit = case.get("max_parents", 2)
    if kind == "table":
        return lambda: table(data, dn.BDeu(1.0), limit), lambda result: digest(result.masks, result.scores)
    if kind == "encode":
        scores, encoding = table(data, dn.BDeu(1.0), limit), getattr(dn, case["encoding"])
        encode = dn.qubo.encode if new else dn.encode
        return lambda: encode(scores, encoding), lambda bqm: repr(sorted(map(repr, bqm.to_qubo()[0].items())))
    if kind == "bound":
        scores = table(data, dn.BDeu(1.0), limit)
        bound = dn.proofs.upper_bound if new else dn.upper_bound
        return lambda: bound(scores), repr
    if kind == "strengths":
        result = dn.learn(data, max_parents=3, seed=case["seed"])
        if new:
            return lambda: dn.strengths(result.dag, data, dn.BDeu(1.0)), list_numbers
        return lambda: dn.strengths(result, dn.BDeu(1.0)), list_numbers
    samples, seed = case["samples"], case["seed"]
    if new:
        return lambda: dn.bootstrap(data, samples, run=dn.Run(seed)), lambda result: digest(result.edges, result.directions)
    return lambda: dn.bootstrap(data, samples, seed), lambda result: digest(result.edges, result.directions)


def list_numbers(strengths: Any) -> list[str]:
    """Return the numbers of strengths, independent of field names."""
    return [repr([value for value in vars(strength).values() if not isinstance(value, str)]) for strength in strengths]


def prepare_command(case: dict[str, Any], data: Any, new: bool) -> tuple[Callable[[], Any], Callable[[Any], Any]]:
    """Return a function that runs the command line in this process, and a function that reads its output."""
    from dagneal.cli import main

    folder = tempfile.mkdtemp(dir=case["folder"])
    path = Path(folder) / "rows.csv"
    data.frame().write_csv(path)
    words = f"{case['words'].get('both', '')} {case['words'].get('new' if new else 'old', '')}".split()

    def run() -> str:
        printed = io.StringIO()
        with contextlib.redirect_stdout(printed):
            status = main(["learn", str(path), "--json", "--quiet", *words])
        if status:
            raise RuntimeError(f"exit status {status}")
        return printed.getvalue()

    def plain(printed: str) -> Any:
        result = json.loads(printed)
        return [repr(result["score"]), result["edges"], result["optimal"], result["variables"], result["data"]["rows"]]

    return run, plain


def work() -> None:
    """Run one case per input line: {"case": ..., "times": N} gives {"answer": ..., "seconds": ...}."""
    output = sys.stdout
    sys.stdout = sys.stderr
    prepared: dict[str, Any] = {}
    for line in sys.stdin:
        request = json.loads(line)
        name = request["name"]
        try:
            if name not in prepared:
                prepared = {name: prepare(request["case"])}
            run, plain = prepared[name]
            gc.collect()
            start = time.perf_counter()
            for _ in range(request["times"]):
                result = run()
            seconds = (time.perf_counter() - start) / request["times"]
            answer = {"answer": json.loads(json.dumps(plain(result))), "seconds": seconds}
        except ImportError as error:
            answer = {"skipped": str(error)}
        except Exception as error:
            answer = {"failed": f"{type(error).__name__}: {error}"}
        print(json.dumps(answer), file=output, flush=True)


# Code that compares the versions


class Worker:
    """A process of one version that runs cases.

    Args:
        python: interpreter of the virtual environment.
        folder: writable folder.
    """

    def __init__(self, python: Path, folder: str) -> None:
        self.folder = folder
        self.process = subprocess.Popen(
            [str(python), "-W", "ignore", str(HERE), "--work"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
            cwd=folder,
        )

    def ask(self, name: str, times: int = 1) -> dict[str, Any]:
        """Return the answer of a case and its time in seconds."""
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        case = CASES[name] | {"folder": self.folder}
        print(json.dumps({"name": name, "case": case, "times": times}), file=self.process.stdin, flush=True)
        line = self.process.stdout.readline()
        return json.loads(line) if line else {"failed": "the process ended"}

    def close(self) -> None:
        """End the process."""
        assert self.process.stdin is not None
        self.process.stdin.close()
        self.process.wait()


@contextlib.contextmanager
def open_workers(checkout: Path) -> Iterator[dict[str, Worker]]:
    """Yield two processes of the earlier version and one of this version."""
    python = checkout / ".venv" / "bin" / "python"
    if not python.exists():
        raise SystemExit(f"no virtual environment in {checkout}; run `make .venv/installed` there")
    with tempfile.TemporaryDirectory() as folder:
        workers = {
            "old": Worker(python, folder),
            "same": Worker(python, folder),
            "new": Worker(Path(sys.executable), folder),
        }
        try:
            yield workers
        finally:
            for worker in workers.values():
                worker.close()


def compare_answers(workers: dict[str, Worker], name: str, verdicts: Any) -> float | None:
    """Compare the answers of a case; return the seconds of a run, or None if there is nothing to time."""
    first = {key: worker.ask(name) for key, worker in workers.items()}
    old, new = first["old"], first["new"]
    if "skipped" in old or "skipped" in new:
        print(f"SKIP  {name}: {old.get('skipped') or new.get('skipped')}", flush=True)
        return None
    same = "answer" in old and "answer" in new and old["answer"] == new["answer"] == first["same"]["answer"]
    verdicts.add(f"{name}: answer", "same" if same else "differs", "same", same)
    if not same:
        for version, answer in (("old", old), ("new", new)):
            print(f"      {version}: {json.dumps(answer.get('answer') or answer)[:600]}")
        return None
    return float(workers["old"].ask(name)["seconds"])  # the first run compiled the kernels


def compare_times(workers: dict[str, Worker], name: str, repetitions: int, seconds: float, verdicts: Any) -> float:
    """Time a case in all processes in turn; return the ratio of the new time to the old time."""
    times = max(1, min(200, round(SHORTEST / max(seconds, 1e-6))))
    best = dict.fromkeys(workers, float("inf"))
    order = list(workers)
    for turn in range(repetitions):
        for key in order[turn % 3 :] + order[: turn % 3]:
            best[key] = min(best[key], workers[key].ask(name, times)["seconds"])
    ratio = best["new"] / best["old"]
    spread = max(best["same"], best["old"]) / min(best["same"], best["old"]) - 1
    figure = f"{best['old']:.4f} s -> {best['new']:.4f} s, x {ratio:.3f}"
    target = f"at most 1 + {SLOWER} + spread {spread:.3f}"
    verdicts.add(f"{name}: time", figure, target, ratio <= 1 + SLOWER + spread)
    return ratio


def main() -> None:
    """Compare all cases."""
    from verdict import Verdicts

    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("checkout", type=Path, help="a clone of an earlier commit with its own virtual environment")
    parser.add_argument("--times", type=int, default=7, metavar="N", help="repetitions (default 7)")
    parser.add_argument("--only", default="", metavar="TEXT", help="only cases whose name contains this text")
    parser.add_argument("--answers", action="store_true", help="compare answers, not times")
    options = parser.parse_args()
    verdicts = Verdicts()
    with open_workers(options.checkout.resolve()) as workers:
        for name in CASES:
            if options.only in name:
                seconds = compare_answers(workers, name, verdicts)
                if seconds is not None and not options.answers:
                    compare_times(workers, name, options.times, seconds, verdicts)
    verdicts.exit()


if __name__ == "__main__":
    if sys.argv[1:] == ["--work"]:
        work()
    else:
        main()
