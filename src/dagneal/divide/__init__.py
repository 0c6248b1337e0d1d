"""Divide et impera (divide and conquer): subproblems, votes, candidate parents and the iterated candidate search."""

from typing import TYPE_CHECKING

from dagneal.base.lazy import lazy_exports
from dagneal.divide.subproblem_solvers import (
    AnnealedSubproblems as AnnealedSubproblems,
    ExactSubproblems as ExactSubproblems,
    Solutions as Solutions,
    SubproblemSolver as SubproblemSolver,
    best_edges as best_edges,
)
from dagneal.divide.subproblems import choose_subproblems as choose_subproblems, count_votes as count_votes
from dagneal.divide.votes import combine_votes as combine_votes

if TYPE_CHECKING:
    from dagneal.divide.batched_subproblems import BatchedSubproblems as BatchedSubproblems

# This module needs dimod, which takes long to import.
__getattr__ = lazy_exports(__name__, {"batched_subproblems": ["BatchedSubproblems"]})
del TYPE_CHECKING, lazy_exports  # not public names of this package
