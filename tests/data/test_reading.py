"""`read` returns the same data for all sources, and refuses bad data with one clear line."""

import gzip
import os
from datetime import date

import networkx as nx
import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given, strategies as st

import dagneal as dn

GOOD = "a,b,c\nx,1,no\ny,2,no\nx,10,yes\nx,1,no\n"


@pytest.fixture
def csv(tmp_path):
    def write(text, name="data.csv"):
        path = tmp_path / name
        path.write_bytes(text if isinstance(text, bytes) else text.encode())
        return path

    return write


def same(one: dn.Dataset, other: dn.Dataset) -> bool:
    return (
        one.names == other.names
        and one.states == other.states
        and np.array_equal(one.codes, other.codes)
        and np.array_equal(one.weights, other.weights)
    )


def test_states_are_sorted_and_equal_rows_are_merged(csv):
    data = dn.read(csv(GOOD))
    assert data.names == ("a", "b", "c")
    assert data.states == (("x", "y"), ("1", "2", "10"), ("no", "yes"))
    assert (data.rows, len(data.weights), sorted(data.weights.tolist())) == (4, 3, [1, 1, 2])
    assert data.codes.dtype == np.uint8
    assert data.codes.shape == (3, 3)


def test_every_source_gives_the_same_data(csv, tmp_path):
    data = dn.read(csv(GOOD))
    frame = pl.read_csv(csv(GOOD), infer_schema=False)
    numbers = pl.read_csv(csv(GOOD))
    frame.write_parquet(tmp_path / "data.parquet")
    numbers.write_parquet(tmp_path / "numbers.parquet")
    (tmp_path / "data.csv.gz").write_bytes(gzip.compress(GOOD.encode()))
    sources = [
        csv(GOOD.replace(",", "\t"), "data.tsv"),
        csv(GOOD.replace(",", ";"), "semicolons.csv"),
        csv(GOOD.replace("\n", "\r\n"), "windows.csv"),
        csv("\ufeff" + GOOD, "bom.csv"),
        csv(GOOD.rstrip("\n"), "noend.csv"),
        csv(GOOD + "\n\n", "blank.csv"),
        csv(GOOD.replace(",", ", "), "spaces.csv"),
        csv('a,b,"c"\n"x",1,"no"\ny,2,no\nx,10,yes\nx,1,no\n', "quotes.csv"),
        str(tmp_path / "data.parquet"),
        tmp_path / "numbers.parquet",
        tmp_path / "data.csv.gz",
        frame,
        frame.lazy(),
        numbers,
        pd.DataFrame({"a": ["x", "y", "x", "x"], "b": [1, 2, 10, 1], "c": ["no", "no", "yes", "no"]}),
    ]
    for source in sources:
        assert same(dn.read(source), data), source


def test_integer_arrays_are_read():
    array = np.array([[0, 5], [1, -7], [0, 5], [0, 5]])
    data = dn.read(array, names=["p", "q"])
    assert data.states == (("0", "1"), ("-7", "5"))
    assert data.weights.tolist() == [3, 1]
    for kind in (np.int8, np.int16, np.int32):
        assert same(dn.read(array.astype(kind), names=["p", "q"]), data)
    assert same(dn.read(np.asfortranarray(array), names=["p", "q"]), data)
    assert dn.read(np.array([[True, False], [False, True]])).names == ("X1", "X2")
    wide = np.array([[0, 10**12], [1, -(10**12)]])
    assert dn.read(wide).states[1] == (str(-(10**12)), str(10**12))
    weighted = dn.read(np.array([[0, 1, 3], [1, 0, 2]]), names=["a", "b", "n"], weights="n")
    assert (weighted.rows, weighted.names) == (5, ("a", "b"))


@given(st.lists(st.lists(st.integers(-3, 3), min_size=3, max_size=3), min_size=1, max_size=30))
def test_an_array_and_its_data_frame_give_the_same_data(rows):
    array = np.array(rows)
    assert same(dn.read(array, names=["a", "b", "c"]), dn.read(pl.DataFrame(array, schema=["a", "b", "c"])))
    assert same(dn.read(array, names=["a", "b", "c"]), dn.read(pd.DataFrame(array, columns=["a", "b", "c"])))


