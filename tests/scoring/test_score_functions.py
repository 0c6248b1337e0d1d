"""Scores agree with direct computations and with 50-digit arithmetic."""

import mpmath
import numpy as np
import pytest
from hypothesis import given, strategies as st

import dagneal as dn
from dagneal.scoring.scores import SCORES, is_score_equivalent, parse_score
from support.reference import (
    all_dags,
    as_graph,
    bds_score,
    bic_score,
    dag_scores,
    fnml_score,
    local_score,
    penalised_score,
    qnml_score,
    random_data,
)

PRIORS = {
    "bdeu1": (dn.BDeu(1.0), lambda n: lambda r, q: 1.0 / (r * q)),
    "bdeu10": (dn.BDeu(10.0), lambda n: lambda r, q: 10.0 / (r * q)),
    "rows": (dn.BDeuRows(), lambda n: lambda r, q: n / (r * q)),
    "k2": (dn.K2(), lambda n: lambda r, q: 1.0),
    "perks": (dn.Perks(), lambda n: lambda r, q: 1.0 / r),
}


@pytest.mark.parametrize("name", PRIORS)
def test_dirichlet_scores_equal_a_direct_computation(name):
    score, alpha = PRIORS[name]
    data = random_data(5, 300, seed=3)
    table = dn.scoring.score_table(data, score, max_parents=3)
    rule = alpha(data.rows)
    for child, parents in [("v0", []), ("v1", ["v0"]), ("v3", ["v0", "v4"]), ("v2", ["v0", "v1", "v4"])]:
        assert table.local(child, parents) == pytest.approx(local_score(data, child, parents, rule), rel=1e-12)


def test_bic_equals_a_direct_computation():
    data = random_data(5, 300, seed=4)
    table = dn.scoring.score_table(data, dn.BIC(), max_parents=2)
    for child, parents in [("v0", []), ("v1", ["v0"]), ("v3", ["v0", "v4"])]:
        assert table.local(child, parents) == pytest.approx(bic_score(data, child, parents), rel=1e-12)


OTHERS = {
    "aic": lambda data, child, parents: penalised_score(data, child, parents, 1.0),
    "bds": lambda data, child, parents: bds_score(data, child, parents, 1.0),
    "bds:10": lambda data, child, parents: bds_score(data, child, parents, 10.0),
    "fnml": fnml_score,
    "qnml": qnml_score,
}


@pytest.mark.parametrize("name", OTHERS)
@pytest.mark.parametrize("rows", [7, 60, 400])
def test_other_scores_equal_a_direct_computation(name, rows):
    """With few rows, many state combinations of the parents do not occur."""
    for seed in range(3):
        data = random_data(5, rows, seed, arities=[2, 3, 4, 2, 5])
        table = dn.scoring.score_table(data, name, max_parents=4)
        for child in data.names:
            others = [other for other in data.names if other != child]
            for size in (0, 1, 2, 4):
                expected = OTHERS[name](data, child, others[:size])
                assert table.local(child, others[:size]) == pytest.approx(expected, rel=1e-11, abs=1e-9)


def test_bds_equals_bdeu_if_all_states_of_the_parents_occur():
    data = random_data(4, 2000, 1, arities=[2, 3, 2, 2])
    sparse, plain = dn.scoring.Scorer(data, "bds:3").table(2), dn.scoring.Scorer(data, "bdeu:3").table(2)
    assert sparse.scores == pytest.approx(plain.scores, rel=1e-14)
    few = random_data(4, 5, 1, arities=[2, 3, 2, 2])
    assert not np.allclose(dn.scoring.Scorer(few, "bds:3").table(2).scores, dn.scoring.Scorer(few, "bdeu:3").table(2).scores)


@pytest.mark.parametrize("name", SCORES)
def test_only_some_scores_are_equal_for_equivalent_networks(name):
    """Compare all DAGs of each equivalence class on four variables."""
    equal = True
    for seed in range(3):
        data = random_data(4, 40, seed, arities=[2, 3, 4, 2])
        table = dn.scoring.score_table(data, name, max_parents=3)
        by_class: dict = {}
        for dag, score in zip(all_dags(4), dag_scores(table, all_dags(4)), strict=True):
            by_class.setdefault(frozenset(dn.cpdag(as_graph(table, dag)).edges), []).append(score)
        equal &= all(np.ptp(scores) < 1e-8 for scores in by_class.values())
    assert equal == is_score_equivalent(parse_score(name))


