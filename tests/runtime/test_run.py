"""Tests of `Run`: seeds, tasks, journals, deadlines and executors. User samplers must not be modified."""

import multiprocessing
import threading
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
import pytest
from dwave.samplers import SimulatedAnnealingSampler

import dagneal as dn
from dagneal.base.errors import OutOfTimeError
from dagneal.qpu.backend import LocalBackend
from dagneal.qpu.sampler import QPU
from dagneal.runtime.run import NEVER, Chunking
from support.quantum import NO_DELAY, small_chip


@dataclass(frozen=True)
class Squares:
    """A task function that adds the square of a task to the shared number. The task `failing` fails."""

    failing: int = -1
    largest: int = 200
    shape: tuple[int, ...] = (2,)

    def __call__(self, shared, tasks):
        values = np.array([[shared + int(task) ** 2, int(task)] for task in tasks], dtype=np.uint8)
        return values, {index: "invalid task" for index, task in enumerate(tasks) if int(task) == self.failing}


@dataclass(frozen=True)
class ChunksOfFour(Squares):
    """`Squares` with four tasks per call and one call at a time. It records its calls, and can fail in the second."""

    calls: list = field(default_factory=list, compare=False)
    in_flight: int = 1
    stop: BaseException | None = None

    def chunk_size(self, shared, tasks):
        return 4

    def __call__(self, shared, tasks):
        self.calls.append([int(task) for task in tasks])
        if self.stop is not None and len(self.calls) == 2:
            raise self.stop
        return super().__call__(shared, tasks)


EXPECTED = np.array([[3 + number**2, number] for number in range(12)], dtype=np.uint8)


class Memory:
    """A journal in memory."""

    def __init__(self):
        self.stored = {}

    def get(self, keys):
        return {key: self.stored[key] for key in keys if key in self.stored}

    def put(self, results):
        self.stored |= results


def key(task):
    return f"square {task}"


# Seeds


def test_child_runs_have_different_seeds():
    run = dn.Run(7, progress=print)
    assert run.child("Smoker", "Cancer").seed == 706540194  # the same on every machine
    seeds = {run.child(*names).seed for names in (["a"], ["b"], ["a", "b"], ["b", "a"], ["ab"], ["a", "b", ""])}
    assert len(seeds) == 6
    assert run.child("a").seed != dn.Run(8).child("a").seed
    assert run.child("a").child("b").seed != run.child("b").child("a").seed
    assert run.child("a").progress is print
    assert run.seed == 7
    assert all(0 <= seed < 2**31 for seed in seeds)  # the range that samplers accept


def test_a_run_cannot_be_changed():
    with pytest.raises(AttributeError):
        dn.Run().seed = 3


# Tasks


def test_results_are_in_the_order_of_the_tasks():
    assert isinstance(ChunksOfFour(), Chunking)
    assert not isinstance(Squares(), Chunking)
    for function in (Squares(), ChunksOfFour()):
        results = dn.Run().map(function, range(12), 3)
        assert np.array_equal(results.values, EXPECTED)
        assert results.done.all()
        assert (results.failed, results.interrupted, results.late) == ({}, False, False)


def test_a_failed_task_is_reported_and_the_others_are_finished():
    results = dn.Run().map(ChunksOfFour(failing=6), range(12), 3)
    assert results.failed == {6: "invalid task"}
    assert results.done.tolist() == [number != 6 for number in range(12)]
    assert np.array_equal(results.values[results.done], EXPECTED[results.done])


def test_progress_is_reported():
    reports = []
    dn.Run(progress=lambda *report: reports.append(report)).map(ChunksOfFour(failing=1), range(12), 3, stage="squares")
    assert reports == [("squares", 4, 12), ("squares", 8, 12), ("squares", 12, 12)]


