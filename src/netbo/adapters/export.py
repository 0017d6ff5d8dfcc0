"""What is known of a network, back on the user's map: line pieces, points, tables; needs geopandas.

Layers carry the user's edge ids and measures along the user's edges, in the coordinate system of the source.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike

from netbo.adapters.network import Network
from netbo.adapters.projection import transform
from netbo.arrays import BoolArray, FloatArray, IntArray, ranges
from netbo.errors import NetworkError
from netbo.files import replacing
from netbo.geometry import MetricGraph, Points
from netbo.geometry.places import corners_within
from netbo.optional import require

if TYPE_CHECKING:
    import pandas as pd


# A network cut into short lines with the measures of their ends, as maps of other programs want them.

USUAL_PIECES = 2000  # of a whole network, about; at least one an edge


@dataclass(frozen=True, eq=False)
class ShortLines:
    """Pieces of edges, each from one fraction of its edge to another, that cover the network once."""

    network: Network | MetricGraph
    edge: IntArray  # (n,)
    start: FloatArray  # (n,) fractions of the edge
    stop: FloatArray  # (n,)

    @classmethod
    def cut(cls, network: Network | MetricGraph, max_piece: float | None = None) -> ShortLines:
        """Even pieces of every edge, none longer than max_piece, by default about 2,000 in all."""
        graph = graph_of(network)
        longest = graph.total_length / USUAL_PIECES if max_piece is None else max_piece
        if not longest > 0:
            raise NetworkError(
                f"max_piece must be a positive length, got {max_piece}; leave it out for about "
                f"{USUAL_PIECES} pieces"
            )
        counts = np.maximum(np.ceil(graph.lengths / longest), 1).astype(np.int64)
        edge = np.repeat(np.arange(graph.n_edges), counts)
        number = ranges(np.zeros(graph.n_edges, dtype=np.int64), counts)
        return cls(network, edge, number / counts[edge], (number + 1) / counts[edge])

    @property
    def graph(self) -> MetricGraph:
        """The network's graph."""
        return graph_of(self.network)

    @property
    def middles(self) -> Points:
        """The point in the middle of each piece."""
        middle = (self.start + self.stop) / 2
        return Points(self.edge, middle * self.graph.lengths[self.edge], graph=self.graph)

    @property
    def ends(self) -> tuple[FloatArray, FloatArray]:
        """Distances along the graph's edge at which each piece begins and ends."""
        lengths = self.graph.lengths[self.edge]
        return self.start * lengths, self.stop * lengths

    def measures(self) -> tuple[list[Hashable], FloatArray, FloatArray]:
        """The user's id of each piece, and its smaller and larger measure along the user's edge."""
        ids, at_tail, at_head = _measures(self.network)
        first, last = at_tail[self.edge], at_head[self.edge]
        # Weighted ends, so that neighbours share a measure and the last one is the edge's own.
        begin = (1 - self.start) * first + self.start * last
        end = (1 - self.stop) * first + self.stop * last
        return [ids[edge] for edge in self.edge.tolist()], np.minimum(begin, end), np.maximum(begin, end)

    @property
    def is_backwards(self) -> BoolArray:
        """Whether the measure of the user's edge falls along the graph's edge, (n,)."""
        _, at_tail, at_head = _measures(self.network)
        return np.asarray((at_head < at_tail)[self.edge])

    def geometry(self, crs: Any = None) -> Any:
        """A shapely line for each piece, bends included, that runs with the measure."""
        shapely = require("shapely", extra="geo", purpose="lines of a map")
        graph = drawn_graph_of(self.network)
        row, corner = corners_within(graph.drawing, self.edge, self.start, self.stop)
        every = np.arange(len(self.edge))
        rows = np.concatenate([every, row, every])
        fraction = np.concatenate([self.start, graph.drawing.fractions[corner], self.stop])
        order = np.lexsort((np.where(self.is_backwards[rows], -fraction, fraction), rows))
        rows, fraction = rows[order], fraction[order]
        edge = self.edge[rows]
        points = Points(edge, fraction * graph.lengths[edge], graph=graph)
        return shapely.linestrings(coordinates_of(self.network, points, crs), indices=rows)


def graph_of(network: Network | MetricGraph) -> MetricGraph:
    """The graph of a network, or the graph itself."""
    return network if isinstance(network, MetricGraph) else network.graph


def drawn_graph_of(network: Network | MetricGraph) -> MetricGraph:
    """The graph, which must have coordinates."""
    graph = graph_of(network)
    if graph.dimension is None:
        raise NetworkError(
            f"a map needs coordinates, got {graph!r} without; pass positions= or curves= to the graph, or "
            "write a table (.csv)"
        )
    return graph


def crs_of(network: Network | MetricGraph) -> Any:
    """Coordinate system of the source; None if it is not known."""
    return network.crs if isinstance(network, MetricGraph) else network.report.crs


