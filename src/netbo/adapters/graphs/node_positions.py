"""Where the nodes of a NetworkX graph are, from whichever attributes say so."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from netbo.adapters.graphs.graph_rows import GraphRows, Positions
from netbo.errors import NetworkError

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
        there = ", ".join(map(repr, known))
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
