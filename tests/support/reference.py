"""Slow, simple reference implementations for tests. They use only the data types of the code under test."""

from functools import cache
from itertools import combinations, product
from math import comb, lgamma, log

import networkx as nx
import numpy as np

from dagneal import Dataset
from dagneal.scoring import ScoreTable, score_table
from dagneal.scoring.sets import bounded_masks


def random_data(n: int, rows: int, seed: int, arities: list[int] | None = None) -> Dataset:
    """Return random data in which columns depend on earlier columns and have different numbers of states."""
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
    """Return a score table of random numbers, which are not like scores of real data."""
    rng = np.random.default_rng(seed)
    masks = bounded_masks(n - 1, max_parents)
    return ScoreTable(
        names=tuple(f"v{i}" for i in range(n)),
        max_parents=max_parents,
        score_name="random",
        first=np.arange(n + 1) * (n - 1),
        candidates=np.concatenate([np.delete(np.arange(n), i) for i in range(n)]),
        start=np.arange(n + 1) * len(masks),
        masks=np.tile(masks, (n, 1)),
        scores=-1000.0 + spread * rng.standard_normal(n * len(masks)),
    )


def local_score(data: Dataset, child: str, parents: list[str], alpha) -> float:
    """Return -s_i by the equation of the paper, with counts in dictionaries; `alpha(r, q)` is a_ijk."""
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
    """Return the maximum log-likelihood minus a penalty per free parameter."""
    counts = family_counts(data, child, parents)
    likelihood = sum(c * log(c / sum(states.values())) for states in counts.values() for c in states.values())
    arities = dict(zip(data.names, data.arities.tolist(), strict=True))
    q = 1
    for p in parents:
        q *= arities[p]
    return likelihood - penalty * q * (arities[child] - 1)


def family_counts(data: Dataset, child: str, parents: list[str]) -> dict:
    """Return the counts of the child's states, for each state combination of the parents that occurs."""
    position = {name: i for i, name in enumerate(data.names)}
    counts: dict = {}
    for row in range(data.codes.shape[1]):
        j = tuple(int(data.codes[position[p], row]) for p in parents)
        counts.setdefault(j, {}).setdefault(int(data.codes[position[child], row]), 0)
        counts[j][int(data.codes[position[child], row])] += int(data.weights[row])
    return counts


def bds_score(data: Dataset, child: str, parents: list[str], ess: float) -> float:
    """Return the score BDs (Scutari 2016): BDeu with the number of parent states that occur instead of all."""
    occurring = len(family_counts(data, child, parents))
    return local_score(data, child, parents, lambda r, q: ess / (r * occurring))


def fnml_score(data: Dataset, child: str, parents: list[str]) -> float:
    """Return the score fNML (Silander et al. 2008): one NML probability for each combination of parent states."""
    r = int(data.arities[data.names.index(child)])
    return sum(nml_score(list(states.values()), r) for states in family_counts(data, child, parents).values())


def qnml_score(data: Dataset, child: str, parents: list[str]) -> float:
    """Return the score qNML (Silander et al. 2018): the NML probability of the family, divided by that of the parents."""
    counts = family_counts(data, child, parents)
    arities = dict(zip(data.names, data.arities.tolist(), strict=True))
    q = 1
    for p in parents:
        q *= arities[p]
    family = [c for states in counts.values() for c in states.values()]
    return nml_score(family, q * arities[child]) - nml_score([sum(states.values()) for states in counts.values()], q)


def nml_score(counts: list[int], states: int) -> float:
    """Return the log NML probability of values with the given counts of their states."""
    total = sum(counts)
    return sum(c * log(c / total) for c in counts) - log(nml_normaliser(total, states))


@cache
def nml_normaliser(values: int, states: int) -> float:
    """Return C(N, r), the sum of the maximum likelihoods of all sequences, by dividing the states into two groups."""
    if states == 1:
        return 1.0
    half = states // 2
    total = 0.0
    for own in range(values + 1):
        rest = values - own
        likelihood = comb(values, own) * (own / values) ** own * (rest / values) ** rest
        total += likelihood * nml_normaliser(own, half) * nml_normaliser(rest, states - half) if own and rest else 0.0
    return total + nml_normaliser(values, half) + nml_normaliser(values, states - half)


def random_probabilities(names, seed: int, spread: float = 3.0) -> dict[tuple[str, str], float]:
    """Return random probabilities of about half of all edges. Log-odds have the given standard deviation."""
    rng = np.random.default_rng(seed)
    pairs = [(a, b) for a in names for b in names if a != b and rng.random() < 0.5]
    return {pair: float(1.0 / (1.0 + np.exp(-spread * rng.standard_normal()))) for pair in pairs}


@cache
def all_dags(n: int) -> list[tuple[frozenset[int], ...]]:
    """Return every DAG on n nodes as a tuple of parent sets: test all graphs for n <= 4, extend smaller DAGs above."""
    if n <= 4:
        arcs = [(a, b) for a in range(n) for b in range(n) if a != b]
        dags = []
        for chosen in product((0, 1), repeat=len(arcs)):
            graph = nx.DiGraph([arc for arc, c in zip(arcs, chosen, strict=True) if c])
            if nx.is_directed_acyclic_graph(graph):
                dags.append(
                    tuple(frozenset(a for (a, b), c in zip(arcs, chosen, strict=True) if c and b == i) for i in range(n))
                )
        return dags
    # A DAG on n nodes is a DAG on n - 1 nodes plus a node whose edges close no cycle.
    extended = set()
    for smaller in all_dags(n - 1):
        for into in _subsets(range(n - 1)):
            for out in _subsets(set(range(n - 1)) - set(into)):
                parents = [p | {n - 1} if i in out else p for i, p in enumerate(smaller)] + [frozenset(into)]
                graph = nx.DiGraph([(p, c) for c, ps in enumerate(parents) for p in ps])
                if nx.is_directed_acyclic_graph(graph):
                    extended.add(tuple(parents))
    return sorted(extended, key=lambda dag: [sorted(p) for p in dag])


