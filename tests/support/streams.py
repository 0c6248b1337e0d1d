"""Commands under hostile conditions of their streams, for test_output_streams.py and benchmarks/acceptance/streams.py."""

import os
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import dagneal as dn

# Each command with the files that it must write; {disk} is where they go.
COMMANDS: dict[str, tuple[str, list[str]]] = {
    "help": ("--help", []),
    "version": ("--version", []),
    "learn": ("learn lc.csv -o {disk}/a.json -o {disk}/a.html -o {disk}/a.bif", ["a.json", "a.html", "a.bif"]),
    "learn-sa": (
        "learn lc.csv --solver sa --reads 20 --samples {disk}/s.json --bootstrap 3 -o {disk}/b.dot",
        ["s.json", "b.dot"],
    ),
    "confidence": ("confidence lc.json lc.csv --bootstrap 3 --holdout 0.2 -o {disk}/j.html", ["j.html"]),
    "learn-json": ("learn lc.csv --json -o {disk}/c.graphml", ["c.graphml"]),
    "learn-journal": (
        "learn lc.csv --divide 3 --rule penalty --journal {disk}/new.db -o {disk}/d.json",
        ["new.db", "d.json"],
    ),
    "sample": ("sample lung-cancer --rows 500", []),
    "sample-file": ("sample lung-cancer --rows 500 -o {disk}/e.parquet", ["e.parquet"]),
    "encode": ("encode lc.csv -o {disk}/f.bqm", ["f.bqm"]),
    "encode-compare": ("encode lc.csv --compare", []),
    "compare": ("compare lc.bif lung-cancer --data lc.csv", []),
    "score": ("score lc.bif lc.csv", []),
    "fit": ("fit lc.bif lc.csv -o {disk}/g.bif -o {disk}/g.json", ["g.bif", "g.json"]),
    "convert": ("convert lc.bif {disk}/h.graphml", ["h.graphml"]),
    "plan": ("plan --variables 5 --divide 3", []),
    "reproduce-list": ("reproduce --list", []),
    "reproduce": ("reproduce table-2 -o {disk}/paper", ["paper/report.md"]),
    "networks": ("networks", []),
    "networks-one": ("networks lung-cancer", []),
    "resume": ("resume {disk}/run.db", ["i.json"]),
}

# How the shell runs the command "$@"; the exit status goes to a file, since a pipe would hide it.
CONDITIONS = {
    "plain": '"$@" > out 2> err < /dev/null; echo $? > status',
    "head": '{ "$@" 2> err < /dev/null; echo $? > status; } | head -n 1 > out',
    "no reader": '{ "$@" 2> err < /dev/null; echo $? > status; } | true',
    "no reader of errors": '{ "$@" 2>&1 > out < /dev/null; echo $? > status; } | true',
    "closed output": '"$@" >&- 2> err < /dev/null; echo $? > status',
    "closed error": '"$@" > out 2>&- < /dev/null; echo $? > status',
    "closed input": '"$@" > out 2> err <&-; echo $? > status',
    "all closed": '"$@" >&- 2>&- <&-; echo $? > status',
    "output to full": '"$@" > /dev/full 2> err < /dev/null; echo $? > status',
    "error to full": '"$@" > out 2> /dev/full < /dev/null; echo $? > status',
}
FULL_OUTPUT = "output to full"  # the only condition above under which a command has to fail


@dataclass(frozen=True)
class Ended:
    """How a command ended.

    Attributes:
        status: its exit status; the shell's, where there is none.
        error: what it wrote to standard error, as far as that was kept.
        missing: files that it should have written and did not.
    """

    status: int
    error: str
    missing: list[str]

    @property
    def crashed(self) -> bool:
        """Whether Python showed more than the message of the command."""
        return "Traceback" in self.error or "Exception ignored" in self.error


def prepare(folder: Path, disk: Path) -> None:
    """Write the files that the commands read.

    Args:
        folder: where the commands run.
        disk: where they write.
    """
    truth = dn.load("lung-cancer")
    truth.sample(300, 1).frame().write_csv(folder / "lc.csv")
    dn.write_bif(truth, folder / "lc.bif")
    for words in ("-o lc.json", f"--divide 3 --rule penalty --journal {disk}/run.db -o {disk}/i.json"):
        command = [sys.executable, "-m", "dagneal", "learn", "lc.csv", *words.split()]
        subprocess.run(command, cwd=folder, check=True, capture_output=True)


def attempt(name: str, condition: str, folder: Path, disk: Path, **environment: str) -> Ended:
    """Run one command under one condition.

    Args:
        name: of the command.
        condition: of its streams.
        folder: a prepared one, where it runs.
        disk: where it writes.
        environment: variables that differ from those of this process.
    """
    words, outputs = COMMANDS[name]
    for path in (folder / "status", folder / "err", folder / "out"):
        path.unlink(missing_ok=True)
    for output in outputs:
        (disk / output).unlink(missing_ok=True)
    arguments = [sys.executable, "-m", "dagneal", *words.format(disk=disk).split()]
    subprocess.run(
        ["sh", "-c", CONDITIONS[condition], "sh", *arguments], cwd=folder, env=os.environ | environment, check=False
    )
    error = (folder / "err").read_text(errors="replace") if (folder / "err").exists() else ""
    missing = [output for output in outputs if not (disk / output).exists()]
    return Ended(int((folder / "status").read_text()), error, missing)


def complain(name: str, condition: str, ended: Ended) -> str:
    """What is wrong with how a command ended; nothing if it is right.

    Args:
        name: of the command.
        condition: of its streams.
        ended: how it ended.
    """
    expected = 2 if condition == FULL_OUTPUT else 0
    if ended.crashed:
        return f"a traceback: {ended.error[-300:]}"
    if ended.status != expected:
        return f"status {ended.status} instead of {expected}: {ended.error[-300:]}"
    if ended.missing:
        return f"not written: {', '.join(ended.missing)}"
    return ""
