"""The network itself as search space: a coarse grid, then maxima bracketed between its points."""

from collections.abc import Callable
from dataclasses import KW_ONLY, dataclass, field
from functools import cached_property
from typing import ClassVar

import numpy as np

from netbo.arrays import BoolArray, FloatArray, IntArray
from netbo.checks import explained_class, is_whole
from netbo.errors import ParameterError
from netbo.fem import FiniteElementSpace
from netbo.geometry import MetricGraph, Points, distinct_places, place_keys
from netbo.optimize.intervals import CandidatePieces
from netbo.optimize.search_space import (
    RESOLUTION,
    Forbidden,
    Nodes,
    Scores,
    SearchSpace,
    Surroundings,
    eligible_scores,
    index_of_best,
    require_allowed,
    scores_at,
)

# Narrowing down maxima along edges, all brackets at once: few questions, each at many points.

N_PLACES = 17  # in a bracket, its ends included: a round makes it eight times narrower


@dataclass(frozen=True, slots=True, eq=False)
class Brackets:
    """Stretches of edges, each around a place whose score is larger than at the ends."""

    edge: IntArray
    low: FloatArray
    high: FloatArray

    def __len__(self) -> int:
        return len(self.edge)

    def __getitem__(self, index: IntArray | BoolArray) -> "Brackets":
        return Brackets(self.edge[index], self.low[index], self.high[index])

    def beside(self, off_tail: FloatArray, off_head: FloatArray, lengths: FloatArray) -> "Brackets":
        """Cut so far from the ends of edges: a junction is one place, whichever arm leads there."""
        low = np.maximum(self.low, off_tail[self.edge])
        high = np.minimum(self.high, (lengths - off_head)[self.edge])
        return Brackets(self.edge, low, high)[low < high]

    def places(self, graph: MetricGraph) -> Points:
        """Equally many places in each bracket, from end to end."""
        z = np.linspace(self.low, self.high, N_PLACES, axis=1)
        return Points(np.repeat(self.edge, N_PLACES), z.ravel(), graph=graph)


def refine(
    brackets: Brackets, scores: Scores, graph: MetricGraph, rounds: int | None = None
) -> tuple[Points, float]:
    """The best place found in any of the brackets, and its score; -inf scores are no places.

    Each round asks once, at 17 places a bracket, and goes on between the neighbours of the best of them. A
    bracket is given up when a score concave around its peak could no longer reach the best one. It compares
    scores only, so kinks are found as well as smooth maxima, down to 1e-6 of the edge.
    """
    place, best, done = Points.at([], graph=graph), -np.inf, 0
    while len(brackets) and done != rounds:
        x = brackets.places(graph)
        values = scores(x).reshape(len(brackets), N_PLACES)
        top = np.argmax(values, axis=1)
        peaks = np.take_along_axis(values, top[:, None], axis=1)[:, 0]
        winner = int(np.argmax(peaks))
        if peaks[winner] > best:
            index = winner * N_PLACES + int(top[winner])
            place, best = x[index : index + 1], float(peaks[winner])
        brackets = _narrowed(brackets, x, top)[_is_promising(values, top, peaks, best)]
        brackets = brackets[brackets.high - brackets.low > RESOLUTION * graph.lengths[brackets.edge]]
        done += 1
    return place, best


def _narrowed(brackets: Brackets, x: Points, top: IntArray) -> Brackets:
    z, row = x.z.reshape(len(brackets), N_PLACES), np.arange(len(brackets))
    low, high = z[row, np.maximum(top - 1, 0)], z[row, np.minimum(top + 1, N_PLACES - 1)]
    return Brackets(brackets.edge, low, high)


def _is_promising(values: FloatArray, top: IntArray, peaks: FloatArray, best: float) -> BoolArray:
    """Whether a concave score could exceed the best: by no more than it fell on the other side of its top."""
    row = np.arange(len(values))
    left, right = values[row, np.maximum(top - 1, 0)], values[row, np.minimum(top + 1, N_PLACES - 1)]
    is_place = peaks > -np.inf
    rise = np.full(len(values), -np.inf)
    rise[is_place] = peaks[is_place] - np.minimum(left, right)[is_place]
    return np.asarray(is_place & (peaks + rise >= best))


USUAL_POINTS = 1_000
LEAST_CELLS = 3  # of an edge: two grid points inside it
N_BRACKETS = 24  # peaks of the grid that are narrowed down
BESIDE = 1e-3  # of an edge: how far a point on an arm is from its junction
AT_JUNCTION = 1e-6  # of that: what the junction itself stands for
FORBIDDEN = -1  # in place of the number of a point
LEAST_GAIN = 1e-12  # of the spread of the scores: a place off the grid must gain more than rounding


