"""Beam search for larger parent sets."""

import numpy as np

import dagneal as dn
from dagneal.scoring.additions import score_additions
from dagneal.scoring.scorer import Scorer
from dagneal.search.beams import NEAR, extend_sets, near_misses
from dagneal.search.proposals import Options, Rules, added_parents


def test_near_misses_are_the_best_remaining_sets_of_each_child_without_repetitions():
    children = np.array([0, 0, 0, 0, 0, 1])
    rows = np.array([[1, 2], [1, 3], [1, 2], [2, 3], [1, 4], [2, 3]], dtype=np.int32)
    scores = np.array([-3.0, -2.0, -3.0, -1.0, -4.0, -9.0])
    gains = np.array([-1.0, -np.inf, -1.0, -NEAR - 1.0, -1.0, -1.0])
    assert near_misses(children, rows, scores, gains, 2).tolist() == [0, 4, 5]
    assert near_misses(children, rows, scores, gains, 1).tolist() == [0, 5]


def pair_data(rows):
    """Return data in which variable 0 depends on variable 1, and on whether variables 2 and 3 are equal."""
    generator = np.random.default_rng(1)
    codes = generator.integers(0, 2, (rows, 6))
    probability = 0.05 + 0.4 * codes[:, 1] + 0.5 * (codes[:, 2] == codes[:, 3])
    codes[:, 0] = generator.random(rows) < probability
    return dn.read(codes)


def extend(scorer, fits=None):
    n = len(scorer.data.names)
    options = Options.of(~np.eye(n, dtype=bool))
    rules = Rules(np.zeros((n, n), dtype=bool), np.full(n, n - 1))
    start = np.array([0]), np.array([[1]], dtype=np.int32)
    present = scorer.score_parents(*start)

    def score(children, rows, origin, larger):
        return score_additions(scorer, children, rows, origin, added_parents(rows, larger, origin))

    everything = lambda children, rows: np.arange(len(children))  # noqa: E731
    better = extend_sets(*start, present, options, rules, 4, 10, score, everything, fits)
    return {
        tuple(row[row >= 0].tolist()): score for _, rows, scores in better for row, score in zip(rows, scores, strict=True)
    }


def test_beam_finds_two_parents_that_raise_the_score_only_together():
    scorer = Scorer(pair_data(200))
    scores = scorer.score_parents(np.zeros(4, dtype=np.int64), np.array([[1, -1, -1], [1, 2, -1], [1, 3, -1], [1, 2, 3]]))
    assert scores[3] > scores[0] > max(scores[1:3])
    found = extend(scorer)
    assert found[1, 2, 3] == scores[3]
    assert max(found, key=found.get) == (1, 2, 3)


def test_sets_that_do_not_fit_are_not_extended():
    scorer = Scorer(pair_data(200))
    assert (1, 2, 3) not in extend(scorer, lambda children, rows: ~np.isin(rows, [2, 3]).any(axis=1))


def test_forgotten_counts_do_not_change_scores():
    scorer = Scorer(pair_data(100))
    children, rows = np.array([0, 1]), np.array([[1, 2], [2, 3]], dtype=np.int32)
    before = scorer.score_parents(children, rows)
    scorer.limit_counts(1)
    assert np.array_equal(scorer.score_parents(children, rows), before)
