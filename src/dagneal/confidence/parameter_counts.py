"""Sizes of families, and the warning about few rows per parameter. A family is a variable with its parents."""

from __future__ import annotations

from math import prod

import networkx as nx

from dagneal.base.defaults import FEW_ROWS
from dagneal.base.text import fit_text, plural
from dagneal.data.cautions import Caution
from dagneal.data.dataset import Dataset
from dagneal.graphs.dags import ordered_parents

ROWS_PER_PARAMETER = "rows per parameter"
_NAME = 40  # longest name in a warning, in columns


def count_probabilities(dag: nx.DiGraph, data: Dataset) -> int:
    """Return the number of probabilities in all tables of a network.

    Args:
        dag: graph over the columns of the data.
        data: training data.
    """
    arity = dict(zip(data.names, map(len, data.states), strict=True))
    return sum(arity[name] * prod(arity[parent] for parent in dag.predecessors(name)) for name in dag)


def inspect_families(dag: nx.DiGraph, data: Dataset) -> list[Caution]:
    """Return a warning if variables have fewer than 5 rows per parameter of their probability table.

    A variable with r states, whose parents have q combinations of states, has q (r - 1) parameters.

    Args:
        dag: graph over the columns of the data.
        data: training data.

    >>> import numpy as np
    >>> data = Dataset.from_codes("ab", [["0", "1", "2"]] * 2, np.arange(24).reshape(2, 12) % 3)
    >>> [caution.text.split(". ")[0] for caution in inspect_families(nx.DiGraph([("a", "b")]), data)]
    ["1 variable has fewer than 5 rows per parameter: 'b' with parent 'a' has 6 parameters for 12 rows"]
    """
    arity = dict(zip(data.names, map(len, data.states), strict=True))
    parents_of = ordered_parents(dag, list(dag))
    counts = {name: prod(arity[p] for p in parents) * (arity[name] - 1) for name, parents in parents_of.items()}
    poor = sorted((name for name in counts if FEW_ROWS * counts[name] > data.rows), key=lambda name: -counts[name])
    if not poor:
        return []
    worst, parents = poor[0], parents_of[poor[0]]
    family = repr(fit_text(worst, _NAME))
    if parents:
        family += f" with parent{'s' * (len(parents) > 1)} {', '.join(repr(fit_text(name, _NAME)) for name in parents)}"
    fewer = "lower the parent limit (option max_parents), " if parents else ""
    text = (
        f"{plural(len(poor), 'variable')} {'has' if len(poor) == 1 else 'have'} fewer than {FEW_ROWS} rows per parameter: "
        f"{family} has {plural(counts[worst], 'parameter')} for {plural(data.rows, 'row')}. Such probabilities are "
        f"unreliable: {fewer}merge states (option rare) or use more rows."
    )
    return [Caution(ROWS_PER_PARAMETER, tuple(poor), text)]
