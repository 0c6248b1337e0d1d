"""The class `Recipe`: what preparation does with each column. A recipe can be saved as TOML and applied to new data."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, get_args

from dagneal.base.errors import InputError, hint
from dagneal.base.files import atomic_write
from dagneal.base.toml import read_toml
from dagneal.data.cautions import Caution

if TYPE_CHECKING:
    import polars

    from dagneal.data.raw.prepare import Prepared

Action = Literal["keep", "bin", "group", "year", "month", "weekday", "weights", "exclude"]
Gaps = Literal["none", "drop", "state"]
RECIPE_VERSION = 1  # version of the TOML format of recipes
_NEW = ("keep", "bin", "group", "year", "month", "weekday")  # actions that make a variable


@dataclass(frozen=True)
class ColumnRecipe:
    """What preparation does with one column of the source.

    Attributes:
        column: name of the column in the source.
        name: name of the variable that it becomes; empty if it becomes none. Dates become several variables.
        action: `keep` (its values are the states), `bin` (numbers become intervals), `group` (rare values become one state),
            `year`, `month`, `weekday` (parts of a date), `weights` (it holds row counts) or `exclude`.
        format: how numbers or dates are written, such as `plain`, `decimal comma` or `%d.%m.%Y`.
        cuts: cut points of numbers. A number at a cut point belongs to the state above it.
        states: states of the variable, in order.
        gaps: `none` if there are no missing values, `drop` if their rows are left out, `state` for the state `(missing)`.
        marks: texts that mark a missing value in this column, besides the usual marks such as `NA`.
        was: what the column holds.
        became: what the column becomes.
        why: the rule that decided.
        change: option that changes the decision.
    """

    column: str
    name: str
    action: Action
    format: str = ""
    cuts: tuple[float, ...] = ()
    states: tuple[str, ...] = ()
    gaps: Gaps = "none"
    marks: tuple[str, ...] = ()
    was: str = ""
    became: str = ""
    why: str = ""
    change: str = ""

    @property
    def unchanged(self) -> bool:
        """Whether the variable has the values of the column, without any change."""
        return self.action == "keep" and self.gaps == "none" and not self.marks and self.name == self.column


@dataclass(frozen=True)
class Recipe:
    """What preparation does with each column of a table, in the order of the columns.

    Attributes:
        columns: one entry per variable, and one per column that becomes no variable.
    """

    columns: tuple[ColumnRecipe, ...]

    @property
    def variables(self) -> tuple[ColumnRecipe, ...]:
        """The entries that make a variable."""
        return tuple(each for each in self.columns if each.action in _NEW)

    @property
    def weights(self) -> str | None:
        """The name of the column with row counts, if any."""
        return next((each.column for each in self.columns if each.action == "weights"), None)

    def apply(self, source: Any) -> Prepared:
        """Prepare new data exactly like the data for which the recipe was made: with the same cut points and states.

        A value without a state becomes `(other)` or `(missing)`, if the variable has this state. Otherwise its row is left
        out. A warning names such values.

        Args:
            source: path or data frame with the columns that the recipe needs, in any order.
        """
        from dagneal.data.raw.prepare import apply_recipe

        return apply_recipe(self, source)

    def encode(self, source: Any) -> polars.DataFrame:
        """Return the states of new data as a polars frame, with all rows in their order.

        Missing values and values without a state are null, unless the variable has a state for them.

        Args:
            source: path or data frame with the columns that the recipe needs, in any order.
        """
        from dagneal.data.raw.prepare import encode_rows

        return encode_rows(self, source)

    def to_dict(self) -> dict[str, Any]:
        """Return the recipe as a dict for JSON and TOML. Empty entries are left out."""
        lines = []
        for each in self.columns:
            plain = {key: list(value) if isinstance(value, tuple) else value for key, value in asdict(each).items()}
            lines.append({key: value for key, value in plain.items() if value not in ("", [], "none") or key == "column"})
        return {"version": RECIPE_VERSION, "column": lines}

    @classmethod
    def from_dict(cls, plain: Mapping[str, Any]) -> Recipe:
        """Return the recipe for a dict that `to_dict` made. Raise an error if it is not a recipe.

        Args:
            plain: content of a TOML or JSON file.
        """
        version, lines = plain.get("version"), plain.get("column")
        if version != RECIPE_VERSION or isinstance(version, bool):
            raise InputError(f"the recipe has version {version!r}; this version of dagneal reads version {RECIPE_VERSION}")
        if not isinstance(lines, list) or not all(isinstance(line, dict) for line in lines):
            raise InputError("the recipe has no tables [[column]]; give a file that `dagneal prepare --recipe` wrote")
        return cls(tuple(_column_from_dict(line, number) for number, line in enumerate(lines, start=1)))

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the recipe to a TOML file.

        Args:
            path: path of the file, which is replaced if it exists.
        """
        with atomic_write(path) as file:
            file.write(self.to_toml().encode())

    def to_toml(self) -> str:
        """Return the recipe as TOML text."""
        plain = self.to_dict()
        lines = ["# Recipe of `dagneal prepare`: what becomes of each column.", f"version = {plain['version']}"]
        for line in plain["column"]:
            lines += ["", "[[column]]", *(f"{key} = {_toml_value(value)}" for key, value in line.items())]
        return "\n".join(lines) + "\n"

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> Recipe:
        """Read a recipe from a TOML file, or from a result that was saved as JSON.

        Args:
            path: .toml file that `save` or `dagneal prepare` wrote, or .json file of a result with a preparation.
        """
        try:
            if Path(path).suffix.lower() == ".json":
                recipe = recipe_of_result(path)
                if recipe is None:
                    raise InputError("the result has no recipe, because its data were not prepared")
                return recipe
            return cls.from_dict(read_toml(path))
        except InputError as error:
            text = str(error)
            raise InputError(text if text.startswith(str(path)) else f"{path}: {text}") from error


