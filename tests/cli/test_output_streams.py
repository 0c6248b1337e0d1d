"""Closed, full and broken streams lose no result; escape sequences do not reach the terminal."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

import dagneal as dn
from support.streams import CONDITIONS, find_problem, prepare, run_command

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(os.name != "posix" or not Path("/dev/full").exists(), reason="needs sh and /dev/full"),
]


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    where = tmp_path_factory.mktemp("streams")
    prepare(where, where)
    return where


# A selection of commands and conditions; benchmarks/acceptance/streams.py has all combinations.
@pytest.mark.parametrize(
    ("name", "condition"),
    [
        *(("learn", condition) for condition in CONDITIONS if condition != "plain"),
        *(("help", condition) for condition in ("no reader", "closed output", "output to full")),
        *((name, condition) for name in ("sample", "resume") for condition in ("head", "output to full")),
    ],
)
def test_stream_failures_do_not_lose_the_result(folder, name, condition):
    assert find_problem(name, condition, run_command(name, condition, folder, folder)) == ""


def test_commands_run_without_a_writable_home(folder):
    ended = run_command("learn", "plain", folder, folder, HOME="/proc/1/nowhere", XDG_CACHE_HOME="/proc/1/nowhere")
    assert find_problem("learn", "plain", ended) == ""


def dagneal(*words, cwd, **options):
    return subprocess.run([sys.executable, "-m", "dagneal", *words], cwd=cwd, capture_output=True, **options)


@pytest.fixture
def hostile(tmp_path):
    """Write a table with escape sequences in its column names: clear screen, set title, reverse text."""
    names = ["a\x1b[2J", "b\x9b31m\x07", "c\u202ed"]
    dn.load("lung-cancer").sample(200, 1).frame().select(
        *(dn.load("lung-cancer").sample(200, 1).frame().to_series(i).alias(name) for i, name in enumerate(names))
    ).write_csv(tmp_path / "in\x1b[31m.csv")
    return tmp_path


def assert_harmless(done):
    text = done.stdout + done.stderr
    assert b"Traceback" not in text
    for bad in (b"\x1b", b"\x07", "\x9b".encode(), "\u202e".encode()):
        assert bad not in text


def test_escape_sequences_in_names_do_not_reach_the_terminal(hostile):
    data = "in\x1b[31m.csv"
    done = dagneal("learn", data, "-o", "net.json", cwd=hostile)
    assert done.returncode == 0
    assert_harmless(done)
    for words in (
        ["score", "net.json", data],
        ["compare", "net.json", "net.json"],
        ["learn", data, "--weights", "no\x1b[1m"],
        ["learn", data, "--require", "a\x1b[2J:nobody\x1b[1m"],
        ["learn", data, "--bins", "quantile:2", "--missing", "drop"],
        ["learn", "nosuch\x1b[2J.csv"],
        ["learn", data, "--nosuch\x1b[2J"],
        ["convert", "net.json", "net\x1b[2J.graphml"],
        ["encode", data],
        ["fit", "net.json", data, "-o", "net2\x1b[2J.json"],
        ["learn", data, "--divide", "3", "--rule", "penalty", "--journal", "run\x1b[2J.db"],
        ["resume", "run\x1b[2J.db"],
    ):
        done = dagneal(*words, cwd=hostile)
        assert done.returncode in (0, 2), words
        assert_harmless(done)


def test_data_for_other_programs_are_written_unchanged(tmp_path):
    network = dn.load("lung-cancer")
    odd = {name: tuple(f"{state} \x1b" for state in states) for name, states in network.states.items()}
    dn.write_bif(dn.BayesianNetwork(odd, network.parents, network.cpts, "odd"), tmp_path / "odd.bif")
    done = dagneal("networks", "odd.bif", cwd=tmp_path)
    assert done.stdout == (tmp_path / "odd.bif").read_bytes()
    assert b"\x1b" in dagneal("sample", "odd.bif", "--rows", "3", cwd=tmp_path).stdout


def test_file_names_need_not_be_utf8(tmp_path):
    dn.load("lung-cancer").sample(200, 1).frame().write_csv(tmp_path / "lc.csv")
    odd = os.fsdecode(b"lc-\xff.csv")
    os.rename(tmp_path / "lc.csv", tmp_path / odd)
    done = dagneal("learn", odd, "-o", os.fsdecode(b"out-\xfe.json"), "-o", os.fsdecode(b"out-\xfe.html"), cwd=tmp_path)
    assert (done.returncode, done.stderr.count(b"Traceback")) == (0, 0), done.stderr
    assert json.loads((tmp_path / os.fsdecode(b"out-\xfe.json")).read_text())["variables"]
    done = dagneal("learn", os.fsdecode(b"none-\xff.csv"), cwd=tmp_path)
    assert (done.returncode, done.stderr.count(b"\n")) == (2, 1), done.stderr
    os.rename(tmp_path / odd, tmp_path / "lc.csv")
    (tmp_path / os.fsdecode(b"dir-\xff")).mkdir()
    os.rename(tmp_path / "lc.csv", tmp_path / os.fsdecode(b"dir-\xff/lc.csv"))
    done = dagneal("learn", os.fsdecode(b"dir-\xff"), cwd=tmp_path)
    assert done.returncode == 0, done.stderr


def test_several_outputs_are_all_written(folder):
    done = dagneal("learn", "lc.csv", "-o", "two.html", "-o", "two.bif", cwd=folder)
    assert done.returncode == 0
    assert (folder / "two.html").read_text().startswith("<!doctype html>")
    assert dn.read_bif(folder / "two.bif").names == dn.load("lung-cancer").names
    done = dagneal("learn", "lc.csv", "-o", "two.bif", "-o", "./two.bif", cwd=folder)
    assert (done.returncode, b"are the same file" in done.stderr) == (2, True)
    done = dagneal("encode", "lc.csv", "-o", "a.bqm", "-o", "b.bqm", cwd=folder)
    assert (done.returncode, b"give this option only once" in done.stderr) == (2, True)


def test_a_failed_output_does_not_lose_the_others(folder):
    link = folder / "full.bif"
    link.symlink_to("/dev/full")
    done = dagneal("learn", "lc.csv", "-o", "full.bif", "-o", "kept.json", cwd=folder)
    assert done.returncode == 2
    assert b"saving full.bif failed" in done.stderr
    assert json.loads((folder / "kept.json").read_text())["edges"]
    assert b"log score" in done.stdout
