"""Reader of edge lists: CSV files and DataFrames with a row an edge, from where, to where, how long."""

import re
from collections import Counter
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from netbo.adapters.assembly.assemble import assemble
from netbo.adapters.graph_links import (
    Courses,
    Directions,
    GraphReading,
    TwoWays,
    links_of,
    merge_directions,
    require_directions,
    undirected_names,
)
from netbo.adapters.graph_rows import LON_LAT, GraphRows
from netbo.adapters.links import Links
from netbo.adapters.network import Network
from netbo.adapters.tables import Table, as_table
from netbo.arrays import FloatArray
from netbo.errors import NetworkError
from netbo.wording import quoted

# Names of columns that people use, small letters and no signs between words.
ENDS = (
    ("from", "to"), ("source", "target"), ("u", "v"), ("start", "end"), ("tail", "head"),
    ("fromnode", "tonode"), ("startnode", "endnode"), ("node1", "node2"), ("sourceid", "targetid"),
    ("fromid", "toid"),
)  # fmt: skip
LENGTHS = ("length", "distance", "dist", "len", "weight")
IDS = ("id", "edge", "edgeid", "link", "linkid", "pipe", "pipeid")
PLACES = tuple(
    tuple(pattern.format(end=end, axis=axis) for end in ends for axis in axes)
    for axes in (("x", "y"), ("lon", "lat"), ("longitude", "latitude"))
    for ends in (("from", "to"), ("source", "target"), ("start", "end"), ("tail", "head"), ("u", "v"), "12")
    for pattern in ("{end}{axis}", "{axis}{end}")
)  # in all orders: fromx fromy tox toy, x1 y1 x2 y2, ...
UNIT = re.compile(r"(?:[\s_]+|[\s_]*[\[(])(m|km|ft|mi|cm|mm)[\])]?\s*$")  # length_km, length [m]
PLACE_SLACK = 1e-9  # relative; coordinates of one node written twice differ by rounding


def read_edge_list(
    source: Any,
    *,
    tail: str | None = None,
    head: str | None = None,
    length: str | None = None,
    id: str | None = None,  # noqa: A002  the word users look for
    coordinates: Sequence[str] | None = None,
    directions: Directions | None = None,
    sep: str | None = None,
    crs: Any = None,
    unit: str | None = None,
    **assembly: Any,
) -> Network:
    r"""Network of an edge list: a CSV file or a DataFrame with a row an edge.

    Parameters
    ----------
    source : path or DataFrame
        With the columns from, to and length; optionally id and the coordinates of both ends. The others
        become attributes of the edges.
    tail, head : str, optional
        Columns of the two ends, by default from and to, source and target, u and v, start and end, or tail
        and head. They may be missing where there are coordinates: equal places are one vertex.
    length : str, optional
        Column of the lengths, by default length, distance, dist, len or weight; a unit in its name
        (length_km, length [m]) counts. Without it the straight distance of the coordinates is measured.
    id : str, optional
        Column that names the edges, by default id, edge, edge_id, link or pipe; without it edges are named
        (from, to), and (from, to, k) where several join the same ends. An edge named by its ends answers to
        (to, from) as well.
    coordinates : sequence of str, optional
        Four columns: x and y of the one end, x and y of the other; by default from_x, from_y, to_x, to_y, or
        x1, y1, x2, y2, and the like; from_lon, from_lat, ... are degrees.
    directions : {"merge", "keep"}, optional
        "merge" makes one edge of two rows that run the opposite way and are as long, "keep" leaves them
        apart. By default rows without ids are merged, and rows with ids are edges of their own.
    sep : str, optional
        What separates the cells of a file; by default tab, semicolon or comma, as its first line has.
    crs : optional
        Coordinate system of the coordinates.
    unit : str, optional
        Of the lengths.
    **assembly
        Options of `assemble`, such as barriers=.

    Returns
    -------
    Network
        Graph, report and addresses.

    Raises
    ------
    NetworkError
        If a column is missing, or a row is wrong; the message names its line.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = pathlib.Path(folder) / "pipes.csv"
    ...     _ = path.write_text("id;from;to;length [m]\nP1;well;mill;120,5\nP2;mill;ford;80\n")
    ...     read_edge_list(path).graph
    MetricGraph(3 vertices, 2 edges, total length 200.5 m, 1 component)
    """
    links = links_from_edge_list(
        source, tail=tail, head=head, length=length, id=id, coordinates=coordinates, directions=directions,
        sep=sep, crs=crs, unit=unit,
    )  # fmt: skip
    return assemble(links, **assembly)


