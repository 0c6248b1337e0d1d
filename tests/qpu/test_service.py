"""Test dagneal with Ocean's real client and a stand-in for D-Wave's service. Nothing is lost or paid for twice."""

import json
import os
import signal
import subprocess
import sys
import threading
import time
from concurrent.futures import CancelledError

import dimod
import numpy as np
import pytest

import dagneal as dn
from dagneal.cli import main
from dagneal.qpu import cloud, tiling
from dagneal.qpu.backend import TransientError, UnknownProblemError
from dagneal.qpu.submission import RetryPolicy
from support.quantum import NO_DELAY
from support.service import NAME, OFFLINE, TOKEN, Service, ServiceError, fail_randomly
from support.solving import solve
from support.waiting import TIMEOUT

LEARN = ["learn", "rows.csv", "--solver", "qpu", "--reads", "5", "--divide", "3", "--rule", "penalty"]
LEARN += ["--journal", "run.db", "-o", "found.json", "--quiet"]
UNUSUAL = "correct+horse/battery=staple"  # a token in another form than D-Wave's tokens
IN_FLIGHT = 4  # problems that a run sends before it has the first answer


@pytest.fixture(scope="module")
def cache(tmp_path_factory):
    """A folder with the embedding that all runs of this module need."""
    folder = tmp_path_factory.mktemp("cache")
    with pytest.MonkeyPatch.context() as patch, Service() as service:
        prepare(service, tmp_path_factory.mktemp("first"), folder, patch)
        patch.setattr(tiling, "_SUBGRAPH_SECONDS", 1)  # a quick search is sufficient
        run_directly(None)
    return folder


@pytest.fixture(scope="module")
def expected(cache, tmp_path_factory):
    """The edges that a run without failures finds, and the number of problems that it sends."""
    with pytest.MonkeyPatch.context() as patch, Service() as service:
        prepare(service, tmp_path_factory.mktemp("expected"), cache, patch)
        assert main(LEARN) == 0
        return read_edges(), len(service.problems)


@pytest.fixture
def service(cache, tmp_path, monkeypatch):
    with Service() as running:
        prepare(running, tmp_path, cache, monkeypatch)
        yield running
        assert running.paid_twice == []


def prepare(service, folder, cache, patch):
    """Write the data, and let this process and its children use the service and the given folders."""
    patch.chdir(folder)
    dn.load("waste").sample(300, 1).frame().write_csv("rows.csv")
    (folder / "empty.conf").touch()
    for name in [name for name in os.environ if name.startswith("DWAVE")]:
        patch.delenv(name)
    patch.setenv("DWAVE_CONFIG_FILE", str(folder / "empty.conf"))
    patch.setenv("DWAVE_API_ENDPOINT", service.endpoint)
    patch.setenv("DWAVE_API_TOKEN", TOKEN)
    patch.setenv("DWAVE_CACHE_HOME", str(folder / "api"))
    patch.setenv("DAGNEAL_CACHE", str(cache))
    patch.setenv("no_proxy", "127.0.0.1")


def run_directly(journal, retry=NO_DELAY):
    """Learn the network in Python, without the pauses of the command line; return the solution."""
    data = dn.read("rows.csv")
    with dn.qpu.connect(retry=retry, journal=journal) as qpu:
        solver = dn.Divide(dn.Anneal(qpu, num_reads=5), size=3, combine="penalty")
        return solve(dn.scoring.score_table(data), solver, seed=0, journal=journal)


def resume():
    """Continue the run in this folder; return the exit status."""
    try:
        return main(["resume", "run.db", "--quiet"])
    except SystemExit as end:
        return end.code


def read_edges():
    with open("found.json") as file:
        return json.load(file)["edges"]


def error_line(text):
    """Return the only line of standard error that is not a note."""
    lines = [line for line in text.splitlines() if not line.startswith("note: ")]
    assert len(lines) == 1, lines
    return lines[0]


