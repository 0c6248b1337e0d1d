"""Division into subproblems: votes, rules, candidate parents and global solves."""

from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
from dataclasses import dataclass
from itertools import combinations
from math import comb
from multiprocessing import get_context

import dimod
import networkx as nx
import numpy as np
import pytest
from dwave.samplers import SimulatedAnnealingSampler, TreeDecompositionSolver
from hypothesis import given, strategies as st

import dagneal as dn
from dagneal.divide import conquer as conquering, solving
from dagneal.divide.candidates import CandidateFinder
from dagneal.divide.conquer import CandidateSearch
from dagneal.divide.global_solve import ClassicalSolver
from dagneal.divide.subproblem_solvers import AnnealedSubproblems, ExactSubproblems, Solutions
from dagneal.divide.subproblems import small_dags, solve_exactly, solve_small
from dagneal.qubo.encode import qubos as encoded
from support.reference import all_dags, dag_scores, random_data, random_table
from support.solving import solve


@given(st.integers(3, 12), st.data())
def test_covers_cover_every_subset(n, data):
    size = data.draw(st.integers(3, n))
    strength = data.draw(st.integers(2, 3))
    subproblems = dn.divide.choose_subproblems(n, size, f"cover:{strength}", seed=data.draw(st.integers(0, 99)))
    covered = {subset for subproblem in subproblems.tolist() for subset in combinations(subproblem, strength)}
    assert covered == set(combinations(range(n), strength))
    assert len({tuple(subproblem) for subproblem in subproblems.tolist()}) == len(subproblems)


@given(st.integers(3, 10), st.floats(0.01, 1.0), st.data())
def test_samples_cover_every_pair(n, share, data):
    size = data.draw(st.integers(3, n))
    subproblems = dn.divide.choose_subproblems(n, size, f"sample:{share}", seed=1)
    assert {pair for subproblem in subproblems.tolist() for pair in combinations(subproblem, 2)} == set(
        combinations(range(n), 2)
    )
    assert len(subproblems) >= max(1, round(share * comb(n, size)))
    assert (np.diff(subproblems) > 0).all()


def test_covers_are_small():
    """A greedy cover has few subproblems; reference counts for pairs of 15 variables are 19, 13, 10, 7, 6 and 4."""
    sizes = [len(dn.divide.choose_subproblems(15, k, "cover:2")) for k in range(4, 10)]
    assert all(size <= limit for size, limit in zip(sizes, (23, 16, 12, 9, 7, 5), strict=True))
    assert np.array_equal(
        dn.divide.choose_subproblems(15, 4, "cover:2", 3), dn.divide.choose_subproblems(15, 4, "cover:2", 3)
    )


@pytest.mark.parametrize(("size", "limit"), [(3, 2), (4, 2), (4, 3), (3, 1)])
def test_small_subproblems_are_solved_by_enumeration_and_dynamic_programming(size, limit):
    choices, adjacency = small_dags(size, limit)
    expected = [dag for dag in all_dags(size) if max(map(len, dag)) <= limit]
    assert len(choices) == len(adjacency) == len(expected)
    for seed in range(20):
        table = random_table(size, limit, seed)
        subproblems = table.gather([list(range(size))])
        scores = dag_scores(table, expected)
        best, value, margins = solve_small(subproblems.scores, limit)
        assert value[0] == pytest.approx(scores.max(), rel=1e-12)
        again, value = solve_exactly(subproblems.scores, subproblems.masks)
        assert value[0] == pytest.approx(scores.max(), rel=1e-12)
        assert np.array_equal(best[0], again[0])
        for pair, (a, b) in enumerate(combinations(range(size), 2)):
            linked = np.array([a in dag[b] or b in dag[a] for dag in expected])
            assert margins[0, pair] == pytest.approx(scores[linked].max() - scores[~linked].max(), rel=1e-9, abs=1e-6)


@pytest.mark.parametrize("size", [5, 6, 8])
def test_larger_subproblems_are_solved_exactly(size):
    table = dn.scoring.score_table(random_data(9, 100, seed=size))
    subproblems = table.gather(list(combinations(range(9), size))[:20])
    adjacency, values = solve_exactly(subproblems.scores, subproblems.masks)
    for row in range(len(subproblems.members)):
        small = subproblems.table(row)
        assert values[row] == pytest.approx(dn.solvers.exact(small).score, rel=1e-12)
        graph = nx.relabel_nodes(nx.from_numpy_array(adjacency[row], create_using=nx.DiGraph), dict(enumerate(small.names)))
        assert small.score(graph) == pytest.approx(values[row], rel=1e-12)


