"""The smoothness alpha by maximum likelihood, with range, amplitude, noise and mean fitted along."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.optimize import minimize_scalar

from netbo.checks import explained
from netbo.errors import ParameterError
from netbo.posterior.fitting import Fit, fit_parameters
from netbo.posterior.observations import Observations
from netbo.priors import Prior

COARSE_ALPHAS = (0.3, 0.5, 0.75, 1.0, 1.5, 2.0)  # where the search for alpha looks first
SMALLEST = 0.26  # above 1/4, where the variance is infinite
ALPHA_TOLERANCE = 1e-3  # of the search; data rarely tell alpha to a tenth


@dataclass(frozen=True, slots=True)
class SmoothnessFit:
    """The most likely alpha, the fit there, and the profile of the evidence that led to it."""

    alpha: float
    fit: Fit
    profile: tuple[tuple[float, float], ...]  # (alpha, log evidence maximized over the rest), by alpha

    @property
    def interval(self) -> tuple[float, float]:
        """Smallest and largest alpha looked at whose log evidence is within 2 of the best."""
        near = [alpha for alpha, evidence in self.profile if evidence >= self.fit.log_evidence - 2.0]
        return min(near), max(near)


@explained
def fit_smoothness(
    prior: Callable[[float], Prior],
    observations: Observations,
    *,
    bounds: tuple[float, float] = (0.3, 2.0),
    **options: Any,
) -> SmoothnessFit:
    """Fit alpha, and range, sigma, noise and mean along with it, by maximum likelihood.

    Parameters
    ----------
    prior : callable
        Makes the prior of an alpha, such as `lambda a: whittle_matern(space, Matern(a, range=1.0))`.
    observations : Observations
        At least one; data rarely tell alpha to a tenth.
    bounds : tuple of float, default (0.3, 2.0)
        Where alpha may lie.
    **options
        As for `fit_parameters`.

    Returns
    -------
    SmoothnessFit
        The most likely alpha, the fit there, and the profile of the evidence.

    Raises
    ------
    ParameterError
        If the bounds are not 0.26 <= low < high.
    """
    low, high = bounds
    if not SMALLEST <= low < high < np.inf:
        raise ParameterError(f"bounds of alpha must be {SMALLEST} <= low < high, got {bounds}; swap them?")
    fits: dict[float, Fit] = {}

    def loss(alpha: float) -> float:
        if alpha not in fits:
            near = min(fits, key=lambda other: abs(np.log(other / alpha)), default=None)
            start = None if near is None else fits[near]
            fits[alpha] = fit_parameters(prior(alpha), observations, start=start, **options)
        return -fits[alpha].log_evidence

    grid = np.unique(np.clip(COARSE_ALPHAS, low, high))
    best = int(np.argmin([loss(float(alpha)) for alpha in grid]))
    around = (float(grid[max(best - 1, 0)]), float(grid[min(best + 1, len(grid) - 1)]))
    minimize_scalar(
        lambda v: loss(float(np.exp(v))),
        bounds=np.log(around),
        method="bounded",
        options={"xatol": ALPHA_TOLERANCE},
    )
    alpha = min(fits, key=lambda each: -fits[each].log_evidence)
    profile = tuple((each, fits[each].log_evidence) for each in sorted(fits))
    return SmoothnessFit(alpha, fits[alpha], profile)
