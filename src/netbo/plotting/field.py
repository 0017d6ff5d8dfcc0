"""A function on the network as colours along its edges."""

from textwrap import fill

import numpy as np
from matplotlib.axes import Axes
from matplotlib.cm import ScalarMappable
from matplotlib.collections import LineCollection
from matplotlib.colors import Normalize

from netbo.arrays import FloatArray, as_float_vector
from netbo.errors import ParameterError
from netbo.geometry import MetricGraph
from netbo.plotting import style
from netbo.plotting.canvas import plan_axes
from netbo.plotting.network import Field, draw_vertices, outline
from netbo.plotting.pieces import Pieces, cut_into_pieces
from netbo.plotting.widths import axes_size, field_width

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
) -> Axes:
    """A function on the network as colours along the edges, with a colour bar.

    field: any function of Points, such as `posterior.mean`; it is called once, with the middles of about
        `samples` pieces, at least one an edge. Where it is not finite only the outline is drawn.
    norm: limits of the colours, by default those of the values; pass the same to pictures to compare.
    label: of the values, with their unit, beside the colour bar.
    linewidth: in points; by default thinner where edges lie close.
    """
    ax = plan_axes(graph, ax, to_scale=to_scale)
    pieces = cut_into_pieces(graph, samples)
    values = values_at(field, pieces)
    segments = pieces.segments
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
    return ax


def values_at(field: Field, pieces: Pieces) -> FloatArray:
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
