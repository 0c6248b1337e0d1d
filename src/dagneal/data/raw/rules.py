"""The rules of preparation: what becomes of each column, why, and how the user can change it."""

from __future__ import annotations

import re
import shlex
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from dagneal.base.kernels import Floats, Ints
from dagneal.base.text import plural
from dagneal.data.columns import sort_states
from dagneal.data.dataset import BOOLEANS, MISSING_STATE, OTHER_STATE
from dagneal.data.discretize import EVERY, Bins, format_cuts, state_names
from dagneal.data.raw.code_numbers import MOST_CODES, ROWS_PER_CODE, ignores_order, is_code_name, is_count
from dagneal.data.raw.cutting import Measured, choose_cuts, deciding_values, first_groups
from dagneal.data.raw.notation import TIMES, WEEKDAYS
from dagneal.data.raw.profile import FEW, Profile, part_values
from dagneal.data.raw.same_order import find_same_order
from dagneal.data.recipe import Action, ColumnRecipe, Gaps
from dagneal.data.roles import is_identifier, may_be_row_numbers, names_identifier, split_words

MOSTLY_MISSING = 0.9  # a column with a larger share of missing values is left out
DROPPED_ROWS = 0.05  # rows with missing values are left out while they are at most this share of all rows
NEARLY = 0.1  # in a nearly constant column, at most this share of the rows has another value
RARE_ROWS = 5  # a state with fewer rows is rare; see also RARE_SHARE
RARE_SHARE = 0.01  # a state with a smaller share of the rows is rare, unless it has MANY_ROWS rows
MANY_ROWS = 20
PLAIN_STATES = 5  # a column with at most this many states is never merged
MOST_TEXTS = 30  # largest number of states of a text column
ROWS_PER_TEXT = 10  # a text column with more than PLAIN_STATES states gets at most one state per this many rows
COVERED = 0.5  # a text column is left out if its frequent states cover a smaller share of its values
UNIQUE = 0.5  # a text column is left out if more than this share of its values differ
FIRST_YEAR, LAST_YEAR = 1500, 2100  # whole numbers in this range are years, not identifiers, unless the name says so
LONG_TEXT = 40  # average length, in characters, of free text
FEW_DAYS = 4  # dates on at most this many days of the month have no weekday
ROWS_PER_MONTH = 20  # with fewer rows per month, months are joined like other numbers

ROWS_PER_NUMBER = 5  # more than PLAIN_STATES numbers stay as they are if there are this many rows per number

SPARSE = 0.5  # rows with at least this share of missing values are left out first,
SPARSE_ROWS = 0.2  # if they are at most this share of all rows
ROW_NUMBERS, CONSTANT, SAME_ORDER = "row numbers", "constant", "same order"  # reasons to leave out a column

_ID_NAME = re.compile(r"(?i)(id|num|nbr|no|nr)\.?$")  # ends of names of identifiers, such as `pidnum`
_PARTS = ("year", "month", "weekday")
_TIME_WORDS = "time t day days week weeks month months year years hour date trend age period wave visit"


@dataclass
class Decision:
    """The decision about one variable or about one column that becomes no variable, before its states are known.

    Attributes:
        entry: entry of the recipe so far.
        profile: profile of the column.
        codes: for each row, a small number for its state; -1 for a missing value. None for columns without a variable, and
            for numbers that are not cut yet.
        values: for numbers and parts of dates that must be cut, the number in each row.
        bins: binning method that the user gave, if any.
        numbers: whether the values are ordered numbers.
    """

    entry: ColumnRecipe
    profile: Profile
    codes: Ints | None = None
    values: Floats | None = None
    bins: Bins | None = None
    whole: bool = False
    labels: tuple[str, ...] = field(default=())

    @property
    def missing(self) -> np.ndarray:
        """Whether the value in each row is missing."""
        return self.profile.codes < 0


@dataclass(frozen=True)
class Wishes:
    """The options that override rules for some columns.

    Attributes:
        named: columns that the user selected by name; they are not left out.
        keep: columns that are used as they are.
        bins: binning methods by column name; the key `EVERY` is for all numbers that are cut.
        declared: columns with declared states.
        missing: `auto`, or the treatment of all missing values.
        rare: share of the rows below which a state is rare; 0 for the rule.
    """

    named: Collection[str] = ()
    keep: Collection[str] = ()
    bins: Mapping[str, Bins] = field(default_factory=dict)
    declared: Collection[str] = ()
    missing: str = "auto"
    rare: float = 0.0