@pytest.mark.slow
@given(
    st.integers(2, 4).flatmap(
        lambda n: st.lists(
            st.lists(
                st.text("abc ,\"'é\t;|", min_size=1, max_size=4).filter(lambda s: s.strip() == s), min_size=n, max_size=n
            ),
            min_size=1,
            max_size=12,
        )
    )
)
def test_a_written_csv_file_is_read_back(rows):
    import tempfile

    frame = pl.DataFrame(rows, schema=[f"v{i}" for i in range(len(rows[0]))], orient="row")
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "data.csv")
        frame.write_csv(path)
        data = dn.read(path)
    assert data.rows == len(rows)
    assert same(data, dn.read(frame))
    read_back = sorted(tuple(row) for row in data.frame().cast(pl.String).rows())
    assert read_back == sorted(tuple(row) for row in rows)


def test_categorical_columns_keep_the_order_and_unused_categories():
    levels = ["low", "mid", "high"]
    frame = pl.DataFrame({"a": ["low", "high"], "b": ["x", "y"]}, schema={"a": pl.Enum(levels), "b": pl.String})
    pandas_frame = pd.DataFrame({"a": pd.Categorical(["low", "high"], categories=levels), "b": ["x", "y"]})
    for source in (frame, pandas_frame):
        data = dn.read(source)
        assert data.states[0] == tuple(levels)
        assert data.arities.tolist() == [3, 2]
    assert dn.read(pl.DataFrame({"a": ["q", "p"], "b": ["x", "y"]}).cast(pl.Categorical)).states[0] == ("p", "q")


def test_declared_states_are_used_and_checked(csv):
    data = dn.read(csv(GOOD), states={"b": [10, 2, 1, 0], "c": ["yes", "no"]})
    assert data.states == (("x", "y"), ("10", "2", "1", "0"), ("yes", "no"))
    truth = dn.load("lung-cancer")
    sampled = truth.sample(5, seed=1)
    assert same(dn.read(sampled.frame().cast(pl.String), states=truth), sampled)
    with pytest.raises(dn.InputError, match="column 'b' has the value '1', which is not a declared state"):
        dn.read(csv(GOOD), states={"b": ["2", "10"]})
    with pytest.raises(dn.InputError, match="there are states for 'z', but the selected columns are 'a', 'b', 'c'"):
        dn.read(csv(GOOD), states={"z": ["2"]})
    with pytest.raises(dn.InputError, match="declared twice"):
        dn.read(csv(GOOD), states={"b": ["1", "2", "10", "1"]})


def test_columns_are_selected_and_weights_are_used(csv):
    text = "n,a,b\n3,x,1\n2,y,0\n0,z,1\n1,x,1\n"
    data = dn.read(csv(text), weights="n")
    assert data.names == ("a", "b")
    assert data.rows == 6
    assert data.states[0] == ("x", "y")  # rows of weight 0 are ignored
    assert sorted(data.weights.tolist()) == [2, 4]
    assert dn.read(csv(text), columns=["b", "a"]).names == ("b", "a")
    assert dn.read(pd.DataFrame({"n": [3, 2], "a": ["x", "y"], "b": [1, 0]}), weights="n").rows == 5
    assert same(dn.read(data.frame(weights="n"), weights="n"), data)
    assert dn.read(data.frame()).rows == 6


@pytest.mark.parametrize(
    ("weights", "message"),
    [
        ("-1", "row 2 of column 'n' is negative"),
        ("0.5", "row 2 of column 'n' is not a whole number"),
        ("x", r"row 2 of column 'n' is not a number \(x\)"),
        ("", "row 2 of column 'n' is not a number"),
    ],
)
def test_invalid_weights_are_refused(csv, weights, message):
    with pytest.raises(dn.InputError, match=message):
        dn.read(csv(f"n,a,b\n1,x,y\n{weights},x,z\n"), weights="n")
    with pytest.raises(dn.InputError, match="no column 'm'; the columns are 'n', 'a', 'b'"):
        dn.read(csv("n,a,b\n1,x,y\n"), weights="m")


