"""Bootstrap: learn from bootstrap samples of the rows, and count how often each edge occurs."""

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
from dagneal.base.plain import take_bool, take_count, take_edges, take_number
from dagneal.base.version import __version__
from dagneal.data.dataset import Dataset
from dagneal.divide.subproblem_solvers import fingerprint_of
from dagneal.graphs.knowledge import Knowledge, as_knowledge, equivalence_class
from dagneal.runtime.run import DEFAULT_RUN, Run, check_run
from dagneal.scoring.scores import Score, as_score
from dagneal.solvers.problem import Solver
from dagneal.strategies.names import as_solver
from dagneal.strategies.solve import as_dataset, refuse_unknown, solve_data, without_proof


@dataclass(frozen=True, eq=False)
class Bootstrap:
    """The result of `bootstrap`: how often each edge occurs in the networks learned from bootstrap samples.

    Attributes:
        names: names of the variables.
        samples: number of bootstrap samples from which a network was learned.
        edges: `edges[a, b]` is the fraction of samples in which the variables with indices a and b are adjacent.
        directions: `directions[a, b]` is the fraction of samples in which the edge leads from a to b. A reversible edge
            counts as half a sample in each direction.
        requested: number of samples that was requested; larger than `samples` if the bootstrap stopped early.
        interrupted: True only if Ctrl-C stopped the bootstrap; a time limit does not count.
    """

    names: tuple[str, ...]
    samples: int
    edges: Floats
    directions: Floats
    requested: int
    interrupted: bool = False

    def frequency(self, parent: str, child: str) -> tuple[float, float]:
        """Return two numbers: the bootstrap frequency of an edge, and the frequency of its direction.

        The first number is the fraction of samples in which the two variables are adjacent. The second number is the
        fraction of these samples in which the edge leads from `parent` to `child`; 0 if there are no such samples. A
        reversible edge counts as half a sample in each direction.

        Args:
            parent: name of the variable at the start of the edge.
            child: name of the variable at the end of the edge.
        """
        a, b = self.names.index(parent), self.names.index(child)
        adjacent = float(self.edges[a, b])
        return adjacent, float(self.directions[a, b]) / adjacent if adjacent else 0.0

    def to_dict(self) -> dict[str, Any]:
        """Return the frequencies as a dict for JSON. Pairs that are adjacent in no sample are left out."""
        adjacent = [(a, b) for a in range(len(self.names)) for b in range(a) if self.edges[a, b] > 0]
        pairs = [
            {
                "between": [self.names[b], self.names[a]],
                "adjacent": float(self.edges[a, b]),
                "forward": float(self.directions[b, a]),
                "backward": float(self.directions[a, b]),
            }
            for a, b in sorted(adjacent, key=lambda pair: (-self.edges[pair], pair))
        ]
        counts = {"samples": self.samples, "requested": self.requested, "interrupted": self.interrupted}
        return {**counts, "pairs": pairs}

    @classmethod
    def from_dict(cls, names: Sequence[str], plain: Mapping[str, Any]) -> Bootstrap:
        """Restore a `Bootstrap` from a dict that `to_dict` returned.

        Args:
            names: names of all variables, in column order.
            plain: result of `to_dict`.
        """
        position = {name: i for i, name in enumerate(names)}
        directions = np.zeros((len(names), len(names)))
        for pair in plain["pairs"]:
            ((first, second),) = take_edges([pair["between"]], position, "bootstrap")
            a, b = position[first], position[second]
            directions[a, b], directions[b, a] = take_number(pair, "forward"), take_number(pair, "backward")
        counts = take_count(plain, "requested"), take_bool(plain, "interrupted")
        return cls(tuple(names), take_count(plain, "samples"), directions + directions.T, directions, *counts)


