"""Measure `dagneal learn` on a CSV file of a million rows, and compare with reading the file by polars."""

import os
import subprocess
import sys
import tempfile

import harness

SETTINGS = ("--score", "bdeu:1", "--max-parents", "4")


def polars_seconds(path: str) -> float:
    """Return the time of `polars.read_csv` in a separate process, without the import."""
    program = (
        "import sys, time as t, polars; t0 = t.perf_counter(); polars.read_csv(sys.argv[1]); print(t.perf_counter() - t0)"
    )
    done = subprocess.run([sys.executable, "-c", program, path], check=True, capture_output=True, text=True)
    return float(done.stdout)


if __name__ == "__main__":
    with harness.start("learn", __doc__) as bench, tempfile.TemporaryDirectory() as folder:
        rows, times = (1_000, 1) if bench.small else (1_000_000, 3)
        path, program = os.path.join(folder, "waste.csv"), harness.dagneal_command()
        harness.run_command(program, "sample", "waste", "--rows", str(rows), "-o", path)
        harness.run_command(program, "learn", path, *SETTINGS)  # compiles the kernels
        polars = min(polars_seconds(path) for _ in range(times))
        bench.time(
            f"dagneal learn, {rows:,} x 9 CSV, including start-up",
            lambda: harness.run_command(program, "learn", path, *SETTINGS),
            times,
            at_most=2 * polars + 2,
        )
        bench.memory("peak memory", harness.peak_memory(children=True))
        bench.info("polars.read_csv of the same file", polars, "s")