def test_missing_values_are_refused_dropped_or_turned_into_a_state(csv):
    text = "a,b,c\nx,1,no\n,2,no\nx,NA,yes\nx,?,no\n"
    with pytest.raises(
        dn.InputError,
        match=r"3 missing values: 1 in column 'a' .first in row 2., 2 in column 'b' .first in row 3.*missing='drop'",
    ):
        dn.read(csv(text))
    with pytest.raises(dn.InputError, match=r"1 in column 'b' .first in row 2"):
        dn.read(pd.DataFrame({"a": [1.0, 2.0], "b": ["x", None]}))
    dropped = dn.read(csv(text), missing="drop")
    assert (dropped.rows, dropped.states) == (1, (("x",), ("1",), ("no",)))
    kept = dn.read(csv(text), missing="state")
    assert (kept.rows, kept.states[0], kept.states[1]) == (4, ("x", "(missing)"), ("1", "2", "(missing)"))
    assert kept.states[2] == ("no", "yes")
    with pytest.raises(dn.InputError, match="every row"):
        dn.read(csv("a,b\n,1\n2,\n"), missing="drop")
    with pytest.raises(dn.InputError, match="missing is 'maybe'"):
        dn.read(csv(text), missing="maybe")


BAD = {
    "empty": ("", "is empty"),
    "header only": ("a,b\n", "no rows"),
    "ragged short": ("a,b,c\n1,2,3\n1,2\n", "line 3: 2 values, but the header has 3 columns"),
    "ragged long": ("a,b,c\n1,2,3\n1,2,3,4\n", "line 3: 4 values, but the header has 3 columns"),
    "duplicate names": ("a,b,a\n1,2,3\n", "two columns are named 'a'"),
    "empty name": ("a,,c\n1,2,3\n", "column 2 of the header has no name"),
    "latin-1": ("a,b\nx,caf\xe9\n".encode("latin-1"), "line 2: not UTF-8 text"),
    "utf-16": ("a,b\n1,2\n".encode("utf-16"), "line 1: not UTF-8 text"),
    "late latin-1": (b"a,b\n" + b"x,y\n" * 5000 + b"x,\xe9\n", "line 5002: not UTF-8 text"),
    "old Macintosh": ("a,b\r1,2\r3,4\r", "the header cannot be read"),
    "garbage": (bytes(range(256)) * 8, "not UTF-8 text"),
    "zeros": (bytes(100), "not UTF-8 text"),
    "open quote": ('a,b\n"x,2\n3,4\n', "line 3"),
    "one column": ("a\n1\n2\n", "at least 2 columns"),
    "continuous": (
        "a,b\n" + "".join(f"{i / 7:.5f},x\n" for i in range(200)),
        "column 'a' looks continuous.*200 distinct numbers",
    ),
    "many numbers": ("a,b\n" + "".join(f"{i % 180},x\n" for i in range(0, 400, 2)), "column 'a' looks continuous"),
    "numbers that never repeat": (
        "a,b\n" + "".join(f"{i},x\n" for i in range(0, 400, 2)),
        "column 'a' looks like an identifier",
    ),
}


@pytest.mark.parametrize("case", BAD)
def test_bad_files_are_refused_in_one_line(csv, case):
    text, message = BAD[case]
    path = csv(text)
    with pytest.raises(dn.InputError, match=message) as caught:
        dn.read(path)
    assert str(path) in str(caught.value) or case == "one column"
    assert "\n" not in str(caught.value)


def test_paths_without_a_readable_file_are_refused(tmp_path, csv):
    with pytest.raises(dn.InputError, match="there is no file"):
        dn.read(tmp_path / "nothing.csv")
    with pytest.raises(dn.InputError, match="is a folder"):
        dn.read(tmp_path)
    with pytest.raises(dn.InputError, match="not a readable Parquet file"):
        dn.read(csv("a,b\n1,2\n", "data.parquet"))
    with pytest.raises(dn.InputError, match="cannot be read"):
        dn.read(csv("a,b\n1,2\n", "data.csv.gz"))


@pytest.mark.skipif(os.geteuid() == 0, reason="root reads everything")
def test_a_file_without_read_permission_is_refused(csv):
    path = csv(GOOD)
    path.chmod(0)
    with pytest.raises(dn.InputError, match="Permission denied"):
        dn.read(path)


def test_a_file_that_cannot_be_opened_is_refused(csv, monkeypatch):
    from pathlib import Path

    def refuse(*_args, **_options):
        raise PermissionError(13, "Permission denied")

    path = csv(GOOD)
    monkeypatch.setattr(Path, "open", refuse)
    with pytest.raises(dn.InputError, match=r"data\.csv cannot be read: Permission denied"):
        dn.read(path)