def test_ties_make_earlier_variables_parents():
    data = dn.read(np.repeat([[0, 0, 0], [1, 1, 0], [0, 0, 1], [1, 1, 1]], 20, axis=0))
    subproblems = dn.scoring.score_table(data).gather([[0, 1, 2]])
    assert np.argwhere(solve_exactly(subproblems.scores, subproblems.masks)[0][0]).tolist() == [[0, 1]]


UNPRUNED = [dn.PAPER, *(dn.Encoding(p, o, prune=False) for p in ("tight", "gap") for o in ("complete", "chordal"))]


@pytest.mark.parametrize("encoding", UNPRUNED, ids=lambda encoding: encoding.name)
def test_batch_encoding_equals_single_encoding(encoding):
    table = dn.scoring.score_table(dn.load("waste").expected_data(10_000))
    subproblems = table.gather(list(combinations(range(9), 4)))
    qubos = encoded(subproblems, encoding)
    for row in (0, 17, 125):
        assert qubos.model(row, subproblems.names(row)).is_almost_equal(
            dn.qubo.encode(subproblems.table(row), encoding), places=6
        )


def test_batch_encoding_rejects_pruned_subproblems():
    subproblems = dn.scoring.score_table(dn.load("waste").expected_data(10_000)).gather([[0, 1, 2]])
    with pytest.raises(dn.InputError, match="prune=False"):
        encoded(subproblems, dn.TIGHT)


def test_beta_ranges_equal_those_of_the_sampler():
    table = dn.scoring.score_table(dn.load("waste").expected_data(10_000))
    qubos = encoded(table.gather(list(combinations(range(9), 4))), dn.PAPER)
    ranges = qubos.beta_ranges
    for row in (0, 50, 125):
        chosen = SimulatedAnnealingSampler().sample(qubos.model(row), num_reads=1, num_sweeps=1).info["beta_range"]
        assert ranges[row] == pytest.approx(chosen, rel=1e-9)


def reference_votes(table, size):
    """Return C and P by Algorithm 5 of the paper with exact subproblems, in plain Python."""
    n = len(table.names)
    count, against = np.zeros((n, n), dtype=int), np.zeros((n, n), dtype=int)
    for members in combinations(range(n), size):
        subproblems = table.gather([members])
        adjacency = solve_exactly(subproblems.scores, subproblems.masks)[0][0]
        for a in range(size):
            for b in range(size):
                if a != b:
                    count[members[a], members[b]] += adjacency[a, b]
                    against[members[a], members[b]] += not adjacency[a, b]
    return count, against


@pytest.mark.parametrize("size", [3, 4, 5])
def test_votes_and_edges_follow_the_rules_of_the_paper(size):
    truth = dn.load("waste")
    table = dn.scoring.score_table(truth.expected_data(10_000))
    count, against = reference_votes(table, size)
    by_penalty = solve(table, dn.Divide(size=size, combine="penalty"))
    assert np.array_equal(by_penalty.division.votes, count)
    assert np.array_equal(by_penalty.division.against, against)
    names = table.names
    assert set(by_penalty.dag.edges) == {(names[a], names[b]) for a, b in np.argwhere(count - against > 0)}
    by_count = solve(table, dn.Divide(size=size, combine="count"))
    assert set(by_count.dag.edges) == {(names[a], names[b]) for a, b in np.argwhere(count > count.T)}


@given(st.integers(0, 10**6), st.integers(3, 7), st.data())
def test_votes_add_up_to_the_subproblems_with_the_pair(seed, n, data):
    size = data.draw(st.integers(3, n))
    scheme = data.draw(st.sampled_from(["all", "cover:2", "sample:0.5"]))
    table = dn.scoring.score_table(random_data(n, 40, seed), max_parents=2)
    division = solve(table, dn.Divide(size=size, subproblems=scheme, combine="penalty")).division
    chosen = dn.divide.choose_subproblems(n, size, scheme, 0)
    expected = np.array(
        [[sum(a in b and c in b for b in chosen.tolist()) if a != c else 0 for c in range(n)] for a in range(n)]
    )
    assert np.array_equal(division.votes + division.against, expected)
    assert division.subproblems == division.finished == len(chosen)


