"""Algorithms on a score table: they find a DAG with a high score, or sum over all DAGs."""

from dagneal.search.trace import TracePoint as TracePoint
from dagneal.solvers.annealing import anneal as anneal, equal_scores as equal_scores
from dagneal.solvers.dag_sums import dag_sums as dag_sums
from dagneal.solvers.edge_chains import ChainSums as ChainSums, Convergence as Convergence, sample_edges as sample_edges
from dagneal.solvers.exact import exact as exact
from dagneal.solvers.exhaustive import exhaustive as exhaustive
from dagneal.solvers.order_search import order_search as order_search
from dagneal.solvers.order_sums import EdgeSums as EdgeSums, order_sums as order_sums
from dagneal.solvers.problem import Problem as Problem, Solver as Solver
from dagneal.solvers.solution import (
    BestRead as BestRead,
    Bound as Bound,
    CallSummary as CallSummary,
    Division as Division,
    EMSummary as EMSummary,
    Hardware as Hardware,
    ReadSummary as ReadSummary,
    SearchSummary as SearchSummary,
    Solution as Solution,
)
from dagneal.solvers.verify import Verification as Verification, verify as verify
