"""Run every command with closed, broken and full streams, full disks and a read-only home. Check the status and the files.

Usage: python benchmarks/acceptance/streams.py [COMMAND ...]   about five minutes; full disks need the right to mount tmpfs
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from verdict import Verdicts

sys.path.insert(0, str(Path(__file__).parents[2] / "tests"))
import dagneal
from support.streams import COMMANDS, CONDITIONS, find_problem, prepare, run_command

NOWHERE = "/proc/1/nowhere"  # unwritable even for root


@contextmanager
def small_disk(folder: Path, size: str) -> Iterator[Path | None]:
    """Yield a small tmpfs, or None if it cannot be mounted."""
    folder.mkdir()
    if subprocess.run(["mount", "-t", "tmpfs", "-o", f"size={size}", "tmpfs", folder], capture_output=True).returncode:
        yield None
        return
    try:
        yield folder
    finally:
        subprocess.run(["umount", folder], check=True)


def fill(disk: Path) -> None:
    """Fill a disk completely."""
    try:
        handle = os.open(disk / "filler", os.O_WRONLY | os.O_CREAT | os.O_APPEND)
    except OSError:  # no room even for a file name
        return
    with suppress(OSError):
        while os.write(handle, b"x" * 4096):
            pass
    os.close(handle)


def check_streams(folder: Path, names: list[str], verdicts: Verdicts) -> None:
    """Run all commands under all conditions of their streams."""
    for condition in CONDITIONS:
        wrong = [
            f"{name}: {why}"
            for name in names
            if (why := find_problem(name, condition, run_command(name, condition, folder, folder)))
        ]
        verdicts.add(f"{condition}: commands that fail, of {len(names)}", len(wrong), "0", not wrong)
        print(*(f"      {text}\n" for text in wrong), sep="", end="")


def check_read_only(folder: Path, names: list[str], verdicts: Verdicts) -> None:
    """Run all commands with an unwritable home, and also with an unwritable installation."""
    package = folder / "site" / "dagneal"
    shutil.copytree(Path(dagneal.__file__).parent, package, ignore=shutil.ignore_patterns("__pycache__"))
    (package / "__pycache__").write_text("a file instead of a folder, so that even root cannot create the folder")
    home = {"HOME": NOWHERE, "XDG_CACHE_HOME": NOWHERE, "XDG_CONFIG_HOME": NOWHERE, "PYTHONDONTWRITEBYTECODE": "1"}
    for what, more in (
        ("read-only home", {}),
        ("read-only home and installation", {"PYTHONPATH": str(folder / "site")}),
        ("read-only home and installation, no cache", {"PYTHONPATH": str(folder / "site"), "DAGNEAL_CACHE": NOWHERE}),
    ):
        wrong = [
            f"{name}: {why}"
            for name in names
            if (why := find_problem(name, "plain", run_command(name, "plain", folder, folder, **home, **more)))
        ]
        verdicts.add(f"{what}: commands that fail, of {len(names)}", len(wrong), "0", not wrong)
        print(*(f"      {text}\n" for text in wrong), sep="", end="")


def check_full_disk(folder: Path, names: list[str], verdicts: Verdicts) -> None:
    """Run commands that write files on a full disk: status 2, no traceback, no partial file."""
    writers = [name for name in names if COMMANDS[name][1]]
    with small_disk(folder / "disk", "8m") as disk:
        if disk is None:
            print("SKIPPED: full disks, because no tmpfs can be mounted here")
            return
        prepare(folder, disk)
        before = {path.name for path in disk.iterdir() if path.is_file()}
        fill(disk)
        wrong = []
        for name in writers:
            for home in (False, True):
                environment = {"TMPDIR": str(disk), "HOME": str(disk), "XDG_CACHE_HOME": str(disk)} if home else {}
                for output in COMMANDS[name][1]:
                    (disk / output).unlink(missing_ok=True)
                fill(disk)
                ended = run_command(name, "plain", folder, disk, **environment)
                partial = [path.name for path in disk.rglob("*.tmp")]
                if ended.crashed or partial or (ended.missing and ended.status != 2):
                    wrong.append(f"{name}: status {ended.status}, partial files {partial}, {ended.error[-300:]}")
        lost = [name for name in before if name not in ("i.json",) and not (disk / name).exists()]
        verdicts.add(f"full disk: commands that fail, of {len(writers)}", len(wrong), "0", not wrong)
        verdicts.add("full disk: earlier files that are lost", len(lost), "0", not lost)
        print(*(f"      {text}\n" for text in wrong), sep="", end="")


if __name__ == "__main__":
    chosen = sys.argv[1:] or list(COMMANDS)
    all_verdicts = Verdicts()
    with tempfile.TemporaryDirectory() as where:
        os.chdir(where)
        prepare(Path(where), Path(where))
        check_streams(Path(where), chosen, all_verdicts)
        check_read_only(Path(where), chosen, all_verdicts)
        check_full_disk(Path(where), chosen, all_verdicts)
    all_verdicts.exit()
