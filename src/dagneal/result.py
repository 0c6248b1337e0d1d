"""The class `Learned`: the result of `learn`, with methods to analyse and save the result."""

from __future__ import annotations

import json
import os
import warnings
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, fields, replace
from functools import cached_property
from math import isclose, isnan
from pathlib import Path
from time import perf_counter
from typing import TYPE_CHECKING, Any, TypeVar

import networkx as nx
import numpy as np

from dagneal.base.defaults import (
    BAYES_FACTOR,
    BOOTSTRAP_SAMPLES,
    ENSEMBLE_NETWORKS,
    MOST_CLASSES,
    NETWORK_PARENTS,
    STORED_PROBABILITIES,
    STRUCTURE_PRIORS,
)
from dagneal.base.errors import InputError, short_repr, warn_on_failure
from dagneal.base.files import atomic_write, check_format
from dagneal.base.plain import take_bool, take_count, take_mapping, take_names, take_number, take_numbers, take_text
from dagneal.confidence.annotated import AnnotatedSolution, Confidence, DataSummary
from dagneal.confidence.bootstrap import Bootstrap, Method, bootstrap
from dagneal.confidence.consensus import CONSENSUS, consensus
from dagneal.confidence.ensemble import Ensemble, ensemble, predictive_score
from dagneal.confidence.measures import Strength, strengths
from dagneal.confidence.parameter_counts import count_probabilities
from dagneal.confidence.posteriors import EdgePosteriors, edge_posteriors
from dagneal.data.cautions import Caution
from dagneal.data.dataset import Dataset
from dagneal.data.raw.prepare import Prepared, apply_recipe
from dagneal.data.recipe import Preparation, Recipe
from dagneal.graphs.dags import check_variables, graph_from_edges
from dagneal.graphs.knowledge import as_knowledge, equivalence_class
from dagneal.inference import effects, queries, relations, rows
from dagneal.inference.new_data import Unseen
from dagneal.networks.comparison import Comparison, compare
from dagneal.networks.formats import FORMATS, PAGE, network_dict, read_structure, write_network
from dagneal.networks.network import BayesianNetwork, fit
from dagneal.proofs.attempt import prove
from dagneal.runtime.run import DEFAULT_RUN, Run
from dagneal.scoring.bounded import complete_table
from dagneal.scoring.scorer import Scorer
from dagneal.scoring.scores import BDeu, Dirichlet, Score, as_score, score_spec
from dagneal.search.trace import TracePoint
from dagneal.solvers.solution import (
    BestRead,
    Bound,
    CallSummary,
    Certificate,
    Division,
    EMSummary,
    Hardware,
    ReadSummary,
    SearchSummary,
    Solution,
)
from dagneal.strategies.proving import describe_proof
from dagneal.strategies.solve import as_dataset

if TYPE_CHECKING:
    import polars

    from dagneal.base.kernels import Floats
    from dagneal.proofs.alternatives import NearOptimal

PROOF = ".proof"  # ending of files with proofs
FORMAT_VERSION = 2  # version of the JSON format of results; increases if keys change
Value = TypeVar("Value")


