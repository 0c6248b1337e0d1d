"""A learned network as lines of text, for the terminal."""

from __future__ import annotations

import shutil
from collections.abc import Mapping, Sequence

import networkx as nx

from dagneal.base.errors import secondary
from dagneal.base.text import columns, fit_text, pad_text
from dagneal.confidence.bootstrap import Bootstrap
from dagneal.confidence.finding import Confidence, Edges, Finding
from dagneal.confidence.measures import Strength, compare_classes
from dagneal.graphs.dags import graph_of, ordered_parents
from dagneal.graphs.knowledge import Knowledge
from dagneal.networks.comparison import Comparison
from dagneal.report.terminal import draw_text
from dagneal.solvers.solution import Division, Hardware, ReadSummary

_LONGEST = 60  # columns of a name that are printed


def summary_lines(found: Finding, comparison: Comparison | None = None, truth: str = "the truth") -> list[str]:
    """Return a learned network as lines: the structure, how sure it is, its score, and how it was found.

    Args:
        found: the network.
        comparison: with the true network.
        truth: the name of that.
    """
    lines = structure_lines(found.dag)
    picture: list[str] = []
    with secondary("the drawing"):
        picture = draw_text(found.dag, shutil.get_terminal_size((100, 24)).columns - 2)
    if picture:
        lines += ["", *(f"  {line}".rstrip() for line in picture)]
    if found.confidence is not None and (table := confidence_lines(found)):
        lines += ["", *table]
    if found.division is not None:
        lines += ["", *division_lines(found.division)]
    lines += ["", _score_line(found)]
    if found.bound is not None:
        lines.append(
            f"no network with at most {plural(found.bound.max_parents, 'parent')} scores more than {found.bound.score:.3f}"
        )
    if found.reads is not None:
        lines += read_lines(found.reads)
    if found.knowledge:
        known = found.knowledge.to_dict()
        lines.append("obeying what was known: " + ", ".join(f"{name} ({len(value)})" for name, value in known.items()))
    if found.hardware is not None:
        lines.append(hardware_line(found.hardware))
    seconds = ", ".join(f"{stage} {value:.2f} s" for stage, value in found.seconds.items())
    lines.append(f"{found.solver}: {seconds}")
    if comparison is not None:
        lines.append(f"against {truth}: {comparison_line(comparison)}")
    return lines


def _score_line(found: Finding) -> str:
    if found.division is not None and not found.division.acyclic:
        return "not a network: the votes of the subproblems leave a cycle; drop its weakest edge with acyclic=True"
    if found.score != found.score:
        reads = f"none of the reads has at most {found.max_parents} parents and no cycle"
        return f"not a network: {reads}; take more with num_reads=..."
    by_votes = found.division is not None and found.division.combine != "conquer"
    limit = f"{'no variable has more than' if by_votes else 'at most'} {plural(found.max_parents, 'parent')}"
    standing = "optimal (proved)" if found.optimal else "not proved optimal"
    return f"{found.score_name} log score {found.score:.3f}, {standing}, {limit}"


def plural(number: int, thing: str) -> str:
    """Return a number of things in words.

    Args:
        number: how many.
        thing: in the singular.

    >>> plural(1, "edge"), plural(2000, "edge")
    ('1 edge', '2,000 edges')
    """
    return f"{number:,} {thing}{'' if number == 1 else 's'}"


def shorten(name: str) -> str:
    """Return a name as it can be printed: without control characters, and not longer than a line.

    Args:
        name: any name.
    """
    shown = "".join(letter if letter.isprintable() else repr(letter)[1:-1] for letter in name)
    return fit_text(shown, _LONGEST)


def structure_lines(dag: nx.DiGraph) -> list[str]:
    """Return a graph as lines, each a variable with its parents.

    Args:
        dag: the graph.
    """
    names = list(dag)
    width = max(columns(shorten(name)) for name in names)
    parents = {name: [shorten(p) for p in its] for name, its in ordered_parents(dag, names).items()}
    return [
        f"  {pad_text(shorten(name), width)} <- {', '.join(parents[name])}" if parents[name] else f"  {shorten(name)}"
        for name in names
    ]


def division_lines(division: Division) -> list[str]:
    """Return a division as lines.

    Args:
        division: how the network was put together.
    """
    lines = []
    if division.subproblems:
        lines.append(
            f"{division.subproblems:,} subproblems of {division.size} ({division.scheme}) solved by {division.solver}, "
            f"combined by {division.combine}"
        )
    else:
        lines.append(f"the global problem from {division.scheme}")
    if division.global_solver is not None and division.candidates is not None:
        most = max(map(len, division.candidates.values()))
        lines.append(
            f"the global problem solved by {division.global_solver} in {plural(division.rounds or 0, 'round')}, "
            f"at most {plural(most, 'candidate parent')}"
        )
    if division.failed:
        name, why = next(iter(division.failed.items()))
        lines.append(f"{len(division.failed):,} subproblems failed, the first ({name}): {why}")
    if division.interrupted:
        lines.append(
            f"interrupted: {division.finished:,} of {division.subproblems:,} subproblems were solved; "
            "the network is the best so far"
        )
    if division.skipped:
        lines.append(f"skipped: {division.skipped}")
    return lines


