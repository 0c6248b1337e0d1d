"""Executors: threads, spawned processes and a Dask cluster give the same answers, also when a worker dies."""

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
from dagneal.runtime.executors import LostError, Shared, Wanted, _held, run_chunks
from dagneal.runtime.journal import SqliteJournal
from dagneal.scoring.counting import counter as counts
from support.daskcluster import Cluster
from support.solving import solve
from support.waiting import PATIENCE

DIVIDED = dn.Divide(dn.Anneal(SimulatedAnnealingSampler(), num_reads=5), size=3, combine="penalty")


@pytest.fixture(scope="module")
def data():
    return dn.load("waste").sample(2_000, 1)


def added(value, number):
    return value + number


class Forgetful(Executor):
    """One worker, in another process as it were: it has only what was sent to it."""

    def __init__(self):
        self.calls = []

    def submit(self, function, /, *arguments, **keywords):
        self.calls.append(function.__name__)
        future = Future()
        if function.__name__ == "_call" and "_call_with" not in self.calls:
            future.set_result(Wanted(arguments[0]))
        else:
            future.set_result(function(*arguments, **keywords))
        return future


def test_what_all_need_is_sent_where_it_is_wanted():
    found, executor = {}, Forgetful()
    chunks = ((f"chunk {number}", number) for number in range(20))
    run_chunks(executor, added, chunks, lambda label, result: found.update({label: result}), Shared("ten", 10))
    assert found == {f"chunk {number}": 10 + number for number in range(20)}
    assert 1 <= executor.calls.count("_call_with") < 20


def test_workers_keep_a_few_things_only():
    for number in range(10):
        with ThreadPoolExecutor(1) as pool:
            run_chunks(pool, added, [("one", 1)], lambda *_: None, Shared(f"thing {number}", number))
    assert len(_held) <= 4


def failing(value, number):
    raise ZeroDivisionError(number)


def test_what_a_piece_raises_is_raised():
    with ThreadPoolExecutor(2) as pool, pytest.raises(ZeroDivisionError):
        run_chunks(pool, failing, ((number, number) for number in range(100)), lambda *_: None, Shared("x", 1))


class GivingUp(Executor):
    """Does the first pieces, gives up the others."""

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


def test_pieces_that_are_given_up_are_no_result(data, tmp_path):
    with pytest.raises(LostError, match="GivingUp gave up pieces"):
        run_chunks(GivingUp(3), added, ((number, number) for number in range(100)), lambda *_: None, Shared("x", 1))
    for first in (0, 2):
        with SqliteJournal(tmp_path / f"{first}.db") as journal:
            with pytest.raises(LostError, match="is in the journal"):
                solve(dn.scoring.Scorer(data), DIVIDED, executor=GivingUp(first), journal=journal)
            found = solve(dn.scoring.Scorer(data), DIVIDED, journal=journal)
        assert found.division.finished == 84


def test_an_executor_that_takes_no_more_is_told(data):
    pool = ThreadPoolExecutor(1)
    pool.shutdown()
    with pytest.raises(LostError, match="ThreadPoolExecutor takes no more work: cannot schedule"):
        dn.bootstrap(data, 3, run=dn.Run(executor=pool))
    with pytest.raises(LostError, match="takes no more work"):
        solve(dn.scoring.Scorer(data), DIVIDED, executor=pool)


def ending(value, number):
    os._exit(1)


def test_processes_that_end_are_told():
    with ProcessPoolExecutor(1, mp_context=multiprocessing.get_context("spawn")) as pool, pytest.raises(LostError):
        run_chunks(pool, ending, [("one", 1)], lambda *_: None, Shared("x", 1))


@pytest.mark.slow
def test_processes_resample_and_count_alike(data, monkeypatch):
    monkeypatch.setattr(counts, "_MUCH", 0.0)
    with ProcessPoolExecutor(2, mp_context=multiprocessing.get_context("spawn")) as pool:
        run = dn.Run(executor=pool)
        assert np.array_equal(dn.bootstrap(data, 6, run=run).directions, dn.bootstrap(data, 6).directions)
        table = dn.scoring.Scorer(data, run=run).table(3)
    assert np.array_equal(table.scores, dn.scoring.Scorer(data).table(3).scores)


