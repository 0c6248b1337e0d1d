"""Write a QUBO to a file that other tools can read."""

from __future__ import annotations

import json
import os
import shutil
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from dagneal.base.files import atomic_write, check_format

if TYPE_CHECKING:
    import dimod

FORMATS = (".bqm", ".coo", ".npz")


def write_model(bqm: dimod.BinaryQuadraticModel, path: str | os.PathLike[str]) -> None:
    """Write a binary quadratic model to a file. The file extension selects the format.

    Args:
        bqm: binary or spin model.
        path: path of the file. The extension `.bqm` selects dimod's own format. `.coo` selects text with one
            `row column value` per line, which dimod's `coo` module reads. `.npz` selects the NumPy arrays `row`, `column`,
            `value`, `offset`, `vartype` and `labels`; each label is JSON text.

    >>> import dimod, tempfile, pathlib
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "pair.coo"
    >>> write_model(dimod.BinaryQuadraticModel({"a": -1.0}, {("a", "b"): 0.5}, 2.0, "BINARY"), path)
    >>> print(path.read_text())
    # vartype=BINARY
    # offset=2.0
    # 0 = "a"
    # 1 = "b"
    0 0 -1.0
    0 1 0.5
    1 1 0.0
    <BLANKLINE>
    """
    check_format(path, FORMATS)
    suffix = Path(path).suffix.lower()
    with atomic_write(path) as file:
        if suffix == ".bqm":
            with bqm.to_file() as source:
                shutil.copyfileobj(source, file)
            return
        rows, columns, values = _triplets(bqm)
        labels = [json.dumps(label) for label in bqm.variables]
        if suffix == ".npz":
            np.savez(
                file,
                row=rows,
                column=columns,
                value=values,
                offset=np.float64(bqm.offset),
                vartype=np.str_(bqm.vartype.name),
                labels=np.array(labels),
            )
            return
        lines = [f"# vartype={bqm.vartype.name}", f"# offset={float(bqm.offset)!r}"]
        lines += [f"# {i} = {label}" for i, label in enumerate(labels)]
        # dimod's reader does not accept exponents, such as 1e-05.
        lines += [
            f"{i} {j} {np.format_float_positional(value, trim='0')}"
            for i, j, value in zip(rows, columns, values, strict=True)
        ]
        file.write(("\n".join(lines) + "\n").encode())


def _triplets(bqm: dimod.BinaryQuadraticModel) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return (rows, columns, values) of a model's upper-triangular matrix. The linear coefficients are on the diagonal."""
    linear, (i, j, quadratic), _ = bqm.to_numpy_vectors(variable_order=bqm.variables)
    diagonal = np.arange(len(linear))
    rows = np.concatenate([diagonal, np.minimum(i, j)])
    columns = np.concatenate([diagonal, np.maximum(i, j)])
    values = np.concatenate([linear, quadratic])
    order = np.lexsort((columns, rows))
    return rows[order], columns[order], values[order]
