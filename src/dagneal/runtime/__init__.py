"""Execution of runs: seeds, deadlines, executors that compute tasks, and journals that store finished tasks."""

from typing import TYPE_CHECKING

from dagneal.base.lazy import lazy_exports

if TYPE_CHECKING:
    from dagneal.runtime.journal import FOREIGN_JOURNAL as FOREIGN_JOURNAL

__all__ = ["FOREIGN_JOURNAL"]
__getattr__ = lazy_exports(__name__, {"journal": __all__})
