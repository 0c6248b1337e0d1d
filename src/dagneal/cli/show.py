"""What is printed: results on standard output, notes and progress on standard error."""

from __future__ import annotations

import argparse
import json
import shutil
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import networkx as nx

from dagneal.base.errors import secondary
from dagneal.base.kernels import Progress
from dagneal.base.text import columns, fitted, padded
from dagneal.cli.streams import write_message, write_text
from dagneal.graphs.dags import ordered_parents
from dagneal.report.terminal import drawn

if TYPE_CHECKING:
    import dimod

    from dagneal.data.dataset import Dataset
    from dagneal.networks.comparison import Comparison
    from dagneal.networks.network import BayesianNetwork
    from dagneal.qubo.encode import Encoding
    from dagneal.qubo.penalties import Penalties
    from dagneal.qubo.statistics import Figures
    from dagneal.result import Annealed, Division, Learned
    from dagneal.scoring.table import ScoreTable


_LONGEST = 60  # columns of a name that are printed


def note(text: str) -> None:
    """Write a note beside the result."""
    write_message(f"note: {text}")


@contextmanager
def progress(quiet: bool) -> Iterator[Progress | None]:
    """A progress bar on standard error, if that is a terminal; each stage has a line, which goes away at the end."""
    if quiet or not sys.stderr.isatty():
        yield None
        return
    from rich.console import Console
    from rich.progress import (
        BarColumn,
        MofNCompleteColumn,
        Progress,
        Task,
        TaskID,
        TextColumn,
        TimeElapsedColumn,
        TimeRemainingColumn,
    )
    from rich.text import Text

    class Rate(TextColumn):
        def render(self, task: Task) -> Text:
            return Text(f"{task.speed:.1f}/s" if task.speed else "")

    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        Rate(""),
        TimeElapsedColumn(),
        TextColumn("left"),
        TimeRemainingColumn(),
    )
    with Progress(*columns, console=Console(stderr=True), transient=True) as bar:
        tasks: dict[str, TaskID] = {}

        def report(stage: str, done: int, total: int) -> None:
            if stage not in tasks:
                tasks[stage] = bar.add_task(stage, total=None)
            if done:
                bar.update(tasks[stage], total=total, completed=done)

        yield report


def result(report: dict[str, Any], text: str, options: argparse.Namespace) -> None:
    """Print a result, as one JSON object or as text."""
    write_text(json.dumps(report) if options.json else text)


def learned(
    found: Learned,
    data: Dataset,
    against: Comparison | None,
    options: argparse.Namespace,
    table: Sequence[str],
) -> None:
    """Print what was learned, and how sure it is."""
    report = found.to_dict()
    lines = [f"{options.data}: {len(data.names)} variables, {data.rows:,} rows ({data.different})", ""]
    lines += structure(found.dag)
    picture: list[str] = []
    with secondary("the drawing"):
        picture = drawn(found.dag, shutil.get_terminal_size((100, 24)).columns - 2)
    if picture:
        lines += ["", *(f"  {line}".rstrip() for line in picture)]
    if table:
        lines += ["", *table]
    by_votes = found.division is not None and found.division.rule != "conquer"
    limit = f"{'no variable has more than' if by_votes else 'at most'} {many(found.max_parents, 'parent')}"
    standing = "optimal (proved)" if found.optimal else "not proved optimal"
    if found.division is not None:
        lines += ["", *divided(found.division)]
    if found.division is not None and not found.division.acyclic:
        lines += ["", "not a network: the blocks' votes leave a cycle; --acyclic drops its weakest edge"]
    elif found.score != found.score:
        lines += ["", f"not a network: none of the reads has at most {found.max_parents} parents and no cycle; see --reads"]
    else:
        lines += [
            "",
            f"{found.score_name} log score {found.score:.3f}, {standing}, {limit}",
        ]
    if found.bound is not None:
        lines.append(
            f"no network with at most {many(found.bound.max_parents, 'parent')} scores more than {found.bound.score:.3f}"
        )
    if found.annealed is not None:
        lines += annealed(found.annealed)
    if found.knowledge is not None:
        lines.append(
            "obeying what was known: " + ", ".join(f"{name} ({len(value)})" for name, value in found.knowledge.items())
        )
    if found.hardware is not None:
        lines.append(hardware(found.hardware))
    seconds = ", ".join(f"{stage} {value:.2f} s" for stage, value in found.seconds.items())
    lines.append(f"{found.solver}: {seconds}")
    if against is not None:
        report["comparison"] = against.to_dict()
        lines.append(f"against {options.truth}: {_compared(against)}")
    result(report, "\n".join(lines), options)


