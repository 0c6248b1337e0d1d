"""Learned: what `learn` returns, with methods for the usual next steps."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, fields, replace
from functools import cached_property
from math import isclose, isnan
from pathlib import Path
from typing import Any, TypeVar

import networkx as nx
import numpy as np

from dagneal.base.defaults import BOOTSTRAP_SAMPLES
from dagneal.base.errors import InputError, secondary, short
from dagneal.base.files import check_format, replacing
from dagneal.base.plain import take_mapping, take_names, take_number, take_text, take_truth, take_whole
from dagneal.confidence.bootstrap import Bootstrap, bootstrap
from dagneal.confidence.finding import Confidence, DataSummary, Finding
from dagneal.confidence.measures import Strength, strengths
from dagneal.data.dataset import Dataset
from dagneal.graphs.dags import check_variables, graph_of
from dagneal.graphs.knowledge import as_knowledge, equivalence_class
from dagneal.networks.comparison import Comparison, compare
from dagneal.networks.formats import FORMATS, PAGE, network_dict, read_structure, write_network
from dagneal.networks.network import BayesianNetwork, fit
from dagneal.report.page import draw_html, write_page
from dagneal.runtime.run import DEFAULT_RUN, Run
from dagneal.scoring.scorer import Scorer
from dagneal.scoring.scores import BDeu, Dirichlet, Score, as_score, name_of
from dagneal.solvers.solution import BestRead, Bound, Division, Hardware, ReadSummary, Solution
from dagneal.strategies.solve import as_dataset

FORMAT_VERSION = 1  # of the JSON of a result; it grows when keys change their meaning
Value = TypeVar("Value")


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
        stored_data: the summary of the data, where it was read from a file.
        requested_parents: the parent limit that was asked for; None where that was left to the solver.
        fitted: the network with probabilities, where it was read from a file.
    """

    requested_parents: int | None = None
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
            raise InputError("probabilities need the data: call result.with_data(data), or dn.fit(result.dag, data)")
        self._check_network("probabilities")
        return fit(self.dag, self.data, self.criterion if isinstance(self.criterion, Dirichlet) else BDeu())

    def _check_network(self, what: str) -> None:
        """Refuse what only a network has."""
        if self.division is not None and not self.division.acyclic:
            raise InputError(f"the votes leave a cycle, so there are no {what}; drop its weakest edge with acyclic=True")
        if isnan(self.score):
            raise InputError(f"the best read is not a network, so it has no {what}; repair it or give more reads")

    def _need_data(self, what: str, function: str) -> Dataset:
        """Return the data, or refuse what needs them."""
        if self.data is None:
            raise InputError(
                f"{what} needs the data, and a result that was read from a file has none; call "
                f"result.with_data(data).{what}(), or {function}"
            )
        return self.data

    def _need_score(self, what: str) -> Score:
        """Return the score that was maximised, or refuse what needs it."""
        if self.criterion is None:
            name = f" {self.score_name!r}" if self.score_name else ""
            raise InputError(
                f"{what} needs the score{name} that was maximised, and a file holds no score of your own; call "
                "result.with_data(data, score=...)"
            )
        return self.criterion

    def with_data(self, data: Any, score: Score | str | None = None) -> Learned:
        """Return this result with its data at hand again, which a file does not hold.

        Args:
            data: the data that it was learned from, or anything that `read` takes; other data are refused.
            score: the score that was maximised, if it is one of your own, which a file does not hold either.
        """
        data = as_dataset(data)
        check_variables(self.dag, data.names, "the result", "the data")
        _check_same_data(data, self.data_summary)
        criterion = self.criterion if score is None else as_score(score)
        if self.criterion is not None and criterion != self.criterion:
            raise InputError(f"score is {score!r}, but the result was learned with {self.score_name}; leave score out")
        known = self.data_summary is not None and self.data_summary.fingerprint is not None
        if criterion is not None and self.is_dag and (score is not None or not known):
            expected = Scorer(data, criterion).score(self.dag)
            if not isclose(expected, self.score, rel_tol=1e-9, abs_tol=1e-9):
                raise InputError(
                    f"the network scores {self.score:.3f} in this result, but {expected:.3f} by {criterion.name} with these "
                    "data; give the data and the score that it was learned with, read with the same options"
                )
        return replace(self, data=data, criterion=criterion)

    def strengths(self) -> list[Strength]:
        """Return what the score says of each edge, in the order of the edges."""
        if self.confidence is not None and self.confidence.strengths is not None:
            return self.confidence.strengths
        data = self._need_data("strengths", "dn.strengths(result.dag, data, score)")
        return strengths(self.dag, data, self._need_score("strengths"), self.knowledge)

    def bootstrap(self, samples: int = BOOTSTRAP_SAMPLES, solver: Any = None, run: Run = DEFAULT_RUN) -> Bootstrap:
        """Learn from resampled rows again and again, and count edges; see `dagneal.bootstrap`.

        Args:
            samples: the number of samples.
            solver: finds the structure of a sample; `Auto` by default.
            run: seed, deadline, progress, executor and journal.
        """
        data = self._need_data("bootstrap", "dn.bootstrap(data)")
        return bootstrap(data, samples, solver, self._need_score("bootstrap"), self.search_limit, self.knowledge, run)

    @property
    def search_limit(self) -> int | None:
        """The parent limit for further searches of the same kind: the one that was asked for.

        Where none was, it is left to the solver, except that a sampler which solved the global problem directly had 2.
        """
        if self.requested_parents is None and self.reads is not None and self.division is None:
            return self.max_parents
        return self.requested_parents

    def compare(self, truth: BayesianNetwork | nx.DiGraph | Solution) -> Comparison:
        """Compare the graph with the true one.

        Args:
            truth: a network, a graph or another result over the same variables.
        """
        graph = _graph(truth)
        scorer = None if self.data is None else Scorer(self.data, self._need_score("compare"))
        return compare(self.dag, graph, scorer)

    def with_confidence(self, confidence: Confidence) -> Learned:
        """Return this result with measures of confidence; those that it had before and that are not given are kept.

        Args:
            confidence: the measures.
        """
        return replace(self, confidence=(self.confidence or Confidence()).merge(confidence))

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
            "requested_parents": self.requested_parents,
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
        if (summary := self.data_summary) is not None:
            plain["data"] = summary.to_dict()
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
        truth: BayesianNetwork | nx.DiGraph | Solution | None = None,
        title: str = "",
        command: str = "",
    ) -> None:
        """Save the result; the ending of the name says how.

        Args:
            path: a name ending in .html (a page to look at), .json (all there is to know), .bif (with fitted probabilities),
                .graphml or .dot.
            safe: make names and states of .bif, .graphml and .dot plain words first, for tools that take no others.
            truth: a network, a graph or another result that the page compares with.
            title: the name of the data on the page.
            command: the command that repeats the run, shown on the page.
        """
        if not isinstance(path, str | os.PathLike):
            raise InputError(f"path is {path!r}; give the name of a file")
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
            write_page(self, path, None if truth is None else _graph(truth), title, command)
        else:
            write_network(self.network if suffix == ".bif" else self.to_networkx(), path, safe)


