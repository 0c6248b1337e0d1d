"""`dagneal learn`."""

from __future__ import annotations

import argparse
import shlex
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from dataclasses import replace
from functools import partial
from pathlib import Path
from time import perf_counter
from typing import Any

from dagneal.base.errors import InputError, secondary, whole_number
from dagneal.base.files import check_different, check_format, check_writable
from dagneal.cli import confident, journals, reading, show, solvers
from dagneal.cli.known import knowledge
from dagneal.graphs.dags import check_variables
from dagneal.networks.bif import check_names
from dagneal.solvers.samplers import solves_directly
from dagneal.strategies.names import LEARNERS, QUANTUM, SAMPLERS

# Options of this command that make no difference to the pieces that a journal keeps.
_HARMLESS = (
    *("data", "dask", "output", "samples", "truth", "safe_labels", "threshold"),
    *("bootstrap", "time_limit", "holdout", "ess", "profile"),
)


def learn(options: argparse.Namespace) -> None:
    """`dagneal learn`."""
    from dagneal.networks.formats import FORMATS, PAGE
    from dagneal.scoring.scores import score_named

    # All that can be refused is refused before the work.
    for path in options.output:
        check_format(path, (*FORMATS, PAGE))
    if options.samples:
        check_writable(options.samples)
    check_different([*options.output, *(path for path in (options.samples, options.journal) if path)])
    confident.check_options(options)
    if options.seed is not None:
        whole_number("--seed", options.seed)
    deadline = None if options.time_limit is None else perf_counter() + options.time_limit
    score = score_named(options.score)
    solver, parameters = solvers.solver(options)
    options.direct = options.direct or (options.divide is None and solves_directly(solver))
    if options.samples and (not _sampled(options) or options.rule != "conquer"):
        raise InputError("--samples: only a sampler that solves the whole has reads to save, such as --solver sa")
    parameters |= _division(options, _sampled(options))
    with journals.opened(options) as journal, _cluster(options.dask) as executor:
        _learn(options, solver, parameters, score, deadline, journal, executor)


def _learn(
    options: argparse.Namespace,
    solver: Any,
    parameters: dict[str, Any],
    score: Any,
    deadline: float | None,
    journal: Any,
    executor: Any,
) -> None:
    """Learn, see how sure it is, save and show; once there is a network, no failure can lose it."""
    from dagneal.networks.comparison import compare as compare_graphs
    from dagneal.scoring.scorer import Scorer

    with _closing(solver):
        found, data, truth, known = _learned(options, solver, parameters, score, journal, executor)
    against = None
    if truth is not None:
        with secondary(f"the comparison with {options.truth}"):
            against = compare_graphs(found.dag, truth, Scorer(data, score))
    plain = options.sampler is None and options.solver in LEARNERS and options.divide is None
    learner = solver if plain else None
    if confident.takes_long(options):
        _save(found, options, truth)
    report, lines, interrupted = confident.confidence(
        found, options, score, learner, known, deadline, plain, journal, executor
    )
    found = replace(found, confidence=report or None)
    saved = _save(found, options, truth)
    show.learned(found, data, against, options, lines)
    for path in saved:
        show.saved(path, options)
    if interrupted or (found.division is not None and found.division.interrupted):
        raise KeyboardInterrupt  # what is known has been saved and shown


def _save(found: Any, options: argparse.Namespace, truth: Any) -> list[str]:
    """Save all that was asked for, and return the files that were written; a file that cannot be written is reported."""
    from dagneal.networks.formats import PAGE
    from dagneal.qubo.decode import write_samples
    from dagneal.report.page import write_page

    saved = []
    if options.samples and found.annealed is not None:
        with secondary(f"saving {options.samples}"):
            write_samples(found.annealed.sampleset, options.samples)
            saved.append(options.samples)
    for path in options.output:
        with secondary(f"saving {path}"):
            if path.lower().endswith(PAGE):
                name = "standard input" if options.data == "-" else Path(options.data).name
                write_page(found, path, truth, name, shlex.join(["dagneal", *options.words]))
            else:
                found.save(path, options.safe_labels)
            saved.append(path)
    return saved


def _learned(
    options: argparse.Namespace, solver: Any, parameters: dict[str, Any], score: Any, journal: Any, executor: Any
) -> tuple[Any, Any, Any, Any]:
    """Read the data and learn from them; the truth to compare with is read before the work."""
    from dagneal.learning import learn
    from dagneal.networks.formats import check_letters

    sampled = _sampled(options)
    data = reading.data(options)
    for path in options.output:
        if path.lower().endswith(".bif") and not options.safe_labels:
            check_names([*data.names, *(state for states in data.states for state in states)])
        check_letters(data.names, path)
    truth = reading.graph(options.truth) if options.truth else None
    if truth is not None:
        check_variables(truth, data.names, options.truth)
    known = knowledge(options, data.names)
    start = reading.graph(options.start) if options.start else None
    if start is not None:
        check_variables(start, data.names, options.start)
    if journal is not None:
        journals.claim(journal, options, _HARMLESS, {"the fingerprint of the data": data.fingerprint})
    in_parts = options.divide is not None or (sampled and not options.direct) or options.solver in ("qpu", "qpu-emulated")
    with show.progress(options.quiet) as progress:
        if not sampled and solver is not None and options.divide is None:
            solver = partial(solver, progress=progress)
        more: dict[str, Any] = {
            "journal": journal if in_parts else None,
            "progress": progress,
            "knowledge": known,
        } | parameters
        more |= {"start": start, "time_limit": options.time_limit, "executor": executor}
        return learn(data, options.max_parents, score, solver, options.seed, **more), data, truth, known


def _sampled(options: argparse.Namespace) -> bool:
    """Whether a sampler is named."""
    return options.sampler is not None or options.solver in (*SAMPLERS, *QUANTUM)


def _division(options: argparse.Namespace, sampled: bool) -> dict[str, Any]:
    """How the problem should be divided, if at all."""
    from dagneal.divide.division import RULES

    if options.rule not in RULES:
        raise InputError(f"there is no rule {options.rule!r}; give one of {', '.join(RULES)}")
    from dagneal.qubo.encode import encoding_named

    encoding = {"encoding": encoding_named(options.encoding)}
    if not sampled and (options.direct or options.encoding != "tight"):
        raise InputError("--direct and --encoding are for samplers; name one, such as --solver sa")
    if options.direct and options.divide is not None:
        raise InputError("--direct solves the whole at once, --divide in blocks; give one of them")
    if options.divide is None and (options.direct or not sampled):
        kept = options.journal and options.bootstrap is None and options.solver not in ("qpu", "qpu-emulated")
        if options.blocks != "all" or options.rule != "conquer" or options.acyclic or kept:
            what = "leave --direct out" if options.direct else "give their size with --divide K"
            more = " (--journal also for --bootstrap)" if kept else ""
            raise InputError(f"--blocks, --rule, --acyclic and --journal are for blocks{more}; {what}")
        return encoding | {"direct": True} if sampled else {}
    found = {"divide": options.divide, "blocks": options.blocks, "rule": options.rule, "acyclic": options.acyclic}
    return found | encoding if sampled else found


@contextmanager
def _closing(solver: Any) -> Iterator[None]:
    """Let go of a connection when the work is done, and say what was noticed."""
    try:
        yield
    finally:
        for text in getattr(solver, "notes", ()):
            show.note(text)
        if hasattr(solver, "close"):
            solver.close()


def _cluster(address: str | None) -> Any:
    """An executor on a cluster, if there is one."""
    if address is None:
        return nullcontext()
    from dagneal.runtime.clusters import dask

    return dask(address)
