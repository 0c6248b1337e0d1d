"""Mutation tests of the proof checker: change one place of its source at a time, and run its tests.

Usage: python benchmarks/acceptance/mutation.py [--list]

A mutant survives if all tests pass. A survivor that accepts more proofs than the checker is a missing test. Survivors that
do not accept more are in `HARMLESS`, each with the reason. The tests run in this process: the mutant replaces the content of
the module `dagneal.proofs.checker`, and the tests use the checker only as attributes of this module.
"""

from __future__ import annotations

import argparse
import ast
import copy
import io
import os
import signal
import sys
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import redirect_stderr, redirect_stdout
from pathlib import Path
from types import FrameType
from typing import Any, NamedTuple

import pytest
from verdict import Verdicts

from dagneal.proofs import checker

TESTS = Path(__file__).resolve().parents[2] / "tests" / "proofs" / "test_checker.py"
SOURCE = Path(str(checker.__file__))
SHORT = 10  # characters; a shorter place is shown with the expression around it
LIMIT = 20  # seconds for the tests of one mutant; a mutant that takes longer does not survive

OPTIONS = ("-x", "-q", "--tb=no", "-c", os.devnull, "--rootdir", str(TESTS.parent), "--noconftest", "-p", "no:cacheprovider")

sys.path.append(str(TESTS.parents[1]))
os.environ["PYTEST_DISABLE_PLUGIN_AUTOLOAD"] = "1"  # plugins take more time than the tests

_COMPARISONS: dict[type[ast.cmpop], tuple[type[ast.cmpop], ...]] = {
    ast.Lt: (ast.LtE, ast.GtE),
    ast.LtE: (ast.Lt, ast.Gt),
    ast.Gt: (ast.GtE, ast.LtE),
    ast.GtE: (ast.Gt, ast.Lt),
    ast.Eq: (ast.NotEq,),
    ast.NotEq: (ast.Eq,),
    ast.In: (ast.NotIn,),
    ast.NotIn: (ast.In,),
    ast.Is: (ast.IsNot,),
    ast.IsNot: (ast.Is,),
}
_OPERATORS: dict[type[ast.operator], type[ast.operator]] = {
    ast.Add: ast.Sub,
    ast.Sub: ast.Add,
    ast.Mult: ast.Add,
    ast.FloorDiv: ast.Mult,
    ast.BitAnd: ast.BitOr,
    ast.BitOr: ast.BitAnd,
    ast.BitXor: ast.BitOr,
    ast.LShift: ast.RShift,
    ast.RShift: ast.LShift,
}
_NAMES = {"min": "max", "max": "min", "minimum": "maximum", "maximum": "minimum", "any": "all", "all": "any"}

# Survivors that accept no more proofs than the checker, and the reason.
_ALIVE = "np.bincount(families.children[alive], minlength=families.variables) == 0"
_NOT_NEGATIVE = "coefficients are not negative, so 0 and all negative numbers have the same effect"
_LATER = "a child without families also proves the node after the last step"
_ABOVE = "still more than all r, which are below _LARGEST"
HARMLESS: dict[str, str] = {
    "_largest_sum: highest[layer] = -1 -> pass": _NOT_NEGATIVE,
    "_largest_sum: highest[layer] = -1 -> highest[layer] = -2": _NOT_NEGATIVE,
    "_largest_sum: highest[layer] = -1 -> highest[layer] = -0": _NOT_NEGATIVE,
    "_largest_sum: range(1, size + 1) -> range(1, size + 2)": "no set has size + 1 members",
    "_check_node: return True -> pass": _LATER,
    f"_check_node: ({_ALIVE}).any -> ({_ALIVE}).all": _LATER,
    f"_check_node: {_ALIVE} -> {_ALIVE.replace('== 0', '== -1')}": _LATER,
    "_check_node: return True -> pass (place 2)": "the next line removes all families, which proves the node",
    "_check_node: bound >= target -> bound > target": "if they are equal, the next line removes all families",
    "_check_node: 2 * _LARGEST -> 2 + _LARGEST": _ABOVE,
    "_check_node: 2 * _LARGEST -> 3 * _LARGEST": _ABOVE,
    "_check_node: 2 * _LARGEST -> 1 * _LARGEST": _ABOVE,
    "_check_node: strict=True -> strict=False": "a multiplier without a cut has no effect; read_proof rejects it",
    "check_proof: strict=True -> strict=False": "both sides have two elements",
    "_check_cut: families.variables + 1 -> families.variables + 2": "the last entry stays -1, for padding",
    "_check_cut: np.full(families.variables + 1, -1) -> np.full(families.variables + 1, -2)": "negative like -1",
    "_check_cut: np.maximum(inside, 0) -> np.maximum(inside, -1)": "np.where ignores the power of a negative place",
    "_cost: matches[0] -> matches[-1]": "there is exactly one match",
}


