"""Tests of executors: threads, processes and Dask clusters give the same results, even if a worker dies."""

import json
import multiprocessing
import os
import signal
import sys
import time
from concurrent.futures import Executor, Future, ProcessPoolExecutor, ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest
from dwave.samplers import SimulatedAnnealingSampler

import dagneal as dn
from dagneal.cli import main
from dagneal.runtime import clusters, executors
from dagneal.runtime.executors import LostWorkersError, NeedsSharedValue, Shared, _shared_values, run_chunks
from dagneal.runtime.journal import SqliteJournal
from dagneal.scoring.counting import counter as counts
from support.daskcluster import Cluster
from support.solving import solve, without_times
from support.waiting import TIMEOUT

DIVIDED = dn.Divide(dn.Anneal(SimulatedAnnealingSampler(), num_reads=5), size=3, combine="penalty")
SLOW = "dwave.samplers:SimulatedAnnealingSampler"  # slow enough to lose a worker in the middle of a run


@pytest.fixture(scope="module")
def data():
    return dn.load("waste").sample(2_000, 1)


def add(value, number):
    return value + number


class OneRemoteWorker(Executor):
    """An executor with one worker. The worker has the shared value only after the value was sent."""

    def __init__(self):
        self.calls = []

    def submit(self, function, /, *arguments, **keywords):
        self.calls.append(function.__name__)
        future = Future()
        if function.__name__ == "_call" and "_call_with" not in self.calls:
            future.set_result(NeedsSharedValue(arguments[0]))
        else:
            future.set_result(function(*arguments, **keywords))
        return future


def test_the_shared_value_is_sent_to_a_worker_that_lacks_it():
    results, executor = {}, OneRemoteWorker()
    chunks = ((f"chunk {number}", number) for number in range(20))
    run_chunks(executor, add, chunks, lambda label, result: results.update({label: result}), Shared("ten", 10))
    assert results == {f"chunk {number}": 10 + number for number in range(20)}
    assert 1 <= executor.calls.count("_call_with") < 20


def test_workers_store_only_a_few_shared_values():
    for number in range(10):
        with ThreadPoolExecutor(1) as pool:
            run_chunks(pool, add, [("one", 1)], lambda *_: None, Shared(f"value {number}", number))
    assert len(_shared_values) <= 4


def divide_by_zero(value, number):
    raise ZeroDivisionError(number)


def test_the_exception_of_a_task_is_raised():
    with ThreadPoolExecutor(2) as pool, pytest.raises(ZeroDivisionError):
        run_chunks(pool, divide_by_zero, ((number, number) for number in range(100)), lambda *_: None, Shared("x", 1))


class CancelsTasks(Executor):
    """An executor that runs the first tasks and cancels all others."""

    def __init__(self, first):
        self.left = first

    def submit(self, function, /, *arguments, **keywords):
        self.left -= 1
        future = Future()
        if self.left < 0:
            future.cancel()
            future.set_running_or_notify_cancel()
        else:
            future.set_result(function(*arguments, **keywords))
        return future


def test_cancelled_tasks_raise_an_error_and_a_resumed_run_completes_them(data, tmp_path):
    with pytest.raises(LostWorkersError, match="CancelsTasks did not finish all tasks"):
        run_chunks(CancelsTasks(3), add, ((number, number) for number in range(100)), lambda *_: None, Shared("x", 1))
    for first in (0, 2):
        with SqliteJournal(tmp_path / f"{first}.db") as journal:
            with pytest.raises(LostWorkersError, match="finished tasks are not repeated"):
                solve(dn.scoring.Scorer(data), DIVIDED, executor=CancelsTasks(first), journal=journal)
            solution = solve(dn.scoring.Scorer(data), DIVIDED, journal=journal)
        assert solution.division.finished == 84


def test_an_executor_that_is_shut_down_raises_an_error(data):
    pool = ThreadPoolExecutor(1)
    pool.shutdown()
    with pytest.raises(LostWorkersError, match="ThreadPoolExecutor accepts no more tasks: cannot schedule"):
        dn.bootstrap(data, 3, run=dn.Run(executor=pool))
    with pytest.raises(LostWorkersError, match="accepts no more tasks"):
        solve(dn.scoring.Scorer(data), DIVIDED, executor=pool)


def exit_process(value, number):
    os._exit(1)


def test_a_worker_process_that_exits_raises_an_error():
    with ProcessPoolExecutor(1, mp_context=multiprocessing.get_context("spawn")) as pool, pytest.raises(LostWorkersError):
        run_chunks(pool, exit_process, [("one", 1)], lambda *_: None, Shared("x", 1))


@pytest.mark.slow
def test_processes_and_threads_give_the_same_bootstrap_and_counts(data, monkeypatch):
    monkeypatch.setattr(counts, "_EXECUTOR_WORK", 0.0)
    with ProcessPoolExecutor(2, mp_context=multiprocessing.get_context("spawn")) as pool:
        run = dn.Run(executor=pool)
        assert np.array_equal(dn.bootstrap(data, 6, run=run).directions, dn.bootstrap(data, 6).directions)
        table = dn.scoring.Scorer(data, run=run).table(3)
    assert np.array_equal(table.scores, dn.scoring.Scorer(data).table(3).scores)