def wait_for_pending(service, process, folder):
    """Wait until a run has sent all problems that it sends at a time, and has stored their ids."""
    deadline = time.monotonic() + TIMEOUT
    stored = b""
    sent = service.hold_after + IN_FLIGHT
    while len(service.problems) < sent or not all(name.encode() in stored for name in list(service.problems)):
        assert process.poll() is None, process.returncode
        assert time.monotonic() < deadline
        time.sleep(0.02)
        stored = b"".join(path.read_bytes() for path in folder.glob("run.db*"))


def small_problem(service, offset=0.0):
    a, b = service.chip.edgelist[0]
    return dimod.BinaryQuadraticModel({a: 1.0, b: -0.5}, {(a, b): 0.25}, offset, "SPIN")


# Answers


@pytest.mark.parametrize("mode", ["raw", "histogram"])
def test_answers_have_the_energies_of_the_problem(mode, service):
    bqm = small_problem(service, offset=2.5)
    with dn.qpu.connect() as qpu:
        answer = qpu.submitter.answer(bqm, {"num_reads": 20, "answer_mode": mode})
    assert set(answer.variables) == set(bqm.variables)
    assert answer.record.num_occurrences.sum() == 20
    assert len(answer) == 20 if mode == "raw" else len(answer) < 20
    assert np.allclose(answer.record.energy, bqm.energies(answer))
    assert answer.info["timing"]["qpu_access_time"] > 0


def test_models_of_both_types_are_solved_on_all_qubits(service):
    from dwave.system import DWaveSampler

    generator = np.random.default_rng(1)
    with DWaveSampler() as sampler:
        linear = {qubit: generator.uniform(-4, 4) for qubit in sampler.nodelist}
        quadratic = {edge: generator.uniform(-1, 1) for edge in sampler.edgelist}
        ising = dimod.BinaryQuadraticModel(linear, quadratic, 0.0, "SPIN")
        for bqm in (ising, ising.change_vartype("BINARY", inplace=False)):
            answer = sampler.sample(bqm, num_reads=7, auto_scale=False)
            assert np.allclose(answer.record.energy, bqm.energies(answer))
            assert answer.first.energy < 0


def lung_cancer():
    """Return a network, and a QUBO of its data that fits on the small chip of the service."""
    network = dn.load("lung-cancer")
    return network, dn.scoring.score_table(network.expected_data(10_000))


def test_the_service_gets_the_state_of_a_reverse_anneal(service):
    """The client sends the list of all qubits, and the service accepts only lists of this length."""
    network, table = lung_cancer()
    parameters = {
        "anneal_schedule": [[0, 1], [5, 0.4], [20, 1]],
        "initial_state": network,
        "reinitialize_state": False,
        "programming_thermalization": 10.0,
        "readout_thermalization": 2.0,
    }
    with dn.qpu.connect(spin_reversal=False) as qpu:
        solution = solve(table, dn.Anneal(qpu, num_reads=9, direct=True, parameters=parameters), seed=1)
    (problem,) = service.problems.values()
    sent = problem.content["params"]
    state = sent.pop("initial_state")
    assert sent == {
        "auto_scale": False,
        "answer_mode": "raw",
        "num_reads": 9,
        "anneal_schedule": parameters["anneal_schedule"],
        "reinitialize_state": False,
        "programming_thermalization": 10.0,
        "readout_thermalization": 2.0,
    }
    assert len(state) == service.advertised["num_qubits"]
    assert {qubit for qubit, value in enumerate(state) if value != 3} == set(problem.bqm.variables)
    ones = sum(dn.qubo.qubo_vector(table, network.dag).tolist())
    assert state.count(1) >= ones  # a variable has one qubit or more
    assert solution.reads.reads == 9
    (call,) = solution.hardware.log
    assert call.problem_ids == (problem.id,)
    assert call.timing["qpu_delay_time_per_sample"] == pytest.approx(20.6 + 2.0)


def test_the_service_gets_a_fast_anneal_without_linear_terms(service):
    _, table = lung_cancer()
    bqm = dn.qubo.encode(table)
    with dn.qpu.connect() as qpu:
        samples = qpu.sample(bqm, num_reads=30, seed=1, fast_anneal=True, annealing_time=0.02, answer_mode="histogram")
    (problem,) = service.problems.values()
    assert not any(problem.bqm.linear.values())
    assert len(samples) == 30
    assert np.allclose(samples.record.energy, bqm.energies(samples))


