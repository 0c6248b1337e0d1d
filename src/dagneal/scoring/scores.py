"""Scores of a child given its parents: log marginal likelihoods with Dirichlet priors, and BIC.

Every score here is a difference of two sums over state combinations, one over those of the family (the child with its
parents, counts N_ijk) and one over those of the parents alone (counts N_ij), so that counts are made once for a *set* of
variables, whatever part it plays:

    ln p(D_i | parents) =   sum over family  [ln G(N_ijk + a_ijk) - ln G(a_ijk)]
                          - sum over parents [ln G(N_ij + a_ij) - ln G(a_ij)]

which is equation (s-calc) of the paper with its sign turned: here higher is better.
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
    """What a table of local scores needs to know.

    To add a score, write a frozen dataclass with these members and pass an instance to `learn`. It may inherit from
    `Dirichlet` (a prior, as for `K2`) or from `Likelihood` (a penalty, as for `BIC`), and then one method is left to write.
    An entry in `SCORES` gives it a name for `learn(score="...")`, for the command line and for saved results.

    No score may be above 0: with background knowledge, `Scorer.price` relies on that.

    >>> @dataclass(frozen=True)
    ... class HannanQuinn(Likelihood):
    ...     name = "Hannan-Quinn"
    ...
    ...     def penalties(self, arity, parent_cells, rows):
    ...         return log(log(rows)) * parent_cells * (arity - 1)
    >>> from dagneal.networks.bundled import load
    >>> from dagneal.scoring.scorer import Scorer
    >>> truth = load("lung-cancer")
    >>> round(Scorer(truth.expected(10_000), HannanQuinn()).score(truth.dag), 3)
    -21017.729
    """

    @property
    def name(self) -> str:
        """The name in results, with its parameters."""
        ...

    @property
    def depends_on_child(self) -> bool:
        """Whether the pseudo-counts of a set of variables depend on which of them is the child."""
        ...

    def concentrations(self, arity: int, cells: float, rows: int) -> tuple[float, float]:
        """Pseudo-counts (a_ijk, a_ij) for a set of variables with so many state combinations.

        The first is used where the set is a family, the second where it is the parents of a child of this arity.
        Negative: the sum over state combinations is of N ln N.
        """
        ...

    @property
    def penalised(self) -> bool:
        """Whether there are penalties."""
        ...

    def penalties(self, arity: int, parent_cells: Floats, rows: int) -> Floats:
        """What is taken off the scores of a child with this arity and so many states of its parents."""
        ...


class Dirichlet:
    """A score with a Dirichlet prior: the log marginal likelihood, as it is."""

    depends_on_child = True
    penalised = False

    def concentrations(self, arity: int, cells: float, rows: int) -> tuple[float, float]:
        """Pseudo-counts for a set of variables; see `Score`."""
        raise NotImplementedError

    def penalties(self, arity: int, parent_cells: Floats, rows: int) -> Floats:
        """Nothing."""
        return np.zeros_like(parent_cells)


@dataclass(frozen=True)
class BDeu(Dirichlet):
    """The likelihood-equivalent uniform prior, a_ijk = ess / (r_i q_i).

    Args:
        ess: the equivalent sample size; 1 is the paper's choice.

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
        """ess / cells, as family and as parents."""
        return self.ess / cells, self.ess / cells


@dataclass(frozen=True)
class BDeuRows(Dirichlet):
    """The uniform prior with as many pseudo-counts as there are rows, a_ijk = N / (r_i q_i)."""

    depends_on_child = False
    name = "BDeu(N)"

    def concentrations(self, arity: int, cells: float, rows: int) -> tuple[float, float]:
        """N / cells, as family and as parents."""
        return rows / cells, rows / cells


@dataclass(frozen=True)
class K2(Dirichlet):
    """The prior with one pseudo-count for each state, a_ijk = 1."""

    name = "K2"

    def concentrations(self, arity: int, cells: float, rows: int) -> tuple[float, float]:
        """1 for the family, r_i for the parents."""
        return 1.0, float(arity)


