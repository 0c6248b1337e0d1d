"""Run the notebooks again and keep what they print: `python examples/notebooks/run.py` (needs nbclient and ipykernel)."""

import sys
from pathlib import Path
from tempfile import TemporaryDirectory

import nbformat
from nbclient import NotebookClient

HERE = Path(__file__).parent


def executed(path: Path, folder: str) -> nbformat.NotebookNode:
    """A notebook after it has run in a folder, with its outputs and nothing that differs from run to run."""
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
            nbformat.write(executed(path, folder), path)
        print(path.name, file=sys.stderr)
