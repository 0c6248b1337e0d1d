"""Text for the terminal: measure its width, shorten it, pad it, and escape control characters."""

from __future__ import annotations

import re
from unicodedata import category, east_asian_width

_EMOJI = "\ufe0f"  # turns the character before it into an emoji, which is two columns wide
_END = 3  # one third of a shortened text comes from the end of the text
# Control characters except tab and line feed, line separators, text direction overrides, lone surrogates.
_UNSAFE = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u2028-\u202e\u2066-\u2069\ud800-\udfff]")


def printable(text: str) -> str:
    """Escape control characters, so that names of columns and files cannot control the terminal.

    Args:
        text: any text; line feeds and tabs are not escaped.

    >>> print(printable("red \\x1b[31m"))
    red \\x1b[31m
    """
    return _UNSAFE.sub(lambda match: match.group().encode("unicode_escape").decode(), text)


def display_cells(text: str) -> list[str]:
    """Split a text into strings, one for each terminal column.

    A wide character fills two columns, and the string of its second column is empty. A combining accent and its letter are
    in the same string.

    Args:
        text: text without control characters.

    >>> display_cells("a東"), len(display_cells("e\\u0301t\\u00e9"))
    (['a', '東', ''], 3)
    """
    split: list[str] = []
    for character in text:
        if split and category(character) in ("Mn", "Me", "Cf"):
            base = -1 if split[-1] else -2
            split[base] += character
            if character == _EMOJI and base == -1:
                split.append("")
        else:
            split += [character, ""] if east_asian_width(character) in "WF" else [character]
    return split


def display_width(text: str) -> int:
    """Return the number of terminal columns that a text fills.

    Args:
        text: text without control characters.

    >>> display_width("abc"), display_width("東京"), display_width("e\\u0301")
    (3, 4, 1)
    """
    return len(display_cells(text))


def fit_text(text: str, most: int) -> str:
    """Shorten a text to a number of terminal columns. The middle is cut, because long names often differ at the end.

    Args:
        text: text to shorten.
        most: largest number of columns of the result, at least 1.

    >>> fit_text("systolic blood pressure, day 7", 20), fit_text("東京都の天気", 9), fit_text("short", 5)
    ('systolic bloo… day 7', '東京都…気', 'short')
    """
    split = display_cells(text)
    if len(split) <= most:
        return text
    end = (most - 1) // _END
    first, last = split[: most - 1 - end], split[len(split) - end :]
    if not split[most - 1 - end]:
        first.pop()  # do not cut a wide character in two
    return "".join(first) + "…" + "".join(last[1:] if last and not last[0] else last)


def pad_text(text: str, width: int) -> str:
    """Pad a text with spaces to a number of terminal columns.

    Args:
        text: text to pad.
        width: number of columns.

    >>> pad_text("東京", 6) + "|"
    '東京  |'
    """
    return text + " " * (width - display_width(text))


def plural(number: int, noun: str) -> str:
    """Return a text with a number and a noun. The noun is plural unless the number is 1.

    Args:
        number: number to print.
        noun: singular form of the noun.

    >>> plural(1, "edge"), plural(2000, "edge")
    ('1 edge', '2,000 edges')
    """
    return f"{number:,} {noun}{'' if number == 1 else 's'}"
