"""Decoding of reads."""

import dimod
import numpy as np
import pytest

import dagneal as dn
from dagneal.qubo.encode import qubos as encoded
from support.reference import random_table


def test_numbered_bits_are_decoded_like_labelled_ones():
    from dagneal.qubo.decode import decode_bits

    rng = np.random.default_rng(0)
    for encoding in (dn.PAPER, dn.TIGHT):
        table = random_table(5, 2 if encoding == dn.PAPER else 3, seed=3)
        qubos = encoded(table, encoding)
        bits = qubos.layout.bits
        samples = rng.integers(0, 2, (50, bits), dtype=np.int8)
        labelled, numbered = qubos.model(0, table.names), qubos.model(0)
        one = dn.qubo.decode(table, dimod.SampleSet.from_samples_bqm((samples, labelled.variables), labelled))
        two = decode_bits(table, qubos.layout, dimod.SampleSet.from_samples_bqm((samples, range(bits)), numbered))
        assert np.array_equal(one.edges, two.edges)
        assert np.array_equal(one.orders, two.orders)
        assert one.energies == pytest.approx(two.energies)
