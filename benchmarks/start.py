"""Measure start-up times: the help, the first run after installation and the second run."""

import os
import tempfile

import harness

SETTINGS = ("--score", "bdeu:1", "--max-parents", "2")

if __name__ == "__main__":
    with harness.start("start", __doc__) as bench, tempfile.TemporaryDirectory() as folder:
        program, times = harness.dagneal_command(), 1 if bench.small else 3
        bench.time("dagneal --help", lambda: harness.run_command(program, "--help"), times, at_most=0.5)
        path, cache = os.path.join(folder, "lc.csv"), os.path.join(folder, "cache")
        harness.run_command(program, "sample", "lung-cancer", "--rows", "10000", "-o", path)

        def learn(*more: str) -> float:
            return harness.run_command(program, "learn", path, *SETTINGS, *more, NUMBA_CACHE_DIR=cache)

        def compilation(name: str) -> float:
            return learn("--solver", name) - harness.best_of(lambda: learn("--solver", name), times)

        first = learn()
        second = harness.best_of(learn, times)
        bench.seconds("dagneal learn of a small file, first run (compiles)", first)
        bench.seconds("dagneal learn of a small file, second run", second, at_most=2)
        parts = {"exact search": first - second}
        if not bench.small:
            parts |= {"annealing": compilation("sa"), "exhaustive search": compilation("exhaustive")}
        for name, seconds in parts.items():
            bench.info(f"compilation of {name}", seconds, "s")
        bench.seconds("compilation, total", sum(parts.values()), at_most=20)
