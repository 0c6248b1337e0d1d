"""Solvers by name. Nothing heavy is imported before it is needed."""

from __future__ import annotations

import sys
from importlib import import_module
from types import BuiltinFunctionType
from typing import Any

from dagneal.base.errors import InputError, hint

STRATEGIES = {
    "auto": "auto:Auto",
    "exact": "classical:Exact",
    "order": "classical:OrderSearch",
    "exhaustive": "classical:Exhaustive",
}
SAMPLERS = {
    "sa": "dwave.samplers:SimulatedAnnealingSampler",
    "sqa": "dwave.samplers:PathIntegralAnnealingSampler",
    "tabu": "dwave.samplers:TabuSampler",
    "tree": "dwave.samplers:TreeDecompositionSolver",
    "greedy": "dwave.samplers:SteepestDescentSolver",
    "random": "dwave.samplers:RandomSampler",
}
QUANTUM = {
    "qpu": "dagneal.qpu.sampler:connect",
    "qpu-emulated": "dagneal.qpu.emulator:emulated",
    "leap-hybrid": "dagneal.qpu.cloud:hybrid",
}
DIRECT = ("leap-hybrid",)  # solve the global problem at once unless told otherwise
SEEDLESS = ("leap-hybrid",)  # of the quantum annealers, which are not connected to be asked
SOLVERS = (*STRATEGIES, *SAMPLERS, *QUANTUM)


def as_solver(value: Any) -> Any:
    """Return a solver as given, or by its name.

    Args:
        value: a solver, a dimod sampler, None for `Auto`, or a name such as `"sa"` or `"exact"`, as on the command line.

    >>> as_solver("tabu"), as_solver(None)
    (Anneal('tabu'), Auto(bound=True))
    """
    import dimod

    from dagneal.divide.subproblem_solvers import SubproblemSolver
    from dagneal.solvers.problem import Solver
    from dagneal.strategies.anneal import Anneal

    if value is None:
        value = "auto"
    if isinstance(value, str):
        check_name(value)
        if value not in STRATEGIES:
            return Anneal(value)
        module, _, name = STRATEGIES[value].partition(":")
        return getattr(import_module(f"dagneal.strategies.{module}"), name)()
    if isinstance(value, type):
        raise InputError(f"solver is the class {value.__name__}; give an instance: {value.__name__}()")
    if isinstance(value, dimod.Sampler):
        return Anneal(value)
    if isinstance(value, SubproblemSolver):
        name = type(value).__name__
        raise InputError(f"solver is {name}, which solves the subproblems of a division; give dn.Divide({name}(...), ...)")
    if not isinstance(value, Solver):
        raise InputError(
            f"solver is {type(value).__name__}; give a solver such as dn.Exact(), a dimod sampler, or a name such as 'sa'"
        )
    return value


def check_name(name: str) -> None:
    """Refuse what is not the name of a solver.

    Args:
        name: the name.
    """
    if name not in SOLVERS:
        raise InputError(f"there is no solver {name!r}; give one of {', '.join(SOLVERS)}{hint(name, SOLVERS)}")


def check_sampler_name(name: str) -> None:
    """Refuse what is not the name of a sampler.

    Args:
        name: the name.
    """
    known = (*SAMPLERS, *QUANTUM)
    if name not in known:
        raise InputError(f"there is no sampler {name!r}; give one of {', '.join(known)}{hint(name, known)}")


def sampler_named(name: str, **options: Any) -> Any:
    """Return a new sampler by its name.

    Args:
        name: such as `"sa"` or `"qpu-emulated"`.
        **options: of the function that makes a quantum annealer, such as `system` and `chain_strength`.

    >>> type(sampler_named("tabu")).__name__
    'TabuSampler'
    """
    check_sampler_name(name)
    if name in SAMPLERS:
        if options:
            raise InputError(f"{name} takes no option {next(iter(options))!r}; options are for {', '.join(QUANTUM)}")
        return sampler_at(SAMPLERS[name])
    from dagneal.qpu.chips import check_installed

    check_installed()
    module, _, function = QUANTUM[name].partition(":")
    return getattr(import_module(module), function)(**options)


def sampler_at(target: str, folder: str | None = None) -> Any:
    """Return the sampler behind `package.module:name`.

    Args:
        target: the place of a class of samplers, of a function that returns one, or of a sampler.
        folder: modules are also looked for in this folder.
    """
    import dimod

    module, _, name = target.partition(":")
    if folder is not None and folder not in sys.path:  # as `python -m` does
        sys.path.insert(0, folder)
    try:
        found = getattr(import_module(module), name)
    except Exception as error:  # whatever a module raises
        raise InputError(
            f"there is no sampler {target!r} ({error}); give package.module:name of a class, a function or a sampler"
        ) from error
    if isinstance(found, dimod.Sampler):
        return found
    wrong = f"{target} is not a dimod.Sampler, nor a class or a function that makes one"
    is_class = isinstance(found, type)
    if not callable(found) or isinstance(found, BuiltinFunctionType) or (is_class and not issubclass(found, dimod.Sampler)):
        raise InputError(wrong)
    try:
        made = found()
    except (Exception, SystemExit) as error:
        raise InputError(f"{target} could not be made without arguments: {error}") from error
    if not isinstance(made, dimod.Sampler):
        raise InputError(f"{wrong}; it returned {type(made).__name__}")
    return made
