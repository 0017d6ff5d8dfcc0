"""Direction of stored curves: each turned to run from the tail of its link to the head.

An undirected graph lists an edge as (v, u) and keeps its curve from u to v; the vertices tell which it is.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from netbo.arrays import BoolArray, FloatArray, IntArray, ranges, row_starts

Packed = tuple[FloatArray, IntArray]  # coordinates and starts; a link without a curve has an empty row
Ends = tuple[IntArray, IntArray]


@dataclass(frozen=True, eq=False)
class DirectedCurves:
    """Curves from tail to head, and the positions of the vertices that follow from them."""

    coordinates: FloatArray
    starts: IntArray
    positions: FloatArray  # (n_vertices, dimension); NaN where neither given nor the end of a curve
    is_turned: BoolArray
    is_ambiguous: BoolArray  # fits its vertices equally well both ways; left as stored
    misfits: FloatArray  # distances of both ends from the known positions of their vertices, summed

    @property
    def packed(self) -> Packed:
        """Coordinates and starts."""
        return self.coordinates, self.starts

    def curve(self, row: int) -> FloatArray:
        """Corners of one link; none where it has no curve."""
        return self.coordinates[self.starts[row] : self.starts[row + 1]]

    def rows(self) -> list[FloatArray | None]:
        """Corners of each link, None where it has no curve."""
        curves = map(self.curve, range(len(self.starts) - 1))
        return [curve if len(curve) else None for curve in curves]


def pack_curves(curves: Sequence[FloatArray | None], dimension: int) -> Packed:
    """Curves in one array; None is an empty row."""
    parts = [np.empty((0, dimension)) if curve is None else curve.reshape(-1, dimension) for curve in curves]
    starts = row_starts(np.array([len(part) for part in parts], dtype=np.int64))
    return np.concatenate([np.empty((0, dimension)), *parts]), starts


def direct_curves(packed: Packed, ends: Ends, positions: FloatArray, *, trust: float = 1.0) -> DirectedCurves:
    """Curves turned where their ends fit the vertices better backwards.

    Unknown positions (NaN) fit anything. They are then taken from the curves that end there, and the others
    compared once more. trust: a curve is turned if it fits more than this many times better backwards.
    """
    has_curve = np.diff(packed[1]) > 0
    forward, backward = _misfits(packed, positions, ends)
    is_turned = has_curve & (forward > trust * backward)
    packed = _turn(packed, is_turned)
    filled = _fill_positions(positions, packed, ends)
    ahead, back = _misfits(packed, filled, ends)
    again = has_curve & (ahead > trust * back)
    is_ambiguous = has_curve & (forward == backward) & (ends[0] != ends[1]) & ~again
    return DirectedCurves(
        *_turn(packed, again), filled, is_turned ^ again, is_ambiguous, np.minimum(forward, backward)
    )


def _misfits(packed: Packed, positions: FloatArray, ends: Ends) -> tuple[FloatArray, FloatArray]:
    """Distances of the ends of the curves from tail and head, summed; the same with head and tail."""
    coordinates, starts = packed
    if not len(coordinates):
        return np.zeros(len(starts) - 1), np.zeros(len(starts) - 1)
    begin = coordinates[np.minimum(starts[:-1], len(coordinates) - 1)]
    end = coordinates[np.maximum(starts[1:] - 1, 0)]

    def misfit(first: IntArray, second: IntArray) -> FloatArray:
        gaps = begin - positions[first], end - positions[second]
        return np.asarray(sum(np.nan_to_num(np.linalg.norm(gap, axis=1)) for gap in gaps))

    return misfit(*ends), misfit(ends[1], ends[0])


def _turn(packed: Packed, is_turned: BoolArray) -> Packed:
    """The curves with some of them read from their end."""
    coordinates, starts = packed
    counts = np.diff(starts)
    first = np.where(is_turned, starts[1:] - 1, starts[:-1])
    return coordinates[ranges(first, counts, step=np.where(is_turned, -1, 1))], starts


def _fill_positions(positions: FloatArray, packed: Packed, ends: Ends) -> FloatArray:
    """Missing positions of vertices taken from the first curve that meets them."""
    coordinates, starts = packed
    table = positions.copy()
    drawn = np.flatnonzero(np.diff(starts))
    vertices = np.column_stack([ends[0][drawn], ends[1][drawn]])
    corners = np.column_stack([starts[drawn], starts[drawn + 1] - 1])
    met, first = np.unique(vertices, return_index=True)  # curve by curve: both ends of the first count
    is_missing = np.isnan(table[met]).any(axis=1)
    table[met[is_missing]] = coordinates[corners.ravel()[first[is_missing]]]
    return table


def shared_positions(packed: Packed, ends: Ends, n_vertices: int) -> FloatArray:
    """Positions of vertices from the curves: where more curves of a vertex end than elsewhere; NaN if tied.

    Counts both ends of every curve at both of its vertices, since the curves may run either way.
    """
    coordinates, starts = packed
    drawn = np.flatnonzero((np.diff(starts) > 0) & (ends[0] != ends[1]))
    places = np.concatenate([coordinates[starts[drawn]], coordinates[starts[drawn + 1] - 1]])
    table = np.full((n_vertices, coordinates.shape[1]), np.nan)
    if not drawn.size:
        return table
    _, first, place = np.unique(places, axis=0, return_index=True, return_inverse=True)
    place = np.tile(place.ravel(), 2)
    vertex = np.concatenate([ends[0][drawn], ends[0][drawn], ends[1][drawn], ends[1][drawn]])
    pairs, counts = np.unique(np.column_stack([vertex, place]), axis=0, return_counts=True)
    order = np.lexsort((counts, pairs[:, 0]))
    pairs, counts = pairs[order], counts[order]
    last = np.append(np.flatnonzero(np.diff(pairs[:, 0])), len(pairs) - 1)
    is_tied = (last > 0) & (pairs[last - 1, 0] == pairs[last, 0]) & (counts[last - 1] == counts[last])
    chosen = last[~is_tied]
    table[pairs[chosen, 0]] = places[first[pairs[chosen, 1]]]
    return table
