"""Description of a learned network as text, for the terminal."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Mapping, Sequence
from math import log
from textwrap import wrap
from typing import TYPE_CHECKING

import networkx as nx

from dagneal.base.errors import warn_on_failure
from dagneal.base.text import display_width, fit_text, pad_text, plural, printable
from dagneal.confidence.annotated import AnnotatedSolution, Confidence, Edges
from dagneal.confidence.bootstrap import SHARE, Bootstrap, NearMiss
from dagneal.confidence.judgement import judge_near_miss
from dagneal.confidence.measures import HoldoutResult, compare_classes
from dagneal.confidence.posteriors import PRIORS, EdgePosteriors
from dagneal.graphs.dags import graph_from_edges, ordered_parents
from dagneal.graphs.directions import Direction
from dagneal.graphs.knowledge import Edge, Knowledge
from dagneal.networks.comparison import Comparison
from dagneal.report.overview import SAME_SCORE, compared_networks, has_only_scores, overview
from dagneal.report.terminal import draw_text
from dagneal.solvers.solution import Bound, Division, EMSummary, Hardware, ReadSummary, SearchSummary

if TYPE_CHECKING:
    from dagneal.proofs.alternatives import NearOptimal

_LONGEST = 60  # longest printed name, in columns
_NAMES = 8  # most names in a list
_NEAR_MISSES = 10  # near misses that are printed
_WARNINGS = 6  # warnings that are printed
_WIDEST = 120  # longest line of a paragraph, in columns
_SIGNS = {  # meaning of an arrow in the list of parents
    Direction.FIXED: "fixed by knowledge",
    Direction.SUPPORTED: "supported by the data",
    Direction.COMPELLED: "compelled, but of unknown stability",
}
_CLASSES = 10  # near-optimal classes that are printed
_STAGES = {  # printed names of the stages in `Solution.seconds`
    "em": "structural EM",
    "score": "scoring",
    "pairs": "scoring pairs",
    "solve": "search",
    "exact": "exact search",
    "proof": "proof",
    "encode": "encoding",
    "sample": "sampling",
    "decode": "decoding",
    "conquer": "global problem",
    "compare": "comparison",
}


def summary_lines(
    solution: AnnotatedSolution,
    comparison: Comparison | None = None,
    truth: str = "the truth",
    translate: Callable[[str], str] = str,
) -> list[str]:
    """Return lines that describe a learned network: structure, confidence, score and solver.

    Args:
        solution: learned network with its measures.
        comparison: comparison with the true network; None for no comparison.
        truth: name of the true network.
        translate: function that rewrites texts with names of Python arguments. The command line replaces them by options.
    """
    lines = overview_lines(solution, translate)
    lines += ["", *structure_lines(solution.dag, solution.directions)]
    drawing: list[str] = []
    with warn_on_failure("the drawing"):
        drawing = draw_text(solution.dag, shutil.get_terminal_size((100, 24)).columns - 2, solution.directions)
    if drawing:
        lines += ["", *(f"  {line}".rstrip() for line in drawing)]
    if solution.confidence is not None and (table := confidence_lines(solution)):
        lines += ["", *table]
    if solution.division is not None:
        lines += ["", *division_lines(solution.division)]
    score_line = _score_line(solution)
    lines += ["", score_line if solution.is_dag else translate(score_line), *prior_lines(solution)]
    if solution.bound is not None and solution.bound.stopped:
        lines.append(translate(proof_line(solution.bound)))
    if solution.search is not None:
        lines += search_lines(solution.search, solution.optimal, translate)
    if solution.em is not None:
        lines += em_lines(solution.em)
    if solution.reads is not None:
        lines += read_lines(solution.reads)
    if solution.knowledge:
        rules = solution.knowledge.to_dict()
        lines.append("background knowledge: " + ", ".join(f"{name} ({len(value)})" for name, value in rules.items()))
    if solution.hardware is not None:
        lines.append(hardware_line(solution.hardware))
    times = ", ".join(f"{_STAGES.get(stage, stage)} {value:.2f} s" for stage, value in solution.seconds.items())
    searched = solution.hardware.embedding_seconds if solution.hardware is not None else 0.0
    embedding = f" (searches for embeddings {searched:.2f} s of these)" if searched >= 0.01 else ""
    lines.append(f"solver: {solution.solver}; time: {times}{embedding}")
    if comparison is not None:
        lines.append(f"compared with {truth}: {comparison_line(comparison)}")
    return lines


def overview_lines(solution: AnnotatedSolution, translate: Callable[[str], str] = str) -> list[str]:
    """Return the lines of the paragraph at the top of the output, and a line for each warning.

    Args:
        solution: learned network with its measures.
        translate: function that rewrites texts with names of Python arguments.
    """
    width = min(shutil.get_terminal_size((100, 24)).columns, _WIDEST)
    lines: list[str] = []
    with warn_on_failure("the overview"):
        lines = wrap(printable(" ".join(overview(solution, command_line=True))), width, break_on_hyphens=False)
    warnings = solution.warnings[:_WARNINGS]
    for warning in warnings:
        text = printable(translate(warning.text))
        lines += wrap(f"Warning: {text}", width, initial_indent="  ", subsequent_indent="    ", break_on_hyphens=False)
    if more := len(solution.warnings) - len(warnings):
        lines.append(f"  ... and {plural(more, 'more warning')}")
    return lines


def near_optimal_lines(near: NearOptimal, score: float) -> list[str]:
    """Return lines that describe the near-optimal networks: their number, the first of them, and the edges that all share.

    Args:
        near: near-optimal networks.
        score: log score of the learned network.
    """
    if not near.proved:
        return ["near-optimal networks: the time was too short to prove which network is the best"]
    lines = []
    if near.best > score + SAME_SCORE:
        lines.append(f"a network with the score {near.best:.3f} is better than the network above")
    count = f"{len(near.classes):,} equivalence class{'es' * (len(near.classes) != 1)}"
    factor = f"within a Bayes factor of {near.factor:g} ({log(near.factor):.2f} nats)"
    lines.append(f"near-optimal networks {factor}: {'' if near.complete else 'at least '}{count}")
    if not near.complete:
        lines.append(f"all classes within less than a factor of {near.complete_factor:.3g} are among them")
    best = near.classes[0]
    for each in near.classes[:_CLASSES]:
        changes = each.differences(best)
        kinds = (("adds", "added", each), ("removes", "removed", best), ("redirects", "redirected", each))
        parts = [
            f"{verb} {', '.join(_edge_of_class(edge, owner.cpdag) for edge in changes[kind])}"
            for verb, kind, owner in kinds
            if changes[kind]
        ]
        lines.append(f"{near.best - each.score:8.3f} lower  {'; '.join(parts) or 'the best network'}")
    if len(near.classes) > _CLASSES:
        lines.append(f"     ... and {len(near.classes) - _CLASSES:,} more")
    shared = [edge_text(a, b, None if (a, b) in near.compelled else Direction.UNDETERMINED) for a, b in near.adjacencies]
    whose = "all near-optimal networks" if near.shared_by_all else "the listed classes, but maybe not in others"
    return [*lines, f"edges in {whose} (a -- b: the direction is undetermined): {', '.join(shared) or 'none'}"]


def _edge_of_class(edge: Edge, cpdag: nx.DiGraph) -> str:
    """Return an edge as text. It has an arrow if it is compelled in this equivalence class."""
    is_reversible = all(cpdag.has_edge(*pair) for pair in (edge, edge[::-1]))
    parent, child = edge if cpdag.has_edge(*edge) else edge[::-1]
    return edge_text(parent, child, Direction.UNDETERMINED if is_reversible else None)


def _score_line(solution: AnnotatedSolution) -> str:
    if solution.division is not None and not solution.division.acyclic:
        return "not a network: the votes of the subproblems leave a cycle; remove its weakest edge with acyclic=True"
    if solution.score != solution.score:
        limit = plural(solution.max_parents, "parent")
        return f"not a network: every read has a cycle or more than {limit}; increase num_reads=..."
    if has_only_scores(solution):
        return f"log score {solution.score:.3f}, {optimality_text(solution, f'the parent sets of {solution.score_name}')}"
    by_votes = solution.division is not None and solution.division.combine != "conquer"
    limit = f"{'no variable has more than' if by_votes else 'at most'} {plural(solution.max_parents, 'parent')}"
    return f"{solution.score_name} log score {solution.score:.3f}, {optimality_text(solution, limit)}"


def optimality_text(solution: AnnotatedSolution, limit: str) -> str:
    """Return a text that states whether the score is proved to be the highest, with the upper bound and the gap if known.

    Args:
        solution: learned network with its score.
        limit: parent limit as text, such as `at most 2 parents`.
    """
    if solution.optimal:
        networks = compared_networks(solution).replace("that obeys", "that obey").replace(" per variable", "")
        if has_only_scores(solution):
            networks = f"with the parent sets of {solution.score_name}"
        return f"highest of all networks {networks}".rstrip() + " (proved)"
    bound = solution.bound
    if bound is None:
        return f"not proved to be the highest ({limit})"
    if solution.gap is None:
        few = plural(bound.max_parents, "parent")
        most = max(degree for _, degree in solution.dag.in_degree)
        if most <= bound.max_parents and abs(solution.score - bound.score) < SAME_SCORE:
            return f"highest of all networks with at most {few} (proved), but not proved for {limit}"
        return f"not proved to be the highest ({limit}); upper bound for at most {few} only: {bound.score:.3f}"
    return f"not proved to be the highest ({limit}); upper bound {bound.score:.3f} (gap {solution.gap:.3f})"


def prior_lines(solution: AnnotatedSolution) -> list[str]:
    """Return a line with the part of the score that comes from probabilities of edges; no line if there are none.

    Args:
        solution: learned network with its score.
    """
    if solution.knowledge is None or not solution.knowledge.probabilities or solution.score != solution.score:
        return []
    given = solution.knowledge.probabilities
    present = sum(edge in given for edge in solution.dag.edges)
    return [
        f"{solution.log_prior:.3f} of the score comes from the probabilities of edges; "
        f"the network has {present} of the {plural(len(given), 'edge')} with a probability"
    ]


def proof_line(bound: Bound) -> str:
    """Return a line that states why a proof attempt ended early, and how to continue it.

    Args:
        bound: upper bound that was proved so far.
    """
    if bound.stopped == "effort":
        return "the proof attempt stopped after a fixed effort; set prove=300 to allow 300 s"
    return f"the proof attempt was stopped by {'Ctrl-C' if bound.stopped == 'interrupt' else 'the time limit'}"


def em_lines(em: EMSummary) -> list[str]:
    """Return lines about structural EM: the gaps, the log-likelihood and the number of structures.

    Args:
        em: summary of structural EM.
    """
    gaps = f"{plural(em.missing_values, 'missing value')} in {plural(em.incomplete_rows, 'row')}"
    lines = [
        f"structural EM: {gaps}; log-likelihood of the known values {em.log_likelihood:.3f}; "
        f"{plural(em.iterations, 'structure')} learned from estimates"
    ]
    if not em.exact:
        lines.append("rows with many missing values were represented by random completions in the structure searches")
    if em.stopped:
        reasons = {"interrupt": "Ctrl-C", "size": "a network that was too densely connected"}
        lines.append(f"structural EM was stopped by {reasons.get(em.stopped, 'the time limit')}")
    return lines


def search_lines(search: SearchSummary, optimal: bool, translate: Callable[[str], str] = str) -> list[str]:
    """Return lines that describe the end of an anytime search.

    Args:
        search: summary of the search.
        optimal: whether the network is proved optimal. Then neither the stop nor local optimality needs a line.
        translate: function that rewrites texts with names of Python arguments.
    """
    lines = []
    if search.stopped and not optimal:
        reason = "Ctrl-C" if search.stopped == "interrupt" else "the time limit"
        finished = search.locally_optimal  # the last stage of a search
        stopped = f"{reason} stopped the proof" if finished else f"search stopped by {reason}"
        lines.append(f"{stopped}; this is the best network so far")
    elif search.locally_optimal and not optimal:
        lines.append("no addition, removal, reversal or replacement of a single edge raises the score")
    if search.at_limit:
        names = ", ".join(shorten(name) for name in search.at_limit[:_NAMES])
        more = "" if len(search.at_limit) <= _NAMES else f" and {len(search.at_limit) - _NAMES} more"
        lines.append(f"{translate('max_parents is reached')} by {names}{more}")
    return lines


def shorten(name: str) -> str:
    """Return a name for printing. Control characters are escaped, and names wider than 60 columns are shortened.

    Args:
        name: name of a variable or a state.
    """
    text = "".join(letter if letter.isprintable() else repr(letter)[1:-1] for letter in name)
    return fit_text(text, _LONGEST)


def edge_text(parent: str, child: str, direction: Direction | None) -> str:
    """Return an edge as text: `a -> b`, or `a -- b` if its direction is undetermined.

    Args:
        parent: name of the variable at the start of the edge.
        child: name of the variable at the end of the edge.
        direction: support for the direction; None if it was not judged.
    """
    return f"{shorten(parent)} {'--' if direction is Direction.UNDETERMINED else '->'} {shorten(child)}"


def structure_lines(dag: nx.DiGraph, directions: Mapping[Edge, Direction]) -> list[str]:
    """Return one line for each variable, with the names of the variable and its parents, and lines that explain the signs.

    `<-` stands before the parents whose direction is known, `--` before the other parents in the DAG.

    Args:
        dag: graph of the network.
        directions: support for the direction of each edge; empty if directions were not judged.
    """
    names = list(dag)
    width = max(display_width(shorten(name)) for name in names)
    lines = []
    for name, parents in ordered_parents(dag, names).items():
        open_ = [parent for parent in parents if directions.get((parent, name)) is Direction.UNDETERMINED]
        known = [parent for parent in parents if parent not in open_]
        sides = [f"{sign} {', '.join(map(shorten, each))}" for sign, each in (("<-", known), ("--", open_)) if each]
        lines.append(f"  {pad_text(shorten(name), width)} {'  '.join(sides)}" if sides else f"  {shorten(name)}")
    present = set(directions.values())
    meanings = [text for direction, text in _SIGNS.items() if direction in present]
    signs = [f"<- {', or '.join(meanings)}"] if meanings else []
    signs += ["-- direction undetermined"] if Direction.UNDETERMINED in present else []
    return [*lines, *(["", f"  {';  '.join(signs)}"] if signs else [])]


def division_lines(division: Division) -> list[str]:
    """Return lines that describe a division into subproblems.

    Args:
        division: description of the division.
    """
    lines = []
    if division.subproblems:
        lines.append(
            f"{division.subproblems:,} subproblems of {division.size} variables ({division.scheme}) "
            f"solved by {division.solver}, combined by {division.combine}"
        )
    else:
        lines.append("no subproblems" + ("" if division.scheme == "none" else f" ({division.scheme})"))
    if division.global_solver is not None and division.candidates is not None:
        most = max(map(len, division.candidates.values()))
        lines.append(
            f"global problem solved {plural(division.global_solves or 0, 'time')} by {division.global_solver}, "
            f"at most {plural(most, 'candidate parent')}"
        )
    if division.failed:
        name, why = next(iter(division.failed.items()))
        lines.append(f"{plural(len(division.failed), 'subproblem')} failed, first ({name}): {why}")
    if division.interrupted:
        lines.append(
            f"interrupted: {division.finished:,} of {division.subproblems:,} subproblems were solved; "
            "this is the best network so far"
        )
    if division.skipped:
        lines.append(f"search notes: {division.skipped}")
    return lines


def read_lines(reads: ReadSummary) -> list[str]:
    """Return lines that describe the reads of a sampler before and after repair.

    Args:
        reads: summary of the reads of a sampler.
    """
    optimum = reads.optimum

    def score(value: float) -> str:
        return f"{value:14.3f}" + ("" if optimum is None else f"  {optimum - value:10.3f} below the optimum")

    raw, repaired = reads.raw, reads.repaired
    lines = [
        f"QUBO with {plural(reads.qubo_variables, 'variable')} and {plural(reads.interactions, 'interaction')} "
        f"({reads.encoding})",
        f"{plural(reads.reads, 'read')}, {reads.distinct:,} distinct; {reads.feasible:.1%} are networks without repair",
        f"  raw       {score(raw.score)}, in {plural(raw.hits, 'read')}" if raw else "  raw       no read is a network",
        f"  repaired  {score(repaired.score)}, in {plural(repaired.hits, 'read')}",
        f"  baseline  {score(reads.baseline)}, best of {reads.reads:,} random orders",
    ]
    return lines if optimum is None else [*lines, f"  optimum   {optimum:14.3f}  (exact search)"]


def hardware_line(hardware: Hardware) -> str:
    """Return a line with the usage of a quantum annealer.

    Args:
        hardware: usage of the annealer.
    """
    cost = f"{hardware.access_seconds:.3f} s of access time"
    charge = f"emulated; the real chip would charge {cost}" if hardware.emulated else f"charged {cost}"
    fetched = f", {plural(hardware.fetched, 'answer')} fetched from an earlier run" if hardware.fetched else ""
    return f"{hardware.system}: {plural(hardware.calls, 'call')}, {charge}{fetched}; " + (
        f"{hardware.chain_break_fraction:.1%} of chains of several qubits broken" if hardware.chains else "no chains"
    )


def comparison_line(comparison: Comparison) -> str:
    """Return a line that describes the comparison of a learned graph with the true graph.

    Args:
        comparison: result of `compare`.
    """
    distance = "undefined (cycle)" if comparison.cpdag_shd is None else str(comparison.cpdag_shd)
    scores = ""
    if comparison.score is not None and comparison.score_gap is not None:
        scores = f"; log score {comparison.score:.3f}, truth {comparison.score + comparison.score_gap:.3f}"
    return (
        f"{plural(comparison.true_positives, 'true positive')}, {plural(comparison.false_positives, 'false positive')}, "
        f"{plural(comparison.missing, 'missing edge')}; sensitivity {comparison.sensitivity:.3f}, "
        f"specificity {comparison.specificity:.3f}, precision {comparison.precision:.3f}, F1 {comparison.f1:.3f}; "
        f"SHD {comparison.shd}, CPDAG distance {distance}{scores}"
    )


def confidence_lines(solution: AnnotatedSolution) -> list[str]:
    """Return lines with the measures of confidence.

    Args:
        solution: learned network with measures of confidence.
    """
    measures = solution.confidence or Confidence()
    lines = _edge_lines(measures, solution.directions)
    if measures.bootstrap is not None:
        lines += near_miss_lines(solution.near_misses)
        lines.append(f"  {bootstrap_line(measures.bootstrap)}")
    if measures.posteriors is not None:
        lines += [f"  {line}" for line in posterior_lines(measures.posteriors)]
    if measures.sensitivity:
        lines += ["", *_sensitivity_lines(list(solution.dag), measures.sensitivity, solution.knowledge)]
    if measures.holdout is not None:
        holdout = measures.holdout
        lines += ["", holdout_line(holdout)]
    return lines


def near_miss_lines(misses: Sequence[NearMiss]) -> list[str]:
    """Return lines that list the edges which are frequent in the bootstrap but absent from the network.

    Args:
        misses: near misses, most frequent first.
    """
    if not misses:
        return []
    names = [edge_text(miss.parent, miss.child, judge_near_miss(miss)) for miss in misses[:_NEAR_MISSES]]
    width = max(map(display_width, names))
    lines = ["  frequent in the bootstrap, but not in the network (frequency of the edge, and of this direction):"]
    for name, miss in zip(names, misses, strict=False):
        lines.append(f"  {pad_text(name, width)}  {miss.frequency:6.2f}  {miss.forward:6.2f}")
    if len(misses) > _NEAR_MISSES:
        lines.append(f"  ... and {len(misses) - _NEAR_MISSES:,} more")
    return lines


def holdout_line(holdout: HoldoutResult) -> str:
    """Return a line with the log-likelihood per held-out row, for the learned network and for a network without edges.

    Args:
        holdout: result of `holdout`.
    """
    return (
        f"{holdout.rows:,} held-out rows: log-likelihood per row {holdout.log_likelihood:.4f}; "
        f"for a network without edges {holdout.without_edges:.4f}"
    )


def bootstrap_line(bootstrap: Bootstrap) -> str:
    """Return a line with the number of bootstrap samples. If there are fewer samples than requested, state why.

    Args:
        bootstrap: result of `bootstrap`.
    """
    drawn = "as many rows, with replacement" if bootstrap.method == "rows" else f"{SHARE:.0%} of the rows"
    if bootstrap.samples >= bootstrap.requested:
        return f"bootstrap: {plural(bootstrap.samples, 'sample')} of {drawn}"
    reason = "Ctrl-C" if bootstrap.interrupted else "the time limit"
    return f"bootstrap: {bootstrap.samples:,} of {plural(bootstrap.requested, 'sample')} of {drawn} (stopped by {reason})"


def posterior_lines(posteriors: EdgePosteriors) -> list[str]:
    """Return lines that state how posterior probabilities were computed, and whether Markov chains agree.

    Args:
        posteriors: result of `edge_posteriors`.
    """
    limit = f"at most {plural(posteriors.max_parents, 'parent')}"
    if posteriors.candidates is not None:
        limit += f" of {plural(posteriors.candidates, 'candidate')}"
    lines = [f"posterior probabilities: {posteriors.method}, prior {posteriors.prior} ({PRIORS[posteriors.prior]}), {limit}"]
    if (chains := posteriors.convergence) is not None:
        rhat = "undefined" if chains.rhat is None else f"{chains.rhat:.3f}"
        lines.append(
            f"{plural(chains.chains, 'chain')} of {plural(chains.sweeps, 'sweep')}: R-hat {rhat}, "
            f"{chains.effective_samples:,.0f} effective samples, largest difference between chains {chains.difference:.3f}"
        )
        if not chains.converged:
            reason = (
                "the time limit ended them early" if chains.late else "they need more time, or stay in different networks"
            )
            lines.append(f"the chains have not converged ({reason}), so these probabilities are not reliable")
    return lines


def _edge_lines(measures: Confidence, directions: Mapping[Edge, Direction]) -> list[str]:
    """Return the lines of a table of edges with their score drops, directions, bootstrap frequencies and posteriors."""
    strengths, bootstrap, posteriors = measures.strengths, measures.bootstrap, measures.posteriors
    if not strengths:
        return []
    judged = [directions.get((strength.parent, strength.child)) for strength in strengths]
    names = [
        edge_text(strength.parent, strength.child, direction) for strength, direction in zip(strengths, judged, strict=True)
    ]
    words = ["" if direction is None else str(direction) for direction in judged]
    long = max(9, *map(len, words))
    width = max(4, *map(display_width, names))
    first = f"  {'':{width}}{'score drop if':>19}"
    second = f"  {'edge':{width}}  {'removed':>9}  {'reversed':>8}  {'direction':{long}}"
    if bootstrap is not None:
        first = f"{first:{len(second) + 2}}bootstrap frequency"
        second += f"{'edge':>8}   {'this way':>8}"
    if posteriors is not None:
        first = f"{first:{len(second) + 5}}posterior"
        second += f"{'edge':>8}   {'this way':>8}"
    lines = [first, second.rstrip()]
    for name, strength, word in zip(names, strengths, words, strict=True):
        drop = "cycle" if strength.drop_if_reversed is None else f"{strength.drop_if_reversed:.2f}"
        line = f"  {pad_text(name, width)}  {strength.drop_if_removed:9.2f}  {drop:>8}  {word:{long}} "
        if bootstrap is not None:
            frequency, forward = bootstrap.frequency(strength.parent, strength.child)
            line += f" {frequency:6.2f}  {forward:9.2f}"
        if posteriors is not None:
            probability, forward = posteriors.probability(strength.parent, strength.child)
            line += (
                f" {probability:7.2f}  {forward:9.2f}" if bootstrap is not None else f" {probability:6.2f}  {forward:9.2f}"
            )
        if bootstrap is not None and frequency < measures.threshold:
            line += "  weak"
        lines.append(line.rstrip())
    return lines


def _sensitivity_lines(names: Sequence[str], edges_by_size: Mapping[float, Edges], knowledge: Knowledge | None) -> list[str]:
    """Return the lines of a table that shows the edges and their directions for each equivalent sample size."""
    rows = compare_classes([graph_from_edges(names, edges) for edges in edges_by_size.values()], knowledge)
    pairs = [f"{shorten(a)} - {shorten(b)}" for a, b in rows]
    width = max([len("equivalent sample size"), *map(display_width, pairs)])
    column = max([7, *(len(word) for words in rows.values() for word in words)])
    lines = [f"  {'equivalent sample size':{width}} " + " ".join(f"{size:>{column}g}" for size in edges_by_size)]
    for name, words in zip(pairs, rows.values(), strict=True):
        lines.append(f"  {pad_text(name, width)} " + " ".join(f"{word:>{column}}" for word in words))
    return lines
