"""Ensemble: a mixture of networks that were learned on bootstrap samples. It predicts better than the best network."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from dagneal.base.defaults import ENSEMBLE_ESS, ENSEMBLE_NETWORKS
from dagneal.base.errors import InputError, short_repr, whole_number
from dagneal.base.files import atomic_write
from dagneal.base.kernels import Floats, Ints
from dagneal.base.plain import take_count, take_mapping, take_names, take_number
from dagneal.base.text import plural
from dagneal.confidence.bootstrap import Method, learn_samples
from dagneal.data.dataset import Dataset
from dagneal.data.recipe import Recipe
from dagneal.graphs.knowledge import as_knowledge
from dagneal.inference import queries, rows
from dagneal.inference.elimination import UNKNOWN, Codes
from dagneal.inference.models import find_members
from dagneal.inference.new_data import Unseen, read_codes
from dagneal.networks.network import BayesianNetwork, fit_tables
from dagneal.runtime.run import DEFAULT_RUN, Run
from dagneal.scoring.scores import BDeu, Dirichlet, Score, as_score
from dagneal.strategies.solve import as_dataset, refuse_unknown

if TYPE_CHECKING:
    import polars

FORMAT_VERSION = 1
KIND = "ensemble"
_ROUNDING = 1e-12  # largest rounding error of the sum of weights
_VALUES = 1 << 22  # most log-likelihoods in memory: 32 MB


class FittedFamily(NamedTuple):
    """A variable with its parents and its conditional probability table."""

    child: str
    parents: tuple[str, ...]
    table: Floats


@dataclass(frozen=True, eq=False)
class Ensemble:
    """A mixture of Bayesian networks with the same variables and states.

    The probability of a row is the weighted mean of its probabilities under the networks.

    Attributes:
        networks: networks with different graphs.
        weights: weight of each network; the weights sum to 1.
        samples: number of bootstrap samples from which a network was learned. Equal graphs are one network.
        requested: number of samples that was requested; larger than `samples` if the work stopped early.

    >>> from dagneal.networks.bundled import load
    >>> data = load("lung-cancer").sample(10_000, seed=1)
    >>> mixture = ensemble(data, networks=5)
    >>> len(mixture.log_likelihood(data)) == len(data.weights)
    True
    """

    networks: tuple[BayesianNetwork, ...]
    weights: Floats
    samples: int = 0
    requested: int = 0

    def __post_init__(self) -> None:
        if not self.networks:
            raise InputError("an ensemble needs at least one network")
        for network in self.networks[1:]:
            if list(network.states.items()) != list(self.states.items()):
                raise InputError("the networks of an ensemble must have the same variables and states, in the same order")
        weights = np.array(self.weights, dtype=np.float64)
        if weights.shape != (len(self.networks),) or not (weights > 0).all() or abs(weights.sum() - 1) > 1e-6:
            raise InputError("the weights of an ensemble must be positive numbers that sum to 1, one per network")
        exact = abs(weights.sum() - 1) < _ROUNDING  # then saving and loading changes nothing
        object.__setattr__(self, "weights", weights if exact else weights / weights.sum())

    def __repr__(self) -> str:
        return f"Ensemble({plural(len(self.networks), 'network')}, {plural(len(self.names), 'variable')})"

    @property
    def states(self) -> Mapping[str, tuple[str, ...]]:
        """The states by variable."""
        return self.networks[0].states

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the variables."""
        return self.networks[0].names

    @cached_property
    def _families(self) -> tuple[list[FittedFamily], Ints]:
        """The different families of all networks, and a matrix: the family of each variable in each network."""
        number: dict[tuple[str, tuple[str, ...], bytes], int] = {}
        families: list[FittedFamily] = []
        members = np.empty((len(self.networks), len(self.names)), dtype=np.int64)
        for line, network in zip(members, self.networks, strict=True):
            for column, name in enumerate(self.names):
                family = FittedFamily(name, network.parents[name], network.cpts[name])
                key = name, family.parents, family.table.tobytes()
                if key not in number:
                    number[key] = len(families)
                    families.append(family)
                line[column] = number[key]
        return families, members

    def log_likelihood(self, data: Any, unseen: Unseen = "refuse") -> Floats:
        """Return the log-likelihood of each row, in nats (natural-log units); minus infinity if a row has probability 0.

        Unknown values are summed out.

        Args:
            data: a file, a frame or an array, with one value per row in the result, in the order of the rows. New data are
                prepared like the training data. An array has the columns in the order of `names`. A `Dataset` gives one
                value for each of its stored rows, in the order of `Dataset.codes`; how often a row occurs is in
                `Dataset.weights`.
            unseen: `"refuse"`, or `"missing"` to treat unseen states and absent columns as unknown.
        """
        codes = read_codes(self.networks[0], data, unseen)
        if (codes == UNKNOWN).any():
            return rows.log_likelihood_of_members(find_members(self), codes)
        return self._log_likelihood_of_complete_rows(codes)

    def _log_likelihood_of_complete_rows(self, codes: Codes) -> Floats:
        """Return the log-likelihood of complete rows, given as codes of shape (variables, rows)."""
        families, members = self._families
        rows = codes.shape[1]
        position = {name: column for column, name in enumerate(self.names)}
        result: Floats = np.empty(rows)
        step = max(1, _VALUES // max(len(families), len(self.networks)))
        with np.errstate(divide="ignore"):
            logs = [np.log(family.table) for family in families]
        for begin in range(0, rows, step):
            part = [line[begin : begin + step] for line in codes]
            values = np.array(
                [
                    log[tuple(part[position[name]] for name in (*family.parents, family.child))]
                    for family, log in zip(families, logs, strict=True)
                ]
            )
            by_network = np.array([values[line].sum(axis=0) for line in members]) + np.log(self.weights)[:, None]
            result[begin : begin + step] = np.logaddexp.reduce(by_network, axis=0)
        return result

    def query(self, targets: str | Sequence[str], given: Mapping[str, Any] | None = None) -> queries.Distribution:
        """Return the exact distribution of one or several variables, given evidence; see `dagneal.query`.

        Args:
            targets: name of a variable, or a list of names for their joint distribution.
            given: evidence by variable.
        """
        return queries.query(self, targets, given)

    def predict(self, data: Any, target: str, unseen: Unseen = "refuse") -> polars.DataFrame:
        """Predict one variable for each row, from the values of the other variables; see `dagneal.predict`.

        Args:
            data: new rows: a file, a frame, an array or a `Dataset`.
            target: variable to predict.
            unseen: `"refuse"`, or `"missing"` to treat unseen states and absent columns as unknown.
        """
        return rows.predict(self, data, target, unseen)

    def sample(self, rows: int, seed: int | None = None) -> Dataset:
        """Draw independent random rows from the mixture.

        Args:
            rows: number of rows.
            seed: seed of the random generator; None for a new seed.
        """
        rows = whole_number("rows", rows, least=1)
        generator = np.random.default_rng(None if seed is None else whole_number("seed", seed))
        counts = generator.multinomial(rows, self.weights)
        seeds = generator.integers(1 << 31, size=len(counts))
        chunks = [
            chunk
            for network, count, own_seed in zip(self.networks, counts.tolist(), seeds.tolist(), strict=True)
            if count
            for chunk in network.sample_codes(count, own_seed)
        ]
        return Dataset.from_codes(self.names, list(self.states.values()), np.concatenate(chunks, axis=1))

    def to_dict(self) -> dict[str, Any]:
        """Return the ensemble as a dict for JSON. Each distinct table of probabilities occurs once."""
        families, members = self._families
        recipe = self.networks[0].recipe
        return {
            "kind": KIND,
            "format_version": FORMAT_VERSION,
            "samples": self.samples,
            "requested": self.requested,
            "states": {name: list(states) for name, states in self.states.items()},
            "families": [
                {"child": each.child, "parents": list(each.parents), "cpt": each.table.tolist()} for each in families
            ],
            "networks": [
                {"weight": weight, "families": line}
                for weight, line in zip(self.weights.tolist(), members.tolist(), strict=True)
            ],
            **({} if recipe is None else {"recipe": recipe.to_dict()}),
        }

    @classmethod
    def from_dict(cls, plain: Mapping[str, Any]) -> Ensemble:
        """Restore an ensemble from a dict that `to_dict` returned.

        Args:
            plain: result of `to_dict`.
        """
        if not isinstance(plain, Mapping) or plain.get("kind") != KIND:
            raise InputError("this is not an ensemble; give the result of Ensemble.to_dict")
        if plain.get("format_version") != FORMAT_VERSION or isinstance(plain["format_version"], bool):
            version = plain.get("format_version")
            raise InputError(f"the ensemble has format version {version!r}; this version of dagneal reads {FORMAT_VERSION}")
        try:
            return cls._restore(plain)
        except InputError as error:
            raise InputError(f"this is not a valid ensemble: {error}") from error
        except (LookupError, TypeError, ValueError, AttributeError, OverflowError, RecursionError) as error:
            raise InputError(f"this is not a valid ensemble: {type(error).__name__}: {error}") from error

    @classmethod
    def _restore(cls, plain: Mapping[str, Any]) -> Ensemble:
        states = {}
        for name, labels in take_mapping(plain, "states").items():
            if not isinstance(labels, list) or not all(isinstance(label, str) for label in labels):
                raise ValueError(f"the states of {short_repr(name)} are {short_repr(labels)}, not a list of texts")
            states[name] = tuple(labels)
        families = []
        for each in plain["families"]:
            (child,), parents = (
                take_names([each["child"]], states, "a child"),
                take_names(each["parents"], states, "parents"),
            )
            families.append(FittedFamily(child, tuple(parents), np.array(each["cpt"], dtype=np.float64)))
        recipe = Recipe.from_dict(take_mapping(plain, "recipe")) if "recipe" in plain else None
        networks, weights = [], []
        for each in plain["networks"]:
            numbers = each["families"]
            if not isinstance(numbers, list) or not all(type(at) is int and 0 <= at < len(families) for at in numbers):
                raise ValueError(f"the families of a network are {short_repr(numbers)}, not indices of families")
            networks.append(_network(states, [families[at] for at in numbers], recipe))
            weights.append(take_number(each, "weight"))
        counts = take_count(plain, "samples"), take_count(plain, "requested")
        return cls(tuple(networks), np.array(weights), *counts)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Save the ensemble as a .json file; see `load_ensemble`.

        Args:
            path: file to write.
        """
        if Path(path).suffix.lower() != ".json":
            raise InputError(f"{path} has an unknown format for an ensemble; end the name in .json")
        with atomic_write(path) as file:
            file.write((json.dumps(self.to_dict()) + "\n").encode())


def load_ensemble(path: str | os.PathLike[str]) -> Ensemble:
    """Load an ensemble that `Ensemble.save` wrote.

    Args:
        path: .json file.
    """
    try:
        plain = json.loads(Path(path).read_text(encoding="utf-8-sig"))
    except OSError as error:
        raise InputError(f"{path} cannot be read: {error.strerror or error}") from error
    except (ValueError, RecursionError) as error:
        raise InputError(f"{path} is not an ensemble; give a .json file that Ensemble.save wrote") from error
    try:
        return Ensemble.from_dict(plain)
    except InputError as error:
        raise InputError(f"{path}: {error}") from error


def predictive_score(score: Score) -> Score | None:
    """Return the score of an ensemble for a result with this score; None for the default of ensembles.

    Args:
        score: score of the result. A BDeu score with a small equivalent sample size suits structure, not prediction.
    """
    return None if isinstance(score, BDeu) and score.ess < ENSEMBLE_ESS else score


def ensemble(
    data: Any,
    networks: int = ENSEMBLE_NETWORKS,
    solver: Any = None,
    score: Score | str | None = None,
    max_parents: int | None = None,
    knowledge: Any = None,
    run: Run = DEFAULT_RUN,
    method: Method = "subsample",
    **unknown: Any,
) -> Ensemble:
    """Learn networks from bootstrap samples, and return their mixture. The probabilities are fitted to all rows.

    The default score has a larger equivalent sample size than that of `learn`. The networks then have more edges and
    smoother probabilities, so they predict better.

    Equal graphs become one network, whose weight is the fraction of samples that gave this graph.

    Args:
        data: a `Dataset`, or any input that `read` accepts.
        networks: number of bootstrap samples.
        solver: solver that learns the structure of each sample; see `learn`.
        score: score to maximise, or its name; `BDeu(10)` by default. A Dirichlet score is also the prior of the tables.
        max_parents: parent limit; None for the default of the solver.
        knowledge: background knowledge; see `learn`.
        run: a `Run` with seed, deadline, progress, executor and journal; see `bootstrap`. With the same seed, score and
            method, the samples are those of `bootstrap`, so both can use the same journal.
        method: how the samples are drawn; see `bootstrap`. With `"rows"`, nearly distinct rows of many states give networks
            that predict badly, and searches take much longer.
        **unknown: other keyword arguments; they raise an error, which names the function that accepts them.

    >>> from dagneal.networks.bundled import load
    >>> truth = load("lung-cancer")
    >>> mixture = ensemble(truth.expected_data(1_000), networks=10)
    >>> mixture.names == truth.names, round(float(mixture.weights.sum()), 6)
    (True, 1.0)
    """
    refuse_unknown(ensemble, unknown)
    data, score = as_dataset(data), BDeu(ENSEMBLE_ESS) if score is None else as_score(score)
    networks = whole_number("networks", networks, least=1)
    results = learn_samples(data, networks, solver, score, max_parents, as_knowledge(knowledge), run, method)
    graphs, first, counts = np.unique(results.values[results.done] > 0, axis=0, return_index=True, return_counts=True)
    order = np.lexsort((first, -counts))  # largest weight first
    parents = [[tuple(np.flatnonzero(column).tolist()) for column in graph.T] for graph in graphs[order]]
    distinct = dict.fromkeys((child, own) for graph in parents for child, own in enumerate(graph))
    named = [(data.names[child], tuple(data.names[p] for p in own)) for child, own in distinct]
    tables = fit_tables(named, data, score if isinstance(score, Dirichlet) else None)
    families = {key: FittedFamily(*each, table) for key, each, table in zip(distinct, named, tables, strict=True)}
    states = dict(zip(data.names, data.states, strict=True))
    mixed = tuple(_network(states, [families[key] for key in enumerate(graph)], data.recipe) for graph in parents)
    return Ensemble(mixed, counts[order] / counts.sum(), int(counts.sum()), networks)


def _network(
    states: Mapping[str, tuple[str, ...]], families: Sequence[FittedFamily], recipe: Recipe | None
) -> BayesianNetwork:
    """Return the network with the given families."""
    by_child = {family.child: family for family in families}
    if len(by_child) != len(families) or by_child.keys() != states.keys():
        raise InputError("a network of the ensemble does not have exactly one family per variable")
    parents = {name: by_child[name].parents for name in states}
    return BayesianNetwork(states, parents, {name: by_child[name].table for name in states}, "learned", recipe)
