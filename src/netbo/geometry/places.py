"""Which points are the same place, where edges bend, random points, and places as people give them."""

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

from netbo.arrays import BoolArray, FloatArray, IntArray, ranges, rows_of
from netbo.checks import explained, is_number
from netbo.errors import ParameterError, PointError, shown
from netbo.geometry import distances
from netbo.geometry.curves import Curves
from netbo.geometry.graph import MetricGraph
from netbo.geometry.points import Point, Points, along_edges

PLACE_TOLERANCE = 1e-9  # relative to the edge; points nearer to each other along it are one place


def place_vertices(graph: MetricGraph, x: Points) -> IntArray:
    """Vertex at which each point lies, up to the tolerance; -1 for points inside an edge."""
    x = graph.bind(x)
    lengths = graph.lengths[x.edge]
    slack = PLACE_TOLERANCE * lengths
    is_head = x.z >= lengths - slack
    vertex = np.where(is_head, graph.heads[x.edge], graph.tails[x.edge])
    return np.where(is_head | (x.z <= slack), vertex, -1)


def place_keys(graph: MetricGraph, x: Points) -> tuple[IntArray, FloatArray]:
    """Edge and distance of each point, a vertex always by the same edge and exactly at its end.

    >>> from netbo import star
    >>> graph = star(3)
    >>> place_keys(graph, graph.points([0, 1, 2, 2], [0.0, 0.0, 1e-10, 0.5]))
    (array([0, 0, 0, 2]), array([0. , 0. , 0. , 0.5]))
    """
    x = graph.bind(x)
    vertex = place_vertices(graph, x)
    is_vertex = vertex >= 0
    named = graph.vertex_points(vertex[is_vertex])
    edge, z = x.edge.copy(), x.z.copy()
    edge[is_vertex], z[is_vertex] = named.edge, named.z
    return edge, z


def distinct_places(graph: MetricGraph, x: Points) -> IntArray:
    """Index of the first point at each place, increasing."""
    edge, z = place_keys(graph, x)
    order = np.lexsort((z, edge))  # stable: points of one address stay in their order
    is_new = np.ones(len(order), dtype=np.bool_)
    gap = np.diff(z[order])
    is_new[1:] = (np.diff(edge[order]) != 0) | (gap > PLACE_TOLERANCE * graph.lengths[edge[order][1:]])
    group = np.cumsum(is_new) - 1
    first = np.full(np.count_nonzero(is_new), len(order), dtype=np.int64)
    np.minimum.at(first, group, order)
    return np.sort(first)


@dataclass(frozen=True, eq=False)
class PlaceIndex:
    """Finds which of many candidates lie at given places; they are sorted once.

    >>> from netbo import star
    >>> graph = star(3)
    >>> index = PlaceIndex(graph, graph.points([0, 1, 2, 2], [0.5, 0.0, 0.0, 0.5]))
    >>> index.find(graph.points([0, 2], [0.0, 0.5]))
    [array([1, 2]), array([3])]
    """

    graph: MetricGraph
    candidates: Points

    @cached_property
    def _sorted(self) -> tuple[NDArray[np.complex128], IntArray]:
        edge, z = place_keys(self.graph, self.candidates)
        order = np.lexsort((z, edge))
        return along_edges(edge, z)[order], order

    def _ranges(self, x: Points) -> tuple[IntArray, IntArray]:
        """First and one beyond the last sorted candidate at each place."""
        edge, z = place_keys(self.graph, x)
        slack = PLACE_TOLERANCE * self.graph.lengths[edge]
        keys = self._sorted[0]
        first = np.searchsorted(keys, along_edges(edge, z - slack), side="left")
        stop = np.searchsorted(keys, along_edges(edge, z + slack), side="right")
        return first, stop

    def find(self, x: Points) -> list[IntArray]:
        """Indices of the candidates at the place of each point, increasing; empty where there is none."""
        order = self._sorted[1]
        first, stop = self._ranges(x)
        return [np.sort(order[a:b]) for a, b in zip(first.tolist(), stop.tolist(), strict=True)]

    def mask(self, x: Points) -> BoolArray:
        """Whether each candidate lies at the place of any of the points, (n_candidates,)."""
        order = self._sorted[1]
        first, stop = self._ranges(x)
        n = len(order)
        opened = np.bincount(first, minlength=n + 1) - np.bincount(stop, minlength=n + 1)
        is_found = np.empty(n, dtype=np.bool_)
        is_found[order] = np.cumsum(opened)[:n] > 0
        return is_found


# Random points of a network.


