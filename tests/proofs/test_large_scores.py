"""Proofs for very low scores, such as those of millions of rows."""

from dataclasses import replace

import networkx as nx
import numpy as np
import pytest

from dagneal.proofs import Families, check_proof, prove
from dagneal.proofs.families import MAX_COST, UNITS
from dagneal.solvers.exact import exact
from support.reference import candidate_table, join_table


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


def test_a_network_that_is_better_because_of_a_family_that_is_left_out_is_not_excluded():
    """The best network has the most expensive family of v0, which is left out. All other networks cost 900,000."""
    names = ("v0", "v1", "v2", "v3")
    masks = [np.array([[0], [7]], dtype=np.uint64), *[np.array([[0], [1]], dtype=np.uint64)] * 3]
    scores = [np.array([-600_000.0, 0.0]), *[np.array([-300_000.0, 0.0])] * 3]
    table = join_table(names, 3, [np.delete(np.arange(4), child) for child in range(4)], masks, scores)
    attempt = prove(table, nx.DiGraph([(name, "v0") for name in names[1:]]))
    assert exact(table).score == -600_000.0
    assert (attempt.score, attempt.optimal, attempt.bound.stopped) == (-900_000.0, False, "effort")
    assert attempt.bound.score == -MAX_COST
    assert check_proof(attempt.proof, Families.of(table)) == MAX_COST * UNITS


@pytest.mark.parametrize("seed", [0, 10, 33])
def test_proofs_with_very_large_multipliers_are_accepted(seed):
    """The multipliers of the relaxation are so large that 64-bit integers could overflow."""
    table = candidate_table(8, 2, seed, "additive")
    table = replace(table, scores=1000.0 * table.scores)
    attempt, families = prove(table), Families.of(table)
    assert attempt.optimal
    assert attempt.score == pytest.approx(exact(table).score)
    assert families.score(check_proof(attempt.proof, families)) == pytest.approx(attempt.score)


def test_costs_above_the_limit_of_a_family_are_proved_if_no_family_is_left_out():
    table = candidate_table(12, 2, 1, "additive")
    table = replace(table, scores=700.0 * table.scores)
    attempt, families = prove(table), Families.of(table)
    assert families.score(0) - attempt.score > MAX_COST
    assert attempt.optimal
    assert attempt.score == pytest.approx(exact(table).score)
    assert families.score(check_proof(attempt.proof, families)) == pytest.approx(attempt.score)
