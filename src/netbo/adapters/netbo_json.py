"""JSON format of netbo for networks: exact to the last digit, with a checksum.

The document is {"format": "netbo-network", "version": 1, "graph": ..., "addresses": ..., "report": ...,
"sha256": content hash of the graph}. Floats are written with all their digits; what JSON lacks (tuples, NaN,
arrays) is an object with a single key that begins with "~". Nothing in it is ever executed.
"""

import hashlib
import json
from collections.abc import Callable, Iterable, Mapping
from dataclasses import fields
from datetime import date, datetime
from pathlib import Path
from typing import Any

import numpy as np

from netbo.adapters.network import Network, as_network
from netbo.adapters.report import (
    Crossing,
    Displaced,
    Duplicate,
    EqualLengths,
    Gap,
    Join,
    LengthComparison,
    NetworkReport,
    Noded,
    Treated,
    UnitGroup,
)
from netbo.checks import explained
from netbo.errors import BaseError, NetworkError
from netbo.files import read_json, write_text
from netbo.geometry import Addresses, Curves, MetricGraph
from netbo.wording import quoted

# Values that JSON lacks, written so that they come back as they were: tuples, arrays, NaN, dates.

PLAIN = {int, str, bool, type(None)}
DTYPES = ("|b1", "|i1", *(order + kind for order in "<>" for kind in ("i2", "i4", "i8", "f2", "f4", "f8")))
TAG = "~"  # the single key of an encoded value is this and its kind


def encode(value: Any, where: str) -> Any:  # noqa: PLR0911 (one return a kind)
    """Value in JSON's own types; `where` names it in the error if it has no such form."""
    if value is None or isinstance(value, bool | int | str):
        return value
    if isinstance(value, float):
        return float(value) if np.isfinite(value) else {TAG + "float": repr(float(value))}
    if isinstance(value, np.ndarray):
        return _encode_array(value, where)
    if isinstance(value, np.generic):
        return encode(value.item(), where)
    if isinstance(value, tuple):
        return {TAG + "tuple": [encode(entry, where) for entry in value]}
    if isinstance(value, list):
        if set(map(type, value)) <= PLAIN:
            return value
        return [encode(entry, where) for entry in value]
    if isinstance(value, range):
        return {TAG + "range": [value.start, value.stop, value.step]}
    if isinstance(value, datetime):
        return {TAG + "datetime": value.isoformat()}
    if isinstance(value, date):
        return {TAG + "date": value.isoformat()}
    if isinstance(value, Mapping) and all(isinstance(key, str) for key in value):
        return {TAG + "dict": {key: encode(entry, where) for key, entry in value.items()}}
    raise NetworkError(
        f"values must be numbers, text, dates, or lists of them to be written, got {type(value).__name__} in "
        f"{where}; leave it out with attributes=[...]"
    )


def _encode_array(array: np.ndarray, where: str) -> Any:
    if array.dtype.kind in "bi":
        return {TAG + "array": array.tolist(), "dtype": array.dtype.str, "shape": list(array.shape)}
    if array.dtype.kind == "f" and array.dtype.itemsize <= 8:
        values = array.tolist() if np.isfinite(array).all() else encode(array.tolist(), where)
        return {TAG + "array": values, "dtype": array.dtype.str, "shape": list(array.shape)}
    return encode(array.tolist(), where)


def decode(value: Any) -> Any:
    """The value that was encoded."""
    if isinstance(value, list):
        return value if set(map(type, value)) <= PLAIN | {float} else [decode(entry) for entry in value]
    if not isinstance(value, dict):
        return value
    kind = next(iter(value), None)
    readers: dict[Any, Callable[[Any], Any]] = {
        TAG + "float": float,
        TAG + "tuple": lambda entries: tuple(decode(entry) for entry in entries),
        TAG + "range": lambda entries: range(*entries),
        TAG + "datetime": datetime.fromisoformat,
        TAG + "date": date.fromisoformat,
        TAG + "dict": lambda entries: {key: decode(entry) for key, entry in entries.items()},
    }
    if kind == TAG + "array":
        return _decode_array(value[kind], _as_dtype(value["dtype"])).reshape(value["shape"])
    if kind not in readers:
        raise NetworkError(f"values must be of a known kind, got {kind!r}; the file is damaged or newer")
    return readers[kind](value[kind])


