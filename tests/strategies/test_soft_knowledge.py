"""Prior probabilities of edges: every solver and encoding finds the best sum of log score and log-odds."""

from functools import cache
from math import log

import numpy as np
import pytest
from dwave.samplers import SimulatedAnnealingSampler, TreeDecompositionSolver

import dagneal as dn
from dagneal.scoring import Scorer, read_scores, write_scores
from dagneal.scoring.scores import SCORES
from support.reference import all_dags, random_data, random_probabilities


def brute_force(data, score, limit, probabilities, required=(), forbidden=()):
    """Return the highest sum of a log score and log-odds over all networks, computed without the code under test."""
    names, table = data.names, dn.scoring.score_table(data, score, max_parents=limit)
    needed = [{names.index(a) for a, b in required if b == name} for name in names]
    excluded = [{names.index(a) for a, b in forbidden if b == name} for name in names]

    @cache
    def local(child, parents):
        if len(parents) > limit or not needed[child] <= parents or excluded[child] & parents:
            return -np.inf
        given = [probabilities.get((names[parent], names[child]), 0.5) for parent in parents]
        return table.local(names[child], [names[p] for p in parents]) + sum(log(p / (1 - p)) for p in given)

    return max(sum(local(child, parents) for child, parents in enumerate(dag)) for dag in all_dags(len(names)))


SOLVERS = [
    dn.Auto(),
    dn.Auto(prove=False),
    dn.Exact(),
    dn.Exhaustive(),
    dn.OrderSearch(),
    dn.Anneal(TreeDecompositionSolver(), direct=True),
    dn.Anneal(TreeDecompositionSolver(), direct=True, encoding=dn.PAPER),
    dn.Anneal(SimulatedAnnealingSampler(), num_reads=50, direct=True, encoding=dn.qubo.parse_encoding("gap,unpruned")),
    dn.Divide(dn.Exact(), size=4),
]
HEURISTICS = [  # these choose candidate parents from subproblems, and can miss pairs that raise a score only together
    dn.Anneal("tree"),
    dn.Anneal("sa", num_reads=50),
    dn.Divide(dn.Exact(), size=3),
    dn.Divide("order", size=3),
    dn.Divide(dn.Anneal("sa", num_reads=30), size=3, subproblem_parameters={"num_reads": 20}),
]


@pytest.mark.parametrize("solver", SOLVERS, ids=repr)
def test_every_solver_finds_the_best_network(solver):
    for seed in range(4):
        data = random_data(4, 60, seed)
        knowledge = dn.Knowledge(probabilities=random_probabilities(data.names, seed))
        result = dn.learn(data, solver, max_parents=2, knowledge=knowledge)
        best = brute_force(data, None, 2, knowledge.probabilities)
        assert result.score == pytest.approx(best, abs=1e-9)
        assert result.log_prior == pytest.approx(knowledge.log_odds(result.edges))
        assert result.score == pytest.approx(Scorer(data).score(result.dag) + result.log_prior)
        assert result.gap is None or result.gap < 1e-9


@pytest.mark.parametrize("solver", HEURISTICS, ids=repr)
def test_heuristics_maximise_the_same_sum(solver):
    without_edges, found, best = 0.0, 0.0, 0.0
    for seed in range(4):
        data = random_data(4, 60, seed)
        knowledge = dn.Knowledge(probabilities=random_probabilities(data.names, seed))
        result = dn.learn(data, solver, max_parents=2, knowledge=knowledge)
        assert result.score == pytest.approx(Scorer(data).score(result.dag) + knowledge.log_odds(result.edges))
        highest = brute_force(data, None, 2, knowledge.probabilities)
        assert result.score <= highest + 1e-9
        without_edges += sum(Scorer(data).local(name) for name in data.names)
        found, best = found + result.score, best + highest
    assert found > best - 0.3 * (best - without_edges)


@pytest.mark.parametrize("score", SCORES)
@pytest.mark.parametrize("limit", [2, 4])
def test_every_score_has_the_best_network_of_five_variables(score, limit):
    """The limit of four parents is no limit, so the proofs use bounds on supersets."""
    for seed in range(3):
        data = random_data(5, 50, seed, arities=[2, 3, 2, 4, 1])
        probabilities = random_probabilities(data.names, seed, spread=1.0 + seed)
        best = brute_force(data, score, limit, probabilities)
        for solver in (dn.Exact(), dn.Auto(), dn.OrderSearch()):
            result = dn.learn(data, solver, score=score, max_parents=limit, knowledge={"probabilities": probabilities})
            assert result.score == pytest.approx(best, abs=1e-9)
        assert dn.learn(data, score=score, knowledge={"probabilities": probabilities}).score == pytest.approx(
            brute_force(data, score, 4, probabilities), abs=1e-9
        )


