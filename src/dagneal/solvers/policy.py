"""Policy: which problems exact search and complete score tables solve in seconds on this machine.

The limits by which solvers decide what to do are here, if more than one module needs them. Limits of a single step are in
its module: of candidate parents in `divide/candidates.py`, of rounds in `divide/conquer.py`, of screening in
`divide/screening.py`. Defaults that users see are in `base/defaults.py`.
"""

from __future__ import annotations

from math import comb

from dagneal.base.defaults import NETWORK_PARENTS
from dagneal.base.machine import has_room
from dagneal.scoring.scorer import Scorer, check_max_parents, check_width
from dagneal.solvers.exact import fits

EXACT_VARIABLES = 22  # exact search solves so many in a second or two
EXACT_BESIDE = 20  # up to this many variables the optimum beside a sampler costs a fraction of a second
COMPLETE_PARENTS = 3  # tables with so many parents are scored in full before candidates are chosen
COMPLETE_WORK = 5e9  # rows counted for all sets of a table: some seconds
LARGE = 1000  # variables, beyond which fewer restarts and rounds are made: a restart costs time in proportion to n


def exact_is_quick(variables: int) -> bool:
    """Return whether exact search over so many variables takes seconds, and there is memory for it.

    Args:
        variables: the number of variables.
    """
    return variables <= EXACT_VARIABLES and fits(variables)


def table_is_quick(scorer: Scorer, max_parents: int) -> bool:
    """Return whether a table over all parents takes seconds, and no more memory than there is.

    Args:
        scorer: of the data.
        max_parents: of the table.
    """
    n = len(scorer.data.names)
    counted = sum(comb(n, size) * scorer.counter.cost(size) for size in range(max_parents + 2))
    scores = n * sum(comb(n - 1, size) for size in range(max_parents + 1))
    return counted <= COMPLETE_WORK and has_room(scorer.bytes_of(scores))


def parent_limit(max_parents: int | None, variables: int, default: int = NETWORK_PARENTS) -> int:
    """Return the parent limit of a network: as given, or the default, or fewer where there are fewer variables.

    Args:
        max_parents: as given; None for the default.
        variables: the number of variables.
        default: the default.
    """
    limit = min(default, variables - 1) if max_parents is None else check_max_parents(max_parents, variables)
    check_width(limit, variables)
    return limit
