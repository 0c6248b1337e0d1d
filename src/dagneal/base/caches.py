"""Cache folders, which store compiled kernels and embeddings between runs."""

from __future__ import annotations

import os
import stat
import tempfile
from collections.abc import Iterable
from pathlib import Path


def user_cache_folder() -> Path:
    """Return the path of the cache folder.

    This is the value of the environment variable `DAGNEAL_CACHE` if it is set, else the user's standard cache folder, for
    example `~/.cache/dagneal`. For a user without a home folder, it is a temporary folder.
    """
    if folder := os.environ.get("DAGNEAL_CACHE"):
        return Path(folder)
    if folder := os.environ.get("XDG_CACHE_HOME"):
        return Path(folder) / "dagneal"
    try:
        return Path.home() / ".cache" / "dagneal"
    except RuntimeError:  # the user has no home folder, as in many containers
        return temporary_cache_folder()


def temporary_cache_folder() -> Path:
    """Return the path of this user's cache in the system's temporary folder."""
    owner = f"-{os.getuid()}" if hasattr(os, "getuid") else ""
    try:
        parent = tempfile.gettempdir()
    except OSError:  # no temporary folder is writable
        parent = os.curdir
    return Path(parent) / f"dagneal-cache{owner}"


def first_writable(folders: Iterable[Path]) -> Path | None:
    """Return the first folder to which only this user can write, or None if there is no such folder.

    Folders that do not exist are created. Folders that another user owns or can write to are skipped, because compiled code
    is loaded from the result.

    Args:
        folders: candidate folders, best first.
    """
    for folder in folders:
        try:
            folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            if not _is_private(folder):
                continue
            with tempfile.TemporaryFile(dir=folder):
                return folder
        except OSError:
            continue
    return None


def _is_private(folder: Path) -> bool:
    if not hasattr(os, "getuid"):  # Windows has one temporary folder per user
        return True
    status = folder.stat()
    return status.st_uid == os.getuid() and not status.st_mode & (stat.S_IWGRP | stat.S_IWOTH)
