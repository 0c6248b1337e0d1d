"""Tests of decoding reads."""

import dimod
import numpy as np
import pytest

import dagneal as dn
from dagneal.qubo.encode import qubos
from support.reference import random_table


def test_numbered_and_labelled_variables_decode_to_the_same_reads():
    from dagneal.qubo.decode import decode_numbered

    rng = np.random.default_rng(0)
    for encoding in (dn.PAPER, dn.TIGHT):
        table = random_table(5, 2 if encoding == dn.PAPER else 3, seed=3)
        encoded = qubos(table, encoding)
        variables = encoded.layout.num_variables
        samples = rng.integers(0, 2, (50, variables), dtype=np.int8)
        labelled, numbered = encoded.model(0, table.names), encoded.model(0)
        expected = dn.qubo.decode(table, dimod.SampleSet.from_samples_bqm((samples, labelled.variables), labelled))
        sampleset = dimod.SampleSet.from_samples_bqm((samples, range(variables)), numbered)
        reads = decode_numbered(table, encoded.layout, sampleset)
        assert np.array_equal(reads.edges, expected.edges)
        assert np.array_equal(reads.orders, expected.orders)
        assert reads.energies == pytest.approx(expected.energies)
