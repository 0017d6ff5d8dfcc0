"""NetworkReport: what was found in a source and what was done to it, and its text."""

from collections.abc import Hashable, Iterator, Mapping
from dataclasses import asdict, dataclass, field
from typing import Any

import numpy as np

from netbo.notebook import card
from netbo.wording import counted, some, spot

Place = tuple[float, ...]  # coordinates in the system of the source


@dataclass(frozen=True, slots=True)
class Gap:
    """A vertex that nearly meets another vertex or the inside of an edge, but is not joined to it."""

    vertex: Hashable
    other_vertex: Hashable | None  # None where the other is an edge
    other_edge: Hashable | None
    distance: float
    is_dead_end: bool  # one of the two ends nowhere: suspected false
    place: Place | None = None  # of the vertex


@dataclass(frozen=True, slots=True)
class Crossing:
    """Two links, or one and itself, that cross where neither ends."""

    first: Hashable
    second: Hashable
    place: Place


@dataclass(frozen=True, slots=True)
class Displaced:
    """Links that lie outside the area for which their coordinate system is made."""

    area: str
    links: tuple[Hashable, ...]
    place: Place  # a corner of the first that does
    are_degrees: bool  # all coordinates would be longitudes and latitudes


@dataclass(frozen=True, slots=True)
class Join:
    """A vertex that snapping moved onto another vertex or onto an edge."""

    vertex: Hashable
    other_vertex: Hashable | None
    other_edge: Hashable | None
    distance: float


@dataclass(frozen=True, slots=True)
class Duplicate:
    """Two links with the same ends and the same course."""

    first: Hashable
    second: Hashable
    is_reversed: bool


@dataclass(frozen=True, slots=True)
class UnitGroup:
    """Links whose given lengths are in one unit, if the drawing is right."""

    unit: str
    ratio: float  # drawn / given, in the median
    links: tuple[Hashable, ...]


@dataclass(frozen=True, slots=True)
class LengthComparison:
    """Lengths given in the file against the lengths of the drawing: ratios drawn / given."""

    n_links: int
    median: float
    low: float  # quantiles 5 % and 95 %
    high: float
    worst_link: Hashable
    worst_ratio: float
    is_schematic: bool  # the drawing says nothing about the lengths
    mercator_factor: float | None = None  # given lengths are those of web-mercator, so many times too long
    is_in_degrees: bool = False  # the given lengths are those of the lon/lat drawing, in degrees
    units: tuple[UnitGroup, ...] = ()  # where they explain nearly all links, the most frequent first


@dataclass(frozen=True, slots=True)
class EqualLengths:
    """Links with one and the same round length that the drawing does not confirm."""

    length: float
    links: tuple[Hashable, ...]


@dataclass(frozen=True, slots=True)
class Treated:
    """Links that are no edges of the graph, or are detached from it, and why."""

    contracted: tuple[Hashable, ...] = ()
    cut: tuple[Hashable, ...] = ()  # with a length: detached; see `detached_at`
    vanished: tuple[Hashable, ...] = ()  # cut, without a length
    dropped: tuple[Hashable, ...] = ()
    zero_length: tuple[Hashable, ...] = ()
    zero_length_treatment: str = "contract"
    too_short_to_snap: tuple[Hashable, ...] = ()  # both ends were snapped to one place
    unreachable: tuple[Hashable, ...] = ()  # contracted to a place where no edge is left


@dataclass(frozen=True, slots=True)
class Noded:
    """What snapping and noding did."""

    snap: float = 0.0
    is_noded: bool = False
    n_crossings: int = 0  # places where links were cut because they cross or touch
    n_left_apart: int = 0  # crossings of links on different levels
    n_cut_links: int = 0
    joins: tuple[Join, ...] = ()
    largest_move: float = 0.0


