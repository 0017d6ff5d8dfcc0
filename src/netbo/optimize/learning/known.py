"""A kernel that is known: nothing to learn but the values."""

from dataclasses import dataclass, field

import numpy as np

from netbo.errors import ParameterError
from netbo.fem import FiniteElementSpace
from netbo.optimize.learning.protocol import NUGGET, Learner, Outcome
from netbo.optimize.learning.regularization import NoiseVariance, RegularizationRule
from netbo.optimize.models import Model
from netbo.posterior import Mean, Observations, condition
from netbo.priors import Prior


@dataclass(frozen=True, slots=True)
class Known:
    """Kernel, mean and lambda are known: alg:GP-bandits and alg:GP-bandits-FEM as printed."""

    model: Model
    mean: Mean = 0.0
    regularization: RegularizationRule = field(default_factory=NoiseVariance)

    def start(self, space: FiniteElementSpace, noise: float | None) -> Learner:
        """A learner that only conditions."""
        if noise is None and isinstance(self.regularization, NoiseVariance):
            raise ParameterError(
                "a known kernel needs a known noise variance, got noise=None; pass noise=variance"
            )
        return Conditioning(self, self.model.build(space), noise)


@dataclass(frozen=True, slots=True)
class Conditioning:
    """Conditions one prior on the observations."""

    settings: Known
    prior: Prior
    noise: float | None

    def learn(self, observations: Observations) -> Outcome:
        """The posterior under the known kernel."""
        noise = NUGGET * self.prior.sigma**2 if self.noise == 0 else self.noise
        regularization = self.settings.regularization(noise, len(observations))
        posterior = condition(
            self.prior, observations, regularization=regularization, mean=self.settings.mean
        )
        return Outcome(posterior, (self.settings.model.label,), (), np.ones(1))
