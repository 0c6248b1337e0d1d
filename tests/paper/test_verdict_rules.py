"""Test the rule of an item with made-up records. This is an example for new items."""

import pytest

from dagneal.paper import speedup
from dagneal.paper.items import IN_SHAPE, NOT_REPRODUCED, REPRODUCED, Setting
from dagneal.paper.records import Record, Records


@pytest.mark.parametrize(
    ("lung_cancer", "waste", "expected", "why"),
    [
        (1_000, 2_000, REPRODUCED, ""),
        (1, 2, IN_SHAPE, "LC, k = 3: 1 times faster, the paper"),
        (2_000, 1_000, NOT_REPRODUCED, "the mean speedup is 1000 for Waste, but 2000 for LC"),
    ],
)
def test_speedup_rule(tmp_path, lung_cancer, waste, expected, why):
    """Made-up speedups give the verdict and the reason of the rule."""
    speedups = {"lung-cancer": lung_cancer, "waste": waste}
    with Records(tmp_path / "records.jsonl", writing=True) as records:
        for case in speedup.cases(Setting()):
            records.add(Record(case, {}, {"plain": float(speedups[case.inputs["network"]]), "ours": 1.0}))
        section = speedup.section(records, Setting())
    assert section.verdict == expected
    assert why in section.why
    assert {row[-1] for row in section.tables[0].rows} == {f"{lung_cancer:,}", f"{waste:,}"}
