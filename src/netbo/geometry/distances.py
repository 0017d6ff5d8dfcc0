"""Shortest paths between points that lie anywhere on the edges."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from scipy.sparse import csr_array
from scipy.sparse.csgraph import dijkstra

from netbo.arrays import FloatArray, IntArray, SparseMatrix

if TYPE_CHECKING:
    from netbo.geometry.graph import MetricGraph
    from netbo.geometry.points import Points

MAX_ENTRIES = 10_000_000  # of an array of distances held at once: 80 MB
AT_A_VERTEX = -1  # stands for the edge of a source that is a vertex


def between(graph: MetricGraph, x: Points, y: Points) -> FloatArray:
    """Distances (n, m) of bound points: one search for each distinct point of the smaller side."""
    if len(y) < len(x):
        return np.ascontiguousarray(between(graph, y, x).T)
    vertex, edge, z, inverse = _distinct_sources(graph, x)
    block = max(1, MAX_ENTRIES // (graph.n_vertices + len(y)))
    rows = [
        _from_sources(graph, vertex[part], edge[part], z[part], y)
        for part in (slice(start, start + block) for start in range(0, len(vertex), block))
    ]
    return np.concatenate(rows)[inverse] if rows else np.empty((0, len(y)))


def vertices_at(graph: MetricGraph, x: Points) -> IntArray:
    """Vertex at which each point lies, -1 for points inside an edge."""
    is_head = x.z == graph.lengths[x.edge]
    vertex = np.where(is_head, graph.heads[x.edge], graph.tails[x.edge])
    return np.where(is_head | (x.z == 0), vertex, -1)


def _distinct_sources(graph: MetricGraph, x: Points) -> tuple[IntArray, IntArray, FloatArray, IntArray]:
    """Vertex (or -1), edge and z of the distinct points, and which of them each point is."""
    vertex = vertices_at(graph, x)
    edge, z = np.where(vertex >= 0, AT_A_VERTEX, x.edge), np.where(vertex >= 0, 0.0, x.z)
    order = np.lexsort((z, edge, vertex))
    is_new = np.ones(len(x), dtype=np.bool_)
    is_new[1:] = np.any([np.diff(column[order]) != 0 for column in (vertex, edge, z)], axis=0)
    inverse = np.empty(len(x), dtype=np.int64)
    inverse[order] = np.cumsum(is_new) - 1
    first = order[is_new]
    return vertex[first], edge[first], z[first], inverse


def _from_sources(
    graph: MetricGraph, vertex: IntArray, edge: IntArray, z: FloatArray, y: Points
) -> FloatArray:
    """Distances from distinct sources to all points y."""
    is_inside = edge != AT_A_VERTEX
    nodes = vertex.copy()
    nodes[is_inside] = graph.n_vertices + np.arange(np.count_nonzero(is_inside))
    links = _with_sources(graph, edge[is_inside], z[is_inside])
    reach = dijkstra(links, directed=True, indices=nodes)  # (n_sources, n_vertices + n_inside)
    paths = np.minimum(
        reach[:, graph.tails[y.edge]] + y.z,
        reach[:, graph.heads[y.edge]] + (graph.lengths[y.edge] - y.z),
    )
    source, target = np.nonzero(edge[:, None] == y.edge)
    paths[source, target] = np.minimum(paths[source, target], np.abs(z[source] - y.z[target]))
    return np.asarray(paths)


def _with_sources(graph: MetricGraph, edge: IntArray, z: FloatArray) -> SparseMatrix:
    """Links of the vertices, and below them one row for each source inside an edge, to both ends of the edge.

    Nothing leads back to a source, so that no path runs through one. Sources at vertices are the vertices: a
    link of weight zero would mean no link to csgraph.
    """
    tail, head, to_head = graph.tails[edge], graph.heads[edge], graph.lengths[edge] - z
    is_loop = tail == head
    to_tail = np.where(is_loop, np.minimum(z, to_head), z)
    entries = np.stack([to_tail, to_head], axis=1)
    columns = np.stack([tail, head], axis=1)
    is_kept = np.stack([np.ones_like(is_loop), ~is_loop], axis=1)  # a loop has one end, its nearer one
    links = graph.links
    size = graph.n_vertices + len(edge)
    pointers = links.indptr[-1] + np.cumsum(is_kept.sum(axis=1))
    return csr_array(
        (
            np.concatenate([links.data, entries[is_kept]]),
            np.concatenate([links.indices, columns[is_kept]]),
            np.concatenate([links.indptr, pointers]),
        ),
        shape=(size, size),
    )
