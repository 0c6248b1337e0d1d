"""Slow and plain second implementations to test against. Nothing here uses the code under test but its data types."""

from functools import cache
from itertools import combinations, product
from math import lgamma, log

import networkx as nx
import numpy as np

from dagneal import Dataset
from dagneal.scoring import ScoreTable
from dagneal.scoring.sets import bounded_masks


def random_data(n: int, rows: int, seed: int, arities: list[int] | None = None) -> Dataset:
    """Rows in which later columns depend on earlier ones, with mixed numbers of states."""
    rng = np.random.default_rng(seed)
    arities = arities or [int(a) for a in rng.integers(2, 5, n)]
    codes = np.empty((n, rows), dtype=np.int64)
    for i, arity in enumerate(arities):
        noise = rng.integers(0, arity, rows)
        parents = [int(p) for p in rng.permutation(i)[: rng.integers(0, 3)]]
        mixed = sum((codes[p] * (k + 1) for k, p in enumerate(parents)), np.zeros(rows, dtype=np.int64))
        codes[i] = np.where(rng.random(rows) < 0.6, mixed % arity, noise)
    return Dataset.from_codes([f"v{i}" for i in range(n)], [[f"s{k}" for k in range(a)] for a in arities], codes)


def random_table(n: int, max_parents: int, seed: int, spread: float = 100.0) -> ScoreTable:
    """A table of random numbers: nothing about it is like a score of data."""
    rng = np.random.default_rng(seed)
    masks = bounded_masks(n - 1, max_parents)
    return ScoreTable(
        names=tuple(f"v{i}" for i in range(n)),
        max_parents=max_parents,
        score_name="random",
        first=np.arange(n + 1) * (n - 1),
        candidates=np.concatenate([np.delete(np.arange(n), i) for i in range(n)]),
        start=np.arange(n + 1) * len(masks),
        masks=np.tile(masks, n),
        scores=-1000.0 + spread * rng.standard_normal(n * len(masks)),
    )


def local_score(data: Dataset, child: str, parents: list[str], alpha) -> float:
    """The paper's equation for s_i with its sign turned, by counting in dictionaries; `alpha(r, q)` is a_ijk."""
    position = {name: i for i, name in enumerate(data.names)}
    counts: dict = {}
    for row in range(data.codes.shape[1]):
        j = tuple(int(data.codes[position[p], row]) for p in parents)
        k = int(data.codes[position[child], row])
        counts.setdefault(j, {}).setdefault(k, 0)
        counts[j][k] += int(data.weights[row])
    r = int(data.arities[position[child]])
    q = 1
    for p in parents:
        q *= int(data.arities[position[p]])
    a = alpha(r, q)
    total = 0.0
    for states in counts.values():
        total += lgamma(r * a) - lgamma(r * a + sum(states.values()))
        total += sum(lgamma(a + count) - lgamma(a) for count in states.values())
    return total


def bic_score(data: Dataset, child: str, parents: list[str]) -> float:
    return penalised_score(data, child, parents, 0.5 * log(data.rows))


def penalised_score(data: Dataset, child: str, parents: list[str], penalty: float) -> float:
    """The maximal log likelihood, minus a penalty for each free parameter."""
    position = {name: i for i, name in enumerate(data.names)}
    counts: dict = {}
    for row in range(data.codes.shape[1]):
        j = tuple(int(data.codes[position[p], row]) for p in parents)
        counts.setdefault(j, {}).setdefault(int(data.codes[position[child], row]), 0)
        counts[j][int(data.codes[position[child], row])] += int(data.weights[row])
    likelihood = sum(c * log(c / sum(states.values())) for states in counts.values() for c in states.values())
    q = 1
    for p in parents:
        q *= int(data.arities[position[p]])
    return likelihood - penalty * q * (int(data.arities[position[child]]) - 1)


