"""Scores of parent sets with one more parent, compared with the scorer."""

import numpy as np
import pytest

import dagneal as dn
from dagneal.scoring.additions import MAX_ROWS, Additions, Indicators, can_score_additions
from dagneal.scoring.scorer import Scorer
from support.reference import random_probabilities


def random_sets(n, child, seed, options):
    """Return random parent sets without the options."""
    generator = np.random.default_rng(seed)
    others = [variable for variable in range(n) if variable != child and variable not in options]
    rows = np.full((40, 4), -1, dtype=np.int32)
    for row in rows:
        size = generator.integers(0, 5)
        row[:size] = np.sort(generator.choice(others, size, replace=False))
    return rows


def extend(rows, variable):
    """Return the sets with one more member."""
    return np.array([sorted([*row[row >= 0], variable]) + [-1] * int((row < 0).sum()) for row in rows], dtype=np.int32)


@pytest.mark.parametrize("score", ["bdeu:1", "bdeu:10", "bic", "k2", "aic", "qnml", "fnml"])
def test_scores_equal_those_of_the_scorer(score):
    data = dn.load("alarm-15").sample(300, 1)
    scorer, child, n = Scorer(data, score), 3, len(data.names)
    additions = Additions(Indicators(scorer), child, np.arange(6, n))
    rows = random_sets(n, child, 1, range(6, n))
    scores = additions.scores(rows)
    for variable, column in zip(additions.options, scores.T, strict=True):
        expected = scorer.score_parents(np.full(len(rows), child), extend(rows, variable))
        assert column == pytest.approx(expected, abs=1e-9)


def test_scores_contain_the_log_odds_of_edges():
    data = dn.load("alarm-15").sample(300, 1)
    scorer, child, n = Scorer(data, None, {"probabilities": random_probabilities(data.names, 1)}), 3, len(data.names)
    additions = Additions(Indicators(scorer), child, np.arange(6, n))
    rows = random_sets(n, child, 1, range(6, n))
    for variable, column in zip(additions.options, additions.scores(rows).T, strict=True):
        assert column == pytest.approx(scorer.score_parents(np.full(len(rows), child), extend(rows, variable)), abs=1e-9)


def test_options_in_a_set_have_no_score():
    scorer = Scorer(dn.load("alarm-15").sample(200, 1))
    additions = Additions(Indicators(scorer), 0, np.array([1, 2, 3]))
    scores = additions.scores(np.array([[2, 5], [4, 5]], dtype=np.int32))
    assert np.isneginf(scores[0]).tolist() == (additions.options == 2).tolist()
    assert np.isfinite(scores[1]).all()


def test_repeated_rows_are_counted_with_their_weights():
    codes = np.random.default_rng(1).integers(0, 2, (500, 4))
    data = dn.read(codes)
    assert data.codes.shape[1] <= 16
    scorer = Scorer(data)
    scores = Additions(Indicators(scorer), 0, np.array([3])).scores(np.array([[1, 2]], dtype=np.int32))
    assert scores[0, 0] == pytest.approx(scorer.local(data.names[0], data.names[1:]), abs=1e-9)


def test_sums_of_sets_equal_those_of_the_counter():
    data = dn.load("alarm-15").sample(400, 2)
    scorer, n = Scorer(data), len(data.names)
    additions = Additions(Indicators(scorer), None, np.arange(8, n))
    rows = random_sets(n, 0, 2, range(8, n))
    for variable, column in zip(additions.options, additions.set_sums(rows, 1)[:, :, 0].T, strict=True):
        members = extend(rows, variable)
        cells, kinds = np.unique([np.prod(data.arities[row[row >= 0]]) for row in members], return_inverse=True)
        assert column == pytest.approx(scorer.counter.sums(members, kinds, 1.0 / cells[:, None])[:, 0], abs=1e-9)


def test_scores_that_depend_on_the_states_that_occur_are_not_supported():
    assert not can_score_additions(Scorer(dn.load("alarm-15").sample(200, 1), "bds"))


def test_many_rows_are_not_supported():
    assert can_score_additions(Scorer(dn.load("alarm-15").sample(200, 1)))
    assert not can_score_additions(Scorer(dn.read(np.random.default_rng(1).integers(0, 2, (MAX_ROWS + 1, 2)))))


def test_columns_with_many_states_are_not_supported():
    """The working memory would take gigabytes."""
    codes = np.stack([np.arange(6000) % 3000, np.arange(6000) // 3000])
    states = [[str(state) for state in range(count)] for count in (3000, 2)]
    assert not can_score_additions(Scorer(dn.Dataset.from_codes(["a", "b"], states, codes)))
