"""The network as a page draws it: straight pieces on the map's plane, and places in words of the street.

The plane is that of web maps, a square of side 1 around the earth. Networks whose place on earth is known lie
where they are; others are laid undistorted at the equator, and those without positions get a layout.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from math import cos, pi
from typing import Any

import matplotlib as mpl
import networkx
import numpy as np
from matplotlib.colors import to_hex

from netbo.adapters import Network, as_network
from netbo.adapters.projection import METRES, directions_of, transform
from netbo.arrays import FloatArray
from netbo.checks import is_number
from netbo.errors import PointError, shown
from netbo.geometry import MetricGraph, Point, Points
from netbo.plotting import style
from netbo.plotting.canvas import Segments, cut_into_pieces
from netbo.plotting.scale import unit_of_drawing
from netbo.studies.trial_store import as_json
from netbo.wording import length

ROUND_EARTH = 2 * pi * 6371008.8  # metres: the sphere of MapLibre's scale
DEGREES = "EPSG:4326"
PIECES = 4_000  # of a network, about; at least six an edge while they are few
USUAL_WIDTH, LARGEST = 10_000.0, 400_000.0  # metres of a network of unknown extent, and at most on a plane
FEW_VERTICES = 300  # laid out by springs; more by distances from landmarks
LANDMARKS = 12
NAMES = ("name", "street", "label")  # attributes of an edge that people know it by
COMPASS = ("east", "north-east", "north", "north-west", "west", "south-west", "south", "south-east")
COLOURS = {
    "mean": style.VALUE_MAP, "sd": style.SPREAD_MAP, "acquisition": style.SCORE_MAP,
    "probability": style.PROBABILITY_MAP,
}  # fmt: skip
STOPS = 16  # colours of a map that are sent


@dataclass(frozen=True, eq=False)
class PageLines:
    """Pieces of a network on the plane of the map."""

    network: Network
    segments: Segments
    is_earth: bool
    is_north_up: bool
    scale: tuple[float, str] | None  # length of the plane's side, and its unit
    stretch: float  # plane units a drawing's unit, where it is not on earth
    is_drawn: bool  # whether the positions are the network's own

    @classmethod
    def of(cls, source: Network | MetricGraph) -> PageLines:
        """Lines of a network, drawn where it lies if that is known."""
        network = as_network(source)
        graph, is_drawn = network.graph, network.graph.dimension is not None
        drawn = graph if is_drawn else replace(graph, positions=lay_out(graph))
        segments = cut_into_pieces(drawn, PIECES)
        crs_unit, is_north_up = directions_of(graph.crs) if is_drawn else (None, False)
        if crs_unit is not None or is_north_up:
            latitude = np.radians(float(np.mean(transform(segments.ends[:, 0], graph.crs, DEGREES)[:, 1])))
            return cls(network, segments, True, True, (ROUND_EARTH * cos(latitude), "m"), 0.0, is_drawn)
        known = unit_of_drawing(drawn) if is_drawn else None
        extent = float(np.ptp(drawn.drawing.coordinates[:, :2], axis=0).max()) or 1.0
        metres = 0.0 if known is None else known[0] * METRES.get(known[1], 0.0)
        if not 1.0 <= metres * extent <= LARGEST:
            metres = USUAL_WIDTH / extent
        stretch = metres / ROUND_EARTH
        scale = None if known is None else (known[0] / stretch, known[1])
        return cls(network, segments, False, is_north_up, scale, stretch, is_drawn)

    @property
    def graph(self) -> MetricGraph:
        """The graph, with positions of a layout if it has none."""
        return self.segments.graph

    def on_plane(self, places: FloatArray) -> FloatArray:
        """Coordinates of the drawing on the plane of the map, (..., 2), y downwards."""
        flat = np.atleast_2d(places.reshape(-1, places.shape[-1])[:, :2])
        if self.is_earth:
            angles = transform(flat, self.graph.crs, DEGREES)
            turned = (angles[:, 0] - angles[0, 0] + 180.0) % 360.0 - 180.0 + angles[0, 0]
            x, y = turned / 360 + 0.5, 0.5 - np.arcsinh(np.tan(np.radians(angles[:, 1]))) / (2 * pi)
        else:
            x, y = ((flat - self._middle) * self.stretch * [1, -1] + 0.5).T
        return np.stack([x, y], axis=1).reshape(*places.shape[:-1], 2)

    @cached_property
    def _middle(self) -> FloatArray:
        corners = self.graph.drawing.coordinates[:, :2]
        return np.asarray((corners.min(axis=0) + corners.max(axis=0)) / 2)

    @cached_property
    def corners(self) -> FloatArray:
        """Both ends of each piece on the plane, (n, 2, 2)."""
        return self.on_plane(self.segments.ends)

    @cached_property
    def centre(self) -> FloatArray:
        """Middle of the plane's used part."""
        return np.asarray((self.corners.min(axis=(0, 1)) + self.corners.max(axis=(0, 1))) / 2)

    def places(self, points: Sequence[Point]) -> FloatArray:
        """Where points lie on the plane, (n, 2)."""
        if not points:
            return np.empty((0, 2))
        bound = Points.at(points)
        return self.on_plane(self.graph.embed(Points(bound.edge, bound.z, graph=self.graph)))

    # What is sent

    def document(self) -> dict[str, Any]:
        """All but the coordinates, as JSON: frame, scale, names of the edges, colours, findings."""
        graph = self.graph
        colours = {
            what: [to_hex(mpl.colormaps[name](k / (STOPS - 1))) for k in range(STOPS)]
            for what, name in COLOURS.items()
        }
        return {
            "earth": self.is_earth, "north": self.is_north_up, "centre": self.centre.tolist(),
            "drawn": self.is_drawn, "unit": graph.unit, "edges": graph.n_edges,
            "pieces": len(self.segments.edge), "vertices": graph.n_vertices, "names": self.names,
            "scale": None if self.scale is None else {"side": self.scale[0], "unit": self.scale[1]},
            "colours": colours, "findings": self.findings(), "report": str(self.network.report),
            "total": graph.total_length,
        }  # fmt: skip

    def packed(self) -> bytes:
        """Coordinates and links: float32 corners about the centre, then int32 and float32 columns."""
        graph, pieces = self.graph, self.segments
        lengths = graph.lengths[pieces.edge]
        columns = [
            (self.corners - self.centre).astype("<f4"), pieces.edge.astype("<i4"),
            (pieces.start * lengths).astype("<f4"), (pieces.stop * lengths).astype("<f4"),
            graph.tails.astype("<i4"), graph.heads.astype("<i4"), graph.lengths.astype("<f4"),
        ]  # fmt: skip
        return b"".join(column.tobytes() for column in columns)

    @cached_property
    def names(self) -> list[str]:
        """What people call each edge of the graph."""
        middles = Points(np.arange(self.graph.n_edges), self.graph.lengths / 2, graph=self.network.graph)
        ids = self.network.graph.address(middles)[0]
        given = self._given_names
        return [name_of(None if given is None else given[edge], own) for edge, own in enumerate(ids)]

    @cached_property
    def _given_names(self) -> Sequence[Any] | None:
        return next((self.graph.edge_attributes[k] for k in NAMES if k in self.graph.edge_attributes), None)

    def findings(self) -> list[dict[str, Any]]:
        """What the reader found, where it lies on the plane."""
        network, found = self.network, []
        source = network.report.crs if network.graph.crs is not None else None
        for each in network.findings:
            row: dict[str, Any] = {"kind": each.kind, "sentence": each.sentence}
            if each.place is not None:
                place = transform(np.array([each.place[:2]], dtype=np.float64), source, network.graph.crs)
                row["at"] = self.on_plane(place)[0].tolist()
            found.append(row)
        return found

    # Places in words

    def described(self, points: Sequence[Point]) -> list[dict[str, Any]]:
        """Each place by the user's address, by name and distance from the nearer end, and on the plane."""
        if not points:
            return []
        return [
            {
                "index": [int(point.edge), float(point.z)], "edge": as_json(address.edge_id),
                "distance": float(address.distance), "name": self.names[int(point.edge)],
                "words": self._words(point, address), "at": place,
            }
            for point, address, place in zip(
                points, self.network.address(points), self.places(points).tolist(), strict=True
            )
        ]  # fmt: skip

    def _words(self, point: Point, address: Any) -> str:
        """Distance from the nearer end, by which the end is known."""
        unit, whole = self.graph.unit, address.distance / address.fraction if address.fraction > 0 else None
        row = self._rows[address.edge_id]
        whole = float(self.network.addresses.lengths[row]) if whole is None else whole
        from_head = whole - address.distance < address.distance
        along = whole - address.distance if from_head else address.distance
        end = self._end(row, int(point.edge), from_head=from_head)
        walked = round(along, 0 if unit == "m" else 2)
        return f"{length(walked, unit)} from {end}" if walked else f"at {end}"

    @cached_property
    def _rows(self) -> Mapping[Hashable, int]:
        return {name: row for row, name in enumerate(self.network.addresses.ids)}

    def _end(self, row: int, edge: int, *, from_head: bool) -> str:
        """The end of an edge: the user's name, else what meets there, and its side by the compass."""
        addresses, graph = self.network.addresses, self.graph
        side = self._side(edge, from_head=from_head)
        vertex = int((graph.heads if from_head else graph.tails)[edge])
        others = sorted({self.names[each] for each in self._meeting[vertex]} - {self.names[edge]})
        if not self.network.report.has_vertex_ids:
            return f"its {side + ' ' if side else ''}end{f' at {others[0]}' if others else ''}"
        own = (addresses.heads if from_head else addresses.tails)[row]
        named = f"{'vertex ' if isinstance(own, int) else ''}{name_of(None, own)}"
        corner = others[0] if others and self._given_names is not None else ""
        if not side:
            return f"{named}{f' ({corner})' if corner else ''}"
        return f"{named}, its {side} end{f' at {corner}' if corner else ''}"

    @cached_property
    def _meeting(self) -> list[list[int]]:
        found: list[list[int]] = [[] for _ in range(self.graph.n_vertices)]
        for edge, ends in enumerate(zip(self.graph.tails.tolist(), self.graph.heads.tolist(), strict=True)):
            for vertex in set(ends):
                found[vertex].append(edge)
        return found

    def _side(self, edge: int, *, from_head: bool) -> str:
        if not self.is_north_up:
            return ""
        tail, head = self.graph.drawing.tail_places[edge, :2], self.graph.drawing.head_places[edge, :2]
        x, y = (head - tail) if from_head else (tail - head)
        return "" if x == y == 0 else COMPASS[round(np.arctan2(y, x) / (pi / 4)) % 8]

    def point(self, given: Mapping[str, Any]) -> Point:
        """The point of a place as a program or a browser gives it."""
        kinds = [name for name in ("index", "edge", "node", "xy", "lon_lat") if given.get(name) is not None]
        if len(kinds) != 1:
            raise PointError(
                f"a place is said once, by index, edge, node, xy or lon_lat, got {', '.join(kinds) or 'none'}"
            )
        value, network = given[kinds[0]], self.network
        if kinds[0] == "index":
            return Points(np.array([int(value[0])]), np.array([float(value[1])]), graph=network.graph)[0]
        if kinds[0] == "node":
            return network.points(as_id(value, network.graph.has_vertex))[0]
        if kinds[0] == "edge":
            if not is_number(given.get("distance")):
                raise PointError(f"an edge needs a distance, got {shown(given.get('distance'))}")
            return network.points(as_id(value, network.graph.has_edge), float(given["distance"]))[0]
        limit, crs = given.get("limit"), DEGREES if kinds[0] == "lon_lat" else None
        return network.locate([value], crs=crs, limit=limit)[0][0]


