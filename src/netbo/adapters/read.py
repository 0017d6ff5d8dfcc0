"""The function `read`: recognises the format of a source and calls its reader."""

import inspect
from collections.abc import Callable, Mapping
from difflib import get_close_matches
from importlib import import_module
from pathlib import Path
from typing import Any, get_args

from netbo.adapters.assembly.assemble import assemble
from netbo.adapters.netbo_json import FORMAT, read_network
from netbo.adapters.network import Network, as_network
from netbo.adapters.topohub import KEY
from netbo.checks import explained, is_number
from netbo.errors import NetworkError
from netbo.files import read_json
from netbo.geometry import MetricGraph

READERS = ("networkx", "geopandas", "osmnx", "wntr", "pandapower", "topohub", "swc", "edge_list")
FORMATS = (*READERS, "json")
SUFFIXES = {
    ".gpkg": "geopandas",
    ".shp": "geopandas",
    ".geojson": "geopandas",
    ".zip": "geopandas",
    ".fgb": "geopandas",
    ".parquet": "geopandas",
    ".inp": "wntr",
    ".kml": "geopandas",
    ".swc": "swc",
    ".csv": "edge_list",
    ".tsv": "edge_list",
}
SNIFFED = 200_000  # characters of a GraphML file that are searched for the marks of OSMnx


@explained
def read(source: Any, *, format: str | None = None, **options: Any) -> Network:  # noqa: A002
    """A network from a file, a name or an object, with a report on it.

    Parameters
    ----------
    source : path, str or object
        A path to GeoPackage, Shapefile (also zipped), GeoJSON, KML, GraphML, EPANET .inp, pandapower .json,
        SWC, an edge list in CSV (from, to, length), or JSON of our own; a name of topohub such as
        "sndlib/newyork"; or a NetworkX, OSMnx, geopandas, WNTR or pandapower object, a DataFrame with a row
        an edge, or a MetricGraph.
    format : str, optional
        "networkx", "geopandas", "osmnx", "wntr", "pandapower", "topohub", "swc", "edge_list" or "json" where
        the source does not say.
    **options
        Of the reader (see netbo.adapters) and of `assemble`: lengths, snap, node, barriers, ...

    Returns
    -------
    Network
        Graph, report and addresses; print the report before you trust the graph.

    Raises
    ------
    NetworkError
        If the format cannot be told, an option is unknown, or the source is no network.

    Examples
    --------
    >>> import networkx
    >>> streets = networkx.Graph()
    >>> streets.add_edge("church", "mill", length=120.0)
    >>> streets.add_edge("mill", "ford", length=80.0)
    >>> network = read(streets)
    >>> network.graph
    MetricGraph(3 vertices, 2 edges, total length 200, 1 component)
    """
    if isinstance(source, Network | MetricGraph) and format is None:
        return _as_it_is(as_network(source), options, "a graph that is already read")
    kind = _as_format(format) if format is not None else recognise(source)
    if kind == "json":
        return _as_it_is(read_network(source), options, "JSON of our own")
    reader = _reader(kind)
    _refuse_options(options, _options_of(reader), kind)
    _require_kinds(options, _options_of(reader))
    network: Network = reader(source, **options)
    return network


def _as_it_is(network: Network, options: Mapping[str, Any], what: str) -> Network:
    """A network that needs no reading; crs and unit may be said if they are its own."""
    own = {"crs": network.report.crs, "unit": network.graph.unit}
    said = {name for name in options if name in own and options[name] in (None, own[name])}
    _refuse_options({name: value for name, value in options.items() if name not in said}, {}, what)
    return network


def recognise(source: Any) -> str:
    """Name of the format of a source, from its type, its suffix or its content."""
    if isinstance(source, str | Path):
        return _of_path(source)
    first = source[0] if isinstance(source, list | tuple) and source else source  # frames come in lists, too
    packages = {cls.__module__.split(".")[0] for cls in type(first).__mro__}
    for package in ("geopandas", "wntr", "pandapower"):
        if package in packages:
            return package
    if "pandas" in packages:
        return "edge_list"
    if "networkx" in packages:
        return "osmnx" if _is_osmnx(source) else "networkx"
    raise NetworkError(
        f"cannot read {type(source).__name__} as a network; pass a path, a NetworkX, OSMnx, geopandas, "
        f"pandas, WNTR or pandapower object, or say format= (one of {', '.join(FORMATS)})"
    )


