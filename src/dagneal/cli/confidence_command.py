"""`dagneal confidence`: measure how sure a learned network is."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from dagneal.base.defaults import WEAK_EDGE
from dagneal.base.errors import InputError, secondary, whole_number
from dagneal.base.files import check_different, check_format
from dagneal.cli import show
from dagneal.cli.inputs import add_reading_options, add_safe_labels, read_data_of
from dagneal.cli.journal_options import add_cluster_option, open_run
from dagneal.cli.parsing import Parser, split_sizes

if TYPE_CHECKING:
    from dagneal.result import Learned
    from dagneal.runtime.run import Run

SUMMARY = "measure how sure a learned network is"
USAGE = "RESULT DATA [options]"
EXAMPLES = """\
Other rows and other priors are learned by the default solver. Give the options that the data were read with.

examples:
  dagneal learn patients.csv -o patients.json
  dagneal confidence patients.json patients.csv --bootstrap 200 --holdout 0.2 -o patients.html
  dagneal confidence patients.json patients.csv --ess 0.1,1,10
"""


@dataclass(frozen=True)
class Measures:
    """Which measures of confidence to compute, besides the strengths of the edges.

    Args:
        bootstrap: the number of bootstrap samples.
        threshold: the share of samples below which an edge is weak.
        ess: equivalent sample sizes to learn with.
        holdout: the share of rows to hold out.
    """

    bootstrap: int | None = None
    threshold: float = WEAK_EDGE
    ess: Sequence[float] = ()
    holdout: float | None = None

    def check(self) -> None:
        """Refuse what could only fail after the work."""
        from dagneal.scoring.scores import BDeu

        if self.bootstrap is not None:
            whole_number("--bootstrap", self.bootstrap, least=1)
        if not 0 <= self.threshold <= 1:
            raise InputError(f"--threshold is {self.threshold}; give a share from 0 to 1")
        if self.holdout is not None and not 0 < self.holdout < 1:
            raise InputError(f"--holdout is {self.holdout}; give a share between 0 and 1, such as 0.2")
        for size in self.ess:
            BDeu(size)  # refuses what is no size


def add_options(command: Parser) -> None:
    """Add the arguments and options of the command.

    Args:
        command: its parser.
    """
    command.add_argument("network", metavar="RESULT", help="a .json file of `dagneal learn`")
    command.add_argument("data", metavar="DATA", help="the data that it was learned from; - for standard input")
    add_reading_options(command)
    group = command.add_argument_group("measures")
    group.add_argument("--bootstrap", type=int, metavar="N", help="learn from N bootstrap samples, and count edges")
    group.add_argument("--threshold", type=float, metavar="SHARE", help=f"mark edges below this (default {WEAK_EDGE})")
    group.add_argument("--ess", type=split_sizes, metavar="X,...", help="learn with these equivalent sample sizes")
    group.add_argument(
        "--holdout", type=float, metavar="SHARE", help="hold out this share of rows and report their log-likelihood"
    )
    group.add_argument("--seed", type=int, metavar="S", help="same seed, same answer (default 0)")
    group.add_argument("--time-limit", type=float, metavar="S", help="seconds after which no further sample is begun")
    add_cluster_option(group, "learn from samples on a Dask cluster: a scheduler, or local:4")
    group = command.add_argument_group("results")
    group.add_argument(
        "-o", "--output", action="append", default=[], metavar="FILE", help="save: .html or .json (may be repeated)"
    )
    add_safe_labels(group)


def run(options: argparse.Namespace) -> None:
    """Measure how sure a result is, save it with the measures, and print them.

    Args:
        options: of the command.
    """
    from dagneal.networks.formats import FORMATS, PAGE
    from dagneal.result import load_result
    from dagneal.runtime.run import Deadline
    from dagneal.scoring.scores import as_score

    if options.threshold is not None and options.bootstrap is None:
        raise InputError("--threshold is for --bootstrap; give the number of samples")
    threshold = WEAK_EDGE if options.threshold is None else options.threshold
    which = Measures(options.bootstrap, threshold, options.ess or (), options.holdout)
    which.check()
    Deadline.after(options.time_limit)
    for path in options.output:
        check_format(path, (*FORMATS, PAGE))
    check_different(options.output)
    learned = load_result(options.network)
    if not learned.is_dag:
        raise InputError(f"{options.network} holds no network, so there is nothing to be sure of; learn one first")
    data = read_data_of(learned.dag, options)
    score = learned.criterion or as_score(options.score)
    if which.ess and not score.name.startswith("BDeu("):
        raise InputError(f"--ess is for the score bdeu, and {options.network} was learned with {score.name}; leave it out")
    learned = replace(learned, data=data, criterion=score, confidence=None)
    options.journal = None
    with open_run(options) as context:
        context = replace(context, deadline=Deadline.after(options.time_limit))
        learned, interrupted = measure(learned, which, None, context, options.quiet)
    saved = [path for path in options.output if save(learned, path, options)]
    from dagneal.report.summary import confidence_lines

    report = {} if learned.confidence is None else learned.confidence.to_dict()
    show.result({"score": learned.score, **report}, "\n".join(confidence_lines(learned)), options)
    for path in saved:
        show.saved(path, options)
    if interrupted:
        raise KeyboardInterrupt  # what is known has been saved and shown


def save(learned: Learned, path: str, options: argparse.Namespace, **more: Any) -> bool:
    """Save a result, and return whether that worked; a file that cannot be written is reported.

    Args:
        learned: the result.
        path: the file.
        options: of the command.
        **more: further arguments of `Learned.save`.
    """
    with secondary(f"saving {path}"):
        learned.save(path, options.safe_labels, **more)
        return True
    return False


def measure(learned: Learned, which: Measures, solver: Any, run: Run, quiet: bool = False) -> tuple[Learned, bool]:
    """Return a result with measures of confidence, and whether Ctrl-C ended them; a part that fails is reported.

    Args:
        learned: the network, with its data.
        which: the measures.
        solver: finds the networks of other rows and other priors; None for the default.
        run: its seed, deadline, progress, executor and journal.
        quiet: write no notes.
    """
    from dagneal.confidence.finding import Confidence
    from dagneal.confidence.measures import holdout, sensitivity

    if not learned.is_dag or learned.data is None:  # there is nothing to be sure of
        return learned, False
    data, limit, known = learned.data, learned.search_limit, learned.knowledge
    measures: dict[str, Any] = {"threshold": which.threshold}
    interrupted = False
    try:
        with secondary("measuring the edges"):
            measures["strengths"] = learned.strengths()
        if which.bootstrap is not None:
            with secondary("the bootstrap"):
                measures["bootstrap"] = sampled = learned.bootstrap(which.bootstrap, solver, run)
                interrupted = sampled.interrupted
                if sampled.samples < which.bootstrap and not quiet:
                    why = "Ctrl-C" if interrupted else "the time limit"
                    show.note(f"{why} left {sampled.samples:,} of {which.bootstrap:,} bootstrap samples")
        if which.ess and not interrupted:
            with secondary("learning with other priors"):
                others = sensitivity(data, which.ess, solver, limit, known, run)
                measures["sensitivity"] = {size: found.edges for size, found in others.items()}
        if which.holdout is not None and not interrupted:
            with secondary("the hold-out"):
                measures["holdout"] = holdout(data, which.holdout, solver, learned.criterion, limit, known, run)
    except KeyboardInterrupt:
        interrupted = True
    return learned.with_confidence(Confidence(**measures)), interrupted
