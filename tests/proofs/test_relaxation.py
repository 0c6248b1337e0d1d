"""The linear relaxation: linear programmes on which the simplex method goes in circles."""

from dataclasses import replace

import networkx as nx
import numpy as np
import pytest

from dagneal.proofs import Families, check_proof, prove, relaxation
from dagneal.solvers.exact import exact
from support.reference import candidate_table


@pytest.fixture(scope="module")
def near_ties():
    """A table in which many scores differ by less than 10^-6. HiGHS goes in circles on one of its programmes."""
    generator = np.random.default_rng(438)
    n, kind = int(generator.integers(5, 15)), ("noise", "additive", "oversize")[generator.integers(3)]
    table = candidate_table(n, int(generator.integers(1, 5)), int(generator.integers(1 << 30)), kind)
    scores = np.round(table.scores / 50) + 1e-7 * generator.integers(-9, 9, len(table.scores))
    return replace(table, scores=scores)


def test_an_attempt_ends_although_the_simplex_method_goes_in_circles(near_ties, monkeypatch):
    ends = []
    run = relaxation.Relaxation._run

    def record(self):
        run(self)
        ends.append(self._highs.getModelStatus().name)

    monkeypatch.setattr(relaxation.Relaxation, "_run", record)
    attempt = prove(near_ties, nx.empty_graph(near_ties.names, create_using=nx.DiGraph), work=2e7)
    assert "kIterationLimit" in ends
    assert ends[-1] == "kOptimal"
    assert attempt.bound.score >= attempt.score


def test_bounds_hold_if_no_method_solves_the_programme(near_ties, monkeypatch):
    monkeypatch.setattr(relaxation, "_STEPS", 0.1)
    attempt = prove(near_ties, exact(near_ties).dag, work=2e6)
    families = Families.of(near_ties)
    assert attempt.bound.score >= exact(near_ties).score - 1e-6
    assert families.score(check_proof(attempt.proof, families)) == pytest.approx(attempt.bound.score, abs=2e-6)
