"""Files with unusual names and cells are read correctly."""

import pytest

import dagneal as dn
from support.hostile import READABLE, ROWS


def convert(text, ending):
    return {"plain": text, "CRLF": text.replace("\n", "\r\n"), "BOM": "\ufeff" + text}[ending]


@pytest.mark.parametrize("ending", ["plain", "CRLF", "BOM"])
@pytest.mark.parametrize("case", READABLE)
def test_unusual_names_and_cells_are_read_unchanged(case, ending, tmp_path):
    text, names, states = READABLE[case]
    file = tmp_path / "a.csv"
    file.write_bytes(convert(text, ending).encode())
    data = dn.read(file)
    if ending == "CRLF":  # line endings inside quotes are kept
        names = tuple(name.replace("\n", "\r\n") for name in names)
        states = tuple(tuple(state.replace("\n", "\r\n") for state in column) for column in states)
    assert data.names == names
    assert data.states == states
    assert data.rows == len(ROWS)
