"""Test the paper's evaluation: published values, runs, records and reports."""

import json
import re
from dataclasses import replace
from itertools import combinations
from math import comb, isclose
from pathlib import Path

import numpy as np
import pytest

import dagneal as dn
from dagneal.cli import main
from dagneal.networks import Discrete, Gaussian, discretise_network
from dagneal.paper import discretisation, evaluation, experiments, priors, published, runner, timing
from dagneal.paper.annealers import Annealers
from dagneal.paper.direct_runs import Cell, DirectRuns, format_differing, joint_p, shares_differ, trend_p
from dagneal.paper.division_items import ALARM_SIZES, MANY, SOME
from dagneal.paper.division_runs import DivisionRuns, tally
from dagneal.paper.document import make_parts, write_report
from dagneal.paper.items import IN_SHAPE, REPRODUCED, Figure, Item, Section, Setting, Table
from dagneal.paper.problems import make_data
from dagneal.paper.records import Case, Record, Records
from dagneal.paper.runner import run_cases
from dagneal.paper.subproblem_votes import SubproblemRun

QUICK = Setting()


@pytest.fixture(autouse=True)
def embedding_cache(tmp_path_factory, monkeypatch):
    """Share one cache of embeddings between the tests."""
    monkeypatch.setenv("DAGNEAL_CACHE", str(tmp_path_factory.getbasetemp() / "paper-embeddings"))


@pytest.fixture
def records(tmp_path):
    with Records(tmp_path / "records.jsonl", writing=True) as opened:
        yield opened


# Published values


@pytest.mark.parametrize(
    ("table", "network"),
    [(published.TABLE_9, "lung-cancer"), (published.TABLE_10, "waste"), (published.TABLE_11, "alarm-15")],
)
def test_published_counts_agree_with_published_shares(table, network):
    """The published edge counts give the published sensitivity and specificity."""
    truth = dn.load(network).dag
    n, edges = len(truth), truth.number_of_edges()
    for row in table.values():
        assert len(row.correct) == len(row.wrong) == 5
        correct, wrong = row.means
        assert isclose(correct / edges, row.sensitivity, abs_tol=0.0051)
        assert isclose(1 - wrong / (n * (n - 1) - edges), row.specificity, abs_tol=0.0051)
        assert max(row.correct) <= row.unique_correct <= edges
        assert max(row.wrong) <= row.unique_wrong


def test_items_are_selected_by_name_and_number():
    """Names, table numbers and section numbers select items; an unknown name is an error."""
    names = [item.name for item in evaluation.ITEMS]
    assert len(set(names)) == len(names)
    assert [item.name for item in evaluation.select_items(["11", "Table-9", "section-5.1"])] == [
        "lung-cancer",
        "alarm",
        "discretisation",
    ]
    assert evaluation.select_items(["all"]) == list(evaluation.ITEMS)
    with pytest.raises(dn.InputError, match="there is no item 'table-99'"):
        evaluation.select_items(["table-99"])


@pytest.mark.parametrize("scale", ["quick", "paper"])
def test_every_item_lists_valid_runs(scale):
    """The runs of each item have a known kind, a cost and inputs that JSON can store."""
    setting = Setting(scale)
    for item in evaluation.ITEMS:
        cases = item.cases(setting)
        assert cases
        for case in cases:
            assert case.kind in runner.KINDS
            assert evaluation.cost(case) > 0
            json.dumps(case.inputs)
        assert "Reproduced:" in item.rule


def test_a_kind_without_a_cost_is_an_error():
    """A kind that `cost` does not know raises an error."""
    with pytest.raises(ValueError, match="kind 'new' has no cost"):
        evaluation.cost(Case("new", {"network": "waste"}))


def test_new_embeddings_cost_time():
    """An estimate contains the searches for embeddings: ten for each size, and one for tiled runs."""

    def searches(solver, k, seeds):
        cases = [case for seed in range(seeds) for case in DivisionRuns("expected 100", k, solver, (seed,)).cases("waste")]
        return evaluation.duration(cases, 1) - sum(map(evaluation.cost, cases))

    assert searches("sa", 3, 2) == searches("exact", 3, 1) == 0
    one = searches("qa", 9, 1)  # a direct run
    assert one > 1
    assert searches("qa", 9, 30) == pytest.approx(10 * one)
    assert searches("qa", 8, 1) == pytest.approx(0.9 * searches("qa", 8, 2))  # nine subproblems in each run
    assert searches("qa", 3, 1) < one
    assert searches("qa", 3, 5) == pytest.approx(searches("qa", 3, 1))
    assert searches("tiled", 3, 1) > 0
    assert searches("tiled", 3, 5) == pytest.approx(searches("tiled", 3, 1))


