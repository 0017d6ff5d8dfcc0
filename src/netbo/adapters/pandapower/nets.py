"""Pandapower nets: opening files, switches, and the drawing of buses and lines."""

import json
import logging
import warnings
from collections.abc import Hashable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from netbo.adapters.assembly.directions import direct_curves, pack_curves
from netbo.adapters.assembly.draft import number_vertices
from netbo.arrays import FloatArray
from netbo.errors import NetworkError
from netbo.optional import require

PURPOSE = "reading power networks"


def load_pandapower(module: str = "pandapower") -> Any:
    """The pandapower package or one of its modules."""
    return require(module, extra="power", purpose=PURPOSE)


def open_net(source: Any) -> tuple[Any, str]:
    """A pandapower net of a JSON file or of itself, and its name for people."""
    pandapower = load_pandapower()
    if isinstance(source, pandapower.pandapowerNet):
        return source, f"pandapower net {source.name!r}" if source.name else "pandapower net"
    path = Path(source)
    if not path.is_file():
        raise NetworkError(f"a pandapower file must exist, got {path}; check the path")
    try:
        harmless = json.dumps(_harmless(json.loads(path.read_text(encoding="utf-8")), path.name))
        with quiet():
            net = pandapower.from_json_string(harmless, convert=True)
    except NetworkError:
        raise
    except Exception as cause:  # the parser raises whatever the broken file provokes
        raise NetworkError(
            f"a pandapower file must be JSON written by pandapower.to_json, got {type(cause).__name__} in "
            f"{path.name}; write it again"
        ) from cause
    return net, f"pandapower file {path.name}"


# pandapower imports the modules that its files name, and makes objects of their classes. So it is given a
# document written anew, in which every object was looked at: also those in text that is JSON once more.

OF_PANDAS = ("pandas", "pandas.core.frame", "pandas.core.series")
OBJECTS = {  # what a net is made of, by package; None: every class that pandapower itself lets pass
    "builtins": ("complex", "tuple", "set", "frozenset"),
    "pandas": None, "numpy": None, "shapely": None,
    "networkx": ("MultiGraph",),
    "geopandas": ("GeoDataFrame",),
    "pandapower": None,
}  # fmt: skip


def _harmless(value: Any, file: str) -> Any:
    """The same document if its objects are those of a net; pandapower is given nothing that was not seen."""
    if isinstance(value, list):
        return [_harmless(each, file) for each in value]
    if isinstance(value, str):
        return _harmless_text(value, file)
    if not isinstance(value, dict):
        return value
    if "_module" in value or "_class" in value:
        _require_known(value.get("_module"), value.get("_class"), file)
        if value.get("_module") in OF_PANDAS and isinstance(value.get("_object"), str):
            # pandas takes a path for its content, and has a parser of its own: it gets our writing
            return {**value, "_object": json.dumps(_harmless(json.loads(value["_object"]), file))}
    return {name: _harmless(each, file) for name, each in value.items()}


def _harmless_text(text: str, file: str) -> str:
    """Text as it is; if it is JSON with objects in it, these are looked at too."""
    if text.lstrip()[:1] in ("{", "[", '"'):
        inside = None
        with suppress(ValueError):
            inside = json.loads(text)
        _harmless(inside, file)
    return text


def _require_known(module: Any, name: Any, file: str) -> None:
    package = module.partition(".")[0] if isinstance(module, str) else None
    classes = OBJECTS.get(package, ()) if package is not None else ()
    if (classes is not None and name not in classes) or name in ("function", "method"):
        raise NetworkError(
            f"a pandapower file may hold objects of pandapower and its tables, got {name!r:.40} of the "
            f"module {module!r:.60} in {file}; if you trust the file, open it with pandapower.from_json and "
            "pass the net"
        )


def open_ends(net: Any) -> dict[int, set[int]]:
    """Buses at which a line is switched off, by line."""
    ends: dict[int, set[int]] = {}
    for bus, line in _switches(net, "l", closed=False)[["bus", "element"]].itertuples(index=False):
        ends.setdefault(int(line), set()).add(int(bus))
    return ends


def open_elements(net: Any, kind: str) -> set[int]:
    """Transformers ('t') or three-winding transformers ('t3') with an open switch."""
    return {int(element) for element in _switches(net, kind, closed=False)["element"]}


def bus_switches(net: Any, *, closed: bool) -> pd.DataFrame:
    """Switches between buses."""
    return _switches(net, "b", closed=closed)


def _switches(net: Any, kind: str, *, closed: bool) -> pd.DataFrame:
    table: pd.DataFrame = net.switch
    return table[(table["et"] == kind) & (table["closed"].astype(bool) == closed)]


@contextmanager
def quiet() -> Iterator[None]:
    """pandapower warns of its own old tables and of pandas to come, and that branch results are new."""
    logger = logging.getLogger("pandapower")
    level = logger.level
    logger.setLevel(logging.CRITICAL)
    try:
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", module=r"pandapower\..*")
            yield
    finally:
        logger.setLevel(level)


# The drawing of a pandapower net: GeoJSON of buses and lines, on a map or schematic.

EARTH_RADIUS = 6371.0  # km
PLAUSIBLE = (0.2, 2.0)  # straight over stated length of a typical line, if the drawing is a map in degrees
Place = tuple[float, ...]


