"""Damage the files of journals at random, and check what they still return.

Used by test_journal.py and benchmarks/acceptance/journals.py.
"""

import os
import random
import shutil
import signal
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

import dagneal as dn

PAGE, SLOT, HEAD = 4096, 4120, 32  # bytes per page, per frame of the log, and before the first frame


@dataclass
class Source:
    """A valid journal to damage.

    Attributes:
        name: description of the journal.
        folder: folder with its files.
        tasks: committed tasks.
        run: saved information about the run.
    """

    name: str
    folder: Path
    tasks: dict[str, bytes]
    run: dict[str, object]

    @property
    def has_log(self) -> bool:
        return (self.folder / "run.db-wal").exists()


@dataclass
class Tally:
    """Counts of damaged journals by outcome.

    Attributes:
        kinds: number of journals by kind of damage.
        outcomes: number of journals by outcome.
        failures: descriptions of unreported losses, wrong values and unexpected errors.
    """

    kinds: Counter[str] = field(default_factory=Counter)
    outcomes: Counter[str] = field(default_factory=Counter)
    failures: list[str] = field(default_factory=list)


@contextmanager
def workspace() -> Iterator[Path]:
    """Yield an empty folder, in memory if possible."""
    memory = Path("/dev/shm")
    with tempfile.TemporaryDirectory(dir=memory if os.access(memory, os.W_OK) else None) as folder:
        yield Path(folder)


def _value(generator: random.Random) -> bytes:
    return generator.randbytes(generator.choice([0, 3, 40, 40, 60, 300, 300, 1200, 9000]))


def _fill(journal: dn.SqliteJournal, generator: random.Random, count: int, together: int, source: Source) -> None:
    """Save tasks in small transactions, overwrite some tasks, and change the information about the run."""
    for name in ("command", "settings"):
        source.run[name] = {"words": [name], "number": generator.random()}
        journal.remember(name, source.run[name])
    for begin in range(0, count, together):
        tasks = {f"{generator.getrandbits(64):x}:{number}": _value(generator) for number in range(begin, begin + together)}
        if source.tasks and generator.random() < 0.02:
            tasks[generator.choice(list(source.tasks))] = _value(generator)
        journal.put(tasks)
        source.tasks.update(tasks)
    if generator.random() < 0.5:
        source.run["settings"] = {"changed": generator.random()}
        journal.remember("settings", source.run["settings"])


def _copy(source: Path, target: Path) -> None:
    target.mkdir()
    for file in source.glob("run.db*"):
        shutil.copyfile(file, target / file.name)


def _kill_writer(folder: Path, generator: random.Random, source: Source) -> None:
    """Start a child process that saves tasks, kill it, and record which tasks it reported as saved."""
    (folder / "live").mkdir()
    reader, writer = os.pipe()
    content = {f"task {number}": _value(generator) for number in range(4000)}
    child = os.fork()
    if not child:
        journal = dn.SqliteJournal(folder / "live" / "run.db")
        journal.remember("command", source.run["command"])
        for key, value in content.items():
            journal.put({key: value})
            os.write(writer, b".")
        os._exit(0)
    os.close(writer)
    seen = len(os.read(reader, 1))  # wait for the first task
    time.sleep(generator.uniform(0.0, 1.0))
    os.kill(child, signal.SIGKILL)
    os.waitpid(child, 0)
    while dots := os.read(reader, 65536):
        seen += len(dots)
    os.close(reader)
    source.tasks.update(list(content.items())[:seen])
    _copy(folder / "live", folder / "files")


def sources(folder: Path, seed: int, killed: int = 6, scale: float = 1.0) -> list[Source]:
    """Create valid journals: closed journals, copies of open journals, and journals of killed processes.

    Args:
        folder: folder for the journals.
        seed: random seed; journals of killed processes also depend on timing.
        killed: number of journals of killed processes.
        scale: factor for the number of tasks.
    """
    journals = []
    plan = [
        # name, number of tasks, tasks per transaction, whether it is closed
        ("closed, small", 60, 60, True),
        ("closed, single tasks", 150, 1, True),
        ("closed, several hundred pages", 1000, 50, True),
        ("open, first tasks", 5, 1, False),
        ("open, all in the log", 200, 1, False),
        ("open, log restarted", 800, 2, False),
        ("open, several hundred pages", 1000, 40, False),
        ("open, large transactions", 1400, 700, False),
    ]
    for name, count, together, closed in plan:
        place = folder / name
        place.mkdir(parents=True)
        (place / "live").mkdir()
        source = Source(name, place / "files", {}, {})
        with dn.SqliteJournal(place / "live" / "run.db") as journal:
            _fill(journal, random.Random(f"{seed} {name}"), max(5, int(count * scale)), together, source)
            if not closed:
                _copy(place / "live", place / "files")
        if closed:
            _copy(place / "live", place / "files")
        journals.append(source)
    for number in range(killed):
        place = folder / f"killed {number}"
        place.mkdir(parents=True)
        source = Source("killed while writing", place / "files", {}, {"command": {"words": ["killed"]}})
        _kill_writer(place, random.Random(f"{seed} {number}"), source)
        journals.append(source)
    return journals


