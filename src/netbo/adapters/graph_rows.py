"""Edges of a NetworkX graph as rows, and the positions of its nodes."""

from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from netbo.arrays import FloatArray
from netbo.errors import NetworkError
from netbo.wording import quoted

Positions = Mapping[Hashable, Sequence[float]]


@dataclass(frozen=True, eq=False)
class GraphRows:
    """One row per edge, as the graph lists them."""

    source: str  # for people
    ids: list[Hashable]
    tails: list[Hashable]
    heads: list[Hashable]
    data: list[Mapping[str, Any]]

    @property
    def names(self) -> list[str]:
        """Names of the attributes that any edge has."""
        return list(dict.fromkeys(str(name) for row in self.data for name in row))


def graph_rows(graph: Any, source: str, id_attribute: str | None) -> GraphRows:
    """Edges of a graph, named (u, v), in a multigraph (u, v, key), or by an attribute."""
    listed: list[tuple[Hashable, Hashable, Hashable, Mapping[str, Any]]]
    if graph.is_multigraph():
        listed = [((u, v, key), u, v, data) for u, v, key, data in graph.edges(keys=True, data=True)]
    else:
        listed = [((u, v), u, v, data) for u, v, data in graph.edges(data=True)]
    if not listed:
        raise NetworkError(f"a network needs at least one edge, got none in {source}; check what made it")
    ids, tails, heads, data = (list(column) for column in zip(*listed, strict=True))
    rows = GraphRows(source, ids, tails, heads, data)
    if id_attribute is None:
        return rows
    return GraphRows(source, edge_ids(rows, id_attribute), tails, heads, data)


def edge_ids(rows: GraphRows, name: str) -> list[Hashable]:
    """The attribute that names the edges; every edge needs it."""
    values = [row.get(name) for row in rows.data]
    missing = [edge for edge, value in zip(rows.ids, values, strict=True) if value is None]
    if len(missing) == len(values):
        raise NetworkError(
            f"edges of {rows.source} have no attribute {name!r}; there are {quoted(rows.names)}: "
            "pass one of them as id=, or leave it out to name edges by their ends"
        )
    if missing:
        raise NetworkError(
            f"every edge needs an id, got {len(missing)} of {len(values)} without {name!r}, "
            f"the first is {missing[0]!r}; fill it, or leave id= out to name edges by their ends"
        )
    return values


def edge_lengths(rows: GraphRows, name: str) -> FloatArray:
    """The attribute that holds the lengths, NaN where an edge has none; some edge must have it."""
    lengths = np.array(
        [_as_length(row.get(name), edge, name) for edge, row in zip(rows.ids, rows.data, strict=True)]
    )
    if np.isnan(lengths).all():
        raise NetworkError(
            f"edges of {rows.source} have no attribute {name!r}; there are {quoted(rows.names)}: "
            "pass the one that holds the lengths as length=, or length=None to measure the drawing"
        )
    return lengths


def edge_curves(rows: GraphRows, name: str) -> list[FloatArray | None]:
    """The attribute that holds the courses (LineStrings, arrays of corners); None where an edge has none."""
    return [
        None if row.get(name) is None else _as_curve(row[name], edge, name)
        for edge, row in zip(rows.ids, rows.data, strict=True)
    ]


def edge_columns(rows: GraphRows, taken: Sequence[str | None]) -> dict[str, list[Any]]:
    """All other attributes as columns, None where an edge has none."""
    return {name: [row.get(name) for row in rows.data] for name in rows.names if name not in taken}


def require_lengths_or_drawing(
    rows: GraphRows,
    lengths: FloatArray | None,
    curves: Sequence[FloatArray | None],
    positions: Positions | None,
) -> None:
    """Refuse edges that have neither a length nor a drawing to measure."""
    known = positions or {}
    bare = [
        edge
        for edge, tail, head, curve, length in zip(
            rows.ids, rows.tails, rows.heads, curves,
            np.full(len(rows.ids), np.nan) if lengths is None else lengths, strict=True,
        )
        if np.isnan(length) and curve is None and not (tail in known and head in known)
    ]  # fmt: skip
    if bare:
        raise NetworkError(
            f"edges need a length or a drawing, got {len(bare)} of {len(rows.ids)} with neither "
            f"in {rows.source}, the first is {bare[0]!r}; give each a length, or its nodes coordinates"
        )


def _as_length(value: Any, edge: Hashable, name: str) -> float:
    if value is None:
        return np.nan
    try:
        return float(value)
    except (TypeError, ValueError) as cause:
        raise NetworkError(
            f"lengths must be numbers, got {value!r:.60} as {name!r} of edge {edge!r}; convert it first"
        ) from cause


