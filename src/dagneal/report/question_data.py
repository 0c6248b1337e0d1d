"""The network as data for questions on the page: states, conditional tables, and possible parents of each variable."""

from __future__ import annotations

import base64
from collections.abc import Sequence
from itertools import islice
from typing import Any

import networkx as nx
import numpy as np

from dagneal.base.errors import InputError
from dagneal.confidence.annotated import AnnotatedSolution
from dagneal.confidence.parameter_counts import count_probabilities
from dagneal.inference.effects import class_graph, possible_parents
from dagneal.inference.models import HasNetwork
from dagneal.networks.network import BayesianNetwork, fit
from dagneal.scoring.scores import BDeu, Dirichlet

PAGE_PROBABILITIES = 500_000  # largest number of probabilities on the page, about 5 MB
_MOST_SETS = 64  # largest number of possible parent sets of a variable on the page


def question_data(solution: AnnotatedSolution, names: Sequence[str]) -> tuple[dict[str, Any] | None, str]:
    """Return the data for questions as a dict for JSON, or None with the reason why the page cannot answer questions.

    The tables are one array of little-endian doubles in base 64, because decimal numbers are twice as long. `sets` has, for
    each variable, its possible parent sets in the equivalence class; None if they are unknown or too many.

    Args:
        solution: learned network with its data and measures.
        names: order of the variables on the page.

    >>> question_data(AnnotatedSolution(nx.DiGraph([("a", "b")]), -9.5, 2, "exact"), ["a", "b"])[1]
    'The page has no probabilities, because the result has no data; call result.with_data(data) before you save it.'
    """
    if not nx.is_directed_acyclic_graph(solution.dag):
        return None, "The page has no probabilities, because the graph has a cycle."
    fitted: BayesianNetwork | None = getattr(solution, "fitted", None)
    if fitted is None and solution.data is None:
        reason = "the result has no data; call result.with_data(data) before you save it."
        return None, f"The page has no probabilities, because {reason}"
    if solution.score != solution.score:
        return None, "The page has no probabilities, because the graph is not a network within the parent limit."
    total = sum(table.size for table in fitted.cpts.values()) if fitted is not None else 0
    if fitted is None and solution.data is not None:
        total = count_probabilities(solution.dag, solution.data)
    if total > PAGE_PROBABILITIES:
        return None, (
            f"The network has {total:,} probabilities, and the page stores at most {PAGE_PROBABILITIES:,}. Ask on the "
            "command line with dagneal query, or learn with a lower max_parents."
        )
    network = _find_network(solution, fitted)
    index = {name: i for i, name in enumerate(names)}
    tables = np.concatenate([network.cpts[name].ravel() for name in names])
    return {
        "states": [list(network.states[name]) for name in names],
        "parents": [[index[parent] for parent in network.parents[name]] for name in names],
        "tables": base64.b64encode(tables.astype("<f8").tobytes()).decode(),
        "sets": _possible_sets(solution, index),
    }, ""


def _find_network(solution: AnnotatedSolution, fitted: BayesianNetwork | None) -> BayesianNetwork:
    """Return the network with probabilities; fit them if necessary."""
    if fitted is not None:
        return fitted
    if isinstance(solution, HasNetwork):
        return solution.network
    assert solution.data is not None  # the caller has checked this
    return fit(solution.dag, solution.data, solution.criterion if isinstance(solution.criterion, Dirichlet) else BDeu())


def _possible_sets(solution: AnnotatedSolution, index: dict[str, int]) -> list[list[list[int]] | None]:
    """Return, for each variable, its parent sets in the networks of the equivalence class; None if unknown or too many."""
    try:
        graph = class_graph(solution.dag, solution.knowledge)
    except InputError:  # no network of the class obeys the background knowledge
        return [None] * len(index)
    result: list[list[list[int]] | None] = []
    for name in index:
        try:
            sets = possible_parents(graph, (name,))
        except InputError:
            result.append(None)
            continue
        plain = sorted(sorted(index[parent] for parent in own) for (own,) in islice(sets, _MOST_SETS + 1))
        result.append(plain if len(plain) <= _MOST_SETS else None)
    return result
