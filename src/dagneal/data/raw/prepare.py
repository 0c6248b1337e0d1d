"""`prepare`: the function that turns any raw table into a `Dataset` and a recipe."""

from __future__ import annotations

import os
import shlex
from collections.abc import Collection, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from dagneal.base.defaults import MERGE, RARE
from dagneal.base.errors import InputError, first_few
from dagneal.base.text import plural
from dagneal.data import datafile
from dagneal.data.arrays import check_names, pandas_source, parse_weights, select_columns
from dagneal.data.cautions import Caution
from dagneal.data.columns import sort_states
from dagneal.data.dataset import BOOLEANS, MISSING_STATE, OTHER_STATE, Dataset
from dagneal.data.discretize import Bins, check_columns, parse_bins
from dagneal.data.missing import missing_values_error
from dagneal.data.raw.encoding import check_source, encode_column, encode_frame, unseen_values
from dagneal.data.raw.notation import clean_text
from dagneal.data.raw.opening import UNNAMED, name_columns, open_tables
from dagneal.data.raw.profile import Profile, profile_columns
from dagneal.data.raw.rules import CONSTANT, ROW_NUMBERS, Wishes, decide, describe_values
from dagneal.data.raw.warning_signs import (
    find_censored_times,
    find_row_counts,
    lost_rows_caution,
    row_count_caution,
)
from dagneal.data.reading import HasStates, declared_states, read
from dagneal.data.recipe import ColumnRecipe, Preparation, Recipe
from dagneal.data.roles import may_be_row_numbers, names_identifier, split_words

if TYPE_CHECKING:
    import polars

MOST_CELLS = 1 << 24  # values that decide; of a larger table, only the first rows decide
_MAX_DISTINCT = 0.5  # share of distinct rows above which rows of a larger table are not merged
_REPEATED = 1 << 20  # rows that decide, at most, if rows have weights
_BATCH = 1 << 17  # rows of a larger table that are encoded at a time


@dataclass(frozen=True)
class Prepared:
    """The result of `prepare`.

    Attributes:
        data: the prepared data.
        preparation: recipe, number of rows, and warnings.
    """

    data: Dataset
    preparation: Preparation

    @property
    def recipe(self) -> Recipe:
        """What became of each column. It can be saved, and applied to new data."""
        return self.preparation.recipe

    @property
    def table(self) -> list[dict[str, str]]:
        """One dict per changed column, with the keys column, was, became, why and change."""
        return self.preparation.table

    @property
    def cautions(self) -> tuple[Caution, ...]:
        """Warnings about the data."""
        return self.preparation.cautions

    def __repr__(self) -> str:
        return f"Prepared({self.data!r}, {plural(len(self.table), 'changed column')})"


class UnusableTableError(InputError):
    """The error for a table with fewer than two usable columns. Its `options` are options of a command that may help."""

    def __init__(self, message: str, options: str) -> None:
        super().__init__(message)
        self.options = options


def prepare(
    source: Any,
    *,
    columns: Sequence[str] | None = None,
    drop: Sequence[str] = (),
    keep: Sequence[str] = (),
    bins: str | Bins | Mapping[str, str | Bins] | None = None,
    states: Mapping[str, Sequence[Any]] | HasStates | None = None,
    weights: str | None = None,
    missing: Literal["auto", "refuse", "drop", "state", "em"] = "auto",
    rare: float = RARE,
    merge: Literal["auto", "yes", "no"] = MERGE,
) -> Prepared:
    """Prepare a raw table: exclude columns that are no variables, cut numbers, split dates, and treat missing values.

    The rules are documented on the page "Preparation". Options override the rules for the columns that they name.

    Args:
        source: any path or data frame that `read` accepts, in its original state. An integer array is read as `read` does.
        columns: columns to use, in this order; all by default. The columns named here are not excluded by a rule.
        drop: columns to leave out.
        keep: columns to use as they are: their values are the states.
        bins: binning method for all numbers that are cut, or mapping from column names to methods, as in `read`.
        states: mapping from column names to ordered lists of states, or a network, as in `read`.
        weights: name of a column with the number of times each row counts.
        missing: treatment of missing values. With `"auto"`, the rules decide for each column; `"refuse"`, `"drop"`,
            `"state"` and `"em"` apply to all columns, as in `read`.
        rare: fraction of rows below which a state is rare; 0 for the rule.
        merge: whether to merge equal rows, as in `read`.

    Returns:
        The data, the recipe, the preparation table and warnings.

    >>> import pandas
    >>> columns = {"id": range(100), "dose": [i % 7 / 3 for i in range(100)], "sick": [i % 2 for i in range(100)]}
    >>> frame = pandas.DataFrame(columns)
    >>> prepared = prepare(frame)
    >>> prepared.data.names, prepared.table[0]["why"]
    (('dose', 'sick'), 'row numbers')
    """
    if isinstance(source, np.ndarray):
        data = read(source, columns=columns, drop=drop, states=states, weights=weights, rare=rare, merge=merge)
        return _keep_all(data, ())
    treatment = "state" if missing == "em" else missing  # with "em", the state stands for an unknown value
    options = _Request(columns, drop, keep, parse_bins(bins), states, weights, treatment, rare, merge)
    options.check()
    with ExitStack() as temporary:
        table, cautions, readable = _open(source, temporary)
        prepared = _Preparer(table, options.rename_unnamed(table.names), cautions).prepare(readable)
    return replace(prepared, data=replace(prepared.data, incomplete=True)) if missing == "em" else prepared


