"""Options for confidence measures."""

import json
import re

import numpy as np
import polars as pl
import pytest

import dagneal as dn
from dagneal.base.text import display_width
from dagneal.cli import main


def learn_network(folder, network="lung-cancer", rows=500):
    """Sample data, learn a network, and return the paths of the result and the data."""
    file, result = str(folder / "a.csv"), str(folder / "a.json")
    dn.load(network).sample(rows, 1).frame().write_csv(file)
    assert main(["learn", file, "-o", result, "--quiet"]) == 0
    return [result, file]


def test_confidence_on_the_command_line(tmp_path, capsys):
    both = learn_network(tmp_path, rows=3000)
    capsys.readouterr()
    words = ["confidence", *both, "--bootstrap", "10", "--ess", "0.1,1", "--holdout", "0.2", "--threshold", "1"]
    assert main(words) == 0
    text = capsys.readouterr().out
    assert "bootstrap frequency" in text
    assert "equivalent sample size" in text
    assert "600 held-out rows" in text
    assert main([*words, "--json"]) == 0
    result = json.loads(capsys.readouterr().out)
    assert result["bootstrap"]["samples"] == 10
    assert set(result["sensitivity"]) == {"0.1", "1"}
    assert result["holdout"]["rows"] == 600
    saved = json.loads((tmp_path / "a.json").read_text())
    assert [[each["parent"], each["child"]] for each in result["strengths"]] == saved["edges"]
    assert result["strengths"] == saved["strengths"]
    for more, message in (
        (["--bootstrap", "0"], "--bootstrap is 0"),
        (["--threshold", "2", "--bootstrap", "3"], "--threshold is 2.0"),
        (["--holdout", "1"], "--holdout is 1.0"),
        (["--ess", "-1"], "the equivalent sample size is -1"),
        (["--threshold", "0.9"], "--threshold needs --bootstrap"),
        (["--seed", "-1"], "--seed is -1"),
        (["--drop", "Xray"], "have different variables"),
    ):
        assert main(["confidence", *both, *more]) == 2
        assert message in capsys.readouterr().err


def test_the_bootstrap_of_learn_and_of_confidence_agree(tmp_path, capsys):
    both = learn_network(tmp_path)
    assert main(["learn", both[1], "--bootstrap", "4", "--seed", "3", "--json", "--quiet"]) == 0
    there = json.loads(capsys.readouterr().out.splitlines()[-1])["bootstrap"]
    assert main(["confidence", *both, "--bootstrap", "4", "--seed", "3", "--json", "--quiet"]) == 0
    assert json.loads(capsys.readouterr().out)["bootstrap"] == there


def test_confidence_needs_a_network_and_its_score(tmp_path, capsys):
    both = learn_network(tmp_path)
    assert main(["learn", both[1], "--score", "k2", "-o", both[0], "--quiet"]) == 0
    assert main(["confidence", *both, "--ess", "1,2"]) == 2
    assert "--ess needs the score bdeu, but" in capsys.readouterr().err
    words = ["--solver", "random", "--set", "direct=true", "--set", "repair=false", "--reads", "1", "-o", both[0]]
    dn.load("waste").sample(500, 1).frame().write_csv(both[1])
    assert main(["learn", both[1], *words, "--quiet"]) == 0
    assert main(["confidence", *both]) == 2
    assert "contains no valid network" in capsys.readouterr().err


def test_confidence_saves_the_result_with_its_measures(tmp_path, capsys):
    both = learn_network(tmp_path)
    page, more = tmp_path / "b.html", tmp_path / "b.json"
    words = ["--bootstrap", "3", "--holdout", "0.2", "-o", str(page), "-o", str(more)]
    assert main(["confidence", *both, *words]) == 0
    assert "saved to" in capsys.readouterr().out
    assert "held-out rows" in page.read_text()
    result = dn.load_result(more)
    assert result.confidence.bootstrap.samples == 3
    assert result.edges == dn.load_result(both[0]).edges


