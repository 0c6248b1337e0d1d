"""Fuzzing: valid input files with random changes. Used by test_fuzz.py and benchmarks/fuzz.py."""

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

SECONDS = 10  # CPU time, which does not depend on the load of the machine
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
    """Return valid files of a kind."""
    truth = dn.load("lung-cancer")
    if kind == "csv":
        table = truth.sample(60, 1).frame().write_csv().encode()
        return [table, table.replace(b",", b";"), b'a,"b, c",d\n' + b'1,"x\ny",2.5\n' * 9 + b"2,z,?\n" * 9]
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


def mutate(content: bytes, kind: str, generator: random.Random) -> bytes:
    """Return a file with random changes: bits flipped, bytes deleted, repeated or moved, and keywords inserted."""
    mutated = bytearray(content)
    for _ in range(generator.choice([1, 1, 2, 4, 16])):
        at = generator.randrange(len(mutated) + 1)
        size = generator.choice([1, 1, 2, 8, 64, 512])
        change = generator.randrange(7)
        if change == 0 and at < len(mutated):
            mutated[at] ^= 1 << generator.randrange(8)
        elif change == 1:
            del mutated[at : at + size]
        elif change == 2:
            mutated[at:at] = mutated[at : at + size] * generator.choice([1, 2, 50])
        elif change == 3:
            mutated[at:at] = generator.choice(WORDS[kind])
        elif change == 4:
            mutated[at:at] = generator.randbytes(size)
        elif change == 5:
            other = generator.randrange(len(mutated) + 1)
            mutated[at : at + size] = mutated[other : other + size]
        else:
            mutated[at:] = mutated[at:][: generator.randrange(len(mutated) + 1)]
    return bytes(mutated)


def command(kind: str, path: Path, folder: Path) -> list[str]:
    """Return the command line that reads a file."""
    out, table = str(folder / "out.json"), str(folder / "table.csv")
    return {
        "csv": ["learn", str(path), "--max-parents", "2", "--time-limit", "2", "--missing", "drop", "--quiet", "-o", out],
        "bif": ["convert", str(path), out],
        "toml": ["learn", table, "--knowledge", str(path), "--max-parents", "2", "--quiet"],
        "journal": ["learn", table, "--divide", "3", "--rule", "penalty", "--journal", str(path), "--quiet"],
    }[kind]


def reset_peak_memory() -> None:
    """Reset the peak memory of this process, so that earlier tests do not count."""
    if (file := Path("/proc/self/clear_refs")).exists():
        file.write_text("5")


def peak_memory() -> float:
    """Return the peak resident memory of this process, in GB."""
    if (file := Path("/proc/self/status")).exists():
        return int(file.read_text().partition("VmHWM:")[2].split()[0]) / 1e6
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / (1e9 if sys.platform == "darwin" else 1e6)


class Hang(BaseException):
    """A command took too long."""


def attack(kind: str, folder: Path, seed: int, count: int) -> list[str]:
    """Run commands on changed files. Return descriptions of crashes, hangs and errors that are not one line.

    Args:
        kind: kind of the files.
        folder: working folder.
        seed: random seed of the changes.
        count: number of files.
    """
    folder.mkdir(parents=True, exist_ok=True)
    dn.load("lung-cancer").sample(60, 1).frame().write_csv(folder / "table.csv")
    valid = corpus(kind, folder)
    findings = []
    reset_peak_memory()
    initial = peak_memory()

    def stop(*_: object) -> None:
        raise Hang

    before = signal.signal(signal.SIGPROF, stop)
    try:
        for number in range(count):
            content = mutate(random.Random(f"{seed} {number}").choice(valid), kind, random.Random(f"{kind} {seed} {number}"))
            path = folder / f"input.{'db' if kind == 'journal' else kind}"
            for old in folder.glob("input*"):
                old.unlink()
            path.write_bytes(content)
            output, errors = io.StringIO(), io.StringIO()
            problem = ""
            signal.setitimer(signal.ITIMER_PROF, SECONDS)
            try:
                with redirect_stdout(output), redirect_stderr(errors):
                    status = main(command(kind, path, folder))
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
                saved = folder / f"finding-{kind}-{seed}-{number}"
                saved.write_bytes(content)
                findings.append(f"{saved.name}: {problem}")
    finally:
        signal.signal(signal.SIGPROF, before)
    grown = peak_memory() - initial
    if grown > 1.0:
        findings.append(f"{kind}: memory grew by {grown:.2f} GB")
    return findings
