"""Links of a NetworkX graph: curves directed from tail to head, opposite edges merged."""

import math
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, get_args

import numpy as np

from netbo.adapters.assembly.directions import direct_curves, pack_curves, shared_positions
from netbo.adapters.assembly.draft import as_positions, number_vertices
from netbo.adapters.graph_rows import (
    GraphRows,
    Positions,
    edge_columns,
    edge_curves,
    edge_lengths,
    graph_rows,
    node_positions,
    require_lengths_or_drawing,
)
from netbo.adapters.links import Links
from netbo.arrays import FloatArray
from netbo.errors import NetworkError
from netbo.wording import counted

# Both directions of one street: found by their course, kept once, answering to both ids.

COURSE_TOLERANCE = 1e-9  # of the largest coordinate: millimetres on a map, whatever its projection
LENGTH_TOLERANCE = 1e-6  # relative: the parts of a street summed in the other order

SameStreet = Callable[[int, int], bool]


@dataclass(frozen=True, eq=False)
class TwoWays:
    """Rows to keep, further ids of theirs, and notes for the report."""

    kept: list[int]
    aliases: dict[Hashable, tuple[Hashable, bool]]
    notes: tuple[str, ...]


@dataclass(frozen=True, eq=False)
class Courses:
    """Ends, lengths and courses of edges, to be compared by row."""

    rows: GraphRows
    lengths: FloatArray | None
    curves: Sequence[FloatArray | None]
    positions: Positions | None

    def is_reverse(self, one: int, other: int) -> bool:
        """Whether the other row takes the same way back; a loop must be drawn to tell."""
        a, b = self._course(one), self._course(other)
        if a is None or b is None:
            return a is b and self.rows.tails[one] != self.rows.heads[one]
        slack = COURSE_TOLERANCE * float(np.abs(a).max())
        return a.shape == b.shape and bool(np.abs(a - b[::-1]).max() <= slack)

    def is_as_long(self, one: int, other: int) -> bool:
        """Whether two rows have the same length, or neither has one."""
        if self.lengths is None:
            return True
        a, b = float(self.lengths[one]), float(self.lengths[other])
        return math.isclose(a, b, rel_tol=LENGTH_TOLERANCE) or (math.isnan(a) and math.isnan(b))

    def _course(self, row: int) -> FloatArray | None:
        tail, head, known = self.rows.tails[row], self.rows.heads[row], self.positions or {}
        if self.curves[row] is None and tail != head and tail in known and head in known:
            return np.array([known[tail], known[head]])
        return self.curves[row]


def merge_directions(
    courses: Courses, *, order: Iterable[int] | None = None, is_same_street: SameStreet = lambda i, j: True
) -> TwoWays:
    """Each pair of opposite edges of equal length and course as one; the first in `order` stays."""
    rows, waiting = courses.rows, dict[tuple[Hashable, Hashable], list[int]]()
    back_of: dict[int, int] = {}
    for row in range(len(rows.ids)) if order is None else order:
        tail, head = rows.tails[row], rows.heads[row]
        opposite = waiting.setdefault((head, tail), [])
        match = next(
            (
                other
                for other in opposite
                if is_same_street(row, other)
                and courses.is_as_long(row, other)
                and courses.is_reverse(row, other)
            ),
            None,
        )
        if match is None:
            waiting.setdefault((tail, head), []).append(row)
        else:
            opposite.remove(match)
            back_of[row] = match
    kept = [row for row in range(len(rows.ids)) if row not in back_of]
    aliases = {
        rows.ids[row]: (rows.ids[match], True)
        for row, match in back_of.items()
        if rows.ids[row] != rows.ids[match]  # one id for both directions needs no second name
    }
    return TwoWays(kept, aliases, _notes_on_pairs(len(back_of), _unequal(courses, waiting)))


def _unequal(courses: Courses, waiting: dict[tuple[Hashable, Hashable], list[int]]) -> list[tuple[int, int]]:
    """Opposite edges of one course that stayed apart because of their lengths."""
    return [
        (row, other)
        for (tail, head), several in waiting.items()
        for row in several
        for other in waiting.get((head, tail), [])
        if row < other and courses.is_reverse(row, other) and not courses.is_as_long(row, other)
    ]


