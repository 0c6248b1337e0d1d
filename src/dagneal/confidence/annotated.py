"""The class `AnnotatedSolution`: a solution with its data, score, background knowledge and measures of confidence."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from functools import cached_property
from typing import Any

import networkx as nx

from dagneal.base.defaults import WEAK_EDGE
from dagneal.base.plain import take_bool, take_count, take_edges, take_mapping, take_names, take_number, take_text
from dagneal.confidence.bootstrap import Bootstrap, NearMiss, check_fraction
from dagneal.confidence.consensus import CONSENSUS
from dagneal.confidence.judgement import judge_directions
from dagneal.confidence.measures import HoldoutResult, Strength, strengths
from dagneal.confidence.parameter_counts import inspect_families
from dagneal.confidence.posteriors import EdgePosteriors
from dagneal.data.cautions import Caution
from dagneal.data.dataset import Dataset
from dagneal.data.inspection import inspect_columns
from dagneal.data.recipe import Preparation
from dagneal.graphs.directions import Direction
from dagneal.graphs.knowledge import Edge, Knowledge
from dagneal.scoring.scores import Score
from dagneal.solvers.solution import Solution

Edges = list[tuple[str, str]]


@dataclass(frozen=True, eq=False)
class Confidence:
    """Measures of confidence in a learned network. A measure that was not requested is None or empty.

    Attributes:
        strengths: score drop of each edge if it is removed or reversed.
        bootstrap: bootstrap frequencies of edges.
        threshold: bootstrap frequency below which an edge counts as weak.
        sensitivity: edges that were learned with each equivalent sample size of the prior.
        holdout: log-likelihood of held-out rows; see `dagneal.holdout`.
        posteriors: posterior probabilities of edges; see `dagneal.edge_posteriors`.
    """

    strengths: list[Strength] | None = None
    bootstrap: Bootstrap | None = None
    threshold: float = WEAK_EDGE
    sensitivity: Mapping[float, Edges] = field(default_factory=dict)
    holdout: HoldoutResult | None = None
    posteriors: EdgePosteriors | None = None

    def to_dict(self) -> dict[str, Any]:
        """Return the measures as a dict for JSON."""
        plain: dict[str, Any] = {}
        if self.strengths is not None:
            plain["strengths"] = [asdict(each) for each in self.strengths]
        if self.bootstrap is not None:
            plain |= {"bootstrap": self.bootstrap.to_dict(), "threshold": self.threshold}
        if self.sensitivity:
            plain["sensitivity"] = {f"{size:g}": [list(edge) for edge in edges] for size, edges in self.sensitivity.items()}
        if self.holdout is not None:
            plain["holdout"] = self.holdout.to_dict()
        if self.posteriors is not None:
            plain["posteriors"] = self.posteriors.to_dict()
        return plain

    @classmethod
    def from_dict(cls, names: Sequence[str], plain: Mapping[str, Any]) -> Confidence | None:
        """Restore measures from a dict that `to_dict` returned. Return None if the dict contains no measures.

        Args:
            names: names of all variables, in column order.
            plain: dict with the keys of `to_dict`; other keys are ignored.
        """
        if not {"strengths", "bootstrap", "sensitivity", "holdout", "posteriors"} & set(plain):
            return None
        variables, by_size = set(names), take_mapping(plain, "sensitivity") if "sensitivity" in plain else {}
        return cls(
            strengths=[_restore_strength(each, variables) for each in plain["strengths"]] if "strengths" in plain else None,
            bootstrap=Bootstrap.from_dict(names, plain["bootstrap"]) if "bootstrap" in plain else None,
            threshold=check_fraction("threshold", take_number(plain, "threshold")) if "threshold" in plain else WEAK_EDGE,
            sensitivity={float(size): take_edges(edges, variables, "sensitivity") for size, edges in by_size.items()},
            holdout=_restore_holdout(plain["holdout"], variables) if "holdout" in plain else None,
            posteriors=EdgePosteriors.from_dict(names, plain["posteriors"]) if "posteriors" in plain else None,
        )

    def merge(self, newer: Confidence) -> Confidence:
        """Return the measures of `self` and of `newer` in one object. If both have a measure, use that of `newer`.

        Args:
            newer: newer measures of the same network.

        >>> Confidence(sensitivity={1.0: []}).merge(Confidence(strengths=[])).sensitivity
        {1.0: []}
        """
        new_threshold = newer.bootstrap is not None or newer.threshold != WEAK_EDGE  # a threshold belongs to a bootstrap
        return Confidence(
            strengths=self.strengths if newer.strengths is None else newer.strengths,
            bootstrap=newer.bootstrap or self.bootstrap,
            threshold=newer.threshold if new_threshold else self.threshold,
            sensitivity=newer.sensitivity or self.sensitivity,
            holdout=newer.holdout or self.holdout,
            posteriors=newer.posteriors or self.posteriors,
        )


def _restore_strength(plain: Mapping[str, Any], names: set[str]) -> Strength:
    parent, child = take_names([plain["parent"], plain["child"]], names, "an edge of strengths")
    if_reversed = None if plain["drop_if_reversed"] is None else take_number(plain, "drop_if_reversed")
    return Strength(parent, child, take_number(plain, "drop_if_removed"), if_reversed, take_bool(plain, "compelled"))


def _restore_holdout(plain: Mapping[str, Any], names: set[str]) -> HoldoutResult:
    values = take_number(plain, "log_likelihood"), take_number(plain, "without_edges")
    return HoldoutResult(take_count(plain, "rows"), *values, take_edges(plain["edges"], names, "holdout"))


@dataclass(frozen=True)
class DataSummary:
    """A summary of the training data. A result file contains it instead of the data.

    Attributes:
        rows: number of rows.
        prepared: one sentence for each change that `read` made to the data, such as the binning of a column.
        fingerprint: hash that identifies the data; None if unknown.
        preparation: what automatic preparation did with the raw columns; None if the table was read as it is.
    """

    rows: int
    prepared: tuple[str, ...] = ()
    fingerprint: str | None = None
    preparation: Preparation | None = None

    @classmethod
    def of(cls, data: Dataset) -> DataSummary:
        """Return the summary of a dataset.

        Args:
            data: dataset to summarise.
        """
        return cls(data.rows, tuple(data.prepared), data.fingerprint, data.preparation)

    def to_dict(self) -> dict[str, Any]:
        """Return the summary as a dict for JSON."""
        return {"rows": self.rows, "prepared": list(self.prepared), "fingerprint": self.fingerprint}

    @classmethod
    def from_dict(cls, plain: Mapping[str, Any]) -> DataSummary:
        """Restore a summary from a dict that `to_dict` returned.

        Args:
            plain: result of `to_dict`.
        """
        prepared = plain["prepared"]
        if not isinstance(prepared, list) or not all(isinstance(line, str) for line in prepared):
            raise ValueError("'prepared' is not a list of strings")
        has_fingerprint = plain.get("fingerprint") is not None
        fingerprint = take_text(plain, "fingerprint") if has_fingerprint else None
        return cls(take_count(plain, "rows"), tuple(prepared), fingerprint)


@dataclass(frozen=True, eq=False)
class AnnotatedSolution(Solution):
    """A solution with its data, score, background knowledge and measures of confidence.

    Attributes:
        score_name: name of the maximised score.
        data: training data; None in a result that was loaded from a file or learned from scores.
        stored_data: summary of the training data, only in a result that was loaded from a file.
        criterion: maximised score; None for a user-defined score in a result that was loaded from a file, and in a result
            that was learned from scores.
        knowledge: background knowledge, if any.
        confidence: measures of confidence, if any.
        stored_warnings: warnings, only in a result that was loaded from a file.
    """

    score_name: str = ""
    data: Dataset | None = None
    stored_data: DataSummary | None = None
    criterion: Score | None = None
    knowledge: Knowledge | None = None
    confidence: Confidence | None = None
    stored_warnings: tuple[Caution, ...] = ()

    @property
    def log_prior(self) -> float:
        """The part of the log score that comes from the probabilities of edges in the background knowledge."""
        return self.knowledge.log_odds(self.dag.edges) if self.knowledge else 0.0

    @property
    def near_misses(self) -> list[NearMiss]:
        """The edges that are frequent in the bootstrap but absent from the network; empty without a bootstrap."""
        if self.confidence is None or self.confidence.bootstrap is None:
            return []
        return self.confidence.bootstrap.near_misses(self.dag, self.confidence.threshold)

    @cached_property
    def directions(self) -> dict[Edge, Direction]:
        """Support for the direction of each edge; see `dagneal.Direction`. Empty if the graph has a cycle."""
        if not nx.is_directed_acyclic_graph(self.dag):
            return {}
        measures = self.confidence or Confidence()
        by_votes = self.solver == CONSENSUS
        return judge_directions(self.dag, self.knowledge, measures.bootstrap, measures.threshold, by_votes)

    @cached_property
    def warnings(self) -> list[Caution]:
        """Warnings about the data and the network.

        They are about raw columns (row counts, censored times, lost rows), few rows, and columns that duplicate or determine
        each other.
        """
        if self.data is None:
            return list(self.stored_warnings)
        raw = () if self.data.preparation is None else self.data.preparation.cautions
        return [*raw, *inspect_families(self.dag, self.data), *inspect_columns(self.data)]

    @cached_property
    def known_strengths(self) -> list[Strength] | None:
        """The score drops of the edges: stored, or computed now. None if the data or the score is unknown."""
        measured = None if self.confidence is None else self.confidence.strengths
        if measured is not None or self.data is None or self.criterion is None or self.score != self.score:
            return measured
        return strengths(self.dag, self.data, self.criterion, self.knowledge)

    @property
    def data_summary(self) -> DataSummary | None:
        """The summary of the training data; None if unknown."""
        return self.stored_data if self.data is None else DataSummary.of(self.data)