@dataclass(frozen=True, eq=False, repr=False)
class Learned(AnnotatedSolution):
    """The result of `learn`: a learned structure, and information about the search.

    Attributes:
        dag: learned graph. It can have cycles if it is a raw read, or if votes of subproblems were combined by the rule
            `penalty` or `count` of `Divide`; then the score is NaN.
        score: log score; higher is better.
        score_name: name of the maximised score.
        max_parents: parent limit. The rules `penalty` and `count` of `Divide` apply no limit; then `max_parents` is the
            largest number of parents in the graph.
        solver: name of the solver.
        optimal: True only if it is proved that no network with this parent limit and background knowledge scores higher.
        bound: proved upper bound on the score; None if no bound was computed or the optimum is known.
        seconds: seconds spent in each stage.
        seed: seed of the solver; None if the solver uses no seed.
        reads: statistics of the reads of a sampler; None without a sampler.
        division: the subproblems, and how they were combined; None without subproblems.
        search: summary of an anytime search: trace, local optimality, variables at the parent limit; None for other solvers.
        hardware: usage of a quantum annealer; None without a quantum annealer.
        proof: proof that the result is optimal, or of its upper bound; None if there is none. `save` writes it to a file.
        em: summary of structural EM, if the data have unknown values (`missing="em"`); otherwise None. The score is then the
            penalised log-likelihood of the known values.
        knowledge: background knowledge, if any.
        confidence: measures of confidence, if any.
        data: training data; None in a result that was loaded from a file, learned from scores, or learned by structural EM.
        criterion: maximised score; None for a user-defined score in a result that was loaded from a file, and in a result
            that was learned from scores.
        stored_data: summary of the training data, in a result that was loaded from a file or learned by structural EM.
        stored_warnings: warnings, only in a result that was loaded from a file; see the property `warnings`.
        requested_parents: parent limit that the user requested; None for the default of the solver.
        fitted: network with probabilities, in a result that was loaded from a file or learned by structural EM.
    """

    requested_parents: int | None = None
    fitted: BayesianNetwork | None = None

    @classmethod
    def of(cls, solution: Solution, **more: Any) -> Learned:
        """Create a result from the solution of a solver.

        Args:
            solution: solution of a solver.
            **more: attributes of the result that a solution does not have, with their values.
        """
        return cls(**{each.name: getattr(solution, each.name) for each in fields(solution)} | more)

    def __repr__(self) -> str:
        """Return one line with the size, the score and the proved quality."""
        if not self.is_dag:
            quality = "not a network"
        elif self.optimal:
            quality = "highest score proved"
        else:
            quality = "highest score not proved" if self.gap is None else f"within {self.gap:.3f} of the highest score"
        edges = self.dag.number_of_edges()
        size = f"{len(self.dag)} variable{'s' * (len(self.dag) != 1)}, {edges} edge{'s' * (edges != 1)}"
        return f"Learned({size}, {self.score_name} = {self.score:.3f}, {quality})"

    def _repr_html_(self) -> str:
        """Return the key figures and a drawing of the graph for notebooks."""
        from html import escape

        from dagneal.report.page import draw_html

        size = "" if self.data_summary is None else f", {self.data_summary.rows:,} rows"
        return f"<p>{escape(repr(self))}{size}</p>{draw_html(self)}"

    @property
    def recipe(self) -> Recipe | None:
        """The recipe that prepared the raw table; None if the table was read as it is. `recipe.apply` prepares new data."""
        summary = self.data_summary
        return None if summary is None or summary.preparation is None else summary.preparation.recipe

    @property
    def cpdag(self) -> nx.DiGraph:
        """The equivalence class of the learned graph as a CPDAG. A reversible edge is present in both directions."""
        self._check_network("equivalence class")
        return equivalence_class(self.dag, self.knowledge)

    @cached_property
    def network(self) -> BayesianNetwork:
        """The network with probabilities. The probabilities are fitted to the data on first access."""
        if self.fitted is not None:
            return self.fitted
        if self.data is None:
            raise InputError("this result has no data to fit probabilities to; call result.with_data(data) first")
        self._check_network("fitted network")
        return fit(self.dag, self.data, self.criterion if isinstance(self.criterion, Dirichlet) else BDeu())

    def _check_network(self, what: str) -> None:
        """Raise an error if the graph is not a network. The message states that `what` does not exist."""
        if self.division is not None and not self.division.acyclic:
            raise InputError(f"the combined votes contain a cycle, so there is no {what}; break cycles with acyclic=True")
        if isnan(self.score):
            raise InputError(f"the best read is not a network, so there is no {what}; use repair=True or more reads")

    def _need_data(self, what: str, function: str) -> Dataset:
        """Return the data. If there are none, raise an error that suggests `with_data` or the call `function`."""
        if self.em is not None:
            raise InputError(
                f"{what} needs complete data, but this result was learned from rows with unknown values (missing='em'); "
                "fill them with result.impute(...), or read the data with missing='drop' or missing='state'"
            )
        if self.data is None:
            raise InputError(
                f"{what} needs the data, and a result that was loaded or learned from scores has none; call "
                f"result.with_data(data).{what}(), or {function}"
            )
        return self.data

    def _need_score(self, what: str) -> Score:
        """Return the maximised score. If it is unknown, raise an error that names the method `what`."""
        if self.criterion is None:
            name = f" {self.score_name!r}" if self.score_name else ""
            raise InputError(
                f"{what} needs the score{name}, which is unknown in a result that was loaded or learned from scores; call "
                "result.with_data(data, score=...)"
            )
        return self.criterion

    def with_data(self, data: Any, score: Score | str | None = None) -> Learned:
        """Return this result with its training data, which a result file does not store.

        Args:
            data: training data, as a `Dataset` or any input that `read` accepts. Other data raise an error. A raw table is
                prepared with the recipe of this result.
            score: maximised score, if it is user-defined; a result file does not store it. None for other scores.
        """
        if self.em is not None:
            raise InputError("this result was learned from rows with unknown values (missing='em'), so it takes no data")
        if self.recipe is not None and not isinstance(data, Dataset | Prepared):
            data = apply_recipe(self.recipe, data).data
        data = as_dataset(data, strict=True)
        check_variables(self.dag, data.names, "the result", "the data")
        _check_same_data(data, self.data_summary)
        criterion = self.criterion if score is None else as_score(score)
        if self.criterion is not None and criterion != self.criterion:
            raise InputError(f"score is {score!r}, but the result was learned with {self.score_name}; remove score")
        has_fingerprint = self.data_summary is not None and self.data_summary.fingerprint is not None
        if criterion is not None and self.is_dag and (score is not None or not has_fingerprint):
            expected = Scorer(data, criterion, self.knowledge).score(self.dag)
            if not isclose(expected, self.score, rel_tol=1e-9, abs_tol=1e-9):
                raise InputError(
                    f"the score of this result is {self.score:.3f}, but {criterion.name} of these data is {expected:.3f}; "
                    "give the training data, read with the same options, and the same score"
                )
        return replace(self, data=data, criterion=criterion)

    def strengths(self) -> list[Strength]:
        """Return the score drop of each edge if it is removed or reversed; see `dagneal.strengths`."""
        if self.confidence is not None and self.confidence.strengths is not None:
            return self.confidence.strengths
        data = self._need_data("strengths", "dn.strengths(result.dag, data, score)")
        return strengths(self.dag, data, self._need_score("strengths"), self.knowledge)

    def bootstrap(
        self,
        samples: int = BOOTSTRAP_SAMPLES,
        solver: Any = None,
        run: Run = DEFAULT_RUN,
        method: Method = "subsample",
    ) -> Bootstrap:
        """Learn from bootstrap samples, and return how often each edge occurs; see `dagneal.bootstrap`.

        Args:
            samples: number of bootstrap samples.
            solver: solver that learns the structure of each sample; `Auto` by default.
            run: a `Run` with seed, deadline, progress, executor and journal.
            method: how the samples are drawn: `"subsample"` or `"rows"`.
        """
        data, score = self._need_data("bootstrap", "dn.bootstrap(data)"), self._need_score("bootstrap")
        return bootstrap(data, samples, solver, score, self.search_limit, self.knowledge, run, method)

    def consensus(
        self,
        threshold: float | None = None,
        samples: int = BOOTSTRAP_SAMPLES,
        solver: Any = None,
        run: Run = DEFAULT_RUN,
    ) -> Learned:
        """Return an averaged network with the edges that are frequent in the bootstrap; see `dagneal.consensus`.

        The network obeys the background knowledge and the parent limit that the user requested. The bootstrap frequencies of
        this result are used if it has them; see `with_confidence`. Otherwise a bootstrap is done first.

        Args:
            threshold: lowest bootstrap frequency of an edge; by default, it is estimated from the frequencies.
            samples: number of bootstrap samples, if a bootstrap is done.
            solver: solver that learns the structure of each sample; `Auto` by default.
            run: a `Run` with seed, deadline, progress, executor and journal.
        """
        begun = perf_counter()
        data, score = self._need_data("consensus", "dn.consensus(bootstrap)"), self._need_score("consensus")
        measured = None if self.confidence is None else self.confidence.bootstrap
        frequencies = self.bootstrap(samples, solver, run) if measured is None else measured
        dag = consensus(frequencies, threshold, self.knowledge, self.requested_parents)
        return Learned(
            dag=dag,
            score=Scorer(data, score).score(dag),
            max_parents=max(self.max_parents, *(parents for _, parents in dag.in_degree)),
            requested_parents=self.requested_parents,
            solver=CONSENSUS,
            seconds={"consensus": perf_counter() - begun},
            score_name=self.score_name,
            data=data,
            criterion=score,
            knowledge=self.knowledge,
            confidence=Confidence(bootstrap=frequencies),
        )

    def ensemble(
        self,
        networks: int = ENSEMBLE_NETWORKS,
        solver: Any = None,
        run: Run = DEFAULT_RUN,
        method: Method = "subsample",
        score: Score | str | None = None,
    ) -> Ensemble:
        """Return a mixture of networks learned from bootstrap samples, which predicts better; see `dagneal.ensemble`.

        Args:
            networks: number of bootstrap samples.
            solver: solver that learns the structure of each sample; `Auto` by default.
            run: a `Run` with seed, deadline, progress, executor and journal.
            method: how the samples are drawn: `"subsample"`, or `"rows"` for the classical bootstrap.
            score: score to maximise, or its name. By default the score of this result, but `BDeu(10)` in place of a BDeu
                score with a smaller equivalent sample size, because it predicts better.
        """
        data, own = self._need_data("ensemble", "dn.ensemble(data)"), self._need_score("ensemble")
        score = predictive_score(own) if score is None else score
        return ensemble(data, networks, solver, score, self.search_limit, self.knowledge, run, method)

    def posteriors(self, prior: str = STRUCTURE_PRIORS[0], run: Run = DEFAULT_RUN) -> EdgePosteriors:
        """Return the posterior probability of each edge; see `dagneal.edge_posteriors`.

        The parent limit is that of this result. Without a requested limit, it is 4, or the largest number of parents in the
        graph if that is higher.

        Args:
            prior: prior over network structures: `uniform`, `sparse`, `orders` or `sparse-orders`.
            run: a `Run` with seed, deadline and progress.
        """
        data = self._need_data("posteriors", "dn.edge_posteriors(data)")
        limit = self.requested_parents
        if limit is None:
            most = max((degree for _, degree in self.dag.in_degree), default=0)
            limit = min(max(NETWORK_PARENTS, most), max(len(self.dag) - 1, 0))
        return edge_posteriors(data, self._need_score("posteriors"), limit, self.knowledge, prior, run)

    def near_optimal(self, factor: float = BAYES_FACTOR, most: int = MOST_CLASSES, run: Run = DEFAULT_RUN) -> NearOptimal:
        """List all equivalence classes whose log score is within ln(factor) of the best; see `dagneal.proofs.near_optimal`.

        Networks have the parent limit `max_parents` and obey the background knowledge of this result. If this result is not
        optimal, the best network can be another one.

        Args:
            factor: Bayes factor, at least 1.
            most: largest number of classes. If there are more, the best are listed.
            run: a `Run` with the deadline.
        """
        from dagneal.proofs.alternatives import near_optimal_of_data

        self._check_network("near-optimal network")
        data = self._need_data("near_optimal", "dn.proofs.near_optimal(table)")
        scorer = Scorer(data, self._need_score("near_optimal"), self.knowledge)
        return near_optimal_of_data(scorer, self.max_parents, self.dag, factor, most, run)

    @property
    def search_limit(self) -> int | None:
        """The parent limit for a new search with the same settings; None for the default of the solver."""
        # A sampler without subproblems has a lower default limit than other solvers, so the new search keeps its limit.
        if self.requested_parents is None and self.reads is not None and self.division is None:
            return self.max_parents
        return self.requested_parents

    def compare(self, truth: BayesianNetwork | nx.DiGraph | Solution) -> Comparison:
        """Compare the graph with a true graph.

        Args:
            truth: true network, true graph, or another result, with the same variables.
        """
        graph = _graph(truth)
        scorer = None if self.data is None else Scorer(self.data, self._need_score("compare"), self.knowledge)
        return compare(self.dag, graph, scorer)

    def with_confidence(self, confidence: Confidence) -> Learned:
        """Return this result with added measures of confidence. A measure is replaced if `confidence` contains it too.

        Args:
            confidence: measures to add.
        """
        return replace(self, confidence=(self.confidence or Confidence()).merge(confidence))

    def _prove(self) -> Certificate:
        """Return the proof. If exact search proved the result, prove it again, in a way that can be checked."""
        if self.proof is not None:
            return self.proof
        self._check_network("proof")
        if not self.optimal:
            raise InputError(
                "this result has no proof; learn with prove=300 and a longer time limit, or with fewer parents, such as "
                "max_parents=3"
            )
        scorer = Scorer(self._need_data("save", "dn.learn(data)"), self._need_score("save"), self.knowledge)
        return describe_proof(prove(complete_table(scorer, self.max_parents), self.dag).proof, scorer)

    def query(self, targets: str | Sequence[str], given: Mapping[str, Any] | None = None) -> queries.Distribution:
        """Return the exact distribution of one or several variables, given evidence; see `dagneal.query`.

        Args:
            targets: name of a variable, or a list of names for their joint distribution.
            given: evidence by variable.
        """
        return queries.query(self.network, targets, given)

    def most_probable(self, given: Mapping[str, Any] | None = None) -> queries.Explanation:
        """Return the most probable states of all variables; see `dagneal.inference.most_probable`.

        Args:
            given: evidence by variable; see `dagneal.query`.
        """
        return queries.most_probable(self.network, given)

    def do(
        self,
        interventions: Mapping[str, Any],
        targets: str | Sequence[str],
        given: Mapping[str, Any] | None = None,
        trust_directions: bool = False,
    ) -> effects.Effect:
        """Return the distribution of variables after an intervention, assuming no hidden common causes; see `dagneal.do`.

        The background knowledge of this result restricts the equivalence class.

        Args:
            interventions: state that each intervened variable is set to.
            targets: name of a variable, or a list of names for their joint distribution.
            given: evidence that is observed after the intervention; see `dagneal.query`.
            trust_directions: True to take the direction of every edge as causal, also of reversible edges.
        """
        return effects.do(self.network, interventions, targets, given, self.knowledge, trust_directions)

    def predict(self, data: Any, target: str, unseen: Unseen = "refuse") -> polars.DataFrame:
        """Predict one variable for each row, from the values of the other variables; see `dagneal.predict`.

        Args:
            data: new rows: a file, a frame, an array or a `Dataset`.
            target: variable to predict.
            unseen: `"refuse"`, or `"missing"` to treat unseen states and absent columns as unknown.
        """
        return rows.predict(self.network, data, target, unseen)

    def impute(
        self, data: Any, method: rows.Method = "joint", seed: int | None = None, unseen: Unseen = "refuse"
    ) -> polars.DataFrame:
        """Fill the missing values of each row; see `dagneal.impute`.

        Args:
            data: rows: a file, a frame, an array or a `Dataset`.
            method: `"joint"`, `"each"` or `"sample"`.
            seed: seed of `"sample"`; None for a new seed.
            unseen: `"refuse"`, or `"missing"` to fill unseen states and absent columns too.
        """
        return rows.impute(self.network, data, method, seed, unseen)

    def log_likelihood(self, data: Any, unseen: Unseen = "refuse") -> Floats:
        """Return the log-likelihood of each row, in order; see `dagneal.inference.row_log_likelihood`.

        Args:
            data: rows: a file, a frame, an array or a `Dataset`.
            unseen: `"refuse"`, or `"missing"` to treat unseen states and absent columns as unknown.
        """
        return rows.row_log_likelihood(self.network, data, unseen)

    def sample(self, count: int, seed: int | None = None, given: Mapping[str, Any] | None = None) -> Dataset:
        """Draw independent random rows, given values of some variables; see `dagneal.inference.sample`.

        Args:
            count: number of rows.
            seed: seed of the random generator; None for a new seed.
            given: states by variable that all rows have.
        """
        return rows.sample(self.network, count, seed, given)

    def blanket(self, variable: str) -> list[str]:
        """Return the Markov blanket of a variable; see `dagneal.inference.blanket`.

        Args:
            variable: name of the variable.
        """
        self._check_network("Markov blanket")
        return relations.blanket(self.dag, variable)

    def explain(self, first: str, second: str, given: Iterable[str] = ()) -> relations.Relation:
        """Explain why two variables are dependent or independent; see `dagneal.inference.explain`.

        Args:
            first: a variable.
            second: another variable.
            given: known variables.
        """
        self._check_network("path between variables")
        return relations.explain(self, first, second, given)

    def plot(self, axes: Any = None) -> Any:
        """Draw the graph with matplotlib, and return the axes. It needs `dagneal[plot]`.

        Args:
            axes: axes to draw into; None for a new figure.
        """
        from dagneal.report.network_plot import plot_network

        return plot_network(self, axes)

    def to_networkx(self) -> nx.DiGraph:
        """Return the graph as a networkx DiGraph. Nodes and edges are sorted by the order of the columns.

        The attribute `direction` of an edge states how well its direction is supported; see `dagneal.Direction`.
        """
        graph = graph_from_edges(self.dag, self.edges)
        nx.set_edge_attributes(graph, {edge: str(direction) for edge, direction in self.directions.items()}, "direction")
        return graph

    def describe(self) -> str:
        """Return one paragraph: what was learned, the strongest and weakest links, what is proved and what to try next."""
        from dagneal.report.overview import overview

        return " ".join(overview(self))

    def to_dict(self) -> dict[str, Any]:
        """Return the result as a dict for JSON. `dagneal learn --json` prints it."""
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
            "gap": self.gap,
        }
        if self.criterion is not None and (name := score_spec(self.criterion)) is not None:
            plain["criterion"] = name
        if self.bound is not None:
            plain["bound"] = asdict(self.bound)
        plain |= {} if self.confidence is None else self.confidence.to_dict()
        plain |= self._judgements()
        if self.reads is not None:
            plain["annealed"] = self.reads.summary()
        if (summary := self.data_summary) is not None:
            plain["data"] = summary.to_dict()
            if summary.preparation is not None:
                plain["preparation"] = summary.preparation.to_dict()
        if self.knowledge:
            plain["knowledge"] = self.knowledge.to_dict()
            if self.knowledge.probabilities:
                plain["log_prior"] = self.log_prior
        if self.hardware is not None:
            plain["hardware"] = self.hardware.summary()
        if self.search is not None:
            plain["search"] = self.search.summary()
        if self.em is not None:
            plain["em"] = self.em.summary()
        if self.division is not None:
            plain["division"] = self.division.summary()
            plain["acyclic"] = plain["division"].pop("acyclic")
            # The rows and columns of the votes are in the order of the variables.
            if self.division.votes is not None and self.division.against is not None:
                plain["votes"] = {"for": self.division.votes.tolist(), "against": self.division.against.tolist()}
        return plain

    def _judgements(self) -> dict[str, Any]:
        """Return the directions, the warnings and the near misses as a dict for JSON. The directions are always in it."""
        directions = [
            {"parent": parent, "child": child, "direction": str(self.directions[parent, child])}
            for parent, child in self.edges
            if self.directions
        ]
        plain: dict[str, Any] = {"directions": directions}
        if self.warnings:
            plain["warnings"] = [asdict(warning) for warning in self.warnings]
        if self.near_misses:
            plain["near_misses"] = [miss.to_dict() for miss in self.near_misses]
        return plain

    def save(
        self,
        path: str | os.PathLike[str],
        safe: bool | None = None,
        truth: BayesianNetwork | nx.DiGraph | Solution | None = None,
        title: str = "",
        command: str = "",
        near_misses: bool = False,
    ) -> None:
        """Save the result; the extension of the file determines the format.

        Args:
            path: file with extension .html (interactive page), .json (complete result), .bif (network with probabilities),
                .graphml, .dot, or .proof (proof of the score; see `dagneal check`).
            safe: True to replace special characters in names and states by underscores in .bif, .graphml and .dot files. By
                default, .bif files have readable names, and the original names as comments; see `write_network`.
            truth: network, graph or other result that the page compares with the learned graph.
            title: name of the data, shown on the page.
            command: command that repeats the run, shown on the page.
            near_misses: True to draw, on the page, edges that are frequent in the bootstrap but absent from the network.
        """
        if not isinstance(path, str | os.PathLike):
            raise InputError(f"path is {path!r}; give a file name")
        check_format(path, (*FORMATS, PAGE, PROOF))
        suffix = Path(path).suffix.lower()
        if suffix == PROOF:
            self._prove().save(path)
        elif suffix == ".json":
            content = (self._stored_network(path) if self.is_dag else {}) | self.to_dict()
            with atomic_write(path) as file:
                file.write((json.dumps(content, indent=1) + "\n").encode())
        elif suffix == PAGE:
            from dagneal.report.page import write_page

            write_page(self, path, None if truth is None else _graph(truth), title, command, near_misses)
        else:
            write_network(self.network if suffix == ".bif" else self.to_networkx(), path, safe)

    def _stored_network(self, path: str | os.PathLike[str]) -> dict[str, Any]:
        """Return the network with probabilities for a JSON file; without them if they are unknown or too many."""
        if self.fitted is None:
            if self.data is None:
                return {}
            if (total := count_probabilities(self.dag, self.data)) > STORED_PROBABILITIES:
                text = f"the network has {total:,} probabilities, so {path} omits them; max_parents limits their number"
                warnings.warn(text, stacklevel=3)
                return {}
        with warn_on_failure("fitting probabilities"):
            plain = network_dict(self.network)
            plain.pop("recipe", None)  # the file has it as part of the preparation
            return plain
        return {}


