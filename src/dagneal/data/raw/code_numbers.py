"""Whole numbers that are codes of categories, such as 1 to 20 for provinces, rather than ordered numbers.

A column name can say so. Otherwise the numbers are codes if other columns depend on them in a way that ignores their order:

- The numbers as categories describe their partners better than any 2 to 5 intervals do. The measure is the log-likelihood of
  up to three partners, minus the penalty of BIC and the logarithm of the number of possible cuts.
- Neighbouring numbers are no more alike than numbers in a random order. The measure is the log-likelihood that is lost if
  neighbours become one state. Of 99 random orders, at least 5 lose as little as the given order.

Counts of things, such as the number of children, are never recognised as codes by this test: their frequencies rise to a
peak and then fall to less than a tenth.
"""

from __future__ import annotations

from math import comb, log
from typing import TYPE_CHECKING

import numpy as np

from dagneal.data.raw.cutting import MOST_STATES
from dagneal.data.roles import split_words

if TYPE_CHECKING:
    from collections.abc import Sequence

    from dagneal.base.kernels import Floats, Ints

MOST_CODES = 60  # a column with more different numbers is never treated as codes, unless they have leading zeros
ROWS_PER_CODE = 10
_ORDERS, _AS_GOOD = 99, 5  # random orders; number of them that must lose as little as the given order
_PARTNERS = 3
_PEAK, _UNEVEN = (
    10,
    0.01,
)  # a count has a peak of this height, and at most this share of its rows deviates from a single peak
_LAST_WORDS = "id ids code codes"
_WORDS = (
    "province region county district municipality canton prefecture state country nation town city zone department "
    "occupation occ industry sector branch naics sic isic nace icd brand manufacturer diagnosis ethnicity religion language"
)


def is_code_name(name: str) -> bool:
    """Return whether a column name suggests codes of categories.

    Args:
        name: column name.

    >>> [is_code_name(name) for name in ("province", "store_id", "ICD code", "age", "income")]
    [True, True, True, False, False]
    """
    words = split_words(name)
    return bool(words) and (words[-1] in _LAST_WORDS.split() or not set(words).isdisjoint(_WORDS.split()))


def is_count(rows: Ints) -> bool:
    """Return whether numbers may be counts of things: their frequencies have one high peak.

    Args:
        rows: number of rows with each number, in the order of the numbers.

    >>> is_count(np.array([30, 50, 20, 8, 3])), is_count(np.array([30, 5, 20, 8, 40]))
    (True, False)
    """
    peak = int(np.argmax(rows))
    steps = np.diff(rows)
    against = np.maximum(-steps[:peak], 0).sum() + np.maximum(steps[peak:], 0).sum()
    return bool(rows[peak] > _PEAK * rows.min() and against <= _UNEVEN * rows.sum())


def ignores_order(codes: Ints, groups: Sequence[Ints]) -> bool:
    """Return whether other columns depend on numbers in a way that ignores the order of the numbers.

    Args:
        codes: for each row, the rank of its number among the distinct numbers; -1 for a missing value.
        groups: states of the other columns; -1 for a missing value.
    """
    tables: list[tuple[float, Floats]] = []
    for group in groups:
        known = (codes >= 0) & (group >= 0)
        shape = int(codes.max()) + 1, int(group.max(initial=0)) + 1
        counts = np.bincount(codes[known] * shape[1] + group[known], minlength=shape[0] * shape[1]).reshape(shape)
        table = counts[:, counts.sum(axis=0) > 0].astype(np.float64)
        gain = _value(table).sum() - float(_value(table.sum(axis=0)))
        gain -= 0.5 * log(max(table.sum(), 2)) * (len(table) - 1) * (table.shape[1] - 1)
        if gain > 0:
            tables.append((gain, table))
    tables = sorted(tables, key=lambda pair: -pair[0])[:_PARTNERS]
    if not tables:
        return False
    partners = [table for _, table in tables]
    if _interval_gain(partners) >= sum(gain for gain, _ in tables):
        return False
    generator = np.random.default_rng(0)
    given = _loss(partners, np.arange(len(partners[0])))
    others = [_loss(partners, generator.permutation(len(partners[0]))) for _ in range(_ORDERS)]
    return sum(other <= given for other in others) >= _AS_GOOD


def _value(counts: Floats) -> Floats:
    """Return the log-likelihood of a partner in states with these counts; the last axis holds the states of the partner."""
    total = counts.sum(axis=-1)
    terms = np.where(counts > 0, counts * np.log(np.maximum(counts, 1)), 0.0).sum(axis=-1)
    return np.asarray(terms - np.where(total > 0, total * np.log(np.maximum(total, 1)), 0.0))


def _loss(partners: Sequence[Floats], order: Ints) -> float:
    """Return the log-likelihood that is lost if each pair of neighbours becomes one state, added over all pairs."""
    loss = 0.0
    for table in partners:
        ordered = table[order]
        alone = _value(ordered)
        loss += float((alone[:-1] + alone[1:] - _value(ordered[:-1] + ordered[1:])).sum())
    return loss


def _interval_gain(partners: Sequence[Floats]) -> float:
    """Return the gain of BIC by the best 2 to 5 intervals, minus the logarithm of the number of possible cuts."""
    size = len(partners[0])
    value, single, penalty = np.zeros((size, size)), 0.0, 0.0  # value of a state from number i to number j
    for table in partners:
        sums = np.concatenate([np.zeros((1, table.shape[1])), np.cumsum(table, axis=0)])
        value += _value(np.maximum(sums[None, 1:] - sums[:-1, None], 0))
        single += float(_value(table.sum(axis=0)))
        penalty += 0.5 * log(max(table.sum(), 2)) * (table.shape[1] - 1)
    value[np.tril_indices(size, -1)] = -np.inf
    best, gain = value[0], -np.inf
    for states in range(2, MOST_STATES + 1):
        best = np.concatenate([[-np.inf], (best[:-1, None] + value[1:, 1:]).max(axis=0)])
        gain = max(gain, float(best[-1]) - single - penalty * (states - 1) - log(comb(size - 1, states - 1)))
    return gain
