"""Test the QPU sampler, the emulator and plans offline."""

import json
import os
import signal
import subprocess
import sys
import threading
import time
from concurrent.futures import CancelledError
from dataclasses import replace
from itertools import combinations
from math import isclose

import dimod
import networkx as nx
import numpy as np
import pytest
from dwave.samplers import SimulatedAnnealingSampler

import dagneal as dn
from dagneal.cli import main
from dagneal.qpu import chips
from dagneal.qpu.backend import LocalBackend, RefusedError, UnknownProblemError
from dagneal.qpu.cloud import CloudBackend
from dagneal.qpu.embedding import embedding_error
from dagneal.qpu.emulator import EmulatedChip, EmulatedQPU, emulated
from dagneal.qpu.pack import Copy, Ising, Ranges, pack
from dagneal.qpu.plan import PlanSettings, plan, subproblem_graph
from dagneal.qpu.sampler import QPU
from dagneal.qpu.submission import Submitter, split_reads
from dagneal.qpu.targets import find_target
from dagneal.qpu.tiled_subproblems import TiledSubproblems
from support.quantum import NO_DELAY, Cloud, Flaky, Future, small_chip
from support.solving import solve
from support.waiting import TIMEOUT, wait_for_file

# The sampler


def test_calls_without_a_seed_differ_but_repeated_runs_agree(embeddings):
    bqm = dimod.BinaryQuadraticModel({0: 0.0, 1: 0.0}, {(0, 1): 0.2}, 0.0, "SPIN")  # two optima, so that reads differ

    def calls():
        sampler = emulated("Advantage2_system4", cache=embeddings)
        return [sampler.sample(bqm, num_reads=40).record.sample.tolist() for _ in range(2)]

    first, second = calls(), calls()
    assert first == second
    assert first[0] != first[1]


@pytest.mark.slow
def test_the_result_contains_the_usage_of_the_chip(tmp_path, embeddings):
    truth = dn.load("lung-cancer")
    sampler = emulated("Advantage2_system4", cache=embeddings)
    sampler.sample(dimod.BinaryQuadraticModel({0: 1.0}, {}, 0.0, "SPIN"))  # a call outside the run
    result = dn.learn(truth.expected_data(10_000), dn.Anneal(sampler, num_reads=20), seed=1)
    used = result.to_dict()["hardware"]
    assert used["emulated"] is True
    assert used["calls"] == sampler.submitter.submitted - 1 >= 2
    timing = chips.SYSTEMS["Advantage2_system4"].timing
    assert used["access_seconds"] > used["calls"] * timing.access_time(9, 20) / 1e6
    assert 0 <= used["chain_break_fraction"] < 1
    assert used["settings"] == {
        "chain_strength": 1.414,
        "spin_reversal": True,
        "embeddings": 1,
        "own_embedding": False,
        "model": repr(dn.qpu.Thermal()),
    }
    assert used["log"][0]["parameters"]["answer_mode"] == "raw"
    result.save(tmp_path / "result.json")
    assert dn.load_result(tmp_path / "result.json").hardware == result.hardware


def test_single_qubits_are_no_chains(embeddings):
    """A triangle needs no chain on this chip, and a large clique needs chains."""
    sampler = emulated("Advantage2_system4", cache=embeddings)
    for size in (3, 12):
        bqm = dimod.BinaryQuadraticModel({}, dict.fromkeys(combinations(range(size), 2), 1.0), 0.0, "SPIN")
        _, copies = sampler._embed(bqm, list(bqm.variables), {}, 1)
        lengths = np.bincount(copies[0].owner)
        before = sampler.usage()
        sampler.sample(bqm, num_reads=5)
        used = sampler.usage() - before
        assert used.chains == 5 * (lengths > 1).sum()
        assert used.broken <= used.chains
        assert (used.chains > 0) == (size == 12)


