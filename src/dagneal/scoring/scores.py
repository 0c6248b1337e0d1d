"""Scores of a child given its parents: log marginal likelihoods with Dirichlet priors, and penalised likelihoods.

Every score is a difference of two sums, minus a penalty. The first sum is over the state combinations of the family, which
is the child with its parents. The second sum is over the state combinations of the parents alone:

    ln p(data of i | parents) =   sum over j and k [ln Gamma(N_ijk + alpha_ijk) - ln Gamma(alpha_ijk)]
                                - sum over j       [ln Gamma(N_ij + alpha_ij) - ln Gamma(alpha_ij)]

N_ijk is the number of rows in which child i has state k and its parents have state combination j. alpha_ijk is the
pseudo-count of the prior. N_ij and alpha_ij are sums over k. Gamma is the gamma function. The prior has no penalty. BIC,
AIC and qNML sum N_ijk ln N_ijk and N_ij ln N_ij instead, and subtract a penalty. fNML adds a regret to N_ij ln N_ij.

The same set of variables can be a family of one child and a parent set of another child. It is counted only once. BDs is an
exception: its pseudo-counts for a family depend on how many state combinations of the parents occur.

The formula is equation (s-calc) of the paper with the opposite sign: here higher is better.
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

    To add a score, write a frozen dataclass with the members of this class, and pass an instance to `learn`. A subclass of
    `Dirichlet` (a prior, such as `K2`) needs only `name` and `concentrations`. A subclass of `Likelihood` (a penalty, such
    as `BIC`) needs only `name` and `penalties`. An entry in `SCORES` gives the score a name for `learn(score="...")`, for
    the command line and for saved results.

    Scores must not be above 0, because `Scorer.violation_penalty` relies on this. The log-odds of edges with a probability
    are not part of the score, and can make the sum larger.

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
        """The name of the score in results, with its parameters."""
        ...

    @property
    def depends_on_child(self) -> bool:
        """Whether the result of `concentrations` depends on `arity`."""
        ...

    def concentrations(self, arity: int, cells: float, rows: int) -> tuple[float, float]:
        """Return two pseudo-counts for a set of variables.

        The first pseudo-count is used if the set is a family (a child and its parents). The second pseudo-count is used if
        the set is the parent set of a child. They are alpha_ijk and alpha_ij in the formula of `dagneal.scoring.scores`. The
        value -1 requests sums of N ln N instead. The value -r requests sums of N ln N + ln C(N, r), where ln C(N, r) is the
        regret of r states; see `dagneal.scoring.regret`.

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


@runtime_checkable
class Bounding(Protocol):
    """A score with a bound on the supersets of a parent set. So the best network without a parent limit can be proved."""

    def superset_bounds(self, arity: int, occurring: Floats, parent_cells: Floats, rows: int) -> Floats:
        """Return upper bounds on the scores of a child with all proper supersets of parent sets.

        The result must not rise if an argument of the arrays rises.

        Args:
            arity: number of states of the child.
            occurring: number of state combinations of the child and each parent set that occur in the data.
            parent_cells: lowest number of state combinations of a proper superset of each parent set.
            rows: number of rows of the data.
        """
        ...


@runtime_checkable
class Adaptive(Protocol):
    """A score with a prior that depends on how many state combinations of the parents occur in the data.

    Such a score also needs `concentrations`, for state combinations that may not occur.
    """

    def occurring_concentrations(self, arity: int, occurring: float, rows: int) -> tuple[float, float]:
        """Return two pseudo-counts: for the family of a child, and for its parent set.

        Args:
            arity: number of states of the child.
            occurring: number of state combinations of the parents that occur in the data.
            rows: number of rows of the data.
        """
        ...


class Dirichlet:
    """A score with a Dirichlet prior: the log marginal likelihood without a penalty."""

    depends_on_child = True
    penalised = False

    def concentrations(self, arity: int, cells: float, rows: int) -> tuple[float, float]:
        """Return two pseudo-counts for a set of variables; see `Score.concentrations`."""
        raise NotImplementedError

    def penalties(self, arity: int, parent_cells: Floats, rows: int) -> Floats:
        """Return zeros: there is no penalty."""
        return np.zeros_like(parent_cells)


class SymmetricDirichlet(Dirichlet):
    """A Dirichlet score whose pseudo-count of a state combination of the parents is the sum of those of its families."""

    def superset_bounds(self, arity: int, occurring: Floats, parent_cells: Floats, rows: int) -> Floats:
        """Return -ln(`arity`) for each combination that occurs; see `Bounding` and `dagneal.scoring.bounded`."""
        return -log(arity) * occurring


