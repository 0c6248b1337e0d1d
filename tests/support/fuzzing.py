"""Hostile inputs by the thousand: files that were right, changed at random. Used by test_fuzz.py and benchmarks/fuzz.py."""

import io
import os
import random
import resource
import signal
import sys
import traceback
from contextlib import redirect_stderr, redirect_stdout
from pathlib import Path

import dagneal as dn
from dagneal.cli import main
from dagneal.networks.bif import format_bif
from dagneal.networks.bundled import NAMES

SECONDS = 10  # of CPU time, so that a loaded machine makes no difference
WORDS: dict[str, list[bytes]] = {
    "csv": [b",", b'"', b"\n", b"\r\n", b"\0", b"NA", b"nan", b"1e999", b"-0", b";", b"\xff\xfe", b"\xef\xbb\xbf", b"=1+1"],
    "bif": [
        *b"{ } ; | // /* 1e400 nan table default variable probability [9999999]".split(),
        b'"',
        b"type discrete [ 99999999 ] ",
    ],
    "toml": [*b"[ ] = ' [[a]] required tiers inf".split(), b"tiers = [[]]\n", b"limits.x = -1\n", b"9" * 400, b"\n"],
    "journal": [b"SQLite format 3\0", b"\0" * 16, b"\xff" * 8, b"CREATE TABLE", b"pieces"],
}


def corpus(kind: str, folder: Path) -> list[bytes]:
    """Files that are right."""
    truth = dn.load("lung-cancer")
    if kind == "csv":
        whole = truth.sample(60, 1).frame().write_csv().encode()
        return [whole, whole.replace(b",", b";"), b'a,"b, c",d\n' + b'1,"x\ny",2.5\n' * 9 + b"2,z,?\n" * 9]
    if kind == "bif":
        return [format_bif(dn.load(name)).encode() for name in NAMES[:4]]
    if kind == "toml":
        first, second = truth.names[:2]
        edges = f'required = [["{first}", "Cancer"]]\nforbidden = [["Cancer", "{second}"]]\n'
        return [
            (edges + f'roots = ["{first}"]\nleaves = ["Xray"]\n[limits]\nCancer = 2\n').encode(),
            f'tiers = [["{first}", "{second}"], ["Cancer"], ["Xray", "Dyspnoea"]]\n'.encode(),
        ]
    path = folder / "seed.db"
    with dn.SqliteJournal(path) as journal:
        journal.put({f"key {i}": os.urandom(40) for i in range(60)})
    return [path.read_bytes()]


def changed(content: bytes, kind: str, generator: random.Random) -> bytes:
    """A few changes: bytes turned, dropped, repeated, moved, and words of the format where they do not belong."""
    found = bytearray(content)
    for _ in range(generator.choice([1, 1, 2, 4, 16])):
        at = generator.randrange(len(found) + 1)
        size = generator.choice([1, 1, 2, 8, 64, 512])
        what = generator.randrange(7)
        if what == 0 and at < len(found):
            found[at] ^= 1 << generator.randrange(8)
        elif what == 1:
            del found[at : at + size]
        elif what == 2:
            found[at:at] = found[at : at + size] * generator.choice([1, 2, 50])
        elif what == 3:
            found[at:at] = generator.choice(WORDS[kind])
        elif what == 4:
            found[at:at] = generator.randbytes(size)
        elif what == 5:
            other = generator.randrange(len(found) + 1)
            found[at : at + size] = found[other : other + size]
        else:
            found[at:] = found[at:][: generator.randrange(len(found) + 1)]
    return bytes(found)


def words(kind: str, path: Path, folder: Path) -> list[str]:
    """The command that reads a file."""
    out, table = str(folder / "out.json"), str(folder / "table.csv")
    return {
        "csv": ["learn", str(path), "--max-parents", "2", "--time-limit", "2", "--missing", "drop", "--quiet", "-o", out],
        "bif": ["convert", str(path), out],
        "toml": ["learn", table, "--knowledge", str(path), "--max-parents", "2", "--quiet"],
        "journal": ["learn", table, "--divide", "3", "--rule", "penalty", "--journal", str(path), "--quiet"],
    }[kind]


def reset_peak_memory() -> None:
    """Start the measurement of peak memory again, so that earlier tests of this process do not count."""
    if (file := Path("/proc/self/clear_refs")).exists():
        file.write_text("5")


def peak_memory() -> float:
    """Largest resident memory of this process, in GB."""
    if (file := Path("/proc/self/status")).exists():
        return int(file.read_text().partition("VmHWM:")[2].split()[0]) / 1e6
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / (1e9 if sys.platform == "darwin" else 1e6)


class Hang(BaseException):
    """It took too long."""


def attack(kind: str, folder: Path, seed: int, count: int) -> list[str]:
    """Try changed files; tell what was not answered with a result or with one clear line, in time.

    Args:
        kind: of the files.
        folder: to work in.
        seed: the same seed gives the same files.
        count: how many.
    """
    folder.mkdir(parents=True, exist_ok=True)
    dn.load("lung-cancer").sample(60, 1).frame().write_csv(folder / "table.csv")
    right = corpus(kind, folder)
    findings = []
    reset_peak_memory()
    at_first = peak_memory()

    def ring(*_: object) -> None:
        raise Hang

    before = signal.signal(signal.SIGPROF, ring)
    try:
        for number in range(count):
            content = changed(
                random.Random(f"{seed} {number}").choice(right), kind, random.Random(f"{kind} {seed} {number}")
            )
            path = folder / f"input.{'db' if kind == 'journal' else kind}"
            for old in folder.glob("input*"):
                old.unlink()
            path.write_bytes(content)
            said, errors = io.StringIO(), io.StringIO()
            problem = ""
            signal.setitimer(signal.ITIMER_PROF, SECONDS)
            try:
                with redirect_stdout(said), redirect_stderr(errors):
                    status = main(words(kind, path, folder))
                if status not in (0, 2) or (status == 2 and errors.getvalue().count("\n") != 1):
                    problem = f"status {status}: {errors.getvalue()[:300]}"
            except Hang:
                problem = f"more than {SECONDS} s of CPU time"
            except SystemExit as error:
                problem = f"exit {error.code}"
            except BaseException:
                problem = traceback.format_exc()[-800:]
            finally:
                signal.setitimer(signal.ITIMER_PROF, 0)
            if problem:
                kept = folder / f"finding-{kind}-{seed}-{number}"
                kept.write_bytes(content)
                findings.append(f"{kept.name}: {problem}")
    finally:
        signal.signal(signal.SIGPROF, before)
    grown = peak_memory() - at_first
    if grown > 1.0:
        findings.append(f"{kind}: {grown:.2f} GB of memory")
    return findings
