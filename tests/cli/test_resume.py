"""`dagneal resume`: a journal can continue its own run only."""

import html
import json
import os
import pickle
import re
import shlex
import sqlite3
import subprocess
import sys
from contextlib import suppress
from pathlib import Path

import pytest

import dagneal as dn
from dagneal.cli import main, resume_command
from dagneal.cli.configuration import parse
from dagneal.runtime.journalfile import MARK

SMALL = ["--divide", "3", "--solver", "sa", "--reads", "3", "--rule", "penalty"]


@pytest.fixture(scope="module")
def rows(tmp_path_factory):
    path = tmp_path_factory.mktemp("rows") / "rows.csv"
    dn.load("lung-cancer").sample(200, 1).frame().write_csv(path)
    return str(path)


def store_command(path, words, folder=None):
    """Create a journal with the configuration of a command."""
    options = parse(words)
    return remember(path, options.command, options.configuration, folder)


def remember(path, name, configuration, folder=None):
    """Create a journal that stores a command."""
    with dn.SqliteJournal(path) as journal:
        place = str(path.parent) if folder is None else folder
        journal.remember("command", {"name": name, "folder": place, "configuration": configuration})
    return path


def error_of(capsys, *words, silent=True):
    """Run a command that must fail with a one-line message; return the message."""
    capsys.readouterr()
    status = None
    with suppress(SystemExit):  # raised by the resumed command
        status = main(list(words))
    assert status in (None, 2)
    captured = capsys.readouterr()
    lines = [line for line in captured.err.splitlines() if not line.startswith("note: ")]
    assert len(lines) == 1, captured.err
    assert "Traceback" not in captured.err
    assert captured.out == "" or not silent
    return lines[0]


VALID = {"data": "rows.csv", "journal": "run.db"}


@pytest.mark.parametrize(
    ("name", "configuration"),
    [
        ("sample", {"network": "lung-cancer", "output": "victim.csv"}),
        ("resume", {"file": "run.db"}),
        ("networks", {}),
        ("convert", {"source": "lung-cancer", "target": "victim.json"}),
        ("confidence", {"network": "a.json", "data": "rows.csv", "output": ["victim.json"]}),
        ("--version", {}),
        ("learn", {"data": "rows.csv"}),
        ("learn", {"data": "rows.csv", "journal": "other.db"}),
        ("learn", {"data": "rows.csv", "journal": ["run.db", "other.db"]}),
        ("learn", VALID | {"no_such_option": 1}),
        ("learn", VALID | {"help": True}),
        ("learn", VALID | {"config": "rows.csv"}),
        ("learn", VALID | {"origin": "/"}),
        ("learn", VALID | {"max_parents": "many"}),
        ("learn", VALID | {"max_parents": True}),
        ("learn", VALID | {"json": "yes"}),
        ("learn", VALID | {"solver": "nosuch"}),
        ("learn", VALID | {"settings": [1]}),
        ("learn", VALID | {"settings": {"": 1}}),
        ("learn", VALID | {"output": {"a": 1}}),
        ("learn", VALID | {"columns": 7.5, "bins": [["a"]]}),
        ("learn", {"data": "rows\0.csv", "journal": "run.db"}),
        ("learn", {"data": ["rows.csv"], "journal": "run.db"}),
        ("learn", {"data": "--json", "journal": "--journal"}),
        ("learn", []),
        ("learn", None),
        ("learn", "rows.csv --journal run.db"),
        (["learn"], VALID),
        (None, VALID),
        (7, VALID),
    ],
    ids=repr,
)
def test_invalid_stored_commands_are_not_run(name, configuration, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "rows.csv").write_text("a,b\n0,1\n1,0\n")
    (tmp_path / "victim.csv").write_text("precious")
    remember(tmp_path / "run.db", name, configuration)
    before = sorted(os.listdir(tmp_path))
    assert "run" in error_of(capsys, "resume", "run.db")
    assert (tmp_path / "victim.csv").read_text() == "precious"
    assert sorted(os.listdir(tmp_path)) == before


@pytest.mark.parametrize("folder", [7, None, ["/"], "/no/such/folder", "relative", "", "a\0b", "/dev/null"], ids=repr)
def test_invalid_folders_are_reported(folder, rows, tmp_path, capsys):
    path = tmp_path / "run.db"
    with dn.SqliteJournal(path) as journal:
        configuration = {"data": rows, "journal": str(path)}
        journal.remember("command", {"name": "learn", "folder": folder, "configuration": configuration})
    assert "folder" in error_of(capsys, "resume", str(path))


@pytest.mark.parametrize(
    "command", [[], "learn", 3, True, {"folder": "/"}, {"configuration": []}, {"name": {}, "configuration": {}}], ids=repr
)
def test_stored_commands_of_wrong_types_are_reported(command, tmp_path, capsys):
    with dn.SqliteJournal(tmp_path / "run.db") as journal:
        journal.remember("command", command)
    assert "run the command again" in error_of(capsys, "resume", str(tmp_path / "run.db"))


