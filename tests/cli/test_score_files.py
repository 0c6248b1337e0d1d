"""Commands that read and write score files."""

import json

import dimod
import pytest

import dagneal as dn
from dagneal.cli import main
from dagneal.scoring import read_scores, score_table


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    dn.load("lung-cancer").sample(2_000, seed=3).frame().write_csv("lc.csv")
    assert main(["encode", "lc.csv", "-o", "lc.jkl", "--max-parents", "3", "--quiet"]) == 0
    return tmp_path


def test_written_scores_are_the_scores_of_the_data(folder, capsys):
    assert main(["encode", "lc.csv", "-o", "lc.jkl", "--max-parents", "3"]) == 0
    assert capsys.readouterr().out == "5 variables, at most 3 parents, 75 scores\nwritten to lc.jkl\n"
    expected, table = score_table(dn.read("lc.csv"), max_parents=3), read_scores("lc.jkl")
    assert table.fingerprint == expected.fingerprint
    assert main(["encode", "lc.csv", "-o", "lc.scores", "--score", "bic", "--json"]) == 0
    report = json.loads(capsys.readouterr().out)
    assert report == {"variables": 5, "scores": 55, "max_parents": 2, "file": "lc.scores"}
    assert read_scores("lc.scores").fingerprint == score_table(dn.read("lc.csv"), "bic", 2).fingerprint
    assert main(["encode", "lc.csv", "-o", "known.jaa", "--forbid", "Smoker:Cancer"]) == 0
    with pytest.raises(dn.InputError, match="cannot have the parents"):
        read_scores("known.jaa").local("Cancer", ["Smoker"])


def test_learn_from_scores(folder, capsys):
    assert main(["learn", "lc.csv", "--max-parents", "3", "--json"]) == 0
    from_data = json.loads(capsys.readouterr().out)
    command = ["learn", "lc.jkl", "-o", "net.json", "-o", "net.html", "--truth", "lung-cancer"]
    assert main([*command, "--json"]) == 0
    from_scores = json.loads(capsys.readouterr().out)
    for key in ("edges", "score", "optimal", "max_parents", "variables"):
        assert from_scores[key] == from_data[key]
    assert from_scores["score_name"] == "lc.jkl"
    assert "data" not in from_scores
    assert dn.load_result("net.json").edges == [tuple(edge) for edge in from_data["edges"]]
    assert "lc.jkl" in (folder / "net.html").read_text()
    assert main(command) == 0
    out = capsys.readouterr().out
    assert out.startswith("lc.jkl: 5 variables, 75 scores\n")
    assert "compared with lung-cancer" in out


def test_encode_scores(folder, capsys):
    assert main(["encode", "lc.jkl", "-o", "lc.bqm"]) == 0
    with open("lc.bqm", "rb") as file:
        bqm = dimod.BinaryQuadraticModel.from_file(file)
    assert bqm.is_almost_equal(dn.qubo.encode(score_table(dn.read("lc.csv"), max_parents=3)))
    capsys.readouterr()
    assert main(["encode", "lc.jkl", "--compare"]) == 0
    assert capsys.readouterr().out.startswith("5 columns, at most 3 parents, 75 scores")
    (folder / "few.jkl").write_text("2\na 1\n-1 1 b\nb 1\n-1 0\n")
    assert main(["encode", "few.jkl"]) == 2
    assert "no score for 'a' without parents" in capsys.readouterr().err


def test_journal_of_scores(folder, capsys):
    command = ["learn", "lc.jkl", "--divide", "3", "--rule", "penalty", "--journal", "run.db", "--json"]
    assert main(command) == 0
    first = json.loads(capsys.readouterr().out)
    assert main(["resume", "run.db", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["edges"] == first["edges"]
    text = (folder / "lc.jkl").read_text().splitlines()
    text[2] = "-1.0 " + text[2].partition(" ")[2]
    (folder / "lc.jkl").write_text("\n".join(text))
    assert main(command) == 2
    assert "fingerprint" in capsys.readouterr().err


@pytest.mark.parametrize(
    "option",
    [
        "--score=bic",
        "--columns=Smoker,Cancer",
        "--drop=Smoker",
        "--bins=quantile:3",
        "--rare=0.1",
        "--weights=n",
        "--states=lung-cancer",
        "--missing=drop",
        "--merge=no",
        "--codes",
        "--max-parents=2",
        "--require=Smoker:Cancer",
        "--forbid=Smoker:Cancer",
        "--roots=Smoker",
        "--leaves=Xray",
        "--tiers=Smoker:Cancer",
        "--knowledge=known.toml",
    ],
)
@pytest.mark.parametrize("command", ["learn", "encode"])
def test_options_that_do_not_fit_scores(folder, capsys, command, option):
    assert main([command, "lc.jkl", option]) == 2
    error = capsys.readouterr().err
    assert (
        error
        == f"dagneal: {option.partition('=')[0]} cannot be used with lc.jkl, a file of scores; omit it, or give the data\n"
    )


@pytest.mark.parametrize(
    ("command", "message"),
    [
        ("learn lc.jkl --bootstrap 3", "--bootstrap cannot be used with lc.jkl"),
        ("learn lc.jkl --within 20", "--within cannot be used with lc.jkl"),
        ("learn lc.jkl -o net.bif", "a .bif file has probabilities, but lc.jkl has only scores"),
        ("learn lc.jkl --solver sa", "or use --solver exact, --solver order or a sampler with --set direct=true"),
        ("learn absent.jkl", "absent.jkl cannot be read"),
        ("learn lc.res", "lc.res"),
        ("encode lc.csv -o x.jkl --ising", "--ising changes a QUBO, but x.jkl contains only scores"),
        ("encode lc.csv -o x.jkl --encoding gap", "--encoding changes a QUBO"),
        ("encode lc.csv -o x.jkl --compare", "--compare writes no file"),
        ("score lung-cancer lc.jkl", "lc.jkl contains scores, not data"),
    ],
)
def test_messages(folder, capsys, command, message):
    assert main(command.split()) == 2
    error = capsys.readouterr().err
    assert message in error
    assert error.count("\n") == 1
    assert not (folder / "x.jkl").exists()
