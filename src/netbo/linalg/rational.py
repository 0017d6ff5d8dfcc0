"""Positive rational approximations of x^b on (0, 1]: what makes fields of fractional smoothness computable.

x stands for kappa^2 / lambda, lambda >= kappa^2 an eigenvalue of L, and b = 2 alpha = n + f, 0 < f < 1:

    x^b ~ x^n (constant + sum_i weights_i x / (x + shifts_i) + tail x),      all of them >= 0.

Every term is a covariance, x / (x + s) = c / (c + lambda / kappa^2) with c = 1/s, so the sum is one whatever
its error. docs/theory/fractional.md says why x^(2 alpha) is fitted and not x^alpha.
"""

import math
from dataclasses import dataclass
from functools import cached_property, lru_cache

import numpy as np
from scipy.linalg import eigvals
from scipy.optimize import minimize_scalar
from scipy.special import ellipj, ellipkm1

from netbo.arrays import FloatArray, read_only
from netbo.errors import ParameterError

LARGEST_ORDER = 40  # terms of an interpolant; beyond it rounding leaves nothing to gain
FINEST = 1e-15  # the smallest x that nodes of an interpolant are spread to
LARGEST_LOGARITHM = 690.0  # of 1/s: beyond it s is no double
QUADRATURE = 3000  # nodes of the measured error: two digits of it, which is what a size needs
FARTHEST = 340.0  # largest t of the quadrature, where x = 1/cosh(t)^2 is still a double


@dataclass(frozen=True, eq=False)
class RationalPower:
    """x^power as x^whole (constant + sum_i weights_i x / (x + shifts_i) + tail x), on [lowest, 1].

    >>> power = rational_power(1.5, tolerance=1e-6)
    >>> power.n_terms, bool(abs(power(0.25) - 0.125) < 1e-6), power.error < 1e-6
    (11, True, True)
    """

    power: float  # b = 2 alpha
    weights: FloatArray  # (m,)
    shifts: FloatArray  # (m,)
    constant: float = 0.0
    tail: float = 0.0
    lowest: float = 0.0  # smallest x that occurs; 0: the continuum

    @property
    def whole(self) -> int:
        """n, the whole part of the power."""
        return math.floor(self.power)

    @property
    def n_terms(self) -> int:
        """Number m of shifts."""
        return len(self.shifts)

    def __call__(self, x: float | FloatArray) -> FloatArray:
        """Values at x."""
        points = np.asarray(x, dtype=np.float64)
        terms = points[..., None] / (points[..., None] + self.shifts)
        values: FloatArray = points**self.whole * (self.constant + terms @ self.weights + self.tail * points)
        return values

    @cached_property
    def error(self) -> float:
        """Kernel error relative to the variance, measured; the larger of two numbers.

        int |r(x) - x^b| d omega / int x^b d omega with x = 1 / (1 + omega^2) >= lowest bounds the error at
        every lag on the infinite line. |r(1) - 1| is what remains where the range is much larger than the
        network and the constant function carries all variance.
        """
        slope = 2 * self.power - 1
        far = min(math.acosh(self.lowest**-0.5) if self.lowest else 40 / slope, FARTHEST)
        t = np.linspace(0.0, far, QUADRATURE)  # omega = sinh t
        x = np.cosh(t) ** -2
        missed, present = np.abs(self(x) - x**self.power), x**self.power
        beyond = 2 ** (self.power * 2 - 1) * math.exp(-slope * far) / slope if not self.lowest else 0.0
        integrals = [float(np.trapezoid(y * np.cosh(t), t)) + beyond for y in (missed, present)]
        return max(integrals[0] / integrals[1], float(missed[0]))


def rational_power(power: float, tolerance: float = 1e-8, lowest: float = 0.0) -> RationalPower:
    """The approximation of x^power on [lowest, 1] with the fewest terms that keeps to the tolerance.

    lowest: kappa^2 / lambda of the largest eigenvalue there is; 0 for the continuum.
    """
    power, tolerance, lowest = _checked(power, lowest), float(tolerance), float(lowest)
    if not 0 < tolerance < 1:
        raise ParameterError(f"tolerance must be between 0 and 1, got {tolerance}; 1e-8 is the usual one")
    return _rational_power(power, tolerance, lowest)


