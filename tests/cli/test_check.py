"""`dagneal check`, and proofs as files of `dagneal learn`."""

import json

import pytest

import dagneal as dn
from dagneal.cli import main
from dagneal.scoring import write_scores


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    data = dn.load("alarm-15").sample(300, 1)
    data.frame().write_csv("a.csv")
    dn.load("alarm-15").sample(300, 2).frame().write_csv("b.csv")
    return data


def learn(*words):
    assert main(["learn", *words, "-o", "a.proof", "--quiet"]) == 0


@pytest.mark.parametrize("options", [(), ("--score", "bic"), ("--max-parents", "2", "--forbid", "HR:BP")])
def test_proofs_of_results_are_valid(folder, capsys, options):
    learn("a.csv", *options)
    capsys.readouterr()
    assert main(["check", "a.proof", "a.csv", "--json"]) == 0
    report = json.loads(capsys.readouterr().out)
    assert report["valid"]
    assert report["bound"] == pytest.approx(report["score"], abs=2e-6)
    assert report["knowledge"] == ({"forbidden": [["HR", "BP"]]} if "--forbid" in options else {})
    assert main(["check", "a.proof", "a.csv"]) == 0
    text = capsys.readouterr().out
    assert "a.proof is valid" in text
    assert ("that obeys the background knowledge" in text) == ("--forbid" in options)


def test_proofs_for_other_data_are_rejected(folder, capsys):
    learn("a.csv")
    assert main(["check", "a.proof", "b.csv"]) == 2
    assert "the proof belongs to other data: the local scores differ" in capsys.readouterr().err
    assert main(["check", "a.proof", "a.csv", "--drop", "HR"]) == 2
    assert "a.proof is about other data: there is no column 'HR' in a.csv" in capsys.readouterr().err


def test_files_that_are_no_proofs_are_rejected(folder, capsys):
    assert main(["check", "a.csv", "a.csv"]) == 2
    assert "a.csv is not a proof: it is damaged or has another format" in capsys.readouterr().err
    assert main(["check", "absent.proof", "a.csv"]) == 2
    assert "cannot read absent.proof" in capsys.readouterr().err


def test_proofs_of_score_files(folder, capsys):
    write_scores(dn.scoring.score_table(folder, max_parents=2), "a.jkl")
    learn("a.jkl")
    capsys.readouterr()
    assert main(["check", "a.proof", "a.jkl"]) == 0
    assert "the proof covers the parent sets in a.jkl; other sets are not allowed" in capsys.readouterr().out
    assert main(["check", "a.proof", "a.csv"]) == 2
    assert "has no score that can be counted from data" in capsys.readouterr().err


def test_results_without_a_proof_cannot_be_saved_as_one(folder, tmp_path):
    result = dn.learn(folder, dn.OrderSearch(restarts=1), max_parents=2)
    with pytest.raises(dn.InputError, match="this result has no proof; learn with prove=300"):
        result.save(tmp_path / "x.proof")
    assert not (tmp_path / "x.proof").exists()


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (("--prove", "0"), "--prove is 0; give a number of seconds above 0, or --no-prove"),
        (("--prove", "-3"), "--prove is -3; give a number of seconds above 0"),
        (("--prove", "5", "--no-prove"), "not allowed with argument"),
        (("--prove", "5", "--solver", "exact"), "the solver exact has no proof attempt; remove --prove or --no-prove"),
    ],
)
def test_invalid_budgets_are_rejected(folder, capsys, options, message):
    try:
        status = main(["learn", "a.csv", *options])
    except SystemExit as end:
        status = end.code
    assert status == 2
    assert message in capsys.readouterr().err
