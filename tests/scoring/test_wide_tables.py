"""Masks of several words, and score tables with more than 65 variables."""

from dataclasses import replace
from itertools import combinations

import networkx as nx
import numpy as np
import pytest
from dwave.samplers import SteepestDescentSolver, TreeDecompositionSolver
from hypothesis import given, strategies as st

import dagneal as dn
from dagneal.divide.solving import SubproblemKey
from dagneal.divide.subproblem_solvers import ExactSubproblems
from dagneal.scoring.orders import dag_of_order, random_orders, score_orders
from dagneal.scoring.sets import (
    bounded_masks,
    find_mask,
    find_masks,
    first_subset,
    flip_bit,
    has_bit,
    is_subset,
    mask_bits,
    mask_of,
    mask_sizes,
    move_bits,
    pack_flags,
    set_bit,
    squeeze_words,
    word_count,
)
from support.reference import candidate_table, join_table, random_data, random_table


def as_numbers(masks: np.ndarray) -> list[int]:
    return [sum(int(word) << 64 * place for place, word in enumerate(mask)) for mask in masks]


def as_masks(numbers: list[int], words: int) -> np.ndarray:
    rows = [[number >> 64 * place & (1 << 64) - 1 for place in range(words)] for number in numbers]
    return np.array(rows, dtype=np.uint64).reshape(-1, words)


