"""Sums of independent fields: what follows the network, plus what follows the map."""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Self

import numpy as np

from netbo.arrays import FloatArray, as_float_vector, read_only
from netbo.checks import explained
from netbo.errors import ParameterError
from netbo.geometry import MetricGraph, Points
from netbo.priors.base import DensePrior

SHARES_TOLERANCE = 1e-9  # by which shares may miss the sum 1


@dataclass(frozen=True, eq=False)
class SumPrior:
    """The sum of independent fields on one network: k = k_1 + k_2 + ...

    Parts keep the ratios of their ranges and their shares of the variance: a range or a sigma given to the
    sum multiplies those of all parts by one factor.
    """

    parts: tuple[DensePrior, ...]

    @property
    def error(self) -> float:
        """Kernel error relative to the variance: at most that of the worst part."""
        return max(float(getattr(part, "error", 0.0)) for part in self.parts)

    def __post_init__(self) -> None:
        if not self.parts:
            raise ParameterError("a sum needs at least one prior, got none; pass sum_of(one, other)")
        for part in self.parts:
            if not isinstance(part, DensePrior):
                raise ParameterError(
                    f"parts of a sum must be priors with covariance and range_derivative, got "
                    f"{type(part).__name__}; take those of whittle_matern, spectral or euclidean_matern"
                )
            if not self.graph.has_edges_of(part.graph):
                raise ParameterError(
                    f"parts of a sum must live on graphs with the same edges, got {self.graph!r} and "
                    f"{part.graph!r}; make all of them on one graph"
                )

    @property
    def graph(self) -> MetricGraph:
        """The network, as the first part has it."""
        return self.parts[0].graph

    @property
    def range(self) -> float:
        """Range of the first part."""
        return self.parts[0].range

    @property
    def sigma(self) -> float:
        """Standard deviation of the sum: sigma^2 = sigma_1^2 + sigma_2^2 + ..."""
        return math.hypot(*(part.sigma for part in self.parts))

    @property
    def shares(self) -> FloatArray:
        """sigma_i^2 / sigma^2 of every part."""
        sigmas = np.array([part.sigma for part in self.parts])
        return read_only((sigmas / self.sigma) ** 2)

    def rescaled(self, *, range: float | None = None, sigma: float | None = None) -> Self:  # noqa: A002
        """The same prior with another range (of the first part), another sigma, or both."""
        longer = None if range is None else range / self.range
        larger = None if sigma is None else sigma / self.sigma
        return type(self)(
            tuple(
                part.rescaled(
                    range=None if longer is None else longer * part.range,
                    sigma=None if larger is None else larger * part.sigma,
                )
                for part in self.parts
            )
        )

    def _sum(self, question: Callable[[DensePrior], FloatArray]) -> FloatArray:
        total = question(self.parts[0])
        for part in self.parts[1:]:
            total = total + question(part)
        return total

    def covariance(self, x: Points, y: Points) -> FloatArray:
        """k(x, y), (n, m)."""
        return self._sum(lambda part: part.covariance(x, y))

    def variance(self, x: Points) -> FloatArray:
        """k(x, x), (n,)."""
        return self._sum(lambda part: part.variance(x))

    def sample(self, x: Points, rng: np.random.Generator, n: int | None = None) -> FloatArray:
        """A sample path at x, (len(x),); n paths, (n, len(x)): one of every part, each by its own way."""
        return self._sum(lambda part: part.sample(x, rng, n))

    def range_derivative(self, x: Points, y: Points) -> FloatArray:
        """d k(x, y) / d log range at fixed sigma, all ranges moving together, (n, m)."""
        return self._sum(lambda part: part.range_derivative(x, y))

    def range_derivative_of_variance(self, x: Points) -> FloatArray:
        """d k(x, x) / d log range at fixed sigma, (n,)."""
        return self._sum(lambda part: part.range_derivative_of_variance(x))


@explained
def sum_of(*priors: DensePrior, shares: Sequence[float] | None = None) -> SumPrior:
    """The independent sum of priors on one network.

    shares: of the variance sigma^2 = sigma_1^2 + sigma_2^2 + ..., which stays; None keeps every sigma_i.

    >>> import netbo
    >>> graph = netbo.interval(3.0)
    >>> rough, smooth = (netbo.euclidean_matern(graph, nu=nu, range=1.0) for nu in (0.5, 2.5))
    >>> prior = sum_of(rough, smooth, shares=(0.25, 0.75))
    >>> round(prior.sigma**2, 12), prior.shares.round(12).tolist()
    (2.0, [0.25, 0.75])
    """
    prior = SumPrior(priors)
    if shares is None:
        return prior
    values = as_float_vector(shares, "shares", ParameterError)
    if len(values) != len(priors):
        raise ParameterError(f"a sum of {len(priors)} priors needs as many shares, got {len(values)}")
    if not (np.all(values > 0) and abs(values.sum() - 1) <= SHARES_TOLERANCE):
        raise ParameterError(
            f"shares must be positive and sum to 1, got {values.tolist()}; divide them by their sum"
        )
    sigmas = (prior.sigma * np.sqrt(values)).tolist()
    return SumPrior(tuple(part.rescaled(sigma=sigma) for part, sigma in zip(priors, sigmas, strict=True)))
