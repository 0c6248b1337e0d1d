"""Test fast annealing with an ancilla, and reverse annealing from a network."""

import json
from itertools import combinations

import dimod
import networkx as nx
import numpy as np
import pytest
from dwave.samplers import SimulatedAnnealingSampler

import dagneal as dn
from dagneal.cli import main
from dagneal.qpu.chips import chip_graph
from dagneal.qpu.embedding import embedding_error, find_embedding, qubo_graph
from dagneal.qpu.emulator import emulated
from dagneal.qpu.pack import Ising, Ranges, pack, remove_ancilla
from dagneal.qpu.sampler import QPU
from dagneal.qubo.encode import nearest_vector, qubos
from dagneal.solvers.initial_states import edges_of
from support.quantum import small_chip
from support.recording import recording_backend
from support.solving import solve

REVERSE = [[0.0, 1.0], [5.0, 0.45], [15.0, 0.45], [20.0, 1.0]]


@pytest.fixture(scope="module")
def table():
    return dn.scoring.score_table(dn.load("lung-cancer").expected_data(10_000))


# Fast annealing


def test_an_ancilla_replaces_the_fields():
    """Both values of the ancilla give the same energies as the problem with fields."""
    generator = np.random.default_rng(3)
    rows, columns = np.array(list(combinations(range(5), 2))).T
    problem = Ising(generator.normal(size=(2, 5)), generator.normal(size=(2, 10)), rows, columns)
    other = problem.with_ancilla()
    assert not other.fields.any()
    states = (2 * generator.integers(0, 2, (40, 6)) - 1).astype(np.int8)
    logical = remove_ancilla(states)
    for number in range(2):
        with_fields = logical @ problem.fields[number]
        with_fields = with_fields + (logical[:, rows] * logical[:, columns]) @ problem.couplings[number]
        without = (states[:, other.rows] * states[:, other.columns]) @ other.couplings[number]
        assert without == pytest.approx(with_fields)


@pytest.mark.parametrize("spin_reversal", [True, False])
def test_a_fast_anneal_has_no_linear_terms(spin_reversal, table, embeddings):
    backend, recorder = recording_backend(noise=0.0, cold=20.0)
    qpu = QPU(backend, spin_reversal=spin_reversal, cache=embeddings)
    bqm = dn.qubo.encode(table)
    samples = qpu.sample(bqm, num_reads=100, seed=5, fast_anneal=True, annealing_time=0.01)
    ((sent, parameters),) = recorder.sent
    assert not any(sent.linear.values())
    ranges = Ranges.of(backend.properties)
    assert all(-ranges.chain - 1e-9 <= value <= ranges.coupling + 1e-9 for value in sent.quadratic.values())
    assert (parameters["fast_anneal"], parameters["annealing_time"]) == (True, 0.01)
    # The reads belong to the model: the energies are right, and the ground state is found.
    assert set(samples.variables) == set(bqm.variables)
    assert np.allclose(samples.record.energy, bqm.energies(samples))
    assert samples.first.energy == pytest.approx(-dn.solvers.exact(table).score)
    # Flux biases hold the ancilla, one chain, at the value of the spin-reversal transform.
    biases = np.array(parameters["flux_biases"])
    held = np.flatnonzero(biases)
    assert len(biases) == backend.properties["num_qubits"]
    assert nx.is_connected(backend.graph.subgraph(held.tolist()))
    assert set(np.abs(biases[held])) == {0.005}
    assert len(set(biases[held])) == 1
    assert set(held.tolist()) <= set(sent.variables)


def test_a_flipped_ancilla_flips_the_read(table, embeddings):
    """A read and the read with all qubits flipped are the same read of the model."""

    class Flipping:
        def __init__(self, chip):
            self.chip = chip
            self.nodelist, self.edgelist, self.parameters = chip.nodelist, chip.edgelist, chip.parameters
            self.properties = chip.properties

        def sample(self, bqm, **parameters):
            answer = self.chip.sample(bqm, **parameters)
            answer.record.sample[::2] *= -1
            return answer

    bqm = dn.qubo.encode(table)
    backend, recorder = recording_backend()
    call = {"num_reads": 20, "seed": 5, "fast_anneal": True}
    plain = QPU(backend, cache=embeddings).sample(bqm, **call)
    backend.sampler = Flipping(recorder)
    recorder.sent.clear()
    flipped = QPU(backend, cache=embeddings).sample(bqm, **call)
    assert np.array_equal(flipped.record.sample, plain.record.sample)


