"""Numbers are binned, rare states are merged, and notes describe both."""

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given, strategies as st

import dagneal as dn
from dagneal.data.discretize import Bins, state_names
from support.frames import frame


@given(
    st.lists(st.floats(-1e9, 1e9), min_size=2, max_size=40, unique=True), st.sampled_from(["quantile", "uniform", "kmeans"])
)
def test_each_value_lies_in_the_interval_that_names_its_state(numbers, kind):
    values = np.array(sorted(numbers))
    cuts = Bins(kind, 4).cuts(values, np.ones(len(values)))
    names = state_names(cuts)
    for value in values:
        name = names[int(np.searchsorted(cuts, value, side="right"))]
        interval = name.replace("below ", "-1e300 to ").replace(" and above", " to 1e300").replace("any", "-1e300 to 1e300")
        low, high = map(float, interval.split(" to "))
        assert low <= value < high


def test_state_names_have_no_exponents():
    values = np.arange(12330.0, 12440.0)
    assert state_names(Bins("uniform", 3).cuts(values, np.ones(110))) == [
        "below 12366.3",
        "12366.3 to 12403",
        "12403 and above",
    ]


@given(
    st.lists(st.floats(-1e6, 1e6), min_size=1, max_size=60),
    st.sampled_from(["quantile", "uniform", "kmeans"]),
    st.integers(2, 7),
)
def test_cut_points_ascend_and_every_state_has_a_value(numbers, kind, count):
    values, counts = np.unique(np.array(numbers), return_counts=True)
    cuts = Bins(kind, count).cuts(values, counts.astype(float))
    assert (np.diff(cuts) > 0).all()
    assert len(cuts) < count
    names = state_names(cuts)
    assert len(set(names)) == len(names) == len(cuts) + 1
    assert len(cuts) >= min(1, len(values) - 1)  # two distinct values get at least two states
    if kind != "uniform":
        assert len(np.unique(np.searchsorted(cuts, values, side="right"))) == len(cuts) + 1


def test_quantile_bins_have_equal_numbers_of_rows():
    values = np.sort(np.random.default_rng(0).normal(size=1000))
    cuts = Bins("quantile", 4).cuts(values, np.ones(1000))
    assert np.bincount(np.searchsorted(cuts, values, side="right")).tolist() == [250] * 4


def test_kmeans_separates_clusters_and_uses_weights():
    values = np.array([0.0, 0.1, 0.2, 5.0, 5.1, 20.0])
    assert Bins("kmeans", 3).cuts(values, np.ones(6)).tolist() == [3.0, 10.0]  # the shortest numbers between the clusters
    cuts = Bins("kmeans", 2).cuts(np.array([0.0, 4.0, 6.0, 10.0]), np.array([100.0, 1.0, 1.0, 100.0]))
    assert cuts.tolist() == [5.0]


@pytest.mark.parametrize("kind", ["polars", "pandas", "csv", "parquet"])
def test_all_sources_give_the_same_bins(kind, tmp_path):
    table = frame()
    source = {
        "polars": lambda: table,
        "pandas": lambda: pd.DataFrame({name: table[name].to_numpy() for name in table.columns}),
        "csv": lambda: (table.write_csv(tmp_path / "t.csv"), tmp_path / "t.csv")[1],
        "parquet": lambda: (table.write_parquet(tmp_path / "t.parquet"), tmp_path / "t.parquet")[1],
    }[kind]()
    data = dn.read(source, bins={"": "quantile:4", "dose": "uniform:3"})
    cut = np.quantile(table["age"].to_numpy(), 0.25)
    assert data.states[0][0].startswith(f"below {cut:.2g}"[:8])
    codes = dict(zip(data.names, data.codes, strict=True))
    assert np.bincount(codes["age"], data.weights).tolist() == [100] * 4
    assert data.states[1] == ("0", "1")  # two distinct numbers are not binned
    assert len(data.states[2]) == 3
    assert [note.split(":")[0] for note in data.prepared] == ["age", "dose"]
    assert "binned into 4 states (quantile), cut at" in data.prepared[0]


def test_missing_numbers_stay_missing_after_binning():
    table = frame().with_columns(pl.when(pl.col("old") == 1).then(None).otherwise("age").alias("age"))
    with pytest.raises(dn.InputError, match="missing values"):
        dn.read(table, bins="quantile:3")
    data = dn.read(table, bins="quantile:3", missing="state")
    assert data.states[0][-1] == "(missing)"
    assert any("turned into the state (missing)" in note for note in data.prepared)
    dropped = dn.read(table, bins="quantile:3", missing="drop")
    count = int(frame()["old"].sum())
    assert f"{count:,} rows with missing values dropped" in dropped.prepared
    assert dropped.rows == 400 - count


