"""All sources of a table give the same data: weights, row numbers, booleans, unusual types, tables of several files."""

import gzip
import io
import sys
import zlib
from datetime import date, datetime, time, timedelta
from decimal import Decimal

import numpy as np
import pandas as pd
import polars as pl
import pytest

import dagneal as dn
from dagneal.confidence.bootstrap import reweight
from dagneal.data import frames
from dagneal.data.arrays import select_columns
from dagneal.data.packing import PackedRows


def rows_of(data):
    """Return the weight of each distinct row of states."""
    weights = {}
    for row, weight in zip(np.asarray(data.codes).T, data.weights, strict=True):
        key = tuple(states[code] for states, code in zip(data.states, row, strict=True))
        weights[key] = weights.get(key, 0) + int(weight)
    return weights


def write(path, text):
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return path


def set_stdin(monkeypatch, content):
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(content)))
    return "-"


# Rows of weight 0

WEIGHTED = {"a": ["x", "y", "z", "x", None], "b": ["1", "2", "3", "2", "1"], "n": [3, 2, 0, 1, 0]}
KINDS = ["csv", "tsv", "csv.gz", "parquet", "folder", "stdin", "polars", "lazy", "pandas", "category", "enum", "array"]


def source(kind, folder, monkeypatch):
    frame = pl.DataFrame(WEIGHTED)
    if kind in ("csv", "folder", "stdin", "csv.gz", "tsv"):
        text = frame.write_csv(separator="\t" if kind == "tsv" else ",")
        if kind == "stdin":
            return set_stdin(monkeypatch, text.encode())
        if kind == "folder":
            frame[:2].write_csv(folder / "1.csv")
            frame[2:].write_csv(folder / "2.csv")
            return folder
        return write(folder / f"t.{kind}", gzip.compress(text.encode()) if kind == "csv.gz" else text)
    if kind == "parquet":
        frame.write_parquet(folder / "t.parquet")
        return folder / "t.parquet"
    if kind == "lazy":
        return frame.lazy()
    if kind == "enum":
        return frame.with_columns(pl.col("a").cast(pl.Enum(["y", "x", "z", "never"])))
    if kind in ("pandas", "category"):
        pandas_frame = pd.DataFrame(WEIGHTED)
        categories = {"a": pd.CategoricalDtype(["y", "x", "z", "never"])}
        return pandas_frame.astype(categories) if kind == "category" else pandas_frame
    if kind == "array":
        return np.array([[0, 1, 3], [1, 2, 2], [2, 3, 0], [0, 2, 1], [7, 1, 0]])
    return frame


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("missing", ["refuse", "drop", "state", "em"])
def test_rows_of_weight_zero_are_ignored(kind, missing, tmp_path, monkeypatch):
    options = {"names": ["a", "b", "n"]} if kind == "array" else {}
    data = dn.read(source(kind, tmp_path, monkeypatch), weights="n", missing=missing, **options)
    assert data.rows == 6
    assert data.states[1] == ("1", "2")
    declared = ("y", "x", "z", "never")
    assert data.states[0] == {"array": ("0", "1"), "enum": declared, "category": declared}.get(kind, ("x", "y"))
    assert data.prepared == ()


@pytest.mark.parametrize("kind", KINDS)
def test_weights_that_are_all_zero_are_refused(kind, tmp_path, monkeypatch):
    monkeypatch.setitem(WEIGHTED, "n", [0] * 5)
    given = np.zeros((3, 3), dtype=int) if kind == "array" else source(kind, tmp_path, monkeypatch)
    options = {"names": ["a", "b", "n"]} if kind == "array" else {}
    with pytest.raises(dn.InputError, match="all weights in column 'n' are 0, so there are no rows"):
        dn.read(given, weights="n", **options)


