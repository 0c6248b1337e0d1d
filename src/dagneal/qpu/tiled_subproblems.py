"""The class `TiledSubproblems`, which solves many subproblems of a division in one QPU call."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING, Any

import numpy as np

from dagneal.base.defaults import SUBPROBLEM_READS
from dagneal.base.errors import InputError
from dagneal.divide.subproblem_solvers import Solutions, best_edges
from dagneal.qpu.chain_breaks import Spins
from dagneal.qpu.pack import Copy, Ising
from dagneal.qpu.parameters import is_fast
from dagneal.qubo.decode import decode_spins
from dagneal.qubo.encode import Encoding, nearest_vector, qubos
from dagneal.qubo.hamiltonian import Qubos
from dagneal.runtime.run import derive_seed
from dagneal.scoring.table import Subproblems
from dagneal.solvers.initial_states import initial_dag

if TYPE_CHECKING:
    from dagneal.qpu.sampler import QPU

IN_FLIGHT = 4  # calls that run at the same time


class TiledSubproblems:
    """A solver that solves as many subproblems in one call as fit on the chip.

    Args:
        qpu: sampler that makes the calls.
        parameters: keyword arguments of `QPU.sample`.
        repair: True to use the best repaired read of each subproblem, False to use the read with the lowest energy.
        seed: seed of the spin-reversal transforms, and also of the emulator if the chip is emulated.
        encoding: encoding of the subproblems.
    """

    def __init__(self, qpu: QPU, parameters: dict[str, Any], repair: bool, seed: int | None, encoding: Encoding) -> None:
        self.qpu, self.repair, self.encoding = qpu, repair, encoding
        given = {name: value for name, value in ({"num_reads": SUBPROBLEM_READS} | parameters).items() if value is not None}
        self.seed: int | None = given.pop("seed", seed)
        self.parameters = given
        self.calls = 0
        self.access_seconds = 0.0  # total QPU access time of the calls
        self.in_flight = IN_FLIGHT
        self._first: Subproblems | None = None
        self._strength: float | None = None
        self._lock = threading.Lock()

    @property
    def name(self) -> str:
        """The class name of the sampler, such as `QPU`."""
        return type(self.qpu).__name__

    def batch_size(self, subproblems: Subproblems) -> int:
        """Return the number of subproblems that fit in one call.

        Args:
            subproblems: first subproblems of the division. A later scan of chain strengths also uses these subproblems.
        """
        self._first = subproblems
        return len(self._copies(qubos(subproblems, self.encoding)))

    def solve_many(self, subproblems: Subproblems) -> Solutions:
        """Solve subproblems; see `SubproblemSolver.solve_many`."""
        encoded = qubos(subproblems, self.encoding)
        copies = self._copies(encoded)
        strength = self._chain_strength(subproblems)
        count, size = subproblems.members.shape
        adjacency = np.zeros((count, size, size), dtype=bool)
        scores = np.full(count, np.nan)
        failed: dict[int, str] = {}
        for begin in range(0, count, len(copies)):
            lines = range(begin, min(begin + len(copies), count))
            seed = None if self.seed is None else derive_seed(self.seed, subproblems.names(begin))
            initial = self._initial(subproblems, encoded, lines)
            spins, _, info = self.qpu.reads(_problems(encoded, lines), copies, self._call, strength, seed, initial)
            with self._lock:
                self.calls += 1
                self.access_seconds += float(info.get("timing", {}).get("qpu_access_time", 0.0)) / 1e6
            for position, line in enumerate(lines):
                if not len(spins[position]):
                    failed[line] = "chain_break_method='discard' leaves no read, because all have broken chains"
                    continue
                reads = decode_spins(subproblems.table(line), encoded, line, spins[position])
                adjacency[line], scores[line] = best_edges(reads, self.repair)
        return Solutions(adjacency, scores, failed)

    @property
    def _call(self) -> dict[str, Any]:
        """The parameters of a call, without the initial network, which differs between calls."""
        return {name: value for name, value in self.parameters.items() if name != "initial_state"}

    def _initial(self, subproblems: Subproblems, encoded: Qubos, lines: range) -> Spins | None:
        """Return the initial spins of some subproblems, shape (subproblems, QUBO variables); None without a network."""
        if "initial_state" not in self.parameters:
            return None
        dag = initial_dag(self.parameters)
        if dag is None:
            raise InputError("initial_state of subproblems must be a network; give a DAG or a list of edges")
        dag.add_nodes_from(subproblems.variables)
        values = [nearest_vector(subproblems.table(line), encoded.layout, dag, self.encoding) for line in lines]
        return (2 * np.array(values) - 1).astype(np.int8)

    def _copies(self, encoded: Qubos) -> list[Copy]:
        variables = encoded.layout.num_variables
        return self.qpu.copies(encoded.rows, encoded.columns, variables, many=True, ancilla=is_fast(self.parameters))

    def _chain_strength(self, subproblems: Subproblems) -> float:
        """Return the prefactor of the chain strength. If a scan is needed, scan only once, with the first subproblems."""
        with self._lock:
            if self._strength is None:
                first = subproblems if self._first is None else self._first
                encoded = qubos(first, self.encoding)
                copies = self._copies(encoded)
                problems = _problems(encoded, range(min(len(first.members), len(copies))))
                initial = self._initial(first, encoded, range(len(problems.fields)))
                self._strength = self.qpu.strength(problems, copies, self._call, self.seed, initial)
            return self._strength

    def cancel(self) -> None:
        """Cancel pending calls."""
        self.qpu.submitter.cancel()

    def fingerprint(self) -> str:
        """Return a text that identifies all settings that affect the result."""
        parameters = sorted(self.parameters.items())
        return f"{self.name} {self.qpu.fingerprint} {parameters} repair={self.repair} seed={self.seed} {self.encoding}"


def _problems(encoded: Qubos, lines: range) -> Ising:
    chosen = slice(lines.start, lines.stop)
    return Ising.of(encoded.linear[chosen], encoded.rows, encoded.columns, encoded.quadratic[chosen])
