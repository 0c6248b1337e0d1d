"""Many variables: dagneal's command line beside pybnesian's hill climb, on the same 10,000 rows of a random sparse network.

Use: python benchmarks/peers/wide.py [N...]   1000 variables by default
"""

import json
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

from run import HERE, ROWS, judged
from tools import harness

import dagneal as dn

sys.path.append(str(HERE.parent))
from scale import network

SETTINGS = ("--score", "bdeu:1", "--max-parents", "4", "--quiet")


def ours(rows: Path) -> dict[str, Any]:
    """All of `dagneal learn`, from the file to the result."""
    found = rows.with_name("out.json")
    begun = time.perf_counter()
    words = [harness.dagneal_command(), "learn", str(rows), "-o", str(found), *SETTINGS]
    process = subprocess.Popen(words, stdout=subprocess.DEVNULL)
    _, status, used = os.wait4(process.pid, 0)
    assert status == 0
    seconds = time.perf_counter() - begun
    return {"edges": json.loads(found.read_text())["edges"], "seconds": seconds, "memory": used.ru_maxrss / 1e6}


def theirs(rows: Path) -> dict[str, Any]:
    """pybnesian's search alone, without imports and reading."""
    words = [sys.executable, str(HERE / "tools.py"), "pybnesian climb", str(rows), "1"]
    done = subprocess.run(words, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout.strip().splitlines()[-1])


def main(bench: harness.Benchmark, counts: list[int]) -> None:
    """Compare both on networks of so many variables."""
    tools = {"dagneal learn": ours} if bench.small else {"dagneal learn": ours, "pybnesian climb": theirs}
    for count in counts:
        truth = network(count)
        with tempfile.TemporaryDirectory() as folder:
            rows = Path(folder) / "rows.csv"
            truth.sample(ROWS, 1).frame().write_csv(rows)
            data = dn.read(rows)
            both = {name: judged(run(rows), truth, data) for name, run in tools.items()}
        for name, found in both.items():
            note = f"score {found['score']:,.1f}, CPDAG distance {found['cpdag']}"
            bench.seconds(f"{count} variables, {name}", found["seconds"], note=note)
            bench.memory(f"{count} variables, {name}, memory", found["memory"])
        bench.exact(f"{count} variables, score", repr(both["dagneal learn"]["score"]))
        if "pybnesian climb" in both:
            apart = both["dagneal learn"]["score"] - both["pybnesian climb"]["score"]
            bench.gain(f"{count} variables, dagneal's log score above pybnesian's", apart, at_least=0)


if __name__ == "__main__":
    with harness.start("wide", __doc__, ("counts", {"nargs": "*", "type": int})) as benchmark:
        main(benchmark, benchmark.options.counts or [30 if benchmark.small else 1000])
