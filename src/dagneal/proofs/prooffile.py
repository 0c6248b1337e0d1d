"""Write proofs to files and read them: JSON, compressed with gzip."""

from __future__ import annotations

import gzip
import json
import os
import zlib
from typing import Any

import numpy as np

from dagneal.base.errors import InputError
from dagneal.base.files import atomic_write
from dagneal.base.kernels import Ints
from dagneal.proofs.certificate import Node, Proof, Step
from dagneal.proofs.cluster_cuts import Cluster
from dagneal.proofs.facets import MAX_FACET_SIZE, Facet

FORMAT = 1  # number of the file format
_LARGEST = 1 << 62


def write_proof(proof: Proof, path: str | os.PathLike[str]) -> None:
    """Write a proof to a file.

    Args:
        proof: proof to write.
        path: name of the file.
    """
    nodes: list[dict[str, Any]] = []
    _add_node(proof.root, nodes)
    plain = {
        "format": FORMAT,
        "names": proof.names,
        "score": proof.score_name,
        "max_parents": proof.max_parents,
        "fingerprint": proof.fingerprint,
        "parents": proof.parents,
        "tolerance": proof.tolerance,
        "cuts": [_plain_cut(cut) for cut in proof.cuts],
        "nodes": nodes,
    }
    text = json.dumps(plain, separators=(",", ":"), ensure_ascii=False)
    with atomic_write(path) as file:
        file.write(gzip.compress(text.encode(), mtime=0))


def read_proof(path: str | os.PathLike[str]) -> Proof:
    """Read a proof from a file. `check_proof` checks whether it holds.

    Args:
        path: name of the file.
    """
    try:
        with open(path, "rb") as file:
            plain = json.loads(gzip.decompress(file.read()))
    except OSError as error:
        reason = error.strerror or "it is not compressed with gzip"
        raise InputError(f"cannot read {path}: {reason}") from error
    except (EOFError, zlib.error, ValueError, RecursionError) as error:
        raise InputError(f"{path} is not a proof: it is damaged or has another format") from error
    try:
        if plain["format"] != FORMAT:
            raise InputError(f"{path} has the format {plain['format']!r}; this version of dagneal reads format {FORMAT}")
        nodes: list[Node] = []
        for entry in reversed(plain["nodes"]):  # the parts of a node come after it
            nodes.append(_node(entry, nodes, len(plain["nodes"])))
        return Proof(
            names=tuple(_text(name) for name in plain["names"]),
            score_name=_text(plain["score"]),
            max_parents=_whole(plain["max_parents"]),
            fingerprint=_text(plain["fingerprint"]),
            parents=tuple(tuple(_whole(parent) for parent in row) for row in plain["parents"]),
            tolerance=_whole(plain["tolerance"]),
            cuts=tuple(_cut(entry) for entry in plain["cuts"]),
            root=nodes[-1],
        )
    except (KeyError, IndexError, TypeError, ValueError, OverflowError) as error:
        raise InputError(f"{path} is not a valid proof: {error or type(error).__name__}") from error


def _add_node(root: Node, nodes: list[dict[str, Any]]) -> None:
    """Append a node and all nodes below it, each after the node that it is a part of."""
    waiting = [(root, -1)]
    while waiting:
        node, above = waiting.pop()
        if above >= 0:
            nodes[above]["parts"].append(len(nodes))
        waiting += [(part, len(nodes)) for part in reversed(node.parts)]
        steps = [{"cuts": step.cuts.tolist(), "multipliers": step.multipliers.tolist()} for step in node.steps]
        nodes.append({"steps": steps, "pair": node.pair, "parts": []})


def _node(entry: Any, later: list[Node], total: int) -> Node:
    """Return a node. `later` has the nodes that come after it, the last node first."""
    steps = tuple(Step(_array(step["cuts"]), _array(step["multipliers"])) for step in entry["steps"])
    if any(len(step.cuts) != len(step.multipliers) for step in steps):
        raise ValueError("a step has not one multiplier for each cut")
    own = total - 1 - len(later)
    places = [_whole(part) for part in entry["parts"]]
    if any(not own < place < total for place in places):
        raise ValueError(f"the parts of node {own} do not come after it")
    pair = None if entry["pair"] is None else (_whole(entry["pair"][0]), _whole(entry["pair"][1]))
    return Node(steps, pair, tuple(later[total - 1 - place] for place in places))


def _plain_cut(cut: Cluster | Facet) -> dict[str, Any]:
    if isinstance(cut, Cluster):
        return {"members": cut.members, "k": cut.k}
    child, parents = np.nonzero(cut.coefficients)
    values = cut.coefficients[child, parents]
    return {
        "members": cut.members.tolist(),
        "limit": cut.limit,
        "coefficients": [child.tolist(), parents.tolist(), values.tolist()],
    }


def _cut(entry: Any) -> Cluster | Facet:
    members = _array(entry["members"])
    if "k" in entry:
        return Cluster(tuple(members.tolist()), _whole(entry["k"]))
    if len(members) > MAX_FACET_SIZE:
        raise ValueError(f"a facet has {len(members)} variables; the most are {MAX_FACET_SIZE}")
    coefficients = np.zeros((len(members), 1 << len(members)), dtype=np.int64)
    child, parents, values = (_array(part) for part in entry["coefficients"])
    coefficients[child, parents] = values
    return Facet(members, coefficients, _whole(entry["limit"]))


def _array(values: Any) -> Ints:
    """Return a list of whole numbers as an array."""
    return np.array([_whole(value) for value in values], dtype=np.int64)


def _whole(value: Any) -> int:
    if isinstance(value, bool) or not isinstance(value, int) or not 0 <= value < _LARGEST:
        raise ValueError(f"{value!r} is not a whole number of at least 0")
    return value


def _text(value: Any) -> str:
    if not isinstance(value, str):
        raise ValueError(f"{value!r} is not text")
    return value
