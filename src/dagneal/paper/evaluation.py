"""All items of the evaluation, and estimates of their run times."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from math import comb
from time import process_time

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
from dagneal.paper.division_runs import subproblem_cost
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
_REFERENCE = 0.27  # seconds that the test run of `slowdown` takes on the machine where costs were measured
_SECONDS = {  # seconds of kinds whose time hardly depends on the inputs; `cost` computes the time of other kinds
    "optimum": 0.1,
    "exhaustive": 0.1,
    "learn": 0.1,
    "conquer": 0.1,
    "construction": 0.3,
    "discretisation": 0.1,
}
_EXACT_SECONDS = 0.1  # time to solve all subproblems of a run exactly


def select_items(names: Iterable[str]) -> list[Item]:
    """Return the items with the given names or numbers, in the paper's order.

    Args:
        names: names or numbers of items, such as `priors`, `5` or `table-5`; `all` for all items.

    >>> [item.name for item in select_items(["table-5", "1"])]
    ['priors', 'performance']
    """
    wanted = set()
    for name in names:
        plain = name.lower().replace(" ", "-")
        matches = [item.name for item in ITEMS if plain in ("all", item.name, *_numbers(item))]
        if not matches:
            choices = ", ".join(f"{item.name} ({item.number})" for item in ITEMS)
            raise dn.InputError(f"there is no item {name!r}; use 'all', or one or more of: {choices}")
        wanted.update(matches)
    return [item for item in ITEMS if item.name in wanted]


def _numbers(item: Item) -> list[str]:
    """Return the numbers that a user can give to select an item, such as `5`, `table-5`, `figure-4` or `section-5.1`."""
    aliases = []
    for part in item.number.lower().split(", "):
        kind, _, numbers = part.partition(" ")
        first, _, last = numbers.partition(" to ")
        numbered = [first] if not last else [str(number) for number in range(int(first), int(last) + 1)]
        aliases += [f"{kind.rstrip('s')}-{number}" for number in numbered] + (numbered if kind == "table" else [])
    return aliases


def slowdown() -> float:
    """Return how many times slower this machine is than the reference machine, measured with a short test run."""
    bqm = dn.qubo.encode(dn.scoring.score_table(true_network("lung-cancer").expected_data(1_000)), dn.PAPER)
    dn.SimulatedAnnealing().sample(bqm, seed=0)  # compile before the clock starts
    begun = process_time()
    dn.SimulatedAnnealing().sample(bqm, num_reads=6_400, seed=0)
    return (process_time() - begun) / _REFERENCE


def cost(case: Case) -> float:
    """Estimate the seconds of a run on one core of the reference machine. Raise ValueError for an unknown kind of run.

    Args:
        case: run to estimate.
    """
    if case.kind in _SECONDS:
        return _SECONDS[case.kind]
    inputs = case.inputs
    n = len(true_network(inputs["network"]).names) if "network" in inputs else 0
    k = int(inputs.get("k") or n)
    if case.kind == "direct":
        return _sampling_cost(k, inputs["solver"], inputs["reads"], inputs.get("microseconds"))
    if case.kind == "blocks":
        solver = inputs["solver"]
        if solver == "exact":
            return _EXACT_SECONDS
        reads = inputs["reads"]
        one = subproblem_cost(k, reads) if solver == "sa" else 0.01 + _sampling_cost(k, solver, reads, 1)
        return float(comb(n, k) / inputs.get("parts", 1) * one)
    if case.kind == "plain":
        rows = int(inputs["data"].split()[1])
        return 3.5e-7 * rows * comb(n, k) * k * k * k
    if case.kind == "priors":
        return 1e-5 * float(inputs["rows"])
    raise ValueError(f"kind {case.kind!r} has no cost; add it to `cost` in paper/evaluation.py")


def _sampling_cost(k: int, solver: str, reads: int, microseconds: float | None) -> float:
    if solver == "sa":
        return subproblem_cost(k, reads)
    if "qpu" in solver:
        return 3.0
    return 0.18 * float(microseconds or 20) * max(1.0, 0.4 * k - 0.3) * subproblem_cost(k, reads)


def duration(cases: Iterable[Case], jobs: int) -> float:
    """Estimate the total seconds of runs on the reference machine. Runs that measure time are not run in parallel.

    Args:
        cases: runs to estimate.
        jobs: number of runs in parallel.
    """
    alone, parallel = 0.0, 0.0
    for case in {case.key: case for case in cases}.values():
        if case.kind in TIMED:
            alone += cost(case)
        else:
            parallel += cost(case)
    return alone + parallel / jobs


def all_cases(items: Sequence[Item], setting: Setting) -> list[Case]:
    """Return the runs of items without duplicates, longest first.

    Args:
        items: items to run.
        setting: scale and annealer of the evaluation.
    """
    cases = {case.key: case for item in items for case in item.cases(setting)}
    return sorted(cases.values(), key=cost, reverse=True)
