"""Write files atomically, and check paths before long computations."""

import os
import secrets
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import BinaryIO

from dagneal.base.errors import InputError

SCORE_FILES = (".jkl", ".scores", ".jaa", ".res")  # endings of files with scores of parent sets, instead of data


def check_writable(path: str | os.PathLike[str]) -> None:
    """Check that a file can be written at a path. Call this before a long computation, so that its result is not lost."""
    target = Path(os.path.realpath(path))
    if not target.parent.is_dir():
        raise InputError(f"cannot write {path}: there is no folder {Path(path).parent}; create it first")
    if target.is_dir():
        raise InputError(f"cannot write {path}: it is a folder; give a file name")
    if not os.access(target.parent, os.W_OK) and not _is_device(target):
        raise InputError(f"cannot write {path}: the folder is read-only; give another path")


def check_format(path: str | os.PathLike[str], endings: Sequence[str]) -> None:
    """Check that a file name has a supported ending and that the file can be written.

    Args:
        path: file to write.
        endings: supported file name endings, at least two.

    >>> check_format("network.doc", (".bif", ".json"))
    Traceback (most recent call last):
    dagneal.base.errors.InputError: network.doc has an unknown format; end the name in .bif or .json
    """
    if Path(path).suffix.lower() not in endings:
        raise InputError(f"{path} has an unknown format; end the name in {', '.join(endings[:-1])} or {endings[-1]}")
    check_writable(path)


def check_distinct_paths(paths: Sequence[str]) -> None:
    """Check that no two paths lead to the same file, because the second write would replace the first.

    Args:
        paths: files to write.

    >>> check_distinct_paths(["a.bif", "b.bif", "./a.bif"])
    Traceback (most recent call last):
    dagneal.base.errors.InputError: a.bif and ./a.bif are the same file; use different names
    """
    seen: dict[str, str] = {}
    for path in paths:
        real = os.path.realpath(path)
        if real in seen and not _is_device(Path(real)):
            raise InputError(f"{seen[real]} and {path} are the same file; use different names")
        seen[real] = path


@contextmanager
def atomic_write(path: str | os.PathLike[str]) -> Iterator[BinaryIO]:
    """Open a temporary file for writing. Rename it to `path` if the `with` block succeeds, otherwise delete it.

    >>> import tempfile, pathlib
    >>> target = pathlib.Path(tempfile.mkdtemp()) / "answer.txt"
    >>> with atomic_write(target) as file:
    ...     _ = file.write(b"42")
    >>> target.read_text()
    '42'
    """
    check_writable(path)
    target = Path(os.path.realpath(path))  # if `path` is a symbolic link, keep it and replace its target
    try:
        if _is_device(target):
            with target.open("wb") as file:
                yield file
            return
        with _temporary(target) as file:
            yield file
            file.flush()
            os.fsync(file.fileno())
    except OSError as error:
        raise InputError(f"cannot write {path}: {error.strerror or error}") from error


@contextmanager
def _temporary(target: Path) -> Iterator[BinaryIO]:
    name = target.with_name(f".{target.name}.{secrets.token_hex(4)}.tmp")
    handle = os.open(name, os.O_WRONLY | os.O_CREAT | os.O_EXCL, target.stat().st_mode & 0o777 if target.exists() else 0o666)
    try:
        with os.fdopen(handle, "wb") as file:
            yield file
        os.replace(name, target)
    except BaseException:
        with suppress(OSError):
            os.unlink(name)
        raise


def _is_device(target: Path) -> bool:
    """Return whether a path is a device or a pipe, such as /dev/stdout. A temporary file must not replace it."""
    return target.exists() and not target.is_file()
