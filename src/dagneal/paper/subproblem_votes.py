"""Solve subproblems and count how many of them vote for each edge."""

from __future__ import annotations

from dataclasses import dataclass
from time import perf_counter
from typing import Any

import networkx as nx
import numpy as np
from numpy.typing import NDArray

import dagneal as dn
from dagneal.paper.annealers import Annealers
from dagneal.paper.experiments import Outcome, Plain
from dagneal.paper.problems import scored_problem

Adjacency = dict[str, NDArray[np.bool_]]  # adjacency matrices of all subproblems, by kind of votes


@dataclass(frozen=True)
class SubproblemRun:
    """A run that solves all subproblems of one size, or a part of them.

    Args:
        network: name of a bundled network.
        data: description of the data; see `problems.make_data`.
        k: variables per subproblem.
        solver: `exact`, `sa`, `qa` or `qpu`; `tiled` (emulated) or `tiled-qpu` for many subproblems per call.
        seed: seed of the sampler.
        reads: reads per subproblem.
        microseconds: annealing time per read on a quantum annealer.
        part: index of the part to solve, from 0.
        parts: number of parts of the run.
    """

    network: str
    data: str
    k: int
    solver: str
    seed: int = 0
    reads: int = 100
    microseconds: float | None = None
    part: int = 0
    parts: int = 1

    def solve(self, annealers: Annealers) -> Outcome:
        """Solve the subproblems and count their votes.

        Args:
            annealers: samplers of the evaluation.
        """
        _, _, table = scored_problem(self.network, self.data)
        n = len(table.names)
        chosen = dn.divide.choose_subproblems(n, self.k)[self.part :: self.parts]
        gathered = table.gather(chosen)
        begun = perf_counter()
        calls: Plain = {}
        if self.solver == "exact":
            solved = {"exact": dn.divide.ExactSubproblems().solve_many(gathered).adjacency}
        elif self.solver.startswith("tiled"):
            solved, calls = self._solve_tiled(gathered, annealers)
        else:
            solved = self._sample(gathered, annealers)
        votes = {kind: dn.divide.count_votes(n, chosen, adjacency)[0].tolist() for kind, adjacency in solved.items()}
        together = dn.divide.count_votes(n, chosen, np.zeros((len(chosen), self.k, self.k), dtype=bool))[1].tolist()
        result = {"votes": votes, "together": together, "blocks": len(chosen)} | calls
        return Outcome(result, {"blocks": perf_counter() - begun})

    @property
    def _parameters(self) -> dict[str, Any]:
        time = {} if self.microseconds is None else {"annealing_time": float(self.microseconds)}
        return {"num_reads": self.reads} | time

    def _solve_tiled(self, gathered: dn.scoring.Subproblems, annealers: Annealers) -> tuple[Adjacency, Plain]:
        """Solve many subproblems per call. Return a tuple: their networks, and a dict with `calls` and `access_seconds`."""
        sampler = annealers.sampler(self.solver)
        tiles = sampler.subproblem_solver(self._parameters, False, self.seed, dn.PAPER)
        solved = {"raw": tiles.solve_many(gathered).adjacency}
        return solved, {"calls": tiles.calls, "access_seconds": tiles.access_seconds}

    def _sample(self, gathered: dn.scoring.Subproblems, annealers: Annealers) -> Adjacency:
        """Sample one subproblem after the other, and return the best networks by kind of votes."""
        sampler = annealers.sampler(self.solver)
        annealing = dn.divide.AnnealedSubproblems(sampler, self._parameters, False, self.seed, dn.PAPER)
        shape = (len(gathered.members), self.k, self.k)
        solved = {kind: np.zeros(shape, dtype=bool) for kind in ("raw", "repaired", "baseline")}
        for line, reads in enumerate(annealing.reads(gathered)):
            names = gathered.names(line)
            if isinstance(reads, str):
                raise dn.InputError(f"subproblem {', '.join(names)} failed: {reads}")
            solved["raw"][line] = dn.divide.best_edges(reads, repair=False)[0]
            solved["repaired"][line] = dn.divide.best_edges(reads, repair=True)[0]
            seed = dn.Run(seed=self.seed).child(*names).seed
            solved["baseline"][line] = _best_order(gathered.table(line), self.reads, seed)
        return solved


def collect_votes(annealers: Annealers, **inputs: Any) -> Outcome:
    """Solve subproblems and count their votes.

    Args:
        annealers: samplers of the evaluation.
        **inputs: arguments of `SubproblemRun`.

    Returns:
        An `Outcome` with these keys in `result`:

        - `votes`: one matrix per kind of votes. Entry [a][b] is the number of subproblems with the edge from a to b. The
          kinds are `raw`, `repaired` and `baseline` (random orders). Tiled runs have only `raw`, exact runs only `exact`.
        - `together`: matrix. Entry [a][b] is the number of subproblems that contain both a and b.
        - `blocks`: number of subproblems.
        - `calls`, `access_seconds`: number of calls and their access time, if tiled.

        The duration is `seconds["blocks"]`.
    """
    return SubproblemRun(**inputs).solve(annealers)


def _best_order(table: dn.scoring.ScoreTable, count: int, seed: int) -> NDArray[np.bool_]:
    """Draw random orders, and return the adjacency matrix of the best network that agrees with one of them."""
    orders = next(dn.scoring.random_orders(len(table.names), count, seed))
    best = orders[int(np.argmax(dn.scoring.score_orders(table, orders)))]
    adjacency: NDArray[np.bool_] = nx.to_numpy_array(dn.scoring.dag_of_order(table, best), nodelist=table.names) > 0
    return adjacency
