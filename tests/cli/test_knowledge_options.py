"""Options for background knowledge."""

import json

import pytest

import dagneal as dn
from dagneal.cli import main


def test_background_knowledge_on_the_command_line(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    assert main(["sample", "lung-cancer", "--rows", "1000", "-o", "lc.csv"]) == 0
    (tmp_path / "more.toml").write_text('leaves = ["Xray"]\n[limits]\nDyspnoea = 1\n')
    words = ["learn", "lc.csv", "--require", "Xray:Dyspnoea", "--json"]
    capsys.readouterr()
    assert main(words) == 0
    result = json.loads(capsys.readouterr().out)
    assert ["Xray", "Dyspnoea"] in result["edges"]
    assert result["knowledge"] == {"required": [["Xray", "Dyspnoea"]]}
    more = ["--tiers", "Cancer:Smoker,Pollution", "--knowledge", "more.toml"]
    assert main(["learn", "lc.csv", "--forbid", "Smoker:Cancer", *more, "--json"]) == 0
    result = json.loads(capsys.readouterr().out)
    assert not {("Smoker", "Cancer"), ("Pollution", "Cancer")} & set(map(tuple, result["edges"]))
    assert main([*words[:4], "--knowledge", "more.toml"]) == 2
    assert "required, but 'Xray' is a leaf" in capsys.readouterr().err
    for text, message in (
        ("Xray", "is not an edge"),
        ("Xray:Nose", "the data have no column 'Nose'"),
        ("smoker:cancer", "the data have no column 'smoker'; did you mean 'Smoker'?"),
    ):
        assert main(["learn", "lc.csv", "--require", text]) == 2
        assert message in capsys.readouterr().err
    for text, message in (
        ("more.toml", "or use --knowledge more.toml"),
        ("Cancer:xray", "no column 'xray'; did you mean 'Xray'?"),
    ):
        assert main(["learn", "lc.csv", "--tiers", text]) == 2
        assert message in capsys.readouterr().err
    assert main(["learn", "lc.csv", "--roots", "Cancer,Xray", "--leaves", "Dyspnoea,Smoker", "--json"]) == 0
    result = json.loads(capsys.readouterr().out)
    assert not {"Cancer", "Xray"} & {child for _, child in result["edges"]}
    assert not {"Dyspnoea", "Smoker"} & {parent for parent, _ in result["edges"]}
    assert result["knowledge"] == {"roots": ["Cancer", "Xray"], "leaves": ["Dyspnoea", "Smoker"]}
    assert main(["learn", "lc.csv", "--knowledge", '{"roots": ["Cancer"]}', "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["knowledge"] == {"roots": ["Cancer"]}
    assert main(["learn", "lc.csv", "--knowledge", '{"roots": ']) == 2
    assert "--knowledge is not JSON" in capsys.readouterr().err
    assert main(["encode", "lc.csv", "--forbid", "Smoker:Cancer", "--json"]) == 0
    fewer = json.loads(capsys.readouterr().out)["qubo_variables"]
    assert main(["encode", "lc.csv", "--json"]) == 0
    assert fewer < json.loads(capsys.readouterr().out)["qubo_variables"]


def test_probabilities_on_the_command_line(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    dn.load("lung-cancer").sample(1000, 1).frame().write_csv("lc.csv")
    words = ["learn", "lc.csv", "--probability", "Xray:Dyspnoea=0.99999", "--probability", "Smoker:Cancer=0.2"]
    assert main([*words, "--json"]) == 0
    result = json.loads(capsys.readouterr().out)
    assert ["Xray", "Dyspnoea"] in result["edges"]
    assert result["knowledge"] == {"probabilities": [["Xray", "Dyspnoea", 0.99999], ["Smoker", "Cancer", 0.2]]}
    knowledge = dn.Knowledge(probabilities={("Xray", "Dyspnoea"): 0.99999, ("Smoker", "Cancer"): 0.2})
    assert result["log_prior"] == pytest.approx(knowledge.log_odds(map(tuple, result["edges"])))
    assert main([*words, "-o", "x.proof", "-o", "x.json", "-o", "x.html"]) == 0
    text = capsys.readouterr().out
    assert "background knowledge: probabilities (2)" in text
    assert f"{result['log_prior']:.3f} of the score comes from the probabilities of edges" in text
    assert (
        f"{result['log_prior']:.3f} of the score comes from the probabilities of edges" in (tmp_path / "x.html").read_text()
    )
    assert "0.99999" in (tmp_path / "x.html").read_text()
    assert main(["check", "x.proof", "lc.csv", "--json"]) == 0
    report = json.loads(capsys.readouterr().out)
    assert report["score"] == pytest.approx(result["score"], abs=1e-6)
    assert report["knowledge"] == result["knowledge"]
    (tmp_path / "run.toml").write_text(
        'data = "lc.csv"\n[probabilities]\n"Xray -> Dyspnoea" = 0.99999\n"Smoker -> Cancer" = 0.2\n'
    )
    assert main(["learn", "--config", "run.toml", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["score"] == result["score"]
    (tmp_path / "run.toml").write_text(
        'data = "lc.csv"\nprobabilities = [["Xray", "Dyspnoea", 0.99999], "Smoker:Cancer=0.2"]\n'
    )
    assert main(["learn", "--config", "run.toml", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["score"] == result["score"]
    assert main(["learn", "lc.csv", "--require", "Xray:Dyspnoea", "--json"]) == 0
    assert "log_prior" not in json.loads(capsys.readouterr().out)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("Xray:Dyspnoea", "has no probability; write PARENT:CHILD=P, such as Xray:Dyspnoea=0.9"),
        ("Xray:Dyspnoea=high", "'high' is not a number; give one above 0 and below 1"),
        (
            "Xray:Dyspnoea=1",
            "the probability of Xray -> Dyspnoea is 1; give a number below 1, or put the edge into required",
        ),
        ("Xray:Dyspnoea=nan", "is nan; give a number above 0 and below 1"),
        ("Xray:Nose=0.3", "the data have no column 'Nose'"),
    ],
)
def test_invalid_probabilities_on_the_command_line(tmp_path, text, message, capsys):
    dn.load("lung-cancer").sample(50, 1).frame().write_csv(tmp_path / "lc.csv")
    assert main(["learn", str(tmp_path / "lc.csv"), "--probability", text, "--quiet"]) == 2
    assert message in capsys.readouterr().err
    twice = ["--probability", "Xray:Dyspnoea=0.3"] * 2
    assert main(["learn", str(tmp_path / "lc.csv"), *twice, "--quiet"]) == 2
    assert "--probability gives the edge Xray -> Dyspnoea twice; remove one" in capsys.readouterr().err


@pytest.mark.parametrize(
    "text",
    [
        "probabilities.'Smoker -> Cancer' = " + "9" * 5000,
        "probabilities = [" + "[" * 900 + "]" * 900 + "]",
        "limits.Cancer = " + "9" * 5000,
        ".".join(["limits"] + ["a"] * 50_000) + " = 1",
        ".".join(["a"] * 50_000) + " = 1",
        "[limits]\n" + ".".join(["Cancer"] + ["a"] * 50_000) + " = 1",
        "required = [" + "[" * 900 + "]" * 900 + "]",
        "required = [{" + ".".join(["a"] * 5000) + " = 1}]",
        "tiers = " + "[" * 50_000,
    ],
    ids=["probability", "nested items", "digits", "dotted limits", "dotted keys", "dotted name", "nested", "inline", "deep"],
)
def test_extreme_toml_files_are_reported_in_one_line(tmp_path, text, capsys):
    dn.load("lung-cancer").sample(50, 1).frame().write_csv(tmp_path / "lc.csv")
    (tmp_path / "known.toml").write_text(text)
    assert main(["learn", str(tmp_path / "lc.csv"), "--knowledge", str(tmp_path / "known.toml"), "--quiet"]) == 2
    assert len(capsys.readouterr().err.splitlines()) == 1
