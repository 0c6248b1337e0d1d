"""Structural EM: learn a network from rows with unknown values (Friedman 1997).

Each iteration completes the data with the current network, learns a structure from the completed data with any solver, and
fits its probabilities with the EM algorithm. The score is the penalised log-likelihood of the known values. A structure
replaces the current one only if it raises this score, so the score never falls.

The expected counts of the EM algorithm are exact. The completed data of the structure step are exact where a row has few
completions; other rows are represented by draws. So draws can delay a better structure, but cannot lower the score.

The first completions come from a forest, which has only the strongest dependences. A sparse model weakens all other
dependences in the data that it completes. So the next completions come from a structure that is learned with half the
penalty.
"""

from __future__ import annotations

from contextlib import suppress
from dataclasses import replace
from math import inf
from time import perf_counter

import networkx as nx
import numpy as np

from dagneal.base.defaults import NETWORK_PARENTS
from dagneal.base.errors import InputError, OutOfTimeError
from dagneal.data.dataset import Dataset
from dagneal.graphs.dags import ordered_parents
from dagneal.graphs.knowledge import Knowledge
from dagneal.inference.elimination import TooDenseError
from dagneal.inference.expectation import IncompleteRows, expect
from dagneal.networks.network import BayesianNetwork
from dagneal.runtime.run import Run
from dagneal.scoring.scorer import Scorer
from dagneal.scoring.scores import AIC, BIC, Score
from dagneal.solvers.checks import check_solution
from dagneal.solvers.problem import Problem, Solver
from dagneal.solvers.solution import EMSummary, Solution
from dagneal.strategies.auto import Auto
from dagneal.strategies.completion import (
    UNIT,
    ScaledCriterion,
    complete,
    first_model,
    incomplete_rows,
    known_states,
    network_from_counts,
)
from dagneal.strategies.solve import without_proof

_MOST_ITERATIONS = 50  # structures
_FIRST_SHARE = 0.5  # share of the penalty for the structure that completes the data before the first iteration
_PATIENCE = 2  # structures from drawn data that may bring nothing, one after the other
_ROUGH = 0.05, 50  # nats and iterations of EM for each structure
_FINE = 1e-4, 500  # nats and iterations of EM for the last structure
_STOPS = {KeyboardInterrupt: "interrupt", OutOfTimeError: "time", TooDenseError: "size"}
_LEAST_GAIN = 0.1  # nats; a structure with a smaller gain counts as one that brings nothing


class _Model:
    """A network with its score.

    Attributes:
        network: network with the probabilities for which the likelihood was computed.
        log_likelihood: log-likelihood of the known values.
        score: log-likelihood, minus the penalties, plus the log-odds of the background knowledge.
        solution: solution of the solver that found the structure.
    """

    def __init__(self, network: BayesianNetwork, log_likelihood: float, score: float, solution: Solution) -> None:
        self.network = network
        self.log_likelihood = log_likelihood
        self.score = score
        self.solution = solution


