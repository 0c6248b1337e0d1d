"""Tests of the general encoding: any parent limit, candidate parents, tight penalties, chordal order variables."""

from dataclasses import replace
from itertools import combinations, product

import dimod
import networkx as nx
import numpy as np
import pytest
from dwave.samplers import SimulatedAnnealingSampler, TreeDecompositionSolver
from hypothesis import given, strategies as st

import dagneal as dn
from dagneal.divide.candidates import allowed_by_margin, collect_evidence, named_candidates
from dagneal.qubo import penalties as penalties_module
from dagneal.qubo.encode import qubos
from dagneal.qubo.order_variables import choose_order_variables, complete_to_chordal
from dagneal.qubo.polynomial import family, polynomials
from dagneal.qubo.reduction import reduction
from dagneal.scoring.sets import bounded_masks
from support.reference import all_dags, as_graph, candidate_table, dag_scores, random_data, random_table

GENERAL = [
    dn.Encoding(kind, order, prune)
    for kind in ("tight", "gap")
    for order in ("complete", "chordal")
    for prune in (False, True)
]
PAPERS = [dn.PAPER, dn.Encoding("paper", "complete", prune=True)]


def draw_table(seed: int) -> dn.scoring.ScoreTable:
    """Return a random table with 3 to 6 variables and 1 to 4 parents; the seed selects one of four kinds."""
    n = 3 + seed % 4
    limit = min(1 + seed // 4 % 4, n - 1)
    kind = ("noise", "additive", "oversize", "data")[seed // 16 % 4]
    if kind != "data":
        return candidate_table(n, limit, seed, kind)
    rng = np.random.default_rng(seed)
    data = random_data(n, 150, seed)
    candidates = {name: [other for other in data.names if other != name and rng.random() < 0.8] for name in data.names}
    return dn.scoring.score_table(data, max_parents=limit, candidates=candidates)


@pytest.mark.slow
@pytest.mark.parametrize("chunk", range(10))
def test_ground_state_is_the_best_network_for_every_encoding(chunk):
    """The weights are sufficient for all 500 tables. With 0.9 times the weights, the ground state is wrong for some."""
    failures = dict.fromkeys(GENERAL, 0)
    for seed in range(50 * chunk, 50 * (chunk + 1)):
        table = draw_table(seed)
        best = dn.solvers.exact(table).score
        for encoding in [*GENERAL, *(PAPERS if table.max_parents <= 2 else [])]:
            bqm = dn.qubo.encode(table, encoding)
            energy = TreeDecompositionSolver().sample(bqm).first.energy if bqm.num_variables else bqm.offset
            assert energy == pytest.approx(-best, rel=1e-9), (seed, encoding)
            if encoding in failures and bqm.num_variables:
                energy = TreeDecompositionSolver().sample(dn.qubo.encode(table, replace(encoding, scale=0.9))).first.energy
                failures[encoding] += energy < -best - 1e-6
    assert min(failures.values()) > 0


@pytest.mark.slow
@pytest.mark.parametrize("encoding", [e for e in GENERAL if not e.prune], ids=lambda e: e.name)
@pytest.mark.parametrize("limit", [1, 2, 3])
def test_energy_of_every_dag_is_minus_its_score_without_pruning(encoding, limit):
    table = random_table(4, limit, seed=limit)
    bqm = dn.qubo.encode(table, encoding)
    dags = all_dags(4)
    for dag, score in zip(dags[::7], dag_scores(table, dags)[::7], strict=True):
        if np.isfinite(score):
            graph = as_graph(table, dag)
            x = dn.qubo.qubo_vector(table, graph, encoding)
            assert bqm.energies((x, bqm.variables))[0] == pytest.approx(-score, rel=1e-12)
            left = bqm.copy()
            left.fix_variables({v: int(graph.has_edge(*v[1:])) for v in bqm.variables if v[0] == "d"})
            lowest = TreeDecompositionSolver().sample(left).first.energy if left.num_variables else left.offset
            assert lowest == pytest.approx(-score, rel=1e-9)


@given(st.integers(0, 10**6), st.integers(3, 6), st.integers(1, 4))
def test_pruning_keeps_the_energy_of_the_optimum_as_the_lowest_energy(seed, n, limit):
    """The best DAG has minus its score as energy, and no random state has less energy."""
    table = candidate_table(n, min(limit, n - 1), seed, "noise")
    best = dn.solvers.exact(table)
    bqm = dn.qubo.encode(table)
    if not bqm.num_variables:
        assert (bqm.offset, best.edges) == (pytest.approx(-best.score), [])
        return
    x = dn.qubo.qubo_vector(table, best.dag)
    assert bqm.energies((x, bqm.variables))[0] == pytest.approx(-best.score, rel=1e-9)
    rng = np.random.default_rng(seed)
    samples = rng.integers(0, 2, (50, bqm.num_variables), dtype=np.int8)
    energies = bqm.energies((samples, bqm.variables))
    assert (energies >= -best.score - 1e-6).all()


def test_chordal_order_variables_need_more_than_the_largest_removal_cost():
    """A weight just above every removal cost D is too small for chordal order variables.

    The graph has a cycle of six variables with a triangle inside: one triangle is cyclic, but two edges must be dropped.
    That weight is enough for complete order variables. Here it makes the cyclic graph with all nine edges the ground state.
    """
    parents = {"x": "zc", "a": "x", "y": "xa", "b": "y", "z": "yb", "c": "z"}
    names = tuple(parents)
    candidates = [np.array(sorted(map(names.index, candidate_parents))) for candidate_parents in parents.values()]
    masks = [bounded_masks(len(positions), 2) for positions in candidates]
    table = dn.scoring.ScoreTable(
        names=names,
        max_parents=2,
        score_name="100 for each edge",
        first=np.cumsum([0, *map(len, candidates)]),
        candidates=np.concatenate(candidates),
        start=np.cumsum([0, *map(len, masks)]),
        masks=np.concatenate(masks),
        scores=100.0 * np.bitwise_count(np.concatenate(masks)[:, 0]),
    )
    assert dn.solvers.exact(table).score == 700
    assert dn.solvers.verify(dn.qubo.encode(table), table)
    one_weight = dn.qubo.encode(table)
    weights = qubos(table).penalties.transitivity
    assert weights.shape[1] == 4  # the inner triangle and a triangle at each of its sides
    inner = weights.max()
    assert inner > 200
    # Lower the weight of the inner triangle to just above D: now the cyclic graph has less energy than every DAG.
    triangle = [label for label in one_weight.variables if label[0] == "r" and set(label[1:]) <= set("xyz")]
    xy, xz, yz = (next(label for label in triangle if set(label[1:]) == set(pair)) for pair in ("xy", "xz", "yz"))
    excess = inner - 110.0
    one_weight.add_linear(xz, -excess)
    one_weight.add_quadratic(xy, yz, -excess)
    one_weight.add_quadratic(xy, xz, excess)
    one_weight.add_quadratic(xz, yz, excess)
    verification = dn.solvers.verify(one_weight, table)
    assert not verification
    assert not verification.feasible
    assert verification.lowest_energy == pytest.approx(-900 + 110)
    assert verification.graph.number_of_edges() == 9


@pytest.mark.parametrize("n", range(4, 11))
def test_three_parents_need_no_more_auxiliary_variables_than_in_the_paper(n):
    table = random_table(n, 3, seed=n)
    bqm = dn.qubo.encode(table, dn.Encoding("tight", "complete", prune=False))
    assert sum(label[0] == "a" for label in bqm.variables) <= n * ((n - 2) ** 2 // 4)


@given(st.integers(0, 10**6), st.integers(3, 6), st.integers(3, 5))
def test_reduced_polynomial_equals_the_original(seed, edges, degree):
    """For any values of the edge variables, the lowest energy over the auxiliary variables is the polynomial's value."""
    rng = np.random.default_rng(seed)
    masks = bounded_masks(edges, min(degree, edges))
    terms = masks[(np.bitwise_count(masks[:, 0]) > 2) & (rng.random(len(masks)) < 0.7)]
    weights = rng.standard_normal((1, len(terms)))
    reduced = reduction(edges, terms)
    bqm = dimod.BinaryQuadraticModel("BINARY")
    bqm.add_variables_from(dict.fromkeys(range(edges), 0.0))
    for (u, v), weight in zip(reduced.factors.tolist(), weights[0], strict=True):
        bqm.add_quadratic(u, v, weight)
    for auxiliary, factor in enumerate(reduced.products, edges):
        low, high = factor.influence(weights)[0]
        bqm.add_quadratic(factor.left, factor.right, low)
        bqm.add_quadratic(factor.left, auxiliary, -(low + high))
        bqm.add_quadratic(factor.right, auxiliary, -(low + high))
        bqm.add_linear(auxiliary, low + 2 * high)
    for setting in range(1 << edges):
        left = bqm.copy()
        left.fix_variables({edge: setting >> edge & 1 for edge in range(edges)})
        lowest = TreeDecompositionSolver().sample(left).first.energy if left.num_variables else left.offset
        inside = [int(term) & ~setting == 0 for term in terms[:, 0]]
        assert lowest == pytest.approx(float(weights[0] @ np.array(inside, dtype=float)) if inside else 0.0, abs=1e-9)


@given(st.integers(0, 10**6), st.integers(1, 12), st.floats(0, 1))
def test_chordal_completion_contains_the_edges_and_is_chordal(seed, n, density):
    rng = np.random.default_rng(seed)
    edges = rng.random((n, n)) < density
    np.fill_diagonal(edges, False)
    full = complete_to_chordal(edges)
    assert (full >= (edges | edges.T)).all()
    assert np.array_equal(full, full.T)
    assert not full.diagonal().any()
    assert n < 4 or nx.is_chordal(nx.from_numpy_array(full))


@given(st.integers(0, 10**6), st.integers(2, 7), st.floats(0.1, 1))
def test_order_variables_without_cyclic_triangles_leave_no_cycle(seed, n, density):
    """Edges that follow order variables without cyclic triangles form a DAG, if exclusive pairs have only one edge."""
    rng = np.random.default_rng(seed)
    edges = rng.random((n, n)) < density
    np.fill_diagonal(edges, False)
    order = choose_order_variables(edges, "chordal")
    for _ in range(30):
        first = {tuple(pair): bool(rng.integers(2)) for pair in order.pairs.tolist()}
        cyclic = [(a, b, c) for a, b, c in order.triangles.tolist() if first[a, b] == first[b, c] != first[a, c]]
        if cyclic:
            continue
        graph = nx.DiGraph()
        for a, b in np.argwhere(edges).tolist():
            pair = (min(a, b), max(a, b))
            if pair not in first or first[pair] == (a < b):
                graph.add_edge(a, b)
        for a, b in order.exclusive.tolist():
            graph.remove_edge(*((a, b) if rng.integers(2) else (b, a)))
        assert nx.is_directed_acyclic_graph(graph)


def test_chordal_order_variables_are_complete_if_all_parents_are_candidates():
    table = random_table(6, 2, seed=0)
    bqm = dn.qubo.encode(table, dn.Encoding("tight", "chordal", prune=False))
    assert sum(label[0] == "r" for label in bqm.variables) == 15


@pytest.mark.parametrize(("limit", "slack"), [(1, 0), (2, 1), (3, 1), (4, 2), (5, 2), (6, 2)])
def test_one_slack_variable_fewer_than_the_paper_enforces_the_limit(limit, slack):
    """The penalty is 0 within the parent limit, and e (e + 1) / 2 times the weight for e parents too many."""
    table = random_table(9, limit, seed=limit)
    encoding = dn.Encoding("tight", "complete", prune=False)
    encoded = qubos(table, encoding)
    assert ((encoded.layout.y >= 0).sum(axis=1) == slack).all()
    bqm = encoded.model(0, table.names)
    scaled = dn.qubo.encode(table, replace(encoding, scale=2.0))
    for size in range(9):
        parents = table.names[1 : size + 1]
        x = {label: int(label[0] == "d" and label[2] == "v0" and label[1] in parents) for label in bqm.variables}
        x |= {label: int(set(label[2:]) <= set(parents)) for label in bqm.variables if label[0] == "a" and label[1] == "v0"}
        x |= {label: int(label[1] != "v0") for label in bqm.variables if label[0] == "r"}  # v0 last
        penalties = []
        for bits in product((0, 1), repeat=slack):
            x |= {("y", "v0", i + 1): bit for i, bit in enumerate(bits)}
            for name in table.names[1:]:
                empty = limit // 2
                x |= {("y", name, i + 1): empty >> i & 1 for i in range(slack)}
            penalties.append(scaled.energy(x) - bqm.energy(x))  # `scaled` has twice the penalties, so this is the penalty
        excess = max(size - limit, 0)
        assert min(penalties) == pytest.approx(excess * (excess + 1) / 2 * encoded.penalties.maximum[0, 0], abs=1e-6)


def test_no_slack_if_the_parent_limit_cannot_be_exceeded():
    table = dn.scoring.score_table(random_data(3, 100, seed=1), max_parents=2)
    for encoding in GENERAL:
        bqm = dn.qubo.encode(table, encoding)
        assert not any(label[0] == "y" for label in bqm.variables)
    assert dn.qubo.encode(table, dn.Encoding("tight", "complete", prune=False)).num_variables == 9


def test_number_of_qubo_variables_for_the_papers_networks():
    table = dn.scoring.score_table(dn.load("waste").expected_data(10_000))
    assert dn.qubo.encode(table).num_variables <= 65
    scorer = dn.scoring.Scorer(dn.load("alarm-15").expected_data(10_000))
    margins, _, _ = collect_evidence(scorer.table(2), np.array(list(combinations(range(15), 3))))
    candidates = named_candidates(allowed_by_margin(margins), scorer.data.names)
    assert dn.qubo.encode(scorer.table(2, candidates)).num_variables <= 140


def test_a_hundred_raw_reads_find_the_optimum_of_waste():
    table = dn.scoring.score_table(dn.load("waste").expected_data(10_000))
    for seed in range(5):
        solution = dn.solvers.anneal(table, SimulatedAnnealingSampler(), repair=False, num_reads=100, seed=seed)
        assert solution.optimal


def test_parent_sets_outside_the_table_are_never_used():
    """The table allows v1 or v2 as a parent of v0, but not both."""
    full = random_table(4, 2, seed=5)
    scores = full.scores.copy()
    entries = full.entries_of(0)
    both = entries.start + int(np.flatnonzero(full.masks[entries, 0] == 3)[0])
    scores[both] = 0.0  # a score by far higher than all others
    keep = np.arange(len(scores)) != both
    table = replace(full, scores=scores[keep], masks=full.masks[keep], start=np.array([0, *(full.start[1:] - 1)]))
    for encoding in GENERAL:
        assert dn.solvers.verify(dn.qubo.encode(table, encoding), table)
    with pytest.raises(dn.InputError, match="all sets of candidate parents"):
        dn.qubo.encode(table, dn.PAPER)


def test_bound_for_many_candidates_is_sufficient_without_enumeration(monkeypatch):
    for seed in range(10):
        table = random_table(8, 2, seed)
        for child in polynomials(table, prune=False):
            enumerated = penalties_module.oversize_gain(child, 2)
            monkeypatch.setattr(penalties_module, "MAX_ENUMERATED", 4)
            bound = penalties_module.oversize_gain(child, 2)
            monkeypatch.undo()
            assert (bound >= enumerated).all()
    monkeypatch.setattr(penalties_module, "MAX_ENUMERATED", 3)
    for seed in range(20):
        table = candidate_table(5, 2, seed, "oversize")
        assert dn.solvers.verify(dn.qubo.encode(table), table)


def test_sums_minima_and_inversion_over_subsets():
    sets = family(4, 2)
    rng = np.random.default_rng(0)
    values = rng.standard_normal((3, len(sets.masks)))
    masks = sets.masks[:, 0]
    inside = masks[None, :] & ~masks[:, None] == 0
    assert sets.sums(values) == pytest.approx(values @ inside.T)
    assert sets.smallest(values) == pytest.approx(np.where(inside, values[:, None, :], np.inf).min(axis=2))
    assert sets.sums(sets.invert(values)) == pytest.approx(values)


def test_independent_data_need_no_qubo_variables():
    rng = np.random.default_rng(1)
    data = dn.read(rng.integers(0, 2, (2000, 4)))
    table = dn.scoring.score_table(data)
    assert dn.qubo.encode(table).num_variables == 0
    solution = dn.solvers.anneal(table, SimulatedAnnealingSampler(), num_reads=10, seed=1)
    assert solution.edges == []
    assert solution.optimal
    assert (solution.reads.qubo_variables, solution.reads.reads) == (0, 1)
    assert dn.learn(data, dn.Anneal(SimulatedAnnealingSampler(), num_reads=5)).edges == []
    assert dn.solvers.verify(dn.qubo.encode(table), table)


def test_verify_reports_the_best_network_and_limits_the_treewidth():
    table = dn.scoring.score_table(dn.load("lung-cancer").expected_data(10_000))
    verification = dn.solvers.verify(dn.qubo.encode(table), table)
    assert verification.holds
    assert verification.feasible
    assert table.score(verification.graph) == pytest.approx(verification.best_score)
    big = dn.scoring.score_table(dn.load("alarm-15").expected_data(10_000))
    bqm = dn.qubo.encode(big, dn.PAPER)
    with pytest.raises(dn.InputError, match="verify is limited to 22"):
        dn.solvers.verify(bqm, big)


def test_vector_of_a_graph_with_a_pruned_edge_is_an_error():
    table = dn.scoring.score_table(dn.load("lung-cancer").expected_data(10_000))
    graph = nx.DiGraph([("Xray", "Pollution")])
    graph.add_nodes_from(table.names)
    with pytest.raises(dn.InputError, match="no variable for the edge Xray -> Pollution"):
        dn.qubo.qubo_vector(table, graph)


@pytest.mark.parametrize(
    "arguments",
    [{"penalties": "loose"}, {"order": "none"}, {"prune": "yes"}, {"scale": 0.0}, {"scale": float("nan")}],
    ids=str,
)
def test_invalid_encodings_are_errors(arguments):
    with pytest.raises(dn.InputError):
        dn.Encoding(**arguments)
    with pytest.raises(dn.InputError, match="give an Encoding"):
        dn.qubo.encode(random_table(3, 2, 0), "tight")
    with pytest.raises(dn.InputError, match="give a ScoreTable"):
        dn.qubo.encode(random_data(3, 10, 0))


@given(st.integers(0, 10**6), st.integers(2, 7), st.integers(1, 4))
def test_every_state_of_the_sparse_encoding_decodes_to_a_dag(seed, n, limit):
    rng = np.random.default_rng(seed)
    table = candidate_table(n, min(limit, n - 1), seed, "noise")
    bqm = dn.qubo.encode(table)
    samples = (rng.random((20, bqm.num_variables)) < rng.random()).astype(np.int8)
    reads = dn.qubo.decode(table, dimod.SampleSet.from_samples_bqm((samples, bqm.variables), bqm))
    for read in range(20):
        assert sorted(reads.orders[read]) == list(range(n))
        raw, repaired = reads.raw_graph(read), reads.repaired_dag(read)
        assert table.score(repaired) == pytest.approx(reads.repaired_scores[read], rel=1e-12)
        if reads.feasible[read]:
            assert reads.raw_scores[read] == pytest.approx(table.score(raw), rel=1e-12)
            assert reads.repaired_scores[read] >= reads.raw_scores[read] - 1e-9
        else:
            with pytest.raises(dn.InputError):
                table.score(raw)


@pytest.mark.parametrize("words", ["paper", "tight", "gap,complete"])
def test_single_precision_rounds_coefficients_and_what_follows_from_them(words):
    """The rounded model has 32-bit coefficients; its energies and range of beta follow from them."""
    table = dn.scoring.score_table(dn.load("waste").expected_data(10_000))
    double, single = (dn.qubo.parse_encoding(f"{words},{precision}") for precision in ("double", "single"))
    exact, rounded = dn.qubo.qubos(table, double), dn.qubo.qubos(table, single)
    for name in ("linear", "quadratic"):
        assert np.array_equal(getattr(rounded, name), getattr(exact, name).astype(np.float32))
        assert not np.array_equal(getattr(rounded, name), getattr(exact, name))
    assert np.array_equal(rounded.offset, exact.offset)
    model = rounded.model(0)
    samples = np.random.default_rng(0).integers(0, 2, (20, rounded.layout.num_variables)).astype(np.int8)
    assert rounded.energies(0, samples) == pytest.approx(model.energies((samples, list(model.variables))), abs=1e-6)
    from dwave.samplers import SimulatedAnnealingSampler

    info = SimulatedAnnealingSampler().sample(model, num_reads=1, num_sweeps=2, seed=0).info
    assert rounded.beta_ranges[0] == pytest.approx(info["beta_range"])
    assert single.name == f"{double.name}, single precision"
    assert dn.qubo.parse_encoding(words) == double


def test_single_precision_separates_equivalent_networks():
    """In double precision equivalent networks have equal energies; after rounding they differ, by far less than a nat."""
    table = dn.scoring.score_table(dn.load("alarm-15").expected_data(10_000).with_equal_arities())
    chain = table.gather([(0, 1, 5, 6)]).table(0)
    best = dn.solvers.exact(chain).dag
    class_members = []
    for flips in product((False, True), repeat=best.number_of_edges()):
        graph = nx.DiGraph()
        graph.add_nodes_from(chain.names)
        graph.add_edges_from((b, a) if flip else (a, b) for (a, b), flip in zip(best.edges, flips, strict=True))
        if nx.is_directed_acyclic_graph(graph) and dn.compare(graph, best).cpdag_shd == 0:
            class_members.append(graph)
    assert len(class_members) > 1
    for precision, spread in (("double", 1e-8), ("single", 0.1)):
        encoding = replace(dn.PAPER, precision=precision)
        bqm = dn.qubo.encode(chain, encoding)
        values = [dn.qubo.result_value(bqm, dn.qubo.qubo_vector(chain, graph, encoding)) for graph in class_members]
        assert np.ptp(values) < spread
        assert (np.ptp(values) > 1e-6) == (precision == "single")


def test_an_unknown_precision_is_refused():
    with pytest.raises(dn.InputError, match=r"^precision='half' is unknown; use one of 'double', 'single'$"):
        dn.Encoding(precision="half")
