"""Table 9 and its figure: divide et impera on lung-cancer."""

from __future__ import annotations

from dagneal.paper.division import Runs
from dagneal.paper.division_report import SEEDS, Declared
from dagneal.paper.items import Setting
from dagneal.paper.published import TABLE_9

DATA = "expected 10000"
SIZES = (3, 4, 5)


def runs(setting: Setting) -> list[Runs]:
    """Simulated and quantum annealing for each size; the latter also tiled."""
    return [Runs(DATA, k, solver, SEEDS) for k in SIZES for solver in ("sa", setting.quantum, setting.tiled)]


ITEM = Declared("lung-cancer", 9, 4, "lung-cancer", TABLE_9, runs, {DATA: SIZES}, DATA).item()
