"""Writing files so that nothing is lost or left half-written."""

import os
import secrets
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import BinaryIO

from dagneal.base.errors import InputError


def check_writable(path: str | os.PathLike[str]) -> None:
    """Refuse at once what could only fail after the work: a missing folder, a folder as a file."""
    target = Path(os.path.realpath(path))
    if not target.parent.is_dir():
        raise InputError(f"cannot write {path}: there is no folder {Path(path).parent}; create it first")
    if target.is_dir():
        raise InputError(f"cannot write {path}: it is a folder; give a file name")
    if not os.access(target.parent, os.W_OK) and not _is_device(target):
        raise InputError(f"cannot write {path}: its folder is read-only")


def check_format(path: str | os.PathLike[str], endings: Sequence[str]) -> None:
    """Refuse a path that cannot be written to, or whose ending says no format, before the work is done.

    Args:
        path: where to write.
        endings: those that say a format.

    >>> check_format("network.doc", (".bif", ".json"))
    Traceback (most recent call last):
    dagneal.base.errors.InputError: cannot tell the format of network.doc; end the name in .bif, .json
    """
    if Path(path).suffix.lower() not in endings:
        raise InputError(f"cannot tell the format of {path}; end the name in {', '.join(endings)}")
    check_writable(path)


def check_different(paths: Sequence[str]) -> None:
    """Refuse a file that is named twice: the second writing would replace the first.

    Args:
        paths: where results will be written.

    >>> check_different(["a.bif", "b.bif", "./a.bif"])
    Traceback (most recent call last):
    dagneal.base.errors.InputError: a.bif and ./a.bif are the same file; give another name
    """
    seen: dict[str, str] = {}
    for path in paths:
        real = os.path.realpath(path)
        if real in seen and not _is_device(Path(real)):
            raise InputError(f"{seen[real]} and {path} are the same file; give another name")
        seen[real] = path


@contextmanager
def replacing(path: str | os.PathLike[str]) -> Iterator[BinaryIO]:
    """Open a file to write; it takes the place of `path` only when everything was written.

    >>> import tempfile, pathlib
    >>> target = pathlib.Path(tempfile.mkdtemp()) / "answer.txt"
    >>> with replacing(target) as file:
    ...     _ = file.write(b"42")
    >>> target.read_text()
    '42'
    """
    check_writable(path)
    target = Path(os.path.realpath(path))  # a link stays a link
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
    """Such as /dev/stdout or a named pipe: written as it is, since it cannot be replaced."""
    return target.exists() and not target.is_file()
