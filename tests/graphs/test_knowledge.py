"""Background knowledge: contradictions are named, and every solver obeys it."""

from contextlib import suppress
from dataclasses import replace

import networkx as nx
import numpy as np
import pytest
from dwave.samplers import SimulatedAnnealingSampler
from hypothesis import given, strategies as st

import dagneal as dn
from dagneal.graphs.knowledge import Knowledge, equivalence_class, read_knowledge
from dagneal.scoring.scorer import Scorer
from support.reference import all_dags

NAMES = ("a", "b", "c", "d")


def obeys(edges: set, known: Knowledge) -> bool:
    """Written anew, from the meaning of the words."""
    tier = {name: number for number, names in enumerate(known.tiers) for name in names}
    return (
        set(known.required) <= edges
        and not set(known.forbidden) & edges
        and not any(p in tier and c in tier and tier[p] > tier[c] for p, c in edges)
        and not any(c in known.roots or p in known.leaves for p, c in edges)
        and all(sum(c == name for _, c in edges) <= limit for name, limit in known.limits.items())
    )


def random_data(seed: int, n: int = 4, rows: int = 60) -> dn.Dataset:
    generator = np.random.default_rng(seed)
    codes = generator.integers(0, 2, (n, rows))
    for column in range(1, n):  # some dependence
        same = generator.random(rows) < 0.7
        codes[column, same] = codes[generator.integers(0, column), same]
    return dn.Dataset.from_codes(NAMES[:n] if n <= 4 else [f"v{i}" for i in range(n)], [("0", "1")] * n, codes)


def random_knowledge(seed: int, names: tuple, max_parents: int) -> Knowledge:
    """Some knowledge without contradictions."""
    generator = np.random.default_rng(seed)
    edges = [(p, c) for p in names for c in names if p != c]
    while True:
        chosen = [edges[i] for i in generator.permutation(len(edges))[: generator.integers(0, 5)]]
        cut = int(generator.integers(0, len(chosen) + 1))
        shuffled = [names[i] for i in generator.permutation(len(names))]
        tiers = [shuffled[:2], shuffled[2:]] if generator.random() < 0.4 else []
        known = Knowledge(
            required=chosen[:cut],
            forbidden=chosen[cut:],
            tiers=tiers,
            roots=shuffled[:1] if generator.random() < 0.2 else [],
            leaves=shuffled[-1:] if generator.random() < 0.2 else [],
            limits={shuffled[1]: int(generator.integers(0, 3))} if generator.random() < 0.3 else {},
        )
        try:
            known.check(names, max_parents)
        except dn.InputError:
            continue
        return known


@pytest.mark.slow
@pytest.mark.parametrize("first", range(0, 200, 25))
def test_constrained_exact_search_is_brute_force_over_the_allowed(first):
    for seed in range(first, first + 25):
        data = random_data(seed)
        limit = 2 + seed % 2
        known = random_knowledge(seed, NAMES, limit)
        plain = Scorer(data)
        table = plain.table(limit)
        best = -np.inf
        for dag in all_dags(4):
            edges = {(NAMES[p], NAMES[child]) for child, parents in enumerate(dag) for p in parents}
            if max(map(len, dag)) <= limit and obeys(edges, known):
                best = max(best, sum(table.local(c, [p for p, child in edges if child == c]) for c in NAMES))
        for solver in (dn.Exact(), dn.OrderSearch(), dn.Exhaustive() if limit == 2 else dn.Exact()):
            found = dn.learn(data, solver, max_parents=limit, knowledge=known)
            assert obeys(set(found.edges), known)
            assert found.score == pytest.approx(best)
            assert plain.score(found.dag) == pytest.approx(best)


@pytest.mark.slow
@pytest.mark.parametrize("first", range(0, 200, 50))
def test_annealed_and_divided_results_obey(first):
    sampler = SimulatedAnnealingSampler()
    for seed in range(first, first + 50):
        data = random_data(seed, rows=200)
        known = random_knowledge(seed, NAMES, 2)
        few = dn.Anneal(sampler, num_reads=3, parameters={"num_sweeps": 20})
        scorer = Scorer(data, knowledge=known)
        solvers = [
            replace(few, direct=True),
            replace(few, direct=True, encoding=dn.PAPER),
            few,
            dn.Divide(size=3),
            dn.Divide(size=3, combine="penalty", acyclic=True),
            dn.Auto(),
        ]
        results = [dn.learn(data, solver, max_parents=2, knowledge=known, seed=seed) for solver in solvers]
        for found in results:
            assert obeys(set(found.edges), known)
        assert results[0].reads.baseline <= results[5].score + 1e-9
        assert results[5].score == pytest.approx(dn.solvers.exact(scorer.table(2)).score)


def test_the_ground_state_of_the_constrained_qubo_is_the_constrained_optimum():
    for seed in range(40):
        known = random_knowledge(seed, NAMES, 2)
        table = Scorer(random_data(seed), knowledge=known).table(2)
        for encoding in (dn.TIGHT, dn.PAPER):
            assert dn.solvers.verify(dn.qubo.encode(table, encoding), table)


