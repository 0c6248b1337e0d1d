"""`dagneal plan`: work out what a quantum annealer would need."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from dagneal.base.defaults import ANNEALING_TIME, NETWORK_PARENTS, PAPER_PARENTS, READS, SUBPROBLEM_READS, SYSTEM
from dagneal.base.errors import InputError
from dagneal.base.files import check_format
from dagneal.cli import show
from dagneal.cli.parsing import Once, Parser, split_names, split_numbers

if TYPE_CHECKING:
    from dagneal.qpu.plan import Plan, WholePlan

SUMMARY = "work out what a quantum annealer would need, before anything is paid for"
USAGE = "[DATA] [options]"
EXAMPLES = """\
examples:
  dagneal plan --variables 15 --divide 3,4,5 --topology pegasus,zephyr
  dagneal plan patients.csv --divide 4 --subproblems cover:2 --reads 100 -o plan.svg
"""


def add_options(command: Parser) -> None:
    """Add the arguments and options of the command.

    Args:
        command: its parser.
    """
    command.add_argument("data", nargs="?", metavar="DATA", help="a data file: the global problem is planned too")
    command.add_argument("--variables", type=int, metavar="N", help="the number of variables")
    sizes = "sizes of subproblems (default: all variables at once)"
    command.add_argument("--divide", type=split_numbers, metavar="K,...", help=sizes)
    command.add_argument("--subproblems", default="all", metavar="SCHEME", help="which subproblems (default all)")
    rules = ("conquer", "penalty", "count")
    rule = "combine them by conquer (default), penalty or count"
    command.add_argument("--rule", choices=rules, default="conquer", metavar="RULE", help=rule)
    topology = "chips: pegasus, zephyr, chimera, or names of systems"
    command.add_argument("--topology", type=split_names, default=[SYSTEM], metavar="NAME,...", help=topology)
    command.add_argument("--encoding", default="tight", metavar="WORDS", help="tight (default), gap or paper")
    parents = f"most parents (default {PAPER_PARENTS} in a subproblem, {NETWORK_PARENTS} in the global problem)"
    command.add_argument("--max-parents", type=int, metavar="M", help=parents)
    reads = f"reads (default {SUBPROBLEM_READS} of a subproblem, {READS} of the global problem)"
    command.add_argument("--reads", type=int, metavar="N", help=reads)
    time = f"microseconds of a read (default {ANNEALING_TIME:g})"
    command.add_argument("--annealing-time", type=float, default=ANNEALING_TIME, metavar="US", help=time)
    command.add_argument("-o", "--output", action=Once, metavar="FILE", help="draw the copies on the chip: .png or .svg")


def run(options: argparse.Namespace) -> None:
    """Plan the calls of a division, and print them.

    Args:
        options: of the command.
    """
    from dagneal.qpu.chips import check_installed, system_named

    check_installed()
    from dagneal.qpu import picture
    from dagneal.qpu.plan import PlanSettings, plan
    from dagneal.qubo.encode import encoding_named

    _check(options, picture.FORMATS)
    for name in options.topology:
        system_named(name)  # refuses unknown chips before the work
    settings = PlanSettings(
        encoding=encoding_named(options.encoding), reads=options.reads, annealing_time=options.annealing_time
    )
    scorer = _scorer(options)
    variables = options.variables if scorer is None else len(scorer.data.names)
    subproblems, source = _subproblem_settings(options, settings, scorer)
    plans, wholes, notes = list[Any](), list[Any](), list[str]()
    copies: list[Any] = []
    for name in options.topology:
        for size in options.divide or [variables]:
            planned, copies = plan(
                variables, size, replace(subproblems, system=name), options.subproblems, source=source, notes=notes
            )
            plans.append(planned)
        if scorer is not None and options.divide and variables > 2 and options.rule == "conquer":
            wholes.append(_plan_global(scorer, replace(settings, system=name, max_parents=options.max_parents), notes))
    if options.output:
        picture.write_picture(copies, system_named(options.topology[0])[1], plans[0], options.output)
    for text in [] if options.quiet else notes:
        show.note(text)
    _show(plans, wholes, options)


def _check(options: argparse.Namespace, formats: Sequence[str]) -> None:
    """Refuse what could only fail after the work."""
    if options.output:
        check_format(options.output, formats)
        if len(options.divide or [0]) * len(options.topology) > 1:
            raise InputError("a picture shows one plan; give one --divide and one --topology")
    if (options.data is None) == (options.variables is None):
        raise InputError("give a data file or --variables N")
    if not options.topology:
        raise InputError("--topology is empty; give chips such as pegasus,zephyr")


def _scorer(options: argparse.Namespace) -> Any:
    """Return the scorer of the data, if there are any."""
    if options.data is None:
        return None
    from dagneal.data.reading import read
    from dagneal.scoring.scorer import Scorer

    return Scorer(read(options.data))


def _subproblem_settings(options: argparse.Namespace, settings: Any, scorer: Any) -> tuple[Any, Any]:
    """Return the settings of the subproblems, and the graph of their QUBO where that depends on the data."""
    from dagneal.qpu.plan import table_graph

    limit = options.max_parents
    if options.divide:
        # Under the rule conquer subproblems have two parents, whatever the global problem has.
        limit = None if options.rule == "conquer" else limit
        return replace(settings, encoding=replace(settings.encoding, prune=False), max_parents=limit), None
    reads = READS if options.reads is None else options.reads
    if scorer is None:
        return replace(settings, encoding=replace(settings.encoding, prune=False), max_parents=limit, reads=reads), None
    # All variables at once: the variables of the QUBO are those that these data need.
    source = table_graph(scorer.table(limit), settings.encoding)
    return replace(settings, max_parents=limit, reads=reads), source


def _plan_global(scorer: Any, settings: Any, notes: list[str]) -> Any:
    from dagneal.qpu.plan import plan_whole

    return plan_whole(scorer, settings, notes)


def _show(plans: Sequence[Plan], wholes: Sequence[WholePlan], options: argparse.Namespace) -> None:
    """Print plans as a table, and what the global problem needs after that."""
    first = plans[0]
    lines = [
        f"{first.variables} variables, subproblems {options.subproblems}, {first.encoding}, {first.reads:,} reads of "
        f"{first.annealing_time:g} microseconds; ideal chips, all qubits working",
        "",
        f"{'system':20} {'k':>3} {'problems':>10} {'bits':>5} {'products':>9} {'qubits':>7} {'chains':>13} {'copies':>7} "
        f"{'calls':>9} {'QPU time':>11} {'one by one':>11} {'fits':>5}",
    ]
    for each in plans:
        chains = f"{each.mean_chain:.2f}, max {each.longest_chain}"
        lines.append(
            f"{each.system:20} {each.size:3} {each.blocks:10,} {each.bits:5} {each.interactions:9} {each.qubits:7g} "
            f"{chains:>13} {each.copies:7} {each.calls:9,} {each.seconds:9.2f} s {each.seconds_one_by_one:9.2f} s "
            f"{each.fits_directly:5}"
        )
    lines += ["", "fits: variables of the largest problem that surely fits undivided, as part of the largest clique"]
    for whole in wholes:
        lines.append(
            f"then the global problem on {whole.system}, in each of usually 2 to 5 rounds: {whole.bits} bits, "
            f"{whole.interactions} products, {whole.qubits} qubits, chains up to {whole.longest_chain}; "
            f"{whole.reads:,} reads in {whole.calls:,} call{'s' * (whole.calls != 1)}, {whole.seconds:.2f} s"
        )
    if options.divide and not wholes and options.rule == "conquer":
        lines.append("conquer then solves the global problem, usually 2 to 5 times; give a data file to plan that")
    report = {"plans": [each.to_dict() for each in plans], "whole": [whole.to_dict() for whole in wholes]}
    show.result(report | {"file": options.output}, "\n".join(lines), options)
