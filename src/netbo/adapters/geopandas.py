"""Reader of lines: GeoDataFrames and every file geopandas reads."""

from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np

from netbo.adapters.assembly.assemble import assemble
from netbo.adapters.graph_links import (
    Courses,
    Directions,
    TwoWays,
    merge_directions,
    require_directions,
)
from netbo.adapters.graph_rows import GraphRows
from netbo.adapters.links import Links
from netbo.adapters.network import Network
from netbo.arrays import FloatArray
from netbo.errors import NetworkError
from netbo.files import require_data
from netbo.optional import require
from netbo.wording import counted, quoted

# Line files on disk as GeoDataFrames: one layer, feature ids as the index, errors that name the file.

PURPOSE = "reading line files"


def read_line_file(path: str | PathLike[str], layer: str | None) -> tuple[Any, str]:
    """Frame of a file's layer, indexed by feature id, and what to call it."""
    geopandas = require("geopandas", extra="geo", purpose=PURPOSE)
    file = Path(path)
    if not file.exists():
        raise NetworkError(f"a line file must exist, got {file}; check the path")
    if file.is_file():  # some formats are folders
        require_data(file)
    if file.suffix.lower() == ".kml":
        _require_kml()
    columnar = {".parquet": geopandas.read_parquet, ".feather": geopandas.read_feather}
    try:
        if file.suffix in columnar:
            return columnar[file.suffix](file), file.name
        chosen, count = _chosen_layer(geopandas, file, layer)
        frame = geopandas.read_file(file, layer=chosen, engine="pyogrio", fid_as_index=True)
    except NetworkError:
        raise
    except Exception as cause:  # drivers raise errors of their own, and hundreds of them
        raise NetworkError(
            f"{file} must be a file of lines that geopandas reads, got {type(cause).__name__}: {cause}; "
            "open it with geopandas.read_file to see what is wrong"
        ) from cause
    return frame, file.name if count == 1 else f"{file.name}, layer {chosen!r}"


def _require_kml() -> None:
    pyogrio = require("pyogrio", extra="geo", purpose="reading KML")
    if not {"KML", "LIBKML"} & set(pyogrio.list_drivers(read=True)):
        raise NetworkError(
            f"reading KML needs GDAL with its driver, got GDAL {pyogrio.__gdal_version_string__} without; "
            "convert the file to GeoJSON, or install a GDAL with the driver LIBKML"
        )


def _chosen_layer(geopandas: Any, file: Path, layer: str | None) -> tuple[str, int]:
    """The layer to read, and how many there are; several must be chosen from."""
    layers = geopandas.list_layers(file)
    names = layers["name"].tolist()
    listed = ", ".join(
        f"{name!r} ({kind or 'no geometry'})"
        for name, kind in zip(names, layers["geometry_type"].tolist(), strict=True)
    )
    if layer is None and len(names) > 1:
        raise NetworkError(f"{file} must have one layer, got {listed}; choose with layer=")
    if layer is not None and layer not in names:
        raise NetworkError(
            f"{file} has no layer {layer!r}; there are {listed}: choose among them with layer="
        )
    return (names[0] if layer is None else layer), len(names)


# The lines of a frame's features: one each, or several where the parts of a feature do not join.

LINES = ("LineString", "LinearRing", "MultiLineString")


@dataclass(frozen=True, eq=False)
class LineParts:
    """Lines with their ids, the feature each belongs to, and its share of the feature's drawn length."""

    ids: list[Hashable]
    curves: list[FloatArray]
    features: list[int]
    shares: FloatArray
    notes: tuple[str, ...]


def line_parts(
    ids: Sequence[Hashable], geometries: Sequence[Any], source: str, *, heights: bool
) -> LineParts:
    """Lines of the features; a part of a feature whose parts do not join is named (id, part)."""
    _require_lines(ids, geometries, source)
    names: list[Hashable] = []
    curves: list[FloatArray] = []
    features: list[int] = []
    shares: list[float] = []
    n_split = 0
    for feature, (name, geometry) in enumerate(zip(ids, geometries, strict=True)):
        parts = _joined(geometry)
        n_split += len(parts) > 1
        names += [name] if len(parts) == 1 else [(name, number) for number in range(len(parts))]
        curves += [np.asarray(part.coords, dtype=np.float64) for part in parts]
        features += [feature] * len(parts)
        shares += _shares(parts)
    curves, notes = _without_heights(curves, heights)
    if n_split:
        notes.append(
            f"{counted(n_split, 'feature')} of several parts that do not join: each part is an edge of its "
            "own, named (id, part)."
        )
    return LineParts(names, curves, features, np.array(shares), tuple(notes))