class Circular:
    """A subproblem solver that returns the cycle v0 -> v1 -> v2 -> v0; the last edge has fewest votes."""

    name = "circular"

    def solve_many(self, subproblems):
        count, size = subproblems.members.shape
        adjacency = np.zeros((count, size, size), dtype=bool)
        for row, members in enumerate(subproblems.members.tolist()):
            for a, b in ((0, 1), (1, 2), (2, 0)):
                if a in members and b in members and ((a, b) != (2, 0) or 3 not in members):
                    adjacency[row, members.index(a), members.index(b)] = True
        return Solutions(adjacency, np.zeros(count))

    def fingerprint(self):
        return self.name


def test_cycles_are_reported_and_broken_on_request():
    scorer = dn.scoring.Scorer(random_data(5, 50, seed=1))
    free = solve(scorer, dn.Divide(Circular(), size=3, combine="penalty"))
    assert not free.division.acyclic
    assert set(free.dag.edges) == {("v0", "v1"), ("v1", "v2"), ("v2", "v0")}
    assert np.isnan(free.score)
    assert not free.is_dag
    plain = dn.Learned.of(free).to_dict()
    assert (plain["acyclic"], plain["score"]) == (False, None)
    broken = solve(scorer, dn.Divide(Circular(), size=3, combine="penalty", acyclic=True))
    assert broken.division.acyclic
    assert set(broken.dag.edges) == {("v0", "v1"), ("v1", "v2")}  # the weakest edge is dropped
    assert broken.score == pytest.approx(scorer.score(broken.dag))
    assert np.isnan(solve(scorer.table(1), dn.Divide(Circular(), size=3, combine="penalty")).score)


@given(st.integers(0, 10**6), st.integers(2, 9), st.integers(0, 6))
def test_conquer_returns_a_dag_within_the_parent_limit(seed, n, limit):
    data = random_data(n, 60, seed)
    result = solve(dn.scoring.Scorer(data), dn.Divide(size=3), min(limit, n - 1), seed=seed)
    assert nx.is_directed_acyclic_graph(result.dag)
    assert max(degree for _, degree in result.dag.in_degree) <= limit
    assert result.score == pytest.approx(dn.scoring.Scorer(data).score(result.dag), rel=1e-12)
    assert ("without subproblems" in result.division.skipped) == (n == 2)


@pytest.mark.parametrize("solver", ["exact", "order"])
def test_candidate_search_finds_the_equivalence_class_of_alarm(solver, monkeypatch):
    if solver == "order":
        monkeypatch.setattr("dagneal.solvers.policy.EXACT_VARIABLES", 5)
    truth = dn.load("alarm-15")
    for seed in (1, 2, 3):
        result = solve(dn.scoring.Scorer(truth.sample(10_000, seed)), dn.Divide(size=3), seed=seed)
        assert result.division.global_solver == solver
        assert dn.compare(result.dag, truth.dag).cpdag_shd == 0


def test_candidate_search_finds_missing_candidates():
    """The search finds candidates even if it starts without any."""
    truth = dn.load("lung-cancer")
    scorer = dn.scoring.Scorer(truth.expected_data(10_000))
    no_candidates = np.zeros((5, 5), dtype=bool)
    result = CandidateSearch(scorer, 2, ClassicalSolver()).run(no_candidates, dn.Run())
    assert result.best.score == pytest.approx(dn.solvers.exact(scorer.table(2)).score)
    assert result.global_solves > 1


def test_learned_score_is_at_least_the_score_of_the_true_network():
    from dagneal.networks.bundled import NAMES

    for name in NAMES:
        truth = dn.load(name)
        data = truth.expected_data(10_000)
        assert dn.learn(data).score >= dn.scoring.Scorer(data).score(truth.dag) - 1e-6


@pytest.mark.parametrize(
    "executor",
    [
        lambda: ThreadPoolExecutor(1),
        lambda: ThreadPoolExecutor(3),
        pytest.param(lambda: ProcessPoolExecutor(2, mp_context=get_context("spawn")), marks=pytest.mark.slow),
    ],
    ids=["one thread", "three threads", "processes"],
)
def test_result_does_not_depend_on_the_executor(executor):
    scorer = dn.scoring.Scorer(dn.load("waste").expected_data(10_000))
    solver = dn.Divide(dn.Anneal(SimulatedAnnealingSampler(), num_reads=5, parameters={"num_sweeps": 50}), size=3)
    expected = solve(scorer, solver, seed=4)
    with executor() as pool:
        result = solve(scorer, solver, seed=4, executor=pool)
    assert result.edges == expected.edges
    assert np.array_equal(result.division.votes, expected.division.votes)


