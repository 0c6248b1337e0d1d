"""Spin-vector Monte Carlo samples the right distribution, and the models of a chip check their settings."""

from concurrent.futures import CancelledError

import dimod
import numpy as np
import pytest
from dwave.system.temperatures import background_susceptibility_ising

import dagneal as dn
from dagneal.base import machine
from dagneal.qpu.chip_models import KELVIN, PROBLEM, TRANSVERSE, SpinVectors, Thermal, make_model
from dagneal.qpu.emulator import emulated
from dagneal.qpu.spin_vectors import anneal_vectors
from dagneal.solvers.ising import IsingModels

SEEDS = np.array([3], dtype=np.uint64)
PAIRS = np.triu_indices(5, 1)


def random_model(seed, spins=5):
    generator = np.random.default_rng(seed)
    fields = generator.normal(size=(1, spins))
    couplings = np.where(generator.random((1, len(PAIRS[0]))) < 0.7, generator.normal(size=(1, len(PAIRS[0]))), 0.0)
    return IsingModels.of(fields, *PAIRS, couplings), fields[0], couplings[0]


@pytest.mark.parametrize("susceptibility", [0.0, -0.2])
@pytest.mark.parametrize("transverse", [0.0, 1.5])
def test_samples_the_boltzmann_distribution_of_vectors(transverse, susceptibility):
    """At a constant temperature, the mean spins and products equal those of weighted random angles."""
    models, fields, couplings = random_model(1)
    problem, reads = 0.8, 40_000
    matrix = np.zeros((5, 5))
    matrix[PAIRS] = couplings
    matrix += matrix.T
    more_fields, more_couplings, _ = background_susceptibility_ising(fields, matrix)
    fields, matrix = fields + susceptibility * more_fields, matrix + susceptibility * more_couplings
    np.fill_diagonal(matrix, 0.0)
    angles = np.random.default_rng(2).uniform(0, np.pi, (1_000_000, 5))
    along = np.cos(angles)
    energies = problem * (along @ fields + 0.5 * np.einsum("ri,ij,rj->r", along, matrix, along))
    energies -= transverse * np.sin(angles).sum(axis=1)
    weights = np.exp(energies.min() - energies)
    spins = np.sign(along)
    expected = [weights @ spins / weights.sum(), np.einsum("r,ri,rj->ij", weights, spins, spins)[PAIRS] / weights.sum()]
    schedule = (np.full(150, transverse), np.full(150, problem))
    sampled = anneal_vectors(models, *schedule, susceptibility, SEEDS, reads)[0].astype(float)
    own = [sampled.mean(axis=0), (sampled[:, PAIRS[0]] * sampled[:, PAIRS[1]]).mean(axis=0)]
    for ours, exact in zip(own, expected, strict=True):
        assert np.abs(ours - exact).max() < 6 / np.sqrt(reads)  # the largest standard error is 1 / sqrt(reads)


def test_a_slow_cold_anneal_finds_the_ground_state():
    for seed in range(5):
        models, fields, couplings = random_model(seed)
        states = np.array(np.meshgrid(*[[-1, 1]] * 5)).reshape(5, -1).T
        energies = states @ fields + (states[:, PAIRS[0]] * states[:, PAIRS[1]]) @ couplings
        steps = np.linspace(0, 1, 2000)
        reads = anneal_vectors(models, 20 * (1 - steps), 20 * steps, 0.0, SEEDS, 200)[0]
        best = states[energies.argmin()]
        assert (reads == best).all(axis=1).mean() > 0.5


@pytest.mark.parametrize("model", [Thermal(), SpinVectors()])
def test_reads_do_not_depend_on_threads_or_on_the_number_of_reads(model, monkeypatch):
    models, _, _ = random_model(4)
    many = model.anneal(models, 10.0, 100, 5)
    monkeypatch.setattr(machine, "cores", lambda: 1)
    assert np.array_equal(model.anneal(models, 10.0, 100, 5), many)
    assert np.array_equal(model.anneal(models, 10.0, 33, 5), many[:33])
    assert not np.array_equal(model.anneal(models, 10.0, 100, 6), many)


