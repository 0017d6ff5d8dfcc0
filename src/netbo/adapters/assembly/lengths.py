"""Lengths of links: given in the source or measured on the drawing, and how the two compare."""

from dataclasses import dataclass, replace
from typing import Literal

import numpy as np

from netbo.adapters.assembly.draft import Draft
from netbo.adapters.links import Treatment
from netbo.adapters.projection import Projected, row_lengths, transform
from netbo.adapters.report import LengthComparison
from netbo.arrays import BoolArray, FloatArray
from netbo.errors import NetworkError
from netbo.wording import counted

LengthChoice = Literal["given", "drawn"]

SCHEMATIC_SPREAD = 4.0  # 95 % over 5 % quantile of drawn / given; beyond it the two are unrelated
MERCATOR_MATCH = 1e-3  # relative; given lengths this close to those of another map were computed in it
WEB_MERCATOR = "EPSG:3857"
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
        raise NetworkError(
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
