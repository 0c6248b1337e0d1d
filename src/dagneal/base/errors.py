"""Exceptions and warnings of this package, and common checks of arguments."""

import reprlib
import warnings
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from math import inf
from numbers import Real
from typing import Any

_LARGEST = 1 << 130  # larger numbers are refused and not printed. Seeds need 128 bits; Python prints at most 4,300 digits


class InputError(ValueError):
    """Invalid input. The message is one line that states what is wrong, where, and what to do.

    >>> raise InputError("max_parents is -1; give 0 or more")
    Traceback (most recent call last):
    dagneal.base.errors.InputError: max_parents is -1; give 0 or more
    """


class OutOfTimeError(Exception):
    """The deadline passed while scores were computed. `learn` then returns the best network so far."""


class SecondaryWarning(UserWarning):
    """An extra computation failed, such as a comparison or a drawing. The learned network is not affected."""


@contextmanager
def warn_on_failure(what: str) -> Iterator[None]:
    """Turn an exception in the `with` block into a `SecondaryWarning`, so that a failed extra step does not lose the result.

    Args:
        what: name of the computation, used as the subject of the message.

    >>> import warnings
    >>> with warnings.catch_warnings(record=True) as caught:
    ...     warnings.simplefilter("always")
    ...     with warn_on_failure("the hold-out"):
    ...         raise InputError("1 row cannot be split")
    >>> print(caught[0].message)
    the hold-out failed: 1 row cannot be split
    """
    try:
        yield
    except OutOfTimeError:
        raise
    except Exception as error:
        import logging

        logging.getLogger("dagneal").debug("%s failed", what, exc_info=True)
        text = " ".join(str(error).split())
        reason = text if isinstance(error, InputError) else f"{type(error).__name__}{': ' * bool(text)}{text}"
        warnings.warn(f"{what} failed: {reason}", SecondaryWarning, stacklevel=4)


def whole_number(name: str, value: Any, least: int = 0) -> int:
    """Check that a value is a whole number of at least `least`, and return it as an int. Floats such as `1e4` are accepted.

    Args:
        name: name of the argument, for the error message.
        value: the given value.
        least: smallest accepted number.

    >>> whole_number("rows", 1e4, least=1)
    10000
    """
    try:
        number = int(value)
        fits = number == value and least <= number < _LARGEST
    except (TypeError, ValueError, OverflowError):
        fits = False
    if not fits:
        raise InputError(f"{name} is {short_repr(value)}; give a whole number of at least {least}")
    return number


def finite_number(name: str, value: Any, above: bool = False) -> float:
    """Check that a value is a finite number of at least 0, and return it as a float.

    Args:
        name: name of the argument, for the error message.
        value: the given value.
        above: True if 0 is not accepted.

    >>> finite_number("noise", "x")
    Traceback (most recent call last):
    dagneal.base.errors.InputError: noise is 'x'; give a number of at least 0
    """
    try:
        number = float(value) if isinstance(value, Real) and not isinstance(value, bool) else -1.0
    except OverflowError:
        number = -1.0
    if not (0 < number < inf or (number == 0 and not above)):
        raise InputError(f"{name} is {short_repr(value)}; give a number {'above' if above else 'of at least'} 0")
    return number


def check_flag(name: str, value: Any) -> None:
    """Check that a value is True or False.

    Args:
        name: name of the argument, for the error message.
        value: the given value.

    >>> check_flag("repair", "no")
    Traceback (most recent call last):
    dagneal.base.errors.InputError: repair is 'no'; give True or False
    """
    if not isinstance(value, bool):
        raise InputError(f"{name} is {short_repr(value)}; give True or False")


def check_keywords(name: str, value: Any) -> None:
    """Check that a value is a dict of keyword arguments.

    Args:
        name: name of the argument, for the error message.
        value: the given value.

    >>> check_keywords("parameters", 5)
    Traceback (most recent call last):
    dagneal.base.errors.InputError: parameters is 5; give a dict such as {'num_sweeps': 5000}
    """
    if not isinstance(value, Mapping) or not all(isinstance(key, str) for key in value):
        raise InputError(f"{name} is {short_repr(value)}; give a dict such as {{'num_sweeps': 5000}}")


def short_repr(value: Any) -> str:
    """Return a short representation of any value for a message, even if it is large or deeply nested.

    Args:
        value: the value.

    >>> short_repr(10**5000), short_repr([[[[[[[[1]]]]]]]])
    ('a number of 16610 bits', '[[[[[[...]]]]]]')
    """
    if isinstance(value, int) and abs(value) >= _LARGEST:
        return f"a number of {value.bit_length()} bits"
    return repr(value) if isinstance(value, str) else str(value) if isinstance(value, int | float) else reprlib.repr(value)


def check_text(text: str, what: str) -> None:
    """Check that a text can be encoded as UTF-8. JSON escapes such as `\\ud800` can produce invalid text.

    Args:
        text: name of a column, a state, a variable or a network.
        what: object that has this name, such as "a column"; used as the subject of the message.

    >>> check_text("\\ud800", "a column")
    Traceback (most recent call last):
    dagneal.base.errors.InputError: a column has the name '\\ud800', which is not valid Unicode; rename it
    """
    try:
        text.encode()
    except UnicodeEncodeError as error:
        raise InputError(f"{what} has the name {text!a}, which is not valid Unicode; rename it") from error


def first_few(items: Sequence[str], most: int = 5) -> str:
    """Return a text with the first few items and the number of remaining items.

    Args:
        items: all items.
        most: largest number of items in the text.

    >>> first_few(["a", "b", "c"], most=2)
    'a, b and 1 more'
    """
    more = f" and {len(items) - most} more" if len(items) > most else ""
    return ", ".join(items[:most]) + more


def hint(name: str, known: Iterable[str]) -> str:
    """Return a suggestion of the most similar valid name, to append to an error message; empty if no name is similar.

    Upper and lower case are not distinguished.

    Args:
        name: unknown name that the user gave.
        known: valid names.

    >>> hint("max_parent", ["max_parents", "seed"])
    "; did you mean 'max_parents'?"
    >>> hint("SEED", ["max_parents", "seed"])
    "; did you mean 'seed'?"
    """
    from difflib import get_close_matches

    names = {candidate.casefold(): candidate for candidate in known}
    close = get_close_matches(name.casefold(), names, n=1)
    return f"; did you mean {names[close[0]]!r}?" if close else ""