@dataclass(frozen=True, kw_only=True, repr=False)
class NetworkReport:
    """What was found in a network and what was done to it; print it, or take `as_dict()`.

    Distances of gaps and joins are in `map_unit`, lengths in `unit`. `warnings` come first in print.

    Attributes
    ----------
    source : str
        Where the network comes from, for people.
    warnings, notes : tuple of str
        What may change results, and what readers decided.
    n_links, n_edges, n_vertices, n_components : int
        Of the source and of the graph.
    total_length, shortest, longest, unit
        Lengths of edges.
    gaps, dead_ends, false_dead_ends, crossings, duplicates
        Suspects: near misses, ends, ends with a near miss, lines that cross and do not meet, links stored
        twice.
    displaced, equal_lengths
        Links outside the area of their coordinate system, and with lengths that look like placeholders.
    has_vertex_ids : bool
        Whether the source says by ids what meets, or the drawing does.
    treated, noded, barriers
        What was done to links.
    length_source, length_comparison, crs, projection, map_unit, map_scale
        Where lengths come from and how the drawing compares.

    Examples
    --------
    >>> import netbo
    >>> report = netbo.read(netbo.star(3)).report
    >>> report.n_edges, report.dead_ends, report.warnings
    (3, (1, 2, 3), ())
    >>> print(report)  # doctest: +ELLIPSIS
    Network from a graph
      nothing to warn of
      size            3 edges and 4 vertices from 3 links
      ...
    """

    source: str
    n_links: int
    n_edges: int
    n_vertices: int
    unit: str | None
    total_length: float
    shortest: tuple[Hashable, float]
    longest: tuple[Hashable, float]
    component_edges: tuple[int, ...]  # largest total length first
    component_shares: tuple[float, ...]  # of the total length
    dead_ends: tuple[Hashable, ...]
    dead_end_places: tuple[Place, ...] = ()  # where drawn
    has_vertex_ids: bool = False  # of its own: they say what meets; else the drawing does
    gap_tolerance: float | None = None  # None where nothing is drawn
    gaps: tuple[Gap, ...] = ()
    crossings: tuple[Crossing, ...] | None = None  # None: not looked for
    n_crossings_apart: int = 0  # of links on different levels, by their columns bridge, tunnel or layer
    duplicates: tuple[Duplicate, ...] = ()
    duplicates_merged: bool = False
    treated: Treated = field(default_factory=Treated)
    noded: Noded = field(default_factory=Noded)
    given_unit: str | None = None  # of the lengths in the source
    length_source: str = "given"  # "given", "drawn" or "given, drawn where missing"
    length_comparison: LengthComparison | None = None
    equal_lengths: EqualLengths | None = None
    is_drawn: bool = True
    crs: str | None = None  # of the source
    crs_name: str | None = None
    projection: str | None = None  # of the drawing
    projection_name: str | None = None
    map_unit: str | None = None
    map_scale: float | None = None  # units of the source's map per unit of true length
    displaced: Displaced | None = None
    n_turned: int = 0  # curves stored from head to tail
    n_loose_curves: int = 0  # curves that stop short of their vertices
    barriers: tuple[tuple[Hashable, tuple[Hashable, ...]], ...] = ()
    n_aliases: int = 0
    notes: tuple[str, ...] = ()
    warnings: tuple[str, ...] = ()

    @property
    def n_components(self) -> int:
        """Number of components."""
        return len(self.component_edges)

    @property
    def false_dead_ends(self) -> tuple[Gap, ...]:
        """Gaps at dead ends: streets that probably should go on."""
        return tuple(gap for gap in self.gaps if gap.is_dead_end)

    def as_dict(self) -> dict[str, Any]:
        """Everything as plain data for JSON; ids that are tuples become lists."""
        counts = {"n_components": self.n_components, "n_false_dead_ends": len(self.false_dead_ends)}
        return {name: plain(value) for name, value in asdict(self).items()} | counts

    def __str__(self) -> str:
        object.__setattr__(self, "was_shown", True)  # its warnings need not be shown again
        return render(self)

    def __repr__(self) -> str:
        size = f"{counted(self.n_edges, 'edge')}, {counted(self.n_components, 'component')}"
        return f"NetworkReport({self.source}: {size}, {counted(len(self.warnings), 'warning')})"

    def _repr_html_(self) -> str:
        facts = [("source", self.source), *_facts(self), *(("note", note) for note in self.notes)]
        if not self.warnings:
            facts.insert(1, ("warnings", "nothing to warn of"))
        return card("NetworkReport", facts, warnings=self.warnings)


