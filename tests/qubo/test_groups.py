"""Tests of encoding and decoding many subproblems together. The results equal those of single subproblems."""

from itertools import combinations

import numpy as np
import pytest

import dagneal as dn
from dagneal.divide.subproblem_solvers import best_edges
from dagneal.qubo.decode import best_graphs, decode_spins
from dagneal.qubo.encode import qubo_groups, qubos
from support.reference import random_data, random_table

ENCODINGS = [dn.TIGHT, dn.PAPER, dn.Encoding("gap", "complete", prune=True), dn.Encoding("tight", "chordal", prune=False)]


def draw_subproblems(size, max_parents, kind):
    if kind == "random":
        table = random_table(7, max_parents, seed=size)
    else:
        knowledge = {"required": [("x0", "x1")], "forbidden": [("x2", "x3"), ("x4", "x0")]} if kind == "knowledge" else None
        data = random_data(7, 60, seed=size)
        edges = {
            key: [tuple(data.names[int(v[1])] for v in edge) for edge in value] for key, value in (knowledge or {}).items()
        }
        table = dn.scoring.Scorer(data, dn.BDeu(1.0), dn.Knowledge(**edges) if edges else None).table(
            max_parents, complete=True
        )
    return table.gather(list(combinations(range(7), size)))


@pytest.mark.parametrize("encoding", ENCODINGS, ids=lambda encoding: encoding.name)
@pytest.mark.parametrize(
    ("size", "max_parents", "kind"), [(3, 2, "data"), (4, 2, "knowledge"), (4, 3, "data"), (5, 3, "random")]
)
def test_groups_equal_single_subproblems(encoding, size, max_parents, kind):
    if encoding.penalties == "paper":
        max_parents = 2
    subproblems = draw_subproblems(size, max_parents, kind)
    generator = np.random.default_rng(size)
    seen = []
    for group in qubo_groups(subproblems, encoding):
        rows, encoded = group.rows, group.qubos
        seen += rows.tolist()
        shape = (len(rows), 9, encoded.layout.num_variables)
        spins = generator.choice(np.array([-1, 1], dtype=np.int8), size=shape)
        solutions = {repair: best_graphs(group.subproblems, encoded, spins, repair) for repair in (True, False)}
        for line, row in enumerate(rows):
            table = subproblems.table(row)
            single = qubos(table, encoding)
            assert single.layout.labels(table.names) == encoded.layout.labels(table.names)
            assert (single.rows.tolist(), single.columns.tolist()) == (encoded.rows.tolist(), encoded.columns.tolist())
            for name in ("linear", "quadratic", "offset"):
                assert getattr(single, name)[0].tolist() == getattr(encoded, name)[line].tolist()
            reads = decode_spins(table, encoded, line, spins[line])
            for repair, (adjacency, scores) in solutions.items():
                edges, score = best_edges(reads, repair)
                assert (adjacency[line] == edges).all()
                assert scores[line] == pytest.approx(score, rel=1e-14, nan_ok=True)
    assert sorted(seen) == list(range(len(subproblems.members)))


def test_pruning_makes_groups():
    subproblems = draw_subproblems(3, 2, "data")
    assert len(list(qubo_groups(subproblems, dn.PAPER))) == 1
    assert 1 < len(list(qubo_groups(subproblems, dn.TIGHT))) < len(subproblems.members)
    with pytest.raises(dn.InputError, match="give an Encoding"):
        next(qubo_groups(subproblems, "tight"))
