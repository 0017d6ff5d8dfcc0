"""MetricGraph of link pieces, barriers, and the table of addresses of the links."""

from collections.abc import Hashable
from dataclasses import dataclass
from itertools import count
from typing import Any

import numpy as np

from netbo.adapters.assembly.draft import Draft
from netbo.adapters.assembly.lengths import Chosen
from netbo.adapters.assembly.pieces import LinkPieces, Vertices
from netbo.adapters.assembly.treatments import LinkOutcomes
from netbo.adapters.projection import Projected
from netbo.arrays import FloatArray, IntArray, row_starts
from netbo.errors import NetworkError
from netbo.geometry import Addresses, Curves, MetricGraph
from netbo.geometry.curves import pick_curves, snap_curves
from netbo.geometry.identifiers import pick


@dataclass(frozen=True, eq=False)
class Built:
    """A graph, and which pieces and vertices of the assembly are where on it."""

    graph: MetricGraph
    vertices: IntArray  # number in `Vertices` of each vertex of the graph, increasing
    edge: IntArray  # edge of the graph on which each piece lies; meaningless for pieces that vanished
    ids: list[Hashable]  # of all pieces

    def vertex_of(self, number: IntArray) -> IntArray:
        """Vertex of the graph with each number, -1 where it has none."""
        at = np.minimum(np.searchsorted(self.vertices, number), len(self.vertices) - 1)
        return np.where(self.vertices[at] == number, at, -1)


def build_graph(
    draft: Draft, pieces: LinkPieces, vertices: Vertices, chosen: Chosen, projected: Projected | None
) -> Built:
    """The graph whose edges are the pieces that neither vanished nor repeat another."""
    kept = np.flatnonzero(pieces.is_edge)
    ends = np.stack([pieces.tails[kept], pieces.heads[kept]])
    used, renumbered = np.unique(ends, return_inverse=True)
    tails, heads = renumbered.reshape(ends.shape)
    positions = None if vertices.positions is None else vertices.positions[used]
    ids = _piece_ids(draft, pieces)
    rows = draft.rows[pieces.link[kept]]
    graph = MetricGraph(
        tails,
        heads,
        pieces.lengths[kept],
        curves=_drawing(pieces, kept, positions, tails, heads),
        positions=positions,
        crs=None if projected is None else projected.frame.projection,
        unit=chosen.unit,
        edge_ids=[ids[piece] for piece in kept.tolist()],
        vertex_ids=pick(vertices.ids, used),
        edge_attributes={name: pick(column, rows) for name, column in draft.links.attributes.items()},
    )
    number = np.full(len(pieces.link), -1, dtype=np.int64)
    number[kept] = np.arange(len(kept))
    return Built(graph, used, number[pieces.same_as], ids)


def _drawing(
    pieces: LinkPieces, kept: IntArray, positions: FloatArray | None, tails: IntArray, heads: IntArray
) -> Curves | None:
    """Curves up to the vertices that moved; None where all edges are straight lines between vertices."""
    if pieces.curves is None or positions is None:
        return None
    curves = pick_curves(pieces.curves, kept)
    moved_tail, moved_head = pieces.has_moved[:, kept, None]
    first = np.where(moved_tail, positions[tails], curves.tail_places)
    last = np.where(moved_head, positions[heads], curves.head_places)
    is_plain = np.array_equal(first, positions[tails]) and np.array_equal(last, positions[heads])
    if is_plain and len(curves.coordinates) == 2 * len(curves):
        return None
    return snap_curves(curves, first, last)


def _piece_ids(draft: Draft, pieces: LinkPieces) -> list[Hashable]:
    """The link's id for a link in one piece, (id, 0), (id, 1), ... for one in several."""
    counts = np.bincount(pieces.link[~pieces.is_gone], minlength=len(draft.ids))
    ids: list[Hashable] = [draft.ids[link] for link in pieces.link.tolist()]
    several = np.flatnonzero((counts[pieces.link] > 1) & ~pieces.is_gone).tolist()
    taken = set(draft.ids)
    numbers: dict[int, Any] = {}
    for piece in several:
        link = int(pieces.link[piece])
        name = draft.ids[link]
        counter = numbers.setdefault(link, count())
        ids[piece] = next((name, number) for number in counter if (name, number) not in taken)
    return ids


