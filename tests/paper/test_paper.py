"""The paper's evaluation: published figures, runs, records, reports."""

import json
import re
from dataclasses import replace
from itertools import combinations
from math import comb, isclose
from pathlib import Path

import numpy as np
import pytest
from dwave.samplers import SimulatedAnnealingSampler

import dagneal as dn
from dagneal.cli import main
from dagneal.networks import Discrete, Gaussian, discretise_network
from dagneal.paper import discretisation, evaluation, experiments, priors, published, runner, timing
from dagneal.paper.annealers import Annealers
from dagneal.paper.direct_runs import DirectRuns, unlike
from dagneal.paper.division_report import judge
from dagneal.paper.division_runs import DivisionRuns, cases_of_run, means_differ, tally
from dagneal.paper.document import parts_of, write_report
from dagneal.paper.items import IN_SHAPE, REPRODUCED, Figure, Item, Section, Setting, Table
from dagneal.paper.problems import make_data
from dagneal.paper.records import Case, Record, Records
from dagneal.paper.runner import run_cases
from dagneal.paper.subproblem_votes import SubproblemRun

QUICK = Setting()


@pytest.fixture(autouse=True)
def embeddings(tmp_path_factory, monkeypatch):
    monkeypatch.setenv("DAGNEAL_CACHE", str(tmp_path_factory.getbasetemp() / "paper-embeddings"))


@pytest.fixture
def records(tmp_path):
    with Records(tmp_path / "records.jsonl", writing=True) as found:
        yield found


# What was published


@pytest.mark.parametrize(
    ("table", "network"),
    [(published.TABLE_9, "lung-cancer"), (published.TABLE_10, "waste"), (published.TABLE_11, "alarm-15")],
)
def test_published_counts_agree_with_published_shares(table, network):
    truth = dn.load(network).dag
    n, edges = len(truth), truth.number_of_edges()
    for row in table.values():
        assert len(row.right) == len(row.wrong) == 5
        right, wrong = row.means
        assert isclose(right / edges, row.sensitivity, abs_tol=0.0051)
        assert isclose(1 - wrong / (n * (n - 1) - edges), row.specificity, abs_tol=0.0051)
        assert max(row.right) <= row.unique_right <= edges
        assert max(row.wrong) <= row.unique_wrong


def test_items_are_named_by_name_and_number():
    names = [item.name for item in evaluation.ITEMS]
    assert len(set(names)) == len(names)
    assert [item.name for item in evaluation.items_named(["11", "Table-9", "section-5.1"])] == [
        "lung-cancer",
        "alarm",
        "discretisation",
    ]
    assert evaluation.items_named(["all"]) == list(evaluation.ITEMS)
    with pytest.raises(dn.InputError, match="there is no item 'table-99'"):
        evaluation.items_named(["table-99"])


@pytest.mark.parametrize("scale", ["quick", "paper"])
def test_every_item_declares_runs_that_exist(scale):
    setting = Setting(scale)
    for item in evaluation.ITEMS:
        cases = item.cases(setting)
        assert cases
        for case in cases:
            assert case.kind in runner.KINDS
            assert evaluation.cost(case) > 0
            json.dumps(case.inputs)
        assert "Reproduced:" in item.rule


def test_a_kind_without_a_known_cost_is_an_error():
    with pytest.raises(ValueError, match="a run of the kind 'new' costs"):
        evaluation.cost(Case("new", {"network": "waste"}))


def test_every_kind_has_a_cost():
    settings = [Setting(scale, quantum) for scale in ("quick", "paper") for quantum in ("qa", "qpu")]
    cases = [case for setting in settings for case in evaluation.all_cases(evaluation.ITEMS, setting)]
    assert {case.kind for case in cases} == set(runner.KINDS)  # so that the costs of all kinds are looked up


def test_every_item_is_in_the_stored_report():
    path = Path(__file__).parents[2] / "docs/reproduction/quick/report.md"
    text = path.read_text(encoding="utf-8")
    missing = [item.name for item in evaluation.ITEMS if f"(`{item.name}`)" not in text]
    assert not missing, (
        f"run dagneal reproduce {' '.join(missing)} -o docs/reproduction/quick, then add its records and report"
    )


