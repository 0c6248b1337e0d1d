"""Divide et impera (divide and conquer): subproblems, votes, candidate parents and the iterated candidate search."""

from dagneal.divide.subproblem_solvers import (
    AnnealedSubproblems as AnnealedSubproblems,
    ExactSubproblems as ExactSubproblems,
    Solutions as Solutions,
    SubproblemSolver as SubproblemSolver,
    best_edges as best_edges,
)
from dagneal.divide.subproblems import choose_subproblems as choose_subproblems, count_votes as count_votes
from dagneal.divide.votes import combine_votes as combine_votes