def load_result(path: str | os.PathLike[str]) -> Learned:
    """Load a result that was saved as JSON.

    The file contains the graph and statistics of the search, and also probabilities if they were saved. It contains no data
    and no individual reads. Use `Learned.with_data` to add the data.

    Args:
        path: .json file written by `Learned.save` or `dagneal learn -o`.
    """
    if not isinstance(path, str | os.PathLike):
        raise InputError(f"path is {path!r}; give the name of a .json file that Learned.save wrote")
    if Path(path).suffix.lower() != ".json":
        raise InputError(f"{path} is not a result; give a .json file that Learned.save wrote")
    structure = read_structure(path)
    plain = json.loads(Path(path).read_text(encoding="utf-8-sig"))
    version = plain.get("format_version")
    if version is None:
        raise InputError(f"{path} is not a result of `dagneal learn`: it has no format_version")
    if version not in (1, FORMAT_VERSION) or isinstance(version, bool):
        raise InputError(
            f"{path} has format version {version!r}; this version of dagneal reads versions 1 and {FORMAT_VERSION}"
        )
    try:
        return _restore(_upgrade(plain) if version == 1 else plain, structure)
    except InputError as error:
        raise InputError(f"{path} is not a valid result: {error}") from error
    except (LookupError, TypeError, ValueError, AttributeError, OverflowError) as error:
        raise InputError(f"{path} is not a valid result: {type(error).__name__}: {error}") from error


