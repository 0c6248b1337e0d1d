"""Windows of a large global problem: their score tables, the choice of members, and samplers with many variables."""

from concurrent.futures import ThreadPoolExecutor
from itertools import product

import dimod
import networkx as nx
import numpy as np
import pytest
from dwave.samplers import SteepestDescentSolver, TreeDecompositionSolver

import dagneal as dn
from dagneal.divide import annealed_windows
from dagneal.divide.annealed_windows import ChosenSets, Window, WindowedSolver, choose_windows, possible_edges
from dagneal.divide.global_solve import AnnealedSolver
from dagneal.divide.subproblem_solvers import Annealing
from dagneal.scoring.orders import dag_of_order
from dagneal.solvers.exact import exact
from support.reference import random_data, random_table
from support.samplers import Recorder


def best_in_window(table, network, members):
    """Return the best score over all choices of parent sets of the members, by enumeration."""
    names = table.names
    options = []
    for member in members:
        own, entries = table.candidates_of(member), table.entries_of(member)
        masks = table.masks[entries][:, 0].tolist()
        sets = [[int(own[bit]) for bit in range(len(own)) if mask >> bit & 1] for mask in masks]
        options.append(list(zip(sets, table.scores[entries], strict=True)))
    others = [v for v in range(len(names)) if v not in members]
    fixed = [(int(p), v) for v in others for p in network.parents[v]]
    rest = sum(table.local(names[v], [names[p] for p in network.parents[v]]) for v in others)
    best = -np.inf
    for choice in product(*options):
        score = rest + sum(value for _, value in choice)
        if score > best:
            edges = fixed + [(p, member) for member, (sets, _) in zip(members, choice, strict=True) for p in sets]
            if nx.is_directed_acyclic_graph(nx.DiGraph(edges)):
                best = score
    return best


@pytest.mark.parametrize("seed", range(12))
def test_a_window_contains_the_best_parents_of_its_members(seed):
    """Exact search in a window finds the score that enumeration finds, and the network has this score."""
    generator = np.random.default_rng(seed)
    n = int(generator.integers(5, 8))
    table = random_table(n, 2, seed)
    network = ChosenSets.of(table, dag_of_order(table, generator.permutation(n)))
    members = np.sort(generator.permutation(n)[: 3 if n == 7 else 4])
    window = Window.of(network, members, n)
    solution = exact(window.table)
    assert solution.score == pytest.approx(best_in_window(table, network, members.tolist()))
    complete = window.complete(solution.dag)
    assert nx.is_directed_acyclic_graph(complete.dag)
    assert complete.score == pytest.approx(solution.score) == pytest.approx(table.score(complete.dag))
    outside = np.setdiff1d(np.arange(n), members)
    assert np.array_equal(complete.chosen[outside], network.chosen[outside])


def test_a_limit_on_predecessors_keeps_networks_valid():
    table = random_table(7, 3, 1)
    network = ChosenSets.of(table, dag_of_order(table, np.arange(7)))
    window = Window.of(network, np.array([0, 2, 3, 6]), 1)
    assert window.table.max_parents == 1
    solution = exact(window.table)
    assert table.score(window.complete(solution.dag).dag) == pytest.approx(solution.score)


def test_windows_contain_all_variables_with_possible_edges():
    edges = np.random.default_rng(3).random((80, 80)) < 0.03
    edges[:, :2], edges[:2] = False, False
    np.fill_diagonal(edges, False)
    windows = list(choose_windows(edges, 20, np.random.default_rng(0)))
    used = edges.any(axis=0) | edges.any(axis=1)
    assert set(np.concatenate(windows)) == set(np.flatnonzero(used))
    assert all(edges[np.ix_(members, members)].sum() <= 20 or len(members) == 2 for members in windows)
    assert all((np.diff(members) > 0).all() for members in windows)


class ExactSampler(dimod.Sampler):
    """A sampler that returns a ground state, found by tree decomposition."""

    parameters, properties = {}, {}

    def sample(self, bqm):
        return TreeDecompositionSolver().sample(bqm)


