"""From the rows of a NetworkX graph to links: what its kinds of graph have in common."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, get_args

import numpy as np

from netbo.adapters.graphs.curve_directions import settle_directions
from netbo.adapters.graphs.graph_rows import (
    GraphRows,
    Positions,
    edge_columns,
    edge_curves,
    edge_lengths,
    graph_rows,
    require_lengths_or_drawing,
)
from netbo.adapters.graphs.node_positions import node_positions
from netbo.adapters.graphs.two_ways import Courses, TwoWays
from netbo.adapters.links import Links
from netbo.arrays import FloatArray
from netbo.errors import NetworkError
from netbo.geometry.identifiers import counted

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
    courses, undrawn = _drawn_wholly(Courses(rows, lengths, settled.curves, places))
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
    """With a place for every node of a straight edge, from the curves if need be, or not drawn at all."""
    rows, curves = courses.rows, courses.curves
    if courses.positions is not None or all(curve is None for curve in curves):
        return courses, []
    places: dict[Hashable, Sequence[float]] = {}
    for tail, head, curve in zip(rows.tails, rows.heads, curves, strict=True):
        if curve is not None:
            places |= {tail: tuple(curve[0].tolist()), head: tuple(curve[-1].tolist())}
    bare = [
        edge
        for edge, tail, head, curve in zip(rows.ids, rows.tails, rows.heads, curves, strict=True)
        if curve is None and not (tail in places and head in places)
    ]
    if not bare:
        return Courses(rows, courses.lengths, curves, places), []
    note = (
        f"{counted(len(bare), 'edge')} without a curve between nodes without places, the first {bare[0]!r}: "
        "the drawing was left out."
    )
    return Courses(rows, courses.lengths, [None] * len(curves), None), [note]


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
