"""Parameters, defaults and fingerprints of samplers. This module must not import slow packages."""

from __future__ import annotations

import inspect
import sys
from collections.abc import Mapping
from functools import lru_cache
from typing import TYPE_CHECKING, Any, Protocol, runtime_checkable

from dagneal.base.defaults import ANNEALING_READS, ANNEALING_SWEEPS, READS, SUBPROBLEM_READS
from dagneal.base.errors import InputError
from dagneal.runtime.executors import Fingerprinted

if TYPE_CHECKING:
    from dagneal.runtime.journal import Journal
    from dagneal.solvers.solution import Hardware

# Default parameters of a class and its subclasses. Any other sampler that accepts num_reads gets READS.
_COMPILED = "dagneal.solvers.simulated_annealing:SimulatedAnnealing"
_DEFAULTS: dict[str, dict[str, Any]] = {
    # In the same time, few reads with many sweeps find better networks than 1,000 reads with 1,000 sweeps.
    _COMPILED: {"num_reads": ANNEALING_READS, "num_sweeps": ANNEALING_SWEEPS},
    "dwave.samplers:PathIntegralAnnealingSampler": {"num_reads": 100},
    # A read ends after a number of restarts, not after some time, so the same seed gives the same result. lower_bound_z is
    # the smallest limit on updates. With its larger default, four variables would take as long as a hundred.
    "dwave.samplers:TabuSampler": {"num_reads": 100, "num_restarts": 5, "timeout": 600_000, "lower_bound_z": 10_000},
    "dwave.samplers:TreeDecompositionSolver": {"num_reads": 1},
}
_KNOWN = ("dwave", "dimod", "dagneal")  # packages whose samplers are thread-safe and identified by their class
_DIRECT = ("dwave.system:LeapHybridSampler",)  # each call takes seconds, so many subproblems would be slow


def parameters_of(sampler: Any) -> set[str]:
    """Return the names of the parameters that a sampler accepts.

    These are the parameters in `sampler.parameters` and the keyword arguments of the method `sample`. Both are needed,
    because `sampler.parameters` of some samplers contains only the parameters of the constructor.

    Args:
        sampler: dimod sampler.
    """
    method = sampler.sample
    keywords = _keywords(getattr(method, "__func__", method))
    return {*keywords, *sampler.parameters} - {"self", "bqm"}


@lru_cache(64)
def _keywords(function: Any) -> frozenset[str]:
    """Return the names of a function's keyword arguments. They are cached, because samplers are called many times."""
    parameters = inspect.signature(function).parameters.values()
    return frozenset(p.name for p in parameters if p.kind in (p.KEYWORD_ONLY, p.POSITIONAL_OR_KEYWORD))


def default_parameters(sampler: Any) -> dict[str, Any]:
    """Return the default parameters of a sampler for the global problem, which contains all variables.

    Args:
        sampler: dimod sampler. A composite gets the defaults of the sampler inside it.

    >>> from dwave.samplers import SimulatedAnnealingSampler
    >>> default_parameters(SimulatedAnnealingSampler())
    {'num_reads': 1000}
    """
    accepted = parameters_of(sampler)
    for part in (sampler, *_inner(sampler)):
        for target, defaults in _DEFAULTS.items():
            if _is_a(part, target):
                return {name: value for name, value in defaults.items() if name in accepted}
    return {"num_reads": READS} if "num_reads" in accepted else {}


def with_defaults(sampler: Any, given: Mapping[str, Any], size: int | None = None, repair: bool = True) -> dict[str, Any]:
    """Return the parameters of a sampler call: the user's parameters, and defaults for the others.

    Args:
        sampler: dimod sampler.
        given: parameters of the user, which override the defaults.
        size: number of variables of a subproblem; None for the global problem. By default, subproblems get fewer reads.
        repair: True if the best repaired read is used, False if a raw read is used.

    >>> from dwave.samplers import SimulatedAnnealingSampler
    >>> with_defaults(SimulatedAnnealingSampler(), {"num_sweeps": 50}, size=3)
    {'num_reads': 100, 'num_sweeps': 50}
    """
    defaults = default_parameters(sampler)
    if size is not None and any(_is_a(part, _COMPILED) for part in (sampler, *_inner(sampler))):
        defaults |= subproblem_effort(size, repair)
    elif size is not None and "num_reads" in defaults:
        defaults["num_reads"] = min(SUBPROBLEM_READS, defaults["num_reads"])
    for name, other in (("num_reads", "initial_states"), ("num_sweeps", "beta_schedule")):
        if given.get(other) is not None:  # the number of states or of temperatures determines the parameter
            defaults.pop(name, None)
    return defaults | dict(given)


