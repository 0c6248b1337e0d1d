"""Lists of parent sets without a parent limit: compare with the pruned table of all sets."""

from math import log

import numpy as np
import pytest

import dagneal as dn
from dagneal.base.errors import OutOfTimeError
from dagneal.scoring.bounded import _count_occurring, _first_level, bounded_sets
from dagneal.scoring.complete import complete_sets
from dagneal.scoring.scores import SCORES, Bounding, Dirichlet, Likelihood
from support.reference import random_data, random_probabilities
from support.sets import pruned_dict, sets_dict

ARITIES = [2, 3, 2, 5, 2, 4, 2, 3]


def dependent_data(rows, seed):
    """Return data with relations, so that sets of several parents matter: v7 depends on four other variables."""
    data = random_data(8, rows, seed, arities=ARITIES)
    codes = np.array(data.codes)
    codes[7] = (codes[0] + codes[1] * codes[2] + codes[4] + (codes[7] == 2)) % 3
    codes[6] = (codes[0] ^ codes[2]) & 1
    return dn.Dataset.from_codes(data.names, data.states, codes, data.weights)


@pytest.mark.parametrize("rows", [30, 150, 2000])
@pytest.mark.parametrize("score", ["bdeu:0.01", "bdeu:50", "bds:50", *SCORES])
def test_bounded_sets_equal_the_pruned_table_of_all_sets(score, rows):
    for seed in range(3):
        scorer = dn.scoring.Scorer(dependent_data(rows, seed), score)
        sets = bounded_sets(scorer, 7)
        assert sets_dict(sets, scorer.data.names) == pytest.approx(pruned_dict(scorer.table(7)), abs=1e-9)


@pytest.mark.parametrize("score", SCORES)
def test_no_superset_scores_above_its_bound(score):
    """Compare the bound of each set with the scores of all its supersets."""
    data = dependent_data(60, 5)
    scorer = dn.scoring.Scorer(data, score)
    table = scorer.table(7)
    for child in range(8):
        others = [v for v in range(8) if v != child]
        own = table.entries_of(child)
        masks, scores = table.masks[own, 0].astype(np.int64), table.scores[own]
        for mask in masks.tolist():
            parents = np.array([[others[b] for b in range(7) if mask >> b & 1]], dtype=np.int32)
            level = _first_level(8)._replace(children=np.array([child]), rows=parents)
            occurring = _count_occurring(scorer, level, np.array([0]))
            codes = [data.codes[v] for v in (*parents[0].tolist(), child)]
            assert occurring.tolist() == [len(set(zip(*codes, strict=True)))]
            cells = np.array([float(np.prod(data.arities[parents[0]])) * 2])
            bound = scorer.criterion.superset_bounds(int(data.arities[child]), occurring, cells, data.rows)
            above = scores[(masks & mask == mask) & (masks != mask)]
            assert above.max(initial=-np.inf) <= bound[0] + 1e-9


def test_a_bound_saves_counting(monkeypatch):
    scorer = dn.scoring.Scorer(dependent_data(30, 1))
    counted = []
    score_parents = scorer.score_parents
    monkeypatch.setattr(scorer, "score_parents", lambda c, rows: counted.append(len(c)) or score_parents(c, rows))
    assert bounded_sets(scorer, 7) is not None
    assert sum(counted) < 0.9 * 8 * 2**7


def test_lists_with_a_limit_equal_complete_sets():
    scorer = dn.scoring.Scorer(dependent_data(500, 2))
    expected = sets_dict(complete_sets(scorer, 3), scorer.data.names)
    assert sets_dict(bounded_sets(scorer, 3), scorer.data.names) == pytest.approx(expected, abs=1e-9)


def test_lists_with_slack_contain_near_optimal_sets():
    scorer = dn.scoring.Scorer(dependent_data(80, 3))
    start, masks, _ = scorer.table(7).prune(3.0)
    sets = bounded_sets(scorer, 7, slack=3.0)
    again_start, again_masks, _ = sets.table(scorer).prune(3.0)
    assert np.array_equal(start, again_start)
    assert {*map(bytes, masks)} == {*map(bytes, again_masks)}
    assert len(masks) > len(scorer.table(7).pruned[1])