def test_the_client_estimates_the_access_time(service):
    _, table = lung_cancer()
    bqm = dn.qubo.encode(table)
    call = {"num_reads": 200, "annealing_time": 5.0, "readout_thermalization": 3.0}
    with dn.qpu.connect() as qpu:
        estimate = qpu.estimate_access_time(bqm, **call)
        assert not service.problems
        samples = qpu.sample(bqm, **call)
        solver = qpu.backend.sampler.solver
        ocean = solver.estimate_qpu_access_time(samples.info["qubits"], **call)
    assert estimate == ocean / 1e6
    assert estimate == pytest.approx(samples.info["timing"]["qpu_access_time"] / 1e6)
    service.advertised["problem_timing_data"] = service.advertised["problem_timing_data"] | {"version": "2.0.0"}
    with dn.qpu.connect() as qpu, pytest.raises(dn.InputError, match=r"the access time on .* is unknown: .*timing model 2"):
        qpu.estimate_access_time(bqm)


def test_an_unknown_parameter_is_not_sent(service):
    message = r"has no parameter 'num_read'; .*did you mean 'num_reads'"
    with dn.qpu.connect() as qpu, pytest.raises(dn.InputError, match=message):
        qpu.sample(small_problem(service), num_read=5)
    assert service.requests["submit"] == 0


def test_an_answer_is_fetched_by_its_id_over_a_new_connection(service):
    bqm = small_problem(service)
    with dn.qpu.connect() as qpu:
        problem_id = qpu.backend.submit(bqm, {"num_reads": 3, "answer_mode": "raw"})
        first = qpu.backend.fetch(problem_id, TIMEOUT)
    with dn.qpu.connect() as qpu:
        second = qpu.backend.fetch(problem_id, TIMEOUT)
        with pytest.raises(UnknownProblemError):
            qpu.backend.fetch("no-such-id", TIMEOUT)
    assert np.array_equal(first.record.sample, second.record.sample)
    assert len(service.problems) == 1


def test_a_solver_is_found_by_name_and_by_features(service):
    for wanted in ("Advantage2_system4.1", "zephyr", {"num_qubits__gt": 1000}):
        with dn.qpu.connect(solver=wanted) as qpu:
            assert len(qpu.backend.graph) == 160
    for wanted in ("Advantage9", "pegasus"):
        with pytest.raises(dn.InputError, match="no quantum annealer that matches"):
            dn.qpu.connect(solver=wanted)


# Interruptions


@pytest.mark.slow
def test_a_killed_run_resumes_without_sending_a_problem_twice(service, expected, tmp_path):
    edges, calls = expected
    service.hold_after = 2
    with subprocess.Popen([sys.executable, "-m", "dagneal", *LEARN]) as process:
        wait_for_pending(service, process, tmp_path)
        process.kill()
    service.release()
    assert resume() == 0
    assert read_edges() == edges
    assert len(service.problems) == calls


@pytest.mark.slow
def test_ctrl_c_cancels_pending_problems(service, expected, tmp_path):
    edges, calls = expected
    service.hold_after = 2
    command = [sys.executable, "-m", "dagneal", *LEARN]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        wait_for_pending(service, process, tmp_path)
        process.send_signal(signal.SIGINT)
        _, error = process.communicate(timeout=TIMEOUT)
    assert (process.returncode, error_line(error)) == (130, "dagneal: stopped by Ctrl-C")
    assert (service.count("COMPLETED"), service.count("CANCELLED"), service.count("PENDING")) == (2, IN_FLIGHT, 0)
    service.release()
    assert resume() == 0
    assert read_edges() == edges
    assert service.count("COMPLETED") == calls


