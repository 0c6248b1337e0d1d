"""Defaults that users see, each defined once. Nothing heavy is imported here, so that `--help` can show them."""

SEED = 0
READS = 1000  # of a sampler on the global problem
SUBPROBLEM_READS = 100  # of a sampler on a subproblem, which is small
SUBPROBLEM_SIZE = 3  # variables
BOOTSTRAP_SAMPLES = 200
WEAK_EDGE = 0.5  # the share of bootstrap samples below which an edge is weak
