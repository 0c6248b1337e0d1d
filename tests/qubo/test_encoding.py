"""The general encoding: any number of parents, candidate parents, tight penalties, chordal order bits."""

from dataclasses import replace
from itertools import combinations, product

import dimod
import networkx as nx
import numpy as np
import pytest
from dwave.samplers import SimulatedAnnealingSampler, TreeDecompositionSolver
from hypothesis import given, strategies as st

import dagneal as dn
from dagneal.divide.candidates import allowed_by_margin, named_candidates, small_evidence
from dagneal.qubo import penalties as weighing
from dagneal.qubo.encode import qubos
from dagneal.qubo.order_variables import chordal, ordering
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
    """One of the random tables: 3 to 6 variables, 1 to 4 parents, four kinds."""
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
def test_ground_state_is_exact_for_every_setting(chunk):
    """500 tables in all; nine tenths of the weights are not enough for some, so these can fail."""
    failed_below = dict.fromkeys(GENERAL, 0)
    for seed in range(50 * chunk, 50 * (chunk + 1)):
        table = draw_table(seed)
        best = dn.solvers.exact(table).score
        for encoding in [*GENERAL, *(PAPERS if table.max_parents <= 2 else [])]:
            bqm = dn.qubo.encode(table, encoding)
            energy = TreeDecompositionSolver().sample(bqm).first.energy if bqm.num_variables else bqm.offset
            assert energy == pytest.approx(-best, rel=1e-9), (seed, encoding)
            if encoding in failed_below and bqm.num_variables:
                energy = TreeDecompositionSolver().sample(dn.qubo.encode(table, replace(encoding, scale=0.9))).first.energy
                failed_below[encoding] += energy < -best - 1e-6
    assert min(failed_below.values()) > 0


@pytest.mark.slow
@pytest.mark.parametrize("encoding", [e for e in GENERAL if not e.prune], ids=lambda e: e.name)
@pytest.mark.parametrize("limit", [1, 2, 3])
def test_every_dag_has_minus_its_score_as_energy_where_nothing_is_pruned(encoding, limit):
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
def test_pruned_energies_bound_every_dag_from_its_best_parts(seed, n, limit):
    """The optimum keeps its energy, and no DAG, however raw, has less than its best subsets allow."""
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


def test_chordal_order_bits_need_more_than_the_largest_loss():
    """Three variables in a cycle and a longer way around it: one cyclic triangle, but two edges to drop.

    With one weight just above every D, which is enough for complete order bits, the graph with all nine edges would win.
    """
    parents = {"x": "zc", "a": "x", "y": "xa", "b": "y", "z": "yb", "c": "z"}
    names = tuple(parents)
    candidates = [np.array(sorted(names.index(p) for p in own)) for own in parents.values()]
    masks = [bounded_masks(len(own), 2) for own in candidates]
    table = dn.scoring.ScoreTable(
        names=names,
        max_parents=2,
        score_name="hundred an edge",
        first=np.cumsum([0, *map(len, candidates)]),
        candidates=np.concatenate(candidates),
        start=np.cumsum([0, *map(len, masks)]),
        masks=np.concatenate(masks),
        scores=100.0 * np.bitwise_count(np.concatenate(masks)),
    )
    assert dn.solvers.exact(table).score == 700
    assert dn.solvers.verify(dn.qubo.encode(table), table)
    one_weight = dn.qubo.encode(table)
    found = qubos(table).penalties.transitivity
    assert found.shape[1] == 4  # the triangle, and one at each side
    inner = found.max()
    assert inner > 200
    # Lower the inner triangle's weight to that of a single edge: now the whole cyclic graph lies below every DAG.
    triangle = [label for label in one_weight.variables if label[0] == "r" and set(label[1:]) <= set("xyz")]
    xy, xz, yz = (next(label for label in triangle if set(label[1:]) == set(pair)) for pair in ("xy", "xz", "yz"))
    excess = inner - 110.0
    one_weight.add_linear(xz, -excess)
    one_weight.add_quadratic(xy, yz, -excess)
    one_weight.add_quadratic(xy, xz, excess)
    one_weight.add_quadratic(xz, yz, excess)
    verdict = dn.solvers.verify(one_weight, table)
    assert not verdict
    assert not verdict.feasible
    assert verdict.lowest_energy == pytest.approx(-900 + 110)
    assert verdict.graph.number_of_edges() == 9


