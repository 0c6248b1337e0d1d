"""The checker of proofs, compared with a slow second checker and with all DAGs, and at the limits of its numbers.

The tests use the checker as attributes of its module, so that mutation tests can replace it
(`benchmarks/acceptance/mutation.py`).
"""

from dataclasses import replace
from functools import cache
from itertools import combinations

import numpy as np
import pytest

from dagneal.proofs import checker
from dagneal.proofs.certificate import Node, Proof, Step, fingerprint
from dagneal.proofs.cluster_cuts import Cluster
from dagneal.proofs.facets import Facet
from dagneal.proofs.families import MAX_COST, UNITS, Families
from support.reference import all_dags

PADDING = 3  # columns of `Families.rows`


def make_families(lists):
    """Return families from a list of (cost, parents) for each child. Costs are in units."""
    ordered = [sorted(families) for families in lists]
    flat = [(child, cost, parents) for child, families in enumerate(ordered) for cost, parents in families]
    rows = [[*sorted(parents), *[-1] * (PADDING - len(parents))] for _, _, parents in flat]
    return Families(
        names=tuple(f"v{child}" for child in range(len(lists))),
        score_name="made up",
        max_parents=PADDING,
        start=np.cumsum([0, *map(len, ordered)]),
        children=np.array([child for child, _, _ in flat]),
        rows=np.array(rows, dtype=np.int32),
        costs=np.array([cost for _, cost, _ in flat]),
        highest=np.zeros(len(lists), dtype=np.int64),
    )


def make_proof(families, root, cuts=(), parents=None, gap=0):
    """Return a proof about families; by default for the network without edges."""
    parents = ((),) * families.variables if parents is None else parents
    known = {name: getattr(families, name) for name in ("names", "score_name", "max_parents")}
    return Proof(**known, fingerprint=fingerprint(families), parents=parents, gap=gap, cuts=tuple(cuts), root=root)


def step(*pairs):
    """Return a step from pairs of a cut and its multiplier."""
    return Step(*(np.array(part, dtype=np.int64) for part in (tuple(zip(*pairs, strict=True)) or ((), ()))))


def accepts(proof, families):
    """Return whether the checker accepts a proof."""
    try:
        checker.check_proof(proof, families)
    except checker.ProofError:
        return False
    return True


# A second checker, with sets and dictionaries, for a few variables.


def coefficient(cut, child, parents):
    """Return the coefficient of a family in a cut."""
    members = [int(v) for v in cut.members]
    if child not in members:
        return 0
    if isinstance(cut, Cluster):
        return int(len(parents & set(members)) >= cut.k)
    return int(cut.coefficients[members.index(child), sum(1 << members.index(p) for p in parents if p in members)])


@cache
def small_dags(size):
    return all_dags(size)


def holds(cut):
    """Return whether all DAGs of the members satisfy a cut."""
    members = [int(v) for v in cut.members]
    return all(
        sum(coefficient(cut, members[i], {members[p] for p in parents}) for i, parents in enumerate(dag)) <= cut.limit
        for dag in small_dags(len(members))
    )


def proves(node, alive, before, cuts, target, n):
    """Return whether a node proves that no network costs less than the target.

    Args:
        node: node of a search tree.
        alive: set of families (child, parents, cost) that are left.
        before: set of ordered pairs.
        cuts: cuts of the proof.
        target: cost in units.
        n: number of variables.
    """
    alive = {family for family in alive if not any((family[0], p) in before for p in family[1])}
    for one in node.steps:
        if len({child for child, _, _ in alive}) < n:
            return True
        pairs = [(cuts[c], m) for c, m in zip(one.cuts.tolist(), one.multipliers.tolist(), strict=True)]
        reduced = {
            (child, parents, cost): cost + sum(m * coefficient(cut, child, parents) for cut, m in pairs)
            for child, parents, cost in alive
        }
        lowest = [min(r for (child, _, _), r in reduced.items() if child == v) for v in range(n)]
        bound = sum(lowest) - sum(m * cut.limit for cut, m in pairs)
        if bound >= target:
            return True
        alive = {family for family in alive if bound - lowest[family[0]] + reduced[family] < target}
    if len({child for child, _, _ in alive}) < n:
        return True
    if node.pair is None:
        return False
    u, v = node.pair
    return all(
        proves(part, alive, close({*before, pair}), cuts, target, n)
        for part, pair in zip(node.parts, ((u, v), (v, u)), strict=True)
    )


