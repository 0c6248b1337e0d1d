"""Learn the structure of Bayesian networks with annealers, and know how good the answer is."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from dagneal.base.version import __version__ as __version__

if TYPE_CHECKING:  # `X as X`: type checkers take it as exported
    from dagneal.base.errors import InputError as InputError
    from dagneal.base.machine import limits as limits
    from dagneal.confidence.bootstrap import bootstrap as bootstrap
    from dagneal.confidence.measures import (
        holdout as holdout,
        log_likelihood as log_likelihood,
        sensitivity as sensitivity,
        strengths as strengths,
    )
    from dagneal.data.dataset import Dataset as Dataset
    from dagneal.data.reading import read as read
    from dagneal.divide.division import divide as divide
    from dagneal.divide.subproblems import choose_blocks as choose_blocks
    from dagneal.estimator import StructureLearner as StructureLearner
    from dagneal.graphs.dags import cpdag as cpdag
    from dagneal.graphs.knowledge import Knowledge as Knowledge, read_knowledge as read_knowledge
    from dagneal.learning import learn as learn
    from dagneal.networks.bif import read_bif as read_bif, write_bif as write_bif
    from dagneal.networks.bundled import load as load
    from dagneal.networks.comparison import Comparison as Comparison, compare as compare
    from dagneal.networks.formats import write_network as write_network
    from dagneal.networks.network import BayesianNetwork as BayesianNetwork, fit as fit
    from dagneal.proofs.bound import upper_bound as upper_bound
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
    from dagneal.result import (
        Annealed as Annealed,
        Bound as Bound,
        Division as Division,
        Learned as Learned,
        Outcome as Outcome,
    )
    from dagneal.runtime.journal import SqliteJournal as SqliteJournal
    from dagneal.scoring.scorer import Scorer as Scorer, score_table as score_table
    from dagneal.scoring.scores import BIC as BIC, K2 as K2, BDeu as BDeu, BDeuRows as BDeuRows, Perks as Perks
    from dagneal.scoring.table import Blocks as Blocks, ScoreTable as ScoreTable
    from dagneal.solvers.annealing import anneal as anneal
    from dagneal.solvers.exact import exact as exact
    from dagneal.solvers.exhaustive import exhaustive as exhaustive
    from dagneal.solvers.order_search import order as order
    from dagneal.solvers.verify import Verified as Verified, verify as verify

# The same names again, by module: each is imported when it is first used (PEP 562), so `import dagneal` costs nothing.
_NAMES = {
    "networks.bif": ("read_bif", "write_bif"),
    "confidence.measures": ("holdout", "log_likelihood", "sensitivity", "strengths"),
    "data.dataset": ("Dataset",),
    "base.errors": ("InputError",),
    "estimator": ("StructureLearner",),
    "networks.formats": ("write_network",),
    "data.reading": ("read",),
    "graphs.dags": ("cpdag",),
    "runtime.journal": ("SqliteJournal",),
    "graphs.knowledge": ("Knowledge", "read_knowledge"),
    "result": ("Annealed", "Bound", "Division", "Learned", "Outcome"),
    "solvers.annealing": ("anneal",),
    "divide.subproblems": ("choose_blocks",),
    "proofs.bound": ("upper_bound",),
    "divide.division": ("divide",),
    "solvers.exact": ("exact",),
    "solvers.exhaustive": ("exhaustive",),
    "learning": ("learn",),
    "solvers.order_search": ("order",),
    "base.machine": ("limits",),
    "networks.comparison": ("Comparison", "compare"),
    "networks.network": ("BayesianNetwork", "fit"),
    "networks.bundled": ("load",),
    "qubo.decode": ("Reads", "decode", "read_samples", "write_samples"),
    "qubo.encode": ("PAPER", "TIGHT", "Encoding", "encode", "qubo_matrix", "qubo_vector", "result_value"),
    "solvers.verify": ("Verified", "verify"),
    "confidence.bootstrap": ("bootstrap",),
    "scoring.scorer": ("Scorer", "score_table"),
    "scoring.scores": ("BIC", "K2", "BDeu", "BDeuRows", "Perks"),
    "scoring.table": ("Blocks", "ScoreTable"),
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
