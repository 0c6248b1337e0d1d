"""The quantum annealer, offline: Ocean's mock on the full chip, faults, the emulator, plans."""

import json
import os
import signal
import subprocess
import sys
import threading
import time
from concurrent.futures import CancelledError
from functools import lru_cache
from itertools import combinations
from math import comb, isclose

import dimod
import networkx as nx
import numpy as np
import pytest
from dwave.samplers import SimulatedAnnealingSampler
from dwave.system.testing import MockDWaveSampler
from hypothesis import given, strategies as st

import dagneal as dn
from dagneal.qpu import chips
from dagneal.qpu.backend import LocalBackend, RefusedError, TransientError, UnknownProblemError
from dagneal.qpu.cloud import CloudBackend
from dagneal.qpu.embed import bit_graph, clique_embedding, fault, find_embedding
from dagneal.qpu.emulate import EmulatedChip, EmulatedQPU, emulated_qpu
from dagneal.qpu.pack import Copy, Ising, Ranges, packed
from dagneal.qpu.plan import block_graph, plan
from dagneal.qpu.sampler import QPU
from dagneal.qpu.submit import Line, Patience, split_reads
from dagneal.qpu.tile import check_copies, find_copies
from dagneal.qpu.tiled import TiledBlocks
from dagneal.qubo.decode import decode_spins
from dagneal.qubo.encode import qubos

AT_ONCE = Patience(pause=0.0, sleep=lambda _: None)


@pytest.fixture(scope="module")
def cache(tmp_path_factory):
    return tmp_path_factory.mktemp("embeddings")


@pytest.fixture(scope="module")
def mock():
    """Ocean's mock of a whole Advantage chip; simulated annealing in place of steepest descent, which says little."""
    return MockDWaveSampler(
        topology_type="pegasus",
        topology_shape=[16],
        substitute_sampler=SimulatedAnnealingSampler(),
        substitute_kwargs={"num_sweeps": 100},
        parameter_warnings=False,
    )


@pytest.fixture(scope="module")
def alarm():
    return dn.score_table(dn.load("alarm-15").expected(10_000))


def small_chip(**options):
    """An emulated chip with 1,202 qubits, quick to make."""
    return EmulatedChip("Advantage2_system4", **options)


# Chips


def test_access_times_are_those_of_ocean():
    from dwave.cloud.solver import StructuredSolver
    from dwave.cloud.testing.mocks import qpu_pegasus_solver_data, qpu_problem_timing_data

    timing = qpu_problem_timing_data("advantage")
    data = qpu_pegasus_solver_data(4)
    data["properties"]["problem_timing_data"] = timing
    solver = StructuredSolver(client=None, data=data)
    for qubits, reads, annealing in [
        (15, 100, 20.0),
        (60, 1000, 1.0),
        (400, 10, 99.0),
        (3375, 1000, 20.0),
        (5600, 1, 2000.0),
    ]:
        ocean = solver.estimate_qpu_access_time(qubits, num_reads=reads, annealing_time=annealing)
        assert chips.Timing.of(timing).access_time(qubits, reads, annealing) == pytest.approx(ocean, rel=1e-9)
        ours = chips.SYSTEMS["Advantage_system4"].timing.access_time(qubits, reads, annealing)
        assert ours == pytest.approx(ocean, rel=1e-3)


@pytest.mark.parametrize(
    ("topology", "shape", "qubits", "couplers"),
    [("pegasus", (16,), 5640, 40484), ("zephyr", (12,), 4800, 45864), ("chimera", (16,), 2048, 6016)],
)
def test_chips(topology, shape, qubits, couplers):
    graph = chips.chip_graph(topology, shape)
    assert (graph.number_of_nodes(), graph.number_of_edges()) == (qubits, couplers)


def test_without_the_extra_it_is_said_how_to_install_it(monkeypatch):
    monkeypatch.setattr(chips, "_present", lambda name: name != "minorminer")
    with pytest.raises(dn.InputError, match=r"needs minorminer: pip install 'dagneal\[qpu\]'"):
        emulated_qpu("zephyr")
    with pytest.raises(dn.InputError, match="no system 'abacus'"):
        chips.system_named("abacus")


# Embeddings


def test_embeddings_are_valid_and_faults_are_named():
    source = block_graph(4, 2, dn.PAPER)
    target = chips.chip_graph("pegasus", (4,))
    chains = find_embedding(source, target)
    assert fault(chains, source, target) == ""
    assert fault(clique_embedding(source, target), source, target) == ""
    dead = target.copy()
    dead.remove_node(chains[5][0])
    assert fault(chains, source, dead) == f"qubit {chains[5][0]} does not work"
    assert "no qubit" in fault({**chains, 3: ()}, source, target)
    assert "used twice" in fault({**chains, 3: chains[5]}, source, target)
    free = [q for q in target if all(q not in chain for chain in chains.values())]
    far = max(free, key=lambda q: nx.shortest_path_length(target, q, chains[3][0]))
    assert "not connected" in fault({**chains, 3: (*chains[3], far)}, source, target)
    assert "not coupled" in fault({**chains, 3: (far,)}, source, target)
    with pytest.raises(dn.InputError, match="do not fit on this chip"):
        clique_embedding(nx.complete_graph(100), target)


def test_a_stale_or_damaged_embedding_is_noticed_named_and_replaced(tmp_path):
    table = dn.score_table(dn.load("lung-cancer").expected(10_000))
    bqm = dn.encode(table)
    first = QPU(LocalBackend(small_chip(), "chip"), cache=tmp_path, patience=AT_ONCE)
    first.sample(bqm, num_reads=5, seed=1)
    assert first.notes == []
    (path,) = (tmp_path / "embeddings").iterdir()
    kept = json.loads(path.read_text())["embeddings"][0]
    again = QPU(LocalBackend(small_chip(), "chip"), cache=tmp_path)
    again.sample(bqm, num_reads=5, seed=1)
    assert again.notes == []
    assert json.loads(path.read_text())["embeddings"][0] == kept
    gone = kept[0][0]  # a qubit dies, though the chip still has its name
    stale = QPU(LocalBackend(small_chip(broken=[gone]), "chip"), cache=tmp_path)
    stale.sample(bqm, num_reads=5, seed=1)
    assert stale.notes == [f"{path}: qubit {gone} does not work; a new embedding was made"]
    assert gone not in {q for chain in json.loads(path.read_text())["embeddings"][0] for q in chain}
    path.write_text("{")
    damaged = QPU(LocalBackend(small_chip(), "chip"), cache=tmp_path)
    damaged.sample(bqm, num_reads=5, seed=1)
    assert damaged.notes == [f"{path}: damaged; a new embedding was made"]