@pytest.mark.slow
def test_chain_strengths_are_scanned_once_for_all_subproblems(embeddings):
    table = dn.scoring.score_table(dn.load("waste").expected_data(10_000))
    sampler = emulated("Advantage2_system4", cache=embeddings, chain_strength="scan")
    solver = sampler.subproblem_solver({"num_reads": 10}, True, 1, dn.PAPER)
    subproblems = table.gather(np.array(list(combinations(range(9), 5))))
    batch = solver.batch_size(subproblems)
    solver.solve_many(subproblems)
    calls = -(-len(subproblems.members) // batch)
    assert sampler.submitter.submitted == calls + 5  # the scan tries 5 strengths
    solver.solve_many(subproblems)
    assert sampler.submitter.submitted == 2 * calls + 5


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"num_reads": 0}, "num_reads is 0; give a whole number of at least 1"),
        ({"num_reads": 2.5}, "num_reads is 2.5; give a whole number of at least 1"),
        ({"annealing_time": 0.0}, "annealing_time is 0.0; this chip accepts 0.5 to 2000 microseconds"),
        ({"annealing_time": float("nan")}, "annealing_time is nan; this chip accepts 0.5 to 2000 microseconds"),
        ({"annealing_time": 5000.0}, "annealing_time is 5000.0; this chip accepts 0.5 to 2000 microseconds"),
    ],
)
def test_parameters_outside_the_range_of_the_chip_are_refused(parameters, message, embeddings):
    sampler = emulated("Advantage2_system4", cache=embeddings)
    bqm = dimod.BinaryQuadraticModel({0: 1.0}, {}, 0.0, "SPIN")
    table = dn.scoring.score_table(dn.load("lung-cancer").expected_data(100))
    solver = dn.Divide(dn.Anneal(sampler, parameters=parameters), combine="count")
    for call in (lambda: sampler.sample(bqm, **parameters), lambda: solve(table, solver)):
        with pytest.raises(dn.InputError) as caught:
            call()
        assert str(caught.value) == message


def test_a_model_without_variables_needs_no_call(embeddings):
    sampler = emulated("Advantage2_system4", cache=embeddings)
    samples = sampler.sample(dimod.BinaryQuadraticModel({}, {}, 1.5, "BINARY"), num_reads=3)
    assert samples.record.energy.tolist() == [1.5] * 3
    assert sampler.submitter.submitted == 0


def test_a_chip_without_working_qubits_gives_an_error(embeddings):
    chip = small_chip(broken=small_chip().nodelist)
    with pytest.raises(dn.InputError, match="no working qubit"):
        QPU(LocalBackend(chip, "dead"), cache=embeddings).sample(dimod.BinaryQuadraticModel({0: 1.0}, {}, 0.0, "SPIN"))


def test_plan_with_default_settings(tmp_path):
    """The default encoding prunes, but a plan without data cannot prune."""
    result, copies = plan(8, 3, PlanSettings(cache=tmp_path))
    assert (result.subproblems, result.encoding) == (56, "tight, chordal, unpruned")
    assert result.copies == len(copies)


def test_a_problem_that_is_too_large_is_refused_before_the_search():
    with pytest.raises(dn.InputError, match="do not fit on this chip"):
        plan(40, None, PlanSettings("pegasus", dn.PAPER))


def test_an_unwritable_cache_gives_only_a_note(tmp_path):
    (tmp_path / "file").write_text("")
    sampler = emulated("Advantage2_system4", cache=tmp_path / "file")
    sampler.sample(dimod.BinaryQuadraticModel({0: 1.0}, {}, 0.0, "SPIN"), num_reads=2)
    assert "DAGNEAL_CACHE" in sampler.notes[0]


