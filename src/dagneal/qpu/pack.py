"""Packing: several problems with the same interactions on one chip, each on its own copy of the embedding."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import inf
from typing import Any

import dimod
import networkx as nx
import numpy as np
from numpy.typing import NDArray

from dagneal.base.kernels import Floats, Ints
from dagneal.qpu.embedding import Chains

Spins = NDArray[np.int8]
CHAIN_STRENGTH = 1.414  # prefactor of the chain strength, as in Ocean; see `Ising.chain_strengths`


@dataclass(frozen=True, eq=False)
class Copy:
    """One embedding as arrays.

    A position is an index into `qubits`.

    Attributes:
        qubits: qubits of all chains, in the order of the QUBO variables.
        starts: position of the first qubit of each chain.
        owner: QUBO variable of each qubit.
        couplers: positions of the two qubits of each coupler between chains, shape (couplers, 2).
        interaction: number of the interaction that each coupler carries.
        share: for each coupler, 1 / (number of couplers that carry the same interaction).
        links: positions of the two qubits of each coupler within a chain, shape (links, 2).
    """

    qubits: Ints
    starts: Ints
    owner: Ints
    couplers: Ints
    interaction: Ints
    share: Floats
    links: Ints

    @classmethod
    def of(cls, chains: Chains, rows: Ints, columns: Ints, target: nx.Graph) -> Copy:
        """Return one embedding as arrays.

        Args:
            chains: qubits of each QUBO variable.
            rows: first QUBO variable of each interaction.
            columns: second QUBO variable of each interaction.
            target: graph of the working qubits.
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
        fields: h, shape (problems, variables).
        couplings: J, shape (problems, interactions).
        rows: first variable of each interaction.
        columns: second variable of each interaction.
    """

    fields: Floats
    couplings: Floats
    rows: Ints
    columns: Ints

    @classmethod
    def of(cls, linear: Floats, rows: Ints, columns: Ints, quadratic: Floats) -> Ising:
        """Convert QUBOs to Ising problems, with x = (1 + s) / 2.

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

    def chain_strengths(self, prefactor: float) -> Floats:
        """Return the chain strength of each problem: prefactor * RMS of the couplings * sqrt(mean degree).

        Args:
            prefactor: the prefactor.
        """
        if not len(self.rows):
            return np.ones(len(self.fields))
        degree = 2 * len(self.rows) / max(self.fields.shape[1], 1)
        strength: Floats = prefactor * np.sqrt((self.couplings**2).mean(axis=1)) * np.sqrt(degree)
        return np.where(strength > 0, strength, 1.0)


@dataclass(frozen=True, eq=False)
class Ranges:
    """Ranges of the values that a chip accepts.

    Attributes:
        field: largest |h|.
        coupling: largest |J| between chains, for both signs because spin-reversal transforms change signs.
        chain: largest |J| within chains.
        per_qubit: smallest and largest sum of all J of a qubit.
        per_group: smallest and largest sum of all J of one half of a qubit, on Zephyr chips.
        zephyr: rows and tile of a Zephyr chip; None on other chips.
    """

    field: float = 4.0
    coupling: float = 1.0
    chain: float = 2.0
    per_qubit: tuple[float, float] = (-inf, inf)
    per_group: tuple[float, float] = (-inf, inf)
    zephyr: tuple[int, int] | None = None

    @classmethod
    def of(cls, properties: Mapping[str, Any]) -> Ranges:
        """Return the ranges of a solver.

        Args:
            properties: `h_range`, `j_range` and optionally `extended_j_range`, `per_qubit_coupling_range`,
                `per_group_coupling_range` and `topology` of the solver.
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
    """Return in which half of a Zephyr qubit, 0 or 1, the coupler to a neighbour lies.

    A qubit is a line segment. It crosses two lanes of qubits in the other direction, one in each half. Its neighbours in the
    same direction are shifted along the line. In both cases the coupler lies in the half that points towards the neighbour.

    Args:
        qubits: linear indices.
        neighbours: linear index of a coupled qubit, for each qubit.
        shape: rows and tile of the chip.
    """
    rows, tile = shape

    def locate(index: Ints) -> tuple[Ints, Ints, Ints]:
        """Return the direction, the lane, and twice the centre along the direction."""
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
    """Several problems, combined into one problem over the qubits of a chip.

    Attributes:
        bqm: model over spins, labelled by qubits.
        copies: embedding of each problem.
        signs: sign by which each spin was multiplied (spin-reversal transform), shape (problems, variables).
    """

    bqm: dimod.BinaryQuadraticModel
    copies: list[Copy]
    signs: Spins

    def unpack(self, sampleset: dimod.SampleSet) -> tuple[Spins, Floats]:
        """Return the spins of each problem and the fraction of its chains that are broken.

        A broken chain takes the majority value of its qubits; in a tie, the value of its first qubit.

        Args:
            sampleset: reads of the physical problem.

        Returns:
            Spins of shape (problems, reads, variables), one line per occurrence, and fractions of shape (problems,).
        """
        column = {qubit: i for i, qubit in enumerate(sampleset.variables)}
        record = sampleset.record
        samples = np.repeat(np.asarray(record.sample, dtype=np.int8), record.num_occurrences, axis=0)
        samples = np.where(samples > 0, np.int8(1), np.int8(-1))
        variables = len(self.copies[0].starts)
        spins = np.empty((len(self.copies), len(samples), variables), dtype=np.int8)
        broken = np.zeros(len(self.copies))
        for number, copy in enumerate(self.copies):
            own = samples[:, [column[int(qubit)] for qubit in copy.qubits]]
            sums = np.add.reduceat(own.astype(np.int64), copy.starts, axis=1)
            lengths = np.diff(np.append(copy.starts, len(copy.qubits)))
            broken[number] = float((np.abs(sums) != lengths).mean())
            spins[number] = np.where(sums == 0, own[:, copy.starts], np.sign(sums)) * self.signs[number]
        return spins, broken


def pack(
    problems: Ising,
    copies: Sequence[Copy],
    ranges: Ranges,
    chain_strength: float = CHAIN_STRENGTH,
    generator: np.random.Generator | None = None,
) -> PhysicalProblem:
    """Place problems on copies. Scale each problem to the ranges of the chip and apply a separate spin-reversal transform.

    Args:
        problems: problems, at most as many as copies.
        copies: disjoint embeddings of the problems.
        ranges: ranges of the chip.
        chain_strength: prefactor of the chain strength; see `Ising.chain_strengths`.
        generator: random generator of the spin-reversal transforms; None for no transform.
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
    return PhysicalProblem(bqm, list(copies[:count]), signs)


def _excess(copy: Copy, couplings: Floats, link: float, ranges: Ranges) -> float:
    """Return the factor by which the summed couplings of a copy exceed the limits per qubit and per half qubit.

    Args:
        copy: embedding of the problem.
        couplings: J of each coupler between chains.
        link: -J of each coupler within chains.
        ranges: ranges of the chip.
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
