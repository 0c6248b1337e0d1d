"""Raw files: encodings, separators, missing headers, repeated names and damaged lines."""

import bz2
import gzip
import lzma
import zipfile

import pytest

import dagneal as dn

ROWS = [(i % 2, ("x", "y", "z")[i % 3], ("u", "v")[i // 3 % 2]) for i in range(60)]
PLAIN = "a,b,c\n" + "".join(f"{a},{b},{c}\n" for a, b, c in ROWS)
NUMBERED = "".join(f"#{i},{a},{b},{c}\n" for i, (a, b, c) in enumerate(ROWS))
STATES = {"a": ("0", "1"), "b": ("x", "y", "z"), "c": ("u", "v")}

FILES = {
    "Latin-1": (PLAIN.replace("a,b,c", "a,b,größe").encode("latin-1"), ["a", "b", "größe"]),
    "UTF-16": (PLAIN.encode("utf-16"), ["a", "b", "c"]),
    "BOM": (PLAIN.encode("utf-8-sig"), ["a", "b", "c"]),
    "repeated names": (PLAIN.replace("a,b,c", "a,a,a").encode(), ["a", "a (2)", "a (3)"]),
    "unnamed columns": (PLAIN.replace("a,b,c", "a,,").encode(), ["a", "column 2", "column 3"]),
    "quoted names": (PLAIN.replace("a,b,c", "'a1','b1','c1'").encode(), ["a1", "b1", "c1"]),
    "spaces": (PLAIN.replace(",", "   ").encode(), ["a", "b", "c"]),
    "semicolons": (PLAIN.replace(",", ";").encode(), ["a", "b", "c"]),
    "title above": (("My table\n\nof 2026\n" + PLAIN).encode(), ["a", "b", "c"]),
    "too long lines": ((PLAIN + "1,x,u,9\n" * 3).encode(), ["a", "b", "c"]),
    "too short lines": ((PLAIN + "1,x\n" * 3).encode(), ["a", "b", "c"]),
    "trailing separators": (PLAIN.replace("\n", ",\n").encode(), ["a", "b", "c"]),
    "header with an empty name": (PLAIN.replace("a,b,c", "a,b,c,").encode(), ["a", "b", "c"]),
    "row names": (
        ("a,b,c\n" + "".join(f"r{i},{a},{b},{c}\n" for i, (a, b, c) in enumerate(ROWS))).encode(),
        ["a", "b", "c"],
    ),
    "row numbers": (
        (",a,b,c\n" + "".join(f"{i},{a},{b},{c}\n" for i, (a, b, c) in enumerate(ROWS))).encode(),
        ["a", "b", "c"],
    ),
    "gzip": (gzip.compress(PLAIN.encode()), ["a", "b", "c"]),
    "bzip2": (bz2.compress(PLAIN.encode()), ["a", "b", "c"]),
    "xz": (lzma.compress(PLAIN.encode()), ["a", "b", "c"]),
}


@pytest.mark.parametrize("case", FILES)
def test_raw_files_are_read(case, tmp_path):
    content, names = FILES[case]
    path = tmp_path / {"gzip": "t.csv.gz", "bzip2": "t.csv.bz2", "xz": "t.csv.xz"}.get(case, "t.csv")
    path.write_bytes(content)
    prepared = dn.prepare(path)
    assert list(prepared.data.names) == names
    assert list(prepared.data.states) == list(STATES.values())
    assert prepared.data.rows == len(ROWS)


def test_a_zip_file_with_one_table_is_read(tmp_path):
    with zipfile.ZipFile(tmp_path / "t.zip", "w") as archive:
        archive.writestr("readme.md", "text")
        archive.writestr("t.csv", PLAIN)
    assert dn.prepare(tmp_path / "t.zip").data.rows == len(ROWS)


def test_repairs_and_lost_lines_are_warnings(tmp_path):
    path = tmp_path / "t.csv"
    path.write_bytes(FILES["Latin-1"][0] + "1,é\n".encode("latin-1"))
    kinds = {caution.kind: caution.text for caution in dn.prepare(path).cautions}
    assert "CP1252" in kinds["repaired file"]
    assert "1 line with too many or too few values" in kinds["damaged lines"]
    path.write_text(PLAIN)
    assert dn.prepare(path).cautions == ()


@pytest.mark.parametrize("separator", [",", " "])
def test_a_file_without_a_header_gets_names(separator, tmp_path):
    path = tmp_path / "t.csv"
    path.write_text("".join(f"{i / 7:.3f}{separator}{i % 5 * 0.5}{separator}{i % 2}\n" for i in range(60)))
    prepared = dn.prepare(path)
    assert prepared.data.names == ("X1", "X2", "X3")
    assert prepared.data.rows == 60


def test_a_damaged_header_is_refused_in_one_line(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text('a,"b,c\n1,2,3\n')
    with pytest.raises(dn.InputError):
        dn.prepare(path)


def test_several_raw_files_are_one_table(tmp_path):
    (tmp_path / "1.csv").write_text(PLAIN)
    (tmp_path / "2.csv").write_bytes(PLAIN.encode("utf-16"))
    assert dn.prepare(tmp_path).data.rows == 2 * len(ROWS)
