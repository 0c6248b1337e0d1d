"""Confidence: how sure the edges of a network are, by resampling, by score, by prior and by rows held out."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass
from numbers import Real
from typing import Any

import networkx as nx
import numpy as np

from dagneal.base.errors import InputError
from dagneal.confidence.bootstrap import reweight
from dagneal.data.dataset import Dataset, spell_truth
from dagneal.graphs.dags import graph_of, ordered_parents
from dagneal.graphs.knowledge import Knowledge, as_knowledge, equivalence_class
from dagneal.networks.network import BayesianNetwork, fit
from dagneal.runtime.run import DEFAULT_RUN, Run, check_run
from dagneal.scoring.counting.counter import Counter
from dagneal.scoring.scorer import Scorer
from dagneal.scoring.scores import BDeu, Dirichlet, Score, as_score
from dagneal.solvers.solution import Solution
from dagneal.strategies.names import as_solver
from dagneal.strategies.solve import as_dataset, refuse_unknown, solve_data, without_bound

_MOST_DRAWN = 10**9  # rows; the limit of NumPy's hypergeometric distribution


@dataclass(frozen=True)
class Strength:
    """What the score says of an edge.

    Attributes:
        parent: where it comes from.
        child: where it leads.
        loss: what the score loses without it, in nats.
        turned: what the score loses with it turned round; None where that makes a cycle.
        decided: whether the data decide its direction: all equivalent networks have it this way.
    """

    parent: str
    child: str
    loss: float
    turned: float | None
    decided: bool


def strengths(
    dag: nx.DiGraph, data: Dataset, score: Score | str | None = None, knowledge: Knowledge | None = None
) -> list[Strength]:
    """Return what each edge of a network is worth, in the order of the variables.

    Args:
        dag: the network.
        data: the data that it was learned from.
        score: the score; `BDeu(1)` by default.
        knowledge: what was known before.

    >>> from dagneal.networks.bundled import load
    >>> truth = load("lung-cancer")
    >>> [(s.parent, s.child, s.decided) for s in strengths(truth.dag, truth.expected(10_000))][0]
    ('Pollution', 'Cancer', True)
    """
    scorer = Scorer(data, score)
    open_both_ways = equivalence_class(dag, knowledge)
    parents = {name: set(dag.predecessors(name)) for name in dag}
    local = {name: scorer.local(name, parents[name]) for name in dag}
    listed = []
    edges = [(parent, child) for child, its in ordered_parents(dag, list(dag)).items() for parent in its]
    for parent, child in edges:
        loss = local[child] - scorer.local(child, parents[child] - {parent})
        other = None
        around = (step for step in dag.successors(parent) if step != child)
        if not any(nx.has_path(dag, step, child) for step in around):  # else the edge turned round makes a cycle
            other = loss + local[parent] - scorer.local(parent, parents[parent] | {child})
        decided = not open_both_ways.has_edge(child, parent)
        listed.append(Strength(parent, child, float(loss), None if other is None else float(other), decided))
    return listed


@dataclass(frozen=True)
class Heldout:
    """How well a network foretells rows that it was not learned from.

    Attributes:
        rows: how many were held out.
        log_likelihood: of one of them, in the mean, in nats.
        without_edges: the same of a network without edges.
        edges: of the network that was learned from the other rows.
    """

    rows: int
    log_likelihood: float
    without_edges: float
    edges: list[tuple[str, str]]

    def to_dict(self) -> dict[str, Any]:
        """The figures as plain values."""
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
) -> Heldout:
    """Learn from a part of the rows, and measure how well the network predicts the others.

    Args:
        data: the data, or anything that `read` takes.
        share: of the rows that are held out.
        solver: finds the structure; see `learn`.
        score: the score, or its name; `BDeu(1)` by default.
        max_parents: the most parents of a variable; None leaves it to the solver.
        knowledge: what is known before; see `learn`.
        run: its seed is that of the split and of the search.
        **unknown: refused with a hint where it belongs.

    >>> from dagneal.networks.bundled import load
    >>> found = holdout(load("lung-cancer").expected(10_000))
    >>> found.log_likelihood > found.without_edges
    True
    """
    refuse_unknown(holdout, unknown)
    check_run(run)
    data, score, known = as_dataset(data), as_score(score), as_knowledge(knowledge)
    solver = without_bound(as_solver(solver))
    if isinstance(share, bool) or not isinstance(share, Real) or not 0 < share < 1:
        raise InputError(f"the share of rows held out is {share!r}; give a number between 0 and 1, such as 0.2")
    rows = round(share * data.rows)
    if not 0 < rows < data.rows:
        raise InputError(f"{data.rows:,} rows cannot be split so that {share:g} of them are held out")
    generator = np.random.default_rng(run.seed)
    if data.rows < _MOST_DRAWN:
        weights = generator.multivariate_hypergeometric(data.weights, rows, method="marginals")
    else:  # NumPy draws from fewer rows only; so each row is held out on its own, and their number varies a little
        weights = generator.binomial(data.weights, share)
        rows = int(weights.sum())
    train, test = reweight(data, data.weights - weights), reweight(data, weights)
    found = solve_data(train, solver, score, max_parents, known, run)
    prior = score if isinstance(score, Dirichlet) else BDeu()
    values = [log_likelihood(fit(dag, train, prior), test) / rows for dag in (found.dag, graph_of(data.names, ()))]
    return Heldout(rows, values[0], values[1], found.edges)


def same_states(network: BayesianNetwork, data: Dataset) -> bool:
    """Whether a network is over the columns of data, with the same states in the same order.

    Truth values may be spelled differently, since `read` spells them alike.

    Args:
        network: the network.
        data: the data.
    """
    theirs = {name: spell_truth(its) for name, its in network.states.items()}
    return theirs == {name: spell_truth(its) for name, its in zip(data.names, data.states, strict=True)}


def log_likelihood(network: BayesianNetwork, data: Dataset) -> float:
    """The log probability of data under a network, in nats; minus infinity where a row is impossible.

    Args:
        network: with all columns of the data as variables, and their states in the same order.
        data: the rows.

    >>> from dagneal.networks.bundled import load
    >>> truth = load("lung-cancer")
    >>> round(log_likelihood(truth, truth.expected(10_000)) / 10_000, 2)
    -2.1
    """
    if not same_states(network, data):
        raise InputError("the network and the data have other variables or states")
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
    """Learn with several equivalent sample sizes of the prior, to see which edges depend on it.

    Args:
        data: the data, or anything that `read` takes.
        sizes: equivalent sample sizes, such as 0.1, 1 and 10.
        solver: finds the structure; see `learn`.
        max_parents: the most parents of a variable; None leaves it to the solver.
        knowledge: what is known before; see `learn`.
        run: seed and deadline of each search.
        **unknown: refused with a hint where it belongs.

    >>> from dagneal.networks.bundled import load
    >>> found = sensitivity(load("lung-cancer").expected(10_000), [0.1, 1, 10])
    >>> [len(each.edges) for each in found.values()]
    [4, 4, 4]
    """
    refuse_unknown(sensitivity, unknown)
    check_run(run)
    sizes = list(sizes) if isinstance(sizes, Iterable) else [sizes]
    if odd := [size for size in sizes if isinstance(size, bool) or not isinstance(size, Real)]:
        raise InputError(f"an equivalent sample size is {odd[0]!r}; give a list of numbers, such as [0.1, 1, 10]")
    data, known, solver = as_dataset(data), as_knowledge(knowledge), without_bound(as_solver(solver))
    return {float(size): solve_data(data, solver, BDeu(float(size)), max_parents, known, run) for size in sizes}


def compare_classes(graphs: Sequence[nx.DiGraph], knowledge: Knowledge | None = None) -> dict[tuple[str, str], list[str]]:
    """Pairs of variables that some network joins, and how each network does: by its equivalence class, not by one member.

    Args:
        graphs: networks over the same variables.
        knowledge: what was known before.

    >>> compare_classes([nx.DiGraph([("a", "b")]), nx.DiGraph([("b", "a")]), nx.DiGraph([("a", "b"), ("c", "b")])])
    {('a', 'b'): ['open', 'open', '->'], ('c', 'b'): ['-', '-', '->']}
    """
    classes = [equivalence_class(graph, knowledge) for graph in graphs]
    found: dict[tuple[str, str], list[str]] = {}
    for graph in graphs:
        for a, b in graph.edges:
            if (a, b) not in found and (b, a) not in found:
                ways = [(each.has_edge(a, b), each.has_edge(b, a)) for each in classes]
                words = {(True, True): "open", (True, False): "->", (False, True): "<-", (False, False): "-"}
                found[a, b] = [words[way] for way in ways]
    return found
