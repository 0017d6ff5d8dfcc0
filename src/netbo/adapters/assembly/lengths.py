"""Lengths of links: given in the source or measured on the drawing, and how the two compare."""

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np

from netbo.adapters.assembly.draft import Draft
from netbo.adapters.links import Treatment
from netbo.adapters.projection import METRES, Projected, row_lengths, transform
from netbo.adapters.report import EqualLengths, LengthComparison, UnitGroup
from netbo.arrays import BoolArray, FloatArray, IntArray
from netbo.errors import NetworkError, UnmeasuredError
from netbo.wording import counted

LengthChoice = Literal["given", "drawn"]

SCHEMATIC_SPREAD = 4.0  # 95 % over 5 % quantile of drawn / given; beyond it the two are unrelated
MERCATOR_MATCH = 1e-3  # relative; given lengths this close to those of another map were computed in it
WEB_MERCATOR = "EPSG:3857"
UNIT_METRES = {name: METRES[name] for name in ("m", "km", "ft", "mi")} | {"mm": 0.001}  # as people mix them
SAME_UNIT = 1.25  # drawn over given length of links in one unit differs by less, either way
EXPLAINED = 0.9  # of the links; where units explain fewer, they explain nothing
FAR_UNITS = 100.0  # so many times off, one link is noticed; nearer units need more:
NEAR_UNIT = 1.1, 2, 0.05  # less scatter, a number and a share of links
MANY_EQUAL = 5, 0.9  # number and share of links of one round length that are no accident
SAME_DRAWN = 1.01  # links drawn so nearly of one length are: streets of a grid
SAID_SO = "coordinates were taken as lengths, because coordinates_are_lengths=True says so"


@dataclass(frozen=True, eq=False)
class Chosen:
    """Lengths to use, NaN for links that need none, and where they come from."""

    lengths: FloatArray
    source: str
    unit: str | None
    notes: tuple[str, ...] = ()


def choose_lengths(
    draft: Draft,
    projected: Projected | None,
    choice: LengthChoice | None,
    *,
    coordinates_are_lengths: bool = False,
) -> Chosen:
    """Lengths of the links: given ones where there are any, else drawn, unless `choice` says otherwise.

    Links to be contracted need none. A link to be cut has the length the file gives it, and none otherwise.
    """
    if choice not in (None, "given", "drawn"):
        raise NetworkError(f"lengths must be 'given' or 'drawn', got {choice!r}; leave it out for the usual")
    given = draft.lengths
    has_given = bool(np.isfinite(given).any())
    if choice is None:
        choice = "given" if has_given and not draft.links.distrusted_lengths else "drawn"
    if choice == "drawn":
        drawn = _require_measurable(draft, projected)
        is_without = np.isnan(given) & np.array([each is Treatment.CUT for each in draft.treatments])
        lengths = np.where(is_without & has_given, np.nan, drawn.lengths)
        return Chosen(lengths, "drawn", drawn.frame.unit, (SAID_SO,) if coordinates_are_lengths else ())
    if not has_given:
        raise NetworkError(
            f"lengths='given' needs lengths, got none in {draft.links.source}; name their attribute"
        )
    is_missing = np.isnan(given) & np.array([each is Treatment.KEEP for each in draft.treatments])
    if not is_missing.any():
        return Chosen(given, "given", draft.links.unit)
    return _fill(draft, projected, is_missing)


def _fill(draft: Draft, projected: Projected | None, is_missing: BoolArray) -> Chosen:
    """Given lengths, drawn ones where they are missing; both must be in one unit."""
    first = draft.ids[int(np.flatnonzero(is_missing)[0])]
    unit = draft.links.unit
    if projected is None or not projected.frame.is_measurable:
        raise NetworkError(
            f"every link needs a length, got none on {is_missing.sum()} of {len(is_missing)}, the first is "
            f"{first!r}, and no drawing to scale; fill them in, or pass lengths='drawn'"
        )
    if unit is not None and unit != projected.frame.unit:
        raise NetworkError(
            f"lengths must be in one unit, got {unit!r} in the file and {projected.frame.unit!r} in the "
            f"drawing of link {first!r}, which has no length of its own; fill it in, or pass lengths='drawn'"
        )
    count = counted(int(is_missing.sum()), "link")
    note = f"{count} without a length took that of the drawing, the first is {first!r}"
    lengths = np.where(is_missing, projected.lengths, draft.lengths)
    return Chosen(lengths, "given, drawn where missing", unit or projected.frame.unit, (note,))


def _require_measurable(draft: Draft, projected: Projected | None) -> Projected:
    source = draft.links.source
    if projected is None:
        raise NetworkError(
            f"links need lengths, got neither lengths nor a drawing of every link in {source}; "
            "name the attribute that holds the lengths"
        )
    if not projected.frame.is_measurable:
        distrusted = " (its lengths are not to be trusted)" if draft.links.distrusted_lengths else ""
        raise UnmeasuredError(
            f"drawn lengths need a coordinate system, got none in {source}{distrusted}: the coordinates may "
            "be pixels or degrees; pass crs=, or coordinates_are_lengths=True if they are lengths"
        )
    return projected