def close(pairs):
    """Return the transitive closure of ordered pairs."""
    while more := {(a, d) for a, b in pairs for c, d in pairs if b == c} - pairs:
        pairs = pairs | more
    return pairs


def best_target(root, families, cuts, most):
    """Return the highest target up to `most` that the second checker accepts; -1 if there is none."""
    alive = {
        (int(child), frozenset(row[row >= 0].tolist()), int(cost))
        for child, row, cost in zip(families.children, families.rows, families.costs, strict=True)
    }
    low, high = -1, most
    while low < high:
        middle = (low + high + 1) // 2
        low, high = (middle, high) if proves(root, alive, set(), cuts, middle, families.variables) else (low, middle - 1)
    return low


def lowest_cost(families):
    """Return the cost of the best network, by a list of all DAGs."""
    n = families.variables
    costs = [
        {
            frozenset(row[row >= 0].tolist()): int(cost)
            for row, cost in zip(families.rows[lo:hi], families.costs[lo:hi], strict=True)
        }
        for lo, hi in zip(families.start, families.start[1:], strict=False)
    ]
    totals = [[costs[v].get(parents) for v, parents in enumerate(dag)] for dag in small_dags(n)]
    return min(sum(total) for total in totals if None not in total)


def random_families(n, generator):
    """Return families of a few variables. The empty parent set of each child is the most expensive."""
    lists = []
    for child in range(n):
        others = [v for v in range(n) if v != child]
        sets = [c for size in range(1, PADDING + 1) for c in combinations(others, size)]
        chosen = [sets[i] for i in generator.permutation(len(sets))[: generator.integers(2, 6)]]
        costs = np.sort(generator.integers(0, 60, len(chosen)))
        most = int(generator.integers(60, 90))
        lists.append([(0, chosen[0]), *zip(costs[1:].tolist(), chosen[1:], strict=True), (most, ())])
    return make_families(lists)


def random_cut(n, generator):
    """Return a random valid cut. A third of them are facets."""
    members = np.sort(generator.permutation(n)[: generator.integers(2, n + 1)])
    if generator.random() < 0.67:
        return Cluster(tuple(members.tolist()), int(generator.integers(1, 3)))
    size = len(members)
    coefficients = generator.integers(0, 4, (size, 1 << size))
    every = [sum(coefficients[v, sum(1 << p for p in row)] for v, row in enumerate(dag)) for dag in small_dags(size)]
    return Facet(members, coefficients, int(max(every)))


def random_node(depth, n, cuts, generator):
    """Return a random search tree."""
    steps = tuple(
        step(*{c: int(generator.integers(1, 30)) for c in generator.integers(0, cuts, 3).tolist()}.items())
        for _ in range(generator.integers(0, 3))
    )
    if depth == 0:
        return Node((*steps, step(*((c, int(generator.integers(0, 30))) for c in range(cuts)))))
    u, v = (int(x) for x in generator.permutation(n)[:2])
    parts = tuple(random_node(depth - 1, n, cuts, generator) for _ in range(2))
    return Node(steps, (u, v), parts)


@pytest.mark.parametrize("seed", range(100))
def test_the_strongest_claim_of_a_random_proof_is_accepted_and_a_stronger_one_rejected(seed):
    generator = np.random.default_rng(seed)
    n = 3 + seed % 2
    families = random_families(n, generator)
    cuts = [random_cut(n, generator) for _ in range(4)]
    assert all(map(holds, cuts))
    root = random_node(seed % 4, n, len(cuts), generator)
    empty = int(families.costs[families.start[1:] - 1].sum())
    target = best_target(root, families, cuts, empty - 1)
    assert target <= lowest_cost(families)
    if target >= 0:
        assert checker.check_proof(make_proof(families, root, cuts, gap=empty - target), families) == target
    with pytest.raises(checker.ProofError, match="neither proved nor divided"):
        checker.check_proof(make_proof(families, root, cuts, gap=empty - target - 1), families)