def plain(value: Any) -> Any:
    """Value as JSON has it: no tuples, no numpy; what it does not know becomes text."""
    if isinstance(value, Mapping):
        return {str(key): plain(entry) for key, entry in value.items()}
    if isinstance(value, tuple | list):
        return [plain(entry) for entry in value]
    if isinstance(value, np.generic):
        return plain(value.item())
    if isinstance(value, float):
        return value if np.isfinite(value) else None
    return value if isinstance(value, str | int | bool | None) else str(value)


# A report for people: warnings first, then what the network is, then what was done to it.

LISTED_GAPS = 5
LISTED_COMPONENTS = 4
COLUMN = 16
LONGEST_CRS = 100  # characters; WKT goes on for pages


def render(report: NetworkReport) -> str:
    """The report as text."""
    lines = [f"Network from {report.source}"]
    lines += [f"  ! {sentence}" for sentence in report.warnings]
    if not report.warnings:
        lines.append("  nothing to warn of")
    lines += [f"  {name:<{COLUMN}}{text}" for name, text in _facts(report)]
    lines += [f"  {'note':<{COLUMN}}{note}" for note in report.notes]
    return "\n".join(lines)


def _facts(report: NetworkReport) -> Iterator[tuple[str, str]]:
    unit = f" {report.unit}" if report.unit else ""
    edges = counted(report.n_edges, "edge")
    vertices = counted(report.n_vertices, "vertex", "vertices")
    yield "size", f"{edges} and {vertices} from {counted(report.n_links, 'link')}"
    yield "total length", f"{report.total_length:,.6g}{unit or ', unit unknown'}"
    (short, shortest), (long, longest) = report.shortest, report.longest
    yield "edges", f"{shortest:.6g}{unit} ({short!r}) to {longest:.6g}{unit} ({long!r})"
    yield "components", _components(report)
    yield "dead ends", str(len(report.dead_ends)) + _dead_ends(report)
    yield from _gaps(report)
    if report.crossings is not None:
        yield "crossings", _crossings(report)
    yield "duplicates", _duplicates(report)
    yield from _lengths(report)
    yield "coordinates", _coordinates(report)
    yield from _done(report)


def _named(names: tuple[object, ...]) -> str:
    return f" ({some(names)})" if names else ""


def _dead_ends(report: NetworkReport) -> str:
    if report.has_vertex_ids or not report.dead_end_places:
        return _named(report.dead_ends)
    return f" at {some(map(spot, report.dead_end_places), quote=False)}"


def _crossings(report: NetworkReport) -> str:
    found = report.crossings or ()
    places = f" at {some((spot(each.place) for each in found), quote=False)}" if found else ""
    apart = f", {report.n_crossings_apart} more on different levels" if report.n_crossings_apart else ""
    return f"{len(found)} without a common vertex{places}{apart}"


def _components(report: NetworkReport) -> str:
    if report.n_components == 1:
        return "1: every place can be reached from every other"
    shown = zip(report.component_edges, report.component_shares, strict=True)
    parts = [f"{counted(edges, 'edge')} ({share:.1%} of the length)" for edges, share in shown]
    more = ", ..." if len(parts) > LISTED_COMPONENTS else ""
    return f"{report.n_components}: {', '.join(parts[:LISTED_COMPONENTS])}{more}"


def _gaps(report: NetworkReport) -> Iterator[tuple[str, str]]:
    if report.gap_tolerance is None:
        yield "near misses", "not looked for: the network is not drawn"
        return
    unit = report.map_unit or "map units"
    found = f"{len(report.gaps)} within {report.gap_tolerance:.3g} {unit}"
    ids = "; the ids of the source say what meets" if report.gaps and report.has_vertex_ids else ""
    at_ends = f", {len(report.false_dead_ends)} at dead ends" if report.gaps else ""
    yield "near misses", found + at_ends + ids
    for gap in report.gaps[:LISTED_GAPS]:
        yield "", gap_words(gap, report)
    if len(report.gaps) > LISTED_GAPS:
        yield "", f"... and {len(report.gaps) - LISTED_GAPS} more in report.gaps"


