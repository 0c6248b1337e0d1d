"""How long a user waits: for help, for the first run after installation, for the second."""

import os
import tempfile

from measure import best_of, command, dagneal, line

line("dagneal --help", f"{best_of(lambda: command(dagneal(), '--help')):.3f} s", "at most 0.5 s")
with tempfile.TemporaryDirectory() as folder:
    path, cache = os.path.join(folder, "lc.csv"), os.path.join(folder, "cache")
    command(dagneal(), "sample", "lung-cancer", "-o", path)

    def learn(*more: str) -> float:
        return command(dagneal(), "learn", path, *more, NUMBA_CACHE_DIR=cache)

    first = learn()
    second = best_of(learn, 3)
    line("dagneal learn of a small file, nothing compiled yet", f"{first:.2f} s")
    line("the same again", f"{second:.2f} s", "at most 2 s")
    annealed = learn("--solver", "sa") - best_of(lambda: learn("--solver", "sa"), 2)
    searched = learn("--solver", "exhaustive") - best_of(lambda: learn("--solver", "exhaustive"), 2)
    line(
        "compilation: exact, then annealing, then exhaustive search",
        f"{first - second:.1f} + {annealed:.1f} + {searched:.1f} s",
        "at most 20 s",
    )
