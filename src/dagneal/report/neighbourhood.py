"""Parts of large networks: the variables nearest to a variable."""

from __future__ import annotations

import networkx as nx


def most_connected(graph: nx.DiGraph) -> str:
    """Return the variable with the most edges; the first one of equal variables.

    Args:
        graph: graph with at least one variable.

    >>> most_connected(nx.DiGraph([("a", "b"), ("b", "c")]))
    'b'
    """
    return str(max(graph, key=graph.degree))


def nearest(graph: nx.DiGraph, centre: str, most: int) -> list[str]:
    """Return the variables nearest to a variable, in the order of the graph. `neighbourhood.js` chooses the same variables.

    Variables at a smaller distance come first, and then those with more edges. Directions of edges do not matter.

    Args:
        graph: graph of the network.
        centre: variable in question, which is one of the result.
        most: largest number of variables.

    >>> nearest(nx.DiGraph([("a", "b"), ("b", "c"), ("c", "d")]), "c", 3)
    ['b', 'c', 'd']
    """
    index = {name: at for at, name in enumerate(graph)}
    chosen, front = {centre}, [centre]
    while front and len(chosen) < most:
        around = {other for name in front for other in nx.all_neighbors(graph, name)} - chosen
        front = sorted(around, key=lambda name: (-graph.degree(name), index[name]))[: most - len(chosen)]
        chosen.update(front)
    return sorted(chosen, key=index.__getitem__)
