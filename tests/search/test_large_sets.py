"""The rule for sets of more than four parents, compared with its definition."""

from itertools import combinations

import numpy as np
import pytest

import dagneal as dn
from dagneal.scoring.scorer import Scorer
from dagneal.search.changes import best_change
from dagneal.search.large_sets import ANY_SIZE, SizeRule, drop_weak_changes, find_weak
from dagneal.search.proposals import Options, Rules, propose_changes


def is_weak(scorer, child, parents, rule):
    """Return whether a set gains too little over a subset of at most two parents, or over the set without one parent."""
    names = scorer.data.names
    score = scorer.local(names[child], [names[p] for p in parents])
    for size in {0, 1, 2, len(parents) - 1}:
        for subset in combinations(parents, size):
            gain = score - scorer.local(names[child], [names[p] for p in subset])
            if len(parents) > rule.free and gain < rule.gain * (len(parents) - size):
                return True
    return False


def test_weak_sets_have_a_parent_that_gains_too_little():
    scorer = Scorer(dn.load("alarm-15").sample(500, 1))
    rows = np.array([*combinations(range(1, 8), 3)], dtype=np.int32)
    children = np.zeros(len(rows), dtype=np.int64)
    scores = scorer.score_parents(children, rows)
    rule = SizeRule(2, 1.0)
    weak = find_weak(children, rows, scores, rule, scorer.score_parents)
    assert weak.tolist() == [is_weak(scorer, 0, row, rule) for row in rows.tolist()]
    assert weak.sum() > 0
    assert not find_weak(children, rows, scores, SizeRule(3, 1.0), scorer.score_parents).any()


def test_strong_changes_are_never_dropped():
    scorer = Scorer(dn.load("alarm-15").sample(2000, 1))
    n, rule = len(scorer.data.names), SizeRule(1, 1.0)
    children, old = np.arange(n), np.full((n, 2), -1, dtype=np.int32)
    old[:, 0], old[:, 1] = np.where(children < 2, 2, 0), np.where(children < 2, 3, 1)
    options, rules = Options.of(~np.eye(n, dtype=bool)), Rules(np.zeros((n, n), dtype=bool), np.full(n, n - 1))
    changed, rows, origin = propose_changes(children, old, options, rules, swaps=True)
    scores, old_scores = scorer.score_parents(changed, rows), scorer.score_parents(children, old)
    kept = drop_weak_changes(rows, scores, origin, old, old_scores, rule)
    strong = np.flatnonzero(~find_weak(changed, rows, scores, rule, scorer.score_parents))
    assert set(strong) <= set(kept)
    assert len(strong) <= len(kept) < len(rows)


def test_a_reversal_does_not_leave_a_weak_set():
    """Variables 0 and 1 raise the score of variable 7 only together, so its set without 0 is weak."""
    n = 8

    def score(children, rows):
        has = np.stack([(rows == variable).any(axis=1) for variable in range(n)])
        of_seven = 10.0 * (has[0] & has[1]) + 5.0 * has[2:6].sum(axis=0) - 20.0 * has[6] - (rows >= 0).sum(axis=1) / 10
        of_zero = 50.0 * has[7] - (rows >= 0).sum(axis=1)
        return np.select([children == 7, children == 0], [of_seven, of_zero], -2.0 * (rows >= 0).sum(axis=1))

    parents = np.full((n, 6), -1, dtype=np.int32)
    parents[7] = range(6)
    options, rule = Options.of(~np.eye(n, dtype=bool)), SizeRule(4, 1.0)
    strict, any_size = (Rules(np.zeros((n, n), dtype=bool), np.full(n, n - 1), large) for large in (rule, ANY_SIZE))
    assert not find_weak(np.array([7]), parents[7:], score(np.array([7]), parents[7:]), rule, score).any()
    change = best_change(parents, np.arange(n), strict, options, score)
    if change is not None:
        assert not find_weak(change.children, change.rows, score(change.children, change.rows), rule, score).any()
    assert best_change(parents, np.arange(n), any_size, options, score).gain > 0.0


def test_sets_that_only_separate_the_rows_are_weak():
    """Eight useless parents give each row a state combination of its own. BDeu prefers them to one of them."""
    codes = np.random.default_rng(1).integers(0, 4, (100, 9))
    scorer = Scorer(dn.read(codes))
    child, rows = np.zeros(1, dtype=np.int64), np.arange(1, 9, dtype=np.int32)[None, :]
    score = scorer.score_parents(child, rows)
    assert score[0] > scorer.score_parents(child, rows[:, :1])[0] + 10.0
    assert find_weak(child, rows, score, SizeRule.of(9, None), scorer.score_parents).all()


def test_a_given_limit_replaces_the_rule():
    assert SizeRule.of(76, None) == (4, pytest.approx(np.log(76)))
    assert SizeRule.of(76, 7).free == 7
