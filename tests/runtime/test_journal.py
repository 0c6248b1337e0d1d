"""Tests of journals: killed processes, full disks and damaged files do not lose finished tasks unnoticed."""

import errno
import json
import os
import random
import shutil
import signal
import sqlite3
import subprocess
import sys
import time
from contextlib import suppress

import pytest

import dagneal as dn
from dagneal.cli import main
from dagneal.paper import runner as running
from dagneal.paper.records import Records
from support.damage import attack, workspace
from support.solving import without_times

DIVIDED = ["--solver", "sa", "--divide", "4", "--rule", "penalty", "--reads", "30", "--seed", "3", "--quiet"]
BOOTSTRAP = ["--bootstrap", "60", "--max-parents", "3", "--quiet"]


@pytest.fixture(scope="module")
def table(tmp_path_factory):
    path = tmp_path_factory.mktemp("rows") / "rows.csv"
    dn.load("waste").sample(2_000, 1).frame().write_csv(path)
    return path


def stored_tasks(path):
    with sqlite3.connect(path) as file:
        tasks = dict(file.execute("SELECT key, value FROM pieces"))
    file.close()
    return tasks


def read_result(folder):
    """Return the result file of a run without the computing times."""
    return json.dumps(without_times(json.loads((folder / "out.json").read_text())))


def command(table, folder, words):
    return [sys.executable, "-m", "dagneal", "learn", str(table), *words, "--journal", "run.db", "-o", "out.json"]