@pytest.mark.parametrize("model", [Thermal(), SpinVectors()])
def test_a_cancelled_anneal_raises(model):
    with pytest.raises(CancelledError):
        model.anneal(random_model(0)[0], 10.0, 100, 5, lambda: True)


def test_the_schedule_has_physical_units_and_ends_at_the_readout():
    transverse, problem = SpinVectors(sweeps=100.0, readout=0.5, temperature=20.0).schedule(10.0)
    assert len(transverse) == len(problem) == 500
    boltzmann, planck = 1.380649e-23, 6.62607015e-34  # SI units
    thermal = 2 * boltzmann * 0.02 / planck / 1e9  # 2 k T / h in GHz
    assert pytest.approx(boltzmann / planck / 1e9) == KELVIN
    assert transverse[[0, -1]] == pytest.approx([TRANSVERSE[0] / thermal, TRANSVERSE[10] / thermal])
    assert problem[[0, -1]] == pytest.approx([PROBLEM[0] / thermal, PROBLEM[10] / thermal])


def test_the_emulator_runs_both_models(embeddings):
    bqm = dimod.BinaryQuadraticModel({0: 1.0, 1: -0.5}, {(0, 1): 1.0}, 0.0, "BINARY")
    for model in ("thermal", "spin-vectors", SpinVectors(noise=0.0)):
        sampler = emulated("Advantage2_system4", model, cache=embeddings)
        samples = sampler.sample(bqm, num_reads=200, annealing_time=20.0, seed=1)
        assert samples.first.sample == {0: 0, 1: 1}
        assert sampler.properties["emulator"] == repr(make_model(model))


def test_seeds_select_one_of_several_embeddings(embeddings):
    bqm = dn.qubo.encode(dn.scoring.score_table(dn.load("lung-cancer").expected_data(10_000)), dn.PAPER)
    sampler = emulated("Advantage2_system4", embeddings=3, noise=0.0, cache=embeddings)
    reads = {seed: sampler.sample(bqm, num_reads=5, seed=seed) for seed in (0, 1, 2, 3)}
    assert len(sampler._copies) == 3
    assert len({tuple(copies[0].qubits) for copies in sampler._copies.values()}) == 3
    again = emulated("Advantage2_system4", embeddings=3, noise=0.0, cache=embeddings)  # embeddings from the cache
    assert np.array_equal(again.sample(bqm, num_reads=5, seed=2).record.sample, reads[2].record.sample)
    assert "embeddings=3" in again.fingerprint


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: make_model("termal"), "^model is 'termal'; give one of 'thermal', 'spin-vectors'; did you mean 'thermal'"),
        (lambda: make_model(5), "^model is 5; give 'thermal', 'spin-vectors' or an object such as Thermal"),
        (
            lambda: make_model("thermal", readout=0.5),
            "^the model 'thermal' has no setting 'readout'; its settings are noise",
        ),
        (lambda: make_model(Thermal(), noise=0.1), "^noise is a setting of the model; give it to Thermal$"),
        (lambda: SpinVectors(readout=1.5), "^readout is 1.5; give a point of the schedule above 0 and at most 1$"),
        (lambda: SpinVectors(temperature=0), "^temperature is 0; give a number above 0$"),
        (lambda: SpinVectors(susceptibility=0.5), "^susceptibility is 0.5; give a number from -1 to 0$"),
        (lambda: SpinVectors(noise="x"), "^noise is 'x'; give a number of at least 0$"),
        (lambda: emulated("Advantage2_system4", embeddings=0), "^embeddings is 0; "),
    ],
)
def test_invalid_settings_are_refused(make, message):
    with pytest.raises(dn.InputError, match=message):
        make()
