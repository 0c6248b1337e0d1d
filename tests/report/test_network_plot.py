"""Drawings with matplotlib."""

import matplotlib
import pytest

import dagneal as dn


@pytest.fixture
def pyplot():
    matplotlib.use("agg")
    from matplotlib import pyplot

    yield pyplot
    pyplot.close("all")


def test_a_result_is_drawn_with_all_names_and_edges(pyplot, tmp_path):
    data = dn.load("lung-cancer").sample(3_000, seed=1)
    result = dn.learn(data, seed=1)
    axes = result.plot()
    assert {text.get_text() for text in axes.texts} == set(data.names)
    assert len(axes.patches) == len(result.edges)
    axes.figure.savefig(tmp_path / "network.png")
    pair = dn.learn(data.frame().select("Smoker", "Cancer"))
    _, own = pyplot.subplots()
    assert pair.plot(own) is own
    (line,) = own.patches
    assert line.get_linestyle() == "--"  # the direction is not determined


def test_only_firm_directions_have_filled_arrowheads(pyplot):
    data = dn.load("lung-cancer").sample(3_000, seed=1)
    heads = {dn.Direction.COMPELLED: "->", dn.Direction.UNDETERMINED: "-"}
    for knowledge in (None, {"required": ["Smoker -> Cancer"]}):
        result = dn.learn(data, knowledge=knowledge, seed=1)
        styles = [matplotlib.patches.ArrowStyle(heads.get(result.directions[edge], "-|>")) for edge in result.dag.edges]
        drawn = [patch.get_arrowstyle() for patch in result.plot().patches]
        assert [type(style) for style in drawn] == [type(style) for style in styles]


def test_a_dollar_sign_starts_no_formula(pyplot):
    rows = dn.Dataset.from_codes(["$x$", "_{a}"], [["0", "1"]] * 2, dn.load("lung-cancer").sample(200, 1).codes[:2])
    axes = dn.learn(rows).plot()
    axes.figure.canvas.draw()
    assert axes.texts[0].get_text() == r"\$x\$"


def test_a_notebook_shows_key_figures_and_the_drawing():
    result = dn.learn(dn.load("lung-cancer").sample(3_000, seed=1), seed=1)
    html = result._repr_html_()
    figures, _, drawing = html.partition("</p>")
    assert "4 edges, BDeu(1) = " in figures
    assert "3,000 rows" in figures
    assert "<svg" in drawing
