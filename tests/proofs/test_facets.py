"""Inequalities for DAGs on a few variables, compared with a list of all DAGs."""

import numpy as np
import pytest

from dagneal.proofs.facets import Point, find_facet, largest_sum, raise_coefficients
from support.reference import all_dags

DAGS = {size: np.array([[sum(1 << p for p in parents) for parents in dag] for dag in all_dags(size)]) for size in (2, 3, 4)}


def sums(coefficients, dags):
    return coefficients[np.arange(len(coefficients)), dags].sum(axis=1)


def random_coefficients(size, generator):
    coefficients = generator.integers(0, 5, (size, 1 << size))
    for child in range(size):
        coefficients[child, [q for q in range(1 << size) if q >> child & 1 or q == 0]] = 0
    return coefficients


def random_point(size, generator):
    """Return a random distribution over the parent sets of each child."""
    weights = {}
    for child in range(size):
        sets = [q for q in range(1 << size) if not q >> child & 1]
        chosen = generator.choice(sets, 3)
        for q, weight in zip(chosen, generator.dirichlet(np.ones(3)), strict=True):
            if q:
                weights[child, int(q)] = weights.get((child, int(q)), 0.0) + weight
    children, parents = (np.array(part) for part in zip(*weights, strict=True))
    return Point(children, parents, np.array([*weights.values()]))


@pytest.mark.parametrize("size", [2, 3, 4])
def test_largest_sum_equals_that_of_all_dags(size):
    generator = np.random.default_rng(size)
    for _ in range(20):
        coefficients = random_coefficients(size, generator)
        assert largest_sum(coefficients) == sums(coefficients, DAGS[size]).max()


@pytest.mark.parametrize("size", [2, 3, 4])
def test_no_coefficient_can_be_raised_further(size):
    generator = np.random.default_rng(size)
    for _ in range(10):
        coefficients = random_coefficients(size, generator)
        before = coefficients.copy()
        limit = raise_coefficients(coefficients)
        assert sums(coefficients, DAGS[size]).max() == limit
        assert (coefficients[:, 0] == 0).all()
        # All sums rise, except for the same constant for each child.
        assert (sums(coefficients, DAGS[size]) - limit >= sums(before, DAGS[size]) - largest_sum(before)).all()
        for child in range(size):
            for parents in range(1 << size):
                if not parents >> child & 1:
                    more = coefficients.copy()
                    more[child, parents] += 1
                    assert sums(more, DAGS[size]).max() > limit


@pytest.mark.parametrize("size", [2, 3, 4])
def test_facets_hold_for_all_dags_and_exclude_points_outside_the_polytope(size):
    generator = np.random.default_rng(size)
    found = 0
    for _ in range(40):
        point = random_point(size, generator)
        facet = find_facet(np.arange(size), point, 1e-4)
        outside = distance(point, DAGS[size]) > 1e-3
        if facet is None:
            assert not outside
        else:
            found += 1
            assert sums(facet.coefficients, DAGS[size]).max() == facet.limit
            assert (facet.coefficients[point.children, point.parents] * point.weights).sum() > facet.limit
    assert found > 5


def distance(point, dags):
    """Return by how much the maximum of the linear programme (1) exceeds 1, with all DAGs listed."""
    from scipy.optimize import linprog

    contains = (dags[:, point.children] == point.parents).astype(float)
    return (
        -linprog(-point.weights, np.unique(contains, axis=0), np.ones(len(np.unique(contains, axis=0))), bounds=(0, 1)).fun
        - 1
    )


def test_a_cycle_of_three_variables_is_cut_off():
    """Each variable has the previous one as a parent. At most two of these three edges are possible."""
    point = Point(np.array([0, 1, 2]), np.array([4, 1, 2]), np.ones(3))
    facet = find_facet(np.array([3, 5, 8]), point, 1e-4)
    assert facet.members.tolist() == [3, 5, 8]
    assert facet.coefficients[point.children, point.parents].sum() == facet.limit + 1
    assert find_facet(np.array([3, 5, 8]), point._replace(weights=np.full(3, 2 / 3)), 1e-4) is None
