"""What makes arrays from outside a compact metric graph; checked once, in the constructor."""

from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from netbo.arrays import FloatArray, IntArray, as_float_vector, as_index_vector
from netbo.errors import GraphError
from netbo.geometry.curves import Curves, as_curves
from netbo.geometry.identifiers import Ids


def as_ends(tails: ArrayLike, heads: ArrayLike) -> tuple[IntArray, IntArray]:
    """Vertex indices of both ends of every edge."""
    ends = as_index_vector(tails, "tails", GraphError), as_index_vector(heads, "heads", GraphError)
    if len(ends[0]) != len(ends[1]):
        raise GraphError(
            f"tails and heads must have one entry per edge, got {len(ends[0])} and {len(ends[1])}; "
            "pass two sequences of one length"
        )
    if not len(ends[0]):
        raise GraphError("a graph needs at least one edge, got none; check the filter that chose the edges")
    return ends


def as_positions(positions: ArrayLike | None) -> FloatArray | None:
    """Coordinates of the vertices, (n_vertices, 2 or 3)."""
    if positions is None:
        return None
    try:
        places = np.array(positions, dtype=np.float64)
    except (TypeError, ValueError) as cause:
        raise GraphError(f"positions must be numbers, got {positions!r:.60}; pass an (n, 2) array") from cause
    if places.ndim != 2 or places.shape[1] not in (2, 3):
        raise GraphError(
            f"positions must have shape (n_vertices, 2) or (n_vertices, 3), got {places.shape}; "
            "give one row per vertex"
        )
    bad = np.flatnonzero(~np.isfinite(places).all(axis=1))
    if bad.size:
        raise GraphError(
            f"positions must be finite, got {places[bad[0]]} at vertex {bad[0]}; fill or drop it"
        )
    return places


def count_vertices(
    ends: tuple[IntArray, IntArray], positions: FloatArray | None, vertex_ids: Sequence[Any] | None
) -> int:
    """Count of the vertices, from the ids, else the positions, else the largest index."""
    largest = int(max(ends[0].max(), ends[1].max()))
    counts = [len(given) for given in (vertex_ids, positions) if given is not None]
    count = counts[0] if counts else largest + 1
    if len(set(counts)) > 1:
        raise GraphError(
            f"vertex ids and positions must match, got {counts[0]} and {counts[1]}; give one row each"
        )
    smallest = int(min(ends[0].min(), ends[1].min()))
    if smallest < 0 or largest >= count:
        unknown = smallest if smallest < 0 else largest
        raise GraphError(
            f"tails and heads must lie in 0..{count - 1}, got {unknown}; "
            "pass indices into vertex_ids, not the ids"
        )
    degrees = np.bincount(np.concatenate(ends), minlength=count)
    lonely = np.flatnonzero(degrees == 0)
    if lonely.size:
        raise GraphError(
            f"every vertex needs an edge, got {lonely.size} without, the first is {lonely[0]}; "
            "drop them and renumber the others"
        )
    return count


def as_drawing(
    curves: Curves | Sequence[ArrayLike | None] | None,
    ends: tuple[IntArray, IntArray],
    positions: FloatArray | None,
) -> Curves | None:
    """Packed curves, or None where every edge is straight or not drawn at all."""
    if curves is None:
        return None
    if len(curves) != len(ends[0]):
        raise GraphError(
            f"curves must draw {len(ends[0])} edges, got {len(curves)}; use None for straight ones"
        )
    places = (None, None) if positions is None else (positions[ends[0]], positions[ends[1]])
    drawing = curves if isinstance(curves, Curves) else as_curves(curves, *places)
    if positions is not None:
        _require_direction(drawing, positions, ends)
    return drawing


def _require_direction(drawing: Curves, positions: FloatArray, ends: tuple[IntArray, IntArray]) -> None:
    """Refuse a curve that fits its vertices clearly better when read backwards; small gaps are forgiven."""
    if drawing.dimension != positions.shape[1]:
        raise GraphError(
            "curves and positions must share one dimension, "
            f"got {drawing.dimension} and {positions.shape[1]}; drop or add heights"
        )

    def mismatch(first: IntArray, last: IntArray) -> FloatArray:
        gaps = drawing.tail_places - positions[first], drawing.head_places - positions[last]
        total: FloatArray = np.linalg.norm(gaps[0], axis=1) + np.linalg.norm(gaps[1], axis=1)
        return total

    wrong = np.flatnonzero(mismatch(*ends) > 2 * mismatch(ends[1], ends[0]))
    if wrong.size:
        raise GraphError(
            f"curves must run from tail to head, got {wrong.size} the other way, "
            f"the first on edge {wrong[0]}; reverse them with curve[::-1]"
        )


def positions_from_curves(drawing: Curves, ends: tuple[IntArray, IntArray]) -> FloatArray:
    """Each vertex where the first curve that meets it has its end."""
    places = np.concatenate([drawing.tail_places, drawing.head_places])
    _, first = np.unique(np.concatenate(ends), return_index=True)
    return places[first]


def as_lengths(lengths: ArrayLike | None, drawn: FloatArray | None, edge_ids: Ids) -> FloatArray:
    """Positive finite lengths, the drawn ones if none are given."""
    if lengths is not None:
        checked = as_float_vector(lengths, "edge lengths", GraphError)
    elif drawn is not None:
        checked = drawn
    else:
        raise GraphError(
            "edges need lengths, got neither lengths nor a drawing; pass lengths=, curves= or positions="
        )
    if len(checked) != len(edge_ids):
        raise GraphError(
            f"lengths must match {len(edge_ids)} edges, got {len(checked)}; give one length per edge"
        )
    bad = np.flatnonzero(~((checked > 0) & (checked < np.inf)))
    if bad.size:
        remedy = (
            "merge coincident vertices first with merge_vertices(graph, tolerance), without this edge"
            if checked[bad[0]] == 0
            else "measure the edge or drop it"
        )
        raise GraphError(
            f"edge lengths must be positive and finite, got {checked[bad[0]]} "
            f"on edge {edge_ids[bad[0]]!r}; {remedy}"
        )
    return checked


def as_attributes(attributes: Mapping[str, Any] | None, n_edges: int) -> Mapping[str, Any]:
    """Columns of one value per edge, as they were given."""
    columns = dict(attributes or {})
    for name, column in columns.items():
        if len(column) != n_edges:
            raise GraphError(
                f"edge attributes must have {n_edges} values, got {len(column)} in {name!r}; "
                "give one per edge"
            )
    return MappingProxyType(columns)
