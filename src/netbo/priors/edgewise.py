"""Fields known edge by edge: a level of each edge, alike on near ones, and a profile along it that all share.

For what is constant along an edge, such as age or lanes, or follows the way it runs, such as queues before
junctions: values jump from one edge to the next however near the places are.
"""

import math
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Self

import numpy as np

from netbo.arrays import FloatArray
from netbo.checks import explained, require_positive
from netbo.errors import ParameterError
from netbo.geometry import MetricGraph, Points
from netbo.priors.base import KernelPrior
from netbo.priors.matern import Matern
from netbo.priors.whittle_matern import whittle_matern

LARGEST_NETWORK = 700  # edges: a table of levels has as many numbers as there are pairs of them
LEVELS_ALPHA = 0.5  # of the field whose values at the middles of edges are the levels: nu = 1/2
PROFILE_NU = 1.5  # of the profile along an edge
RANGES = np.geomspace(0.01, 10.0, 14)  # of tables, in diameters: where fits look


@dataclass(frozen=True, eq=False)
class Levels:
    """Correlations of the levels of all edges at some ranges; made when asked for, then kept."""

    graph: MetricGraph
    _known: dict[int, FloatArray] = field(default_factory=dict, repr=False)

    def __reduce__(self) -> tuple[type["Levels"], tuple[MetricGraph]]:
        return Levels, (self.graph,)  # a copy starts empty: tables are quickly made

    @cached_property
    def _middles(self) -> Points:
        graph = self.graph
        return Points(np.arange(graph.n_edges), graph.lengths / 2, graph=graph)

    def _table(self, index: int) -> FloatArray:
        if index not in self._known:
            matern = Matern(LEVELS_ALPHA, range=RANGES[index] * self.graph.diameter, sigma=1.0)
            exact = whittle_matern(self.graph, matern, constant_variance=True)
            self._known[index] = exact.covariance(self._middles, self._middles)
        return self._known[index]

    def about(self, range_: float) -> tuple[FloatArray, FloatArray, float, float]:
        """The tables of the next shorter and longer range, the share of the latter, and how fast it grows."""
        logs, at = np.log(RANGES), math.log(range_ / self.graph.diameter)
        low = int(np.clip(np.searchsorted(logs, at, side="right") - 1, 0, len(logs) - 2))
        growth = 1 / (logs[low + 1] - logs[low])
        share = growth * (at - logs[low])
        if not 0 <= share <= 1:  # beyond the tables nothing changes any more
            share, growth = np.clip(share, 0.0, 1.0), 0.0
        return self._table(low), self._table(low + 1), float(share), float(growth)


@dataclass(frozen=True, eq=False)
class EdgewisePrior(KernelPrior):
    """sigma^2 times the correlation of two edges' levels times that of the shares of their edges.

    The levels are an exact field of alpha 1/2 at the middles of the edges, divided by its standard deviation.
    Between the ranges of a table their correlation is linear in log range, so it stays one. Shares are
    counted from the tail: which way an edge runs makes a difference.
    """

    graph: MetricGraph
    range: float
    sigma: float
    profile: float  # range along an edge, as a share of it
    levels: Levels = field(repr=False)

    @property
    def matern(self) -> Matern:
        """The field whose values at the middles are the levels."""
        return Matern(LEVELS_ALPHA, range=self.range, sigma=self.sigma)

    def rescaled(self, *, range: float | None = None, sigma: float | None = None) -> Self:  # noqa: A002
        """The same prior with another range of the levels, another sigma, or both."""
        return replace(
            self, range=self.range if range is None else range, sigma=self.sigma if sigma is None else sigma
        )

    def _along(self, x: Points, y: Points) -> FloatArray:
        """sigma^2 times the correlation of the shares, (n, m)."""
        at, other = (each.z / self.graph.lengths[each.edge] for each in (x, y))
        far = math.sqrt(8 * PROFILE_NU) / self.profile * np.abs(at[:, None] - other)
        return self.sigma**2 * (1 + far) * np.exp(-far)

    def covariance(self, x: Points, y: Points) -> FloatArray:
        """k(x, y), (n, m)."""
        shorter, longer, share, _ = self.levels.about(self.range)
        pairs = np.ix_(x.edge, y.edge)
        return ((1 - share) * shorter[pairs] + share * longer[pairs]) * self._along(x, y)

    def variance(self, x: Points) -> FloatArray:
        """sigma^2, (n,)."""
        return np.full(len(self.graph.bind(x)), self.sigma**2)

    def range_derivative(self, x: Points, y: Points) -> FloatArray:
        """d k(x, y) / d log range at fixed sigma, (n, m); at the range of a table, towards longer ones."""
        shorter, longer, _, growth = self.levels.about(self.range)
        pairs = np.ix_(x.edge, y.edge)
        return growth * (longer[pairs] - shorter[pairs]) * self._along(x, y)

    def range_derivative_of_variance(self, x: Points) -> FloatArray:
        """Zero, (n,)."""
        return np.zeros(len(x))


@explained
def edgewise_matern(
    graph: MetricGraph,
    *,
    range: float,  # noqa: A002
    sigma: float = 1.0,
    profile: float = 1.0,
) -> EdgewisePrior:
    """The prior of a level for each edge times a profile along it that all edges share.

    Parameters
    ----------
    graph : MetricGraph
        Of at most 700 edges.
    range : float
        Distance along the network at which levels of edges have little in common.
    sigma : float, default 1.0
        Standard deviation.
    profile : float, default 1.0
        Share of an edge over which values change; large makes them constant along it.

    Returns
    -------
    EdgewisePrior
        Dense: its posterior grows with the number of observations.

    Raises
    ------
    ParameterError
        If a number is not positive and finite, or the network has more edges.

    Examples
    --------
    >>> import netbo
    >>> graph = netbo.star(3)
    >>> prior = netbo.edgewise_matern(graph, range=1.0)
    >>> hub = graph.points([0, 1], [0.0, 0.0])  # the same place, but of two edges
    >>> bool(prior.covariance(hub, hub)[0, 1] < 0.5)
    True
    """
    for name, value in (("range", range), ("sigma", sigma), ("profile", profile)):
        require_positive(name, value, "try the diameter / 4, 1 and 1")
    if graph.n_edges > LARGEST_NETWORK:
        raise ParameterError(
            f"a prior edge by edge is dense, at most {LARGEST_NETWORK} edges, got {graph.n_edges}; "
            "use whittle_matern with a junction_gap, which lets values jump at junctions, too"
        )
    return EdgewisePrior(graph, float(range), float(sigma), float(profile), Levels(graph))