def test_every_kind_is_used_and_has_a_cost():
    """The items use every kind of run, so sorting them looks up the cost of every kind."""
    settings = [Setting(scale, quantum) for scale in ("quick", "paper") for quantum in ("qa", "qpu")]
    cases = [case for setting in settings for case in evaluation.all_cases(evaluation.ITEMS, setting)]
    assert {case.kind for case in cases} == set(runner.KINDS)


def test_every_item_is_in_the_stored_report():
    """The report in docs/reproduction/quick contains every item."""
    path = Path(__file__).parents[2] / "docs/reproduction/quick/report.md"
    text = path.read_text(encoding="utf-8")
    missing = [item.name for item in evaluation.ITEMS if f"(`{item.name}`)" not in text]
    assert not missing, (
        f"run dagneal reproduce {' '.join(missing)} -o docs/reproduction/quick, then commit the records and the report"
    )


def test_paper_scale_has_the_runs_and_reads_of_the_paper():
    """The paper's scale uses the paper's numbers of runs and reads."""
    cases = {item.name: item.cases(Setting("paper")) for item in evaluation.ITEMS}
    quantum = [case.inputs for case in cases["annealing-time"]]
    assert len(quantum) == 6 * 2 * 10
    assert {case["reads"] for case in quantum} == {10_000}
    main = {"data": "expected 10000 padded", "solver": "sa", "precision": "single"}
    alarm = [c.inputs for c in cases["alarm"] if c.kind == "blocks" and main.items() <= c.inputs.items()]
    wanted = {(k, seed) for k in ALARM_SIZES for seed in range(1, 1 + (SOME if 6 <= k <= 9 else MANY))}
    assert {(inputs["k"], inputs["seed"]) for inputs in alarm} == wanted
    assert (MANY, SOME) == (30, 10)


# Runs


@pytest.mark.slow
def test_subproblem_votes_match_divide_and_parts_add_up():
    """A run gives the votes of `dn.Divide`, and its parts add up to the full run."""
    truth = dn.load("waste")
    table = dn.scoring.score_table(truth.expected_data(10_000))
    names = truth.names
    run = SubproblemRun("waste", "expected 10000", 4, "sa", seed=3, reads=10)
    full = run.solve(Annealers()).result
    parts = [replace(run, part=part, parts=3).solve(Annealers()).result for part in range(3)]
    assert sum(part["blocks"] for part in parts) == comb(9, 4)
    for kind, repair in (("raw", False), ("repaired", True)):
        assert np.array_equal(sum(np.array(part["votes"][kind]) for part in parts), full["votes"][kind])
        solver = dn.Anneal(dn.SimulatedAnnealing(), 10, encoding=dn.PAPER, repair=repair, parameters={"num_sweeps": 1000})
        solution = dn.Divide(solver, 4, combine="penalty").solve(dn.Problem(table), dn.Run(seed=3))
        assert np.array_equal(solution.division.votes, full["votes"][kind])
        assert np.array_equal(solution.division.against, np.array(full["together"]) - full["votes"][kind])
        assert list(solution.dag) == list(names)


def test_only_complete_runs_are_tallied(records):
    """`graphs` returns only complete runs."""
    runs = DivisionRuns("expected 10000", 4, "sa", (1, 2))
    assert runs.graphs("lung-cancer", records) == []
    run_cases(runs.cases("lung-cancer")[:1], records, Annealers())
    assert len(runs.graphs("lung-cancer", records)) == 1
    run_cases(runs.cases("lung-cancer"), records, Annealers())
    row = tally(runs.graphs("lung-cancer", records), dn.load("lung-cancer").dag)
    assert row.correct == (4, 4)
    assert row.wrong == (0, 0)
    assert (row.unique_correct, row.unique_wrong) == (4, 0)
    assert row.cpdag_distances == (0, 0)
    assert tally([], dn.load("lung-cancer").dag) is None


