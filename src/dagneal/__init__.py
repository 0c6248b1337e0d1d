"""Learn the structure of Bayesian networks with annealers, and know how good the answer is."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

__version__ = "0.1.0"

if TYPE_CHECKING:
    from dagneal.bif import read_bif, write_bif
    from dagneal.data import Dataset
    from dagneal.errors import InputError
    from dagneal.files import read
    from dagneal.graphs import cpdag
    from dagneal.journal import SqliteJournal
    from dagneal.learned import Annealed, Division, Learned, Outcome
    from dagneal.learners.anneal import anneal
    from dagneal.learners.blocks import choose_blocks
    from dagneal.learners.divide import divide
    from dagneal.learners.exact import exact
    from dagneal.learners.exhaustive import exhaustive
    from dagneal.learners.learn import learn
    from dagneal.learners.order import order
    from dagneal.metrics import Comparison, compare
    from dagneal.network import BayesianNetwork, fit
    from dagneal.networks import load
    from dagneal.qubo.decode import Reads, decode, read_samples, write_samples
    from dagneal.qubo.encode import PAPER, TIGHT, Encoding, encode, qubo_matrix, qubo_vector, result_value
    from dagneal.qubo.verify import Verified, verify
    from dagneal.scorer import Scorer, score_table
    from dagneal.scores import BIC, K2, BDeu, BDeuRows, Perks
    from dagneal.table import Blocks, ScoreTable

# The same names again, by module: each is imported when it is first used (PEP 562), so `import dagneal` costs nothing.
_NAMES = {
    "bif": ("read_bif", "write_bif"),
    "data": ("Dataset",),
    "errors": ("InputError",),
    "files": ("read",),
    "graphs": ("cpdag",),
    "journal": ("SqliteJournal",),
    "learned": ("Annealed", "Division", "Learned", "Outcome"),
    "learners.anneal": ("anneal",),
    "learners.blocks": ("choose_blocks",),
    "learners.divide": ("divide",),
    "learners.exact": ("exact",),
    "learners.exhaustive": ("exhaustive",),
    "learners.learn": ("learn",),
    "learners.order": ("order",),
    "metrics": ("Comparison", "compare"),
    "network": ("BayesianNetwork", "fit"),
    "networks": ("load",),
    "qubo.decode": ("Reads", "decode", "read_samples", "write_samples"),
    "qubo.encode": ("PAPER", "TIGHT", "Encoding", "encode", "qubo_matrix", "qubo_vector", "result_value"),
    "qubo.verify": ("Verified", "verify"),
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
