"""User-defined scores, and the places that must list every score of the library."""

import pickle
from dataclasses import dataclass
from math import log

import numpy as np
import pytest

import dagneal as dn
from dagneal.cli import main
from dagneal.scoring import Likelihood, Score
from dagneal.scoring.scores import SCORES, parse_score, score_names, score_spec
from support.reference import all_dags, as_graph, dag_scores, penalised_score, random_data


@dataclass(frozen=True)
class HannanQuinn(Likelihood):
    """The Hannan-Quinn criterion: a penalty of ln ln N for each free parameter."""

    name = "Hannan-Quinn"

    def penalties(self, arity, parent_cells, rows):
        return log(log(rows)) * parent_cells * (arity - 1)


@dataclass(frozen=True)
class Jeffreys:
    """Jeffreys' prior, as a class without a base class."""

    name = "Jeffreys"
    depends_on_child = True
    penalised = False

    def concentrations(self, arity, cells, rows):
        return 0.5, 0.5 * arity

    def penalties(self, arity, parent_cells, rows):
        return np.zeros_like(parent_cells)


def test_a_user_defined_score_equals_a_direct_computation():
    data = random_data(5, 300, seed=4)
    table = dn.scoring.score_table(data, HannanQuinn(), max_parents=2)
    for child, parents in [("v0", []), ("v1", ["v0"]), ("v3", ["v0", "v4"])]:
        expected = penalised_score(data, child, parents, log(log(data.rows)))
        assert table.local(child, parents) == pytest.approx(expected, rel=1e-12)


@pytest.mark.parametrize("score", [HannanQuinn(), Jeffreys()], ids=lambda score: score.name)
def test_learning_with_a_user_defined_score(score, tmp_path):
    data = random_data(4, 300, seed=4)
    table = dn.scoring.score_table(data, score, max_parents=3)
    dags = all_dags(4)
    scores = dag_scores(table, dags)
    result = dn.learn(data, score=score, max_parents=3)
    assert result.optimal
    assert result.score == pytest.approx(scores.max(), rel=1e-12)
    assert result.score_name == score.name
    best = as_graph(table, dags[int(np.argmax(scores))])
    assert dn.scoring.Scorer(data, score).score(best) == pytest.approx(result.score, rel=1e-12)
    constrained = dn.learn(data, score=score, max_parents=3, knowledge={"roots": ["v3"]})
    allowed = [value for dag, value in zip(dags, scores, strict=True) if not dag[3]]
    assert constrained.score == pytest.approx(max(allowed), rel=1e-12)
    result.save(tmp_path / "result.json")
    loaded = dn.load_result(tmp_path / "result.json")
    assert (loaded.score, loaded.score_name, loaded.criterion) == (result.score, score.name, None)


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        (HannanQuinn, "score is the class HannanQuinn; give an instance: HannanQuinn()"),
        (3, "score is 3; give a score such as BDeu"),
        (
            type("Incomplete", (), {"name": "incomplete", "penalised": False})(),
            "also needs depends_on_child, concentrations, penalties",
        ),
    ],
    ids=["class", "number", "incomplete"],
)
def test_invalid_scores_are_rejected(wrong, message):
    with pytest.raises(dn.InputError) as caught:
        dn.scoring.Scorer(random_data(3, 20, seed=0), wrong)
    assert message in str(caught.value)


@pytest.mark.parametrize("name", SCORES)
def test_every_score_is_exported_and_documented(name, capsys):
    score = parse_score(name)
    assert isinstance(score, Score)
    assert parse_score(score_spec(score)) == score
    assert pickle.loads(pickle.dumps(score)) == score
    assert name in score_names()
    assert getattr(dn, type(score).__name__, None) is type(score), "add it to dagneal/__init__.py"
    assert getattr(dn.scoring, type(score).__name__, None) is type(score), "add it to dagneal/scoring/__init__.py"
    with pytest.raises(SystemExit):
        main(["learn", "--help"])
    assert name in capsys.readouterr().out, "add it to the help of --score in cli/inputs.py"


def test_no_score_is_above_zero():
    """The penalty for violations of background knowledge relies on this."""
    data = random_data(4, 50, seed=1)
    for name in SCORES:
        assert dn.scoring.score_table(data, parse_score(name), max_parents=3).scores.max() <= 0
