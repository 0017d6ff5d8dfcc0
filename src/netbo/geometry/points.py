"""Points x = (e, z) of a metric graph: an edge and the distance along it from its tail."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import partial
from itertools import repeat
from typing import TYPE_CHECKING, Any, Self, overload

import numpy as np
from numpy.typing import NDArray

from netbo.arrays import BoolArray, FloatArray, IntArray, as_float_vector, as_index_vector, read_only
from netbo.checks import explained_class
from netbo.errors import PointError

if TYPE_CHECKING:
    from netbo.geometry.graph import MetricGraph

VERTEX_TOLERANCE = 1e-12  # relative to the edge; a point this little beyond an end is the end


@dataclass(frozen=True, slots=True)
class Point:
    """One point of a network, as its user names it; it holds no graph and travels between processes.

    Parameters
    ----------
    edge : int
        Index of the edge.
    z : float
        Distance along that edge from its tail, in the unit of the graph.
    edge_id : hashable, optional
        The user's name of the edge, by default its index.
    fraction : float, optional
        Share of the user's edge before the point; None if the graph was not known.
    xy : tuple of float, optional
        Coordinates; None if the graph is not drawn.
    distance : float, optional
        Distance along the user's edge from its tail, by default z. They differ where the graph has the
        user's edge in several pieces, or joined with others.

    Examples
    --------
    >>> import netbo
    >>> netbo.interval(2.0).points(0, 0.5)[0]
    Point(edge=0, z=0.5, edge_id=0, fraction=0.25, xy=(0.5, 0.0))
    """

    edge: int
    z: float
    edge_id: Hashable = None
    fraction: float | None = field(default=None, compare=False)
    xy: tuple[float, ...] | None = field(default=None, compare=False)
    distance: float = field(default=None, compare=False)  # type: ignore[assignment]  # None: z

    def __post_init__(self) -> None:
        if self.edge_id is None:
            object.__setattr__(self, "edge_id", self.edge)
        if self.distance is None:
            object.__setattr__(self, "distance", self.z)

    def __repr__(self) -> str:
        own = f"edge={self.edge}, z={self.z}, edge_id={self.edge_id!r}"
        along = "" if self.distance == self.z else f", distance={self.distance}"
        return f"Point({own}{along}, fraction={self.fraction}, xy={self.xy})"


@explained_class
@dataclass(frozen=True, slots=True, eq=False)
class Points:
    """Points x = (e, z) of a metric graph; iterating gives `Point`, slices and masks give `Points`.

    Bound to a graph they are known to lie on it, and each `Point` carries its edge id, fraction and place.

    Parameters
    ----------
    edge : array_like of int
        Index of the edge of each point, (n,).
    z : array_like
        Distance of each point along its edge from the tail, (n,).
    graph : MetricGraph, optional
        The graph to bind them to.

    Raises
    ------
    PointError
        If sizes differ, a distance is negative or not finite, or a point does not lie on its edge.

    Examples
    --------
    >>> points = Points([0, 0, 2], [0.0, 1.5, 0.25])
    >>> len(points), points[1].edge, points[1].distance
    (3, 0, 1.5)
    """

    edge: IntArray
    z: FloatArray
    graph: MetricGraph | None = field(default=None, kw_only=True, repr=False)

    def __post_init__(self) -> None:
        edge = as_index_vector(self.edge, "edges of points", PointError)
        z = as_float_vector(self.z, "distances along edges", PointError)
        if len(edge) != len(z):
            raise PointError(
                f"points need one distance per edge, got {len(edge)} edges and {len(z)} distances; "
                "pass two sequences of one length"
            )
        if self.graph is not None:
            z = _clip_to_edges(edge, z, self.graph)
        _require_distances(edge, z)
        object.__setattr__(self, "edge", read_only(edge))
        object.__setattr__(self, "z", read_only(z))

    @classmethod
    def at(cls, points: Point | Iterable[Point], *, graph: MetricGraph | None = None) -> Self:
        """Points at one `Point` or several, bound to `graph` if it is given."""
        several = [points] if isinstance(points, Point) else list(points)
        return cls(
            np.array([point.edge for point in several], dtype=np.int64),
            np.array([point.z for point in several], dtype=np.float64),
            graph=graph,
        )

    @classmethod
    def concatenate(cls, parts: Sequence[Points]) -> Self:
        """All points of the parts in order, bound to the graph to which any of them is bound."""
        graphs = {id(part.graph): part.graph for part in parts if part.graph is not None}
        if len(graphs) > 1:
            raise PointError(
                f"points to join must lie on one graph, got {len(graphs)}; "
                "bind them to the same one with graph.bind(points)"
            )
        graph = next(iter(graphs.values()), None)
        edge = np.concatenate([part.edge for part in parts]) if parts else np.empty(0, dtype=np.int64)
        z = np.concatenate([part.z for part in parts]) if parts else np.empty(0)
        if all(part.graph is graph for part in parts):
            return cls._known(edge, z, graph)
        return cls(edge, z, graph=graph)

    @classmethod
    def _known(cls, edge: IntArray, z: FloatArray, graph: MetricGraph | None) -> Self:
        """Points that were looked at before: some of others, or several together."""
        points = object.__new__(cls)
        for name, value in (("edge", read_only(edge)), ("z", read_only(z)), ("graph", graph)):
            object.__setattr__(points, name, value)
        return points

    def __len__(self) -> int:
        return len(self.edge)

    def __iter__(self) -> Iterator[Point]:
        edge, z = self.edge.tolist(), self.z.tolist()
        graph = self.graph
        if graph is None:
            return map(Point, edge, z)
        places = repeat(None) if graph.dimension is None else map(tuple, graph.embed(self).tolist())
        ids, distance, fraction = graph.address(self)
        return map(Point, edge, z, ids, fraction.tolist(), places, distance.tolist())

    @overload
    def __getitem__(self, index: int | np.integer) -> Point: ...
    @overload
    def __getitem__(self, index: slice | IntArray | BoolArray | Sequence[int] | Sequence[bool]) -> Points: ...
    def __getitem__(self, index: Any) -> Point | Points:
        if isinstance(index, int | np.integer):
            position = range(len(self))[int(index)]  # IndexError as for a list
            return next(iter(self[position : position + 1]))
        edge, z = self.edge[index], self.z[index]
        return self._known(edge, z, self.graph) if edge.ndim == 1 else Points(edge, z, graph=self.graph)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Points):
            return NotImplemented
        return np.array_equal(self.edge, other.edge) and np.array_equal(self.z, other.z)

    __hash__ = None  # type: ignore[assignment]

    def __reduce__(self) -> tuple[Callable[..., Points], tuple[IntArray, FloatArray]]:
        return partial(type(self), graph=self.graph), (self.edge, self.z)


def _require_distances(edge: IntArray, z: FloatArray) -> None:
    """Refuse what no graph can hold: negative or non-finite distances, negative edges."""
    is_good = (z >= 0) & (z < np.inf)
    if not is_good.all():
        bad = np.flatnonzero(~is_good)
        raise PointError(
            f"distances along edges must be finite and not negative, got {z[bad[0]]} at index {bad[0]}; "
            "measure from the tail of the edge"
        )
    if edge.size and edge.min() < 0:
        raise PointError(f"edges are counted from 0, got {edge.min()}; use graph.points(edge_ids, distance)")


def _clip_to_edges(edge: IntArray, z: FloatArray, graph: MetricGraph) -> FloatArray:
    """Distances within [0, length]; further off than the tolerance is refused."""
    is_unknown = (edge < 0) | (edge >= graph.n_edges)
    if is_unknown.any():
        unknown = np.flatnonzero(is_unknown)
        raise PointError(
            f"edges must lie in 0..{graph.n_edges - 1}, got {edge[unknown[0]]} at index {unknown[0]}; "
            "address points by your own ids with graph.points(edge_ids, distance)"
        )
    lengths = graph.lengths[edge]
    slack = VERTEX_TOLERANCE * lengths
    is_off = (z < -slack) | (z > lengths + slack)
    if is_off.any():
        first = np.flatnonzero(is_off)[0]
        raise PointError(
            f"distances must lie within the edge, got {z[first]} on edge {graph.edge_ids[edge[first]]!r} "
            f"of length {lengths[first]}; measure from its tail, in the unit of the graph"
        )
    return np.clip(z, 0.0, lengths)


def along_edges(edge: IntArray, z: FloatArray) -> NDArray[np.complex128]:
    """Numbers that numpy sorts and searches edge by edge, then by distance, without rounding either."""
    keys = np.empty(len(edge), dtype=np.complex128)
    keys.real, keys.imag = edge, z
    return keys
