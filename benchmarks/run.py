"""Run all benchmarks that need no further files, each in a separate process.

Usage: python benchmarks/run.py [NAME ...] [--small] [--check] [--tolerance X] [--no-store]   see benchmarks/harness.py

With `--check` the exit status is 1 if a benchmark fails.
"""

import subprocess
import sys
from pathlib import Path

NAMES = ("qubo", "table", "counting", "exact", "exhaustive", "subqubos", "tiles", "annealer", "learn", "start")


def main(words: list[str]) -> int:
    """Run benchmarks; return the exit status."""
    names = [word for word in words if word in NAMES]
    options = [word for word in words if word not in NAMES]
    status = 0
    for name in names or NAMES:
        print(name, flush=True)
        status |= subprocess.run([sys.executable, Path(__file__).parent / f"{name}.py", *options]).returncode
    return 1 if status else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
