"""Options for background knowledge."""

import json

import pytest

import dagneal as dn
from dagneal.cli import main


def test_knowledge_on_the_command_line(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    assert main(["sample", "lung-cancer", "--rows", "1000", "-o", "lc.csv"]) == 0
    (tmp_path / "tiers.toml").write_text('tiers = [["Cancer"], ["Smoker", "Pollution"]]')
    (tmp_path / "more.toml").write_text('leaves = ["Xray"]\n[limits]\nDyspnoea = 1\n')
    words = ["learn", "lc.csv", "--require", "Xray:Dyspnoea", "--json"]
    capsys.readouterr()
    assert main(words) == 0
    found = json.loads(capsys.readouterr().out)
    assert ["Xray", "Dyspnoea"] in found["edges"]
    assert found["knowledge"] == {"required": [["Xray", "Dyspnoea"]]}
    files = ["--tiers", "tiers.toml", "--knowledge", "more.toml"]
    assert main(["learn", "lc.csv", "--forbid", "Smoker:Cancer", *files, "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert not {("Smoker", "Cancer"), ("Pollution", "Cancer")} & set(map(tuple, found["edges"]))
    assert main([*words[:4], "--knowledge", "more.toml"]) == 2
    assert "required, but 'Xray' is a leaf" in capsys.readouterr().err
    for text, message in (("Xray", "is no edge"), ("Xray:Nose", "there is no column 'Nose'")):
        assert main(["learn", "lc.csv", "--require", text]) == 2
        assert message in capsys.readouterr().err
    assert main(["learn", "lc.csv", "--tiers", "more.toml"]) == 2
    assert "must hold tiers and nothing else" in capsys.readouterr().err
    assert main(["encode", "lc.csv", "--forbid", "Smoker:Cancer", "--json"]) == 0
    fewer = json.loads(capsys.readouterr().out)["bits"]
    assert main(["encode", "lc.csv", "--json"]) == 0
    assert fewer < json.loads(capsys.readouterr().out)["bits"]


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
def test_monstrous_toml_is_refused_in_one_line(tmp_path, text, capsys):
    dn.load("lung-cancer").sample(50, 1).frame().write_csv(tmp_path / "lc.csv")
    (tmp_path / "known.toml").write_text(text)
    assert main(["learn", str(tmp_path / "lc.csv"), "--knowledge", str(tmp_path / "known.toml"), "--quiet"]) == 2
    assert len(capsys.readouterr().err.splitlines()) == 1
