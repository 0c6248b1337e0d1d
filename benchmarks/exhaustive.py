"""Measure exhaustive search, as in the paper: up to 2^20 assignments of the QUBO variables (lung-cancer)."""

import harness

import dagneal as dn

PAPER_SECONDS = {"monty-hall": 0.04, "lung-cancer-4": 0.42, "lung-cancer": 137.53}

if __name__ == "__main__":
    with harness.start("exhaustive", __doc__) as bench:
        for name in list(PAPER_SECONDS)[: 1 if bench.small else None]:
            table = dn.scoring.score_table(dn.load(name).expected_data(10_000), dn.BDeu(1.0), 2)
            score = dn.solvers.exhaustive(table).score
            ours = bench.time(name, lambda table=table: dn.solvers.exhaustive(table))
            bench.exact(f"{name}, score", repr(score))
            bench.info(f"{name}, times faster than the paper", PAPER_SECONDS[name] / ours)
