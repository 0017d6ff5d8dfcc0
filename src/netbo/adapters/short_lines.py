"""A network cut into short lines with the measures of their ends, as maps of other programs want them."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from netbo.adapters.network import Network
from netbo.adapters.projection import transform
from netbo.arrays import BoolArray, FloatArray, IntArray, ranges, rows_of
from netbo.errors import NetworkError
from netbo.geometry import MetricGraph, Points
from netbo.geometry.places import corners_within
from netbo.optional import require

USUAL_PIECES = 2000  # of a whole network, about; at least one an edge


@dataclass(frozen=True, eq=False)
class ShortLines:
    """Parts of the sections of edges, between shares of them, that cover the network once."""

    network: Network | MetricGraph
    section: IntArray  # (n,) of the network's addresses: an edge, unless several were joined to it
    first: FloatArray  # (n,) shares of the section
    last: FloatArray  # (n,)

    @classmethod
    def cut(cls, network: Network | MetricGraph, max_piece: float | None = None) -> ShortLines:
        """Even pieces of every edge, none longer than max_piece, by default about 2,000 in all.

        An edge that several of the user's edges were joined to is cut where one ends and the next begins.
        """
        graph = graph_of(network)
        longest = graph.total_length / USUAL_PIECES if max_piece is None else max_piece
        if not longest > 0:
            raise NetworkError(
                f"max_piece must be a positive length, got {max_piece}; leave it out for about "
                f"{USUAL_PIECES} pieces"
            )
        sections = graph.address_table.sections
        counts = np.maximum(np.ceil((sections.high - sections.low) / longest), 1).astype(np.int64)
        section = np.repeat(np.arange(len(counts)), counts)
        number = ranges(np.zeros(len(counts), dtype=np.int64), counts)
        return cls(network, section, number / counts[section], (number + 1) / counts[section])

    @property
    def graph(self) -> MetricGraph:
        """The network's graph."""
        return graph_of(self.network)

    @cached_property
    def edge(self) -> IntArray:
        """The graph's edge of each piece, (n,)."""
        return rows_of(self.graph.address_table.sections.starts)[self.section]

    @cached_property
    def start(self) -> FloatArray:
        """Share of the graph's edge before each piece, (n,)."""
        return self._share_of_edge(self.first)

    @cached_property
    def stop(self) -> FloatArray:
        """Share of the graph's edge before the end of each piece, (n,)."""
        return self._share_of_edge(self.last)

    def _share_of_edge(self, share: FloatArray) -> FloatArray:
        sections, lengths = self.graph.address_table.sections, self.graph.lengths[self.edge]
        low, high = sections.low[self.section] / lengths, sections.high[self.section] / lengths
        return (1 - share) * low + share * high

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
        ids, at_low, at_high = self.graph.address_table.for_edges()
        low, high = at_low[self.section], at_high[self.section]
        # Weighted ends, so that neighbours share a measure and the last one is the edge's own.
        begin = (1 - self.first) * low + self.first * high
        end = (1 - self.last) * low + self.last * high
        return [ids[each] for each in self.section.tolist()], np.minimum(begin, end), np.maximum(begin, end)

    @property
    def is_backwards(self) -> BoolArray:
        """Whether the measure of the user's edge falls along the graph's edge, (n,)."""
        _, at_low, at_high = self.graph.address_table.for_edges()
        return np.asarray((at_high < at_low)[self.section])

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
    return graph_of(network).address(points)[:2]
