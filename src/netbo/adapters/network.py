"""A network as its owner knows it: the graph, a report on it, and the owner's addresses."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from netbo.adapters.addresses import Address, Addresses
from netbo.adapters.assembly.projection import transform
from netbo.adapters.report import NetworkReport
from netbo.arrays import BoolArray, FloatArray, IntArray, as_float_vector, row_starts
from netbo.errors import PointError
from netbo.geometry import MetricGraph, Point, Points
from netbo.geometry.identifiers import counted


@dataclass(frozen=True, eq=False)
class Network:
    """A network as its owner knows it; `graph, report = network` unpacks it; maximize and Optimizer take it.

    graph: drawn in a metric coordinate system (`graph.crs`); a link that was cut in several is there as
        edges (id, 0), (id, 1), ...
    report: what was found and what was done, to be read before trust; print it.
    addresses: which stretch of which link each edge is.
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

        Measured along the whole link also where it was cut into pieces, from its tail or from the end named
        by `start`. Other ids of a link (the second direction of a street) measure from their own tail.
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
        """Your address of each point: link id, distance and fraction from its tail or the end `start`."""
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

        crs: coordinate system of the places, by default that of the source. Distances and `limit` are in the
        unit of the map: metres once projected.
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
        """Coordinates of points, (n, 2 or 3), by default in the coordinate system of the source."""
        places = self.graph.embed(self._bound(points))
        return transform(places, self.graph.crs, self.report.crs if crs is None else crs)

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
