"""Where the optimizer may look: the nodes of a mesh, or places of the user's own."""

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np

from netbo.arrays import BoolArray, FloatArray, read_only, sum_by
from netbo.errors import NumericalError, ParameterError
from netbo.fem import FiniteElementSpace
from netbo.geometry import MetricGraph, Points, distinct_places
from netbo.optimize.forbidden import Forbidden
from netbo.optimize.intervals import Pieces

__all__ = ["Forbidden", "Nodes", "Places", "Scores", "SearchSpace", "best_point"]

Scores = Callable[[Points], FloatArray]


class SearchSpace(ABC):
    """The places among which the next measurement is chosen."""

    graph: MetricGraph
    points: Points  # candidates, bound to the graph: every rule is evaluated on them
    pieces: Pieces  # of the network each candidate stands for, without what is forbidden

    @cached_property
    def weights(self) -> FloatArray:
        """Length of network that each candidate stands for, (n,); 0 for single places."""
        return read_only(sum_by(self.pieces.owner, self.pieces.lengths, len(self.points)))

    @abstractmethod
    def maximize(self, scores: Scores, allowed: BoolArray) -> Points:
        """The one point where the scores are largest; only allowed candidates are considered."""


@dataclass(frozen=True, eq=False)
class Nodes(SearchSpace):
    """The nodes of a mesh, each standing for the halves of its cells.

    Forbidden nodes are left out, and forbidden stretches are cut off the cells. What a forbidden node would
    have stood for belongs to nobody: at most half a cell beside each forbidden stretch.
    """

    space: FiniteElementSpace
    forbidden: Forbidden = field(default_factory=Forbidden)
    graph: MetricGraph = field(init=False, repr=False)
    points: Points = field(init=False, repr=False)

    def __post_init__(self) -> None:
        nodes = self.space.nodes
        object.__setattr__(self, "graph", self.space.graph)
        object.__setattr__(self, "points", _allowed_points(nodes, self.forbidden))

    @cached_property
    def pieces(self) -> Pieces:  # type: ignore[override]
        """Halves of the cells at each node, without what is forbidden."""
        halves = half_cells(self.space)
        if self.forbidden.is_empty:
            return halves
        kept = self.forbidden.allows(self.space.nodes)
        number = np.cumsum(kept) - 1  # of the nodes that are left
        clipped = halves[kept[halves.owner]].within(
            self.forbidden.intervals(self.graph).complement(self.graph)
        )
        return Pieces(number[clipped.owner], clipped.edge, clipped.start, clipped.end)

    def maximize(self, scores: Scores, allowed: BoolArray) -> Points:
        """The allowed node with the largest score."""
        return best_point(self.points, scores, allowed)


@dataclass(frozen=True, eq=False)
class Places(SearchSpace):
    """Places of your own, such as hydrants or detectors; they stand for themselves only.

    Several points at one place are merged into the first of them, so `points` may be fewer than were given.
    """

    graph: MetricGraph
    points: Points
    forbidden: Forbidden = field(default_factory=Forbidden)

    def __post_init__(self) -> None:
        given = self.graph.bind(self.points)
        if not len(given):
            raise ParameterError("a search needs at least one place, got none; pass some points")
        distinct = given[distinct_places(self.graph, given)]
        object.__setattr__(self, "points", _allowed_points(distinct, self.forbidden))

    @cached_property
    def pieces(self) -> Pieces:  # type: ignore[override]
        """The places themselves, without length."""
        z = self.points.z
        return Pieces(np.arange(len(z)), self.points.edge, z, z)

    def maximize(self, scores: Scores, allowed: BoolArray) -> Points:
        """The allowed place with the largest score."""
        return best_point(self.points, scores, allowed)


def best_point(points: Points, scores: Scores, allowed: BoolArray) -> Points:
    """The allowed point with the largest score, the first of equals; NaN never wins."""
    require_allowed(points, allowed)
    best = index_of_best(eligible_scores(points, scores, allowed))
    return points[best : best + 1]


def index_of_best(values: FloatArray) -> int:
    """Index of the largest number, the first of equals, be it -inf; NaN is none."""
    eligible = np.flatnonzero(~np.isnan(values))
    return int(eligible[np.argmax(values[eligible])])


def require_allowed(points: Points, allowed: BoolArray) -> None:
    """Refuse a search that may go nowhere."""
    if len(allowed) != len(points) or not np.any(allowed):
        raise ParameterError(
            f"one of the {len(points)} candidates must be allowed, got {np.count_nonzero(allowed)} of "
            f"{len(allowed)}; refine the mesh or allow repeated queries"
        )


def eligible_scores(points: Points, scores: Scores, allowed: BoolArray) -> FloatArray:
    """The scores, NaN where a point is not allowed; one of them is a number."""
    values = scores_at(points, scores)
    eligible: FloatArray = np.where(allowed, values, np.nan)
    if np.isnan(eligible).all():
        raise NumericalError(
            f"the scores of all {np.count_nonzero(allowed)} allowed candidates are NaN; "
            "check the parameters of the prior and the noise"
        )
    return eligible


def scores_at(points: Points, scores: Scores) -> FloatArray:
    """One score for each point, or an error."""
    values = np.asarray(scores(points), dtype=np.float64)
    if values.shape != (len(points),):
        raise ParameterError(
            f"scores must be one number for each of {len(points)} points, got shape {values.shape}; "
            "return a vector"
        )
    return values


def half_cells(space: FiniteElementSpace) -> Pieces:
    """Both halves of every cell, each with the node at its end."""
    left, right, h = space.cell_ends
    edge = np.repeat(np.arange(space.graph.n_edges), space.cells)
    position = np.arange(len(edge)) - (np.cumsum(space.cells) - space.cells)[edge]
    start, middle = position * h, (position + 0.5) * h
    end = np.where(position == space.cells[edge] - 1, space.graph.lengths[edge], (position + 1) * h)
    return Pieces(
        np.concatenate([left, right]),
        np.concatenate([edge, edge]),
        np.concatenate([start, middle]),
        np.concatenate([middle, end]),
    )


def _allowed_points(points: Points, forbidden: Forbidden) -> Points:
    if forbidden.is_empty:
        return points
    is_allowed = forbidden.allows(points)
    if not is_allowed.any():
        raise ParameterError(f"all {len(points)} candidates are forbidden; forbid less or refine the mesh")
    return points[is_allowed]
