"""User code that a strict type checker must accept. `make types` checks this file; it is never run."""

from dataclasses import dataclass

import dimod
import networkx as nx

import dagneal as dn


@dataclass(frozen=True)
class CustomSolver:
    """A user-defined solver."""

    restarts: int = 10

    def solve(self, problem: dn.Problem, run: dn.Run) -> dn.Solution:
        return dn.solvers.order_search(problem.table(), self.restarts, run=run.child("custom"))


def learn_in_steps(path: str, sampler: dimod.Sampler) -> nx.DiGraph:
    data: dn.Dataset = dn.read(path)
    scorer: dn.scoring.Scorer = dn.scoring.Scorer(data, dn.BDeu(1.0))
    table: dn.scoring.ScoreTable = scorer.table(2)
    bqm = dn.qubo.encode(table, dn.TIGHT)
    result: dn.Solution = dn.solvers.anneal(table, sampler, num_reads=10)
    if not dn.solvers.verify(bqm, table) or result.reads is None:
        raise dn.InputError("the QUBO is not verified, or there are no reads")
    return dn.learn(data, seed=1).dag


def ask_a_result(path: str) -> float:
    result = dn.learn(path)
    answer: dn.inference.Distribution = result.query("Cancer", given={"Smoker": "yes", "Xray": {"positive": 0.8}})
    effect: dn.inference.Effect = result.do({"Smoker": "no"}, "Cancer")
    low, high = effect["yes"]
    print(result.predict(path, "Cancer").height, result.impute(path).columns, result.log_likelihood(path).sum())
    print(dn.predict(result.ensemble(), path, "Cancer"), dn.inference.explain(result, "Smoker", "Cancer").paths[0].open)
    return answer["yes"] + low + high


def learn_with_objects(path: str, sampler: dimod.Sampler) -> list[dn.Learned]:
    annealer = dn.Anneal(sampler, num_reads=100, encoding=dn.PAPER, repair=False)
    solvers: list[dn.Solver] = [
        dn.Auto(),
        dn.Exact(),
        dn.OrderSearch(5),
        dn.Exhaustive(),
        annealer,
        dn.Divide(annealer),
        CustomSolver(),
    ]
    run = dn.Run(seed=7, deadline=dn.Deadline.after(60), journal=dn.SqliteJournal("run.db"))
    results = [dn.learn(path, solver, score="bic", max_parents=2, knowledge={"roots": ["a"]}, run=run) for solver in solvers]
    for result in results:
        score: float = result.score
        gap: float | None = result.gap
        bootstrap: dn.Bootstrap = result.bootstrap(20, run=dn.Run(seed=1))
        print(result, score, gap, result.strengths(), bootstrap.samples, result.is_dag, result.compare(nx.DiGraph()))
        result.save("result.json")
    return [*results, dn.load_result("result.json")]
