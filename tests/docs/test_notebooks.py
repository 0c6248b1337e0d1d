"""The notebooks run, and their stored output is current."""

import runpy
from pathlib import Path

import nbformat
import pytest

FOLDER = Path(__file__).parents[2] / "examples" / "notebooks"


def outputs(notebook: nbformat.NotebookNode) -> list[list[dict]]:
    return [[dict(output) for output in cell.get("outputs", ())] for cell in notebook.cells]


@pytest.mark.slow
@pytest.mark.parametrize("name", ["medical", "sachs", "your-own-csv"])
def test_the_stored_output_is_current(name, tmp_path):
    path = FOLDER / f"{name}.ipynb"
    execute = runpy.run_path(str(FOLDER / "run.py"))["execute"]
    notebook = execute(path, str(tmp_path))
    assert outputs(notebook) == outputs(nbformat.read(path, as_version=4)), "run `make notebooks` and check the difference"
    assert all(
        output["output_type"] == "stream" and output["name"] == "stdout" for cell in outputs(notebook) for output in cell
    )


def test_every_notebook_is_tested():
    assert sorted(path.stem for path in FOLDER.glob("*.ipynb")) == ["medical", "sachs", "your-own-csv"]
