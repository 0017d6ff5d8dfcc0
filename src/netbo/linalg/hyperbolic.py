"""The exact element of a cell, kappa [[coth kh, -csch kh], [-csch kh, coth kh]], and its differences in s.

With z = s h^2 and r = sqrt(z): off-diagonal -psi(z)/h, row sum phi(z)/h, psi = r / sinh r, phi = r tanh(r/2).
Taylor coefficients are the divided differences K[1, ..., 1, 1 + shift] at shift = 0: one kernel gives both,
without a difference of nearly equal numbers:

- short cells: the poles z = -a of phi and psi nearest to 0 one by one, since the divided difference of
  1/(z + a) is a product of factors -1/(z_i + a), and all farther ones as a power series;
- long cells: e = exp(-r), t = e/(1 + e), v = e/(1 - e): phi = r - 2 r t, psi = r (t + v), by Leibniz' rule,
  with f^k = f[1 (k times), 1 + shift]: (f g)^k = sum_(i<k) f_i g^(k-i) + f^k g^0;
- short cells, large shift: D_k = (D_(k-1) - K_(k-1))/shift, for D_(k-1) is then far from K_(k-1).

With r = sqrt(s) and E(r) = exp(-h r), Newton's interpolation at r = q, 1, ..., 1, q = sqrt(1 + shift), gives

    e[1 (k times), 1 + shift]
        = sum_(i=1..k) E[1 (i times), q] sum_(j=1..k) r[1 (j times), 1 + shift] ((r - 1)^(i-1))_(k-j)

with Taylor coefficients f_m at s = 1, E[1 (i times), q] = (-h)^i exp(-h) phi_i(-u), u = h (q - 1), and
phi_i(x) = sum_j x^j/(i + j)!.
"""

from functools import cache, lru_cache
from math import pi

import numpy as np
from scipy.special import zeta

from netbo.arrays import FloatArray
from netbo.linalg.elements import Elements
from netbo.linalg.runtime import allocating_kernel, inline

# Divided differences of exp(-sqrt(s) h) at s = 1, ..., 1, 1 + shift, every sum with terms of one sign.

UPWARD = (
    4.0  # from this u on phi_i follows from phi_(i-1), which is then well below its value 1/(i-1)! at u = 0
)
NEGLIGIBLE = 1e-17  # relative size of a term that changes no digit


def root_differences(shift: float, n: int) -> FloatArray:
    """sqrt(s)[1 (k times), 1 + shift], k = 0..n: Leibniz' rule for sqrt(s) sqrt(s) = s, no cancellation."""
    taylor, roots = np.zeros(n + 1), np.zeros(n + 1)
    taylor[0], roots[0] = 1.0, np.sqrt(1 + shift)
    for k in range(1, n + 1):
        rest, mixed = (1.0, 1.0) if k == 1 else (0.0, 0.0)
        for i in range(1, k):
            rest -= taylor[i] * taylor[k - i]
            mixed -= taylor[i] * roots[k - i]
        taylor[k] = rest / 2
        roots[k] = mixed / (1 + roots[0])
    return roots


def exponential_weights(roots: FloatArray, taylor: FloatArray) -> FloatArray:
    """The inner sums (n + 1, n + 1) over j, at [k, i]: they do not depend on h."""
    n = len(roots) - 1
    weights = np.zeros((n + 1, n + 1))
    power = np.zeros(n + 1)  # Taylor coefficients of (r - 1)^(i-1)
    power[0] = 1.0
    for i in range(1, n + 1):
        for k in range(i, n + 1):
            for j in range(1, k - i + 2):
                weights[k, i] += roots[j] * power[k - j]
        for m in range(n, -1, -1):
            total = 0.0
            for j in range(1, m + 1):
                total += taylor[j] * power[m - j]
            power[m] = total
    return weights


@cache
def taylor_weights(n: int) -> tuple[FloatArray, FloatArray]:
    """Taylor coefficients of sqrt(s), and the inner sums for them: so few that compiling took longer."""
    taylor = root_differences(0.0, n)
    return taylor, exponential_weights(taylor, taylor)