def decide(profiles: Sequence[Profile], wishes: Wishes) -> list[ColumnRecipe]:
    """Return the recipe of each column. The states of columns that are kept are not filled in yet.

    Args:
        profiles: profile of each column.
        wishes: options that override rules.
    """
    plans = [plan for profile in profiles for plan in _plan(profile, wishes)]
    _leave_out_same_order(plans, wishes)
    _recognise_codes(plans, wishes)
    waiting = [plan for plan in plans if plan.values is not None]
    others = [plan.codes for plan in plans if plan.codes is not None]
    automatic = [plan for plan in waiting if plan.bins is None]
    cuts = choose_cuts([Measured(plan.values, plan.whole) for plan in automatic if plan.values is not None], others)
    for plan, chosen in zip(automatic, cuts, strict=True):
        plan.entry = _describe_cuts(plan, chosen, wishes)
    for plan in waiting:
        if plan.bins is not None and plan.values is not None:
            numbers, counts = np.unique(plan.values[np.isfinite(plan.values)], return_counts=True)
            chosen = tuple(map(float, plan.bins.cuts(numbers, counts.astype(np.float64))))
            plan.entry = _describe_cuts(plan, chosen, wishes)
    entries = _treat_gaps(plans, wishes)
    return [
        entry if entry.action != "bin" or entry.cuts else _left_out(entry, "the same state in all rows") for entry in entries
    ]


def _leave_out_same_order(plans: list[Decision], wishes: Wishes) -> None:
    """Leave out columns of numbers that put the rows in the same order as another column, in place.

    At least two variables stay.
    """
    cut = [at for at, plan in enumerate(plans) if _may_repeat(plan)]
    repeats = find_same_order([plans[at].values for at in cut])  # type: ignore[misc]
    room = sum(plan.entry.action != "exclude" for plan in plans) - 2
    for column, other in repeats.items():
        plan, name = plans[cut[column]], plans[cut[other]].profile.name
        if plan.profile.name not in wishes.named and room > 0:
            entry = replace(_left_out(plan.entry, f"{SAME_ORDER} as {name}"), change=_bins(plan.profile.name))
            plans[cut[column]], room = Decision(entry, plan.profile), room - 1


def _may_repeat(plan: Decision) -> bool:
    """Return whether a column may be left out because of its order: many numbers that a rule will cut."""
    waits = plan.values is not None and plan.bins is None and plan.entry.action == "bin"
    return waits and len(plan.profile.distinct[0]) > FEW


def _recognise_codes(plans: list[Decision], wishes: Wishes) -> None:
    """Replace the decisions about columns whose numbers are codes of categories, in place."""
    candidates = [
        at for at, plan in enumerate(plans) if plan.bins is None and EVERY not in wishes.bins and _may_be_codes(plan)
    ]
    if not candidates:
        return
    waiting = [at for at, plan in enumerate(plans) if plan.values is not None]
    coded = [at for at, plan in enumerate(plans) if plan.codes is not None]
    measured = [Measured(plan.values, plan.whole) for plan in plans if plan.values is not None]
    groups = dict(
        zip(
            [*waiting, *coded], first_groups(measured, [plan.codes for plan in plans if plan.codes is not None]), strict=True
        )
    )
    for at in candidates:
        profile = plans[at].profile
        numbers, values = profile.distinct[0], deciding_values(profile.values)
        why = "its name suggests codes" if is_code_name(profile.name) else ""
        dense = 2 * len(numbers) > numbers[-1] - numbers[0]  # heaped numbers, such as multiples of 5, are measurements
        if not why and dense and not is_count(profile.distinct[1]):
            codes = np.where(np.isfinite(values), np.searchsorted(numbers, values), -1)
            others = [group for other, group in groups.items() if other != at]
            why = "codes: neighbouring numbers are not alike" if ignores_order(codes, others) else ""
        if why and (plan := _code_plan(plans[at], why, wishes)) is not None:
            plans[at] = plan


