"""Range, amplitude, noise and mean by maximum likelihood: global in the range, bounded, with its own account.

Searched in logarithms: the range always; sigma and the noise-to-signal ratio rho = lambda / sigma^2 when they
are free. When both are free and no observation has noise of its own, sigma has a closed form given the others
and is not searched. The log evidence replaces the log|K| printed in alg: benchmarks by log|K + Lambda|.
"""

import itertools
from dataclasses import dataclass
from enum import Enum

import numpy as np
from scipy.optimize import minimize

from netbo.arrays import FloatArray
from netbo.errors import NumericalError, ObservationError, ParameterError
from netbo.posterior.condition import condition
from netbo.posterior.observations import Observations
from netbo.posterior.posterior import ESTIMATED, LOG_2_PI, Mean, Posterior
from netbo.priors import Matern, Prior

RANGE_GRID = 12  # points of the coarse grid in log range
RATIO_GRID = (1e-6, 1e-3, 1e-1)  # coarse values of rho, cut to its bounds
SIGMA_GRID = (0.3, 1.0, 3.0)  # coarse multiples of the spread of the values
STARTS = 2  # local searches, from the best local maxima of the grid
_AT_BOUND = 1e-4  # in log units
_WORST = 1e25  # stands for an evidence that could not be computed


class Amplitude(Enum):
    """What a fit does with the amplitude of the prior."""

    ESTIMATED = "estimated"
    FIXED_SIGMA = "fixed sigma"  # the prior's standard deviation stays
    FIXED_TAU = "fixed tau"  # the prior's tau stays and sigma follows the range: the paper's way


@dataclass(frozen=True, slots=True)
class FitBounds:
    """Where parameters may lie: the range in diameters (of the largest component), sigma in spreads of y."""

    range: tuple[float, float] = (0.01, 10.0)
    sigma: tuple[float, float] = (1e-3, 1e3)
    noise_ratio: tuple[float, float] = (1e-8, 1e2)  # lambda / sigma^2

    def __post_init__(self) -> None:
        for name in ("range", "sigma", "noise_ratio"):
            low, high = getattr(self, name)
            if not (0 < low <= high < np.inf):
                raise ParameterError(
                    f"bounds of {name} must be 0 < low <= high, got {(low, high)}; swap them?"
                )


@dataclass(frozen=True, slots=True)
class Fit:
    """What a fit found and what it did."""

    posterior: Posterior  # with the fitted parameters
    log_evidence: float
    evaluations: int  # of the evidence, grid included
    at_bound: tuple[str, ...]  # parameters that stopped at a bound: the data want more, or say nothing
    converged: bool

    @property
    def prior(self) -> Prior:
        """The prior with the fitted range and sigma."""
        return self.posterior.prior

    @property
    def regularization(self) -> float | None:
        """The noise variance of observations without their own: given, or fitted."""
        return self.posterior.regularization

    @property
    def mean(self) -> float:
        """The constant mean."""
        return self.posterior.estimated_mean


def fit_parameters(
    prior: Prior,
    observations: Observations,
    *,
    regularization: float | None = None,
    mean: Mean = ESTIMATED,
    amplitude: Amplitude = Amplitude.ESTIMATED,
    bounds: FitBounds | None = None,
    start: Fit | None = None,
) -> Fit:
    """Fit the prior to observations by maximum likelihood.

    regularization: the noise variance, if it is known; None fits it.
    amplitude: whether sigma is fitted, kept, or follows from the prior's tau as in alg: benchmarks.
    start: an earlier fit to continue from; the search is then local.
    """
    if not len(observations):
        raise ObservationError("a fit needs at least one observation, got none; measure first")
    search = _Search(prior, observations, regularization, mean, amplitude, bounds or FitBounds())
    grid = [search.at(start)] if start is not None else search.starts()
    best, converged = min((search.descend(v) for v in grid), key=lambda found: search.loss(found[0]))
    return search.result(best, converged)


