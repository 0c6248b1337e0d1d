"""Division into subproblems: votes, rules, candidate parents and the global solve."""

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
from dagneal.divide.candidates import Outside
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
    blocks = dn.divide.choose_subproblems(n, size, f"cover:{strength}", seed=data.draw(st.integers(0, 99)))
    held = {some for block in blocks.tolist() for some in combinations(block, strength)}
    assert held == set(combinations(range(n), strength))
    assert len({tuple(b) for b in blocks.tolist()}) == len(blocks)


@given(st.integers(3, 10), st.floats(0.01, 1.0), st.data())
def test_samples_cover_every_pair(n, share, data):
    size = data.draw(st.integers(3, n))
    blocks = dn.divide.choose_subproblems(n, size, f"sample:{share}", seed=1)
    assert {pair for block in blocks.tolist() for pair in combinations(block, 2)} == set(combinations(range(n), 2))
    assert len(blocks) >= max(1, round(share * comb(n, size)))
    assert (np.diff(blocks) > 0).all()


def test_covers_are_small():
    """Method notes: greedy search found 19, 13, 10, 7, 6, 4 blocks for pairs of 15 variables."""
    sizes = [len(dn.divide.choose_subproblems(15, k, "cover:2")) for k in range(4, 10)]
    assert all(found <= most for found, most in zip(sizes, (23, 16, 12, 9, 7, 5), strict=True))
    assert np.array_equal(
        dn.divide.choose_subproblems(15, 4, "cover:2", 3), dn.divide.choose_subproblems(15, 4, "cover:2", 3)
    )


@pytest.mark.parametrize(("size", "limit"), [(3, 2), (4, 2), (4, 3), (3, 1)])
def test_small_blocks_are_solved_by_enumeration_and_by_dynamic_programming(size, limit):
    choices, adjacency = small_dags(size, limit)
    expected = [dag for dag in all_dags(size) if max(map(len, dag)) <= limit]
    assert len(choices) == len(adjacency) == len(expected)
    for seed in range(20):
        table = random_table(size, limit, seed)
        blocks = table.gather([list(range(size))])
        scores = dag_scores(table, expected)
        best, value, margins = solve_small(blocks.scores, limit)
        assert value[0] == pytest.approx(scores.max(), rel=1e-12)
        again, value = solve_exactly(blocks.scores, blocks.masks)
        assert value[0] == pytest.approx(scores.max(), rel=1e-12)
        assert np.array_equal(best[0], again[0])
        for pair, (a, b) in enumerate(combinations(range(size), 2)):
            linked = np.array([a in dag[b] or b in dag[a] for dag in expected])
            assert margins[0, pair] == pytest.approx(scores[linked].max() - scores[~linked].max(), rel=1e-9, abs=1e-6)


@pytest.mark.parametrize("size", [5, 6, 8])
def test_larger_blocks_are_solved_exactly(size):
    table = dn.scoring.score_table(random_data(9, 100, seed=size))
    blocks = table.gather(list(combinations(range(9), size))[:20])
    adjacency, values = solve_exactly(blocks.scores, blocks.masks)
    for line in range(len(blocks.members)):
        small = blocks.table(line)
        assert values[line] == pytest.approx(dn.solvers.exact(small).score, rel=1e-12)
        graph = nx.relabel_nodes(nx.from_numpy_array(adjacency[line], create_using=nx.DiGraph), dict(enumerate(small.names)))
        assert small.score(graph) == pytest.approx(values[line], rel=1e-12)


def test_ties_make_earlier_variables_parents():
    data = dn.read(np.repeat([[0, 0, 0], [1, 1, 0], [0, 0, 1], [1, 1, 1]], 20, axis=0))
    blocks = dn.scoring.score_table(data).gather([[0, 1, 2]])
    assert np.argwhere(solve_exactly(blocks.scores, blocks.masks)[0][0]).tolist() == [[0, 1]]


UNPRUNED = [dn.PAPER, *(dn.Encoding(p, o, prune=False) for p in ("tight", "gap") for o in ("complete", "chordal"))]


