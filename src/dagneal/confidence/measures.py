"""Measures of confidence other than the bootstrap: score drops, held-out rows and sensitivity to the prior."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass
from numbers import Real
from typing import Any

import networkx as nx
import numpy as np

from dagneal.base.errors import InputError
from dagneal.confidence.bootstrap import draw_weights, reweight
from dagneal.data.dataset import Dataset, spell_booleans
from dagneal.graphs.dags import graph_from_edges, ordered_parents
from dagneal.graphs.knowledge import Knowledge, as_knowledge, equivalence_class
from dagneal.networks.network import BayesianNetwork, fit
from dagneal.runtime.run import DEFAULT_RUN, Run, check_run
from dagneal.scoring.counting.counter import Counter
from dagneal.scoring.scorer import Scorer
from dagneal.scoring.scores import BDeu, Dirichlet, Score, as_score
from dagneal.solvers.solution import Solution
from dagneal.strategies.names import as_solver
from dagneal.strategies.solve import as_dataset, refuse_unknown, solve_data, without_proof


@dataclass(frozen=True)
class Strength:
    """The score drop if an edge is removed or reversed.

    Attributes:
        parent: name of the variable at the start of the edge.
        child: name of the variable at the end of the edge.
        drop_if_removed: score drop without the edge, in nats (natural-log units).
        drop_if_reversed: score drop with the edge reversed, in nats; None if the reversal creates a cycle.
        compelled: True if all equivalent networks have the edge in this direction.
    """

    parent: str
    child: str
    drop_if_removed: float
    drop_if_reversed: float | None
    compelled: bool


def strengths(
    dag: nx.DiGraph, data: Dataset, score: Score | str | None = None, knowledge: Knowledge | None = None
) -> list[Strength]:
    """Return the score drop of each edge if it is removed or reversed.

    The edges are sorted by child, then by parent, both in column order.

    Args:
        dag: network to examine.
        data: data that the network was learned from.
        score: score of the network, or its name; `BDeu(1)` by default.
        knowledge: background knowledge, which can make more edges compelled.

    >>> from dagneal.networks.bundled import load
    >>> truth = load("lung-cancer")
    >>> [(s.parent, s.child, s.compelled) for s in strengths(truth.dag, truth.expected_data(10_000))][0]
    ('Pollution', 'Cancer', True)
    """
    scorer = Scorer(data, score)
    cpdag = equivalence_class(dag, knowledge)
    parents = {name: set(dag.predecessors(name)) for name in dag}
    local = {name: scorer.local(name, parents[name]) for name in dag}
    result = []
    edges = [(parent, child) for child, members in ordered_parents(dag, list(dag)).items() for parent in members]
    for parent, child in edges:
        if_removed = local[child] - scorer.local(child, parents[child] - {parent})
        if_reversed = None
        others = (successor for successor in dag.successors(parent) if successor != child)
        if not any(nx.has_path(dag, successor, child) for successor in others):  # otherwise the reversed edge closes a cycle
            if_reversed = float(if_removed + local[parent] - scorer.local(parent, parents[parent] | {child}))
        result.append(Strength(parent, child, float(if_removed), if_reversed, not cpdag.has_edge(child, parent)))
    return result


@dataclass(frozen=True)
class HoldoutResult:
    """The result of `holdout`: the log-likelihood of rows that were not used for learning.

    Attributes:
        rows: number of held-out rows.
        log_likelihood: average log-likelihood of a held-out row, in nats (natural-log units).
        without_edges: average log-likelihood of a held-out row under a network without edges, for comparison.
        edges: edges of the network that was learned from the rows that were not held out.
    """

    rows: int
    log_likelihood: float
    without_edges: float
    edges: list[tuple[str, str]]

    def to_dict(self) -> dict[str, Any]:
        """Return the fields as a dict for JSON."""
        return asdict(self)


def holdout(
    data: Any,
    share: float = 0.2,
    solver: Any = None,
    score: Score | str | None = None,
    max_parents: int | None = None,
    knowledge: Any = None,
    run: Run = DEFAULT_RUN,
    **unknown: Any,
) -> HoldoutResult:
    """Hold out random rows, learn a network from the other rows, and return the log-likelihood of the held-out rows.

    Args:
        data: a `Dataset`, or any input that `read` accepts.
        share: fraction of rows to hold out.
        solver: solver that learns the structure; see `learn`.
        score: score to maximise, or its name; `BDeu(1)` by default.
        max_parents: parent limit; None for the default of the solver.
        knowledge: background knowledge; see `learn`.
        run: a `Run` with seed, deadline, progress, executor and journal. The seed affects the held-out rows and the search.
        **unknown: other keyword arguments; they raise an error, which names the function that accepts them.

    >>> from dagneal.networks.bundled import load
    >>> result = holdout(load("lung-cancer").expected_data(10_000))
    >>> result.log_likelihood > result.without_edges
    True
    """
    refuse_unknown(holdout, unknown)
    check_run(run)
    data, score, knowledge = as_dataset(data), as_score(score), as_knowledge(knowledge)
    solver = without_proof(as_solver(solver))
    if isinstance(share, bool) or not isinstance(share, Real) or not 0 < share < 1:
        raise InputError(f"share of held-out rows is {share!r}; give a number between 0 and 1, such as 0.2")
    rows = round(share * data.rows)
    if not 0 < rows < data.rows:
        raise InputError(
            f"holding out a share of {share:g} of {data.rows:,} rows leaves no rows to evaluate, or none to learn from; "
            "give more rows or another share"
        )
    weights = draw_weights(data, rows, np.random.default_rng(run.seed))
    rows = int(weights.sum())
    train, test = reweight(data, data.weights - weights), reweight(data, weights)
    solution = solve_data(train, solver, score, max_parents, knowledge, run)
    prior = score if isinstance(score, Dirichlet) else BDeu()
    values = [
        log_likelihood(fit(dag, train, prior), test) / rows for dag in (solution.dag, graph_from_edges(data.names, ()))
    ]
    return HoldoutResult(rows, values[0], values[1], solution.edges)


def same_states(network: BayesianNetwork, data: Dataset) -> bool:
    """Return whether a network and a dataset have the same variables, with the same states in the same order.

    Different spellings of true and false count as equal, because `read` unifies them.

    Args:
        network: network to compare.
        data: dataset to compare.
    """
    network_states = {name: spell_booleans(states) for name, states in network.states.items()}
    return network_states == {name: spell_booleans(states) for name, states in zip(data.names, data.states, strict=True)}


def log_likelihood(network: BayesianNetwork, data: Dataset) -> float:
    """Return the total log-likelihood of all rows, in nats (natural-log units); minus infinity if a row has probability 0.

    Args:
        network: network with the same variables and states as the data.
        data: rows to evaluate.

    >>> from dagneal.networks.bundled import load
    >>> truth = load("lung-cancer")
    >>> round(log_likelihood(truth, truth.expected_data(10_000)) / 10_000, 2)
    -2.1
    """
    if not same_states(network, data):
        raise InputError(
            "the network and the data differ in variables or states; read the data with states=... to match the network"
        )
    place = {name: i for i, name in enumerate(data.names)}
    families = [[place[v] for v in (*network.parents[name], name)] for name in data.names]
    total = 0.0
    with np.errstate(divide="ignore"):
        for name, counts in zip(data.names, Counter(data).counts(families), strict=True):
            seen = counts > 0
            total += float(counts[seen] @ np.log(network.cpts[name][seen]))
    return total


def sensitivity(
    data: Any,
    sizes: Sequence[float],
    solver: Any = None,
    max_parents: int | None = None,
    knowledge: Any = None,
    run: Run = DEFAULT_RUN,
    **unknown: Any,
) -> dict[float, Solution]:
    """Learn one network for each equivalent sample size of the prior, to show which edges depend on the prior.

    Return a dict with the equivalent sample sizes as keys and the solutions as values.

    Args:
        data: a `Dataset`, or any input that `read` accepts.
        sizes: equivalent sample sizes, such as 0.1, 1 and 10.
        solver: solver that learns each structure; see `learn`.
        max_parents: parent limit; None for the default of the solver.
        knowledge: background knowledge; see `learn`.
        run: a `Run` with the seed of each search, and one deadline for all searches.
        **unknown: other keyword arguments; they raise an error, which names the function that accepts them.

    >>> from dagneal.networks.bundled import load
    >>> solutions = sensitivity(load("lung-cancer").expected_data(10_000), [0.1, 1, 10])
    >>> [len(solution.edges) for solution in solutions.values()]
    [4, 4, 4]
    """
    refuse_unknown(sensitivity, unknown)
    check_run(run)
    sizes = list(sizes) if isinstance(sizes, Iterable) else [sizes]
    if invalid := [size for size in sizes if isinstance(size, bool) or not isinstance(size, Real)]:
        raise InputError(f"an equivalent sample size is {invalid[0]!r}; give a list of numbers, such as [0.1, 1, 10]")
    data, knowledge, solver = as_dataset(data), as_knowledge(knowledge), without_proof(as_solver(solver))
    return {float(size): solve_data(data, solver, BDeu(float(size)), max_parents, knowledge, run) for size in sizes}


def compare_classes(graphs: Sequence[nx.DiGraph], knowledge: Knowledge | None = None) -> dict[tuple[str, str], list[str]]:
    """Compare the equivalence classes of several networks.

    Return a dict. Its keys are the pairs of variables that are adjacent in at least one network. A value is a list with one
    text per network. The text describes the edge in the equivalence class of this network: `->`, `<-`, `reversible`, or `-`
    if the two variables are not adjacent.

    Args:
        graphs: DAGs over the same variables.
        knowledge: background knowledge, which can make more edges compelled.

    >>> compare_classes([nx.DiGraph([("a", "b")]), nx.DiGraph([("b", "a")]), nx.DiGraph([("a", "b"), ("c", "b")])])
    {('a', 'b'): ['reversible', 'reversible', '->'], ('c', 'b'): ['-', '-', '->']}
    """
    classes = [equivalence_class(graph, knowledge) for graph in graphs]
    words = {(True, True): "reversible", (True, False): "->", (False, True): "<-", (False, False): "-"}
    rows: dict[tuple[str, str], list[str]] = {}
    for graph in graphs:
        for a, b in graph.edges:
            if (a, b) not in rows and (b, a) not in rows:
                rows[a, b] = [words[cpdag.has_edge(a, b), cpdag.has_edge(b, a)] for cpdag in classes]
    return rows
