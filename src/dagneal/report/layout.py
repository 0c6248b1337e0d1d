"""A layered layout of a DAG: parents above children, few crossings, no randomness."""

from __future__ import annotations

import networkx as nx

ROW, GAP = 96.0, 26.0  # between layers, and between the boxes of one
_SWEEPS = 8


def layered(dag: nx.DiGraph, widths: dict[str, float]) -> dict[str, tuple[float, float]]:
    """The middle of each variable's box.

    Args:
        dag: a graph; with a cycle its variables are put on rows of equal length.
        widths: how wide each box is.

    >>> place = layered(nx.DiGraph([("a", "b"), ("a", "c")]), dict.fromkeys("abc", 40.0))
    >>> place["a"][1] < place["b"][1] == place["c"][1]
    True
    """
    if nx.is_directed_acyclic_graph(dag):
        rows = [list(row) for row in nx.topological_generations(_pulled(dag))]
    else:
        names = list(dag)
        step = max(1, round(len(names) ** 0.5))
        rows = [names[at : at + step] for at in range(0, len(names), step)]
    index = {name: at for at, name in enumerate(dag)}
    rows = [sorted(row, key=index.__getitem__) for row in rows]
    for sweep in range(_SWEEPS):
        downwards = sweep % 2 == 0
        for row in rows if downwards else rows[::-1]:
            where = {name: at / max(len(other), 1) for other in rows for at, name in enumerate(other)}
            near = dag.predecessors if downwards else dag.successors
            row.sort(key=lambda name: (_middle([where[v] for v in near(name)], where[name]), index[name]))
    return _placed(dag, rows, widths)


def _pulled(dag: nx.DiGraph) -> nx.DiGraph:
    """The graph with roots drawn down to just above their first child, so that edges are short."""
    depth: dict[str, int] = {}
    for name in nx.topological_sort(dag):
        depth[name] = 1 + max((depth[parent] for parent in dag.predecessors(name)), default=-1)
    for name in dag:
        if not dag.in_degree(name) and dag.out_degree(name):
            depth[name] = min(depth[child] for child in dag.successors(name)) - 1
    chain = nx.DiGraph()
    chain.add_nodes_from(dag)
    for level in range(max(depth.values(), default=0)):  # generations of this graph are the levels
        chain.add_edges_from((a, b) for a in dag if depth[a] == level for b in dag if depth[b] == level + 1)
    return chain


def _middle(values: list[float], otherwise: float) -> float:
    return sum(values) / len(values) if values else otherwise


def _placed(dag: nx.DiGraph, rows: list[list[str]], widths: dict[str, float]) -> dict[str, tuple[float, float]]:
    """Boxes of a row side by side, each as near to the middle of its parents as its neighbours allow."""
    place: dict[str, tuple[float, float]] = {}
    for level, row in enumerate(rows):
        wanted = [_middle([place[p][0] for p in dag.predecessors(name) if p in place], 0.0) for name in row]
        right = -float("inf")
        xs = []
        for name, x in zip(row, wanted, strict=True):
            x = max(x, right + GAP + widths[name] / 2)
            right = x + widths[name] / 2
            xs.append(x)
        shift = _middle(wanted, 0.0) - _middle(xs, 0.0)
        place |= {name: (x + shift, level * ROW) for name, x in zip(row, xs, strict=True)}
    return place
