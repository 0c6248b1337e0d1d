"""Explanations of the terms on the page."""

from __future__ import annotations

from dagneal.base.defaults import AGREEMENT
from dagneal.confidence.annotated import AnnotatedSolution

COLUMNS = {
    "from": ("from, to", "The edge leads from a parent to its child."),
    "kind": (
        "compared with the truth",
        "True positive: the true network has this edge. Reversed: it has the edge in the other direction. "
        "Reversed but equivalent: reversed, and the data cannot distinguish the two directions. "
        "False positive: the true network has no edge between these variables. Missing: only the truth has this edge.",
    ),
    "drop_if_removed": (
        "score drop if removed",
        "Decrease of the log score without this edge, in nats (natural-log units). "
        "A drop below 3 (Bayes factor 20) is weak evidence for the edge.",
    ),
    "drop_if_reversed": (
        "score drop if reversed",
        "Decrease of the log score if only this edge is reversed, in nats; “cycle” if the reversal makes a cycle. "
        "It ignores background knowledge. A reversible edge can have a drop above 0 if other edges must change with it.",
    ),
    "frequency": (
        "bootstrap frequency",
        "Fraction of bootstrap samples (random rows) whose network joins these two variables in either direction.",
    ),
    "forward": (
        "frequency of this direction",
        "Fraction with this direction among the bootstrap samples that join the two variables. "
        "A reversible edge counts half in each direction.",
    ),
    "posterior": (
        "posterior probability",
        "Probability that the two variables are adjacent, given these data: the weight of all networks that join them.",
    ),
    "posterior_forward": (
        "posterior of this direction",
        "Probability of this direction, given these data and that the two variables are adjacent.",
    ),
    "votes": ("votes for", "Number of solved subproblems that have this edge."),
    "against": ("votes against", "Number of solved subproblems that contain both variables but not this edge."),
    "direction": (
        "direction",
        "Fixed by knowledge: background knowledge allows only this direction. "
        "Supported by the data: all networks of the equivalence class have this direction, the edge is not weak, and at "
        f"least {AGREEMENT:.0%} of the bootstrap samples that have the edge agree. "
        "Compelled, stability unknown: all networks of the class have this direction, but the class is an estimate, and no "
        "bootstrap was done. Undetermined: none of these.",
    ),
}
"""Columns of the edge table: heading and explanation."""

_BAYESIAN = "a Bayesian score with a Dirichlet prior"
_SCORES = {
    "BDeu(N)": f"Bayesian Dirichlet equivalent uniform score, {_BAYESIAN} that weighs as much as the data.",
    "K2": f"{_BAYESIAN[0].upper()}{_BAYESIAN[1:]} of one pseudo-count for each state.",
    "Perks": f"{_BAYESIAN[0].upper()}{_BAYESIAN[1:]} of one pseudo-count for each combination of parent states.",
    "BIC": "Bayesian information criterion: log-likelihood of the data minus a penalty for each free parameter.",
    "AIC": "Akaike's information criterion: log-likelihood of the data minus 1 for each free parameter.",
    "qNML": "Quotient normalised maximum likelihood: log-likelihood of the data minus what the best fit gains on any data.",
    "fNML": "Factorised normalised maximum likelihood: log-likelihood of the data minus what the best fit of each row of "
    "the probability tables gains on any data.",
}


def explain_score(solution: AnnotatedSolution) -> list[tuple[str, str]]:
    """Return pairs (term, explanation) for the terms in the line of the page that shows the score.

    Args:
        solution: learned network with its score.

    >>> import networkx as nx
    >>> [term for term, _ in explain_score(AnnotatedSolution(nx.DiGraph(), -9.5, 2, "exact", score_name="BDeu(1)"))]
    ['BDeu(1)', 'log score', 'not proved to be the highest']
    """
    if solution.score != solution.score:
        return []
    name = solution.score_name
    text = _SCORES.get(name, "")
    for start, full in (("BDeu(", "equivalent uniform"), ("BDs(", "sparse")):
        if not text and name.startswith(start):
            size = name.removeprefix(start).removesuffix(")")
            weight = f"{size} row{'' if size == '1' else 's'} of data"
            text = (
                f"Bayesian Dirichlet {full} score, {_BAYESIAN}; the prior weighs as much as {weight} "
                "(the equivalent sample size)."
            )
    terms = [(name, text)] if text else []
    prior = " It includes the log-odds of edges with a probability." if solution.knowledge and solution.log_prior else ""
    terms.append(("log score", f"Natural logarithm of the score of the network on these data. Higher is better.{prior}"))
    if solution.optimal:
        optimal = (
            "No network within the parent limit and the background knowledge scores higher on these data. "
            "This does not mean that the network is true."
        )
        return [*terms, ("highest (proved)", optimal)]
    terms.append(("not proved to be the highest", "Another network may score higher on these data."))
    if solution.gap is not None:
        bound = "No network within the parent limit scores above the bound (proved). The gap is the bound minus the score."
        terms.append(("upper bound, gap", bound))
    elif solution.bound is not None:
        few = f"No network with at most {solution.bound.max_parents} parents per variable scores above the bound (proved)."
        terms.append(("upper bound", few))
    return terms
