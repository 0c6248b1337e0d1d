"""Explanations of the terms on the page."""

import networkx as nx
import pytest

import dagneal as dn
from dagneal.report.explanations import explain_score
from dagneal.scoring.scores import SCORES, parse_score


@pytest.mark.parametrize("name", SCORES)
def test_every_score_is_explained(name):
    score = parse_score(name).name
    result = dn.Learned(nx.DiGraph([("a", "b")]), -1.0, 1, "exact", score_name=score)
    terms = dict(explain_score(result))
    assert terms[score].endswith(".")


def test_probabilities_of_edges_are_part_of_the_log_score():
    graph = nx.DiGraph([("a", "b")])
    plain = dn.Learned(graph, -1.0, 1, "exact", score_name="BIC")
    likely = dn.Learned(graph, -1.0, 1, "exact", score_name="BIC", knowledge=dn.Knowledge(probabilities={("a", "b"): 0.9}))
    assert "log-odds" not in dict(explain_score(plain))["log score"]
    assert "It includes the log-odds of edges" in dict(explain_score(likely))["log score"]