def test_an_embedding_of_ones_own(cache):
    bqm = dn.encode(dn.score_table(dn.load("lung-cancer").expected(10_000)))
    chip = small_chip(noise=0.0)
    graph = LocalBackend(chip, "chip").graph
    names = list(bqm.variables)
    _, (rows, columns, _), _ = bqm.to_numpy_vectors(variable_order=names)
    chains = find_embedding(bit_graph(zip(rows, columns, strict=True), len(names)), graph, seed=5)
    own = {names[bit]: chain for bit, chain in chains.items()}
    sampler = QPU(LocalBackend(chip, "chip"), embedding=own, cache=cache)
    assert sampler.sample(bqm, num_reads=20, seed=1).info["qubits"] == sum(map(len, chains.values()))
    sampler = QPU(LocalBackend(chip, "chip"), embedding={**own, names[0]: ()}, cache=cache)
    with pytest.raises(dn.InputError, match="bit 0 has no qubit"):
        sampler.sample(bqm)


# Packing


@lru_cache
def laid_out(seed):
    """A random graph on copies with chains."""
    source = nx.gnp_random_graph(6, 0.7, seed=seed)
    edges = np.array(sorted(source.edges), dtype=np.int64).reshape(-1, 2)
    target = chips.chip_graph("chimera", (4,))
    copies = [Copy.of(chains, *edges.T, target) for chains in find_copies(source, target, "chimera", (4,))]
    return *edges.T, copies


@given(st.integers(0, 10**6), st.integers(1, 3), st.booleans())
def test_packed_problems_are_the_problems_scaled(seed, count, gauged):
    """Whole chains: the physical energy of a copy is its problem's, times a factor, plus what its chains give."""
    rng = np.random.default_rng(seed)
    rows, columns, copies = laid_out(seed % 5)
    copies = copies[:count]
    problems = Ising(rng.normal(size=(count, 6)), rng.normal(size=(count, len(rows))), rows, columns)
    ranges = Ranges()
    laid = packed(problems, copies, ranges, gauges=np.random.default_rng(seed) if gauged else None)
    linear, quadratic = laid.bqm.linear, laid.bqm.quadratic
    assert max(map(abs, linear.values())) <= ranges.field + 1e-9
    assert all(-ranges.chain - 1e-9 <= value <= ranges.coupling + 1e-9 for value in quadratic.values())
    states = 2 * rng.integers(0, 2, (count, 5, 6)) - 1
    physical = {}
    for number, copy in enumerate(copies):
        for place, qubit in enumerate(copy.qubits):
            physical[int(qubit)] = states[number, :, copy.owner[place]] * laid.gauges[number, copy.owner[place]]
    qubits = list(physical)
    samples = dimod.SampleSet.from_samples_bqm((np.array([physical[q] for q in qubits]).T.astype(np.int8), qubits), laid.bqm)
    spins, broken = laid.unpacked(samples)
    assert np.array_equal(spins, states)
    assert not broken.any()
    for number, copy in enumerate(copies):
        own = laid.bqm.copy()
        own.remove_variables_from([q for q in laid.bqm.variables if q not in set(copy.qubits.tolist())])
        energies = own.energies((np.array([physical[int(q)] for q in copy.qubits]).T, copy.qubits.tolist()))
        logical = states[number] @ problems.fields[number]
        logical = logical + (states[number][:, rows] * states[number][:, columns]) @ problems.couplings[number]
        if abs(logical[0] - logical[1]) > 1e-9:
            factor = (energies[0] - energies[1]) / (logical[0] - logical[1])
            assert factor > 0
            assert energies - energies[0] == pytest.approx(factor * (logical - logical[0]), abs=1e-9)


def test_broken_chains_are_mended_by_majority():
    target = chips.chip_graph("chimera", (2,))
    chains = {0: (0, 4, 1), 1: (5,)}
    copy = Copy.of(chains, np.array([0]), np.array([1]), target)
    laid = packed(Ising(np.zeros((1, 2)), np.ones((1, 1)), np.array([0]), np.array([1])), [copy], Ranges())
    samples = dimod.SampleSet.from_samples_bqm({0: 1, 4: -1, 1: 1, 5: -1}, laid.bqm)
    spins, broken = laid.unpacked(samples)
    assert spins[0, 0].tolist() == [1, -1]
    assert broken[0] == pytest.approx(0.5)


def test_chain_strengths_are_oceans():
    from dwave.embedding.chain_strength import uniform_torque_compensation

    bqm = dn.encode(dn.score_table(dn.load("waste").expected(10_000)), dn.PAPER)
    names = list(bqm.variables)
    linear, (rows, columns, quadratic), _ = bqm.to_numpy_vectors(variable_order=names)
    problem = Ising.of(linear[None], rows, columns, quadratic[None])
    assert problem.chain_strengths(1.414)[0] == pytest.approx(uniform_torque_compensation(bqm.spin), rel=1e-9)


# Tiles


