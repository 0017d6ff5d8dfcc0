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
    """Edges in the order in which they are walked, and where on the axis each begins."""

    graph: MetricGraph
    edges: IntArray  # (k,)
    is_reversed: BoolArray  # (k,) whether the edge is walked from its head to its tail
    starts: FloatArray  # (k + 1,) on the axis; the last is the total length

    @property
    def first_vertices(self) -> IntArray:
        """Vertex at which each edge is entered, (k,)."""
        return np.where(self.is_reversed, self.graph.heads[self.edges], self.graph.tails[self.edges])

    @property
    def last_vertices(self) -> IntArray:
        """Vertex at which each edge is left, (k,)."""
        return np.where(self.is_reversed, self.graph.tails[self.edges], self.graph.heads[self.edges])

    @property
    def is_joined(self) -> BoolArray:
        """Whether each edge but the last is left where the next is entered, (k - 1,)."""
        return np.asarray(self.last_vertices[:-1] == self.first_vertices[1:])

    def sample(self, samples: int) -> tuple[IntArray, FloatArray, Points]:
        """Row of the route, place on the axis and point of an even sampling with both ends of every edge."""
        lengths = self.graph.lengths[self.edges]
        row, fraction = even_fractions(lengths, samples)
        along = np.where(self.is_reversed[row], 1 - fraction, fraction) * lengths[row]
        return (
            row,
            self.starts[row] + fraction * lengths[row],
            Points(self.edges[row], along, graph=self.graph),
        )

    def place(self, points: Points) -> tuple[IntArray, FloatArray]:
        """Indices of points and their places on the axis; a vertex may have several, others none."""
        graph, x = self.graph, self.graph.bind(points)
        lengths = graph.lengths[x.edge]
        vertex = np.where(x.z == 0, graph.tails[x.edge], np.where(x.z == lengths, graph.heads[x.edge], -1))
        inside, row = np.nonzero((x.edge[:, None] == self.edges) & (vertex[:, None] < 0))
        along = np.where(self.is_reversed[row], lengths[inside] - x.z[inside], x.z[inside])
        entered, first = np.nonzero(vertex[:, None] == self.first_vertices)
        left, last = np.nonzero(vertex[:, None] == self.last_vertices)
        index = np.concatenate([inside, entered, left])
        place = np.concatenate([self.starts[row] + along, self.starts[first], self.starts[last + 1]])
        pairs = np.unique(np.stack([index, place], axis=1), axis=0)  # joined edges share their vertex
        return pairs[:, 0].astype(np.int64), pairs[:, 1]


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
    starts = np.concatenate([[0.0], np.cumsum(graph.lengths[edges])])
    return Route(graph, edges, np.array(turned), starts)
