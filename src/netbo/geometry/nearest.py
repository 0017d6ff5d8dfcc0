"""The point of a drawn network nearest to a place."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import chain
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from scipy.spatial import cKDTree

from netbo.arrays import FloatArray, IntArray, ranges
from netbo.errors import PointError
from netbo.geometry.curves import Curves

QUERY_BLOCK = 20_000  # places looked up at once: their candidates are held in memory
MAX_PIECES_PER_SEGMENT = 8  # on average; more pieces give a larger tree, fewer give more candidates
ROUNDING = 1e-12  # relative slack of the search radius, so that rounding loses no candidate


@dataclass(frozen=True, slots=True, eq=False)
class SegmentIndex:
    """A tree over the midpoints of short pieces of all drawn segments."""

    curves: Curves
    corners: IntArray  # first corner of the segment to which each piece belongs
    tree: Any
    half_piece: float  # no piece reaches farther from its midpoint

    @classmethod
    def build(cls, curves: Curves) -> SegmentIndex:
        """Index of all drawn edges; long segments are cut so that the pieces are of similar length."""
        corners = curves.segments
        first, span = curves.coordinates[corners], np.diff(curves.coordinates, axis=0)[corners]
        lengths = np.linalg.norm(span, axis=1)
        longest = max(
            float(np.median(lengths)), float(lengths.sum()) / (MAX_PIECES_PER_SEGMENT * len(lengths))
        )
        counts = np.maximum(1, np.ceil(lengths / longest if longest > 0 else lengths)).astype(np.int64)
        segment = np.repeat(np.arange(len(corners)), counts)
        middle = (ranges(np.zeros_like(counts), counts) + 0.5) / counts[segment]
        midpoints = first[segment] + middle[:, None] * span[segment]
        return cls(curves, corners[segment], cKDTree(midpoints), float((lengths / counts).max()) / 2)

    def nearest(self, xy: ArrayLike, limit: float | None) -> tuple[IntArray, FloatArray, FloatArray]:
        """Edge and fraction of the nearest points, and their straight distances from the places."""
        places = self._as_places(xy)
        blocks = [
            self._nearest_block(places[i : i + QUERY_BLOCK]) for i in range(0, len(places), QUERY_BLOCK)
        ]
        corner = np.concatenate([np.empty(0, dtype=np.int64), *(block[0] for block in blocks)])
        t, off = (np.concatenate([np.empty(0), *(block[k] for block in blocks)]) for k in (1, 2))
        if limit is not None:
            _require_within(off, limit)
        fractions = self.curves.fractions
        along = (1 - t) * fractions[corner] + t * fractions[corner + 1]
        return np.searchsorted(self.curves.starts, corner, side="right") - 1, along, off

    def _nearest_block(self, places: FloatArray) -> tuple[IntArray, FloatArray, FloatArray]:
        """First corner of the nearest segment, share of the segment before the nearest point, distance.

        The piece with the nearest point has its midpoint within (a distance already reached) + (half a
        piece).
        """
        _, closest = self.tree.query(places)
        _, reached = self._project(places, self.corners[closest])
        lists = self.tree.query_ball_point(places, (reached + self.half_piece) * (1 + ROUNDING))
        counts = np.fromiter(map(len, lists), dtype=np.int64, count=len(lists))
        # With a place on a midpoint of a dot rounding may leave a list empty; the closest piece is always a
        # candidate.
        candidates = np.fromiter(chain.from_iterable(lists), dtype=np.int64, count=int(counts.sum()))
        piece = np.concatenate([candidates, closest])
        query = np.concatenate([np.repeat(np.arange(len(places)), counts), np.arange(len(places))])
        t, off = self._project(places[query], self.corners[piece])
        order = np.lexsort((piece, off, query))
        best = order[np.searchsorted(query[order], np.arange(len(places)))]
        return self.corners[piece[best]], t[best], off[best]

    def _project(self, places: FloatArray, corner: IntArray) -> tuple[FloatArray, FloatArray]:
        """Share of each segment before the point nearest to the place, and its distance from the place."""
        first = self.curves.coordinates[corner]
        span = self.curves.coordinates[corner + 1] - first
        square = np.einsum("ij,ij->i", span, span)
        along = np.einsum("ij,ij->i", places - first, span)
        t = np.clip(along / np.where(square > 0, square, 1.0), 0.0, 1.0)
        return t, np.linalg.norm(first + t[:, None] * span - places, axis=1)

    def _as_places(self, xy: ArrayLike) -> FloatArray:
        try:
            places = np.atleast_2d(np.asarray(xy, dtype=np.float64))
        except (TypeError, ValueError) as cause:
            raise PointError(f"places must be numbers, got {xy!r:.60}; pass an (n, 2) array") from cause
        if places.ndim != 2 or (places.size and places.shape[1] != self.curves.dimension):
            raise PointError(
                f"places must have shape (n, {self.curves.dimension}) as the drawing, got {places.shape}; "
                "give one row of coordinates per place"
            )
        bad = np.flatnonzero(~np.isfinite(places).all(axis=1))
        if bad.size:
            raise PointError(
                f"places must be finite, got {places[bad[0]]} at index {bad[0]}; drop or fill them"
            )
        return places.reshape(-1, self.curves.dimension)


def _require_within(off: FloatArray, limit: float) -> None:
    beyond = np.flatnonzero(~(off <= limit))
    if beyond.size:
        worst = int(np.argmax(off))
        raise PointError(
            f"places must lie within {limit} of the network, got {beyond.size} of {len(off)} beyond, "
            f"the worst {off[worst]:.6g} away at index {worst}; raise limit, or check the coordinate system"
        )
