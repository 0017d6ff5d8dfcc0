"""Outcome of each link: an edge, contracted to a vertex, or left out."""

from collections.abc import Hashable
from dataclasses import dataclass

import numpy as np

from netbo.adapters.assembly.draft import Draft
from netbo.adapters.links import Treatment
from netbo.adapters.report import Treated
from netbo.arrays import BoolArray, FloatArray
from netbo.errors import NetworkError

ZERO_LENGTH = 1e-12  # relative to the longest link: shorter ones have no length


@dataclass(frozen=True, eq=False)
class LinkOutcomes:
    """Which links of a draft become edges and which are contracted to a vertex; the others are left out."""

    is_edge: BoolArray
    is_contracted: BoolArray
    detach_tail: BoolArray
    detach_head: BoolArray
    treated: Treated


def decide_outcomes(draft: Draft, lengths: FloatArray, zero_length: Treatment) -> LinkOutcomes:
    """Outcome of each link, from its treatment and its length.

    A cut link without a length is left out: its ends stay apart. One with a length stays, detached.
    """
    kinds = {kind: np.array([each is kind for each in draft.treatments]) for kind in Treatment}
    longest = np.nanmax(np.where(kinds[Treatment.CONTRACT], 0.0, lengths), initial=0.0)
    has_length = np.nan_to_num(lengths) > ZERO_LENGTH * longest
    is_cut = kinds[Treatment.CUT] & has_length
    is_zero = kinds[Treatment.KEEP] & ~has_length
    _require_treatable(draft, is_zero, zero_length)
    is_edge = (kinds[Treatment.KEEP] & has_length) | is_cut
    if not is_edge.any():
        raise NetworkError(
            f"a network needs an edge with a length, got none in {draft.links.source}; "
            "check the lengths and the treatments"
        )
    is_contracted = kinds[Treatment.CONTRACT] | (is_zero & (zero_length is Treatment.CONTRACT))
    tail, head = _detached_ends(draft, is_cut)
    every = set(draft.rows.tolist())
    names = draft.links.ids

    def named(mask: BoolArray) -> tuple[Hashable, ...]:
        return tuple(draft.ids[row] for row in np.flatnonzero(mask).tolist())

    treated = Treated(
        contracted=named(kinds[Treatment.CONTRACT]),
        cut=named(is_cut),
        vanished=named(kinds[Treatment.CUT] & ~has_length),
        dropped=tuple(names[row] for row in range(len(names)) if row not in every),
        zero_length=named(is_zero),
        zero_length_treatment=zero_length.value,
    )
    return LinkOutcomes(is_edge, is_contracted, tail, head, treated)


def _require_treatable(draft: Draft, is_zero: BoolArray, zero_length: Treatment) -> None:
    if is_zero.any() and zero_length is Treatment.KEEP:
        first = draft.ids[int(np.flatnonzero(is_zero)[0])]
        raise NetworkError(
            f"an edge needs a length, got none on link {first!r} (and {is_zero.sum() - 1} others); "
            "pass zero_length=Treatment.CONTRACT, CUT or DROP"
        )


def _detached_ends(draft: Draft, is_cut: BoolArray) -> tuple[BoolArray, BoolArray]:
    """Which ends of cut links are detached: the head unless the reader says otherwise."""
    tail, head = np.zeros(len(is_cut), dtype=np.bool_), np.zeros(len(is_cut), dtype=np.bool_)
    detach = draft.links.detach
    for row in np.flatnonzero(is_cut).tolist():
        end = (detach[draft.rows[row]] if detach is not None else None) or "head"
        if end not in ("tail", "head", "both"):
            raise NetworkError(
                f"detach must be 'tail', 'head' or 'both', got {end!r} on link {draft.ids[row]!r}"
            )
        tail[row], head[row] = end != "head", end != "tail"
    return tail, head
