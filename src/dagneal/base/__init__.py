"""Basic tools: errors, limits on cores and memory, compiled kernels, atomic writing of files, and terminal text."""

from typing import TYPE_CHECKING

from dagneal.base.lazy import lazy_exports

if TYPE_CHECKING:
    from dagneal.base.errors import InputError as InputError
    from dagneal.base.files import atomic_write as atomic_write

__all__ = ["InputError", "atomic_write"]
__getattr__ = lazy_exports(__name__, {"errors": ("InputError",), "files": ("atomic_write",)})
