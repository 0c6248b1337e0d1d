"""Tests of the paper's QUBO: matrix entries, energies, ground states, decoding and export."""

from itertools import product

import dimod
import numpy as np
import pytest
from dwave.samplers import TreeDecompositionSolver
from hypothesis import given, strategies as st

import dagneal as dn
from dagneal.qubo.encode import qubos
from dagneal.qubo.polynomial import moebius
from support.reference import all_dags, as_graph, dag_scores, random_data, random_table

THREE, FOUR, FIVE = all_dags(3), all_dags(4), all_dags(5)


def test_all_dags_are_enumerated():
    assert (len(THREE), len(FOUR), len(FIVE)) == (25, 543, 29281)  # OEIS A003024


def paper_matrix(table: dn.scoring.ScoreTable) -> np.ndarray:
    """Return the matrix of Algorithm 4 of the paper (fillQ), line by line, with m = 2."""
    names = table.names
    n = len(names)
    variables = [("d", i, j) for i in range(n) for j in range(n) if i != j]
    variables += [("y", i, k) for i in range(n) for k in (1, 2)]
    variables += [("r", i, j) for i in range(n) for j in range(i + 1, n)]
    index = {variable: k for k, variable in enumerate(variables)}

    def s(i, parents):
        return -table.local(names[i], [names[p] for p in parents])

    def w(i, *p):
        if not p:
            return s(i, [])
        if len(p) == 1:
            return s(i, p) - s(i, [])
        return s(i, p) - s(i, p[:1]) - s(i, p[1:]) + s(i, [])

    def others(*used):
        return [v for v in range(n) if v not in used]

    delta = {
        (j, i): max(0.0, -w(i, j) - sum(min(0.0, w(i, j, k)) for k in others(i, j))) for i in range(n) for j in others(i)
    }
    maximum = [max(delta[j, i] for j in others(i)) + 1 for i in range(n)]
    trans = max(delta.values()) + 1
    consist = (n - 2) * trans + 1
    q = np.zeros((len(variables), len(variables)))

    def add(a, b, value):
        row, column = sorted((index[a], index[b]))
        q[row, column] += value

    for i in range(n):
        for x in others(i):
            add(("d", x, i), ("d", x, i), w(i, x))
            for y in others(i):
                if x < y:
                    add(("d", x, i), ("d", y, i), w(i, x, y))
        square = [(("d", j, i), -1) for j in others(i)] + [(("y", i, 1), -1), (("y", i, 2), -2)]
        for j, (variable, c) in enumerate(square):
            add(variable, variable, maximum[i] * (c * c + 2 * 2 * c))
            for other, e in square[j + 1 :]:
                add(variable, other, maximum[i] * 2 * c * e)
        for j in range(i + 1, n):
            for k in range(j + 1, n):
                add(("r", i, k), ("r", i, k), trans)
                add(("r", i, j), ("r", j, k), trans)
                add(("r", i, j), ("r", i, k), -trans)
                add(("r", i, k), ("r", j, k), -trans)
            add(("d", j, i), ("r", i, j), consist)
            add(("d", i, j), ("d", i, j), consist)
            add(("d", i, j), ("r", i, j), -consist)
    return q


@pytest.mark.parametrize("n", [3, 4, 5, 9])
def test_every_matrix_entry_equals_the_papers(n):
    table = dn.scoring.score_table(random_data(n, 200, seed=n), max_parents=2)
    bqm = dn.qubo.encode(table, dn.PAPER)
    assert bqm.num_variables == (3 * n * n + n) // 2
    assert bqm.num_interactions == n**3
    matrix = dn.qubo.qubo_matrix(bqm)
    assert np.array_equal(matrix, np.triu(matrix))
    np.testing.assert_allclose(matrix, paper_matrix(table), rtol=1e-12, atol=1e-7)


def lowest(bqm: dimod.BinaryQuadraticModel, table: dn.scoring.ScoreTable, dag) -> float:
    """Return the lowest energy of a graph over all values of the slack and order variables, by enumeration."""
    x = np.zeros(bqm.num_variables, dtype=np.int8)
    graph = as_graph(table, dag)
    for k, label in enumerate(bqm.variables):
        x[k] = label[0] == "d" and graph.has_edge(*label[1:])
    free = [k for k, label in enumerate(bqm.variables) if label[0] != "d"]
    samples = np.repeat(x[None], 1 << len(free), axis=0)
    samples[:, free] = np.array(list(product((0, 1), repeat=len(free))), dtype=np.int8)
    return float(bqm.energies((samples, bqm.variables)).min())


