"""Random numbers in vectors have the right distributions and are independent."""

import numpy as np

from dagneal.base.kernels import kernel_with_arrays
from dagneal.base.lane_random import LARGEST_EXPONENTIAL, draw, exponential, seed_lanes
from dagneal.base.lanes import LANES, lane_rows, load, store


def test_exponential_numbers():
    bits = np.concatenate([[0, 1, 2, 3, 2**32 - 1], np.random.default_rng(1).integers(0, 2**32, 100_000 - 5)])
    numbers = np.concatenate([draw_exponential(chunk) for chunk in bits.astype(np.uint32).reshape(-1, LANES)])
    exact = -np.log((bits >> 1 | 1) / 2**31)
    assert np.abs(numbers - exact).max() < 6e-6
    assert numbers.min() > 0
    assert numbers.max() < LARGEST_EXPONENTIAL


@kernel_with_arrays
def draw_exponential(bits):
    rows = lane_rows(1, np.uint32)
    numbers = lane_rows(1, np.float32)
    for lane in range(LANES):
        rows[0, lane] = bits[lane]
    store(numbers, 0, exponential(load(rows, 0)))
    return numbers[0].copy()


def test_random_bits_are_uniform_and_independent():
    draws = draw_bits(np.uint64(5), 4096)
    bits = np.unpackbits(draws.view(np.uint8)).reshape(-1, 32).mean(axis=0)
    assert np.abs(bits - 0.5).max() < 5 * 0.5 / np.sqrt(draws.size)
    correlations = np.corrcoef(draws.T.astype(float))
    assert np.abs(correlations[~np.eye(LANES, dtype=bool)]).max() < 5 / np.sqrt(4096)
    assert len(np.unique(draws)) > 0.999 * draws.size


@kernel_with_arrays
def draw_bits(seed, count):
    draws = lane_rows(count, np.uint32)
    state = seed_lanes(seed, 0)
    for index in range(count):
        bits, state = draw(state)
        store(draws, index, bits)
    return draws