@pytest.mark.parametrize("seed", range(20))
def test_the_limit_of_a_facet_is_the_largest_sum_of_all_dags(seed):
    generator = np.random.default_rng(seed)
    facet = None
    while not isinstance(facet, Facet):
        facet = random_cut(4, generator)
    families = random_families(4, generator)
    found = checker._check_cut(facet, families, "cut")
    pairs = zip(families.children.tolist(), families.rows, strict=True)
    assert found.tolist() == [coefficient(facet, child, set(row[row >= 0].tolist())) for child, row in pairs]
    with pytest.raises(checker.ProofError, match="cut does not hold for all networks"):
        checker._check_cut(facet._replace(limit=facet.limit - 1), families, "cut")


@pytest.mark.parametrize("k", [1, 2])
def test_coefficients_of_clusters(k):
    families = random_families(4, np.random.default_rng(k))
    for size in (2, 3, 4):
        for members in combinations(range(4), size):
            cut = Cluster(members, k)
            pairs = zip(families.children.tolist(), families.rows, strict=True)
            expected = [coefficient(cut, child, set(row[row >= 0].tolist())) for child, row in pairs]
            assert checker._check_cut(cut, families, "cut").tolist() == expected


PAIR = make_families([[(0, (1,)), (5, ())], [(0, (0,)), (7, ())]])  # the best network costs 5
CYCLE = Cluster((0, 1), 1)
PROVED = Node((step((0, 5)),))


def test_a_proof_in_one_step():
    proof = make_proof(PAIR, PROVED, [CYCLE], gap=7)
    assert checker.check_proof(proof, PAIR) == 5
    assert checker.check_proof(replace(proof, parents=((), (0,)), gap=0), PAIR) == 5
    assert not accepts(replace(proof, gap=6), PAIR)
    assert not accepts(replace(proof, gap=-1, parents=((), (0,))), PAIR)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"names": ("v0", "x")}, "it is about the variables"),
        ({"score_name": "other"}, "it is about the score 'other', not 'made up'"),
        ({"max_parents": 2}, "it is about the parent limit 2"),
        ({"fingerprint": ""}, "other data"),
        ({"gap": -1}, "must not be negative"),
        ({"parents": ((),)}, "1 variables instead of 2"),
        ({"parents": ((), (), ())}, "3 variables instead of 2"),
        ({"parents": ((1,), (0,))}, "cycle"),
        ({"parents": ((0,), ())}, "parents of variable 0 are not in the score table"),
        ({"parents": ((), (1, 0))}, "parents of variable 1 are not in the score table"),
        ({"parents": ((), (0, -1, -1, 1))}, "parents of variable 1 are not in the score table"),
        ({"root": Node((step((1, 1)),))}, "step 0 of root has an unknown cut"),
        ({"root": Node((step((-1, 1)),))}, "step 0 of root has an unknown cut"),
        ({"root": Node((step((0, -1)),))}, "negative multiplier"),
        ({"root": Node((), (0, 1), (PROVED,))}, "root is neither proved nor divided"),
        ({"root": Node((), (0, 1), (PROVED, PROVED, PROVED))}, "root is neither proved nor divided"),
        ({"root": Node((), None, (PROVED, PROVED))}, "root is neither proved nor divided"),
        ({"root": Node((), (0, 0), (PROVED, PROVED))}, "invalid pair of variables: 0 and 0"),
        ({"root": Node((), (-1, 1), (PROVED, PROVED))}, "invalid pair of variables: -1 and 1"),
        ({"root": Node((), (1, -1), (PROVED, PROVED))}, "invalid pair of variables: 1 and -1"),
        ({"root": Node((), (0, 2), (PROVED, PROVED))}, "invalid pair of variables: 0 and 2"),
        ({"root": Node((), (2, 0), (PROVED, PROVED))}, "invalid pair of variables: 2 and 0"),
    ],
)
def test_each_part_of_a_proof_is_checked(change, message):
    proof = make_proof(PAIR, PROVED, [CYCLE], gap=7)
    with pytest.raises(checker.ProofError, match=message):
        checker.check_proof(replace(proof, **change), PAIR)


