"""Distances and shortest paths between points anywhere on the edges, adjacency of vertices, the diameter."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from scipy.sparse import csr_array
from scipy.sparse.csgraph import connected_components, dijkstra

from netbo.arrays import FloatArray, IntArray, SparseMatrix
from netbo.errors import PointError
from netbo.geometry.points import Points, along_edges

if TYPE_CHECKING:
    from netbo.geometry.graph import MetricGraph


MAX_ENTRIES = 10_000_000  # of an array of distances held at once: 80 MB
AT_A_VERTEX = -1  # stands for the edge of a source that is a vertex


def between(graph: MetricGraph, x: Points, y: Points, limit: float = np.inf) -> FloatArray:
    """Distances (n, m) of bound points: one search for each distinct point of the smaller side.

    limit: of paths that matter; longer distances may be inf.
    """
    if len(y) < len(x):
        return np.ascontiguousarray(between(graph, y, x, limit).T)
    vertex, edge, z, inverse = _distinct_sources(graph, x)
    block = max(1, MAX_ENTRIES // (graph.n_vertices + len(y)))
    rows = [
        _from_sources(graph, vertex[part], edge[part], z[part], y, limit)
        for part in (slice(start, start + block) for start in range(0, len(vertex), block))
    ]
    return np.concatenate(rows)[inverse] if rows else np.empty((0, len(y)))


def to_nearest(graph: MetricGraph, x: Points, y: Points) -> FloatArray:
    """Distance of each bound point y from the nearest of x, (m,): one search for all of them."""
    vertex, edge, z, _ = _distinct_sources(graph, x)
    links, nodes = _sources(graph, vertex, edge, z)
    reach = dijkstra(links, directed=True, indices=nodes, min_only=True)
    nearest = np.minimum(
        reach[graph.tails[y.edge]] + y.z, reach[graph.heads[y.edge]] + (graph.lengths[y.edge] - y.z)
    )
    is_inside = edge != AT_A_VERTEX
    if is_inside.any():
        edge, z = edge[is_inside], z[is_inside]  # edge by edge, in order
        after = np.searchsorted(along_edges(edge, z), along_edges(y.edge, y.z))
        for beside in (np.maximum(after - 1, 0), np.minimum(after, len(edge) - 1)):
            gap = np.where(edge[beside] == y.edge, np.abs(z[beside] - y.z), np.inf)
            nearest = np.minimum(nearest, gap)
    return np.asarray(nearest)


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
    graph: MetricGraph, vertex: IntArray, edge: IntArray, z: FloatArray, y: Points, limit: float
) -> FloatArray:
    """Distances from distinct sources to all points y; those beyond the limit may be inf."""
    links, nodes = _sources(graph, vertex, edge, z)
    reach = dijkstra(links, directed=True, indices=nodes, limit=limit)  # (n_sources, n_vertices + n_inside)
    paths, by_head = reach[:, graph.tails[y.edge]], reach[:, graph.heads[y.edge]]
    paths += y.z
    by_head += graph.lengths[y.edge] - y.z
    np.minimum(paths, by_head, out=paths)
    source, target = np.nonzero(edge[:, None] == y.edge)
    paths[source, target] = np.minimum(paths[source, target], np.abs(z[source] - y.z[target]))
    return np.asarray(paths)


def _sources(
    graph: MetricGraph, vertex: IntArray, edge: IntArray, z: FloatArray
) -> tuple[SparseMatrix, IntArray]:
    """Links with sources, and the number of each source in them."""
    is_inside = edge != AT_A_VERTEX
    nodes = vertex.copy()
    nodes[is_inside] = graph.n_vertices + np.arange(np.count_nonzero(is_inside))
    return _with_sources(graph, edge[is_inside], z[is_inside]), nodes


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


# The shortest path itself, edge by edge.


def shortest_path(graph: MetricGraph, start: Points, end: Points) -> tuple[IntArray, FloatArray, FloatArray]:
    """Edges of a shortest path, and the distances from their tails at which it enters and leaves them.

    Its length is graph.distance(start, end). Each array has one entry an edge, (k,).
    """
    x, y = _as_end(graph, start, "start"), _as_end(graph, end, "end")
    (edge, z), (other, w) = ((int(at.edge[0]), float(at.z[0])) for at in (x, y))
    exits, entries = _edge_ends(graph, edge, z), _edge_ends(graph, other, w)
    reach, before = dijkstra(
        graph.links, directed=True, indices=[vertex for vertex, _, _ in exits], return_predecessors=True
    )
    ways = [
        (out + reach[i, vertex] + into, i, j)
        for i, (_, _, out) in enumerate(exits)
        for j, (vertex, _, into) in enumerate(entries)
    ]
    length, i, j = min(ways)
    if edge == other and abs(z - w) <= length:
        return _as_steps(graph, [(edge, z, w)])
    if not np.isfinite(length):
        raise PointError(
            f"a path needs two places of one component, got edge {graph.edge_ids[edge]!r} and edge "
            f"{graph.edge_ids[other]!r}, which no edges join; see graph.components"
        )
    inner = _edges_between(graph, _backtrack(before[i], exits[i][0], entries[j][0]))
    return _as_steps(graph, [(edge, z, exits[i][1]), *inner, (other, entries[j][1], w)])


def _as_end(graph: MetricGraph, point: Points, name: str) -> Points:
    if not isinstance(point, Points) or len(point) != 1:
        raise PointError(
            f"a path needs one place as its {name}, got {point!r:.60}; "
            "pass graph.points(edge_id, distance), or Points.at(point)"
        )
    return graph.bind(point)


def _edge_ends(graph: MetricGraph, edge: int, z: float) -> list[tuple[int, float, float]]:
    """Vertex, its distance along the edge and its distance from the point, for both ends of the edge."""
    length = float(graph.lengths[edge])
    return [(int(graph.tails[edge]), 0.0, z), (int(graph.heads[edge]), length, length - z)]


def _backtrack(before: IntArray, first: int, last: int) -> IntArray:
    """Vertices of a path from its predecessors."""
    path = [last]
    while path[-1] != first:
        path.append(int(before[path[-1]]))
    return np.array(path[::-1])


def _edges_between(graph: MetricGraph, vertices: IntArray) -> list[tuple[int, float, float]]:
    """The shortest edge between each two neighbours on a path, from the one to the other."""
    low, high = np.minimum(graph.tails, graph.heads), np.maximum(graph.tails, graph.heads)
    keys = low * graph.n_vertices + high
    order = np.lexsort((graph.lengths, keys))
    first, second = vertices[:-1], vertices[1:]
    wanted = np.minimum(first, second) * graph.n_vertices + np.maximum(first, second)
    found = order[np.searchsorted(keys[order], wanted)]
    is_forward, lengths = graph.tails[found] == first, graph.lengths[found]
    entered, left = np.where(is_forward, 0.0, lengths), np.where(is_forward, lengths, 0.0)
    return list(zip(found.tolist(), entered.tolist(), left.tolist(), strict=True))


def _as_steps(
    graph: MetricGraph, steps: list[tuple[int, float, float]]
) -> tuple[IntArray, FloatArray, FloatArray]:
    """Steps (edge, from, to) as arrays, without those of no length."""
    taken = [step for step in steps if step[1] != step[2]]
    if not taken:
        raise PointError(
            f"a path needs two different places, got edge {graph.edge_ids[steps[0][0]]!r}, {steps[0][1]:.6g} "
            "twice; pass another end"
        )
    edges, entered, left = zip(*taken, strict=True)
    return np.array(edges, dtype=np.int64), np.array(entered), np.array(left)


# The largest distance between two points of a component, edges included.

MAX_EXACT_VERTICES = 2000  # all their pairs take 32 MB; both memory and time grow with the square
MAX_SWEEPS = 32  # searches from one point each; later ones rarely raise the bound
MAX_BLOCK = 2_000_000  # pairs of edges handled at once: 16 MB an array


def continuous_diameter(graph: MetricGraph) -> float:
    """Largest distance between two points of the component of largest total length.

    Exact up to 2,000 vertices in that component. Above, the best of several sweeps from a point to its
    farthest point: a lower bound, at least half of the diameter.
    """
    component = graph.subgraph(largest_component(graph)) if graph.n_components > 1 else graph
    if component.n_vertices <= MAX_EXACT_VERTICES:
        return _exact(component)
    return _swept(component)


def largest_component(graph: MetricGraph) -> int:
    """Label of the component with the largest total length."""
    return int(np.argmax(np.bincount(graph.components[graph.tails], graph.lengths)))


def _exact(graph: MetricGraph) -> float:
    """Branch and bound over edges, the promising ones first.

    No point of edge (a, b) is farther from anything than (r_a + r_b + length) / 2, where r_v is the distance
    from the vertex v to the point farthest from it; so few edges are compared with all others.
    """
    tails, heads, lengths = graph.tails, graph.heads, graph.lengths
    between = dijkstra(graph.links, directed=False)
    radius = _vertex_radii(between, graph)
    bound = (radius[tails] + radius[heads] + lengths) / 2
    order = np.argsort(-bound)
    best, block = float(radius.max()), max(1, MAX_BLOCK // graph.n_edges)
    for start in range(0, graph.n_edges, block):
        edges = order[start : start + block]
        edges = edges[bound[edges] > best]
        if not edges.size:
            break
        best = max(best, float(_farthest_pairs(edges, between, graph).max()))
    return best


def _vertex_radii(between: FloatArray, graph: MetricGraph) -> FloatArray:
    """Distance from each vertex to its farthest point: max over edges of (d_tail + d_head + length) / 2."""
    block = max(1, MAX_BLOCK // graph.n_edges)
    radii = [
        (rows[:, graph.tails] + rows[:, graph.heads] + graph.lengths).max(axis=1) / 2
        for rows in np.split(between, range(block, graph.n_vertices, block))
    ]
    return np.concatenate(radii)


def _farthest_pairs(edges: IntArray, between: FloatArray, graph: MetricGraph) -> FloatArray:
    """Largest distance between a point of each given edge and a point of each edge, (n, n_edges).

    With e = (a, b) and f = (c, d) it is min(d_ac + d_bd, d_ad + d_bc) / 2 + (L_e + L_f) / 2, and (L_e + d_ab)
    / 2 if e and f are one edge. The point where both averages are attained lies on the edges since |d_ac -
    d_bc| <= L_e.
    """
    to_a, to_b = between[graph.tails[edges]], between[graph.heads[edges]]
    crossing = np.minimum(
        to_a[:, graph.tails] + to_b[:, graph.heads],
        to_a[:, graph.heads] + to_b[:, graph.tails],
    )
    pairs = (crossing + graph.lengths[edges, None] + graph.lengths) / 2
    own = between[graph.tails[edges], graph.heads[edges]]
    pairs[np.arange(len(edges)), edges] = (graph.lengths[edges] + own) / 2
    return np.asarray(pairs)


def _swept(graph: MetricGraph) -> float:
    """Longest way from a point to its farthest point, from few points.

    The next source is the farthest point if it improved the bound, else the vertex that may still lie
    farthest from something: after a search from s with radius r, no point is farther from v than r + d(s, v).
    """
    edge, z, best = 0, 0.0, 0.0
    ceiling = np.full(graph.n_vertices, np.inf)
    for _ in range(MAX_SWEEPS):
        reach = _distances_to_vertices(graph, edge, z)
        radius, far_edge, far_z = _farthest_point(graph, edge, z, reach)
        ceiling = np.minimum(ceiling, radius + reach)
        if radius > best:
            best, edge, z = radius, far_edge, far_z
            continue
        promising = int(np.argmax(ceiling))
        if ceiling[promising] <= best:
            break
        start = graph.vertex_points([promising])
        edge, z = int(start.edge[0]), float(start.z[0])
    return best


def _distances_to_vertices(graph: MetricGraph, edge: int, z: float) -> FloatArray:
    ends = [graph.tails[edge], graph.heads[edge]]
    from_tail, from_head = dijkstra(graph.links, directed=False, indices=ends)
    return np.asarray(np.minimum(z + from_tail, graph.lengths[edge] - z + from_head))


def _farthest_point(graph: MetricGraph, edge: int, z: float, reach: FloatArray) -> tuple[float, int, float]:
    """Distance, edge and place of the point farthest from (edge, z); `reach` is its distance to vertices."""
    to_tail, to_head = reach[graph.tails], reach[graph.heads]
    farthest = (to_tail + to_head + graph.lengths) / 2
    place = (to_head - to_tail + graph.lengths) / 2
    # Within its own edge the source cuts off both sides: each is an edge from the source to an end.
    sides = (to_tail[edge] + z) / 2, (to_head[edge] + graph.lengths[edge] - z) / 2
    farthest[edge] = max(sides)
    place[edge] = z - sides[0] if sides[0] >= sides[1] else z + sides[1]
    edge = int(np.argmax(farthest))
    return float(farthest[edge]), edge, float(np.clip(place[edge], 0.0, graph.lengths[edge]))


# Vertices joined by their shortest edge, as scipy's graph routines want them.


def shortest_links(tails: IntArray, heads: IntArray, lengths: FloatArray, n_vertices: int) -> SparseMatrix:
    """Symmetric (n_vertices, n_vertices) lengths between neighbours.

    A sparse constructor would add up parallel edges, so only the shortest of them goes in. Loops shorten no
    path.
    """
    is_link = tails != heads
    low = np.minimum(tails, heads)[is_link]
    high = np.maximum(tails, heads)[is_link]
    weight = lengths[is_link]
    order = np.lexsort((weight, high, low))
    low, high, weight = low[order], high[order], weight[order]
    is_first = np.ones(len(low), dtype=np.bool_)
    is_first[1:] = (np.diff(low) != 0) | (np.diff(high) != 0)
    low, high, weight = low[is_first], high[is_first], weight[is_first]
    rows, columns = np.concatenate([low, high]), np.concatenate([high, low])
    return csr_array((np.tile(weight, 2), (rows, columns)), shape=(n_vertices, n_vertices))


def component_labels(links: SparseMatrix) -> IntArray:
    """Component of every vertex, counted from 0 in the order of the vertices."""
    return np.asarray(connected_components(links, directed=False)[1], dtype=np.int64)