class _Search:
    """The evidence as a function of the free parameters' logarithms, with a count of its evaluations."""

    def __init__(
        self,
        prior: Prior,
        observations: Observations,
        regularization: float | None,
        mean: Mean,
        amplitude: Amplitude,
        bounds: FitBounds,
    ) -> None:
        self.prior, self.observations, self.mean = prior, observations, mean
        self.regularization = regularization
        own = observations.has_own_noise
        self.noise_is_free = regularization is None and not own.all()
        self.sigma_is_free = amplitude is Amplitude.ESTIMATED
        self.sigma_is_closed = self.sigma_is_free and self.noise_is_free and not own.any()
        self.growth = _growth(prior) if amplitude is Amplitude.FIXED_TAU else 0.0
        self.spread = _spread(observations.values, mean)
        diameter = prior.graph.diameter
        limits = {"range": [diameter * b for b in bounds.range]}
        if self.sigma_is_free and not self.sigma_is_closed:
            limits["sigma"] = [self.spread * b for b in bounds.sigma]
        if self.noise_is_free:
            limits["noise_ratio"] = list(bounds.noise_ratio)
        self.names = list(limits)
        self.limits = np.log(np.array(list(limits.values())))  # (k, 2)
        self.sigma_limits = [self.spread * b for b in bounds.sigma]
        self.evaluations = 0
        noise = prior.sigma**2 if self.noise_is_free else regularization
        self.start = condition(prior, observations, regularization=noise, mean=mean)
        self._losses: dict[bytes, tuple[float, FloatArray]] = {}

    def parameters(self, v: FloatArray) -> tuple[Prior, float | None]:
        """Prior and noise variance at a point of the search; with sigma = 1 where it has a closed form."""
        values = dict(zip(self.names, np.exp(v).tolist(), strict=True))
        kept = self.prior.sigma * (values["range"] / self.prior.range) ** self.growth
        sigma = 1.0 if self.sigma_is_closed else values.get("sigma", kept)
        prior = self.prior.rescaled(range=values["range"], sigma=sigma)
        noise = values["noise_ratio"] * prior.sigma**2 if self.noise_is_free else self.regularization
        return prior, noise

    def posterior(self, v: FloatArray) -> Posterior:
        return self.start.with_parameters(*self.parameters(v))

    def amplitude(self, posterior: Posterior) -> float:
        """The sigma^2 that maximizes the evidence, within its bounds; 1 where sigma is searched."""
        if not self.sigma_is_closed:
            return 1.0
        terms = posterior.evidence_terms()
        return float(np.clip(terms.quadratic / terms.n, *np.square(self.sigma_limits)))

    def loss(self, v: FloatArray) -> float:
        """Minus the log evidence."""
        return self._evaluate(v, gradient=False)[0]

    def loss_and_gradient(self, v: FloatArray) -> tuple[float, FloatArray]:
        return self._evaluate(v, gradient=True)

    def _evaluate(self, v: FloatArray, *, gradient: bool) -> tuple[float, FloatArray]:
        key = v.tobytes()
        known = self._losses.get(key)
        if known is not None and (len(known[1]) or not gradient):
            return known
        self.evaluations += 1
        try:
            found = self._loss_at(v, gradient)
        except NumericalError:
            found = (_WORST, np.zeros(len(v)))
        self._losses[key] = found
        return found

    def _loss_at(self, v: FloatArray, gradient: bool) -> tuple[float, FloatArray]:
        posterior = self.posterior(v)
        terms, variance = posterior.evidence_terms(), self.amplitude(posterior)
        log_amplitude = terms.n * (np.log(variance) + LOG_2_PI)
        loss = float(terms.log_determinant + terms.quadratic / variance + log_amplitude) / 2
        if not gradient:
            return loss, np.empty(0)
        d = posterior.evidence_derivatives()
        log_range, sigma, noise = (
            (a + b / variance) / 2 for a, b in zip(d.log_determinant, d.quadratic, strict=True)
        )
        sigma += 2 * noise * self.noise_is_free  # lambda = rho sigma^2
        slopes = {"range": log_range + self.growth * sigma, "noise_ratio": noise, "sigma": sigma}
        return loss, np.array([slopes[name] for name in self.names])

    def starts(self) -> list[FloatArray]:
        """Best local maxima, in the range, of the coarse grid."""
        coarse = {
            "range": np.exp(np.linspace(self.limits[0, 0], self.limits[0, 1], RANGE_GRID)),
            "sigma": self.spread * np.array(SIGMA_GRID),
            "noise_ratio": np.array(RATIO_GRID),
        }
        axes = [
            np.unique(np.clip(np.log(coarse[name]), low, high))
            for name, (low, high) in zip(self.names, self.limits, strict=True)
        ]
        profile = []
        for log_range in axes[0]:
            points = [np.array([log_range, *rest]) for rest in itertools.product(*axes[1:])]
            profile.append(min(points, key=self.loss))
        losses = np.array([self.loss(v) for v in profile])
        padded = np.concatenate([[np.inf], losses, [np.inf]])
        local = np.flatnonzero((losses <= padded[:-2]) & (losses <= padded[2:]))
        return [profile[i] for i in local[np.argsort(losses[local])][:STARTS]]

    def at(self, fit: Fit) -> FloatArray:
        """Where an earlier fit stands in this search, cut to the bounds."""
        sigma = fit.prior.sigma
        ratio = (fit.regularization or sigma**2 * RATIO_GRID[0]) / sigma**2
        values = {"range": fit.prior.range, "sigma": sigma, "noise_ratio": ratio}
        v = np.log([values[name] for name in self.names])
        clipped: FloatArray = np.clip(v, self.limits[:, 0], self.limits[:, 1])
        return clipped

    def descend(self, v: FloatArray) -> tuple[FloatArray, bool]:
        """Local minimum within the bounds, and whether the search came to rest there."""
        found = minimize(self.loss_and_gradient, v, jac=True, method="L-BFGS-B", bounds=self.limits)
        end = np.clip(found.x, self.limits[:, 0], self.limits[:, 1])
        if self.loss(end) > self.loss(v):
            return v, False
        return end, bool(found.success)

    def result(self, v: FloatArray, converged: bool) -> Fit:
        posterior = self.posterior(v)
        stuck = np.min(np.abs(self.limits - v[:, None]), axis=1) < _AT_BOUND
        at_bound = [name for name, is_stuck in zip(self.names, stuck, strict=True) if is_stuck]
        if self.sigma_is_closed:
            sigma = float(np.sqrt(self.amplitude(posterior)))
            if np.min(np.abs(np.log(self.sigma_limits) - np.log(sigma))) < _AT_BOUND:
                at_bound.append("sigma")
            prior, ratio = self.parameters(v)
            scaled = prior.rescaled(sigma=sigma)
            assert ratio is not None
            noise = ratio * sigma**2
            posterior = self.start.with_parameters(scaled, noise)
        return Fit(
            posterior=posterior,
            log_evidence=-self.loss(v),
            evaluations=self.evaluations,
            at_bound=tuple(at_bound),
            converged=converged,
        )


def _growth(prior: Prior) -> float:
    """d log sigma / d log range at fixed tau."""
    matern = getattr(prior, "matern", None)
    if not isinstance(matern, Matern):
        raise ParameterError(
            f"a fixed tau needs a Whittle-Matérn prior, got {type(prior).__name__}; use Amplitude.FIXED_SIGMA"
        )
    return matern.nu


def _spread(values: FloatArray, mean: Mean) -> float:
    """Size of the deviations from the mean; 1 if there are none."""
    centre = float(mean) if isinstance(mean, (int, float)) else float(values.mean())
    spread = float(np.sqrt(np.mean((values - centre) ** 2)))
    return spread if spread > 0 else max(abs(centre), 1.0)