class StructuralEM:
    """The state of structural EM.

    Args:
        data: data with unknown values.
        score: `BIC` or `AIC`.
        knowledge: background knowledge.
        run: a `Run` with seed and deadline.
    """

    def __init__(self, data: Dataset, score: Score, knowledge: Knowledge | None, run: Run) -> None:
        self.states = known_states(data)
        for name, labels in self.states.items():
            if not labels:
                raise InputError(f"column {name!r} has no known value; drop it with drop=[{name!r}]")
        self.criterion = check_criterion(score)
        self.knowledge = knowledge
        self.run = run
        self.rows: IncompleteRows = incomplete_rows(data)
        self.best: _Model | None = None
        self.trace: list[float] = []
        self.iterations = 0
        self.exact = True

    def search(self, solver: Solver, max_parents: int | None, initial: nx.DiGraph | None) -> str:
        """Improve the network until no structure is better. Return the reason for an early end, if any.

        Args:
            solver: solver of the structure step.
            max_parents: parent limit; None for the default of the solver, but at most 4 for `Auto`.
            initial: initial DAG of the first structure step.
        """
        start, _ = self.fit(first_model(self.states, self.rows), *_ROUGH)
        failures = 0
        try:
            if not self.run.deadline.passed:
                with suppress(TooDenseError):
                    start = self._propose(start, solver, max_parents, initial, _FIRST_SHARE)[0].network
            while self.iterations < _MOST_ITERATIONS:
                current = start if self.best is None else self.best.network
                found, stopped = self._propose(current, solver, max_parents, initial)
                initial = found.solution.dag if isinstance(solver, Auto) else None
                gain = inf if self.best is None else found.score - self.best.score
                failures = 0 if gain > _LEAST_GAIN else failures + 1
                if gain > 0:
                    self.best = found
                    self.trace.append(found.score)
                if stopped:
                    return stopped
                if failures >= (1 if self.exact else _PATIENCE):
                    break
                self.run.deadline.check()
            self._finish()
        except (KeyboardInterrupt, OutOfTimeError, TooDenseError) as error:
            if self.best is None:
                raise
            return _STOPS[type(error)]
        return ""

    def _propose(
        self,
        current: BayesianNetwork,
        solver: Solver,
        max_parents: int | None,
        initial: nx.DiGraph | None,
        share: float = 1.0,
    ) -> tuple[_Model, str]:
        """Learn a structure from the data that a network completes, and fit it. Also return what stopped the solver.

        `share` is the share of the penalty that counts in the search, but not in the score of the model.
        """
        self.iterations += 1
        completed, exact = complete(current, self.rows, self.run.child("completion", str(self.iterations)).seed)
        self.exact &= exact
        scorer = Scorer(completed, ScaledCriterion(self.criterion, share), self.knowledge, self.run)
        if scorer.constraints is not None and scorer.constraints.log_odds is not None:
            scorer.constraints = replace(scorer.constraints, log_odds=UNIT * scorer.constraints.log_odds)
        solution = solve_completed(scorer, solver, max_parents, initial, self.run)
        parents = ordered_parents(solution.dag, completed.names)
        place = {name: at for at, name in enumerate(completed.names)}
        families = [[place[member] for member in (*parents[name], name)] for name in completed.names]
        counts = [table / UNIT for table in scorer.counter.counts(families)]
        network, log_likelihood = self.fit(network_from_counts(self.states, parents, counts, smoothing=1.0), *_ROUGH)
        score = log_likelihood - self._penalty(network)
        if self.knowledge is not None:
            score += self.knowledge.log_odds(solution.dag.edges)
        stopped = "" if solution.search is None else solution.search.stopped
        return _Model(network, log_likelihood, score, solution), stopped

    def _penalty(self, network: BayesianNetwork) -> float:
        """Return the penalty of all families of a network."""
        total = 0.0
        for table in network.cpts.values():
            cells = np.array([table.size / table.shape[-1]])
            total += float(self.criterion.penalties(table.shape[-1], cells, self.rows.rows)[0])
        return total

    def fit(self, network: BayesianNetwork, tolerance: float, most: int) -> tuple[BayesianNetwork, float]:
        """Improve the probabilities of a network by the EM algorithm. Return the network and its log-likelihood.

        Args:
            network: network whose probabilities are improved.
            tolerance: smallest gain of the log-likelihood for which the algorithm goes on.
            most: largest number of iterations.
        """
        complete_counts = self.rows.count_complete(_families(network))
        best, highest = network, -inf
        for _ in range(most):
            counts, log_likelihood = expect(network, self.rows, complete_counts)
            if log_likelihood <= highest:
                break
            gain, best, highest = log_likelihood - highest, network, log_likelihood
            if gain < tolerance or self.run.deadline.passed:
                break
            network = network_from_counts(self.states, network.parents, counts)
        return best, highest

    def _finish(self) -> None:
        """Fit the probabilities of the best network until the EM algorithm converges."""
        if self.best is not None:
            network, log_likelihood = self.fit(self.best.network, *_FINE)
            score = self.best.score + log_likelihood - self.best.log_likelihood
            if log_likelihood > self.best.log_likelihood:
                self.best = _Model(network, log_likelihood, score, self.best.solution)
                self.trace.append(score)

    def smooth_network(self) -> BayesianNetwork:
        """Return the best network with probabilities from the expected counts and the prior BDeu(1), without zeros."""
        assert self.best is not None
        network = self.best.network
        counts, _ = expect(network, self.rows, self.rows.count_complete(_families(network)))
        return network_from_counts(self.states, network.parents, counts, smoothing=1.0)


