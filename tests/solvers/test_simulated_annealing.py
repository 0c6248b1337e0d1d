"""The compiled annealer samples the right distribution, finds ground states, and does not depend on threads or batches."""

from itertools import product

import dimod
import numpy as np
import pytest
from dwave.samplers import SimulatedAnnealingSampler
from dwave.samplers.sa.sampler import default_beta_range
from scipy import stats

import dagneal as dn
from dagneal.solvers.ising import IsingModels
from dagneal.solvers.simulated_annealing import SimulatedAnnealing, _ising_models as to_ising

SAMPLER = SimulatedAnnealing()


def random_model(variables, seed, density=0.6, vartype="SPIN", scale=1.0):
    generator = np.random.default_rng(seed)
    pairs = [(a, b) for a in range(variables) for b in range(a) if generator.random() < density]
    linear = {v: scale * generator.normal() for v in range(variables)}
    return dimod.BinaryQuadraticModel(linear, {pair: scale * generator.normal() for pair in pairs}, 0.5, vartype)


def all_states(bqm):
    values = (-1, 1) if bqm.vartype is dimod.SPIN else (0, 1)
    states = np.array(list(product(values, repeat=bqm.num_variables)), dtype=np.int8)
    return states, bqm.energies((states, range(bqm.num_variables)))


@pytest.mark.parametrize("vartype", ["SPIN", "BINARY"])
@pytest.mark.parametrize("seed", range(4))
def test_finds_ground_states(vartype, seed):
    bqm = random_model(10, seed, vartype=vartype, scale=10.0 ** (seed - 1))
    samples = SAMPLER.sample(bqm, num_reads=50, num_sweeps=300, seed=seed)
    assert samples.vartype is bqm.vartype
    assert samples.first.energy == pytest.approx(all_states(bqm)[1].min())
    assert samples.record.energy == pytest.approx(bqm.energies(samples), rel=1e-12)


@pytest.mark.parametrize("vartype", ["SPIN", "BINARY"])
def test_samples_the_boltzmann_distribution_at_a_fixed_temperature(vartype):
    bqm = random_model(5, 3, vartype=vartype)
    states, energies = all_states(bqm)
    beta, reads = 0.7, 20_000
    samples = SAMPLER.sample(bqm, num_reads=reads, beta_schedule_type="custom", beta_schedule=[beta] * 60, seed=11)
    index = (samples.record.sample > 0) @ (1 << np.arange(5)[::-1])
    counts = np.bincount(index, minlength=len(states))
    expected = np.exp(-beta * (energies - energies.min()))
    assert stats.chisquare(counts, reads * expected / expected.sum()).pvalue > 0.01


def test_beta_range_is_that_of_dwave():
    for seed, vartype in product(range(5), ("SPIN", "BINARY")):
        bqm = random_model(8, seed, vartype=vartype)
        bqm.add_linear(0, -bqm.get_linear(0))
        assert to_ising(bqm, list(bqm.variables)).beta_ranges()[0] == pytest.approx(default_beta_range(bqm), rel=1e-12)
    ferromagnet = dimod.BinaryQuadraticModel({}, {(v, v + 1): -1.0 for v in range(9)}, 0.0, "SPIN")
    assert SAMPLER.sample(ferromagnet, seed=1).info["beta_range"] == pytest.approx(default_beta_range(ferromagnet))


@pytest.mark.parametrize("seed", [1, 2])
def test_reads_have_the_distribution_of_dwave(seed):
    """Few sweeps leave the reads far from the ground state, so a different algorithm would give other energies."""
    bqm = random_model(40, seed, density=0.3)
    for sweeps in (5, 50):
        parameters = {"num_reads": 2000, "num_sweeps": sweeps, "seed": seed}
        samplers = (SAMPLER, SimulatedAnnealingSampler())
        ours, theirs = (sampler.sample(bqm, **parameters).record.energy.round(8) for sampler in samplers)
        assert stats.ks_2samp(ours, theirs).pvalue > 0.01
        assert stats.ttest_ind(ours, theirs).pvalue > 0.01


def test_large_penalties_do_not_hide_small_differences():
    """Couplings of 10^7 tie spins together; fields of 10^-3 decide between the two states."""
    couplings = {(v, v + 1): -1e7 for v in range(7)}
    bqm = dimod.BinaryQuadraticModel(dict.fromkeys(range(8), 0.001), couplings, 0.0, "SPIN")
    samples = SAMPLER.sample(bqm, num_reads=64, seed=3)
    assert (samples.record.sample == samples.record.sample[:, :1]).all()
    assert samples.first.energy == pytest.approx(-7e7 - 8e-3, abs=1e-6)