def _as_curve(geometry: Any, edge: Hashable, name: str) -> FloatArray:
    if isinstance(geometry, str):
        raise NetworkError(
            f"{name!r} must hold LineStrings, got the text {geometry[:40]!r} on edge {edge!r}; "
            "convert it with shapely.from_wkt, or pass geometry=None to leave it out"
        )
    try:
        curve = np.asarray(getattr(geometry, "coords", geometry), dtype=np.float64)
    except (NotImplementedError, TypeError, ValueError) as cause:
        raise NetworkError(
            f"{name!r} must hold LineStrings, got {geometry!r:.60} on edge {edge!r}; "
            "split it into lines, or pass geometry=None to leave it out"
        ) from cause
    if curve.ndim != 2 or len(curve) < 2 or curve.shape[1] not in (2, 3) or not np.isfinite(curve).all():
        raise NetworkError(
            f"{name!r} must hold lines of two or more finite corners, got {geometry!r:.60} on edge {edge!r}; "
            "repair it, or delete the attribute there for a straight edge"
        )
    return curve


# Where the nodes of a NetworkX graph are, from whichever attributes say so.

PAIRS = (("x", "y"), ("lon", "lat"), ("longitude", "latitude"), ("Longitude", "Latitude"))
GEOGRAPHIC = PAIRS[1:]
LON_LAT = "EPSG:4326"


@dataclass(frozen=True, eq=False)
class NodePositions:
    """Coordinates of the nodes with edges; `crs` if the names of the attributes say it."""

    places: Positions | None
    crs: str | None = None
    note: str | None = None


def node_positions(
    graph: Any, rows: GraphRows, chosen: str | Sequence[str] | Mapping[Hashable, Sequence[float]] | None
) -> NodePositions:
    """Coordinates from the chosen attribute(s) or mapping; None looks for x and y, pos, lon and lat."""
    nodes = list(dict.fromkeys([*rows.tails, *rows.heads]))
    if chosen is None:
        return _found(graph, nodes)
    if isinstance(chosen, Mapping):
        return NodePositions(_complete({node: chosen.get(node) for node in nodes}, "positions", ()))
    names = (chosen,) if isinstance(chosen, str) else tuple(chosen)
    places = {node: _place(graph.nodes[node], names) for node in nodes}
    known = dict.fromkeys(str(name) for node in nodes for name in graph.nodes[node])
    return NodePositions(_complete(places, " and ".join(map(repr, names)), known), _crs_of(names))


def _found(graph: Any, nodes: Sequence[Hashable]) -> NodePositions:
    """The first attributes that all nodes have; a note if only some have them."""
    partial: NodePositions | None = None
    for names in (PAIRS[0], ("pos",), *GEOGRAPHIC):
        places = {node: _place(graph.nodes[node], names) for node in nodes}
        count = sum(place is not None for place in places.values())
        if count == len(nodes):
            return NodePositions(_complete(places, " and ".join(map(repr, names)), ()), _crs_of(names))
        if count and partial is None:
            words = " and ".join(map(repr, names))
            partial = NodePositions(
                None, note=f"{count} of {len(nodes)} nodes have {words}: too few, their places were not used."
            )
    return partial or NodePositions(None)


def _place(attributes: Mapping[str, Any], names: tuple[str, ...]) -> Sequence[Any] | None:
    values = [attributes.get(name) for name in names]
    if any(value is None for value in values):
        return None
    return values[0] if len(values) == 1 else values


def _complete(places: Mapping[Hashable, Any], words: str, known: Iterable[str]) -> Positions:
    """Places as numbers; a node without one is named."""
    missing = [node for node, place in places.items() if place is None]
    if missing:
        there = quoted(known, none="")
        raise NetworkError(
            f"every node needs {words}, got {len(missing)} of {len(places)} without, the first is "
            f"{missing[0]!r}" + (f"; there are {there}: choose among them" if there else "; add the others")
        )
    return {node: _numbers(place, node, words) for node, place in places.items()}


def _numbers(place: Any, node: Hashable, words: str) -> Sequence[float]:
    try:
        values = np.asarray(place, dtype=np.float64)
    except (TypeError, ValueError):
        values = np.empty(0)
    if values.shape not in ((2,), (3,)) or not np.isfinite(values).all():
        raise NetworkError(
            f"{words} must be two or three finite numbers, got {place!r:.60} at node {node!r}; repair it"
        )
    return tuple(values.tolist())


def _crs_of(names: tuple[str, ...]) -> str | None:
    return LON_LAT if names in GEOGRAPHIC else None