def test_rows_of_weight_zero_do_not_affect_bins_checks_or_row_numbers(tmp_path):
    ages = [*range(20, 60), *range(1000, 1400)]
    table = pl.DataFrame({"age": ages, "x": [i % 2 for i in range(440)], "n": [10] * 40 + [0] * 400})
    data = dn.read(table, weights="n", bins="quantile:2")
    without_zero = dn.read(table.head(40), weights="n", bins="quantile:2")
    assert data.states == without_zero.states
    assert data.prepared == without_zero.prepared
    assert len(dn.read(table, weights="n").states[0]) == 40  # 440 distinct numbers would be refused
    path = write(tmp_path / "t.csv", "a,b,n\n,,0\nNA,1,0\nx,,2\n")
    with pytest.raises(dn.InputError, match=r"2 missing values: 2 in column 'b' \(first in row 3\)"):
        dn.read(path, weights="n")
    with pytest.raises(dn.InputError, match="line 4: 2 values"):
        dn.read(write(path, "n,a,b\n1,x,y\n1,y,x\n0,z\n"), weights="n")


def test_a_dataset_removes_rows_of_weight_zero():
    codes = np.array([[0, 1, 1], [0, 0, 1]], dtype=np.uint8)
    states = (("x", "y"), ("p", "q"))
    data = dn.Dataset(("a", "b"), states, codes, np.array([2, 0, 0]))
    assert (data.rows, data.codes.shape, data.weights.tolist()) == (2, (2, 1), [2])
    assert data.constant == ("a", "b")
    assert dn.Dataset.from_codes(("a", "b"), states, codes, np.array([2, 0, 0])).codes.tolist() == [[0], [0]]
    unweighted = dn.Dataset.from_codes(("a", "b"), states, codes)
    assert reweight(unweighted, np.array([0, 3, 1])).rows == 4
    for make in (
        lambda: dn.Dataset(("a", "b"), states, codes, np.zeros(3, dtype=int)),
        lambda: dn.Dataset.from_codes(("a", "b"), states, codes, np.zeros(3, dtype=int)),
        lambda: reweight(unweighted, np.zeros(3, dtype=int)),
    ):
        with pytest.raises(dn.InputError, match="no rows"):
            make()


@pytest.mark.parametrize(
    ("weights", "message"),
    [([1, 1, -1], "negative"), ([1, 1, 0.5], "not a whole number"), ([1, 1], "2 weights are given for 3 rows")],
)
def test_a_dataset_refuses_invalid_weights(weights, message):
    with pytest.raises(dn.InputError, match=message):
        dn.Dataset.from_codes(("a", "b"), (("x",), ("y",)), np.zeros((2, 3), dtype=int), np.array(weights))


# Row numbers and row names

TABLE = "a,b\nx,1\ny,2\nx,2\n"


@pytest.mark.parametrize(
    "text",
    [
        ",a,b\n0,x,1\n1,y,2\n2,x,2\n",
        ",a,b\n1,x,1\n2,y,2\n3,x,2\n",
        '"","a","b"\n"1","x","1"\n"2","y","2"\n"3","x","2"\n',
        "\ufeff,a,b\r\n0,x,1\r\n\r\n1,y,2\r\n2,x,2\r\n",
        "Unnamed: 0,a,b\n0,x,1\n1,y,2\n2,x,2\n",
        "Unnamed: 0.1,Unnamed: 0,a,b\n0,1,x,1\n1,2,y,2\n2,3,x,2\n",
        '"a","b"\n"1","x",1\n"2","y",2\n"3","x",2\n',
        '"a" "b"\n"1" "x" 1\n"2" "y" 2\n"3" "x" 2\n',
        '"a"\t"b"\n"r1"\t"x"\t1\n"r2"\t"y"\t2\n"r3"\t"x"\t2\n',
    ],
)
@pytest.mark.parametrize("merge", ["yes", "no"])
def test_row_numbers_and_row_names_of_text_files_are_dropped(text, merge, tmp_path):
    data = dn.read(write(tmp_path / "t.csv", text), merge=merge)
    assert data.names == ("a", "b")
    assert rows_of(data) == rows_of(dn.read(write(tmp_path / "plain.csv", TABLE)))
    assert "dropped" in data.prepared[0]