def test_the_papers_scale_is_the_papers():
    found = {item.name: item.cases(Setting("paper")) for item in evaluation.ITEMS}
    quantum = [case.inputs for case in found["annealing-time"]]
    assert len(quantum) == 6 * 2 * 10
    assert {case["reads"] for case in quantum} == {10_000}
    alarm = {(c.inputs["k"], c.inputs["seed"]) for c in found["alarm"] if c.kind == "blocks" and c.inputs["solver"] == "sa"}
    assert alarm == {(k, seed) for k in range(3, 16) for seed in range(1, 6)}


# Runs


@pytest.mark.slow
def test_blocks_are_those_of_divide_and_parts_add_up():
    truth = dn.load("waste")
    table = dn.scoring.score_table(truth.expected(10_000))
    names = truth.names
    run = SubproblemRun("waste", "expected 10000", 4, "sa", seed=3, reads=10)
    whole = run.votes(Annealers()).result
    parts = [replace(run, part=part, parts=3).votes(Annealers()).result for part in range(3)]
    assert sum(part["blocks"] for part in parts) == comb(9, 4)
    for kind, repair in (("raw", False), ("repaired", True)):
        assert np.array_equal(sum(np.array(part["votes"][kind]) for part in parts), whole["votes"][kind])
        solver = dn.Anneal(SimulatedAnnealingSampler(), num_reads=10, encoding=dn.PAPER, repair=repair)
        found = dn.Divide(solver, 4, combine="penalty").solve(dn.Problem(table), dn.Run(seed=3))
        assert np.array_equal(found.division.votes, whole["votes"][kind])
        assert np.array_equal(found.division.against, np.array(whole["together"]) - whole["votes"][kind])
        assert list(found.dag) == list(names)


def test_runs_are_tallied_once_they_are_complete(records):
    runs = DivisionRuns("expected 10000", 4, "sa", (1, 2))
    assert runs.graphs("lung-cancer", records) == []
    run_cases(runs.cases("lung-cancer")[:1], records, Annealers())
    assert len(runs.graphs("lung-cancer", records)) == 1
    run_cases(runs.cases("lung-cancer"), records, Annealers())
    found = tally(runs.graphs("lung-cancer", records), dn.load("lung-cancer").dag)
    assert found.right == (4, 4)
    assert found.wrong == (0, 0)
    assert (found.unique_right, found.unique_wrong) == (4, 0)
    assert found.cpdag == (0, 0)
    five = found._replace(right=(4,) * 5, wrong=(0,) * 5)
    assert judge(found, published.TABLE_9[4, "sa"]) == "only 2 runs"
    assert judge(five, published.TABLE_9[4, "sa"]) == "no"
    assert judge(five, published.TABLE_9[5, "qa"]) == "yes"
    assert judge(None, published.TABLE_9[5, "qa"]) == ""
    assert tally([], dn.load("lung-cancer").dag) is None


def test_long_runs_are_cut_into_parts():
    parts = cases_of_run("alarm-15", "expected 10000", 8, "sa", 1)
    assert len(parts) > 10
    assert {case.inputs["parts"] for case in parts} == {len(parts)}
    assert len({case.key for case in parts}) == len(parts)


def test_direct_runs_tell_the_expected_solution_from_the_minimum(records):
    """Against the exhaustive search of the QUBO, on data whose optimum is not the truth."""
    same = DirectRuns("monty-hall", "sa", 200, (1, 2))
    run_cases(same.cases(), records, Annealers())
    found = same.summary(records)
    assert found.expected == found.optimum == 2
    assert found.ratio == pytest.approx(1.0) == found.best_ratio
    assert found.repaired_gap == pytest.approx(0.0)
    other = experiments.direct(Annealers(), "waste", "expected 10000", "sa", 50, 1).result
    truth = dn.load("waste")
    table = dn.scoring.score_table(truth.expected(10_000))
    bqm = dn.qubo.encode(table, dn.PAPER)
    assert other["expected_value"] == pytest.approx(
        dn.qubo.result_value(bqm, dn.qubo.qubo_vector(table, truth.dag, dn.PAPER))
    )
    assert other["optimum_value"] == pytest.approx(-dn.solvers.exact(table).score - bqm.offset)
    assert other["optimum_value"] < other["expected_value"]  # a child of the truth has three parents
    assert other["expected_hits"] == 0


