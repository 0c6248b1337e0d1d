"""Reduce products of three and more QUBO variables to products of two, with auxiliary variables."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from functools import lru_cache
from itertools import combinations

import numpy as np

from dagneal.base.kernels import Floats, Ints, Masks
from dagneal.scoring.sets import mask_bits, mask_of, word_count

_EXACT_BOUND = 14  # if the other variables in the terms are at most this many, all their values are enumerated


@dataclass(frozen=True, eq=False)
class Product:
    """An auxiliary variable, which is the product of two other variables.

    Attributes:
        left: number of the first factor; `Reduction` explains the numbers.
        right: number of the second factor.
        members: edge variables in the product, as a bit mask.
        terms: indices of the terms in which the auxiliary variable replaces its two factors.
        rests: for each term in `terms`, its other variables as a bit mask. Variables that occur in no mask have no bit.
        width: number of bits of the masks in `rests`.
    """

    left: int
    right: int
    members: int
    terms: Ints
    rests: Ints
    width: int

    def influence(self, weights: Floats) -> Floats:
        """Return the largest energy decrease from each wrong value, 0 and 1, of the auxiliary variable, shape (problems, 2).

        Let x be the values of the other variables. Changing the auxiliary variable from 0 to 1 adds h(x) to the energy.
        h(x) is the sum, over the terms with the auxiliary variable, of the coefficient times the other variables. So
        the wrong value 0 decreases the energy by h(x), and the wrong value 1 by -h(x). The results are the maxima of h and
        -h. If there are too many values of x, the results are upper bounds on these maxima.
        Proof that the bounds can be used together: Correct the auxiliary variables from the last created to the first. When
        a variable is corrected, all variables created after it are already correct.

        Args:
            weights: coefficients of all terms, shape (problems, terms).
        """
        coefficients = weights[:, self.terms]
        if self.width > _EXACT_BOUND:
            positive, negative = np.maximum(coefficients, 0.0), np.minimum(coefficients, 0.0)
            return np.stack([positive.sum(axis=1), -negative.sum(axis=1)], axis=1)
        sums = np.zeros((len(coefficients), 1 << self.width))
        sums[:, self.rests] = coefficients
        for bit in range(self.width):
            pair = sums.reshape(len(coefficients), -1, 2, 1 << bit)
            pair[:, :, 1] += pair[:, :, 0]
        decrease: Floats = np.maximum(np.stack([sums.max(axis=1), -sums.min(axis=1)], axis=1), 0.0)
        return decrease


@dataclass(frozen=True, eq=False)
class Reduction:
    """The reduction of one child's terms to products of two variables.

    Variables are numbered from 0. The edge variables come first, then the auxiliary variables in the order of `products`.

    Attributes:
        products: auxiliary variables.
        terms: products of three or more edge variables that were reduced, as bit masks, shape (terms, words).
        factors: numbers of the two variables whose product replaces each term, shape (terms, 2).
    """

    products: tuple[Product, ...]
    terms: Masks
    factors: Ints


def reduction(edges: int, terms: Masks) -> Reduction:
    """Reduce products of three or more edge variables to products of two, with few auxiliary variables.

    Args:
        edges: number of edge variables.
        terms: products to reduce, as bit masks over the edge variables.

    Two greedy rules are tried, and the result with fewer auxiliary variables is used. Both rules replace pairs of variables,
    starting with the pair that occurs in most products. The first rule prefers pairs whose indices are both even or both
    odd. It is optimal if every product of three variables must be reduced (Turan), because any three variables contain such
    a pair.

    >>> from dagneal.scoring.sets import bounded_masks, mask_sizes
    >>> masks = bounded_masks(5, 3)
    >>> len(reduction(5, masks[mask_sizes(masks) == 3]).products)
    4
    """
    return _reduction(edges, tuple(tuple(bit for bit in bits if bit >= 0) for bits in mask_bits(terms).tolist()))


@lru_cache(maxsize=256)
def _reduction(edges: int, terms: tuple[tuple[int, ...], ...]) -> Reduction:
    products, factors = min((_greedy(edges, terms, by_parity) for by_parity in (True, False)), key=lambda pair: len(pair[0]))
    words = word_count(edges)
    masks = np.array([mask_of(term, words) for term in terms], dtype=np.uint64).reshape(-1, words)
    return Reduction(tuple(products), masks, np.array(factors, dtype=np.int64).reshape(-1, 2))


def _greedy(edges: int, terms: tuple[tuple[int, ...], ...], by_parity: bool) -> tuple[list[Product], list[tuple[int, ...]]]:
    """Replace the most frequent pair of variables by an auxiliary variable, until every product has two variables."""
    parity = [variable % 2 for variable in range(edges)]
    members = [1 << variable for variable in range(edges)]
    factors = list(terms)
    products: list[Product] = []
    while True:
        counts = Counter(pair for term in factors if len(term) > 2 for pair in combinations(term, 2))
        if not counts:
            return products, factors
        left, right = min(counts, key=lambda pair: (by_parity and parity[pair[0]] != parity[pair[1]], -counts[pair], pair))
        replaced = [index for index, term in enumerate(factors) if len(term) > 2 and left in term and right in term]
        rests = [tuple(variable for variable in factors[index] if variable not in (left, right)) for index in replaced]
        masks, width = _local_masks(rests)
        members.append(members[left] | members[right])
        parity.append(parity[left])
        products.append(Product(left, right, members[-1], np.array(replaced, dtype=np.int64), masks, width))
        for index, rest in zip(replaced, rests, strict=True):
            factors[index] = (*rest, len(members) - 1)


def _local_masks(sets: list[tuple[int, ...]]) -> tuple[Ints, int]:
    """Return (masks, width): the sets as bit masks, and the number of bits. Variables that are in no set have no bit."""
    flags = {variable: 1 << i for i, variable in enumerate(sorted({variable for members in sets for variable in members}))}
    return np.array([sum(flags[variable] for variable in members) for members in sets], dtype=np.int64), len(flags)
