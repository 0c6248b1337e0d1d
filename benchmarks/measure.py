"""Small helpers for measuring."""

import os
import resource
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any


def best_of(work: Callable[[], Any], times: int = 5) -> float:
    """The shortest of several runs, in seconds."""
    shortest = float("inf")
    for _ in range(times):
        begun = time.perf_counter()
        work()
        shortest = min(shortest, time.perf_counter() - begun)
    return shortest


def timed(work: Callable[[], Any]) -> tuple[float, Any]:
    begun = time.perf_counter()
    result = work()
    return time.perf_counter() - begun, result


def one_core() -> None:
    """Keep this process on one core, where the system can."""
    if hasattr(os, "sched_setaffinity"):
        os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})


def peak_memory(children: bool = False) -> float:
    """The most memory this process (or its largest child) has had, in GB."""
    status = Path("/proc/self/status")
    if not children and status.exists():  # of this process alone; what getrusage tells begins with the parent's
        return next(int(line.split()[1]) for line in status.read_text().splitlines() if line.startswith("VmHWM")) / 1e6
    who = resource.RUSAGE_CHILDREN if children else resource.RUSAGE_SELF
    return resource.getrusage(who).ru_maxrss / 1e6


def command(*words: str, **environment: str) -> float:
    """The time a command takes as a user sees it; its output is dropped."""
    begun = time.perf_counter()
    subprocess.run(words, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, env=os.environ | environment)
    return time.perf_counter() - begun


def line(what: str, value: str, target: str = "") -> None:
    print(f"  {what:66} {value:>14}   {target}", flush=True)


def dagneal() -> str:
    return os.path.join(os.path.dirname(sys.executable), "dagneal")
