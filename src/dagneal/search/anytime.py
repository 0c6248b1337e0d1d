"""The anytime search: a first network from pairs of variables, which later stages improve.

The search keeps a list of good parent sets for each child. Each stage proposes new sets, scores them and adds them to the
lists. Then the search looks for the best order with these lists, starting from the present order. It can stop at any time.

1. Pairs: every child has at most one parent.
2. Additions of single parents, and pairs of parents, among the strongest neighbours of each variable.
3. Removals, replacements and additions of parents, first among the strongest neighbours, then among all variables.
4. Reversals of edges. The two variables of an edge get new parents, which suit the new direction. Two rounds of restarts.
5. Complete lists of all sets of few parents, if they can be counted soon; otherwise sets of the strongest neighbours.
6. Larger sets: single changes of the best sets of each list, and several more parents at once (see `beams`).
7. Restarts: a region of the network gets a random order in several chains, and the results are combined, until three rounds
   bring no improvement.
8. Without complete lists: pairs of parents that raise a score only together, found by counting all triples.
9. Larger sets and restarts again, while this raises the score.
10. Single changes of the best network over all variables, until none raises the score.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from itertools import count
from math import comb
from time import perf_counter
from typing import Literal

import networkx as nx
import numpy as np
from numpy.typing import NDArray

from dagneal.base.errors import InputError, OutOfTimeError
from dagneal.base.kernels import Floats, Ints, run_threads
from dagneal.graphs.dags import dag_from_parents
from dagneal.runtime.run import Run
from dagneal.scoring.additions import Additions, Indicators, can_score_additions
from dagneal.scoring.complete import CompleteSets, complete_cost, complete_sets, has_few_rows
from dagneal.scoring.orders import enforce_required
from dagneal.scoring.scorer import Scorer
from dagneal.scoring.sets import Members, max_set_size
from dagneal.search.beams import search_beam
from dagneal.search.changes import Change, best_change, find_descendants, reverse_edges
from dagneal.search.cuts import search_orders
from dagneal.search.joint_gains import joint_gains, triple_cost
from dagneal.search.large_sets import SizeRule, drop_weak_changes, find_weak
from dagneal.search.neighbours import closest, dependence, nearest
from dagneal.search.parent_sets import MAX_CANDIDATES, ParentSets, stack_rows
from dagneal.search.proposals import (
    Options,
    Rules,
    added_parents,
    best_of_each,
    markov_blankets,
    propose_changes,
    propose_combinations,
    trim_rows,
    unite_rows,
)
from dagneal.search.space import OrderState, SearchSpace
from dagneal.search.trace import TracePoint, stop_reason

Effort = Literal["normal", "max"]
EFFORTS = ("normal", "max")
# Independent searches of a round. The first number is divided by the number of variables. The number of threads must not
# change the result.
ALL_CHAINS, MIN_CHAINS, MAX_CHAINS = 800, 4, 12
MOST = 400  # with more variables, a step of the search takes no more visits and cuts
REGION = 100  # variables that a restart puts into random order
PATIENCE = 3  # rounds without improvement after which the search stops
EARLY_ROUNDS = 2  # maximum number of rounds of restarts before complete lists
MIN_ROUNDS, ROUNDS = 1, 200_000  # maximum number of rounds; the second number is divided by the squared number of variables
NEIGHBOURS = 40  # strongest neighbours of a variable that are tried as parents before all variables are tried
PAIR_NEIGHBOURS = 20  # strongest neighbours of a variable that are tried as pairs of parents at first
MAX_PROPOSALS = 300_000  # approximate number of pairs of parents that are tried later
HUB = 3  # a variable that is close to many others gets at most this multiple of the number of neighbours
MAX_TRIPLE_COST = 1e10  # in rows to read; up to this cost all pairs of parents are counted
LEADERS, MAX_SETS = 12, 100_000  # best candidates of a child whose sets of three and four are tried; number of these sets
MAX_COMPLETE, MAX_FAMILIES, MAX_COMPLETE_COST = 4, 2e6, 8e9  # complete lists: parents, sets to count, rows to read
MANY_FAMILIES, MAX_KEPT = 2e7, 200_000  # with few rows: sets to count, if the lists up to `MAX_FAMILIES` are not longer
WIDEN_COST = 3e7  # in rows to read; cost of single changes of all sets of the same rank in their lists
SMALL = 100  # up to this number of variables, all variables are tried in single changes of the best sets of each list
MIN_WIDTH, MAX_WIDTH = 3, 40  # best sets of each list whose single changes are tried
BEAM_COST = 1.5e8  # distinct rows times states of the possible parents of all children, for each set in a beam
MAX_COUNTED = 2_000_000  # sets whose counts stay in memory during beam search
MIN_BEAM, MAX_BEAM = 3, 200  # sets of each child in a beam; there is no beam search if the cost allows fewer
MAX_EXCHANGE = 8  # maximum number of parents if two variables get the parents of both
WORTHWHILE = 0.01  # nats; a step is repeated if it gains more
_EPSILON = 1e-6  # nats; smaller gains can be rounding errors
_CUTS, _VISITS = 200, 2000  # cuts, and visits of variables, between two checks of the deadline
_ROWS = 500_000  # parent sets that are scored at a time

Chain = tuple[SearchSpace, Ints, Ints, int, int]
"""Search space, initial order, variables to move, visits and cuts for each of these variables."""


@dataclass(frozen=True, eq=False)
class FoundNetwork:
    """A network that the search found.

    Attributes:
        order: indices of the variables, from first to last.
        parents: parent set of each variable, as rows of ascending variables padded with -1.
        score: log score.
    """

    order: Ints
    parents: Members
    score: float = -np.inf


class AnytimeSearch:
    """A search that has a network soon, and improves it until the effort or the time is spent.

    Args:
        scorer: scorer of the data. Its background knowledge is obeyed.
        max_parents: parent limit; None for no limit but the rule for large sets (see `large_sets`).
        run: `Run` object with seed, deadline and progress.

    Attributes:
        best: best network so far.
        trace: best score after each improvement.
        stopped: reason for the end of the search: `""` if all stages are finished, `"time"` or `"interrupt"`.
        complete: all parent sets up to a number of parents, if they were counted.
        locally_optimal: whether it was checked that no single change of the network raises the score. Sets that break the
            rule for large sets are not counted.
    """

    def __init__(self, scorer: Scorer, max_parents: int | None, run: Run) -> None:
        n = len(scorer.data.names)
        self.scorer, self.run = scorer, run
        self.trace: list[TracePoint] = []
        self.stopped = ""
        self.complete: CompleteSets | None = None
        self.locally_optimal = False
        limits = np.full(n, n - 1 if max_parents is None else max_parents)
        limits = np.minimum(limits, min(max_set_size(n) - 1, MAX_CANDIDATES))
        rules = scorer.constraints
        allowed = ~np.eye(n, dtype=bool) if rules is None else rules.allowed & ~np.eye(n, dtype=bool)
        required = np.zeros((n, n), dtype=bool) if rules is None else rules.required
        limits = limits if rules is None else np.minimum(limits, rules.limits)
        self._rules = Rules(required, limits, SizeRule.of(n, max_parents))
        needed = required.sum(axis=0)
        if (most := int(needed.max())) > MAX_CANDIDATES:
            child = scorer.data.names[int(needed.argmax())]
            raise InputError(f"{child!r} has {most} required parents; the search allows at most {MAX_CANDIDATES}")
        self.sets = ParentSets(n, required)
        self._allowed = allowed
        self._every = Options.of(allowed)  # all possible parents
        self._near, self._close, self._wide = self._every, allowed, allowed  # the strongest neighbours
        self._strength = np.zeros((n, n))  # dependence between variables
        self._beam = self._beam_width()
        self._indicators = Indicators(scorer) if self._beam else None
        self._tried: dict[str, set[bytes]] = {}
        self._seeds = count()
        self._stage = "pairs"
        self._begun = perf_counter()
        self.best = self._current = self._widened = FoundNetwork(np.arange(n), np.full((n, 1), -1, dtype=np.int32))

    def solve(self, initial: FoundNetwork | None = None, effort: Effort = "normal", restarts: bool = True) -> None:
        """Search until the effort or the time is spent, or until Ctrl-C. Without any network, raise the exception.

        Args:
            initial: initial network; None for no warm start.
            effort: `"normal"` to end each series of restarts after three rounds without improvement, or after 200,000
                rounds divided by the squared number of variables, at least one; `"max"` to use all the time.
            restarts: False to leave out the restarts.
        """
        with self.keep_best():
            self._start(initial)
            self._grow(restarts)
            rounds = max(MIN_ROUNDS, ROUNDS // len(self._allowed) ** 2)
            if restarts:
                self._restart_rounds(rounds)
            if self._try_all_pairs() and restarts:
                self._restart_rounds(rounds)
            while restarts and self._widen_again():
                self._restart_rounds(rounds)
            self._finish()
            while effort == "max" and restarts:
                if self._restart_rounds(rounds):
                    self._finish()

    @property
    def dag(self) -> nx.DiGraph:
        """The best network so far."""
        names = self.scorer.data.names
        pairs = zip(names, self.best.parents, strict=True)
        return dag_from_parents({name: [names[p] for p in row if p >= 0] for name, row in pairs})

    @contextmanager
    def keep_best(self) -> Iterator[None]:
        """End a `with` block at the deadline or at Ctrl-C, and record why. Without any network, raise the exception."""
        try:
            yield
        except (KeyboardInterrupt, OutOfTimeError) as error:
            if not np.isfinite(self.best.score):
                raise
            self.stopped = stop_reason(error)

    def add_network(self, network: FoundNetwork, stage: str) -> None:
        """Continue from a better network, even if it has weak sets. Use this method in a `with` block of `keep_best`.

        Args:
            network: network with its score.
            stage: name of the stage in the trace.
        """
        self._begin(stage)
        self._add_unchecked(np.arange(len(network.parents)), network.parents)
        self._keep(network)
        self._improve(100, 5)
        self._refine()
        self._finish()

    # Stages

    def _start(self, initial: FoundNetwork | None) -> None:
        """Find a network in which each child has its required parents or, if it has none, at most one parent."""
        self._begin("pairs")
        n = len(self._allowed)
        everyone = np.arange(n)
        gains = self.scorer.pair_gains()
        self._score(everyone, np.full((n, 1), -1, dtype=np.int32))
        required = self._rules.required
        if required.any():
            child, parent = np.nonzero(required.T)
            base = np.full((n, int(required.sum(axis=0).max())), -1, dtype=np.int32)
            base[child, np.arange(len(child)) - np.searchsorted(child, child)] = parent
            self._add_unchecked(everyone, base)
        single = (gains > 0) & self._allowed & ~required.any(axis=0) & (self._rules.limits > 0)
        child, parent = np.nonzero(single.T)
        self._score(child, parent[:, None].astype(np.int32))
        order = np.argsort(-np.where(np.isfinite(gains), gains, 0.0).sum(axis=0), kind="stable")
        if initial is not None:
            fits = (initial.parents >= 0).sum(axis=1) <= self._rules.limits
            self._add_unchecked(everyone[fits], initial.parents[fits])
            order = initial.order
        self._current = FoundNetwork(enforce_required(order[None, :], required)[0], self._current.parents)
        self._improve(0, 0)

    def _grow(self, restarts: bool) -> None:
        """Grow the network from pairs: add, replace and reverse edges until no step brings a new parent set.

        Args:
            restarts: True for up to two rounds of restarts after the first reversals. They gain most at this point.
        """
        self._begin("additions")
        self._strength = strength = dependence(self.scorer)
        self._near = Options.of(nearest(strength, NEIGHBOURS) & self._allowed)
        self._close = self._neighbours(PAIR_NEIGHBOURS)
        self._change(self._near, "additions", swaps=False, visits=10)
        self._begin("pairs of parents")
        self._score(*propose_combinations(Options.of(self._close), self._rules, 2))
        self._improve(20, 1)
        self._begin("replacements")
        self._change(self._near, "near", swaps=True, visits=20)
        self._expand(self._every, "every", swaps=True)
        self._improve(20, 1)
        self._begin("reversals")
        self._refine_once()
        if restarts:
            self._restart_rounds(EARLY_ROUNDS)
        self._add_complete()
        if self._complete_size < 3:
            self._begin("sets of parents")
            self._combine()
        if self._complete_size < 2:
            self._begin("more pairs of parents")
            self._wide = self._neighbours(int((2 * MAX_PROPOSALS / len(strength)) ** 0.5))
            self._score(*propose_combinations(Options.of(self._wide), self._rules, 2))
            self._improve(100, 5)
            self._refine()
            self._combine()
        self._widen()

    def _neighbours(self, most: int) -> NDArray[np.bool_]:
        """Return the `most` strongest neighbours of each variable, and the variables that have it as such a neighbour.

        A variable that is close to many others gets at most `HUB` times as many neighbours.
        """
        return nearest(self._strength, most) & closest(self._strength, HUB * most) & self._allowed

    @property
    def _complete_size(self) -> int:
        """The number of parents up to which all parent sets are known."""
        return 1 if self.complete is None else self.complete.max_parents

    def _add_complete(self) -> None:
        """Add all parent sets of up to two, three or four parents, if they can be counted soon."""
        n, most = len(self._allowed), int(self._rules.limits.max())
        possible = [m for m in range(2, min(most, MAX_COMPLETE) + 1) if complete_cost(self.scorer, m) <= MAX_COMPLETE_COST]
        families = [(MAX_FAMILIES, 0)] + [(MANY_FAMILIES, MAX_KEPT)] * has_few_rows(self.scorer)
        for most_families, most_sets in families:
            size = max((m for m in possible if comb(n, m + 1) <= most_families), default=0)
            if size > self._complete_size and (self.complete is None or len(self.complete.rows) <= most_sets):
                self._add_sets_up_to(size)

    def _add_sets_up_to(self, size: int) -> None:
        """Add all parent sets of up to `size` parents."""
        self._begin("complete lists")
        _, children, rows, scores = self.complete = complete_sets(self.scorer, size)
        fits = (rows >= 0).sum(axis=1) <= self._rules.limits[children]
        fits &= self._rules.required.sum(axis=0)[children] == 0
        self.sets.add(children[fits], trim_rows(rows[fits]), scores[fits])
        self._improve(100, 5)
        self._refine()

    def _try_all_pairs(self) -> bool:
        """Count all triples of variables to find pairs of parents that raise a score only together, if this is cheap.

        Return whether a better network was found.
        """
        useless = self._complete_size >= 2 or self._rules.limits.max() < 2 or self._wide[self._allowed].all()
        if useless or triple_cost(self.scorer) > MAX_TRIPLE_COST:
            return False
        self._begin("all pairs of parents")
        score = self.best.score
        pairs = joint_gains(self.scorer, self.scorer.pair_gains(), self._wide)
        self._score(*propose_combinations(Options.of(pairs & self._allowed), self._rules, 2))
        self._keep(self.best)
        self._improve(100, 5)
        self._refine()
        return self.best.score > score + WORTHWHILE

    def _widen_again(self) -> bool:
        """Search for larger sets again if the best network is new. Return whether a better network was found."""
        if self.best is self._widened:
            return False
        self._keep(self.best)
        score = self.best.score
        self._widen()
        return self.best.score > score + WORTHWHILE

    def _combine(self) -> None:
        """Try all sets of three and four parents among the best candidates of each child."""
        n = len(self._allowed)
        few, most = (max(k for k in range(4, LEADERS + 1) if n * comb(k, size) <= MAX_SETS or k == 4) for size in (4, 3))
        for leaders, size in ((closest(self._strength, most), 3), (self.sets.leaders(most), 3), (self.sets.leaders(few), 4)):
            self._score(*propose_combinations(Options.of(leaders & self._allowed), self._rules, size))
        self._improve(100, 5)
        self._refine()

    def _restart_rounds(self, most: int) -> bool:
        """Restart in at most so many rounds, until three rounds bring no improvement.

        Return whether a better network was found.
        """
        idle, first = 0, self.best.score
        for _ in range(most):
            score = self.best.score
            self._restart()
            idle = 0 if self.best.score > score + _EPSILON else idle + 1
            if idle == PATIENCE:
                break
        return self.best.score > first + _EPSILON

    def _restart(self) -> None:
        """Shuffle a part of the best order in independent chains, and refine the best network that results from them."""
        self._begin("restarts")
        space = self.sets.space()
        generator = self._generator()
        chains = _clip(ALL_CHAINS / len(self._allowed), MIN_CHAINS, MAX_CHAINS)
        regions = [self._choose_region(generator) for _ in range(chains)]
        orders = np.stack([_shuffle(self.best.order, region, generator) for region in regions])
        orders = enforce_required(orders, self._rules.required)
        tasks = [(space, order, region, 200, 5) for order, region in zip(orders, regions, strict=True)]
        states = self._run_chains(tasks, generator)
        before = self.best
        network = self._combine_states(space, states, generator)
        if abs(network.score - before.score) > _EPSILON:  # otherwise it is the best network, or an equivalent one
            self._keep(network)
            self._refine()
        self._keep(self.best)
        self._improve(100, 5)
        if self.best is not before:
            self._refine()

    def _run_chains(self, tasks: list[Chain], generator: np.random.Generator) -> list[OrderState]:
        """Run chains in threads. Return their states."""
        seeds = generator.integers(1, 2**62, len(tasks))

        def work(task: tuple[Chain, int]) -> OrderState:
            (space, order, centres, visits, cuts), seed = task
            state = OrderState.start(space, order, seed)
            self._run_chain(space, state, centres, visits, cuts)
            return state

        return run_threads(work, list(zip(tasks, seeds.tolist(), strict=True)), self.scorer.counter.workers)

    def _combine_states(self, space: SearchSpace, states: list[OrderState], generator: np.random.Generator) -> FoundNetwork:
        """Search again with only those parent sets that the states or the best network use. Return the best network.

        Good networks differ in several regions that have little to do with each other. This search is fast because it has
        few sets, and it finds the best combination of regions.
        """
        best = OrderState.start(space, self.best.order, 1)
        search_orders(space, best, best.order, True, 0, 0, 0)
        states = sorted([*states, best], key=lambda state: -float(state.score[0]))
        if states[0].score[0] > self.best.score + _EPSILON:  # keep it, even if the time ends now
            self._keep(self._network(space, states[0]))
        kept = np.zeros(len(space.masks), dtype=bool)
        kept[space.start[1:] - 1] = True
        for state in states:
            kept[state.chosen] = True
        few = space.restrict(kept)
        everyone = np.arange(len(self._allowed))
        tasks = [(few, state.order, everyone, 500, 20) for state in states[:MIN_CHAINS]]
        top = max(self._run_chains(tasks, generator), key=lambda state: float(state.score[0]))
        if top.score[0] <= states[0].score[0] + _EPSILON:
            return self._network(space, states[0])
        return FoundNetwork(top.order, self.sets.rows(space, np.flatnonzero(kept)[top.chosen]), float(top.score[0]))

    def _choose_region(self, generator: np.random.Generator) -> Ints:
        """Return a random connected region of variables."""
        n = len(self._allowed)
        region = {int(generator.integers(n))}
        edge = sorted(region)
        while edge and len(region) < REGION:
            variable = edge.pop(int(generator.integers(len(edge))))
            around = generator.permutation(np.flatnonzero(self._close[:, variable] | self._close[variable]))
            new = [int(other) for other in around if int(other) not in region][: REGION - len(region)]
            region.update(new)
            edge += new
        return np.array(sorted(region))

    def _finish(self) -> None:
        """Apply single changes of the best network over all variables, until none raises the score."""
        self._begin("local optimum")
        self._keep(self.best)
        while True:
            self.run.deadline.check()
            network = self.best
            change = best_change(network.parents, network.order, self._rules, self._every, self.scorer)
            if change is None:
                self.locally_optimal = True
                return
            self._keep(_apply(network, change))  # pins the new sets, so that they stay in the lists
            self._score(change.children, change.rows)
            self._improve(0, 0)

    # Steps

    def _change(self, options: Options, name: str, swaps: bool, visits: int) -> None:
        """Propose single changes of the present network and search again, until two steps gain little or nothing is new."""
        idle = 0
        while idle < 2 and self._expand(options, name, swaps):
            score = self._current.score
            self._improve(visits, 0)
            idle = 0 if self._current.score > score + WORTHWHILE else idle + 1

    def _expand(self, options: Options, name: str, swaps: bool) -> bool:
        """Score all single changes of the present network that were not tried. Return whether there are any."""
        parents = self._current.parents
        return self._expand_sets(np.arange(len(parents)), parents, options, name, swaps)

    def _expand_sets(self, children: Ints, rows: Members, options: Options, name: str, swaps: bool) -> bool:
        """Score all single changes of parent sets that were not tried. Return whether there are any."""
        new = self._untried_pairs(name, children, rows)
        step = max(1, _ROWS // max(1, int(np.diff(options.first).max()) * (rows.shape[1] + 1)))
        for begin in range(0, len(new), step):
            some = new[begin : begin + step]
            changed, changes, origin = propose_changes(children[some], rows[some], options, self._rules, swaps)
            self.run.deadline.check()
            scores = self.scorer.score_parents(changed, changes)
            present = self.scorer.score_parents(children[some], rows[some])
            kept = drop_weak_changes(changes, scores, origin, rows[some], present, self._rules.large)
            self._add(changed[kept], changes[kept], scores[kept])
        return len(new) > 0

    def _widen(self) -> None:
        """Search for larger sets and search again, until this gains little."""
        self._begin("larger sets")
        small = len(self._allowed) <= SMALL
        options, name = (self._every, "every") if small else (self._near, "near")
        possible = (self._allowed if small else self._allowed & nearest(self._strength, NEIGHBOURS)).T
        width = _clip(WIDEN_COST / (self.scorer.counter.cost(4) * max(1, len(options.variables))), MIN_WIDTH, MAX_WIDTH)
        self._search_beams(possible)
        gain = np.inf
        while gain > WORTHWHILE:
            score = self._current.score
            for fitting in (False, True):
                children, rows = self.sets.best_sets(width, fitting)
                self._expand_sets(children, rows, options, name, swaps=True)
            self._search_beams(possible & ~find_descendants(self._current.parents, self._current.order))
            self._improve(100, 5)
            gain = self._current.score - score
        self._refine()
        self._widened = self.best

    def _beam_width(self) -> int:
        """Return the number of sets of each child in a beam; 0 if beam search would take too long."""
        if not can_score_additions(self.scorer):
            return 0
        data, n = self.scorer.data, len(self._allowed)
        possible = n if n <= SMALL else NEIGHBOURS  # parents of each child
        entries = float((data.arities - 1).sum()) * possible
        width = int(BEAM_COST / max(1.0, data.codes.shape[1] * entries))
        return min(width, MAX_BEAM) if width >= MIN_BEAM else 0

    def _search_beams(self, options: NDArray[np.bool_]) -> None:
        """Search for larger parent sets of each child by beam search, if the data are small enough.

        Args:
            options: matrix; `options[child, variable]` is True if the variable may become a parent of the child.
        """
        indicators = self._indicators
        if indicators is None:
            return
        self.scorer.limit_counts(MAX_COUNTED)
        required, limits, rule = self._rules
        options = options & ~required.T
        children = self._untried_pairs("beams", np.arange(len(options)), np.packbits(options, axis=1).astype(np.int32))
        children = children[options[children].any(axis=1)]

        def work(child: int) -> tuple[Members, Floats]:
            self.run.deadline.check()
            additions = Additions(indicators, child, np.flatnonzero(options[child]))
            first = np.flatnonzero(required[:, child])
            least = len(first) + 1 if len(first) else self._complete_size + 1  # complete lists ignore required parents
            return search_beam(additions, first, int(limits[child]), self._beam, rule, least)

        results = run_threads(work, children.tolist(), self.scorer.counter.workers)
        if results:
            rows = stack_rows([rows for rows, _ in results])
            self._score(np.repeat(children, [len(rows) for rows, _ in results]), trim_rows(rows))

    def _untried_pairs(self, name: str, children: Ints, rows: Members) -> Ints:
        """Return the indices of the pairs (child, parent set) that no earlier call with this name had."""
        seen = self._tried.setdefault(name, set())
        keys = [child.tobytes() + row[row >= 0].tobytes() for child, row in zip(children, rows, strict=True)]
        new = np.flatnonzero([key not in seen for key in keys])
        seen.update(keys)
        return new

    def _refine(self) -> None:
        """Propose reversals and single changes of the present network and search again, until this gains little."""
        while self._refine_once():
            pass

    def _refine_once(self) -> bool:
        """Propose reversals and single changes of the present network and search again. Return whether this gains much."""
        score = self._current.score
        for propose in (self._exchange, partial(self._reverse, ordered=True), partial(self._reverse, ordered=False)):
            if propose():
                self._improve(20, 1)
        self._change(self._near, "near", swaps=True, visits=20)
        if self._current.score - score <= WORTHWHILE:
            self._expand(self._every, "every", swaps=True)
            self._improve(100, 5)
        return self._current.score - score > WORTHWHILE

    def _reversible(self) -> tuple[Ints, Ints, Ints]:
        """Return child, parent and place of each edge of the present network that may be reversed."""
        parents = self._current.parents
        child, place = np.nonzero(parents >= 0)
        parent = parents[child, place].astype(np.int64)
        possible = self._allowed[child, parent] & ~self._rules.required[parent, child]
        return child[possible], parent[possible], place[possible]

    def _exchange(self) -> bool:
        """Propose parent sets for reversed edges that keep all dependencies of the network. Return whether any are new.

        If the edge p -> c is reversed, p and c both get the parents of both (Shachter 1986). Then parents are removed one
        after the other, while the score rises.
        """
        parents = self._current.parents
        child, parent, _ = self._reversible()
        own = np.where(parents[child] == parent[:, None], -1, parents[child])
        new = np.concatenate([np.full(len(child), -1), child]).astype(np.int32)
        rows = unite_rows(np.tile(own, (2, 1)), np.tile(parents[parent], (2, 1)), new[:, None])
        children = np.concatenate([child, parent])
        sizes = (rows >= 0).sum(axis=1)
        fits = np.flatnonzero((sizes <= self._rules.limits[children]) & (sizes <= MAX_EXCHANGE))
        fits = fits[self._untried_pairs("exchanges", children[fits], rows[fits])]
        children, rows = children[fits], trim_rows(rows[fits])
        scores = self._score(children, rows)
        no_options = Options.of(np.zeros_like(self._allowed))
        while len(children):
            changed, smaller, origin = propose_changes(children, rows, no_options, self._rules, swaps=True)
            new_scores = self._score(changed, smaller)
            better, best = _improvements(scores, origin, new_scores, np.ones(len(origin), dtype=bool))
            scores, children, rows = new_scores[best], children[better], smaller[best]
        return len(fits) > 0

    def _reverse(self, ordered: bool) -> bool:
        """Propose parent sets for the reversal of each edge of the present network. Return whether any are new.

        If the edge p -> c is reversed, c loses the parent p, and p gets the parent c. Then both get further parents by
        greedy search among their strongest neighbours and their Markov blankets. Variables with a common child are included,
        because they can become parents of each other when the edges of the child are reversed. If `ordered`, new parents
        come before the child in the order. Otherwise any variable can be added, as if several edges were reversed.
        """
        parents = self._current.parents
        child, parent, place = self._reversible()
        without, extended = reverse_edges(parents, child, parent, place)
        rows = np.concatenate([np.pad(without, ((0, 0), (0, 1)), constant_values=-1), extended])
        children, others = np.concatenate([child, parent]), np.concatenate([parent, child])
        fits = np.flatnonzero((rows >= 0).sum(axis=1) <= self._rules.limits[children])
        # The other variable of the edge is part of the key: it determines the possible parents.
        keys = np.concatenate([rows, others[:, None].astype(np.int32)], axis=1)
        fits = fits[self._untried_pairs(f"reversals, {ordered}", children[fits], keys[fits])]
        if len(fits):
            options = Options.of((self._close | markov_blankets(parents)) & self._allowed)
            self._add_greedily(children[fits], rows[fits], others[fits], options, ordered)
        return len(fits) > 0

    def _add_greedily(self, children: Ints, rows: Members, others: Ints, options: Options, ordered: bool) -> None:
        """Add the best parents to parent sets, one after the other, while the score rises.

        The variable in `others` is never added. If `ordered`, only variables before the child in the order are added.
        """
        position = np.empty(len(self._allowed), dtype=np.int64)
        position[self._current.order] = np.arange(len(position))
        scores = self._score(children, rows)
        while len(children):
            changed, larger, origin = propose_changes(children, rows, options, self._rules, swaps=False)
            new_scores = self._score(changed, larger)
            added = added_parents(rows, larger, origin)
            possible = (added != others[origin]) & (position[added] < position[changed] if ordered else True)
            better, best = _improvements(scores, origin, new_scores, possible)
            scores, children, others, rows = new_scores[best], children[better], others[better], larger[best]

    def _score(self, children: Ints, rows: Members) -> Floats:
        """Score parent sets and add them to the lists. Return the scores."""
        self.run.deadline.check()
        scores = self.scorer.score_parents(children, rows)
        self._add(children, rows, scores)
        return scores

    def _add(self, children: Ints, rows: Members, scores: Floats) -> None:
        """Add parent sets to the lists, without weak sets."""
        self.sets.add(children, rows, scores, lambda c, r, s: ~find_weak(c, r, s, self._rules.large, self.scorer))

    def _add_unchecked(self, children: Ints, rows: Members) -> None:
        """Score parent sets and add them to the lists, even if they are weak."""
        self.sets.add(children, rows, self.scorer.score_parents(children, rows))

    def _improve(self, visits: int, cuts: int) -> None:
        """Search for a better order, starting from the present order."""
        space = self.sets.space()
        seed = int(self._generator().integers(1, 2**62))
        state = OrderState.start(space, self._current.order, seed)
        try:
            self._run_chain(space, state, np.arange(len(self._allowed)), visits, cuts)
        finally:
            if np.isfinite(state.score[0]):
                self._keep(self._network(space, state))

    def _run_chain(self, space: SearchSpace, state: OrderState, centres: Ints, visits: int, cuts: int) -> None:
        """Improve an order by cuts and perturbations. `visits` and `cuts` are numbers per variable in `centres`."""
        search_orders(space, state, centres, True, 0, 0, 0)
        n = min(len(centres), MOST)
        for begin in range(0, cuts * n, _CUTS):
            self.run.deadline.check()
            search_orders(space, state, centres, False, min(_CUTS, cuts * n - begin), 0, 0)
        end = state.counts[0] + visits * n
        while state.counts[0] < end:
            self.run.deadline.check()
            search_orders(space, state, centres, False, 0, min(end, state.counts[0] + _VISITS), np.iinfo(np.int64).max)

    def _network(self, space: SearchSpace, state: OrderState) -> FoundNetwork:
        return FoundNetwork(state.order, self.sets.rows(space, state.chosen), float(state.score[0]))

    def _keep(self, network: FoundNetwork) -> None:
        """Make a network the present network, and the best network if it is better."""
        self._current = network
        self.sets.pin(network.order, network.parents)
        if network.score > self.best.score + _EPSILON:
            self.best, self.locally_optimal = network, False
            self.trace.append(TracePoint(perf_counter() - self._begun, network.score, self._stage))

    def _generator(self) -> np.random.Generator:
        """Return a new random generator. Its seed depends on the number of calls."""
        return np.random.default_rng([self.run.seed, next(self._seeds)])

    def _begin(self, stage: str) -> None:
        self._stage = stage
        self.run.progress(f"search: {stage}", 0, 1)


def _clip(value: float, least: int, most: int) -> int:
    """Return the nearest integer that is not above `value`, from `least` to `most`."""
    return min(max(int(value), least), most)


def _improvements(scores: Floats, origin: Ints, new_scores: Floats, possible: NDArray[np.bool_]) -> tuple[Ints, Ints]:
    """Return the indices of the sets that a possible change improves, and the index of the best change of each."""
    best = best_of_each(len(scores), origin, new_scores, possible)
    better = np.flatnonzero(best >= 0)
    better = better[new_scores[best[better]] > scores[better] + _EPSILON]
    return better, best[better]


def _shuffle(order: Ints, region: Ints, generator: np.random.Generator) -> Ints:
    """Return an order with the variables of a region in random order, in the same places."""
    members = np.isin(order, region)
    order = order.copy()
    order[members] = generator.permutation(order[members])
    return order


def _apply(network: FoundNetwork, change: Change) -> FoundNetwork:
    """Return a network after a change. Its order is similar to the old order."""
    n, width = len(network.order), max(network.parents.shape[1], change.rows.shape[1])
    parents = np.full((n, width), -1, dtype=np.int32)
    parents[:, : network.parents.shape[1]] = network.parents
    parents[change.children] = -1
    parents[change.children, : change.rows.shape[1]] = change.rows
    precedes = np.zeros((n, n), dtype=bool)
    child, place = np.nonzero(parents >= 0)
    precedes[parents[child, place], child] = True
    order = enforce_required(network.order[None, :], precedes)[0]  # a legal change never creates a cycle
    return FoundNetwork(order, parents, network.score + change.gain)
