"""The drawn network cut into straight pieces, each short enough to have one colour."""

from dataclasses import dataclass

import numpy as np

from netbo.arrays import FloatArray, IntArray
from netbo.errors import ParameterError
from netbo.geometry import MetricGraph, Points
from netbo.geometry.places import corners_within

LEAST_PIECES = 6  # of an edge, however short,
MOST_PIECES = 200_000  # unless the edges are so many: a piece is then about a pixel


@dataclass(frozen=True, slots=True, eq=False)
class Pieces:
    """Straight pieces of the drawn edges, from one fraction of an edge's length to another."""

    graph: MetricGraph
    edge: IntArray  # (n,)
    start: FloatArray  # (n,)
    stop: FloatArray  # (n,)

    @property
    def middles(self) -> Points:
        """The point in the middle of each piece."""
        middle = (self.start + self.stop) / 2
        return Points(self.edge, middle * self.graph.lengths[self.edge], graph=self.graph)

    @property
    def segments(self) -> FloatArray:
        """Both ends of each piece in the plane, (n, 2, 2)."""
        places = self.graph.drawing.places
        ends = np.stack([places(self.edge, self.start), places(self.edge, self.stop)], axis=1)
        return np.asarray(ends[:, :, :2])


def even_fractions(lengths: FloatArray, samples: int) -> tuple[IntArray, FloatArray]:
    """Row of `lengths` and fraction of it, ends included, for about `samples` even pieces in all."""
    if samples < 1:
        raise ParameterError(f"samples counts the pieces of a picture, got {samples}; 2000 is a good number")
    least = int(np.clip(MOST_PIECES // len(lengths), 1, LEAST_PIECES))
    pieces = np.maximum(np.ceil(samples * lengths / lengths.sum()), least).astype(np.int64)
    row = np.repeat(np.arange(len(lengths)), pieces + 1)
    first = np.concatenate([[0], np.cumsum(pieces + 1)[:-1]])
    return row, (np.arange(len(row)) - first[row]) / pieces[row]


def cut_into_pieces(graph: MetricGraph, samples: int) -> Pieces:
    """About `samples` pieces, longer edges having more, cut also at the bends of the curves.

    Where the bends alone would make too many pieces, the pieces are chords: MOST_PIECES of them follow the
    curves to within a pixel.
    """
    drawing = graph.drawing
    if len(drawing.coordinates) > MOST_PIECES:
        edge, fraction = even_fractions(graph.lengths, max(samples, MOST_PIECES // 2))
    else:
        even_edge, even = even_fractions(graph.lengths, samples)
        bend_edge = np.repeat(np.arange(graph.n_edges), np.diff(drawing.starts))
        edge, fraction = np.concatenate([even_edge, bend_edge]), np.concatenate([even, drawing.fractions])
        order = np.lexsort((fraction, edge))
        edge, fraction = edge[order], fraction[order]
    is_piece = (edge[1:] == edge[:-1]) & (fraction[1:] > fraction[:-1])
    return Pieces(graph, edge[:-1][is_piece], fraction[:-1][is_piece], fraction[1:][is_piece])


def straighten(
    graph: MetricGraph, edge: IntArray, start: FloatArray, stop: FloatArray
) -> tuple[IntArray, Pieces]:
    """Stretches of edges, between fractions, cut at the bends: which stretch each straight piece is of."""
    row, corner = corners_within(graph.drawing, edge, start, stop)
    every = np.arange(len(edge))
    rows = np.concatenate([every, row, every])
    fraction = np.concatenate([start, graph.drawing.fractions[corner], stop])
    order = np.lexsort((fraction, rows))
    rows, fraction = rows[order], fraction[order]
    is_piece = rows[1:] == rows[:-1]
    owner = rows[:-1][is_piece]
    return owner, Pieces(graph, edge[owner], fraction[:-1][is_piece], fraction[1:][is_piece])
