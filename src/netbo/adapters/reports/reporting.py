"""The report of an assembly, from what its steps found and did."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from netbo.adapters.addresses import Addresses
from netbo.adapters.assembly.draft import Draft
from netbo.adapters.assembly.fates import Fates
from netbo.adapters.assembly.lengths import Chosen, compare_lengths
from netbo.adapters.assembly.pieces import Pieces
from netbo.adapters.assembly.projection import MapFrame, Projected
from netbo.adapters.report import NetworkReport


def make_report(
    draft: Draft, fates: Fates, chosen: Chosen, projected: Projected | None, facts: dict[str, Any]
) -> NetworkReport:
    """A report without warnings; `facts` are the fields that later steps found."""
    frame = MapFrame() if projected is None else projected.frame
    return NetworkReport(
        source=draft.links.source,
        n_links=draft.links.n_links,
        treated=fates.treated,
        given_unit=draft.links.unit,
        length_source=chosen.source,
        length_comparison=compare_lengths(draft, projected),
        crs=frame.crs,
        crs_name=frame.crs_name,
        projection=frame.projection,
        projection_name=frame.projection_name,
        map_unit=frame.unit,
        map_scale=frame.scale,
        n_turned=draft.n_turned,
        n_aliases=len(draft.links.aliases),
        notes=(*draft.links.notes, *draft.notes, *chosen.notes),
        **facts,
    )


def note_vanished(
    report: NetworkReport, draft: Draft, fates: Fates, pieces: Pieces, addresses: Addresses
) -> NetworkReport:
    """The report with the links that snapping shrank to a place, and those that have no address at all."""
    is_left = np.bincount(pieces.link[~pieces.is_gone], minlength=len(draft.ids)) > 0
    known = set(addresses.ids)
    addressable = np.flatnonzero(fates.is_edge | fates.is_place).tolist()
    treated = replace(
        report.treated,
        too_short_to_snap=tuple(draft.ids[row] for row in np.flatnonzero(fates.is_edge & ~is_left).tolist()),
        unreachable=tuple(draft.ids[row] for row in addressable if draft.ids[row] not in known),
    )
    return replace(report, treated=treated)
