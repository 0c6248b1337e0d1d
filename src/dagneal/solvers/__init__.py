"""Algorithms that find a DAG with a high score in a score table."""

from dagneal.search.trace import TracePoint as TracePoint
from dagneal.solvers.annealing import anneal as anneal, equal_scores as equal_scores
from dagneal.solvers.exact import exact as exact
from dagneal.solvers.exhaustive import exhaustive as exhaustive
from dagneal.solvers.order_search import order_search as order_search
from dagneal.solvers.problem import Problem as Problem, Solver as Solver
from dagneal.solvers.solution import (
    BestRead as BestRead,
    Bound as Bound,
    CallSummary as CallSummary,
    Division as Division,
    Hardware as Hardware,
    ReadSummary as ReadSummary,
    SearchSummary as SearchSummary,
    Solution as Solution,
)
from dagneal.solvers.verify import Verification as Verification, verify as verify
