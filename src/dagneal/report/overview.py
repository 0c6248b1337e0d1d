"""The overview: one paragraph in words about a learned network, for the top of the terminal output and of the page.

It states what was learned from what, the strongest and the weakest links, how well directions are supported, what is proved,
and what to try next.
"""

from __future__ import annotations

import shlex
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from itertools import chain, islice
from math import ceil, inf, log

from dagneal.base.defaults import BAYES_FACTOR, BOOTSTRAP_SAMPLES, FEW_ROWS
from dagneal.base.text import fit_text, plural
from dagneal.confidence.annotated import AnnotatedSolution, Confidence
from dagneal.confidence.consensus import CONSENSUS
from dagneal.confidence.judgement import judge_near_miss
from dagneal.confidence.parameter_counts import ROWS_PER_PARAMETER
from dagneal.data.inspection import DUPLICATES
from dagneal.graphs.directions import Direction
from dagneal.report.edges import FREQUENT

SAME_SCORE = 1e-5  # smaller differences of scores are not reported

# Labels of the sentences
LEARNED, STRONG, DOUBTFUL, DIRECTIONS, PROVED, NEXT = "Learned", "Strong", "Doubtful", "Directions", "Proved", "Next"

_LONGEST = 40  # longest name, in columns
_STEPS = 2  # most suggestions
_FEW_SAMPLES = 50  # with fewer bootstrap samples, frequencies are rough
_MOST_RARE = 0.1  # larger fractions of rows are not rare
_PROOF = 300  # seconds for a longer proof attempt
_DIRECTIONS = {
    Direction.FIXED: "fixed by knowledge",
    Direction.SUPPORTED: "supported by the data",
    Direction.COMPELLED: "compelled (stability unknown without a bootstrap)",
    Direction.UNDETERMINED: "undetermined",
}


def overview(solution: AnnotatedSolution, command_line: bool = False, arrow: str = "->") -> list[str]:
    """Return a few sentences that describe a learned network.

    Args:
        solution: learned network with its measures.
        command_line: True to suggest options of the command line, False to suggest Python code.
        arrow: text between the names of an edge with a direction.

    >>> import networkx as nx
    >>> network = AnnotatedSolution(nx.DiGraph([("a", "b")]), -9.5, 1, "exact", True, score_name="x.jkl")
    >>> print("\\n".join(overview(network)))
    The network has 1 edge between 2 variables, learned from scores (x.jkl), without data.
    Its direction is undetermined.
    No other network with these parent sets has a higher score (proved), but that does not make this one true.
    Next: learn from the data instead of scores, to measure each link.
    """

    return [text for _, text in overview_parts(solution, command_line, arrow)]


def overview_parts(
    solution: AnnotatedSolution, command_line: bool = False, arrow: str = "->", line: str = "--"
) -> list[tuple[str, str]]:
    """Return the sentences of the overview, each with a label: what it is about.

    Args:
        solution: learned network with its measures.
        command_line: True to suggest options of the command line, False to suggest Python code.
        arrow: text between the names of an edge with a direction.
        line: text between the names of an edge of undetermined direction.
    """

    def link(parent: str, child: str, direction: Direction | None) -> str:
        middle = line if direction is Direction.UNDETERMINED else arrow
        return f"{fit_text(parent, _LONGEST)} {middle} {fit_text(child, _LONGEST)}"

    if not solution.is_dag:
        has_cycle = solution.division is not None and not solution.division.acyclic
        cause = "a cycle" if has_cycle else "a cycle or too many parents"
        problem = f"The graph is not a network: it has {cause}, so it has no score."
        return [(LEARNED, problem), *((NEXT, text) for text in _next_steps(solution, command_line))]
    parts = [
        (LEARNED, _subject(solution)),
        *_links(solution, link),
        *((DIRECTIONS, text) for text in _directions(solution)),
        (PROVED, _proof(solution)),
        *((DOUBTFUL, text) for text in _near_misses(solution, link)),
        *((NEXT, text) for text in _next_steps(solution, command_line)),
    ]
    return [(label, text[0].upper() + text[1:]) for label, text in parts]