def test_columns_with_too_many_states_are_refused(csv):
    many = pl.DataFrame({"a": [f"s{i}" for i in range(65_536)], "b": ["x"] * 65_536})
    with pytest.raises(dn.InputError, match=r"'a' has 65,536 distinct values \(limit: 65,535\)"):
        dn.read(many)
    with pytest.raises(dn.InputError, match="'a' has 65,536 distinct values"):
        dn.read(pd.DataFrame({"a": many["a"].to_list(), "b": "x"}))
    with pytest.raises(dn.InputError, match="65,536 states"):
        dn.Dataset.from_codes(["a", "b"], [many["a"].to_list(), ["x"]], np.array([[0], [0]]))
    data = dn.read(pl.concat([many.head(65_535)] * 2))
    assert (data.codes.dtype, data.arities[0]) == (np.uint16, 65_535)


@pytest.mark.parametrize(
    ("source", "options", "message"),
    [
        (np.zeros((2, 2)), {}, "holds float64 values; give integers"),
        (np.zeros(3, dtype=int), {}, "1-dimensional"),
        (np.zeros((0, 3), dtype=int), {}, "no rows"),
        (np.zeros((2, 3), dtype=int), {"names": ["a"]}, "names has length 1, but the array has 3 columns"),
        (np.zeros((2, 2), dtype=int), {"names": ["a", "a"]}, "two columns are named 'a'"),
        (pl.DataFrame({"a": [1], "b": [2]}), {"names": ["x", "y"]}, "names can only be given for an array"),
        (pl.DataFrame({"a": [[1]], "b": [2]}), {}, "which cannot be states"),
        (pl.DataFrame({"a": [], "b": []}), {}, "no rows"),
        (pd.DataFrame({"a": [], "b": []}), {}, "no rows"),
        (pd.DataFrame([[1, 2]], columns=["a", "a"]), {}, "two columns are named 'a'"),
        (pl.DataFrame({"a": [1]}), {}, "at least 2 columns"),
        ([1, 2], {}, "cannot read data from list"),
        (pl.DataFrame({"a": [1], "b": [2]}), {"columns": ["a", "z"]}, "no column 'z'"),
        (pl.DataFrame({"age": [1], "b": [2]}), {"columns": ["Age", "b"]}, "no column 'Age'; .*; did you mean 'age'"),
        (pl.DataFrame({"interview": [1], "b": [2]}), {"drop": ["intervew"]}, "did you mean 'interview'"),
        (pl.DataFrame({"age": [1], "b": [2]}), {"states": {"Age": ["1"]}}, "states for 'Age', .*; did you mean 'age'"),
        (pl.DataFrame({"age": [1], "b": [2]}), {"bins": {"Age": "quantile:4"}}, "bins for 'Age', .*; did you mean 'age'"),
    ],
)
def test_unusable_sources_and_options_are_refused(source, options, message):
    with pytest.raises(dn.InputError, match=message):
        dn.read(source, **options)


def test_a_column_with_one_state_is_accepted(csv):
    data = dn.read(csv("a,b\nx,1\nx,2\n"))
    assert data.constant == ("a",)
    assert dn.learn(data).edges == []


@given(st.binary(max_size=200))
def test_arbitrary_bytes_are_read_or_refused_in_one_line(content):
    import tempfile

    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "data.csv")
        with open(path, "wb") as file:
            file.write(content)
        message = ""
        try:
            assert dn.read(path).rows > 0
        except dn.InputError as error:
            message = str(error)
        assert "\n" not in message


def test_rows_are_merged_if_their_keys_overflow_64_bits():
    rng = np.random.default_rng(0)
    codes = rng.integers(0, 60_000, (8, 50))
    codes = np.concatenate([codes, codes], axis=1)
    data = dn.Dataset.from_codes([f"v{i}" for i in range(8)], [[str(s) for s in range(60_000)]] * 8, codes)
    assert data.weights.tolist() == [2] * 50
    rows = {tuple(row) for row in data.codes.T.tolist()}
    assert rows == {tuple(row) for row in codes.T.tolist()}


