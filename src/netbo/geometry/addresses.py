"""Addresses: the user's edge id and distance of a point, also where an edge was cut, joined or shrunk."""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from netbo.arrays import (
    BoolArray,
    FloatArray,
    IntArray,
    last_not_above,
    ranges,
    read_only,
    row_starts,
    rows_of,
)
from netbo.errors import GraphError, PointError
from netbo.geometry.identifiers import Ids, indices_of, pick
from netbo.geometry.points import VERTEX_TOLERANCE

if TYPE_CHECKING:
    from netbo.geometry.graph import MetricGraph
    from netbo.geometry.transforms import Stretches

COVER_TOLERANCE = 1e-9  # relative to the edge: chains of many edges are sums, and sums round
COLUMNS = ("lengths", "starts", "begin", "end", "edge", "z_begin", "z_end")


@dataclass(frozen=True, slots=True)
class Address:
    """A point in the user's words: an edge id and a distance or fraction from the end `start`."""

    edge_id: Hashable
    distance: float
    fraction: float
    start: Hashable


@dataclass(frozen=True, slots=True, eq=False)
class Sections:
    """Every edge of the graph from tail to head, as parts of the links by which it is addressed."""

    starts: IntArray  # (n_edges + 1,): the sections of edge e are starts[e] .. starts[e + 1] - 1
    low: FloatArray  # distance from the tail at which each begins
    high: FloatArray
    piece: IntArray  # of the table


