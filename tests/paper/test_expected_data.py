"""Compare rows, QUBOs, penalties and scores of the paper's datasets with independently computed values."""

import json
from pathlib import Path

import numpy as np
import pytest

import dagneal as dn
from dagneal.qubo.encode import qubos

REFERENCE = json.loads((Path(__file__).parents[1] / "support" / "figures" / "expected-10k.json").read_text())
CASES = [(network, rounding) for network, roundings in REFERENCE.items() for rounding in roundings]


@pytest.mark.parametrize(("network", "rounding"), CASES)
def test_datasets_match_independent_values(network, rounding):
    """Rows, QUBO size, penalties and scores match the reference file."""
    wanted = REFERENCE[network][rounding]
    truth = dn.load(network)
    data = truth.expected_data(10_000, rounding)
    assert (data.rows, len(data.weights)) == (wanted["rows"], wanted["distinct_rows"])
    scorer = dn.scoring.Scorer(data)
    table = scorer.table(max_parents=2)
    bqm = dn.qubo.encode(table, dn.PAPER)
    assert (bqm.num_variables, bqm.num_interactions) == (wanted["qubo_variables"], wanted["qubo_interactions"])
    penalties = qubos(table, dn.PAPER).penalties
    near = {"rel": 1e-6}
    assert penalties.maximum[0] == pytest.approx(wanted["delta_max"], **near)
    assert penalties.transitivity.max() == pytest.approx(wanted["delta_trans"], **near)
    assert penalties.consistency.max() == pytest.approx(wanted["delta_consist"], **near)
    assert bqm.offset == pytest.approx(wanted["offset"], **near)
    assert scorer.score(truth.dag) == pytest.approx(wanted["true_log_score"], **near)
    assert dn.solvers.exact(table).score == pytest.approx(wanted["best_log_score_2_parents"], **near)


@pytest.mark.parametrize(("rounding", "rows"), [("nearest", 8814), ("floor", 7645)])
def test_alarm_has_the_published_number_of_rows(rounding, rows):
    """Rounding to nearest gives the paper's 8,814 rows."""
    assert dn.load("alarm-15").expected_data(10_000, rounding).rows == rows


@pytest.mark.parametrize("rounding", ["nearest", "floor"])
@pytest.mark.parametrize("network", ["monty-hall", "lung-cancer", "waste-2p"])
def test_expected_counts_match_the_full_joint_distribution(network, rounding):
    """Each combination of states occurs with its rounded expected count."""
    truth = dn.load(network)
    data = truth.expected_data(1000, rounding)
    counts = {tuple(row): int(weight) for row, weight in zip(data.codes.T, data.weights, strict=True)}
    position = {name: i for i, name in enumerate(truth.names)}
    for states in np.ndindex(*(len(s) for s in truth.states.values())):
        p = 1.0
        for name in truth.names:
            p *= truth.cpts[name][tuple(states[position[v]] for v in (*truth.parents[name], name))]
        count = np.floor(round(1000 * p, 6) + (0.5 if rounding == "nearest" else 0.0))
        assert counts.get(states, 0) == count