@explained_class
@dataclass(frozen=True, eq=False)
class Continuum(SearchSpace):
    """Search space of all of the network but what is forbidden: alg:GP-bandits-FEM, its maximum over Gamma.

    A grid of about 1,000 points (or `spacing` apart), at least two inside every edge, shows where the peaks
    are; the best of them are narrowed down to 1e-6 of their edges. Designs and the distribution of the
    maximum use the grid. The result is never worse than the best grid point; a peak that no grid point sees
    is missed, so the grid should resolve the range of the field.

    Parameters
    ----------
    graph : MetricGraph
        The network.
    forbidden : Forbidden
        Where nobody may measure.
    spacing : float, optional
        Of the grid, at most, in the unit of the graph.
    n_points : int
        Of the grid, about, unless its spacing is given.
    n_brackets : int
        Peaks of the grid that are narrowed down.
    rounds : int, optional
        How often they are, each time eight times narrower; by default to 1e-6 of their edges.
    arms : bool
        Whether the grid has a point on every arm of a junction, a thousandth of the edge away from it: values
        may differ from arm to arm, as where streets queue.

    Raises
    ------
    ParameterError
        Everything is forbidden, or the grid is none.

    Examples
    --------
    >>> from netbo import interval
    >>> search = Continuum(interval(2.0))
    >>> found = search.maximize(lambda x: -((x.z - 0.7) ** 2), np.ones(len(search.points), dtype=bool))
    >>> round(found[0].distance, 5)
    0.7
    """

    is_continuous: ClassVar[bool] = True

    graph: MetricGraph
    _: KW_ONLY
    forbidden: Forbidden = field(default_factory=Forbidden)
    spacing: float | None = None  # of the grid, at most; in the unit of the graph
    n_points: int = USUAL_POINTS  # of the grid, about, unless its spacing is given
    n_brackets: int = N_BRACKETS
    rounds: int | None = None
    arms: bool = False
    grid: Nodes = field(init=False, repr=False)
    points: Points = field(init=False, repr=False)
    pieces: CandidatePieces = field(init=False, repr=False)  # halves of the grid's cells, arms apart

    def __post_init__(self) -> None:
        if not is_whole(self.n_points):
            raise ParameterError(f"n_points counts grid points, got {self.n_points!r}; 1000 is usual")
        if self.spacing is not None:
            space = FiniteElementSpace.build(self.graph, max_cell=self.spacing, min_cells=LEAST_CELLS)
        else:
            fewest = self.graph.n_vertices + (LEAST_CELLS - 1) * self.graph.n_edges
            n_nodes = max(int(self.n_points), fewest)
            space = FiniteElementSpace.build(self.graph, n_nodes=n_nodes, min_cells=LEAST_CELLS)
        object.__setattr__(self, "grid", Nodes(space, self.forbidden))
        pieces, points = self.grid.pieces, self.grid.points
        if self.arms:
            pieces, arms = _with_arms(pieces, space, len(points))
            points = Points.concatenate([points, arms])
        object.__setattr__(self, "pieces", pieces)
        object.__setattr__(self, "points", points)

    @property
    def cell_lengths(self) -> FloatArray:
        """Spacing of the grid on each edge, (E,)."""
        return self.grid.space.cell_lengths

    def holds(self, x: Points) -> BoolArray:
        """Whether each point could be asked for: all that are not forbidden, (n,)."""
        return self.forbidden.allows(x)

    def maximize(
        self, scores: Scores, allowed: BoolArray, surroundings: Callable[[], Surroundings] | None = None
    ) -> Points:
        """The place with the largest score; a grid point only if it is allowed.

        Known places become grid points for this once, with one more on either side.
        """
        require_allowed(self.points, allowed)
        around = None if surroundings is None else surroundings()

        def allows(x: Points) -> BoolArray:
            is_allowed = self.forbidden.allows(x)
            return is_allowed if around is None else is_allowed & around.allows(x)

        def fenced(x: Points) -> FloatArray:
            values = scores_at(x, scores)
            return np.where(allows(x) & ~np.isnan(values), values, -np.inf)

        knots = self._knots if around is None else self._knots.with_places(around.known)
        is_open = np.concatenate([allowed, allows(knots.points[len(allowed) :])])
        values = eligible_scores(knots.points, scores, is_open)
        start = index_of_best(values)
        brackets = knots.brackets(np.where(np.isnan(values), -np.inf, values), self.n_brackets)
        if self.arms:
            brackets = brackets.beside(*self._arm_ends, self.graph.lengths)
        place, best = refine(brackets, fenced, self.graph, self.rounds)
        if not best > values[start] + LEAST_GAIN * _spread(values):
            return knots.points[start : start + 1]
        edge, z = place_keys(self.graph, place)
        return Points(edge, z, graph=self.graph)

    def between(self, places: Points) -> tuple[Points, IntArray]:
        """The places, and the middles between them and what lies next to them on the grid."""
        new = self._knots.with_places(places).points[len(self.points) :]
        owner = self.pieces.owners(new)
        return new[owner >= 0], owner[owner >= 0]

    @cached_property
    def _arm_ends(self) -> tuple[FloatArray, FloatArray]:
        """How near maxima are narrowed down to the ends of edges, at dead ends all the way, (E,) each."""
        graph, off = self.graph, _off_junctions(self.grid.space)
        off_tail, off_head = (np.where(graph.degrees[v] > 1, off, 0.0) for v in (graph.tails, graph.heads))
        return off_tail, off_head

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
        source = np.where(kept, np.cumsum(kept) - 1, FORBIDDEN)[node]
        knots = Knots(self.graph, self.grid.points, edge, z, source)
        return knots.with_points(self.points[len(self.grid.points) :])


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
        cut = self.with_points(new)
        is_new = cut.source >= n
        is_cell = (np.diff(cut.edge) == 0) & (is_new[1:] | is_new[:-1])
        is_cell &= np.diff(cut.z) > RESOLUTION * self.graph.lengths[cut.edge[1:]]
        middle = ((cut.z[1:] + cut.z[:-1]) / 2)[is_cell]
        return cut.with_points(Points(cut.edge[1:][is_cell], middle, graph=self.graph))

    def with_points(self, new: Points) -> "Knots":
        """With points that are no knots yet, each in its place along its edge."""
        n = len(self.points)
        edge, z = np.concatenate([self.edge, new.edge]), np.concatenate([self.z, new.z])
        order = np.lexsort((z, edge))
        source = np.concatenate([self.source, np.arange(n, n + len(new))])
        points = Points.concatenate([self.points, new])
        return Knots(self.graph, points, edge[order], z[order], source[order])

    def brackets(self, values: FloatArray, n: int = N_BRACKETS) -> Brackets:
        """From neighbour to neighbour around the highest peaks along edges; at an end, one neighbour."""
        height = np.where(self.source == FORBIDDEN, -np.inf, values[self.source])
        edge, z = self.edge, self.z
        follows = np.diff(edge) == 0
        before = np.concatenate([[-np.inf], np.where(follows, height[:-1], -np.inf)])
        after = np.concatenate([np.where(follows, height[1:], -np.inf), [-np.inf]])
        peaks = np.flatnonzero((height > -np.inf) & (height >= before) & (height >= after))
        order = np.lexsort((-np.maximum(before, after)[peaks], -height[peaks]))
        chosen = peaks[order[:n]]
        low = np.concatenate([[False], follows])[chosen]
        high = np.concatenate([follows, [False]])[chosen]
        return Brackets(edge[chosen], z[chosen - low], z[chosen + high])


