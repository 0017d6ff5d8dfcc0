"""Coordinate systems: which drawings are to scale, and a local metric projection for those that are not."""

from collections.abc import Hashable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from netbo.adapters.report import Displaced
from netbo.arrays import BoolArray, FloatArray, IntArray, rows_of
from netbo.errors import NetworkError
from netbo.optional import MissingPackageError, require
from netbo.wording import CENTIMETRE

SCALE_TOLERANCE = 0.01  # maps whose lengths are off by more are not taken as lengths
UTM_HALF_WIDTH = 4.0  # degrees from the central meridian; the scale is then within 0.3 %
UTM_NORTH, UTM_SOUTH = 84.0, -80.0
AREA_MARGIN = 1.0, 5.0  # degrees; an area may be left by its own extent within these limits: maps go on
METRES = {"m": 1.0, "km": 1000.0, "ft": 0.3048, "US ft": 1200 / 3937, "mi": 1609.344}
UNITS = {
    "metre": "m",
    "meter": "m",
    "kilometre": "km",
    "foot": "ft",
    "US survey foot": "US ft",
    "degree": "degrees",
}


@dataclass(frozen=True)
class MapFrame:
    """The coordinate system of a source, and the one in which the network is drawn."""

    crs: str | None = None
    crs_name: str | None = None
    projection: str | None = None
    projection_name: str | None = None
    unit: str | None = None  # of the drawing and of drawn lengths; None where nobody knows
    scale: float | None = None  # units of the source's map per unit of true length
    is_measurable: bool = False  # whether drawn lengths are lengths
    is_geographic: bool = False
    displaced: Displaced | None = None


@dataclass(frozen=True, eq=False)
class Projected:
    """Coordinates in the frame's projection, and the true length of each drawn link in its unit."""

    coordinates: FloatArray
    starts: IntArray
    lengths: FloatArray
    frame: MapFrame
    map_lengths: FloatArray  # as they are in the source's own coordinates


def as_crs(crs: Any) -> Any:
    """The coordinate system as pyproj knows it."""
    pyproj = require("pyproj", extra="geo", purpose="reading coordinate systems")
    try:
        return pyproj.CRS.from_user_input(crs)
    except pyproj.exceptions.CRSError as cause:
        raise NetworkError(
            f"crs must be a coordinate system that pyproj knows, got {crs!r:.80}; try 'EPSG:4326'"
        ) from cause


def directions_of(crs: Any) -> tuple[str | None, bool]:
    """Unit of the coordinates, None unless they are lengths, and whether y points north.

    Neither is known without a coordinate system, or without pyproj.
    """
    if crs is None:
        return None, False
    try:
        known = as_crs(crs)
    except (MissingPackageError, NetworkError):
        return None, False
    towards = {axis.direction.lower() for axis in known.axis_info[:2]}
    return (_unit(known) if known.is_projected else None), towards == {"east", "north"}


def transform(places: FloatArray, source: Any, target: Any) -> FloatArray:
    """Places in another coordinate system, x before y; unchanged if either is unknown or both are one."""
    if source is None or target is None or source == target:
        return places
    first, second = as_crs(source), as_crs(target)
    if first == second:
        return places
    pyproj = require("pyproj", extra="geo", purpose="changing coordinate systems")
    mover = pyproj.Transformer.from_crs(first, second, always_xy=True)
    x, y = mover.transform(places[:, 0], places[:, 1])
    return np.column_stack([x, y])