def kill_after(words, folder, seconds):
    """Start a command and kill it after some seconds; return whether it was still running."""
    process = subprocess.Popen(words, cwd=folder, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
    time.sleep(seconds)
    process.send_signal(signal.SIGKILL)
    process.communicate()
    return process.returncode == -signal.SIGKILL


@pytest.mark.slow
@pytest.mark.parametrize("words", [DIVIDED, BOOTSTRAP], ids=["divide", "bootstrap"])
def test_a_killed_and_resumed_run_gives_the_same_result(table, words, tmp_path):
    """The benchmark `durability.py` kills similar runs at fifty random times each."""
    (tmp_path / "complete").mkdir()
    start = time.perf_counter()
    subprocess.run(command(table, tmp_path / "complete", words), cwd=tmp_path / "complete", check=True, capture_output=True)
    duration = time.perf_counter() - start
    generator = random.Random(1)
    for number in range(3):
        folder = tmp_path / str(number)
        folder.mkdir()
        kill_after(command(table, folder, words), folder, generator.uniform(0.3, 0.9) * duration)
        if (folder / "run.db").exists() and (folder / "run.db").stat().st_size and number:
            done = subprocess.run([sys.executable, "-m", "dagneal", "resume", "run.db"], cwd=folder, capture_output=True)
        else:
            done = subprocess.run(command(table, folder, words), cwd=folder, capture_output=True)
        if done.returncode == 2 and b"stores no command" in done.stderr:  # it was killed before it saved the command
            done = subprocess.run(command(table, folder, words), cwd=folder, capture_output=True)
        assert done.returncode == 0, done.stderr
        assert read_result(folder) == read_result(tmp_path / "complete")
        assert stored_tasks(folder / "run.db") == stored_tasks(tmp_path / "complete" / "run.db")


@pytest.mark.slow
def test_reproduce_resumes_even_if_the_records_are_deleted(table, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    words = ["reproduce", "networks", "--quiet", "-o", "there", "--journal", "run.db"]
    add, done = Records.add, []

    def stop_after_three(self, record):
        if len(done) == 3:
            raise KeyboardInterrupt
        done.append(record.case.key)
        add(self, record)

    with monkeypatch.context() as patch:
        patch.setattr(Records, "add", stop_after_three)
        assert main(words) == 130
    (tmp_path / "there" / "records.jsonl").unlink()
    kinds = dict(running.KINDS)
    ran = []
    for kind, function in kinds.items():
        monkeypatch.setitem(running.KINDS, kind, lambda f=function, **inputs: (ran.append(inputs), f(**inputs))[1])
    assert main(["resume", "run.db", "--quiet"]) == 0
    records = Records(tmp_path / "there" / "records.jsonl")
    assert len(records) == len(ran) + 3
    assert all(key in records._records for key in done)
    capsys.readouterr()
    assert main([*words, "--report"]) == 0
    assert main([*words[:-3], str(tmp_path / "there"), *words[-2:]]) == 0
    capsys.readouterr()
    assert main([*words, "--scale", "paper"]) == 2
    assert "--scale was" in capsys.readouterr().err
    assert main(["learn", str(table), "--bootstrap", "3", "--journal", "run.db"]) == 2
    assert "the command was" in capsys.readouterr().err


@pytest.mark.slow
def test_resume_runs_the_command_again(table, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    words = ["learn", str(table), "--divide", "3", "--solver", "sa", "--reads", "3", "--journal", "run.db", "--json"]
    assert main([*words, "-o", "out.json"]) == 0
    first = json.loads(capsys.readouterr().out)
    before = stored_tasks("run.db")
    (tmp_path / "out.json").unlink()
    monkeypatch.chdir("/")
    assert main(["resume", str(tmp_path / "run.db")]) == 0
    captured = capsys.readouterr()
    assert json.loads(captured.out)["edges"] == first["edges"]
    assert "dagneal learn" in captured.err
    assert (tmp_path / "out.json").exists()
    assert stored_tasks(tmp_path / "run.db") == before
    words.remove("--json")
    words[words.index("run.db")] = str(tmp_path / "plain.db")
    assert main([*words, "--quiet"]) == 0
    capsys.readouterr()
    assert main(["resume", str(tmp_path / "plain.db"), "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["edges"] == first["edges"]
    with pytest.raises(SystemExit, match="2"):
        main(["resume", str(tmp_path / "plain.db"), "--dask", "nowhere"])
    assert "not the address" in capsys.readouterr().err


@pytest.mark.slow
@pytest.mark.parametrize(
    ("other", "named"),
    [
        (["--seed", "4"], "--seed was 0, now it is 4"),
        (["--reads", "4"], "--reads was 3, now it is 4"),
        (["--divide", "4"], "--divide was 3, now it is 4"),
        (["--forbid", "a:b"], "--forbid"),
        (["--drop", "W"], "the fingerprint of the data was"),
    ],
)
def test_a_journal_of_another_run_is_refused(table, other, named, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    words = ["learn", str(table), "--divide", "3", "--solver", "sa", "--reads", "3", "--journal", "run.db"]
    assert main(words) == 0
    names = dn.read(table).names
    other = [f"{names[0]}:{names[1]}" if word == "a:b" else names[0] if word == "W" else word for word in other]
    before = stored_tasks("run.db")
    capsys.readouterr()
    assert main([*words, *other]) == 2
    err = capsys.readouterr().err
    assert "run.db belongs to another run: " in err
    assert named in err
    assert stored_tasks("run.db") == before
    # Options that do not affect the result may change.
    assert main([*words, "--jobs", "1", "--json", "-o", "learned.bif"]) == 0


def test_a_journal_can_be_extended_by_more_bootstrap_samples(table, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    words = ["learn", str(table), "--journal", "run.db", "--json"]
    assert main([*words, "--bootstrap", "4"]) == 0
    before = stored_tasks("run.db")
    assert len(before) == 4
    capsys.readouterr()
    assert main([*words, "--bootstrap", "6"]) == 0
    more = json.loads(capsys.readouterr().out)["bootstrap"]
    assert before.items() <= stored_tasks("run.db").items()
    assert more == dn.bootstrap(dn.read(table), 6, max_parents=None, knowledge=None, solver=None).to_dict()
    assert main(["learn", str(table), "--journal", "run.db"]) == 2
    assert "this solver stores nothing in a journal" in capsys.readouterr().err


@pytest.mark.slow
def test_two_processes_cannot_use_a_journal_at_the_same_time(tmp_path):
    with dn.SqliteJournal(tmp_path / "run.db") as journal:
        journal.put({"a": b"1"})
        code = f"import dagneal as dn; dn.SqliteJournal({str(tmp_path / 'run.db')!r})"
        done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
        assert "is in use by another process" in done.stderr
        journal.put({"b": b"2"})
    with dn.SqliteJournal(tmp_path / "run.db") as journal:
        assert journal.get(["a", "b"]) == {"a": b"1", "b": b"2"}


def fill_journal(path, count=2_000):
    with dn.SqliteJournal(path) as journal:
        journal.remember("command", {"words": ["networks"], "folder": "/"})
        journal.put({f"task {i}": os.urandom(60) for i in range(count)})
    return stored_tasks(path)


@pytest.mark.parametrize("share", [0.2, 0.5, 0.95])
def test_intact_tasks_of_a_truncated_journal_are_recovered(share, tmp_path):
    path = tmp_path / "run.db"
    before = fill_journal(path)
    content = path.read_bytes()
    path.write_bytes(content[: int(share * len(content))])
    with dn.SqliteJournal(path) as journal:
        recovered = journal.get(before)
        assert "was damaged" in journal.notes[0]
        assert all(before[key] == value for key, value in recovered.items())
        journal.put({"new": b"1"})
    assert (tmp_path / "run.db.damaged-1").exists()
    with dn.SqliteJournal(path) as journal:
        assert journal.get(["new"]) == {"new": b"1"}
        assert not journal.notes


@pytest.mark.slow
def test_overwritten_pages_and_flipped_bits_never_give_wrong_values(tmp_path):
    generator = random.Random(5)
    for number in range(20):
        path = tmp_path / f"{number}.db"
        before, recovered = fill_journal(path, 300), {}
        content = bytearray(path.read_bytes())
        if number % 2:
            at = generator.randrange(1, len(content) // 4096) * 4096
            content[at : at + 4096] = os.urandom(4096)
        else:
            for _ in range(50):
                content[generator.randrange(100, len(content))] ^= 1 << generator.randrange(8)
        path.write_bytes(content)
        with suppress(dn.InputError), dn.SqliteJournal(path) as journal:  # opening fails if no row is intact
            recovered = journal.get(before)
        assert all(before[key] == value for key, value in recovered.items())


def test_files_of_other_programs_are_refused_and_not_changed(tmp_path):
    for name, content in (("text", b"hello\n" * 1000), ("short", b"SQLite format 3\0")):
        (tmp_path / name).write_bytes(content)
        with pytest.raises(dn.InputError, match="cannot be used as a journal"):
            dn.SqliteJournal(tmp_path / name)
        assert (tmp_path / name).read_bytes() == content
    with sqlite3.connect(tmp_path / "other.db") as other:
        other.execute("CREATE TABLE pieces (name TEXT)")
    other.close()
    with pytest.raises(dn.InputError, match="an SQLite database of another program"):
        dn.SqliteJournal(tmp_path / "other.db")
    with pytest.raises(dn.InputError, match="cannot be used as a journal"):
        dn.SqliteJournal(tmp_path / "no folder" / "run.db")


def test_a_full_disk_is_reported_and_saved_tasks_are_kept(tmp_path):
    """A limit on the file size simulates a full disk."""
    code = (
        "import resource, signal, sys, dagneal as dn\n"
        "signal.signal(signal.SIGXFSZ, signal.SIG_IGN)\n"
        "with dn.SqliteJournal(sys.argv[1]) as journal:\n"
        "    journal.put({'first': b'1' * 1000})\n"
        "    resource.setrlimit(resource.RLIMIT_FSIZE, (200_000, 200_000))\n"
        "    try:\n"
        "        for number in range(100):\n"
        "            journal.put({str(number): b'x' * 20_000})\n"
        "    except dn.InputError as error:\n"
        "        print(number, error)\n"
    )
    process = subprocess.run([sys.executable, "-c", code, str(tmp_path / "run.db")], capture_output=True, text=True)
    assert "cannot be written" in process.stdout, process.stderr
    saved = int(process.stdout.split()[0])
    with dn.SqliteJournal(tmp_path / "run.db") as journal:
        assert journal.get(["first"]) == {"first": b"1" * 1000}
        assert len(journal.get(map(str, range(saved)))) == saved


def test_unusable_journal_paths_are_reported(table, tmp_path, monkeypatch, capsys):
    words = ["learn", str(table), "--divide", "3", "--journal", "/proc/run.db"]
    assert main(words) == 2
    assert "/proc" in capsys.readouterr().err
    assert main(["resume", str(tmp_path / "none.db")]) == 2
    assert "does not exist" in capsys.readouterr().err
    fill_journal(tmp_path / "bare.db", 1)
    with sqlite3.connect(tmp_path / "bare.db") as file:
        file.execute("DELETE FROM run")
    file.close()
    assert main(["resume", str(tmp_path / "bare.db")]) == 2
    assert "stores no command" in capsys.readouterr().err


def test_invalid_options_do_not_create_a_journal(table, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for words in (["--set", "direct=true", "--solver", "sa"], ["--rule", "count"], ["--samples", "s.json"]):
        assert main(["learn", str(table), "--journal", "run.db", *words]) == 2
        assert list(tmp_path.iterdir()) == []


@pytest.fixture(scope="module")
def crashed(tmp_path_factory):
    """The folder of a journal whose process died: 300 tasks, nearly all in the write-ahead log."""
    folder = tmp_path_factory.mktemp("crashed")
    program = (
        "import os, dagneal as dn\n"
        "journal = dn.SqliteJournal('run.db')\n"
        "journal.remember('command', {'words': ['networks'], 'folder': '.'})\n"
        "for number in range(300):\n"
        "    journal.put({f'task {number}': bytes([number % 256]) * 50})\n"
        "os._exit(0)\n"
    )
    subprocess.run([sys.executable, "-c", program], cwd=folder, check=True)
    assert (folder / "run.db-wal").stat().st_size > 300 * 4096
    return folder


def reopen(crashed, folder, change):
    """Copy a journal, change its files and open it; return its tasks, notes and command."""
    folder.mkdir()
    for name in ("run.db", "run.db-wal"):
        shutil.copy(crashed / name, folder)
    change(folder)
    with dn.SqliteJournal(folder / "run.db") as journal:
        tasks = journal.get([f"task {number}" for number in range(300)])
        assert all(value == bytes([int(key.split()[1]) % 256]) * 50 for key, value in tasks.items())
        return tasks, journal.notes, journal.recall("command")


def test_a_complete_log_is_read_without_a_note(crashed, tmp_path):
    tasks, notes, command = reopen(crashed, tmp_path / "copy", lambda _: None)
    assert len(tasks) == 300
    assert not notes
    assert command == {"words": ["networks"], "folder": "."}


@pytest.mark.parametrize("cut", [1, 5000, 4120, 2 * 4120, 3_000_000, 4_000_000])
def test_a_truncated_log_is_reported(crashed, tmp_path, cut):
    """A cut between two frames is reported too, although SQLite accepts the rest of the log."""

    def truncate(folder):
        os.truncate(folder / "run.db-wal", (crashed / "run.db-wal").stat().st_size - cut)

    tasks, notes, command = reopen(crashed, tmp_path / "copy", truncate)
    assert "its write-ahead log is too short" in notes[0]
    assert "lost" in notes[0]
    assert command is not None
    assert len(tasks) == 300 or cut > 2_000_000


@pytest.mark.slow
def test_a_damaged_log_is_reported_and_its_intact_tasks_are_recovered(crashed, tmp_path):
    size = (crashed / "run.db-wal").stat().st_size
    generator = random.Random(4)
    for number, offset in enumerate([0, 10, 18, 26, 40, *(generator.randrange(32, size - 8000) for _ in range(40))]):

        def flip(folder, offset=offset):
            with (folder / "run.db-wal").open("r+b") as file:
                file.seek(offset)
                byte = file.read(1)[0]
                file.seek(offset)
                file.write(bytes([byte ^ 255]))

        tasks, notes, command = reopen(crashed, tmp_path / f"{number}", flip)
        assert "was damaged" in notes[0], offset
        assert len(tasks) >= 200, offset  # a lost page may contain, or link to, many tasks
        assert command is not None
        assert (tmp_path / f"{number}" / "run.db.damaged-1").exists()


def test_a_missing_database_or_log_is_reported(crashed, tmp_path):
    _, notes, _ = reopen(crashed, tmp_path / "empty", lambda folder: os.truncate(folder / "run.db", 0))
    assert "was damaged" in notes[0]
    tasks, notes, _ = reopen(crashed, tmp_path / "gone", lambda folder: (folder / "run.db").unlink())
    assert "was damaged" in notes[0]
    assert len(tasks) >= 250
    _, notes, command = reopen(crashed, tmp_path / "alone", lambda folder: (folder / "run.db-wal").unlink())
    assert command is not None  # it must be in the file, not only in the log
    assert "its write-ahead log is missing" in notes[0]


def test_a_failed_recovery_changes_no_file(crashed, tmp_path, monkeypatch):
    for name in ("run.db", "run.db-wal"):
        shutil.copy(crashed / name, tmp_path)
    os.truncate(tmp_path / "run.db-wal", 1_000_000)
    before = {file.name: file.read_bytes() for file in tmp_path.iterdir()}
    with monkeypatch.context() as patch:
        patch.setattr(os, "link", raise_disk_full)
        patch.setattr(shutil, "copy2", raise_disk_full)
        with pytest.raises(dn.InputError, match="the recovery failed: No space left on device"):
            dn.SqliteJournal(tmp_path / "run.db")
    assert {file.name: file.read_bytes() for file in tmp_path.iterdir()} == before
    with dn.SqliteJournal(tmp_path / "run.db") as journal:
        assert "was damaged" in journal.notes[0]
    assert (tmp_path / "run.db.damaged-1").read_bytes() == before["run.db"]
    assert (tmp_path / "run.db.damaged-1-wal").read_bytes() == before["run.db-wal"]


def raise_disk_full(*_):
    raise OSError(errno.ENOSPC, "No space left on device")


def test_recovery_is_complete_even_if_killed_before_it_deletes_the_old_log(crashed, tmp_path):
    for name in ("run.db", "run.db-wal"):
        shutil.copy(crashed / name, tmp_path)
    with (tmp_path / "run.db-wal").open("r+b") as file:
        file.write(bytes(64))
    broken = (tmp_path / "run.db-wal").read_bytes()
    with dn.SqliteJournal(tmp_path / "run.db") as journal:
        tasks = journal.get([f"task {number}" for number in range(300)])
    (tmp_path / "run.db-wal").write_bytes(broken)
    with dn.SqliteJournal(tmp_path / "run.db") as journal:
        assert not journal.notes
        assert journal.get(tasks) == tasks


def test_tasks_are_recovered_if_metadata_have_a_wrong_type(tmp_path):
    """SQLite stores any type in any column; recovery must not fail on these rows."""
    for number, value in enumerate([None, b"\xff", 7, "{", "[1]"]):
        path = tmp_path / f"{number}.db"
        before = fill_journal(path, 50)
        if value is None:  # first remove NOT NULL
            with sqlite3.connect(path) as file:
                file.execute("PRAGMA writable_schema = ON")
                file.execute("UPDATE sqlite_master SET sql = replace(sql, 'value TEXT NOT NULL', 'value TEXT')")
            file.close()
        with sqlite3.connect(path) as file:
            file.execute("UPDATE run SET value = ?", [value])
        file.close()
        with dn.SqliteJournal(path) as journal:
            assert "was damaged" in journal.notes[0]
            assert journal.get(before) == before
            assert journal.recall("command") is None


def test_damage_while_a_journal_is_open_is_reported(tmp_path):
    with dn.SqliteJournal(tmp_path / "run.db") as journal:
        journal.put({"a": b"1", "b": b"2"})
        journal._connection.execute("UPDATE pieces SET value = x'33' WHERE key = 'a'")
        assert journal.get(["a", "b"]) == {"b": b"2"}
        assert "number of lost tasks: 1" in journal.notes[0]
        journal._connection.rollback()


def test_a_journal_that_is_not_closed_is_complete(tmp_path):
    code = "import sys, dagneal as dn\njournal = dn.SqliteJournal(sys.argv[1])\njournal.put({'a': b'1'})\n"
    subprocess.run([sys.executable, "-c", code, str(tmp_path / "run.db")], check=True)
    with dn.SqliteJournal(tmp_path / "run.db") as journal:
        assert not journal.notes
        assert journal.get(["a"]) == {"a": b"1"}
        with pytest.raises(dn.InputError, match="already open in this process"):
            dn.SqliteJournal(tmp_path / "run.db")


def test_tasks_can_be_saved_after_ctrl_c_during_a_save(tmp_path, monkeypatch):
    """After Ctrl-C, running tasks still finish and are saved."""

    def interrupt(*_):
        raise KeyboardInterrupt

    with dn.SqliteJournal(tmp_path / "run.db") as journal:
        with monkeypatch.context() as patch:
            patch.setattr("dagneal.runtime.journal.is_full", interrupt)
            with pytest.raises(KeyboardInterrupt):
                journal.put({"a": b"1"})
        journal.put({"b": b"2"})
        assert journal.get("ab") == {"a": b"1", "b": b"2"}


def test_old_values_are_not_recovered(tmp_path):
    """Replaced values are deleted from the file and from the current part of the log."""
    (tmp_path / "live").mkdir()
    with dn.SqliteJournal(tmp_path / "live" / "run.db") as journal:
        for number in range(40):
            journal.put({f"task {number}": b"old"})
        journal.put({f"task {number}": b"new" for number in range(40)})
        for name in ("run.db", "run.db-wal"):
            shutil.copy(tmp_path / "live" / name, tmp_path)
    with (tmp_path / "run.db-wal").open("r+b") as file:
        file.seek(32 + 8)
        file.write(bytes(8))
    with dn.SqliteJournal(tmp_path / "run.db") as journal:
        assert journal.notes
        assert set(journal.get([f"task {number}" for number in range(40)]).values()) == {b"new"}


@pytest.mark.slow
def test_losses_by_random_damage_are_always_reported():
    """The benchmark `acceptance/journals.py` tests 2,000 cases."""
    with workspace() as folder:
        tally = attack(folder, 150, seed=1, killed=2, scale=0.25)
    assert not tally.failures
    assert tally.outcomes["reported"] > 40
    assert tally.outcomes["complete"] > 5
