"""Resampling: networks of resampled rows, and how often each edge is in them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import Executor
from dataclasses import dataclass, replace
from time import perf_counter
from typing import Any

import networkx as nx
import numpy as np

from dagneal.base.errors import InputError, whole_number
from dagneal.base.kernels import Floats, Progress
from dagneal.base.version import __version__
from dagneal.data.dataset import Dataset
from dagneal.divide.subproblem_solvers import address
from dagneal.graphs.knowledge import Knowledge, class_of
from dagneal.learning import learn
from dagneal.runtime.executors import Shared, pool_of, spread
from dagneal.runtime.journal import NOT_OURS, Journal
from dagneal.strategies.arguments import as_dataset, checked_options

SAMPLES = 200


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
    data: Any,
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
        data: the data, or anything that `read` takes.
        samples: how many.
        seed: the same seed gives the same samples, whatever the number of workers.
        learner: makes a network of a sample; `learn` with the options below by default.
        workers: how many samples at a time.
        journal: keeps samples that are done, so that an interrupted bootstrap resumes.
        progress: told how far it is.
        deadline: a time of `perf_counter`, after which no further sample is begun; the result tells how many there were.
        executor: where samples are learned; threads by default. The data are sent once to each of its workers.
        **options: of `learn`.

    >>> from dagneal.networks.bundled import load
    >>> found = bootstrap(load("lung-cancer").expected(10_000), samples=20)
    >>> found.of("Cancer", "Xray")[0] > 0.9
    True
    """
    samples = whole_number("samples", samples, least=1)
    whole_number("seed", seed)
    data, options = as_dataset(data), checked_options("bootstrap", bootstrap, options)
    key = ""
    if journal is not None:
        key = f"bootstrap:{__version__}:{data.fingerprint}:{seed}:{address(learner) if learner else _told(options)}"
    known = {} if journal is None else journal.get([f"{key}:{number}" for number in range(samples)])
    done = [_restore(kept, len(data.names)) for kept in known.values()]

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
    with pool_of(executor, workers) as pool:
        try:
            spread(pool, Shared(data.fingerprint, data), _sample, left(), record)
        except KeyboardInterrupt:
            if not done:
                raise
            interrupted = True
    directions: Floats = np.asarray(np.sum(done, axis=0, dtype=np.int64), dtype=np.float64) / (2 * len(done))
    return Bootstrap(data.names, len(done), directions + directions.T, directions, interrupted)


def _restore(kept: bytes, variables: int) -> np.ndarray:
    """Turn a value of a journal into the directions of a network."""
    found = np.frombuffer(kept, dtype=np.int8)
    if len(found) != variables**2 or not np.isin(found, (0, 1, 2)).all():
        raise InputError(f"the journal holds no valid bootstrap sample of {variables} variables; {NOT_OURS}")
    return found.reshape(variables, variables)


def _sample(
    data: Dataset,
    seed: int,
    number: int,
    learner: Callable[[Dataset], nx.DiGraph] | None,
    options: Mapping[str, Any],
) -> np.ndarray:
    """Learn from one sample, and tell the directions of its class."""
    sample = resampled(data, seed, number)
    dag = learn(sample, **{"bound": False} | dict(options)).dag if learner is None else learner(sample)
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
    return weighted(data, weights)


def weighted(data: Dataset, weights: np.ndarray) -> Dataset:
    """The data with other weights.

    Args:
        data: the data.
        weights: one for each distinct row; rows without any are left out.
    """
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