def test_numbers_written_as_text_are_binned_and_other_text_is_refused(tmp_path):
    path = tmp_path / "t.csv"
    numbers = [f" {value} " for value in frame()["age"].to_list()]
    path.write_text("age,b\n" + "".join(f"{value},{i % 2}\n" for i, value in enumerate([*numbers, "NA"])))
    assert len(dn.read(path, bins="quantile:3", missing="drop").states[0]) == 3
    path.write_text("age,b\n" + "".join(f"{value},{i % 2}\n" for i, value in enumerate([*numbers, "tall"])))
    with pytest.raises(dn.InputError, match="'tall' is not a number"):
        dn.read(path, bins={"age": "quantile:3"})


def test_decimal_commas_are_accepted_but_thousands_separators_are_not(tmp_path):
    path = tmp_path / "t.csv"
    ages = [f"{value:.2f}".replace(".", ",") for value in frame()["age"].to_list()]
    path.write_text("age;b\n" + "".join(f"{age};{i % 2}\n" for i, age in enumerate(ages)))
    data = dn.read(path, bins="quantile:4")
    assert len(data.states[0]) == 4
    assert "(decimal commas)" in data.prepared[0]
    path.write_text("pay;b\n" + "".join(f"{1 + i % 9},{100 + i};{i % 2}\n" for i in range(400)))
    with pytest.raises(dn.InputError, match="is not a number"):
        dn.read(path, bins={"pay": "quantile:4"})


@pytest.mark.parametrize("bins", ["quantile", "quantile:1", "octile:3", "quantile:x", {"nose": "quantile:3"}])
def test_invalid_bins_are_refused(bins):
    with pytest.raises(dn.InputError):
        dn.read(frame(), bins=bins)


def test_rare_states_are_merged():
    cities = ["A"] * 50 + ["B"] * 45 + ["C", "D", "E"]
    table = pl.DataFrame({"city": cities, "x": [i % 2 for i in range(98)], "y": ["u"] * 97 + ["v"]})
    data = dn.read(table, rare=0.02)
    assert data.states[0] == ("(other)", "A", "B") or set(data.states[0]) == {"A", "B", "(other)"}
    assert data.states[2] == ("u", "v")  # a single rare state is kept
    assert data.prepared == ("city: 3 rare states (3 rows) merged into (other)",)
    assert dn.read(table, rare=0.02, states={"city": ["A", "B", "C", "D", "E"]}).prepared == ()
    for share in (-0.1, 1.0, float("nan")):
        with pytest.raises(dn.InputError, match="rare is"):
            dn.read(table, rare=share)


def test_surrounding_spaces_do_not_make_a_state_rare():
    table = pl.DataFrame({"a": ["A"] * 7 + [" A"] * 7 + ["B"] * 980 + ["C", "D"], "b": [i % 2 for i in range(996)]})
    data = dn.read(table, rare=0.01)
    assert set(data.states[0]) == {"A", "B", "(other)"}
    assert data.prepared == ("a: 2 rare states (2 rows) merged into (other)",)


def test_the_error_names_a_single_cell_that_is_not_a_number(tmp_path):
    path = tmp_path / "t.csv"
    ages = [str(value) for value in frame()["age"].to_list()]
    path.write_text("age,b\n" + "".join(f"{value},{i % 2}\n" for i, value in enumerate([*ages, "-"])))
    with pytest.raises(dn.InputError, match="'-' is not a number"):
        dn.read(path, bins="quantile:3")