@pytest.mark.parametrize("encoding", UNPRUNED, ids=lambda encoding: encoding.name)
def test_all_sub_qubos_at_once_equal_those_one_by_one(encoding):
    table = dn.scoring.score_table(dn.load("waste").expected(10_000))
    blocks = table.gather(list(combinations(range(9), 4)))
    qubos = encoded(blocks, encoding)
    for line in (0, 17, 125):
        assert qubos.model(line, blocks.names(line)).is_almost_equal(dn.qubo.encode(blocks.table(line), encoding), places=6)


def test_blocks_that_differ_in_their_bits_are_not_encoded_at_once():
    blocks = dn.scoring.score_table(dn.load("waste").expected(10_000)).gather([[0, 1, 2]])
    with pytest.raises(dn.InputError, match="prune=False"):
        encoded(blocks, dn.TIGHT)


def test_temperatures_are_those_that_the_sampler_would_choose():
    table = dn.scoring.score_table(dn.load("waste").expected(10_000))
    qubos = encoded(table.gather(list(combinations(range(9), 4))), dn.PAPER)
    ranges = qubos.beta_ranges
    for line in (0, 50, 125):
        chosen = SimulatedAnnealingSampler().sample(qubos.model(line), num_reads=1, num_sweeps=1).info["beta_range"]
        assert ranges[line] == pytest.approx(chosen, rel=1e-9)


def votes_by_hand(table, size):
    """The paper's Algorithm 5 with exact blocks, in plain Python."""
    n = len(table.names)
    count, against = np.zeros((n, n), dtype=int), np.zeros((n, n), dtype=int)
    for members in combinations(range(n), size):
        blocks = table.gather([members])
        adjacency = solve_exactly(blocks.scores, blocks.masks)[0][0]
        for a in range(size):
            for b in range(size):
                if a != b:
                    count[members[a], members[b]] += adjacency[a, b]
                    against[members[a], members[b]] += not adjacency[a, b]
    return count, against


@pytest.mark.parametrize("size", [3, 4, 5])
def test_the_papers_rules(size):
    truth = dn.load("waste")
    table = dn.scoring.score_table(truth.expected(10_000))
    count, against = votes_by_hand(table, size)
    by_penalty = solve(table, dn.Divide(size=size, combine="penalty"))
    assert np.array_equal(by_penalty.division.votes, count)
    assert np.array_equal(by_penalty.division.against, against)
    names = table.names
    assert set(by_penalty.dag.edges) == {(names[a], names[b]) for a, b in np.argwhere(count - against > 0)}
    by_count = solve(table, dn.Divide(size=size, combine="count"))
    assert set(by_count.dag.edges) == {(names[a], names[b]) for a, b in np.argwhere(count > count.T)}


@given(st.integers(0, 10**6), st.integers(3, 7), st.data())
def test_votes_add_up_to_the_blocks_that_hold_the_pair(seed, n, data):
    size = data.draw(st.integers(3, n))
    scheme = data.draw(st.sampled_from(["all", "cover:2", "sample:0.5"]))
    table = dn.scoring.score_table(random_data(n, 40, seed), max_parents=2)
    division = solve(table, dn.Divide(size=size, subproblems=scheme, combine="penalty")).division
    chosen = dn.divide.choose_subproblems(n, size, scheme, 0)
    held = np.array([[sum(a in b and c in b for b in chosen.tolist()) if a != c else 0 for c in range(n)] for a in range(n)])
    assert np.array_equal(division.votes + division.against, held)
    assert division.subproblems == division.finished == len(chosen)


class Circular:
    """A block solver that finds v0 -> v1 -> v2 -> v0 wherever it can, the last edge least often."""

    name = "circular"

    def solve_many(self, subproblems):
        count, size = subproblems.members.shape
        adjacency = np.zeros((count, size, size), dtype=bool)
        for line, members in enumerate(subproblems.members.tolist()):
            for a, b in ((0, 1), (1, 2), (2, 0)):
                if a in members and b in members and ((a, b) != (2, 0) or 3 not in members):
                    adjacency[line, members.index(a), members.index(b)] = True
        return Solutions(adjacency, np.zeros(count))

    def fingerprint(self):
        return self.name


def test_cycles_are_said_and_broken_on_demand():
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
    assert set(broken.dag.edges) == {("v0", "v1"), ("v1", "v2")}  # the weakest is dropped
    assert broken.score == pytest.approx(scorer.score(broken.dag))
    assert np.isnan(solve(scorer.table(1), dn.Divide(Circular(), size=3, combine="penalty")).score)


