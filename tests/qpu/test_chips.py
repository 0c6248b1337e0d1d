"""Test chips, embeddings, packing and tiling offline, on Ocean's mock of a complete chip."""

import json
from functools import lru_cache
from itertools import combinations
from math import comb

import dimod
import networkx as nx
import numpy as np
import pytest
from dwave.samplers import SimulatedAnnealingSampler
from dwave.system.testing import MockDWaveSampler
from hypothesis import given, strategies as st

import dagneal as dn
from dagneal.qpu import chips
from dagneal.qpu.backend import LocalBackend
from dagneal.qpu.embedding import clique_embedding, embedding_error, find_embedding, qubo_graph, working_graph
from dagneal.qpu.emulator import emulated
from dagneal.qpu.pack import Copy, Ising, Ranges, pack, zephyr_halves
from dagneal.qpu.plan import subproblem_graph
from dagneal.qpu.sampler import QPU
from dagneal.qpu.tiling import check_copies, find_copies
from dagneal.qubo.decode import decode_spins
from dagneal.qubo.encode import qubos
from support.quantum import NO_DELAY, small_chip
from support.solving import solve


@pytest.fixture(scope="module")
def mock():
    """Return Ocean's mock of a complete Advantage chip, with simulated annealing instead of the weak steepest descent."""
    return MockDWaveSampler(
        topology_type="pegasus",
        topology_shape=[16],
        substitute_sampler=SimulatedAnnealingSampler(),
        substitute_kwargs={"num_sweeps": 100},
        parameter_warnings=False,
    )


@pytest.fixture(scope="module")
def alarm():
    return dn.scoring.score_table(dn.load("alarm-15").expected_data(10_000))


# Chips


def _ocean_solver(timing):
    from dwave.cloud.solver import StructuredSolver
    from dwave.cloud.testing.mocks import qpu_pegasus_solver_data

    data = qpu_pegasus_solver_data(4)
    data["properties"]["problem_timing_data"] = timing
    return StructuredSolver(client=None, data=data)


def _timing_data(model, readout_thermalization=0.0):
    from dwave.cloud.testing.mocks import qpu_problem_timing_data

    timing = dict(qpu_problem_timing_data("advantage"), default_readout_thermalization=readout_thermalization)
    if model == "pwl_linear":
        points = 10.0 ** np.array(timing["readout_time_model_parameters"])
        timing |= {"readout_time_model": model, "readout_time_model_parameters": points.tolist()}
    return timing


@pytest.mark.parametrize("model", ["pwl_log_log", "pwl_linear"])
@pytest.mark.parametrize("thermalization", [0.0, 37.5])
def test_access_times_match_ocean(model, thermalization):
    timing = _timing_data(model, thermalization)
    solver, ours = _ocean_solver(timing), chips.Timing.of(timing)
    for qubits in (1, 2, 15, 60, 400, 1000, 3375, 5600, 5760):
        for reads, annealing in ((1, 2000.0), (10, 99.0), (100, 20.0), (1000, 0.5)):
            ocean = solver.estimate_qpu_access_time(qubits, num_reads=reads, annealing_time=annealing)
            assert ours.access_time(qubits, reads, annealing) == pytest.approx(ocean, rel=1e-9)
            again = chips.Timing.of(ours.to_dict())
            assert again.access_time(qubits, reads, annealing) == pytest.approx(ocean, rel=1e-9)
    with pytest.raises(dn.InputError, match="readout_time_model is 'cubic'"):
        chips.Timing.of(timing | {"readout_time_model": "cubic"})


def test_access_times_of_advantage_system4_match_ocean():
    solver = _ocean_solver(_timing_data("pwl_log_log"))
    for qubits, reads, annealing in [(15, 100, 20.0), (60, 1000, 1.0), (400, 10, 99.0), (3375, 1000, 20.0)]:
        ocean = solver.estimate_qpu_access_time(qubits, num_reads=reads, annealing_time=annealing)
        ours = chips.SYSTEMS["Advantage_system4"].timing.access_time(qubits, reads, annealing)
        assert ours == pytest.approx(ocean, rel=1e-3)