def test_sampler_solves_subproblems_raw_and_repaired():
    table = dn.scoring.score_table(dn.load("lung-cancer").expected_data(10_000))
    subproblems = table.gather(list(combinations(range(5), 3)))
    exact = ExactSubproblems().solve_many(subproblems)
    repaired = AnnealedSubproblems(SimulatedAnnealingSampler(), {"num_reads": 20}, True, 1).solve_many(subproblems)
    raw = AnnealedSubproblems(SimulatedAnnealingSampler(), {"num_reads": 20}, False, 1).solve_many(subproblems)
    assert repaired.scores == pytest.approx(exact.scores, rel=1e-9)
    assert (raw.scores <= repaired.scores + 1e-9).all()
    for row in range(10):
        assert subproblems.table(row).score(
            nx.relabel_nodes(
                nx.from_numpy_array(raw.adjacency[row], create_using=nx.DiGraph), dict(enumerate(subproblems.names(row)))
            )
        ) == pytest.approx(raw.scores[row])


def test_any_solver_solves_subproblems_and_failures_are_reported():
    data = dn.load("lung-cancer").expected_data(10_000)

    class Fussy:
        def solve(self, problem, run):
            if "Smoker" in problem.names and "Xray" in problem.names and "Cancer" in problem.names:
                raise RuntimeError("no smoking")
            return dn.Exhaustive().solve(problem, run)

    class Failing:
        def solve(self, problem, run):
            return 1 / 0

    result = solve(dn.scoring.score_table(data), dn.Divide(Fussy(), size=3, combine="penalty"))
    assert result.division.failed == {"Smoker, Cancer, Xray": "no smoking"}
    assert result.division.finished == 9
    assert result.division.subproblems == 10
    together = result.division.votes + result.division.against
    assert together[1, 3] == 2  # Smoker and Xray: one of three subproblems failed
    with pytest.raises(dn.InputError, match="all subproblems failed"):
        solve(dn.scoring.score_table(data), dn.Divide(Failing(), size=3, combine="penalty"))


class Counting(SimulatedAnnealingSampler):
    """A sampler that counts its calls and raises KeyboardInterrupt at the twentieth call."""

    calls = 0

    def __repr__(self):  # required by a journal
        return "Counting()"

    def sample(self, *args, **options):
        type(self).calls += 1
        if type(self).calls == 20:
            raise KeyboardInterrupt
        return super().sample(*args, **options)


def test_interrupted_division_returns_votes_and_resumes(tmp_path, monkeypatch):
    monkeypatch.setattr(solving, "_CHUNK", 4)
    table = dn.scoring.score_table(dn.load("waste").expected_data(10_000))

    def divided(sampler):
        inner = dn.Anneal(sampler, num_reads=3, encoding=dn.PAPER, parameters={"num_sweeps": 20})
        return dn.Divide(inner, size=3, combine="penalty")

    complete = solve(table, divided(SimulatedAnnealingSampler()), seed=1)
    Counting.calls = 0
    with dn.SqliteJournal(tmp_path / "run.db") as journal, ThreadPoolExecutor(1) as pool:
        partial = solve(table, divided(Counting()), seed=1, journal=journal, executor=pool)
        assert 0 < partial.division.finished < 84
        assert partial.division.interrupted
    calls = Counting.calls
    with dn.SqliteJournal(tmp_path / "run.db") as journal:
        again = solve(table, divided(Counting()), seed=1, journal=journal)
    assert Counting.calls - calls == 84 - partial.division.finished  # nothing is solved twice
    assert np.array_equal(again.division.votes, complete.division.votes)
    with dn.SqliteJournal(tmp_path / "run.db") as journal:  # another seed gives other tasks
        solve(table, divided(Counting()), seed=2, journal=journal)
    assert Counting.calls - calls == 84 - partial.division.finished + 84