def _as_dtype(name: Any) -> np.dtype[Any]:
    """A type of numbers; one of text or bytes could claim gigabytes an entry."""
    if name not in DTYPES:
        raise NetworkError(
            f"arrays must be of numbers, got the type {name!r:.40}; the file is damaged or newer"
        )
    return np.dtype(str(name))


def _decode_array(values: Any, dtype: np.dtype[Any]) -> np.ndarray:
    try:
        return np.array(values, dtype=dtype)
    except (TypeError, ValueError):  # NaN and infinity among the numbers
        return np.array(decode(values), dtype=dtype)


FORMAT = "netbo-network"
VERSION = 1
ROWS = {"gaps": Gap, "joins": Join, "duplicates": Duplicate, "crossings": Crossing, "units": UnitGroup}
PARTS = {
    "treated": Treated,
    "noded": Noded,
    "length_comparison": LengthComparison,
    "displaced": Displaced,
    "equal_lengths": EqualLengths,
}


@explained
def dump(network: Network | MetricGraph, *, attributes: Iterable[str] | None = None) -> dict[str, Any]:
    """A network as a document for `json.dumps`; `attributes` chooses the edge attributes, all by default."""
    whole = as_network(network)
    return {
        "format": FORMAT,
        "version": VERSION,
        "graph": _dump_graph(whole.graph, attributes),
        "addresses": {
            each.name: encode(_listed(getattr(whole.addresses, each.name)), f"addresses.{each.name}")
            for each in fields(Addresses)
        },
        "report": _dump_record(whole.report),
        "sha256": content_hash(whole.graph),
    }


@explained
def load(document: Any) -> Network:
    """The network of a document made by `dump`."""
    if not isinstance(document, Mapping) or document.get("format") != FORMAT:
        found = document.get("format", document.get("type")) if isinstance(document, Mapping) else document
        raise NetworkError(
            f"a network of our own says format {FORMAT!r}, got {found!r:.60}; write one with write_network"
        )
    if document.get("version") != VERSION:
        raise NetworkError(
            f"this netbo reads version {VERSION} of its own files, got {document.get('version')!r}; update it"
        )
    try:
        columns = {name: decode(value) for name, value in document["addresses"].items()}
        addresses = Addresses(**columns | {"aliases": dict(columns["aliases"])})
        graph = _load_graph(document["graph"], addresses)
        network = Network(graph, _load_record(NetworkReport, document["report"]))
        found = content_hash(graph)
    except (
        KeyError,
        TypeError,
        ValueError,
        AttributeError,
        IndexError,
        OverflowError,
        RecursionError,
    ) as cause:
        if isinstance(cause, BaseError) and "newer" in str(cause):
            raise
        raise NetworkError(
            f"the network is damaged: {type(cause).__name__} {cause}; write it again from its source"
        ) from cause
    if found != document.get("sha256"):
        raise NetworkError("the network is damaged: its checksum does not fit; write it again")
    return network


def write_network(
    network: Network | MetricGraph, path: str | Path, *, attributes: Iterable[str] | None = None
) -> None:
    """Write a network to a JSON file, as a whole or not at all.

    Parameters
    ----------
    network : Network or MetricGraph
        What to write, with its report and addresses.
    path : path
        Of the file; one that is there is replaced.
    attributes : iterable of str, optional
        Edge attributes to keep, by default all.

    Raises
    ------
    NetworkError
        If there is no such folder, or an attribute cannot be written.

    Examples
    --------
    >>> import pathlib, tempfile, netbo
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     write_network(netbo.star(3), pathlib.Path(folder) / "star.json")
    ...     read_network(pathlib.Path(folder) / "star.json").graph
    MetricGraph(4 vertices, 3 edges, total length 3, 1 component)
    """
    text = json.dumps(dump(network, attributes=attributes), allow_nan=False)
    write_text(Path(path), text + "\n")


def read_network(path: str | Path) -> Network:
    """The network of a file made by `write_network`.

    Parameters
    ----------
    path : path
        Of the file.

    Returns
    -------
    Network
        Equal to the one written, to the last digit.

    Raises
    ------
    NetworkError
        If there is no such file, or it is damaged: its checksum does not fit.
    """
    document = read_json(Path(path))
    try:
        return load(document)
    except NetworkError as cause:
        raise NetworkError(f"{str(path)!r}: {cause}") from cause


