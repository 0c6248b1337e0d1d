"""`dagneal learn`: learn the structure of a Bayesian network from data or from scores."""

from __future__ import annotations

import argparse
from contextlib import ExitStack
from dataclasses import replace
from math import inf
from typing import TYPE_CHECKING, Any

from dagneal.base.defaults import BAYES_FACTOR, NETWORK_PARENTS, PAPER_PARENTS, STRUCTURE_PRIORS
from dagneal.base.errors import InputError, warn_on_failure
from dagneal.base.files import check_writable
from dagneal.cli import show
from dagneal.cli.confidence_options import Measures, add_near_misses, check_outputs, measure, save_outputs
from dagneal.cli.inputs import add_data, add_reading_options, add_safe_labels, has_scores, read_data, read_graph, read_table
from dagneal.cli.journal_options import add_cluster_option, add_journal_option, claim, open_run, show_progress
from dagneal.cli.knowledge_options import add_knowledge_options, read_knowledge_options
from dagneal.cli.parsing import Parser
from dagneal.cli.solver_options import SOLVERS_HELP, add_solver_options, open_solver
from dagneal.cli.translation import translate

if TYPE_CHECKING:
    from dagneal.data.dataset import Dataset
    from dagneal.proofs.alternatives import NearOptimal
    from dagneal.result import Learned
    from dagneal.runtime.run import Run
    from dagneal.scoring.table import ScoreTable

SUMMARY = "learn the structure of a Bayesian network from data"
USAGE = "DATA [options]"
EXAMPLES = f"""\
{SOLVERS_HELP}
examples:
  dagneal learn alarm.csv --solver sa --set repair=false --divide 4 --rule penalty --truth alarm-15
"""
# Options of this command that do not affect the content of a journal.
_IGNORED = (
    *("data", "dask", "output", "samples", "truth", "safe_labels", "bootstrap", "within", "time_limit"),
    *("prove", "no_prove", "near_misses", "posteriors"),
)


def add_options(command: Parser) -> None:
    """Add the arguments and options of the command.

    Args:
        command: parser of the command.
    """
    limit = f"parent limit (default {NETWORK_PARENTS}, auto: more if useful; {PAPER_PARENTS} with --set direct=true)"
    add_data(command, limit, nargs="?")  # optional, because the file of --config may name the data
    command.add_argument(
        "--config", metavar="FILE", help="read options from a TOML file, under Python names such as max_parents"
    )
    add_reading_options(command)
    add_knowledge_options(command)
    add_solver_options(command)
    group = command.add_argument_group("run and results")
    add_journal_option(group)
    add_cluster_option(group, "Dask cluster: scheduler address, or local:4 for 4 workers on this machine")
    group.add_argument(
        "--bootstrap", type=int, metavar="N", help="learn from N bootstrap samples and report edge frequencies"
    )
    group.add_argument("--posteriors", action="store_true", help="compute posterior probabilities of edges")
    within = f"list all networks within a Bayes factor of the best, such as {BAYES_FACTOR:g}"
    group.add_argument("--within", type=float, metavar="FACTOR", help=within)
    output = "save the result: .html, .json, .bif, .graphml, .dot or .proof (repeatable)"
    group.add_argument("-o", "--output", action="append", default=[], metavar="FILE", help=output)
    add_safe_labels(group)
    add_near_misses(group)
    group.add_argument("--samples", metavar="FILE", help="save the sampler's reads of the global problem as JSON")
    group.add_argument("--truth", metavar="NETWORK", help="compare the result with the true network (file or bundled name)")


