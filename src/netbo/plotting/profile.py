"""What is known along a pipe or a road: mean, band and observations over the length walked."""

from collections.abc import Hashable, Sequence

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.axes import Axes

from netbo.arrays import FloatArray, IntArray
from netbo.errors import ParameterError
from netbo.geometry import MetricGraph, Points
from netbo.plotting import style
from netbo.plotting.network import Field
from netbo.plotting.path import shortest_route
from netbo.plotting.route import Route, lay_out
from netbo.posterior import Surrogate

BAND_WIDTH = 2.0  # standard deviations: about 95 % of a Gaussian
MARGIN = 0.01  # left and right of the route, in shares of its length
LARGEST_LABELLED = 24  # edges whose ids are written above the axes; more would run into one another
CROWDED = 80  # characters of ids above the axes, from which on they are turned
MOST_GUIDES = 200  # vertices that are marked; more would hide the lines
HEIGHT = 3.2  # inches


def draw_profile(
    graph: MetricGraph,
    posterior: Surrogate | Field,
    ax: Axes | None = None,
    *,
    edges: Sequence[Hashable] | None = None,
    between: tuple[Points, Points] | None = None,
    samples: int = 1000,
    reference: Field | None = None,
    label: str | None = None,
) -> Axes:
    """Posterior mean, a band of two standard deviations and the observations along edges laid end to end.

    posterior: or any function of Points, which is drawn as one line.
    edges: your ids in the order to walk, by default all; each is turned to go on where the last one ended,
        and the lines break where the next begins elsewhere. Thin vertical lines mark the vertices.
    between: two places; the profile then follows the shortest path from the first to the second.
    reference: a function of Points to compare with, such as the truth of an example.
    label: of the values, with their unit.
    """
    if edges is not None and between is not None:
        raise ParameterError("a profile follows edges or a path, got both edges and between; pass one")
    route = lay_out(graph, edges) if between is None else shortest_route(graph, *between)
    row, place, points = route.sample(samples)
    if ax is None:
        ax = plt.figure(figsize=(style.FIGURE_WIDTH, HEIGHT), layout="constrained").add_subplot()
    model = posterior if isinstance(posterior, Surrogate) else None
    middle = np.asarray(posterior(points) if callable(posterior) else posterior.mean(points))
    x = _broken(place, route, row)
    if model is not None:
        spread = BAND_WIDTH * model.std(points)
        low, high = (_broken(edge, route, row) for edge in (middle - spread, middle + spread))
        ax.fill_between(x, low, high, color=style.BAND, linewidth=0, label=f"mean ± {BAND_WIDTH:g} sd")
    if reference is not None:
        known = _broken(reference(points), route, row)
        ax.plot(x, known, color=style.INK, linestyle=(0, (4, 3)), linewidth=1.1, label="truth")
    name = None if model is None else "posterior mean"
    ax.plot(x, _broken(middle, route, row), color=style.MEAN, linewidth=1.8, label=name)
    if model is not None:
        _draw_observations(ax, route, model)
    _finish(ax, route, label, is_path=between is not None)
    return ax


def _draw_observations(ax: Axes, route: Route, posterior: Surrogate) -> None:
    index, at = route.place(posterior.observations.points)
    ax.plot(
        at, posterior.observations.values[index], "o", markersize=style.POINT_SIZE,
        markerfacecolor=style.PAPER, markeredgecolor=style.INK, label="observations",
    )  # fmt: skip


def _broken(values: FloatArray, route: Route, row: IntArray) -> FloatArray:
    """The values with a NaN wherever the route jumps."""
    jumps = np.flatnonzero(~route.is_joined)
    return np.insert(values, np.searchsorted(row, jumps + 1), np.nan)


def _finish(ax: Axes, route: Route, label: str | None, *, is_path: bool) -> None:
    """Guides at the vertices, ids of the edges above, units below."""
    starts = route.starts
    if len(starts) <= MOST_GUIDES:
        for place in starts:
            ax.axvline(place, color=style.QUIET, linewidth=0.6, zorder=0)
    ax.set_xlim(-MARGIN * starts[-1], (1 + MARGIN) * starts[-1])
    ax.margins(y=0.08)
    unit = f" ({route.graph.unit})" if route.graph.unit else ""
    ax.set_xlabel(f"distance along the {'path' if is_path else 'edges'}{unit}")
    ax.set_ylabel(label or "")
    ax.spines[["top", "right"]].set_visible(False)
    if len(route.edges) <= LARGEST_LABELLED:
        _name_edges(ax, route)


def _name_edges(ax: Axes, route: Route) -> None:
    names = [str(route.graph.edge_ids[edge]) for edge in route.edges]
    is_crowded = sum(map(len, names)) > CROWDED
    above = ax.secondary_xaxis("top")
    above.set_xticks(
        (route.starts[:-1] + route.starts[1:]) / 2, names, fontsize=style.SMALL_TEXT,
        rotation=90 if is_crowded else 0, parse_math=False,
    )  # fmt: skip
    above.tick_params(length=0, pad=1)
    above.spines["top"].set_visible(False)
    ax.annotate(
        "edge", (0, 1), (-4, 4), xycoords="axes fraction", textcoords="offset points", ha="right",
        size=style.SMALL_TEXT,
    )  # fmt: skip
