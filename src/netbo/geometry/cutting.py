"""Barriers: edges detached from a vertex."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import replace
from itertools import count
from typing import TYPE_CHECKING, Any

import numpy as np

from netbo.errors import GraphError
from netbo.geometry.identifiers import Ids
from netbo.geometry.refinement import Refinement, Stretches

if TYPE_CHECKING:
    from netbo.geometry.graph import MetricGraph


def cutting(graph: MetricGraph, vertex: Hashable, edges: Any) -> Refinement:
    """Network with the named edges detached from a vertex, and the map of points to it.

    Their ends move to ONE new vertex at the same place: cut edges stay joined to each other there, and
    nothing passes between them and the edges that stay. A loop goes with both of its ends. Edges keep their
    ids, indices and drawing. Where vertices have names, the new one is called (vertex id, 1), or the next
    number that is free.
    """
    (place,) = graph.vertex_indices([vertex])
    is_cut = np.zeros(graph.n_edges, dtype=np.bool_)
    is_cut[graph.edge_indices(edges)] = True
    is_tail, is_head = graph.tails == place, graph.heads == place
    stray = np.flatnonzero(is_cut & ~is_tail & ~is_head)
    if stray.size:
        raise GraphError(
            f"edges to cut must meet vertex {vertex!r}, got edge {graph.edge_ids[stray[0]]!r} that does not; "
            "name edges with an end there"
        )
    if not is_cut.any() or is_cut[is_tail | is_head].all():
        raise GraphError(
            f"a cut at vertex {vertex!r} must part its {np.count_nonzero(is_tail | is_head)} edges, "
            f"got {np.count_nonzero(is_cut)} to cut; name some of them, not all"
        )
    positions = graph.positions
    divided = replace(
        graph,
        tails=np.where(is_cut & is_tail, graph.n_vertices, graph.tails),
        heads=np.where(is_cut & is_head, graph.n_vertices, graph.heads),
        positions=None if positions is None else np.concatenate([positions, positions[[place]]]),
        vertex_ids=_with_twin(graph.vertex_ids, vertex),
    )
    return Refinement(graph, divided, Stretches.one_per_edge(np.arange(graph.n_edges)))


def _with_twin(vertex_ids: Ids, vertex: Hashable) -> Ids:
    if isinstance(vertex_ids, range):
        return range(len(vertex_ids) + 1)
    known = set(vertex_ids)
    return [*vertex_ids, next((vertex, number) for number in count(1) if (vertex, number) not in known)]
