"""Read TOML files, and refuse dotted keys with so many parts that they would use up the memory."""

from __future__ import annotations

import os
import re
import tomllib
from pathlib import Path
from typing import Any

from dagneal.base.errors import InputError

_MOST_PARTS = 100  # limit on the parts of a dotted key: the memory of the parser grows with the square of their number
_STRING = re.compile(r"""\"(?:\\.|[^"\\\n])*+"?|'[^'\n]*+'?""")
_DOTTED = re.compile(r"(?<![\w-])[\w-]++(?:[ \t]*+\.[ \t]*+[\w-]++)++")  # no backtracking, so the time is linear


def read_toml(path: str | os.PathLike[str]) -> dict[str, Any]:
    """Read a TOML file and return its content.

    Args:
        path: TOML file.
    """
    try:
        text = Path(path).read_text(encoding="utf-8-sig")
        _check_depth(text)
        return tomllib.loads(text)
    except OSError as error:
        raise InputError(f"{path} cannot be read: {error.strerror or error}") from error
    except (ValueError, RecursionError) as error:  # not TOML, not UTF-8, or a number with thousands of digits
        raise InputError(f"{path} is not TOML: {error}") from error


def _check_depth(text: str) -> None:
    """Raise an error if a dotted key, such as `a.b.c`, has too many parts. Call this before the text is parsed."""
    for match in _DOTTED.finditer(_STRING.sub("s", text)):
        if (parts := match[0].count(".") + 1) > _MOST_PARTS:
            raise ValueError(f"a dotted key has {parts:,} parts; use at most {_MOST_PARTS}")