@pytest.mark.parametrize("settings", [[], [1, 2], "text", 3, {"the command": {"a": [1]}}], ids=repr)
def test_stored_settings_of_wrong_types_are_reported(settings, rows, tmp_path, capsys):
    with dn.SqliteJournal(tmp_path / "run.db") as journal:
        journal.remember("settings", settings)
    text = error_of(capsys, "learn", rows, *SMALL, "--journal", str(tmp_path / "run.db"))
    assert "run.db" in text


@pytest.mark.slow
def test_code_in_the_folder_of_a_journal_is_not_imported(rows, tmp_path, monkeypatch, capsys):
    """The command line must repeat the sampler, which is imported from the current folder."""
    trap, home = tmp_path / "trap", tmp_path / "home"
    trap.mkdir()
    home.mkdir()
    for name in ("mine", "multiprocessing", "polars", "dimod", "numba", "distributed"):
        (trap / f"{name}.py").write_text(f"open({str(tmp_path / 'executed')!r}, 'w').close()\nraise SystemExit(9)\n")
    sampler = ["--sampler", "mine:Mine"]
    words = ["learn", rows, *sampler, "--divide", "3", "--reads", "3", "--rule", "penalty"]
    path = str(store_command(trap / "run.db", [*words, "--journal", "run.db"]))
    monkeypatch.chdir(home)
    assert f"run dagneal resume {path} --sampler mine:Mine" in error_of(capsys, "resume", path)
    other = error_of(capsys, "resume", path, "--sampler", "other:Other")
    assert "--sampler is other:Other, but the run used mine:Mine" in other
    assert "cannot import sampler 'mine:Mine'" in error_of(capsys, "resume", path, *sampler)  # `home` has no such module
    (home / "mine.py").write_text("from dwave.samplers import TabuSampler as Mine\n")
    # A new process, which looks for modules in the current folder first.
    code = "import sys; sys.path.insert(0, ''); from dagneal.cli import main; sys.exit(main(sys.argv[1:]))"
    program = [sys.executable, "-c", code, "resume", path, *sampler]
    done = subprocess.run(program, cwd=home, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    with resume_command._work_in(str(trap), str(home)):  # like a worker process
        subprocess.run([sys.executable, "-c", "import multiprocessing"], check=True)
    assert not (tmp_path / "executed").exists()


def test_clusters_and_profiles_must_be_repeated(rows, tmp_path, capsys):
    path = store_command(
        tmp_path / "run.db", ["learn", rows, *SMALL, "--journal", "run.db", "--dask", "tcp://example.org:8786"]
    )
    assert "--dask tcp://example.org:8786" in error_of(capsys, "resume", str(path))
    path = store_command(
        tmp_path / "qpu.db", ["learn", rows, "--solver", "qpu", "--set", "profile=mine", "--journal", "qpu.db"]
    )
    assert "--profile mine" in error_of(capsys, "resume", str(path))
    assert "--profile is other" in error_of(capsys, "resume", str(path), "--profile", "other")
    path = store_command(tmp_path / "two.db", ["reproduce", "networks", "--journal", "two.db"])
    assert "does not support --dask" in error_of(capsys, "resume", str(path), "--dask", "local:2")
    assert "--sampler is a:B" in error_of(capsys, "resume", str(path), "--sampler", "a:B")


@pytest.mark.parametrize("name", ["dwave.conf", ".numba_config.yaml", "matplotlibrc"])
def test_settings_of_other_packages_in_the_folder_of_a_journal_are_reported(name, rows, tmp_path, monkeypatch, capsys):
    """D-Wave, Numba and Matplotlib read settings from the current folder."""
    (tmp_path / "there").mkdir()
    (tmp_path / "there" / name).write_text("")
    path = store_command(tmp_path / "there" / "run.db", ["learn", rows, *SMALL, "--journal", "run.db"])
    monkeypatch.chdir(tmp_path)
    assert f"there/{name} would affect" in error_of(capsys, "resume", str(path))


@pytest.mark.slow
def test_output_paths_are_shown_before_anything_is_written(rows, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "deep").mkdir()
    words = ["learn", rows, "--solver", "sa", "--reads", "3", "--quiet", "--journal", "run.db"]
    words += ["-o", "deep/../out.html", "--samples", str(tmp_path / "deep" / "reads.json")]
    assert main(words) == 0
    command = re.search("<pre>(dagneal learn .*)", (tmp_path / "out.html").read_text())[1]
    assert vars(parse(shlex.split(html.unescape(command))[1:])) == vars(parse(words))
    (tmp_path / "out.html").unlink()
    monkeypatch.chdir("/")
    capsys.readouterr()
    assert main(["resume", str(tmp_path / "run.db")]) == 0
    notes = capsys.readouterr().err.splitlines()
    assert f"note: -o writes to {tmp_path / 'out.html'}" in notes
    assert f"note: --samples writes to {tmp_path / 'deep' / 'reads.json'}" in notes
    assert os.getcwd() == "/"
    page = (tmp_path / "out.html").read_text()
    assert command in page  # the command of the run, not `dagneal resume`
    assert "dagneal resume" not in page
    remember(tmp_path / "two.db", "reproduce", {"items": ["networks"], "scale": "huge", "journal": "two.db"})
    assert "the stored command is invalid" in error_of(capsys, "resume", str(tmp_path / "two.db"))


def test_a_resumed_reproduction_shows_its_folder(tmp_path, monkeypatch, capsys):
    from dagneal.cli import reproduce_command

    monkeypatch.setattr(reproduce_command, "_reproduce", lambda *_: [])
    path = store_command(tmp_path / "run.db", ["reproduce", "networks", "--journal", "run.db"])
    assert main(["resume", str(path)]) == 0
    assert f"note: -o writes to {tmp_path / 'reproduction'}" in capsys.readouterr().err


@pytest.mark.slow
def test_journal_values_are_never_executed(rows, tmp_path, monkeypatch, capsys):
    """Pickles are not loaded, and invalid values are reported."""

    class Trap:
        def __reduce__(self):
            return Path.touch, (tmp_path / "executed",)

    monkeypatch.chdir(tmp_path)
    for words in ([*SMALL], ["--bootstrap", "3"]):
        path = tmp_path / f"{words[0]}.db"
        assert main(["learn", rows, *words, "--journal", str(path)]) == 0
        with sqlite3.connect(path) as file:
            keys = [key for (key,) in file.execute("SELECT key FROM pieces")]
        file.close()
        with dn.SqliteJournal(path) as journal:
            journal.put(dict.fromkeys(keys, pickle.dumps(Trap())))
        assert "dagneal did not write this journal" in error_of(
            capsys, "resume", str(path), silent="--bootstrap" not in words
        )
    assert main(["reproduce", "networks", "--journal", "three.db", "-o", "there", "--quiet"]) == 0
    for value in (pickle.dumps(Trap()), b'{"kind": "x", "inputs": {}, "result": {}, "seconds": {}}'):
        with sqlite3.connect("three.db") as file:
            keys = [key for (key,) in file.execute("SELECT key FROM pieces")]
        file.close()
        with dn.SqliteJournal("three.db") as journal:
            journal.put(dict.fromkeys(keys, value))
        (tmp_path / "there" / "records.jsonl").unlink(missing_ok=True)
        assert "dagneal did not write this journal" in error_of(capsys, "resume", "three.db")
    assert not (tmp_path / "executed").exists()


def database(path, *statements, mark=MARK):
    with sqlite3.connect(path) as file:
        file.execute(f"PRAGMA application_id = {mark}")
        for statement in statements:
            file.execute(statement)
    file.close()


def malformed(folder):
    """Create files that are not journals, and return their names."""
    (folder / "empty").touch()
    (folder / "text").write_text("hello\n" * 2000)
    (folder / "folder").mkdir()
    os.mkfifo(folder / "pipe")
    (folder / "loop").symlink_to(folder / "loop")
    (folder / "short").write_bytes(b"SQLite format 3\0")
    database(folder / "foreign", "CREATE TABLE notes (text)", mark=7)
    database(folder / "bare")
    database(folder / "columns", "CREATE TABLE pieces (a, b)", "CREATE TABLE run (name, value)")
    database(
        folder / "views",
        "CREATE VIEW pieces AS SELECT 1 AS key",
        "CREATE VIEW run AS SELECT 'command' AS name, '{}' AS value",
    )
    for name, value in {"null": None, "blob": b"\xff\xfe", "number": 4}.items():
        remember(folder / name, "learn", {})
        with sqlite3.connect(folder / name) as file:
            file.execute("UPDATE run SET value = ?", [value if value is not None else b"\0"])
        file.close()
    remember(folder / "trigger", "learn", {})
    with sqlite3.connect(folder / "trigger") as file:
        file.execute("CREATE TRIGGER evil AFTER INSERT ON pieces BEGIN DELETE FROM pieces; END")
    file.close()
    remember(folder / "size", "learn", {})
    content = bytearray((folder / "size").read_bytes())
    content[16:18] = b"\x12\x34"
    (folder / "size").write_bytes(content)
    (folder / "noise").write_bytes(content[:100] + os.urandom(20_000))
    remember(folder / "hot", "learn", {})
    (folder / "hot-journal").write_bytes(b"\xd9\xd5\x05\xf9\x20\xa1\x63\xd7" + bytes(600))
    return [
        *("empty", "text", "folder", "pipe", "loop", "short", "foreign", "bare", "columns", "views"),
        *(
            "null",
            "blob",
            "number",
            "trigger",
            "size",
            "noise",
            "hot",
            "no such",
            "text/inside",
        ),
    ]


def test_files_that_are_not_journals_are_reported(rows, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    for name in malformed(tmp_path):
        error_of(capsys, "resume", name)
        if name not in ("empty", "no such", "trigger", "null", "blob", "number", "size"):  # new or recovered journals
            error_of(capsys, "learn", rows, *SMALL, "--journal", name)
    assert "null byte" in error_of(capsys, "resume", "a\0b")
    assert "is not a file" in error_of(capsys, "resume", ".")
    assert (tmp_path / "empty").stat().st_size == 0


def test_a_manipulated_schema_has_no_effect(rows, tmp_path, monkeypatch, capsys):
    """Valid rows are copied to a new journal, but triggers are not."""
    monkeypatch.chdir(tmp_path)
    words = ["learn", rows, *SMALL, "--journal", "run.db", "--json"]
    assert main(words) == 0
    edges = json.loads(capsys.readouterr().out)["edges"]
    with sqlite3.connect("run.db") as file:
        before = dict(file.execute("SELECT key, value FROM pieces"))
        file.execute("CREATE TRIGGER evil AFTER INSERT ON pieces BEGIN DELETE FROM pieces; END")
    file.close()
    assert main(["resume", "run.db"]) == 0
    captured = capsys.readouterr()
    assert "its tables are not those of a journal" in captured.err
    assert json.loads(captured.out)["edges"] == edges
    with dn.SqliteJournal("run.db") as journal:
        assert journal.get(before) == before
        journal.put({"more": b"1"})
        assert journal.get(["more"]) == {"more": b"1"}


def test_the_name_of_a_journal_need_not_be_utf8(rows, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    name = os.fsdecode(b"run-\xff.db")
    store_command(tmp_path / name, ["learn", rows, *SMALL, "--journal", name, "-o", "out.json"])
    assert main(["resume", name, "--quiet"]) == 0
    assert (tmp_path / "out.json").exists()
    (tmp_path / name).write_bytes(b"hello")
    assert "run-\\udcff.db cannot be used" in error_of(capsys, "resume", name)


@pytest.mark.slow
def test_a_journal_in_use_by_another_process_is_reported(rows, tmp_path, capsys):
    path = store_command(tmp_path / "run.db", ["learn", rows, *SMALL, "--journal", "run.db"])
    code = (
        "import sqlite3, sys\nfile = sqlite3.connect(sys.argv[1], isolation_level=None)\n"
        "file.execute('BEGIN IMMEDIATE')\nfile.execute('SELECT * FROM run').fetchall()\n"
        "print('ready', flush=True)\ninput()\n"
    )
    program = [sys.executable, "-c", code, str(path)]
    with subprocess.Popen(program, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as other:
        assert other.stdout.readline() == "ready\n"
        assert "in use by another process" in error_of(capsys, "resume", str(path))
        other.communicate("\n")
    assert main(["resume", str(path), "--quiet"]) == 0


def test_a_read_only_journal_is_reported(rows, tmp_path):
    if os.geteuid() == 0:
        pytest.skip("root can write to read-only files")
    path = store_command(tmp_path / "run.db", ["learn", rows, *SMALL, "--journal", "run.db"])
    path.chmod(0o400)
    with pytest.raises(dn.InputError, match="Permission denied"):
        dn.SqliteJournal(path)
    path.chmod(0o600)
    tmp_path.chmod(0o500)
    with pytest.raises(dn.InputError, match="cannot be used"):
        dn.SqliteJournal(path)
    tmp_path.chmod(0o700)


@pytest.mark.slow
@pytest.mark.parametrize("path", ["", ":/nowhere", "lib:"])
def test_relative_search_paths_do_not_reach_the_folder_of_a_journal(tmp_path, monkeypatch, path):
    trap, home = tmp_path / "trap", tmp_path / "home"
    for folder in (trap, trap / "lib", home):
        folder.mkdir()
    for folder in (trap, trap / "lib"):
        (folder / "sitecustomize.py").write_text(f"open({str(tmp_path / 'executed')!r}, 'w').close()\n")
    monkeypatch.setenv("PYTHONPATH", path)
    monkeypatch.setenv("DAGNEAL_CACHE", "cache")
    with resume_command._work_in(str(trap), str(home)):
        assert os.environ["DAGNEAL_CACHE"] == str(home / "cache")
        subprocess.run([sys.executable, "-c", "pass"], check=True)
    assert not (tmp_path / "executed").exists()
    assert (os.environ["PYTHONPATH"], os.environ["DAGNEAL_CACHE"]) == (path, "cache")
