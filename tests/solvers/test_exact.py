"""Tests of exact and exhaustive search against each other and against enumeration."""

import networkx as nx
import numpy as np
import pytest
from hypothesis import given, strategies as st

import dagneal as dn
from support.reference import all_dags, as_graph, dag_scores, random_data, random_table


def independent_data(n: int, rows: int, seed: int) -> dn.Dataset:
    """Return data of independent binary variables."""
    rng = np.random.default_rng(seed)
    return dn.read(rng.integers(0, 2, (rows, n)))


@pytest.mark.parametrize("n", [3, 4, 5])
@pytest.mark.parametrize("seed", range(5))
def test_exhaustive_equals_exact(n, seed):
    for table in (dn.scoring.score_table(random_data(n, 100, seed), max_parents=2), random_table(n, 2, seed)):
        solution = dn.solvers.exhaustive(table)
        assert solution.optimal
        assert solution.score == pytest.approx(dn.solvers.exact(table).score, rel=1e-12)


@pytest.mark.parametrize(("n", "m"), [(2, 1), (2, 0), (3, 1), (4, 1), (4, 0), (5, 1)])
def test_exhaustive_equals_exact_with_a_lower_parent_limit(n, m):
    table = random_table(n, m, seed=n)
    assert dn.solvers.exhaustive(table).score == pytest.approx(dn.solvers.exact(table).score, rel=1e-12)


@pytest.mark.slow
@pytest.mark.parametrize("n", [3, 4])
def test_exhaustive_finds_any_dag_that_is_the_best(n):
    """No DAG is penalised, so exhaustive search finds the best DAG, no matter which DAG it is."""
    for dag in all_dags(n):
        if max(map(len, dag)) <= 2:
            table = random_table(n, 2, seed=0, spread=0.0)
            for child, parents in enumerate(dag):
                others = [v for v in range(n) if v != child]
                mask = sum(1 << others.index(p) for p in parents)
                entries = table.entries_of(child)
                table.scores[entries][table.masks[entries, 0] == mask] += 10.0
            assert nx.utils.graphs_equal(dn.solvers.exhaustive(table).dag, as_graph(table, dag))


@pytest.mark.parametrize("n", [3, 4, 5])
def test_independent_data_give_the_empty_graph(n):
    table = dn.scoring.score_table(independent_data(n, 2000, seed=1))
    for solve in (dn.solvers.exact, dn.solvers.exhaustive):
        assert solve(table).edges == []


def test_number_of_threads_does_not_change_the_result_of_exhaustive():
    table = random_table(5, 2, seed=3)
    with dn.limits(jobs=1):
        one = dn.solvers.exhaustive(table)
    with dn.limits(jobs=3):
        three = dn.solvers.exhaustive(table)
    assert one.edges == three.edges


@pytest.mark.slow
@given(st.integers(0, 10**6), st.integers(2, 5), st.integers(0, 4))
def test_exact_equals_enumeration_for_any_parent_limit_and_candidates(seed, n, m):
    data = random_data(n, 60, seed)
    rng = np.random.default_rng(seed)
    candidates = {name: [o for o in data.names if o != name and rng.random() < 0.8] for name in data.names}
    m = min(m, n - 1)
    table = dn.scoring.Scorer(data).table(m, candidates)
    full = dn.scoring.Scorer(data).table(m)
    allowed = [
        dag for dag in _dags(n) if all(data.names[p] in candidates[data.names[c]] for c, ps in enumerate(dag) for p in ps)
    ]
    solution = dn.solvers.exact(table)
    assert solution.score == pytest.approx(dag_scores(full, allowed).max(), rel=1e-12)
    assert max(d for _, d in solution.dag.in_degree) <= m


def _dags(n: int):
    """Return all DAGs with n nodes; the list is computed once."""
    if n not in _CACHE:
        _CACHE[n] = all_dags(n)
    return _CACHE[n]


_CACHE: dict = {}


@pytest.mark.parametrize(("n", "m"), [(12, 3), (13, 2), (12, 11)])
def test_exact_with_high_variables_equals_plain_dynamic_programming(n, m):
    """With more than 11 variables, exact search gives the same score as a simple dynamic programme."""
    table = dn.scoring.score_table(random_data(n, 80, seed=n, arities=[2] * n), max_parents=m)
    best = {0: 0.0}
    local = []
    for child in range(n):
        entries = table.entries_of(child)
        others = table.candidates_of(child)
        masks = [sum(1 << int(v) for b, v in enumerate(others) if int(mask) >> b & 1) for mask in table.masks[entries, 0]]
        local.append(sorted(zip(table.scores[entries].tolist(), masks, strict=True), reverse=True))
    for w in range(1, 1 << n):
        best[w] = max(
            best[w ^ 1 << i] + next(s for s, mask in local[i] if mask & ~(w ^ 1 << i) == 0) for i in range(n) if w >> i & 1
        )
    assert dn.solvers.exact(table).score == pytest.approx(best[(1 << n) - 1], rel=1e-12)


def test_exact_returns_no_needless_edges():
    """A parent with only one state does not change the score, so exact search does not add it."""
    data = dn.Dataset.from_codes(
        ["a", "b", "c"], [["x"], ["0", "1"], ["0", "1"]], np.array([[0] * 40, [0, 1] * 20, [0, 1] * 20])
    )
    assert dn.solvers.exact(dn.scoring.score_table(data)).edges in ([("b", "c")], [("c", "b")])


def test_errors_state_the_size_limits():
    with pytest.raises(dn.InputError, match="at most 5 variables, not 6; use exact"):
        dn.solvers.exhaustive(random_table(6, 2, seed=0))
    with pytest.raises(dn.InputError, match="at most 28 variables, not 29"):
        dn.solvers.exact(random_table(29, 1, seed=0))
    with pytest.raises(dn.InputError, match="at most 2 parents, not 3"):
        dn.solvers.exhaustive(random_table(5, 3, seed=0))