@pytest.mark.parametrize("name", ["fnml", "qnml", "bds", "aic"])
def test_all_ways_of_counting_give_the_same_scores(name):
    data = dn.load("alarm-15").sample(3_000, 1)
    with_planes = dn.scoring.Scorer(data, name, workers=1)
    by_rows = dn.scoring.Scorer(data, name, workers=2)
    by_rows.counter.__dict__["planes"] = None
    assert with_planes.counter.planes is not None
    assert np.array_equal(with_planes.table(2).scores, by_rows.table(2).scores)


@pytest.mark.parametrize("name", PRIORS)
def test_scores_are_accurate_with_a_billion_rows(name):
    score, alpha = PRIORS[name]
    rng = np.random.default_rng(5)
    codes = np.array(list(np.ndindex(3, 2, 4))).T
    weights = rng.integers(1, 10**8, codes.shape[1])
    data = dn.Dataset.from_codes(["a", "b", "c"], [["0", "1", "2"], ["0", "1"], ["0", "1", "2", "3"]], codes, weights)
    assert data.rows > 10**9
    with mpmath.workdps(50):
        a = mpmath.mpf(alpha(data.rows)(4, 6))
        total = mpmath.mpf(0)
        for j in np.ndindex(3, 2):
            counts = [int(w) for row, w in zip(codes.T, weights, strict=True) if tuple(row[:2]) == j]
            total += mpmath.loggamma(4 * a) - mpmath.loggamma(4 * a + sum(counts))
            total += sum(mpmath.loggamma(a + n) - mpmath.loggamma(a) for n in counts)
        # Differences of 0.4 nats matter between graphs; the error is 10,000 times smaller.
        assert abs(dn.scoring.Scorer(data, score).local("c", ["a", "b"]) - float(total)) < 4e-5


@given(st.integers(0, 10**6), st.integers(2, 6), st.integers(1, 200))
def test_equivalent_graphs_have_equal_bdeu_scores(seed, n, rows):
    scorer = dn.scoring.Scorer(random_data(n, rows, seed))
    forward = scorer.local("v0") + scorer.local("v1", ["v0"])
    backward = scorer.local("v1") + scorer.local("v0", ["v1"])
    assert forward == pytest.approx(backward, rel=1e-12, abs=1e-9)


@given(st.integers(0, 10**6))
def test_merging_rows_does_not_depend_on_their_order(seed):
    data = random_data(4, 50, seed)
    order = np.random.default_rng(seed).permutation(data.rows)
    rows = np.repeat(data.codes, data.weights, axis=1)[:, order]
    shuffled = dn.Dataset.from_codes(data.names, data.states, rows)
    assert np.array_equal(shuffled.codes, data.codes)
    assert np.array_equal(shuffled.weights, data.weights)


def test_unobserved_states_affect_the_score():
    codes = np.array([[0, 1, 0, 1], [0, 1, 1, 0]])
    two = dn.Dataset.from_codes(["a", "b"], [["x", "y"], ["x", "y"]], codes)
    three = dn.Dataset.from_codes(["a", "b"], [["x", "y", "z"], ["x", "y"]], codes)
    assert three.arities.tolist() == [3, 2]
    assert dn.scoring.Scorer(two).local("a") != dn.scoring.Scorer(three).local("a")
    assert dn.scoring.Scorer(three).local("a") == pytest.approx(local_score(three, "a", [], lambda r, q: 1 / (r * q)))


def test_scores_with_many_states_which_use_the_hash_table():
    rng = np.random.default_rng(0)
    codes = rng.integers(0, 300, (4, 500))
    codes[3] = codes[0] // 2
    data = dn.Dataset.from_codes(list("abcd"), [[str(i) for i in range(300)]] * 4, codes)
    assert data.codes.dtype == np.uint16
    table = dn.scoring.score_table(data, max_parents=3)
    for child, parents in [("a", ["d"]), ("a", ["b", "d"]), ("d", ["a", "b", "c"])]:
        expected = local_score(data, child, parents, lambda r, q: 1 / (r * q))
        assert table.local(child, parents) == pytest.approx(expected, rel=1e-12)


