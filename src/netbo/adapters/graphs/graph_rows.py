"""The edges of a NetworkX graph as rows: ids, ends, lengths, curves and attributes."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from netbo.arrays import FloatArray
from netbo.errors import NetworkError

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
            f"edges of {rows.source} have no attribute {name!r}; there are {_listed(rows.names)}: "
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
            f"edges of {rows.source} have no attribute {name!r}; there are {_listed(rows.names)}: "
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


def _listed(names: Sequence[str]) -> str:
    return ", ".join(map(repr, names)) or "none"
