"""How a run is carried out: its context, task scheduling, executors and the journal."""

from typing import TYPE_CHECKING

from dagneal.base.lazy import lazy_exports

if TYPE_CHECKING:
    from dagneal.runtime.journal import NOT_OURS as NOT_OURS

__all__ = ["NOT_OURS"]
__getattr__ = lazy_exports(__name__, {"journal": __all__})
