"""Run the examples of documentation pages: `python docs/examples.py PAGE...` updates the output on the pages.

Two kinds of blocks are examples. In a `console` block, a line that begins with `$ ` is a command, and the lines below
it are its output. All `python` blocks of a page are one program; a `text` block right below a `python` block is its
output. The examples run in a folder that contains `patients.csv` and `titanic.csv`.
"""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path
from tempfile import TemporaryDirectory

CONSOLE = re.compile(r"^```console\n(.*?)^```$", re.DOTALL | re.MULTILINE)
PYTHON = re.compile(r"^```python\n(.*?)^```\n(?:\n```text\n(.*?)^```$)?", re.DOTALL | re.MULTILINE)
SECONDS = re.compile(r"\d[\d,.]* (?:s|min)\b")
SEPARATOR = "-- end of block --"


def run_page(page: str, folder: str) -> str:
    """Return a page with the output that its examples have now.

    Args:
        page: text of the page.
        folder: folder to run the examples in.
    """
    shutil.copy(Path(__file__).parents[1] / "examples" / "titanic.csv", folder)
    _run("dagneal sample lung-cancer --rows 10000 --seed 7 --quiet -o patients.csv", folder)
    page = CONSOLE.sub(lambda block: _run_console(block[1], folder), page)
    blocks = [block[1] for block in PYTHON.finditer(page)]
    program = "".join(f"{code}\nprint({SEPARATOR!r}, flush=True)\n" for code in blocks)
    outputs = iter(_run([sys.executable, "-W", "ignore", "-c", program], folder).split(f"{SEPARATOR}\n"))

    def fill(block: re.Match[str]) -> str:
        output = next(outputs)
        end = "\n" if block[2] is None else ""  # a new block needs an empty line below it
        return f"```python\n{block[1]}```\n" + (f"\n```text\n{output}```{end}" if output else "")

    return PYTHON.sub(fill, page)


def without_times(page: str) -> str:
    """Return a page with all times replaced, since they differ from run to run."""
    return SECONDS.sub("N s", page)


def _run_console(block: str, folder: str) -> str:
    commands = [line.removeprefix("$ ") for line in block.splitlines() if line.startswith("$ ")]
    return "```console\n" + "".join(f"$ {command}\n{_run(command, folder)}" for command in commands) + "```"


def _run(command: str | list[str], folder: str) -> str:
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    environment = os.environ | {"PATH": path, "COLUMNS": "120"}
    shell = isinstance(command, str)
    done = subprocess.run(command, shell=shell, cwd=folder, env=environment, capture_output=True, encoding="utf-8")
    if done.returncode:
        raise RuntimeError(f"{command} failed:\n{done.stdout}{done.stderr}")
    return "\n".join(line.rstrip() for line in done.stdout.splitlines()) + ("\n" if done.stdout else "")


if __name__ == "__main__":
    for name in sys.argv[1:]:
        with TemporaryDirectory() as folder:
            Path(name).write_text(run_page(Path(name).read_text(encoding="utf-8"), folder), encoding="utf-8")
