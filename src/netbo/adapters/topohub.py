"""Reader of topohub's telecommunication networks: SNDlib, Topology Zoo, backbones, CAIDA, Gabriel graphs."""

import re
import warnings
from collections.abc import Mapping, Sequence
from enum import Enum
from importlib.resources import files
from typing import Any

import numpy as np

from netbo.adapters.assembly.assemble import assemble
from netbo.adapters.links import Links, as_unit
from netbo.adapters.network import Network
from netbo.arrays import FloatArray
from netbo.checks import require_positive
from netbo.errors import NetworkError
from netbo.optional import require
from netbo.wording import listing

KEY = re.compile(r"^[A-Za-z_]+/[\w-]+(/[\w-]+)*\Z")  # sndlib/newyork: a name, and no path to another file
PLANE_TOLERANCE = 0.02  # stored positions and distances have two decimals


class Positions(Enum):
    """What the stored positions are; topohub says longitude and latitude of all of them, and is wrong."""

    GEOGRAPHIC = "geographic"  # degrees, and `dist` the great circle in km
    PLANE = "plane"  # `dist` is their straight distance
    PIXELS = "pixels"  # of a picture, and `dist` a great-circle formula applied to them


def read_topohub(
    key: str,
    *,
    scale: float | None = None,
    positions: Positions | str | None = None,
    crs: Any = None,
    unit: str | None = None,
    **assembly: Any,
) -> Network:
    """Network of a stored topology such as 'sndlib/newyork' or 'topozoo/Abilene'.

    Vertices are named as stored, links by their pairs of vertices, which are also found the other way round.
    Where names are missing or repeat, the stored numbers name the vertices.

    Parameters
    ----------
    key : str
        Group and name.
    scale : float, optional
        Length of one unit of the stored positions, for drawings in pixels or in a plane; it makes lengths of
        pixels, as `coordinates_are_lengths=True` does with scale 1.
    positions : Positions or str, optional
        What they are. None decides from the data: `dist` equal to their straight distances: a plane; within
        the ranges of longitude and latitude, and not all whole numbers: degrees; else pixels, whose `dist` is
        a great-circle formula applied to pixels and must not be used.
    crs : optional
        Coordinate system of the positions, if they are a map; by default longitude and latitude for degrees.
    unit : str, optional
        Of the lengths; km for degrees.
    **assembly
        Options of `assemble`.

    Returns
    -------
    Network
        Graph, report and addresses.

    Raises
    ------
    NetworkError
        If there is no such key, or positions are pixels and nothing says how long one is.

    Examples
    --------
    >>> graph = read_topohub("topozoo/Abilene").graph
    >>> graph.n_vertices, graph.n_edges, graph.unit
    (11, 14, 'km')
    """
    links = links_from_topohub(key, scale=scale, positions=positions, crs=crs, unit=unit)
    if scale is not None:
        assembly = {"coordinates_are_lengths": True, "lengths": "drawn"} | assembly
    return assemble(links, **assembly)


def links_from_topohub(
    key: str,
    *,
    scale: float | None = None,
    positions: Positions | str | None = None,
    crs: Any = None,
    unit: str | None = None,
) -> Links:
    """Links of a stored topology; parameters are those of `read_topohub`."""
    stored = _stored(key)
    nodes, edges = stored["nodes"], stored["edges"]
    names, named = _names(nodes)
    places = {names[node["id"]]: _position(node, key) for node in nodes}
    ids = [(names[edge["source"]], names[edge["target"]]) for edge in edges]
    distances = np.array([edge.get("dist", np.nan) for edge in edges], dtype=np.float64)
    kind = _as_kind(positions) or _kind_of(places, ids, distances)
    is_geographic = kind is Positions.GEOGRAPHIC
    factor = _factor(scale, kind, key)
    is_drawn = kind is Positions.PIXELS and scale is not None  # the user says what a pixel is
    return Links(
        source=f"topohub {key}",
        ids=ids,
        tails=[tail for tail, _ in ids],
        heads=[head for _, head in ids],
        lengths=None if is_drawn else distances * factor,
        positions={name: tuple(factor * x for x in place) for name, place in places.items()},
        crs="EPSG:4326" if is_geographic and crs is None else crs,
        unit=as_unit(unit, "km", "topohub") if is_geographic else unit,
        attributes={"dist": distances.tolist()},
        aliases={(head, tail): ((tail, head), True) for tail, head in ids if tail != head},
        notes=[named, _explain(kind, scale)],
        distrusted_lengths=kind is Positions.PIXELS and not is_drawn,
    )


