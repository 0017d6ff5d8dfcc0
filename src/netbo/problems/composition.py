"""Benchmarks g(a(x)) on any network: anchors at the vertices, linear along the edges (ssec:benchmarks).

They are written so that nothing cancels: each is exactly 0 at its minimizer and nowhere negative.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Protocol

import numpy as np
from numpy.typing import ArrayLike

from netbo.arrays import FloatArray, as_float_vector, read_only, require_finite
from netbo.checks import explained, require_positive
from netbo.errors import ParameterError, PointError
from netbo.fem import FiniteElementSpace
from netbo.geometry import VERTEX_TOLERANCE, MetricGraph, Points
from netbo.problems.problem import Problem

# Benchmark functions of one real number, to be minimized (ssec:benchmarks).


class OuterFunction(Protocol):
    """A function g on the real line with one global minimizer; it oscillates with a period of 1 or more."""

    @property
    def name(self) -> str:
        """What tables and legends call it."""

    @property
    def minimizer(self) -> float:
        """Where it is smallest."""

    def __call__(self, a: FloatArray) -> FloatArray:
        """g(a), number by number."""


@dataclass(frozen=True)
class Ackley:
    """-20 exp(-0.2 |a|) - exp(cos(2 pi a)) + 20 + e: many narrow valleys around one at 0 with a cusp."""

    name: str = "ackley"
    minimizer: float = 0.0

    def __call__(self, a: FloatArray) -> FloatArray:
        """g(a), number by number."""
        # exp(cos t) - e = e (exp(cos t - 1) - 1), and cos t - 1 = -2 sin^2(t/2)
        ripple = np.e * np.expm1(-2 * np.sin(np.pi * a) ** 2)
        return np.asarray(-20 * np.expm1(-0.2 * np.abs(a)) - ripple)


@dataclass(frozen=True)
class Rastrigin:
    """a^2 - 10 cos(2 pi a) + 10: a parabola under waves of height 20."""

    name: str = "rastrigin"
    minimizer: float = 0.0

    def __call__(self, a: FloatArray) -> FloatArray:
        """g(a), number by number."""
        return np.asarray(a**2 + 20 * np.sin(np.pi * a) ** 2)


@dataclass(frozen=True)
class Levy:
    """sin^2(pi w) + (w - 1)^2 (1 + sin^2(2 pi w)), w = 1 + (a - 1)/4: wide waves, smallest at 1."""

    name: str = "levy"
    minimizer: float = 1.0

    def __call__(self, a: FloatArray) -> FloatArray:
        """g(a), number by number."""
        v = (a - 1) / 4  # w - 1; both squared sines have period 1 in w
        return np.asarray(np.sin(np.pi * v) ** 2 + v**2 * (1 + np.sin(2 * np.pi * v) ** 2))


ACKLEY, RASTRIGIN, LEVY = Ackley(), Rastrigin(), Levy()

OUTER_FUNCTIONS: Mapping[str, OuterFunction] = MappingProxyType(
    {outer.name: outer for outer in (ACKLEY, RASTRIGIN, LEVY)}
)


# Smallest and largest value of an outer function on intervals.

STEPS_PER_UNIT = 256  # of the grid; outer functions have periods of 1 or more, so no wave is missed
FEWEST_STEPS = 256  # on short intervals
ZOOMS = 20  # each leaves a quarter of a valley: 1e-12 of it, far below where its floor is flat in rounding
SHARES = np.linspace(0.0, 1.0, 9)


@dataclass(frozen=True, slots=True)
class Extremes:
    """min g, one place where it is attained, and max g."""

    minimum: float
    minimizer: float
    maximum: float


def extremes(outer: OuterFunction, intervals: Iterable[tuple[float, float]]) -> Extremes:
    """Extremes of g over closed intervals: all valleys and hills of a dense grid, zoomed into.

    The known minimizer is taken as it is where it lies inside: a zoom would end next to it.
    """
    lowest, highest = [], []
    for low, high in intervals:
        grid = np.linspace(low, high, FEWEST_STEPS + int(STEPS_PER_UNIT * (high - low)))
        lowest += [_lowest(outer, grid)]
        highest += [_lowest(lambda a: -outer(a), grid)]
        if low <= outer.minimizer <= high:
            lowest = [outer.minimizer, *lowest]
    values, hills = outer(np.array(lowest)), outer(np.array(highest))
    best = int(np.argmin(values))
    return Extremes(minimum=float(values[best]), minimizer=lowest[best], maximum=float(hills.max()))


def _lowest(function: Callable[[FloatArray], FloatArray], grid: FloatArray) -> float:
    """Place of the smallest value between the ends of the grid."""
    values = np.pad(function(grid), 1, constant_values=np.inf)
    valleys = np.flatnonzero((values[1:-1] <= values[:-2]) & (values[1:-1] <= values[2:]))
    low, high = grid[np.maximum(valleys - 1, 0)], grid[np.minimum(valleys + 1, len(grid) - 1)]
    rows = np.arange(len(valleys))
    for _ in range(ZOOMS):
        finer = low[:, None] + (high - low)[:, None] * SHARES  # (valleys, 9)
        best = np.argmin(function(finer), axis=1)
        low, high = finer[rows, np.maximum(best - 1, 0)], finer[rows, np.minimum(best + 1, 8)]
    zoomed = np.clip((low + high) / 2, grid[0], grid[-1])  # rounding may leave the interval
    places = np.concatenate([grid[valleys], zoomed])
    return float(places[np.argmin(function(places))])


WIDEST_SPAN = 10_000.0  # of the anchors; the search for extremes looks at every wave


@dataclass(frozen=True, eq=False)
class Composition:
    """-(g(a(x)) - offset) / spread: continuous across vertices since a is."""

    graph: MetricGraph
    outer: OuterFunction
    anchors: FloatArray  # (n_vertices,)
    offset: float = 0.0
    spread: float = 1.0

    def inner(self, x: Points) -> FloatArray:
        """a(x) = (1 - z/L) a_tail + (z/L) a_head, (n,); constant on loops."""
        x = self.graph.bind(x)
        share = x.z / self.graph.lengths[x.edge]
        tail, head = self.anchors[self.graph.tails[x.edge]], self.anchors[self.graph.heads[x.edge]]
        between = (1 - share) * tail + share * head  # exact at both ends, so values agree at a vertex
        # Rounding must not leave [tail, head]: values beyond the known maximum would follow.
        return np.clip(between, np.minimum(tail, head), np.maximum(tail, head))

    def __call__(self, x: Points) -> FloatArray:
        """Values at the points, (n,)."""
        return -(self.outer(self.inner(x)) - self.offset) / self.spread


@explained
def composed(
    graph: MetricGraph,
    outer: OuterFunction,
    anchors: ArrayLike,
    *,
    scale: bool = True,
    space: FiniteElementSpace | None = None,
    noise: float = 0.0,
    name: str | None = None,
) -> Problem:
    """f = -(g(a(x)) - min) / (max - min) in [-1, 0] on any network; without `scale`, f = -g(a(x)).

    anchors: a(v), one number a vertex; on an edge a is linear, so a loop is constant.
    space: candidates; the known maximum stays that of the continuum (see `Problem.reachable_regret`).

    The extremes are those over the whole network. A connected component is mapped by a onto the interval
    between its smallest and largest anchor, so g is searched on these intervals alone.
    """
    values = _as_anchors(graph, anchors)
    found = extremes(outer, _images(graph, values))
    spread = found.maximum - found.minimum if scale else 1.0
    if not spread > 0:
        raise ParameterError(
            f"anchors must make g(a(x)) vary to be scaled, got {found.minimum} everywhere; "
            "give the vertices different anchors or pass scale=False"
        )
    offset = found.minimum if scale else 0.0
    return Problem(
        name=outer.name if name is None else name,
        graph=graph,
        objective=Composition(graph, outer, values, offset, spread),
        maximum=0.0 if scale else -found.minimum,
        maximizers=_level(graph, values, found.minimizer),
        noise=noise,
        space=space,
    )


def placed_anchors(
    graph: MetricGraph, place: Points, *, optimum: float = 0.0, scale: float = 3.0
) -> FloatArray:
    """Anchors that put the optimum of g∘a at a vertex: optimum + scale d(v, place) / diameter, (n_vertices,).

    optimum: the minimizer of g. The place must be a vertex: along an edge a is linear, the distance from a
    point inside it is not. Away from the vertices a(x) is the interpolated distance, not the distance; it is
    above the optimum everywhere but at the place and on loops there, which are constant.
    """
    if len(place) != 1:
        raise PointError(f"the optimum needs one place, got {len(place)}; pass points[:1]")
    require_positive("scale", scale, "3 spans three waves", kind="positive")
    distance = graph.distance(graph.vertex_points(), place)[:, 0]
    vertex = int(np.argmin(distance))
    if distance[vertex] > VERTEX_TOLERANCE * graph.lengths[place.edge[0]]:
        raise PointError(
            f"the optimum must be placed at a vertex, got a point {distance[vertex]:.6g} away from one; "
            "make it a vertex with graph.split(place)"
        )
    if not np.isfinite(distance).all():
        raise PointError(
            f"the place must be connected to every vertex, got {graph.n_components} components; "
            "take one with graph.subgraph(component)"
        )
    distance[vertex] = 0.0  # a place within rounding of a vertex is the vertex
    anchors: FloatArray = optimum + scale * distance / graph.diameter
    return anchors


def _as_anchors(graph: MetricGraph, anchors: ArrayLike) -> FloatArray:
    values = as_float_vector(anchors, "anchors", ParameterError)
    if len(values) != graph.n_vertices:
        raise ParameterError(
            f"anchors must be one number for each of {graph.n_vertices} vertices, got {len(values)}; "
            "order them as graph.vertex_ids"
        )
    require_finite(values, "anchors", ParameterError, "give every vertex a number")
    if np.ptp(values) > WIDEST_SPAN:
        raise ParameterError(
            f"anchors must span at most {WIDEST_SPAN:g}, got {np.ptp(values):g}; "
            "scale them down: a span of 1 is a whole wave of g"
        )
    return np.asarray(read_only(values))


def _images(graph: MetricGraph, anchors: FloatArray) -> Iterator[tuple[float, float]]:
    """The set a(network) as disjoint intervals: one a component, overlapping ones united."""
    low, high = np.full(graph.n_components, np.inf), np.full(graph.n_components, -np.inf)
    np.minimum.at(low, graph.components, anchors)
    np.maximum.at(high, graph.components, anchors)
    begin, end = np.inf, -np.inf
    for each in np.argsort(low):
        if low[each] > end:
            if begin <= end:
                yield float(begin), float(end)
            begin, end = low[each], high[each]
        end = max(end, high[each])
    yield float(begin), float(end)


def _level(graph: MetricGraph, anchors: FloatArray, value: float) -> Points:
    """Points where a(x) is the value: vertices, then one inside each edge that crosses it."""
    tail, head = anchors[graph.tails], anchors[graph.heads]
    is_crossing = ((tail < value) & (value < head)) | ((head < value) & (value < tail))
    edge = np.flatnonzero(is_crossing)
    share = (value - tail[edge]) / (head[edge] - tail[edge])
    inside = Points(edge, share * graph.lengths[edge], graph=graph)
    return Points.concatenate([graph.vertex_points(np.flatnonzero(anchors == value)), inside])
