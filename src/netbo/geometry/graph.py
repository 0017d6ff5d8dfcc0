"""Metric graphs: networks whose points lie on the edges, not only at the vertices."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, fields
from functools import cached_property, partial
from typing import Any, Self

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
from netbo.checks import explained, explained_class
from netbo.errors import GraphError, PointError
from netbo.geometry import distances
from netbo.geometry.addresses import Addresses
from netbo.geometry.curves import Curves
from netbo.geometry.distances import component_labels, continuous_diameter, shortest_links
from netbo.geometry.identifiers import (
    Ids,
    as_ids,
    as_list,
    as_sequence,
    index_by_id,
    indices_of,
    is_known,
    pick,
    require_vertex_names,
)
from netbo.geometry.miniature import graph_card
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


@explained_class
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
    addresses : Addresses, optional
        Your own edges where those of the graph are pieces of them, or several joined: points are then
        addressed by them. By default the edges of the graph are your own.

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
    addresses: Addresses | None

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
        addresses: Addresses | None = None,
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
            "addresses": addresses,
        }
        for name, value in values.items():
            object.__setattr__(self, name, value)
        if addresses is not None:
            addresses.require_covers(self.lengths)
            if addresses.are_own(self):
                object.__setattr__(self, "addresses", None)

    def __repr__(self) -> str:
        unit = f" {self.unit}" if self.unit else ""
        vertices = counted(self.n_vertices, "vertex", "vertices")
        edges, components = counted(self.n_edges, "edge"), counted(self.n_components, "component")
        return f"MetricGraph({vertices}, {edges}, total length {self.total_length:.6g}{unit}, {components})"

    def _repr_html_(self) -> str:
        return graph_card(self)

    def __reduce__(self) -> tuple[Callable[..., MetricGraph], tuple[()]]:
        state = {each.name: getattr(self, each.name) for each in fields(self)}
        return partial(type(self), **(state | {"edge_attributes": dict(self.edge_attributes)})), ()

    def __deepcopy__(self, memo: dict[int, Any]) -> Self:
        return self  # frozen, and what is bound to it stays bound

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

    @explained
    def edge_indices(self, edge_ids: Any) -> IntArray:
        """Our indices of your edge ids (one or several)."""
        return indices_of(edge_ids, self._edge_index, "edge", PointError)

    def vertex_indices(self, vertex_ids: Any) -> IntArray:
        """Our indices of your vertex ids (one or several)."""
        return indices_of(vertex_ids, self._vertex_index, "vertex", GraphError)

    @explained
    def points(
        self,
        edge_ids: Any = None,
        distance: ArrayLike | None = None,
        *,
        fraction: ArrayLike | None = None,
        start: Any = None,
        vertex: Any = None,
    ) -> Points:
        """Points at a distance along your edges, at a fraction (0 to 1) of them, or at your vertices.

        Measured along your whole edge also where the graph has it in pieces; the pieces answer to their own
        ids, too. One id with many distances, or many ids with one distance, are repeated as needed.

        Parameters
        ----------
        edge_ids : hashable or sequence, optional
            Your ids, one or several. Without distance and fraction they are names of vertices: junctions,
            hydrants, buses.
        distance, fraction : array_like, optional
            Exactly one of them, for edges.
        start : hashable or sequence, optional
            The end from which it counts, by default the tail.
        vertex : hashable or sequence, optional
            Names of vertices, instead of edges; needed where an edge has the same name.

        Returns
        -------
        Points
            Bound to the graph.

        Raises
        ------
        PointError
            If an id is unknown or a distance lies beyond its edge.

        Examples
        --------
        >>> graph = MetricGraph([0, 1], [1, 2], [2.0, 3.0], edge_ids="ab", vertex_ids=["J1", "J2", "J3"])
        >>> graph.points("b", 0.5, start="J3")[0].distance
        2.5
        >>> float(graph.distance(graph.points("J2"), graph.points("a", 2.0))[0, 0])
        0.0
        """
        if vertex is not None or (distance is None and fraction is None):
            return self._at_vertices(edge_ids, distance, fraction, vertex)
        row, is_reversed = self._named.find(edge_ids)
        given = [value for value in (distance, fraction) if value is not None]
        if len(given) != 1:
            raise PointError(
                f"a point needs distance or fraction, got {len(given)} of them; pass exactly one"
            )
        along = as_float_vector(given[0], "distances or fractions along edges", PointError)
        if len(row) != len(along) and 1 not in (len(row), len(along)):
            raise PointError(
                f"edge ids and places along them must match, got {len(row)} and {len(along)}; "
                "give one place per edge id"
            )
        row, is_reversed, along = np.broadcast_arrays(row, is_reversed, along)
        from_head = is_reversed if start is None else self._named.from_head(row, is_reversed, start)
        length = self._named.lengths[row]
        measure = along if fraction is None else along * length
        edge, z = self._named.locate(row, np.where(from_head, length - measure, measure))
        return Points(edge, z, graph=self)

    def address(self, points: Points) -> tuple[list[Hashable], FloatArray, FloatArray]:
        """Your edge id of each point, and its distance and fraction along your edge."""
        bound = self.bind(points)
        if self.addresses is None:
            ids = [self.edge_ids[edge] for edge in bound.edge.tolist()]
            return ids, bound.z, bound.z / self.lengths[bound.edge]
        row, measure = self.addresses.measure(bound.edge, bound.z)
        return pick(self.addresses.ids, row), measure, measure / self.addresses.lengths[row]

    def has_edge(self, edge_id: Any) -> bool:
        """Whether an edge of yours, or one of the graph's own, has this id."""
        return is_known(edge_id, self._named)

    def has_vertex(self, vertex_id: Any) -> bool:
        """Whether a vertex has this name."""
        return is_known(vertex_id, self._vertex_names)

    def length_of(self, edge_id: Hashable) -> float:
        """Length of one of your edges."""
        row, _ = self._named.find([edge_id])
        return float(self._named.lengths[row[0]])

    @explained
    def intervals(
        self, edge_ids: Any, start: ArrayLike = 0.0, end: ArrayLike = np.inf
    ) -> tuple[IntArray, IntArray, FloatArray, FloatArray]:
        """Where stretches of your edges lie: number of the stretch, edge index, distances from and to.

        A stretch has several where the graph has your edge in pieces. It runs from `start` to `end`, measured
        from the tail of your edge, by default over all of it.
        """
        row, is_reversed = self._named.find(edge_ids)
        length = self._named.lengths[row]
        first, last = (
            np.clip(as_float_vector(each, "ends of stretches", PointError), 0.0, length)
            for each in (start, end)
        )
        begin = np.where(is_reversed, length - last, first)
        return self._named.intervals(row, begin, np.where(is_reversed, length - first, last))

    def _at_vertices(self, edge_ids: Any, distance: Any, fraction: Any, vertex: Any) -> Points:
        """Points at vertices by name; a name that an edge has, too, is refused unless it is said which."""
        if vertex is not None and not (edge_ids is None and distance is None and fraction is None):
            raise PointError(
                f"a point lies on an edge or at a vertex, got both, vertex={vertex!r:.60}; leave one out"
            )
        asked = edge_ids if vertex is None else vertex
        known = self._vertex_names
        several = as_list(asked, known)
        if vertex is None:
            require_vertex_names(several, self._named, known)
        codes = indices_of(several, known, "vertex", PointError)
        is_vertex = codes < self.n_vertices
        at = self.vertex_points(np.where(is_vertex, codes, 0))
        if is_vertex.all():
            return at
        row, is_head = np.divmod(np.where(is_vertex, 0, codes - self.n_vertices), 2)
        edge, z = self.address_table.locate(row, np.where(is_head == 1, self.address_table.lengths[row], 0.0))
        return Points(np.where(is_vertex, at.edge, edge), np.where(is_vertex, at.z, z), graph=self)

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

    @explained
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

    @explained
    def distance(self, x: Points, y: Points) -> FloatArray:
        """Lengths of the shortest paths between points, (n, m); inf between components."""
        return distances.between(self, self.bind(x), self.bind(y))

    @explained
    def embed(self, x: Points) -> FloatArray:
        """Coordinates of the points, (n, 2 or 3)."""
        bound = self.bind(x)
        return self.drawing.places(bound.edge, bound.z / self.lengths[bound.edge])

    @explained
    def nearest(self, xy: ArrayLike, limit: float | None = None) -> tuple[Points, FloatArray]:
        """Points of the drawn network nearest to places, and how far off the places are.

        Both distances and `limit` are straight and in the unit of the coordinates. Exact, not up to a mesh.
        """
        edge, fraction, off = self._segment_index.nearest(xy, limit)
        return Points(edge, fraction * self.lengths[edge], graph=self), off

    def component_of(self, x: Points) -> IntArray:
        """Label of the component on which each point lies."""
        return self.components[self.tails[self.bind(x).edge]]

    @explained
    def subgraph(self, component: int) -> MetricGraph:
        """One component as a graph of its own; ids and attributes stay."""
        if not 0 <= component < self.n_components:
            raise GraphError(
                f"components are labelled 0..{self.n_components - 1}, got {component}; see .components"
            )
        return restrict(self, self.components[self.tails] == component)

    @explained
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
    def address_table(self) -> Addresses:
        """Where your edges lie on the graph: `addresses`, or its own edges."""
        return Addresses.of_graph(self) if self.addresses is None else self.addresses

    @cached_property
    def _named(self) -> Addresses:
        """The same, and after them the graph's own edges where they have other names."""
        return self.address_table.with_edges_of(self)

    @cached_property
    def _vertex_names(self) -> Mapping[Hashable, int]:
        """Vertices by name; an end of link r whose vertex is gone is n_vertices + 2 r, + 1 for a head."""
        ends = {} if self.addresses is None else self.addresses.ends
        return {name: self.n_vertices + code for name, code in ends.items()} | dict(self._vertex_index)

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
