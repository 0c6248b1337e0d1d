"""Command-line options for the solver, and functions that create the solver."""

from __future__ import annotations

import argparse
import json
import os
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import fields
from pathlib import Path
from typing import Any

from dagneal.base.defaults import ANNEALING_READS, READS, SEED, SUBPROBLEM_SIZE
from dagneal.base.errors import InputError, hint, warn_on_failure
from dagneal.cli import show
from dagneal.cli.inputs import read_graph
from dagneal.cli.parsing import Parser, parse_setting
from dagneal.strategies.names import STRATEGIES, check_name, load_sampler, make_sampler

SOLVERS_HELP = """\
solvers: auto (anytime search, then a proof), exact (about 80 variables), order (about 130), exhaustive (up to 5)
  samplers: sa, sqa, tabu, tree, greedy, random; if dagneal[qpu] is installed: qpu, qpu-emulated, leap-hybrid
settings: effort=max (auto: use all the time), direct=true (no subproblems), encoding=paper,single, repair=false,
  subproblems=cover:2, acyclic=true, and parameters of the sampler, such as num_sweeps=5000
  qpu: system, profile, embedding=FILE, chain_strength, all parameters of the solver; qpu-emulated: also model, broken
"""
# For each sampler: settings of the connection, which are not parameters of a call.
_CONNECTION = {
    "qpu": ("chain_strength", "spin_reversal", "profile", "system", "embedding", "embeddings"),
    "qpu-emulated": (
        *("chain_strength", "spin_reversal", "system", "embedding", "embeddings", "broken", "model"),
        *("noise", "sweeps", "cold", "readout", "temperature", "susceptibility"),
    ),
    "leap-hybrid": ("profile",),
}


def add_solver_options(command: Parser) -> None:
    """Add the options of the solver.

    Args:
        command: parser of the command.
    """
    group = command.add_argument_group("solver")
    which = group.add_mutually_exclusive_group()
    which.add_argument(
        "--solver", type=_name, default="auto", metavar="NAME", help="name of the solver, see below (default auto)"
    )
    which.add_argument(
        "--sampler", metavar="MODULE:NAME", help="use a dimod sampler: class, function or object in a Python module"
    )
    reads = f"reads of the sampler (default {READS}, {ANNEALING_READS} for sa; fewer for a subproblem)"
    group.add_argument("--reads", type=int, metavar="N", dest="num_reads", help=reads)
    group.add_argument(
        "--set",
        action="append",
        default=[],
        type=parse_setting,
        metavar="NAME=VALUE",
        dest="settings",
        help="setting of the solver, see below (may be repeated)",
    )
    size = f"solve subproblems of K variables first (default with a sampler: {SUBPROBLEM_SIZE})"
    group.add_argument("--divide", type=int, metavar="K", dest="size", help=size)
    rule = "rule that combines subproblems: conquer (default), penalty or count"
    group.add_argument("--rule", metavar="RULE", dest="combine", help=rule)
    group.add_argument("--seed", type=int, metavar="S", help=f"random seed (default {SEED})")
    group.add_argument("--initial", metavar="NETWORK", help="network where the search starts (file or bundled name)")
    proof = group.add_mutually_exclusive_group()
    proof.add_argument(
        "--prove", type=float, metavar="S", help="try for S seconds to prove the highest score (default: a fixed effort)"
    )
    proof.add_argument("--no-prove", action="store_true", help="do not try to prove that the score is the highest")
    group.add_argument(
        "--time-limit", type=float, metavar="S", help="stop after S seconds and return the best network so far"
    )


def _name(name: str) -> str:
    """Return the name of a solver unchanged; raise an error if the name is unknown. Import no solver."""
    try:
        check_name(name)
    except InputError as error:
        raise argparse.ArgumentTypeError(str(error)) from error
    return name


@contextmanager
def open_solver(options: argparse.Namespace) -> Iterator[Any]:
    """Yield the solver that the options request; close its connection at the end.

    Args:
        options: parsed options of the command.
    """
    settings = dict(options.settings)
    if "seed" in settings:  # many samplers have a parameter with this name
        if options.seed is not None:
            raise InputError("--seed and --set seed are the same setting; give only one of them")
        options.seed = settings.pop("seed")
    if options.prove is not None or options.no_prove:
        settings["prove"] = False if options.no_prove else options.prove
    if options.sampler is None and options.solver in STRATEGIES:
        yield _divide(options, settings, _strategy(options, settings))
        return
    from dagneal.solvers.samplers import Closing, Noting
    from dagneal.strategies.anneal import Anneal, Divide

    own = {name: settings.pop(name) for name in _own_settings(Anneal) if name in settings}
    divided = {name: settings.pop(name) for name in _own_settings(Divide) if name in settings}
    if isinstance(settings.get("initial_state"), str):
        settings["initial_state"] = read_graph(settings["initial_state"])
    sampler = _sampler(options, settings)
    try:
        _check_parameters(sampler, settings, options.solver, _own_settings(Anneal))
        solver = Anneal(sampler, options.num_reads, parameters=settings, **own)
        yield _divide(options, divided, solver)
    finally:
        for text in sampler.notes if isinstance(sampler, Noting) else ():
            show.note(text)
        if isinstance(sampler, Closing):
            with warn_on_failure("closing the connection"):
                sampler.close()


