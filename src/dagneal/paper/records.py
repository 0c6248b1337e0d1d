"""Records: a file with one line per finished run. Lines are only appended. Reports use only this file."""

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
from dagneal.runtime import FOREIGN_JOURNAL

_PACKAGES = ("numpy", "numba", "dimod", "dwave-samplers", "dwave-system", "minorminer")


@dataclass(frozen=True)
class Case:
    """One run, given by its kind and its inputs.

    Args:
        kind: name of the kind of run, a key of `runner.KINDS`.
        inputs: arguments of the run as plain values, including seeds.

    >>> Case("optimum", {"network": "waste", "data": "expected 10000"}).key
    'optimum {"data": "expected 10000", "network": "waste"}'
    """

    kind: str
    inputs: Mapping[str, Any] = field(hash=False)

    @property
    def key(self) -> str:
        """Text that identifies the run."""
        return f"{self.kind} {json.dumps(self.inputs, sort_keys=True)}"


@dataclass(frozen=True)
class Record:
    """A finished run.

    Attributes:
        case: kind and inputs of the run.
        result: results by name, as values that JSON can store.
        seconds: duration of each stage, by name.
        versions: versions of Python and the packages.
        machine: processor, cores and operating system.
        finished: time at which the run ended, in seconds since 1970.
        cpu: CPU seconds that the process used since its previous record. The sum over all records is the CPU time of all
            runs. A single value also contains the time of other runs at the same time.
    """

    case: Case
    result: dict[str, Any]
    seconds: dict[str, float]
    versions: dict[str, str] = field(default_factory=dict)
    machine: str = ""
    finished: float = 0.0
    cpu: float = 0.0

    @classmethod
    def from_line(cls, line: bytes) -> Record:
        """Read a record from one line of JSON.

        Args:
            line: line in the format of `Record.to_line`.
        """
        fields = json.loads(line)
        return cls(Case(fields.pop("kind"), fields.pop("inputs")), **fields)

    def to_line(self) -> str:
        """Return the record as one line of JSON."""
        plain = {"kind": self.case.kind, "inputs": dict(self.case.inputs)} | {
            name: getattr(self, name) for name in ("result", "seconds", "versions", "machine", "finished", "cpu")
        }
        return json.dumps(plain) + "\n"


def package_versions() -> dict[str, str]:
    """Return the versions of Python, dagneal and the packages that affect results."""
    versions = {"dagneal": dn.__version__, "python": platform.python_version()}
    for name in _PACKAGES:
        try:
            versions[name] = version(name)
        except PackageNotFoundError:
            continue
    return versions


def describe_machine() -> str:
    """Return processor, number of cores and operating system of this machine.

    >>> "core" in describe_machine()
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
    """The records of finished runs in a file.

    Args:
        path: file with the records. An incomplete last line is dropped.
        writing: True to add records, False to only read. If True, the file is created if needed, and locked.
        journal: journal that stores a second copy of each added record, in case the file is lost.
    """

    def __init__(self, path: Path, writing: bool = False, journal: dn.Journal | None = None) -> None:
        self.path, self.journal = path, journal
        self._records: dict[str, Record] = {}
        try:
            self._file = _open_locked(path) if writing else None
            content = path.read_bytes() if path.exists() else b""
            end = content.rfind(b"\n") + 1
            if self._file is not None and end < len(content):
                self._file.truncate(end)
        except OSError as error:
            raise dn.InputError(f"cannot use {path}: {error.strerror or error}") from error
        for number, line in enumerate(content[:end].splitlines(), 1):
            try:
                record = Record.from_line(line)
                self._records[record.case.key] = record
            except (ValueError, TypeError, KeyError, AttributeError) as error:
                raise dn.InputError(
                    f"{path}, line {number} is not a valid record; delete this line or choose another folder"
                ) from error

    def __enter__(self) -> Records:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __len__(self) -> int:
        return len(self._records)

    def __contains__(self, case: Case) -> bool:
        return case.key in self._records

    def get(self, case: Case) -> Record | None:
        """Return the record of a run, or None if the run is not finished.

        Args:
            case: run to look up.
        """
        return self._records.get(case.key)

    def select(self, cases: Iterable[Case]) -> list[Record]:
        """Return the records of those runs in `cases` that are finished.

        Args:
            cases: runs to look up.
        """
        return [self._records[case.key] for case in cases if case in self]

    def add(self, record: Record) -> None:
        """Write a record to disk. It survives a crash once this method has returned.

        Args:
            record: record of a finished run.
        """
        if self._file is None:
            raise AssertionError("these records are read-only")
        try:
            self._file.write(record.to_line().encode())
            self._file.flush()
            os.fsync(self._file.fileno())
        except OSError as error:
            raise dn.InputError(f"cannot write {self.path}: {error.strerror or error}") from error
        self._records[record.case.key] = record
        if self.journal is not None:
            self.journal.put({f"record:{record.case.key}": record.to_line().encode()})

    def restore(self, cases: Iterable[Case]) -> None:
        """Copy records from the journal to the file if the file does not contain them.

        Args:
            cases: runs whose records are copied.
        """
        if self.journal is None or self._file is None:
            return
        missing = {f"record:{case.key}": case for case in cases if case not in self}
        for key, line in self.journal.get(missing).items():
            try:
                record = Record.from_line(line)
                valid = record.case.key == missing[key].key and isinstance(record.result, dict)
            except (ValueError, TypeError, KeyError, AttributeError):
                valid = False
            if not valid:
                raise dn.InputError(f"the journal holds no valid record of {missing[key].key}; {FOREIGN_JOURNAL}")
            self.add(record)

    def close(self) -> None:
        """Close the file."""
        if self._file is not None:
            self._file.close()
            self._file = None


def _open_locked(path: Path) -> BinaryIO:
    """Open a file for appending, and lock it so that no other process can write to it."""
    file = path.open("ab")
    try:
        import fcntl
    except ImportError:  # Windows has no fcntl
        return file
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError as error:
        file.close()
        raise dn.InputError(f"another run is writing {path}; wait until it ends or choose another folder") from error
    return file
