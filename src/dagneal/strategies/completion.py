"""Completed data for the structure step of structural EM: rows with unknown values become several weighted rows."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from math import log, prod

import networkx as nx
import numpy as np

from dagneal.base.kernels import Floats, Ints
from dagneal.data.dataset import MISSING_STATE, Dataset
from dagneal.inference.elimination import UNKNOWN, Codes, IndexedNetwork
from dagneal.inference.expectation import IncompleteRows, count_states, split_rows
from dagneal.networks.network import BayesianNetwork
from dagneal.scoring.scores import AIC, BIC, InformationCriterion

UNIT = 256  # weight of a row in completed data, which has whole weights
_MOST_ROWS = 1 << 18  # rows of completed data, about
_DRAWS = 64, 8  # completions of a row: at most, at least; powers of 2, which divide UNIT
_SMOOTHING = 1.0  # rows that are spread over each table, so that no probability is 0 at the start of EM


@dataclass(frozen=True)
class ScaledCriterion(InformationCriterion):
    """A criterion for data whose rows weigh `UNIT`. Sums of N ln N with N times the rows are the same multiple of the sums.

    Args:
        inner: criterion for rows that weigh 1.
        share: share of the penalty that counts.
    """

    inner: BIC | AIC
    share: float = 1.0

    @property
    def name(self) -> str:
        """The name of the criterion."""
        return f"{UNIT} {self.inner.name}"

    def penalties(self, arity: int, parent_cells: Floats, rows: int) -> Floats:
        """Return the penalties for a multiple of the log-likelihood; see `Score.penalties`."""
        return UNIT * self.share * self.inner.penalties(arity, parent_cells, rows // UNIT)


def known_states(data: Dataset) -> dict[str, tuple[str, ...]]:
    """Return the states of each column, without the state that stands for unknown values.

    Args:
        data: data with unknown values.
    """
    return {
        name: tuple(state for state in states if state != MISSING_STATE)
        for name, states in zip(data.names, data.states, strict=True)
    }


def incomplete_rows(data: Dataset) -> IncompleteRows:
    """Return the rows of data with the code -1 for unknown values.

    Args:
        data: data with unknown values.
    """
    codes: Codes = np.array(data.codes, dtype=np.int32)
    for line, states in zip(codes, data.states, strict=True):
        if MISSING_STATE in states:
            at = states.index(MISSING_STATE)
            line[:] = np.where(line == at, UNKNOWN, line - (line > at))
    return IncompleteRows(codes, data.weights, [len(states) for states in known_states(data).values()])


def complete(network: BayesianNetwork, data: IncompleteRows, seed: int) -> tuple[Dataset, bool]:
    """Return data without gaps, in which each row weighs `UNIT`, and whether the weights are exact apart from rounding.

    A row with few completions becomes all its completions, weighted by their posterior probability. Another row becomes
    draws from the posterior distribution of its unknown values.

    Args:
        network: current network.
        data: rows with unknown values.
        seed: seed of the draws.
    """
    indexed = IndexedNetwork(network)
    unknown = data.codes == UNKNOWN
    logs = np.log(data.arities) @ unknown
    draws = _DRAWS[0]
    while draws > _DRAWS[1] and draws * len(logs) > _MOST_ROWS:
        draws //= 2
    few = logs <= log(draws) + 1e-9
    codes, weights = [data.complete], [data.complete_weights * UNIT]
    if few.any():
        parts = _enumerate(indexed, data.codes[:, few], data.weights[few])
        codes.append(parts[0])
        weights.append(parts[1])
    if not few.all():
        drawn = _draw(indexed, data.codes[:, ~few], draws, np.random.default_rng(seed))
        codes.append(drawn)
        weights.append(np.tile(data.weights[~few] * (UNIT // draws), draws))
    states = list(network.states.values())
    dataset = Dataset.from_codes(network.names, states, np.concatenate(codes, axis=1), np.concatenate(weights))
    return dataset, bool(few.all())


def _enumerate(indexed: IndexedNetwork, codes: Codes, weights: Ints) -> tuple[Codes, Ints]:
    """Return all completions of rows, and their whole weights, which add up to `UNIT` for each row."""
    unknown = codes == UNKNOWN
    arities = np.array(indexed.arities)
    counts = np.where(unknown, arities[:, None], 1).prod(axis=0)
    row = np.repeat(np.arange(codes.shape[1]), counts)
    starts = np.concatenate([[0], np.cumsum(counts)])
    number = np.arange(len(row)) - starts[row]
    full: Codes = codes[:, row]
    for line, arity in zip(full, indexed.arities, strict=True):
        gaps = line == UNKNOWN
        number[gaps], line[gaps] = np.divmod(number[gaps], arity)
    logs = np.zeros(len(row))
    with np.errstate(divide="ignore"):
        for scope, table in zip(indexed.scopes, indexed.tables, strict=True):
            logs += np.log(table)[tuple(full[member] for member in scope)]
    shares = np.exp(logs - np.maximum.reduceat(logs, starts[:-1])[row])
    cumulated = np.cumsum(shares / np.add.reduceat(shares, starts[:-1])[row]) - row  # from 0 to 1 within each row
    cumulated[starts[1:] - 1] = 1.0
    ends = np.rint(UNIT * cumulated).astype(np.int64)
    before = np.concatenate([[0], ends[:-1]])
    before[starts[:-1]] = 0
    return full, np.maximum(ends - before, 0) * weights[row]


def _draw(indexed: IndexedNetwork, codes: Codes, draws: int, generator: np.random.Generator) -> Codes:
    """Return `draws` copies of the rows, one after the other, with drawn values in place of unknown values."""
    copies = np.tile(codes, draws)
    for lines, elimination in split_rows(indexed, codes):
        for draw in range(draws):
            part = codes[:, lines].copy()
            elimination.go_back(part, generator)
            begin = draw * codes.shape[1]
            copies[:, begin + lines.start : begin + lines.stop] = part
    return copies


def first_model(states: Mapping[str, Sequence[str]], data: IncompleteRows) -> BayesianNetwork:
    """Return the forest that EM starts with. Each pair of variables is counted in the rows that know both values.

    The forest maximises the sum of the mutual information of its edges, minus the penalty of BIC.

    Args:
        states: states of each variable.
        data: rows with unknown values.
    """
    codes = np.concatenate([data.complete, data.codes], axis=1)
    weights = np.concatenate([data.complete_weights, data.weights])
    known = codes != UNKNOWN
    forest = nx.Graph()
    forest.add_nodes_from(range(len(codes)))
    for first, second in combinations(range(len(codes)), 2):
        rows = known[first] & known[second]
        counts = count_states(codes[:, rows], (first, second), data.arities, weights[rows])
        total = counts.sum()
        if not total:
            continue
        share = counts / total
        independent = np.outer(share.sum(axis=1), share.sum(axis=0))
        present = share > 0
        information = float((share[present] * np.log(share[present] / independent[present])).sum())
        gain = total * information - 0.5 * log(total) * (counts.shape[0] - 1) * (counts.shape[1] - 1)
        if gain > 0:
            forest.add_edge(first, second, gain=gain)
    tree = nx.maximum_spanning_tree(forest, weight="gain")
    parents: dict[int, tuple[int, ...]] = {}
    for part in nx.connected_components(tree):
        root = min(part)
        parents |= {root: (), **{child: (parent,) for parent, child in nx.bfs_edges(tree, root)}}
    families = [(*parents[at], at) for at in range(len(codes))]
    tables = []
    for family in families:
        rows = known[list(family)].all(axis=0)
        tables.append(count_states(codes[:, rows], family, data.arities, weights[rows]))
    names = list(states)
    named = {names[at]: tuple(names[parent] for parent in parents[at]) for at in range(len(names))}
    return network_from_counts(states, named, tables, smoothing=_SMOOTHING)


def network_from_counts(
    states: Mapping[str, Sequence[str]],
    parents: Mapping[str, Sequence[str]],
    counts: Sequence[Floats],
    smoothing: float = 0.0,
) -> BayesianNetwork:
    """Return the network with the most likely probabilities for given counts; uniform where the counts are 0.

    Args:
        states: states of each variable.
        parents: parents of each variable.
        counts: counts of each family, with one axis per parent and a last axis for the variable.
        smoothing: number of rows that are spread over each table.
    """
    tables = {}
    for name, table in zip(states, counts, strict=True):
        smooth = table + smoothing / prod(table.shape)
        total = smooth.sum(axis=-1, keepdims=True)
        tables[name] = np.where(total > 0, smooth / np.where(total > 0, total, 1.0), 1.0 / table.shape[-1])
    own = {name: tuple(parents[name]) for name in states}
    return BayesianNetwork({name: tuple(labels) for name, labels in states.items()}, own, tables, "learned")