def test_long_runs_are_split_into_parts():
    """A long run becomes many cases with different keys."""
    parts = DivisionRuns("expected 10000", 8, "sa", (1,)).cases("alarm-15")
    assert len(parts) > 1
    assert {case.inputs["parts"] for case in parts} == {len(parts)}
    assert len({case.key for case in parts}) == len(parts)


def test_direct_runs_distinguish_the_expected_solution_from_the_minimum(records):
    """Values of the expected solution and of the optimum are correct, also if the optimum is not the truth."""
    same = DirectRuns("monty-hall", "sa", 200, (1, 2))
    run_cases(same.cases(), records, Annealers())
    summary = same.summary(records)
    assert summary.expected_runs == summary.optimum_runs == 2
    assert summary.ratio == pytest.approx(1.0) == summary.best_ratio
    assert summary.repaired_gap == pytest.approx(0.0)
    other = experiments.sample_directly(Annealers(), "waste", "expected 10000", "sa", 50, 1).result
    truth = dn.load("waste")
    table = dn.scoring.score_table(truth.expected_data(10_000))
    bqm = dn.qubo.encode(table, dn.PAPER)
    assert other["expected_value"] == pytest.approx(
        dn.qubo.result_value(bqm, dn.qubo.qubo_vector(table, truth.dag, dn.PAPER))
    )
    assert other["optimum_value"] == pytest.approx(-dn.solvers.exact(table).score - bqm.offset)
    assert other["optimum_value"] < other["expected_value"]  # in the truth one variable has three parents
    assert other["expected_hits"] == 0


def test_plain_python_computes_the_same_scores():
    """The plain-Python scores equal those of the score table."""
    data = dn.load("lung-cancer").sample(300, 1)
    table = dn.scoring.score_table(data)
    rows = np.repeat(data.codes, data.weights, axis=1).T.tolist()
    plain = timing.plain_scores(data.arities.tolist(), rows)
    for child, name in enumerate(data.names):
        for size in range(3):
            for parents in combinations([v for v in range(5) if v != child], size):
                assert plain[child][parents] == pytest.approx(-table.local(name, [data.names[p] for p in parents]))


def test_timed_runs_report_rows_and_problems():
    """Timed runs report the number of rows and of QUBOs, and plain Python is slower."""
    assert timing.time_construction("waste", "sampled 2000 1", 3).result == {"rows": 2000, "problems": 84}
    both = timing.time_plain_python("monty-hall", "expected 500")
    assert both.result["problems"] == 1
    assert both.seconds["plain"] > both.seconds["ours"] > 0


def test_padded_data_have_equal_arities():
    """Padding changes only the arities, and `make_data` understands each kind of data."""
    data = dn.load("alarm-15").expected_data(1_000)
    padded = data.with_equal_arities()
    assert set(padded.arities) == {data.arities.max()}
    assert padded.rows == data.rows
    assert np.array_equal(padded.codes, data.codes)
    assert make_data(dn.load("alarm-15"), "expected 1000 padded").arities.tolist() == padded.arities.tolist()
    assert make_data(dn.load("waste"), "expected 1000 floor").rows < 1000
    assert make_data(dn.load("waste"), "sampled 1000 4").rows == 1000


@pytest.mark.parametrize("precision", ["single", "double"])
def test_votes_of_the_baseline_are_those_of_random_orders(precision):
    """The baseline is the best network among those that agree with random orders of the subproblem."""
    run = SubproblemRun("waste", "expected 10000", 3, "sa", seed=3, reads=2, precision=precision)
    votes = run.solve(Annealers()).result["votes"]["baseline"]
    table = dn.scoring.score_table(dn.load("waste").expected_data(10_000))
    expected = np.zeros((9, 9), dtype=int)
    chosen = dn.divide.choose_subproblems(9, 3)
    gathered = table.gather(chosen)
    for line, members in enumerate(chosen):
        small = gathered.table(line)
        seed = dn.Run(seed=3).child("random orders", *gathered.names(line)).seed
        orders = np.random.default_rng(seed).random((2, 3)).argsort(axis=1)
        best = orders[dn.scoring.score_orders(small, orders).argmax()]
        for a, b in dn.scoring.dag_of_order(small, best).edges:
            expected[members[small.position[a]], members[small.position[b]]] += 1
    assert np.array_equal(votes, expected)


