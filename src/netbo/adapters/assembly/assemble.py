"""Links assembled into a Network: projected, measured, snapped and noded where asked, and reported on."""

from collections.abc import Hashable, Iterable
from dataclasses import replace
from typing import Any

import numpy as np

from netbo.adapters.assembly.build import block, build_graph, make_addresses
from netbo.adapters.assembly.crossings import find_crossings
from netbo.adapters.assembly.draft import Draft, make_draft
from netbo.adapters.assembly.lengths import (
    Chosen,
    LengthChoice,
    choose_lengths,
    compare_lengths,
    find_equal_lengths,
)
from netbo.adapters.assembly.noding import Junctions, find_junctions
from netbo.adapters.assembly.pieces import (
    LinkPieces,
    contract_vertices,
    cut_links,
    detach_ends,
    merge_duplicate_pieces,
)
from netbo.adapters.assembly.treatments import LinkOutcomes, decide_outcomes
from netbo.adapters.diagnostics import inspect_graph, warnings_of
from netbo.adapters.links import Links, Treatment, as_treatment
from netbo.adapters.network import Network
from netbo.adapters.projection import MapFrame, Projected, project, transform
from netbo.adapters.proximity import find_duplicates, levels_of
from netbo.adapters.report import Crossing, Duplicate, NetworkReport, Noded
from netbo.arrays import FloatArray, ranges, row_starts
from netbo.checks import require_nonnegative
from netbo.errors import NetworkError
from netbo.geometry import Addresses, Curves
from netbo.geometry.curves import pick_curves
from netbo.optional import MissingPackageError


def assemble(
    links: Links,
    *,
    lengths: LengthChoice | None = None,
    coordinates_are_lengths: bool = False,
    snap: float = 0.0,
    node: bool = False,
    merge_duplicates: bool = False,
    barriers: Iterable[tuple[Hashable, Any]] = (),
    zero_length: Treatment | str = Treatment.CONTRACT,
    metric_crs: Any = None,
    gap_tolerance: float | None = None,
) -> Network:
    """A network of links, with a report that says what was found and what was done.

    Parameters
    ----------
    links : Links
        What a reader found.
    lengths : {"given", "drawn"}, optional
        By default given where there are any. Drawn ones are metres along the ellipsoid where the map is in
        degrees or out of scale.
    coordinates_are_lengths : bool, default False
        Says so of degrees, of web-mercator units, or of coordinates of unknown origin.
    snap : float, default 0.0
        Vertices this close, and ends this close to a line, become one; in the unit of the map (metres once
        projected). Lengths stay as they were, only the drawing moves.
    node : bool, default False
        Links that cross or touch are cut there.
    merge_duplicates : bool, default False
        Links with the same ends and the same course become one that answers to all ids.
    barriers : iterable of (vertex id, edge ids)
        Nothing passes at the vertex between these edges and the others.
    zero_length : Treatment or str, default "contract"
        What happens to links without a length: contract, cut or drop.
    metric_crs : optional
        Projection of the drawing, in metres; by default a local one where the map is out of scale.
    gap_tolerance : float, optional
        Near misses up to this are reported; by default 1e-3 of the median edge as drawn.

    Returns
    -------
    Network
        Graph, report and addresses.

    Raises
    ------
    NetworkError
        If lengths or coordinates are missing or wrong, or no edge is left.

    Examples
    --------
    >>> from netbo.adapters import Links
    >>> lengths = np.array([2.0, 1.0])
    >>> links = Links(source="a sketch", ids=["a", "b"], tails=[1, 2], heads=[2, 3], lengths=lengths)
    >>> assemble(links, barriers=[(2, "b")]).graph
    MetricGraph(4 vertices, 2 edges, total length 3, 2 components)
    """
    require_nonnegative("snap", snap, "use 0 to join nothing", kind="a finite distance", error=NetworkError)
    draft = make_draft(links)
    projected = _project(draft, coordinates_are_lengths=coordinates_are_lengths, metric_crs=metric_crs)
    chosen = choose_lengths(draft, projected, lengths, coordinates_are_lengths=coordinates_are_lengths)
    outcomes = decide_outcomes(draft, chosen.lengths, as_treatment(zero_length, "zero_length"))
    curves, positions = _draw_edges(draft, projected, outcomes)
    junctions = _find_junctions(draft, outcomes, curves, positions, snap=snap, node=node)
    pieces = cut_links(draft, outcomes, chosen.lengths, curves, junctions)
    pieces, vertices = contract_vertices(draft, outcomes, pieces, positions, junctions)
    n_own = len(vertices.ids)
    pieces, vertices = detach_ends(pieces, outcomes, vertices)
    pieces, duplicates = _find_duplicates(draft, pieces, is_merged=merge_duplicates)
    built = build_graph(draft, pieces, vertices, chosen, projected)
    blocked = [(vertex, _as_names(edges, links)) for vertex, edges in _as_pairs(barriers)]
    graph = block(built, blocked, draft, pieces, vertices)
    addresses = make_addresses(draft, outcomes, chosen, pieces, vertices, built)
    graph = replace(graph, addresses=addresses)
    crs = None if projected is None else projected.frame.crs
    facts = inspect_graph(graph, int(np.count_nonzero(built.vertices < n_own)), gap_tolerance, crs) | {
        "duplicates": duplicates,
        "duplicates_merged": merge_duplicates,
        "noded": Noded() if junctions is None else junctions.noded,
        "barriers": tuple((vertex, tuple(edges)) for vertex, edges in blocked),
    }
    facts |= _find_crossings(draft, outcomes, curves, junctions, facts["gap_tolerance"], projected)
    report = _make_report(draft, outcomes, chosen, projected, facts)
    report = _note_vanished(report, draft, outcomes, pieces, addresses)
    return Network(graph, replace(report, warnings=warnings_of(report)))


