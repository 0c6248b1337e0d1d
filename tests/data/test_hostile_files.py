"""Files with hostile names and cells are read correctly."""

import pytest

import dagneal as dn
from support.hostile import READ_RIGHT, ROWS


def same_under(ending, text):
    return {"plain": text, "CRLF": text.replace("\n", "\r\n"), "BOM": "\ufeff" + text}[ending]


@pytest.mark.parametrize("ending", ["plain", "CRLF", "BOM"])
@pytest.mark.parametrize("case", READ_RIGHT)
def test_it_is_read_right(case, ending, tmp_path):
    text, names, states = READ_RIGHT[case]
    file = tmp_path / "a.csv"
    file.write_bytes(same_under(ending, text).encode())
    data = dn.read(file)
    if ending == "CRLF":  # inside quotes a line ends as it was written
        names = tuple(name.replace("\n", "\r\n") for name in names)
        states = tuple(tuple(state.replace("\n", "\r\n") for state in each) for each in states)
    assert data.names == names
    assert data.states == states
    assert data.rows == len(ROWS)
