"""What is known along a pipe or a road: mean, band and observations over the length walked."""

from collections.abc import Hashable, Sequence

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.axes import Axes

from netbo.arrays import FloatArray, IntArray
from netbo.geometry import MetricGraph
from netbo.plotting import style
from netbo.plotting.network import Field
from netbo.plotting.route import Route, lay_out
from netbo.posterior import Posterior

BAND_WIDTH = 2.0  # standard deviations: about 95 % of a Gaussian
MARGIN = 0.01  # left and right of the route, in shares of its length
LARGEST_LABELLED = 24  # edges whose ids are written above the axes; more would run into one another


def draw_profile(
    graph: MetricGraph,
    posterior: Posterior,
    ax: Axes | None = None,
    *,
    edges: Sequence[Hashable] | None = None,
    samples: int = 1000,
    reference: Field | None = None,
    label: str | None = None,
) -> Axes:
    """Posterior mean, a band of two standard deviations and the observations along edges laid end to end.

    edges: your ids in the order to walk, by default all; each is turned to go on where the last one ended,
        and the lines break where the next begins elsewhere. Thin vertical lines mark the vertices.
    reference: a function of Points to compare with, such as the truth of an example.
    label: of the values.
    """
    route = lay_out(graph, edges)
    row, place, points = route.sample(samples)
    mean, spread = posterior.mean(points), BAND_WIDTH * posterior.std(points)
    if ax is None:
        ax = plt.figure(figsize=(style.FIGURE_WIDTH, 3.2), layout="constrained").add_subplot()
    x, low, high, middle = (_broken(v, route, row) for v in (place, mean - spread, mean + spread, mean))
    ax.fill_between(x, low, high, color=style.BAND, linewidth=0, label=f"mean ± {BAND_WIDTH:g} sd")
    if reference is not None:
        known = _broken(reference(points), route, row)
        ax.plot(x, known, color=style.INK, linestyle=(0, (4, 3)), linewidth=1.1, label="truth")
    ax.plot(x, middle, color=style.MEAN, linewidth=1.8, label="posterior mean")
    index, at = route.place(posterior.observations.points)
    ax.plot(
        at, posterior.observations.values[index], "o", markersize=style.POINT_SIZE,
        markerfacecolor=style.PAPER, markeredgecolor=style.INK, label="observations",
    )  # fmt: skip
    _finish(ax, route, label)
    return ax


def _broken(values: FloatArray, route: Route, row: IntArray) -> FloatArray:
    """The values with a NaN wherever the route jumps."""
    jumps = np.flatnonzero(~route.is_joined)
    return np.insert(values, np.searchsorted(row, jumps + 1), np.nan)


def _finish(ax: Axes, route: Route, label: str | None) -> None:
    """Guides at the vertices, ids of the edges above, units below."""
    for place in route.starts:
        ax.axvline(place, color=style.QUIET, linewidth=0.6, zorder=0)
    ax.set_xlim(-MARGIN * route.starts[-1], (1 + MARGIN) * route.starts[-1])
    ax.margins(y=0.08)
    unit = f" ({route.graph.unit})" if route.graph.unit else ""
    ax.set_xlabel(f"distance along the edges{unit}")
    ax.set_ylabel(label or "")
    ax.spines[["top", "right"]].set_visible(False)
    if len(route.edges) <= LARGEST_LABELLED:
        above = ax.secondary_xaxis("top")
        names = [str(route.graph.edge_ids[edge]) for edge in route.edges]
        above.set_xticks((route.starts[:-1] + route.starts[1:]) / 2, names, fontsize=style.SMALL_TEXT)
        above.tick_params(length=0, pad=1)
        above.spines["top"].set_visible(False)
        ax.annotate(
            "edge", (0, 1), (-4, 4), xycoords="axes fraction", textcoords="offset points", ha="right",
            size=style.SMALL_TEXT,
        )  # fmt: skip
