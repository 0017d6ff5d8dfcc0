"""The user's address of a point, an own edge id and a distance from an end, and its place on the graph."""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np

from netbo.arrays import BoolArray, FloatArray, IntArray, last_not_above, read_only, rows_of
from netbo.errors import PointError
from netbo.geometry import VERTEX_TOLERANCE, MetricGraph
from netbo.geometry.identifiers import Ids, indices_of, pick


@dataclass(frozen=True, slots=True)
class Address:
    """A place in the words of the network's owner: so far along this edge, measured from the end `start`."""

    edge_id: Hashable
    distance: float
    fraction: float
    start: Hashable


@dataclass(frozen=True, eq=False)
class Addresses:
    """Where each of the user's links lies on the graph: one piece, several if it was cut, or a mere place.

    Piece p of a link runs from `begin[p]` to `end[p]` along the link, and from `z_begin[p]` to `z_end[p]`
    along the graph's edge `edge[p]`; between them both grow in proportion. A link that was contracted has one
    piece with z_begin = z_end. The pieces of link r are starts[r] .. starts[r + 1] - 1, in order.
    """

    ids: Ids
    lengths: FloatArray  # of the whole links
    tails: Ids  # the user's names of the ends
    heads: Ids
    starts: IntArray
    begin: FloatArray
    end: FloatArray
    edge: IntArray
    z_begin: FloatArray
    z_end: FloatArray
    aliases: Mapping[Hashable, tuple[Hashable, bool]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        for name in ("lengths", "starts", "begin", "end", "edge", "z_begin", "z_end"):
            read_only(getattr(self, name))

    @classmethod
    def of_graph(cls, graph: MetricGraph) -> Addresses:
        """Every edge of a graph by its own id, as a whole."""
        zeros = np.zeros(graph.n_edges)
        return cls(
            ids=graph.edge_ids,
            lengths=graph.lengths.copy(),
            tails=pick(graph.vertex_ids, graph.tails),
            heads=pick(graph.vertex_ids, graph.heads),
            starts=np.arange(graph.n_edges + 1),
            begin=zeros,
            end=graph.lengths.copy(),
            edge=np.arange(graph.n_edges),
            z_begin=zeros.copy(),
            z_end=graph.lengths.copy(),
        )

    def __len__(self) -> int:
        return len(self.ids)

    @cached_property
    def _codes(self) -> Mapping[Hashable, int]:
        """2 x link, plus one for an id that runs backwards."""
        own = {name: 2 * row for row, name in enumerate(self.ids)}
        return own | {
            alias: own[target] + is_reversed
            for alias, (target, is_reversed) in self.aliases.items()
            if target in own
        }

    @cached_property
    def _rows(self) -> IntArray:
        """Link of each piece."""
        return rows_of(self.starts)

    @cached_property
    def owners(self) -> IntArray:
        """For each edge of the graph the piece by which it is addressed: the first one with an extent."""
        pieces = np.flatnonzero(self.z_begin != self.z_end)
        edges, first = np.unique(self.edge[pieces], return_index=True)
        owners = np.full(int(self.edge.max()) + 1, -1, dtype=np.int64)
        owners[edges] = pieces[first]
        return owners

    def for_edges(self) -> tuple[list[Hashable], FloatArray, FloatArray]:
        """For each edge of the graph the user's id, and the measure along the user's link at its two ends."""
        piece = self.owners
        is_forward = self.z_begin[piece] <= self.z_end[piece]
        begin, end = self.begin[piece], self.end[piece]
        ids: list[Hashable] = pick(self.ids, self._rows[piece])
        return ids, np.where(is_forward, begin, end), np.where(is_forward, end, begin)

    def find(self, edge_ids: Any) -> tuple[IntArray, BoolArray]:
        """Link of each id, and whether the id runs backwards along it."""
        codes = indices_of(edge_ids, self._codes, "edge", PointError)
        return codes // 2, codes % 2 == 1

    def locate(self, row: IntArray, measure: FloatArray) -> tuple[IntArray, FloatArray]:
        """Edge of the graph and distance from its tail, of measures from the tails of links."""
        slack = VERTEX_TOLERANCE * self.lengths[row]
        off = np.flatnonzero(~((measure >= -slack) & (measure <= self.lengths[row] + slack)))
        if off.size:
            first = off[0]
            raise PointError(
                f"distances must lie within the edge, got {measure[first]} on edge {self.ids[row[first]]!r} "
                f"of length {self.lengths[row[first]]}; measure from its named end, in the unit of the graph"
            )
        piece = last_not_above(self.begin, self.starts[row], self.starts[row + 1] - 1, measure)
        extent = self.end[piece] - self.begin[piece]
        share = (measure - self.begin[piece]) / np.where(extent > 0, extent, 1.0)
        # A whole link keeps its digits: z is the measure itself where both have the same scale.
        is_plain = (self.z_end[piece] - self.z_begin[piece]) == extent
        scaled = self.z_begin[piece] + np.clip(share, 0.0, 1.0) * (self.z_end[piece] - self.z_begin[piece])
        z = np.where(is_plain, self.z_begin[piece] + (measure - self.begin[piece]), scaled)
        low = np.minimum(self.z_begin[piece], self.z_end[piece])
        high = np.maximum(self.z_begin[piece], self.z_end[piece])
        return self.edge[piece], np.clip(z, low, high)

    def measure(self, edge: IntArray, z: FloatArray) -> tuple[IntArray, FloatArray]:
        """Link of each point of the graph, and the measure from the link's tail."""
        piece = self.owners[edge]
        extent = self.z_end[piece] - self.z_begin[piece]
        span = self.end[piece] - self.begin[piece]
        along = z - self.z_begin[piece]
        measure = self.begin[piece] + np.where(extent == span, along, along / extent * span)
        row = self._rows[piece]
        return row, np.clip(measure, 0.0, self.lengths[row])

    def from_head(self, row: IntArray, is_reversed: BoolArray, start: Any) -> BoolArray:
        """Whether `start`, one end's name or one per link, is the head of the link.

        Where both ends are one vertex the name says nothing, and the id's own direction decides.
        """
        names = [start] * len(row) if self._is_one_end(start) else list(start)
        if len(names) != len(row):
            raise PointError(f"start must name {len(row)} ends, got {len(names)}; give one per point, or one")
        flags = is_reversed.copy()
        for number, (link, name) in enumerate(zip(row.tolist(), names, strict=True)):
            tail, head = self.tails[link], self.heads[link]
            if name not in (tail, head):
                raise PointError(
                    f"start must be an end of edge {self.ids[link]!r}, got {name!r}; "
                    f"it runs from {tail!r} to {head!r}"
                )
            if tail != head:
                flags[number] = name == head
        return flags

    def _is_one_end(self, start: Any) -> bool:
        """Whether start is one name: no collection, or a tuple that is itself the name of an end."""
        if isinstance(start, str | bytes) or not hasattr(start, "__len__"):
            return True
        return isinstance(start, tuple) and (start in self.tails or start in self.heads)
