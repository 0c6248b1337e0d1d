"""Compare dagneal with plain second implementations on random cases: scores, tables, exact search, knowledge and readers.

Usage: python benchmarks/acceptance/differential.py [COUNT] [SEED]   100,000 cases by default, a few minutes on two cores

The second implementations count with dictionaries, enumerate all DAGs and read files with Python's csv module.
"""

from __future__ import annotations

import csv
import sys
import tempfile
from collections import Counter
from collections.abc import Callable, Iterator
from concurrent.futures import ProcessPoolExecutor
from contextlib import suppress
from functools import cache
from itertools import combinations, product
from math import lgamma, log
from multiprocessing import get_context
from pathlib import Path
from typing import Any

import numpy as np
from verdict import Verdicts

import dagneal as dn

SHARES = {"scores": 0.5, "tables": 0.2, "exact search": 0.1, "knowledge": 0.1, "readers": 0.1}
BATCH = 500
SCORES: dict[str, tuple[Any, Callable[[int], Callable[[int, int], float]]]] = {
    "bdeu1": (dn.BDeu(1.0), lambda rows: lambda r, q: 1.0 / (r * q)),
    "bdeu0.1": (dn.BDeu(0.1), lambda rows: lambda r, q: 0.1 / (r * q)),
    "bdeu10": (dn.BDeu(10.0), lambda rows: lambda r, q: 10.0 / (r * q)),
    "rows": (dn.BDeuRows(), lambda rows: lambda r, q: rows / (r * q)),
    "k2": (dn.K2(), lambda rows: lambda r, q: 1.0),
    "perks": (dn.Perks(), lambda rows: lambda r, q: 1.0 / r),
    "bic": (dn.BIC(), lambda rows: lambda r, q: -1.0),
}


class PlainData:
    """Rows as Python tuples, and scores computed with dictionaries.

    Args:
        rows: codes of each row.
        weights: weight of each row.
        arities: number of states of each column.
    """

    def __init__(self, rows: list[tuple[int, ...]], weights: list[int], arities: list[int]) -> None:
        self.rows, self.weights, self.arities = rows, weights, arities
        self.total = sum(weights)

    def local(self, child: int, parents: tuple[int, ...], name: str) -> float:
        """Return the local score of a child with these parents."""
        counts: dict[tuple[int, ...], Counter[int]] = {}
        for row, weight in zip(self.rows, self.weights, strict=True):
            counts.setdefault(tuple(row[p] for p in parents), Counter())[row[child]] += weight
        r, q = self.arities[child], 1
        for parent in parents:
            q *= self.arities[parent]
        if name == "bic":
            fit = sum(n * log(n / sum(states.values())) for states in counts.values() for n in states.values() if n)
            return fit - 0.5 * log(self.total) * q * (r - 1)
        a = SCORES[name][1](self.total)(r, q)
        total = 0.0
        for states in counts.values():
            total += lgamma(r * a) - lgamma(r * a + sum(states.values()))
            total += sum(lgamma(a + n) - lgamma(a) for n in states.values())
        return total


