"""Scripts and styles of the page, and the Content-Security-Policy that allows nothing else.

The folder `browser` has one script for each part of the page. They are joined into one script element, so that they share
one scope and one hash. `inference.js` is the program of the worker: the page contains it as text, and starts it from a Blob.
"""

from __future__ import annotations

import base64
import hashlib
from functools import cache
from html import escape
from importlib.resources import files

_SCRIPTS = (  # `start` uses all others
    *("elements", "network", "address", "worker", "tables", "drawing"),
    *("exploring", "export", "panel", "start"),
)
_STYLES = ("page", "panel")


def _read(name: str) -> str:
    return (files("dagneal.report") / name).read_text(encoding="utf-8")


def _hash(text: str) -> str:
    """Return the hash of an inline script or style, as a source of the policy."""
    return f"'sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}'"


@cache
def page_style() -> str:
    """Return the style sheet of the page."""
    return "\n" + "".join(_read(f"browser/{name}.css") for name in _STYLES)


@cache
def notebook_style() -> str:
    """Return the style sheet of a drawing in a notebook."""
    return _read("notebook.css")


@cache
def page_script(large: bool = False) -> str:
    """Return the program of the page.

    Args:
        large: whether the drawing shows only a part of the network, so that the page must lay out other parts.
    """
    names = (*(["neighbourhood"] if large else []), *_SCRIPTS)
    return '\n"use strict";\n(() => {\n' + "".join(_read(f"browser/{name}.js") for name in names) + "})();\n"


@cache
def worker_script() -> str:
    """Return the program of the worker, which computes probabilities."""
    return "\n" + _read("browser/inference.js")


def security_policy(style: str, script: str) -> str:
    """Return the element with the Content-Security-Policy. It must come before the style and the scripts.

    The policy allows the style sheet and the program of the page by their hashes, workers from a Blob, and images from a
    Blob for the export of the drawing. It allows no address, no inline handler and no style attribute.

    Args:
        style: content of the style element.
        script: content of the script element.
    """
    policy = (
        f"default-src 'none'; script-src {_hash(script)}; style-src {_hash(style)}; worker-src blob:; "
        "img-src blob: data:; base-uri 'none'; form-action 'none'"
    )
    return f'<meta http-equiv="Content-Security-Policy" content="{escape(policy)}">'