@pytest.mark.parametrize("name", ["", "Unnamed: 0", "__index_level_0__"])
@pytest.mark.parametrize("first", [0, 1])
def test_row_numbers_of_frames_are_dropped(name, first, tmp_path):
    frame = pl.DataFrame({name: range(first, first + 3), "a": ["x", "y", "x"], "b": ["1", "2", "2"]})
    frame.write_parquet(tmp_path / "t.parquet")
    for given in (frame, frame.lazy(), tmp_path / "t.parquet", pd.DataFrame(frame.to_dict(as_series=False))):
        data = dn.read(given)
        assert data.names == ("a", "b")
        assert "row numbers; it was dropped" in data.prepared[0]
    if name:  # a column that an option names is kept
        assert dn.read(frame, columns=[name, "a"]).names == (name, "a")
        assert dn.read(frame, drop=[name]).prepared == ()
        assert dn.read(frame.with_columns(pl.Series(name, [5, 5, 7]))).names == (name, "a", "b")


def test_the_index_that_pandas_writes_is_dropped(tmp_path):
    pandas_frame = pd.DataFrame({"a": ["x", "y"] * 40, "b": [1, 2, 2, 1] * 20})
    pandas_frame.to_csv(tmp_path / "t.csv")
    assert rows_of(dn.read(tmp_path / "t.csv")) == rows_of(dn.read(pandas_frame))
    assert dn.read(tmp_path / "t.csv").prepared == ("column 1 has no name and holds row numbers; it was dropped",)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (",a,b\nMazda,x,1\nFord,y,2\n", "column 1 of the header has no name and does not hold row numbers"),
        (",a,b\n0,x,1\n2,y,2\n", "column 1 of the header has no name"),
        ("a,,b\nx,p,1\ny,q,2\n", r"column 2 of the header has no name.*drop=\[''\]"),
        ("a,b\nr,x,1\nr,y,2\n", "one more value than the header has names"),
        ("a,b\n0.5,x,1\n0.7,y,2\n", "one more value than the header has names"),
        ("a,b\n1,x,1\n2,y\n", "line 3: 2 values, but the first row has 3 values"),
        ("a,b\nx,1,\ny,2,\n", "line 2: 3 values, but the header has 2 columns"),
    ],
)
def test_unnamed_columns_and_incomplete_headers_are_refused(text, message, tmp_path):
    with pytest.raises(dn.InputError, match=message):
        dn.read(write(tmp_path / "t.csv", text))


@pytest.mark.parametrize("starts", [(1, 1, 1), (0, 0, 0), (0, 3, 6), (6, 3, 0)])
def test_row_numbers_may_restart_in_each_file_of_a_folder(starts, tmp_path):
    for number, start in enumerate(starts):
        rows = "".join(f"{start + i},{i % 2},{number % 2}\n" for i in range(3))
        write(tmp_path / f"{number}.csv", ",a,b\n" + rows)
    write(tmp_path / "plain.csv", "b,a\n1,1\n")
    data = dn.read(tmp_path)
    assert (data.names, data.rows) == (("a", "b"), 10)
    assert data.prepared == ("column 1 has no name and holds row numbers; it was dropped",)


def test_only_the_first_rows_are_checked_for_row_numbers(tmp_path, monkeypatch):
    from dagneal.data import datafile

    monkeypatch.setattr(datafile, "_MAX_NUMBERED", 10)
    path = write(tmp_path / "t.csv", ",a,b\n" + "".join(f"{i},{i % 2},{i % 3}\n" for i in [*range(20), 7, 7]))
    assert dn.read(path).names == ("a", "b")


# Booleans

BOOLEANS = [True, False, True]


@pytest.mark.parametrize("merge", ["yes", "no"])
def test_booleans_have_one_spelling(merge, tmp_path):
    frame = pl.DataFrame({"a": BOOLEANS, "b": ["x", "y", "y"]})
    pandas_frame = pd.DataFrame({"a": BOOLEANS, "b": ["x", "y", "y"]})
    frame.write_parquet(tmp_path / "t.parquet")
    sources = [frame, frame.lazy(), tmp_path / "t.parquet", pandas_frame]
    sources += [pandas_frame.astype({"a": kind}) for kind in (object, "boolean", "category", "str")]
    for number, (yes, no) in enumerate([("True", "False"), ("TRUE", "FALSE"), ("true", "false"), ("TRUE", "False")]):
        sources.append(write(tmp_path / f"{number}.csv", f"a,b\n{yes},x\n {no} ,y\n{yes},y\n"))
    sources.append(write(tmp_path / "mixed.csv", "a,b\nTRUE,x\nfalse,y\ntrue,y\n"))
    for given in sources:
        data = dn.read(given, merge=merge)
        assert data.states[0] == ("False", "True"), given
        assert rows_of(data) == {("True", "x"): 1, ("False", "y"): 1, ("True", "y"): 1}
    array = dn.read(np.array([[True, False], [False, False]]), merge=merge)
    assert array.states == (("False", "True"), ("False",))


