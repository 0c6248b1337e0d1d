"""Beam search for large parent sets, some of whose members raise the score only together."""

from __future__ import annotations

import numpy as np

from dagneal.base.kernels import Floats, Ints, Masks
from dagneal.scoring.additions import Additions
from dagneal.scoring.sets import Members
from dagneal.search.large_sets import SizeRule
from dagneal.search.proposals import sort_rows

DEPTH = 2  # steps without a better set after which a search ends


def search_beam(
    additions: Additions, required: Ints, limit: int, width: int, rule: SizeRule, least: int
) -> tuple[Members, Floats]:
    """Return large parent sets of a child that score higher than the sets from which they result, and their scores.

    Each step adds each option to each set. The best sets that result, better or not, are the sets of the next step.

    Args:
        additions: child, and variables that can become its parents.
        required: required parents of the child. The search starts with them.
        limit: maximum number of parents.
        width: number of sets that a step leaves to the next step.
        rule: rule for large sets.
        least: smallest number of parents of the sets to return.

    Returns:
        Sets as rows of ascending variables, padded with -1, and log scores that can have rounding errors.
    """
    options = additions.options
    limit = min(limit, len(required) + len(options))
    rows = np.full((1, max(limit, 1)), -1, dtype=np.int32)
    rows[0, : len(required)] = required
    hashes, present = np.zeros(1, dtype=np.uint64), np.full(1, -np.inf)
    highest, idle = -np.inf, 0
    kept_rows, kept_scores = [rows[:0]], [present[:0]]
    for size in range(len(required) + 1, limit + 1):
        scores = additions.scores(np.ascontiguousarray(rows[:, : size - 1]))
        origin, added, gains = _best_additions(scores, present, hashes, options, 2 * width)
        chosen = rows[origin].copy()
        chosen[:, size - 1] = options[added]
        scores = scores[origin, added]
        if size >= least:
            better = gains >= rule.gain if size > rule.free else gains > 0.0
            kept_rows.append(chosen[better])
            kept_scores.append(scores[better])
        idle = 0 if len(scores) and scores[0] > highest else idle + 1
        if idle == DEPTH or not len(scores):
            break
        highest = max(highest, scores[0])
        hashes = hashes[origin[:width]] ^ _hashes(options[added[:width]])
        rows, present = chosen[:width], scores[:width]
    return sort_rows(np.concatenate(kept_rows)), np.concatenate(kept_scores)


def _best_additions(scores: Floats, present: Floats, hashes: Masks, options: Ints, most: int) -> tuple[Ints, Ints, Floats]:
    """Return the best distinct sets that result from additions, best first.

    Args:
        scores: scores of the larger sets, with one row for each set and one column for each option.
        present: score of each set.
        hashes: hash of each set.
        options: variables that can be added.
        most: approximate number of sets to return.

    Returns:
        Index of a set and an option for each larger set, and its gain over the best of the sets from which it results.
    """
    flat = scores.ravel()
    room = min(len(flat), most * 4)  # a set often results from several sets
    top = np.argpartition(-flat, room - 1)[:room]
    top = top[np.isfinite(flat[top])]
    origin, added = np.divmod(top, len(options))
    keys = hashes[origin] ^ _hashes(options[added])
    order = np.lexsort((present[origin], keys))  # the best origin of a set comes last
    last = np.ones(len(order), dtype=bool)
    last[:-1] = keys[order[1:]] != keys[order[:-1]]
    distinct = order[last]
    distinct = distinct[np.lexsort((keys[distinct], -flat[top[distinct]]))][:most]
    return origin[distinct], added[distinct], flat[top[distinct]] - present[origin[distinct]]


def _hashes(variables: Ints) -> Masks:
    """Return a random number for each variable. The hash of a set is the exclusive or of the numbers of its members."""
    mixed = (variables.astype(np.uint64) + np.uint64(1)) * np.uint64(0x9E3779B97F4A7C15)
    mixed = (mixed ^ (mixed >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    mixed = (mixed ^ (mixed >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return mixed ^ (mixed >> np.uint64(31))
