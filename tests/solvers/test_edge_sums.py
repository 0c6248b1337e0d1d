"""Tests of sums over orders and over DAGs against enumeration, and against each other in limiting cases."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, strategies as st

import dagneal as dn
from dagneal.runtime.run import Deadline, Run
from dagneal.solvers.dag_sums import dag_sums
from dagneal.solvers.order_sums import order_sums
from dagneal.solvers.wide import sum_over_subsets, sum_over_supersets, to_logs, to_wide
from support.reference import candidate_table, enumerated_posteriors, random_data, random_table

BOTH = [(order_sums, True), (dag_sums, False)]


@pytest.mark.parametrize(("method", "per_order"), BOTH)
@pytest.mark.parametrize("spread", [0.0, 1.0, 10.0, 1000.0])
@pytest.mark.parametrize(("n", "m"), [(2, 1), (3, 2), (4, 3), (4, 1)])
def test_sums_equal_enumeration(method, per_order, n, m, spread):
    table = random_table(n, m, seed=n + m, spread=spread)
    edges, log_total = enumerated_posteriors(table, per_order)
    sums = method(table)
    assert np.abs(sums.edges - edges).max() < 1e-12
    assert sums.log_total == pytest.approx(log_total, abs=1e-9)
    assert sums.error < 1e-12


@pytest.mark.slow
@pytest.mark.parametrize(("method", "per_order"), BOTH)
@pytest.mark.parametrize("rows", [20, 5000])
def test_sums_of_data_equal_enumeration_of_five_variables(method, per_order, rows):
    table = dn.scoring.score_table(random_data(5, rows, rows), max_parents=4)
    edges, _ = enumerated_posteriors(table, per_order)
    assert np.abs(method(table).edges - edges).max() < 1e-10


@pytest.mark.parametrize(("method", "per_order"), BOTH)
@pytest.mark.slow
@given(seed=st.integers(0, 10**6), n=st.integers(2, 4))
def test_sums_with_candidate_parents_equal_enumeration(method, per_order, seed, n):
    """Parent sets that are not in the table have probability 0."""
    table = candidate_table(n, 2, seed)
    full = random_table(n, min(2, n - 1), 0)
    scores = np.full(len(full.scores), -np.inf)
    for child, name in enumerate(full.names):
        entries, others = full.entries_of(child), full.candidates_of(child)
        for entry in range(entries.start, entries.stop):
            parents = [full.names[v] for bit, v in enumerate(others) if int(full.masks[entry, 0]) >> bit & 1]
            try:
                scores[entry] = table.local(name, parents)
            except dn.InputError:
                continue
    edges, _ = enumerated_posteriors(replace(full, scores=scores), per_order)
    assert np.abs(method(table).edges - edges).max() < 1e-12


@pytest.mark.parametrize("method", [order_sums, dag_sums])
def test_parts_without_a_common_edge_are_independent(method):
    """With more than 11 variables, two separate parts have the same probabilities as alone."""
    parts = [random_table(6, 3, seed, spread=2.0) for seed in (1, 2)]
    candidates = [part.candidates_of(child) + 6 * k for k, part in enumerate(parts) for child in range(6)]
    together = replace(
        parts[0],
        names=tuple(f"v{i}" for i in range(12)),
        first=np.cumsum([0, *map(len, candidates)]),
        candidates=np.concatenate(candidates),
        start=np.concatenate([parts[0].start, parts[1].start[1:] + parts[0].start[-1]]),
        masks=np.concatenate([part.masks for part in parts]),
        scores=np.concatenate([part.scores for part in parts]),
    )
    sums = method(together)
    for k, part in enumerate(parts):
        own = slice(6 * k, 6 * k + 6)
        assert np.abs(sums.edges[own, own] - method(part).edges).max() < 1e-12


def test_order_of_columns_does_not_matter():
    """High and low variables exchange their roles."""
    rng = np.random.default_rng(3)
    codes = rng.integers(0, 2, (13, 60))
    codes[1:] ^= codes[:-1] & rng.integers(0, 2, (12, 60))
    data, reordered = dn.read(codes.T), dn.read(codes[::-1].T)
    for method in (order_sums, dag_sums):
        edges = method(dn.scoring.score_table(data)).edges
        again = method(dn.scoring.score_table(reordered)).edges
        assert np.abs(edges - again[::-1, ::-1]).max() < 1e-10


@pytest.mark.parametrize("method", [order_sums, dag_sums])
def test_number_of_threads_does_not_change_the_result(method):
    table = random_table(12, 2, 5, spread=3.0)
    with dn.limits(jobs=1):
        one = method(table)
    with dn.limits(jobs=3):
        three = method(table)
    assert np.array_equal(one.edges, three.edges)


@pytest.mark.parametrize("method", [order_sums, dag_sums])
def test_impossible_tables_and_limits_are_refused(method):
    table = random_table(2, 1, 0)
    cyclic = replace(table, start=np.array([0, 1, 2]), masks=table.masks[[1, 3]], scores=table.scores[[1, 3]])
    with pytest.raises(dn.InputError, match="no DAG is possible"):
        method(cyclic)
    lacking = replace(table, start=np.array([0, 0, 2]), masks=table.masks[:2], scores=table.scores[:2])
    with pytest.raises(dn.InputError, match="no DAG is possible"):
        method(lacking)
    with pytest.raises(dn.InputError, match="variables, not 26"):
        method(random_table(26, 1, 0))
    with dn.limits(memory=1000), pytest.raises(dn.InputError, match="memory"):
        method(random_table(8, 1, 0))
    with pytest.raises(dn.base.errors.OutOfTimeError):
        method(table, Run(deadline=Deadline(0.0)))


def test_wide_numbers_keep_their_range_and_digits():
    rng = np.random.default_rng(1)
    logs = rng.uniform(-5000, 5000, 64)
    logs[rng.random(64) < 0.2] = -np.inf
    assert np.allclose(to_logs(*to_wide(logs)), logs, rtol=0, atol=1e-11)
    below, above = to_wide(logs), to_wide(logs)
    sum_over_subsets(*below)
    sum_over_supersets(*above)
    for w in range(64):
        subsets = [logs[s] for s in range(64) if s & ~w == 0]
        supersets = [logs[s] for s in range(64) if w & ~s == 0]
        for expected, numbers in ((subsets, below), (supersets, above)):
            assert np.logaddexp.reduce(expected) == pytest.approx(to_logs(*numbers)[w], abs=1e-10)
