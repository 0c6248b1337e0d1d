"""Lazy exports: a package imports a module only when one of the names that the module exports is first used."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from importlib import import_module
from typing import Any


def lazy_exports(package: str, names: Mapping[str, Sequence[str]]) -> Callable[[str], Any]:
    """Return a function `__getattr__` for a package (PEP 562). It imports exported names when they are first used.

    Args:
        package: full name of the package.
        names: exported names, by name of the module that defines them.

    >>> lazy_exports("dagneal.base", {"errors": ["InputError"]})("InputError").__name__
    'InputError'
    """
    module_of = {name: module for module, exported in names.items() for name in exported}

    def import_name(name: str) -> Any:
        if name not in module_of:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        value = getattr(import_module(f"{package}.{module_of[name]}"), name)
        setattr(import_module(package), name, value)
        return value

    return import_name
