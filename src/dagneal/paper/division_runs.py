"""The runs of divide et impera for Tables 9 to 11, and the networks that the votes of the subproblems give."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from math import comb
from typing import Any

import networkx as nx
import numpy as np

import dagneal as dn
from dagneal.paper.annealers import emulator_model
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
    return 1e-6 * reads * (3 * k * k + k) / 2


@dataclass(frozen=True)
class DivisionRuns:
    """Runs of divide et impera that differ only in their seeds.

    Attributes:
        data: description of the data; see `problems.make_data`.
        k: variables per subproblem.
        solver: name of the solver; see `subproblem_votes.SubproblemRun`.
        seeds: one seed per run.
        precision: `single` if the coefficients of the QUBOs are rounded to 32-bit floats, otherwise `double`.
    """

    data: str
    k: int
    solver: str
    seeds: tuple[int, ...]
    precision: str = "single"

    def cases(self, network: str) -> list[Case]:
        """Return the cases of all runs.

        Args:
            network: name of a bundled network.
        """
        return [case for seed in self.seeds for case in self.cases_of_run(network, seed)]

    def cases_of_run(self, network: str, seed: int) -> list[Case]:
        """Return the cases of one run. A long run is split into several cases of about 30 seconds.

        Args:
            network: name of a bundled network.
            seed: seed of the run.
        """
        inputs: dict[str, Any] = {"network": network, "data": self.data, "k": self.k, "solver": self.solver}
        if self.solver == "exact":
            return [Case("blocks", inputs)]
        inputs |= {"seed": seed, "reads": READS, "precision": self.precision}
        if self.solver != "sa":
            model = {} if "qpu" in self.solver else {"model": emulator_model()}
            return [Case("blocks", inputs | model | {"microseconds": MICROSECONDS})]
        seconds = comb(len(true_network(network).names), self.k) * subproblem_cost(self.k)
        parts = max(1, round(seconds / _PART_SECONDS))
        return [Case("blocks", inputs | {"part": part, "parts": parts}) for part in range(parts)]

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
            cases = self.cases_of_run(network, seed)
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
        cases += [case for k in sizes for case in DivisionRuns(data, k, "exact", (0,)).cases(network)]
        cases += [Case(kind, {"network": network, "data": data}) for kind in ("optimum", "learn", "conquer")]
    return cases
