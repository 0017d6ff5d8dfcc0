"""Networks and landscapes of the suite: what people meet on roads, pipes, lines and rivers, made by formulas.

Every landscape is a function of points, so that it can be put on any network; `edgewise_problem` then takes
its values at dense places of every edge, which makes the maximum known.
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from netbo.adapters.read import read
from netbo.arrays import FloatArray, IntArray
from netbo.fem import FiniteElementSpace
from netbo.geometry import MetricGraph, Points, grid, narrow_rectangle, open_rectangle, road, uniform_points
from netbo.priors import Matern, euclidean_matern, whittle_matern
from netbo.problems.inversion import new_york
from netbo.problems.simulated import POWER, WATER, simulator_source

# Networks. Each that is made here is drawn, so that every method can see where its edges lie.


def winding_road(n_vertices: int, seed: int) -> MetricGraph:
    """Roads that wind: each is 1 to 2.5 times as long as it is drawn."""
    drawn = road(n_vertices, seed=seed)
    longer = np.random.default_rng(seed).uniform(1.0, 2.5, drawn.n_edges)
    return MetricGraph(drawn.tails, drawn.heads, longer * drawn.lengths, positions=drawn.positions)


def tree(n_vertices: int, seed: int) -> MetricGraph:
    """A tree of mains and branches: every vertex hangs on a random one of the eight before it."""
    rng = np.random.default_rng(seed)
    heads = np.arange(1, n_vertices)
    tails = rng.integers(np.maximum(0, heads - 8), heads)
    positions, angles = np.zeros((n_vertices, 2)), np.zeros(n_vertices)
    lengths = rng.uniform(0.3, 1.7, n_vertices - 1)
    for tail, head in zip(tails, heads, strict=True):
        angles[head] = angles[tail] + rng.uniform(-1.0, 1.0)
        ahead = np.array([np.cos(angles[head]), np.sin(angles[head])])
        positions[head] = positions[tail] + lengths[head - 1] * ahead
    return MetricGraph(tails, heads, lengths, positions=positions)


def ladder(rungs: int, seed: int) -> MetricGraph:
    """Two mains with rungs between them, unevenly spaced."""
    x = np.cumsum(np.random.default_rng(seed).uniform(0.5, 1.5, rungs))
    lower, upper = np.arange(rungs), np.arange(rungs) + rungs
    tails = np.concatenate([lower[:-1], upper[:-1], lower])
    heads = np.concatenate([lower[1:], upper[1:], upper])
    positions = np.concatenate([np.stack([x, np.zeros(rungs)], 1), np.stack([x, np.ones(rungs)], 1)])
    return MetricGraph(tails, heads, None, positions=positions)


def wheel(spokes: int, rings: int) -> MetricGraph:
    """Rings around a centre and spokes through them, as old towns have."""
    angle = 2 * np.pi * np.arange(spokes) / spokes
    around = np.stack([np.cos(angle), np.sin(angle)], axis=1)
    index = 1 + np.arange(rings * spokes).reshape(rings, spokes)
    inward = np.concatenate([np.zeros((1, spokes), dtype=np.int64), index[:-1]])
    tails = np.concatenate([inward.ravel(), index.ravel()])
    heads = np.concatenate([index.ravel(), np.roll(index, -1, axis=1).ravel()])
    positions = np.concatenate([np.zeros((1, 2)), *(radius * around for radius in range(1, rings + 1))])
    return MetricGraph(tails, heads, None, positions=positions)


def islands(seed: int) -> MetricGraph:
    """Three networks without a way between them: streets, a tree and a ring."""
    parts = [road(36, seed=seed), tree(25, seed), wheel(6, 1)]
    offsets = np.cumsum([0, *(part.n_vertices for part in parts)])
    shifts = (np.zeros(2), np.array([14.0, 0.0]), np.array([0.0, -6.0]))
    return MetricGraph(
        np.concatenate([part.tails + first for part, first in zip(parts, offsets, strict=False)]),
        np.concatenate([part.heads + first for part, first in zip(parts, offsets, strict=False)]),
        np.concatenate([part.lengths for part in parts]),
        positions=np.concatenate([part.positions + by for part, by in zip(parts, shifts, strict=True)]),
    )


def river(n_reaches: int, seed: int) -> MetricGraph:
    """A river: reaches that join two by two and run from tail to head, down to the mouth, vertex 0."""
    rng = np.random.default_rng(seed)
    tails: list[int] = []
    heads: list[int] = []
    lengths: list[float] = []
    positions, open_ends = [np.zeros(2)], [(0, np.pi / 2)]
    while len(tails) < n_reaches:
        mouth, angle = open_ends.pop(int(rng.integers(min(3, len(open_ends)))))
        for turn in (-0.5, 0.5):
            direction = angle + turn + rng.uniform(-0.3, 0.3)
            length = rng.uniform(0.5, 2.0)
            positions.append(positions[mouth] + length * np.array([np.cos(direction), np.sin(direction)]))
            tails.append(len(positions) - 1)
            heads.append(mouth)
            lengths.append(length * rng.uniform(1.0, 1.6))  # it winds
            open_ends.append((len(positions) - 1, direction))
    return MetricGraph(tails, heads, lengths, positions=np.array(positions))


@lru_cache(maxsize=64)
def network(name: str) -> MetricGraph:
    """A network of the suite by its name; some need the extras 'telecom', 'water' or 'power'."""
    if name.startswith("sndlib/"):
        return read(name).graph
    if name in WATER or name in POWER:
        return read(simulator_source(name)).graph
    makers: dict[str, Callable[[], MetricGraph]] = {
        "open-rectangle": open_rectangle,
        "narrow-rectangle": narrow_rectangle,
        "new-york": new_york,
        "road-50": lambda: winding_road(36, 50),
        "road-150": lambda: winding_road(100, 150),
        "road-500": lambda: winding_road(334, 500),
        "tree-40": lambda: tree(41, 40),
        "tree-120": lambda: tree(121, 120),
        "grid": lambda: grid(12, 12),
        "ladder": lambda: ladder(25, 7),
        "wheel": lambda: wheel(8, 3),
        "islands": lambda: islands(3),
        "river": lambda: river(60, 11),
    }
    return makers[name]()


# Landscapes: functions of points.


@dataclass(frozen=True, eq=False)
class Bumps:
    """sum_i heights_i (1 - (d(x, places_i) / widths_i)^2)_+^2 over distances along the network."""

    graph: MetricGraph
    places: Points
    widths: FloatArray
    heights: FloatArray

    def __call__(self, x: Points) -> FloatArray:
        """Values at the points, (n,)."""
        reach = self.graph.distance(x, self.places) / self.widths  # inf on other components
        return np.asarray(np.maximum(1 - reach**2, 0.0) ** 2 @ self.heights)


def bumps(graph: MetricGraph, widths: FloatArray, heights: FloatArray, seed: int) -> Bumps:
    """Bumps at random places, uniform in length; widths in shares of the diameter."""
    places = uniform_points(graph, len(widths), np.random.default_rng(seed))
    return Bumps(graph, places, widths * graph.diameter, heights)


@dataclass(frozen=True, eq=False)
class Field:
    """A draw of a Gaussian field, linear on a fine mesh, mapped to [0, 1]."""

    space: FiniteElementSpace
    values: FloatArray

    def __call__(self, x: Points) -> FloatArray:
        """Values at the points, (n,)."""
        return self.space.locate(x).interpolate(self.values)


def field(graph: MetricGraph, alpha: float, share: float, seed: int, *, nodes: int = 4_000) -> Field:
    """A Whittle-Matérn field of a range that is a share of the diameter."""
    space = FiniteElementSpace.build(graph, max_cell=graph.total_length / nodes)
    prior = whittle_matern(space, Matern(alpha, range=share * graph.diameter, sigma=1.0))
    return Field(space, unit(prior.sample(space.nodes, np.random.default_rng(seed))))


def plane_field(graph: MetricGraph, share: float, seed: int, *, nodes: int = 1_500) -> Field:
    """A Matérn field (nu = 3/2) of the plane, of a range that is a share of the drawing's larger side."""
    space = FiniteElementSpace.build(graph, max_cell=graph.total_length / nodes)
    extent = float(np.ptp(graph.embed(space.nodes), axis=0).max())
    prior = euclidean_matern(graph, nu=1.5, range=share * extent, sigma=1.0)
    return Field(space, unit(prior.sample(space.nodes, np.random.default_rng(seed))))


