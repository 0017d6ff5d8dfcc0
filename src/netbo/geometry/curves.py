"""How the edges are drawn: one polyline each, all in one array; choosing, dividing and joining them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from netbo.arrays import FloatArray, IntArray, last_not_above, ranges, read_only, row_starts, rows_of
from netbo.errors import GraphError


@dataclass(frozen=True, slots=True, eq=False)
class Curves:
    """One polyline per edge; `fractions` says which share of the edge's length lies before each corner."""

    coordinates: FloatArray  # (n_corners, 2 or 3)
    starts: IntArray  # (n_edges + 1,)
    fractions: FloatArray  # (n_corners,), from 0 to 1 on each edge

    def __post_init__(self) -> None:
        read_only(self.coordinates), read_only(self.starts), read_only(self.fractions)

    def __len__(self) -> int:
        return len(self.starts) - 1

    def __reduce__(self) -> tuple[Callable[..., Curves], tuple[FloatArray, IntArray, FloatArray]]:
        return type(self), (self.coordinates, self.starts, self.fractions)

    @classmethod
    def proportional(cls, coordinates: FloatArray, starts: IntArray) -> Curves:
        """Curves on which the share of the length is the share of the drawn length."""
        return cls(coordinates, starts, _arc_fractions(coordinates, starts))

    @classmethod
    def straight(cls, tails: FloatArray, heads: FloatArray) -> Curves:
        """Straight lines from tail to head places."""
        n_edges, dimension = tails.shape
        coordinates = np.stack([tails, heads], axis=1).reshape(2 * n_edges, dimension)
        return cls(coordinates, 2 * np.arange(n_edges + 1), np.tile([0.0, 1.0], n_edges))

    @property
    def dimension(self) -> int:
        """2 or 3."""
        return int(self.coordinates.shape[1])

    @property
    def tail_places(self) -> FloatArray:
        """Where each curve begins."""
        return self.coordinates[self.starts[:-1]]

    @property
    def head_places(self) -> FloatArray:
        """Where each curve stops."""
        return self.coordinates[self.starts[1:] - 1]

    @property
    def segments(self) -> IntArray:
        """First corners of all straight pieces; a piece runs to the next corner."""
        is_last = np.zeros(len(self.coordinates), dtype=np.bool_)
        is_last[self.starts[1:] - 1] = True
        return np.flatnonzero(~is_last)

    def drawn_lengths(self) -> FloatArray:
        """Length of each polyline in the unit of its coordinates."""
        segments = self.segments
        steps = np.linalg.norm(self.coordinates[segments + 1] - self.coordinates[segments], axis=1)
        return np.bincount(rows_of(self.starts)[segments], steps, minlength=len(self)).astype(np.float64)

    def segments_at(self, edge: IntArray, fraction: FloatArray) -> IntArray:
        """First corner of the piece on which each point lies."""
        return last_not_above(self.fractions, self.starts[edge], self.starts[edge + 1] - 2, fraction)

    def places(self, edge: IntArray, fraction: FloatArray) -> FloatArray:
        """Coordinates of the points, (n, dimension)."""
        corner = self.segments_at(edge, fraction)
        span = self.fractions[corner + 1] - self.fractions[corner]
        t = np.clip((fraction - self.fractions[corner]) / np.where(span > 0, span, 1.0), 0.0, 1.0)[:, None]
        places: FloatArray = (1 - t) * self.coordinates[corner] + t * self.coordinates[corner + 1]
        return places


def as_curves(
    curves: Sequence[ArrayLike | None], tails: FloatArray | None, heads: FloatArray | None
) -> Curves:
    """Packed curves from one array per edge; None is the straight line between the edge's vertices."""
    arrays = [
        _straight_line(edge, tails, heads) if curve is None else _checked(curve, edge)
        for edge, curve in enumerate(curves)
    ]
    dimensions = {array.shape[1] for array in arrays}
    if len(dimensions) > 1:
        raise GraphError(f"curves must share one dimension, got {sorted(dimensions)}; drop or add heights")
    coordinates = np.concatenate(arrays)
    return Curves.proportional(coordinates, row_starts(np.array([len(array) for array in arrays])))


def _checked(curve: ArrayLike, edge: int) -> FloatArray:
    try:
        array = np.asarray(curve, dtype=np.float64)
    except (TypeError, ValueError) as cause:
        raise GraphError(
            f"curves must be numbers, got {curve!r:.60} on edge {edge}; pass (k, 2) arrays"
        ) from cause
    if array.ndim != 2 or array.shape[0] < 2 or array.shape[1] not in (2, 3):
        raise GraphError(
            f"curves must have shape (k, 2) or (k, 3) with k >= 2, got {array.shape} on edge {edge}; "
            "give both ends of the edge, or None for a straight line"
        )
    if not np.isfinite(array).all():
        raise GraphError(f"curves must be finite, got NaN or infinity on edge {edge}; drop the bad corners")
    return array