def _upgrade(plain: Mapping[str, Any]) -> dict[str, Any]:
    """Return the content of a version 1 file with the keys of version 2."""
    upgraded = dict(plain)
    for section, old, new in (
        ("annealed", "bits", "qubo_variables"),
        ("division", "rounds", "global_solves"),
        ("seconds", "blocks", "subproblems"),
    ):
        if section in plain:
            upgraded[section] = {new if key == old else key: value for key, value in plain[section].items()}
    if "strengths" in plain:
        names = {"loss": "drop_if_removed", "turned": "drop_if_reversed", "decided": "compelled"}
        upgraded["strengths"] = [{names.get(key, key): edge[key] for key in edge} for edge in plain["strengths"]]
    return upgraded


def _graph(truth: Any) -> nx.DiGraph:
    """Return the graph of a network or of a result. If `truth` is already a graph, return it unchanged."""
    graph = truth.dag if isinstance(truth, BayesianNetwork | Solution) else truth
    if not isinstance(graph, nx.DiGraph):
        raise InputError(
            f"truth is {short_repr(truth)}; give a network such as dn.load('lung-cancer'), a networkx.DiGraph or a result"
        )
    return graph


def _check_same_data(data: Dataset, stored: DataSummary | None) -> None:
    """Raise an error if the data differ from the training data of a result."""
    if stored is None:
        return
    advice = "give the training data, read with the same options"
    if data.rows != stored.rows:
        raise InputError(f"the data have {data.rows:,} rows, but the result was learned from {stored.rows:,} rows; {advice}")
    if stored.fingerprint is not None and data.fingerprint != stored.fingerprint:
        raise InputError(f"the data differ from the training data in values, in states or in the order of states; {advice}")


