"""What a strict type checker must accept of a user: `make types` checks this file, nothing runs it."""

from dataclasses import dataclass

import dimod
import networkx as nx

import dagneal as dn


@dataclass(frozen=True)
class Mine:
    """A solver of a user."""

    rounds: int = 10

    def solve(self, problem: dn.Problem, run: dn.Run) -> dn.Solution:
        return dn.solvers.order_search(problem.table(), self.rounds, run=run.child("mine"))


def learn_in_steps(path: str, sampler: dimod.Sampler) -> nx.DiGraph:
    data: dn.Dataset = dn.read(path)
    scorer: dn.scoring.Scorer = dn.scoring.Scorer(data, dn.BDeu(1.0))
    table: dn.scoring.ScoreTable = scorer.table(2)
    bqm = dn.qubo.encode(table, dn.TIGHT)
    found: dn.Solution = dn.solvers.anneal(table, sampler, num_reads=10)
    if not dn.solvers.verify(bqm, table) or found.reads is None:
        raise dn.InputError("no")
    return dn.learn(data, seed=1).dag


def learn_with_objects(path: str, sampler: dimod.Sampler) -> list[dn.Learned]:
    annealer = dn.Anneal(sampler, num_reads=100, encoding=dn.PAPER, repair=False)
    solvers: list[dn.Solver] = [
        dn.Auto(),
        dn.Exact(),
        dn.OrderSearch(5),
        dn.Exhaustive(),
        annealer,
        dn.Divide(annealer),
        Mine(),
    ]
    run = dn.Run(seed=7, deadline=dn.Deadline.after(60), journal=dn.SqliteJournal("run.db"))
    results = [dn.learn(path, solver, score="bic", max_parents=2, knowledge={"roots": ["a"]}, run=run) for solver in solvers]
    for result in results:
        score: float = result.score
        gap: float | None = result.gap
        sure: dn.Bootstrap = result.bootstrap(20, run=dn.Run(seed=1))
        print(result, score, gap, result.strengths(), sure.samples, result.is_dag, result.compare(nx.DiGraph()))
        result.save("result.json")
    return [*results, dn.load_result("result.json")]
