"""Functions that check, compute and save measures of confidence for the command line."""

from __future__ import annotations

import argparse
import shlex
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from dagneal.base.defaults import WEAK_EDGE
from dagneal.base.errors import InputError, warn_on_failure, whole_number
from dagneal.base.files import check_distinct_paths, check_format
from dagneal.cli.configuration import to_arguments

if TYPE_CHECKING:
    from dagneal.confidence.bootstrap import Method
    from dagneal.result import Learned
    from dagneal.runtime.run import Run


@dataclass(frozen=True)
class Measures:
    """The measures of confidence to compute, in addition to the edge strengths.

    Args:
        bootstrap: number of bootstrap samples; None to skip the bootstrap.
        threshold: bootstrap frequency below which an edge is weak.
        ess: equivalent sample sizes of the BDeu score; a network is learned with each of them.
        holdout: fraction of rows to hold out; None to skip the hold-out.
        method: how bootstrap samples are drawn; see `dagneal.bootstrap`.
        prior: prior of posterior probabilities; None to skip these.
    """

    bootstrap: int | None = None
    threshold: float = WEAK_EDGE
    ess: Sequence[float] = ()
    holdout: float | None = None
    method: Method = "subsample"
    prior: str | None = None

    def check(self) -> None:
        """Raise an error if a value is invalid. Commands call this before the work starts."""
        from dagneal.scoring.scores import BDeu

        if self.bootstrap is not None:
            whole_number("--bootstrap", self.bootstrap, least=1)
        if not 0 <= self.threshold <= 1:
            raise InputError(f"--threshold is {self.threshold}; give a fraction from 0 to 1")
        if self.holdout is not None and not 0 < self.holdout < 1:
            raise InputError(f"--holdout is {self.holdout}; give a fraction between 0 and 1, such as 0.2")
        for size in self.ess:
            BDeu(size)  # raises an error for an invalid size


def measure(learned: Learned, measures: Measures, solver: Any, run: Run) -> tuple[Learned, bool]:
    """Compute measures of confidence. If one measure fails, warn and continue with the next.

    Args:
        learned: learned network with its data.
        measures: measures to compute.
        solver: solver that learns the additional networks; None for the default solver.
        run: `Run` object with the seed, deadline, progress, executor and journal.

    Returns:
        A pair: the network with the measures, and True if Ctrl-C interrupted the work (otherwise False).
    """
    from dagneal.confidence.annotated import Confidence
    from dagneal.confidence.measures import holdout, sensitivity

    if not learned.is_dag or learned.data is None:
        return learned, False
    data, limit, knowledge = learned.data, learned.search_limit, learned.knowledge
    values: dict[str, Any] = {"threshold": measures.threshold}
    interrupted = False
    try:
        with warn_on_failure("measuring the edges"):
            values["strengths"] = learned.strengths()
        if measures.bootstrap is not None:
            with warn_on_failure("the bootstrap"):
                values["bootstrap"] = bootstrap = learned.bootstrap(measures.bootstrap, solver, run, measures.method)
                interrupted = bootstrap.interrupted
        if measures.prior is not None and not interrupted:
            with warn_on_failure("computing posterior probabilities"):
                values["posteriors"] = learned.posteriors(measures.prior, run)
        if measures.ess and not interrupted:
            with warn_on_failure("learning with other priors"):
                solutions = sensitivity(data, measures.ess, solver, limit, knowledge, run)
                values["sensitivity"] = {size: solution.edges for size, solution in solutions.items()}
        if measures.holdout is not None and not interrupted:
            with warn_on_failure("the hold-out"):
                values["holdout"] = holdout(data, measures.holdout, solver, learned.criterion, limit, knowledge, run)
    except KeyboardInterrupt:
        interrupted = True
    return learned.with_confidence(Confidence(**values)), interrupted


def add_near_misses(group: Any) -> None:
    """Add the option `--near-misses`.

    Args:
        group: group of options for results.
    """
    help_ = "also draw edges that are frequent in the bootstrap only"
    group.add_argument("--near-misses", action="store_true", help=help_)


def check_outputs(options: argparse.Namespace, *others: str | None) -> None:
    """Check that the output files have known formats and existing folders, and that no file is given twice.

    Args:
        options: parsed options of the command.
        others: paths of other files that the command writes; None for a file that is not requested.
    """
    from dagneal.networks.formats import FORMATS, PAGE
    from dagneal.result import PROOF

    for path in options.output:
        check_format(path, (*FORMATS, PAGE, PROOF))
    check_distinct_paths([*options.output, *(path for path in others if path)])


def save_outputs(learned: Learned, options: argparse.Namespace, truth: Any = None) -> list[str]:
    """Save a learned network to the files of `-o`. Return the paths of the written files; warn if a file cannot be written.

    Args:
        learned: learned network.
        options: parsed options of the command.
        truth: true graph for a comparison on the HTML page; None for no comparison.
    """
    written: list[str] = []
    if not options.output:
        return written
    title = "standard input" if options.data == "-" else Path(options.data).name
    command = shlex.join(["dagneal", *to_arguments(options.command, options.configuration)])
    for path in options.output:
        with warn_on_failure(f"saving {path}"):
            learned.save(path, options.safe_labels or None, truth, title, command, options.near_misses)
            written.append(path)
    return written
