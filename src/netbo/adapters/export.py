"""Export to maps and tables: the network as short lines, points, observations; maps need geopandas.

Layers carry the user's edge ids and measures along the user's edges, in the coordinate system of the source.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike

from netbo.adapters.network import Network
from netbo.adapters.short_lines import (
    ShortLines,
    addresses_of,
    coordinates_of,
    crs_of,
    drawn_graph_of,
    graph_of,
)
from netbo.arrays import FloatArray
from netbo.errors import NetworkError
from netbo.files import as_cell, replacing
from netbo.geometry import MetricGraph, Points
from netbo.optional import require

if TYPE_CHECKING:
    import pandas as pd


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
    """A table as CSV, without its index; numbers with all their digits, text that no spreadsheet runs."""
    numbers = table.select_dtypes(["number", "bool"]).columns
    cells = {name: table[name].map(as_cell) for name in table.columns.difference(numbers)}
    with replacing(path) as unfinished:
        table.assign(**cells).to_csv(unfinished, index=False)
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

    Measures are distances from the start of your own edge, also where it was cut. Lines run with them.

    Parameters
    ----------
    network : Network or MetricGraph
        A drawn one.
    columns : mapping
        Functions of Points, taken in the middle of each piece, such as {"mean": posterior.mean}; or one
        value a piece, in the order of `ShortLines.cut(network, max_piece)`.
    max_piece : float, optional
        Longest piece, in the unit of the graph; by default about 2,000 pieces, at least one an edge.
    crs : optional
        Of the geometry, by default that of the source.

    Returns
    -------
    GeoDataFrame
        One row a piece.

    Raises
    ------
    NetworkError
        If the network is not drawn, or a column has a wrong name or size.

    Examples
    --------
    >>> import netbo
    >>> pieces_frame(netbo.interval(1.0), {"z": lambda x: x.z}, max_piece=0.5)["z"].tolist()
    [0.25, 0.75]
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
    """A GeoDataFrame of points: edge_id, distance from the start of your edge, your columns, geometry.

    Parameters
    ----------
    network : Network or MetricGraph
        A drawn one.
    points : Points
        Of the network.
    columns : mapping, optional
        One value a point.
    crs : optional
        Of the geometry, by default that of the source.

    Returns
    -------
    GeoDataFrame
        One row a point.

    Raises
    ------
    NetworkError
        If the network is not drawn, or a column has a wrong name or size.

    Examples
    --------
    >>> import netbo
    >>> graph = netbo.interval(1.0)
    >>> points_frame(graph, graph.points(0, [0.25, 0.5]), {"value": [1.0, 2.0]})["distance"].tolist()
    [0.25, 0.5]
    """
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

    The file appears whole or not at all; one that was there is replaced.

    Parameters
    ----------
    path : path
        Its suffix chooses the format.
    network : Network or MetricGraph
        A drawn one.
    columns : mapping, optional
        Of the layer `field`, as in `pieces_frame`.
    next_points : Points, optional
        The layer `next`.
    layers : mapping, optional
        GeoDataFrames by name, such as {"observations": points_frame(...)}.
    max_piece : float, optional
        Longest piece of the layer `field`.
    crs : optional
        Of a GeoPackage, by default that of the source. GeoJSON is in longitude and latitude (RFC 7946), and a
        property `layer` tells its features apart.

    Returns
    -------
    Path
        Of the file.

    Raises
    ------
    NetworkError
        If there is no layer, no such folder, or the coordinate system is unknown and the file is GeoJSON.
    """
    found: dict[str, Any] = {}
    if columns is not None:
        found["field"] = pieces_frame(network, columns, max_piece=max_piece, crs=crs)
    if next_points is not None:
        number = np.arange(1, len(next_points) + 1)
        found["next"] = points_frame(network, next_points, {"number": number}, crs=crs)
    return write_layers(Path(path), found | dict(layers or {}))


def write_findings(network: Network, path: str | Path) -> Path:
    """A map of what the report found: one layer `findings` with kind, sentence, name and geometry.

    Parameters
    ----------
    network : Network
        A drawn one.
    path : path
        A GeoPackage (.gpkg), or GeoJSON (.geojson, .json) where the coordinate system is known.

    Returns
    -------
    Path
        Of the file. What concerns the network as a whole has no geometry.

    Raises
    ------
    NetworkError
        If the network is not drawn, or the file is of another kind.
    """
    geopandas = require("geopandas", extra="geo", purpose="a map")
    shapely = require("shapely", extra="geo", purpose="a map")
    drawn_graph_of(network)
    found = network.findings
    table = {
        "kind": [each.kind for each in found],
        "sentence": [each.sentence for each in found],
        "name": [None if each.name is None else str(_plain(each.name)) for each in found],
    }
    geometry = [None if each.place is None else shapely.Point(each.place) for each in found]
    frame = geopandas.GeoDataFrame(table, geometry=geometry, crs=crs_of(network))
    return write_layers(Path(path), {"findings": frame})


def observations_table(
    network: Network | MetricGraph,
    points: Points,
    values: ArrayLike,
    *,
    noise: ArrayLike | None = None,
    status: Sequence[str] | None = None,
    value_unit: str | None = None,
) -> pd.DataFrame:
    """One row a measurement: edge, distance (from the start of your edge), x, y, value, noise, status.

    Parameters
    ----------
    network : Network or MetricGraph
        What was measured.
    points : Points
        Where.
    values : array_like
        One a point.
    noise : array_like, optional
        Variances.
    status : sequence of str, optional
        By default "observed".
    value_unit : str, optional
        Unit of the values: a column of its own.

    Returns
    -------
    DataFrame
        x and y are in the coordinate system of the source, and missing for a network without coordinates.

    Examples
    --------
    >>> import netbo
    >>> graph = netbo.interval(1.0)
    >>> table = observations_table(graph, graph.points(0, [0.25]), [7.0])
    >>> table[["edge", "distance", "value"]].values.tolist()
    [[0.0, 0.25, 7.0]]
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
            **({"value_unit": [value_unit] * n} if value_unit else {}),
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
    value_unit: str | None = None,
) -> Path:
    """Write the table of `observations_table` as CSV; numbers read back exactly.

    Parameters
    ----------
    path : path
        Of the file; one that is there is replaced.
    network, points, values, noise, status, value_unit
        As for `observations_table`.

    Returns
    -------
    Path
        Of the file.
    """
    table = observations_table(network, points, values, noise=noise, status=status, value_unit=value_unit)
    return write_csv(Path(path), table)


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
