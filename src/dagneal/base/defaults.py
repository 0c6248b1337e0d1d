"""Defaults that users see, each defined once. Nothing heavy is imported here, so that `--help` can show them."""

from typing import Final

SEED = 0
SCORE = "bdeu:1"
NETWORK_PARENTS = 4  # the parent limit of a network
PAPER_PARENTS = 2  # the paper's: of a subproblem, of a score table, and where a sampler takes all variables as candidates
READS = 1000  # of a sampler on the global problem
SUBPROBLEM_READS = 100  # of a sampler on a subproblem, which is small
SUBPROBLEM_SIZE = 3  # variables
BOOTSTRAP_SAMPLES = 200
WEAK_EDGE = 0.5  # the share of bootstrap samples below which an edge is weak
SYSTEM = "pegasus"  # the chip that is emulated or planned for
ANNEALING_TIME = 20.0  # microseconds of a read of a quantum annealer
MISSING: Final = "refuse"  # what `read` does with missing values
RARE = 0.0  # the share of rows below which `read` merges states
MERGE: Final = "auto"  # whether `read` merges equal rows
