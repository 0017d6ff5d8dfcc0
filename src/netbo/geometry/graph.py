"""Metric graphs: networks whose points lie on the edges, not only at the vertices."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, fields
from functools import cached_property, partial
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from netbo.arrays import (
    BoolArray,
    FloatArray,
    IntArray,
    SparseMatrix,
    as_float_vector,
    as_index_vector,
    read_only,
)
from netbo.errors import GraphError, PointError
from netbo.geometry import distances
from netbo.geometry.curves import Curves
from netbo.geometry.distances import component_labels, continuous_diameter, shortest_links
from netbo.geometry.identifiers import Ids, as_ids, as_sequence, index_by_id, indices_of
from netbo.geometry.nearest import SegmentIndex
from netbo.geometry.points import Points
from netbo.geometry.transforms import cut_at, merge_degree_two, restrict, split_at
from netbo.geometry.validation import (
    as_attributes,
    as_drawing,
    as_ends,
    as_lengths,
    as_positions,
    count_vertices,
    positions_from_curves,
)
from netbo.wording import counted


@dataclass(frozen=True, eq=False, repr=False, init=False)
class MetricGraph:
    """A network of edges with lengths; loops, parallel edges and several components are welcome.

    Everything is read-only; `dataclasses.replace` makes a changed graph.

    Parameters
    ----------
    tails, heads : array_like of int
        Vertex indices 0, 1, ... of both ends of each edge, also when `vertex_ids` are given.
    lengths : array_like or None
        One per edge, in the unit of the graph. None takes the drawn lengths from curves or positions.
    curves : sequence of array_like, optional
        One (k, 2) or (k, 3) array per edge from tail to head, or None for a straight one. A distance along
        the edge is drawn at the same share of the curve's length. Their ends give missing positions.
    positions : array_like, optional
        Coordinates of the vertices, (n_vertices, 2 or 3).
    crs : optional
        Coordinate system of curves and positions, as pyproj takes it.
    unit : str, optional
        Of the lengths, for people.
    edge_ids, vertex_ids : iterable of hashable, optional
        Your own unique names; points are addressed by them. By default 0, 1, ...
    edge_attributes : mapping, optional
        Columns of one value per edge, kept as they are.

    Raises
    ------
    GraphError
        If a length is not positive and finite, an id repeats, or sizes do not match.

    Examples
    --------
    >>> graph = MetricGraph([0, 1, 1], [1, 2, 2], [1.0, 2.0, 3.0], edge_ids=["a", "b", "c"], unit="km")
    >>> graph
    MetricGraph(3 vertices, 3 edges, total length 6 km, 1 component)
    >>> graph.distance(graph.points("a", 0.0), graph.points(["b", "c"], [2.0, 1.5]))
    array([[3. , 2.5]])
    """

    tails: IntArray
    heads: IntArray
    lengths: FloatArray
    curves: Curves | None
    positions: FloatArray | None
    crs: Any
    unit: str | None
    edge_ids: Ids
    vertex_ids: Ids
    edge_attributes: Mapping[str, Any]

    def __init__(
        self,
        tails: ArrayLike,
        heads: ArrayLike,
        lengths: ArrayLike | None,
        *,
        curves: Curves | Sequence[ArrayLike | None] | None = None,
        positions: ArrayLike | None = None,
        crs: Any = None,
        unit: str | None = None,
        edge_ids: Iterable[Hashable] | None = None,
        vertex_ids: Iterable[Hashable] | None = None,
        edge_attributes: Mapping[str, Any] | None = None,
    ) -> None:
        ends = as_ends(tails, heads)
        named = None if vertex_ids is None else as_sequence(vertex_ids)
        places = as_positions(positions)
        n_vertices = count_vertices(ends, places, named)
        drawing = as_drawing(curves, ends, places)
        if drawing is not None and places is None:
            places = positions_from_curves(drawing, ends)
        known = as_ids(edge_ids, len(ends[0]), "edge")
        drawn = _drawn_lengths(drawing, places, ends) if lengths is None else None
        values = {
            "tails": read_only(ends[0]),
            "heads": read_only(ends[1]),
            "lengths": read_only(as_lengths(lengths, drawn, known)),
            "curves": drawing,
            "positions": None if places is None else read_only(places),
            "crs": crs,
            "unit": unit,
            "edge_ids": known,
            "vertex_ids": as_ids(named, n_vertices, "vertex"),
            "edge_attributes": as_attributes(edge_attributes, len(ends[0])),
        }
        for name, value in values.items():
            object.__setattr__(self, name, value)

    def __repr__(self) -> str:
        unit = f" {self.unit}" if self.unit else ""
        vertices = counted(self.n_vertices, "vertex", "vertices")
        edges, components = counted(self.n_edges, "edge"), counted(self.n_components, "component")
        return f"MetricGraph({vertices}, {edges}, total length {self.total_length:.6g}{unit}, {components})"

    def __reduce__(self) -> tuple[Callable[..., MetricGraph], tuple[()]]:
        state = {each.name: getattr(self, each.name) for each in fields(self)}
        return partial(type(self), **(state | {"edge_attributes": dict(self.edge_attributes)})), ()

    @property
    def n_edges(self) -> int:
        """Number of edges."""
        return len(self.tails)

    @property
    def n_vertices(self) -> int:
        """Number of vertices."""
        return len(self.vertex_ids)

    @cached_property
    def total_length(self) -> float:
        """Sum of all edge lengths."""
        return float(self.lengths.sum())

    @cached_property
    def degrees(self) -> IntArray:
        """Edge ends at each vertex; a loop counts twice."""
        ends = np.concatenate([self.tails, self.heads])
        return read_only(np.bincount(ends, minlength=self.n_vertices).astype(np.int64))

    @cached_property
    def links(self) -> SparseMatrix:
        """Sparse (n_vertices, n_vertices) lengths of the shortest edge between neighbours."""
        return shortest_links(self.tails, self.heads, self.lengths, self.n_vertices)

    @cached_property
    def components(self) -> IntArray:
        """Label of the component of each vertex."""
        return read_only(component_labels(self.links))

    @property
    def n_components(self) -> int:
        """Number of components."""
        return int(self.components.max()) + 1

    @property
    def is_connected(self) -> bool:
        """Whether there is a path between any two points."""
        return self.n_components == 1

    @cached_property
    def diameter(self) -> float:
        """Largest distance between two points, edges included, in the component of largest total length.

        Exact up to 2,000 vertices in that component; above, a lower bound by repeated sweeps.
        """
        return continuous_diameter(self)

    @property
    def dimension(self) -> int | None:
        """2 or 3 if the graph is drawn, None if it has no coordinates."""
        return None if self.positions is None else int(self.positions.shape[1])

    @cached_property
    def drawing(self) -> Curves:
        """The curve of every edge, straight lines included."""
        if self.curves is not None:
            return self.curves
        if self.positions is None:
            raise GraphError("drawing needs coordinates, got neither; pass curves= or positions=")
        return Curves.straight(self.positions[self.tails], self.positions[self.heads])

    def edge_indices(self, edge_ids: Any) -> IntArray:
        """Our indices of your edge ids (one or several)."""
        return indices_of(edge_ids, self._edge_index, "edge", PointError)

    def vertex_indices(self, vertex_ids: Any) -> IntArray:
        """Our indices of your vertex ids (one or several)."""
        return indices_of(vertex_ids, self._vertex_index, "vertex", GraphError)

    def points(
        self, edge_ids: Any, distance: ArrayLike | None = None, *, fraction: ArrayLike | None = None
    ) -> Points:
        """Points at a distance from the tails of your edges, or at a fraction (0 to 1) of their lengths.

        One id with many distances, or many ids with one distance, are repeated as needed.
        """
        edge = self.edge_indices(edge_ids)
        given = [value for value in (distance, fraction) if value is not None]
        if len(given) != 1:
            raise PointError(
                f"a point needs distance or fraction, got {len(given)} of them; pass exactly one"
            )
        along = as_float_vector(given[0], "distances or fractions along edges", PointError)
        if len(edge) != len(along) and 1 not in (len(edge), len(along)):
            raise PointError(
                f"edge ids and places along them must match, got {len(edge)} and {len(along)}; "
                "give one place per edge id"
            )
        edge, along = np.broadcast_arrays(edge, along)
        return Points(edge, along if fraction is None else along * self.lengths[edge], graph=self)

    def vertex_points(self, vertices: ArrayLike | None = None) -> Points:
        """Points where the vertices (by index; all if None) are, each at an end of one of its edges."""
        chosen = (
            np.arange(self.n_vertices)
            if vertices is None
            else as_index_vector(vertices, "vertices", PointError)
        )
        unknown = chosen[(chosen < 0) | (chosen >= self.n_vertices)]
        if unknown.size:
            raise PointError(
                f"vertices must lie in 0..{self.n_vertices - 1}, got {unknown[0]}; "
                "find the index of a name with graph.vertex_indices(name)"
            )
        edge, is_head = self._vertex_ends
        return Points(edge[chosen], np.where(is_head[chosen], self.lengths[edge[chosen]], 0.0), graph=self)

    def bind(self, points: Points) -> Points:
        """Bound points: the same ones, known to lie on this graph.

        Points a rounding error beyond an end are moved to it. Points of a graph with other edges are refused.
        """
        if points.graph is self:
            return points
        if points.graph is not None and not self.has_edges_of(points.graph):
            raise PointError(
                f"points must lie on {self!r}, got points of {points.graph!r}; "
                "map them with the transfer of split_at, merge_degree_two or cut_at"
            )
        return Points(points.edge, points.z, graph=self)

    def has_edges_of(self, other: MetricGraph) -> bool:
        """Whether the other graph has the same edges, so that a point of one is a point of the other."""
        return self is other or all(
            np.array_equal(getattr(self, name), getattr(other, name))
            for name in ("tails", "heads", "lengths")
        )

    def distance(self, x: Points, y: Points) -> FloatArray:
        """Lengths of the shortest paths between points, (n, m); inf between components."""
        return distances.between(self, self.bind(x), self.bind(y))

    def embed(self, x: Points) -> FloatArray:
        """Coordinates of the points, (n, 2 or 3)."""
        bound = self.bind(x)
        return self.drawing.places(bound.edge, bound.z / self.lengths[bound.edge])

    def nearest(self, xy: ArrayLike, limit: float | None = None) -> tuple[Points, FloatArray]:
        """Points of the drawn network nearest to places, and how far off the places are.

        Both distances and `limit` are straight and in the unit of the coordinates. Exact, not up to a mesh.
        """
        edge, fraction, off = self._segment_index.nearest(xy, limit)
        return Points(edge, fraction * self.lengths[edge], graph=self), off

    def component_of(self, x: Points) -> IntArray:
        """Label of the component on which each point lies."""
        return self.components[self.tails[self.bind(x).edge]]

    def subgraph(self, component: int) -> MetricGraph:
        """One component as a graph of its own; ids and attributes stay."""
        if not 0 <= component < self.n_components:
            raise GraphError(
                f"components are labelled 0..{self.n_components - 1}, got {component}; see .components"
            )
        return restrict(self, self.components[self.tails] == component)

    def split(self, x: Points) -> MetricGraph:
        """Network with vertices at the points; see `split_at`, which also maps points."""
        return split_at(self, x).graph

    def merge(self) -> MetricGraph:
        """Network without vertices of degree two; see `merge_degree_two`, which also maps points."""
        return merge_degree_two(self).graph

    def cut(self, vertex: Hashable, edges: Any) -> MetricGraph:
        """Network with a barrier at a vertex: the named edges end at a new vertex there; see `cut_at`."""
        return cut_at(self, vertex, edges).graph

    @cached_property
    def _edge_index(self) -> Mapping[Hashable, int]:
        return index_by_id(self.edge_ids)

    @cached_property
    def _vertex_index(self) -> Mapping[Hashable, int]:
        return index_by_id(self.vertex_ids)

    @cached_property
    def _vertex_ends(self) -> tuple[IntArray, BoolArray]:
        """An edge at each vertex, and whether the vertex is its head."""
        _, first = np.unique(np.concatenate([self.tails, self.heads]), return_index=True)
        return first % self.n_edges, first >= self.n_edges

    @cached_property
    def _segment_index(self) -> SegmentIndex:
        return SegmentIndex.build(self.drawing)


def _drawn_lengths(
    drawing: Curves | None, places: FloatArray | None, ends: tuple[IntArray, IntArray]
) -> FloatArray | None:
    if drawing is not None:
        return drawing.drawn_lengths()
    if places is None:
        return None
    lengths: FloatArray = np.linalg.norm(places[ends[1]] - places[ends[0]], axis=1)
    return lengths