@inline
def fill_taylor(decay: float, h: float, weights: FloatArray, e: FloatArray) -> None:
    """Taylor coefficients of exp(-sqrt(s) h) at s = 1; decay = exp(-h), weights those of shift = 0."""
    e[:] = 0.0
    e[0] = decay
    for i in range(1, len(e)):
        decay *= -h / i
        for k in range(i, len(e)):
            e[k] += decay * weights[k, i]


@inline
def fill_differences(
    decay: float, h: float, shift: float, root: float, weights: FloatArray, e: FloatArray
) -> None:
    """e[1 (k times), 1 + shift], k = 0..n, with root = sqrt(1 + shift) and the weights of this shift.

    phi_i(-u) = exp(-u)/(i-1)! sum_j u^j/(j! (i + j)) for small u, (1/(i-1)! - phi_(i-1)(-u))/u for large u.
    """
    n = len(e) - 1
    u = h * (shift / (1 + root))
    fall, factorial, phi = np.exp(-u), 1.0, 0.0
    e[:] = 0.0
    e[0] = np.exp(-h * root)
    for i in range(1, n + 1):
        if u >= UPWARD:
            phi = (1 / factorial - (phi if i > 1 else fall)) / u
        else:
            phi, term, j = 0.0, fall / factorial, 0
            while term > NEGLIGIBLE * phi:
                phi += term / (i + j)
                j += 1
                term *= u / j
        decay *= -h
        factorial *= i
        for k in range(i, n + 1):
            e[k] += decay * phi * weights[k, i]


LONG_CELL = 2.5  # from this h on exponentials: in both forms sums of mixed sign then lose the fewest digits
SERIES_REACH = 6.0  # up to this sqrt(z) poles and series: their radius is 4 pi
_POLES = pi**2 * np.array([1.0, 4.0, 9.0])


def _pole_series(n_terms: int) -> FloatArray:
    """Maclaurin coefficients (2, n_terms) in z of psi and phi without their poles at -_POLES.

    psi = 1 + 2 sum_k (-1)^k z/(z + (pi k)^2), phi = 4 sum_(k odd) z/(z + (pi k)^2);
    coefficient 0 is of no use and left 0.
    """
    m = np.arange(1, n_terms)
    even, odd = zeta(2 * m, 2.0), zeta(2 * m, 2.5)  # k = 4, 6, ... and k = 5, 7, ..., times 2^(2 m)
    series = np.zeros((2, n_terms))
    series[:, 1:] = np.array([2 * (even - odd), 4 * odd]) * -((-1.0) ** m) / (2 * pi) ** (2.0 * m)
    return series


_SERIES = _pole_series(64)


def hyperbolic_elements(cells: FloatArray, order: int) -> Elements:
    """Exact elements of cells of length kappa h: K_j = K^(j)(s)/j! at s = 1, j = 0..order.

    K^-1 is the Green's function of kappa^2 - Laplacian with Kirchhoff vertices, at the nodes of any mesh.
    """
    return hyperbolic_differences(cells, 0.0, order)


def hyperbolic_differences(cells: FloatArray, shift: float, n: int) -> Elements:
    """Divided differences K[1 (k times), 1 + shift], k = 0..n, of the exact elements; shift >= 0.

    k = 0: K(1 + shift); k = 1: (K(1 + shift) - K(1))/shift; with shift = 0: the Taylor coefficients.
    """
    off, row = np.empty((2, len(cells), n + 1))
    shifted = _shifted_weights(float(shift), n)
    _fill(cells, float(shift), taylor_weights(n), shifted, _POLES, _SERIES, off, row)
    return Elements(off=off, row=row)


@lru_cache(maxsize=256)
def _shifted_weights(shift: float, n: int) -> tuple[FloatArray, FloatArray] | None:
    """Differences of sqrt(s) and the inner sums for them; None where they are those of shift 0."""
    if shift == 0:
        return None
    roots = root_differences(shift, n)
    return roots, exponential_weights(roots, taylor_weights(n)[0])