@dataclass(frozen=True)
class BDeu(SymmetricDirichlet):
    """The BDeu score. Equivalent networks have equal scores.

    The pseudo-count is the equivalent sample size divided by the number of state combinations of the child and its parents.

    Args:
        ess: equivalent sample size; the paper uses 1.

    >>> BDeu(10).name
    'BDeu(10)'
    """

    ess: float = 1.0
    depends_on_child = False

    def __post_init__(self) -> None:
        _check_sample_size(self.ess)

    @property
    def name(self) -> str:
        """The name of the score with its equivalent sample size, such as `BDeu(1)`."""
        return f"BDeu({self.ess:g})"

    def concentrations(self, arity: int, cells: float, rows: int) -> tuple[float, float]:
        """Return two pseudo-counts, for a family and for a parent set. Both are `ess / cells`."""
        return self.ess / cells, self.ess / cells


@dataclass(frozen=True)
class BDeuRows(SymmetricDirichlet):
    """The BDeu score whose equivalent sample size is the number of rows of the data."""

    depends_on_child = False
    name = "BDeu(N)"

    def concentrations(self, arity: int, cells: float, rows: int) -> tuple[float, float]:
        """Return two pseudo-counts, for a family and for a parent set. Both are `rows / cells`."""
        return rows / cells, rows / cells


@dataclass(frozen=True)
class K2(SymmetricDirichlet):
    """The K2 score. Its pseudo-count is 1 for each state of the child and each state combination of the parents."""

    name = "K2"

    def concentrations(self, arity: int, cells: float, rows: int) -> tuple[float, float]:
        """Return two pseudo-counts: 1 for a family (child and parents), and `arity` for its parent set."""
        return 1.0, float(arity)


@dataclass(frozen=True)
class Perks(SymmetricDirichlet):
    """The Perks score.

    Its pseudo-count is 1 / (number of states of the child) for each state of the child and each state combination of the
    parents.
    """

    name = "Perks"

    def concentrations(self, arity: int, cells: float, rows: int) -> tuple[float, float]:
        """Return two pseudo-counts: `1 / arity` for a family (child and parents), and 1 for its parent set."""
        return 1.0 / arity, 1.0


@dataclass(frozen=True)
class BDs(SymmetricDirichlet):
    """The Bayesian Dirichlet sparse score (Scutari 2016): BDeu without pseudo-counts for parent states that do not occur.

    The pseudo-count is the equivalent sample size divided by the number of states of the child and by the number of state
    combinations of the parents that occur in the data. If all of them occur, the score equals BDeu.

    Args:
        ess: equivalent sample size.

    >>> BDs(1).occurring_concentrations(2, 5.0, 100)
    (0.1, 0.2)
    """

    ess: float = 1.0

    def __post_init__(self) -> None:
        _check_sample_size(self.ess)

    @property
    def name(self) -> str:
        """The name of the score with its equivalent sample size, such as `BDs(1)`."""
        return f"BDs({self.ess:g})"

    def concentrations(self, arity: int, cells: float, rows: int) -> tuple[float, float]:
        """Return two pseudo-counts, if all state combinations of the parents occur. Both are `ess / cells`."""
        return self.ess / cells, self.ess / cells

    def occurring_concentrations(self, arity: int, occurring: float, rows: int) -> tuple[float, float]:
        """Return two pseudo-counts: `ess / (arity * occurring)` for a family, and `ess / occurring` for its parent set."""
        return self.ess / (arity * occurring), self.ess / occurring


class Likelihood:
    """A score without a prior: the maximal log likelihood, minus a penalty."""

    depends_on_child = False
    penalised = True

    def concentrations(self, arity: int, cells: float, rows: int) -> tuple[float, float]:
        """Return two negative values, which request sums of N ln N. There is no prior."""
        return -1.0, -1.0

    def penalties(self, arity: int, parent_cells: Floats, rows: int) -> Floats:
        """Return the penalties to subtract from the scores of a child; see `Score.penalties`."""
        raise NotImplementedError


class InformationCriterion(Likelihood):
    """A score whose penalty does not fall if a parent is added."""

    def superset_bounds(self, arity: int, occurring: Floats, parent_cells: Floats, rows: int) -> Floats:
        """Return the penalties with the opposite sign, because the likelihood is at most 1; see `Bounding`."""
        return -self.penalties(arity, parent_cells, rows)


@dataclass(frozen=True)
class BIC(InformationCriterion):
    """The Bayesian information criterion: maximal log likelihood minus ln(number of rows) / 2 for each free parameter."""

    name = "BIC"

    def penalties(self, arity: int, parent_cells: Floats, rows: int) -> Floats:
        """Return ln(`rows`) / 2 times the number of free parameters, which is `parent_cells * (arity - 1)`."""
        return 0.5 * log(rows) * parent_cells * (arity - 1)


@dataclass(frozen=True)
class AIC(InformationCriterion):
    """Akaike's information criterion: maximal log likelihood minus 1 for each free parameter."""

    name = "AIC"

    def penalties(self, arity: int, parent_cells: Floats, rows: int) -> Floats:
        """Return the number of free parameters, which is `parent_cells * (arity - 1)`."""
        return parent_cells * (arity - 1)