def _make_report(
    draft: Draft, outcomes: LinkOutcomes, chosen: Chosen, projected: Projected | None, facts: dict[str, Any]
) -> NetworkReport:
    """A report without warnings; `facts` are the fields that later steps found."""
    frame = MapFrame() if projected is None else projected.frame
    return NetworkReport(
        source=draft.links.source,
        n_links=draft.links.n_links,
        treated=outcomes.treated,
        given_unit=draft.links.unit,
        length_source=chosen.source,
        length_comparison=compare_lengths(draft, projected),
        equal_lengths=find_equal_lengths(draft, chosen, projected),
        has_vertex_ids=draft.links.tails is not None,
        displaced=frame.displaced,
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


def _note_vanished(
    report: NetworkReport, draft: Draft, outcomes: LinkOutcomes, pieces: LinkPieces, addresses: Addresses
) -> NetworkReport:
    """The report with the links that snapping shrank to a place, and those that have no address at all."""
    is_left = np.bincount(pieces.link[~pieces.is_gone], minlength=len(draft.ids)) > 0
    known = set(addresses.ids)
    addressable = np.flatnonzero(outcomes.is_edge | outcomes.is_contracted).tolist()
    treated = replace(
        report.treated,
        too_short_to_snap=tuple(
            draft.ids[row] for row in np.flatnonzero(outcomes.is_edge & ~is_left).tolist()
        ),
        unreachable=tuple(draft.ids[row] for row in addressable if draft.ids[row] not in known),
    )
    return replace(report, treated=treated)


def _project(draft: Draft, *, coordinates_are_lengths: bool, metric_crs: Any) -> Projected | None:
    """The drawing in a metric projection, vertices after the corners of links; None if nothing is drawn."""
    if draft.lines is None:
        return None
    both = np.concatenate([draft.lines.coordinates, draft.lines.positions])
    return project(
        both,
        draft.lines.starts,
        draft.links.crs,
        draft.ids,
        coordinates_are_lengths=coordinates_are_lengths,
        metric_crs=metric_crs,
    )


def _draw_edges(
    draft: Draft, projected: Projected | None, outcomes: LinkOutcomes
) -> tuple[Curves | None, FloatArray | None]:
    """Curves of the links that become edges, and the places of all vertices."""
    if projected is None:
        return None, None
    rows, starts = np.flatnonzero(outcomes.is_edge), projected.starts
    counts = np.diff(starts)[rows]
    corners = projected.coordinates[ranges(starts[rows], counts)]
    return Curves.proportional(corners, row_starts(counts)), projected.coordinates[starts[-1] :]


def _find_junctions(
    draft: Draft,
    outcomes: LinkOutcomes,
    curves: Curves | None,
    positions: FloatArray | None,
    *,
    snap: float,
    node: bool,
) -> Junctions | None:
    if not (snap or node):
        return None
    if curves is None or positions is None:
        raise NetworkError(
            f"snapping and noding need a drawing, got none in {draft.links.source}; "
            "leave snap and node out, or give positions"
        )
    rows = np.flatnonzero(outcomes.is_edge)
    names = draft.vertex_ids, [draft.ids[row] for row in rows.tolist()]
    ends = draft.tails[rows], draft.heads[rows]
    levels = levels_of(draft.links.attributes, draft.rows[rows])
    return find_junctions(curves, ends, positions, names, snap=snap, node=node, levels=levels)


def _find_crossings(
    draft: Draft,
    outcomes: LinkOutcomes,
    curves: Curves | None,
    junctions: Junctions | None,
    tolerance: float | None,
    projected: Projected | None,
) -> dict[str, Any]:
    """Crossings for the report; looked for where the drawing says what meets and nothing was cut there."""
    if junctions is not None and junctions.noded.is_noded:
        return {"crossings": (), "n_crossings_apart": junctions.noded.n_left_apart}
    if draft.links.tails is not None or curves is None or projected is None or curves.dimension != 2:
        return {}
    rows = np.flatnonzero(outcomes.is_edge)
    try:
        found = find_crossings(curves, levels_of(draft.links.attributes, draft.rows[rows]), tolerance or 0.0)
    except MissingPackageError:  # whoever hands over arrays need not have the package of the maps
        return {}
    places = transform(found.places, projected.frame.projection, projected.frame.crs)
    ids = [draft.ids[row] for row in rows.tolist()]
    pairs = zip(found.first.tolist(), found.second.tolist(), places.tolist(), strict=True)
    return {
        "crossings": tuple(Crossing(ids[one], ids[other], tuple(place)) for one, other, place in pairs),
        "n_crossings_apart": found.n_apart,
    }


def _find_duplicates(
    draft: Draft, pieces: LinkPieces, *, is_merged: bool
) -> tuple[LinkPieces, tuple[Duplicate, ...]]:
    """Links that repeat others, merged if asked."""
    kept = np.flatnonzero(pieces.is_edge)
    curves = None if pieces.curves is None else pick_curves(pieces.curves, kept)
    found = find_duplicates(pieces.tails[kept], pieces.heads[kept], pieces.lengths[kept], curves)
    named = found.named([draft.ids[link] for link in pieces.link[kept].tolist()])
    return merge_duplicate_pieces(pieces, kept, found) if is_merged else pieces, named


def _as_pairs(barriers: Any) -> list[tuple[Hashable, Any]]:
    """Barriers as pairs of a vertex and its edges; JSON has lists for tuples."""
    try:
        pairs = [(vertex, edges) for vertex, edges in barriers]
        set(vertex for vertex, _ in pairs)  # noqa: C401 - ids must be hashable
    except (TypeError, ValueError) as cause:
        raise NetworkError(
            f"barriers must be pairs of a vertex and edge ids, got {barriers!r:.60}; try [(vertex, [edge])]"
        ) from cause
    return pairs


def _as_names(edges: Any, links: Links) -> list[Hashable]:
    """One edge id or several; a tuple that is itself an id counts as one."""
    if isinstance(edges, str | bytes) or not isinstance(edges, Iterable):
        return [edges]
    if isinstance(edges, tuple) and (edges in links.aliases or edges in set(links.ids)):
        return [edges]
    return list(edges)
