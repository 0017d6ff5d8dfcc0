"""Kernels learned as data arrive: one, the best of several, or all of them weighted by evidence."""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from enum import Enum

import numpy as np

from netbo.errors import ParameterError
from netbo.fem import FiniteElementSpace
from netbo.optimize.learning.chain import Chain, ChainSettings
from netbo.optimize.learning.protocol import NUGGET, Learner, Outcome
from netbo.optimize.learning.regularization import NoiseVariance, RegularizationRule
from netbo.optimize.models import Model, NetworkMatern
from netbo.posterior import (
    ESTIMATED,
    Amplitude,
    Beliefs,
    Fit,
    FitBounds,
    Mean,
    MixturePosterior,
    Observations,
    Posterior,
    Surrogate,
    weights_by_evidence,
)


class Combination(Enum):
    """What is done with several models."""

    CHOOSE = "choose"  # the one of largest evidence
    AVERAGE = "average"  # all, weighted by their evidence


@dataclass(frozen=True, slots=True)
class Learned:
    """Range, and what else is free, by likelihood as the record grows (alg: benchmarks)."""

    models: tuple[Model, ...] = (NetworkMatern(),)
    combination: Combination = Combination.CHOOSE
    mean: Mean = ESTIMATED
    amplitude: Amplitude = Amplitude.ESTIMATED
    regularization: RegularizationRule = field(default_factory=NoiseVariance)
    bounds: FitBounds = field(default_factory=FitBounds)
    beliefs: Beliefs = field(default_factory=Beliefs)
    every_step: bool = False  # True fits after each observation, however many there are, as the paper does

    def __post_init__(self) -> None:
        if not self.models:
            raise ParameterError(
                "learning needs at least one model, got none; pass models=(NetworkMatern(),)"
            )

    def start(self, space: FiniteElementSpace, noise: float | None) -> Learner:
        """A learner for every model."""
        exact = replace(self.bounds, noise_ratio=(NUGGET, NUGGET))
        settings = ChainSettings(
            noise=None if noise == 0 else noise,
            mean=self.mean,
            amplitude=self.amplitude,
            bounds=exact if noise == 0 else self.bounds,
            beliefs=self.beliefs,
            every_step=self.every_step,
        )
        return Choice(self, [Chain(settings, model, space) for model in self.models])


@dataclass(frozen=True, slots=True)
class Choice:
    """The chains of all models, and what their evidence says."""

    settings: Learned
    chains: Sequence[Chain]

    def learn(self, observations: Observations) -> Outcome:
        """The best model's posterior, or the average of all."""
        fits = tuple(chain.fit(observations) for chain in self.chains)
        weights = weights_by_evidence([fit.log_evidence + fit.log_belief for fit in fits])
        posteriors = [self._regularized(fit) for fit in fits]
        surrogate: Surrogate = posteriors[int(np.argmax(weights))]
        if self.settings.combination is Combination.AVERAGE and len(fits) > 1:
            surrogate = MixturePosterior(tuple(posteriors), weights)
        return Outcome(surrogate, tuple(model.label for model in self.settings.models), fits, weights)

    def _regularized(self, fit: Fit) -> Posterior:
        """The fit's posterior, with another lambda if the rule says so."""
        wanted = self.settings.regularization(fit.regularization, len(fit.posterior.observations))
        if wanted == fit.regularization:
            return fit.posterior
        return fit.posterior.with_parameters(fit.prior, wanted)
