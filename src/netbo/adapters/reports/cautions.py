"""What in a report should give pause, in sentences with a remedy."""

from __future__ import annotations

from collections.abc import Hashable, Iterable
from itertools import islice

import numpy as np

from netbo.adapters.report import LengthComparison, NetworkReport
from netbo.geometry.identifiers import counted

EXTREME_RATIO = 1e4  # of longest to shortest edge
USUAL_RATIO = 0.1  # drawn and given lengths of one network differ by less in the median
FEW = 3  # examples
METRES = {"m": 1.0, "km": 1000.0, "ft": 0.3048, "US ft": 1200 / 3937, "mi": 1609.344}


def cautions_of(report: NetworkReport) -> tuple[str, ...]:
    """Warnings, the ones that change results first."""
    return tuple(
        sentence
        for part in (_lengths(report), _connections(report), _links(report), _extremes(report))
        for sentence in part
    )


def some(names: Iterable[Hashable], count: int) -> str:
    """The first few of `count` names, for people."""
    shown = ", ".join(repr(name) for name in islice(names, FEW))
    return f"{shown}, ..." if count > FEW else shown


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
            f"{counted(len(ends), 'suspected false dead end')}, at {some(ends, len(ends))}: "
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
        names = some(treated.zero_length, len(treated.zero_length))
        what = done[treated.zero_length_treatment]
        found.append(f"{counted(len(treated.zero_length), 'link')} without length ({names}): {what}")
    if treated.too_short_to_snap:
        names = some(treated.too_short_to_snap, len(treated.too_short_to_snap))
        count = counted(len(treated.too_short_to_snap), "link")
        found.append(f"{count} ({names}) shrank to a place when snapped")
    if treated.unreachable:
        names = some(treated.unreachable, len(treated.unreachable))
        count = counted(len(treated.unreachable), "contracted link")
        found.append(f"{count} ({names}) without an address: no edge is left there")
    if report.duplicates and not report.duplicates_merged:
        names = some(((d.first, d.second) for d in report.duplicates), len(report.duplicates))
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