@dataclass(frozen=True)
class QNML(InformationCriterion):
    """Quotient normalised maximum likelihood (Silander et al. 2018). Equivalent networks have equal scores.

    The score is the log NML probability of the family, minus that of the parents. Each is taken as one variable whose states
    are the state combinations. So the penalty is a difference of two regrets. It does not fall if a parent is added; see
    `dagneal.scoring.bounded`.
    """

    name = "qNML"

    def penalties(self, arity: int, parent_cells: Floats, rows: int) -> Floats:
        """Return the regrets of the families minus the regrets of the parent sets; see `dagneal.scoring.regret`."""
        from dagneal.scoring.regret import multinomial_regrets

        return multinomial_regrets(rows, arity * parent_cells) - multinomial_regrets(rows, parent_cells)


@dataclass(frozen=True)
class FNML(Likelihood):
    """Factorised normalised maximum likelihood (Silander et al. 2008).

    The score is the sum of the log NML probabilities of the child, one for each state combination of its parents. It has no
    parameters. Equivalent networks can have different scores.
    """

    name = "fNML"
    depends_on_child = True
    penalised = False

    def concentrations(self, arity: int, cells: float, rows: int) -> tuple[float, float]:
        """Return -1 for a family and -`arity` for its parent set, which adds the regrets; see `Score.concentrations`."""
        return -1.0, -float(arity)

    def penalties(self, arity: int, parent_cells: Floats, rows: int) -> Floats:
        """Return zeros: the regrets depend on the counts, so they are part of the sums."""
        return np.zeros_like(parent_cells)

    def superset_bounds(self, arity: int, occurring: Floats, parent_cells: Floats, rows: int) -> Floats:
        """Return -ln(`arity`) for each combination that occurs; see `Bounding` and `dagneal.scoring.bounded`."""
        return -log(arity) * occurring


SCORES: dict[str, Callable[..., Score]] = {
    "bdeu": BDeu,
    "bdeu-rows": BDeuRows,
    "bds": BDs,
    "k2": K2,
    "perks": Perks,
    "bic": BIC,
    "aic": AIC,
    "qnml": QNML,
    "fnml": FNML,
}
"""The score classes by name. In a text, a colon separates the name from a parameter: `bdeu:10`."""


def is_score_equivalent(score: Score) -> bool:
    """Return whether equivalent networks are known to have equal scores. User-defined scores are not known to.

    Args:
        score: score to ask about.

    >>> is_score_equivalent(BIC()), is_score_equivalent(K2())
    (True, False)
    """
    return type(score) in (BDeu, BDeuRows, BIC, AIC, QNML)


def as_score(value: Any) -> Score:
    """Return the score with a given name. If `value` is already a score object, return it unchanged.

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
    """Return the end of an error message, which lists the members that a user-defined score lacks."""
    members = [name for name in vars(Score) if not name.startswith("_")]
    missing = [name for name in members if not hasattr(value, name)]
    return f"; a score also needs {', '.join(missing)}" if len(missing) < len(members) else ""


def parse_score(text: str) -> Score:
    """Return the score that a text such as `bdeu:10` describes.

    Args:
        text: name in `SCORES`, with an optional parameter after a colon.

    >>> parse_score("bdeu:10")
    BDeu(ess=10.0)
    """
    name, colon, value = text.partition(":")
    kind = SCORES.get(name)
    if kind is None or (colon and not _parameters(kind)):
        raise InputError(f"there is no score {text!r}; give one of {', '.join(score_names())}")
    if not value:
        return kind()
    try:
        return kind(float(value))
    except InputError as error:
        raise InputError(f"the score {text!r} is invalid: {error}") from error
    except ValueError as error:
        raise InputError(f"the score {text!r} needs a number after the colon, such as {name}:1") from error


def score_names(base: type = object) -> list[str]:
    """Return the names that `parse_score` accepts. A word in capital letters, such as ESS, stands for a number.

    Args:
        base: class; only names of its subclasses are returned.

    >>> score_names(Dirichlet)
    ['bdeu', 'bdeu:ESS', 'bdeu-rows', 'bds', 'bds:ESS', 'k2', 'perks']
    """
    names = []
    for name, kind in SCORES.items():
        if isinstance(kind, type) and issubclass(kind, base):
            names += [name, *(f"{name}:{parameter.upper()}" for parameter in _parameters(kind))]
    return names


def score_spec(score: Score) -> str | None:
    """Return the text that `parse_score` converts to this score; None if the score is user-defined.

    Args:
        score: score to describe.

    >>> score_spec(BDeu(10)), score_spec(K2())
    ('bdeu:10', 'k2')
    """
    for name, kind in SCORES.items():
        if type(score) is kind:
            return ":".join([name, *(repr(getattr(score, parameter)) for parameter in _parameters(kind))])
    return None


def _parameters(kind: Any) -> list[str]:
    """Return the parameter names of a score class. There is at most one parameter."""
    return [field.name for field in fields(kind)]


def _check_sample_size(ess: float) -> None:
    """Raise an error if an equivalent sample size is not a number, or too small or too large for exact sums."""
    if not 1e-12 <= ess <= 1e12:
        raise InputError(f"the equivalent sample size is {ess}; give a number from 1e-12 to 1e12")
