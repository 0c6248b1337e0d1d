"""Posterior probabilities of edges: the probability of each edge given the data and a prior over network structures."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from math import lgamma
from typing import Any

import numpy as np

from dagneal.base.defaults import STRUCTURE_PRIORS
from dagneal.base.errors import InputError, OutOfTimeError, hint, short_repr
from dagneal.base.kernels import Floats
from dagneal.base.machine import has_memory
from dagneal.base.plain import take_bool, take_count, take_edges, take_mapping, take_number, take_text
from dagneal.data.dataset import Dataset
from dagneal.graphs.knowledge import Constraints, as_knowledge
from dagneal.runtime.run import DEFAULT_RUN, Run, check_run
from dagneal.scoring.complete import complete_cost, complete_sets
from dagneal.scoring.scorer import Scorer
from dagneal.scoring.scores import Score
from dagneal.scoring.sets import expand_masks, mask_sizes
from dagneal.scoring.table import ScoreTable
from dagneal.solvers.dag_sums import dag_sums
from dagneal.solvers.edge_chains import Convergence, most_candidates, sample_edges
from dagneal.solvers.order_sums import order_sums
from dagneal.solvers.policy import COMPLETE_WORK, EXACT_VARIABLES, parent_limit
from dagneal.strategies.solve import as_dataset, as_table, refuse_unknown

EXACT_DAG_VARIABLES = 18  # up to this number, sums over DAGs take a few seconds
PRIORS = {
    "uniform": "all networks are equally probable",
    "sparse": "small parent sets are more probable",
    "orders": "networks with many topological orders are more probable",
    "sparse-orders": "small parent sets and networks with many topological orders are more probable",
}
"""Priors over network structures, with a description."""


@dataclass(frozen=True, eq=False)
class EdgePosteriors:
    """The result of `edge_posteriors`: the posterior probability of each edge.

    Attributes:
        names: names of the variables.
        probabilities: `probabilities[a, b]` is the probability of the edge from the variable with index a to that with
            index b.
        method: `exact` for sums over all networks, or `order MCMC` for an estimate from Markov chains.
        prior: name of the prior over network structures; see `edge_posteriors`.
        max_parents: parent limit.
        candidates: number of candidate parents of each variable; None if all other variables are candidates.
        convergence: comparison of the Markov chains; None if the method is exact.
    """

    names: tuple[str, ...]
    probabilities: Floats
    method: str
    prior: str
    max_parents: int
    candidates: int | None = None
    convergence: Convergence | None = None

    @property
    def adjacency(self) -> Floats:
        """The matrix with the probability that two variables are adjacent."""
        return self.probabilities + self.probabilities.T

    @property
    def converged(self) -> bool:
        """Whether the probabilities are exact, or the Markov chains agree; see `Convergence.converged`."""
        return self.convergence is None or self.convergence.converged

    def probability(self, parent: str, child: str) -> tuple[float, float]:
        """Return two numbers: the probability that two variables are adjacent, and the probability of the direction.

        The second number is the probability that the edge leads from `parent` to `child` if the variables are adjacent; 0 if
        they cannot be adjacent.

        Args:
            parent: name of the variable at the start of the edge.
            child: name of the variable at the end of the edge.
        """
        for name in (parent, child):
            if name not in self.names:
                raise InputError(f"{name!r} is not a variable of these posteriors{hint(str(name), self.names)}")
        a, b = self.names.index(parent), self.names.index(child)
        forward, backward = float(self.probabilities[a, b]), float(self.probabilities[b, a])
        adjacent = forward + backward
        return adjacent, forward / adjacent if adjacent else 0.0

    def to_dict(self) -> dict[str, Any]:
        """Return the probabilities as a dict for JSON. Pairs that cannot be adjacent are left out."""
        adjacency = self.adjacency
        pairs = [(a, b) for b in range(len(self.names)) for a in range(b) if adjacency[a, b] > 0]
        return {
            "method": self.method,
            "prior": self.prior,
            "max_parents": self.max_parents,
            "candidates": self.candidates,
            "convergence": None if self.convergence is None else asdict(self.convergence) | {"converged": self.converged},
            "pairs": [
                {
                    "between": [self.names[a], self.names[b]],
                    "adjacent": float(adjacency[a, b]),
                    "forward": float(self.probabilities[a, b]),
                    "backward": float(self.probabilities[b, a]),
                }
                for a, b in sorted(pairs, key=lambda pair: (-adjacency[pair], pair))
            ],
        }

    @classmethod
    def from_dict(cls, names: Sequence[str], plain: Mapping[str, Any]) -> EdgePosteriors:
        """Restore `EdgePosteriors` from a dict that `to_dict` returned.

        Args:
            names: names of all variables, in column order.
            plain: result of `to_dict`.
        """
        position = {name: i for i, name in enumerate(names)}
        probabilities = np.zeros((len(names), len(names)))
        for pair in plain["pairs"]:
            ((first, second),) = take_edges([pair["between"]], position, "posteriors")
            a, b = position[first], position[second]
            probabilities[a, b], probabilities[b, a] = take_number(pair, "forward"), take_number(pair, "backward")
        return cls(
            names=tuple(names),
            probabilities=probabilities,
            method=take_text(plain, "method"),
            prior=check_prior(take_text(plain, "prior")),
            max_parents=take_count(plain, "max_parents"),
            candidates=None if plain["candidates"] is None else take_count(plain, "candidates"),
            convergence=None if plain["convergence"] is None else _restore_convergence(take_mapping(plain, "convergence")),
        )


def _restore_convergence(plain: Mapping[str, Any]) -> Convergence:
    return Convergence(
        chains=take_count(plain, "chains"),
        sweeps=take_count(plain, "sweeps"),
        rhat=None if plain["rhat"] is None else take_number(plain, "rhat"),
        difference=take_number(plain, "difference"),
        effective_samples=take_number(plain, "effective_samples"),
        late=take_bool(plain, "late"),
    )


def edge_posteriors(
    data: Any,
    score: Score | str | None = None,
    max_parents: int | None = None,
    knowledge: Any = None,
    prior: str = STRUCTURE_PRIORS[0],
    run: Run = DEFAULT_RUN,
    **unknown: Any,
) -> EdgePosteriors:
    """Return the posterior probability of each edge: of all networks, each weighted by its probability given the data.

    The result is exact for up to 18 variables, and with the priors `orders` and `sparse-orders` for up to 22 variables. With
    more variables, four Markov chains estimate the probabilities, and each variable has at most 16 candidate parents. The
    attribute `converged` of the result states whether the chains agree.

    Args:
        data: a `Dataset`, or any input that `read` accepts. Also a `ScoreTable`, or the path of a score file; then `score`,
            `max_parents` and `knowledge` cannot be given, and parent sets that are not in the table have probability 0.
        score: log marginal likelihood of a structure, or its name; `BDeu(1)` by default. With a score such as BIC, the
            probabilities are approximate.
        max_parents: parent limit; networks with more parents have probability 0. 4 by default.
        knowledge: background knowledge; see `learn`. Networks that do not obey it have probability 0.
        prior: prior over network structures. With `uniform`, all networks are equally probable. With `sparse`, each number
            of parents is equally probable before cycles are excluded: a set of k of n - 1 possible parents has the weight
            1 / C(n - 1, k). With `orders` and `sparse-orders`, these probabilities are also multiplied by the number of
            topological orders of the network.
        run: a `Run` with seed, deadline and progress. The seed affects only Markov chains. After the deadline, they return
            the average so far.
        **unknown: other keyword arguments; they raise an error, which names the function that accepts them.

    >>> from dagneal.networks.bundled import load
    >>> posteriors = edge_posteriors(load("lung-cancer").expected_data(10_000))
    >>> posteriors.probability("Cancer", "Xray")[0] > 0.99, posteriors.method
    (True, 'exact')
    """
    refuse_unknown(edge_posteriors, unknown)
    check_run(run)
    check_prior(prior)
    per_order = prior.endswith("orders")
    try:
        if (table := as_table(data)) is not None:
            for name, value in (("score", score), ("max_parents", max_parents), ("knowledge", knowledge)):
                if value is not None:
                    raise InputError(
                        f"{name} is given, but the scores of a score table are fixed; remove {name}, or give data"
                    )
            table, candidates = _drop_incomplete(table), None
        else:
            table, candidates = _score_sets(as_dataset(data), score, max_parents, knowledge, per_order, run)
        if prior.startswith("sparse"):
            table = _prefer_few_parents(table)
        if _is_exact(len(table.names), per_order):
            sums = (order_sums if per_order else dag_sums)(table, run)
            return EdgePosteriors(table.names, sums.edges, "exact", prior, table.max_parents)
    except OutOfTimeError as error:
        raise InputError("the time limit ended the computation of posterior probabilities; allow more time") from error
    edges, convergence = sample_edges(table, per_order, run)
    return EdgePosteriors(table.names, edges, "order MCMC", prior, table.max_parents, candidates, convergence)


def check_prior(prior: Any) -> str:
    """Check the name of a prior over network structures, and return it.

    Args:
        prior: value to check.

    >>> check_prior("flat")
    Traceback (most recent call last):
    dagneal.base.errors.InputError: prior is 'flat'; give 'uniform', 'sparse', 'orders' or 'sparse-orders'
    """
    if not isinstance(prior, str) or prior not in STRUCTURE_PRIORS:
        raise InputError(f"prior is {short_repr(prior)}; give 'uniform', 'sparse', 'orders' or 'sparse-orders'")
    return prior


def _is_exact(variables: int, per_order: bool) -> bool:
    """Return whether exact sums take only seconds and fit into memory."""
    needed = 32 if per_order else 16 * variables + 24  # bytes for each set of variables
    return has_memory(needed << variables) and variables <= (EXACT_VARIABLES if per_order else EXACT_DAG_VARIABLES)


def _score_sets(
    data: Dataset, score: Score | str | None, max_parents: int | None, knowledge: Any, per_order: bool, run: Run
) -> tuple[ScoreTable, int | None]:
    """Return the scores of all parent sets that the background knowledge allows, and the number of candidate parents.

    The number is None if all other variables are candidates.
    """
    scorer = Scorer(data, score, as_knowledge(knowledge), run)
    n = len(data.names)
    limit = parent_limit(max_parents, n)
    if scorer.knowledge is not None:
        scorer.knowledge.check(data.names, limit)
    most = most_candidates(n)
    if _is_exact(n, per_order) or most == n - 1:
        return _drop_violations(scorer.table(limit), scorer.constraints), None
    return _drop_violations(scorer.table(limit, _choose_candidates(scorer, limit, most)), scorer.constraints), most


def _choose_candidates(scorer: Scorer, limit: int, most: int) -> dict[str, list[str]]:
    """Return the candidate parents of each variable: those in the best parent sets of one or two parents.

    If two parents are too much work, or if there are not enough such sets, pairs of variables decide.
    """
    names = scorer.data.names
    gains = scorer.pair_gains()
    evidence = np.full(gains.shape, -np.inf)
    if limit >= 2 and complete_cost(scorer, 2) <= COMPLETE_WORK:
        sets = complete_sets(scorer, 2)
        rows, places = np.nonzero(sets.rows >= 0)
        np.maximum.at(evidence, (sets.rows[rows, places], sets.children[rows]), sets.scores[rows])
    chosen = {}
    for child, name in enumerate(names):
        ranked = np.lexsort((gains[:, child], evidence[:, child]))[::-1]
        ranked = ranked[(ranked != child) & (gains[ranked, child] > -np.inf)]
        chosen[name] = [names[parent] for parent in ranked[:most]]
    return chosen


def _drop_violations(table: ScoreTable, rules: Constraints | None) -> ScoreTable:
    """Return the table without the parent sets that violate background knowledge."""
    if rules is None:
        return table
    children = np.empty(len(table.masks), dtype=np.int64)
    parents = np.empty((len(table.masks), int(mask_sizes(table.masks).max(initial=0))), dtype=np.int32)
    expand_masks(table.first, table.candidates, table.start, table.masks, 0, children, parents)
    kept = rules.violations(children, parents) == 0.0
    start = np.concatenate([[0], np.cumsum(kept)])[table.start]
    return replace(table, start=start, masks=table.masks[kept], scores=table.scores[kept])


def _drop_incomplete(table: ScoreTable) -> ScoreTable:
    """Return the table without the parent sets that lack a required parent."""
    if table.required is None:
        return table
    n = len(table.names)
    return _drop_violations(table, Constraints(~np.eye(n, dtype=bool), table.required, np.full(n, n)))


def _prefer_few_parents(table: ScoreTable) -> ScoreTable:
    """Return the table with the logarithm of 1 / C(n - 1, k) added to the score of each set of k parents."""
    others = len(table.names) - 1
    penalty = [lgamma(others + 1) - lgamma(k + 1) - lgamma(others - k + 1) for k in range(others + 1)]
    return replace(table, scores=table.scores - np.array(penalty)[mask_sizes(table.masks)])
