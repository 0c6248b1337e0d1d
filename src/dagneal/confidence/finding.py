"""Finding: a solution with its data, its score and its knowledge, and how sure it is."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any

from dagneal.base.defaults import WEAK_EDGE
from dagneal.confidence.bootstrap import Bootstrap
from dagneal.confidence.measures import Heldout, Strength
from dagneal.data.dataset import Dataset
from dagneal.graphs.knowledge import Knowledge
from dagneal.scoring.scores import Score
from dagneal.solvers.solution import Solution

Edges = list[tuple[str, str]]


@dataclass(frozen=True, eq=False)
class Confidence:
    """How sure a network is; each measure only where it was asked for.

    Attributes:
        strengths: what the score says of each edge.
        bootstrap: how often edges are found in resampled data.
        threshold: the share of samples below which an edge is weak.
        sensitivity: the edges with other equivalent sample sizes of the prior.
        holdout: how well rows that were held out are predicted.
    """

    strengths: list[Strength] | None = None
    bootstrap: Bootstrap | None = None
    threshold: float = WEAK_EDGE
    sensitivity: Mapping[float, Edges] = field(default_factory=dict)
    holdout: Heldout | None = None

    def to_dict(self) -> dict[str, Any]:
        """Return the measures as plain values."""
        plain: dict[str, Any] = {}
        if self.strengths is not None:
            plain["strengths"] = [asdict(each) for each in self.strengths]
        if self.bootstrap is not None:
            plain |= {"bootstrap": self.bootstrap.to_dict(), "threshold": self.threshold}
        if self.sensitivity:
            plain["sensitivity"] = {f"{size:g}": [list(edge) for edge in its] for size, its in self.sensitivity.items()}
        if self.holdout is not None:
            plain["holdout"] = self.holdout.to_dict()
        return plain

    @classmethod
    def from_dict(cls, names: Sequence[str], plain: Mapping[str, Any]) -> Confidence | None:
        """Return the measures that `to_dict` wrote; None where there are none.

        Args:
            names: the variables.
            plain: the plain values, perhaps among others.
        """
        if not {"strengths", "bootstrap", "sensitivity", "holdout"} & set(plain):
            return None
        held = plain.get("holdout")
        others = plain.get("sensitivity", {})
        return cls(
            strengths=[Strength(**each) for each in plain["strengths"]] if "strengths" in plain else None,
            bootstrap=Bootstrap.from_dict(names, plain["bootstrap"]) if "bootstrap" in plain else None,
            threshold=float(plain.get("threshold", WEAK_EDGE)),
            sensitivity={float(size): [(a, b) for a, b in its] for size, its in others.items()},
            holdout=None if held is None else Heldout(**held | {"edges": [(a, b) for a, b in held["edges"]]}),
        )


@dataclass(frozen=True, eq=False)
class Finding(Solution):
    """A solution with its data, its score and its knowledge, and how sure it is.

    Attributes:
        score_name: the name of the score.
        data: the data that it was learned from, where they are at hand.
        criterion: the score that was maximised, where it is at hand.
        knowledge: what was known before.
        confidence: how sure it is, where that was measured.
    """

    score_name: str = ""
    data: Dataset | None = None
    criterion: Score | None = None
    knowledge: Knowledge | None = None
    confidence: Confidence | None = None
