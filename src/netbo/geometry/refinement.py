"""A changed graph, and where the points of the old one went."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from netbo.arrays import BoolArray, FloatArray, IntArray
from netbo.geometry.curve_edits import pick_curves
from netbo.geometry.identifiers import pick
from netbo.geometry.packed import last_not_above
from netbo.geometry.points import Points

if TYPE_CHECKING:
    from netbo.geometry.graph import MetricGraph


@dataclass(frozen=True, slots=True, eq=False)
class Stretches:
    """Old edges cut into stretches, each of which lies on one new edge.

    The point at z on the old edge, in the stretch that begins at `begin`, is at offset + sign (z - begin) on
    `edge`.
    """

    starts: IntArray  # (n_old_edges + 1,): the stretches of old edge e are starts[e] .. starts[e + 1] - 1
    begin: FloatArray
    edge: IntArray
    offset: FloatArray
    sign: FloatArray  # 1, -1 if reversed, 0 if shrunk to a vertex

    @classmethod
    def one_per_edge(
        cls, edge: IntArray, *, offset: FloatArray | None = None, sign: FloatArray | None = None
    ) -> Stretches:
        """Every old edge as a whole; it keeps its direction and begins at 0 unless told otherwise."""
        count = len(edge)
        return cls(
            starts=np.arange(count + 1),
            begin=np.zeros(count),
            edge=edge,
            offset=np.zeros(count) if offset is None else offset,
            sign=np.ones(count) if sign is None else sign,
        )


@dataclass(frozen=True, slots=True, eq=False)
class Refinement:
    """A changed graph and the map of the old points to it."""

    origin: MetricGraph
    graph: MetricGraph
    stretches: Stretches

    def transfer(self, points: Points) -> Points:
        """Points of the new graph at the places of the old ones."""
        x, rows = self.origin.bind(points), self.stretches
        row = last_not_above(rows.begin, rows.starts[x.edge], rows.starts[x.edge + 1] - 1, x.z)
        edge, z = rows.edge[row], rows.offset[row] + rows.sign[row] * (x.z - rows.begin[row])
        return Points(edge, np.clip(z, 0.0, self.graph.lengths[edge]), graph=self.graph)


def unchanged(graph: MetricGraph) -> Refinement:
    """Graph itself, every point where it was."""
    return Refinement(graph, graph, Stretches.one_per_edge(np.arange(graph.n_edges)))


def restrict(graph: MetricGraph, is_kept: BoolArray) -> MetricGraph:
    """Graph of some edges and their vertices; ids, attributes and drawing stay."""
    edges = np.flatnonzero(is_kept)
    ends = np.stack([graph.tails[edges], graph.heads[edges]])
    vertices, renumbered = np.unique(ends, return_inverse=True)
    tails, heads = renumbered.reshape(ends.shape)
    return replace(
        graph,
        tails=tails,
        heads=heads,
        lengths=graph.lengths[edges],
        curves=None if graph.curves is None else pick_curves(graph.curves, edges),
        positions=None if graph.positions is None else graph.positions[vertices],
        edge_ids=pick(graph.edge_ids, edges),
        vertex_ids=pick(graph.vertex_ids, vertices),
        edge_attributes={name: pick(column, edges) for name, column in graph.edge_attributes.items()},
    )