@pytest.mark.cluster
def test_the_result_is_the_same_if_a_worker_is_killed(data, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    data.frame().write_csv("rows.csv")
    words = ["learn", "rows.csv", "--sampler", SLOW, "--divide", "4", "--rule", "penalty", "--reads", "400", "--seed", "3"]
    words += ["--bootstrap", "20", "--quiet"]
    assert main([*words, "-o", "threads.json"]) == 0

    def kill_a_worker(journal, results, put=SqliteJournal.put):
        put(journal, results)
        cluster.workers[0].kill()

    with Cluster(tmp_path, 3) as cluster, monkeypatch.context() as patch:
        patch.setattr(SqliteJournal, "put", kill_a_worker)  # kill it as soon as a task is finished
        assert main([*words, "--dask", cluster.address, "--journal", "run.db", "-o", "cluster.json"]) == 0
        assert cluster.workers[0].wait(TIMEOUT) == -signal.SIGKILL
    expected, result = (json.loads((tmp_path / name).read_text()) for name in ("threads.json", "cluster.json"))
    assert without_times(result) == without_times(expected)
    assert not expected["division"]["failed"]


@pytest.mark.cluster
@pytest.mark.parametrize(
    ("victim", "message"), [("scheduler", "did not finish all tasks"), ("worker", "has had no workers for 1 s")]
)
def test_a_lost_cluster_raises_an_error_and_finished_tasks_are_saved(victim, message, data, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(clusters, "_NO_WORKERS", 1.0)
    monkeypatch.setattr(executors, "_CHECK_INTERVAL", 0.2)
    data.frame().write_csv("rows.csv")
    words = ["learn", "rows.csv", "--sampler", SLOW, "--divide", "4", "--rule", "penalty", "--reads", "2000", "--seed", "3"]
    words += ["--quiet", "--journal", "run.db", "-o", "out.json"]
    saved = []

    def save_and_kill(journal, results, put=SqliteJournal.put):
        put(journal, results)
        saved.extend(results)
        (cluster.scheduler if victim == "scheduler" else cluster.workers[0]).kill()

    with Cluster(tmp_path, 1) as cluster, monkeypatch.context() as patch:
        patch.setattr(SqliteJournal, "put", save_and_kill)
        assert main([*words, "--dask", cluster.address]) == 2
    errors = capsys.readouterr().err.splitlines()
    assert message in errors[-1]
    assert "finished tasks are not repeated" in errors[-1]
    assert not (tmp_path / "out.json").exists()
    with SqliteJournal("run.db") as journal:
        assert set(journal.get(saved)) == set(saved) != set()


class LogsUnpickling:
    """A value that, whenever it is unpickled, writes the id of the process to the file `marks`."""

    def __init__(self, folder, value):
        self.folder, self.value = folder, value

    def __reduce__(self):
        return unpickle, (self.folder, self.value)


def unpickle(folder, value):
    with open(os.path.join(folder, "marks"), "a") as file:
        file.write(f"{os.getpid()}\n")
    return LogsUnpickling(folder, value)


def add_when_both_have_it(shared, number):
    """Add a number once both workers have the value, so that one worker cannot run all tasks."""
    folder, until = Path(shared.folder), time.monotonic() + TIMEOUT
    workers = set((folder / "workers").read_text().split())
    while not workers <= set((folder / "marks").read_text().split()) and time.monotonic() < until:
        time.sleep(0.01)
    return shared.value + number


@pytest.mark.cluster
def test_a_cluster_sends_shared_data_once_to_each_worker(tmp_path):
    results = {}
    with (
        Cluster(tmp_path, 2, PYTHONPATH=os.pathsep.join(sys.path)) as cluster,
        clusters.dask(cluster.address) as executor,
    ):
        (tmp_path / "workers").write_text("\n".join(str(worker.pid) for worker in cluster.workers))
        shared = Shared("ten", LogsUnpickling(str(tmp_path), 10))
        for _ in range(2):
            chunks = ((number, number) for number in range(40))
            run_chunks(
                executor, add_when_both_have_it, chunks, lambda label, result: results.update({label: result}), shared
            )
    assert results == {number: 10 + number for number in range(40)}
    marks = (tmp_path / "marks").read_text().split()
    assert len(marks) <= 8  # the scheduler may unpickle the value too, and an idle worker may delete it
    assert {str(worker.pid) for worker in cluster.workers} <= set(marks)


def _listening():
    """Return the addresses at which this process and its children accept connections."""
    import psutil

    parent = psutil.Process()
    sockets = [socket for process in [parent, *parent.children(recursive=True)] for socket in process.net_connections("tcp")]
    return {tuple(socket.laddr) for socket in sockets if socket.status == psutil.CONN_LISTEN}


@pytest.mark.cluster
def test_a_local_cluster_listens_on_the_loopback_interface_only():
    before = _listening()
    with clusters.dask("local:2") as executor:
        opened = _listening() - before
        assert executor.client.cluster.scheduler.http_server.address == "127.0.0.1"
    assert len(opened) >= 3  # the scheduler and each worker
    assert {host for host, _ in opened} == {"127.0.0.1"}


@pytest.mark.cluster
def test_a_local_cluster_gives_the_same_result_as_threads(data):
    with clusters.dask("local:2") as executor:
        assert executor.workers == 2
        solution = solve(dn.scoring.Scorer(data), DIVIDED, executor=executor)
    expected = solve(dn.scoring.Scorer(data), DIVIDED)
    assert np.array_equal(solution.division.votes, expected.division.votes)


@pytest.mark.parametrize(
    ("address", "message"),
    [
        ("local:many", "not a Dask cluster"),
        ("local:0", "not a Dask cluster"),
        ("tcp://127.0.0.1:1", "no Dask scheduler answers"),
        ("foo", "not the address"),
        ("bar://x:1", "not the address"),
    ],
)
def test_an_invalid_cluster_address_is_reported(address, message, data, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(clusters, "_CONNECT_TIMEOUT", "1s")
    data.frame().write_csv("rows.csv")
    assert main(["learn", "rows.csv", "--dask", address]) == 2
    assert message in capsys.readouterr().err
