"""Data options of the command line, and the notes about the data."""

import json

import numpy as np
import pandas as pd
import polars as pl
import pytest

import dagneal as dn
from dagneal.cli import main
from support.frames import frame


def test_names_are_printed_without_control_characters(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    path = tmp_path / "t.csv"
    path.write_text(
        '"a\nb",\x1b[31mred,' + "x" * 500 + "\n" + "".join(f"{i % 2},{i % 2},{(i // 2) % 2}\n" for i in range(50))
    )
    assert main(["learn", "t.csv"]) == 0
    text = capsys.readouterr().out
    assert "\x1b" not in text
    assert "a\\nb" in text
    assert max(map(len, text.splitlines())) < 300


def test_notes_about_the_data_are_printed_and_saved(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    frame().write_csv("t.csv")
    assert main(["learn", "t.csv", "--strict"]) == 2
    error = capsys.readouterr().err
    assert "--bins quantile:4" in error
    assert error.endswith(": dagneal learn t.csv\n")
    assert main(["learn", "t.csv", "--strict", "--bins", "quantile:3", "--bins", "dose=kmeans:2", "--json"]) == 0
    captured = capsys.readouterr()
    notes = json.loads(captured.out)["data"]["prepared"]
    assert len(notes) == 2
    assert all(note in captured.err for note in notes)
    assert main(["learn", "t.csv", "--drop", "age,dose"]) == 2
    assert "at least 2 columns" in capsys.readouterr().err
    assert main(["learn", "t.csv", "--bins", "=quantile:3"]) == 2


def test_states_of_a_network_bin_new_data_like_the_training_data(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    table = frame().with_columns(pl.Series("town", ["a", "b", "c", "d"] * 99 + ["e", "f", "g", "h"]))
    table.write_csv("old.csv")
    options = ["--strict", "--bins", "quantile:3", "--rare", "0.01"]
    assert main(["learn", "old.csv", *options, "-o", "net.bif", "--quiet"]) == 0
    network = dn.load("net.bif")
    assert network.states["town"] == ("(other)", "a", "b", "c", "d")
    new = table.head(50).with_columns(town=pl.lit("z"))  # new quantiles would differ, and no state would be rare
    for source in (new, pd.DataFrame(new.to_dict(as_series=False))):
        data = dn.read(source, states=network)
        assert dict(zip(data.names, data.states, strict=True)) == dict(network.states)
        assert np.isfinite(dn.log_likelihood(network, data))
    old = dn.read("old.csv", bins="quantile:3", rare=0.01)
    read_again = dn.read("old.csv", states=network)
    assert dn.log_likelihood(network, read_again) == pytest.approx(dn.log_likelihood(network, old))
    old.frame().write_csv("binned.csv")  # the names of the states are accepted, too
    assert dn.log_likelihood(network, dn.read("binned.csv", states=network)) == pytest.approx(
        dn.log_likelihood(network, old)
    )
    capsys.readouterr()
    assert main(["score", "net.bif", "old.csv", "--states", "net.bif", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["log_likelihood"] == pytest.approx(dn.log_likelihood(network, old))


def write(path, text):
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return path


def test_an_unnamed_column_can_be_dropped(tmp_path, capsys):
    path = write(tmp_path / "t.csv", ",a,b\n" + "Mazda,x,1\nFord,y,2\n" * 5)
    assert dn.read(path, drop=[""]).names == ("a", "b")
    assert dn.read(path, columns=["b", "a"]).names == ("b", "a")
    assert main(["learn", str(path), "--drop", "", "--quiet"]) == 0
    assert main(["learn", str(path), "--strict", "--quiet"]) == 2
    assert "--drop ''" in capsys.readouterr().err


# Tables of counts

COUNTED = "Class,Sex,Freq\n1st,M,62\n1st,F,141\n2nd,M,25\n2nd,F,93\n3rd,M,0\n3rd,F,4\n"


def test_notes_and_errors_propose_weights_for_row_counts(tmp_path, capsys):
    assert main(["learn", "--strict", str(write(tmp_path / "t.csv", COUNTED))]) == 0
    assert "note: Freq: may hold row counts" in capsys.readouterr().err
    rows = "".join(f"{i // 30},{i % 30},{i * i}\n" for i in range(300))
    write(tmp_path / "t.csv", "a,b,Freq\n" + rows)
    assert main(["learn", "--strict", str(tmp_path / "t.csv")]) == 2
    assert "give --weights Freq" in capsys.readouterr().err
    array = np.array([[0, 0, 5], [0, 1, 7], [1, 0, 2], [1, 1, 9]])
    assert "weights='n'" in dn.read(array, names=["a", "b", "n"]).prepared[0]
    assert dn.read(np.concatenate([array, array]), names=["a", "b", "n"]).prepared == ()


def test_missing_values_are_estimated_with_em(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    rows = dn.load("lung-cancer").sample(1000, 1).frame().select(pl.all().cast(pl.String))
    gaps = np.random.default_rng(1).random(rows.shape) < 0.1
    columns = enumerate(rows.columns)
    rows.with_columns(
        pl.when(pl.Series(gaps[:, at])).then(None).otherwise(pl.col(name)).alias(name) for at, name in columns
    ).write_csv("t.csv")
    assert main(["learn", "t.csv", "--missing", "em", "--json", "-o", "t.json", "-o", "t.bif", "-o", "t.html"]) == 0
    report = json.loads(capsys.readouterr().out)
    assert report["em"]["missing_values"] == int(gaps.sum())
    assert report["score_name"] == "BIC"
    assert not report["optimal"]
    assert main(["learn", "t.csv", "--missing", "em", "--merge", "no", "--quiet"]) == 0
    text = capsys.readouterr().out
    assert f"structural EM: {gaps.sum()} missing values in {gaps.any(axis=1).sum()} rows" in text
    assert f"BIC log score {report['score']:.3f}, not proved" in text
    assert "Structural EM estimated" in (tmp_path / "t.html").read_text(encoding="utf-8")
    assert main(["impute", "t.json", "t.csv", "-o", "full.csv"]) == 0
    assert pl.read_csv("full.csv").null_count().sum_horizontal().item() == 0
    capsys.readouterr()
    for more, message in (
        (["--bootstrap", "5"], "--bootstrap cannot be used with --missing em"),
        (["--score", "bdeu"], "use --score bic"),
    ):
        assert main(["learn", "t.csv", "--missing", "em", *more]) == 2
        assert message in capsys.readouterr().err
    assert main(["encode", "t.csv", "--missing", "em"]) == 2
    assert "read the data with --missing drop or --missing state" in capsys.readouterr().err
