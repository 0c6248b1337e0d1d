"""Default parameters of samplers, and the labels that samplers see."""

from functools import partial

import dimod
import numpy as np
import pytest
from dwave.samplers import (
    PathIntegralAnnealingSampler,
    SimulatedAnnealingSampler,
    SteepestDescentSolver,
    TabuSampler,
    TreeDecompositionSolver,
)

import dagneal as dn
from dagneal.qpu.backend import LocalBackend
from dagneal.qpu.sampler import QPU
from dagneal.solvers.samplers import default_parameters, describe_sampler, sampler_fingerprint, with_defaults
from dagneal.strategies.names import sampler_named
from support.quantum import small_chip
from support.samplers import Recorder


@pytest.fixture(scope="module")
def data():
    return dn.load("lung-cancer").sample(2_000, 1)


@pytest.fixture(scope="module")
def table(data):
    return dn.scoring.score_table(data)


# Defaults


def test_defaults_by_class():
    tabu = {"num_reads": 100, "num_restarts": 5, "timeout": 600_000, "lower_bound_z": 10_000}
    assert default_parameters(SimulatedAnnealingSampler()) == {"num_reads": 1000}
    assert default_parameters(PathIntegralAnnealingSampler()) == {"num_reads": 100}
    assert default_parameters(TabuSampler()) == tabu
    assert default_parameters(TreeDecompositionSolver()) == {"num_reads": 1}
    assert default_parameters(SteepestDescentSolver()) == {"num_reads": 1000}
    assert default_parameters(QPU(LocalBackend(small_chip(), "chip"))) == {"num_reads": 1000}
    assert default_parameters(Recorder()) == {"num_reads": 1000}
    assert default_parameters(dimod.ExactSolver()) == {}
    assert default_parameters(dimod.TruncateComposite(TabuSampler(), 10)) == tabu
    assert with_defaults(TabuSampler(), {"num_reads": 3, "timeout": 5}, subproblem=True) == tabu | {
        "num_reads": 3,
        "timeout": 5,
    }
    assert with_defaults(SimulatedAnnealingSampler(), {}, subproblem=True) == {"num_reads": 100}
    assert with_defaults(TreeDecompositionSolver(), {}, subproblem=True) == {"num_reads": 1}
    states = dimod.SampleSet.from_samples({0: 1}, "BINARY", 0.0)
    assert with_defaults(SimulatedAnnealingSampler(), {"initial_states": states}) == {"initial_states": states}


@pytest.mark.parametrize("name", ["sa", "sqa", "tabu", "greedy", "random"])
def test_integers_in_place_of_names_change_no_read(name, table):
    """The numbers sort as the names do: some samplers sort the variables of a model."""
    sampler = sampler_named(name)
    found = dn.solvers.anneal(table, sampler, num_reads=20, seed=3)
    bqm = dn.qubo.encode(table)
    direct = sampler.sample(bqm, **with_defaults(sampler, {"num_reads": 20, "seed": 3}))
    reads = found.reads.sampleset
    assert list(reads.variables) == list(direct.variables)
    assert np.array_equal(reads.record.sample, direct.record.sample)


def test_labels_in_parameters_and_embeddings_are_kept(data, table, embeddings):
    bqm = dn.qubo.encode(table)
    state = dict.fromkeys(bqm.variables, 0)
    found = dn.solvers.anneal(table, SimulatedAnnealingSampler(), initial_states=[state], num_reads=1, num_sweeps=1, seed=1)
    direct = SimulatedAnnealingSampler().sample(bqm, initial_states=[state], num_reads=1, num_sweeps=1, seed=1)
    assert found.reads.sampleset.first.sample == direct.first.sample
    order = sorted(bqm.variables, key=str)
    assert dn.solvers.anneal(table, TreeDecompositionSolver(), elimination_order=order).reads.reads == 1
    chip = LocalBackend(small_chip(noise=0.0), "chip")
    first = QPU(chip, cache=embeddings)
    assert set(first.sample(bqm, num_reads=2, seed=1).variables) == set(bqm.variables)
    with pytest.raises(dn.InputError, match=r"no qubits for \('d', 'Pollution', 'Cancer'\)"):
        dn.solvers.anneal(table, QPU(chip, embedding={("d", "Smoker", "Cancer"): [3]}, cache=embeddings))


class Named(Recorder):
    """A sampler that is told from others by its `repr`."""

    def __init__(self, schedule):
        super().__init__()
        self.schedule = schedule

    def __repr__(self):
        return f"Named({self.schedule!r})"


class Marked(Recorder):
    """A sampler that is told from others by its fingerprint."""

    fingerprint = "mark"


def test_samplers_are_told_apart():
    tabu, annealing = (
        describe_sampler(dimod.TruncateComposite(each(), 10)) for each in (TabuSampler, SimulatedAnnealingSampler)
    )
    assert tabu != annealing
    assert "dwave.samplers" in tabu
    namesakes = [type("Namesake", (Marked,), {"__module__": module})() for module in ("one", "other")]
    assert sampler_fingerprint(namesakes[0]) != sampler_fingerprint(namesakes[1])
    assert sampler_fingerprint(Named("fast")) == sampler_fingerprint(Named("fast")) != sampler_fingerprint(Named("slow"))
    assert "mark" in sampler_fingerprint(Marked())
    chips = [small_chip(), small_chip(noise=0.0), small_chip(broken=[3])]
    assert len({sampler_fingerprint(chip) for chip in chips}) == 3
    assert len({sampler_fingerprint(QPU(LocalBackend(chip, "chip"))) for chip in chips}) == 2


def test_a_sampler_that_cannot_be_told_apart_needs_no_journal(data, tmp_path):
    annealed = dn.Anneal(Recorder(), num_reads=2)
    assert "Recorder" in repr(annealed)
    assert dn.learn(data, annealed).is_dag
    for solver in (annealed, dn.Divide(annealed, size=3, combine="penalty")):
        with dn.Run(journal=tmp_path / "run.db") as run:
            for call in (partial(dn.learn, data), partial(dn.bootstrap, data, 2)):
                with pytest.raises(
                    dn.InputError, match=r"a journal cannot tell .*Recorder.* `fingerprint` or a `__repr__`"
                ) as caught:
                    call(solver=solver, run=run)
                assert "\n" not in str(caught.value)


def test_a_journal_tells_samplers_apart(data, tmp_path):
    for schedule, calls in (("fast", True), ("slow", True), ("fast", False)):
        with dn.Run(journal=tmp_path / "run.db") as run:
            sampler = Named(schedule)
            dn.learn(data, dn.Divide(dn.Anneal(sampler, num_reads=2), size=3, combine="penalty"), run=run)
        assert bool(sampler.calls) == calls
        with dn.Run(journal=tmp_path / "samples.db") as run:
            sampler = Named(schedule)
            dn.bootstrap(data, 2, dn.Anneal(sampler, num_reads=2, direct=True), run=run)
        assert bool(sampler.calls) == calls


def test_a_refusal_is_one_line(table):
    class Refusing(Recorder):
        def sample(self, bqm, num_reads=None):
            raise TypeError("no such model\nThe following are supported:\n  1. that")

    with pytest.raises(dn.InputError) as caught:
        dn.solvers.anneal(table, Refusing())
    assert str(caught.value) == "Refusing refused the problem with num_reads=1000: no such model"
