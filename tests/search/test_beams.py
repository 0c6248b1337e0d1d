"""Beam search for larger parent sets."""

from itertools import combinations

import numpy as np
import pytest

import dagneal as dn
from dagneal.scoring.additions import Additions, Indicators
from dagneal.scoring.scorer import Scorer
from dagneal.search.beams import _best_additions, search_beam
from dagneal.search.large_sets import ANY_SIZE, SizeRule


def pair_data(rows):
    """Return data in which variable 0 depends on variable 1, and on whether variables 2 and 3 are equal."""
    generator = np.random.default_rng(1)
    codes = generator.integers(0, 2, (rows, 6))
    probability = 0.05 + 0.4 * codes[:, 1] + 0.5 * (codes[:, 2] == codes[:, 3])
    codes[:, 0] = generator.random(rows) < probability
    return dn.read(codes)


def search(scorer, width, options=range(1, 6), required=(), limit=5, rule=ANY_SIZE, least=1):
    """Return the sets that a beam search for variable 0 finds, with their scores."""
    additions = Additions(Indicators(scorer), 0, np.array(options))
    rows, scores = search_beam(additions, np.array(required, dtype=np.int64), limit, width, rule, least)
    return {tuple(row[row >= 0].tolist()): score for row, score in zip(rows, scores, strict=True)}


def score(scorer, parents):
    names = scorer.data.names
    return scorer.local(names[0], [names[parent] for parent in parents])


def test_beam_finds_two_parents_that_raise_the_score_only_together():
    scorer = Scorer(pair_data(200))
    assert score(scorer, [1, 2, 3]) > score(scorer, [1]) > max(score(scorer, [1, 2]), score(scorer, [1, 3]))
    found = search(scorer, 10)
    assert max(found, key=found.get) == (1, 2, 3)
    assert found[1, 2, 3] == pytest.approx(score(scorer, [1, 2, 3]), abs=1e-9)


def test_wide_beam_finds_all_sets_that_are_better_than_all_their_subsets():
    scorer = Scorer(pair_data(300))
    found = search(scorer, 100)
    for size in range(1, 5):
        for parents in combinations(range(1, 6), size):
            smaller = [score(scorer, subset) for subset in combinations(parents, size - 1)]
            if score(scorer, parents) > max(smaller):
                assert parents in found


def test_sets_obey_the_limits():
    scorer = Scorer(pair_data(200))
    assert all(set(parents) <= {1, 2, 4} for parents in search(scorer, 10, options=[1, 2, 4]))
    assert all(len(parents) <= 2 for parents in search(scorer, 10, limit=2))
    assert all(2 in parents for parents in search(scorer, 10, options=[1, 3, 4, 5], required=[2]))
    assert all(len(parents) >= 3 for parents in search(scorer, 10, least=3))
    assert (1, 2, 3) not in search(scorer, 10, rule=SizeRule(2, 1000.0))


def test_best_additions_are_distinct_and_compared_with_the_best_origin():
    present, hashes = np.array([-5.0, -3.0]), np.array([7, 9], dtype=np.uint64)
    scores = np.array([[-4.0, -2.0], [-1.0, -np.inf]])
    origin, added, gains = _best_additions(scores, present, hashes, np.array([3, 4]), 10)
    assert [*zip(origin.tolist(), added.tolist(), gains.tolist(), strict=True)] == [(1, 0, 2.0), (0, 1, 3.0), (0, 0, 1.0)]


def test_forgotten_counts_do_not_change_scores():
    scorer = Scorer(pair_data(100))
    children, rows = np.array([0, 1]), np.array([[1, 2], [2, 3]], dtype=np.int32)
    before = scorer.score_parents(children, rows)
    scorer.limit_counts(1)
    assert np.array_equal(scorer.score_parents(children, rows), before)