@pytest.mark.parametrize("words", ["paper", "tight", "tight,complete", "tight,unpruned", "gap", "gap,complete,unpruned"])
def test_ground_states_of_all_encodings_are_the_best_networks(words):
    for seed in range(6):
        data = random_data(4, 60, seed)
        names, encoding = data.names, dn.qubo.parse_encoding(words)
        probabilities = random_probabilities(names, seed)
        probabilities.pop((names[0], names[1]), None)
        probabilities.pop((names[2], names[3]), None)
        rules = {"required": [(names[0], names[1])], "forbidden": [(names[2], names[3])]} if seed % 2 else {}
        scorer = Scorer(data, knowledge=dn.Knowledge(probabilities=probabilities, **rules))
        candidates = {names[3]: [names[1], names[2]]} if seed % 3 == 0 else None
        for table in (scorer.table(2), scorer.table(2, candidates), scorer.table(2, complete=True)):
            assert dn.solvers.verify(dn.qubo.encode(table, encoding), table)
        best = brute_force(data, None, 2, probabilities, **rules)
        for complete in (False, True):
            assert dn.solvers.exact(scorer.table(2, complete=complete)).score == pytest.approx(best, abs=1e-9)


def test_no_probability_outweighs_a_required_edge():
    data = random_data(4, 40, 1)
    likely = {(a, b): 1 - 1e-15 for a in data.names for b in data.names if a > b}
    likely.pop(("v3", "v0"))
    knowledge = dn.Knowledge(required=[("v0", "v3")], probabilities=likely)
    for solver in SOLVERS:
        result = dn.learn(data, solver, max_parents=2, knowledge=knowledge)
        assert ("v0", "v3") in result.edges
    table = Scorer(data, knowledge=knowledge).table(2, complete=True)
    assert ("v0", "v3") in dn.solvers.exact(table).dag.edges


def test_probabilities_beside_other_rules():
    for seed in range(4):
        data = random_data(5, 80, seed)
        probabilities = random_probabilities(data.names, seed)
        free = [(a, b) for a in data.names for b in data.names if a < b and (a, b) not in probabilities]
        required, forbidden = free[:1], free[1:3]
        knowledge = dn.Knowledge(required=required, forbidden=forbidden, probabilities=probabilities)
        best = brute_force(data, "bic", 4, probabilities, required, forbidden)
        for solver in (dn.Exact(), dn.Auto()):
            result = dn.learn(data, solver, score="bic", max_parents=4, knowledge=knowledge)
            assert result.score == pytest.approx(best, abs=1e-9)


def test_exported_scores_contain_the_log_odds(tmp_path):
    data = random_data(5, 60, 2)
    probabilities = random_probabilities(data.names, 2)
    write_scores(Scorer(data, knowledge={"probabilities": probabilities}).table(3), tmp_path / "x.jkl")
    best = brute_force(data, None, 3, probabilities)
    assert dn.learn(read_scores(tmp_path / "x.jkl"), "exact").score == pytest.approx(best, abs=1e-9)


def test_a_likely_edge_between_independent_variables_is_found_among_many_variables():
    """The search must consider pairs of variables that the data do not connect."""
    codes = np.random.default_rng(4).integers(0, 2, (60, 400))
    data = dn.Dataset.from_codes([f"v{i}" for i in range(60)], [["0", "1"]] * 60, codes)
    knowledge = dn.Knowledge(probabilities={("v3", "v41"): 0.9999, ("v17", "v41"): 0.9999, ("v41", "v3"): 0.001})
    for solver in (dn.Auto(prove=False), dn.Divide(size=3)):
        result = dn.learn(data, solver, max_parents=2, knowledge=knowledge)
        assert {("v3", "v41"), ("v17", "v41")} <= set(result.edges)


def test_equal_probabilities_of_all_edges_penalise_or_reward_their_number():
    data = random_data(5, 40, 3)
    edges = []
    for p in (0.01, 0.5, 0.9):
        probabilities = {(a, b): p for a in data.names for b in data.names if a != b}
        edges.append(len(dn.learn(data, dn.Exact(), max_parents=4, knowledge={"probabilities": probabilities}).edges))
    assert edges[0] < edges[1] < edges[2]
    assert edges[1] == len(dn.learn(data, dn.Exact(), max_parents=4).edges)
