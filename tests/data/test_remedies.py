"""Remedies: what to do about a source that was refused."""

import shlex
import subprocess
import sys

import polars as pl
import pytest

from dagneal.data.remedies import EXAMPLE, find_remedy

TABLE = "a,b\n" + "0,1\n1,0\n" * 20
CONTENT = {
    "empty.csv": b"",
    "blank.csv": b"\n \n",
    "picture.png": b"\x89PNG\r\n\x1a\n\0\0",
    "picture.csv": b"\x89PNG\r\n\x1a\n\0\0",
    "bad.parquet": b"nonsense",
    "two.zip": b"PK\x03\x04\0\0",
}


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "patients.csv").write_text(TABLE)
    return tmp_path


@pytest.mark.parametrize("name", ["patient.csv", "Patients.txt", "patiens", "./patients.cvs"])
def test_a_missing_file_gives_the_most_similar_name(name, folder):
    (folder / "a.csv").write_text(TABLE)
    remedy = find_remedy(name, "")
    assert (remedy.before, remedy.data, remedy.certain) == ("", "patients.csv", True)
    assert "similar" in remedy.purpose


@pytest.mark.parametrize("name", ["x.csv", "none/x.csv", "rows/*.csv", "-"])
def test_other_names_give_any_table_of_the_folder(name, folder):
    assert find_remedy(name, "").data == "patients.csv"


def test_without_tables_there_is_an_example(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "notes.csv").write_text("no separator")
    (tmp_path / "empty").mkdir()
    for name in ("x.csv", "empty"):
        assert (find_remedy(name, "").before, find_remedy(name, "").data) == (EXAMPLE, "")


@pytest.mark.parametrize("name", CONTENT)
def test_a_file_that_holds_no_text_gives_another_file(name, folder):
    (folder / name).write_bytes(CONTENT[name])
    remedy = find_remedy(name, "")
    assert (remedy.data, remedy.certain) == ("patients.csv", True)


def test_a_folder_gives_one_of_its_files(folder):
    (folder / "data" / "2026").mkdir(parents=True)
    (folder / "data" / "2026" / "t.tsv").write_text("a\tb\n1\t2\n")
    assert find_remedy("data", "").data == "data/2026/t.tsv"
    assert find_remedy(".", "").data == "patients.csv"


def test_a_text_file_is_shown(folder):
    assert find_remedy("patients.csv", "").before == "head -n 5 patients.csv"
    assert find_remedy("patients.csv", "patients.csv, line 7: x").before == "sed -n 7p patients.csv"
    assert not find_remedy("patients.csv", "").certain


@pytest.mark.parametrize("suffix", [".json", ".jsonl", ".feather"])
def test_a_conversion_gives_the_same_table(suffix, folder):
    frame = pl.read_csv("patients.csv")
    name = f"it's a table{suffix}"
    {".json": frame.write_json, ".jsonl": frame.write_ndjson, ".feather": frame.write_ipc}[suffix](name)
    remedy = find_remedy(name, "")
    words = shlex.split(remedy.before)
    assert words[0] == "python"
    subprocess.run([sys.executable, *words[1:]], check=True)
    assert pl.read_csv(remedy.data).equals(frame)


@pytest.mark.parametrize(
    ("name", "program"), [("b.xlsx", "read_excel"), ("b.sav", "read_spss"), ("b.dta", "read_stata"), ("b.rds", "readRDS")]
)
def test_files_of_other_programs_are_converted(name, program, folder):
    (folder / name).write_bytes(b"PK\x03\x04\0")
    remedy = find_remedy(name, "")
    assert program in remedy.before
    assert remedy.data == "b.csv"
    if name != "b.rds":
        compile(shlex.split(remedy.before)[2], "command", "exec")
