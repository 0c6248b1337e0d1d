"""Files of integers without column names, and .dat files of GOBNILP and BLIP."""

import gzip

import numpy as np
import pytest
from hypothesis import given, strategies as st

import dagneal as dn
from dagneal.cli import main

ROWS = [[0, 1, 2], [1, 1, 0], [0, 1, 2], [-3, 0, 10]]


def text_of(rows, separator=" "):
    return "".join(separator.join(map(str, row)) + "\n" for row in rows)


def columns(data):
    """Return the multiset of rows of a dataset, as sorted tuples of states with their weights."""
    codes = np.asarray(data.codes)
    rows = [tuple(data.states[i][codes[i, row]] for i in range(len(data.names))) for row in range(codes.shape[1])]
    return sorted(zip(rows, data.weights.tolist(), strict=True))


@pytest.mark.parametrize("separator", [",", " ", "\t", "  ", ", ", " \t"])
@pytest.mark.parametrize("ending", ["csv", "txt", "dat", "csv.gz"])
def test_separators_and_endings(tmp_path, separator, ending):
    text = ("\n" + text_of(ROWS, separator) + "\n").encode()
    path = tmp_path / f"x.{ending}"
    path.write_bytes(gzip.compress(text) if ending.endswith("gz") else text)
    data = dn.read(path, names="index")
    assert data.names == ("0", "1", "2")
    assert data.states == (("-3", "0", "1"), ("0", "1"), ("0", "2", "10"))
    assert columns(data) == [(("-3", "0", "10"), 1), (("0", "1", "2"), 2), (("1", "1", "0"), 1)]
    assert dn.read(path, names=["a", "b", "c"]).names == ("a", "b", "c")
    assert dn.read(path, names=["a", "b", "c"], drop=["b"]).names == ("a", "c")


@given(st.lists(st.lists(st.integers(0, 3), min_size=3, max_size=3), min_size=1, max_size=30))
def test_codes_equal_an_array(tmp_path_factory, rows):
    path = tmp_path_factory.mktemp("codes") / "x.csv"
    path.write_text(text_of(rows, ","))
    data = dn.read(path, names="index")
    assert data.fingerprint == dn.read(np.array(rows), names=["0", "1", "2"]).fingerprint


def test_dat_file_declares_names_and_states(tmp_path):
    path = tmp_path / "x.dat"
    path.write_text("asia smoke bronc\n2 3 4\n" + text_of([[0, 1, 2], [1, 0, 2], [0, 0, 1]]))
    data = dn.read(path, names="index")
    assert data.names == ("asia", "smoke", "bronc")
    assert data.states == (("0", "1"), ("0", "1", "2"), ("0", "1", "2", "3"))
    assert data.rows == 3
    assert columns(data) == [(("0", "0", "1"), 1), (("0", "1", "2"), 1), (("1", "0", "2"), 1)]
    assert dn.read(path, names=["a", "b", "c"]).names == ("a", "b", "c")


def test_columns_that_look_like_row_numbers_are_kept(tmp_path):
    (tmp_path / "x.csv").write_text(text_of([[i, i % 2, i % 3] for i in range(12)], ","))
    assert dn.read(tmp_path / "x.csv", names="index").names == ("0", "1", "2")


def test_several_files(tmp_path):
    (tmp_path / "a.csv").write_text(text_of(ROWS[:2], ","))
    (tmp_path / "b.csv").write_text(text_of(ROWS[2:], " "))
    data = dn.read(tmp_path, names="index")
    assert data.rows == 4
    assert data.states == (("-3", "0", "1"), ("0", "1"), ("0", "2", "10"))


@pytest.mark.parametrize(
    ("name", "text", "message"),
    [
        ("x.csv", "a b\n1 2\n", "x.csv, line 1, column 1: 'a' is not an integer; .* if the first line has column names"),
        ("x.csv", "0 1\n0 x\n", "x.csv, line 2, column 2: 'x' is not an integer; give integers, separated by commas"),
        ("x.csv", "0,1\n\n0,\n", "line 3, column 2: '' is not an integer"),
        ("x.csv", "0,1\n0,1.5\n", "line 2, column 2: '1.5' is not an integer"),
        ("x.csv", "0,1\n0,?\n", "line 2, column 2: '?' is not an integer"),
        ("x.csv", "0 1\n0 1 1\n", "line 2: the number of values is 3, but the first line has 2; correct this line"),
        ("x.csv", f"0 1\n0 {10**30}\n", "line 2: a number has more than 18 digits"),
        ("x.csv", "\n\n", "x.csv has no rows; add at least one line of integers"),
        ("x.csv", "", "x.csv is empty"),
        ("x.csv", "1\n2\n", "a network needs at least 2 columns"),
        ("x.csv", b"\xff\xfe\x00", "line 1: not UTF-8 text"),
        ("x.dat", "a b\n2 2\n", "x.dat has no rows"),
        ("x.dat", "a b\n2 0\n0 0\n", "line 2, column 2: 0 is not a number of states"),
        ("x.dat", "a b\n2 2\n0 2\n", "line 3, column 2: 2 is not a state of 'b', which has the states 0 to 1"),
        ("x.dat", "a b\n2 2\n-1 0\n", "line 3, column 1: -1 is not a state of 'a'"),
        ("x.dat", "a b\n2 x\n0 0\n", "line 2, column 2: 'x' is not an integer"),
        ("x.dat", "a b\n2 99999999\n0 0\n", "99,?999,?999"),
        ("x.dat", "a a\n2 2\n0 0\n", "two columns are named 'a'"),
    ],
)
def test_messages(tmp_path, name, text, message):
    path = tmp_path / name
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    with pytest.raises(dn.InputError, match=message.replace("?'", r"\?'") if "'?'" in message else message) as error:
        dn.read(path, names="index")
    assert "\n" not in str(error.value)


def test_invalid_names(tmp_path):
    (tmp_path / "x.csv").write_text("0 1\n1 0\n")
    for source, names, message in [
        (tmp_path / "x.csv", ["a"], "names has length 1, but .*x.csv has 2 columns; give one name per column"),
        (tmp_path / "x.csv", "indices", "names is 'indices'; give a list of column names, or 'index'"),
        (np.eye(2, dtype=int), "index", "names is 'index'; give a list of column names"),
    ]:
        with pytest.raises(dn.InputError, match=message):
            dn.read(source, names=names)


def test_command_line(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    data = dn.load("lung-cancer").sample(1_000, seed=1)
    rows = np.repeat(np.asarray(data.codes).T, data.weights, axis=0)
    (tmp_path / "x.csv").write_text(text_of(rows.tolist()))
    assert main(["learn", "x.csv", "--codes", "--quiet"]) == 0
    out = capsys.readouterr().out
    assert out.startswith("x.csv: 5 variables, 1,000 rows")
    expected = dn.learn(data)
    assert f"{expected.score:.3f}" in out
    assert main(["encode", "x.csv", "--codes", "-o", "x.jkl"]) == 0
    assert dn.scoring.read_scores("x.jkl").names == ("0", "1", "2", "3", "4")
    capsys.readouterr()
    (tmp_path / "x.csv").write_text("a,b\n1,2\n")
    assert main(["learn", "x.csv", "--codes"]) == 2
    assert "line 1, column 1: 'a' is not an integer" in capsys.readouterr().err
