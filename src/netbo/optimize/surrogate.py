"""A surrogate turned upside down, since minimizing f is maximizing -f, or in another unit."""

from dataclasses import dataclass
from typing import Self

import numpy as np

from netbo.acquisition import SamplePath, draw_path
from netbo.arrays import FloatArray
from netbo.geometry import Points
from netbo.posterior import (
    Joint,
    LeaveOneOut,
    MixturePosterior,
    NegatedJoint,
    Observations,
    Posterior,
    Surrogate,
    joint_with,
)

_LARGEST, _SMALLEST = np.finfo(float).max, np.finfo(float).tiny


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

    def joint_with(self, places: Points) -> Joint:
        """Moments of candidates jointly with the places."""
        return NegatedJoint(joint_with(self.base, places))

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
        base = self.base
        if isinstance(base, MixturePosterior):  # a model is drawn, then turned
            return type(self)(base.components[int(rng.choice(len(base.components), p=base.weights))]).path(
                rng
            )
        path = draw_path(base, rng)
        if isinstance(base, Posterior):
            return lambda x: path(x) - 2 * base.mean(x)
        return lambda x: -path(x)

    def parts(self) -> list[tuple[float, Surrogate]]:
        """The models of f with their weights, each turned."""
        if not isinstance(self.base, MixturePosterior):
            return [(1.0, self)]
        return [(weight, type(self)(part)) for weight, part in self.base.parts()]

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


@dataclass(frozen=True, eq=False)
class Scaled:
    """unit * f given what is known of f; numbers beyond every float are the largest there is.

    Of values beyond 1e154 a variance is none of them: ask for deviations.
    """

    base: Surrogate
    unit: float

    @property
    def observations(self) -> Observations:
        """The observations in the unit."""
        known = self.base.observations
        return Observations(known.points, self._times(known.values), self._squared(known.noise))

    @property
    def noise(self) -> FloatArray:
        """Noise variance of every observation, (n,)."""
        return self._squared(self.base.noise)

    def _times(self, values: FloatArray) -> FloatArray:
        return in_values(values, self.unit)

    def _squared(self, values: FloatArray) -> FloatArray:
        return in_values(in_values(values, self.unit), self.unit)

    def mean(self, x: Points) -> FloatArray:
        """Mean, (n,)."""
        return self._times(self.base.mean(x))

    def variance(self, x: Points) -> FloatArray:
        """Variance, (n,)."""
        return self._squared(self.base.variance(x))

    def std(self, x: Points) -> FloatArray:
        """Standard deviation, (n,)."""
        return self._times(self.base.std(x))

    def covariance(self, x: Points, y: Points) -> FloatArray:
        """Covariance, (n, m)."""
        return self._squared(self.base.covariance(x, y))

    def sample(
        self, x: Points, rng: np.random.Generator, *, scale: float = 1.0, n: int | None = None
    ) -> FloatArray:
        """Sample paths."""
        return self._times(self.base.sample(x, rng, scale=scale, n=n))

    def information_gain(self) -> float:
        """That of f."""
        return self.base.information_gain()

    def extend(self, new: Observations) -> Self:
        """After more observations, in the unit."""
        small = np.maximum(new.noise / self.unit / self.unit, _SMALLEST)
        return type(self)(
            self.base.extend(Observations(new.points, new.values / self.unit, small)), self.unit
        )

    def leave_one_out(self) -> LeaveOneOut:
        """Each measurement as predicted from all others."""
        found = self.base.leave_one_out()
        return LeaveOneOut(self._times(found.mean), self._squared(found.variance))


def in_values(numbers: FloatArray, unit: float) -> FloatArray:
    """Numbers counted in a unit, as values: infinite only if they were."""
    with np.errstate(over="ignore", under="ignore"):
        values: FloatArray = numbers * unit
    return np.where(np.isfinite(numbers), np.clip(values, -_LARGEST, _LARGEST), values)


def scaled(surrogate: Surrogate, unit: float) -> Surrogate:
    """The surrogate in another unit; itself if that is 1."""
    return surrogate if unit == 1 else Scaled(surrogate, unit)


def _negated(observations: Observations) -> Observations:
    return Observations(observations.points, -observations.values, observations.noise)