def _require_lines(ids: Sequence[Hashable], geometries: Sequence[Any], source: str) -> None:
    for name, geometry in zip(ids, geometries, strict=True):
        if geometry is None or geometry.is_empty:
            raise NetworkError(
                f"every feature needs a line, got an empty geometry at {name!r} in {source}; "
                "keep the others with frame[frame.geometry.notna() & ~frame.is_empty]"
            )
        if geometry.geom_type not in LINES:
            raise NetworkError(
                f"features must be lines, got a {geometry.geom_type} at {name!r} in {source}; "
                "keep the lines with frame[frame.geom_type == 'LineString']"
            )
        parts = getattr(geometry, "geoms", [geometry])
        if not all(np.isfinite(np.asarray(part.coords)).all() for part in parts):
            raise NetworkError(
                f"lines must have finite coordinates, got an invalid geometry at {name!r} in {source}; "
                "repair or drop the feature"
            )


def _shares(parts: Sequence[Any]) -> list[float]:
    """Share of each part in the drawn length of all."""
    if len(parts) == 1:
        return [1.0]
    lengths = np.array([part.length for part in parts])
    return list((lengths / lengths.sum()).tolist())


def _joined(geometry: Any) -> list[Any]:
    """One line if the parts join end to end, else the parts."""
    if geometry.geom_type != "MultiLineString":
        return [geometry]
    parts = list(geometry.geoms)
    if len(parts) == 1:
        return parts
    merged = require("shapely", extra="geo", purpose="joining parts of lines").line_merge(geometry)
    if merged.geom_type != "LineString":
        return parts
    return [merged if _runs_like(merged, parts[0]) else merged.reverse()]


def _runs_like(line: Any, part: Any) -> bool:
    """Whether the line passes the first two corners of one of its parts in their order."""
    corners = list(line.coords)
    return (part.coords[0], part.coords[1]) in pairwise(corners)


def _without_heights(curves: list[FloatArray], heights: bool) -> tuple[list[FloatArray], list[str]]:
    widths = {curve.shape[1] for curve in curves}
    if widths == {2} or (heights and widths == {3}):
        return curves, []
    return [curve[:, :2] for curve in curves], [
        "Only some lines have heights: heights were left out."
        if heights
        else "Heights of the lines were left out; pass heights=True to keep them."
    ]


def read_geopandas(
    source: Any,
    *,
    id: str | None = None,  # noqa: A002  the word users look for
    length: str | None = None,
    layer: str | None = None,
    crs: Any = None,
    unit: str | None = None,
    heights: bool = False,
    directions: Directions = "merge",
    **assembly: Any,
) -> Network:
    """Network of lines in a GeoDataFrame, several of them, or a file.

    Lines meet where their ends are exactly equal unless snap= or node= say more.

    Parameters
    ----------
    source : GeoDataFrame, GeoSeries, list of them, or path
        Lines; a file may be GeoPackage, Shapefile, GeoJSON or whatever geopandas reads.
    id : str, optional
        Column that names the features; None: the index, in a file the feature id. With several frames that is
        (number of the frame, index).
    length : str, optional
        Column that holds the lengths, in `unit`; None: the drawing is measured.
    layer : str, optional
        Of a file that has several.
    crs : optional
        Coordinate system of frames that carry none.
    unit : str, optional
        Of the lengths.
    heights : bool, default False
        Whether to keep third coordinates.
    directions : {"merge", "keep"}
        "merge" makes one edge of a line and the same line drawn from its other end, as street maps draw both
        directions of a street, if they are as long; it answers to both ids. "keep" leaves them apart.
    **assembly
        Options of `assemble`, such as snap=, node= or barriers=.

    Returns
    -------
    Network
        Graph, report and addresses.

    Raises
    ------
    NetworkError
        If the file cannot be read, a feature is no line, or a column is missing.

    Examples
    --------
    >>> import geopandas, shapely
    >>> lines = [shapely.LineString([(0, 0), (3, 4)]), shapely.LineString([(3, 4), (3, 10)])]
    >>> frame = geopandas.GeoDataFrame({"pipe": ["a", "b"]}, geometry=lines, crs="EPSG:32630")
    >>> read_geopandas(frame, id="pipe", coordinates_are_lengths=True).graph
    MetricGraph(3 vertices, 2 edges, total length 11 m, 1 component)
    """
    links = links_from_geopandas(
        source, id=id, length=length, layer=layer, crs=crs, unit=unit, heights=heights, directions=directions
    )
    return assemble(links, **assembly)


def links_from_geopandas(
    source: Any,
    *,
    id: str | None = None,  # noqa: A002  the word users look for
    length: str | None = None,
    layer: str | None = None,
    crs: Any = None,
    unit: str | None = None,
    heights: bool = False,
    directions: Directions = "merge",
) -> Links:
    """Links of lines in a table; parameters are those of `read_geopandas`."""
    require_directions(directions)
    frame, name = _frame_of(source, layer)
    ids = _ids(frame, id, name)
    parts = line_parts(ids, frame.geometry.tolist(), name, heights=heights)
    columns = {
        str(column): frame[column].tolist() for column in frame.columns if column != frame.geometry.name
    }
    lengths = _lengths(frame, length, parts, name)
    ways = _two_ways(parts, lengths, name, directions)
    return Links(
        source=name,
        ids=[parts.ids[row] for row in ways.kept],
        lengths=None if lengths is None else lengths[ways.kept],
        curves=[parts.curves[row] for row in ways.kept],
        crs=_crs(frame, crs, name),
        unit=unit,
        attributes={
            column: [values[parts.features[row]] for row in ways.kept]
            for column, values in columns.items()
            if column not in (id, length)
        },
        aliases=ways.aliases,
        notes=(*parts.notes, *ways.notes),
    )