def compare_lengths(draft: Draft, projected: Projected | None) -> LengthComparison | None:
    """Drawn against given lengths, None unless there are both."""
    if projected is None:
        return None
    given, drawn = draft.lengths, projected.lengths
    both = np.flatnonzero((given > 0) & (drawn > 0))
    if not both.size:
        return None
    ratios = drawn[both] / given[both]
    low, median, high = np.quantile(ratios, [0.05, 0.5, 0.95]).tolist()
    worst = int(np.argmax(np.abs(np.log(ratios / median))))
    found = LengthComparison(
        n_links=len(both),
        median=median,
        low=low,
        high=high,
        worst_link=draft.ids[int(both[worst])],
        worst_ratio=float(ratios[worst]),
        is_schematic=high > SCHEMATIC_SPREAD * low,
        units=_group_units(ratios, [draft.ids[row] for row in both.tolist()], projected, draft.links.unit),
    )
    if projected.frame.crs is None:
        return found
    return _recognise_map(found, given[both], projected, both)


def _recognise_map(
    found: LengthComparison, given: FloatArray, projected: Projected, both: np.ndarray
) -> LengthComparison:
    """Whether the given lengths are those of a map that is not to scale."""
    frame = projected.frame
    if abs(found.median - 1) <= 0.01 and abs(found.low - 1) <= 0.01:
        return found
    if frame.is_geographic and _match(given, projected.map_lengths[both]):
        return replace(found, is_in_degrees=True)
    mercator = transform(projected.coordinates, frame.projection, WEB_MERCATOR)
    if _match(given, row_lengths(mercator, projected.starts)[both]):
        return replace(found, mercator_factor=1 / found.median)
    return found


def _match(given: FloatArray, other: FloatArray) -> bool:
    return bool(np.median(np.abs(given / np.where(other > 0, other, np.inf) - 1)) <= MERCATOR_MATCH)


def _group_units(
    ratios: FloatArray, ids: Sequence[Hashable], projected: Projected, given_unit: str | None
) -> tuple[UnitGroup, ...]:
    """Links by the unit in which their given lengths are, if the drawing is right; none if that is unclear.

    On a drawing whose own unit is unknown, most of the links count as right, and units must be far apart.
    """
    usual = given_unit if given_unit in UNIT_METRES else "m"
    metres = METRES.get(projected.frame.unit or "")
    if metres is not None:
        groups = _by_unit(ratios * metres, UNIT_METRES)
    else:
        scales = UNIT_METRES[usual] / np.quantile(ratios, [0.25, 0.5, 0.75], method="lower")
        far = {unit: size for unit, size in UNIT_METRES.items() if unit == usual or unit in ("mm", "m", "km")}
        groups = max((_by_unit(ratios * scale, far) for scale in scales), key=_n_explained)
    if _n_explained(groups) < EXPLAINED * len(ratios):
        return ()
    return tuple(
        UnitGroup(unit, float(np.median(ratios[rows])), tuple(ids[row] for row in rows.tolist()))
        for unit, rows in sorted(groups.items(), key=lambda item: -len(item[1]))
    )


def _n_explained(groups: Mapping[str, IntArray]) -> int:
    return sum(map(len, groups.values()))


def _by_unit(metres: FloatArray, units: Mapping[str, float]) -> dict[str, IntArray]:
    """Rows by the unit that has so many metres, without those that may be so by accident."""
    off = {unit: np.abs(np.log(metres / size)) for unit, size in units.items()}
    groups = {unit: np.flatnonzero(each <= np.log(SAME_UNIT)) for unit, each in off.items()}
    largest = max(groups, key=lambda unit: len(groups[unit]))
    scatter, number, share = NEAR_UNIT
    for unit, size in units.items():
        if unit != largest and max(size / units[largest], units[largest] / size) < FAR_UNITS:
            close = np.flatnonzero(off[unit] <= np.log(scatter))
            groups[unit] = close if len(close) >= max(number, share * len(metres)) else close[:0]
    return {unit: rows for unit, rows in groups.items() if rows.size}


def find_equal_lengths(draft: Draft, chosen: Chosen, projected: Projected | None) -> EqualLengths | None:
    """Links that share one round length which the drawing does not confirm: placeholders, it seems."""
    rows = np.flatnonzero(draft.lengths > 0)
    if chosen.source == "drawn" or draft.links.unit is None or len(rows) < MANY_EQUAL[0]:
        return None
    values, counts = np.unique(draft.lengths[rows], return_counts=True)
    value, count = float(values[np.argmax(counts)]), int(counts.max())
    equal = rows[draft.lengths[rows] == value]
    if count < max(MANY_EQUAL[0], MANY_EQUAL[1] * len(rows)) or not _is_round(value, draft.links.unit):
        return None
    if projected is not None:
        low, high = np.quantile(projected.lengths[equal], [0.05, 0.95])
        if high <= SAME_DRAWN * low:
            return None
    return EqualLengths(value, tuple(draft.ids[row] for row in equal.tolist()))


def _is_round(value: float, unit: str) -> bool:
    """Whether a length has one digit, in its own unit or in feet, from which readers convert."""
    feet = round(value * METRES.get(unit, np.nan) / METRES["ft"], 9)
    return any(each == float(f"{each:.0e}") for each in (value, feet))
