"""`dagneal confidence`: measure how sure a learned network is."""

from __future__ import annotations

import argparse

from dagneal.base.defaults import WEAK_EDGE
from dagneal.base.errors import InputError
from dagneal.cli import show
from dagneal.cli.confidence_options import Measures, check_outputs, measure, save_outputs
from dagneal.cli.inputs import add_reading_options, add_safe_labels, read_data_of
from dagneal.cli.journal_options import add_cluster_option, add_journal_option, claim, open_run, show_progress
from dagneal.cli.parsing import Parser, split_sizes

# Options that make no difference to what a journal stores.
_HARMLESS = ("data", "network", "dask", "output", "safe_labels", "bootstrap", "threshold", "ess", "holdout", "time_limit")

SUMMARY = "measure how sure a learned network is"
USAGE = "RESULT DATA [options]"
EXAMPLES = """\
Other rows and other priors are learned by the default solver. Give the options that the data were read with.

examples:
  dagneal learn patients.csv -o patients.json
  dagneal confidence patients.json patients.csv --bootstrap 200 --holdout 0.2 -o patients.html
  dagneal confidence patients.json patients.csv --ess 0.1,1,10
"""


def add_options(command: Parser) -> None:
    """Add the arguments and options of the command.

    Args:
        command: its parser.
    """
    command.add_argument("network", metavar="RESULT", help="a .json file of `dagneal learn`")
    command.add_argument("data", metavar="DATA", help="the data that it was learned from; - for standard input")
    add_reading_options(command, score=False)  # that of the result is used
    group = command.add_argument_group("measures")
    group.add_argument("--bootstrap", type=int, metavar="N", help="learn from N bootstrap samples, and count edges")
    group.add_argument("--threshold", type=float, metavar="SHARE", help=f"mark edges below this (default {WEAK_EDGE})")
    group.add_argument("--ess", type=split_sizes, metavar="X,...", help="learn with these equivalent sample sizes")
    group.add_argument(
        "--holdout", type=float, metavar="SHARE", help="hold out this share of rows and report their log-likelihood"
    )
    group.add_argument("--seed", type=int, metavar="S", help="same seed, same answer (default 0)")
    group.add_argument("--time-limit", type=float, metavar="S", help="seconds after which no further sample is begun")
    add_journal_option(group)
    add_cluster_option(group, "compute on a Dask cluster: a scheduler, or local:4")
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
    from dagneal.report.summary import confidence_lines
    from dagneal.result import load_result

    which = _check(options)
    learned = load_result(options.network)
    if not learned.is_dag:
        raise InputError(f"{options.network} holds no network, so there is nothing to be sure of; learn one first")
    data = read_data_of(learned.dag, options)
    learned = learned.with_data(data)
    if which.ess and not learned.score_name.startswith("BDeu("):
        raise InputError(
            f"--ess is for the score bdeu, and {options.network} was learned with {learned.score_name}; leave it out"
        )
    with open_run(options) as context:
        claim(context.journal, options, _HARMLESS, {"the fingerprint of the data": data.fingerprint})
        with show_progress(context, options) as search:
            learned, interrupted = measure(learned, which, None, search)
        saved = save_outputs(learned, options)
        report = {} if learned.confidence is None else learned.confidence.to_dict()
        show.result({"score": learned.score, **report}, "\n".join(confidence_lines(learned)), options)
        for path in saved:
            show.saved(path, options)
    if interrupted:
        raise KeyboardInterrupt  # what is known has been saved and shown


def _check(options: argparse.Namespace) -> Measures:
    """Return the measures; refuse what could only fail after the work."""
    from dagneal.runtime.run import Deadline

    if options.threshold is not None and options.bootstrap is None:
        raise InputError("--threshold is for --bootstrap; give the number of samples")
    if options.journal is not None and options.bootstrap is None:
        raise InputError("--journal stores bootstrap samples; give --bootstrap N, or leave it out")
    threshold = WEAK_EDGE if options.threshold is None else options.threshold
    which = Measures(options.bootstrap, threshold, options.ess or (), options.holdout)
    which.check()
    Deadline.after(options.time_limit)
    check_outputs(options, options.journal)
    return which
