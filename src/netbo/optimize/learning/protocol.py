"""How a surrogate comes from data: what every way of learning answers.

What is learned depends on the data and their order alone, never on when it was asked for: a study rebuilt
from its record learns the same.
"""

from dataclasses import dataclass
from typing import Protocol

import numpy as np

from netbo.arrays import FloatArray
from netbo.fem import FiniteElementSpace
from netbo.posterior import Fit, Observations, Surrogate

NUGGET = 1e-10  # noise of a deterministic objective, in units of sigma^2: what rounding needs


@dataclass(frozen=True, slots=True)
class Outcome:
    """What was learned from the observations so far."""

    surrogate: Surrogate
    labels: tuple[str, ...]  # of the models
    fits: tuple[Fit, ...]  # one a model; none where the kernel is known
    weights: FloatArray  # of the models, by evidence

    @property
    def chosen(self) -> int:
        """The model of largest weight."""
        return int(np.argmax(self.weights))


class Learner(Protocol):
    """Turns observations into a surrogate."""

    def learn(self, observations: Observations) -> Outcome:
        """The surrogate after the observations."""


class Learning(Protocol):
    """A way to get a surrogate, before mesh and noise are known."""

    def start(self, space: FiniteElementSpace, noise: float | None) -> Learner:
        """A learner on a mesh; noise: the variance of a measurement, 0 for exact values, None if unknown."""