def apply_recipe(recipe: Recipe, source: Any, merge: Literal["auto", "yes", "no"] = MERGE) -> Prepared:
    """Prepare new data exactly like the data for which a recipe was made: with the same cut points and states.

    A value without a state becomes `(other)` or `(missing)`, if the variable has this state. Otherwise its row is left out.
    A warning names such values.

    Args:
        recipe: recipe to apply.
        source: path or data frame with the columns that the recipe needs, in any order.
        merge: whether to merge equal rows, as in `read`.
    """
    with ExitStack() as temporary:
        table, cautions, _ = _open(source, temporary)
        check_source(recipe, table.names, table.where)
        raw, places, kinds = _load(table, dict.fromkeys([*(e.column for e in recipe.variables), *_weight_names(recipe)]))
        encoded = encode_frame(raw, places, kinds, recipe)
        cautions += _unseen_cautions(recipe, raw, places, kinds, encoded)
        return _finish(recipe, encoded, raw, places, cautions, merge)


def encode_rows(recipe: Recipe, source: Any) -> polars.DataFrame:
    """Return the states of new data as a polars frame, with all rows in their order. Missing and unseen values are null.

    Args:
        recipe: recipe to apply.
        source: path or data frame with the columns that the recipe needs, in any order.
    """
    with ExitStack() as temporary:
        table, _, _ = _open(source, temporary)
        check_source(recipe, table.names, table.where)
        raw, places, kinds = _load(table, dict.fromkeys(each.column for each in recipe.variables))
        return encode_frame(raw, places, kinds, recipe)


@dataclass(frozen=True)
class NewRows:
    """New rows with the states of a recipe, in their order.

    Attributes:
        names: column names of the table.
        states: state of each row, by variable; null for a missing value, unless the variable has a state for it, and null
            for a value without a state. Variables whose column is absent are left out.
        unseen: values without a state and their numbers of rows, by variable.
        rows: number of rows.
    """

    names: tuple[str, ...]
    states: Mapping[str, polars.Series]
    unseen: Mapping[str, list[tuple[str, int]]]
    rows: int


def encode_new(recipe: Recipe, source: Any) -> NewRows:
    """Return the states of new rows. Columns that the recipe does not need may be absent, also columns that it needs.

    Args:
        recipe: recipe to apply.
        source: path or data frame.
    """
    import polars as pl

    with ExitStack() as temporary:
        table, _, _ = _open(source, temporary)
        table = _drop_blank_lines(table)
        entries = [each for each in recipe.variables if each.column in table.names]
        raw, places, kinds = _load(table, dict.fromkeys(each.column for each in entries))
        states, unseen = {}, {}
        for each in entries:
            values, kind = raw[places[each.column]], kinds[each.column]
            encoded = encode_column(values, kind, each)
            found, lost = unseen_values(values, kind, each, encoded)
            states[each.name] = encoded.to_frame("s").select(pl.when(~lost).then("s")).to_series() if found else encoded
            if found:
                unseen[each.name] = found
        rows = raw.height if entries else 0
        return NewRows(tuple(table.names), states, unseen, rows)


