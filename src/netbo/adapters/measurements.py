"""Measurements from a table, snapped to the network."""

from collections.abc import Hashable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from netbo.adapters.network import Network, as_network
from netbo.adapters.tables import Table, as_table
from netbo.arrays import BoolArray, FloatArray, IntArray
from netbo.checks import explained, is_number
from netbo.errors import BaseError, NetworkError
from netbo.geometry import PLACE_TOLERANCE, MetricGraph, Points
from netbo.wording import quoted

USUAL_COORDINATES = (("x", "y"), ("lon", "lat"), ("longitude", "latitude"), ("lng", "lat"))
USUAL_NODES = ("node", "vertex", "junction")
USUAL_EDGES = ("edge", "edge_id")
REMEDY = "correct or delete such rows, or pass skip_bad=True"


@dataclass(frozen=True, eq=False)
class Measurements:
    """Values measured at points of a network; made by `snap_measurements`."""

    points: Points
    values: FloatArray
    off: FloatArray  # distance of each place from the network, 0 for addresses
    rows: IntArray  # of the table, counted from 0
    noise: FloatArray | None = None  # variance of each value
    lines: IntArray | None = None  # of the file, counted from 1; None of a table that was in memory
    skipped: tuple[str, ...] = ()  # a sentence for each row that was left out

    def __len__(self) -> int:
        return len(self.values)

    def where(self, k: int) -> str:
        """The row of a measurement as its owner finds it."""
        return f"row {self.rows[k]}" if self.lines is None else f"line {self.lines[k]}"


@explained
def snap_measurements(
    network: Network | MetricGraph,
    table: Any,
    *,
    limit: float | None = None,
    keep: Literal["all", "near"] = "all",
    value: str = "value",
    noise: str | None = None,
    x: str | None = None,
    y: str | None = None,
    crs: Any = None,
    edge: str | None = None,
    distance: str | None = None,
    fraction: str | None = None,
    start: str | None = None,
    node: str | None = None,
    sep: str | None = None,
    skip_bad: bool = False,
) -> Measurements:
    """Measurements of a table as points and values.

    Parameters
    ----------
    network : Network or MetricGraph
        What was measured.
    table : DataFrame or path
        One row a measurement; a path is that of a CSV file.
    limit : float, optional
        How far from the network a place may lie, in the unit of the map (metres once projected). Needed for
        coordinates.
    keep : {"all", "near"}
        "all" refuses a table with places beyond the limit and lists them; "near" leaves those rows out.
    value, noise : str
        Columns of the values and of their variances.
    x, y : str, optional
        Columns of coordinates, by default x and y, or lon and lat.
    crs : optional
        Their coordinate system, by default that of the network's source (columns called lon and lat are
        degrees).
    edge, distance, fraction, start : str, optional
        Columns of your addresses, by default edge and distance; `start` names the end from which each
        distance counts.
    node : str, optional
        Column of names of vertices (junctions, hydrants, buses), by default node, vertex or junction where
        there is neither an edge nor a coordinate.
    sep : str, optional
        What separates the cells of a CSV file; by default tab, semicolon or comma, as its first line has.
        Where it is no comma, numbers may have decimal commas.
    skip_bad : bool, default False
        Leave out rows that are wrong (no number, no such edge, beyond the limit) and list them in `skipped`,
        instead of refusing the table.

    Returns
    -------
    Measurements
        Points, values, distances off the network and rows of the table.

    Raises
    ------
    NetworkError
        If a column is missing, a value is no number, or a place is not on the network.

    Examples
    --------
    >>> import netbo, pandas
    >>> table = pandas.DataFrame({"x": [0.5, 0.1], "y": [0.02, 0.0], "value": [3.0, 4.0]})
    >>> found = snap_measurements(netbo.interval(1.0), table, limit=0.1)
    >>> found.points.z.tolist(), found.off.tolist()
    ([0.5, 0.1], [0.02, 0.0])
    """
    whole = as_network(network)
    rows = as_table(table, sep=sep, what="measurements")
    if keep not in ("all", "near"):
        raise NetworkError(f"keep must be 'all' or 'near', got {keep!r}; 'near' leaves distant rows out")
    values = rows.numbers(value)
    variances = None if noise is None else rows.numbers(noise)
    at_nodes = _node_column(rows, node, (x, y, edge))
    columns = None if at_nodes else _coordinate_columns(rows, x, y, edge)
    if at_nodes is not None:
        points, chosen = _from_nodes(whole, rows, at_nodes, skip_bad=skip_bad)
        off = np.zeros(len(chosen))
    elif columns is not None:
        reach = _as_limit(limit)
        xy = np.column_stack([rows.numbers(name) for name in columns])
        chosen = _good(rows, skip_bad=skip_bad)
        system = crs if crs is not None else _usual_crs(columns, whole)
        points, off = whole.locate(xy[chosen], crs=system)
        is_near = _within(rows, chosen, off, (reach, _unit(whole)), is_strict=keep == "all" and not skip_bad)
        points, off, chosen = points[is_near], off[is_near], chosen[is_near]
    else:
        column = _edge_column(rows, edge)
        along = (distance, fraction, start)
        points, chosen = _from_addresses(whole, rows, column, along, skip_bad=skip_bad)
        off = np.zeros(len(chosen))
    return Measurements(
        points, values[chosen], off, chosen,
        None if variances is None else variances[chosen],
        None if rows.lines is None else rows.lines[chosen],
        tuple(f"{rows.where(row)}: {reason}" for row, reason in sorted(rows.bad.items())),
    )  # fmt: skip


