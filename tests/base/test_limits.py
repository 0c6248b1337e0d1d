"""Limits of time, memory and size are obeyed or refused early; a failure beside the network does not lose it."""

import builtins
import json
import subprocess
import sys
from itertools import product

import networkx as nx
import numpy as np
import pytest

import dagneal as dn
from dagneal.base import machine
from dagneal.base.errors import OutOfTimeError, SecondaryWarning, secondary
from dagneal.cli import main
from dagneal.divide.pairs import count_pairs, learn_from_pairs
from dagneal.graphs.knowledge import Knowledge
from dagneal.report.drawing import energies_svg
from dagneal.scoring.counting import counter as counts
from dagneal.scoring.counting.counter import Counter
from dagneal.scoring.scorer import Scorer
from support.reference import random_data


@pytest.mark.parametrize("low", [0.0, -1.0, -25_000.0, -1e10, 3e15])
@pytest.mark.parametrize("span", [0.0, 1e-300, 1e-12, 1e-6, 1.0])
def test_energies_that_hardly_differ_are_drawn(low, span):
    energies = np.array([low, low + span, np.nextafter(low, np.inf)])
    svg = energies_svg(energies, np.array([1, 2, 3]), -low, -low)
    drawn = sum(float(part.split(" reads")[0]) for part in svg.split("<title>")[1:])
    assert drawn == 6


@pytest.mark.parametrize("broken", ["holdout", "bootstrap", "strengths", "sensitivity"])
def test_a_failure_beside_the_network_is_reported_and_loses_nothing(tmp_path, monkeypatch, capsys, broken):
    dn.load("lung-cancer").sample(500, 1).frame().write_csv(tmp_path / "lc.csv")

    def fail(*_, **__):
        raise RuntimeError("no luck\nat all")

    module = "resampling" if broken == "bootstrap" else "confidence"
    monkeypatch.setattr(f"dagneal.{module}.{broken}", fail)
    words = ["--bootstrap", "2", "--ess", "1,2", "--holdout", "0.2", "-o", str(tmp_path / "a.json"), "--quiet"]
    assert main(["learn", str(tmp_path / "lc.csv"), *words]) == 2
    out, err = capsys.readouterr()
    assert "log score" in out
    assert err.count("\n") == 1
    assert "failed: RuntimeError: no luck at all" in err
    saved = json.loads((tmp_path / "a.json").read_text())
    assert saved["edges"]
    assert broken not in saved
    others = {"holdout", "bootstrap", "strengths", "sensitivity"} - {broken}
    assert others <= set(saved)


def test_a_failing_page_or_comparison_loses_nothing(tmp_path, monkeypatch, capsys):
    dn.load("lung-cancer").sample(500, 1).frame().write_csv(tmp_path / "lc.csv")

    def fail(*_, **__):
        raise ZeroDivisionError

    monkeypatch.setattr("dagneal.report.page.page", fail)
    monkeypatch.setattr("dagneal.networks.comparison.compare", fail)
    monkeypatch.setattr("dagneal.cli.show.drawn", fail)
    words = ["--truth", "lung-cancer", "-o", str(tmp_path / "a.html"), "-o", str(tmp_path / "a.bif"), "--quiet"]
    assert main(["learn", str(tmp_path / "lc.csv"), *words]) == 2
    out, err = capsys.readouterr()
    assert "log score" in out
    assert err.count("failed: ZeroDivisionError") == 3
    assert dn.read_bif(tmp_path / "a.bif").dag.number_of_edges()


def test_an_exact_search_that_fails_does_not_lose_the_reads(monkeypatch):
    def fail(*_, **__):
        raise MemoryError

    monkeypatch.setattr("dagneal.solvers.annealing.exact", fail)
    table = dn.score_table(dn.load("lung-cancer").expected(1000))
    with pytest.warns(SecondaryWarning, match="exact search beside the annealer failed: MemoryError"):
        found = dn.anneal(table, "sa", num_reads=5)
    assert found.annealed.reads == 5
    assert found.annealed.optimum is None
    assert not found.optimal


def test_ctrl_c_is_no_secondary_failure():
    with pytest.raises(KeyboardInterrupt), secondary("this"):
        raise KeyboardInterrupt


