"""Moments of many candidates jointly with a few fixed places: what a score of improvements asks for.

Any surrogate answers by its mean, variance and covariance; one that knows a shorter way has `joint_with`.
"""

from dataclasses import dataclass
from functools import cached_property
from typing import Protocol, runtime_checkable

from netbo.arrays import FloatArray, IntArray
from netbo.geometry import Points
from netbo.posterior.base import Surrogate


class JointCandidates(Protocol):
    """Candidates, and what they have to do with the places."""

    @property
    def mean(self) -> FloatArray:
        """Of the candidates, (n,)."""

    @property
    def variance(self) -> FloatArray:
        """Of the candidates, (n,)."""

    def covariance(self, n: int, part: IntArray | None = None) -> FloatArray:
        """Of some candidates, or of all, with the first n places, (len(part), n)."""


class Joint(Protocol):
    """A surrogate and some places."""

    @property
    def covariance(self) -> FloatArray:
        """Of the values at the places, (k, k)."""

    def at(self, x: Points) -> JointCandidates:
        """The candidates."""


@runtime_checkable
class Jointly(Protocol):
    """A surrogate that has a shorter way than three questions."""

    def joint_with(self, places: Points) -> Joint:
        """Moments of candidates jointly with the places."""


def joint_with(surrogate: Surrogate, places: Points) -> Joint:
    """Moments of candidates jointly with the places, by the shortest way the surrogate has."""
    return surrogate.joint_with(places) if isinstance(surrogate, Jointly) else PlainJoint(surrogate, places)


@dataclass(frozen=True, eq=False)
class PlainJoint:
    """A surrogate asked for mean, variance and covariance."""

    surrogate: Surrogate
    places: Points

    @cached_property
    def covariance(self) -> FloatArray:
        """Of the values at the places, (k, k)."""
        return self.surrogate.covariance(self.places, self.places)

    def at(self, x: Points) -> "PlainCandidates":
        """The candidates."""
        return PlainCandidates(self.surrogate, self.places, x)


@dataclass(frozen=True, eq=False)
class PlainCandidates:
    """Candidates of a `PlainJoint`."""

    surrogate: Surrogate
    places: Points
    x: Points

    @cached_property
    def mean(self) -> FloatArray:
        """Of the candidates, (n,)."""
        return self.surrogate.mean(self.x)

    @cached_property
    def variance(self) -> FloatArray:
        """Of the candidates, (n,)."""
        return self.surrogate.variance(self.x)

    def covariance(self, n: int, part: IntArray | None = None) -> FloatArray:
        """Of some candidates, or of all, with the first n places, (len(part), n)."""
        places = self.places if n == len(self.places) else self.places[:n]
        return self.surrogate.covariance(self.x if part is None else self.x[part], places)


@dataclass(frozen=True, eq=False)
class NegatedJoint:
    """The same for the negative of what a surrogate models."""

    base: Joint

    @property
    def covariance(self) -> FloatArray:
        """Of the values at the places, (k, k)."""
        return self.base.covariance

    def at(self, x: Points) -> "NegatedCandidates":
        """The candidates."""
        return NegatedCandidates(self.base.at(x))


@dataclass(frozen=True, eq=False)
class NegatedCandidates:
    """Candidates of a `NegatedJoint`."""

    base: JointCandidates

    @property
    def mean(self) -> FloatArray:
        """Of the candidates, (n,)."""
        return -self.base.mean

    @property
    def variance(self) -> FloatArray:
        """Of the candidates, (n,)."""
        return self.base.variance

    def covariance(self, n: int, part: IntArray | None = None) -> FloatArray:
        """Of some candidates, or of all, with the first n places, (len(part), n)."""
        return self.base.covariance(n, part)
