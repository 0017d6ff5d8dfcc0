"""Points made vertices."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from netbo.arrays import FloatArray, IntArray
from netbo.geometry.curve_edits import divide_curves
from netbo.geometry.curves import Curves
from netbo.geometry.identifiers import Ids, pick
from netbo.geometry.packed import row_starts
from netbo.geometry.points import VERTEX_TOLERANCE, Points
from netbo.geometry.refinement import Refinement, Stretches, unchanged

if TYPE_CHECKING:
    from netbo.geometry.graph import MetricGraph


def splitting(graph: MetricGraph, points: Points) -> Refinement:
    """Network with vertices at the points, and the map of points to it.

    Points at vertices change nothing and repeated points count once. The pieces of edge `id` are called (id,
    0), (id, 1), ... from tail to head and stand in its place, with its attributes. New vertices follow the
    old ones; where vertices have names, a new one is called (edge id, distance).
    """
    edge, z = _distinct_inside(graph, graph.bind(points))
    if not len(edge):
        return unchanged(graph)
    counts = np.bincount(edge, minlength=graph.n_edges) + 1
    starts = row_starts(counts)
    parent = np.repeat(np.arange(graph.n_edges), counts)
    is_first, is_last = np.zeros((2, len(parent)), dtype=np.bool_)
    is_first[starts[:-1]], is_last[starts[1:] - 1] = True, True
    vertices = graph.n_vertices + np.arange(len(edge))
    begin, end = np.zeros(len(parent)), graph.lengths[parent]
    begin[~is_first], end[~is_last] = z, z
    tails, heads = graph.tails[parent], graph.heads[parent]
    tails[~is_first], heads[~is_last] = vertices, vertices
    curves, positions = _divided_drawing(graph, edge, z)
    refined = replace(
        graph,
        tails=tails,
        heads=heads,
        lengths=end - begin,
        curves=curves,
        positions=positions,
        edge_ids=_piece_ids(graph.edge_ids, counts),
        vertex_ids=_with_new_vertices(graph, edge, z),
        edge_attributes={name: pick(column, parent) for name, column in graph.edge_attributes.items()},
    )
    pieces = np.arange(len(parent))
    return Refinement(
        graph, refined, Stretches(starts, begin, pieces, np.zeros(len(pieces)), np.ones(len(pieces)))
    )


def _distinct_inside(graph: MetricGraph, x: Points) -> tuple[IntArray, FloatArray]:
    """Edge and z of the points that are no vertices, sorted, each once."""
    slack = VERTEX_TOLERANCE * graph.lengths[x.edge]
    is_inside = (x.z > slack) & (x.z < graph.lengths[x.edge] - slack)
    order = np.lexsort((x.z[is_inside], x.edge[is_inside]))
    edge, z = x.edge[is_inside][order], x.z[is_inside][order]
    is_new = np.ones(len(edge), dtype=np.bool_)
    is_new[1:] = (np.diff(edge) != 0) | (np.diff(z) > slack[is_inside][order][1:])
    return edge[is_new], z[is_new]


def _divided_drawing(
    graph: MetricGraph, edge: IntArray, z: FloatArray
) -> tuple[Curves | None, FloatArray | None]:
    """Curves and positions of the pieces; straight edges stay straight."""
    if graph.positions is None:
        return None, None
    fraction = z / graph.lengths[edge]
    positions = np.concatenate([graph.positions, graph.drawing.places(edge, fraction)])
    return None if graph.curves is None else divide_curves(graph.curves, edge, fraction), positions


def _piece_ids(edge_ids: Ids, counts: IntArray) -> list[Hashable]:
    return [
        name if count == 1 else (name, piece)
        for name, count in zip(edge_ids, counts.tolist(), strict=True)
        for piece in range(count)
    ]


def _with_new_vertices(graph: MetricGraph, edge: IntArray, z: FloatArray) -> Ids:
    if isinstance(graph.vertex_ids, range):
        return range(graph.n_vertices + len(edge))
    return [*graph.vertex_ids, *zip(pick(graph.edge_ids, edge), z.tolist(), strict=True)]