@pytest.mark.parametrize("seed", range(3))
def test_lowest_energy_of_every_dag_with_three_nodes_is_minus_its_score(seed):
    table = dn.scoring.score_table(random_data(3, 100, seed), max_parents=2)
    bqm = dn.qubo.encode(table, dn.PAPER)
    for dag, score in zip(THREE, dag_scores(table, THREE), strict=True):
        assert lowest(bqm, table, dag) == pytest.approx(-score, rel=1e-12)
        graph = as_graph(table, dag)
        x = dn.qubo.qubo_vector(table, graph, dn.PAPER)
        assert bqm.energies((x, bqm.variables))[0] == pytest.approx(-table.score(graph), rel=1e-12)


def test_lowest_energy_of_dags_with_four_nodes_is_minus_their_score():
    table = dn.scoring.score_table(random_data(4, 100, seed=8), max_parents=2)
    bqm = dn.qubo.encode(table, dn.PAPER)
    scores = dag_scores(table, FOUR)
    for index in range(0, len(FOUR), 30):
        if np.isfinite(scores[index]):
            assert lowest(bqm, table, FOUR[index]) == pytest.approx(-scores[index], rel=1e-12)


def check_against_brute_force(table: dn.scoring.ScoreTable, seed: int) -> None:
    """Check the ground state, exact search and the energies of some DAGs against the scores of all DAGs."""
    dags = FOUR if len(table.names) == 4 else FIVE
    scores = dag_scores(table, dags)
    best = scores.max()
    assert dn.solvers.exact(table).score == pytest.approx(best, rel=1e-12)
    bqm = dn.qubo.encode(table, dn.PAPER)
    ground = TreeDecompositionSolver().sample(bqm).first
    assert ground.energy == pytest.approx(-best, rel=1e-9)
    reads = dn.qubo.decode(table, dimod.SampleSet.from_samples_bqm(ground.sample, bqm))
    assert reads.raw_scores[0] == pytest.approx(best, rel=1e-12)
    rng = np.random.default_rng(seed)
    for index in rng.choice(np.flatnonzero(np.isfinite(scores)), 8, replace=False):
        graph = as_graph(table, dags[index])
        left = bqm.copy()  # an exact solver finds the lowest energy over all slack and order variables
        left.fix_variables({v: int(graph.has_edge(*v[1:])) for v in bqm.variables if v[0] == "d"})
        assert TreeDecompositionSolver().sample(left).first.energy == pytest.approx(-scores[index], rel=1e-9)
        x = dn.qubo.qubo_vector(table, graph, dn.PAPER)
        assert bqm.energies((x, bqm.variables))[0] == pytest.approx(-scores[index], rel=1e-12)
        assert dn.qubo.result_value(bqm, x) == pytest.approx(x @ dn.qubo.qubo_matrix(bqm) @ x, rel=1e-9)


@pytest.mark.parametrize("seed", [*range(15), *(pytest.param(seed, marks=pytest.mark.slow) for seed in range(15, 200))])
def test_ground_state_and_exact_search_equal_brute_force(seed):
    check_against_brute_force(dn.scoring.score_table(random_data(4 + seed % 2, 150, seed), max_parents=2), seed)


@pytest.mark.parametrize("seed", [*range(15), *(pytest.param(seed, marks=pytest.mark.slow) for seed in range(15, 40))])
def test_ground_state_and_exact_search_equal_brute_force_for_random_scores(seed):
    check_against_brute_force(random_table(4 + seed % 2, 2, seed), seed)


@pytest.mark.parametrize("m", [0, 1])
@pytest.mark.parametrize("n", [2, 3, 4])
def test_ground_state_is_the_best_network_with_fewer_parents_or_variables(n, m):
    dags = all_dags(n)
    for seed in range(20):
        table = random_table(n, m, seed)
        bqm = dn.qubo.encode(table, dn.PAPER)
        ground = TreeDecompositionSolver().sample(bqm).first
        assert ground.energy == pytest.approx(-dag_scores(table, dags).max(), rel=1e-9)


