"""Options for limits of time, cores and memory."""

import json
import subprocess
import sys

import pytest

import dagneal as dn
from dagneal.cli import main
from support.waiting import TIMEOUT


def test_initial_network_and_time_limit(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    assert main(["sample", "lung-cancer", "--rows", "1000", "-o", "lc.csv"]) == 0
    capsys.readouterr()
    assert main(["learn", "lc.csv", "--initial", "lung-cancer", "--time-limit", "5", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["optimal"]
    assert main(["learn", "lc.csv", "--initial", "waste"]) == 2
    assert main(["learn", "lc.csv", "--time-limit", "0"]) == 2
    assert "--time-limit is 0.0" in capsys.readouterr().err


@pytest.mark.slow
def test_the_number_of_jobs_does_not_change_the_result(tmp_path, capsys):
    file = tmp_path / "a.csv"
    dn.load("alarm-15").sample(500, 1).frame().write_csv(file)
    options = [
        "--solver",
        "sa",
        "--divide",
        "4",
        "--set",
        "subproblems=cover:2",
        "--reads",
        "5",
        "--bootstrap",
        "4",
        "--json",
    ]
    reports = []
    for jobs in ("1", "2"):
        assert main(["learn", str(file), *options, "--jobs", jobs]) == 0
        reports.append(json.loads(capsys.readouterr().out))
    for key in ("edges", "score", "votes", "bootstrap"):
        assert reports[0][key] == reports[1][key]


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (["--jobs", "0"], "jobs is 0"),
        (["--memory", "much"], "'much' is not an amount of memory"),
        (["--memory", "0GB"], "less than 1 byte of memory"),
    ],
)
def test_invalid_machine_limits_are_reported(options, words, tmp_path, capsys):
    file = tmp_path / "a.csv"
    dn.load("lung-cancer").sample(50, 1).frame().write_csv(file)
    assert main(["learn", str(file), *options]) == 2
    assert words in capsys.readouterr().err


@pytest.mark.slow
def test_a_command_stops_if_it_exceeds_the_memory_limit(tmp_path):
    """The command ends with a one-line message and writes no file."""
    file, out = tmp_path / "a.csv", tmp_path / "a.bif"
    dn.load("lung-cancer").sample(50, 1).frame().write_csv(file)
    code = (
        "import sys, dagneal.base.machine as m\n"
        "before, calls = m.memory_use, []\n"
        "m.memory_use = lambda: (calls.append(1), 10**9 if len(calls) > 3 else 1000)[1]\n"
        "import time, dagneal.cli.learn_command as c\n"
        "run = c.run\n"
        "c.run = lambda options: (time.sleep(600), run(options))\n"
        "from dagneal.cli import main\n"
        "sys.exit(main(sys.argv[1:]))\n"
    )
    command = [sys.executable, "-c", code, "learn", str(file), "--memory", "500MB", "-o", str(out)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=TIMEOUT)
    assert done.returncode == 2
    message = "1.0 GB of memory are in use, but --memory allows 500 MB; allow more, or use less data"
    assert done.stderr.strip() == f"dagneal: {message}"
    assert not out.exists()


@pytest.mark.slow
@pytest.mark.skipif(sys.platform != "linux", reason="address spaces are limited on Linux")
def test_a_small_address_space_is_reported_in_one_line(tmp_path):
    dn.load("lung-cancer").sample(50, 1).frame().write_csv(tmp_path / "lc.csv")
    for kilobytes in (150_000, 900_000):
        done = subprocess.run(
            ["sh", "-c", f'ulimit -v {kilobytes}; exec "$@"', "sh", sys.executable, "-m", "dagneal", "learn", "lc.csv"],
            cwd=tmp_path,
            capture_output=True,
            text=True,
        )
        assert (done.returncode, done.stdout) == (2, "")
        assert done.stderr.startswith("dagneal: ulimit -v allows")
        assert done.stderr.count("\n") == 1