def test_copies_are_disjoint_valid_and_avoid_dead_qubits():
    source = block_graph(3, 2, dn.PAPER)
    ideal = chips.chip_graph("pegasus", (16,))
    rng = np.random.default_rng(0)
    working = ideal.copy()
    working.remove_nodes_from(rng.choice(sorted(ideal), len(ideal) // 100, replace=False).tolist())
    whole, damaged = (find_copies(source, graph, "pegasus", (16,)) for graph in (ideal, working))
    assert len(whole) >= 225
    assert 0.7 * len(whole) < len(damaged) < len(whole)
    assert check_copies(whole, source, ideal) == (whole, "")
    assert check_copies(damaged, source, working) == (damaged, "")
    good, why = check_copies(whole, source, working)
    assert 0 < len(good) < len(whole)
    assert "does not work" in why


@pytest.mark.parametrize(("size", "most"), [(3, 3), (4, 13)])
def test_all_blocks_of_alarm_in_a_few_calls(size, most, alarm, mock, cache):
    qpu = QPU(LocalBackend(mock, "mock P16"), cache=cache)
    found = dn.divide(alarm, qpu, size, rule="penalty", encoding=dn.PAPER, num_reads=20, seed=1)
    assert found.division.finished == comb(15, size)
    assert qpu.line.submitted <= most
    assert found.division.solver == "QPU"


def test_tiled_blocks_are_solved_as_well_as_alone(alarm, cache):
    """Hits of the optimum in each of 50 blocks, together and alone: no difference after Holm's correction.

    Without control error: it is drawn once for a call, so that the reads of one call would not be independent.
    """
    from scipy.stats import fisher_exact

    blocks = alarm.gather(list(combinations(range(15), 3))[::9][:50])
    encoded = qubos(blocks, dn.PAPER)
    reads = 400
    qpu = emulated_qpu("pegasus", noise=0.0, cache=cache)
    copies = qpu.copies(encoded.rows, encoded.columns, encoded.layout.bits, "copies")
    best = [dn.exact(blocks.table(line)).score for line in range(50)]

    def hits(lines, seed):
        problems = Ising.of(encoded.linear[lines], encoded.rows, encoded.columns, encoded.quadratic[lines])
        spins, _ = qpu.reads(problems, copies, {"num_reads": reads, "annealing_time": 2.0}, 1.414, seed)
        found = []
        for place, line in enumerate(lines):
            scores = decode_spins(blocks.table(line), encoded, line, spins[place]).raw_scores
            found.append(int((np.abs(scores - best[line]) < 1e-6).sum()))
        return np.array(found)

    together = hits(list(range(50)), 1)
    alone = np.concatenate([hits([line], 100 + line) for line in range(50)])
    values = sorted(fisher_exact([[a, reads - a], [b, reads - b]])[1] for a, b in zip(together, alone, strict=True))
    assert all(p * (50 - rank) > 0.01 for rank, p in enumerate(values))
    assert 0 < together.sum() < 50 * reads  # there is something to compare
    assert abs(together.sum() - alone.sum()) < 0.05 * (together.sum() + alone.sum())


# Submission


class Flaky:
    """A service that fails three calls in ten: before there is an id, or with an answer that is lost on the way."""

    def __init__(self, inner, seed, share=0.3):
        self.inner, self.rng, self.share = inner, np.random.default_rng(seed), share
        self.name, self.graph, self.properties = inner.name, inner.graph, inner.properties
        self.parameters, self.emulated = inner.parameters, inner.emulated
        self.paid, self.answers, self.failures = [], {}, 0

    def _fails(self, why):
        if self.rng.random() < self.share:
            self.failures += 1
            raise TransientError(why)

    def submit(self, bqm, parameters):
        self._fails("the server has a cold")
        ident = self.inner.submit(bqm, parameters)
        self.paid.append(ident)
        self.answers[ident] = self.inner.fetch(ident, 1.0)
        return ident

    def fetch(self, ident, timeout):
        if ident not in self.answers:
            raise UnknownProblemError(ident)
        self._fails("the answer was lost" if self.rng.random() < 0.5 else f"no answer within {timeout:g} s")
        return self.answers[ident].copy()

    def cancel(self, ident):
        self.answers.pop(ident, None)

    def watch(self, given_up):
        self.inner.watch(given_up)

    def close(self):
        pass


def run(backend, table, journal, cache, **more):
    qpu = QPU(backend, cache=cache, journal=journal, patience=AT_ONCE)
    options = {"rule": "penalty", "repair": False, "num_reads": 10, "seed": 3, "journal": journal} | more
    return dn.divide(table, qpu, 3, **options), qpu


@pytest.mark.parametrize("seed", range(3))
def test_failures_lose_nothing_and_nobody_pays_twice(seed, tmp_path, cache):
    """Three calls in ten fail and one qubit in a hundred is dead: the same network as without failures."""
    table = dn.score_table(dn.load("waste").expected(10_000))
    whole = chips.chip_graph("zephyr", (6,))
    dead = np.random.default_rng(seed).choice(sorted(whole), len(whole) // 100, replace=False).tolist()
    steady, _ = run(LocalBackend(small_chip(broken=dead), f"dead {seed}"), table, None, cache)
    backend = Flaky(LocalBackend(small_chip(broken=dead), f"dead {seed}"), seed, share=0.3)
    with dn.SqliteJournal(tmp_path / "run.db") as journal:
        found, qpu = run(backend, table, journal, cache)
    assert found.edges == steady.edges
    assert np.array_equal(found.division.votes, steady.division.votes)
    assert found.division.finished == 84
    assert len(backend.paid) == qpu.line.submitted <= 2


def test_an_answer_that_was_paid_for_is_fetched_by_its_id_after_a_crash(tmp_path, cache):
    table = dn.score_table(dn.load("waste").expected(10_000))
    inner = LocalBackend(small_chip(), "chip")

    class Crash(BaseException):
        pass

    class Crashing(Flaky):
        def fetch(self, ident, timeout):
            raise Crash

    service = Crashing(inner, 0, share=0.0)
    with dn.SqliteJournal(tmp_path / "run.db") as journal, pytest.raises(Crash):
        run(service, table, journal, cache)
    assert len(service.paid) >= 1
    paid = list(service.paid)
    healthy = Flaky(inner, 0, share=0.0)
    healthy.answers = service.answers
    with dn.SqliteJournal(tmp_path / "run.db") as journal:
        found, _ = run(healthy, table, journal, cache)
    steady, qpu = run(LocalBackend(small_chip(), "chip"), table, None, cache)
    assert found.edges == steady.edges
    assert len(paid) + len(healthy.paid) == qpu.line.submitted  # nothing was sent twice
    forgetful = Flaky(inner, 0, share=0.0)  # the service has forgotten them all: they are sent again
    with dn.SqliteJournal(tmp_path / "ids.db") as journal:
        line = Line(forgetful, journal, AT_ONCE)
        bqm = dimod.BinaryQuadraticModel({inner.graph.nodes and min(inner.graph): 1.0}, {}, 0.0, "SPIN")
        line.answer(bqm, {"num_reads": 2, "seed": 1})
        forgetful.answers.clear()
        line.answer(bqm, {"num_reads": 2, "seed": 1})
    assert line.submitted == 2


def test_a_service_that_never_answers_is_given_up_with_the_reason():
    backend = Flaky(LocalBackend(small_chip(), "chip"), 0, share=1.0)
    line = Line(backend, patience=Patience(attempts=4, pause=0.0, sleep=lambda _: None))
    bqm = dimod.BinaryQuadraticModel({min(backend.graph): 1.0}, {}, 0.0, "SPIN")
    with pytest.raises(dn.InputError, match="no answer in 4 attempts; the last: the server has a cold"):
        line.answer(bqm, {"num_reads": 2})
    assert backend.failures == 4


def test_pauses_grow():
    slept = []
    backend = Flaky(LocalBackend(small_chip(), "chip"), 0, share=1.0)
    line = Line(backend, patience=Patience(attempts=9, pause=1.0, sleep=slept.append))
    with pytest.raises(dn.InputError):
        line.answer(dimod.BinaryQuadraticModel({min(backend.graph): 1.0}, {}, 0.0, "SPIN"), {"num_reads": 2})
    assert slept == [1.0, 2.0, 4.0, 8.0, 16.0, 32.0, 60.0, 60.0]


def test_ctrl_c_cancels_what_is_pending():
    class Slow(Flaky):
        cancelled = ()

        def fetch(self, ident, timeout):
            raise KeyboardInterrupt

        def cancel(self, ident):
            self.cancelled = (*self.cancelled, ident)

    backend = Slow(LocalBackend(small_chip(), "chip"), 0, share=0.0)
    line = Line(backend, patience=AT_ONCE)
    bqm = dimod.BinaryQuadraticModel({min(backend.graph): 1.0}, {}, 0.0, "SPIN")
    with pytest.raises(KeyboardInterrupt):
        line.answer(bqm, {"num_reads": 2})
    assert list(backend.cancelled) == backend.paid


@given(st.integers(1, 30_000), st.floats(0.5, 2000), st.integers(1, 5640))
def test_reads_are_split_within_the_limits(reads, annealing, qubits):
    from dwave.cloud.testing.mocks import qpu_problem_timing_data

    properties = {
        "num_reads_range": [1, 10_000],
        "problem_run_duration_range": [0.0, 1e6],
        "problem_timing_data": qpu_problem_timing_data("advantage"),
    }
    parts = split_reads(properties, qubits, {"num_reads": reads, "annealing_time": annealing, "label": "x"})
    timing = chips.Timing.of(properties["problem_timing_data"])
    assert sum(part["num_reads"] for part in parts) == reads
    for part in parts:
        assert 1 <= part["num_reads"] <= 10_000
        spent = part["num_reads"] * (timing.per_read(qubits, annealing) - timing.delay) + timing.thermalization
        assert spent <= 1e6 or part["num_reads"] == 1
        assert part["label"] == "x"


def test_split_reads_come_together(cache):
    chip = small_chip(sweeps=0.1)
    qpu = QPU(LocalBackend(chip, "chip"), cache=cache)
    bqm = dn.encode(dn.score_table(dn.load("lung-cancer").expected(10_000)))
    found = qpu.sample(bqm, num_reads=600, annealing_time=2000.0, seed=1)
    assert found.record.num_occurrences.sum() == 600
    half = len(found.record.sample) // 2
    assert not np.array_equal(found.record.sample[:half], found.record.sample[half:])  # other reads, not the same again
    assert found.info["timing"]["qpu_access_time"] > 1e6
    assert qpu.line.submitted > 1


@pytest.mark.parametrize("moment", [0.1, 0.4, 0.7])
def test_killed_and_restarted_it_ends_with_the_same_network(moment, tmp_path, cache):
    script = (
        "import sys, time, dagneal as dn\n"
        "from pathlib import Path\n"
        "from dagneal.qpu.emulate import EmulatedChip, EmulatedQPU\n"
        "from dagneal.qpu.backend import LocalBackend\n"
        "class Slow(EmulatedChip):\n"
        "    def sample(self, bqm, **options):\n"
        "        Path('started').touch(); time.sleep(0.5); return super().sample(bqm, **options)\n"
        "class Few(EmulatedQPU):\n"
        "    def copies(self, *args, **more):\n"
        "        return super().copies(*args, **more)[:12]\n"
        "table = dn.score_table(dn.load('waste').expected(10_000))\n"
        "with dn.SqliteJournal(sys.argv[1]) as journal:\n"
        f"    qpu = Few(LocalBackend(Slow('Advantage2_system4'), 'slow'), cache=Path({str(cache)!r}), journal=journal)\n"
        "    found = dn.divide(table, qpu, 3, rule='penalty', num_reads=5, seed=1, journal=journal)\n"
        "print(found.edges, qpu.line.submitted)\n"
    )
    whole = subprocess.run([sys.executable, "-c", script, "a.db"], cwd=tmp_path, capture_output=True, text=True, check=True)
    (tmp_path / "started").unlink()
    process = subprocess.Popen([sys.executable, "-c", script, "b.db"], cwd=tmp_path)
    while not (tmp_path / "started").exists():
        pass
    with pytest.raises(subprocess.TimeoutExpired):
        process.wait(timeout=moment)
    process.kill()
    process.wait()
    again = subprocess.run([sys.executable, "-c", script, "b.db"], cwd=tmp_path, capture_output=True, text=True, check=True)
    edges, _, calls = whole.stdout.strip().rpartition(" ")
    assert calls == "7"
    assert again.stdout.startswith(edges)
    assert int(again.stdout.split()[-1]) <= 7
    third = subprocess.run([sys.executable, "-c", script, "b.db"], cwd=tmp_path, capture_output=True, text=True, check=True)
    assert third.stdout.strip() == f"{edges} 0"  # what is finished is not solved again


# The cloud


class Future:
    """What the cloud client returns, as far as it is used."""

    def __init__(self, answer=None, error=None, done=True):
        self.answer, self.error, self.done, self.cancelled = answer, error, done, False
        self.solver = None  # as the client leaves it for an answer that is retrieved by id

    def wait_id(self, timeout=None):
        if isinstance(self.error, TimeoutError):
            raise self.error
        return "id-1"

    def wait(self, timeout=None):
        return self.done

    @property
    def sampleset(self):
        if self.error is not None:
            raise self.error
        return self.answer

    def cancel(self):
        self.cancelled = True


class Cloud:
    """A sampler of the cloud, as far as it is used."""

    def __init__(self, futures):
        chip = small_chip()
        self.nodelist, self.edgelist, self.properties = chip.nodelist, chip.edgelist, chip.properties
        self.parameters = {"num_reads": [], "annealing_time": [], "auto_scale": [], "answer_mode": [], "label": []}
        self.futures, self.asked, self.sent, self.closed = list(futures), [], [], False
        self.solver, self.client = self, self
        self.name, self.graph_id = "Advantage2_system4.1", "abc"

    def sample_bqm(self, bqm, **parameters):
        self.sent.append(parameters)
        return self.futures.pop(0)

    def retrieve_answer(self, ident):
        self.asked.append(ident)
        return self.futures.pop(0)

    def close(self):
        self.closed = True


def test_the_cloud_is_asked_again_by_id():
    from dwave.cloud.exceptions import PollingTimeout

    node = small_chip().nodelist[0]
    bqm = dimod.BinaryQuadraticModel({node: 1.0}, {}, 0.0, "SPIN")
    answer = dimod.SampleSet.from_samples_bqm({node: -1}, bqm)
    slow = Future(done=False)
    last = Future(answer)
    cloud = Cloud([slow, Future(error=PollingTimeout()), last])
    backend = CloudBackend(cloud)
    assert backend.name == "Advantage2_system4.1-abc"
    line = Line(backend, patience=AT_ONCE)
    slow_then_lost = iter([False, True])
    slow.wait = lambda timeout=None: next(slow_then_lost)
    slow.error = PollingTimeout()
    assert line.answer(bqm, {"num_reads": 1}).first.energy == -1.0
    assert cloud.sent == [{"auto_scale": False, "num_reads": 1}]  # sent once
    assert cloud.asked == ["id-1", "id-1"]
    assert last.solver is cloud  # decodes the answer
    backend.close()
    assert cloud.closed


def test_a_submission_that_failed_has_no_id(tmp_path):
    """Ocean's own Future: a failed submission ends the wait for an id without one."""
    from dwave.cloud.api.exceptions import InternalServerError
    from dwave.cloud.computation import Future as OceansFuture

    cloud = Cloud([])
    node = cloud.nodelist[0]
    bqm = dimod.BinaryQuadraticModel({node: 1.0}, {}, 0.0, "SPIN")
    failed = OceansFuture(cloud, None)
    failed._set_exception(InternalServerError())
    cloud.futures = [failed, Future(dimod.SampleSet.from_samples_bqm({node: -1}, bqm))]
    with dn.SqliteJournal(tmp_path / "ids.db") as journal:
        line = Line(CloudBackend(cloud), journal, AT_ONCE)
        assert line.answer(bqm, {"num_reads": 1}).first.energy == -1.0
    assert (line.submitted, len(cloud.sent), cloud.asked) == (1, 2, [])


def test_what_is_waited_for_can_be_cancelled_from_another_thread():
    from concurrent.futures import CancelledError, ThreadPoolExecutor
    from threading import Event

    waiting, over = Event(), Event()

    class Endless(Future):
        def wait(self, timeout=None):
            waiting.set()
            return over.wait(20)

        def cancel(self):
            from dwave.cloud.exceptions import CanceledFutureError

            self.cancelled, self.error = True, CanceledFutureError()
            over.set()

    future = Endless()
    cloud = Cloud([future])
    line = Line(CloudBackend(cloud), patience=AT_ONCE)
    bqm = dimod.BinaryQuadraticModel({cloud.nodelist[0]: 1.0}, {}, 0.0, "SPIN")
    with ThreadPoolExecutor(1) as pool:
        answer = pool.submit(line.answer, bqm, {"num_reads": 1})
        waiting.wait(20)
        line.cancel()
        with pytest.raises(CancelledError):
            answer.result(20)
    assert future.cancelled


def test_a_cancelled_problem_is_sent_again_when_the_run_goes_on(tmp_path):
    class Interrupted(Flaky):
        def fetch(self, ident, timeout):
            raise KeyboardInterrupt

    bqm = dimod.BinaryQuadraticModel({small_chip().nodelist[0]: 1.0}, {}, 0.0, "SPIN")
    with dn.SqliteJournal(tmp_path / "ids.db") as journal:
        with pytest.raises(KeyboardInterrupt):
            Line(Interrupted(LocalBackend(small_chip(), "chip"), 0, 0.0), journal, AT_ONCE).answer(bqm, {"num_reads": 2})
        again = Line(Flaky(LocalBackend(small_chip(), "chip"), 0, 0.0), journal, AT_ONCE)
        again.answer(bqm, {"num_reads": 2})
    assert again.submitted == 1


def test_the_knobs_of_the_emulator_are_part_of_what_a_journal_keeps(tmp_path, cache):
    table = dn.score_table(dn.load("waste").expected(10_000))
    with dn.SqliteJournal(tmp_path / "run.db") as journal:
        calm, _ = run(LocalBackend(small_chip(noise=0.0), "chip"), table, journal, cache)
        wild, qpu = run(LocalBackend(small_chip(noise=5.0), "chip"), table, journal, cache)
    assert qpu.line.submitted > 0
    assert not np.array_equal(calm.division.votes, wild.division.votes)


@pytest.mark.parametrize(
    ("name", "kind", "message"),
    [
        ("SolverFailureError", dn.InputError, "refused the problem"),
        ("SolverAuthenticationError", dn.InputError, "refused the call"),
        ("PollingTimeout", TransientError, "PollingTimeout"),
        ("RequestTimeout", TransientError, "RequestTimeout"),
        ("SolverOfflineError", UnknownProblemError, "SolverOfflineError"),
        ("CanceledFutureError", UnknownProblemError, "CanceledFutureError"),
        ("ProblemNotFoundError", UnknownProblemError, "secret-free"),
    ],
)
def test_what_oceans_exceptions_mean(name, kind, message):
    import dwave.cloud.exceptions as exceptions

    error = getattr(exceptions, name)
    words = () if name == "CanceledFutureError" else ("secret-free",)
    backend = CloudBackend(Cloud([Future(error=error(*words))]))
    with pytest.raises(kind, match=message):
        backend.fetch("id-9", 1.0)


@pytest.mark.parametrize("solver", ["qpu", "leap-hybrid"])
def test_no_token_is_ever_shown_and_what_is_wrong_is_said(solver, tmp_path):
    """With a fake configuration and a service that is not there: one line, status 2, and the token nowhere."""
    token = "DEV-0123456789abcdef0123456789abcdef01234567"
    home = tmp_path / "home"
    home.mkdir()
    config = home / "dwave.conf"
    config.write_text(f"[defaults]\nendpoint = http://127.0.0.1:9/sapi/v2/\ntoken = {token}\nhttp_retry_total = 0\n")
    environment = {k: v for k, v in os.environ.items() if not k.startswith("DWAVE")}
    environment |= {
        "DWAVE_CONFIG_FILE": str(config),
        "HOME": str(home),
        "XDG_CACHE_HOME": str(tmp_path / "cache"),
        "DAGNEAL_CACHE": str(tmp_path / "cache"),
    }
    run = [sys.executable, "-m", "dagneal"]
    made = subprocess.run([*run, "sample", "lung-cancer", "-o", "lc.csv"], cwd=tmp_path, env=environment, check=True)
    assert made.returncode == 0
    words = ["learn", "lc.csv", "--solver", solver, "-o", "found.json"]
    if solver == "qpu":
        words += ["--journal", "run.db"]
    ran = subprocess.run([*run, *words], cwd=tmp_path, env=environment, capture_output=True, text=True, timeout=120)
    assert ran.returncode == 2
    assert ran.stdout == ""
    lines = [line for line in ran.stderr.splitlines() if not line.startswith("note: ")]
    assert len(lines) == 1
    assert "D-Wave" in lines[0]
    assert token not in ran.stderr
    emulated = [*run, "learn", "lc.csv", "--solver", "qpu-emulated", "--system", "Advantage2_system4", "--reads", "20"]
    more = subprocess.run(
        [*emulated, "--journal", "run2.db", "-o", "found.json", "--json"],
        cwd=tmp_path,
        env=environment,
        capture_output=True,
        text=True,
        check=True,
    )
    assert token not in more.stdout + more.stderr
    for path in tmp_path.rglob("*"):
        if path.is_file() and path != config:
            assert token.encode() not in path.read_bytes(), path


def test_what_the_cloud_is_asked_for(monkeypatch):
    from dagneal.qpu import sampler

    asked = []

    def connected(profile, solver):
        asked.append((profile, solver))
        return LocalBackend(small_chip(), "chip")

    monkeypatch.setattr(CloudBackend, "connected", connected)
    for wanted in ("zephyr", "Advantage_system4.1", {"num_qubits__gt": 5000}, None):
        sampler.qpu("mine", wanted).close()
    topology = {"topology__type": "zephyr"}
    assert asked == [("mine", s) for s in (topology, "Advantage_system4.1", {"num_qubits__gt": 5000}, None)]


def test_an_unknown_profile_is_named(monkeypatch, tmp_path):
    from dagneal.qpu.sampler import qpu

    for name in [name for name in os.environ if name.startswith("DWAVE")]:
        monkeypatch.delenv(name)
    (tmp_path / "dwave.conf").write_text("[defaults]\ntoken = secret\n")
    monkeypatch.setenv("DWAVE_CONFIG_FILE", str(tmp_path / "dwave.conf"))
    with pytest.raises(dn.InputError, match="with the profile 'nowhere'") as caught:
        qpu("nowhere")
    assert "secret" not in str(caught.value)


# The sampler


def test_calls_without_a_seed_differ_but_a_run_that_is_repeated_does_not(cache):
    bqm = dimod.BinaryQuadraticModel({0: 0.1, 1: -0.1}, {(0, 1): 0.2}, 0.0, "SPIN")

    def calls():
        sampler = emulated_qpu("Advantage2_system4", cache=cache)
        return [sampler.sample(bqm, num_reads=40).record.sample.tolist() for _ in range(2)]

    first, second = calls(), calls()
    assert first == second
    assert first[0] != first[1]


def test_what_was_asked_of_the_chip_is_in_the_result(cache):
    truth = dn.load("lung-cancer")
    sampler = emulated_qpu("Advantage2_system4", cache=cache)
    sampler.sample(dimod.BinaryQuadraticModel({0: 1.0}, {}, 0.0, "SPIN"))  # not of this run
    found = dn.learn(truth.expected(10_000), solver=sampler, num_reads=20, seed=1)
    used = found.to_dict()["hardware"]
    assert used["emulated"] is True
    assert used["calls"] == sampler.line.submitted - 1 >= 2
    timing = chips.SYSTEMS["Advantage2_system4"].timing
    assert used["access_seconds"] > used["calls"] * timing.access_time(9, 20) / 1e6
    assert 0 <= used["chain_break_fraction"] < 1


def test_chain_strengths_are_scanned_once_for_all_blocks(cache):
    table = dn.score_table(dn.load("waste").expected(10_000))
    sampler = emulated_qpu("Advantage2_system4", cache=cache, chain_strength="scan")
    solver = sampler.block_solver({"num_reads": 10}, True, 1, dn.PAPER)
    blocks = table.gather(np.array(list(combinations(range(9), 5))))
    piece = solver.piece(blocks)
    solver.solve(blocks)
    calls = -(-len(blocks.members) // piece)
    assert sampler.line.submitted == calls + 5  # strengths
    solver.solve(blocks)
    assert sampler.line.submitted == 2 * calls + 5


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"num_reads": 0}, "num_reads is 0; give a whole number from 1"),
        ({"num_reads": 2.5}, "num_reads is 2.5; give a whole number from 1"),
        ({"annealing_time": 0.0}, "annealing_time is 0.0; this chip takes 0.5 to 2000 microseconds"),
        ({"annealing_time": float("nan")}, "annealing_time is nan; this chip takes 0.5 to 2000 microseconds"),
        ({"annealing_time": 5000.0}, "annealing_time is 5000.0; this chip takes 0.5 to 2000 microseconds"),
    ],
)
def test_what_no_chip_takes_is_refused_by_name(parameters, message, cache):
    sampler = emulated_qpu("Advantage2_system4", cache=cache)
    bqm = dimod.BinaryQuadraticModel({0: 1.0}, {}, 0.0, "SPIN")
    table = dn.score_table(dn.load("lung-cancer").expected(100))
    for call in (lambda: sampler.sample(bqm, **parameters), lambda: dn.divide(table, sampler, rule="count", **parameters)):
        with pytest.raises(dn.InputError) as caught:
            call()
        assert str(caught.value) == message