@pytest.mark.parametrize(
    ("topology", "shape", "qubits", "couplers"),
    [("pegasus", (16,), 5640, 40484), ("zephyr", (12,), 4800, 45864), ("chimera", (16,), 2048, 6016)],
)
def test_chip_graphs_have_the_documented_size(topology, shape, qubits, couplers):
    graph = chips.chip_graph(topology, shape)
    assert (graph.number_of_nodes(), graph.number_of_edges()) == (qubits, couplers)


def test_a_missing_extra_gives_an_error_with_the_install_command(monkeypatch):
    monkeypatch.setattr(chips, "_present", lambda name: name != "minorminer")
    with pytest.raises(dn.InputError, match=r"needs minorminer; run: pip install 'dagneal\[qpu\]'"):
        emulated("zephyr")
    with pytest.raises(dn.InputError, match="unknown system 'abacus'"):
        chips.find_system("abacus")


# Embeddings


def test_embeddings_are_valid_and_errors_are_described():
    source = subproblem_graph(4, 2, dn.PAPER)
    target = chips.chip_graph("pegasus", (4,))
    chains = find_embedding(source, target)
    assert embedding_error(chains, source, target) == ""
    assert embedding_error(clique_embedding(source, target), source, target) == ""
    dead = target.copy()
    dead.remove_node(chains[5][0])
    assert embedding_error(chains, source, dead) == f"qubit {chains[5][0]} does not work"
    assert "no qubit" in embedding_error({**chains, 3: ()}, source, target)
    assert "used twice" in embedding_error({**chains, 3: chains[5]}, source, target)
    free = [q for q in target if all(q not in chain for chain in chains.values())]
    far = max(free, key=lambda q: nx.shortest_path_length(target, q, chains[3][0]))
    assert "not connected" in embedding_error({**chains, 3: (*chains[3], far)}, source, target)
    assert "not coupled" in embedding_error({**chains, 3: (far,)}, source, target)
    with pytest.raises(dn.InputError, match="do not fit on this chip"):
        clique_embedding(nx.complete_graph(100), target)


@pytest.mark.parametrize("broken", [(), (0, 1, 2)])
def test_cliques_are_embedded_on_the_working_qubits_of_a_sampler(broken):
    target = working_graph(small_chip(broken=broken))
    source = nx.complete_graph(12)
    assert embedding_error(clique_embedding(source, target), source, target) == ""


def test_cliques_are_not_embedded_on_chips_of_unknown_topology():
    with pytest.raises(dn.InputError, match="do not fit"):
        clique_embedding(nx.complete_graph(5), nx.grid_2d_graph(2, 2))


def test_a_stale_or_damaged_embedding_is_replaced_with_a_note(tmp_path):
    table = dn.scoring.score_table(dn.load("lung-cancer").expected_data(10_000))
    bqm = dn.qubo.encode(table)
    first = QPU(LocalBackend(small_chip(), "chip"), cache=tmp_path, retry=NO_DELAY)
    first.sample(bqm, num_reads=5, seed=1)
    assert first.notes == []
    (path,) = (tmp_path / "embeddings").iterdir()
    stored = json.loads(path.read_text())["embeddings"][0]
    again = QPU(LocalBackend(small_chip(), "chip"), cache=tmp_path)
    again.sample(bqm, num_reads=5, seed=1)
    assert again.notes == []
    assert json.loads(path.read_text())["embeddings"][0] == stored
    dead = stored[0][0]  # this qubit dies, but the chip keeps its name
    stale = QPU(LocalBackend(small_chip(broken=[dead]), "chip"), cache=tmp_path)
    stale.sample(bqm, num_reads=5, seed=1)
    assert stale.notes == [f"{path}: qubit {dead} does not work; searched for a new embedding"]
    assert dead not in {q for chain in json.loads(path.read_text())["embeddings"][0] for q in chain}
    path.write_text("{")
    damaged = QPU(LocalBackend(small_chip(), "chip"), cache=tmp_path)
    damaged.sample(bqm, num_reads=5, seed=1)
    assert damaged.notes == [f"{path}: the file is damaged; searched for a new embedding"]