@pytest.mark.slow
def test_known_directions_are_decided():
    """Against all equivalent networks that obey, one by one."""
    for seed in range(60):
        known = random_knowledge(seed, NAMES, 3)
        data = random_data(seed, rows=200)
        dag = dn.learn(data, max_parents=3, knowledge=known).dag
        whole = dn.cpdag(dag)
        seen = set()
        for parents in all_dags(4):
            edges = {(NAMES[p], NAMES[child]) for child, its in enumerate(parents) for p in its}
            graph = nx.DiGraph(list(edges))
            graph.add_nodes_from(NAMES)
            loose = Knowledge(**known.to_dict() | {"limits": {}})
            if (
                len(edges) == dag.number_of_edges()
                and obeys(edges, loose)
                and set(dn.cpdag(graph).edges) == set(whole.edges)
            ):
                seen |= edges
        assert set(equivalence_class(dag, known).edges) == seen


@pytest.mark.slow
def test_many_variables_are_screened_with_knowledge():
    generator = np.random.default_rng(3)
    codes = generator.integers(0, 2, (70, 300))
    codes[1:, :200] = codes[:-1, :200]
    names = tuple(f"v{i}" for i in range(70))
    data = dn.Dataset.from_codes(names, [("0", "1")] * 70, codes)
    known = Knowledge(required=[("v60", "v3")], forbidden=[("v1", "v2"), ("v2", "v1")], roots=["v10"])
    assert obeys(set(dn.learn(data, knowledge=known).edges), known)


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ({"required": [("a", "b"), ("b", "c"), ("c", "a")]}, "the required edges make a cycle: a -> b -> c -> a"),
        ({"required": [("a", "b")], "forbidden": [("a", "b")]}, "the edge a -> b is required, but also forbidden"),
        ({"required": [("a", "b")], "tiers": [["b"], ["a"]]}, "required, but 'a' is in a later tier than 'b'"),
        ({"required": [("a", "b")], "roots": ["b"]}, "required, but 'b' is a root"),
        ({"required": [("a", "b")], "leaves": ["a"]}, "required, but 'a' is a leaf"),
        ({"required": [("a", "d"), ("b", "d"), ("c", "d")]}, "'d' has 3 required parents, but at most 2 are allowed"),
        ({"required": [("a", "d")], "limits": {"d": 0}}, "'d' has 1 required parents, but at most 0 are allowed"),
        ({"forbidden": [("a", "x")]}, "forbidden names 'x', which is not a variable"),
        ({"required": [("a", "a")]}, "required has an edge from 'a' to itself"),
        ({"tiers": [["a"], ["a", "b"]]}, "'a' is in two tiers"),
        ({"limits": {"a": -1}}, "the limit of a is -1"),
    ],
)
def test_contradictions_are_named(words, message):
    with pytest.raises(dn.InputError) as caught:
        Scorer(random_data(0), knowledge=Knowledge(**words)).table(2)
    assert message in str(caught.value)


def test_more_required_parents_than_a_block_has_are_for_the_whole():
    known = Knowledge(required=[("a", "d"), ("b", "d"), ("c", "d")])
    found = dn.learn(random_data(1), dn.Divide(size=3), max_parents=3, knowledge=known)
    assert set(known.required) <= set(found.edges)


def test_files_of_knowledge(tmp_path):
    path = tmp_path / "known.toml"
    path.write_text(
        'required = ["a -> b", ["c", "d"]]\nforbidden = ["b -> c"]\ntiers = [["a"], ["b", "c"]]\nroots = ["a"]\n'
        'leaves = ["d"]\n[limits]\nd = 2\n'
    )
    known = read_knowledge(path)
    assert known.required == (("a", "b"), ("c", "d"))
    assert Knowledge(**known.to_dict()) == known
    known.check(NAMES, 2)
    for text, message in (
        ("required = 3", "required must be a list of edges"),
        ('required = ["a"]', "is no edge"),
        ('required = [["a", "b", "c"]]', "is no edge"),
        ("roots = [1]", "roots must be a list of names"),
        ('tiers = ["a"]', "tiers must be lists of names"),
        ("limits = 4", "limits must be a table"),
        ("colour = 1", "there is no 'colour'"),
        ("a = [", "is not TOML"),
    ):
        path.write_text(text)
        with pytest.raises(dn.InputError, match=message):
            read_knowledge(path)
    with pytest.raises(dn.InputError, match="cannot be read"):
        read_knowledge(tmp_path / "none.toml")


@pytest.mark.slow
def test_the_conquest_of_a_larger_network_obeys():
    truth = dn.load("alarm-15")
    data = truth.sample(2_000, 1)
    doubled = np.vstack([data.codes, np.random.default_rng(0).integers(0, 2, (10, data.codes.shape[1]))])
    names = (*data.names, *(f"noise {i}" for i in range(10)))
    wide = dn.Dataset(names, (*data.states, *[("0", "1")] * 10), doubled.astype(np.uint8), data.weights)
    known = Knowledge(
        required=[("noise 1", "HR"), ("SaO2", "BP")],
        forbidden=[("TPR", "BP")],
        tiers=[["HREKG"], ["HR", "BP"]],
        limits={"Catechol": 1},
    )
    for solver in (dn.Auto(), dn.Anneal(SimulatedAnnealingSampler(), num_reads=5), dn.OrderSearch()):
        assert obeys(set(dn.learn(wide, solver, knowledge=known, seed=1).edges), known)


@given(st.text(max_size=60))
def test_any_text_is_knowledge_or_refused(tmp_path_factory, text):
    path = tmp_path_factory.mktemp("knowledge") / "known.toml"
    path.write_text(text, encoding="utf-8", errors="ignore")
    with suppress(dn.InputError):
        read_knowledge(path).check(NAMES, 2)
