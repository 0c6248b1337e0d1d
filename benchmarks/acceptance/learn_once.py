"""Learn one network in this process, and print edges, score, trace, seconds and memory as one JSON object.

Usage: python learn_once.py ROWS.csv SETTINGS

SETTINGS is a JSON object: `seed`, `max_parents` (null for the default), `solver` (`auto` or `sa`), `cores` (1 or 2),
`effort` (2 for twice the restarts), `warm_up` (false to compile during the run, for the peak memory). The score is BDeu(1),
and the encoding of `sa` is `TIGHT`. With one core, all times are CPU seconds of this process, and so are the times of the
trace. The clock starts with the coded data, after compilation. The script uses only names that dagneal also had before the
anytime search, so it can measure an earlier version.
"""

from __future__ import annotations

import json
import sys
import tempfile
import time
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np

sys.path.append(str(Path(__file__).resolve().parents[1]))
import harness

import dagneal as dn

WARM_UP = (14, 24, 70)  # numbers of variables with exact search, with a complete table, and with neither


def learn(data: dn.Dataset, settings: dict[str, Any]) -> Any:
    """Learn a network with the settings of a run."""
    more: dict[str, Any] = {}
    if settings.get("solver") == "sa":
        if hasattr(dn, "Anneal"):
            more["solver"] = dn.Anneal("sa", encoding=dn.TIGHT)
        else:
            from dwave.samplers import SimulatedAnnealingSampler

            more = {"solver": SimulatedAnnealingSampler(), "encoding": dn.TIGHT}
    limit, seed = settings.get("max_parents"), settings.get("seed", 0)
    return dn.learn(data, score=dn.BDeu(1.0), max_parents=limit, seed=seed, **more)


def compile_kernels(settings: dict[str, Any]) -> None:
    """Learn from small random data of all kinds, so that all kernels are compiled and loaded."""
    generator = np.random.default_rng(1)
    with tempfile.TemporaryDirectory() as folder:
        for n in WARM_UP:
            states = generator.choice([2, 3, 12], n)
            codes = generator.integers(0, states, (200, n))
            codes[:, 1] = codes[:, 0]  # at least one edge
            path = Path(folder) / f"{n}.csv"
            text = "\n".join([",".join(f"v{i}" for i in range(n)), *(",".join(f"s{code}" for code in row) for row in codes)])
            path.write_text(text + "\n")
            if settings.get("solver") != "sa" or n <= 24:
                learn(dn.read(path), settings | {"max_parents": 2})


def use_cpu_time() -> None:
    """Measure the times of the trace as CPU seconds. Earlier versions have no trace."""
    for name in ("dagneal.search.anytime", "dagneal.strategies.auto"):
        try:
            import_module(name).perf_counter = time.process_time
        except ImportError:
            return


def raise_effort(factor: int) -> None:
    """Multiply the rounds of restarts of the search."""
    search = import_module("dagneal.search.anytime")
    search.PATIENCE *= factor
    search.MIN_ROUNDS *= factor
    search.ROUNDS *= factor


def main(path: str, settings: dict[str, Any]) -> None:
    clock = time.perf_counter
    if settings.get("cores", 1) == 1:
        harness.use_one_core()
        use_cpu_time()
        clock = time.process_time
    if settings.get("warm_up", True):
        compile_kernels(settings)
    if settings.get("effort", 1) != 1:
        raise_effort(settings["effort"])
    data = dn.read(path)
    with dn.limits(jobs=settings.get("cores", 1)):
        start = clock()
        result = learn(data, settings)
        seconds = clock() - start
    search = getattr(result, "search", None)
    record = {
        "edges": [list(edge) for edge in result.edges],
        "max_parents": result.max_parents,
        "optimal": result.optimal,
        "trace": [] if search is None else search.summary()["trace"],
        "seconds": seconds,
        "memory": harness.peak_memory(),
    }
    print("\n" + json.dumps(record))


if __name__ == "__main__":
    main(sys.argv[1], json.loads(sys.argv[2]))