@given(st.integers(0, 10**6), st.integers(2, 9), st.integers(0, 6))
def test_conquer_gives_a_dag_within_the_limit(seed, n, limit):
    data = random_data(n, 60, seed)
    found = solve(dn.scoring.Scorer(data), dn.Divide(size=3), min(limit, n - 1), seed=seed)
    assert nx.is_directed_acyclic_graph(found.dag)
    assert max(degree for _, degree in found.dag.in_degree) <= limit
    assert found.score == pytest.approx(dn.scoring.Scorer(data).score(found.dag), rel=1e-12)
    assert ("solved directly" in found.division.skipped) == (n == 2)


@pytest.mark.parametrize("solver", ["exact", "order"])
def test_the_conquest_of_alarm_finds_its_class(solver, monkeypatch):
    if solver == "order":
        monkeypatch.setattr("dagneal.solvers.policy.EXACT_VARIABLES", 5)
    truth = dn.load("alarm-15")
    for seed in (1, 2, 3):
        found = solve(dn.scoring.Scorer(truth.sample(10_000, seed)), dn.Divide(size=3), seed=seed)
        assert found.division.global_solver == solver
        assert dn.compare(found.dag, truth.dag).cpdag_shd == 0


def test_the_conquest_mends_lost_candidates():
    """Begin with no candidates at all: iteration finds them."""
    truth = dn.load("lung-cancer")
    scorer = dn.scoring.Scorer(truth.expected(10_000))
    nobody = np.zeros((5, 5), dtype=bool)
    found = CandidateSearch(scorer, 2, ClassicalSolver()).run(nobody, dn.Run())
    assert found.best.score == pytest.approx(dn.solvers.exact(scorer.table(2)).score)
    assert found.rounds > 1


def test_on_expected_data_the_score_is_at_least_the_truths():
    from dagneal.networks.bundled import NAMES

    for name in NAMES:
        truth = dn.load(name)
        data = truth.expected(10_000)
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
def test_the_result_does_not_depend_on_the_executor(executor):
    scorer = dn.scoring.Scorer(dn.load("waste").expected(10_000))
    solver = dn.Divide(dn.Anneal(SimulatedAnnealingSampler(), num_reads=5, parameters={"num_sweeps": 50}), size=3)
    expected = solve(scorer, solver, seed=4)
    with executor() as pool:
        found = solve(scorer, solver, seed=4, executor=pool)
    assert found.edges == expected.edges
    assert np.array_equal(found.division.votes, expected.division.votes)


def test_blocks_by_a_sampler_raw_and_repaired():
    table = dn.scoring.score_table(dn.load("lung-cancer").expected(10_000))
    blocks = table.gather(list(combinations(range(5), 3)))
    exact = ExactSubproblems().solve_many(blocks)
    repaired = AnnealedSubproblems(SimulatedAnnealingSampler(), {"num_reads": 20}, True, 1).solve_many(blocks)
    raw = AnnealedSubproblems(SimulatedAnnealingSampler(), {"num_reads": 20}, False, 1).solve_many(blocks)
    assert repaired.scores == pytest.approx(exact.scores, rel=1e-9)
    assert (raw.scores <= repaired.scores + 1e-9).all()
    for line in range(10):
        assert blocks.table(line).score(
            nx.relabel_nodes(
                nx.from_numpy_array(raw.adjacency[line], create_using=nx.DiGraph), dict(enumerate(blocks.names(line)))
            )
        ) == pytest.approx(raw.scores[line])


def test_any_solver_solves_blocks_and_a_block_that_fails_is_named():
    data = dn.load("lung-cancer").expected(10_000)

    class Fussy:
        def solve(self, problem, run):
            if "Smoker" in problem.names and "Xray" in problem.names and "Cancer" in problem.names:
                raise RuntimeError("no smoking")
            return dn.Exhaustive().solve(problem, run)

    class Failing:
        def solve(self, problem, run):
            return 1 / 0

    found = solve(dn.scoring.score_table(data), dn.Divide(Fussy(), size=3, combine="penalty"))
    assert found.division.failed == {"Smoker, Cancer, Xray": "no smoking"}
    assert found.division.finished == 9
    assert found.division.subproblems == 10
    together = found.division.votes + found.division.against
    assert together[1, 3] == 2  # Smoker and Xray: one of three blocks is missing
    with pytest.raises(dn.InputError, match="no subproblem could be solved"):
        solve(dn.scoring.score_table(data), dn.Divide(Failing(), size=3, combine="penalty"))


