"""Run the cases that have no record yet, on several cores. A case is recorded as soon as it is finished."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import dagneal as dn
from dagneal.paper import discretisation, experiments, subproblem_votes, timing
from dagneal.paper.annealers import Annealers
from dagneal.paper.experiments import Outcome
from dagneal.paper.records import Case, Record, Records, describe_machine, package_versions

KINDS: dict[str, Callable[..., Outcome]] = {  # records store these names, so they must not change
    "direct": experiments.sample_directly,
    "optimum": experiments.find_optimum,
    "exhaustive": experiments.search_exhaustively,
    "priors": experiments.compare_priors,
    "blocks": subproblem_votes.collect_votes,
    "learn": experiments.learn_network,
    "conquer": experiments.search_candidates,
    "construction": timing.time_construction,
    "plain": timing.time_plain_python,
    "discretisation": discretisation.discretise,
}
SAMPLED = ("direct", "blocks")  # kinds that need the annealers
TIMED = ("construction", "plain")  # kinds that run alone, since other runs would distort their times


@dataclass(frozen=True)
class CaseTask:
    """A callable that runs one case, in the form that `dagneal.Run.each` expects.

    Args:
        annealers: samplers for cases whose kind is in `SAMPLED`.
    """

    annealers: Annealers

    def __call__(self, shared: None, case: Case) -> Outcome:
        """Run a case.

        Args:
            shared: not used.
            case: the case to run.
        """
        samplers = {"annealers": self.annealers} if case.kind in SAMPLED else {}
        return KINDS[case.kind](**samplers, **case.inputs)

    def cancel(self) -> None:
        """Cancel all calls to quantum annealers."""
        self.annealers.cancel()


def run_cases(
    cases: Sequence[Case],
    records: Records,
    annealers: Annealers,
    run: dn.Run | None = None,
    jobs: int | None = None,
    cost: Callable[[Case], float] = lambda _: 1.0,
) -> None:
    """Run all cases that have no record yet. After Ctrl-C, cases that have started are finished and recorded.

    Args:
        cases: cases to run. Duplicates are run once.
        records: records to which the finished cases are added.
        annealers: samplers for cases whose kind is in `SAMPLED`.
        run: run context. Its progress advances by the cost of each finished case.
        jobs: number of cases that run in parallel (default: number of cores).
        cost: function that estimates the cost of a case, in any unit.
    """
    run = dn.Run() if run is None else run
    remaining = list({case.key: case for case in cases if case not in records}.values())
    total, done = sum(map(cost, remaining)), 0.0
    environment = (package_versions(), describe_machine())
    cpu = time.process_time()

    def record(case: Case, outcome: Outcome) -> None:
        nonlocal done, cpu
        cpu, before = time.process_time(), cpu
        records.add(Record(case, outcome.result, outcome.seconds, *environment, time.time(), cpu - before))
        done += cost(case)
        run.progress("seconds of work", max(1, round(done)), max(1, round(total)))

    task = CaseTask(annealers)
    for case in remaining:
        if case.kind in TIMED:
            record(case, task(None, case))
    run.each(task, [case for case in remaining if case.kind not in TIMED], record, workers=jobs)
