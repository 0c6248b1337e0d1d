"""Local scores per second on one core, of every tool that gives them: python rates.py

Prints one JSON list: tool, the figures of each of the two tables, and the largest difference from ours. The peers score
one set a call and are asked in random order, for at most ten seconds; ours gives all sets at once.
"""

import json
import math
import time
from collections.abc import Callable, Iterator
from itertools import combinations
from typing import Any

import numpy as np
import pandas as pd
from run import ROWS, fetched
from tools import harness

import dagneal as dn

Sets = list[tuple[str, tuple[str, ...]]]
PATIENCE = 10.0  # seconds


def sets_of(names: tuple[str, ...], at_most: int) -> Sets:
    """Every child with every set of at most so many parents, shuffled."""
    found = [
        (child, parents)
        for child in names
        for size in range(at_most + 1)
        for parents in combinations([name for name in names if name != child], size)
    ]
    return [found[i] for i in np.random.default_rng(0).permutation(len(found))]


def one_by_one(score: Callable[[str, tuple[str, ...]], float], asked: Sets) -> tuple[dict[Any, float], float]:
    """Scores of as many sets as there is patience for, and the seconds."""
    found: dict[Any, float] = {}
    begun = time.perf_counter()
    for child, parents in asked:
        found[child, frozenset(parents)] = score(child, parents)
        if time.perf_counter() - begun > PATIENCE:
            break
    return found, time.perf_counter() - begun


def dagneal(data: dn.Dataset, rows: pd.DataFrame, at_most: int, asked: Sets) -> tuple[dict[Any, float], float]:
    dn.scoring.Scorer(data, dn.BDeu(1.0)).table(at_most)  # compiled before
    begun = time.perf_counter()
    table = dn.scoring.Scorer(data, dn.BDeu(1.0)).table(at_most)
    seconds = time.perf_counter() - begun
    return {(child, frozenset(parents)): table.local(child, parents) for child, parents in asked}, seconds


def pygobnilp(data: dn.Dataset, rows: pd.DataFrame, at_most: int, asked: Sets) -> tuple[dict[Any, float], float]:
    from pygobnilp.scoring import BDeu, DiscreteData

    codes = rows.apply(lambda column: column.cat.codes)
    score = BDeu(DiscreteData(codes.to_numpy(), varnames=list(codes.columns)), alpha=1.0)
    score.bdeu_score(asked[0][0], ())  # compiled before
    score._cache.clear()
    return one_by_one(lambda child, parents: score.bdeu_score(child, parents)[0], asked)


def pybnesian(data: dn.Dataset, rows: pd.DataFrame, at_most: int, asked: Sets) -> tuple[dict[Any, float], float]:
    import pybnesian

    score = pybnesian.BDe(rows, iss=1.0)
    model = pybnesian.DiscreteBN(list(rows.columns))
    return one_by_one(lambda child, parents: score.local_score(model, child, list(parents)), asked)


def pyagrum(data: dn.Dataset, rows: pd.DataFrame, at_most: int, asked: Sets) -> tuple[dict[Any, float], float]:
    import pyagrum

    learner = pyagrum.BNLearner(rows)
    learner.setNumberOfThreads(1)
    learner.useScoreBDeu()
    return one_by_one(lambda child, parents: learner.score(child, list(parents)) * math.log(2), asked)


def pgmpy(data: dn.Dataset, rows: pd.DataFrame, at_most: int, asked: Sets) -> tuple[dict[Any, float], float]:
    from pgmpy.structure_score import BDeu

    score = BDeu(rows, equivalent_sample_size=1)
    return one_by_one(score.local_score, asked)


def measured() -> Iterator[dict[str, Any]]:
    """A record for each tool and table."""
    alarm = fetched()["alarm"].sample(ROWS, 1)
    tables = (("alarm", alarm, 2), ("million", dn.load("waste").sample(10**6, 1), 3))
    for name, data, at_most in tables:
        rows = pd.DataFrame({column: pd.Categorical(values) for column, values in data.frame().to_dict().items()})
        asked = sets_of(data.names, at_most)
        ours: dict[Any, float] = {}
        for tool in (dagneal, pygobnilp, pybnesian, pyagrum, pgmpy):
            record = {"tool": tool.__name__, "table": name, "all": len(asked)}
            try:
                found, seconds = tool(data, rows, at_most, asked)
            except ImportError:
                yield record | {"missing": True}
                continue
            ours = ours or found
            apart = max(abs(ours[key] - value) for key, value in found.items())
            yield record | {"sets": len(found), "seconds": seconds, "apart": apart}


if __name__ == "__main__":
    harness.use_one_core()
    with dn.limits(jobs=1):
        print(json.dumps(list(measured())))
