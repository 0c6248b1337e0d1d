"""Limits of cores and memory, on every system."""

import builtins
import os
import subprocess
import sys
import threading
import time

import pytest

import dagneal as dn
from dagneal.base import kernels, machine


def test_cores_are_those_allowed():
    seen = set()

    def work(_):
        seen.add((threading.get_ident(), machine.cores()))
        time.sleep(0.01)

    with dn.limits(jobs=3):
        assert machine.cores() == 3
        kernels.run_threads(work, range(30))
    assert len(seen) <= 3
    assert {count for _, count in seen} == {1}  # two levels of threads never fight for the cores
    with dn.limits(jobs=1):
        here = []
        kernels.run_threads(lambda _: here.append(threading.get_ident()), range(5))
        assert set(here) == {threading.get_ident()}
    assert machine.cores() == len(os.sched_getaffinity(0))


def test_what_does_not_fit_is_refused_or_done_in_another_way(monkeypatch):
    data = dn.load("alarm-15").sample(500, 1)
    monkeypatch.setattr(machine, "memory_use", lambda: 10**9)
    with dn.limits(memory=10**9 + 250_000):  # a table of 1,590 scores fits, 9 bytes for each of 2^15 sets do not
        with pytest.raises(dn.InputError, match=r"exact search of 15 variables needs about 295 kB .* 250 kB are left"):
            dn.learn(data, dn.Exact(), max_parents=2)
        found = dn.learn(data, max_parents=2)
        assert found.division.global_solver == "order"
        with pytest.raises(dn.InputError, match=r"a table of [\d,]+ scores needs about .* allow more"):
            dn.scoring.Scorer(data).table(6)
    assert found.score == pytest.approx(dn.learn(data, max_parents=2).score)
    assert found.score <= found.bound.score


def test_a_system_without_proc_and_resource_is_no_obstacle(monkeypatch):
    """Windows has neither, nor affinities of processes."""
    genuine = builtins.__import__

    def refuse(name, *rest):
        if name in ("resource", "fcntl"):
            raise ImportError(name)
        return genuine(name, *rest)

    def missing(*_, **__):
        raise FileNotFoundError

    monkeypatch.setattr(builtins, "__import__", refuse)
    monkeypatch.setattr(machine.Path, "read_text", missing)
    monkeypatch.delattr(machine.os, "sched_getaffinity", raising=False)
    monkeypatch.delattr(machine.os, "sysconf", raising=False)
    assert machine.memory_use() == 0
    assert machine.cores() >= 1
    assert machine.room() > 1 << 40
    machine.check_address_space(1e15)
    with machine.limits(memory="1GB"):
        assert machine.room() == 10**9


@pytest.mark.slow
def test_modules_import_without_those_of_unix():
    program = (
        "import sys, pkgutil, importlib\n"
        "for name in ('resource', 'fcntl', 'pwd', 'grp', 'termios'): sys.modules[name] = None\n"
        "import dagneal\n"
        "for found in pkgutil.walk_packages(dagneal.__path__, 'dagneal.'):\n"
        "    found.name.endswith('__main__') or importlib.import_module(found.name)\n"
    )
    subprocess.run([sys.executable, "-c", program], check=True)