def _check_parameters(sampler: Any, parameters: Mapping[str, Any], solver: str, others: Sequence[str]) -> None:
    """Raise an error with all settings of a quantum annealer if `--set` gives a parameter that its calls do not have.

    Args:
        sampler: the quantum annealer, or another sampler, whose parameters are checked later.
        parameters: the given parameters.
        solver: name of the solver.
        others: names of the settings of `Anneal`.
    """
    from dagneal.solvers.samplers import parameters_of

    connection = _CONNECTION.get(solver, ())
    calls = sorted(parameters_of(sampler)) if connection else []
    for name in parameters:
        if connection and name not in calls:
            known = [*connection, *others]
            advice = hint(name, [*known, *calls])
            if name == "precision":
                advice = "; the precision is a part of the encoding: write --set encoding=paper,single"
            elif name == "fast_anneal":
                advice = "; fast anneal needs a chip that has it, so try --solver qpu"
            raise InputError(
                f"{solver} does not accept the parameter {name!r}; its settings are {', '.join(known)}; "
                f"the parameters of its calls are {', '.join(calls)}{advice}"
            )


def _own_settings(kind: type) -> list[str]:
    """Return the names of the settings of a solver class that have no option, and are therefore given with `--set`."""
    options = ("sampler", "num_reads", "parameters", "solver", "size", "combine")
    return [field.name for field in fields(kind) if field.name not in options]


def _strategy(options: argparse.Namespace, settings: dict[str, Any]) -> Any:
    """Create a solver that uses no sampler, such as `Exact`.

    Remove the settings of this solver from `settings`. Only settings of `Divide` may remain there.
    """
    from dagneal.strategies.anneal import Divide
    from dagneal.strategies.names import as_solver

    if options.num_reads is not None:
        raise InputError("--reads needs a sampler, such as --solver sa")
    solver = as_solver(options.solver)
    names, divided = [field.name for field in fields(solver)], _own_settings(Divide)
    own = {name: settings.pop(name) for name in list(settings) if name in names}
    for name in settings:
        if name in divided and options.size is None:
            raise InputError(f"--set {name} needs subproblems; give their size with --divide K")
        if name not in divided:
            _check_connection(name, options.solver)
            if name == "prove":
                raise InputError(f"the solver {options.solver} has no proof attempt; remove --prove or --no-prove")
            settings_text = f"its settings are {', '.join(names)}" if names else "it has no settings"
            raise InputError(
                f"the solver {options.solver} has no setting {name!r}; {settings_text}; "
                f"to set a parameter of a sampler, choose a sampler, such as --solver sa{hint(name, names)}"
            )
    return type(solver)(**own)


def _check_connection(name: str, solver: str) -> None:
    """Raise an error if a setting, such as `profile`, configures the connection of other solvers but not of `solver`."""
    places = [kind for kind, names in _CONNECTION.items() if name in names]
    if places and solver not in places:
        raise InputError(f"--set {name} needs --solver {' or '.join(places)}")


def _divide(options: argparse.Namespace, settings: Mapping[str, Any], solver: Any) -> Any:
    """Return a `Divide` that uses the solver if the options request subproblems; otherwise return the solver unchanged."""
    if options.size is None and options.combine is None and not settings:
        return solver
    from dagneal.strategies.anneal import Anneal, Divide

    if isinstance(solver, Anneal) and solver.direct:
        raise InputError("--set direct=true cannot be combined with --divide or --rule; give only one of them")
    if options.size is None and not isinstance(solver, Anneal):
        raise InputError("--rule and settings of subproblems need --divide K")
    more = {} if options.combine is None else {"combine": options.combine}
    return Divide(solver, SUBPROBLEM_SIZE if options.size is None else options.size, **more, **settings)


def _sampler(options: argparse.Namespace, settings: dict[str, Any]) -> Any:
    """Create the sampler that the options request, and remove its connection settings from `settings`."""
    if options.sampler is not None:
        # A resumed run works in the folder of its journal, but must not import code from there.
        return load_sampler(options.sampler, getattr(options, "origin", None) or os.getcwd())
    for name in settings:
        _check_connection(name, options.solver)
    own = {name: settings.pop(name) for name in _CONNECTION.get(options.solver, ()) if name in settings}
    if "embedding" in own:
        own["embedding"] = _embedding(str(own["embedding"]))
    if options.solver == "qpu" and "system" in own:
        own["solver"] = own.pop("system")
    return make_sampler(options.solver, **own)


def _embedding(path: str) -> dict[Any, list[int]]:
    """Read an embedding from a JSON file: a list of pairs, each with a variable label and a list of qubits."""
    try:
        pairs = json.loads(Path(path).read_text(encoding="utf-8"))
        return {tuple(label) if isinstance(label, list) else label: [int(q) for q in chain] for label, chain in pairs}
    except OSError as error:
        raise InputError(f"{path} cannot be read: {error.strerror or error}") from error
    except (ValueError, TypeError) as error:
        raise InputError(
            f'{path} is not an embedding; give a JSON list such as [[["d", "a", "b"], [17, 18]], ...]'
        ) from error
