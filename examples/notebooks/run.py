"""Run the notebooks and store their output: `python examples/notebooks/run.py` (needs nbclient and ipykernel)."""

import sys
from pathlib import Path
from tempfile import TemporaryDirectory

import nbformat
from nbclient import NotebookClient

HERE = Path(__file__).parent


def execute(path: Path, folder: str) -> nbformat.NotebookNode:
    """Run a notebook in a folder and return it with its outputs, without metadata that differs between runs."""
    notebook = nbformat.read(path, as_version=4)
    NotebookClient(
        notebook,
        timeout=120,
        kernel_name="python3",
        coalesce_streams=True,
        extra_arguments=["--log-level=ERROR"],
        resources={"metadata": {"path": folder}},
    ).execute()
    for cell in notebook.cells:
        cell.metadata.clear()
    notebook.metadata.language_info = {"name": "python"}
    return notebook


if __name__ == "__main__":
    for path in sorted(HERE.glob("*.ipynb")):
        with TemporaryDirectory() as folder:
            nbformat.write(execute(path, folder), path)
        print(path.name, file=sys.stderr)
