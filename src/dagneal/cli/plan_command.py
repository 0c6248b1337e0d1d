"""`dagneal plan`: estimate the cost of learning on a quantum annealer."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from dagneal.base.defaults import ANNEALING_TIME, NETWORK_PARENTS, PAPER_PARENTS, READS, SUBPROBLEM_READS, SYSTEM
from dagneal.base.errors import InputError
from dagneal.base.files import check_format
from dagneal.base.text import plural
from dagneal.cli import show
from dagneal.cli.parsing import Once, Parser, split_names, split_numbers

if TYPE_CHECKING:
    from dagneal.qpu.plan import GlobalPlan, Plan

SUMMARY = "estimate the qubits and the time that learning needs on a quantum annealer"
USAGE = "[DATA] [options]"
EXAMPLES = """\
examples:
  dagneal plan --variables 15 --divide 3,4,5 --topology pegasus,zephyr
  dagneal plan patients.csv --divide 4 --subproblems cover:2 --reads 100 -o plan.svg
"""


def add_options(command: Parser) -> None:
    """Add the arguments and options of the command.

    Args:
        command: parser of the command.
    """
    command.add_argument(
        "data", nargs="?", metavar="DATA", help="data file, instead of --variables; needed to plan the global problem"
    )
    command.add_argument("--variables", type=int, metavar="N", help="number of variables, instead of a data file")
    sizes = "sizes of subproblems to plan, in variables (default: no subproblems)"
    command.add_argument("--divide", type=split_numbers, metavar="K,...", help=sizes)
    scheme = (
        "subproblems to solve: all (default), cover:2 or cover:3 (enough to contain every pair or triple of variables), "
        "or sample:0.2 (a random 20%%)"
    )
    command.add_argument("--subproblems", default="all", metavar="SCHEME", help=scheme)
    rules = ("conquer", "penalty", "count")
    rule = "rule that combines subproblems: conquer (default), penalty or count"
    command.add_argument("--rule", choices=rules, default="conquer", metavar="RULE", help=rule)
    topology = (
        f"chips to plan for: pegasus, zephyr, chimera or names of systems (default {SYSTEM}), without defects, or with "
        ":working at the end with the published number of working qubits; qpu or qpu:NAME for a solver of your account; "
        "or a .json file with the properties of a solver"
    )
    command.add_argument("--topology", type=split_names, default=[SYSTEM], metavar="NAME,...", help=topology)
    command.add_argument("--encoding", default="tight", metavar="WORDS", help="QUBO encoding: tight (default), gap or paper")
    parents = f"largest number of parents (default {PAPER_PARENTS} in a subproblem, {NETWORK_PARENTS} in the global problem)"
    command.add_argument("--max-parents", type=int, metavar="M", help=parents)
    reads = f"number of reads (default {SUBPROBLEM_READS} for a subproblem, {READS} for the global problem)"
    command.add_argument("--reads", type=int, metavar="N", help=reads)
    time = f"annealing time of a read in microseconds (default {ANNEALING_TIME:g})"
    command.add_argument("--annealing-time", type=float, default=ANNEALING_TIME, metavar="US", help=time)
    largest = "search for the largest problem that can be embedded without division; takes minutes, and is stored"
    command.add_argument("--largest", action="store_true", help=largest)
    command.add_argument(
        "-o",
        "--output",
        action=Once,
        metavar="FILE",
        help="save a picture of the chip with the embedded subproblems: .png or .svg",
    )


def run(options: argparse.Namespace) -> None:
    """Plan the problems for a quantum annealer and print the plans.

    Args:
        options: parsed options of the command.
    """
    from dagneal.qpu.chips import check_installed

    check_installed()
    from dagneal.qpu import picture
    from dagneal.qpu.plan import PlanSettings, plan
    from dagneal.qpu.targets import find_target
    from dagneal.qubo.encode import parse_encoding

    _check(options, picture.FORMATS)
    targets = [find_target(name) for name in options.topology]  # first, because a name may be wrong
    settings = PlanSettings(
        encoding=parse_encoding(options.encoding), reads=options.reads, annealing_time=options.annealing_time
    )
    scorer = _scorer(options)
    variables = options.variables if scorer is None else len(scorer.data.names)
    subproblems, source = _subproblem_settings(options, settings, scorer)
    plans, global_plans, notes = list[Any](), list[Any](), list[str]()
    copies: list[Any] = []
    for target in targets:
        for size in options.divide or [variables]:
            result, copies = plan(
                variables,
                size,
                replace(subproblems, system=target),
                options.subproblems,
                source=source,
                notes=notes,
                largest=options.largest,
            )
            plans.append(result)
        if scorer is not None and options.divide and variables > 2 and options.rule == "conquer":
            global_plans.append(
                _plan_global(scorer, replace(settings, system=target, max_parents=options.max_parents), notes)
            )
    if options.output:
        picture.write_picture(copies, targets[0], plans[0], options.output)
    for text in [] if options.quiet else notes:
        show.note(text)
    _show(plans, global_plans, options)


def _check(options: argparse.Namespace, formats: Sequence[str]) -> None:
    """Check the options before the work starts."""
    if options.output:
        check_format(options.output, formats)
        if len(options.divide or [0]) * len(options.topology) > 1:
            raise InputError("-o draws one plan; give one size for --divide and one chip for --topology")
    if (options.data is None) == (options.variables is None):
        raise InputError("give either a data file or --variables N")
    if not options.topology:
        raise InputError("--topology is empty; give chips such as pegasus,zephyr")


def _scorer(options: argparse.Namespace) -> Any:
    """Return a scorer for the data file; return None if no data file is given."""
    if options.data is None:
        return None
    from dagneal.data.reading import read
    from dagneal.scoring.scorer import Scorer

    return Scorer(read(options.data))


def _subproblem_settings(options: argparse.Namespace, settings: Any, scorer: Any) -> tuple[Any, Any]:
    """Return a pair: the settings of the plans, and the graph of the QUBO of the data.

    The graph is None with `--divide` or without a data file, because the planned QUBO then does not depend on the data.
    """
    from dagneal.qpu.plan import table_graph

    limit = options.max_parents
    if options.divide:
        # Under the rule conquer, --max-parents limits only the global problem; subproblems have the default limit.
        limit = None if options.rule == "conquer" else limit
        return replace(settings, max_parents=limit), None
    reads = READS if options.reads is None else options.reads
    if scorer is None:
        return replace(settings, max_parents=limit, reads=reads), None
    # Without subproblems, the QUBO depends on the data.
    source = table_graph(scorer.table(limit), settings.encoding)
    return replace(settings, max_parents=limit, reads=reads), source


def _plan_global(scorer: Any, settings: Any, notes: list[str]) -> Any:
    from dagneal.qpu.plan import plan_global

    return plan_global(scorer, settings, notes)


def _show(plans: Sequence[Plan], global_plans: Sequence[GlobalPlan], options: argparse.Namespace) -> None:
    """Print the plans of the subproblems as a table, then the plans of the global problem."""
    first = plans[0]
    width = max(20, *(len(row.system) for row in plans))
    lines = [
        f"{first.variables} columns of data; subproblems: {options.subproblems}; encoding: {first.encoding}; "
        f"{first.reads:,} reads of {first.annealing_time:g} microseconds",
        "",
        f"{'system':{width}} {'k':>3} {'subproblems':>11} {'variables':>9} {'interactions':>12} {'qubits':>7} "
        f"{'chains':>13}  {'per call':>8} {'calls':>9} {'QPU time':>11} {'one by one':>11} {'fits':>5}",
    ]
    for row in plans:
        chains = f"{row.mean_chain:.2f}, max {row.longest_chain}"
        lines.append(
            f"{row.system:{width}} {row.size:3} {row.subproblems:11,} {row.qubo_variables:9} {row.interactions:12} "
            f"{row.qubits:7g} {chains:>13}  {row.copies:8} {row.calls:9,} {row.seconds:9.2f} s "
            f"{row.seconds_one_by_one:9.2f} s {row.fits_directly:5}"
        )
    lines += [
        "",
        "k: columns of data in a subproblem; variables, interactions: size of its QUBO; qubits: mean for a subproblem",
        "chains: mean and largest number of qubits for a QUBO variable; per call: subproblems that one call solves",
        "QPU time: access time with programming and readout; one by one: the same with one subproblem in each call",
        "fits: largest number of columns whose QUBO is guaranteed to fit on the chip without division",
    ]
    lines += _chip_lines(plans)
    for entry in global_plans:
        lines.append(
            f"global problem on {entry.system}, for each of usually 2 to 5 solves: {entry.qubo_variables} QUBO variables, "
            f"{entry.interactions} interactions, {entry.qubits} qubits, chains up to {entry.longest_chain}; "
            f"{entry.reads:,} reads in {plural(entry.calls, 'call')}, {entry.seconds:.2f} s"
        )
    if options.divide and not global_plans and options.rule == "conquer":
        lines.append(
            "not included: conquer also solves the global problem, usually 2 to 5 times; "
            "`dagneal plan DATA --divide K` plans it"
        )
    report = {"plans": [row.to_dict() for row in plans], "global": [row.to_dict() for row in global_plans]}
    show.result(report | {"file": options.output}, "\n".join(lines), options)


def _chip_lines(plans: Sequence[Plan]) -> list[str]:
    """Return lines about the defects of each chip, and about the largest problem that was embedded on it."""
    from dagneal.qpu.capacity import PAPER_LARGEST

    lines = []
    for row in {row.system: row for row in plans}.values():
        if (found := row.largest) is None:
            text = "--largest searches for the largest number of columns that can be embedded"
        else:
            reason = (
                "certainly do not fit" if found.proved else f"were not, in {found.searches} searches of {found.seconds:g} s"
            )
            text = (
                f"{found.variables} columns were embedded in {found.qubits:,} qubits, with chains of at most "
                f"{found.longest_chain}; {found.smallest_failure} {reason} (the paper estimates about {PAPER_LARGEST} for "
                "Pegasus, with its encoding and 2 parents)"
            )
        defects = f"{plural(row.defects, 'qubit')} missing" if row.defects else "no defects"
        lines.append(f"{row.system}: {defects}; {text}")
    return lines
