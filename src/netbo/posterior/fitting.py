"""Range, amplitude, noise and mean by maximum likelihood, with log-normal hyperpriors.

Searched in logarithms: the range always; sigma and the noise-to-signal ratio rho = lambda / sigma^2 when they
are free. When both are free and no observation has noise of its own, sigma has a closed form given the others
and is not searched. The log evidence replaces the log|K| printed in alg: benchmarks by log|K + Lambda|.
"""

import itertools
import math
import warnings
from dataclasses import dataclass
from enum import Enum

import numpy as np
from scipy.optimize import minimize

from netbo.arrays import FloatArray
from netbo.checks import explained, explained_class
from netbo.errors import AccuracyWarning, NumericalError, ObservationError, ParameterError
from netbo.posterior.base import ESTIMATED, LOG_2_PI, Evidence, EvidenceTerms, Mean, Posterior
from netbo.posterior.condition import condition
from netbo.posterior.observations import Observations
from netbo.priors import Matern, Prior

# Log-normal hyperpriors, which steady a fit to few values.


@explained_class
@dataclass(frozen=True, slots=True)
class Belief:
    """A log-normal hyperprior on a positive parameter."""

    median: float
    log_sd: float

    def __post_init__(self) -> None:
        if not (0 < self.median < np.inf and 0 < self.log_sd < np.inf):
            raise ParameterError(
                f"a belief needs a positive median and log_sd, got {self.median} and {self.log_sd}; "
                "log_sd=1 says: within a factor 3"
            )

    def loss(self, log_value: float) -> tuple[float, float]:
        """Minus the log density in log_value, up to a constant, and its slope."""
        distance = (log_value - float(np.log(self.median))) / self.log_sd
        return distance**2 / 2, distance / self.log_sd


@explained_class
@dataclass(frozen=True, slots=True)
class Beliefs:
    """Hyperpriors that steady a fit to few values: of the range in diameters, of lambda / sigma^2."""

    range: Belief | None = None
    noise_ratio: Belief | None = None

    def loss(self, parameters: dict[str, float], diameter: float) -> tuple[float, FloatArray]:
        """Minus the log density of all hyperpriors at logarithms of parameters, and its gradient in them."""
        held = {"range": (self.range, math.log(diameter)), "noise_ratio": (self.noise_ratio, 0.0)}
        total, pull = 0.0, np.zeros(len(parameters))
        for index, (name, value) in enumerate(parameters.items()):
            belief, unit = held.get(name, (None, 0.0))
            if belief is not None:
                loss, pull[index] = belief.loss(value - unit)
                total += loss
        return total, pull


RANGE_GRID, QUICK_RANGE_GRID = 12, 7  # points of the coarse grid in log range
RATIO_GRID = (1e-6, 1e-3, 1e-1)  # coarse values of rho, cut to its bounds
SIGMA_GRID = (0.3, 1.0, 3.0)  # coarse multiples of the spread of the values
STARTS = 2  # local searches, from the best local maxima of the grid
_AT_BOUND = 1e-4  # in log units
_REST = {"gtol": 1e-3, "ftol": 1e-9}  # of a search: a log evidence known to 1e-6, far below what data tell
_CLOSE = {"gtol": 1e-2, "ftol": 1e-7}  # of a search that continues another and will be continued: 1e-4
_CURVATURE = 0.3  # of the log evidence in a log parameter, an observation: makes a first step fit
LARGEST_VALUE = 1e100  # beyond it, or below its reciprocal, squares and their ratios are no numbers
_WORST = 1e25  # stands for an evidence that could not be computed


class Amplitude(Enum):
    """What a fit does with the amplitude of the prior.

    Examples
    --------
    >>> Amplitude("fixed tau")
    <Amplitude.FIXED_TAU: 'fixed tau'>
    """

    ESTIMATED = "estimated"  # sigma is fitted
    FIXED_SIGMA = "fixed sigma"  # the prior's standard deviation stays
    FIXED_TAU = "fixed tau"  # the prior's tau stays and sigma follows the range: the paper's way


