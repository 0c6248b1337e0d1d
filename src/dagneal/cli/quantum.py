"""Commands and options of the quantum annealer."""

from __future__ import annotations

import argparse
import json
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from dagneal.base.defaults import READS, SUBPROBLEM_READS
from dagneal.base.errors import InputError
from dagneal.cli import show
from dagneal.strategies.names import QUANTUM

if TYPE_CHECKING:
    from dagneal.qpu.plan import Plan, WholePlan

_ONLY = ("annealing_time", "chain_strength", "no_gauges", "profile", "system", "embedding", "noise")


def check_options(options: argparse.Namespace) -> None:
    """Refuse options of the quantum annealer where there is none."""
    given = [name for name in _ONLY if getattr(options, name) is not None and getattr(options, name) is not False]
    if given and options.solver not in QUANTUM:
        raise InputError(f"--{given[0].replace('_', '-')} is for a quantum annealer: --solver qpu or qpu-emulated")
    for name in ("profile", "embedding"):
        if options.solver == "qpu-emulated" and getattr(options, name):
            raise InputError(f"--{name} is for --solver qpu; the emulator has none")
    if options.solver == "qpu" and options.noise is not None:
        raise InputError("--noise is for --solver qpu-emulated; hardware has its own")
    if options.solver == "leap-hybrid" and set(given) - {"profile"}:
        raise InputError("leap-hybrid takes none of the options of the QPU but --profile")


def sampler(options: argparse.Namespace) -> Any:
    """The quantum annealer that was asked for."""
    from dagneal.qpu.chips import check_installed

    check_installed()
    strength = options.chain_strength
    if strength not in (None, "scan"):
        try:
            strength = float(strength)
        except ValueError as error:
            raise InputError(f"--chain-strength is {strength!r}; give a number or scan") from error
    common = {"chain_strength": strength, "gauges": not options.no_gauges}
    if options.solver == "qpu-emulated":
        from dagneal.qpu.emulator import NOISE, emulated_qpu

        noise = NOISE if options.noise is None else options.noise
        return emulated_qpu(options.system or "pegasus", noise, **common)
    if options.solver == "qpu":
        from dagneal.qpu.sampler import qpu

        embedding = _embedding(options.embedding) if options.embedding else None
        return qpu(options.profile, options.system, embedding=embedding, **common)
    from dagneal.qpu.cloud import hybrid

    return hybrid(options.profile)


def _embedding(path: str) -> dict[Any, list[int]]:
    """An embedding from JSON: a list of pairs, the label of a bit and its qubits."""
    try:
        pairs = json.loads(Path(path).read_text(encoding="utf-8"))
        return {tuple(label) if isinstance(label, list) else label: [int(q) for q in chain] for label, chain in pairs}
    except OSError as error:
        raise InputError(f"{path} cannot be read: {error.strerror or error}") from error
    except (ValueError, TypeError) as error:
        raise InputError(f'{path} is no embedding; give a JSON list such as [[["d", "a", "b"], [17, 18]], ...]') from error


def plan(options: argparse.Namespace) -> None:
    """`dagneal plan`."""
    from dagneal.qpu.chips import check_installed, system_named

    check_installed()
    from dagneal.qpu import picture
    from dagneal.qpu.plan import plan, plan_whole, table_graph
    from dagneal.qubo.encode import encoding_named

    if options.output:
        picture.check_format(options.output)
        if len(options.divide or [0]) * len(options.topology) > 1:
            raise InputError("a picture shows one plan; give one --divide and one --topology")
    if (options.data is None) == (options.variables is None):
        raise InputError("give a data file or --variables N")
    if not options.topology:
        raise InputError("--topology is empty; give chips such as pegasus,zephyr")
    systems = [system_named(name) for name in options.topology]
    encoding = encoding_named(options.encoding)
    scorer = None
    if options.data is not None:
        from dagneal.data.reading import read
        from dagneal.scoring.scorer import Scorer

        scorer = Scorer(read(options.data))
    variables = options.variables if scorer is None else len(scorer.data.names)
    blocks, source = replace(encoding, prune=False), None
    if scorer is not None and not options.divide:  # the whole at once, with the bits that these data need
        blocks, source = encoding, table_graph(scorer.table(options.max_parents), encoding)
    reads = (SUBPROBLEM_READS if options.divide else READS) if options.reads is None else options.reads
    # Under the rule conquer blocks have two parents, whatever the whole has.
    default = options.max_parents is None or (options.divide and options.rule == "conquer")
    parents = min(2, variables - 1) if default else options.max_parents
    plans, wholes, notes = [], [], list[str]()
    copies: list[Any] = []
    more = {"annealing_time": options.annealing_time, "notes": notes}
    for system in systems:
        for size in options.divide or [variables]:
            found, copies = plan(variables, size, system, blocks, options.blocks, parents, reads, source=source, **more)
            plans.append(found)
        if scorer is not None and options.divide and variables > 2 and options.rule == "conquer":
            times = READS if options.reads is None else reads
            wholes.append(plan_whole(scorer, system, encoding, options.max_parents, times, **more))
    if options.output:
        picture.write_picture(copies, systems[0][1], plans[0], options.output)
    for note in [] if options.quiet else notes:
        show.note(note)
    _plans(plans, wholes, options)


def _plans(found: Sequence[Plan], wholes: Sequence[WholePlan], options: argparse.Namespace) -> None:
    """Print plans as a table, and what solving the whole needs after that."""
    first = found[0]
    lines = [
        f"{first.variables} variables, blocks {options.blocks}, {first.encoding}, {first.reads:,} reads of "
        f"{first.annealing_time:g} microseconds; ideal chips, all qubits working",
        "",
        f"{'system':20} {'k':>3} {'blocks':>10} {'bits':>5} {'products':>9} {'qubits':>7} {'chains':>13} {'copies':>7} "
        f"{'calls':>9} {'QPU time':>11} {'one by one':>11} {'fits':>5}",
    ]
    for plan in found:
        chains = f"{plan.mean_chain:.2f}, max {plan.longest_chain}"
        lines.append(
            f"{plan.system:20} {plan.size:3} {plan.blocks:10,} {plan.bits:5} {plan.interactions:9} {plan.qubits:7g} "
            f"{chains:>13} {plan.copies:7} {plan.calls:9,} {plan.seconds:9.2f} s {plan.seconds_one_by_one:9.2f} s "
            f"{plan.fits_directly:5}"
        )
    lines += ["", "fits: variables of the largest problem that surely fits undivided, as part of the largest clique"]
    for whole in wholes:
        lines.append(
            f"then the whole on {whole.system}, in each of usually 2 to 5 rounds: {whole.bits} bits, {whole.interactions} "
            f"products, {whole.qubits} qubits, chains up to {whole.longest_chain}; {whole.reads:,} reads in "
            f"{show.many(whole.calls, 'call')}, {whole.seconds:.2f} s"
        )
    if options.divide and not wholes and options.rule == "conquer":
        lines.append("conquer then solves the whole, in each of usually 2 to 5 rounds; give a data file to plan that")
    report = {"plans": [plan.to_dict() for plan in found], "whole": [whole.to_dict() for whole in wholes]}
    show.result(report | {"file": options.output}, "\n".join(lines), options)
