"""Two solvers: `Anneal` uses a dimod sampler; `Divide` solves many small subproblems and combines their solutions."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field, fields, replace
from typing import TYPE_CHECKING, Any

from dagneal.base.defaults import NETWORK_PARENTS, PAPER_PARENTS
from dagneal.base.errors import InputError, OutOfTimeError, check_flag, check_keywords, whole_number
from dagneal.divide.division import Combine, DivisionSettings, divide
from dagneal.divide.global_solve import AnnealedSolver, ClassicalSolver
from dagneal.divide.subproblem_solvers import Annealing, ExactSubproblems, SequentialSubproblems, SubproblemSolver
from dagneal.proofs.attempt import EFFORT
from dagneal.qubo.encode import TIGHT, Encoding, as_encoding
from dagneal.runtime.run import NEVER, Run
from dagneal.scoring.bounded import complete_table
from dagneal.solvers.annealing import anneal, check_parameters, is_sampler
from dagneal.solvers.initial_states import check_initial_state, with_edges
from dagneal.solvers.policy import EXACT_FOR_COMPARISON, parent_limit
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
from dagneal.strategies.classical import Exact, refuse_initial, solve_table
from dagneal.strategies.names import DIRECT, QUANTUM, SEEDLESS, check_sampler_name, make_sampler
from dagneal.strategies.proving import Prove, add_proof, attempt_proof, check_prove, lists_are_quick

if TYPE_CHECKING:
    import dimod


_MAX_COMPARED = 80  # variables up to which the network of a sampler is compared with a proved optimum or bound
_COMPARISON = EFFORT / 20  # work of this comparison, so that it takes little time beside the sampler


@dataclass(frozen=True, repr=False)
class Anneal:
    """A solver that uses any dimod sampler.

    The sampler first solves subproblems of three variables. With more than 65 variables, these subproblems contain only
    variables that depend strongly on each other. Their solutions give candidate parents for each variable. Then the sampler
    solves the global problem with these candidates, and repeats this with more candidates until no new candidate raises the
    score. A large global problem is solved in windows: small sets of variables, one after the other. With `direct=True` the
    sampler solves the global problem without subproblems and windows, and all variables are candidate parents.

    Args:
        sampler: a `dimod.Sampler`, or a name such as `"sa"`, `"sqa"`, `"tabu"`, `"qpu"` or `"qpu-emulated"`.
        num_reads: number of reads per call. For most samplers the default is 1,000 for the global problem and 100 for a
            subproblem; `dagneal.solvers.samplers` has the others.
        direct: True to solve the global problem without subproblems. The default is True only for Leap's hybrid sampler.
        encoding: QUBO encoding, or its name such as `"paper"`.
        repair: True to return the best repaired read, False to return a raw read as in the paper.
        parameters: additional parameters of the sampler, such as `{"num_sweeps": 5000}`. The parameter `initial_state` of a
            quantum annealer may be a network: a DAG, a `BayesianNetwork`, a result, or a list of edges.
        prove: True for a proof attempt of a fixed effort, which shows how far the result can be from the optimum; False for
            none, or the number of seconds that it may take.
    """

    sampler: dimod.Sampler | str
    num_reads: int | None = None
    direct: bool | None = None
    encoding: Encoding | str = TIGHT
    repair: bool = True
    parameters: Mapping[str, Any] = field(default_factory=dict)
    prove: Prove = True

    def __post_init__(self) -> None:
        if isinstance(self.sampler, type):
            name = self.sampler.__name__
            raise InputError(f"sampler is the class {name}; give an instance: {name}()")
        if isinstance(self.sampler, str):
            check_sampler_name(self.sampler)
        elif not is_sampler(self.sampler):
            raise InputError(f"sampler is {type(self.sampler).__name__}; give a dimod sampler, or a name such as 'sa'")
        object.__setattr__(self, "encoding", as_encoding(self.encoding))
        check_prove(self.prove)
        for name in ("repair",) if self.direct is None else ("direct", "repair"):
            check_flag(name, getattr(self, name))
        check_keywords("parameters", self.parameters)
        object.__setattr__(self, "parameters", with_edges(self.parameters))
        if self.num_reads is not None:
            object.__setattr__(self, "num_reads", whole_number("num_reads", self.num_reads, least=1))
            if "num_reads" in self.parameters:
                raise InputError("num_reads is given twice, as an argument and in parameters; give it once")
        if not isinstance(self.sampler, str):
            check_parameters(self.sampler, self.sampler_parameters)

    def __repr__(self) -> str:
        """Return the sampler and the settings that differ from the defaults."""
        sampler = repr(self.sampler) if isinstance(self.sampler, str) else describe_sampler(self.sampler)
        default = Anneal("sa")
        differing = (each.name for each in fields(self)[1:] if getattr(self, each.name) != getattr(default, each.name))
        settings = {name: getattr(self, name) for name in differing}
        if "parameters" in settings:
            settings["parameters"] = dict(sorted(self.parameters.items()))
        return f"Anneal({', '.join([sampler, *(f'{name}={value!r}' for name, value in settings.items())])})"

    @property
    def sampler_parameters(self) -> dict[str, Any]:
        """The sampler parameters that the user gave, including `num_reads`."""
        return dict(self.parameters) | ({} if self.num_reads is None else {"num_reads": self.num_reads})

    def solve(self, problem: Problem, run: Run) -> Solution:
        """Solve a problem; see `dagneal.Solver`."""
        with open_sampler(self, run) as ready:
            if ready.is_direct:
                return with_usage(ready, lambda: ready.solve_directly(problem, run))
            solution = with_usage(ready, lambda: _divide(problem, DivisionSettings(), ready, {}, run))
        return _compare(solution, problem, self.prove, run)

    @property
    def is_direct(self) -> bool:
        """Whether the sampler solves the global problem without subproblems."""
        if self.direct is not None:
            return self.direct
        return self.sampler in DIRECT if isinstance(self.sampler, str) else solves_directly(self.sampler)

    @property
    def takes_seed(self) -> bool:
        """Whether the sampler has a parameter `seed`."""
        if isinstance(self.sampler, str) and self.sampler in QUANTUM:
            return self.sampler not in SEEDLESS
        return "seed" in parameters_of(make_sampler(self.sampler) if isinstance(self.sampler, str) else self.sampler)

    @property
    def submits_jobs(self) -> bool:
        """Whether the sampler submits jobs to a remote machine and records them in a journal."""
        if isinstance(self.sampler, str):
            return self.sampler in QUANTUM and self.sampler not in DIRECT
        return isinstance(self.sampler, Journalling)

    @property
    def uses_journal(self) -> bool:
        """Whether the solver writes solved subproblems or submitted jobs to a journal."""
        return not self.is_direct or self.submits_jobs

    def solve_directly(self, problem: Problem, run: Run) -> Solution:
        """Solve the global problem without subproblems.

        Args:
            problem: problem with any number of variables.
            run: a `Run` with seed and progress. A deadline raises an error, because a sampler cannot be stopped.
        """
        refuse_initial(problem)
        if run.deadline != NEVER:
            raise InputError(
                "a sampler that solves the global problem directly cannot obey a time limit; use fewer reads instead"
            )
        limit = parent_limit(problem.max_parents, len(problem.names), PAPER_PARENTS)
        parameters = self.sampler_parameters
        return solve_table(
            problem.with_limit(limit),
            lambda table: anneal(table, self.sampler, self.repair, self.encoding, run, **parameters),
            run,
            self.prove,
        )


@dataclass(frozen=True)
class Divide:
    """Divide et impera: solve many small subproblems, and combine their solutions into a global network.

    Args:
        solver: solver of the subproblems; exact search by default. Give an `Anneal`, any other solver, or a name such as
            `"sa"`. With `combine="conquer"`, an `Anneal` also solves the global problem. If the solver is not an `Anneal`,
            exact search or order search solves the global problem.
        size: number of variables in a subproblem (k in the paper).
        subproblems: `"all"`, `"cover:2"`, `"cover:3"`, or `"sample:F"` with a fraction F; see
            `dagneal.divide.choose_subproblems`.
        combine: rule that combines the solutions of the subproblems. `conquer` derives candidate parents from them, and then
            solves the global problem with these candidates. `penalty` and `count` are the paper's rules. `penalty` keeps an
            edge if it is in the solutions of more than half of the subproblems that contain both variables of the edge
            (C - P > 0 in the paper). `count` keeps an edge if it is in more solutions than the reverse edge.
        acyclic: True to drop the weakest edge of each cycle; used only by the rules `penalty` and `count`.
        subproblem_parameters: sampler parameters that apply to the subproblems only, such as `{"num_reads": 100}`.
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
            raise InputError("direct=True means no subproblems, but Divide needs subproblems; remove direct=True or Divide")
        check_keywords("subproblem_parameters", self.subproblem_parameters)
        object.__setattr__(self, "subproblem_parameters", with_edges(self.subproblem_parameters))
        if self.subproblem_parameters:
            if not isinstance(self.solver, Anneal):
                raise InputError("subproblem_parameters are only for samplers; give Divide(Anneal(sampler), ...)")
            if not isinstance(self.solver.sampler, str):
                check_parameters(self.solver.sampler, dict(self.subproblem_parameters))
        object.__setattr__(self, "size", self.settings.size)

    @property
    def settings(self) -> DivisionSettings:
        """The choice of subproblems, and the rule to combine their solutions, in one object."""
        return DivisionSettings(self.size, self.subproblems, self.combine, self.acyclic)

    @property
    def uses_journal(self) -> bool:
        """Always True: the solver writes solved subproblems to a journal."""
        return True

    def solve(self, problem: Problem, run: Run) -> Solution:
        """Solve a problem; see `dagneal.Solver`."""
        settings = self.settings
        if isinstance(self.solver, Anneal):
            with open_sampler(self.solver, run) as ready:
                solution = with_usage(ready, lambda: _divide(problem, settings, ready, self.subproblem_parameters, run))
            return _compare(solution, problem, self.solver.prove, run)
        n = len(problem.names)
        if n < 3:
            return _solve_undivided(self.solver if isinstance(self.solver, Solver) else Exact(), problem, settings, run)
        return divide(problem, settings, _prepare_solver(self.solver, run), ClassicalSolver(), run)


