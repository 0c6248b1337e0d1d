"""Automatic preparation of raw tables: rules, warnings, recipes, and new data."""

import datetime

import numpy as np
import pandas as pd
import polars as pl
import pytest

import dagneal as dn
from dagneal.data.raw.cutting import Measured, choose_cuts
from dagneal.data.raw.notation import EPOCHS, TIMES
from dagneal.data.recipe import Preparation, Recipe

ROWS = 400
GENERATOR = np.random.default_rng(5)
SMOKER = GENERATOR.integers(0, 2, ROWS)


def table(**columns):
    """Return a frame with two clean columns and other columns."""
    return pl.DataFrame(
        {"smoker": np.where(SMOKER, "yes", "no"), "sex": np.where(GENERATOR.random(ROWS) < 0.5, "f", "m"), **columns}
    )


def entry(prepared, column):
    return next(each for each in prepared.recipe.columns if each.column == column)


def entries(prepared, column):
    return [each for each in prepared.recipe.columns if each.column == column]


# Clean tables


@pytest.mark.parametrize("name", ["lung-cancer", "alarm-15"])
def test_a_clean_table_is_read_exactly_as_without_preparation(name, tmp_path):
    rows = dn.load(name).sample(500, 3).frame()
    rows.write_csv(tmp_path / "t.csv")
    rows.write_parquet(tmp_path / "t.parquet")
    for source in (tmp_path / "t.csv", tmp_path / "t.parquet", rows, pd.DataFrame(rows.to_dict(as_series=False))):
        prepared, strict = dn.prepare(source), dn.read(source)
        constant = {each.column for each in prepared.recipe.columns if each.action == "exclude"}
        assert all("constant" in entry(prepared, column).why for column in constant)
        kept = [i for i, column in enumerate(strict.names) if column not in constant]
        assert prepared.data.names == tuple(strict.names[i] for i in kept)
        assert prepared.data.states == tuple(strict.states[i] for i in kept)
        if not constant:
            assert prepared.table == []
            assert prepared.data.fingerprint == strict.fingerprint