def test_direct_solves_use_the_journal(tmp_path, embeddings):
    data = dn.load("lung-cancer").expected_data(10_000)
    backend = Flaky(LocalBackend(small_chip(), "chip"), 0, share=0.0)
    edges = []
    for _ in range(2):
        with dn.SqliteJournal(tmp_path / "run.db") as journal:
            sampler = QPU(backend, cache=embeddings, retry=NO_DELAY)
            solver = dn.Anneal(sampler, num_reads=10, direct=True)
            edges.append(dn.learn(data, solver, run=dn.Run(1, journal=journal)).edges)
    assert edges[0] == edges[1]
    assert len(backend.paid) == 1
    with (
        pytest.raises(dn.InputError, match="this solver stores nothing in a journal"),
        dn.SqliteJournal(tmp_path / "run.db") as journal,
    ):
        dn.learn(data, dn.Anneal(SimulatedAnnealingSampler(), direct=True), run=dn.Run(journal=journal))


@pytest.mark.slow
def test_a_final_error_cancels_all_waiting_calls(embeddings):
    """If one call is refused while others wait, the others are cancelled and the error is raised."""

    class Refusing(Flaky):
        def __init__(self, inner):
            super().__init__(inner, 0, share=0.0)
            self.ended, self.cancelled = threading.Event(), []

        def fetch(self, problem_id, timeout):
            if problem_id == self.paid[0]:
                while len(self.paid) < 3:
                    time.sleep(0.01)
                raise dn.InputError("refused")
            self.ended.wait(TIMEOUT)
            raise UnknownProblemError(problem_id)

        def cancel(self, problem_id):
            self.cancelled.append(problem_id)
            self.ended.set()

    class Few(QPU):
        def copies(self, *args, **more):
            return super().copies(*args, **more)[:20]

    backend = Refusing(LocalBackend(small_chip(), "chip"))
    table = dn.scoring.score_table(dn.load("waste").expected_data(10_000))
    sampler = Few(backend, cache=embeddings, retry=NO_DELAY)
    with pytest.raises(dn.InputError, match="refused"):
        solve(table, dn.Divide(dn.Anneal(sampler, num_reads=5), size=3, combine="penalty"))
    assert set(backend.cancelled) == set(backend.paid[1:])


def test_the_emulator_stops_when_a_call_is_cancelled(embeddings):
    class Watched(EmulatedChip):
        def sample(self, bqm, interrupt_function, **options):
            def interrupt():
                asked.append(True)
                sampler.submitter.cancel()  # during sampling
                return interrupt_function()

            return super().sample(bqm, interrupt_function=interrupt, **options)

    asked = []
    sampler = QPU(LocalBackend(Watched("Advantage2_system4"), "chip"), cache=embeddings)
    table = dn.scoring.score_table(dn.load("waste").expected_data(10_000))
    with pytest.raises(CancelledError):
        sampler.sample(dn.qubo.encode(table), num_reads=1000, annealing_time=10.0)
    assert 1 <= len(asked) < 60  # not all 63 groups of reads


@pytest.mark.slow
def test_ctrl_c_stops_the_emulator_in_the_main_thread(tmp_path):
    """A SIGINT during the global solve ends the run with status 130 and without a further call."""
    script = (
        "import signal, sys, threading\n"
        "from pathlib import Path\n"
        "from dagneal.cli import main\n"
        "from dagneal.qpu.emulator import EmulatedChip\n"
        "sample, calls, caught = EmulatedChip.sample, [], threading.Event()\n"
        "handler = signal.getsignal(signal.SIGINT)\n"
        "signal.signal(signal.SIGINT, lambda *about: (caught.set(), handler(*about)))\n"
        "def watched(chip, bqm, interrupt_function, **options):\n"
        "    calls.append(1)\n"
        "    def ask():\n"
        "        Path('sampling').touch()\n"
        "        caught.wait()\n"
        "        return interrupt_function()\n"
        "    return sample(chip, bqm, interrupt_function=ask, **options)\n"
        "EmulatedChip.sample = watched\n"
        "status = main(sys.argv[1:])\n"
        "Path('calls').write_text(str(len(calls)))\n"
        "sys.exit(status)\n"
    )
    environment = os.environ | {"DAGNEAL_CACHE": str(tmp_path / "embeddings")}
    dn.load("lung-cancer").sample(10_000, 1).frame().write_csv(tmp_path / "lc.csv")
    settings = "--set system=Advantage2_system4 --set direct=true --set annealing_time=1900"
    words = f"learn lc.csv --solver qpu-emulated --reads 40000 {settings}"
    with subprocess.Popen(
        [sys.executable, "-c", script, *words.split()], cwd=tmp_path, env=environment, stderr=subprocess.PIPE, text=True
    ) as process:
        wait_for_file(tmp_path / "sampling", process)
        process.send_signal(signal.SIGINT)
        _, err = process.communicate(timeout=TIMEOUT)
    assert process.returncode == 130
    assert "Exception ignored" not in err
    assert (tmp_path / "calls").read_text() == "1"


