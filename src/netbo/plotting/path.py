"""The shortest way from one place of a network to another, as a route."""

import numpy as np
from scipy.sparse.csgraph import dijkstra

from netbo.arrays import IntArray
from netbo.errors import PointError
from netbo.geometry import MetricGraph, Points
from netbo.plotting.route import Route


def shortest_route(graph: MetricGraph, start: Points, end: Points) -> Route:
    """The route of length graph.distance(start, end) between two places."""
    x, y = _as_place(graph, start, "start"), _as_place(graph, end, "end")
    (edge, z), (other, w) = ((int(at.edge[0]), float(at.z[0])) for at in (x, y))
    exits = _ends(graph, edge, z)
    entries = _ends(graph, other, w)
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
        return _walk(graph, [(edge, z, w)])
    if not np.isfinite(length):
        raise PointError(
            f"a path needs two places of one component, got edge {graph.edge_ids[edge]!r} and edge "
            f"{graph.edge_ids[other]!r}, which no edges join; see graph.components"
        )
    vertices = _vertices(before[i], exits[i][0], entries[j][0])
    between = [(each, *_directed(graph, each, tail)) for each, tail in _edges(graph, vertices)]
    return _walk(graph, [(edge, z, exits[i][1]), *between, (other, entries[j][1], w)])


def _as_place(graph: MetricGraph, place: Points, name: str) -> Points:
    if not isinstance(place, Points) or len(place) != 1:
        raise PointError(
            f"a path needs one place as its {name}, got {place!r:.60}; "
            "pass graph.points(edge_id, distance), or Points.at(point)"
        )
    return graph.bind(place)


def _ends(graph: MetricGraph, edge: int, z: float) -> list[tuple[int, float, float]]:
    """Vertex, its distance along the edge and its distance from the place, for both ends of the edge."""
    length = float(graph.lengths[edge])
    return [(int(graph.tails[edge]), 0.0, z), (int(graph.heads[edge]), length, length - z)]


def _vertices(before: IntArray, first: int, last: int) -> IntArray:
    """Vertices of a path, by going back from its end."""
    path = [last]
    while path[-1] != first:
        path.append(int(before[path[-1]]))
    return np.array(path[::-1])


def _edges(graph: MetricGraph, vertices: IntArray) -> list[tuple[int, int]]:
    """The shortest edge between each two neighbours on a path, and the vertex at which it is entered."""
    n = graph.n_vertices
    low, high = np.minimum(graph.tails, graph.heads), np.maximum(graph.tails, graph.heads)
    keys = low * n + high
    order = np.lexsort((graph.lengths, keys))
    wanted = np.minimum(vertices[:-1], vertices[1:]) * n + np.maximum(vertices[:-1], vertices[1:])
    found = order[np.searchsorted(keys[order], wanted)]
    return list(zip(found.tolist(), vertices[:-1].tolist(), strict=True))


def _directed(graph: MetricGraph, edge: int, first: int) -> tuple[float, float]:
    length = float(graph.lengths[edge])
    return (0.0, length) if graph.tails[edge] == first else (length, 0.0)


def _walk(graph: MetricGraph, steps: list[tuple[int, float, float]]) -> Route:
    """A route of steps (edge, from, to), without those of no length."""
    taken = [step for step in steps if step[1] != step[2]]
    if not taken:
        raise PointError(
            f"a path needs two different places, got edge {graph.edge_ids[steps[0][0]]!r}, {steps[0][1]:.6g} "
            "twice; pass another end"
        )
    edges, entered, left = zip(*taken, strict=True)
    return Route(graph, np.array(edges, dtype=np.int64), np.array(entered), np.array(left))
