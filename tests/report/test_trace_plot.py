"""The plot of a search: positions, scales, labels and odd traces."""

import re
from dataclasses import replace
from xml.etree import ElementTree

import networkx as nx
import pytest

import dagneal as dn
from dagneal.report.page import page
from dagneal.report.trace_plot import trace_svg
from dagneal.result import Learned
from dagneal.search.trace import TracePoint
from dagneal.solvers.solution import SearchSummary

SHORT = (
    TracePoint(0.5, -1100.0, "pairs"),
    TracePoint(1.0, -1010.0, "additions"),
    TracePoint(1.5, -1000.0, "additions"),
    TracePoint(2.0, -1000.0, "proof", -990.0),
)
LONG = (TracePoint(0.01, -2000.0, "pairs"), TracePoint(0.1, -1001.0, "additions"), TracePoint(1.0, -1000.0, "restarts"))


def parse(trace, end=2.0):
    return ElementTree.fromstring(trace_svg(trace, end))


def texts(svg):
    return [text.text for text in svg.iter("text")]


def dots(svg):
    return [(float(dot.get("cx")), float(dot.get("cy"))) for dot in svg.iter("circle")]


def test_points_are_in_order_of_time_and_score():
    places = dots(parse(SHORT))
    xs, ys = zip(*places, strict=True)
    assert list(xs) == sorted(xs)
    assert list(ys) == sorted(ys, reverse=True)  # upwards
    assert ys[-1] == ys[-2]
    assert xs[1] - xs[0] == pytest.approx(xs[2] - xs[1], abs=0.2)  # linear


def test_time_is_logarithmic_if_it_spans_more_than_two_powers_of_ten():
    xs = [x for x, _ in dots(parse(LONG, end=10.0))]
    assert xs[1] - xs[0] == pytest.approx(xs[2] - xs[1], abs=0.2)
    assert texts(parse(LONG, end=10.0)).count("0.1") == 1
    linear = [x for x, _ in dots(parse(LONG, end=0.9))]
    assert linear[2] - linear[1] == pytest.approx(10 * (linear[1] - linear[0]), rel=0.01)


def test_curve_is_a_step_function_until_the_end_of_the_search():
    svg = parse(LONG, end=10.0)
    curve = svg.find("path").get("d")
    places = dots(svg)
    assert curve.startswith("M{:.1f} {:.1f}".format(*places[0]))
    corners = re.findall(r"H([\d.]+)V([\d.]+)", curve)
    assert [(float(x), float(y)) for x, y in corners] == places[1:]
    assert float(curve.rpartition("H")[2]) > places[-1][0] + 50


def test_final_score_and_upper_bound_have_labels():
    svg = parse(SHORT)
    assert "final score -1,000.000" in texts(svg)
    assert "upper bound -990.000" in texts(svg)
    (dashed,) = [line for line in svg.iter("line") if line.get("stroke-dasharray")]
    assert float(dashed.get("y1")) < dots(svg)[-1][1]
    assert {"0", "-10", "+10"} <= set(texts(svg))


def test_bound_that_equals_the_score_is_a_proof():
    svg = parse((*SHORT[:-1], replace(SHORT[-1], stage="exact search", bound=-1000.0)))
    assert "highest score (proved)" in texts(svg)
    (dashed,) = [line for line in svg.iter("line") if line.get("stroke-dasharray")]
    assert float(dashed.get("y1")) == dots(svg)[-1][1]
    assert "exact search" in texts(svg)


def test_a_falling_bound_is_a_second_curve():
    middle = (TracePoint(1.8, -1000.0, "proof", -900.0), TracePoint(1.9, -1000.0, "proof", -950.0))
    svg = parse((*SHORT[:-1], *middle, SHORT[-1]))
    curve = svg.findall("path")[1].get("d")
    heights = [float(y) for y in re.findall(r"V([\d.]+)", curve)]
    assert len(heights) == 2
    assert float(curve.split("H")[0].split()[1]) < heights[0] < heights[1]
    assert len(dots(svg)) == len(SHORT)
    assert len(parse(SHORT).findall("path")) == 1


def test_no_dashed_line_without_a_bound():
    svg = parse(LONG)
    assert not [line for line in svg.iter("line") if line.get("stroke-dasharray")]
    assert not [text for text in texts(svg) if "bound" in text or "optimal" in text]


def test_title_and_description_name_the_plot():
    svg = parse(SHORT)
    assert svg.find("title").text == "Best log score over time"
    assert svg.get("aria-labelledby").split() == [svg.find("title").get("id"), svg.find("desc").get("id")]
    words = "The best log score is -1,100.000 after 0.5 s and -1,000.000 at the end. Upper bound -990.000."
    assert svg.find("desc").text == words


def test_every_point_and_every_stage_has_a_tooltip():
    svg = parse(SHORT)
    points = [dot.find("title").text for dot in svg.iter("circle")]
    assert points[1] == "1 s: log score -1,010.000, stage additions"
    stages = [box.find("title").text for box in svg.iter("rect")]
    assert stages[:2] == ["stage pairs: last improvement after 0.5 s", "stage additions: last improvement after 1.5 s"]
    assert len(stages) == 3


@pytest.mark.parametrize(
    "trace",
    [
        [TracePoint(0.0, -5.0, "a"), TracePoint(0.0, -5.0, "b")],
        [TracePoint(0.0, 0.0, "a"), TracePoint(1e-9, 0.0, "b", 0.0)],
        [TracePoint(1e9, -1e300, "a"), TracePoint(2e9, -1.0, "b", 1e300)],
        [TracePoint(3.0, -1.0, "a"), TracePoint(-2.0, -9.0, "<b>", -20.0)],
    ],
)
def test_odd_traces_of_a_file_can_be_plotted(trace):
    """A result file may contain any numbers."""
    text = trace_svg(trace, 0.0)
    svg = ElementTree.fromstring(text)
    assert len(dots(svg)) == 2
    assert "nan" not in text
    assert "inf" not in text


def result_with(trace):
    graph, search = nx.DiGraph([("a", "b")]), SearchSummary(tuple(trace))
    return Learned(graph, -1000.0, 2, "search", seconds={"search": 3.0}, score_name="BDeu(1)", search=search)


def test_page_shows_the_plot_and_a_table_with_the_same_figures():
    text = page(result_with(SHORT))
    assert "<h2>Progress of the search</h2>" in text
    rows = re.findall(r"<tr><td>(.*?)</td>.*?>([-\d.,]+)</td>.*?>([-\d.,]+)</td>.*?>([-\d.,]+)</td></tr>", text)
    assert rows == [
        ("pairs", "0.50", "-1,100.00", "0.00"),
        ("additions", "1.50", "-1,000.00", "100.00"),
        ("proof", "2.00", "-1,000.00", "0.00"),
    ]


def test_page_has_no_plot_of_a_single_point():
    assert "Progress of the search" not in page(result_with(SHORT[:1]))
    assert "Progress of the search" not in page(dn.learn(dn.load("lung-cancer").sample(500, 1)))


def test_page_escapes_the_stages_of_a_file():
    text = page(result_with([replace(SHORT[0], stage="</svg><script>"), SHORT[1]]))
    assert text.count("<script") == 3
    assert "&lt;script&gt;" in text
