"""Many variables: dagneal's command line beside pybnesian's hill climb, on the same 10,000 rows of a random sparse network.

Use: python wide.py [N...]   1000 variables by default
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

import dagneal as dn

sys.path.insert(0, str(HERE.parent))
from measure import dagneal, line
from scale import network


def ours(rows: Path) -> dict[str, Any]:
    """All of `dagneal learn`, from the file to the result."""
    found = rows.with_name("out.json")
    begun = time.perf_counter()
    process = subprocess.Popen([dagneal(), "learn", str(rows), "-o", str(found), "--quiet"], stdout=subprocess.DEVNULL)
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


def main(counts: list[int]) -> None:
    for count in counts:
        truth = network(count)
        with tempfile.TemporaryDirectory() as folder:
            rows = Path(folder) / "rows.csv"
            truth.sample(ROWS, 1).frame().write_csv(rows)
            data = dn.read(rows)
            both = {
                name: judged(run(rows), truth, data) for name, run in (("dagneal learn", ours), ("pybnesian climb", theirs))
            }
        for name, found in both.items():
            figures = f"{found['seconds']:.1f} s, {found['memory']:.2f} GB"
            line(f"{count} variables, {name}", figures, f"score {found['score']:,.1f}, CPDAG distance {found['cpdag']}")
        apart = both["dagneal learn"]["score"] - both["pybnesian climb"]["score"]
        line("dagneal's score above pybnesian's", f"{apart:,.1f} nats", "at least 0")


if __name__ == "__main__":
    main([int(word) for word in sys.argv[1:]] or [1000])
