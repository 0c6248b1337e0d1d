"""Statistics of a QUBO: number of variables, range of coefficients and treewidth, for one or several encodings."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from math import log2
from typing import TYPE_CHECKING, Any

import numpy as np
from networkx.algorithms.approximation import treewidth_min_degree

from dagneal.base.errors import InputError
from dagneal.qubo.encode import PAPER, TIGHT, Encoding, encode
from dagneal.qubo.variables import KINDS
from dagneal.scoring.table import ScoreTable

if TYPE_CHECKING:
    import dimod

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
class EncodingStatistics:
    """Size, coefficient range and treewidth of a QUBO.

    Attributes:
        qubo_variables: number of QUBO variables.
        variables_by_kind: number of edge (d), slack (y), order (r) and auxiliary (a) variables.
        interactions: number of quadratic terms.
        largest: largest absolute coefficient, linear or quadratic.
        smallest: smallest nonzero absolute coefficient.
        range_bits: log2(largest / smallest), the number of bits of precision that hardware needs.
        treewidth: upper bound on the treewidth of the interaction graph, by the min-degree rule.
    """

    qubo_variables: int
    variables_by_kind: dict[str, int]
    interactions: int
    largest: float
    smallest: float
    range_bits: float
    treewidth: int

    def to_dict(self) -> dict[str, Any]:
        """Return the statistics as a dict of plain values."""
        return asdict(self)


def encoding_statistics(bqm: dimod.BinaryQuadraticModel) -> EncodingStatistics:
    """Return the statistics of a model. Coefficients are taken from the model as given, binary or spin.

    Args:
        bqm: QUBO or Ising model of a score table.

    >>> from dagneal.networks.bundled import load
    >>> from dagneal.scoring.scorer import score_table
    >>> statistics = encoding_statistics(encode(score_table(load("waste").expected_data(10_000))))
    >>> statistics.qubo_variables, statistics.interactions, statistics.treewidth
    (35, 70, 4)
    """
    linear, (_, _, quadratic), _ = bqm.to_numpy_vectors()
    sizes = np.abs(np.concatenate([linear, quadratic]))
    sizes = sizes[sizes > 0]
    largest, smallest = (float(sizes.max()), float(sizes.min())) if len(sizes) else (0.0, 0.0)
    kinds = [label[0] if isinstance(label, tuple) else "" for label in bqm.variables]
    return EncodingStatistics(
        qubo_variables=bqm.num_variables,
        variables_by_kind={kind: kinds.count(kind) for kind in KINDS},
        interactions=bqm.num_interactions,
        largest=largest,
        smallest=smallest,
        range_bits=log2(largest / smallest) if smallest else 0.0,
        treewidth=treewidth(bqm),
    )


def treewidth(bqm: dimod.BinaryQuadraticModel) -> int:
    """Return an upper bound on the treewidth of a model's interaction graph, by the min-degree rule.

    Args:
        bqm: binary quadratic model.
    """
    import dimod

    return int(treewidth_min_degree(dimod.to_networkx_graph(bqm))[0]) if bqm.num_interactions else 0


def compare_encodings(table: ScoreTable, ising: bool = False) -> dict[Encoding, EncodingStatistics | str]:
    """Return the statistics of a table's QUBO for several encodings.

    If the table cannot be encoded with an encoding, the dict contains the reason as text instead.

    Args:
        table: local scores.
        ising: True for the coefficients of the spin (Ising) model, which hardware uses, False for the binary model.
    """
    results: dict[Encoding, EncodingStatistics | str] = {}
    for encoding in SETTINGS:
        try:
            bqm = encode(table, encoding)
        except InputError as error:
            results[encoding] = str(error).partition(";")[0]  # the advice names arguments of other functions
        else:
            results[encoding] = encoding_statistics(bqm.spin if ising else bqm)
    return results
