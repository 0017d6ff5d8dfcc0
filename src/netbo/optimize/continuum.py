"""The network itself as the place to look: a coarse grid, then maxima narrowed down between its points."""

from dataclasses import KW_ONLY, dataclass, field
from functools import cached_property

import numpy as np

from netbo.arrays import BoolArray, FloatArray, IntArray
from netbo.errors import ParameterError
from netbo.fem import FiniteElementSpace
from netbo.geometry import MetricGraph, Points, distinct_places, place_keys
from netbo.optimize.candidates import (
    Forbidden,
    Nodes,
    Scores,
    SearchSpace,
    eligible_scores,
    index_of_best,
    require_allowed,
    scores_at,
)
from netbo.optimize.intervals import Pieces
from netbo.optimize.refining import Brackets, refine
from netbo.optimize.surroundings import RESOLUTION, Surroundings

USUAL_POINTS = 1_000
LEAST_CELLS = 3  # of an edge: two grid points inside it
N_BRACKETS = 24  # peaks of the grid that are narrowed down
FORBIDDEN = -1  # in place of the number of a point
LEAST_GAIN = 1e-12  # of the spread of the scores: a place off the grid must gain more than rounding


@dataclass(frozen=True, eq=False)
class Continuum(SearchSpace):
    """All of the network but what is forbidden: alg:GP-bandits-FEM with its maximum over Gamma.

    A grid of about 1,000 points (or `spacing` apart), at least two inside every edge, shows where the peaks
    are; the best of them are narrowed down to 1e-6 of their edges. Designs and the distribution of the
    maximum use the grid. The result is never worse than the best grid point; a peak that no grid point sees
    is missed, so the grid should resolve the range of the field.

    >>> from netbo import interval
    >>> search = Continuum(interval(2.0))
    >>> found = search.maximize(lambda x: -((x.z - 0.7) ** 2), np.ones(len(search.points), dtype=bool))
    >>> round(found[0].distance, 5)
    0.7
    """

    graph: MetricGraph
    _: KW_ONLY
    forbidden: Forbidden = field(default_factory=Forbidden)
    spacing: float | None = None  # of the grid, at most; in the unit of the graph
    n_points: int = USUAL_POINTS  # of the grid, about, unless its spacing is given
    grid: Nodes = field(init=False, repr=False)
    points: Points = field(init=False, repr=False)

    def __post_init__(self) -> None:
        if isinstance(self.n_points, bool) or not isinstance(self.n_points, int | np.integer):
            raise ParameterError(f"n_points counts grid points, got {self.n_points!r}; 1000 is usual")
        if self.spacing is not None:
            space = FiniteElementSpace.build(self.graph, max_cell=self.spacing, min_cells=LEAST_CELLS)
        else:
            fewest = self.graph.n_vertices + (LEAST_CELLS - 1) * self.graph.n_edges
            n_nodes = max(int(self.n_points), fewest)
            space = FiniteElementSpace.build(self.graph, n_nodes=n_nodes, min_cells=LEAST_CELLS)
        object.__setattr__(self, "grid", Nodes(space, self.forbidden))
        object.__setattr__(self, "points", self.grid.points)

    @cached_property
    def pieces(self) -> Pieces:  # type: ignore[override]
        """Halves of the grid's cells at each of its points, without what is forbidden."""
        return self.grid.pieces

    @property
    def cell_lengths(self) -> FloatArray:
        """Spacing of the grid on each edge, (E,)."""
        return self.grid.space.cell_lengths

    def maximize(
        self, scores: Scores, allowed: BoolArray, surroundings: Surroundings | None = None
    ) -> Points:
        """The place with the largest score; a grid point only if it is allowed.

        surroundings: known places become grid points for this once, with one more on either side; places that
        are closed are left out.
        """
        require_allowed(self.points, allowed)

        def allows(x: Points) -> BoolArray:
            is_allowed = self.forbidden.allows(x)
            return is_allowed if surroundings is None else is_allowed & surroundings.allows(x)

        def fenced(x: Points) -> FloatArray:
            values = scores_at(x, scores)
            return np.where(allows(x) & ~np.isnan(values), values, -np.inf)

        knots = self._knots if surroundings is None else self._knots.with_places(surroundings.known)
        is_open = np.concatenate([allowed, allows(knots.points[len(allowed) :])])
        values = eligible_scores(knots.points, scores, is_open)
        start = index_of_best(values)
        brackets = knots.brackets(np.where(np.isnan(values), -np.inf, values))
        place, best = refine(brackets, fenced, self.graph)
        if not best > values[start] + LEAST_GAIN * _spread(values):
            return knots.points[start : start + 1]
        edge, z = place_keys(self.graph, place)
        return Points(edge, z, graph=self.graph)

    @cached_property
    def _knots(self) -> "Knots":
        """The grid along every edge, from its tail to its head."""
        space, graph = self.grid.space, self.graph
        edge = np.repeat(np.arange(graph.n_edges), space.cells + 1)
        position = np.arange(len(edge)) - (np.cumsum(space.cells + 1) - space.cells - 1)[edge]
        is_head = position == space.cells[edge]
        node = graph.n_vertices + space.topology.offsets[edge] + position - 1
        node = np.where(position == 0, graph.tails[edge], np.where(is_head, graph.heads[edge], node))
        z = np.where(is_head, graph.lengths[edge], position * space.cell_lengths[edge])
        kept = self.forbidden.allows(space.nodes)
        return Knots(self.graph, self.points, edge, z, np.where(kept, np.cumsum(kept) - 1, FORBIDDEN)[node])


