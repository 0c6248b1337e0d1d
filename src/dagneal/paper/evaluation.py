"""The whole evaluation: its items, how long they take, and their report."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from math import comb
from time import perf_counter

import dagneal as dn
from dagneal.paper import (
    annealing_time,
    construction_time,
    dataset_size,
    discretisation,
    division_items,
    division_time,
    network_figures,
    performance,
    priors,
    reads_and_time,
    speedup,
)
from dagneal.paper.division_runs import block_cost
from dagneal.paper.items import Item, Setting
from dagneal.paper.problems import true_network
from dagneal.paper.records import Case
from dagneal.paper.runner import TIMED

ITEMS: tuple[Item, ...] = (  # in the paper's order
    priors.ITEM,
    construction_time.ITEM,
    dataset_size.ITEM,
    reads_and_time.ITEM,
    performance.ITEM,
    annealing_time.ITEM,
    speedup.ITEM,
    division_time.ITEM,
    division_items.LUNG_CANCER,
    division_items.WASTE,
    division_items.ALARM,
    network_figures.ITEM,
    discretisation.ITEM,
)
_REFERENCE = 0.49  # seconds that `speed` takes where the costs below were measured
_SECONDS = {  # of runs whose inputs hardly matter; `cost` works out those of the other kinds
    "optimum": 0.1,
    "exhaustive": 0.1,
    "learn": 0.1,
    "conquer": 0.1,
    "construction": 0.3,
    "discretisation": 0.1,
}
_EXACT_SECONDS = 0.1  # of all subproblems, by exact search


def items_named(names: Iterable[str]) -> list[Item]:
    """Items by their names or the paper's numbers, in the paper's order.

    Args:
        names: such as `priors`, `5`, `table-5` or `all`.

    >>> [item.name for item in items_named(["table-5", "1"])]
    ['priors', 'performance']
    """
    wanted = set()
    for name in names:
        plain = name.lower().replace(" ", "-")
        found = [item.name for item in ITEMS if plain in ("all", item.name, *_numbers(item))]
        if not found:
            known = ", ".join(f"{item.name} ({item.number})" for item in ITEMS)
            raise dn.InputError(f"there is no item {name!r}; give all, or some of {known}")
        wanted.update(found)
    return [item for item in ITEMS if item.name in wanted]


def _numbers(item: Item) -> list[str]:
    """What else an item is called: `5` and `table-5`, `figure-4`, `section-5.1`."""
    found = []
    for part in item.number.lower().split(", "):
        kind, _, numbers = part.partition(" ")
        first, _, last = numbers.partition(" to ")
        each = [first] if not last else [str(number) for number in range(int(first), int(last) + 1)]
        found += [f"{kind.rstrip('s')}-{number}" for number in each] + (each if kind == "table" else [])
    return found


def speed() -> float:
    """How many times slower this machine is than that on which costs were measured, by a short run."""
    from dwave.samplers import SimulatedAnnealingSampler

    bqm = dn.qubo.encode(dn.scoring.score_table(true_network("lung-cancer").expected(1_000)), dn.PAPER)
    begun = perf_counter()
    SimulatedAnnealingSampler().sample(bqm, num_reads=800, seed=0)
    return (perf_counter() - begun) / _REFERENCE


def cost(case: Case) -> float:
    """About how many seconds a run takes on one core of the machine on which costs were measured.

    Args:
        case: the run. A kind that this function does not know is an error, so a new kind cannot go without a cost.
    """
    if case.kind in _SECONDS:
        return _SECONDS[case.kind]
    about = case.inputs
    n = len(true_network(about["network"]).names) if "network" in about else 0
    k = int(about.get("k") or n)
    if case.kind == "direct":
        return _sampling(k, about["solver"], about["reads"], about.get("microseconds"))
    if case.kind == "blocks":
        solver = about["solver"]
        if solver == "exact":
            return _EXACT_SECONDS
        each = block_cost(k, about["reads"]) if solver == "sa" else 0.01 + _sampling(k, solver, about["reads"], 1)
        return float(comb(n, k) / about.get("parts", 1) * each)
    if case.kind == "plain":
        rows = int(about["data"].split()[1])
        return 3.5e-7 * rows * comb(n, k) * k * k * k
    if case.kind == "priors":
        return 1e-5 * float(about["rows"])
    raise ValueError(f"nobody knows what a run of the kind {case.kind!r} costs; add it to `cost` in paper/evaluation.py")


def _sampling(k: int, solver: str, reads: int, microseconds: float | None) -> float:
    if solver == "sa":
        return block_cost(k, reads)
    if "qpu" in solver:
        return 3.0
    return 0.03 * float(microseconds or 20) * max(1.0, 0.4 * k - 0.3) * block_cost(k, reads)


def duration(cases: Iterable[Case], jobs: int) -> float:
    """About how many seconds some runs take on the reference machine; timed ones run alone, the others side by side.

    Args:
        cases: the runs.
        jobs: how many run at a time.
    """
    alone, together = 0.0, 0.0
    for case in {case.key: case for case in cases}.values():
        if case.kind in TIMED:
            alone += cost(case)
        else:
            together += cost(case)
    return alone + together / jobs


def all_cases(items: Sequence[Item], setting: Setting) -> list[Case]:
    """The runs of some items, each once, the longest first.

    Args:
        items: which.
        setting: how they are run.
    """
    found = {case.key: case for item in items for case in item.cases(setting)}
    return sorted(found.values(), key=cost, reverse=True)
