"""Check that the evaluation uses only public names of dagneal."""

import ast
from importlib import import_module
from pathlib import Path

import pytest

import dagneal as dn
import dagneal.paper

PUBLIC = ("base", "data", "divide", "networks", "proofs", "qpu", "qubo", "runtime", "scoring", "solvers")
MODULES = sorted(Path(dagneal.paper.__file__).parent.glob("*.py"))


def exported_names(package):
    """Return the public names of a package: its `__all__`, or the names that its `__init__` imports as themselves."""
    if package == "dagneal":
        return {*dn.__all__, "__version__"}
    module = import_module(package)
    if hasattr(module, "__all__"):
        return set(module.__all__)
    nodes = ast.walk(ast.parse(Path(module.__file__).read_text()))
    return {alias.asname for node in nodes if isinstance(node, ast.ImportFrom) for alias in node.names if alias.asname}


def private_names(text):
    """Return the non-public names of dagneal that some source code uses, except those of the paper package."""
    public = {"dagneal", *(f"dagneal.{name}" for name in PUBLIC)}
    used = []
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Import):
            used += [(alias.name, "") for alias in node.names if alias.name.split(".")[0] == "dagneal"]
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, "relative imports are not used"
            if (node.module or "").split(".")[0] == "dagneal" and node.module.split(".")[1:2] != ["paper"]:
                names = [alias.name for alias in node.names]
                used += [(node.module, name) for name in names if (node.module, name) != ("dagneal", "paper")]
        elif isinstance(node, ast.Attribute):
            dotted = ast.unparse(node).split(".")
            if dotted[0] == "dn" and len(dotted) == 2:
                used.append(("dagneal", dotted[1]))
            elif dotted[0] == "dn" and f"dagneal.{dotted[1]}" in public and len(dotted) == 3:
                used.append((f"dagneal.{dotted[1]}", dotted[2]))
    return [f"{place} {name}" for place, name in used if place not in public or (name and name not in exported_names(place))]


@pytest.mark.parametrize("module", MODULES, ids=lambda path: path.stem)
def test_the_evaluation_uses_only_public_names(module):
    """A module of the paper package uses no private names of dagneal."""
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
def test_private_names_are_detected(text):
    """The check above detects private names in imports and attributes."""
    assert private_names(text)


def test_every_exported_name_exists():
    """Each name in an `__all__` exists, and other names raise AttributeError."""
    for package in PUBLIC:
        module = import_module(f"dagneal.{package}")
        for name in getattr(module, "__all__", ()):
            assert getattr(module, name) is not None
        with pytest.raises(AttributeError):
            module.no_such_name  # noqa: B018