def test_the_sampler_uses_an_embedding_given_by_the_user(embeddings):
    bqm = dn.qubo.encode(dn.scoring.score_table(dn.load("lung-cancer").expected_data(10_000)))
    chip = small_chip(noise=0.0)
    graph = LocalBackend(chip, "chip").graph
    names = list(bqm.variables)
    _, (rows, columns, _), _ = bqm.to_numpy_vectors(variable_order=names)
    chains = find_embedding(qubo_graph(zip(rows, columns, strict=True), len(names)), graph, seed=5)
    own = {names[variable]: chain for variable, chain in chains.items()}
    sampler = QPU(LocalBackend(chip, "chip"), embedding=own, cache=embeddings)
    assert sampler.sample(bqm, num_reads=20, seed=1).info["qubits"] == sum(map(len, chains.values()))
    sampler = QPU(LocalBackend(chip, "chip"), embedding={**own, names[0]: ()}, cache=embeddings)
    with pytest.raises(dn.InputError, match="variable 0 has no qubit"):
        sampler.sample(bqm)


# Packing


@lru_cache
def embed_random_graph(seed):
    """Return the edges of a random graph, and copies of it with chains."""
    source = nx.gnp_random_graph(6, 0.7, seed=seed)
    edges = np.array(sorted(source.edges), dtype=np.int64).reshape(-1, 2)
    target = chips.chip_graph("chimera", (4,))
    copies = [Copy.of(chains, *edges.T, target) for chains in find_copies(source, target, "chimera", (4,))]
    return *edges.T, copies


@pytest.mark.slow
@given(st.integers(0, 10**6), st.integers(1, 3), st.booleans())
def test_packing_scales_each_problem(seed, count, reverse_spins):
    """With unbroken chains, the energy of a copy is a positive multiple of the energy of its problem, plus a constant."""
    rng = np.random.default_rng(seed)
    rows, columns, copies = embed_random_graph(seed % 5)
    copies = copies[:count]
    problems = Ising(rng.normal(size=(count, 6)), rng.normal(size=(count, len(rows))), rows, columns)
    ranges = Ranges()
    physical = pack(problems, copies, ranges, generator=np.random.default_rng(seed) if reverse_spins else None)
    linear, quadratic = physical.bqm.linear, physical.bqm.quadratic
    assert max(map(abs, linear.values())) <= ranges.field + 1e-9
    assert all(-ranges.chain - 1e-9 <= value <= ranges.coupling + 1e-9 for value in quadratic.values())
    states = 2 * rng.integers(0, 2, (count, 5, 6)) - 1
    values = {}
    for number, copy in enumerate(copies):
        for position, qubit in enumerate(copy.qubits):
            owner = copy.owner[position]
            values[int(qubit)] = states[number, :, owner] * physical.signs[number, owner]
    qubits = list(values)
    samples = np.array([values[q] for q in qubits]).T.astype(np.int8)
    spins, broken = physical.unpack(dimod.SampleSet.from_samples_bqm((samples, qubits), physical.bqm))
    assert np.array_equal(spins, states)
    assert not broken.any()
    for number, copy in enumerate(copies):
        own = physical.bqm.copy()
        own.remove_variables_from([q for q in physical.bqm.variables if q not in set(copy.qubits.tolist())])
        energies = own.energies((np.array([values[int(q)] for q in copy.qubits]).T, copy.qubits.tolist()))
        logical = states[number] @ problems.fields[number]
        logical = logical + (states[number][:, rows] * states[number][:, columns]) @ problems.couplings[number]
        if abs(logical[0] - logical[1]) > 1e-9:
            factor = (energies[0] - energies[1]) / (logical[0] - logical[1])
            assert factor > 0
            assert energies - energies[0] == pytest.approx(factor * (logical - logical[0]), abs=1e-9)