def _two_ways(parts: LineParts, lengths: FloatArray | None, name: str, directions: Directions) -> TwoWays:
    """Lines that are drawn once more from their other end: both directions of one street."""
    if directions == "keep" or len(set(parts.ids)) < len(parts.ids):  # which is refused by its name
        return TwoWays(list(range(len(parts.ids))), {}, ())
    starts: list[Hashable] = [tuple(curve[0].tolist()) for curve in parts.curves]
    ends: list[Hashable] = [tuple(curve[-1].tolist()) for curve in parts.curves]
    rows = GraphRows(name, parts.ids, starts, ends, [{}] * len(parts.ids))
    return merge_directions(Courses(rows, lengths, parts.curves, None))


def _frame_of(source: Any, layer: str | None) -> tuple[Any, str]:
    """One frame with rows, and what to call it."""
    geopandas = require("geopandas", extra="geo", purpose=PURPOSE)
    if isinstance(source, str | PathLike):
        frame, name = read_line_file(source, layer)
    elif layer is not None:
        raise NetworkError(f"a layer is chosen from a file, got layer={layer!r} with a table; leave it out")
    elif isinstance(source, list | tuple):
        frame, name = _together(source, geopandas), f"{len(source)} GeoDataFrames"
    else:
        frame, name = source, type(source).__name__
    if isinstance(frame, geopandas.GeoSeries):
        frame = frame.to_frame("geometry")
    if not isinstance(frame, geopandas.GeoDataFrame) or frame.active_geometry_name is None:
        raise NetworkError(
            f"lines come as a GeoDataFrame with a geometry column, got {type(frame).__name__} from {name}; "
            "name the column with frame.set_geometry(...)"
        )
    if not len(frame):
        raise NetworkError(f"a network needs at least one line, got none in {name}; check the file or filter")
    return frame, name


def _together(frames: Sequence[Any], geopandas: Any) -> Any:
    """Frames of one coordinate system below each other."""
    systems = [each.crs for each in frames]
    if any(system != systems[0] for system in systems):
        number = next(i for i, system in enumerate(systems) if system != systems[0])
        raise NetworkError(
            f"lines must share one coordinate system, got {_called(systems[0])} in frame 0 and "
            f"{_called(systems[number])} in frame {number}; convert one with frame.to_crs(...)"
        )
    tables = [each.to_frame("geometry") if isinstance(each, geopandas.GeoSeries) else each for each in frames]
    pandas = require("pandas", extra="geo", purpose=PURPOSE)
    return pandas.concat(tables, keys=range(len(tables)))


def _called(system: Any) -> str:
    return "none" if system is None else str(system.to_string())


def _crs(frame: Any, crs: Any, name: str) -> Any:
    """The coordinate system of the frame; a given one may not contradict it."""
    if crs is None or frame.crs is None:
        return frame.crs if crs is None else crs
    if frame.crs != crs:
        raise NetworkError(
            f"crs= is for lines without a coordinate system, got {crs!r} for {name} in {_called(frame.crs)}; "
            "convert the lines with frame.to_crs(...)"
        )
    return frame.crs


def _ids(frame: Any, column: str | None, name: str) -> list[Hashable]:
    if column is None:
        return list(frame.index.tolist())
    values = _column(frame, column, name, "id")
    missing = np.flatnonzero(values.isna().to_numpy())
    if missing.size:
        raise NetworkError(
            f"every feature needs an id, got none in column {column!r} at row {missing[0]} of {name}; "
            "fill it, or leave id= out to use the index"
        )
    return list(values.tolist())


def _lengths(frame: Any, column: str | None, parts: LineParts, name: str) -> FloatArray | None:
    """Lengths of the parts; the parts of a feature share its length as they share the drawn one."""
    if column is None:
        return None
    given = _column(frame, column, name, "length")
    values = given.astype(object).where(given.notna(), None).tolist()  # pandas has several ways to say none
    lengths = [
        _as_length(values[feature], parts.ids[row], column) for row, feature in enumerate(parts.features)
    ]
    return np.array(lengths) * parts.shares


def _as_length(value: Any, feature: Hashable, column: str) -> float:
    try:
        return np.nan if value is None else float(value)
    except (TypeError, ValueError) as cause:
        raise NetworkError(
            f"lengths must be numbers, got {value!r:.60} in column {column!r} at {feature!r}; "
            "convert it first"
        ) from cause


def _column(frame: Any, column: str, name: str, option: str) -> Any:
    if column not in frame.columns:
        there = quoted(str(each) for each in frame.columns if each != frame.geometry.name)
        raise NetworkError(
            f"{name} has no column {column!r}; there are {there}: pass one of them as {option}=, or none"
        )
    return frame[column]