@pytest.mark.slow
def test_ctrl_c_cancels_the_only_problem_of_a_run(service):
    """Without subproblems, the main thread waits for the answer. It must notice Ctrl-C nevertheless."""
    service.hold_after = 0
    columns = "FilterState,FilterEfficiency,DustEmission"
    words = ["--columns", columns, "--solver", "qpu", "--set", "direct=true", "--journal", "run.db", "--quiet"]
    command = [sys.executable, "-m", "dagneal", "learn", "rows.csv", *words]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        service.wait_until(lambda: service.requests["poll"] >= 2)
        process.send_signal(signal.SIGINT)
        _, error = process.communicate(timeout=TIMEOUT)
    assert (process.returncode, error_line(error)) == (130, "dagneal: stopped by Ctrl-C")
    assert [problem.status for problem in service.problems.values()] == ["CANCELLED"]
    service.release()
    assert resume() == 0
    assert service.count("COMPLETED") == 1


@pytest.mark.parametrize("interrupt", [False, True], ids=["cancel", "Ctrl-C"])
def test_a_problem_is_cancelled_during_a_pause_before_a_retry(interrupt, service):
    def stop(_):
        if interrupt:
            raise KeyboardInterrupt
        qpu.cancel()

    service.hold_after = 0
    service.policy = lambda service, kind: ServiceError(429) if kind == "poll" and service.requests["poll"] == 1 else None
    with dn.qpu.connect(retry=RetryPolicy(sleep=stop)) as qpu, pytest.raises((KeyboardInterrupt, CancelledError)):
        qpu.submitter.answer(small_problem(service), {"num_reads": 2})
    assert [problem.status for problem in service.problems.values()] == ["CANCELLED"]


def test_an_answer_that_arrives_before_the_cancellation_is_not_paid_for_again(service):
    def interrupt(_):
        raise KeyboardInterrupt

    def finish_first(service, kind):
        if kind == "cancel":
            service.release()
        return ServiceError(429) if kind == "poll" else None

    service.hold_after, service.policy = 0, finish_first
    call = small_problem(service), {"num_reads": 2}
    with dn.SqliteJournal("run.db") as journal:
        with dn.qpu.connect(retry=RetryPolicy(sleep=interrupt), journal=journal) as qpu, pytest.raises(KeyboardInterrupt):
            qpu.submitter.answer(*call)
        with dn.qpu.connect(retry=NO_DELAY, journal=journal) as qpu:
            assert not qpu.submitter.answer(*call).info["sent_now"]
    assert [problem.status for problem in service.problems.values()] == ["COMPLETED"]


def test_ctrl_c_cancels_a_problem_that_has_no_id_yet(service, monkeypatch):
    from dwave.cloud.computation import Future

    def interrupt(future, timeout=None):
        raise KeyboardInterrupt

    service.hold_after = 0
    monkeypatch.setattr(Future, "wait_id", interrupt)
    with dn.qpu.connect() as qpu, pytest.raises(KeyboardInterrupt):
        qpu.submitter.answer(small_problem(service), {"num_reads": 2})
    assert [problem.status for problem in service.problems.values()] == ["CANCELLED"]


def test_a_problem_whose_id_arrives_too_late_is_cancelled_and_sent_again(service, monkeypatch):
    late = threading.Event()

    def delay(service, kind):
        if kind == "submit" and not late.is_set():
            late.wait(TIMEOUT)

    def recover(_):
        late.set()
        service.wait_until(lambda: service.count("CANCELLED") == 1)
        service.release()
        monkeypatch.setattr(cloud, "_ID_TIMEOUT", TIMEOUT)

    monkeypatch.setattr(cloud, "_ID_TIMEOUT", 0.05)
    monkeypatch.setattr(cloud, "_END_TIMEOUT", 0.05)
    service.hold_after, service.policy = 0, delay
    with dn.qpu.connect(retry=RetryPolicy(sleep=recover)) as qpu:
        qpu.submitter.answer(small_problem(service), {"num_reads": 2})
    assert [problem.status for problem in service.problems.values()] == ["CANCELLED", "COMPLETED"]


# Failures of the service


