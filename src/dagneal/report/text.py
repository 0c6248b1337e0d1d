"""A small network drawn with letters, for a terminal."""

from __future__ import annotations

import networkx as nx

from dagneal.report.layout import GAP, ROW, layered

MOST = 12  # variables beyond which a drawing is no help
_LINES = 4  # between two rows of variables
_LETTER = GAP / 3  # of the layout, so that boxes lie three letters apart


def drawn(dag: nx.DiGraph, width: int = 100) -> list[str]:
    """A graph as lines of text, parents above children; nothing where it is too large or has a cycle or no edges.

    Args:
        dag: the graph.
        width: of the terminal.

    >>> print("\\n".join(drawn(nx.DiGraph([("rain", "wet"), ("sprinkler", "wet")]))))
    rain    sprinkler
       \\       /
        \\     /
          v v
          wet
    """
    if len(dag) > MOST or not dag.number_of_edges() or not nx.is_directed_acyclic_graph(dag):
        return []
    place = layered(dag, {name: _LETTER * len(name) for name in dag})
    left = min(x - _LETTER * len(name) / 2 for name, (x, _) in place.items())
    middle = {name: (round((x - left) / _LETTER), round(y / ROW) * _LINES) for name, (x, y) in place.items()}
    columns = max(x + (len(name) + 1) // 2 for name, (x, _) in middle.items()) + 1
    if columns > width:
        return []
    grid = [[" "] * columns for _ in range(max(y for _, y in middle.values()) + 1)]
    for parent, child in dag.edges:
        _line(grid, middle[parent], middle[child])
    for name, (x, y) in middle.items():
        begin = max(0, x - len(name) // 2)
        if any(letter != " " for letter in grid[y][max(0, begin - 1) : begin + len(name) + 1]) or not name.isprintable():
            return []  # an edge runs through a name
        grid[y][begin : begin + len(name)] = list(name)
    return ["".join(row).rstrip() for row in grid]


def _line(grid: list[list[str]], start: tuple[int, int], end: tuple[int, int]) -> None:
    """An edge, from below its parent to a head above its child."""
    (x0, y0), (x1, y1) = start, end
    before = x0
    for y in range(y0 + 1, y1):
        x = round(x0 + (x1 - x0) * (y - y0) / (y1 - y0))
        letter = "|" if x == before else "\\" if x > before else "/"
        if abs(x - before) > 2:  # a flat line
            for between in range(min(x, before) + 1, max(x, before)):
                if grid[y][between] == " ":
                    grid[y][between] = "_" if y == y0 + 1 else "-"
        grid[y][x] = "v" if y == y1 - 1 else letter
        before = x
