"""Scores of parent sets with one more parent, compared with the scorer."""

import numpy as np
import pytest

import dagneal as dn
from dagneal.scoring.additions import MAX_ROWS, can_score_additions, score_additions
from dagneal.scoring.scorer import Scorer
from dagneal.search.proposals import Options, Rules, propose_changes


def random_additions(n, seed):
    """Return children, parent sets, origins and added variables, and the children and sets that result from them."""
    generator = np.random.default_rng(seed)
    children, rows = generator.integers(0, n, 40), np.full((40, 4), -1, dtype=np.int32)
    for child, row in zip(children, rows, strict=True):
        size = generator.integers(0, 5)
        row[:size] = np.sort(generator.choice(np.delete(np.arange(n), child), size, replace=False))
    rules = Rules(np.zeros((n, n), dtype=bool), np.full(n, n))
    changed, larger, origin = propose_changes(children, rows, Options.of(~np.eye(n, dtype=bool)), rules, swaps=False)
    added = np.array([next(iter(set(new) - set(old))) for new, old in zip(larger, rows[origin], strict=True)])
    return (children, rows, origin, added), (changed, larger)


@pytest.mark.parametrize("score", ["bdeu:1", "bdeu:10", "bic"])
def test_scores_equal_those_of_the_scorer(score):
    data = dn.load("alarm-15").sample(300, 1)
    scorer = Scorer(data, score)
    assert can_score_additions(scorer)
    additions, sets = random_additions(len(data.names), 1)
    assert np.array_equal(score_additions(scorer, *additions), scorer.score_parents(*sets))


def test_violations_of_background_knowledge_get_the_same_penalty():
    data = dn.load("alarm-15").sample(200, 2)
    names = data.names
    knowledge = dn.Knowledge(required=[(names[0], names[1])], forbidden=[(names[2], names[3]), (names[4], names[0])])
    scorer = Scorer(data, knowledge=knowledge)
    additions, sets = random_additions(len(names), 2)
    assert np.array_equal(score_additions(scorer, *additions), scorer.score_parents(*sets))


def test_many_rows_and_scores_that_depend_on_the_child_are_not_supported():
    data = dn.load("alarm-15").sample(200, 1)
    assert not can_score_additions(Scorer(data, "k2"))
    many = np.random.default_rng(1).integers(0, 4, (4 * MAX_ROWS, 8))
    assert not can_score_additions(Scorer(dn.read(many)))


def test_columns_with_many_states_are_not_supported():
    """The counts would take gigabytes."""
    codes = np.stack([np.arange(800) % 300, np.arange(800) % 2])
    states = [[str(state) for state in range(count)] for count in (300, 2)]
    assert not can_score_additions(Scorer(dn.Dataset.from_codes(["a", "b"], states, codes)))