def _open(source: Any, temporary: ExitStack) -> tuple[datafile.Source, list[Caution], Any]:
    """Open a path or a data frame. Return three values: the table, warnings about repairs, and the input for `read`."""
    if isinstance(source, str | os.PathLike):
        paths = temporary.enter_context(datafile.regular_files(source))
        temporary.enter_context(datafile.diagnose(paths, str(source)))
        piped = len(paths) == 1 and str(paths[0]) != str(source)  # the copy of a pipe can be read more than once
        return *open_tables(paths, str(source), temporary), paths[0] if piped else source
    temporary.enter_context(datafile.diagnose((), "the frame"))
    return name_columns(_frame_source(source)), [], source


def _frame_source(frame: Any) -> datafile.Source:
    """Convert a data frame to a `Source`. In a pandas frame, lists and other objects become text."""
    package = type(frame).__module__.split(".")[0]
    if package == "polars" and hasattr(frame, "lazy"):
        return datafile.from_frame(frame.lazy())
    if package != "pandas" or not hasattr(frame, "columns"):
        raise InputError(
            f"cannot read data from {type(frame).__name__}; give a path, a pandas or polars data frame, or a NumPy array"
        )
    try:
        return pandas_source(frame, None, (), None)
    except InputError:
        frame = frame.copy()
        for at in range(frame.shape[1]):
            if frame.iloc[:, at].dtype == object:
                frame.isetitem(at, frame.iloc[:, at].map(str, na_action="ignore"))
        return pandas_source(frame, None, (), None)


@dataclass(frozen=True)
class _Request:
    """The options of `prepare`."""

    columns: Sequence[str] | None
    drop: Sequence[str]
    keep: Sequence[str]
    bins: Mapping[str, Bins]
    states: Any
    weights: str | None
    missing: str
    rare: float
    merge: str

    def check(self) -> None:
        """Raise an error for invalid options."""
        from dagneal.data.reading import check_types

        if self.missing not in ("auto", "refuse", "drop", "state"):
            raise InputError(f"missing is {self.missing!r}; give 'auto', 'refuse', 'drop', 'state' or 'em'")
        if self.merge not in ("auto", "yes", "no"):
            raise InputError(f"merge is {self.merge!r}; give 'auto', 'yes' or 'no'")
        check_types(self.weights, self.columns, self.drop, self.states, self.rare)
        check_types(None, list(self.keep) if not isinstance(self.keep, str) else self.keep, (), None, 0.0)
        if not 0 <= self.rare < 1:
            raise InputError(f"rare is {self.rare}; give a fraction of rows: at least 0 and less than 1, such as 0.01")

    def rename_unnamed(self, names: Sequence[str]) -> _Request:
        """Return the options with the new names of unnamed columns in place of the empty name."""
        unnamed = [name for at, name in enumerate(names, start=1) if name.startswith(UNNAMED.format(at))]

        def rename(given: Sequence[str]) -> list[str]:
            return [new for name in given for new in ([name] if name or not unnamed else unnamed)]

        columns = None if self.columns is None else rename(self.columns)
        return replace(self, columns=columns, drop=rename(self.drop), keep=rename(self.keep))

    def read_options(self) -> dict[str, Any]:
        """Return the options of `read` for a table that needs no preparation."""
        missing = "refuse" if self.missing == "auto" else self.missing
        return {
            "weights": self.weights, "columns": self.columns, "states": self.states, "missing": missing,
            "bins": self.bins or None, "rare": self.rare, "drop": self.drop, "merge": self.merge,
        }  # fmt: skip