def explain_no_edges(solution: AnnotatedSolution) -> str:
    """Return the reason why a network has no edges.

    Args:
        solution: learned network without edges.
    """
    names = list(solution.dag)
    pairs = len(names) * (len(names) - 1)
    allowed = pairs
    if solution.knowledge:
        rules = solution.knowledge.constraints(names, solution.max_parents)
        allowed = int((rules.allowed & (rules.limits > 0)).sum())
    if not pairs:
        return "there is only one variable"
    if solution.solver == CONSENSUS:
        return "no edge is frequent enough in the bootstrap"
    if _is_from_votes(solution):
        return "no edge has enough votes of the subproblems"  # max_parents is no limit here
    if solution.max_parents == 0:
        return "the parent limit is 0"
    if not allowed:
        return "the background knowledge allows none"
    edge = "no edge allowed by the background knowledge" if allowed < pairs else "no edge"
    return f"{edge} raises the score" if solution.optimal else f"{edge} was found to raise the score"


def _is_from_votes(solution: AnnotatedSolution) -> bool:
    """Return whether the edges were chosen by votes of subproblems, not by the score."""
    return solution.division is not None and solution.division.combine in ("penalty", "count")


def has_only_scores(solution: AnnotatedSolution) -> bool:
    """Return whether a solution was learned from a table of scores, which need not contain all parent sets.

    Args:
        solution: learned network.
    """
    return solution.data_summary is None and solution.criterion is None


def compared_networks(solution: AnnotatedSolution, parents: int | None = None) -> str:
    """Return a text that states which networks a proof is about, such as `with at most 2 parents per variable`.

    The text is empty if the proof is about all networks.

    Args:
        solution: learned network.
        parents: parent limit of the proof; that of the solution by default.
    """
    if has_only_scores(solution):
        return "with these parent sets"
    limit = solution.max_parents if parents is None else parents
    parts = [] if limit >= len(solution.dag) - 1 else [f"with at most {plural(limit, 'parent')} per variable"]
    rules = solution.knowledge
    if rules is not None and any(name != "probabilities" for name in rules.to_dict()):
        parts.append("that obeys the background knowledge")
    return " ".join(parts)


def _subject(solution: AnnotatedSolution) -> str:
    """Return a sentence that states what was learned from what."""
    edges, variables = solution.dag.number_of_edges(), len(solution.dag)
    what = f"{plural(edges, 'edge')} between {plural(variables, 'variable')}" if variables > 1 else "one variable"
    alone = sum(not degree for _, degree in solution.dag.degree)
    source = f"learned from scores ({solution.score_name or 'unnamed'}), without data"
    if (data := solution.data_summary) is not None:
        source = f"learned from {plural(data.rows, 'row')} with the score {solution.score_name}"
        if solution.solver == CONSENSUS:
            source = f"those that are frequent in bootstrap samples of {plural(data.rows, 'row')}"
    elif solution.criterion is not None:
        source = f"learned with the score {solution.score_name}"
    more = f"; {plural(alone, 'variable')} {'has' if alone == 1 else 'have'} no edge" if alone and edges else ""
    if not edges:
        more = f": {explain_no_edges(solution)}"
        what = f"no edges between {plural(variables, 'variable')}" if variables > 1 else what
    return f"the network has {what}, {source}{more}."


def _links(solution: AnnotatedSolution, link: Callable[[str, str, Direction | None], str]) -> list[tuple[str, str]]:
    """Return labelled sentences about the strongest and the weakest link, as far as the measures are known."""
    bootstrap = (solution.confidence or Confidence()).bootstrap
    drops = {(each.parent, each.child): each.drop_if_removed for each in solution.known_strengths or ()}
    edges = [edge for edge in solution.edges if edge in drops or (bootstrap is not None and not drops)]
    if not edges:
        return []
    index = {} if bootstrap is None else {name: i for i, name in enumerate(bootstrap.names)}

    def frequency(edge: tuple[str, str]) -> float:
        return 1.0 if bootstrap is None else float(bootstrap.edges[index[edge[0]], index[edge[1]]])

    def describe(edge: tuple[str, str]) -> str:
        parts = []
        if edge in drops:
            drop = drops[edge]
            weak = ", which is weak evidence" if drop < log(BAYES_FACTOR) else ""
            weak = ", so the data speak against it" if drop < 0 else weak
            parts.append(f"the log score {'falls' if drop >= 0 else 'rises'} by {abs(drop):,.2f} without it{weak}")
        if bootstrap is not None:
            parts.append(f"{frequency(edge):.0%} of the bootstrap samples have it")
        return f"{link(*edge, solution.directions.get(edge))} ({'; '.join(parts)})"

    def judge(edge: tuple[str, str]) -> str:
        return _judge_link(drops.get(edge, inf), frequency(edge))

    if len(edges) == 1:
        return [(judge(edges[0]), f"its only link is {describe(edges[0])}.")]
    strongest = max(edges, key=lambda edge: (drops.get(edge, 0.0), frequency(edge)))
    weakest = min((edge for edge in edges if edge != strongest), key=lambda edge: (frequency(edge), drops.get(edge, 0.0)))
    return [
        (judge(strongest), f"the strongest link is {describe(strongest)}."),
        (judge(weakest), f"the weakest link is {describe(weakest)}."),
    ]


