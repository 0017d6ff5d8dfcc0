"""A function on the network as colours along its edges, its colour scales, and parts that stand out."""

from collections.abc import Hashable, Sequence
from textwrap import fill
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.cm import ScalarMappable
from matplotlib.collections import LineCollection
from matplotlib.colors import Normalize, PowerNorm
from numpy.typing import ArrayLike

from netbo.arrays import FloatArray, as_float_vector
from netbo.errors import ParameterError
from netbo.geometry import MetricGraph
from netbo.geometry.identifiers import as_list
from netbo.plotting import style
from netbo.plotting.canvas import Segments, axes_size, cut_into_pieces, field_width, plan_axes, straighten
from netbo.plotting.network import Field, draw_network, draw_vertices, outline
from netbo.plotting.scale import draw_scale

LETTER, LEAST_LINE = 6.5, 12  # points that a letter of a label takes; letters of its shortest line
CASED = 1.5  # points: thinner lines have no dark outline, which would be most of what is seen


def draw_field(
    graph: MetricGraph,
    field: Field,
    ax: Axes | None = None,
    *,
    samples: int = 2000,
    cmap: str = style.VALUE_MAP,
    norm: Normalize | None = None,
    label: str | None = None,
    linewidth: float | None = None,
    vertex_size: float = 0.0,
    to_scale: bool = True,
    scale: bool = True,
) -> Axes:
    """A function on the network as colours along the edges, with a colour bar.

    field: any function of Points, such as `posterior.mean`; it is called once, with the middles of about
        `samples` pieces, at least one an edge. Where it is not finite only the outline is drawn.
    norm: limits of the colours, by default those of the values; pass the same to pictures to compare.
    label: of the values, with their unit, beside the colour bar.
    linewidth: in points; by default thinner where edges lie close.
    scale: whether a scale bar and a north arrow stand below, where unit and coordinate system are known.
    """
    ax = plan_axes(graph, ax, to_scale=to_scale)
    pieces = cut_into_pieces(graph, samples)
    values = values_at(field, pieces)
    segments = pieces.ends
    width = field_width(graph, ax) if linewidth is None else linewidth
    if width >= CASED:
        ax.add_collection(outline(graph, style.INK, width + style.CASING), autolim=False)
    elif not np.isfinite(values).all():
        ax.add_collection(outline(graph, style.QUIET, width), autolim=False)
    colours = LineCollection(
        list(segments),
        array=np.ma.masked_invalid(values),
        cmap=cmap,
        norm=norm,
        linewidths=width,
        capstyle="round",  # overlapping ends hide the seams between pieces
        zorder=style.ON,
        rasterized=len(segments) > style.MOST_VECTORS,
    )
    ax.add_collection(colours, autolim=False)
    draw_vertices(graph, ax, style.INK, vertex_size)
    ax.autoscale_view()
    draw_colour_bar(ax, colours, values, label)
    return draw_scale(graph, ax) if scale and to_scale else ax


def values_at(field: Field, pieces: Segments) -> FloatArray:
    """The field in the middle of each piece."""
    values = as_float_vector(field(pieces.middles), "values of a field", ParameterError)
    if len(values) != len(pieces.edge):
        raise ParameterError(
            f"a field must give one value per point, got {len(values)} for {len(pieces.edge)} points; "
            "pass a function of Points such as posterior.mean"
        )
    return values


def draw_colour_bar(ax: Axes, colours: ScalarMappable, values: FloatArray, label: str | None) -> None:
    """A bar beside the axes, pointed where values lie beyond its ends."""
    low, high = colours.get_clim()
    known = values[np.isfinite(values)]
    is_below = low is not None and bool((known < low).any())
    is_above = high is not None and bool((known > high).any())
    extend = {(True, True): "both", (True, False): "min", (False, True): "max"}.get((is_below, is_above))
    letters = max(LEAST_LINE, int(axes_size(ax)[1] / LETTER))
    ax.figure.colorbar(
        colours,
        ax=ax,
        label=fill(label or "", letters),
        fraction=0.05,
        pad=0.01,
        aspect=12,
        extend=extend or "neither",
    )


# Which colours numbers get where they are spread unevenly.

POWER = 0.5  # of probabilities: small ones stay visible


def probability_norm() -> Normalize:
    """Square roots from 0 to the largest value."""
    return PowerNorm(POWER, vmin=0.0)


def floored_norm(values: FloatArray, share: float) -> Normalize:
    """Even from the value that this share of the finite ones lies below, to the largest."""
    known = values[np.isfinite(values)]
    return Normalize(vmin=float(np.quantile(known, share)) if known.size else 0.0)


# Parts of edges that stand out: where the maximum may be, what is to be searched, what is closed.


def draw_stretches(
    graph: MetricGraph,
    edge_ids: Any,
    start: ArrayLike,
    end: ArrayLike,
    ax: Axes | None = None,
    *,
    values: ArrayLike | None = None,
    color: str = style.FOUND,
    cmap: str = style.PROBABILITY_MAP,
    norm: Normalize | None = None,
    label: str | None = None,
    linewidth: float | None = None,
    to_scale: bool = True,
) -> Axes:
    """Parts of edges, from one distance to another, thick on a faint network.

    values: one each, shown as colours with a colour bar, the largest on top; else all have `color`.
    label: of the values, or of the stretches in a legend.
    """
    ids = as_list(edge_ids, graph.address_table)
    both = [_distances(value, name, ids, graph) for value, name in ((start, "start"), (end, "end"))]
    stretch, edge, starts, ends = graph.intervals(ids, np.minimum(*both), np.maximum(*both))
    numbers = None if values is None else as_float_vector(values, "values of stretches", ParameterError)
    if numbers is not None and len(numbers) != len(ids):
        raise ParameterError(
            f"stretches need one value each, got {len(numbers)} for {len(ids)} stretches; "
            "leave values out to draw them alike"
        )
    numbers = None if numbers is None else numbers[stretch]
    if ax is None:
        ax = draw_network(graph, color=style.FAINT, vertex_size=0.0, to_scale=to_scale)
    if numbers is not None:
        order = np.argsort(numbers, kind="stable")
        edge, starts, ends, numbers = edge[order], starts[order], ends[order], numbers[order]
    owner, pieces = straighten(graph, edge, starts / graph.lengths[edge], ends / graph.lengths[edge])
    lines = LineCollection(
        list(pieces.ends), linewidths=_width(graph, ax) if linewidth is None else linewidth,
        capstyle="round", zorder=style.ON, rasterized=len(owner) > style.MOST_VECTORS,
    )  # fmt: skip
    ax.add_collection(lines)
    if numbers is None:
        lines.set(color=color, label=label)
        return ax
    lines.set(array=numbers[owner], cmap=cmap, norm=norm)
    lines.autoscale_None()
    draw_colour_bar(ax, lines, numbers, label)
    return ax


def _width(graph: MetricGraph, ax: Axes) -> float:
    return max(style.STRETCH_WIDTH, field_width(graph, ax))


def _distances(values: ArrayLike, name: str, ids: Sequence[Hashable], graph: MetricGraph) -> FloatArray:
    """One distance for each of the user's edges, within it."""
    given = as_float_vector(values, f"{name} of stretches", ParameterError)
    if len(given) not in (1, len(ids)):
        raise ParameterError(
            f"stretches need one {name} each, got {len(given)} for {len(ids)} edges; "
            "measure both ends from the tail of the edge"
        )
    spread: FloatArray = np.broadcast_to(given, len(ids))
    if len(ids):
        graph.points(ids, spread)  # refuses what lies beyond an edge
    return spread
