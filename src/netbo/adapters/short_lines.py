"""A network cut into short lines with the measures of their ends, as maps of other programs want them."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass
from typing import Any

import numpy as np

from netbo.adapters.network import Network
from netbo.adapters.projection import transform
from netbo.arrays import BoolArray, FloatArray, IntArray, ranges
from netbo.errors import NetworkError
from netbo.geometry import MetricGraph, Points
from netbo.geometry.places import corners_within
from netbo.optional import require

USUAL_PIECES = 2000  # of a whole network, about; at least one an edge


@dataclass(frozen=True, eq=False)
class ShortLines:
    """Intervals of edges, between fractions, that cover the network once."""

    network: Network | MetricGraph
    edge: IntArray  # (n,)
    start: FloatArray  # (n,) fractions of the edge
    stop: FloatArray  # (n,)

    @classmethod
    def cut(cls, network: Network | MetricGraph, max_piece: float | None = None) -> ShortLines:
        """Even pieces of every edge, none longer than max_piece, by default about 2,000 in all."""
        graph = graph_of(network)
        longest = graph.total_length / USUAL_PIECES if max_piece is None else max_piece
        if not longest > 0:
            raise NetworkError(
                f"max_piece must be a positive length, got {max_piece}; leave it out for about "
                f"{USUAL_PIECES} pieces"
            )
        counts = np.maximum(np.ceil(graph.lengths / longest), 1).astype(np.int64)
        edge = np.repeat(np.arange(graph.n_edges), counts)
        number = ranges(np.zeros(graph.n_edges, dtype=np.int64), counts)
        return cls(network, edge, number / counts[edge], (number + 1) / counts[edge])

    @property
    def graph(self) -> MetricGraph:
        """The network's graph."""
        return graph_of(self.network)

    @property
    def middles(self) -> Points:
        """The point in the middle of each piece."""
        middle = (self.start + self.stop) / 2
        return Points(self.edge, middle * self.graph.lengths[self.edge], graph=self.graph)

    @property
    def ends(self) -> tuple[FloatArray, FloatArray]:
        """Distances along the graph's edge at which each piece begins and ends."""
        lengths = self.graph.lengths[self.edge]
        return self.start * lengths, self.stop * lengths

    def measures(self) -> tuple[list[Hashable], FloatArray, FloatArray]:
        """The user's id of each piece, and its smaller and larger measure along the user's edge."""
        ids, at_tail, at_head = _measures(self.network)
        first, last = at_tail[self.edge], at_head[self.edge]
        # Weighted ends, so that neighbours share a measure and the last one is the edge's own.
        begin = (1 - self.start) * first + self.start * last
        end = (1 - self.stop) * first + self.stop * last
        return [ids[edge] for edge in self.edge.tolist()], np.minimum(begin, end), np.maximum(begin, end)

    @property
    def is_backwards(self) -> BoolArray:
        """Whether the measure of the user's edge falls along the graph's edge, (n,)."""
        _, at_tail, at_head = _measures(self.network)
        return np.asarray((at_head < at_tail)[self.edge])

    def geometry(self, crs: Any = None) -> Any:
        """A shapely line for each piece, bends included, that runs with the measure."""
        shapely = require("shapely", extra="geo", purpose="lines of a map")
        graph = drawn_graph_of(self.network)
        row, corner = corners_within(graph.drawing, self.edge, self.start, self.stop)
        every = np.arange(len(self.edge))
        rows = np.concatenate([every, row, every])
        fraction = np.concatenate([self.start, graph.drawing.fractions[corner], self.stop])
        order = np.lexsort((np.where(self.is_backwards[rows], -fraction, fraction), rows))
        rows, fraction = rows[order], fraction[order]
        edge = self.edge[rows]
        points = Points(edge, fraction * graph.lengths[edge], graph=graph)
        return shapely.linestrings(coordinates_of(self.network, points, crs), indices=rows)


def graph_of(network: Network | MetricGraph) -> MetricGraph:
    """The graph of a network, or the graph itself."""
    return network if isinstance(network, MetricGraph) else network.graph


def drawn_graph_of(network: Network | MetricGraph) -> MetricGraph:
    """The graph, which must have coordinates."""
    graph = graph_of(network)
    if graph.dimension is None:
        raise NetworkError(
            f"a map needs coordinates, got {graph!r} without; pass positions= or curves= to the graph, or "
            "write a table (.csv)"
        )
    return graph


def crs_of(network: Network | MetricGraph) -> Any:
    """Coordinate system of the source; None if it is not known."""
    return network.crs if isinstance(network, MetricGraph) else network.report.crs


def coordinates_of(network: Network | MetricGraph, points: Points, crs: Any = None) -> FloatArray:
    """Coordinates in a coordinate system, by default that of the source."""
    graph = drawn_graph_of(network)
    if crs is not None and crs_of(network) is None:
        raise NetworkError(
            f"coordinates can be given in {crs!r:.60} only if their own system is known, got none; "
            "pass crs= where the network is read"
        )
    if isinstance(network, MetricGraph):
        return transform(graph.embed(points), graph.crs, crs)
    return network.coordinates(points, crs=crs)


def addresses_of(network: Network | MetricGraph, points: Points) -> tuple[list[Hashable], FloatArray]:
    """The user's edge id of each point, and its distance from the start of the user's edge."""
    bound = graph_of(network).bind(points)
    if isinstance(network, MetricGraph):
        return [network.edge_ids[edge] for edge in bound.edge.tolist()], bound.z
    row, measure = network.addresses.measure(bound.edge, bound.z)
    return [network.addresses.ids[link] for link in row.tolist()], measure


def _measures(network: Network | MetricGraph) -> tuple[list[Hashable], FloatArray, FloatArray]:
    """For each edge of the graph the user's id, and the measure at its tail and head."""
    if isinstance(network, MetricGraph):
        return list(network.edge_ids), np.zeros(network.n_edges), network.lengths
    return network.addresses.for_edges()
