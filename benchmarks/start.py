"""Measure start-up: the CPU time of short commands, and the compilation before the first run and by `dagneal warm-up`."""

import os
import tempfile

import harness

if __name__ == "__main__":
    with harness.start("start", __doc__) as bench, tempfile.TemporaryDirectory() as folder:
        program, times = harness.dagneal_command(), 1 if bench.small else 5
        path, cache = os.path.join(folder, "lc.csv"), os.path.join(folder, "cache")
        harness.run_command(program, "sample", "lung-cancer", "--rows", "1000", "-o", path)

        def run(*words: str) -> float:
            return harness.run_command(program, *words, NUMBA_CACHE_DIR=cache)

        def cpu_seconds(*words: str) -> float:
            return min(harness.cpu_time(lambda: run(*words)) for _ in range(times))

        first = run("learn", path)
        second = min(run("learn", path) for _ in range(times))
        bench.seconds("dagneal --help, CPU", cpu_seconds("--help"), at_most=0.5)
        bench.seconds("dagneal learn of a small file, CPU", cpu_seconds("learn", path), at_most=0.8)
        bench.seconds("compilation before the first dagneal learn, wall", first - second, at_most=8)
        if not bench.small:
            bench.info("remaining compilation by dagneal warm-up, wall", run("warm-up"), "s")
