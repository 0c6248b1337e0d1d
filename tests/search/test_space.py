"""Search spaces with some of the parent sets."""

import numpy as np
from test_cuts import random_space, start

from dagneal.search.climb import prepare
from dagneal.search.space import OrderState


def test_a_restricted_space_scores_orders_with_the_remaining_sets():
    space = random_space(30, 1)
    states = [start(space, seed) for seed in range(3)]
    kept = np.zeros(len(space.masks), dtype=bool)
    kept[space.start[1:] - 1] = True
    for state in states:
        kept[state.chosen] = True
    few = space.restrict(kept)
    assert len(few.masks) == kept.sum()
    entries = np.flatnonzero(kept)
    for state in states:
        again = OrderState.start(few, state.order, 1)
        prepare(few, again)
        assert np.array_equal(entries[again.chosen], state.chosen)
        assert np.isclose(again.score[0], state.score[0])
