"""Measure the local scores per second of each tool, on one core: python rates.py

Prints one JSON list of records: tool, table, numbers and the largest difference from dagneal's scores. The other tools score
one parent set per call, in random order, for at most ten seconds; dagneal computes all sets at once.
"""

import json
import math
import time
from collections.abc import Callable, Iterator
from itertools import combinations
from typing import Any

import numpy as np
import pandas as pd
from run import ROWS, fetch_networks
from tools import harness

import dagneal as dn

Sets = list[tuple[str, tuple[str, ...]]]
TIME_LIMIT = 10.0  # seconds per tool and table


def parent_sets(names: tuple[str, ...], max_parents: int) -> Sets:
    """Return all children with all parent sets up to a size, in random order."""
    families = [
        (child, parents)
        for child in names
        for size in range(max_parents + 1)
        for parents in combinations([name for name in names if name != child], size)
    ]
    return [families[i] for i in np.random.default_rng(0).permutation(len(families))]


def score_one_by_one(score: Callable[[str, tuple[str, ...]], float], families: Sets) -> tuple[dict[Any, float], float]:
    """Return the scores of as many families as the time limit allows, and the seconds."""
    scores: dict[Any, float] = {}
    start = time.perf_counter()
    for child, parents in families:
        scores[child, frozenset(parents)] = score(child, parents)
        if time.perf_counter() - start > TIME_LIMIT:
            break
    return scores, time.perf_counter() - start


def dagneal(data: dn.Dataset, rows: pd.DataFrame, max_parents: int, families: Sets) -> tuple[dict[Any, float], float]:
    dn.scoring.Scorer(data, dn.BDeu(1.0)).table(max_parents)  # compiles the kernels
    start = time.perf_counter()
    table = dn.scoring.Scorer(data, dn.BDeu(1.0)).table(max_parents)
    seconds = time.perf_counter() - start
    return {(child, frozenset(parents)): table.local(child, parents) for child, parents in families}, seconds


def pygobnilp(data: dn.Dataset, rows: pd.DataFrame, max_parents: int, families: Sets) -> tuple[dict[Any, float], float]:
    from pygobnilp.scoring import BDeu, DiscreteData

    codes = rows.apply(lambda column: column.cat.codes)
    score = BDeu(DiscreteData(codes.to_numpy(), varnames=list(codes.columns)), alpha=1.0)
    score.bdeu_score(families[0][0], ())  # compiles its code
    score._cache.clear()
    return score_one_by_one(lambda child, parents: score.bdeu_score(child, parents)[0], families)


def pybnesian(data: dn.Dataset, rows: pd.DataFrame, max_parents: int, families: Sets) -> tuple[dict[Any, float], float]:
    import pybnesian

    score = pybnesian.BDe(rows, iss=1.0)
    model = pybnesian.DiscreteBN(list(rows.columns))
    return score_one_by_one(lambda child, parents: score.local_score(model, child, list(parents)), families)


def pyagrum(data: dn.Dataset, rows: pd.DataFrame, max_parents: int, families: Sets) -> tuple[dict[Any, float], float]:
    import pyagrum

    learner = pyagrum.BNLearner(rows)
    learner.setNumberOfThreads(1)
    learner.useScoreBDeu()
    return score_one_by_one(lambda child, parents: learner.score(child, list(parents)) * math.log(2), families)


def pgmpy(data: dn.Dataset, rows: pd.DataFrame, max_parents: int, families: Sets) -> tuple[dict[Any, float], float]:
    from pgmpy.structure_score import BDeu

    score = BDeu(rows, equivalent_sample_size=1)
    return score_one_by_one(score.local_score, families)


def measure() -> Iterator[dict[str, Any]]:
    """Yield a record for each tool and table."""
    alarm = fetch_networks(["alarm"])["alarm"].sample(ROWS, 1)
    tables = (("alarm", alarm, 2), ("million", dn.load("waste").sample(10**6, 1), 3))
    for name, data, max_parents in tables:
        rows = pd.DataFrame({column: pd.Categorical(values) for column, values in data.frame().to_dict().items()})
        families = parent_sets(data.names, max_parents)
        ours: dict[Any, float] = {}
        for tool in (dagneal, pygobnilp, pybnesian, pyagrum, pgmpy):
            record = {"tool": tool.__name__, "table": name, "all": len(families)}
            try:
                scores, seconds = tool(data, rows, max_parents, families)
            except ImportError:
                yield record | {"missing": True}
                continue
            ours = ours or scores
            difference = max(abs(ours[key] - value) for key, value in scores.items())
            yield record | {"sets": len(scores), "seconds": seconds, "apart": difference}


if __name__ == "__main__":
    harness.use_one_core()
    with dn.limits(jobs=1):
        print(json.dumps(list(measure())))
