"""`dagneal check`: check the proof of a result against the data."""

from __future__ import annotations

import argparse
from typing import Any

from dagneal.base.errors import InputError
from dagneal.cli import show
from dagneal.cli.inputs import add_reading_options, has_scores, read_data, read_table
from dagneal.cli.parsing import Parser

SUMMARY = "check the proof of a result against the data"
USAGE = "PROOF DATA [options]"
EXAMPLES = """\
The scores are counted again, and the proof is checked in exact integers. No solver is used. Give the options with which
the data were read for `dagneal learn`.

examples:
  dagneal learn patients.csv -o patients.proof
  dagneal check patients.proof patients.csv
"""


def add_options(command: Parser) -> None:
    """Add the arguments and options of the command.

    Args:
        command: parser of the command.
    """
    command.add_argument("proof", metavar="PROOF", help=".proof file of `dagneal learn -o`")
    command.add_argument("data", metavar="DATA", help="data file or score file of the result; - for standard input")
    add_reading_options(command, score=False)


def run(options: argparse.Namespace) -> None:
    """Count the scores again, check the proof, and print what it proves.

    Args:
        options: parsed options of the command.
    """
    from dagneal.base.text import plural
    from dagneal.proofs.certificate import read_proof
    from dagneal.proofs.checker import ProofError, check_proof
    from dagneal.proofs.families import ROUNDING, UNITS, Families

    proof = read_proof(options.proof)
    families = Families.of(_table(proof, options))
    try:
        bound = families.score(check_proof(proof, families))
    except ProofError as wrong:
        raise InputError(f"{options.proof} is not valid: {wrong}") from wrong
    score = bound - proof.gap / UNITS
    n = families.variables
    error = n * ROUNDING
    report: dict[str, Any] = {
        "valid": True,
        "score_name": proof.score_name,
        "score": score,
        "bound": bound,
        "gap": bound - score,
        "max_parents": proof.max_parents,
        "knowledge": dict(proof.knowledge),
        "edges": [[proof.names[p], proof.names[child]] for child, row in enumerate(proof.parents) for p in row],
        "cuts": len(proof.cuts),
        "rounding": error,
    }
    limit = "" if proof.max_parents >= n - 1 else f" with at most {plural(proof.max_parents, 'parent')} per variable"
    rules = " that obeys the background knowledge" if proof.knowledge else ""
    lines = [
        f"{options.proof} is valid",
        f"{proof.score_name} log score of its network: {score:.6f}",
        f"no network{limit}{rules} scores more than {bound:.6f} (gap {bound - score:.6f})",
        f"{len(families):,} parent sets {'read' if has_scores(options) else 'counted'} again; "
        f"rounding changes a score by at most {error:.0e}",
    ]
    if has_scores(options):
        lines.append(f"the proof covers the parent sets in {options.data}; other sets are not allowed")
    show.result(report, "\n".join(lines), options)


def _table(proof: Any, options: argparse.Namespace) -> Any:
    """Return the score table that a proof is about."""
    from dagneal.graphs.knowledge import as_knowledge
    from dagneal.scoring.bounded import complete_table
    from dagneal.scoring.scorer import Scorer, check_max_parents
    from dagneal.scoring.scores import parse_score

    if has_scores(options):
        return read_table(options)
    if not proof.criterion:
        raise InputError(f"{options.proof} has no score that can be counted from data; its score is {proof.score_name}")
    score = parse_score(proof.criterion)
    if options.columns is None:
        options.columns = [name for name in proof.names if name not in options.drop]
    data = read_data(options)
    if missing := [name for name in proof.names if name not in data.names]:
        raise InputError(f"{options.proof} is about other data: there is no column {missing[0]!r} in {options.data}")
    scorer = Scorer(data, score, as_knowledge(dict(proof.knowledge)) if proof.knowledge else None)
    return complete_table(scorer, check_max_parents(proof.max_parents, len(data.names)))
