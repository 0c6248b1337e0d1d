"""Score files: the format of other tools, exact round trips, and messages for invalid files."""

import random
from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import assume, given, strategies as st

import dagneal as dn
from dagneal.base.errors import InputError
from dagneal.base.files import SCORE_FILES
from dagneal.scoring import read_scores, write_scores
from support.reference import candidate_table, join_table, random_data, random_table

JAAKKOLA = [ending for ending in SCORE_FILES if ending != ".res"]  # endings of the format that GOBNILP uses

# The format as GOBNILP documents it, with comments, blank lines and irregular white space.
PUBLISHED = """\
# scores of three variables

 3
smoke 3
-6935.86098563 0
-6460.08128571\t1 bronc
-6464.02440183 2  asia bronc

asia 1
  -527.75368829 0
# the last variable
bronc 2
-6901.14938083 0
-6425.36968091 1 smoke
"""


def entries(table):
    """Return the scores of a table in a dictionary, by child and set of parents."""
    found = {}
    for child, name in enumerate(table.names):
        names = [table.names[parent] for parent in table.candidates_of(child)]
        own = table.entries_of(child)
        for mask, score in zip(table.masks[own].tolist(), table.scores[own].tolist(), strict=True):
            bits = sum(word << 64 * place for place, word in enumerate(mask))
            found[name, frozenset(parent for bit, parent in enumerate(names) if bits >> bit & 1)] = score
    return found


def assert_equal_tables(first, second):
    assert first.names == second.names
    assert first.max_parents == second.max_parents
    for name in ("first", "candidates", "start", "masks", "scores"):
        assert np.array_equal(getattr(first, name), getattr(second, name)), name


@pytest.fixture
def write(tmp_path):
    def write_file(text, name="x.jkl"):
        path = tmp_path / name
        path.write_bytes(text if isinstance(text, bytes) else text.encode())
        return path

    return write_file


@pytest.mark.parametrize("ending", [*JAAKKOLA, ".JKL"])
def test_published_format(write, ending):
    table = read_scores(write(PUBLISHED, f"three{ending}"))
    assert table.names == ("smoke", "asia", "bronc")
    assert table.max_parents == 2
    assert table.score_name == f"three{ending}"
    assert table.required is None
    assert entries(table) == {
        ("smoke", frozenset()): -6935.86098563,
        ("smoke", frozenset({"bronc"})): -6460.08128571,
        ("smoke", frozenset({"asia", "bronc"})): -6464.02440183,
        ("asia", frozenset()): -527.75368829,
        ("bronc", frozenset()): -6901.14938083,
        ("bronc", frozenset({"smoke"})): -6425.36968091,
    }
    assert table.local("smoke", ["bronc", "asia"]) == -6464.02440183
    assert [table.candidates_of(child).tolist() for child in range(3)] == [[1, 2], [], [0]]


@pytest.mark.parametrize("newline", ["\n", "\r\n", "\r"])
def test_newlines_and_byte_order_mark(write, newline):
    table = read_scores(write(b"\xef\xbb\xbf" + PUBLISHED.replace("\n", newline).encode()))
    assert len(table.scores) == 6


def test_names_that_are_indices(write):
    table = read_scores(write("3\n0 1\n-1.5 0\n2 2\n-2 0\n-1e0 2 1 0\n1 1\n-3 0\n"))
    assert table.names == ("0", "2", "1")
    assert table.local("2", ["0", "1"]) == -1.0


@given(
    st.integers(2, 6),
    st.integers(1, 4),
    st.integers(0, 10**6),
    st.sampled_from(SCORE_FILES),
    st.sets(st.text(min_size=1, max_size=4).filter(lambda text: text.split() == [text] and text[0] != "#"), min_size=6),
)
def test_round_trip_is_exact(tmp_path_factory, n, limit, seed, ending, words):
    path = tmp_path_factory.mktemp("scores") / f"table{ending}"
    table = random_table(n, min(limit, n - 1), seed, spread=10.0 ** (seed % 7))
    names = tuple(sorted(words))[:n]
    assume(ending != ".res" or not set("".join(names)) & set(":,()"))
    table = replace(table, names=names)
    write_scores(table, path)
    again = read_scores(path)
    assert_equal_tables(table, again)
    copy = path.with_name(f"copy{ending}")
    write_scores(again, copy)
    assert path.read_bytes() == copy.read_bytes()


@given(st.integers(3, 9), st.integers(1, 3), st.integers(0, 10**6))
def test_round_trip_keeps_the_sets_that_occur(tmp_path_factory, n, limit, seed):
    table = candidate_table(n, limit, seed)
    start, masks, scores = table.pruned
    ascending = np.concatenate([lo + np.argsort(masks[lo:hi, 0]) for lo, hi in pairwise(start)])
    pruned = replace(table, start=start, masks=masks[ascending], scores=scores[ascending])
    path = tmp_path_factory.mktemp("scores") / "pruned.scores"
    write_scores(pruned, path)
    again = read_scores(path)
    assert entries(again) == entries(pruned)
    for child in range(n):
        used = {
            again.position[parent] for (name, parents) in entries(pruned) for parent in parents if name == again.names[child]
        }
        assert again.candidates_of(child).tolist() == sorted(used)
    write_scores(again, path)
    assert_equal_tables(read_scores(path), again)