def test_a_model_without_bits_costs_nothing(cache):
    sampler = emulated_qpu("Advantage2_system4", cache=cache)
    found = sampler.sample(dimod.BinaryQuadraticModel({}, {}, 1.5, "BINARY"), num_reads=3)
    assert found.record.energy.tolist() == [1.5] * 3
    assert sampler.line.submitted == 0


def test_a_chip_without_qubits_is_said_to_be_one(cache):
    chip = small_chip(broken=range(2000))
    with pytest.raises(dn.InputError, match="no working qubit"):
        QPU(LocalBackend(chip, "dead"), cache=cache).sample(dimod.BinaryQuadraticModel({0: 1.0}, {}, 0.0, "SPIN"))


def test_what_can_never_fit_is_refused_at_once():
    with pytest.raises(dn.InputError, match="do not fit on this chip"):
        plan(40, None, chips.system_named("pegasus"), dn.PAPER)


def test_a_cache_that_cannot_be_written_is_no_reason_to_stop(tmp_path):
    (tmp_path / "file").write_text("")
    sampler = emulated_qpu("Advantage2_system4", cache=tmp_path / "file")
    sampler.sample(dimod.BinaryQuadraticModel({0: 1.0}, {}, 0.0, "SPIN"), num_reads=2)
    assert "DAGNEAL_CACHE" in sampler.notes[0]


