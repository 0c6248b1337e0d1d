"""Default values of options and arguments. This module imports nothing heavy, so `--help` stays fast."""

from typing import Final

SEED = 0
SCORE = "bdeu:1"
NETWORK_PARENTS = 4  # parent limit of a network
PAPER_PARENTS = 2  # parent limit in the paper; the default for subproblems, score tables and `Anneal(direct=True)`
READS = 1000  # sampler reads for the global problem
SUBPROBLEM_READS = 100  # sampler reads for a subproblem
ANNEALING_READS = 128  # reads of `SimulatedAnnealing` for the global problem
ANNEALING_SWEEPS = 4000  # sweeps of `SimulatedAnnealing` for the global problem
SUBPROBLEM_SIZE = 3  # variables per subproblem
BOOTSTRAP_SAMPLES = 200
ENSEMBLE_NETWORKS = 50  # bootstrap samples of an ensemble
ENSEMBLE_ESS = 10.0  # equivalent sample size of an ensemble; a larger one than that of `SCORE` predicts better
STRUCTURE_PRIORS = ("uniform", "sparse", "orders", "sparse-orders")  # priors over networks, the default first
WEAK_EDGE = 0.5  # an edge with a lower bootstrap frequency is weak
AGREEMENT = 0.8  # fraction of the bootstrap samples with an edge that must agree on its direction
FEW_ROWS = 5  # fewer rows per state or per parameter are too few
SYSTEM = "pegasus"  # default chip of the emulator and of `plan`
ANNEALING_TIME = 20.0  # microseconds per read of a quantum annealer
MISSING: Final = "refuse"  # treatment of missing values by `read`
RARE = 0.0  # `read` merges states that occur in a smaller fraction of the rows
MERGE: Final = "auto"  # whether `read` merges identical rows
BAYES_FACTOR = 20.0  # near-optimal networks: the highest score divided by the score of the network, without logarithms
MOST_CLASSES = 1000  # equivalence classes of near-optimal networks to list
STORED_PROBABILITIES = 2_000_000  # largest number of probabilities in the JSON file of a result, about 60 MB