def read_lines(reads: ReadSummary) -> list[str]:
    """Return the reads of a sampler as lines, raw and repaired apart.

    Args:
        reads: their figures.
    """
    best = reads.optimum

    def score(value: float) -> str:
        return f"{value:14.3f}" + ("" if best is None else f"  {best - value:10.3f} below the optimum")

    raw, repaired = reads.raw, reads.repaired
    lines = [
        f"QUBO of {plural(reads.bits, 'variable')} and {plural(reads.interactions, 'interaction')} ({reads.encoding}), "
        f"{plural(reads.reads, 'read')}, {reads.distinct:,} distinct; {reads.feasible:.1%} are networks without repair",
        f"  raw       {score(raw.score)}, in {plural(raw.hits, 'read')}" if raw else "  raw       no read is a network",
        f"  repaired  {score(repaired.score)}, in {plural(repaired.hits, 'read')}",
        f"  baseline  {score(reads.baseline)}, best of {reads.reads:,} random orders",
    ]
    return lines if best is None else [*lines, f"  optimum   {best:14.3f}  (exact search)"]


def hardware_line(used: Hardware) -> str:
    """Return the use of a quantum annealer as a line.

    Args:
        used: its figures.
    """
    kind = "emulated; the chip would charge" if used.emulated else "charged"
    before = f", {plural(used.fetched, 'answer')} of an earlier run fetched" if used.fetched else ""
    return (
        f"{used.system}: {plural(used.calls, 'call')}, {kind} {used.access_seconds:.3f} s of access time{before}; "
        f"{used.chain_break_fraction:.1%} of chains broken"
    )


def comparison_line(found: Comparison) -> str:
    """Return how a graph compares with the truth as a line.

    Args:
        found: the figures.
    """
    distance = "undefined, there is a cycle" if found.cpdag_shd is None else str(found.cpdag_shd)
    gap = ""
    if found.score is not None and found.score_gap is not None:
        gap = f"; log score {found.score:.3f}, truth {found.score + found.score_gap:.3f}"
    return (
        f"{found.right} edges right, {found.wrong} wrong, {found.missing} missing; sensitivity {found.sensitivity:.3f}, "
        f"specificity {found.specificity:.3f}, precision {found.precision:.3f}, F1 {found.f1:.3f}; "
        f"SHD {found.shd}, between equivalence classes {distance}{gap}"
    )


def confidence_lines(found: Finding) -> list[str]:
    """Return how sure a network is, as lines.

    Args:
        found: with measures of confidence.
    """
    measures = found.confidence or Confidence()
    lines = _edge_lines(measures.strengths or [], measures.bootstrap, measures.threshold)
    if measures.bootstrap is not None:
        lines.append(f"  {bootstrap_line(measures.bootstrap)}")
    if measures.sensitivity:
        lines += ["", *_sensitivity_lines(list(found.dag), measures.sensitivity, found.knowledge)]
    if measures.holdout is not None:
        held = measures.holdout
        lines += [
            "",
            f"{held.rows:,} rows held out: log-likelihood {held.log_likelihood:.4f} a row, "
            f"{held.without_edges:.4f} without edges",
        ]
    return lines


def bootstrap_line(resampled: Bootstrap) -> str:
    """Return how many bootstrap samples there were, and why not all that were asked for.

    Args:
        resampled: the bootstrap.
    """
    if resampled.samples >= resampled.requested:
        return f"bootstrap: {plural(resampled.samples, 'sample')}"
    why = "Ctrl-C" if resampled.interrupted else "the time limit"
    return f"bootstrap: {resampled.samples:,} of {plural(resampled.requested, 'sample')} (stopped by {why})"


def _edge_lines(strengths: Sequence[Strength], resampled: Bootstrap | None, threshold: float) -> list[str]:
    """Return a table of edges with what the score loses without them, or with them reversed."""
    if not strengths:
        return []
    names = [f"{shorten(each.parent)} -> {shorten(each.child)}" for each in strengths]
    width = max(4, *map(columns, names))
    head = f"  {'edge':{width}} {'loses':>10} {'turned':>10}  direction"
    lines = [head + ("" if resampled is None else f"  {'resamples':>9} {'this way':>9}")]
    for name, each in zip(names, strengths, strict=True):
        turned = "a cycle" if each.turned is None else f"{each.turned:.2f}"
        line = f"  {pad_text(name, width)} {each.loss:10.2f} {turned:>10}  {'decided' if each.decided else 'open':9}"
        if resampled is not None:
            share, this_way = resampled.of(each.parent, each.child)
            line += f"  {share:9.2f} {this_way:9.2f}" + ("  weak" if share < threshold else "")
        lines.append(line.rstrip())
    return lines


def _sensitivity_lines(names: Sequence[str], others: Mapping[float, Edges], knowledge: Knowledge | None) -> list[str]:
    """Return a table of which edges there are with which equivalent sample size, and in which direction."""
    rows = compare_classes([graph_of(names, edges) for edges in others.values()], knowledge)
    pairs = [f"{shorten(one)} - {shorten(other)}" for one, other in rows]
    width = max([len("equivalent sample size"), *map(columns, pairs)])
    lines = [f"  {'equivalent sample size':{width}} " + " ".join(f"{size:>7g}" for size in others)]
    for name, ways in zip(pairs, rows.values(), strict=True):
        lines.append(f"  {pad_text(name, width)} " + " ".join(f"{way:>7}" for way in ways))
    return lines