def test_an_expired_token_ends_the_run_and_a_new_token_continues_it(service, expected, monkeypatch, capsys):
    edges, calls = expected

    def expire(service, kind):
        if len(service.problems) >= 3:
            service.token = None

    service.policy = expire
    assert main(LEARN) == 2
    assert "D-Wave refused the call (SolverAuthenticationError)" in error_line(capsys.readouterr().err)
    service.policy, service.token = None, TOKEN[::-1]
    assert resume() == 2
    assert "D-Wave does not accept the token in DWAVE_API_TOKEN" in error_line(capsys.readouterr().err)
    monkeypatch.setenv("DWAVE_API_TOKEN", TOKEN[::-1])
    assert resume() == 0
    assert read_edges() == edges
    assert len(service.problems) == calls


@pytest.mark.slow
def test_a_run_continues_when_the_solver_is_online_again(service, expected):
    edges, calls = expected

    def pause(service, kind):
        service.offline = len(service.problems) >= 3 and service.count("FAILED") < 3

    service.policy = pause
    assert main(LEARN) == 0
    assert read_edges() == edges
    assert service.count("FAILED") >= 3
    assert service.count("COMPLETED") == calls


def test_a_solver_that_stays_offline_ends_the_run(service, expected, capsys):
    edges, calls = expected

    def leave(service, kind):
        service.offline = len(service.problems) >= 3

    service.policy = leave
    with dn.SqliteJournal("run.db") as journal:
        with pytest.raises(dn.InputError, match=f"gave no answer in 10 attempts.*{OFFLINE}"):
            run_directly(journal)
        with pytest.raises(dn.InputError, match="no quantum annealer is online"):
            run_directly(journal)
        service.policy, service.offline = None, False
        again = run_directly(journal)
    assert [list(edge) for edge in again.edges] == edges
    assert service.count("COMPLETED") == calls


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(3))
def test_failed_requests_do_not_change_the_network_or_pay_twice(seed, service, expected):
    """If 30% of the requests fail with 429, 503 or a lost connection, the network is the same as without failures."""
    edges, calls = expected
    service.policy = fail_randomly(seed)
    with dn.SqliteJournal("run.db") as journal:
        solution = run_directly(journal)
    assert [list(edge) for edge in solution.edges] == edges
    assert len(service.problems) == calls
    assert len(service.failures) >= 3


def test_a_submission_whose_reply_is_lost_is_repeated(service, expected):
    """Without the reply there is no id. The run has to send the problems again, and pays for them twice."""
    edges, calls = expected

    def lose_first(service, kind):
        return ServiceError(None, late=True) if kind == "submit" and service.requests["submit"] == 1 else None

    service.policy = lose_first
    solution = run_directly(None)
    assert [list(edge) for edge in solution.edges] == edges
    assert len(service.problems) == calls + len(service.paid_twice)
    assert len(service.paid_twice) >= 1
    service.problems.clear()  # all other tests fail if a problem is paid for twice


@pytest.mark.parametrize("status", [400, 401, 403])
def test_a_final_error_is_not_retried(status, service):
    service.policy = lambda service, kind: ServiceError(status, "no access") if kind == "submit" else None
    with dn.qpu.connect(retry=NO_DELAY) as qpu, pytest.raises(dn.InputError):
        qpu.submitter.answer(small_problem(service), {"num_reads": 2})
    assert service.requests["submit"] == 1


# Slow answers and limits


def test_a_slow_answer_is_polled(service):
    service.hold_after, service.longest_poll = 0, 0.05
    service.policy = lambda service, kind: service.release() if service.requests["poll"] >= 4 else None
    with dn.qpu.connect() as qpu:
        answer = qpu.submitter.answer(small_problem(service), {"num_reads": 2})
    assert answer.info["sent_now"]
    assert service.requests["poll"] >= 4
    assert len(service.problems) == 1


def test_a_missing_answer_ends_the_run_at_the_time_limit(service):
    """The time limit also holds for closing the connection, and the answer can be fetched later."""
    service.hold_after = 0
    bqm = small_problem(service)
    with dn.SqliteJournal("run.db") as journal:
        retry = RetryPolicy(attempts=2, pause=0.0, timeout=0.1)
        with dn.qpu.connect(retry=retry, journal=journal) as qpu:
            with pytest.raises(TransientError, match=r"no answer within 0\.1 s"):
                qpu.backend.fetch(qpu.backend.submit(bqm, {"num_reads": 1}), 0.1)
            with pytest.raises(dn.InputError, match=r"no answer in 2 attempts; last error: no answer within 0\.1 s"):
                qpu.submitter.answer(bqm, {"num_reads": 2})
        service.release()
        with dn.qpu.connect(retry=retry, journal=journal) as qpu:
            assert not qpu.submitter.answer(bqm, {"num_reads": 2}).info["sent_now"]


