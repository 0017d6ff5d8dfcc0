"""What a search between candidates has to know of the trials so far."""

from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from netbo.arrays import BoolArray, FloatArray, IntArray
from netbo.geometry import MetricGraph, Points, along_edges, place_vertices

RESOLUTION = 1e-6  # of an edge: nearer places are not told apart when the maximum is looked for


@dataclass(frozen=True, eq=False)
class Surroundings:
    """Places that matter between candidates: where scores have kinks, and where nobody may ask."""

    graph: MetricGraph
    known: Points  # measured or pending: scores have kinks or dips there
    closed: Points = field(default_factory=lambda: Points.at([]))  # not to be asked for again
    apart: Points = field(default_factory=lambda: Points.at([]))  # to keep a distance from, along the network
    radius: FloatArray = field(default_factory=lambda: np.zeros(0))  # that distance, for each of them

    def allows(self, x: Points) -> BoolArray:
        """Whether each point is none of the closed places and far enough from those to keep apart from."""
        is_free = ~self._is_closed(x)
        if len(self.apart) and len(x):
            is_free &= (self.graph.distance(self.apart, x) >= self.radius[:, None]).all(axis=0)
        return is_free

    def _is_closed(self, x: Points) -> BoolArray:
        slack = RESOLUTION * self.graph.lengths[x.edge]
        first = np.searchsorted(self._closed, along_edges(x.edge, x.z - slack), side="left")
        stop = np.searchsorted(self._closed, along_edges(x.edge, x.z + slack), side="right")
        return np.asarray(stop > first)

    @cached_property
    def _closed(self) -> NDArray[np.complex128]:
        """All addresses of the closed places, sorted: a vertex has one on every edge it meets."""
        graph, x = self.graph, self.graph.bind(self.closed)
        vertex = place_vertices(graph, x)
        inside, vertices = vertex < 0, vertex[vertex >= 0]
        starting, ending = (_edges_at(ends, vertices) for ends in (graph.tails, graph.heads))
        edge = np.concatenate([x.edge[inside], starting, ending])
        z = np.concatenate([x.z[inside], np.zeros(len(starting)), graph.lengths[ending]])
        return np.sort(along_edges(edge, z))


def _edges_at(ends: IntArray, vertices: IntArray) -> IntArray:
    return np.flatnonzero(np.isin(ends, vertices))
