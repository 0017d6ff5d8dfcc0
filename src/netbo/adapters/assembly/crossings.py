"""Crossings: where lines cross that do not end there, and which of them pass above one another."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import isfinite
from typing import Any, Self

import numpy as np

from netbo.adapters.proximity import project_on_segments
from netbo.arrays import BoolArray, FloatArray, IntArray, rows_of
from netbo.errors import NetworkError
from netbo.geometry import Curves
from netbo.geometry.curves import pick_curves
from netbo.optional import require

# Levels: what passes over or under something else does not meet it.

NO = ("", "no", "n", "f", "false", "0", "none", "nan")  # as files say that a street is no bridge


def levels_of(attributes: Mapping[str, Sequence[Any]], rows: IntArray) -> FloatArray | None:
    """Level of each row by its columns `layer`, `bridge` and `tunnel`; None where there are no such columns.

    A layer counts where it is not zero; else a bridge is one above the ground, a tunnel one below.

    >>> levels_of({"Bridge": ["yes", "no", None], "layer": [0, "-2", None]}, np.arange(3)).tolist()
    [1.0, -2.0, 0.0]
    """
    columns = {str(name).lower(): column for name, column in attributes.items()}
    if not {"layer", "bridge", "tunnel"} & set(columns):
        return None
    none = [None] * (int(rows.max(initial=-1)) + 1)
    layer, bridge, tunnel = (columns.get(name, none) for name in ("layer", "bridge", "tunnel"))
    return np.array(
        [_layer(layer[row]) or _is_yes(bridge[row]) - _is_yes(tunnel[row]) for row in rows.tolist()],
        dtype=np.float64,
    )


def _is_yes(value: Any) -> bool:
    """Whether a cell says yes; one of several is enough."""
    if isinstance(value, list | tuple | set):
        return any(map(_is_yes, value))
    return str(value).strip().lower() not in NO


def _layer(value: Any) -> float:
    """The number of a cell, of several the one farthest from the ground; 0 where there is none."""
    if isinstance(value, list | tuple | set):
        return max(map(_layer, value), key=abs, default=0.0)
    try:
        number = float(value)
    except (TypeError, ValueError):
        return 0.0
    return number if isfinite(number) else 0.0


@dataclass(frozen=True, slots=True)
class Levels:
    """On which levels edges are, and those that end at each vertex."""

    of_edges: list[float] | None  # None where no column says so
    at_vertices: list[set[float]]

    @classmethod
    def of(cls, attributes: Mapping[str, Sequence[Any]], tails: IntArray, heads: IntArray) -> Self:
        """By the columns of the edges, and their ends."""
        levels = levels_of(attributes, np.arange(len(tails)))
        if levels is None:
            return cls(None, [])
        here: list[set[float]] = [set() for _ in range(max(tails.max(), heads.max()) + 1)]
        for ends in (tails, heads):
            for vertex, level in zip(ends.tolist(), levels.tolist(), strict=True):
                here[vertex].add(level)
        return cls(levels.tolist(), here)

    def may_join(self, vertex: int, *, edge: int | None = None, other: int | None = None) -> bool:
        """Whether an edge that ends at the vertex is on the level of another edge, or of one at a vertex."""
        if self.of_edges is None:
            return True
        there = self.at_vertices[other] if other is not None else {self.of_edges[edge or 0]}
        return not self.at_vertices[vertex].isdisjoint(there)


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