def test_both_parts_must_be_proved():
    """With v0 before v1, v0 has no parents and costs 5. With v1 before v0, v1 costs 7."""
    nothing, trivial = Node(()), Node((step(),))
    for parts, gap, expected in (
        ((trivial, trivial), 7, True),
        ((trivial, trivial), 6, False),
        ((trivial, nothing), 7, False),
        ((nothing, trivial), 7, False),
    ):
        assert accepts(make_proof(PAIR, Node((), (0, 1), parts), gap=gap), PAIR) is expected
        assert accepts(make_proof(PAIR, Node((), (1, 0), parts[::-1]), gap=gap), PAIR) is expected


@pytest.mark.parametrize("pairs", [((0, 1), (1, 2)), ((1, 2), (0, 1)), ((0, 1), (2, 1)), ((0, 1), (2, 3), (1, 2))])
def test_orders_are_transitive(pairs):
    before = np.zeros((4, 4), dtype=bool)
    for pair in pairs:
        before = checker._add_order(before, *pair)
    assert {(int(u), int(v)) for u, v in zip(*np.nonzero(before), strict=True)} == close(set(pairs))


@pytest.mark.parametrize("members", [(), (0,), (1, 0), (0, 0), (-1, 0), (0, 2), (0, -1, 1), (0, 1, 1)])
def test_clusters_need_ascending_variables(members):
    with pytest.raises(checker.ProofError, match="cut 0 has invalid variables"):
        checker.check_proof(make_proof(PAIR, PROVED, [Cluster(members, 1)], gap=12), PAIR)


@pytest.mark.parametrize("k", [-1, 0, 3])
def test_clusters_need_one_or_two_parents(k):
    families = random_families(4, np.random.default_rng(1))
    with pytest.raises(checker.ProofError, match=f"cut 0 has k = {k} instead of 1 or 2"):
        checker.check_proof(make_proof(families, Node((step(),)), [Cluster((0, 1, 2, 3), k)]), families)


def facet(edges=1, limit=1, empty=0):
    """Return a facet of two variables with the coefficients of an edge and of the empty set."""
    return Facet(np.array([0, 1]), np.array([[empty, 0, edges, 0], [empty, edges, 0, 0]]), limit)


def test_numbers_of_facets_are_limited():
    most = 1 << 53
    for cut, message in (
        (facet(limit=0), "does not hold"),
        (facet(edges=-1), "negative or too large"),
        (facet(limit=-1), "negative or too large"),
        (facet(edges=most + 1, limit=most + 1), "negative or too large"),
        (facet(limit=1 << 61), "negative or too large"),
        (facet()._replace(coefficients=np.zeros((2, 8), dtype=np.int64)), "wrong shape"),
        (facet()._replace(coefficients=np.zeros((3, 4), dtype=np.int64)), "wrong shape"),
        (Facet(np.arange(17), np.zeros((1, 1), dtype=np.int64), 0), "invalid variables"),
    ):
        with pytest.raises(checker.ProofError, match=message):
            checker._check_cut(cut, PAIR, "cut")
    for cut in (facet(), facet(edges=0, limit=0), facet(edges=most, limit=most), facet(limit=(1 << 61) - 1)):
        assert checker._check_cut(cut, PAIR, "cut").max() == cut.coefficients.max()


def test_the_empty_set_has_a_coefficient():
    assert checker._check_cut(facet(empty=1, limit=2), PAIR, "cut").tolist() == [1, 1, 1, 1]
    with pytest.raises(checker.ProofError, match="does not hold"):
        checker._check_cut(facet(empty=1, limit=1), PAIR, "cut")