def subproblem_effort(size: int, repair: bool) -> dict[str, int]:
    """Return the reads and sweeps with which `SimulatedAnnealing` solves a subproblem.

    Both double with each further variable, up to 128 reads and 1,024 sweeps. With these values, annealing misses the best
    network of a subproblem no more often than with 100 reads and 1,000 sweeps. Raw reads always get the largest values,
    because a raw read is only correct if all its QUBO variables are.

    Args:
        size: number of variables of the subproblem.
        repair: True if the best repaired read is used, False if a raw read is used.

    >>> subproblem_effort(3, repair=True), subproblem_effort(8, repair=True)
    ({'num_reads': 32, 'num_sweeps': 64}, {'num_reads': 128, 'num_sweeps': 1024})
    """
    doublings = min(max(size - 3, 0), 4) if repair else 4
    return {"num_reads": min(32 << doublings, ANNEALING_READS), "num_sweeps": 64 << doublings}


def solves_directly(sampler: Any) -> bool:
    """Return whether a sampler by default solves the global problem directly, without dividing it into subproblems.

    Args:
        sampler: dimod sampler.
    """
    return any(_is_a(part, target) for part in (sampler, *_inner(sampler)) for target in _DIRECT)


def needs_lock(sampler: Any) -> bool:
    """Return whether only one thread may use a sampler at a time.

    This is assumed of all third-party samplers. They may keep the current problem in their attributes, as OpenJij's do.

    Args:
        sampler: dimod sampler.
    """
    return not all(_is_known(part) for part in (sampler, *_inner(sampler)))


def describe_sampler(sampler: Any) -> str:
    """Return a text that identifies a sampler: its class, its `fingerprint` if any, and the samplers inside it.

    A third-party sampler without a `fingerprint` is described by its `repr`.

    Args:
        sampler: dimod sampler.

    >>> from dwave.samplers import TabuSampler
    >>> describe_sampler(TabuSampler())
    'dwave.samplers.tabu.sampler.TabuSampler()'
    """
    kind = f"{type(sampler).__module__}.{type(sampler).__qualname__}"
    inside = [describe_sampler(child) for child in children_of(sampler)]
    if isinstance(sampler, Fingerprinted):
        return f"{kind}({', '.join([str(sampler.fingerprint), *inside])})"
    if _is_known(sampler):
        return f"{kind}({', '.join(inside)})"
    text = repr(sampler)
    return " ".join([text if ADDRESS in text else f"{type(sampler).__module__}.{text}", *inside])


def sampler_fingerprint(sampler: Any) -> str:
    """Return a text that identifies a sampler in a journal and is the same in every process.

    Args:
        sampler: dimod sampler.
    """
    text = describe_sampler(sampler)
    if ADDRESS in text:
        raise InputError(f"a journal cannot identify the sampler {text}; {FINGERPRINT_ADVICE}")
    return text


ADDRESS = " at 0x"  # part of the default `repr` of an object, which shows no settings
FINGERPRINT_ADVICE = "add a property `fingerprint` or a `__repr__` with all settings to the class of the sampler"


def _is_known(sampler: Any) -> bool:
    """Return whether a sampler belongs to D-Wave's Ocean packages or to this package."""
    return type(sampler).__module__.split(".")[0] in _KNOWN


def children_of(sampler: Any) -> list[Any]:
    """Return the samplers directly inside a composite sampler; an empty list for other samplers.

    Args:
        sampler: dimod sampler.
    """
    return list(sampler.children or []) if isinstance(sampler, Composed) else []


def _inner(sampler: Any) -> list[Any]:
    """Return all samplers inside a composite sampler, at any depth."""
    return [part for child in children_of(sampler) for part in (child, *_inner(child))]


def _is_a(sampler: Any, target: str) -> bool:
    """Return whether a sampler is an instance of the class `target`, given as `module:name`. Do not import the module."""
    module, _, name = target.partition(":")
    kind = getattr(sys.modules.get(module), name, None)
    return isinstance(kind, type) and isinstance(sampler, kind)


@runtime_checkable
class Composed(Protocol):
    """A sampler with other samplers inside, such as a dimod composite."""

    @property
    def children(self) -> Any:
        """The samplers inside this sampler."""
        ...


@runtime_checkable
class Embedded(Protocol):
    """A sampler with an embedding, a mapping from the labels of the variables to qubits."""

    @property
    def embedding(self) -> Any:
        """The embedding, a mapping from the labels of the variables to qubits."""
        ...


@runtime_checkable
class Journalling(Protocol):
    """A sampler that submits problems to a remote machine and stores their ids in a journal."""

    def with_journal(self, journal: Journal | None) -> Any:
        """Return a copy of this sampler with a journal; return the sampler itself if it already has a journal.

        Args:
            journal: journal for the ids of submitted problems.
        """
        ...


@runtime_checkable
class Metered(Protocol):
    """A sampler that measures its use of a quantum annealer."""

    def usage(self) -> Hardware:
        """Return the use of the quantum annealer by this sampler so far."""
        ...


@runtime_checkable
class Noting(Protocol):
    """A sampler that collects notes for the user."""

    @property
    def notes(self) -> list[str]:
        """The notes so far. Each note is one line."""
        ...


@runtime_checkable
class Closing(Protocol):
    """A sampler with a connection that must be closed after use."""

    def close(self) -> None:
        """Close the connection."""
        ...
