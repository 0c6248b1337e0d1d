"""What a QUBO is like: its bits, coefficients and graph, for one encoding or several side by side."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from math import log2
from typing import Any

import dimod
import numpy as np
from networkx.algorithms.approximation import treewidth_min_degree

from dagneal.base.errors import InputError
from dagneal.qubo.encode import PAPER, TIGHT, Encoding, encode
from dagneal.qubo.variables import KINDS
from dagneal.scoring.table import ScoreTable

SETTINGS = (
    PAPER,
    Encoding("tight", "complete", prune=False),
    Encoding("tight", "complete", prune=True),
    Encoding("tight", "chordal", prune=False),
    TIGHT,
    Encoding("gap", "complete", prune=True),
    Encoding("gap", "chordal", prune=True),
)


@dataclass(frozen=True)
class Figures:
    """The figures of a QUBO.

    Attributes:
        bits: how many there are.
        bits_by_kind: edges, slack, order and auxiliary bits.
        interactions: products of two bits.
        largest: the largest absolute coefficient, linear or quadratic.
        smallest: the smallest that is not zero.
        range_bits: log2 of largest by smallest: how many bits of precision hardware would need.
        treewidth: of its graph, an upper bound by the min-degree rule.
    """

    bits: int
    bits_by_kind: dict[str, int]
    interactions: int
    largest: float
    smallest: float
    range_bits: float
    treewidth: int

    def to_dict(self) -> dict[str, Any]:
        """The figures as plain values."""
        return asdict(self)


def figures(bqm: dimod.BinaryQuadraticModel) -> Figures:
    """What a QUBO is like, in the variables that it has, bits or spins.

    Args:
        bqm: an encoded table.

    >>> from dagneal.networks.bundled import load
    >>> from dagneal.scoring.scorer import score_table
    >>> found = figures(encode(score_table(load("waste").expected(10_000))))
    >>> found.bits, found.interactions, found.treewidth
    (35, 70, 4)
    """
    linear, (_, _, quadratic), _ = bqm.to_numpy_vectors()
    sizes = np.abs(np.concatenate([linear, quadratic]))
    sizes = sizes[sizes > 0]
    largest, smallest = (float(sizes.max()), float(sizes.min())) if len(sizes) else (0.0, 0.0)
    kinds = [label[0] if isinstance(label, tuple) else "" for label in bqm.variables]
    return Figures(
        bits=bqm.num_variables,
        bits_by_kind={kind: kinds.count(kind) for kind in KINDS},
        interactions=bqm.num_interactions,
        largest=largest,
        smallest=smallest,
        range_bits=log2(largest / smallest) if smallest else 0.0,
        treewidth=treewidth(bqm),
    )


def treewidth(bqm: dimod.BinaryQuadraticModel) -> int:
    """An upper bound of the treewidth of a model's graph, by taking out vertices of the smallest degree.

    Args:
        bqm: any model.
    """
    return int(treewidth_min_degree(dimod.to_networkx_graph(bqm))[0]) if bqm.num_interactions else 0


def compare_encodings(table: ScoreTable, ising: bool = False) -> dict[Encoding, Figures | str]:
    """The figures of a table's QUBO under each encoding; where one cannot hold the table, why.

    Args:
        table: local scores.
        ising: look at spins, as hardware does, and not at bits.
    """
    found: dict[Encoding, Figures | str] = {}
    for encoding in SETTINGS:
        try:
            bqm = encode(table, encoding)
        except InputError as error:
            found[encoding] = str(error)
        else:
            found[encoding] = figures(bqm.spin if ising else bqm)
    return found