def test_facets_have_at_most_16_variables():
    n = 17
    families = make_families([[(0, ())]] * n)
    for size, accepted in ((16, True), (17, False)):
        cut = Facet(np.arange(size), np.zeros((size, 1 << size), dtype=np.int8), 0)
        assert accepts(make_proof(families, Node((step(),)), [cut]), families) is accepted


def test_multipliers_that_could_overflow_are_rejected():
    most = (1 << 61) - 1
    for multiplier, message in ((most - 7, "neither proved"), (most - 6, "step 0 of root has too large multipliers")):
        with pytest.raises(checker.ProofError, match=message):
            checker.check_proof(make_proof(PAIR, Node((step((0, multiplier)),)), [CYCLE], gap=6), PAIR)
    half = 1 << 60
    with pytest.raises(checker.ProofError, match="too large multipliers"):
        checker.check_proof(make_proof(PAIR, Node((step((0, half), (1, half)),)), [CYCLE, CYCLE], gap=6), PAIR)
    with pytest.raises(checker.ProofError, match="too large multipliers"):
        checker.check_proof(make_proof(PAIR, Node((step((0, half)),)), [facet(edges=2, limit=2)], gap=6), PAIR)


def test_costs_of_families_that_are_left_out_cannot_be_proved():
    """A network that costs more than a family that is left out could be worse than a network with this family."""
    cost = 10 * UNITS
    families = replace(make_families([[(cost, ())]]), complete_below=cost)
    proof = make_proof(families, Node((step(),)))
    assert checker.check_proof(proof, families) == cost
    with pytest.raises(checker.ProofError, match="more than 9 nats below"):
        checker.check_proof(proof, replace(families, complete_below=cost - 1))
    large = make_families([[(MAX_COST * UNITS, ())]] * 3)
    assert checker.check_proof(make_proof(large, Node((step(),))), large) == 3 * MAX_COST * UNITS


def test_deep_trees_are_rejected():
    def chain(depth):
        node = Node(())
        for _ in range(depth):
            node = Node((), (0, 1), (Node(()), node))
        return node

    families = make_families([[(0, ())], [(0, ())]])
    for depth, message in ((500, "neither proved"), (501, "more than 500 levels")):
        with pytest.raises(checker.ProofError, match=message):
            checker.check_proof(make_proof(families, chain(depth)), families)


def test_a_child_without_families_proves_a_node():
    """The only family of v0 has the parent v1, so v0 cannot come before v1."""
    families = make_families([[(3, (1,))], [(0, (0,)), (2, ())]])
    root = Node((), (0, 1), (Node(()), Node((step(),))))
    assert checker.check_proof(make_proof(families, root, parents=((1,), ())), families) == 5
    with_steps = Node((), (0, 1), (Node((step(),)), Node((step(),))))
    assert checker.check_proof(make_proof(families, with_steps, parents=((1,), ())), families) == 5


def test_steps_remove_families_for_later_nodes():
    """The first step removes the expensive family of v2. Without it, part b would not be proved."""
    families = make_families([[(0, (1,)), (4, ())], [(0, (0,)), (6, ())], [(0, (0,)), (9, ())]])
    root = Node((step((0, 4)),), (1, 0), (Node((step(),)), Node((step(),))))
    proof = make_proof(families, root, [CYCLE], parents=((), (0,), (0,)))
    assert checker.check_proof(proof, families) == 4
    assert not accepts(replace(proof, parents=((1,), (), (0,))), families)


def test_a_network_can_have_as_many_parents_as_the_table_allows():
    families = make_families([[(0, (1, 2, 3)), (9, ())], *[[(0, ())]] * 3])
    proof = make_proof(families, Node((step(),)), parents=((1, 2, 3), (), (), ()))
    assert checker.check_proof(proof, families) == 0


def test_a_cycle_after_a_root_is_found():
    families = make_families([[(0, ())], [(0, (0, 2)), (1, ())], [(0, (1,)), (1, ())]])
    with pytest.raises(checker.ProofError, match="cycle"):
        checker.check_proof(make_proof(families, Node((step(),)), parents=((), (0, 2), (1,))), families)
