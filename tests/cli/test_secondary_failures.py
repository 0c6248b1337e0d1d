"""A failure after the network is learned is reported and does not lose the network."""

import json

import pytest

import dagneal as dn
from dagneal.cli import main


@pytest.mark.parametrize("broken", ["holdout", "bootstrap", "strengths", "sensitivity"])
def test_a_failed_measure_is_reported_and_the_others_are_saved(tmp_path, monkeypatch, capsys, broken):
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


def test_a_failed_page_or_comparison_does_not_lose_the_network(tmp_path, monkeypatch, capsys):
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


def test_a_failure_while_closing_does_not_lose_the_network(tmp_path, monkeypatch, capsys):
    """The network is saved before the cluster, the journal and the connection are closed."""
    from contextlib import contextmanager

    dn.load("lung-cancer").sample(500, 1).frame().write_csv(tmp_path / "lc.csv")

    @contextmanager
    def interrupted(_):
        yield None
        raise KeyboardInterrupt

    monkeypatch.setattr("dagneal.runtime.clusters.dask", interrupted)
    assert main(["learn", str(tmp_path / "lc.csv"), "--dask", "local:2", "-o", str(tmp_path / "a.json")]) == 130
    assert "log score" in capsys.readouterr().out
    assert dn.load_result(tmp_path / "a.json").optimal
    (tmp_path / "closing.py").write_text(
        "from dwave.samplers import TabuSampler\n"
        "class Closing(TabuSampler):\n"
        "    def close(self):\n"
        "        raise OSError('the line is dead')\n"
    )
    monkeypatch.syspath_prepend(str(tmp_path))
    for more in ([], ["--bootstrap", "2"]):
        words = ["--sampler", "closing:Closing", "--reads", "5", *more, "-o", str(tmp_path / "b.json")]
        assert main(["learn", str(tmp_path / "lc.csv"), *words]) == 2
        assert "closing the connection failed: OSError: the line is dead" in capsys.readouterr().err
        assert dn.load_result(tmp_path / "b.json").edges
        (tmp_path / "b.json").unlink()
