"""Create solvers and samplers from their names. Their libraries are imported only when they are used."""

from __future__ import annotations

import sys
from importlib import import_module
from pathlib import PurePath
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
    "sa": "dagneal.solvers.simulated_annealing:SimulatedAnnealing",
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
DIRECT = ("leap-hybrid",)  # samplers that solve the global problem directly by default
SEEDLESS = ("leap-hybrid",)  # quantum samplers without a seed parameter; listed here, because asking them needs a connection
SOLVERS = (*STRATEGIES, *SAMPLERS, *QUANTUM)


def as_solver(value: Any) -> Any:
    """Return the solver that the argument `solver` of `learn` means.

    Args:
        value: a solver, a dimod sampler, a name such as `"sa"` or `"exact"`, or None for `Auto`.

    >>> as_solver("tabu"), as_solver(None)
    (Anneal('tabu'), Auto(prove=True, effort='normal'))
    """
    from dagneal.divide.subproblem_solvers import SubproblemSolver
    from dagneal.solvers.annealing import is_sampler
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
    if is_sampler(value):
        return Anneal(value)
    if isinstance(value, SubproblemSolver):
        name = type(value).__name__
        raise InputError(f"solver is {name}, which solves only subproblems; give dn.Divide({name}(...), ...)")
    if not isinstance(value, Solver):
        raise InputError(
            f"solver is {type(value).__name__}; give a solver such as dn.Exact(), a dimod sampler, or a name such as 'sa'"
        )
    return value


def check_name(name: str) -> None:
    """Raise an error if no solver has this name.

    Args:
        name: name of a solver.
    """
    if name not in SOLVERS:
        raise InputError(f"there is no solver {name!r}; give one of {', '.join(SOLVERS)}{hint(name, SOLVERS)}")


def check_sampler_name(name: str) -> None:
    """Raise an error if no sampler has this name.

    Args:
        name: name of a sampler.
    """
    samplers = (*SAMPLERS, *QUANTUM)
    if name not in samplers:
        raise InputError(f"there is no sampler {name!r}; give one of {', '.join(samplers)}{hint(name, samplers)}")


def make_sampler(name: str, **options: Any) -> Any:
    """Create the sampler with this name.

    Args:
        name: name such as `"sa"` or `"qpu-emulated"`.
        **options: options of a quantum annealer, such as `system` and `chain_strength`.

    >>> type(make_sampler("tabu")).__name__
    'TabuSampler'
    """
    check_sampler_name(name)
    if name in SAMPLERS:
        if options:
            raise InputError(f"{name} has no option {next(iter(options))!r}; only {', '.join(QUANTUM)} have options")
        return load_sampler(SAMPLERS[name])
    from dagneal.qpu.chips import check_installed

    check_installed()
    module, _, function = QUANTUM[name].partition(":")
    return getattr(import_module(module), function)(**options)


def load_sampler(target: str, folder: str | None = None) -> Any:
    """Import or create the sampler that `package.module:name` refers to.

    Args:
        target: text `package.module:name` that refers to a sampler, a sampler class, or a function that returns a sampler.
        folder: additional folder to import modules from.
    """
    import dimod

    module, _, name = target.partition(":")
    file = PurePath(module)
    if not name:
        example = f"{file.stem if file.suffix == '.py' else module}:NAME"
        raise InputError(
            f"cannot import sampler {target!r}: NAME is missing; give {example!r}, where NAME is a sampler, a sampler "
            "class, or a function that returns a sampler"
        )
    if folder is not None and folder not in sys.path:  # like `python -m`
        sys.path.insert(0, folder)
    try:
        value = getattr(import_module(module), name)
    except Exception as error:  # importing a module can raise any exception
        if file.suffix == ".py":
            place = "" if file.name == module else f", and run the command in the folder of {file.name}"
            raise InputError(
                f"cannot import sampler {target!r}; give a module instead of a file: '{file.stem}:{name}'{place}"
            ) from error
        raise InputError(
            f"cannot import sampler {target!r} ({error}); give 'package.module:name' of a sampler, a sampler class, or a "
            "function that returns a sampler"
        ) from error
    if isinstance(value, dimod.Sampler):
        return value
    problem = f"{target} is not a dimod.Sampler, nor a class or function that creates one"
    is_class = isinstance(value, type)
    if not callable(value) or isinstance(value, BuiltinFunctionType) or (is_class and not issubclass(value, dimod.Sampler)):
        raise InputError(problem)
    try:
        sampler = value()
    except (Exception, SystemExit) as error:
        raise InputError(f"{target} cannot be called without arguments: {error}") from error
    if not isinstance(sampler, dimod.Sampler):
        raise InputError(f"{problem}; it returned {type(sampler).__name__}")
    return sampler
