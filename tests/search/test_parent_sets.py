"""Lists of parent sets: dominated sets, pins, and which sets stay if a list is too long."""

import numpy as np

from dagneal.search.parent_sets import MOST_SETS, SHORT_LIST, ParentSets


def add(sets, child, *parent_sets):
    """Add pairs (parents, score) to the list of a child."""
    width = max(1, *(len(parents) for parents, _ in parent_sets))
    rows = np.full((len(parent_sets), width), -1, dtype=np.int32)
    for row, (parents, _) in zip(rows, parent_sets, strict=True):
        row[: len(parents)] = parents
    sets.add(np.full(len(rows), child), rows, np.array([float(score) for _, score in parent_sets]))


def list_of(sets, child):
    rows, scores = sets.sets_of(child)
    return [(tuple(int(p) for p in row if p >= 0), float(score)) for row, score in zip(rows, scores, strict=True)]


def empty_lists(n):
    sets = ParentSets(n)
    for child in range(n):
        add(sets, child, ((), 0.0))
    return sets


def test_sets_that_score_no_better_than_a_subset_are_removed():
    sets = empty_lists(4)
    add(sets, 0, ((1, 2), 5.0), ((1,), 6.0), ((2,), 1.0), ((3,), -1.0))
    assert list_of(sets, 0) == [((1,), 6.0), ((2,), 1.0), ((), 0.0)]


def test_a_pinned_set_stays_in_a_list_that_is_too_long():
    """The row of a pinned set can be wider than the rows of the list."""
    n = 61
    sets = empty_lists(n)
    add(sets, 0, ((1,), 0.001))
    add(sets, 1, ((2, 3, 4), 9.0))
    parents = np.full((n, 3), -1, dtype=np.int32)
    parents[0, 0], parents[1] = 1, [2, 3, 4]
    sets.pin(np.arange(n)[::-1], parents)
    better = [((p,), 1.0 + 0.001 * p) for p in range(2, n)]
    add(sets, 0, *better, *(((p, q), 3.0 + 0.001 * (p + q)) for p in range(2, n) for q in range(p + 1, n)))
    kept = [parents for parents, _ in list_of(sets, 0)]
    assert len(kept) <= SHORT_LIST * MOST_SETS + 2
    assert (1,) in kept
    assert () in kept


def test_the_best_set_stays_although_its_parent_is_a_child_in_the_network():
    """The parent has another set that is as good, so the reversal of the edge costs little."""
    n = 61
    sets = empty_lists(n)
    add(sets, 1, ((0,), 50.0), ((2, 3), 49.0))
    parents = np.full((n, 1), -1, dtype=np.int32)
    parents[1, 0] = 0
    sets.pin(np.arange(n), parents)
    others = [((p, q), 3.0 + 0.001 * (p + q)) for p in range(2, n) for q in range(p + 1, n)]
    add(sets, 0, ((1,), 4.5), *others)
    assert list_of(sets, 0)[0] == ((1,), 4.5)


def test_sets_that_fit_the_order_stay_besides_better_sets():
    n = 63
    sets = empty_lists(n)
    order = np.array([1, 2, 3, 4, 5, 0, *range(6, n)])
    sets.pin(order, np.full((n, 1), -1, dtype=np.int32))
    later = [((p, q), 4.0 + 0.001 * (p + q)) for p in range(6, n) for q in range(p + 1, n)]
    before = [((p, q), 1.0 + 0.01 * (p + q)) for p in range(1, 6) for q in range(p + 1, 6)]
    add(sets, 0, *later, *before)
    kept = {parents for parents, _ in list_of(sets, 0)}
    assert {parents for parents, _ in before} <= kept
    children, rows = sets.best_sets(3, fitting=True)
    assert rows[children == 0].tolist() == [[4, 5], [3, 5], [2, 5]]
    children, rows = sets.best_sets(1, fitting=False)
    assert rows[children == 0].tolist() == [[n - 2, n - 1]]


def test_sets_that_lack_a_required_parent_are_left_out():
    """Otherwise each of the 80 single parents would be kept as the required set, and masks have only 64 bits."""
    n = 90
    required = np.zeros((n, n), dtype=bool)
    required[1, 0] = True
    sets = ParentSets(n, required)
    for child in range(n):
        add(sets, child, ((), -1000.0 if child == 0 else 0.0))
    add(sets, 0, *(((p,), -900.0 + p) for p in range(2, n)), ((1,), 0.0), ((1, 5), 2.0), ((5, 6), -800.0))
    assert list_of(sets, 0) == [((1, 5), 2.0), ((1,), 0.0), ((), -1000.0)]


def test_a_new_set_removes_supersets_that_score_no_higher():
    sets = empty_lists(5)
    add(sets, 0, ((1, 2), 5.0), ((1, 3), 6.0), ((2, 3, 4), 7.0))
    add(sets, 0, ((1,), 5.5), ((2, 3, 4), 7.0))
    assert list_of(sets, 0) == [((2, 3, 4), 7.0), ((1, 3), 6.0), ((1,), 5.5), ((), 0.0)]
    add(sets, 0, ((3,), 7.0))
    assert list_of(sets, 0) == [((3,), 7.0), ((1,), 5.5), ((), 0.0)]


def test_a_function_chooses_from_the_sets_that_no_subset_dominates():
    sets, asked = empty_lists(4), []

    def choose(children, rows, scores):
        asked.extend(scores.tolist())
        return scores > 2.0

    rows = np.array([[1, -1], [2, -1], [3, -1]], dtype=np.int32)
    sets.add(np.zeros(3, dtype=np.int64), rows, np.array([-1.0, 1.0, 3.0]), choose)
    assert asked == [1.0, 3.0]
    assert list_of(sets, 0) == [((3,), 3.0), ((), 0.0)]