def links_from_edge_list(
    source: Any,
    *,
    tail: str | None = None,
    head: str | None = None,
    length: str | None = None,
    id: str | None = None,  # noqa: A002  the word users look for
    coordinates: Sequence[str] | None = None,
    directions: Directions | None = None,
    sep: str | None = None,
    crs: Any = None,
    unit: str | None = None,
) -> Links:
    """Links of an edge list; parameters are those of `read_edge_list`."""
    if directions is not None:
        require_directions(directions)
    table = as_table(source, sep=sep, what="an edge list")
    chosen = _Columns.of(table, (tail, head), length, id, coordinates)
    lengths = _lengths(table, chosen)
    places = None if chosen.places is None else np.column_stack([table.numbers(c) for c in chosen.places])
    tails, heads = _ends(table, chosen, places)
    table.require_good("correct or delete such rows")
    ids = _ids(table, chosen.id, tails, heads)
    positions = None if places is None else _positions(table, tails, heads, places)
    rows = GraphRows(f"edge list {table.name}", ids, tails, heads, [{}] * len(ids))
    courses = Courses(rows, lengths, [None] * len(ids), positions)
    is_merged = directions == "merge" or (directions is None and chosen.id is None)
    reading = GraphReading(courses, chosen.attributes(table), None, [*chosen.notes(), *table.notes])
    known = LON_LAT if chosen.is_angular else None
    return links_of(
        reading,
        _ways(courses, is_merged=is_merged, is_named=chosen.id is not None),
        crs=known if crs is None else crs,
        unit=chosen.unit if unit is None else unit,
    )


@dataclass(frozen=True)
class _Columns:
    """Which column is what."""

    ends: tuple[str, str] | None
    length: str | None
    id: str | None
    places: tuple[str, ...] | None

    @classmethod
    def of(
        cls,
        table: Table,
        ends: tuple[str | None, str | None],
        length: str | None,
        id: str | None,  # noqa: A002
        places: Sequence[str] | None,
    ) -> "_Columns":
        """As named, or found by the usual names."""
        by_word = _by_word(table.columns)
        given = {"tail": ends[0], "head": ends[1], "length": length, "id": id}
        for option, name in given.items():
            if name is not None:
                table.column(name, option)
        found = _as_places(table, places) if places is not None else _first(PLACES, by_word)
        pair = _as_ends(table, ends, by_word, is_placed=found is not None)
        taken = {*(pair or ()), *(found or ())}
        free = {word: name for word, name in by_word.items() if name not in taken}
        lengths = next((free[word] for word in LENGTHS if word in free), None) if length is None else length
        ids = next((free[word] for word in IDS if word in free), None) if id is None else id
        if lengths is None and found is None:
            raise NetworkError(
                f"an edge list needs lengths or coordinates, got the columns {quoted(table.columns)} in "
                f"{table.name}; name the one that holds the lengths with length="
            )
        return cls(pair, lengths, ids, found)

    @property
    def unit(self) -> str | None:
        """The unit in the name of the column of lengths."""
        found = None if self.length is None else UNIT.search(self.length.lower())
        return None if found is None else found[1]

    @property
    def is_angular(self) -> bool:
        """Whether the names of the coordinates say that they are degrees."""
        return self.places is not None and all(
            re.search("lon|lat|lng", name.lower()) for name in self.places
        )  # fmt: skip

    def attributes(self, table: Table) -> dict[str, list[Any]]:
        """The columns that are nothing else."""
        taken = {*(self.ends or ()), *(self.places or ()), self.length, self.id}
        return {name: table.column(name) for name in table.columns if name and name not in taken}

    def notes(self) -> list[str]:
        """What was taken for what."""
        ends = "equal coordinates are one vertex" if self.ends is None else f"ends in {quoted(self.ends)}"
        lengths = "lengths drawn" if self.length is None else f"lengths in {self.length!r}"
        names = "named by their ends" if self.id is None else f"named in {self.id!r}"
        places = "" if self.places is None else f", coordinates in {quoted(self.places)}"
        return [f"Columns: {ends}, {lengths}, edges {names}{places}."]


def _by_word(columns: Sequence[str]) -> dict[str, str]:
    """Columns by their names in small letters without signs and units; the first of equals counts."""
    found: dict[str, str] = {}
    for name in columns:
        small = name.strip().lower()
        for text in (small, UNIT.sub("", small)):
            found.setdefault(re.sub(r"[^a-z0-9]", "", text), name)
    return found


def _first(patterns: Sequence[Sequence[str]], by_word: Mapping[str, str]) -> tuple[str, ...] | None:
    found = next((words for words in patterns if all(word in by_word for word in words)), None)
    return None if found is None else tuple(by_word[word] for word in found)


def _as_places(table: Table, places: Any) -> tuple[str, ...]:
    if isinstance(places, str) or not isinstance(places, list | tuple) or len(places) != 4:
        raise NetworkError(
            f"coordinates must be four columns, got {places!r:.80}; name x and y of the one end and x and y "
            "of the other"
        )
    for name in places:
        table.column(name, "coordinates")
    return tuple(places)