def test_booleans_with_other_states_or_missing_values(tmp_path):
    path = write(tmp_path / "t.csv", "a,b\nTRUE,x\nfalse,y\nunknown,y\n")
    assert dn.read(path).states[0] == ("TRUE", "false", "unknown")
    write(path, "a,b\nTRUE,x\nfalse,y\nNA,y\n")
    assert dn.read(path, missing="state").states[0] == ("False", "True", "(missing)")
    assert dn.read(path, missing="drop").states[0] == ("False", "True")
    assert dn.read(pd.DataFrame({"a": [True, None], "b": [1, 2]}), missing="state").states[0] == ("True", "(missing)")


@pytest.mark.parametrize("spelling", [["true", "false"], ["TRUE", "FALSE"], ["False", "True", "unknown"]])
def test_declared_booleans_match_in_any_spelling(spelling, tmp_path):
    path = write(tmp_path / "t.csv", "a,b\nTrue,x\nFalse,y\n")
    for given in (
        path,
        pl.DataFrame({"a": [True, False], "b": ["x", "y"]}),
        pd.DataFrame({"a": BOOLEANS[:2], "b": ["x", "y"]}),
    ):
        for merge in ("yes", "no"):
            data = dn.read(given, states={"a": spelling}, merge=merge)
            assert data.states[0] == tuple(spelling)
            assert {key[0].lower() for key in rows_of(data)} == {"true", "false"}
    with pytest.raises(dn.InputError, match="'False', which is not a declared state"):
        dn.read(path, states={"a": ["yes", "no"]})


def test_a_network_with_another_spelling_of_booleans_fits_the_data(tmp_path):
    rows = "".join(f"{'TRUE' if i % 3 else 'FALSE'},{i % 2}\n" for i in range(30))
    data = dn.read(write(tmp_path / "t.csv", "a,b\n" + rows))
    network = dn.fit(dn.learn(data).dag, data)
    uppercase = type(network)({"a": ("FALSE", "TRUE"), "b": network.states["b"]}, network.parents, network.cpts, "uppercase")
    assert dn.log_likelihood(uppercase, data) == dn.log_likelihood(network, data)
    assert dn.read(tmp_path / "t.csv", states=uppercase).states[0] == ("FALSE", "TRUE")


# Merging


@pytest.mark.parametrize("kind", ["pandas", "array", "polars"])
def test_merge_decides_whether_equal_rows_are_merged(kind, monkeypatch):
    values = np.array([[0, 1], [0, 1], [1, 0]])
    given = {"pandas": pd.DataFrame(values), "array": values, "polars": pl.DataFrame(values)}[kind]
    packed = dn.read(given, merge="no")
    assert isinstance(packed.codes, PackedRows)
    assert packed.codes.shape == (2, 3)
    assert rows_of(packed) == rows_of(dn.read(given)) == rows_of(dn.read(given, merge="yes"))
    assert dn.read(given).codes.shape == (2, 2)
    monkeypatch.setattr(frames, "SAMPLE", 64)
    distinct = np.random.default_rng(0).integers(0, 40, (1000, 6))
    given = {"pandas": pd.DataFrame(distinct), "array": distinct, "polars": pl.DataFrame(distinct)}[kind]
    assert "equal rows were not merged" in dn.read(given).prepared[0]
    assert dn.read(given, merge="yes").codes.shape[0] == 6


# Tables of counts

COUNTED = "Class,Sex,Freq\n1st,M,62\n1st,F,141\n2nd,M,25\n2nd,F,93\n3rd,M,0\n3rd,F,4\n"


