"""Questions as text, such as `P(Cancer | Smoker=yes, do(Diet=good))`."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any, NoReturn

from dagneal.base.errors import InputError
from dagneal.base.text import fit_text
from dagneal.inference.effects import Effect, Range, do
from dagneal.inference.evidence import evidence_text, quote_label
from dagneal.inference.models import check_variable, find_members, find_state
from dagneal.inference.queries import Distribution, evidence_probability, query

_EXAMPLE = "P(Cancer | Smoker=yes, Xray=positive)"
_TOKEN = re.compile(
    r"""\s*(?:
        "(?P<double>(?:[^"\\]|\\.)*)"
      | '(?P<single>(?:[^'\\]|\\.)*)'
      | (?P<mark>[(){}|,=])
      | (?P<word>[^(){}|,="'\s](?:[^(){}|,="]*[^(){}|,="\s])?)
    )""",
    re.VERBOSE | re.DOTALL,
)
_ESCAPE = re.compile(r"\\(.)", re.DOTALL)


@dataclass(frozen=True)
class Question:
    """A question about a network.

    Attributes:
        targets: the variables before the bar.
        states: states of the targets, if the question gives them: it then asks for one probability.
        given: evidence by variable; see `dagneal.query`.
        interventions: states that variables are set to; see `dagneal.do`.
    """

    targets: tuple[str, ...]
    states: Mapping[str, str] = field(default_factory=dict)
    given: Mapping[str, Any] = field(default_factory=dict)
    interventions: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class Answer:
    """The answer to a question.

    Attributes:
        question: the question.
        value: a distribution; the effect of an intervention; or, if the question gives the states of its targets, a
            probability or the range of a probability.
        effect: the effect of which the value is a part; None without an intervention.
    """

    question: Question
    value: Distribution | Effect | float | Range
    effect: Effect | None = None

    def __repr__(self) -> str:
        if isinstance(self.value, Distribution | Effect):
            return repr(self.value)
        targets = ", ".join(f"{quote_label(name)}={quote_label(state)}" for name, state in self.question.states.items())
        if self.effect is None:
            parts = [f"{quote_label(name)}={evidence_text(value)}" for name, value in self.question.given.items()]
            return f"P({targets}{' | ' if parts else ''}{', '.join(parts)}) = {self.value:.6g}"
        condition = ", ".join(filter(None, (f"do({self.effect.do})", self.effect.given)))
        first = f"P({targets} | {condition}) = {self.value}, {self.effect.assumption}"
        return "\n".join([first, *self.effect.reasons])

    def to_dict(self) -> dict[str, Any]:
        """Return the answer as a dict for JSON."""
        if isinstance(self.value, Distribution | Effect):
            return self.value.to_dict()
        plain: dict[str, Any] = {
            "targets": list(self.question.targets),
            "target_states": dict(self.question.states),
            "given": dict(self.question.given),
        }
        if isinstance(self.value, Range) and self.effect is not None:
            effect = self.effect.to_dict()
            keys = ("do", "identified", "parent_sets", "unsupported", "assumption")
            return plain | {"low": self.value.low, "high": self.value.high} | {key: effect[key] for key in keys}
        return plain | {"probability": self.value}


def ask(model: Any, text: str, knowledge: Any = None, trust_directions: bool = False) -> Answer:
    """Answer a question that is given as text. It needs `dagneal[ask]`.

    Args:
        model: a network, an ensemble or a result.
        text: question, such as `P(Cancer | Smoker=yes)`; see `parse_question`.
        knowledge: background knowledge for a question with `do`; see `dagneal.do`.
        trust_directions: True to take the direction of every edge as causal; see `dagneal.do`.

    >>> from dagneal.networks.bundled import load
    >>> ask(load("lung-cancer"), "P(Smoker=True, Xray=Positive)")
    P(Smoker=True, Xray=Positive) = 0.06672
    """
    question = parse_question(text)
    network = find_members(model).first
    states = {}
    for name, state in question.states.items():  # a number stands for its interval
        check_variable(network, name)
        states[name] = network.states[name][find_state(network, name, state)]
    question = replace(question, states=states)
    if question.interventions:
        effect = do(model, question.interventions, question.targets, question.given, knowledge, trust_directions)
        if question.states:
            return Answer(question, effect[tuple(question.states[name] for name in question.targets)], effect)
        return Answer(question, effect, effect)
    if knowledge is not None or trust_directions:
        raise InputError("background knowledge and trust_directions=True only matter in a question with do(...); omit them")
    if question.states:
        return Answer(question, evidence_probability(model, question.states, question.given))
    return Answer(question, query(model, question.targets, question.given))


def parse_question(text: str) -> Question:
    """Parse a question.

    Args:
        text: `P(A, B | C=c, do(D=d))`. The targets `A=a` ask for the probability of states. `C={c, d}` means one of several
            states, and `C={c: 0.8, d: 0.1}` gives the likelihood of each state. Names and states with special characters
            need quotes.

    >>> parse_question("P('chest pain' | Smoker=yes, do(Diet=good))")
    ... # doctest: +NORMALIZE_WHITESPACE
    Question(targets=('chest pain',), states={}, given={'Smoker': 'yes'}, interventions={'Diet': 'good'})
    """
    return _Parser(text).question()


class _Parser:
    """A recursive descent parser of questions. Its error messages quote the text around the error."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.tokens: list[tuple[str, str, int]] = []
        self.next = 0
        position = 0
        while text[position:].strip():
            match = _TOKEN.match(text, position)
            if match is None:
                self.fail("a quote is not closed; close it", position)
            kind = str(match.lastgroup)
            word = match[kind]
            self.tokens.append((kind if kind in ("mark", "word") else "quoted", word, match.start(kind)))
            if kind in ("double", "single"):
                self.tokens[-1] = ("quoted", _ESCAPE.sub(r"\1", word), match.start(kind))
            position = match.end()

    def fail(self, what: str, position: int | None = None) -> NoReturn:
        """Raise an error that quotes the text before the error."""
        if position is None:
            position = self.tokens[self.next][2] if self.next < len(self.tokens) else len(self.text)
        before = self.text[:position].strip()
        where = f"after {fit_text(before, 60)!r}" if before else "at the beginning"
        raise InputError(f"the question {fit_text(self.text, 60)!r} is not clear {where}: {what}")

    def at(self, *marks: str) -> bool:
        return self.next < len(self.tokens) and self.tokens[self.next][0] == "mark" and self.tokens[self.next][1] in marks

    def accept(self, mark: str) -> bool:
        found = self.at(mark)
        self.next += found
        return found

    def expect(self, mark: str, hint: str = "") -> None:
        if not self.accept(mark):
            self.fail(f"expected {mark!r}{hint}")

    def word(self, what: str) -> str:
        if self.next == len(self.tokens):
            self.fail(f"expected {what}; write for example {_EXAMPLE}")
        kind, text, _ = self.tokens[self.next]
        if kind == "mark":
            self.fail(f"expected {what}, not {text!r}; put names and states with special characters in quotes")
        self.next += 1
        return text

    def calls(self, name: str) -> bool:
        """Return whether the next tokens are an unquoted word and an opening parenthesis. If so, skip them."""
        found = self.tokens[self.next : self.next + 2]
        same = len(found) == 2 and found[0][:2] == ("word", name) and found[1][:2] == ("mark", "(")
        self.next += 2 * same
        return same

    def question(self) -> Question:
        if not (self.calls("P") or self.calls("p")):
            self.fail(f"expected 'P('; write for example {_EXAMPLE}")
        targets, states = [], {}
        while True:
            name = self.word("the name of a variable")
            if name in targets:
                self.fail(f"{name!r} is given twice")
            targets.append(name)
            if self.accept("="):
                states[name] = self.word(f"a state of {name!r}")
            if not self.accept(","):
                break
        if states and len(states) < len(targets):
            self.fail("give a state for all targets, or for none of them")
        given: dict[str, Any] = {}
        interventions: dict[str, str] = {}
        if self.accept("|"):
            self.conditions(given, interventions)
        self.expect(")", "; separate conditions with commas, and put names with special characters in quotes")
        if self.next < len(self.tokens):
            self.fail("the question ends here; put names and states with special characters in quotes")
        return Question(tuple(targets), states, given, interventions)

    def conditions(self, given: dict[str, Any], interventions: dict[str, str]) -> None:
        while True:
            if self.calls("do"):
                self.settings(interventions, given)
            else:
                name = self.name_before_equals(given, interventions)
                given[name] = self.value(name)
            if not self.accept(","):
                return

    def settings(self, interventions: dict[str, str], given: Mapping[str, Any]) -> None:
        while True:
            name = self.name_before_equals(interventions, given)
            interventions[name] = self.word(f"a state of {name!r}")
            if not self.accept(","):
                break
        self.expect(")")

    def name_before_equals(self, *taken: Mapping[str, Any]) -> str:
        name = self.word("the name of a variable")
        if any(name in each for each in taken):
            self.fail(f"{name!r} is given twice")
        self.expect("=", f" and a state of {name!r}")
        return name

    def value(self, name: str) -> Any:
        """Parse a state, or states in braces."""
        if not self.accept("{"):
            return self.word(f"a state of {name!r}")
        states: dict[str, float | None] = {}
        while True:
            start = self.next
            state = self.word(f"a state of {name!r}")
            likelihood = None
            if self.tokens[start][0] == "word" and ":" in state:
                state, _, number = (part.strip() for part in state.rpartition(":"))
                likelihood = self.number(number)
            elif (
                self.next < len(self.tokens) and self.tokens[self.next][0] == "word" and self.tokens[self.next][1][0] == ":"
            ):
                likelihood = self.number(self.word("a likelihood")[1:].strip())
            states[state] = likelihood
            if not self.accept(","):
                break
        self.expect("}")
        missing = [state for state, likelihood in states.items() if likelihood is None]
        if missing and len(missing) < len(states):
            self.fail(f"give a likelihood for all states of {name!r} in braces, or for none of them")
        return list(states) if missing else states

    def number(self, text: str) -> float:
        try:
            return float(text)
        except ValueError:
            self.fail(f"{text!r} is not a number; write a likelihood such as yes:0.8")
