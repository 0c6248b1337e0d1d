"""Size limits within which exact search and complete score tables take only seconds.

This module contains the limits that several modules use. Other limits are in the module that uses them: for candidate
parents in `divide/candidates.py`, for global solves in `divide/conquer.py`, for screening in `divide/screening.py`.
Defaults that users see are in `base/defaults.py`.
"""

from __future__ import annotations

from math import comb

from dagneal.base.defaults import NETWORK_PARENTS
from dagneal.base.machine import has_memory
from dagneal.scoring.scorer import Scorer, check_max_parents, check_set_size
from dagneal.solvers.exact import fits

EXACT_VARIABLES = 22  # up to this number, exact search takes one or two seconds
EXACT_FOR_COMPARISON = 20  # up to this number, exact search takes less than a second, and samplers are compared with it
COMPLETE_PARENTS = 3  # up to this parent limit all parent sets are scored before candidate parents are chosen
COMPLETE_VARIABLES = 65  # up to this number, candidates come from complete tables; with more, pairs are screened first
COMPLETE_WORK = 5e9  # largest number of rows to count for a complete table; counting them takes a few seconds
LARGE = 1000  # with more variables, searches make fewer restarts and global solves; the time of a restart grows with n


def exact_is_quick(variables: int) -> bool:
    """Return whether exact search takes only seconds and fits into memory.

    Args:
        variables: number of variables.
    """
    return variables <= EXACT_VARIABLES and fits(variables)


def table_is_quick(scorer: Scorer, max_parents: int) -> bool:
    """Return whether computing a table of all parent sets takes only seconds and fits into memory.

    Args:
        scorer: scorer of the data.
        max_parents: parent limit of the table.
    """
    n = len(scorer.data.names)
    scores = n * sum(comb(n - 1, size) for size in range(max_parents + 1))
    return scorer.counter.total_cost(max_parents + 1) <= COMPLETE_WORK and has_memory(scorer.table_bytes(scores, n - 1))


def parent_limit(max_parents: int | None, variables: int, default: int = NETWORK_PARENTS) -> int:
    """Return the parent limit of a network.

    Args:
        max_parents: parent limit that the user gave; None for the default.
        variables: number of variables.
        default: default parent limit. If it is larger than `variables` - 1, the limit is `variables` - 1.
    """
    limit = min(default, variables - 1) if max_parents is None else check_max_parents(max_parents, variables)
    check_set_size(limit, variables)
    return limit
