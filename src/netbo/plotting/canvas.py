"""Axes for the plan of a network."""

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.axes import Axes

from netbo.geometry import MetricGraph
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
