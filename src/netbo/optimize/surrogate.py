"""A surrogate turned upside down: minimizing f is maximizing -f."""

from dataclasses import dataclass
from typing import Self

import numpy as np

from netbo.acquisition import SamplePath, draw_path
from netbo.arrays import FloatArray
from netbo.geometry import Points
from netbo.posterior import LeaveOneOut, Observations, Posterior, Surrogate


@dataclass(frozen=True, eq=False)
class Negated:
    """-f given what is known of f."""

    base: Surrogate

    @property
    def observations(self) -> Observations:
        """The observations with their signs changed."""
        return _negated(self.base.observations)

    @property
    def noise(self) -> FloatArray:
        """Noise variance of every observation, (n,)."""
        return self.base.noise

    def mean(self, x: Points) -> FloatArray:
        """Mean of -f, (n,)."""
        return -self.base.mean(x)

    def variance(self, x: Points) -> FloatArray:
        """Variance of f, (n,)."""
        return self.base.variance(x)

    def std(self, x: Points) -> FloatArray:
        """Standard deviation of f, (n,)."""
        return self.base.std(x)

    def covariance(self, x: Points, y: Points) -> FloatArray:
        """Covariance of f, (n, m)."""
        return self.base.covariance(x, y)

    def sample(
        self, x: Points, rng: np.random.Generator, *, scale: float = 1.0, n: int | None = None
    ) -> FloatArray:
        """A sample path of -f: if f is Gaussian, the mean of -f plus the deviation of a path of f.

        Then minimizing f draws what maximizing -f does. The law of a mixture is not symmetric.
        """
        paths = self.base.sample(x, rng, scale=scale, n=n)
        return paths - 2 * self.base.mean(x) if isinstance(self.base, Posterior) else -paths

    def path(self, rng: np.random.Generator) -> SamplePath:
        """One draw of -f, turned as `sample` turns it."""
        path, base = draw_path(self.base, rng), self.base
        if isinstance(base, Posterior):
            return lambda x: path(x) - 2 * base.mean(x)
        return lambda x: -path(x)

    def information_gain(self) -> float:
        """That of f."""
        return self.base.information_gain()

    def extend(self, new: Observations) -> Self:
        """After more observations of -f."""
        return type(self)(self.base.extend(_negated(new)))

    def leave_one_out(self) -> LeaveOneOut:
        """Each measurement of -f as predicted from all others."""
        found = self.base.leave_one_out()
        return LeaveOneOut(-found.mean, found.variance)


def _negated(observations: Observations) -> Observations:
    return Observations(observations.points, -observations.values, observations.noise)