def test_the_plain_baseline_computes_the_same_scores():
    data = dn.load("lung-cancer").sample(300, 1)
    table = dn.scoring.score_table(data)
    rows = np.repeat(data.codes, data.weights, axis=1).T.tolist()
    plain = timing.scores(data.arities.tolist(), rows)
    for child, name in enumerate(data.names):
        for size in range(3):
            for parents in combinations([v for v in range(5) if v != child], size):
                assert plain[child][parents] == pytest.approx(-table.local(name, [data.names[p] for p in parents]))


def test_timed_runs_report_what_they_made():
    assert timing.construction("waste", "sampled 2000 1", 3).result == {"rows": 2000, "problems": 84}
    both = timing.plain_python("monty-hall", "expected 500")
    assert both.result["problems"] == 1
    assert both.seconds["plain"] > both.seconds["ours"] > 0


def test_padded_data_have_one_number_of_states():
    data = dn.load("alarm-15").expected(1_000)
    padded = data.with_equal_arities()
    assert set(padded.arities) == {data.arities.max()}
    assert padded.rows == data.rows
    assert np.array_equal(padded.codes, data.codes)
    assert make_data(dn.load("alarm-15"), "expected 1000 padded").arities.tolist() == padded.arities.tolist()
    assert make_data(dn.load("waste"), "expected 1000 floor").rows < 1000
    assert make_data(dn.load("waste"), "sampled 1000 4").rows == 1000


# The conditional-Gaussian original of the Waste network


def test_gaussian_cells_against_draws():
    variables = {
        "a": Discrete({"x": 0.5, "y": 0.5}),
        "b": Gaussian(("a",), {("x",): (0.0, 1.0), ("y",): (3.0, 2.0)}),
        "c": Gaussian(("a",), {("x",): (1.0, 0.5), ("y",): (0.0, 0.5)}, {"b": -0.5}, states=("up", "down")),
    }
    network, cuts = discretise_network(variables)
    assert (cuts["b"].lowest, cuts["b"].highest) == (-1.0, 5.0)
    draws = np.random.default_rng(0)
    for i, (mean, variance) in enumerate([(0.0, 1.0), (3.0, 2.0)]):
        share = (draws.normal(mean, variance**0.5, 400_000) > cuts["b"].value).mean()
        assert network.cpts["b"][i, 0] == pytest.approx(share, abs=0.004)
    means = {(a, b): base - value / 2 for a, base in (("x", 1.0), ("y", 0.0)) for b, value in (("High", 5.0), ("Low", -1.0))}
    assert cuts["c"].lowest == min(means.values()) - 0.5
    assert cuts["c"].highest == max(means.values()) + 0.5
    assert network.parents["c"] == ("a", "b")
    assert network.states["c"] == ("up", "down")
    with pytest.raises(dn.InputError, match="does not come before it"):
        discretise_network({"b": variables["b"]})


def test_the_waste_network_comes_from_lauritzens():
    found = discretisation.discretise().result
    cells = {name: (theirs, ours) for name, theirs, ours in found["cells"]}
    assert ["WasteType", "FilterEfficiency"] in found["lost"]
    for name, value in (
        ("P(CO2Concentration High | BurningRegimen Stable)", 0.03),
        ("P(CO2Concentration High | BurningRegimen Unstable)", 0.77),
    ):
        assert cells[name][0] == value == round(cells[name][1], 2)
    assert cells["P(MetalsInWaste High | WasteType Industrial)"][1] > 0.99
    assert cells["P(MetalsInWaste High | WasteType Household)"][1] < 0.01
    assert len(cells) == 3 + 2 + 2 + 2 + 2 + 8 + 4


# Rules


def test_shares_are_compared_by_fishers_test():
    assert unlike(0, 10, 1.0)
    assert not unlike(0, 10, 0.5)  # p = 0.033
    assert unlike(0, 20, 0.6)  # p = 0.0003
    assert not unlike(1, 1, 1.0)