def _straight_line(edge: int, tails: FloatArray | None, heads: FloatArray | None) -> FloatArray:
    if tails is None or heads is None:
        raise GraphError(
            f"an edge without a curve needs positions, got neither on edge {edge}; pass positions=... as well"
        )
    return np.stack([tails[edge], heads[edge]])


def _arc_fractions(coordinates: FloatArray, starts: IntArray) -> FloatArray:
    """Share of the drawn length before each corner; on an edge drawn as a dot, 0 until the last corner."""
    steps = np.zeros(len(coordinates))
    steps[1:] = np.linalg.norm(np.diff(coordinates, axis=0), axis=1)
    steps[starts[:-1]] = 0.0
    rows = rows_of(starts)
    # Sums restart at every edge, so that a short edge after many long ones keeps its digits.
    arc = _row_sums(steps, starts)
    total = arc[starts[1:] - 1]
    fractions = np.minimum(arc / np.where(total > 0, total, 1.0)[rows], 1.0)
    fractions[starts[1:] - 1] = 1.0
    return fractions


def _row_sums(steps: FloatArray, starts: IntArray) -> FloatArray:
    """Cumulative sums that start anew in each row, by doubling strides."""
    sums = steps.copy()
    within = np.arange(len(steps)) - np.repeat(starts[:-1], np.diff(starts))
    stride, longest = 1, int(np.diff(starts).max())
    while stride < longest:
        is_far = within >= stride
        shifted = np.zeros_like(sums)
        shifted[stride:] = sums[:-stride]
        sums = np.where(is_far, sums + shifted, sums)
        stride *= 2
    return sums


# Drawn curves after their edges are chosen, divided or joined.


def pick_curves(curves: Curves, edges: IntArray) -> Curves:
    """Curves of some edges."""
    counts = np.diff(curves.starts)[edges]
    corners = ranges(curves.starts[edges], counts)
    return Curves(curves.coordinates[corners], row_starts(counts), curves.fractions[corners])


def snap_curves(curves: Curves, tails: FloatArray, heads: FloatArray) -> Curves:
    """Curves with their ends moved to the given places; corners between stay, and so do the fractions."""
    coordinates = curves.coordinates.copy()
    coordinates[curves.starts[:-1]], coordinates[curves.starts[1:] - 1] = tails, heads
    return Curves(coordinates, curves.starts, curves.fractions)


def divide_curves(curves: Curves, edge: IntArray, fraction: FloatArray) -> Curves:
    """Curves of the pieces between cuts, which are sorted by edge and fraction and lie inside the edges."""
    corner = curves.segments_at(edge, fraction)
    places = curves.places(edge, fraction)
    before = np.repeat(corner + 1, 2)  # a cut is the end of one piece and the start of the next
    coordinates = np.insert(curves.coordinates, before, np.repeat(places, 2, axis=0), axis=0)
    fractions = np.insert(curves.fractions, before, np.repeat(fraction, 2))
    n_cuts = np.bincount(edge, minlength=len(curves))
    starts = np.sort(
        np.concatenate([curves.starts + 2 * row_starts(n_cuts), corner + 2 + 2 * np.arange(len(edge))])
    )
    first, last = fractions[starts[:-1]], fractions[starts[1:] - 1]
    rows = rows_of(starts)
    rescaled = np.clip((fractions - first[rows]) / (last - first)[rows], 0.0, 1.0)
    return Curves(coordinates, starts, rescaled)


def join_curves(
    curves: Curves,
    edges: IntArray,
    is_reversed: IntArray,
    begin: FloatArray,
    end: FloatArray,
    chain: IntArray,
) -> Curves:
    """Curves of chains of edges.

    The edges come chain by chain, each in the order in which its chain runs through them; `begin` and `end`
    are the fractions of the chain at the start and the stop of each edge, `chain` the number of its chain.
    """
    first, counts = curves.starts[edges], np.diff(curves.starts)[edges]
    step = 1 - 2 * is_reversed
    corners = ranges(np.where(is_reversed, first + counts - 1, first), counts, step=step)
    entry = np.repeat(np.arange(len(edges)), counts)
    along = np.where(is_reversed[entry], 1 - curves.fractions[corners], curves.fractions[corners])
    fractions = begin[entry] + along * (end - begin)[entry]
    is_kept = np.ones(len(corners), dtype=np.bool_)
    is_inner = np.concatenate([[False], np.diff(chain) == 0])
    is_kept[row_starts(counts)[:-1][is_inner]] = False  # the corner where two edges meet is already there
    n_corners = np.bincount(chain[entry][is_kept])
    return Curves(curves.coordinates[corners][is_kept], row_starts(n_corners), fractions[is_kept])
