"""Scores of the user's own, and whether every score of the library is named wherever it should be."""

import pickle
from dataclasses import dataclass
from math import log

import numpy as np
import pytest

import dagneal as dn
from dagneal.cli import main
from dagneal.scoring import Likelihood, Score
from dagneal.scoring.scores import SCORES, name_of, score_named, score_names
from support.reference import all_dags, as_graph, dag_scores, penalised_score, random_data


@dataclass(frozen=True)
class HannanQuinn(Likelihood):
    """The criterion of Hannan and Quinn: ln ln N for each free parameter."""

    name = "Hannan-Quinn"

    def penalties(self, arity, parent_cells, rows):
        return log(log(rows)) * parent_cells * (arity - 1)


@dataclass(frozen=True)
class Half:
    """Jeffreys' prior, written without a class to inherit from."""

    name = "Jeffreys"
    depends_on_child = True
    penalised = False

    def concentrations(self, arity, cells, rows):
        return 0.5, 0.5 * arity

    def penalties(self, arity, parent_cells, rows):
        return np.zeros_like(parent_cells)


def test_a_score_of_ones_own_equals_plain_counting():
    data = random_data(5, 300, seed=4)
    table = dn.scoring.score_table(data, HannanQuinn(), max_parents=2)
    for child, parents in [("v0", []), ("v1", ["v0"]), ("v3", ["v0", "v4"])]:
        expected = penalised_score(data, child, parents, log(log(data.rows)))
        assert table.local(child, parents) == pytest.approx(expected, rel=1e-12)


@pytest.mark.parametrize("score", [HannanQuinn(), Half()], ids=lambda score: score.name)
def test_a_score_of_ones_own_is_learned_with(score, tmp_path):
    data = random_data(4, 300, seed=4)
    table = dn.scoring.score_table(data, score, max_parents=3)
    dags = all_dags(4)
    scores = dag_scores(table, dags)
    found = dn.learn(data, score=score, max_parents=3)
    assert found.optimal
    assert found.score == pytest.approx(scores.max(), rel=1e-12)
    assert found.score_name == score.name
    best = as_graph(table, dags[int(np.argmax(scores))])
    assert dn.scoring.Scorer(data, score).score(best) == pytest.approx(found.score, rel=1e-12)
    known = dn.learn(data, score=score, max_parents=3, knowledge={"roots": ["v3"]})
    allowed = [value for dag, value in zip(dags, scores, strict=True) if not dag[3]]
    assert known.score == pytest.approx(max(allowed), rel=1e-12)
    found.save(tmp_path / "found.json")
    again = dn.load_result(tmp_path / "found.json")
    assert (again.score, again.score_name, again.criterion) == (found.score, score.name, None)


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        (HannanQuinn, "score is the class HannanQuinn; give an instance: HannanQuinn()"),
        (3, "score is 3; give a score such as BDeu"),
        (type("Lame", (), {"name": "lame", "penalised": False})(), "also needs depends_on_child, concentrations, penalties"),
    ],
    ids=["class", "number", "incomplete"],
)
def test_what_is_no_score_is_refused(wrong, message):
    with pytest.raises(dn.InputError) as caught:
        dn.scoring.Scorer(random_data(3, 20, seed=0), wrong)
    assert message in str(caught.value)


@pytest.mark.parametrize("name", SCORES)
def test_every_score_is_named_wherever_it_should_be(name, capsys):
    score = score_named(name)
    assert isinstance(score, Score)
    assert score_named(name_of(score)) == score
    assert pickle.loads(pickle.dumps(score)) == score
    assert name in score_names()
    assert getattr(dn, type(score).__name__, None) is type(score), "add it to dagneal/__init__.py"
    assert getattr(dn.scoring, type(score).__name__, None) is type(score), "add it to dagneal/scoring/__init__.py"
    with pytest.raises(SystemExit):
        main(["learn", "--help"])
    assert name in capsys.readouterr().out, "add it to the help of --score in cli/inputs.py"


def test_no_score_is_above_zero():
    """With background knowledge, the price of a forbidden edge relies on this."""
    data = random_data(4, 50, seed=1)
    for name in SCORES:
        assert dn.scoring.score_table(data, score_named(name), max_parents=3).scores.max() <= 0