class Counting(SimulatedAnnealingSampler):
    calls = 0

    def __repr__(self):  # a journal asks for it
        return "Counting()"

    def sample(self, *args, **options):
        type(self).calls += 1
        if type(self).calls == 20:
            raise KeyboardInterrupt
        return super().sample(*args, **options)


def test_an_interrupted_division_gives_what_is_known_and_resumes(tmp_path, monkeypatch):
    monkeypatch.setattr(solving, "_CHUNK", 4)
    table = dn.scoring.score_table(dn.load("waste").expected(10_000))

    def divided(sampler):
        inner = dn.Anneal(sampler, num_reads=3, encoding=dn.PAPER, parameters={"num_sweeps": 20})
        return dn.Divide(inner, size=3, combine="penalty")

    whole = solve(table, divided(SimulatedAnnealingSampler()), seed=1)
    Counting.calls = 0
    with dn.SqliteJournal(tmp_path / "run.db") as journal, ThreadPoolExecutor(1) as pool:
        part = solve(table, divided(Counting()), seed=1, journal=journal, executor=pool)
        assert 0 < part.division.finished < 84
        assert part.division.interrupted
    calls = Counting.calls
    with dn.SqliteJournal(tmp_path / "run.db") as journal:
        again = solve(table, divided(Counting()), seed=1, journal=journal)
    assert Counting.calls - calls == 84 - part.division.finished  # nothing is solved twice
    assert np.array_equal(again.division.votes, whole.division.votes)
    with dn.SqliteJournal(tmp_path / "run.db") as journal:  # another seed makes other tasks
        solve(table, divided(Counting()), seed=2, journal=journal)
    assert Counting.calls - calls == 84 - part.division.finished + 84


def test_a_journal_that_is_none(tmp_path):
    (tmp_path / "text.db").write_text("this is not a database, but long enough to be looked at as one" * 20)
    for bad in (tmp_path, tmp_path / "text.db", tmp_path / "nowhere" / "run.db"):
        with pytest.raises(dn.InputError, match="cannot be used as a journal"):
            dn.SqliteJournal(bad)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda s: solve(s, dn.Divide(size=2)), "size is 2; give 3 to 5"),
        (lambda s: solve(s, dn.Divide(size=6)), "size is 6; give 3 to 5"),
        (lambda s: dn.Divide(size=3, combine="vote"), "combine is 'vote'; give one of conquer, penalty, count"),
        (lambda s: solve(s, dn.Divide(size=3, subproblems="half")), "subproblems is 'half'; give all, cover:2"),
        (lambda s: solve(s.table(2), dn.Divide(size=3)), "give a Scorer"),
        (lambda s: dn.Divide("say", size=3), "there is no solver 'say'"),
        (lambda s: dn.Divide(7, size=3), "solver is int"),
        (lambda s: dn.Divide(dn.Divide(), size=3), "cannot be divided again"),
        (lambda s: dn.Divide(dn.Anneal(SimulatedAnnealingSampler(), parameters={"num_swepes": 2}), size=3), "num_swepes"),
        (lambda s: dn.Divide("sa", subproblem_parameters={"num_swepes": 2}).solve(dn.Problem(s), dn.Run()), "num_swepes"),
        (lambda s: dn.solvers.order_search(s.table(2), initial=[0, 1, 2, 3, 3]), "each variable once"),
        (lambda s: dn.solvers.order_search(s.table(2), rounds=-1), "rounds is -1"),
    ],
)
def test_bad_divisions(call, message):
    with pytest.raises(dn.InputError, match=message):
        call(dn.scoring.Scorer(dn.load("lung-cancer").expected(10_000)))


def test_many_variables_are_screened():
    data = random_data(70, 400, seed=5, arities=[2] * 70)
    found = dn.learn(data, seed=1)
    assert nx.is_directed_acyclic_graph(found.dag)
    assert "triples" in found.division.skipped
    assert found.division.scheme == "screened"
    assert found.score > dn.scoring.Scorer(data).score(nx.empty_graph(data.names, create_using=nx.DiGraph))
    assert found.division.votes.sum() > 0
    with pytest.raises(dn.InputError, match=r"only exact subproblems of 3 .* columns=\[...\]"):
        dn.learn(data, dn.Divide(size=4))


