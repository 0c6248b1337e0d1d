"""Drawing of a small network with characters, for the terminal."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import pairwise

import networkx as nx

from dagneal.base.text import display_cells
from dagneal.graphs.directions import Direction
from dagneal.graphs.knowledge import Edge
from dagneal.report.layout import GAP, ROW, arrange

MOST = 12  # largest number of variables to draw
_HEADS: dict[Direction | None, str] = {Direction.FIXED: "V", Direction.SUPPORTED: "V", Direction.UNDETERMINED: ""}
_LINES = 4  # lines from one row of variables to the next
_LETTER = GAP / 3  # width of a character in layout units; this puts names three characters apart


def draw_text(dag: nx.DiGraph, width: int = 100, directions: Mapping[Edge, Direction] | None = None) -> list[str]:
    """Draw a graph as lines of text, with parents above children.

    Return an empty list if the graph has a cycle, has no edges or is too large for a readable drawing. A direction that is
    fixed by knowledge or supported by the data has a large arrowhead (V), and an undetermined direction has none.

    Args:
        dag: graph of the network.
        width: width of the terminal in columns.
        directions: support for the direction of each edge.

    >>> print("\\n".join(draw_text(nx.DiGraph([("rain", "wet"), ("sprinkler", "wet")]))))
    rain    sprinkler
       \\       /
        \\     /
          v v
          wet
    """
    if len(dag) > MOST or not dag.number_of_edges() or not nx.is_directed_acyclic_graph(dag):
        return []
    names = {name: display_cells(name) for name in dag}
    middle, edges = _places(dag, names, width)
    right = max(x + (len(names[name]) + 1) // 2 for name, (x, _) in middle.items())
    columns = [x for points in edges for x, _ in points]
    across = max([right, *columns]) + 1
    if across > width or min(columns) < 0 or not all(name.isprintable() for name in dag):
        return []
    grid = [[" "] * across for _ in range(max(y for _, y in middle.values()) + 1)]
    _draw_edges(grid, edges, [_HEADS.get((directions or {}).get(edge), "v") for edge in dag.edges])
    for name, (x, y) in middle.items():
        begin = max(0, x - len(names[name]) // 2)
        if any(letter != " " for letter in grid[y][max(0, begin - 1) : begin + len(names[name]) + 1]):
            return []  # an edge crosses a name
        grid[y][begin : begin + len(names[name])] = names[name]
    return ["".join(row).rstrip() for row in grid]


def _places(
    dag: nx.DiGraph, names: Mapping[str, Sequence[str]], width: int
) -> tuple[dict[str, tuple[int, int]], list[list[tuple[int, int]]]]:
    """Return a pair: the centre of each name, and the points of each edge. Each centre or point is a pair (column, line)."""
    layout = arrange(dag, {name: _LETTER * len(names[name]) for name in dag}, _LETTER * width)
    left = min(x - _LETTER * len(names[name]) / 2 for name, (x, _) in layout.place.items())

    def cell(point: tuple[float, float]) -> tuple[int, int]:
        return round((point[0] - left) / _LETTER), round(point[1] / ROW * _LINES)

    middle = {name: cell(point) for name, point in layout.place.items()}
    return middle, [[middle[a], *map(cell, layout.bends.get((a, b), [])), middle[b]] for a, b in dag.edges]


def _draw_edges(grid: list[list[str]], edges: list[list[tuple[int, int]]], heads: list[str]) -> None:
    """Draw edges into the grid, each along its points and with its arrowhead."""
    for points, head in zip(edges, heads, strict=True):
        for start, end in pairwise(points):
            _line(grid, start, end, head if end is points[-1] else None)


def _line(grid: list[list[str]], start: tuple[int, int], end: tuple[int, int], head: str | None) -> None:
    """Draw a segment of an edge into the grid.

    If `head` is not None, the segment ends above the child, with this arrowhead. An empty text stands for no arrowhead.
    """
    (x0, y0), (x1, y1) = start, end
    before = x0
    for y in range(y0 + 1, y1 if head is not None else y1 + 1):
        x = round(x0 + (x1 - x0) * (y - y0) / (y1 - y0))
        letter = "|" if x == before else "\\" if x > before else "/"
        if abs(x - before) > 2:  # a flat segment needs more characters
            for between in range(min(x, before) + 1, max(x, before)):
                if grid[y][between] == " ":
                    grid[y][between] = "_" if y == y0 + 1 else "-"
        grid[y][x] = head if head and y == y1 - 1 else letter
        before = x
