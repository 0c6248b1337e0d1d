"""Quantum annealers: chips, embeddings, tiling, submission, plans and an emulator. Needs `pip install dagneal[qpu]`."""

from dagneal.qpu.backend import Backend as Backend, LocalBackend as LocalBackend
from dagneal.qpu.capacity import Capacity as Capacity
from dagneal.qpu.chip_models import (
    AnnealPath as AnnealPath,
    ChipModel as ChipModel,
    SpinVectors as SpinVectors,
    Thermal as Thermal,
)
from dagneal.qpu.chips import check_installed as check_installed
from dagneal.qpu.cloud import hybrid as hybrid
from dagneal.qpu.emulator import EmulatedChip as EmulatedChip, emulated as emulated
from dagneal.qpu.plan import Plan as Plan, PlanSettings as PlanSettings, plan as plan
from dagneal.qpu.sampler import QPU as QPU, connect as connect
from dagneal.qpu.submission import RetryPolicy as RetryPolicy
from dagneal.qpu.targets import Target as Target, find_target as find_target
