"""Reader of NetworkX graphs of all four kinds, and of GraphML."""

from os import PathLike
from pathlib import Path
from typing import Any

from netbo.adapters.assembly.assemble import assemble
from netbo.adapters.graph_links import (
    ChosenPositions,
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
from netbo.adapters.links import Links
from netbo.adapters.network import Network
from netbo.errors import NetworkError
from netbo.files import xml_root


def read_networkx(
    source: Any,
    *,
    length: str | None = "length",
    id: str | None = None,  # noqa: A002  the word users look for
    geometry: str | None = "geometry",
    positions: ChosenPositions = None,
    directions: Directions = "merge",
    crs: Any = None,
    unit: str | None = None,
    **assembly: Any,
) -> Network:
    """Network of a NetworkX graph or a GraphML file.

    Parameters
    ----------
    source : networkx.Graph, any of its kinds, or path
        The graph, or a GraphML file of one.
    length : str or None, default "length"
        Edge attribute that holds the lengths, in `unit`; None: the drawing is measured.
    id : str, optional
        Edge attribute that names the edges; None: (u, v), in a multigraph (u, v, key). An undirected edge
        named by its ends answers to (v, u) as well.
    geometry : str or None, default "geometry"
        Edge attribute that holds the courses (LineStrings or arrays of corners); None: edges are straight.
    positions : str, pair of str or mapping, optional
        Node attribute that holds pairs, two attributes, or a mapping; None: x and y, pos, or lon and lat,
        whichever all nodes have.
    directions : {"merge", "keep"}
        Of a directed graph: "merge" makes one edge of two opposite ones with one course and length, "keep"
        leaves them apart.
    crs : optional
        Coordinate system, by default graph.graph["crs"].
    unit : str, optional
        Of the lengths.
    **assembly
        Options of `assemble`, such as snap= or barriers=.

    Returns
    -------
    Network
        Graph, report and addresses.

    Raises
    ------
    NetworkError
        If the source is no graph, or edges have neither lengths nor a drawing.

    Examples
    --------
    >>> import networkx
    >>> graph = networkx.Graph()
    >>> graph.add_edge("well", "school", length=120.0)
    >>> graph.add_edge("well", "church", length=80.0)
    >>> read_networkx(graph, unit="m").graph
    MetricGraph(3 vertices, 2 edges, total length 200 m, 1 component)
    """
    links = links_from_networkx(
        source, length=length, id=id, geometry=geometry, positions=positions, directions=directions, crs=crs,
        unit=unit,
    )  # fmt: skip
    return assemble(links, **assembly)


def links_from_networkx(
    source: Any,
    *,
    length: str | None = "length",
    id: str | None = None,  # noqa: A002  the word users look for
    geometry: str | None = "geometry",
    positions: ChosenPositions = None,
    directions: Directions = "merge",
    crs: Any = None,
    unit: str | None = None,
) -> Links:
    """Links of a NetworkX graph; parameters are those of `read_networkx`."""
    require_directions(directions)
    graph, name = source, f"NetworkX {type(source).__name__}"
    if isinstance(source, str | PathLike):
        graph, name = _load(Path(source)), f"GraphML {Path(source).name}"
    require_graph(graph, "the source")
    called = f" {graph.name!r}" if graph.name else ""
    reading = read_edges(
        graph, name + called, length=length, id_attribute=id, geometry=geometry, positions=positions
    )
    return links_of(reading, _ways(graph, reading, directions, id), crs=crs, unit=unit)


def _load(path: Path) -> Any:
    """The graph in a GraphML file."""
    import networkx  # noqa: PLC0415 (slow to load, and objects that are graphs already need it not)

    if not path.is_file():
        raise NetworkError(f"a GraphML file must exist, got {path}; check the path")
    with path.open("rb") as content:
        xml_root(content, str(path))
    try:
        return networkx.read_graphml(path)
    except (
        KeyError,
        MemoryError,
        RecursionError,
        SyntaxError,
        TypeError,
        ValueError,
        networkx.NetworkXError,
    ) as cause:
        raise NetworkError(
            f"{path} must be GraphML, got {type(cause).__name__}: {cause}; "
            "read other formats with networkx and pass the graph"
        ) from cause


def _ways(graph: Any, reading: GraphReading, directions: Directions, id_attribute: str | None) -> TwoWays:
    rows = reading.courses.rows
    if graph.is_directed() and directions == "merge":
        return merge_directions(reading.courses)
    if graph.is_directed() or id_attribute is not None:
        return TwoWays(list(range(len(rows.ids))), {}, ())
    return undirected_names(rows)