def load_result(path: str | os.PathLike[str]) -> Learned:
    """Read a result that was saved as JSON.

    It has no data and no single reads; all figures, and the probabilities if they were saved, are there again.
    `Learned.with_data` adds the data.

    Args:
        path: a file that `Learned.save` or `dagneal learn -o` wrote.
    """
    if not isinstance(path, str | os.PathLike):
        raise InputError(f"path is {path!r}; give the name of a file that Learned.save wrote")
    if Path(path).suffix.lower() != ".json":
        raise InputError(f"{path} is no result; results are saved as .json")
    structure = read_structure(path)
    plain = json.loads(Path(path).read_text(encoding="utf-8-sig"))
    version = plain.get("format_version")
    if version is None:
        raise InputError(f"{path} is no result of `dagneal learn`; it has no format_version")
    if version != FORMAT_VERSION or isinstance(version, bool):
        raise InputError(f"{path} has the format version {version!r}; this version of dagneal reads {FORMAT_VERSION}")
    try:
        return _restore(plain, structure)
    except InputError as error:
        raise InputError(f"{path} is no valid result: {error}") from error
    except (LookupError, TypeError, ValueError, AttributeError, OverflowError) as error:
        raise InputError(f"{path} is no valid result: {type(error).__name__}: {error}") from error


def _graph(truth: Any) -> nx.DiGraph:
    """Return the graph of a network or of a result, or a graph itself."""
    graph = truth.dag if isinstance(truth, BayesianNetwork | Solution) else truth
    if not isinstance(graph, nx.DiGraph):
        raise InputError(
            f"truth is {short(truth)}; give a network such as dn.load('lung-cancer'), a networkx.DiGraph or a result"
        )
    return graph


def _check_same_data(data: Dataset, stored: DataSummary | None) -> None:
    """Refuse data that differ from those of a result."""
    if stored is None:
        return
    same = "give the data that it was learned from, read with the same options"
    if data.rows != stored.rows:
        raise InputError(f"the data have {data.rows:,} rows, and the result was learned from {stored.rows:,}; {same}")
    if stored.fingerprint is not None and data.fingerprint != stored.fingerprint:
        raise InputError(
            "the data have as many rows as those of the result, but other content: values, states or their order; " + same
        )


