"""`dagneal confidence`: measure the confidence in a learned network."""

from __future__ import annotations

import argparse

from dagneal.base.defaults import STRUCTURE_PRIORS, WEAK_EDGE
from dagneal.base.errors import InputError
from dagneal.cli import show
from dagneal.cli.confidence_options import Measures, add_near_misses, check_outputs, measure, save_outputs
from dagneal.cli.inputs import add_reading_options, add_safe_labels, read_data_of
from dagneal.cli.journal_options import add_cluster_option, add_journal_option, claim, open_run, show_progress
from dagneal.cli.parsing import Parser, split_sizes
from dagneal.cli.translation import translate

# Options that do not affect the content of a journal.
_IGNORED = (
    "data",
    "network",
    "dask",
    "output",
    "safe_labels",
    "bootstrap",
    "threshold",
    "ess",
    "holdout",
    "time_limit",
    "near_misses",
    "posteriors",
    "prior",
)

SUMMARY = "measure the confidence in a learned network"
USAGE = "RESULT DATA [options]"
EXAMPLES = """\
Give the same data options as for `dagneal learn`. Additional networks are learned with the default solver.

examples:
  dagneal learn patients.csv -o patients.json
  dagneal confidence patients.json patients.csv --bootstrap 200 --holdout 0.2 -o patients.html
  dagneal confidence patients.json patients.csv --ess 0.1,1,10
"""


def add_options(command: Parser) -> None:
    """Add the arguments and options of the command.

    Args:
        command: parser of the command.
    """
    command.add_argument("network", metavar="RESULT", help=".json file that `dagneal learn` saved")
    command.add_argument("data", metavar="DATA", help="data file that the network was learned from; - for standard input")
    add_reading_options(command, score=False)  # the result names its score
    group = command.add_argument_group("measures")
    group.add_argument(
        "--bootstrap", type=int, metavar="N", help="learn from N bootstrap samples and report edge frequencies"
    )
    group.add_argument(
        "--bootstrap-method",
        choices=["subsample", "rows"],
        default="subsample",
        help="draw 80%% of the rows (default), or as many rows as there are, with replacement, which finds too many edges",
    )
    group.add_argument(
        "--threshold", type=float, metavar="P", help=f"bootstrap frequency below which an edge is weak (default {WEAK_EDGE})"
    )
    group.add_argument("--posteriors", action="store_true", help="compute posterior probabilities of edges")
    group.add_argument("--prior", choices=STRUCTURE_PRIORS, help=f"prior over networks (default {STRUCTURE_PRIORS[0]})")
    group.add_argument(
        "--ess", type=split_sizes, metavar="X,...", help="also learn with these equivalent sample sizes of the BDeu score"
    )
    group.add_argument(
        "--holdout", type=float, metavar="P", help="hold out a fraction P of the rows and report their log-likelihood"
    )
    group.add_argument("--seed", type=int, metavar="S", help="random seed (default 0)")
    group.add_argument(
        "--time-limit",
        type=float,
        metavar="S",
        help="after S seconds, start no new bootstrap sample and stop searches early",
    )
    add_journal_option(group)
    add_cluster_option(group, "Dask cluster: scheduler address, or local:4 for 4 workers on this machine")
    group = command.add_argument_group("results")
    group.add_argument(
        "-o",
        "--output",
        action="append",
        default=[],
        metavar="FILE",
        help="save the result: .html or .json (may be repeated)",
    )
    add_safe_labels(group)
    add_near_misses(group)


def run(options: argparse.Namespace) -> None:
    """Measure the confidence in a learned network, save the network with the measures, and print the measures.

    Args:
        options: parsed options of the command.
    """
    from dagneal.report.summary import confidence_lines, overview_lines
    from dagneal.result import load_result

    measures = _check(options)
    learned = load_result(options.network)
    if not learned.is_dag:
        raise InputError(f"{options.network} contains no valid network; learn one first")
    data = read_data_of(learned.dag, options)
    learned = learned.with_data(data)
    if measures.ess and not learned.score_name.startswith("BDeu("):
        raise InputError(
            f"--ess needs the score bdeu, but {options.network} was learned with {learned.score_name}; omit --ess"
        )
    with open_run(options) as context:
        claim(context.journal, options, _IGNORED, {"the fingerprint of the data": data.fingerprint})
        with show_progress(context, options) as search:
            learned, interrupted = measure(learned, measures, None, search)
        paths = save_outputs(learned, options)
        report = {} if learned.confidence is None else learned.confidence.to_dict()
        whole = learned.to_dict()
        report |= {name: whole[name] for name in ("directions", "warnings", "near_misses") if name in whole}
        lines = [*overview_lines(learned, translate), "", *confidence_lines(learned)]
        show.result({"score": learned.score, **report}, "\n".join(lines), options)
        for path in paths:
            show.saved_file(path, options)
    if interrupted:
        raise KeyboardInterrupt  # the partial result has been saved and shown


def _check(options: argparse.Namespace) -> Measures:
    """Check the options before the work starts, and return the measures to compute."""
    from dagneal.runtime.run import Deadline

    if options.threshold is not None and options.bootstrap is None:
        raise InputError("--threshold needs --bootstrap N")
    if options.journal is not None and options.bootstrap is None:
        raise InputError("--journal stores bootstrap samples, so it needs --bootstrap N")
    if options.prior is not None and not options.posteriors:
        raise InputError("--prior needs --posteriors")
    threshold = WEAK_EDGE if options.threshold is None else options.threshold
    prior = options.prior or STRUCTURE_PRIORS[0] if options.posteriors else None
    measures = Measures(options.bootstrap, threshold, options.ess or (), options.holdout, options.bootstrap_method, prior)
    measures.check()
    Deadline.after(options.time_limit)
    check_outputs(options, options.journal)
    return measures
