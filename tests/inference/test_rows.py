"""Prediction, imputation and log-likelihood of rows equal brute force over the joint distribution."""

import numpy as np
import pandas as pd
import polars as pl
import pytest

import dagneal as dn
from dagneal.inference import row_log_likelihood
from dagneal.networks.bundled import NAMES
from support.enumeration import joint_table, random_network, restrict

CASES = [*range(6), *(f"hostile {seed}" for seed in range(12)), *NAMES]


def network_of(case):
    if case in NAMES:
        return dn.load(case)
    kind, _, seed = str(case).rpartition(" ")
    return random_network(4 + int(seed) % 4, 100 + int(seed), hostile=kind == "hostile")


def frame_with_gaps(network, rows, seed, share=0.3):
    """Return a frame of text with missing values."""
    rng = np.random.default_rng(seed)
    codes = np.concatenate(list(network.sample_codes(rows, seed)), axis=1)
    rng.shuffle(codes, axis=1)
    columns = {}
    for name, line in zip(network.names, codes, strict=True):
        labels = [network.states[name][code] for code in line]
        columns[name] = [None if gap else label for label, gap in zip(labels, rng.random(rows) < share, strict=True)]
    return pl.DataFrame(columns, schema=dict.fromkeys(columns, pl.String))


def known(network, row, without=()):
    """Return the known values of a row as evidence. A variable may have a state for missing values."""
    marks = {name: [state for state in network.states[name] if state.strip() == "(missing)"] for name in row}
    states = {name: marks[name][0] if row[name] is None and marks[name] else row[name] for name in row}
    return {name: value for name, value in states.items() if value is not None and name not in without}


@pytest.mark.parametrize("case", CASES)
def test_rows_with_gaps_equal_brute_force(case):
    network = network_of(case)
    frame = frame_with_gaps(network, 25, 3)
    joint = joint_table(network)
    target = network.names[-1]
    axis = tuple(range(len(network.names) - 1))
    marks = [[state.strip() for state in states] for states in network.states.values()]
    marks = [labels.index("(missing)") if "(missing)" in labels and len(labels) > 1 else -1 for labels in marks]
    prediction = dn.predict(network, frame, target)
    assert prediction.columns == [target, *(f"{target}={state}" for state in network.states[target])]
    logs = row_log_likelihood(network, frame)
    filled = dn.impute(network, frame)
    each = dn.impute(network, frame, "each")
    drawn = dn.impute(network, frame, "sample", seed=1)
    for at, row in enumerate(frame.iter_rows(named=True)):
        table = restrict(joint, network, known(network, row, (target,)))
        expected = table.sum(axis=axis) / table.sum()
        np.testing.assert_allclose(prediction.row(at)[1:], expected, atol=1e-12)
        assert prediction.row(at)[0] == network.states[target][int(np.argmax(expected))]
        table = restrict(joint, network, known(network, row))
        assert logs[at] == pytest.approx(np.log(table.sum()), abs=1e-9)
        row = {name: None if value is not None and value.strip() == "(missing)" else value for name, value in row.items()}
        table = restrict(joint, network, {name: value for name, value in row.items() if value is not None}).copy()
        each_table = table.copy()
        for position, mark in enumerate(marks):  # a gap never gets the state of missing values
            if mark >= 0:
                table[tuple(mark if at == position else slice(None) for at in range(len(marks)))] = 0
        place = tuple(network.states[name].index(filled[name][at]) for name in network.names)
        assert table[place] == pytest.approx(table.max(), rel=1e-12)
        for position, (name, value) in enumerate(row.items()):
            own = each_table.sum(axis=tuple(other for other in range(len(row)) if other != position))
            own[[marks[position]] if marks[position] >= 0 else []] = 0
            assert own[network.states[name].index(each[name][at])] == pytest.approx(own.max(), rel=1e-12)
            if value is not None:
                assert value == filled[name][at] == each[name][at] == drawn[name][at]


