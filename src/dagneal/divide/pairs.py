"""Learn a network from statistics of pairs only. This is the fallback if there is no time for larger parent sets."""

from __future__ import annotations

from dataclasses import replace
from time import perf_counter

import numpy as np

from dagneal.base.errors import OutOfTimeError
from dagneal.base.kernels import Floats
from dagneal.divide.candidates import allowed_by_margin, named_candidates
from dagneal.runtime.run import NEVER, Run
from dagneal.scoring.orders import dag_of_order
from dagneal.scoring.scorer import Scorer
from dagneal.solvers.order_search import search
from dagneal.solvers.solution import Division, Solution

_CANDIDATES = 10  # maximum number of candidate parents of a child


def count_pairs(scorer: Scorer) -> Floats | None:
    """Return the result of `Scorer.pair_gains`; None if the deadline of the scorer passes first.

    Args:
        scorer: scorer of the data.
    """
    try:
        return scorer.pair_gains()
    except OutOfTimeError:
        return None


def learn_from_pairs(scorer: Scorer, gains: Floats | None, run: Run) -> Solution:
    """Learn a network in which a child has only its required parents or, if it has none, at most one parent.

    Args:
        scorer: scorer of the data.
        gains: score gain of each single parent, from `count_pairs`; None for a network with required edges only.
        run: a `Run` with the seed of the order search. The deadline of the run is ignored, because it has passed.
    """
    run = replace(run, deadline=NEVER)
    begun = perf_counter()
    names = scorer.data.names
    n = len(names)
    required = np.zeros((n, n), dtype=bool) if scorer.constraints is None else scorer.constraints.required
    limit = max(1, int(required.sum(axis=0).max(initial=0)))
    allowed = required.copy()
    if gains is not None:
        # If the limit is above 1, two candidates of a child would form a parent set that is not counted yet, so allow one.
        singles = allowed_by_margin(gains, 0.0, _CANDIDATES if limit == 1 else 1)
        allowed |= singles & ~required.any(axis=0)
    # All parent sets in this table are already counted, except sets of required parents.
    table = scorer.with_run(run).table(min(limit, n - 1), named_candidates(allowed, names))
    order, score = search(table, restarts=0, run=run)
    reason = "pairs of variables were counted" if gains is None else "larger parent sets were counted"
    return Solution(
        dag=dag_of_order(table, order),
        score=score,
        max_parents=limit,
        solver="order",
        seconds={"pairs": perf_counter() - begun},
        seed=run.seed,
        division=Division(
            combine="conquer",
            size=2,
            scheme="single parents",
            subproblems=0,
            solver="order",
            skipped=f"the time limit stopped the search before {reason}; allow more time",
        ),
    )
