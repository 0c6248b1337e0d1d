"""The solver that the command line names."""

from __future__ import annotations

import argparse
import ast
import os
from typing import Any

from dagneal.base.errors import InputError, whole_number
from dagneal.cli import quantum
from dagneal.solvers.samplers import SEED, parameters_of
from dagneal.strategies.names import LEARNERS, QUANTUM, sampler_at, solver_named


def solver(options: argparse.Namespace) -> tuple[Any, dict[str, Any]]:
    """The solver that was asked for and its parameters; the seed is settled too."""
    quantum.check_options(options)
    if options.sampler is None and options.solver in LEARNERS:
        if options.reads is not None or options.parameters or options.raw:
            raise InputError("--reads, --set and --raw are for samplers; name one, such as --solver sa")
        options.seed = options.seed or SEED
        return solver_named(options.solver), {}
    from dagneal.solvers.annealing import check_parameters

    parameters: dict[str, Any] = {}
    if options.solver in QUANTUM:
        sampler = quantum.sampler(options)
        if options.annealing_time is not None:
            parameters["annealing_time"] = options.annealing_time
    else:
        # A resumed run changes to a folder that its journal names; no code is imported from there.
        folder = getattr(options, "origin", None) or os.getcwd()
        sampler = sampler_at(options.sampler, folder) if options.sampler else solver_named(options.solver)
    given = dict(map(_parameter, options.parameters))
    if options.reads is not None:
        if "num_reads" in given:
            raise InputError("--reads and --set num_reads say the same thing; give one")
        given["num_reads"] = whole_number("--reads", options.reads, least=1)
    parameters |= given
    check_parameters(sampler, parameters)
    options.seed = parameters.pop("seed", options.seed)
    if "seed" in parameters_of(sampler):
        options.seed = SEED if options.seed is None else options.seed
    elif options.seed is not None and options.blocks == "all":
        raise InputError(f"{type(sampler).__name__} takes no seed; leave --seed out")
    if options.raw:
        parameters["repair"] = False
    return sampler, parameters


def _parameter(text: str) -> tuple[str, Any]:
    name, equals, value = text.partition("=")
    if not equals or not name:
        raise InputError(f"--set {text} has no value; write NAME=VALUE, such as num_sweeps=5000")
    try:
        return name, ast.literal_eval(value)
    except (ValueError, SyntaxError, MemoryError, RecursionError):
        return name, value
