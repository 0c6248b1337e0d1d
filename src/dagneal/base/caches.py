"""Cache folders: where compiled kernels and embeddings are stored between runs."""

from __future__ import annotations

import os
import stat
import tempfile
from collections.abc import Iterable
from pathlib import Path


def user_cache_folder() -> Path:
    """The folder for this user's caches: `DAGNEAL_CACHE`, else the usual one of the user, else a temporary one."""
    if given := os.environ.get("DAGNEAL_CACHE"):
        return Path(given)
    if given := os.environ.get("XDG_CACHE_HOME"):
        return Path(given) / "dagneal"
    try:
        return Path.home() / ".cache" / "dagneal"
    except RuntimeError:  # a user without a home folder, as in many containers
        return temporary_cache_folder()


def temporary_cache_folder() -> Path:
    """A folder of this user in the system's temporary folder."""
    owner = f"-{os.getuid()}" if hasattr(os, "getuid") else ""
    try:
        parent = tempfile.gettempdir()
    except OSError:  # no temporary folder can be written
        parent = os.curdir
    return Path(parent) / f"dagneal-cache{owner}"


def first_writable(folders: Iterable[Path]) -> Path | None:
    """Create and return the first folder that this user can write to and nobody else can; None if there is none.

    Compiled code is loaded from these folders, so a folder that another user owns or can write to is not used.

    Args:
        folders: the candidates, best first.
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
    if not hasattr(os, "getuid"):  # Windows keeps one temporary folder per user
        return True
    found = folder.stat()
    return found.st_uid == os.getuid() and not found.st_mode & (stat.S_IWGRP | stat.S_IWOTH)
