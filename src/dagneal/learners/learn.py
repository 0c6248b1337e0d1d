"""learn: the best answer for a dataset, in one call."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from time import perf_counter
from typing import Any

import dimod

from dagneal.data import Dataset
from dagneal.errors import InputError
from dagneal.kernels import Progress
from dagneal.learned import Learned
from dagneal.learners.anneal import anneal
from dagneal.learners.exact import exact
from dagneal.scorer import Scorer
from dagneal.scores import BDeu, Dirichlet, Score

EXACT_BY_DEFAULT = 25  # a few seconds
_READS = 1000

Learner = Callable[..., Learned]


def learn(
    data: Dataset,
    max_parents: int | None = None,
    score: Score | None = None,
    solver: dimod.Sampler | Learner | None = None,
    seed: int | None = None,
    progress: Progress | None = None,
    **parameters: Any,
) -> Learned:
    """Learn the structure of a Bayesian network from data.

    Args:
        data: the data.
        max_parents: the most parents of a variable; 2 by default.
        score: what is maximised; `BDeu(1)` by default.
        solver: a `dimod.Sampler`, or a learner such as `exact`; by default exact search where it takes seconds, and
            simulated annealing with 1,000 reads beyond.
        seed: for samplers that take one.
        progress: told how far each stage is.
        **parameters: passed to the sampler, or to the learner.

    Returns:
        The structure; its `network` has probabilities fitted to the data.

    >>> from dagneal.networks import load
    >>> truth = load("lung-cancer")
    >>> found = learn(truth.expected(10_000))
    >>> found.edges == [("Pollution", "Cancer"), ("Smoker", "Cancer"), ("Cancer", "Xray"), ("Cancer", "Dyspnoea")]
    True
    >>> found.optimal
    True
    """
    if solver is None and parameters:
        raise InputError(f"{next(iter(parameters))} is a parameter of a solver; name the solver too")
    begun = perf_counter()
    table = Scorer(data, score).table(max_parents, progress=progress)
    scored = perf_counter()
    if solver is None and len(data.names) <= EXACT_BY_DEFAULT:
        solver = partial(exact, progress=progress)
    elif solver is None:
        from dwave.samplers import SimulatedAnnealingSampler

        solver = SimulatedAnnealingSampler()
        parameters = {"num_reads": _READS}
    if isinstance(solver, dimod.Sampler):
        if seed is not None:
            if "seed" not in solver.parameters:
                raise InputError(f"{type(solver).__name__} takes no seed")
            parameters["seed"] = seed
        found = anneal(table, solver, progress=progress, **parameters)
    elif callable(solver):
        found = solver(table, **parameters)
    else:
        raise InputError(f"solver is {type(solver).__name__}; give a dimod sampler, a learner or nothing")
    return replace(
        found,
        seconds={"score": scored - begun, **found.seconds},
        seed=None if seed is None else int(seed),
        data=data,
        prior=score if isinstance(score, Dirichlet) else BDeu(),
    )
