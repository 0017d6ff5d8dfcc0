"""Which way a stored curve runs: from the first end of its edge to the second, or back."""

from __future__ import annotations

import math
from collections.abc import Hashable, Sequence
from dataclasses import dataclass

import numpy as np

from netbo.adapters.graphs.graph_rows import GraphRows, Positions
from netbo.arrays import FloatArray
from netbo.errors import NetworkError
from netbo.geometry.identifiers import counted

Place = tuple[float, ...]


@dataclass(frozen=True, eq=False)
class SettledCurves:
    """Curves that run from tail to head, and what was decided."""

    curves: list[FloatArray | None]
    notes: tuple[str, ...]


def settle_directions(
    rows: GraphRows, curves: Sequence[FloatArray | None], positions: Positions | None
) -> SettledCurves:
    """Every curve from tail to head, by comparing its ends with the places of the nodes.

    Undirected graphs list an edge as (u, v) or (v, u) as they please, whichever way its curve was stored.
    Nodes without places are placed where the curves that meet there have a common end.
    """
    if all(curve is None for curve in curves):
        return SettledCurves(list(curves), ())
    places = _shared_ends(rows, curves) if positions is None else positions
    settled, n_turned, n_unknown, misfits = list(curves), 0, 0, []
    for row, curve in enumerate(curves):
        tail, head = rows.tails[row], rows.heads[row]
        if curve is None or tail == head:
            continue
        forward, backward = (
            _misfit(curve, places.get(a), places.get(b)) for a, b in ((tail, head), (head, tail))
        )
        n_unknown += forward == backward
        if backward < forward:
            settled[row] = curve[::-1].copy()
            n_turned += 1
        misfits.append(min(forward, backward) / _extent(curve))
    _require_one_system(rows, misfits)
    return SettledCurves(settled, _notes_on_turns(n_turned, n_unknown))


def _misfit(curve: FloatArray, first: Sequence[float] | None, last: Sequence[float] | None) -> float:
    """How far the ends of the curve are from the places; an unknown place fits anything."""
    return sum(
        math.dist(end[:2].tolist(), place[:2])
        for end, place in ((curve[0], first), (curve[-1], last))
        if place is not None
    )


def _extent(curve: FloatArray) -> float:
    return math.hypot(*(curve.max(axis=0) - curve.min(axis=0)).tolist()) or 1.0


def _shared_ends(rows: GraphRows, curves: Sequence[FloatArray | None]) -> dict[Hashable, Place]:
    """Places of nodes: the one end that all curves at a node share, then the far ends of those curves."""
    ends: dict[Hashable, list[set[Place]]] = {}
    for tail, head, curve in zip(rows.tails, rows.heads, curves, strict=True):
        if curve is not None and tail != head:
            both = {tuple(curve[0].tolist()), tuple(curve[-1].tolist())}
            ends.setdefault(tail, []).append(both)
            ends.setdefault(head, []).append(both)
    shared = {node: set.intersection(*several) for node, several in ends.items()}
    places = {node: next(iter(common)) for node, common in shared.items() if len(common) == 1}
    # A node still without a place has all its curves from one neighbour, so one round is enough.
    for tail, head, curve in zip(rows.tails, rows.heads, curves, strict=True):
        if curve is not None and tail != head:
            _place_far_end(places, tail, head, curve)
    return places


def _place_far_end(places: dict[Hashable, Place], tail: Hashable, head: Hashable, curve: FloatArray) -> None:
    first, last = tuple(curve[0].tolist()), tuple(curve[-1].tolist())
    for near, far in ((tail, head), (head, tail)):
        if near in places and far not in places and places[near] in (first, last):
            places[far] = last if places[near] == first else first


def _require_one_system(rows: GraphRows, misfits: Sequence[float]) -> None:
    """Refuse curves that have nothing to do with the places of their nodes."""
    if misfits and float(np.median(misfits)) > 1:
        raise NetworkError(
            f"curves must end at their nodes, got ends {np.median(misfits):.3g} curve lengths away from them "
            f"(median) in {rows.source}; bring both into one coordinate system, or leave one out with "
            "geometry=None or positions=..."
        )


def _notes_on_turns(n_turned: int, n_unknown: int) -> tuple[str, ...]:
    notes = []
    if n_turned:
        notes.append(
            f"{counted(n_turned, 'curve')} stored from the second end of the edge to the first: turned round."
        )
    if n_unknown:
        notes.append(
            f"{counted(n_unknown, 'curve')} fit their ends equally well both ways: taken as stored, "
            "from the first end to the second."
        )
    return tuple(notes)
