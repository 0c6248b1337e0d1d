"""Packed rows and tables of several files give the same data, scores and networks as one merged table."""

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings, strategies as st

import dagneal as dn
from dagneal.cli import main
from dagneal.data import frames
from dagneal.data.packing import PackedRows

MARKS = ["a", "b", " a", "NA", "", "1", "x y"]


def counts(data):
    """Return the weight of each distinct row of states."""
    rows = zip(
        *(np.array(states, dtype=object)[line] for states, line in zip(data.states, data.codes, strict=True)), strict=True
    )
    weights = {}
    for row, weight in zip(rows, data.weights, strict=True):
        weights[row] = weights.get(row, 0) + int(weight)
    return weights


def assert_same(one, other):
    assert one.names == other.names
    assert one.states == other.states
    assert one.rows == other.rows
    assert counts(one) == counts(other)


@st.composite
def table(draw):
    rows = draw(st.integers(1, 30))
    columns = {
        "text": st.sampled_from(MARKS),
        "number": st.integers(-3, 3),
        "far": st.sampled_from([-(10**15), 0, 7, 10**15]),
        "truth": st.booleans(),
        "fraction": st.sampled_from([0.5, 1.5, float("nan")]),
        "hole": st.sampled_from([None, 1, 2]),
    }
    chosen = draw(st.lists(st.sampled_from(sorted(columns)), min_size=2, max_size=4, unique=True))
    return pl.DataFrame({n: [draw(columns[n]) for _ in range(rows)] for n in chosen}, strict=False)


def result_or_error(call):
    try:
        return call()
    except dn.InputError as error:
        return str(error)


@pytest.mark.slow
@settings(max_examples=150, deadline=None)
@given(table(), st.sampled_from(["refuse", "drop", "state", "em"]), st.sampled_from([0.0, 0.3]))
def test_packed_rows_equal_merged_rows(frame, missing, rare):
    merged = result_or_error(lambda: dn.read(frame, missing=missing, rare=rare, merge="yes"))
    packed = result_or_error(lambda: dn.read(frame, missing=missing, rare=rare, merge="no"))
    if isinstance(merged, str):
        assert packed == merged
    else:
        assert isinstance(packed.codes, PackedRows)
        assert_same(packed, merged)
        assert packed.prepared == merged.prepared


@pytest.mark.slow
@settings(max_examples=60, deadline=None)
@given(st.lists(st.lists(st.sampled_from([*MARKS, "\n"]), min_size=3, max_size=3), min_size=1, max_size=30))
def test_packed_rows_of_text_with_blank_lines_equal_merged_rows(tmp_path_factory, rows):
    path = tmp_path_factory.mktemp("text") / "t.csv"
    lines = ["" if "\n" in row else ",".join(row) for row in rows]
    path.write_text("p,q,r\n" + "\n".join(lines) + "\n")
    for missing in ("refuse", "drop", "state", "em"):
        merged = result_or_error(lambda missing=missing: dn.read(path, missing=missing, merge="yes"))
        packed = result_or_error(lambda missing=missing: dn.read(path, missing=missing, merge="no"))
        if isinstance(merged, str):
            assert packed == merged
        else:
            assert_same(packed, merged)


@pytest.fixture(scope="module")
def wide():
    """A table with columns of few states (stored as bits) and columns of many states (stored as codes)."""
    generator = np.random.default_rng(4)
    first = generator.integers(0, 3, 5_000)
    return pl.DataFrame(
        {
            "a": first,
            "b": (first + generator.integers(0, 2, 5_000)) % 3,
            "many": generator.integers(0, 40, 5_000) // 2 * 2,
            "more": [f"m{v}" for v in first * 100 + generator.integers(0, 100, 5_000)],
            "c": generator.integers(0, 2, 5_000),
        }
    )


def test_packed_rows_give_the_same_scores_networks_and_likelihoods(wide):
    merged, packed = dn.read(wide, merge="yes"), dn.read(wide, merge="no")
    for score in (dn.BDeu(1), dn.BIC(), dn.K2()):
        one, other = dn.scoring.Scorer(merged, score).table(3), dn.scoring.Scorer(packed, score).table(3)
        np.testing.assert_allclose(one.scores, other.scores, rtol=1e-12, atol=1e-8)
    result = dn.learn(packed)
    assert result.edges == dn.learn(merged).edges
    network = dn.fit(result.dag, packed)
    for name, table in dn.fit(result.dag, merged).cpts.items():
        np.testing.assert_allclose(network.cpts[name], table)
    assert dn.log_likelihood(network, packed) == pytest.approx(dn.log_likelihood(network, merged))
    assert dn.bootstrap(packed, 3).samples == 3
    assert dn.holdout(packed).rows == 1_000
    assert "not merged" in repr(packed)
    assert packed.frame().sort(packed.names).equals(merged.frame().sort(merged.names))