def run(options: argparse.Namespace) -> None:
    """Learn a network, measure the confidence in it, then save and print the result.

    If a step after the search fails, the learned network is still saved and printed.

    Args:
        options: parsed options of the command.
    """
    from dagneal.learning import check_journal, check_seed, learn, uses_journal

    _check(options)
    with ExitStack() as connection:
        solver = connection.enter_context(open_solver(options))
        if options.seed is not None:
            check_seed(solver)
        if options.journal is not None and options.bootstrap is None:
            check_journal(solver)  # before the journal file is created
        _check_samples(options, solver)
        with open_run(options) as context:
            data, truth, more = _read(options)
            _compile(len(data.names), options)
            claim(context.journal, options, _IGNORED, {"the fingerprint of the data": data.fingerprint})
            with show_progress(context, options) as search:
                stores = options.bootstrap is None or uses_journal(solver)
                learned = learn(data, solver, run=search if stores else replace(search, journal=None), **more)
                if options.bootstrap is not None:
                    _save(learned, options, truth)
                    connection.close()  # bootstrap samples do not use the sampler
                learned, interrupted = _measure(learned, options, solver, search)
                near, interrupted = _near_optimal(learned, options, search, interrupted)
            # Save before the cluster, the journal and the connection are closed: closing may fail.
            paths = _save(learned, options, truth)
            _show(learned, data, truth, solver, near, options)
            for path in paths:
                show.saved_file(path, options)
    if interrupted or _stopped_by_user(learned):
        raise KeyboardInterrupt  # the partial result has been saved and shown


def _stopped_by_user(learned: Learned) -> bool:
    """Return whether Ctrl-C stopped the search, the proof or the work on subproblems."""
    division, stages = learned.division, (learned.search, learned.bound, learned.em)
    stopped = any(stage is not None and stage.stopped == "interrupt" for stage in stages)
    return stopped or (division is not None and division.interrupted)


def _check(options: argparse.Namespace) -> None:
    """Check the options before the work starts."""
    from dagneal.runtime.run import Deadline
    from dagneal.scoring.scores import parse_score

    if options.data is None:
        raise InputError("no data file given; run dagneal learn DATA")
    if options.samples:
        check_writable(options.samples)
    check_outputs(options, options.samples, options.journal)
    Measures(options.bootstrap).check()
    if options.near_misses and options.bootstrap is None:
        raise InputError("--near-misses needs --bootstrap N")
    if options.within is not None:
        from dagneal.proofs.alternatives import check_factor

        check_factor(options.within)
    if options.prove is not None and not 0 < options.prove < inf:
        raise InputError(f"--prove is {options.prove:g}; give a number of seconds above 0, or --no-prove")
    Deadline.after(options.time_limit)
    parse_score(options.score)
    for name in ("bootstrap", "posteriors", "within", "journal") if options.missing == "em" else ():
        if name in options.configuration:
            raise InputError(f"--{name} cannot be used with --missing em, because it needs complete rows; omit it")
    if has_scores(options) and any(path.lower().endswith(".bif") for path in options.output):
        raise InputError(
            f"a .bif file has probabilities, but {options.data} has only scores; give the data, or use -o x.json"
        )


def _check_samples(options: argparse.Namespace, solver: Any) -> None:
    """Raise an error if `--samples` is given but no sampler solves the global problem."""
    from dagneal.strategies.anneal import Anneal, Divide

    sampled = isinstance(solver, Anneal) or (
        isinstance(solver, Divide) and isinstance(solver.solver, Anneal) and solver.combine == "conquer"
    )
    if options.samples and not sampled:
        raise InputError("--samples needs a sampler for the global problem, such as --solver sa")


def _read(options: argparse.Namespace) -> tuple[Dataset | ScoreTable, Any, dict[str, Any]]:
    """Return three values: data or scores, the true graph, and a dictionary of other arguments of `dagneal.learn`."""
    from dagneal.graphs.dags import check_variables
    from dagneal.networks.formats import check_characters
    from dagneal.scoring.table import ScoreTable

    data = read_table(options) or read_data(options)
    for path in [] if options.safe_labels else options.output:
        check_characters(data.names, path)
    truth, initial = (read_graph(source) if source else None for source in (options.truth, options.initial))
    for graph, source in ((truth, options.truth), (initial, options.initial)):
        if graph is not None:
            check_variables(graph, data.names, source)
    if isinstance(data, ScoreTable):
        return data, truth, {"initial": initial}
    knowledge = read_knowledge_options(options, data.names)
    score = None if data.incomplete and "score" not in options.configuration else options.score
    more = {"score": score, "max_parents": options.max_parents, "knowledge": knowledge, "initial": initial}
    return data, truth, more