def test_more_than_64_candidates(tmp_path):
    table = dn.scoring.score_table(random_data(70, 200, seed=1), max_parents=1)
    assert table.masks.shape[1] == 2
    write_scores(table, tmp_path / "wide.jkl")
    again = read_scores(tmp_path / "wide.jkl")
    assert_equal_tables(table, again)
    rng = random.Random(5)
    sets = [sorted(rng.sample(range(1, 200), rng.randint(3, 6))) for _ in range(400)]
    lines = [f"{-index} {len(each)} {' '.join(map(str, each))}" for index, each in enumerate(sets, start=1)]
    rest = "".join(f"{name} 1\n-1 0\n" for name in range(1, 200))
    (tmp_path / "wider.jkl").write_text(f"200\n0 400\n{chr(10).join(lines)}\n{rest}")
    wider = read_scores(tmp_path / "wider.jkl")
    assert wider.masks.shape[1] == 4
    for index, each in enumerate(sets, start=1):
        assert wider.local("0", map(str, each)) == -index


def test_write_sorts_by_score_and_keeps_all_digits(tmp_path):
    table = join_table(
        ["a", "b"],
        1,
        [np.array([1]), np.array([0])],
        [np.array([[0], [1]], dtype=np.uint64)] * 2,
        [np.array([-2.0, -0.1 - 0.2]), np.array([1e-300, -1e300])],
    )
    write_scores(table, tmp_path / "x.scores")
    assert (tmp_path / "x.scores").read_text() == ("2\na 2\n-0.30000000000000004 1 b\n-2.0 0\nb 2\n1e-300 0\n-1e+300 1 a\n")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "x.jkl is empty; a score file starts with the number of variables"),
        ("# only a comment\n\n", "is empty"),
        ("asia 3\n", "line 1: 'asia 3' is not a number of variables"),
        ("two\n", "line 1: 'two' is not a number of variables"),
        ("-2\n", "line 1: '-2' is not a number of variables"),
        ("1\na 1\n-1 0\n", "line 1: the number of variables is 1; give a number from 2 to 10000"),
        (f"{10**18}\n", "give a number from 2"),
        ("2\na 1\n-1 0\n", "the number of variables is 2, but the file has 1; add the missing variables"),
        ("2\na 1\n-1 0\nb 1\n-1 0\nc 1\n-1 0\n", "line 6: there is text after the last of 2 variables"),
        ("2\na 1\n-1 0\na 1\n-1 0\n", "line 4: the variable 'a' occurs twice, first in line 2"),
        ("2\na -1\n", "line 2: 'a -1' is not a variable; give its name and the number of its parent sets"),
        ("2\na 1 1\n", "line 2: 'a 1 1' is not a variable"),
        ("2\na\n", "line 2: 'a' is not a variable"),
        ("2\na 0\n", "line 2: the variable 'a' has no parent sets; give at least one"),
        ("2\na 3\n-1 0\n", "the file ends after 1 of 3 parent sets of 'a'; add the rest"),
        ("2\na 2\n-1 0\nb 1\n-1 0\n", "line 4: 'b' is not a finite score (parent set 2 of 2 of 'a')"),
        ("2\na 1\nnan 0\n", "line 3: 'nan' is not a finite score"),
        ("2\na 1\n-inf 0\n", "line 3: '-inf' is not a finite score"),
        ("2\na 1\n-1\n", "line 3: the score is followed by nothing (parent set 1 of 1 of 'a')"),
        ("2\na 1\n-1 x\n", "line 3: the score is followed by 'x'"),
        ("2\na 1\n-1 -1\n", "line 3: the score is followed by '-1'"),
        ("2\na 1\n-1 2 b\n", "line 3: the number of parents is 2, but the line names 1"),
        ("2\na 1\n-1 1 b c\n", "line 3: the number of parents is 1, but the line names 2"),
        ("2\na 1\n-1 2 b b\n", "line 3: a parent is named twice"),
        ("2\na 2\n-1 0\n-1 1 Bronc\nbronc 1\n-1 0\n", "line 4: the parent 'Bronc' is not a variable of this file"),
        ("2\na 2\n-1 0\n-1 1 a\nb 1\n-1 0\n", "line 4: 'a' is its own parent; remove this parent set"),
        (
            "3\na 3\n-1 2 b c\n-1 0\n-2 2 c b\nb 1\n-1 0\nc 1\n-1 0\n",
            "line 5: 'a' already has this parent set, in line 3; remove one of the two lines",
        ),
        (b"\x00\x01\x02", "line 1: '\\x00\\x01\\x02' is not a number of variables"),
        (b"\x93NUMPY\xff\xfe", "x.jkl is not a text file in UTF-8; give a .jkl, .scores, .jaa or .res file"),
    ],
)
def test_messages_for_invalid_files(write, text, message):
    with pytest.raises(InputError) as error:
        read_scores(write(text))
    assert message in str(error.value)
    assert "x.jkl" in str(error.value)
    assert "\n" not in str(error.value)


