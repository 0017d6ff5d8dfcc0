"""Findings: each suspect of a report by the user's name and at its place, for a list or a map."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Iterator
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from netbo.adapters.report import NetworkReport, Place, gap_words
from netbo.wording import spot

if TYPE_CHECKING:
    from netbo.adapters.network import Network


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing that was found in a network.

    Parameters
    ----------
    kind : str
        "warning" for what concerns the network as a whole, else what it is: "crossing", "dead end", ...
    sentence : str
        What was found, for people.
    name : hashable, optional
        Your id of the link or vertex.
    place : tuple of float, optional
        Coordinates in the system of the source; None where nothing is drawn.
    """

    kind: str
    sentence: str
    name: Hashable | None = None
    place: Place | None = None


def findings_of(network: Network) -> tuple[Finding, ...]:
    """Everything that the report of a network names or warns of, one by one."""
    report = network.report
    found = [
        *(Finding("warning", sentence) for sentence in report.warnings),
        *_places(report),
        *_at_their_links(network, _links(report)),
    ]
    return tuple(found)


def _places(report: NetworkReport) -> Iterator[Finding]:
    """What is found at places: crossings, near misses, dead ends."""
    for crossing in report.crossings or ():
        sentence = f"{crossing.first!r} and {crossing.second!r} cross without a common vertex"
        yield Finding("crossing", sentence, crossing.first, crossing.place)
    for gap in report.gaps:
        kind = "false dead end" if gap.is_dead_end and not report.has_vertex_ids else "near miss"
        yield Finding(kind, gap_words(gap, report), _own_name(report, gap.vertex), gap.place)
    places = report.dead_end_places or (None,) * len(report.dead_ends)
    for vertex, place in zip(report.dead_ends, places, strict=True):
        where = repr(vertex) if report.has_vertex_ids or place is None else spot(place)
        yield Finding("dead end", f"nothing goes on at {where}", _own_name(report, vertex), place)


def _own_name(report: NetworkReport, vertex: Hashable) -> Hashable | None:
    """The name of a vertex, if the source has one."""
    return vertex if report.has_vertex_ids else None


def _links(report: NetworkReport) -> Iterator[Finding]:
    """What is found of links."""
    displaced, comparison, equal = report.displaced, report.length_comparison, report.equal_lengths
    if displaced is not None:
        sentence = f"outside the area for which {report.crs_name} is made ({displaced.area})"
        yield from (Finding("displaced", sentence, link) for link in displaced.links)
    if comparison is not None and len(comparison.units) > 1:
        for group in comparison.units[1:]:
            sentence = f"its length seems to be in {group.unit}, others in {comparison.units[0].unit}"
            yield from (Finding("unit", sentence, link) for link in group.links)
    if equal is not None:
        sentence = f"its length, {equal.length:g} {report.given_unit}, looks like a placeholder"
        yield from (Finding("placeholder", sentence, link) for link in equal.links)
    if not report.duplicates_merged:
        for pair in report.duplicates:
            yield Finding("duplicate", f"it has the ends and the course of {pair.first!r}", pair.second)
    for link in report.treated.zero_length:
        yield Finding("without length", "it has no length", link)


def _at_their_links(network: Network, found: Iterable[Finding]) -> list[Finding]:
    """Findings of links with the places of their middles, where links are drawn and still there."""
    listed, known = list(found), set(network.addresses.ids)
    if network.graph.dimension is None:
        return listed
    rows = [row for row, each in enumerate(listed) if each.name in known]
    if rows:
        middles = network.points([listed[row].name for row in rows], fraction=0.5)
        for row, place in zip(rows, network.coordinates(middles).tolist(), strict=True):
            listed[row] = replace(listed[row], place=tuple(place))
    return listed
