"""What the paper's Tables 9 to 11 share: the runs of a division, and what their votes come to."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from math import comb
from typing import Any

import networkx as nx
import numpy as np

import dagneal as dn
from dagneal.paper.problems import true_network
from dagneal.paper.published import DivisionRow
from dagneal.paper.records import Case, Records

_PART = 30.0  # seconds that a part of a run takes at most, about
READS, MICROSECONDS = 100, 1


def block_cost(k: int, reads: int = READS) -> float:
    """About how many seconds simulated annealing takes for one block: it grows with the bits of the paper's encoding.

    Args:
        k: variables in a block.
        reads: of the block.
    """
    return 1.65e-5 * reads * (3 * k * k + k) / 2


def cases_of_run(network: str, data: str, k: int, solver: str, seed: int) -> list[Case]:
    """One run of a division, in parts that take some 30 seconds each.

    Args:
        network: the name of a bundled one.
        data: see `problems.make_data`.
        k: variables in a block.
        solver: see `subproblem_votes.SubproblemRun`.
        seed: of the run.
    """
    inputs: dict[str, Any] = {"network": network, "data": data, "k": k, "solver": solver}
    if solver == "exact":
        return [Case("blocks", inputs)]
    inputs |= {"seed": seed, "reads": READS}
    if solver != "sa":
        return [Case("blocks", inputs | {"microseconds": MICROSECONDS})]
    parts = max(1, round(comb(len(true_network(network).names), k) * block_cost(k) / _PART))
    return [Case("blocks", inputs | {"part": part, "parts": parts}) for part in range(parts)]


@dataclass(frozen=True)
class DivisionRuns:
    """Runs of a division under one heading.

    Attributes:
        data: see `problems.make_data`.
        k: variables in a block.
        solver: see `subproblem_votes.SubproblemRun`.
        seeds: of the runs.
    """

    data: str
    k: int
    solver: str
    seeds: tuple[int, ...]

    def cases(self, network: str) -> list[Case]:
        """All their parts.

        Args:
            network: the name of a bundled one.
        """
        return [case for seed in self.seeds for case in cases_of_run(network, self.data, self.k, self.solver, seed)]

    def graphs(self, network: str, records: Records, kind: str = "raw", combine: str = "penalty") -> list[nx.DiGraph]:
        """The network that each run comes to, as far as the run is complete.

        Args:
            network: the name of a bundled one.
            records: what was run.
            kind: which votes: `raw`, `repaired`, `baseline` or `exact`.
            combine: how the votes are counted: `penalty` or `count`.
        """
        names = true_network(network).names
        found = []
        for seed in self.seeds:
            cases = cases_of_run(network, self.data, self.k, self.solver, seed)
            parts = records.of(cases)
            if len(parts) < len(cases) or kind not in parts[0].result["votes"]:
                continue
            votes = np.sum([part.result["votes"][kind] for part in parts], axis=0)
            together = np.sum([part.result["together"] for part in parts], axis=0)
            found.append(dn.divide.combine_votes(names, votes, together - votes, combine)[0])
        return found


def tally(graphs: Sequence[nx.DiGraph], truth: nx.DiGraph) -> DivisionRow | None:
    """Compare runs with the truth; nothing where there are none.

    Args:
        graphs: one for each run.
        truth: the true network.

    >>> truth = true_network("lung-cancer").dag
    >>> tally([truth, truth], truth).means
    (4.0, 0.0)
    """
    if not graphs:
        return None
    each = [dn.compare(graph, truth) for graph in graphs]
    edges = set().union(*(graph.edges for graph in graphs))
    return DivisionRow(
        right=tuple(one.right for one in each),
        wrong=tuple(one.wrong for one in each),
        unique_right=len(edges & set(truth.edges)),
        unique_wrong=len(edges - set(truth.edges)),
        sensitivity=float(np.mean([one.sensitivity for one in each])),
        specificity=float(np.mean([one.specificity for one in each])),
        cpdag=tuple(one.cpdag_shd for one in each),
    )


def means_differ(ours: Sequence[int], theirs: Sequence[int]) -> bool:
    """Whether an exact permutation test tells the means of two sets of runs apart at 1%.

    Args:
        ours: one figure for each run.
        theirs: likewise.

    >>> means_differ((21, 22, 22, 23, 23), (16, 16, 17, 17, 16)), means_differ((4, 2, 4, 1, 3), (1, 4, 4, 1, 2))
    (True, False)
    """
    together = (*ours, *theirs)
    middle = sum(together) * len(ours) / len(together)
    seen = abs(sum(ours) - middle)
    splits = list(combinations(together, len(ours)))
    return sum(abs(sum(split) - middle) >= seen - 1e-9 for split in splits) < 0.01 * len(splits)


def division_cases(network: str, runs: Iterable[DivisionRuns], beside: Mapping[str, Sequence[int]]) -> list[Case]:
    """All runs, and what stands beside them: exact blocks, the optimum, and what `learn` finds.

    Args:
        network: the name of a bundled one.
        runs: the runs.
        beside: for each kind of data the sizes of blocks that are solved exactly.
    """
    found = [case for each in runs for case in each.cases(network)]
    for data, sizes in beside.items():
        found += [case for k in sizes for case in cases_of_run(network, data, k, "exact", 0)]
        found += [Case(kind, {"network": network, "data": data}) for kind in ("optimum", "learn", "conquer")]
    return found
