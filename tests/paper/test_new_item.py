"""Add an item to the evaluation. `cases`, `section` and `ITEM` below are what a contributor writes."""

import json

import pytest

import dagneal as dn
from dagneal.cli import main
from dagneal.paper import evaluation
from dagneal.paper.items import REPRODUCED, Item, Section, Table, verdict
from dagneal.paper.records import Case

NETWORKS = ("monty-hall", "lung-cancer")


def cases(setting):
    return [Case("optimum", {"network": network, "data": "expected 10000"}) for network in NETWORKS]


def section(records, setting):
    finished = records.select(cases(setting))
    rows = [(record.case.inputs["network"], f"{record.result['score']:.3f}") for record in finished]
    failed = [record.case.key for record in finished if not record.result["truth_is_best"]]
    return Section(*verdict(failed, []), [Table("Scores of the optimum", ("problem", "log score"), rows)])


ITEM = Item("optima", "Table 99", "Optima of small problems", "Reproduced: the truth is optimal.", cases, section)


@pytest.fixture
def new_item(monkeypatch):
    """Add the item to the list of items."""
    monkeypatch.setattr(evaluation, "ITEMS", (*evaluation.ITEMS, ITEM))


@pytest.mark.usefixtures("new_item")
def test_a_new_item_is_run_and_reported(tmp_path, monkeypatch, capsys):
    """A new item is listed, run and written to the report without other changes."""
    monkeypatch.chdir(tmp_path)
    assert main(["reproduce", "optima", "--list", "--json"]) == 0
    assert [(item["name"], item["runs"]) for item in json.loads(capsys.readouterr().out)["items"]] == [("optima", 2)]
    assert main(["reproduce", "table-99", "--quiet", "--json"]) == 0
    assert [(item["name"], item["verdict"]) for item in json.loads(capsys.readouterr().out)["items"]] == [
        ("optima", REPRODUCED)
    ]
    report = (tmp_path / "reproduction" / "report.md").read_text()
    assert "## Table 99: Optima of small problems (`optima`)" in report
    truth = dn.load("lung-cancer")
    score = dn.scoring.Scorer(truth.expected_data(10_000)).score(truth.dag)
    assert f"| lung-cancer | {score:.3f} |" in report