def _restore(plain: Mapping[str, Any], structure: nx.DiGraph | BayesianNetwork) -> Learned:
    """Return the result that `Learned.to_dict` wrote."""
    fitted = structure if isinstance(structure, BayesianNetwork) else None
    names = [str(name) for name in plain["variables"]]
    knowledge = as_knowledge(take_mapping(plain, "knowledge")) if "knowledge" in plain else None
    seconds = take_mapping(plain, "seconds")
    if knowledge is not None:
        knowledge.check(names, max(len(names) - 1, 0))
    return Learned(
        dag=graph_of(names, ((str(parent), str(child)) for parent, child in plain["edges"])),
        score=float("nan") if plain["score"] is None else take_number(plain, "score"),
        max_parents=take_whole(plain, "max_parents"),
        requested_parents=_optional(take_whole, plain, "requested_parents"),
        solver=take_text(plain, "solver"),
        optimal=take_truth(plain, "optimal"),
        seconds={stage: take_number(seconds, stage) for stage in seconds},
        seed=_optional(take_whole, plain, "seed"),
        reads=_restore_reads(plain["annealed"]) if "annealed" in plain else None,
        division=_restore_division(plain, names),
        bound=Bound(take_number(plain["bound"], "score"), take_whole(plain["bound"], "max_parents"))
        if "bound" in plain
        else None,
        hardware=_restore_hardware(plain["hardware"]) if "hardware" in plain else None,
        score_name=take_text(plain, "score_name"),
        criterion=as_score(take_text(plain, "criterion")) if "criterion" in plain else None,
        knowledge=knowledge,
        confidence=Confidence.from_dict(names, plain),
        stored_data=DataSummary.from_dict(plain["data"]) if "data" in plain else None,
        fitted=fitted,
    )


def _optional(take: Callable[[Mapping[str, Any], str], Value], plain: Mapping[str, Any], key: str) -> Value | None:
    """Return a checked value, or None where it is null."""
    return None if plain[key] is None else take(plain, key)


def _restore_reads(plain: Mapping[str, Any]) -> ReadSummary:
    def best(part: Mapping[str, Any]) -> BestRead:
        score, hits = take_number(part, "score"), take_whole(part, "hits")
        return BestRead(None, score, hits, _optional(take_whole, part, "optimum_hits"))

    return ReadSummary(
        sampleset=None,
        encoding=take_text(plain, "encoding"),
        reads=take_whole(plain, "reads"),
        distinct=take_whole(plain, "distinct"),
        bits=take_whole(plain, "bits"),
        interactions=take_whole(plain, "interactions"),
        lowest_energy=take_number(plain, "lowest_energy"),
        feasible=take_number(plain, "feasible_share"),
        raw=None if plain["raw"] is None else best(plain["raw"]),
        repaired=best(plain["repaired"]),
        baseline=take_number(plain, "random_order_baseline"),
        optimum=_optional(take_number, plain, "optimum"),
    )


def _restore_division(plain: Mapping[str, Any], names: list[str]) -> Division | None:
    if "division" not in plain:
        return None
    part = plain["division"]
    failed, candidates, known = take_mapping(part, "failed"), _optional(take_mapping, part, "candidates"), set(names)
    if candidates is not None:
        take_names([*candidates], known, "candidates")
        candidates = {name: take_names(its, known, "candidates") for name, its in candidates.items()}
    division = Division(
        combine=take_text(part, "combine"),
        size=take_whole(part, "size"),
        scheme=take_text(part, "scheme"),
        subproblems=take_whole(part, "subproblems"),
        solver=take_text(part, "solver"),
        acyclic=take_truth(plain, "acyclic"),
        failed={key: take_text(failed, key) for key in failed},
        finished=take_whole(part, "finished"),
        candidates=candidates,
        rounds=_optional(take_whole, part, "rounds"),
        global_solver=_optional(take_text, part, "global_solver"),
        skipped=take_text(part, "skipped"),
        interrupted=take_truth(part, "interrupted"),
    )
    if "votes" not in plain:
        return division
    votes, against = (np.array(plain["votes"][key]) for key in ("for", "against"))
    if any(each.shape != (len(names), len(names)) or each.dtype != np.int64 for each in (votes, against)):
        raise ValueError("votes are not whole numbers by row and column of the variables")
    return replace(division, votes=votes, against=against)


def _restore_hardware(plain: Mapping[str, Any]) -> Hardware:
    return Hardware(
        system=take_text(plain, "system"),
        emulated=take_truth(plain, "emulated"),
        calls=take_whole(plain, "calls"),
        fetched=take_whole(plain, "fetched"),
        access_seconds=take_number(plain, "access_seconds"),
        chains=take_whole(plain, "chains"),
        broken=take_whole(plain, "broken"),
    )
