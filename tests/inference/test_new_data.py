"""New data are prepared like the raw training data, for all kinds of models, files and frames."""

import io
import json
from dataclasses import replace

import numpy as np
import pandas as pd
import polars as pl
import pytest

import dagneal as dn
from dagneal.cli import main
from dagneal.data.raw import prepare as preparation
from dagneal.inference import row_log_likelihood
from dagneal.inference.new_data import read_codes
from dagneal.networks.formats import read_network

ROWS = 600


@pytest.fixture(scope="module")
def raw():
    """Return a raw table with row numbers, dates, decimal commas, gaps, booleans and free text."""
    rng = np.random.default_rng(0)
    month = rng.integers(1, 13, ROWS)
    days = [f"{day:02d}.{m:02d}.{year}" for day, m, year in zip(*draw(rng, (1, 29), month, (2019, 2022)), strict=True)]
    dose = rng.normal(10, 3, ROWS) + 5 * (month > 6)
    sick = dose + rng.normal(0, 2, ROWS) > 14
    gaps = rng.random(ROWS) < 0.2
    return pl.DataFrame(
        {
            "id": range(ROWS),
            "visit day": days,
            "dose": ["-" if gap else f"{x:.2f}".replace(".", ",") for x, gap in zip(dose, gaps, strict=True)],
            "sick": ["TRUE" if each else "FALSE" for each in sick],
            "ward": rng.choice(["a", "b", "c"], ROWS).tolist(),
            "note": [f"text {at} {rng.random()}" for at in range(ROWS)],
        }
    )


def draw(rng, days, month, years):
    """Return random days, the months, and random years."""
    return rng.integers(*days, ROWS), month, rng.integers(*years, ROWS)


@pytest.fixture(scope="module")
def path(raw, tmp_path_factory):
    path = tmp_path_factory.mktemp("raw") / "raw.csv"
    raw.write_csv(path, separator=";")
    return path


@pytest.fixture(scope="module")
def result(path):
    return dn.learn(str(path))


@pytest.fixture(scope="module")
def models(result, path):
    """Return the result, and what was saved of it in all formats that can be asked."""
    folder = path.parent
    mixture = result.ensemble(3)
    for name in ("result.json", "network.bif"):
        result.save(folder / name)
    dn.write_network(result.network, folder / "network.json")
    mixture.save(folder / "mixture.json")
    return {
        "result": result,
        "saved result": dn.load_result(folder / "result.json"),
        "network": read_network(folder / "network.json"),
        "BIF": dn.load(str(folder / "network.bif")),
        "ensemble": mixture,
        "saved ensemble": dn.load_ensemble(folder / "mixture.json"),
    }


@pytest.mark.parametrize("name", ["result", "saved result", "network", "BIF", "ensemble", "saved ensemble"])
def test_raw_rows_get_the_codes_of_training(models, raw, path, result, name):
    model = models[name]
    network = model.networks[0] if isinstance(model, dn.Ensemble) else getattr(model, "network", model)
    place = {name: at for at, name in enumerate(network.names)}
    encoded = result.recipe.encode(raw)
    expected = np.array([encoded[each].to_physical().to_numpy() for each in network.names])
    shuffled = raw.select(sorted(raw.columns)).with_columns(other=pl.lit("more"))
    pandas = pd.DataFrame(shuffled.to_dict(as_series=False))
    for data in (str(path), raw, shuffled, raw.lazy(), pandas, raw.drop("id", "note"), encoded):
        np.testing.assert_array_equal(read_codes(network, data), expected)
    assert {"visit day month", "dose", "sick"} <= set(place)
    new = raw.head(20)
    prediction = dn.predict(model, new.drop("sick"), "sick")
    known = read_codes(network, new)
    for at in range(20):
        given = {other: network.states[other][known[place[other], at]] for other in place if other != "sick"}
        answer = dn.query(model, "sick", given)
        np.testing.assert_allclose(prediction.row(at)[1:], answer.probabilities, atol=1e-9)
    np.testing.assert_allclose(row_log_likelihood(model, path), row_log_likelihood(model, encoded))
    if isinstance(model, dn.Ensemble):
        np.testing.assert_allclose(model.log_likelihood(raw), row_log_likelihood(model, raw))
        unknown = raw.with_columns(ward=pl.lit(None, pl.String))
        np.testing.assert_allclose(model.log_likelihood(unknown), row_log_likelihood(model, unknown))


