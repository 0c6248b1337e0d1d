"""A new item of the paper: this file is the module that a contributor writes, and ITEMS gets one line."""

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
    found = records.of(cases(setting))
    rows = [(record.case.inputs["network"], f"{record.result['score']:.3f}") for record in found]
    against = [record.case.key for record in found if not record.result["truth_is_best"]]
    return Section(*verdict(against, []), [Table("Scores of the optimum", ("problem", "log score"), rows)])


ITEM = Item("optima", "Table 99", "Optima of small problems", "Reproduced: the truth is optimal.", cases, section)


@pytest.fixture
def added(monkeypatch):
    monkeypatch.setattr(evaluation, "ITEMS", (*evaluation.ITEMS, ITEM))


@pytest.mark.usefixtures("added")
def test_a_new_item_is_run_and_reported(tmp_path, monkeypatch, capsys):
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
    score = dn.scoring.Scorer(truth.expected(10_000)).score(truth.dag)
    assert f"| lung-cancer | {score:.3f} |" in report
