"""Matérn kernels of straight-line distance: the paper's baseline (equa: eucl baseline), smoother twins."""

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Self

import numpy as np
from scipy.spatial.distance import cdist

from netbo.arrays import FloatArray
from netbo.checks import explained, require_positive
from netbo.errors import GraphError, ParameterError
from netbo.geometry import MetricGraph, Points
from netbo.priors.base import KernelPrior
from netbo.priors.matern import Matern

_CORRELATIONS: dict[float, Callable[[FloatArray], FloatArray]] = {  # of d = kappa |x - x'|
    0.5: lambda d: np.exp(-d),
    1.5: lambda d: (1 + d) * np.exp(-d),
    2.5: lambda d: (1 + d + d**2 / 3) * np.exp(-d),
}
_SLOPES: dict[float, Callable[[FloatArray], FloatArray]] = {  # -d times the derivative of the correlation
    0.5: lambda d: d * np.exp(-d),
    1.5: lambda d: d**2 * np.exp(-d),
    2.5: lambda d: d**2 * (1 + d) / 3 * np.exp(-d),
}


@dataclass(frozen=True, eq=False)
class EuclideanPrior(KernelPrior):
    """sigma^2 times a Matérn correlation of the distance between places; it does not see the network."""

    graph: MetricGraph
    nu: float
    range: float
    sigma: float

    @property
    def length_scale(self) -> float:
        """The ell of sigma^2 exp(-|x - x'| / ell), 1/kappa = range / sqrt(8 nu)."""
        return self.range / math.sqrt(8 * self.nu)

    @property
    def matern(self) -> Matern:
        """The field on a line with the same covariance: what tau means here, and how sigma follows it."""
        return Matern((self.nu + 0.5) / 2, range=self.range, sigma=self.sigma)

    def rescaled(self, *, range: float | None = None, sigma: float | None = None) -> Self:  # noqa: A002
        """The same prior with another range, another sigma, or both."""
        return replace(
            self, range=self.range if range is None else range, sigma=self.sigma if sigma is None else sigma
        )

    def _distances(self, x: Points, y: Points) -> FloatArray:
        """|x - y| / ell, (n, m)."""
        scaled: FloatArray = cdist(self.graph.embed(x), self.graph.embed(y)) / self.length_scale
        return scaled

    def covariance(self, x: Points, y: Points) -> FloatArray:
        """k(x, y), (n, m)."""
        return self.sigma**2 * _CORRELATIONS[self.nu](self._distances(x, y))

    def variance(self, x: Points) -> FloatArray:
        """sigma^2, (n,)."""
        return np.full(len(self.graph.bind(x)), self.sigma**2)

    def range_derivative(self, x: Points, y: Points) -> FloatArray:
        """d k(x, y) / d log range at fixed sigma, (n, m)."""
        return self.sigma**2 * _SLOPES[self.nu](self._distances(x, y))

    def range_derivative_of_variance(self, x: Points) -> FloatArray:
        """Zero, (n,)."""
        return np.zeros(len(x))


@explained
def euclidean_matern(graph: MetricGraph, *, nu: float, range: float, sigma: float = 1.0) -> EuclideanPrior:  # noqa: A002
    """The Matérn prior of straight-line distance, which does not see the network.

    Parameters
    ----------
    graph : MetricGraph
        With coordinates.
    nu : {0.5, 1.5, 2.5}
        Smoothness; 0.5 is the paper's baseline (equa: eucl baseline).
    range : float
        Distance at which the correlation has fallen to about 0.14, sqrt(8 nu) times the length scale.
    sigma : float, default 1.0
        Standard deviation.

    Returns
    -------
    EuclideanPrior
        sigma^2 times a Matérn correlation of |x - x'|.

    Raises
    ------
    ParameterError
        If nu is another number, or range or sigma is not positive and finite.
    GraphError
        If the graph has no coordinates.

    Examples
    --------
    >>> import netbo
    >>> graph = netbo.interval(3.0)
    >>> prior = netbo.euclidean_matern(graph, nu=0.5, range=2.0)
    >>> prior.covariance(graph.points(0, 0.5), graph.points(0, [0.5, 2.0])).round(4).tolist()
    [[1.0, 0.2231]]
    """
    if nu not in _CORRELATIONS:
        raise ParameterError(f"nu must be 1/2, 3/2 or 5/2, got {nu}; 1/2 is the paper's baseline")
    for name, value in (("range", range), ("sigma", sigma)):
        require_positive(name, value, "try the diameter / 4")
    if graph.dimension is None:
        raise GraphError("a Euclidean prior needs places, got a graph without coordinates; pass positions=")
    return EuclideanPrior(graph=graph, nu=float(nu), range=float(range), sigma=float(sigma))