@pytest.mark.parametrize("bits", [0, 1, 5, 63, 64, 65, 128, 129])
@pytest.mark.parametrize("limit", [0, 1, 2])
def test_bounded_masks_are_all_small_sets_in_ascending_order(bits, limit):
    masks = bounded_masks(bits, min(limit, bits))
    assert masks.shape[1] == word_count(bits) == max(1, (bits + 63) // 64)
    assert masks.flags.c_contiguous
    sets = [sum(1 << b for b in chosen) for size in range(limit + 1) for chosen in combinations(range(bits), size)]
    assert as_numbers(masks) == sorted(set(sets))
    assert bounded_masks(bits, min(limit, bits), words=3).shape[1] == 3


@given(st.lists(st.integers(0, 2**130 - 1), min_size=1, max_size=20, unique=True), st.integers(0, 10**6))
def test_functions_on_masks_agree_with_whole_numbers(numbers, seed):
    rng = np.random.default_rng(seed)
    numbers = sorted(numbers)
    masks = as_masks(numbers, 3)
    other = numbers[0] | numbers[-1]
    bit = int(rng.integers(130))
    assert mask_sizes(masks).tolist() == [number.bit_count() for number in numbers]
    assert has_bit(masks, bit).tolist() == [bool(number >> bit & 1) for number in numbers]
    assert is_subset(masks, as_masks([other], 3)).tolist() == [number & ~other == 0 for number in numbers]
    bits = [[b for b in range(130) if number >> b & 1] for number in numbers]
    assert [[b for b in row if b >= 0] for row in mask_bits(masks).tolist()] == bits
    assert as_numbers([mask_of(own, 3) for own in bits]) == numbers
    assert as_numbers(pack_flags(np.stack([has_bit(masks, b) for b in range(130)], axis=1), 3)) == numbers
    wanted = [*numbers, other, other ^ 1]
    expected = [numbers.index(number) if number in numbers else -1 for number in wanted]
    assert find_masks(masks, as_masks(wanted, 3)).tolist() == expected
    begin = int(rng.integers(len(numbers)))
    inside = [i for i in range(begin, len(numbers)) if numbers[i] & ~other == 0]
    assert first_subset(masks, begin, len(masks), as_masks([other], 3), 0) == (inside[0] if inside else -1)
    assert find_mask(masks, begin, len(masks), masks, 0) == (0 if begin == 0 else -1)
    origins, targets = rng.permutation(130)[:20], rng.permutation(190)[:20]
    moved = [sum((number >> int(a) & 1) << int(b) for a, b in zip(origins, targets, strict=True)) for number in numbers]
    assert as_numbers(move_bits(masks, origins, targets, 3)) == moved
    flip_bit(masks, 0, bit)
    assert as_numbers(masks)[0] == numbers[0] ^ 1 << bit


@given(st.lists(st.integers(0, 2**64 - 1), min_size=1, max_size=20), st.integers(0, 2**64 - 1), st.integers(0, 63))
def test_masks_of_one_word_can_be_squeezed(numbers, allowed, bit):
    masks = squeeze_words(as_masks(numbers, 1))
    inside = [i for i, number in enumerate(numbers) if number & ~allowed == 0]
    assert masks.ndim == 1
    assert first_subset(masks, 0, len(masks), np.array([allowed], dtype=np.uint64), 0) == (inside[0] if inside else -1)
    flip_bit(masks, 0, bit)
    assert int(masks[0]) == numbers[0] ^ 1 << bit
    for value in (False, True):
        for words in (1, 2):
            empty = squeeze_words(np.zeros((2, words), dtype=np.uint64))
            set_bit(empty, 1, bit, value)
            assert empty.ravel().tolist() == [0] * words + [value << bit] + [0] * (words - 1)
    assert squeeze_words(as_masks(numbers, 2)).ndim == 2


@pytest.fixture(scope="module")
def data():
    return random_data(130, 200, seed=6, arities=[2] * 130)


def test_a_wide_table_has_the_scores_of_the_scorer(data):
    scorer = dn.scoring.Scorer(data)
    names = data.names
    candidates = {name: list(names[max(0, i - 3) : i]) for i, name in enumerate(names)}
    table = scorer.table(2, candidates | {"v7": [name for name in names if name != "v7"], "v129": list(names[:66])})
    assert table.masks.shape[1] == 3
    assert table.masks.flags.c_contiguous
    for child, parents in [("v7", ["v129", "v0"]), ("v7", ["v70", "v64"]), ("v129", ["v65", "v64"]), ("v128", ["v127"])]:
        assert table.local(child, parents) == scorer.local(child, parents)
    with pytest.raises(dn.InputError, match="cannot have the parents"):
        table.local("v129", ["v66"])
    rows = scorer.score_sets(
        [7, 129],
        [table.candidates_of(7), table.candidates_of(129)],
        [table.masks[table.entries_of(7)], table.masks[table.entries_of(129)]],
    )
    assert np.array_equal(rows, table.scores[np.r_[table.entries_of(7), table.entries_of(129)]])


@pytest.mark.parametrize("chosen", [[3, 66, 68, 69], [0, 1, 2], list(range(2, 70, 9)), list(range(1, 67))])
def test_restriction_of_a_wide_table_equals_the_table_of_fewer_candidates(chosen):
    data = random_data(70, 80, seed=3, arities=[2] * 70)
    names = [data.names[i] for i in chosen]
    wide = dn.scoring.score_table(data, max_parents=2)
    assert wide.masks.shape == (70 * (1 + 69 + 69 * 34), 2)
    assert wide.unrestricted
    inside = {name: [n for n in names if n != name] if name in names else [] for name in data.names}
    direct = dn.scoring.score_table(data, max_parents=2, candidates=inside)
    restricted = wide.restrict(names)
    assert restricted.masks.shape[1] == word_count(len(names) - 1)
    assert np.array_equal(
        restricted.masks, np.concatenate([direct.masks[direct.entries_of(i), : restricted.masks.shape[1]] for i in chosen])
    )
    assert np.array_equal(restricted.scores, np.concatenate([direct.scores[direct.entries_of(i)] for i in chosen]))
    if len(chosen) < 20:
        assert np.array_equal(wide.gather([chosen]).table(0).scores, restricted.scores)


def widen(small: dn.scoring.ScoreTable, n: int, seed: int) -> dn.scoring.ScoreTable:
    """Embed a table in n variables. The other variables have no edges; as parents they lower the score."""
    rng = np.random.default_rng(seed)
    place = np.sort(rng.permutation(n)[: len(small.names)])
    names = [f"other {i}" for i in range(n)]
    for index, name in zip(place, small.names, strict=True):
        names[index] = name
    words = word_count(n - 1)
    candidates, masks, scores = [], [], []
    for child in range(n):
        own = np.delete(np.arange(n), child)
        sets, values = bounded_masks(n - 1, 1, words), np.full(n, -10_000.0)
        values[0] = 0.0
        if child in place:
            index = int(np.searchsorted(place, child))
            targets = np.searchsorted(own, place[small.candidates_of(index)])
            entries = small.entries_of(index)
            embedded = move_bits(small.masks[entries], range(len(targets)), targets, words)
            numbers = dict(zip(as_numbers(sets), values.tolist(), strict=True))
            numbers |= dict(zip(as_numbers(embedded), small.scores[entries].tolist(), strict=True))
            sets, values = as_masks(sorted(numbers), words), np.array([numbers[key] for key in sorted(numbers)])
        candidates.append(own)
        masks.append(sets)
        scores.append(values)
    return join_table(names, small.max_parents, candidates, masks, scores)


@pytest.mark.parametrize(("n", "seed"), [(70, 1), (100, 2), (130, 3)])
def test_order_search_finds_the_optimum_of_an_embedded_problem(n, seed):
    small = candidate_table(6, 3, seed)
    best = dn.solvers.exact(small)
    wide = widen(small, n, seed)
    found = dn.solvers.order_search(wide, restarts=200, run=dn.Run(seed=seed))
    assert found.score == pytest.approx(best.score, rel=1e-12)
    assert {frozenset(edge) for edge in found.edges} <= {frozenset(pair) for pair in combinations(small.names, 2)}
    assert dn.proofs.prove(wide).score >= best.score - 1e-9
    start, masks, _ = wide.pruned
    kept = {frozenset(bits[bits >= 0].tolist()) for bits in mask_bits(masks[start[0] : start[1]])}
    assert frozenset() in kept


@pytest.mark.parametrize("n", [70, 130])
def test_scores_of_orders_equal_scores_of_their_dags(n):
    wide = widen(candidate_table(6, 3, seed=n), n, seed=n)
    orders = next(random_orders(n, 20, seed=1))
    for order, score in zip(orders, score_orders(wide, orders), strict=True):
        dag = dag_of_order(wide, order)
        assert nx.is_directed_acyclic_graph(dag)
        assert score == pytest.approx(wide.score(dag), rel=1e-12)
        before = {wide.names[v]: i for i, v in enumerate(order)}
        assert all(before[a] < before[b] for a, b in dag.edges)


@pytest.mark.parametrize(("n", "max_parents", "seed"), [(70, 3, 1), (100, 2, 2), (130, 2, 3)])
def test_an_embedded_problem_has_the_same_qubo_and_reads(n, max_parents, seed):
    small = random_table(5, max_parents, seed)
    wide = widen(small, n, seed)
    for penalties in ("tight", "gap"):
        encoding = dn.Encoding(penalties)
        bqm = dn.qubo.encode(small, encoding)
        embedded = dn.qubo.encode(wide, encoding)
        assert set(embedded.variables) == set(bqm.variables)
        assert embedded.offset == pytest.approx(bqm.offset)
        if penalties == "tight":
            assert embedded.is_almost_equal(bqm, 6)
        samples = TreeDecompositionSolver().sample(embedded, num_reads=3)
        reads, expected = dn.qubo.decode(wide, samples), dn.qubo.decode(small, samples)
        assert reads.raw_scores == pytest.approx(expected.raw_scores, nan_ok=True)
        assert reads.repaired_scores[0] == pytest.approx(dn.solvers.exact(small).score)
        assert set(reads.raw_graph(0).edges) == set(expected.raw_graph(0).edges)


def test_unpruned_qubo_of_a_wide_table():
    wide = dn.scoring.score_table(random_data(70, 40, seed=2, arities=[2] * 70), max_parents=1)
    bqm = dn.qubo.encode(wide, dn.Encoding(prune=False))
    assert sum(label[0] == "d" for label in bqm.variables) == 70 * 69
    rng = np.random.default_rng(1)
    dag = nx.DiGraph()
    dag.add_nodes_from(wide.names)
    dag.add_edges_from((wide.names[int(rng.integers(child))], wide.names[child]) for child in range(1, 70))
    vector = dn.qubo.qubo_vector(wide, dag, dn.Encoding(prune=False))
    assert bqm.energies((vector, bqm.variables))[0] == pytest.approx(-wide.score(dag))


@pytest.mark.parametrize(
    "solver", [dn.OrderSearch(restarts=5), dn.Anneal(SteepestDescentSolver(), num_reads=3, direct=True)]
)
def test_solvers_of_complete_tables_accept_more_than_65_variables(solver):
    data = random_data(70, 300, seed=8, arities=[2] * 70)
    result = dn.learn(data, solver, max_parents=1, seed=1)
    assert result.score == pytest.approx(dn.scoring.Scorer(data).score(result.dag))
    assert result.score <= result.bound.score
    assert len(result.edges) > 20


def test_tables_that_are_too_large_are_rejected():
    data = random_data(200, 5, seed=1, arities=[2] * 200)
    with pytest.raises(dn.InputError, match="262,720,000 scores, more than 50,000,000; use a lower parent limit"):
        dn.learn(data, "order")


def test_journal_keys_do_not_depend_on_the_axis_of_words():
    table = random_table(6, 2, seed=1)
    assert table.masks.shape == (len(table.scores), 1)
    flat = replace(table, masks=table.masks[:, 0])
    members = np.array([0, 2, 5])
    assert SubproblemKey(table, ExactSubproblems())(members) == SubproblemKey(flat, ExactSubproblems())(members)