def gap_words(gap: Gap, report: NetworkReport) -> str:
    """A near miss in words: the vertex by its name where the source has one, else by its place."""
    unit = report.map_unit or "map units"
    if gap.other_edge is not None:
        other = f"edge {gap.other_edge!r}"
    else:
        other = f"vertex {gap.other_vertex!r}" if report.has_vertex_ids else "another end"
    vertex = (
        f"vertex {gap.vertex!r}"
        if report.has_vertex_ids or gap.place is None
        else f"the end at {spot(gap.place)}"
    )
    return f"{vertex} is {gap.distance:.3g} {unit} from {other}"


def _duplicates(report: NetworkReport) -> str:
    if not report.duplicates:
        return "none"
    pairs = [(each.first, each.second) for each in report.duplicates]
    done = "merged" if report.duplicates_merged else "left as they are"
    return f"{len(pairs)} ({some(pairs)}), {done}"


def _lengths(report: NetworkReport) -> Iterator[tuple[str, str]]:
    drawn = "along the ellipsoid" if report.projection != report.crs else "taken from the drawing"
    known = {"drawn": drawn, "given": "given in the source"}
    yield "lengths", known.get(report.length_source, report.length_source)
    found = report.length_comparison
    if found is not None:
        units = (report.map_unit, report.given_unit)
        per = f" {units[0]}/{units[1]}" if None not in units and units[0] != units[1] else ""
        yield (
            "drawn / given",
            (
                f"{found.median:.4g}{per} in the median, {found.low:.4g} to {found.high:.4g} for 90 % of "
                f"{counted(found.n_links, 'link')}, worst {found.worst_ratio:.4g} ({found.worst_link!r})"
            ),
        )


def _coordinates(report: NetworkReport) -> str:
    if not report.is_drawn:
        return "none: the network is not drawn"
    if report.crs is None:
        return "no coordinate system: the drawing is in units of its own"
    unit = f", in {report.map_unit}" if report.map_unit else ""
    source = _system(report.crs_name, report.crs)
    if report.projection == report.crs:
        return source + unit
    return f"{source}, drawn in {_system(report.projection_name, report.projection)}{unit}"


def _system(name: str | None, text: str | None) -> str:
    """Name of a coordinate system, with the text that makes it again if that is short."""
    known = "" if name is None or name == "unknown" else name
    if text is None or text == name or len(text) > LONGEST_CRS:
        return known or "a system without a name"
    return f"{known} ({text})" if known else text


def _done(report: NetworkReport) -> Iterator[tuple[str, str]]:
    treated, noded = report.treated, report.noded
    for name, links, what in (
        ("contracted", treated.contracted, "their two ends are one place"),
        ("cut", treated.cut, "detached at an end: nothing passes there"),
        ("cut", treated.vanished, "without a length: left out, their ends stay apart"),
        ("dropped", treated.dropped, "left out"),
    ):
        if links:
            yield name, f"{counted(len(links), 'link')}{_named(links)}, {what}"
    if noded.snap or noded.is_noded:
        unit = report.map_unit or "map units"
        yield (
            "snapped",
            (
                f"{counted(len(noded.joins), 'end')} within {noded.snap:.3g} {unit}, "
                f"moved by at most {noded.largest_move:.3g}"
            ),
        )
        cut = counted(noded.n_cut_links, "link")
        apart = f", {noded.n_left_apart} on different levels left apart" if noded.n_left_apart else ""
        yield "noded", f"{cut} cut at {counted(noded.n_crossings, 'place')}{apart}"
    if report.n_turned:
        yield "turned", f"{counted(report.n_turned, 'curve')} stored from head to tail"
    for vertex, edges in report.barriers:
        yield "barrier", f"at vertex {vertex!r}, before {some(edges)}"
    if report.n_aliases:
        yield "second ids", f"{counted(report.n_aliases, 'id')} for links that have one already"