def _may_be_codes(plan: Decision) -> bool:
    """Return whether a column may hold codes: whole numbers, not too many, with enough rows each."""
    profile = plan.profile
    if plan.values is None or plan.entry.action != "bin" or not profile.whole or profile.notation != "plain":
        return False
    numbers = len(profile.distinct[0])
    times = not set(split_words(profile.name)).isdisjoint(_TIME_WORDS.split())
    written = numbers == len(profile.texts) - len(profile.marks)
    return FEW < numbers <= MOST_CODES and profile.filled >= ROWS_PER_CODE * numbers and written and not times


def _code_plan(plan: Decision, why: str, wishes: Wishes) -> Decision | None:
    """Return the decision about a column of codes; None if its frequent codes cover too few rows."""
    profile = plan.profile
    base = ColumnRecipe(profile.name, profile.name, "keep", was=plan.entry.was)
    grouped = _text_plan(profile, base, wishes)
    if grouped.entry.action == "exclude":
        return None
    labels = grouped.entry.states or tuple(text for text in profile.texts if text not in profile.marks)
    states = [*sort_states([label for label in labels if label != OTHER_STATE]), *({OTHER_STATE} & set(labels))]
    became = grouped.entry.became if grouped.entry.action == "group" else f"{len(states)} states"
    entry = replace(
        base, action="group", marks=profile.marks, states=tuple(states), became=became, why=why, change=_bins(profile.name)
    )
    return Decision(entry, profile, grouped.codes)


def _left_out(entry: ColumnRecipe, why: str) -> ColumnRecipe:
    """Return the entry of a column that is left out."""
    return ColumnRecipe(entry.column, "", "exclude", was=entry.was, became="left out", why=why, change=_keep(entry.column))


def _keep(name: str) -> str:
    """Return the option that uses a column as it is."""
    return f"--keep {shlex.quote(name)}"


def _drop(name: str) -> str:
    return f"--drop {shlex.quote(name)}"


def _bins(name: str, method: str = "quantile:4") -> str:
    return f"--bins {shlex.quote(f'{name}={method}')}"


def describe_values(profile: Profile) -> str:
    """Return what a column holds, in a few words.

    Args:
        profile: profile of the column.
    """
    gaps = f", {_percent(profile.gaps)} missing" if profile.filled < profile.rows else ""
    if profile.kind == "empty":
        return "no values"
    if profile.kind == "other":
        return "nested values"
    if profile.kind == "numbers":
        numbers = profile.distinct[0]
        kind = "whole numbers" if profile.whole else "numbers"
        written = "" if profile.notation == "plain" else f" ({profile.notation.removeprefix('plain ')})"
        few = f"{len(numbers)} {kind}" if len(numbers) <= FEW else kind
        if profile.notation == TIMES and len(numbers):
            return f"times {_clock(numbers[0])} to {_clock(numbers[-1])}{gaps}"
        return f"{few} {_number(numbers[0])} to {_number(numbers[-1])}{written}{gaps}" if len(numbers) else f"{kind}{gaps}"
    if profile.kind == "dates":
        days = profile.distinct[0]
        first, last = (np.datetime64(int(day), "D") for day in (days[0], days[-1]))
        return f"dates {first} to {last}{gaps}"
    if profile.boolean:
        return f"true or false{gaps}"
    return f"{plural(len(profile.texts), 'text')}{gaps}"


def _clock(hours: float) -> str:
    """Return a time as text, such as 14:35."""
    minutes = round(abs(hours) * 60)
    sign = "-" if hours < 0 else ""
    return f"{sign}{minutes // 60}:{minutes % 60:02}"


def _percent(share: float) -> str:
    """Return a share as a percentage."""
    return f"{100 * share:.0f}%" if share >= 0.1 else f"{100 * share:.1f}%" if share >= 0.001 else "under 0.1%"


def _number(value: float) -> str:
    """Return a number with at most five digits."""
    return f"{value:.0f}" if value == np.floor(value) and abs(value) < 1e15 else f"{value:.5g}"