def unit(values: FloatArray) -> FloatArray:
    """Values mapped to [0, 1]."""
    return np.asarray((values - values.min()) / np.ptp(values))


@dataclass(frozen=True, eq=False)
class Plateaus:
    """A field cut into five levels, and a bump on the highest: flat almost everywhere."""

    field: Field
    bump: Bumps

    def __call__(self, x: Points) -> FloatArray:
        """Values at the points, (n,)."""
        return np.floor(4.999 * self.field(x)) / 5 + 0.2 * self.bump(x)


@dataclass(frozen=True, eq=False)
class Pits:
    """-10^(4 (1 - u)), u a field in [0, 1]: what misfits look like, four orders of magnitude deep."""

    field: Field

    def __call__(self, x: Points) -> FloatArray:
        """Values at the points, (n,)."""
        return -(10.0 ** (4 * (1 - self.field(x))))


@dataclass(frozen=True, eq=False)
class Jumps:
    """A field and a level of its own on every edge: it jumps at junctions."""

    field: Field
    levels: FloatArray  # (n_edges,)

    def __call__(self, x: Points) -> FloatArray:
        """Values at the points, (n,)."""
        return self.field(x) + self.levels[x.edge]


@dataclass(frozen=True, eq=False)
class EdgeLevels:
    """One level an edge, constant along it: pipe age, number of lanes, traffic between two ramps."""

    levels: FloatArray  # (n_edges,)

    def __call__(self, x: Points) -> FloatArray:
        """Values at the points, (n,)."""
        return self.levels[x.edge]


