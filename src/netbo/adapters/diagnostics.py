"""Components, dead ends and near misses of a graph, and the warnings derived from a report."""

from typing import Any

import numpy as np

from netbo.adapters.proximity import close_pairs, find_touches
from netbo.adapters.report import Gap, LengthComparison, NetworkReport
from netbo.arrays import BoolArray, FloatArray
from netbo.errors import NetworkError
from netbo.geometry import MetricGraph
from netbo.wording import counted, some

EXTREME_RATIO = 1e4  # of longest to shortest edge
USUAL_RATIO = 0.1  # drawn and given lengths of one network differ by less in the median
METRES = {"m": 1.0, "km": 1000.0, "ft": 0.3048, "US ft": 1200 / 3937, "mi": 1609.344}


def warnings_of(report: NetworkReport) -> tuple[str, ...]:
    """Warnings, the ones that change results first."""
    return tuple(
        sentence
        for part in (_lengths(report), _connections(report), _links(report), _extremes(report))
        for sentence in part
    )


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
    return found


def _compared(report: NetworkReport, comparison: LengthComparison) -> list[str]:
    if comparison.mercator_factor is not None:
        return [
            "the lengths in the file are those of the web-mercator map, "
            f"{comparison.mercator_factor:.3g} times too long; pass lengths='drawn'"
        ]
    if comparison.is_in_degrees:
        return ["the lengths in the file are in degrees, which are no lengths; pass lengths='drawn'"]
    if comparison.is_schematic:
        varies = (
            f"drawn over given length varies from {comparison.low:.3g} to {comparison.high:.3g} "
            "(5 to 95 % of the links)"
        )
        if report.length_source == "drawn":
            return [f"given and drawn lengths are unrelated: {varies}; the drawn lengths are used"]
        return [
            f"the drawing is schematic: {varies}, so it says nothing about lengths; "
            "the given lengths are used"
        ]
    if report.map_unit is not None and abs(_in_one_unit(report, comparison) - 1) > USUAL_RATIO:
        return [
            f"drawn lengths ({report.map_unit}) are {comparison.median:.3g} times the given ones "
            f"({report.given_unit or 'unit unknown'}) in the median; check the unit; {_used(report)}"
        ]
    return []


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
    false = report.false_dead_ends
    if false:
        worst = max(gap.distance for gap in false)
        ends = dict.fromkeys(gap.vertex for gap in false)
        found.append(
            f"{counted(len(ends), 'suspected false dead end')}, at {some(ends)}: "
            f"they stop within {worst:.3g} {report.map_unit or 'map units'} of something they do not join; "
            f"{_remedy(report, worst)} if they should"
        )
    if report.n_loose_curves:
        count = counted(report.n_loose_curves, "curve")
        found.append(f"{count} with an end off its vertex; the vertex ids decide what meets")
    return found


def _remedy(report: NetworkReport, worst: float) -> str:
    if worst > 0:
        return f"join them with snap={_round_up(worst):.1g}"
    on_edges = any(gap.other_edge is not None for gap in report.false_dead_ends)
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
END_ZONE = 1.5  # tolerances; nearer to its end than that, an edge is near because its end is


def inspect_graph(graph: MetricGraph, n_own: int, gap_tolerance: float | None) -> dict[str, Any]:
    """Fields of a report that the graph itself answers.

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
        "gap_tolerance": tolerance,
        "gaps": () if tolerance is None else find_gaps(graph, n_own, is_dead, tolerance),
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


def find_gaps(graph: MetricGraph, n_own: int, is_dead: BoolArray, tolerance: float) -> tuple[Gap, ...]:
    """Vertices within the tolerance of another vertex, or of the inside of an edge, not joined to it."""
    positions: FloatArray = graph.positions[:n_own]  # type: ignore[index]  # drawn
    gaps = _between_vertices(graph, positions, is_dead, tolerance)
    touches = find_touches(graph.drawing, positions, tolerance)
    is_own = (graph.tails[touches.line] == touches.place) | (graph.heads[touches.line] == touches.place)
    drawn = graph.drawing.drawn_lengths()[touches.line]
    from_end = np.minimum(touches.fraction, 1 - touches.fraction) * drawn
    inside = touches.where(~is_own & (from_end > END_ZONE * tolerance))
    gaps += [
        Gap(graph.vertex_ids[v], None, graph.edge_ids[e], d, bool(is_dead[v]))
        for v, e, d in zip(inside.place.tolist(), inside.line.tolist(), inside.distance.tolist(), strict=True)
    ]
    return tuple(sorted(gaps, key=lambda gap: (not gap.is_dead_end, gap.distance)))


def _between_vertices(
    graph: MetricGraph, positions: FloatArray, is_dead: BoolArray, tolerance: float
) -> list[Gap]:
    pairs = close_pairs(positions, tolerance)
    low, high = np.minimum(graph.tails, graph.heads), np.maximum(graph.tails, graph.heads)
    joined = set(zip(low.tolist(), high.tolist(), strict=True))
    gaps = []
    for first, second in pairs.tolist():
        if (first, second) not in joined:
            distance = float(np.linalg.norm(positions[first] - positions[second]))
            dead = bool(is_dead[first] or is_dead[second])
            gaps.append(Gap(graph.vertex_ids[first], graph.vertex_ids[second], None, distance, dead))
    return gaps
