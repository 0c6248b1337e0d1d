"""What a strict type checker must accept of a user: `make types` checks this file, nothing runs it."""

import dimod
import networkx as nx

import dagneal as dn


def learned(path: str, sampler: dimod.Sampler) -> nx.DiGraph:
    data: dn.Dataset = dn.read(path)
    scorer: dn.scoring.Scorer = dn.scoring.Scorer(data, dn.BDeu(1.0))
    table: dn.scoring.ScoreTable = scorer.table(2)
    bqm = dn.qubo.encode(table, dn.TIGHT)
    found: dn.Learned = dn.solvers.anneal(table, sampler, num_reads=10)
    if not dn.solvers.verify(bqm, table) or found.reads is None:
        raise dn.InputError("no")
    return dn.learn(data, seed=1).dag