def test_lists_obey_background_knowledge():
    data = dependent_data(200, 4)
    a, b, c, *_, last = data.names
    knowledge = {"required": [[a, last], [b, last]], "forbidden": [[c, last], [a, b]], "limits": {last: 3, c: 1}}
    scorer = dn.scoring.Scorer(data, knowledge=knowledge)
    found = sets_dict(bounded_sets(scorer, 7), data.names)
    legal = {key: score for key, score in pruned_dict(scorer.table(7)).items() if is_legal(key, a, b, c, last)}
    assert found == pytest.approx(legal, abs=1e-9)
    assert any(len(parents) == 3 for child, parents in found if child == last)


@pytest.mark.parametrize("score", SCORES)
def test_lists_with_probabilities_of_edges_equal_the_pruned_table(score):
    """A column with one state has parents if their edges are likely."""
    for seed in range(2):
        data = dependent_data(100, seed)
        codes, states = np.array(data.codes), list(data.states)
        codes[3], states[3] = 0, ("only",)
        data = dn.Dataset.from_codes(data.names, states, codes, data.weights)
        scorer = dn.scoring.Scorer(data, score, {"probabilities": random_probabilities(data.names, seed)})
        expected = pruned_dict(scorer.table(7))
        assert any(child == data.names[3] and parents for child, parents in expected)
        assert sets_dict(bounded_sets(scorer, 7), data.names) == pytest.approx(expected, abs=1e-9)
        assert sets_dict(bounded_sets(scorer, 3), data.names) == pytest.approx(pruned_dict(scorer.table(3)), abs=1e-9)


def is_legal(key, a, b, c, last):
    child, parents = key
    if child == last:
        return parents >= {a, b} and c not in parents and len(parents) <= 3
    return len(parents) <= 1 if child == c else not (child == b and a in parents)


def test_a_constant_column_does_not_prevent_lists():
    data = random_data(8, 100, 1, arities=[3] * 8)
    codes = np.array(data.codes)
    codes[7] = 0
    states = [*data.states[:7], ["only"]]
    scorer = dn.scoring.Scorer(dn.Dataset.from_codes(data.names, states, codes, data.weights), "bic")
    work = 1e6
    assert bounded_sets(dn.scoring.Scorer(data, "bic"), 7, work) is not None
    found = sets_dict(bounded_sets(scorer, 7, work), data.names)
    assert found == pytest.approx(pruned_dict(scorer.table(7)), abs=1e-9)


def test_too_much_work_ends_without_lists():
    scorer = dn.scoring.Scorer(dependent_data(200, 4))
    assert bounded_sets(scorer, 7, work=1e4) is None


def test_scores_without_bounds_have_no_lists():
    class Unbounded(Likelihood):
        name = "unbounded"

        def penalties(self, arity, parent_cells, rows):
            return log(rows) / parent_cells  # falls with more parents

    class Other(Dirichlet):
        name = "other"

        def concentrations(self, arity, cells, rows):
            return 0.9, 1.0  # the bound needs a pseudo-count of 0.9 times `arity` for the parents

    assert not isinstance(Unbounded(), Bounding)
    assert not isinstance(Other(), Bounding)
    assert bounded_sets(dn.scoring.Scorer(dependent_data(20, 1), Unbounded()), 7) is None


def test_too_many_variables_have_no_lists():
    assert bounded_sets(dn.scoring.Scorer(random_data(121, 20, 1)), 120) is None


def test_lists_obey_the_deadline():
    scorer = dn.scoring.Scorer(dependent_data(200, 4), run=dn.Run(deadline=dn.Deadline(0.0)))
    with pytest.raises(OutOfTimeError):
        bounded_sets(scorer, 7)