def test_the_whole_at_once_is_journaled_too(tmp_path, cache):
    data = dn.load("lung-cancer").expected(10_000)
    backend = Flaky(LocalBackend(small_chip(), "chip"), 0, share=0.0)
    found = []
    for _ in range(2):
        with dn.SqliteJournal(tmp_path / "run.db") as journal:
            sampler = QPU(backend, cache=cache, patience=AT_ONCE)
            found.append(dn.learn(data, solver=sampler, direct=True, journal=journal, num_reads=10, seed=1).edges)
    assert found[0] == found[1]
    assert len(backend.paid) == 1
    with pytest.raises(dn.InputError, match="there are neither"), dn.SqliteJournal(tmp_path / "run.db") as journal:
        dn.learn(data, solver=SimulatedAnnealingSampler(), direct=True, journal=journal)


def test_after_a_final_error_no_call_is_left_behind(cache):
    """One call is refused while others wait: these are cancelled, and the refusal is told."""

    class Refusing(Flaky):
        def __init__(self, inner):
            super().__init__(inner, 0, share=0.0)
            self.ended, self.cancelled = threading.Event(), []

        def fetch(self, ident, timeout):
            if ident == self.paid[0]:
                while len(self.paid) < 3:
                    time.sleep(0.01)
                raise dn.InputError("refused")
            self.ended.wait(20)
            raise UnknownProblemError(ident)

        def cancel(self, ident):
            self.cancelled.append(ident)
            self.ended.set()

    class Few(QPU):
        def copies(self, *args, **more):
            return super().copies(*args, **more)[:20]

    backend = Refusing(LocalBackend(small_chip(), "chip"))
    table = dn.score_table(dn.load("waste").expected(10_000))
    with pytest.raises(dn.InputError, match="refused"):
        dn.divide(table, Few(backend, cache=cache, patience=AT_ONCE), 3, rule="penalty", num_reads=5)
    assert set(backend.cancelled) == set(backend.paid[1:])


