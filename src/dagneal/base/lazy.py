"""Lazy exports: a package offers names of its modules, and imports a module when one of its names is first used."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from importlib import import_module
from typing import Any


def lazy_exports(package: str, names: Mapping[str, Sequence[str]]) -> Callable[[str], Any]:
    """Return a function that becomes `__getattr__` of a package (PEP 562).

    Args:
        package: the full name of the package.
        names: for each of its modules the names that the package offers.

    >>> lazy_exports("dagneal.base", {"errors": ["InputError"]})("InputError").__name__
    'InputError'
    """
    homes = {name: module for module, its_names in names.items() for name in its_names}

    def import_name(name: str) -> Any:
        if name not in homes:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        value = getattr(import_module(f"{package}.{homes[name]}"), name)
        setattr(import_module(package), name, value)
        return value

    return import_name
