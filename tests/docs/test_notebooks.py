"""The notebooks run, and print what they are committed with."""

import runpy
from pathlib import Path

import nbformat
import pytest

FOLDER = Path(__file__).parents[2] / "examples" / "notebooks"


def outputs(notebook: nbformat.NotebookNode) -> list[list[dict]]:
    return [[dict(output) for output in cell.get("outputs", ())] for cell in notebook.cells]


@pytest.mark.slow
@pytest.mark.parametrize("name", ["medical", "sachs", "your-own-csv"])
def test_it_prints_what_it_shows(name, tmp_path):
    path = FOLDER / f"{name}.ipynb"
    executed = runpy.run_path(str(FOLDER / "run.py"))["executed"]
    found = executed(path, str(tmp_path))
    assert outputs(found) == outputs(nbformat.read(path, as_version=4)), "run `make notebooks` and look at the difference"
    assert all(
        output["output_type"] == "stream" and output["name"] == "stdout" for cell in outputs(found) for output in cell
    )


def test_all_of_them_are_tested():
    assert sorted(path.stem for path in FOLDER.glob("*.ipynb")) == ["medical", "sachs", "your-own-csv"]
