"""The solver that the command line asks for."""

from __future__ import annotations

import argparse
import json
import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import fields
from pathlib import Path
from typing import Any

from dagneal.base.defaults import READS, SEED, SUBPROBLEM_READS, SUBPROBLEM_SIZE
from dagneal.base.errors import InputError, hint, secondary
from dagneal.cli import show
from dagneal.cli.parsing import Parser, parse_setting
from dagneal.strategies.names import STRATEGIES, check_name, sampler_at, sampler_named

SOLVERS_HELP = """\
solvers: auto (exact up to 22 variables, else candidate search), exact (up to 28), order (up to 65), exhaustive (up to 5)
  samplers: sa, sqa, tabu, tree, greedy, random      with dagneal[qpu]: qpu, qpu-emulated, leap-hybrid
settings: direct=true, encoding=paper, repair=false, acyclic=true, subproblems=cover:2, and parameters of the sampler such
  as num_sweeps=5000; of a QPU annealing_time, chain_strength, gauges, system, profile, embedding=FILE, noise (emulated)
"""
_CONNECTION = {
    "qpu": ("chain_strength", "gauges", "profile", "system", "embedding"),
    "qpu-emulated": ("chain_strength", "gauges", "system", "noise", "sweeps", "cold"),
    "leap-hybrid": ("profile",),
}


def add_solver_options(command: Parser) -> None:
    """Add the options of the solver.

    Args:
        command: of a parser.
    """
    group = command.add_argument_group("solver")
    which = group.add_mutually_exclusive_group()
    which.add_argument("--solver", type=_name, default="auto", metavar="NAME", help="see below (default auto)")
    which.add_argument("--sampler", metavar="MODULE:NAME", help="any dimod sampler: a class, a function or an object")
    reads = f"reads of a sampler (default {READS}; of a subproblem {SUBPROBLEM_READS})"
    group.add_argument("--reads", type=int, metavar="N", dest="num_reads", help=reads)
    group.add_argument(
        "--set",
        action="append",
        default=[],
        type=parse_setting,
        metavar="NAME=VALUE",
        dest="settings",
        help="a setting of the solver, see below (may be repeated)",
    )
    size = f"solve subproblems of K variables (samplers: {SUBPROBLEM_SIZE})"
    group.add_argument("--divide", type=int, metavar="K", dest="size", help=size)
    rule = "combine them by conquer (default), penalty or count"
    group.add_argument("--rule", metavar="RULE", dest="combine", help=rule)
    group.add_argument("--seed", type=int, metavar="S", help=f"same seed, same answer (default {SEED})")
    group.add_argument("--start", metavar="NETWORK", dest="initial", help="the network that the search starts from")
    group.add_argument("--time-limit", type=float, metavar="S", help="stop after S seconds with the best network so far")


def _name(name: str) -> str:
    """Return the name of a solver; refuse a wrong one before anything heavy is imported."""
    try:
        check_name(name)
    except InputError as error:
        raise argparse.ArgumentTypeError(str(error)) from error
    return name


@contextmanager
def open_solver(options: argparse.Namespace) -> Iterator[Any]:
    """Yield the solver that was asked for; its connection, if it has one, is closed at the end.

    Args:
        options: of the command.
    """
    settings = dict(options.settings)
    if "seed" in settings:  # samplers have such a parameter
        if options.seed is not None:
            raise InputError("--seed and --set seed say the same thing; give one of them")
        options.seed = settings.pop("seed")
    if options.sampler is None and options.solver in STRATEGIES:
        yield _divide(options, settings, _strategy(options, settings))
        return
    from dagneal.solvers.samplers import Closing, Noting
    from dagneal.strategies.anneal import Anneal, Divide

    own = {name: settings.pop(name) for name in _own_settings(Anneal) if name in settings}
    divided = {name: settings.pop(name) for name in _own_settings(Divide) if name in settings}
    sampler = _sampler(options, settings)
    try:
        solver = Anneal(sampler, options.num_reads, parameters=settings, **own)
        yield _divide(options, divided, solver)
    finally:
        for text in sampler.notes if isinstance(sampler, Noting) else ():
            show.note(text)
        if isinstance(sampler, Closing):
            with secondary("closing the connection"):
                sampler.close()


