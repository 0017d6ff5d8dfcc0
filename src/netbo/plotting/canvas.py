"""Axes for the plan of a network: line pieces of one colour, line widths, pictures as bytes."""

import io
from collections.abc import Callable
from dataclasses import dataclass

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from netbo.arrays import FloatArray, IntArray
from netbo.errors import ParameterError
from netbo.geometry import MetricGraph, Points
from netbo.geometry.places import corners_within
from netbo.plotting import style

MARGIN = 0.03  # around the network, in shares of its extent


def plan_size(graph: MetricGraph) -> tuple[float, float]:
    """Width and height in inches of a figure with the network's proportions."""
    extent = np.ptp(graph.drawing.coordinates[:, :2], axis=0)
    height = style.FIGURE_WIDTH * extent[1] / extent[0] if extent[0] > 0 else np.inf
    return style.FIGURE_WIDTH, float(np.clip(height, *style.FIGURE_HEIGHTS))


def plan_axes(graph: MetricGraph, ax: Axes | None, *, to_scale: bool) -> Axes:
    """The axes given, or new ones of the network's proportions, without frame.

    Raises GraphError for a graph without coordinates before any figure is made. A network in space is seen
    from above.
    """
    corners = graph.drawing.coordinates[:, :2]
    low, high = corners.min(axis=0), corners.max(axis=0)
    extent = high - low
    if ax is None:
        ax = plt.figure(figsize=plan_size(graph), layout="constrained").add_subplot()
    ax.set_aspect("equal" if to_scale else "auto")
    # To scale, a thin network needs the same room above as beside it: lines are wider than it is high.
    margins = (
        MARGIN * extent.max() / np.where(extent > 0, extent, 1.0)
        if to_scale
        else np.array([MARGIN, 3 * MARGIN])
    )
    ax.margins(*margins)
    ax.update_datalim([low, high])  # known here: finding it line by line takes seconds on large networks
    ax.set_axis_off()
    return ax


# The drawn network cut into straight pieces, each short enough to have one colour.

LEAST_PIECES = 6  # of an edge, however short,
MOST_PIECES = 200_000  # unless the edges are so many: a piece is then about a pixel


@dataclass(frozen=True, slots=True, eq=False)
class Segments:
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
    def ends(self) -> FloatArray:
        """Both ends of each piece in the plane, (n, 2, 2)."""
        places = self.graph.drawing.places
        both = np.stack([places(self.edge, self.start), places(self.edge, self.stop)], axis=1)
        return np.asarray(both[:, :, :2])


def even_fractions(lengths: FloatArray, samples: int) -> tuple[IntArray, FloatArray]:
    """Row of `lengths` and fraction of it, ends included, for about `samples` even pieces in all."""
    if samples < 1:
        raise ParameterError(f"samples counts the pieces of a picture, got {samples}; 2000 is a good number")
    least = int(np.clip(MOST_PIECES // len(lengths), 1, LEAST_PIECES))
    pieces = np.maximum(np.ceil(samples * lengths / lengths.sum()), least).astype(np.int64)
    row = np.repeat(np.arange(len(lengths)), pieces + 1)
    first = np.concatenate([[0], np.cumsum(pieces + 1)[:-1]])
    return row, (np.arange(len(row)) - first[row]) / pieces[row]


def cut_into_pieces(graph: MetricGraph, samples: int) -> Segments:
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
    return Segments(graph, edge[:-1][is_piece], fraction[:-1][is_piece], fraction[1:][is_piece])


def straighten(
    graph: MetricGraph, edge: IntArray, start: FloatArray, stop: FloatArray
) -> tuple[IntArray, Segments]:
    """Stretches of edges, between fractions, cut at the bends: which stretch each straight piece is of."""
    row, corner = corners_within(graph.drawing, edge, start, stop)
    every = np.arange(len(edge))
    rows = np.concatenate([every, row, every])
    fraction = np.concatenate([start, graph.drawing.fractions[corner], stop])
    order = np.lexsort((fraction, rows))
    rows, fraction = rows[order], fraction[order]
    is_piece = rows[1:] == rows[:-1]
    owner = rows[:-1][is_piece]
    return owner, Segments(graph, edge[owner], fraction[:-1][is_piece], fraction[1:][is_piece])


# Pictures as bytes, for files of other kinds.


def as_png(draw: Callable[[Axes], object], size: tuple[float, float], *, dpi: int = 130) -> bytes:
    """What a function draws into axes of a size in inches, as PNG.

    It is drawn without pyplot: no window opens, and no figure is left open.
    """
    figure = Figure(figsize=size, layout="constrained")
    draw(figure.add_subplot())
    stored = io.BytesIO()
    figure.savefig(stored, format="png", dpi=dpi, bbox_inches="tight")
    return stored.getvalue()


# How thick lines may be before neighbours run into one another.

POINTS_AN_INCH = 72.0
SQUARE = 3 * style.FIELD_WIDTH  # side of the squares in which lines are counted
SAMPLES = 2000  # pieces of the network: shorter than a square
FILLED = 0.6  # share of the room between lines that a line may take: less would pale the colours


def field_width(graph: MetricGraph, ax: Axes) -> float:
    """Line width in points that suits a field in these axes: the usual one, less where edges lie close.

    Lines of total length L that pass through m squares of side c are m c^2 / L apart.
    """
    segments = cut_into_pieces(graph, SAMPLES).ends
    scale = axes_scale(graph, ax)
    middles = (segments.mean(axis=1) - segments.min(axis=(0, 1))) * scale
    length = float(np.linalg.norm((segments[:, 1] - segments[:, 0]) * scale, axis=1).sum())
    squares = np.floor(middles / SQUARE).astype(np.int64)
    used = len(np.unique(squares[:, 0] * (squares[:, 1].max() + 1) + squares[:, 1]))
    apart = used * SQUARE**2 / length if length > 0 else np.inf
    return float(np.clip(FILLED * apart, style.LEAST_WIDTH, style.FIELD_WIDTH))


def axes_scale(graph: MetricGraph, ax: Axes) -> FloatArray:
    """Points that a unit of the drawing takes in each direction, (2,), where the network fills the axes."""
    extent = np.ptp(graph.drawing.coordinates[:, :2], axis=0)
    scale = axes_size(ax) / np.where(extent > 0, extent, 1.0)
    return np.full(2, scale.min()) if ax.get_aspect() != "auto" else scale


def axes_size(ax: Axes) -> FloatArray:
    """Width and height of the axes in points, before a layout shrinks them."""
    figure = ax.figure
    share = ax.get_position(original=True)
    inches = figure.get_size_inches() if hasattr(figure, "get_size_inches") else np.array([6.0, 6.0])
    return np.asarray(POINTS_AN_INCH * inches * [share.width, share.height], dtype=np.float64)