@dataclass(frozen=True, slots=True, eq=False)
class Knots:
    """Points in their order along every edge; a vertex is one point and a knot of each edge it ends."""

    graph: MetricGraph
    points: Points
    edge: IntArray
    z: FloatArray
    source: IntArray  # number of the point at each knot, or FORBIDDEN

    def with_places(self, places: Points) -> "Knots":
        """With more knots: the places, and the middles of the cells they end."""
        n = len(self.points)
        together = Points.concatenate([self.points, self.graph.bind(places)])
        found = distinct_places(self.graph, together)
        new = together[found[found >= n]]
        if not len(new):
            return self
        cut = self._with(new)
        is_new = cut.source >= n
        is_cell = (np.diff(cut.edge) == 0) & (is_new[1:] | is_new[:-1])
        is_cell &= np.diff(cut.z) > RESOLUTION * self.graph.lengths[cut.edge[1:]]
        middle = ((cut.z[1:] + cut.z[:-1]) / 2)[is_cell]
        return cut._with(Points(cut.edge[1:][is_cell], middle, graph=self.graph))

    def _with(self, new: Points) -> "Knots":
        n = len(self.points)
        edge, z = np.concatenate([self.edge, new.edge]), np.concatenate([self.z, new.z])
        order = np.lexsort((z, edge))
        source = np.concatenate([self.source, np.arange(n, n + len(new))])
        points = Points.concatenate([self.points, new])
        return Knots(self.graph, points, edge[order], z[order], source[order])

    def brackets(self, values: FloatArray) -> Brackets:
        """From neighbour to neighbour around the highest peaks along edges; at an end, one neighbour."""
        height = np.where(self.source == FORBIDDEN, -np.inf, values[self.source])
        edge, z = self.edge, self.z
        follows = np.diff(edge) == 0
        before = np.concatenate([[-np.inf], np.where(follows, height[:-1], -np.inf)])
        after = np.concatenate([np.where(follows, height[1:], -np.inf), [-np.inf]])
        peaks = np.flatnonzero((height > -np.inf) & (height >= before) & (height >= after))
        order = np.lexsort((-np.maximum(before, after)[peaks], -height[peaks]))
        chosen = peaks[order[:N_BRACKETS]]
        low = np.concatenate([[False], follows])[chosen]
        high = np.concatenate([follows, [False]])[chosen]
        return Brackets(edge[chosen], z[chosen - low], z[chosen + high])


def _spread(values: FloatArray) -> float:
    """Distance of the largest score from the middle one, of those that are finite."""
    finite = values[np.isfinite(values)]
    return float(finite.max() - np.median(finite)) if finite.size else 0.0
