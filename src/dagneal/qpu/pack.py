"""Packing: several problems of one layout on one chip, each on its own copy of the embedding, as one physical problem."""

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
CHAIN_STRENGTH = 1.414  # times the root mean square of the couplings and the root of the mean degree, as Ocean does


@dataclass(frozen=True, eq=False)
class Copy:
    """One embedding as arrays.

    Attributes:
        qubits: its qubits, chain after chain in the order of the bits.
        starts: where the chain of each bit begins.
        owner: the bit of each qubit.
        couplers: for every coupler between chains, the places of its two qubits, shape (couplers, 2).
        product: the product of two bits that each coupler carries.
        share: one by the number of couplers of that product.
        links: the couplers within chains, as places, shape (links, 2).
    """

    qubits: Ints
    starts: Ints
    owner: Ints
    couplers: Ints
    product: Ints
    share: Floats
    links: Ints

    @classmethod
    def of(cls, chains: Chains, rows: Ints, columns: Ints, target: nx.Graph) -> Copy:
        """Lay out one copy.

        Args:
            chains: for each bit its qubits.
            rows: the first bit of each product.
            columns: the second.
            target: the graph of the working qubits.
        """
        bits = len(chains)
        qubits = np.array([qubit for bit in range(bits) for qubit in chains[bit]], dtype=np.int64)
        lengths = np.array([len(chains[bit]) for bit in range(bits)], dtype=np.int64)
        place = {int(qubit): i for i, qubit in enumerate(qubits)}
        couplers, product, share = [], [], []
        for number, (a, b) in enumerate(zip(rows.tolist(), columns.tolist(), strict=True)):
            own = [(place[p], place[q]) for p in chains[a] for q in chains[b] if target.has_edge(p, q)]
            couplers += own
            product += [number] * len(own)
            share += [1.0 / len(own)] * len(own)
        links = [
            (place[p], place[q])
            for chain in chains.values()
            for i, p in enumerate(chain)
            for q in chain[i + 1 :]
            if target.has_edge(p, q)
        ]
        return cls(
            qubits=qubits,
            starts=np.concatenate([[0], np.cumsum(lengths)[:-1]]).astype(np.int64),
            owner=np.repeat(np.arange(bits), lengths),
            couplers=np.array(couplers, dtype=np.int64).reshape(-1, 2),
            product=np.array(product, dtype=np.int64),
            share=np.array(share),
            links=np.array(links, dtype=np.int64).reshape(-1, 2),
        )


@dataclass(frozen=True, eq=False)
class Ising:
    """Problems of one layout over spins.

    Attributes:
        fields: h, shape (problems, bits).
        couplings: J, shape (problems, products).
        rows: first bit of each product.
        columns: second bit of each product.
    """

    fields: Floats
    couplings: Floats
    rows: Ints
    columns: Ints

    @classmethod
    def of(cls, linear: Floats, rows: Ints, columns: Ints, quadratic: Floats) -> Ising:
        """From QUBOs over bits, with x = (1 + s) / 2.

        Args:
            linear: shape (problems, bits).
            rows: first bit of each product.
            columns: second bit of each product.
            quadratic: shape (problems, products).
        """
        couplings = quadratic / 4
        fields = linear / 2
        np.add.at(fields.T, rows, couplings.T)
        np.add.at(fields.T, columns, couplings.T)
        return cls(fields, couplings, rows, columns)

    def chain_strengths(self, prefactor: float) -> Floats:
        """How strongly chains are coupled, for each problem.

        Args:
            prefactor: times the root mean square of the couplings and the root of the mean degree.
        """
        if not len(self.rows):
            return np.ones(len(self.fields))
        degree = 2 * len(self.rows) / max(self.fields.shape[1], 1)
        strength: Floats = prefactor * np.sqrt((self.couplings**2).mean(axis=1)) * np.sqrt(degree)
        return np.where(strength > 0, strength, 1.0)


