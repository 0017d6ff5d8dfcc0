"""Links cut into pieces at their junctions, vertices contracted, ends detached: the future edges."""

from collections.abc import Hashable
from dataclasses import dataclass, replace
from itertools import count

import numpy as np

from netbo.adapters.assembly.draft import Draft
from netbo.adapters.assembly.noding import VANISHING, Junctions
from netbo.adapters.assembly.treatments import LinkOutcomes
from netbo.adapters.proximity import Duplicates, lowest_joined
from netbo.arrays import BoolArray, FloatArray, IntArray, row_starts
from netbo.errors import NetworkError
from netbo.geometry import Curves
from netbo.geometry.curves import divide_curves
from netbo.geometry.identifiers import Ids


@dataclass(frozen=True, eq=False)
class LinkPieces:
    """Pieces of all links that are edges, link by link from tail to head.

    A piece that vanished lies at its vertex. One that repeats another lies on the edge of the other.
    """

    link: IntArray  # row of the draft
    begin: FloatArray  # measure along the link
    end: FloatArray
    tails: IntArray
    heads: IntArray
    curves: Curves | None
    has_moved: BoolArray  # (2, n): whether the tail, the head, is no longer where the link's own drawing ends
    is_gone: BoolArray  # vanished
    same_as: IntArray  # the piece whose edge it lies on, itself unless it repeats another
    is_reversed: BoolArray

    @property
    def lengths(self) -> FloatArray:
        """Length of each piece."""
        return self.end - self.begin

    @property
    def is_edge(self) -> BoolArray:
        """Whether the piece is an edge of the graph."""
        return np.asarray(~self.is_gone & (self.same_as == np.arange(len(self.link))))


@dataclass(frozen=True, eq=False)
class Vertices:
    """Vertices of the assembly: representative, position and id of each."""

    lowest: IntArray
    positions: FloatArray | None
    ids: Ids


def cut_links(
    draft: Draft,
    outcomes: LinkOutcomes,
    lengths: FloatArray,
    curves: Curves | None,
    junctions: Junctions | None,
) -> LinkPieces:
    """The pieces between cuts; a link without a cut is one piece."""
    rows = np.flatnonzero(outcomes.is_edge)
    tails, heads = draft.tails[rows], draft.heads[rows]
    if junctions is None:
        none = np.zeros((2, len(rows)), dtype=np.bool_)
        return _as_pieces(rows, np.zeros(len(rows)), lengths[rows], (tails, heads), curves, none, none[0])
    counts = np.bincount(junctions.line, minlength=len(rows)) + 1
    starts = row_starts(counts)
    parent = np.repeat(np.arange(len(rows)), counts)
    is_first, is_last = np.zeros((2, len(parent)), dtype=np.bool_)
    is_first[starts[:-1]], is_last[starts[1:] - 1] = True, True
    begin, end = np.zeros(len(parent)), lengths[rows][parent]
    at = junctions.fraction * lengths[rows][junctions.line]
    begin[~is_first], end[~is_last] = at, at
    tails, heads = tails[parent], heads[parent]
    tails[~is_first], heads[~is_last] = junctions.vertex, junctions.vertex
    if curves is not None and len(junctions.line):
        curves = divide_curves(curves, junctions.line, junctions.fraction)
    ends = junctions.lowest[tails], junctions.lowest[heads]
    has_moved = np.stack([(ends[0] != tails) | ~is_first, (ends[1] != heads) | ~is_last])
    drawn = end - begin if curves is None else curves.drawn_lengths()
    is_short = (ends[0] == ends[1]) & (drawn <= VANISHING * junctions.tolerance)
    # A loop drawn as a dot is a loop; only what snapping or cutting made so short is none.
    is_gone = is_short & (~(is_first & is_last) | ((tails != heads) & (junctions.noded.snap > 0)))
    _require_edge(is_gone, junctions.noded.snap)
    return _as_pieces(rows[parent], begin, end, ends, curves, has_moved, is_gone)


def _require_edge(is_gone: BoolArray, snap: float) -> None:
    if is_gone.all():
        raise NetworkError(
            f"snap must leave an edge, got {snap:g}, with which every link shrinks to a place; lower it"
        )


def _as_pieces(
    link: IntArray,
    begin: FloatArray,
    end: FloatArray,
    ends: tuple[IntArray, IntArray],
    curves: Curves | None,
    has_moved: BoolArray,
    is_gone: BoolArray,
) -> LinkPieces:
    alone, forward = np.arange(len(link)), np.zeros(len(link), dtype=np.bool_)
    return LinkPieces(link, begin, end, *ends, curves, has_moved, is_gone, alone, forward)