# What `learn` does, by solver and strategy: one test per cell of the design's table.


def data_of(n, seed=1):
    return random_data(n, 100, seed, arities=[2] * n)


def test_raw_reads_that_are_no_network_end_the_conquest():
    class Everything(dimod.Sampler):
        parameters, properties = {}, {}

        def sample(self, bqm):
            return dimod.SampleSet.from_samples_bqm(dict.fromkeys(bqm.variables, 1), bqm)

    found = dn.learn(dn.load("lung-cancer").expected(10_000), dn.Anneal(Everything(), repair=False))
    assert np.isnan(found.score)
    assert found.division.skipped == "in round 1 no raw read was a network"
    assert found.reads.raw is None


def test_a_later_round_without_a_network_loses_nothing():
    class Once(TreeDecompositionSolver):
        """The ground state at first; then, for the whole, every bit set."""

        wholes = 0

        def sample(self, bqm, **options):
            if bqm.num_variables < 10:
                return super().sample(bqm, **options)
            type(self).wholes += 1
            if type(self).wholes > 1:
                return dimod.SampleSet.from_samples_bqm(dict.fromkeys(bqm.variables, 1), bqm)
            return super().sample(bqm, **options)

    found = dn.learn(dn.load("waste").expected(10_000), dn.Anneal(Once(), repair=False))
    assert np.isfinite(found.score)
    assert "no raw read was a network" in found.division.skipped


