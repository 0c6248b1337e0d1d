"""A network from pairs of variables alone: the answer where a time limit leaves no room for larger sets of parents."""

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

_CANDIDATES = 10  # parents that are considered for each child


def count_pairs(scorer: Scorer) -> Floats | None:
    """Return what each single parent gains each child; None if the deadline of the scorer passes first.

    Args:
        scorer: of the data.
    """
    try:
        return scorer.pair_gains()
    except OutOfTimeError:
        return None


def learn_from_pairs(scorer: Scorer, gains: Floats | None, run: Run) -> Solution:
    """Learn a network in which each child has at most one parent beside the required ones.

    Args:
        scorer: of the data.
        gains: what each single parent gains, as from `count_pairs`; None for a network of the required edges alone.
        run: its seed is that of the order search; its deadline is over.
    """
    run = replace(run, deadline=NEVER)
    begun = perf_counter()
    names = scorer.data.names
    n = len(names)
    required = np.zeros((n, n), dtype=bool) if scorer.rules is None else scorer.rules.required
    limit = max(1, int(required.sum(axis=0).max(initial=0)))
    allowed = required.copy()
    if gains is not None:
        # A child with two candidates and two required parents elsewhere would have pairs of parents, which are not counted.
        singles = allowed_by_margin(gains, 0.0, _CANDIDATES if limit == 1 else 1)
        allowed |= singles & ~required.any(axis=0)
    # All these sets are counted already, except those of required edges.
    table = scorer.within(run).table(min(limit, n - 1), named_candidates(allowed, names))
    order, score = search(table, rounds=0, run=run)
    reason = "pairs of variables were counted" if gains is None else "larger sets of parents were counted"
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
            skipped=f"the time limit ended the search before {reason}; allow more time",
        ),
    )