def _good(table: Table, *, skip_bad: bool) -> IntArray:
    """Rows in which nothing is wrong so far; without `skip_bad` these must be all."""
    if not skip_bad:
        table.require_good(REMEDY)
    good = np.setdiff1d(np.arange(len(table)), list(table.bad))
    if not good.size:
        table.require_good("no row is left: check the columns and what separates them")
    return good


def _as_limit(limit: Any) -> float:
    if not is_number(limit) or not limit >= 0:
        raise NetworkError(
            f"measurements by coordinates need a limit, got {limit}; say how far off the network they may "
            "lie, as in limit=50.0"
        )
    return float(limit)


def _unit(network: Network) -> str:
    """Of distances on the map, after a blank; nothing where nobody knows it."""
    return f" {network.report.map_unit}" if network.report.map_unit else ""


def _node_column(table: Table, node: str | None, others: tuple[str | None, ...]) -> str | None:
    """Column of names of vertices, None if the table has addresses or coordinates."""
    if node is not None:
        return node
    usual = (*USUAL_EDGES, *(name for pair in USUAL_COORDINATES for name in pair))
    if any(others) or any(name in table.columns for name in usual):
        return None
    return next((name for name in USUAL_NODES if name in table.columns), None)


def _from_nodes(network: Network, table: Table, node: str, *, skip_bad: bool) -> tuple[Points, IntArray]:
    """Points at named vertices, and their rows."""
    names = _by_text(table.column(node), [*network.graph.vertex_ids, *network.addresses.ends])
    for row, name in enumerate(names):
        if not network.graph.has_vertex(name):
            table.note_bad(row, f"no vertex is called {name!r}, as column {node!r} has it")
    rows = _good(table, skip_bad=skip_bad)
    return network.points(vertex=[names[row] for row in rows]), rows


def _coordinate_columns(
    table: Table, x: str | None, y: str | None, edge: str | None
) -> tuple[str, str] | None:
    """Columns of the coordinates, None if the table has addresses."""
    if (x is None) != (y is None):
        raise NetworkError("coordinates need two columns, got one; pass both x= and y=")
    if x is not None and y is not None:
        return x, y
    if edge is not None or any(name in table.columns for name in USUAL_EDGES):
        return None
    for first, second in USUAL_COORDINATES:
        if first in table.columns and second in table.columns:
            return first, second
    raise NetworkError(
        "measurements need coordinates or addresses, got the columns "
        f"{quoted(table.columns)}; say x= and y=, edge= and distance=, or node="
    )


def _edge_column(table: Table, edge: str | None) -> str:
    return edge if edge is not None else next(name for name in USUAL_EDGES if name in table.columns)