@dataclass(frozen=True, eq=False)
class Ranges:
    """What a chip can be programmed with.

    Attributes:
        field: the largest |h|.
        coupling: the largest |J| between chains, both ways, since gauges turn signs.
        chain: the largest |J| within chains.
        per_qubit: the least and the largest sum of all J of a qubit.
        per_group: the least and the largest sum of all J of either half of a qubit, on Zephyr chips.
        zephyr: the shape of a Zephyr chip, rows and tile; None on other chips.
    """

    field: float = 4.0
    coupling: float = 1.0
    chain: float = 2.0
    per_qubit: tuple[float, float] = (-inf, inf)
    per_group: tuple[float, float] = (-inf, inf)
    zephyr: tuple[int, int] | None = None

    @classmethod
    def of(cls, properties: Mapping[str, Any]) -> Ranges:
        """From the properties of a solver.

        Args:
            properties: with `h_range`, `j_range` and perhaps `extended_j_range`, `per_qubit_coupling_range`,
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
    """The half of each qubit, 0 or 1, at which a coupler to a neighbour sits on a Zephyr chip.

    A qubit is a line segment. It crosses two lanes of qubits of the other direction, one in each half. Its neighbours of the
    same direction are shifted along the line. In both cases the coupler sits in the half that lies towards the neighbour.

    Args:
        qubits: linear indices.
        neighbours: linear indices of qubits that are coupled to them.
        shape: rows and tile of the chip.
    """
    rows, tile = shape

    def place(index: Ints) -> tuple[Ints, Ints, Ints]:
        """The direction, the lane, and twice the centre along the direction."""
        rest, along = np.divmod(index, rows)
        rest, offset = np.divmod(rest, 2)
        direction, lane = np.divmod(rest // tile, 2 * rows + 1)
        return direction, lane, 4 * along + 2 * offset + 1

    direction, _, centre = place(qubits)
    other, lane, their_centre = place(neighbours)
    halves: Ints = (np.where(other == direction, their_centre, 2 * lane) > centre).astype(np.int64)
    return halves


@dataclass(frozen=True, eq=False)
class Packed:
    """Problems on a chip.

    Attributes:
        bqm: over spins, labelled by qubits.
        copies: where each problem lies.
        gauges: the signs that each problem's spins were turned by, shape (problems, bits).
    """

    bqm: dimod.BinaryQuadraticModel
    copies: list[Copy]
    gauges: Spins

    def unpack(self, sampleset: dimod.SampleSet) -> tuple[Spins, Floats]:
        """The spins of each problem, chains by majority, and the share of broken chains.

        A chain with as many spins up as down takes its first.

        Args:
            sampleset: of the physical problem.

        Returns:
            Spins of shape (problems, reads, bits), one line per occurrence, and shares of shape (problems,).
        """
        column = {qubit: i for i, qubit in enumerate(sampleset.variables)}
        record = sampleset.record
        samples = np.repeat(np.asarray(record.sample, dtype=np.int8), record.num_occurrences, axis=0)
        samples = np.where(samples > 0, np.int8(1), np.int8(-1))
        bits = len(self.copies[0].starts)
        spins = np.empty((len(self.copies), len(samples), bits), dtype=np.int8)
        broken = np.zeros(len(self.copies))
        for number, copy in enumerate(self.copies):
            own = samples[:, [column[int(qubit)] for qubit in copy.qubits]]
            sums = np.add.reduceat(own.astype(np.int64), copy.starts, axis=1)
            lengths = np.diff(np.append(copy.starts, len(copy.qubits)))
            broken[number] = float((np.abs(sums) != lengths).mean())
            spins[number] = np.where(sums == 0, own[:, copy.starts], np.sign(sums)) * self.gauges[number]
        return spins, broken


def pack(
    problems: Ising,
    copies: Sequence[Copy],
    ranges: Ranges,
    chain_strength: float = CHAIN_STRENGTH,
    gauges: np.random.Generator | None = None,
) -> Packed:
    """Put problems on copies, each scaled to the chip's ranges on its own and turned by a gauge of its own.

    Args:
        problems: no more than there are copies.
        copies: embeddings of the problems' layout.
        ranges: what the chip can be programmed with.
        chain_strength: times the usual; see `Ising.chain_strengths`.
        gauges: draws the spin reversals; none without it.
    """
    count, bits = problems.fields.shape
    strengths = problems.chain_strengths(chain_strength)
    turned = np.ones((count, bits), dtype=np.int8)
    if gauges is not None:
        turned = (2 * gauges.integers(0, 2, (count, bits)) - 1).astype(np.int8)
    labels, fields, rows, columns, values = [], [], [], [], []
    begin = 0
    for number in range(count):
        copy = copies[number]
        lengths = np.diff(np.append(copy.starts, len(copy.qubits)))
        h = (problems.fields[number] / lengths)[copy.owner]
        j = problems.couplings[number][copy.product] * copy.share
        link = strengths[number] if len(copy.links) else 0.0
        sign = turned[number].astype(np.float64)
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
    return Packed(bqm, list(copies[:count]), turned)


def _excess(copy: Copy, couplings: Floats, link: float, ranges: Ranges) -> float:
    """How many times the sums of a copy's couplings exceed the limits of qubits and of their halves.

    Args:
        copy: where the problem lies.
        couplings: J of each coupler between chains.
        link: minus J of each coupler within chains.
        ranges: what the chip can be programmed with.
    """
    ends = np.concatenate([copy.couplers, copy.links])
    values = np.concatenate([couplings, np.full(len(copy.links), -link)])
    halves = np.zeros((len(copy.qubits), 2))  # the sum of all J at either half of each qubit
    for side in (0, 1):
        own, others = ends[:, side], ends[:, 1 - side]
        half = zephyr_halves(copy.qubits[own], copy.qubits[others], ranges.zephyr) if ranges.zephyr else np.zeros_like(own)
        np.add.at(halves, (own, half), values)
    limited = [(halves.sum(axis=1), ranges.per_qubit)]
    if ranges.zephyr:
        limited.append((halves, ranges.per_group))
    return max(float(max(sums.min(initial=0.0) / least, sums.max(initial=0.0) / most)) for sums, (least, most) in limited)
