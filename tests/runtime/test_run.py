"""Run: seeds, tasks, journals, deadlines and executors; and that samplers of the user stay as they are."""

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
from support.quantum import AT_ONCE, small_chip


@dataclass(frozen=True)
class Squares:
    """A task function: the shared number plus the square of the task, and one task that fails."""

    failing: int = -1
    largest: int = 200
    shape: tuple[int, ...] = (2,)

    def __call__(self, shared, tasks):
        values = np.array([[shared + int(task) ** 2, int(task)] for task in tasks], dtype=np.uint8)
        return values, {place: "no luck" for place, task in enumerate(tasks) if int(task) == self.failing}


@dataclass(frozen=True)
class InFours(Squares):
    """The same, four tasks at a time, one call after the other; it remembers its calls."""

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
        return {each: self.stored[each] for each in keys if each in self.stored}

    def put(self, pieces):
        self.stored |= pieces


def key(task):
    return f"square {task}"


# Seeds


def test_children_have_seeds_of_their_own():
    run = dn.Run(7, progress=print)
    assert run.child("Smoker", "Cancer").seed == 706540194  # the same on every machine
    seeds = {run.child(*names).seed for names in (["a"], ["b"], ["a", "b"], ["b", "a"], ["ab"], ["a", "b", ""])}
    assert len(seeds) == 6
    assert run.child("a").seed != dn.Run(8).child("a").seed
    assert run.child("a").child("b").seed != run.child("b").child("a").seed
    assert run.child("a").progress is print
    assert run.seed == 7
    assert all(0 <= seed < 2**31 for seed in seeds)  # what samplers take


def test_a_run_is_frozen():
    with pytest.raises(AttributeError):
        dn.Run().seed = 3


# Tasks


def test_results_come_in_the_order_of_the_tasks():
    assert isinstance(InFours(), Chunking)
    assert not isinstance(Squares(), Chunking)
    for function in (Squares(), InFours()):
        found = dn.Run().map(function, range(12), 3)
        assert np.array_equal(found.values, EXPECTED)
        assert found.done.all()
        assert (found.failed, found.interrupted, found.late) == ({}, False, False)


def test_a_task_that_fails_is_named_and_the_others_go_on():
    found = dn.Run().map(InFours(failing=6), range(12), 3)
    assert found.failed == {6: "no luck"}
    assert found.done.tolist() == [number != 6 for number in range(12)]
    assert np.array_equal(found.values[found.done], EXPECTED[found.done])


def test_progress_is_reported():
    seen = []
    dn.Run(progress=lambda *about: seen.append(about)).map(InFours(failing=1), range(12), 3, stage="squares")
    assert seen == [("squares", 4, 12), ("squares", 8, 12), ("squares", 12, 12)]


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
        for function in (Squares(failing=5), InFours(failing=5)):
            found = dn.Run(executor=pool).map(function, range(12), 3)
            here = dn.Run().map(function, range(12), 3)
            assert np.array_equal(found.values, here.values)
            assert np.array_equal(found.done, here.done)
            assert found.failed == here.failed == {5: "no luck"}


def double(shared, task):
    return shared + 2 * task


def test_each_result_is_recorded_in_this_thread():
    found, threads = {}, set()

    def record(task, result):
        found[task] = result
        threads.add(threading.get_ident())

    dn.Run().each(double, range(20), record, 1, workers=3)
    assert found == {number: 1 + 2 * number for number in range(20)}
    assert threads == {threading.get_ident()}


def fail_at_three(shared, task):
    if task == 3:
        raise ZeroDivisionError
    return task


def test_an_error_ends_the_work_and_what_has_begun_is_recorded():
    found = []
    with pytest.raises(ZeroDivisionError):
        dn.Run().each(fail_at_three, range(1000), lambda task, result: found.append(result), workers=1)
    assert {0, 1, 2} <= set(found)
    assert len(found) < 20


# Journals


def test_finished_tasks_are_restored(tmp_path):
    with dn.Run(journal=tmp_path / "run.db") as run:
        first = InFours(failing=6)
        run.map(first, range(12), 3, key)
        assert first.calls == [[0, 1, 2, 3], [4, 5, 6, 7], [8, 9, 10, 11]]
    with dn.Run(journal=str(tmp_path / "run.db")) as run:
        again = InFours()
        found = run.map(again, range(16), 3, key)
    assert again.calls == [[6], [12, 13, 14, 15]]  # in the same chunks, without what is finished
    assert np.array_equal(found.values[:12], EXPECTED)
    assert found.done.all()


