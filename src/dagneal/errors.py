"""The one error a user can cause."""


class InputError(ValueError):
    """Something given to dagneal cannot be used; the message is one line that says what, where and what to do.

    >>> raise InputError("max_parents is -1; give 0 or more")
    Traceback (most recent call last):
    dagneal.errors.InputError: max_parents is -1; give 0 or more
    """
