"""Checks of the arguments of `learn` and its relatives: one clear line for each that is wrong."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping, Sequence
from math import inf
from numbers import Real
from typing import Any

import dimod
import networkx as nx

from dagneal.base.errors import InputError, hint
from dagneal.data.dataset import Dataset
from dagneal.graphs.knowledge import as_knowledge
from dagneal.qubo.encode import as_encoding
from dagneal.scoring.scores import as_score
from dagneal.solvers.samplers import parameters_of
from dagneal.strategies.names import as_solver

_ELSEWHERE = {"learn": {"size": "divide"}, "divide": {"divide": "size"}}  # what an argument of a relative is called here
_FURTHER = ("repair", "block_parameters")  # arguments of `divide` that `learn` hands on


def as_dataset(data: Any) -> Dataset:
    """Data as given, or read from what `read` takes.

    Args:
        data: a dataset, a path, a frame or an array.
    """
    if isinstance(data, Dataset):
        return data
    from dagneal.data.reading import read

    return read(data)


def check_keywords(name: str, functions: Sequence[Callable[..., Any]], solver: Any, given: Mapping[str, Any]) -> None:
    """Refuse keywords that neither a function nor its solver takes; say where they belong, or which one is close.

    Args:
        name: of the function.
        functions: the function, and those that it hands arguments on to.
        solver: a sampler, a learner or None.
        given: the keywords that are not arguments of these functions.
    """
    own = [argument for function in functions for argument in arguments_of(function)]
    solvers = _parameters_of(solver)
    for keyword in given:
        if solvers is None or keyword in solvers or (name == "learn" and keyword in _FURTHER):
            continue
        if other := _ELSEWHERE.get(name, {}).get(keyword):
            raise InputError(f"{keyword} is not an argument of {name}; give {other}={given[keyword]!r}")
        if keyword in _reading_options():
            call = f"dn.{name}(dn.read(data, {keyword}=...))"
            raise InputError(f"{keyword} is an option of dn.read; call {call}")
        if isinstance(solver, dimod.Sampler):
            kind = type(solver).__name__
            taken = ", ".join(sorted(solvers)) or "none"
            close = hint(keyword, [*solvers, *own])
            raise InputError(f"{kind} does not take the parameter {keyword!r}; it takes {taken}{close}")
        close = hint(keyword, [*own, *solvers])
        if solver is None and not close:
            raise InputError(f"{keyword} is no argument of {name}; if it is a parameter of a solver, name the solver too")
        raise InputError(f"{keyword} is no argument of {name}{'' if solver is None else ', nor of its solver'}{close}")


def arguments_of(function: Callable[..., Any]) -> set[str]:
    """The names of a function's arguments.

    Args:
        function: any.
    """
    return {p.name for p in inspect.signature(function).parameters.values() if p.kind is not p.VAR_KEYWORD}


def _reading_options() -> set[str]:
    from dagneal.data.reading import read

    return arguments_of(read) - {"source"}


def _parameters_of(solver: Any) -> set[str] | None:
    """The names of the parameters that a solver takes; None where it takes any."""
    if solver is None:
        return set()
    if isinstance(solver, dimod.Sampler):
        return parameters_of(solver)
    try:
        listed = list(inspect.signature(solver).parameters.values())
    except (TypeError, ValueError):  # nothing is known of it
        return None
    if any(p.kind is p.VAR_KEYWORD for p in listed):
        return None
    return {p.name for p in listed[1:]}  # the first is the table


def check_types(**given: Any) -> None:
    """Refuse arguments of a type that cannot be used.

    Args:
        **given: arguments of `learn` by name.
    """
    for name in ("acyclic", "direct", "bound"):
        if given.get(name) is not None and not isinstance(given[name], bool):
            raise InputError(f"{name} is {given[name]!r}; give True or False")
    limit = given.get("time_limit")
    if limit is not None and (isinstance(limit, bool) or not isinstance(limit, Real) or not 0 < float(limit) < inf):
        raise InputError(f"time_limit is {limit!r}; give seconds above 0")
    executor = given.get("executor")
    if executor is not None and not callable(getattr(executor, "submit", None)):
        raise InputError(f"executor is {executor!r}; give a concurrent.futures.Executor, such as ThreadPoolExecutor(4)")
    journal = given.get("journal")
    if journal is not None and not all(callable(getattr(journal, method, None)) for method in ("get", "put")):
        shown = repr(str(journal)) if hasattr(journal, "__fspath__") else repr(journal)
        wanted = f"dn.SqliteJournal({shown})" if isinstance(journal, str) or hasattr(journal, "__fspath__") else "a journal"
        raise InputError(f"journal is {shown}; give {wanted}, in a with statement")
    if given.get("progress") is not None and not callable(given["progress"]):
        raise InputError(f"progress is {given['progress']!r}; give a function of a stage, how much is done, and of how much")
    start = given.get("start")
    if start is not None and not isinstance(start, nx.DiGraph):
        raise InputError(f"start is {start!r}; give a networkx.DiGraph, such as dn.load('lung-cancer').dag")


def checked_options(name: str, function: Callable[..., Any], options: Mapping[str, Any]) -> dict[str, Any]:
    """Options that a function hands on to `learn`, names resolved; unknown ones are refused before any work.

    Args:
        name: of the function.
        function: that was called with them.
        options: of `learn`, and parameters of its solver.
    """
    from dagneal.learning import learn

    found = dict(options)
    for argument, resolve in (("score", as_score), ("knowledge", as_knowledge), ("solver", as_solver)):
        if found.get(argument) is not None:
            found[argument] = resolve(found[argument])
    if isinstance(found.get("encoding"), str):
        found["encoding"] = as_encoding(found["encoding"])
    known = arguments_of(learn)
    check_keywords(
        name, [function, learn], found.get("solver"), {key: value for key, value in found.items() if key not in known}
    )
    return found