def project(
    coordinates: FloatArray,
    starts: IntArray,
    crs: Any,
    ids: Sequence[Hashable],
    *,
    coordinates_are_lengths: bool = False,
    metric_crs: Any = None,
) -> Projected:
    """Coordinates in a metric projection, and lengths along the ellipsoid where the map is not to scale.

    Row r of the coordinates is starts[r]:starts[r + 1]; rows beyond the last start belong to no line.
    """
    plain = row_lengths(coordinates, starts)
    if crs is None:
        return Projected(coordinates, starts, plain, MapFrame(is_measurable=coordinates_are_lengths), plain)
    source = as_crs(crs)
    frame = MapFrame(
        crs=source.to_string(),
        crs_name=source.name,
        projection=source.to_string(),
        projection_name=source.name,
        unit=_unit(source),
        is_measurable=source.is_projected or coordinates_are_lengths,
        is_geographic=source.is_geographic,
    )
    if coordinates_are_lengths or not (source.is_projected or source.is_geographic):
        return Projected(coordinates, starts, plain, frame, plain)
    geodetic = _in_degrees(source.geodetic_crs)
    angles = transform(coordinates, source, geodetic)
    _require_angles(angles, starts, ids)
    true = ellipsoidal_lengths(angles, starts, geodetic.get_geod())
    scale = _scale(plain * _metres_per_unit(source), true) if source.is_projected else None
    frame = replace(frame, scale=scale, displaced=_displaced(source, angles, coordinates, starts, ids))
    if metric_crs is None and scale is not None and abs(scale - 1) <= SCALE_TOLERANCE:
        return Projected(coordinates, starts, plain, frame, plain)
    target = local_crs(angles) if metric_crs is None else _as_metric(metric_crs)
    return Projected(
        transform(coordinates, source, target), starts, true, _with_projection(frame, target), plain
    )


def _in_degrees(geodetic: Any) -> Any:
    """The system itself, or WGS 84 for one in grads or from another meridian than Greenwich."""
    is_usual = geodetic.axis_info[0].unit_name == "degree" and geodetic.prime_meridian.longitude == 0
    return geodetic if is_usual else as_crs("EPSG:4326")


def row_lengths(coordinates: FloatArray, starts: IntArray) -> FloatArray:
    """Lengths of the drawn lines in the unit of their coordinates."""
    steps = np.linalg.norm(np.diff(coordinates[: starts[-1]], axis=0), axis=1)
    return _sum_rows(steps, starts)


def ellipsoidal_lengths(angles: FloatArray, starts: IntArray, geod: Any) -> FloatArray:
    """Lengths in metres of lines given by longitude and latitude in degrees."""
    inside = angles[: starts[-1]]
    _, _, steps = geod.inv(inside[:-1, 0], inside[:-1, 1], inside[1:, 0], inside[1:, 1])
    return _sum_rows(np.asarray(steps, dtype=np.float64), starts)


def _sum_rows(steps: FloatArray, starts: IntArray) -> FloatArray:
    """Sums of the steps from corner to corner; a step from one row to the next counts nothing."""
    rows = rows_of(starts)
    is_inside = rows[1:] == rows[:-1]
    weights = np.where(is_inside, steps, 0.0)
    return np.bincount(rows[:-1], weights, minlength=len(starts) - 1).astype(np.float64)


