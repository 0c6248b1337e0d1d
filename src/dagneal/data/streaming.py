"""Reading without merging equal rows. The first pass finds the states of each column; the second stores the rows as bits."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from dagneal.base.errors import InputError
from dagneal.base.kernels import Codes, Ints, run_threads
from dagneal.data.columns import (
    Column,
    RawTable,
    add_notes,
    check_states,
    find_problems,
    merge_rare,
    rows_with_value,
    sort_labels,
)
from dagneal.data.dataset import SPACES, Dataset
from dagneal.data.frames import SelectedFrame, first_missing, series_column
from dagneal.data.missing import (
    Missing,
    clean_labels,
    drop_unused,
    dropped_note,
    mark_missing,
    missing_marks,
    missing_to_state,
    missing_values_error,
    no_rows_error,
    present_values,
    state_note,
)
from dagneal.data.packing import Packer

if TYPE_CHECKING:
    import polars

_BATCH = 1 << 18  # maximum number of rows in a batch
_CELLS = 1 << 21  # maximum number of values in a batch; a text value takes 16 bytes
_MAX_VALUES = 1 << 20  # number of counted values of a column after which the counts of equal values are added up
_RANGE = 1 << 16  # whole numbers with a smaller range are looked up in an array


def pack_rows(ready: SelectedFrame, missing: Missing, declared: Mapping[str, Sequence[str]], rare: float) -> Dataset:
    """Read rows into a dataset without merging equal rows. The rows are stored as bits.

    Args:
        ready: prepared frame, without weights.
        missing: treatment of missing values.
        declared: mapping from column names to declared states.
        rare: fraction of rows below which a state is rare and merged with other rare states.
    """
    survey = _survey(ready)
    if not survey.rows:
        raise InputError(f"{ready.source.where}: the table has no rows")
    columns = _code_values(ready, survey, declared)
    counts = _count_missing(survey, columns)
    notes = list(ready.notes)
    if counts and missing == "refuse":
        raise _missing_error(ready, survey.rows, columns, counts, declared, rare)
    if counts and missing == "drop":
        before = survey.rows
        survey = _drop_missing(ready, survey, {name: missing_marks(columns[name], declared) for name in counts})
        columns = _code_values(ready, survey, declared)
        notes.append(dropped_note(before - survey.rows))
    elif counts:
        columns = {name: missing_to_state(column) for name, column in columns.items()}
        notes += [state_note(name, count, missing) for name, count in counts.items()]
    final, rare_notes = _finish_columns(ready, survey, columns, declared, rare)
    packer = _pack(ready, survey, final)
    weights = np.broadcast_to(np.int64(1), packer.rows)
    states = tuple(column.labels for column in final)
    return add_notes(Dataset(tuple(ready.chosen), states, packer.finish(), weights), [*notes, *rare_notes])


@dataclass(frozen=True)
class _Survey:
    """The result of the first pass over the rows.

    Attributes:
        frame: rows, including blank lines of text files.
        values: for each column, a table with the columns `value` (distinct value) and `count` (rows with this value).
        rows: number of rows, without blank lines.
        blank: number of blank lines in text files.
    """

    frame: polars.LazyFrame
    values: dict[str, polars.DataFrame]
    rows: int
    blank: int


def _code_values(ready: SelectedFrame, survey: _Survey, declared: Mapping[str, Sequence[str]]) -> dict[str, Column]:
    """Return a `Column` for each column name, with one row per distinct value. Missing values are marked."""
    where = ready.source.where
    return {name: mark_missing(series_column(where, name, survey.values[name]["value"]), declared) for name in ready.chosen}


def _count_missing(survey: _Survey, columns: Mapping[str, Column]) -> dict[str, int]:
    """Return the number of missing values of each column with missing values."""
    import polars as pl

    counts = {
        name: int(survey.values[name]["count"].filter(pl.Series(column.codes < 0)).sum()) for name, column in columns.items()
    }
    return {name: count for name, count in counts.items() if count}


def _missing_error(
    ready: SelectedFrame,
    rows: int,
    columns: Mapping[str, Column],
    counts: Mapping[str, int],
    declared: Mapping[str, Sequence[str]],
    rare: float,
) -> InputError:
    """Return the error about missing values. If `rare` is 0, the error also lists other problems of the columns."""
    found = {
        name: (count, first_missing(ready, name, missing_marks(columns[name], declared))) for name, count in counts.items()
    }
    used = [drop_unused(present_values(column)) for column in columns.values()]
    filled = [rows - counts.get(name, 0) for name in ready.chosen]
    others = [] if rare else find_problems(used, rows, filled, declared, ready.count_columns)
    return missing_values_error(ready.source.where, found, others)


def _drop_missing(ready: SelectedFrame, survey: _Survey, marks: Mapping[str, Sequence[str]]) -> _Survey:
    """Return a survey of the rows that have no missing values.

    Args:
        ready: prepared frame.
        survey: survey of all rows.
        marks: texts that mark a missing value, for each column with missing values.
    """
    import polars as pl

    chosen, where = ready.chosen, ready.source.where
    present = [_present(survey.values[name]["value"].dtype, chosen[name], texts) for name, texts in marks.items()]
    frame = survey.frame.filter(pl.all_horizontal(present))
    values, rows, _ = _marginals(frame, chosen, where, text=False)
    if not rows:
        raise no_rows_error(where)
    return _Survey(frame, values, rows, survey.blank)


def _finish_columns(
    ready: SelectedFrame, survey: _Survey, columns: Mapping[str, Column], declared: Mapping[str, Sequence[str]], rare: float
) -> tuple[list[Column], list[str]]:
    """Return the tuple (columns with their final states, notes about merged rare states)."""
    where = ready.source.where
    final: list[Column] = []
    filled: list[int] = []
    notes: list[str] = []
    for name, column in columns.items():
        counts = survey.values[name]["count"].to_numpy().astype(np.int64)
        raw = RawTable(where, (clean_labels(column, declared),), counts)
        filled.append(rows_with_value(raw.columns[0], raw.weights))
        merged = merge_rare(raw, rare, declared)
        notes += merged.notes
        final += merged.columns
    if problems := find_problems(final, survey.rows, filled, declared, ready.count_columns):
        raise InputError(f"{where}: {'; '.join(problems)}")
    return [sort_labels(where, column, declared) for column in final], notes


def _pack(ready: SelectedFrame, survey: _Survey, columns: Sequence[Column]) -> Packer:
    """Read the rows again and store them as bits in a `Packer`."""
    import polars as pl

    chosen, blank = ready.chosen, survey.blank
    packer = Packer(np.array([len(column.labels) for column in columns]), survey.rows)
    coders = [Coder(survey.values[name]["value"], column.codes) for name, column in zip(chosen, columns, strict=True)]
    selected = survey.frame.select(*chosen.values(), *(["empty"] if blank else []))
    for batch in selected.collect_batches(chunk_size=_batch_rows(len(chosen))):
        kept = batch
        if blank:  # empty rows are blank lines or rows of missing values; drop as many as there are blank lines
            lines = batch["empty"].arg_true().head(blank)
            blank -= len(lines)
            kept = batch.with_row_index("row").filter(~pl.col("row").is_in(lines.implode())).drop("row")
        codes = run_threads(lambda at, kept=kept: coders[at](kept.to_series(at)), range(len(coders)))  # type: ignore[misc]
        if packer.rows + kept.height > survey.rows:
            raise InputError(f"{ready.source.where} changed while it was read; read it again")
        packer.add(codes)
    return packer


def _present(kind: polars.DataType, place: str, marks: Sequence[str]) -> polars.Expr:
    """Return an expression that is true for rows in which the column `place` has a value that is not in `marks`."""
    import polars as pl

    values = pl.col(place).fill_nan(None) if kind.is_float() else pl.col(place)
    text = values.cast(pl.String).str.strip_chars(SPACES)
    return text.is_not_null() & ~text.is_in(list(marks))


def _survey(ready: SelectedFrame) -> _Survey:
    """Read all rows once and count the distinct values of each column."""
    import polars as pl

    where, texts = ready.source.where, ready.source.texts
    values, rows, (empty, short) = _marginals(ready.frame, ready.chosen, where, text=bool(texts))
    if short:
        ready.source.check_rectangular()
    blank = ready.source.count_blank_lines() if empty else 0
    if blank:  # blank lines were counted as missing values of all columns
        values = {
            name: counted.with_columns(
                count=pl.when(pl.col("value").is_null()).then(pl.col("count") - blank).otherwise("count")
            ).filter(pl.col("count") > 0)
            for name, counted in values.items()
        }
    return _Survey(ready.frame, values, rows - blank, blank)


def _marginals(
    frame: polars.LazyFrame, chosen: Mapping[str, str], where: str, text: bool
) -> tuple[dict[str, polars.DataFrame], int, tuple[int, int]]:
    """Count values and rows. Return the tuple (value counts of each column, rows, (empty rows, short rows)).

    An empty row has no values, and a short row has no last value. Both are only counted in text files (`text`).
    """
    import polars as pl

    def add_up(parts: list[polars.DataFrame]) -> polars.DataFrame:
        return pl.concat(parts).group_by("value").agg(pl.col("count").sum()).sort("value")

    counts: dict[str, list[polars.DataFrame]] = {name: [] for name in chosen}
    rows, empty, short = 0, 0, 0
    flags = ["empty", "short"] if text else []
    for batch in frame.select(*chosen.values(), *flags).collect_batches(chunk_size=_batch_rows(len(chosen))):
        rows += batch.height
        if text:
            empty, short = empty + int(batch["empty"].sum()), short + int(batch["short"].sum())

        parts = run_threads(lambda place, batch=batch: _count_values(batch[place]), list(chosen.values()))  # type: ignore[misc]
        for name, part in zip(chosen, parts, strict=True):
            counts[name].append(part)
            if sum(held.height for held in counts[name]) > _MAX_VALUES:
                counts[name] = [add_up(counts[name])]
                check_states(where, name, counts[name][0].height)
    kinds = frame.select(chosen.values()).collect_schema()
    no_rows = {n: pl.DataFrame(schema={"value": kinds[p], "count": pl.Int64}) for n, p in chosen.items()}
    return {name: add_up([no_rows[name], *parts]) for name, parts in counts.items()}, rows, (empty, short)


def _batch_rows(columns: int) -> int:
    """Return the number of rows to read in one batch from a table with `columns` columns."""
    return max(64, min(_BATCH, _CELLS // columns // 64 * 64))


def _count_values(values: polars.Series) -> polars.DataFrame:
    """Count the distinct values of a series. Return a table with the columns `value` and `count`."""
    import polars as pl

    kind = values.dtype
    if _fits_int64(values) and not values.null_count() and len(values):
        low, high = int(values.min()), int(values.max())  # type: ignore[arg-type]
        if high - low < _RANGE:
            counts = np.bincount(_offset(values, low), minlength=high - low + 1)
            seen = np.flatnonzero(counts)
            return pl.DataFrame({"value": pl.Series(seen + low).cast(kind), "count": counts[seen].astype(np.int64)})
    counted = values.alias("value").value_counts(name="count")
    return counted.with_columns(pl.col("count").cast(pl.Int64))


def _fits_int64(values: polars.Series) -> bool:
    """Return whether values are whole numbers that fit into 64-bit signed integers."""
    import polars as pl

    kind = values.dtype
    if kind == pl.UInt64:
        return not len(values) or int(values.max() or 0) < 1 << 63  # type: ignore[arg-type]
    return kind.is_integer() and kind not in (pl.Int128, pl.UInt128)


def _offset(values: polars.Series, low: int) -> Ints:
    """Subtract `low` from whole numbers, and return the result as an array."""
    import polars as pl

    if low == 0:
        return values.to_numpy()
    return (values.cast(pl.Int64) - low).to_numpy()


class Coder:
    """Maps the values of a column to codes.

    Args:
        values: distinct values; one may be null.
        codes: code of each value.
    """

    def __init__(self, values: polars.Series, codes: Ints) -> None:
        import polars as pl

        self.kind = np.uint8 if codes.max(initial=0) < 256 else np.uint16
        present = values.is_not_null()
        self.null = int(codes[(~present).to_numpy()][0]) if (~present).any() else None
        self.values, self.codes = values.filter(present), codes[present.to_numpy()].astype(self.kind)
        self.table: Codes | None = None
        whole = self.values.cast(pl.UInt8) if self.values.dtype == pl.Boolean else self.values
        if _fits_int64(whole) and len(whole) and int(whole.max()) - int(whole.min()) < _RANGE:  # type: ignore[arg-type]
            self.low = int(whole.min())  # type: ignore[arg-type]
            self.table = np.zeros(int(whole.max()) - self.low + 1, dtype=self.kind)  # type: ignore[arg-type]
            self.table[_offset(whole, self.low)] = self.codes

    def __call__(self, line: polars.Series) -> Codes:
        """Return the code of each value in the series `line`."""
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