@dataclass(frozen=True)
class Perks(Dirichlet):
    """The prior with one pseudo-count for each state of the parents, a_ijk = 1 / r_i."""

    name = "Perks"

    def concentrations(self, arity: int, cells: float, rows: int) -> tuple[float, float]:
        """1 / r_i for the family, 1 for the parents."""
        return 1.0 / arity, 1.0


class Likelihood:
    """A score without a prior: the maximal log likelihood, minus a penalty."""

    depends_on_child = False
    penalised = True

    def concentrations(self, arity: int, cells: float, rows: int) -> tuple[float, float]:
        """None: the sums are of N ln N."""
        return -1.0, -1.0

    def penalties(self, arity: int, parent_cells: Floats, rows: int) -> Floats:
        """What is taken off; see `Score`."""
        raise NotImplementedError


@dataclass(frozen=True)
class BIC(Likelihood):
    """The Bayesian information criterion: maximal log likelihood minus ln(N) / 2 for each free parameter."""

    name = "BIC"

    def penalties(self, arity: int, parent_cells: Floats, rows: int) -> Floats:
        """ln(N) / 2 for each of the q_i (r_i - 1) parameters."""
        return 0.5 * log(rows) * parent_cells * (arity - 1)


SCORES: dict[str, Callable[..., Score]] = {"bdeu": BDeu, "bdeu-rows": BDeuRows, "k2": K2, "perks": Perks, "bic": BIC}
"""The scores that have a name. One with a parameter takes it after a colon, such as `bdeu:10`."""


def as_score(value: Any) -> Score:
    """A score as given, or by its name.

    Args:
        value: a score, a name such as `"bic"` or `"bdeu:10"`, or None for `BDeu(1)`.

    >>> as_score("bic"), as_score(None)
    (BIC(), BDeu(ess=1.0))
    """
    if value is None:
        value = SCORE
    if isinstance(value, str):
        return score_named(value)
    if isinstance(value, type):
        raise InputError(f"score is the class {value.__name__}; give an instance: {value.__name__}()")
    if not isinstance(value, Score):
        raise InputError(f"score is {value!r}; give a score such as BDeu(1), or a name such as 'bic'{_lacking(value)}")
    return value


def _lacking(value: Any) -> str:
    """Return the end of a message that names the members which a score of the user's own lacks."""
    members = [name for name in vars(Score) if not name.startswith("_")]
    missing = [name for name in members if not hasattr(value, name)]
    return f"; a score also needs {', '.join(missing)}" if len(missing) < len(members) else ""


def score_named(text: str) -> Score:
    """Return a score by its name; see `SCORES`.

    Args:
        text: the name, perhaps with a colon and a parameter.

    >>> score_named("bdeu:10")
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
        raise InputError(f"the score {text!r} is not possible: {error}") from error
    except ValueError as error:
        raise InputError(f"the score {text!r} needs a number after the colon, such as {name}:1") from error


def score_names(base: type = object) -> list[str]:
    """Return the names that `score_named` takes, with parameters in capital letters.

    Args:
        base: only scores of this class.

    >>> score_names(Dirichlet)
    ['bdeu', 'bdeu:ESS', 'bdeu-rows', 'k2', 'perks']
    """
    names = []
    for name, kind in SCORES.items():
        if isinstance(kind, type) and issubclass(kind, base):
            names += [name, *(f"{name}:{parameter.upper()}" for parameter in _parameters(kind))]
    return names


def name_of(score: Score) -> str | None:
    """Return the name by which `score_named` finds a score again; None for one of the user's own.

    Args:
        score: the score.

    >>> name_of(BDeu(10)), name_of(K2())
    ('bdeu:10', 'k2')
    """
    for name, kind in SCORES.items():
        if type(score) is kind:
            return ":".join([name, *(repr(getattr(score, parameter)) for parameter in _parameters(kind))])
    return None


def _parameters(kind: Any) -> list[str]:
    """Return the names of the parameters of a score; at most one."""
    return [field.name for field in fields(kind)]
