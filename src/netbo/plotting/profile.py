"""What is known along a route of edges: mean, band and observations over the length walked."""

from collections.abc import Hashable, Sequence
from dataclasses import dataclass

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.axes import Axes

from netbo.arrays import BoolArray, FloatArray, IntArray
from netbo.errors import ParameterError
from netbo.geometry import MetricGraph, Points
from netbo.geometry.distances import shortest_path
from netbo.plotting import style
from netbo.plotting.canvas import even_fractions
from netbo.plotting.network import Field
from netbo.posterior import Surrogate

# Edges laid end to end, so that what happens along them can be drawn over one axis.


@dataclass(frozen=True, slots=True, eq=False)
class Route:
    """Edges, whole or in part, in the order in which they are walked."""

    graph: MetricGraph
    edges: IntArray  # (k,)
    entered: FloatArray  # (k,) distance from the tail at which each edge is entered,
    left: FloatArray  # (k,) and at which it is left

    @property
    def is_reversed(self) -> BoolArray:
        """Whether each edge is walked towards its tail, (k,)."""
        return np.asarray(self.left < self.entered)

    @property
    def starts(self) -> FloatArray:
        """Where on the axis each edge begins, and at the end the total length, (k + 1,)."""
        return np.concatenate([[0.0], np.cumsum(np.abs(self.left - self.entered))])

    @property
    def first_vertices(self) -> IntArray:
        """Vertex at which each edge is entered, (k,); -1 where it is entered between its ends."""
        return self._vertices(self.entered)

    @property
    def last_vertices(self) -> IntArray:
        """Vertex at which each edge is left, (k,); -1 where it is left between its ends."""
        return self._vertices(self.left)

    @property
    def is_joined(self) -> BoolArray:
        """Whether each edge but the last is left where the next is entered, (k - 1,)."""
        last, first = self.last_vertices[:-1], self.first_vertices[1:]
        is_same_place = (self.edges[:-1] == self.edges[1:]) & (self.left[:-1] == self.entered[1:])
        return np.asarray((last == first) & ((last >= 0) | is_same_place))

    def sample(self, samples: int) -> tuple[IntArray, FloatArray, Points]:
        """Row of the route, place on the axis and point of an even sampling with both ends of every edge."""
        steps = self.left - self.entered
        row, fraction = even_fractions(np.abs(steps), samples)
        # From either end to the middle: both ends are then met exactly.
        along = (1 - fraction) * self.entered[row] + fraction * self.left[row]
        place = self.starts[row] + fraction * np.abs(steps[row])
        return row, place, Points(self.edges[row], along, graph=self.graph)

    def place(self, points: Points) -> tuple[IntArray, FloatArray]:
        """Indices of points and their places on the axis; a vertex may have several, others none."""
        graph, x, starts = self.graph, self.graph.bind(points), self.starts
        lengths = graph.lengths[x.edge]
        vertex = np.where(x.z == 0, graph.tails[x.edge], np.where(x.z == lengths, graph.heads[x.edge], -1))
        low, high = np.minimum(self.entered, self.left), np.maximum(self.entered, self.left)
        z = x.z[:, None]
        inside, row = np.nonzero(
            (x.edge[:, None] == self.edges) & (vertex[:, None] < 0) & (low <= z) & (z <= high)
        )
        along = np.abs(x.z[inside] - self.entered[row])
        at_vertex = np.where(vertex < 0, -2, vertex)[:, None]  # a route's own -1 is no vertex either
        entered, first = np.nonzero(at_vertex == self.first_vertices)
        left, last = np.nonzero(at_vertex == self.last_vertices)
        index = np.concatenate([inside, entered, left])
        place = np.concatenate([starts[row] + along, starts[first], starts[last + 1]])
        pairs = np.unique(np.stack([index, place], axis=1), axis=0)  # joined edges share their vertex
        return pairs[:, 0].astype(np.int64), pairs[:, 1]

    def _vertices(self, distance: FloatArray) -> IntArray:
        graph, edges = self.graph, self.edges
        at_tail, at_head = distance == 0, distance == graph.lengths[edges]
        return np.where(at_tail, graph.tails[edges], np.where(at_head, graph.heads[edges], -1))


def lay_out(graph: MetricGraph, edge_ids: Sequence[Hashable] | None) -> Route:
    """The edges named, or all, one after another, each turned so that it goes on where the last one ended."""
    if edge_ids is None:
        edges, low, high = np.arange(graph.n_edges), np.zeros(graph.n_edges), graph.lengths
    else:
        _, edges, low, high = graph.intervals(list(edge_ids))
        edges, low, high = edges[low < high], low[low < high], high[low < high]  # no contracted ones
    if not len(edges):
        raise ParameterError("a profile needs at least one edge, got none; leave edges out to draw all")
    forward = Route(graph, edges, low, high)
    tails, heads = _places(forward, low), _places(forward, high)
    following = {tails[1], heads[1]} if len(edges) > 1 else set()
    turned = [heads[0] not in following and tails[0] in following]
    end = tails[0] if turned[0] else heads[0]
    for tail, head in zip(tails[1:], heads[1:], strict=True):
        turned.append(bool(head == end and tail != end))
        end = tail if turned[-1] else head
    is_turned = np.array(turned)
    return Route(graph, edges, np.where(is_turned, high, low), np.where(is_turned, low, high))


def _places(route: Route, distance: FloatArray) -> list[Hashable]:
    """What tells places at these distances apart: the vertex, or edge and distance between vertices."""
    vertex = route.first_vertices if distance is route.entered else route.last_vertices
    inside = zip(route.edges.tolist(), distance.tolist(), strict=True)
    return [place if at < 0 else at for at, place in zip(vertex.tolist(), inside, strict=True)]


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
    band: bool = True,
) -> Axes:
    """Posterior mean, a band of two standard deviations and the observations along edges laid end to end.

    posterior: or any function of Points, which is drawn as one line.
    edges: your ids in the order to walk, by default all; each is turned to go on where the last one ended,
        and the lines break where the next begins elsewhere. Thin vertical lines mark the vertices.
    between: two places; the profile then follows the shortest path from the first to the second.
    reference: a function of Points to compare with, such as the truth of an example.
    label: of the values, with their unit.
    band: whether it is drawn; a fit to a few values is too sure of itself.
    """
    if edges is not None and between is not None:
        raise ParameterError("a profile follows edges or a path, got both edges and between; pass one")
    route = lay_out(graph, edges) if between is None else Route(graph, *shortest_path(graph, *between))
    row, place, points = route.sample(samples)
    if ax is None:
        ax = plt.figure(figsize=(style.FIGURE_WIDTH, HEIGHT), layout="constrained").add_subplot()
    model = posterior if isinstance(posterior, Surrogate) else None
    middle = np.asarray(posterior(points) if callable(posterior) else posterior.mean(points))
    x = _broken(place, route, row)
    if model is not None and band:
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
    middles = Points(route.edges, (route.entered + route.left) / 2, graph=route.graph)
    names = [str(name) for name in route.graph.address(middles)[0]]
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
