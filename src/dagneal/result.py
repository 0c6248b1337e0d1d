"""Learned: what `learn` returns, with methods for the usual next steps."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields, replace
from functools import cached_property
from math import isnan
from pathlib import Path
from typing import Any

import networkx as nx
import numpy as np

from dagneal.base.defaults import BOOTSTRAP_SAMPLES
from dagneal.base.errors import InputError, secondary
from dagneal.base.files import check_format, replacing
from dagneal.confidence.bootstrap import Bootstrap, bootstrap
from dagneal.confidence.finding import Confidence, Finding
from dagneal.confidence.measures import Strength, strengths
from dagneal.data.dataset import Dataset
from dagneal.graphs.dags import graph_of
from dagneal.graphs.knowledge import as_knowledge, equivalence_class
from dagneal.networks.comparison import Comparison, compare
from dagneal.networks.formats import FORMATS, PAGE, network_dict, read_structure, write_network
from dagneal.networks.network import BayesianNetwork, fit
from dagneal.report.page import draw_html, write_page
from dagneal.runtime.run import DEFAULT_RUN, Run
from dagneal.scoring.scorer import Scorer
from dagneal.scoring.scores import BDeu, Dirichlet, as_score, name_of
from dagneal.solvers.solution import BestRead, Bound, Division, Hardware, ReadSummary, Solution

FORMAT_VERSION = 1  # of the JSON of a result; it grows when keys change their meaning


@dataclass(frozen=True, eq=False, repr=False)
class Learned(Finding):
    """A learned structure.

    Attributes:
        dag: the graph; it may have cycles where raw reads or the rules of the paper leave some, and then the score is NaN.
        score: its log score, higher is better.
        score_name: the name of the score.
        max_parents: the parent limit; under the rules of the paper, which have none, the most parents that occur.
        solver: what found it.
        optimal: True only where it is proved that no graph within the limits scores higher.
        bound: a proved upper bound on the score, where the optimum is not known but this is.
        seconds: time spent, by stage.
        seed: the seed that the graph depends on; None where there was none.
        reads: the figures of a sampler's reads.
        division: how it was put together from subproblems.
        hardware: the use of a quantum annealer.
        knowledge: what was known before.
        confidence: how sure it is, where that was measured.
        data: the data it was learned from, where they are at hand.
        criterion: the score that was maximised, where it is at hand.
        fitted: the network with probabilities, where it was read from a file.
    """

    fitted: BayesianNetwork | None = None

    @classmethod
    def of(cls, solution: Solution, **more: Any) -> Learned:
        """Return a solution with what is known besides.

        Args:
            solution: what a solver found.
            **more: further fields.
        """
        return cls(**{each.name: getattr(solution, each.name) for each in fields(solution)} | more)

    def __repr__(self) -> str:
        """Return one line: the size, the score, and how good it is."""
        if not self.is_dag:
            how = "not a network"
        elif self.optimal:
            how = "optimal"
        else:
            how = "not proved optimal" if self.gap is None else f"within {self.gap:.3f} of the optimum"
        edges = self.dag.number_of_edges()
        size = f"{len(self.dag)} variable{'s' * (len(self.dag) != 1)}, {edges} edge{'s' * (edges != 1)}"
        return f"Learned({size}, {self.score_name} = {self.score:.3f}, {how})"

    def _repr_html_(self) -> str:
        """Return the drawing, for notebooks."""
        return draw_html(self)

    @property
    def gap(self) -> float | None:
        """How far the score lies at most below the optimum; None where nothing is proved."""
        if self.optimal:
            return 0.0
        return None if self.bound is None or isnan(self.score) else max(self.bound.score - self.score, 0.0)

    @property
    def cpdag(self) -> nx.DiGraph:
        """The equivalence class; edges that are reversible are there both ways."""
        self._check_network("equivalence class")
        return equivalence_class(self.dag, self.knowledge)

    @cached_property
    def network(self) -> BayesianNetwork:
        """The graph with probabilities fitted to the data, when they are first asked for."""
        if self.fitted is not None:
            return self.fitted
        if self.data is None:
            raise InputError("probabilities need the data: fit(found.dag, data)")
        self._check_network("probabilities")
        return fit(self.dag, self.data, self.criterion if isinstance(self.criterion, Dirichlet) else BDeu())

    def _check_network(self, what: str) -> None:
        """Refuse what only a network has."""
        if self.division is not None and not self.division.acyclic:
            raise InputError(f"the votes leave a cycle, so there are no {what}; drop its weakest edge with acyclic=True")
        if isnan(self.score):
            raise InputError(f"the best read is not a network, so it has no {what}; repair it or give more reads")

    def _need_data(self, what: str) -> Dataset:
        """Return the data, or refuse what needs them."""
        if self.data is None:
            raise InputError(f"{what} needs the data; a result that was read from a file has none")
        return self.data

    def strengths(self) -> list[Strength]:
        """Return what the score says of each edge, in the order of the edges."""
        if self.confidence is not None and self.confidence.strengths is not None:
            return self.confidence.strengths
        return strengths(self.dag, self._need_data("strengths"), self.criterion, self.knowledge)

    def bootstrap(self, samples: int = BOOTSTRAP_SAMPLES, solver: Any = None, run: Run = DEFAULT_RUN) -> Bootstrap:
        """Learn from resampled rows again and again, and count edges; see `dagneal.bootstrap`.

        Args:
            samples: the number of samples.
            solver: finds the structure of a sample; `Auto` by default.
            run: seed, deadline, progress, executor and journal.
        """
        data, limit = self._need_data("bootstrap"), self.search_limit
        return bootstrap(data, samples, solver, self.criterion, limit, self.knowledge, run)

    @property
    def search_limit(self) -> int | None:
        """The parent limit for further searches of the same kind; None where the rules of the paper had none."""
        return None if self.division is not None and self.division.combine != "conquer" else self.max_parents

    def compare(self, truth: BayesianNetwork | nx.DiGraph) -> Comparison:
        """Compare the graph with the true one.

        Args:
            truth: a network or a graph over the same variables.
        """
        graph = truth.dag if isinstance(truth, BayesianNetwork) else truth
        return compare(self.dag, graph, None if self.data is None else Scorer(self.data, self.criterion))

    def with_confidence(self, confidence: Confidence) -> Learned:
        """Return this result with measures of confidence.

        Args:
            confidence: the measures.
        """
        return replace(self, confidence=confidence)

    def to_networkx(self) -> nx.DiGraph:
        """Return the graph with its edges in the order of the variables."""
        return graph_of(self.dag, self.edges)

    def to_dict(self) -> dict[str, Any]:
        """Return the result as plain values, as `dagneal learn --json` prints it."""
        plain: dict[str, Any] = {
            "format_version": FORMAT_VERSION,
            "variables": list(self.dag),
            "edges": [list(edge) for edge in self.edges],
            "score": None if isnan(self.score) else self.score,
            "score_name": self.score_name,
            "max_parents": self.max_parents,
            "solver": self.solver,
            "seed": self.seed,
            "seconds": {stage: round(value, 6) for stage, value in self.seconds.items()},
            "optimal": self.optimal,
        }
        if self.criterion is not None and (name := name_of(self.criterion)) is not None:
            plain["criterion"] = name
        if self.bound is not None:
            plain["bound"] = asdict(self.bound)
        plain |= {} if self.confidence is None else self.confidence.to_dict()
        if self.reads is not None:
            plain["annealed"] = self.reads.summary()
        if self.data is not None:
            plain["data"] = {"rows": self.data.rows, "prepared": list(self.data.prepared)}
        if self.knowledge:
            plain["knowledge"] = self.knowledge.to_dict()
        if self.hardware is not None:
            plain["hardware"] = self.hardware.summary()
        if self.division is not None:
            plain["division"] = self.division.summary()
            plain["acyclic"] = plain["division"].pop("acyclic")
            if self.division.votes is not None and self.division.against is not None:  # by row and column, as the variables
                plain["votes"] = {"for": self.division.votes.tolist(), "against": self.division.against.tolist()}
        return plain

    def save(
        self,
        path: str | os.PathLike[str],
        safe: bool = False,
        truth: nx.DiGraph | None = None,
        title: str = "",
        command: str = "",
    ) -> None:
        """Save the result; the ending of the name says how.

        Args:
            path: a name ending in .html (a page to look at), .json (all there is to know), .bif (with fitted probabilities),
                .graphml or .dot.
            safe: make names and states of .bif, .graphml and .dot plain words first, for tools that take no others.
            truth: a graph that the page compares with.
            title: the name of the data on the page.
            command: the command that repeats the run, shown on the page.
        """
        check_format(path, (*FORMATS, PAGE))
        suffix = Path(path).suffix.lower()
        if suffix == ".json":
            fitted: dict[str, Any] = {}
            if self.fitted is not None or (self.data is not None and self.is_dag):
                with secondary("fitting probabilities"):
                    fitted = network_dict(self.network)
            with replacing(path) as file:
                file.write((json.dumps(fitted | self.to_dict(), indent=1) + "\n").encode())
        elif suffix == PAGE:
            write_page(self, path, truth, title, command)
        else:
            write_network(self.network if suffix == ".bif" else self.to_networkx(), path, safe)


def load_result(path: str | os.PathLike[str]) -> Learned:
    """Read a result that was saved as JSON.

    It has no data and no single reads; all figures, and the probabilities if they were saved, are there again.

    Args:
        path: a file that `Learned.save` or `dagneal learn -o` wrote.
    """
    if Path(path).suffix.lower() != ".json":
        raise InputError(f"{path} is no result; results are saved as .json")
    structure = read_structure(path)
    plain = json.loads(Path(path).read_text(encoding="utf-8-sig"))
    version = plain.get("format_version")
    if version is None:
        raise InputError(f"{path} is no result of `dagneal learn`; it has no format_version")
    if version != FORMAT_VERSION:
        raise InputError(f"{path} has the format version {version!r}; this version of dagneal reads {FORMAT_VERSION}")
    try:
        return _restore(plain, structure)
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise InputError(f"{path} is no valid result: {type(error).__name__}: {error}") from error


def _restore(plain: Mapping[str, Any], structure: nx.DiGraph | BayesianNetwork) -> Learned:
    """Return the result that `Learned.to_dict` wrote."""
    fitted = structure if isinstance(structure, BayesianNetwork) else None
    names = [str(name) for name in plain["variables"]]
    return Learned(
        dag=graph_of(names, ((str(parent), str(child)) for parent, child in plain["edges"])),
        score=float("nan") if plain["score"] is None else float(plain["score"]),
        max_parents=int(plain["max_parents"]),
        solver=str(plain["solver"]),
        optimal=bool(plain["optimal"]),
        seconds={str(stage): float(value) for stage, value in plain["seconds"].items()},
        seed=plain["seed"],
        reads=_restore_reads(plain.get("annealed")),
        division=_restore_division(plain),
        bound=Bound(**plain["bound"]) if "bound" in plain else None,
        hardware=_restore_hardware(plain.get("hardware")),
        score_name=str(plain["score_name"]),
        criterion=as_score(plain["criterion"]) if "criterion" in plain else None,
        knowledge=as_knowledge(plain.get("knowledge")),
        confidence=Confidence.from_dict(names, plain),
        fitted=fitted,
    )


def _restore_reads(plain: Mapping[str, Any] | None) -> ReadSummary | None:
    if plain is None:
        return None

    def best(part: Mapping[str, Any] | None) -> BestRead | None:
        return None if part is None else BestRead(None, part["score"], part["hits"], part["optimum_hits"])

    repaired = best(plain["repaired"])
    if repaired is None:
        raise ValueError("there is no repaired read")
    return ReadSummary(
        sampleset=None,
        encoding=plain["encoding"],
        reads=plain["reads"],
        distinct=plain["distinct"],
        bits=plain["bits"],
        interactions=plain["interactions"],
        lowest_energy=plain["lowest_energy"],
        feasible=plain["feasible_share"],
        raw=best(plain["raw"]),
        repaired=repaired,
        baseline=plain["random_order_baseline"],
        optimum=plain["optimum"],
    )


def _restore_division(plain: Mapping[str, Any]) -> Division | None:
    if "division" not in plain:
        return None
    votes = plain.get("votes")
    division = Division(**plain["division"], acyclic=plain["acyclic"])
    if votes is None:
        return division
    return replace(division, votes=np.array(votes["for"]), against=np.array(votes["against"]))


def _restore_hardware(plain: Mapping[str, Any] | None) -> Hardware | None:
    if plain is None:
        return None
    return Hardware(**{name: value for name, value in plain.items() if name != "chain_break_fraction"})
