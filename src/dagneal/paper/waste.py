"""Table 10 and its figure: divide et impera on waste."""

from __future__ import annotations

from dagneal.paper.division import Runs
from dagneal.paper.division_report import SEEDS, Declared
from dagneal.paper.items import Setting
from dagneal.paper.published import TABLE_10

DATA = "expected 10000"
SIZES = tuple(range(3, 10))


def runs(setting: Setting) -> list[Runs]:
    """Simulated and quantum annealing for each size; the latter also tiled."""
    return [Runs(DATA, k, solver, SEEDS) for k in SIZES for solver in ("sa", setting.quantum, setting.tiled)]


ITEM = Declared("waste", 10, 5, "waste", TABLE_10, runs, {DATA: SIZES}, DATA).item()