def test_the_emulator_stops_when_a_call_is_given_up(cache):
    sampler = emulated_qpu("Advantage2_system4", cache=cache)
    table = dn.score_table(dn.load("waste").expected(10_000))
    threading.Timer(1.0, sampler.line.cancel).start()
    begun = time.perf_counter()
    with pytest.raises(CancelledError):
        sampler.sample(dn.encode(table), num_reads=10_000, annealing_time=90.0)  # minutes
    assert time.perf_counter() - begun < 60


def test_ctrl_c_stops_the_emulator_in_the_main_thread(tmp_path):
    """A real signal, while the whole is sampled: no further call, status 130."""
    run = [sys.executable, "-m", "dagneal"]
    environment = os.environ | {"DAGNEAL_CACHE": str(tmp_path / "cache")}
    subprocess.run([*run, "sample", "lung-cancer", "-o", "lc.csv"], cwd=tmp_path, env=environment, check=True)
    words = "learn lc.csv --solver qpu-emulated --system Advantage2_system4 --direct --reads 4000 --annealing-time 1900"
    with subprocess.Popen(
        [*run, *words.split()], cwd=tmp_path, env=environment, stderr=subprocess.PIPE, text=True
    ) as process:
        embedding = tmp_path / "cache" / "embeddings"
        while not (embedding.exists() and list(embedding.glob("*.json"))):  # then it samples, for minutes
            assert process.poll() is None
            time.sleep(0.05)
        time.sleep(1.0)
        process.send_signal(signal.SIGINT)
        begun = time.perf_counter()
        assert process.wait(timeout=60) == 130
        assert time.perf_counter() - begun < 30
        assert "Exception ignored" not in process.stderr.read()


