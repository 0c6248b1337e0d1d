"""Tests of warnings about failed extra computations."""

import pytest

from dagneal.base.errors import warn_on_failure


def test_ctrl_c_does_not_become_a_warning():
    with pytest.raises(KeyboardInterrupt), warn_on_failure("the test"):
        raise KeyboardInterrupt