def test_a_sample_decides_about_merging_and_a_note_gives_the_reason(wide, monkeypatch, tmp_path, capsys):
    monkeypatch.setattr(frames, "SAMPLE", 1024)
    wide.write_parquet(tmp_path / "wide.parquet")
    wide.write_csv(tmp_path / "wide.csv")
    for source in (wide, tmp_path / "wide.parquet", tmp_path / "wide.csv"):
        data = dn.read(source)
        assert isinstance(data.codes, PackedRows)
        assert "equal rows were not merged, because" in data.prepared[0]
        few = dn.read(source, columns=["a", "b", "c"])
        assert isinstance(few.codes, np.ndarray)
        assert "equal rows were merged, because only " in few.prepared[0]
    assert main(["learn", str(tmp_path / "wide.csv"), "--merge", "yes", "--columns", "a,b,more"]) == 0
    assert "distinct)" in capsys.readouterr().out
    assert (
        main(["learn", str(tmp_path / "wide.csv"), "--merge", "no", "--columns", "a,b,c", "-o", str(tmp_path / "o.html")])
        == 0
    )
    assert "(not merged)" in capsys.readouterr().out
    assert "not merged" in (tmp_path / "o.html").read_text()


def test_weighted_rows_are_always_merged(wide):
    weighted = wide.with_columns(w=pl.lit(2))
    assert dn.read(weighted, weights="w").rows == 10_000
    with pytest.raises(dn.InputError, match="merge='no' cannot be used with weights"):
        dn.read(weighted, weights="w", merge="no")
    with pytest.raises(dn.InputError, match="merge is 'never'"):
        dn.read(weighted, merge="never")


def test_bins_and_declared_states_work_without_merging(wide):
    options = {"bins": {"many": "quantile:3"}, "states": {"c": ["1", "0", "never"]}}
    assert_same(dn.read(wide, merge="no", **options), dn.read(wide, merge="yes", **options))


@pytest.mark.parametrize("kind", ["csv", "parquet"])
@pytest.mark.parametrize("merge", ["yes", "no"])
def test_a_folder_or_a_pattern_is_read_as_one_table(wide, kind, merge, tmp_path):
    for number, part in enumerate(wide.iter_slices(1_700)):
        part = part.select(sorted(part.columns, reverse=bool(number % 2)))  # the order of columns may differ
        getattr(part, f"write_{kind}")(tmp_path / f"part-{number}.{kind}")
    (tmp_path / "_SUCCESS").write_text("")
    (tmp_path / "notes.md").write_text("not data")
    (tmp_path / "README.txt").write_text("not data either")
    data = dn.read(wide.select(sorted(wide.columns)), merge=merge)
    assert_same(dn.read(tmp_path, merge=merge), data)
    assert_same(dn.read(f"{tmp_path}/part-*.{kind}", merge=merge), data)
    assert dn.read(f"{tmp_path}/part-[01].{kind}", merge=merge).rows == 3_400


def test_files_that_do_not_fit_together_are_refused(tmp_path):
    (tmp_path / "1.csv").write_text("a,b\n0,1\n1,0\n")
    (tmp_path / "2.csv").write_text("b,c\n0,1\n")
    with pytest.raises(dn.InputError, match=r"column 'a' is in .*1\.csv but not in .*2\.csv"):
        dn.read(tmp_path)
    (tmp_path / "2.csv").write_text("b,a\n0,\n")
    with pytest.raises(dn.InputError, match=r"1 in column 'a' \(first in row 1 of 2\.csv\)"):
        dn.read(tmp_path)
    (tmp_path / "2.csv").write_text("b,a\n0,1\n0,1,1\n")
    with pytest.raises(dn.InputError, match=r"2\.csv, line 3: 3 values"):
        dn.read(tmp_path)
    with pytest.raises(dn.InputError, match="no file matches"):
        dn.read(f"{tmp_path}/*.tsv")
    (tmp_path / "none").mkdir()
    with pytest.raises(dn.InputError, match="is a folder without"):
        dn.read(tmp_path / "none")
    pl.DataFrame({"a": [1], "b": [1]}).write_parquet(tmp_path / "1.parquet")
    with pytest.raises(dn.InputError, match=r"1\.csv and .*1\.parquet have different formats; use CSV or Parquet"):
        dn.read(f"{tmp_path}/1.*")
    pl.DataFrame({"a": ["1"], "b": [1]}).write_parquet(tmp_path / "2.parquet")
    with pytest.raises(dn.InputError, match=r"column 'a' holds Int64 in .*1\.parquet but String in"):
        dn.read(f"{tmp_path}/*.parquet")


def test_equal_rows_of_more_than_64_columns_are_merged():
    generator = np.random.default_rng(1)
    codes = np.zeros((500, 70), dtype=np.int64)
    codes[:, ::9] = generator.integers(0, 2, (500, 8))
    data = dn.read(codes)
    assert data.rows == 500
    assert data.weights.sum() == 500
    assert np.array_equal(np.unique(codes, axis=0), np.asarray(data.codes).T)


def test_too_many_rows_for_the_memory_limit_are_refused(wide, monkeypatch):
    from dagneal.base import machine

    monkeypatch.setattr(machine, "memory_use", lambda: 10**9)
    with dn.limits(memory=10**9 + 10_000), pytest.raises(dn.InputError, match="storing 5,000 rows of 5 columns needs about"):
        dn.read(wide, merge="no")
