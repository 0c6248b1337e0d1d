"""Regrets of normalised maximum likelihood, compared with sums over all counts and with 30-digit arithmetic."""

from math import log

import mpmath
import numpy as np
import pytest

from dagneal.scoring.regret import MAX_STATES, _approximate, _write_regrets, multinomial_regrets, nml_regret
from support.reference import nml_normaliser


@pytest.mark.parametrize("values", [1, 2, 3, 10, 37])
@pytest.mark.parametrize("states", [1, 2, 3, 4, 9])
def test_regrets_equal_sums_over_all_counts(values, states):
    expected = log(nml_normaliser(values, states))
    assert nml_regret(values, states) == pytest.approx(expected, rel=1e-13, abs=1e-14)
    assert multinomial_regrets(values, np.array([float(states)]))[0] == pytest.approx(expected, rel=1e-13, abs=1e-14)


@pytest.mark.parametrize("values", [4095, 4096, 5000, 10**5, 10**7])
def test_regrets_of_many_values_are_accurate(values):
    with mpmath.workdps(30):
        term = total = mpmath.mpf(1)
        for before in range(values):
            term = term * (values - before) / values
            total += term
            if term < 1e-25:
                break
        three = total + values  # C(N, 3) = C(N, 2) + N
        expected = [float(mpmath.log(total)), float(mpmath.log(three)), float(mpmath.log(three + total * values / 2))]
    assert [nml_regret(values, states) for states in (2, 3, 4)] == pytest.approx(expected, rel=1e-13)
    assert multinomial_regrets(values, np.array([2.0, 3.0, 4.0])).tolist() == pytest.approx(expected, rel=1e-13)


def test_many_states_do_not_overflow():
    assert nml_regret(10**6, 3000) == pytest.approx(multinomial_regrets(10**6, np.array([3000.0]))[0], rel=1e-13)
    assert nml_regret(10**6, 3000) > 710  # e^710 is not a number of 64 bits


@pytest.mark.parametrize("values", [1, 10, 10_000, 10**6, 10**9])
def test_error_of_the_approximation_is_as_stated(values):
    regrets = np.zeros(2 * MAX_STATES)
    _write_regrets(values, regrets)
    states = np.linspace(MAX_STATES + 1, len(regrets) - 1, 1000).astype(np.int64)
    error = multinomial_regrets(values, states.astype(np.float64)) - regrets[states]
    rounding = 2e-15 * regrets[-1]
    assert -rounding < error.min()
    assert error.max() < 2e-7 + rounding
    assert np.array_equal(multinomial_regrets(values, states.astype(np.float64)), _approximate(values, states.astype(float)))


def test_penalty_of_a_parent_never_falls():
    """The bounds on supersets rely on this: ln C(N, r q) - ln C(N, q) rises with q."""
    for values in (1, 7, 300, 10**5):
        cells = np.arange(1.0, 3000.0)
        for states in (2, 3, 17):
            differences = multinomial_regrets(values, states * cells) - multinomial_regrets(values, cells)
            assert (np.diff(differences) > -1e-9).all()


def test_no_states_have_no_regret():
    assert multinomial_regrets(5, np.array([0.0, 1.0])).tolist() == [0.0, 0.0]