def recipe_of_result(path: str | os.PathLike[str]) -> Recipe | None:
    """Return the recipe in a result or a network that was saved as JSON; return None if the file has no recipe.

    Args:
        path: path of a file with any content.
    """
    try:
        plain = json.loads(Path(path).read_text(encoding="utf-8-sig"))
    except (OSError, ValueError, RecursionError):
        return None
    plain = plain if isinstance(plain, dict) else {}
    preparation = plain.get("preparation")
    recipe = preparation.get("recipe") if isinstance(preparation, dict) else plain.get("recipe")
    return Recipe.from_dict(recipe) if isinstance(recipe, dict) else None


@dataclass(frozen=True)
class Preparation:
    """How a table was prepared: the recipe, the rows that were used, and warnings.

    Attributes:
        recipe: what became of each column.
        rows: number of rows of the table.
        used: number of rows that were used.
        cautions: warnings about the data.
    """

    recipe: Recipe
    rows: int
    used: int
    cautions: tuple[Caution, ...] = ()

    @property
    def table(self) -> list[dict[str, str]]:
        """The preparation table: one dict per changed column, with the keys column, was, became, why and change."""
        return [
            {"column": each.column, "was": each.was, "became": each.became, "why": each.why, "change": each.change}
            for each in self.recipe.columns
            if not each.unchanged
        ]

    @property
    def unchanged(self) -> list[str]:
        """The names of the columns that were used as they are."""
        return [each.column for each in self.recipe.columns if each.unchanged]

    def to_dict(self) -> dict[str, Any]:
        """Return the preparation as a dict for JSON."""
        return {
            "rows": self.rows,
            "used": self.used,
            "unchanged": self.unchanged,
            "table": self.table,
            "cautions": [{"kind": c.kind, "columns": list(c.columns), "text": c.text} for c in self.cautions],
            "recipe": self.recipe.to_dict(),
        }

    @classmethod
    def from_dict(cls, plain: Mapping[str, Any]) -> Preparation:
        """Return the preparation for a dict that `to_dict` made.

        Args:
            plain: entry `preparation` of a saved result.
        """
        cautions = tuple(Caution(str(c["kind"]), tuple(map(str, c["columns"])), str(c["text"])) for c in plain["cautions"])
        return cls(Recipe.from_dict(plain["recipe"]), int(plain["rows"]), int(plain["used"]), cautions)


def _column_from_dict(line: Mapping[str, Any], number: int) -> ColumnRecipe:
    """Return one entry of a recipe. Raise an error if a key or a value is invalid."""
    known = {field.name: field for field in fields(ColumnRecipe)}
    for key in line:
        if key not in known:
            raise InputError(f"column {number} of the recipe has the unknown key {key!r}{hint(str(key), known)}")
    where = f"column {number} of the recipe"
    values = {key: _check_value(key, value, where) for key, value in line.items()}
    if "column" not in values:
        raise InputError(f"{where} has no key 'column'; add the name of the column in the table")
    entry = ColumnRecipe(**{"name": "", "action": "", **values})
    if entry.action not in get_args(Action):
        raise InputError(f"{where}: action is {entry.action!r}; give one of: {', '.join(get_args(Action))}")
    if entry.action in _NEW and not (entry.name and entry.states):
        raise InputError(f"{where} makes a variable, so it needs the keys 'name' and 'states'")
    intervals = len([state for state in entry.states if state != "(missing)"])
    if entry.cuts and intervals != len(entry.cuts) + 1:
        raise InputError(f"{where} has {len(entry.cuts)} cuts, so it needs {len(entry.cuts) + 1} states besides (missing)")
    return entry


def _check_value(key: str, value: Any, where: str) -> Any:
    """Return the value of a key. Raise an error if it has a wrong type."""
    if key == "cuts":
        numbers = isinstance(value, list) and all(type(cut) in (int, float) for cut in value)
        if not numbers or value != sorted(set(value)):
            raise InputError(f"{where}: cuts is {value!r}; give ascending numbers, such as [18.0, 65.0]")
        return tuple(map(float, value))
    if key in ("states", "marks"):
        if not isinstance(value, list) or not all(isinstance(text, str) for text in value):
            raise InputError(f"{where}: {key} is {value!r}; give a list of texts")
        return tuple(value)
    if not isinstance(value, str):
        raise InputError(f"{where}: {key} is {value!r}; give a text")
    if key == "gaps" and value not in get_args(Gaps):
        raise InputError(f"{where}: gaps is {value!r}; give one of: {', '.join(get_args(Gaps))}")
    return value


def _toml_value(value: Any) -> str:
    """Return a text, a number or a list as TOML."""
    if isinstance(value, list):
        return "[" + ", ".join(map(_toml_value, value)) + "]"
    if isinstance(value, str):
        return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")
    return repr(value)