def test_two_variables_get_a_larger_consistency_weight_than_in_the_paper():
    """With the weight of the paper, a cycle of two variables would be the ground state."""
    table = random_table(2, 1, seed=1)
    table.scores[:] = [-100.0, -10.0, -100.0, -10.0]
    penalties = qubos(table, dn.PAPER).penalties
    assert penalties.consistency.max() == pytest.approx(91.0)
    assert TreeDecompositionSolver().sample(dn.qubo.encode(table, dn.PAPER)).first.energy == pytest.approx(110.0)


def test_slack_is_zero_for_a_dag_with_more_parents_than_the_limit():
    truth = dn.load("waste")
    table = dn.scoring.score_table(truth.expected_data(10_000))
    bqm = dn.qubo.encode(table, dn.PAPER)
    x = dn.qubo.qubo_vector(table, truth.dag, dn.PAPER)
    slack = {label: value for label, value in zip(bqm.variables, x, strict=True) if label[0] == "y"}
    assert (slack["y", "DustEmission", 1], slack["y", "DustEmission", 2]) == (0, 0)
    assert (slack["y", "WasteType", 1], slack["y", "WasteType", 2]) == (0, 1)
    assert dn.qubo.result_value(bqm, x) < 0
    for label in (("y", "DustEmission", 1), ("y", "DustEmission", 2)):  # any slack has a higher energy
        worse = x.copy()
        worse[list(bqm.variables).index(label)] = 1
        assert dn.qubo.result_value(bqm, worse) > dn.qubo.result_value(bqm, x)


def test_polynomial_equals_minus_the_score_at_every_parent_set():
    table = random_table(5, 4, seed=2)
    weights = moebius(table)
    for child in range(5):
        entries = table.entries_of(child)
        masks = table.masks[entries, 0]
        inside = masks[None, :] & ~masks[:, None] == 0
        np.testing.assert_allclose(inside @ weights[entries], -table.scores[entries], rtol=1e-12)


def test_order_of_labels():
    bqm = dn.qubo.encode(dn.scoring.score_table(random_data(3, 50, seed=0)), dn.PAPER)
    assert list(bqm.variables)[:3] == [("d", "v0", "v1"), ("d", "v0", "v2"), ("d", "v1", "v0")]
    assert list(bqm.variables)[6:8] == [("y", "v0", 1), ("y", "v0", 2)]
    assert list(bqm.variables)[12:] == [("r", "v0", "v1"), ("r", "v0", "v2"), ("r", "v1", "v2")]
    with bqm.to_file() as file:
        again = dimod.BinaryQuadraticModel.from_file(file)
    assert list(again.variables) == list(bqm.variables)
    assert again.is_almost_equal(bqm)


def test_ising_energy_equals_qubo_energy():
    table = dn.scoring.score_table(random_data(3, 50, seed=0))
    bqm = dn.qubo.encode(table, dn.PAPER)
    h, j, offset = bqm.to_ising()
    x = dn.qubo.qubo_vector(table, dn.solvers.exact(table).dag, dn.PAPER)
    spin = dict(zip(bqm.variables, 2 * x - 1, strict=True))
    energy = offset + sum(h[v] * spin[v] for v in h) + sum(b * spin[u] * spin[v] for (u, v), b in j.items())
    assert energy == pytest.approx(-dn.solvers.exact(table).score, rel=1e-12)


def test_invalid_problems_and_settings_of_the_papers_encoding():
    data = random_data(5, 50, seed=0)
    with pytest.raises(dn.InputError, match="at most 2 parents, not 3"):
        dn.qubo.encode(dn.scoring.score_table(data, max_parents=3), dn.PAPER)
    with pytest.raises(dn.InputError, match="penalties='none'"):
        dn.Encoding("none")
    with pytest.raises(dn.InputError, match="too small for chordal"):
        dn.Encoding("paper", "chordal")


