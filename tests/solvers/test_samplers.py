"""Default parameters of samplers, and the labels that samplers see."""

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
from dagneal.solvers.samplers import default_parameters, with_defaults
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


def test_a_refusal_is_one_line(table):
    class Refusing(Recorder):
        def sample(self, bqm, num_reads=None):
            raise TypeError("no such model\nThe following are supported:\n  1. that")

    with pytest.raises(dn.InputError) as caught:
        dn.solvers.anneal(table, Refusing())
    assert str(caught.value) == "Refusing refused the problem with num_reads=1000: no such model"
