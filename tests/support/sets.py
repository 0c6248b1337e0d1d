"""Lists of parent sets as dictionaries, to compare them."""

import numpy as np


def sets_dict(sets, names):
    """Return the scores of `CompleteSets` by child and parents."""
    return {
        (names[child], frozenset(names[p] for p in row if p >= 0)): score
        for child, row, score in zip(sets.children, sets.rows, sets.scores, strict=True)
    }


def pruned_dict(table):
    """Return the scores of the pruned entries of a score table by child and parents."""
    start, masks, scores = table.pruned
    result = {}
    for child, name in enumerate(table.names):
        candidates = table.candidates_of(child)
        for entry in range(start[child], start[child + 1]):
            bits = [b for b in range(len(candidates)) if masks[entry, b // 64] >> np.uint64(b % 64) & np.uint64(1)]
            result[name, frozenset(table.names[candidates[b]] for b in bits)] = scores[entry]
    return result
