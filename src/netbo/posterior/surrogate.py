"""What acquisitions and answers ask of a model of the objective, whether one posterior or several."""

from typing import Protocol, Self, runtime_checkable

import numpy as np

from netbo.arrays import FloatArray
from netbo.geometry import Points
from netbo.posterior.leave_one_out import LeaveOneOut
from netbo.posterior.observations import Observations


@runtime_checkable
class Surrogate(Protocol):
    """The objective given observations: every `Posterior` is one, and so is a mixture of them."""

    @property
    def observations(self) -> Observations:
        """What it was conditioned on."""

    @property
    def noise(self) -> FloatArray:
        """Noise variance of every observation, (n,)."""

    def mean(self, x: Points) -> FloatArray:
        """Mean of the objective, (n,)."""

    def variance(self, x: Points) -> FloatArray:
        """Variance of the objective, (n,)."""

    def std(self, x: Points) -> FloatArray:
        """Standard deviation of the objective, (n,)."""

    def covariance(self, x: Points, y: Points) -> FloatArray:
        """Covariance of the objective, (n, m)."""

    def sample(
        self, x: Points, rng: np.random.Generator, *, scale: float = 1.0, n: int | None = None
    ) -> FloatArray:
        """A sample path at x, (len(x),); n paths, (n, len(x)); deviations from the mean times `scale`."""

    def information_gain(self) -> float:
        """Mutual information of data and objective (rmk:maximin design)."""

    def extend(self, new: Observations) -> Self:
        """The same model after more observations, with its parameters as they are."""

    def leave_one_out(self) -> LeaveOneOut:
        """Each measurement as predicted from all others."""