@explained_class
@dataclass(frozen=True, slots=True)
class FitBounds:
    """Where the parameters of a fit may lie, in units that fit every network and every objective.

    Parameters
    ----------
    range : tuple of float, default (0.01, 10.0)
        In diameters of the largest component.
    sigma : tuple of float, default (1e-3, 1e3)
        In spreads of the observed values.
    noise_ratio : tuple of float, default (1e-8, 1e2)
        lambda / sigma^2.

    Raises
    ------
    ParameterError
        If bounds are not 0 < low <= high < inf.

    Examples
    --------
    >>> FitBounds(range=(0.1, 1.0)).noise_ratio
    (1e-08, 100.0)
    """

    range: tuple[float, float] = (0.01, 10.0)
    sigma: tuple[float, float] = (1e-3, 1e3)
    noise_ratio: tuple[float, float] = (1e-8, 1e2)

    def __post_init__(self) -> None:
        for name in ("range", "sigma", "noise_ratio"):
            low, high = getattr(self, name)
            if not (0 < low <= high < np.inf):
                raise ParameterError(
                    f"bounds of {name} must be 0 < low <= high, got {(low, high)}; swap them?"
                )


@dataclass(frozen=True, slots=True)
class Parameters:
    """Where a fit came to rest, without the posterior it belongs to."""

    range: float
    sigma: float
    regularization: float | None


@dataclass(frozen=True, slots=True)
class Fit:
    """What a fit found and what it did; made by `fit_parameters`, with an example there.

    Attributes
    ----------
    posterior : Posterior
        With the fitted parameters.
    log_evidence : float
        Log density of the data there.
    log_belief : float
        Log density of the beliefs at the parameters, up to a constant; 0 without beliefs.
    evaluations : int
        Of the evidence, grid included.
    at_bound : tuple of str
        Parameters that stopped at a bound: the data want more, or say nothing.
    converged : bool
        Whether the search came to rest.
    """

    posterior: Posterior
    log_evidence: float
    log_belief: float
    evaluations: int
    at_bound: tuple[str, ...]
    converged: bool

    @property
    def prior(self) -> Prior:
        """The prior with the fitted range and sigma."""
        return self.posterior.prior

    @property
    def parameters(self) -> Parameters:
        """The fitted numbers, enough to start another fit from."""
        return Parameters(self.prior.range, self.prior.sigma, self.regularization)

    @property
    def regularization(self) -> float | None:
        """The noise variance of observations without their own: given, or fitted."""
        return self.posterior.regularization

    @property
    def mean(self) -> float:
        """The constant mean."""
        return self.posterior.estimated_mean


