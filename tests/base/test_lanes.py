"""Vectors of numbers in kernels give the same results as NumPy."""

import numpy as np
import pytest

from dagneal.base.kernels import kernel_with_arrays
from dagneal.base.lanes import LANES, any_lane, convert, keep, lane_rows, load, multiply_add, reinterpret, store


@kernel_with_arrays
def float_operations(a, b):
    rows = lane_rows(5, np.float64)
    for lane in range(LANES):
        rows[0, lane], rows[1, lane] = a[lane], b[lane]
    x, y = load(rows, 0), load(rows, 1)
    mask = x > y * 0.5
    store(rows, 2, keep(mask, x + y) - 2.0 * x)
    store(rows, 3, 7.5)
    store(rows, 4, multiply_add(3.0, x, y))
    return rows[2].copy(), rows[3].copy(), rows[4].copy(), any_lane(mask), any_lane(x < -100.0)


@kernel_with_arrays
def integer_operations(a):
    rows = lane_rows(3, np.uint32)
    for lane in range(LANES):
        rows[0, lane] = a[lane]
    x = load(rows, 0)
    store(rows, 1, ((x << np.uint32(7)) | (x >> np.uint32(25))) + (x ^ np.uint32(12345)) - (x & np.uint32(255)))
    small = convert(x >> np.uint32(1), np.float32)
    store(rows, 2, reinterpret(small, np.uint32))
    wide = lane_rows(1, np.float64)
    store(wide, 0, convert(small, np.float64))
    return rows[1].copy(), rows[2].copy(), wide[0].copy()


def test_floats():
    generator = np.random.default_rng(1)
    a, b = generator.normal(size=(2, LANES))
    combined, constant, sums, some, none = float_operations(a, b)
    assert combined.tolist() == (np.where(a > b * 0.5, a + b, 0.0) - 2.0 * a).tolist()
    assert constant.tolist() == [7.5] * LANES
    assert sums == pytest.approx(3.0 * a + b, rel=1e-15)
    assert (some, none) == ((a > b * 0.5).any(), False)


def test_integers():
    a = np.random.default_rng(2).integers(0, 2**32, LANES, dtype=np.uint32)
    mixed, bits, wide = integer_operations(a)
    assert mixed.tolist() == (((a << 7) | (a >> 25)) + (a ^ 12345) - (a & 255)).tolist()
    assert bits.view(np.float32).tolist() == (a >> 1).astype(np.float32).tolist() == wide.tolist()


@pytest.mark.parametrize("kind", [np.float64, np.float32, np.uint32])
def test_rows_begin_at_a_cache_line(kind):
    for rows in range(1, 20):
        array = lane_rows(rows, kind)
        assert array.shape == (rows, LANES)
        assert array.ctypes.data % 64 == 0
        assert not array.any()
