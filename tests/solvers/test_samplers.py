"""Tests of default parameters, variable labels and fingerprints of samplers."""

from functools import partial
from itertools import pairwise

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
from dagneal.strategies.names import make_sampler
from support.quantum import small_chip
from support.samplers import Recorder


@pytest.fixture(scope="module")
def data():
    return dn.load("lung-cancer").sample(2_000, 1)


@pytest.fixture(scope="module")
def table(data):
    return dn.scoring.score_table(data)


def test_default_parameters_depend_on_the_class():
    tabu = {"num_reads": 100, "num_restarts": 5, "timeout": 600_000, "lower_bound_z": 10_000}
    assert default_parameters(SimulatedAnnealingSampler()) == {"num_reads": 1000}
    assert default_parameters(dn.SimulatedAnnealing()) == {"num_reads": 128, "num_sweeps": 4000}
    assert default_parameters(PathIntegralAnnealingSampler()) == {"num_reads": 100}
    assert default_parameters(TabuSampler()) == tabu
    assert default_parameters(TreeDecompositionSolver()) == {"num_reads": 1}
    assert default_parameters(SteepestDescentSolver()) == {"num_reads": 1000}
    assert default_parameters(QPU(LocalBackend(small_chip(), "chip"))) == {"num_reads": 1000}
    assert default_parameters(Recorder()) == {"num_reads": 1000}
    assert default_parameters(dimod.ExactSolver()) == {}
    assert default_parameters(dimod.TruncateComposite(TabuSampler(), 10)) == tabu
    assert with_defaults(TabuSampler(), {"num_reads": 3, "timeout": 5}, size=3) == tabu | {
        "num_reads": 3,
        "timeout": 5,
    }
    assert with_defaults(SimulatedAnnealingSampler(), {}, size=3) == {"num_reads": 100}
    assert with_defaults(TreeDecompositionSolver(), {}, size=3) == {"num_reads": 1}
    states = dimod.SampleSet.from_samples({0: 1}, "BINARY", 0.0)
    assert with_defaults(SimulatedAnnealingSampler(), {"initial_states": states}) == {"initial_states": states}


def test_defaults_of_simulated_annealing_depend_on_the_subproblem_size():
    sampler = dn.SimulatedAnnealing()
    efforts = [with_defaults(sampler, {}, size) for size in range(3, 30)]
    assert efforts[0] == {"num_reads": 32, "num_sweeps": 64}
    assert efforts[1] == {"num_reads": 64, "num_sweeps": 128}
    assert efforts[-1] == {"num_reads": 128, "num_sweeps": 1024}
    assert all(a[name] <= b[name] for a, b in pairwise(efforts) for name in a)
    assert with_defaults(sampler, {}, 3, repair=False) == efforts[-1]
    assert with_defaults(sampler, {"num_sweeps": 7}, 3) == {"num_reads": 32, "num_sweeps": 7}
    schedule = {"beta_schedule_type": "custom", "beta_schedule": [1, 2]}
    assert with_defaults(sampler, schedule) == {"num_reads": 128} | schedule
    assert with_defaults(sampler, schedule, 3) == {"num_reads": 32} | schedule


@pytest.mark.parametrize("name", ["sa", "sqa", "tabu", "greedy", "random"])
def test_numbered_variables_give_the_same_reads_as_labels(name, table):
    """Numbers sort like labels, because some samplers sort the variables of a model."""
    sampler = make_sampler(name)
    solution = dn.solvers.anneal(table, sampler, num_reads=20, seed=3)
    bqm = dn.qubo.encode(table)
    direct = sampler.sample(bqm, **with_defaults(sampler, {"num_reads": 20, "seed": 3}))
    reads = solution.reads.sampleset
    assert list(reads.variables) == list(direct.variables)
    assert np.array_equal(reads.record.sample, direct.record.sample)