def test_an_interrupt_before_the_whole_is_solved_keeps_the_votes(monkeypatch):
    def interrupted(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr(ClassicalSolver, "solve", interrupted)
    found = solve(dn.scoring.Scorer(dn.load("lung-cancer").expected(10_000)), dn.Divide(size=3))
    assert found.division.interrupted
    assert "put together from the votes" in found.division.skipped
    assert nx.is_directed_acyclic_graph(found.dag)
    assert found.division.votes.sum() > 0


def test_the_parent_limit_of_blocks_under_the_papers_rules():
    scorer = dn.scoring.Scorer(dn.load("alarm-15").expected(10_000))
    one = solve(scorer, dn.Divide(size=4, combine="penalty"), max_parents=1)
    two = solve(scorer, dn.Divide(size=4, combine="penalty"))
    assert not np.array_equal(one.division.votes, two.division.votes)
    annealed = dn.Anneal(SimulatedAnnealingSampler(), num_reads=2, parameters={"num_sweeps": 20})
    three = solve(scorer, dn.Divide(annealed, size=4, subproblems="cover:2", combine="penalty"), max_parents=3)
    assert not three.division.failed


def test_votes_are_part_of_the_json():
    found = dn.learn(data_of(4), dn.Divide(size=3, combine="penalty")).to_dict()
    assert np.array(found["votes"]["for"]).shape == (4, 4)
    assert found["division"]["combine"] == "penalty"
    assert found["division"]["subproblems"] == 4


def test_a_block_solver_of_ones_own():
    class Empty:
        name = "empty"

        def solve_many(self, subproblems):
            count, size = subproblems.members.shape
            return Solutions(np.zeros((count, size, size), dtype=bool), np.zeros(count))

        def fingerprint(self):
            return "empty"

    found = solve(dn.scoring.score_table(data_of(5)), dn.Divide(Empty(), size=3, combine="penalty"))
    assert found.edges == []
    assert found.division.solver == "empty"


def test_samplers_without_a_seed_solve_blocks_too():
    class Plain(dimod.Sampler):
        parameters, properties = {}, {}

        def sample(self, bqm):
            return TreeDecompositionSolver().sample(bqm)

    table = dn.scoring.score_table(dn.load("lung-cancer").expected(10_000))
    found = solve(table, dn.Divide(dn.Anneal(Plain(), repair=False), size=4, combine="penalty"))
    skeleton = {frozenset(edge) for edge in dn.load("lung-cancer").dag.edges}
    assert {frozenset(edge) for edge in found.dag.edges} == skeleton


def quick(repair=True, subproblems="all"):
    """Simulated annealing of a few reads on subproblems of four variables."""
    annealed = dn.Anneal(SimulatedAnnealingSampler(), num_reads=3, repair=repair, parameters={"num_sweeps": 20})
    return dn.Divide(annealed, size=4, subproblems=subproblems, combine="penalty")


class Nameless:
    """A solver whose repr holds an address."""

    def solve(self, problem, run):
        return dn.Exact().solve(problem, run)


@dataclass(frozen=True)
class Learner:
    """A solver that a journal tells from others by its repr."""

    rounds: int

    def solve(self, problem, run):
        return dn.OrderSearch(rounds=self.rounds).solve(problem, run)


@pytest.mark.slow
def test_a_journal_changes_no_answer(tmp_path):
    """Whatever was stored before: subproblems of another scheme, of raw reads, of other data, of another solver."""
    scorer = dn.scoring.Scorer(dn.load("waste").expected(10_000))
    other = dn.scoring.Scorer(dn.load("waste").expected(5_000))

    def ordered(rounds):
        return dn.Divide(dn.OrderSearch(rounds=rounds), size=4, combine="penalty")

    runs = [
        lambda **more: solve(scorer, quick(), seed=1, **more),
        lambda **more: solve(scorer, quick(subproblems="cover:2"), seed=1, **more),
        lambda **more: solve(scorer, quick(repair=False), seed=1, **more),
        lambda **more: solve(other, quick(), seed=1, **more),
        lambda **more: solve(scorer, ordered(rounds=0), seed=3, **more),
        lambda **more: solve(scorer, ordered(rounds=50), seed=4, **more),
        lambda **more: solve(scorer, dn.Divide(Learner(5), size=4, combine="penalty"), **more),
    ]
    with dn.SqliteJournal(tmp_path / "run.db") as journal:
        for run in runs:
            assert np.array_equal(run(journal=journal).division.votes, run().division.votes)
        with pytest.raises(dn.InputError, match=r"a journal cannot tell .*Nameless.* make it a frozen dataclass"):
            solve(scorer, dn.Divide(Nameless(), size=4, combine="penalty"), journal=journal)


def test_how_blocks_are_cut_into_pieces_makes_no_difference(monkeypatch):
    table = dn.scoring.score_table(dn.load("waste").expected(10_000))
    expected = solve(table, quick(), seed=1)
    monkeypatch.setattr(solving, "_CHUNK", 1)
    found = solve(table, quick(), seed=1)
    assert np.array_equal(found.division.votes, expected.division.votes)


def test_blocks_of_a_table_with_restrictions():
    table = dn.scoring.Scorer(dn.load("lung-cancer").expected(10_000)).table(2, {"Cancer": ["Smoker"]})
    exact = solve(table, dn.Divide(size=3, combine="penalty"))
    for encoding in (dn.TIGHT, dn.Encoding("gap", "complete", prune=False)):
        annealed = dn.Anneal(SimulatedAnnealingSampler(), num_reads=20, encoding=encoding)
        found = solve(table, dn.Divide(annealed, size=3, combine="penalty"))
        assert not found.division.failed
        assert (found.division.votes[[0, 3, 4], 2] == 0).all()  # of Cancer's parents, only Smoker
        assert (found.division.votes + found.division.votes.T == exact.division.votes + exact.division.votes.T).all()
    annealed = dn.Anneal(SimulatedAnnealingSampler(), num_reads=5, encoding=dn.PAPER)
    with pytest.raises(dn.InputError, match="every set of a child's candidate parents"):
        solve(table, dn.Divide(annealed, size=3, combine="penalty"))


@dataclass(frozen=True)
class Labelled:
    """A solver of single problems that has all attributes of a subproblem solver but its method."""

    name: str = "mine"
    fingerprint: str = "1"

    def solve(self, problem, run):
        return dn.Exact().solve(problem, run)


def test_a_solver_is_told_from_a_subproblem_solver_by_its_method():
    data = dn.load("lung-cancer").expected(1_000)
    exact = dn.learn(data, dn.Divide(dn.Exact(), size=3, combine="penalty"))
    found = dn.learn(data, dn.Divide(Labelled(), size=3, combine="penalty"))
    assert (found.division.solver, found.division.failed) == ("Labelled", {})
    ours, exacts = (each.division.votes + each.division.votes.T for each in (found, exact))
    assert np.array_equal(ours, exacts)
    assert dn.learn(data, dn.Divide(ExactSubproblems(), size=3, combine="penalty")).edges == exact.edges
    with pytest.raises(
        dn.InputError, match=r"ExactSubproblems, which solves the subproblems .* dn.Divide\(ExactSubproblems"
    ):
        dn.learn(data, ExactSubproblems())


def test_whole_numbers_are_stored_as_such():
    assert dn.Divide(size=3.0) == dn.Divide(size=3)
    assert repr(dn.Divide(size=3.0)) == repr(dn.Divide(size=3))
    assert repr(dn.Anneal("sa", num_reads=1e2)) == "Anneal('sa', num_reads=100)"
    assert repr(dn.OrderSearch(rounds=5.0)) == repr(dn.OrderSearch(rounds=5))


def test_failures_are_kept_by_block():
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

    table = dn.scoring.score_table(dn.load("lung-cancer").expected(10_000))
    moody = dn.Anneal(Moody(), num_reads=2, encoding=dn.PAPER)
    found = solve(table, dn.Divide(moody, size=3, combine="penalty"), seed=1).division
    assert (found.finished, len(found.failed)) == (5, 5)
    assert set(found.failed.values()) == {"Moody returned no reads"}
    found = solve(table, dn.Divide(Broken(), size=3, combine="penalty")).division
    assert (found.finished, set(found.failed.values())) == (4, {"RuntimeError"})


@pytest.mark.slow
def test_a_variable_that_all_others_depend_on():
    """More neighbours than a mask has bits: the best are kept, and the result says that some were not looked at."""
    rng = np.random.default_rng(2)
    hub = rng.integers(0, 2, 300)
    array = np.where(rng.random((300, 90)) < 0.2, rng.integers(0, 2, (300, 90)), hub[:, None])
    array[:, 7] = hub
    found = dn.learn(dn.read(array), seed=1)
    assert nx.is_directed_acyclic_graph(found.dag)
    assert "pairs are not" in found.division.skipped
    assert len(found.edges) >= 80


def test_optimal_is_claimed_only_where_every_parent_was_allowed():
    found = solve(dn.scoring.Scorer(dn.load("alarm-15").sample(2_000, seed=1)), dn.Divide(size=3))
    assert found.division.global_solver == "exact"
    assert not found.optimal
    scorer = dn.scoring.Scorer(dn.load("lung-cancer").expected(10_000))
    everyone = ~np.eye(5, dtype=bool)
    assert CandidateSearch(scorer, 2, ClassicalSolver()).run(everyone, dn.Run()).best.proved


def test_a_better_parent_in_place_of_another_is_found():
    rng = np.random.default_rng(1)
    a = rng.integers(0, 2, 500)
    b = np.where(rng.random(500) < 0.2, 1 - a, a)
    c = np.where(rng.random(500) < 0.02, 1 - b, b)
    scorer = dn.scoring.Scorer(dn.read(np.stack([a, b, c], axis=1), names=["a", "b", "c"]))
    dag = nx.DiGraph([("a", "c")])
    dag.add_node("b")
    allowed = np.zeros((3, 3), dtype=bool)
    allowed[0, 2] = True
    outside = Outside(scorer, max_parents=1)
    grown, crowded = outside.best(dag, allowed)
    assert grown[1, 2]
    assert crowded == 0
    assert np.array_equal(outside.best(dag, allowed)[0], grown)  # remembered
    assert np.array_equal(outside.best(dag, grown)[0], grown)
    other = nx.DiGraph([("b", "c")])
    other.add_node("a")
    assert np.array_equal(outside.best(other, allowed)[0], Outside(scorer, max_parents=1).best(other, allowed)[0])


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
def test_nothing_is_ignored_in_silence(call):
    with pytest.raises(dn.InputError):
        call(dn.load("lung-cancer").expected(10_000))


def test_an_interrupt_in_the_conquest_keeps_what_was_found(monkeypatch):
    def interrupted(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr(conquering.Outside, "best", interrupted)
    found = solve(dn.scoring.Scorer(dn.load("lung-cancer").expected(10_000)), dn.Divide(size=3))
    assert found.division.interrupted
    assert len(found.edges) == 4
