"""Score gains of a child that gets a single parent."""

import numpy as np
import pytest

import dagneal as dn
from support.reference import random_data, random_probabilities


def test_pair_gains_are_differences_of_local_scores():
    data = random_data(70, 50, seed=5, arities=[2] * 70)
    scorer = dn.scoring.Scorer(data)
    gains = scorer.pair_gains()
    for parent, child in [(0, 69), (69, 0), (62, 63), (63, 62), (5, 64)]:
        expected = scorer.local(f"v{child}", [f"v{parent}"]) - scorer.local(f"v{child}")
        assert gains[parent, child] == pytest.approx(expected, abs=1e-9)
    assert (np.diag(gains) == 0).all()


def test_pair_gains_with_different_scores():
    data = random_data(5, 80, seed=3, arities=[2, 3, 4, 2, 3])
    for score in (dn.BDeu(1), dn.K2(), dn.Perks(), dn.BIC(), dn.AIC(), dn.BDs(1), dn.FNML(), dn.QNML()):
        scorer = dn.scoring.Scorer(data, score)
        gains = scorer.pair_gains()
        for parent, child in [(0, 1), (1, 0), (2, 4)]:
            expected = scorer.local(f"v{child}", [f"v{parent}"]) - scorer.local(f"v{child}")
            assert gains[parent, child] == pytest.approx(expected, abs=1e-9)


@pytest.mark.parametrize("score", ["bdeu", "bds", "fnml"])
def test_pair_gains_contain_the_log_odds_of_edges(score):
    data = random_data(5, 80, seed=3)
    knowledge = dn.Knowledge(probabilities=random_probabilities(data.names, 1))
    gains = dn.scoring.Scorer(data, score, knowledge).pair_gains() - dn.scoring.Scorer(data, score).pair_gains()
    for parent, child in np.argwhere(~np.eye(5, dtype=bool)):
        assert gains[parent, child] == pytest.approx(knowledge.log_odds([(f"v{parent}", f"v{child}")]), abs=1e-9)
