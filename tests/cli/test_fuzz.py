"""A result or one clear line, for whatever is given; `benchmarks/fuzz.py` tries thousands."""

import pytest

from support.fuzzing import WORDS, attack


@pytest.mark.slow
@pytest.mark.parametrize("kind", WORDS)
def test_changed_files_are_read_or_refused(kind, tmp_path):
    assert attack(kind, tmp_path, seed=1, count=60) == []