@allocating_kernel
def _fill(
    cells: FloatArray,
    shift: float,
    at_one: tuple[FloatArray, FloatArray],
    shifted: tuple[FloatArray, FloatArray] | None,
    poles: FloatArray,
    series: FloatArray,
    off: FloatArray,
    row: FloatArray,
) -> None:
    """Without a shift `shifted` is None, and what is only for shifts is not even compiled."""
    n = off.shape[1] - 1
    taylor, weights = at_one
    base, work = np.empty((3, n + 1)), np.empty((3, n + 1))  # e, t, v: Taylor coefficients and differences
    for e in range(len(cells)):
        h = cells[e]
        if h >= LONG_CELL:
            fill_taylor(np.exp(-h), h, weights, base[0])
            _quotients(base, base)
            if shifted is None:
                _combine(taylor, taylor, base, off[e], row[e])
            else:
                fill_differences(np.exp(-h), h, shift, shifted[0][0], shifted[1], work[0])
                _quotients(base, work)
                _combine(taylor, shifted[0], work, off[e], row[e])
        elif shifted is None:
            _short_cell(h, 1.0, poles, series, off[e], row[e])
        else:
            far_root = shifted[0][0]
            is_near = h * far_root <= SERIES_REACH
            _short_cell(h, far_root if is_near else 1.0, poles, series, off[e], row[e])
            if not is_near:
                far_off, far_row = _ends(h, far_root)
                _far_differences(far_off, shift, off[e])
                _far_differences(far_row, shift, row[e])


@inline
def _ends(h: float, root: float) -> tuple[float, float]:
    """K(s) itself, root = sqrt(s): off-diagonal and row sum."""
    less = -np.expm1(-h * root)  # 1 - e
    return -2 * root * np.exp(-h * root) / (less * (2 - less)), root * less / (2 - less)


@inline
def _far_differences(value: float, shift: float, taylor: FloatArray) -> None:
    """Taylor coefficients, turned into divided differences with K(1 + shift) = value."""
    for k in range(len(taylor)):
        value, taylor[k] = (value - taylor[k]) / shift, value


@inline
def _short_cell(
    h: float, root: float, poles: FloatArray, series: FloatArray, off: FloatArray, row: FloatArray
) -> None:
    """Horner's rule for differences, (z f)[z_0 (k times), z_1] = z_0 f[z_0 (k times), z_1] + f[one less]."""
    n = len(off) - 1
    near, far = h**2, (h * root) ** 2
    terms, size = n + 3, 1.0
    while size > NEGLIGIBLE and terms < series.shape[1]:
        size *= far / (16 * pi**2)
        terms += 1
    off[:] = 0.0
    row[:] = 0.0
    for m in range(terms - 1, -1, -1):
        for k in range(n, 0, -1):
            off[k] = near * off[k] + off[k - 1]
            row[k] = near * row[k] + row[k - 1]
        off[0] = far * off[0] + series[0, m]
        row[0] = far * row[0] + series[1, m]
    for i in range(len(poles)):
        factor, value = -1 / (near + poles[i]), -poles[i] / (far + poles[i])
        for k in range(1, n + 1):
            value *= factor
            off[k] += 2 * value if i % 2 else -2 * value
            row[k] += 0.0 if i % 2 else 4 * value
    off[0], row[0] = _ends(h, root)
    power = h
    for k in range(1, n + 1):
        off[k] *= -power
        row[k] *= power
        power *= near


@inline
def _quotients(base: FloatArray, work: FloatArray) -> None:
    """From e in row 0: t = e/(1 + e) and v = e/(1 - e); base may be work, for it is used up to k - 1 only."""
    plus, minus = 1 / (1 + work[0, 0]), 1 / (1 - work[0, 0])
    for k in range(work.shape[1]):
        t, v = work[0, k], work[0, k]
        for i in range(k):
            t -= base[1, i] * work[0, k - i]
            v += base[2, i] * work[0, k - i]
        work[1, k], work[2, k] = t * plus, v * minus


@inline
def _combine(
    taylor: FloatArray, roots: FloatArray, work: FloatArray, off: FloatArray, row: FloatArray
) -> None:
    """-psi/h and phi/h from t and v."""
    for k in range(len(off)):
        off[k] = -roots[k] * (work[1, 0] + work[2, 0])
        row[k] = roots[k] * (1 - 2 * work[1, 0])
        for i in range(k):
            off[k] -= taylor[i] * (work[1, k - i] + work[2, k - i])
            row[k] -= 2 * taylor[i] * work[1, k - i]