@pytest.mark.parametrize("name", ["Freq", "n", "N", "Count", "counts", "weight", "weights", "frequency", "COUNT(*)"])
def test_a_note_proposes_weights_for_a_table_of_counts(name, tmp_path):
    path = write(tmp_path / "t.csv", COUNTED.replace("Freq", name))
    hint = f"give weights={name!r}"
    for given in (path, pl.read_csv(path), pd.read_csv(path)):
        assert any(hint in note for note in dn.read(given).prepared)
        assert not any("give weights=" in note for note in dn.read(given, weights=name).prepared)
        assert not any("give weights=" in note for note in dn.read(given, drop=[name]).prepared)
        assert not any("give weights=" in note for note in dn.read(given, bins={name: "quantile:2"}).prepared)


@pytest.mark.parametrize(
    "text",
    [
        COUNTED + "3rd,F,5\n",  # two rows are equal in the other columns
        COUNTED.replace("141", "141.5"),
        COUNTED.replace("141", "-1"),
        COUNTED.replace("141", "many"),
        COUNTED.replace("Freq", "Fare"),
        "a,b,n\nx,y,1\nx,z,1\n",  # all counts are 1
        "id,b,n\n" + "".join(f"p{i % 90},{i},{i % 7}\n" for i in range(200)),  # the column b alone identifies rows
    ],
)
def test_no_note_proposes_weights_for_other_tables(text, tmp_path):
    path = write(tmp_path / "t.csv", text)
    assert not any(
        "give weights=" in note for note in dn.read(path, bins={"b": "quantile:2"} if "id" in text else None).prepared
    )


# Files of one table


def write_files(folder, *texts, kind="csv"):
    for number, text in enumerate(texts):
        frame = pl.read_csv(io.StringIO(text), infer_schema=False, separator=";")
        if kind == "csv":
            write(folder / f"{number}.csv", text)
        else:
            frame.write_parquet(folder / f"{number}.parquet")
    return folder


@pytest.mark.parametrize("kind", ["csv", "parquet"])
def test_a_note_names_states_with_different_spellings(kind, tmp_path):
    given = write_files(tmp_path, "a;b\n0;x\n1;y\n", "a;b\n0;x\n1;x\n", "a;b\nno;x\nyes;y\n", kind=kind)
    (note,) = dn.read(given).prepared
    assert note == f"a: 0.{kind} has '0', '1', but 2.{kind} has 'no', 'yes'; if they mean the same, use one spelling"
    assert dn.read(given, states={"a": ["0", "1", "no", "yes"]}).prepared == ()


def test_a_note_names_files_with_decimal_commas_and_points(tmp_path):
    given = write_files(tmp_path, "a;b\n1.5;x\n2;y\n", "a;b\n1,5;x\n2;y\n")
    assert dn.read(given).prepared == ("a: 1.csv has decimal commas, but 0.csv has decimal points; use one format",)
    rows = [f"{i / 7:.2f};{i % 2}\n" for i in range(100)]
    write_files(tmp_path, "a;b\n" + "".join(rows), "a;b\n" + "".join(rows).replace(".", ","))
    assert any("decimal commas, but" in note for note in dn.read(given, bins="quantile:2").prepared)


def test_no_note_about_files_that_differ_for_good_reasons(tmp_path):
    folder = write_files(tmp_path, "a;b\nA;1\nA;2\n", "a;b\nB;1\nB;2\n")  # files were split by the column a
    assert dn.read(folder).prepared == ()
    write_files(tmp_path, "a;b\nTRUE;1\nFALSE;2\n", "a;b\ntrue;1\nfalse;2\n")
    assert dn.read(folder).prepared == ()
    numbers = ["a;b\n" + "".join(f"{i + start};{i % 2}\n" for i in range(40)) for start in (0, 40)]
    write_files(tmp_path, *numbers)
    assert [note.split(":")[0] for note in dn.read(folder, bins={"a": "quantile:2"}).prepared] == ["a"]
    write_files(tmp_path, "a;b\n0;1\n1;2\n", "a;b\nNA;1\nNA;2\n")
    assert not any("spelling" in note for note in dn.read(folder, missing="state").prepared)


