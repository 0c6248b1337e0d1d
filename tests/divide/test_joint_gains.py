"""Parents that gain only together: all triples against a plain loop, and a parity among many variables."""

from itertools import combinations

import numpy as np
import polars as pl
import pytest

import dagneal as dn
from dagneal.divide.joint_gains import MOST_PAIRS, joint_gains, work_of
from support.reference import random_data


def plain(scorer, near):
    """The same by asking for every score."""
    names = scorer.data.names
    found = np.zeros((len(names),) * 2, dtype=bool)
    for child, name in enumerate(names):
        gains = {}
        for p, q in combinations([v for v in range(len(names)) if v != child], 2):
            if near[p, child] or near[q, child]:
                continue
            single = max(scorer.local(name, own) for own in ([], [names[p]], [names[q]]))
            gains[p, q] = scorer.local(name, [names[p], names[q]]) - single
        for pair in sorted(gains, key=lambda pair: -gains[pair])[:MOST_PAIRS]:
            if gains[pair] > 0:
                found[list(pair), child] = True
    return found


@pytest.mark.parametrize("score", [dn.BDeu(1), dn.BDeu(10), dn.BIC()])
@pytest.mark.parametrize("network", ["waste", "alarm-15"])
def test_all_triples_as_a_plain_loop_finds_them(network, score):
    data = dn.load(network).sample(3_000, 1)
    scorer = dn.scoring.Scorer(data, score)
    near = np.random.default_rng(1).random((len(data.names),) * 2) < 0.3
    assert np.array_equal(joint_gains(scorer, scorer.pair_gains(), near), plain(scorer, near))


def test_the_number_of_threads_makes_no_difference():
    data = dn.load("alarm-15").sample(3_000, 2)
    near = np.zeros((15, 15), dtype=bool)
    found = []
    for workers in (1, 3):
        scorer = dn.scoring.Scorer(data, workers=workers)
        found.append(joint_gains(scorer, scorer.pair_gains(), near))
    assert np.array_equal(*found)


def coins(columns, rows=1_000):
    """Coins, and a last column that is the parity of the first two, nearly always."""
    generator = np.random.default_rng(3)
    codes = generator.integers(0, 2, (rows, columns))
    codes[:, -1] = codes[:, 0] ^ codes[:, 1] ^ (generator.random(rows) < 0.05)
    return codes


def parity(columns):
    return dn.read(coins(columns), names=[f"c{i}" for i in range(columns)])


@pytest.mark.parametrize("columns", [20, 80])
def test_a_parity_is_found_among_many_coins(columns):
    found = dn.learn(parity(columns))
    joined = {frozenset(edge) for edge in found.edges}
    assert len(joined & {frozenset(pair) for pair in combinations(("c0", "c1", f"c{columns - 1}"), 2)}) >= 2


def test_a_forbidden_parent_is_not_proposed():
    knowledge = dn.Knowledge(forbidden=[("c0", "c69")])
    scorer = dn.scoring.Scorer(parity(70), knowledge=knowledge)
    found = joint_gains(scorer, scorer.pair_gains(), np.zeros((70, 70), dtype=bool))
    assert not found[0, 69]
    assert found[69, 0]


def test_a_column_of_many_states_costs_nothing():
    many = [f"state {number % 1_500}" for number in range(3_000)]
    frame = pl.DataFrame(coins(70, 3_000), schema=[f"X{i}" for i in range(1, 71)]).with_columns(pl.Series("X71", many))
    found = dn.learn(dn.read(frame))
    joined = {frozenset(edge) for edge in found.edges}
    assert len(joined & {frozenset(pair) for pair in combinations(("X1", "X2", "X70"), 2)}) >= 2


def test_with_one_parent_nothing_is_looked_for():
    assert "only together" not in dn.learn(parity(70), max_parents=1).division.skipped


def test_where_it_cannot_be_done_it_is_not_tried():
    data = dn.load("waste").sample(2_000, 1)
    assert work_of(dn.scoring.Scorer(data, dn.K2())) == np.inf
    wide = dn.learn(parity(70), score=dn.K2())
    assert "only together" not in wide.division.skipped


def test_the_note_about_triples_names_the_columns_that_were_left_out():
    data = random_data(70, 400, 3, [2] * 68 + [12, 1])
    found = dn.learn(data, max_parents=2)
    assert "looked for in all triples without 'v68', 'v69'" in found.division.skipped
