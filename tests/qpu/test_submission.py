"""Problems that are sent away: failures, ids, limits, the cloud; nobody pays twice."""

import os
import subprocess
import sys
from concurrent.futures import CancelledError

import dimod
import numpy as np
import pytest
from hypothesis import given, strategies as st

import dagneal as dn
from dagneal.qpu import chips
from dagneal.qpu.backend import LocalBackend, TransientError, UnknownProblemError
from dagneal.qpu.cloud import CloudBackend
from dagneal.qpu.sampler import QPU
from dagneal.qpu.submission import RetryPolicy, Submitter, most_reads, split_reads
from support.quantum import AT_ONCE, Cloud, Flaky, Future, run, small_chip
from support.waiting import PATIENCE, wait_for_file

# Submission


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(3))
def test_failures_lose_nothing_and_nobody_pays_twice(seed, tmp_path, embeddings):
    """Three calls in ten fail and one qubit in a hundred is dead: the same network as without failures."""
    table = dn.scoring.score_table(dn.load("waste").expected(10_000))
    whole = chips.chip_graph("zephyr", (6,))
    dead = np.random.default_rng(seed).choice(sorted(whole), len(whole) // 100, replace=False).tolist()
    steady, _ = run(LocalBackend(small_chip(broken=dead), f"dead {seed}"), table, None, embeddings)
    backend = Flaky(LocalBackend(small_chip(broken=dead), f"dead {seed}"), seed, share=0.3)
    with dn.SqliteJournal(tmp_path / "run.db") as journal:
        found, qpu = run(backend, table, journal, embeddings)
    assert found.edges == steady.edges
    assert np.array_equal(found.division.votes, steady.division.votes)
    assert found.division.finished == 84
    assert len(backend.paid) == qpu.submitter.submitted <= 2


def test_an_answer_that_was_paid_for_is_fetched_by_its_id_after_a_crash(tmp_path, embeddings):
    table = dn.scoring.score_table(dn.load("waste").expected(10_000))
    inner = LocalBackend(small_chip(), "chip")

    class Crash(BaseException):
        pass

    class Crashing(Flaky):
        def fetch(self, ident, timeout):
            raise Crash

    service = Crashing(inner, 0, share=0.0)
    with dn.SqliteJournal(tmp_path / "run.db") as journal, pytest.raises(Crash):
        run(service, table, journal, embeddings)
    assert len(service.paid) >= 1
    paid = list(service.paid)
    healthy = Flaky(inner, 0, share=0.0)
    healthy.answers = service.answers
    with dn.SqliteJournal(tmp_path / "run.db") as journal:
        found, _ = run(healthy, table, journal, embeddings)
    steady, qpu = run(LocalBackend(small_chip(), "chip"), table, None, embeddings)
    assert found.edges == steady.edges
    assert len(paid) + len(healthy.paid) == qpu.submitter.submitted  # nothing was sent twice
    forgetful = Flaky(inner, 0, share=0.0)  # the service has forgotten them all: they are sent again
    with dn.SqliteJournal(tmp_path / "ids.db") as journal:
        submitter = Submitter(forgetful, journal, AT_ONCE)
        bqm = dimod.BinaryQuadraticModel({inner.graph.nodes and min(inner.graph): 1.0}, {}, 0.0, "SPIN")
        submitter.answer(bqm, {"num_reads": 2, "seed": 1})
        forgetful.answers.clear()
        submitter.answer(bqm, {"num_reads": 2, "seed": 1})
    assert submitter.submitted == 2


def test_a_service_that_never_answers_is_given_up_with_the_reason():
    backend = Flaky(LocalBackend(small_chip(), "chip"), 0, share=1.0)
    submitter = Submitter(backend, retry=RetryPolicy(attempts=4, pause=0.0, sleep=lambda _: None))
    bqm = dimod.BinaryQuadraticModel({min(backend.graph): 1.0}, {}, 0.0, "SPIN")
    with pytest.raises(dn.InputError, match="no answer in 4 attempts; the last: the server has a cold"):
        submitter.answer(bqm, {"num_reads": 2})
    assert backend.failures == 4


def test_pauses_grow():
    slept = []
    backend = Flaky(LocalBackend(small_chip(), "chip"), 0, share=1.0)
    submitter = Submitter(backend, retry=RetryPolicy(attempts=9, pause=1.0, sleep=slept.append))
    with pytest.raises(dn.InputError):
        submitter.answer(dimod.BinaryQuadraticModel({min(backend.graph): 1.0}, {}, 0.0, "SPIN"), {"num_reads": 2})
    assert slept == [1.0, 2.0, 4.0, 8.0, 16.0, 32.0, 60.0, 60.0]


def test_ctrl_c_cancels_what_is_pending():
    class Slow(Flaky):
        cancelled = ()

        def fetch(self, ident, timeout):
            raise KeyboardInterrupt

        def cancel(self, ident):
            self.cancelled = (*self.cancelled, ident)

    backend = Slow(LocalBackend(small_chip(), "chip"), 0, share=0.0)
    submitter = Submitter(backend, retry=AT_ONCE)
    bqm = dimod.BinaryQuadraticModel({min(backend.graph): 1.0}, {}, 0.0, "SPIN")
    with pytest.raises(KeyboardInterrupt):
        submitter.answer(bqm, {"num_reads": 2})
    assert list(backend.cancelled) == backend.paid


@given(st.integers(1, 30_000), st.floats(0.5, 2000), st.sampled_from([0.0, 5.0, 400.0]), st.sampled_from([0.0, 1000.0]))
def test_reads_are_split_within_the_limit_of_ocean(reads, annealing, readout_thermalization, programming_thermalization):
    from dwave.cloud.solver import StructuredSolver
    from dwave.cloud.testing.mocks import qpu_pegasus_solver_data

    data = qpu_pegasus_solver_data(2)
    data["properties"] |= {
        "num_reads_range": [1, 10_000],
        "problem_run_duration_range": [0.0, 1e6],
        "annealing_time_range": [0.5, 2000.0],
        "default_annealing_time": 20.0,
        "default_readout_thermalization": readout_thermalization,
        "default_programming_thermalization": programming_thermalization,
    }
    solver = StructuredSolver(client=None, data=data)
    call = {"num_reads": reads, "annealing_time": annealing, "label": "x"}
    most = solver.max_num_reads(annealing_time=annealing)
    assert most_reads(data["properties"], call) == max(most, 1)
    parts = split_reads(data["properties"], call)
    assert sum(part["num_reads"] for part in parts) == reads
    assert len(parts) == -(-reads // max(most, 1))
    for part in parts:
        assert 1 <= part["num_reads"] <= max(most, 1)
        spent = part["num_reads"] * (annealing + readout_thermalization) + programming_thermalization
        assert spent <= 1e6 * (1 + 1e-12)
        assert part["label"] == "x"
    given = call | {"readout_thermalization": 50.0, "programming_thermalization": 10.0}
    own = {name: given[name] for name in given if name not in ("num_reads", "label")}
    assert most_reads(data["properties"], given) == solver.max_num_reads(**own)


def test_ten_thousand_reads_of_99_microseconds_are_one_call():
    properties = chips.SYSTEMS["Advantage_system4"].properties
    assert len(split_reads(properties, {"num_reads": 10_000, "annealing_time": 99.0})) == 1
    assert len(split_reads(properties, {"num_reads": 10_000, "annealing_time": 100.0})) == 2
    slow = properties | {"default_readout_thermalization": 1.0}
    assert len(split_reads(slow, {"num_reads": 10_000, "annealing_time": 99.0})) == 2


def test_split_reads_come_together(embeddings):
    chip = small_chip(sweeps=0.1)
    qpu = QPU(LocalBackend(chip, "chip"), cache=embeddings)
    bqm = dn.qubo.encode(dn.scoring.score_table(dn.load("lung-cancer").expected(10_000)))
    found = qpu.sample(bqm, num_reads=600, annealing_time=2000.0, seed=1)  # at most 499 in a call
    assert found.record.num_occurrences.sum() == 600
    half = len(found.record.sample) // 2
    assert not np.array_equal(found.record.sample[:half], found.record.sample[half:])  # other reads, not the same again
    assert found.info["timing"]["qpu_access_time"] > 1e6
    assert qpu.submitter.submitted > 1


@pytest.mark.slow
@pytest.mark.parametrize("calls_before", [0, 2, 6])
def test_killed_and_restarted_it_ends_with_the_same_network(calls_before, tmp_path, embeddings):
    script = (
        "import sys, threading, dagneal as dn\n"
        "from pathlib import Path\n"
        "from dagneal.qpu.emulator import EmulatedChip, EmulatedQPU\n"
        "from dagneal.qpu.backend import LocalBackend\n"
        "most, lock = int(sys.argv[2]), threading.Lock()\n"
        "class Slow(EmulatedChip):\n"
        "    calls = 0\n"
        "    def sample(self, bqm, **options):\n"
        "        with lock:\n"
        "            Slow.calls += 1\n"
        "            stuck = Slow.calls > most\n"
        "        if stuck:\n"
        "            Path('stuck').touch()\n"
        "            threading.Event().wait()\n"
        "        return super().sample(bqm, **options)\n"
        "class Few(EmulatedQPU):\n"
        "    def copies(self, *args, **more):\n"
        "        return super().copies(*args, **more)[:12]\n"
        "table = dn.scoring.score_table(dn.load('waste').expected(10_000))\n"
        "with dn.SqliteJournal(sys.argv[1]) as journal:\n"
        "    chip = LocalBackend(Slow('Advantage2_system4'), 'slow')\n"
        f"    qpu = Few(chip, cache=Path({str(embeddings)!r}), journal=journal)\n"
        "    found = dn.Divide(dn.Anneal(qpu, num_reads=5), size=3, combine='penalty').solve(\n"
        "        dn.Problem(table), dn.Run(1, journal=journal)\n"
        "    )\n"
        "print(found.edges, qpu.submitter.submitted)\n"
    )

    def run_to_the_end(journal):
        command = [sys.executable, "-c", script, journal, "1000"]
        return subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=True)

    whole = run_to_the_end("a.db")
    process = subprocess.Popen([sys.executable, "-c", script, "b.db", str(calls_before)], cwd=tmp_path)
    wait_for_file(tmp_path / "stuck", process)
    process.kill()
    process.wait()
    again = run_to_the_end("b.db")
    edges, _, calls = whole.stdout.strip().rpartition(" ")
    assert calls == "7"
    assert again.stdout.startswith(edges)
    assert int(again.stdout.split()[-1]) <= 7
    third = run_to_the_end("b.db")
    assert third.stdout.strip() == f"{edges} 0"  # what is finished is not solved again


# The cloud


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
    submitter = Submitter(backend, retry=AT_ONCE)
    slow_then_lost = iter([False, True])
    slow.wait = lambda timeout=None: next(slow_then_lost)
    slow.error = PollingTimeout()
    assert submitter.answer(bqm, {"num_reads": 1}).first.energy == -1.0
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
        submitter = Submitter(CloudBackend(cloud), journal, AT_ONCE)
        assert submitter.answer(bqm, {"num_reads": 1}).first.energy == -1.0
    assert (submitter.submitted, len(cloud.sent), cloud.asked) == (1, 2, [])


def test_what_is_waited_for_can_be_cancelled_from_another_thread():
    from concurrent.futures import ThreadPoolExecutor
    from threading import Event

    waiting, over = Event(), Event()

    class Endless(Future):
        def wait(self, timeout=None):
            waiting.set()
            return over.wait(PATIENCE)

        def cancel(self):
            from dwave.cloud.exceptions import CanceledFutureError

            self.cancelled, self.error = True, CanceledFutureError()
            over.set()

    future = Endless()
    cloud = Cloud([future])
    submitter = Submitter(CloudBackend(cloud), retry=AT_ONCE)
    bqm = dimod.BinaryQuadraticModel({cloud.nodelist[0]: 1.0}, {}, 0.0, "SPIN")
    with ThreadPoolExecutor(1) as pool:
        answer = pool.submit(submitter.answer, bqm, {"num_reads": 1})
        waiting.wait(PATIENCE)
        submitter.cancel()
        with pytest.raises(CancelledError):
            answer.result(PATIENCE)
    assert future.cancelled


def test_a_cancelled_problem_is_sent_again_when_the_run_goes_on(tmp_path):
    class Interrupted(Flaky):
        def fetch(self, ident, timeout):
            raise KeyboardInterrupt

    bqm = dimod.BinaryQuadraticModel({small_chip().nodelist[0]: 1.0}, {}, 0.0, "SPIN")
    with dn.SqliteJournal(tmp_path / "ids.db") as journal:
        with pytest.raises(KeyboardInterrupt):
            Submitter(Interrupted(LocalBackend(small_chip(), "chip"), 0, 0.0), journal, AT_ONCE).answer(
                bqm, {"num_reads": 2}
            )
        again = Submitter(Flaky(LocalBackend(small_chip(), "chip"), 0, 0.0), journal, AT_ONCE)
        again.answer(bqm, {"num_reads": 2})
    assert again.submitted == 1


def test_the_knobs_of_the_emulator_are_part_of_what_a_journal_keeps(tmp_path, embeddings):
    table = dn.scoring.score_table(dn.load("waste").expected(10_000))
    with dn.SqliteJournal(tmp_path / "run.db") as journal:
        calm, _ = run(LocalBackend(small_chip(noise=0.0), "chip"), table, journal, embeddings)
        wild, qpu = run(LocalBackend(small_chip(noise=5.0), "chip"), table, journal, embeddings)
    assert qpu.submitter.submitted > 0
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


@pytest.mark.slow
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
        "XDG_CACHE_HOME": str(tmp_path / "embeddings"),
        "DAGNEAL_CACHE": str(tmp_path / "embeddings"),
    }
    run = [sys.executable, "-m", "dagneal"]
    made = subprocess.run([*run, "sample", "lung-cancer", "-o", "lc.csv"], cwd=tmp_path, env=environment, check=True)
    assert made.returncode == 0
    words = ["learn", "lc.csv", "--solver", solver, "-o", "found.json"]
    if solver == "qpu":
        words += ["--journal", "run.db"]
    ran = subprocess.run([*run, *words], cwd=tmp_path, env=environment, capture_output=True, text=True, timeout=PATIENCE)
    assert ran.returncode == 2
    assert ran.stdout == ""
    lines = [line for line in ran.stderr.splitlines() if not line.startswith("note: ")]
    assert len(lines) == 1
    assert "D-Wave" in lines[0]
    assert token not in ran.stderr
    emulated = [*run, "learn", "lc.csv", "--solver", "qpu-emulated", "--set", "system=Advantage2_system4", "--reads", "20"]
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

    def connect(profile, solver):
        asked.append((profile, solver))
        return LocalBackend(small_chip(), "chip")

    monkeypatch.setattr(CloudBackend, "connect", connect)
    for wanted in ("zephyr", "Advantage_system4.1", {"num_qubits__gt": 5000}, None):
        sampler.connect("mine", wanted).close()
    topology = {"topology__type": "zephyr"}
    assert asked == [("mine", s) for s in (topology, "Advantage_system4.1", {"num_qubits__gt": 5000}, None)]


def test_an_unknown_profile_is_named(monkeypatch, tmp_path):
    from dagneal.qpu.sampler import connect

    for name in [name for name in os.environ if name.startswith("DWAVE")]:
        monkeypatch.delenv(name)
    (tmp_path / "dwave.conf").write_text("[defaults]\ntoken = secret\n")
    monkeypatch.setenv("DWAVE_CONFIG_FILE", str(tmp_path / "dwave.conf"))
    with pytest.raises(dn.InputError, match="with the profile 'nowhere'") as caught:
        connect("nowhere")
    assert "secret" not in str(caught.value)
