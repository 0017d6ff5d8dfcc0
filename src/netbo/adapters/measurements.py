"""Tables put on a network: measurements, places, stretches."""

from collections.abc import Hashable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import numpy as np

from netbo.adapters.network import Network, as_network
from netbo.arrays import FloatArray, IntArray
from netbo.errors import BaseError, NetworkError
from netbo.geometry import PLACE_TOLERANCE, MetricGraph, Points
from netbo.wording import quoted

USUAL_COORDINATES = (("x", "y"), ("lon", "lat"), ("longitude", "latitude"), ("lng", "lat"))
USUAL_EDGES = ("edge", "edge_id")
LISTED_ROWS = 5


@dataclass(frozen=True, eq=False)
class Measurements:
    """Values measured at points of a network; made by `snap_measurements`."""

    points: Points
    values: FloatArray
    off: FloatArray  # distance of each place from the network, 0 for addresses
    rows: IntArray  # of the table, counted from 0
    noise: FloatArray | None = None  # variance of each value

    def __len__(self) -> int:
        return len(self.values)


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
    frame = _as_frame(table)
    if keep not in ("all", "near"):
        raise NetworkError(f"keep must be 'all' or 'near', got {keep!r}; 'near' leaves distant rows out")
    values = _numbers(frame, value)
    variances = None if noise is None else _numbers(frame, noise)
    columns = _coordinate_columns(frame, x, y, edge)
    if columns is None:
        points = _from_addresses(whole, frame, _edge_column(frame, edge), (distance, fraction, start))
        rows = np.arange(len(frame))
        return Measurements(points, values, np.zeros(len(frame)), rows, variances)
    xy = np.column_stack([_numbers(frame, name) for name in columns])
    system = crs if crs is not None else _usual_crs(columns, whole)
    if limit is None or not limit >= 0:
        raise NetworkError(
            f"measurements by coordinates need a limit, got {limit}; say how far off the network they may "
            "lie, as in limit=50.0"
        )
    points, off = whole.locate(xy, crs=system)
    rows = _within(off, limit, keep)
    kept = None if variances is None else variances[rows]
    return Measurements(points[rows], values[rows], off[rows], rows, kept)


def _as_frame(table: Any, what: str = "measurements") -> Any:
    """The table as a DataFrame with at least one row."""
    import pandas as pd  # noqa: PLC0415 - slow to load, and only tables need it

    if isinstance(table, str | Path):
        try:
            table = pd.read_csv(table)
        except (OSError, ValueError) as cause:
            raise NetworkError(f"{str(table)!r} is no CSV that can be read: {cause}; check it") from cause
    if not isinstance(table, pd.DataFrame):
        raise NetworkError(
            f"{what} must be a DataFrame or the path of a CSV, got {type(table).__name__}; "
            "make one with pandas.DataFrame(...)"
        )
    if not len(table):
        raise NetworkError(f"{what} must have a row, got an empty table; check the file")
    return table


def _column(frame: Any, name: str) -> Any:
    if name not in frame.columns:
        raise NetworkError(
            f"no column is called {name!r}; there are {quoted(frame.columns)}; name one of them"
        )
    return frame[name]


def _numbers(frame: Any, name: str) -> FloatArray:
    """A column of finite numbers; the first that is none is named by its row."""
    import pandas as pd  # noqa: PLC0415 - as above

    column = _column(frame, name)
    numbers: FloatArray = np.asarray(pd.to_numeric(column, errors="coerce"), dtype=np.float64)
    bad = np.flatnonzero(~np.isfinite(numbers))
    if bad.size:
        first = column.tolist()[bad[0]]
        more = f" (and {bad.size - 1} more)" if bad.size > 1 else ""
        raise NetworkError(
            f"column {name!r} must hold finite numbers, got {first!r} in row {bad[0]}{more}; "
            "fill or drop such rows"
        )
    return numbers


def _coordinate_columns(frame: Any, x: str | None, y: str | None, edge: str | None) -> tuple[str, str] | None:
    """Columns of the coordinates, None if the table has addresses."""
    if (x is None) != (y is None):
        raise NetworkError("coordinates need two columns, got one; pass both x= and y=")
    if x is not None and y is not None:
        return x, y
    if edge is not None or any(name in frame.columns for name in USUAL_EDGES):
        return None
    for first, second in USUAL_COORDINATES:
        if first in frame.columns and second in frame.columns:
            return first, second
    raise NetworkError(
        "measurements need coordinates or addresses, got the columns "
        f"{quoted(frame.columns)}; say x= and y=, or edge= and distance="
    )


def _edge_column(frame: Any, edge: str | None) -> str:
    return edge if edge is not None else next(name for name in USUAL_EDGES if name in frame.columns)


