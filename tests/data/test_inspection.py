"""Warnings about columns: each has a test that triggers it and one that does not."""

from itertools import permutations

import numpy as np
import pytest

import dagneal as dn
from dagneal.data import inspection
from dagneal.data.inspection import DETERMINED, DUPLICATES, RARE_STATES, inspect_columns


def table(*columns, weights=None):
    """Return a dataset with columns a, b, c, ... of these codes."""
    states = [tuple(f"s{i}" for i in range(int(max(column)) + 1)) for column in columns]
    return dn.Dataset.from_codes("abcdefgh"[: len(columns)], states, np.array(columns), weights)


def warnings(data, kind):
    return [caution for caution in inspect_columns(data) if caution.kind == kind]


@pytest.fixture
def noise():
    return np.random.default_rng(5).integers(0, 3, 300)


# States with few rows


def test_states_with_few_rows_are_reported(noise):
    rare = np.concatenate([np.zeros(290), np.arange(1, 11)]).astype(int)
    (caution,) = warnings(table(noise, rare), RARE_STATES)
    assert caution.columns == ("b",)
    assert "1 column has states in fewer than 5 rows: 'b' (10 of 11 states)" in caution.text
    assert "option rare" in caution.text


def test_states_with_five_rows_are_no_reason_for_a_warning(noise):
    enough = np.concatenate([np.zeros(295), np.ones(5)]).astype(int)
    assert warnings(table(noise, enough), RARE_STATES) == []


def test_declared_states_that_do_not_occur_are_no_reason_for_a_warning():
    data = dn.load("lung-cancer").expected_data(10_000)
    assert warnings(data.with_equal_arities(), RARE_STATES) == warnings(data, RARE_STATES) == []


def test_rows_count_with_their_weights():
    data = table([0, 1, 0, 1], [0, 0, 1, 1], weights=np.array([50, 50, 50, 4]))
    assert warnings(data, RARE_STATES) == []  # each state has 54 or 100 rows
    data = table([0, 1, 0], [0, 0, 1], weights=np.array([50, 50, 4]))
    assert warnings(data, RARE_STATES)[0].columns == ("b",)


def test_the_columns_with_most_rare_states_come_first():
    lines = [np.minimum(np.arange(200), k) for k in range(1, 8)]
    (caution,) = warnings(table(*lines), RARE_STATES)
    assert caution.columns == tuple("gfedcba")
    assert "'g' (7 of 8 states), 'f' (6 of 7 states), 'e' (5 of 6 states), 'd' (4 of 5 states) and 3 more" in caution.text


# Columns that duplicate or determine each other


def test_duplicate_columns_are_reported_with_any_names_of_states(noise):
    data = table(noise, np.array([2, 0, 1])[noise], noise[::-1])
    (caution,) = warnings(data, DUPLICATES)
    assert caution.columns == ("a", "b")
    assert caution.text.startswith("Columns 'a' and 'b' carry the same information: each determines the other.")
    assert warnings(data, DETERMINED) == []


def test_columns_that_differ_in_one_row_are_no_duplicates(noise):
    other = noise.copy()
    other[7] = (other[7] + 1) % 3
    assert warnings(table(noise, other), DUPLICATES) == []
    assert warnings(table(noise, other), DETERMINED) == []


def test_groups_of_duplicates_are_complete(noise):
    other = noise[::-1].copy()
    data = table(noise, other, noise, (other + 1) % 3, noise)
    assert [caution.columns for caution in warnings(data, DUPLICATES)] == [("a", "c", "e"), ("b", "d")]


def test_a_column_that_determines_others_is_reported():
    area = np.random.default_rng(1).integers(0, 12, 500)
    data = table(area // 4, area, area // 2, np.random.default_rng(2).integers(0, 2, 500))
    found = {caution.columns[0]: set(caution.columns[1:]) for caution in warnings(data, DETERMINED)}
    assert found == {"b": {"a", "c"}, "c": {"a"}}
    assert warnings(data, DETERMINED)[0].text.startswith("Column 'b' determines 'a' and 'c'. Such a link is a definition")
    assert warnings(data, DUPLICATES) == []


def test_chance_does_not_count_as_a_dependency():
    """A column with nearly as many states as rows determines any other column."""
    generator = np.random.default_rng(3)
    data = table(np.concatenate([np.arange(60), [0, 1]]), generator.integers(0, 2, 62))
    assert data.rows == 62
    assert warnings(data, DETERMINED) == []


def test_constant_columns_are_left_out(noise):
    data = table(noise, np.zeros(300, dtype=int), np.zeros(300, dtype=int))
    assert warnings(data, DETERMINED) == warnings(data, DUPLICATES) == []


@pytest.mark.parametrize("seed", range(20))
def test_dependencies_agree_with_a_simple_definition(seed):
    generator = np.random.default_rng(seed)
    base = generator.integers(0, 6, (2, 400))
    columns = [base[0], base[1]]
    for _ in range(4):  # maps of random columns
        source = columns[generator.integers(len(columns))]
        columns.append(generator.integers(0, 4, 6)[source])
    data = table(*columns)
    rows = list(zip(*(line.tolist() for line in columns), strict=True))
    expected = set()
    for a, b in permutations(range(len(columns)), 2):
        pairs = {(row[a], row[b]) for row in rows}
        if len(pairs) == len({first for first, _ in pairs}) and len({second for _, second in pairs}) > 1:
            expected.add((data.names[a], data.names[b]))
    groups = [caution.columns for caution in warnings(data, DUPLICATES)]
    group_of = {name: group for group in groups for name in group}
    found = {(a, b) for group in groups for a, b in permutations(group, 2)}
    for caution in warnings(data, DETERMINED):
        for other in caution.columns[1:]:
            sources = group_of.get(caution.columns[0], caution.columns[:1])
            found |= {(a, b) for a in sources for b in group_of.get(other, (other,))}
    assert found == expected


def test_rows_that_are_not_merged_give_the_same_warnings(tmp_path):
    generator = np.random.default_rng(4)
    area = generator.integers(0, 20, 5_000)
    codes = np.array([area, area // 4, generator.integers(0, 3, 5_000), area // 4, (np.arange(5_000) < 3).astype(int)])
    text = "a,b,c,d,e\n" + "\n".join(",".join(f"v{value}" for value in row) for row in codes.T.tolist()) + "\n"
    (tmp_path / "x.csv").write_text(text)
    merged, packed = (dn.read(tmp_path / "x.csv", merge=merge) for merge in ("yes", "no"))
    assert packed.distinct_rows is None
    assert inspect_columns(packed) == inspect_columns(merged)
    assert {caution.kind for caution in inspect_columns(packed)} == {RARE_STATES, DUPLICATES, DETERMINED}


def test_an_exception_outside_the_sample_is_found(monkeypatch):
    monkeypatch.setattr(inspection, "_SAMPLE", 8)
    line = np.random.default_rng(6).integers(0, 4, 3_000)
    extra = np.random.default_rng(7).integers(0, 50, 3_000)
    other = line.copy()
    other[1_234] = (other[1_234] + 1) % 4
    assert warnings(table(line, line, extra), DUPLICATES) != []
    assert warnings(table(line, other, extra), DUPLICATES) == []