def _subproblem_solver(value: Any) -> Any:
    """Check the argument `solver` of `Divide`, and convert a name or a sampler to a solver."""
    from dagneal.strategies.auto import Auto
    from dagneal.strategies.names import as_solver

    if isinstance(value, SubproblemSolver):
        return value
    solver = as_solver(value)
    if isinstance(solver, Divide):
        raise InputError("a Divide cannot contain another Divide; give a solver for the subproblems")
    return Exact() if isinstance(solver, Auto) else solver


def _prepare_solver(solver: Any, run: Run) -> SubproblemSolver:
    """Convert a value of the field `Divide.solver` to a `SubproblemSolver`."""
    if isinstance(solver, Exact):
        return ExactSubproblems()
    return solver if isinstance(solver, SubproblemSolver) else SequentialSubproblems(solver, run.seed)


def _divide(problem: Problem, settings: DivisionSettings, ready: Anneal, changes: Mapping[str, Any], run: Run) -> Solution:
    """Solve the subproblems with the sampler of `ready`. If the rule is `conquer`, also solve the global problem with it."""
    from dagneal.divide.annealed_windows import CHIP_WHOLE_EDGES, CHIP_WINDOW_EDGES, WINDOW_VARIABLES, WindowedSolver
    from dagneal.divide.batched_subproblems import annealed_subproblems

    n, sampler, encoding = len(problem.names), ready.sampler, as_encoding(ready.encoding)
    if encoding.penalties == "paper" and settings.combine == "conquer":
        problem = problem.with_limit(min(PAPER_PARENTS, n - 1))
    if n < 3:
        return _solve_undivided(replace(ready, direct=True), problem, settings, run)
    parameters = ready.sampler_parameters
    check_parameters(sampler, parameters)
    for given in (parameters, changes):
        check_initial_state(given, problem.names)
    subproblems = with_defaults(sampler, parameters | dict(changes), settings.size, ready.repair)
    common = (ready.repair, run.seed, encoding)
    solver = annealed_subproblems(sampler, subproblems, *common)
    windows = Annealing(sampler, with_defaults(sampler, parameters, WINDOW_VARIABLES, ready.repair), *common)
    global_solver = WindowedSolver(AnnealedSolver(sampler, with_defaults(sampler, parameters), *common), windows)
    if isinstance(sampler, Metered):
        global_solver = replace(global_solver, whole_edges=CHIP_WHOLE_EDGES, window_edges=CHIP_WINDOW_EDGES)
    return divide(problem, settings, solver, global_solver, run)


