"""The plan of a network: its edges, points on them, and edge ids."""

from collections.abc import Callable, Hashable, Sequence

import numpy as np
from matplotlib.axes import Axes
from matplotlib.collections import LineCollection
from matplotlib.colors import Normalize
from matplotlib.patheffects import withStroke
from numpy.typing import ArrayLike

from netbo.arrays import BoolArray, FloatArray, IntArray, as_float_vector, rows_of
from netbo.errors import ParameterError
from netbo.geometry import MetricGraph, Points
from netbo.geometry.identifiers import pick
from netbo.plotting import style
from netbo.plotting.canvas import MOST_PIECES, axes_scale, cut_into_pieces, field_width, plan_axes
from netbo.plotting.scale import draw_scale

Field = Callable[[Points], FloatArray]
_TANGENT = 1e-3  # share of an edge over which its direction is taken


def draw_network(
    graph: MetricGraph,
    ax: Axes | None = None,
    *,
    color: str = style.QUIET,
    linewidth: float | None = None,
    vertex_size: float | None = None,
    to_scale: bool = True,
    scale: bool = True,
) -> Axes:
    """The edges as curves and the vertices as dots.

    to_scale: whether both directions share one scale; False stretches a long thin network to fill its axes.
    linewidth: in points; by default thinner where edges lie close.
    vertex_size: diameter in points; 0 leaves the vertices out, as does None if they are more than 1,000.
    scale: whether a scale bar and a north arrow stand below, where unit and coordinate system are known.
    """
    ax = plan_axes(graph, ax, to_scale=to_scale)
    if linewidth is None:
        share = field_width(graph, ax) / style.FIELD_WIDTH
        linewidth = max(style.LEAST_WIDTH, style.NETWORK_WIDTH * share)
    if vertex_size is None:
        vertex_size = style.VERTEX_SIZE if graph.n_vertices <= style.MOST_VERTICES else 0.0
    ax.add_collection(outline(graph, color, linewidth), autolim=False)
    draw_vertices(graph, ax, color, vertex_size)
    ax.autoscale_view()
    return draw_scale(graph, ax) if scale and to_scale else ax


def draw_points(
    graph: MetricGraph,
    points: Points,
    ax: Axes | None = None,
    *,
    values: ArrayLike | None = None,
    cmap: str = style.VALUE_MAP,
    norm: Normalize | None = None,
    color: str = style.PAPER,
    marker: str = "o",
    size: float = style.POINT_SIZE,
    label: str | None = None,
) -> Axes:
    """Points of the network as markers, filled with `color` or, where `values` are given, by value.

    Give the norm of the field beneath to let its colours and those of the markers mean the same. Without
    axes the network is drawn first; given axes keep their scale.
    """
    places = graph.embed(points)
    numbers = None if values is None else as_float_vector(values, "values of points", ParameterError)
    if numbers is not None and len(numbers) != len(places):
        raise ParameterError(
            f"points to draw need one value each, got {len(numbers)} for {len(places)} points; "
            "leave values out to draw them alike"
        )
    if ax is None:
        ax = draw_network(graph)
    marks = ax.scatter(
        places[:, 0], places[:, 1], s=size**2, c=color, marker=marker, edgecolors=style.INK, linewidths=1.0,
        label=label, zorder=style.ABOVE,
    )  # fmt: skip
    if numbers is not None:
        marks.set_array(numbers)
        marks.set(cmap=cmap, norm=norm)
    return ax


def draw_labels(graph: MetricGraph, points: Points, labels: Sequence[object], ax: Axes) -> Axes:
    """A text beside each point, moved apart where points lie close, with a line to its point if it is far."""
    places = graph.embed(points)[:, :2]
    texts = [str(label) for label in labels]
    if len(texts) != len(places):
        raise ParameterError(
            f"points to label need one text each, got {len(texts)} for {len(places)} points; give one a point"
        )
    halo = [withStroke(linewidth=2.0, foreground=style.PAPER)]
    line = {"arrowstyle": "-", "color": style.INK, "linewidth": 0.7, "shrinkA": 0.0, "shrinkB": 2.0}
    offsets = spread_out(places * axes_scale(graph, ax), texts)
    for text, place, offset in zip(texts, places, offsets, strict=True):
        is_far = np.hypot(*offset) > RADII[0] + 1
        ax.annotate(
            text, tuple(place), tuple(offset), textcoords="offset points", size=style.SMALL_TEXT,
            color=style.INK, ha="center", va="center", zorder=style.TOP, path_effects=halo, parse_math=False,
            arrowprops=line if is_far else None, annotation_clip=False,
        )  # fmt: skip
    return ax