def test_without_a_key_the_journal_is_not_used(tmp_path):
    with dn.Run(journal=tmp_path / "run.db") as run:
        for _ in range(2):
            function = InFours()
            run.map(function, range(4), 3)
            assert len(function.calls) == 1
        assert run.journal.get([key(task) for task in range(4)]) == {}


@pytest.mark.parametrize(
    "value", [b"", b"\x01", b"\x01\x02\x03", bytes([201, 0])], ids=["empty", "short", "long", "too large"]
)
def test_results_of_others_are_refused(value, tmp_path):
    with dn.Run(journal=tmp_path / "run.db") as run:
        run.journal.put({key(2): value})
        function = InFours()
        with pytest.raises(dn.InputError, match="the journal holds no valid result of 'square 2'; it was not written by"):
            run.map(function, range(12), 3, key)
        assert function.calls == []
        assert run.journal.get([key(2)]) == {key(2): value}


def test_any_object_with_get_and_put_is_a_journal():
    journal = Memory()
    dn.Run(journal=journal).map(Squares(), range(3), 3, key)
    assert journal.stored == {key(number): EXPECTED[number].tobytes() for number in range(3)}


def test_a_run_closes_its_journal(tmp_path):
    with dn.Run(journal=tmp_path / "run.db") as run:
        run.journal.put({"a": b"1"})
    with dn.SqliteJournal(tmp_path / "run.db") as journal:
        assert journal.get(["a"]) == {"a": b"1"}


