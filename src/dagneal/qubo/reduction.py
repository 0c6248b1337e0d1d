"""Products of more than two bits, written with auxiliary bits that stand for products of two."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from functools import lru_cache
from itertools import combinations

import numpy as np

from dagneal.base.kernels import Floats, Ints, Masks

_EXACT_BOUND = 14  # bits beside an auxiliary one up to which its influence is found by looking at all their settings


@dataclass(frozen=True, eq=False)
class Product:
    """One auxiliary bit.

    Attributes:
        left: a bit.
        right: another; the auxiliary bit stands for both being set.
        members: the edge bits that must all be set, as a mask.
        terms: the terms that are written with it when it is made.
        rests: what else is in each of these terms, as masks over the bits that occur there.
        width: how many bits occur there.
    """

    left: int
    right: int
    members: int
    terms: Ints
    rests: Ints
    width: int

    def influence(self, weights: Floats) -> Floats:
        """The most that the bit can lower the sum when it is wrong, shape (problems, 2): 0 in place of 1, 1 in place of 0.

        With x the other bits, setting it adds h(x), the sum over its terms of weight times the rest of the product. So it is
        the largest h and the largest -h. Taking the bits last made first, those made later are right already.

        Args:
            weights: the coefficients of all terms, shape (problems, terms).
        """
        own = weights[:, self.terms]
        if self.width > _EXACT_BOUND:
            return np.stack([np.maximum(own, 0.0).sum(axis=1), -np.minimum(own, 0.0).sum(axis=1)], axis=1)
        sums = np.zeros((len(own), 1 << self.width))
        sums[:, self.rests] = own
        for bit in range(self.width):
            pair = sums.reshape(len(own), -1, 2, 1 << bit)
            pair[:, :, 1] += pair[:, :, 0]
        most: Floats = np.maximum(np.stack([sums.max(axis=1), -sums.min(axis=1)], axis=1), 0.0)
        return most


@dataclass(frozen=True, eq=False)
class Reduction:
    """How the products of one child's edge bits become products of two.

    Bits are numbered: the edge bits first, then the auxiliary ones in the order of `products`.

    Attributes:
        products: the auxiliary bits.
        terms: the sets of three and more that were reduced, as masks.
        factors: the two bits that each became, shape (terms, 2).
    """

    products: tuple[Product, ...]
    terms: Masks
    factors: Ints


def reduction(bits: int, terms: Masks) -> Reduction:
    """Choose auxiliary bits for products of three and more edge bits, few of them.

    Args:
        bits: how many edge bits there are.
        terms: the products, as masks.

    Two ways are tried and the better is taken: the pair that is in most products first, and the same with pairs inside the
    even and the odd bits before others. For all products of three the second is the best possible (Turan): any three bits
    have two of the same kind.

    >>> from dagneal.scoring.sets import bounded_masks
    >>> masks = bounded_masks(5, 3)
    >>> len(reduction(5, masks[np.bitwise_count(masks) == 3]).products)
    4
    """
    return _reduction(bits, tuple(map(int, terms)))


@lru_cache(maxsize=256)
def _reduction(bits: int, terms: tuple[int, ...]) -> Reduction:
    products, written = min((_greedy(bits, terms, halves) for halves in (True, False)), key=lambda found: len(found[0]))
    return Reduction(tuple(products), np.array(terms, dtype=np.uint64), np.array(written, dtype=np.int64).reshape(-1, 2))


def _greedy(bits: int, terms: tuple[int, ...], halves: bool) -> tuple[list[Product], list[tuple[int, ...]]]:
    """Replace the pair of bits that is in most of the products still too long, until none is."""
    kind = [bit % 2 for bit in range(bits)]
    members = [1 << bit for bit in range(bits)]
    written = [tuple(bit for bit in range(bits) if term >> bit & 1) for term in terms]
    products: list[Product] = []
    while True:
        counts = Counter(pair for term in written if len(term) > 2 for pair in combinations(term, 2))
        if not counts:
            return products, written
        left, right = min(counts, key=lambda pair: (halves and kind[pair[0]] != kind[pair[1]], -counts[pair], pair))
        own = [place for place, term in enumerate(written) if len(term) > 2 and left in term and right in term]
        rests = [tuple(bit for bit in written[place] if bit not in (left, right)) for place in own]
        masks, width = _masks_of(rests)
        members.append(members[left] | members[right])
        kind.append(kind[left])
        products.append(Product(left, right, members[-1], np.array(own, dtype=np.int64), masks, width))
        for place, rest in zip(own, rests, strict=True):
            written[place] = (*rest, len(members) - 1)


def _masks_of(sets: list[tuple[int, ...]]) -> tuple[Ints, int]:
    """Return sets of bits as masks over the bits that occur, and the number of these."""
    local = {bit: 1 << i for i, bit in enumerate(sorted({bit for each in sets for bit in each}))}
    return np.array([sum(local[bit] for bit in each) for each in sets], dtype=np.int64), len(local)