def random_problem(generator: np.random.Generator, n: int) -> tuple[dn.Dataset, PlainData, str]:
    """Return a dataset, the same data as plain rows, and the name of a score."""
    arities = [int(a) for a in generator.integers(1, 6, n)]
    count = int(generator.choice([1, 2, 5, 20, 60]))
    rows = [tuple(int(generator.integers(a)) for a in arities) for _ in range(count)]
    if generator.random() < 0.7:  # later columns copy earlier ones
        rows = [
            tuple(row[i // 2] % a if generator.random() < 0.7 else row[i] for i, a in enumerate(arities)) for row in rows
        ]
    most = int(generator.choice([1, 3, 1000, 10**8]))
    weights = [int(w) for w in generator.integers(1, most + 1, count)]
    codes = np.array(rows).T
    names = [f"v{i}" for i in range(n)]
    states = [[f"s{k}" for k in range(a)] for a in arities]
    if most == 1 and generator.random() < 0.5:  # do not merge rows, to test bitwise counting
        import polars as pl

        frame = pl.DataFrame(
            [pl.Series(name, [labels[c] for c in line]) for name, labels, line in zip(names, states, codes, strict=True)]
        )
        data = dn.read(frame, merge="no", states=dict(zip(names, states, strict=True)))
    else:
        data = dn.Dataset.from_codes(names, states, codes, np.array(weights))
    return data, PlainData(rows, weights, arities), str(generator.choice(list(SCORES)))


def is_close(first: float, second: float) -> bool:
    """Return whether two scores agree up to the rounding of sums of lgamma, whose terms have the size of N ln N."""
    return abs(first - second) <= 1e-9 * max(1.0, abs(first), abs(second)) + _rounding


_rounding = 0.0


def check_scores(generator: np.random.Generator) -> Iterator[str]:
    """Compare local scores of random families; ten cases."""
    global _rounding
    n = int(generator.integers(2, 8))
    data, plain, name = random_problem(generator, n)
    _rounding = 1e-13 * plain.total * log(plain.total + 2)
    scorer = dn.scoring.Scorer(data, SCORES[name][0])
    for _ in range(10):
        child, *others = (int(v) for v in generator.permutation(n))
        parents = tuple(sorted(others[: generator.integers(0, min(4, n - 1) + 1)]))
        ours = scorer.local(f"v{child}", [f"v{p}" for p in parents])
        theirs = plain.local(child, parents, name)
        yield "" if is_close(ours, theirs) else f"{name} of v{child} given {parents}: {ours} and {theirs}"


def check_table(generator: np.random.Generator) -> Iterator[str]:
    """Compare every entry of a table; one case."""
    global _rounding
    n = int(generator.integers(2, 5))
    data, plain, name = random_problem(generator, n)
    _rounding = 1e-13 * plain.total * log(plain.total + 2)
    limit = int(generator.integers(0, n))
    table = dn.scoring.score_table(data, SCORES[name][0], limit)
    message, entries = "", 0
    for child in range(n):
        for size in range(limit + 1):
            for parents in combinations([v for v in range(n) if v != child], size):
                entries += 1
                ours, theirs = table.local(f"v{child}", [f"v{p}" for p in parents]), plain.local(child, parents, name)
                if not is_close(ours, theirs):
                    message = f"{name} table of v{child} given {parents}: {ours} and {theirs}"
    yield message or ("" if entries == len(table.scores) else f"{entries} sets and {len(table.scores)} entries")


@cache
def all_dags(n: int) -> list[tuple[tuple[int, ...], ...]]:
    """Return the parents of each node, for every DAG on n nodes."""
    sets = [[s for k in range(n) for s in combinations([v for v in range(n) if v != child], k)] for child in range(n)]
    return [parents for parents in product(*sets) if _acyclic(parents)]


def _acyclic(parents: tuple[tuple[int, ...], ...]) -> bool:
    left = set(range(len(parents)))
    while left:
        roots = {v for v in left if not left & set(parents[v])}
        if not roots:
            return False
        left -= roots
    return True


def best_score(
    plain: PlainData, name: str, n: int, limit: int, obeys: Callable[[Any], bool] = lambda _: True
) -> float | None:
    """Return the highest score of a DAG within a parent limit that obeys a rule; None if there is none."""
    local: dict[tuple[int, tuple[int, ...]], float] = {}
    best = None
    for dag in all_dags(n):
        if max(map(len, dag)) > limit or not obeys(dag):
            continue
        total = 0.0
        for family in enumerate(dag):
            if family not in local:
                local[family] = plain.local(*family, name)
            total += local[family]
        best = total if best is None else max(best, total)
    return best


def check_exact(generator: np.random.Generator) -> Iterator[str]:
    """Compare exact search with all DAGs; one case."""
    global _rounding
    n = int(generator.integers(2, 5))
    data, plain, name = random_problem(generator, n)
    _rounding = 1e-12 * plain.total * log(plain.total + 2)
    limit = int(generator.integers(0, n))
    solution = dn.solvers.exact(dn.scoring.score_table(data, SCORES[name][0], limit))
    best = best_score(plain, name, n, limit)
    parents = [tuple(sorted(int(p[1:]) for p in solution.dag.predecessors(f"v{child}"))) for child in range(n)]
    rescored = sum(plain.local(child, parents[child], name) for child in range(n))
    correct = best is not None and is_close(solution.score, best) and is_close(rescored, best)
    yield "" if correct else f"{name}, limit {limit}: {solution.score}, {rescored} and {best}"


def check_knowledge(generator: np.random.Generator) -> Iterator[str]:
    """Compare constrained search with all DAGs that obey the background knowledge; one case."""
    global _rounding
    n = int(generator.integers(2, 5))
    data, plain, name = random_problem(generator, n)
    _rounding = 1e-12 * plain.total * log(plain.total + 2)
    limit = int(generator.integers(1, n)) if n > 2 else 1
    pairs = [(a, b) for a in range(n) for b in range(n) if a != b]
    chosen = [pairs[i] for i in generator.permutation(len(pairs))]
    required, forbidden = chosen[: generator.integers(0, 2)], chosen[1 : 1 + generator.integers(0, 4)]
    order = [int(v) for v in generator.permutation(n)]
    split = int(generator.integers(0, n))
    tiers = [order[:split], order[split:-1]] if generator.random() < 0.4 and split else []
    roots = order[:1] if generator.random() < 0.3 else []
    leaves = order[-1:] if generator.random() < 0.3 else []
    limits = {order[0]: int(generator.integers(0, 3))} if generator.random() < 0.3 else {}
    tier = {v: number for number, group in enumerate(tiers) for v in group}

    def obeys(dag: tuple[tuple[int, ...], ...]) -> bool:
        edges = {(p, c) for c, parents in enumerate(dag) for p in parents}
        return (
            set(required) <= edges
            and not edges & set(forbidden)
            and not any(tier.get(p, -1) > tier[c] for p, c in edges if c in tier)
            and not any(dag[v] for v in roots)
            and not any(p in leaves for p, _ in edges)
            and all(len(dag[v]) <= most for v, most in limits.items())
        )

    def to_names(values: Any) -> Any:
        return [f"v{v}" for v in values]

    knowledge = dn.Knowledge(
        required=[(f"v{a}", f"v{b}") for a, b in required],
        forbidden=[(f"v{a}", f"v{b}") for a, b in forbidden],
        tiers=[to_names(group) for group in tiers],
        roots=to_names(roots),
        leaves=to_names(leaves),
        limits={f"v{v}": most for v, most in limits.items()},
    )
    best = best_score(plain, name, n, limit, obeys)
    try:
        result = dn.learn(data, dn.Exact(), score=SCORES[name][0], max_parents=limit, knowledge=knowledge)
    except dn.InputError as error:
        yield "" if best is None else f"refused ({error}), but {best} is possible"
        return
    dag = tuple(tuple(sorted(int(p[1:]) for p in result.dag.predecessors(f"v{c}"))) for c in range(n))
    correct = best is not None and is_close(result.score, best) and obeys(dag) and max(map(len, dag)) <= limit
    yield "" if correct else f"{name}, {knowledge}: {result.score} of {dag} and {best}"


VALUES = [
    "a",
    "b b",
    "ä,ö",
    'say "x"',
    "0",
    "1",
    "2.5",
    "-3",
    "yes",
    "no",
    "é",
    "x;y",
    "a|b",
    "0x1",
    "1e3",
    "Z ",
    "tab\tbed",
]
MISSING = ["", "NA", "?", "nan", "NULL"]
TRUTH = [("True", "False"), ("TRUE", "FALSE"), ("true", "false")]


def check_reader(generator: np.random.Generator) -> Iterator[str]:
    """Read the same table from one of several sources; one case."""
    import polars as pl

    n, count = int(generator.integers(2, 5)), int(generator.choice([1, 3, 12, 40]))
    names = [str(name) for name in generator.choice(["a", "b c", "ü", "d,e", 'q"q', "f;g", "h|i"], n, replace=False)]
    missing = str(generator.choice(["drop", "state", "refuse"]))
    columns: list[list[str]] = []
    for _ in range(n):
        states = (
            list(TRUTH[generator.integers(3)])
            if generator.random() < 0.15
            else [str(v) for v in generator.choice(VALUES, generator.integers(1, 5), replace=False)]
        )
        if missing != "refuse" and generator.random() < 0.4:
            states.append(str(generator.choice(MISSING)))
        columns.append([states[generator.integers(len(states))] for _ in range(count)])
    weights = [int(w) for w in generator.integers(0, 4, count)] if generator.random() < 0.4 else None
    rows = list(zip(*columns, strict=True))
    expected = _plain_reading(rows, weights, missing)
    source = str(generator.choice(["csv", "semicolon", "tsv", "parquet", "polars", "pandas"]))
    header, body = list(names), [list(row) for row in rows]
    if weights is not None:
        header.append("weight of row")
        body = [[*row, str(weight)] for row, weight in zip(body, weights, strict=True)]
    options: dict[str, Any] = {"missing": missing, "weights": None if weights is None else "weight of row"}
    with tempfile.TemporaryDirectory() as folder:
        source_data: Any
        frame = pl.DataFrame({name: [row[i] for row in body] for i, name in enumerate(header)})
        if source in ("csv", "semicolon", "tsv"):
            source_data = Path(folder) / ("t.tsv" if source == "tsv" else "t.csv")
            with source_data.open("w", newline="", encoding="utf-8") as file:
                separator = {"csv": ",", "semicolon": ";", "tsv": "\t"}[source]
                csv.writer(file, delimiter=separator, quoting=csv.QUOTE_ALL).writerows([header, *body])
        elif source == "parquet":
            source_data = Path(folder) / "t.parquet"
            frame.write_parquet(source_data)
        else:
            import pandas as pd

            source_data = frame if source == "polars" else pd.DataFrame(frame.to_dict(as_series=False))
        try:
            data = dn.read(source_data, **options)
        except dn.InputError as error:
            refused = expected is None
            yield "" if refused else f"{source}, {missing}: refused ({error}): {header} {body}"
            return
    if expected is None:
        yield f"{source}, {missing}: {header} {body} has no complete row, but it was read"
        return
    ours: Counter[tuple[str, ...]] = Counter()
    for line, weight in zip(np.asarray(data.codes).T, data.weights, strict=True):
        ours[tuple(data.states[i][c] for i, c in enumerate(line))] += int(weight)
    same = list(data.names) == names and ours == expected
    states = [{row[i] for row in expected} for i in range(n)]
    correct = same and all(
        set(labels) == seen and len(labels) == len(seen) for labels, seen in zip(data.states, states, strict=True)
    )
    yield "" if correct else f"{source}, {missing}: {header} {body} {weights}: {data.states}, {ours} and {expected}"


def _plain_reading(rows: list[tuple[str, ...]], weights: list[int] | None, missing: str) -> Counter[tuple[str, ...]] | None:
    """Return the rows that should be read, with their counts; None if there are none."""
    kept = [
        ([value.strip() for value in row], 1 if weights is None else weights[i])
        for i, row in enumerate(rows)
        if weights is None or weights[i]
    ]
    if missing == "drop":
        kept = [(row, weight) for row, weight in kept if not set(row) & set(MISSING)]
    counts: Counter[tuple[str, ...]] = Counter()
    for i in range(len(rows[0])):
        seen = {row[i] for row, _ in kept} - set(MISSING)
        logical = bool(seen) and {value.lower() for value in seen} <= {"true", "false"}
        for row, _ in kept:
            if row[i] in MISSING:
                row[i] = "(missing)"
            elif logical:
                row[i] = row[i].capitalize()
    for row, weight in kept:
        counts[tuple(row)] += weight
    return counts or None


CHECKS = {
    "scores": (check_scores, 10),
    "tables": (check_table, 1),
    "exact search": (check_exact, 1),
    "knowledge": (check_knowledge, 1),
    "readers": (check_reader, 1),
}


def run_batch(kind: str, seed: int, count: int) -> tuple[str, int, list[str]]:
    """Run cases of one kind; return their number and the differences."""
    check, cases = CHECKS[kind]
    wrong, done = [], 0
    for number in range(-(-count // cases)):
        generator = np.random.default_rng([seed, list(CHECKS).index(kind), number])
        try:
            for message in check(generator):
                done += 1
                if message:
                    wrong.append(f"{kind}, seed {seed}, case {number}: {message}")
        except Exception as error:  # a crash is a difference too
            done += 1
            wrong.append(f"{kind}, seed {seed}, case {number}: {type(error).__name__}: {error}")
    return kind, done, wrong


if __name__ == "__main__":
    total, first = (int(word) for word in (*sys.argv[1:], *("100000", "1")[len(sys.argv) - 1 :]))
    batches = [
        (kind, first * 1_000_000 + batch, min(BATCH, round(share * total) - batch * BATCH))
        for kind, share in SHARES.items()
        for batch in range(-(-round(share * total) // BATCH))
    ]
    counted: Counter[str] = Counter()
    differences: dict[str, list[str]] = {kind: [] for kind in SHARES}
    with ProcessPoolExecutor(2, mp_context=get_context("spawn")) as pool:
        for run in [pool.submit(run_batch, *batch) for batch in batches]:
            kind, done, wrong = run.result()
            counted[kind] += done
            differences[kind] += wrong
    verdicts = Verdicts()
    for kind, wrong in differences.items():
        verdicts.add(f"{counted[kind]:,} cases of {kind}: differences", len(wrong), "0", not wrong)
        for message in wrong[:5]:
            print(f"      {message[:600]}")
    verdicts.add("cases", f"{counted.total():,}", f"{total:,}", counted.total() >= total)
    with suppress(BrokenPipeError):
        verdicts.exit()