def _notes_on_pairs(n_merged: int, unequal: Sequence[tuple[int, int]]) -> tuple[str, ...]:
    notes = []
    if n_merged:
        notes.append(
            f"{counted(n_merged, 'pair')} of opposite edges with one course and length became one edge each, "
            "which answers to both ids."
        )
    if unequal:
        notes.append(
            f"{counted(len(unequal), 'pair')} of opposite edges have one course but different lengths: "
            "both edges were kept."
        )
    return tuple(notes)


# Curves settled to run from the first end of their edge to the second.


@dataclass(frozen=True, eq=False)
class SettledCurves:
    """Curves that run from tail to head, positions of the nodes, and what was decided."""

    curves: list[FloatArray | None]
    positions: Positions | None  # as given; else of the nodes at which curves end
    notes: tuple[str, ...]


def settle_directions(
    rows: GraphRows, curves: Sequence[FloatArray | None], positions: Positions | None
) -> SettledCurves:
    """Every curve from tail to head, by comparing its ends with the positions of the nodes.

    Undirected graphs list an edge as (u, v) or (v, u) as they please, whichever way its curve was stored.
    Nodes without positions are where most of the curves that meet there end.
    """
    drawn = next((curve for curve in curves if curve is not None), None)
    if drawn is None:
        return SettledCurves(list(curves), positions, ())
    tails, heads, names = number_vertices(rows.tails, rows.heads)
    packed = pack_curves(curves, drawn.shape[1])
    known = as_positions(positions, names, width=drawn.shape[1])
    if known is None:
        known = shared_positions(packed, (tails, heads), len(names))
    directed = direct_curves(packed, (tails, heads), known)
    extents = np.array([1.0 if curve is None else _extent(curve) for curve in curves])
    is_compared = (np.diff(directed.starts) > 0) & (tails != heads)
    _require_one_system(rows, (directed.misfits / extents)[is_compared])
    if positions is None:
        is_placed = np.isfinite(directed.positions).all(axis=1)
        placed = np.flatnonzero(is_placed).tolist()
        positions = {names[node]: tuple(directed.positions[node].tolist()) for node in placed}
    notes = _notes_on_turns(int(directed.is_turned.sum()), int(directed.is_ambiguous.sum()))
    return SettledCurves(directed.rows(), positions, notes)


def _extent(curve: FloatArray) -> float:
    return math.hypot(*(curve.max(axis=0) - curve.min(axis=0)).tolist()) or 1.0


def _require_one_system(rows: GraphRows, misfits: FloatArray) -> None:
    """Refuse curves that have nothing to do with the places of their nodes."""
    if misfits.size and float(np.median(misfits)) > 1:
        raise NetworkError(
            f"curves must end at their nodes, got ends {np.median(misfits):.3g} curve lengths away from them "
            f"(median) in {rows.source}; bring both into one coordinate system, or leave one out with "
            "geometry=None or positions=..."
        )


def _notes_on_turns(n_turned: int, n_unknown: int) -> tuple[str, ...]:
    notes = []
    if n_turned:
        notes.append(
            f"{counted(n_turned, 'curve')} stored from the second end of the edge to the first: turned round."
        )
    if n_unknown:
        notes.append(
            f"{counted(n_unknown, 'curve')} fit their ends equally well both ways: taken as stored, "
            "from the first end to the second."
        )
    return tuple(notes)


Directions = Literal["merge", "keep"]
ChosenPositions = str | Sequence[str] | Mapping[Hashable, Sequence[float]] | None
Curve = FloatArray | None


@dataclass(frozen=True, eq=False)
class GraphReading:
    """Edges of a graph with lengths and settled courses, and what was decided on the way."""

    courses: Courses
    columns: dict[str, list[Any]]
    crs: Any
    notes: list[str]


def read_edges(
    graph: Any, source: str, *, length: str | None, id_attribute: str | None,
    geometry: str | None, positions: ChosenPositions,
) -> GraphReading:  # fmt: skip
    """Everything a graph says about its edges, curves running from the first end to the second."""
    rows = graph_rows(graph, source, id_attribute)
    lengths = None if length is None else edge_lengths(rows, length)
    found = node_positions(graph, rows, positions)
    curves: Sequence[Curve] = [None] * len(rows.ids) if geometry is None else edge_curves(rows, geometry)
    curves, places, flat_notes = _in_one_dimension(curves, found.places)
    settled = settle_directions(rows, curves, places)
    require_lengths_or_drawing(rows, lengths, settled.curves, places)
    courses, undrawn = _drawn_wholly(Courses(rows, lengths, settled.curves, settled.positions))
    crs = graph.graph.get("crs")
    notes = [
        *_remarks(graph, courses, length), *([found.note] if found.note else []), *flat_notes, *settled.notes,
        *undrawn,
    ]  # fmt: skip
    if crs is None and found.crs is not None:
        notes.append(f"Nodes have longitude and latitude and no coordinate system: taken as {found.crs}.")
    columns = edge_columns(rows, (length, geometry))
    return GraphReading(courses, columns, found.crs if crs is None else crs, notes)


