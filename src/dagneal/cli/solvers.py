"""The solver that the command line names."""

from __future__ import annotations

import argparse
import ast
import os
import sys
from importlib import import_module
from typing import Any

from dagneal.cli import quantum
from dagneal.cli.arguments import BLOCK_READS, LEARNERS, SAMPLERS
from dagneal.errors import InputError, whole_number


def solver(options: argparse.Namespace) -> tuple[Any, dict[str, Any]]:
    """The solver that was asked for and its parameters; the seed is settled too."""
    known = [*LEARNERS, *SAMPLERS, *quantum.SOLVERS]
    if options.sampler is None and options.solver not in known:
        raise InputError(f"there is no solver {options.solver!r}; give one of {', '.join(known)}")
    quantum.check_options(options)
    if options.sampler is None and options.solver in LEARNERS:
        if options.reads is not None or options.parameters or options.raw:
            raise InputError("--reads, --set and --raw are for samplers; name one, such as --solver sa")
        options.seed = options.seed or 0
        if options.solver == "auto":
            return None, {}
        return getattr(import_module(f"dagneal.learners.{options.solver}"), options.solver), {}
    from dagneal.learners.anneal import check_parameters

    if options.solver in quantum.SOLVERS:
        sampler, defaults = quantum.sampler(options)
    else:
        target, defaults = (options.sampler, {}) if options.sampler else SAMPLERS[options.solver]
        # A resumed run changes to a folder that its journal names; no code is imported from there.
        sampler = _imported(target, getattr(options, "origin", None) or os.getcwd())
    given = dict(map(_parameter, options.parameters))
    if options.reads is not None:
        if "num_reads" in given:
            raise InputError("--reads and --set num_reads say the same thing; give one")
        given["num_reads"] = whole_number("--reads", options.reads, least=1)
    parameters = defaults | given
    check_parameters(sampler, parameters)
    options.seed = parameters.pop("seed", options.seed)
    if "seed" in sampler.parameters:
        options.seed = 0 if options.seed is None else options.seed
    elif options.seed is not None and options.blocks == "all":
        raise InputError(f"{type(sampler).__name__} takes no seed; leave --seed out")
    if options.raw:
        parameters["repair"] = False
    if not options.direct and "num_reads" in defaults and "num_reads" not in given:
        parameters["block_parameters"] = {"num_reads": min(BLOCK_READS, defaults["num_reads"])}
    return sampler, parameters


def _imported(target: str, folder: str) -> Any:
    """Make the sampler behind `package.module:Class`; modules in this folder are found too."""
    import dimod

    module, _, name = target.partition(":")
    if folder not in sys.path:  # as `python -m` does
        sys.path.insert(0, folder)
    try:
        kind = getattr(import_module(module), name)
    except Exception as error:  # whatever a module raises
        raise InputError(f"there is no sampler {target!r} ({error}); give package.module:Class") from error
    if not (isinstance(kind, type) and issubclass(kind, dimod.Sampler)):
        raise InputError(f"{target} is not a dimod.Sampler")
    try:
        return kind()
    except Exception as error:
        raise InputError(f"{target} could not be made without arguments: {error}") from error


def _parameter(text: str) -> tuple[str, Any]:
    name, equals, value = text.partition("=")
    if not equals or not name:
        raise InputError(f"--set {text} has no value; write NAME=VALUE, such as num_sweeps=5000")
    try:
        return name, ast.literal_eval(value)
    except (ValueError, SyntaxError):
        return name, value