def test_windows_never_lower_the_score_and_obey_the_deadline():
    table = random_table(9, 2, 4)
    sampler = ExactSampler()
    solver = WindowedSolver(AnnealedSolver(sampler), Annealing(sampler), whole_edges=0, window_edges=8)
    start = dag_of_order(table, np.arange(9))
    solution = solver.solve(table, 1, start, dn.Run())
    assert solution.windows
    assert solution.reads == len(solution.windows)
    assert table.score(start) - 1e-9 <= solution.score <= exact(table).score + 1e-9
    assert table.score(solution.dag) == pytest.approx(solution.score)
    late = solver.solve(table, 1, start, dn.Run(deadline=dn.Deadline(0.0)))
    assert len(late.windows) == 1


def test_a_small_problem_is_solved_as_one():
    table = random_table(5, 2, 4)
    sampler = ExactSampler()
    solution = WindowedSolver(AnnealedSolver(sampler), Annealing(sampler)).solve(table, 1, None, dn.Run())
    assert not solution.windows
    assert solution.score == pytest.approx(exact(table).score)
    assert possible_edges(table).sum() <= annealed_windows.WHOLE_EDGES


GROUPS = 18
TRUE_EDGES = [(f"{a}{group}", f"{b}{group}") for group in range(GROUPS) for a, b in ("ac", "bc", "cd")]


@pytest.fixture(scope="module")
def many():
    """Data with 72 variables in independent groups of four. In a group, c depends on a and b, and d depends on c."""
    generator = np.random.default_rng(5)
    names, columns = [], []
    for group in range(GROUPS):
        a, b = generator.integers(0, 2, (2, 600))
        c = (a & b) ^ (generator.random(600) < 0.1)
        columns += [a, b, c, c ^ (generator.random(600) < 0.1)]
        names += [f"{letter}{group}" for letter in "abcd"]
    return dn.read(np.stack(columns, axis=1), names=names)


def missing_edges(result):
    return {frozenset(edge) for edge in TRUE_EDGES} - {frozenset(edge) for edge in result.edges}


def test_a_sampler_with_many_variables_finds_the_network(many):
    result = dn.learn(many, "sa", seed=1)
    assert not missing_edges(result)
    truth = nx.DiGraph(TRUE_EDGES)
    assert result.score >= dn.scoring.Scorer(many).score(truth) - 1e-6
    assert result.division.scheme == "neighbours"
    assert "the sampler solved" in result.division.skipped
    assert "windows of" in result.division.skipped
    assert result.reads.repaired.score == pytest.approx(result.score)
    assert sorted(result.reads.repaired.dag.edges) == sorted(result.edges)


@pytest.mark.parametrize("sampler", [SteepestDescentSolver(), Recorder()])
def test_any_sampler_accepts_many_variables(many, sampler):
    result = dn.learn(many, dn.Anneal(sampler, num_reads=10), seed=1)
    assert not missing_edges(result)


def test_raw_reads_without_pruning_accept_many_variables(many):
    solver = dn.Anneal("sa", 32, repair=False, encoding="tight,unpruned", parameters={"num_sweeps": 200})
    result = dn.learn(many, solver, seed=1)
    assert result.is_dag
    assert result.score == pytest.approx(dn.scoring.Scorer(many).score(result.dag))


def test_the_paper_encoding_needs_all_parent_sets(many):
    with pytest.raises(dn.InputError, match="need a table with all sets of candidate parents; use encoding='tight'"):
        dn.learn(many, dn.Anneal("sa", encoding="paper"))


def test_rules_of_the_paper_accept_many_variables(many):
    result = dn.learn(many, dn.Divide(dn.Anneal("sa", num_reads=5), subproblems="cover:2", combine="penalty"))
    assert result.division.finished == result.division.subproblems > 72 * 71 / 6


def test_cover_of_triples_has_a_limit():
    with pytest.raises(dn.InputError, match="'cover:3' is for at most 65 variables, not 66"):
        dn.divide.choose_subproblems(66, 4, "cover:3")


def test_the_executor_does_not_affect_windows(many):
    results = []
    for workers in (1, 3):
        with ThreadPoolExecutor(workers) as executor:
            results.append(dn.learn(many, "sa", run=dn.Run(seed=2, executor=executor)))
    assert results[0].edges == results[1].edges
    assert results[0].score == results[1].score


def test_windows_obey_background_knowledge():
    data = random_data(70, 300, 3, [2] * 70)
    result = dn.learn(data, "sa", knowledge={"required": [("v3", "v1")], "forbidden": [("v0", "v2")]}, max_parents=2)
    assert ("v3", "v1") in result.edges
    assert ("v0", "v2") not in result.edges