def _flip(content: bytearray, generator: random.Random, unit: int) -> None:
    for _ in range(generator.choice([1, 1, 1, 2, 8, 50])):
        content[generator.randrange(len(content))] ^= 1 << generator.randrange(8)


def _truncate(content: bytearray, generator: random.Random, unit: int) -> None:
    at = generator.randrange(1, len(content))
    if generator.random() < 0.5:  # between two pages or frames
        at = max(at - at % unit + (HEAD if unit == SLOT else 0), 1)
    del content[at:]


def _place(content: bytearray, generator: random.Random, unit: int) -> int:
    head = HEAD if unit == SLOT else 0
    return head + generator.randrange(max(1, (len(content) - head) // unit)) * unit


def _zero(content: bytearray, generator: random.Random, unit: int) -> None:
    for _ in range(generator.choice([1, 1, 2, 5])):
        at, size = _place(content, generator, unit), unit * generator.choice([1, 1, 2, 20])
        size = min(size, len(content) - at)
        content[at : at + size] = bytes(size)


def _zero_end(content: bytearray, generator: random.Random, unit: int) -> None:
    at = _place(content, generator, unit)
    content[at:] = bytes(len(content) - at)


def _swap(content: bytearray, generator: random.Random, unit: int) -> None:
    for _ in range(generator.choice([1, 1, 3])):
        first, second = _place(content, generator, unit), _place(content, generator, unit)
        one, other = content[first : first + unit], content[second : second + unit]
        if len(one) == len(other):
            content[first : first + unit], content[second : second + unit] = other, one


def _overwrite(content: bytearray, generator: random.Random, unit: int) -> None:
    at = generator.randrange(len(content))
    size = min(generator.choice([1, 4, 30, 512, 5000, 40000]), len(content) - at)
    content[at : at + size] = generator.randbytes(size)


def _repeat(content: bytearray, generator: random.Random, unit: int) -> None:
    size = generator.choice([16, 512, unit, 3 * unit])
    source, target = _place(content, generator, unit), _place(content, generator, unit)
    part = content[source : source + size]
    content[target : target + len(part)] = part


def _shift(content: bytearray, generator: random.Random, unit: int) -> None:
    at, size = generator.randrange(len(content)), generator.choice([1, 7, 512])
    if generator.random() < 0.5:
        del content[at : at + size]
    else:
        content[at:at] = generator.randbytes(size)


def _append(content: bytearray, generator: random.Random, unit: int) -> None:
    content += generator.choice([generator.randbytes, bytes])(generator.choice([1, 100, unit, 3 * unit + 5]))


CHANGES: dict[str, Callable[[bytearray, random.Random, int], None]] = {
    "bits flipped": _flip,
    "truncated": _truncate,
    "pages zeroed": _zero,
    "end zeroed": _zero_end,
    "pages swapped": _swap,
    "range overwritten": _overwrite,
    "range repeated": _repeat,
    "bytes inserted or removed": _shift,
    "garbage appended": _append,
}
OTHERS = ("log deleted", "database emptied", "database deleted", "-shm added", "-wal added")


def _focus(content: bytearray, generator: random.Random) -> int:
    """Choose the end of the damaged part of a log: usually one slot after the frames in use."""
    salts, count = content[16:24], 0
    while content[HEAD + count * SLOT + 8 : HEAD + count * SLOT + 16] == salts:
        count += 1
    return len(content) if generator.random() < 0.3 else min(len(content), HEAD + (count + 1) * SLOT)


def damage(folder: Path, source: Source, generator: random.Random) -> str:
    """Damage the files of a journal, and return the kind of damage.

    Args:
        folder: folder with a copy of the files.
        source: original journal.
        generator: random generator that chooses the damage.
    """
    database, log = folder / "run.db", folder / "run.db-wal"
    if generator.random() < 0.12:
        kind = generator.choice(OTHERS)
        if kind == "log deleted" and source.has_log:
            log.unlink()
        elif kind == "database emptied" and source.has_log:
            os.truncate(database, 0)
        elif kind == "database deleted" and source.has_log:
            database.unlink()
        elif kind == "-wal added" and not source.has_log:
            log.write_bytes(generator.randbytes(generator.choice([1, 32, 9000])))
        else:
            kind = "-shm added"
            (folder / "run.db-shm").write_bytes(generator.randbytes(32768))
        return kind
    files = [database]
    if source.has_log:
        files = generator.choice([[database], [log], [log], [database, log]])
    kinds = set()
    for file in files:
        content = bytearray(file.read_bytes())
        rest = bytearray()
        unit = PAGE if file == database else SLOT
        for _ in range(generator.choice([1, 1, 1, 2])):
            kind = generator.choice(list(CHANGES))
            if unit == SLOT and kind not in ("truncated", "garbage appended"):
                end = _focus(content, generator)
                content, rest = content[:end], content[end:]
            if len(content) > 1:
                CHANGES[kind](content, generator, unit)
                kinds.add(kind)
            content, rest = content + rest, bytearray()
        file.write_bytes(content)
    where = "both" if len(files) == 2 else "log" if files == [log] else "database"
    return f"{' and '.join(sorted(kinds)) if len(kinds) == 1 else 'several kinds'}, {where}"


def examine(path: Path, source: Source, twice: bool = True) -> tuple[str, str]:
    """Open a journal, and compare it with the committed tasks.

    Args:
        path: journal file.
        source: original journal.
        twice: whether to open the journal a second time.

    Returns:
        The outcome, and a description of the failure, if any.
    """
    before = {file.name: file.read_bytes() for file in path.parent.iterdir()}
    try:
        with dn.SqliteJournal(path) as journal:
            tasks = journal.get(source.tasks)
            run = {name: journal.recall(name) for name in source.run}
            notes = list(journal.notes)
            journal.put({"another task": b"1"})
    except dn.InputError as error:
        after = {file.name: file.read_bytes() for file in path.parent.iterdir()}
        if "\n" in str(error) or after != before:
            return "failed", f"refused, but a file changed or the message has several lines: {error}"
        return "refused", ""
    except Exception as error:
        return "failed", f"{type(error).__name__}: {error}"
    wrong = [key for key, value in tasks.items() if source.tasks[key] != value]
    if wrong:
        return "failed", f"{len(wrong)} wrong values"
    complete = len(tasks) == len(source.tasks) and run == source.run
    if not complete and not notes:
        return "unreported", f"{len(source.tasks) - len(tasks)} tasks are lost without a note"
    if twice:
        with dn.SqliteJournal(path) as journal:
            if journal.notes or journal.get([*source.tasks, "another task"]) != {**tasks, "another task": b"1"}:
                return "failed", "the content differs when the journal is opened again"
    if not complete:
        return "reported", ""
    return ("complete, with a note" if notes else "complete"), ""


def attack(folder: Path, count: int, seed: int, killed: int = 6, scale: float = 1.0) -> Tally:
    """Damage journals at random, open them, and count the outcomes.

    Args:
        folder: empty working folder.
        count: number of damaged journals.
        seed: random seed of the damage.
        killed: number of original journals that come from killed processes.
        scale: factor for the number of tasks in the journals.
    """
    tally = Tally()
    journals = sources(folder / "sources", seed, killed, scale)
    for source in journals:  # without damage, journals are complete and have no notes
        _copy(source.folder, folder / "undamaged")
        outcome, problem = examine(folder / "undamaged" / "run.db", source)
        if outcome != "complete":
            tally.failures.append(f"not damaged, {source.name}: {outcome} {problem}")
        shutil.rmtree(folder / "undamaged")
    for number in range(count):
        generator = random.Random(f"{seed} {number}")
        source = journals[number % len(journals)]
        place = folder / "damaged"
        _copy(source.folder, place)
        kind = damage(place, source, generator)
        outcome, problem = examine(place / "run.db", source, twice=number % 4 == 0)
        tally.kinds[kind] += 1
        tally.outcomes[outcome] += 1
        if problem:
            tally.failures.append(f"number {number}, {source.name}, {kind}: {outcome}, {problem}")
        shutil.rmtree(place)
    return tally