def test_blank_lines_inside_quotes_are_part_of_the_value(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text("a,b\n" + '"p\n\nq",x\n' * 10 + "r,y\n\n" * 10 + ",\n" * 3)
    with pytest.raises(dn.InputError, match="6 missing values"):
        dn.read(path)
    assert dn.read(path, missing="drop").rows == 20


@given(
    st.lists(st.floats(-1e12, 1e12), min_size=2, max_size=40, unique=True),
    st.sampled_from(["quantile", "uniform", "kmeans"]),
)
def test_bins_are_recovered_from_state_names(numbers, kind):
    values = np.sort(np.array(numbers))
    cuts = Bins(kind, 4).cuts(values, np.ones(len(values)))
    states = state_names(cuts)
    bins = Bins.from_states(states)
    assert (bins is None) == (len(states) < 2)
    if bins is not None:
        assert bins.at == tuple(cuts)


@pytest.mark.parametrize(
    "states",
    [["a", "b"], ["below 2", "3 and above"], ["below 2", "2 to 1", "1 and above"], ["any"], [], ["below x", "x and above"]],
)
def test_no_bins_are_recovered_from_other_state_names(states):
    assert Bins.from_states(states) is None


def test_given_cut_points_are_used(tmp_path):
    table = frame()
    table.write_csv(tmp_path / "t.csv")
    for source in (table, pd.DataFrame(table.to_dict(as_series=False)), tmp_path / "t.csv"):
        data = dn.read(source, bins={"age": "at:30,60.5", "dose": "quantile:2"})
        assert data.states[data.names.index("age")] == ("below 30", "30 to 60.5", "60.5 and above")
        codes = np.repeat(data.codes[data.names.index("age")], data.weights)
        assert np.bincount(codes, minlength=3).tolist() == [
            (table["age"] < 30).sum(),
            ((table["age"] >= 30) & (table["age"] < 60.5)).sum(),
            (table["age"] >= 60.5).sum(),
        ]
    for invalid in ("at:", "at:5,3", "at:1,1", "at:x", "at:nan", "at:1,inf"):
        with pytest.raises(dn.InputError, match="ascending numbers"):
            dn.read(table, bins={"age": invalid})


def test_missing_values_become_a_state_if_the_network_has_this_state():
    table = frame().select("old", x=pl.Series([0, 1, None, 1] * 100))
    network = dn.learn(dn.read(table, missing="state")).network
    assert "(missing)" in network.states["x"]
    assert dn.read(table, states=network).states == dn.read(table, missing="state").states
    assert dn.read(table.head(2), states=network).states == dn.read(table, missing="state").states


def test_dates_are_not_binned(tmp_path):
    days = pl.date_range(pl.date(2020, 1, 1), pl.date(2021, 2, 3), eager=True)
    table = frame().with_columns(day=days.head(400))
    assert "day" not in str(dn.read(table.drop("day"), bins="quantile:3").prepared)
    with pytest.raises(dn.InputError, match="'day' cannot be binned: it holds Date values, not numbers"):
        dn.read(table, bins={"day": "quantile:3"})
    with pytest.raises(dn.InputError, match="'day' looks like an identifier"):
        dn.read(table, bins="quantile:3")


def test_the_error_gives_the_first_missing_value_of_a_long_file(tmp_path):
    path = tmp_path / "long.csv"  # long enough for polars to read it in chunks
    lines = [f"{'state' * 10}{row % 7},{'' if row % 50 == 25 else row % 3}" for row in range(4000)]
    path.write_text("a,b\n" + "\n".join(lines) + "\n")
    with pytest.raises(dn.InputError, match=r"80 in column 'b' \(first in row 26\)"):
        dn.read(path)


def test_one_error_lists_all_problems(tmp_path):
    path = tmp_path / "t.csv"
    rows = "".join(f"p{i},{i / 7},{'' if i == 30 else i % 2},{i % 3}\n" for i in range(200))
    path.write_text("id,dose,x,y\n" + rows)
    with pytest.raises(dn.InputError) as caught:
        dn.read(path)
    message = str(caught.value)
    assert message.index("1 missing value: 1 in column 'x' (first in row 31)") < message.index(
        "'id' looks like an identifier"
    )
    assert message.index("'id' looks like an identifier") < message.index("'dose' looks continuous")
    assert message.count(str(path)) == 1
    assert dn.read(path, missing="drop", drop=["id"], bins="quantile:2").names == ("dose", "x", "y")
    with pytest.raises(dn.InputError, match=r"'id' looks like an identifier.*'dose' looks continuous"):
        dn.read(path, missing="state")


def test_a_note_names_columns_with_many_states():
    table = frame().drop("age", "dose").with_columns(pl.Series("day", [f"day {i % 90}" for i in range(400)]))
    assert "day: 90 states with few rows each; group its values, or drop the column" in dn.read(table).prepared


def test_states_of_a_network_reproduce_missing_values_and_bins():
    table = frame().with_columns(pl.when(pl.int_range(400) % 9 == 0).then(None).otherwise(pl.col("age")).alias("age"))
    learner = dn.StructureLearner(missing="state", bins="quantile:3", rare=0.05)
    assert learner.fit(table).score(table.head(50)) < 0
    network = learner.network_
    assert "(missing)" in network.states["age"]
    assert Bins.from_states(network.states["age"]).count == 3
    assert dn.read(table, states=network).states == dn.read(table, missing="state", bins="quantile:3", rare=0.05).states


def test_bins_for_all_columns_skip_columns_with_few_distinct_numbers():
    table = pl.DataFrame({"age": [18 + i % 63 for i in range(5000)], "kids": [i % 12 for i in range(5000)]})
    data = dn.read(table, bins="quantile:4")
    assert [len(states) for states in data.states] == [4, 12]


def test_measurements_with_decimal_commas_look_continuous(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text("a;b\n" + "".join(f"{i / 7:.2f};{i % 2}\n".replace(".", ",") for i in range(300)))
    with pytest.raises(dn.InputError, match="'a' looks continuous"):
        dn.read(path)
    assert dn.read(path, bins="quantile:3").states[1] == ("0", "1")


@pytest.mark.parametrize("kind", ["quantile", "kmeans", "uniform"])
@pytest.mark.parametrize("counts", [[1, 5, 94], [1, 1, 9998], [9998, 1, 1], [3, 94, 3], [1, 99, 0]])
def test_a_column_with_a_frequent_number_keeps_at_least_two_states(kind, counts, tmp_path):
    numbers = np.repeat([0.0, 1.0, 2.0], counts)
    table = pl.DataFrame({"age": numbers, "x": np.arange(len(numbers)) % 2})
    table.write_csv(tmp_path / "t.csv")
    for source in (table, pd.DataFrame(table.to_dict(as_series=False)), tmp_path / "t.csv"):
        data = dn.read(source, bins={"age": f"{kind}:4"})
        occurs = np.bincount(data.codes[0], data.weights) > 0
        assert occurs.sum() >= 2
        assert data.constant == ()


def test_the_cut_point_next_to_a_frequent_number_balances_the_rows():
    table = pl.DataFrame({"age": [0] * 2 + [1] * 98, "b": [5] * 10 + [6] * 10 + [7] * 80})
    data = dn.read(table, bins={"age": "quantile:4", "b": "quantile:3"})
    assert data.states == (("below 0.5", "0.5 and above"), ("below 6.5", "6.5 and above"))
    assert data.prepared == (
        "age: binned into 2 states (quantile), cut at 0.5",
        "b: binned into 2 states (quantile), cut at 6.5",
    )


@pytest.mark.parametrize("kind", ["quantile:4", "uniform:3", "kmeans:2"])
def test_a_constant_column_is_not_binned(kind):
    table = pl.DataFrame({"a": [5.0] * 20, "b": [i % 2 for i in range(20)]})
    for source in (table, pd.DataFrame(table.to_dict(as_series=False)), table.cast(pl.String)):
        data = dn.read(source, bins={"a": kind})
        assert data.states[0] == ("5.0",)
        assert data.prepared == ("a: the same state in all rows",)
    empty = table.with_columns(a=pl.lit(None, dtype=pl.Float64))
    with pytest.raises(dn.InputError, match="20 missing values"):
        dn.read(empty, bins={"a": kind})


def test_notes_name_states_without_rows():
    table = pl.DataFrame({"age": [20.0, 30.0, 31.0, 100.0], "b": [1, 2, 1, 2]})
    assert dn.read(table, bins={"age": "at:18,65"}).prepared == (
        "age: binned into 3 states, cut at 18, 65; no rows in 'below 18'",
    )
    assert dn.read(table, bins={"age": "at:200"}).prepared == (
        "age: binned into 2 states, cut at 200; no rows in '200 and above'",
        "age: the same state in all rows",
    )
    assert dn.read(table, bins={"age": "uniform:4"}).prepared == (
        "age: binned into 4 states (uniform), cut at 40, 60, 80; no rows in '40 to 60', '60 to 80'",
    )
    declared = {"age": ["below 18", "18 and above"]}
    assert dn.read(table, states=declared).prepared == (
        "age: binned into 2 states, cut at 18",
        "age: the same state in all rows",
    )


@pytest.mark.parametrize("kind", ["quantile:3", "uniform:3", "kmeans:3"])
def test_very_large_numbers_are_binned(kind):
    table = pl.DataFrame({"a": [-1.7e308, 1.6e308, 1.7e308] * 4, "b": [1, 2, 1, 2] * 3})
    assert len(dn.read(table, bins={"a": kind}).states[0]) == 3