RADII = (13.0, 19.0, 26.0, 34.0, 43.0, 53.0, 64.0)  # points from a place to the middle of its label
TURNS = np.radians(45 + 30 * np.array([0, -1, 1, -2, 2, -3, 3, -4, 4, -5, 5, 6]))  # upper right first
LETTER, LINE, MARK = 5.5, 11.0, 9.0  # points that a letter, a line of text and a mark take


def spread_out(places: FloatArray, texts: Sequence[str]) -> FloatArray:
    """Offsets in points of labels from their places, (n, 2), so that none covers another or a place.

    Each takes the nearest free spot around its place, in the order given; if there is none, the last tried.
    """
    boxes = np.array([[LETTER * len(text) + 3.0, LINE] for text in texts]).reshape(-1, 2)
    tried = np.array([[r * np.cos(turn), r * np.sin(turn)] for r in RADII for turn in TURNS])
    middles = np.empty((0, 2))
    for place, box in zip(places, boxes, strict=True):
        spots = place + tried
        on_places = _overlap(spots, box, places, np.full(2, MARK))
        on_labels = _overlap(spots, box, middles, boxes[: len(middles)])
        free = np.flatnonzero(~(on_places | on_labels))
        middles = np.concatenate([middles, spots[[free[0] if len(free) else -1]]])
    return np.asarray(middles - places)


def _overlap(spots: FloatArray, box: FloatArray, others: FloatArray, sizes: FloatArray) -> BoolArray:
    """Whether a box around each spot meets a box around any of the others."""
    is_near = np.abs(spots[:, None] - others) < (box + sizes) / 2
    return np.asarray(np.any(np.all(is_near, axis=2), axis=1))


def draw_edge_ids(
    graph: MetricGraph, ax: Axes, *, size: float = style.SMALL_TEXT, offset: float = style.ID_OFFSET
) -> Axes:
    """Your name of every edge, beside its middle, `offset` points to the right as seen from its tail.

    An edge that is in several pieces has its name at the longest of them.
    """
    names, edge, begin, end = _longest_pieces(graph)
    before, middles, after = (
        graph.drawing.places(edge, begin + share * (end - begin))[:, :2]
        for share in (0.5 - _TANGENT, 0.5, 0.5 + _TANGENT)
    )
    ahead = after - before
    lengths = np.hypot(*ahead.T)
    right = np.stack([ahead[:, 1], -ahead[:, 0]], axis=1) / np.where(lengths > 0, lengths, 1.0)[:, None]
    halo = [withStroke(linewidth=2.5, foreground=style.PAPER)]
    for name, place, side in zip(names, middles, right, strict=True):
        ax.annotate(
            str(name), tuple(place), tuple(offset * side), textcoords="offset points", size=size,
            color=style.INK, ha="center", va="center", zorder=style.TOP, path_effects=halo, parse_math=False,
        )  # fmt: skip
    return ax


def _longest_pieces(graph: MetricGraph) -> tuple[list[Hashable], IntArray, FloatArray, FloatArray]:
    """The user's edges that have an extent: id, edge of the longest piece, and its ends as shares of that."""
    table = graph.address_table
    row, extent = rows_of(table.starts), np.abs(table.z_end - table.z_begin)
    order = np.lexsort((-extent, row))
    first = order[table.starts[:-1]]
    piece = first[extent[first] > 0]
    lengths = graph.lengths[table.edge[piece]]
    return (
        pick(table.ids, row[piece]),
        table.edge[piece],
        table.z_begin[piece] / lengths,
        table.z_end[piece] / lengths,
    )


def outline(graph: MetricGraph, color: str, linewidth: float) -> LineCollection:
    """All edges as lines of one colour; of a very large drawing, without bends too small to see."""
    drawing = graph.drawing
    is_large = len(drawing.coordinates) > MOST_PIECES
    curves = (
        list(cut_into_pieces(graph, 1).ends)
        if is_large
        else np.split(drawing.coordinates[:, :2], drawing.starts[1:-1])
    )
    return LineCollection(
        curves, colors=color, linewidths=linewidth, capstyle="round", joinstyle="round", zorder=style.BEHIND,
        rasterized=len(curves) > style.MOST_VECTORS,
    )  # fmt: skip


def draw_vertices(graph: MetricGraph, ax: Axes, color: str, size: float) -> None:
    """Dots of a diameter in points; none if it is 0."""
    if size > 0:
        places = graph.embed(graph.vertex_points())
        ax.scatter(places[:, 0], places[:, 1], s=size**2, c=color, linewidths=0, zorder=style.ABOVE)
