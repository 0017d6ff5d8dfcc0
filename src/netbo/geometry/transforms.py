"""Changed graphs and where the points of the old one went: split, merged, cut, contracted."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass, replace
from itertools import count
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.sparse import csr_array
from scipy.spatial import cKDTree

from netbo.arrays import BoolArray, FloatArray, IntArray, last_not_above, row_starts
from netbo.checks import explained, require_nonnegative
from netbo.errors import GraphError
from netbo.geometry.curves import Curves, divide_curves, join_curves, pick_curves, snap_curves
from netbo.geometry.distances import component_labels
from netbo.geometry.identifiers import Ids, pick
from netbo.geometry.points import VERTEX_TOLERANCE, Points

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
        addresses=None if graph.addresses is None else graph.addresses.restricted(is_kept),
    )


# Points made vertices.


@explained
def split_at(graph: MetricGraph, points: Points) -> Refinement:
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
    pieces = np.arange(len(parent))
    stretches = Stretches(starts, begin, pieces, np.zeros(len(pieces)), np.ones(len(pieces)))
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
        addresses=graph.address_table.moved(stretches, end - begin),
    )
    return Refinement(graph, refined, stretches)


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


# Vertices of degree two removed: chains of edges become one edge each.


@explained
def merge_degree_two(graph: MetricGraph) -> Refinement:
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
    stretches = _stretches(graph, chains)
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
        addresses=graph.address_table.moved(stretches, chains.totals),
    )
    return Refinement(graph, merged, stretches)


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
    edge, (offset, sign) = np.empty(graph.n_edges, dtype=np.int64), np.empty((2, graph.n_edges))
    edge[chains.edges] = chains.chain
    offset[chains.edges] = chains.begin + chains.is_reversed * graph.lengths[chains.edges]
    sign[chains.edges] = 1.0 - 2.0 * chains.is_reversed
    return Stretches.one_per_edge(edge, offset=offset, sign=sign)


# Barriers: edges detached from a vertex.


@explained
def cut_at(graph: MetricGraph, vertex: Hashable, edges: Any) -> Refinement:
    """Network with the named edges detached from a vertex, and the map of points to it.

    Their ends move to ONE new vertex at the same place: cut edges stay joined to each other there, and
    nothing passes between them and the edges that stay. A loop goes with both of its ends. Edges keep their
    ids, indices and drawing. Where vertices have names, the new one is called (vertex id, 1), or the next
    number that is free.
    """
    (place,) = graph.vertex_indices([vertex])
    number, chosen, _, _ = graph.intervals(edges)
    is_tail, is_head = graph.tails == place, graph.heads == place
    meets = (is_tail | is_head)[chosen]  # of an edge in several pieces, those that end here
    is_cut = np.bincount(chosen[meets], minlength=graph.n_edges) > 0
    stray = chosen[~np.isin(number, number[meets])]
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


# Vertices that should have been one: short edges contracted, coincident ends joined.


@explained
def merge_vertices(graph: MetricGraph, tolerance: float) -> MetricGraph:
    """Network with vertices at most `tolerance` apart made one; `contract` also maps points.

    Parameters
    ----------
    graph : MetricGraph
        The network.
    tolerance : float
        In the unit of the lengths; 0 merges vertices at one place only.

    Returns
    -------
    MetricGraph
        Without the edges that are no longer than the tolerance.

    Raises
    ------
    ParameterError
        If the tolerance is negative or not finite.
    GraphError
        If a component would be left without an edge.

    Examples
    --------
    >>> from netbo import MetricGraph
    >>> merge_vertices(MetricGraph([0, 1, 2], [1, 2, 3], [1.0, 0.001, 1.0]), 0.01)
    MetricGraph(3 vertices, 2 edges, total length 2, 1 component)
    """
    return contract(graph, tolerance).graph


@explained
def contract(graph: MetricGraph, tolerance: float) -> Refinement:
    """Network with vertices at most `tolerance` apart made one, and the map of points to it.

    One become the two ends of an edge no longer than the tolerance, which disappears, and vertices drawn no
    farther apart than that. The tolerance is in the unit of the lengths; a drawing in another unit counts
    by its smallest ratio of drawn length to length, so that one out of scale merges too little, not too much.
    The vertex of lowest index lends id and position, and curves are drawn up to it. Chains of short edges
    shrink as a whole, short loops stay, and an edge whose ends become one becomes a loop. Barriers made by
    `cut` are vertices at one place and would heal: merge first, cut afterwards.
    """
    require_nonnegative("tolerance", tolerance, "use 0 for exact coincidence", kind="a finite length")
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
        addresses=None,  # below, when it is known where the short edges are
    )
    stand_in = contracted.vertex_points(tails)
    edge = np.where(is_short, stand_in.edge, np.cumsum(~is_short) - 1)
    offset = np.where(is_short, stand_in.z, 0.0)
    stretches = Stretches.one_per_edge(edge, offset=offset, sign=np.where(is_short, 0.0, 1.0))
    addresses = graph.address_table.moved(stretches, contracted.lengths)
    return Refinement(graph, replace(contracted, addresses=addresses), stretches)


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