def test_blank_lines_are_ignored_but_rows_without_values_are_missing_values(csv, tmp_path):
    with pytest.raises(dn.InputError, match=r"3 missing values: 1 in column 'a' \(first in row 2\), 1 in column 'b'"):
        dn.read(csv("a,b,c\n1,2,3\n,,\n4,5,6\n"))
    with pytest.raises(dn.InputError, match="2 missing values"):
        dn.read(csv("a,b,c\n1,2,3\nx,,\n"), columns=["b", "c"])
    assert dn.read(csv("a,b\n1,2\n\n\n3,4\n\n")).rows == 2
    assert dn.read(csv("a,b\n1,2\n\n,\n"), missing="state").rows == 2
    assert dn.read(csv("a,b\n1,2\n\n,\n"), missing="drop").rows == 1
    weighted = dn.read(csv("a,b,n\n1,2,3\n\n3,4,5\n\n"), weights="n")
    assert (weighted.rows, weighted.arities.tolist()) == (8, [2, 2])
    pl.DataFrame({"a": ["x", None], "b": ["y", None]}).write_parquet(tmp_path / "null.parquet")
    with pytest.raises(dn.InputError, match="2 missing values"):
        dn.read(tmp_path / "null.parquet")
    assert dn.read(tmp_path / "null.parquet", missing="state").rows == 2


@pytest.mark.parametrize("row", ["4,5", "4,5,6,7"])
@pytest.mark.parametrize("columns", [["a", "b"], ["c", "a"], ["b", "a"]])
def test_ragged_rows_are_refused_for_any_selection_of_columns(csv, row, columns):
    with pytest.raises(dn.InputError, match="line 3"):
        dn.read(csv(f"a,b,c\n1,2,3\n{row}\n"), columns=columns, missing="drop")


def test_a_state_for_missing_values_does_not_change_other_states(csv):
    text = "a,b\n" + "".join(f"{i},x\n" for i in range(1, 13)) + "?,x\n"
    assert dn.read(csv(text), missing="state").states[0] == (*map(str, range(1, 13)), "(missing)")
    with pytest.raises(dn.InputError, match="looks continuous"):
        dn.read(csv("a,b\n" + "".join(f"{i / 7},x\n" for i in range(300)) + "?,x\n"), missing="state")


def test_a_declared_state_is_never_a_missing_value(csv):
    text = "a,b\nNA,1\nx,2\nx,1\n"
    assert dn.read(csv(text), states={"a": ["x", "NA"]}).states[0] == ("x", "NA")
    with pytest.raises(dn.InputError, match="1 missing"):
        dn.read(csv(text))
    with_gap = csv("a,b\nNA,1\nx,?\n,1\n")
    data = dn.read(with_gap, states={"a": ["x", "NA"]}, missing="state")
    assert data.states == (("x", "NA", "(missing)"), ("1", "(missing)"))
    with pytest.raises(dn.InputError, match=r"1 in column 'a' \(first in row 3\), 1 in column 'b' \(first in row 2\)"):
        dn.read(with_gap, states={"a": ["x", "NA"]})
    pandas_frame = pd.DataFrame({"a": pd.Categorical(["NA", "x"]), "b": [1, 2]})
    assert dn.read(pandas_frame).states[0] == ("NA", "x")


def test_unusual_column_names_are_kept(csv):
    data = dn.read(csv('*,^.*$,"a\nb","c ""q"" d"\n1,2,3,4\n0,2,3,5\n'))
    assert data.names == ("*", "^.*$", "a\nb", 'c "q" d')
    assert data.rows == 2
    assert dn.read(csv("*,^.*$\n1,2\n"), columns=["^.*$", "*"]).names == ("^.*$", "*")
    with pytest.raises(dn.InputError, match="the column 'a' is selected twice"):
        dn.read(csv(GOOD), columns=["a", "a"])


def test_numbers_that_are_too_large_are_refused():
    huge = pl.DataFrame({"a": ["x", "y"], "b": ["x", "y"], "n": [9 * 10**18, 9 * 10**18]})
    with pytest.raises(dn.InputError, match="at most 2\\^53"):
        dn.read(huge, weights="n")
    with pytest.raises(dn.InputError, match="at most 2\\^53"):
        dn.read(pd.DataFrame({"a": ["x"], "b": ["y"], "n": [1e300]}), weights="n")
    with pytest.raises(dn.InputError, match="row 1 of column 'n' is not a number"):
        dn.read(pd.DataFrame({"a": ["x"], "b": ["y"], "n": ["many"]}), weights="n")
    with pytest.raises(dn.InputError, match="2\\^63 or more"):
        dn.read(np.array([[2**63 + 5, 0]], dtype=np.uint64))
    with pytest.raises(dn.InputError, match="at least 2 columns"):
        dn.read(np.zeros((3, 0), dtype=int))


