"""Random changes of input files give a result or a one-line message; `benchmarks/fuzz.py` tries thousands."""

import pytest

from support.fuzzing import WORDS, attack


@pytest.mark.slow
@pytest.mark.parametrize("kind", WORDS)
def test_corrupted_files_give_a_result_or_a_message(kind, tmp_path):
    assert attack(kind, tmp_path, seed=1, count=60) == []
