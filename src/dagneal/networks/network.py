"""`BayesianNetwork`, a DAG with conditional probability tables, and `fit`, which estimates the tables from data."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from math import prod
from typing import TYPE_CHECKING, Any, Literal

import networkx as nx
import numpy as np
from numpy.typing import NDArray

from dagneal.base.errors import InputError, check_text, hint, whole_number
from dagneal.data.dataset import Dataset, check_total
from dagneal.graphs.dags import check_acyclic, check_dag, dag_from_parents, ordered_parents, topological_order

if TYPE_CHECKING:
    import polars

    from dagneal.base.kernels import Floats
    from dagneal.data.recipe import Recipe
    from dagneal.scoring.scores import Dirichlet

Rounding = Literal["nearest", "floor"]

_SUM_TOLERANCE = 1e-3  # published tables are rounded to three digits
_CHUNK = 1 << 20  # rows drawn at once, to limit memory; with another value the same seed gives other rows
LARGEST_CPT = 100_000_000  # largest number of probabilities in a table


@dataclass(frozen=True, eq=False)
class BayesianNetwork:
    """A Bayesian network over discrete variables.

    Attributes:
        states: states by variable. The keys define the order of the variables.
        parents: parents by variable.
        cpts: conditional probability tables by variable. A table has one axis per parent, and a last axis for the variable.
        name: name of the network.
        recipe: how the raw training data were prepared, so that new data can be prepared in the same way; None if the
            network was not learned from a raw table.

    >>> rain = BayesianNetwork(
    ...     {"rain": ("no", "yes"), "wet": ("no", "yes")},
    ...     {"rain": (), "wet": ("rain",)},
    ...     {"rain": [0.8, 0.2], "wet": [[0.9, 0.1], [0.0, 1.0]]},
    ... )
    >>> rain.expected_data(100)
    Dataset(2 columns, 100 rows (3 distinct))
    """

    states: Mapping[str, tuple[str, ...]]
    parents: Mapping[str, tuple[str, ...]]
    cpts: Mapping[str, Floats]
    name: str = "network"
    recipe: Recipe | None = None

    def __post_init__(self) -> None:
        tables = {}
        check_text(self.name, "the network")
        for name, states in self.states.items():
            for text, what in ((name, "a variable"), *((state, f"a state of {name!r}") for state in states)):
                check_text(text, f"{self.name}: {what}")
            for attribute, mapping in (("parents", self.parents), ("cpts", self.cpts)):
                if name not in mapping:
                    raise InputError(f"{self.name}: {name!r} has no entry in {attribute!r}; add it")
            if len(set(self.parents[name])) != len(self.parents[name]):
                raise InputError(f"{self.name}: {name!r} lists the same parent twice; remove one")
            if len(set(states)) != len(states) or not states:
                raise InputError(
                    f"{self.name}: the states of {name!r} are ({', '.join(states)}); give one or more distinct states"
                )
            for parent in self.parents[name]:
                if parent not in self.states:
                    raise InputError(f"{self.name}: the parent {parent!r} of {name!r} is not declared; add its states")
            try:
                table = np.array(self.cpts[name], dtype=np.float64)
            except (ValueError, TypeError, OverflowError) as error:
                raise InputError(f"{self.name}: the table of {name!r} is not an array of numbers") from error
            shape = tuple(len(self.states[v]) for v in (*self.parents[name], name))
            if table.shape != shape:
                raise InputError(f"{self.name}: the table of {name!r} has shape {table.shape}; it needs shape {shape}")
            tables[name] = _normalise(self, name, table)
        object.__setattr__(self, "cpts", tables)
        check_acyclic(self.dag, self.name)

    @cached_property
    def dag(self) -> nx.DiGraph:
        """The graph of the network."""
        return dag_from_parents({name: self.parents[name] for name in self.states})

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the variables."""
        return tuple(self.states)

    def __repr__(self) -> str:
        return f"BayesianNetwork({self.name}: {len(self.names)} variables, {self.dag.number_of_edges()} edges)"

    def cpt(self, variable: str) -> polars.DataFrame:
        """Return the conditional probability table of a variable as a polars frame.

        The frame has one row per combination of parent states, a column for each parent, and a column for each state of the
        variable.

        Args:
            variable: name of the variable.

        >>> from dagneal.networks.bundled import load
        >>> load("lung-cancer").cpt("Xray").to_dicts()[1]
        {'Cancer': 'True', 'Xray=Negative': 0.1, 'Xray=Positive': 0.9}
        """
        import polars

        if variable not in self.states:
            raise InputError(f"{variable!r} is not a variable of the network{hint(str(variable), self.names)}")
        parents, table = self.parents[variable], self.cpts[variable]
        rows = np.indices(table.shape[:-1]).reshape(len(parents), -1) if parents else ()
        columns = {
            parent: polars.Series(parent, self.states[parent], dtype=polars.String).gather(line.astype(np.uint32))
            for parent, line in zip(parents, rows, strict=True)
        }
        for state, values in zip(self.states[variable], table.reshape(-1, table.shape[-1]).T, strict=True):
            title = f"{variable}={state}"
            while title in columns:
                title += " "
            columns[title] = polars.Series(title, values)
        return polars.DataFrame(columns)

    def to_pyagrum(self) -> Any:
        """Return the network as a `pyagrum.BayesNet` with the same names and states. It needs `dagneal[ask]`."""
        from dagneal.networks import conversion

        return conversion.to_pyagrum(self)

    def to_pgmpy(self) -> Any:
        """Return the network as a `DiscreteBayesianNetwork` of pgmpy with the same names and states. It needs pgmpy."""
        from dagneal.networks import conversion

        return conversion.to_pgmpy(self)

    def to_networkx(self) -> nx.DiGraph:
        """Return the network as a graph whose nodes have the attributes `states`, `parents` and `cpt`."""
        from dagneal.networks import conversion

        return conversion.to_networkx(self)

    @classmethod
    def from_pyagrum(cls, model: Any) -> BayesianNetwork:
        """Return a network of pyAgrum as a `BayesianNetwork`.

        Args:
            model: `pyagrum.BayesNet`. The labels of a variable become its states.
        """
        from dagneal.networks import conversion

        return cls(*conversion.from_pyagrum(model))

    @classmethod
    def from_pgmpy(cls, model: Any) -> BayesianNetwork:
        """Return a network of pgmpy as a `BayesianNetwork`.

        Args:
            model: discrete network of pgmpy with a table for each variable. Names and states become texts.
        """
        from dagneal.networks import conversion

        return cls(*conversion.from_pgmpy(model))

    @classmethod
    def from_networkx(cls, graph: nx.DiGraph) -> BayesianNetwork:
        """Return a graph with probabilities as a `BayesianNetwork`.

        Args:
            graph: graph whose nodes have the attributes `states` and `cpt`, and optionally `parents` (the order of the axes
                of the table).
        """
        from dagneal.networks import conversion

        return cls(*conversion.from_networkx(graph))

    def sample(self, rows: int, seed: int | None = None) -> Dataset:
        """Draw independent random rows from the network.

        Args:
            rows: number of rows.
            seed: seed of the random generator; None for a new seed.
        """
        chunks = list(self.sample_codes(rows, seed))
        return Dataset.from_codes(self.names, list(self.states.values()), np.concatenate(chunks, axis=1))

    def sample_codes(self, rows: int, seed: int | None = None) -> Iterator[NDArray[np.uint16]]:
        """Draw independent random rows. Yield arrays of shape (variables, rows of the chunk) with the index of each state.

        Args:
            rows: total number of rows.
            seed: seed of the random generator; None for a new seed.
        """
        rows = whole_number("rows", rows, least=1)
        generator = np.random.default_rng(None if seed is None else whole_number("seed", seed))
        position = {name: i for i, name in enumerate(self.names)}
        order = topological_order(self.dag, self.names)
        cumulative = {name: np.cumsum(self.cpts[name], axis=-1)[..., :-1] for name in order}
        for start in range(0, rows, _CHUNK):
            codes = np.zeros((len(self.names), min(_CHUNK, rows - start)), dtype=np.uint16)
            for name in order:
                given = tuple(codes[position[parent]] for parent in self.parents[name])
                drawn = generator.random(codes.shape[1])
                for step in np.moveaxis(cumulative[name], -1, 0):
                    codes[position[name]] += drawn >= step[given]
            yield codes

    def expected_data(self, rows: int, rounding: Rounding = "nearest") -> Dataset:
        """Return data without random variation. The count of each combination of states is its expected count, rounded.

        Args:
            rows: number of rows before rounding. The result can have more or fewer rows.
            rounding: `"nearest"` or `"floor"` (round down). The text of the paper describes `"floor"`, but the
                numbers of rows in the paper match `"nearest"`.

        The combinations are built variable by variable. A partial combination whose count rounds to 0 is dropped at once,
        because its count cannot grow with further variables.
        """
        if rounding not in ("nearest", "floor"):
            raise InputError(f"rounding is {rounding!r}; give 'nearest' or 'floor'")
        rows = whole_number("rows", rows, least=1)
        check_total(float(rows))
        shift = 0.5 if rounding == "nearest" else 0.0

        def round_counts(count: Floats) -> Floats:
            # Round first: a product such as 0.3 * 0.1 * 10,000 must not lose a row to binary rounding errors.
            return np.floor(np.round(count, 6) + shift)

        columns: dict[str, NDArray[np.uint16]] = {}
        count = np.array([float(rows)])
        for name in topological_order(self.dag, self.names):
            given = self.cpts[name][tuple(columns[parent] for parent in self.parents[name])]
            extended = count[:, None] * np.broadcast_to(given, (len(count), len(self.states[name])))
            line, state = np.nonzero(round_counts(extended))
            columns = {other: codes[line] for other, codes in columns.items()}
            columns[name] = state.astype(np.uint16)
            count = extended[line, state]
        if not len(count):
            raise InputError(
                f"with {rows} rows the expected count of every combination of states rounds to 0; give more rows"
            )
        codes = np.array([columns[name] for name in self.names])
        return Dataset.from_codes(self.names, list(self.states.values()), codes, round_counts(count).astype(np.int64))


