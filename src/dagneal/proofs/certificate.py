"""The class `Proof`: everything that is needed to check that a network is optimal, without solving anything."""

from __future__ import annotations

from dataclasses import dataclass
from hashlib import blake2b

import numpy as np

from dagneal.base.kernels import Ints
from dagneal.proofs.cluster_cuts import Cluster
from dagneal.proofs.facets import Facet
from dagneal.proofs.families import Families


@dataclass(frozen=True, eq=False)
class Step:
    """Multipliers that prove a lower bound on the cost, and so remove families.

    Attributes:
        cuts: indices of cuts in `Proof.cuts`.
        multipliers: multiplier of each of these cuts, in units of 2^-40 nats; positive.
    """

    cuts: Ints
    multipliers: Ints


@dataclass(frozen=True, eq=False)
class Node:
    """A node of the search tree: the networks in which some variables come before others.

    Attributes:
        steps: steps that remove families, one after the other. Without a pair, the last step proves that no network of this
            node is better than the network of the proof.
        pair: two variables u and v. In the first part u comes before v, and in the second v before u. None for a leaf.
        parts: the two parts; empty for a leaf.
    """

    steps: tuple[Step, ...]
    pair: tuple[int, int] | None = None
    parts: tuple[Node, ...] = ()


@dataclass(frozen=True, eq=False)
class Proof:
    """A proof that no network costs less than a given one, minus a tolerance.

    Attributes:
        names: names of the variables.
        score_name: name of the score, with its parameters.
        max_parents: parent limit of the score table.
        fingerprint: fingerprint of the families.
        parents: parents of each variable in the network, ascending.
        tolerance: units of 2^-40 nats by which another network can be better.
        cuts: cuts that the steps use.
        root: root of the search tree.
    """

    names: tuple[str, ...]
    score_name: str
    max_parents: int
    fingerprint: str
    parents: tuple[tuple[int, ...], ...]
    tolerance: int
    cuts: tuple[Cluster | Facet, ...]
    root: Node


def fingerprint(families: Families) -> str:
    """Return a text that identifies families and their costs.

    Args:
        families: families of a score table.
    """
    digest = blake2b(digest_size=16)
    for array in (families.highest, families.children, families.rows, families.costs):
        digest.update(np.ascontiguousarray(array.astype("<i8")).tobytes())
    return digest.hexdigest()