def _with_arms(
    pieces: CandidatePieces, space: FiniteElementSpace, n_points: int
) -> tuple[CandidatePieces, Points]:
    """A point on every arm of the junctions, just beside them, and what both stand for.

    It takes over the half of a cell that was the junction's, which is left with next to nothing: what is
    likely on an arm is listed up to the junction. Where that is forbidden there is no point.
    """
    graph = space.graph
    off = _off_junctions(space)
    tail = np.flatnonzero((graph.degrees[graph.tails] > 2)[pieces.edge] & (pieces.start == 0))
    head = (graph.degrees[graph.heads] > 2)[pieces.edge] & (pieces.end == graph.lengths[pieces.edge])
    ends = np.flatnonzero(head)
    off_tail, off_head = off[pieces.edge[tail]], off[pieces.edge[ends]]
    wide, far = pieces.end[tail] > off_tail, pieces.start[ends] < pieces.end[ends] - off_head
    tail, off_tail, ends, off_head = tail[wide], off_tail[wide], ends[far], off_head[far]
    start, end = pieces.start.copy(), pieces.end.copy()
    own_tail, own_head = AT_JUNCTION * off_tail, AT_JUNCTION * off_head
    end[tail], start[ends] = own_tail, pieces.end[ends] - own_head
    split = np.concatenate([tail, ends])
    arms = Points(pieces.edge[split], np.concatenate([off_tail, pieces.end[ends] - off_head]), graph=graph)
    parts = (
        (pieces.owner, n_points + np.arange(len(split))),
        (pieces.edge, pieces.edge[split]),
        (start, np.concatenate([own_tail, pieces.start[ends]])),
        (end, np.concatenate([pieces.end[tail], pieces.end[ends] - own_head])),
    )
    return CandidatePieces(*(np.concatenate(each) for each in parts)), arms


def _off_junctions(space: FiniteElementSpace) -> FloatArray:
    """How far from a junction the point on an arm is, (E,)."""
    return np.minimum(BESIDE * space.graph.lengths, space.cell_lengths / 4)


def _spread(values: FloatArray) -> float:
    """Distance of the largest score from the middle one, of those that are finite."""
    finite = values[np.isfinite(values)]
    return float(finite.max() - np.median(finite)) if finite.size else 0.0
