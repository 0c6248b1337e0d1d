"""Secondary failures."""

import pytest

from dagneal.base.errors import secondary


def test_ctrl_c_is_no_secondary_failure():
    with pytest.raises(KeyboardInterrupt), secondary("this"):
        raise KeyboardInterrupt