def test_drawn_values_have_the_joint_distribution():
    network = random_network(4, 11)
    rows = 20_000
    first = network.names[0]
    frame = pl.DataFrame({name: [network.states[name][0] if name == first else None] * rows for name in network.names})
    drawn = dn.impute(network, frame.cast(pl.String), "sample", seed=5)
    table = restrict(joint_table(network), network, {first: network.states[first][0]})
    observed = np.zeros(table.shape)
    np.add.at(observed, tuple(drawn[name].to_physical().to_numpy() for name in network.names), 1)
    np.testing.assert_allclose(observed / rows, table / table.sum(), atol=0.02)
    assert drawn.equals(dn.impute(network, frame.cast(pl.String), "sample", seed=5))


def test_complete_rows_from_every_source_agree(tmp_path):
    network = dn.load("lung-cancer")
    data = network.sample(200, seed=4)
    frame = data.frame().cast(pl.String)
    frame.write_csv(tmp_path / "rows.csv")
    expected = dn.predict(network, frame, "Cancer")
    for source in (
        tmp_path / "rows.csv",
        frame.drop("Cancer"),
        pd.DataFrame(frame.to_dict(as_series=False)),
        data.frame(),
        frame.select(frame.columns[::-1]),
    ):
        assert dn.predict(network, source, "Cancer").equals(expected)
    stored = dn.predict(network, data, "Cancer")  # one prediction for each distinct row
    assert stored.height == len(data.weights)
    logs = row_log_likelihood(network, frame)
    assert logs.sum() == pytest.approx(dn.log_likelihood(network, data))


def test_one_known_column_is_enough(tmp_path):
    network = dn.load("lung-cancer")
    expected = dn.query(network, "Cancer", {"Smoker": "True"})["True"]
    frame = pl.DataFrame({"Smoker": ["True", "False"]})
    frame.with_columns(patient=pl.lit("x")).write_csv(tmp_path / "one.csv")
    for source in (frame, pd.DataFrame(frame.to_dict(as_series=False)), tmp_path / "one.csv"):
        prediction = dn.predict(network, source, "Cancer", unseen="missing")
        assert prediction["Cancer=True"][0] == pytest.approx(expected, abs=1e-12)
    with pytest.raises(dn.InputError, match=r"there is no column 'Pollution'.*unseen='missing'"):
        dn.predict(network, frame, "Cancer")


def test_unseen_states_are_named_or_unknown():
    network = dn.load("lung-cancer")
    frame = network.sample(5, seed=1).frame().cast(pl.String)
    strange = frame.with_columns(Smoker=pl.Series(["sometimes", *frame["Smoker"][1:]]))
    with pytest.raises(
        dn.InputError, match=r"'Smoker' has the value 'sometimes'.*; correct the data, or .* unseen='missing'$"
    ):
        dn.predict(network, strange, "Cancer")
    gap = frame.with_columns(Smoker=pl.Series([None, *frame["Smoker"][1:]]))
    assert dn.predict(network, strange, "Cancer", "missing").equals(dn.predict(network, gap, "Cancer"))
    assert dn.predict(network, strange, "Smoker").equals(dn.predict(network, frame, "Smoker"))  # the target is ignored
    other = dn.read(strange)
    with pytest.raises(dn.InputError, match="the data have the state 'sometimes' of 'Smoker'"):
        row_log_likelihood(network, other)


def test_numbers_are_binned_as_in_training():
    rng = np.random.default_rng(0)
    age = rng.normal(50, 15, 400).round(1)
    frame = pd.DataFrame({"age": age, "old": np.where(age > 55, "yes", "no")})
    result = dn.learn(dn.read(frame, bins={"age": "at:40,55"}))
    new = pl.DataFrame({"age": [20.0, 70.0, None]})
    prediction = result.predict(new, "old")
    assert prediction["old"].to_list()[:2] == ["no", "yes"]
    assert prediction["old=yes"][2] == pytest.approx(result.query("old")["yes"])
    for age, state in ((20, "below 40"), (40, "40 to 55"), ("54.9", "40 to 55"), (1e6, "55 and above")):
        assert result.query("old", {"age": age})["yes"] == result.query("old", {"age": state})["yes"]
    with pytest.raises(dn.InputError, match="'age' has no state 'young'; its states are 'below 40'"):
        result.query("old", {"age": "young"})


