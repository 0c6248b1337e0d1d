"""The one error a user can cause, and the commonest check."""

from typing import Any


class InputError(ValueError):
    """Something given to dagneal cannot be used; the message is one line that says what, where and what to do.

    >>> raise InputError("max_parents is -1; give 0 or more")
    Traceback (most recent call last):
    dagneal.errors.InputError: max_parents is -1; give 0 or more
    """


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
        fits = number == value and number >= least
    except (TypeError, ValueError, OverflowError):
        fits = False
    if not fits:
        raise InputError(f"{name} is {value}; give a whole number from {least}")
    return number
