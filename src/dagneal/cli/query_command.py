"""`dagneal query`: ask a network for probabilities and effects."""

from __future__ import annotations

import argparse

from dagneal.cli import show
from dagneal.cli.inputs import MODEL_HELP, read_model
from dagneal.cli.knowledge_options import add_knowledge_options, read_knowledge_options
from dagneal.cli.parsing import Parser

SUMMARY = "ask a network for probabilities and effects of interventions"
USAGE = "NETWORK QUESTION [options]"
EXAMPLES = """\
examples:
  dagneal query network.bif 'P(Cancer | Smoker=yes, Xray=positive)'
  dagneal query result.json 'P("chest pain", Cancer | Smoker=yes)'     # joint distribution; quotes for special characters
  dagneal query network.bif 'P(Cancer=yes | Xray={positive, unclear})' # one probability, given one of two states
  dagneal query network.bif 'P(Cancer | Xray={positive: 0.8, negative: 0.1})'   # likelihood of an uncertain observation
  dagneal query network.bif 'P(Cancer | do(Smoker=no))' --tiers Smoker:Cancer   # effect of an intervention
"""


def add_options(command: Parser) -> None:
    """Add the arguments and options of the command.

    Args:
        command: parser of the command.
    """
    command.add_argument("network", metavar="NETWORK", help=MODEL_HELP)
    command.add_argument(
        "question", metavar="QUESTION", help="such as 'P(Cancer | Smoker=yes)' or 'P(Cancer | do(Smoker=no))'"
    )
    command.add_argument(
        "--trust-directions",
        action="store_true",
        help="take the direction of every edge as causal (default: all members of the equivalence class)",
    )
    add_knowledge_options(command, probabilities=False)


def run(options: argparse.Namespace) -> None:
    """Answer the question and print the answer.

    Args:
        options: parsed options of the command.
    """
    from dagneal.inference.models import find_members
    from dagneal.inference.question import ask

    model = read_model(options.network)
    knowledge = read_knowledge_options(options, find_members(model).first.names)
    answer = ask(model, options.question, knowledge, options.trust_directions)
    show.result({"question": options.question, **answer.to_dict()}, repr(answer), options)
