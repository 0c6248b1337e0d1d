"""All benchmarks, each in a process of its own: `make bench`, or `python benchmarks/run.py NAME ...`."""

import subprocess
import sys
from pathlib import Path

NAMES = ("qubo", "table", "exact", "exhaustive", "subqubos", "tiles", "learn", "start")

if __name__ == "__main__":
    folder = Path(__file__).parent
    for name in sys.argv[1:] or NAMES:
        print(f"{name}", flush=True)
        subprocess.run([sys.executable, folder / f"{name}.py"], check=True)