def test_learn_with_a_journal(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    data = dn.load("waste").sample(2_000, 1)
    solver = dn.Divide(dn.Anneal("sa", num_reads=5), size=3, combine="penalty")
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
            found = dn.learn(data, solver, run=run)
        assert np.array_equal(found.division.votes, expected.division.votes)
        solved, calls = len(calls), []
    assert Path("run.db").exists()
    assert solved == 0
    message = r"this solver has none of them; leave the journal out, or make subproblems with dn.Divide\(...\) or samples"
    for solver in (dn.Exact(), "auto", Undeclared()):
        with pytest.raises(dn.InputError, match=message), dn.Run(journal="other.db") as run:
            dn.learn(data, solver, run=run)
    with dn.Run(journal="other.db") as run:
        assert dn.learn(data, Declared(), run=run).optimal


class Undeclared:
    """A solver of others, which says nothing of journals."""

    def solve(self, problem, run):
        return dn.Exact().solve(problem, run)


class Declared(Undeclared):
    """A solver of others that uses a journal."""

    uses_journal = True


def test_a_whole_seed_is_stored_as_an_integer():
    for given in (7.0, np.int64(7), np.float64(7)):
        seed = dn.Run(seed=given).seed
        assert (type(seed), seed) == (int, 7)
    data = dn.load("lung-cancer").sample(500, 1)
    run = dn.Run(seed=7.0)
    assert np.array_equal(dn.bootstrap(data, 3, run=run).directions, dn.bootstrap(data, 3, run=dn.Run(7)).directions)
    assert dn.holdout(data, run=run) == dn.holdout(data, run=dn.Run(7))
    assert dn.learn(data, dn.Anneal("sa", num_reads=5), run=run).seed == 7


def test_seed_and_time_limit_are_shortcuts():
    data = dn.load("lung-cancer").sample(500, 1)
    solver = dn.OrderSearch(rounds=5)
    assert dn.learn(data, solver, seed=4).seed == dn.learn(data, solver, run=dn.Run(4)).seed == 4
    assert dn.learn(data, dn.Exact(), seed=4).seed == dn.learn(data, dn.Exact(), run=dn.Run(4)).seed == 4
    assert dn.learn(data, dn.Exact()).seed is None  # neither given nor used
    assert dn.learn(data, dn.Anneal("tree", direct=True), run=dn.Run(4)).seed is None
    assert dn.learn(data, "tree", run=dn.Run(4)).seed == 4  # of the candidate search
    for more in ({"seed": 4}, {"time_limit": 5.0}, {"seed": 0}):
        with pytest.raises(dn.InputError, match=r"seed and time_limit are shortcuts for run; give them to dn.Run"):
            dn.learn(data, solver, run=dn.Run(4), **more)


# Interruptions


def test_ctrl_c_ends_the_work_with_what_is_finished(tmp_path):
    with dn.Run(journal=tmp_path / "run.db") as run:
        found = run.map(InFours(stop=KeyboardInterrupt()), range(12), 3, key)
        assert found.interrupted
        assert found.done[:8].tolist() == [True] * 4 + [False] * 4
        assert found.done[8:].all() or not found.done[8:].any()  # if the third call has begun, it is finished
        again = InFours()
        found = run.map(again, range(12), 3, key)
    assert again.calls[0] == [4, 5, 6, 7]
    assert len(again.calls) <= 2
    assert np.array_equal(found.values, EXPECTED)


def test_ctrl_c_before_anything_is_finished_is_raised():
    with pytest.raises(KeyboardInterrupt):
        dn.Run().map(InFours(calls=[[]], stop=KeyboardInterrupt()), range(4), 3)


def test_another_error_is_raised_and_what_is_finished_is_in_the_journal(tmp_path):
    with dn.Run(journal=tmp_path / "run.db") as run:
        with pytest.raises(ZeroDivisionError):
            run.map(InFours(stop=ZeroDivisionError()), range(12), 3, key)
        assert set(run.journal.get([key(task) for task in range(12)])) >= {key(task) for task in range(4)}


def test_what_can_be_cancelled_is_cancelled():
    @dataclass(frozen=True)
    class Cancelled(InFours):
        cancelled: list = field(default_factory=list)

        def cancel(self):
            self.cancelled.append(1)

    for error, with_journal, times in ((KeyboardInterrupt(), True, 1), (ZeroDivisionError(), False, 1)):
        function = Cancelled(stop=error)
        if with_journal:
            dn.Run().map(function, range(12), 3)
        else:
            with pytest.raises(ZeroDivisionError):
                dn.Run().map(function, range(12), 3)
        assert len(function.cancelled) == times


# Deadlines


def test_after_the_deadline_no_further_chunk_begins():
    function = InFours()
    found = dn.Run(deadline=dn.Deadline(0.0)).map(function, range(12), 3)
    assert function.calls == [[0, 1, 2, 3]]  # something is always done
    assert found.late
    assert found.done.sum() == 4
    assert not dn.Run(deadline=dn.Deadline.after(3600)).map(InFours(), range(12), 3).late


def test_with_restored_tasks_the_deadline_leaves_no_more_to_do(tmp_path):
    with dn.Run(journal=tmp_path / "run.db") as run:
        run.map(Squares(), range(2), 3, key)
        late = dn.Run(deadline=dn.Deadline(0.0), journal=run.journal)
        found = late.map(Squares(), range(12), 3, key)
    assert found.late
    assert found.done.sum() == 2


def test_deadlines():
    assert dn.Deadline.after(None) == NEVER
    assert not NEVER.passed
    NEVER.check()
    past = dn.Deadline(0.0)
    assert past.passed
    with pytest.raises(OutOfTimeError):
        past.check()
    assert not dn.Deadline.after(3600).passed


# Samplers of the user


def state_of(sampler):
    """The attributes of a sampler: which there are, and which object each is."""
    return {name: id(value) for name, value in vars(sampler).items()}


@pytest.mark.parametrize("solver", [lambda s: dn.Anneal(s, num_reads=5), lambda s: dn.Divide(dn.Anneal(s, num_reads=5))])
def test_simulated_annealing_is_not_changed(solver, tmp_path):
    data = dn.load("lung-cancer").sample(500, 1)
    sampler = SimulatedAnnealingSampler()
    before, parameters, properties = dict(vars(sampler)), dict(sampler.parameters), dict(sampler.properties)
    with dn.Run(3, journal=tmp_path / "run.db") as run:
        dn.learn(data, solver(sampler), run=run)
    assert vars(sampler) == before
    assert (sampler.parameters, sampler.properties) == (parameters, properties)


@pytest.mark.slow
@pytest.mark.parametrize("direct", [True, False])
def test_an_emulated_annealer_is_not_changed(direct, embeddings):
    data = dn.load("lung-cancer").sample(500, 1)
    sampler = QPU(LocalBackend(small_chip(), "chip"), cache=embeddings, retry=AT_ONCE)
    before, submitter, backend = state_of(sampler), state_of(sampler.submitter), state_of(sampler.backend)
    backend.pop("_given_up")  # asked during long work; it is the same question, but a new bound method
    journal = Memory()
    found = dn.learn(data, dn.Anneal(sampler, num_reads=5, direct=direct), run=dn.Run(3, journal=journal))
    sent = [each for each in journal.stored if each.startswith("qpu:")]
    assert found.hardware.calls == len(sent) > 0  # what was sent is in the journal
    assert state_of(sampler) == before
    assert state_of(sampler.submitter) == submitter
    assert {name: each for name, each in state_of(sampler.backend).items() if name != "_given_up"} == backend
    assert sampler.submitter.journal is None