def test_an_expired_token_does_not_lose_paid_answers(tmp_path):
    """The id stays in the journal, and a later run with a valid token fetches the answer."""
    from dwave.cloud.exceptions import SolverAuthenticationError, SolverFailureError

    node = small_chip().nodelist[0]
    bqm = dimod.BinaryQuadraticModel({node: 1.0}, {}, 0.0, "SPIN")
    answer = dimod.SampleSet.from_samples_bqm({node: -1}, bqm)
    with dn.SqliteJournal(tmp_path / "run.db") as journal:
        cloud = Cloud([Future(error=SolverAuthenticationError()), Future(answer)])
        submitter = Submitter(CloudBackend(cloud), journal, NO_DELAY)
        with pytest.raises(dn.InputError, match="refused the call"):
            submitter.answer(bqm, {"num_reads": 1})
        again = Submitter(CloudBackend(cloud), journal, NO_DELAY).answer(bqm, {"num_reads": 1})
        assert again.info["sent_now"] is False
        assert len(cloud.sent) == 1
        assert cloud.asked == ["id-1"]
    with dn.SqliteJournal(tmp_path / "other.db") as journal:  # a problem on which the solver failed is sent again
        cloud = Cloud([Future(error=SolverFailureError("no")), Future(answer)])
        with pytest.raises(RefusedError, match="refused the problem"):
            Submitter(CloudBackend(cloud), journal, NO_DELAY).answer(bqm, {"num_reads": 1})
        assert Submitter(CloudBackend(cloud), journal, NO_DELAY).answer(bqm, {"num_reads": 1}).info["sent_now"] is True
        assert len(cloud.sent) == 2


def test_a_problem_is_cancelled_if_its_id_cannot_be_stored():
    class Full:
        def get(self, keys):
            return {}

        def put(self, pieces):
            raise dn.InputError("the disk is full")

    class Counting(Flaky):
        def cancel(self, problem_id):
            self.answers.pop(problem_id)

    backend = Counting(LocalBackend(small_chip(), "chip"), 0, share=0.0)
    submitter = Submitter(backend, Full(), NO_DELAY)
    with pytest.raises(dn.InputError, match="disk is full"):
        submitter.answer(dimod.BinaryQuadraticModel({min(backend.graph): 1.0}, {}, 0.0, "SPIN"), {"num_reads": 2})
    assert len(backend.paid) == 1
    assert backend.answers == {}
    assert submitter.state.pending == set()


@pytest.mark.slow
def test_nothing_is_sent_after_a_final_error_with_a_journal(tmp_path, embeddings):
    class Refusing(Flaky):
        def submit(self, bqm, parameters):
            if self.paid:
                raise dn.InputError("refused")
            return super().submit(bqm, parameters)

    backend = Refusing(LocalBackend(small_chip(), "chip"), 0, share=0.0)
    tries = []
    submit = backend.submit
    backend.submit = lambda *args: (tries.append(1), submit(*args))[1]
    table = dn.scoring.score_table(dn.load("waste").expected_data(10_000))
    with dn.SqliteJournal(tmp_path / "run.db") as journal:
        qpu = QPU(backend, cache=embeddings, journal=journal, retry=NO_DELAY, chain_strength="scan")
        solver = dn.Anneal(qpu, num_reads=30_000, encoding=dn.PAPER, parameters={"annealing_time": 1.0})
        with pytest.raises(dn.InputError, match="refused"):
            solve(table, dn.Divide(solver, size=5, combine="penalty"), journal=journal)
    assert len(tries) == 2