def test_more_than_64_variables_with_candidates():
    data = random_data(80, 60, seed=9, arities=[2] * 80)
    table = dn.scoring.score_table(
        data, max_parents=2, candidates={name: ["v0", "v79"] if name not in ("v0", "v79") else ["v1"] for name in data.names}
    )
    rule = PRIORS["bdeu1"][1](data.rows)
    assert table.local("v40", ["v79", "v0"]) == pytest.approx(local_score(data, "v40", ["v0", "v79"], rule))
    assert table.local("v79", ["v1"]) == pytest.approx(local_score(data, "v79", ["v1"], rule))


def test_scores_do_not_depend_on_the_number_of_threads():
    data = random_data(12, 400, seed=2)
    one = dn.scoring.Scorer(data, workers=1).table(3)
    four = dn.scoring.Scorer(data, workers=4).table(3)
    assert np.array_equal(one.scores, four.scores)


def test_a_second_table_reuses_counts(monkeypatch):
    from dagneal.scoring.counting.counter import Counter

    counted = []
    plain = Counter.sums
    monkeypatch.setattr(Counter, "sums", lambda self, *rest: counted.append(len(rest[0])) or plain(self, *rest))
    scorer = dn.scoring.Scorer(random_data(6, 100, seed=1))
    scorer.table(2)
    scorer.table(3)
    scorer.table(2)
    assert counted == [1 + 6 + 15 + 20, 15]  # all sets of up to three variables, then the sets of four


def test_parsing_score_names():
    assert parse_score("bdeu:0.5") == dn.BDeu(0.5)
    assert [parse_score(n).name for n in ("bdeu", "bdeu-rows", "k2", "perks", "bic")] == [
        "BDeu(1)",
        "BDeu(N)",
        "K2",
        "Perks",
        "BIC",
    ]
    assert [parse_score(n).name for n in ("bds", "bds:2", "aic", "qnml", "fnml")] == [
        "BDs(1)",
        "BDs(2)",
        "AIC",
        "qNML",
        "fNML",
    ]
    for invalid in ("nothing", "bdeu:x", "bdeu:-1", "bdeu:0", "bic:3", "bdeu:nan", "bds:0", "aic:2"):
        with pytest.raises(dn.InputError):
            parse_score(invalid)


def test_parents_may_be_any_iterable():
    truth = dn.load("lung-cancer")
    scorer = dn.scoring.Scorer(truth.expected_data(10_000))
    expected = scorer.local("Cancer", ["Pollution", "Smoker"])
    assert scorer.local("Cancer", truth.dag.predecessors("Cancer")) == expected
    assert scorer.table().local("Cancer", iter(["Smoker", "Pollution"])) == expected


def test_threads_can_share_a_scorer():
    from concurrent.futures import ThreadPoolExecutor

    data = random_data(10, 100, seed=5)
    sets = [
        (f"v{i}", [f"v{j}" for j in range(10) if j != i and (k >> j) & 1][:4]) for i in range(10) for k in range(0, 1024, 37)
    ]
    alone = dn.scoring.Scorer(data, workers=1)
    expected = [alone.local(*one) for one in sets]
    for _ in range(3):
        shared = dn.scoring.Scorer(data, workers=1)
        with ThreadPoolExecutor(4) as pool:
            assert list(pool.map(lambda one, scorer=shared: scorer.local(*one), sets)) == expected


def test_a_user_defined_score_with_a_penalty():
    class Penalised(dn.BDeu):
        penalised = True

        def penalties(self, arity, parent_cells, rows):
            return np.log(parent_cells)

    data = random_data(3, 50, seed=2, arities=[2, 3, 4])
    plain, penalised = dn.scoring.score_table(data), dn.scoring.score_table(data, Penalised())
    assert plain.local("v0") == penalised.local("v0")
    assert plain.local("v0", ["v1", "v2"]) - penalised.local("v0", ["v1", "v2"]) == pytest.approx(np.log(12))


def test_parent_limit_with_more_than_128_variables():
    data = random_data(130, 20, seed=9, arities=[2] * 130)
    few = {name: ["v0"] if name != "v0" else [] for name in data.names}
    assert dn.scoring.Scorer(data).table(20, few).max_parents == 20  # no child has more than one candidate
    with pytest.raises(dn.InputError, match="16 parents are too many; with 130 variables, use a parent limit of at most 15"):
        dn.scoring.Scorer(data).table(16, few | {"v1": [f"v{i}" for i in range(2, 20)]})
    with pytest.raises(dn.InputError, match="18 parents are too many"):
        dn.scoring.Scorer(data).local("v1", [f"v{i}" for i in range(2, 20)])
