"""Letters: how many columns a text takes in a terminal, and texts that fit."""

from __future__ import annotations

import re
from unicodedata import category, east_asian_width

_PICTURE = "\ufe0f"  # asks for the letter before it as a picture, which is wide
_END = 3  # the end of a name has one of so many parts of the room
# Control characters except tab and line feed, line separators, overrides of the writing direction, lone surrogates.
_UNSAFE = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u2028-\u202e\u2066-\u2069\ud800-\udfff]")


def printable(text: str) -> str:
    """Escape what a terminal would obey instead of showing, such as escape sequences in names of columns and files.

    Args:
        text: any text; line feeds and tabs stay.

    >>> print(printable("red \\x1b[31m"))
    red \\x1b[31m
    """
    return _UNSAFE.sub(lambda match: match.group().encode("unicode_escape").decode(), text)


def cells(text: str) -> list[str]:
    """The columns of a terminal that a text takes: an empty one behind a wide letter, marks together with their letter.

    Args:
        text: without control characters.

    >>> cells("a東"), len(cells("e\\u0301t\\u00e9"))
    (['a', '東', ''], 3)
    """
    found: list[str] = []
    for letter in text:
        if found and category(letter) in ("Mn", "Me", "Cf"):
            base = -1 if found[-1] else -2
            found[base] += letter
            if letter == _PICTURE and base == -1:
                found.append("")
        else:
            found += [letter, ""] if east_asian_width(letter) in "WF" else [letter]
    return found


def columns(text: str) -> int:
    """How many columns of a terminal a text takes.

    Args:
        text: without control characters.

    >>> columns("abc"), columns("東京"), columns("e\\u0301")
    (3, 4, 1)
    """
    return len(cells(text))


def fit_text(text: str, most: int) -> str:
    """A text that takes no more columns than these: its beginning and its end, by which long names often differ.

    Args:
        text: the text.
        most: columns, at least one.

    >>> fit_text("systolic blood pressure, day 7", 20), fit_text("東京都の天気", 9), fit_text("short", 5)
    ('systolic bloo… day 7', '東京都…気', 'short')
    """
    taken = cells(text)
    if len(taken) <= most:
        return text
    end = (most - 1) // _END
    first, last = taken[: most - 1 - end], taken[len(taken) - end :]
    if not taken[most - 1 - end]:
        first.pop()  # a wide letter is not cut in two
    return "".join(first) + "…" + "".join(last[1:] if last and not last[0] else last)


def pad_text(text: str, width: int) -> str:
    """A text with spaces behind it, up to a number of columns.

    Args:
        text: the text.
        width: in columns.

    >>> pad_text("東京", 6) + "|"
    '東京  |'
    """
    return text + " " * (width - columns(text))