@pytest.mark.parametrize("n", range(4, 11))
def test_auxiliary_bits_for_three_parents_are_the_papers_number(n):
    table = random_table(n, 3, seed=n)
    bqm = dn.qubo.encode(table, dn.Encoding("tight", "complete", prune=False))
    assert sum(label[0] == "a" for label in bqm.variables) <= n * ((n - 2) ** 2 // 4)


@given(st.integers(0, 10**6), st.integers(3, 6), st.integers(3, 5))
def test_reduced_polynomials_equal_the_original_at_every_setting(seed, bits, degree):
    """Whatever the edge bits, the lowest energy over the auxiliary bits is the polynomial's value."""
    rng = np.random.default_rng(seed)
    masks = bounded_masks(bits, min(degree, bits))
    terms = masks[(np.bitwise_count(masks) > 2) & (rng.random(len(masks)) < 0.7)]
    weights = rng.standard_normal((1, len(terms)))
    reduced = reduction(bits, terms)
    bqm = dimod.BinaryQuadraticModel("BINARY")
    bqm.add_variables_from(dict.fromkeys(range(bits), 0.0))
    for (u, v), weight in zip(reduced.factors.tolist(), weights[0], strict=True):
        bqm.add_quadratic(u, v, weight)
    for place, made in enumerate(reduced.products):
        low, high = made.influence(weights)[0]
        bit = bits + place
        bqm.add_quadratic(made.left, made.right, low)
        bqm.add_quadratic(made.left, bit, -(low + high))
        bqm.add_quadratic(made.right, bit, -(low + high))
        bqm.add_linear(bit, low + 2 * high)
    for setting in range(1 << bits):
        left = bqm.copy()
        left.fix_variables({bit: setting >> bit & 1 for bit in range(bits)})
        lowest = TreeDecompositionSolver().sample(left).first.energy if left.num_variables else left.offset
        inside = [int(term) & ~setting == 0 for term in terms]
        assert lowest == pytest.approx(float(weights[0] @ np.array(inside, dtype=float)) if inside else 0.0, abs=1e-9)


@given(st.integers(0, 10**6), st.integers(1, 12), st.floats(0, 1))
def test_chordal_completion(seed, n, density):
    rng = np.random.default_rng(seed)
    edges = rng.random((n, n)) < density
    np.fill_diagonal(edges, False)
    full = chordal(edges)
    assert (full >= (edges | edges.T)).all()
    assert np.array_equal(full, full.T)
    assert not full.diagonal().any()
    assert n < 4 or nx.is_chordal(nx.from_numpy_array(full))


@given(st.integers(0, 10**6), st.integers(2, 7), st.floats(0.1, 1))
def test_order_bits_without_cyclic_triangles_leave_no_cycle(seed, n, density):
    """Edges that follow order bits without a cyclic triangle, and exclude their reverse where there is none, make a DAG."""
    rng = np.random.default_rng(seed)
    edges = rng.random((n, n)) < density
    np.fill_diagonal(edges, False)
    order = ordering(edges, "chordal")
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


def test_all_parents_give_the_papers_order_bits_again():
    table = random_table(6, 2, seed=0)
    bqm = dn.qubo.encode(table, dn.Encoding("tight", "chordal", prune=False))
    assert sum(label[0] == "r" for label in bqm.variables) == 15


@pytest.mark.parametrize(("limit", "slack"), [(1, 0), (2, 1), (3, 1), (4, 2), (5, 2), (6, 2)])
def test_slack_bits(limit, slack):
    """One fewer than the paper's, and the limit holds: within it nothing is paid, beyond it e (e + 1) / 2 weights are."""
    table = random_table(9, limit, seed=limit)
    encoding = dn.Encoding("tight", "complete", prune=False)
    found = qubos(table, encoding)
    assert ((found.layout.y >= 0).sum(axis=1) == slack).all()
    bqm = found.model(0, table.names)
    scaled = dn.qubo.encode(table, replace(encoding, scale=2.0))
    for size in range(9):
        parents = table.names[1 : size + 1]
        x = {label: int(label[0] == "d" and label[2] == "v0" and label[1] in parents) for label in bqm.variables}
        x |= {label: int(set(label[2:]) <= set(parents)) for label in bqm.variables if label[0] == "a" and label[1] == "v0"}
        x |= {label: int(label[1] != "v0") for label in bqm.variables if label[0] == "r"}  # v0 last
        spent = []
        for bits in product((0, 1), repeat=slack):
            x |= {("y", "v0", i + 1): bit for i, bit in enumerate(bits)}
            for name in table.names[1:]:
                empty = limit // 2
                x |= {("y", name, i + 1): empty >> i & 1 for i in range(slack)}
            spent.append(scaled.energy(x) - bqm.energy(x))  # one more of every penalty
        excess = max(size - limit, 0)
        assert min(spent) == pytest.approx(excess * (excess + 1) / 2 * found.penalties.maximum[0, 0], abs=1e-6)


def test_no_slack_where_there_cannot_be_too_many_parents():
    table = dn.scoring.score_table(random_data(3, 100, seed=1), max_parents=2)
    for encoding in GENERAL:
        bqm = dn.qubo.encode(table, encoding)
        assert not any(label[0] == "y" for label in bqm.variables)
    assert dn.qubo.encode(table, dn.Encoding("tight", "complete", prune=False)).num_variables == 9


def test_bits_of_the_papers_networks():
    table = dn.scoring.score_table(dn.load("waste").expected(10_000))
    assert dn.qubo.encode(table).num_variables <= 65
    scorer = dn.scoring.Scorer(dn.load("alarm-15").expected(10_000))
    margins, _, _ = small_evidence(scorer.table(2), np.array(list(combinations(range(15), 3))))
    candidates = named_candidates(allowed_by_margin(margins), scorer.data.names)
    assert dn.qubo.encode(scorer.table(2, candidates)).num_variables <= 140


def test_the_raw_optimum_of_waste_with_a_hundred_reads():
    table = dn.scoring.score_table(dn.load("waste").expected(10_000))
    for seed in range(5):
        found = dn.solvers.anneal(table, SimulatedAnnealingSampler(), repair=False, num_reads=100, seed=seed)
        assert found.optimal


def test_sets_that_the_table_does_not_have_are_never_taken():
    """v0 may have v1 or v2, but not both."""
    full = random_table(4, 2, seed=5)
    scores = full.scores.copy()
    entries = full.entries_of(0)
    both = entries.start + int(np.flatnonzero(full.masks[entries] == 3)[0])
    scores[both] = 0.0  # it would be by far the best
    keep = np.arange(len(scores)) != both
    table = replace(full, scores=scores[keep], masks=full.masks[keep], start=np.array([0, *(full.start[1:] - 1)]))
    for encoding in GENERAL:
        assert dn.solvers.verify(dn.qubo.encode(table, encoding), table)
    with pytest.raises(dn.InputError, match="every set of a child's candidate parents"):
        dn.qubo.encode(table, dn.PAPER)


def test_many_candidates_have_a_bound_that_needs_no_enumeration(monkeypatch):
    for seed in range(10):
        table = random_table(8, 2, seed)
        for child in polynomials(table, prune=False):
            enumerated = weighing.oversize_gain(child, 2)
            monkeypatch.setattr(weighing, "MOST_ENUMERATED", 4)
            bound = weighing.oversize_gain(child, 2)
            monkeypatch.undo()
            assert (bound >= enumerated).all()
    monkeypatch.setattr(weighing, "MOST_ENUMERATED", 3)
    for seed in range(20):
        table = candidate_table(5, 2, seed, "oversize")
        assert dn.solvers.verify(dn.qubo.encode(table), table)


def test_families_of_sets():
    sets = family(4, 2)
    rng = np.random.default_rng(0)
    values = rng.standard_normal((3, len(sets.masks)))
    inside = sets.masks[None, :] & ~sets.masks[:, None] == 0
    assert sets.sums(values) == pytest.approx(values @ inside.T)
    assert sets.smallest(values) == pytest.approx(np.where(inside, values[:, None, :], np.inf).min(axis=2))
    assert sets.sums(sets.invert(values)) == pytest.approx(values)


def test_nothing_to_learn_needs_no_bits():
    rng = np.random.default_rng(1)
    data = dn.read(rng.integers(0, 2, (2000, 4)))
    table = dn.scoring.score_table(data)
    assert dn.qubo.encode(table).num_variables == 0
    found = dn.solvers.anneal(table, SimulatedAnnealingSampler(), num_reads=10, seed=1)
    assert found.edges == []
    assert found.optimal
    assert (found.reads.bits, found.reads.reads) == (0, 1)
    assert dn.learn(data, dn.Anneal(SimulatedAnnealingSampler(), num_reads=5)).edges == []
    assert dn.solvers.verify(dn.qubo.encode(table), table)


def test_what_a_verdict_says():
    table = dn.scoring.score_table(dn.load("lung-cancer").expected(10_000))
    good = dn.solvers.verify(dn.qubo.encode(table), table)
    assert good.holds
    assert good.feasible
    assert table.score(good.graph) == pytest.approx(good.best_score)
    big = dn.scoring.score_table(dn.load("alarm-15").expected(10_000))
    bqm = dn.qubo.encode(big, dn.PAPER)
    with pytest.raises(dn.InputError, match="can be verified"):
        dn.solvers.verify(bqm, big)


def test_edges_without_a_bit_have_no_vector():
    table = dn.scoring.score_table(dn.load("lung-cancer").expected(10_000))
    graph = nx.DiGraph([("Xray", "Pollution")])
    graph.add_nodes_from(table.names)
    with pytest.raises(dn.InputError, match="has no bit in the encoding tight"):
        dn.qubo.qubo_vector(table, graph)


@pytest.mark.parametrize(
    "wrong",
    [{"penalties": "loose"}, {"order": "none"}, {"prune": "yes"}, {"scale": 0.0}, {"scale": float("nan")}],
    ids=str,
)
def test_encodings_that_are_none(wrong):
    with pytest.raises(dn.InputError):
        dn.Encoding(**wrong)
    with pytest.raises(dn.InputError, match="give an Encoding"):
        dn.qubo.encode(random_table(3, 2, 0), "tight")
    with pytest.raises(dn.InputError, match="a ScoreTable is encoded"):
        dn.qubo.encode(random_data(3, 10, 0))


@given(st.integers(0, 10**6), st.integers(2, 7), st.integers(1, 4))
def test_decoding_any_bits_of_the_sparse_encoding(seed, n, limit):
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