@pytest.mark.slow
def test_a_sampler_works_with_several_journals_in_sequence(tmp_path, embeddings):
    data = dn.load("lung-cancer").expected_data(10_000)
    sampler = emulated("Advantage2_system4", cache=embeddings)
    edges = []
    for name in ("a.db", "b.db"):
        with dn.SqliteJournal(tmp_path / name) as journal:
            edges.append(dn.learn(data, dn.Anneal(sampler, num_reads=10), run=dn.Run(1, journal=journal)).edges)
    edges.append(dn.learn(data, dn.Anneal(sampler, num_reads=10, direct=True), seed=1).edges)
    assert edges[0] == edges[1]
    assert sampler.submitter.journal is None


def test_answers_of_an_earlier_run_are_not_counted_as_charged(tmp_path, embeddings):
    data = dn.load("lung-cancer").expected_data(10_000)
    backend = Flaky(LocalBackend(small_chip(), "chip"), 0, share=0.0)
    used = []
    for _ in range(2):
        with dn.SqliteJournal(tmp_path / "run.db") as journal:
            sampler = QPU(backend, cache=embeddings, retry=NO_DELAY)
            solver = dn.Anneal(sampler, num_reads=10, direct=True)
            used.append(dn.learn(data, solver, run=dn.Run(1, journal=journal)).hardware)
    assert [(each.calls, each.fetched) for each in used] == [(1, 0), (0, 1)]
    assert used[0].access_seconds > 0 == used[1].access_seconds


def test_summed_couplings_of_a_qubit_stay_within_the_range_of_the_chip():
    edges = [(0, 1), (0, 2), (0, 3), (1, 2)]
    rows, columns = np.array(edges).T
    chains = {0: (0, 1), 1: (2,), 2: (3,), 3: (4,)}
    target = nx.complete_graph(5)
    copy = Copy.of(chains, rows, columns, target)
    problem = Ising(np.zeros((1, 4)), np.ones((1, 4)), rows, columns)
    tight = pack(problem, [copy], Ranges(per_qubit=(-1.0, 0.5)), 3.0).bqm
    sums = [sum(tight.get_quadratic(q, other) for other in tight.adj[q]) for q in tight.variables]
    assert min(sums) >= -1.0 - 1e-12
    assert max(sums) <= 0.5 + 1e-12
    assert isclose(max(max(sums) / 0.5, min(sums) / -1.0), 1.0)  # the scale is as large as possible


def test_an_embedding_with_an_extra_chain_is_refused():
    source = nx.complete_graph(3)
    target = nx.complete_graph(5)
    assert embedding_error({0: (0,), 1: (1,), 2: (2,), 3: (3,)}, source, target) == "the QUBO has no variable 3"


# The emulator


def test_the_emulator_marks_its_results_and_is_deterministic(embeddings):
    table = dn.scoring.score_table(dn.load("lung-cancer").expected_data(10_000))
    first, second = (
        dn.solvers.anneal(table, emulated("Advantage2_system4", cache=embeddings), num_reads=50, seed=4) for _ in range(2)
    )
    assert first.solver == "EmulatedQPU"
    assert first.reads.sampleset.info["emulated"]
    assert np.array_equal(first.reads.sampleset.record.sample, second.reads.sampleset.record.sample)
    timing = first.reads.sampleset.info["timing"]
    assert timing["qpu_access_time"] == pytest.approx(timing["qpu_programming_time"] + timing["qpu_sampling_time"])


