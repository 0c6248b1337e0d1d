"""Joint gains: compare with a plain loop, and find a parity among many variables."""

from itertools import combinations

import numpy as np
import polars as pl
import pytest

import dagneal as dn
from dagneal.search.joint_gains import joint_gains, triple_cost
from support.reference import random_data, random_probabilities


def reference_joint_gains(scorer, near):
    """Return the joint gains from a loop over all pairs of parents."""
    names = scorer.data.names
    result = np.zeros((len(names),) * 2, dtype=bool)
    for child, name in enumerate(names):
        gains = {}
        for p, q in combinations([v for v in range(len(names)) if v != child], 2):
            alone = scorer.local(name)
            if (near[p, child] and near[q, child]) or max(scorer.local(name, [names[v]]) for v in (p, q)) > alone:
                continue
            gains[p, q] = scorer.local(name, [names[p], names[q]]) - alone
        best = max(gains, key=lambda pair: gains[pair], default=None)
        if best is not None and gains[best] > 0:
            result[list(best), child] = True
    return result


@pytest.mark.parametrize("score", [dn.BDeu(1), dn.BDeu(10), dn.BIC()])
@pytest.mark.parametrize("network", ["waste", "alarm-15"])
def test_joint_gains_equal_those_of_a_plain_loop(network, score):
    data = dn.load(network).sample(3_000, 1)
    scorer = dn.scoring.Scorer(data, score)
    near = np.random.default_rng(1).random((len(data.names),) * 2) < 0.3
    assert np.array_equal(joint_gains(scorer, scorer.pair_gains(), near), reference_joint_gains(scorer, near))


def test_joint_gains_contain_the_log_odds_of_edges():
    data = dn.load("alarm-15").sample(3_000, 1)
    scorer = dn.scoring.Scorer(data, None, {"probabilities": random_probabilities(data.names, 1)})
    near = np.random.default_rng(1).random((15, 15)) < 0.3
    assert np.array_equal(joint_gains(scorer, scorer.pair_gains(), near), reference_joint_gains(scorer, near))


def test_number_of_threads_does_not_change_joint_gains():
    data = dn.load("alarm-15").sample(3_000, 2)
    near = np.zeros((15, 15), dtype=bool)
    result = []
    for workers in (1, 3):
        scorer = dn.scoring.Scorer(data, workers=workers)
        result.append(joint_gains(scorer, scorer.pair_gains(), near))
    assert np.array_equal(*result)


def coin_codes(columns, rows=1_000):
    """Return random coin flips; the last column is the parity of the first two columns in 95% of the rows."""
    generator = np.random.default_rng(3)
    codes = generator.integers(0, 2, (rows, columns))
    codes[:, -1] = codes[:, 0] ^ codes[:, 1] ^ (generator.random(rows) < 0.05)
    return codes


def parity_data(columns):
    return dn.read(coin_codes(columns), names=[f"c{i}" for i in range(columns)])


@pytest.mark.parametrize("columns", [20, 80])
def test_parity_is_found_among_many_coins(columns):
    result = dn.learn(parity_data(columns))
    joined = {frozenset(edge) for edge in result.edges}
    assert len(joined & {frozenset(pair) for pair in combinations(("c0", "c1", f"c{columns - 1}"), 2)}) >= 2


def test_forbidden_parent_is_not_a_candidate():
    knowledge = dn.Knowledge(forbidden=[("c0", "c69")])
    scorer = dn.scoring.Scorer(parity_data(70), knowledge=knowledge)
    result = joint_gains(scorer, scorer.pair_gains(), np.zeros((70, 70), dtype=bool))
    assert not result[0, 69]
    assert result[69, 0]


def test_column_with_many_states_does_not_hide_a_parity():
    many = [f"state {number % 1_500}" for number in range(3_000)]
    frame = pl.DataFrame(coin_codes(70, 3_000), schema=[f"X{i}" for i in range(1, 71)]).with_columns(pl.Series("X71", many))
    result = dn.learn(dn.read(frame))
    joined = {frozenset(edge) for edge in result.edges}
    assert len(joined & {frozenset(pair) for pair in combinations(("X1", "X2", "X70"), 2)}) >= 2


@pytest.mark.slow
def test_parity_is_found_if_not_all_pairs_of_parents_are_proposed():
    """With 240 columns, only the neighbours of a variable are proposed as pairs. The others need the triple scan.

    All columns but the last are roots, so that only the last column can be the child of the other two.
    """
    data = parity_data(240)
    result = dn.learn(data, knowledge={"roots": list(data.names[:-1])})
    assert set(result.edges) == {("c0", "c239"), ("c1", "c239")}


def test_parity_is_not_found_with_a_parent_limit_of_one():
    result = dn.learn(parity_data(70), max_parents=1)
    assert max(degree for _, degree in result.dag.in_degree) <= 1


def test_joint_gains_are_not_supported_for_scores_that_depend_on_the_child():
    data = dn.load("waste").sample(2_000, 1)
    assert triple_cost(dn.scoring.Scorer(data, dn.K2())) == np.inf


def test_screening_names_columns_without_joint_gains():
    data = random_data(70, 400, 3, [2] * 68 + [12, 1])
    result = dn.learn(data, dn.Divide(), max_parents=2)
    assert "joint gains of two parents except those with 'v68', 'v69'" in result.division.skipped
