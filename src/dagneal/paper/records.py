"""Records: one line for each run, in a file that only grows; a report is made from them alone."""

from __future__ import annotations

import json
import os
import platform
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any, BinaryIO

import dagneal as dn
from dagneal.runtime import NOT_OURS

_PACKAGES = ("numpy", "numba", "dimod", "dwave-samplers", "dwave-system", "minorminer")


@dataclass(frozen=True)
class Case:
    """One run: what kind of experiment, and its inputs.

    Args:
        kind: a name in `runner.KINDS`.
        inputs: plain values, seeds among them.

    >>> Case("exact", {"network": "waste", "data": "expected 10000"}).key
    'exact {"data": "expected 10000", "network": "waste"}'
    """

    kind: str
    inputs: Mapping[str, Any] = field(hash=False)

    @property
    def key(self) -> str:
        """What tells it from other runs."""
        return f"{self.kind} {json.dumps(self.inputs, sort_keys=True)}"


@dataclass(frozen=True)
class Record:
    """A run that is finished.

    Attributes:
        case: what was run.
        result: what came of it, as plain values.
        seconds: what it took, by stage.
        versions: of the programs that ran it.
        machine: that ran it.
        finished: when, in seconds since 1970.
    """

    case: Case
    result: dict[str, Any]
    seconds: dict[str, float]
    versions: dict[str, str] = field(default_factory=dict)
    machine: str = ""
    finished: float = 0.0

    @classmethod
    def of(cls, line: bytes) -> Record:
        """The record that a line tells.

        Args:
            line: what `line` gave.
        """
        read = json.loads(line)
        return cls(Case(read.pop("kind"), read.pop("inputs")), **read)

    def line(self) -> str:
        """The record as one line of JSON."""
        plain = {"kind": self.case.kind, "inputs": dict(self.case.inputs)} | {
            name: getattr(self, name) for name in ("result", "seconds", "versions", "machine", "finished")
        }
        return json.dumps(plain) + "\n"


def versions() -> dict[str, str]:
    """The versions of all that a result depends on."""
    found = {"dagneal": dn.__version__, "python": platform.python_version()}
    for name in _PACKAGES:
        try:
            found[name] = version(name)
        except PackageNotFoundError:
            continue
    return found


def machine() -> str:
    """What this machine is, in a few words.

    >>> "core" in machine()
    True
    """
    model = platform.processor() or platform.machine()
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
        model = next((line.split(":", 1)[1].strip() for line in lines if line.startswith("model name")), model)
    except OSError:
        pass
    return f"{model}, {os.cpu_count()} cores, {platform.system()}"


class Records:
    """The records of a file, and the way to add to it.

    Args:
        path: the file. A last line that was cut off is dropped.
        writing: whether records will be added; then the file is made, and nobody else can add to it.
        journal: keeps what is added too, so that it survives the loss of the file.
    """

    def __init__(self, path: Path, writing: bool = False, journal: dn.Journal | None = None) -> None:
        self.path, self.journal = path, journal
        self._found: dict[str, Record] = {}
        try:
            self._file = _open_locked(path) if writing else None
            content = path.read_bytes() if path.exists() else b""
            whole = content.rfind(b"\n") + 1
            if self._file is not None and whole < len(content):
                self._file.truncate(whole)
        except OSError as error:
            raise dn.InputError(f"{path} cannot be used: {error.strerror or error}") from error
        for number, line in enumerate(content[:whole].splitlines(), 1):
            try:
                record = Record.of(line)
                self._found[record.case.key] = record
            except (ValueError, TypeError, KeyError, AttributeError) as error:
                raise dn.InputError(
                    f"{path}, line {number}, is no record; delete the line, or choose another folder"
                ) from error

    def __enter__(self) -> Records:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __len__(self) -> int:
        return len(self._found)

    def __contains__(self, case: Case) -> bool:
        return case.key in self._found

    def get(self, case: Case) -> Record | None:
        """The record of a run, if it is finished.

        Args:
            case: the run.
        """
        return self._found.get(case.key)

    def of(self, cases: Iterable[Case]) -> list[Record]:
        """The records of those runs that are finished.

        Args:
            cases: the runs.
        """
        return [self._found[case.key] for case in cases if case in self]

    def add(self, record: Record) -> None:
        """Write a record; once this returns it survives a crash.

        Args:
            record: a run that is finished.
        """
        if self._file is None:
            raise AssertionError("these records are only read")
        try:
            self._file.write(record.line().encode())
            self._file.flush()
            os.fsync(self._file.fileno())
        except OSError as error:
            raise dn.InputError(f"{self.path} cannot be written: {error.strerror or error}") from error
        self._found[record.case.key] = record
        if self.journal is not None:
            self.journal.put({f"record:{record.case.key}": record.line().encode()})

    def restore(self, cases: Iterable[Case]) -> None:
        """Add what the journal has of these runs and the file has not.

        Args:
            cases: the runs.
        """
        if self.journal is None or self._file is None:
            return
        missing = {f"record:{case.key}": case for case in cases if case not in self}
        for key, line in self.journal.get(missing).items():
            try:
                record = Record.of(line)
                valid = record.case.key == missing[key].key and isinstance(record.result, dict)
            except (ValueError, TypeError, KeyError, AttributeError):
                valid = False
            if not valid:
                raise dn.InputError(f"the journal holds no valid record of {missing[key].key}; {NOT_OURS}")
            self.add(record)

    def close(self) -> None:
        """Close the file."""
        if self._file is not None:
            self._file.close()
            self._file = None


def _open_locked(path: Path) -> BinaryIO:
    """A file to add to, which no other run can add to."""
    file = path.open("ab")
    try:
        import fcntl
    except ImportError:  # not on Windows
        return file
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError as error:
        file.close()
        raise dn.InputError(f"{path} is being written by another run; wait for it, or choose another folder") from error
    return file