def coordinates_of(network: Network | MetricGraph, points: Points, crs: Any = None) -> FloatArray:
    """Coordinates in a coordinate system, by default that of the source."""
    graph = drawn_graph_of(network)
    if crs is not None and crs_of(network) is None:
        raise NetworkError(
            f"coordinates can be given in {crs!r:.60} only if their own system is known, got none; "
            "pass crs= where the network is read"
        )
    if isinstance(network, MetricGraph):
        return transform(graph.embed(points), graph.crs, crs)
    return network.coordinates(points, crs=crs)


def addresses_of(network: Network | MetricGraph, points: Points) -> tuple[list[Hashable], FloatArray]:
    """The user's edge id of each point, and its distance from the start of the user's edge."""
    bound = graph_of(network).bind(points)
    if isinstance(network, MetricGraph):
        return [network.edge_ids[edge] for edge in bound.edge.tolist()], bound.z
    row, measure = network.addresses.measure(bound.edge, bound.z)
    return [network.addresses.ids[link] for link in row.tolist()], measure


def _measures(network: Network | MetricGraph) -> tuple[list[Hashable], FloatArray, FloatArray]:
    """For each edge of the graph the user's id, and the measure at its tail and head."""
    if isinstance(network, MetricGraph):
        return list(network.edge_ids), np.zeros(network.n_edges), network.lengths
    return network.addresses.for_edges()


# Maps and tables on disk: whole or not at all.


GEOPACKAGE, GEOJSON = (".gpkg",), (".geojson", ".json")
LONGITUDE_LATITUDE = "EPSG:4326"  # all that RFC 7946 allows
DIGITS = 9  # of a degree: a tenth of a millimetre


def write_layers(path: Path, layers: Mapping[str, Any]) -> Path:
    """GeoDataFrames as layers of a GeoPackage, or as the features of one GeoJSON file."""
    suffix = path.suffix.lower()
    if suffix not in (*GEOPACKAGE, *GEOJSON):
        raise NetworkError(
            f"a map must be a file {', '.join((*GEOPACKAGE, *GEOJSON))}, got {path.name!r}; "
            "GeoPackage keeps the coordinate system"
        )
    if not layers:
        raise NetworkError(f"a map needs at least one layer, got none for {path.name!r}; pass columns")
    finite = {name: _without_infinities(frame) for name, frame in layers.items()}
    with replacing(path) as unfinished, warnings.catch_warnings():
        # A network without a coordinate system is the user's own, and no reason to warn.
        warnings.filterwarnings("ignore", message="'crs' was not provided")
        if suffix in GEOPACKAGE:
            for name, frame in finite.items():
                frame.to_file(unfinished, layer=name, driver="GPKG", index=False)
        else:
            together = _together(finite)
            together.to_file(
                unfinished, layer=path.stem, driver="GeoJSON", index=False, RFC7946="YES",
                COORDINATE_PRECISION=str(DIGITS),
            )  # fmt: skip
    return path


def write_csv(path: Path, table: pd.DataFrame) -> Path:
    """A table as CSV, without its index; numbers with all their digits."""
    with replacing(path) as unfinished:
        table.to_csv(unfinished, index=False)
    return path


def _together(layers: Mapping[str, Any]) -> Any:
    """All layers in one frame, in longitude and latitude, told apart by the column `layer`."""
    import pandas as pd  # noqa: PLC0415 - reading networks needs none

    frames = []
    for name, frame in layers.items():
        if frame.crs is None:
            raise NetworkError(
                "GeoJSON is in longitude and latitude (RFC 7946), got a network without a coordinate system; "
                "write .gpkg, or pass crs= where the network is read"
            )  # fmt: skip
        located = frame.to_crs(LONGITUDE_LATITUDE)
        located.insert(0, "layer", name)
        frames.append(located)
    first = frames[0]
    return type(first)(pd.concat(frames, ignore_index=True), crs=LONGITUDE_LATITUDE)


def _without_infinities(frame: Any) -> Any:
    """The same with nothing in place of infinities, which no file format has."""
    numbers = frame.select_dtypes("floating").columns
    return frame.assign(**{name: frame[name].where(np.isfinite(frame[name])) for name in numbers})


Column = Callable[[Points], FloatArray]
OWN_COLUMNS = ("edge_id", "from_measure", "to_measure", "distance", "geometry")


def pieces_frame(
    network: Network | MetricGraph,
    columns: Mapping[str, Column | Sequence[Any] | FloatArray],
    *,
    max_piece: float | None = None,
    crs: Any = None,
) -> Any:
    """A GeoDataFrame of short lines: edge_id, from_measure, to_measure, your columns, geometry.

    columns: functions of Points, taken in the middle of each piece, such as {"mean": posterior.mean}; or one
        value a piece, in the order of `ShortLines.cut(network, max_piece)`.
    max_piece: longest piece, in the unit of the graph; by default about 2,000 pieces, at least one an edge.
    crs: of the geometry, by default that of the source.

    Measures are distances from the start of your own edge, also where it was cut. Lines run with them.
    """
    geopandas = require("geopandas", extra="geo", purpose="a map")
    _require_names(columns)
    lines = ShortLines.cut(network, max_piece)
    geometry = lines.geometry(crs)
    ids, begin, end = lines.measures()
    middles = lines.middles
    values = {
        name: _values(name, column(middles) if callable(column) else column, len(middles))
        for name, column in columns.items()
    }
    table = {"edge_id": as_column(ids), "from_measure": begin, "to_measure": end, **values}
    return geopandas.GeoDataFrame(table, geometry=geometry, crs=crs or crs_of(network))


