"""Test the search for the largest problem that can be embedded on a chip."""

import json
from dataclasses import asdict
from importlib import import_module

import networkx as nx
import pytest

import dagneal as dn
from dagneal.cli import main
from dagneal.qpu import capacity
from dagneal.qpu.capacity import find_capacity, guaranteed_size
from dagneal.qpu.chips import chip_graph
from dagneal.qpu.embedding import EmbeddingCache
from dagneal.qpu.plan import subproblem_graph
from dagneal.qpu.targets import Target, find_target

SMALL = Target("small", "small", chip_graph("pegasus", (3,)), find_target("pegasus").properties)


def paper_graph(number):
    return subproblem_graph(number, 2, dn.PAPER)


@pytest.mark.parametrize("largest", range(4, 9))
def test_the_bisection_finds_the_largest_size(tmp_path, monkeypatch, largest):
    def search(source, *_):
        if len(source) > len(paper_graph(largest)):
            return {}
        return {variable: (variable,) for variable in source}

    monkeypatch.setattr(capacity, "search_embedding", search)
    monkeypatch.setattr(capacity, "embedding_error", lambda *_: "")
    found = find_capacity(find_target("pegasus"), paper_graph, "paper", EmbeddingCache(tmp_path))
    guaranteed = guaranteed_size(find_target("pegasus").graph, paper_graph)
    assert guaranteed == 10
    assert found.variables == guaranteed  # the size that certainly fits is not searched below
    assert found.qubits >= len(paper_graph(guaranteed))  # the search failed, so this is the embedding of a clique
    assert found.longest_chain > 1
    small = find_capacity(SMALL, paper_graph, "paper", EmbeddingCache(tmp_path))
    most = next(n for n in range(3, 100) if capacity._is_hopeless(paper_graph(n), SMALL.graph))
    assert small.qubits > 0
    assert small.variables == max(guaranteed_size(SMALL.graph, paper_graph), min(largest, most - 1))
    assert small.smallest_failure == small.variables + 1
    assert small.proved == (small.smallest_failure == most)


def test_the_result_is_stored(tmp_path, monkeypatch):
    cache = EmbeddingCache(tmp_path)
    assert find_capacity(SMALL, paper_graph, "paper 2", cache, search=False) is None
    monkeypatch.setattr(capacity, "_SECONDS", 5.0)
    found = find_capacity(SMALL, paper_graph, "paper 2", cache)
    assert guaranteed_size(SMALL.graph, paper_graph) <= found.variables < found.smallest_failure
    assert found.qubits >= len(paper_graph(found.variables))
    monkeypatch.setattr(capacity, "search_embedding", None)  # a second search would fail
    assert find_capacity(SMALL, paper_graph, "paper 2", cache) == found
    assert find_capacity(SMALL, paper_graph, "paper 3", cache, search=False) is None


def test_a_damaged_file_is_searched_again(tmp_path, monkeypatch):
    cache = EmbeddingCache(tmp_path)
    monkeypatch.setattr(capacity, "_SECONDS", 2.0)
    found = find_capacity(SMALL, paper_graph, "x", cache)
    for path in (tmp_path / "embeddings").iterdir():
        path.write_text('{"variables": 3}')
    assert find_capacity(SMALL, paper_graph, "x", cache) == found
    for path in (tmp_path / "embeddings").iterdir():
        path.write_text(json.dumps(asdict(found) | {"qubits": 0}))
    assert find_capacity(SMALL, paper_graph, "x", cache) == found


def test_a_plan_shows_the_stored_result(tmp_path, monkeypatch, capsys):
    monkeypatch.setenv("DAGNEAL_CACHE", str(tmp_path))
    line = capacity.Capacity(17, 3210, 30, 18, False)
    monkeypatch.setattr(import_module("dagneal.qpu.plan"), "find_capacity", lambda *_: line)
    assert main(["plan", "--variables", "5", "--divide", "3", "--encoding", "paper"]) == 0
    text = capsys.readouterr().out
    assert "17 columns were embedded in 3,210 qubits, with chains of at most 30; 18 were not, in 2 searches of 180 s" in text
    assert "the paper estimates about 18" in text
    assert main(["plan", "--variables", "5", "--divide", "3", "--encoding", "paper", "--json"]) == 0
    assert dn.qpu.plan(5, 3, dn.qpu.PlanSettings(encoding=dn.PAPER))[0].to_dict()["largest"] == asdict(line)


def test_a_chip_without_defects_has_none():
    assert nx.utils.graphs_equal(find_target("zephyr").graph, find_target("zephyr").ideal)
