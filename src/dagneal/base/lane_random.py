"""Random numbers for vectors of 16 lanes. Each lane has its own generator."""

from __future__ import annotations

from typing import Any

import numpy as np

from dagneal.base.kernels import kernel, kernel_with_arrays
from dagneal.base.lanes import LANES, convert, lane_rows, load, multiply_add, reinterpret

_LOG_2 = float(np.log(2))
LARGEST_EXPONENTIAL = 31 * _LOG_2 + 1e-5  # no exponential number is larger
# Coefficients of a polynomial that is below log(1 + m) for 0 <= m <= 1, by at most 4e-6: a Chebyshev fit minus 1.8e-6
_POLYNOMIAL = (
    -3.27935e-7,
    0.9998476974962246,
    -0.4973732161578651,
    0.3157473167576862,
    -0.19035433673260713,
    0.08269123711105968,
    -0.017414077524150837,
)


@kernel_with_arrays
def seed_lanes(seed: Any, read: int) -> Any:
    """Return the state of a random generator: four words per lane, which depend only on the seed and the read."""
    words = lane_rows(4, np.uint32)
    step = np.uint64(0x9E3779B97F4A7C15)
    for lane in range(LANES):
        value = _mix(np.uint64(seed)) + np.uint64(read + lane) * step
        for word in range(4):
            value = _mix(value + step)
            words[word, lane] = np.uint32(value >> np.uint64(32))
        words[0, lane] |= np.uint32(1)  # the words must not all be 0
    return load(words, 0), load(words, 1), load(words, 2), load(words, 3)


@kernel
def _mix(value: Any) -> Any:
    """Return a 64-bit hash (the mixer of SplitMix64, Steele et al. 2014)."""
    value = (value ^ (value >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    value = (value ^ (value >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return value ^ (value >> np.uint64(31))


@kernel
def draw(state: Any) -> Any:
    """Return 32 random bits per lane, and the next state (the generator xoshiro128++ of Blackman and Vigna 2021)."""
    a, b, c, d = state
    total = a + d
    bits = ((total << np.uint32(7)) | (total >> np.uint32(25))) + a
    c, d, e = c ^ a, d ^ b, b << np.uint32(9)
    return bits, (a ^ d, b ^ c, c ^ e, (d << np.uint32(11)) | (d >> np.uint32(21)))


@kernel
def exponential(bits: Any) -> Any:
    """Return one exponentially distributed number per lane, -log(u), from random bits. The number is above 0.

    u is a number between 0 and 1 with 31 bits. Its logarithm is computed from the exponent and the mantissa of u: a
    polynomial approximates log(1 + m) from below for the mantissa m, with an error of at most 4e-6.
    """
    u = reinterpret(convert((bits >> np.uint32(1)) | np.uint32(1), np.float32), np.uint32)  # u 2^31, as the bits of a float
    exponent = convert(np.uint32(127 + 31) - (u >> np.uint32(23)), np.float32)
    m = reinterpret((u & np.uint32(0x7FFFFF)) | np.uint32(0x3F800000), np.float32) - np.float32(1)
    log = multiply_add(m, np.float32(_POLYNOMIAL[6]), np.float32(_POLYNOMIAL[5]))
    for power in range(4, -1, -1):
        log = multiply_add(m, log, np.float32(_POLYNOMIAL[power]))
    return exponent * np.float32(_LOG_2) - log
