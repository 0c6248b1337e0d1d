"""Learn the structure of Bayesian networks with annealers, and know how good the answer is."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

__version__ = "0.1.0"

if TYPE_CHECKING:  # `X as X`: type checkers take it as exported
    from dagneal.bif import read_bif as read_bif, write_bif as write_bif
    from dagneal.confidence import (
        holdout as holdout,
        log_likelihood as log_likelihood,
        sensitivity as sensitivity,
        strengths as strengths,
    )
    from dagneal.data import Dataset as Dataset
    from dagneal.errors import InputError as InputError
    from dagneal.estimator import StructureLearner as StructureLearner
    from dagneal.exchange import write_network as write_network
    from dagneal.files import read as read
    from dagneal.graphs import cpdag as cpdag
    from dagneal.journal import SqliteJournal as SqliteJournal
    from dagneal.knowledge import Knowledge as Knowledge, read_knowledge as read_knowledge
    from dagneal.learned import (
        Annealed as Annealed,
        Bound as Bound,
        Division as Division,
        Learned as Learned,
        Outcome as Outcome,
    )
    from dagneal.learners.anneal import anneal as anneal
    from dagneal.learners.blocks import choose_blocks as choose_blocks
    from dagneal.learners.bound import upper_bound as upper_bound
    from dagneal.learners.divide import divide as divide
    from dagneal.learners.exact import exact as exact
    from dagneal.learners.exhaustive import exhaustive as exhaustive
    from dagneal.learners.learn import learn as learn
    from dagneal.learners.order import order as order
    from dagneal.machine import limits as limits
    from dagneal.metrics import Comparison as Comparison, compare as compare
    from dagneal.network import BayesianNetwork as BayesianNetwork, fit as fit
    from dagneal.networks import load as load
    from dagneal.qubo.decode import (
        Reads as Reads,
        decode as decode,
        read_samples as read_samples,
        write_samples as write_samples,
    )
    from dagneal.qubo.encode import (
        PAPER as PAPER,
        TIGHT as TIGHT,
        Encoding as Encoding,
        encode as encode,
        qubo_matrix as qubo_matrix,
        qubo_vector as qubo_vector,
        result_value as result_value,
    )
    from dagneal.qubo.verify import Verified as Verified, verify as verify
    from dagneal.resampling import bootstrap as bootstrap
    from dagneal.scorer import Scorer as Scorer, score_table as score_table
    from dagneal.scores import BIC as BIC, K2 as K2, BDeu as BDeu, BDeuRows as BDeuRows, Perks as Perks
    from dagneal.table import Blocks as Blocks, ScoreTable as ScoreTable

# The same names again, by module: each is imported when it is first used (PEP 562), so `import dagneal` costs nothing.
_NAMES = {
    "bif": ("read_bif", "write_bif"),
    "confidence": ("holdout", "log_likelihood", "sensitivity", "strengths"),
    "data": ("Dataset",),
    "errors": ("InputError",),
    "estimator": ("StructureLearner",),
    "exchange": ("write_network",),
    "files": ("read",),
    "graphs": ("cpdag",),
    "journal": ("SqliteJournal",),
    "knowledge": ("Knowledge", "read_knowledge"),
    "learned": ("Annealed", "Bound", "Division", "Learned", "Outcome"),
    "learners.anneal": ("anneal",),
    "learners.blocks": ("choose_blocks",),
    "learners.bound": ("upper_bound",),
    "learners.divide": ("divide",),
    "learners.exact": ("exact",),
    "learners.exhaustive": ("exhaustive",),
    "learners.learn": ("learn",),
    "learners.order": ("order",),
    "machine": ("limits",),
    "metrics": ("Comparison", "compare"),
    "network": ("BayesianNetwork", "fit"),
    "networks": ("load",),
    "qubo.decode": ("Reads", "decode", "read_samples", "write_samples"),
    "qubo.encode": ("PAPER", "TIGHT", "Encoding", "encode", "qubo_matrix", "qubo_vector", "result_value"),
    "qubo.verify": ("Verified", "verify"),
    "resampling": ("bootstrap",),
    "scorer": ("Scorer", "score_table"),
    "scores": ("BIC", "K2", "BDeu", "BDeuRows", "Perks"),
    "table": ("Blocks", "ScoreTable"),
}
_HOME = {name: module for module, names in _NAMES.items() for name in names}

__all__ = sorted(_HOME)  # noqa: PLE0605


def __getattr__(name: str) -> Any:
    if name not in _HOME:
        raise AttributeError(f"module 'dagneal' has no attribute {name!r}")
    value = globals()[name] = getattr(import_module(f"dagneal.{_HOME[name]}"), name)
    return value


def __dir__() -> list[str]:
    return [*__all__, "__version__"]
