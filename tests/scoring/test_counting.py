"""Bitwise counting and counting row by row agree with histograms."""

import pickle
from dataclasses import replace
from itertools import combinations, groupby
from math import fsum, lgamma, log

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

import dagneal as dn
from dagneal.data.packing import Packer
from dagneal.data.planes import MAX_PLANE_STATES, Planes
from dagneal.scoring.counting.bitwise import count_sets
from dagneal.scoring.counting.counter import Counter
from dagneal.scoring.counting.grouping import group_sets, move_last
from dagneal.scoring.counting.terms import TermTable, sum_terms
from dagneal.scoring.regret import multinomial_regrets
from dagneal.scoring.sets import pad_sets


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
@given(tables(), st.sampled_from([-1.0, -2.0, -5.0, 0.25, 1.0, 7.5]))
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
                exact = sum(exact_term(n, a) for n in counts)
                assert value == pytest.approx(exact, abs=1e-7, rel=1e-11)


def test_bitwise_counting_is_used_only_with_many_distinct_rows():
    few = dn.load("lung-cancer").expected_data(10_000)  # 32 distinct rows
    assert Counter(few).planes is None
    many = dn.load("alarm-15").sample(10_000, 1)
    counter = Counter(many)
    members = np.array([[0, 1, 2], [0, 1, -1]], dtype=np.int32)
    use_bits, cells = counter._choose_bits(members, np.array([2, 1], dtype=np.uint8))
    assert use_bits.all()
    assert cells.tolist() == [np.prod(many.arities[:3]), np.prod(many.arities[:2])]


def test_looked_up_terms_equal_computed_terms():
    data = dn.load("alarm-15").sample(2_000, 1)
    table = dn.scoring.Scorer(data).table(3)  # with so many sums, terms are looked up
    scorer = dn.scoring.Scorer(data)
    for child in data.names[:3]:
        for parents in combinations([name for name in data.names if name != child], 2):
            assert scorer.local(child, parents) == table.local(child, parents)


def random_data(arities, rows, seed, most_weight=1):
    generator = np.random.default_rng(seed)
    # Skewed states, so that some combinations are frequent and most are rare.
    codes = np.array([generator.integers(0, arity, rows) * generator.integers(0, 2, rows) for arity in arities])
    states = [list(map(str, range(arity))) for arity in arities]
    weights = generator.integers(1, most_weight + 1, rows)
    return dn.Dataset.from_codes([f"v{i}" for i in range(len(arities))], states, codes, weights=weights)


def random_sets(variables, count, largest, seed):
    """Return distinct sets of 0 to `largest` variables, in the order of their keys."""
    generator = np.random.default_rng(seed)
    sets = {tuple(sorted(generator.permutation(variables)[: generator.integers(0, largest + 1)])) for _ in range(count)}
    return sorted(sets)


def exact_sum(data, members, concentration):
    """Return a sum over counts. The terms are floats, and their sum is rounded only once."""
    key = np.zeros(data.codes.shape[1], dtype=object)
    for member in members:
        key = key * int(data.arities[member]) + data.codes[member].astype(object)
    counts = {}
    for cell, weight in zip(key.tolist(), data.weights.tolist(), strict=True):
        counts[cell] = counts.get(cell, 0) + weight
    a = concentration
    return fsum(exact_term(n, a) for n in counts.values())


def exact_term(number, a):
    """Return the term of a count. A negative pseudo-count requests regrets of the corresponding number of states."""
    if a >= 0:
        return lgamma(number + a) - lgamma(a)
    return number * log(number) + multinomial_regrets(number, np.array([-a]))[0]


