"""Expected counts of families in rows with unknown values: the E-step of the EM algorithm.

Rows with different gaps are eliminated together: a variable that is unknown in one row of a chunk becomes an axis of the
tables, and rows that know it have a factor that is 1 for its value and 0 otherwise. A pass back over the steps of the
elimination turns the table of each step into a posterior distribution for each row. Each family lies in one of these tables.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from math import prod

import numpy as np

from dagneal.base.kernels import Floats, Ints
from dagneal.inference.elimination import UNKNOWN, Codes, Elimination, Factor, IndexedNetwork, check_size
from dagneal.networks.network import BayesianNetwork

_CELLS = 1 << 22  # numbers in all tables of a chunk of rows: 32 MB


class IncompleteRows:
    """Rows with unknown values, in the form that the EM algorithm needs.

    Args:
        codes: values of shape (variables, rows); -1 for unknown values.
        weights: number of times each row counts.
        arities: number of states of each variable.
    """

    def __init__(self, codes: Codes, weights: Ints, arities: Sequence[int]) -> None:
        unknown = codes == UNKNOWN
        gaps = unknown.any(axis=0)
        order = np.lexsort(unknown[:, gaps])  # rows with similar gaps share a chunk
        self.arities = list(arities)
        self.complete: Codes = np.ascontiguousarray(codes[:, ~gaps])
        self.complete_weights = weights[~gaps]
        self.codes: Codes = np.ascontiguousarray(codes[:, gaps][:, order])
        self.weights = weights[gaps][order]
        self.rows = int(weights.sum())
        self.rows_with_gaps = int(self.weights.sum())
        self.missing = int(((self.codes == UNKNOWN) * self.weights).sum())

    def count_complete(self, families: Sequence[Sequence[int]]) -> list[Floats]:
        """Return the counts of families in the rows without unknown values.

        Args:
            families: variables of each family.
        """
        return [count_states(self.complete, family, self.arities, self.complete_weights) for family in families]


def count_states(codes: Codes, family: Sequence[int], arities: Sequence[int], weights: Ints | Floats) -> Floats:
    """Return the total weight of the rows with each combination of states, with one axis per variable.

    Args:
        codes: values of shape (variables, rows), all known.
        family: variables to count.
        arities: number of states of each variable.
        weights: weight of each row.
    """
    shape = tuple(arities[member] for member in family)
    counts = np.bincount(_keys(codes, family, arities), weights, prod(shape))
    result: Floats = counts.reshape(shape).astype(np.float64)  # without rows, `bincount` returns integers
    return result


def _keys(codes: Codes, family: Sequence[int], arities: Sequence[int]) -> Ints:
    """Return one number for the states of a family in each row: the position in a table of its counts."""
    keys = np.zeros(codes.shape[1], dtype=np.int64)
    for member in family:
        keys = keys * arities[member] + codes[member]
    return keys


def expect(network: BayesianNetwork, data: IncompleteRows, complete: Sequence[Floats]) -> tuple[list[Floats], float]:
    """Return the expected counts of each family of a network, and the log-likelihood of the known values, in nats.

    An error states the reason if a table of the elimination is too large.

    Args:
        network: current network, which gives the posterior distribution of the unknown values.
        data: rows.
        complete: counts of the families in the rows without unknown values; see `IncompleteRows.count_complete`.
    """
    indexed = IndexedNetwork(network)
    counts = [table.copy() for table in complete]
    total = 0.0
    for known, table in zip(complete, indexed.tables, strict=True):
        present = known > 0
        total += float((known[present] * np.log(table[present])).sum())
    for lines, elimination in split_rows(indexed, data.codes):
        codes, weights = data.codes[:, lines], data.weights[lines].astype(np.float64)
        total += float(weights @ np.broadcast_to(elimination.log_total(), len(weights)))
        beliefs = calibrate(elimination)
        place = {at: step for step, (at, _) in enumerate(elimination.steps)}
        for table, scope in zip(counts, indexed.scopes, strict=True):
            free = [member for member in scope if member in place]
            if not free:
                table += count_states(codes, scope, data.arities, weights)
                continue
            belief = _marginal(beliefs[min(free, key=place.__getitem__)], free)
            _add(table, codes, scope, free, belief, weights, data.arities)
    return counts, total


def split_rows(indexed: IndexedNetwork, codes: Codes) -> Iterator[tuple[slice, Elimination]]:
    """Yield ranges of rows with the elimination of all variables that are unknown in one of their rows.

    Args:
        indexed: network.
        codes: values of shape (variables, rows); -1 for unknown values.
    """
    begin, rows = 0, codes.shape[1]
    unknown = codes == UNKNOWN
    while begin < rows:
        step = rows - begin
        while True:
            free = set(np.flatnonzero(unknown[:, begin : begin + step].any(axis=1)).tolist())
            scopes = [[member for member in scope if member in free] for scope in indexed.scopes]
            plan = indexed.plan(scopes, free)
            most = max(1, _CELLS // (plan.cells * len(free)))
            if step <= most:
                break
            step = max(1, min(step // 2, most))  # fewer rows have fewer unknown variables
        check_size(plan.cells, "missing='em'")
        chunk = codes[:, begin : begin + step]
        factors = indexed.condition(chunk, free, range(len(codes)))
        for member in sorted(free):
            known = chunk[member] != UNKNOWN
            if known.any():
                states = np.arange(indexed.arities[member])
                factors.append(Factor((member,), np.where(known[:, None], chunk[member][:, None] == states, 1.0)))
        yield slice(begin, begin + step), Elimination(factors, plan)
        begin += step


def calibrate(elimination: Elimination) -> dict[int, Factor]:
    """Return the posterior distribution over the scope of each step of an elimination, by eliminated variable.

    Args:
        elimination: elimination of all variables by summation.
    """
    beliefs: dict[int, Factor] = {}
    place = {at: step for step, (at, _) in enumerate(elimination.steps)}
    for at, (scope, table) in reversed(elimination.steps):
        message = table.sum(axis=-1, keepdims=True)
        belief = table / np.where(message > 0, message, 1.0)
        if rest := scope[:-1]:  # the message went to the step of the first of these variables
            belief = belief * _marginal(beliefs[min(rest, key=place.__getitem__)], rest)[..., None]
        beliefs[at] = Factor(scope, belief)
    return beliefs


def _marginal(belief: Factor, members: Sequence[int]) -> Floats:
    """Return the distribution of some variables of a table, with their axes in the given order."""
    scope, table = belief
    drop = tuple(1 + axis for axis, member in enumerate(scope) if member not in members)
    kept = [member for member in scope if member in members]
    result: Floats = np.transpose(table.sum(axis=drop) if drop else table, [0, *(1 + kept.index(at) for at in members)])
    return result


def _add(
    counts: Floats,
    codes: Codes,
    scope: Sequence[int],
    free: Sequence[int],
    belief: Floats,
    weights: Floats,
    arities: Sequence[int],
) -> None:
    """Add the expected counts of a family to `counts`. `belief` has the distribution of its free variables in each row."""
    known = [member for member in scope if member not in free]
    flat = np.broadcast_to(belief.reshape(len(belief), -1), (codes.shape[1], belief[0].size))
    shape = [arities[member] for member in (*known, *free)]
    keys = _keys(codes, known, arities)
    cells = prod(arities[member] for member in known)
    added = np.stack([np.bincount(keys, weights * column, cells) for column in flat.T], axis=1).reshape(shape)
    order = [*known, *free]
    counts += np.transpose(added, [order.index(member) for member in scope])