@dataclass(frozen=True, eq=False)
class Addresses:
    """Where each of the user's links lies on the graph: one piece, several if it was cut, or a single point.

    Piece p of a link runs from `begin[p]` to `end[p]` along the link, and from `z_begin[p]` to `z_end[p]`
    along the graph's edge `edge[p]`; between them both grow in proportion. A link that was contracted has one
    piece with z_begin = z_end. The pieces of link r are starts[r] .. starts[r + 1] - 1, in order; a part of a
    link that no piece covers is no longer on the network.
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
        for name in COLUMNS:
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

    def __contains__(self, edge_id: Hashable) -> bool:
        return edge_id in self._codes

    @cached_property
    def ends(self) -> Mapping[Hashable, int]:
        """2 x link of the first link that begins at each name, plus one if it is its head."""
        found: dict[Hashable, int] = {}
        for row, names in enumerate(zip(self.tails, self.heads, strict=True)):
            for is_head, name in enumerate(names):
                found.setdefault(name, 2 * row + is_head)
        return found

    @cached_property
    def _rows(self) -> IntArray:
        """Link of each piece."""
        return rows_of(self.starts)

    @cached_property
    def sections(self) -> Sections:
        """The parts by which edges are addressed; where several links lie together, the first one."""
        pieces = np.flatnonzero(self.z_begin != self.z_end)
        edge, low = self.edge[pieces], np.minimum(self.z_begin, self.z_end)[pieces]
        order = np.lexsort((pieces, low, edge))
        edge, low, pieces = edge[order], low[order], pieces[order]
        is_first = np.ones(len(edge), dtype=np.bool_)
        is_first[1:] = (np.diff(edge) != 0) | (np.diff(low) > 0)
        edge, low, pieces = edge[is_first], low[is_first], pieces[is_first]
        n_edges = int(self.edge.max()) + 1 if len(self.edge) else 0
        return Sections(
            starts=row_starts(np.bincount(edge, minlength=n_edges)),
            low=low,
            high=np.maximum(self.z_begin, self.z_end)[pieces],
            piece=pieces,
        )

    def are_own(self, graph: MetricGraph) -> bool:
        """Whether they are the graph's own edges, each as a whole under its own name."""
        own = Addresses.of_graph(graph)
        columns = ((getattr(self, name), getattr(own, name)) for name in COLUMNS)
        names = ((getattr(self, name), getattr(own, name)) for name in ("ids", "tails", "heads"))
        return (
            not self.aliases
            and all(np.array_equal(*pair) for pair in columns)
            and all(list(ours) == list(theirs) for ours, theirs in names)
        )

    def require_covers(self, lengths: FloatArray) -> None:
        """Refuse a table that does not lead to every place of edges of these lengths."""
        n_edges, found = len(lengths), self.sections
        if self.edge.min() < 0 or len(found.starts) != n_edges + 1 or (np.diff(found.starts) == 0).any():
            raise GraphError(
                f"addresses must lead to {n_edges} edges, got a table of {len(np.unique(self.edge))}; "
                "pass addresses=None to call edges by their own ids"
            )
        first, last = found.starts[:-1], found.starts[1:] - 1
        slack = COVER_TOLERANCE * lengths
        off = (np.abs(found.low[first]) > slack) | (np.abs(found.high[last] - lengths) > slack)
        if off.any():
            edge = int(np.flatnonzero(off)[0])
            raise GraphError(
                f"addresses must cover every edge, got {found.low[first[edge]]:g} to "
                f"{found.high[last[edge]]:g} of {lengths[edge]:g} on edge {edge}; pass addresses=None to "
                "call edges by their own ids"
            )

    def for_edges(self) -> tuple[list[Hashable], FloatArray, FloatArray]:
        """For each section of the graph the user's id, and the user's measure at its two ends."""
        piece = self.sections.piece
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
        self._require(
            (measure >= -slack) & (measure <= self.lengths[row] + slack),
            row,
            measure,
            "measure from its named end, in the unit of the graph",
        )
        piece = last_not_above(self.begin, self.starts[row], self.starts[row + 1] - 1, measure)
        self._require(
            (measure >= self.begin[piece] - slack) & (measure <= self.end[piece] + slack),
            row,
            measure,
            "this part of it is not on the network any more",
        )
        extent = self.end[piece] - self.begin[piece]
        share = (measure - self.begin[piece]) / np.where(extent > 0, extent, 1.0)
        # A whole link keeps its digits: z is the measure itself where both have the same scale.
        is_plain = (self.z_end[piece] - self.z_begin[piece]) == extent
        scaled = self.z_begin[piece] + np.clip(share, 0.0, 1.0) * (self.z_end[piece] - self.z_begin[piece])
        z = np.where(is_plain, self.z_begin[piece] + (measure - self.begin[piece]), scaled)
        low = np.minimum(self.z_begin[piece], self.z_end[piece])
        high = np.maximum(self.z_begin[piece], self.z_end[piece])
        return self.edge[piece], np.clip(z, low, high)

    def _require(self, is_good: BoolArray, row: IntArray, measure: FloatArray, remedy: str) -> None:
        off = np.flatnonzero(~is_good)
        if off.size:
            first = off[0]
            raise PointError(
                f"distances must lie within the edge, got {measure[first]} on edge {self.ids[row[first]]!r} "
                f"of length {self.lengths[row[first]]}; {remedy}"
            )

    def measure(self, edge: IntArray, z: FloatArray) -> tuple[IntArray, FloatArray]:
        """Link of each point of the graph, and the measure from the link's tail."""
        found = self.sections
        piece = found.piece[last_not_above(found.low, found.starts[edge], found.starts[edge + 1] - 1, z)]
        return self._rows[piece], self._measure_on(piece, z)

    def _measure_on(self, piece: IntArray, z: FloatArray) -> FloatArray:
        extent = self.z_end[piece] - self.z_begin[piece]
        span = self.end[piece] - self.begin[piece]
        along = z - self.z_begin[piece]
        safe = np.where(extent == 0, 1.0, extent)
        measure = self.begin[piece] + np.where(extent == span, along, along / safe * span)
        return np.clip(measure, self.begin[piece], self.end[piece])

    def intervals(
        self, row: IntArray, start: FloatArray, end: FloatArray
    ) -> tuple[IntArray, IntArray, FloatArray, FloatArray]:
        """Intervals (stretch, edge, from, to) of the graph on which stretches of links lie."""
        counts = np.diff(self.starts)[row]
        piece, asked = ranges(self.starts[row], counts), np.repeat(np.arange(len(row)), counts)
        first = np.maximum(self.begin[piece], start[asked])
        last = np.minimum(self.end[piece], end[asked])
        is_met = last >= first
        piece, asked, first, last = piece[is_met], asked[is_met], first[is_met], last[is_met]
        span = self.end[piece] - self.begin[piece]
        extent = self.z_end[piece] - self.z_begin[piece]
        scale = np.where(extent == span, 1.0, extent / np.where(span > 0, span, 1.0))
        ends = [self.z_begin[piece] + scale * (at - self.begin[piece]) for at in (first, last)]
        return asked, self.edge[piece], np.minimum(*ends), np.maximum(*ends)

    def stretches(
        self, edge: IntArray, start: FloatArray, end: FloatArray
    ) -> tuple[IntArray, IntArray, FloatArray, FloatArray]:
        """Stretches (interval, link, from, to) of links that intervals of the graph are, sections apart."""
        found = self.sections
        first = last_not_above(found.low, found.starts[edge], found.starts[edge + 1] - 1, start)
        last = last_not_above(found.low, found.starts[edge], found.starts[edge + 1] - 1, end)
        counts = last - first + 1
        section, interval = ranges(first, counts), np.repeat(np.arange(len(edge)), counts)
        low = np.maximum(found.low[section], start[interval])
        high = np.minimum(found.high[section], end[interval])
        # The end of an interval is the beginning of the next section, which has nothing else of it.
        is_met = (high > low) | (section == first[interval])
        section, interval = section[is_met], interval[is_met]
        low, high = low[is_met], np.maximum(low, high)[is_met]
        piece = found.piece[section]
        begin, stop = self._measure_on(piece, low), self._measure_on(piece, high)
        return interval, self._rows[piece], np.minimum(begin, stop), np.maximum(begin, stop)

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

    # Tables of changed graphs.

    def with_edges_of(self, graph: MetricGraph) -> Addresses:
        """The table, and after it the edges of the graph by their own ids where no link has that name."""
        extra = np.array(
            [edge for edge, name in enumerate(graph.edge_ids) if name not in self], dtype=np.int64
        )
        if not extra.size:
            return self
        whole = Addresses.of_graph(graph)
        counts = np.concatenate([np.diff(self.starts), np.ones(len(extra), dtype=np.int64)])
        return Addresses(
            ids=[*self.ids, *pick(whole.ids, extra)],
            tails=[*self.tails, *pick(whole.tails, extra)],
            heads=[*self.heads, *pick(whole.heads, extra)],
            starts=row_starts(counts),
            aliases=self.aliases,
            **{
                name: np.concatenate([getattr(self, name), getattr(whole, name)[extra]])
                for name in COLUMNS
                if name != "starts"
            },
        )

    def moved(self, stretches: Stretches, lengths: FloatArray) -> Addresses:
        """The table after the edges of the graph went where the stretches say, to edges of these lengths."""
        first, counts = stretches.starts[self.edge], np.diff(stretches.starts)[self.edge]
        low, high = np.minimum(self.z_begin, self.z_end), np.maximum(self.z_begin, self.z_end)
        piece, part = np.repeat(np.arange(len(self.edge)), counts), ranges(first, counts)
        whole = self.sections.high[self.sections.starts[1:] - 1]  # length of each edge
        stop = np.append(stretches.begin[1:], 0.0)
        stop[stretches.starts[1:] - 1] = whole
        lower = np.maximum(low[piece], stretches.begin[part])
        upper = np.minimum(high[piece], stop[part])
        home = last_not_above(stretches.begin, first, first + counts - 1, low)
        # What rounding leaves of a piece beyond a cut is no piece of its own.
        sliver = np.minimum(VERTEX_TOLERANCE * whole[self.edge], (high - low) / 2)[piece]
        kept = np.where((low == high)[piece], part == home[piece], upper - lower > sliver)
        piece, part, lower, upper = piece[kept], part[kept], lower[kept], upper[kept]
        is_forward = self.z_begin[piece] <= self.z_end[piece]
        entering, leaving = np.where(is_forward, lower, upper), np.where(is_forward, upper, lower)
        begin = np.where(
            entering == self.z_begin[piece], self.begin[piece], self._measure_on(piece, entering)
        )
        end = np.where(leaving == self.z_end[piece], self.end[piece], self._measure_on(piece, leaving))
        edge = stretches.edge[part]
        z_begin, z_end = (
            np.clip(
                stretches.offset[part] + stretches.sign[part] * (at - stretches.begin[part]),
                0.0,
                lengths[edge],
            )
            for at in (entering, leaving)
        )
        order = np.lexsort((begin, self._rows[piece]))
        return self._with(
            self._rows[piece][order], begin[order], end[order], edge[order], z_begin[order], z_end[order]
        )

    def restricted(self, is_kept: BoolArray) -> Addresses:
        """The table of the graph of some edges."""
        chosen = np.flatnonzero(is_kept[self.edge])
        number = np.cumsum(is_kept) - 1
        edge = number[self.edge[chosen]]
        return self._with(
            self._rows[chosen], self.begin[chosen], self.end[chosen], edge, self.z_begin[chosen],
            self.z_end[chosen],
        )  # fmt: skip

    def _with(
        self,
        link: IntArray,
        begin: FloatArray,
        end: FloatArray,
        edge: IntArray,
        z_begin: FloatArray,
        z_end: FloatArray,
    ) -> Addresses:
        """The same links in other pieces; those without one are left out."""
        rows, counts = np.unique(link, return_counts=True)
        ids = pick(self.ids, rows)
        known = set(ids)
        return Addresses(
            ids=ids,
            lengths=self.lengths[rows],
            tails=pick(self.tails, rows),
            heads=pick(self.heads, rows),
            starts=row_starts(counts),
            begin=begin,
            end=end,
            edge=edge,
            z_begin=z_begin,
            z_end=z_end,
            aliases={name: target for name, target in self.aliases.items() if target[0] in known},
        )