def test_the_tail_of_a_draw_of_unequal_coins():
    generator = np.random.default_rng(0)
    shares = [0.0, 1.0, 0.3, 0.7, 0.5]
    draws = (generator.random((200_000, 5)) < shares).sum(axis=1)
    for hits in range(6):
        wanted = min((draws >= hits).mean(), (draws <= hits).mean())
        assert priors.tail(shares, hits) == pytest.approx(wanted, abs=0.005)


def test_runs_are_told_apart_as_a_permutation_test_does():
    generator = np.random.default_rng(1)
    for _ in range(20):
        ours, theirs = generator.integers(0, 6, (2, 5))
        pooled = np.concatenate([ours, theirs])
        draws = np.array([generator.permutation(pooled)[:5].sum() for _ in range(4000)])
        share = (np.abs(draws - pooled.sum() / 2) >= abs(ours.sum() - pooled.sum() / 2)).mean()
        if abs(share - 0.01) > 0.005:
            assert means_differ(ours.tolist(), theirs.tolist()) == (share < 0.01)


def test_only_the_sizes_that_were_asked_for_are_run():
    setting = Setting("paper", sizes=(3, 15))
    (item,) = evaluation.items_named(["alarm"])
    sizes = {case.inputs["k"] for case in item.cases(setting) if case.kind == "blocks" and case.inputs["solver"] == "sa"}
    assert sizes == {3, 15}


def test_nothing_is_judged_before_all_runs_are_there(records, tmp_path):
    """At the paper's scale a single run is no reproduction, and what was not run is no failure."""
    for name in ("annealing-time", "priors", "lung-cancer"):
        (item,) = evaluation.items_named([name])
        setting = Setting("paper")
        case = next(case for case in item.cases(setting) if case.kind in ("direct", "optimum"))
        small = replace(case, inputs=dict(case.inputs) | ({"reads": 20, "microseconds": 1} if case.kind == "direct" else {}))
        records.add(Record(case, runner.CaseTask(Annealers())(None, small).result, {"sample": 0.1}))
        (part,) = parts_of([item], records, setting)
        assert part.verdict == "incomplete"
        assert part.why == ""


# Records


def record(seed, **more):
    return Record(Case("direct", {"network": "waste", "seed": seed}), {"value": 1.0}, {"sample": 0.1}, **more)


def test_records_survive_a_cut_line_and_name_a_bad_one(tmp_path):
    path = tmp_path / "records.jsonl"
    records = Records(path, writing=True)
    records.add(record(1))
    records.add(record(2))
    records.close()
    whole = path.read_bytes()
    path.write_bytes(whole + b'{"kind": "dir')
    again = Records(path, writing=True)
    assert len(again) == 2
    assert again.get(record(1).case).result == {"value": 1.0}
    again.add(record(3))
    again.close()
    assert len(Records(path)) == 3
    path.write_bytes(whole.replace(b'"kind"', b'"kin"', 1))  # neither cut nor whole
    with pytest.raises(dn.InputError, match="line 1, is no record"):
        Records(path)


def test_two_runs_cannot_write_the_same_records(tmp_path):
    path = tmp_path / "records.jsonl"
    first = Records(path, writing=True)
    with pytest.raises(dn.InputError, match="being written by another run"):
        Records(path, writing=True)
    assert len(Records(path)) == 0  # reading is possible
    first.close()
    Records(path, writing=True).close()


def timeless(path, target):
    """The records of a file with all times made equal, in the order of their names."""
    source = Records(path)
    records = Records(target, writing=True)
    for key in sorted(source._found):
        found = source._found[key]
        records.add(replace(found, seconds=dict.fromkeys(found.seconds, 1.0), finished=0.0))
    records.close()
    return records


