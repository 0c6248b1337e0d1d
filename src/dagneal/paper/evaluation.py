"""All items of the evaluation, and estimates of their run times."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import replace
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
from dagneal.paper.annealers import EMBEDDINGS
from dagneal.paper.division_runs import subproblem_cost
from dagneal.paper.items import Item, Setting
from dagneal.paper.problems import true_network
from dagneal.paper.records import Case
from dagneal.paper.runner import SAMPLED, TIMED

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


def check_sizes(items: Sequence[Item], setting: Setting) -> None:
    """Raise an error if a requested subproblem size is not a size of each selected item of Tables 9 to 11.

    Args:
        items: selected items.
        setting: options of the evaluation, with the requested sizes.
    """
    names = {item.name for item in items}
    tables = [table for table in division_items.TABLES if table.name in names]
    if setting.sizes and not tables:
        raise dn.InputError("--k is only for the items of Tables 9 to 11; leave it out, or add one of these items")
    for table in tables:
        known = sorted({runs.k for runs in table.select_runs(replace(setting, sizes=()))})
        for k in setting.sizes:
            if k not in known:
                raise dn.InputError(
                    f"--k is {k}, but {table.name} has the sizes {', '.join(map(str, known))} at the {setting.scale} scale; "
                    "give sizes that all selected items have, or select fewer items"
                )


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


def _embedding_cost(cases: Iterable[Case]) -> float:
    """Estimate the seconds of all searches for embeddings. All runs share them.

    Each problem uses one of `EMBEDDINGS` embeddings, which its seed selects. Tiled runs search once for many disjoint ones.
    """
    problems, tiled = Counter[int](), set[int]()
    for case in cases:
        inputs = case.inputs
        if case.kind not in SAMPLED or inputs["solver"] in ("sa", "exact"):
            continue
        n = len(true_network(inputs["network"]).names)
        k = int(inputs.get("k") or n)
        if inputs["solver"].startswith("tiled"):
            tiled.add(k)
        else:
            problems[k] += comb(n, k)
    return sum(min(EMBEDDINGS, count) * 5e-4 * k**4 for k, count in problems.items()) + 0.1 * sum(tiled)


def duration(cases: Iterable[Case], jobs: int) -> float:
    """Estimate the total seconds of runs on the reference machine. Runs that measure time are not run in parallel.

    The estimate contains the searches for all embeddings, as if none were stored.

    Args:
        cases: runs to estimate.
        jobs: number of runs in parallel.
    """
    distinct = {case.key: case for case in cases}.values()
    alone, parallel = 0.0, _embedding_cost(distinct)
    for case in distinct:
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
