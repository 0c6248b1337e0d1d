"""Random score tables and their proofs: compare bounds with dynamic programming, and check changed proofs."""

from __future__ import annotations

import copy
import gzip
import json
import sys
from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import networkx as nx
import numpy as np
from verdict import Verdicts

import dagneal as dn
from dagneal.proofs import Families, ProofError, check_proof, prove, read_proof
from dagneal.proofs.branch import TOLERANCE
from dagneal.proofs.certificate import fingerprint
from dagneal.proofs.families import UNITS
from dagneal.scoring.table import ScoreTable
from dagneal.solvers.exact import exact

sys.path.append(str(Path(__file__).resolve().parents[2] / "tests"))
from support.reference import candidate_table, random_data, random_table

EQUAL = 1e-6  # nats; the tolerance of a proof
ROUNDING = UNITS // 10**9  # units; rounding errors of the sum of a network's scores
MOST_WORK = 2e7  # limit of all attempts, because some random tables are hard
WORK = (0.0, 1e3, 1e4, 1e5, 1e6)  # limits of attempts that stop early

Generator = np.random.Generator
Plain = dict[str, Any]


def random_knowledge(names: tuple[str, ...], generator: Generator) -> dn.Knowledge:
    """Return background knowledge without contradictions: all its rules agree with a random order."""
    order = [names[i] for i in generator.permutation(len(names))]
    edges = [(parent, child) for place, child in enumerate(order) for parent in order[:place]]
    chosen = [edges[i] for i in generator.permutation(len(edges))[: generator.integers(0, 6)]]
    required = [edge for number, edge in enumerate(chosen[:2]) if edge[1] not in {child for _, child in chosen[:number]}]
    forbidden = [*chosen[2:], *((child, parent) for parent, child in chosen[:3])]
    middle = len(order) // 2
    tiers = [order[:middle], order[middle:]] if generator.random() < 0.4 else []
    roots = [order[0]] if generator.random() < 0.3 else []
    return dn.Knowledge(required=required, forbidden=forbidden, tiers=tiers, roots=roots, limits={order[-1]: 2})


def cyclic_table(n: int, generator: Generator) -> ScoreTable:
    """Return a table in which the best families form cycles: each child gains most from its next variables on a circle."""
    table = random_table(n, 3, int(generator.integers(1 << 30)), spread=1.0)
    place = generator.permutation(n)
    scores = table.scores.copy()
    for child in range(n):
        others = table.candidates_of(child)
        distance = (place[others] - place[child]) % n
        gain = 50.0 / distance**2
        inside = (table.masks[table.entries_of(child)] >> np.arange(n - 1, dtype=np.uint64)) & np.uint64(1)
        scores[table.entries_of(child)] += inside @ gain
    return replace(table, scores=scores)


def data_table(n: int, generator: Generator) -> ScoreTable:
    """Return a table of random data and random background knowledge."""
    data = random_data(n, int(generator.integers(20, 400)), int(generator.integers(1 << 30)))
    knowledge = random_knowledge(data.names, generator) if generator.random() < 0.8 else None
    score = [dn.BDeu(1.0), dn.BIC(), dn.K2()][generator.integers(3)]
    return dn.scoring.Scorer(data, score, knowledge).table(3)


def change_scores(change: Callable[[np.ndarray, Generator], np.ndarray]) -> Callable[[int, Generator], ScoreTable]:
    """Return a function that makes a table with random candidates and changed scores."""

    def make(n: int, generator: Generator) -> ScoreTable:
        kind = ("noise", "additive", "oversize")[generator.integers(3)]
        table = candidate_table(n, int(generator.integers(1, 5)), int(generator.integers(1 << 30)), kind)
        return replace(table, scores=change(table.scores, generator))

    return make