STRANGE = {
    "ward": (
        "x",
        r"the column 'ward' has values that are not states of the network: 'x' \(600 rows\); its states are 'a', 'b'",
    ),
    "dose": ("much", r"the column 'dose' has values that are not states of the network: 'much' \(600 rows\)"),
    "visit day": ("01.01.1999", r"the column 'visit day', which becomes 'visit day year', has values .* '01.01.1999'"),
    "sick": ("perhaps", r"the column 'sick' has values .* 'perhaps' \(600 rows\); its states are 'False', 'True'"),
}


@pytest.mark.parametrize("name", STRANGE)
def test_values_that_are_no_states_are_named_or_unknown(result, raw, name):
    value, message = STRANGE[name]
    strange = raw.with_columns(pl.lit(value).alias(name))
    with pytest.raises(dn.InputError, match=message):
        result.log_likelihood(strange)
    codes, known = read_codes(result.network, strange, "missing"), read_codes(result.network, raw)
    variable = "visit day year" if name == "visit day" else name
    at = result.network.names.index(variable)
    assert (codes[at] == -1).all()
    others = [place for place, own in enumerate(result.network.names) if not own.startswith(name)]
    np.testing.assert_array_equal(codes[others], known[others])


def test_absent_columns_are_named_or_unknown(result, raw):
    with pytest.raises(dn.InputError, match=r"there is no column 'visit day' \(and 1 more are absent\); add it"):
        result.log_likelihood(raw.drop("visit day", "ward"))
    codes = read_codes(result.network, raw.drop("visit day"), "missing")
    dates = [place for place, own in enumerate(result.network.names) if own.startswith("visit day")]
    assert (codes[dates] == -1).all()
    with pytest.raises(dn.InputError, match="no column is a variable of the network"):
        result.log_likelihood(pl.DataFrame({"note": ["a", "b"]}))


def test_commands_prepare_new_files(models, path, capsys, tmp_path):
    new = tmp_path / "new.csv"
    rows = pl.read_csv(path, separator=";", infer_schema=False).head(4)
    rows.drop("sick").write_csv(new)
    for name in ("result.json", "network.bif", "network.json", "mixture.json"):
        assert main(["predict", str(path.parent / name), str(new), "--target", "sick", "--quiet"]) == 0
        assert pl.read_csv(io.StringIO(capsys.readouterr().out)).height == 4
    for name in ("result.json", "network.bif", "network.json"):  # commands for complete data use the recipe, too
        assert main(["score", str(path.parent / name), str(path), "--json", "--quiet"]) == 0
        score = json.loads(capsys.readouterr().out)["log_likelihood"]
        assert score == pytest.approx(models["result"].log_likelihood(path).sum())
    network = str(path.parent / "network.bif")
    rows.with_columns(ward=pl.lit("x")).write_csv(new)
    assert main(["predict", network, str(new), "--target", "sick"]) == 2
    assert "the column 'ward' has values that are not states of the network: 'x' (4 rows)" in capsys.readouterr().err
    rows.with_columns(sick=pl.lit(None, pl.String)).write_csv(new)
    assert main(["impute", network, str(new)]) == 0
    filled = pl.read_csv(io.StringIO(capsys.readouterr().out), infer_schema=False)
    assert filled.columns == list(models["BIF"].names)
    assert set(filled["sick"]) <= {"True", "False"}
    assert main(["query", network, "P(dose=25 | do(visit day month=7))"]) == 0
    assert capsys.readouterr().out.startswith(f"P(dose={models['BIF'].states['dose'][-2]} | do(visit day month=7)) = ")
    assert main(["query", network, "P(sick | dose=25, visit day month=7)"]) == 0
    highest = models["BIF"].states["dose"][-2]  # the last state is `(missing)`
    assert capsys.readouterr().out.startswith(f"P(sick | dose={highest}, visit day month=7)")


