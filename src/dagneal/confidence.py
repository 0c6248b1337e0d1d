"""Confidence: how sure the edges of a network are, by resampling, by score, by prior and by rows held out."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import Executor, ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import asdict, dataclass, replace
from time import perf_counter
from typing import Any

import networkx as nx
import numpy as np

from dagneal import __version__
from dagneal.counts import Counter
from dagneal.data import Dataset
from dagneal.errors import InputError, whole_number
from dagneal.executors import Shared, spread
from dagneal.graphs import graph_of
from dagneal.journal import Journal
from dagneal.kernels import Floats, Progress
from dagneal.knowledge import Knowledge, class_of
from dagneal.learned import Learned
from dagneal.learners.block_solvers import address
from dagneal.learners.learn import learn
from dagneal.machine import cores, one_of_many
from dagneal.network import BayesianNetwork, fit
from dagneal.scorer import Scorer
from dagneal.scores import BDeu, Dirichlet, Score

SAMPLES = 200
THRESHOLD = 0.5


@dataclass(frozen=True, eq=False)
class Bootstrap:
    """How often edges are found in resampled data.

    Attributes:
        names: the variables.
        samples: how many samples there were.
        edges: `edges[a, b]`, in which share of them a and b are adjacent.
        directions: `directions[a, b]`, the share of samples in which the edge leads from a to b; where the equivalence class
            leaves that open, half a sample counts for each direction.
        interrupted: whether Ctrl-C ended it early.
    """

    names: tuple[str, ...]
    samples: int
    edges: Floats
    directions: Floats
    interrupted: bool = False

    def of(self, parent: str, child: str) -> tuple[float, float]:
        """How often two variables are adjacent, and how often of these the edge leads this way.

        Args:
            parent: a variable.
            child: another.
        """
        a, b = self.names.index(parent), self.names.index(child)
        share = float(self.edges[a, b])
        return share, float(self.directions[a, b]) / share if share else 0.0

    def to_dict(self) -> dict[str, Any]:
        """The shares as plain values: pairs that are adjacent in any sample, the most frequent first."""
        pairs = [(a, b) for a in range(len(self.names)) for b in range(a) if self.edges[a, b] > 0]
        listed = [
            {
                "between": [self.names[b], self.names[a]],
                "adjacent": float(self.edges[a, b]),
                "forward": float(self.directions[b, a]),
                "backward": float(self.directions[a, b]),
            }
            for a, b in sorted(pairs, key=lambda pair: (-self.edges[pair], pair))
        ]
        return {"samples": self.samples, "pairs": listed}


def bootstrap(
    data: Dataset,
    samples: int = SAMPLES,
    seed: int = 0,
    learner: Callable[[Dataset], nx.DiGraph] | None = None,
    workers: int | None = None,
    journal: Journal | None = None,
    progress: Progress | None = None,
    deadline: float | None = None,
    executor: Executor | None = None,
    **options: Any,
) -> Bootstrap:
    """Learn from resampled rows again and again, and count.

    Equal rows are merged, so a sample is a draw of new weights: as many rows, each kind as likely as it is frequent.

    Args:
        data: the data.
        samples: how many.
        seed: the same seed gives the same samples, whatever the number of workers.
        learner: makes a network of a sample; `learn` with the options below by default.
        workers: how many samples at a time.
        journal: keeps samples that are done, so that an interrupted bootstrap resumes.
        progress: told how far it is.
        deadline: a time of `perf_counter`, after which no further sample is begun; the result tells how many there were.
        executor: where samples are learned; threads by default. The data are sent once to each of its workers.
        **options: of `learn`.

    >>> from dagneal.networks import load
    >>> found = bootstrap(load("lung-cancer").expected(10_000), samples=20)
    >>> found.of("Cancer", "Xray")[0] > 0.9
    True
    """
    samples = whole_number("samples", samples, least=1)
    whole_number("seed", seed)
    key = ""
    if journal is not None:
        key = f"bootstrap:{__version__}:{data.fingerprint}:{seed}:{address(learner) if learner else _told(options)}"
    known = {} if journal is None else journal.get([f"{key}:{number}" for number in range(samples)])
    done = [np.frombuffer(kept, dtype=np.int8).reshape((len(data.names),) * 2) for kept in known.values()]

    def record(piece: tuple[Any, ...], found: np.ndarray) -> None:
        done.append(found)
        if journal is not None:
            journal.put({f"{key}:{piece[1]}": found.tobytes()})
        if progress is not None:
            progress("bootstrap", len(done), samples)

    def left() -> Iterator[tuple[Any, ...]]:
        for number in range(samples):
            late = deadline is not None and perf_counter() >= deadline
            if f"{key}:{number}" not in known and not (late and (number or done)):
                yield seed, number, learner, options

    interrupted = False
    with _pool(executor, workers) as pool:
        try:
            spread(pool, Shared(data.fingerprint, data), _sample, left(), record)
        except KeyboardInterrupt:
            if not done:
                raise
            interrupted = True
    directions: Floats = np.asarray(np.sum(done, axis=0, dtype=np.int64), dtype=np.float64) / (2 * len(done))
    return Bootstrap(data.names, len(done), directions + directions.T, directions, interrupted)


@contextmanager
def _pool(executor: Executor | None, workers: int | None) -> Iterator[Executor]:
    """The executor, or threads of our own."""
    if executor is not None:
        yield executor
        return
    with ThreadPoolExecutor(workers or cores(), initializer=one_of_many) as pool:
        yield pool


def _sample(
    data: Dataset,
    seed: int,
    number: int,
    learner: Callable[[Dataset], nx.DiGraph] | None,
    options: Mapping[str, Any],
) -> np.ndarray:
    """Learn from one sample, and tell the directions of its class."""
    sample = resampled(data, seed, number)
    dag = learn(sample, bound=False, **options).dag if learner is None else learner(sample)
    return _directions(dag, data.names, options.get("knowledge"))


def resampled(data: Dataset, seed: int, number: int) -> Dataset:
    """One sample of the rows, with as many of them.

    Args:
        data: the data.
        seed: of all samples.
        number: which one.
    """
    generator = np.random.default_rng([seed, number])
    weights = generator.multinomial(data.rows, data.weights / data.weights.sum())
    return _weighted(data, weights)


def _weighted(data: Dataset, weights: np.ndarray) -> Dataset:
    drawn = weights > 0
    return replace(
        data, codes=np.ascontiguousarray(np.asarray(data.codes)[:, drawn]), weights=weights[drawn].astype(np.int64)
    )


def _directions(dag: nx.DiGraph, names: Sequence[str], knowledge: Knowledge | None) -> np.ndarray:
    """Twice the directed edges of an equivalence class, and once each way those that are open."""
    both = nx.to_numpy_array(class_of(dag, knowledge), nodelist=names) > 0
    return np.where(both, np.where(both.T, 1, 2), 0).astype(np.int8)


def _told(options: Mapping[str, Any]) -> str:
    """Options as a journal can tell them from others; functions by where they are defined."""
    plain = {name: address(value) if callable(value) else repr(value) for name, value in options.items()}
    return repr(sorted((name, text) for name, text in plain.items() if name != "progress"))


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


def strengths(found: Learned, score: Score | None = None) -> list[Strength]:
    """What each edge of a learned network is worth, in the order of its edges.

    Args:
        found: the network, with its data.
        score: that of the network by default.

    >>> from dagneal.networks import load
    >>> found = learn(load("lung-cancer").expected(10_000))
    >>> [(s.parent, s.child, s.decided) for s in strengths(found)][0]
    ('Pollution', 'Cancer', True)
    """
    if found.data is None:
        raise InputError("strengths need the data: learn from a Dataset")
    scorer = Scorer(found.data, score or found.criterion)
    open_both_ways = class_of(found.dag, Knowledge(**found.knowledge) if found.knowledge else None)
    parents = {name: set(found.dag.predecessors(name)) for name in found.dag}
    local = {name: scorer.local(name, parents[name]) for name in found.dag}
    listed = []
    for parent, child in found.edges:
        loss = local[child] - scorer.local(child, parents[child] - {parent})
        turned = found.dag.copy()
        turned.remove_edge(parent, child)
        other = None
        if not nx.has_path(turned, parent, child):
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


def holdout(data: Dataset, share: float = 0.2, seed: int = 0, score: Score | None = None, **options: Any) -> Heldout:
    """Learn from a part of the rows, and see how well the network foretells the others.

    Args:
        data: the data.
        share: of the rows that are held out.
        seed: of the split.
        score: the score; `BDeu(1)` by default.
        **options: of `learn`.

    >>> from dagneal.networks import load
    >>> found = holdout(load("lung-cancer").expected(10_000))
    >>> found.log_likelihood > found.without_edges
    True
    """
    if not 0 < share < 1:
        raise InputError(f"the share of rows held out is {share}; give a number between 0 and 1, such as 0.2")
    rows = round(share * data.rows)
    if not 0 < rows < data.rows:
        raise InputError(f"{data.rows:,} rows cannot be split so that {share:g} of them are held out")
    generator = np.random.default_rng(whole_number("seed", seed))
    weights = generator.multivariate_hypergeometric(data.weights, rows, method="marginals")
    train, test = _weighted(data, data.weights - weights), _weighted(data, weights)
    found = learn(train, score=score, seed=seed, bound=False, **options)
    prior = score if isinstance(score, Dirichlet) else BDeu()
    values = [log_likelihood(fit(dag, train, prior), test) / rows for dag in (found.dag, graph_of(data.names, ()))]
    return Heldout(rows, values[0], values[1], found.edges)


def same_states(network: BayesianNetwork, data: Dataset) -> bool:
    """Whether a network is over the columns of data, with the same states in the same order.

    Args:
        network: the network.
        data: the data.
    """
    return {name: tuple(its) for name, its in network.states.items()} == dict(zip(data.names, data.states, strict=True))


def log_likelihood(network: BayesianNetwork, data: Dataset) -> float:
    """The log probability of data under a network, in nats; minus infinity where a row is impossible.

    Args:
        network: with all columns of the data as variables, and their states in the same order.
        data: the rows.

    >>> from dagneal.networks import load
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