@pytest.mark.parametrize(
    ("arities", "rows", "weight"),
    [
        ([1, 2, 3, 5, 9, 10, 21, 40, 100, 2, 3], 3_000, 1),
        ([2, 3, 4, 2, 3, 4, 300, 11, 12], 700, 50),
        ([30, 31, 32, 33, 34, 35, 36, 37, 38, 39], 20_000, 1),  # more combinations than the table has counts
        ([2, 3, 4], 5, 10**10),
    ],
)
def test_sums_are_exact_in_any_request(arities, rows, weight):
    """The sum of a set has the same bits for any request, number of threads and way of counting."""
    data = random_data(arities, rows, seed=len(arities), most_weight=weight)
    sets = random_sets(len(arities), 150, min(8, len(arities)), seed=rows)
    concentrations = np.array([[0.01, -1.0], [1.0, 3.5], [1e-9, 100.0], [-3.0, -40.0]])
    kinds = np.arange(len(sets)) % 4
    members = pad_sets(sets)
    sums = Counter(data, workers=1).sums(members, kinds, concentrations)
    for own, kind, values in list(zip(sets, kinds, sums, strict=True))[::7]:
        for value, concentration in zip(values, concentrations[kind], strict=True):
            assert value == pytest.approx(exact_sum(data, own, concentration), rel=1e-14, abs=1e-9)
    assert np.array_equal(Counter(data, workers=2).sums(members, kinds, concentrations), sums)
    by_rows = Counter(data)
    by_rows.__dict__["planes"] = None
    assert np.array_equal(by_rows.sums(members, kinds, concentrations), sums)
    part = np.random.default_rng(0).permutation(len(sets))[: len(sets) // 2]
    assert np.array_equal(by_rows.sums(members[part], kinds[part], concentrations), sums[part])
    for index in range(0, len(sets), 11):
        alone = Counter(data).sums(members[[index]], kinds[[index]], concentrations)
        assert np.array_equal(alone[0], sums[index])


@given(st.lists(st.sets(st.integers(0, 9), max_size=5), min_size=1, max_size=60))
def test_grouping_keeps_all_sets_and_members(sets):
    members = pad_sets(sets)
    sizes = (members >= 0).sum(axis=1)
    order, places = group_sets(members, sizes)
    assert sorted(order) == list(range(len(sets)))
    moved = members[order]
    move_last(moved, sizes[order], places[order])
    assert [set(line[line >= 0]) for line in moved] == [sets[line] for line in order]


def test_sets_that_differ_in_one_member_have_the_same_base():
    stars = [{3, 6, y} for y in range(9) if y not in (3, 6)] + [{1, 8, y} for y in range(9) if y not in (1, 8)]
    members = pad_sets(sorted(map(sorted, stars)))
    sizes = np.full(len(stars), 3)
    order, places = group_sets(members, sizes)
    moved = members[order]
    move_last(moved, sizes, places[order])
    assert [tuple(base) for base, _ in groupby(moved[:, :2].tolist())] in ([(1, 8), (3, 6)], [(3, 6), (1, 8)])


def test_sums_of_terms_do_not_depend_on_the_order_of_counts():
    generator = np.random.default_rng(3)
    counts = np.append(generator.geometric(0.2, 5_000), generator.integers(1, 2_000_000, 500))
    table = TermTable(int(counts.sum()))
    for value in (-1.0, 1e-9, 0.1, 1.0, 17.0):
        (line,) = table.lines(np.array([value]))
        exact = fsum(n * log(n) if value < 0 else lgamma(n + value) - lgamma(value) for n in counts.tolist())
        total = sum_terms(counts, 0, len(counts), line, table.terms, table.parameters)
        assert total == pytest.approx(exact, rel=3e-16)
        for _ in range(3):
            shuffled = generator.permutation(counts)
            assert sum_terms(shuffled, 0, len(counts), line, table.terms, table.parameters) == total


def test_a_full_table_of_terms_is_replaced(monkeypatch):
    monkeypatch.setattr("dagneal.scoring.counting.terms._MAX_TERMS", 1)
    data = random_data([2, 3, 4, 11], 300, seed=1)
    counter, members = Counter(data), pad_sets([(0,), (0, 3), (1, 2)])
    first = counter.sums(members, np.array([0, 1, 2]), np.array([[0.5], [0.25], [2.0]]))
    counter.sums(members, np.array([0, 0, 0]), np.array([[7.0]]))
    assert np.array_equal(counter.sums(members, np.array([0, 1, 2]), np.array([[0.5], [0.25], [2.0]])), first)


def test_a_table_of_terms_is_pickled_without_terms():
    assert len(pickle.dumps(TermTable(10_000))) < 1000


def test_packed_rows_give_the_same_sums():
    """Bit planes limit the number of state combinations of a base, so the last member of some sets is chosen again."""
    arities = [2, 9, 9, 9, 2, 3, 20]
    data = random_data(arities, 2_000, seed=4)
    packer = Packer(data.arities, data.rows)
    packer.add(list(np.repeat(data.codes, data.weights, axis=1)))
    packed = replace(data, codes=packer.finish(), weights=np.ones(data.rows, dtype=np.int64))
    sets = [s for size in range(5) for s in combinations(range(len(arities)), size)]
    kinds, concentrations = np.zeros(len(sets), dtype=np.int64), np.array([[0.5]])
    counter, members = Counter(packed), pad_sets(sorted(sets))
    assert np.array_equal(counter.sums(members, kinds, concentrations), Counter(data).sums(members, kinds, concentrations))
