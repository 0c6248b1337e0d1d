"""Options for confidence measures."""

import json
import re

import numpy as np
import polars as pl
import pytest

import dagneal as dn
from dagneal.base.text import columns
from dagneal.cli import main


def test_confidence_on_the_command_line(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    assert main(["sample", "lung-cancer", "--rows", "3000", "-o", "lc.csv"]) == 0
    capsys.readouterr()
    words = ["learn", "lc.csv", "--bootstrap", "10", "--ess", "0.1,1", "--holdout", "0.2", "--threshold", "1"]
    assert main(words) == 0
    text = capsys.readouterr().out
    assert "resamples" in text
    assert "equivalent sample size" in text
    assert "600 rows held out" in text
    assert main([*words, "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["bootstrap"]["samples"] == 10
    assert set(found["sensitivity"]) == {"0.1", "1"}
    assert found["holdout"]["rows"] == 600
    assert [[each["parent"], each["child"]] for each in found["strengths"]] == found["edges"]
    assert (
        main(["learn", "lc.csv", "--divide", "3", "--solver", "exact", "--bootstrap", "3", "--score", "bdeu", "--ess", "1"])
        == 0
    )
    capsys.readouterr()
    for more, message in (
        (["--bootstrap", "0"], "--bootstrap is 0"),
        (["--threshold", "2", "--bootstrap", "3"], "--threshold is 2.0"),
        (["--holdout", "1"], "--holdout is 1.0"),
        (["--ess", "1,2", "--score", "k2"], "--ess is for the score bdeu"),
        (["--ess", "-1"], "the equivalent sample size is -1"),
    ):
        assert main(["learn", "lc.csv", *more]) == 2
        assert message in capsys.readouterr().err


def test_tables_are_straight_with_wide_letters(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    generator = np.random.default_rng(0)
    first = generator.integers(0, 2, 400)
    rows = {"東京": first, "e\u0301te\u0301": first ^ (generator.random(400) < 0.1), "plain": generator.integers(0, 2, 400)}
    rows["plain"][:350] = rows["東京"][:350]
    pl.DataFrame(rows).write_csv("wide.csv")
    assert main(["learn", "wide.csv", "--bootstrap", "5", "--ess", "1,10"]) == 0
    lines = capsys.readouterr().out.splitlines()

    def ends(some, pattern):
        return {columns(line[: re.search(pattern, line).end()]) for line in some}

    edges = [line for line in lines if re.search(r" -> .* (decided|open) ", line)]
    assert len(edges) == 2
    assert len(ends(edges, r"\d\.\d\d ")) == 1  # figures end in one column, under the end of their heading
    head = next(line for line in lines if line.lstrip().startswith("edge "))
    assert ends(edges, r"\d\.\d\d(?= )") == ends([head], "loses")
    assert len(ends([line for line in lines if " <- " in line], " <- ")) == 1
    priors = [line for line in lines if re.search(r" - .* (->|<-|open|-)$", line)]
    assert len(priors) >= 2
    assert len({columns(line) for line in priors}) == 1


def test_ctrl_c_keeps_the_resamples_and_the_network(tmp_path, monkeypatch, capsys):
    from dagneal.confidence import bootstrap as resampling

    dn.load("lung-cancer").sample(500, 1).frame().write_csv(tmp_path / "a.csv")
    learn, calls = resampling.learn, []

    def interrupted(*args, **options):
        calls.append(1)
        if len(calls) == 4:
            raise KeyboardInterrupt
        return learn(*args, **options)

    monkeypatch.setattr(resampling, "learn", interrupted)
    words = ["learn", str(tmp_path / "a.csv"), "--bootstrap", "50", "--jobs", "1", "-o", str(tmp_path / "a.json")]
    assert main(words) == 130
    out = capsys.readouterr().out
    samples = json.loads((tmp_path / "a.json").read_text())["bootstrap"]["samples"]
    assert 3 <= samples < 20
    assert f"Ctrl-C left {samples} of 50 resamples" in out


def test_what_fails_later_loses_nothing_of_before(tmp_path, capsys):
    dn.load("lung-cancer").sample(500, 1).frame().write_csv(tmp_path / "a.csv")
    words = ["learn", str(tmp_path / "a.csv"), "--bootstrap", "3", "--holdout", "0.0001", "-o", str(tmp_path / "a.json")]
    assert main(words) == 2
    captured = capsys.readouterr()
    assert "resamples" in captured.out
    assert "cannot be split" in captured.err
    assert json.loads((tmp_path / "a.json").read_text())["bootstrap"]["samples"] == 3


def test_other_solvers_are_told(tmp_path, capsys):
    dn.load("lung-cancer").sample(500, 1).frame().write_csv(tmp_path / "a.csv")
    note = "other rows and other priors were learned by the default solver"
    for more, told in (([], False), (["--solver", "order"], False), (["--solver", "sa", "--reads", "5"], True)):
        assert main(["learn", str(tmp_path / "a.csv"), "--bootstrap", "2", *more]) == 0
        assert (note in capsys.readouterr().out) == told


@pytest.mark.parametrize("words", [["--threshold", "0.9"], ["--seed", "-1"]])
def test_options_that_would_be_ignored_or_fail_late(words, tmp_path, capsys):
    dn.load("lung-cancer").sample(50, 1).frame().write_csv(tmp_path / "a.csv")
    assert main(["learn", str(tmp_path / "a.csv"), *words]) == 2
    assert words[0] in capsys.readouterr().err