def _checked(power: float, lowest: float) -> float:
    power = float(power)
    if not (power > 0.5 and math.isfinite(power)):
        raise ParameterError(f"the power 2 alpha must be above 1/2, got {power}; rougher fields do not exist")
    if power == math.floor(power):
        raise ParameterError(f"the power {power:g} is whole and needs no approximation; use whittle_matern")
    if not 0 <= lowest < 1:
        raise ParameterError(f"lowest must be in [0, 1), got {lowest}; 0 is the continuum")
    return power


@lru_cache(maxsize=256)
def _rational_power(power: float, tolerance: float, lowest: float) -> RationalPower:
    fitted = _fewest_terms(power, tolerance, lowest)
    if fitted.error <= tolerance:
        return fitted
    found = [fitted]
    finest = max(_reachable(power), 1e-16)
    for sharper in (1.0, 0.5, 0.1, 0.01, 0.0):
        found.append(closed_form_power(power, max(sharper * tolerance, finest), lowest))
        if found[-1].error <= tolerance:
            return found[-1]
    reached = min(candidate.error for candidate in found)
    raise ParameterError(
        f"x^{power:g} can be approximated to {reached:.1e} of the variance, got tolerance {tolerance:.1e}; "
        f"pass tolerance={1.1 * reached:.1e} or a larger alpha"
    )


