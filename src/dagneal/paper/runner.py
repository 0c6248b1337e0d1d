"""Running cases: those that are not on record, on several cores, one record for each as it ends."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import dagneal as dn
from dagneal.paper import discretisation, experiments, subproblem_votes, timing
from dagneal.paper.annealers import Annealers
from dagneal.paper.experiments import Outcome
from dagneal.paper.records import Case, Record, Records, machine, versions

KINDS: dict[str, Callable[..., Outcome]] = {  # `evaluation.cost` knows how long each takes
    "direct": experiments.direct,
    "optimum": experiments.optimum,
    "exhaustive": experiments.search_exhaustively,
    "priors": experiments.priors,
    "blocks": subproblem_votes.collect_votes,
    "learn": experiments.learn_network,
    "conquer": experiments.conquer_triples,
    "construction": timing.construction,
    "plain": timing.plain_python,
    "discretisation": discretisation.discretise,
}
SAMPLED = ("direct", "blocks")  # get the annealers besides their inputs
TIMED = ("construction", "plain")  # run alone, since others would disturb their clocks


@dataclass(frozen=True)
class CaseTask:
    """The task function of cases; see `dagneal.Run.each`.

    Args:
        annealers: what sampled cases run on.
    """

    annealers: Annealers

    def __call__(self, shared: None, case: Case) -> Outcome:
        """Run a case.

        Args:
            shared: nothing.
            case: what to run.
        """
        more = {"annealers": self.annealers} if case.kind in SAMPLED else {}
        return KINDS[case.kind](**more, **case.inputs)

    def cancel(self) -> None:
        """Let runs on a quantum annealer end at once."""
        self.annealers.cancel()


def run_cases(
    cases: Sequence[Case],
    records: Records,
    annealers: Annealers,
    run: dn.Run | None = None,
    jobs: int | None = None,
    cost: Callable[[Case], float] = lambda _: 1.0,
) -> None:
    """Run all cases that have no record yet; on Ctrl-C those that have begun are finished and recorded.

    Args:
        cases: what to run; the same case twice is run once.
        records: where they are recorded.
        annealers: what sampled cases run on.
        run: its progress is told how far it is, by the cost of the cases.
        jobs: how many cases run at a time; by default as many as there are cores.
        cost: of a case, in any unit.
    """
    run = dn.Run() if run is None else run
    left = list({case.key: case for case in cases if case not in records}.values())
    total, done = sum(map(cost, left)), 0.0
    about = (versions(), machine())

    def record(case: Case, outcome: Outcome) -> None:
        nonlocal done
        records.add(Record(case, outcome.result, outcome.seconds, *about, time.time()))
        done += cost(case)
        run.progress("seconds of work", max(1, round(done)), max(1, round(total)))

    task = CaseTask(annealers)
    for case in left:
        if case.kind in TIMED:
            record(case, task(None, case))
    run.each(task, [case for case in left if case.kind not in TIMED], record, workers=jobs)
