"""Rows that do not merge: read twice in batches, first for the states of each column, then to be packed as bits."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from dagneal.base.errors import InputError
from dagneal.base.kernels import Codes, Ints, run_threads
from dagneal.data.columns import Column, Raw, add_notes, check_states, complaints, merge_rare, rows_with_value, tidy_labels
from dagneal.data.dataset import SPACES, Dataset
from dagneal.data.frames import Prepared, first_missing, series_column
from dagneal.data.missing import Missing, as_state, drop_unused, known_values, mark_missing, marks_of, refusal, settle_labels
from dagneal.data.packing import Packer

if TYPE_CHECKING:
    import polars

_BATCH = 1 << 18  # the most rows at a time
_CELLS = 1 << 21  # the most values at a time; text takes 16 bytes each
_MANY = 1 << 20  # different values of a column that are held before equal ones are added up
_RANGE = 1 << 16  # of numbers that are looked up in a plain table


def pack_rows(ready: Prepared, missing: Missing, declared: Mapping[str, Sequence[str]], rare: float) -> Dataset:
    """A dataset of rows as they are, kept as bits.

    Args:
        ready: the frame, without weights.
        missing: what to do with missing values.
        declared: states by column.
        rare: below which share of the rows states are merged.
    """
    survey = _survey(ready)
    if not survey.rows:
        raise InputError(f"{ready.source.where}: there are no rows")
    columns = _code_values(ready, survey, declared)
    lost = _count_missing(survey, columns)
    notes = list(ready.notes)
    if lost and missing == "refuse":
        raise _missing_error(ready, survey.rows, columns, lost, declared, rare)
    if lost and missing == "drop":
        before = survey.rows
        survey = _drop_missing(ready, survey, {name: marks_of(columns[name], declared) for name in lost})
        columns = _code_values(ready, survey, declared)
        notes.append(f"{before - survey.rows:,} rows with missing values left out")
    elif lost:
        columns = {name: as_state(column) for name, column in columns.items()}
        notes += [f"{name}: {count:,} missing values made a state" for name, count in lost.items()]
    final, told = _settle_columns(ready, survey, columns, declared, rare)
    packer = _pack(ready, survey, final)
    weights = np.broadcast_to(np.int64(1), packer.rows)
    states = tuple(column.labels for column in final)
    return add_notes(Dataset(tuple(ready.chosen), states, packer.finish(), weights), [*notes, *told])


@dataclass(frozen=True)
class _Survey:
    """What the first pass over the rows finds.

    Attributes:
        frame: the rows.
        values: the different values of each column, with the number of rows that have them.
        rows: the number of rows.
        blank: the number of lines of text with nothing on them, which are no rows.
    """

    frame: polars.LazyFrame
    values: dict[str, polars.DataFrame]
    rows: int
    blank: int


def _code_values(ready: Prepared, survey: _Survey, declared: Mapping[str, Sequence[str]]) -> dict[str, Column]:
    """Return the different values of each column as a column, missing ones marked."""
    where = ready.source.where
    return {name: mark_missing(series_column(where, name, survey.values[name]["value"]), declared) for name in ready.chosen}


def _count_missing(survey: _Survey, columns: Mapping[str, Column]) -> dict[str, int]:
    """Return the number of missing values of each column that has some."""
    import polars as pl

    counts = {
        name: int(survey.values[name]["count"].filter(pl.Series(column.codes < 0)).sum()) for name, column in columns.items()
    }
    return {name: count for name, count in counts.items() if count}


def _missing_error(
    ready: Prepared,
    rows: int,
    columns: Mapping[str, Column],
    lost: Mapping[str, int],
    declared: Mapping[str, Sequence[str]],
    rare: float,
) -> InputError:
    """Return the complaint about missing values, with all else that is wrong."""
    first = {name: first_missing(ready, name, marks_of(columns[name], declared)) for name in lost}
    shown = [drop_unused(known_values(column)) for column in columns.values()]
    filled = [rows - lost.get(name, 0) for name in ready.chosen]
    others = [] if rare else complaints(shown, rows, filled, declared, ready.counts)
    return refusal(ready.source.where, {name: (count, first[name]) for name, count in lost.items()}, others)


def _drop_missing(ready: Prepared, survey: _Survey, marks: Mapping[str, Sequence[str]]) -> _Survey:
    """Return the survey of the rows without missing values.

    Args:
        ready: the frame.
        survey: of all rows.
        marks: for each column with missing values, what stands for one.
    """
    import polars as pl

    chosen, where = ready.chosen, ready.source.where
    present = [_present(survey.values[name]["value"].dtype, chosen[name], its) for name, its in marks.items()]
    frame = survey.frame.filter(pl.all_horizontal(present))
    values, rows, _ = _marginals(frame, chosen, where, text=False)
    if not rows:
        raise InputError(f"{where}: every row has a missing value; nothing would be left")
    return _Survey(frame, values, rows, survey.blank)


def _settle_columns(
    ready: Prepared, survey: _Survey, columns: Mapping[str, Column], declared: Mapping[str, Sequence[str]], rare: float
) -> tuple[list[Column], list[str]]:
    """Return the columns with their final states, and what was done."""
    where = ready.source.where
    final: list[Column] = []
    filled: list[int] = []
    notes: list[str] = []
    for name, column in columns.items():
        counts = survey.values[name]["count"].to_numpy().astype(np.int64)
        raw = Raw(where, (settle_labels(column, declared),), counts)
        filled.append(rows_with_value(raw.columns[0], raw.weights))
        merged = merge_rare(raw, rare, declared)
        notes += merged.notes
        final += merged.columns
    if wrong := complaints(final, survey.rows, filled, declared, ready.counts):
        raise InputError(f"{where}: {'; '.join(wrong)}")
    return [tidy_labels(where, column, declared) for column in final], notes


def _pack(ready: Prepared, survey: _Survey, columns: Sequence[Column]) -> Packer:
    """Read the rows again, and pack them as bits."""
    import polars as pl

    chosen, blank = ready.chosen, survey.blank
    packer = Packer(np.array([len(column.labels) for column in columns]), survey.rows)
    coders = [Coder(survey.values[name]["value"], column.codes) for name, column in zip(chosen, columns, strict=True)]
    wanted = survey.frame.select(*chosen.values(), *(["empty"] if blank else []))
    for batch in wanted.collect_batches(chunk_size=_rows(len(chosen))):
        kept = batch
        if blank:  # lines with nothing on them are no rows, but some rows may have nothing in any column
            here = batch["empty"].arg_true().head(blank)
            blank -= len(here)
            kept = batch.with_row_index("row").filter(~pl.col("row").is_in(here.implode())).drop("row")
        lines = run_threads(lambda at, kept=kept: coders[at](kept.to_series(at)), range(len(coders)))  # type: ignore[misc]
        if packer.rows + kept.height > survey.rows:
            raise InputError(f"{ready.source.where} changed while it was read")
        packer.add(lines)
    return packer


def _present(kind: polars.DataType, place: str, marks: Sequence[str]) -> polars.Expr:
    """Where a column has a value."""
    import polars as pl

    values = pl.col(place).fill_nan(None) if kind.is_float() else pl.col(place)
    text = values.cast(pl.String).str.strip_chars(SPACES)
    return text.is_not_null() & ~text.is_in(list(marks))


def _survey(ready: Prepared) -> _Survey:
    """Read all rows once, and count the different values of each column."""
    import polars as pl

    where, texts = ready.source.where, ready.source.texts
    values, rows, (empty, short) = _marginals(ready.frame, ready.chosen, where, text=bool(texts))
    if short:
        ready.source.check_rectangular()
    blank = ready.source.blank_lines() if empty else 0
    if blank:  # they have no value in any column
        values = {
            name: found.with_columns(
                count=pl.when(pl.col("value").is_null()).then(pl.col("count") - blank).otherwise("count")
            ).filter(pl.col("count") > 0)
            for name, found in values.items()
        }
    return _Survey(ready.frame, values, rows - blank, blank)


def _marginals(
    frame: polars.LazyFrame, chosen: Mapping[str, str], where: str, text: bool
) -> tuple[dict[str, polars.DataFrame], int, tuple[int, int]]:
    """The different values of each column with their numbers of rows; all rows; those without any, or the last, value."""
    import polars as pl

    def add_up(parts: list[polars.DataFrame]) -> polars.DataFrame:
        return pl.concat(parts).group_by("value").agg(pl.col("count").sum()).sort("value")

    found: dict[str, list[polars.DataFrame]] = {name: [] for name in chosen}
    rows, empty, short = 0, 0, 0
    flags = ["empty", "short"] if text else []
    for batch in frame.select(*chosen.values(), *flags).collect_batches(chunk_size=_rows(len(chosen))):
        rows += batch.height
        if text:
            empty, short = empty + int(batch["empty"].sum()), short + int(batch["short"].sum())

        parts = run_threads(lambda place, batch=batch: _count_values(batch[place]), list(chosen.values()))  # type: ignore[misc]
        for name, part in zip(chosen, parts, strict=True):
            found[name].append(part)
            if sum(each.height for each in found[name]) > _MANY:
                found[name] = [add_up(found[name])]
                check_states(where, name, found[name][0].height)
    kinds = frame.select(chosen.values()).collect_schema()
    nothing = {n: pl.DataFrame(schema={"value": kinds[p], "count": pl.Int64}) for n, p in chosen.items()}
    return {name: add_up([nothing[name], *parts]) for name, parts in found.items()}, rows, (empty, short)


def _rows(columns: int) -> int:
    """How many rows are read at a time."""
    return max(64, min(_BATCH, _CELLS // columns // 64 * 64))


def _count_values(values: polars.Series) -> polars.DataFrame:
    """The different values of a series, and how often they occur."""
    import polars as pl

    kind = values.dtype
    if _fits(values) and not values.null_count() and len(values):
        low, high = int(values.min()), int(values.max())  # type: ignore[arg-type]
        if high - low < _RANGE:
            counts = np.bincount(_offset(values, low), minlength=high - low + 1)
            seen = np.flatnonzero(counts)
            return pl.DataFrame({"value": pl.Series(seen + low).cast(kind), "count": counts[seen].astype(np.int64)})
    counted = values.alias("value").value_counts(name="count")
    return counted.with_columns(pl.col("count").cast(pl.Int64))


def _fits(values: polars.Series) -> bool:
    """Whether values are whole numbers that NumPy holds as 64-bit integers."""
    import polars as pl

    kind = values.dtype
    if kind == pl.UInt64:
        return not len(values) or int(values.max() or 0) < 1 << 63  # type: ignore[arg-type]
    return kind.is_integer() and kind not in (pl.Int128, pl.UInt128)


def _offset(values: polars.Series, low: int) -> Ints:
    """Whole numbers above the lowest of them."""
    import polars as pl

    if low == 0:
        return values.to_numpy()
    return (values.cast(pl.Int64) - low).to_numpy()


class Coder:
    """Codes for the values of a column.

    Args:
        values: the different ones, one of which may be null.
        codes: theirs.
    """

    def __init__(self, values: polars.Series, codes: Ints) -> None:
        import polars as pl

        self.kind = np.uint8 if codes.max(initial=0) < 256 else np.uint16
        known = values.is_not_null()
        self.null = int(codes[(~known).to_numpy()][0]) if (~known).any() else None
        self.values, self.codes = values.filter(known), codes[known.to_numpy()].astype(self.kind)
        self.table: Codes | None = None
        whole = self.values.cast(pl.UInt8) if self.values.dtype == pl.Boolean else self.values
        if _fits(whole) and len(whole) and int(whole.max()) - int(whole.min()) < _RANGE:  # type: ignore[arg-type]
            self.low = int(whole.min())  # type: ignore[arg-type]
            self.table = np.zeros(int(whole.max()) - self.low + 1, dtype=self.kind)  # type: ignore[arg-type]
            self.table[_offset(whole, self.low)] = self.codes

    def __call__(self, line: polars.Series) -> Codes:
        """The codes of a line of values."""
        import polars as pl

        if self.table is not None and not line.null_count():
            whole = line.cast(pl.UInt8) if line.dtype == pl.Boolean else line
            return self.table[_offset(whole, self.low)]
        if not len(self.values):
            return np.full(len(line), self.null, dtype=self.kind)
        kind = pl.UInt8 if self.kind is np.uint8 else pl.UInt16
        if line.dtype == pl.String and not line.null_count():
            mapped: Codes = self.codes[line.cast(pl.Enum(self.values)).to_physical().to_numpy()]
            return mapped
        new = pl.Series(self.codes)
        if self.null is None:
            return line.replace_strict(self.values, new, return_dtype=kind).to_numpy()
        return line.replace_strict(self.values, new, default=self.null, return_dtype=kind).to_numpy()