@pytest.mark.parametrize("total", [10**9 - 1, 10**9, 4 * 10**12])
def test_holdout_of_very_many_rows(total):
    small = dn.load("lung-cancer").expected(1000)
    data = dn.Dataset(small.names, small.states, small.codes, small.weights * (total // small.rows))
    held = dn.holdout(data, 0.25)
    assert held.rows == pytest.approx(0.25 * data.rows, rel=1e-3)
    assert held.log_likelihood > held.without_edges
    assert dn.holdout(data, 0.25) == held


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
    assert machine.used() == 0
    assert machine.cores() >= 1
    assert machine.room() > 1 << 40
    machine.check_address_space(1e15)
    with machine.limits(memory="1GB"):
        assert machine.room() == 10**9


def test_modules_import_without_those_of_unix():
    program = (
        "import sys, pkgutil, importlib\n"
        "for name in ('resource', 'fcntl', 'pwd', 'grp', 'termios'): sys.modules[name] = None\n"
        "import dagneal\n"
        "for found in pkgutil.walk_packages(dagneal.__path__, 'dagneal.'):\n"
        "    found.name.endswith('__main__') or importlib.import_module(found.name)\n"
    )
    subprocess.run([sys.executable, "-c", program], check=True)


@pytest.mark.skipif(sys.platform != "linux", reason="address spaces are limited on Linux")
def test_a_small_address_space_is_refused_in_one_line(tmp_path):
    dn.load("lung-cancer").sample(50, 1).frame().write_csv(tmp_path / "lc.csv")
    for kilobytes in (150_000, 900_000):
        done = subprocess.run(
            ["sh", "-c", f'ulimit -v {kilobytes}; exec "$@"', "sh", sys.executable, "-m", "dagneal", "learn", "lc.csv"],
            cwd=tmp_path,
            capture_output=True,
            text=True,
        )
        assert (done.returncode, done.stdout) == (2, "")
        assert done.stderr.startswith("dagneal: ulimit -v leaves")
        assert done.stderr.count("\n") == 1


@pytest.fixture
def strict(monkeypatch):
    """Counting stops at a deadline even if it would take a moment only."""
    monkeypatch.setattr(counts, "_SOON", 10_000)


def test_counting_stops_at_a_deadline(strict):
    data = random_data(12, 200, 1)
    scorer = Scorer(data)
    scorer.counter.deadline = 0.0
    with pytest.raises(OutOfTimeError):
        scorer.table(2)
    assert count_pairs(scorer) is None
    assert np.isfinite(scorer.score(dn.learn(data).dag))  # a few sets are always counted


def test_little_work_is_done_even_after_a_deadline():
    scorer = Scorer(random_data(12, 200, 1))
    scorer.counter.deadline = 0.0
    assert len(scorer.table(2).scores) == 12 * (1 + 11 + 55)


@pytest.mark.parametrize("seed", range(6))
def test_the_network_of_pairs_is_the_best_with_single_parents(seed):
    data = random_data(4, 100, seed)
    names = data.names
    plain = Scorer(data)
    best = -np.inf
    for choice in product((None, *names), repeat=4):
        edges = [(parent, child) for parent, child in zip(choice, names, strict=True) if parent is not None]
        graph = nx.DiGraph()
        graph.add_nodes_from(names)
        graph.add_edges_from(edges)
        if nx.is_directed_acyclic_graph(graph):
            best = max(best, plain.score(graph))
    scorer = Scorer(data)
    found = learn_from_pairs(scorer, count_pairs(scorer))
    assert found.score == pytest.approx(best)
    assert plain.score(found.dag) == pytest.approx(best)


@pytest.mark.parametrize("solver", [None, dn.exact, dn.order])
def test_a_limit_that_leaves_no_time_gives_a_network_all_the_same(strict, monkeypatch, solver):
    data = random_data(14, 300, 2)
    required = [("v0", "v5"), ("v1", "v5"), ("v5", "v2")]
    known = Knowledge(required=required, forbidden=[("v3", "v4")], roots=["v7"])
    found = dn.learn(data, solver=solver, knowledge=known, time_limit=1e-9)
    assert set(required) <= set(found.edges)
    assert "time limit" in found.division.skipped
    assert not found.optimal
    assert found.score == pytest.approx(Scorer(data).score(found.dag))
    # The pairs are counted in time, the tables are not.
    counted = Counter.sums
    calls = []

    def sums(self, members, *rest):
        calls.append(len(members))
        self.deadline = None if len(calls) == 1 else 0.0
        return counted(self, members, *rest)

    monkeypatch.setattr(Counter, "sums", sums)
    found = dn.learn(data, solver=solver, knowledge=known, time_limit=1e6)
    assert set(required) < set(found.edges)
    assert not set(found.dag.predecessors("v7"))
    assert "larger sets of parents" in found.division.skipped


def test_too_many_columns_are_refused_before_the_work(tmp_path):
    with pytest.raises(dn.InputError, match="10,001 columns are too many"):
        dn.read(np.zeros((2, 10_001), dtype=np.uint8))
    (tmp_path / "wide.csv").write_text("\n".join([",".join(f"v{i}" for i in range(100_001)), ",".join(["1"] * 100_001)]))
    with pytest.raises(dn.InputError, match="has 100,001 columns; at most 100,000"):
        dn.read(tmp_path / "wide.csv")


@pytest.mark.parametrize(
    ("solver", "message"),
    [
        ("exact", "exact search takes at most 28 variables, not 70"),
        ("order", "the ordering search takes at most 65 variables, not 70"),
        ("exhaustive", "exhaustive search takes at most 5 variables, not 70"),
        ("sa", "SimulatedAnnealingSampler takes at most 65 variables, not 70"),
    ],
)
def test_each_solver_names_its_own_limit(solver, message):
    data = random_data(70, 50, 1)
    with pytest.raises(dn.InputError, match=message):
        dn.learn(data, solver=solver)


def test_a_wrong_solver_is_refused_before_anything_heavy_is_imported():
    program = (
        "import sys\n"
        "from dagneal.cli import main\n"
        "try:\n    main(['learn', 'x.csv', '--solver', 'nosuch'])\n"
        "except SystemExit as end:\n    assert end.code == 2\n"
        "assert not {'numpy', 'numba', 'polars', 'networkx', 'dimod'} & set(sys.modules)\n"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert "there is no solver 'nosuch'; give one of auto, exact" in done.stderr


def test_the_note_about_triples_names_the_columns_that_were_left_out():
    data = random_data(70, 400, 3, [2] * 68 + [12, 1])
    found = dn.learn(data, max_parents=2)
    assert "looked for in all triples without 'v68', 'v69'" in found.division.skipped


def test_strengths_agree_with_turning_each_edge_round():
    for seed in range(5):
        found = dn.learn(random_data(7, 300, seed), max_parents=3)
        for each in dn.strengths(found):
            graph = found.dag.copy()
            graph.remove_edge(each.parent, each.child)
            assert (each.turned is None) == nx.has_path(graph, each.parent, each.child)


def test_an_output_never_replaces_the_journal(tmp_path, capsys):
    dn.load("lung-cancer").sample(50, 1).frame().write_csv(tmp_path / "lc.csv")
    same = str(tmp_path / "x.json")
    assert main(["learn", str(tmp_path / "lc.csv"), "--divide", "3", "--journal", same, "-o", same]) == 2
    assert "are the same file" in capsys.readouterr().err
    assert not (tmp_path / "x.json").exists()


def test_a_solver_that_returns_no_network_is_named():
    with pytest.raises(dn.InputError, match="the solver returned int"):
        dn.learn(random_data(3, 50, 1), solver=lambda table: 3)


@pytest.mark.parametrize("name", ["independent", "two"])
def test_plans_of_tiny_problems(tmp_path, capsys, name):
    pytest.importorskip("minorminer")
    rows = ["a,b,c", *(f"{i % 2},{i // 2 % 2},{i // 4 % 2}" for i in range(80))]
    if name == "two":
        rows = ["a,b", *(f"{i % 2},{i % 2}" for i in range(80))]
    (tmp_path / "t.csv").write_text("\n".join(rows))
    status = main(["plan", str(tmp_path / "t.csv")])
    assert (status, "nothing to send" in capsys.readouterr().err) == ((2, True) if name == "independent" else (0, False))
