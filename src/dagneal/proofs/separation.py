"""Separation: find cuts that a solution of the linear relaxation violates.

Cluster cuts are searched from several sets of variables: short cycles, fractional families, and cuts that are tight now.
Facets are searched in groups of variables that lie on short cycles with each other. The searches run in threads. Their
number does not change the result.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np

from dagneal.base.kernels import Ints, run_threads
from dagneal.proofs.cluster_cuts import Cluster, Support, edge_weights, find_clusters, find_cycles, shortest_paths
from dagneal.proofs.facets import Facet, Point, find_facet, project

_MOST_CLUSTERS, _MOST_FACETS = 60, 60  # cuts that a round adds
_FACET_SIZES = (4, 6, 8, 10)  # variables of a facet
_LEAST_FACET = 1e-3  # smallest violation of a facet
_FAR, _SPREAD, _FARTHEST = 4.0, 0.3, 5.0  # largest distance of a group's next member; how distances to the group count
_WEIGHT = 1e-4  # a family is fractional if its weight is below 1 by more than this


def separate_clusters(support: Support, variables: int, tight: Iterable[Cluster]) -> list[Cluster]:
    """Return violated cluster cuts, the most violated first.

    Args:
        support: families with a positive weight.
        variables: number of variables.
        tight: cluster cuts with a positive multiplier.
    """
    seeds = {*find_cycles(support, variables), *(cut.members for cut in tight)}
    fractional = (support.weights < 1.0 - 1e-6) & (support.rows >= 0).any(axis=1)
    for child, row in zip(support.children[fractional], support.rows[fractional], strict=True):
        seeds.add(tuple(sorted([int(child), *row[row >= 0].tolist()])))
    return find_clusters(support, sorted(seeds), variables, _MOST_CLUSTERS)


def separate_facets(support: Support, groups: Sequence[tuple[int, ...]]) -> list[Facet]:
    """Return violated facets of groups of variables, the most violated first.

    Args:
        support: families with a positive weight.
        groups: groups of ascending variables; see `facet_groups`.
    """

    def work(group: tuple[int, ...]) -> tuple[float, Facet] | None:
        members = np.array(group)
        point = project_support(support, members)
        facet = find_facet(members, point, _LEAST_FACET)
        if facet is None:
            return None
        coefficients = facet.coefficients[point.children, point.parents]
        violation = (coefficients * point.weights).sum() - facet.limit
        return float(violation / np.sqrt((coefficients**2).sum())), facet

    rated = [result for result in run_threads(work, groups) if result is not None]
    best = sorted(range(len(rated)), key=lambda index: (-rated[index][0], index))[:_MOST_FACETS]
    return [rated[index][1] for index in best]


def facet_groups(support: Support, variables: int) -> list[tuple[int, ...]]:
    """Return groups of variables that are close to a variable with several families, and to each other.

    Args:
        support: families with a positive weight.
        variables: number of variables.
    """
    lengths, _ = shortest_paths(edge_weights(support, variables))
    np.fill_diagonal(lengths, 0.0)
    near = lengths + lengths.T  # there and back
    groups = set()
    for child in np.unique(support.children[support.weights < 1.0 - _WEIGHT]).tolist():
        group = [child]
        while len(group) < _FACET_SIZES[-1]:
            distance = near[group].min(axis=0) + _SPREAD * np.minimum(near[group], _FARTHEST).mean(axis=0)
            distance[group] = np.inf
            nearest = int(distance.argmin())
            if distance[nearest] > _FAR:
                break
            group.append(nearest)
            if len(group) in _FACET_SIZES:
                groups.add(tuple(sorted(group)))
        if len(group) > 2:
            groups.add(tuple(sorted(group)))
    return sorted(groups, key=lambda group: (len(group), group))


def project_support(support: Support, members: Ints) -> Point:
    """Return the point that the weights of families give to parent sets among some variables.

    Args:
        support: families and their weights.
        members: indices of the variables, ascending.
    """
    own, bits = project(members, support.children, support.rows)
    inside = (own >= 0) & (bits > 0)
    distinct, place = np.unique((own[inside] << len(members)) | bits[inside], return_inverse=True)
    weights = np.zeros(len(distinct))
    np.add.at(weights, place, support.weights[inside])
    return Point(distinct >> len(members), distinct & ((1 << len(members)) - 1), weights)