def test_reports_without_matplotlib_have_no_figures_and_say_so(records, tmp_path, monkeypatch):
    """Without matplotlib the report contains the tables, but no figures."""
    (item,) = evaluation.select_items(["networks"])
    run_cases(item.cases(QUICK), records, Annealers())
    monkeypatch.setattr("dagneal.paper.figures.find_spec", lambda name: None)
    write_report([item], records, QUICK, tmp_path)
    text = (tmp_path / "report.md").read_text()
    assert "no figures, because matplotlib is not installed" in text
    assert "figures/" not in text
    assert "| MHP | monty-hall |" in text
    assert list((tmp_path / "figures").iterdir()) == []


# The conditional-Gaussian original of the Waste network


def test_discretised_probabilities_match_random_draws():
    """The probabilities and thresholds of a small conditional-Gaussian network match random draws."""
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
    with pytest.raises(dn.InputError, match="comes before its parent 'a'"):
        discretise_network({"b": variables["b"]})


def test_discretising_lauritzens_network_gives_the_waste_network():
    """The procedure loses the edge that the paper names, and gives published probabilities."""
    result = discretisation.discretise().result
    cells = {name: (paper, ours) for name, paper, ours in result["cells"]}
    assert ["WasteType", "FilterEfficiency"] in result["lost"]
    for name, value in (
        ("P(CO2Concentration High | BurningRegimen Stable)", 0.03),
        ("P(CO2Concentration High | BurningRegimen Unstable)", 0.77),
    ):
        assert cells[name][0] == value == round(cells[name][1], 2)
    assert cells["P(MetalsInWaste High | WasteType Industrial)"][1] > 0.99
    assert cells["P(MetalsInWaste High | WasteType Household)"][1] < 0.01
    assert len(cells) == 3 + 2 + 2 + 2 + 2 + 8 + 4


# Rules


def test_shares_are_compared_by_fishers_exact_test():
    """Shares differ if the p-value is below 1%."""
    assert shares_differ(0, 10, 1.0)
    assert not shares_differ(0, 10, 0.5)  # p = 0.033
    assert shares_differ(0, 20, 0.6)  # p = 0.0003
    assert not shares_differ(1, 1, 1.0)


def test_exact_tests_of_cells_match_simulation():
    """Under equal shares, the joint tests of level and trend match random draws."""
    cells = [Cell(2, 10, 4), Cell(1, 4, 3), Cell(3, 10, 5)]
    generator = np.random.default_rng(0)
    for weights in ([1, 1, 1], [-1, 0, 1]):
        draws = sum(
            w * generator.hypergeometric(c.hits + c.paper_hits, c.runs + 10 - c.hits - c.paper_hits, c.runs, 200_000)
            for c, w in zip(cells, weights, strict=True)
        )
        expected = sum(w * c.runs * (c.hits + c.paper_hits) / (c.runs + 10) for c, w in zip(cells, weights, strict=True))
        observed = sum(w * c.hits for c, w in zip(cells, weights, strict=True))
        share = np.mean(np.abs(draws - expected) >= abs(observed - expected) - 1e-9)
        assert joint_p(cells, weights) == pytest.approx(share, abs=0.005)


def test_trends_are_permuted_within_groups():
    groups = [((0, 1, 2), (False, True, True)), ((0, 1), (True, False)), ((0, 2), (True, True))]
    generator = np.random.default_rng(0)
    observed = (1 + 2) + 0 + (0 + 2)
    sums = [
        sum(np.dot(scores, generator.permutation(np.array(hits))) for scores, hits in groups) >= observed
        for _ in range(20_000)
    ]
    assert trend_p(groups) == pytest.approx(np.mean(sums), abs=0.015)


def test_cells_state_what_would_differ():
    for runs, share in ((10, 0.0), (10, 0.5), (10, 1.0), (4, 0.2)):
        differing = [hits for hits in range(runs + 1) if shares_differ(hits, runs, share)]
        text = format_differing(runs, share)
        assert (text == "none") == (not differing)
        assert all(str(hits) in text for hits in differing if hits + 1 not in differing and hits < share * runs)


def test_lung_cancer_networks_share_samples():
    """Equal seeds give equal columns, so the samples of LC4Vars and LC are not independent."""
    small, large = dn.load("lung-cancer-4"), dn.load("lung-cancer")
    assert large.names[:4] == small.names
    rows = max(priors.ROWS)
    few, many = (next(network.sample_codes(rows, 3)) for network in (small, large))
    assert few.shape == (4, rows)
    assert np.array_equal(few, many[:4])