def make_addresses(
    draft: Draft, outcomes: LinkOutcomes, chosen: Chosen, pieces: LinkPieces, vertices: Vertices, built: Built
) -> Addresses:
    """Where each link lies; links contracted to a place where no edge is left have no address."""
    spots = np.flatnonzero(outcomes.is_contracted)
    spot_lengths = np.nan_to_num(chosen.lengths[spots])
    row = np.concatenate([pieces.link, spots])
    at = built.vertex_of(np.concatenate([pieces.tails, vertices.lowest[draft.tails[spots]]]))
    is_spot = np.concatenate([pieces.is_gone, np.ones(len(spots), dtype=np.bool_)])
    stand_in = built.graph.vertex_points(np.maximum(at, 0))
    on = np.concatenate([built.edge, np.zeros(len(spots), dtype=np.int64)])
    full = built.graph.lengths[on]
    flipped = np.concatenate([pieces.is_reversed, np.zeros(len(spots), dtype=np.bool_)])
    edge = np.where(is_spot, stand_in.edge, on)
    z_begin = np.where(is_spot, stand_in.z, np.where(flipped, full, 0.0))
    z_end = np.where(is_spot, stand_in.z, np.where(flipped, 0.0, full))
    begin = np.concatenate([pieces.begin, np.zeros(len(spots))])
    end = np.concatenate([pieces.end, spot_lengths])
    lost = np.unique(row[is_spot & (at < 0)])
    order = np.lexsort((begin, row))
    order = order[~np.isin(row[order], lost)]
    rows, counts = np.unique(row[order], return_counts=True)
    ids = [draft.ids[link] for link in rows.tolist()]
    known = set(ids)
    return Addresses(
        ids=ids,
        lengths=np.where(outcomes.is_contracted, np.nan_to_num(chosen.lengths), chosen.lengths)[rows],
        tails=pick(draft.vertex_ids, draft.tails[rows]),
        heads=pick(draft.vertex_ids, draft.heads[rows]),
        starts=row_starts(counts),
        begin=begin[order],
        end=end[order],
        edge=edge[order],
        z_begin=z_begin[order],
        z_end=z_end[order],
        aliases={name: target for name, target in draft.links.aliases.items() if target[0] in known},
    )


Barriers = list[tuple[Hashable, list[Hashable]]]


def block(
    built: Built, barriers: Barriers, draft: Draft, pieces: LinkPieces, vertices: Vertices
) -> MetricGraph:
    """The graph with barriers: at the named vertex the named links no longer meet the others."""
    graph = built.graph
    if not barriers:
        return graph
    numbers = {name: int(vertices.lowest[number]) for number, name in enumerate(draft.vertex_ids)}
    own = {name: number for number, name in enumerate(vertices.ids) if name not in numbers}
    links = {name: number for number, name in enumerate(draft.ids)}
    links |= {alias: links[target] for alias, (target, _) in draft.links.aliases.items() if target in links}
    for vertex, names in barriers:
        number = numbers.get(vertex, own.get(vertex, -1))
        if number not in built.vertices:
            raise NetworkError(
                f"a barrier needs a vertex of the network, got {vertex!r}; see graph.vertex_ids"
            )
        edges: list[Hashable] = []
        for name in names:
            if name not in links:
                raise NetworkError(f"a barrier needs edges of the network, got {name!r}; see graph.edge_ids")
            is_here = (pieces.tails == number) | (pieces.heads == number)
            here = np.flatnonzero((pieces.link == links[name]) & is_here & ~pieces.is_gone)
            if not here.size:
                raise NetworkError(
                    f"a barrier needs edges that end at its vertex, got {name!r}, which does not meet "
                    f"{vertex!r}; name edges with an end there"
                )
            edges += [graph.edge_ids[edge] for edge in built.edge[here].tolist()]
        (place,) = built.vertex_of(np.array([number]))
        graph = graph.cut(graph.vertex_ids[place], edges)
    return graph
