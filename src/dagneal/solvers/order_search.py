"""Order search: iterated local search over orders of the variables, for networks that are too large for exact search.

In an order, each child gets its best parents among the variables before it. The search moves variables to better positions,
rearranges orders by minimum cuts, and restarts from perturbed orders; see `dagneal.search.climb` and `dagneal.search.cuts`.
"""

from __future__ import annotations

from time import perf_counter

import numpy as np

from dagneal.base.errors import InputError, whole_number
from dagneal.base.kernels import Ints, run_threads
from dagneal.runtime.run import DEFAULT_RUN, NEVER, Run
from dagneal.scoring.orders import dag_of_order, enforce_required
from dagneal.scoring.table import ScoreTable, check_table
from dagneal.search.cuts import search_orders
from dagneal.search.space import OrderState, SearchSpace
from dagneal.solvers.solution import Solution

CHAINS = 4  # number of independent searches; it is fixed, so the number of threads does not change the result
CUTS = 5  # cuts per variable
_STEP = 10  # restarts between two checks of the deadline
_UNLIMITED = np.iinfo(np.int64).max


def order_search(
    table: ScoreTable, restarts: int | None = None, initial: Ints | None = None, run: Run = DEFAULT_RUN
) -> Solution:
    """Learn the structure of a network by iterated local search over orders of the variables.

    Args:
        table: local scores with any parent limit, any candidate parents and any number of variables.
        restarts: number of restarts from the best order, in each of four independent searches; 1,000 by default.
        initial: initial order of the first search, as indices of the variables from first to last; random by default.
        run: `Run` object with the seed and the deadline. The deadline is checked every 10 restarts.

    Returns:
        The best DAG found, with `optimal=False`, because the search does not prove that the DAG is optimal.

    >>> from dagneal.networks.bundled import load
    >>> from dagneal.scoring.scorer import score_table
    >>> from dagneal.solvers.exact import exact
    >>> table = score_table(load("alarm-15").expected_data(10_000))
    >>> round(order_search(table).score - exact(table).score, 6)
    0.0
    """
    check_table(table)
    begun = perf_counter()
    best, _ = search(table, restarts, initial, run)
    dag = dag_of_order(table, best)
    return Solution(
        dag=dag,
        score=table.score(dag),
        max_parents=table.max_parents,
        solver="order",
        optimal=False,
        seconds={"solve": perf_counter() - begun},
        seed=run.seed,
    )


def search(
    table: ScoreTable, restarts: int | None = None, initial: Ints | None = None, run: Run = DEFAULT_RUN
) -> tuple[Ints, float]:
    """Return (order, score): the best order found, and its log score.

    Args:
        table: local scores.
        restarts: number of restarts from the best order, in each of four independent searches; 1,000 by default.
        initial: initial order of the first search, as indices of the variables from first to last; random by default.
        run: `Run` object with the seed and the deadline. The deadline is checked every 10 restarts.
    """
    n = len(table.names)
    restarts = 1000 if restarts is None else whole_number("restarts", restarts)
    generator = np.random.default_rng(run.seed)
    orders = generator.permuted(np.broadcast_to(np.arange(n), (CHAINS, n)), axis=1)
    if initial is not None:
        if sorted(initial) != list(range(n)):
            raise InputError("initial must contain the index of each variable exactly once")
        orders[0] = initial
    if table.required is not None:
        orders = enforce_required(orders, table.required)
    seeds = generator.integers(1, 2**62, CHAINS)
    space, lowest = search_space(table)
    everyone = np.arange(n)

    def work(chain: int) -> OrderState:
        state = OrderState.start(space, orders[chain], int(seeds[chain]))
        search_orders(space, state, everyone, True, CUTS * n if restarts else 0, 0, 0)
        while state.counts[1] < restarts and not run.deadline.passed:
            end = restarts if run.deadline == NEVER else min(restarts, state.counts[1] + _STEP)
            search_orders(space, state, everyone, False, 0, _UNLIMITED, end)
        return state

    states = run_threads(work, list(range(CHAINS)), stage="order search", progress=run.progress)
    best = max(states, key=lambda state: float(state.score[0]))
    score = float(space.scores[best.chosen].sum())
    if score < lowest:
        raise InputError("no DAG was found with the parent sets of this table; add more parent sets")
    return best.order, score


def search_space(table: ScoreTable) -> tuple[SearchSpace, float]:
    """Return the search space of a table, and a number below the scores of all DAGs with parent sets of the table.

    In the search space each child has an empty set. If the table lacks it, its score is lower than the score of any DAG.

    Args:
        table: local scores.
    """
    start, masks, scores = table.pruned
    begins, ends = start[:-1], start[1:]
    if (ends == begins).any():
        raise InputError("no DAG was found with the parent sets of this table; add more parent sets")
    lowest = float(np.minimum.reduceat(scores, begins).sum()) - 1.0 - max(0.0, float(scores.max()) * len(begins))
    lacking = np.flatnonzero(masks[ends - 1].any(axis=1))
    masks = np.insert(masks, ends[lacking], 0, axis=0)
    scores = np.insert(scores, ends[lacking], 2.0 * lowest)
    missing = np.zeros(len(start), dtype=np.int64)
    missing[lacking + 1] = 1
    return SearchSpace.build(table.local_bits, start + np.cumsum(missing), masks, scores), lowest
