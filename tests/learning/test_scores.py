"""`learn` with scores instead of data: score tables and score files."""

from itertools import combinations

import networkx as nx
import pytest
from dwave.samplers import TreeDecompositionSolver
from hypothesis import given, settings, strategies as st

import dagneal as dn
from dagneal.scoring import read_scores, score_table, write_scores
from support.reference import all_dags, dag_scores, random_data, random_table


@given(st.integers(2, 7), st.integers(1, 3), st.integers(0, 10**6), st.sampled_from(["exact", "order"]))
@settings(max_examples=20)
def test_a_score_file_gives_the_same_network_as_the_data(tmp_path_factory, n, limit, seed, solver):
    data = random_data(n, 100, seed)
    limit = min(limit, n - 1)
    path = tmp_path_factory.mktemp("scores") / "x.jkl"
    write_scores(score_table(data, max_parents=limit), path)
    from_data = dn.learn(data, solver, max_parents=limit, seed=3)
    from_file = dn.learn(path, solver, seed=3)
    assert from_file.edges == from_data.edges
    assert from_file.score == from_data.score
    assert from_file.optimal == from_data.optimal
    assert from_file.max_parents == from_data.max_parents
    assert from_file.seed == 3


@pytest.mark.parametrize("solver", [None, "exact", "order", dn.Anneal(TreeDecompositionSolver(), direct=True)])
def test_every_solver_of_tables_finds_the_best_network(tmp_path, solver):
    table = random_table(4, 2, seed=8)
    best = dag_scores(table, all_dags(4)).max()
    result = dn.learn(table, solver)
    assert result.score == pytest.approx(best)
    assert table.score(result.dag) == pytest.approx(best)
    assert result.data is None
    assert result.criterion is None
    assert result.score_name == "random"
    write_scores(table, tmp_path / "x.scores")
    again = dn.learn(str(tmp_path / "x.scores"), solver)
    assert again.edges == result.edges
    assert again.score_name == "x.scores"
    assert repr(again).startswith("Learned(4 variables, ")


def test_lists_without_dominated_sets_have_the_same_optimum(tmp_path):
    """Other tools write only undominated sets, so the sets of a child are not closed under subsets."""
    table = random_table(4, 3, seed=2)
    start, masks, scores = table.pruned
    lines = ["4"]
    for child, name in enumerate(table.names):
        lines.append(f"{name} {start[child + 1] - start[child]}")
        others = [other for other in table.names if other != name]
        for mask, score in zip(
            masks[start[child] : start[child + 1], 0], scores[start[child] : start[child + 1]], strict=True
        ):
            parents = [other for bit, other in enumerate(others) if int(mask) >> bit & 1]
            lines.append(" ".join([repr(float(score)), str(len(parents)), *parents]))
    assert len(lines) < len(table.scores) / 1.5
    (tmp_path / "x.jkl").write_text("\n".join(lines))
    best = dn.learn(table, "exact")
    for solver in ("exact", "order", dn.Anneal(TreeDecompositionSolver(), direct=True)):
        result = dn.learn(tmp_path / "x.jkl", solver)
        assert result.edges == best.edges
        assert result.score == pytest.approx(best.score)
    encoded = read_scores(tmp_path / "x.jkl")
    for words in ("tight", "tight,unpruned", "gap"):
        encoding = dn.qubo.parse_encoding(words)
        assert dn.solvers.verify(dn.qubo.encode(encoded, encoding), encoded)


def test_sets_that_are_not_in_the_file_are_not_used(tmp_path):
    """Without the empty set of a child, only some orders of the variables are possible."""
    (tmp_path / "x.jkl").write_text("3\na 2\n-5 1 b\n-1 1 c\nb 2\n-9 0\n-2 1 a\nc 2\n-9 0\n-1 1 b\n")
    families = {("a", ("b",)): -5, ("a", ("c",)): -1, ("b", ()): -9, ("b", ("a",)): -2, ("c", ()): -9, ("c", ("b",)): -1}
    best = -100
    for chosen in combinations(families, 3):
        graph = nx.DiGraph([(parent, child) for child, parents in chosen for parent in parents])
        if len({child for child, _ in chosen}) == 3 and nx.is_directed_acyclic_graph(graph):
            best = max(best, sum(families[each] for each in chosen))
    for solver in (None, "exact", "order"):
        assert dn.learn(tmp_path / "x.jkl", solver).score == best
    with pytest.raises(dn.InputError, match="the table has no score for 'a' without parents; add this score"):
        dn.learn(tmp_path / "x.jkl", dn.Anneal(TreeDecompositionSolver(), direct=True))
    (tmp_path / "none.jkl").write_text("2\na 1\n-1 1 b\nb 1\n-1 1 a\n")
    for solver in ("exact", "order"):
        with pytest.raises(dn.InputError, match="no DAG"):
            dn.learn(tmp_path / "none.jkl", solver)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"score": "bic"}, "score is given, but the scores of a score table are fixed; remove score, or give data"),
        ({"max_parents": 2}, "max_parents is given"),
        ({"knowledge": {"leaves": ["v0"]}}, "knowledge is given"),
        ({"solver": "sa"}, "this solver needs more scores than a ScoreTable contains"),
        ({"solver": dn.Divide(size=3)}, "this solver needs more scores than a ScoreTable contains"),
        ({"initial": nx.DiGraph([("a", "b")])}, "different variables"),
    ],
)
def test_arguments_that_do_not_fit_scores(arguments, message):
    with pytest.raises(dn.InputError, match=message):
        dn.learn(random_table(4, 2, seed=1), **arguments)


def test_time_limit_and_initial(tmp_path):
    table = random_table(12, 2, seed=4)
    start = dn.learn(table, "exact").dag
    result = dn.learn(table, dn.OrderSearch(0), initial=start, time_limit=1e-9)
    assert result.score == pytest.approx(table.score(start))


def test_methods_without_data(tmp_path):
    data = dn.load("lung-cancer").sample(500, seed=1)
    result = dn.learn(score_table(data, max_parents=2))
    for call in (result.strengths, result.bootstrap):
        with pytest.raises(dn.InputError, match=r"learned from scores has none; call result\.with_data"):
            call()
    with pytest.raises(dn.InputError, match="no data to fit probabilities"):
        result.network  # noqa: B018
    for name in ("x.html", "x.json", "x.dot", "x.graphml"):
        result.save(tmp_path / name)
        assert (tmp_path / name).stat().st_size
    loaded = dn.load_result(tmp_path / "x.json")
    assert loaded.edges == result.edges
    assert loaded.score_name == result.score_name
    assert result.compare(dn.load("lung-cancer")).shd >= 0
    complete = result.with_data(data, score="bdeu:1")
    assert len(complete.strengths()) == len(result.edges)
    assert set(complete.network.names) == set(data.names)
    with pytest.raises(dn.InputError, match="the score of this result is"):
        result.with_data(data, score="bic")
    with pytest.raises(dn.InputError, match="which is unknown in a result"):
        result.with_data(data).strengths()
