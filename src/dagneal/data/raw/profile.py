"""Profiles of raw columns: what the values of each column are, and how they are written."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from dagneal.data.dataset import BOOLEANS
from dagneal.data.raw.notation import (
    DATES,
    EPOCHS,
    MISSING_NUMBERS,
    NUMBERS,
    SYMBOLS,
    TIMES,
    clean_text,
    date_part,
    to_date,
    to_number,
)
from dagneal.data.roles import split_words

if TYPE_CHECKING:
    import polars

    from dagneal.base.kernels import Floats, Ints

FEW = 12  # at most this many distinct numbers stay as they are
_MOSTLY = 0.9  # share of the values that must be numbers or dates; a few other texts are then missing values
_MAX_TEXTS = 5  # largest number of different other texts among numbers
_FIRST = 20  # distinct values that exclude most notations of dates
_SOME = 0.5  # share of these values that must be dates
_TRIED = 2_000  # distinct values that are tried with each notation of dates
_EPOCH_WORDS = "date time timestamp datetime epoch created updated start end at ts"
_CODE_WORDS = "zip zipcode postcode postal plz fips sic naics isic cpc icd code codes phone cusip ssn isbn ean"


@dataclass(frozen=True)
class Profile:
    """What one column holds.

    Attributes:
        name: name of the column.
        kind: `empty`, `numbers`, `dates`, `text` or `other` (nested values).
        notation: how numbers or dates are written.
        rows: number of rows.
        texts: distinct values as text, without spaces around them.
        numbers: for each distinct value, its number or the number of days since 1970; NaN for other texts.
        codes: for each row, the index of its value in `texts`; -1 for a missing value.
        marks: texts that are missing values because the other values are numbers or dates.
        categories: whether the source defines the values as categories.
        boolean: whether all values are booleans.
    """

    name: str
    kind: str
    notation: str
    rows: int
    texts: tuple[str, ...]
    numbers: Floats
    codes: Ints
    marks: tuple[str, ...] = ()
    categories: bool = False
    boolean: bool = False

    @cached_property
    def counts(self) -> Ints:
        """The number of rows with each distinct value."""
        return np.bincount(self.codes[self.codes >= 0], minlength=len(self.texts))

    @cached_property
    def filled(self) -> int:
        """The number of rows with a value."""
        return int((self.codes >= 0).sum())

    @property
    def gaps(self) -> float:
        """The share of the rows without a value."""
        return 1 - self.filled / max(self.rows, 1)

    @cached_property
    def values(self) -> Floats:
        """The number in each row; NaN for a missing value."""
        return (
            np.where(self.codes >= 0, self.numbers[self.codes], np.nan) if len(self.numbers) else np.full(self.rows, np.nan)
        )

    @cached_property
    def distinct(self) -> tuple[Floats, Ints]:
        """The distinct numbers, ascending, and the number of rows with each."""
        known = np.isfinite(self.numbers) & (self.counts > 0)
        numbers, place = np.unique(self.numbers[known], return_inverse=True)
        return numbers, np.bincount(place, self.counts[known], len(numbers)).astype(np.int64)

    @cached_property
    def whole(self) -> bool:
        """Whether all numbers are whole."""
        numbers = self.distinct[0]
        return bool((numbers == np.floor(numbers)).all())


def profile_columns(names: Sequence[str], table: polars.DataFrame, kinds: Mapping[str, polars.DataType]) -> list[Profile]:
    """Return the profile of each column.

    Args:
        names: names of the columns to profile.
        table: rows that decide; its columns have the keys of `kinds` as names.
        kinds: data type of each column, in the order of `names`.
    """
    return [_profile(name, table[place], kind) for name, (place, kind) in zip(names, kinds.items(), strict=True)]


def _profile(name: str, values: polars.Series, kind: polars.DataType) -> Profile:
    """Return the profile of one column."""
    import polars as pl

    rows = len(values)
    if kind.is_nested() or kind in (pl.Object, pl.Binary):
        return Profile(name, "other", "", rows, (), np.empty(0), np.full(rows, -1))
    column = values.rename("value").to_frame()
    text = column.select(clean_text(pl.col("value"), kind).alias("text")).to_series()
    distinct = kind.categories if isinstance(kind, pl.Enum) else text.drop_nulls().unique().sort()
    codes = text.cast(pl.Enum(distinct)).to_physical().cast(pl.Int64).fill_null(-1).to_numpy()
    texts = tuple(distinct.to_list())
    plain = Profile(name, "text" if texts else "empty", "", rows, texts, np.full(len(texts), np.nan), codes)
    if not (codes >= 0).any():
        return _replace(plain, kind="empty")
    if kind in (pl.Enum, pl.Categorical):
        return _replace(plain, categories=True)
    if kind == pl.Boolean or all(text.lower() in BOOLEANS for text in texts):
        return _replace(plain, boolean=True)
    if kind in (pl.Date, pl.Datetime):
        return _with_values(plain, "dates", "%Y-%m-%d", _days(distinct, pl.String(), "%Y-%m-%d"))
    if found := _find_epoch(plain, distinct) or _find_date(plain, distinct):
        return found
    return _find_number(plain, distinct) or _find_time(plain, distinct) or plain


def _replace(profile: Profile, **changes: object) -> Profile:
    """Return a profile with other attributes. Cached values are not copied."""
    from dataclasses import replace

    return replace(profile, **changes)  # type: ignore[arg-type]


def _with_values(profile: Profile, kind: str, notation: str, numbers: Floats) -> Profile:
    """Return the profile of a column of numbers or dates. Other texts become missing values."""
    other = ~np.isfinite(numbers)
    marks = tuple(text for text, missing in zip(profile.texts, other, strict=True) if missing)
    codes = np.where((profile.codes >= 0) & other[profile.codes], -1, profile.codes)
    return _replace(profile, kind=kind, notation=notation, numbers=numbers, codes=codes, marks=marks)


def _days(distinct: polars.Series, kind: polars.DataType, notation: str) -> Floats:
    """Return the number of days since 1970 of each date; NaN for other texts."""
    import polars as pl

    date = distinct.rename("value").to_frame().select(to_date(pl.col("value"), kind, notation).alias("date")).to_series()
    return date.to_physical().cast(pl.Float64).fill_null(float("nan")).to_numpy()


def _convert(distinct: polars.Series, notation: str) -> Floats:
    """Return the number of each text; NaN for other texts."""
    import polars as pl

    frame = distinct.rename("value").to_frame()
    number = frame.select(to_number(pl.col("value"), pl.String(), notation).alias("number")).to_series()
    return number.fill_null(float("nan")).to_numpy()


def _find_number(profile: Profile, distinct: polars.Series) -> Profile | None:
    """Return the profile of a column of numbers; return None if the texts are no numbers."""
    if _looks_coded(profile):
        return None
    notations = [*NUMBERS, *(name + SYMBOLS for name in ("plain", "thousands comma", "decimal comma", "thousands point"))]
    for notation in notations:
        numbers = _convert(distinct, notation)
        if _fits(profile, numbers):
            return _with_values(profile, "numbers", notation, numbers)
    return None


def _find_time(profile: Profile, distinct: polars.Series) -> Profile | None:
    """Return the profile of a column of many times or durations; return None for other texts."""
    if len(distinct) <= FEW or ":" not in profile.texts[-1] + profile.texts[0]:
        return None
    numbers = _convert(distinct, TIMES)
    many = len(np.unique(numbers[np.isfinite(numbers)])) > FEW
    return _with_values(profile, "numbers", TIMES, numbers) if many and _fits(profile, numbers) else None


def _fits(profile: Profile, numbers: Floats) -> bool:
    """Return whether texts are numbers or dates, except for a few texts that mean missing values."""
    known = np.isfinite(numbers)
    if known.all():
        return True
    other = [text for text, number in zip(profile.texts, known, strict=True) if not number]
    if not known.any():
        return False
    if set(other) <= MISSING_NUMBERS:
        return bool(len(np.unique(numbers[known])) > 2 or set(other) <= {"-", "--", ".", ".."})
    many = len(np.unique(numbers[known])) > FEW
    return many and len(other) <= _MAX_TEXTS and profile.counts[known].sum() >= _MOSTLY * profile.filled


def _find_date(profile: Profile, distinct: polars.Series) -> Profile | None:
    """Return the profile of a column of dates; return None if the texts are no dates."""
    sample = distinct.gather_every(max(1, len(distinct) // _TRIED))
    first = profile.texts[0]
    if not re.search(r"\d", "".join(profile.texts[:5])) or (len(profile.texts) == 1 and len(first) < 6):
        return None
    few = distinct.gather_every(max(1, len(distinct) // _FIRST))
    compact = "date" in "".join(split_words(profile.name))  # 20200131 is a date only if the name says so
    if not compact and np.isfinite(_convert(few, "plain")).mean() > 1 - _MOSTLY:
        return None
    for notation in DATES:
        if (notation == "%Y%m%d" and not compact) or np.isfinite(_days(few, few.dtype, notation)).mean() < _SOME:
            continue
        tried = np.isfinite(_days(sample, sample.dtype, notation))
        if tried.mean() < _MOSTLY:
            continue
        days = _days(distinct, distinct.dtype, notation)
        if _fits(profile, days):
            return _with_values(profile, "dates", notation, days)
    return None


def _find_epoch(profile: Profile, distinct: polars.Series) -> Profile | None:
    """Return the profile of a column of times in seconds or milliseconds since 1970, if its name suggests times."""
    if not set(split_words(profile.name)) & set(_EPOCH_WORDS.split()):
        return None
    numbers = _convert(distinct, "plain")
    for notation, scale in zip(EPOCHS, (1, 1_000), strict=True):
        if np.isfinite(numbers).all() and (np.abs(numbers / scale - 1.3e9) < 1e9).all() and (numbers > 3e8 * scale).all():
            return _with_values(profile, "dates", notation, _days(distinct, distinct.dtype, notation))
    return None


def _looks_coded(profile: Profile) -> bool:
    """Return whether texts are codes of digits, such as postcodes: they have leading zeros, or the name says so."""
    digits = [text for text in profile.texts if text.isdecimal()]
    if len(digits) < len(profile.texts) or len(digits) <= 2:
        return False
    padded = any(text.startswith("0") and len(text) > 1 for text in digits) and len(set(map(len, digits))) == 1
    named = set(split_words(profile.name)) & set(_CODE_WORDS.split()) and len(digits) > FEW and max(map(len, digits)) >= 3
    return padded or bool(named)


def part_values(profile: Profile, part: str) -> Floats:
    """Return the year, the month or the weekday in each row of a column of dates; NaN for a missing value.

    Args:
        profile: profile of a column of dates.
        part: `year`, `month` or `weekday`.
    """
    import polars as pl

    known = np.isfinite(profile.numbers)
    days = pl.DataFrame({"day": np.where(known, profile.numbers, 0).astype(np.int32)})
    parts = days.select(date_part(pl.col("day").cast(pl.Date), part).alias("part")).to_series().to_numpy()
    parts = np.where(known, parts, np.nan)
    return np.where(profile.codes >= 0, parts[profile.codes], np.nan)