class Mutant(NamedTuple):
    """A changed checker.

    Attributes:
        name: function, old text and new text.
        tree: changed source.
    """

    name: str
    tree: ast.Module


def mutants(source: str) -> Iterator[Mutant]:
    """Yield all mutants of a source text."""
    original = ast.parse(source)
    places = {id(node): name for name, part in _parts(original) for node in ast.walk(part)}
    above = {id(child): node for node in ast.walk(original) for child in ast.iter_child_nodes(node)}
    numbers = {id(node): index for index, node in enumerate(ast.walk(original))}
    seen: Counter[str] = Counter()
    for index, node in enumerate(ast.walk(original)):
        if id(node) not in places:
            continue
        for number in range(len(_changes(node))):
            tree = copy.deepcopy(original)
            nodes = [*ast.walk(tree)]
            shown: ast.AST = node
            while len(_text(shown)) < SHORT and isinstance(
                above[id(shown)], ast.expr | ast.keyword | ast.Assign | ast.AugAssign
            ):
                shown = above[id(shown)]
            description = _changes(nodes[index])[number]()
            if shown is not node:
                description = f"{_text(shown)} -> {_text(nodes[numbers[id(shown)]])}"
            name = f"{places[id(node)]}: {description}"
            seen[name] += 1
            yield Mutant(name if seen[name] == 1 else f"{name} (place {seen[name]})", ast.fix_missing_locations(tree))


def _parts(tree: ast.Module) -> Iterator[tuple[str, ast.stmt]]:
    """Yield the functions and constants of a module, with their names."""
    for node in tree.body:
        if isinstance(node, ast.FunctionDef):
            yield node.name, node
        elif isinstance(node, ast.Assign):
            yield "constant", node


def _changes(node: ast.AST) -> list[Callable[[], str]]:
    """Return functions that change a node in place and return a description of the change."""
    found: list[Callable[[], str]] = []
    if isinstance(node, ast.Compare):
        for place, operator in enumerate(node.ops):
            for other in _COMPARISONS[type(operator)]:
                found.append(_set(node, node.ops, place, other()))
    elif isinstance(node, ast.BoolOp):
        found.append(_set(node, node, "op", ast.And() if isinstance(node.op, ast.Or) else ast.Or()))
        neutral = isinstance(node.op, ast.And)  # a value that leaves the rest as it is
        found += [_set(node, node.values, place, ast.Constant(neutral)) for place in range(len(node.values))]
    elif (isinstance(node, ast.BinOp) and not _is_type(node)) or isinstance(node, ast.AugAssign):
        found.append(_set(node, node, "op", _OPERATORS[type(node.op)]()))
    elif isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not | ast.Invert | ast.USub):
        found.append(_set(node, node, "op", ast.UAdd()) if isinstance(node.op, ast.USub) else _double(node))
    elif isinstance(node, ast.Constant) and isinstance(node.value, bool):
        found.append(_set(node, node, "value", not node.value))
    elif isinstance(node, ast.Constant) and isinstance(node.value, int):
        found += [_set(node, node, "value", node.value + change) for change in (1, -1)]
    elif isinstance(node, ast.Attribute) and node.attr in _NAMES:
        found.append(_set(node, node, "attr", _NAMES[node.attr]))
    elif isinstance(node, ast.Name) and node.id in _NAMES:
        found.append(_set(node, node, "id", _NAMES[node.id]))
    for block in ("body", "orelse"):
        statements = getattr(node, block, [])
        for place, statement in enumerate(statements if isinstance(statements, list) else []):
            if not isinstance(statement, ast.For | ast.If | ast.While | ast.FunctionDef) and not _is_docstring(statement):
                found.append(_set(None, statements, place, ast.Pass()))
    return found


