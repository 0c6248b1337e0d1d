"""The anytime search: results, limits, background knowledge, time limits and the trace."""

import json
from dataclasses import replace

import networkx as nx
import numpy as np
import pytest

import dagneal as dn
from dagneal.base.errors import OutOfTimeError
from dagneal.runtime.run import Run
from dagneal.scoring.scorer import Scorer
from dagneal.search import anytime
from dagneal.search.anytime import AnytimeSearch
from dagneal.search.climb import prepare
from dagneal.search.space import OrderState
from dagneal.search.trace import TracePoint
from support.reference import random_data


def search(data, max_parents=None, seed=0, workers=None, run=None, **settings):
    """Return a finished anytime search."""
    run = run or Run(seed)
    found = AnytimeSearch(Scorer(data, run=run, workers=workers), max_parents, run)
    found.solve(**settings)
    return found


def dag_of(found):
    names = found.scorer.data.names
    graph = nx.DiGraph()
    graph.add_nodes_from(names)
    graph.add_edges_from((names[p], names[c]) for c, row in enumerate(found.best.parents) for p in row if p >= 0)
    return graph


@pytest.mark.parametrize("rows", [200, 1_000, 10_000])
@pytest.mark.parametrize("network", ["lung-cancer", "alarm-15"])
def test_score_equals_exact_search(network, rows):
    data = dn.load(network).sample(rows, 1)
    limit = min(4, len(data.names) - 1)
    best = dn.learn(data, dn.Exact(), max_parents=limit).score
    assert search(data, limit).best.score == pytest.approx(best, abs=1e-6)


@pytest.mark.parametrize("seed", range(3))
def test_score_equals_exact_search_on_random_data(seed):
    """Random columns depend only weakly on each other, so there are many networks with similar scores."""
    data = random_data(10, 60, seed)
    best = dn.learn(data, dn.Exact(), max_parents=3).score
    assert search(data, 3, seed).best.score == pytest.approx(best, abs=1e-6)


def test_score_is_the_score_of_the_network():
    found = search(dn.load("alarm-15").sample(500, 2))
    assert nx.is_directed_acyclic_graph(dag_of(found))
    assert found.best.score == pytest.approx(found.scorer.score(dag_of(found)))


def test_trace_rises_from_pairs_to_the_best_score():
    found = search(dn.load("alarm-15").sample(2_000, 1))
    scores, times = [p.score for p in found.trace], [p.seconds for p in found.trace]
    assert found.trace[0].stage == "pairs"
    assert scores == sorted(scores)
    assert times == sorted(times)
    assert scores[-1] == found.best.score


def test_number_of_workers_does_not_change_the_result():
    data = dn.load("alarm-15").sample(1_000, 3)
    one, three = (search(data, workers=workers) for workers in (1, 3))
    assert np.array_equal(one.best.parents, three.best.parents)
    assert [p.score for p in one.trace] == [p.score for p in three.trace]


def test_time_limit_that_does_not_bind_does_not_change_the_result():
    data = dn.load("alarm-15").sample(1_000, 4)
    free = search(data)
    limited = search(data, run=Run(0, dn.Deadline.after(3600.0)))
    assert [p.score for p in free.trace] == [p.score for p in limited.trace]
    assert np.array_equal(free.best.parents, limited.best.parents)


class LateDeadline(dn.Deadline):
    """A deadline that passes after a number of checks."""

    def __init__(self, checks):
        super().__init__(1e18)
        object.__setattr__(self, "left", [None] * checks)

    @property
    def passed(self):
        return not self.left

    def check(self):
        if self.passed:
            raise OutOfTimeError("the time limit has passed")
        self.left.pop()


@pytest.mark.parametrize("checks", [5, 10, 30, 100])
def test_search_stops_at_any_moment_with_a_valid_network(checks):
    data = dn.load("alarm-15").sample(1_000, 5)
    found = search(data, run=Run(0, LateDeadline(checks)))
    assert found.stopped == "time"
    assert not found.locally_optimal
    assert found.best.score == pytest.approx(found.scorer.score(dag_of(found)))
    assert found.best.score == found.trace[-1].score


