"""Read TOML files, and refuse harmful content."""

from __future__ import annotations

import os
import re
import tomllib
from pathlib import Path
from typing import Any

from dagneal.base.errors import InputError

_MOST_PARTS = 100  # of a dotted key; the parser needs memory quadratic in their number
_STRING = re.compile(r"""\"(?:\\.|[^"\\\n])*+"?|'[^'\n]*+'?""")
_DOTTED = re.compile(r"(?<![\w-])[\w-]++(?:[ \t]*+\.[ \t]*+[\w-]++)++")  # runs in linear time


def read_toml(path: str | os.PathLike[str]) -> dict[str, Any]:
    """Read a TOML file.

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
    """Refuse dotted keys with very many parts before the text is parsed."""
    for match in _DOTTED.finditer(_STRING.sub("s", text)):
        if (parts := match[0].count(".") + 1) > _MOST_PARTS:
            raise ValueError(f"a key has {parts:,} parts; at most {_MOST_PARTS} are allowed")
