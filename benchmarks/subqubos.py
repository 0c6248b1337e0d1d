"""Build the QUBOs of all subproblems of alarm-15 from its scores, and compare with the paper's time for k = 9 (Table 8)."""

from itertools import combinations

import harness

import dagneal as dn

ENCODING = dn.PAPER

if __name__ == "__main__":
    with harness.start("subqubos", __doc__) as bench:
        table = dn.scoring.score_table(dn.load("alarm-15").expected_data(10_000), dn.BDeu(1.0), 2)

        def build(size: int) -> int:
            subproblems = table.gather(list(combinations(range(15), size)))
            encoded = dn.qubo.qubos(subproblems, ENCODING)
            return len([encoded.model(line) for line in range(len(subproblems.members))])

        build(3)  # compiles the kernels
        for size in (3,) if bench.small else (3, 4, 5, 6, 9, 12):
            seconds, count = harness.time_of(lambda size=size: build(size))
            at_most, note = (2.0, "the paper: 11,370 s") if size == 9 else (None, "")
            bench.seconds(f"{count:,} QUBOs of {size} variables, encoding {ENCODING.name}", seconds, at_most, note)
