"""How a surrogate comes from data: known kernels, learned ones, and the lambda of the posterior.

What is learned depends on the data and their order alone, never on when it was asked for: a study rebuilt
from its record learns the same.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from enum import Enum
from typing import Protocol

import numpy as np

from netbo.arrays import FloatArray
from netbo.checks import explained_class, require_count
from netbo.errors import ParameterError
from netbo.fem import FiniteElementSpace
from netbo.optimize.models import Model, NetworkMatern
from netbo.optimize.refit import STEPS_PER_DOUBLING, RefitSchedule, RefitSettings
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
from netbo.priors import KernelPrior, Prior

NUGGET = 1e-10  # noise of a deterministic objective, in units of sigma^2: what rounding needs
ORDINARY = 2.0**200  # size of values, and its reciprocal, within which squares and their ratios are numbers
SMALLEST_NOISE = 1e-200  # in squares of the unit
LARGEST_DENSE = 500  # observations up to which a dense kernel, whose cost grows with them, joins others
LEAST_SIGMA = 2.0**-200  # in the unit, of an amplitude that is not learned: far below the rounding of values


@dataclass(frozen=True, slots=True)
class SurrogateFit:
    """The surrogate fitted to the observations so far: fits of all models, and their weights."""

    surrogate: Surrogate
    labels: tuple[str, ...]  # of the models
    fits: tuple[Fit, ...]  # one a model; none where the kernel is known
    weights: FloatArray  # of the models, by evidence
    log_odds: tuple[float, ...] = ()  # of the models: evidence, beliefs and odds beforehand, up to a constant
    left_out: tuple[str, ...] = ()  # models that took no part, and why
    unit: float = 1.0  # of surrogate and fits: a power of two, other than 1 only where values need it

    @property
    def chosen(self) -> int:
        """The model of largest weight."""
        return int(np.argmax(self.weights))


Outcome = SurrogateFit  # its earlier name, until 1.0


def unit_of(observations: Observations, *sizes: float) -> float:
    """The unit a model works in: 1, or the power of two next to values whose squares are no numbers.

    sizes: of what else is in the unit of the values.
    """
    own = np.sqrt(observations.noise[observations.has_own_noise])
    size = max([*np.abs(observations.values), *own, *sizes], default=0.0)
    if size == 0 or 1 / ORDINARY < size < ORDINARY:
        return 1.0
    return float(2.0 ** np.clip(np.frexp(size)[1] - 1, -1022, 1023))


def in_unit(observations: Observations, unit: float, sigma: float | None = None) -> Observations:
    """The observations in the unit of a model; sigma: its amplitude there, if that is not learned.

    What is far below the rounding of the largest value is not there, and noise of their own is at least that
    of exact values.
    """
    values, noise = observations.values, observations.noise
    if unit != 1:
        values = observations.values / unit
        values = np.where(np.abs(values) < 1 / ORDINARY, 0.0, values)
        noise = noise / unit / unit
    if sigma is None:  # of equal values the least amplitude that a fit will try
        sigma = float(np.std(values)) or 1e-3 * max(1.0, float(np.max(np.abs(values), initial=0.0)))
    least = max(NUGGET * sigma**2, SMALLEST_NOISE)
    if unit == 1 and not np.any(noise < least):
        return observations
    return Observations(observations.points, values, np.maximum(noise, least))


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


@explained_class
@dataclass(frozen=True, slots=True)
class FixedRegularization:
    """lambda = a number."""

    value: float

    def __call__(self, noise: float | None, n: int) -> float | None:
        """The number."""
        return self.value


# A kernel that is known: nothing to learn but the values.


@explained_class
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
        unit = max(unit_of(observations), 1.0)  # what is tiny beside sigma may be
        shrunk = _shrinkage(self.prior, unit)
        prior = _shrunk(self.prior, unit)
        posterior = condition(
            prior,
            in_unit(observations, unit, prior.sigma),
            regularization=None if regularization is None else regularization * shrunk**2,
            mean=_mean_in(self.settings.mean, unit),
        )
        return SurrogateFit(posterior, (self.settings.model.label,), (), np.ones(1), unit=unit)


def _shrinkage(prior: Prior, unit: float) -> float:
    """What an amplitude that is not learned is multiplied by in a unit; its noise by the square.

    1 / unit, or what keeps sigma a number. The mean depends on their ratio alone, and a deviation below the
    rounding of the values is not seen in them.
    """
    return 1.0 if unit == 1 else max(1 / unit, LEAST_SIGMA / prior.sigma)


def _shrunk(prior: Prior, unit: float) -> Prior:
    return prior if unit == 1 else prior.rescaled(sigma=prior.sigma * _shrinkage(prior, unit))


def _mean_in(mean: Mean, unit: float) -> Mean:
    return mean / unit if isinstance(mean, int | float) else mean


def _noise_in(noise: float | None, unit: float) -> float | None:
    return noise if noise is None or unit == 1 else max(noise / unit / unit, SMALLEST_NOISE)


# Kernels learned as data arrive: one, the best of several, or all of them weighted by evidence.


class Combination(Enum):
    """What is done with several models."""

    CHOOSE = "choose"  # the one of largest evidence
    AVERAGE = "average"  # all, weighted by their evidence


@explained_class
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
    pace : int
        Fits while the number of observations doubles; up to twice as many each is followed by one.

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
    pace: int = STEPS_PER_DOUBLING

    def __post_init__(self) -> None:
        if not self.models:
            raise ParameterError(
                "learning needs at least one model, got none; pass models=(NetworkMatern(),)"
            )
        require_count("pace", self.pace, "16 is the usual one")

    def start(self, space: FiniteElementSpace, noise: float | None) -> Learner:
        """A learner for every model."""
        return ModelSelection(self, space, noise)


class ModelSelection:
    """Models compared by evidence: the best of them, or all of them averaged."""

    def __init__(self, settings: Learned, space: FiniteElementSpace, noise: float | None) -> None:
        judged = [(model, _obstacle(model, space)) for model in settings.models]
        if all(why for _, why in judged):  # then the first says so itself
            judged = [(model, None) for model in settings.models]
        self.models = tuple(model for model, why in judged if not why)
        self.unfit = tuple(f"{model.label}: {why}" for model, why in judged if why)
        self.settings, self.space, self.noise = settings, space, noise
        self.unit, self.schedules = 0.0, list[RefitSchedule]()
        self._start_in(1.0)  # models that cannot be built are refused before there are data

    def _start_in(self, unit: float) -> None:
        """One schedule for each model, of values in a unit; those of the last unit stay."""
        if unit != self.unit:
            built = [RefitSchedule(self._common(unit), model, self.space) for model in self.models]
            if unit != 1 and not self._is_learned:
                for schedule in built:
                    self._shrink(schedule, unit)
            self.unit, self.schedules = unit, built

    def _shrink(self, schedule: RefitSchedule, unit: float) -> None:
        """Amplitude and noise that are not learned, in a unit."""
        factor = _shrinkage(schedule.prior, unit)
        schedule.prior = _shrunk(schedule.prior, unit)
        schedule.settings = replace(schedule.settings, noise=(self.noise and self.noise * factor**2) or None)

    @property
    def _is_learned(self) -> bool:
        """Whether the amplitude is."""
        return self.settings.amplitude is Amplitude.ESTIMATED

    def _common(self, unit: float) -> RefitSettings:
        settings, noise = self.settings, self.noise
        exact = replace(settings.bounds, noise_ratio=(NUGGET, NUGGET))
        return RefitSettings(
            noise=_noise_in(noise or None, unit),
            mean=_mean_in(settings.mean, unit),
            amplitude=settings.amplitude,
            bounds=exact if noise == 0 else settings.bounds,
            beliefs=settings.beliefs,
            every_step=settings.every_step,
            pace=settings.pace,
        )

    def learn(self, observations: Observations) -> SurrogateFit:
        """The best model's posterior, or the average of all."""
        mean = self.settings.mean
        sizes = (math.sqrt(self.noise or 0.0), abs(mean) if isinstance(mean, int | float) else 0.0)
        unit = unit_of(observations, *sizes)
        if not self._is_learned:
            unit = max(unit, 1.0)  # what is tiny beside sigma may be
        self._start_in(unit)
        sigma = None if self._is_learned else min(schedule.prior.sigma for schedule in self.schedules)
        scaled = in_unit(observations, unit, sigma)
        taking_part = self._taking_part(len(observations))
        fits = tuple(self.schedules[index].fit(scaled) for index in taking_part)
        odds = [math.log(getattr(self.models[index], "odds", 1.0)) for index in taking_part]
        log_odds = tuple(
            fit.log_evidence + fit.log_belief + before for fit, before in zip(fits, odds, strict=True)
        )
        weights = weights_by_evidence(log_odds)
        posteriors = [self._regularized(fit, unit) for fit in fits]
        surrogate: Surrogate = posteriors[int(np.argmax(weights))]
        if self.settings.combination is Combination.AVERAGE and len(fits) > 1:
            surrogate = MixturePosterior(tuple(posteriors), weights)
        labels = tuple(self.models[index].label for index in taking_part)
        left_out = self._left_out(len(observations))
        return SurrogateFit(surrogate, labels, fits, weights, log_odds, left_out, unit)

    def _taking_part(self, n: int) -> list[int]:
        """Numbers of the models of a record of n: dense ones leave a long one to the others."""
        if n <= LARGEST_DENSE:
            return list(range(len(self.models)))
        dense = [isinstance(schedule.prior, KernelPrior) for schedule in self.schedules]
        return [k for k, each in enumerate(dense) if not each] or list(range(len(self.models)))

    def _left_out(self, n: int) -> tuple[str, ...]:
        """Models that take no part, and why."""
        part = self._taking_part(n)
        long = [model for index, model in enumerate(self.models) if index not in part]
        return self.unfit + tuple(f"{model.label}: more than {LARGEST_DENSE} values" for model in long)

    def _regularized(self, fit: Fit, unit: float) -> Posterior:
        """The fit's posterior, with another lambda if the rule says so."""
        known = None if fit.regularization is None else fit.regularization * unit * unit
        wanted = self.settings.regularization(known, len(fit.posterior.observations))
        if wanted == known:
            return fit.posterior
        return fit.posterior.with_parameters(fit.prior, _noise_in(wanted, unit))


def _obstacle(model: Model, space: FiniteElementSpace) -> str | None:
    """Why a model cannot live on a network, if it says so."""
    obstacle: Callable[[FiniteElementSpace], str | None] | None = getattr(model, "obstacle", None)
    return None if obstacle is None else obstacle(space)
