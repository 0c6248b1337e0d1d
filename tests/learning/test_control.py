"""Control: a time limit and a bound, a network to begin with, cores and memory."""

import json
import os
import subprocess
import sys
import threading
import time
from importlib import import_module

import networkx as nx
import numpy as np
import pytest
from dwave.samplers import SimulatedAnnealingSampler

import dagneal as dn
from dagneal.base import kernels, machine
from dagneal.cli import main
from dagneal.proofs.bound import upper_bound
from support.waiting import PATIENCE


@pytest.fixture(scope="module")
def wide():
    """Thirty variables, too many for exact search: two copies of alarm-15 side by side, the second of other rows."""
    truth = dn.load("alarm-15")
    rows = []
    for seed in (1, 2):
        data = truth.sample(1_000, seed)
        codes = np.repeat(data.codes, data.weights, axis=1)
        rows.append(codes[:, np.random.default_rng(seed).permutation(1_000)])
    states = [*truth.states.values()] * 2
    return dn.Dataset.merged([f"{name} {part}" for part in "ab" for name in truth.names], states, np.vstack(rows))


def test_the_search_ends_when_time_is_over(wide, monkeypatch):
    looks = []  # at the clock: one before each further part of an ordering search
    monkeypatch.setattr(
        import_module("dagneal.solvers.order_search"), "perf_counter", lambda: looks.append(1) or time.perf_counter()
    )
    whole = dn.learn(wide, time_limit=3600.0)
    usual = len(looks)
    looks.clear()
    quick = dn.learn(wide, time_limit=1e-6)
    assert len(looks) < usual / 4
    assert quick.division.rounds == 1
    assert nx.is_directed_acyclic_graph(quick.dag)
    assert quick.score <= whole.score + 1e-9
    assert not quick.optimal


def test_a_limit_that_ends_the_conquest_is_told(wide):
    sampler = SimulatedAnnealingSampler()
    options = {"solver": sampler, "num_reads": 2, "num_sweeps": 5, "seed": 1, "blocks": "cover:2"}
    found = dn.learn(wide, time_limit=1e-6, **options)
    assert found.division.rounds == 1
    full = dn.learn(wide, **options)
    assert full.division.rounds == 1 or "time limit" in found.division.skipped


@pytest.mark.parametrize("limit", [0, -1, float("nan"), float("inf")])
def test_limits_that_are_none(wide, limit):
    with pytest.raises(dn.InputError, match="time_limit is"):
        dn.learn(wide, time_limit=limit)


def test_what_is_begun_with_is_not_lost(wide):
    best = dn.learn(wide)
    scorer = dn.Scorer(wide)
    for options in ({}, {"solver": dn.order, "rounds": 0}, {"divide": 3}):
        found = (
            dn.learn(wide, 4, start=best.dag, **options)
            if options != {"divide": 3}
            else dn.learn(wide, 4, divide=3, start=best.dag)
        )
        assert found.score >= best.score - 1e-6
        assert scorer.score(found.dag) == pytest.approx(found.score)


def test_starts_that_are_none(wide):
    data = dn.load("lung-cancer").expected(1_000)
    with pytest.raises(dn.InputError):
        dn.learn(data, start=nx.DiGraph([("a", "b")]))
    cycle = nx.DiGraph([("Smoker", "Cancer"), ("Cancer", "Smoker")])
    cycle.add_nodes_from(data.names)
    with pytest.raises(dn.InputError):
        dn.learn(data, start=cycle)
    truth = dn.load("lung-cancer").dag
    with pytest.raises(dn.InputError, match="start is for"):
        dn.learn(data, start=truth, solver=SimulatedAnnealingSampler(), direct=True)
    assert dn.learn(data, start=truth).optimal


