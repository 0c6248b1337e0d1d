"""Encode the search for the best DAG as a QUBO (O'Gorman et al. 2015), decode samples, and export the QUBO."""

from dagneal.qubo.decode import (
    Reads as Reads,
    best_graphs as best_graphs,
    decode as decode,
    read_samples as read_samples,
    write_samples as write_samples,
)
from dagneal.qubo.encode import (
    PAPER as PAPER,
    TIGHT as TIGHT,
    Encoding as Encoding,
    encode as encode,
    parse_encoding as parse_encoding,
    qubo_matrix as qubo_matrix,
    qubo_vector as qubo_vector,
    qubos as qubos,
    result_value as result_value,
)
from dagneal.qubo.export import write_model as write_model
from dagneal.qubo.hamiltonian import Qubos as Qubos
from dagneal.qubo.statistics import (
    compare_encodings as compare_encodings,
    encoding_statistics as encoding_statistics,
    treewidth as treewidth,
)