@pytest.mark.parametrize("rows", [2, 6])
def test_coupler_groups_match_ocean(rows):
    from dwave.system.coupling_groups import coupling_groups

    graph = chips.chip_graph("zephyr", (rows,))
    ours = {}
    for qubit in graph:
        neighbours = np.array(sorted(graph[qubit]))
        halves = zephyr_halves(np.full(len(neighbours), qubit), neighbours, (rows, 4))
        ours[qubit] = {frozenset(neighbours[halves == half].tolist()) for half in (0, 1)} - {frozenset()}
    oceans = {qubit: set() for qubit in graph}
    for group in filter(None, coupling_groups(graph)):
        oceans[group[0][1]].add(frozenset(neighbour for neighbour, _ in group))
    assert ours == oceans


@pytest.mark.parametrize("sign", [-1.0, 1.0])
@pytest.mark.parametrize("limits", [[-0.7, 0.3], [-13.0, 10.0]])
def test_couplings_stay_within_the_range_of_a_group(sign, limits):
    """A problem that uses all couplers of one qubit and its neighbours respects the limit of each of Ocean's groups."""
    from dwave.system.coupling_groups import coupling_groups

    graph = chips.chip_graph("zephyr", (2,))
    centre = max(graph, key=graph.degree)
    nodes = [centre, *graph[centre]]
    edges = np.array([(a, b) for a, b in combinations(range(len(nodes)), 2) if graph.has_edge(nodes[a], nodes[b])])
    copy = Copy.of({variable: (qubit,) for variable, qubit in enumerate(nodes)}, *edges.T, graph)
    properties = small_chip().properties | {"topology": {"type": "zephyr", "shape": [2]}}
    problem = Ising(np.zeros((1, len(nodes))), np.full((1, len(edges)), sign), *edges.T)
    bqm = pack(problem, [copy], Ranges.of(properties | {"per_group_coupling_range": limits})).bqm
    sums = [sum(bqm.quadratic.get(edge, 0.0) for edge in group) for group in coupling_groups(graph)]
    largest = max(map(abs, bqm.quadratic.values()))
    if limits[1] < 1:  # the limit of the group is reached exactly
        assert (max(sums) if sign > 0 else min(sums)) == pytest.approx(limits[sign > 0])
    else:  # ten couplings of 1 are within the limit
        assert largest == pytest.approx(1.0)
    assert limits[0] - 1e-9 <= min(sums) <= max(sums) <= limits[1] + 1e-9


def test_emulated_chips_have_coupling_limits():
    assert small_chip().properties["per_group_coupling_range"] == [-13.0, 10.0]
    assert Ranges.of(small_chip().properties).per_group == (-13.0, 10.0)
    assert Ranges.of(chips.SYSTEMS["Advantage_system4"].properties).per_qubit == (-18.0, 15.0)


def test_broken_chains_take_the_majority_value():
    target = chips.chip_graph("chimera", (2,))
    chains = {0: (0, 4, 1), 1: (5,)}
    copy = Copy.of(chains, np.array([0]), np.array([1]), target)
    physical = pack(Ising(np.zeros((1, 2)), np.ones((1, 1)), np.array([0]), np.array([1])), [copy], Ranges())
    samples = dimod.SampleSet.from_samples_bqm({0: 1, 4: -1, 1: 1, 5: -1}, physical.bqm)
    spins, broken = physical.unpack(samples)
    assert spins[0].tolist() == [[1, -1]]
    assert broken.tolist() == [[0.5]]


