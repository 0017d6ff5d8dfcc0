"""Proximity searches: close vertices, vertices near lines, duplicate links; which links are on one level."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from math import isfinite
from typing import Any, Self

import numpy as np
from scipy.sparse import csr_array
from scipy.sparse.csgraph import connected_components
from scipy.spatial import cKDTree

from netbo.adapters.report import Duplicate
from netbo.arrays import BoolArray, FloatArray, IntArray
from netbo.geometry import Curves
from netbo.geometry.nearest import SegmentIndex

QUERY_BLOCK = 20_000  # places looked up at once: their candidates are held in memory


@dataclass(frozen=True, eq=False)
class Touches:
    """Vertices near lines: vertex, line, fraction of the line before the nearest point, distance."""

    place: IntArray
    line: IntArray
    fraction: FloatArray
    distance: FloatArray

    def __len__(self) -> int:
        return len(self.place)

    def where(self, chosen: np.ndarray) -> Touches:
        """Some of them."""
        return Touches(self.place[chosen], self.line[chosen], self.fraction[chosen], self.distance[chosen])


def close_pairs(places: FloatArray, radius: float) -> IntArray:
    """Pairs (first < second) of places at most `radius` apart, (n, 2).

    Of places with equal coordinates only the first is paired with others, and each of the rest with it: a
    thousand vertices that somebody drew at (0, 0) are a thousand pairs, not half a million.
    """
    first, stands_for = _first_of_equals(places)
    found = cKDTree(places[first]).query_pairs(radius, output_type="ndarray").reshape(-1, 2)
    rest = np.flatnonzero(stands_for != np.arange(len(places)))
    pairs = np.concatenate([np.sort(first[found], axis=1), np.column_stack([stands_for[rest], rest])])
    return np.asarray(pairs[np.lexsort((pairs[:, 1], pairs[:, 0]))])


def _first_of_equals(places: FloatArray) -> tuple[IntArray, IntArray]:
    """The first of each set of equal places, and for every place the first that equals it."""
    _, first, inverse = np.unique(places, axis=0, return_index=True, return_inverse=True)
    return first, first[inverse.ravel()]


def find_touches(curves: Curves, places: FloatArray, radius: float) -> Touches:
    """Each place with each line that passes within `radius` of it, at the nearest point of the line.

    Of places with equal coordinates only the first is looked up.
    """
    index = SegmentIndex.build(curves)
    distinct, _ = _first_of_equals(places)
    reach = (index.half_piece + radius) * (1 + 1e-12)
    parts = []
    for start in range(0, len(distinct), QUERY_BLOCK):
        block = distinct[start : start + QUERY_BLOCK]
        lists = index.tree.query_ball_point(places[block], reach)
        counts = np.fromiter(map(len, lists), dtype=np.int64, count=len(lists))
        piece = np.fromiter(chain.from_iterable(lists), dtype=np.int64, count=int(counts.sum()))
        place = np.repeat(block, counts)
        parts.append(_closest(curves, places, place, index.corners[piece], radius))
    empty = np.empty(0, dtype=np.int64)
    columns = [
        np.concatenate([empty.astype(kind), *(getattr(part, name) for part in parts)])
        for name, kind in (("place", int), ("line", int), ("fraction", float), ("distance", float))
    ]
    return Touches(*columns)


def _closest(curves: Curves, places: FloatArray, place: IntArray, corner: IntArray, radius: float) -> Touches:
    """The nearest point of each line to each place, among candidate segments."""
    t, off = project_on_segments(curves, places[place], corner)
    near = off <= radius
    place, corner, t, off = place[near], corner[near], t[near], off[near]
    line = np.searchsorted(curves.starts, corner, side="right") - 1
    fraction = (1 - t) * curves.fractions[corner] + t * curves.fractions[corner + 1]
    order = np.lexsort((fraction, off, line, place))
    place, line, fraction, off = place[order], line[order], fraction[order], off[order]
    is_first = np.ones(len(place), dtype=np.bool_)
    is_first[1:] = (np.diff(place) != 0) | (np.diff(line) != 0)
    return Touches(place[is_first], line[is_first], fraction[is_first], off[is_first])


def project_on_segments(
    curves: Curves, places: FloatArray, corner: IntArray
) -> tuple[FloatArray, FloatArray]:
    """Share of each segment before the point nearest to the place, and its distance from the place."""
    first = curves.coordinates[corner]
    span = curves.coordinates[corner + 1] - first
    square = np.einsum("ij,ij->i", span, span)
    along = np.einsum("ij,ij->i", places - first, span)
    t = np.clip(along / np.where(square > 0, square, 1.0), 0.0, 1.0)
    return t, np.linalg.norm(first + t[:, None] * span - places, axis=1)


def lowest_joined(count: int, pairs: IntArray) -> IntArray:
    """For each of `count` things the lowest one with which the pairs join it."""
    if not len(pairs):
        return np.arange(count)
    links = csr_array((np.ones(len(pairs)), (pairs[:, 0], pairs[:, 1])), shape=(count, count))
    _, labels = connected_components(links, directed=False)
    _, first = np.unique(labels, return_index=True)
    return np.asarray(first[labels], dtype=np.int64)


# Links stored twice: the same ends and the same course, in either direction.

SAME_LENGTH = 1e-6  # relative; lengths of one street stored twice differ by rounding
SAME_COURSE = 1e-3  # relative to the drawn length; farther apart, two lines are two streets
PROBES = np.array([0.1, 0.3, 0.5, 0.7, 0.9])  # fractions at which courses are compared


@dataclass(frozen=True, eq=False)
class Duplicates:
    """Pairs of edges that are one: each second edge once, with the lowest edge it repeats."""

    first: IntArray
    second: IntArray
    is_reversed: BoolArray

    def __len__(self) -> int:
        return len(self.first)

    def named(self, ids: Sequence[Hashable]) -> tuple[Duplicate, ...]:
        """The same for a report; `ids` name the edges."""
        rows = zip(self.first.tolist(), self.second.tolist(), self.is_reversed.tolist(), strict=True)
        return tuple(Duplicate(ids[one], ids[other], is_reversed) for one, other, is_reversed in rows)


def find_duplicates(
    tails: IntArray, heads: IntArray, lengths: FloatArray, curves: Curves | None
) -> Duplicates:
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


def _lowest(found: list[tuple[IntArray, IntArray, BoolArray]]) -> Duplicates:
    """Each repeated edge with the lowest edge it repeats."""
    empty = np.empty(0, dtype=np.int64)
    first = np.concatenate([empty, *(part[0] for part in found)])
    second = np.concatenate([empty, *(part[1] for part in found)])
    is_reversed = np.concatenate([empty.astype(np.bool_), *(part[2] for part in found)])
    # Edges of a group come in increasing order, so first < second.
    order = np.lexsort((first, second))
    _, unique = np.unique(second[order], return_index=True)
    chosen = order[unique]
    return Duplicates(first[chosen], second[chosen], is_reversed[chosen])


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