@pytest.mark.parametrize("code", [-1, 2, 300])
def test_invalid_codes_weights_and_states_are_refused(code):
    with pytest.raises(dn.InputError, match="'a' has a code that is not the index of one of its 2 states"):
        dn.Dataset.from_codes(["a", "b"], [["x", "y"], ["x", "y"]], np.array([[code], [0]]))
    with pytest.raises(dn.InputError, match="weight is negative"):
        dn.Dataset(("a", "b"), (("x",), ("x",)), np.zeros((2, 1), dtype=np.uint8), np.array([-1]))
    with pytest.raises(dn.InputError, match="have the same text"):
        dn.read(pd.DataFrame({"a": pd.Categorical([1, "1"]), "b": [1, 2]}))


def test_booleans_of_pandas_and_polars_give_the_same_states():
    values = {"a": [True, False], "b": ["x", "y"]}
    assert same(dn.read(pd.DataFrame(values)), dn.read(pl.DataFrame(values)))


def test_separators_inside_quotes_are_ignored(csv):
    assert dn.read(csv('"a,b,c";d\n1;2\n')).names == ("a,b,c", "d")
    assert dn.read(csv("a|b\n1|2\n")).names == ("a", "b")


@pytest.mark.parametrize(
    ("source", "options", "message"),
    [
        (pd.DataFrame(), {}, "at least 2 columns"),
        (pd.DataFrame({"n": [1]}), {"weights": "n"}, "at least 2 columns"),
        (pd.DataFrame({"a": [[1], [2]], "b": [1, 2]}), {}, "'a' holds lists or other nested values"),
        (pl.DataFrame({"a": [b"\xff"], "b": [1]}), {}, "'a' holds Binary values, which cannot be states"),
        (pl.DataFrame({"a": [1], "b": [1], "n": [[1]]}), {"weights": "n"}, "cannot be used as weights: it holds List"),
        (
            pl.DataFrame({"a": [1], "b": [1], "n": [date(2026, 1, 1)]}),
            {"weights": "n"},
            "cannot be used as weights: it holds Date",
        ),
        (pl.DataFrame({"a": [1], "b": [1]}), {"states": ["a"]}, "states is of type list"),
        (np.ma.masked_array([[1, 2]], mask=[[True, False]]), {}, "masked arrays are not supported"),
    ],
)
def test_unsupported_types_are_refused(source, options, message):
    with pytest.raises(dn.InputError, match=message):
        dn.read(source, **options)


def test_missing_values_in_rows_of_weight_zero_are_ignored(csv):
    data = dn.read(csv("a,b,n\n1,2, 3 \nx,NA,0\n"), weights="n")
    assert (data.rows, data.states[0]) == (3, ("1",))


@pytest.mark.parametrize(
    "call",
    [
        lambda data: dn.learn([1, 2]),
        lambda data: dn.learn(data, score="bdau"),
        lambda data: dn.scoring.Scorer(data).score(nx.Graph([("a", "b")])),
        lambda data: dn.scoring.score_table(data).gather([["a", "b"]]),
        lambda data: dn.BDeu(1e300),
        lambda data: dn.load("waste").expected_data(10**19),
        lambda data: dn.load("waste").sample(10.5),
    ],
)
def test_invalid_arguments_of_other_functions_are_refused(csv, call):
    data = dn.read(csv("a,b\n1,2\n3,4\n"))
    with pytest.raises(dn.InputError):
        call(data)
    assert dn.load("waste").sample(1e3, seed=np.int64(3)).rows == 1000


def test_too_many_columns_are_refused(tmp_path):
    with pytest.raises(dn.InputError, match="10,001 columns are too many"):
        dn.read(np.zeros((2, 10_001), dtype=np.uint8))
    (tmp_path / "wide.csv").write_text("\n".join([",".join(f"v{i}" for i in range(100_001)), ",".join(["1"] * 100_001)]))
    with pytest.raises(dn.InputError, match=r"has 100,001 columns \(limit: 100,000\)"):
        dn.read(tmp_path / "wide.csv")
