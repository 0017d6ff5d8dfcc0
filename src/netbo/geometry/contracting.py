"""Vertices that should have been one: short edges contracted, coincident ends joined."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
from scipy.sparse import csr_array
from scipy.spatial import cKDTree

from netbo.arrays import BoolArray, IntArray
from netbo.errors import GraphError, ParameterError
from netbo.geometry.adjacency import component_labels
from netbo.geometry.curve_edits import pick_curves, snap_curves
from netbo.geometry.curves import Curves
from netbo.geometry.identifiers import pick
from netbo.geometry.refinement import Refinement, Stretches, unchanged

if TYPE_CHECKING:
    from netbo.geometry.graph import MetricGraph


def merge_vertices(graph: MetricGraph, tolerance: float) -> MetricGraph:
    """Network with vertices at most `tolerance` apart made one; see `contracting`, which also maps points."""
    return contracting(graph, tolerance).graph


def contracting(graph: MetricGraph, tolerance: float) -> Refinement:
    """Network with vertices at most `tolerance` apart made one, and the map of points to it.

    One become the two ends of an edge no longer than the tolerance, which disappears, and vertices drawn no
    farther apart than that. The tolerance is in the unit of the lengths; a drawing in another unit counts
    by its smallest ratio of drawn length to length, so that one out of scale merges too little, not too much.
    The vertex of lowest index lends id and position, and curves are drawn up to it. Chains of short edges
    shrink as a whole, short loops stay, and an edge whose ends become one becomes a loop. Barriers made by
    `cut` are vertices at one place and would heal: merge first, cut afterwards.
    """
    if not 0 <= tolerance < np.inf:
        raise ParameterError(
            f"tolerance must be a finite length, got {tolerance}; use 0 for exact coincidence"
        )
    is_short = (graph.lengths <= tolerance) & (graph.tails != graph.heads)
    first = _representatives(graph, is_short, tolerance)
    kept, number = np.unique(first, return_inverse=True)
    if len(kept) == graph.n_vertices:
        return unchanged(graph)
    edges = np.flatnonzero(~is_short)
    tails, heads = number[graph.tails], number[graph.heads]
    _require_edges(graph, kept, np.concatenate([tails[edges], heads[edges]]), tolerance)
    contracted = replace(
        graph,
        tails=tails[edges],
        heads=heads[edges],
        lengths=graph.lengths[edges],
        curves=_snapped(graph, edges, first),
        positions=None if graph.positions is None else graph.positions[kept],
        edge_ids=pick(graph.edge_ids, edges),
        vertex_ids=pick(graph.vertex_ids, kept),
        edge_attributes={name: pick(column, edges) for name, column in graph.edge_attributes.items()},
    )
    stand_in = contracted.vertex_points(tails)
    edge = np.where(is_short, stand_in.edge, np.cumsum(~is_short) - 1)
    offset = np.where(is_short, stand_in.z, 0.0)
    sign = np.where(is_short, 0.0, 1.0)
    return Refinement(graph, contracted, Stretches.one_per_edge(edge, offset=offset, sign=sign))


def _representatives(graph: MetricGraph, is_short: BoolArray, tolerance: float) -> IntArray:
    """Lowest vertex among those that become one with each vertex."""
    pairs = np.stack([graph.tails[is_short], graph.heads[is_short]], axis=1)
    if graph.positions is not None:
        scale = float((graph.drawing.drawn_lengths() / graph.lengths).min())
        close = cKDTree(graph.positions).query_pairs(tolerance * scale, output_type="ndarray")
        pairs = np.concatenate([pairs, close.astype(np.int64)])
    shape = (graph.n_vertices, graph.n_vertices)
    labels = component_labels(csr_array((np.ones(len(pairs)), (pairs[:, 0], pairs[:, 1])), shape=shape))
    _, first = np.unique(labels, return_index=True)
    return np.asarray(first[labels], dtype=np.int64)


def _snapped(graph: MetricGraph, edges: IntArray, first: IntArray) -> Curves | None:
    """Curves of the edges that stay, drawn up to their new vertices."""
    if graph.curves is None or graph.positions is None:
        return None
    places = graph.positions[first]
    return snap_curves(
        pick_curves(graph.curves, edges), places[graph.tails[edges]], places[graph.heads[edges]]
    )


def _require_edges(graph: MetricGraph, kept: IntArray, ends: IntArray, tolerance: float) -> None:
    lonely = np.flatnonzero(np.bincount(ends, minlength=len(kept)) == 0)
    if lonely.size:
        raise GraphError(
            f"tolerance must leave an edge in every component, got {tolerance}, which leaves none "
            f"at vertex {graph.vertex_ids[kept[lonely[0]]]!r}; lower it or drop the component first"
        )