def points_frame(
    network: Network | MetricGraph,
    points: Points,
    columns: Mapping[str, ArrayLike] | None = None,
    *,
    crs: Any = None,
) -> Any:
    """A GeoDataFrame of places: edge_id, distance from the start of your edge, your columns, geometry."""
    geopandas = require("geopandas", extra="geo", purpose="a map")
    named = columns or {}
    _require_names(named)
    places = coordinates_of(network, points, crs)
    ids, distance = addresses_of(network, points)
    values = {name: _values(name, column, len(points)) for name, column in named.items()}
    geometry = geopandas.points_from_xy(*places.T)
    table = {"edge_id": as_column(ids), "distance": distance, **values}
    return geopandas.GeoDataFrame(table, geometry=geometry, crs=crs or crs_of(network))


def write_map(
    path: str | Path,
    network: Network | MetricGraph,
    columns: Mapping[str, Column | Sequence[Any] | FloatArray] | None = None,
    *,
    next_points: Points | None = None,
    layers: Mapping[str, Any] | None = None,
    max_piece: float | None = None,
    crs: Any = None,
) -> Path:
    """A GeoPackage (.gpkg) with one layer each, or one GeoJSON file (.geojson, .json) with all of them.

    columns: of the layer `field`, as in `pieces_frame`; next_points: the layer `next`.
    layers: GeoDataFrames by name, such as {"observations": points_frame(...)}.
    crs: of a GeoPackage, by default that of the source. GeoJSON is in longitude and latitude (RFC 7946), and
        a property `layer` tells its features apart.

    The file appears whole or not at all; one that was there is replaced.
    """
    found: dict[str, Any] = {}
    if columns is not None:
        found["field"] = pieces_frame(network, columns, max_piece=max_piece, crs=crs)
    if next_points is not None:
        number = np.arange(1, len(next_points) + 1)
        found["next"] = points_frame(network, next_points, {"number": number}, crs=crs)
    return write_layers(Path(path), found | dict(layers or {}))


def observations_table(
    network: Network | MetricGraph,
    points: Points,
    values: ArrayLike,
    *,
    noise: ArrayLike | None = None,
    status: Sequence[str] | None = None,
) -> pd.DataFrame:
    """One row a measurement: edge, distance (from the start of your edge), x, y, value, noise, status.

    x and y are in the coordinate system of the source, and missing for a network without coordinates.
    """
    import pandas as pd  # noqa: PLC0415 - reading networks needs none

    n = len(points)
    ids, distance = addresses_of(network, points)
    is_drawn = graph_of(network).dimension is not None
    places = coordinates_of(network, points) if is_drawn else np.full((n, 2), np.nan)
    return pd.DataFrame(
        {
            "edge": as_column(ids),
            "distance": distance,
            "x": places[:, 0],
            "y": places[:, 1],
            "value": _values("value", values, n),
            "noise": np.full(n, np.nan) if noise is None else _values("noise", noise, n),
            "status": ["observed"] * n if status is None else _values("status", status, n),
        }
    )


def write_observations(
    path: str | Path,
    network: Network | MetricGraph,
    points: Points,
    values: ArrayLike,
    *,
    noise: ArrayLike | None = None,
    status: Sequence[str] | None = None,
) -> Path:
    """The table of `observations_table` as CSV; numbers are written so that they read back exactly."""
    return write_csv(Path(path), observations_table(network, points, values, noise=noise, status=status))


def as_column(ids: Iterable[Hashable]) -> list[Hashable]:
    """Edge ids for a table: whole numbers or text as they are, anything else, or a mixture, as text.

    >>> as_column([("N1", "N2"), ("N2", "N3")])
    ["('N1', 'N2')", "('N2', 'N3')"]
    """
    plain = [_plain(each) for each in ids]
    if all(isinstance(each, int) and not isinstance(each, bool) for each in plain):
        return plain
    return [each if isinstance(each, str) else str(each) for each in plain]


def _plain(edge_id: Any) -> Any:
    """The id without numpy's numbers, whose text names their type."""
    if isinstance(edge_id, tuple):
        return tuple(_plain(each) for each in edge_id)
    return edge_id.item() if isinstance(edge_id, np.generic) else edge_id


def _require_names(columns: Mapping[str, Any]) -> None:
    taken = [name for name in columns if name in OWN_COLUMNS]
    if taken:
        raise NetworkError(
            f"columns must have names other than {', '.join(OWN_COLUMNS)}, got {taken[0]!r}; rename it"
        )


def _values(name: str, values: Any, n: int) -> Any:
    column = np.asarray(values)
    if column.shape != (n,):
        raise NetworkError(
            f"column {name!r} must have one value for each of {n} places, got shape {column.shape}; "
            "pass a function of Points, or a vector"
        )
    return column
