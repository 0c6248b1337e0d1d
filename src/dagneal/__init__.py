"""Learn the structure of Bayesian networks with annealers and other solvers, with proofs of quality."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from dagneal.base.version import __version__ as __version__

if TYPE_CHECKING:  # `X as X` marks a name as exported for type checkers
    from dagneal import (
        divide as divide,
        inference as inference,
        proofs as proofs,
        qpu as qpu,
        qubo as qubo,
        scoring as scoring,
        solvers as solvers,
    )
    from dagneal.base.errors import InputError as InputError
    from dagneal.base.machine import limits as limits
    from dagneal.confidence.annotated import Confidence as Confidence
    from dagneal.confidence.bootstrap import Bootstrap as Bootstrap, NearMiss as NearMiss, bootstrap as bootstrap
    from dagneal.confidence.consensus import consensus as consensus
    from dagneal.confidence.ensemble import (
        Ensemble as Ensemble,
        ensemble as ensemble,
        load_ensemble as load_ensemble,
    )
    from dagneal.confidence.measures import (
        holdout as holdout,
        log_likelihood as log_likelihood,
        sensitivity as sensitivity,
        strengths as strengths,
    )
    from dagneal.confidence.posteriors import EdgePosteriors as EdgePosteriors, edge_posteriors as edge_posteriors
    from dagneal.data.cautions import Caution as Caution
    from dagneal.data.dataset import Dataset as Dataset
    from dagneal.data.raw.prepare import Prepared as Prepared, prepare as prepare
    from dagneal.data.reading import read as read
    from dagneal.data.recipe import Recipe as Recipe
    from dagneal.estimator import (
        BayesianNetworkClassifier as BayesianNetworkClassifier,
        BayesianNetworkImputer as BayesianNetworkImputer,
        StructureLearner as StructureLearner,
    )
    from dagneal.graphs.dags import cpdag as cpdag
    from dagneal.graphs.directions import Direction as Direction
    from dagneal.graphs.knowledge import Knowledge as Knowledge, read_knowledge as read_knowledge
    from dagneal.inference.effects import do as do
    from dagneal.inference.queries import query as query
    from dagneal.inference.rows import impute as impute, predict as predict
    from dagneal.learning import learn as learn
    from dagneal.networks.bif import read_bif as read_bif, write_bif as write_bif
    from dagneal.networks.bundled import load as load
    from dagneal.networks.comparison import Comparison as Comparison, compare as compare
    from dagneal.networks.formats import write_network as write_network
    from dagneal.networks.network import BayesianNetwork as BayesianNetwork, fit as fit
    from dagneal.qubo.encode import PAPER as PAPER, TIGHT as TIGHT, Encoding as Encoding
    from dagneal.result import Learned as Learned, load_result as load_result
    from dagneal.runtime.clusters import dask as dask
    from dagneal.runtime.journal import Journal as Journal, SqliteJournal as SqliteJournal
    from dagneal.runtime.run import Deadline as Deadline, Run as Run
    from dagneal.scoring.scores import (
        AIC as AIC,
        BIC as BIC,
        FNML as FNML,
        K2 as K2,
        QNML as QNML,
        BDeu as BDeu,
        BDeuRows as BDeuRows,
        BDs as BDs,
        Perks as Perks,
    )
    from dagneal.solvers.problem import Problem as Problem, Solver as Solver
    from dagneal.solvers.simulated_annealing import SimulatedAnnealing as SimulatedAnnealing
    from dagneal.solvers.solution import Solution as Solution
    from dagneal.strategies.anneal import Anneal as Anneal, Divide as Divide
    from dagneal.strategies.auto import Auto as Auto
    from dagneal.strategies.classical import Exact as Exact, Exhaustive as Exhaustive, OrderSearch as OrderSearch

# The same names by module. Each name is imported on first use (PEP 562), so that `import dagneal` is fast.
_NAMES = {
    "base.errors": ("InputError",),
    "base.machine": ("limits",),
    "confidence.annotated": ("Confidence",),
    "confidence.bootstrap": ("Bootstrap", "NearMiss", "bootstrap"),
    "confidence.consensus": ("consensus",),
    "confidence.ensemble": ("Ensemble", "ensemble", "load_ensemble"),
    "confidence.measures": ("holdout", "log_likelihood", "sensitivity", "strengths"),
    "confidence.posteriors": ("EdgePosteriors", "edge_posteriors"),
    "data.cautions": ("Caution",),
    "data.dataset": ("Dataset",),
    "data.raw.prepare": ("Prepared", "prepare"),
    "data.reading": ("read",),
    "data.recipe": ("Recipe",),
    "estimator": ("BayesianNetworkClassifier", "BayesianNetworkImputer", "StructureLearner"),
    "graphs.dags": ("cpdag",),
    "graphs.directions": ("Direction",),
    "graphs.knowledge": ("Knowledge", "read_knowledge"),
    "inference.effects": ("do",),
    "inference.queries": ("query",),
    "inference.rows": ("impute", "predict"),
    "learning": ("learn",),
    "networks.bif": ("read_bif", "write_bif"),
    "networks.bundled": ("load",),
    "networks.comparison": ("Comparison", "compare"),
    "networks.formats": ("write_network",),
    "networks.network": ("BayesianNetwork", "fit"),
    "qubo.encode": ("PAPER", "TIGHT", "Encoding"),
    "result": ("Learned", "load_result"),
    "runtime.clusters": ("dask",),
    "runtime.journal": ("Journal", "SqliteJournal"),
    "runtime.run": ("Deadline", "Run"),
    "scoring.scores": ("AIC", "BIC", "FNML", "K2", "QNML", "BDeu", "BDeuRows", "BDs", "Perks"),
    "solvers.problem": ("Problem", "Solver"),
    "solvers.simulated_annealing": ("SimulatedAnnealing",),
    "solvers.solution": ("Solution",),
    "strategies.anneal": ("Anneal", "Divide"),
    "strategies.auto": ("Auto",),
    "strategies.classical": ("Exact", "Exhaustive", "OrderSearch"),
}
_PACKAGES = ("divide", "inference", "proofs", "qpu", "qubo", "scoring", "solvers")  # less common names
_MODULES = {name: module for module, names in _NAMES.items() for name in names}

__all__ = sorted([*_MODULES, *_PACKAGES])  # noqa: PLE0605


def __getattr__(name: str) -> Any:
    if name in _PACKAGES:
        return import_module(f"dagneal.{name}")
    if name not in _MODULES:
        raise AttributeError(f"module 'dagneal' has no attribute {name!r}")
    value = globals()[name] = getattr(import_module(f"dagneal.{_MODULES[name]}"), name)
    return value


def __dir__() -> list[str]:
    return [*__all__, "__version__"]