def test_invalid_journal_is_rejected(tmp_path):
    (tmp_path / "text.db").write_text("this is not a database, but it is long enough to be read as one" * 20)
    for path in (tmp_path, tmp_path / "text.db", tmp_path / "nowhere" / "run.db"):
        with pytest.raises(dn.InputError, match="cannot be used as a journal"):
            dn.SqliteJournal(path)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda s: solve(s, dn.Divide(size=2)), "size is 2; give a number from 3 to 5"),
        (lambda s: solve(s, dn.Divide(size=6)), "size is 6; give a number from 3 to 5"),
        (lambda s: dn.Divide(size=3, combine="vote"), "combine is 'vote'; give one of 'conquer', 'penalty', 'count'"),
        (lambda s: solve(s, dn.Divide(size=3, subproblems="half")), "subproblems is 'half'; give 'all', 'cover:2'"),
        (lambda s: solve(s.table(2), dn.Divide(size=3)), "give data or a Scorer"),
        (lambda s: dn.Divide("say", size=3), "there is no solver 'say'"),
        (lambda s: dn.Divide(7, size=3), "solver is int"),
        (lambda s: dn.Divide(dn.Divide(), size=3), "cannot contain another Divide"),
        (lambda s: dn.Divide(dn.Anneal(SimulatedAnnealingSampler(), parameters={"num_swepes": 2}), size=3), "num_swepes"),
        (lambda s: dn.Divide("sa", subproblem_parameters={"num_swepes": 2}).solve(dn.Problem(s), dn.Run()), "num_swepes"),
        (lambda s: dn.solvers.order_search(s.table(2), initial=[0, 1, 2, 3, 3]), "index of each variable exactly once"),
        (lambda s: dn.solvers.order_search(s.table(2), restarts=-1), "restarts is -1"),
    ],
)
def test_invalid_divisions_are_rejected(call, message):
    with pytest.raises(dn.InputError, match=message):
        call(dn.scoring.Scorer(dn.load("lung-cancer").expected_data(10_000)))


def test_many_variables_are_screened():
    data = random_data(70, 400, seed=5, arities=[2] * 70)
    result = dn.learn(data, dn.Divide(), seed=1)
    assert nx.is_directed_acyclic_graph(result.dag)
    assert "subproblems were left out" in result.division.skipped
    assert result.division.scheme == "neighbours"
    assert result.score > dn.scoring.Scorer(data).score(nx.empty_graph(data.names, create_using=nx.DiGraph))
    assert result.division.votes.sum() > 0
    larger = dn.learn(data, dn.Divide(size=5), seed=1)
    assert larger.division.size == 5
    assert larger.division.votes.sum() > 0


def binary_data(n, seed=1):
    return random_data(n, 100, seed, arities=[2] * n)


def test_candidate_search_stops_without_a_feasible_raw_read():
    class Everything(dimod.Sampler):
        parameters, properties = {}, {}

        def sample(self, bqm):
            return dimod.SampleSet.from_samples_bqm(dict.fromkeys(bqm.variables, 1), bqm)

    result = dn.learn(dn.load("lung-cancer").expected_data(10_000), dn.Anneal(Everything(), repair=False))
    assert np.isnan(result.score)
    assert result.division.skipped == "in global solve 1 no raw read was a network"
    assert result.reads.raw is None


def test_later_global_solve_without_a_network_keeps_the_best_network():
    class Once(TreeDecompositionSolver):
        """A sampler that returns the ground state, but from the second global solve on sets every variable to 1."""

        global_solves = 0

        def sample(self, bqm, **options):
            if bqm.num_variables < 10:
                return super().sample(bqm, **options)
            type(self).global_solves += 1
            if type(self).global_solves > 1:
                return dimod.SampleSet.from_samples_bqm(dict.fromkeys(bqm.variables, 1), bqm)
            return super().sample(bqm, **options)

    result = dn.learn(dn.load("waste").expected_data(10_000), dn.Anneal(Once(), repair=False))
    assert np.isfinite(result.score)
    assert "no raw read was a network" in result.division.skipped


