"""Complete lists of parent sets: compare with the pruned score table."""

import numpy as np
import pytest

import dagneal as dn
from dagneal.base.errors import OutOfTimeError
from dagneal.scoring.complete import _combinations, complete_cost, complete_sets
from support.reference import random_data, random_probabilities
from support.sets import pruned_dict, sets_dict


@pytest.mark.parametrize("rows", [200, 3000])  # counted in different ways
@pytest.mark.parametrize("most", [0, 1, 2, 3, 4])
@pytest.mark.parametrize("score", ["bdeu", "bdeu:10", "bdeu-rows", "bic", "qnml"])
def test_complete_sets_equal_the_pruned_table(score, most, rows):
    data = random_data(9, rows, 3, arities=[2, 3, 2, 5, 2, 11, 2, 3, 2])
    scorer = dn.scoring.Scorer(data, score)
    found, expected = sets_dict(complete_sets(scorer, most), data.names), pruned_dict(scorer.table(most))
    assert found.keys() == expected.keys()
    assert all(found[key] == pytest.approx(expected[key], abs=1e-9) for key in expected)


def test_complete_sets_of_many_variables_equal_the_pruned_table():
    data = random_data(70, 100, 4, arities=[2] * 70)
    scorer = dn.scoring.Scorer(data)
    sets = complete_sets(scorer, 2)
    assert sets_dict(sets, data.names) == pytest.approx(pruned_dict(scorer.table(2)), abs=1e-9)


def test_complete_sets_have_no_forbidden_parents():
    data = dn.load("alarm-15").sample(500, 1)
    first, second = data.names[:2]
    scorer = dn.scoring.Scorer(data, knowledge={"forbidden": [[first, second]]})
    found = sets_dict(complete_sets(scorer, 3), data.names)
    assert found == pytest.approx(pruned_dict(scorer.table(3)), abs=1e-9)
    assert not any(child == second and first in parents for child, parents in found)


@pytest.mark.parametrize("rows", [200, 3000])
def test_complete_sets_with_probabilities_of_edges_equal_the_pruned_table(rows):
    data = random_data(9, rows, 3, arities=[2, 3, 2, 5, 2, 11, 2, 3, 2])
    for score in ("bdeu", "qnml"):
        scorer = dn.scoring.Scorer(data, score, {"probabilities": random_probabilities(data.names, rows)})
        found, expected = sets_dict(complete_sets(scorer, 3), data.names), pruned_dict(scorer.table(3))
        assert found == pytest.approx(expected, abs=1e-9)


def test_number_of_threads_does_not_change_complete_sets():
    data = dn.load("alarm-15").sample(500, 1)
    one, three = (complete_sets(dn.scoring.Scorer(data, workers=workers), 3) for workers in (1, 3))
    assert all(np.array_equal(a, b) for a, b in zip(one, three, strict=True))


def test_combinations_are_in_the_order_of_their_ranks():
    rows = np.concatenate([*_combinations(6, 3)])
    keys = [tuple(reversed(row)) for row in rows.tolist()]
    assert len(keys) == 20
    assert keys == sorted(set(keys))


def test_scores_that_depend_on_the_child_are_not_supported():
    data = random_data(5, 100, 1)
    for score in ("k2", "fnml", "bds"):
        assert complete_cost(dn.scoring.Scorer(data, score), 2) == float("inf")
    assert complete_cost(dn.scoring.Scorer(data, "bdeu"), 2) < float("inf")


def test_complete_sets_obey_the_deadline():
    data = random_data(9, 100, 1)
    scorer = dn.scoring.Scorer(data, run=dn.Run(deadline=dn.Deadline(0.0)))
    with pytest.raises(OutOfTimeError):
        complete_sets(scorer, 3)