def _is_osmnx(graph: Any) -> bool:
    """OSMnx graphs name a coordinate system, have x and y on every node, osmid and length on their edges."""
    if not (graph.is_multigraph() and "crs" in graph.graph):
        return False
    has_places = all("x" in node and "y" in node for _, node in graph.nodes(data=True))
    marks = [("osmid" in data, "length" in data) for *_, data in graph.edges(data=True)]
    return has_places and any(osmid for osmid, _ in marks) and any(length for _, length in marks)


def _of_path(source: str | Path) -> str:
    path = Path(source)
    if not path.exists():
        if isinstance(source, str) and KEY.match(source):
            return "topohub"
        raise NetworkError(f"no file is called {str(source)!r}; check the path")
    suffix = path.suffix.lower()
    if suffix == ".json":
        return _of_json(path)
    if suffix == ".graphml":
        return _of_graphml(path)
    if suffix in SUFFIXES:
        return SUFFIXES[suffix]
    known = ", ".join(sorted([*SUFFIXES, ".json", ".graphml"]))
    raise NetworkError(
        f"cannot tell the format of {str(source)!r} from its suffix {suffix!r}; the known ones are {known}: "
        f"rename it or say format= (one of {', '.join(FORMATS)})"
    )


def _of_json(path: Path) -> str:
    document = read_json(path)
    if isinstance(document, dict):
        if document.get("format") == FORMAT:
            return "json"
        if document.get("type") in ("FeatureCollection", "Feature", "LineString", "MultiLineString"):
            return "geopandas"
        if "pandapower" in f"{document.get('_module')} {document.get('_class')}":
            return "pandapower"
    raise NetworkError(
        f"{str(path)!r} is JSON, but neither our own, nor GeoJSON, nor pandapower's; say format= if it is one"
    )


def _of_graphml(path: Path) -> str:
    with path.open(encoding="utf-8", errors="replace") as file:
        head = file.read(SNIFFED)
    marks = ('attr.name="osmid"', 'attr.name="crs"')
    return "osmnx" if all(mark in head for mark in marks) else "networkx"


def _as_format(name: str) -> str:
    if name not in FORMATS:
        raise NetworkError(f"format must be one of {', '.join(FORMATS)}, got {name!r}; leave it out to guess")
    return name


def _reader(kind: str) -> Callable[..., Network]:
    reader: Callable[..., Network] = getattr(import_module(f"netbo.adapters.{kind}"), f"read_{kind}")
    return reader


def _options_of(reader: Callable[..., Any]) -> Mapping[str, Any]:
    """Keywords a reader takes; one with ** passes the rest on to `assemble`."""
    found = {}
    passes_on = False
    for name, parameter in inspect.signature(reader).parameters.items():
        passes_on |= parameter.kind is parameter.VAR_KEYWORD
        if parameter.kind is parameter.KEYWORD_ONLY:
            found[name] = parameter
    if passes_on:
        rest = inspect.signature(assemble).parameters.items()
        found |= {name: each for name, each in rest if each.kind is each.KEYWORD_ONLY}
    return found


def option_names() -> list[str]:
    """Options that any reader has."""
    found = {name for kind in READERS for name in _options_of(_reader(kind))}
    return sorted(found | {"format"})


KINDS: dict[Any, tuple[Callable[[Any], bool], str]] = {  # of options, by their annotation
    bool: (lambda value: isinstance(value, bool), "True or False"),
    float: (is_number, "a number"),
    str: (lambda value: isinstance(value, str), "text"),
    type(None): (lambda value: value is None, "None"),
}


def _require_kinds(options: Mapping[str, Any], known: Mapping[str, Any]) -> None:
    """Refuse values that are not of the kind which the signature of the reader names."""
    for name, value in options.items():
        annotation = known[name].annotation
        kinds = [KINDS.get(each) for each in get_args(annotation) or (annotation,)]
        checked = [each for each in kinds if each is not None]
        if len(checked) == len(kinds) and not any(is_kind(value) for is_kind, _ in checked):
            words = " or ".join(words for _, words in checked)
            usual = known[name].default
            raise NetworkError(f"{name} must be {words}, got {value!r:.60}; leave it out for {usual!r}")


def _refuse_options(options: Mapping[str, Any], known: Mapping[str, Any], what: str) -> None:
    unknown = [name for name in options if name not in known]
    if not unknown:
        return
    close = get_close_matches(unknown[0], known, n=1)
    hint = f"did you mean {close[0]!r}? " if close else ""
    there_are = ", ".join(known) if known else "none"
    raise NetworkError(f"reading {what} has no option {unknown[0]!r}; {hint}the options are: {there_are}")