def _fewest_terms(power: float, tolerance: float, lowest: float) -> RationalPower:
    """The interpolant with the fewest terms that keeps to the tolerance, or else the most accurate.

    By bisection: the error falls as terms are added, until rounding spoils the interpolant.
    """
    best = _best_interpolant(power, 1, lowest)
    assert best is not None
    low, high = (0, 1) if best.error <= tolerance else (1, LARGEST_ORDER + 1)
    while high - low > 1:
        middle = min(2 * low, (low + high) // 2)
        fit = _best_interpolant(power, middle, lowest)
        if fit is not None and fit.error <= max(tolerance, best.error):
            best = fit
        low, high = (low, middle) if fit is None or fit.error <= tolerance else (middle, high)
    return best


def interpolated_power(power: float, n_terms: int, lowest: float = 0.0) -> RationalPower:
    """The interpolant of x^f in Zolotarev's points of the interval [a, 1] whose kernel error is smallest.

    x^f is a Stieltjes function, so weights, shifts and constant are positive whatever the nodes; those points
    make the error fall as exp(-2 pi^2 m / log(16 / a)), which is the rate of the best uniform approximation.
    a is searched: the kernel error weighs small x by x^n, and a uniform one would waste terms on them.
    """
    fit = _best_interpolant(_checked(power, lowest), n_terms, float(lowest))
    if fit is None:
        raise ParameterError(
            f"with {n_terms} terms rounding spoils the interpolant of x^{power:g}; take fewer"
        )
    return fit


@lru_cache(maxsize=1024)
def _best_interpolant(power: float, n_terms: int, lowest: float) -> RationalPower | None:
    fits: list[RationalPower] = []

    def loss(logarithm: float) -> float:
        fit = _interpolant(power, n_terms, math.exp(logarithm), lowest)
        if fit is None:
            return 0.0
        fits.append(fit)
        return math.log(max(fit.error, 1e-17))

    bounds = (math.log(max(lowest, FINEST)), math.log(0.7))
    minimize_scalar(loss, bounds=bounds, method="bounded", options={"xatol": 0.1})
    loss(bounds[0])
    return min(fits, key=lambda fit: fit.error, default=None)


def _interpolant(power: float, n_terms: int, start: float, lowest: float) -> RationalPower | None:
    """The interpolant in Zolotarev's points of [start, 1], or None where rounding has spoilt it.

    2 m + 1 nodes; for n = 0 one of them is x = 0, so that no white noise is left over.
    """
    whole, has_constant = math.floor(power), power > 1
    fraction = power - whole
    nodes = _zolotarev_points(2 * n_terms + has_constant, start)
    shifts = _shifts(nodes if has_constant else np.concatenate([[0.0], nodes]), fraction)
    if shifts is None:
        return None
    columns = nodes[:, None] / (nodes[:, None] + shifts)
    if has_constant:
        columns = np.column_stack([columns, np.ones(len(nodes))])
    rows = np.ones(len(nodes)) if has_constant else nodes**-0.5  # of the size the kernel error gives them
    columns, scale = rows[:, None] * columns, np.abs(rows[:, None] * columns).max(axis=0)
    weights = np.linalg.lstsq(columns / scale, rows * nodes**fraction, rcond=None)[0] / scale
    if np.any(weights <= 0):
        return None
    constant = float(weights[-1]) if has_constant else 0.0
    weights = read_only(weights[:n_terms].copy())
    return RationalPower(power, weights, read_only(shifts), constant, lowest=lowest)


def _zolotarev_points(n: int, start: float) -> FloatArray:
    """Where rational interpolants of functions with a cut along (-inf, 0] meet them best on [start, 1]."""
    arguments = (2 * np.arange(n, 0, -1) - 1) / (2 * n) * ellipkm1(start)
    points: FloatArray = ellipj(arguments, 1 - start)[2] ** 2
    return points


def _shifts(nodes: FloatArray, fraction: float) -> FloatArray | None:
    """Minus the poles of the interpolant of x^fraction in 2 m + 1 nodes; None unless m positive numbers.

    The barycentric weights v in every second node are the null vector of the Löwner matrix of the others, the
    poles the zeros of sum_j v_j / (x - z_j), found as eigenvalues.
    """
    z, y = nodes[::2], nodes[1::2]
    loewner = (y[:, None] ** fraction - z**fraction) / (y[:, None] - z)
    size = len(z)
    pencil, mass = np.zeros((2, size + 1, size + 1))
    pencil[0, 1:], pencil[1:, 0] = np.linalg.svd(loewner)[2][-1], 1.0
    pencil[1:, 1:], mass[1:, 1:] = np.diag(z), np.eye(size)
    with np.errstate(divide="ignore", invalid="ignore"):
        poles = eigvals(pencil, mass)
    poles = poles[np.isfinite(poles)]
    if len(poles) != size - 1 or np.any(poles.imag != 0) or np.any(poles.real >= 0):
        return None
    return np.sort(-poles.real)


def closed_form_power(power: float, tolerance: float = 1e-8, lowest: float = 0.0) -> RationalPower:
    """Sinc quadrature of x^f = sin(pi f)/pi int s^(f-1) x / (x + s) ds, smooth in the power.

    Nodes s_k = e^(k eta) between limits set by the tolerance; what lies above them acts as a tail, what lies
    below as a constant (n >= 1), both geometric series. It takes more terms than an interpolant and is the
    only way near alpha = 1/4.
    """
    power = _checked(power, lowest)
    whole = math.floor(power)
    fraction, digits = power - whole, math.log(1 / tolerance)
    eta = 2 * math.pi**2 / (1 + digits)
    below = digits / (fraction + min(1.0, whole - 0.5)) if whole else digits / (power - 0.5)
    if below > LARGEST_LOGARITHM:
        raise ParameterError(
            f"x^{power:g} has a closed form for tolerances from {_reachable(power):.1e} on, got "
            f"{tolerance:.1e}; pass a larger tolerance or a larger alpha"
        )
    first, last = -math.ceil(below / eta), math.ceil(digits / (2 - fraction) / eta)
    k = np.arange(first, last + 1)
    scale = eta * math.sin(math.pi * fraction) / math.pi
    rest = -scale * math.exp(fraction * first * eta) / math.expm1(-fraction * eta)  # k < first, and `first`
    beyond = -scale * math.exp((fraction - 1) * (last + 1) * eta) / math.expm1((fraction - 1) * eta)
    return RationalPower(
        power,
        weights=read_only(scale * np.exp(fraction * eta * k)),
        shifts=read_only(np.exp(eta * k)),
        constant=rest - scale * math.exp(fraction * first * eta) if whole else 0.0,
        tail=beyond,
        lowest=lowest,
    )


def _reachable(power: float) -> float:
    """The smallest tolerance whose closed form has only doubles for shifts."""
    return math.exp(-LARGEST_LOGARITHM * (power - 0.5)) * (1 + 1e-9) if power < 1 else 0.0