def test_messages_for_paths(tmp_path):
    for path, message in [
        (tmp_path / "absent.jkl", "absent.jkl cannot be read: No such file"),
        (tmp_path / "x.csv", "x.csv has an unknown format for scores; give a .jkl, .scores, .jaa or .res file"),
        (5, "path is 5; give the name of a .jkl, .scores, .jaa or .res file"),
    ]:
        with pytest.raises(InputError, match=message):
            read_scores(path)
    (tmp_path / "folder.jkl").mkdir()
    with pytest.raises(InputError, match="cannot be read: Is a directory"):
        read_scores(tmp_path / "folder.jkl")


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("a b", "the name of the variable 'a b' contains white space"),
        ("a\u2003b", "contains white space"),
        ("", "the name of the variable '' is empty"),
        ("#a", "the name of the variable '#a' starts with #, which marks a comment"),
        ("\ud800", "not valid Unicode"),
    ],
)
def test_names_that_cannot_be_written(tmp_path, name, message):
    table = replace(random_table(3, 1, seed=0), names=("x", name, "y"))
    with pytest.raises(InputError, match=message):
        write_scores(table, tmp_path / "x.jkl")
    assert list(tmp_path.iterdir()) == []


def test_messages_for_writing(tmp_path):
    table = random_table(3, 1, seed=0)
    with pytest.raises(InputError, match=r"unknown format; end the name in \.jkl, \.scores, \.jaa or \.res"):
        write_scores(table, tmp_path / "x.csv")
    with pytest.raises(InputError, match="a ScoreTable is needed, not int"):
        write_scores(5, tmp_path / "x.jkl")
    with pytest.raises(InputError, match="path is 5"):
        write_scores(table, 5)
    with pytest.raises(InputError, match="not a finite number"):
        write_scores(replace(table, scores=np.full(len(table.scores), -np.inf)), tmp_path / "x.jkl")


def test_file_name_with_control_characters(write):
    table = read_scores(write("2\na 1\n-1 0\nb 1\n-1 0\n", "x\x1b[31m.jkl"))
    assert "\x1b" not in table.score_name


@given(st.integers(0, 10**6))
def test_damaged_files_never_raise_another_error(tmp_path_factory, seed):
    generator = random.Random(seed)
    content = bytearray(PUBLISHED.encode())
    for _ in range(generator.randint(1, 4)):
        at = generator.randrange(len(content))
        kind = generator.randrange(4)
        if kind == 0:
            content[at] = generator.randrange(256)
        elif kind == 1:
            del content[at : at + generator.randint(1, 20)]
        elif kind == 2:
            content[at:at] = generator.choice([b"nan", b"1e999", b"9" * 30, b"-", b"\n", b" ", b"\x00", b"#"])
        else:
            content[at:at] = content[at : at + generator.randint(1, 60)]
    path = tmp_path_factory.mktemp("damaged") / "x.jkl"
    path.write_bytes(bytes(content))
    message = ""
    try:
        write_scores(read_scores(path), path.with_name("y.jkl"))
    except InputError as error:
        message = str(error)
    if message:
        assert str(path) in message
        assert "\n" not in message
    else:
        assert_equal_tables(read_scores(path.with_name("y.jkl")), read_scores(path))


def test_files_of_blip_with_one_line_for_each_set(tmp_path):
    path = tmp_path / "x.res"
    path.write_text("# a comment\n0: -5.5 (1)\n1: -3.25\n0: -6.0\n2: -1e-3 (0, 1)\n2: -2.0 ()\n\nScore: -8.8\n")
    table = read_scores(path)
    assert (table.names, table.max_parents) == (("0", "1", "2"), 2)
    assert [table.local("0", ["1"]), table.local("0"), table.local("1")] == [-5.5, -6.0, -3.25]
    assert [table.local("2", ["0", "1"]), table.local("2")] == [-1e-3, -2.0]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("0: -5 (1)\nnonsense\n", "line 2: 'nonsense' is not a parent set; give a line such as 4: -2797.39"),
        ("0: -5 (1)\n1: x\n", "line 2: 'x' is not a finite score"),
        ("0: -5 (1)\n", "parent sets of 1 variables; give at least 2"),
        ("0: -5 (7)\n1: -5\n", "the parent '7' is not a variable"),
        ("0: -5\n0: -4\n1: -5\n", "'0' already has this parent set, in line 1"),
        ("", "parent sets of 0 variables"),
    ],
)
def test_invalid_files_with_one_line_for_each_set(tmp_path, text, message):
    (tmp_path / "x.res").write_text(text)
    with pytest.raises(InputError, match=message):
        read_scores(tmp_path / "x.res")


@pytest.mark.parametrize("name", ["a:b", "a,b", "a(b", "Score"])
def test_names_that_a_file_with_one_line_for_each_set_cannot_contain(tmp_path, name):
    table = dn.scoring.score_table(random_data(3, 20, 1))
    with pytest.raises(InputError, match=r"in a \.res file; rename the variable"):
        write_scores(replace(table, names=(name, *table.names[1:])), tmp_path / "x.res")
