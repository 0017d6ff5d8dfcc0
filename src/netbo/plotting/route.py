"""Edges laid end to end, so that what happens along them can be drawn over one axis."""

from collections.abc import Hashable, Sequence
from dataclasses import dataclass

import numpy as np

from netbo.arrays import BoolArray, FloatArray, IntArray
from netbo.errors import ParameterError
from netbo.geometry import MetricGraph, Points
from netbo.plotting.pieces import even_fractions


@dataclass(frozen=True, slots=True, eq=False)
class Route:
    """Edges, whole or in part, in the order in which they are walked."""

    graph: MetricGraph
    edges: IntArray  # (k,)
    entered: FloatArray  # (k,) distance from the tail at which each edge is entered,
    left: FloatArray  # (k,) and at which it is left

    @property
    def is_reversed(self) -> BoolArray:
        """Whether each edge is walked towards its tail, (k,)."""
        return np.asarray(self.left < self.entered)

    @property
    def starts(self) -> FloatArray:
        """Where on the axis each edge begins, and at the end the total length, (k + 1,)."""
        return np.concatenate([[0.0], np.cumsum(np.abs(self.left - self.entered))])

    @property
    def first_vertices(self) -> IntArray:
        """Vertex at which each edge is entered, (k,); -1 where it is entered between its ends."""
        return self._vertices(self.entered)

    @property
    def last_vertices(self) -> IntArray:
        """Vertex at which each edge is left, (k,); -1 where it is left between its ends."""
        return self._vertices(self.left)

    @property
    def is_joined(self) -> BoolArray:
        """Whether each edge but the last is left where the next is entered, (k - 1,)."""
        return np.asarray(self.last_vertices[:-1] == self.first_vertices[1:])

    def sample(self, samples: int) -> tuple[IntArray, FloatArray, Points]:
        """Row of the route, place on the axis and point of an even sampling with both ends of every edge."""
        steps = self.left - self.entered
        row, fraction = even_fractions(np.abs(steps), samples)
        # From either end to the middle: both ends are then met exactly.
        along = (1 - fraction) * self.entered[row] + fraction * self.left[row]
        place = self.starts[row] + fraction * np.abs(steps[row])
        return row, place, Points(self.edges[row], along, graph=self.graph)

    def place(self, points: Points) -> tuple[IntArray, FloatArray]:
        """Indices of points and their places on the axis; a vertex may have several, others none."""
        graph, x, starts = self.graph, self.graph.bind(points), self.starts
        lengths = graph.lengths[x.edge]
        vertex = np.where(x.z == 0, graph.tails[x.edge], np.where(x.z == lengths, graph.heads[x.edge], -1))
        low, high = np.minimum(self.entered, self.left), np.maximum(self.entered, self.left)
        z = x.z[:, None]
        inside, row = np.nonzero(
            (x.edge[:, None] == self.edges) & (vertex[:, None] < 0) & (low <= z) & (z <= high)
        )
        along = np.abs(x.z[inside] - self.entered[row])
        at_vertex = np.where(vertex < 0, -2, vertex)[:, None]  # a route's own -1 is no vertex either
        entered, first = np.nonzero(at_vertex == self.first_vertices)
        left, last = np.nonzero(at_vertex == self.last_vertices)
        index = np.concatenate([inside, entered, left])
        place = np.concatenate([starts[row] + along, starts[first], starts[last + 1]])
        pairs = np.unique(np.stack([index, place], axis=1), axis=0)  # joined edges share their vertex
        return pairs[:, 0].astype(np.int64), pairs[:, 1]

    def _vertices(self, distance: FloatArray) -> IntArray:
        graph, edges = self.graph, self.edges
        at_tail, at_head = distance == 0, distance == graph.lengths[edges]
        return np.where(at_tail, graph.tails[edges], np.where(at_head, graph.heads[edges], -1))


def lay_out(graph: MetricGraph, edge_ids: Sequence[Hashable] | None) -> Route:
    """The edges named, or all, one after another, each turned so that it goes on where the last one ended."""
    edges = np.arange(graph.n_edges) if edge_ids is None else graph.edge_indices(list(edge_ids))
    if not len(edges):
        raise ParameterError("a profile needs at least one edge, got none; leave edges out to draw all")
    tails, heads = graph.tails[edges], graph.heads[edges]
    following = {tails[1].item(), heads[1].item()} if len(edges) > 1 else set()
    turned = [heads[0].item() not in following and tails[0].item() in following]
    end = tails[0] if turned[0] else heads[0]
    for tail, head in zip(tails[1:], heads[1:], strict=True):
        turned.append(bool(head == end and tail != end))
        end = tail if turned[-1] else head
    lengths, is_turned = graph.lengths[edges], np.array(turned)
    return Route(graph, edges, np.where(is_turned, lengths, 0.0), np.where(is_turned, 0.0, lengths))
