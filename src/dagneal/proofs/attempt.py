"""Proof attempts: find the best network of a score table, and an upper bound on the score that no network exceeds.

The attempt starts with a known network. It improves the network when the linear relaxation suggests a better one. So a proof
attempt is also a search.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, version
from itertools import pairwise
from math import inf
from time import perf_counter

import networkx as nx
import numpy as np

from dagneal.base.errors import InputError
from dagneal.base.kernels import Ints
from dagneal.base.machine import check_memory
from dagneal.graphs.dags import dag_from_parents
from dagneal.proofs.certificate import Proof
from dagneal.proofs.families import MAX_COST, UNITS, Families
from dagneal.runtime.run import DEFAULT_RUN, Run
from dagneal.scoring.table import ScoreTable, check_table
from dagneal.search.cuts import search_orders
from dagneal.search.parent_sets import MAX_CANDIDATES
from dagneal.search.space import OrderState, SearchSpace
from dagneal.solvers.order_search import search
from dagneal.solvers.solution import Bound

EFFORT = 2.0e8  # work of an attempt if no other limit is given; about three seconds
_RESTARTS = 20  # of the order search that finds a first network
_BYTES = 1000  # memory for each family: its costs, its columns and its coefficients in a few hundred cuts
_OLDEST = (1, 15)  # version of highspy


@dataclass(frozen=True, eq=False)
class Attempt:
    """The result of a proof attempt.

    Attributes:
        dag: best network.
        score: its log score.
        bound: proved upper bound on the log score of all networks of the table.
        optimal: whether no network of the table scores higher, up to 10^-6 nats.
        proof: proof of the bound.
        trace: progress of the attempt, as tuples (seconds, score, bound).
        nodes: number of nodes of the search tree.
        seconds: duration of the attempt.
    """

    dag: nx.DiGraph
    score: float
    bound: Bound
    optimal: bool
    proof: Proof
    trace: tuple[tuple[float, float, float], ...]
    nodes: int
    seconds: float


def prove(table: ScoreTable, initial: nx.DiGraph | None = None, run: Run = DEFAULT_RUN, work: float = inf) -> Attempt:
    """Try to prove which network of a score table is optimal.

    The proof is complete after seconds for many tables with up to 80 variables. If the deadline, the work or Ctrl-C ends the
    attempt before, the result has the best network and the bound so far.

    Args:
        table: score table with any number of variables. The proof holds for the networks that the table allows.
        initial: network to start with; by default the result of a short order search. Larger parent sets than those of the
            table are reduced.
        run: `Run` object with seed, deadline and progress.
        work: amount of work after which the attempt stops; no limit by default. `EFFORT` is about three seconds.

    >>> from dagneal.networks.bundled import load
    >>> from dagneal.scoring.scorer import score_table
    >>> attempt = prove(score_table(load("alarm-15").sample(10_000, 1)))
    >>> attempt.optimal, round(attempt.bound.score - attempt.score, 5)
    (True, 0.0)
    """
    check_table(table)
    check_highspy()
    from dagneal.proofs.branch import Prover

    begun = perf_counter()
    families = Families.of(table)
    check_memory(_BYTES * len(families), f"a proof with {len(families):,} parent sets", "use a lower parent limit")
    chosen = _first_families(table, families, initial, run)
    prover = Prover(families, chosen, run, work, _order_search(families))
    stopped = ""
    try:
        prover.prove()
    except KeyboardInterrupt:
        stopped = "interrupt"
    optimal = prover.bound >= prover.target
    names = table.names
    rows = families.rows[prover.best]
    dag = dag_from_parents({name: [names[p] for p in row if p >= 0] for name, row in zip(names, rows, strict=True)})
    score = table.score(dag)
    upper = score if optimal else max(families.score(prover.bound), score)
    return Attempt(
        dag=dag,
        score=score,
        bound=Bound(upper, table.max_parents, "" if optimal else stopped or prover.stopped),
        optimal=optimal,
        proof=prover.certificate(),
        trace=tuple((moment, families.score(cost), families.score(bound)) for moment, cost, bound in prover.trace),
        nodes=prover.nodes,
        seconds=perf_counter() - begun,
    )


def check_highspy() -> None:
    """Raise an error if the solver of linear programmes is missing or too old."""
    wanted = ".".join(map(str, _OLDEST))
    try:
        found = version("highspy")
    except PackageNotFoundError as error:
        raise InputError(f"proofs need the package highspy; run pip install 'highspy>={wanted}'") from error
    if tuple(int(part) for part in found.split(".")[:2]) < _OLDEST:
        raise InputError(f"highspy {found} is too old for proofs; run pip install 'highspy>={wanted}'")


def _order_search(families: Families) -> Callable[[Ints], Ints] | None:
    """Return a function that improves an order by local search; None if a child cannot have an empty parent set.

    Each child keeps the families of the 64 candidate parents that occur first, so that masks have one word.
    """
    ends = families.start[1:] - 1
    if (families.rows[ends] >= 0).any():
        return None
    n = families.variables
    bits = np.full((n, n + 1), -1, dtype=np.int8)
    kept, masks = np.zeros(len(families), dtype=bool), np.zeros(len(families), dtype=np.uint64)
    for child, (begin, end) in enumerate(pairwise(families.start.tolist())):
        rows = families.rows[begin:end]
        parents, place = np.unique(rows[rows >= 0], return_index=True)
        parents = parents[np.argsort(place)][:MAX_CANDIDATES]
        bits[child, parents] = np.arange(len(parents))
        own = np.where(rows >= 0, bits[child][rows], 64)  # bit 64 is for padding
        kept[begin:end] = (own >= 0).all(axis=1)
        shifted = np.where(own < 64, np.uint64(1) << (own & 63).astype(np.uint64), np.uint64(0))
        masks[begin:end] = np.bitwise_or.reduce(shifted, axis=1)
    start = np.concatenate([[0], np.cumsum(kept)])[families.start]
    space = SearchSpace.build(bits[:, :n], start, masks[kept][:, None], -families.costs[kept] / UNITS)

    def improve(order: Ints) -> Ints:
        state = OrderState.start(space, order, 1)
        search_orders(space, state, np.arange(n), True, 0, 0, 0)
        return state.order

    return improve


def _first_families(table: ScoreTable, families: Families, initial: nx.DiGraph | None, run: Run) -> Ints:
    """Return the best family of each child among the parents in the initial network, or after them in a short search."""
    n = families.variables
    allowed = np.zeros((n, n + 1), dtype=bool)  # allowed[child, parent]; the last column is for padding
    allowed[:, -1] = True
    if initial is None:
        order, _ = search(table, _RESTARTS, None, run)
        for place, child in enumerate(order.tolist()):
            allowed[child, order[:place]] = True
    else:
        for parent, child in initial.edges:
            allowed[table.position[child], table.position[parent]] = True
    fits = allowed[families.children[:, None], families.rows].all(axis=1)
    fitting: Ints = np.flatnonzero(fits)  # the families of a child are sorted by cost
    children, first = np.unique(families.children[fitting], return_index=True)
    if len(children) < n:
        name = families.names[int(np.setdiff1d(np.arange(n), children)[0])]
        raise InputError(
            f"{name!r} has no parent set that fits the initial network, or its scores differ by more than {MAX_COST:,} "
            "nats, which is too much for a proof"
        )
    return fitting[first]