def test_the_order_of_categories_is_kept_beside_prepared_columns():
    size = pl.Series(["small", "large"] * (ROWS // 2), dtype=pl.Enum(["small", "medium", "large"]))
    prepared = dn.prepare(table(size=size, dose=GENERATOR.normal(size=ROWS)))
    assert dict(zip(prepared.data.names, prepared.data.states, strict=True))["size"] == ("small", "large")


def test_numbers_with_few_values_are_states_in_numerical_order():
    prepared = dn.prepare(table(likert=GENERATOR.integers(8, 13, ROWS), dose=GENERATOR.normal(size=ROWS)))
    assert entry(prepared, "likert").states == ("8", "9", "10", "11", "12")


# Columns that are left out

LEFT_OUT = {
    "row numbers": np.arange(ROWS),
    "shuffled row numbers": np.random.default_rng(1).permutation(ROWS) + 1,
    "patient_id": np.random.default_rng(2).integers(0, 10**6, ROWS),
    "pidnum": np.random.default_rng(3).choice(10**6, ROWS, replace=False),
    "name": [f"person {i}" for i in range(ROWS)],
    "comment": [f"a long text that somebody wrote about this patient number {i // 2}" for i in range(ROWS)],
    "town": [f"town {i // 4}" for i in range(ROWS)],
    "constant": ["a"] * ROWS,
    "nearly constant": ["a"] * (ROWS - 1) + ["b"],
    "empty": [None] * ROWS,
    "mostly empty": [1.5] * 10 + [2.5] * 10 + [None] * (ROWS - 20),
}


@pytest.mark.parametrize("name", LEFT_OUT)
def test_columns_that_are_no_variables_are_left_out_with_a_reason(name):
    prepared = dn.prepare(table(**{name: LEFT_OUT[name]}))
    assert prepared.data.names == ("smoker", "sex")
    assert entry(prepared, name).action == "exclude"
    assert entry(prepared, name).why
    assert entry(prepared, name).change


KEPT = {
    "income": np.random.default_rng(4).choice(10**5, ROWS, replace=False),
    "steps": np.random.default_rng(4).integers(10_000, 99_999, ROWS),
    "year": np.arange(ROWS) % 40 + 1980,
    "passengers": np.random.default_rng(4).integers(100, 600, ROWS),
    "first": np.arange(ROWS) + 1600,
    "minority": ["a"] * (ROWS - 12) + ["b"] * 12,
    "town": [f"town {i % 9}" for i in range(ROWS)],
}


@pytest.mark.parametrize("name", KEPT)
def test_variables_are_not_left_out(name):
    assert name in dn.prepare(table(**{name: KEPT[name]})).data.names


def test_options_override_the_rules():
    raw = table(id=np.arange(ROWS), age=GENERATOR.normal(40, 10, ROWS), dose=GENERATOR.normal(size=ROWS))
    prepared = dn.prepare(raw, keep=["smoker"], bins={"id": "quantile:2", "age": "at:30,50"}, drop=["dose"])
    assert entry(prepared, "id").states == ("below 200", "200 and above")
    assert entry(prepared, "age").cuts == (30.0, 50.0)
    assert "dose" not in prepared.data.names
    assert entry(dn.prepare(raw, bins="uniform:3"), "age").why == "--bins says so"
    assert len(dn.prepare(raw, keep=["id"]).data.states[2]) == ROWS
    assert "id" in dn.prepare(raw, columns=["smoker", "id"]).data.names
    with pytest.raises(dn.InputError, match=r"'agge'.*did you mean 'age'"):
        dn.prepare(raw, keep=["agge"])


# Numbers


def test_cuts_keep_a_dependence_that_quantiles_lose():
    x = GENERATOR.random(2_000)
    y = (x > 0.85).astype(int)  # terciles and quartiles of x have no cut near 0.85
    (cuts,) = choose_cuts([Measured(x, False)], [y])
    assert any(0.8 < cut < 0.9 for cut in cuts)


def test_numbers_without_dependence_get_few_states():
    x, y = GENERATOR.normal(size=(2, 300))
    assert [len(cuts) for cuts in choose_cuts([Measured(x, False), Measured(y, False)], [])] == [1, 1]


def test_a_frequent_number_is_a_state_of_its_own():
    spent = np.where(SMOKER, 0.0, GENERATOR.lognormal(3, 1, ROWS))
    assert entry(dn.prepare(table(spent=spent)), "spent").states[0] == "up to 0"
    assert entry(dn.prepare(table(spent=np.ceil(spent))), "spent").states[0] == "0"
    hours = np.where(SMOKER, 40.0, GENERATOR.normal(40, 8, ROWS))
    assert "40" in entry(dn.prepare(table(hours=hours)), "hours").states


def test_rare_counts_join_their_neighbours():
    counts = np.repeat([0, 1, 2, 3, 4, 5, 9], [150, 100, 80, 60, 6, 2, 2])
    assert entry(dn.prepare(table(children=counts)), "children").states == ("0", "1", "2", "3", "4 and above")


NUMBERS = {
    "decimal commas": lambda x: f"{x:.3f}".replace(".", ","),
    "thousands": lambda x: f"{1e6 * x:,.2f}",
    "currency": lambda x: f"${1e6 * x:,.2f}",
    "percent": lambda x: f"{100 * x:.2f}%",
    "spaces": lambda x: f"  {x:.3f} ",
    "limits": lambda x: f"<{x:.3f}" if x < 0.1 else f"{x:.3f}",
}


@pytest.mark.parametrize("way", NUMBERS)
def test_numbers_are_understood_in_many_notations(way):
    x = GENERATOR.random(ROWS)
    prepared = dn.prepare(table(x=[NUMBERS[way](value) for value in x]))
    assert entry(prepared, "x").action == "bin"
    plain = dn.prepare(table(x=x)).recipe.columns[-1]
    assert len(entry(prepared, "x").states) == len(plain.states)


def test_a_few_texts_among_numbers_are_missing_values():
    x = [f"{value:.3f}" for value in GENERATOR.random(ROWS)]
    x[:3] = ["n.d.", "-", "n.d."]
    prepared = dn.prepare(table(x=x))
    assert entry(prepared, "x").marks == ("-", "n.d.")
    assert prepared.data.rows == ROWS - 3


def test_codes_of_digits_are_no_numbers():
    zipcode = np.array(["01001", "02139", "10001", "94305", "60601", "30301"])[GENERATOR.integers(0, 6, ROWS)]
    assert entry(dn.prepare(table(place=zipcode)), "place").states[0] == "01001"


# Dates


@pytest.mark.parametrize("style", ["%Y-%m-%d", "%d.%m.%Y", "%m/%d/%Y", "%d-%b-%y", "%Y-%m-%dT%H:%M:%S", "%B %d, %Y"])
def test_dates_become_year_month_and_weekday(style):
    days = np.datetime64("2015-01-01") + GENERATOR.integers(0, 1_800, ROWS)
    prepared = dn.prepare(table(visit=[day.item().strftime(style) for day in days]))
    assert [each.action for each in entries(prepared, "visit")] == ["year", "month", "weekday"]
    assert {"visit_year", "visit_month", "visit_weekday"} <= set(prepared.data.names)
    frame = prepared.recipe.encode(table(visit=[day.item().strftime(style) for day in days]))
    assert frame["visit_year"].to_list() == [str(day.astype("datetime64[Y]")) for day in days]
    assert frame["visit_weekday"].to_list() == [day.item().strftime("%a") for day in days]


def test_parts_of_dates_that_do_not_vary_are_left_out():
    months = [f"2015-{1 + i % 12:02}-01" for i in range(ROWS)]
    assert [each.action for each in entries(dn.prepare(table(month=months)), "month")] == ["month"]
    seconds = 1_400_000_000 + GENERATOR.integers(0, 10**8, ROWS)
    assert entries(dn.prepare(table(created_at=seconds)), "created_at")[0].format == EPOCHS[0]


# Times, codes, and columns in the same order

MINUTES = GENERATOR.integers(0, 1_440, ROWS)


@pytest.mark.parametrize(
    ("style", "unit"),
    [
        (lambda m: f"{m // 60:02}:{m % 60:02}", 60),
        (lambda m: f"{m // 60}:{m % 60:02}:30", 60),
        (lambda m: f"{(m // 60 + 11) % 12 + 1}:{m % 60:02} {'AP'[m // 720]}M", 60),
        (lambda m: f"{m // 1440} days {m // 60 % 24:02}:{m % 60:02}:00", 60),
        (lambda m: f"{m * 3 // 60}:{m * 3 % 60:02}", 20),
        (lambda m: datetime.time(m // 60, m % 60), 60),
        (lambda m: datetime.timedelta(minutes=int(m) - 700), 60),
    ],
)
def test_times_and_durations_are_cut_like_numbers(style, unit):
    late = (MINUTES > 900) ^ (GENERATOR.random(ROWS) < 0.05)
    frame = table(at=[style(int(m)) for m in MINUTES], late=late)
    prepared = dn.prepare(frame)
    at = entry(prepared, "at")
    assert (at.action, at.format, at.why) == ("bin", TIMES, "over 12 different times")
    assert at.was.startswith("times ")
    offset = -700 / 60 if isinstance(frame["at"][0], datetime.timedelta) else 0
    assert min(abs(cut - offset - 900 / unit) for cut in at.cuts) < 75 / unit  # the grid has steps of two hours
    encoded = prepared.recipe.encode(frame)["at"]
    hours = MINUTES / unit + offset + (0.5 / 60 if str(frame["at"][0]).endswith(":30") else 0)
    assert encoded.to_physical().to_list() == np.searchsorted(at.cuts, hours + 1e-9, side="right").tolist()
    applied = Recipe.from_dict(prepared.recipe.to_dict()).apply(frame)
    assert applied.data.fingerprint == prepared.data.fingerprint


@pytest.mark.parametrize(
    "texts", [["08:00", "12:00", "18:00"], [f"{i}:7" for i in range(20)], [f"a {i}:30" for i in range(20)]]
)
def test_few_times_and_other_texts_with_colons_are_texts(texts):
    prepared = dn.prepare(table(at=[texts[i % len(texts)] for i in range(ROWS)]))
    assert set(entry(prepared, "at").states) == set(texts)


def codes(count, effect, rows=2_000):
    """Return a frame with whole numbers, and a column that depends on them by an effect of each number."""
    generator = np.random.default_rng(8)
    number = generator.integers(1, count + 1, rows)
    return pl.DataFrame({"x": number, "y": generator.random(rows) < effect(number), "z": generator.integers(0, 3, rows)})


def test_numbers_whose_order_does_not_matter_are_codes():
    shares = np.random.default_rng(2).random(21)
    prepared = dn.prepare(codes(20, lambda x: shares[x]))
    x = entry(prepared, "x")
    assert x.states == tuple(map(str, range(1, 21)))
    assert x.why == "codes: neighbouring numbers are not alike"
    assert prepared.table[0]["change"] == "--bins x=quantile:4"
    frame = pl.DataFrame({"x": [3, 20, 21], "y": [True] * 3, "z": [0] * 3})
    assert prepared.recipe.encode(frame)["x"].to_list() == ["3", "20", None]
    cut = dn.prepare(codes(20, lambda x: shares[x]), bins={"x": "quantile:4"})
    assert entry(cut, "x").action == "bin"


@pytest.mark.parametrize(
    "effect",
    [
        lambda x: x / 21,
        lambda x: 0.1 + 0.8 * (x > 7),
        lambda x: abs(x - 10) / 11,
        lambda x: 0.1 + 0.8 * (x == 1),
        lambda x: 0.3,
    ],
    ids=["line", "step", "valley", "one number", "independent"],
)
def test_ordered_numbers_are_cut(effect):
    assert entry(dn.prepare(codes(20, lambda x: effect(x) + 0 * x)), "x").action == "bin"


@pytest.mark.parametrize(
    ("name", "action"), [("store_id", "group"), ("province", "group"), ("score", "bin"), ("age", "bin")]
)
def test_a_name_can_say_that_numbers_are_codes(name, action):
    assert entry(dn.prepare(codes(20, lambda x: 0.3 + 0 * x).rename({"x": name})), name).action == action


def test_counts_with_irregular_effects_are_cut():
    frame = codes(14, lambda x: 0 * x + 0.5, rows=6_000)
    number = np.minimum(np.random.default_rng(1).poisson(3, frame.height), 13)
    shares = np.random.default_rng(2).random(14)
    frame = frame.with_columns(
        x=pl.Series(number), y=pl.Series(np.random.default_rng(3).random(frame.height) < shares[number])
    )
    assert entry(dn.prepare(frame), "x").action == "bin"


def test_many_codes_are_cut():
    assert entry(dn.prepare(codes(100, lambda x: 0.3 + 0 * x).rename({"x": "province"})), "province").action == "bin"


def test_columns_in_the_same_order_are_left_out():
    income = np.exp(GENERATOR.normal(9, 1, ROWS)).round()
    frame = table(income=income, log_income=np.log(income), debt=-income / 3, thousands=(income / 1_000).round())
    prepared = dn.prepare(frame)
    assert set(prepared.data.names) == {"smoker", "sex", "income"}
    for name in ("log_income", "debt", "thousands"):
        assert (entry(prepared, name).why, entry(prepared, name).change) == (
            "same order as income",
            f"--bins {name}=quantile:4",
        )
    assert "debt" in dn.prepare(frame, bins={"debt": "quantile:3"}).data.names
    assert "debt" in dn.prepare(frame, columns=["income", "debt", "sex"]).data.names


def test_similar_numbers_and_trends_stay():
    income = np.exp(GENERATOR.normal(9, 1, ROWS))
    noisy = income * np.exp(GENERATOR.normal(0, 0.01, ROWS))
    level = np.arange(ROWS) * 1.5
    prepared = dn.prepare(table(income=income, noisy=noisy, level=level, total=np.cumsum(np.arange(ROWS)) / 7))
    assert {"income", "noisy", "level", "total"} <= set(prepared.data.names)


def test_two_columns_in_the_same_order_stay_if_there_are_no_others():
    income = np.exp(GENERATOR.normal(9, 1, ROWS))
    assert dn.prepare(pl.DataFrame({"a": income, "b": np.log(income)})).data.names == ("a", "b")


# Texts


def test_rare_texts_are_merged():
    town = ["a"] * 200 + ["b"] * 100 + ["c"] * 60 + ["d"] * 30 + [f"town {i // 2}" for i in range(10)]
    assert entry(dn.prepare(table(town=town)), "town").states == ("a", "b", "c", "d", "(other)")
    assert len(entry(dn.prepare(table(town=["a"] * 200 + ["b"] * 196 + ["c"] * 2 + ["d"] * 2)), "town").states) == 4


def test_booleans_have_one_spelling():
    answers = np.array(["TRUE", "true", "False"])[GENERATOR.integers(0, 3, ROWS)]
    assert entry(dn.prepare(table(ill=answers, x=GENERATOR.random(ROWS))), "ill").states == ("False", "True")


# Missing values


def gaps(values, count):
    return [None] * count + list(values[count:])


def test_rows_are_left_out_only_while_few_are_lost():
    x, y, z = (GENERATOR.random(ROWS) for _ in range(3))
    prepared = dn.prepare(table(x=gaps(x, 4), y=gaps(y, 16), z=gaps(z, 100)))
    assert [entry(prepared, name).gaps for name in "xyz"] == ["drop", "drop", "state"]
    assert prepared.data.rows == ROWS - 16
    assert entry(prepared, "z").states[-1] == "(missing)"
    assert dn.prepare(table(z=gaps(z, 100)), missing="drop").data.rows == ROWS - 100
    assert entry(dn.prepare(table(x=gaps(x, 4)), missing="state"), "x").gaps == "state"
    with pytest.raises(dn.InputError, match="4 missing values"):
        dn.prepare(table(x=gaps(x, 4)), missing="refuse")


def test_rows_without_most_values_are_left_out_first():
    columns = {f"x{i}": gaps(GENERATOR.random(ROWS), 40) for i in range(8)}
    assert dn.prepare(table(**columns)).data.rows == ROWS - 40


# Warnings


def kinds(prepared):
    return [caution.kind for caution in prepared.cautions]


GRID = pl.DataFrame({"a": ["x", "x", "y", "y"] * 2, "b": ["u", "v"] * 4, "c": ["1"] * 4 + ["2"] * 4})


def test_row_counts_become_weights_with_a_warning():
    counts = [3, 40, 7, 9, 12, 5, 30, 2]
    prepared = dn.prepare(GRID.with_columns(Freq=pl.Series(counts)))
    assert kinds(prepared) == ["row counts"]
    assert prepared.data.rows == sum(counts)
    assert "Freq" in dn.prepare(GRID.with_columns(Freq=pl.Series(counts)), keep=["Freq"]).data.names


def test_a_count_that_is_a_variable_causes_no_warning():
    repeated = pl.concat([GRID, GRID, GRID]).with_columns(count=pl.Series([1, 2, 3, 4] * 6))
    prepared = dn.prepare(repeated)
    assert kinds(prepared) == []
    assert "count" in prepared.data.names


def test_a_possible_column_of_counts_causes_a_warning_only():
    columns = {"a": [i % 10 for i in range(60)], "b": [i // 10 for i in range(60)], "c": [i * 7 % 9 for i in range(60)]}
    prepared = dn.prepare(pl.DataFrame(columns | {"count": [i * 3 % 47 + 1 for i in range(60)]}))
    assert kinds(prepared) == ["row counts"]
    assert prepared.data.rows == 60


def test_a_time_beside_an_event_causes_a_warning():
    prepared = dn.prepare(table(time=GENERATOR.exponential(10, ROWS), event=SMOKER))
    assert kinds(prepared) == ["censored time"]
    assert prepared.cautions[0].columns == ("time", "event")


@pytest.mark.parametrize("names", [("time", "smokes"), ("height", "event")])
def test_a_time_without_an_event_causes_no_warning(names):
    prepared = dn.prepare(table(**{names[0]: GENERATOR.exponential(10, ROWS), names[1]: SMOKER}))
    assert kinds(prepared) == []


@pytest.mark.parametrize(("count", "expected"), [(300, ["lost rows"]), (40, [])])
def test_many_lost_rows_cause_a_warning(count, expected):
    prepared = dn.prepare(table(x=gaps(GENERATOR.random(ROWS), count)), missing="drop")
    assert kinds(prepared) == expected


# Recipes


@pytest.fixture(scope="module")
def raw():
    generator = np.random.default_rng(9)
    ill = generator.integers(0, 2, ROWS)
    days = np.datetime64("2015-01-01") + generator.integers(0, 1_800, ROWS)
    return pl.DataFrame(
        {
            "id": np.arange(ROWS),
            "ill": np.where(ill, "TRUE", "FALSE"),
            "age": generator.normal(40, 10, ROWS) + 10 * ill,
            "spent": np.where(ill, 0.0, generator.lognormal(3, 1, ROWS)),
            "town": ["a"] * 200 + ["b"] * 100 + ["c"] * 60 + ["d"] * 30 + [f"town {i // 2}" for i in range(10)],
            "visit": days.astype(str),
            "weight": gaps(generator.normal(70, 9, ROWS), 100),
            "ward": generator.integers(1, 4, ROWS),
        }
    )


def test_a_recipe_survives_saving_and_gives_the_same_data(raw, tmp_path):
    prepared = dn.prepare(raw)
    prepared.recipe.save(tmp_path / "r.toml")
    loaded = dn.Recipe.load(tmp_path / "r.toml")
    assert loaded == prepared.recipe
    assert loaded.apply(raw).data.fingerprint == prepared.data.fingerprint
    assert Preparation.from_dict(prepared.preparation.to_dict()) == prepared.preparation
    raw.write_csv(tmp_path / "t.csv")
    assert dn.prepare(tmp_path / "t.csv").data.fingerprint == prepared.data.fingerprint
    assert dn.prepare(pd.DataFrame(raw.to_dict(as_series=False))).data.fingerprint == prepared.data.fingerprint


def test_new_data_are_prepared_like_the_training_data(raw):
    prepared = dn.prepare(raw)
    new = raw.tail(20).with_columns(town=pl.lit("z"), ward=pl.lit(9.0), age=pl.lit(1e9))
    applied = prepared.recipe.apply(pl.concat([raw.with_columns(pl.col("ward").cast(pl.Float64)), new]))
    assert dict(zip(applied.data.names, applied.data.states, strict=True)) == dict(
        zip(prepared.data.names, prepared.data.states, strict=True)
    )
    assert applied.data.rows == ROWS  # the ward 9 is new, so the rows are left out
    assert [(c.kind, c.columns) for c in applied.cautions] == [("unseen values", ("ward",))]
    assert prepared.recipe.apply(raw.head(50)).cautions == ()
    rows = prepared.recipe.encode(new)
    assert rows.height == 20
    assert rows["ward"].null_count() == 20
    assert set(rows["town"]) == {"(other)"}
    assert set(rows["age"]) == {entry(prepared, "age").states[-1]}


def test_a_table_without_a_column_of_the_recipe_is_refused(raw):
    with pytest.raises(dn.InputError, match="needs the column 'age'"):
        dn.prepare(raw).recipe.apply(raw.drop("age"))


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("version = 2\ncolumn = []", "version 2"),
        ("version = 1\ncolumn = 3", "no tables"),
        ('version = 1\n[[column]]\ncolumn = "a"\naction = "cut"', "action is 'cut'"),
        ('version = 1\n[[column]]\ncolumn = "a"\nname = "a"\naction = "bin"\ncuts = [2, 1]\nstates = ["x"]', "ascending"),
        ('version = 1\n[[column]]\ncolumn = "a"\nname = "a"\naction = "bin"\ncuts = [1]\nstates = ["x"]', "needs 2 states"),
        ('version = 1\n[[column]]\ncolum = "a"', "did you mean 'column'"),
        ("x", "is not TOML"),
    ],
)
def test_wrong_recipes_are_refused(text, message, tmp_path):
    path = tmp_path / "r.toml"
    path.write_text(text)
    with pytest.raises(dn.InputError, match=message):
        dn.Recipe.load(path)


def test_a_result_keeps_its_recipe(raw, tmp_path):
    raw.write_csv(tmp_path / "t.csv")
    result = dn.learn(tmp_path / "t.csv")
    result.save(tmp_path / "r.json")
    loaded = dn.load_result(tmp_path / "r.json")
    assert loaded.recipe == result.recipe == dn.Recipe.load(tmp_path / "r.json")
    assert loaded.with_data(tmp_path / "t.csv").data.fingerprint == result.data.fingerprint
    with pytest.raises(dn.InputError, match="looks continuous"):
        dn.learn(tmp_path / "t.csv", strict=True)


def test_larger_tables_are_prepared_in_batches(raw, tmp_path, monkeypatch):
    from dagneal.data.raw import prepare as module

    long = pl.concat([raw] * 30).with_columns(id=pl.Series(range(30 * ROWS)))
    long.write_csv(tmp_path / "t.csv")
    whole = dn.prepare(tmp_path / "t.csv").data
    monkeypatch.setattr(module, "MOST_CELLS", 1)  # the first 4,096 rows decide
    prepared = dn.prepare(tmp_path / "t.csv")
    assert prepared.data.rows == whole.rows
    assert prepared.data.names == whole.names
    assert "the first 4,096 rows decided" in prepared.data.prepared[0]


# Unusable tables


def test_a_table_without_two_variables_is_refused_with_an_option():
    with pytest.raises(dn.InputError, match=r"'name' \(identifier: one per row\).*keep=\['name'\]"):
        dn.prepare(pl.DataFrame({"name": [f"n{i}" for i in range(20)], "a": ["x", "y"] * 10}))
    with pytest.raises(dn.InputError, match="at least 2 columns"):
        dn.prepare(pd.DataFrame({"a": ["x", "y"] * 10}))
    with pytest.raises(dn.InputError, match="no rows"):
        dn.prepare(pd.DataFrame({"a": [], "b": []}))


def test_row_numbers_show_a_trend_if_there_is_one_other_variable():
    prepared = dn.prepare(pl.DataFrame({"id": range(80), "a": ["x"] * 30 + ["y"] * 50}))
    assert prepared.data.names == ("id", "a")


def test_rows_decide_as_often_as_they_count():
    rows = pl.DataFrame({"dept": list("ABCDEF") * 4, "sex": ["f"] * 12 + ["m"] * 12, "in": (["y"] * 6 + ["n"] * 6) * 2})
    rows = rows.with_row_index("number")
    counts = pl.Series("Freq", np.random.default_rng(1).integers(5, 500, 24))
    for prepared in (dn.prepare(rows.with_columns(counts)), dn.prepare(rows.with_columns(counts), weights="Freq")):
        assert prepared.data.names == ("dept", "sex", "in")
        assert prepared.data.rows == counts.sum()


def test_small_and_wide_tables_are_prepared():
    small = dn.prepare(pl.DataFrame({"a": [1, 2, 3], "b": [2.5, 3.5, 1.5]}))
    assert small.data.rows == 3
    wide = dn.prepare(pl.DataFrame({f"x{i}": GENERATOR.normal(size=12) for i in range(60)}))
    assert len(wide.data.names) == 60
    assert max(map(len, wide.data.states)) == 2


def test_lists_and_mixed_objects_in_pandas_columns():
    frame = pd.DataFrame({"a": [[1], [2]] * 20, "b": [1, "x"] * 20, "c": ["u", "v", "v", "w"] * 10})
    assert dn.prepare(frame).data.names == ("a", "b", "c")
