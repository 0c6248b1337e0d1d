"""What the command line tells of how sure a network is."""

from __future__ import annotations

import argparse
from time import perf_counter
from typing import Any

from dagneal.base.errors import InputError, secondary, whole_number
from dagneal.base.text import columns, padded
from dagneal.cli import show
from dagneal.result import Learned


def check_options(options: argparse.Namespace) -> None:
    """Refuse what could only fail after the work."""
    if options.bootstrap is not None:
        whole_number("--bootstrap", options.bootstrap, least=1)
    if options.threshold is not None and options.bootstrap is None:
        raise InputError("--threshold is for --bootstrap; give how many resamples")
    from dagneal.confidence.measures import THRESHOLD

    options.threshold = THRESHOLD if options.threshold is None else options.threshold
    if not 0 <= options.threshold <= 1:
        raise InputError(f"--threshold is {options.threshold}; give a share from 0 to 1")
    if options.holdout is not None and not 0 < options.holdout < 1:
        raise InputError(f"--holdout is {options.holdout}; give a share between 0 and 1, such as 0.2")
    if options.ess is not None and options.score.split(":")[0] != "bdeu":
        raise InputError("--ess is for the score bdeu; leave --score out")
    if options.ess is not None:
        from dagneal.scoring.scores import BDeu

        for size in options.ess:
            BDeu(size)  # refuses what is no size


def takes_long(options: argparse.Namespace) -> bool:
    """Whether more networks will be learned, to see how sure the first one is.

    Args:
        options: of the command.
    """
    return any(value is not None for value in (options.bootstrap, options.ess, options.holdout))


def confidence(
    found: Learned,
    options: argparse.Namespace,
    score: Any,
    learner: Any,
    knowledge: Any,
    deadline: float | None,
    same: bool,
    journal: Any = None,
    executor: Any = None,
) -> tuple[dict[str, Any], list[str], bool]:
    """How sure the network is, as plain values and as lines; and whether Ctrl-C ended it. A part that fails is reported.

    Args:
        found: the network.
        options: of the command.
        score: that was used.
        learner: what other rows and other priors are learned with; nothing for the default.
        knowledge: that was given.
        deadline: after which no further resample is begun.
        same: whether the network was learned in the same way.
        journal: keeps resamples that are done.
        executor: where resamples are learned.
    """
    from dagneal.confidence.bootstrap import bootstrap
    from dagneal.confidence.measures import holdout, sensitivity, strengths

    if found.score != found.score or found.data is None:  # no network, so there is nothing to be sure of
        return {}, [], False
    data, seed = found.data, options.seed or 0
    limit = 2 if options.max_parents is None and options.direct else options.max_parents
    how = {"max_parents": limit, "knowledge": knowledge, "solver": learner}

    def left() -> dict[str, Any]:
        """How much time the next one has; a little, where none is left, since it was asked for."""
        return how if deadline is None else how | {"time_limit": max(deadline - perf_counter(), 1e-3)}

    report: dict[str, Any] = {}
    table: list[str] = []
    more: list[str] = []
    interrupted = False
    try:
        with secondary("measuring the edges"):
            report["strengths"] = [vars(each) for each in strengths(found, score)]
            table = _edges(report["strengths"], None, options.threshold)
        if options.bootstrap is not None:
            with secondary("the bootstrap"), show.progress(options.quiet) as progress:
                others = {
                    "progress": progress,
                    "deadline": deadline,
                    "score": score,
                    "journal": journal,
                    "executor": executor,
                } | how
                resampled = bootstrap(data, options.bootstrap, seed, **others)
                report |= {"bootstrap": resampled.to_dict(), "threshold": options.threshold}
                table = _edges(report.get("strengths", []), resampled, options.threshold)
                if resampled.samples < options.bootstrap:
                    why = "Ctrl-C" if resampled.interrupted else "the time limit"
                    table.append(f"  {why} left {resampled.samples:,} of {options.bootstrap:,} resamples")
                interrupted = resampled.interrupted
        if options.ess is not None and not interrupted:
            with secondary("learning with other priors"):
                priors = sensitivity(data, options.ess, seed=seed, **left())
                report["sensitivity"] = {f"{size:g}": [list(edge) for edge in each.edges] for size, each in priors.items()}
                more += ["", *_sensitivity(priors, knowledge)]
        if options.holdout is not None and not interrupted:
            with secondary("the hold-out"):
                held = holdout(data, options.holdout, seed, score, **left())
                report["holdout"] = held.to_dict()
                more += [
                    "",
                    f"{held.rows:,} rows held out: log-likelihood {held.log_likelihood:.4f} a row, "
                    f"{held.without_edges:.4f} without edges",
                ]
    except KeyboardInterrupt:
        interrupted = True
    if not same and set(report) - {"strengths"}:
        more += ["", "other rows and other priors were learned by the default solver, not as the network above"]
    return report, table + more, interrupted


def _edges(strengths: list[dict[str, Any]], resampled: Any, threshold: float) -> list[str]:
    """A table of edges with what the score loses without them, or with them turned round."""
    if not strengths:
        return []
    names = [f"{show.plain(each['parent'])} -> {show.plain(each['child'])}" for each in strengths]
    width = max(4, *map(columns, names))
    head = f"  {'edge':{width}} {'loses':>10} {'turned':>10}  direction"
    lines = [head + ("" if resampled is None else f"  {'resamples':>9} {'this way':>9}")]
    for name, each in zip(names, strengths, strict=True):
        turned = "a cycle" if each["turned"] is None else f"{each['turned']:.2f}"
        line = f"  {padded(name, width)} {each['loss']:10.2f} {turned:>10}  {'decided' if each['decided'] else 'open':9}"
        if resampled is not None:
            share, this_way = resampled.of(each["parent"], each["child"])
            line += f"  {share:9.2f} {this_way:9.2f}" + ("  weak" if share < threshold else "")
        lines.append(line.rstrip())
    return lines


def _sensitivity(others: dict[float, Learned], knowledge: Any) -> list[str]:
    """Which edges are there with which equivalent sample size, and which way."""
    from dagneal.confidence.measures import side_by_side

    rows = side_by_side([each.dag for each in others.values()], knowledge)
    names = [f"{show.plain(one)} - {show.plain(other)}" for one, other in rows]
    width = max([len("equivalent sample size"), *map(columns, names)])
    lines = [f"  {'equivalent sample size':{width}} " + " ".join(f"{size:>7g}" for size in others)]
    for name, ways in zip(names, rows.values(), strict=True):
        lines.append(f"  {padded(name, width)} " + " ".join(f"{way:>7}" for way in ways))
    return lines
