"""The runs of divide et impera for Tables 9 to 11, and the networks that the votes of the subproblems give."""

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

_PART_SECONDS = 30.0  # approximate seconds of one part of a run
READS, MICROSECONDS = 100, 1


def subproblem_cost(k: int, reads: int = READS) -> float:
    """Estimate the seconds that simulated annealing takes for one subproblem in the paper's encoding.

    Args:
        k: variables per subproblem.
        reads: reads per subproblem.
    """
    return 1.65e-5 * reads * (3 * k * k + k) / 2


def cases_of_run(network: str, data: str, k: int, solver: str, seed: int) -> list[Case]:
    """Return the cases of one run of divide et impera. A long run is split into several cases of about 30 seconds.

    Args:
        network: name of a bundled network.
        data: description of the data; see `problems.make_data`.
        k: variables per subproblem.
        solver: name of the solver; see `subproblem_votes.SubproblemRun`.
        seed: seed of the run.
    """
    inputs: dict[str, Any] = {"network": network, "data": data, "k": k, "solver": solver}
    if solver == "exact":
        return [Case("blocks", inputs)]
    inputs |= {"seed": seed, "reads": READS}
    if solver != "sa":
        return [Case("blocks", inputs | {"microseconds": MICROSECONDS})]
    parts = max(1, round(comb(len(true_network(network).names), k) * subproblem_cost(k) / _PART_SECONDS))
    return [Case("blocks", inputs | {"part": part, "parts": parts}) for part in range(parts)]


@dataclass(frozen=True)
class DivisionRuns:
    """Runs of divide et impera that differ only in their seeds.

    Attributes:
        data: description of the data; see `problems.make_data`.
        k: variables per subproblem.
        solver: name of the solver; see `subproblem_votes.SubproblemRun`.
        seeds: one seed per run.
    """

    data: str
    k: int
    solver: str
    seeds: tuple[int, ...]

    def cases(self, network: str) -> list[Case]:
        """Return the cases of all runs.

        Args:
            network: name of a bundled network.
        """
        return [case for seed in self.seeds for case in cases_of_run(network, self.data, self.k, self.solver, seed)]

    def graphs(self, network: str, records: Records, kind: str = "raw", combine: str = "penalty") -> list[nx.DiGraph]:
        """Return the learned network of each complete run.

        Args:
            network: name of a bundled network.
            records: records of finished runs.
            kind: votes to use: those of `raw` reads, `repaired` reads, random orders (`baseline`) or `exact` solutions.
            combine: rule that combines the votes: `penalty` or `count`.
        """
        names = true_network(network).names
        graphs = []
        for seed in self.seeds:
            cases = cases_of_run(network, self.data, self.k, self.solver, seed)
            parts = records.select(cases)
            if len(parts) < len(cases) or kind not in parts[0].result["votes"]:
                continue
            votes = np.sum([part.result["votes"][kind] for part in parts], axis=0)
            together = np.sum([part.result["together"] for part in parts], axis=0)
            graphs.append(dn.divide.combine_votes(names, votes, together - votes, combine)[0])
        return graphs


def tally(graphs: Sequence[nx.DiGraph], truth: nx.DiGraph) -> DivisionRow | None:
    """Compare learned networks with the truth, and return the counts as a table row; None if there are no networks.

    Args:
        graphs: learned networks, one per run.
        truth: the true network.

    >>> truth = true_network("lung-cancer").dag
    >>> tally([truth, truth], truth).means
    (4.0, 0.0)
    """
    if not graphs:
        return None
    comparisons = [dn.compare(graph, truth) for graph in graphs]
    edges = set().union(*(graph.edges for graph in graphs))
    return DivisionRow(
        correct=tuple(comparison.true_positives for comparison in comparisons),
        wrong=tuple(comparison.false_positives for comparison in comparisons),
        unique_correct=len(edges & set(truth.edges)),
        unique_wrong=len(edges - set(truth.edges)),
        sensitivity=float(np.mean([comparison.sensitivity for comparison in comparisons])),
        specificity=float(np.mean([comparison.specificity for comparison in comparisons])),
        cpdag_distances=tuple(comparison.cpdag_shd for comparison in comparisons),
    )


def means_differ(ours: Sequence[int], published: Sequence[int]) -> bool:
    """Return whether an exact permutation test at 1% finds a difference between the means of two sets of runs.

    Args:
        ours: one number for each of our runs.
        published: one number for each of the paper's runs.

    >>> means_differ((21, 22, 22, 23, 23), (16, 16, 17, 17, 16)), means_differ((4, 2, 4, 1, 3), (1, 4, 4, 1, 2))
    (True, False)
    """
    pooled = (*ours, *published)
    expected = sum(pooled) * len(ours) / len(pooled)
    observed = abs(sum(ours) - expected)
    splits = list(combinations(pooled, len(ours)))
    return sum(abs(sum(split) - expected) >= observed - 1e-9 for split in splits) < 0.01 * len(splits)


def division_cases(network: str, runs: Iterable[DivisionRuns], exact_sizes: Mapping[str, Sequence[int]]) -> list[Case]:
    """Return the cases of all runs and of the reference methods.

    The reference methods are exactly solved subproblems, the optimum, `learn` and the candidate search.

    Args:
        network: name of a bundled network.
        runs: runs of divide et impera.
        exact_sizes: subproblem sizes k to solve exactly, by description of the data.
    """
    cases = [case for run in runs for case in run.cases(network)]
    for data, sizes in exact_sizes.items():
        cases += [case for k in sizes for case in cases_of_run(network, data, k, "exact", 0)]
        cases += [Case(kind, {"network": network, "data": data}) for kind in ("optimum", "learn", "conquer")]
    return cases