def _stored(key: str) -> dict[str, Any]:
    topohub = require("topohub", extra="telecom", purpose="reading telecommunication networks")
    if not isinstance(key, str) or not KEY.match(key):
        raise NetworkError(f"no topology of topohub has the key {key!r:.80}; {_hint('')}")
    try:
        with warnings.catch_warnings():
            warnings.simplefilter(
                "ignore", ResourceWarning
            )  # topohub leaves its file to the garbage collector
            stored: dict[str, Any] = topohub.get(key)
    except KeyError as cause:
        raise NetworkError(f"no topology of topohub has the key {key!r}; {_hint(key)}") from cause
    return stored


def _hint(key: str) -> str:
    """The keys of the group asked for, or the groups."""
    data = files("topohub") / "data"
    group = key.partition("/")[0]
    folder = data / group
    if group and folder.is_dir():
        known = sorted(f"{group}/{each.name.removesuffix('.json')}" for each in folder.iterdir())
        return f"in {group!r} there are {', '.join(known)}"
    groups = sorted(each.name for each in data.iterdir() if each.is_dir() and not each.name.startswith("_"))
    return f"keys begin with one of {', '.join(groups)}, as in 'sndlib/newyork'"


def _names(nodes: Sequence[Mapping[str, Any]]) -> tuple[dict[Any, Any], str]:
    """The user's name of each stored number, and a sentence about them."""
    names = [node.get("name") for node in nodes]
    if None in names or len(set(names)) < len(names):
        return {node["id"]: node["id"] for node in nodes}, (
            "vertices are named by their stored numbers: some names are missing or repeat"
        )
    return {node["id"]: str(node["name"]) for node in nodes}, "vertices have their stored names"


def _position(node: Mapping[str, Any], key: str) -> tuple[float, float]:
    x, y = node.get("pos") or (np.nan, np.nan)
    if not np.isfinite([x, y]).all():
        raise NetworkError(f"nodes need positions, got none of node {node['id']!r} in {key}; choose another")
    return float(x), float(y)


def _kind_of(
    places: Mapping[Any, tuple[float, float]], ids: Sequence[tuple[Any, Any]], distances: FloatArray
) -> Positions:
    tails, heads = (np.array([places[pair[end]] for pair in ids]) for end in (0, 1))
    straight = np.linalg.norm(heads - tails, axis=1)
    if np.nanmax(np.abs(straight - distances)) <= PLANE_TOLERANCE:
        return Positions.PLANE
    xy = np.array(list(places.values()))
    is_within = bool((np.abs(xy) <= [180.0, 90.0]).all())
    are_whole = bool((xy == np.round(xy)).all())  # sndlib/india35: pixels that would pass for degrees
    return Positions.GEOGRAPHIC if is_within and not are_whole else Positions.PIXELS


def _as_kind(chosen: Positions | str | None) -> Positions | None:
    if chosen is None or isinstance(chosen, Positions):
        return chosen
    words = {kind.value: kind for kind in Positions}
    if chosen not in words:
        raise NetworkError(f"positions must be one of {listing(words)} or None, got {chosen!r}; choose one")
    return words[chosen]


def _factor(scale: float | None, kind: Positions, key: str) -> float:
    if scale is None:
        return 1.0
    if kind is Positions.GEOGRAPHIC:
        raise NetworkError(
            f"scale is for drawings, got {scale} for {key}, whose positions are longitude and latitude; "
            "leave it out: its lengths are kilometres"
        )
    kind_of_number = "a positive length of one pixel"
    return require_positive("scale", scale, "try 1/150", kind=kind_of_number, error=NetworkError)


def _explain(kind: Positions, scale: float | None) -> str:
    scaled = "" if scale is None else f", multiplied by {scale:g}"
    if kind is Positions.GEOGRAPHIC:
        return (
            "positions are taken as longitude and latitude, lengths are the stored great-circle kilometres: "
            "cables are longer"
        )
    if kind is Positions.PLANE:
        return f"positions are places in a plane{scaled}, and the stored lengths their straight distances"
    return (
        f"positions are pixels of a picture{scaled}; the stored `dist` is a great-circle formula applied to "
        "pixels and is not used as a length"
    )
