"""How a surrogate comes from data: known kernels, learned ones, and the lambda of the posterior.

What is learned depends on the data and their order alone, never on when it was asked for: a study rebuilt
from its record learns the same.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from enum import Enum
from typing import Protocol

import numpy as np

from netbo.arrays import FloatArray
from netbo.errors import ParameterError
from netbo.fem import FiniteElementSpace
from netbo.optimize.models import Model, NetworkMatern
from netbo.optimize.refit import RefitSchedule, RefitSettings
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
    condition,
    weights_by_evidence,
)
from netbo.priors import Prior

NUGGET = 1e-10  # noise of a deterministic objective, in units of sigma^2: what rounding needs


@dataclass(frozen=True, slots=True)
class SurrogateFit:
    """The surrogate fitted to the observations so far: fits of all models, and their weights."""

    surrogate: Surrogate
    labels: tuple[str, ...]  # of the models
    fits: tuple[Fit, ...]  # one a model; none where the kernel is known
    weights: FloatArray  # of the models, by evidence

    @property
    def chosen(self) -> int:
        """The model of largest weight."""
        return int(np.argmax(self.weights))


Outcome = SurrogateFit  # its earlier name, until 1.0


class Learner(Protocol):
    """Turns observations into a surrogate."""

    def learn(self, observations: Observations) -> SurrogateFit:
        """The surrogate after the observations."""


class Learning(Protocol):
    """A way to get a surrogate, before mesh and noise are known."""

    def start(self, space: FiniteElementSpace, noise: float | None) -> Learner:
        """A learner on a mesh; noise: the variance of a measurement, 0 for exact values, None if unknown."""


# The lambda of the posterior, which need not be the noise variance of the likelihood.


class RegularizationRule(Protocol):
    """Lambda as a function of noise and time."""

    def __call__(self, noise: float | None, n: int) -> float | None:
        """Lambda given the noise variance (given or fitted) and the number of observations."""


@dataclass(frozen=True, slots=True)
class NoiseVariance:
    """lambda = sigma_eps^2: the posterior is the Bayesian one."""

    def __call__(self, noise: float | None, n: int) -> float | None:
        """The noise variance itself."""
        return noise


@dataclass(frozen=True, slots=True)
class GrowingConfidence:
    """lambda = 1 + 2 / (N_init + t): where the printed widths come from."""

    def __call__(self, noise: float | None, n: int) -> float | None:
        """1 + 2 / (n + 1); n = N_init + t - 1 observations exist when the t-th query is chosen."""
        return 1 + 2 / (n + 1)


@dataclass(frozen=True, slots=True)
class FixedRegularization:
    """lambda = a number."""

    value: float

    def __call__(self, noise: float | None, n: int) -> float | None:
        """The number."""
        return self.value


# A kernel that is known: nothing to learn but the values.


@dataclass(frozen=True, slots=True)
class Known:
    """Surrogate model whose kernel, mean and lambda are known: alg:GP-bandits, alg:GP-bandits-FEM as printed.

    Parameters
    ----------
    model : Model
        The kernel, such as Given(prior).
    mean : float or ESTIMATED
        Of the prior.
    regularization : RegularizationRule
        Lambda; by default the noise variance.

    Examples
    --------
    >>> import netbo
    >>> from netbo.optimize import Given
    >>> graph = netbo.interval(2.0)
    >>> prior = netbo.whittle_matern(graph, netbo.Matern(alpha=1.0, range=0.5, sigma=1.0))
    >>> optimizer = netbo.Optimizer(graph, fit=Known(Given(prior)), noise=0.01)
    """

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

    def learn(self, observations: Observations) -> SurrogateFit:
        """The posterior under the known kernel."""
        noise = NUGGET * self.prior.sigma**2 if self.noise == 0 else self.noise
        regularization = self.settings.regularization(noise, len(observations))
        posterior = condition(
            self.prior, observations, regularization=regularization, mean=self.settings.mean
        )
        return SurrogateFit(posterior, (self.settings.model.label,), (), np.ones(1))


# Kernels learned as data arrive: one, the best of several, or all of them weighted by evidence.


class Combination(Enum):
    """What is done with several models."""

    CHOOSE = "choose"  # the one of largest evidence
    AVERAGE = "average"  # all, weighted by their evidence


@dataclass(frozen=True, slots=True)
class Learned:
    """Surrogate model: kernels and how their parameters are fitted, by likelihood as data arrive.

    The range, and what else is free, maximize the evidence times the hyperpriors (alg: benchmarks).

    Parameters
    ----------
    models : tuple of Model
        Kernels to be fitted.
    combination : Combination
        Of several: the one of largest evidence, or all of them averaged.
    mean : float or ESTIMATED
        Of the prior.
    amplitude : Amplitude
        Whether sigma is fitted, or sigma or tau stays.
    regularization : RegularizationRule
        Lambda of the posterior; by default the noise variance.
    bounds : FitBounds
        Where parameters may lie.
    beliefs : Beliefs
        Log-normal hyperpriors of range and noise.
    every_step : bool
        Fit after each observation, however many there are, as the paper does.

    Raises
    ------
    ParameterError
        There is no model.

    Examples
    --------
    >>> import netbo
    >>> smooth = Learned(models=(NetworkMatern(alpha=2.0),))
    >>> optimizer = netbo.Optimizer(netbo.interval(2.0), fit=smooth)
    """

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
        settings = RefitSettings(
            noise=None if noise == 0 else noise,
            mean=self.mean,
            amplitude=self.amplitude,
            bounds=exact if noise == 0 else self.bounds,
            beliefs=self.beliefs,
            every_step=self.every_step,
        )
        return ModelSelection(self, [RefitSchedule(settings, model, space) for model in self.models])


@dataclass(frozen=True, slots=True)
class ModelSelection:
    """Models compared by evidence: the best of them, or all of them averaged."""

    settings: Learned
    schedules: Sequence[RefitSchedule]

    def learn(self, observations: Observations) -> SurrogateFit:
        """The best model's posterior, or the average of all."""
        fits = tuple(schedule.fit(observations) for schedule in self.schedules)
        weights = weights_by_evidence([fit.log_evidence + fit.log_belief for fit in fits])
        posteriors = [self._regularized(fit) for fit in fits]
        surrogate: Surrogate = posteriors[int(np.argmax(weights))]
        if self.settings.combination is Combination.AVERAGE and len(fits) > 1:
            surrogate = MixturePosterior(tuple(posteriors), weights)
        return SurrogateFit(surrogate, tuple(model.label for model in self.settings.models), fits, weights)

    def _regularized(self, fit: Fit) -> Posterior:
        """The fit's posterior, with another lambda if the rule says so."""
        wanted = self.settings.regularization(fit.regularization, len(fit.posterior.observations))
        if wanted == fit.regularization:
            return fit.posterior
        return fit.posterior.with_parameters(fit.prior, wanted)
