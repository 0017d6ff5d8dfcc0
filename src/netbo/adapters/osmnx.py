"""Reader of OSMnx street networks: both directions of a street once, lengths in metres."""

from os import PathLike
from pathlib import Path
from typing import Any

from netbo.adapters.assembly.assemble import assemble
from netbo.adapters.graph_links import (
    Directions,
    GraphReading,
    TwoWays,
    links_of,
    merge_directions,
    read_edges,
    require_directions,
    require_graph,
    undirected_names,
)
from netbo.adapters.links import Links, as_unit
from netbo.adapters.network import Network
from netbo.adapters.projection import as_crs
from netbo.errors import NetworkError
from netbo.files import xml_root
from netbo.optional import require


def read_osmnx(
    source: Any,
    *,
    length: str | None = "length",
    directions: Directions = "merge",
    crs: Any = None,
    unit: str | None = None,
    **assembly: Any,
) -> Network:
    """Network of an OSMnx graph, or of a GraphML file saved by OSMnx; streets are named (u, v, key).

    Parameters
    ----------
    source : networkx.MultiDiGraph, networkx.MultiGraph or path
        The graph, or a file of one.
    length : str or None, default "length"
        Edge attribute that holds the lengths in metres, which OSMnx measures on the globe; None: the drawing
        is measured.
    directions : {"merge", "keep"}
        "merge" makes one edge of the two directions of a street (same osmid, same course, same length), which
        answers to both ids; "keep" leaves them apart. One-way streets stay as they are.
    crs : optional
        Coordinate system, by default graph.graph["crs"], which it may not contradict.
    unit : str, optional
        "m", as OSMnx measures; there is no other.
    **assembly
        Options of `assemble`, such as metric_crs= or barriers=.

    Returns
    -------
    Network
        Graph, report and addresses.

    Raises
    ------
    NetworkError
        If the graph names no coordinate system, or the file is no GraphML of OSMnx.

    Examples
    --------
    >>> import networkx
    >>> graph = networkx.MultiDiGraph(crs="EPSG:32630")
    >>> graph.add_node(1, x=0.0, y=0.0)
    >>> graph.add_node(2, x=30.0, y=40.0)
    >>> _ = [graph.add_edge(*ends, osmid=7, length=50.0) for ends in ((1, 2), (2, 1))]
    >>> read_osmnx(graph, coordinates_are_lengths=True).graph
    MetricGraph(2 vertices, 1 edge, total length 50 m, 1 component)
    """
    links = links_from_osmnx(source, length=length, directions=directions, crs=crs, unit=unit)
    return assemble(links, **assembly)


def links_from_osmnx(
    source: Any,
    *,
    length: str | None = "length",
    directions: Directions = "merge",
    crs: Any = None,
    unit: str | None = None,
) -> Links:
    """Links of an OSMnx graph; parameters are those of `read_osmnx`."""
    require_directions(directions)
    name = "OSMnx graph"
    graph = source
    if isinstance(source, str | PathLike):
        name, graph = f"GraphML {Path(source).name}", _load(Path(source))
    require_graph(graph, "the source")
    _require_streets(graph, name, crs)
    reading = read_edges(
        graph, name, length=length, id_attribute=None, geometry="geometry", positions=("x", "y")
    )
    ways = _ways(graph, reading, directions)
    return links_of(reading, ways, crs=crs, unit=as_unit(unit, "m", "OSMnx"))


def _load(path: Path) -> Any:
    """The graph in a GraphML file, with the types OSMnx gives its attributes."""
    osmnx = require("osmnx", extra="osm", purpose="reading GraphML saved by OSMnx")
    if not path.is_file():
        raise NetworkError(f"a GraphML file must exist, got {path}; check the path")
    with path.open("rb") as content:
        xml_root(content, str(path))
    try:
        return osmnx.load_graphml(path)
    except Exception as cause:  # of the parser, of NetworkX below it, or of what a value is turned into
        raise NetworkError(
            f"{path} must be GraphML saved by OSMnx, got {type(cause).__name__}: {cause}; "
            "read other GraphML with networkx.read_graphml and pass the graph"
        ) from cause


def _require_streets(graph: Any, name: str, crs: Any) -> None:
    """Refuse graphs without what OSMnx always writes, or with another than they are said to have."""
    own = graph.graph.get("crs")
    if own is not None and crs is not None and as_crs(own) != as_crs(crs):
        raise NetworkError(
            f"crs= is for graphs without a coordinate system, got {crs!r:.60} for {name} in {own!s:.60}; "
            "convert the graph with osmnx.project_graph"
        )
    if own is None and crs is None:
        raise NetworkError(
            f"{name} must carry graph['crs'] as OSMnx writes it, got none; "
            "set it, or read the graph with read_networkx"
        )


def _ways(graph: Any, reading: GraphReading, directions: Directions) -> TwoWays:
    rows = reading.courses.rows
    if not graph.is_directed():
        return undirected_names(rows)
    if directions == "keep":
        return TwoWays(list(range(len(rows.ids))), {}, ())
    ways = [_osm_ways(row) for row in rows.data]
    # The direction in which the street was mapped stays, so that distances run as OpenStreetMap draws it.
    order = sorted(range(len(rows.ids)), key=lambda row: rows.data[row].get("reversed") is True)
    return merge_directions(reading.courses, order=order, is_same_street=lambda i, j: ways[i] == ways[j])


def _osm_ways(data: Any) -> frozenset[Any]:
    """Ids of the OpenStreetMap ways of an edge; several if OSMnx joined them."""
    osmid = data.get("osmid")
    return frozenset(osmid if isinstance(osmid, list | tuple | set) else [osmid])