class _Preparer:
    """The preparation of one table."""

    def __init__(self, table: datafile.Source, options: _Request, cautions: list[Caution]) -> None:
        self.table = table
        self.options = options
        self.cautions = cautions
        self.declared = self._declared_states()

    def _declared_states(self) -> dict[str, list[str]]:
        """Return the declared states of the columns."""
        options = self.options
        if options.states is None:
            return {}
        dropped = set(options.drop)
        names = [name for name in options.columns or self.table.names if name not in dropped]
        given = declared_states(options.states, self.table.where, names)
        return {name: labels for name, labels in given.items() if name in names}

    def prepare(self, source: Any) -> Prepared:
        """Decide, encode the rows, and return data and recipe."""
        options, table = self.options, self.table
        chosen = self._select()
        check_columns(table.where, options.bins, chosen)
        names = [*chosen, *([options.weights] if options.weights else [])]
        raw, places, kinds = _load(table, names, _rows_that_decide(len(chosen)))
        if not raw.height:
            raise InputError(f"{table.where}: the table has no rows")
        whole = raw.height < _rows_that_decide(len(chosen))
        places_of = {name: (places[name], kinds[name]) for name in chosen}
        profiles = profile_columns(chosen, raw, dict(places_of.values()))
        counted, weights, numbered = options.weights, list[ColumnRecipe](), list[ColumnRecipe]()
        if counted is not None:
            weights = [_weights_entry(counted, "numbers", "--weights names it", "no --weights")]
        elif counted := self._find_row_counts(profiles):
            was = describe_values(next(profile for profile in profiles if profile.name == counted))
            option = f"--keep {shlex.quote(counted)}"
            weights = [_weights_entry(counted, was, "each row differs in all other columns", option)]
        if counted is not None:
            # Row numbers repeat if each row is repeated as often as it counts, so they are found before.
            numbered = [each for each in decide(profiles, self._wishes(options.bins)) if _numbers_rows(each)]
            left_out = {counted, *(each.column for each in numbered)}
            rest = [name for name in chosen if name not in left_out]
            repeated = _repeat_rows(table.where, raw, places, counted)
            profiles = profile_columns(rest, repeated, dict(places_of[name] for name in rest))
        entries = [*numbered, *self._decide(profiles), *weights]
        recipe = Recipe((*self._left_out_by_user(chosen), *entries))
        self._check_usable(recipe, len(profiles))
        if self._is_clean(recipe) and (data := self._read_unchanged(source, recipe)):
            return data
        recipe = _with_states(recipe, profiles, None if whole else table, self.declared)
        if whole:
            if options.missing == "refuse":
                self._refuse_missing(recipe, profiles)
            encoded = encode_frame(raw, places, kinds, recipe)
            recipe, encoded = _without_unused(recipe, encoded, set(self.declared))
            return _finish(recipe, encoded, raw, places, self.cautions, options.merge)
        return self._stream(recipe, raw, places, kinds)

    def _select(self) -> list[str]:
        """Return the names of the columns to look at."""
        options, table = self.options, self.table
        check_names(table.where, table.names, options.keep)
        return select_columns(table.where, table.names, options.weights, options.columns, options.drop)

    def _wishes(self, bins: Mapping[str, Bins]) -> Wishes:
        options = self.options
        named = options.columns or ()
        return Wishes(named, options.keep, bins, set(self.declared), options.missing, options.rare)

    def _decide(self, profiles: Sequence[Profile]) -> list[ColumnRecipe]:
        """Return the recipe of each column, and note warnings."""
        options = self.options
        bins = {**options.bins, **_implied_bins(self.declared)}
        wishes = replace(self._wishes(bins), declared=set(self.declared) - set(bins))
        entries = decide(profiles, wishes)
        for second_choice in (_times, _constant, _row_number_columns):
            if len(Recipe(tuple(entries)).variables) < 2 and (names := second_choice(entries)):
                wishes = replace(wishes, named={*wishes.named, *names})
                entries = decide(profiles, wishes)
        used = {entry.column for entry in entries if entry.action != "exclude"}
        self.cautions += find_censored_times(profiles, used)
        return entries

    def _find_row_counts(self, profiles: Sequence[Profile]) -> str | None:
        """Return the column of row counts, if the table surely is one of counts. Note a warning if there may be counts."""
        options = self.options
        name, certain = find_row_counts(profiles)
        if name is None or name in {*options.keep, *options.bins, *self.declared, *(options.columns or ())}:
            return None
        self.cautions.append(row_count_caution(name, certain))
        return name if certain else None

    def _left_out_by_user(self, chosen: Collection[str]) -> list[ColumnRecipe]:
        """Return the entries of the columns that the user left out."""
        return [
            ColumnRecipe(name, "", "exclude", became="left out", why="--drop names it", change="no --drop")
            for name in self.table.names
            if name in self.options.drop and name not in chosen
        ]

    def _check_usable(self, recipe: Recipe, columns: int) -> None:
        """Raise an error if fewer than two variables are left."""
        if len(recipe.variables) >= 2:
            return
        lost = [each for each in recipe.columns if each.action == "exclude" and not each.why.startswith("--")]
        usable = [each for each in lost if "values" not in each.why or "different values" in each.why]
        reasons = first_few([f"{each.column!r} ({each.why})" for each in lost])
        names = [each.column for each in usable][: max(2 - len(recipe.variables), 1)]
        text = f"{self.table.where}: a network needs at least 2 columns that vary; {plural(columns, 'column')} checked"
        text += f", left out: {reasons}" if reasons else ""
        if names:
            raise UnusableTableError(f"{text}; use columns as they are with keep={names!r}", _keep_option(names))
        raise UnusableTableError(f"{text}; add columns to the table", "")

    def _is_clean(self, recipe: Recipe) -> bool:
        """Return whether the table can be read without any change."""
        return not self.cautions and all(each.unchanged and "keep" not in each.why for each in recipe.columns)

    def _read_unchanged(self, source: Any, recipe: Recipe) -> Prepared | None:
        """Read a table that needs no preparation. Return None if it can only be read in another way."""
        try:
            data = read(source, **self.options.read_options())
        except InputError:
            return None
        states = dict(zip(data.names, data.states, strict=True))
        if set(states) != {each.column for each in recipe.columns}:
            return None
        recipe = Recipe(tuple(replace(each, states=states[each.column]) for each in recipe.columns))
        return _keep_all(data, recipe.columns)

    def _refuse_missing(self, recipe: Recipe, profiles: Sequence[Profile]) -> None:
        """Raise an error if a used column has missing values."""
        used = {each.column for each in recipe.variables}
        found: dict[str, tuple[int, str | None]] = {
            p.name: (p.rows - p.filled, f"{int(np.argmax(p.codes < 0)) + 1:,}")
            for p in profiles
            if p.name in used and p.filled < p.rows
        }
        if found:
            raise missing_values_error(self.table.where, found, [])

    def _stream(
        self, recipe: Recipe, raw: polars.DataFrame, places: Mapping[str, str], kinds: Mapping[str, polars.DataType]
    ) -> Prepared:
        """Encode a table that is larger than the rows that decided, in batches."""
        import polars as pl

        sample = encode_frame(raw, places, kinds, recipe)
        schema = dict(sample.schema)
        weights = _weight_names(recipe)
        schema |= {name: kinds[name] for name in weights}

        def encode(batch: polars.DataFrame) -> polars.DataFrame:
            encoded = encode_frame(batch, places, kinds, recipe)
            extra = [batch[places[name]].rename(name) for name in weights]
            return encoded.with_columns(extra).drop_nulls(sample.columns)

        frame = self.table.frame
        if self.table.texts:
            frame = frame.filter(~pl.col("empty"))
        rows = int(frame.select(pl.len()).collect(engine="streaming").item())
        lazy = frame.map_batches(encode, schema=schema, streamable=True)
        together = "yes" if weights or sample.n_unique() <= _MAX_DISTINCT * sample.height else "no"
        merge: Any = together if self.options.merge == "auto" else self.options.merge
        data = read(lazy, weights=weights[0] if weights else None, merge=merge)
        text = f"the first {raw.height:,} rows decided how the columns were prepared"
        lost = lost_rows_caution(rows, data.rows, {}) if not weights else []
        preparation = Preparation(recipe, rows, data.rows, (*self.cautions, *lost))
        data = replace(data, prepared=(text, *data.prepared), preparation=preparation)
        return Prepared(data, preparation)


