"""What was found in a network and what was done to it: to be read before anything is believed."""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from dataclasses import asdict, dataclass, field
from typing import Any

import numpy as np


@dataclass(frozen=True, slots=True)
class Gap:
    """A vertex that nearly meets another vertex or the inside of an edge, but is not joined to it."""

    vertex: Hashable
    other_vertex: Hashable | None  # None where the other is an edge
    other_edge: Hashable | None
    distance: float
    is_dead_end: bool  # one of the two ends nowhere: suspected false


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
    n_cut_links: int = 0
    joins: tuple[Join, ...] = ()
    largest_move: float = 0.0


@dataclass(frozen=True, kw_only=True)
class NetworkReport:
    """What was found in a network and what was done to it; print it, or take `as_dict()`.

    Distances of gaps and joins are in `map_unit`, lengths in `unit`. `warnings` come first in print.
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
    gap_tolerance: float | None = None  # None where nothing is drawn
    gaps: tuple[Gap, ...] = ()
    duplicates: tuple[Duplicate, ...] = ()
    duplicates_merged: bool = False
    treated: Treated = field(default_factory=Treated)
    noded: Noded = field(default_factory=Noded)
    given_unit: str | None = None  # of the lengths in the source
    length_source: str = "given"  # "given", "drawn" or "given, drawn where missing"
    length_comparison: LengthComparison | None = None
    is_drawn: bool = True
    crs: str | None = None  # of the source
    crs_name: str | None = None
    projection: str | None = None  # of the drawing
    projection_name: str | None = None
    map_unit: str | None = None
    map_scale: float | None = None  # units of the source's map per unit of true length
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
        values = {name: plain(value) for name, value in asdict(self).items()}
        values["n_components"] = self.n_components
        values["n_false_dead_ends"] = len(self.false_dead_ends)
        return values

    def __str__(self) -> str:
        from netbo.adapters.reports.report_text import render  # noqa: PLC0415 (the text needs the report's types)

        return render(self)


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