@pytest.mark.parametrize(
    "executor",
    [
        lambda: ThreadPoolExecutor(1),
        lambda: ThreadPoolExecutor(4),
        pytest.param(
            lambda: ProcessPoolExecutor(2, mp_context=multiprocessing.get_context("spawn")), marks=pytest.mark.slow
        ),
    ],
    ids=["one thread", "four threads", "processes"],
)
def test_executors_give_the_same_results(executor):
    with executor() as pool:
        for function in (Squares(failing=5), ChunksOfFour(failing=5)):
            results = dn.Run(executor=pool).map(function, range(12), 3)
            expected = dn.Run().map(function, range(12), 3)
            assert np.array_equal(results.values, expected.values)
            assert np.array_equal(results.done, expected.done)
            assert results.failed == expected.failed == {5: "invalid task"}


def double(shared, task):
    return shared + 2 * task


def test_results_are_recorded_in_the_calling_thread():
    results, threads = {}, set()

    def record(task, result):
        results[task] = result
        threads.add(threading.get_ident())

    dn.Run().each(double, range(20), record, 1, workers=3)
    assert results == {number: 1 + 2 * number for number in range(20)}
    assert threads == {threading.get_ident()}


def fail_at_three(shared, task):
    if task == 3:
        raise ZeroDivisionError
    return task


def test_after_an_error_running_tasks_are_recorded_and_no_others_begin():
    results = []
    with pytest.raises(ZeroDivisionError):
        dn.Run().each(fail_at_three, range(1000), lambda task, result: results.append(result), workers=1)
    assert {0, 1, 2} <= set(results)
    assert len(results) < 20


# Journals


def test_finished_tasks_are_restored_from_the_journal(tmp_path):
    with dn.Run(journal=tmp_path / "run.db") as run:
        first = ChunksOfFour(failing=6)
        run.map(first, range(12), 3, key)
        assert first.calls == [[0, 1, 2, 3], [4, 5, 6, 7], [8, 9, 10, 11]]
    with dn.Run(journal=str(tmp_path / "run.db")) as run:
        again = ChunksOfFour()
        results = run.map(again, range(16), 3, key)
    assert again.calls == [[6], [12, 13, 14, 15]]  # the same chunks, without finished tasks
    assert np.array_equal(results.values[:12], EXPECTED)
    assert results.done.all()


def test_without_a_key_the_journal_is_not_used(tmp_path):
    with dn.Run(journal=tmp_path / "run.db") as run:
        for _ in range(2):
            function = ChunksOfFour()
            run.map(function, range(4), 3)
            assert len(function.calls) == 1
        assert run.journal.get([key(task) for task in range(4)]) == {}


@pytest.mark.parametrize(
    "value", [b"", b"\x01", b"\x01\x02\x03", bytes([201, 0])], ids=["empty", "short", "long", "too large"]
)
def test_invalid_results_in_the_journal_are_refused(value, tmp_path):
    with dn.Run(journal=tmp_path / "run.db") as run:
        run.journal.put({key(2): value})
        function = ChunksOfFour()
        with pytest.raises(dn.InputError, match="the journal has an invalid result for 'square 2'; dagneal did not write"):
            run.map(function, range(12), 3, key)
        assert function.calls == []
        assert run.journal.get([key(2)]) == {key(2): value}


def test_any_object_with_get_and_put_can_be_a_journal():
    journal = Memory()
    dn.Run(journal=journal).map(Squares(), range(3), 3, key)
    assert journal.stored == {key(number): EXPECTED[number].tobytes() for number in range(3)}


def test_a_run_closes_its_journal(tmp_path):
    with dn.Run(journal=tmp_path / "run.db") as run:
        run.journal.put({"a": b"1"})
    with dn.SqliteJournal(tmp_path / "run.db") as journal:
        assert journal.get(["a"]) == {"a": b"1"}