def test_control_on_the_command_line(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    assert main(["sample", "lung-cancer", "--rows", "1000", "-o", "lc.csv"]) == 0
    capsys.readouterr()
    assert main(["learn", "lc.csv", "--start", "lung-cancer", "--time-limit", "5", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["optimal"]
    assert main(["learn", "lc.csv", "--start", "waste"]) == 2
    assert main(["learn", "lc.csv", "--time-limit", "0"]) == 2
    assert "time_limit is 0.0" in capsys.readouterr().err


def test_a_bound_is_told_and_holds(wide):
    found = dn.learn(wide, 3)
    assert found.bound.max_parents == 3
    assert found.score <= found.bound.score + 1e-6
    assert dn.learn(wide, 3, bound=False).bound is None
    assert found.to_dict()["bound"] == {"score": found.bound.score, "max_parents": 3}
    annealed = dn.learn(wide, 2, solver=SimulatedAnnealingSampler(), direct=True, num_reads=2, num_sweeps=5, seed=1)
    assert annealed.score <= annealed.bound.score


@pytest.mark.parametrize("group", [1, 3, 4, 6, 14, 15])
def test_bounds_against_the_optimum(group):
    for seed in range(5):
        table = dn.score_table(dn.load("alarm-15").sample(300, seed), max_parents=2 + seed % 2)
        best = dn.exact(table).score
        bound = upper_bound(table, group).score
        assert bound >= best - 1e-9
        if group == 15:
            assert bound == pytest.approx(best)
        if group == 1:  # every child has its best parents
            most = [table.scores[table.entries_of(child)].max() for child in range(15)]
            assert bound == pytest.approx(sum(most))


def test_a_bound_with_knowledge():
    known = dn.Knowledge(required=[("HR", "CO")], forbidden=[("CO", "HR")], limits={"SaO2": 1})
    table = dn.Scorer(dn.load("alarm-15").sample(300, 1), knowledge=known).table(2)
    best = dn.exact(table).score
    assert upper_bound(table, 15).score == pytest.approx(best)
    assert upper_bound(table, 5).score >= best - 1e-9


def test_cores_are_those_allowed():
    seen = set()

    def work(_):
        seen.add((threading.get_ident(), machine.cores()))
        time.sleep(0.01)

    with dn.limits(jobs=3):
        assert machine.cores() == 3
        kernels.run(work, range(30))
    assert len(seen) <= 3
    assert {count for _, count in seen} == {1}  # two levels of threads never fight for the cores
    with dn.limits(jobs=1):
        here = []
        kernels.run(lambda _: here.append(threading.get_ident()), range(5))
        assert set(here) == {threading.get_ident()}
    assert machine.cores() == len(os.sched_getaffinity(0))


def test_the_number_of_jobs_makes_no_difference(tmp_path, capsys):
    file = tmp_path / "a.csv"
    dn.load("alarm-15").sample(500, 1).frame().write_csv(file)
    options = ["--solver", "sa", "--divide", "4", "--blocks", "cover:2", "--reads", "5", "--bootstrap", "4", "--json"]
    reports = []
    for jobs in ("1", "2"):
        assert main(["learn", str(file), *options, "--jobs", jobs]) == 0
        reports.append(json.loads(capsys.readouterr().out))
    for key in ("edges", "score", "votes", "bootstrap"):
        assert reports[0][key] == reports[1][key]


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (["--jobs", "0"], "jobs is 0"),
        (["--memory", "much"], "'much' is no amount of memory"),
        (["--memory", "0GB"], "no memory at all"),
    ],
)
def test_limits_of_the_machine_that_are_none(options, words, tmp_path, capsys):
    file = tmp_path / "a.csv"
    dn.load("lung-cancer").sample(50, 1).frame().write_csv(file)
    assert main(["learn", str(file), *options]) == 2
    assert words in capsys.readouterr().err


def test_what_does_not_fit_is_refused_or_done_in_another_way(monkeypatch):
    data = dn.load("alarm-15").sample(500, 1)
    monkeypatch.setattr(machine, "used", lambda: 10**9)
    with dn.limits(memory=10**9 + 250_000):  # a table of 1,590 scores fits, 9 bytes for each of 2^15 sets do not
        with pytest.raises(dn.InputError, match=r"exact search of 15 variables needs about 295 kB .* 250 kB are left"):
            dn.learn(data, 2, solver=dn.exact)
        found = dn.learn(data, 2)
        assert found.division.whole == "order"
        with pytest.raises(dn.InputError, match=r"a table of [\d,]+ scores needs about .* allow more"):
            dn.Scorer(data).table(6)
    assert found.score == pytest.approx(dn.learn(data, 2).score)
    assert found.score <= found.bound.score


def test_memory_is_watched_while_it_works(tmp_path):
    """More is taken than was foreseen: the command ends with a line, and leaves no file."""
    file, out = tmp_path / "a.csv", tmp_path / "a.bif"
    dn.load("lung-cancer").sample(50, 1).frame().write_csv(file)
    code = (
        "import sys, dagneal.base.machine as m\n"
        "before, calls = m.used, []\n"
        "m.used = lambda: (calls.append(1), 10**9 if len(calls) > 3 else 1000)[1]\n"
        "import time, dagneal.cli.commands as c\n"
        "learn = c.learn\n"
        "c.learn = lambda options: (time.sleep(600), learn(options))\n"
        "from dagneal.cli import main\n"
        "sys.exit(main(sys.argv[1:]))\n"
    )
    command = [sys.executable, "-c", code, "learn", str(file), "--memory", "500MB", "-o", str(out)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=PATIENCE)
    assert done.returncode == 2
    assert done.stderr.strip() == "dagneal: 1.0 GB are more than the 500 MB of --memory; allow more, or use less data"
    assert not out.exists()


def test_a_time_limit_ends_the_blocks_of_a_sampler(wide):
    found = dn.learn(wide, solver=SimulatedAnnealingSampler(), num_reads=2, num_sweeps=5, seed=1, time_limit=1e-6)
    division = found.division
    assert 0 < division.finished < division.blocks
    assert f"the time limit left {division.blocks - division.finished:,} blocks unsolved" in division.skipped
    with pytest.raises(dn.InputError, match="cannot be cut short"):
        dn.learn(wide, solver=SimulatedAnnealingSampler(), direct=True, time_limit=1.0)
    found = dn.learn(wide, 2, solver=dn.order, rounds=10**9, time_limit=0.2)  # all rounds would take days
    assert not found.optimal