def test_gaps_with_a_state_are_filled_with_another_state(result, raw):
    assert "(missing)" in result.network.states["dose"]
    for method in ("joint", "each", "sample"):
        filled = result.impute(raw, method, seed=1)
        assert "(missing)" not in set(filled["dose"].cast(pl.String))
        known = raw["dose"] != "-"
        expected = result.recipe.encode(raw)["dose"].cast(pl.String)
        assert filled["dose"].cast(pl.String).filter(known).to_list() == expected.filter(known).to_list()


def test_blank_lines_are_no_rows_but_rows_of_gaps_are(result, path, tmp_path):
    head, *lines = path.read_text().splitlines()
    file = tmp_path / "blank.csv"
    file.write_text("\n".join([head, lines[0], "", lines[1], ";" * head.count(";"), lines[2], ""]) + "\n")
    values = result.log_likelihood(str(file))
    whole = result.log_likelihood(str(path))
    assert len(values) == 4
    np.testing.assert_allclose(values[[0, 1, 3]], whole[:3])


def test_all_rows_of_a_large_table_are_read(result, raw, monkeypatch):
    monkeypatch.setattr(preparation, "MOST_CELLS", 100)
    monkeypatch.setattr(preparation, "_rows_that_decide", lambda columns: 50)
    assert len(result.log_likelihood(raw)) == result.recipe.encode(raw).height == result.recipe.apply(raw).data.rows == ROWS
    weighted = raw.with_columns(n=pl.lit(2))
    assert dn.prepare(weighted, weights="n", missing="state").data.rows == 2 * ROWS


def test_the_recipe_in_a_file_is_checked(models, path, tmp_path):
    file = tmp_path / "wrong.bif"
    text = (path.parent / "network.bif").read_text()
    assert models["BIF"].recipe.variables == tuple(
        replace(each, was="", became="", why="", change="") for each in models["result"].recipe.variables
    )
    for old, new in (('"action": "bin"', '"action": "bun"'), ('{"column"', '{"column')):
        file.write_text(text.replace(old, new))
        with pytest.raises(
            dn.InputError, match=r"the preparation of the training data cannot be read: .*remove the comments"
        ):
            dn.load(str(file))
    plain = json.loads((path.parent / "network.json").read_text())
    plain["recipe"]["version"] = 99
    (tmp_path / "wrong.json").write_text(json.dumps(plain))
    with pytest.raises(dn.InputError, match=r"wrong\.json: the recipe has version 99"):
        read_network(tmp_path / "wrong.json")


def test_a_network_of_an_unchanged_table_stores_no_recipe_in_its_bif_file(tmp_path):
    result = dn.learn(dn.load("lung-cancer").sample(500, 1).frame())
    result.save(tmp_path / "lung.bif")
    assert "preparation" not in (tmp_path / "lung.bif").read_text()


def test_missing_auto_follows_the_rules_of_preparation(raw, path, capsys, tmp_path):
    for words in ((), ("--missing", "auto")):
        file = tmp_path / f"auto{len(words)}.json"
        assert main(["learn", str(path), *words, "-o", str(file), "--quiet"]) == 0
        gaps = {each.name: each.gaps for each in dn.load_result(file).recipe.variables}
        assert gaps == {each.name: each.gaps for each in dn.prepare(raw, missing="auto").recipe.variables}
        assert gaps["dose"] == "state"
    few = raw.with_columns(pl.when(pl.int_range(pl.len()) > 5).then("ward").alias("ward"))
    recipe = {each.name: each.gaps for each in dn.prepare(few).recipe.variables}
    assert (recipe["ward"], recipe["dose"]) == ("drop", "state")
    assert dn.learn(few).predict(few, "sick").height == ROWS  # a gap without a state is unknown in new rows
    with pytest.raises(dn.InputError, match="missing is 'auto', but read follows no rules; use prepare"):
        dn.read(raw, missing="auto")


def test_columns_that_are_no_variables_are_explained(result):
    with pytest.raises(
        dn.InputError, match=r"'id' is not a variable .* left out \(row numbers\); .* keep=\['id'\] of prepare"
    ):
        result.query("id")
    with pytest.raises(dn.InputError, match="'visit day' is not a variable, but a column that became 'visit day year'"):
        result.query("visit day")
