"""A network from pairs of variables alone: the answer where a time limit leaves no room for larger sets of parents."""

from __future__ import annotations

from time import perf_counter

import numpy as np

from dagneal.base.errors import OutOfTimeError
from dagneal.base.kernels import Floats, Progress
from dagneal.divide.candidates import allowed_by_margin, named_candidates
from dagneal.result import Division, Learned
from dagneal.scoring.orders import dag_of_order
from dagneal.scoring.scorer import Scorer
from dagneal.solvers.order_search import search

_CANDIDATES = 10  # parents that are considered for each child


def count_pairs(scorer: Scorer, progress: Progress | None = None) -> Floats | None:
    """What each single parent gains each child; None if the deadline of the scorer passes first.

    Args:
        scorer: of the data.
        progress: told how far the counting is.
    """
    try:
        return scorer.pair_gains(progress)
    except OutOfTimeError:
        return None


def learn_from_pairs(scorer: Scorer, gains: Floats | None, seed: int = 0) -> Learned:
    """Learn a network in which each child has at most one parent beside the required ones.

    Args:
        scorer: of the data.
        gains: what each single parent gains, as from `count_pairs`; None for a network of the required edges alone.
        seed: of the order search.
    """
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
    scorer.counter.deadline = None  # all these sets are counted already, but for those of required edges
    table = scorer.table(min(limit, n - 1), named_candidates(allowed, names))
    order, score = search(table, seed, rounds=0)
    reason = "pairs of variables were counted" if gains is None else "larger sets of parents were counted"
    return Learned(
        dag=dag_of_order(table, order),
        score=score,
        score_name=scorer.rule.name,
        max_parents=limit,
        solver="order",
        optimal=False,
        seconds={"pairs": perf_counter() - begun},
        division=Division(
            rule="conquer",
            size=2,
            scheme="single parents",
            blocks=0,
            solver="order",
            skipped=f"the time limit ended the search before {reason}; allow more time",
        ),
    )