def solve_completed(
    scorer: Scorer, solver: Solver, max_parents: int | None, initial: nx.DiGraph | None, run: Run
) -> Solution:
    """Learn a structure from completed data.

    Args:
        scorer: scorer of the completed data.
        solver: solver of the structure step.
        max_parents: parent limit.
        initial: initial DAG.
        run: a `Run` with seed and deadline.
    """
    from dagneal.divide.pairs import learn_from_pairs

    if max_parents is None and isinstance(solver, Auto):
        max_parents = min(NETWORK_PARENTS, len(scorer.data.names) - 1)
    problem = Problem(scorer, max_parents, initial)
    try:
        solution = solver.solve(problem, run)
    except OutOfTimeError:
        return learn_from_pairs(scorer, None, run)
    solution = check_solution(solution, problem, solver)
    if not solution.is_dag:
        raise InputError("missing='em' needs a solver that returns a network; use repair=True, or combine='conquer'")
    return solution


def check_criterion(score: Score) -> BIC | AIC:
    """Return the score. Raise an error if structural EM cannot maximise it.

    Args:
        score: any score.
    """
    if not isinstance(score, BIC | AIC):
        raise InputError(f"score is {score.name}, but missing='em' maximises a penalised likelihood; use score='bic'")
    return score


def learn_with_gaps(
    data: Dataset,
    solver: Solver,
    score: Score,
    max_parents: int | None,
    knowledge: Knowledge | None,
    run: Run,
    initial: nx.DiGraph | None = None,
) -> tuple[Solution, BayesianNetwork]:
    """Learn a structure from data with unknown values. Return the solution and the network with its probabilities.

    Args:
        data: data with unknown values.
        solver: solver of the structure step.
        score: `BIC` or `AIC`.
        max_parents: parent limit; None for the default of the solver.
        knowledge: background knowledge.
        run: a `Run` with seed, deadline, progress and executor.
        initial: initial DAG of the first structure step.
    """
    begun = perf_counter()
    em = StructuralEM(data, score, knowledge, run)
    stopped = em.search(without_proof(solver), max_parents, initial)
    assert em.best is not None
    solution = em.best.solution
    summary = EMSummary(
        missing_values=em.rows.missing,
        incomplete_rows=em.rows.rows_with_gaps,
        iterations=em.iterations,
        log_likelihood=em.best.log_likelihood,
        trace=tuple(em.trace),
        exact=em.exact,
        stopped=stopped,
    )
    found = Solution(
        dag=solution.dag,
        score=em.best.score,
        max_parents=solution.max_parents,
        solver=f"{solution.solver} with structural EM",
        seconds={"em": perf_counter() - begun},
        seed=run.seed,
        hardware=solution.hardware,
        em=summary,
    )
    return found, replace(em.smooth_network(), recipe=data.recipe)


def _families(network: BayesianNetwork) -> list[list[int]]:
    """Return the indices of the variables of each family: the parents, and the variable itself."""
    place = {name: at for at, name in enumerate(network.names)}
    return [[place[member] for member in (*network.parents[name], name)] for name in network.names]
