"""Background knowledge: errors name contradictions, and every solver obeys the rules."""

from contextlib import suppress
from dataclasses import replace

import networkx as nx
import numpy as np
import pytest
from dwave.samplers import SimulatedAnnealingSampler
from hypothesis import given, strategies as st

import dagneal as dn
from dagneal.graphs.knowledge import Knowledge, as_knowledge, equivalence_class, read_knowledge
from dagneal.scoring.scorer import Scorer
from support.reference import all_dags

NAMES = ("a", "b", "c", "d")


def obeys(edges: set, knowledge: Knowledge) -> bool:
    """Return whether edges obey all rules, computed independently of the library."""
    tier = {name: number for number, names in enumerate(knowledge.tiers) for name in names}
    return (
        set(knowledge.required) <= edges
        and not set(knowledge.forbidden) & edges
        and not any(p in tier and c in tier and tier[p] > tier[c] for p, c in edges)
        and not any(c in knowledge.roots or p in knowledge.leaves for p, c in edges)
        and all(sum(c == name for _, c in edges) <= limit for name, limit in knowledge.limits.items())
    )


def random_data(seed: int, n: int = 4, rows: int = 60) -> dn.Dataset:
    generator = np.random.default_rng(seed)
    codes = generator.integers(0, 2, (n, rows))
    for column in range(1, n):  # add some dependence
        same = generator.random(rows) < 0.7
        codes[column, same] = codes[generator.integers(0, column), same]
    return dn.Dataset.from_codes(NAMES[:n] if n <= 4 else [f"v{i}" for i in range(n)], [("0", "1")] * n, codes)


def random_knowledge(seed: int, names: tuple, max_parents: int) -> Knowledge:
    """Return random knowledge without contradictions."""
    generator = np.random.default_rng(seed)
    edges = [(p, c) for p in names for c in names if p != c]
    while True:
        chosen = [edges[i] for i in generator.permutation(len(edges))[: generator.integers(0, 5)]]
        cut = int(generator.integers(0, len(chosen) + 1))
        shuffled = [names[i] for i in generator.permutation(len(names))]
        tiers = [shuffled[:2], shuffled[2:]] if generator.random() < 0.4 else []
        knowledge = Knowledge(
            required=chosen[:cut],
            forbidden=chosen[cut:],
            tiers=tiers,
            roots=shuffled[:1] if generator.random() < 0.2 else [],
            leaves=shuffled[-1:] if generator.random() < 0.2 else [],
            limits={shuffled[1]: int(generator.integers(0, 3))} if generator.random() < 0.3 else {},
        )
        try:
            knowledge.check(names, max_parents)
        except dn.InputError:
            continue
        return knowledge


@pytest.mark.slow
@pytest.mark.parametrize("first", range(0, 200, 25))
def test_solvers_find_the_best_network_that_obeys_knowledge(first):
    for seed in range(first, first + 25):
        data = random_data(seed)
        limit = 2 + seed % 2
        knowledge = random_knowledge(seed, NAMES, limit)
        plain = Scorer(data)
        table = plain.table(limit)
        best = -np.inf
        for dag in all_dags(4):
            edges = {(NAMES[p], NAMES[child]) for child, parents in enumerate(dag) for p in parents}
            if max(map(len, dag)) <= limit and obeys(edges, knowledge):
                best = max(best, sum(table.local(c, [p for p, child in edges if child == c]) for c in NAMES))
        for solver in (dn.Exact(), dn.OrderSearch(), dn.Exhaustive() if limit == 2 else dn.Exact()):
            result = dn.learn(data, solver, max_parents=limit, knowledge=knowledge)
            assert obeys(set(result.edges), knowledge)
            assert result.score == pytest.approx(best)
            assert plain.score(result.dag) == pytest.approx(best)


@pytest.mark.slow
@pytest.mark.parametrize("first", range(0, 200, 50))
def test_annealing_and_division_obey_knowledge(first):
    sampler = SimulatedAnnealingSampler()
    for seed in range(first, first + 50):
        data = random_data(seed, rows=200)
        knowledge = random_knowledge(seed, NAMES, 2)
        few = dn.Anneal(sampler, num_reads=3, parameters={"num_sweeps": 20})
        scorer = Scorer(data, knowledge=knowledge)
        solvers = [
            replace(few, direct=True),
            replace(few, direct=True, encoding=dn.PAPER),
            few,
            dn.Divide(size=3),
            dn.Divide(size=3, combine="penalty", acyclic=True),
            dn.Auto(),
        ]
        results = [dn.learn(data, solver, max_parents=2, knowledge=knowledge, seed=seed) for solver in solvers]
        for result in results:
            assert obeys(set(result.edges), knowledge)
        assert results[0].reads.baseline <= results[5].score + 1e-9
        assert results[5].score == pytest.approx(dn.solvers.exact(scorer.table(2)).score)


def test_the_ground_state_of_the_qubo_is_the_best_allowed_network():
    for seed in range(40):
        knowledge = random_knowledge(seed, NAMES, 2)
        table = Scorer(random_data(seed), knowledge=knowledge).table(2)
        for encoding in (dn.TIGHT, dn.PAPER):
            assert dn.solvers.verify(dn.qubo.encode(table, encoding), table)