def _judge_link(drop: float, frequency: float) -> str:
    """Return the label of a link: doubtful if the evidence for it is weak or the bootstrap often lacks it."""
    return DOUBTFUL if drop < log(BAYES_FACTOR) or frequency < FREQUENT else STRONG


def _directions(solution: AnnotatedSolution) -> list[str]:
    """Return a sentence that counts the directions by their support."""
    counts = Counter(solution.directions.values())
    parts = [f"{counts[direction]:,} {text}" for direction, text in _DIRECTIONS.items() if counts[direction]]
    if len(counts) == 1:
        ((direction, number),) = counts.items()
        words = {1: "its direction is", 2: "both directions are"}
        return [f"{words.get(number, f'all {number:,} directions are')} {_DIRECTIONS[direction]}."]
    return [f"directions: {', '.join(parts)}."] if parts else []


def _proof(solution: AnnotatedSolution) -> str:
    """Return a sentence that states what is proved."""
    networks = compared_networks(solution)
    network = f"network {networks}".rstrip()
    rows = "" if has_only_scores(solution) else " on these rows"
    if solution.em is not None:
        return (
            f"structural EM estimated {plural(solution.em.missing_values, 'missing value')} in "
            f"{plural(solution.em.incomplete_rows, 'row')}; each search was for the last estimates only, so another "
            f"{network} may have a higher score."
        )
    if solution.optimal:
        return f"no other {network} has a higher score{rows} (proved), but that does not make this one true."
    if solution.solver == CONSENSUS:
        return "a consensus does not maximise the score, so nothing is proved about it."
    if _is_from_votes(solution):
        return "votes of subproblems do not maximise the score, so nothing is proved about it."
    bound, gap = solution.bound, solution.gap
    early = _stop_reason(solution)
    stopped = f"the search was stopped early by {early}; " if early else ""
    if bound is not None and gap is not None:
        return f"{stopped}another {network} may score higher, but by at most {gap:,.3f} (proved)."
    if bound is not None and abs(solution.score - bound.score) < SAME_SCORE:
        fewer = f"no other network {compared_networks(solution, bound.max_parents)}".rstrip()
        return f"{stopped}{fewer} has a higher score{rows} (proved); a network with more parents may."
    return f"{stopped}it is not proved that no other {network} has a higher score{rows}."


def _stop_reason(solution: AnnotatedSolution) -> str:
    """Return what stopped the search before its end; an empty text if nothing did. A stopped proof does not count."""
    search, division = solution.search, solution.division
    if solution.em is not None and solution.em.stopped in ("interrupt", "time"):
        return "Ctrl-C" if solution.em.stopped == "interrupt" else "the time limit"
    if search is not None and search.stopped and not search.locally_optimal:
        return "Ctrl-C" if search.stopped == "interrupt" else "the time limit"
    return "Ctrl-C" if division is not None and division.interrupted else ""


def _near_misses(solution: AnnotatedSolution, link: Callable[[str, str, Direction | None], str]) -> list[str]:
    """Return a sentence about edges that are frequent in the bootstrap but absent from the network."""
    misses = solution.near_misses
    if not misses:
        return []
    first = link(misses[0].parent, misses[0].child, judge_near_miss(misses[0]))
    if len(misses) == 1:
        return [f"1 edge is frequent in the bootstrap but absent from the network: {first}."]
    return [f"{len(misses):,} edges are frequent in the bootstrap but absent from the network, such as {first}."]


def _next_steps(solution: AnnotatedSolution, command_line: bool) -> list[str]:
    """Return a sentence with one or two suggestions."""
    suggestions: Iterable[tuple[str, str]] = _suggest_repair(solution)
    if solution.is_dag:
        suggestions = chain(_suggest_for_data(solution), _suggest_for_edges(solution), _suggest_for_use(solution))
    steps = [command if command_line else python for python, command in islice(suggestions, _STEPS)]
    return [f"Next: {'; '.join(steps)}."] if steps else []


