"""Unusual files on the command line: names stay unchanged in all outputs, or one clear line refuses the file."""

import subprocess
import sys

import pytest

import dagneal as dn
from dagneal.cli import main
from support.hostile import READABLE, REFUSED


@pytest.mark.parametrize("case", READABLE)
def test_unusual_names_are_learned_printed_and_saved(case, tmp_path, capsys):
    text = READABLE[case][0]
    (tmp_path / "a.csv").write_bytes(text.encode())
    for ending in ("html", "json", "graphml", "dot"):
        out = tmp_path / f"a.{ending}"
        assert main(["learn", str(tmp_path / "a.csv"), "-o", str(out), "--quiet"]) == 0
        assert out.exists()
        printed = capsys.readouterr().out
        assert max(map(len, printed.splitlines())) < 1000
    page = (tmp_path / "a.html").read_text(encoding="utf-8")
    assert page.count("<script") == 3  # the data of the page, and its two programs
    assert "<img" not in page
    assert "<b>" not in page
    for ending in ("json", "graphml"):  # the saved files can be read
        assert main(["convert", str(tmp_path / f"a.{ending}"), str(tmp_path / "converted.dot")]) == 0


@pytest.mark.parametrize("case", READABLE)
def test_a_bif_file_has_the_same_names(case, tmp_path):
    text, names, states = READABLE[case]
    (tmp_path / "a.csv").write_bytes(text.encode())
    assert main(["learn", str(tmp_path / "a.csv"), "-o", str(tmp_path / "a.bif"), "--quiet"]) == 0
    assert dn.load(str(tmp_path / "a.bif")).states == dict(zip(names, states, strict=True))
    assert main(["learn", str(tmp_path / "a.csv"), "-o", str(tmp_path / "a.bif"), "--safe-labels", "--quiet"]) == 0
    safe = dn.load(str(tmp_path / "a.bif"))
    assert len(safe.names) == 3
    assert all(name.isidentifier() for name in safe.names)


@pytest.mark.parametrize("case", REFUSED)
def test_bad_files_are_refused_in_one_line(case, tmp_path, capsys):
    content, message = REFUSED[case]
    (tmp_path / "a.csv").write_bytes(content)
    assert main(["learn", "--strict", str(tmp_path / "a.csv"), "-o", str(tmp_path / "a.html"), "--quiet"]) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert err.count("\n") == 1
    assert message in err
    assert not (tmp_path / "a.html").exists()


@pytest.mark.slow
def test_names_are_printed_in_utf8_on_an_ascii_terminal(tmp_path):
    (tmp_path / "a.csv").write_bytes(READABLE["emoji"][0].encode())
    command = [sys.executable, "-m", "dagneal", "learn", str(tmp_path / "a.csv"), "--quiet"]
    done = subprocess.run(command, capture_output=True, env={"PYTHONIOENCODING": "ascii", "LC_ALL": "C"}, timeout=600)
    assert done.returncode == 0
    assert "日本語" in done.stdout.decode()