KINDS: dict[str, Callable[[int, Generator], ScoreTable]] = {
    "random": lambda n, generator: random_table(n, int(generator.integers(1, 4)), int(generator.integers(1 << 30))),
    "candidates": change_scores(lambda scores, _: scores),
    "data and knowledge": data_table,
    "cycles": cyclic_table,
    "ties": change_scores(lambda scores, _: np.round(scores / 50)),
    "equal": change_scores(lambda scores, _: np.full_like(scores, -100.0)),
    "near ties": change_scores(
        lambda scores, generator: np.round(scores / 50) + 1e-7 * generator.integers(-9, 9, len(scores))
    ),
    "tiny": change_scores(lambda scores, _: scores * 1e-7),
    "large": change_scores(lambda scores, _: scores * 300.0),
    "huge": change_scores(lambda scores, generator: scores * 10.0 ** generator.integers(3, 6)),
    "skewed": change_scores(lambda scores, generator: -(10.0 ** generator.uniform(-8, 6, len(scores)))),
    "far from zero": change_scores(lambda scores, generator: scores - 10.0 ** generator.integers(5, 9)),
}


def check_soundness(verdicts: Verdicts, tables: int) -> None:
    """Compare bounds and optima of random tables with dynamic programming, and check all proofs.

    Args:
        verdicts: verdicts to add to.
        tables: number of tables.
    """
    counts: Counter[str] = Counter()

    def count(what: str, wrong: bool, number: int, kind: str, detail: str) -> None:
        counts[what] += wrong
        if wrong:
            print(f"info  table {number} ({kind}): {what}: {detail}", flush=True)

    for number in range(tables):
        generator = np.random.default_rng(number)
        kind = [*KINDS][number % len(KINDS)]
        table = KINDS[kind](int(generator.integers(5, 15)), generator)
        optimum = exact(table)
        initial = None if number % 3 else optimum.dag if number % 2 else _required(table)
        for work in (MOST_WORK, WORK[number // len(KINDS) % len(WORK)]):
            try:
                attempt = prove(table, initial, work=work)
            except dn.InputError as error:
                counts[f"refused: {str(error).split(';')[0][-60:]}"] += 1
                continue
            counts["attempts"] += 1
            counts["complete proofs"] += attempt.optimal
            below = optimum.score - attempt.bound.score
            count("invalid bounds", below > EQUAL, number, kind, f"{below:.9f} below the optimum")
            traced = min(bound for _, _, bound in attempt.trace) - optimum.score
            count("invalid bounds in a trace", traced < -EQUAL, number, kind, f"{traced:.9f}")
            above = attempt.score - optimum.score
            wrong = above > EQUAL or (attempt.optimal and abs(above) > EQUAL)
            count("wrong optima", wrong, number, kind, f"{above:.9f} above the optimum")
            open_gap = attempt.bound.score - attempt.score
            unclear = attempt.optimal == (attempt.bound.stopped != "")
            count("gaps without a reason", unclear, number, kind, f"gap {open_gap:.6f}")
            try:
                families = Families.of(table)
                proved = families.score(check_proof(attempt.proof, families))
                beyond = abs(proved - attempt.bound.score)
                count("proofs of another bound", beyond > 2 * EQUAL, number, kind, f"{proved} and {attempt.bound.score}")
            except ProofError as error:
                count("rejected proofs", True, number, kind, str(error))
    for name in ("attempts", "complete proofs", *(name for name in counts if name.startswith("refused"))):
        print(f"info  {name}: {counts[name]}", flush=True)
    for what in (
        "invalid bounds",
        "invalid bounds in a trace",
        "wrong optima",
        "gaps without a reason",
        "proofs of another bound",
        "rejected proofs",
    ):
        verdicts.add(f"{tables:,} random tables: {what}", counts[what], "0", counts[what] == 0)


def _required(table: ScoreTable) -> nx.DiGraph:
    """Return the network of all required edges."""
    dag = nx.DiGraph()
    dag.add_nodes_from(table.names)
    if table.required is not None:
        dag.add_edges_from((table.names[p], table.names[c]) for p, c in np.argwhere(table.required))
    return dag


# Changes of a proof in its file. Each gets the plain values and a generator, and changes the values in place.


def change_cut(plain: Plain, generator: Generator) -> None:
    """Make a cut stronger: one member more or less, another k, a lower limit, or a higher coefficient."""
    if not plain["cuts"]:
        return
    cut = plain["cuts"][generator.integers(len(plain["cuts"]))]
    if "k" in cut:
        way = generator.integers(4)
        others = [v for v in range(len(plain["names"])) if v not in cut["members"]]
        if way == 0:
            cut["members"] = cut["members"][1:]
        elif way == 1 and others:
            cut["members"] = sorted([*cut["members"], int(generator.choice(others))])
        elif way == 2:
            cut["k"] = 3 - cut["k"]
        else:
            cut["k"] = int(generator.integers(0, 5))
    elif generator.random() < 0.5:
        cut["limit"] = max(0, cut["limit"] - int(generator.integers(1, 3)))
    else:
        values = cut["coefficients"][2]
        values[int(generator.integers(len(values)))] += int(generator.integers(1, 5))


def change_multipliers(plain: Plain, generator: Generator) -> None:
    """Multiply the multipliers of a step, or set one of them to a random or very large number."""
    steps = [step for node in plain["nodes"] for step in node["steps"] if step["multipliers"]]
    if not steps:
        return
    step = steps[generator.integers(len(steps))]
    way, place = generator.integers(3), int(generator.integers(len(step["multipliers"])))
    if way == 0:
        step["multipliers"] = [int(value * generator.uniform(0, 3)) for value in step["multipliers"]]
    elif way == 1:
        step["multipliers"][place] = int(generator.integers(1 << 50))
    else:
        step["multipliers"][place] = int(generator.integers((1 << 61) - 1, (1 << 62) - 1))


def change_steps(plain: Plain, generator: Generator) -> None:
    """Remove, repeat or exchange steps, which remove families."""
    nodes = [node for node in plain["nodes"] if node["steps"]]
    if not nodes:
        return
    node, other = (nodes[generator.integers(len(nodes))] for _ in range(2))
    way, place = generator.integers(4), int(generator.integers(len(node["steps"])))
    if way == 0:
        del node["steps"][place]
    elif way == 1:
        node["steps"] += copy.deepcopy(node["steps"]) + copy.deepcopy(other["steps"])
    elif way == 2:
        node["steps"] = node["steps"][::-1]
    else:
        step = node["steps"][place]
        step["cuts"] = generator.integers(0, max(len(plain["cuts"]), 1), len(step["cuts"])).tolist()


def change_leaves(plain: Plain, generator: Generator) -> None:
    """Make a leaf of a node, remove one part, or use the same part twice."""
    nodes = [node for node in plain["nodes"] if node["parts"]]
    if not nodes:
        plain["nodes"][0]["steps"] = plain["nodes"][0]["steps"][:-1]
        return
    node = nodes[generator.integers(len(nodes))]
    way = generator.integers(4)
    if way == 0:
        node["pair"], node["parts"] = None, []
    elif way == 1:
        node["parts"] = node["parts"][:1]
    elif way == 2:
        node["parts"] = [node["parts"][generator.integers(2)]] * 2
    else:
        node["parts"] = node["parts"][::-1]


def change_pairs(plain: Plain, generator: Generator) -> None:
    """Replace the pair of a node, or divide a leaf by a pair of equal or unknown variables."""
    n, own = len(plain["names"]), int(generator.integers(len(plain["nodes"])))
    node = plain["nodes"][own]
    u, v = (int(x) for x in generator.integers(0, n + 1, 2))
    node["pair"] = [u, v] if generator.random() < 0.7 else [u, u]
    if not node["parts"]:
        plain["nodes"] += [{"steps": copy.deepcopy(node["steps"]), "pair": None, "parts": []} for _ in range(2)]
        node["parts"], node["steps"] = [len(plain["nodes"]) - 2, len(plain["nodes"]) - 1], []


def change_gap(plain: Plain, generator: Generator) -> None:
    """Claim a smaller gap, down to none."""
    plain["gap"] = int(plain["gap"] * generator.choice([0.0, 0.5, 0.9]))


def change_network(plain: Plain, generator: Generator) -> None:
    """Remove parents, add parents, or give a variable the parents of another one."""
    child, way = int(generator.integers(len(plain["names"]))), generator.integers(3)
    others = [v for v in range(len(plain["names"])) if v != child]
    if way == 0:
        plain["parents"] = [[] for _ in plain["parents"]]
    elif way == 1:
        plain["parents"][child] = sorted(generator.choice(others, generator.integers(0, 4), replace=False).tolist())
    else:
        plain["parents"][child] = plain["parents"][int(generator.choice(others))]


CHANGES: dict[str, Callable[[Plain, Generator], None]] = {
    "cuts": change_cut,
    "multipliers": change_multipliers,
    "steps": change_steps,
    "leaves": change_leaves,
    "pairs": change_pairs,
    "gap": change_gap,
    "network": change_network,
    "other table": lambda plain, generator: None,
}


def check_tampered(verdicts: Verdicts, folder: Path, count: int) -> None:
    """Change proofs in their files. No changed proof may be accepted with a bound that dynamic programming refutes.

    In four of five changed files the network is also worse than the optimum, or the gap of an unfinished attempt smaller, so
    that most of these files make a false claim.

    Args:
        verdicts: verdicts to add to.
        folder: folder for the files.
        count: number of changed proofs.
    """
    path = folder / "changed.proof"
    totals: Counter[str] = Counter()
    for number in range(count):
        generator = np.random.default_rng(10_000 + number)
        kind = ("random", "candidates", "data and knowledge", "cycles", "ties")[number // len(CHANGES) % 5]
        change = [*CHANGES][number % len(CHANGES)]
        n = int(generator.integers(8, 13))
        table = KINDS[kind](n, generator)
        families, optimum = Families.of(table), exact(table)
        attempt = prove(table, work=float(generator.choice([1e4, 1e6, MOST_WORK])))
        proof = attempt.proof
        if change == "other table":
            other = replace(KINDS[kind](n, generator), names=table.names)
            tree = prove(other, work=MOST_WORK).proof
            proof = replace(proof, root=tree.root, cuts=tree.cuts, fingerprint=fingerprint(families))
        proof.save(path)
        plain = json.loads(gzip.decompress(path.read_bytes()))
        CHANGES[change](plain, generator)
        if generator.random() < 0.8:
            _strengthen(plain, families, generator)
        path.write_bytes(gzip.compress(json.dumps(plain).encode()))
        best = _cost(families, [[table.position[p] for p in optimum.dag.predecessors(name)] for name in table.names])
        assert best is not None
        claimed = _cost(families, plain["parents"])
        false = claimed is not None and claimed - plain["gap"] > best + ROUNDING
        totals["false claims"] += false
        try:
            proved = check_proof(read_proof(path), families)
        except dn.InputError:
            totals["rejected"] += 1
            continue
        totals["accepted"] += 1
        totals["accepted with a false claim"] += proved > best + ROUNDING
        if proved > best + ROUNDING:
            print(f"info  file {number}, {change} of {kind}: {(proved - best) / UNITS} nats above the optimum", flush=True)
    for name in ("false claims", "rejected", "accepted"):
        print(f"info  {name}: {totals[name]} of {count}", flush=True)
    wrong = totals["accepted with a false claim"]
    verdicts.add(f"{count} changed proofs: accepted with a false claim", wrong, "0", wrong == 0)


def _strengthen(plain: Plain, families: Families, generator: Generator) -> None:
    """Change the network or the gap so that the claim is stronger than what was proved."""
    if plain["gap"] > 2 * TOLERANCE:
        plain["gap"] = int(plain["gap"] * generator.uniform(0, 0.99))
        return
    parents = [sorted(row) for row in plain["parents"]]
    subsets = []  # networks with fewer parents of one child; they have no cycle
    for child, row in zip(families.children.tolist(), families.rows, strict=True):
        smaller = row[row >= 0].tolist()
        if set(smaller) < set(parents[child]):
            subsets.append((child, smaller))
    if subsets:
        child, smaller = subsets[generator.integers(len(subsets))]
        plain["parents"][child] = smaller


def _cost(families: Families, parents: list[list[int]]) -> int | None:
    """Return the cost of a network; None if one of its families is not in the table."""
    total = 0
    for child, row in enumerate(parents):
        own = slice(families.start[child], families.start[child + 1])
        padded = np.array([*sorted(row), *[-1] * max(0, families.rows.shape[1] - len(row))])
        if len(padded) != families.rows.shape[1]:
            return None
        matches = np.flatnonzero((families.rows[own] == padded).all(axis=1))
        if not len(matches):
            return None
        total += int(families.costs[own][matches[0]])
    return total
