"""The one error a user can cause, and the commonest checks."""

import reprlib
import warnings
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from math import inf
from numbers import Real
from typing import Any

_LARGEST = 1 << 130  # seeds may have 128 bits; longer numbers are mistakes, and Python does not print the longest


class InputError(ValueError):
    """Something given to dagneal cannot be used; the message is one line that says what, where and what to do.

    >>> raise InputError("max_parents is -1; give 0 or more")
    Traceback (most recent call last):
    dagneal.base.errors.InputError: max_parents is -1; give 0 or more
    """


class OutOfTimeError(Exception):
    """The deadline has passed while sets were counted. Whoever set the deadline returns the best network so far."""


class SecondaryWarning(UserWarning):
    """A computation beside the network failed, such as a comparison or a picture. The network itself is not affected."""


@contextmanager
def secondary(what: str) -> Iterator[None]:
    """Turn a failure into a `SecondaryWarning`, so that a computation beside the result cannot lose the result.

    Args:
        what: the computation, as the subject of the message.

    >>> import warnings
    >>> with warnings.catch_warnings(record=True) as caught:
    ...     warnings.simplefilter("always")
    ...     with secondary("the hold-out"):
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
    """A whole number that is large enough; `1e4` is one.

    Args:
        name: what to call it in the error.
        value: what was given.
        least: the smallest that will do.

    >>> whole_number("rows", 1e4, least=1)
    10000
    """
    try:
        number = int(value)
        fits = number == value and least <= number < _LARGEST
    except (TypeError, ValueError, OverflowError):
        fits = False
    if not fits:
        raise InputError(f"{name} is {short(value)}; give a whole number from {least}")
    return number


def finite_number(name: str, value: Any, above: bool = False) -> float:
    """A finite number of at least 0.

    Args:
        name: what to call it in the error.
        value: what was given.
        above: refuse 0 too.

    >>> finite_number("noise", "x")
    Traceback (most recent call last):
    dagneal.base.errors.InputError: noise is 'x'; give a number of at least 0
    """
    try:
        number = float(value) if isinstance(value, Real) and not isinstance(value, bool) else -1.0
    except OverflowError:
        number = -1.0
    if not (0 < number < inf or (number == 0 and not above)):
        raise InputError(f"{name} is {short(value)}; give a number {'above' if above else 'of at least'} 0")
    return number


def check_flag(name: str, value: Any) -> None:
    """Refuse what is neither True nor False.

    Args:
        name: what to call it in the error.
        value: what was given.

    >>> check_flag("repair", "no")
    Traceback (most recent call last):
    dagneal.base.errors.InputError: repair is 'no'; give True or False
    """
    if not isinstance(value, bool):
        raise InputError(f"{name} is {short(value)}; give True or False")


def check_keywords(name: str, value: Any) -> None:
    """Refuse what cannot be given to a function as keywords.

    Args:
        name: what to call it in the error.
        value: what was given.

    >>> check_keywords("parameters", 5)
    Traceback (most recent call last):
    dagneal.base.errors.InputError: parameters is 5; give a dict such as {'num_sweeps': 5000}
    """
    if not isinstance(value, Mapping) or not all(isinstance(each, str) for each in value):
        raise InputError(f"{name} is {short(value)}; give a dict such as {{'num_sweeps': 5000}}")


def short(value: Any) -> str:
    """A value in a message: a few words, however large or deeply nested it is.

    Args:
        value: any value.

    >>> short(10**5000), short([[[[[[[[1]]]]]]]])
    ('a number of 16610 bits', '[[[[[[...]]]]]]')
    """
    if isinstance(value, int) and abs(value) >= _LARGEST:
        return f"a number of {value.bit_length()} bits"
    return repr(value) if isinstance(value, str) else str(value) if isinstance(value, int | float) else reprlib.repr(value)


def check_text(text: str, what: str) -> None:
    """Refuse text that no file can hold: lone halves of surrogate pairs, which JSON escapes and Python allow.

    Args:
        text: a name or a state.
        what: it is, as the subject of the message.

    >>> check_text("\\ud800", "a column")
    Traceback (most recent call last):
    dagneal.base.errors.InputError: a column has the name '\\ud800', which is not valid Unicode; rename it
    """
    try:
        text.encode()
    except UnicodeEncodeError as error:
        raise InputError(f"{what} has the name {text!a}, which is not valid Unicode; rename it") from error


def some(things: Sequence[str], most: int = 5) -> str:
    """The first few things, and how many more there are."""
    more = f" and {len(things) - most} more" if len(things) > most else ""
    return ", ".join(things[:most]) + more


def hint(name: str, known: Iterable[str]) -> str:
    """The end of an error message that proposes the closest known name; empty where none is close.

    Args:
        name: what was given.
        known: the names that there are.

    >>> hint("max_parent", ["max_parents", "seed"])
    "; did you mean 'max_parents'?"
    """
    from difflib import get_close_matches

    close = get_close_matches(name, list(known), n=1)
    return f"; did you mean {close[0]!r}?" if close else ""