def _set(shown: ast.AST | None, owner: Any, place: Any, value: Any) -> Callable[[], str]:
    """Return a function that sets one item or attribute of an owner, and describes how the node `shown` changes."""

    def change() -> str:
        node = (owner[place] if isinstance(owner, list) else getattr(owner, place)) if shown is None else shown
        before = _text(node)
        if isinstance(owner, list):
            owner[place] = value
        else:
            setattr(owner, place, value)
        return f"{before} -> {_text(value if shown is None else shown)}"

    return change


def _double(node: ast.UnaryOp) -> Callable[[], str]:
    """Return a function that negates the operand of a negation, so that the negation has no effect."""

    def change() -> str:
        before = _text(node)
        node.operand = ast.UnaryOp(type(node.op)(), node.operand)
        return f"{before} -> {_text(node)}"

    return change


def _text(node: ast.AST) -> str:
    return " ".join(ast.unparse(ast.fix_missing_locations(copy.deepcopy(node))).split())


def _is_type(node: ast.BinOp) -> bool:
    """Return whether an expression is the type of an argument, such as `Cluster | Facet`."""
    return isinstance(node.left, ast.Name) and node.left.id[0].isupper()


def _is_docstring(node: ast.AST) -> bool:
    return isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)


def survives(mutant: Mutant) -> bool:
    """Return whether all tests pass with a mutant in place of the checker."""
    before = dict(vars(checker))
    try:
        exec(compile(mutant.tree, str(SOURCE), "exec"), vars(checker))
        return run_tests()
    finally:
        vars(checker).clear()
        vars(checker).update(before)


def run_tests() -> bool:
    """Run the tests of the checker in this process. Return whether all pass in time."""

    def stop(_: int, __: FrameType | None) -> None:
        raise KeyboardInterrupt

    output = io.StringIO()
    old = signal.signal(signal.SIGALRM, stop)
    signal.alarm(LIMIT)
    try:
        with redirect_stdout(output), redirect_stderr(output):
            status = pytest.main([str(TESTS), *OPTIONS])
        if status not in (pytest.ExitCode.OK, pytest.ExitCode.TESTS_FAILED, pytest.ExitCode.INTERRUPTED):
            raise SystemExit(f"pytest cannot run {TESTS}:\n{output.getvalue()}")
        return status == pytest.ExitCode.OK
    except KeyboardInterrupt:
        return False
    finally:
        signal.alarm(0)
        signal.signal(signal.SIGALRM, old)


def check_mutants(verdicts: Verdicts, show: bool = False) -> None:
    """Run the tests against all mutants, list the survivors, and add a verdict for those without a reason.

    Args:
        verdicts: verdicts to add to.
        show: True to print each mutant.
    """
    verdicts.add("tests of the checker pass without a mutant", "yes" if (passed := run_tests()) else "no", "yes", passed)
    total, survivors = 0, []
    for mutant in mutants(SOURCE.read_text()):
        total += 1
        survived = survives(mutant)
        if show:
            print(f"info  {'survives' if survived else 'killed'}: {mutant.name}", flush=True)
        if survived:
            survivors.append(mutant.name)
            if mutant.name in HARMLESS:
                print(f"info  harmless survivor: {mutant.name}: {HARMLESS[mutant.name]}", flush=True)
            else:
                print(f"info  SURVIVOR: {mutant.name}", flush=True)
    missing = [name for name in survivors if name not in HARMLESS]
    for name in HARMLESS.keys() - set(survivors):
        print(f"info  does not survive, remove from HARMLESS: {name}", flush=True)
    print(f"info  {total} mutants: {total - len(survivors)} killed, {len(survivors) - len(missing)} harmless", flush=True)
    verdicts.add("mutants of the checker that survive without a reason", len(missing), "0", not missing)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--list", action="store_true", help="print each mutant")
    options = parser.parse_args()
    verdicts = Verdicts()
    check_mutants(verdicts, options.list)
    verdicts.exit()


if __name__ == "__main__":
    main()