def _own_settings(kind: type) -> list[str]:
    """Return the settings of a class of solvers that have no option of their own."""
    options = ("sampler", "num_reads", "parameters", "solver", "size", "combine")
    return [each.name for each in fields(kind) if each.name not in options]


def _strategy(options: argparse.Namespace, settings: dict[str, Any]) -> Any:
    """Return a solver that needs no sampler, with its settings; settings of a division stay."""
    from dagneal.strategies.anneal import Divide
    from dagneal.strategies.names import as_solver

    if options.num_reads is not None:
        raise InputError("--reads is for samplers; name one, such as --solver sa")
    solver = as_solver(options.solver)
    known, divided = [each.name for each in fields(solver)], _own_settings(Divide)
    own = {name: settings.pop(name) for name in list(settings) if name in known}
    for name in settings:
        if name in divided and options.size is None:
            raise InputError(f"--set {name} is a setting of a division; give the size of its subproblems: --divide K")
        if name not in divided:
            _check_connection(name, options.solver)
            takes = f"it takes {', '.join(known)}" if known else "it takes none"
            sampler = "parameters of a sampler need one, such as --solver sa"
            raise InputError(
                f"--set {name} is no setting of the solver {options.solver}, {takes}; {sampler}{hint(name, known)}"
            )
    return type(solver)(**own)


def _check_connection(name: str, solver: str) -> None:
    """Refuse a setting of a connection for a solver that has no such connection."""
    places = [kind for kind, names in _CONNECTION.items() if name in names]
    if places and solver not in places:
        raise InputError(f"--set {name} is for --solver {' or '.join(places)}")


def _divide(options: argparse.Namespace, settings: Mapping[str, Any], solver: Any) -> Any:
    """Return the solver, inside a division if one is asked for."""
    if options.size is None and options.combine is None and not settings:
        return solver
    from dagneal.strategies.anneal import Anneal, Divide

    if isinstance(solver, Anneal) and solver.direct:
        raise InputError("--set direct=true solves the whole at once, --divide in subproblems; give one of them")
    if options.size is None and not isinstance(solver, Anneal):
        raise InputError("--rule and the settings of a division need --divide K")
    more = {} if options.combine is None else {"combine": options.combine}
    return Divide(solver, SUBPROBLEM_SIZE if options.size is None else options.size, **more, **settings)


def _sampler(options: argparse.Namespace, settings: dict[str, Any]) -> Any:
    """Return the sampler, and take the settings of its connection out of the others."""
    if options.sampler is not None:
        # A resumed run changes to the folder that its journal names; no code is imported from there.
        return sampler_at(options.sampler, getattr(options, "origin", None) or os.getcwd())
    for name in settings:
        _check_connection(name, options.solver)
    own = {name: settings.pop(name) for name in _CONNECTION.get(options.solver, ()) if name in settings}
    if "embedding" in own:
        own["embedding"] = _embedding(str(own["embedding"]))
    if options.solver == "qpu" and "system" in own:
        own["solver"] = own.pop("system")
    return sampler_named(options.solver, **own)


def _embedding(path: str) -> dict[Any, list[int]]:
    """Read an embedding from JSON: a list of pairs, the label of a variable and its qubits."""
    try:
        pairs = json.loads(Path(path).read_text(encoding="utf-8"))
        return {tuple(label) if isinstance(label, list) else label: [int(q) for q in chain] for label, chain in pairs}
    except OSError as error:
        raise InputError(f"{path} cannot be read: {error.strerror or error}") from error
    except (ValueError, TypeError) as error:
        raise InputError(f'{path} is no embedding; give a JSON list such as [[["d", "a", "b"], [17, 18]], ...]') from error