@dataclass(frozen=True, eq=False)
class Drawing:
    """Positions of buses, courses of lines (from bus to bus; None: straight), and what was done for them."""

    positions: dict[Hashable, Place] | None
    curves: dict[int, FloatArray]
    crs: Any
    notes: list[str]


def drawing_of(net: Any, buses: set[int], crs: Any) -> Drawing:
    """The drawing of the buses named and of the lines between them.

    crs: None decides: degrees on the globe if the coordinates can be, and the straight lines between the
    buses are then about as long as `length_km` says; otherwise a schematic.
    """
    positions = _geometries(net.bus, "bus")
    courses = _geometries(net.line, "line")
    _add_missing(positions, courses, net.line)
    missing = sorted(buses - positions.keys())
    if missing:
        note = "the net has no drawing" if len(missing) == len(buses) else (
            f"{len(missing)} buses, the first {missing[0]}, have no coordinates: the network has no drawing"
        )  # fmt: skip
        return Drawing(None, {}, None, [note])
    places: dict[Hashable, Place] = {bus: _as_place(positions[bus], f"bus {bus}") for bus in sorted(buses)}
    curves, widest = _curves(courses, net.line, places)
    notes = []
    if widest > 0:
        notes.append(
            f"some lines are drawn beside their buses (by up to {widest:.2g}); they were joined straight"
        )
    if crs is None:
        crs = "EPSG:4326" if _is_map(net.line, places) else None
        notes.append(
            "coordinates are taken as longitude and latitude: straight lines between them fit length_km"
            if crs
            else "coordinates are taken as a schematic: as degrees they would not fit length_km"
        )
    return Drawing(places, curves, crs, notes)


def _geometries(table: Any, kind: str) -> dict[int, FloatArray]:
    """Coordinates by index, (k, 2); k is 1 for buses."""
    if "geo" not in table:
        return {}
    found = {}
    for index, text in table["geo"].items():
        if not isinstance(text, str) or not text:
            continue
        try:
            coordinates = np.atleast_2d(np.array(json.loads(text)["coordinates"], dtype=np.float64))[:, :2]
        except (ValueError, KeyError, TypeError, IndexError) as cause:
            raise NetworkError(
                f"geo of {kind} {index} must be GeoJSON, got {text!r:.60}; convert old nets with "
                "pandapower.convert_format"
            ) from cause
        if np.isfinite(coordinates).all():
            found[int(index)] = coordinates
    return found


def _add_missing(positions: dict[int, FloatArray], courses: Mapping[int, FloatArray], lines: Any) -> None:
    """Buses without coordinates stand where a drawn line ends."""
    for line, course in courses.items():
        tail, head = (int(lines.at[line, column]) for column in ("from_bus", "to_bus"))
        positions.setdefault(tail, course[:1])
        positions.setdefault(head, course[-1:])


def _as_place(coordinates: FloatArray, name: str) -> Place:
    if len(coordinates) != 1:
        raise NetworkError(f"geo of {name} must be one place, got {len(coordinates)}; use a GeoJSON Point")
    return tuple(coordinates[0].tolist())


def _curves(
    courses: Mapping[int, FloatArray], lines: Any, places: Mapping[Hashable, Place]
) -> tuple[dict[int, FloatArray], float]:
    """Courses from bus to bus, and the widest gap between a bus and the end of its line."""
    chosen = lines.loc[list(courses)]
    chosen = chosen[chosen["from_bus"].isin(places) & chosen["to_bus"].isin(places)]
    tails, heads, names = number_vertices(chosen["from_bus"].tolist(), chosen["to_bus"].tolist())
    positions = np.array([places[bus] for bus in names]).reshape(-1, 2)
    packed = pack_curves([courses[line] for line in chosen.index], 2)
    directed = direct_curves(packed, (tails, heads), positions)
    curves, widest = {}, 0.0
    for row, line in enumerate(chosen.index.tolist()):
        drawn, tail, head = directed.curve(row), positions[tails[row]], positions[heads[row]]
        gaps = [float(np.linalg.norm(drawn[0] - tail)), float(np.linalg.norm(drawn[-1] - head))]
        widest = max(widest, *gaps)
        parts = [tail[None]] * (gaps[0] > 0) + [drawn] + [head[None]] * (gaps[1] > 0)
        curves[int(line)] = np.concatenate(parts)
    return curves, widest


def _is_map(lines: pd.DataFrame, places: Mapping[Hashable, Place]) -> bool:
    """Whether the coordinates, read as degrees, fit the lengths of the lines."""
    known = lines[lines["from_bus"].isin(places) & lines["to_bus"].isin(places) & (lines["length_km"] > 0)]
    tails, heads = (np.array([places[bus] for bus in known[end]]) for end in ("from_bus", "to_bus"))
    if not len(known) or (np.abs(np.concatenate([tails, heads])) > [180.0, 90.0]).any():
        return False
    ratio = float(np.median(_great_circle(tails, heads) / known["length_km"].to_numpy()))
    return PLAUSIBLE[0] <= ratio <= PLAUSIBLE[1]


def _great_circle(tails: FloatArray, heads: FloatArray) -> FloatArray:
    """Kilometres on a sphere between places in degrees, by the haversine formula."""
    (x, y), (u, v) = np.radians(tails).T, np.radians(heads).T
    h = np.sin((v - y) / 2) ** 2 + np.cos(y) * np.cos(v) * np.sin((u - x) / 2) ** 2
    return np.asarray(2 * EARTH_RADIUS * np.arcsin(np.sqrt(h)))
