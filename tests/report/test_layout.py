"""The layout of networks: rows, order, positions, and the width of the drawing."""

import re
from itertools import combinations, pairwise, permutations, product

import networkx as nx
import numpy as np
import pytest
from scipy.optimize import linprog

from dagneal.report.crossings import reduce_crossings
from dagneal.report.differences import minimise
from dagneal.report.drawing import edge_paths, lay_out
from dagneal.report.layers import Spaces, layers
from dagneal.report.layout import GAP, arrange
from dagneal.report.positions import place_points


def random_dag(seed, variables, edges):
    """Return a random connected network."""
    generator = np.random.default_rng(seed)
    names = [f"v{i}" for i in range(variables)]
    dag = nx.DiGraph()
    dag.add_nodes_from(names)
    for i in range(1, variables):
        dag.add_edge(names[int(generator.integers(0, i))], names[i])
    while dag.number_of_edges() < edges:
        a, b = sorted(generator.choice(variables, 2, replace=False))
        dag.add_edge(names[a], names[b])
    return dag


def count_crossings(rows, below):
    total = 0
    for upper, lower in pairwise(rows):
        ends = [(at, lower.index(other)) for at, point in enumerate(upper) for other in below[point]]
        total += sum((a - c) * (b - d) < 0 for (a, b), (c, d) in combinations(ends, 2))
    return total


@pytest.mark.parametrize("seed", range(8))
def test_small_layers_have_the_fewest_crossings(seed):
    generator = np.random.default_rng(seed)
    rows = [[0, 1, 2, 3], [4, 5, 6, 7], [8, 9, 10]]
    below = [
        [other for other in after if generator.random() < 0.5]
        for row, after in zip(rows, [*rows[1:], []], strict=True)
        for _ in row
    ]
    fewest = min(count_crossings(orders, below) for orders in product(*(map(list, permutations(row)) for row in rows)))
    [(count, order)] = reduce_crossings(rows, below, 2_000)
    assert [sorted(row) for row in order] == rows
    assert count == count_crossings(order, below) == fewest


def test_several_orders_are_distinct_and_sorted():
    dag = random_dag(1, 25, 45)
    choices = layers(dag, most=5)
    assert len(choices) == 5
    counts = [choice.crossings for choice in choices]
    assert counts == sorted(counts)
    assert counts == [count_crossings(choice.rows, choice.below) for choice in choices]
    assert len({str(choice.rows) for choice in choices}) == 5


@pytest.mark.parametrize("seed", range(5))
def test_programs_of_differences_are_solved_to_optimality(seed):
    generator = np.random.default_rng(seed)
    costs = generator.integers(-5, 6, 8).astype(float)
    pairs = [
        (int(a), int(b), float(generator.integers(0, 4))) for a, b in combinations(range(8), 2) if generator.random() < 0.4
    ]
    values = minimise(list(costs), pairs, [0.0] * 8, [30.0] * 8)
    assert all(values[j] - values[i] >= gap - 1e-9 for i, j, gap in pairs)
    matrix = np.zeros((len(pairs), 8))
    for at, (i, j, _) in enumerate(pairs):
        matrix[at, [i, j]] = 1, -1
    other = linprog(costs, matrix, [-gap for _, _, gap in pairs], bounds=[(0, 30)] * 8)
    assert costs @ values == pytest.approx(other.fun)


@pytest.mark.parametrize("seed", range(4))
def test_centring_makes_no_edge_longer(seed):
    layered = layers(random_dag(seed, 20, 30))[0]
    points = len(layered.below)
    apart, ends = [50.0] * points, [20.0] * points
    x = place_points(layered, apart, 20, ends, 2_000.0)
    for row in layered.rows:
        assert all(x[right] - x[left] >= 50 - 1e-6 for left, right in pairwise(row))
        assert all(20 - 1e-6 <= x[point] <= 1_980 + 1e-6 for point in row)
    # The smallest possible weighted length, from another solver.
    segments = [(a, b) for a, others in enumerate(layered.below) for b in others]
    weights = [2.0 if a >= 20 and b >= 20 else 1.0 for a, b in segments]
    lines, limits = [], []
    for at, (a, b) in enumerate(segments):
        for sign in (1, -1):
            line = np.zeros(points + len(segments))
            line[[a, b, points + at]] = sign, -sign, -1
            lines.append(line)
            limits.append(0.0)
    for row in layered.rows:
        for left, right in pairwise(row):
            line = np.zeros(points + len(segments))
            line[[left, right]] = 1, -1
            lines.append(line)
            limits.append(-50.0)
    other = linprog(
        [0.0] * points + weights, np.array(lines), limits, bounds=[(20, 1_980)] * points + [(0, None)] * len(segments)
    )
    length = sum(weight * abs(x[a] - x[b]) for weight, (a, b) in zip(weights, segments, strict=True))
    assert length == pytest.approx(other.fun, abs=1e-3)


