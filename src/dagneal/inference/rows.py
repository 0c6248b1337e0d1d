"""Prediction, imputation and log-likelihood of rows. Complete rows and rows with gaps are computed with arrays."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from dagneal.base.errors import InputError, first_few, whole_number
from dagneal.base.kernels import Floats
from dagneal.data.dataset import Dataset, decode_frame
from dagneal.inference.elimination import (
    CELLS,
    UNKNOWN,
    Codes,
    Elimination,
    EliminationOrder,
    Factor,
    IndexedNetwork,
    check_size,
    groups,
)
from dagneal.inference.models import Members, check_variable, find_members
from dagneal.inference.new_data import Unseen, missing_states, read_codes

if TYPE_CHECKING:
    import polars

Method = Literal["joint", "each", "sample"]
_METHODS = ("joint", "each", "sample")


def predict(model: Any, data: Any, target: str, unseen: Unseen = "refuse") -> polars.DataFrame:
    """Predict one variable for each row, from the values of the other variables.

    Args:
        model: a network, an ensemble or a result.
        data: new rows: a file, a frame, an array or a `Dataset`. Values of the target are ignored, and the target may be
            absent. Missing values are unknown: the prediction uses the other values of the row.
        target: variable to predict.
        unseen: `"refuse"` raises an error for values that are not states of the network and for absent columns;
            `"missing"` treats them as unknown.

    Returns:
        A polars frame with one row for each row of the data, in order. The column `target` has the most probable state. The
        column `target=state` has the probability of a state.

    >>> from dagneal.networks.bundled import load
    >>> network = load("lung-cancer")
    >>> rows = network.sample(1000, seed=1).frame()
    >>> predict(network, rows, "Cancer").columns
    ['Cancer', 'Cancer=False', 'Cancer=True']
    """
    import polars

    members = find_members(model)
    at = check_variable(members.first, target)
    codes = read_codes(members.first, data, unseen, optional=(target,))
    probabilities = posterior_of_rows(members, codes, at)
    states = members.first.states[target]
    best = decode_frame([target], [states], probabilities.argmax(axis=1)[None])
    return best.with_columns(
        polars.Series(f"{target}={state}", line) for state, line in zip(states, probabilities.T, strict=True)
    )


def impute(
    model: Any, data: Any, method: Method = "joint", seed: int | None = None, unseen: Unseen = "refuse"
) -> polars.DataFrame:
    """Fill the missing values of each row.

    The result has the states of the network: a number that was cut is given as its interval, also where it was known. The
    state `(missing)` is never filled in; it is treated as unknown like all missing values.

    Args:
        model: a network or a result.
        data: rows: a file, a frame, an array or a `Dataset`.
        method: `"joint"` takes the most probable combination of all missing values of a row, `"each"` the most probable
            state of each missing value, and `"sample"` draws the missing values of a row from their joint distribution.
        seed: seed of `"sample"`; None for a new seed.
        unseen: `"refuse"` raises an error for values that are not states of the network and for absent columns;
            `"missing"` fills them too.

    Returns:
        A polars frame with the variables of the network, and one row for each row of the data, in order.

    >>> import polars
    >>> from dagneal.networks.bundled import load
    >>> rows = polars.DataFrame({"Smoker": ["True", None], "Cancer": ["True", "True"], "Xray": [None, "Positive"]})
    >>> impute(load("lung-cancer"), rows, unseen="missing").row(0)
    ('Low', 'True', 'True', 'Positive', 'True')
    """
    members = find_members(model)
    if method not in _METHODS:
        raise InputError(f"method is {method!r}; give 'joint', 'each' or 'sample'")
    if len(members.networks) > 1:
        raise InputError("impute needs one network, not an ensemble; give a result or one of ensemble.networks")
    network = members.first
    codes = read_codes(network, data, unseen, gaps_unknown=True)
    generator = np.random.default_rng(None if seed is None else whole_number("seed", seed))
    excluded = missing_states(network)
    if method == "each":
        filled = codes.copy()
        for at in np.flatnonzero((codes == UNKNOWN).any(axis=1)).tolist():
            rows = np.flatnonzero(codes[at] == UNKNOWN)
            posterior = posterior_of_rows(members, codes[:, rows], at)
            posterior[:, [excluded[at]] if at in excluded else []] = -1
            filled[at, rows] = posterior.argmax(axis=1)
    else:
        filled = fill(IndexedNetwork(network), codes, generator if method == "sample" else None, excluded)
    return decode_frame(network.names, list(network.states.values()), filled)


def row_log_likelihood(model: Any, data: Any, unseen: Unseen = "refuse") -> Floats:
    """Return the log-likelihood of each row in nats (natural-log units); minus infinity if a row has probability 0.

    Args:
        model: a network, an ensemble or a result.
        data: rows: a file, a frame, an array or a `Dataset` (one value for each of its stored rows).
        unseen: `"refuse"` raises an error for values that are not states of the network and for absent columns;
            `"missing"` treats them as unknown.

    Unknown values are summed out: the result is the log-likelihood of the known values of a row.

    >>> from dagneal.networks.bundled import load
    >>> row_log_likelihood(load("lung-cancer"), load("lung-cancer").expected_data(1000)).round(2).tolist()[:3]
    [-1.04, -1.89, -2.43]
    """
    members = find_members(model)
    codes = read_codes(members.first, data, unseen)
    return log_likelihood_of_members(members, codes)


def log_likelihood_of_members(members: Members, codes: Codes) -> Floats:
    """Return the log-likelihood of the known values of each row under a mixture of networks.

    Args:
        members: networks with their weights.
        codes: values of shape (variables, rows); -1 for unknown values.
    """
    logs = np.array([log_likelihood_of_codes(IndexedNetwork(network), codes) for network in members.networks])
    result: Floats = np.logaddexp.reduce(logs + np.log(members.weights)[:, None], axis=0)
    return result


def log_likelihood_of_codes(indexed: IndexedNetwork, codes: Codes) -> Floats:
    """Return the log-likelihood of the known values of each row.

    Args:
        indexed: network.
        codes: values of shape (variables, rows); -1 for unknown values.
    """
    result: Floats = np.empty(codes.shape[1])
    for unknown, rows in groups(codes == UNKNOWN).items():
        known = set(range(len(codes))) - set(unknown)
        for chunk, factors, plan in _chunks(indexed, codes, unknown, rows, indexed.ancestors(known), unknown):
            result[chunk] = Elimination(factors, plan).log_total()
    return result


def posterior_of_rows(members: Members, codes: Codes, at: int) -> Floats:
    """Return the distribution of a variable given the other known values, for each row, as an array (rows, states).

    Args:
        members: networks with their weights.
        codes: values of shape (variables, rows); -1 for unknown values. Values of the variable itself are ignored.
        at: index of the variable.
    """
    codes = codes.copy()
    codes[at] = UNKNOWN
    arity = len(members.first.states[members.first.names[at]])
    total = np.full((codes.shape[1], arity), -np.inf)
    for network, weight in zip(members.networks, members.weights, strict=True):
        indexed = IndexedNetwork(network)
        joint = _log_joint(indexed, codes, at, only_ratio=len(members.networks) == 1)
        total = np.logaddexp(total, joint + np.log(weight))
    top = total.max(axis=1, keepdims=True)
    impossible = np.flatnonzero(np.isneginf(top[:, 0]))
    if len(impossible):
        which = first_few([f"{row + 1:,}" for row in impossible])
        raise InputError(
            f"the values of row {which} have probability 0 in this network, so nothing can be predicted from them; fit the "
            "network with a prior, or correct the values"
        )
    unscaled = np.exp(total - top)
    result: Floats = unscaled / unscaled.sum(axis=1, keepdims=True)
    return result


def fill(
    indexed: IndexedNetwork,
    codes: Codes,
    generator: np.random.Generator | None = None,
    excluded: Mapping[int, int] | None = None,
) -> Codes:
    """Return the rows with all unknown values filled.

    Args:
        indexed: network.
        codes: values of shape (variables, rows); -1 for unknown values.
        generator: random generator that draws the values; None for the most probable combination.
        excluded: for some variables, a state that no gap gets.
    """
    allowed = {at: (np.arange(indexed.arities[at]) != state).astype(float) for at, state in (excluded or {}).items()}
    filled = codes.copy()
    for unknown, rows in groups(codes == UNKNOWN).items():
        if not unknown:
            continue
        everything = range(len(codes))
        for chunk, factors, plan in _chunks(indexed, codes, unknown, rows, everything, unknown):
            limits = [Factor((at,), allowed[at][None]) for at in unknown if at in allowed]
            elimination = Elimination([*factors, *limits], plan, maximise=generator is None)
            if (bad := np.flatnonzero(np.isneginf(elimination.log_total()))).size:
                row = chunk[bad[0]] + 1
                raise InputError(
                    f"the known values of row {row:,} have probability 0 in this network, so its gaps cannot be filled; fit "
                    "the network with a prior, or correct the values"
                )
            part = filled[:, chunk]
            elimination.go_back(part, generator)
            filled[:, chunk] = part
    return filled


def _log_joint(indexed: IndexedNetwork, codes: Codes, at: int, only_ratio: bool) -> Floats:
    """Return the log-probability of each state of a variable together with the known values of each row.

    With `only_ratio`, factors that are equal for all states may be left out.
    """
    result: Floats = np.empty((codes.shape[1], indexed.arities[at]))
    unknown = codes == UNKNOWN
    if only_ratio:  # a known Markov blanket decides: the row then needs no other values
        blanket = sorted(indexed.blanket(at))
        others = np.ones(len(codes), dtype=bool)
        others[[*blanket, at]] = False
        unknown[np.ix_(others, ~unknown[blanket].any(axis=0))] = False
    for free, rows in groups(unknown).items():
        known = set(range(len(codes))) - set(free)
        if free == (at,) and only_ratio:
            relevant = {each for each, scope in enumerate(indexed.scopes) if at in scope}
        else:
            relevant = indexed.ancestors(known | {at})
        eliminate = tuple(each for each in free if each != at)
        for chunk, factors, plan in _chunks(indexed, codes, free, rows, relevant, eliminate):
            elimination = Elimination(factors, plan)
            table = elimination.rest.table
            with np.errstate(divide="ignore"):
                result[chunk] = np.log(table.reshape(len(table), -1)) + elimination.log_scale[:, None]
    return result


def _chunks(
    indexed: IndexedNetwork,
    codes: Codes,
    unknown: Sequence[int],
    rows: Any,
    relevant: Any,
    eliminate: Sequence[int],
) -> Iterator[tuple[Any, list[Any], EliminationOrder]]:
    """Yield rows with their factors and the order of elimination. Tables of a chunk have a limited size."""
    free, members = set(unknown), set(relevant)
    scopes = [[member for member in indexed.scopes[at] if member in free] for at in members]
    plan = indexed.plan(scopes, eliminate)
    check_size(plan.cells, "the computation for rows with these gaps" if len(free) < len(codes) else "the computation")
    step = max(1, CELLS // max(plan.cells, 1))
    for begin in range(0, len(rows), step):
        chunk = rows[begin : begin + step]
        yield chunk, indexed.condition(codes[:, chunk], free, members), plan


def sample(model: Any, rows: int, seed: int | None = None, given: Mapping[str, Any] | None = None) -> Dataset:
    """Draw independent random rows, given values of some variables. Equal rows are merged.

    Args:
        model: a network, an ensemble or a result.
        rows: number of rows.
        seed: seed of the random generator; None for a new seed.
        given: states by variable that all rows have; see `query`. Soft evidence is not supported.

    >>> from dagneal.networks.bundled import load
    >>> smokers = sample(load("lung-cancer"), 1000, seed=1, given={"Smoker": "True"})
    >>> set(smokers.frame()["Smoker"])
    {'True'}
    """
    from dagneal.inference.evidence import read_evidence

    members = find_members(model)
    number = whole_number("rows", rows, least=1)
    generator = np.random.default_rng(None if seed is None else whole_number("seed", seed))
    evidence = read_evidence(members.first, given)
    if evidence.soft:
        raise InputError(f"the evidence for {next(iter(evidence.soft))!r} is soft; sample needs one state per variable")
    names = members.first.names
    row = np.full((len(names), 1), UNKNOWN, dtype=np.int32)
    for name, code in evidence.hard.items():
        row[names.index(name)] = code
    logs = np.array([log_likelihood_of_codes(IndexedNetwork(network), row)[0] for network in members.networks])
    logs += np.log(members.weights)
    if np.isneginf(logs.max()):
        raise evidence.impossible()
    weights = np.exp(logs - logs.max())
    parts = []
    for network, count in zip(members.networks, generator.multinomial(number, weights / weights.sum()), strict=True):
        if count:
            parts.append(_draw(IndexedNetwork(network), row, int(count), generator))
    return Dataset.from_codes(names, list(members.first.states.values()), np.concatenate(parts, axis=1))


def _draw(indexed: IndexedNetwork, row: Codes, count: int, generator: np.random.Generator) -> Codes:
    """Return `count` rows that are drawn given the known values of one row."""
    unknown = tuple(np.flatnonzero(row[:, 0] == UNKNOWN).tolist())
    codes = np.repeat(row, count, axis=1)
    for _, factors, plan in _chunks(indexed, row, unknown, np.zeros(1, dtype=np.int64), range(len(row)), unknown):
        Elimination(factors, plan).go_back(codes, generator)
    return codes