def test_labels_in_parameters_and_embeddings_are_kept(data, table, embeddings):
    bqm = dn.qubo.encode(table)
    state = dict.fromkeys(bqm.variables, 0)
    solution = dn.solvers.anneal(
        table, SimulatedAnnealingSampler(), initial_states=[state], num_reads=1, num_sweeps=1, seed=1
    )
    direct = SimulatedAnnealingSampler().sample(bqm, initial_states=[state], num_reads=1, num_sweeps=1, seed=1)
    assert solution.reads.sampleset.first.sample == direct.first.sample
    order = sorted(bqm.variables, key=str)
    assert dn.solvers.anneal(table, TreeDecompositionSolver(), elimination_order=order).reads.reads == 1
    chip = LocalBackend(small_chip(noise=0.0), "chip")
    first = QPU(chip, cache=embeddings)
    assert set(first.sample(bqm, num_reads=2, seed=1).variables) == set(bqm.variables)
    with pytest.raises(dn.InputError, match=r"no qubits for \('d', 'Pollution', 'Cancer'\)"):
        dn.solvers.anneal(table, QPU(chip, embedding={("d", "Smoker", "Cancer"): [3]}, cache=embeddings))


class WithRepr(Recorder):
    """A sampler whose `repr` is its fingerprint."""

    def __init__(self, schedule):
        super().__init__()
        self.schedule = schedule

    def __repr__(self):
        return f"WithRepr({self.schedule!r})"


class WithFingerprint(Recorder):
    """A sampler with the property `fingerprint`."""

    fingerprint = "mark"


def test_different_samplers_have_different_fingerprints():
    tabu, annealing = (
        describe_sampler(dimod.TruncateComposite(sampler(), 10)) for sampler in (TabuSampler, SimulatedAnnealingSampler)
    )
    assert tabu != annealing
    assert "dwave.samplers" in tabu
    namesakes = [type("Namesake", (WithFingerprint,), {"__module__": module})() for module in ("one", "other")]
    assert sampler_fingerprint(namesakes[0]) != sampler_fingerprint(namesakes[1])
    assert (
        sampler_fingerprint(WithRepr("fast"))
        == sampler_fingerprint(WithRepr("fast"))
        != sampler_fingerprint(WithRepr("slow"))
    )
    assert "mark" in sampler_fingerprint(WithFingerprint())
    chips = [small_chip(), small_chip(noise=0.0), small_chip(broken=[3])]
    assert len({sampler_fingerprint(chip) for chip in chips}) == 3
    assert len({sampler_fingerprint(QPU(LocalBackend(chip, "chip"))) for chip in chips}) == 2


def test_only_runs_with_a_journal_need_a_sampler_with_a_fingerprint(data, tmp_path):
    annealer = dn.Anneal(Recorder(), num_reads=2)
    assert "Recorder" in repr(annealer)
    assert dn.learn(data, annealer).is_dag
    for solver in (annealer, dn.Divide(annealer, size=3, combine="penalty")):
        with dn.Run(journal=tmp_path / "run.db") as run:
            for call in (partial(dn.learn, data), partial(dn.bootstrap, data, 2)):
                with pytest.raises(
                    dn.InputError, match=r"a journal cannot identify .*Recorder.* `fingerprint` or a `__repr__`"
                ) as caught:
                    call(solver=solver, run=run)
                assert "\n" not in str(caught.value)


def test_a_journal_stores_separate_results_for_different_samplers(data, tmp_path):
    for schedule, calls in (("fast", True), ("slow", True), ("fast", False)):
        with dn.Run(journal=tmp_path / "run.db") as run:
            sampler = WithRepr(schedule)
            dn.learn(data, dn.Divide(dn.Anneal(sampler, num_reads=2), size=3, combine="penalty"), run=run)
        assert bool(sampler.calls) == calls
        with dn.Run(journal=tmp_path / "samples.db") as run:
            sampler = WithRepr(schedule)
            dn.bootstrap(data, 2, dn.Anneal(sampler, num_reads=2, direct=True), run=run)
        assert bool(sampler.calls) == calls


def test_error_of_a_sampler_is_reduced_to_one_line(table):
    class Failing(Recorder):
        def sample(self, bqm, num_reads=None):
            raise TypeError("no such model\nThe following are supported:\n  1. that")

    with pytest.raises(dn.InputError) as caught:
        dn.solvers.anneal(table, Failing())
    assert str(caught.value) == "Failing failed with num_reads=1000: no such model"
