"""Every score with the main solvers: brute force over all networks, and proofs that a checker accepts."""

import numpy as np
import pytest

import dagneal as dn
from dagneal.cli import main
from dagneal.scoring.scores import SCORES
from support.reference import all_dags, dag_scores, random_data

SOLVERS = [
    dn.Auto(),
    dn.Exact(),
    dn.OrderSearch(),
    dn.Anneal("tree"),
    dn.Anneal("sa", num_reads=50),
    dn.Divide(dn.Exact()),
]


@pytest.mark.parametrize("score", SCORES)
def test_solvers_find_the_best_network(score):
    data = random_data(4, 60, seed=5, arities=[2, 3, 4, 2])
    best = dag_scores(dn.scoring.score_table(data, score, max_parents=3), all_dags(4)).max()
    for solver in SOLVERS:
        assert dn.learn(data, solver, score=score, max_parents=3).score == pytest.approx(best, abs=1e-9)


@pytest.mark.parametrize("score", SCORES)
def test_searches_and_proofs_agree(score, tmp_path, capsys):
    """Auto counts additions and complete lists where the score allows it; Exact without a limit uses bounds."""
    data = random_data(9, 200, seed=3, arities=[2, 3, 2, 4, 2, 3, 2, 2, 3])
    names = dict(zip(data.names, data.states, strict=True))
    rows = np.repeat(data.codes, data.weights, axis=1).T
    lines = [",".join(data.names)] + [
        ",".join(names[name][code] for name, code in zip(data.names, row, strict=True)) for row in rows.tolist()
    ]
    (tmp_path / "data.csv").write_text("\n".join(lines))
    read = dn.read(tmp_path / "data.csv")
    exact = dn.learn(read, dn.Exact(), score=score, max_parents=3)
    auto = dn.learn(read, score=score, max_parents=3)
    assert exact.optimal
    assert auto.optimal
    assert auto.score == pytest.approx(exact.score, abs=1e-9)
    assert exact.score == pytest.approx(dn.scoring.Scorer(read, score).score(exact.dag), rel=1e-12)
    proof = str(tmp_path / "result.proof")
    assert main(["learn", str(tmp_path / "data.csv"), "--score", score, "--max-parents", "3", "-o", proof, "--quiet"]) == 0
    assert main(["check", proof, str(tmp_path / "data.csv")]) == 0
    assert "is valid" in capsys.readouterr().out
