"""Proofs for very low scores, such as those of millions of rows."""

from dataclasses import replace

import pytest

from dagneal.proofs import Families, check_proof, prove
from dagneal.solvers.exact import exact
from support.reference import candidate_table


@pytest.mark.parametrize("shift", [1e6, 1e7, 1e9])
def test_bounds_of_very_low_scores_are_correct(shift):
    """The sum of these scores, in units of 2^-40 nats, does not fit into 64 bits."""
    table = candidate_table(10, 3, 1)
    low = replace(table, scores=table.scores - shift)
    for work in (1e5, 1e6):
        attempt, expected = prove(low, work=work), prove(table, work=work)
        assert attempt.bound.score + 10 * shift == pytest.approx(expected.bound.score, abs=1e-4)
        assert attempt.trace[-1][2] == pytest.approx(attempt.bound.score, abs=1e-4)
        families = Families.of(low)
        assert families.score(check_proof(attempt.proof, families)) == pytest.approx(attempt.bound.score, abs=1e-4)
    assert attempt.score == pytest.approx(exact(low).score, abs=1e-4)
