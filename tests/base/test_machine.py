"""Tests of limits on cores and memory."""

import builtins
import os
import subprocess
import sys
import threading
import time

import pytest

import dagneal as dn
from dagneal.base import kernels, machine


def test_limits_set_the_number_of_cores():
    seen = set()

    def work(_):
        seen.add((threading.get_ident(), machine.cores()))
        time.sleep(0.01)

    with dn.limits(jobs=3):
        assert machine.cores() == 3
        kernels.run_threads(work, range(30))
    assert len(seen) <= 3
    assert {count for _, count in seen} == {1}  # no nested thread pools
    with dn.limits(jobs=1):
        threads = []
        kernels.run_threads(lambda _: threads.append(threading.get_ident()), range(5))
        assert set(threads) == {threading.get_ident()}
    assert machine.cores() == len(os.sched_getaffinity(0))


def test_with_too_little_memory_learn_uses_another_solver_or_raises_an_error(monkeypatch):
    data = dn.load("alarm-15").sample(500, 1)
    monkeypatch.setattr(machine, "memory_use", lambda: 10**9)
    with dn.limits(memory=10**9 + 250_000):  # enough for 1,590 scores, too little for 9 bytes for each of 2^15 sets
        with pytest.raises(
            dn.InputError, match=r"exact search of 15 variables needs about 295 kB .* only 250 kB of the allowed"
        ):
            dn.learn(data, dn.Exact(), max_parents=2)
        result = dn.learn(data, max_parents=2)
        assert result.solver == "search"
        with pytest.raises(dn.InputError, match=r"a table of [\d,]+ scores needs about .* allow more"):
            dn.scoring.Scorer(data).table(6)
    assert result.score == pytest.approx(dn.learn(data, max_parents=2).score)
    assert result.optimal  # proved by branch and cut, which needs less memory


def test_memory_and_cores_work_without_proc_and_resource(monkeypatch):
    """Windows has no /proc, no `resource` module and no process affinities."""
    original = builtins.__import__

    def refuse(name, *rest):
        if name in ("resource", "fcntl"):
            raise ImportError(name)
        return original(name, *rest)

    def missing(*_, **__):
        raise FileNotFoundError

    monkeypatch.setattr(builtins, "__import__", refuse)
    monkeypatch.setattr(machine.Path, "read_text", missing)
    monkeypatch.delattr(machine.os, "sched_getaffinity", raising=False)
    monkeypatch.delattr(machine.os, "sysconf", raising=False)
    assert machine.memory_use() == 0
    assert machine.cores() >= 1
    assert machine.free_memory() > 1 << 40
    machine.check_address_space(1e15)
    with machine.limits(memory="1GB"):
        assert machine.free_memory() == 10**9


@pytest.mark.slow
def test_all_modules_import_without_unix_modules():
    program = (
        "import sys, pkgutil, importlib\n"
        "for name in ('resource', 'fcntl', 'pwd', 'grp', 'termios'): sys.modules[name] = None\n"
        "import dagneal\n"
        "for module in pkgutil.walk_packages(dagneal.__path__, 'dagneal.'):\n"
        "    module.name.endswith('__main__') or importlib.import_module(module.name)\n"
    )
    subprocess.run([sys.executable, "-c", program], check=True)
