"""Test submission: failures, stored ids, limits and the cloud. No problem is paid for twice."""

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
from dagneal.qpu.submission import RetryPolicy, Submitter, max_reads, split_reads
from support.quantum import NO_DELAY, Cloud, Flaky, Future, run, small_chip
from support.waiting import TIMEOUT, wait_for_file

# Submission


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(3))
def test_failures_do_not_change_the_network_or_pay_twice(seed, tmp_path, embeddings):
    """If 30% of the calls fail and 1% of the qubits are dead, the network is the same as without failures."""
    table = dn.scoring.score_table(dn.load("waste").expected_data(10_000))
    graph = chips.chip_graph("zephyr", (6,))
    dead = np.random.default_rng(seed).choice(sorted(graph), len(graph) // 100, replace=False).tolist()
    steady, _ = run(LocalBackend(small_chip(broken=dead), f"dead {seed}"), table, None, embeddings)
    backend = Flaky(LocalBackend(small_chip(broken=dead), f"dead {seed}"), seed, share=0.3)
    with dn.SqliteJournal(tmp_path / "run.db") as journal:
        solution, qpu = run(backend, table, journal, embeddings)
    assert solution.edges == steady.edges
    assert np.array_equal(solution.division.votes, steady.division.votes)
    assert solution.division.finished == 84
    assert len(backend.paid) == qpu.submitter.submitted <= 2


def test_a_paid_answer_is_fetched_by_id_after_a_crash(tmp_path, embeddings):
    table = dn.scoring.score_table(dn.load("waste").expected_data(10_000))
    inner = LocalBackend(small_chip(), "chip")

    class Crash(BaseException):
        pass

    class Crashing(Flaky):
        def fetch(self, problem_id, timeout):
            raise Crash

    service = Crashing(inner, 0, share=0.0)
    with dn.SqliteJournal(tmp_path / "run.db") as journal, pytest.raises(Crash):
        run(service, table, journal, embeddings)
    assert len(service.paid) >= 1
    paid = list(service.paid)
    healthy = Flaky(inner, 0, share=0.0)
    healthy.answers = service.answers
    with dn.SqliteJournal(tmp_path / "run.db") as journal:
        solution, _ = run(healthy, table, journal, embeddings)
    steady, qpu = run(LocalBackend(small_chip(), "chip"), table, None, embeddings)
    assert solution.edges == steady.edges
    assert len(paid) + len(healthy.paid) == qpu.submitter.submitted  # nothing was sent twice
    forgetful = Flaky(inner, 0, share=0.0)  # a service without the stored ids: the problems are sent again
    with dn.SqliteJournal(tmp_path / "ids.db") as journal:
        submitter = Submitter(forgetful, journal, NO_DELAY)
        bqm = dimod.BinaryQuadraticModel({inner.graph.nodes and min(inner.graph): 1.0}, {}, 0.0, "SPIN")
        submitter.answer(bqm, {"num_reads": 2, "seed": 1})
        forgetful.answers.clear()
        submitter.answer(bqm, {"num_reads": 2, "seed": 1})
    assert submitter.submitted == 2


def test_a_service_that_never_answers_raises_the_last_error():
    backend = Flaky(LocalBackend(small_chip(), "chip"), 0, share=1.0)
    submitter = Submitter(backend, retry=RetryPolicy(attempts=4, pause=0.0, sleep=lambda _: None))
    bqm = dimod.BinaryQuadraticModel({min(backend.graph): 1.0}, {}, 0.0, "SPIN")
    with pytest.raises(dn.InputError, match="no answer in 4 attempts; last error: the server is busy"):
        submitter.answer(bqm, {"num_reads": 2})
    assert backend.failures == 4


def test_pauses_double_up_to_one_minute():
    slept = []
    backend = Flaky(LocalBackend(small_chip(), "chip"), 0, share=1.0)
    submitter = Submitter(backend, retry=RetryPolicy(attempts=9, pause=1.0, sleep=slept.append))
    with pytest.raises(dn.InputError):
        submitter.answer(dimod.BinaryQuadraticModel({min(backend.graph): 1.0}, {}, 0.0, "SPIN"), {"num_reads": 2})
    assert slept == [1.0, 2.0, 4.0, 8.0, 16.0, 32.0, 60.0, 60.0]


def test_ctrl_c_cancels_pending_problems():
    class Slow(Flaky):
        cancelled = ()

        def fetch(self, problem_id, timeout):
            raise KeyboardInterrupt

        def cancel(self, problem_id):
            self.cancelled = (*self.cancelled, problem_id)

    backend = Slow(LocalBackend(small_chip(), "chip"), 0, share=0.0)
    submitter = Submitter(backend, retry=NO_DELAY)
    bqm = dimod.BinaryQuadraticModel({min(backend.graph): 1.0}, {}, 0.0, "SPIN")
    with pytest.raises(KeyboardInterrupt):
        submitter.answer(bqm, {"num_reads": 2})
    assert list(backend.cancelled) == backend.paid


@given(st.integers(1, 30_000), st.floats(0.5, 2000), st.sampled_from([0.0, 5.0, 400.0]), st.sampled_from([0.0, 1000.0]))
def test_split_reads_respect_the_limit_of_ocean(reads, annealing, readout_thermalization, programming_thermalization):
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
    assert max_reads(data["properties"], call) == max(most, 1)
    parts = split_reads(data["properties"], call)
    assert sum(part["num_reads"] for part in parts) == reads
    assert len(parts) == -(-reads // max(most, 1))
    for part in parts:
        assert 1 <= part["num_reads"] <= max(most, 1)
        spent = part["num_reads"] * (annealing + readout_thermalization) + programming_thermalization
        assert spent <= 1e6 * (1 + 1e-12)
        assert part["label"] == "x"
    explicit = call | {"readout_thermalization": 50.0, "programming_thermalization": 10.0}
    own = {name: explicit[name] for name in explicit if name not in ("num_reads", "label")}
    assert max_reads(data["properties"], explicit) == solver.max_num_reads(**own)


def test_the_run_time_limit_decides_the_number_of_calls():
    properties = chips.SYSTEMS["Advantage_system4"].properties
    assert len(split_reads(properties, {"num_reads": 10_000, "annealing_time": 99.0})) == 1
    assert len(split_reads(properties, {"num_reads": 10_000, "annealing_time": 100.0})) == 2
    slow = properties | {"default_readout_thermalization": 1.0}
    assert len(split_reads(slow, {"num_reads": 10_000, "annealing_time": 99.0})) == 2


def test_split_reads_are_returned_together(embeddings):
    chip = small_chip(sweeps=0.1)
    qpu = QPU(LocalBackend(chip, "chip"), cache=embeddings)
    bqm = dn.qubo.encode(dn.scoring.score_table(dn.load("lung-cancer").expected_data(10_000)))
    samples = qpu.sample(bqm, num_reads=600, annealing_time=2000.0, seed=1)  # at most 499 reads per call
    assert samples.record.num_occurrences.sum() == 600
    half = len(samples.record.sample) // 2
    assert not np.array_equal(samples.record.sample[:half], samples.record.sample[half:])  # the calls use different seeds
    assert samples.info["timing"]["qpu_access_time"] > 1e6
    assert qpu.submitter.submitted > 1


@pytest.mark.slow
@pytest.mark.parametrize("calls_before", [0, 2, 6])
def test_a_killed_run_ends_with_the_same_network_after_a_restart(calls_before, tmp_path, embeddings):
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
        "table = dn.scoring.score_table(dn.load('waste').expected_data(10_000))\n"
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

    complete = run_to_the_end("a.db")
    process = subprocess.Popen([sys.executable, "-c", script, "b.db", str(calls_before)], cwd=tmp_path)
    wait_for_file(tmp_path / "stuck", process)
    process.kill()
    process.wait()
    restarted = run_to_the_end("b.db")
    edges, _, calls = complete.stdout.strip().rpartition(" ")
    assert calls == "7"
    assert restarted.stdout.startswith(edges)
    assert int(restarted.stdout.split()[-1]) <= 7
    third = run_to_the_end("b.db")
    assert third.stdout.strip() == f"{edges} 0"  # finished subproblems are not solved again


# The cloud


def test_a_lost_answer_is_requested_from_the_cloud_by_id():
    from dwave.cloud.exceptions import PollingTimeout

    node = small_chip().nodelist[0]
    bqm = dimod.BinaryQuadraticModel({node: 1.0}, {}, 0.0, "SPIN")
    answer = dimod.SampleSet.from_samples_bqm({node: -1}, bqm)
    slow = Future(done=False)
    last = Future(answer)
    cloud = Cloud([slow, Future(error=PollingTimeout()), last])
    backend = CloudBackend(cloud)
    assert backend.name == "Advantage2_system4.1-abc"
    submitter = Submitter(backend, retry=NO_DELAY)
    slow_then_lost = iter([False, True])
    slow.wait = lambda timeout=None: next(slow_then_lost)
    slow.error = PollingTimeout()
    assert submitter.answer(bqm, {"num_reads": 1}).first.energy == -1.0
    assert cloud.sent == [{"auto_scale": False, "num_reads": 1}]  # sent once
    assert cloud.asked == ["id-1", "id-1"]
    assert last.solver is cloud  # needed to decode the answer
    backend.close()
    assert cloud.closed


def test_a_failed_submission_is_retried(tmp_path):
    """A failed submission gives no id (tested with Ocean's own Future), so the problem is sent again."""
    from dwave.cloud.api.exceptions import InternalServerError
    from dwave.cloud.computation import Future as OceansFuture

    cloud = Cloud([])
    node = cloud.nodelist[0]
    bqm = dimod.BinaryQuadraticModel({node: 1.0}, {}, 0.0, "SPIN")
    failed = OceansFuture(cloud, None)
    failed._set_exception(InternalServerError())
    cloud.futures = [failed, Future(dimod.SampleSet.from_samples_bqm({node: -1}, bqm))]
    with dn.SqliteJournal(tmp_path / "ids.db") as journal:
        submitter = Submitter(CloudBackend(cloud), journal, NO_DELAY)
        assert submitter.answer(bqm, {"num_reads": 1}).first.energy == -1.0
    assert (submitter.submitted, len(cloud.sent), cloud.asked) == (1, 2, [])


def test_a_waiting_call_can_be_cancelled_from_another_thread():
    from concurrent.futures import ThreadPoolExecutor
    from threading import Event

    waiting, over = Event(), Event()

    class Endless(Future):
        def wait(self, timeout=None):
            waiting.set()
            return over.wait(TIMEOUT)

        def cancel(self):
            from dwave.cloud.exceptions import CanceledFutureError

            self.cancelled, self.error = True, CanceledFutureError()
            over.set()

    future = Endless()
    cloud = Cloud([future])
    submitter = Submitter(CloudBackend(cloud), retry=NO_DELAY)
    bqm = dimod.BinaryQuadraticModel({cloud.nodelist[0]: 1.0}, {}, 0.0, "SPIN")
    with ThreadPoolExecutor(1) as pool:
        answer = pool.submit(submitter.answer, bqm, {"num_reads": 1})
        waiting.wait(TIMEOUT)
        submitter.cancel()
        with pytest.raises(CancelledError):
            answer.result(TIMEOUT)
    assert future.cancelled


def test_a_resumed_run_sends_a_cancelled_problem_again(tmp_path):
    class Interrupted(Flaky):
        def fetch(self, problem_id, timeout):
            raise KeyboardInterrupt

    bqm = dimod.BinaryQuadraticModel({small_chip().nodelist[0]: 1.0}, {}, 0.0, "SPIN")
    with dn.SqliteJournal(tmp_path / "ids.db") as journal:
        with pytest.raises(KeyboardInterrupt):
            Submitter(Interrupted(LocalBackend(small_chip(), "chip"), 0, 0.0), journal, NO_DELAY).answer(
                bqm, {"num_reads": 2}
            )
        resumed = Submitter(Flaky(LocalBackend(small_chip(), "chip"), 0, 0.0), journal, NO_DELAY)
        resumed.answer(bqm, {"num_reads": 2})
    assert resumed.submitted == 1


def test_the_journal_distinguishes_settings_of_the_emulator(tmp_path, embeddings):
    table = dn.scoring.score_table(dn.load("waste").expected_data(10_000))
    with dn.SqliteJournal(tmp_path / "run.db") as journal:
        quiet, _ = run(LocalBackend(small_chip(noise=0.0), "chip"), table, journal, embeddings)
        noisy, qpu = run(LocalBackend(small_chip(noise=5.0), "chip"), table, journal, embeddings)
    assert qpu.submitter.submitted > 0
    assert not np.array_equal(quiet.division.votes, noisy.division.votes)


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
def test_exceptions_of_ocean_are_translated(name, kind, message):
    import dwave.cloud.exceptions as exceptions

    error = getattr(exceptions, name)
    words = () if name == "CanceledFutureError" else ("secret-free",)
    backend = CloudBackend(Cloud([Future(error=error(*words))]))
    with pytest.raises(kind, match=message):
        backend.fetch("id-9", 1.0)


@pytest.mark.slow
@pytest.mark.parametrize("solver", ["qpu", "leap-hybrid"])
def test_errors_take_one_line_and_never_show_the_token(solver, tmp_path):
    """With a fake token and an unreachable service, the command prints one line, exits with 2 and never shows the token."""
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
    ran = subprocess.run([*run, *words], cwd=tmp_path, env=environment, capture_output=True, text=True, timeout=TIMEOUT)
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


def test_connect_passes_profile_and_solver_to_the_cloud(monkeypatch):
    from dagneal.qpu import sampler

    requests = []

    def connect(profile, solver):
        requests.append((profile, solver))
        return LocalBackend(small_chip(), "chip")

    monkeypatch.setattr(CloudBackend, "connect", connect)
    for wanted in ("zephyr", "Advantage_system4.1", {"num_qubits__gt": 5000}, None):
        sampler.connect("mine", wanted).close()
    topology = {"topology__type": "zephyr"}
    assert requests == [("mine", s) for s in (topology, "Advantage_system4.1", {"num_qubits__gt": 5000}, None)]


def test_the_error_says_that_the_token_is_missing(monkeypatch, tmp_path):
    from dagneal.qpu.sampler import connect

    for name in [name for name in os.environ if name.startswith("DWAVE")]:
        monkeypatch.delenv(name)
    (tmp_path / "dwave.conf").write_text("[defaults]\nsolver = x\n")
    monkeypatch.setenv("DWAVE_CONFIG_FILE", str(tmp_path / "dwave.conf"))
    with pytest.raises(dn.InputError, match="needs an API token; set DWAVE_API_TOKEN, or run `dwave setup`"):
        connect()


def test_the_error_names_an_unknown_profile(monkeypatch, tmp_path):
    from dagneal.qpu.sampler import connect

    for name in [name for name in os.environ if name.startswith("DWAVE")]:
        monkeypatch.delenv(name)
    (tmp_path / "dwave.conf").write_text("[defaults]\ntoken = secret\n")
    monkeypatch.setenv("DWAVE_CONFIG_FILE", str(tmp_path / "dwave.conf"))
    with pytest.raises(dn.InputError, match="with the profile 'nowhere'") as caught:
        connect("nowhere")
    assert "secret" not in str(caught.value)
