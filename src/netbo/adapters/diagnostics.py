"""Components, dead ends and near misses of a graph, and the warnings derived from a report."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from netbo.adapters.projection import METRES, transform
from netbo.adapters.proximity import Levels, close_pairs, find_touches
from netbo.adapters.report import Gap, LengthComparison, NetworkReport, Place, UnitGroup
from netbo.arrays import BoolArray, FloatArray, IntArray
from netbo.errors import NetworkError
from netbo.geometry import MetricGraph
from netbo.wording import counted, some, spot

EXTREME_RATIO = 1e4  # of longest to shortest edge
USUAL_RATIO = 0.1  # drawn and given lengths of one network differ by less in the median
SHORTEST_TOTAL = 1.0  # metres; no network on the ground is shorter in all
LONGEST_EDGE = 2.0e7  # metres: half way round the Earth
LONGEST_TOTAL, LONG_MEAN = 1.0e9, 1.0e6  # metres; so much in all takes more edges, or each is implausible


def warnings_of(report: NetworkReport) -> tuple[str, ...]:
    """Warnings, the ones that change results first."""
    return tuple(
        sentence
        for part in (
            _whereabouts(report),
            _lengths(report),
            _connections(report),
            _links(report),
            _extremes(report),
        )
        for sentence in part
    )


def _whereabouts(report: NetworkReport) -> list[str]:
    """Coordinates that do not fit their system, and sizes that no network on the ground has."""
    found, displaced = [], report.displaced
    if displaced is not None and displaced.are_degrees:
        found.append(
            f"the coordinates look like longitude and latitude, the first {spot(displaced.place)}, but the "
            f"source says {report.crs_name}, outside whose area they lie as such ({displaced.area}); label "
            "it anew, with frame.set_crs('EPSG:4326', allow_override=True) or ogr2ogr -a_srs EPSG:4326"
        )
    elif displaced is not None:
        lie = "lies" if len(displaced.links) == 1 else "lie"
        found.append(
            f"{counted(len(displaced.links), 'link')} ({some(displaced.links)}) {lie} outside the area for "
            f"which {report.crs_name} is made ({displaced.area}), the first at {spot(displaced.place)}; "
            "check these coordinates, and that the source names the right system"
        )
    return found + _sizes(report)


def _sizes(report: NetworkReport) -> list[str]:
    metres = METRES.get(report.unit or "", np.nan)
    total, mean, (name, longest) = report.total_length, report.total_length / report.n_edges, report.longest
    if total * metres < SHORTEST_TOTAL:
        said = f"the network has {total:.3g} {report.unit} in all, less than any on the ground"
    elif longest * metres > LONGEST_EDGE:
        said = (
            f"the longest edge ({name!r}) has {longest:.3g} {report.unit}, more than half way round the Earth"
        )
    elif total * metres > LONGEST_TOTAL and mean * metres > LONG_MEAN:
        said = f"the network has {total:.3g} {report.unit} in all, {mean:.3g} an edge, more than any has"
    else:
        return []
    return [f"{said}; check the coordinates, their system and the unit of the lengths"]


def _lengths(report: NetworkReport) -> list[str]:
    found = []
    scale = report.map_scale
    if scale is not None and report.projection != report.crs and abs(scale - 1) > 0.01:
        found.append(
            f"the map ({report.crs_name}) draws this network {scale:.3g} times as long as it is; "
            "lengths were not taken from it but measured along the ellipsoid"
            if report.length_source != "given"
            else f"the map ({report.crs_name}) draws this network {scale:.3g} times as long as it is; "
            "it was redrawn to scale"
        )
    comparison = report.length_comparison
    if comparison is not None:
        found += _compared(report, comparison)
    return found + _placeholders(report)


def _placeholders(report: NetworkReport) -> list[str]:
    equal = report.equal_lengths
    if equal is None:
        return []
    return [
        f"{counted(len(equal.links), 'link')} ({some(equal.links)}) have one and the same round length, "
        f"{equal.length:g} {report.given_unit}: they look like placeholders, with which distances along the "
        "network mean nothing; give true lengths"
    ]


def _compared(report: NetworkReport, comparison: LengthComparison) -> list[str]:
    if comparison.mercator_factor is not None:
        return [
            "the lengths in the file are those of the web-mercator map, "
            f"{comparison.mercator_factor:.3g} times too long; pass lengths='drawn'"
        ]
    if comparison.is_in_degrees:
        return ["the lengths in the file are in degrees, which are no lengths; pass lengths='drawn'"]
    if len(comparison.units) > 1:
        return [_mixed(report, comparison.units)]
    if comparison.is_schematic:
        varies = (
            f"drawn over given length varies from {comparison.low:.3g} to {comparison.high:.3g} "
            "(5 to 95 % of the links)"
        )
        return [
            f"given and drawn lengths are unrelated: {varies}; the drawn lengths are used"
            if report.length_source == "drawn"
            else f"the drawing is schematic: {varies}, so it says nothing about lengths; "
            "the given lengths are used"
        ]
    if report.map_unit is None or abs(_in_one_unit(report, comparison) - 1) <= USUAL_RATIO:
        return []
    return [_in_another_unit(report, comparison)]


def _mixed(report: NetworkReport, units: Sequence[UnitGroup]) -> str:
    """Units that are mixed in one column, the links of the rarer ones by name."""
    usual, *others = units
    parts = [f"{counted(len(each.links), 'link')} ({some(each.links)}) in {each.unit}" for each in others]
    ratios = " and ".join(f"{each.ratio:.3g}" for each in units)
    done = _used(report) if report.length_source == "drawn" else "convert them, or pass lengths='drawn'"
    return (
        f"the lengths in the file mix units: {', '.join(parts)}, {len(usual.links)} in {usual.unit}, by the "
        f"drawing (drawn over given length is {ratios} in the median); {done}"
    )


def _in_another_unit(report: NetworkReport, comparison: LengthComparison) -> str:
    """Given lengths in another unit than said, which is named where it is clear."""
    said = (
        f"drawn lengths ({report.map_unit}) are {comparison.median:.4g} times the given ones "
        f"({report.given_unit or 'unit unknown'}) in the median"
    )
    unit = comparison.units[0].unit if comparison.units else None
    if unit is None or unit == (report.given_unit or report.map_unit):
        return f"{said}; check the unit; {_used(report)}"
    return f"the lengths in the file look like {unit}: {said}; if so, pass unit={unit!r}; {_used(report)}"


def _in_one_unit(report: NetworkReport, comparison: LengthComparison) -> float:
    """Median of drawn / given with both in metres; a given length without a unit counts as it is."""
    drawn = METRES.get(report.map_unit or "", np.nan)
    given = METRES.get(report.given_unit or report.map_unit or "", np.nan)
    ratio = comparison.median * drawn / given
    return float(ratio) if np.isfinite(ratio) else 1.0


def _used(report: NetworkReport) -> str:
    return "the drawn lengths are used" if report.length_source == "drawn" else "the given lengths are used"


def _connections(report: NetworkReport) -> list[str]:
    found = []
    if report.n_components > 1:
        found.append(
            f"{report.n_components} components: nothing passes between them; the largest has "
            f"{report.component_shares[0]:.1%} of the length"
        )
    found += _near_misses(report)
    if report.crossings:
        found.append(_crossed(report))
    if report.n_loose_curves:
        count = counted(report.n_loose_curves, "curve")
        found.append(f"{count} with an end off its vertex; the vertex ids decide what meets")
    return found


def _near_misses(report: NetworkReport) -> list[str]:
    """Ends that stop short, and junctions on a line that goes on; none where ids say what meets."""
    if report.has_vertex_ids:
        return []
    unit, found = report.map_unit or "map units", []
    false = report.false_dead_ends
    if false:
        worst = max(gap.distance for gap in false)
        found.append(
            f"{_at(false, 'suspected false dead end')}: they stop within {worst:.3g} {unit} of something "
            f"they do not join; {_remedy(false)} if they should"
        )
    passed = [gap for gap in report.gaps if gap.other_edge is not None and not gap.is_dead_end]
    if passed:
        worst = max(gap.distance for gap in passed)
        beside = f"within {worst:.3g} {unit} of" if worst > 0 else "on"
        found.append(
            f"{_at(passed, 'junction')}, {beside} a line that does not end there: nothing passes to it; "
            f"{_remedy(passed)} if it should"
        )
    return found


def _at(gaps: Sequence[Gap], noun: str) -> str:
    """The vertices of gaps, counted, and where the first are."""
    ends = {gap.vertex: gap.vertex if gap.place is None else spot(gap.place) for gap in gaps}
    return f"{counted(len(ends), noun)}, at {some(ends.values(), quote=False)}"


def _crossed(report: NetworkReport) -> str:
    crossings = report.crossings or ()
    where = some((spot(each.place) for each in crossings), quote=False)
    apart = report.n_crossings_apart
    beside = f" ({apart} more on different levels do not count)" if apart else ""
    keep = (
        "and leaves those on different levels apart"
        if apart
        else "also where one passes over the other: mark bridges and tunnels in a column bridge, tunnel or "
        "layer, and they stay apart"
    )
    return (
        f"lines cross without a common vertex at {counted(len(crossings), 'place')}, {where}{beside}: "
        f"nothing passes from one to the other; node=True joins them there, {keep}"
    )


def _remedy(gaps: Sequence[Gap]) -> str:
    worst = max(gap.distance for gap in gaps)
    if worst > 0:
        return f"join them with snap={_round_up(worst):.1g}"
    on_edges = any(gap.other_edge is not None for gap in gaps)
    return "cut the lines they touch with node=True" if on_edges else "join them with a small snap="


def _round_up(value: float) -> float:
    """The next number with one digit, so that the remedy can be typed."""
    step = 10.0 ** np.floor(np.log10(value))
    return float(step * (np.floor(value / step) + 1))


def _links(report: NetworkReport) -> list[str]:
    found, treated = [], report.treated
    if treated.zero_length:
        done = {"contract": "contracted to places", "cut": "left out, their ends apart", "drop": "left out"}
        names = some(treated.zero_length)
        what = done[treated.zero_length_treatment]
        found.append(f"{counted(len(treated.zero_length), 'link')} without length ({names}): {what}")
    if treated.too_short_to_snap:
        names = some(treated.too_short_to_snap)
        count = counted(len(treated.too_short_to_snap), "link")
        found.append(f"{count} ({names}) shrank to a place when snapped")
    if treated.unreachable:
        names = some(treated.unreachable)
        count = counted(len(treated.unreachable), "contracted link")
        found.append(f"{count} ({names}) without an address: no edge is left there")
    if report.duplicates and not report.duplicates_merged:
        names = some((d.first, d.second) for d in report.duplicates)
        found.append(
            f"{counted(len(report.duplicates), 'link')} stored twice, same ends and same course: {names}; "
            "merge them with merge_duplicates=True if they are one"
        )
    return found


def _extremes(report: NetworkReport) -> list[str]:
    (short, shortest), (long, longest) = report.shortest, report.longest
    if longest <= EXTREME_RATIO * shortest:
        return []
    return [
        f"the longest edge ({long!r}) is {longest / shortest:,.0f} times as long as the shortest "
        f"({short!r}); "
        "the solver copes, but check that the short one is no artefact"
    ]


# Facts of a graph for its report: components, dead ends, near misses.

USUAL_GAP = 1e-3  # of the median drawn edge
CONTACT = 1e-6  # of the tolerance: nearer than that, two things touch
END_ZONE = 1.5  # tolerances; nearer to its end than that, an edge is near because its end is


def inspect_graph(
    graph: MetricGraph, n_own: int, gap_tolerance: float | None, crs: str | None
) -> dict[str, Any]:
    """Fields of a report that the graph itself answers; places are in the coordinate system `crs`.

    Vertices from `n_own` on were made by cuts and barriers: they lie at the place of another on purpose.
    """
    component = graph.components[graph.tails]
    totals = np.bincount(component, graph.lengths)
    order = np.argsort(-totals, kind="stable")
    shortest, longest = int(np.argmin(graph.lengths)), int(np.argmax(graph.lengths))
    is_dead = graph.degrees == 1
    tolerance = _as_tolerance(graph, gap_tolerance)
    return {
        "n_edges": graph.n_edges,
        "n_vertices": graph.n_vertices,
        "unit": graph.unit,
        "total_length": graph.total_length,
        "shortest": (graph.edge_ids[shortest], float(graph.lengths[shortest])),
        "longest": (graph.edge_ids[longest], float(graph.lengths[longest])),
        "component_edges": tuple(np.bincount(component)[order].tolist()),
        "component_shares": tuple((totals[order] / graph.total_length).tolist()),
        "dead_ends": tuple(graph.vertex_ids[v] for v in np.flatnonzero(is_dead).tolist()),
        "dead_end_places": _places(graph, np.flatnonzero(is_dead), crs),
        "gap_tolerance": tolerance,
        "gaps": () if tolerance is None else find_gaps(graph, n_own, is_dead, tolerance, crs),
        "n_loose_curves": 0 if tolerance is None else _count_loose(graph, tolerance),
        "is_drawn": graph.dimension is not None,
    }


def _as_tolerance(graph: MetricGraph, asked: float | None) -> float | None:
    if asked is not None and not 0 <= asked < np.inf:
        raise NetworkError(f"gap_tolerance must be a finite distance, got {asked}; use 0 for exact contact")
    if graph.dimension is None:
        return None
    return USUAL_GAP * float(np.median(graph.drawing.drawn_lengths())) if asked is None else float(asked)


def _count_loose(graph: MetricGraph, tolerance: float) -> int:
    """Curves that stop farther than the tolerance from their vertices."""
    if graph.curves is None or graph.positions is None:
        return 0
    tail = np.linalg.norm(graph.curves.tail_places - graph.positions[graph.tails], axis=1)
    head = np.linalg.norm(graph.curves.head_places - graph.positions[graph.heads], axis=1)
    return int(np.count_nonzero(np.maximum(tail, head) > tolerance))


def _places(graph: MetricGraph, vertices: IntArray, crs: str | None) -> tuple[Place, ...]:
    """Coordinates of vertices in the system of the source; none where nothing is drawn."""
    if graph.positions is None:
        return ()
    return tuple(map(tuple, transform(graph.positions[vertices], graph.crs, crs).tolist()))


def find_gaps(
    graph: MetricGraph, n_own: int, is_dead: BoolArray, tolerance: float, crs: str | None
) -> tuple[Gap, ...]:
    """Vertices within the tolerance of another vertex, or of the inside of an edge, not joined to it.

    What passes above or below, by the columns layer, bridge and tunnel, is no near miss unless it touches.
    """
    positions: FloatArray = graph.positions[:n_own]  # type: ignore[index]  # drawn
    ids = graph.vertex_ids
    levels = Levels.of(graph.edge_attributes, graph.tails, graph.heads)
    near = _between_vertices(graph, positions, is_dead, tolerance, levels)
    touches = find_touches(graph.drawing, positions, tolerance)
    is_own = (graph.tails[touches.line] == touches.place) | (graph.heads[touches.line] == touches.place)
    drawn = graph.drawing.drawn_lengths()[touches.line]
    from_end = np.minimum(touches.fraction, 1 - touches.fraction) * drawn
    inside = touches.where(~is_own & (from_end > END_ZONE * tolerance))
    rows = zip(inside.place.tolist(), inside.line.tolist(), inside.distance.tolist(), strict=True)
    near += [
        (v, Gap(ids[v], None, graph.edge_ids[e], d, bool(is_dead[v])))
        for v, e, d in rows
        if d <= CONTACT * tolerance or levels.may_join(v, edge=e)
    ]
    places = _places(graph, np.array([vertex for vertex, _ in near], dtype=np.int64), crs)
    gaps = [replace(gap, place=place) for (_, gap), place in zip(near, places, strict=True)]
    return tuple(sorted(gaps, key=lambda gap: (not gap.is_dead_end, gap.distance)))


def _between_vertices(
    graph: MetricGraph, positions: FloatArray, is_dead: BoolArray, tolerance: float, levels: Levels
) -> list[tuple[int, Gap]]:
    """Gaps between vertices, each with the number of its first vertex."""
    pairs = close_pairs(positions, tolerance)
    low, high = np.minimum(graph.tails, graph.heads), np.maximum(graph.tails, graph.heads)
    joined = set(zip(low.tolist(), high.tolist(), strict=True))
    gaps = []
    for first, second in pairs.tolist():
        distance = float(np.linalg.norm(positions[first] - positions[second]))
        is_met = distance <= CONTACT * tolerance or levels.may_join(first, other=second)
        if (first, second) not in joined and is_met:
            dead = bool(is_dead[first] or is_dead[second])
            gap = Gap(graph.vertex_ids[first], graph.vertex_ids[second], None, distance, dead)
            gaps.append((first, gap))
    return gaps
