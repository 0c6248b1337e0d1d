"""Solve subproblems and count how many of them vote for each edge."""

from __future__ import annotations

from dataclasses import dataclass, replace
from time import thread_time
from typing import Any

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
        precision: `single` to round the coefficients of the QUBOs to 32-bit floats, as the paper's authors did.
        model: model of the emulator; see `annealers.emulator_model`. It only identifies the run.
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
    precision: str = "double"
    model: str = ""

    def solve(self, annealers: Annealers) -> Outcome:
        """Solve the subproblems and count their votes.

        Args:
            annealers: samplers of the evaluation.
        """
        _, _, table = scored_problem(self.network, self.data)
        n = len(table.names)
        chosen = dn.divide.choose_subproblems(n, self.k)[self.part :: self.parts]
        gathered = table.gather(chosen)
        begun = thread_time()
        calls: Plain = {}
        if self.solver == "exact":
            solved = {"exact": dn.divide.ExactSubproblems().solve_many(gathered).adjacency}
        elif self.solver == "sa":
            solved = self._anneal(gathered)
        elif self.solver.startswith("tiled"):
            solved, calls = self._solve_tiled(gathered, annealers)
        else:
            solved = self._sample(gathered, annealers)
        votes = {kind: dn.divide.count_votes(n, chosen, adjacency)[0].tolist() for kind, adjacency in solved.items()}
        together = dn.divide.count_votes(n, chosen, np.zeros((len(chosen), self.k, self.k), dtype=bool))[1].tolist()
        result = {"votes": votes, "together": together, "blocks": len(chosen)} | calls
        return Outcome(result, {"blocks": thread_time() - begun})

    @property
    def _parameters(self) -> dict[str, Any]:
        time = {} if self.microseconds is None else {"annealing_time": float(self.microseconds)}
        return {"num_reads": self.reads} | time

    def _solve_tiled(self, gathered: dn.scoring.Subproblems, annealers: Annealers) -> tuple[Adjacency, Plain]:
        """Solve many subproblems per call. Return a tuple: their networks, and a dict with `calls` and `access_seconds`."""
        sampler = annealers.sampler(self.solver)
        tiles = sampler.subproblem_solver(self._parameters, False, self.seed, self._encoding)
        solved = {"raw": tiles.solve_many(gathered).adjacency}
        return solved, {"calls": tiles.calls, "access_seconds": tiles.access_seconds}

    @property
    def _encoding(self) -> dn.Encoding:
        return replace(dn.PAPER, precision=self.precision)  # type: ignore[arg-type]

    def _anneal(self, gathered: dn.scoring.Subproblems) -> Adjacency:
        """Anneal many subproblems per call of the compiled annealer, and return the best networks by kind of votes."""
        settings = (dn.SimulatedAnnealing(), self._parameters, False, self.seed, self._encoding)
        annealing = dn.divide.BatchedSubproblems(*settings)
        step = annealing.batch_size(gathered)
        solved: dict[str, list[NDArray[np.bool_]]] = {"raw": [], "repaired": [], "baseline": []}
        for begin in range(0, len(gathered.members), step):
            chunk = slice(begin, begin + step)
            some = replace(gathered, members=gathered.members[chunk], scores=gathered.scores[chunk])
            for group, spins in annealing.reads(some):  # one group, because nothing is pruned
                for kind in ("raw", "repaired"):
                    graphs = dn.qubo.best_graphs(group.subproblems, group.qubos, spins, repair=kind == "repaired")
                    solved[kind].append(graphs[0])
                solved["baseline"].append(self._best_orders(group.subproblems, group.qubos))
        return {kind: np.concatenate(parts) for kind, parts in solved.items()}

    def _sample(self, gathered: dn.scoring.Subproblems, annealers: Annealers) -> Adjacency:
        """Sample one subproblem after the other, and return the best networks by kind of votes."""
        sampler = annealers.sampler(self.solver)
        annealing = dn.divide.AnnealedSubproblems(sampler, self._parameters, False, self.seed, self._encoding)
        solved: dict[str, list[NDArray[np.bool_]]] = {"raw": [], "repaired": []}
        for line, reads in enumerate(annealing.reads(gathered)):
            if isinstance(reads, str):
                raise dn.InputError(f"subproblem {', '.join(gathered.names(line))} failed: {reads}")
            solved["raw"].append(dn.divide.best_edges(reads, repair=False)[0])
            solved["repaired"].append(dn.divide.best_edges(reads, repair=True)[0])
        baseline = self._best_orders(gathered, dn.qubo.qubos(gathered, self._encoding))
        return {"raw": np.stack(solved["raw"]), "repaired": np.stack(solved["repaired"]), "baseline": baseline}

    def _best_orders(self, subproblems: dn.scoring.Subproblems, encoded: dn.qubo.Qubos) -> NDArray[np.bool_]:
        """Return the best network of each subproblem that agrees with one of as many random orders as there are reads.

        Random orders become reads without edges, so that they are repaired like the reads of an annealer.
        """
        layout = encoded.layout
        spins = np.full((len(subproblems.members), self.reads, layout.num_variables), -1, dtype=np.int8)
        first, second = np.nonzero(layout.r >= 0)
        for line in range(len(subproblems.members)):
            seed = dn.Run(seed=self.seed).child("random orders", *subproblems.names(line)).seed
            position = np.random.default_rng(seed).random((self.reads, self.k))
            before = position[:, first] < position[:, second]
            spins[line][:, layout.r[first, second]] = 2 * before.astype(np.int8) - 1
        return dn.qubo.best_graphs(subproblems, encoded, spins, repair=True)[0]


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