def test_the_emulator_finds_the_optimum_without_noise_and_with_enough_time(embeddings):
    table = dn.scoring.score_table(dn.load("lung-cancer").expected_data(10_000))
    sampler = emulated("Advantage2_system4", noise=0.0, sweeps=20.0, cold=200.0, cache=embeddings)
    assert dn.solvers.anneal(table, sampler, repair=False, num_reads=100, annealing_time=100.0, seed=1).optimal
    with pytest.raises(dn.InputError, match=r"accepts 0\.5 to 2000 microseconds"):
        sampler.sample(dn.qubo.encode(table), annealing_time=0.1)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: EmulatedChip(noise=-1.0), "^noise is -1.0; give a number of at least 0$"),
        (lambda: EmulatedChip(noise="x"), "^noise is 'x'; give a number of at least 0$"),
        (lambda: EmulatedChip(noise=float("inf")), "^noise is inf"),
        (lambda: EmulatedChip(noise=True), "^noise is True"),
        (lambda: EmulatedChip(sweeps=0), "^sweeps is 0; give a number above 0$"),
        (lambda: EmulatedChip(cold=float("nan")), "^cold is nan; give a number above 0$"),
        (lambda: emulated("Advantage2_system4", spin_reversal="no"), "^spin_reversal is 'no'; give True or False$"),
        (lambda: emulated("Advantage2_system4", embedding=[3]), r"^embedding is \[3\]; give a dict from each variable"),
        (
            lambda: emulated("Advantage2_system4", chain_strength=10**400),
            "^chain_strength is a number of 1329 bits; give a finite",
        ),
        (lambda: dn.qpu.connect(spin_reversal=1), "^spin_reversal is 1; give True or False$"),  # before a connection is made
        (lambda: dn.qpu.connect(embedding=5), "^embedding is 5; give a dict"),
        (
            lambda: dn.qpu.connect(broken=[1]),
            "^there is no option 'broken'; the options are profile, solver, chain_strength,",
        ),
        (lambda: emulated(foo=1), "^there is no option 'foo'; the options are system, model, broken, noise,"),
        (lambda: emulated(embeding={}), r"chain_strength, .*; did you mean 'embedding'\?$"),
        (lambda: EmulatedChip(broken=[99_999]), "^broken has 99999, which is not a qubit of Advantage_system4$"),
        (lambda: EmulatedChip(broken=[1.5]), "^broken has 1.5, which is not a qubit"),
        (lambda: EmulatedChip(broken=[[1]]), r"^broken has \[1\], which is not a qubit"),
        (lambda: emulated(broken=5), "^broken is 5; give a list of qubits"),
        (lambda: emulated("pegasus:x"), "only :working is possible$"),
        (lambda: emulated("qpu"), "^unknown system 'qpu'"),
    ],
)
def test_invalid_options_are_refused(make, message):
    with pytest.raises(dn.InputError, match=message):
        make()


def test_an_emulated_chip_may_lack_qubits(embeddings):
    whole = emulated("Advantage2_system4", cache=embeddings)
    qubits = sorted(whole.backend.graph)
    damaged = emulated("Advantage2_system4", broken=qubits[:100], cache=embeddings)
    assert sorted(damaged.backend.graph) == qubits[100:]
    assert damaged.backend.name.startswith(whole.backend.name)
    assert damaged.backend.name != whole.backend.name  # stored embeddings are found by the name
    working = emulated("Advantage2_system4:working", broken=np.array(qubits[:1]), cache=embeddings)
    assert set(working.backend.graph) == set(find_target("Advantage2_system4:working").graph) - {qubits[0]}
    bqm = dimod.BinaryQuadraticModel({0: 1.0}, {(0, 1): -1.0, (1, 2): 1.0}, 0.0, "SPIN")
    assert damaged.sample(bqm, seed=1) == damaged.sample(bqm, seed=1)