def test_interrupt_returns_the_best_network(monkeypatch):
    data = dn.load("alarm-15").sample(1_000, 6)

    def interrupt(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr(anytime, "dependence", interrupt)
    found = search(data)
    assert found.stopped == "interrupt"
    assert found.trace[-1].stage == "pairs"
    result = dn.learn(data)
    assert result.search.stopped == "interrupt"
    assert not result.optimal


def test_results_of_restarts_are_kept_if_the_time_ends_before_they_are_combined(monkeypatch):
    found = AnytimeSearch(Scorer(dn.load("alarm-15").sample(500, 7)), None, Run())
    found._start(None)
    score = found.best.score
    space = found.sets.space()
    state = OrderState.start(space, found.best.order, 1)
    prepare(space, state)
    found.best = replace(found.best, score=score - 5.0, order=found.best.order[::-1])

    def end(*_):
        raise OutOfTimeError("the time limit has passed")

    monkeypatch.setattr(found, "_run_chains", end)
    with pytest.raises(OutOfTimeError):
        found._combine_states(space, [state], np.random.default_rng(1))
    assert found.best.score >= score - 1e-6


def test_background_knowledge_is_obeyed():
    data = random_data(13, 300, 2)
    required = [("v0", "v5"), ("v1", "v5"), ("v5", "v2")]
    knowledge = dn.Knowledge(required=required, forbidden=[("v3", "v4"), ("v4", "v3")], roots=["v7"], limits={"v8": 1})
    result = dn.learn(data, knowledge=knowledge)
    found = AnytimeSearch(Scorer(data, knowledge=knowledge), None, Run(0))
    found.solve()
    graph = dag_of(found)
    assert set(required) <= set(graph.edges)
    assert not {("v3", "v4"), ("v4", "v3")} & set(graph.edges)
    assert graph.in_degree("v7") == 0
    assert graph.in_degree("v8") <= 1
    assert found.best.score == pytest.approx(result.score, abs=1e-6)
    assert found.locally_optimal


def test_parents_that_help_only_together_are_found_beside_required_parents():
    """Complete lists leave out children with required parents, so beam search must find their sets."""
    generator = np.random.default_rng(0)
    codes = generator.integers(0, 2, (150, 40))
    codes[:, 5] = codes[:, 10] ^ codes[:, 30] ^ (generator.random(150) < 0.05)
    data = dn.read(codes)
    child, *parents = (data.names[column] for column in (5, 1, 10, 30))
    knowledge = dn.Knowledge(required=[(parents[0], child)], leaves=[child])
    found = AnytimeSearch(Scorer(data, knowledge=knowledge), 3, Run(0))
    found.solve()
    assert set(dag_of(found).predecessors(child)) == set(parents)


def test_long_lists_of_few_rows_do_not_grow_further(monkeypatch):
    """With few rows and many states, a large share of all sets stays. All sets of four would take gigabytes."""
    data = random_data(14, 30, 3)
    monkeypatch.setattr(anytime, "MAX_FAMILIES", 400)
    assert search(data).complete.max_parents == 4
    monkeypatch.setattr(anytime, "MAX_KEPT", 10)
    assert search(data).complete.max_parents == 2


def single_changes(graph):
    """Yield all DAGs that differ from a graph by one addition, removal, reversal or replacement."""
    nodes = list(graph)
    for child in nodes:
        parents = set(graph.predecessors(child))
        others = set(nodes) - parents - {child}
        changes = [parents | {new} for new in others] + [parents - {old} for old in parents]
        changes += [parents - {old} | {new} for old in parents for new in others]
        for new_parents in changes:
            changed = graph.copy()
            changed.remove_edges_from([(p, child) for p in parents])
            changed.add_edges_from([(p, child) for p in new_parents])
            if nx.is_directed_acyclic_graph(changed):
                yield changed
    for parent, child in graph.edges:
        changed = graph.copy()
        changed.remove_edge(parent, child)
        changed.add_edge(child, parent)
        if nx.is_directed_acyclic_graph(changed):
            yield changed


@pytest.mark.parametrize("seed", range(3))
def test_no_single_change_raises_the_score(seed):
    data = random_data(9, 80, seed)
    found = search(data, 3, seed)
    assert found.locally_optimal
    limited = [graph for graph in single_changes(dag_of(found)) if max(d for _, d in graph.in_degree) <= 3]
    assert max(found.scorer.score(graph) for graph in limited) <= found.best.score + 1e-6


def test_parent_limit_grows_if_one_more_parent_helps():
    generator = np.random.default_rng(1)
    codes = generator.integers(0, 2, (4_000, 30))
    codes[:, 29] = codes[:, :6].sum(axis=1) >= 3
    data = dn.read(codes, names=[f"c{i}" for i in range(30)])
    result = dn.learn(data)
    assert max(degree for _, degree in result.dag.in_degree) == result.max_parents == 6
    assert result.search.at_limit == ()
    limited = dn.learn(data, max_parents=3)
    assert max(degree for _, degree in limited.dag.in_degree) == 3
    assert "c29" in limited.search.at_limit or limited.score < result.score
    assert limited.search.at_limit


def test_constant_columns_do_not_get_many_parents():
    """BDeu rewards every further parent of a constant column by a tiny amount."""
    generator = np.random.default_rng(2)
    codes = generator.integers(0, 3, (500, 26))
    codes[:, :8] = 0
    names = [f"c{i}" for i in range(26)]
    data = dn.Dataset.from_codes(names, [["a", "b", "c"]] * 26, codes.T.astype(np.uint8))
    assert max(degree for _, degree in dn.learn(data).dag.in_degree) == 4
    assert max(degree for _, degree in dn.learn(data, max_parents=6).dag.in_degree) == 6


def test_max_effort_keeps_the_proof_of_optimality():
    data = random_data(14, 100, 1, arities=[2] * 14)
    assert dn.learn(data, dn.Auto(effort="max"), max_parents=2, time_limit=60).optimal


def test_a_variable_can_have_64_required_parents_but_no_more():
    data = random_data(70, 60, 1, arities=[2] * 70)
    names = data.names
    required = [(name, names[0]) for name in names[1:66]]
    result = dn.learn(data, knowledge={"required": required[:64], "roots": names[1:]})
    assert set(required[:64]) <= set(result.dag.edges)
    with pytest.raises(dn.InputError, match="65 required parents"):
        dn.learn(data, knowledge={"required": required})


def test_a_variable_never_gets_more_parents_than_a_mask_has_bits():
    """The child has 64 required parents, which are nearly constant, and a copy."""
    generator = np.random.default_rng(2)
    codes = (generator.random((40, 67)) < 0.03).astype(int)
    codes[:, 0] = codes[:, 65] = generator.integers(0, 2, 40)
    data = dn.read(codes)
    required = [(name, data.names[0]) for name in data.names[1:65]]
    assert set(dn.learn(data, knowledge={"required": required}).dag.in_edges(data.names[0])) == set(required)


def test_a_required_parent_among_many_related_variables():
    generator = np.random.default_rng(1)
    coin = generator.integers(0, 2, 60)[:, None]
    data = dn.read(np.where(generator.random((60, 90)) < 0.05, 1 - coin, coin))
    edge = (data.names[1], data.names[0])
    for limit in (1, 2):
        assert edge in dn.learn(data, dn.Auto(prove=False), knowledge={"required": [edge]}, max_parents=limit).dag.edges


def test_result_with_a_trace_survives_saving(tmp_path):
    result = dn.learn(random_data(24, 100, 1, arities=[2] * 24), max_parents=2)
    result.save(tmp_path / "result.json")
    loaded = dn.load_result(tmp_path / "result.json")
    assert replace(loaded.search, trace=()) == replace(result.search, trace=())
    rounded = tuple(replace(point, seconds=round(point.seconds, 6)) for point in result.search.trace)
    assert loaded.search.trace == rounded


def test_trace_without_bounds_can_be_loaded(tmp_path):
    """The first files with a trace had no bounds."""
    result = dn.learn(random_data(24, 100, 1, arities=[2] * 24))
    plain = result.to_dict()
    plain["search"]["trace"] = [[0.25, -10.0, "pairs"], [1.5, -9.0, "additions"]]
    (tmp_path / "old.json").write_text(json.dumps(plain))
    points = (TracePoint(0.25, -10.0, "pairs", None), TracePoint(1.5, -9.0, "additions", None))
    assert dn.load_result(tmp_path / "old.json").search.trace == points
    plain["search"]["trace"][0].extend([None, "more"])
    (tmp_path / "wrong.json").write_text(json.dumps(plain))
    with pytest.raises(dn.InputError, match="not a valid result"):
        dn.load_result(tmp_path / "wrong.json")


def test_max_effort_needs_a_known_name():
    with pytest.raises(dn.InputError, match="effort is 'high'; give one of 'normal', 'max'"):
        dn.Auto(effort="high")


def test_max_effort_uses_the_time():
    data = random_data(24, 100, 1, arities=[2] * 24)
    run = Run(0, LateDeadline(2_000))
    found = search(data, run=run, effort="max")
    assert found.stopped == "time"
    assert search(data).stopped == ""