def sensitivity(data: Dataset, sizes: Sequence[float], **options: Any) -> dict[float, Learned]:
    """Learn with several equivalent sample sizes of the prior, to see which edges depend on it.

    Args:
        data: the data.
        sizes: equivalent sample sizes, such as 0.1, 1 and 10.
        **options: of `learn`.

    >>> from dagneal.networks import load
    >>> found = sensitivity(load("lung-cancer").expected(10_000), [0.1, 1, 10])
    >>> [len(each.edges) for each in found.values()]
    [4, 4, 4]
    """
    return {float(size): learn(data, score=BDeu(float(size)), bound=False, **options) for size in sizes}


def side_by_side(graphs: Sequence[nx.DiGraph], knowledge: Knowledge | None = None) -> dict[tuple[str, str], list[str]]:
    """Pairs of variables that some network joins, and how each network does: by its equivalence class, not by one member.

    Args:
        graphs: networks over the same variables.
        knowledge: what was known before.

    >>> side_by_side([nx.DiGraph([("a", "b")]), nx.DiGraph([("b", "a")]), nx.DiGraph([("a", "b"), ("c", "b")])])
    {('a', 'b'): ['open', 'open', '->'], ('c', 'b'): ['-', '-', '->']}
    """
    classes = [class_of(graph, knowledge) for graph in graphs]
    found: dict[tuple[str, str], list[str]] = {}
    for graph in graphs:
        for a, b in graph.edges:
            if (a, b) not in found and (b, a) not in found:
                ways = [(each.has_edge(a, b), each.has_edge(b, a)) for each in classes]
                words = {(True, True): "open", (True, False): "->", (False, True): "<-", (False, False): "-"}
                found[a, b] = [words[way] for way in ways]
    return found
