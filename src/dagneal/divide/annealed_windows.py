"""Solve a large global problem with a sampler, one window after the other. A window is a small set of close variables.

The members of a window get new parents; all other variables keep their parents. A parent set of a member then fits only if
certain other members come before the member: the parents that are members, and the members from which other parents descend.
These members are the predecessors of the parent set. The network has no cycle if and only if the graph from predecessors to
members has none: between two members that follow each other on a cycle there are only variables that keep their parents, so
the first of them is a predecessor of the second. So a window is a small problem of its own. Its score table has predecessors
in place of parents, and each set of predecessors has the score of the best parent set that fits.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property

import networkx as nx
import numpy as np
from numpy.typing import NDArray

from dagneal.base.kernels import Ints, Masks
from dagneal.divide.global_solve import AnnealedSolver, GlobalSolution
from dagneal.divide.subproblem_solvers import Annealing
from dagneal.graphs.dags import dag_from_parents, topological_order
from dagneal.runtime.run import Run
from dagneal.scoring.sets import bounded_masks, find_masks, has_bit, is_subset, mask_bits, mask_sizes, move_bits, pack_flags
from dagneal.scoring.table import ScoreTable, table_layout
from dagneal.solvers.annealing import Sampling, sample

WHOLE_EDGES = 100  # possible edges; up to this number the global problem is solved as one, with more in windows
WINDOW_EDGES = 80  # maximum number of possible edges in a window; the QUBO has about twice as many variables
CHIP_WHOLE_EDGES, CHIP_WINDOW_EDGES = 250, 30  # the same for a quantum annealer: few calls, and QUBOs that fit on the chip
WINDOW_VARIABLES = 30  # members of a window; at most 64, because a set of members is one word
MAX_SWEEPS = 30  # sweeps over all variables in one global solve
_EPSILON = 1e-6  # nats; smaller gains can be rounding errors
_VARIETY = 0.5  # random part of the closeness of a variable to a window, so that windows differ from sweep to sweep
_ONE = np.uint64(1)


@dataclass(frozen=True, eq=False)
class ChosenSets:
    """A network, as the choice of one parent set for each variable. The parent sets are those of `ScoreTable.pruned`.

    Attributes:
        table: score table.
        chosen: index of the parent set of each variable.
    """

    table: ScoreTable
    chosen: Ints

    @classmethod
    def of(cls, table: ScoreTable, dag: nx.DiGraph | None) -> ChosenSets:
        """Return a network in which each variable has its best parent set among its parents in a graph.

        Args:
            table: score table.
            dag: graph over the variables of the table; None for the graph of the required edges.
        """
        n = len(table.names)
        allowed = np.zeros((n, n), dtype=bool) if table.required is None else table.required
        if dag is not None:
            allowed = nx.to_numpy_array(dag, nodelist=table.names) > 0
        start, masks, _ = table.pruned
        chosen = []
        for child in range(n):
            inside = pack_flags(allowed[None, table.candidates_of(child), child], masks.shape[1])
            chosen.append(start[child] + np.flatnonzero(is_subset(masks[start[child] : start[child + 1]], inside))[0])
        return cls(table, np.array(chosen))

    def change(self, children: Ints, entries: Ints) -> ChosenSets:
        """Return a network in which some variables have other parent sets.

        Args:
            children: indices of these variables.
            entries: indices of their parent sets.
        """
        chosen = self.chosen.copy()
        chosen[children] = entries
        return replace(self, chosen=chosen)

    @cached_property
    def score(self) -> float:
        """The log score of the network."""
        return float(self.table.pruned[2][self.chosen].sum())

    @cached_property
    def parents(self) -> list[Ints]:
        """The indices of the parents of each variable."""
        bits = mask_bits(self.table.pruned[1][self.chosen])
        return [self.table.candidates_of(child)[row[row >= 0]] for child, row in enumerate(bits)]

    @cached_property
    def dag(self) -> nx.DiGraph:
        """The network as a graph."""
        names = self.table.names
        return dag_from_parents({name: [names[p] for p in own] for name, own in zip(names, self.parents, strict=True)})

    @cached_property
    def order(self) -> list[int]:
        """The indices of the variables, parents before children."""
        return [self.table.position[name] for name in topological_order(self.dag, self.table.names)]


def possible_edges(table: ScoreTable) -> NDArray[np.bool_]:
    """Return a matrix: `matrix[parent, child]` is True if the edge is in some parent set of `ScoreTable.pruned`.

    Args:
        table: score table.
    """
    start, masks, _ = table.pruned
    edges = np.zeros((len(table.names),) * 2, dtype=bool)
    for child in range(len(table.names)):
        own = table.candidates_of(child)
        edges[own, child] = [has_bit(masks[start[child] : start[child + 1]], bit).any() for bit in range(len(own))]
    return edges


def choose_windows(edges: NDArray[np.bool_], largest: int, generator: np.random.Generator) -> Iterator[Ints]:
    """Yield the members of windows, as ascending indices. Each variable with a possible edge is in at least one window.

    A window starts with a random variable. It grows by the variable that has the largest fraction of its possible edges in
    the window, plus a random number. Windows have different sizes, because large windows find improvements that small
    windows miss, and samplers solve small windows better.

    Args:
        edges: `edges[parent, child]` is True for possible edges.
        largest: maximum number of possible edges in a window. A window of two variables can have more.
        generator: random generator.
    """
    links = edges.astype(np.float64) + edges.T
    total = links.sum(axis=0)
    left = total > 0
    for first in generator.permutation(len(links)):
        if not left[first]:
            continue
        members, count = [int(first)], 0.0
        most = generator.uniform(0.5, 1.0) * largest
        random = _VARIETY * generator.random(len(links))
        inside = links[first].copy()  # number of possible edges between each variable and the window
        while len(members) < WINDOW_VARIABLES:
            closeness = np.where(inside > 0, inside / np.maximum(total, 1) + random, -1.0)
            closeness[members] = -1.0
            nearest = int(np.argmax(closeness))
            count += inside[nearest]
            if closeness[nearest] < 0 or (count > most and len(members) > 1):
                break
            members.append(nearest)
            inside += links[nearest]
        left[members] = False
        yield np.sort(members)


@dataclass(frozen=True, eq=False)
class Window:
    """A window of a network: some variables that get new parents, while all others keep theirs.

    Attributes:
        network: network in which the variables outside the window keep their parents.
        members: indices of the variables in the window, ascending.
        table: score table of the members, with sets of predecessors in place of parent sets. The scores of the first member
            include the scores of all variables outside the window. So the scores are those of complete networks.
        entries: for each entry of the table, the index of its best parent set in `ScoreTable.pruned`.
    """

    network: ChosenSets
    members: Ints
    table: ScoreTable
    entries: Ints

    @classmethod
    def of(cls, network: ChosenSets, members: Ints, limit: int) -> Window:
        """Return the window of a network.

        Args:
            network: network in which the variables outside the window keep their parents.
            members: indices of the variables in the window, ascending.
            limit: maximum number of predecessors of a member.
        """
        table = network.table
        before = _members_before(network, members)
        parts = [_predecessor_sets(table, int(child), place, before, limit) for place, child in enumerate(members)]
        candidates, masks, entries = zip(*parts, strict=True)
        scores = [table.pruned[2][own] for own in entries]
        scores[0] += np.delete(table.pruned[2][network.chosen], members).sum()
        window = ScoreTable(
            names=tuple(table.names[member] for member in members),
            max_parents=max(1, max(int(mask_sizes(own).max()) for own in masks)),
            score_name=table.score_name,
            **table_layout(candidates, masks),
            scores=np.concatenate(scores),
            required=None if table.required is None else table.required[np.ix_(members, members)],
        )
        return cls(network, members, window, np.concatenate(entries))

    def complete(self, graph: nx.DiGraph) -> ChosenSets:
        """Return the network in which the members have the predecessors of a graph.

        Args:
            graph: graph from predecessors to members. All its sets of predecessors must be in the table.
        """
        table, chosen = self.table, []
        allowed = nx.to_numpy_array(graph, nodelist=table.names) > 0
        for child in range(len(table.names)):
            entries = table.entries_of(child)
            mask = pack_flags(allowed[None, table.candidates_of(child), child], 1)
            chosen.append(self.entries[entries][find_masks(table.masks[entries], mask)[0]])
        return self.network.change(self.members, np.array(chosen))


def _members_before(network: ChosenSets, members: Ints) -> Masks:
    """Return, for each variable, the predecessors of a parent set that contains it, as a bit mask over the members."""
    before = np.zeros(len(network.parents), dtype=np.uint64)
    before[members] = _ONE << np.arange(len(members), dtype=np.uint64)
    for variable in network.order:
        if not before[variable]:  # members have a bit already
            before[variable] = np.bitwise_or.reduce(before[network.parents[variable]])
    return before


def _predecessor_sets(table: ScoreTable, child: int, place: int, before: Masks, limit: int) -> tuple[Ints, Masks, Ints]:
    """Return (candidates, masks, entries) of one member: its possible predecessors, their sets, and the best parent sets.

    Args:
        table: score table of all variables.
        child: index of the member in this table.
        place: index of the member in the window.
        before: predecessors of each variable, from `_members_before`.
        limit: maximum number of predecessors.
    """
    start, sets, _ = table.pruned
    sets = sets[start[child] : start[child + 1]]
    needed = np.zeros(len(sets), dtype=np.uint64)
    for bit, candidate in enumerate(table.candidates_of(child)):
        needed |= np.where(has_bit(sets, bit), before[candidate], np.uint64(0))
    fits = np.flatnonzero(((needed >> np.uint64(place)) & _ONE == 0) & (np.bitwise_count(needed) <= limit))
    # The parent sets are sorted by decreasing score. A set is useless if an earlier set needs no other predecessors.
    fits = fits[: 1 + int(np.flatnonzero(needed[fits] == 0)[0])]
    fits = fits[~np.tril((needed[None, fits] & ~needed[fits, None]) == 0, -1).any(axis=1)]
    used = np.flatnonzero((np.bitwise_or.reduce(needed[fits]) >> np.arange(64, dtype=np.uint64)) & _ONE)
    known = move_bits(needed[fits][:, None], used, range(len(used)), 1)
    masks = bounded_masks(len(used), min(limit, len(used)))
    best = np.argmax((known[None, :, 0] & ~masks) == 0, axis=1)
    return used, masks, start[child] + fits[best]


@dataclass(frozen=True, eq=False)
class WindowSampling(Sampling):
    """The reads of a sampler for a window. The graphs and scores are those of complete networks.

    Attributes:
        window: window that was sampled.
    """

    window: Window

    def best(self, repair: bool) -> tuple[nx.DiGraph, float]:
        """Return (graph, score) of the best read; see `Sampling`."""
        network = self.network(repair)
        return super().best(repair) if network is None else (network.dag, network.score)

    def network(self, repair: bool) -> ChosenSets | None:
        """Return the network of the best read; None if raw reads are used and none is feasible.

        Args:
            repair: True to use repaired reads, False to use raw reads.
        """
        if not repair and not self.reads.feasible.any():
            return None
        return self.window.complete(super().best(repair)[0])


@dataclass(frozen=True)
class WindowedSolver:
    """A global solver that samples one QUBO if the problem is small, and windows of the network if it is large.

    Args:
        whole: solver of small problems.
        windows: sampler of the windows, with its settings.
        whole_edges: number of possible edges up to which a problem is small.
        window_edges: maximum number of possible edges in a window.
    """

    whole: AnnealedSolver
    windows: Annealing
    whole_edges: int = WHOLE_EDGES
    window_edges: int = WINDOW_EDGES

    def solve(self, table: ScoreTable, number: int, initial: nx.DiGraph | None, run: Run) -> GlobalSolution:
        """Solve the global problem; see `GlobalSolver`. A sweep without improvement ends the search.

        Args:
            table: score table of the current candidates.
            number: 1 for the first global solve, 2 for the second, and so on.
            initial: network from which the windows start; None for a network with required edges only.
            run: a `Run` with seed, deadline and progress. After the deadline, no further window is sampled.
        """
        edges = possible_edges(table)
        if edges.sum() <= self.whole_edges:
            return self.whole.solve(table, number, initial, run)
        network, best = ChosenSets.of(table, initial), None
        generator = np.random.default_rng([run.seed, number])
        sizes, reads = [], 0
        for sweep in range(MAX_SWEEPS):
            score = network.score
            windows = list(choose_windows(edges, self.window_edges, generator))
            for index, members in enumerate(windows):
                if best is not None and run.deadline.passed:
                    break
                run.progress("windows", index, len(windows))
                sampling = self._sample(network, members, ("window", str(number), str(sweep), str(index)))
                sizes.append(len(members))
                reads += int(sampling.reads.occurrences.sum())
                proposal = sampling.network(self.windows.repair)
                improves = proposal is not None and proposal.score > network.score + _EPSILON
                if best is None or improves:
                    best = sampling
                if proposal is not None and improves:
                    network = proposal
            if network.score <= score + _EPSILON or run.deadline.passed:
                break
        run.progress("windows", 1, 1)
        name = self.windows.name
        return GlobalSolution(network.dag, network.score, name, sampling=best, windows=tuple(sizes), reads=reads)

    def _sample(self, network: ChosenSets, members: Ints, words: tuple[str, ...]) -> WindowSampling:
        """Sample one window. The words determine the seed."""
        settings = self.windows
        window = Window.of(network, members, network.table.max_parents)
        sampling = sample(window.table, settings.sampler, settings.encoding, settings.with_seed(words))
        return WindowSampling(**vars(sampling), window=window)
