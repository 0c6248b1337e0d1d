"""TOML files: read safely, whatever they hold."""

from __future__ import annotations

import os
import re
import tomllib
from pathlib import Path
from typing import Any

from dagneal.base.errors import InputError

_DEEPEST = 100  # parts of a dotted key; the parser takes memory with the square of their number
_STRING = re.compile(r"""\"(?:\\.|[^"\\\n])*+"?|'[^'\n]*+'?""")
_DOTTED = re.compile(r"(?<![\w-])[\w-]++(?:[ \t]*+\.[ \t]*+[\w-]++)++")  # takes time in proportion to the text


def read_toml(path: str | os.PathLike[str]) -> dict[str, Any]:
    """Read a TOML file.

    Args:
        path: the file.
    """
    try:
        text = Path(path).read_text(encoding="utf-8-sig")
        _check_depth(text)
        return tomllib.loads(text)
    except OSError as error:
        raise InputError(f"{path} cannot be read: {error.strerror or error}") from error
    except (ValueError, RecursionError) as error:  # text that is not TOML or not UTF-8, numbers of thousands of digits
        raise InputError(f"{path} is not TOML: {error}") from error


def _check_depth(text: str) -> None:
    """Refuse dotted keys of very many parts before they are parsed."""
    for match in _DOTTED.finditer(_STRING.sub("s", text)):
        if (parts := match[0].count(".") + 1) > _DEEPEST:
            raise ValueError(f"it has a key of {parts:,} parts")