def _row_number_columns(entries: Sequence[ColumnRecipe]) -> list[str]:
    """Return the columns that were left out as row numbers. Without other variables, they show a trend over the rows."""
    return [each.column for each in entries if each.why == ROW_NUMBERS]


def _numbers_rows(entry: ColumnRecipe) -> bool:
    """Return whether a column was left out because it identifies rows."""
    return entry.action == "exclude" and entry.why.startswith((ROW_NUMBERS, "identifier"))


def _times(entries: Sequence[ColumnRecipe]) -> list[str]:
    """Return the columns that were left out as row numbers, but whose names allow another meaning, such as a time."""
    return [
        each.column
        for each in entries
        if each.why == ROW_NUMBERS
        and not names_identifier(split_words(each.column))
        and not may_be_row_numbers(each.column)
        and not each.column.startswith(UNNAMED.format(""))
    ]


def _constant(entries: Sequence[ColumnRecipe]) -> list[str]:
    """Return the columns that were left out as constant. Without other variables, they give a network without edges."""
    return [each.column for each in entries if each.why == CONSTANT]


def _weights_entry(name: str, was: str, why: str, change: str) -> ColumnRecipe:
    """Return the entry of a column of row counts."""
    return ColumnRecipe(name, "", "weights", was=was, became="row counts", why=why, change=change)