def _plan(profile: Profile, wishes: Wishes) -> list[Decision]:
    """Return the decisions about one column. A column of dates may become several variables."""
    name = profile.name
    base = ColumnRecipe(name, name, "keep", was=describe_values(profile))
    if name in wishes.declared or name in wishes.keep:
        why = "its states are declared" if name in wishes.declared else "--keep names it"
        return [Decision(replace(base, became="used as it is", why=why), profile, _state_codes(profile))]
    if name in wishes.bins and profile.kind == "numbers":
        return [_numbers_plan(profile, base, wishes.bins[name])]
    if reason := _reason_to_leave_out(profile, name in wishes.named):
        why, change = reason
        return [Decision(replace(_left_out(base, why), change=change), profile)]
    if profile.kind == "dates":
        return _date_plans(profile, base)
    if profile.kind == "numbers":
        return [_number_plan(profile, base, wishes)]
    return [_text_plan(profile, base, wishes)]


def _reason_to_leave_out(profile: Profile, named: bool) -> tuple[str, str] | None:
    """Return why a column is left out, and the option that changes this; None if it is used.

    Columns that the user named are only left out if they cannot be used.
    """
    name = profile.name
    if profile.kind == "empty":
        return "it has no values", "nothing: fill in values"
    if profile.kind == "other":
        return "its values are lists or other objects", "nothing: convert the values to text"
    if named:
        return None
    if profile.gaps > MOSTLY_MISSING:
        return f"over {MOSTLY_MISSING:.0%} missing", _keep(name)
    largest = int(profile.counts.max())
    others = profile.filled - largest
    if profile.kind == "numbers":
        largest = int(profile.distinct[1].max())
        others = profile.filled - largest
    if others == 0 and profile.gaps <= DROPPED_ROWS:
        return CONSTANT, _keep(name)
    few = others <= max(1, min(RARE_ROWS, int(RARE_SHARE * profile.rows))) and others <= NEARLY * profile.filled
    if few and profile.gaps <= DROPPED_ROWS:
        return f"nearly constant: {plural(others, 'other value')}", _keep(name)
    if profile.kind == "numbers":
        return None if profile.notation == TIMES else _number_reason(profile)
    if profile.kind == "text" and not profile.categories and not profile.boolean:
        return _text_reason(profile)
    return None


def _number_reason(profile: Profile) -> tuple[str, str] | None:
    """Return why a column of numbers is left out, and the option that changes this; None if it is used."""
    name, numbers = profile.name, profile.distinct[0]
    words = split_words(name)
    if _are_row_numbers(profile):
        return ROW_NUMBERS, _bins(name)
    if may_be_row_numbers(name) and len(numbers) == profile.filled > 2 and profile.whole:  # a generated name
        return ROW_NUMBERS, _bins(name)
    named = bool(_ID_NAME.search(name)) and len(numbers) == profile.filled > PLAIN_STATES and profile.whole
    few = words in (["id"], ["ids"]) and len(numbers) > PLAIN_STATES and profile.whole
    identifier = named or few or is_identifier(name, numbers, profile.filled, by_digits=False)
    years = len(numbers) and numbers[0] >= FIRST_YEAR and numbers[-1] <= LAST_YEAR and not names_identifier(words)
    if identifier and not years and not (set(words) & set(_TIME_WORDS.split())):
        many = "one per row" if len(numbers) == profile.filled else f"{len(numbers):,} different"
        return f"identifier: {many}", _bins(name)
    return None


def _are_row_numbers(profile: Profile) -> bool:
    """Return whether a column numbers the rows, starting at 0 or 1. A column of times is not treated as row numbers."""
    numbers = profile.distinct[0]
    if not (len(numbers) == profile.rows > 2 and profile.whole and numbers[0] in (0, 1)):
        return False
    if numbers[-1] - numbers[0] != profile.rows - 1 or set(split_words(profile.name)) & set(_TIME_WORDS.split()):
        return False
    return len(numbers) > FEW or bool((np.diff(profile.values) == 1).all())


def _text_reason(profile: Profile) -> tuple[str, str] | None:
    """Return why a column of texts is left out, and the option that changes this; None if it is used."""
    name, texts = profile.name, len(profile.texts)
    if texts <= 2:
        return None
    if texts == profile.filled:
        return "identifier: one per row", _keep(name)
    length = float(np.average([len(text) for text in profile.texts], weights=profile.counts))
    if texts > FEW and length > LONG_TEXT:
        return f"free text: {length:.0f} characters on average", _keep(name)
    if texts > PLAIN_STATES and texts > UNIQUE * profile.filled:
        return f"identifier or free text: {texts:,} different in {plural(profile.filled, 'row')}", _keep(name)
    return None