def saved(path: str, options: argparse.Namespace) -> None:
    """Say where something was saved; a JSON object stays alone."""
    if not options.json:
        write_text(f"saved to {path}")


def many(count: int, thing: str) -> str:
    """A number of things, in words."""
    return f"{count:,} {thing}{'' if count == 1 else 's'}"


def plain(name: str) -> str:
    """A name as it can be printed: without control characters, and not longer than a line."""
    shown = "".join(letter if letter.isprintable() else repr(letter)[1:-1] for letter in name)
    return fitted(shown, _LONGEST)


def structure(dag: nx.DiGraph) -> list[str]:
    """A graph as lines, each a variable with its parents."""
    names = list(dag)
    width = max(columns(plain(name)) for name in names)
    parents = {name: [plain(p) for p in its] for name, its in ordered_parents(dag, names).items()}
    return [
        f"  {padded(plain(name), width)} <- {', '.join(parents[name])}" if parents[name] else f"  {plain(name)}"
        for name in names
    ]


def divided(division: Division) -> list[str]:
    """A division as lines."""
    lines = []
    if division.blocks:
        lines.append(
            f"{division.blocks:,} blocks of {division.size} ({division.scheme}) solved by {division.solver}, "
            f"put together by {division.rule}"
        )
    else:
        lines.append(f"the whole from {division.scheme}")
    if division.whole is not None and division.candidates is not None:
        most = max(map(len, division.candidates.values()))
        lines.append(
            f"the whole solved by {division.whole} in {many(division.rounds or 0, 'round')}, "
            f"at most {many(most, 'candidate parent')}"
        )
    if division.failed:
        name, why = next(iter(division.failed.items()))
        lines.append(f"{len(division.failed):,} blocks failed, the first ({name}): {why}")
    if division.interrupted:
        lines.append(
            f"interrupted: {division.finished:,} of {division.blocks:,} blocks were solved; the whole is as far as it came"
        )
    if division.skipped:
        lines.append(f"skipped: {division.skipped}")
    return lines


def annealed(figures: Annealed) -> list[str]:
    """The reads of a sampler as lines, raw and repaired told apart."""
    best = figures.optimum

    def score(value: float) -> str:
        return f"{value:14.3f}" + ("" if best is None else f"  {best - value:10.3f} below the optimum")

    raw = figures.raw
    repaired = figures.repaired
    lines = [
        f"QUBO of {figures.bits} bits and {figures.interactions} interactions ({figures.encoding}), "
        f"{many(figures.reads, 'read')}, {figures.distinct:,} distinct; {figures.feasible:.1%} are networks without repair",
        f"  raw       {score(raw.score)}, in {many(raw.hits, 'read')}" if raw else "  raw       no read is a network",
        f"  repaired  {score(repaired.score)}, in {many(repaired.hits, 'read')}",
        f"  baseline  {score(figures.baseline)}, best of {figures.reads:,} random orders",
    ]
    return lines if best is None else [*lines, f"  optimum   {best:14.3f}  (exact search)"]


def hardware(used: dict[str, Any]) -> str:
    """What was asked of a quantum annealer, as a line."""
    kind = "emulated; the chip would charge" if used["emulated"] else "charged"
    before = f", {many(used['fetched'], 'answer')} of an earlier run fetched" if used["fetched"] else ""
    return (
        f"{used['system']}: {many(used['calls'], 'call')}, {kind} {used['access_seconds']:.3f} s of access time{before}; "
        f"{used['chain_break_fraction']:.1%} of chains broken"
    )


