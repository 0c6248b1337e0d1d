"""The evaluation is built on public names only."""

import ast
from importlib import import_module
from pathlib import Path

import pytest

import dagneal as dn
import dagneal.paper

PUBLIC = ("base", "data", "divide", "networks", "proofs", "qpu", "qubo", "runtime", "scoring", "solvers")
MODULES = sorted(Path(dagneal.paper.__file__).parent.glob("*.py"))


def exported(package):
    """Return the names that a package offers: its `__all__`, or what its `__init__` imports under the same name again."""
    if package == "dagneal":
        return {*dn.__all__, "__version__"}
    module = import_module(package)
    if hasattr(module, "__all__"):
        return set(module.__all__)
    nodes = ast.walk(ast.parse(Path(module.__file__).read_text()))
    return {each.asname for node in nodes if isinstance(node, ast.ImportFrom) for each in node.names if each.asname}


def private_names(text):
    """Return the names of dagneal outside its paper package that a text uses and that are not public."""
    public = {"dagneal", *(f"dagneal.{name}" for name in PUBLIC)}
    used = []
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Import):
            used += [(each.name, "") for each in node.names if each.name.split(".")[0] == "dagneal"]
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, "relative imports are not used"
            if (node.module or "").split(".")[0] == "dagneal" and node.module.split(".")[1:2] != ["paper"]:
                used += [(node.module, each.name) for each in node.names if (node.module, each.name) != ("dagneal", "paper")]
        elif isinstance(node, ast.Attribute):
            dotted = ast.unparse(node).split(".")
            if dotted[0] == "dn" and len(dotted) == 2:
                used.append(("dagneal", dotted[1]))
            elif dotted[0] == "dn" and f"dagneal.{dotted[1]}" in public and len(dotted) == 3:
                used.append((f"dagneal.{dotted[1]}", dotted[2]))
    return [f"{place} {name}" for place, name in used if place not in public or (name and name not in exported(place))]


@pytest.mark.parametrize("module", MODULES, ids=lambda path: path.stem)
def test_the_evaluation_uses_public_names_only(module):
    assert private_names(module.read_text()) == []


@pytest.mark.parametrize(
    "text",
    [
        "import dagneal.divide.division",
        "from dagneal.divide import division",
        "from dagneal.divide.votes import combine_votes",
        "from dagneal import learning",
        "from dagneal.graphs import dags",
        "import dagneal as dn\ndn.divide.subproblems.choose_subproblems",
        "def late():\n    from dagneal.runtime.run import Run",
    ],
)
def test_other_names_are_noticed(text):
    assert private_names(text)


def test_every_exported_name_exists():
    for package in PUBLIC:
        module = import_module(f"dagneal.{package}")
        for name in getattr(module, "__all__", ()):
            assert getattr(module, name) is not None
        with pytest.raises(AttributeError):
            module.no_such_name  # noqa: B018
