"""Solvers by name, as on the command line. Nothing heavy is imported before it is needed."""

from __future__ import annotations

import sys
from importlib import import_module
from types import BuiltinFunctionType
from typing import Any

from dagneal.base.errors import InputError, hint

LEARNERS = ("auto", "exact", "order", "exhaustive")
SAMPLERS = {
    "sa": "dwave.samplers:SimulatedAnnealingSampler",
    "sqa": "dwave.samplers:PathIntegralAnnealingSampler",
    "tabu": "dwave.samplers:TabuSampler",
    "tree": "dwave.samplers:TreeDecompositionSolver",
    "greedy": "dwave.samplers:SteepestDescentSolver",
    "random": "dwave.samplers:RandomSampler",
}
QUANTUM = ("qpu", "qpu-emulated", "leap-hybrid")
SOLVERS = (*LEARNERS, *SAMPLERS, *QUANTUM)

_MODULES = {"order": "order_search"}


def as_solver(value: Any) -> Any:
    """A solver as given, or by its name.

    Args:
        value: a dimod sampler, a learner, None, or a name such as `"sa"` or `"exact"`, as on the command line.

    Returns:
        A sampler or a learner; None for `"auto"`.
    """
    if isinstance(value, str):
        return solver_named(value)
    if isinstance(value, type):
        raise InputError(f"solver is the class {value.__name__}; give an instance: {value.__name__}()")
    return value


def solver_named(name: str) -> Any:
    """A solver by the name that it has on the command line.

    Args:
        name: such as `"sa"`, `"exact"` or `"qpu-emulated"`.

    Returns:
        A sampler or a learner; None for `"auto"`.

    >>> type(solver_named("tabu")).__name__
    'TabuSampler'
    """
    check_name(name)
    if name == "auto":
        return None
    if name in LEARNERS:
        return getattr(import_module(f"dagneal.solvers.{_MODULES.get(name, name)}"), name)
    if name in SAMPLERS:
        return sampler_at(SAMPLERS[name])
    from dagneal.qpu.chips import check_installed

    check_installed()
    if name == "qpu-emulated":
        from dagneal.qpu.emulator import emulated_qpu

        return emulated_qpu()
    if name == "qpu":
        from dagneal.qpu.sampler import qpu

        return qpu()
    from dagneal.qpu.cloud import hybrid

    return hybrid()


def check_name(name: str) -> None:
    """Refuse what is not the name of a solver.

    Args:
        name: the name.
    """
    if name not in SOLVERS:
        raise InputError(f"there is no solver {name!r}; give one of {', '.join(SOLVERS)}{hint(name, SOLVERS)}")


def sampler_at(target: str, folder: str | None = None) -> Any:
    """The sampler behind `package.module:name`.

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
