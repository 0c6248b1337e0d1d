"""The README's Python runs, and its table of solvers is the command line's."""

import re
from pathlib import Path

import pytest

from dagneal.cli.arguments import LEARNERS, SAMPLERS

README = Path(__file__).parent.parent / "README.md"


def test_the_readme_runs(capsys):
    (code,) = re.findall(r"```python\n(.*?)```", README.read_text(encoding="utf-8"), re.DOTALL)
    exec(compile(code, str(README), "exec"), {})
    assert "right=4, wrong=0" in capsys.readouterr().out


@pytest.mark.parametrize("name", [*LEARNERS, *SAMPLERS])
def test_the_readme_names_every_solver(name):
    assert f"`{name}`" in README.read_text(encoding="utf-8")


def test_the_linked_files_are_there():
    for target in re.findall(r"\]\((?!http)([^)#]+)\)", README.read_text(encoding="utf-8")):
        assert (README.parent / target).exists(), target