def test_tail_probability_matches_simulation():
    """The tail probability of events with unequal probabilities matches random draws."""
    generator = np.random.default_rng(0)
    shares = [0.0, 1.0, 0.3, 0.7, 0.5]
    draws = (generator.random((200_000, 5)) < shares).sum(axis=1)
    for hits in range(6):
        wanted = min((draws >= hits).mean(), (draws <= hits).mean())
        assert priors.tail_probability(shares, hits) == pytest.approx(wanted, abs=0.005)


def test_only_requested_sizes_are_run():
    """`Setting.sizes` restricts the subproblem sizes."""
    setting = Setting("paper", sizes=(3, 15))
    (item,) = evaluation.select_items(["alarm"])
    sizes = {case.inputs["k"] for case in item.cases(setting) if case.kind == "blocks" and case.inputs["solver"] == "sa"}
    assert sizes == {3, 15}


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["alarm", "--k", "99"], "--k is 99, but alarm has the sizes 3, 4, 5, 12, 13, 14, 15 at the quick scale"),
        (["alarm", "--k", "3,16", "--scale", "paper"], "--k is 16, but alarm has the sizes 3, 4, 5, 6, 7, 8, 9, 10, 11, 12"),
        (["waste", "lung-cancer", "--k", "6"], "--k is 6, but lung-cancer has the sizes 3, 4, 5 at"),
        (["priors", "--k", "3"], "--k is only for the items of Tables 9 to 11"),
    ],
)
def test_sizes_that_an_item_does_not_have_are_refused(words, message, tmp_path, monkeypatch, capsys):
    """A size outside the table is an error that names the sizes, and nothing is run."""
    monkeypatch.chdir(tmp_path)
    assert main(["reproduce", *words]) == 2
    assert message in capsys.readouterr().err
    assert list(tmp_path.iterdir()) == []


def test_items_with_missing_runs_get_no_verdict(records, tmp_path):
    """An item with one finished run is incomplete: neither reproduced nor failed."""
    for name in ("annealing-time", "priors", "lung-cancer"):
        (item,) = evaluation.select_items([name])
        setting = Setting("paper")
        case = next(case for case in item.cases(setting) if case.kind in ("direct", "optimum"))
        small = replace(case, inputs=dict(case.inputs) | ({"reads": 20, "microseconds": 1} if case.kind == "direct" else {}))
        records.add(Record(case, runner.CaseTask(Annealers())(None, small).result, {"sample": 0.1}))
        (part,) = make_parts([item], records, setting)
        assert part.verdict == "incomplete"
        assert part.why == ""


# Records


def record(seed, **more):
    """Return a made-up record."""
    return Record(Case("direct", {"network": "waste", "seed": seed}), {"value": 1.0}, {"sample": 0.1}, **more)


def test_incomplete_last_lines_are_dropped_and_invalid_lines_reported(tmp_path):
    """An incomplete last line is dropped. Another invalid line is an error with its number."""
    path = tmp_path / "records.jsonl"
    records = Records(path, writing=True)
    records.add(record(1))
    records.add(record(2))
    records.close()
    complete = path.read_bytes()
    path.write_bytes(complete + b'{"kind": "dir')
    again = Records(path, writing=True)
    assert len(again) == 2
    assert again.get(record(1).case).result == {"value": 1.0}
    again.add(record(3))
    again.close()
    assert len(Records(path)) == 3
    path.write_bytes(complete.replace(b'"kind"', b'"kin"', 1))
    with pytest.raises(dn.InputError, match="line 1 is not a valid record"):
        Records(path)


def test_two_runs_cannot_write_the_same_records(tmp_path):
    """A second writer gets an error until the first has closed the file."""
    path = tmp_path / "records.jsonl"
    first = Records(path, writing=True)
    with pytest.raises(dn.InputError, match="another run is writing"):
        Records(path, writing=True)
    assert len(Records(path)) == 0  # reading needs no lock
    first.close()
    Records(path, writing=True).close()


def remove_times(path, target):
    """Copy records sorted by key, with all times set to the same value."""
    source = Records(path)
    records = Records(target, writing=True)
    for key in sorted(source._records):
        finished = source._records[key]
        records.add(replace(finished, seconds=dict.fromkeys(finished.seconds, 1.0), finished=0.0, cpu=0.0))
    records.close()
    return records


