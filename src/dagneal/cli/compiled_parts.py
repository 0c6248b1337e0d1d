"""The parts of the kernels. Each part is a function that calls its kernels with tiny problems, so that they are compiled.

The module `compilation` runs each part in a process of its own, with `python -m dagneal.cli.compiled_parts PART`.
"""

from __future__ import annotations

import gc
import os
import sys
from collections.abc import Iterator, Sequence
from functools import cached_property
from typing import TYPE_CHECKING

import networkx as nx
import numpy as np

import dagneal as dn
from dagneal.base.kernels import Floats, Ints, cache_folder
from dagneal.cli.compilation import record_part
from dagneal.data import planes as bit_planes
from dagneal.proofs.facets import Point, find_facet
from dagneal.runtime.run import Run
from dagneal.scoring.additions import Additions, Indicators
from dagneal.scoring.counting.counter import Counter
from dagneal.scoring.scorer import Scorer
from dagneal.scoring.sets import Members
from dagneal.scoring.table import ScoreTable
from dagneal.search.anytime import AnytimeSearch
from dagneal.search.cuts import search_orders
from dagneal.search.joint_gains import joint_gains
from dagneal.search.space import OrderState, SearchSpace

if TYPE_CHECKING:
    from dagneal.data.dataset import Dataset


def _random_data(variables: int, states: int, rows: int) -> Dataset:
    """Return random data in which each variable depends on the variable before it."""
    generator = np.random.default_rng(0)
    codes = generator.integers(0, states, (rows, variables))
    for variable in range(1, variables):
        same = generator.random(rows) < 0.7
        codes[same, variable] = codes[same, variable - 1]
    names = [f"v{variable}" for variable in range(variables)]
    return dn.Dataset.from_codes(names, [[str(state) for state in range(states)]] * variables, codes.T)


class _InventedCounter(Counter):
    """A counter without data. So the search can be compiled before the kernels for counting."""

    @cached_property
    def planes(self) -> None:
        """None: nothing is counted bitwise."""

    def counts(self, families: Sequence[Sequence[int]]) -> Iterator[Ints]:
        """Yield one count for each family."""
        for _ in families:
            yield np.ones(1, dtype=np.int64)

    def sums(self, members: Members, kinds: Ints, concentrations: Floats) -> Floats:
        """Return 1 for each sum."""
        return np.ones((len(members), concentrations.shape[1]))


class _InventedScorer(Scorer):
    """A scorer without data; see `_InventedCounter`."""

    def pair_gains(self) -> Floats:
        """Return the same gain for each pair."""
        gains = np.ones((len(self.data.names),) * 2)
        np.fill_diagonal(gains, 0.0)
        return gains

    def score_parents(self, children: Ints, parents: Members) -> Floats:
        """Return scores that favour the variable before the child as its only parent."""
        before = (parents == children[:, None] - 1).any(axis=1)
        scores: Floats = 10.0 * before - 4.0 * (parents >= 0).sum(axis=1)
        return scores


def _invented_scorer() -> Scorer:
    """Return a scorer of eight variables that counts nothing."""
    data = _random_data(8, 2, 20)
    scorer = _InventedScorer(data)
    scorer.counter = _InventedCounter(data)
    return scorer


def compile_search() -> None:
    """Call the kernels of the search. The kernels that it shares with counting come last, because they may be ready then."""
    bits = np.full((3, 3), -1, dtype=np.int8)
    bits[1, 0] = bits[2, 1] = 0
    masks, scores = np.array([[0], [1], [0], [1], [0]], dtype=np.uint64), np.array([0.0, 1.0, 0.0, 1.0, 0.0])
    space = SearchSpace.build(bits, np.array([0, 1, 3, 5]), masks, scores)
    state = OrderState.start(space, np.arange(3), 1)
    search_orders(space, state, np.arange(3), True, 1, 1, 1)
    AnytimeSearch(_invented_scorer(), None, Run()).solve()


def compile_count() -> None:
    """Call the kernels that count rows, and exact search."""
    few, many = _random_data(6, 2, 500), _random_data(6, 12, 2000)  # counted bitwise, and row by row
    scorer = Scorer(few)
    everything = Additions(Indicators(scorer), 0, np.arange(1, 6))
    everything.scores(np.full((1, 1), -1, dtype=np.int32))  # first: the search needs it, too
    for data in (few, many):
        dn.learn(data, max_parents=3)
    joint_gains(scorer, scorer.pair_gains(), np.zeros((6, 6), dtype=bool))
    _ = scorer.table(2).pruned
    Scorer(few, "qnml").table(1)
    _ = Scorer(_random_data(66, 2, 20)).table(1).pruned  # masks of two words


def compile_prove() -> None:
    """Call the kernels of proofs."""
    table = ScoreTable(
        names=("a", "b", "c"),
        max_parents=2,
        score_name="",
        first=np.arange(4) * 2,
        candidates=np.array([1, 2, 0, 2, 0, 1]),
        start=np.arange(4) * 3,
        masks=np.array([[0], [1], [3]] * 3, dtype=np.uint64),
        scores=np.array([0.0, 1.0, 9.0] * 3),
    )
    dn.proofs.prove(table, nx.empty_graph(table.names, create_using=nx.DiGraph))
    find_facet(np.arange(3), Point(np.arange(3), np.array([6, 5, 3]), np.full(3, 0.6)), 1e-3)


def compile_anneal() -> None:
    """Call the kernels of the annealer."""
    data = _random_data(4, 2, 100)
    for direct, repair in ((True, True), (True, False), (False, True)):
        sampler = dn.SimulatedAnnealing()
        dn.learn(data, dn.Anneal(sampler, 2, direct=direct, repair=repair, parameters={"num_sweeps": 2}))


def compile_solve() -> None:
    """Call the kernels of the other solvers, of near-optimal networks, and of data that are read in chunks."""
    data = _random_data(5, 2, 100)
    for solver in (dn.OrderSearch(), dn.Exhaustive(), dn.Divide(), dn.Divide(size=4, combine="penalty")):
        dn.learn(data, solver)
    dn.learn(data).near_optimal()
    table = Scorer(data).table(1)
    dn.solvers.dag_sums(table)
    dn.solvers.order_sums(table)
    dn.solvers.sample_edges(table, run=Run(deadline=dn.Deadline(0.0)))
    dn.read(np.eye(2, dtype=np.int64))
    bit_planes.empty(np.array([2]), 2).fill(0, 1, np.ones(1, dtype=np.uint8))


if __name__ == "__main__":
    # Numba would import this module to look for functions of linear algebra, which no kernel uses.
    sys.modules["scipy.linalg"] = None  # type: ignore[assignment]
    gc.disable()  # the process is short, and garbage collections would take a tenth of its time
    background = sys.argv[2:] == ["record"]  # then no other process waits for this one, and records that it is finished
    if background and hasattr(os, "nice"):
        os.nice(19)
    globals()[f"compile_{sys.argv[1]}"]()
    if background and (place := cache_folder()) is not None:
        record_part(place, sys.argv[1])
