"""Counting stops at a deadline."""

import numpy as np
import pytest

import dagneal as dn
from dagneal.base.errors import OutOfTimeError
from dagneal.divide.pairs import count_pairs
from dagneal.scoring.counting import counter as counts
from dagneal.scoring.scorer import Scorer
from support.reference import random_data


@pytest.fixture
def strict_deadline(monkeypatch):
    """Make the deadline also apply to short computations."""
    monkeypatch.setattr(counts, "_DEADLINE_WORK", 10_000)


def test_counting_stops_at_a_deadline(strict_deadline):
    data = random_data(12, 200, 1)
    scorer = Scorer(data, run=dn.Run(deadline=dn.Deadline(0.0)))
    with pytest.raises(OutOfTimeError):
        scorer.table(2)
    assert count_pairs(scorer) is None
    assert np.isfinite(scorer.score(dn.learn(data).dag))  # a few sets are always counted


def test_short_computations_ignore_the_deadline():
    scorer = Scorer(random_data(12, 200, 1), run=dn.Run(deadline=dn.Deadline(0.0)))
    assert len(scorer.table(2).scores) == 12 * (1 + 11 + 55)