def _usual_crs(columns: tuple[str, str], network: Network) -> Any:
    """Degrees where the columns say so and the network is on a map."""
    is_angular = columns in USUAL_COORDINATES[1:]
    return "EPSG:4326" if is_angular and network.report.crs is not None else None


def _from_addresses(
    network: Network, frame: Any, edge: str, along: tuple[str | None, str | None, str | None]
) -> Points:
    """Points from edge ids and distances or fractions; a wrong one is named by its row."""
    distance, fraction, start = along
    if distance is None and fraction is None:
        distance = "distance" if "distance" in frame.columns or "fraction" not in frame.columns else None
        fraction = "fraction" if distance is None else None
    ids = _known_ids(network, _column(frame, edge).tolist())
    measured = {
        "distance": None if distance is None else _numbers(frame, distance),
        "fraction": None if fraction is None else _numbers(frame, fraction),
    }
    ends = None if start is None else _column(frame, start).tolist()
    try:
        return network.points(ids, measured["distance"], fraction=measured["fraction"], start=ends)
    except BaseError as cause:
        raise NetworkError(f"an address in column {edge!r} is not on the network: {cause}") from cause


def _known_ids(network: Network, asked: Sequence[Any]) -> list[Hashable]:
    """Ids as the network has them: a CSV knows neither tuples nor whether 7 is a number."""
    return _by_text(asked, [*network.addresses.ids, *network.addresses.aliases, *network.graph.edge_ids])


def _by_text(asked: Sequence[Any], names: Iterable[Hashable]) -> list[Hashable]:
    known = set(names)
    if all(name in known for name in asked):
        return list(asked)
    by_text = {str(name): name for name in known}
    return [name if name in known else by_text.get(str(name), name) for name in asked]


def _within(off: FloatArray, limit: float, keep: str, what: str = "measurements") -> IntArray:
    """Rows within the limit."""
    beyond = np.flatnonzero(~(off <= limit))
    if beyond.size and keep == "all":
        shown = ", ".join(f"{row} ({off[row]:.4g} off)" for row in beyond[:LISTED_ROWS].tolist())
        more = ", ..." if beyond.size > LISTED_ROWS else ""
        raise NetworkError(
            f"{what} must lie within {limit:g} of the network, got {beyond.size} of {len(off)} beyond: "
            f"rows {shown}{more}; raise limit, check the coordinate system, or pass keep='near'"
        )
    if beyond.size == len(off):
        raise NetworkError(
            f"some measurement must lie within {limit:g} of the network, got none, the nearest is "
            f"{off.min():.4g} off; check the coordinate system"
        )
    return np.flatnonzero(off <= limit)


# Tables without values: places where one may measure, and stretches where nobody may.

USUAL_NODES = ("node", "vertex", "junction")


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
    whole, frame = as_network(network), _as_frame(table, "places")
    if any(name in frame.columns for name in USUAL_EDGES):
        return _from_addresses(whole, frame, _edge_column(frame, None), (None, None, None))
    node = next((name for name in USUAL_NODES if name in frame.columns), None)
    if node is not None:
        names = _by_text(frame[node].tolist(), [*whole.graph.vertex_ids, *whole.addresses.ends])
        return whole.points(vertex=names)
    columns = next((pair for pair in USUAL_COORDINATES if set(pair) <= set(frame.columns)), None)
    if columns is None:
        raise NetworkError(
            "places need columns edge and distance, node, x and y, or lon and lat, got "
            f"{quoted(frame.columns)}; rename them"
        )
    if limit is None or not limit >= 0:
        raise NetworkError(
            f"places by coordinates need a limit, got {limit}; say how far off the network they may lie"
        )
    xy = np.column_stack([_numbers(frame, name) for name in columns])
    points, off = whole.locate(xy, crs=crs if crs is not None else _usual_crs(columns, whole))
    return points[_within(off, limit, "all", "places")]


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
    whole, frame = as_network(network), _as_frame(table, "stretches")
    known = [name for name in USUAL_EDGES if name in frame.columns]
    if not known:
        raise NetworkError(
            f"stretches need the columns edge, from and to, got {quoted(frame.columns)}; rename them"
        )
    ids = _known_ids(whole, frame[known[0]].tolist())
    begin, end = (_numbers_or_none(frame, name) for name in ("from", "to"))
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
            f"to {end[row]:g} of {length[row]:g} on edge {ids[row]!r} in row {row}; mend it"
        )
    return list(zip(ids, begin.tolist(), end.tolist(), strict=True))


def _numbers_or_none(frame: Any, name: str) -> FloatArray:
    """A column of finite numbers, NaN where a cell is empty or there is no such column."""
    numbers = np.full(len(frame), np.nan)
    if name in frame.columns:
        is_given = frame[name].notna().to_numpy()
        numbers[is_given] = _numbers(frame.assign(**{name: frame[name].fillna(0.0)}), name)[is_given]
    return numbers
