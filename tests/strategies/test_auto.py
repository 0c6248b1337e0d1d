"""The solver `Auto`: its trace and summary describe the network that it returns, also after an early end."""

from dataclasses import replace

import numpy as np
import pytest

import dagneal as dn
from dagneal.base.errors import InputError, OutOfTimeError
from dagneal.proofs import Families, branch, check_proof, read_proof
from dagneal.report.summary import summary_lines
from dagneal.runtime.run import Run
from dagneal.scoring import bounded
from dagneal.scoring.bounded import complete_table
from dagneal.scoring.complete import CompleteSets
from dagneal.scoring.scorer import Scorer
from dagneal.search.anytime import AnytimeSearch, FoundNetwork
from dagneal.strategies import auto, proving
from support.reference import random_data


def binary_data(n, seed=1):
    return random_data(n, 100, seed, arities=[2] * n)


def raiser(error):
    """Return a function that raises an exception."""

    def fail(*_, **__):
        raise error

    return fail


@pytest.mark.parametrize("n", [6, 14])
def test_proved_optimum_is_the_last_point_of_the_trace(n):
    result = dn.learn(binary_data(n))
    last = result.search.trace[-1]
    assert result.optimal
    assert (last.stage, last.score, last.bound) == ("exact search", result.score, result.score)
    assert all(point.bound is None for point in result.search.trace[:-1])
    seconds = [point.seconds for point in result.search.trace]
    assert seconds == sorted(seconds)


def test_bound_is_in_the_last_point_if_it_holds_for_the_parent_limit():
    result = dn.learn(binary_data(24), max_parents=2)
    last = result.search.trace[-1]
    assert (result.optimal, result.bound, result.gap) == (True, None, 0.0)
    assert (last.stage, last.score, last.bound) == ("proof", result.score, result.score)
    bounds = [point.bound for point in result.search.trace if point.bound is not None]
    assert bounds == sorted(bounds, reverse=True)


def test_bound_for_fewer_parents_is_not_in_the_trace(monkeypatch):
    monkeypatch.setattr(auto, "lists_are_quick", lambda *_: False)
    result = dn.learn(binary_data(24, seed=2), max_parents=9)
    assert result.bound.max_parents < result.max_parents
    assert (result.gap, result.optimal) == (None, False)
    assert all(point.bound is None for point in result.search.trace)
    networks = f"networks with at most {result.bound.max_parents} parents"
    known = f"highest of all {networks} (proved), but not proved for at most 9 parents"
    assert known in "\n".join(summary_lines(result))


def test_effort_time_and_interrupts_end_a_proof_with_a_valid_bound(monkeypatch):
    data = binary_data(26, seed=3)
    best = dn.learn(data, max_parents=2)
    assert best.optimal
    interrupt = learn_with(monkeypatch, data, KeyboardInterrupt)
    monkeypatch.setattr(proving.attempt_proof, "__defaults__", (None, 1.0))  # the effort
    effort = dn.learn(data, max_parents=2)
    for result, reason, text in ((effort, "effort", "set prove=300"), (interrupt, "interrupt", "Ctrl-C")):
        assert (result.optimal, result.bound.stopped, result.search.stopped) == (False, reason, "")
        assert result.bound.score >= best.score
        assert result.gap == pytest.approx(result.bound.score - result.score)
        assert text in "\n".join(summary_lines(result))


def learn_with(monkeypatch, data, error):
    """Return the result of a search whose proof is ended by an exception in the second round."""
    with monkeypatch.context() as patch:
        patch.setattr(branch, "separate_clusters", raiser(error))
        return dn.learn(data, max_parents=2)


def test_proof_without_a_limit_finds_a_better_network_than_the_search(monkeypatch):
    data = binary_data(24)
    best = dn.learn(data, max_parents=2).score
    monkeypatch.setattr(AnytimeSearch, "_grow", lambda self, restarts: None)
    monkeypatch.setattr(AnytimeSearch, "_restart_rounds", lambda self, rounds: False)
    result = dn.learn(data, max_parents=2)
    assert result.optimal
    assert result.score == pytest.approx(best)
    assert result.search.trace[-1].stage == "proof"


def test_network_of_a_proof_is_the_result_although_the_search_does_not_reach_it(monkeypatch):
    data = binary_data(24)
    best = dn.learn(data, max_parents=2)
    monkeypatch.setattr(AnytimeSearch, "_grow", lambda self, restarts: None)
    for step, value in (("_restart_rounds", False), ("_improve", None), ("_refine", None), ("_finish", None)):
        monkeypatch.setattr(AnytimeSearch, step, lambda self, *_, value=value: value)
    started = AnytimeSearch._start

    def start(self, initial):
        started(self, initial)
        parents = np.full((24, 1), -1, dtype=np.int32)
        self._keep(FoundNetwork(np.arange(24), parents, self.scorer.score_parents(np.arange(24), parents).sum()))

    monkeypatch.setattr(AnytimeSearch, "_start", start)
    result = dn.learn(data, max_parents=2)
    assert (result.optimal, result.score) == (True, pytest.approx(best.score))
    assert result.score == pytest.approx(Scorer(data).score(result.dag))


