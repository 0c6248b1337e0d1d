"""Test how cases are run: interruption, order, annealers and the journal."""

from dataclasses import replace
from threading import Event

import pytest

import dagneal as dn
from dagneal.paper import runner
from dagneal.paper.annealers import Annealers
from dagneal.paper.experiments import Outcome
from dagneal.paper.records import Case, Records
from dagneal.paper.runner import run_cases


@pytest.fixture
def records(tmp_path):
    with Records(tmp_path / "records.jsonl", writing=True) as opened:
        yield opened


@pytest.fixture
def small_qpu(monkeypatch):
    """Replace D-Wave's annealer by an emulator."""
    monkeypatch.setattr(dn.qpu, "connect", lambda **options: dn.qpu.emulated("Advantage2_system4", **options))


class CancelRecorder(Annealers):
    """Annealers that record a call of `cancel`."""

    cancelled = Event()

    def cancel(self):
        self.cancelled.set()


@pytest.mark.parametrize("error", [KeyboardInterrupt, dn.InputError])
def test_started_cases_are_finished_and_recorded(records, monkeypatch, error):
    """After an error or Ctrl-C, cases that have started are recorded and no others start."""
    annealers, started = CancelRecorder(), []
    annealers.cancelled.clear()

    def first_fails(annealers, number):
        started.append(number)
        if number == 0:
            raise error("stop")
        assert annealers.cancelled.wait(60)
        return Outcome({"number": number})

    monkeypatch.setitem(runner.KINDS, "direct", first_fails)
    cases = [Case("direct", {"number": number}) for number in range(100)]
    with pytest.raises(error):
        run_cases(cases, records, annealers, jobs=2)
    assert len(started) < len(cases)
    assert {number for number in started if number} == {case.inputs["number"] for case in cases if case in records}


def test_timed_cases_run_alone_and_first(records, monkeypatch):
    """Timed kinds run one after another before all other kinds."""
    order = []

    def record_kind(kind):
        return lambda **inputs: (order.append(kind), Outcome({}))[1]

    for kind in ("optimum", "plain", "construction"):
        monkeypatch.setitem(runner.KINDS, kind, record_kind(kind))
    cases = [Case(kind, {"number": number}) for number in range(3) for kind in ("optimum", "plain", "construction")]
    stages = []
    run_cases(cases, records, Annealers(), dn.Run(progress=lambda *stage: stages.append(stage)))
    assert order == ["plain", "construction"] * 3 + ["optimum"] * 3
    assert stages == [("seconds of work", done, 9) for done in range(1, 10)]


@pytest.mark.usefixtures("small_qpu")
def test_samplers_are_made_once_and_never_changed(tmp_path):
    """A journal gives a new sampler on the same backend, and leaves the original sampler unchanged."""
    bare = Annealers()
    without = bare.sampler("qpu")
    with dn.SqliteJournal(tmp_path / "run.db") as journal:
        annealers = replace(bare, journal=journal)
        journalled = annealers.sampler("qpu")
        assert journalled.submitter.journal is journal
        assert journalled.backend is without.backend
        assert annealers.sampler("tiled").submitter.journal is None  # emulated calls cost nothing
    assert bare.sampler("qpu") is without
    assert without.submitter.journal is None
    assert (without.spin_reversal, bare.sampler("tiled-qpu").spin_reversal) == (False, True)


@pytest.mark.usefixtures("small_qpu")
def test_cancel_stops_samplers_with_and_without_a_journal(tmp_path):
    """`cancel` stops all samplers, including those with a journal."""
    bare = Annealers()
    with dn.SqliteJournal(tmp_path / "run.db") as journal:
        annealers = replace(bare, journal=journal)
        samplers = [bare.sampler("qpu"), annealers.sampler("qpu"), bare.sampler("qa")]
        annealers.cancel()
        assert all(sampler.submitter.state.stopped.is_set() for sampler in samplers)


class MemoryJournal:
    """A journal in memory."""

    def __init__(self):
        self.values = {}

    def get(self, keys):
        return {key: self.values[key] for key in keys if key in self.values}

    def put(self, values):
        self.values.update(values)


@pytest.mark.usefixtures("small_qpu")
@pytest.mark.parametrize(("solver", "sent"), [("qpu", 1), ("qa", 0)])
def test_submitted_problems_are_in_the_journal(records, solver, sent):
    """The journal holds the id of each problem sent to a quantum annealer, and no emulated problem."""
    inputs = {"network": "monty-hall", "data": "expected 100", "reads": 10, "seed": 1, "microseconds": 1}
    case = Case("direct", {"solver": solver, **inputs})
    journal = MemoryJournal()
    run_cases([case], records, Annealers(journal), dn.Run(journal=journal))
    assert case in records
    assert sum(key.startswith("qpu:") for key in journal.values) == sent
