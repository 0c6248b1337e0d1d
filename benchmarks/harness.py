"""Measure figures, compare them with the last stored run, and store them.

A benchmark names its figures and states targets; this module does the rest. Every benchmark has these options:

    --small          use the smallest sizes, only to check that the benchmark works; stored separately
    --check          exit with 1 if a target is missed, an exact figure differs, or a time or memory exceeds the last
                     stored run on the same machine by more than the tolerance; a failed run is not stored
    --tolerance X    tolerance of --check (default 0.25, which is 25%)
    --no-store       print only

The last ten runs of each benchmark are stored in benchmarks/results/NAME.json, with the machine and the versions of the
libraries, but without host names and paths.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import resource
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from types import TracebackType
from typing import Any, TypeVar

RESULTS = Path(__file__).parent / "results"
KEPT = 10  # stored runs per benchmark
TOLERANCE = 0.25
SMALLEST = 0.005  # seconds: shorter times are mostly noise and are not compared with the last run
PACKAGES = ("dagneal", "dimod", "dwave-samplers", "networkx", "numba", "numpy", "polars")

T = TypeVar("T")


@dataclass(frozen=True)
class Figure:
    """One figure of a benchmark.

    Attributes:
        value: number or text.
        unit: unit of the value.
        kind: `cost` (lower is better), `gain` (higher is better), `exact` (must not change) or `info`.
    """

    value: float | int | str
    unit: str = ""
    kind: str = "info"

    def text(self) -> str:
        """Return the value with its unit."""
        if isinstance(self.value, str):
            return self.value
        if isinstance(self.value, float):
            size = abs(self.value)
            digits = 0 if size >= 1000 else 1 if size >= 100 else 2 if size >= 1 else 4
            return f"{self.value:,.{digits}f} {self.unit}".rstrip()
        return f"{self.value:,} {self.unit}".rstrip()


class Benchmark:
    """The figures of one run of a benchmark, as a context manager.

    Args:
        name: name of the file that stores the figures.
        options: options from `parse_options`.

    Attributes:
        small: whether to use the smallest sizes.
    """

    def __init__(self, name: str, options: argparse.Namespace) -> None:
        self.name = f"{name}-small" if options.small else name
        self.small: bool = options.small
        self.options = options
        self.figures: dict[str, Figure] = {}
        self.problems: list[str] = []
        self.runs = load_runs(self.name)
        here = describe_machine()
        self.last: dict[str, Any] = next((run["figures"] for run in reversed(self.runs) if run["machine"] == here), {})

    def __enter__(self) -> Benchmark:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        if kind is not None:
            return
        failed = self.options.check and bool(self.problems)
        if not self.options.no_store and not failed:
            store_run(self.name, self.runs, self.figures)
        for problem in self.problems:
            print(f"  {'FAIL' if self.options.check else 'note'}: {problem}", flush=True)
        if failed:
            sys.exit(1)

    def time(
        self, what: str, work: Callable[[], Any], times: int = 5, at_most: float | None = None, note: str = ""
    ) -> float:
        """Measure the shortest time of several calls, add it as a figure and return it in seconds.

        Args:
            what: name of the figure.
            work: function without arguments.
            times: number of calls.
            at_most: target in seconds.
        """
        seconds = best_of(work, times)
        self.seconds(what, seconds, at_most)
        return seconds

    def seconds(self, what: str, value: float, at_most: float | None = None, note: str = "") -> None:
        """Add a time in seconds; see `time`."""
        self.add(what, Figure(float(value), "s", "cost"), at_most, note=note)

    def memory(self, what: str, value: float, at_most: float | None = None, note: str = "") -> None:
        """Add an amount of memory in GB; see `time`."""
        self.add(what, Figure(float(value), "GB", "cost"), at_most, note=note)

    def gain(self, what: str, value: float, at_least: float | None = None, unit: str = "", note: str = "") -> None:
        """Add a figure for which higher is better; see `time`."""
        self.add(what, Figure(value, unit, "gain"), at_least=at_least, note=note)

    def exact(self, what: str, value: float | int | str, equal_to: Any = None, note: str = "") -> None:
        """Add a figure that must not change from run to run, such as a score or a number of differences.

        Args:
            what: name of the figure.
            value: the figure.
            equal_to: required value; None if unknown.
            note: text at the end of the line.
        """
        if equal_to is not None and value != equal_to:
            self.problems.append(f"{what}: {value}, expected {equal_to}")
        self.add(what, Figure(value, kind="exact"), note=note)

    def info(self, what: str, value: float | int | str, unit: str = "", note: str = "") -> None:
        """Add a figure that is only printed and stored."""
        self.add(what, Figure(value, unit), note=note)

    def add(
        self, what: str, figure: Figure, at_most: float | None = None, at_least: float | None = None, note: str = ""
    ) -> None:
        """Print a figure with its ratio to the last run, and record it.

        Args:
            what: name of the figure, unique in the benchmark.
            figure: the figure.
            at_most: highest value that meets the target.
            at_least: lowest value that meets the target.
            note: text at the end of the line.
        """
        if what in self.figures:
            raise ValueError(f"two figures have the name {what!r}")
        words = [note] if note else []
        if at_most is not None:
            words.append(f"target at most {at_most:g} {figure.unit}".rstrip())
        if at_least is not None:
            words.append(f"target at least {at_least:g} {figure.unit}".rstrip())
        missed = (at_most is not None and figure.value > at_most) or (at_least is not None and figure.value < at_least)
        if missed:
            words.append("MISSED")
            self.problems.append(f"{what}: {figure.text()}, {words[-2]}")
        print(f"  {what:72} {figure.text():>14} {self.compare(what, figure):>8}   {', '.join(words)}".rstrip(), flush=True)
        self.figures[what] = figure

    def compare(self, what: str, figure: Figure) -> str:
        """Return the ratio to the last stored run on this machine, and record a problem if it exceeds the tolerance.

        Args:
            what: name of the figure.
            figure: the figure.
        """
        before = self.last.get(what, {}).get("value")
        if before is None:
            return ""
        if figure.kind == "exact":
            if before != figure.value:
                self.problems.append(f"{what}: {figure.value}, but {before} in the last run")
                return "differs"
            return "same"
        if isinstance(figure.value, str) or isinstance(before, str) or not before:
            return ""
        ratio = figure.value / before
        limit = 1 + self.options.tolerance
        noise = figure.unit == "s" and max(figure.value, before) < SMALLEST
        worse = (figure.kind == "cost" and ratio > limit) or (figure.kind == "gain" and ratio * limit < 1)
        if worse and not noise:
            self.problems.append(f"{what}: {ratio:.2f} times the last run, tolerance {self.options.tolerance:.0%}")
        return f"x {ratio:.2f}"


class Table:
    """A Markdown table whose rows are also recorded as figures.

    Args:
        benchmark: benchmark that records the figures.
        heads: headings of the columns.
    """

    def __init__(self, benchmark: Benchmark, heads: Sequence[str]) -> None:
        self.benchmark = benchmark
        print("| " + " | ".join([*heads, "ratio to the last run"]) + " |\n|" + "---|" * (len(heads) + 1), flush=True)

    def row(self, name: str, cells: Sequence[object], seconds: float | None = None, exact: Sequence[object] = ()) -> None:
        """Print a row.

        Args:
            name: name of the row, unique in the benchmark.
            cells: cells of the row.
            seconds: measured time.
            exact: figures that must not change from run to run.
        """
        words = []
        if exact:
            figure = Figure(" ".join(map(str, exact)), kind="exact")
            words.append(self._record(f"{name}, result", figure))
        if seconds is not None:
            words.append(self._record(name, Figure(float(seconds), "s", "cost")))
        print("| " + " | ".join(map(str, [*cells, ", ".join(filter(None, words))])) + " |", flush=True)

    def _record(self, what: str, figure: Figure) -> str:
        if what in self.benchmark.figures:
            raise ValueError(f"two figures have the name {what!r}")
        self.benchmark.figures[what] = figure
        return self.benchmark.compare(what, figure)


def parse_options(
    description: str | None, *arguments: tuple[str, dict[str, Any]], words: Sequence[str] | None = None
) -> Any:
    """Parse the command line of a benchmark.

    Args:
        description: module docstring of the benchmark.
        *arguments: further arguments, each a name and the keywords of `add_argument`.
    """
    parser = argparse.ArgumentParser(description=description, formatter_class=argparse.RawDescriptionHelpFormatter)
    for name, keywords in arguments:
        parser.add_argument(name, **keywords)
    parser.add_argument("--small", action="store_true", help="use the smallest sizes, only to check that it works")
    parser.add_argument("--check", action="store_true", help="exit with 1 if a target is missed or a figure is worse")
    parser.add_argument("--tolerance", type=float, default=TOLERANCE, metavar="X", help="for --check (default %(default)s)")
    parser.add_argument("--no-store", action="store_true", help="do not store the figures")
    return parser.parse_args()


def start(name: str, description: str | None, *arguments: tuple[str, dict[str, Any]]) -> Benchmark:
    """Parse the command line and return the benchmark.

    Args:
        name: name of the benchmark.
        description: module docstring of the benchmark.
        *arguments: further arguments; see `parse_options`.
    """
    return Benchmark(name, parse_options(description, *arguments))


def load_runs(name: str) -> list[dict[str, Any]]:
    """Return the stored runs of a benchmark, oldest first.

    Args:
        name: name of the benchmark.
    """
    path = RESULTS / f"{name}.json"
    if not path.exists():
        return []
    runs: list[dict[str, Any]] = json.loads(path.read_text(encoding="utf-8"))["runs"]
    return runs


def store_run(name: str, runs: list[dict[str, Any]], figures: dict[str, Figure]) -> None:
    """Store a run after the earlier runs.

    Args:
        name: name of the benchmark.
        runs: earlier runs.
        figures: figures of this run.
    """
    run = {
        "date": datetime.now(UTC).date().isoformat(),
        "machine": describe_machine(),
        "versions": installed_versions(),
        "figures": {what: vars(figure) for what, figure in figures.items()},
    }
    RESULTS.mkdir(exist_ok=True)
    text = json.dumps({"benchmark": name, "runs": [*runs, run][-KEPT:]}, indent=1, ensure_ascii=False)
    (RESULTS / f"{name}.json").write_text(text + "\n", encoding="utf-8")


def describe_machine() -> dict[str, Any]:
    """Return a description that distinguishes machines, without the host name."""
    processor = platform.processor() or platform.machine()
    info = Path("/proc/cpuinfo")
    if info.exists():
        models = [line.partition(":")[2].strip() for line in info.read_text().splitlines() if line.startswith("model name")]
        processor = models[0] if models else processor
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") if hasattr(os, "sysconf") else 0
    return {
        "system": platform.system(),
        "architecture": platform.machine(),
        "processor": processor,
        "cores": os.cpu_count(),
        "memory_gb": round(memory / 1e9),
    }


def installed_versions() -> dict[str, str]:
    """Return the versions of Python and the relevant libraries."""
    versions = {"python": platform.python_version()}
    for package in PACKAGES:
        try:
            versions[package] = version(package)
        except PackageNotFoundError:
            continue
    return versions


def best_of(work: Callable[[], Any], times: int = 5) -> float:
    """Return the shortest time of several calls, in seconds.

    Args:
        work: function without arguments.
        times: number of calls.
    """
    return min(time_of(work)[0] for _ in range(times))


def time_of(work: Callable[[], T]) -> tuple[float, T]:
    """Return the time of one call in seconds, and its result.

    Args:
        work: function without arguments.
    """
    start = time.perf_counter()
    result = work()
    return time.perf_counter() - start, result


def use_one_core() -> None:
    """Restrict this process to one core, if the system supports that."""
    if hasattr(os, "sched_setaffinity"):
        os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})


def peak_memory(children: bool = False) -> float:
    """Return the peak memory of this process in GB.

    Args:
        children: whether to return that of the largest child process instead.
    """
    status = Path("/proc/self/status")
    if not children and status.exists():  # getrusage would include memory of the parent process
        return next(int(line.split()[1]) for line in status.read_text().splitlines() if line.startswith("VmHWM")) / 1e6
    who = resource.RUSAGE_CHILDREN if children else resource.RUSAGE_SELF
    return resource.getrusage(who).ru_maxrss / 1e6


def run_command(*words: str, **environment: str) -> float:
    """Run a command without its output and return its wall time in seconds.

    Args:
        *words: words of the command.
        **environment: environment variables to change.
    """
    start_time = time.perf_counter()
    subprocess.run(words, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, env=os.environ | environment)
    return time.perf_counter() - start_time


def cpu_time(work: Callable[[], Any]) -> float:
    """Return the CPU time, in seconds, of the processes that a function starts and waits for.

    Args:
        work: function without arguments.
    """

    def used() -> float:
        usage = resource.getrusage(resource.RUSAGE_CHILDREN)
        return usage.ru_utime + usage.ru_stime

    before = used()
    work()
    return used() - before


def dagneal_command() -> str:
    """Return the path of the `dagneal` command next to this interpreter."""
    return os.path.join(os.path.dirname(sys.executable), "dagneal")