def test_all_rows_are_compared_before_a_note_about_spelling(tmp_path, monkeypatch):
    from dagneal.data import spelling

    monkeypatch.setattr(spelling, "_CELLS", 1)
    monkeypatch.setattr(spelling, "_LEAST_ROWS", 2)
    given = write_files(tmp_path, "a;b\n0;x\n1;y\n2;y\n3;x\n", "a;b\n2;x\n3;y\n0;y\n1;x\n")
    assert dn.read(given).prepared == ()
    write_files(tmp_path, "a;b\n0;x\n1;y\n2;y\n3;x\n", "a;b\np;x\nq;y\np;y\nq;x\n")
    assert "use one spelling" in dn.read(given).prepared[0]


# Unusual bytes and types


@pytest.mark.parametrize("merge", ["yes", "no"])
@pytest.mark.parametrize("space", ["\x1c", "\x1d", "\x1e", "\x1f", "\x85", "\xa0", "\u2003", "\t"])
def test_all_unicode_spaces_are_stripped(space, merge, tmp_path):
    path = write(tmp_path / "t.csv", f"a,b\nNA{space},1\n{space}x,2\nx,1\ny,2\n")
    data = dn.read(path, missing="drop", merge=merge)
    assert (data.rows, data.states[0]) == (3, ("x", "y"))
    with pytest.raises(dn.InputError, match=r"1 in column 'a' \(first in row 1\)"):
        dn.read(path, merge=merge)
    numbers = write(tmp_path / "n.csv", "a,b\n" + "".join(f"{i}.5{space},{i % 2}\n" for i in range(60)))
    assert len(dn.read(numbers, bins="quantile:2").states[0]) == 2
    assert dn.read(write(path, f"a,b,n\nx,1,2{space}\ny,2,1\n"), weights="n").rows == 3


@pytest.mark.parametrize("name", ["x^", "x\x01", "x\u069c", "x^2", "x"])
def test_text_that_looks_compressed_is_read(name, tmp_path):
    data = dn.read(write(tmp_path / "t.csv", f"{name},b\n1,2\n3,4\n\n"))
    assert (data.names, data.rows) == ((name, "b"), 2)
    with pytest.raises(dn.InputError, match=r"t\.csv, line 3: 1 value, but"):
        dn.read(write(tmp_path / "t.csv", f"{name},b\n1,2\n3\n"))


def test_compression_is_detected_without_a_file_ending(tmp_path, monkeypatch):
    content = b"a,b\n1,2\n3,4\n\n"
    assert dn.read(write(tmp_path / "t.csv", gzip.compress(content))).rows == 2
    assert dn.read(set_stdin(monkeypatch, gzip.compress(content))).rows == 2
    with pytest.raises(dn.InputError, match="not UTF-8 text"):
        dn.read(write(tmp_path / "t.csv", zlib.compress(content)))
    for start, method in ((b"\x28\xb5\x2f\xfd", "Zstandard"), (b"PK\x03\x04", "ZIP"), (b"\xfd7zXZ\x00", "xz")):
        with pytest.raises(dn.InputError, match=f"is compressed .{method}.; decompress it"):
            dn.read(write(tmp_path / "t.csv", start + b"\x00" * 20))