@pytest.mark.cluster
def test_a_worker_that_is_killed_makes_no_difference(data, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    data.frame().write_csv("rows.csv")
    words = ["learn", "rows.csv", "--solver", "sa", "--divide", "4", "--rule", "penalty", "--reads", "400", "--seed", "3"]
    words += ["--bootstrap", "20", "--quiet"]
    assert main([*words, "-o", "here.json"]) == 0

    def kill_a_worker(journal, pieces, put=SqliteJournal.put):
        put(journal, pieces)
        cluster.workers[0].kill()

    with Cluster(tmp_path, 3) as cluster, monkeypatch.context() as patch:
        patch.setattr(SqliteJournal, "put", kill_a_worker)  # as soon as a piece is done
        assert main([*words, "--dask", cluster.address, "--journal", "run.db", "-o", "there.json"]) == 0
        assert cluster.workers[0].wait(PATIENCE) == -signal.SIGKILL
    here, there = (json.loads((tmp_path / name).read_text()) for name in ("here.json", "there.json"))
    for found in (here, there):
        found.pop("seconds")
    assert there == here
    assert not here["division"]["failed"]


@pytest.mark.cluster
@pytest.mark.parametrize(("victim", "message"), [("scheduler", "gave up pieces"), ("worker", "has had no workers for 1 s")])
def test_a_cluster_that_is_gone_is_told_and_what_is_finished_is_kept(victim, message, data, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(clusters, "_ALONE", 1.0)
    monkeypatch.setattr(executors, "_LOOK", 0.2)
    data.frame().write_csv("rows.csv")
    words = ["learn", "rows.csv", "--solver", "sa", "--divide", "4", "--rule", "penalty", "--reads", "2000", "--seed", "3"]
    words += ["--quiet", "--journal", "run.db", "-o", "out.json"]
    seen = []

    def kill_after_a_few(journal, pieces, put=SqliteJournal.put):
        put(journal, pieces)
        seen.extend(pieces)
        (cluster.scheduler if victim == "scheduler" else cluster.workers[0]).kill()

    with Cluster(tmp_path, 1) as cluster, monkeypatch.context() as patch:
        patch.setattr(SqliteJournal, "put", kill_after_a_few)
        assert main([*words, "--dask", cluster.address]) == 2
    said = capsys.readouterr().err.splitlines()
    assert message in said[-1]
    assert "is in the journal" in said[-1]
    assert not (tmp_path / "out.json").exists()
    with SqliteJournal("run.db") as journal:
        assert set(journal.get(seen)) == set(seen) != set()


class Weighed:
    """Leaves a mark in a folder wherever it is unpacked."""

    def __init__(self, folder, value):
        self.folder, self.value = folder, value

    def __reduce__(self):
        return unpacked, (self.folder, self.value)


def unpacked(folder, value):
    with open(os.path.join(folder, "marks"), "a") as file:
        file.write(f"{os.getpid()}\n")
    return Weighed(folder, value)


def weighed(shared, number):
    """Work that ends when both workers have the value, so that one of them cannot do it all."""
    folder, until = Path(shared.folder), time.monotonic() + PATIENCE
    workers = set((folder / "workers").read_text().split())
    while not workers <= set((folder / "marks").read_text().split()) and time.monotonic() < until:
        time.sleep(0.01)
    return shared.value + number


@pytest.mark.cluster
def test_data_go_to_each_worker_of_a_cluster_not_with_each_piece(tmp_path):
    found = {}
    with (
        Cluster(tmp_path, 2, PYTHONPATH=os.pathsep.join(sys.path)) as cluster,
        clusters.dask(cluster.address) as executor,
    ):
        (tmp_path / "workers").write_text("\n".join(str(worker.pid) for worker in cluster.workers))
        shared = Shared("weighed", Weighed(str(tmp_path), 10))
        for _ in range(2):
            chunks = ((number, number) for number in range(40))
            run_chunks(executor, weighed, chunks, lambda label, result: found.update({label: result}), shared)
    assert found == {number: 10 + number for number in range(40)}
    marks = (tmp_path / "marks").read_text().split()
    assert len(marks) <= 8  # the scheduler may look at them too, and a worker that has nothing to do may drop them
    assert {str(worker.pid) for worker in cluster.workers} <= set(marks)


def _listening():
    """The addresses at which this process and its children accept connections."""
    import psutil

    here = psutil.Process()
    sockets = [each for process in [here, *here.children(recursive=True)] for each in process.net_connections("tcp")]
    return {tuple(each.laddr) for each in sockets if each.status == psutil.CONN_LISTEN}


@pytest.mark.cluster
def test_a_local_cluster_listens_on_the_loopback_interface_only():
    before = _listening()
    with clusters.dask("local:2") as executor:
        opened = _listening() - before
        assert executor.client.cluster.scheduler.http_server.address == "127.0.0.1"
    assert len(opened) >= 3  # the scheduler and each worker
    assert {host for host, _ in opened} == {"127.0.0.1"}


@pytest.mark.cluster
def test_a_cluster_of_ones_own(data):
    with clusters.dask("local:2") as executor:
        assert executor.workers == 2
        found = solve(dn.scoring.Scorer(data), DIVIDED, executor=executor)
    here = solve(dn.scoring.Scorer(data), DIVIDED)
    assert np.array_equal(found.division.votes, here.division.votes)


@pytest.mark.parametrize(
    ("address", "message"),
    [
        ("local:many", "no cluster"),
        ("local:0", "no cluster"),
        ("tcp://127.0.0.1:1", "no Dask scheduler answers"),
        ("foo", "no address"),
        ("bar://x:1", "no address"),
    ],
)
def test_clusters_that_are_none(address, message, data, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(clusters, "_PATIENCE", "1s")
    data.frame().write_csv("rows.csv")
    assert main(["learn", "rows.csv", "--dask", address]) == 2
    assert message in capsys.readouterr().err
