"""Tests of `dagneal warm-up` and of the compilation before the first `dagneal learn`."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

import dagneal as dn
from dagneal.cli import compilation

COUNT = """
import sys
from numba.core import event
from dagneal.cli import main

class Names(event.Listener):
    def on_start(self, found):
        print("compiles", found.data["dispatcher"].py_func.__name__, file=sys.stderr)
    def on_end(self, found):
        pass

event.register("numba:compile", Names())
sys.exit(main(sys.argv[1:]))
"""


COMMANDS = (
    (5,),
    (14,),
    (24,),
    (5, "--solver", "sa"),
    (5, "--solver", "sa", "--set", "repair=false"),
    (5, "--solver", "exhaustive"),
    (8, "--solver", "order"),
    (5, "--divide", "3"),
    (5, "--solver", "sa", "--divide", "3", "--rule", "penalty"),
)


def run_program(cache, *words):
    environment = os.environ | {"NUMBA_CACHE_DIR": str(cache)}
    return subprocess.run([sys.executable, "-c", COUNT, *words], env=environment, capture_output=True, text=True)


@pytest.mark.slow
def test_warm_up_compiles_all_kernels(tmp_path):
    done = run_program(tmp_path, "warm-up", "--json")
    assert done.returncode == 0, done.stderr
    folder = Path(json.loads(done.stdout)["folder"])
    assert folder.is_relative_to(tmp_path)
    for variables, *options in COMMANDS:
        data = dn.load("alarm-15").sample(300, seed=1).frame() if variables < 15 else wide_frame()
        data[:, :variables].write_csv(tmp_path / "data.csv")
        done = run_program(tmp_path, "learn", str(tmp_path / "data.csv"), *options)
        assert done.returncode == 0, done.stderr
        assert "compil" not in done.stderr


def wide_frame():
    import polars as pl

    frame = dn.load("alarm-15").sample(300, seed=1).frame()
    return pl.concat([frame, frame.rename(lambda name: f"{name}2")[::-1]], how="horizontal")


@pytest.fixture
def parts(monkeypatch, tmp_path):
    """Replace the processes of the parts by quick processes; yield a dict that maps each started part to its program."""
    programs = {}

    def start(command, **options):
        return popen([sys.executable, "-c", programs[command[-1]]], **options)

    popen = subprocess.Popen
    monkeypatch.setattr(compilation.subprocess, "Popen", start)
    return programs


def test_finished_parts_are_not_compiled_again(parts, tmp_path):
    parts |= {"search": "", "count": "raise SystemExit('no space')"}
    assert compilation.compile_parts(tmp_path, ("search", "count")) == ["count: no space"]
    assert compilation.is_compiled(tmp_path, ["search"])
    assert not compilation.is_compiled(tmp_path, ["search", "count"])
    parts |= {"search": "raise SystemExit('started again')", "count": ""}
    steps = []
    assert compilation.compile_parts(tmp_path, ("search", "count"), lambda *step: steps.append(step)) == []
    assert steps == [("compilation", 1, 1)]
    assert compilation.is_compiled(tmp_path, ["search", "count"])


def test_an_interrupt_ends_the_processes(parts, tmp_path, monkeypatch):
    parts |= {"search": "import time; time.sleep(600)"}
    started = []
    start = compilation._start
    monkeypatch.setattr(compilation, "_start", lambda part: started.append(start(part)) or started[-1])

    def interrupt(_):
        raise KeyboardInterrupt

    monkeypatch.setattr(compilation, "sleep", interrupt)
    with pytest.raises(KeyboardInterrupt):
        compilation.compile_parts(tmp_path, ("search",))
    assert started[0][1].poll() is not None
    assert not compilation.is_compiled(tmp_path, ["search"])


def test_warm_up_reports_failures_and_a_missing_folder(parts, monkeypatch, tmp_path, capsys):
    from dagneal.base import kernels
    from dagneal.cli import main

    parts |= {"search": "raise SystemExit('no space')", "count": "", "prove": "", "anneal": "", "solve": ""}
    monkeypatch.setattr(kernels, "cache_folder", lambda: tmp_path)
    assert main(["warm-up"]) == 2
    assert "compilation failed (search: no space)" in capsys.readouterr().err
    monkeypatch.setattr(kernels, "cache_folder", lambda: None)
    assert main(["warm-up"]) == 2
    assert "no folder for compiled code is writable" in capsys.readouterr().err


def test_background_compilation_is_recorded_and_other_commands_wait_for_it(parts, monkeypatch, tmp_path):
    record = str(compilation._record(tmp_path, "prove"))
    parts |= {"record": f"import time; time.sleep(0.5); open({record!r}, 'w').close()"}
    compilation.compile_later(tmp_path, "prove")
    assert not compilation.is_compiled(tmp_path, ["prove"])
    compilation.wait_for_part(tmp_path, "prove")
    assert compilation.is_compiled(tmp_path, ["prove"])
    parts.clear()
    compilation.compile_later(tmp_path, "prove")  # starts nothing, as it is compiled


def test_nobody_waits_long_for_background_compilation(parts, monkeypatch, tmp_path):
    monkeypatch.setattr(compilation, "_PATIENCE", 0.1)
    parts |= {"record": ""}
    compilation.compile_later(tmp_path, "prove")
    compilation.wait_for_part(tmp_path, "prove")
    assert not compilation.is_compiled(tmp_path, ["prove"])