def test_interrupt_before_the_first_global_solve_keeps_the_votes(monkeypatch):
    def interrupted(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr(ClassicalSolver, "solve", interrupted)
    result = solve(dn.scoring.Scorer(dn.load("lung-cancer").expected_data(10_000)), dn.Divide(size=3))
    assert result.division.interrupted
    assert "the network comes from the votes" in result.division.skipped
    assert nx.is_directed_acyclic_graph(result.dag)
    assert result.division.votes.sum() > 0


def test_parent_limit_of_subproblems_under_the_rules_of_the_paper():
    scorer = dn.scoring.Scorer(dn.load("alarm-15").expected_data(10_000))
    one = solve(scorer, dn.Divide(size=4, combine="penalty"), max_parents=1)
    two = solve(scorer, dn.Divide(size=4, combine="penalty"))
    assert not np.array_equal(one.division.votes, two.division.votes)
    annealed = dn.Anneal(SimulatedAnnealingSampler(), num_reads=2, parameters={"num_sweeps": 20})
    three = solve(scorer, dn.Divide(annealed, size=4, subproblems="cover:2", combine="penalty"), max_parents=3)
    assert not three.division.failed


def test_votes_are_part_of_the_json():
    result = dn.learn(binary_data(4), dn.Divide(size=3, combine="penalty")).to_dict()
    assert np.array(result["votes"]["for"]).shape == (4, 4)
    assert result["division"]["combine"] == "penalty"
    assert result["division"]["subproblems"] == 4


def test_custom_subproblem_solver():
    class Empty:
        name = "empty"

        def solve_many(self, subproblems):
            count, size = subproblems.members.shape
            return Solutions(np.zeros((count, size, size), dtype=bool), np.zeros(count))

        def fingerprint(self):
            return "empty"

    result = solve(dn.scoring.score_table(binary_data(5)), dn.Divide(Empty(), size=3, combine="penalty"))
    assert result.edges == []
    assert result.division.solver == "empty"


def test_sampler_without_a_seed_solves_subproblems():
    class Plain(dimod.Sampler):
        parameters, properties = {}, {}

        def sample(self, bqm):
            return TreeDecompositionSolver().sample(bqm)

    table = dn.scoring.score_table(dn.load("lung-cancer").expected_data(10_000))
    result = solve(table, dn.Divide(dn.Anneal(Plain(), repair=False), size=4, combine="penalty"))
    skeleton = {frozenset(edge) for edge in dn.load("lung-cancer").dag.edges}
    assert {frozenset(edge) for edge in result.dag.edges} == skeleton


def quick(repair=True, subproblems="all"):
    """Return a fast solver: simulated annealing with few reads on subproblems of four variables."""
    annealed = dn.Anneal(SimulatedAnnealingSampler(), num_reads=3, repair=repair, parameters={"num_sweeps": 20})
    return dn.Divide(annealed, size=4, subproblems=subproblems, combine="penalty")


class Nameless:
    """A solver whose repr contains a memory address."""

    def solve(self, problem, run):
        return dn.Exact().solve(problem, run)


@dataclass(frozen=True)
class Learner:
    """A solver with a repr that a journal can use."""

    restarts: int

    def solve(self, problem, run):
        return dn.OrderSearch(restarts=self.restarts).solve(problem, run)


@pytest.mark.slow
def test_journal_does_not_change_the_result(tmp_path):
    """Entries of other schemes, raw reads, other data or other solvers in a journal do not change the votes."""
    scorer = dn.scoring.Scorer(dn.load("waste").expected_data(10_000))
    other = dn.scoring.Scorer(dn.load("waste").expected_data(5_000))

    def ordered(restarts):
        return dn.Divide(dn.OrderSearch(restarts=restarts), size=4, combine="penalty")

    runs = [
        lambda **more: solve(scorer, quick(), seed=1, **more),
        lambda **more: solve(scorer, quick(subproblems="cover:2"), seed=1, **more),
        lambda **more: solve(scorer, quick(repair=False), seed=1, **more),
        lambda **more: solve(other, quick(), seed=1, **more),
        lambda **more: solve(scorer, ordered(restarts=0), seed=3, **more),
        lambda **more: solve(scorer, ordered(restarts=50), seed=4, **more),
        lambda **more: solve(scorer, dn.Divide(Learner(5), size=4, combine="penalty"), **more),
    ]
    with dn.SqliteJournal(tmp_path / "run.db") as journal:
        for run in runs:
            assert np.array_equal(run(journal=journal).division.votes, run().division.votes)
        with pytest.raises(dn.InputError, match=r"a journal cannot identify .*Nameless.* as a frozen dataclass"):
            solve(scorer, dn.Divide(Nameless(), size=4, combine="penalty"), journal=journal)


def test_chunk_size_does_not_change_the_result(monkeypatch):
    table = dn.scoring.score_table(dn.load("waste").expected_data(10_000))
    expected = solve(table, quick(), seed=1)
    monkeypatch.setattr(solving, "_CHUNK", 1)
    result = solve(table, quick(), seed=1)
    assert np.array_equal(result.division.votes, expected.division.votes)


def test_subproblems_of_a_table_with_restricted_parents():
    table = dn.scoring.Scorer(dn.load("lung-cancer").expected_data(10_000)).table(2, {"Cancer": ["Smoker"]})
    exact = solve(table, dn.Divide(size=3, combine="penalty"))
    for encoding in (dn.TIGHT, dn.Encoding("gap", "complete", prune=False)):
        annealed = dn.Anneal(SimulatedAnnealingSampler(), num_reads=20, encoding=encoding)
        result = solve(table, dn.Divide(annealed, size=3, combine="penalty"))
        assert not result.division.failed
        assert (result.division.votes[[0, 3, 4], 2] == 0).all()  # Smoker is the only allowed parent of Cancer
        assert (result.division.votes + result.division.votes.T == exact.division.votes + exact.division.votes.T).all()
    annealed = dn.Anneal(SimulatedAnnealingSampler(), num_reads=5, encoding=dn.PAPER)
    with pytest.raises(dn.InputError, match="all sets of candidate parents"):
        solve(table, dn.Divide(annealed, size=3, combine="penalty"))


@dataclass(frozen=True)
class Labelled:
    """A solver with all attributes of a subproblem solver except its method."""

    name: str = "mine"
    fingerprint: str = "1"

    def solve(self, problem, run):
        return dn.Exact().solve(problem, run)


def test_subproblem_solver_is_recognised_by_its_method():
    data = dn.load("lung-cancer").expected_data(1_000)
    exact = dn.learn(data, dn.Divide(dn.Exact(), size=3, combine="penalty"))
    result = dn.learn(data, dn.Divide(Labelled(), size=3, combine="penalty"))
    assert (result.division.solver, result.division.failed) == ("Labelled", {})
    adjacent, expected = (each.division.votes + each.division.votes.T for each in (result, exact))
    assert np.array_equal(adjacent, expected)
    assert dn.learn(data, dn.Divide(ExactSubproblems(), size=3, combine="penalty")).edges == exact.edges
    with pytest.raises(
        dn.InputError, match=r"ExactSubproblems, which solves only subproblems; .* dn.Divide\(ExactSubproblems"
    ):
        dn.learn(data, ExactSubproblems())


def test_integral_floats_are_stored_as_integers():
    assert dn.Divide(size=3.0) == dn.Divide(size=3)
    assert repr(dn.Divide(size=3.0)) == repr(dn.Divide(size=3))
    assert repr(dn.Anneal("sa", num_reads=1e2)) == "Anneal('sa', num_reads=100)"
    assert repr(dn.OrderSearch(restarts=5.0)) == repr(dn.OrderSearch(restarts=5))


def test_failures_are_recorded_for_each_subproblem():
    class Moody(SimulatedAnnealingSampler):
        calls = 0

        def sample(self, bqm, **options):
            type(self).calls += 1
            if type(self).calls % 2:
                nothing = np.empty((0, bqm.num_variables), dtype=np.int8)
                return dimod.SampleSet.from_samples((nothing, bqm.variables), "BINARY", [])
            return super().sample(bqm, **options)

    class Broken(Circular):
        def solve_many(self, subproblems):
            if 0 in subproblems.members:
                raise RuntimeError
            return super().solve_many(subproblems)

    table = dn.scoring.score_table(dn.load("lung-cancer").expected_data(10_000))
    moody = dn.Anneal(Moody(), num_reads=2, encoding=dn.PAPER)
    result = solve(table, dn.Divide(moody, size=3, combine="penalty"), seed=1).division
    assert (result.finished, len(result.failed)) == (5, 5)
    assert set(result.failed.values()) == {"Moody returned no reads"}
    result = solve(table, dn.Divide(Broken(), size=3, combine="penalty")).division
    assert (result.finished, set(result.failed.values())) == (4, {"RuntimeError"})


@pytest.mark.slow
def test_hub_with_too_many_neighbours():
    """If a variable has more neighbours than a mask has bits, only the strongest are tried, and the result says so."""
    rng = np.random.default_rng(2)
    hub = rng.integers(0, 2, 300)
    array = np.where(rng.random((300, 90)) < 0.2, rng.integers(0, 2, (300, 90)), hub[:, None])
    array[:, 7] = hub
    result = dn.learn(dn.read(array), dn.Divide(), seed=1)
    assert nx.is_directed_acyclic_graph(result.dag)
    assert "subproblems were left out" in result.division.skipped
    assert len(result.edges) >= 80


def test_optimal_requires_all_variables_as_candidates():
    result = solve(dn.scoring.Scorer(dn.load("alarm-15").sample(2_000, seed=1)), dn.Divide(size=3))
    assert result.division.global_solver == "exact"
    assert not result.optimal
    scorer = dn.scoring.Scorer(dn.load("lung-cancer").expected_data(10_000))
    all_candidates = ~np.eye(5, dtype=bool)
    assert CandidateSearch(scorer, 2, ClassicalSolver()).run(all_candidates, dn.Run()).best.proved


def test_candidate_finder_finds_a_better_parent():
    rng = np.random.default_rng(1)
    a = rng.integers(0, 2, 500)
    b = np.where(rng.random(500) < 0.2, 1 - a, a)
    c = np.where(rng.random(500) < 0.02, 1 - b, b)
    scorer = dn.scoring.Scorer(dn.read(np.stack([a, b, c], axis=1), names=["a", "b", "c"]))
    dag = nx.DiGraph([("a", "c")])
    dag.add_node("b")
    allowed = np.zeros((3, 3), dtype=bool)
    allowed[0, 2] = True
    finder = CandidateFinder(scorer, max_parents=1)
    extended, full = finder.extend(dag, allowed)
    assert extended[1, 2]
    assert full == 0
    assert np.array_equal(finder.extend(dag, allowed)[0], extended)  # from the cache
    assert np.array_equal(finder.extend(dag, extended)[0], extended)
    other = nx.DiGraph([("b", "c")])
    other.add_node("a")
    expected = CandidateFinder(scorer, max_parents=1).extend(other, allowed)[0]
    assert np.array_equal(finder.extend(other, allowed)[0], expected)


@pytest.mark.parametrize(
    "call",
    [
        lambda d: solve(d, dn.Divide(combine="penalty")),
        lambda d: solve(dn.scoring.Scorer(d), dn.Divide(size=3, subproblems=0.5)),
        lambda d: solve(dn.scoring.Scorer(d), dn.Divide(size=3, subproblem_parameters={"num_reads": 5})),
        lambda d: solve(dn.scoring.Scorer(d), dn.Divide(size=3), max_parents=50),
        lambda d: dn.learn(d, combine="penalty"),
        lambda d: dn.learn(d, subproblems="cover:2"),
        lambda d: dn.learn(d, dn.Divide(dn.Exact(), size=3), foo=1),
        lambda d: dn.learn(d, direct=True),
        lambda d: dn.learn(d, encoding=dn.PAPER),
        lambda d: dn.learn(d, repair=False),
        lambda d: dn.Divide(subproblem_parameters={"num_reads": 2}),
        lambda d: solve(dn.scoring.score_table(d), dn.Divide(combine="penalty"), max_parents=1),
        lambda d: dn.learn(d, dn.Exact(), encoding=dn.PAPER),
        lambda d: dn.Divide(dn.Anneal(SimulatedAnnealingSampler(), direct=True)),
        lambda d: dn.learn(d, dn.Anneal(SimulatedAnnealingSampler(), encoding=dn.PAPER, num_reads=2), max_parents=3),
        lambda d: dn.learn(d, dn.Anneal(TreeDecompositionSolver()), seed=1),
    ],
)
def test_unusable_arguments_raise_an_error(call):
    with pytest.raises(dn.InputError):
        call(dn.load("lung-cancer").expected_data(10_000))


def test_interrupt_in_the_candidate_search_keeps_the_network(monkeypatch):
    def interrupted(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr(conquering.CandidateFinder, "extend", interrupted)
    result = solve(dn.scoring.Scorer(dn.load("lung-cancer").expected_data(10_000)), dn.Divide(size=3))
    assert result.division.interrupted
    assert len(result.edges) == 4