def _restore(plain: Mapping[str, Any], structure: nx.DiGraph | BayesianNetwork) -> Learned:
    """Restore a result from a dict that `Learned.to_dict` returned."""
    fitted = structure if isinstance(structure, BayesianNetwork) else None
    names = [str(name) for name in plain["variables"]]
    knowledge = as_knowledge(take_mapping(plain, "knowledge")) if "knowledge" in plain else None
    seconds = take_mapping(plain, "seconds")
    if knowledge is not None:
        knowledge.check(names, max(len(names) - 1, 0))
    return Learned(
        dag=graph_from_edges(names, ((str(parent), str(child)) for parent, child in plain["edges"])),
        score=float("nan") if plain["score"] is None else take_number(plain, "score"),
        max_parents=take_count(plain, "max_parents"),
        requested_parents=_optional(take_count, plain, "requested_parents"),
        solver=take_text(plain, "solver"),
        optimal=take_bool(plain, "optimal"),
        seconds={stage: take_number(seconds, stage) for stage in seconds},
        seed=_optional(take_count, plain, "seed"),
        reads=_restore_reads(plain["annealed"]) if "annealed" in plain else None,
        division=_restore_division(plain, names),
        bound=_restore_bound(plain["bound"]) if "bound" in plain else None,
        hardware=_restore_hardware(plain["hardware"]) if "hardware" in plain else None,
        search=_restore_search(plain["search"], names) if "search" in plain else None,
        em=_restore_em(plain["em"]) if "em" in plain else None,
        score_name=take_text(plain, "score_name"),
        criterion=as_score(take_text(plain, "criterion")) if "criterion" in plain else None,
        knowledge=knowledge,
        confidence=Confidence.from_dict(names, plain),
        stored_data=_restore_data(plain),
        stored_warnings=tuple(map(_restore_warning, plain.get("warnings", []))),
        fitted=fitted,
    )


