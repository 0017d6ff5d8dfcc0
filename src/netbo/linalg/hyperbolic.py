"""The exact element of a cell, kappa [[coth kh, -csch kh], [-csch kh, coth kh]], and its differences in s.

With z = s h^2 and r = sqrt(z): off-diagonal -psi(z)/h, row sum phi(z)/h, psi = r / sinh r, phi = r tanh(r/2).
Taylor coefficients are the divided differences K[1, ..., 1, 1 + shift] at shift = 0: one kernel gives both,
without a difference of nearly equal numbers:

- short cells: the poles z = -a of phi and psi nearest to 0 one by one, since the divided difference of
  1/(z + a) is a product of factors -1/(z_i + a), and all farther ones as a power series;
- long cells: e = exp(-r), t = e/(1 + e), v = e/(1 - e): phi = r - 2 r t, psi = r (t + v), by Leibniz' rule,
  with f^k = f[1 (k times), 1 + shift]: (f g)^k = sum_(i<k) f_i g^(k-i) + f^k g^0;
- short cells, large shift: D_k = (D_(k-1) - K_(k-1))/shift, for D_(k-1) is then far from K_(k-1).
"""

from math import pi

import numpy as np
from scipy.special import zeta

from netbo.arrays import FloatArray
from netbo.linalg.elements import Elements
from netbo.linalg.exponential import (
    NEGLIGIBLE,
    exponential_weights,
    fill_differences,
    fill_taylor,
    root_differences,
)
from netbo.linalg.kernels import inline, kernel

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
    _fill(cells, float(shift), _POLES, _SERIES, off, row)
    return Elements(off=off, row=row)


@kernel
def _fill(
    cells: FloatArray, shift: float, poles: FloatArray, series: FloatArray, off: FloatArray, row: FloatArray
) -> None:
    n = off.shape[1] - 1
    taylor, roots = root_differences(0.0, n), root_differences(shift, n)
    at_one, weights = exponential_weights(taylor, taylor), exponential_weights(roots, taylor)
    base, work = np.empty((3, n + 1)), np.empty((3, n + 1))  # e, t, v: Taylor coefficients and differences
    for e in range(len(cells)):
        h, far_root = cells[e], roots[0]
        if h >= LONG_CELL:
            fill_taylor(np.exp(-h), h, at_one, base[0])
            _quotients(base, base)
            if shift > 0:
                fill_differences(np.exp(-h), h, shift, far_root, weights, work[0])
                _quotients(base, work)
            _combine(taylor, roots, work if shift > 0 else base, off[e], row[e])
        else:
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