@pytest.mark.parametrize("merge", ["yes", "no"])
@pytest.mark.parametrize(
    ("values", "states"),
    [
        (pl.Series([2**63, 2**64 - 1], dtype=pl.UInt64), (str(2**63), str(2**64 - 1))),
        (pl.Series([2**63, 2**63 + 1], dtype=pl.UInt64), (str(2**63), str(2**63 + 1))),
        (pl.Series([5, 2**63], dtype=pl.UInt64), ("5", str(2**63))),
        (pl.Series([2**100, 1], dtype=pl.Int128), ("1", str(2**100))),
        (pl.Series([Decimal("1.50"), Decimal("2")]), ("1.50", "2.00")),
        (pl.Series([date(2020, 1, 1), date(2021, 1, 1)]), ("2020-01-01", "2021-01-01")),
        (pl.Series([time(1), time(2)]), ("01:00:00", "02:00:00")),
        (pl.Series([datetime(2020, 1, 1), datetime(2021, 1, 1)]), None),
        (pl.Series(["b", "a"], dtype=pl.Categorical), ("a", "b")),
        (pl.Series([float("inf"), 1.0]), ("1.0", "inf")),
        (pl.Series([b"b", b"a"]), ("a", "b")),
        (pl.Series([b"\xff", b"a"]), "holds Binary values, which cannot be states"),
        (pl.Series([timedelta(1), timedelta(2)]), "holds Duration.*which cannot be states"),
        (pl.Series([object(), object()], dtype=pl.Object), "holds Object values, which cannot be states"),
        (pl.Series([[1], [2]]), "which cannot be states"),
        (pl.Series([[1], [2]], dtype=pl.Array(pl.Int64, 1)), "which cannot be states"),
        (pl.Series([{"p": 1}, {"p": 2}]), "which cannot be states"),
        (pl.Series([None, None]), "2 missing values"),
    ],
)
def test_polars_types_are_read_or_refused(values, states, merge, tmp_path):
    frame = pl.DataFrame({"a": values, "b": ["x", "y"]})
    sources = [frame]
    if values.dtype not in (pl.Object, pl.Int128):
        frame.write_parquet(tmp_path / "t.parquet")
        sources.append(tmp_path / "t.parquet")
    for given in sources:
        if isinstance(states, str):
            with pytest.raises(dn.InputError, match=states) as caught:
                dn.read(given, merge=merge)
            assert "\n" not in str(caught.value)
        else:
            assert dn.read(given, merge=merge).states[0] == (states or dn.read(frame).states[0])


@pytest.mark.parametrize("merge", ["yes", "no"])
@pytest.mark.parametrize(
    ("values", "states"),
    [
        (pd.Series([2**63 + 5, 2**64 - 1], dtype="uint64"), (str(2**63 + 5), str(2**64 - 1))),
        (pd.Series([2**63 + 5, 7], dtype="UInt64"), ("7", str(2**63 + 5))),
        (pd.Series([1, 2], dtype="Int64"), ("1", "2")),
        (pd.Series([1.5, 2], dtype="Float64"), ("1.5", "2.0")),
        (pd.Series([1, 2], dtype="float16"), ("1.0", "2.0")),
        (pd.Series(np.array([1, 2], dtype=">i4")), ("1", "2")),
        (pd.Series(pd.period_range("2020-01", periods=2, freq="M")), ("2020-01", "2020-02")),
        (pd.Series(pd.interval_range(0, 2)), ("(0, 1]", "(1, 2]")),
        (pd.Series(pd.arrays.SparseArray([0, 1])), ("0", "1")),
        (pd.Series(["x", "y"], dtype="string"), ("x", "y")),
        (pd.Series([1, "1"], dtype=object), ("1",)),
        (pd.Series([np.inf, 1.0]), ("1.0", "inf")),
        (pd.Series(pd.timedelta_range("1h", periods=2)), ("0 days 01:00:00", "1 days 01:00:00")),
        (pd.Series([{"p": 1}, {}]), "holds lists or other nested values"),
        (pd.Series(["\ud800", "x"], dtype=object), "not valid Unicode"),
        (pd.Series(pd.Categorical([None, None])), "2 missing values"),
    ],
)
def test_pandas_types_are_read_or_refused(values, states, merge):
    pandas_frame = pd.DataFrame({"a": values, "b": ["x", "y"]})
    if isinstance(states, str):
        with pytest.raises(dn.InputError, match=states):
            dn.read(pandas_frame, merge=merge)
        assert dn.read(pandas_frame.assign(c=[1, 2]), drop=["a"]).names == ("b", "c")
    else:
        assert dn.read(pandas_frame, merge=merge).states[0] == states


def test_unusual_pandas_frames_are_read_or_refused():
    pairs = pd.MultiIndex.from_tuples([("a", "x"), ("a", "y")])
    assert dn.read(pd.DataFrame([[1, 2], [2, 1]], columns=pairs)).names == ("('a', 'x')", "('a', 'y')")
    for frame, message in (
        (pd.DataFrame([[1, 2]], columns=["a", "a"]), "two columns are named 'a'"),
        (pd.DataFrame(index=range(5)), "at least 2 columns"),
        (pd.DataFrame({"a": [], "b": []}), "no rows"),
    ):
        with pytest.raises(dn.InputError, match=message):
            dn.read(frame)


