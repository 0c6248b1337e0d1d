"""Near-optimal classes, compared with the scores of all DAGs."""

from itertools import pairwise
from math import log
from unittest.mock import patch

import networkx as nx
import numpy as np
import pytest

import dagneal as dn
from dagneal.graphs.dags import dag_from_parents
from dagneal.graphs.knowledge import equivalence_class
from dagneal.proofs import alternatives
from dagneal.proofs.alternatives import near_optimal
from dagneal.proofs.branch import Prover
from dagneal.proofs.families import Families
from dagneal.runtime.run import Deadline, Run
from dagneal.scoring.complete import complete_sets
from dagneal.scoring.scores import is_score_equivalent
from support.reference import all_dags, as_graph, candidate_table, dag_scores, random_data, random_table

FACTORS = (1, 3, 20, 1000)


def obeys(dag, knowledge, names):
    """Return whether a DAG, given as parent sets, obeys background knowledge."""
    if knowledge is None:
        return True
    edges = {(names[p], names[c]) for c, parents in enumerate(dag) for p in parents}
    tier = {name: number for number, members in enumerate(knowledge.tiers) for name in members}
    return (
        set(knowledge.required) <= edges
        and not edges & set(knowledge.forbidden)
        and not any(a in tier and b in tier and tier[a] > tier[b] for a, b in edges)
        and not any(b in knowledge.roots for _, b in edges)
        and not any(a in knowledge.leaves for a, _ in edges)
        and all(len(parents) <= knowledge.limits.get(names[c], len(names)) for c, parents in enumerate(dag))
    )


def brute_force(table, factor, knowledge=None):
    """Return the near-optimal classes as a dict from CPDAG edges to the best score, and all near-optimal DAGs."""
    dags = [dag for dag in all_dags(len(table.names)) if obeys(dag, knowledge, table.names)]
    scores = dag_scores(table, dags)
    classes, graphs = {}, []
    for index in np.flatnonzero(scores >= scores.max() - log(factor) - 1e-7):
        graph = as_graph(table, dags[index])
        graphs.append(graph)
        key = frozenset(equivalence_class(graph, knowledge).edges)
        classes[key] = max(classes.get(key, -np.inf), scores[index])
    return classes, graphs


def check(result, table, factor, knowledge=None):
    """Compare a complete result with brute force."""
    expected, graphs = brute_force(table, factor, knowledge)
    assert result.complete
    assert result.proved
    assert result.shared_by_all
    assert result.complete_factor == result.factor == factor
    assert result.best == pytest.approx(max(expected.values()), abs=1e-8)
    found = {frozenset(each.cpdag.edges): each.score for each in result.classes}
    assert len(found) == len(result.classes)
    assert found.keys() == expected.keys()
    for each in result.classes:
        assert nx.utils.graphs_equal(each.cpdag, equivalence_class(each.dag, knowledge))
        assert each.score == pytest.approx(expected[frozenset(each.cpdag.edges)], abs=1e-8)
    assert all(a.score >= b.score - 2e-6 for a, b in pairwise(result.classes))
    assert {frozenset(edge) for edge in result.adjacencies} == set.intersection(
        *({frozenset(edge) for edge in graph.edges} for graph in graphs)
    )
    assert set(result.compelled) == set.intersection(
        *({edge for edge in classes if edge[::-1] not in classes} for classes in expected)
    )


