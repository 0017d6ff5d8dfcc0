"""What every prior answers, and what priors known by their kernel share."""

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Protocol, Self, runtime_checkable

import numpy as np
from scipy.linalg import cholesky, eigh

from netbo.arrays import FloatArray
from netbo.geometry import MetricGraph, Points


@runtime_checkable
class Prior(Protocol):
    """A centred Gaussian field on a metric graph with a range and a standard deviation.

    `whittle_matern`, `spectral`, `euclidean_matern` and `sum_of` make priors. A class of your own with these
    members works wherever a prior is asked for; one with those of `DensePrior` can also be conditioned.

    Examples
    --------
    >>> import netbo
    >>> graph = netbo.interval(3.0)
    >>> prior = netbo.euclidean_matern(graph, nu=0.5, range=1.0)
    >>> isinstance(prior, netbo.Prior), prior.rescaled(sigma=3.0).variance(graph.points(0, 1.5)).tolist()
    (True, [9.0])
    """

    @property
    def graph(self) -> MetricGraph:
        """The network."""

    @property
    def range(self) -> float:
        """Distance over which the field loses its memory."""

    @property
    def sigma(self) -> float:
        """Nominal standard deviation."""

    def covariance(self, x: Points, y: Points) -> FloatArray:
        """k(x, y), (n, m)."""

    def variance(self, x: Points) -> FloatArray:
        """k(x, x), (n,)."""

    def sample(self, x: Points, rng: np.random.Generator, n: int | None = None) -> FloatArray:
        """A sample path at x, (len(x),); n paths, (n, len(x))."""

    def rescaled(self, *, range: float | None = None, sigma: float | None = None) -> Self:  # noqa: A002
        """The same prior with another range, another sigma, or both."""


@runtime_checkable
class DensePrior(Prior, Protocol):
    """A prior known by its kernel alone: its posterior is the t x t form."""

    def range_derivative(self, x: Points, y: Points) -> FloatArray:
        """d k(x, y) / d log range at fixed sigma, (n, m)."""

    def range_derivative_of_variance(self, x: Points) -> FloatArray:
        """d k(x, x) / d log range at fixed sigma, (n,)."""


# What priors known by their kernel share: variances, sample paths, and a constant-variance form.

JITTER = 1e-12  # of the largest variance, added to all: paths move by a millionth of the standard deviation


class KernelPrior(ABC):
    """Sample paths for a prior that only has a covariance."""

    @abstractmethod
    def covariance(self, x: Points, y: Points) -> FloatArray:
        """k(x, y), (n, m)."""

    def sample(self, x: Points, rng: np.random.Generator, n: int | None = None) -> FloatArray:
        """A sample path at x, (len(x),); n paths, (n, len(x))."""
        paths = gaussian_samples(self.covariance(x, x), rng, 1 if n is None else n)
        return paths[0] if n is None else paths


def gaussian_samples(covariance: FloatArray, rng: np.random.Generator, n: int) -> FloatArray:
    """n draws of N(0, covariance), (n, m)."""
    draws: FloatArray = rng.standard_normal((n, len(covariance)))
    paths: FloatArray = draws @ _root(covariance).T
    return paths


def _root(covariance: FloatArray) -> FloatArray:
    """R with R R' = covariance: Cholesky's, or eigenvectors where that stops at negative rounding errors."""
    raised = covariance.copy()
    raised[np.diag_indices(len(raised))] += JITTER * np.max(np.diag(covariance), initial=0.0)
    try:
        root: FloatArray = cholesky(raised, lower=True, overwrite_a=True)
    except np.linalg.LinAlgError:
        values, vectors = eigh(covariance)
        root = vectors * np.sqrt(np.maximum(values, 0.0))
    return root


@dataclass(frozen=True, eq=False)
class ConstantVariance(KernelPrior):
    """Any dense prior divided by its standard deviation: sigma^2 k(x, y) / sqrt(k(x, x) k(y, y))."""

    base: DensePrior

    @property
    def error(self) -> float:
        """Kernel error relative to the variance; twice that of the base, whose variances err too."""
        return 2 * float(getattr(self.base, "error", 0.0))

    @property
    def graph(self) -> MetricGraph:
        """The network."""
        return self.base.graph

    @property
    def range(self) -> float:
        """Distance over which the field loses its memory."""
        return self.base.range

    @property
    def sigma(self) -> float:
        """Standard deviation, everywhere."""
        return self.base.sigma

    def rescaled(self, *, range: float | None = None, sigma: float | None = None) -> Self:  # noqa: A002
        """The same prior with another range, another sigma, or both."""
        return type(self)(self.base.rescaled(range=range, sigma=sigma))

    def _scale(self, x: Points) -> FloatArray:
        return self.sigma / np.sqrt(self.base.variance(x))

    def variance(self, x: Points) -> FloatArray:
        """sigma^2, (n,)."""
        return np.full(len(x), self.sigma**2)

    def covariance(self, x: Points, y: Points) -> FloatArray:
        """k(x, y), (n, m)."""
        return self._scale(x)[:, None] * self.base.covariance(x, y) * self._scale(y)

    def range_derivative(self, x: Points, y: Points) -> FloatArray:
        """d k(x, y) / d log range at fixed sigma, (n, m)."""
        inner = self.base.range_derivative(x, y)
        relative = [self.base.range_derivative_of_variance(z) / self.base.variance(z) / 2 for z in (x, y)]
        base = self.base.covariance(x, y)
        change = inner - base * (relative[0][:, None] + relative[1])
        return self._scale(x)[:, None] * change * self._scale(y)

    def range_derivative_of_variance(self, x: Points) -> FloatArray:
        """Zero, (n,)."""
        return np.zeros(len(x))
