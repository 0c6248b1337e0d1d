"""Measures of confidence: which ones a command computes, and how a result is saved with them."""

from __future__ import annotations

import argparse
import shlex
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from dagneal.base.defaults import WEAK_EDGE
from dagneal.base.errors import InputError, secondary, whole_number
from dagneal.base.files import check_different, check_format
from dagneal.cli.configuration import words_of

if TYPE_CHECKING:
    from dagneal.result import Learned
    from dagneal.runtime.run import Run


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


def measure(learned: Learned, which: Measures, solver: Any, run: Run) -> tuple[Learned, bool]:
    """Return a result with measures of confidence, and whether Ctrl-C ended them; a part that fails is reported.

    Args:
        learned: the network, with its data.
        which: the measures.
        solver: finds the networks of other rows and other priors; None for the default.
        run: its seed, deadline, progress, executor and journal.
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


def check_outputs(options: argparse.Namespace, *others: str | None) -> None:
    """Refuse files of `-o` that could only fail after the work.

    Args:
        options: of the command.
        others: further files that the command writes, if they are named.
    """
    from dagneal.networks.formats import FORMATS, PAGE

    for path in options.output:
        check_format(path, (*FORMATS, PAGE))
    check_different([*options.output, *(path for path in others if path)])


def save_outputs(learned: Learned, options: argparse.Namespace, truth: Any = None) -> list[str]:
    """Save a result to the files of `-o`, and return those that were written; a file that cannot be written is reported.

    Args:
        learned: the result.
        options: of the command.
        truth: a graph that a page compares with.
    """
    saved: list[str] = []
    if not options.output:
        return saved
    title = "standard input" if options.data == "-" else Path(options.data).name
    command = shlex.join(["dagneal", *words_of(options.command, options.configuration)])
    for path in options.output:
        with secondary(f"saving {path}"):
            learned.save(path, options.safe_labels, truth, title, command)
            saved.append(path)
    return saved