def test_tables_with_wide_characters_are_aligned(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    generator = np.random.default_rng(0)
    first = generator.integers(0, 2, 400)
    rows = {"東京": first, "e\u0301te\u0301": first ^ (generator.random(400) < 0.1), "plain": generator.integers(0, 2, 400)}
    rows["plain"][:350] = rows["東京"][:350]
    pl.DataFrame(rows).write_csv("wide.csv")
    assert main(["learn", "wide.csv", "-o", "wide.json"]) == 0
    families = [line for line in capsys.readouterr().out.splitlines() if re.search(r"^  [^.]*\S +(<-|--) [^.]*$", line)]
    assert main(["confidence", "wide.json", "wide.csv", "--bootstrap", "5", "--ess", "1,10"]) == 0
    lines = capsys.readouterr().out.splitlines()

    def ends(some, pattern):
        return {display_width(line[: re.search(pattern, line).end()]) for line in some}

    edges = [line for line in lines if re.search(r"  .* (->|--) .*\d\.\d\d +\d+\.\d\d  (supported|undetermined)", line)]
    assert len(edges) == 2
    assert len(ends(edges, r"\d\.\d\d ")) == 1  # numbers are right-aligned under their heading
    head = next(line for line in lines if line.lstrip().startswith("edge "))
    assert ends(edges, r"\d\.\d\d(?= )") == ends([head], "removed")
    assert len(families) == 2
    assert len(ends(families, " (<-|--) ")) == 1
    priors = [line for line in lines if re.search(r" - .* (->|<-|reversible|-)$", line)]
    assert len(priors) >= 2
    assert len({display_width(line) for line in priors}) == 1


def test_ctrl_c_does_not_lose_samples_or_network(tmp_path, monkeypatch, capsys):
    from dagneal.confidence import bootstrap as resampling

    dn.load("lung-cancer").sample(500, 1).frame().write_csv(tmp_path / "a.csv")
    solve, calls = resampling.solve_data, []

    def interrupt(*args, **options):
        calls.append(1)
        if len(calls) == 4:
            raise KeyboardInterrupt
        return solve(*args, **options)

    monkeypatch.setattr(resampling, "solve_data", interrupt)
    words = ["learn", str(tmp_path / "a.csv"), "--bootstrap", "50", "--jobs", "1", "-o", str(tmp_path / "a.json")]
    assert main(words) == 130
    samples = json.loads((tmp_path / "a.json").read_text())["bootstrap"]["samples"]
    assert 3 <= samples < 20
    assert f"bootstrap: {samples} of 50 samples of 80% of the rows (stopped by Ctrl-C)" in capsys.readouterr().out


def test_a_failed_measure_does_not_lose_earlier_measures(tmp_path, capsys):
    both = learn_network(tmp_path)
    words = ["confidence", *both, "--bootstrap", "3", "--holdout", "0.0001", "-o", str(tmp_path / "a.json")]
    assert main(words) == 2
    captured = capsys.readouterr()
    assert "bootstrap frequency" in captured.out
    assert "leaves no rows to evaluate" in captured.err
    assert json.loads((tmp_path / "a.json").read_text())["bootstrap"]["samples"] == 3


def test_a_note_names_the_solver_of_bootstrap_samples(tmp_path, capsys):
    dn.load("lung-cancer").sample(500, 1).frame().write_csv(tmp_path / "a.csv")
    note = "the bootstrap used the default solver"
    for more, expected in (([], False), (["--solver", "order"], False), (["--solver", "sa", "--reads", "5"], True)):
        assert main(["learn", str(tmp_path / "a.csv"), "--bootstrap", "2", *more]) == 0
        assert (note in capsys.readouterr().out) == expected


def test_confidence_rejects_other_data_and_keeps_earlier_measures(tmp_path, capsys):
    both = learn_network(tmp_path)
    assert main(["confidence", *both, "--bootstrap", "3", "-o", both[0]]) == 0
    assert main(["confidence", *both, "--holdout", "0.2", "-o", both[0]]) == 0
    saved = json.loads((tmp_path / "a.json").read_text())
    assert saved["bootstrap"]["samples"] == 3
    assert saved["holdout"]["rows"] == 100
    dn.load("lung-cancer").sample(400, 2).frame().write_csv(tmp_path / "b.csv")
    capsys.readouterr()
    assert main(["confidence", both[0], str(tmp_path / "b.csv"), "-o", str(tmp_path / "c.json")]) == 2
    assert "rows" in capsys.readouterr().err
    assert not (tmp_path / "c.json").exists()


def test_a_bootstrap_of_a_saved_result_resumes(tmp_path, monkeypatch, capsys):
    both = learn_network(tmp_path)
    journal, out = str(tmp_path / "run.db"), str(tmp_path / "b.json")
    assert main(["confidence", *both, "--journal", journal]) == 2
    assert "--journal stores bootstrap samples" in capsys.readouterr().err
    assert main(["confidence", *both, "--bootstrap", "4", "--journal", journal, "-o", out]) == 0
    first = dn.load_result(out).confidence.bootstrap
    (tmp_path / "b.json").unlink()
    monkeypatch.setattr(
        "dagneal.confidence.bootstrap.solve_data", lambda *_, **__: pytest.fail("a sample was learned again")
    )
    assert main(["resume", journal]) == 0
    again = dn.load_result(out).confidence.bootstrap
    assert (again.samples, again.edges.tolist()) == (first.samples, first.edges.tolist())


def test_near_optimal_networks_on_the_command_line(tmp_path, capsys):
    file = learn_network(tmp_path, "alarm-15", 1000)[1]
    expected = dn.learn(dn.read(file)).near_optimal(20)
    capsys.readouterr()
    assert main(["learn", file, "--within", "20", "--json", "--quiet"]) == 0
    assert json.loads(capsys.readouterr().out)["near_optimal"] == expected.to_dict()
    assert main(["learn", file, "--within", "20", "--quiet"]) == 0
    text = capsys.readouterr().out
    assert f"within a Bayes factor of 20 (3.00 nats): {len(expected.classes)} equivalence classes" in text
    assert f"... and {len(expected.classes) - 10} more" in text
    lines = [line for line in text.splitlines() if " lower  " in line]
    assert lines[0].endswith("the best network")
    for line, each in zip(lines, expected.classes, strict=False):
        assert float(line.split()[0]) == pytest.approx(expected.best - each.score, abs=6e-4)
        for change in re.findall(r"(?:adds|redirects) ([^;]*)", line):
            for a, sign, b in (text.split() for text in change.split(", ")):
                assert (sign == "--") == each.cpdag.has_edge(b, a)
                assert each.cpdag.has_edge(a, b)
    shared = text.partition("edges in all near-optimal networks (a -- b: the direction is undetermined): ")[2]
    assert len(shared.splitlines()[0].split(", ")) == len(expected.adjacencies)
    assert shared.count(" -> ") == len(expected.compelled)
    for word in ("0.5", "nan", "inf", "-3"):
        assert main(["learn", file, "--within", word]) == 2
        assert "give a finite Bayes factor of at least 1" in capsys.readouterr().err
    assert main(["learn", file, "--within", "20", "--time-limit", "0.001", "--quiet"]) == 0
    assert "the time was too short" in capsys.readouterr().out


def test_many_near_optimal_networks_on_the_command_line(tmp_path, capsys):
    file = learn_network(tmp_path, "waste", 500)[1]
    capsys.readouterr()
    assert main(["learn", file, "--within", "1000", "--max-parents", "2", "--quiet"]) == 0
    text = capsys.readouterr().out
    assert "at least 1,000 equivalence classes" in text
    assert "all classes within less than a factor of" in text


def test_ctrl_c_during_the_search_for_near_optimal_networks_keeps_the_result(tmp_path, monkeypatch, capsys):
    file = learn_network(tmp_path)[1]

    def interrupt(*_, **__):
        raise KeyboardInterrupt

    monkeypatch.setattr(dn.Learned, "near_optimal", interrupt)
    capsys.readouterr()
    assert main(["learn", file, "--within", "20", "--quiet"]) == 130
    assert "log score" in capsys.readouterr().out


def test_posteriors_of_learn_and_of_confidence(tmp_path, capsys):
    result, data = str(tmp_path / "a.json"), str(tmp_path / "a.csv")
    dn.load("lung-cancer").sample(500, 2).frame().write_csv(data)
    assert main(["learn", data, "--posteriors", "-o", result, "--quiet"]) == 0
    assert "posterior probabilities: exact, prior uniform" in capsys.readouterr().out
    assert dn.load_result(result).confidence.posteriors.prior == "uniform"
    assert main(["confidence", result, data, "--posteriors", "--prior", "sparse-orders", "--json", "--quiet"]) == 0
    assert json.loads(capsys.readouterr().out)["posteriors"]["prior"] == "sparse-orders"
    assert main(["confidence", result, data, "--prior", "orders"]) == 2
    assert "--prior needs --posteriors" in capsys.readouterr().err
