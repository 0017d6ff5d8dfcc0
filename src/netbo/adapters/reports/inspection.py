"""What a graph shows to whoever looks: components, dead ends, near misses."""

from __future__ import annotations

from typing import Any

import numpy as np

from netbo.adapters.assembly.nearness import close_pairs, find_touches
from netbo.adapters.report import Gap
from netbo.arrays import BoolArray, FloatArray
from netbo.errors import NetworkError
from netbo.geometry import MetricGraph

USUAL_GAP = 1e-3  # of the median drawn edge
END_ZONE = 1.5  # tolerances; nearer to its end than that, an edge is near because its end is


def inspect_graph(graph: MetricGraph, n_own: int, gap_tolerance: float | None) -> dict[str, Any]:
    """Fields of a report that the graph itself answers.

    Vertices from `n_own` on were made by cuts and barriers: they lie at the place of another on purpose.
    """
    component = graph.components[graph.tails]
    totals = np.bincount(component, graph.lengths)
    order = np.argsort(-totals, kind="stable")
    shortest, longest = int(np.argmin(graph.lengths)), int(np.argmax(graph.lengths))
    is_dead = graph.degrees == 1
    tolerance = _as_tolerance(graph, gap_tolerance)
    return {
        "n_edges": graph.n_edges,
        "n_vertices": graph.n_vertices,
        "unit": graph.unit,
        "total_length": graph.total_length,
        "shortest": (graph.edge_ids[shortest], float(graph.lengths[shortest])),
        "longest": (graph.edge_ids[longest], float(graph.lengths[longest])),
        "component_edges": tuple(np.bincount(component)[order].tolist()),
        "component_shares": tuple((totals[order] / graph.total_length).tolist()),
        "dead_ends": tuple(graph.vertex_ids[v] for v in np.flatnonzero(is_dead).tolist()),
        "gap_tolerance": tolerance,
        "gaps": () if tolerance is None else find_gaps(graph, n_own, is_dead, tolerance),
        "n_loose_curves": 0 if tolerance is None else _count_loose(graph, tolerance),
        "is_drawn": graph.dimension is not None,
    }


def _as_tolerance(graph: MetricGraph, asked: float | None) -> float | None:
    if asked is not None and not 0 <= asked < np.inf:
        raise NetworkError(f"gap_tolerance must be a finite distance, got {asked}; use 0 for exact contact")
    if graph.dimension is None:
        return None
    return USUAL_GAP * float(np.median(graph.drawing.drawn_lengths())) if asked is None else float(asked)


def _count_loose(graph: MetricGraph, tolerance: float) -> int:
    """Curves that stop farther than the tolerance from their vertices."""
    if graph.curves is None or graph.positions is None:
        return 0
    tail = np.linalg.norm(graph.curves.tail_places - graph.positions[graph.tails], axis=1)
    head = np.linalg.norm(graph.curves.head_places - graph.positions[graph.heads], axis=1)
    return int(np.count_nonzero(np.maximum(tail, head) > tolerance))


def find_gaps(graph: MetricGraph, n_own: int, is_dead: BoolArray, tolerance: float) -> tuple[Gap, ...]:
    """Vertices within the tolerance of another vertex, or of the inside of an edge, not joined to it."""
    positions: FloatArray = graph.positions[:n_own]  # type: ignore[index]  # drawn
    gaps = _between_vertices(graph, positions, is_dead, tolerance)
    touches = find_touches(graph.drawing, positions, tolerance)
    is_own = (graph.tails[touches.line] == touches.place) | (graph.heads[touches.line] == touches.place)
    drawn = graph.drawing.drawn_lengths()[touches.line]
    from_end = np.minimum(touches.fraction, 1 - touches.fraction) * drawn
    inside = touches.where(~is_own & (from_end > END_ZONE * tolerance))
    gaps += [
        Gap(graph.vertex_ids[v], None, graph.edge_ids[e], d, bool(is_dead[v]))
        for v, e, d in zip(inside.place.tolist(), inside.line.tolist(), inside.distance.tolist(), strict=True)
    ]
    return tuple(sorted(gaps, key=lambda gap: (not gap.is_dead_end, gap.distance)))


def _between_vertices(
    graph: MetricGraph, positions: FloatArray, is_dead: BoolArray, tolerance: float
) -> list[Gap]:
    pairs = close_pairs(positions, tolerance)
    low, high = np.minimum(graph.tails, graph.heads), np.maximum(graph.tails, graph.heads)
    joined = set(zip(low.tolist(), high.tolist(), strict=True))
    gaps = []
    for first, second in pairs.tolist():
        if (first, second) not in joined:
            distance = float(np.linalg.norm(positions[first] - positions[second]))
            dead = bool(is_dead[first] or is_dead[second])
            gaps.append(Gap(graph.vertex_ids[first], graph.vertex_ids[second], None, distance, dead))
    return gaps