@pytest.mark.parametrize("n", [6, 14, 24])
def test_variables_at_the_limit_are_those_of_the_returned_network(n):
    data = binary_data(n)
    result = dn.learn(data, max_parents=1)
    assert result.search.at_limit == tuple(name for name in data.names if result.dag.in_degree(name) == 1)
    assert result.search.at_limit
    assert dn.learn(data).search.at_limit == ()


def test_limit_that_excludes_no_parent_is_not_reached():
    generator = np.random.default_rng(1)
    codes = generator.integers(0, 2, (500, 3))
    codes[:, 2] = codes[:, 0] ^ codes[:, 1]
    result = dn.learn(dn.read(codes, names=["a", "b", "c"]), max_parents=2)
    assert max(degree for _, degree in result.dag.in_degree) == 2
    assert result.search.at_limit == ()


def test_proved_network_is_locally_optimal_although_the_search_found_another(monkeypatch):
    """The summary describes the network of exact search, not that of the search before."""
    monkeypatch.setattr(AnytimeSearch, "_grow", lambda self, restarts: None)
    monkeypatch.setattr(AnytimeSearch, "_finish", lambda self: None)
    data = binary_data(14)
    result = dn.learn(data, max_parents=2)
    assert result.solver == "exact"
    assert result.search.locally_optimal
    assert result.search.trace[-1].score > result.search.trace[-2].score
    assert result.search.at_limit == tuple(name for name in data.names if result.dag.in_degree(name) == 2)


def test_seconds_of_search_and_exact_search_are_separate():
    result = dn.learn(binary_data(14))
    assert list(result.seconds) == ["search", "score", "exact"]
    assert "time: search " in summary_lines(result)[-1]
    assert ", exact search " in summary_lines(result)[-1]
    assert list(dn.learn(binary_data(24)).seconds) == ["search", "proof"]
    assert list(dn.learn(binary_data(24), dn.Auto(prove=False)).seconds) == ["search"]


def test_search_wins_if_exact_search_is_too_expensive_for_its_parents(monkeypatch):
    """Exact search stops at four parents, if a larger table costs too much. The search may find six parents."""
    generator = np.random.default_rng(1)
    codes = generator.integers(0, 2, (3_000, 13))
    codes[:, 12] = codes[:, :6].sum(axis=1) >= 3
    data = dn.read(codes, names=[f"c{i}" for i in range(13)])
    monkeypatch.setattr(auto, "table_is_quick", lambda scorer, limit: limit <= 4)
    monkeypatch.setattr(auto, "unlimited_lists", lambda scorer, setting: None)
    four = dn.learn(data, max_parents=4)
    result = dn.learn(data)
    assert result.score > four.score + 1
    assert (result.solver, result.optimal, result.max_parents, result.gap) == ("search", False, 6, None)
    assert (result.bound.max_parents, result.bound.score) == (4, pytest.approx(four.score))
    assert result.score == pytest.approx(Scorer(data).score(result.dag))


@pytest.mark.parametrize("n", [6, 14, 23])
def test_bounds_on_supersets_prove_the_optimum_without_a_parent_limit(n, tmp_path):
    data = random_data(n, 100, 1, arities=[3] * n)
    result = dn.learn(data, score="bic")
    assert (result.optimal, result.max_parents) == (True, n - 1)
    assert "highest of all networks (proved)" in "\n".join(summary_lines(result))
    assert "at most" not in "\n".join(summary_lines(result))
    result.save(tmp_path / "x.proof")
    families = Families.of(complete_table(Scorer(data, "bic"), n - 1))
    assert families.score(check_proof(read_proof(tmp_path / "x.proof"), families)) == pytest.approx(result.score, abs=2e-6)


def test_optimum_without_a_parent_limit_equals_exact_search_with_all_sets():
    for seed in range(5):
        data = random_data(9, 30, seed, arities=[2] * 9)
        result, best = dn.learn(data), dn.learn(data, dn.Exact(), max_parents=8)
        assert (result.optimal, result.max_parents) == (True, 8)
        assert result.score == pytest.approx(best.score, abs=1e-9)


def test_without_proofs_the_limit_is_lifted_only_for_few_variables():
    assert dn.learn(binary_data(12), dn.Auto(prove=False)).max_parents == 11
    assert dn.learn(binary_data(13), dn.Auto(prove=False)).max_parents == 4


def test_a_proof_keeps_the_sets_that_break_the_rule_of_the_search():
    """With 16 rows, the optimum has sets that separate the rows. The search does not use them."""
    data = random_data(23, 16, 1, arities=[5] * 23)
    found = dn.learn(data, dn.Auto(prove=False), score="bdeu:10")
    result = dn.learn(data, score="bdeu:10")
    assert (result.optimal, result.max_parents) == (True, 22)
    assert result.score > found.score
    assert result.proof is not None


def test_lists_that_need_too_much_memory_do_not_end_the_search(monkeypatch):
    def refuse(*_):
        raise InputError("no memory")

    monkeypatch.setattr(bounded, "check_memory", refuse)
    result = dn.learn(binary_data(24))
    assert (result.optimal, result.max_parents) == (True, 4)


