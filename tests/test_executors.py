"""Executors: threads, spawned processes and a Dask cluster give the same answers, also when a worker dies."""

import json
import multiprocessing
import os
import signal
import subprocess
import sys
import threading
import time
from concurrent.futures import Executor, Future, ProcessPoolExecutor, ThreadPoolExecutor

import numpy as np
import pytest
from dwave.samplers import SimulatedAnnealingSampler

import dagneal as dn
from dagneal import counts
from dagneal.cli import main
from dagneal.executors import Shared, Wanted, _held, spread


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
    pieces = ((number,) for number in range(20))
    spread(executor, Shared("ten", 10), added, pieces, lambda piece, result: found.update({piece: result}))
    assert found == {(number,): 10 + number for number in range(20)}
    assert 1 <= executor.calls.count("_call_with") < 20


def test_workers_keep_a_few_things_only():
    for number in range(10):
        with ThreadPoolExecutor(1) as pool:
            spread(pool, Shared(f"thing {number}", number), added, [(1,)], lambda *_: None)
    assert len(_held) <= 4


def failing(value, number):
    raise ZeroDivisionError(number)


def test_what_a_piece_raises_is_raised():
    with ThreadPoolExecutor(2) as pool, pytest.raises(ZeroDivisionError):
        spread(pool, Shared("x", 1), failing, ((number,) for number in range(100)), lambda *_: None)


def test_processes_resample_and_count_alike(data, monkeypatch):
    monkeypatch.setattr(counts, "_MUCH", 0.0)
    with ProcessPoolExecutor(2, mp_context=multiprocessing.get_context("spawn")) as pool:
        assert np.array_equal(dn.bootstrap(data, 6, executor=pool).directions, dn.bootstrap(data, 6).directions)
        table = dn.Scorer(data, executor=pool).table(3)
    assert np.array_equal(table.scores, dn.Scorer(data).table(3).scores)


@pytest.fixture(scope="module")
def cluster(tmp_path_factory):
    """A scheduler and three workers, each a process of its own."""
    folder = tmp_path_factory.mktemp("dask")
    file = folder / "scheduler.json"
    running = []

    def start(kind, *words):
        program = [sys.executable, "-m", "dask", kind, "--scheduler-file", str(file), *words]
        with (folder / f"{len(running)}.log").open("w") as log:
            running.append(subprocess.Popen(program, stdout=log, stderr=log, cwd=folder))
        return running[-1]

    start("scheduler", "--port", "0", "--no-dashboard", "--host", "127.0.0.1")
    until = time.time() + 30
    while not file.exists() and time.time() < until:
        time.sleep(0.05)
    workers = [start("worker", "--nthreads", "1", "--no-nanny", "--no-dashboard") for _ in range(3)]
    yield json.loads(file.read_text())["address"], workers
    for process in running:
        process.kill()
    for process in running:
        process.wait()


def test_a_worker_that_is_killed_makes_no_difference(cluster, data, tmp_path, monkeypatch):
    address, workers = cluster
    monkeypatch.chdir(tmp_path)
    data.frame().write_csv("rows.csv")
    words = ["learn", "rows.csv", "--solver", "sa", "--divide", "4", "--rule", "penalty", "--reads", "400", "--seed", "3"]
    words += ["--bootstrap", "20", "--quiet"]
    assert main([*words, "-o", "here.json"]) == 0
    killing = threading.Timer(2.0, lambda: os.kill(workers[0].pid, signal.SIGKILL))
    killing.start()
    assert main([*words, "--dask", address, "--journal", "run.db", "-o", "there.json"]) == 0
    killing.join()
    assert workers[0].wait(10) == -signal.SIGKILL
    here, there = (json.loads((tmp_path / name).read_text()) for name in ("here.json", "there.json"))
    for found in (here, there):
        found.pop("seconds")
    assert there == here
    assert not here["division"]["failed"]


def test_a_cluster_of_ones_own(data):
    from dagneal.clusters import dask

    with dask("local:2") as executor:
        assert executor.workers == 2
        found = dn.divide(dn.Scorer(data), SimulatedAnnealingSampler(), 3, rule="penalty", num_reads=5, executor=executor)
    here = dn.divide(dn.Scorer(data), SimulatedAnnealingSampler(), 3, rule="penalty", num_reads=5)
    assert np.array_equal(found.division.votes, here.division.votes)


@pytest.mark.parametrize(
    ("address", "message"),
    [("local:many", "no cluster"), ("local:0", "no cluster"), ("tcp://127.0.0.1:1", "no Dask scheduler answers")],
)
def test_clusters_that_are_none(address, message, data, tmp_path, monkeypatch, capsys):
    from dagneal import clusters

    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(clusters, "_PATIENCE", "1s")
    data.frame().write_csv("rows.csv")
    assert main(["learn", "rows.csv", "--dask", address]) == 2
    assert message in capsys.readouterr().err
