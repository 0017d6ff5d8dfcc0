"""Where the optimizer may look: nodes of a mesh or places of one's own, less what is forbidden."""

import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Hashable, Iterable
from dataclasses import dataclass, field
from functools import cached_property
from itertools import chain
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from netbo.arrays import BoolArray, FloatArray, IntArray, read_only, sum_by
from netbo.checks import explained_class
from netbo.errors import NumericalError, ParameterError, PointError
from netbo.fem import FiniteElementSpace
from netbo.geometry import (
    PLACE_TOLERANCE,
    MetricGraph,
    PlaceIndex,
    Points,
    along_edges,
    distinct_places,
    place_vertices,
)
from netbo.optimize.intervals import CandidatePieces, Intervals

# Where nobody may measure: whole edges and stretches of edges.


@explained_class
@dataclass(frozen=True, slots=True)
class Forbidden:
    """Where nobody may measure: edges by your ids, and stretches (edge id, from, to) measured from the tail.

    A vertex can be reached along any edge that meets it, so it is forbidden only if every edge that meets it
    is forbidden there; a loop meets its vertex with both ends.

    Parameters
    ----------
    edges : edge id or iterable of them
        Forbidden from end to end.
    stretches : iterable of (edge id, float, float)
        Parts of edges, in the unit of the graph.
    vertices : vertex id or iterable of them
        Junctions, hydrants or buses where nobody may measure.

    Raises
    ------
    ParameterError
        A stretch is no triple, or runs backwards.

    Examples
    --------
    >>> from netbo import star
    >>> graph = star(3)
    >>> forbidden = Forbidden(edges=[0], stretches=[(1, 0.2, 0.4)])
    >>> forbidden.allows(graph.points([0, 0, 1, 1], [0.0, 0.5, 0.2, 0.5]))
    array([ True, False, False,  True])
    """

    edges: Any = ()
    stretches: Iterable[tuple[Hashable, float, float]] = ()
    vertices: Any = ()

    def __post_init__(self) -> None:
        for name in ("edges", "vertices"):
            given = getattr(self, name)
            is_one = isinstance(given, str | bytes | tuple) or not isinstance(given, Iterable)
            object.__setattr__(self, name, given if is_one else tuple(given))
        object.__setattr__(self, "stretches", tuple(_as_stretch(stretch) for stretch in self.stretches))

    @property
    def is_empty(self) -> bool:
        """Whether everything is allowed."""
        return self.edges == () and self.stretches == () and self.vertices == ()

    def intervals(self, graph: MetricGraph) -> Intervals:
        """All that is forbidden on the edges of a graph."""
        found = [graph.intervals(self.edges)[1:]] if self.edges != () else []
        found += [_on_graph(stretch, graph) for stretch in self.stretches]
        found += [_at_vertices(self.vertices, graph)] if self.vertices != () else []
        rows = (zip(*(column.tolist() for column in each), strict=True) for each in found)
        return Intervals.union(chain.from_iterable(rows))

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


def _on_graph(
    stretch: tuple[Hashable, float, float], graph: MetricGraph
) -> tuple[IntArray, FloatArray, FloatArray]:
    edge_id, start, end = stretch
    length = graph.length_of(edge_id)
    if end > length * (1 + PLACE_TOLERANCE):
        raise ParameterError(
            f"a stretch must lie within its edge, got {start} to {end} on edge {edge_id!r} of length "
            f"{length}; distances are in the unit of the graph"
        )
    return graph.intervals([edge_id], start, end)[1:]


def _at_vertices(names: Any, graph: MetricGraph) -> tuple[IntArray, FloatArray, FloatArray]:
    """The ends of all edges that meet the vertices; a vertex that was merged away is a place on its edge."""
    x = graph.points(vertex=names)
    vertex = place_vertices(graph, x)
    starting, ending = (_edges_at(ends, vertex[vertex >= 0]) for ends in (graph.tails, graph.heads))
    edge = np.concatenate([x.edge[vertex < 0], starting, ending])
    z = np.concatenate([x.z[vertex < 0], np.zeros(len(starting)), graph.lengths[ending]])
    return edge, z, z