def test_a_given_limit_is_not_lifted():
    result = dn.learn(binary_data(8), max_parents=3, score="bic")
    assert (result.optimal, result.max_parents) == (True, 3)


@pytest.mark.parametrize(("error", "reason"), [(KeyboardInterrupt(), "interrupt"), (OutOfTimeError("late"), "time")])
@pytest.mark.parametrize(("n", "step"), [(24, "complete_table"), (14, "exact")])
def test_early_end_after_the_search_keeps_its_network(monkeypatch, n, step, error, reason):
    data = binary_data(n)
    search = AnytimeSearch(Scorer(data), None, Run(0))
    search.solve(restarts=n != 14)
    monkeypatch.setattr(auto, step, raiser(error))
    monkeypatch.setattr(CompleteSets, "table", raiser(error))
    result = dn.learn(data)
    assert (result.solver, result.optimal, result.bound, result.search.stopped) == ("search", False, None, reason)
    assert result.score >= search.best.score
    assert result.score == pytest.approx(Scorer(data).score(result.dag))
    reason = {"interrupt": "Ctrl-C", "time": "the time limit"}[result.search.stopped]
    stopped = f"{reason} stopped the proof; this is the best network so far"
    assert stopped in summary_lines(result)
    assert stopped not in summary_lines(replace(result, optimal=True))


def test_network_that_improves_before_an_interrupt_is_not_called_locally_optimal(monkeypatch):
    """A proof can find a better network after the local optimality of the first was checked."""
    data = binary_data(24)
    search = AnytimeSearch(Scorer(data), 3, Run(0))
    with monkeypatch.context() as patch:
        patch.setattr(AnytimeSearch, "_grow", lambda self, restarts: None)
        patch.setattr(AnytimeSearch, "_finish", lambda self: setattr(self, "locally_optimal", True))
        search.solve(restarts=False)
    assert search.locally_optimal
    score = search.best.score
    monkeypatch.setattr(AnytimeSearch, "_refine", raiser(KeyboardInterrupt))
    with search.keep_best():
        better = dn.learn(data, dn.Auto(prove=False), max_parents=3)
        search.add_network(auto._found_network(better.dag, data.names, better.score), "proof")
    assert search.best.score > score
    assert (search.stopped, search.locally_optimal) == ("interrupt", False)


@pytest.mark.parametrize(("error", "reason"), [(KeyboardInterrupt(), "interrupt"), (OutOfTimeError("late"), "time")])
def test_early_end_while_the_limit_grows_keeps_the_proof(monkeypatch, error, reason):
    generator = np.random.default_rng(1)
    codes = generator.integers(0, 2, (3_000, 7))
    codes[:, 6] = codes[:, :6].sum(axis=1) >= 3
    data = dn.read(codes, names=list("abcdefg"))
    run_exact = auto.exact

    def stop_at_five(table, run):
        if table.max_parents == 5:
            raise error
        return run_exact(table, run)

    monkeypatch.setattr(auto, "exact", stop_at_five)
    result = dn.learn(data)
    assert (result.optimal, result.max_parents, result.search.stopped) == (True, 4, reason)


def test_line_about_the_limit_names_the_argument_or_the_option(tmp_path, capsys):
    from dagneal.cli import main

    data = dn.load("lung-cancer").sample(2_000, 1)
    result = dn.learn(data, max_parents=1)
    names = ", ".join(result.search.at_limit)
    assert f"max_parents is reached by {names}" in summary_lines(result)
    data.frame().write_csv(tmp_path / "data.csv")
    assert main(["learn", str(tmp_path / "data.csv"), "--max-parents", "1"]) == 0
    assert f"\n--max-parents is reached by {names}\n" in capsys.readouterr().out


def test_command_saves_the_network_and_exits_with_130_after_an_interrupt(tmp_path, monkeypatch, capsys):
    from dagneal.cli import main

    binary_data(14).frame().write_csv(tmp_path / "data.csv")
    monkeypatch.setattr(auto, "exact", raiser(KeyboardInterrupt))
    assert main(["learn", str(tmp_path / "data.csv"), "-o", str(tmp_path / "result.json")]) == 130
    assert "Ctrl-C stopped the proof; this is the best network so far" in capsys.readouterr().out
    assert dn.load_result(tmp_path / "result.json").search.stopped == "interrupt"


@pytest.mark.parametrize("columns", [12, 14])
def test_required_parents_raise_the_default_limit(columns):
    data = dn.read(np.random.default_rng(1).integers(0, 2, (100, columns)))
    required = [(name, data.names[0]) for name in data.names[1:8]]
    assert set(required) <= set(dn.learn(data, knowledge={"required": required}).dag.edges)


def test_limits_in_background_knowledge_are_reported():
    codes = np.random.default_rng(1).integers(0, 2, (100, 14))
    codes[:, 1] = codes[:, 0]
    data = dn.read(codes)
    first, second = data.names[:2]
    result = dn.learn(data, knowledge={"limits": {first: 1, second: 0}})
    assert result.search.at_limit == (first,)
