"""The ground floor: errors, machine limits, compiled kernels, atomic files and terminal text."""

from typing import TYPE_CHECKING

from dagneal.base.lazy import lazy_exports

if TYPE_CHECKING:
    from dagneal.base.errors import InputError as InputError
    from dagneal.base.files import replacing as replacing

__all__ = ["InputError", "replacing"]
__getattr__ = lazy_exports(__name__, {"errors": ("InputError",), "files": ("replacing",)})