def as_id(value: Any, is_known: Any) -> Any:
    """An id as JSON has it: lists are tuples, and what is typed is a number if there is no such text."""
    if isinstance(value, list):
        return tuple(as_id(each, lambda _: True) for each in value)
    is_number_typed = isinstance(value, str) and value.lstrip("-").isdigit() and not is_known(value)
    return int(value) if is_number_typed and is_known(int(value)) else value


def name_of(given: Any, own: Hashable) -> str:
    """What people call an edge: its name if it has one, else its id."""
    if isinstance(given, str) and given.strip():
        return given
    if isinstance(given, list | tuple) and given and all(isinstance(each, str) for each in given):
        return " / ".join(given)
    return "–".join(map(str, own)) if isinstance(own, tuple) else str(own)


def lay_out(graph: MetricGraph) -> FloatArray:
    """Positions for a network without any: springs for few vertices, distances from landmarks for many."""
    if graph.n_vertices <= FEW_VERTICES:
        links = networkx.Graph()
        links.add_nodes_from(range(graph.n_vertices))
        pairs: Iterable[tuple[int, int]] = zip(graph.tails.tolist(), graph.heads.tolist(), strict=True)
        for (tail, head), long in zip(pairs, graph.lengths.tolist(), strict=True):
            if tail != head and long <= links.get_edge_data(tail, head, {"weight": np.inf})["weight"]:
                links.add_edge(tail, head, weight=long)
        layout = networkx.kamada_kawai_layout(links, weight="weight")
        return np.array([layout[vertex] for vertex in range(graph.n_vertices)]) * graph.total_length
    vertices = graph.vertex_points()
    marks, nearest = [0], np.full(len(vertices), np.inf)
    rows = []
    for _ in range(LANDMARKS):
        away = graph.distance(vertices[[marks[-1]]], vertices)[0]
        rows.append(np.where(np.isfinite(away), away, 2 * graph.diameter))
        nearest = np.minimum(nearest, rows[-1])
        marks.append(int(np.argmax(nearest)))
    table = np.array(rows).T
    return np.asarray(
        np.linalg.svd(table - table.mean(axis=0), full_matrices=False)[0][:, :2] * graph.diameter
    )