def smooth_levels(graph: MetricGraph, seed: int) -> FloatArray:
    """A level for every edge, alike on edges that are near: a field at their middles."""
    drawn = field(graph, 1.0, 0.4, seed)
    middles = Points(np.arange(graph.n_edges), graph.lengths / 2, graph=graph)
    return unit(drawn(middles))


@dataclass(frozen=True, eq=False)
class Queues:
    """Queues before junctions: level_e s^3, s the share of the edge: largest at its head, then it drops."""

    graph: MetricGraph
    levels: FloatArray

    def __call__(self, x: Points) -> FloatArray:
        """Values at the points, (n,)."""
        return self.levels[x.edge] * (x.z / self.graph.lengths[x.edge]) ** 3


@dataclass(frozen=True, eq=False)
class Plume:
    """Concentration in a river: each reach has its load at the tail, decays along it, mixes at its head."""

    graph: MetricGraph
    inflow: FloatArray  # concentration at the tails, (n_edges,)
    decay: float

    def __call__(self, x: Points) -> FloatArray:
        """Values at the points, (n,)."""
        return np.asarray(self.inflow[x.edge] * np.exp(-self.decay * x.z))


def plume(graph: MetricGraph, seed: int, *, sources: int = 3) -> Plume:
    """A few loads let into random reaches at their tails; flow is the number of springs above."""
    rng = np.random.default_rng(seed)
    decay = 3.0 / graph.diameter
    let_in = np.zeros(graph.n_edges)
    let_in[rng.choice(graph.n_edges, sources, replace=False)] = rng.uniform(2.0, 6.0, sources)
    below = {int(tail): edge for edge, tail in enumerate(graph.tails)}  # the reach that leaves a vertex
    flow, load = np.zeros(graph.n_edges), np.zeros(graph.n_edges)
    for edge in _downstream(graph):
        flow[edge] = flow[edge] or 1.0  # a spring
        load[edge] += let_in[edge]
        after = below.get(int(graph.heads[edge]))
        if after is not None:
            flow[after] += flow[edge]
            load[after] += load[edge] * np.exp(-decay * graph.lengths[edge])
    return Plume(graph, load / flow, decay)


def _downstream(graph: MetricGraph) -> IntArray:
    """Reaches in such an order that each comes after all above it: farthest from the mouth first."""
    mouth = graph.vertex_points(np.array([0]))
    far = graph.distance(graph.vertex_points(graph.tails), mouth)[:, 0]
    return np.argsort(-far)
