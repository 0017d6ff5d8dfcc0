"""Network: a metric graph, the report on it, and the addresses of points in the user's own ids."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from netbo.adapters.diagnostics import inspect_graph, warnings_of
from netbo.adapters.projection import decimals_of, transform
from netbo.adapters.proximity import find_duplicates
from netbo.adapters.report import NetworkReport
from netbo.arrays import (
    BoolArray,
    FloatArray,
    IntArray,
    as_float_vector,
    last_not_above,
    read_only,
    row_starts,
    rows_of,
)
from netbo.errors import PointError
from netbo.geometry import VERTEX_TOLERANCE, MetricGraph, Point, Points
from netbo.geometry.identifiers import Ids, indices_of, pick
from netbo.wording import counted

# The user's address of a point, an own edge id and a distance from an end, and its place on the graph.


@dataclass(frozen=True, slots=True)
class Address:
    """A point in the user's words: an edge id and a distance or fraction from the end `start`."""

    edge_id: Hashable
    distance: float
    fraction: float
    start: Hashable


@dataclass(frozen=True, eq=False)
class Addresses:
    """Where each of the user's links lies on the graph: one piece, several if it was cut, or a single point.

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


@dataclass(frozen=True, eq=False)
class Network:
    """A network as its owner knows it; `maximize`, `Optimizer` and `Study` take it.

    Made by `netbo.read` and the readers, or by `as_network` from a graph; `graph, report = network` unpacks
    it.

    Parameters
    ----------
    graph : MetricGraph
        Drawn in a metric coordinate system (`graph.crs`); a link that was cut in several is there as edges
        (id, 0), (id, 1), ...
    report : NetworkReport
        What was found and what was done, to be read before trust; print it.
    addresses : Addresses
        Which interval of which link each edge is.

    Examples
    --------
    >>> import netbo
    >>> network = as_network(netbo.star(3))
    >>> network
    Network(MetricGraph(4 vertices, 3 edges, total length 3, 1 component))
    >>> network.address(network.points(2, fraction=0.25))[0].distance
    0.25
    """

    graph: MetricGraph
    report: NetworkReport
    addresses: Addresses

    def __iter__(self) -> Iterator[Any]:
        yield self.graph
        yield self.report

    def __repr__(self) -> str:
        warned = (
            f", {counted(len(self.report.warnings), 'warning')} in .report" if self.report.warnings else ""
        )
        return f"Network({self.graph!r}{warned})"

    def points(
        self,
        edge_ids: Any,
        distance: ArrayLike | None = None,
        *,
        fraction: ArrayLike | None = None,
        start: Any = None,
    ) -> Points:
        """Points at a distance along your links, or at a fraction (0 to 1) of them.

        Measured along the whole link also where it was cut into pieces. Other ids of a link (the second
        direction of a street) measure from their own tail.

        Parameters
        ----------
        edge_ids : hashable or sequence
            Your ids, one or several; one is repeated as needed.
        distance, fraction : array_like
            Exactly one of them.
        start : hashable or sequence, optional
            The end from which it counts, by default the tail.

        Returns
        -------
        Points
            Bound to the graph.

        Raises
        ------
        PointError
            If an id is unknown or a distance lies beyond its link.
        """
        row, is_reversed = self._table.find(edge_ids)
        given = [value for value in (distance, fraction) if value is not None]
        if len(given) != 1:
            raise PointError(
                f"a point needs distance or fraction, got {len(given)} of them; pass exactly one"
            )
        along = as_float_vector(given[0], "distances or fractions along edges", PointError)
        if len(row) != len(along) and 1 not in (len(row), len(along)):
            raise PointError(
                f"edge ids and places along them must match, got {len(row)} and {len(along)}; "
                "give one place per edge id"
            )
        row, is_reversed, along = np.broadcast_arrays(row, is_reversed, along)
        from_head = self._from_head(row, is_reversed, start)
        length = self._table.lengths[row]
        measure = along if fraction is None else along * length
        edge, z = self._table.locate(row, np.where(from_head, length - measure, measure))
        return Points(edge, z, graph=self.graph)

    def address(self, points: Points | Point | Iterable[Point], *, start: Any = None) -> list[Address]:
        """Your address of each point.

        Parameters
        ----------
        points : Points, Point or iterable of Point
            Points of the graph.
        start : hashable or sequence, optional
            The end from which distances count, by default the tail.

        Returns
        -------
        list of Address
            Link id, distance and fraction, and the end from which they count.
        """
        bound = self._bound(points)
        row, measure = self.addresses.measure(bound.edge, bound.z)
        from_head = self._from_head(row, np.zeros(len(row), dtype=np.bool_), start)
        length = self.addresses.lengths[row]
        distance = np.where(from_head, length - measure, measure)
        names = self.addresses
        return [
            Address(names.ids[link], along, share, names.heads[link] if flipped else names.tails[link])
            for link, along, share, flipped in zip(
                row.tolist(), distance.tolist(), (distance / length).tolist(), from_head.tolist(), strict=True
            )
        ]

    def locate(
        self, xy: ArrayLike, *, crs: Any = None, limit: float | None = None
    ) -> tuple[Points, FloatArray]:
        """Points of the network nearest to places, and how far off it the places lie.

        Parameters
        ----------
        xy : array_like
            Coordinates, (n, 2).
        crs : optional
            Their coordinate system, by default that of the source.
        limit : float, optional
            Farthest a place may lie off, in the unit of the map: metres once projected.

        Returns
        -------
        points : Points
            Bound to the graph.
        off : ndarray
            Distances in the unit of the map, (n,).

        Raises
        ------
        PointError
            If a place lies beyond the limit.
        """
        source = self.report.crs if crs is None else crs
        if source is None or self.graph.crs is None:
            return self.graph.nearest(xy, limit)
        places = np.atleast_2d(np.asarray(xy, dtype=np.float64))
        if places.ndim != 2 or places.shape[1] != 2:
            raise PointError(
                f"places on a map must have shape (n, 2), got {places.shape}; give x and y of each"
            )
        return self.graph.nearest(transform(places, source, self.graph.crs), limit)

    def coordinates(self, points: Points | Point | Iterable[Point], *, crs: Any = None) -> FloatArray:
        """Coordinates of points.

        Parameters
        ----------
        points : Points, Point or iterable of Point
            Points of the graph.
        crs : optional
            Coordinate system of the answer, by default that of the source.

        Returns
        -------
        ndarray
            (n, 2 or 3).
        """
        places = self.graph.embed(self._bound(points))
        return transform(places, self.graph.crs, self.report.crs if crs is None else crs)

    @cached_property
    def decimals(self) -> int | None:
        """Decimals of `coordinates` that tell centimetres apart; None where nobody knows their unit."""
        return decimals_of(self.report.crs)

    def _bound(self, points: Points | Point | Iterable[Point]) -> Points:
        return self.graph.bind(points if isinstance(points, Points) else Points.at(points))

    def _from_head(self, row: IntArray, is_reversed: BoolArray, start: Any) -> BoolArray:
        """Whether distances count from the head of the link."""
        if start is None:
            return is_reversed
        return self._table.from_head(row, is_reversed, start)

    @cached_property
    def _table(self) -> Addresses:
        """The addresses, and after them the pieces of cut links by the graph's own ids."""
        known = self.addresses
        owned = known.for_edges()[0]
        extra = np.array(
            [edge for edge, name in enumerate(self.graph.edge_ids) if name != owned[edge]], dtype=np.int64
        )
        if not extra.size:
            return known
        whole = Addresses.of_graph(self.graph)
        counts = np.concatenate([np.diff(known.starts), np.ones(len(extra), dtype=np.int64)])
        return Addresses(
            ids=[*known.ids, *(whole.ids[edge] for edge in extra.tolist())],
            tails=[*known.tails, *(whole.tails[edge] for edge in extra.tolist())],
            heads=[*known.heads, *(whole.heads[edge] for edge in extra.tolist())],
            starts=row_starts(counts),
            aliases=known.aliases,
            **{
                name: np.concatenate([getattr(known, name), getattr(whole, name)[extra]])
                for name in ("lengths", "begin", "end", "edge", "z_begin", "z_end")
            },
        )


# A bare graph as a network: its own ids are its addresses.


def as_network(graph: Network | MetricGraph, *, gap_tolerance: float | None = None) -> Network:
    """The network itself, or a graph with a report and its own ids as addresses."""
    if isinstance(graph, Network):
        return graph
    drawing = None if graph.dimension is None else graph.drawing
    duplicates = find_duplicates(graph.tails, graph.heads, graph.lengths, drawing)
    crs = graph.crs if graph.crs is None or isinstance(graph.crs, str) else graph.crs.to_string()
    report = NetworkReport(
        source="a graph",
        n_links=graph.n_edges,
        duplicates=duplicates.named(graph.edge_ids),
        crs=crs,
        crs_name=crs,
        projection=crs,
        projection_name=crs,
        **inspect_graph(graph, graph.n_vertices, gap_tolerance),
    )
    return Network(graph, replace(report, warnings=warnings_of(report)), Addresses.of_graph(graph))