def test_fast_reads_have_the_distribution_of_the_problem(embeddings):
    """At the temperature of the emulator, each state of the model is about as frequent as in reads with fields."""
    backend, _ = recording_backend(noise=0.0, cold=1.0)
    qpu = QPU(backend, cache=embeddings, chain_strength=0.1)  # the triangle below needs no chains
    bqm = dimod.BinaryQuadraticModel({"a": 0.5, "b": -0.3}, {("a", "b"): 0.4}, 0.0, "SPIN")

    def frequencies(**more):
        samples = qpu.sample(bqm, num_reads=4000, seed=1, **more)
        assert samples.info["qubits"] == 2 + bool(more)
        ones = samples.record.sample[:, [samples.variables.index(name) for name in "ab"]] > 0
        return np.bincount(ones @ [1, 2], minlength=4) / 4000

    # Fields are scaled to at most 4 with h, and to at most 1 as couplings; here the largest value is 0.5 in both.
    weights = np.array([np.exp(-bqm.energy({"a": a, "b": b}) / 0.5) for b in (-1, 1) for a in (-1, 1)])
    assert frequencies(fast_anneal=True) == pytest.approx(weights / weights.sum(), abs=0.03)


def test_a_model_without_fields_needs_no_ancilla(embeddings):
    backend, recorder = recording_backend()
    bqm = dimod.BinaryQuadraticModel({0: 0.0, 1: 0.0, 2: 0.0}, {(0, 1): 1.0, (1, 2): -1.0}, 0.0, "SPIN")
    samples = QPU(backend, cache=embeddings).sample(bqm, num_reads=5, fast_anneal=True)
    ((sent, parameters),) = recorder.sent
    assert len(sent.variables) == samples.info["qubits"] == 3
    assert "flux_biases" not in parameters


def test_subproblems_are_solved_with_fast_anneals(embeddings):
    """Each subproblem of a call has its own ancilla. The reads with the lowest energy are nearly all optimal."""
    backend, recorder = recording_backend(noise=0.0, cold=20.0)
    table = dn.scoring.score_table(dn.load("waste").expected_data(10_000))
    subproblems = table.gather(np.array(list(combinations(range(9), 3))))
    qpu = QPU(backend, cache=embeddings)
    solver = qpu.subproblem_solver({"num_reads": 100, "fast_anneal": True}, False, 1, dn.PAPER)
    scores = solver.solve_many(subproblems).scores
    optima = np.array([dn.solvers.exact(subproblems.table(line)).score for line in range(84)])
    assert np.isclose(scores, optima, atol=1e-6).mean() > 0.9
    assert 1 < len(recorder.sent) < 84
    assert all(not any(sent.linear.values()) for sent, _ in recorder.sent)


def test_an_embedding_of_the_user_needs_a_chain_for_the_ancilla(table, embeddings):
    backend, recorder = recording_backend()
    bqm = dimod.BinaryQuadraticModel({"a": 1.0, "b": 1.0}, {("a", "b"): 1.0}, 0.0, "SPIN")
    graph = backend.graph
    a = min(graph)
    b = min(graph[a])
    c = min(set(graph[a]) & set(graph[b]))
    own = {"a": [a], "b": [b]}
    with pytest.raises(dn.InputError, match="the embedding has no qubits for 'ancilla'"):
        QPU(backend, embedding=own, cache=embeddings).sample(bqm, fast_anneal=True)
    QPU(backend, embedding=own | {"ancilla": [c]}, cache=embeddings).sample(bqm, num_reads=3, fast_anneal=True)
    assert set(recorder.sent[0][0].variables) == {a, b, c}


# Reverse annealing