def _rare_limit(rows: int, share: float) -> float:
    """Return the number of rows below which a state is rare."""
    return share * rows if share else max(RARE_ROWS, min(MANY_ROWS, RARE_SHARE * rows))


def _text_plan(profile: Profile, base: ColumnRecipe, wishes: Wishes) -> Decision:
    """Return the decision about a column of categories: it stays as it is, its rare states are merged, or it is left out."""
    labels, codes = _spell(profile)
    counts = np.bincount(codes[codes >= 0], minlength=len(labels))
    plan = Decision(replace(base, became="used as it is", why="few states"), profile, codes)
    if profile.categories or (len(labels) <= PLAIN_STATES and not wishes.rare):
        return plan
    if len(labels) == 1:
        return plan
    limit = _rare_limit(profile.rows, wishes.rare)
    room = max(PLAIN_STATES, min(MOST_TEXTS, profile.filled // ROWS_PER_TEXT))
    order = np.argsort(-counts, kind="stable")
    kept = [int(at) for at in order if counts[at] >= limit]
    if wishes.rare == 0:
        kept = kept[: room - 1] if len(labels) > room else kept
    covered = counts[kept].sum() / max(profile.filled, 1)
    if not wishes.rare and profile.name not in wishes.named and covered < COVERED:
        why = f"too many values: {profile.filled / len(labels):.0f} rows each"
        return Decision(_left_out(base, why), profile)
    if len(labels) - len(kept) < 2:  # a single rare state stays
        return plan
    kept.sort()
    place = np.full(len(labels), len(kept), dtype=np.int64)
    place[kept] = np.arange(len(kept))
    entry = replace(
        base,
        action="group",
        states=(*(labels[at] for at in kept), OTHER_STATE),
        became=f"{len(kept) + 1} states; {len(labels) - len(kept):,} rare: {OTHER_STATE}",
        why=f"fewer than {int(np.ceil(limit))} rows is rare"
        if counts[kept].min(initial=profile.rows) >= limit and len(kept) < room - 1
        else f"{len(kept)} most frequent stay",
        change=_keep(profile.name),
    )
    return Decision(entry, profile, np.where(codes >= 0, place[codes], -1))


def _spell(profile: Profile) -> tuple[list[str], Ints]:
    """Return the labels and codes of a column of texts, sorted as `read` sorts them. Booleans have one spelling."""
    if profile.boolean:
        labels = sorted({BOOLEANS[text.lower()] for text in profile.texts})
        place = np.array([labels.index(BOOLEANS[text.lower()]) for text in profile.texts])
        return labels, np.where(profile.codes >= 0, place[profile.codes], -1)
    return list(profile.texts), profile.codes


def _state_codes(profile: Profile) -> Ints:
    """Return small numbers for the values of a column."""
    return _spell(profile)[1]


def _number_plan(profile: Profile, base: ColumnRecipe, wishes: Wishes) -> Decision:
    """Return the decision about a column of numbers: few numbers stay, others are cut."""
    numbers, counts = profile.distinct
    crowded = len(numbers) > PLAIN_STATES and profile.filled < ROWS_PER_NUMBER * len(numbers)
    if len(numbers) > FEW or crowded or profile.notation not in ("plain", "decimal comma"):
        return _numbers_plan(profile, base, wishes.bins.get(EVERY))
    plan = Decision(
        replace(base, became="used as it is", why=f"at most {FEW} different numbers", marks=profile.marks),
        profile,
        np.where(profile.codes >= 0, profile.codes, -1),
    )
    if len(numbers) <= PLAIN_STATES or len(profile.texts) - len(profile.marks) != len(numbers):
        return plan
    cuts = _tail_cuts(numbers, counts, _rare_limit(profile.rows, wishes.rare))
    if not cuts:
        return plan
    names = interval_names(cuts, numbers, profile.whole)
    entry = replace(
        base,
        action="bin",
        format=profile.notation,
        marks=profile.marks,
        cuts=cuts,
        states=names,
        became=f"{len(names)} states, cut at {_list(cuts)}",
        why="rare numbers join neighbours",
        change=_keep(profile.name),
    )
    codes = np.searchsorted(cuts, profile.values, side="right")
    return Decision(entry, profile, np.where(profile.codes >= 0, codes, -1))


def _tail_cuts(numbers: Floats, counts: Ints, limit: float) -> tuple[float, ...]:
    """Return cut points that join rare numbers with their neighbours; empty if no number is rare.

    From the largest number down, numbers are joined until a state has enough rows.
    """
    if counts.min() >= limit:
        return ()
    cuts: list[float] = []
    rows = 0
    for at in range(len(numbers) - 1, 0, -1):
        rows += int(counts[at])
        if rows >= limit and counts[:at].sum() >= limit:
            cuts.append(float(numbers[at]))
            rows = 0
    return tuple(reversed(cuts))


def _numbers_plan(profile: Profile, base: ColumnRecipe, method: Bins | None) -> Decision:
    """Return the plan of a column of numbers that are cut."""
    entry = replace(base, action="bin", format=profile.notation, marks=profile.marks)
    return Decision(entry, profile, values=profile.values, bins=method, whole=profile.whole)


def _date_plans(profile: Profile, base: ColumnRecipe) -> list[Decision]:
    """Return the plans of a column of dates: year, month and weekday where these vary."""
    days = profile.distinct[0]
    of_month = len(np.unique(_days_of_month(days)))
    plans = []
    for part in _PARTS:
        values = part_values(profile, part)
        numbers, counts = np.unique(values[np.isfinite(values)], return_counts=True)
        if len(numbers) < 2 or counts.max() >= counts.sum() - 1 or (part == "weekday" and of_month <= FEW_DAYS):
            continue
        name = f"{profile.name} {part}" if " " in profile.name else f"{profile.name}_{part}"
        entry = replace(
            base, name=name, action=_action(part), format=profile.notation, marks=profile.marks, change=_drop(profile.name)
        )
        plan = Decision(entry, profile, whole=True)
        if part == "weekday":
            kept = tuple(WEEKDAYS[int(number) - 1] for number in numbers)
            plan.entry = replace(entry, states=kept, became=f"{name}: {kept[0]} to {kept[-1]}", why="the weekday varies")
            plan.codes = np.where(np.isfinite(values), np.searchsorted(numbers, np.nan_to_num(values)), -1)
        elif len(numbers) <= FEW and counts.min() >= min(ROWS_PER_MONTH, counts.sum() / (2 * len(numbers))) >= RARE_ROWS:
            states = tuple(f"{number:.0f}" for number in numbers)
            cuts = tuple(map(float, numbers[1:]))
            span = f"{states[0]} to {states[-1]}"
            plan.entry = replace(entry, states=states, cuts=cuts, became=f"{name}: {span}", why=f"the {part} varies")
            plan.codes = np.where(np.isfinite(values), np.searchsorted(numbers, np.nan_to_num(values)), -1)
        else:
            plan.values = values
        plans.append(plan)
    return plans or [Decision(_left_out(base, "dates whose year, month and weekday do not vary"), profile)]


def _action(part: str) -> Action:
    """Return the action of a recipe for a part of a date."""
    return "year" if part == "year" else "month" if part == "month" else "weekday"


def _days_of_month(days: Floats) -> Ints:
    """Return the day of the month of each date, given as the number of days since 1970."""
    dates = days.astype(np.int64).astype("datetime64[D]")
    offsets: Ints = (dates - dates.astype("datetime64[M]")).astype(np.int64)
    return offsets


def interval_names(cuts: Sequence[float], numbers: Floats, whole: bool) -> tuple[str, ...]:
    """Return the names of the states between cut points. A state with a single whole number has the number as its name.

    Args:
        cuts: cut points, ascending.
        numbers: distinct numbers of the column.
        whole: whether all numbers are whole.

    >>> interval_names([1.0, 2.0], np.array([0.0, 1.0, 2.0, 5.0]), whole=True)
    ('0', '1', '2 and above')
    """
    names = state_names(np.array(cuts))
    place = np.searchsorted(np.array(cuts), numbers, side="right")
    for at in range(len(names)) if whole else ():
        inside = numbers[place == at]
        alone = at in (0, len(names) - 1) or cuts[at] - cuts[at - 1] <= 1
        if len(inside) == 1 and alone and (at == 0 or inside[0] == cuts[at - 1]):
            names[at] = format_cuts([float(inside[0])])[0]
    return tuple(names)


def _list(cuts: Sequence[float]) -> str:
    """Return cut points as text. A cut just above a number is written as this number."""
    names = [state_names(np.array([cut]))[1].removesuffix(" and above").removeprefix("above ") for cut in cuts]
    return ", ".join(dict.fromkeys(names))


def _describe_cuts(plan: Decision, cuts: tuple[float, ...], wishes: Wishes) -> ColumnRecipe:
    """Return the entry of a column that is cut at these cut points."""
    entry, values = plan.entry, plan.values
    if values is None or not cuts:
        return replace(entry, cuts=())
    numbers = np.unique(values[np.isfinite(values)])
    names = interval_names(cuts, numbers, plan.whole)
    plan.codes = np.where(np.isfinite(values), np.searchsorted(cuts, values, side="right"), -1)
    prefix = "" if entry.name == entry.column else f"{entry.name}: "
    kind = "times" if plan.profile.notation == TIMES else "numbers"
    why = f"over {FEW} different {kind}" if entry.action == "bin" else f"the {entry.action} varies"
    if entry.action == "bin" and len(numbers) <= FEW:
        why = "few rows per number"
        if plan.profile.notation not in ("plain", "decimal comma"):
            why = f"numbers with {plan.profile.notation.removeprefix('plain').strip()}"
    if plan.bins is not None:
        why = "--bins says so"
    change = entry.change or _bins(entry.column, f"quantile:{len(names)}")
    became = f"{prefix}{len(names)} states, cut at {_list(cuts)}"
    marks = f"; {', '.join(map(repr, entry.marks[:3]))} treated as missing" if entry.marks else ""
    return replace(entry, cuts=cuts, states=names, became=became, why=why + marks, change=change)


def _sparse_rows(plans: Sequence[Decision]) -> np.ndarray:
    """Return which rows have missing values in most columns. Return no rows if there are too many of them."""
    columns = {plan.profile.name: plan.missing for plan in plans if plan.entry.action not in ("exclude", "weights")}
    if not columns:
        return np.zeros(len(plans[0].profile.codes) if plans else 0, dtype=np.bool_)
    missing = np.array(list(columns.values())).sum(axis=0)
    sparse: np.ndarray = missing >= max(SPARSE * len(columns), 2)
    return sparse if sparse.mean() <= SPARSE_ROWS else np.zeros_like(sparse)


def _treat_gaps(plans: Sequence[Decision], wishes: Wishes) -> list[ColumnRecipe]:
    """Return the entries with the treatment of missing values.

    Rows are left out for the columns with the fewest missing values, while at most `DROPPED_ROWS` of all rows are lost.
    Other columns get the state `(missing)`.
    """
    used = [plan for plan in plans if plan.entry.action not in ("exclude", "weights") and plan.missing.any()]
    lost = np.zeros(len(plans[0].profile.codes), dtype=np.bool_) if plans else np.zeros(0, np.bool_)
    sparse = _sparse_rows(plans)
    lost |= sparse
    treatment: dict[str, Gaps] = {}
    for plan in sorted(used, key=lambda plan: (int(plan.missing.sum()), plan.profile.name)):
        more = lost | plan.missing
        name = plan.profile.name
        drop = (more & ~sparse).sum() <= DROPPED_ROWS * len(lost) if wishes.missing == "auto" else wishes.missing == "drop"
        if name in treatment or not drop:
            treatment.setdefault(name, "state")
        else:
            treatment[name], lost = "drop", more
    entries = []
    for plan in plans:
        entry, gaps = plan.entry, treatment.get(plan.profile.name, "none")
        if gaps == "none" or entry.action in ("exclude", "weights"):
            entries.append(entry)
            continue
        count = int(plan.missing.sum())
        what = f"; gaps: {MISSING_STATE}" if gaps == "state" else "; gaps dropped"
        share = f"{plural(count, 'missing value')}"
        states = (*entry.states, MISSING_STATE) if gaps == "state" and entry.states else entry.states
        option = f"--missing {'drop' if gaps == 'state' else 'state'}"
        entries.append(
            replace(
                entry,
                gaps=gaps,
                states=states,
                became=f"{entry.became}{what}",
                why=f"{entry.why}; {share}" if entry.action != "keep" else share,
                change=f"{entry.change} {option}" if entry.change else option,
            )
        )
    return entries
