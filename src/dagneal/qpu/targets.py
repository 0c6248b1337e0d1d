"""Chips to plan for: ideal chips, chips with defects, and the working graphs of real solvers."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import networkx as nx
import numpy as np

from dagneal.base.errors import InputError
from dagneal.qpu.chips import Timing, chip_graph, find_system
from dagneal.qpu.embedding import graph_name

_WORKING = "working"
_SOLVER = "qpu"


@dataclass(frozen=True, eq=False)
class Target:
    """A chip to plan for.

    Attributes:
        name: name of the chip, with the kind of its graph if that is not ideal.
        identity: text that identifies the chip and its working qubits in the cache of embeddings.
        graph: graph of the working qubits.
        properties: properties of the solver in Ocean's format.
    """

    name: str
    identity: str
    graph: nx.Graph
    properties: Mapping[str, Any]

    @property
    def topology(self) -> str:
        """Name of the topology: `chimera`, `pegasus` or `zephyr`."""
        return str(self.properties["topology"]["type"])

    @property
    def shape(self) -> tuple[int, ...]:
        """Size parameters of the chip's graph, such as `(16,)`."""
        return tuple(self.properties["topology"]["shape"])

    @property
    def ideal(self) -> nx.Graph:
        """Graph of the chip if all qubits worked."""
        return chip_graph(self.topology, self.shape)

    @property
    def timing(self) -> Timing:
        """Durations of the steps of a call."""
        return Timing.of(self.properties["problem_timing_data"])


def find_target(name: str | Target) -> Target:
    """Return the chip that a name describes.

    Args:
        name: a chip, which is returned, or one of four kinds of names. A topology or a system, such as `pegasus` or
            `Advantage2_system1`, is a chip without defects. With `:working` at its end, the chip has as many working qubits
            as D-Wave published for the system; the others are chosen at random, always the same. `qpu` is the solver of the
            user's D-Wave configuration, and `qpu:NAME` the solver of this name. A file name ending in .json contains the
            properties of a solver.
    """
    if isinstance(name, Target):
        return name
    kind, _, rest = name.partition(":")
    if name.endswith(".json"):
        return _read_target(Path(name))
    if kind == _SOLVER:
        return _connect(rest or None)
    system_name, system = find_system(kind)
    graph = chip_graph(system.topology, system.shape)
    if not rest:
        return Target(system_name, f"ideal-{system_name}", graph, system.properties)
    if rest != _WORKING:
        raise InputError(f"unknown kind of chip {name!r}; after a system, only :{_WORKING} is possible")
    graph = remove_qubits(graph, len(graph) - system.qubits)
    return Target(f"{system_name}:{_WORKING}", f"{_WORKING}-{system_name}-{graph_name(graph)}", graph, system.properties)


def remove_qubits(graph: nx.Graph, number: int) -> nx.Graph:
    """Return a copy of a graph without a number of random qubits; equal numbers give equal qubits.

    Args:
        graph: graph of a chip.
        number: number of qubits to remove.
    """
    broken = np.random.default_rng(0).choice(sorted(graph), number, replace=False)
    copy = graph.copy()
    copy.remove_nodes_from(broken.tolist())
    return copy


def _read_target(path: Path) -> Target:
    """Return the chip whose properties are in a file, such as `json.dump(DWaveSampler().properties, file)` writes."""
    try:
        properties = json.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise InputError(f"cannot read {path}: {error.strerror}") from None
    except ValueError as error:
        raise InputError(f"{path} is not JSON ({error}); write it with json.dump(DWaveSampler().properties, file)") from None
    return _make_target(properties, str(path))


def _make_target(properties: Any, origin: str) -> Target:
    """Return the chip with these properties, and check that they describe a chip."""

    def make() -> Target:
        topology = properties["topology"]
        graph = nx.Graph(**chip_graph(topology["type"], tuple(topology["shape"])).graph)
        graph.add_nodes_from(int(qubit) for qubit in properties["qubits"])
        graph.add_edges_from((int(a), int(b)) for a, b in properties["couplers"])
        return Target(str(properties["chip_id"]), f"{properties['chip_id']}-{graph_name(graph)}", graph, properties)

    return _check_target(make, origin)


def _check_target(make: Callable[[], Target], origin: str) -> Target:
    """Return the chip that a function makes, and check that its properties describe a chip.

    Args:
        make: function that makes the chip. Its exceptions mean that a property is missing or wrong.
        origin: name of the file or solver, for error messages.
    """
    try:
        target = make()
        foreign = sorted(set(target.graph) - set(target.ideal))
        _ = target.timing
    except (KeyError, TypeError, ValueError) as error:
        missing = f"{error} is missing" if isinstance(error, KeyError) else str(error)
        raise InputError(
            f"{origin} does not have the properties of a quantum annealer ({missing}); it needs chip_id, topology, "
            "qubits, couplers and problem_timing_data"
        ) from None
    if foreign:
        kind = f"{target.topology} {list(target.shape)}"
        raise InputError(
            f"{origin}: qubit {foreign[0]} is not a qubit of the topology {kind}; check `topology` and `qubits`"
        )
    return target


def _connect(solver: str | None) -> Target:
    """Return the chip of a solver in the user's D-Wave configuration. Nothing is sampled, so nothing is charged."""
    from dagneal.qpu.cloud import CloudBackend

    backend = CloudBackend.connect(None, solver)
    try:
        properties = dict(backend.properties)
        return _check_target(lambda: Target(backend.name, backend.name, backend.graph, properties), backend.name)
    finally:
        backend.close()