def test_an_ensemble_predicts_with_gaps_and_without():
    truth = dn.load("lung-cancer")
    mixture = dn.ensemble(truth.sample(300, seed=3), networks=10, run=dn.Run(seed=1))
    joint = sum(w * joint_table(n) for n, w in zip(mixture.networks, mixture.weights, strict=True))
    for share in (0.0, 0.4):
        frame = frame_with_gaps(truth, 20, 8, share)
        prediction = mixture.predict(frame, "Cancer")
        for at, row in enumerate(frame.iter_rows(named=True)):
            table = restrict(joint, truth, known(truth, row, ("Cancer",)))
            np.testing.assert_allclose(prediction.row(at)[1:], table.sum(axis=(0, 1, 3, 4)) / table.sum(), atol=1e-12)
    complete = frame_with_gaps(truth, 50, 9, 0.0)
    np.testing.assert_allclose(row_log_likelihood(mixture, complete), mixture.log_likelihood(complete), atol=1e-10)


def test_rows_of_many_variables_do_not_underflow():
    n = 2_000
    names = ["class", *(f"v{i}" for i in range(n))]
    table = np.array([[0.02, 0.98], [0.01, 0.99]])
    network = dn.BayesianNetwork(
        dict.fromkeys(names, ("0", "1")),
        {name: ("class",) if name != "class" else () for name in names},
        {name: table if name != "class" else [0.5, 0.5] for name in names},
    )
    codes = np.zeros((n + 1, 3), dtype=np.int64)
    codes[1:, 1] = np.arange(n) % 70 > 0
    codes[1:, 2] = np.arange(n) % 90 > 0
    data = dn.Dataset(tuple(names), (("0", "1"),) * (n + 1), codes, np.ones(3, dtype=np.int64))
    ones = codes[1:].sum(axis=0)
    joint = np.log(0.5) + (n - ones) * np.log(table[:, :1]) + ones * np.log(table[:, 1:])  # one line per class
    np.testing.assert_allclose(row_log_likelihood(network, data), joint[0], rtol=1e-12)
    probabilities = dn.predict(network, data, "class")["class=0"].to_numpy()
    np.testing.assert_allclose(probabilities, 1 / (1 + np.exp(joint[1] - joint[0])), atol=1e-9)
    gaps = dn.Dataset(("class", "v7"), (("0", "1"),) * 2, codes[[0, 8]], data.weights)
    assert row_log_likelihood(network, gaps, "missing")[0] == pytest.approx(np.log(0.5 * 0.02))


def test_impossible_rows_are_named():
    network = dn.BayesianNetwork(
        {"a": ("0", "1"), "b": ("0", "1"), "c": ("0", "1")},
        {"a": (), "b": ("a",), "c": ("b",)},
        {"a": [1, 0], "b": [[1, 0], [0, 1]], "c": [[0.5, 0.5], [0.5, 0.5]]},
    )
    frame = pl.DataFrame({"a": ["0", "1"], "b": ["0", "1"], "c": ["0", None]})
    with pytest.raises(dn.InputError, match="row 2 have probability 0"):
        dn.predict(network, frame.with_columns(b=pl.lit(None, pl.String)), "b")
    with pytest.raises(dn.InputError, match="row 2 have probability 0"):
        dn.impute(network, frame)
    assert row_log_likelihood(network, frame)[1] == -np.inf
    with pytest.raises(dn.InputError, match="method is 'mean'"):
        dn.impute(network, frame, "mean")


def test_a_result_answers_like_its_network():
    truth = dn.load("lung-cancer")
    result = dn.learn(truth.sample(3_000, seed=2), seed=1)
    network = result.network
    frame = frame_with_gaps(truth, 10, 1)
    assert result.predict(frame, "Cancer").equals(dn.predict(network, frame, "Cancer"))
    assert result.impute(frame).equals(dn.impute(network, frame))
    np.testing.assert_array_equal(result.log_likelihood(frame), row_log_likelihood(network, frame))
    assert result.query("Cancer", given={"Smoker": "True"})["True"] == dn.query(result, "Cancer", {"Smoker": "True"})["True"]
    assert result.most_probable({"Smoker": "True"})["Cancer"] == "False"
    assert result.sample(10, seed=1, given={"Smoker": "True"}).rows == 10
    assert set(result.blanket("Cancer")) == {*result.dag.predecessors("Cancer"), *result.dag.successors("Cancer")}
    assert "10" not in result._repr_html_().partition("<svg")[0] or "3,000 rows" in result._repr_html_()