def _normalise(network: BayesianNetwork, name: str, table: Floats) -> Floats:
    """Return the table with each row scaled to sum to 1. Raise an error if a row is not a probability distribution."""
    sums = table.sum(axis=-1)
    bad = ~(np.abs(sums - 1) <= _SUM_TOLERANCE) | (table < 0).any(axis=-1)
    if bad.any():
        where = np.unravel_index(int(np.argmax(bad)), bad.shape)
        given = [network.states[p][i] for p, i in zip(network.parents[name], where, strict=True)]
        what = f"the probabilities of {name!r}" + (f" given ({', '.join(given)})" if given else "")
        values = ", ".join(f"{v:g}" for v in table[where])
        problem = "include a negative value" if (table[where] < 0).any() else f"sum to {sums[where]:g}"
        raise InputError(f"{network.name}: {what} {problem} ({values}); they must be from 0 to 1 and sum to 1")
    exact = np.abs(sums - 1) <= 1e-9  # only binary rounding errors: keep the numbers unchanged
    return table if exact.all() else table / sums[..., None]


def fit(dag: nx.DiGraph, data: Dataset, prior: Dirichlet | None = None) -> BayesianNetwork:
    """Estimate the conditional probability tables of a DAG from data.

    Args:
        dag: a DAG whose nodes are the columns of the data.
        data: data from which the probabilities are estimated.
        prior: Dirichlet prior, whose pseudo-counts are added to the counts; `BDeu(1)` by default.

    Returns:
        The network with the probabilities (N_ijk + alpha_ijk) / (N_ij + alpha_ij). N_ijk is the number of rows in which
        variable i has state k and its parents have state combination j. alpha_ijk is the pseudo-count. N_ij and alpha_ij
        are sums over k.

    >>> from dagneal.networks.bundled import load
    >>> truth = load("lung-cancer")
    >>> fit(truth.dag, truth.expected_data(10_000)).cpts["Smoker"].round(3)
    array([0.7, 0.3])
    """
    check_dag(dag, data.names)
    parents = ordered_parents(dag, data.names)
    tables = dict(zip(parents, fit_tables(list(parents.items()), data, prior), strict=True))
    return BayesianNetwork(dict(zip(data.names, data.states, strict=True)), parents, tables, "learned", data.recipe)