def test_an_expired_token_does_not_lose_what_was_paid_for(tmp_path):
    """The id stays in the journal, and the answer is fetched once the service lets one in again."""
    from dwave.cloud.exceptions import SolverAuthenticationError, SolverFailureError

    node = small_chip().nodelist[0]
    bqm = dimod.BinaryQuadraticModel({node: 1.0}, {}, 0.0, "SPIN")
    answer = dimod.SampleSet.from_samples_bqm({node: -1}, bqm)
    with dn.SqliteJournal(tmp_path / "run.db") as journal:
        cloud = Cloud([Future(error=SolverAuthenticationError()), Future(answer)])
        line = Line(CloudBackend(cloud), journal, AT_ONCE)
        with pytest.raises(dn.InputError, match="refused the call"):
            line.answer(bqm, {"num_reads": 1})
        again = Line(CloudBackend(cloud), journal, AT_ONCE).answer(bqm, {"num_reads": 1})
        assert again.info["sent_now"] is False
        assert len(cloud.sent) == 1
        assert cloud.asked == ["id-1"]
    with dn.SqliteJournal(tmp_path / "other.db") as journal:  # one that the solver failed on is sent again
        cloud = Cloud([Future(error=SolverFailureError("no")), Future(answer)])
        with pytest.raises(RefusedError, match="refused the problem"):
            Line(CloudBackend(cloud), journal, AT_ONCE).answer(bqm, {"num_reads": 1})
        assert Line(CloudBackend(cloud), journal, AT_ONCE).answer(bqm, {"num_reads": 1}).info["sent_now"] is True
        assert len(cloud.sent) == 2


def test_a_problem_that_cannot_be_written_down_is_cancelled():
    class Full:
        def get(self, keys):
            return {}

        def put(self, pieces):
            raise dn.InputError("the disk is full")

    class Counting(Flaky):
        def cancel(self, ident):
            self.answers.pop(ident)

    backend = Counting(LocalBackend(small_chip(), "chip"), 0, share=0.0)
    line = Line(backend, Full(), AT_ONCE)
    with pytest.raises(dn.InputError, match="disk is full"):
        line.answer(dimod.BinaryQuadraticModel({min(backend.graph): 1.0}, {}, 0.0, "SPIN"), {"num_reads": 2})
    assert len(backend.paid) == 1
    assert backend.answers == {}
    assert line._pending == set()


def test_after_a_final_error_nothing_new_is_sent_even_with_a_journal(tmp_path, cache):
    class Refusing(Flaky):
        def submit(self, bqm, parameters):
            if self.paid:
                raise dn.InputError("refused")
            return super().submit(bqm, parameters)

    backend = Refusing(LocalBackend(small_chip(), "chip"), 0, share=0.0)
    tries = []
    submit = backend.submit
    backend.submit = lambda *args: (tries.append(1), submit(*args))[1]
    table = dn.score_table(dn.load("waste").expected(10_000))
    options = {"rule": "penalty", "num_reads": 30_000, "encoding": dn.PAPER, "annealing_time": 1.0}
    with dn.SqliteJournal(tmp_path / "run.db") as journal:
        qpu = QPU(backend, cache=cache, journal=journal, patience=AT_ONCE, chain_strength="scan")
        with pytest.raises(dn.InputError, match="refused"):
            dn.divide(table, qpu, 5, journal=journal, **options)
    assert len(tries) == 2


