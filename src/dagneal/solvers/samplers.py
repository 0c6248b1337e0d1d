"""Samplers: which parameters they take, and which they get by default. Nothing heavy is imported here."""

from __future__ import annotations

import inspect
import sys
from collections.abc import Mapping
from functools import lru_cache
from typing import TYPE_CHECKING, Any, Protocol, runtime_checkable

from dagneal.base.defaults import READS, SUBPROBLEM_READS
from dagneal.base.errors import InputError
from dagneal.runtime.executors import Fingerprinted

if TYPE_CHECKING:
    from dagneal.runtime.journal import Journal
    from dagneal.solvers.solution import Hardware

# Parameters of a class of samplers and of what is derived from it. Any other sampler that takes num_reads gets READS.
_DEFAULTS: dict[str, dict[str, Any]] = {
    "dwave.samplers:PathIntegralAnnealingSampler": {"num_reads": 100},
    # Restarts end a read, not the clock, so that the same seed gives the same answer. Without the bound on updates a problem
    # of four variables takes as long as one of a hundred.
    "dwave.samplers:TabuSampler": {"num_reads": 100, "num_restarts": 5, "timeout": 600_000, "lower_bound_z": 10_000},
    "dwave.samplers:TreeDecompositionSolver": {"num_reads": 1},
}
_KNOWN = ("dwave", "dimod", "dagneal")  # packages whose samplers threads may share, and whose classes tell them apart
_DIRECT = ("dwave.system:LeapHybridSampler",)  # a call takes seconds, so subproblems are no use


def parameters_of(sampler: Any) -> set[str]:
    """The names of the parameters that a sampler takes: those that it states, and those of its method `sample`.

    Args:
        sampler: a dimod sampler; some state only the parameters of their constructor.
    """
    method = sampler.sample
    own = _keywords(getattr(method, "__func__", method))
    return {*own, *sampler.parameters} - {"self", "bqm"}


@lru_cache(64)
def _keywords(function: Any) -> frozenset[str]:
    """The names of the arguments of a function that can be given as keywords; a sampler is asked many times."""
    listed = inspect.signature(function).parameters.values()
    return frozenset(p.name for p in listed if p.kind in (p.KEYWORD_ONLY, p.POSITIONAL_OR_KEYWORD))


def default_parameters(sampler: Any) -> dict[str, Any]:
    """The parameters that a sampler gets for the global problem where the user gives none.

    Args:
        sampler: a dimod sampler; composites get what suits the sampler inside.

    >>> from dwave.samplers import SimulatedAnnealingSampler
    >>> default_parameters(SimulatedAnnealingSampler())
    {'num_reads': 1000}
    """
    taken = parameters_of(sampler)
    for each in (sampler, *_inner(sampler)):
        for target, defaults in _DEFAULTS.items():
            if _is_a(each, target):
                return {name: value for name, value in defaults.items() if name in taken}
    return {"num_reads": READS} if "num_reads" in taken else {}


def with_defaults(sampler: Any, given: Mapping[str, Any], subproblem: bool = False) -> dict[str, Any]:
    """The parameters of a call: the defaults, and whatever the user gave.

    Args:
        sampler: a dimod sampler.
        given: by the user; these always win.
        subproblem: whether the call solves a subproblem, which needs fewer reads.

    >>> from dwave.samplers import SimulatedAnnealingSampler
    >>> with_defaults(SimulatedAnnealingSampler(), {"num_sweeps": 50}, subproblem=True)
    {'num_reads': 100, 'num_sweeps': 50}
    """
    defaults = default_parameters(sampler)
    if given.get("initial_states") is not None:  # there are as many reads as states
        defaults.pop("num_reads", None)
    if subproblem and "num_reads" in defaults:
        defaults["num_reads"] = min(SUBPROBLEM_READS, defaults["num_reads"])
    return defaults | dict(given)


def solves_directly(sampler: Any) -> bool:
    """Whether a sampler solves the global problem at once unless told otherwise.

    Args:
        sampler: a dimod sampler.
    """
    return any(_is_a(each, target) for each in (sampler, *_inner(sampler)) for target in _DIRECT)


def takes_turns(sampler: Any) -> bool:
    """Whether threads must not use a sampler at the same time.

    A sampler that is not Ocean's or ours may keep the problem in itself while it works, as OpenJij's do.

    Args:
        sampler: a dimod sampler.
    """
    return not all(_is_known(each) for each in (sampler, *_inner(sampler)))


def describe_sampler(sampler: Any) -> str:
    """Return a text that tells a sampler from others: its class, with its `fingerprint` or the samplers inside.

    A sampler that is neither Ocean's nor ours and has no `fingerprint` is described by its `repr`.

    Args:
        sampler: a dimod sampler.

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
    """Return a text that tells a sampler from others in every process, for a journal.

    Args:
        sampler: a dimod sampler.
    """
    text = describe_sampler(sampler)
    if ADDRESS in text:
        raise InputError(f"a journal cannot tell {text} from another sampler; {TELL_APART}")
    return text


ADDRESS = " at 0x"  # in the `repr` of an object that does not say what it is
TELL_APART = "give the class of the sampler a property `fingerprint` or a `__repr__` that names its settings"


def _is_known(sampler: Any) -> bool:
    """Whether a sampler is Ocean's or ours."""
    return type(sampler).__module__.split(".")[0] in _KNOWN


def children_of(sampler: Any) -> list[Any]:
    """Return the samplers that a composite consists of.

    Args:
        sampler: a dimod sampler.
    """
    return list(sampler.children or []) if isinstance(sampler, Composed) else []


def _inner(sampler: Any) -> list[Any]:
    """Return the samplers inside a composite, at any depth."""
    return [each for child in children_of(sampler) for each in (child, *_inner(child))]


def _is_a(sampler: Any, target: str) -> bool:
    """Whether a sampler is of a class; a module that was never imported has no instances."""
    module, _, name = target.partition(":")
    kind = getattr(sys.modules.get(module), name, None)
    return isinstance(kind, type) and isinstance(sampler, kind)


@runtime_checkable
class Composed(Protocol):
    """A sampler that consists of others, as dimod's composites do."""

    @property
    def children(self) -> Any:
        """The samplers inside."""
        ...


@runtime_checkable
class Embedded(Protocol):
    """A sampler with an embedding, which refers to the variables of a problem by their labels."""

    @property
    def embedding(self) -> Any:
        """The qubits of each variable."""
        ...


@runtime_checkable
class Journalling(Protocol):
    """A sampler that sends problems away and can note in a journal what was sent."""

    def with_journal(self, journal: Journal | None) -> Any:
        """Return this sampler with a journal, if it has none; the sampler itself does not change.

        Args:
            journal: stores the ids of problems that were sent.
        """
        ...


@runtime_checkable
class Metered(Protocol):
    """A sampler that knows how much of a quantum annealer it has used."""

    def usage(self) -> Hardware:
        """Return the use so far."""
        ...


@runtime_checkable
class Noting(Protocol):
    """A sampler that notices things which its user should know."""

    @property
    def notes(self) -> list[str]:
        """What was noticed so far, a line each."""
        ...


@runtime_checkable
class Closing(Protocol):
    """A sampler that holds a connection."""

    def close(self) -> None:
        """Close the connection."""
        ...