def test_a_lazy_frame_that_cannot_be_collected_is_refused_in_one_line(tmp_path):
    lazy = pl.LazyFrame({"a": ["x", "y"], "b": [1, 2]}).with_columns(pl.col("a").cast(pl.Int64))
    with pytest.raises(dn.InputError, match="the frame cannot be read") as caught:
        dn.read(lazy)
    assert "\n" not in str(caught.value)


# Many columns


def test_checks_of_many_columns_do_not_compare_all_pairs():
    names = [f"v{i}" for i in range(200_000)]
    codes = np.broadcast_to(np.array([0, 1], dtype=np.uint8), (len(names), 2))
    states = (("0", "1"),) * len(names)
    assert dn.Dataset(tuple(names), states, codes, np.array([1, 1])).rows == 2
    assert len(select_columns("here", names, "v3", names[::-1], names[:190_000])) == 10_000
    with pytest.raises(dn.InputError, match="two columns are named 'v0'"):
        dn.Dataset((*names[:-1], "v0"), states, codes, np.array([1, 1]))


def test_a_second_unnamed_column_is_refused_unless_it_is_empty(tmp_path):
    rows = [f"{i},{'mn'[i % 2]},{'xyz'[i % 3]},{'pq'[i // 2 % 2]}" for i in range(60)]
    (tmp_path / "two.csv").write_text("\n".join([",,A,C", *rows]))
    with pytest.raises(dn.InputError, match="column 2 has no name and does not hold row numbers"):
        dn.read(tmp_path / "two.csv")
    (tmp_path / "last.csv").write_text("\n".join([",A,B,", *rows]))
    with pytest.raises(dn.InputError, match="column 4 has no name"):
        dn.read(tmp_path / "last.csv")
    (tmp_path / "end.csv").write_text("\n".join([",A,B,C,", *(f"{row}," for row in rows)]))
    data = dn.read(tmp_path / "end.csv")
    assert data.names == ("A", "B", "C")
    assert "column 5 has no name and is empty; it was dropped" in data.prepared


def test_the_index_of_sampled_rows_is_dropped(tmp_path):
    numbers = np.random.default_rng(0).permutation(400)[:40]
    lines = [f"{number},{'ab'[i % 2]},{'xy'[i // 2 % 2]}" for i, number in enumerate(numbers)]
    (tmp_path / "t.csv").write_text("\n".join(["Unnamed: 0,p,q", *lines]))
    data = dn.read(tmp_path / "t.csv")
    assert data.names == ("p", "q")
    assert "column 'Unnamed: 0' holds row numbers; it was dropped" in data.prepared


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"weights": ["c"]}, "weights is"),
        ({"columns": 5}, "columns is 5"),
        ({"columns": "a"}, "columns is 'a'"),
        ({"drop": 5}, "drop is 5"),
        ({"rare": "x"}, "rare is 'x'"),
        ({"rare": None}, "rare is None"),
        ({"states": {"a": 5}}, r"states\['a'\] is 5"),
        ({"states": {"a": "TRUE"}}, r"states\['a'\] is 'TRUE'"),
        ({"bins": "quantile:²"}, "bins is"),
        ({"bins": "uniform:" + "9" * 5000}, "bins is"),
    ],
)
def test_options_of_a_wrong_type_are_refused(options, message):
    with pytest.raises(dn.InputError, match=message):
        dn.read(pl.DataFrame({"a": ["x", "y"], "b": ["p", "q"]}), **options)


@pytest.mark.parametrize("name", ["platelets", "weight_g", "birthweight", "house_value", "charges", "year", "steps"])
def test_common_measurements_are_not_identifiers(name):
    numbers = np.random.default_rng(1).permutation(np.arange(1950, 2010) if name == "year" else np.arange(10_000, 45_000))
    data = dn.read(pl.DataFrame({name: numbers[:60], "b": ["p", "q"] * 30}), bins="quantile:3")
    assert len(data.states[0]) == 3