# The candidates themselves, and what a search between them has to know of the trials so far.

Scores = Callable[[Points], FloatArray]
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


class SearchSpace(ABC):
    """The places among which the next measurement is chosen."""

    is_continuous: ClassVar[bool] = False  # whether a search goes between the candidates

    graph: MetricGraph
    points: Points  # candidates, bound to the graph: every rule is evaluated on them
    pieces: CandidatePieces  # of the network each candidate stands for, without what is forbidden

    @cached_property
    def weights(self) -> FloatArray:
        """Length of network that each candidate stands for, (n,); 0 for single places."""
        return read_only(sum_by(self.pieces.owner, self.pieces.lengths, len(self.points)))

    @property
    def cell_lengths(self) -> FloatArray:
        """Spacing of the candidates on each edge, (E,); 0 where they are single places."""
        return np.zeros(self.graph.n_edges)

    def holds(self, x: Points) -> BoolArray:
        """Whether each point could be asked for, (n,)."""
        return np.array([bool(len(found)) for found in PlaceIndex(self.graph, self.points).find(x)])

    def between(self, places: Points) -> tuple[Points, IntArray]:
        """Points off the candidates that a search reaches from such places, and whose they are."""
        return self.points[:0], np.empty(0, dtype=np.int64)

    @abstractmethod
    def maximize(
        self, scores: Scores, allowed: BoolArray, surroundings: Callable[[], Surroundings] | None = None
    ) -> Points:
        """The one point where the scores are largest; only allowed candidates are considered.

        surroundings: gives them to a search between the candidates; others do not ask for them.
        """


@explained_class
@dataclass(frozen=True, eq=False)
class Nodes(SearchSpace):
    """Search space of the nodes of a mesh, each standing for the halves of its cells.

    Forbidden nodes are left out, and forbidden stretches are cut off the cells. What a forbidden node would
    have stood for belongs to nobody: at most half a cell beside each forbidden stretch.

    Parameters
    ----------
    space : FiniteElementSpace
        The mesh.
    forbidden : Forbidden
        Where nobody may measure.

    Raises
    ------
    ParameterError
        Every node is forbidden.

    Examples
    --------
    >>> from netbo import FiniteElementSpace, interval
    >>> len(Nodes(FiniteElementSpace.build(interval(1.0), max_cell=0.25)).points)
    5
    """

    space: FiniteElementSpace
    forbidden: Forbidden = field(default_factory=Forbidden)
    graph: MetricGraph = field(init=False, repr=False)
    points: Points = field(init=False, repr=False)

    def __post_init__(self) -> None:
        nodes = self.space.nodes
        object.__setattr__(self, "graph", self.space.graph)
        object.__setattr__(self, "points", _allowed_points(nodes, self.forbidden))

    @property
    def cell_lengths(self) -> FloatArray:
        """Cells of the mesh on each edge, (E,)."""
        return self.space.cell_lengths

    @cached_property
    def pieces(self) -> CandidatePieces:  # type: ignore[override]
        """Halves of the cells at each node, without what is forbidden."""
        halves = half_cells(self.space)
        if self.forbidden.is_empty:
            return halves
        kept = self.forbidden.allows(self.space.nodes)
        number = np.cumsum(kept) - 1  # of the nodes that are left
        clipped = halves[kept[halves.owner]].within(
            self.forbidden.intervals(self.graph).complement(self.graph)
        )
        return CandidatePieces(number[clipped.owner], clipped.edge, clipped.start, clipped.end)

    def maximize(
        self, scores: Scores, allowed: BoolArray, surroundings: Callable[[], Surroundings] | None = None
    ) -> Points:
        """The allowed node with the largest score."""
        return best_point(self.points, scores, allowed)


