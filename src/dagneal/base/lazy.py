"""Lazy exports: a package imports a module when one of the exported names is first used."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from importlib import import_module
from typing import Any


def lazy_exports(package: str, names: Mapping[str, Sequence[str]]) -> Callable[[str], Any]:
    """Return a `__getattr__` function for a package (PEP 562).

    Args:
        package: full name of the package.
        names: exported names by module.

    >>> lazy_exports("dagneal.base", {"errors": ["InputError"]})("InputError").__name__
    'InputError'
    """
    homes = {name: module for module, exported in names.items() for name in exported}

    def import_name(name: str) -> Any:
        if name not in homes:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        value = getattr(import_module(f"{package}.{homes[name]}"), name)
        setattr(import_module(package), name, value)
        return value

    return import_name
