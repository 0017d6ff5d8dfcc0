"""What is known of a network, back on the user's map: line pieces, points, tables; needs geopandas.

Layers carry the user's edge ids and measures along the user's edges, in the coordinate system of the source.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike

from netbo.adapters.maps.map_files import write_csv, write_layers
from netbo.adapters.maps.short_lines import ShortLines, addresses_of, coordinates_of, crs_of, graph_of
from netbo.adapters.network import Network
from netbo.arrays import FloatArray
from netbo.errors import NetworkError
from netbo.geometry import MetricGraph, Points
from netbo.optional import require

if TYPE_CHECKING:
    import pandas as pd

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
