"""Packing: solve several problems with the same interactions in one call. Each problem gets its own embedding (a `Copy`)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import inf
from typing import Any

import dimod
import networkx as nx
import numpy as np

from dagneal.base.kernels import Floats, Ints
from dagneal.qpu.chain_breaks import Spins, discard, find_breaks, majority_vote, minimize_energy, weighted_random
from dagneal.qpu.embedding import Chains

CHAIN_STRENGTH = 1.414  # prefactor of the chain strength, as in Ocean; see `Ising.chain_strengths`


@dataclass(frozen=True, eq=False)
class Copy:
    """An embedding of one problem, as arrays.

    Attributes:
        qubits: qubits of all chains, sorted by QUBO variable.
        starts: for each chain, the index of its first qubit in `qubits`.
        owner: QUBO variable of each entry of `qubits`.
        couplers: couplers between chains, one per row. The two entries of a row are indices into `qubits`.
        interaction: for each row of `couplers`, the index of the interaction that this coupler represents.
        share: for each row of `couplers`, 1 / (number of couplers that represent the same interaction).
        links: couplers within chains, one per row. The two entries of a row are indices into `qubits`.
    """

    qubits: Ints
    starts: Ints
    owner: Ints
    couplers: Ints
    interaction: Ints
    share: Floats
    links: Ints

    @property
    def long_chains(self) -> int:
        """Number of chains of two or more qubits."""
        return int((np.diff(np.append(self.starts, len(self.qubits))) > 1).sum())

    @classmethod
    def of(cls, chains: Chains, rows: Ints, columns: Ints, target: nx.Graph) -> Copy:
        """Convert an embedding to arrays.

        Args:
            chains: dict from each QUBO variable to the qubits of its chain.
            rows: first QUBO variable of each interaction.
            columns: second QUBO variable of each interaction.
            target: graph of the chip's working qubits.
        """
        count = len(chains)
        qubits = np.array([qubit for variable in range(count) for qubit in chains[variable]], dtype=np.int64)
        lengths = np.array([len(chains[variable]) for variable in range(count)], dtype=np.int64)
        position = {int(qubit): i for i, qubit in enumerate(qubits)}
        couplers, interaction, share = [], [], []
        for number, (a, b) in enumerate(zip(rows.tolist(), columns.tolist(), strict=True)):
            pairs = [(position[p], position[q]) for p in chains[a] for q in chains[b] if target.has_edge(p, q)]
            couplers += pairs
            interaction += [number] * len(pairs)
            share += [1.0 / len(pairs)] * len(pairs)
        links = [
            (position[p], position[q])
            for chain in chains.values()
            for i, p in enumerate(chain)
            for q in chain[i + 1 :]
            if target.has_edge(p, q)
        ]
        return cls(
            qubits=qubits,
            starts=np.concatenate([[0], np.cumsum(lengths)[:-1]]).astype(np.int64),
            owner=np.repeat(np.arange(count), lengths),
            couplers=np.array(couplers, dtype=np.int64).reshape(-1, 2),
            interaction=np.array(interaction, dtype=np.int64),
            share=np.array(share),
            links=np.array(links, dtype=np.int64).reshape(-1, 2),
        )


@dataclass(frozen=True, eq=False)
class Ising:
    """Ising problems with the same variables and interactions.

    Attributes:
        fields: linear coefficients h, shape (problems, variables).
        couplings: quadratic coefficients J, shape (problems, interactions).
        rows: first variable of each interaction.
        columns: second variable of each interaction.
    """

    fields: Floats
    couplings: Floats
    rows: Ints
    columns: Ints

    @classmethod
    def of(cls, linear: Floats, rows: Ints, columns: Ints, quadratic: Floats) -> Ising:
        """Convert QUBOs to Ising problems. Each binary variable x becomes a spin s, with x = (1 + s) / 2.

        Args:
            linear: linear coefficients, shape (problems, variables).
            rows: first variable of each interaction.
            columns: second variable of each interaction.
            quadratic: quadratic coefficients, shape (problems, interactions).
        """
        couplings = quadratic / 4
        fields = linear / 2
        np.add.at(fields.T, rows, couplings.T)
        np.add.at(fields.T, columns, couplings.T)
        return cls(fields, couplings, rows, columns)

    def with_ancilla(self) -> Ising:
        """Return equivalent problems without fields, for the fast-anneal protocol, which allows none.

        The last variable of the result is an ancilla with the spin a. The field h of each variable becomes a coupling h to
        the ancilla. A state has the energy of the state that `remove_ancilla` returns.
        """
        count = self.fields.shape[1]
        return Ising(
            np.zeros((len(self.fields), count + 1)),
            np.concatenate([self.couplings, self.fields], axis=1),
            *ancilla_interactions(self.rows, self.columns, count),
        )

    def coupling_matrix(self, problem: int) -> Floats:
        """Return the symmetric matrix of the couplings of one problem.

        Args:
            problem: index of the problem.
        """
        count = self.fields.shape[1]
        matrix = np.zeros((count, count))
        np.add.at(matrix, (self.rows, self.columns), self.couplings[problem])
        np.add.at(matrix, (self.columns, self.rows), self.couplings[problem])
        return matrix

    def chain_strengths(self, prefactor: float) -> Floats:
        """Return the chain strength of each problem: prefactor * RMS of the couplings * sqrt(mean degree).

        Args:
            prefactor: number by which every chain strength is multiplied.
        """
        if not len(self.rows):
            return np.ones(len(self.fields))
        degree = 2 * len(self.rows) / max(self.fields.shape[1], 1)
        strength: Floats = prefactor * np.sqrt((self.couplings**2).mean(axis=1)) * np.sqrt(degree)
        return np.where(strength > 0, strength, 1.0)


def ancilla_interactions(rows: Ints, columns: Ints, variables: int) -> tuple[Ints, Ints]:
    """Return the interactions of problems with an ancilla: those without it, and one of each variable with the ancilla.

    Args:
        rows: first variable of each interaction.
        columns: second variable of each interaction.
        variables: number of variables without the ancilla.
    """
    own = np.arange(variables)
    return np.concatenate([rows, own]), np.concatenate([columns, np.full(variables, variables)])


def remove_ancilla(spins: Spins) -> Spins:
    """Return the reads of problems whose fields were replaced by an ancilla; see `Ising.with_ancilla`.

    The problem with the ancilla does not change if all spins are flipped. So a read with a = -1 stands for the read with all
    spins flipped, in which a = 1.

    Args:
        spins: spins with the ancilla as the last variable, shape (reads, variables + 1).
    """
    return spins[:, :-1] * spins[:, -1:]


@dataclass(frozen=True, eq=False)
class Ranges:
    """Limits of a chip on the fields h and the couplings J.

    Attributes:
        field: largest allowed |h|.
        coupling: largest allowed |J| of a coupler between chains. The limit holds for both signs of J, because spin-reversal
            transforms change signs.
        chain: largest allowed |J| of a coupler within a chain.
        per_qubit: smallest and largest allowed sum of J over all couplers of a qubit.
        per_group: smallest and largest allowed sum of J over the couplers in one half of a qubit. Only Zephyr chips have
            this limit.
        zephyr: parameters m and t of a Zephyr graph; None for other chips.
    """

    field: float = 4.0
    coupling: float = 1.0
    chain: float = 2.0
    per_qubit: tuple[float, float] = (-inf, inf)
    per_group: tuple[float, float] = (-inf, inf)
    zephyr: tuple[int, int] | None = None

    @classmethod
    def of(cls, properties: Mapping[str, Any]) -> Ranges:
        """Read the limits from the properties of a solver.

        Args:
            properties: dict with `h_range`, `j_range` and optionally `extended_j_range`, `per_qubit_coupling_range`,
                `per_group_coupling_range` and `topology`.
        """
        low, high = properties["j_range"]
        coupling = min(-low, high)
        topology = properties.get("topology", {})
        rows, tile = [*topology.get("shape", []), 4][:2] if topology.get("type") == "zephyr" else (0, 0)

        def limits(name: str) -> tuple[float, float]:
            least, most = properties.get(name, [-inf, inf])
            return float(least), float(most)

        return cls(
            min(map(abs, properties["h_range"])),
            coupling,
            max(coupling, -properties.get("extended_j_range", [low])[0]),
            limits("per_qubit_coupling_range"),
            limits("per_group_coupling_range"),
            (int(rows), int(tile)) if rows else None,
        )


def zephyr_halves(qubits: Ints, neighbours: Ints, shape: tuple[int, int]) -> Ints:
    """Return for each qubit of a Zephyr chip the half of the qubit (0 or 1) that contains the coupler to a given neighbour.

    A qubit is a line segment with two halves. Each half crosses one lane of perpendicular qubits. A parallel neighbour is
    shifted along the segment. In both cases the coupler lies in the half that is nearer to the neighbour.

    Args:
        qubits: linear indices of qubits.
        neighbours: for each qubit, the linear index of one neighbour.
        shape: parameters m and t of the Zephyr graph.
    """
    rows, tile = shape

    def locate(index: Ints) -> tuple[Ints, Ints, Ints]:
        """Return three arrays with an entry for each qubit: direction, lane, and twice the centre coordinate on the lane."""
        rest, along = np.divmod(index, rows)
        rest, offset = np.divmod(rest, 2)
        direction, lane = np.divmod(rest // tile, 2 * rows + 1)
        return direction, lane, 4 * along + 2 * offset + 1

    direction, _, centre = locate(qubits)
    other_direction, lane, other_centre = locate(neighbours)
    halves: Ints = (np.where(other_direction == direction, other_centre, 2 * lane) > centre).astype(np.int64)
    return halves


@dataclass(frozen=True, eq=False)
class PhysicalProblem:
    """Several problems, combined into one problem whose variables are the qubits of a chip.

    Attributes:
        bqm: Ising model whose variables are qubits.
        copies: embeddings of the problems.
        signs: factor (1 or -1) of each spin in the spin-reversal transform, shape (problems, variables).
        problems: the problems, before embedding.
    """

    bqm: dimod.BinaryQuadraticModel
    copies: list[Copy]
    signs: Spins
    problems: Ising

    def unpack(
        self, sampleset: dimod.SampleSet, method: str = "majority_vote", generator: np.random.Generator | None = None
    ) -> tuple[list[Spins], Floats]:
        """Return the spins of each problem, and the fraction of broken chains in each read of each problem.

        A chain is broken if its qubits have different values.

        Args:
            sampleset: reads of the combined problem `bqm`. A row with several occurrences counts as so many reads.
            method: method that gives a broken chain a value; see `dagneal.qpu.chain_breaks`.
            generator: random generator for the method `weighted_random`.

        Returns:
            A tuple: one array of spins for each problem, shape (reads, variables), and the fractions, shape (problems,
            reads). With the method `discard`, spins contain only reads without a broken chain.
        """
        column = {qubit: i for i, qubit in enumerate(sampleset.variables)}
        record = sampleset.record
        samples = np.repeat(np.asarray(record.sample, dtype=np.int8), record.num_occurrences, axis=0)
        samples = np.where(samples > 0, np.int8(1), np.int8(-1))
        spins, broken = [], np.zeros((len(self.copies), len(samples)))
        for number, copy in enumerate(self.copies):
            own = samples[:, [column[int(qubit)] for qubit in copy.qubits]] * self.signs[number, copy.owner]
            broken[number] = find_breaks(own, copy.starts).mean(axis=1)
            if method == "discard":
                spins.append(discard(own, copy.starts))
            elif method == "weighted_random":
                spins.append(weighted_random(own, copy.starts, generator or np.random.default_rng()))
            elif method == "minimize_energy" and broken[number].any():
                couplings = self.problems.coupling_matrix(number)
                spins.append(minimize_energy(own, copy.starts, self.problems.fields[number], couplings))
            else:
                spins.append(majority_vote(own, copy.starts))
        return spins, broken

    def qubit_values(self, spins: Spins) -> dict[int, int]:
        """Return the value of each qubit if the variables of the problems have given spins.

        Args:
            spins: spins of the problems, shape (problems, variables).
        """
        turned = spins * self.signs
        return {
            int(qubit): int(value)
            for number, copy in enumerate(self.copies)
            for qubit, value in zip(copy.qubits, turned[number, copy.owner], strict=True)
        }


def pack(
    problems: Ising,
    copies: Sequence[Copy],
    ranges: Ranges,
    chain_strength: float = CHAIN_STRENGTH,
    generator: np.random.Generator | None = None,
) -> PhysicalProblem:
    """Combine several problems into one problem whose variables are the qubits of a chip.

    Each problem is embedded and scaled to the limits of the chip. Unless `generator` is None, each problem also gets its
    own random spin-reversal transform.

    Args:
        problems: problems to combine.
        copies: disjoint embeddings. There must be at least as many embeddings as problems.
        ranges: limits of the chip.
        chain_strength: prefactor of the chain strength; see `Ising.chain_strengths`.
        generator: random generator of the spin-reversal transforms; None for no transforms.
    """
    count, variables = problems.fields.shape
    strengths = problems.chain_strengths(chain_strength)
    signs = np.ones((count, variables), dtype=np.int8)
    if generator is not None:
        signs = (2 * generator.integers(0, 2, (count, variables)) - 1).astype(np.int8)
    labels, fields, rows, columns, values = [], [], [], [], []
    begin = 0
    for number in range(count):
        copy = copies[number]
        lengths = np.diff(np.append(copy.starts, len(copy.qubits)))
        h = (problems.fields[number] / lengths)[copy.owner]
        j = problems.couplings[number][copy.interaction] * copy.share
        link = strengths[number] if len(copy.links) else 0.0
        sign = signs[number].astype(np.float64)
        ends = copy.owner[copy.couplers]
        j = j * sign[ends[:, 0]] * sign[ends[:, 1]]
        largest = max(
            np.abs(h).max(initial=0.0) / ranges.field,
            np.abs(j).max(initial=0.0) / ranges.coupling,
            link / ranges.chain,
            _excess(copy, j, link, ranges),
            1e-300,
        )
        labels += copy.qubits.tolist()
        fields.append(h * sign[copy.owner] / largest)
        rows += [begin + copy.couplers[:, 0], begin + copy.links[:, 0]]
        columns += [begin + copy.couplers[:, 1], begin + copy.links[:, 1]]
        values += [j / largest, np.full(len(copy.links), -link / largest)]
        begin += len(copy.qubits)
    bqm = dimod.BinaryQuadraticModel.from_numpy_vectors(
        np.concatenate(fields),
        (np.concatenate(rows), np.concatenate(columns), np.concatenate(values)),
        0.0,
        dimod.SPIN,
        variable_order=labels,
    )
    return PhysicalProblem(bqm, list(copies[:count]), signs, problems)


def _excess(copy: Copy, couplings: Floats, link: float, ranges: Ranges) -> float:
    """Return the largest ratio of a sum of couplings to the limit on this sum. A ratio above 1 exceeds the limit.

    The couplings of each qubit are summed. On Zephyr chips, the couplings of each half of a qubit are also summed.

    Args:
        copy: embedding of the problem.
        couplings: J of each coupler between chains.
        link: chain strength; the couplers within chains have J = -link.
        ranges: limits of the chip.
    """
    ends = np.concatenate([copy.couplers, copy.links])
    values = np.concatenate([couplings, np.full(len(copy.links), -link)])
    halves = np.zeros((len(copy.qubits), 2))  # sum of all J at each half of each qubit
    for side in (0, 1):
        own, others = ends[:, side], ends[:, 1 - side]
        half = zephyr_halves(copy.qubits[own], copy.qubits[others], ranges.zephyr) if ranges.zephyr else np.zeros_like(own)
        np.add.at(halves, (own, half), values)
    limited = [(halves.sum(axis=1), ranges.per_qubit)]
    if ranges.zephyr:
        limited.append((halves, ranges.per_group))
    return max(float(max(sums.min(initial=0.0) / least, sums.max(initial=0.0) / most)) for sums, (least, most) in limited)