def _compare(solution: Solution, problem: Problem, setting: Prove, run: Run) -> Solution:
    """Compare the network of a sampler with a proved optimum or bound, if there are more than 20 and at most 80 variables.

    The comparison is optional: Ctrl-C and the deadline end it, but do not lose the network.
    """
    n, division = len(problem.names), solution.division
    by_votes = division is None or division.combine != "conquer" or division.interrupted
    if by_votes or solution.reads is None or not EXACT_FOR_COMPARISON < n <= _MAX_COMPARED or not solution.is_dag:
        return solution
    if not setting or not lists_are_quick(problem.scorer, solution.max_parents, setting):
        return solution
    attempt = None
    with suppress(KeyboardInterrupt, OutOfTimeError):
        table = complete_table(problem.scorer, solution.max_parents)
        attempt = attempt_proof(table, solution.dag, setting, run, problem.scorer, _COMPARISON)
    return add_proof(solution, attempt)


def _solve_undivided(solver: Solver, problem: Problem, settings: DivisionSettings, run: Run) -> Solution:
    """Solve a problem with fewer than three variables, which has no subproblems."""
    default = NETWORK_PARENTS if settings.combine == "conquer" else PAPER_PARENTS
    limit = parent_limit(problem.max_parents, len(problem.names), default)
    solution = solver.solve(replace(problem.with_limit(limit), initial=None), replace(run, deadline=NEVER))
    name = solution.solver
    note = f"fewer than 3 variables: {name} solved the problem without subproblems"
    division = Division(settings.combine, len(solution.dag), "none", 0, name, global_solver=name, skipped=note)
    return replace(solution, seed=run.seed, division=division)


@contextmanager
def open_sampler(solver: Anneal, run: Run) -> Iterator[Anneal]:
    """Yield the solver with a sampler object instead of a name. The sampler is connected to the journal of the run.

    A sampler that was given by name is created here, and closed at the end.

    Args:
        solver: solver whose sampler is an object or a name.
        run: a `Run`; its journal, if any, records submitted jobs.
    """
    created = isinstance(solver.sampler, str)
    sampler = make_sampler(solver.sampler) if isinstance(solver.sampler, str) else solver.sampler
    if isinstance(sampler, Journalling):
        sampler = sampler.with_journal(run.journal)
    try:
        yield replace(solver, sampler=sampler)
    finally:
        if created and isinstance(sampler, Closing):
            sampler.close()


def with_usage(ready: Anneal, solve: Any) -> Solution:
    """Call `solve`, and add the usage of the quantum annealer, if any, to the solution.

    Args:
        ready: solver with a sampler object; see `open_sampler`.
        solve: function without arguments that returns a solution.
    """
    if not isinstance(ready.sampler, Metered):
        solution: Solution = solve()
        return solution
    before = ready.sampler.usage()
    solution = solve()
    return replace(solution, hardware=ready.sampler.usage() - before)
