"""The paper's exhaustive search of lung-cancer, 2^20 settings."""

from measure import best_of, line

import dagneal as dn

for name, paper in (("monty-hall", 0.04), ("lung-cancer-4", 0.42), ("lung-cancer", 137.53)):
    table = dn.scoring.score_table(dn.load(name).expected(10_000))
    dn.solvers.exhaustive(table)
    ours = best_of(lambda table=table: dn.solvers.exhaustive(table))
    line(f"{name} (the paper: {paper} s)", f"{ours:.4f} s", f"{paper / ours:,.0f} times faster")