def _restore_warning(plain: Mapping[str, Any]) -> Caution:
    columns = plain["columns"]  # they need not be variables: reading can leave out columns
    return Caution(take_text(plain, "kind"), tuple(take_names(columns, columns, "columns")), take_text(plain, "text"))


def _optional(take: Callable[[Mapping[str, Any], str], Value], plain: Mapping[str, Any], key: str) -> Value | None:
    """Return `plain[key]`, checked by the function `take`. Return None if the value is None."""
    return None if plain[key] is None else take(plain, key)


def _restore_bound(plain: Mapping[str, Any]) -> Bound:
    stopped = take_text(plain, "stopped") if "stopped" in plain else ""  # earlier files lack it
    return Bound(take_number(plain, "score"), take_count(plain, "max_parents"), stopped)


def _restore_reads(plain: Mapping[str, Any]) -> ReadSummary:
    def best(part: Mapping[str, Any]) -> BestRead:
        score, hits = take_number(part, "score"), take_count(part, "hits")
        return BestRead(None, score, hits, _optional(take_count, part, "optimum_hits"))

    return ReadSummary(
        sampleset=None,
        encoding=take_text(plain, "encoding"),
        reads=take_count(plain, "reads"),
        distinct=take_count(plain, "distinct"),
        qubo_variables=take_count(plain, "qubo_variables"),
        interactions=take_count(plain, "interactions"),
        lowest_energy=take_number(plain, "lowest_energy"),
        feasible=take_number(plain, "feasible_share"),
        raw=None if plain["raw"] is None else best(plain["raw"]),
        repaired=best(plain["repaired"]),
        baseline=take_number(plain, "random_order_baseline"),
        optimum=_optional(take_number, plain, "optimum"),
        chain_breaks=tuple(take_numbers(plain, "chain_break_fractions")) if "chain_break_fractions" in plain else None,
        info=take_mapping(plain, "info") if "info" in plain else {},
    )


