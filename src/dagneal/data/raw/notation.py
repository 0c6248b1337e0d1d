"""How the values of a column are written: missing values, numbers and dates, as polars expressions.

The same expressions read the values when preparation decides, and when a recipe is applied.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from dagneal.data.dataset import SPACES
from dagneal.data.missing import MISSING_MARKS

if TYPE_CHECKING:
    import polars

# Texts that always mean a missing value; the first are also recognised without preparation.
ALWAYS_MISSING = MISSING_MARKS | {"n/a", "#N/A", "<NA>", "#NULL!", "#VALUE!", "#DIV/0!", "NAN", "Null", "NaT"}
# Texts that mean a missing value among numbers and dates. In a text column, they can be states.
MISSING_NUMBERS = frozenset(
    ["-", "--", ".", "..", "*", "None", "none", "nil", "missing", "unknown", "Unknown", "inf", "-inf"]
)

_SYMBOLS = r"(?i)^(usd|eur|gbp|chf)\s*|\s*(usd|eur|gbp|chf|%)$|^[<>≤≥~=]+\s*|\+$|[$€£¥'\x{a0}\x{202f}]"
_SIGN, _END = r"^[-+]?", r"(?:[eE][-+]?\d+)?$"
# For each notation of numbers: pattern of a number. `plain` is tried first.
NUMBERS = {
    "plain": _SIGN + r"(\d+\.?\d*|\.\d+)" + _END,
    "decimal comma": _SIGN + r"(\d+,?\d*|,\d+)" + _END,
    "thousands comma": _SIGN + r"(\d{1,3}(,\d{3})+|\d+)(\.\d*)?$",
    "thousands point": _SIGN + r"(\d{1,3}(\.\d{3})+|\d+)(,\d*)?$",
    "thousands space": _SIGN + r"(\d{1,3}( \d{3})+|\d+)([.,]\d*)?$",
}
TIMES = "times"  # times of day and durations, such as 14:35, 2:35 PM, 14:35:20 or 3 days 04:05:06
_CLOCK = r"(?i)^(-)?(?:(\d+) days?,? \+?)?(\d{1,6}):([0-5]\d)(?::([0-5]\d(?:\.\d+)?))?\s*(a|p)?\.?(?:m\.?)?$"
SYMBOLS = " with symbols"  # added to the notation if currency signs, percent signs or brackets are removed first
EPOCHS = ("seconds since 1970", "milliseconds since 1970")
_DAYS = (
    *("%Y-%m-%d", "%Y/%m/%d", "%Y.%m.%d", "%m/%d/%Y", "%d/%m/%Y", "%d.%m.%Y", "%d-%m-%Y", "%m-%d-%Y"),
    *("%m/%d/%y", "%d/%m/%y", "%d.%m.%y", "%d-%b-%Y", "%d-%b-%y", "%d %b %Y", "%d %B %Y", "%b %d, %Y", "%B %d, %Y"),
    *("%b %d %Y", "%b-%d-%Y", "%d-%m-%y", "%Y-%b-%d", "%d%b%Y", "%a %b %d %Y", "%A, %B %d, %Y", "%Y %b %d"),
)
_MONTHS = ("%Y-%m", "%Y %b", "%Y %B", "%Y/%m", "%b %Y", "%B %Y", "%b-%Y", "%b-%y", "%YM%m", "%m/%Y")
DATES = (*_DAYS, *_MONTHS, "%YQ%q", "%Y-Q%q", "%Y Q%q", "%Y%m%d")
WEEKDAYS = ("Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun")
_FIRST_YEAR = 1000  # an earlier year was written with two digits
_TIME = r"[T ,]+\d{1,2}:\d{2}.*$"  # a time after a date


def clean_text(column: polars.Expr, kind: polars.DataType, marks: tuple[str, ...] = ()) -> polars.Expr:
    """Return the values as text without spaces around them; missing values are null.

    Args:
        column: values of any type.
        kind: data type of the values.
        marks: texts that mean a missing value, besides those that always do.
    """
    import polars as pl

    if kind in (pl.Enum, pl.Categorical):
        return column.cast(pl.String)  # a category such as `NA` is no missing value
    if kind.is_float():
        column = column.fill_nan(None)
    text = (_duration_text(column) if kind == pl.Duration else column.cast(pl.String)).str.strip_chars(SPACES)
    return pl.when(~text.is_in(sorted({*ALWAYS_MISSING, *marks}))).then(text)


def to_number(column: polars.Expr, kind: polars.DataType, notation: str) -> polars.Expr:
    """Return the values as finite numbers. All other values are null.

    Args:
        column: values of any type.
        kind: data type of the values.
        notation: key of `NUMBERS`, which may end with `SYMBOLS`, or `TIMES`.
    """
    import polars as pl

    if notation == TIMES:
        return _to_hours((_duration_text(column) if kind == pl.Duration else column.cast(pl.String)).str.strip_chars(SPACES))
    if kind.is_numeric():
        number = column.cast(pl.Float64, strict=False)
        return pl.when(number.is_finite()).then(number)
    text = column.cast(pl.String).str.strip_chars(SPACES)
    base = notation.removesuffix(SYMBOLS)
    if base != notation:
        text = text.str.replace(r"^\((.*)\)$", "-${1}").str.replace_all(_SYMBOLS, "").str.strip_chars(SPACES)
    text = pl.when(text.str.contains(NUMBERS[base])).then(text)
    if base in ("thousands comma", "thousands point", "thousands space"):
        text = text.str.replace_all({"comma": ",", "point": ".", "space": " "}[base.split()[1]], "", literal=True)
    if base != "thousands comma":
        text = text.str.replace(",", ".", literal=True)
    number = text.cast(pl.Float64, strict=False)
    return pl.when(number.is_finite()).then(number)


def _duration_text(column: polars.Expr) -> polars.Expr:
    """Return durations as text, such as 27:05:06.5 for hours, minutes and seconds."""
    import polars as pl

    micro = column.dt.total_microseconds()
    size = micro.abs()
    sign = pl.when(micro < 0).then(pl.lit("-")).otherwise(pl.lit(""))
    minutes, seconds = size // 60_000_000 % 60, size % 60_000_000 / 1e6
    padded = [part.cast(pl.String).str.replace(r"^(\d)(\.|$)", "0${1}${2}") for part in (minutes, seconds)]
    return pl.when(micro.is_not_null()).then(pl.format("{}{}:{}:{}", sign, size // 3_600_000_000, *padded))


def _to_hours(text: polars.Expr) -> polars.Expr:
    """Return times as numbers, in units of the first part: 14:30 becomes 14.5. All other texts are null."""
    import polars as pl

    def part(number: int) -> polars.Expr:
        return text.str.extract(_CLOCK, number).cast(pl.Float64)

    half = text.str.extract(_CLOCK, 6).str.to_lowercase()
    first = pl.when(half.is_null()).then(part(3)).otherwise(part(3) % 12 + 12 * (half == "p").cast(pl.Float64))
    hours = part(2).fill_null(0) * 24 + first + part(4) / 60 + part(5).fill_null(0) / 3_600
    return pl.when(text.str.extract(_CLOCK, 1).is_null()).then(hours).otherwise(-hours)


def to_date(column: polars.Expr, kind: polars.DataType, notation: str) -> polars.Expr:
    """Return the values as dates. All other values are null.

    Args:
        column: values of any type.
        kind: data type of the values.
        notation: one of `DATES` or `EPOCHS`.
    """
    import polars as pl

    if notation in EPOCHS:
        scale = 1_000 if notation == EPOCHS[1] else 1
        days = (to_number(column, kind, "plain") / (86_400 * scale)).floor().cast(pl.Int32, strict=False)
        return days.cast(pl.Date)
    text = column.cast(pl.String).str.strip_chars(SPACES).str.replace(_TIME, "")
    if "%q" in notation:
        quarter = notation.replace("%Y", r"(\d{4})").replace("%q", "([1-4])")
        year, number = text.str.extract(f"^{quarter}$", 1), text.str.extract(f"^{quarter}$", 2).cast(pl.Int64)
        return pl.date(year.cast(pl.Int32), number * 3 - 2, 1)
    if notation in _MONTHS:
        text, notation = "01 " + text, "%d " + notation
    if notation == "%Y%m%d":
        text = pl.when(text.str.contains(r"^(18|19|20)\d{6}$")).then(text)
    date = text.str.to_date(notation, strict=False)
    return pl.when(date.dt.year() >= _FIRST_YEAR).then(date)


def date_part(date: polars.Expr, part: str) -> polars.Expr:
    """Return the year, the month or the weekday of dates. The week starts with weekday 1, a Monday.

    Args:
        date: dates.
        part: `year`, `month` or `weekday`.
    """
    import polars as pl

    parts = {"year": date.dt.year, "month": date.dt.month, "weekday": date.dt.weekday}
    return parts[part]().cast(pl.Float64)
