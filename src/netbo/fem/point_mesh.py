"""Meshes whose nodes are wherever somebody measured or asked: cells of one edge differ."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property, partial
from typing import Any, Protocol

import numpy as np

from netbo.arrays import BoolArray, FloatArray, IntArray, read_only
from netbo.fem.space import Location
from netbo.geometry import MetricGraph, Points
from netbo.linalg import Topology, find_cells

SAME_NODE = 1e-12  # of the edge's length; points nearer to each other are one node


class Mesh(Protocol):
    """What the block system and its posteriors ask of a mesh."""

    @property
    def graph(self) -> MetricGraph:
        """The network."""

    @property
    def topology(self) -> Topology:
        """The mesh as the linear algebra sees it."""

    @property
    def cell_lengths(self) -> FloatArray:
        """Lengths of the cells: one for each edge whose cells are equal, else one for each cell."""

    @property
    def n_nodes(self) -> int:
        """Number of nodes."""

    @property
    def nodes(self) -> Points:
        """The nodes, vertices first."""

    @property
    def cell_ends(self) -> tuple[IntArray, IntArray, FloatArray]:
        """Left node, right node and length of every cell."""

    def locate(self, x: Points) -> Location:
        """Cell, end nodes and fraction of each point."""


@dataclass(frozen=True, eq=False)
class PointMesh:
    """Nodes at the vertices and at given places inside the edges, edge by edge in their order."""

    graph: MetricGraph
    edge: IntArray  # (n_interior,) of the interior nodes
    z: FloatArray  # (n_interior,)

    @classmethod
    def through(cls, graph: MetricGraph, *points: Points) -> "PointMesh":
        """The mesh with a node at every point; points nearer than 1e-12 of an edge become one."""
        bound = [graph.bind(x) for x in points]
        edge = np.concatenate([x.edge for x in bound]) if bound else np.empty(0, dtype=np.int64)
        z = np.concatenate([x.z for x in bound]) if bound else np.empty(0)
        slack = SAME_NODE * graph.lengths[edge]
        inside = (z > slack) & (z < graph.lengths[edge] - slack)
        edge, z = edge[inside], z[inside]
        order = np.lexsort((z, edge))
        edge, z = edge[order], z[order]
        is_new = _is_new_node(edge, z, SAME_NODE * graph.lengths[edge])
        return cls(graph, read_only(edge[is_new]), read_only(z[is_new]))

    def __reduce__(self) -> tuple[Callable[..., Any], tuple[MetricGraph, IntArray, FloatArray]]:
        return partial(_rebuilt, type(self)), (self.graph, self.edge, self.z)

    def __repr__(self) -> str:
        return f"PointMesh({self.n_nodes} nodes)"

    @cached_property
    def topology(self) -> Topology:
        """The mesh as the linear algebra sees it; the order of the vertices is the graph's own."""
        graph = self.graph
        counts = np.bincount(self.edge, minlength=graph.n_edges)
        topology = Topology(
            tails=graph.tails,
            heads=graph.heads,
            offsets=read_only(np.concatenate([[0], np.cumsum(counts)])),
            n_vertices=graph.n_vertices,
            is_even=False,
        )
        bare = bare_topology(graph)  # what belongs to the vertices alone is found once, and lent in turn
        topology.__dict__.update(pattern=bare.pattern, buffers=bare.buffers)
        return topology

    @property
    def n_nodes(self) -> int:
        """Vertices and interior nodes."""
        return self.topology.n_nodes

    @cached_property
    def nodes(self) -> Points:
        """The nodes: vertices first, then the interior ones of edge 0, edge 1, ..."""
        vertices = self.graph.vertex_points()
        return Points(np.r_[vertices.edge, self.edge], np.r_[vertices.z, self.z], graph=self.graph)

    @cached_property
    def _cells(self) -> tuple[IntArray, FloatArray, FloatArray]:
        """Edge, start and end of every cell."""
        offsets, n_edges = self.topology.offsets, self.graph.n_edges
        edge = np.repeat(np.arange(n_edges), np.diff(offsets) + 1)
        start, end = np.zeros(len(edge)), np.empty(len(edge))
        number = np.arange(len(self.edge)) + self.edge  # of the cell that ends at each interior node
        end[number], start[number + 1] = self.z, self.z
        last = offsets[1:] + np.arange(n_edges)
        end[last] = self.graph.lengths
        return edge, start, end

    @cached_property
    def cell_lengths(self) -> FloatArray:
        """Length of every cell, (n_cells,)."""
        _, start, end = self._cells
        return read_only(end - start)

    @cached_property
    def cell_ends(self) -> tuple[IntArray, IntArray, FloatArray]:
        """Left node, right node and length of every cell."""
        edge, _, _ = self._cells
        number = np.arange(len(edge))
        first, vertices = self.topology.offsets, self.graph.n_vertices
        position = number - first[edge] - edge
        interior = vertices + first[edge] + position
        left = np.where(position == 0, self.graph.tails[edge], interior - 1)
        is_last = position == first[edge + 1] - first[edge]
        return left, np.where(is_last, self.graph.heads[edge], interior), self.cell_lengths

    def locate(self, x: Points) -> Location:
        """Cell, end nodes and fraction of each point; at a node the fraction is 0 or 1 exactly."""
        known = self.graph.__dict__.get("_located")  # the latest alone: of a million points it is large
        if known is None or known[0] is not self or known[1] is not x:  # several models ask about the same
            known = self, x, self._locate(self._bound(x))
            self.graph.__dict__["_located"] = known
        location: Location = known[2]
        return location

    def _bound(self, x: Points) -> tuple[IntArray, FloatArray]:
        """Edges and places on this mesh's own network."""
        x = self.graph.bind(x)
        return x.edge, x.z

    def _locate(self, points: tuple[IntArray, FloatArray]) -> Location:
        lengths, offsets = self.graph.lengths, self.topology.offsets
        cell, fraction = find_cells(points, self.z, offsets, lengths, SAME_NODE)
        left, right, _ = self.cell_ends
        return Location(cell=cell, left=left[cell], right=right[cell], fraction=fraction)


