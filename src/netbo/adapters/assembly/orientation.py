"""Which way curves run: undirected graphs list an edge as (v, u) and draw it from u to v."""

from __future__ import annotations

import numpy as np

from netbo.arrays import BoolArray, FloatArray, IntArray, ranges, row_starts

Packed = tuple[FloatArray, IntArray]  # coordinates and starts; a link without a curve has an empty row
Ends = tuple[IntArray, IntArray]


def runs_backwards(packed: Packed, positions: FloatArray, ends: Ends) -> BoolArray:
    """Whether a curve fits its vertices clearly better when read from its end; NaN positions say nothing."""
    coordinates, starts = packed
    if not len(coordinates):
        return np.zeros(len(ends[0]), dtype=np.bool_)
    begin = coordinates[np.minimum(starts[:-1], len(coordinates) - 1)]
    end = coordinates[np.maximum(starts[1:] - 1, 0)]

    def mismatch(first: IntArray, second: IntArray) -> FloatArray:
        gaps = begin - positions[first], end - positions[second]
        return np.asarray(sum(np.nan_to_num(np.linalg.norm(gap, axis=1)) for gap in gaps))

    return (np.diff(starts) > 0) & (mismatch(*ends) > 2 * mismatch(ends[1], ends[0]))


def turn(packed: Packed, is_turned: BoolArray) -> Packed:
    """The curves with some of them read from their end."""
    coordinates, starts = packed
    counts = np.diff(starts)
    first = np.where(is_turned, starts[1:] - 1, starts[:-1])
    return coordinates[ranges(first, counts, step=np.where(is_turned, -1, 1))], starts


def fill_positions(positions: FloatArray, packed: Packed, ends: Ends) -> FloatArray:
    """Missing places of vertices taken from the first curve that meets them."""
    coordinates, starts = packed
    table = positions.copy()
    drawn = np.flatnonzero(np.diff(starts))
    vertices = np.concatenate([ends[0][drawn], ends[1][drawn]])
    places = np.concatenate([coordinates[starts[drawn]], coordinates[starts[drawn + 1] - 1]])
    met, first = np.unique(vertices, return_index=True)
    is_missing = np.isnan(table[met]).any(axis=1)
    table[met[is_missing]] = places[first[is_missing]]
    return table


def shared_positions(packed: Packed, ends: Ends, n_vertices: int) -> FloatArray:
    """Places that only one end can be: where more of a vertex's curves end than anywhere else; NaN elsewhere.

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
    is_sure = np.ones(len(last), dtype=np.bool_)
    is_tied = (last > 0) & (pairs[last - 1, 0] == pairs[last, 0]) & (counts[last - 1] == counts[last])
    is_sure &= ~is_tied
    chosen = last[is_sure]
    table[pairs[chosen, 0]] = places[first[pairs[chosen, 1]]]
    return table


def complete(packed: Packed, positions: FloatArray, ends: Ends) -> Packed:
    """A line for every link, straight where there is no curve."""
    coordinates, starts = packed
    counts = np.diff(starts)
    is_straight = counts == 0
    pool = np.concatenate([coordinates, positions])
    new_counts = np.where(is_straight, 2, counts)
    corners, new_starts = ranges(starts[:-1], new_counts), row_starts(new_counts)
    corners[new_starts[:-1][is_straight]] = len(coordinates) + ends[0][is_straight]
    corners[new_starts[1:][is_straight] - 1] = len(coordinates) + ends[1][is_straight]
    return pool[corners], new_starts
