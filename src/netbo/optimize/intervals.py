"""Intervals along the edges of a graph, and the pieces of it that candidates stand for."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Self

import numpy as np

from netbo.arrays import BoolArray, FloatArray, IntArray
from netbo.geometry import PLACE_TOLERANCE, MetricGraph, Points, along_edges


@dataclass(frozen=True, slots=True, eq=False)
class Intervals:
    """Disjoint closed intervals, sorted by edge and then along it."""

    edge: IntArray
    start: FloatArray
    end: FloatArray

    @classmethod
    def union(cls, several: Iterable[tuple[int, float, float]]) -> Self:
        """The intervals (edge, start, end), those that overlap or touch joined."""
        joined: list[tuple[int, float, float]] = []
        for edge, start, end in sorted(several):
            if joined and joined[-1][0] == edge and start <= joined[-1][2]:
                joined[-1] = edge, joined[-1][1], max(end, joined[-1][2])
            else:
                joined.append((edge, start, end))
        columns = np.array(joined, dtype=np.float64).reshape(-1, 3)
        return cls(columns[:, 0].astype(np.int64), columns[:, 1], columns[:, 2])

    def complement(self, graph: MetricGraph) -> "Intervals":
        """What they leave of the edges; single points are left out."""
        every = np.arange(graph.n_edges)
        edge = np.concatenate([every, self.edge])
        start = np.concatenate([np.zeros(graph.n_edges), self.end])
        end = np.concatenate([graph.lengths, self.start])
        # Sorted apart, the k-th start and the k-th end of an edge belong to one gap.
        by_start, by_end = np.lexsort((start, edge)), np.lexsort((end, edge))
        edge, start, end = edge[by_start], start[by_start], end[by_end]
        is_gap = end > start
        return Intervals(edge[is_gap], start[is_gap], end[is_gap])

    def contain(self, edge: IntArray, z: FloatArray, graph: MetricGraph) -> BoolArray:
        """Whether each point lies in one of them, up to the tolerance of a place."""
        if not len(self.edge):
            return np.zeros(len(edge), dtype=np.bool_)
        slack = PLACE_TOLERANCE * graph.lengths[edge]
        starts = along_edges(self.edge, self.start)
        last = np.searchsorted(starts, along_edges(edge, z + slack), side="right") - 1
        return np.asarray((last >= 0) & (self.edge[last] == edge) & (self.end[last] >= z - slack))


@dataclass(frozen=True, slots=True, eq=False)
class CandidatePieces:
    """Intervals of edges and the candidate that stands for each; a single point has start = end."""

    owner: IntArray
    edge: IntArray
    start: FloatArray
    end: FloatArray

    @property
    def lengths(self) -> FloatArray:
        """Length of each piece."""
        return self.end - self.start

    def __getitem__(self, index: IntArray | BoolArray) -> "CandidatePieces":
        return CandidatePieces(self.owner[index], self.edge[index], self.start[index], self.end[index])

    def owners(self, x: Points) -> IntArray:
        """Candidate of the piece that each point lies in, -1 where there is none, (n,)."""
        order = np.lexsort((self.start, self.edge))
        pieces = self[order]
        last = np.searchsorted(along_edges(pieces.edge, pieces.start), along_edges(x.edge, x.z), side="right")
        found = np.maximum(last - 1, 0)
        is_within = (last > 0) & (pieces.edge[found] == x.edge) & (pieces.end[found] >= x.z)
        return np.where(is_within, pieces.owner[found], -1)

    def within(self, allowed: Intervals) -> "CandidatePieces":
        """The parts of the pieces that lie in the intervals; a piece may fall into several parts."""
        piece_start, piece_end = along_edges(self.edge, self.start), along_edges(self.edge, self.end)
        first = np.searchsorted(along_edges(allowed.edge, allowed.end), piece_start, side="right")
        stop = np.searchsorted(along_edges(allowed.edge, allowed.start), piece_end, side="left")
        count = np.maximum(stop - first, 0)
        piece = np.repeat(np.arange(len(count)), count)
        # Number within its piece: a running count, less where the piece began.
        part = np.arange(len(piece)) - np.repeat(np.cumsum(count) - count, count)
        interval = first[piece] + part
        return CandidatePieces(
            self.owner[piece],
            self.edge[piece],
            np.maximum(self.start[piece], allowed.start[interval]),
            np.minimum(self.end[piece], allowed.end[interval]),
        )