def encoded(
    bqm: dimod.BinaryQuadraticModel,
    table: ScoreTable,
    encoding: Encoding,
    penalties: Penalties,
    options: argparse.Namespace,
) -> None:
    """Print what a QUBO is like."""
    from dagneal.qubo.statistics import figures
    from dagneal.qubo.variables import KINDS

    found = figures(bqm)
    kinds_of = (penalties.transitivity, penalties.consistency, penalties.exclusion)
    weights = [float(values.max(initial=0.0)) for values in kinds_of]  # the largest, where they differ
    report = found.to_dict() | {
        "encoding": encoding.name,
        "vartype": bqm.vartype.name,
        "offset": float(bqm.offset),
        "delta_max": dict(zip(table.names, penalties.maximum[0].tolist(), strict=True)),  # 0 where there is no H_max
        "delta_trans": weights[0],
        "delta_consist": weights[1],
        "delta_exclude": weights[2],
        "max_parents": table.max_parents,
        "file": options.output,
    }
    kinds = ", ".join(f"{found.bits_by_kind[kind]} {name}" for kind, name in KINDS.items() if found.bits_by_kind[kind])
    text = (
        f"{found.bits} {'spins' if options.ising else 'bits'} ({kinds}), {found.interactions} interactions, "
        f"offset {bqm.offset:.6f}\n"
        f"{encoding.name}: delta_max up to {penalties.maximum.max():.3f}, delta_trans {weights[0]:.3f}, "
        f"delta_consist {weights[1]:.3f}"
        + (f", delta_exclude {weights[2]:.3f}\n" if weights[2] else "\n")
        + f"coefficients {found.smallest:.3f} to {found.largest:.3f} ({found.range_bits:.1f} bits), "
        f"treewidth {found.treewidth}"
    )
    result(report, text + (f"\nwritten to {options.output}" if options.output else ""), options)


def encodings(found: dict[Encoding, Figures | str], table: ScoreTable, options: argparse.Namespace) -> None:
    """Print the encodings of a table side by side."""
    unit = "spins" if options.ising else "bits"
    lines = [
        f"{len(table.names)} variables, at most {table.max_parents} parents, {len(table.scores):,} scores; "
        f"coefficients over {unit}",
        "",
        f"{'encoding':26} {unit:>6} {'edge':>6} {'slack':>6} {'order':>6} {'aux.':>6} {'products':>9} "
        f"{'largest':>12} {'smallest':>12} {'range':>9} {'treewidth':>10}",
    ]
    report: list[dict[str, Any]] = []
    for encoding, figures in found.items():
        if isinstance(figures, str):
            report.append({"encoding": encoding.name, "refused": figures})
            lines.append(f"{encoding.name:26} {figures}")
            continue
        report.append({"encoding": encoding.name} | figures.to_dict())
        kinds = " ".join(f"{count:6}" for count in figures.bits_by_kind.values())
        lines.append(
            f"{encoding.name:26} {figures.bits:6} {kinds} {figures.interactions:9} {figures.largest:12.3f} "
            f"{figures.smallest:12.6f} {figures.range_bits:4.1f} bits {figures.treewidth:10}"
        )
    result(
        {"max_parents": table.max_parents, "vartype": "SPIN" if options.ising else "BINARY", "encodings": report},
        "\n".join(lines),
        options,
    )


def comparison(found: Comparison, options: argparse.Namespace) -> None:
    """Print how a graph compares with the truth."""
    result(found.to_dict(), _compared(found), options)


def _compared(found: Comparison) -> str:
    distance = "undefined, there is a cycle" if found.cpdag_shd is None else str(found.cpdag_shd)
    gap = ""
    if found.score is not None and found.score_gap is not None:
        gap = f"; log score {found.score:.3f}, truth {found.score + found.score_gap:.3f}"
    return (
        f"{found.right} edges right, {found.wrong} wrong, {found.missing} missing; sensitivity {found.sensitivity:.3f}, "
        f"specificity {found.specificity:.3f}, precision {found.precision:.3f}, F1 {found.f1:.3f}; "
        f"SHD {found.shd}, between equivalence classes {distance}{gap}"
    )


def networks(listed: Sequence[tuple[str, BayesianNetwork]], options: argparse.Namespace) -> None:
    """Print the bundled networks."""
    rows = [
        {
            "name": name,
            "variables": len(network.names),
            "edges": network.dag.number_of_edges(),
            "most_parents": max(degree for _, degree in network.dag.in_degree),
            "most_states": max(map(len, network.states.values())),
        }
        for name, network in listed
    ]
    head = f"{'name':14} {'variables':>9} {'edges':>6} {'most parents':>13} {'most states':>12}"
    lines = [f"{r['name']:14} {r['variables']:9} {r['edges']:6} {r['most_parents']:13} {r['most_states']:12}" for r in rows]
    result({"networks": rows}, "\n".join([head, *lines]), options)