def test_chain_strengths_match_ocean():
    from dwave.embedding.chain_strength import uniform_torque_compensation

    bqm = dn.qubo.encode(dn.scoring.score_table(dn.load("waste").expected_data(10_000)), dn.PAPER)
    names = list(bqm.variables)
    linear, (rows, columns, quadratic), _ = bqm.to_numpy_vectors(variable_order=names)
    problem = Ising.of(linear[None], rows, columns, quadratic[None])
    assert problem.chain_strengths(1.414)[0] == pytest.approx(uniform_torque_compensation(bqm.spin), rel=1e-9)


# Tiling


@pytest.mark.slow
def test_copies_are_disjoint_and_valid_and_avoid_dead_qubits():
    source = subproblem_graph(3, 2, dn.PAPER)
    ideal = chips.chip_graph("pegasus", (16,))
    rng = np.random.default_rng(0)
    working = ideal.copy()
    working.remove_nodes_from(rng.choice(sorted(ideal), len(ideal) // 100, replace=False).tolist())
    complete, damaged = (find_copies(source, graph, "pegasus", (16,)) for graph in (ideal, working))
    assert len(complete) >= 225
    assert 0.7 * len(complete) < len(damaged) < len(complete)
    assert check_copies(complete, source, ideal) == (complete, "")
    assert check_copies(damaged, source, working) == (damaged, "")
    valid, error = check_copies(complete, source, working)
    assert 0 < len(valid) < len(complete)
    assert "does not work" in error


@pytest.mark.slow
@pytest.mark.parametrize(("size", "most"), [(3, 3), (4, 13)])
def test_all_subproblems_of_alarm_need_few_calls(size, most, alarm, mock, embeddings):
    qpu = QPU(LocalBackend(mock, "mock P16"), cache=embeddings)
    solver = dn.Anneal(qpu, num_reads=20, encoding=dn.PAPER)
    solution = solve(alarm, dn.Divide(solver, size=size, combine="penalty"), seed=1)
    assert solution.division.finished == comb(15, size)
    assert qpu.submitter.submitted <= most
    assert solution.division.solver == "QPU"


@pytest.mark.slow
def test_tiling_does_not_change_the_success_rate(alarm, embeddings):
    """In each of 50 subproblems, tiled and separate calls find the optimum equally often (Fisher's test, Holm's correction).

    There is no control error: all reads of a call would share it, so they would not be independent.
    """
    from scipy.stats import fisher_exact

    subproblems = alarm.gather(list(combinations(range(15), 3))[::9][:50])
    encoded = qubos(subproblems, dn.PAPER)
    reads = 400
    qpu = emulated("pegasus", noise=0.0, cache=embeddings)
    copies = qpu.copies(encoded.rows, encoded.columns, encoded.layout.num_variables, "copies")
    best = [dn.solvers.exact(subproblems.table(line)).score for line in range(50)]

    def hits(lines, seed):
        problems = Ising.of(encoded.linear[lines], encoded.rows, encoded.columns, encoded.quadratic[lines])
        spins, _, _ = qpu.reads(problems, copies, {"num_reads": reads, "annealing_time": 2.0}, 1.414, seed)
        counts = []
        for position, line in enumerate(lines):
            scores = decode_spins(subproblems.table(line), encoded, line, spins[position]).raw_scores
            counts.append(int((np.abs(scores - best[line]) < 1e-6).sum()))
        return np.array(counts)

    together = hits(list(range(50)), 1)
    alone = np.concatenate([hits([line], 100 + line) for line in range(50)])
    values = sorted(fisher_exact([[a, reads - a], [b, reads - b]])[1] for a, b in zip(together, alone, strict=True))
    assert all(p * (50 - rank) > 0.01 for rank, p in enumerate(values))
    assert 0 < together.sum() < 50 * reads  # some reads hit the optimum, others miss it
    assert abs(together.sum() - alone.sum()) < 0.05 * (together.sum() + alone.sum())
