"""`dagneal learn` of a million rows in a CSV file, against polars' own reading of it."""

import os
import sys
import tempfile

from measure import best_of, command, dagneal, line, peak_memory

with tempfile.TemporaryDirectory() as folder:
    path = os.path.join(folder, "waste.csv")
    command(dagneal(), "sample", "waste", "--rows", "1000000", "-o", path)
    command(dagneal(), "learn", path)  # compiles
    ours = best_of(lambda: command(dagneal(), "learn", path), 3)
    memory = peak_memory(children=True)
    inside = f"import time, polars; t = time.perf_counter(); polars.read_csv({path!r}); print(time.perf_counter() - t)"
    theirs = min(float(os.popen(f'{sys.executable} -c "{inside}"').read()) for _ in range(3))
    line(
        "dagneal learn, 10^6 x 9 CSV, the whole command",
        f"{ours:.2f} s",
        f"at most {2 * theirs + 2:.2f} s (2 x polars + 2 s)",
    )
    line("polars.read_csv of the same file", f"{theirs:.2f} s")
    line("peak memory", f"{memory:.2f} GB")
