"""The class `Proof`: everything that is needed to check a bound on the score, without solving anything.

A file of a proof is JSON, compressed with gzip. The module `checker` checks whether a proof holds.
"""

from __future__ import annotations

import gzip
import json
import os
import zlib
from collections.abc import Mapping
from dataclasses import dataclass, field
from hashlib import blake2b
from typing import Any

import numpy as np

from dagneal.base.errors import InputError
from dagneal.base.files import atomic_write
from dagneal.base.kernels import Ints
from dagneal.proofs.cluster_cuts import Cluster
from dagneal.proofs.facets import MAX_FACET_SIZE, Facet
from dagneal.proofs.families import Families

FORMAT = 1  # number of the file format
_LARGEST = 1 << 62


@dataclass(frozen=True, eq=False)
class Step:
    """Multipliers that prove a lower bound on the cost, and so remove families.

    Attributes:
        cuts: indices of cuts in `Proof.cuts`.
        multipliers: multiplier of each of these cuts, in units of 2^-40 nats; positive.
    """

    cuts: Ints
    multipliers: Ints


@dataclass(frozen=True, eq=False)
class Node:
    """A node of the search tree: the networks in which some variables come before others.

    Attributes:
        steps: steps that remove families, one after the other. Without a pair, the last step proves that no network of this
            node is better than the network of the proof.
        pair: two variables u and v. In the first part u comes before v, and in the second v before u. None for a leaf.
        parts: the two parts; empty for a leaf.
    """

    steps: tuple[Step, ...]
    pair: tuple[int, int] | None = None
    parts: tuple[Node, ...] = ()


@dataclass(frozen=True, eq=False)
class Proof:
    """A proof that no network scores higher than a given one by more than a gap.

    Attributes:
        names: names of the variables.
        score_name: name of the score, with its parameters.
        max_parents: parent limit of the score table.
        fingerprint: fingerprint of the families.
        parents: parents of each variable in the network, ascending.
        gap: units of 2^-40 nats by which another network can be better at most.
        cuts: cuts that the steps use.
        root: root of the search tree.
        criterion: score in the form of the option `--score`, such as `bdeu:1`; empty for a table of scores.
        knowledge: background knowledge that the networks obey, as plain values; empty without knowledge.
    """

    names: tuple[str, ...]
    score_name: str
    max_parents: int
    fingerprint: str
    parents: tuple[tuple[int, ...], ...]
    gap: int
    cuts: tuple[Cluster | Facet, ...]
    root: Node
    criterion: str = ""
    knowledge: Mapping[str, Any] = field(default_factory=dict)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the proof to a file.

        Args:
            path: name of the file.
        """
        nodes: list[dict[str, Any]] = []
        _add_node(self.root, nodes)
        plain = {
            "format": FORMAT,
            "names": self.names,
            "score": self.score_name,
            "criterion": self.criterion,
            "knowledge": dict(self.knowledge),
            "max_parents": self.max_parents,
            "fingerprint": self.fingerprint,
            "parents": self.parents,
            "gap": self.gap,
            "cuts": [_plain_cut(cut) for cut in self.cuts],
            "nodes": nodes,
        }
        text = json.dumps(plain, separators=(",", ":"), ensure_ascii=False)
        with atomic_write(path) as file:
            file.write(gzip.compress(text.encode(), mtime=0))


def fingerprint(families: Families) -> str:
    """Return a text that identifies families and their costs.

    Args:
        families: families of a score table.
    """
    digest = blake2b(digest_size=16)
    digest.update(families.highest.astype("<f8").tobytes())
    for array in (families.children, families.rows, families.costs):
        digest.update(array.astype("<i8").tobytes())
    return digest.hexdigest()


def read_proof(path: str | os.PathLike[str]) -> Proof:
    """Read a proof from a file. Use `check_proof` to check whether it holds.

    Args:
        path: name of the file.
    """
    try:
        with open(path, "rb") as file:
            plain = json.loads(gzip.decompress(file.read()))
    except (gzip.BadGzipFile, EOFError, zlib.error, ValueError, RecursionError) as error:
        raise InputError(f"{path} is not a proof: it is damaged or has another format") from error
    except OSError as error:
        raise InputError(f"cannot read {path}: {error.strerror or error}") from error
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
            gap=_whole(plain["gap"]),
            cuts=tuple(_cut(entry) for entry in plain["cuts"]),
            root=nodes[-1],
            criterion=_text(plain["criterion"]),
            knowledge=_check_mapping(plain["knowledge"]),
        )
    except KeyError as error:
        raise InputError(f"{path} is not a valid proof: it has no {error}") from error
    except ValueError as error:
        raise InputError(f"{path} is not a valid proof: {error}") from error
    except (IndexError, TypeError, OverflowError) as error:
        raise InputError(f"{path} is not a valid proof: it is damaged") from error


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


def _check_mapping(value: Any) -> Mapping[str, Any]:
    if not isinstance(value, dict):
        raise ValueError(f"{value!r} is not an object")
    return value
