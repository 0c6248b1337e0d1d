"""Running cases: Ctrl-C, annealers and the journal."""

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
    with Records(tmp_path / "records.jsonl", writing=True) as found:
        yield found


@pytest.fixture
def small_qpu(monkeypatch):
    """Stands for D-Wave's annealer."""
    monkeypatch.setattr(dn.qpu, "connect", lambda **options: dn.qpu.emulated("Advantage2_system4", **options))


class Noting(Annealers):
    """Annealers that note that they were told to give up."""

    told = Event()

    def cancel(self):
        self.told.set()


@pytest.mark.parametrize("error", [KeyboardInterrupt, dn.InputError])
def test_what_has_begun_is_finished_and_recorded(records, monkeypatch, error):
    annealers, begun = Noting(), []
    annealers.told.clear()

    def first_fails(annealers, number):
        begun.append(number)
        if number == 0:
            raise error("stop")
        assert annealers.told.wait(60)
        return Outcome({"number": number})

    monkeypatch.setitem(runner.KINDS, "direct", first_fails)
    cases = [Case("direct", {"number": number}) for number in range(100)]
    with pytest.raises(error):
        run_cases(cases, records, annealers, jobs=2)
    assert len(begun) < len(cases)
    assert {number for number in begun if number} == {case.inputs["number"] for case in cases if case in records}


def test_timed_cases_run_alone_and_first(records, monkeypatch):
    order = []

    def note(kind):
        return lambda **inputs: (order.append(kind), Outcome({}))[1]

    for kind in ("optimum", "plain", "construction"):
        monkeypatch.setitem(runner.KINDS, kind, note(kind))
    cases = [Case(kind, {"number": number}) for number in range(3) for kind in ("optimum", "plain", "construction")]
    stages = []
    run_cases(cases, records, Annealers(), dn.Run(progress=lambda *stage: stages.append(stage)))
    assert order == ["plain", "construction"] * 3 + ["optimum"] * 3
    assert stages == [("seconds of work", done, 9) for done in range(1, 10)]


@pytest.mark.usefixtures("small_qpu")
def test_samplers_are_made_once_and_never_changed(tmp_path):
    bare = Annealers()
    without = bare.sampler("qpu")
    with dn.SqliteJournal(tmp_path / "run.db") as journal:
        annealers = replace(bare, journal=journal)
        journalled = annealers.sampler("qpu")
        assert journalled.submitter.journal is journal
        assert journalled.backend is without.backend
        assert annealers.sampler("tiled").submitter.journal is None  # what is emulated is not paid for
    assert bare.sampler("qpu") is without
    assert without.submitter.journal is None
    assert (without.gauges, bare.sampler("tiled-qpu").gauges) == (False, True)


@pytest.mark.usefixtures("small_qpu")
def test_annealers_give_up_calls_with_and_without_a_journal(tmp_path):
    bare = Annealers()
    with dn.SqliteJournal(tmp_path / "run.db") as journal:
        annealers = replace(bare, journal=journal)
        samplers = [bare.sampler("qpu"), annealers.sampler("qpu"), bare.sampler("qa")]
        annealers.cancel()
        assert all(sampler.submitter.state.stopped.is_set() for sampler in samplers)


class MemoryJournal:
    """A journal that is gone with the process."""

    def __init__(self):
        self.held = {}

    def get(self, keys):
        return {key: self.held[key] for key in keys if key in self.held}

    def put(self, values):
        self.held.update(values)


@pytest.mark.usefixtures("small_qpu")
@pytest.mark.parametrize(("solver", "sent"), [("qpu", 1), ("qa", 0)])
def test_problems_that_are_sent_away_are_in_the_journal(records, solver, sent):
    inputs = {"network": "monty-hall", "data": "expected 100", "reads": 10, "seed": 1, "microseconds": 1}
    case = Case("direct", {"solver": solver, **inputs})
    journal = MemoryJournal()
    run_cases([case], records, Annealers(journal), dn.Run(journal=journal))
    assert case in records
    assert sum(key.startswith("qpu:") for key in journal.held) == sent