def test_the_command_line_emulates_a_chip_with_defects(tmp_path, monkeypatch, capsys, embeddings):
    monkeypatch.setenv("DAGNEAL_CACHE", str(embeddings))
    monkeypatch.chdir(tmp_path)
    dn.load("lung-cancer").sample(200, 1).frame().write_csv("lc.csv")
    words = ["learn", "lc.csv", "--solver", "qpu-emulated", "--reads", "5", "--quiet", "--json"]
    names = []
    for settings in (["broken=[0, 1]"], ["broken=[0, 2]"], ["model=spin-vectors", "temperature=20", "noise=0.02"]):
        given = (word for setting in ("system=Advantage2_system4", *settings) for word in ("--set", setting))
        assert main([*words, *given]) == 0
        names.append(json.loads(capsys.readouterr().out)["hardware"]["system"])
    assert len(set(names)) == 3
    assert main([*words, "--set", "broken=[99999]"]) == 2
    assert "broken has 99999" in capsys.readouterr().err


def test_an_embedding_without_lists_of_qubits_is_refused(embeddings):
    bqm = dn.qubo.encode(dn.scoring.score_table(dn.load("lung-cancer").expected_data(10_000)))
    sampler = emulated("Advantage2_system4", embedding=dict.fromkeys(bqm.variables, 3), cache=embeddings)
    with pytest.raises(
        dn.InputError, match=r"^embedding is \{.*; give a dict from each variable of the model to a list of qubits$"
    ):
        sampler.sample(bqm, num_reads=1)


@pytest.mark.slow
def test_the_chain_strength_can_be_scanned(embeddings):
    bqm = dn.qubo.encode(dn.scoring.score_table(dn.load("waste-2p-dep").expected_data(10_000)))
    sampler = emulated("Advantage2_system1", chain_strength="scan", cache=embeddings)
    assert sampler.sample(bqm, num_reads=20, seed=1).info["chain_strength"] in (0.7, 1.0, 1.414, 2.0, 3.0)
    assert sampler.submitter.submitted == 6
    with pytest.raises(dn.InputError, match="or 'scan'"):
        emulated("Advantage2_system4", chain_strength="strong", cache=embeddings)


def test_learn_with_an_emulated_annealer(embeddings):
    truth = dn.load("lung-cancer")
    sampler = emulated("Advantage2_system4", cache=embeddings)
    result = dn.learn(truth.expected_data(10_000), dn.Anneal(sampler, num_reads=100), seed=1)
    assert result.division.solver == result.division.global_solver == "EmulatedQPU"
    assert result.reads.optimum is not None
    assert isinstance(
        EmulatedQPU(LocalBackend(small_chip(), "c")).subproblem_solver({}, True, 1, dn.TIGHT), TiledSubproblems
    )


# Plans


def test_plan_numbers(tmp_path):
    settings = PlanSettings("pegasus", dn.PAPER, cache=tmp_path)
    result, copies = plan(15, 3, settings)
    assert (result.qubo_variables, result.interactions, result.subproblems) == (15, 27, 455)
    assert result.copies == len(copies) >= 225
    assert result.calls <= 3
    assert result.longest_chain == 1
    assert result.fits_directly == 10  # the largest clique has 180 variables; 10 variables need 155 QUBO variables
    assert result.seconds < 0.2 < 10 < result.seconds_one_by_one
    cover, _ = plan(15, 3, settings, scheme="cover:2")
    assert cover.subproblems < 50
    assert cover.calls == 1
    for reads, microseconds, calls in ((20_000, 20.0, 2), (10_000, 99.0, 1), (1000, 2000.0, 3)):  # at most 1 s per call
        long, _ = plan(15, 3, replace(settings, reads=reads, annealing_time=microseconds), "cover:2")
        assert long.calls == calls
        properties = chips.SYSTEMS["Advantage_system4"].properties
        call = {"num_reads": reads, "annealing_time": microseconds}
        assert long.calls == len(split_reads(properties, call))
    with pytest.raises(dn.InputError, match="size is 4; give at most 3, the number of variables"):
        plan(3, 4, settings)


def test_the_graph_of_a_subproblem_has_the_known_size():
    for size in range(2, 8):
        graph = subproblem_graph(size, 2, dn.PAPER)
        if size > 2:
            assert len(graph) == (3 * size * size + size) // 2
            assert graph.number_of_edges() == size**3