@explained_class
@dataclass(frozen=True, eq=False)
class CandidatePlaces(SearchSpace):
    """Search space of places of your own, such as hydrants or detectors; they stand for themselves only.

    Several points at one place are merged into the first of them, so `points` may be fewer than were given.

    Parameters
    ----------
    graph : MetricGraph
        The network.
    points : Points
        The places.
    forbidden : Forbidden
        Where nobody may measure.

    Raises
    ------
    ParameterError
        No place is left.

    Examples
    --------
    >>> from netbo import interval
    >>> graph = interval(2.0)
    >>> len(CandidatePlaces(graph, graph.points(0, [0.5, 1.5, 1.5])).points)
    2
    """

    graph: MetricGraph
    points: Points
    forbidden: Forbidden = field(default_factory=Forbidden)

    def __post_init__(self) -> None:
        given = self.graph.bind(self.points)
        if not len(given):
            raise ParameterError("a search needs at least one place, got none; pass some points")
        distinct = given[distinct_places(self.graph, given)]
        object.__setattr__(self, "points", _allowed_points(distinct, self.forbidden))

    @cached_property
    def pieces(self) -> CandidatePieces:  # type: ignore[override]
        """The places themselves, without length."""
        z = self.points.z
        return CandidatePieces(np.arange(len(z)), self.points.edge, z, z)

    def maximize(
        self, scores: Scores, allowed: BoolArray, surroundings: Callable[[], Surroundings] | None = None
    ) -> Points:
        """The allowed place with the largest score."""
        return best_point(self.points, scores, allowed)


Places = CandidatePlaces  # its earlier name, until 1.0


def best_point(points: Points, scores: Scores, allowed: BoolArray) -> Points:
    """The allowed point with the largest score, the first of equals; NaN never wins."""
    require_allowed(points, allowed)
    best = index_of_best(eligible_scores(points, scores, allowed))
    return points[best : best + 1]


def index_of_best(values: FloatArray) -> int:
    """Index of the largest number, the first of equals, be it -inf; NaN is none."""
    eligible = np.flatnonzero(~np.isnan(values))
    return int(eligible[np.argmax(values[eligible])])


def require_allowed(points: Points, allowed: BoolArray) -> None:
    """Refuse a search that may go nowhere."""
    if len(allowed) != len(points) or not np.any(allowed):
        raise ParameterError(
            f"one of the {len(points)} candidates must be allowed, got {np.count_nonzero(allowed)} of "
            f"{len(allowed)}; refine the mesh or allow repeated queries"
        )


def eligible_scores(points: Points, scores: Scores, allowed: BoolArray) -> FloatArray:
    """The scores, NaN where a point is not allowed; one of them is a number."""
    values = scores_at(points, scores)
    eligible: FloatArray = np.where(allowed, values, np.nan)
    if np.isnan(eligible).all():
        raise NumericalError(
            f"the scores of all {np.count_nonzero(allowed)} allowed candidates are NaN; "
            "check the parameters of the prior and the noise"
        )
    return eligible


def scores_at(points: Points, scores: Scores) -> FloatArray:
    """One score for each point, or an error."""
    values = np.asarray(scores(points), dtype=np.float64)
    if values.shape != (len(points),):
        raise ParameterError(
            f"scores must be one number for each of {len(points)} points, got shape {values.shape}; "
            "return a vector"
        )
    return values


def half_cells(space: FiniteElementSpace) -> CandidatePieces:
    """Both halves of every cell, each with the node at its end."""
    left, right, h = space.cell_ends
    edge = np.repeat(np.arange(space.graph.n_edges), space.cells)
    position = np.arange(len(edge)) - (np.cumsum(space.cells) - space.cells)[edge]
    start, middle = position * h, (position + 0.5) * h
    end = np.where(position == space.cells[edge] - 1, space.graph.lengths[edge], (position + 1) * h)
    return CandidatePieces(
        np.concatenate([left, right]),
        np.concatenate([edge, edge]),
        np.concatenate([start, middle]),
        np.concatenate([middle, end]),
    )


def _allowed_points(points: Points, forbidden: Forbidden) -> Points:
    if forbidden.is_empty:
        return points
    is_allowed = forbidden.allows(points)
    if not is_allowed.any():
        raise ParameterError(f"all {len(points)} candidates are forbidden; forbid less or refine the mesh")
    return points[is_allowed]