def test_a_sampler_can_be_used_with_one_journal_after_another(tmp_path, cache):
    data = dn.load("lung-cancer").expected(10_000)
    sampler = emulated_qpu("Advantage2_system4", cache=cache)
    found = []
    for name in ("a.db", "b.db"):
        with dn.SqliteJournal(tmp_path / name) as journal:
            found.append(dn.learn(data, solver=sampler, journal=journal, num_reads=10, seed=1).edges)
    found.append(dn.learn(data, solver=sampler, num_reads=10, seed=1, direct=True).edges)
    assert found[0] == found[1]
    assert sampler.line.journal is None


def test_answers_of_an_earlier_run_are_not_charged_again(tmp_path, cache):
    data = dn.load("lung-cancer").expected(10_000)
    backend = Flaky(LocalBackend(small_chip(), "chip"), 0, share=0.0)
    used = []
    for _ in range(2):
        with dn.SqliteJournal(tmp_path / "run.db") as journal:
            sampler = QPU(backend, cache=cache, patience=AT_ONCE)
            used.append(dn.learn(data, solver=sampler, direct=True, journal=journal, num_reads=10, seed=1).hardware)
    assert [(each["calls"], each["fetched"]) for each in used] == [(1, 0), (0, 1)]
    assert used[0]["access_seconds"] > 0 == used[1]["access_seconds"]


def test_couplings_of_a_qubit_stay_within_what_the_chip_allows():
    edges = [(0, 1), (0, 2), (0, 3), (1, 2)]
    rows, columns = np.array(edges).T
    chains = {0: (0, 1), 1: (2,), 2: (3,), 3: (4,)}
    target = nx.complete_graph(5)
    copy = Copy.of(chains, rows, columns, target)
    problem = Ising(np.zeros((1, 4)), np.ones((1, 4)), rows, columns)
    tight = packed(problem, [copy], Ranges(per_qubit=(-1.0, 0.5)), 3.0).bqm
    sums = [sum(tight.get_quadratic(q, other) for other in tight.adj[q]) for q in tight.variables]
    assert min(sums) >= -1.0 - 1e-12
    assert max(sums) <= 0.5 + 1e-12
    assert isclose(max(max(sums) / 0.5, min(sums) / -1.0), 1.0)  # and no smaller than need be


def test_an_embedding_with_a_chain_too_many_is_noticed():
    source = nx.complete_graph(3)
    target = nx.complete_graph(5)
    assert fault({0: (0,), 1: (1,), 2: (2,), 3: (3,)}, source, target) == "there is no bit 3"


# The emulator


def test_the_emulator_says_what_it_is_and_repeats_itself(cache):
    table = dn.score_table(dn.load("lung-cancer").expected(10_000))
    first, second = (
        dn.anneal(table, emulated_qpu("Advantage2_system4", cache=cache), num_reads=50, seed=4) for _ in range(2)
    )
    assert first.solver == "EmulatedQPU"
    assert first.annealed.sampleset.info["emulated"]
    assert np.array_equal(first.annealed.sampleset.record.sample, second.annealed.sampleset.record.sample)
    timing = first.annealed.sampleset.info["timing"]
    assert timing["qpu_access_time"] == pytest.approx(timing["qpu_programming_time"] + timing["qpu_sampling_time"])


def test_without_errors_and_with_time_the_emulator_finds_the_optimum(cache):
    table = dn.score_table(dn.load("lung-cancer").expected(10_000))
    sampler = emulated_qpu("Advantage2_system4", noise=0.0, sweeps=20.0, cold=200.0, cache=cache)
    assert dn.anneal(table, sampler, repair=False, num_reads=100, annealing_time=100.0, seed=1).optimal
    with pytest.raises(dn.InputError, match=r"takes 0\.5 to 2000 microseconds"):
        sampler.sample(dn.encode(table), annealing_time=0.1)
    with pytest.raises(dn.InputError, match="noise of at least 0"):
        EmulatedChip(noise=-1.0)


def test_chain_strength_can_be_scanned(cache):
    bqm = dn.encode(dn.score_table(dn.load("waste-2p-dep").expected(10_000)))
    sampler = emulated_qpu("Advantage2_system1", chain_strength="scan", cache=cache)
    assert sampler.sample(bqm, num_reads=20, seed=1).info["chain_strength"] in (0.7, 1.0, 1.414, 2.0, 3.0)
    assert sampler.line.submitted == 6
    with pytest.raises(dn.InputError, match="or 'scan'"):
        emulated_qpu("Advantage2_system4", chain_strength="strong", cache=cache)


def test_learn_with_an_emulated_annealer(cache):
    truth = dn.load("lung-cancer")
    found = dn.learn(truth.expected(10_000), solver=emulated_qpu("Advantage2_system4", cache=cache), num_reads=100, seed=1)
    assert found.division.solver == found.division.whole == "EmulatedQPU"
    assert found.annealed.optimum is not None
    assert isinstance(EmulatedQPU(LocalBackend(small_chip(), "c")).block_solver({}, True, 1, dn.TIGHT), TiledBlocks)


# Plans


def test_plans(tmp_path):
    found, copies = plan(15, 3, chips.system_named("pegasus"), dn.PAPER, cache=tmp_path)
    assert (found.bits, found.interactions, found.blocks) == (15, 27, 455)
    assert found.copies == len(copies) >= 225
    assert found.calls <= 3
    assert found.longest_chain == 1
    assert found.fits_directly == 10  # the largest clique has 180, and 10 variables 155 bits
    assert found.seconds < 0.2 < 10 < found.seconds_one_by_one
    again, _ = plan(15, 3, chips.system_named("pegasus"), dn.PAPER, scheme="cover:2", cache=tmp_path)
    assert again.blocks < 50
    assert again.calls == 1
    for reads, microseconds, calls in ((20_000, 20.0, 5), (10_000, 1.0, 3), (1000, 2000.0, 3)):  # a second in a call
        long, _ = plan(15, 3, chips.system_named("pegasus"), dn.PAPER, "cover:2", 2, reads, microseconds, cache=tmp_path)
        assert long.calls == calls
        properties = chips.SYSTEMS["Advantage_system4"].properties
        call = {"num_reads": reads, "annealing_time": microseconds}
        assert long.calls == len(split_reads(properties, round(long.qubits * long.blocks), call))
    with pytest.raises(dn.InputError, match="do not go into"):
        plan(3, 4, chips.system_named("pegasus"), dn.PAPER, cache=tmp_path)


def test_the_graph_of_a_block_depends_on_its_size_alone():
    for size in range(2, 8):
        graph = block_graph(size, 2, dn.PAPER)
        if size > 2:
            assert len(graph) == (3 * size * size + size) // 2
            assert graph.number_of_edges() == size**3
