"""Finding: a solution with its data, its score and its knowledge, and how sure it is."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any

from dagneal.base.defaults import WEAK_EDGE
from dagneal.base.plain import take_edges, take_mapping, take_names, take_number, take_text, take_truth, take_whole
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
        known, others = set(names), take_mapping(plain, "sensitivity") if "sensitivity" in plain else {}
        return cls(
            strengths=[_restore_strength(each, known) for each in plain["strengths"]] if "strengths" in plain else None,
            bootstrap=Bootstrap.from_dict(names, plain["bootstrap"]) if "bootstrap" in plain else None,
            threshold=take_number(plain, "threshold") if "threshold" in plain else WEAK_EDGE,
            sensitivity={float(size): take_edges(its, known, "sensitivity") for size, its in others.items()},
            holdout=_restore_holdout(plain["holdout"], known) if "holdout" in plain else None,
        )

    def merge(self, newer: Confidence) -> Confidence:
        """Return these measures with newer ones in their place; what was not measured again is kept.

        Args:
            newer: measures of the same network.

        >>> Confidence(sensitivity={1.0: []}).merge(Confidence(strengths=[])).sensitivity
        {1.0: []}
        """
        again = newer.bootstrap is not None or newer.threshold != WEAK_EDGE  # a threshold belongs to a bootstrap
        return Confidence(
            strengths=self.strengths if newer.strengths is None else newer.strengths,
            bootstrap=newer.bootstrap or self.bootstrap,
            threshold=newer.threshold if again else self.threshold,
            sensitivity=newer.sensitivity or self.sensitivity,
            holdout=newer.holdout or self.holdout,
        )


def _restore_strength(plain: Mapping[str, Any], names: set[str]) -> Strength:
    parent, child = take_names([plain["parent"], plain["child"]], names, "an edge of strengths")
    turned = None if plain["turned"] is None else take_number(plain, "turned")
    return Strength(parent, child, take_number(plain, "loss"), turned, take_truth(plain, "decided"))


def _restore_holdout(plain: Mapping[str, Any], names: set[str]) -> Heldout:
    values = take_number(plain, "log_likelihood"), take_number(plain, "without_edges")
    return Heldout(take_whole(plain, "rows"), *values, take_edges(plain["edges"], names, "holdout"))


@dataclass(frozen=True)
class DataSummary:
    """The data of a result in short, as a file keeps them.

    Attributes:
        rows: their number.
        prepared: what was done to the data while they were read, in words.
        fingerprint: what tells these data from others; None where it is not known.
    """

    rows: int
    prepared: tuple[str, ...] = ()
    fingerprint: str | None = None

    @classmethod
    def of(cls, data: Dataset) -> DataSummary:
        """Return the summary of data.

        Args:
            data: the data.
        """
        return cls(data.rows, tuple(data.prepared), data.fingerprint)

    def to_dict(self) -> dict[str, Any]:
        """Return the summary as plain values."""
        return {"rows": self.rows, "prepared": list(self.prepared), "fingerprint": self.fingerprint}

    @classmethod
    def from_dict(cls, plain: Mapping[str, Any]) -> DataSummary:
        """Return the summary that `to_dict` wrote.

        Args:
            plain: the plain values.
        """
        prepared = plain["prepared"]
        if not isinstance(prepared, list) or not all(isinstance(line, str) for line in prepared):
            raise ValueError("prepared is not a list of texts")
        known = plain.get("fingerprint") is not None
        return cls(take_whole(plain, "rows"), tuple(prepared), take_text(plain, "fingerprint") if known else None)


@dataclass(frozen=True, eq=False)
class Finding(Solution):
    """A solution with its data, its score and its knowledge, and how sure it is.

    Attributes:
        score_name: the name of the score.
        data: the data that it was learned from, where they are at hand.
        stored_data: their summary in a result that was read from a file.
        criterion: the score that was maximised, where it is at hand.
        knowledge: what was known before.
        confidence: how sure it is, where that was measured.
    """

    score_name: str = ""
    data: Dataset | None = None
    stored_data: DataSummary | None = None
    criterion: Score | None = None
    knowledge: Knowledge | None = None
    confidence: Confidence | None = None

    @property
    def data_summary(self) -> DataSummary | None:
        """The data in short; None where nothing is known of them."""
        return self.stored_data if self.data is None else DataSummary.of(self.data)