@explained
def fit_parameters(
    prior: Prior,
    observations: Observations,
    *,
    regularization: float | None = None,
    mean: Mean = ESTIMATED,
    amplitude: Amplitude = Amplitude.ESTIMATED,
    bounds: FitBounds | None = None,
    beliefs: Beliefs | None = None,
    start: Fit | Parameters | None = None,
    is_quick: bool = False,
) -> Fit:
    """Fit the prior to observations by maximum likelihood, or to the most probable value given beliefs.

    Parameters
    ----------
    prior : Prior
        Its kind and smoothness stay; its range and sigma are fitted.
    observations : Observations
        At least one.
    regularization : float, optional
        The noise variance of observations without their own, if it is known; None fits it.
    mean : float or ESTIMATED, default ESTIMATED
        The constant mean of the field.
    amplitude : Amplitude, default Amplitude.ESTIMATED
        Whether sigma is fitted, kept, or follows from the prior's tau as in alg: benchmarks.
    bounds : FitBounds, optional
        Where the parameters may lie.
    beliefs : Beliefs, optional
        Log-normal hyperpriors of range and noise ratio; without them a dozen values may put all noise into
        the function.
    start : Fit or Parameters, optional
        An earlier fit, or its parameters, to continue from; the search is then local.
    is_quick : bool, default False
        Look at fewer starting points; for networks so large that an evaluation takes a second.

    Returns
    -------
    Fit
        The posterior with the fitted parameters, and how the search went.

    Raises
    ------
    ObservationError
        If there are no observations.
    ParameterError
        If tau is to stay and the prior has none.

    Examples
    --------
    >>> import netbo
    >>> graph = netbo.interval(3.0)
    >>> x = graph.points(0, [0.1, 0.4, 0.8, 1.1, 1.5, 1.9, 2.2, 2.6, 2.9])
    >>> prior = netbo.whittle_matern(graph, netbo.Matern(alpha=1.0, range=1.0))
    >>> fit = netbo.fit_parameters(prior, netbo.Observations(x, np.sin(2 * x.z)), regularization=1e-4)
    >>> round(fit.prior.range, 2), round(fit.prior.sigma, 2), fit.converged, fit.at_bound
    (1.89, 0.7, True, ())
    """
    if not len(observations):
        raise ObservationError("a fit needs at least one observation, got none; measure first")
    own = np.sqrt(observations.noise[observations.has_own_noise])
    size = max([*np.abs(observations.values).tolist(), *own.tolist()])
    is_scale_free = amplitude is Amplitude.ESTIMATED and regularization is None
    if size > LARGEST_VALUE or (0 < size < 1 / LARGEST_VALUE and is_scale_free):
        raise ObservationError(
            f"values must be of ordinary size, up to {LARGEST_VALUE:g} and not all below "
            f"{1 / LARGEST_VALUE:g}, got {size:g}; fit them in another unit, as Optimizer does"
        )
    search = _Search(
        prior, observations, regularization, mean, amplitude, bounds or FitBounds(), beliefs or Beliefs()
    )
    if isinstance(start, Fit):
        start = start.parameters
    grid, rest = (search.starts(is_quick), _REST) if start is None else ([search.at(start)], _CLOSE)
    best, converged = min((search.descend(v, rest) for v in grid), key=lambda found: search.loss(found[0]))
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
        beliefs: Beliefs,
    ) -> None:
        self.prior, self.observations, self.mean = prior, observations, mean
        self.regularization = regularization
        own = observations.has_own_noise
        self.noise_is_free = regularization is None and not own.all()
        self.sigma_is_free = amplitude is Amplitude.ESTIMATED
        self.sigma_is_closed = self.sigma_is_free and self.noise_is_free and not own.any()
        self.growth = _growth(prior) if amplitude is Amplitude.FIXED_TAU else 0.0
        self.spread = _spread(observations.values, mean)
        self.diameter = diameter = prior.graph.diameter
        self.beliefs = beliefs
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
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", AccuracyWarning)  # the parameters are not these
            self.start = condition(prior, observations, regularization=noise, mean=mean)
        self._losses: dict[bytes, tuple[float, FloatArray]] = {}
        self._latest: tuple[bytes, Evidence] | None = None  # its factor is worth keeping, older ones are not

    def parameters(self, v: FloatArray) -> tuple[Prior, float | None]:
        """Prior and noise variance at a point of the search; with sigma = 1 where it has a closed form."""
        values = dict(zip(self.names, np.exp(v).tolist(), strict=True))
        kept = self.prior.sigma * (values["range"] / self.prior.range) ** self.growth
        sigma = 1.0 if self.sigma_is_closed else values.get("sigma", kept)
        prior = self.prior.rescaled(range=values["range"], sigma=sigma)
        noise = values["noise_ratio"] * prior.sigma**2 if self.noise_is_free else self.regularization
        return prior, noise

    def evidence(self, v: FloatArray) -> Evidence:
        key = v.tobytes()
        if self._latest is None or self._latest[0] != key:
            self._latest = (key, self.start.evidence_at(*self.parameters(v)))
        return self._latest[1]

    def amplitude(self, terms: EvidenceTerms) -> float:
        """The sigma^2 that maximizes the evidence, within its bounds; 1 where sigma is searched."""
        if not self.sigma_is_closed:
            return 1.0
        return float(np.clip(terms.quadratic / terms.n, *np.square(self.sigma_limits)))

    def loss(self, v: FloatArray) -> float:
        """Minus the log evidence and the log density of the beliefs, in units of the spread of the values."""
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
        if not (math.isfinite(found[0]) and np.isfinite(found[1]).all()):
            found = (_WORST, np.zeros(len(v)))
        self._losses[key] = found
        return found

    def _loss_at(self, v: FloatArray, gradient: bool) -> tuple[float, FloatArray]:
        evidence = self.evidence(v)
        terms = evidence.evidence_terms()
        variance = self.amplitude(terms)
        # Values in units of their spread: whatever unit they come in, the search takes the same steps.
        log_amplitude = terms.n * (np.log(variance / self.spread**2) + LOG_2_PI)
        doubt, pull = self.doubt(v)
        loss = float(terms.log_determinant + terms.quadratic / variance + log_amplitude) / 2 + doubt
        if not gradient:
            return loss, np.empty(0)
        d = evidence.evidence_derivatives()
        log_range, sigma, noise = (
            (a + b / variance) / 2 for a, b in zip(d.log_determinant, d.quadratic, strict=True)
        )
        sigma += 2 * noise * self.noise_is_free  # lambda = rho sigma^2
        slopes = {"range": log_range + self.growth * sigma, "noise_ratio": noise, "sigma": sigma}
        return loss, np.array([slopes[name] for name in self.names]) + pull

    def doubt(self, v: FloatArray) -> tuple[float, FloatArray]:
        """Minus the log density of the beliefs, up to a constant, and its gradient."""
        return self.beliefs.loss(dict(zip(self.names, v.tolist(), strict=True)), self.diameter)

    def starts(self, is_quick: bool) -> list[FloatArray]:
        """Best local maxima, in the range, of the coarse grid; the best alone, of a coarser one, if quick."""
        n_ranges = QUICK_RANGE_GRID if is_quick else RANGE_GRID
        coarse = {
            "range": np.exp(np.linspace(self.limits[0, 0], self.limits[0, 1], n_ranges)),
            "sigma": self.spread * np.array(SIGMA_GRID[1:2] if is_quick else SIGMA_GRID),
            "noise_ratio": np.array(RATIO_GRID[1:2] if is_quick else RATIO_GRID),
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
        return [profile[i] for i in local[np.argsort(losses[local])][: 1 if is_quick else STARTS]]

    def at(self, start: Parameters) -> FloatArray:
        """Where an earlier fit stands in this search, cut to the bounds."""
        ratio = (start.regularization or start.sigma**2 * RATIO_GRID[0]) / start.sigma**2
        values = {"range": start.range, "sigma": start.sigma, "noise_ratio": ratio}
        v = np.log([values[name] for name in self.names])
        clipped: FloatArray = np.clip(v, self.limits[:, 0], self.limits[:, 1])
        return clipped

    def descend(self, v: FloatArray, rest: dict[str, float]) -> tuple[FloatArray, bool]:
        """Local minimum within the bounds, and whether the search came to rest there.

        Variables are in units in which the curvature is about 1, which is what a first step assumes.
        """
        unit = float(np.sqrt(1 + _CURVATURE * len(self.observations)))

        def scaled(u: FloatArray) -> tuple[float, FloatArray]:
            loss, slope = self.loss_and_gradient(u / unit)
            return loss, slope / unit

        found = minimize(
            scaled, v * unit, jac=True, method="L-BFGS-B", bounds=self.limits * unit, options=rest
        )
        end = np.clip(found.x / unit, self.limits[:, 0], self.limits[:, 1])
        if self.loss(end) > self.loss(v):
            return v, False
        return end, bool(found.success)

    def log_evidence(self, v: FloatArray) -> float:
        """Log density of the data in their own unit, at a point of the search."""
        return self.doubt(v)[0] - self.loss(v) - len(self.observations) * float(np.log(self.spread))

    def result(self, v: FloatArray, converged: bool) -> Fit:
        stuck = np.min(np.abs(self.limits - v[:, None]), axis=1) < _AT_BOUND
        stuck &= self.limits[:, 0] < self.limits[:, 1]  # what was never free did not stop anywhere
        at_bound = [name for name, is_stuck in zip(self.names, stuck, strict=True) if is_stuck]
        prior, noise = self.parameters(v)
        if self.sigma_is_closed:
            sigma = float(np.sqrt(self.amplitude(self.evidence(v).evidence_terms())))
            if np.min(np.abs(np.log(self.sigma_limits) - np.log(sigma))) < _AT_BOUND:
                at_bound.append("sigma")
            assert noise is not None
            prior, noise = prior.rescaled(sigma=sigma), noise * sigma**2
        return Fit(
            posterior=self.start.with_parameters(prior, noise),
            log_evidence=self.log_evidence(v),
            log_belief=-self.doubt(v)[0],
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
    return spread if spread > 1 / LARGEST_VALUE else max(abs(centre), 1.0)