def links_of(reading: GraphReading, ways: TwoWays, *, crs: Any, unit: str | None) -> Links:
    """Links of the rows that are kept."""
    courses, kept = reading.courses, ways.kept
    rows = courses.rows
    curves = [courses.curves[row] for row in kept]
    return Links(
        source=rows.source,
        ids=[rows.ids[row] for row in kept],
        tails=[rows.tails[row] for row in kept],
        heads=[rows.heads[row] for row in kept],
        lengths=None if courses.lengths is None else courses.lengths[kept],
        curves=None if all(curve is None for curve in curves) else curves,
        positions=courses.positions,
        crs=reading.crs if crs is None else crs,
        unit=unit,
        attributes={name: [column[row] for row in kept] for name, column in reading.columns.items()},
        aliases=ways.aliases,
        notes=(*reading.notes, *ways.notes),
    )


def undirected_names(rows: GraphRows) -> TwoWays:
    """All rows, each answering to its ends in the other order too."""
    aliases: dict[Hashable, tuple[Hashable, bool]] = {
        (head, tail, *edge[2:]): (edge, True)
        for edge, tail, head in zip(rows.ids, rows.tails, rows.heads, strict=True)
        if tail != head and isinstance(edge, tuple)
    }
    return TwoWays(list(range(len(rows.ids))), aliases, ())


def require_graph(graph: Any, source: str) -> None:
    """Refuse what is no NetworkX graph."""
    if not all(hasattr(graph, name) for name in ("is_directed", "is_multigraph", "edges", "nodes")):
        raise NetworkError(
            f"{source} must be a NetworkX graph, got {type(graph).__name__}; pass the graph itself"
        )


def require_directions(directions: str) -> None:
    """Refuse names of treatments that do not exist."""
    if directions not in get_args(Directions):
        raise NetworkError(f"directions must be 'merge' or 'keep', got {directions!r}; choose one of them")


def _in_one_dimension(
    curves: Sequence[Curve], positions: Positions | None
) -> tuple[Sequence[Curve], Positions | None, list[str]]:
    """Without heights if only some coordinates have them."""
    widths = {curve.shape[1] for curve in curves if curve is not None}
    widths |= {len(place) for place in (positions or {}).values()}
    if len(widths) < 2:
        return curves, positions, []
    flat = [None if curve is None else curve[:, :2] for curve in curves]
    places = None if positions is None else {node: place[:2] for node, place in positions.items()}
    return flat, places, ["Only some coordinates have heights: heights were left out."]


def _drawn_wholly(courses: Courses) -> tuple[Courses, list[str]]:
    """The same if every straight edge is between nodes with positions, else not drawn at all."""
    rows, places = courses.rows, courses.positions
    if places is None:
        return courses, []
    bare = [
        edge
        for edge, tail, head, curve in zip(rows.ids, rows.tails, rows.heads, courses.curves, strict=True)
        if curve is None and not (tail in places and head in places)
    ]
    if not bare:
        return courses, []
    note = (
        f"{counted(len(bare), 'edge')} without a curve between nodes without places, the first {bare[0]!r}: "
        "the drawing was left out."
    )
    return Courses(rows, courses.lengths, [None] * len(rows.ids), None), [note]


def _remarks(graph: Any, courses: Courses, length: str | None) -> list[str]:
    """Edges without a length, and nodes without edges."""
    remarks = []
    if courses.lengths is not None and np.isnan(courses.lengths).any():
        n_missing, n_edges = int(np.isnan(courses.lengths).sum()), len(courses.lengths)
        first = courses.rows.ids[int(np.argmax(np.isnan(courses.lengths)))]
        remarks.append(f"{n_missing} of {n_edges} edges lack {length!r}, the first is {first!r}.")
    n_alone = len(graph) - len({*courses.rows.tails, *courses.rows.heads})
    if n_alone:
        remarks.append(f"{counted(n_alone, 'node')} without edges left out.")
    return remarks