def _usual_crs(columns: tuple[str, str], network: Network) -> Any:
    """Degrees where the columns say so and the network is on a map."""
    is_angular = columns in USUAL_COORDINATES[1:]
    return "EPSG:4326" if is_angular and network.report.crs is not None else None


def _from_addresses(
    network: Network,
    table: Table,
    edge: str,
    along: tuple[str | None, str | None, str | None],
    *,
    skip_bad: bool = False,
) -> tuple[Points, IntArray]:
    """Points from edge ids and distances or fractions, and their rows; a wrong one is named by its row."""
    distance, fraction, start = along
    if distance is None and fraction is None:
        distance = "distance" if "distance" in table.columns or "fraction" not in table.columns else None
        fraction = "fraction" if distance is None else None
    ids = _known_ids(network, table.column(edge))
    measured = {
        "distance": None if distance is None else table.numbers(distance),
        "fraction": None if fraction is None else table.numbers(fraction),
    }
    ends = None if start is None else _by_text(table.column(start), network.graph.vertex_ids)
    rows = _good(table, skip_bad=skip_bad)

    def points_of(chosen: IntArray) -> Points:
        names = [ids[row] for row in chosen]
        begun = None if ends is None else [ends[row] for row in chosen]
        there = {name: None if each is None else each[chosen] for name, each in measured.items()}
        return network.points(names, there["distance"], fraction=there["fraction"], start=begun)

    try:
        return points_of(rows), rows
    except BaseError:
        for row in rows.tolist():
            try:
                points_of(np.array([row]))
            except BaseError as cause:
                table.note_bad(row, f"an address in column {edge!r} is not on the network: {cause}")
                if not skip_bad:
                    break
        rows = _good(table, skip_bad=skip_bad)
        return points_of(rows), rows


def _known_ids(network: Network, asked: Sequence[Any]) -> list[Hashable]:
    """Ids as the network has them: a CSV knows neither tuples nor whether 7 is a number."""
    return _by_text(asked, [*network.addresses.ids, *network.addresses.aliases, *network.graph.edge_ids])


def _by_text(asked: Sequence[Any], names: Iterable[Hashable]) -> list[Hashable]:
    known = set(names)
    if all(name in known for name in asked):
        return list(asked)
    by_text = {str(name): name for name in known}
    by_text |= {str(list(name)): name for name in known if isinstance(name, tuple)}  # as older versions wrote
    return [name if name in known else by_text.get(str(name), name) for name in asked]


def _within(
    table: Table,
    rows: IntArray,
    off: FloatArray,
    limit: tuple[float, str],
    *,
    what: str = "measurements",
    is_strict: bool,
) -> BoolArray:
    """Which rows lie within the limit; the others are noted, or refused together."""
    reach, unit = limit
    is_near = off <= reach
    beyond = np.flatnonzero(~is_near)
    for k in beyond.tolist():
        reason = f"a place must lie within {reach:g}{unit} of the network, got {off[k]:.4g}{unit}"
        table.note_bad(rows[k], reason)
    if beyond.size and is_strict:
        by_row = dict(zip(rows.tolist(), off.tolist(), strict=True))
        way_out = ", or pass keep='near'" if what == "measurements" else ""
        shown = table.listed(rows[beyond], lambda row: f" ({by_row[row]:.4g}{unit} off)")
        raise NetworkError(
            f"{what} must lie within {reach:g}{unit} of the network, got {beyond.size} of {len(off)} "
            f"beyond: {shown}; raise limit or check the coordinate system{way_out}"
        )
    if not is_near.any():
        raise NetworkError(
            f"some measurement must lie within {reach:g}{unit} of the network, got none, the nearest is "
            f"{off.min():.4g}{unit} off; check the coordinate system"
        )
    return is_near


# Tables without values: places where one may measure, and stretches where nobody may.

MEND = "correct or delete such rows"


