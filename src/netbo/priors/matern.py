"""Parameters of Whittle-Matérn fields, in the paper's spelling and in the user's."""

import math
from dataclasses import dataclass
from functools import cache

from netbo.checks import explained_class, require_number, require_positive
from netbo.errors import ParameterError

SMALLEST_ALPHA = 0.25  # at and below it the field is no function: its variance is infinite
LARGEST_LOG = 690.0  # of a variance that is still a number, and so is its reciprocal


@explained_class
@dataclass(frozen=True, slots=True, init=False)
class Matern:
    """Parameters of the field L^alpha (tau u) = W, L = kappa^2 - Laplacian (equa:prior gaussian).

    Give kappa or range, and tau or sigma or neither: the amplitude is then 1, in the spelling of the first.

    Parameters
    ----------
    alpha : float
        Smoothness, above 1/4: nu = 2 alpha - 1/2.
    kappa : float, optional
        Inverse length scale, the paper's spelling of the range.
    tau : float, optional
        Inverse amplitude, the paper's spelling of sigma.
    range : float, optional
        sqrt(8 nu) / kappa, the distance at which the correlation on a line has fallen to about 0.14.
    sigma : float, optional
        The standard deviation that the field would have on the infinite line.

    Raises
    ------
    ParameterError
        If alpha is not above 1/4, a parameter is not positive and finite, or both spellings of one are given.

    Examples
    --------
    >>> matern = Matern(alpha=1.0, range=2.0, sigma=3.0)
    >>> matern.kappa, round(matern.sigma, 12), matern.nu
    (1.7320508075688772, 3.0, 1.5)
    """

    alpha: float  # smoothness: nu = 2 alpha - 1/2
    kappa: float  # inverse length scale
    tau: float  # inverse amplitude

    def __init__(
        self,
        alpha: float,
        kappa: float | None = None,
        tau: float | None = None,
        *,
        range: float | None = None,  # noqa: A002 - the word users know
        sigma: float | None = None,
    ) -> None:
        alpha = require_number("alpha", alpha, "pass a float")
        if not SMALLEST_ALPHA < alpha < math.inf:
            raise ParameterError(
                f"alpha must be above 1/4, got {alpha}; 1 is a smooth start, 1/2 a rough one"
            )
        if (kappa is None) == (range is None):
            raise ParameterError(f"give kappa or range, one of them, got kappa={kappa} and range={range}")
        if tau is not None:
            tau = _positive("tau", tau)
        if tau is not None and sigma is not None:
            raise ParameterError(f"give tau or sigma, not both, got tau={tau} and sigma={sigma}")
        if tau is None and sigma is None:
            tau, sigma = (1.0, None) if range is None else (None, 1.0)
        nu = 2 * alpha - 0.5
        if kappa is None:
            kappa = math.sqrt(8 * nu) / _positive("range", range)
        kappa = _positive("kappa", kappa)
        size = f"sigma={sigma}" if tau is None else f"tau={tau}"
        if tau is None:
            exponent = (_log_unit_variance(alpha) - 2 * nu * math.log(kappa)) / 2
            tau = _exp(exponent) / _positive("sigma", sigma)
        for name, value in (("alpha", alpha), ("kappa", kappa), ("tau", tau)):
            object.__setattr__(self, name, value)
        if tau in (0.0, math.inf) or abs(2 * nu * math.log(kappa) + 2 * math.log(tau)) > LARGEST_LOG:
            raise ParameterError(
                f"the variance of the field must be a number of ordinary size, got alpha={alpha:g}, "
                f"range={self.range:g} and {size}; change the unit of length or of the values"
            )

    @property
    def nu(self) -> float:
        """Smoothness of the Matérn family: sample paths have nu derivatives in mean square."""
        return 2 * self.alpha - 0.5

    @property
    def range(self) -> float:
        """Distance at which the correlation on a line has fallen to about 0.14."""
        return math.sqrt(8 * self.nu) / self.kappa

    @property
    def sigma(self) -> float:
        """Standard deviation on the infinite line.

        sigma^2 = Gamma(nu) / (tau^2 kappa^(2 nu) sqrt(4 pi) Gamma(nu + 1/2)).
        """
        return math.exp(_log_unit_variance(self.alpha) / 2 - self.nu * math.log(self.kappa)) / self.tau

    @property
    def amplitude(self) -> float:
        """tau^-2 kappa^(-2 nu): what the covariance of the unit field, kappa = tau = 1, is multiplied by."""
        return math.exp(-2 * self.nu * math.log(self.kappa)) / self.tau**2

    @property
    def order(self) -> int:
        """The whole number p = 2 alpha, where the finite element form exists without approximation."""
        p = round(2 * self.alpha)
        if abs(2 * self.alpha - p) > 1e-12 or p < 1:
            raise ParameterError(
                f"this prior needs a whole number 2 alpha, got alpha={self.alpha}; "
                "take 1/2, 1, 3/2 or 2, or spectral() for any alpha"
            )
        return p

    def rescaled(self, *, range: float | None = None, sigma: float | None = None) -> "Matern":  # noqa: A002
        """The same smoothness with another range, another sigma, or both; what is left out stays."""
        return Matern(
            self.alpha,
            range=self.range if range is None else range,
            sigma=self.sigma if sigma is None else sigma,
        )


def _exp(x: float) -> float:
    return math.exp(min(max(x, -LARGEST_LOG), LARGEST_LOG))


@cache
def _log_unit_variance(alpha: float) -> float:
    """Log variance on the infinite line at kappa = tau = 1."""
    nu = 2 * alpha - 0.5
    return math.lgamma(nu) - math.lgamma(nu + 0.5) - math.log(4 * math.pi) / 2


def _positive(name: str, value: object) -> float:
    number = require_number(name, value, "pass a float")
    return require_positive(name, number, "check the unit of length")
