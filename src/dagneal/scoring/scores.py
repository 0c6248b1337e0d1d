"""Scores of a child given its parents: log marginal likelihoods with Dirichlet priors, and BIC.

Every score is a difference of two sums over state combinations. The first sum is over the family, which is the child with
its parents (counts N_ijk). The second is over the parents alone (counts N_ij). The counts of a *set* of variables therefore
serve both as a family and as a parent set:

    ln p(D_i | parents) =   sum over family  [ln G(N_ijk + a_ijk) - ln G(a_ijk)]
                          - sum over parents [ln G(N_ij + a_ij) - ln G(a_ij)]

This is equation (s-calc) of the paper with the opposite sign: here higher is better.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, fields
from math import log
from typing import TYPE_CHECKING, Any, Protocol, runtime_checkable

import numpy as np

from dagneal.base.defaults import SCORE
from dagneal.base.errors import InputError

if TYPE_CHECKING:
    from dagneal.base.kernels import Floats


@runtime_checkable
class Score(Protocol):
    """The interface of a score.

    To add a score, write a frozen dataclass with these members and pass an instance to `learn`. It may inherit from
    `Dirichlet` (a prior, such as `K2`) or from `Likelihood` (a penalty, such as `BIC`); then only one method is missing.
    An entry in `SCORES` gives it a name for `learn(score="...")`, for the command line and for saved results.

    No score may be above 0: `Scorer.violation_penalty` relies on this.

    >>> @dataclass(frozen=True)
    ... class HannanQuinn(Likelihood):
    ...     name = "Hannan-Quinn"
    ...
    ...     def penalties(self, arity, parent_cells, rows):
    ...         return log(log(rows)) * parent_cells * (arity - 1)
    >>> from dagneal.networks.bundled import load
    >>> from dagneal.scoring.scorer import Scorer
    >>> truth = load("lung-cancer")
    >>> round(Scorer(truth.expected_data(10_000), HannanQuinn()).score(truth.dag), 3)
    -21017.729
    """

    @property
    def name(self) -> str:
        """The name shown in results, with parameters."""
        ...

    @property
    def depends_on_child(self) -> bool:
        """Whether the pseudo-counts of a set of variables depend on which of them is the child."""
        ...

    def concentrations(self, arity: int, cells: float, rows: int) -> tuple[float, float]:
        """Return the pseudo-counts (a_ijk, a_ij) of a set of variables.

        The first applies if the set is a family, the second if it is the parent set of a child. A negative value replaces
        the terms ln G(N + a) - ln G(a) by N ln N.

        Args:
            arity: number of states of the child.
            cells: number of state combinations of the set.
            rows: number of rows of the data.
        """
        ...

    @property
    def penalised(self) -> bool:
        """Whether the score subtracts penalties."""
        ...

    def penalties(self, arity: int, parent_cells: Floats, rows: int) -> Floats:
        """Return the penalties to subtract from the scores of a child.

        Args:
            arity: number of states of the child.
            parent_cells: number of state combinations of each parent set.
            rows: number of rows of the data.
        """
        ...


class Dirichlet:
    """A score with a Dirichlet prior: the log marginal likelihood without a penalty."""

    depends_on_child = True
    penalised = False

    def concentrations(self, arity: int, cells: float, rows: int) -> tuple[float, float]:
        """Return the pseudo-counts of a set of variables; see `Score`."""
        raise NotImplementedError

    def penalties(self, arity: int, parent_cells: Floats, rows: int) -> Floats:
        """Return zeros: there is no penalty."""
        return np.zeros_like(parent_cells)


@dataclass(frozen=True)
class BDeu(Dirichlet):
    """The likelihood-equivalent uniform prior, a_ijk = ess / (r_i q_i).

    Args:
        ess: equivalent sample size; the paper uses 1.

    >>> BDeu(10).name
    'BDeu(10)'
    """

    ess: float = 1.0
    depends_on_child = False

    def __post_init__(self) -> None:
        if not 1e-12 <= self.ess <= 1e12:
            raise InputError(f"the equivalent sample size is {self.ess}; give a number from 1e-12 to 1e12")

    @property
    def name(self) -> str:
        """`BDeu(ess)`."""
        return f"BDeu({self.ess:g})"

    def concentrations(self, arity: int, cells: float, rows: int) -> tuple[float, float]:
        """Return ess / cells, both for a family and for parents."""
        return self.ess / cells, self.ess / cells


@dataclass(frozen=True)
class BDeuRows(Dirichlet):
    """The uniform prior with as many pseudo-counts as there are rows, a_ijk = N / (r_i q_i)."""

    depends_on_child = False
    name = "BDeu(N)"

    def concentrations(self, arity: int, cells: float, rows: int) -> tuple[float, float]:
        """Return N / cells, both for a family and for parents."""
        return rows / cells, rows / cells


@dataclass(frozen=True)
class K2(Dirichlet):
    """The prior with one pseudo-count for each state, a_ijk = 1."""

    name = "K2"

    def concentrations(self, arity: int, cells: float, rows: int) -> tuple[float, float]:
        """Return 1 for a family and r_i for parents."""
        return 1.0, float(arity)


@dataclass(frozen=True)
class Perks(Dirichlet):
    """The prior with one pseudo-count for each state of the parents, a_ijk = 1 / r_i."""

    name = "Perks"

    def concentrations(self, arity: int, cells: float, rows: int) -> tuple[float, float]:
        """Return 1 / r_i for a family and 1 for parents."""
        return 1.0 / arity, 1.0


class Likelihood:
    """A score without a prior: the maximal log likelihood, minus a penalty."""

    depends_on_child = False
    penalised = True

    def concentrations(self, arity: int, cells: float, rows: int) -> tuple[float, float]:
        """Return negative values: there is no prior, and the sums are of N ln N."""
        return -1.0, -1.0

    def penalties(self, arity: int, parent_cells: Floats, rows: int) -> Floats:
        """Return the penalties to subtract; see `Score`."""
        raise NotImplementedError


@dataclass(frozen=True)
class BIC(Likelihood):
    """The Bayesian information criterion: maximal log likelihood minus ln(N) / 2 for each free parameter."""

    name = "BIC"

    def penalties(self, arity: int, parent_cells: Floats, rows: int) -> Floats:
        """Return ln(N) / 2 for each of the q_i (r_i - 1) parameters."""
        return 0.5 * log(rows) * parent_cells * (arity - 1)


SCORES: dict[str, Callable[..., Score]] = {"bdeu": BDeu, "bdeu-rows": BDeuRows, "k2": K2, "perks": Perks, "bic": BIC}
"""The scores by name. A parameter follows a colon, such as `bdeu:10`."""


def as_score(value: Any) -> Score:
    """Return a score, given as an object or by name.

    Args:
        value: a score, a name such as `"bic"` or `"bdeu:10"`, or None for `BDeu(1)`.

    >>> as_score("bic"), as_score(None)
    (BIC(), BDeu(ess=1.0))
    """
    if value is None:
        value = SCORE
    if isinstance(value, str):
        return parse_score(value)
    if isinstance(value, type):
        raise InputError(f"score is the class {value.__name__}; give an instance: {value.__name__}()")
    if not isinstance(value, Score):
        raise InputError(
            f"score is {value!r}; give a score such as BDeu(1), or a name such as 'bic'{_missing_members(value)}"
        )
    return value


def _missing_members(value: Any) -> str:
    """Return the end of an error message: the members that a user-defined score lacks."""
    members = [name for name in vars(Score) if not name.startswith("_")]
    missing = [name for name in members if not hasattr(value, name)]
    return f"; a score also needs {', '.join(missing)}" if len(missing) < len(members) else ""


def parse_score(text: str) -> Score:
    """Return the score with this name; see `SCORES`.

    Args:
        text: name, with an optional parameter after a colon.

    >>> parse_score("bdeu:10")
    BDeu(ess=10.0)
    """
    name, colon, value = text.partition(":")
    kind = SCORES.get(name)
    if kind is None or (colon and not _parameters(kind)):
        raise InputError(f"there is no score {text!r}; give {', '.join(score_names())}")
    if not value:
        return kind()
    try:
        return kind(float(value))
    except InputError as error:
        raise InputError(f"the score {text!r} is invalid: {error}") from error
    except ValueError as error:
        raise InputError(f"the score {text!r} needs a number after the colon, such as {name}:1") from error


def score_names(base: type = object) -> list[str]:
    """Return the names that `parse_score` accepts. Parameters are in capital letters.

    Args:
        base: base class of the scores to list.

    >>> score_names(Dirichlet)
    ['bdeu', 'bdeu:ESS', 'bdeu-rows', 'k2', 'perks']
    """
    names = []
    for name, kind in SCORES.items():
        if isinstance(kind, type) and issubclass(kind, base):
            names += [name, *(f"{name}:{parameter.upper()}" for parameter in _parameters(kind))]
    return names


def score_spec(score: Score) -> str | None:
    """Return the text from which `parse_score` makes this score; None for a user-defined score.

    Args:
        score: the score.

    >>> score_spec(BDeu(10)), score_spec(K2())
    ('bdeu:10', 'k2')
    """
    for name, kind in SCORES.items():
        if type(score) is kind:
            return ":".join([name, *(repr(getattr(score, parameter)) for parameter in _parameters(kind))])
    return None


def _parameters(kind: Any) -> list[str]:
    """Return the names of the parameters of a score: at most one name."""
    return [field.name for field in fields(kind)]