def test_closing_a_connection_to_a_service_that_hangs_ends(service, monkeypatch):
    awake = threading.Event()

    def hang(service, kind):
        if kind == "cancel":
            awake.wait(TIMEOUT)

    service.hold_after, service.policy = 0, hang
    monkeypatch.setattr(cloud, "_END_TIMEOUT", 0.05)
    with dn.qpu.connect() as qpu:
        qpu.backend.cancel(qpu.backend.submit(small_problem(service), {"num_reads": 2}))
    assert service.count("PENDING") == 1
    awake.set()
    service.wait_until(lambda: service.count("CANCELLED") == 1)


@pytest.mark.parametrize("accepted", [False, True], ids=["refused", "failed"])
@pytest.mark.parametrize(
    ("limit", "reason"),
    [
        ({"num_reads_range": [1, 3]}, "num_reads = 5 is out of range [1, 3]"),
        ({"h_range": [-0.1, 0.1]}, "is out of range [-0.1, 0.1]"),
        ({"parameters": {}}, "Unknown parameter"),
    ],
    ids=["reads", "fields", "parameters"],
)
def test_a_refused_problem_ends_the_run_with_the_reason(limit, reason, accepted, service, capsys):
    service.enforced |= limit
    service.accept_invalid = accepted
    assert main(LEARN) == 2
    error = error_line(capsys.readouterr().err)
    assert "the quantum annealer refused the problem" in error
    assert reason in error
    assert service.requests["submit"] <= IN_FLIGHT
    assert service.count("COMPLETED") == 0


# The token


@pytest.mark.slow
@pytest.mark.parametrize(
    ("place", "token", "expired"),
    [("environment", TOKEN, False), ("file", UNUSUAL, False), ("environment", UNUSUAL, True)],
    ids=["environment", "file", "expired"],
)
def test_the_token_never_appears(place, token, expired, service, cache, tmp_path, monkeypatch):
    """Even the most detailed log of the client, which is switched on here, does not contain the token."""

    def expire(service, kind):
        service.token = None if service.problems else token

    service.token, service.policy = token, expire if expired else fail_randomly(1)
    config = tmp_path / "secret.conf"
    if place == "file":
        config.write_text(f"[defaults]\nendpoint = {service.endpoint}\ntoken = {token}\n")
        monkeypatch.setenv("DWAVE_CONFIG_FILE", str(config))
        monkeypatch.delenv("DWAVE_API_TOKEN")
    else:
        monkeypatch.setenv("DWAVE_API_TOKEN", token)
    monkeypatch.setenv("DWAVE_LOG_LEVEL", "trace")
    command = [sys.executable, "-m", "dagneal", *LEARN, "--json", "-o", "page.html"]
    ran = subprocess.run(command, capture_output=True, text=True, timeout=TIMEOUT, check=False)
    assert ran.returncode == (2 if expired else 0), ran.stderr
    assert "create_session" in ran.stderr  # the log is there, and it would contain the token
    assert "[hidden]" in ran.stderr
    written = [path for folder in (tmp_path, cache) for path in folder.rglob("*") if path.is_file() and path != config]
    names = {path.name for path in written}
    assert {"run.db", "cache.db"} | (set() if expired else {"found.json", "page.html"}) <= names
    assert token not in ran.stdout + ran.stderr
    for path in written:
        assert token.encode() not in path.read_bytes(), path


def test_a_plan_uses_the_working_graph_of_the_solver(service, capsys):
    assert main(["plan", "--variables", "5", "--divide", "3", "--topology", "qpu", "--json"]) == 0
    (plan,) = json.loads(capsys.readouterr().out)["plans"]
    assert plan["system"].startswith(NAME)
    assert plan["defects"] == 1248 - len(service.chip.nodelist) > 0
    assert service.problems == {}
