"""Parts of edges that stand out: where the maximum may be, what is to be searched, what is closed."""

from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.collections import LineCollection
from matplotlib.colors import Normalize
from numpy.typing import ArrayLike

from netbo.arrays import FloatArray, IntArray, as_float_vector
from netbo.errors import ParameterError
from netbo.geometry import MetricGraph
from netbo.plotting import style
from netbo.plotting.field import draw_colour_bar
from netbo.plotting.network import draw_network
from netbo.plotting.pieces import straighten
from netbo.plotting.widths import field_width


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
    edge = graph.edge_indices(edge_ids)
    both = [_distances(value, name, edge, graph) for value, name in ((start, "start"), (end, "end"))]
    starts, ends = np.minimum(*both), np.maximum(*both)
    numbers = None if values is None else as_float_vector(values, "values of stretches", ParameterError)
    if numbers is not None and len(numbers) != len(edge):
        raise ParameterError(
            f"stretches need one value each, got {len(numbers)} for {len(edge)} stretches; "
            "leave values out to draw them alike"
        )
    if ax is None:
        ax = draw_network(graph, color=style.FAINT, vertex_size=0.0, to_scale=to_scale)
    if numbers is not None:
        order = np.argsort(numbers, kind="stable")
        edge, starts, ends, numbers = edge[order], starts[order], ends[order], numbers[order]
    owner, pieces = straighten(graph, edge, starts / graph.lengths[edge], ends / graph.lengths[edge])
    lines = LineCollection(
        list(pieces.segments), linewidths=_width(graph, ax) if linewidth is None else linewidth,
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


def _distances(values: ArrayLike, name: str, edge: IntArray, graph: MetricGraph) -> FloatArray:
    """One distance for each edge, within it."""
    given = as_float_vector(values, f"{name} of stretches", ParameterError)
    if len(given) not in (1, len(edge)):
        raise ParameterError(
            f"stretches need one {name} each, got {len(given)} for {len(edge)} edges; "
            "measure both ends from the tail of the edge"
        )
    spread: FloatArray = np.broadcast_to(given, edge.shape)
    return graph.points([graph.edge_ids[index] for index in edge], spread).z if len(edge) else spread
