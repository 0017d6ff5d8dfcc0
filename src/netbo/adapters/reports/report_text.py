"""A report for people: warnings first, then what the network is, then what was done to it."""

from __future__ import annotations

from collections.abc import Iterator

from netbo.adapters.report import Gap, NetworkReport
from netbo.adapters.reports.cautions import some
from netbo.geometry.identifiers import counted

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
    yield "dead ends", str(len(report.dead_ends)) + _named(report.dead_ends)
    yield from _gaps(report)
    yield "duplicates", _duplicates(report)
    yield from _lengths(report)
    yield "coordinates", _coordinates(report)
    yield from _done(report)


def _named(names: tuple[object, ...]) -> str:
    return f" ({some(names, len(names))})" if names else ""


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
    yield "near misses", found + (f", {len(report.false_dead_ends)} at dead ends" if report.gaps else "")
    for gap in report.gaps[:LISTED_GAPS]:
        yield "", _gap(gap, unit)
    if len(report.gaps) > LISTED_GAPS:
        yield "", f"... and {len(report.gaps) - LISTED_GAPS} more in report.gaps"


def _gap(gap: Gap, unit: str) -> str:
    other = f"edge {gap.other_edge!r}" if gap.other_edge is not None else f"vertex {gap.other_vertex!r}"
    return f"vertex {gap.vertex!r} is {gap.distance:.3g} {unit} from {other}"


def _duplicates(report: NetworkReport) -> str:
    if not report.duplicates:
        return "none"
    pairs = [(each.first, each.second) for each in report.duplicates]
    done = "merged" if report.duplicates_merged else "left as they are"
    return f"{len(pairs)} ({some(pairs, len(pairs))}), {done}"


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
        yield "noded", f"{cut} cut at {counted(noded.n_crossings, 'place')}"
    if report.n_turned:
        yield "turned", f"{counted(report.n_turned, 'curve')} stored from head to tail"
    for vertex, edges in report.barriers:
        yield "barrier", f"at vertex {vertex!r}, before {some(edges, len(edges))}"
    if report.n_aliases:
        yield "second ids", f"{counted(report.n_aliases, 'id')} for links that have one already"
