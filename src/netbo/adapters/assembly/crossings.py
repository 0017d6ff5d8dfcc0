"""Crossings: where lines cross that do not end there, and which of them pass above one another."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from netbo.adapters.proximity import project_on_segments
from netbo.arrays import BoolArray, FloatArray, IntArray, rows_of
from netbo.errors import NetworkError
from netbo.geometry import Curves
from netbo.geometry.curves import pick_curves
from netbo.optional import require

# Crossings for a report: each once, with its place.


@dataclass(frozen=True, eq=False)
class Crossings:
    """Pairs of lines that cross and where; those of lines on different levels are only counted."""

    first: IntArray
    second: IntArray
    places: FloatArray
    n_apart: int


def find_crossings(curves: Curves, levels: FloatArray | None, tolerance: float) -> Crossings:
    """Where the insides of two lines, or of a line and itself, share a point and no stretch.

    Nearer than the tolerance to an end of a line it is no crossing but an end that just misses.
    """
    shapely = require("shapely", extra="geo", purpose="finding lines that cross")
    lines = shapely.linestrings(curves.coordinates, indices=rows_of(curves.starts))
    first, second, places = _crossing_pairs(shapely, lines)
    inside = np.ones(len(first), dtype=np.bool_)
    for side in (first, second):
        along = shapely.line_locate_point(lines[side], shapely.points(places))
        inside &= np.minimum(along, shapely.length(lines[side]) - along) > tolerance
    apart = inside & are_apart(levels, first, second)
    chosen = inside & ~apart
    own, own_places = _own_crossings(curves, np.flatnonzero(~shapely.is_simple(lines)), tolerance)
    return Crossings(
        np.concatenate([first[chosen], own]),
        np.concatenate([second[chosen], own]),
        np.concatenate([places[chosen], own_places]),
        int(np.count_nonzero(apart)),
    )


def _crossing_pairs(shapely: Any, lines: Any) -> tuple[IntArray, IntArray, FloatArray]:
    """Two lines whose insides share points and no stretch, once for each point that they share."""
    first, second = shapely.STRtree(lines).query(lines)
    first, second = first[first < second], second[first < second]
    is_crossing = shapely.crosses(lines[first], lines[second])
    first, second = first[is_crossing], second[is_crossing]
    shared = shapely.intersection(lines[first], lines[second])
    places, pair = shapely.get_coordinates(shared, return_index=True)
    return first[pair], second[pair], places


def _own_crossings(curves: Curves, rows: IntArray, tolerance: float) -> tuple[IntArray, FloatArray]:
    """Lines that cross themselves, and where."""
    if not rows.size:
        return rows, np.empty((0, 2))
    crooked = pick_curves(curves, rows)
    (line, f), (other, g) = shared_points(crooked, tolerance)
    lengths = crooked.drawn_lengths()[line]
    inside = np.minimum(np.minimum(f, 1 - f), np.minimum(g, 1 - g)) * lengths > tolerance
    chosen = (line == other) & inside
    places = crooked.places(line[chosen], f[chosen])
    _, once = np.unique(np.column_stack([line[chosen], places]), axis=0, return_index=True)
    return rows[line[chosen]][once], places[once]


def are_apart(levels: FloatArray | None, first: IntArray, second: IntArray) -> BoolArray:
    """Whether two lines are on different levels."""
    if levels is None:
        return np.zeros(len(first), dtype=np.bool_)
    return np.asarray(levels[first] != levels[second])


# Points that lines share, for cutting: ends and stretches count.

OnLine = tuple[IntArray, FloatArray]  # line and fraction


def shared_points(curves: Curves, tolerance: float) -> tuple[OnLine, OnLine]:
    """Where two lines, or a line and itself, share a point; of a shared stretch, its two ends."""
    if curves.dimension != 2:
        raise NetworkError("noding needs a flat drawing, got one with heights; drop the heights first")
    shapely = require("shapely", extra="geo", purpose="cutting lines where they cross")
    corners = curves.segments
    corners = corners[np.any(curves.coordinates[corners] != curves.coordinates[corners + 1], axis=1)]
    ends = curves.coordinates[corners], curves.coordinates[corners + 1]
    segments = shapely.linestrings(np.stack(ends, axis=1))
    first, second = shapely.STRtree(segments).query(segments)
    row = rows_of(curves.starts)[corners]
    is_apart = (first < second) & ((row[first] != row[second]) | (corners[second] - corners[first] > 1))
    first, second = first[is_apart], second[is_apart]
    is_shared = shapely.intersects(segments[first], segments[second])
    first, second = first[is_shared], second[is_shared]
    shared = shapely.intersection(segments[first], segments[second])
    places, pair = shapely.get_coordinates(shared, return_index=True)
    sides = []
    for side in (first[pair], second[pair]):
        corner = corners[side]
        t, _ = project_on_segments(curves, places, corner)
        sides.append((row[side], (1 - t) * curves.fractions[corner] + t * curves.fractions[corner + 1]))
    (line, f), (other, g) = sides
    # Repeated corners make neighbours of segments that are not consecutive: no crossing of the line.
    length = curves.drawn_lengths()[line]
    is_real = (line != other) | (np.abs(f - g) * length > tolerance)
    return (line[is_real], f[is_real]), (other[is_real], g[is_real])