@pytest.mark.slow
def test_interrupted_runs_give_the_same_report_except_times(tmp_path, monkeypatch):
    """After two interruptions the report equals that of an uninterrupted run, except for times."""
    items = evaluation.select_items(["lung-cancer", "networks", "discretisation"])
    cases = evaluation.all_cases(items, QUICK)
    steady = Records(tmp_path / "steady.jsonl", writing=True)
    run_cases(cases, steady, Annealers())
    steady.close()
    add = Records.add
    for stop in (20, 45, None):
        broken = Records(tmp_path / "broken.jsonl", writing=True)

        def add_until_stop(self, new_record, stop=stop):
            if stop is not None and len(self) >= stop:
                raise KeyboardInterrupt
            add(self, new_record)

        monkeypatch.setattr(Records, "add", add_until_stop)
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
        write_report(items, remove_times(tmp_path / f"{name}.jsonl", tmp_path / f"{name}-timeless.jsonl"), QUICK, folder)
        written.append({path.relative_to(folder): path.read_bytes() for path in sorted(folder.rglob("*")) if path.is_file()})
    assert written[0] == written[1]
    assert len(written[0]) == 2 + 2 * 8


def test_a_failed_run_stops_the_others_and_keeps_finished_runs(records):
    """A failed run raises its error; finished runs stay recorded."""
    good = [Case("optimum", {"network": "lung-cancer", "data": f"expected {rows}"}) for rows in (1000, 2000)]
    bad = Case("optimum", {"network": "nowhere", "data": "expected 1000"})
    with pytest.raises(dn.InputError, match="nowhere"):
        run_cases([*good, bad], records, Annealers(), jobs=1)
    assert all(case in records for case in good)


# Reports


def test_reports_escape_special_characters(tmp_path, records):
    """HTML and Markdown reports escape titles, cells and captions."""

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


def test_items_without_records_are_reported_as_not_run(tmp_path):
    """A report without records marks every item as not run."""
    write_report(evaluation.ITEMS, Records(tmp_path / "none.jsonl"), QUICK, tmp_path)
    text = (tmp_path / "report.md").read_text()
    assert text.count("not run") >= 2 * len(evaluation.ITEMS)


@pytest.mark.slow
def test_reproduce_on_the_command_line(tmp_path, monkeypatch, capsys):
    """The command lists, runs and reports items, and rejects invalid options."""
    monkeypatch.chdir(tmp_path)
    assert main(["reproduce", "--list", "--json"]) == 0
    listed = json.loads(capsys.readouterr().out)
    assert [item["name"] for item in listed["items"]] == [item.name for item in evaluation.ITEMS]
    assert not (tmp_path / "reproduction").exists()
    assert main(["reproduce", "networks", "section-5.1", "--quiet", "--json", "-o", "out"]) == 0
    report = json.loads(capsys.readouterr().out)
    assert {item["name"]: item["verdict"] for item in report["items"]} == {
        "networks": REPRODUCED,
        "discretisation": IN_SHAPE,
    }
    before = (tmp_path / "out" / "report.md").read_text()
    assert re.search(r"\| MHP \| monty-hall \| 3, 2 \| 3, 2 \| 2 / 0 \| 0 \|", before)
    assert (tmp_path / "out" / "figures" / "network-waste.png").exists()
    assert main(["reproduce", "networks", "section-5.1", "--report", "-o", "out"]) == 0
    assert (tmp_path / "out" / "report.md").read_text() == before
    assert "reproduced" in capsys.readouterr().out
    assert main(["reproduce", "section-5.1", "--report", "-o", "out"]) == 0  # the other items stay in the report
    assert (tmp_path / "out" / "report.md").read_text() == before
    capsys.readouterr()
    assert main(["reproduce", "--report", "-o", "nothing"]) == 2
    assert "nothing has no stored runs" in capsys.readouterr().err
    (tmp_path / "empty").mkdir()
    (tmp_path / "empty" / "records.jsonl").touch()
    assert main(["reproduce", "priors", "--report", "-o", str(tmp_path / "empty")]) == 2
    assert "empty has no stored runs" in capsys.readouterr().err
    assert main(["reproduce", "table-99"]) == 2
    assert main(["reproduce", "networks", "--jobs", "0"]) == 2
    assert "jobs is 0" in capsys.readouterr().err