def test_same_seed_gives_the_same_reads_with_any_number_of_workers():
    bqm = random_model(20, 1)
    answers = []
    for jobs in (1, 2, 3):
        with dn.limits(jobs=jobs):
            answers.append(SAMPLER.sample(bqm, num_reads=100, num_sweeps=20, seed=9).record.sample)
    assert (answers[0] == answers[1]).all()
    assert (answers[0] == answers[2]).all()
    other = SAMPLER.sample(bqm, num_reads=100, num_sweeps=20, seed=10).record.sample
    assert (answers[0] != other).any()
    few = SAMPLER.sample(bqm, num_reads=5, num_sweeps=20, seed=9).record.sample
    assert (few == answers[0][:5]).all()


def test_lanes_and_groups_have_different_random_numbers():
    samples = SAMPLER.sample(random_model(40, 1), num_reads=500, num_sweeps=2, beta_range=[0.01, 0.02], seed=1)
    assert len(np.unique(samples.record.sample, axis=0)) == 500


def test_a_batch_gives_the_reads_of_single_calls():
    sizes = (1, 7, 12, 3, 0, 12)
    models = [random_model(size, seed) for seed, size in enumerate(sizes)]
    seeds = np.arange(100, 100 + len(sizes), dtype=np.uint64)
    joined = IsingModels.join([to_ising(model, list(range(size))) for model, size in zip(models, sizes, strict=True)])
    assert len(joined) == len(sizes)
    together = SAMPLER.sample_many(joined, seeds, 21, num_sweeps=10)
    for bqm, seed, spins in zip(models, seeds, together, strict=True):
        alone = SAMPLER.sample(bqm, num_reads=21, num_sweeps=10, seed=int(seed))
        assert (alone.record.sample == spins).all()


def test_models_with_the_same_interactions():
    generator = np.random.default_rng(4)
    rows, columns = np.array([0, 2, 1]), np.array([3, 1, 3])
    fields, couplings = generator.normal(size=(5, 4)), generator.normal(size=(5, 3))
    couplings[2, 1] = 0.0
    together = IsingModels.of(fields, rows, columns, couplings)
    single = [IsingModels.of(fields[[i]], rows, columns, couplings[[i]]) for i in range(5)]
    for name in ("first", "fields", "start", "neighbours", "couplings"):
        assert getattr(together, name).tolist() == getattr(IsingModels.join(single), name).tolist()


@pytest.mark.parametrize("vartype", ["SPIN", "BINARY"])
def test_labels_and_special_models(vartype):
    low = -1 if vartype == "SPIN" else 0
    labelled = dimod.BinaryQuadraticModel({("d", "x", "y"): 1.0, "b": -2.0, 7: 0.5}, {("b", 7): 1.0}, 0.0, vartype)
    best = dimod.ExactSolver().sample(labelled).first
    assert SAMPLER.sample(labelled, num_reads=20, seed=1).first == best
    alone = dimod.BinaryQuadraticModel({"a": 1.0, "b": -1.0}, {}, 2.0, vartype)
    assert (SAMPLER.sample(alone, num_reads=20, seed=1).record.sample == [low, 1]).all()
    empty = SAMPLER.sample(dimod.BinaryQuadraticModel({}, {}, 3.0, vartype), num_reads=4, seed=1)
    assert (len(empty), empty.record.energy.tolist()) == (4, [3.0] * 4)
    flat = SAMPLER.sample(dimod.BinaryQuadraticModel(dict.fromkeys(range(20), 0.0), {}, 0.0, vartype), num_reads=50, seed=1)
    assert flat.info["beta_range"] == pytest.approx([0.1, 1.0])
    assert 300 < (flat.record.sample == 1).sum() < 700
    assert len(SAMPLER.sample(alone)) == 1