@pytest.mark.slow
@given(st.integers(0, 10**6), st.integers(2, 6))
def test_every_state_decodes_to_a_dag_that_is_not_worse_than_the_raw_read(seed, n):
    rng = np.random.default_rng(seed)
    table = random_table(n, min(2, n - 1), seed)
    bqm = dn.qubo.encode(table, dn.PAPER)
    density = rng.random()
    samples = (rng.random((20, bqm.num_variables)) < density).astype(np.int8)
    reads = dn.qubo.decode(table, dimod.SampleSet.from_samples_bqm((samples, bqm.variables), bqm))
    for read in range(20):
        raw = reads.raw_graph(read)
        repaired = reads.repaired_dag(read)
        assert table.score(repaired) == pytest.approx(reads.repaired_scores[read], rel=1e-12)
        try:
            score = table.score(raw)
        except dn.InputError:
            assert not reads.feasible[read]
        else:
            assert reads.raw_scores[read] == pytest.approx(score, rel=1e-12)
            assert reads.repaired_scores[read] >= score - 1e-9


def test_decoding_uses_the_order_variables_if_the_edges_have_a_cycle():
    table = random_table(3, 2, seed=0)
    bqm = dn.qubo.encode(table, dn.PAPER)
    sample = dict.fromkeys(bqm.variables, 0)
    sample |= {("d", "v0", "v1"): 1, ("d", "v1", "v2"): 1, ("d", "v2", "v0"): 1}  # a cycle
    sample |= {("r", "v0", "v2"): 1, ("r", "v0", "v1"): 0, ("r", "v1", "v2"): 1}  # v1 before v0 before v2
    reads = dn.qubo.decode(table, dimod.SampleSet.from_samples_bqm(sample, bqm))
    assert reads.orders[0].tolist() == [1, 0, 2]
    assert not reads.feasible[0]
    spins = dn.qubo.decode(table, dimod.SampleSet.from_samples_bqm(sample, bqm).change_vartype("SPIN", inplace=False))
    assert spins.orders[0].tolist() == [1, 0, 2]


def test_decoding_samples_of_another_model_is_an_error():
    bqm = dimod.BinaryQuadraticModel({"a": 1.0}, {}, 0.0, "BINARY")
    with pytest.raises(dn.InputError, match="the samples contain 'a'"):
        dn.qubo.decode(random_table(3, 2, seed=0), dimod.ExactSolver().sample(bqm))


def test_samples_survive_saving_and_reading(tmp_path):
    from dwave.samplers import PathIntegralAnnealingSampler, SimulatedAnnealingSampler

    table = dn.scoring.score_table(random_data(3, 50, seed=0))
    for sampler in (SimulatedAnnealingSampler(), PathIntegralAnnealingSampler()):
        samples = sampler.sample(dn.qubo.encode(table, dn.PAPER), num_reads=5, seed=1)
        dn.qubo.write_samples(samples, tmp_path / "samples.json")
        again = dn.qubo.read_samples(tmp_path / "samples.json")
        assert again == samples
        assert np.array_equal(dn.qubo.decode(table, again).repaired_scores, dn.qubo.decode(table, samples).repaired_scores)
    (tmp_path / "no.json").write_text("{}")
    for bad in ("no.json", "missing.json"):
        with pytest.raises(dn.InputError):
            dn.qubo.read_samples(tmp_path / bad)


@pytest.mark.parametrize("ending", ["bqm", "coo", "npz"])
@pytest.mark.parametrize("vartype", ["BINARY", "SPIN"])
def test_other_readers_restore_the_exported_model(tmp_path, ending, vartype):
    import json

    from dimod.serialization import coo

    from dagneal.qubo.export import write_model

    bqm = dn.qubo.encode(dn.scoring.score_table(random_data(4, 50, seed=0))).change_vartype(vartype, inplace=False)
    path = tmp_path / f"model.{ending}"
    write_model(bqm, path)
    if ending == "bqm":
        again = dimod.BinaryQuadraticModel.from_file(path.read_bytes())
    elif ending == "coo":
        again = coo.loads(path.read_text())
        again.relabel_variables(dict(enumerate(bqm.variables)))
        again.offset += bqm.offset
    else:
        arrays = np.load(path)
        again = dimod.BinaryQuadraticModel(str(arrays["vartype"]))
        labels = [tuple(json.loads(label)) for label in arrays["labels"]]
        for i, j, value in zip(arrays["row"], arrays["column"], arrays["value"], strict=True):
            if i == j:
                again.add_linear(labels[i], value)
            else:
                again.add_quadratic(labels[i], labels[j], value)
        again.offset = float(arrays["offset"])
    assert again == bqm