# The following functions yield suggestions, the most important first. A suggestion is a pair: the text for Python and the
# text for the command line.


def _suggest_repair(solution: AnnotatedSolution) -> Iterator[tuple[str, str]]:
    if solution.division is not None and not solution.division.acyclic:
        text = "remove the weakest edge of each cycle with "
        yield text + "acyclic=True", text + "--set acyclic=true"
    else:
        text = "take only the order of the variables from each read, with "
        yield text + "repair=True", text + "--set repair=true"


def _suggest_for_data(solution: AnnotatedSolution) -> Iterator[tuple[str, str]]:
    """Yield suggestions about the search and the data."""
    if _stop_reason(solution):
        yield "give the search more time", "give the search more time"
    if has_only_scores(solution):
        text = "learn from the data instead of scores, to measure each link"
        yield text, text
    warnings = {warning.kind: warning for warning in reversed(solution.warnings)}
    if duplicates := warnings.get(DUPLICATES):
        name = fit_text(duplicates.columns[-1], _LONGEST)
        yield f"drop a duplicate column with drop=[{name!r}]", f"drop a duplicate column with --drop {shlex.quote(name)}"
    if _is_from_votes(solution):
        text = "let the score choose the edges, with "
        yield f"{text}combine='conquer'", f"{text}--rule conquer"
    elif poor := warnings.get(ROWS_PER_PARAMETER):
        most = max((solution.dag.in_degree(name) for name in poor.columns if name in solution.dag), default=0)
        if most > 1:
            text = "reduce the number of parameters with "
            yield f"{text}max_parents={most - 1}", f"{text}--max-parents {most - 1}"
        elif (share := _rare_share(solution)) < _MOST_RARE:
            yield f"merge rare states with dn.read(..., rare={share})", f"merge rare states with --rare {share}"
        else:
            yield "use more rows", "use more rows"


def _rare_share(solution: AnnotatedSolution) -> float:
    """Return the fraction of rows below which states have too few rows, rounded up to three digits; 1 without data."""
    data = solution.data_summary
    return 1.0 if data is None else ceil(1000 * FEW_ROWS / data.rows) / 1000


def _suggest_for_edges(solution: AnnotatedSolution) -> Iterator[tuple[str, str]]:
    """Yield suggestions about the proof, and about the confidence in the edges and their directions."""
    measures, bound = solution.confidence or Confidence(), solution.bound
    has_edges = bool(solution.dag.number_of_edges()) and not has_only_scores(solution) and solution.em is None
    bootstrap, samples = measures.bootstrap, BOOTSTRAP_SAMPLES
    if has_edges and bootstrap is None:
        text = "measure the stability of the edges with "
        yield f"{text}result.bootstrap({samples})", f"{text}--bootstrap {samples}"
    if bootstrap is not None and bootstrap.samples < _FEW_SAMPLES:
        text = "use more bootstrap samples, such as "
        yield f"{text}result.bootstrap({samples})", f"{text}--bootstrap {samples}"
    if solution.search is not None and bound is not None and bound.stopped == "effort":
        yield f"try to close the gap with dn.Auto(prove={_PROOF})", f"try to close the gap with --prove {_PROOF}"
    if has_edges and Direction.UNDETERMINED in solution.directions.values():
        text = "add what you know about directions, such as "
        yield f"{text}knowledge={{'tiers': [...]}}", f"{text}--tiers FIRST:LATER"
    if solution.near_misses:
        yield (
            "average over the bootstrap with result.consensus()",
            "draw the frequent edges that are absent with --near-misses -o page.html",
        )


def _suggest_for_use(solution: AnnotatedSolution) -> Iterator[tuple[str, str]]:
    """Yield suggestions for a network without other problems."""
    if has_only_scores(solution):
        return
    if solution.em is not None:
        yield "fill the gaps with result.impute(data)", "fill the gaps with dagneal impute RESULT DATA"
        return
    if not solution.dag.number_of_edges():
        if solution.optimal and len(solution.dag) > 1:
            text = "use more rows, or add columns"
            yield text, text
    elif (solution.confidence or Confidence()).holdout is None:
        text = "check how well it predicts with "
        yield text + "dn.holdout(data)", text + "dagneal confidence RESULT DATA --holdout 0.2"
