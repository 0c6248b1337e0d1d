"""Networks of the bnlearn repository, for benchmarks: from a folder of BIF files, or from the wheel of pgmpy 0.1.26."""

from __future__ import annotations

import gzip
import subprocess
import sys
import tempfile
import zipfile
from collections.abc import Sequence
from functools import cache
from io import BytesIO
from pathlib import Path

import dagneal as dn
from dagneal.networks.bif import parse_bif

OPTION = ("--networks", {"type": Path, "metavar": "FOLDER", "help": "folder of .bif files; by default pip downloads pgmpy"})


def fetch_networks(names: Sequence[str], folder: Path | None = None) -> dict[str, dn.BayesianNetwork]:
    """Return networks by name.

    Args:
        names: names of the networks, such as `alarm`.
        folder: folder with the files NAME.bif; None to download the wheel of pgmpy 0.1.26.
    """
    if folder is not None:
        return {name: parse_bif((folder / f"{name}.bif").read_text(), name) for name in names}
    wheel = _wheel()
    entries = {Path(entry).name.removesuffix(".bif.gz"): entry for entry in wheel.namelist() if entry.endswith(".bif.gz")}
    return {name: parse_bif(gzip.decompress(wheel.read(entries[name])).decode(), name) for name in names}


@cache
def _wheel() -> zipfile.ZipFile:
    """Download the wheel of pgmpy once, and return its content."""
    with tempfile.TemporaryDirectory() as place:
        words = ["download", "--quiet", "--no-deps", "pgmpy==0.1.26", "--dest", place]
        subprocess.run([sys.executable, "-m", "pip", *words], check=True, stderr=subprocess.DEVNULL)
        return zipfile.ZipFile(BytesIO(next(Path(place).glob("pgmpy*.whl")).read_bytes()))


def write_sample(network: dn.BayesianNetwork, rows: int, seed: int, path: Path) -> dn.Dataset:
    """Write rows of a network to a CSV file in random order. Return the data as read from the file.

    The data have only the states that occur, as for tools that read the file.

    Args:
        network: network to sample from.
        rows: number of rows.
        seed: seed of the sample and of the order of the rows.
        path: file to write.
    """
    network.sample(rows, seed).frame().sample(fraction=1.0, shuffle=True, seed=seed).write_csv(path)
    return dn.read(path)
