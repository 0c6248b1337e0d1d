"""Detection of columns that are not variables: identifiers, row numbers and row counts."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from dagneal.base.kernels import Floats

MANY_NUMBERS = 50  # a column with more distinct numbers may be a measurement or an identifier
_FEW = 12  # at most this many distinct numbers are always treated as states
_COLLISIONS = 7  # if this many pairs of equal values are expected, there is no such pair with probability e^-7
_LEAST_DIGITS = 4  # identifiers such as 10023 have at least this many digits
_ROUNDED = 5  # if all numbers are multiples of 5, they are rounded measurements

_COUNTS = (
    "freq freqs frequency frequencies n nn nobs obs count counts cnt counted rowcount weight weights wt wts wgt w num "
    "number total totals size occurrences multiplicity anzahl"
)
_ID_WORDS = "id ids identifier uid uuid guid"
_ID_NAMES = "pid key idx index rowid rowname rownames rownum rownumber"
_NUMBER_WORDS = "no nr num number code key idx index"
_THINGS = (
    "patient subject case person customer client user employee passenger student participant respondent record order "
    "invoice transaction account member sample device item product store household family hospital visit encounter "
    "admission study survey row loan policy claim serial ticket registration social"
)
_THING = re.compile(f"({_THINGS.replace(' ', '|')})(s?({_ID_WORDS.replace(' ', '|')}|{_NUMBER_WORDS.replace(' ', '|')}))?")
_MEASURED = (
    "income incomes salary wage wages pay price prices cost costs amount balance revenue sales turnover expense expenses "
    "budget loss profit population area distance length height width depth volume mass duration seconds time year years "
    "date weight weights birthweight value values charge charges fee fees dose calories kcal steps platelets cells wbc rbc "
    "score level pressure rate speed age days hours minutes g mg kg ml cm mm km usd eur gbp"
)
_ROW_NUMBERS = re.compile(r"|Unnamed: \d+(\.\d+)*|__index_level_\d+__|\.\.\.\d+")


def split_words(name: str) -> list[str]:
    """Split a column name into lower-case words.

    Args:
        name: column name.

    >>> split_words("PatientID"), split_words("row_no."), split_words("COUNT(*)")
    (['patient', 'id'], ['row', 'no'], ['count'])
    """
    spaced = re.sub(r"(?<=[a-z])(?=[A-Z])", " ", name)
    return re.findall(r"[^\W_]+", spaced.lower())


def may_be_counts(name: str) -> bool:
    """Return whether a column name suggests row counts (the number of times each row occurs).

    Args:
        name: column name.

    >>> may_be_counts("Freq"), may_be_counts("COUNT(*)"), may_be_counts("n_obs"), may_be_counts("country")
    (True, True, True, False)
    """
    return "".join(split_words(name)) in _COUNTS.split()


def may_be_row_numbers(name: str) -> bool:
    """Return whether a column name is empty, or is a name that programs give to unnamed columns.

    Args:
        name: column name.

    >>> [may_be_row_numbers(name) for name in ("", "Unnamed: 0", "__index_level_0__", "...1", "age")]
    [True, True, True, True, False]
    """
    return _ROW_NUMBERS.fullmatch(name) is not None


def is_identifier(name: str, values: Floats, rows: int, distinct: int | None = None, by_digits: bool = True) -> bool:
    """Return whether the numbers of a column look like identifiers of rows rather than a measurement.

    A column of identifiers has more than 12 distinct whole numbers. The other conditions depend on its name:

    - The name suggests identifiers, such as `patient_id`: all rows have different numbers, or there are more than 50
      distinct numbers and each occurs in fewer than 20 rows on average.
    - The name suggests a measurement, such as `income`: the numbers are never treated as identifiers.
    - Any other name: there are more than 50 numbers, and all rows have different numbers. In addition, one of
      two conditions holds. Either the numbers lie so close together that a measurement would have some equal values; or
      nearly all numbers have the same number of digits (at least four), and not all of them are multiples of 5.

    Args:
        name: column name.
        values: distinct numbers of the column.
        rows: number of rows with a value.
        distinct: number of distinct values; the length of `values` by default. It may be larger than this length, because
            large whole numbers may become equal in floating point.
        by_digits: False to ignore the number of digits.

    >>> ids = np.arange(10_023.0, 90_000.0, 521)
    >>> is_identifier("x", ids, len(ids)), is_identifier("income", ids, len(ids)), is_identifier("x", ids, 5 * len(ids))
    (True, False, False)
    >>> is_identifier("patient_id", ids, len(ids) + 20)
    True
    """
    distinct = len(values) if distinct is None else distinct
    if distinct <= _FEW or not (values == np.floor(values)).all():
        return False
    words = split_words(name)
    if names_identifier(words):
        return distinct >= rows if distinct <= MANY_NUMBERS else 20 * distinct > rows
    if distinct < rows or distinct <= MANY_NUMBERS:
        return False
    if not set(words).isdisjoint(_MEASURED.split()):
        return False
    if values.max() - values.min() == rows - 1:
        return True
    exact = float(np.abs(values).max()) < 2.0**53
    step = int(np.gcd.reduce(np.diff(np.sort(values)).astype(np.int64))) if exact else 1
    span = float(values.max() - values.min()) / max(step, 1) + 1
    if rows * rows >= 2 * _COLLISIONS * span:
        return True
    if not by_digits:
        return False
    digits = np.floor(np.log10(np.maximum(np.abs(values), 1.0)))
    usual = np.bincount(digits.astype(np.int64)).max()
    rounded = exact and bool((values % _ROUNDED == 0).all())
    return not rounded and bool(usual >= 0.9 * len(values)) and float(np.median(digits)) >= _LEAST_DIGITS - 1


def names_identifier(words: list[str]) -> bool:
    """Return whether a column name suggests identifiers.

    Args:
        words: words of the name; see `split_words`.
    """
    if not words:
        return False
    if not {words[0], words[-1]}.isdisjoint(_ID_WORDS.split()) or "".join(words) in _ID_NAMES.split():
        return True
    thing = _THING.fullmatch("".join(words))
    return thing is not None or (words[-1] in _NUMBER_WORDS.split() and _THING.fullmatch(words[0]) is not None)