@dataclass(frozen=True)
class BootstrapTask:
    """The task function that learns from bootstrap samples; see `dagneal.runtime.run.TaskFunction`.

    Args:
        seed: seed from which all samples are drawn.
        solver: solver that learns the structure of a sample.
        score: score to maximise.
        max_parents: parent limit; None for the default of the solver.
        knowledge: background knowledge.
        variables: number of variables in the data.
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
        """The shape of the direction matrix of one bootstrap sample."""
        return self.variables, self.variables

    def __call__(self, shared: Dataset, tasks: Sequence[int]) -> tuple[NDArray[np.uint8], dict[int, str]]:
        """Learn a network from each given bootstrap sample. Return the tuple (matrices, errors).

        The array `matrices` contains one direction matrix per sample; see `_directions`. The dict `errors` is empty.

        Args:
            shared: original data.
            tasks: indices of the bootstrap samples; the first sample has index 0.
        """
        directions = []
        for number in tasks:
            sample = bootstrap_sample(shared, self.seed, int(number))
            dag = solve_data(sample, self.solver, self.score, self.max_parents, self.knowledge, DEFAULT_RUN).dag
            directions.append(_directions(dag, shared.names, self.knowledge))
        return np.array(directions, dtype=np.uint8), {}

    def key(self, data: Dataset) -> str:
        """Return the text with which the journal keys of all bootstrap samples start.

        Args:
            data: original data.
        """
        settings = f"{fingerprint_of(self.solver)}:{self.score!r}:{self.max_parents}:{self.knowledge!r}"
        return f"bootstrap:{__version__}:{data.fingerprint}:{self.seed}:{settings}"


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
    """Learn from bootstrap samples of the rows, and return how often each edge occurs.

    Each bootstrap sample has as many rows as the data. A `Dataset` stores each distinct row once, with the number of its
    occurrences as weight. So a sample consists of the same distinct rows with new random weights.

    Args:
        data: a `Dataset`, or any input that `read` accepts.
        samples: number of bootstrap samples.
        solver: solver that learns the structure of each sample; see `learn`.
        score: score to maximise, or its name; `BDeu(1)` by default.
        max_parents: parent limit; None for the default of the solver.
        knowledge: background knowledge; see `learn`.
        run: a `Run` with seed, deadline, progress, executor and journal. No sample starts after the deadline. The
            journal stores finished samples.
        **unknown: other keyword arguments; they raise an error, which names the function that accepts them.

    >>> from dagneal.networks.bundled import load
    >>> result = bootstrap(load("lung-cancer").expected_data(10_000), samples=20)
    >>> result.frequency("Cancer", "Xray")[0] > 0.9
    True
    """
    refuse_unknown(bootstrap, unknown)
    check_run(run)
    samples = whole_number("samples", samples, least=1)
    data, solver = as_dataset(data), without_proof(as_solver(solver))
    task = BootstrapTask(run.seed, solver, as_score(score), max_parents, as_knowledge(knowledge), len(data.names))
    prefix = task.key(data) if run.journal is not None else ""
    results = run.map(task, range(samples), data, lambda number: f"{prefix}:{number}", "bootstrap")
    done = results.values[results.done]
    directions: Floats = np.asarray(np.sum(done, axis=0, dtype=np.int64), dtype=np.float64) / (2 * len(done))
    return Bootstrap(data.names, len(done), directions + directions.T, directions, samples, results.interrupted)


def bootstrap_sample(data: Dataset, seed: int, number: int) -> Dataset:
    """Return one bootstrap sample: as many rows as the data, drawn with replacement.

    Args:
        data: original data.
        seed: seed of the bootstrap.
        number: index of the sample; the first sample has index 0.
    """
    generator = np.random.default_rng([seed, number])
    weights = generator.multinomial(data.rows, data.weights / data.weights.sum())
    return reweight(data, weights)


def reweight(data: Dataset, weights: np.ndarray) -> Dataset:
    """Return the data with new row weights.

    Args:
        data: original data.
        weights: new weight of each distinct row; rows with weight 0 are dropped.
    """
    kept = weights > 0
    return replace(data, codes=np.ascontiguousarray(np.asarray(data.codes)[:, kept]), weights=weights[kept].astype(np.int64))


def _directions(dag: nx.DiGraph, names: Sequence[str], knowledge: Knowledge | None) -> np.ndarray:
    """Return the direction matrix of the equivalence class of a DAG.

    Entry [a, b] is 2 if there is a compelled edge from a to b, 1 if there is a reversible edge between a and b,
    and 0 otherwise.
    """
    adjacency = nx.to_numpy_array(equivalence_class(dag, knowledge), nodelist=names) > 0
    return np.where(adjacency, np.where(adjacency.T, 1, 2), 0).astype(np.uint8)