def local_crs(angles: FloatArray) -> Any:
    """The UTM zone of the network, or an azimuthal equidistant projection about its middle if it is wide."""
    longitude, latitude = np.radians(angles[:, 0]), np.radians(angles[:, 1])
    # The middle is that of the directions, so that a network across the antimeridian has it inside.
    middle = np.array(
        [np.cos(latitude) * np.cos(longitude), np.cos(latitude) * np.sin(longitude), np.sin(latitude)]
    ).mean(axis=1)
    centre = float(np.degrees(np.arctan2(middle[1], middle[0])))
    height = float(np.degrees(np.arctan2(middle[2], np.hypot(middle[0], middle[1]))))
    zone = int((centre + 180.0) // 6.0) % 60 + 1
    off = np.abs((angles[:, 0] - (6.0 * zone - 183.0) + 180.0) % 360.0 - 180.0)
    low, high = angles[:, 1].min(), angles[:, 1].max()
    if off.max() <= UTM_HALF_WIDTH and high <= UTM_NORTH and low >= UTM_SOUTH:
        return as_crs(f"EPSG:{32600 + zone if height >= 0 else 32700 + zone}")
    return as_crs(
        f"+proj=aeqd +lat_0={height:.6f} +lon_0={centre:.6f} +datum=WGS84 +units=m +no_defs +type=crs"
    )


def _require_angles(angles: FloatArray, starts: IntArray, ids: Sequence[Hashable]) -> None:
    bad = np.flatnonzero(~((np.abs(angles[:, 0]) <= 360.0) & (np.abs(angles[:, 1]) <= 90.0)))
    if bad.size:
        row = min(int(np.searchsorted(starts, bad[0], side="right")) - 1, len(ids) - 1)
        raise NetworkError(
            f"coordinates must fit their coordinate system, got longitude {angles[bad[0], 0]:.6g}, latitude "
            f"{angles[bad[0], 1]:.6g} on link {ids[row]!r}; the source names the wrong one, or puts latitude "
            "first: pass the right crs"
        )


def _displaced(
    crs: Any, angles: FloatArray, coordinates: FloatArray, starts: IntArray, ids: Sequence[Hashable]
) -> Displaced | None:
    """Links outside the area for which the coordinate system is made; None if there are none."""
    area = _area_of_use(crs)
    if area is None:
        return None
    corners = coordinates[: starts[-1]]
    outside, far = _degrees_outside(angles[: starts[-1]], area)
    could_be_degrees = crs.is_projected and bool((np.abs(corners[:, :2]) <= [180.0, 90.0]).all())
    are_degrees = could_be_degrees and bool(outside.all())
    found = np.flatnonzero(outside if are_degrees else far)
    if not found.size:
        return None
    links = np.unique(rows_of(starts)[found]).tolist()
    place = tuple(corners[found[0]].tolist())
    return Displaced(area.name, tuple(ids[row] for row in links), place, are_degrees)


def _area_of_use(crs: Any) -> Any:
    """The area as pyproj knows it; systems from files often have lost the code that names it."""
    if crs.area_of_use is not None:
        return crs.area_of_use
    authority = crs.to_authority()
    return None if authority is None else as_crs(":".join(authority)).area_of_use


def _degrees_outside(angles: FloatArray, area: Any) -> tuple[BoolArray, BoolArray]:
    """Whether longitudes and latitudes lie outside an area, and whether farther than its margin."""
    width = (area.east - area.west) % 360.0 or 360.0
    east_of = (angles[:, 0] - area.west) % 360.0
    by_longitude = np.where(east_of <= width, 0.0, np.minimum(east_of - width, 360.0 - east_of))
    by_latitude = np.maximum(np.maximum(area.south - angles[:, 1], angles[:, 1] - area.north), 0.0)
    margins = np.clip([width, area.north - area.south], *AREA_MARGIN)
    far = (by_longitude > margins[0]) | (by_latitude > margins[1])
    return (by_longitude > 0) | (by_latitude > 0), far


def _scale(map_metres: FloatArray, true: FloatArray) -> float:
    total = float(true.sum())
    return float(map_metres.sum()) / total if total > 0 else 1.0


def _metres_per_unit(crs: Any) -> float:
    return float(crs.axis_info[0].unit_conversion_factor)


def _unit(crs: Any) -> str | None:
    name = crs.axis_info[0].unit_name if crs.axis_info else None
    return None if name is None else UNITS.get(name, name)


def decimals_of(crs: str | None) -> int | None:
    """Decimals of coordinates that tell centimetres apart; None where nobody knows their unit."""
    try:
        return None if crs is None else CENTIMETRE.get(_unit(as_crs(crs)) or "")
    except MissingPackageError:  # whoever only asks a study needs no coordinate systems
        return None


def _as_metric(crs: Any) -> Any:
    target = as_crs(crs)
    if not target.is_projected or _unit(target) != "m":
        raise NetworkError(
            f"metric_crs must be a projection in metres, got {target.name!r}; "
            "leave it out for a local one, or name one such as 'EPSG:32630'"
        )
    return target


def _with_projection(frame: MapFrame, target: Any) -> MapFrame:
    drawn = target.to_string()
    name = target.name if target.name != "unknown" else "azimuthal equidistant about the network's middle"
    return replace(frame, projection=drawn, projection_name=name, unit="m", is_measurable=True)
