"""Links stored twice: the same ends and the same course, in either direction."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from netbo.arrays import BoolArray, FloatArray, IntArray
from netbo.geometry import Curves

SAME_LENGTH = 1e-6  # relative; lengths of one street stored twice differ by rounding
SAME_COURSE = 1e-3  # relative to the drawn length; farther apart, two lines are two streets
PROBES = np.array([0.1, 0.3, 0.5, 0.7, 0.9])  # fractions at which courses are compared


@dataclass(frozen=True, eq=False)
class Twins:
    """Pairs of edges that are one: each second edge once, with the lowest edge it repeats."""

    first: IntArray
    second: IntArray
    is_reversed: BoolArray

    def __len__(self) -> int:
        return len(self.first)


def find_twins(tails: IntArray, heads: IntArray, lengths: FloatArray, curves: Curves | None) -> Twins:
    """Edges with the same ends, the same length and, where they are drawn, the same course."""
    low, high = np.minimum(tails, heads), np.maximum(tails, heads)
    order = np.lexsort((high, low))
    is_new = np.ones(len(order), dtype=np.bool_)
    is_new[1:] = (np.diff(low[order]) != 0) | (np.diff(high[order]) != 0)
    group = np.cumsum(is_new) - 1
    sizes = np.bincount(group)
    found: list[tuple[IntArray, IntArray, BoolArray]] = []
    for lag in range(1, int(sizes.max())):
        at = np.flatnonzero(group[lag:] == group[:-lag])
        first, second = order[at], order[at + lag]
        is_close = np.abs(lengths[first] - lengths[second]) <= SAME_LENGTH * lengths[first]
        first, second = first[is_close], second[is_close]
        same, is_reversed = _compare(tails, heads, curves, first, second)
        found.append((first[same], second[same], is_reversed[same]))
    return _lowest(found)


def _compare(
    tails: IntArray, heads: IntArray, curves: Curves | None, first: IntArray, second: IntArray
) -> tuple[BoolArray, BoolArray]:
    """Whether two edges take the same course, and whether the second runs backwards."""
    forward = (tails[first] == tails[second]) & (heads[first] == heads[second])
    backward = (tails[first] == heads[second]) & (heads[first] == tails[second])
    if curves is not None:
        limit = SAME_COURSE * curves.drawn_lengths()[first]
        forward &= _apart(curves, first, second, PROBES) <= limit
        backward &= _apart(curves, first, second, 1 - PROBES) <= limit
    return forward | backward, backward & ~forward


def _apart(curves: Curves, first: IntArray, second: IntArray, probes: FloatArray) -> FloatArray:
    """Largest distance between the places at the probes of the two edges."""
    n = len(first)
    gaps = [
        np.linalg.norm(curves.places(first, np.full(n, p)) - curves.places(second, np.full(n, q)), axis=1)
        for p, q in zip(PROBES, probes, strict=True)
    ]
    worst: FloatArray = np.max(gaps, axis=0) if n else np.empty(0)
    return worst


def _lowest(found: list[tuple[IntArray, IntArray, BoolArray]]) -> Twins:
    """Each repeated edge with the lowest edge it repeats."""
    empty = np.empty(0, dtype=np.int64)
    first = np.concatenate([empty, *(part[0] for part in found)])
    second = np.concatenate([empty, *(part[1] for part in found)])
    is_reversed = np.concatenate([empty.astype(np.bool_), *(part[2] for part in found)])
    # Edges of a group come in increasing order, so first < second.
    order = np.lexsort((first, second))
    _, unique = np.unique(second[order], return_index=True)
    chosen = order[unique]
    return Twins(first[chosen], second[chosen], is_reversed[chosen])
