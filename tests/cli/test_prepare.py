"""Preparation on the command line: learn, prepare, recipes, and commands to copy."""

import json
import re
import shlex
import zipfile
from pathlib import Path

import numpy as np
import polars as pl
import pytest

import dagneal as dn
from dagneal.cli import main


@pytest.fixture
def raw(tmp_path, monkeypatch):
    """Write a raw table to the file t.csv in a new folder."""
    monkeypatch.chdir(tmp_path)
    generator = np.random.default_rng(3)
    ill = generator.integers(0, 2, 300)
    columns = {
        "patient_id": generator.choice(10**6, 300, replace=False),
        "ill": np.where(ill, "yes", "no"),
        "age": generator.normal(40, 10, 300) + 12 * ill,
        "ward": [None, None, *(f"{x}" for x in generator.integers(1, 4, 298))],
    }
    pl.DataFrame(columns).write_csv("t.csv")


def test_learn_prints_the_preparation_table_at_the_top(raw, capsys):
    assert main(["learn", "t.csv", "-o", "t.html", "-o", "t.json"]) == 0
    out = capsys.readouterr().out
    assert out.splitlines()[2] == "preparation: 298 of 300 rows used; 1 column unchanged (ill)"
    assert re.search(r"patient_id +whole numbers .* left out +identifier: one per row +--bins patient_id=quantile:4", out)
    page = Path("t.html").read_text()
    assert 'id="preparation"' in page
    assert page.index('id="preparation"') < page.index("<svg")
    saved = json.loads(Path("t.json").read_text())["preparation"]
    assert (saved["rows"], saved["used"]) == (300, 298)
    assert [line["column"] for line in saved["table"]] == ["patient_id", "age", "ward"]


def test_each_option_of_the_table_works(raw, capsys):
    assert main(["prepare", "t.csv", "--json"]) == 0
    for line in json.loads(capsys.readouterr().out)["table"]:
        assert main(["learn", "t.csv", "--quiet", *shlex.split(line["change"])]) == 0
        text = capsys.readouterr().out
        assert line["became"] not in next((row for row in text.splitlines() if line["column"] in row), "")


def test_a_clean_table_has_one_line(tmp_path, capsys):
    dn.load("lung-cancer").sample(500, 1).frame().write_csv(tmp_path / "t.csv")
    assert main(["learn", str(tmp_path / "t.csv")]) == 0
    assert "preparation: all 5 columns used as they are\n" in capsys.readouterr().out


def test_prepare_writes_rows_and_a_recipe_for_new_data(raw, capsys):
    assert main(["prepare", "t.csv", "-o", "clean.parquet", "--recipe", "r.toml"]) == 0
    clean = pl.read_parquet("clean.parquet")
    assert clean.height == 298
    assert dn.read("clean.parquet").fingerprint == dn.prepare("t.csv").data.fingerprint
    pl.read_csv("t.csv").head(50).write_csv("new.csv")
    assert main(["prepare", "new.csv", "--apply", "r.toml", "-o", "new.parquet"]) == 0
    assert pl.read_parquet("new.parquet").equals(clean.head(48))
    capsys.readouterr()
    assert main(["learn", "t.csv", "--json"]) == 0
    expected = json.loads(capsys.readouterr().out)["score"]
    for words in (["t.csv", "--apply", "r.toml"], ["clean.parquet"], ["clean.parquet", "--strict"]):
        assert main(["learn", *words, "--json"]) == 0
        assert json.loads(capsys.readouterr().out)["score"] == expected


