"""Anneal and Divide: samplers on the global problem, and any solver on subproblems."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field, fields, replace
from sys import maxsize
from typing import Any

import dimod

from dagneal.base.defaults import NETWORK_PARENTS, PAPER_PARENTS
from dagneal.base.errors import InputError, check_flag, check_keywords, whole_number
from dagneal.divide.division import Combine, DivisionSettings, divide
from dagneal.divide.global_solve import AnnealedSolver, ClassicalSolver, GlobalSolver
from dagneal.divide.screening import screen
from dagneal.divide.subproblem_solvers import (
    AnnealedSubproblems,
    Batching,
    ExactSubproblems,
    SolvedSubproblems,
    SubproblemSolver,
)
from dagneal.qubo.encode import TIGHT, Encoding, as_encoding
from dagneal.runtime.run import NEVER, Run
from dagneal.scoring.scorer import MOST_CANDIDATES
from dagneal.solvers.annealing import anneal, check_parameters
from dagneal.solvers.policy import parent_limit
from dagneal.solvers.problem import Problem, Solver
from dagneal.solvers.samplers import (
    Closing,
    Journalling,
    Metered,
    describe_sampler,
    parameters_of,
    solves_directly,
    with_defaults,
)
from dagneal.solvers.solution import Division, Solution
from dagneal.strategies.classical import Exact, check_cold, check_size, solve_table
from dagneal.strategies.names import DIRECT, QUANTUM, SEEDLESS, check_sampler_name, sampler_named


@dataclass(frozen=True, repr=False)
class Anneal:
    """Any dimod sampler.

    The sampler first solves subproblems of three variables, which say who may be a parent of whom. Then it solves the global
    problem on these candidates, and again with more candidates until none is missing. With `direct` it solves the global
    problem at once, with all variables as candidate parents.

    Args:
        sampler: a `dimod.Sampler`, or a name such as `"sa"`, `"sqa"`, `"tabu"`, `"qpu"` or `"qpu-emulated"`.
        num_reads: reads of each call; by default 1,000 for the global problem and 100 for a subproblem, but fewer where a
            read is slow.
        direct: solve the global problem at once; by default only Leap's hybrid sampler does.
        encoding: how scores are written as a QUBO: an encoding, or words such as `"paper"`.
        repair: take the best repaired read; otherwise a raw one, as in the paper.
        parameters: further parameters of the sampler, such as `{"num_sweeps": 5000}`.
        bound: with `direct`, also prove an upper bound on the score.
    """

    sampler: dimod.Sampler | str
    num_reads: int | None = None
    direct: bool | None = None
    encoding: Encoding | str = TIGHT
    repair: bool = True
    parameters: Mapping[str, Any] = field(default_factory=dict)
    bound: bool = True

    def __post_init__(self) -> None:
        if isinstance(self.sampler, type):
            name = self.sampler.__name__
            raise InputError(f"sampler is the class {name}; give an instance: {name}()")
        if isinstance(self.sampler, str):
            check_sampler_name(self.sampler)
        elif not isinstance(self.sampler, dimod.Sampler):
            raise InputError(f"sampler is {type(self.sampler).__name__}; give a dimod sampler, or a name such as 'sa'")
        object.__setattr__(self, "encoding", as_encoding(self.encoding))
        for name in ("repair", "bound") if self.direct is None else ("direct", "repair", "bound"):
            check_flag(name, getattr(self, name))
        check_keywords("parameters", self.parameters)
        if self.num_reads is not None:
            object.__setattr__(self, "num_reads", whole_number("num_reads", self.num_reads, least=1))
            if "num_reads" in self.parameters:
                raise InputError("num_reads is given twice, once in parameters; give it once")
        if not isinstance(self.sampler, str):
            check_parameters(self.sampler, self.sampler_parameters)

    def __repr__(self) -> str:
        """Return the settings that differ from the defaults; samplers by their class."""
        sampler = repr(self.sampler) if isinstance(self.sampler, str) else describe_sampler(self.sampler)
        blank = Anneal("sa")
        differing = (each.name for each in fields(self)[1:] if getattr(self, each.name) != getattr(blank, each.name))
        given = {name: getattr(self, name) for name in differing}
        if "parameters" in given:
            given["parameters"] = dict(sorted(self.parameters.items()))
        return f"Anneal({', '.join([sampler, *(f'{name}={value!r}' for name, value in given.items())])})"

    @property
    def sampler_parameters(self) -> dict[str, Any]:
        """The parameters of the sampler as given."""
        return dict(self.parameters) | ({} if self.num_reads is None else {"num_reads": self.num_reads})

    def solve(self, problem: Problem, run: Run) -> Solution:
        """Solve a problem; see `dagneal.Solver`."""
        with open_sampler(self, run) as ready:
            if ready.is_direct:
                return with_usage(ready, lambda: ready.solve_directly(problem, run))
            return with_usage(ready, lambda: _divide(problem, DivisionSettings(), ready, {}, run))

    @property
    def is_direct(self) -> bool:
        """Whether the sampler solves the global problem at once."""
        if self.direct is not None:
            return self.direct
        return self.sampler in DIRECT if isinstance(self.sampler, str) else solves_directly(self.sampler)

    @property
    def takes_seed(self) -> bool:
        """Whether the sampler takes a seed."""
        if isinstance(self.sampler, str) and self.sampler in QUANTUM:
            return self.sampler not in SEEDLESS
        return "seed" in parameters_of(sampler_named(self.sampler) if isinstance(self.sampler, str) else self.sampler)

    @property
    def sends_away(self) -> bool:
        """Whether the sampler sends problems away and notes in a journal what was sent."""
        if isinstance(self.sampler, str):
            return self.sampler in QUANTUM and self.sampler not in DIRECT
        return isinstance(self.sampler, Journalling)

    @property
    def most_variables(self) -> int:
        """The most variables that it takes."""
        return MOST_CANDIDATES + 1

    @property
    def uses_journal(self) -> bool:
        """Whether anything is stored in a journal: solved subproblems, or what was sent away."""
        return not self.is_direct or self.sends_away

    def solve_directly(self, problem: Problem, run: Run) -> Solution:
        """Solve the global problem at once.

        Args:
            problem: of at most 65 variables.
            run: its seed and progress; a sampler takes no deadline.
        """
        check_size(type(self.sampler).__name__, MOST_CANDIDATES + 1, problem)
        check_cold(problem)
        if run.deadline != NEVER:
            raise InputError(
                "a sampler that solves the global problem at once cannot be cut short; give fewer reads, not a time limit"
            )
        limit = parent_limit(problem.max_parents, len(problem.names), PAPER_PARENTS)
        parameters = self.sampler_parameters
        return solve_table(
            problem.with_limit(limit),
            lambda table: anneal(table, self.sampler, self.repair, self.encoding, run, **parameters),
            self.bound,
        )


@dataclass(frozen=True)
class Divide:
    """Divide et impera: solve many small subproblems, and put the global network together from them.

    Args:
        solver: solves the subproblems: exact search by default, an `Anneal`, any other solver, or a name such as `"sa"`.
            Under `conquer` an `Anneal` solves the global problem too; otherwise exact or order search does.
        size: variables in a subproblem, k in the paper.
        subproblems: `all`, `cover:2`, `cover:3` or `sample:F`; see `dagneal.divide.choose_subproblems`.
        combine: `conquer` takes the subproblems as evidence for who may be a parent of whom, and solves the global problem.
            `penalty` and `count` are the paper's rules: an edge that is in more subproblems than it is not (C - P > 0), or
            one that occurs, and more often than its reverse.
        acyclic: drop the weakest edge of each cycle that the rules of the paper leave.
        subproblem_parameters: parameters of the sampler that differ for the subproblems, such as `{"num_reads": 100}`.
    """

    solver: Solver | SubproblemSolver | dimod.Sampler | str = field(default_factory=Exact)
    size: int = DivisionSettings.size
    subproblems: str = DivisionSettings.subproblems
    combine: Combine = DivisionSettings.combine
    acyclic: bool = DivisionSettings.acyclic
    subproblem_parameters: Mapping[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        object.__setattr__(self, "solver", _subproblem_solver(self.solver))
        if isinstance(self.solver, Anneal) and self.solver.direct:
            raise InputError("direct=True solves the global problem at once, Divide in subproblems; leave one of them out")
        check_keywords("subproblem_parameters", self.subproblem_parameters)
        if self.subproblem_parameters:
            if not isinstance(self.solver, Anneal):
                raise InputError("subproblem_parameters are for samplers; give Divide(Anneal(sampler), ...)")
            if not isinstance(self.solver.sampler, str):
                check_parameters(self.solver.sampler, dict(self.subproblem_parameters))
        object.__setattr__(self, "size", self.settings.size)

    @property
    def settings(self) -> DivisionSettings:
        """Which subproblems there are, and how the global network is put together."""
        return DivisionSettings(self.size, self.subproblems, self.combine, self.acyclic)

    @property
    def most_variables(self) -> int:
        """The most variables that it takes."""
        screens = isinstance(self.solver, Exact) and self.settings == DivisionSettings()
        return maxsize if screens else MOST_CANDIDATES + 1

    @property
    def uses_journal(self) -> bool:
        """Whether anything is stored in a journal: solved subproblems are."""
        return True

    def solve(self, problem: Problem, run: Run) -> Solution:
        """Solve a problem; see `dagneal.Solver`."""
        settings = self.settings
        if isinstance(self.solver, Anneal):
            with open_sampler(self.solver, run) as ready:
                return with_usage(ready, lambda: _divide(problem, settings, ready, self.subproblem_parameters, run))
        n = len(problem.names)
        if n > MOST_CANDIDATES + 1:
            if settings != DivisionSettings() or not isinstance(self.solver, Exact):
                _refuse_size(n)
            return screen(problem.scorer, parent_limit(problem.max_parents, n), problem.initial, run)
        if n < 3:
            return _solve_undivided(self.solver if isinstance(self.solver, Solver) else Exact(), problem, settings, run)
        ready_solver = _ready(self.solver, run)
        return divide(problem, settings, ready_solver, ClassicalSolver(), run)


def _subproblem_solver(value: Any) -> Any:
    """Return what solves subproblems, by name or as given."""
    from dagneal.strategies.auto import Auto
    from dagneal.strategies.names import as_solver

    if isinstance(value, SubproblemSolver):
        return value
    found = as_solver(value)
    if isinstance(found, Divide):
        raise InputError("a division cannot be divided again; give the solver of its subproblems")
    return Exact() if isinstance(found, Auto) else found


def _ready(solver: Any, run: Run) -> SubproblemSolver:
    """Return a subproblem solver; see `Divide.solver`."""
    if isinstance(solver, Exact):
        return ExactSubproblems()
    return solver if isinstance(solver, SubproblemSolver) else SolvedSubproblems(solver, run.seed)


def _divide(problem: Problem, settings: DivisionSettings, ready: Anneal, different: Mapping[str, Any], run: Run) -> Solution:
    """Solve subproblems, and perhaps the global problem, with a sampler."""
    n, sampler, encoding = len(problem.names), ready.sampler, as_encoding(ready.encoding)
    if encoding.penalties == "paper" and settings.combine == "conquer":
        problem = problem.with_limit(min(PAPER_PARENTS, n - 1))
    if n > MOST_CANDIDATES + 1:
        check_size(type(sampler).__name__, MOST_CANDIDATES + 1, problem)
    if n < 3:
        return _solve_undivided(replace(ready, direct=True), problem, settings, run)
    parameters = ready.sampler_parameters
    check_parameters(sampler, parameters)
    subproblems = with_defaults(sampler, parameters | dict(different), subproblem=True)
    common = (ready.repair, run.seed, encoding)
    solver: SubproblemSolver = (
        sampler.subproblem_solver(subproblems, *common)
        if isinstance(sampler, Batching)
        else AnnealedSubproblems(sampler, subproblems, *common)
    )
    global_solver: GlobalSolver = AnnealedSolver(sampler, with_defaults(sampler, parameters), *common)
    return divide(problem, settings, solver, global_solver, run)


def _solve_undivided(solver: Solver, problem: Problem, settings: DivisionSettings, run: Run) -> Solution:
    """Solve a problem of two variables, which make no subproblem of three."""
    default = NETWORK_PARENTS if settings.combine == "conquer" else PAPER_PARENTS
    limit = parent_limit(problem.max_parents, len(problem.names), default)
    found = solver.solve(replace(problem.with_limit(limit), initial=None), replace(run, deadline=NEVER))
    note = f"fewer than 3 variables: solved directly, by {found.solver}"
    division = Division(settings.combine, len(found.dag), "none", 0, found.solver, global_solver=found.solver, skipped=note)
    return replace(found, seed=run.seed, division=division)


def _refuse_size(variables: int) -> None:
    raise InputError(
        f"with {variables} variables only exact subproblems of 3 variables with combine='conquer' are possible; "
        "choose fewer columns with columns=[...]"
    )


@contextmanager
def open_sampler(solver: Anneal, run: Run) -> Iterator[Anneal]:
    """Yield the solver with its sampler ready: a name resolved, and what is sent away noted in the journal.

    A sampler that is only named is closed at the end.

    Args:
        solver: as given.
        run: with or without a journal.
    """
    named = isinstance(solver.sampler, str)
    sampler = sampler_named(solver.sampler) if isinstance(solver.sampler, str) else solver.sampler
    if isinstance(sampler, Journalling):
        sampler = sampler.with_journal(run.journal)
    try:
        yield replace(solver, sampler=sampler)
    finally:
        if named and isinstance(sampler, Closing):
            sampler.close()


def with_usage(ready: Anneal, solve: Any) -> Solution:
    """Solve, and add the use of a quantum annealer to the solution.

    Args:
        ready: a solver whose sampler is ready.
        solve: called without arguments.
    """
    if not isinstance(ready.sampler, Metered):
        found: Solution = solve()
        return found
    before = ready.sampler.usage()
    found = solve()
    return replace(found, hardware=ready.sampler.usage() - before)
