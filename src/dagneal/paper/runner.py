"""Running cases: those that are not on record, on several cores, one record for each as it ends."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from concurrent.futures import Future, wait

from dagneal.base.kernels import Progress
from dagneal.paper import annealers, discretisation, experiments, timing
from dagneal.paper.experiments import Outcome
from dagneal.paper.records import Case, Record, Records, machine, versions
from dagneal.runtime.executors import first_done, pool_of

KINDS: dict[str, Callable[..., Outcome]] = {
    "direct": experiments.direct,
    "optimum": experiments.optimum,
    "exhaustive": experiments.by_exhaustion,
    "priors": experiments.priors,
    "blocks": experiments.blocks,
    "learn": experiments.learned,
    "conquer": experiments.conquered,
    "construction": timing.construction,
    "plain": timing.plain,
    "discretisation": discretisation.run,
}
TIMED = ("construction", "plain")  # run alone, since others would disturb their clocks


def run(
    cases: Sequence[Case],
    records: Records,
    jobs: int | None = None,
    progress: Progress | None = None,
    cost: Callable[[Case], float] = lambda _: 1.0,
) -> None:
    """Run all cases that have no record yet; Ctrl-C ends it, and what is on record stays there.

    Args:
        cases: what to run; the same case twice is run once.
        records: where they are recorded.
        jobs: how many run at a time; by default as many as there are cores.
        progress: told how far it is, by the cost of the runs.
        cost: of a run, in any unit.
    """
    left = list({case.key: case for case in cases if case not in records}.values())
    total, done = sum(map(cost, left)), 0.0
    about = (versions(), machine())

    def record(case: Case, outcome: Outcome) -> None:
        nonlocal done
        records.add(Record(case, outcome.result, outcome.seconds, *about, time.time()))
        done += cost(case)
        if progress is not None:
            progress("seconds of work", max(1, round(done)), max(1, round(total)))

    for case in left:
        if case.kind in TIMED:
            record(case, KINDS[case.kind](**case.inputs))
    waiting: dict[Future[Outcome], Case] = {}
    with pool_of(None, jobs) as pool:
        try:
            for case in left:
                if case.kind not in TIMED:
                    waiting[pool.submit(KINDS[case.kind], **case.inputs)] = case
            while waiting:
                for future in first_done(pool, waiting):
                    record(waiting.pop(future), future.result())
        except BaseException:  # Ctrl-C, or a run that failed: nothing new is begun, what has begun is finished and kept
            for future in waiting:
                future.cancel()
            annealers.give_up()
            wait(waiting)
            for future, case in waiting.items():
                if not future.cancelled() and future.exception() is None:
                    record(case, future.result())
            raise
