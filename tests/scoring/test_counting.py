"""Bitwise counting and counting row by row agree with histograms."""

from itertools import combinations
from math import lgamma, log

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

import dagneal as dn
from dagneal.data.planes import MAX_PLANE_STATES, Planes
from dagneal.scoring.counting.bitwise import count_sets
from dagneal.scoring.counting.counter import Counter


@st.composite
def tables(draw):
    arities = draw(st.lists(st.sampled_from([1, 2, 3, 4, 9, 10, 40]), min_size=2, max_size=5))
    rows = draw(st.sampled_from([1, 2, 63, 64, 65, 300, 32_768, 32_769, 70_000]))
    seed = draw(st.integers(0, 1000))
    generator = np.random.default_rng(seed)
    codes = np.array([generator.integers(0, arity, rows) for arity in arities])
    states = [list(map(str, range(arity))) for arity in arities]
    return dn.Dataset.from_codes([f"v{i}" for i in range(len(arities))], states, codes), codes


def histogram(codes, arities, members):
    key = np.zeros(codes.shape[1], dtype=np.int64)
    for member in members:
        key = key * arities[member] + codes[member]
    return np.bincount(key, minlength=int(np.prod([arities[m] for m in members], dtype=np.int64)))


@settings(max_examples=40, deadline=None)
@given(tables())
def test_bitwise_counts_equal_histograms(table):
    data, codes = table
    arities = data.arities
    planes = Planes.from_codes(codes.astype(np.uint8), arities)
    narrow = [v for v in range(len(arities)) if arities[v] <= MAX_PLANE_STATES]
    for variable in narrow:
        assert np.array_equal(planes.codes(variable, 0, codes.shape[1]), codes[variable])
    sets = sorted(s for size in range(4) for s in combinations(narrow, size) if np.prod(arities[list(s)]) <= 300)
    members = np.full((len(sets), 3), -1, dtype=np.int32)
    for line, own in zip(members, sets, strict=True):
        line[: len(own)] = own
    cells = [int(np.prod(arities[list(s)])) for s in sets]
    offsets = np.append(0, np.cumsum(cells))
    counts = np.zeros(offsets[-1], dtype=np.int64)
    sizes = (members >= 0).sum(axis=1)
    count_sets(planes.words, planes.first, arities, planes.rows, members, sizes, offsets, counts)
    for own, begin, end in zip(sets, offsets, offsets[1:], strict=False):
        assert np.array_equal(counts[begin:end], histogram(codes, arities, own))


@settings(max_examples=40, deadline=None)
@given(tables(), st.sampled_from([-1.0, 0.25, 1.0, 7.5]))
def test_sums_of_both_counting_methods_equal_sums_over_histograms(table, concentration):
    data, codes = table
    arities = data.arities
    sets = sorted(s for size in range(4) for s in combinations(range(len(arities)), size))
    members = np.full((len(sets), 3), -1, dtype=np.int32)
    for line, own in zip(members, sets, strict=True):
        line[: len(own)] = own
    kinds = np.arange(len(sets)) % 2
    concentrations = np.array([[concentration, 1.5], [1.5, concentration]])
    by_rows = Counter(data)
    by_rows.__dict__["planes"] = None
    for counter in (Counter(data), by_rows):
        sums = counter.sums(members, kinds, concentrations)
        for own, kind, values in zip(sets, kinds, sums, strict=True):
            counts = [int(count) for count in histogram(codes, arities, own) if count]
            for value, a in zip(values, concentrations[kind], strict=True):
                exact = sum(n * log(n) if a < 0 else lgamma(n + a) - lgamma(a) for n in counts)
                assert value == pytest.approx(exact, abs=1e-7, rel=1e-11)


def test_bitwise_counting_is_used_only_with_many_distinct_rows():
    few = dn.load("lung-cancer").expected_data(10_000)  # 32 distinct rows
    assert Counter(few).planes is None
    many = dn.load("alarm-15").sample(10_000, 1)
    counter = Counter(many)
    members = np.array([[0, 1, 2], [0, 1, -1]], dtype=np.int32)
    use_bits, cells = counter._choose_bits(members, np.array([3, 2]))
    assert use_bits.all()
    assert cells.tolist() == [np.prod(many.arities[:3]), np.prod(many.arities[:2])]


def test_looked_up_terms_equal_computed_terms():
    data = dn.load("alarm-15").sample(2_000, 1)
    table = dn.scoring.Scorer(data).table(3)  # with so many sums, terms are looked up
    scorer = dn.scoring.Scorer(data)
    for child in data.names[:3]:
        for parents in combinations([name for name in data.names if name != child], 2):
            assert scorer.local(child, parents) == table.local(child, parents)