def _restore_data(plain: Mapping[str, Any]) -> DataSummary | None:
    """Return the summary of the data, with the preparation of the raw table if the file has it."""
    if "data" not in plain:
        return None
    prepared = Preparation.from_dict(plain["preparation"]) if "preparation" in plain else None
    return replace(DataSummary.from_dict(plain["data"]), preparation=prepared)


def _restore_division(plain: Mapping[str, Any], names: list[str]) -> Division | None:
    if "division" not in plain:
        return None
    part = plain["division"]
    failed, candidates, variables = take_mapping(part, "failed"), _optional(take_mapping, part, "candidates"), set(names)
    if candidates is not None:
        take_names([*candidates], variables, "candidates")
        candidates = {name: take_names(parents, variables, "candidates") for name, parents in candidates.items()}
    division = Division(
        combine=take_text(part, "combine"),
        size=take_count(part, "size"),
        scheme=take_text(part, "scheme"),
        subproblems=take_count(part, "subproblems"),
        solver=take_text(part, "solver"),
        acyclic=take_bool(plain, "acyclic"),
        failed={key: take_text(failed, key) for key in failed},
        finished=take_count(part, "finished"),
        candidates=candidates,
        global_solves=_optional(take_count, part, "global_solves"),
        global_solver=_optional(take_text, part, "global_solver"),
        skipped=take_text(part, "skipped"),
        interrupted=take_bool(part, "interrupted"),
    )
    if "votes" not in plain:
        return division
    votes, against = (np.array(plain["votes"][key]) for key in ("for", "against"))
    if any(matrix.shape != (len(names), len(names)) or matrix.dtype != np.int64 for matrix in (votes, against)):
        raise ValueError("votes are not a square matrix of integers with one row per variable")
    return replace(division, votes=votes, against=against)


