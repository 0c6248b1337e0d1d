"""Run commands with closed, broken or full streams. Used by test_output_streams.py and benchmarks/acceptance/streams.py."""

import os
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import dagneal as dn

# Each command, and the files that it must write into the folder {disk}.
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

# Shell code that runs the command "$@". The exit status goes to a file, because a pipe would hide it.
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
FULL_OUTPUT = "output to full"  # the only condition under which a command must fail


@dataclass(frozen=True)
class CommandResult:
    """The result of a command.

    Attributes:
        status: exit status.
        error: text on standard error, if it was captured.
        missing: required files that were not written.
    """

    status: int
    error: str
    missing: list[str]

    @property
    def crashed(self) -> bool:
        """Whether Python printed a traceback or an ignored exception."""
        return "Traceback" in self.error or "Exception ignored" in self.error


def prepare(folder: Path, disk: Path) -> None:
    """Write the files that the commands read.

    Args:
        folder: working folder of the commands.
        disk: output folder.
    """
    truth = dn.load("lung-cancer")
    truth.sample(300, 1).frame().write_csv(folder / "lc.csv")
    dn.write_bif(truth, folder / "lc.bif")
    for words in ("-o lc.json", f"--divide 3 --rule penalty --journal {disk}/run.db -o {disk}/i.json"):
        command = [sys.executable, "-m", "dagneal", "learn", "lc.csv", *words.split()]
        subprocess.run(command, cwd=folder, check=True, capture_output=True)


def run_command(name: str, condition: str, folder: Path, disk: Path, **environment: str) -> CommandResult:
    """Run one command under one condition.

    Args:
        name: key of `COMMANDS`.
        condition: key of `CONDITIONS`.
        folder: working folder, filled by `prepare`.
        disk: output folder.
        environment: additional environment variables.
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
    return CommandResult(int((folder / "status").read_text()), error, missing)


def find_problem(name: str, condition: str, result: CommandResult) -> str:
    """Return a description of what is wrong with the result of a command; empty if nothing is wrong.

    Args:
        name: key of `COMMANDS`.
        condition: key of `CONDITIONS`.
        result: result of the command.
    """
    expected = 2 if condition == FULL_OUTPUT else 0
    if result.crashed:
        return f"a traceback: {result.error[-300:]}"
    if result.status != expected:
        return f"status {result.status} instead of {expected}: {result.error[-300:]}"
    if result.missing:
        return f"not written: {', '.join(result.missing)}"
    return ""