@cache
def all_dags(n: int) -> list[tuple[frozenset[int], ...]]:
    """Every DAG on n nodes as the parents of each, found by trying all graphs (n <= 4) or all orders (above)."""
    if n <= 4:
        arcs = [(a, b) for a in range(n) for b in range(n) if a != b]
        found = []
        for chosen in product((0, 1), repeat=len(arcs)):
            graph = nx.DiGraph([arc for arc, c in zip(arcs, chosen, strict=True) if c])
            if nx.is_directed_acyclic_graph(graph):
                found.append(
                    tuple(frozenset(a for (a, b), c in zip(arcs, chosen, strict=True) if c and b == i) for i in range(n))
                )
        return found
    # A DAG on n nodes is one on n - 1 nodes, children chosen freely, plus a node whose edges make no cycle.
    found = set()
    for smaller in all_dags(n - 1):
        for into in _subsets(range(n - 1)):
            for out in _subsets(set(range(n - 1)) - set(into)):
                parents = [p | {n - 1} if i in out else p for i, p in enumerate(smaller)] + [frozenset(into)]
                graph = nx.DiGraph([(p, c) for c, ps in enumerate(parents) for p in ps])
                if nx.is_directed_acyclic_graph(graph):
                    found.add(tuple(parents))
    return sorted(found, key=lambda dag: [sorted(p) for p in dag])


def _subsets(things) -> list[frozenset[int]]:
    items = sorted(things)
    return [frozenset(c) for k in range(len(items) + 1) for c in combinations(items, k)]


def dag_scores(table: ScoreTable, dags: list[tuple[frozenset[int], ...]]) -> np.ndarray:
    """The score of each DAG, minus infinity where it has too many parents."""
    local = []
    for child in range(len(table.names)):
        entries = table.entries_of(child)
        others = [v for v in range(len(table.names)) if v != child]
        local.append(
            {
                frozenset(v for b, v in enumerate(others) if int(mask) >> b & 1): float(score)
                for mask, score in zip(table.masks[entries], table.scores[entries], strict=True)
            }
        )
    return np.array([sum(local[c].get(p, -np.inf) for c, p in enumerate(dag)) for dag in dags])


def as_graph(table: ScoreTable, dag: tuple[frozenset[int], ...]) -> nx.DiGraph:
    graph = nx.DiGraph()
    graph.add_nodes_from(table.names)
    graph.add_edges_from((table.names[p], table.names[c]) for c, parents in enumerate(dag) for p in parents)
    return graph


def candidate_table(n: int, max_parents: int, seed: int, kind: str = "noise") -> ScoreTable:
    """A table with random candidate parents.

    Kinds: `noise`, nothing to do with scores; `additive`, where every parent helps, so that all want cycles; `oversize`,
    where only the largest sets are good, so that the polynomial of a set with one more parent looks far too good.
    """
    rng = np.random.default_rng(seed)
    density = rng.uniform(0.4, 1.0)
    candidates, masks, scores = [], [], []
    for child in range(n):
        own = np.array([v for v in range(n) if v != child and rng.random() < density], dtype=np.int64)
        sets = bounded_masks(len(own), min(max_parents, len(own)))
        sizes = np.bitwise_count(sets).astype(np.int64)
        noise = rng.standard_normal(len(sets))
        if kind == "noise":
            values = 100 * noise
        elif kind == "additive":
            inside = (sets[:, None] >> np.arange(len(own), dtype=np.uint64)) & np.uint64(1)
            values = inside @ rng.exponential(100, len(own)) + 5 * noise
        else:
            values = np.where(sizes == max_parents, 500.0, 0.0) + 10 * noise
        candidates.append(own)
        masks.append(sets)
        scores.append(values - 1000)
    return ScoreTable(
        names=tuple(f"v{i}" for i in range(n)),
        max_parents=max_parents,
        score_name="random",
        first=np.cumsum([0, *map(len, candidates)]),
        candidates=np.concatenate(candidates),
        start=np.cumsum([0, *map(len, masks)]),
        masks=np.concatenate(masks),
        scores=np.concatenate(scores),
    )