# Networks whose junctions keep their arms apart: values may differ from arm to arm.


@dataclass(frozen=True, eq=False)
class WidenedMesh(PointMesh):
    """A mesh of the network with a piece of edge more between every junction and each of its arms.

    Points are those of the network itself: the end of an arm lies beyond the piece, so that two arms of a
    junction end two pieces apart.
    """

    before: FloatArray  # (E,) length of the piece at the tail of every edge

    @classmethod
    def between(cls, graph: MetricGraph, gap: float, *points: Points) -> "WidenedMesh":
        """The mesh with a node at every point of the network; gap: length of a piece."""
        wide, before = _widened(graph, gap)
        moved = (_moved(graph.bind(x), wide, before) for x in points)
        mesh = PointMesh.through(wide, *moved)
        return cls(wide, mesh.edge, mesh.z, before)

    def __reduce__(self) -> tuple[Callable[..., Any], tuple[Any, ...]]:
        return type(self), (self.graph, self.edge, self.z, self.before)

    def _bound(self, x: Points) -> tuple[IntArray, FloatArray]:
        if x.graph is self.graph:
            return x.edge, x.z
        if x.graph is None or x.graph.n_edges != self.graph.n_edges:
            x = _moved(x, self.graph, self.before)  # looks whether it has these edges
            return x.edge, x.z
        return x.edge, x.z + self.before[x.edge]


def _moved(x: Points, wide: MetricGraph, before: FloatArray) -> Points:
    return Points(x.edge, x.z + before[x.edge], graph=wide)


def _widened(graph: MetricGraph, gap: float) -> tuple[MetricGraph, FloatArray]:
    """The network with longer edges at junctions, kept with the graph, and what tails were given."""
    kept: dict[float, tuple[MetricGraph, FloatArray]] = graph.__dict__.setdefault("_widened", {})
    if gap not in kept:
        is_junction = graph.degrees > 2
        before, after = (read_only(gap * is_junction[ends]) for ends in (graph.tails, graph.heads))
        kept[gap] = MetricGraph(graph.tails, graph.heads, graph.lengths + before + after), before
    return kept[gap]


def bare_topology(graph: MetricGraph) -> Topology:
    """The vertices alone, one cell an edge; kept with the graph, since its symbolic work is."""
    known = graph.__dict__.get("_bare_topology")
    if known is None:
        offsets = np.zeros(graph.n_edges + 1, dtype=np.int64)
        known = Topology(
            tails=graph.tails, heads=graph.heads, offsets=read_only(offsets), n_vertices=graph.n_vertices
        )
        graph.__dict__["_bare_topology"] = known
    return known


def _is_new_node(edge: IntArray, z: FloatArray, slack: FloatArray) -> BoolArray:
    """Which of the sorted places are farther than the slack from the last one before them that is."""
    is_new = np.ones(len(edge), dtype=np.bool_)
    is_new[1:] = (np.diff(edge) != 0) | (np.diff(z) > slack[1:])
    number = np.arange(len(edge))
    while True:  # more than once only where a row of near places is longer than the slack
        last = np.maximum.accumulate(np.where(is_new, number, 0))
        is_far = z - z[last] > slack
        if not is_far.any():
            return is_new
        is_new[np.flatnonzero(is_far)[np.unique(last[is_far], return_index=True)[1]]] = True


def _rebuilt(kind: type[PointMesh], graph: MetricGraph, edge: IntArray, z: FloatArray) -> PointMesh:
    return kind(graph, read_only(edge), read_only(z))