def _compile(variables: int, options: argparse.Namespace) -> None:
    """Compile the kernels of the default solver in parallel processes, if this is the first run and there are two cores.

    Up to 22 variables, the kernels for proofs are not needed. They are then compiled in the background. Kernels that are
    still missing afterwards are compiled when they are needed.
    """
    from dagneal.base.kernels import cache_folder
    from dagneal.base.machine import cores
    from dagneal.cli.compilation import LEARNING, PROVING, compile_later, compile_parts, is_compiled, wait_for_part
    from dagneal.solvers.policy import EXACT_VARIABLES

    folder = cache_folder()
    if folder is None or cores() == 1:
        return
    first = not is_compiled(folder, LEARNING)
    if first and not options.quiet:
        show.note("compiling code for the first run (about 7 s)")
    compile_parts(folder, LEARNING)
    if variables > EXACT_VARIABLES and not options.no_prove:
        for part in PROVING:
            wait_for_part(folder, part)
        compile_parts(folder, PROVING)
    elif first:
        for part in PROVING:
            compile_later(folder, part)


def _measure(learned: Learned, options: argparse.Namespace, solver: Any, run: Run) -> tuple[Learned, bool]:
    """Compute the edge strengths, bootstrap frequencies and posterior probabilities, as far as the options request them.

    Returns:
        A pair: the network with these measures, and True if Ctrl-C interrupted the work (otherwise False).
    """
    from dagneal.strategies.anneal import Anneal, Divide

    same = not isinstance(solver, Anneal | Divide)
    measures = Measures(options.bootstrap, prior=STRUCTURE_PRIORS[0] if options.posteriors else None)
    return measure(learned, measures, solver if same else None, run)


def _near_optimal(
    learned: Learned, options: argparse.Namespace, run: Run, interrupted: bool
) -> tuple[NearOptimal | None, bool]:
    """List the near-optimal networks if `--within` is given.

    Returns:
        A pair: the networks, if any, and True if Ctrl-C interrupted this work or the work before it (otherwise False).
    """
    if options.within is None or interrupted or _stopped_by_user(learned):
        return None, interrupted
    try:
        with warn_on_failure("the search for near-optimal networks"):
            return learned.near_optimal(options.within, run=run), False
    except KeyboardInterrupt:
        return None, True
    return None, False


def _save(learned: Learned, options: argparse.Namespace, truth: Any) -> list[str]:
    """Save the requested files and return the paths of the written files. Warn if a file cannot be written."""
    from dagneal.qubo.decode import write_samples

    written = []
    if options.samples and learned.reads is not None and learned.reads.sampleset is not None:
        with warn_on_failure(f"saving {options.samples}"):
            write_samples(learned.reads.sampleset, options.samples)
            written.append(options.samples)
    return written + save_outputs(learned, options, truth)


def _show(
    learned: Learned,
    data: Dataset | ScoreTable,
    truth: Any,
    solver: Any,
    near: NearOptimal | None,
    options: argparse.Namespace,
) -> None:
    """Print the network, the confidence, the comparison with the truth and the near-optimal networks."""
    from dagneal.report.preparation import preparation_lines
    from dagneal.report.summary import near_optimal_lines, summary_lines
    from dagneal.scoring.table import ScoreTable
    from dagneal.strategies.anneal import Anneal, Divide

    comparison = None
    if truth is not None:
        with warn_on_failure(f"the comparison with {options.truth}"):
            comparison = learned.compare(truth)
    report = learned.to_dict()
    if comparison is not None:
        report["comparison"] = comparison.to_dict()
    content = f"{len(data.scores):,} scores" if isinstance(data, ScoreTable) else data.describe_rows()
    lines = [f"{options.data}: {len(data.names)} variables, {content}", ""]
    if not isinstance(data, ScoreTable) and data.preparation is not None:
        lines += [*map(translate, preparation_lines(data.preparation, options.data)), ""]
    lines += summary_lines(learned, comparison, options.truth or "", translate)
    if options.bootstrap is not None and isinstance(solver, Anneal | Divide):
        lines.append("the bootstrap used the default solver, not the solver of the network above")
    if near is not None:
        report["near_optimal"] = near.to_dict()
        lines += ["", *near_optimal_lines(near, learned.score)]
    show.result(report, "\n".join(lines), options)
