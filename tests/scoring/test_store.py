"""Keys of sets, and the store of counted sets."""

from concurrent.futures import ThreadPoolExecutor
from itertools import groupby

import numpy as np
import pytest
from hypothesis import given, strategies as st

import dagneal as dn
from dagneal.scoring.sets import max_set_size, pad_sets, set_keys, set_members, sort_keys
from dagneal.scoring.store import KeyIndex, SetStore
from support.reference import local_score, random_data

VARIABLES = (3, 64, 65, 128, 129, 255, 256, 1000, 5000)


@st.composite
def families_of_sets(draw):
    variables = draw(st.sampled_from(VARIABLES))
    members = st.sets(st.integers(0, variables - 1), max_size=min(max_set_size(variables), 20))
    return variables, draw(st.lists(members, min_size=1, max_size=20))


@given(families_of_sets())
def test_keys_identify_sets_and_sort_them_by_their_first_members(case):
    variables, sets = case
    members = pad_sets(sets)
    keys = set_keys(members, variables)
    assert set_members(keys, variables).tolist() == members.tolist()
    assert len({tuple(key) for key in keys.tolist()}) == len(set(map(frozenset, sets)))
    ordered = sort_keys(keys).tolist()
    assert ordered == sorted(keys.tolist())
    rows = set_members(np.array(ordered, dtype=np.uint64), variables).tolist()
    for size in range(1, members.shape[1] + 1):
        prefixes = [tuple(row[:size]) for row in rows if row[size - 1] >= 0]
        runs = [prefix for prefix, _ in groupby(prefixes)]
        assert len(runs) == len(set(runs))  # sets with the same first members are adjacent


@given(families_of_sets(), st.integers(0, 10**6))
def test_an_extra_variable_joins_the_set(case, seed):
    variables, sets = case
    extra = int(np.random.default_rng(seed).integers(variables))
    without = [members - {extra} for members in sets]
    fitting = [members for members in without if len(members) < max_set_size(variables)]
    keys = set_keys(pad_sets(fitting), variables, np.full(len(fitting), extra))
    assert keys.tolist() == set_keys(pad_sets([members | {extra} for members in fitting]), variables).tolist()


@pytest.mark.parametrize(
    ("variables", "members", "extra", "message"),
    [
        (5, [2, 1], None, "is not a set"),
        (5, [1, 1], None, "is not a set"),
        (5, [1, 5], None, "is not a set"),
        (5, [-1, 1], None, "is not a set"),
        (5, [1, -2], None, "is not a set"),
        (5, [1, 2], 2, "variable 2 is its own parent"),
        (5, [1, 2], 5, "index 5; give an index from 0 to 4"),
        (5, [1, 2], -2, "index -2"),
        (1000, list(range(13)), None, "are too many; with 1000 variables, use at most 11"),
        (1000, list(range(12)), 20, "12 parents are too many"),
    ],
)
def test_invalid_sets_are_rejected(variables, members, extra, message):
    added = None if extra is None else np.array([extra])
    with pytest.raises(dn.InputError, match=message):
        set_keys(np.array([members], dtype=np.int32), variables, added)