@pytest.mark.slow
def test_equivalence_class_is_the_union_of_all_equivalent_networks_that_obey_knowledge():
    """The expected union comes from an enumeration of all DAGs."""
    for seed in range(60):
        knowledge = random_knowledge(seed, NAMES, 3)
        data = random_data(seed, rows=200)
        dag = dn.learn(data, max_parents=3, knowledge=knowledge).dag
        unconstrained = dn.cpdag(dag)
        union = set()
        for parents in all_dags(4):
            edges = {(NAMES[p], NAMES[child]) for child, chosen in enumerate(parents) for p in chosen}
            graph = nx.DiGraph(list(edges))
            graph.add_nodes_from(NAMES)
            without_limits = Knowledge(**knowledge.to_dict() | {"limits": {}})
            if (
                len(edges) == dag.number_of_edges()
                and obeys(edges, without_limits)
                and set(dn.cpdag(graph).edges) == set(unconstrained.edges)
            ):
                union |= edges
        assert set(equivalence_class(dag, knowledge).edges) == union


@pytest.mark.slow
def test_knowledge_is_obeyed_with_70_variables():
    generator = np.random.default_rng(3)
    codes = generator.integers(0, 2, (70, 300))
    codes[1:, :200] = codes[:-1, :200]
    names = tuple(f"v{i}" for i in range(70))
    data = dn.Dataset.from_codes(names, [("0", "1")] * 70, codes)
    knowledge = Knowledge(required=[("v60", "v3")], forbidden=[("v1", "v2"), ("v2", "v1")], roots=["v10"])
    assert obeys(set(dn.learn(data, knowledge=knowledge).edges), knowledge)


@pytest.mark.parametrize(
    ("rules", "message"),
    [
        ({"required": [("a", "b"), ("b", "c"), ("c", "a")]}, "the required edges form a cycle: a -> b -> c -> a"),
        ({"required": [("a", "b")], "forbidden": [("a", "b")]}, "the edge a -> b is required, but it is also forbidden"),
        ({"required": [("a", "b")], "tiers": [["b"], ["a"]]}, "required, but 'a' is in a later tier than 'b'"),
        ({"required": [("a", "b")], "roots": ["b"]}, "required, but 'b' is a root"),
        ({"required": [("a", "b")], "leaves": ["a"]}, "required, but 'a' is a leaf"),
        ({"required": [("a", "d"), ("b", "d"), ("c", "d")]}, "'d' has 3 required parents, but its parent limit is 2"),
        ({"required": [("a", "d")], "limits": {"d": 0}}, "'d' has 1 required parents, but its parent limit is 0"),
        ({"forbidden": [("a", "x")]}, "'x' in forbidden is not a variable of the data"),
        ({"required": [("a", "a")]}, "required has an edge from 'a' to itself"),
        ({"tiers": [["a"], ["a", "b"]]}, "'a' is in two tiers"),
        ({"limits": {"a": -1}}, "the parent limit of a is -1"),
    ],
)
def test_errors_name_contradictions(rules, message):
    with pytest.raises(dn.InputError) as caught:
        Scorer(random_data(0), knowledge=Knowledge(**rules)).table(2)
    assert message in str(caught.value)


def test_required_parents_may_exceed_the_subproblem_size():
    knowledge = Knowledge(required=[("a", "d"), ("b", "d"), ("c", "d")])
    result = dn.learn(random_data(1), dn.Divide(size=3), max_parents=3, knowledge=knowledge)
    assert set(knowledge.required) <= set(result.edges)


def test_reading_knowledge_files(tmp_path):
    path = tmp_path / "knowledge.toml"
    path.write_text(
        'required = ["a -> b", ["c", "d"]]\nforbidden = ["b -> c"]\ntiers = [["a"], ["b", "c"]]\nroots = ["a"]\n'
        'leaves = ["d"]\n[limits]\nd = 2\n'
    )
    knowledge = read_knowledge(path)
    assert knowledge.required == (("a", "b"), ("c", "d"))
    assert Knowledge(**knowledge.to_dict()) == knowledge
    knowledge.check(NAMES, 2)
    for text, message in (
        ("required = 3", "required must be a list of edges"),
        ('required = ["a"]', "is not an edge"),
        ('required = [["a", "b", "c"]]', "is not an edge"),
        ("roots = [1]", "roots must be a list of names"),
        ('tiers = ["a"]', "tiers must be a list of lists of names"),
        ("limits = 4", "limits must be a table"),
        ("colour = 1", "'colour' is not a key of knowledge"),
        ("a = [", "is not TOML"),
    ):
        path.write_text(text)
        with pytest.raises(dn.InputError, match=message):
            read_knowledge(path)
    with pytest.raises(dn.InputError, match="cannot be read"):
        read_knowledge(tmp_path / "none.toml")