@pytest.mark.parametrize("factor", FACTORS)
@pytest.mark.parametrize("seed", range(6))
def test_classes_of_data_equal_brute_force(seed, factor):
    n = 4 + seed % 2
    data = random_data(n, (30, 200, 1000)[seed % 3], seed)
    limit = (n - 1, 2)[seed % 4 == 3]
    table = dn.scoring.score_table(data, ("bdeu:1", "bic", "bdeu:10")[seed // 2], limit)
    check(near_optimal(table, factor, 10_000, equivalent=True), table, factor)
    check(near_optimal(table, factor, 10_000), table, factor)


@pytest.mark.parametrize("factor", FACTORS)
@pytest.mark.parametrize("seed", range(6))
def test_classes_of_random_tables_equal_brute_force(seed, factor):
    """Members of a class have different scores. Sets score lower than their subsets as often as higher."""
    n = 3 + seed % 3
    table = random_table(n, n - 1, seed, spread=(3.0, 10.0)[seed // 3])
    check(near_optimal(table, factor, 10_000), table, factor)


KNOWLEDGE = [
    {"required": [("v0", "v1"), ("v3", "v1")]},
    {"forbidden": [("v0", "v1"), ("v1", "v2"), ("v3", "v0")]},
    {"tiers": [["v2", "v4"], ["v0", "v1", "v3"]]},
    {"roots": ["v1"], "leaves": ["v4"]},
    {"limits": {"v0": 1, "v1": 2, "v4": 1}},
    {"required": [("v4", "v0")], "forbidden": [("v2", "v3")], "limits": {"v3": 1}, "tiers": [["v1"], ["v2"]]},
]


@pytest.mark.parametrize("score", ["bdeu:1", "bic", "k2"])
@pytest.mark.parametrize("rules", KNOWLEDGE, ids=lambda rules: "-".join(rules))
def test_classes_with_background_knowledge_equal_brute_force(rules, score):
    knowledge = dn.Knowledge(**rules)
    data = random_data(5, 100, len(rules))
    table = dn.scoring.Scorer(data, score, knowledge).table(4)
    reference = dn.scoring.score_table(data, score, 4)
    for factor in (1, 20, 300):
        result = near_optimal(table, factor, 10_000, equivalent=score != "k2", knowledge=knowledge)
        check(result, reference, factor, knowledge)


def test_probabilities_of_edges_change_the_scores_of_equivalent_networks():
    names = [f"v{i}" for i in range(4)]
    rng = np.random.default_rng(2)
    probabilities = {(a, b): float(rng.uniform(0.05, 0.95)) for a in names for b in names if a != b and rng.random() < 0.6}
    knowledge = dn.Knowledge(probabilities=probabilities)
    data = random_data(4, 100, 3)
    table = dn.scoring.Scorer(data, "bic", knowledge).table(3)
    for factor in (1, 20, 300):
        check(near_optimal(table, factor, 10_000, equivalent=True, knowledge=knowledge), table, factor)
    result = dn.learn(data, score="bic", max_parents=3, knowledge=knowledge)
    check(result.near_optimal(20), table, 20)


def test_a_table_with_required_edges_needs_no_knowledge():
    knowledge = dn.Knowledge(required=[("v0", "v1"), ("v3", "v1")])
    data = random_data(4, 100, 1)
    table = dn.scoring.Scorer(data, None, knowledge).table(3)
    check(near_optimal(table, 20, equivalent=True), dn.scoring.score_table(data, None, 3), 20, knowledge)


def test_networks_that_violate_knowledge_are_left_out_even_if_the_penalty_is_small():
    """With one row, a violation costs little more than a nat."""
    data = dn.Dataset.from_codes(["v0", "v1", "v2"], [["a", "b"]] * 3, np.zeros((3, 1), dtype=np.int64))
    knowledge = dn.Knowledge(required=[("v0", "v1")], limits={"v2": 1})
    scorer = dn.scoring.Scorer(data, None, knowledge)
    assert scorer.violation_penalty < log(1000)
    check(near_optimal(scorer.table(2), 1000, knowledge=knowledge), dn.scoring.score_table(data, None, 2), 1000, knowledge)


def test_a_parent_limit_can_prevent_the_reversal_of_an_edge():
    """No parents are allowed for v2, so the edge v2 -> v0 has no reverse, although v2 comes last in the best network."""
    codes = np.random.default_rng(1).integers(0, 2, (3, 50))
    data = dn.Dataset.from_codes(["v0", "v1", "v2"], [["a", "b"]] * 3, codes)
    knowledge = dn.Knowledge(limits={"v2": 0})
    table = dn.scoring.Scorer(data, "bic", knowledge).table(2)
    result = near_optimal(table, 1000, equivalent=True, knowledge=knowledge)
    check(result, dn.scoring.score_table(data, "bic", 2), 1000, knowledge)
    assert any(each.dag.has_edge("v2", "v0") for each in result.classes)


@pytest.mark.parametrize("equivalent", [True, False])
def test_ties_are_all_listed_in_a_fixed_order(equivalent):
    """Two copies of a column can replace each other, so several classes have the highest score."""
    generator = np.random.default_rng(1)
    codes = generator.integers(0, 2, (5, 300))
    codes[1] = np.where(generator.random(300) < 0.8, codes[0], codes[1])
    codes[4] = codes[0]
    data = dn.Dataset.from_codes([f"v{i}" for i in range(5)], [["a", "b"]] * 5, codes)
    table = dn.scoring.score_table(data, "bic", 4)
    result = near_optimal(table, 1, 10_000, equivalent=equivalent)
    check(result, table, 1)
    assert len(result.classes) > 1
    again = near_optimal(table, 1, 10_000, equivalent=equivalent)
    assert result.to_dict() == again.to_dict()
    last = result.classes[-1]
    first = near_optimal(table, 1, 10_000, equivalent=equivalent, initial=last.dag).classes[0]
    assert nx.utils.graphs_equal(first.cpdag, last.cpdag)  # among equals, the class of the initial network comes first


def test_candidate_parents_restrict_the_reversal_of_edges():
    """The edges of the best network cannot be reversed if the reversed parents are not candidates."""
    data = dn.load("lung-cancer").sample(300, 2)
    names = list(data.names)
    candidates = {name: names[:i] for i, name in enumerate(names)}
    table = dn.scoring.score_table(data, None, 2, candidates)
    order = dn.Knowledge(tiers=[[name] for name in names])
    expected, _ = brute_force(dn.scoring.score_table(data, None, 2), 50, order)
    for equivalent in (True, False):
        result = near_optimal(table, 50, 10_000, equivalent=equivalent)
        assert len(result.classes) == len(expected)


@pytest.mark.parametrize("equivalent", [True, False])
def test_if_there_are_too_many_classes_the_best_are_listed(equivalent):
    table = dn.scoring.score_table(dn.load("alarm-15").sample(1000, 1), max_parents=3)
    every = near_optimal(table, 1000, 10_000, equivalent=equivalent)
    assert every.complete
    assert len(every.classes) > 500
    some = near_optimal(table, 1000, 50, equivalent=equivalent)
    assert some.stopped == "most"
    assert not some.complete
    assert some.proved
    assert [each.score for each in some.classes] == pytest.approx([each.score for each in every.classes[:50]], abs=3e-6)
    assert some.complete_factor == pytest.approx(np.exp(every.best - every.classes[49].score), rel=1e-4)
    # The shared edges hold for all classes, not only for those that are listed.
    assert some.shared_by_all
    assert {frozenset(edge) for edge in some.adjacencies} == {frozenset(edge) for edge in every.adjacencies}
    assert set(some.compelled) == set(every.compelled)


def test_as_many_classes_as_requested_are_complete():
    table = dn.scoring.score_table(dn.load("lung-cancer").sample(1000, 1))
    count = len(near_optimal(table, 20, equivalent=True).classes)
    assert near_optimal(table, 20, count, equivalent=True).complete
    assert near_optimal(table, 20, count - 1, equivalent=True).stopped == "most"


def test_without_time_for_a_proof_only_the_best_known_network_is_listed():
    table = random_table(10, 3, 1)
    result = near_optimal(table, 20, run=Run(deadline=Deadline(0.0)))
    assert not result.proved
    assert result.stopped == "time"
    assert not result.shared_by_all
    assert len(result.classes) == 1
    assert result.complete_factor == 1.0
    assert table.score(result.classes[0].dag) == pytest.approx(result.best, abs=1e-9)


@pytest.mark.parametrize("steps", [-1, 2000])
def test_a_long_search_ends_with_at_least_the_classes_so_far(steps):
    table = random_table(8, 3, 3, spread=1.0)
    with patch.object(alternatives, "MOST_STEPS", steps):
        result = near_optimal(table, 1000, 10**6)
    assert result.stopped == "steps"
    assert not result.complete
    assert result.proved
    assert not result.shared_by_all
    assert (len(result.classes) > 1) == (steps > 0)
    assert 1 <= result.complete_factor < 1000
    assert all(each.score >= result.best - log(1000) - 1e-5 for each in result.classes)


def test_a_weak_bound_of_the_root_is_enough():
    """The optimum is found by branching, so the root leaves a gap."""
    with patch("dagneal.proofs.separation._FACET_SIZES", (4,)):
        table = random_table(14, 4, 9)
        families = Families.of(table)
        prover = Prover(families, families.choose(range(14)), Run())
        assert prover.prove()
        assert prover.nodes > 1
        assert prover.root_bound().bound < prover.target
        result = near_optimal(table, 1000)
    assert result.complete
    assert result.best == pytest.approx(dn.solvers.exact(table).score, abs=1e-6)
    assert all(table.score(each.dag) == pytest.approx(each.score, abs=1e-8) for each in result.classes)


@pytest.mark.parametrize("seed", range(4))
def test_slack_keeps_sets_that_score_less_than_slack_lower_than_a_subset(seed):
    table = candidate_table(6, 4, seed) if seed % 2 else random_table(6, 5, seed, spread=5.0)
    for slack in (0.0, 2.0, 50.0):
        start, masks, scores = table.prune(slack)
        for child in range(6):
            entries = table.entries_of(child)
            pairs = list(zip(table.masks[entries, 0].tolist(), table.scores[entries].tolist(), strict=True))
            expected = {
                mask
                for mask, score in pairs
                if not any(other & ~mask == 0 and other != mask and best >= score + slack for other, best in pairs)
            }
            own = slice(start[child], start[child + 1])
            assert set(masks[own, 0].tolist()) == expected
            assert (np.diff(scores[own]) <= 0).all()


@pytest.mark.parametrize("rows", [200, 3000])
def test_complete_sets_with_slack_equal_the_pruned_table(rows):
    scorer = dn.scoring.Scorer(random_data(7, rows, 3))
    table = complete_sets(scorer, 3, slack=4.0).table(scorer)
    start, masks, scores = scorer.table(3).prune(4.0)
    assert np.array_equal(table.start, start)
    for child in range(7):
        own = slice(start[child], start[child + 1])
        expected = dict(zip(masks[own, 0].tolist(), scores[own].tolist(), strict=True))
        entries = table.entries_of(child)
        found = dict(zip(table.masks[entries, 0].tolist(), table.scores[entries].tolist(), strict=True))
        assert found == pytest.approx(expected, abs=1e-9)


@pytest.mark.parametrize("factor", [0.5, -1, 0, float("nan"), float("inf"), True, "20", None])
def test_invalid_factors_are_refused(factor):
    table = random_table(3, 2, 1)
    with pytest.raises(dn.InputError, match="finite Bayes factor of at least 1"):
        near_optimal(table, factor)


def test_other_invalid_arguments_are_refused():
    table = random_table(3, 2, 1)
    with pytest.raises(dn.InputError, match="most is 0"):
        near_optimal(table, 20, 0)
    with pytest.raises(dn.InputError, match="a ScoreTable is needed"):
        near_optimal("table")
    with pytest.raises(dn.InputError, match="different variables"):
        near_optimal(table, initial=nx.DiGraph([("a", "b")]))
    required = dn.scoring.Scorer(random_data(3, 50, 1), None, {"required": [("v0", "v1")]}).table(2)
    reversed_edge = dag_from_parents({"v0": ["v1"], "v1": [], "v2": []})
    with pytest.raises(dn.InputError, match="contradicts the background knowledge"):
        near_optimal(required, initial=reversed_edge)


def test_differences_name_added_removed_and_redirected_edges():
    table = dn.scoring.score_table(dn.load("lung-cancer").sample(1000, 1))
    first, *others = near_optimal(table, 1000, equivalent=True).classes
    assert first.differences(first) == {"added": [], "removed": [], "redirected": []}
    for each in others:
        change = each.differences(first)
        assert any(change.values())
        skeleton = {frozenset(edge) for edge in first.dag.edges}
        skeleton |= {frozenset(edge) for edge in change["added"]}
        skeleton -= {frozenset(edge) for edge in change["removed"]}
        assert skeleton == {frozenset(edge) for edge in each.dag.edges}
        for a, b in change["redirected"]:
            assert first.cpdag.has_edge(a, b) or first.cpdag.has_edge(b, a)
            assert {(a, b), (b, a)} & set(first.cpdag.edges) != {(a, b), (b, a)} & set(each.cpdag.edges)


def random_network(n, edges, seed):
    """Return a random network in which edges connect variables that are close to each other."""
    generator = np.random.default_rng(seed)
    pairs = [(a, b) for b in range(n) for a in range(max(0, b - 6), b)]
    parents = {f"x{i}": [] for i in range(n)}
    for pair in generator.permutation(len(pairs)):
        a, b = pairs[pair]
        if len(parents[f"x{b}"]) < 3 and sum(map(len, parents.values())) < edges:
            parents[f"x{b}"].append(f"x{a}")
    arities = generator.integers(2, 4, n).tolist()
    states = {f"x{i}": [f"s{k}" for k in range(arities[i])] for i in range(n)}
    tables = {
        name: generator.dirichlet([0.5] * len(states[name]), [len(states[p]) for p in own]) for name, own in parents.items()
    }
    return dn.BayesianNetwork(states, parents, tables, "random")


@pytest.mark.parametrize(
    ("n", "edges", "rows", "factor"),
    [(20, 25, 1000, 20), (27, 50, 1000, 20), pytest.param(66, 80, 5000, 1.5, marks=pytest.mark.slow)],
)
def test_large_networks(n, edges, rows, factor):
    """With 66 variables, a mask has two words."""
    data = random_network(n, edges, n).sample(rows, 1)
    learned = dn.learn(data, max_parents=2)
    near = learned.near_optimal(factor)
    assert near.complete
    assert near.best == pytest.approx(learned.score, abs=1e-6)
    assert nx.utils.graphs_equal(near.classes[0].cpdag, learned.cpdag)
    scorer = dn.scoring.Scorer(data)
    keys = {frozenset(each.cpdag.edges) for each in near.classes}
    assert len(keys) == len(near.classes)
    for each in near.classes[:100]:
        assert scorer.score(each.dag) == pytest.approx(each.score, abs=1e-7)
        assert each.score >= near.best - log(factor) - 1e-5
    # Each single change of a near-optimal network that is itself near-optimal is listed.
    dag, count = learned.dag, 0
    for a, b in [(a, b) for a in dag for b in dag if a != b]:
        changed = dag.copy()
        if dag.has_edge(a, b):
            changed.remove_edge(a, b)
        else:
            changed.add_edge(a, b)
        small = max(degree for _, degree in changed.in_degree) <= 2
        if small and nx.is_directed_acyclic_graph(changed) and scorer.score(changed) > near.best - log(factor) + 1e-5:
            count += 1
            assert frozenset(equivalence_class(changed, None).edges) in keys
    assert count


def test_near_optimal_of_a_result():
    data = dn.load("lung-cancer").sample(500, 3)
    for score, knowledge in (("bdeu:1", None), ("k2", None), ("bic", {"leaves": ["Xray"]}), ("k2", {"roots": ["Smoker"]})):
        learned = dn.learn(data, score=score, knowledge=knowledge)
        reference = dn.scoring.score_table(data, score, learned.max_parents)
        check(learned.near_optimal(20, 10_000), reference, 20, learned.knowledge)


def test_near_optimal_of_a_result_needs_data_time_and_a_network(tmp_path):
    learned = dn.learn(dn.load("lung-cancer").sample(500, 3))
    late = learned.near_optimal(run=Run(deadline=Deadline(0.0)))
    assert not late.proved
    assert late.best == pytest.approx(learned.score)
    learned.save(tmp_path / "a.json")
    with pytest.raises(dn.InputError, match="near_optimal needs the data"):
        dn.load_result(tmp_path / "a.json").near_optimal()
    with pytest.raises(dn.InputError, match="factor is 0; give"):
        learned.near_optimal(0)


def test_a_better_network_than_the_learned_one_is_found():
    data = dn.load("alarm-15").sample(1000, 1)
    learned = dn.learn(data, max_parents=3)
    worse = dn.Learned.of(learned, dag=nx.empty_graph(list(learned.dag), create_using=nx.DiGraph), score=-99999.0)
    assert worse.near_optimal().best == pytest.approx(learned.score, abs=1e-6)


def test_user_defined_scores_are_not_taken_for_equivalent():
    class Almost(dn.BDeu):
        """A score that differs from its base class only in its type."""

    assert is_score_equivalent(dn.BDeu(3))
    assert not is_score_equivalent(Almost())
