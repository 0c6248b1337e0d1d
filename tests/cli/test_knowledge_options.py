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


@pytest.mark.parametrize(
    "text",
    [
        "limits.Cancer = " + "9" * 5000,
        ".".join(["limits"] + ["a"] * 50_000) + " = 1",
        ".".join(["a"] * 50_000) + " = 1",
        "[limits]\n" + ".".join(["Cancer"] + ["a"] * 50_000) + " = 1",
        "required = [" + "[" * 900 + "]" * 900 + "]",
        "required = [{" + ".".join(["a"] * 5000) + " = 1}]",
        "tiers = " + "[" * 50_000,
    ],
    ids=["digits", "dotted limits", "dotted keys", "dotted name", "nested", "inline", "deep"],
)
def test_extreme_toml_files_are_reported_in_one_line(tmp_path, text, capsys):
    dn.load("lung-cancer").sample(50, 1).frame().write_csv(tmp_path / "lc.csv")
    (tmp_path / "known.toml").write_text(text)
    assert main(["learn", str(tmp_path / "lc.csv"), "--knowledge", str(tmp_path / "known.toml"), "--quiet"]) == 2
    assert len(capsys.readouterr().err.splitlines()) == 1
