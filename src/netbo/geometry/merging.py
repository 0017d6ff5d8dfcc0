"""Vertices of degree two removed: chains of edges become one edge each."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from netbo.arrays import BoolArray, FloatArray, IntArray
from netbo.geometry.curve_edits import join_curves
from netbo.geometry.curves import Curves
from netbo.geometry.identifiers import pick
from netbo.geometry.refinement import Refinement, Stretches, unchanged

if TYPE_CHECKING:
    from netbo.geometry.graph import MetricGraph


def merging(graph: MetricGraph) -> Refinement:
    """Network without vertices of degree two, and the map of points to it.

    A joined edge has the id, the attributes and the direction of its first edge (that of lowest index), and
    the edges stay in that order. The vertex of a lone loop stays, and so does the first vertex of any other
    cycle.
    """
    is_inner = _inner_vertices(graph)
    if not is_inner.any():
        return unchanged(graph)
    chains = _find_chains(graph, is_inner)
    kept = np.flatnonzero(~is_inner)
    number = np.cumsum(~is_inner) - 1
    ends = np.stack([graph.tails, graph.heads], axis=1)
    starts, stops = ends[chains.edges, chains.is_reversed], ends[chains.edges, 1 - chains.is_reversed]
    is_first, is_last = chains.is_first, np.roll(chains.is_first, -1)
    merged = replace(
        graph,
        tails=number[starts[is_first]],
        heads=number[stops[is_last]],
        lengths=chains.totals,
        curves=None if graph.dimension is None else _joined(graph, chains),
        positions=None if graph.positions is None else graph.positions[kept],
        edge_ids=pick(graph.edge_ids, chains.leaders),
        vertex_ids=pick(graph.vertex_ids, kept),
        edge_attributes={
            name: pick(column, chains.leaders) for name, column in graph.edge_attributes.items()
        },
    )
    return Refinement(graph, merged, _stretches(graph, chains))


@dataclass(frozen=True, slots=True, eq=False)
class _Chains:
    """All edges, chain by chain in the order of the chain."""

    edges: IntArray
    is_reversed: IntArray  # 1 where the chain runs from head to tail
    chain: IntArray
    begin: FloatArray  # length of the chain before the edge
    leaders: IntArray  # lowest edge of each chain
    totals: FloatArray  # length of each chain

    @property
    def is_first(self) -> BoolArray:
        return np.concatenate([[True], np.diff(self.chain) != 0])


def _inner_vertices(graph: MetricGraph) -> BoolArray:
    """Vertices between two different edges; one vertex of each cycle is not counted."""
    has_loop = np.zeros(graph.n_vertices, dtype=np.bool_)
    has_loop[graph.tails[graph.tails == graph.heads]] = True
    is_inner = (graph.degrees == 2) & ~has_loop
    has_end = np.bincount(graph.components, ~is_inner) > 0
    _, first = np.unique(graph.components, return_index=True)
    is_inner[first[~has_end]] = False
    return np.asarray(is_inner)


def _find_chains(graph: MetricGraph, is_inner: BoolArray) -> _Chains:
    """Order and direction of the edges in their chains, by pointer doubling.

    Walk 2 e runs through edge e forwards, walk 2 e + 1 backwards; every walk learns the first walk of its
    chain and the length up to itself in log2(longest chain) rounds.
    """
    previous = _previous_walks(graph, is_inner)
    walks = np.arange(2 * graph.n_edges)
    has_previous = previous != walks
    begin = np.where(has_previous, graph.lengths[previous // 2], 0.0)
    rank = has_previous.astype(np.int64)
    leader = walks // 2
    while np.any(previous != previous[previous]):
        begin, rank = begin + begin[previous], rank + rank[previous]
        previous = previous[previous]
    np.minimum.at(leader, previous, walks // 2)
    # Both walks of a chain have the same lowest edge; the chain runs the way in which that edge goes
    # forwards.
    lowest = leader[previous]
    chosen = np.flatnonzero(previous == previous[2 * lowest])
    chosen = chosen[np.lexsort((rank[chosen], lowest[chosen]))]
    leaders, chain = np.unique(lowest[chosen], return_inverse=True)
    edges = chosen // 2
    last = np.append(np.flatnonzero(np.diff(chain)), len(chain) - 1)
    totals = begin[chosen[last]] + graph.lengths[edges[last]]
    return _Chains(edges, chosen % 2, chain, begin[chosen], leaders, totals)


def _previous_walks(graph: MetricGraph, is_inner: BoolArray) -> IntArray:
    """Walk that arrives where each walk starts, itself if it starts at the end of a chain.

    End 2 e is the tail of edge e, end 2 e + 1 its head: walk w leaves end w and arrives at end w ^ 1.
    """
    ends = np.stack([graph.tails, graph.heads], axis=1).ravel()
    inner_ends = np.flatnonzero(is_inner[ends])
    pairs = inner_ends[np.argsort(ends[inner_ends], kind="stable")].reshape(-1, 2)
    previous = np.arange(len(ends))
    previous[pairs[:, 0]], previous[pairs[:, 1]] = pairs[:, 1] ^ 1, pairs[:, 0] ^ 1
    return previous


def _joined(graph: MetricGraph, chains: _Chains) -> Curves:
    total = chains.totals[chains.chain]
    begin = chains.begin / total
    end = np.where(np.roll(chains.is_first, -1), 1.0, (chains.begin + graph.lengths[chains.edges]) / total)
    return join_curves(graph.drawing, chains.edges, chains.is_reversed, begin, end, chains.chain)


def _stretches(graph: MetricGraph, chains: _Chains) -> Stretches:
    """Where each old edge lies on its chain."""
    edge, offset, sign = (
        np.empty(graph.n_edges, dtype=np.int64),
        np.empty(graph.n_edges),
        np.empty(graph.n_edges),
    )
    edge[chains.edges] = chains.chain
    offset[chains.edges] = chains.begin + chains.is_reversed * graph.lengths[chains.edges]
    sign[chains.edges] = 1.0 - 2.0 * chains.is_reversed
    return Stretches.one_per_edge(edge, offset=offset, sign=sign)
