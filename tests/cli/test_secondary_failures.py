"""A failure beside the network is reported and does not lose the network."""

import json

import pytest

import dagneal as dn
from dagneal.cli import main


@pytest.mark.parametrize("broken", ["holdout", "bootstrap", "strengths", "sensitivity"])
def test_a_failure_beside_the_network_is_reported_and_loses_nothing(tmp_path, monkeypatch, capsys, broken):
    dn.load("lung-cancer").sample(500, 1).frame().write_csv(tmp_path / "lc.csv")

    def fail(*_, **__):
        raise RuntimeError("no luck\nat all")

    module = "confidence.measures" if broken in ("holdout", "sensitivity") else "result"
    monkeypatch.setattr(f"dagneal.{module}.{broken}", fail)
    both = [str(tmp_path / "a.json"), str(tmp_path / "lc.csv")]
    assert main(["learn", both[1], "-o", both[0], "--quiet"]) == (2 if broken == "strengths" else 0)
    assert "log score" in capsys.readouterr().out
    words = ["--bootstrap", "2", "--ess", "1,2", "--holdout", "0.2", "-o", both[0], "--quiet"]
    assert main(["confidence", *both, *words]) == 2
    _, err = capsys.readouterr()
    assert err.count("\n") == 1
    assert "failed: RuntimeError: no luck at all" in err
    saved = json.loads((tmp_path / "a.json").read_text())
    assert saved["edges"]
    assert broken not in saved
    others = {"holdout", "bootstrap", "strengths", "sensitivity"} - {broken}
    assert others <= set(saved)


def test_a_failing_page_or_comparison_loses_nothing(tmp_path, monkeypatch, capsys):
    dn.load("lung-cancer").sample(500, 1).frame().write_csv(tmp_path / "lc.csv")

    def fail(*_, **__):
        raise ZeroDivisionError

    monkeypatch.setattr("dagneal.report.page.page", fail)
    monkeypatch.setattr("dagneal.result.compare", fail)
    monkeypatch.setattr("dagneal.report.summary.draw_text", fail)
    words = ["--truth", "lung-cancer", "-o", str(tmp_path / "a.html"), "-o", str(tmp_path / "a.bif"), "--quiet"]
    assert main(["learn", str(tmp_path / "lc.csv"), *words]) == 2
    out, err = capsys.readouterr()
    assert "log score" in out
    assert err.count("failed: ZeroDivisionError") == 3
    assert dn.read_bif(tmp_path / "a.bif").dag.number_of_edges()