@given(st.lists(st.lists(st.integers(0, 40), max_size=60), max_size=8))
def test_an_index_numbers_keys_in_the_order_of_insertion(batches):
    index, reference = KeyIndex(), {}
    for batch in batches:
        # keys that differ in one word only, and keys with a common hash prefix
        keys = np.array([[v % 5 << 60, v // 5] for v in batch], dtype=np.uint64).reshape(-1, 2)
        index.add(keys)
        for v in batch:
            reference.setdefault(v, len(reference))
    assert len(index) == len(reference)
    wanted = np.array([[v % 5 << 60, v // 5] for v in range(50)], dtype=np.uint64)
    assert index.rows(wanted).tolist() == [reference.get(v, -1) for v in range(50)]


def test_equal_columns_share_a_place_until_they_differ():
    store = SetStore(4)
    keys = np.arange(12, dtype=np.uint64).reshape(-1, 2)
    assert store.split_columns(np.array([[0.5, 0.5, 0.5, 0.5]])).tolist() == [0]
    store.add(keys[:2], np.array([[1.0], [2.0]]))
    columns = store.split_columns(np.array([[0.5, 0.7, 0.5, 0.7], [0.1, 0.1, 0.1, 0.2]]))
    assert columns.tolist() == [0, 1, 3]
    store.add(keys[2:4], np.array([[3.0, 4.0, 5.0], [6.0, 7.0, 8.0]]))
    assert store.split_columns(np.ones((1, 4))).tolist() == [0, 1, 3]
    rows = store.rows(keys)
    assert rows.tolist() == [0, 1, 2, 3, -1, -1]
    values = [store.values(rows[:4], column).tolist() for column in range(4)]
    assert values == [[1, 2, 3, 6], [1, 2, 4, 7], [1, 2, 3, 6], [1, 2, 5, 8]]
    assert store.values(rows[:2], np.array([3, 0])).tolist() == [1, 2]


@pytest.mark.parametrize("score", [dn.BDeu(1), dn.K2(), dn.Perks(), dn.BIC(), dn.BDs(1), dn.FNML(), dn.QNML()])
@pytest.mark.parametrize("variables", [6, 70, 140])
def test_scores_of_parents_equal_local_scores(variables, score):
    data = random_data(variables, 60, seed=variables)
    rng = np.random.default_rng(variables)
    children = rng.integers(0, variables, 40)
    sets = [rng.permutation(np.delete(np.arange(variables), child))[: rng.integers(0, 5)].tolist() for child in children]
    scorer, other = dn.scoring.Scorer(data, score), dn.scoring.Scorer(data, score)
    scores = scorer.score_parents(children, pad_sets(sets))
    names = data.names
    assert scores.tolist() == [other.local(names[c], [names[p] for p in own]) for c, own in zip(children, sets, strict=True)]
    assert scorer.score_parents(children, pad_sets(sets)).tolist() == scores.tolist()


def test_scores_of_parents_include_penalties_for_violations():
    data = random_data(5, 60, seed=2)
    knowledge = dn.Knowledge(required=[("v0", "v1")], forbidden=[("v2", "v1")], limits={"v1": 2})
    scorer = dn.scoring.Scorer(data, knowledge=knowledge)
    cases = {(0,): 0, (): 1, (2,): 2, (0, 2): 1, (0, 3, 4): 1, (2, 3, 4): 3}
    scores = scorer.score_parents(np.full(len(cases), 1), pad_sets(list(cases)))
    for parents, violations, score in zip(cases, cases.values(), scores, strict=True):
        local = scorer.local("v1", [f"v{p}" for p in parents])
        assert score == local - violations * scorer.violation_penalty


def test_large_sets_of_many_variables_are_scored():
    data = random_data(200, 40, seed=1, arities=[2] * 200)
    parents = [f"v{i}" for i in range(0, 150, 10)]
    expected = local_score(data, "v199", parents, lambda r, q: 1 / (r * q))
    assert dn.scoring.Scorer(data).local("v199", parents) == pytest.approx(expected, rel=1e-12)
    with pytest.raises(dn.InputError, match="16 parents are too many; with 200 variables"):
        dn.scoring.Scorer(data).local("v199", [f"v{i}" for i in range(16)])


def test_invalid_parents_are_rejected():
    scorer = dn.scoring.Scorer(random_data(4, 20, seed=1))
    for children, parents in [([0], [[0]]), ([4], [[0]]), ([0], [[4]]), ([0, 1], [[2]]), ([0], [2])]:
        with pytest.raises(dn.InputError):
            scorer.score_parents(np.array(children), np.array(parents, dtype=np.int32))


def test_threads_share_a_scorer():
    data = random_data(12, 100, seed=4)
    expected = dn.scoring.Scorer(data).table(3)
    scorer = dn.scoring.Scorer(data, workers=1)

    def score(seed: int) -> bool:
        rng = np.random.default_rng(seed)
        for _ in range(60):
            child = int(rng.integers(12))
            parents = np.sort(rng.permutation(np.delete(np.arange(12), child))[: rng.integers(0, 4)])
            value = scorer.score_parents(np.array([child]), parents[None].astype(np.int32))[0]
            if value != expected.local(data.names[child], [data.names[p] for p in parents]):
                return False
        return True

    with ThreadPoolExecutor(4) as pool:
        assert all(pool.map(score, range(8)))


def test_a_scorer_with_another_run_shares_the_counts():
    data = random_data(6, 50, seed=1)
    scorer = dn.scoring.Scorer(data)
    other = scorer.with_run(dn.Run(seed=2))
    table = other.table(2)
    scorer.counter.sums = None  # counting would fail
    assert np.array_equal(scorer.table(2).scores, table.scores)