def fit_tables(
    families: Sequence[tuple[str, Sequence[str]]], data: Dataset, prior: Dirichlet | None = None
) -> Iterator[Floats]:
    """Estimate conditional probability tables from data, as `fit` does. Yield one table per family.

    Args:
        families: pairs (variable, parents).
        data: data from which the probabilities are estimated.
        prior: Dirichlet prior; see `fit`.
    """
    from dagneal.scoring.counting.counter import Counter
    from dagneal.scoring.scores import Adaptive, BDeu, Dirichlet

    prior = prior or BDeu()
    if not isinstance(prior, Dirichlet):
        raise InputError(f"{type(prior).__name__} is not a Dirichlet prior; give BDeu, BDeuRows, BDs, K2 or Perks")
    position = {name: i for i, name in enumerate(data.names)}
    counter = Counter(data)
    for name, parents in families:
        family = [position[v] for v in (*parents, name)]
        shape = tuple(int(data.arities[i]) for i in family)
        if prod(shape) > LARGEST_CPT:
            raise InputError(
                f"{name!r} with {len(parents)} parents needs a table of {prod(shape):,} numbers; use fewer parents"
            )
        (counts,) = counter.counts([family])
        if isinstance(prior, Adaptive):
            family_prior, _ = prior.occurring_concentrations(shape[-1], float(counts.any(axis=-1).sum()), data.rows)
        else:
            family_prior, _ = prior.concentrations(shape[-1], float(prod(shape)), data.rows)
        smoothed = counts + family_prior
        yield smoothed / smoothed.sum(axis=-1, keepdims=True)