def _restore_point(point: list[Any]) -> TracePoint:
    values = [*point, None] if len(point) == 3 else point  # earlier files lack the bound
    plain = dict(zip(("seconds", "score", "stage", "bound"), values, strict=True))
    seconds, score = take_number(plain, "seconds"), take_number(plain, "score")
    return TracePoint(seconds, score, take_text(plain, "stage"), _optional(take_number, plain, "bound"))


def _restore_search(plain: Mapping[str, Any], names: list[str]) -> SearchSummary:
    return SearchSummary(
        trace=tuple(_restore_point(point) for point in plain["trace"]),
        stopped=take_text(plain, "stopped"),
        locally_optimal=take_bool(plain, "locally_optimal"),
        at_limit=tuple(take_names(plain["at_limit"], set(names), "at_limit")),
    )


def _restore_em(plain: Mapping[str, Any]) -> EMSummary:
    return EMSummary(
        missing_values=take_count(plain, "missing_values"),
        incomplete_rows=take_count(plain, "incomplete_rows"),
        iterations=take_count(plain, "iterations"),
        log_likelihood=take_number(plain, "log_likelihood"),
        trace=tuple(take_numbers(plain, "trace")),
        exact=take_bool(plain, "exact"),
        stopped=take_text(plain, "stopped"),
    )


def _restore_hardware(plain: Mapping[str, Any]) -> Hardware:
    return Hardware(
        system=take_text(plain, "system"),
        emulated=take_bool(plain, "emulated"),
        calls=take_count(plain, "calls"),
        fetched=take_count(plain, "fetched"),
        access_seconds=take_number(plain, "access_seconds"),
        chains=take_count(plain, "chains"),
        broken=take_count(plain, "broken"),
        embedding_seconds=take_number(plain, "embedding_seconds") if "embedding_seconds" in plain else 0.0,
        settings=take_mapping(plain, "settings") if "settings" in plain else {},
        log=tuple(_restore_call(call) for call in plain.get("log", [])),  # earlier files lack it
    )


def _restore_call(plain: Mapping[str, Any]) -> CallSummary:
    timing = take_mapping(plain, "timing")
    return CallSummary(
        problem_ids=tuple(str(name) for name in plain["problem_ids"]),
        fetched=take_count(plain, "fetched"),
        problems=take_count(plain, "problems"),
        reads=take_count(plain, "reads"),
        qubits=take_count(plain, "qubits"),
        chain_strength=take_number(plain, "chain_strength"),
        chain_break_fraction=take_number(plain, "chain_break_fraction"),
        largest_chain_break_fraction=take_number(plain, "largest_chain_break_fraction"),
        timing={name: take_number(timing, name) for name in timing},
        parameters=take_mapping(plain, "parameters") if "parameters" in plain else {},
    )