def test_schedules():
    bqm = random_model(6, 1)
    per_beta = SAMPLER.sample(bqm, num_reads=20, num_sweeps=20, num_sweeps_per_beta=5, beta_range=[0.1, 2], seed=1)
    betas = np.repeat(np.geomspace(0.1, 2, 4), 5)
    custom = SAMPLER.sample(bqm, num_reads=20, beta_schedule_type="custom", beta_schedule=betas, seed=1)
    assert (per_beta.record.sample == custom.record.sample).all()
    linear = SAMPLER.sample(bqm, num_reads=20, num_sweeps=7, beta_schedule_type="linear", beta_range=(0, 2), seed=1)
    custom = SAMPLER.sample(bqm, num_reads=20, beta_schedule_type="custom", beta_schedule=np.linspace(0, 2, 7), seed=1)
    assert (linear.record.sample == custom.record.sample).all()
    assert linear.info == {"beta_range": [0.0, 2.0], "beta_schedule_type": "linear"}
    one = SAMPLER.sample(bqm, num_sweeps=1, beta_range=[0.1, 2], seed=1)
    assert one.info["beta_range"] == [2.0, 2.0]


def test_initial_states():
    ferromagnet = dimod.BinaryQuadraticModel({}, {(f"v{v}", f"v{v + 1}"): -1.0 for v in range(9)}, 0.0, "SPIN")
    frozen = {"beta_schedule_type": "custom", "beta_schedule": [100.0] * 5, "seed": 1}
    up, down = ({f"v{v}": sign for v in reversed(range(10))} for sign in (1, -1))
    samples = SAMPLER.sample(ferromagnet, initial_states=[up, down], **frozen)
    assert samples.record.sample.tolist() == [[1] * 10, [-1] * 10]
    more = SAMPLER.sample(ferromagnet, initial_states=[up], num_reads=20, **frozen)
    assert (more.record.sample[0] == 1).all()
    assert (more.record.sample[1:] != 1).any()
    binary = dimod.BinaryQuadraticModel({"a": -1.0, "b": 1.0}, {}, 0.0, "BINARY")
    state = SAMPLER.sample(binary, initial_states={"a": 1, "b": 0}, **frozen)
    assert dict(state.first.sample) == {"a": 1, "b": 0}
    with pytest.raises(ValueError, match="mismatch"):
        SAMPLER.sample(ferromagnet, initial_states={"other": 1})


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"num_reads": 0}, "num_reads is 0; give a whole number of at least 1"),
        ({"num_sweeps": -1}, "num_sweeps is -1; give a whole number of at least 1"),
        ({"num_sweeps": "many"}, "num_sweeps is 'many'; give a whole number"),
        ({"num_sweeps": 10, "num_sweeps_per_beta": 3}, "give a multiple of num_sweeps_per_beta, which is 3"),
        ({"num_sweeps_per_beta": 0}, "num_sweeps_per_beta is 0"),
        ({"beta_range": [1]}, "give two numbers above 0"),
        ({"beta_range": 5}, "beta_range is 5; give a list of numbers"),
        ({"beta_range": [0, 1]}, "give two numbers above 0"),
        ({"beta_range": [1, -1]}, r"beta_range\[1\] is -1; give a number of at least 0"),
        ({"beta_range": [1, np.inf]}, r"beta_range\[1\] is inf"),
        ({"beta_schedule_type": "geometrical"}, "did you mean 'geometric'"),
        ({"beta_schedule_type": "custom"}, "'custom' needs beta_schedule"),
        ({"beta_schedule": [1, 2]}, "beta_schedule needs beta_schedule_type='custom'"),
        ({"beta_schedule": [], "beta_schedule_type": "custom"}, "give a list of numbers"),
        ({"beta_schedule": [1], "beta_schedule_type": "custom", "num_sweeps": 5}, "num_sweeps has no effect"),
        ({"seed": -1}, "seed is -1; give a whole number of at least 0"),
        ({"seed": 2**64}, "seed is too large"),
    ],
)
def test_invalid_parameters(parameters, message):
    with pytest.raises(dn.InputError, match=message):
        SAMPLER.sample(random_model(3, 1), **parameters)


def test_coefficients_must_be_finite():
    bqm = dimod.BinaryQuadraticModel({"a": 1.0, "b": np.inf}, {}, 0.0, "SPIN")
    with pytest.raises(dn.InputError, match="all coefficients must be finite"):
        SAMPLER.sample(bqm)


def test_public_name():
    assert dn.SimulatedAnnealing is SimulatedAnnealing
    assert set(SAMPLER.parameters) <= set(SimulatedAnnealingSampler().parameters)
    dimod.testing.assert_sampler_api(SAMPLER)