def contract_vertices(
    draft: Draft,
    outcomes: LinkOutcomes,
    pieces: LinkPieces,
    positions: FloatArray | None,
    junctions: Junctions | None,
) -> tuple[LinkPieces, Vertices]:
    """The two ends of every contracted link made one vertex, that of the lowest number."""
    n_old = len(draft.vertex_ids)
    lowest = np.arange(n_old) if junctions is None else junctions.lowest
    rows = np.flatnonzero(outcomes.is_contracted)
    pairs = np.column_stack([lowest[draft.tails[rows]], lowest[draft.heads[rows]]])
    joined = lowest_joined(len(lowest), pairs)[lowest]
    where = positions if junctions is None else junctions.positions
    ids = _vertex_ids(draft, outcomes, lowest, junctions)
    tails, heads = joined[pieces.tails], joined[pieces.heads]
    has_moved = pieces.has_moved | np.stack([tails != pieces.tails, heads != pieces.heads])
    return replace(pieces, tails=tails, heads=heads, has_moved=has_moved), Vertices(joined, where, ids)


def _vertex_ids(draft: Draft, outcomes: LinkOutcomes, lowest: IntArray, junctions: Junctions | None) -> Ids:
    """Names of all vertices; a new one is called (link id, share of the link), or goes on counting."""
    if junctions is None or isinstance(draft.vertex_ids, range):
        return range(len(lowest)) if junctions is not None else draft.vertex_ids
    rows = np.flatnonzero(outcomes.is_edge)
    names: list[Hashable] = [*draft.vertex_ids, *([None] * (len(lowest) - len(draft.vertex_ids)))]
    for line, fraction, vertex in zip(
        junctions.line.tolist(), junctions.fraction.tolist(), junctions.vertex.tolist(), strict=True
    ):
        if vertex >= len(draft.vertex_ids) and names[vertex] is None:
            names[vertex] = (draft.ids[rows[line]], fraction)
    return names


def detach_ends(
    pieces: LinkPieces, outcomes: LinkOutcomes, vertices: Vertices
) -> tuple[LinkPieces, Vertices]:
    """Ends of cut links moved to dead ends of their own; an end with nothing else at it stays as it is."""
    is_first = np.append(True, np.diff(pieces.link) != 0)
    is_last = np.append(np.diff(pieces.link) != 0, True)
    at_tail = np.flatnonzero(is_first & outcomes.detach_tail[pieces.link] & ~pieces.is_gone)
    at_head = np.flatnonzero(is_last & outcomes.detach_head[pieces.link] & ~pieces.is_gone)
    ends = [(int(piece), True) for piece in at_tail] + [(int(piece), False) for piece in at_head]
    if not ends:
        return pieces, vertices
    tails, heads = pieces.tails.copy(), pieces.heads.copy()
    kept = ~pieces.is_gone
    degrees = np.bincount(np.concatenate([tails[kept], heads[kept]]), minlength=len(vertices.lowest))
    ids, taken, sources = list(vertices.ids), set(vertices.ids), []
    for piece, is_tail in ends:
        vertex = int(tails[piece] if is_tail else heads[piece])
        if degrees[vertex] < 2:
            continue
        degrees[vertex] -= 1
        name = next((ids[vertex], number) for number in count(1) if (ids[vertex], number) not in taken)
        (tails if is_tail else heads)[piece] = len(ids)
        ids.append(name)
        taken.add(name)
        sources.append(vertex)
    lowest = np.concatenate([vertices.lowest, len(vertices.lowest) + np.arange(len(sources))])
    where = vertices.positions
    if where is not None:
        where = np.concatenate([where, where[sources]])
    return replace(pieces, tails=tails, heads=heads), Vertices(lowest, where, ids)


def merge_duplicate_pieces(pieces: LinkPieces, kept: IntArray, duplicates: Duplicates) -> LinkPieces:
    """Pieces that repeat another laid on its edge; `kept` numbers the pieces that were compared."""
    same_as, is_reversed = pieces.same_as.copy(), pieces.is_reversed.copy()
    first, second = kept[duplicates.first], kept[duplicates.second]
    for one, other, flipped in zip(
        first.tolist(), second.tolist(), duplicates.is_reversed.tolist(), strict=True
    ):  # duplicates come in increasing order, so what a piece repeats is already settled
        same_as[other] = same_as[one]
        is_reversed[other] = flipped ^ is_reversed[one]
    return replace(pieces, same_as=same_as, is_reversed=is_reversed)