def logical_values(sent, state, qpu, bqm, seed):
    """Return the value of each variable in an initial state of qubits, and check the qubits that are not in use.

    The spin-reversal transform is computed anew from the seed.
    """
    names = list(bqm.variables)
    linear, (rows, columns, quadratic), _ = bqm.to_numpy_vectors(variable_order=names)
    (copy,) = qpu.copies(rows, columns, len(names))
    problem = Ising.of(linear[None], rows, columns, quadratic[None])
    signs = pack(problem, [copy], qpu.ranges, qpu.chain_strength, np.random.default_rng(seed)).signs[0]
    assert set(sent.variables) == set(copy.qubits.tolist())
    assert all(value == 3 for qubit, value in enumerate(state) if qubit not in set(copy.qubits.tolist()))
    chains = [copy.qubits[copy.owner == variable] for variable in range(len(names))]
    spins = [{state[qubit] * signs[variable] for qubit in chain} for variable, chain in enumerate(chains)]
    assert all(len(values) == 1 for values in spins)  # no chain is broken
    return np.array([(spin.pop() + 1) // 2 for spin in spins])


@pytest.mark.parametrize("encoding", [dn.PAPER, dn.TIGHT], ids=["paper", "tight"])
@pytest.mark.parametrize("kind", ["graph", "network", "edges", "result"])
def test_the_initial_state_is_the_vector_of_the_network(kind, encoding, table, embeddings):
    network = dn.load("lung-cancer")
    forms = {
        "graph": network.dag,
        "network": network,
        "edges": [tuple(edge) for edge in network.dag.edges],
        "result": dn.learn(network.expected_data(10_000), "exact", max_parents=2),
    }
    backend, recorder = recording_backend()
    qpu = QPU(backend, cache=embeddings)
    parameters = {"anneal_schedule": REVERSE, "initial_state": forms[kind], "reinitialize_state": False}
    solver = dn.Anneal(qpu, num_reads=5, direct=True, encoding=encoding, parameters=parameters)
    solve(table, solver, seed=7)
    ((sent, call),) = recorder.sent
    bqm = dn.qubo.encode(table, encoding)
    expected = dn.qubo.qubo_vector(table, getattr(forms[kind], "dag", network.dag), encoding)
    assert np.array_equal(logical_values(sent, call["initial_state"], qpu, bqm, 7), expected)
    assert bqm.energies((expected, bqm.variables))[0] == pytest.approx(-table.score(network.dag))
    assert (call["anneal_schedule"], call["reinitialize_state"]) == (REVERSE, False)
    assert len(call["initial_state"]) == backend.properties["num_qubits"]


def test_the_state_has_the_format_of_the_cloud_client(table, embeddings):
    """Ocean's client makes the same list from a dict of qubits."""
    from dwave.cloud.solver import StructuredSolver

    backend, recorder = recording_backend()
    bqm = dn.qubo.encode(table)
    state = dict.fromkeys(bqm.variables, 1)
    QPU(backend, cache=embeddings).sample(bqm, num_reads=2, anneal_schedule=REVERSE, initial_state=state)
    ((sent, call),) = recorder.sent
    qubits = {qubit: call["initial_state"][qubit] for qubit in sent.variables}
    ocean = StructuredSolver.reformat_parameters("ising", {"initial_state": qubits}, backend.properties)
    assert call["initial_state"] == ocean["initial_state"]


def test_each_subproblem_starts_from_its_part_of_the_network(embeddings):
    network = dn.load("waste")
    table = dn.scoring.score_table(network.expected_data(1_000))
    subproblems = table.gather(np.array(list(combinations(range(9), 3))))
    backend, recorder = recording_backend()
    qpu = QPU(backend, cache=embeddings, spin_reversal=False)
    parameters = {"num_reads": 2, "anneal_schedule": REVERSE, "initial_state": edges_of(network)}
    solver = qpu.subproblem_solver(parameters, True, 1, dn.PAPER)
    solver.solve_many(subproblems)
    encoded = qubos(subproblems, solver.encoding)
    copies = qpu.copies(encoded.rows, encoded.columns, encoded.layout.num_variables, many=True)
    line = 0
    for _, call in recorder.sent:
        state = np.array(call["initial_state"])
        used = 0
        for copy in copies[: len(subproblems.members) - line]:
            small = subproblems.table(line)
            part = nx.DiGraph(network.dag.subgraph(small.names))
            part = nx.DiGraph([(a, b) for a, b in network.dag.edges if a in part and b in part])
            part.add_nodes_from(small.names)
            values = (state[copy.qubits[copy.starts]] + 1) // 2
            edges = {
                (small.names[a], small.names[b])
                for a, b in np.argwhere(encoded.layout.d >= 0)
                if values[encoded.layout.d[a, b]]
            }
            assert edges == set(part.edges)
            full = nx.DiGraph(network.dag)
            assert np.array_equal(values, nearest_vector(small, encoded.layout, full, solver.encoding))
            line, used = line + 1, used + len(copy.qubits)
        assert (state != 3).sum() == used
    assert line == 84


def test_the_state_of_a_part_of_a_network_follows_the_order_of_all_variables():
    """b descends from a through c, which is not in the table. So a comes before b, although no edge says so."""
    graph = nx.DiGraph([("b", "c"), ("c", "a"), ("a", "d")])
    table = dn.scoring.score_table(dn.load("waste").expected_data(100))
    names = dict(zip(("a", "b", "c", "d"), table.names[:4], strict=True))
    graph = nx.relabel_nodes(graph, names)
    small = table.gather(np.array([[0, 1, 3]])).table(0)
    layout = qubos(small, dn.PAPER).layout
    x = nearest_vector(small, layout, graph, dn.PAPER)
    position = small.position
    assert x[layout.d[position[names["a"]], position[names["d"]]]] == 1
    assert x[[index for index in layout.d.ravel() if index >= 0]].sum() == 1
    a, b = position[names["a"]], position[names["b"]]
    assert x[layout.r[a, b]] == 0  # a is not before b


def test_a_run_with_subproblems_and_windows_starts_from_a_network(embeddings):
    backend, recorder = recording_backend()
    network = dn.load("waste")
    parameters = {"anneal_schedule": REVERSE, "initial_state": network.dag}
    solver = dn.Anneal(QPU(backend, cache=embeddings), num_reads=10, parameters=parameters)
    result = dn.learn(network.expected_data(1_000), solver, seed=1)
    assert result.division.global_solves >= 1
    assert all(len(call["initial_state"]) == backend.properties["num_qubits"] for _, call in recorder.sent)


def test_an_initial_network_makes_a_fingerprint_and_can_be_stored(tmp_path, embeddings):
    """The text of a solver shows the edges, so a journal can tell initial networks apart."""
    network = dn.load("lung-cancer")
    parameters = {"anneal_schedule": REVERSE, "initial_state": network}
    solver = dn.Anneal("qpu-emulated", parameters=parameters)
    assert repr(solver) == repr(dn.Anneal("qpu-emulated", parameters=parameters | {"initial_state": network.dag}))
    assert "['Smoker', 'Cancer']" in repr(solver)
    qpu = emulated("Advantage2_system4", cache=embeddings)
    calls = []
    for _ in range(2):
        with dn.SqliteJournal(tmp_path / "run.db") as journal:
            solver = dn.Anneal(qpu, num_reads=5, parameters=parameters)
            result = dn.learn(network.expected_data(1_000), solver, run=dn.Run(1, journal=journal))
            calls.append((result.hardware.calls, result.edges))
    assert calls[0][1] == calls[1][1]


@pytest.mark.parametrize(
    ("state", "message"),
    [
        (nx.DiGraph([("Smoker", "Cancer"), ("Cancer", "Smoker")]), "initial_state has a cycle: "),
        ([("Smoker", "Lungs")], "initial_state has the variable 'Lungs', which the data do not have"),
        (nx.Graph([("Smoker", "Cancer")]), "; give a dict from each variable of the model to its value, or give a DAG"),
        ([1, -1, 3], "initial_state is [1, -1, 3]; give a dict from each variable of the model to its value, or give a "),
        ({("d", "Smoker", "Cancer"): 1}, "initial_state has no value for the variable "),
    ],
)
@pytest.mark.parametrize("direct", [True, False])
def test_invalid_initial_states_are_refused(state, message, direct, embeddings):
    backend, recorder = recording_backend()
    solver = dn.Anneal(
        QPU(backend, cache=embeddings),
        num_reads=5,
        direct=direct,
        parameters={"anneal_schedule": REVERSE, "initial_state": state},
    )
    with pytest.raises(dn.InputError) as caught:
        dn.learn(dn.load("lung-cancer").expected_data(1_000), solver)
    if direct or "network" not in str(caught.value):
        assert message in str(caught.value)
    else:
        assert "initial_state of subproblems must be a network" in str(caught.value)
    assert recorder.sent == []


def test_values_of_an_initial_state_are_checked(embeddings):
    backend, _ = recording_backend()
    bqm = dimod.BinaryQuadraticModel({"a": 1.0}, {}, 0.0, "SPIN")
    with pytest.raises(dn.InputError, match="initial_state has the value 2 for 'a'; give 0 or 1, or -1 or 1"):
        QPU(backend).sample(bqm, anneal_schedule=REVERSE, initial_state={"a": 2})


def test_other_samplers_get_the_values_of_the_variables(table):
    """A sampler such as Ocean's `EmbeddingComposite` gets a dict from each QUBO variable to its value."""

    class Reverse(SimulatedAnnealingSampler):
        def __init__(self):
            super().__init__()
            self.parameters = {"initial_state": [], "num_reads": []}

        def sample(self, bqm, num_reads=1, initial_state=None, **more):
            states.append((set(bqm.variables), initial_state))
            return super().sample(bqm, num_reads=num_reads)

    states = []
    network = dn.load("lung-cancer")
    sampler = Reverse()
    dn.solvers.anneal(table, sampler, num_reads=2, initial_state=network)
    ((labels, state),) = states
    x = dn.qubo.qubo_vector(table, network.dag)
    assert list(state.values()) == x.tolist()
    assert set(state) == labels
    states.clear()
    solver = dn.Divide(dn.Anneal(sampler, num_reads=2, parameters={"initial_state": network.dag}), combine="count")
    solve(table, solver)
    assert 1 < len(states) <= 10  # a QUBO without variables needs no call
    assert all(set(state) == labels for labels, state in states)


def test_the_command_line_reads_the_initial_network_from_a_file(monkeypatch, tmp_path, embeddings):
    backend, recorder = recording_backend()
    monkeypatch.setattr(dn.qpu.sampler, "connect", lambda **options: QPU(backend, cache=embeddings, **options))
    monkeypatch.chdir(tmp_path)
    network = dn.load("lung-cancer")
    network.sample(500, 1).frame().write_csv("lc.csv")
    dn.write_bif(network, "start.bif")
    states = []
    for start in ("start.bif", "lung-cancer", str([list(edge) for edge in network.dag.edges])):
        words = [
            *["learn", "lc.csv", "--solver", "qpu", "--reads", "5", "--quiet", "--set", "direct=true"],
            "--set",
            f"initial_state={start}",
        ]
        assert main([*words, "--set", "anneal_schedule=[[0,1],[5,0.4],[20,1]]"]) == 0
        states.append(recorder.sent[-1][1]["initial_state"])
    assert states[0] == states[1] == states[2]


# The emulator


@pytest.mark.parametrize("model", ["thermal", "spin-vectors"])
def test_the_emulator_anneals_in_reverse(model):
    """Without time to move, the reads are the initial state; after a deep reverse anneal they are not."""
    chip = small_chip(model=model, noise=0.0, **({"cold": 500.0} if model == "thermal" else {}))
    qubits = chip.nodelist[:40]
    generator = np.random.default_rng(1)
    bqm = dimod.BinaryQuadraticModel(
        dict.fromkeys(qubits, 0.0),
        {edge: generator.choice([-1.0, 1.0]) for edge in chip.edgelist if max(edge) <= qubits[-1]},
        0.0,
        "SPIN",
    )
    start = SimulatedAnnealingSampler().sample(bqm, num_reads=20, seed=1).first.sample
    state = [start.get(qubit, 3) for qubit in range(max(chip.nodelist) + 1)]

    def distance(schedule, **more):
        answer = chip.sample(bqm, num_reads=32, seed=3, anneal_schedule=schedule, initial_state=state, **more)
        return (answer.record.sample != [start[qubit] for qubit in answer.variables]).any(axis=1).mean()

    shallow, deep = [[0, 1], [1, 0.97], [2, 1]], [[0, 1], [5, 0], [15, 0], [20, 1]]
    assert distance(shallow) == 0.0
    assert distance(shallow, reinitialize_state=False) == 0.0
    assert distance(deep) > 0.8
    assert distance(deep, reinitialize_state=False) > 0.8
    with pytest.raises(dn.InputError, match=f"initial_state has the value 3 for qubit {qubits[0]}; give -1 or 1"):
        chip.sample(bqm, anneal_schedule=deep, initial_state=[3] * len(state))


class Walk:
    """A model of a chip whose reads are random. It records the initial state of each call of `anneal`."""

    noise = 0.0

    def __init__(self):
        self.initial = []

    def anneal(self, programmed, annealing_time, reads, seed, is_cancelled, path):
        self.initial.append(path.initial)
        return np.random.default_rng(seed).choice(np.array([-1, 1], dtype=np.int8), path.initial.shape)


@pytest.mark.parametrize("reinitialize", [True, False])
def test_a_read_starts_from_the_last_read_or_from_the_initial_state(reinitialize):
    model = Walk()
    chip = small_chip(model=model)
    qubits = chip.nodelist[:200]
    bqm = dimod.BinaryQuadraticModel(dict.fromkeys(qubits, 1.0), {}, 0.0, "SPIN")
    state = {qubit: (-1) ** number for number, qubit in enumerate(qubits)}
    call = {"num_reads": 12, "seed": 1, "anneal_schedule": REVERSE, "initial_state": state}
    answer = chip.sample(bqm, reinitialize_state=reinitialize, **call)
    given = [state[qubit] for qubit in answer.variables]
    reads, starts = answer.record.sample, np.concatenate(model.initial)
    assert len(np.unique(reads, axis=0)) == len(starts) == 12
    assert np.array_equal(starts, [given] * 12 if reinitialize else [given, *reads[:-1]])


@pytest.mark.parametrize("state", [{}, [1] * 7])
def test_an_initial_state_without_a_qubit_is_refused(state):
    bqm = dimod.BinaryQuadraticModel({7: 1.0}, {}, 0.0, "SPIN")
    with pytest.raises(dn.InputError, match="initial_state has no value for qubit 7; give -1 or 1"):
        small_chip().sample(bqm, anneal_schedule=REVERSE, initial_state=state)


@pytest.mark.parametrize("model", ["thermal", "spin-vectors"])
def test_a_linear_schedule_equals_the_annealing_time(model):
    chip = small_chip(model=model)
    edges = chip.edgelist[:300]
    bqm = dimod.BinaryQuadraticModel({}, dict.fromkeys(edges, 0.8), 0.0, "SPIN")
    means = [
        chip.sample(bqm, num_reads=200, seed=1, **call).record.energy.mean()
        for call in ({"annealing_time": 10.0}, {"anneal_schedule": [[0, 0], [10, 1]]})
    ]
    assert means[0] == pytest.approx(means[1], rel=0.01)


def test_a_pause_lowers_the_energy():
    chip = small_chip(model="spin-vectors", sweeps=30.0)
    bqm = dimod.BinaryQuadraticModel({}, {edge: (-1.0) ** sum(edge) for edge in chip.edgelist[:2000]}, 0.0, "SPIN")
    short, paused = (
        chip.sample(bqm, num_reads=32, seed=1, anneal_schedule=schedule).record.energy.mean()
        for schedule in ([[0, 0], [1, 1]], [[0, 0], [0.5, 0.4], [40.5, 0.4], [41, 1]])
    )
    assert paused < short


# Embeddings of the user on the emulator


@pytest.mark.parametrize("direct", [True, False])
def test_an_embedding_is_tested_on_the_emulator(direct, table, tmp_path, monkeypatch, embeddings, capsys):
    monkeypatch.setenv("DAGNEAL_CACHE", str(embeddings))
    monkeypatch.chdir(tmp_path)
    network = dn.load("lung-cancer")
    network.sample(1_000, 1).frame().write_csv("lc.csv")
    own = dn.scoring.score_table(dn.read("lc.csv"))
    bqm = dn.qubo.encode(own)
    names = list(bqm.variables)
    _, (rows, columns, _), _ = bqm.to_numpy_vectors(variable_order=names)
    source, target = qubo_graph(zip(rows, columns, strict=True), len(names)), chip_graph("zephyr", (6,))
    chains = find_embedding(source, target, seed=11)
    assert embedding_error(chains, source, target) == ""
    with open("own.json", "w") as file:
        json.dump([[names[variable], list(chain)] for variable, chain in chains.items()], file)
    words = [
        "learn",
        "lc.csv",
        "--solver",
        "qpu-emulated",
        "--reads",
        "20",
        "--json",
        "--quiet",
        "--set",
        "system=Advantage2_system4",
    ]
    status = main([*words, "--set", f"direct={direct}".lower(), "--set", "embedding=own.json"])
    output = capsys.readouterr()
    if not direct:
        assert status == 2
        assert "your own embedding works only without subproblems; add --set direct=true" in output.err
        return
    assert status == 0
    (call,) = json.loads(output.out)["hardware"]["log"]
    assert call["qubits"] == sum(map(len, chains.values()))
    given = {names[variable]: list(chain) for variable, chain in chains.items()}
    sampler = emulated("Advantage2_system4", embedding=given, cache=embeddings)
    assert sampler.sample(bqm, num_reads=3).info["qubits"] == call["qubits"]
    damaged = given | {names[0]: [5000]}
    with pytest.raises(dn.InputError, match=r"the embedding is not valid: qubit 5000 does not work"):
        emulated("Advantage2_system4", embedding=damaged, cache=embeddings).sample(bqm)


# The limits of Zephyr chips


def test_all_groups_of_a_call_stay_within_the_range(table, embeddings):
    """Tiled subproblems with chains and ancillas on a chip with defects respect the limit of each of Ocean's groups."""
    from dwave.system.coupling_groups import coupling_groups

    generator = np.random.default_rng(2)
    graph = chip_graph("zephyr", (6,)).copy()
    graph.remove_nodes_from(generator.choice(sorted(graph), 40, replace=False).tolist())
    backend, recorder = recording_backend(broken=sorted(set(chip_graph("zephyr", (6,))) - set(graph)))
    for limits in ([-13.0, 10.0], [-1.5, 0.8]):
        recorder.sent.clear()
        backend.properties["per_group_coupling_range"] = limits
        qpu = QPU(backend, cache=embeddings)
        larger = dn.scoring.score_table(dn.load("waste").expected_data(1_000))
        subproblems = larger.gather(np.array(list(combinations(range(9), 4))[:20]))
        for parameters in ({"num_reads": 1}, {"num_reads": 1, "fast_anneal": True}):
            qpu.subproblem_solver(parameters, True, 1, dn.PAPER).solve_many(subproblems)
        qpu.sample(dn.qubo.encode(table, dn.PAPER), num_reads=1)
        smallest, largest = [], []
        for sent, _ in recorder.sent:
            sums = [sum(sent.quadratic.get(edge, 0.0) for edge in group) for group in coupling_groups(graph)]
            assert limits[0] - 1e-9 <= min(sums) <= max(sums) <= limits[1] + 1e-9
            smallest.append(min(sums))
            largest.append(max(sums))
        if limits[1] < 1:  # the limit decides the scale of at least one problem
            assert min(smallest) == pytest.approx(limits[0]) or max(largest) == pytest.approx(limits[1])
