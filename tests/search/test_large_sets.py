"""The rule for sets of more than four parents, compared with its definition."""

from itertools import combinations
from math import prod

import numpy as np
import pytest

import dagneal as dn
from dagneal.scoring.scorer import Scorer
from dagneal.search.changes import best_change
from dagneal.search.large_sets import ANY_SIZE, SizeRule, drop_weak_changes, find_weak
from dagneal.search.proposals import Options, Rules, propose_changes


def is_weak(scorer, child, parents, rule):
    """Return whether a set breaks the rule: by its definition, for one set."""
    names, data = scorer.data.names, scorer.data
    if len(parents) <= rule.free:
        return False
    subsets = {
        s: scorer.local(names[child], [names[p] for p in s]) for k in range(len(parents)) for s in combinations(parents, k)
    }
    score = scorer.local(names[child], [names[p] for p in parents])
    for subset, lower in subsets.items():
        if len(subset) in {0, 1, 2, len(parents) - 1} and score - lower < rule.gain * (len(parents) - len(subset)):
            return True
    if prod(int(data.arities[v]) for v in (child, *parents)) > data.rows:
        return True
    rest = max((s for s in subsets if len(s) == len(parents) - 1), key=lambda s: subsets[s])
    return is_weak(scorer, child, rest, rule)


@pytest.mark.parametrize(
    ("rows", "free", "gain"), [(500, 2, 1.0), (500, 1, 0.1), (30, 1, 0.0), (30, 1, -5.0), (15, 2, -9.0)]
)
def test_weak_sets_break_a_condition_of_the_rule(rows, free, gain):
    scorer = Scorer(dn.load("alarm-15").sample(rows, 1))
    rule = SizeRule(free, gain)
    sets = [s for size in range(5) for s in combinations(range(1, 9), size)]
    padded = np.array([[*s, *[-1] * (4 - len(s))] for s in sets], dtype=np.int32)
    children = np.zeros(len(sets), dtype=np.int64)
    scores = scorer.score_parents(children, padded)
    weak = find_weak(children, padded, scores, rule, scorer)
    assert weak.tolist() == [is_weak(scorer, 0, s, rule) for s in sets]
    assert 0 < weak.sum() < len(sets)
    assert not find_weak(children, padded, scores, SizeRule(4, gain), scorer).any()


def test_strong_changes_are_never_dropped():
    scorer = Scorer(dn.load("alarm-15").sample(2000, 1))
    n, rule = len(scorer.data.names), SizeRule(1, 1.0)
    children, old = np.arange(n), np.full((n, 2), -1, dtype=np.int32)
    old[:, 0], old[:, 1] = np.where(children < 2, 2, 0), np.where(children < 2, 3, 1)
    options, rules = Options.of(~np.eye(n, dtype=bool)), Rules(np.zeros((n, n), dtype=bool), np.full(n, n - 1))
    changed, rows, origin = propose_changes(children, old, options, rules, swaps=True)
    scores, old_scores = scorer.score_parents(changed, rows), scorer.score_parents(children, old)
    kept = drop_weak_changes(rows, scores, origin, old, old_scores, rule)
    strong = np.flatnonzero(~find_weak(changed, rows, scores, rule, scorer))
    assert set(strong) <= set(kept)
    assert len(strong) <= len(kept) < len(rows)


def test_a_reversal_does_not_leave_a_weak_set():
    """Variables 0 and 1 raise the score of variable 7 only together, so its set without 0 is weak."""
    n = 8

    class FakeScorer:
        data, constraints = dn.read(np.random.default_rng(1).integers(0, 2, (200, n))), None

        def score_parents(self, children, rows):
            has = np.stack([(rows == variable).any(axis=1) for variable in range(n)])
            of_seven = 10.0 * (has[0] & has[1]) + 5.0 * has[2:6].sum(axis=0) - 20.0 * has[6] - (rows >= 0).sum(axis=1) / 10
            of_zero = 50.0 * has[7] - (rows >= 0).sum(axis=1)
            return np.select([children == 7, children == 0], [of_seven, of_zero], -2.0 * (rows >= 0).sum(axis=1))

    scorer = FakeScorer()
    parents = np.full((n, 6), -1, dtype=np.int32)
    parents[7] = range(6)
    options, rule = Options.of(~np.eye(n, dtype=bool)), SizeRule(4, 1.0)
    strict, any_size = (Rules(np.zeros((n, n), dtype=bool), np.full(n, n - 1), large) for large in (rule, ANY_SIZE))
    seven = np.array([7])
    assert not find_weak(seven, parents[7:], scorer.score_parents(seven, parents[7:]), rule, scorer).any()
    change = best_change(parents, np.arange(n), any_size, options, scorer)
    assert change.children.tolist() == [7, 0]
    scores = scorer.score_parents(change.children, change.rows)
    assert find_weak(change.children, change.rows, scores, rule, scorer).tolist() == [True, False]
    assert best_change(parents, np.arange(n), strict, options, scorer) is None


def test_sets_that_only_separate_the_rows_are_weak():
    """Eight useless parents give each row a state combination of its own. BDeu prefers them to one of them."""
    codes = np.random.default_rng(1).integers(0, 4, (100, 9))
    scorer = Scorer(dn.read(codes))
    child, rows = np.zeros(1, dtype=np.int64), np.arange(1, 9, dtype=np.int32)[None, :]
    score = scorer.score_parents(child, rows)
    assert score[0] > scorer.score_parents(child, rows[:, :1])[0] + 10.0
    assert find_weak(child, rows, score, SizeRule.of(9, None), scorer).all()


@pytest.mark.parametrize(("repeats", "weak"), [(4, True), (20, False)])
def test_sets_that_identify_persons_are_weak_without_rows_for_their_table(repeats, weak):
    """In a panel, many parents identify a person, and BDeu rewards this. The table has 2^6 times 5 entries."""
    generator = np.random.default_rng(4)
    persons = np.concatenate([generator.integers(0, 5, (1, 40)), generator.integers(0, 2, (6, 40))])
    scorer = Scorer(dn.read(np.repeat(persons, repeats, axis=1).T))
    child, rows = np.zeros(1, dtype=np.int64), np.arange(1, 7, dtype=np.int32)[None, :]
    score = scorer.score_parents(child, rows)
    assert score[0] > scorer.score_parents(child, rows[:, :5])[0] + 10.0
    assert find_weak(child, rows, score, SizeRule(4, 2.0), scorer).all() == weak


def test_a_given_limit_replaces_the_rule():
    assert SizeRule.of(76, None) == (4, pytest.approx(np.log(76)))
    assert SizeRule.of(76, 7).free == 7


def test_required_parents_need_not_obey_the_rule():
    """Eight required parents separate the rows, but a copy of the child is still found."""
    codes = np.random.default_rng(2).integers(0, 2, (200, 24))
    codes[:, 9] = codes[:, 0]
    data = dn.read(codes)
    first, copy = data.names[0], data.names[9]
    required = [(name, first) for name in data.names[1:9]]
    knowledge = dn.Knowledge(required=required, leaves=[first])
    result = dn.learn(data, knowledge=knowledge)
    assert {*required, (copy, first)} <= set(result.dag.edges)
    scorer = Scorer(data, knowledge=knowledge)
    child, rows = np.zeros(1, dtype=np.int64), np.arange(1, 9, dtype=np.int32)[None, :]
    assert not find_weak(child, rows, scorer.score_parents(child, rows), SizeRule.of(24, None), scorer).any()
    assert find_weak(child, rows, Scorer(data).score_parents(child, rows), SizeRule.of(24, None), Scorer(data)).all()
