"""Journals: nothing finished is lost, whatever happens to the process or to the file."""

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

DIVIDED = ["--solver", "sa", "--divide", "4", "--rule", "penalty", "--reads", "30", "--seed", "3", "--quiet"]
RESAMPLED = ["--bootstrap", "60", "--max-parents", "3", "--quiet"]


@pytest.fixture(scope="module")
def table(tmp_path_factory):
    path = tmp_path_factory.mktemp("rows") / "rows.csv"
    dn.load("waste").sample(2_000, 1).frame().write_csv(path)
    return path


def pieces(path):
    with sqlite3.connect(path) as file:
        found = dict(file.execute("SELECT key, value FROM pieces"))
    file.close()
    return found


def answer(folder):
    """What a run leaves, without the times that it took."""
    found = json.loads((folder / "out.json").read_text())
    found.pop("seconds")
    return json.dumps(found)


def command(table, folder, words):
    return [sys.executable, "-m", "dagneal", "learn", str(table), *words, "--journal", "run.db", "-o", "out.json"]


def killed_at(words, folder, after):
    """Kill a process after a while, unless it has ended."""
    process = subprocess.Popen(words, cwd=folder, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
    time.sleep(after)
    process.send_signal(signal.SIGKILL)
    process.communicate()
    return process.returncode == -signal.SIGKILL


@pytest.mark.slow
@pytest.mark.parametrize("words", [DIVIDED, RESAMPLED], ids=["divided", "resampled"])
def test_killed_and_resumed_it_ends_as_if_nothing_had_been(table, words, tmp_path):
    """The benchmark `durability.py` does it at fifty moments."""
    (tmp_path / "whole").mkdir()
    begun = time.perf_counter()
    subprocess.run(command(table, tmp_path / "whole", words), cwd=tmp_path / "whole", check=True, capture_output=True)
    usual = time.perf_counter() - begun
    moments = random.Random(1)
    for number in range(3):
        folder = tmp_path / str(number)
        folder.mkdir()
        killed_at(command(table, folder, words), folder, moments.uniform(0.3, 0.9) * usual)
        if (folder / "run.db").exists() and (folder / "run.db").stat().st_size and number:
            done = subprocess.run([sys.executable, "-m", "dagneal", "resume", "run.db"], cwd=folder, capture_output=True)
        else:
            done = subprocess.run(command(table, folder, words), cwd=folder, capture_output=True)
        if done.returncode == 2 and b"does not say what command" in done.stderr:  # killed before it had begun
            done = subprocess.run(command(table, folder, words), cwd=folder, capture_output=True)
        assert done.returncode == 0, done.stderr
        assert answer(folder) == answer(tmp_path / "whole")
        assert pieces(folder / "run.db") == pieces(tmp_path / "whole" / "run.db")


@pytest.mark.slow
def test_a_reproduction_is_resumed_also_without_its_records(table, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    words = ["reproduce", "networks", "--quiet", "-o", "there", "--journal", "run.db"]
    add, done = Records.add, []

    def stopping(self, record):
        if len(done) == 3:
            raise KeyboardInterrupt
        done.append(record.case.key)
        add(self, record)

    with monkeypatch.context() as patch:
        patch.setattr(Records, "add", stopping)
        assert main(words) == 130
    (tmp_path / "there" / "records.jsonl").unlink()
    kinds = dict(running.KINDS)
    ran = []
    for kind, function in kinds.items():
        monkeypatch.setitem(running.KINDS, kind, lambda f=function, **inputs: (ran.append(inputs), f(**inputs))[1])
    assert main(["resume", "run.db", "--quiet"]) == 0
    records = Records(tmp_path / "there" / "records.jsonl")
    assert len(records) == len(ran) + 3
    assert all(key in records._found for key in done)
    capsys.readouterr()
    assert main([*words, "--report"]) == 0
    assert main([*words[:-3], str(tmp_path / "there"), *words[-2:]]) == 0
    capsys.readouterr()
    assert main([*words, "--scale", "paper"]) == 2
    assert "--scale is" in capsys.readouterr().err
    assert main(["learn", str(table), "--bootstrap", "3", "--journal", "run.db"]) == 2
    assert "the command is" in capsys.readouterr().err


@pytest.mark.slow
def test_resume_runs_the_command_again(table, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    words = ["learn", str(table), "--divide", "3", "--solver", "sa", "--reads", "3", "--journal", "run.db", "--json"]
    assert main([*words, "-o", "out.json"]) == 0
    first = json.loads(capsys.readouterr().out)
    before = pieces("run.db")
    (tmp_path / "out.json").unlink()
    monkeypatch.chdir("/")
    assert main(["resume", str(tmp_path / "run.db")]) == 0
    captured = capsys.readouterr()
    assert json.loads(captured.out)["edges"] == first["edges"]
    assert "dagneal learn" in captured.err
    assert (tmp_path / "out.json").exists()
    assert pieces(tmp_path / "run.db") == before
    words.remove("--json")
    words[words.index("run.db")] = str(tmp_path / "plain.db")
    assert main([*words, "--quiet"]) == 0
    capsys.readouterr()
    assert main(["resume", str(tmp_path / "plain.db"), "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["edges"] == first["edges"]
    with pytest.raises(SystemExit, match="2"):
        main(["resume", str(tmp_path / "plain.db"), "--dask", "nowhere"])
    assert "no address" in capsys.readouterr().err


@pytest.mark.slow
@pytest.mark.parametrize(
    ("other", "named"),
    [
        (["--seed", "4"], "--seed is 0 there and 4 here"),
        (["--reads", "4"], "--reads is 3 there and 4 here"),
        (["--divide", "4"], "--divide is 3 there and 4 here"),
        (["--forbid", "a:b"], "--forbid"),
        (["--drop", "W"], "the fingerprint of the data is"),
    ],
)
def test_a_journal_of_another_run_is_refused_by_name(table, other, named, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    words = ["learn", str(table), "--divide", "3", "--solver", "sa", "--reads", "3", "--journal", "run.db"]
    assert main(words) == 0
    names = dn.read(table).names
    other = [f"{names[0]}:{names[1]}" if word == "a:b" else names[0] if word == "W" else word for word in other]
    before = pieces("run.db")
    capsys.readouterr()
    assert main([*words, *other]) == 2
    err = capsys.readouterr().err
    assert "run.db keeps another run: " in err
    assert named in err
    assert pieces("run.db") == before
    assert main([*words, "--jobs", "1", "--json", "-o", "found.bif"]) == 0  # what makes no difference may differ


def test_more_resamples_are_added(table, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    words = ["learn", str(table), "--journal", "run.db", "--json"]
    assert main([*words, "--bootstrap", "4"]) == 0
    before = pieces("run.db")
    assert len(before) == 4
    capsys.readouterr()
    assert main([*words, "--bootstrap", "6"]) == 0
    more = json.loads(capsys.readouterr().out)["bootstrap"]
    assert before.items() <= pieces("run.db").items()
    assert more == dn.bootstrap(dn.read(table), 6, max_parents=None, knowledge=None, solver=None).to_dict()
    assert main(["learn", str(table), "--journal", "run.db"]) == 2
    assert "a journal stores solved subproblems, bootstrap samples and" in capsys.readouterr().err


@pytest.mark.slow
def test_two_processes_do_not_share_a_journal(tmp_path):
    with dn.SqliteJournal(tmp_path / "run.db") as journal:
        journal.put({"a": b"1"})
        code = f"import dagneal as dn; dn.SqliteJournal({str(tmp_path / 'run.db')!r})"
        done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
        assert "is in use by another process" in done.stderr
        journal.put({"b": b"2"})
    with dn.SqliteJournal(tmp_path / "run.db") as journal:
        assert journal.get(["a", "b"]) == {"a": b"1", "b": b"2"}


def filled(path, count=2_000):
    with dn.SqliteJournal(path) as journal:
        journal.remember("command", {"words": ["networks"], "folder": "/"})
        journal.put({f"piece {i}": os.urandom(60) for i in range(count)})
    return pieces(path)


@pytest.mark.parametrize("share", [0.2, 0.5, 0.95])
def test_what_is_intact_in_a_torn_journal_is_used(share, tmp_path):
    path = tmp_path / "run.db"
    before = filled(path)
    whole = path.read_bytes()
    path.write_bytes(whole[: int(share * len(whole))])
    with dn.SqliteJournal(path) as journal:
        found = journal.get(before)
        assert "was damaged" in journal.notes[0]
        assert all(before[key] == value for key, value in found.items())
        journal.put({"new": b"1"})
    assert (tmp_path / "run.db.damaged-1").exists()
    with dn.SqliteJournal(path) as journal:
        assert journal.get(["new"]) == {"new": b"1"}
        assert not journal.notes


@pytest.mark.slow
def test_overwritten_pages_and_turned_bits_are_noticed(tmp_path):
    generator = random.Random(5)
    for number in range(20):
        path = tmp_path / f"{number}.db"
        before, found = filled(path, 300), {}
        content = bytearray(path.read_bytes())
        if number % 2:
            at = generator.randrange(1, len(content) // 4096) * 4096
            content[at : at + 4096] = os.urandom(4096)
        else:
            for _ in range(50):
                content[generator.randrange(100, len(content))] ^= 1 << generator.randrange(8)
        path.write_bytes(content)
        with suppress(dn.InputError), dn.SqliteJournal(path) as journal:  # it may be beyond saving
            found = journal.get(before)
        assert all(before[key] == value for key, value in found.items())


def test_files_that_are_no_journals_are_left_alone(tmp_path):
    for name, content in (("text", b"hello\n" * 1000), ("short", b"SQLite format 3\0")):
        (tmp_path / name).write_bytes(content)
        with pytest.raises(dn.InputError, match="cannot be used as a journal"):
            dn.SqliteJournal(tmp_path / name)
        assert (tmp_path / name).read_bytes() == content
    with sqlite3.connect(tmp_path / "other.db") as other:
        other.execute("CREATE TABLE pieces (name TEXT)")
    other.close()
    with pytest.raises(dn.InputError, match="a database of something else"):
        dn.SqliteJournal(tmp_path / "other.db")
    with pytest.raises(dn.InputError, match="cannot be used as a journal"):
        dn.SqliteJournal(tmp_path / "no folder" / "run.db")


def test_a_full_disk_is_told_and_loses_nothing(tmp_path):
    """A limit on the size of files stands for a full disk."""
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
    done = subprocess.run([sys.executable, "-c", code, str(tmp_path / "run.db")], capture_output=True, text=True)
    assert "cannot be written" in done.stdout, done.stderr
    fitted = int(done.stdout.split()[0])
    with dn.SqliteJournal(tmp_path / "run.db") as journal:
        assert journal.get(["first"]) == {"first": b"1" * 1000}
        assert len(journal.get(map(str, range(fitted)))) == fitted


def test_a_folder_that_cannot_be_written(table, tmp_path, monkeypatch, capsys):
    words = ["learn", str(table), "--divide", "3", "--journal", "/proc/run.db"]
    assert main(words) == 2
    assert "/proc" in capsys.readouterr().err
    assert main(["resume", str(tmp_path / "none.db")]) == 2
    assert "there is no journal" in capsys.readouterr().err
    filled(tmp_path / "bare.db", 1)
    with sqlite3.connect(tmp_path / "bare.db") as file:
        file.execute("DELETE FROM run")
    file.close()
    assert main(["resume", str(tmp_path / "bare.db")]) == 2
    assert "does not say what command" in capsys.readouterr().err


def test_options_that_are_refused_make_no_journal(table, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for words in (["--set", "direct=true", "--solver", "sa"], ["--rule", "count"], ["--samples", "s.json"]):
        assert main(["learn", str(table), "--journal", "run.db", *words]) == 2
        assert list(tmp_path.iterdir()) == []


@pytest.fixture(scope="module")
def crashed(tmp_path_factory):
    """A journal whose process died: 300 pieces, nearly all in the log beside it."""
    folder = tmp_path_factory.mktemp("crashed")
    program = (
        "import os, dagneal as dn\n"
        "journal = dn.SqliteJournal('run.db')\n"
        "journal.remember('command', {'words': ['networks'], 'folder': '.'})\n"
        "for number in range(300):\n"
        "    journal.put({f'piece {number}': bytes([number % 256]) * 50})\n"
        "os._exit(0)\n"
    )
    subprocess.run([sys.executable, "-c", program], cwd=folder, check=True)
    assert (folder / "run.db-wal").stat().st_size > 300 * 4096
    return folder


def reopened(crashed, folder, change):
    """The pieces and notes of a copy of a journal, after something happened to its files."""
    folder.mkdir()
    for name in ("run.db", "run.db-wal"):
        shutil.copy(crashed / name, folder)
    change(folder)
    with dn.SqliteJournal(folder / "run.db") as journal:
        found = journal.get([f"piece {number}" for number in range(300)])
        assert all(value == bytes([int(key.split()[1]) % 256]) * 50 for key, value in found.items())
        return found, journal.notes, journal.remembered("command")


def test_a_log_that_is_whole_is_no_news(crashed, tmp_path):
    found, notes, command = reopened(crashed, tmp_path / "copy", lambda _: None)
    assert len(found) == 300
    assert not notes
    assert command == {"words": ["networks"], "folder": "."}


@pytest.mark.parametrize("cut", [1, 5000, 4120, 2 * 4120, 3_000_000, 4_000_000])
def test_a_truncated_log_is_reported(crashed, tmp_path, cut):
    """Also where it ends between two frames, as nothing in the rest of the log shows that there was more."""

    def truncate(folder):
        os.truncate(folder / "run.db-wal", (crashed / "run.db-wal").stat().st_size - cut)

    found, notes, command = reopened(crashed, tmp_path / "copy", truncate)
    assert "its log is too short" in notes[0]
    assert "lost" in notes[0]
    assert command is not None
    assert len(found) == 300 or cut > 2_000_000


@pytest.mark.slow
def test_a_damaged_log_is_noticed_and_what_is_intact_in_it_is_kept(crashed, tmp_path):
    size = (crashed / "run.db-wal").stat().st_size
    generator = random.Random(4)
    for number, offset in enumerate([0, 10, 18, 26, 40, *(generator.randrange(32, size - 8000) for _ in range(40))]):

        def flip(folder, offset=offset):
            with (folder / "run.db-wal").open("r+b") as file:
                file.seek(offset)
                byte = file.read(1)[0]
                file.seek(offset)
                file.write(bytes([byte ^ 255]))

        found, notes, command = reopened(crashed, tmp_path / f"{number}", flip)
        assert "was damaged" in notes[0], offset
        assert len(found) >= 200, offset  # a page that held many may be gone, or the one that leads to them
        assert command is not None
        assert (tmp_path / f"{number}" / "run.db.damaged-1").exists()


def test_a_log_without_its_database(crashed, tmp_path):
    found, notes, _ = reopened(crashed, tmp_path / "empty", lambda folder: os.truncate(folder / "run.db", 0))
    assert "was damaged" in notes[0]
    found, notes, _ = reopened(crashed, tmp_path / "gone", lambda folder: (folder / "run.db").unlink())
    assert "was damaged" in notes[0]
    assert len(found) >= 250
    found, notes, command = reopened(crashed, tmp_path / "alone", lambda folder: (folder / "run.db-wal").unlink())
    assert command is not None  # it must not be in the log alone
    assert "its log is missing" in notes[0]


def test_recovery_leaves_everything_in_place_when_it_fails(crashed, tmp_path, monkeypatch):
    for name in ("run.db", "run.db-wal"):
        shutil.copy(crashed / name, tmp_path)
    os.truncate(tmp_path / "run.db-wal", 1_000_000)
    before = {file.name: file.read_bytes() for file in tmp_path.iterdir()}
    with monkeypatch.context() as patch:
        patch.setattr(os, "link", failing)
        patch.setattr(shutil, "copy2", failing)
        with pytest.raises(dn.InputError, match="cannot be recovered here: No space left on device"):
            dn.SqliteJournal(tmp_path / "run.db")
    assert {file.name: file.read_bytes() for file in tmp_path.iterdir()} == before
    with dn.SqliteJournal(tmp_path / "run.db") as journal:
        assert "was damaged" in journal.notes[0]
    assert (tmp_path / "run.db.damaged-1").read_bytes() == before["run.db"]
    assert (tmp_path / "run.db.damaged-1-wal").read_bytes() == before["run.db-wal"]


def failing(*_):
    raise OSError(errno.ENOSPC, "No space left on device")


def test_a_recovery_that_is_killed_before_the_old_log_is_deleted(crashed, tmp_path):
    for name in ("run.db", "run.db-wal"):
        shutil.copy(crashed / name, tmp_path)
    with (tmp_path / "run.db-wal").open("r+b") as file:
        file.write(bytes(64))
    broken = (tmp_path / "run.db-wal").read_bytes()
    with dn.SqliteJournal(tmp_path / "run.db") as journal:
        found = journal.get([f"piece {number}" for number in range(300)])
    (tmp_path / "run.db-wal").write_bytes(broken)
    with dn.SqliteJournal(tmp_path / "run.db") as journal:
        assert not journal.notes
        assert journal.get(found) == found


def test_metadata_that_is_not_text_does_not_cost_the_tasks(tmp_path):
    """SQLite stores any type in any column; recovery once failed on such a row, and all tasks were lost."""
    for number, value in enumerate([None, b"\xff", 7, "{", "[1]"]):
        path = tmp_path / f"{number}.db"
        before = filled(path, 50)
        if value is None:  # the column must allow it first
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
            assert journal.remembered("command") is None


def test_damage_while_a_journal_is_open_is_reported(tmp_path):
    with dn.SqliteJournal(tmp_path / "run.db") as journal:
        journal.put({"a": b"1", "b": b"2"})
        journal._connection.execute("UPDATE pieces SET value = x'33' WHERE key = 'a'")
        assert journal.get(["a", "b"]) == {"b": b"2"}
        assert "1 finished tasks are lost" in journal.notes[0]
        journal._connection.rollback()


def test_a_journal_that_nobody_closes_is_sound(tmp_path):
    code = "import sys, dagneal as dn\njournal = dn.SqliteJournal(sys.argv[1])\njournal.put({'a': b'1'})\n"
    subprocess.run([sys.executable, "-c", code, str(tmp_path / "run.db")], check=True)
    with dn.SqliteJournal(tmp_path / "run.db") as journal:
        assert not journal.notes
        assert journal.get(["a"]) == {"a": b"1"}
        with pytest.raises(dn.InputError, match="already open in this process"):
            dn.SqliteJournal(tmp_path / "run.db")


def test_an_interrupt_while_a_task_is_saved(tmp_path, monkeypatch):
    """Ctrl-C after a task was committed; the tasks that end meanwhile are saved after it."""

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
    """A value that was replaced is neither in the file nor in the current part of the log any more."""
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
def test_random_damage_is_never_lost_without_a_report():
    """The benchmark `acceptance/journals.py` does it 2,000 times."""
    with workspace() as folder:
        tally = attack(folder, 150, seed=1, killed=2, scale=0.25)
    assert not tally.failures
    assert tally.outcomes["reported"] > 40
    assert tally.outcomes["complete"] > 5