@pytest.mark.slow
def test_interrupted_twice_and_resumed_the_report_is_the_same_but_for_times(tmp_path, monkeypatch):
    items = evaluation.items_named(["lung-cancer", "networks", "discretisation"])
    cases = evaluation.all_cases(items, QUICK)
    steady = Records(tmp_path / "steady.jsonl", writing=True)
    run_cases(cases, steady, Annealers())
    steady.close()
    add = Records.add
    for stop in (20, 45, None):
        broken = Records(tmp_path / "broken.jsonl", writing=True)

        def counted(self, found, stop=stop):
            if stop is not None and len(self) >= stop:
                raise KeyboardInterrupt
            add(self, found)

        monkeypatch.setattr(Records, "add", counted)
        if stop is None:
            run_cases(cases[::-1], broken, Annealers(), jobs=1)
        else:
            with pytest.raises(KeyboardInterrupt):
                run_cases(cases, broken, Annealers(), jobs=2)
            assert len(broken) == stop
        broken.close()
        monkeypatch.setattr(Records, "add", add)
    written = []
    for name in ("steady", "broken"):
        folder = tmp_path / name
        write_report(items, timeless(tmp_path / f"{name}.jsonl", tmp_path / f"{name}-timeless.jsonl"), QUICK, folder)
        written.append({path.relative_to(folder): path.read_bytes() for path in sorted(folder.rglob("*")) if path.is_file()})
    assert written[0] == written[1]
    assert len(written[0]) == 2 + 2 * 8


def test_a_run_that_fails_ends_the_others_and_keeps_what_is_done(records):
    good = [Case("optimum", {"network": "lung-cancer", "data": f"expected {rows}"}) for rows in (1000, 2000)]
    bad = Case("optimum", {"network": "nowhere", "data": "expected 1000"})
    with pytest.raises(dn.InputError, match="nowhere"):
        run_cases([*good, bad], records, Annealers(), jobs=1)
    assert all(case in records for case in good)


# Reports


def test_reports_escape_what_they_are_given(tmp_path, records):
    def section(records, setting):
        table = Table("a < b & c|d", ("the paper", "<script>"), [("1|2", '"><img src=x>')])
        return Section(IN_SHAPE, "it's <odd>", [table], [Figure("plot", 'of "x" <y>', lambda canvas: canvas.subplots())])

    case = record(1).case
    item = Item("odd", "Table 99", "<b>Odd</b>", "Reproduced: never.", lambda setting: [case], section)
    records.add(record(1))
    write_report([item], records, QUICK, tmp_path)
    page = (tmp_path / "report.html").read_text()
    assert "<script>" not in page
    assert "<img src=x>" not in page
    assert "<b>Odd" not in page
    text = (tmp_path / "report.md").read_text()
    assert "1\\|2" in text
    assert "reproduced in shape" in text


def test_sections_without_records_say_so(tmp_path):
    write_report(evaluation.ITEMS, Records(tmp_path / "none.jsonl"), QUICK, tmp_path)
    text = (tmp_path / "report.md").read_text()
    assert text.count("not run") >= 2 * len(evaluation.ITEMS)


@pytest.mark.slow
def test_reproduce_on_the_command_line(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    assert main(["reproduce", "--list", "--json"]) == 0
    listed = json.loads(capsys.readouterr().out)
    assert [item["name"] for item in listed["items"]] == [item.name for item in evaluation.ITEMS]
    assert not (tmp_path / "reproduction").exists()
    assert main(["reproduce", "networks", "section-5.1", "--quiet", "--json", "-o", "out"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert {item["name"]: item["verdict"] for item in found["items"]} == {"networks": REPRODUCED, "discretisation": IN_SHAPE}
    before = (tmp_path / "out" / "report.md").read_text()
    assert re.search(r"\| MHP \| monty-hall \| 3, 2 \| 3, 2 \| 2 / 0 \| 0 \|", before)
    assert (tmp_path / "out" / "figures" / "network-waste.png").exists()
    assert main(["reproduce", "networks", "section-5.1", "--report", "-o", "out"]) == 0
    assert (tmp_path / "out" / "report.md").read_text() == before
    assert "reproduced" in capsys.readouterr().out
    assert main(["reproduce", "section-5.1", "--report", "-o", "out"]) == 0  # what is there of others stays
    assert (tmp_path / "out" / "report.md").read_text() == before
    capsys.readouterr()
    assert main(["reproduce", "--report", "-o", "nothing"]) == 2
    assert "there are no records in nothing" in capsys.readouterr().err
    assert main(["reproduce", "table-99"]) == 2
    assert main(["reproduce", "networks", "--jobs", "0"]) == 2
    assert "jobs is 0" in capsys.readouterr().err