def test_a_variable_is_in_the_middle_of_its_children():
    place = arrange(
        nx.DiGraph([("top", "a"), ("top", "b"), ("top", "c"), ("top", "d")]), dict.fromkeys("abcd", 60.0) | {"top": 60}
    ).place
    across = sorted(place[name][0] for name in "abcd")
    assert place["top"][0] == pytest.approx(sum(across[1:3]) / 2)
    assert np.diff(across).tolist() == pytest.approx([60 + GAP] * 3)


@pytest.mark.parametrize(("variables", "edges"), [(40, 45), (60, 80), (100, 130)])
def test_drawings_of_up_to_100_variables_fit_the_page(variables, edges):
    dag = random_dag(variables, variables, edges)
    picture = lay_out(dag)
    left = min(box.x - box.w / 2 for box in picture.boxes.values())
    right = max(box.x + box.w / 2 for box in picture.boxes.values())
    assert right - left <= 1_320 - 48 + 1e-6  # letters have at least 11 pixels on 1120 pixels
    for (a, one), (b, two) in combinations(picture.boxes.items(), 2):
        apart = abs(one.x - two.x) >= (one.w + two.w) / 2 - 1e-6 or abs(one.y - two.y) >= one.h
        assert apart, (a, b)
    assert all(picture.boxes[a].y < picture.boxes[b].y for a, b in dag.edges)


def test_a_wide_row_is_divided():
    star = nx.DiGraph([("hub", f"leaf {i}") for i in range(30)])
    narrow = arrange(star, dict.fromkeys(star, 90.0), most=1_200.0).place
    broad = arrange(star, dict.fromkeys(star, 90.0)).place
    assert len({y for _, y in broad.values()}) == 2
    assert len({y for _, y in narrow.values()}) > 3
    across = [x for x, _ in narrow.values()]
    assert max(across) - min(across) + 90 <= 1_200 + 1e-6


def test_rows_are_as_wide_as_the_spaces_allow():
    dag = random_dag(3, 50, 60)
    layered = layers(dag, Spaces(dict.fromkeys(dag, 100.0), 20.0, 900.0))[0]
    assert max(sum(100 if point < 50 else 20 for point in row) for row in layered.rows) <= 900
    level = {point: at for at, row in enumerate(layered.rows) for point in row}
    number = {name: at for at, name in enumerate(dag)}
    assert all(level[number[a]] < level[number[b]] for a, b in dag.edges)
    assert all(layered.rows)


def segments_of(path):
    """Return the pieces of an SVG path of straight lines and parabolas as an array with start and end of each."""
    at, t, points = None, np.linspace(0, 1, 9)[1:, None], []
    for letter, text in re.findall("([MLQ])([^MLQ]*)", path):
        numbers = np.array([float(number) for number in text.split()]).reshape(-1, 2)
        if letter == "Q":
            points.append(at * (1 - t) ** 2 + 2 * numbers[0] * t * (1 - t) + numbers[1] * t**2)
        else:
            points.append(numbers)
        at = numbers[-1]
    line = np.concatenate(points)
    return np.stack([line[:-1], line[1:]], axis=1)


def crossings_of(one, two):
    """Return how often two chains of segments cross."""

    def side(a, b, c):
        return (b[..., 0] - a[..., 0]) * (c[..., 1] - a[..., 1]) - (b[..., 1] - a[..., 1]) * (c[..., 0] - a[..., 0])

    a, b, c, d = one[:, None, 0], one[:, None, 1], two[None, :, 0], two[None, :, 1]
    apart = (side(a, b, c) > 0) != (side(a, b, d) > 0)
    return int((apart & ((side(c, d, a) > 0) != (side(c, d, b) > 0))).sum())


@pytest.mark.parametrize("seed", range(4))
def test_drawn_edges_cross_hardly_more_often_than_in_the_layers(seed):
    dag = random_dag(seed, 40, 60)
    picture = lay_out(dag)
    lines = {}
    for a, b in dag.edges:
        path, _ = edge_paths(picture.boxes[a], picture.boxes[b], picture.bends.get((a, b), []))
        lines[a, b] = segments_of(path)
    # Edges with a common variable may touch at its box.
    pairs = [(one, two) for one, two in combinations(lines, 2) if not set(one) & set(two)]
    drawn = sum(crossings_of(lines[one], lines[two]) for one, two in pairs)
    widths = {name: picture.boxes[name].w + GAP for name in dag}
    layered = layers(dag, Spaces(widths, 21.0, 1_298.0), 6)
    assert 0 < layered[0].crossings <= drawn <= 1.1 * layered[-1].crossings + 2


def test_small_drawings_are_the_same_again():
    dag = random_dag(2, 30, 45)
    assert lay_out(dag) == lay_out(dag.copy())
