"""Options for solvers and samplers."""

import json

import pytest

import dagneal as dn
from dagneal.cli import main
from dagneal.strategies.names import SAMPLERS


@pytest.fixture(scope="module")
def data():
    return dn.load("lung-cancer").sample(2_000, 1)


@pytest.mark.slow
@pytest.mark.parametrize("options", [["--solver", name] for name in SAMPLERS] + [["--solver", "sa", "--set", "direct=true"]])
def test_python_and_the_command_line_give_the_same_result(options, data, tmp_path, capsys):
    file = tmp_path / "lc.csv"
    data.frame().write_csv(file)
    assert main(["learn", str(file), *options, "--json", "--quiet"]) == 0
    there = json.loads(capsys.readouterr().out)
    here = dn.learn(str(file), dn.Anneal(options[1], direct="--set" in options or None)).to_dict()
    for name in ("edges", "score", "seed", "annealed", "max_parents", "votes"):
        assert here.get(name) == there.get(name), name


STUCK = """
import dimod

class Stuck(dimod.Sampler):
    properties = {}
    parameters = {"num_reads": []}

    def sample(self, bqm, num_reads=1):
        return dimod.SampleSet.from_samples_bqm([dict.fromkeys(bqm.variables, 0)] * num_reads, bqm)

def make():
    return Stuck()

def wrong():
    return 7

def broken():
    raise SystemExit(5)

ready = Stuck()
"""


def test_a_sampler_may_be_a_class_a_function_or_an_object(data, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(str(tmp_path))
    data.frame().write_csv("lc.csv")
    (tmp_path / "stuck.py").write_text(STUCK)
    for name in ("Stuck", "make", "ready"):
        assert main(["learn", "lc.csv", "--sampler", f"stuck:{name}", "--set", "direct=true", "--reads", "100"]) == 0
        assert "100 reads, 1 distinct" in capsys.readouterr().out
    for name, words in (("wrong", "is not a dimod.Sampler"), ("broken", "cannot be called without arguments: 5")):
        assert main(["learn", "lc.csv", "--sampler", f"stuck:{name}"]) == 2
        assert words in capsys.readouterr().err
