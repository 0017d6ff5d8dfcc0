"""Fields known edge by edge: a level of each edge, alike on near ones, and a profile along it that all share.

For what is constant along an edge, such as age or lanes, or follows the way it runs, such as queues before
junctions: values jump from one edge to the next however near the places are.
"""

import math
from bisect import bisect_right
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, Self

import numpy as np

from netbo.arrays import FloatArray
from netbo.checks import explained, require_positive
from netbo.errors import ParameterError
from netbo.geometry import MetricGraph, Points
from netbo.linalg import BlockFactor, hyperbolic_elements
from netbo.priors.base import KernelPrior
from netbo.priors.matern import Matern
from netbo.priors.mesh_free import mesh_through

LARGEST_NETWORK = 700  # edges: a table of levels has as many numbers as there are pairs of them
MOST_KEPT = 1_000  # points whose pairs are kept
LEVELS_ALPHA = 0.5  # of the field whose values at the middles of edges are the levels: nu = 1/2
PROFILE_NU = 1.5  # of the profile along an edge
RANGES = np.geomspace(0.01, 10.0, 14)  # of tables, in diameters: where fits look
LOG_RANGES = np.log(RANGES).tolist()


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

    def table(self, index: int) -> FloatArray:
        """Correlations at one of the ranges, (E, E)."""
        if index not in self._known:
            matern = Matern(LEVELS_ALPHA, range=RANGES[index] * self.graph.diameter, sigma=1.0)
            covariance = self._covariance(matern.kappa)
            sd = np.sqrt(covariance.diagonal())
            self._known[index] = covariance / np.multiply.outer(sd, sd)
        return self._known[index]

    def _covariance(self, kappa: float) -> FloatArray:
        """K^-1 at the middles, (E, E).

        From the system of p = 2, whose kernels a search compiles anyway: S (0, K^-1 b) = (b, 0).
        """
        mesh = mesh_through(self.graph, (self._middles,))
        factor = BlockFactor(mesh.topology, hyperbolic_elements(kappa * mesh.cell_lengths, 2), 2)
        n, at = self.graph.n_edges, mesh.locate(self._middles)
        middle = np.where(at.fraction < 0.5, at.left, at.right)
        sources = np.zeros((n, mesh.n_nodes, 2))
        sources[np.arange(n), middle, 0] = 1.0
        covariance = factor.solve(sources)[:, middle, 1]
        return np.asarray((covariance + covariance.T) / 2)

    def near(self, range_: float) -> tuple[int, float, float]:
        """Number of the table of the next shorter range, the share of the next one, and how fast it grows."""
        at = math.log(range_ / self.graph.diameter)
        low = min(max(bisect_right(LOG_RANGES, at) - 1, 0), len(LOG_RANGES) - 2)
        growth = 1 / (LOG_RANGES[low + 1] - LOG_RANGES[low])
        share = growth * (at - LOG_RANGES[low])
        if not 0 <= share <= 1:  # beyond the tables nothing changes any more
            return low, min(max(share, 0.0), 1.0), 0.0
        return low, share, growth


@dataclass(frozen=True, eq=False)
class Pairs:
    """What pairs of points have to do with each other, whatever range and sigma."""

    levels: Levels
    x: Points
    y: Points
    profile: float
    _known: dict[int, FloatArray] = field(default_factory=dict, repr=False)

    def among(self, range_: float) -> tuple[FloatArray, FloatArray, float, float]:
        """Correlations at the next shorter and longer range, (n, m), and what `Levels.near` says."""
        low, share, growth = self.levels.near(range_)
        return self._correlations(low), self._correlations(low + 1), share, growth

    def _correlations(self, index: int) -> FloatArray:
        if index not in self._known:
            self._known[index] = self.levels.table(index)[np.ix_(self.x.edge, self.y.edge)]
        return self._known[index]

    @cached_property
    def along(self) -> FloatArray:
        """Correlation of the shares of their edges, (n, m)."""
        lengths = self.levels.graph.lengths
        at, other = (each.z / lengths[each.edge] for each in (self.x, self.y))
        far = np.subtract.outer(at, other)
        np.abs(far, out=far)
        far *= math.sqrt(8 * PROFILE_NU) / self.profile
        falling = np.exp(-far)
        far += 1
        far *= falling
        return np.asarray(far)


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
    _latest: list[Pairs] = field(default_factory=list, repr=False)  # of one set with itself, if it is small

    def __reduce__(self) -> tuple[type["EdgewisePrior"], tuple[Any, ...]]:
        return EdgewisePrior, (self.graph, self.range, self.sigma, self.profile, self.levels)

    @property
    def matern(self) -> Matern:
        """The field whose values at the middles are the levels."""
        return Matern(LEVELS_ALPHA, range=self.range, sigma=self.sigma)

    def rescaled(self, *, range: float | None = None, sigma: float | None = None) -> Self:  # noqa: A002
        """The same prior with another range of the levels, another sigma, or both."""
        return replace(
            self, range=self.range if range is None else range, sigma=self.sigma if sigma is None else sigma
        )

    def _pairs(self, x: Points, y: Points) -> Pairs:
        """The pairs of points; those of observations are kept, since a fit asks again and again."""
        kept = self._latest
        if kept and kept[0].x is x and kept[0].y is y and kept[0].profile == self.profile:
            return kept[0]
        pairs = Pairs(self.levels, x, y, self.profile)
        if x is y and len(x) <= MOST_KEPT:
            kept[:] = [pairs]
        return pairs

    def covariance(self, x: Points, y: Points) -> FloatArray:
        """k(x, y), (n, m)."""
        variance, levels = self.sigma**2, self.levels
        pairs = self._pairs(x, y)
        if x is y:
            shorter, longer, share, _ = pairs.among(self.range)
            return ((1 - share) * variance * shorter + share * variance * longer) * pairs.along
        low, share, _ = levels.near(self.range)
        columns = [levels.table(index)[:, y.edge] for index in (low, low + 1)]
        whole = ((1 - share) * variance * columns[0] + share * variance * columns[1])[x.edge]
        whole *= pairs.along
        return np.asarray(whole)

    def variance(self, x: Points) -> FloatArray:
        """sigma^2, (n,)."""
        return np.full(len(self.graph.bind(x)), self.sigma**2)

    def range_derivative(self, x: Points, y: Points) -> FloatArray:
        """d k(x, y) / d log range at fixed sigma, (n, m); at the range of a table, towards longer ones."""
        pairs = self._pairs(x, y)
        shorter, longer, _, growth = pairs.among(self.range)
        return growth * self.sigma**2 * (longer - shorter) * pairs.along

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