@pytest.mark.slow
def test_solvers_obey_knowledge_with_25_variables():
    truth = dn.load("alarm-15")
    data = truth.sample(2_000, 1)
    codes = np.vstack([data.codes, np.random.default_rng(0).integers(0, 2, (10, data.codes.shape[1]))])
    names = (*data.names, *(f"noise {i}" for i in range(10)))
    wide = dn.Dataset(names, (*data.states, *[("0", "1")] * 10), codes.astype(np.uint8), data.weights)
    knowledge = Knowledge(
        required=[("noise 1", "HR"), ("SaO2", "BP")],
        forbidden=[("TPR", "BP")],
        tiers=[["HREKG"], ["HR", "BP"]],
        limits={"Catechol": 1},
    )
    for solver in (dn.Auto(), dn.Anneal(SimulatedAnnealingSampler(), num_reads=5), dn.OrderSearch()):
        assert obeys(set(dn.learn(wide, solver, knowledge=knowledge, seed=1).edges), knowledge)


@pytest.mark.parametrize(
    ("p", "message"),
    [
        (0, "the probability of a -> b is 0; give a number above 0, or put the edge into forbidden"),
        (1.0, "the probability of a -> b is 1; give a number below 1, or put the edge into required"),
        (1.5, "the probability of a -> b is 1.5; give a number above 0 and below 1"),
        (-0.1, "is -0.1; give a number above 0 and below 1"),
        (float("nan"), "is nan; give a number above 0 and below 1"),
        ("high", "is 'high'; give a number above 0 and below 1"),
        (True, "is True; give a number above 0 and below 1"),
        (10**400, "give a number above 0 and below 1"),
    ],
)
def test_invalid_probabilities_are_rejected(p, message):
    with pytest.raises(dn.InputError) as caught:
        Knowledge(probabilities={("a", "b"): p})
    assert message in str(caught.value)


@pytest.mark.parametrize(
    ("rules", "reason"),
    [
        ({"required": [("a", "b")]}, "but it is also required"),
        ({"forbidden": [("a", "b")]}, "but it is also forbidden"),
        ({"roots": ["b"]}, "but 'b' is a root"),
        ({"leaves": ["a"]}, "but 'a' is a leaf"),
        ({"tiers": [["b"], ["a"]]}, "but 'a' is in a later tier than 'b'"),
    ],
)
def test_probabilities_that_contradict_other_rules_are_rejected(rules, reason):
    knowledge = Knowledge(**rules, probabilities={("a", "b"): 0.7})
    with pytest.raises(dn.InputError, match=f"the edge a -> b has a probability, {reason}; remove one of these rules"):
        knowledge.check(NAMES, 2)


def test_probabilities_need_known_variables():
    with pytest.raises(dn.InputError, match="'z' in probabilities is not a variable of the data"):
        Knowledge(probabilities={("a", "z"): 0.7}).check(NAMES, 2)
    with pytest.raises(dn.InputError, match="probabilities has an edge from 'a' to itself; remove it"):
        Knowledge(probabilities={("a", "a"): 0.7}).check(NAMES, 2)


def test_forms_of_probabilities(tmp_path):
    expected = Knowledge(probabilities={("a", "b"): 0.9, ("c", "d"): 0.25})
    texts = ('[probabilities]\n"a -> b" = 0.9\n"c->d" = 0.25', 'probabilities = [["a", "b", 0.9], ["c", "d", 0.25]]')
    for number, text in enumerate(texts):
        (tmp_path / f"{number}.toml").write_text(text)
        assert read_knowledge(tmp_path / f"{number}.toml") == expected
    assert as_knowledge({"probabilities": {("a", "b"): 0.9, "c -> d": 0.25}}) == expected
    assert Knowledge(probabilities={"a -> b": 0.9, "c -> d": 0.25}) == expected
    assert as_knowledge(expected.to_dict()) == expected
    assert eval(repr(expected)) == expected
    assert Knowledge(probabilities={("a", "b"): 0.9}) | Knowledge(probabilities={("c", "d"): 0.25}) == expected
    assert bool(expected)
    for wrong in ([["a", "b"]], 0.9, [0.9], {"a": 0.9}, {"a -> b": 0.9, "a->b": 0.8}):
        with pytest.raises(dn.InputError, match="probabilities"):
            as_knowledge({"probabilities": wrong})


def test_log_odds():
    knowledge = Knowledge(probabilities={("a", "b"): 0.9, ("b", "c"): 1e-200, ("c", "d"): 1 - 1e-12})
    assert knowledge.log_odds([("a", "b")]) == pytest.approx(np.log(9))
    assert knowledge.log_odds([("b", "a"), ("b", "c")]) == pytest.approx(-200 * np.log(10))
    assert knowledge.log_odds([("c", "d")]) == pytest.approx(12 * np.log(10), rel=1e-4)
    assert knowledge.log_odds([]) == 0.0


@given(st.text(max_size=60))
def test_any_text_is_read_or_rejected(tmp_path_factory, text):
    path = tmp_path_factory.mktemp("knowledge") / "knowledge.toml"
    path.write_text(text, encoding="utf-8", errors="ignore")
    with suppress(dn.InputError):
        read_knowledge(path).check(NAMES, 2)
