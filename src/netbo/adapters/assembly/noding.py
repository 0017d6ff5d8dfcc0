"""Snapping and noding: near misses joined within a tolerance, crossing lines cut."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from netbo.adapters.assembly.crossings import OnLine, are_apart, shared_points
from netbo.adapters.proximity import Touches, close_pairs, find_touches, lowest_joined
from netbo.adapters.report import Join, Noded
from netbo.arrays import BoolArray, FloatArray, IntArray
from netbo.geometry import Curves

ROUNDING = 4 * np.finfo(np.float64).eps  # relative to the largest coordinate: no map says less
VANISHING = 2.0  # tolerances; a piece whose ends became one and that is no longer is no loop


@dataclass(frozen=True, eq=False)
class Junctions:
    """Cuts of lines, and which vertices are merged.

    Vertices 0 .. n - 1 are the old ones, the others lie on cuts; `lowest` is the representative of each.
    """

    lowest: IntArray
    positions: FloatArray
    line: IntArray  # of each cut, sorted by line and fraction, inside the line
    fraction: FloatArray
    vertex: IntArray
    tolerance: float
    noded: Noded


@dataclass(frozen=True, eq=False)
class _Cuts:
    """Candidates for cuts, each a vertex of its own until joined."""

    line: IntArray
    fraction: FloatArray
    joins: IntArray  # pairs of vertices that are one
    n_left_apart: int = 0  # crossings of lines on different levels, which are not cut


def find_junctions(
    curves: Curves,
    ends: tuple[IntArray, IntArray],
    positions: FloatArray,
    names: tuple[Sequence[Any], Sequence[Any]],
    *,
    snap: float,
    node: bool,
    levels: FloatArray | None = None,
) -> Junctions:
    """Vertices within `snap` of each other made one, ends within it of a line joined to the line.

    With `node`, lines are also cut wherever they cross or touch. What lies within the tolerance directly or
    through others becomes one vertex. `names` are the ids of the vertices and of the lines. Lines on
    different levels are not cut where they cross, nor joined to ends that come near without touching.
    """
    rounding = ROUNDING * float(np.abs(curves.coordinates).max())
    tolerance = max(snap, rounding)
    count = len(positions)
    pairs = close_pairs(positions, snap) if snap > 0 else np.empty((0, 2), dtype=np.int64)
    touches = find_touches(curves, positions, tolerance)
    is_own = (ends[0][touches.line] == touches.place) | (ends[1][touches.line] == touches.place)
    touches = touches.where(~is_own & ((touches.distance <= rounding) | _on_level(touches, ends, levels)))
    cuts = _candidates(curves, touches, count, tolerance, levels, node=node)
    entries = _Entries.sort(curves, ends, cuts, count, tolerance)
    lowest = lowest_joined(count + len(cuts.line), np.concatenate([pairs, cuts.joins, entries.joins()]))
    chosen = entries.distinct_cuts()
    places = np.concatenate([positions, curves.places(cuts.line, cuts.fraction)])
    line, fraction = cuts.line[chosen], cuts.fraction[chosen]
    vertex = lowest[count + chosen]
    noded = Noded(
        snap=snap,
        is_noded=node,
        n_crossings=len(np.unique(vertex)),
        n_left_apart=cuts.n_left_apart,
        n_cut_links=len(np.unique(line)),
        joins=_list_joins(lowest[:count], positions, touches, curves, names, tolerance),
        largest_move=float(np.linalg.norm(places - places[lowest], axis=1).max()),
    )
    return Junctions(lowest, places, line, fraction, vertex, tolerance, noded)


def _on_level(touches: Touches, ends: tuple[IntArray, IntArray], levels: FloatArray | None) -> BoolArray:
    """Whether one of the lines that end at the vertex is on the level of the line that it touches."""
    if levels is None:
        return np.ones(len(touches), dtype=np.bool_)
    here = set(zip(np.concatenate(ends).tolist(), np.tile(levels, 2).tolist(), strict=True))
    touched = zip(touches.place.tolist(), levels[touches.line].tolist(), strict=True)
    return np.fromiter((pair in here for pair in touched), dtype=np.bool_, count=len(touches))


def _candidates(
    curves: Curves, touches: Touches, count: int, tolerance: float, levels: FloatArray | None, *, node: bool
) -> _Cuts:
    """A cut where a vertex touches a line, and two where two lines cross."""
    own = count + np.arange(len(touches))
    joins = np.column_stack([touches.place, own])
    if not node:
        return _Cuts(touches.line, touches.fraction, joins)
    first, second, n_left_apart = _on_one_level(curves, shared_points(curves, tolerance), levels, tolerance)
    n = len(first[0])
    base = count + len(touches)
    crossing = np.column_stack([base + np.arange(n), base + n + np.arange(n)])
    return _Cuts(
        np.concatenate([touches.line, first[0], second[0]]),
        np.concatenate([touches.fraction, first[1], second[1]]),
        np.concatenate([joins, crossing]),
        n_left_apart,
    )


def _on_one_level(
    curves: Curves, shared: tuple[OnLine, OnLine], levels: FloatArray | None, tolerance: float
) -> tuple[OnLine, OnLine, int]:
    """Points that lines share, without the crossings of lines on different levels, and how many these are."""
    (line, f), (other, g) = shared
    length = curves.drawn_lengths()
    inside = np.minimum(np.minimum(f, 1 - f) * length[line], np.minimum(g, 1 - g) * length[other]) > tolerance
    is_over = inside & are_apart(levels, line, other)
    pairs = np.column_stack([line, other, np.round(f * length[line] / tolerance)])[is_over]
    kept = ~is_over
    return (line[kept], f[kept]), (other[kept], g[kept]), len(np.unique(pairs, axis=0))


@dataclass(frozen=True, eq=False)
class _Entries:
    """Ends and cuts of all lines in the order in which they lie along them."""

    line: IntArray
    vertex: IntArray
    cut: IntArray  # number of the cut, -1 for an end
    is_close: BoolArray  # to the entry before

    @classmethod
    def sort(
        cls, curves: Curves, ends: tuple[IntArray, IntArray], cuts: _Cuts, count: int, tolerance: float
    ) -> _Entries:
        n = len(curves)
        line = np.concatenate([np.arange(n), np.arange(n), cuts.line])
        fraction = np.concatenate([np.zeros(n), np.ones(n), cuts.fraction])
        cut = np.concatenate([np.full(2 * n, -1), np.arange(len(cuts.line))])
        vertex = np.concatenate([ends[0], ends[1], count + np.arange(len(cuts.line))])
        # An end comes before or after a cut at the same fraction, so that runs of equals stay together.
        rank = np.concatenate([np.zeros(n), np.full(n, 2), np.ones(len(cuts.line))])
        order = np.lexsort((rank, fraction, line))
        line, fraction, cut, vertex = line[order], fraction[order], cut[order], vertex[order]
        gap = np.diff(fraction) * curves.drawn_lengths()[line[1:]]
        is_close = np.zeros(len(line), dtype=np.bool_)
        is_close[1:] = (np.diff(line) == 0) & (gap <= tolerance) & ((cut[1:] >= 0) | (cut[:-1] >= 0))
        return cls(line, vertex, cut, is_close)

    def joins(self) -> IntArray:
        """Pairs of vertices that follow each other within the tolerance."""
        close = np.flatnonzero(self.is_close)
        return np.column_stack([self.vertex[close - 1], self.vertex[close]])

    def distinct_cuts(self) -> IntArray:
        """The first cut of each run of close entries in which there is no end."""
        run = np.cumsum(~self.is_close) - 1
        has_end = np.zeros(run[-1] + 1, dtype=np.bool_)
        has_end[run[self.cut < 0]] = True
        _, first = np.unique(run, return_index=True)
        return np.asarray(self.cut[first[~has_end]])


def _list_joins(
    lowest: IntArray,
    positions: FloatArray,
    touches: Touches,
    curves: Curves,
    names: tuple[Sequence[Any], Sequence[Any]],
    tolerance: float,
) -> tuple[Join, ...]:
    """Vertices that became one with another, and ends that were joined to the inside of a line."""
    vertex_ids, line_ids = names
    moved = np.flatnonzero(lowest != np.arange(len(lowest)))
    distances = np.linalg.norm(positions[moved] - positions[lowest[moved]], axis=1)
    onto_vertices = [
        Join(vertex_ids[v], vertex_ids[w], None, d)
        for v, w, d in zip(moved.tolist(), lowest[moved].tolist(), distances.tolist(), strict=True)
    ]
    length = curves.drawn_lengths()[touches.line]
    inside = touches.where(np.minimum(touches.fraction, 1 - touches.fraction) * length > tolerance)
    onto_lines = [
        Join(vertex_ids[v], None, line_ids[line], d)
        for v, line, d in zip(
            inside.place.tolist(), inside.line.tolist(), inside.distance.tolist(), strict=True
        )
    ]
    return (*onto_vertices, *onto_lines)
