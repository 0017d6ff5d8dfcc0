"""Waypoints and tracks for handhelds and globes: GPX 1.1 and KML 2.2, in longitude and latitude."""

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from xml.etree.ElementTree import Element, ElementTree, SubElement, indent

import numpy as np

from netbo.adapters.network import Network
from netbo.adapters.short_lines import ShortLines, coordinates_of, crs_of, graph_of
from netbo.arrays import FloatArray, IntArray
from netbo.errors import NetworkError
from netbo.files import replacing
from netbo.geometry import MetricGraph, Points

GPX, KML = ".gpx", ".kml"
WAYPOINTS = (GPX, KML)
LONGITUDE_LATITUDE = "EPSG:4326"  # all that both formats allow
DECIMALS = 8  # of a degree: a millimetre
# XML 1.0 has no way to write control characters and halves of a pair, escaped or not.
_UNWRITABLE = re.compile("[^\t\n\r -\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


@dataclass(frozen=True, slots=True, eq=False)
class Waypoint:
    """A place with a name, and lines that belong to it; coordinates are longitude and latitude."""

    kind: str  # what it is: next, observed, failed, search
    name: str
    text: str
    at: FloatArray  # (2,)
    lines: list[FloatArray] = field(default_factory=list)  # each (n, 2)


def degrees_of(network: Network | MetricGraph, points: Points) -> FloatArray:
    """Longitudes from -180 to below 180, and latitudes, (n, 2); the coordinate system must be known."""
    require_degrees(network)
    return _within_turn(coordinates_of(network, points, LONGITUDE_LATITUDE)[:, :2])


def lines_of(
    network: Network | MetricGraph, edge: IntArray, start: FloatArray, end: FloatArray
) -> list[FloatArray]:
    """Drawn intervals of the graph's edges in degrees, bends included; those without length are left out."""
    require_degrees(network)
    has_length = end > start
    lengths = graph_of(network).lengths[edge]
    pieces = ShortLines(network, edge, start / lengths, end / lengths)
    drawn = pieces.geometry(LONGITUDE_LATITUDE)
    return [
        _within_turn(np.asarray(line.coords)[:, :2])
        for line, is_drawn in zip(drawn, has_length.tolist(), strict=True)
        if is_drawn
    ]


def require_degrees(network: Network | MetricGraph) -> None:
    """Refuse a network of which nobody knows where on earth it lies."""
    if crs_of(network) is None:
        raise NetworkError(
            "GPX and KML are in longitude and latitude, got a network without a coordinate system; "
            "pass crs= where the network is read, or write a table (.csv) or a map (.gpkg)"
        )


def _within_turn(places: FloatArray) -> FloatArray:
    """The same with longitudes from -180 to below 180, as GPX wants them."""
    x, y = places.T
    return np.column_stack([np.where((x >= -180.0) & (x < 180.0), x, (x + 180.0) % 360.0 - 180.0), y])


def write_waypoints(path: Path, waypoints: Sequence[Waypoint], title: str) -> Path:
    """A GPX or KML file by the suffix of its path; it appears whole or not at all."""
    write = {GPX: _gpx, KML: _kml}[path.suffix.lower()]
    tree = ElementTree(write(waypoints, title))
    indent(tree)
    with replacing(path) as unfinished:
        tree.write(unfinished, encoding="utf-8", xml_declaration=True)
    return path


def _add(parent: Element, tag: str, text: str = "", **attributes: str) -> Element:
    """A child with its text; children come in the order of the schema."""
    child = SubElement(parent, tag, attributes)
    child.text = _UNWRITABLE.sub("\ufffd", text) or None
    return child


def _degrees(places: FloatArray) -> list[tuple[str, str]]:
    """Longitude and latitude of each place as text."""
    return [(f"{x:.{DECIMALS}f}", f"{y:.{DECIMALS}f}") for x, y in places.tolist()]


# GPX: waypoints, then a track for each that has lines.


def _gpx(waypoints: Sequence[Waypoint], title: str) -> Element:
    schema = {"xmlns": "http://www.topografix.com/GPX/1/1", "version": "1.1"}
    root = Element("gpx", schema, creator="netbo")
    _add(_add(root, "metadata"), "name", title)
    for each in waypoints:
        _add_places(root, "wpt", each.at[None])
        _add_words(root[-1], each)
    for each in waypoints:
        if each.lines:
            track = _add(root, "trk")
            _add_words(track, each)
            for line in each.lines:
                _add_places(_add(track, "trkseg"), "trkpt", line)
    return root


def _add_places(parent: Element, tag: str, places: FloatArray) -> None:
    for longitude, latitude in _degrees(places):
        _add(parent, tag, lat=latitude, lon=longitude)


def _add_words(element: Element, waypoint: Waypoint) -> None:
    _add(element, "name", waypoint.name)
    _add(element, "desc", waypoint.text)
    _add(element, "type", waypoint.kind)


# KML: a folder for each kind.


def _kml(waypoints: Sequence[Waypoint], title: str) -> Element:
    root = Element("kml", {"xmlns": "http://www.opengis.net/kml/2.2"})
    document = _add(root, "Document")
    _add(document, "name", title)
    for kind in dict.fromkeys(each.kind for each in waypoints):
        folder = _add(document, "Folder")
        _add(folder, "name", kind)
        for each in waypoints:
            if each.kind == kind:
                _add_placemark(folder, each)
    return root


def _add_placemark(folder: Element, waypoint: Waypoint) -> None:
    mark = _add(folder, "Placemark")
    _add(mark, "name", waypoint.name)
    _add(mark, "description", waypoint.text)
    shape = _add(mark, "MultiGeometry") if waypoint.lines else mark
    for tag, places in (("Point", waypoint.at[None]), *(("LineString", line) for line in waypoint.lines)):
        _add(_add(shape, tag), "coordinates", " ".join(map(",".join, _degrees(places))))