def _implied_bins(declared: Mapping[str, Sequence[str]]) -> dict[str, Bins]:
    """Return the binning methods of columns whose declared states are intervals."""
    bins = {name: Bins.from_states(labels) for name, labels in declared.items()}
    return {name: method for name, method in bins.items() if method is not None}


def _keep_option(names: Sequence[str]) -> str:
    """Return the option that uses columns as they are."""
    return f"--keep {shlex.quote(','.join(names))}"


def _weight_names(recipe: Recipe) -> list[str]:
    """Return a list with the name of the weights column, or an empty list."""
    return [] if recipe.weights is None else [recipe.weights]


def _rows_that_decide(columns: int) -> int:
    """Return the largest number of rows that decide."""
    return max(1 << 12, MOST_CELLS // max(columns, 1))


def _load(
    table: datafile.Source, names: Collection[str], most: int | None = None
) -> tuple[polars.DataFrame, dict[str, str], dict[str, polars.DataType]]:
    """Return three values: the first rows, the name of each column in them, and the data type of each column.

    Args:
        table: table to load.
        names: columns to load.
        most: largest number of rows; None for all rows.
    """
    import polars as pl

    places = {name: str(table.names.index(name)) for name in names}
    frame = table.frame
    if table.texts:
        frame = frame.filter(~pl.col("empty"))
    raw = frame.select(places.values())
    raw = raw if most is None else raw.head(most)
    kinds = table.kinds
    return raw.collect(engine="streaming"), places, {name: kinds[name] for name in names}


def _drop_blank_lines(table: datafile.Source) -> datafile.Source:
    """Return a table without the blank lines of its files. Rows of missing values stay, so rows keep their numbers."""
    import polars as pl

    if not table.texts:
        return table
    parts = []
    for part, path in zip(table.parts, table.texts, strict=True):
        if blank := datafile.find_blank_lines(path):
            rows = part.with_row_index("row")
            part = rows.filter(~(pl.col("empty") & pl.col("row").is_in(blank))).drop("row")
        parts.append(part.drop("empty", "short"))
    return replace(table, parts=tuple(parts), texts=(), titles=())


def _repeat_rows(where: str, raw: polars.DataFrame, places: Mapping[str, str], weights: str) -> polars.DataFrame:
    """Return the rows that decide, each as often as it counts. Very large weights are reduced in proportion."""
    import polars as pl

    given = raw[places[weights]]
    numbers = given.cast(pl.Float64, strict=False).fill_null(float("nan")).to_numpy()
    counts = parse_weights(where, weights, numbers, given)
    if counts.sum() > _REPEATED:
        counts = np.where(counts > 0, np.maximum(counts * (_REPEATED / counts.sum()), 1), 0).astype(np.int64)
    return raw[np.repeat(np.arange(len(counts)), counts)]


def _with_states(
    recipe: Recipe, profiles: Sequence[Profile], table: datafile.Source | None, declared: Mapping[str, Sequence[str]]
) -> Recipe:
    """Return the recipe with the states of the columns that are used as they are.

    Args:
        recipe: recipe without these states.
        profiles: profile of each column.
        table: table with all rows, if only the first rows decided; else None.
        declared: declared states by column name.
    """
    import polars as pl

    by_name = {profile.name: profile for profile in profiles}
    entries = []
    for each in recipe.columns:
        if each.action == "keep":
            profile = by_name[each.column]
            if each.column in declared:
                states = tuple(declared[each.column])
            elif profile.categories:
                states = profile.texts
            else:
                texts = set(profile.texts) - set(each.marks)
                if table is not None:
                    place, kind = str(table.names.index(each.column)), table.kinds[each.column]
                    more = table.frame.select(clean_text(pl.col(place), kind, each.marks).unique().implode().alias("t"))
                    texts |= set(more.collect(engine="streaming")["t"].explode().drop_nulls().to_list())
                if profile.boolean:
                    texts = {BOOLEANS.get(text.lower(), text) for text in texts}
                states = tuple(sort_states(texts - {MISSING_STATE}))
                states = (*states, MISSING_STATE) if MISSING_STATE in texts else states
            if each.gaps == "state" and MISSING_STATE not in states:
                states = (*states, MISSING_STATE)
            each = replace(each, states=states)
        entries.append(each)
    return Recipe(tuple(entries))


def _without_unused(recipe: Recipe, encoded: polars.DataFrame, declared: Collection[str]) -> tuple[Recipe, polars.DataFrame]:
    """Return recipe and rows without states that no used row has, in columns whose values are the states."""
    import polars as pl

    complete = encoded.drop_nulls()
    entries = []
    for each in recipe.columns:
        if each.action in ("keep", "group", "weekday") and each.column not in declared:
            used = set(complete[each.name].unique().cast(pl.String).to_list())
            states = tuple(state for state in each.states if state in used)
            if states != each.states and states:
                each = replace(each, states=states)
                encoded = encoded.with_columns(pl.col(each.name).cast(pl.String).cast(pl.Enum(list(states)), strict=False))
        entries.append(each)
    return Recipe(tuple(entries)), encoded


def _finish(
    recipe: Recipe,
    encoded: polars.DataFrame,
    raw: polars.DataFrame,
    places: Mapping[str, str],
    cautions: Sequence[Caution],
    merge: Any,
) -> Prepared:
    """Return the data of encoded rows. Rows with a missing value are left out."""
    rows = encoded.height
    weights = _weight_names(recipe)
    missing = {name: int(encoded[name].null_count()) for name in encoded.columns if encoded[name].null_count()}
    whole = encoded.with_columns([raw[places[name]].rename(name) for name in weights])
    complete = whole.drop_nulls(encoded.columns)
    if not complete.height:
        raise InputError("every row has a missing value or a value without a state; use missing='state'")
    data = read(complete, weights=weights[0] if weights else None, merge=merge)
    notes = [f"{plural(rows - complete.height, 'row')} with missing values dropped"] if complete.height < rows else []
    cautions = (*cautions, *lost_rows_caution(rows, complete.height, missing))
    preparation = Preparation(recipe, rows, complete.height, cautions)
    data = replace(data, prepared=(*notes, *data.prepared), preparation=preparation)
    return Prepared(data, preparation)


def _unseen_cautions(
    recipe: Recipe,
    raw: polars.DataFrame,
    places: Mapping[str, str],
    kinds: Mapping[str, polars.DataType],
    encoded: polars.DataFrame,
) -> list[Caution]:
    """Return a warning for each column of new data with values that the training data did not have."""
    cautions = []
    for each in recipe.variables:
        found, _ = unseen_values(raw[places[each.column]], kinds[each.column], each, encoded[each.name])
        if found:
            rows = sum(count for _, count in found)
            became = MISSING_STATE if MISSING_STATE in each.states else "missing, so the rows are left out"
            if OTHER_STATE in each.states:
                became = OTHER_STATE
            values = first_few([repr(value) for value, _ in found])
            text = f"{each.column}: new values in {plural(rows, 'row')} became {became}: {values}"
            cautions.append(Caution("unseen values", (each.column,), text))
    return cautions


def _keep_all(data: Dataset, entries: Sequence[ColumnRecipe]) -> Prepared:
    """Return data that were read without any change."""
    if not entries:
        entries = [
            ColumnRecipe(name, name, "keep", states=states, became="used as it is")
            for name, states in zip(data.names, data.states, strict=True)
        ]
    preparation = Preparation(Recipe(tuple(entries)), data.rows, data.rows)
    return Prepared(replace(data, preparation=preparation), preparation)