def _as_ends(
    table: Table, ends: tuple[str | None, str | None], by_word: Mapping[str, str], *, is_placed: bool
) -> tuple[str, str] | None:
    tail, head = ends
    if (tail is None) != (head is None):
        raise NetworkError("the ends of edges are two columns, got one; name both with tail= and head=")
    if tail is not None and head is not None:
        return tail, head
    found = _first(ENDS, by_word)
    if found is None and not is_placed:
        raise NetworkError(
            f"an edge list needs two columns for the ends of edges, got {quoted(table.columns)} in "
            f"{table.name}; call them from and to, or name them with tail= and head="
        )
    return None if found is None else (found[0], found[1])


def _lengths(table: Table, chosen: _Columns) -> FloatArray | None:
    """Lengths, NaN where there is none and a drawing can be measured."""
    if chosen.length is None:
        return None
    lengths = table.numbers(chosen.length, may_lack=chosen.places is not None)
    for row in np.flatnonzero(lengths < 0).tolist():
        table.note_bad(row, f"lengths must not be negative, got {lengths[row]:g}")
    return lengths


def _ends(table: Table, chosen: _Columns, places: FloatArray | None) -> tuple[list[Hashable], list[Hashable]]:
    """Names of both ends of every row; whole numbers if all are, text if any is."""
    if chosen.ends is None:
        assert places is not None
        tails: list[Hashable] = [tuple(each) for each in places[:, :2].tolist()]
        heads: list[Hashable] = [tuple(each) for each in places[:, 2:].tolist()]
        return tails, heads
    columns = [table.column(name) for name in chosen.ends]
    for name, column in zip(chosen.ends, columns, strict=True):
        for row, value in enumerate(column):
            if value is None or value == "":
                table.note_bad(row, f"every edge needs both its ends, got nothing in column {name!r}")
    values = [value for column in columns for value in column if value is not None]
    whole = all(isinstance(value, int | np.integer) or _is_whole(value) for value in values)
    if whole:
        columns = [[None if each is None else int(each) for each in column] for column in columns]
    elif any(isinstance(value, str) for value in values):  # 7 in one column and "7" in the other are one
        columns = [[each if each is None else _as_text(each) for each in column] for column in columns]
    return columns[0], columns[1]


def _is_whole(value: Any) -> bool:
    return isinstance(value, float) and value.is_integer()


def _as_text(value: Any) -> str:
    return str(int(value)) if _is_whole(value) else str(value)


def _ids(
    table: Table, column: str | None, tails: Sequence[Hashable], heads: Sequence[Hashable]
) -> list[Hashable]:
    if column is None:
        pairs = list(zip(tails, heads, strict=True))
        counts, seen = Counter(pairs), Counter[Any]()
        if len(counts) == len(pairs):
            return list(pairs)
        ids: list[Hashable] = []
        for pair in pairs:
            ids.append((*pair, seen[pair]))
            seen[pair] += 1
        return ids
    values = table.column(column)
    first: dict[Any, int] = {}
    for row, value in enumerate(values):
        if value is None:
            table.note_bad(row, f"every edge needs a name, got nothing in column {column!r}")
        elif value in first:
            before = table.where(first[value])
            table.note_bad(row, f"names of edges must be unique, got {value!r} again after {before}")
        first.setdefault(value, row)
    table.require_good("mend the names, or name another column with id=")
    return [int(value) if _is_whole(value) else value for value in values]


def _positions(
    table: Table, tails: Sequence[Hashable], heads: Sequence[Hashable], places: FloatArray
) -> dict[Hashable, tuple[float, float]]:
    """The place of each vertex; rows that put it elsewhere are refused by their lines."""
    slack = PLACE_SLACK * float(np.abs(places).max(initial=0.0))
    found: dict[Hashable, tuple[float, float]] = {}
    first: dict[Hashable, int] = {}
    for row, xy in enumerate(places.tolist()):
        for node, (x, y) in ((tails[row], xy[:2]), (heads[row], xy[2:])):
            there = found.setdefault(node, (x, y))
            before = first.setdefault(node, row)
            if max(abs(there[0] - x), abs(there[1] - y)) > slack:
                table.note_bad(
                    row, f"a vertex has one place, got {node!r} at ({x:g}, {y:g}) and at ({there[0]:g}, "
                    f"{there[1]:g}) in {table.where(before)}, again",
                )  # fmt: skip
    table.require_good("correct the coordinates")
    return found


def _ways(courses: Courses, *, is_merged: bool, is_named: bool) -> TwoWays:
    rows = courses.rows
    apart = TwoWays(list(range(len(rows.ids))), {}, ())
    ways = merge_directions(courses) if is_merged else apart
    if is_named:
        return ways
    own = {*rows.ids, *ways.aliases}
    back = {name: target for name, target in undirected_names(rows).aliases.items() if name not in own}
    kept = {rows.ids[row] for row in ways.kept}
    more = {name: target for name, target in back.items() if target[0] in kept}
    return TwoWays(ways.kept, {**ways.aliases, **more}, ways.notes)