@explained
def uniform_points(graph: MetricGraph, n: int, rng: Generator) -> Points:
    """Independent points, n of them, uniform in length.

    Parameters
    ----------
    graph : MetricGraph
        The network.
    n : int
        How many.
    rng : numpy.random.Generator
        Source of randomness.

    Returns
    -------
    Points
        Bound to the graph; long edges have more of them.

    Raises
    ------
    ParameterError
        If n is negative.

    Examples
    --------
    >>> from netbo import star
    >>> len(uniform_points(star(3), 100, np.random.default_rng(0)))
    100
    """
    if n < 0:
        raise ParameterError(f"n counts points, got {n}; ask for 0 or more")
    edge = rng.choice(graph.n_edges, size=n, p=graph.lengths / graph.total_length)
    # The place is drawn apart from the edge: one number for both would leave a short edge only its last
    # digits.
    return Points(edge, rng.random(n) * graph.lengths[edge], graph=graph)


# Where another place would bring the network nearest.

SAMPLED = 1_000  # points that stand for the network
SHORTLIST = 16, 128  # candidates compared, fewer on a network of many edges:
LINKS = 200_000  # edges in all that are searched for shortest paths from them


def mean_distances(
    graph: MetricGraph, candidates: Points, known: Points, eligible: IntArray, rng: Generator
) -> tuple[IntArray, FloatArray]:
    """Some eligible candidates, and how far the network is on average from each and the known places.

    They are random, uniform in length, and so are the points that stand for the network. Components without
    a place count as two diameters away.
    """
    n = int(np.clip(LINKS // graph.n_edges, *SHORTLIST))
    if len(eligible) > n:
        edge = candidates.edge[eligible]
        share = graph.lengths[edge] / np.bincount(edge, minlength=graph.n_edges)[edge]
        eligible = rng.choice(eligible, n, replace=False, p=share / share.sum())
    sample = uniform_points(graph, SAMPLED, rng)
    known = graph.bind(known)
    farthest = np.full(SAMPLED, 2 * graph.diameter)
    if len(known):
        farthest = np.minimum(farthest, distances.to_nearest(graph, known, sample))
    own = distances.between(graph, graph.bind(candidates[eligible]), sample, limit=float(farthest.max()))
    return eligible, np.minimum(own, farthest).mean(axis=1)


# Stretches of drawn edges: where their curves bend.


def corners_within(
    drawing: Curves, edge: IntArray, start: FloatArray, stop: FloatArray
) -> tuple[IntArray, IntArray]:
    """Number of the stretch and index of the corner, for all corners strictly inside stretches of edges.

    start, stop: fractions of the edges, start <= stop. Corners of a stretch come in order.

    >>> import numpy as np
    >>> from netbo.geometry import MetricGraph
    >>> graph = MetricGraph([0], [1], None, curves=[[[0, 0], [1, 0], [1, 1]]])
    >>> corners_within(graph.drawing, np.array([0, 0]), np.array([0.0, 0.6]), np.array([0.6, 1.0]))
    (array([0]), array([1]))
    """
    corners = along_edges(rows_of(drawing.starts), drawing.fractions)
    first = np.searchsorted(corners, along_edges(edge, start), side="right")
    stops = np.searchsorted(corners, along_edges(edge, stop), side="left")
    counts = np.maximum(stops - first, 0)
    return np.repeat(np.arange(len(edge)), counts), ranges(first, counts)


# Places as people give them.


def as_place(place: Any, graph: MetricGraph) -> Point:
    """A place of the network, with its address in full.

    place: a Point, Points of one, a pair (edge id, distance), or the name of a vertex.
    """
    if isinstance(place, Points):
        if len(place) != 1:
            raise PointError(f"a measurement has one place, got {len(place)}; pass one of them")
        return graph.bind(place)[0]
    if isinstance(place, Point):
        return Points.at(place, graph=graph)[0]
    if is_pair(place):
        if not graph.has_vertex(place):
            return graph.points([place[0]], [place[1]])[0]
        if graph.has_edge(place[0]):
            raise PointError(
                f"a place must say what is meant, got {place!r}, a vertex and a distance on an edge; pass "
                f"graph.points({place[0]!r}, {place[1]!r}) for the edge, graph.points(vertex={place!r}) for "
                "the vertex"
            )
    if isinstance(place, bool) or not graph.has_vertex(place):
        raise PointError(
            f"a place must be a Point or Points, got {shown(place)}; make one with "
            "graph.points(edge, distance), or pass (edge id, distance) or the name of a vertex"
        )
    return graph.points([place])[0]


def is_pair(place: Any) -> bool:
    """Whether it has the form of (edge id, distance)."""
    return isinstance(place, tuple) and len(place) == 2 and is_number(place[1])


def as_places(places: Iterable[Any], graph: MetricGraph) -> Points:
    """Places of the network, each as for `as_place`."""
    return Points.at([as_place(each, graph) for each in places], graph=graph)