@explained
def content_hash(graph: MetricGraph) -> str:
    """sha256 of what makes a graph this graph: ends, lengths, ids and positions."""
    digest = hashlib.sha256()
    for array, kind in ((graph.tails, "<i8"), (graph.heads, "<i8"), (graph.lengths, "<f8")):
        digest.update(np.ascontiguousarray(array, dtype=kind).tobytes())
    for ids in (graph.edge_ids, graph.vertex_ids):
        digest.update(json.dumps(encode(list(ids), "ids"), allow_nan=False).encode())
    if graph.positions is not None:
        digest.update(np.ascontiguousarray(graph.positions, dtype="<f8").tobytes())
    return digest.hexdigest()


def _listed(value: Any) -> Any:
    """Columns in a form that comes back equal: ids as lists, aliases as pairs."""
    if isinstance(value, Mapping):
        return [[alias, tuple(target)] for alias, target in value.items()]
    return value if isinstance(value, np.ndarray | range) else list(value)


def _dump_graph(graph: MetricGraph, attributes: Iterable[str] | None) -> dict[str, Any]:
    columns = graph.edge_attributes
    chosen = list(columns) if attributes is None else list(attributes)
    unknown = [name for name in chosen if name not in columns]
    if unknown:
        raise NetworkError(f"attributes must be there, got {unknown[0]!r}; there are {quoted(columns)}")
    curves = graph.curves
    return {
        **{name: encode(getattr(graph, name), name) for name in ("tails", "heads", "lengths", "positions")},
        "curves": None if curves is None else _dump_curves(curves),
        "crs": _crs_text(graph.crs),
        "unit": graph.unit,
        "edge_ids": encode(_listed(graph.edge_ids), "edge ids"),
        "vertex_ids": encode(_listed(graph.vertex_ids), "vertex ids"),
        "attributes": {name: encode(_column(columns[name]), f"attribute {name!r}") for name in chosen},
    }


def _dump_curves(curves: Curves) -> dict[str, Any]:
    """Corners, and the share of the length before each unless that follows from the drawing."""
    usual = Curves.proportional(curves.coordinates, curves.starts)
    is_usual = np.array_equal(usual.fractions, curves.fractions)
    return {
        "coordinates": encode(curves.coordinates, "coordinates"),
        "starts": encode(curves.starts, "starts"),
        "fractions": None if is_usual else encode(curves.fractions, "fractions"),
    }


def _load_curves(document: Mapping[str, Any]) -> Curves:
    parts = {name: decode(document[name]) for name in ("coordinates", "starts", "fractions")}
    if parts["fractions"] is None:
        return Curves.proportional(parts["coordinates"], parts["starts"])
    return Curves(**parts)


def _column(column: Any) -> Any:
    return column if isinstance(column, np.ndarray | tuple) else list(column)


def _crs_text(crs: Any) -> str | None:
    """Text that names the coordinate system; pyproj's objects say it themselves."""
    return crs if crs is None or isinstance(crs, str) else str(getattr(crs, "to_string", crs.__str__)())


def _load_graph(document: Mapping[str, Any], addresses: Addresses) -> MetricGraph:
    curves = document["curves"]
    return MetricGraph(
        **{name: decode(document[name]) for name in ("tails", "heads", "lengths", "positions")},
        curves=None if curves is None else _load_curves(curves),
        crs=document["crs"],
        unit=document["unit"],
        edge_ids=decode(document["edge_ids"]),
        vertex_ids=decode(document["vertex_ids"]),
        edge_attributes={name: decode(value) for name, value in document["attributes"].items()},
        addresses=addresses,
    )


def _dump_record(record: Any) -> Any:
    """A dataclass field by field; tuples of dataclasses row by row."""
    values: dict[str, Any] = {}
    for each in fields(record):
        value = getattr(record, each.name)
        if each.name in ROWS:
            values[each.name] = None if value is None else [_dump_record(row) for row in value]
        elif each.name in PARTS:
            values[each.name] = None if value is None else _dump_record(value)
        else:
            values[each.name] = encode(value, f"report.{each.name}")
    return values


def _load_record(kind: type[Any], document: Mapping[str, Any]) -> Any:
    values: dict[str, Any] = {}
    for name, value in document.items():
        if name in ROWS:
            values[name] = None if value is None else tuple(_load_record(ROWS[name], row) for row in value)
        elif name in PARTS:
            values[name] = None if value is None else _load_record(PARTS[name], value)
        else:
            values[name] = decode(value)
    return kind(**values)
