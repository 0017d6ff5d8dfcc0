"""What every prior answers; the posterior knows nothing else of it."""

from typing import Protocol, Self, runtime_checkable

import numpy as np

from netbo.arrays import FloatArray
from netbo.geometry import MetricGraph, Points


@runtime_checkable
class Prior(Protocol):
    """A centred Gaussian field on a metric graph with a range and a standard deviation."""

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
