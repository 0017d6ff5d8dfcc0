"""The way to the next place: what it costs whoever measures, and how far they can go."""

from dataclasses import dataclass

import numpy as np

from netbo.arrays import BoolArray, FloatArray
from netbo.errors import ExhaustedError, ParameterError
from netbo.geometry import MetricGraph, Point, Points
from netbo.optimize.search_space import Scores


@dataclass(frozen=True, slots=True)
class Travel:
    """Whoever measures next comes from `start` along the network.

    A place at distance d is worth its score minus cost * d; places farther than `radius`, and those that
    cannot be reached, are closed. Initial designs have no scores, so they obey the radius alone.

    >>> import netbo
    >>> graph = netbo.interval(10.0)
    >>> near = Travel(graph.points(0, 2.0)[0], radius=1.0)
    >>> abs(netbo.Optimizer(graph, seed=0).ask(travel=near).point.distance - 2.0) <= 1.0
    True
    """

    start: Point
    cost: float = 0.0  # of one unit of length, in the unit of the scores
    radius: float | None = None  # in the unit of the graph

    def __post_init__(self) -> None:
        if not 0 <= self.cost < np.inf:
            raise ParameterError(
                f"cost must be a score for each unit of length, not negative, got {self.cost}; "
                "0 lets distances count for nothing"
            )
        if self.radius is not None and not 0 < self.radius < np.inf:
            raise ParameterError(f"radius must be a positive length, got {self.radius}; None goes anywhere")

    def distances(self, x: Points, graph: MetricGraph) -> FloatArray:
        """Length of the way to each point, (n,); infinite in other components."""
        way: FloatArray = graph.distance(Points.at(self.start, graph=graph), x)[0]
        return way

    def reaches(self, x: Points, graph: MetricGraph) -> BoolArray:
        """Whether each point can be reached and is within the radius."""
        way = self.distances(x, graph)
        return np.isfinite(way) if self.radius is None else way <= self.radius

    def restrict(self, is_open: BoolArray, candidates: Points, graph: MetricGraph) -> BoolArray:
        """The open candidates within reach."""
        near: BoolArray = is_open & self.reaches(candidates, graph)
        if not near.any():
            within = "" if self.radius is None else f" within {self.radius:g}"
            raise ExhaustedError(
                f"no open candidate can be reached from edge {self.start.edge_id!r}, "
                f"{self.start.distance:.6g}{within}; raise the radius or start elsewhere"
            )
        return near

    def charge(self, scores: Scores, graph: MetricGraph) -> Scores:
        """The scores minus what the way costs; -inf beyond reach."""

        def charged(x: Points) -> FloatArray:
            way = self.distances(x, graph)
            reached = np.isfinite(way) if self.radius is None else way <= self.radius
            return np.where(reached, scores(x) - self.cost * np.where(reached, way, 0.0), -np.inf)

        return charged