def test_other_commands_use_the_recipe_of_a_result(raw, capsys):
    assert main(["learn", "t.csv", "-o", "t.json", "-o", "t.proof", "--quiet"]) == 0
    score = dn.load_result("t.json").score
    for words in (
        ["confidence", "t.json", "t.csv"],
        ["score", "t.json", "t.csv"],
        ["fit", "t.json", "t.csv", "-o", "f.bif"],
    ):
        assert main([*words, "--quiet"]) == 0
    assert main(["check", "t.proof", "t.csv", "--quiet"]) == 0
    capsys.readouterr()
    assert main(["score", "t.json", "t.csv", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["score"] == pytest.approx(score)


def test_a_network_file_bins_new_data_like_the_training_data(raw):
    """The names of the states contain the cut points, so a .bif file is enough."""
    assert main(["learn", "t.csv", "-o", "t.bif", "--quiet"]) == 0
    network, prepared = dn.load("t.bif"), dn.prepare("t.csv")
    assert dict(network.states) == dict(zip(prepared.data.names, prepared.data.states, strict=True))
    assert dn.read("t.csv", states=network, columns=list(network.states), missing="drop").rows == prepared.data.rows


@pytest.mark.parametrize(
    "words",
    [
        ["learn", "t.csv", "--strict"],
        ["learn", "one.csv"],
        ["encode", "t.csv", "--strict"],
    ],
)
def test_a_rejection_ends_with_a_command_that_works(words, raw, capsys):
    pl.DataFrame({"name": [f"n{i}" for i in range(30)], "b": ["x", "y"] * 15}).write_csv("one.csv")
    assert main([*words, "--quiet"]) == 2
    command = capsys.readouterr().err.strip().rpartition("run: ")[2]
    assert command.startswith("dagneal ")
    assert main(shlex.split(command)[1:]) == 0


@pytest.mark.parametrize(
    "words",
    [
        ["learn", "tt.csv"],
        ["prepare", "none.csv"],
        ["learn", "empty.csv"],
        ["learn", "empty.csv", "--strict"],
        ["learn", "folder"],
        ["learn", "picture.csv"],
        ["learn", "t.csv", "--keep", "il"],
        ["learn", "t.csv", "--columns", "ill"],
        ["learn", "t.csv", "--missing", "refuse"],
        ["learn", "t.csv", "--weights", "ill"],
        ["learn", "t.csv", "--apply", "none.toml"],
        ["score", "t.json", "tt.csv"],
    ],
    ids=" ".join,
)
def test_a_rejection_of_a_file_or_an_option_ends_with_a_command_that_works(words, raw, capsys):
    Path("empty.csv").touch()
    Path("picture.csv").write_bytes(b"\x89PNG\0")
    Path("folder").mkdir()
    Path("folder", "part").mkdir()
    Path("folder", "part", "t.csv").write_bytes(Path("t.csv").read_bytes())
    if words[0] == "score":
        assert main(["learn", "t.csv", "-o", "t.json", "--quiet"]) == 0
    assert main([*words, "--quiet"]) == 2
    error = capsys.readouterr().err
    assert error.count("\n") == 1
    command = error.strip().rpartition("run: ")[2]
    assert command.startswith(f"dagneal {words[0]} ")
    assert main(shlex.split(command)[1:]) == 0


def test_an_excel_file_is_refused_with_a_conversion(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    with zipfile.ZipFile("book.xlsx", "w") as book:
        book.writestr("xl/workbook.xml", "<workbook/>")
    assert main(["learn", "book.xlsx", "--seed", "3"]) == 2
    error = capsys.readouterr().err
    assert "book.xlsx: .xlsx files are not supported" in error
    assert "read_excel" in error
    assert error.endswith(" && dagneal learn book.csv --seed 3\n")


@pytest.mark.parametrize(
    "words",
    [
        ["learn", "t.csv", "--apply", "r.toml", "--drop", "ill"],
        ["learn", "t.csv", "--apply", "none.toml"],
        ["learn", "t.csv", "--strict", "--keep", "ill"],
        ["learn", "t.csv", "--keep", "il"],
        ["prepare", "t.csv", "--strict"],
        ["prepare", "t.csv", "-o", "x.xlsx"],
        ["prepare", "t.csv", "-o", "x.csv", "--recipe", "x.csv"],
        ["learn", "x.jkl", "--keep", "a"],
    ],
)
def test_options_that_do_not_fit_are_refused_in_one_line(words, raw, capsys):
    assert main(["prepare", "t.csv", "--recipe", "r.toml"]) == 0
    capsys.readouterr()
    assert main(words) == 2
    assert capsys.readouterr().err.count("\n") == 1
