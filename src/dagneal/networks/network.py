"""BayesianNetwork: a DAG with conditional probability tables; sampling, expected data and fitting."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from math import prod
from typing import TYPE_CHECKING, Literal

import networkx as nx
import numpy as np
from numpy.typing import NDArray

from dagneal.base.errors import InputError, check_text, whole_number
from dagneal.data.dataset import Dataset, check_total
from dagneal.graphs.dags import check_acyclic, check_dag, dag_from_parents, ordered_parents, topological_order

if TYPE_CHECKING:
    from dagneal.base.kernels import Floats
    from dagneal.scoring.scores import Dirichlet

Rounding = Literal["nearest", "floor"]

_SUM_TOLERANCE = 1e-3  # published tables are rounded to three digits
_BLOCK = 1 << 20  # rows drawn at once, whatever the total: the same seed gives the same rows in bounded memory
LARGEST_CPT = 100_000_000


@dataclass(frozen=True, eq=False)
class BayesianNetwork:
    """A Bayesian network over discrete variables.

    Attributes:
        states: the states of each variable; the order of the variables is that of the mapping.
        parents: the parents of each variable.
        cpts: for each variable an array with one axis per parent, then one for the variable itself.
        name: what the network is called.

    >>> rain = BayesianNetwork(
    ...     {"rain": ("no", "yes"), "wet": ("no", "yes")},
    ...     {"rain": (), "wet": ("rain",)},
    ...     {"rain": [0.8, 0.2], "wet": [[0.9, 0.1], [0.0, 1.0]]},
    ... )
    >>> rain.expected(100)
    Dataset(2 columns, 100 rows, 3 distinct)
    """

    states: Mapping[str, tuple[str, ...]]
    parents: Mapping[str, tuple[str, ...]]
    cpts: Mapping[str, Floats]
    name: str = "network"

    def __post_init__(self) -> None:
        tables = {}
        check_text(self.name, "the network")
        for name, states in self.states.items():
            for text, what in ((name, "a variable"), *((state, f"a state of {name!r}") for state in states)):
                check_text(text, f"{self.name}: {what}")
            for what, given in (("parents", self.parents), ("cpts", self.cpts)):
                if name not in given:
                    raise InputError(f"{self.name}: {name!r} has no entry in {what!r}")
            if len(set(self.parents[name])) != len(self.parents[name]):
                raise InputError(f"{self.name}: {name!r} has the same parent twice")
            if len(set(states)) != len(states) or not states:
                raise InputError(f"{self.name}: the states of {name!r} are not distinct: {', '.join(states) or 'none'}")
            for parent in self.parents[name]:
                if parent not in self.states:
                    raise InputError(f"{self.name}: {name!r} has the parent {parent!r}, which is not declared")
            try:
                table = np.array(self.cpts[name], dtype=np.float64)
            except (ValueError, TypeError, OverflowError) as error:
                raise InputError(f"{self.name}: the table of {name!r} is no array of numbers") from error
            shape = tuple(len(self.states[v]) for v in (*self.parents[name], name))
            if table.shape != shape:
                raise InputError(f"{self.name}: the table of {name!r} has shape {table.shape} where {shape} is needed")
            tables[name] = _normalise(self, name, table)
        object.__setattr__(self, "cpts", tables)
        check_acyclic(self.dag, self.name)

    @cached_property
    def dag(self) -> nx.DiGraph:
        """The structure."""
        return dag_from_parents({name: self.parents[name] for name in self.states})

    @property
    def names(self) -> tuple[str, ...]:
        """The variables."""
        return tuple(self.states)

    def __repr__(self) -> str:
        return f"BayesianNetwork({self.name}: {len(self.names)} variables, {self.dag.number_of_edges()} edges)"

    def sample(self, rows: int, seed: int | None = None) -> Dataset:
        """Draw independent rows.

        Args:
            rows: how many.
            seed: the same seed gives the same rows.
        """
        blocks = list(self.sample_codes(rows, seed))
        return Dataset.from_codes(self.names, list(self.states.values()), np.concatenate(blocks, axis=1))

    def sample_codes(self, rows: int, seed: int | None = None) -> Iterator[NDArray[np.uint16]]:
        """Draw independent rows in the order drawn, as blocks of codes of shape (variables, rows of the block)."""
        rows = whole_number("rows", rows, least=1)
        generator = np.random.default_rng(None if seed is None else whole_number("seed", seed))
        position = {name: i for i, name in enumerate(self.names)}
        order = topological_order(self.dag, self.names)
        cumulative = {name: np.cumsum(self.cpts[name], axis=-1)[..., :-1] for name in order}
        for start in range(0, rows, _BLOCK):
            codes = np.zeros((len(self.names), min(_BLOCK, rows - start)), dtype=np.uint16)
            for name in order:
                given = tuple(codes[position[parent]] for parent in self.parents[name])
                drawn = generator.random(codes.shape[1])
                for step in np.moveaxis(cumulative[name], -1, 0):
                    codes[position[name]] += drawn >= step[given]
            yield codes

    def expected(self, rows: int, rounding: Rounding = "nearest") -> Dataset:
        """Each combination of states as often as it is expected in so many rows: data without variance.

        Args:
            rows: the number of rows N; rounding makes the result a little larger or smaller.
            rounding: `"nearest"` as in the paper's published sizes, or `"floor"` as in its text.

        The joint distribution is built variable by variable. A partial combination that would already round to
        nothing is dropped, since further factors only make it rarer; so impossible combinations are never listed.
        """
        if rounding not in ("nearest", "floor"):
            raise InputError(f"rounding is {rounding!r}; give 'nearest' or 'floor'")
        rows = whole_number("rows", rows, least=1)
        check_total(float(rows))
        shift = 0.5 if rounding == "nearest" else 0.0

        def whole(count: Floats) -> Floats:
            # A product of decimals such as 0.3 * 0.1 * 10,000 must not lose a row to the last binary digit.
            return np.floor(np.round(count, 6) + shift)

        found: dict[str, NDArray[np.uint16]] = {}
        count = np.array([float(rows)])
        for name in topological_order(self.dag, self.names):
            given = self.cpts[name][tuple(found[parent] for parent in self.parents[name])]
            extended = count[:, None] * np.broadcast_to(given, (len(count), len(self.states[name])))
            line, state = np.nonzero(whole(extended))
            found = {other: codes[line] for other, codes in found.items()}
            found[name] = state.astype(np.uint16)
            count = extended[line, state]
        if not len(count):
            raise InputError(f"no combination of states is expected even once in {rows} rows; give more")
        codes = np.array([found[name] for name in self.names])
        return Dataset.from_codes(self.names, list(self.states.values()), codes, whole(count).astype(np.int64))


def _normalise(network: BayesianNetwork, name: str, table: Floats) -> Floats:
    """The table with rows that sum to 1 exactly; rows that are far from it are refused."""
    sums = table.sum(axis=-1)
    bad = ~(np.abs(sums - 1) <= _SUM_TOLERANCE) | (table < 0).any(axis=-1)
    if bad.any():
        where = np.unravel_index(int(np.argmax(bad)), bad.shape)
        given = [network.states[p][i] for p, i in zip(network.parents[name], where, strict=True)]
        what = f"the probabilities of {name!r}" + (f" given ({', '.join(given)})" if given else "")
        values = ", ".join(f"{v:g}" for v in table[where])
        wrong = "which are no probabilities" if (table[where] < 0).any() else f"which sum to {sums[where]:g}"
        raise InputError(f"{network.name}: {what} are {values}, {wrong}; they must be from 0 to 1 and sum to 1")
    exact = np.abs(sums - 1) <= 1e-9  # nothing but the rounding of decimals: leave the digits as they are
    return table if exact.all() else table / sums[..., None]


def fit(dag: nx.DiGraph, data: Dataset, prior: Dirichlet | None = None) -> BayesianNetwork:
    """Estimate the conditional probability tables of a DAG from data.

    Args:
        dag: the structure, over the columns of the data.
        data: the data.
        prior: the Dirichlet prior whose pseudo-counts are added to the counts; `BDeu(1)` by default.

    Returns:
        The network with the expected probabilities, (N_ijk + a_ijk) / (N_ij + a_ij).

    >>> from dagneal.networks.bundled import load
    >>> truth = load("lung-cancer")
    >>> fit(truth.dag, truth.expected(10_000)).cpts["Smoker"].round(3)
    array([0.7, 0.3])
    """
    from dagneal.scoring.counting.counter import Counter
    from dagneal.scoring.scores import BDeu, Dirichlet

    prior = prior or BDeu()
    if not isinstance(prior, Dirichlet):
        raise InputError(f"{type(prior).__name__} is no Dirichlet prior; fit with BDeu, BDeuRows, K2 or Perks")
    check_dag(dag, data.names)
    parents = ordered_parents(dag, data.names)
    position = {name: i for i, name in enumerate(data.names)}
    counter = Counter(data)
    tables = {}
    for name, its_parents in parents.items():
        family = [position[v] for v in (*its_parents, name)]
        shape = tuple(int(data.arities[i]) for i in family)
        if prod(shape) > LARGEST_CPT:
            raise InputError(
                f"{name!r} with {len(its_parents)} parents needs a table of {prod(shape):,} numbers; use fewer parents"
            )
        (counts,) = counter.counts([family])
        family_prior, _ = prior.concentrations(shape[-1], float(prod(shape)), data.rows)
        smoothed = counts + family_prior
        tables[name] = smoothed / smoothed.sum(axis=-1, keepdims=True)
    return BayesianNetwork(dict(zip(data.names, data.states, strict=True)), parents, tables, "learned")
