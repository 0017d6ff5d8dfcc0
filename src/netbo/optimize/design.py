"""Initial designs: where to measure before there is a model."""

from dataclasses import dataclass, field
from enum import Enum
from typing import Protocol, runtime_checkable

import numpy as np
from numpy.random import Generator

from netbo.arrays import BoolArray, FloatArray, IntArray
from netbo.checks import explained_class
from netbo.errors import GraphError, ParameterError
from netbo.geometry import MetricGraph, Points, mean_distances

USUAL_SIZE, LARGEST_SIZE = 8, 32  # measurements of a design nobody chose; few against usual budgets
FEWER = (
    5  # of a k-median design: a model that doubts itself learns more from the next three than a design does
)


class Metric(Enum):
    """Which distance a design spreads its places in."""

    GEODESIC = "geodesic"  # along the network
    EUCLIDEAN = "euclidean"  # straight, in the drawing


@runtime_checkable
class Design(Protocol):
    """A rule for the first measurements; it remembers nothing, so a study can be resumed anywhere."""

    @property
    def size(self) -> int:
        """How many places it chooses."""

    def next(
        self, graph: MetricGraph, candidates: Points, known: Points, allowed: BoolArray, rng: Generator
    ) -> int:
        """Index of the candidate to measure next, given the places measured, failed or pending."""


def default_size(graph: MetricGraph, usual: int = USUAL_SIZE) -> int:
    """The usual size, or one place for every component if there are more, but at most 32."""
    return min(max(usual, graph.n_components), LARGEST_SIZE)


@explained_class
@dataclass(frozen=True)
class RandomDesign:
    """Initial design of independent places, each allowed candidate equally likely.

    Parameters
    ----------
    size : int
        How many places.

    Examples
    --------
    >>> import netbo
    >>> netbo.Optimizer(netbo.interval(2.0), design=RandomDesign(4)).design.size
    4
    """

    size: int = USUAL_SIZE

    def __post_init__(self) -> None:
        _require_size(self.size)

    def next(
        self, graph: MetricGraph, candidates: Points, known: Points, allowed: BoolArray, rng: Generator
    ) -> int:
        """A random allowed candidate."""
        return _pick(_require_allowed(candidates, allowed), rng)


class _Memory:
    """Distances of the last candidates from the last known places: saves work, changes no result.

    The minimum over places does not depend on their order, and each place's distances are computed alone, so
    folding a new place into the old minimum gives the same numbers as starting afresh.
    """

    def __init__(self) -> None:
        self._last: tuple[MetricGraph, Points, Metric, frozenset[tuple[int, float]], FloatArray] | None = None

    def __reduce__(self) -> tuple[type["_Memory"], tuple[()]]:
        return _Memory, ()  # a copy starts empty: the arrays need not travel

    def cover(self, graph: MetricGraph, candidates: Points, known: Points, metric: Metric) -> FloatArray:
        """Distance of each candidate from the nearest known place, (n,)."""
        places = frozenset(zip(known.edge.tolist(), known.z.tolist(), strict=True))
        folded: frozenset[tuple[int, float]] = frozenset()
        cover = np.full(len(candidates), np.inf)
        last = self._last
        if last and last[0] is graph and last[1] is candidates and last[2] is metric and last[3] <= places:
            folded, cover = last[3:]
        for edge, z in places - folded:
            place = Points(np.array([edge]), np.array([z]), graph=graph)
            cover = np.minimum(cover, _distances(graph, place, candidates, metric))
        self._last = graph, candidates, metric, places, cover
        return cover


@explained_class
@dataclass(frozen=True)
class Maximin:
    """Maximin design: each place is the allowed candidate farthest from all known ones (rmk:maximin design).

    The first is random. In geodesic distance components without a known place are infinitely far and come
    first, those of larger total length before others, each with a random candidate. After n places no
    candidate is farther from them than twice what the best n places allow.

    Parameters
    ----------
    size : int
        How many places.
    metric : Metric
        Distance along the network, or straight in the drawing.

    Examples
    --------
    >>> import netbo
    >>> netbo.Optimizer(netbo.interval(2.0), design=Maximin(4, Metric.EUCLIDEAN)).design.size
    4
    """

    size: int = USUAL_SIZE
    metric: Metric = Metric.GEODESIC
    _memory: _Memory = field(default_factory=_Memory, init=False, repr=False, compare=False, hash=False)

    def __post_init__(self) -> None:
        _require_size(self.size)

    def next(
        self, graph: MetricGraph, candidates: Points, known: Points, allowed: BoolArray, rng: Generator
    ) -> int:
        """The allowed candidate farthest from the known places, the first of equals."""
        eligible = _require_allowed(candidates, allowed)
        if self.metric is Metric.EUCLIDEAN and graph.dimension is None:
            raise GraphError(
                "a Euclidean design needs places, got a graph without coordinates; take Metric.GEODESIC"
            )
        if not len(known):
            return _pick(eligible, rng)
        cover = self._memory.cover(graph, candidates, known, self.metric)
        farness = cover[eligible]
        if np.isinf(farness.max()):
            return _pick(_largest_unvisited(graph, candidates, eligible[np.isinf(farness)]), rng)
        return int(eligible[np.argmax(farness)])


@explained_class
@dataclass(frozen=True)
class KMedian:
    """Greedy k-median design: each place makes the mean distance from the network to the nearest one least.

    Unlike maximin, which goes to the dead ends, it stands where most of the length is near. A place is the
    best of some random allowed candidates, uniform in length, by the distances of random points to it and to
    the known places. Components without one count as two diameters away.

    Parameters
    ----------
    size : int
        How many places.

    Examples
    --------
    >>> import netbo
    >>> netbo.Optimizer(netbo.interval(2.0), design=KMedian(4)).design.size
    4
    """

    size: int = FEWER

    def __post_init__(self) -> None:
        _require_size(self.size)

    def next(
        self, graph: MetricGraph, candidates: Points, known: Points, allowed: BoolArray, rng: Generator
    ) -> int:
        """The allowed candidate that brings the network nearest, of a random shortlist."""
        eligible = _require_allowed(candidates, allowed)
        shortlist, far = mean_distances(graph, candidates, known, eligible, rng)
        return int(shortlist[np.argmin(far)])


def _distances(graph: MetricGraph, place: Points, candidates: Points, metric: Metric) -> FloatArray:
    if metric is Metric.GEODESIC:
        along: FloatArray = graph.distance(place, candidates)[0]
        return along
    straight: FloatArray = np.linalg.norm(graph.embed(candidates) - graph.embed(place), axis=1)
    return straight


def _largest_unvisited(graph: MetricGraph, candidates: Points, unvisited: IntArray) -> IntArray:
    """Of the candidates in components without a known place, those in the longest component."""
    length = np.bincount(graph.components[graph.tails], graph.lengths)
    component = graph.component_of(candidates[unvisited])
    return np.asarray(unvisited[component == component[np.argmax(length[component])]])


def _pick(indices: IntArray, rng: Generator) -> int:
    return int(indices[rng.integers(len(indices))])


def _require_size(size: int) -> None:
    if size < 1:
        raise ParameterError(f"a design needs at least one measurement, got size={size}; 8 is usual")


def _require_allowed(candidates: Points, allowed: BoolArray) -> IntArray:
    eligible = np.flatnonzero(allowed)
    if len(allowed) != len(candidates) or not eligible.size:
        raise ParameterError(
            f"a design needs an allowed candidate, got {len(eligible)} allowed of {len(candidates)}; "
            "allow repeated queries or refine the mesh"
        )
    return eligible
