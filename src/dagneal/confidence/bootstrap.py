"""Resampling: networks of resampled rows, and how often each edge is in them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import networkx as nx
import numpy as np
from numpy.typing import NDArray

from dagneal.base.defaults import BOOTSTRAP_SAMPLES
from dagneal.base.errors import whole_number
from dagneal.base.kernels import Floats
from dagneal.base.plain import take_edges, take_number, take_truth, take_whole
from dagneal.base.version import __version__
from dagneal.data.dataset import Dataset
from dagneal.divide.subproblem_solvers import fingerprint_of
from dagneal.graphs.knowledge import Knowledge, as_knowledge, equivalence_class
from dagneal.runtime.run import DEFAULT_RUN, Run, check_run
from dagneal.scoring.scores import Score, as_score
from dagneal.solvers.problem import Solver
from dagneal.strategies.names import as_solver
from dagneal.strategies.solve import as_dataset, refuse_unknown, solve_data, without_bound


@dataclass(frozen=True, eq=False)
class Bootstrap:
    """How often edges are found in resampled data.

    Attributes:
        names: the variables.
        samples: the number of samples that were learned from.
        edges: `edges[a, b]`, in which share of them a and b are adjacent.
        directions: `directions[a, b]`, the share of samples in which the edge leads from a to b; where the equivalence class
            leaves that open, half a sample counts for each direction.
        requested: the number of samples that was asked for; more than `samples` if it was stopped early.
        interrupted: whether Ctrl-C stopped it; otherwise the time limit did.
    """

    names: tuple[str, ...]
    samples: int
    edges: Floats
    directions: Floats
    requested: int
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
        counts = {"samples": self.samples, "requested": self.requested, "interrupted": self.interrupted}
        return {**counts, "pairs": listed}

    @classmethod
    def from_dict(cls, names: Sequence[str], plain: Mapping[str, Any]) -> Bootstrap:
        """Return the figures that `to_dict` wrote.

        Args:
            names: the variables.
            plain: the plain values.
        """
        position = {name: i for i, name in enumerate(names)}
        directions = np.zeros((len(names), len(names)))
        for pair in plain["pairs"]:
            ((one, other),) = take_edges([pair["between"]], position, "bootstrap")
            a, b = position[one], position[other]
            directions[a, b], directions[b, a] = take_number(pair, "forward"), take_number(pair, "backward")
        counts = take_whole(plain, "requested"), take_truth(plain, "interrupted")
        return cls(tuple(names), take_whole(plain, "samples"), directions + directions.T, directions, *counts)


@dataclass(frozen=True)
class SampleTask:
    """The task function of bootstrap samples; see `dagneal.runtime.run.TaskFunction`.

    Args:
        seed: of all samples.
        solver: finds the structure of a sample.
        score: what is maximised.
        max_parents: the most parents of a variable.
        knowledge: what is known before.
        variables: their number.
    """

    seed: int
    solver: Solver
    score: Score
    max_parents: int | None
    knowledge: Knowledge | None
    variables: int
    largest: int = 2

    @property
    def shape(self) -> tuple[int, ...]:
        """The shape of the directions of a network."""
        return self.variables, self.variables

    def __call__(self, shared: Dataset, tasks: Sequence[int]) -> tuple[NDArray[np.uint8], dict[int, str]]:
        """Learn from some samples, and return the directions of their equivalence classes.

        Args:
            shared: the data.
            tasks: the numbers of the samples.
        """
        found = []
        for number in tasks:
            sample = resample(shared, self.seed, int(number))
            dag = solve_data(sample, self.solver, self.score, self.max_parents, self.knowledge, DEFAULT_RUN).dag
            found.append(_directions(dag, shared.names, self.knowledge))
        return np.array(found, dtype=np.uint8), {}

    def key(self, data: Dataset) -> str:
        """Return what tells these samples from others in a journal.

        Args:
            data: the data.
        """
        how = f"{fingerprint_of(self.solver)}:{self.score!r}:{self.max_parents}:{self.knowledge!r}"
        return f"bootstrap:{__version__}:{data.fingerprint}:{self.seed}:{how}"


def bootstrap(
    data: Any,
    samples: int = BOOTSTRAP_SAMPLES,
    solver: Any = None,
    score: Score | str | None = None,
    max_parents: int | None = None,
    knowledge: Any = None,
    run: Run = DEFAULT_RUN,
    **unknown: Any,
) -> Bootstrap:
    """Learn from resampled rows again and again, and count edges.

    Equal rows are merged, so a sample is a draw of new weights: as many rows, each kind as likely as it is frequent.

    Args:
        data: the data, or anything that `read` takes.
        samples: the number of samples.
        solver: finds the structure of a sample; see `learn`.
        score: what is maximised; `BDeu(1)` by default.
        max_parents: the most parents of a variable; None leaves it to the solver.
        knowledge: what is known before; see `learn`.
        run: the same seed gives the same samples; after its deadline no further sample begins, and the result tells how many
            there were; finished samples go to its journal.
        **unknown: refused with a hint where it belongs.

    >>> from dagneal.networks.bundled import load
    >>> found = bootstrap(load("lung-cancer").expected(10_000), samples=20)
    >>> found.of("Cancer", "Xray")[0] > 0.9
    True
    """
    refuse_unknown(bootstrap, unknown)
    check_run(run)
    samples = whole_number("samples", samples, least=1)
    data, solver = as_dataset(data), without_bound(as_solver(solver))
    task = SampleTask(run.seed, solver, as_score(score), max_parents, as_knowledge(knowledge), len(data.names))
    prefix = task.key(data) if run.journal is not None else ""
    results = run.map(task, range(samples), data, lambda number: f"{prefix}:{number}", "bootstrap")
    done = results.values[results.done]
    directions: Floats = np.asarray(np.sum(done, axis=0, dtype=np.int64), dtype=np.float64) / (2 * len(done))
    return Bootstrap(data.names, len(done), directions + directions.T, directions, samples, results.interrupted)


def resample(data: Dataset, seed: int, number: int) -> Dataset:
    """One sample of the rows, with as many of them.

    Args:
        data: the data.
        seed: of all samples.
        number: which one.
    """
    generator = np.random.default_rng([seed, number])
    weights = generator.multinomial(data.rows, data.weights / data.weights.sum())
    return reweight(data, weights)


def reweight(data: Dataset, weights: np.ndarray) -> Dataset:
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
    both = nx.to_numpy_array(equivalence_class(dag, knowledge), nodelist=names) > 0
    return np.where(both, np.where(both.T, 1, 2), 0).astype(np.uint8)
