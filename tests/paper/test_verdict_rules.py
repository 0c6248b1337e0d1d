"""Test the rules of items with made-up records. The first test is an example for new items."""

import pytest

from dagneal.paper import annealing_time, dataset_size, performance, priors, reads_and_time, speedup
from dagneal.paper.items import IN_SHAPE, NOT_CONTRADICTED, NOT_JUDGED, NOT_REPRODUCED, REPRODUCED, Setting
from dagneal.paper.published import TABLE_1, TABLE_3, TABLE_7
from dagneal.paper.records import Record, Records

PAPER = Setting("paper")


@pytest.fixture
def records(tmp_path):
    with Records(tmp_path / "records.jsonl", writing=True) as opened:
        yield opened


@pytest.mark.parametrize(
    ("lung_cancer", "waste", "slowest", "expected", "why"),
    [
        (1_000, 2_000, 1.0, IN_SHAPE, "the paper's speedup is that of an algorithm"),
        (1, 2, 1.0, NOT_REPRODUCED, "LC, k = 3: 1 times faster, the paper"),
        (2_000, 1_000, 1.0, NOT_REPRODUCED, "the mean speedup is 1000 for Waste, but 2000 for LC"),
        (1_000, 2_000, 3.0, NOT_REPRODUCED, "Waste, k = 8: plain Python takes 3.0 times as long as expected"),
    ],
)
def test_speedup_rule(records, lung_cancer, waste, slowest, expected, why):
    """Made-up times give the verdict and the reason of the rule."""
    speedups = {"lung-cancer": lung_cancer, "waste": waste}
    for case in speedup.cases(PAPER):
        network, k = case.inputs["network"], case.inputs["k"]
        plain = 0.01 * TABLE_7[network][k][0] * (slowest if (network, k) == ("waste", 8) else 1.0)
        records.add(Record(case, {}, {"plain": plain, "ours": plain / speedups[network]}))
    section = speedup.section(records, PAPER)
    assert section.verdict == expected
    assert why in section.why


def add_direct_runs(records, runs, hit=lambda seed: False, value=0.97, repaired_gap=0.0):
    """Add made-up records of direct runs. `hit(seed)` tells whether a run finds the optimum, `value` is its result value."""
    for case in runs.cases():
        hits = int(hit(case.inputs["seed"]))
        result = {
            "value": -1000 * (value + 0.001 * (case.inputs["seed"] % 3)),
            "expected_value": -1000.0,
            "optimum_value": -1000.0,
            "expected_hits": hits,
            "optimum_hits": hits,
            "edges": [],
            "raw_gap": 10.0 * case.inputs["seed"],
            "repaired_gap": repaired_gap,
            "baseline_gap": 0.0,
        }
        if case not in records:
            records.add(Record(case, result, {"sample": 1.0}))


def read_section(records, hits, setting=PAPER):
    """Return the section of Table 4. `hits` maps (reads, microseconds) to our number of successes."""
    for cell, runs in reads_and_time.runs(setting).items():
        add_direct_runs(records, runs, lambda seed, cell=cell: seed <= hits[cell])
    return reads_and_time.section(records, setting)


SAME = {(1_000, 10): 0, (1_000, 999): 1, (10_000, 1): 4, (10_000, 10): 2, (10_000, 20): 2, (10_000, 50): 4, (10_000, 99): 5}


def test_equal_shares_of_few_runs_do_not_contradict_the_paper(records):
    """Even the paper's own shares do not show its trends, so the verdict is no more than `not contradicted`."""
    section = read_section(records, SAME)
    assert (section.verdict, section.basis) == (NOT_CONTRADICTED, "emulated")
    assert "our runs do not show this effect" in section.why


def test_cells_that_were_fitted_are_not_used(records):
    section = read_section(records, SAME | {(10_000, 1): 0, (10_000, 99): 10})
    assert section.verdict == NOT_CONTRADICTED
    assert [row[5] for row in section.tables[0].rows].count("no, fitted") == 2


def test_moderate_differences_in_all_cells_contradict_the_paper(records):
    """No cell differs by itself, but all cells together do."""
    section = read_section(records, {cell: min(10, hits + 4) for cell, hits in SAME.items()})
    assert section.verdict == NOT_REPRODUCED
    assert section.why.startswith("all cells together differ from the paper")


def test_an_opposite_trend_contradicts_the_paper(records):
    section = read_section(records, SAME | {(10_000, 10): 8, (10_000, 50): 0})
    assert section.verdict == NOT_REPRODUCED
    assert "the effect differs from the paper's" in section.why


@pytest.mark.parametrize(("quantum", "verdict"), [("qa", NOT_JUDGED), ("qpu", NOT_REPRODUCED)])
def test_the_table_of_the_fit_is_judged_only_on_hardware(records, quantum, verdict):
    setting = Setting("paper", quantum)
    for time, networks in annealing_time.runs(setting).items():
        for runs in networks.values():
            add_direct_runs(records, runs, value=0.99 if time == 1 else 0.5)
    section = annealing_time.section(records, setting)
    assert section.verdict == verdict


@pytest.mark.parametrize(
    ("shift", "gain", "verdict"), [(0.0, 0.0, REPRODUCED), (0.01, 0.0, IN_SHAPE), (0.0, 0.03, NOT_REPRODUCED)]
)
def test_result_values_are_compared_by_their_spread(records, shift, gain, verdict):
    for rows, runs in dataset_size.runs(PAPER).items():
        add_direct_runs(records, runs, value=TABLE_3[rows] - 0.001 + shift + (gain if rows == 1_000_000 else 0.0))
    section = dataset_size.section(records, PAPER)
    assert (section.verdict, section.basis) == (verdict, "emulated")


def test_sets_of_reads_consist_of_the_same_runs(records):
    """All numbers of reads have the same statistic, so more reads never give a worse result value."""
    for runs in (*performance.pooled_runs(PAPER).values(), *performance.simulated_runs(PAPER).values()):
        add_direct_runs(records, runs)
    table = performance.section(records, PAPER).tables[2]
    assert [row[2] for row in table.rows] == ["100", "10", "1"]
    means = [float(row[4].split()[0]) for row in table.rows]
    assert means == sorted(means)
    assert [row[8].split()[0] for row in table.rows] == ["605.00", "560.00", "110.00"]


@pytest.mark.parametrize(
    ("gap", "text"), [(0.0, "optimal in every run"), (2.0, "largest gap 2.00 of the best repaired read")]
)
def test_the_note_on_repair_follows_from_the_records(records, gap, text):
    add_direct_runs(records, performance.simulated_runs(PAPER)["waste"], repaired_gap=gap)
    assert any(text in note for note in performance.section(records, PAPER).notes)


def test_the_mean_over_eight_datasets_is_printed(records):
    """The mean has the weights of the paper's datasets: 3 expected, and 3, 1 and 1 samples."""
    for case in priors.cases(PAPER):
        if case.kind == "optimum":
            records.add(Record(case, {"truth_is_best": True}, {}))
        else:
            counts = dict.fromkeys(priors.PRIORS.values(), {10_000: 20, 100_000: 40, 1_000_000: 80}[case.inputs["rows"]])
            records.add(Record(case, {"samples": 100, "truth_is_best": counts}, {}))
    rows = priors.section(records, PAPER).tables[0].rows
    assert len(rows) == 4 * len(TABLE_1)
    assert {row[-2] for row in rows} == {f"{(3 + 3 * 0.2 + 0.4 + 0.8) / 8:.2f}"}
