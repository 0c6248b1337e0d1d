"""Compare the dagneal command with pybnesian's hill climbing on 10,000 rows of a random sparse network with many variables.

Usage: python benchmarks/peers/wide.py [N...]   1000 variables by default
"""

import json
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

from run import HERE, ROWS, evaluate
from tools import harness

import dagneal as dn

sys.path.append(str(HERE.parent))
from scale import random_network

SETTINGS = ("--score", "bdeu:1", "--max-parents", "4", "--quiet")


def run_dagneal(rows: Path) -> dict[str, Any]:
    """Run the complete `dagneal learn` command, from the file to the result."""
    output = rows.with_name("out.json")
    start = time.perf_counter()
    words = [harness.dagneal_command(), "learn", str(rows), "-o", str(output), *SETTINGS]
    process = subprocess.Popen(words, stdout=subprocess.DEVNULL)
    _, status, used = os.wait4(process.pid, 0)
    assert status == 0
    seconds = time.perf_counter() - start
    return {"edges": json.loads(output.read_text())["edges"], "seconds": seconds, "memory": used.ru_maxrss / 1e6}


def run_pybnesian(rows: Path) -> dict[str, Any]:
    """Run pybnesian's search, timed without imports and reading."""
    words = [sys.executable, str(HERE / "tools.py"), "pybnesian climb", str(rows), "1"]
    done = subprocess.run(words, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout.strip().splitlines()[-1])


def main(bench: harness.Benchmark, counts: list[int]) -> None:
    """Compare both tools on networks with the given numbers of variables."""
    tools = {"dagneal learn": run_dagneal}
    if not bench.small:
        tools["pybnesian climb"] = run_pybnesian
    for count in counts:
        truth = random_network(count)
        with tempfile.TemporaryDirectory() as folder:
            rows = Path(folder) / "rows.csv"
            truth.sample(ROWS, 1).frame().write_csv(rows)
            data = dn.read(rows)
            both = {name: evaluate(run(rows), truth, data) for name, run in tools.items()}
        for name, figures in both.items():
            note = f"score {figures['score']:,.1f}, CPDAG distance {figures['cpdag']}"
            bench.seconds(f"{count} variables, {name}", figures["seconds"], note=note)
            bench.memory(f"{count} variables, {name}, memory", figures["memory"])
        bench.exact(f"{count} variables, score", repr(both["dagneal learn"]["score"]))
        if "pybnesian climb" in both:
            difference = both["dagneal learn"]["score"] - both["pybnesian climb"]["score"]
            bench.gain(f"{count} variables, log score of dagneal minus that of pybnesian", difference, at_least=0)


if __name__ == "__main__":
    with harness.start("wide", __doc__, ("counts", {"nargs": "*", "type": int})) as benchmark:
        main(benchmark, benchmark.options.counts or [30 if benchmark.small else 1000])
