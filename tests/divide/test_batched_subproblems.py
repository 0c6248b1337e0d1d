"""Many subproblems that are annealed in one call get the solutions of single calls."""

from itertools import combinations

import numpy as np
import pytest
from dwave.samplers import SimulatedAnnealingSampler

import dagneal as dn
from dagneal.divide.batched_subproblems import BatchedSubproblems, annealed_subproblems
from dagneal.divide.subproblem_solvers import AnnealedSubproblems, BatchSolver, SubproblemSolver
from dagneal.solvers.simulated_annealing import SimulatedAnnealing
from support.reference import random_data

PARAMETERS = {"num_reads": 20, "num_sweeps": 30}


@pytest.fixture(scope="module")
def subproblems():
    table = dn.scoring.score_table(random_data(8, 100, 1), max_parents=2)
    return table.gather(list(combinations(range(8), 4)))


@pytest.mark.parametrize("repair", [True, False])
@pytest.mark.parametrize("encoding", [dn.TIGHT, dn.PAPER], ids=lambda encoding: encoding.name)
@pytest.mark.parametrize("more", [{}, {"seed": 3}, {"beta_schedule_type": "linear", "beta_range": [0.01, 5]}])
def test_solutions_are_those_of_single_calls(subproblems, repair, encoding, more):
    settings = (SimulatedAnnealing(), PARAMETERS | more, repair, 5, encoding)
    batched, single = BatchedSubproblems(*settings), AnnealedSubproblems(*settings)
    together, alone = batched.solve_many(subproblems), single.solve_many(subproblems)
    assert alone.failed == together.failed == {}
    assert together.scores == pytest.approx(alone.scores, rel=1e-12, nan_ok=True)
    if repair:  # raw reads can have equal energies up to rounding errors
        assert (together.adjacency == alone.adjacency).all()
    assert batched.fingerprint() == single.fingerprint()


def test_solutions_do_not_depend_on_the_batch_or_on_threads(subproblems):
    solver = BatchedSubproblems(SimulatedAnnealing(), PARAMETERS, True, 5, dn.TIGHT)
    together = solver.solve_many(subproblems)
    for row in (0, 7, 69):
        alone = solver.solve_many(dn.scoring.Subproblems(**vars(subproblems) | select(subproblems, [row])))
        assert (alone.adjacency[0] == together.adjacency[row]).all()
    with dn.limits(jobs=1):
        assert (solver.solve_many(subproblems).adjacency == together.adjacency).all()


def select(subproblems, rows):
    return {"members": subproblems.members[rows], "scores": subproblems.scores[rows]}


def test_annealing_finds_the_best_networks(subproblems):
    effort = {"num_reads": 64, "num_sweeps": 128}
    solution = BatchedSubproblems(SimulatedAnnealing(), effort, True, 1, dn.TIGHT).solve_many(subproblems)
    assert solution.scores == pytest.approx(dn.divide.ExactSubproblems().solve_many(subproblems).scores)


def test_choice_of_the_subproblem_solver():
    class Changed(SimulatedAnnealing):
        pass

    def choose(sampler, **parameters):
        return type(annealed_subproblems(sampler, parameters, True, 1, dn.TIGHT))

    assert choose(SimulatedAnnealing(), num_reads=5) is BatchedSubproblems
    assert choose(SimulatedAnnealing(), initial_states=[{0: 1}]) is AnnealedSubproblems
    assert choose(Changed()) is choose(SimulatedAnnealingSampler()) is AnnealedSubproblems


def test_batch_size(subproblems):
    solver = BatchedSubproblems(SimulatedAnnealing(), {"num_reads": 128, "num_sweeps": 1024})
    assert isinstance(solver, BatchSolver)
    assert solver.in_flight is None
    assert isinstance(solver, SubproblemSolver)
    assert 1 < solver.batch_size(subproblems) < 1000
    assert BatchedSubproblems(SimulatedAnnealing(), {"num_sweeps": 10**12}).batch_size(subproblems) == 1
    assert BatchedSubproblems(SimulatedAnnealing(), {"num_sweeps": "many"}).batch_size(subproblems) > 1000


def test_learn_gives_the_same_answer_with_1_and_2_workers():
    data = random_data(9, 200, 2)
    results = []
    for jobs in (1, 2):
        with dn.limits(jobs=jobs):
            results.append(dn.learn(data, "sa", seed=4))
    assert results[0].edges == results[1].edges
    assert (results[0].division.votes == results[1].division.votes).all()
    assert results[0].solver == "SimulatedAnnealing"
    assert np.isfinite(results[0].score)
