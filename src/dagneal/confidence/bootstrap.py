"""Bootstrap: learn from bootstrap samples of the rows, and count how often each edge occurs.

By default, a sample consists of 80% of the rows, drawn without replacement. The classical bootstrap draws as many rows as
the data have, with replacement. Rows then occur several times, which looks like additional evidence, so the networks get too
many edges. This is worst with many states and few rows (Steck and Jaakkola 2003, "Bias-corrected bootstrap and model
uncertainty"). A sample without repeated rows is a sample of the true distribution. So the expected frequency of an edge is
the probability of the edge in a network that is learned from 80% as many new rows, for every score and solver.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from numbers import Real
from typing import Any, Literal, get_args

import networkx as nx
import numpy as np
from numpy.typing import NDArray

from dagneal.base.defaults import BOOTSTRAP_SAMPLES, WEAK_EDGE
from dagneal.base.errors import InputError, short_repr, whole_number
from dagneal.base.kernels import Floats, Ints
from dagneal.base.plain import take_bool, take_count, take_edges, take_number, take_text
from dagneal.base.version import __version__
from dagneal.data.dataset import Dataset
from dagneal.divide.subproblem_solvers import fingerprint_of
from dagneal.graphs.knowledge import Knowledge, as_knowledge, equivalence_class
from dagneal.runtime.run import DEFAULT_RUN, Results, Run, check_run
from dagneal.scoring.scores import Score, as_score
from dagneal.solvers.problem import Solver
from dagneal.strategies.names import as_solver
from dagneal.strategies.solve import as_dataset, refuse_unknown, solve_data, without_proof

Method = Literal["subsample", "rows"]
METHODS: tuple[str, ...] = get_args(Method)
SHARE = 0.8  # fraction of the rows in a sample of the method "subsample"
_HYPERGEOMETRIC_LIMIT = 10**9  # NumPy's hypergeometric sampling requires fewer rows


@dataclass(frozen=True)
class NearMiss:
    """An edge that is frequent in the bootstrap but absent from a network.

    Attributes:
        parent: name of the variable at the start of the edge, in its more frequent direction.
        child: name of the variable at the end of the edge.
        frequency: fraction of samples in which the two variables are adjacent.
        forward: fraction of these samples in which the edge leads from `parent` to `child`.
    """

    parent: str
    child: str
    frequency: float
    forward: float

    def to_dict(self) -> dict[str, Any]:
        """Return the attributes as a dict for JSON."""
        return asdict(self)


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
        method: how the samples were drawn; see `bootstrap`.
    """

    names: tuple[str, ...]
    samples: int
    edges: Floats
    directions: Floats
    requested: int
    interrupted: bool = False
    method: str = "subsample"

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

    def near_misses(self, dag: nx.DiGraph, least: float = WEAK_EDGE) -> list[NearMiss]:
        """Return the edges that are frequent in the bootstrap but absent from a network, most frequent first.

        Args:
            dag: network with the same variables.
            least: lowest frequency of a returned edge, above 0.
        """
        check_fraction("least", least)
        misses = []
        for a, b in zip(*np.nonzero(np.triu(self.edges) >= max(least, np.finfo(float).tiny)), strict=True):
            first, second = self.names[a], self.names[b]
            if not dag.has_edge(first, second) and not dag.has_edge(second, first):
                pair = (first, second) if self.directions[a, b] >= self.directions[b, a] else (second, first)
                misses.append(NearMiss(*pair, *self.frequency(*pair)))
        return sorted(misses, key=lambda miss: -miss.frequency)

    def significance_threshold(self) -> float:
        """Return the frequency above which an edge is significant, by the method of Scutari and Nagarajan (2013).

        In the ideal case, a fraction t of all pairs of variables is adjacent in no sample, and the others in every sample.
        The method chooses t so that the distribution function of the frequencies has the smallest L1 distance to this case.
        The threshold is the t-quantile of the frequencies.

        The L1 distance is the integral of abs(F(x) - t) over x from 0 to 1, where F is the distribution function of the
        frequencies. The best t is therefore the median of F(x) for a uniform x. F does not fall, so this median is F(1/2),
        and the threshold is the largest frequency that is not above 1/2, or 0 if there is none.
        """
        frequencies = self.edges[np.triu_indices(len(self.names), 1)]
        return float(max(frequencies[frequencies <= 0.5], default=0.0))

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
        return {**counts, "method": self.method, "pairs": pairs}

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
        method = check_method(take_text(plain, "method")) if "method" in plain else "rows"  # earlier files lack it
        return cls(tuple(names), take_count(plain, "samples"), directions + directions.T, directions, *counts, method)


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
        method: how samples are drawn; see `bootstrap`.
    """

    seed: int
    solver: Solver
    score: Score
    max_parents: int | None
    knowledge: Knowledge | None
    variables: int
    method: str
    largest: int = 2

    @property
    def shape(self) -> tuple[int, ...]:
        """The shape of the edge matrix of one bootstrap sample."""
        return self.variables, self.variables

    def __call__(self, shared: Dataset, tasks: Sequence[int]) -> tuple[NDArray[np.uint8], dict[int, str]]:
        """Learn a network from each given bootstrap sample. Return the tuple (matrices, errors).

        The array `matrices` contains one edge matrix per sample; see `_edge_matrix`. The dict `errors` is empty.

        Args:
            shared: original data.
            tasks: indices of the bootstrap samples; the first sample has index 0.
        """
        matrices = []
        for number in tasks:
            sample = bootstrap_sample(shared, self.seed, int(number), self.method)
            dag = solve_data(sample, self.solver, self.score, self.max_parents, self.knowledge, DEFAULT_RUN).dag
            matrices.append(_edge_matrix(dag, shared.names, self.knowledge))
        return np.array(matrices, dtype=np.uint8), {}

    def key(self, data: Dataset) -> str:
        """Return the text with which the journal keys of all bootstrap samples start.

        Args:
            data: original data.
        """
        settings = f"{fingerprint_of(self.solver)}:{self.score!r}:{self.max_parents}:{self.knowledge!r}"
        return f"bootstrap:{__version__}:{self.method}:{data.fingerprint}:{self.seed}:{settings}"


def bootstrap(
    data: Any,
    samples: int = BOOTSTRAP_SAMPLES,
    solver: Any = None,
    score: Score | str | None = None,
    max_parents: int | None = None,
    knowledge: Any = None,
    run: Run = DEFAULT_RUN,
    method: Method = "subsample",
    **unknown: Any,
) -> Bootstrap:
    """Learn from bootstrap samples of the rows, and return how often each edge occurs.

    A `Dataset` stores each distinct row once, with the number of its occurrences as weight. So a sample consists of the same
    distinct rows with new random weights.

    Args:
        data: a `Dataset`, or any input that `read` accepts.
        samples: number of bootstrap samples.
        solver: solver that learns the structure of each sample; see `learn`.
        score: score to maximise, or its name; `BDeu(1)` by default.
        max_parents: parent limit; None for the default of the solver.
        knowledge: background knowledge; see `learn`.
        run: a `Run` with seed, deadline, progress, executor and journal. No sample starts after the deadline. The
            journal stores finished samples.
        method: `"subsample"` to draw 80% of the rows without replacement, or `"rows"` for the classical bootstrap, which
            draws as many rows as the data have, with replacement. The classical bootstrap finds too many edges, because
            repeated rows look like additional evidence.
        **unknown: other keyword arguments; they raise an error, which names the function that accepts them.

    >>> from dagneal.networks.bundled import load
    >>> result = bootstrap(load("lung-cancer").expected_data(10_000), samples=20)
    >>> result.frequency("Cancer", "Xray")[0] > 0.9
    True
    """
    refuse_unknown(bootstrap, unknown)
    data = as_dataset(data)
    results = learn_samples(data, samples, solver, as_score(score), max_parents, as_knowledge(knowledge), run, method)
    matrices = results.values[results.done]
    compelled, reversible = (np.sum(matrices == kind, axis=0, dtype=np.int64) for kind in (2, 1))
    directions: Floats = np.asarray((compelled + 0.5 * (reversible + reversible.T)) / len(matrices))
    return Bootstrap(
        data.names, len(matrices), directions + directions.T, directions, int(samples), results.interrupted, method
    )


def learn_samples(
    data: Dataset,
    samples: int,
    solver: Any,
    score: Score,
    max_parents: int | None,
    knowledge: Knowledge | None,
    run: Run,
    method: str,
) -> Results:
    """Learn a network from each bootstrap sample. The values of the result are edge matrices.

    Entry [a, b] of an edge matrix is 2 for a compelled edge from a to b, 1 for a reversible edge, and 0 for no edge.

    Args:
        data: original data.
        samples: number of bootstrap samples.
        solver: solver that learns the structure of each sample; see `learn`.
        score: score to maximise.
        max_parents: parent limit; None for the default of the solver.
        knowledge: background knowledge.
        run: a `Run` with seed, deadline, progress, executor and journal.
        method: how samples are drawn; see `bootstrap`.
    """
    check_run(run)
    samples = whole_number("samples", samples, least=1)
    solver = without_proof(as_solver(solver))
    task = BootstrapTask(run.seed, solver, score, max_parents, knowledge, len(data.names), check_method(method))
    prefix = task.key(data) if run.journal is not None else ""
    return run.map(task, range(samples), data, lambda number: f"{prefix}:{number}", "bootstrap")


def check_method(method: Any) -> str:
    """Check the name of a way to draw bootstrap samples, and return it.

    Args:
        method: name to check.
    """
    if method not in METHODS:
        raise InputError(f"method is {short_repr(method)}; give one of {', '.join(map(repr, METHODS))}")
    return str(method)


def check_fraction(name: str, value: Any) -> float:
    """Check that an argument is a number from 0 to 1, and return it.

    Args:
        name: name of the argument.
        value: value of the argument.
    """
    if isinstance(value, bool) or not isinstance(value, Real) or not 0 <= float(value) <= 1:
        raise InputError(f"{name} is {short_repr(value)}; give a fraction from 0 to 1")
    return float(value)


def bootstrap_sample(data: Dataset, seed: int, number: int, method: str = "subsample") -> Dataset:
    """Return one bootstrap sample.

    Args:
        data: original data.
        seed: seed of the bootstrap.
        number: index of the sample; the first sample has index 0.
        method: how the sample is drawn; see `bootstrap`.
    """
    generator = np.random.default_rng([seed, number])
    if method == "rows":
        return reweight(data, generator.multinomial(data.rows, data.weights / data.weights.sum()))
    return reweight(data, draw_weights(data, max(1, round(SHARE * data.rows)), generator))


def draw_weights(data: Dataset, rows: int, generator: np.random.Generator) -> Ints:
    """Return how often each distinct row occurs among random rows of the data, drawn without replacement.

    Args:
        data: data with at least `rows` rows.
        rows: number of rows to draw. From 10^9 rows of data on, the number of drawn rows varies slightly.
        generator: random generator.
    """
    if data.rows < _HYPERGEOMETRIC_LIMIT:
        return generator.multivariate_hypergeometric(data.weights, rows, method="marginals")
    return generator.binomial(data.weights, rows / data.rows)  # each row is drawn independently


def reweight(data: Dataset, weights: np.ndarray) -> Dataset:
    """Return the data with new row weights.

    Args:
        data: original data.
        weights: new weight of each distinct row; rows with weight 0 are dropped.
    """
    kept = weights > 0
    return replace(data, codes=np.ascontiguousarray(np.asarray(data.codes)[:, kept]), weights=weights[kept].astype(np.int64))


def _edge_matrix(dag: nx.DiGraph, names: Sequence[str], knowledge: Knowledge | None) -> np.ndarray:
    """Return the edge matrix of a DAG; see `learn_samples`."""
    edges = nx.to_numpy_array(dag, nodelist=names) > 0
    reversible = nx.to_numpy_array(equivalence_class(dag, knowledge), nodelist=names).T > 0
    return np.where(edges, np.where(reversible, 1, 2), 0).astype(np.uint8)