def test_learn_restores_subproblems_from_a_journal(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    data = dn.load("waste").sample(2_000, 1)
    solver = dn.Divide(dn.Anneal(SimulatedAnnealingSampler(), num_reads=5), size=3, combine="penalty")
    expected = dn.learn(data, solver, seed=7)
    calls = []

    class Counting(SimulatedAnnealingSampler):
        fingerprint = "counting"

        def sample(self, *arguments, **parameters):
            calls.append(1)
            return super().sample(*arguments, **parameters)

    solver = dn.Divide(dn.Anneal(Counting(), num_reads=5), size=3, combine="penalty")
    for _ in range(2):
        with dn.Run(seed=7, journal="run.db") as run:
            result = dn.learn(data, solver, run=run)
        assert np.array_equal(result.division.votes, expected.division.votes)
        solved, calls = len(calls), []
    assert Path("run.db").exists()
    assert solved == 0
    message = r"this solver stores nothing in a journal; remove the journal, or use subproblems \(dn.Divide\)"
    for solver in (dn.Exact(), "auto", Undeclared()):
        with pytest.raises(dn.InputError, match=message), dn.Run(journal="other.db") as run:
            dn.learn(data, solver, run=run)
    with dn.Run(journal="other.db") as run:
        assert dn.learn(data, Declared(), run=run).optimal


class Undeclared:
    """A third-party solver without the attribute `uses_journal`."""

    def solve(self, problem, run):
        return dn.Exact().solve(problem, run)


class Declared(Undeclared):
    """A third-party solver that uses a journal."""

    uses_journal = True


def test_a_float_seed_is_stored_as_an_integer():
    for given in (7.0, np.int64(7), np.float64(7)):
        seed = dn.Run(seed=given).seed
        assert (type(seed), seed) == (int, 7)
    data = dn.load("lung-cancer").sample(500, 1)
    run = dn.Run(seed=7.0)
    assert np.array_equal(dn.bootstrap(data, 3, run=run).directions, dn.bootstrap(data, 3, run=dn.Run(7)).directions)
    assert dn.holdout(data, run=run) == dn.holdout(data, run=dn.Run(7))
    assert dn.learn(data, dn.Anneal("sa", num_reads=5), run=run).seed == 7


def test_seed_and_time_limit_cannot_be_combined_with_run():
    data = dn.load("lung-cancer").sample(500, 1)
    solver = dn.OrderSearch(restarts=5)
    assert dn.learn(data, solver, seed=4).seed == dn.learn(data, solver, run=dn.Run(4)).seed == 4
    assert dn.learn(data, dn.Exact(), seed=4).seed == dn.learn(data, dn.Exact(), run=dn.Run(4)).seed == 4
    assert dn.learn(data, dn.Exact()).seed is None  # neither given nor used
    assert dn.learn(data, dn.Anneal("tree", direct=True), run=dn.Run(4)).seed is None
    assert dn.learn(data, "tree", run=dn.Run(4)).seed == 4  # the candidate search uses it
    for more in ({"seed": 4}, {"time_limit": 5.0}, {"seed": 0}):
        with pytest.raises(dn.InputError, match=r"seed and time_limit cannot be combined with run; set them in dn.Run"):
            dn.learn(data, solver, run=dn.Run(4), **more)


# Interruptions


def test_ctrl_c_returns_the_finished_tasks(tmp_path):
    with dn.Run(journal=tmp_path / "run.db") as run:
        results = run.map(ChunksOfFour(stop=KeyboardInterrupt()), range(12), 3, key)
        assert results.interrupted
        assert results.done[:8].tolist() == [True] * 4 + [False] * 4
        assert results.done[8:].all() or not results.done[8:].any()  # a third call that has begun is finished
        again = ChunksOfFour()
        results = run.map(again, range(12), 3, key)
    assert again.calls[0] == [4, 5, 6, 7]
    assert len(again.calls) <= 2
    assert np.array_equal(results.values, EXPECTED)


def test_ctrl_c_is_raised_if_no_task_is_finished():
    with pytest.raises(KeyboardInterrupt):
        dn.Run().map(ChunksOfFour(calls=[[]], stop=KeyboardInterrupt()), range(4), 3)


def test_other_errors_are_raised_and_finished_tasks_are_in_the_journal(tmp_path):
    with dn.Run(journal=tmp_path / "run.db") as run:
        with pytest.raises(ZeroDivisionError):
            run.map(ChunksOfFour(stop=ZeroDivisionError()), range(12), 3, key)
        assert set(run.journal.get([key(task) for task in range(12)])) >= {key(task) for task in range(4)}


def test_running_calls_are_cancelled_if_possible():
    @dataclass(frozen=True)
    class Cancelled(ChunksOfFour):
        cancelled: list = field(default_factory=list)

        def cancel(self):
            self.cancelled.append(1)

    for error in (KeyboardInterrupt(), ZeroDivisionError()):
        function = Cancelled(stop=error)
        if isinstance(error, KeyboardInterrupt):  # not raised, because tasks are finished
            dn.Run().map(function, range(12), 3)
        else:
            with pytest.raises(ZeroDivisionError):
                dn.Run().map(function, range(12), 3)
        assert len(function.cancelled) == 1


# Deadlines


def test_after_the_deadline_no_further_chunk_begins():
    function = ChunksOfFour()
    results = dn.Run(deadline=dn.Deadline(0.0)).map(function, range(12), 3)
    assert function.calls == [[0, 1, 2, 3]]  # the first chunk is always computed
    assert results.late
    assert results.done.sum() == 4
    assert not dn.Run(deadline=dn.Deadline.after(3600)).map(ChunksOfFour(), range(12), 3).late


def test_after_the_deadline_only_restored_tasks_are_returned(tmp_path):
    with dn.Run(journal=tmp_path / "run.db") as run:
        run.map(Squares(), range(2), 3, key)
        late = dn.Run(deadline=dn.Deadline(0.0), journal=run.journal)
        results = late.map(Squares(), range(12), 3, key)
    assert results.late
    assert results.done.sum() == 2


def test_deadlines_pass():
    assert dn.Deadline.after(None) == NEVER
    assert not NEVER.passed
    NEVER.check()
    past = dn.Deadline(0.0)
    assert past.passed
    with pytest.raises(OutOfTimeError):
        past.check()
    assert not dn.Deadline.after(3600).passed


# User samplers


def attribute_ids(sampler):
    """Return the identity of each attribute of a sampler, by name."""
    return {name: id(value) for name, value in vars(sampler).items()}


@pytest.mark.parametrize("solver", [lambda s: dn.Anneal(s, num_reads=5), lambda s: dn.Divide(dn.Anneal(s, num_reads=5))])
def test_learn_does_not_change_a_simulated_annealing_sampler(solver, tmp_path):
    data = dn.load("lung-cancer").sample(500, 1)
    sampler = SimulatedAnnealingSampler()
    before, parameters, properties = dict(vars(sampler)), dict(sampler.parameters), dict(sampler.properties)
    with dn.Run(3, journal=tmp_path / "run.db") as run:
        dn.learn(data, solver(sampler), run=run)
    assert vars(sampler) == before
    assert (sampler.parameters, sampler.properties) == (parameters, properties)


@pytest.mark.slow
@pytest.mark.parametrize("direct", [True, False])
def test_learn_does_not_change_an_emulated_annealer(direct, embeddings):
    data = dn.load("lung-cancer").sample(500, 1)
    sampler = QPU(LocalBackend(small_chip(), "chip"), cache=embeddings, retry=NO_DELAY)
    before, submitter, backend = (attribute_ids(each) for each in (sampler, sampler.submitter, sampler.backend))
    backend.pop("_is_cancelled")  # a callback: the same function, but a new bound method
    journal = Memory()
    result = dn.learn(data, dn.Anneal(sampler, num_reads=5, direct=direct), run=dn.Run(3, journal=journal))
    sent = [key for key in journal.stored if key.startswith("qpu:")]
    assert result.hardware.calls == len(sent) > 0  # the journal has all submitted problems
    assert attribute_ids(sampler) == before
    assert attribute_ids(sampler.submitter) == submitter
    assert {name: value for name, value in attribute_ids(sampler.backend).items() if name != "_is_cancelled"} == backend
    assert sampler.submitter.journal is None
