"""Upper bounds on the score."""

import pytest

import dagneal as dn
from dagneal.proofs.bound import upper_bound


@pytest.mark.parametrize("group", [1, 3, 4, 6, 14, 15])
def test_bounds_are_not_below_the_optimum(group):
    for seed in range(5):
        table = dn.scoring.score_table(dn.load("alarm-15").sample(300, seed), max_parents=2 + seed % 2)
        best = dn.solvers.exact(table).score
        bound = upper_bound(table, group).score
        assert bound >= best - 1e-9
        if group == 15:
            assert bound == pytest.approx(best)
        if group == 1:  # every child has its best parents
            highest = [table.scores[table.entries_of(child)].max() for child in range(15)]
            assert bound == pytest.approx(sum(highest))


def test_bounds_with_background_knowledge():
    knowledge = dn.Knowledge(required=[("HR", "CO")], forbidden=[("CO", "HR")], limits={"SaO2": 1})
    table = dn.scoring.Scorer(dn.load("alarm-15").sample(300, 1), knowledge=knowledge).table(2)
    best = dn.solvers.exact(table).score
    assert upper_bound(table, 15).score == pytest.approx(best)
    assert upper_bound(table, 5).score >= best - 1e-9
