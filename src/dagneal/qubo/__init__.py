"""The search for the best DAG as a QUBO (O'Gorman et al. 2015): encode, decode, export."""

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
    encoding_named as encoding_named,
    qubo_matrix as qubo_matrix,
    qubo_vector as qubo_vector,
    qubos as qubos,
    result_value as result_value,
)
from dagneal.qubo.export import write_model as write_model
from dagneal.qubo.statistics import compare_encodings as compare_encodings, figures as figures, treewidth as treewidth
