"""Where nobody may measure: whole edges and stretches of edges."""

import math
from collections.abc import Hashable, Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np

from netbo.arrays import BoolArray, sum_by
from netbo.errors import ParameterError, PointError
from netbo.geometry import PLACE_TOLERANCE, MetricGraph, Points, place_vertices
from netbo.optimize.intervals import Intervals


@dataclass(frozen=True, slots=True)
class Forbidden:
    """Edges by your ids, and stretches (edge id, from, to): closed, measured from the tail.

    A vertex can be reached along any edge that meets it, so it is forbidden only if every edge that meets it
    is forbidden there; a loop meets its vertex with both ends.

    >>> from netbo import star
    >>> graph = star(3)
    >>> forbidden = Forbidden(edges=[0], stretches=[(1, 0.2, 0.4)])
    >>> forbidden.allows(graph.points([0, 0, 1, 1], [0.0, 0.5, 0.2, 0.5]))
    array([ True, False, False,  True])
    """

    edges: Any = ()
    stretches: Iterable[tuple[Hashable, float, float]] = ()

    def __post_init__(self) -> None:
        is_one = isinstance(self.edges, str | bytes | tuple) or not isinstance(self.edges, Iterable)
        object.__setattr__(self, "edges", self.edges if is_one else tuple(self.edges))
        object.__setattr__(self, "stretches", tuple(_as_stretch(stretch) for stretch in self.stretches))

    @property
    def is_empty(self) -> bool:
        """Whether everything is allowed."""
        return self.edges == () and self.stretches == ()

    def intervals(self, graph: MetricGraph) -> Intervals:
        """All that is forbidden on the edges of a graph."""
        whole = [(edge, 0.0, float(graph.lengths[edge])) for edge in graph.edge_indices(self.edges).tolist()]
        return Intervals.union([*whole, *(_on_graph(stretch, graph) for stretch in self.stretches)])

    def allows(self, points: Points) -> BoolArray:
        """Whether each of the points, bound to their graph, may be measured."""
        graph = points.graph
        if graph is None:
            raise PointError("forbidden edges need a graph, got points without one; bind them first")
        if self.is_empty:
            return np.ones(len(points), dtype=np.bool_)
        intervals = self.intervals(graph)
        every = np.arange(graph.n_edges)
        is_open = [~intervals.contain(every, z, graph) for z in (np.zeros(graph.n_edges), graph.lengths)]
        ends = np.concatenate([graph.tails, graph.heads])
        open_ends = sum_by(ends, np.concatenate(is_open).astype(np.float64), graph.n_vertices)
        vertex = place_vertices(graph, points)
        is_inside_allowed = ~intervals.contain(points.edge, points.z, graph)
        return np.where(vertex >= 0, open_ends[vertex] > 0, is_inside_allowed)


def _as_stretch(stretch: Any) -> tuple[Hashable, float, float]:
    try:
        edge_id, start, end = stretch
        start, end = float(start), float(end)
    except (TypeError, ValueError) as cause:
        raise ParameterError(
            f"a stretch must be (edge id, from, to), got {stretch!r:.60}; distances are from the tail"
        ) from cause
    if not (0 <= start <= end < math.inf):
        raise ParameterError(
            f"a stretch must run from 0 or more upwards, got {start} to {end} on edge {edge_id!r}; "
            "measure both ends from the tail"
        )
    return edge_id, start, end


def _on_graph(stretch: tuple[Hashable, float, float], graph: MetricGraph) -> tuple[int, float, float]:
    edge_id, start, end = stretch
    edge = int(graph.edge_indices([edge_id])[0])
    length = float(graph.lengths[edge])
    if end > length * (1 + PLACE_TOLERANCE):
        raise ParameterError(
            f"a stretch must lie within its edge, got {start} to {end} on edge {edge_id!r} of length "
            f"{length}; distances are in the unit of the graph"
        )
    return edge, min(start, length), min(end, length)
