"""Expected improvement over the best posterior mean, on a logarithmic scale."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from netbo.acquisition.log_improvement import log_expected_improvement
from netbo.arrays import FloatArray
from netbo.checks import require_nonnegative
from netbo.geometry import Points
from netbo.posterior import Surrogate


@dataclass(frozen=True, slots=True)
class LogExpectedImprovement:
    """log E max(f(x) - best - margin, 0), best = max of the posterior mean over the observed points.

    Taking the mean for the truth at the incumbent, it measures there again and again when there is noise:
    then NoisyExpectedImprovement is better. Without observations it is log std.
    """

    hallucinates: ClassVar[bool] = True

    margin: float = 0.0  # improvements up to this, in the unit of the objective, count for nothing

    def __post_init__(self) -> None:
        require_nonnegative("margin", self.margin, "0 is the usual one")

    def scores(self, surrogate: Surrogate, x: Points, rng: np.random.Generator) -> FloatArray:
        """Log expected improvements at the candidates, (n,); nothing is drawn."""
        mean, std = surrogate.mean(x), surrogate.std(x)
        if not len(surrogate.observations):
            return log_expected_improvement(std, np.zeros(len(x)), 0.0)  # log std
        best = float(surrogate.mean(surrogate.observations.points).max())
        return log_expected_improvement(mean, std, best + self.margin)