def _subsets(elements) -> list[frozenset[int]]:
    items = sorted(elements)
    return [frozenset(c) for k in range(len(items) + 1) for c in combinations(items, k)]


def dag_scores(table: ScoreTable, dags: list[tuple[frozenset[int], ...]]) -> np.ndarray:
    """Return the score of each DAG; minus infinity if a variable has too many parents."""
    local = []
    for child in range(len(table.names)):
        entries = table.entries_of(child)
        others = [v for v in range(len(table.names)) if v != child]
        local.append(
            {
                frozenset(v for b, v in enumerate(others) if int(mask) >> b & 1): float(score)
                for mask, score in zip(table.masks[entries, 0], table.scores[entries], strict=True)
            }
        )
    return np.array([sum(local[c].get(p, -np.inf) for c, p in enumerate(dag)) for dag in dags])


def as_graph(table: ScoreTable, dag: tuple[frozenset[int], ...]) -> nx.DiGraph:
    graph = nx.DiGraph()
    graph.add_nodes_from(table.names)
    graph.add_edges_from((table.names[p], table.names[c]) for c, parents in enumerate(dag) for p in parents)
    return graph


def join_table(names, max_parents: int, candidates: list, masks: list, scores: list) -> ScoreTable:
    """Return the score table with the given candidates, masks and scores of each child."""
    return ScoreTable(
        names=tuple(names),
        max_parents=max_parents,
        score_name="random",
        first=np.cumsum([0, *map(len, candidates)]),
        candidates=np.concatenate(candidates),
        start=np.cumsum([0, *map(len, masks)]),
        masks=np.concatenate(masks),
        scores=np.concatenate(scores),
    )


def candidate_table(n: int, max_parents: int, seed: int, kind: str = "noise") -> ScoreTable:
    """Return a score table with random candidate parents.

    Kinds: in `noise` all scores are random. In `additive` every parent improves the score, which favours cycles. In
    `oversize` only the largest sets are good, so that the polynomial is far too good for a set with one more parent.
    """
    rng = np.random.default_rng(seed)
    density = rng.uniform(0.4, 1.0)
    candidates, masks, scores = [], [], []
    for child in range(n):
        own = np.array([v for v in range(n) if v != child and rng.random() < density], dtype=np.int64)
        sets = bounded_masks(len(own), min(max_parents, len(own)))
        sizes = np.bitwise_count(sets)[:, 0].astype(np.int64)
        noise = rng.standard_normal(len(sets))
        if kind == "noise":
            values = 100 * noise
        elif kind == "additive":
            inside = (sets >> np.arange(len(own), dtype=np.uint64)) & np.uint64(1)
            values = inside @ rng.exponential(100, len(own)) + 5 * noise
        else:
            values = np.where(sizes == max_parents, 500.0, 0.0) + 10 * noise
        candidates.append(own)
        masks.append(sets)
        scores.append(values - 1000)
    return join_table([f"v{i}" for i in range(n)], max_parents, candidates, masks, scores)


@cache
def count_orders(dag: tuple[frozenset[int], ...], left: frozenset[int] | None = None) -> int:
    """Return the number of topological orders of a DAG, or of its subgraph of the variables `left`."""
    left = frozenset(range(len(dag))) if left is None else left
    if not left:
        return 1
    return sum(count_orders(dag, left - {v}) for v in left if all(v not in dag[child] for child in left))


def enumerated_posteriors(table: ScoreTable, per_order: bool) -> tuple[np.ndarray, float]:
    """Return the probability of each edge, and the logarithm of the sum of exp(score), over all DAGs.

    With `per_order`, a DAG counts once for each of its topological orders.
    """
    n = len(table.names)
    dags = all_dags(n)
    scores = dag_scores(table, dags)
    best = scores.max()
    weights = np.exp(scores - best) * ([count_orders(dag) for dag in dags] if per_order else 1.0)
    edges = np.zeros((n, n))
    for dag, weight in zip(dags, weights, strict=True):
        for child, parents in enumerate(dag):
            edges[list(parents), child] += weight
    return edges / weights.sum(), float(np.log(weights.sum()) + best)


def enumerate_edges(data, limit, prior="uniform", obeys=lambda dag: True):
    """Return the probability of each edge by enumeration. `obeys` is False for DAGs that background knowledge forbids."""
    n = len(data.names)
    dags = [dag for dag in all_dags(n) if max(map(len, dag)) <= limit and obeys(dag)]
    logs = dag_scores(score_table(data, max_parents=limit), dags)
    weights = np.exp(logs - logs.max())
    if prior.startswith("sparse"):
        weights *= [1 / np.prod([comb(n - 1, len(parents)) for parents in dag]) for dag in dags]
    if prior.endswith("orders"):
        weights *= [count_orders(dag) for dag in dags]
    edges = np.zeros((n, n))
    for dag, weight in zip(dags, weights, strict=True):
        for child, parents in enumerate(dag):
            edges[list(parents), child] += weight
    return edges / weights.sum()