@explained
def read_places(
    network: Network | MetricGraph, table: Any, *, limit: float | None = None, crs: Any = None
) -> Points:
    """Places of a table, such as hydrants: by edge and distance, by the name of a node, or by coordinates.

    Parameters
    ----------
    network : Network or MetricGraph
        Where they are.
    table : DataFrame or path
        A row a place, with the columns edge and distance (or fraction), or node, or x and y, or lon and lat;
        a path is that of a CSV file.
    limit : float, optional
        How far from the network coordinates may lie, in the unit of the map. Needed for coordinates.
    crs : optional
        Of the coordinates, by default that of the network's source; lon and lat are degrees.

    Returns
    -------
    Points
        One for each row.

    Raises
    ------
    NetworkError
        If columns are missing, or a place is not on the network.

    Examples
    --------
    >>> import netbo, pandas
    >>> table = pandas.DataFrame({"edge": [0, 0], "distance": [0.5, 1.5]})
    >>> read_places(netbo.interval(2.0), table).z.tolist()
    [0.5, 1.5]
    """
    whole, rows = as_network(network), as_table(table, what="places")
    if any(name in rows.columns for name in USUAL_EDGES):
        return _from_addresses(whole, rows, _edge_column(rows, None), (None, None, None))[0]
    node = next((name for name in USUAL_NODES if name in rows.columns), None)
    if node is not None:
        rows.require_good(MEND)
        return _from_nodes(whole, rows, node, skip_bad=False)[0]
    columns = next((pair for pair in USUAL_COORDINATES if set(pair) <= set(rows.columns)), None)
    if columns is None:
        raise NetworkError(
            "places need columns edge and distance, node, x and y, or lon and lat, got "
            f"{quoted(rows.columns)}; rename them"
        )
    if limit is None or not limit >= 0:
        raise NetworkError(
            f"places by coordinates need a limit, got {limit}; say how far off the network they may lie"
        )
    xy = np.column_stack([rows.numbers(name) for name in columns])
    rows.require_good(MEND)
    points, off = whole.locate(xy, crs=crs if crs is not None else _usual_crs(columns, whole))
    _within(rows, np.arange(len(rows)), off, (limit, _unit(whole)), what="places", is_strict=True)
    return points


@explained
def read_stretches(network: Network | MetricGraph, table: Any) -> list[tuple[Hashable, float, float]]:
    """Stretches of a table, such as streets that are closed, as `Forbidden` takes them.

    Parameters
    ----------
    network : Network or MetricGraph
        Where they are.
    table : DataFrame or path
        A row a stretch: edge, and from and to as distances along it; where these are missing or empty it
        reaches to the end.

    Returns
    -------
    list of (edge id, float, float)
        One for each row.

    Raises
    ------
    NetworkError
        If an edge is not known, or a stretch leaves it or runs backwards.

    Examples
    --------
    >>> import netbo, pandas
    >>> table = pandas.DataFrame({"edge": [0, 1], "from": [0.2, None], "to": [0.4, None]})
    >>> read_stretches(netbo.star(3), table)
    [(0, 0.2, 0.4), (1, 0.0, 1.0)]
    """
    whole, rows = as_network(network), as_table(table, what="stretches")
    known = [name for name in USUAL_EDGES if name in rows.columns]
    if not known:
        raise NetworkError(
            f"stretches need the columns edge, from and to, got {quoted(rows.columns)}; rename them"
        )
    ids = _known_ids(whole, rows.column(known[0]))
    begin, end = (
        rows.numbers(name, may_lack=True) if name in rows.columns else np.full(len(rows), np.nan)
        for name in ("from", "to")
    )
    rows.require_good(MEND)
    try:
        length = np.array([whole.graph.length_of(name) for name in ids])
    except BaseError as cause:
        raise NetworkError(f"a stretch in column {known[0]!r} is not on the network: {cause}") from cause
    begin, end = np.where(np.isnan(begin), 0.0, begin), np.where(np.isnan(end), length, end)
    off = np.flatnonzero(~((begin >= 0) & (begin <= end) & (end <= length * (1 + PLACE_TOLERANCE))))
    if off.size:
        row = int(off[0])
        raise NetworkError(
            f"a stretch must run from its smaller distance to the larger within its edge, got {begin[row]:g} "
            f"to {end[row]:g} of {length[row]:g} on edge {ids[row]!r} in {rows.where(row)}; mend it"
        )
    return list(zip(ids, begin.tolist(), end.tolist(), strict=True))
