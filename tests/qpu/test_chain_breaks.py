"""Test the methods for broken chains against Ocean's functions."""

import dimod
import numpy as np
import pytest
from dwave import embedding
from hypothesis import given, strategies as st

import dagneal as dn
from dagneal.qpu.backend import LocalBackend
from dagneal.qpu.chain_breaks import discard, find_breaks, majority_vote, minimize_energy, weighted_random
from dagneal.qpu.sampler import QPU
from support.quantum import small_chip


def random_chains(seed, reads=30):
    """Return random qubits, the first qubit of each chain, and the chains as lists of columns."""
    generator = np.random.default_rng(seed)
    lengths = generator.integers(1, 6, size=generator.integers(1, 8))
    starts = np.concatenate([[0], np.cumsum(lengths)[:-1]])
    qubits = (2 * generator.integers(0, 2, (reads, lengths.sum())) - 1).astype(np.int8)
    unbroken = generator.random((reads, len(lengths))) < 0.5
    owner = np.repeat(np.arange(len(lengths)), lengths)
    qubits = np.where(unbroken[:, owner], qubits[:, starts[owner]], qubits)
    chains = [list(range(start, start + length)) for start, length in zip(starts, lengths, strict=True)]
    return generator, qubits, starts, chains


@given(st.integers(0, 10**6))
def test_broken_chains_and_the_reads_without_them_match_ocean(seed):
    _, qubits, starts, chains = random_chains(seed)
    assert np.array_equal(find_breaks(qubits, starts), embedding.broken_chains(qubits, chains))
    assert np.array_equal(discard(qubits, starts), embedding.discard(qubits, chains)[0])


@given(st.integers(0, 10**6))
def test_the_majority_matches_ocean_except_in_a_tie(seed):
    _, qubits, starts, chains = random_chains(seed)
    ocean, _ = embedding.majority_vote(qubits, chains)
    ours = majority_vote(qubits, starts)
    tie = np.add.reduceat(qubits, starts, axis=1) == 0
    assert np.array_equal(ours[~tie], ocean[~tie])
    assert np.array_equal(ours[tie], qubits[:, starts][tie])  # the first qubit decides


@given(st.integers(0, 10**6), st.booleans())
def test_the_lowest_energy_matches_ocean(seed, ties):
    """With small whole coefficients there are many ties, which both must break in the same way."""
    generator, qubits, starts, chains = random_chains(seed)
    count = len(chains)
    values = (
        generator.integers(-1, 2, (count + 1, count)).astype(float) if ties else generator.normal(size=(count + 1, count))
    )
    fields, upper = values[0], np.triu(values[1:], 1)
    bqm = dimod.BinaryQuadraticModel.from_ising(
        dict(enumerate(fields)), {(a, b): upper[a, b] for a in range(count) for b in range(a + 1, count)}
    )
    ocean, _ = embedding.MinimizeEnergy(bqm, dict(enumerate(chains)))(qubits, chains)
    assert np.array_equal(minimize_energy(qubits, starts, fields, upper + upper.T), ocean)


def test_random_values_have_the_frequencies_of_the_chain():
    """Each read draws its own qubit. Ocean draws one qubit for all reads, so only the support can be compared exactly."""
    chain = np.array([[1, 1, 1, -1, 1, -1]], dtype=np.int8)  # a chain of four qubits, and a chain of two
    qubits = np.repeat(chain, 20_000, axis=0)
    spins = weighted_random(qubits, np.array([0, 4]), np.random.default_rng(1))
    assert (spins == 1).mean(axis=0) == pytest.approx([0.75, 0.5], abs=0.02)
    _, qubits, starts, chains = random_chains(5)
    ours = weighted_random(qubits, starts, np.random.default_rng(2))
    whole = ~embedding.broken_chains(qubits, chains)
    assert np.array_equal(ours[whole], embedding.weighted_random(qubits, chains)[0][whole])


class Broken:
    """A chip whose reads are random, so that most chains are broken."""

    def __init__(self):
        chip = small_chip()
        self.nodelist, self.edgelist, self.properties = chip.nodelist, chip.edgelist, chip.properties
        self.parameters = {"num_reads": [], "answer_mode": [], "seed": []}

    def sample(self, bqm, num_reads, seed, answer_mode):
        spins = 2 * np.random.default_rng(seed).integers(0, 2, (num_reads, bqm.num_variables)) - 1
        return dimod.SampleSet.from_samples_bqm((spins.astype(np.int8), list(bqm.variables)), bqm)


def ferromagnet(length=5):
    """Return a chain of ferromagnetic spins in a field."""
    couplings = {(i, i + 1): -1.0 for i in range(length - 1)}
    return dimod.BinaryQuadraticModel(dict.fromkeys(range(length), 0.5), couplings, 0.0, "SPIN")


@pytest.fixture
def broken_sampler(tmp_path):
    """A sampler whose chains have two qubits each, and are broken in half of the reads."""
    chip = Broken()
    graph = LocalBackend(chip, "random").graph
    path = [min(graph)]
    while len(path) < 10:  # a path of qubits, cut into five chains of two
        path.append(min(set(graph[path[-1]]) - set(path)))
    own = {i: path[2 * i : 2 * i + 2] for i in range(5)}
    return QPU(LocalBackend(chip, "random"), embedding=own, cache=tmp_path)


@pytest.mark.parametrize("method", ["majority_vote", "weighted_random", "discard", "minimize_energy"])
def test_the_sampler_uses_the_method(method, broken_sampler):
    samples = broken_sampler.sample(ferromagnet(), num_reads=600, seed=4, chain_break_method=method)
    fractions = samples.record.chain_break_fraction
    if method == "discard":
        assert 0 < len(samples) < 60  # 1 of 32 reads has no broken chain
        assert not fractions.any()
    else:
        assert len(samples) == 600
        assert fractions.mean() == pytest.approx(0.5, abs=0.05)
    again = broken_sampler.sample(ferromagnet(), num_reads=600, seed=4, chain_break_method=method)
    assert np.array_equal(again.record.sample, samples.record.sample)
    random = broken_sampler.sample(ferromagnet(), num_reads=600, seed=4, chain_break_method="weighted_random")
    if method == "minimize_energy":
        assert samples.record.energy.mean() < random.record.energy.mean() - 0.5
    assert samples.info["chain_break_fraction"][0] == pytest.approx(0.5, abs=0.05)  # of all reads


def test_an_error_says_that_no_read_is_left(broken_sampler):
    with pytest.raises(dn.InputError, match=r"leaves none of 1 reads.*use another method or a larger chain_strength"):
        broken_sampler.sample(ferromagnet(), num_reads=1, seed=1, chain_break_method="discard")
    with pytest.raises(dn.InputError, match=r"chain_break_method is 'discad'; give one of .*did you mean 'discard'\?"):
        broken_sampler.sample(ferromagnet(), chain_break_method="discad")
