"""Between the nodes of an exact element: what its ends give to a point, and what they leave open.

At distance z from the left end of a cell of length h, in units of 1/kappa, with r = sqrt(s) and w = h - z:

    P = sinh(r w)/sinh(r h)   Q = sinh(r z)/sinh(r h)   g(z, z') = sinh(r min) sinh(r (h - max))/(r sinh(r h))

as Taylor coefficients in s at s = 1: ratios of entire functions on short cells, of exponentials on long ones.
"""

from dataclasses import dataclass

import numpy as np
from scipy.special import factorial

from netbo.arrays import FloatArray
from netbo.linalg.hyperbolic import NEGLIGIBLE, fill_taylor, taylor_weights
from netbo.linalg.runtime import allocating_kernel, inline, kernel

SHORT_CELL = 2.5  # below this h power series: both forms lose few digits around it
_FACTORS = 1 / factorial(np.arange(80), exact=False)


@dataclass(frozen=True, slots=True)
class Interpolation:
    """Taylor coefficients in s, at s = 1, of P and Q, the last one of g(z, z), and their slopes in z."""

    left: FloatArray  # (n, p) P_0..P_(p-1)
    right: FloatArray  # (n, p) Q_0..Q_(p-1)
    bridge: FloatArray  # (n,) g_(p-1)(z, z)
    left_slope: FloatArray  # (n, p)
    right_slope: FloatArray  # (n, p)
    bridge_slope: FloatArray  # (n,) of z -> g_(p-1)(z, z)


def hyperbolic_interpolation(cells: FloatArray, z: FloatArray, order: int) -> Interpolation:
    """Interpolation at distance z (n,) from the left end of cells of length kappa h (n,), for p = order.

    Slopes in z: P' = -r cosh(r w)/sinh(r h), Q' = r cosh(r z)/sinh(r h), g' = sinh(r (h - 2 z))/sinh(r h).
    """
    values = np.empty((4, len(cells), order))
    bridges = np.empty((2, len(cells)))
    _fill_points(cells, z, _FACTORS, taylor_weights(order), values, bridges)
    left, right, left_slope, right_slope = values
    return Interpolation(left, right, bridges[0], left_slope, right_slope, bridges[1])


@allocating_kernel
def _fill_points(
    cells: FloatArray,
    z: FloatArray,
    factors: FloatArray,
    shared: tuple[FloatArray, FloatArray],
    values: FloatArray,
    bridges: FloatArray,
) -> None:
    p = values.shape[2]
    roots, weights = shared
    work = np.empty((8, p))
    for i in range(len(cells)):
        if cells[i] < SHORT_CELL:
            bridges[0, i], bridges[1, i] = _short_point(
                cells[i], z[i], factors, work, values[0, i], values[1, i], values[2, i], values[3, i]
            )
        else:
            bridges[0, i], bridges[1, i] = _long_point(
                cells[i], z[i], roots, weights, work, values[0, i], values[1, i], values[2, i], values[3, i]
            )


@inline
def _short_point(
    h: float,
    z: float,
    factors: FloatArray,
    work: FloatArray,
    P: FloatArray,
    Q: FloatArray,
    dP: FloatArray,
    dQ: FloatArray,
) -> tuple[float, float]:
    """P = (w/h) S(w)/S(h), P' = -C(w)/(h S(h)), g = z S(z) P, its slope P C(z) - Q C(w); Q likewise."""
    Cz, Sz, Cw, Sw = work[0], work[1], work[2], work[3]
    Ch, Sh, inverse = work[4], work[5], work[6]
    w = h - z
    _entire(z, h, factors, Cz, Sz)
    _entire(w, h, factors, Cw, Sw)
    _entire(h, h, factors, Ch, Sh)
    _invert(Sh, inverse)
    _multiply(Sw, inverse, w / h, P)
    _multiply(Sz, inverse, z / h, Q)
    _multiply(Cw, inverse, -1 / h, dP)
    _multiply(Cz, inverse, 1 / h, dQ)
    return z * _last(Sz, P), _last(P, Cz) - _last(Q, Cw)


@inline
def _long_point(
    h: float,
    z: float,
    roots: FloatArray,
    weights: FloatArray,
    work: FloatArray,
    P: FloatArray,
    Q: FloatArray,
    dP: FloatArray,
    dQ: FloatArray,
) -> tuple[float, float]:
    """With E(x) = exp(-r x), D(x) = 1 - E(2 x), A = D(w)/D(h), B = D(z)/D(h): P = E(z) A and Q = E(w) B.

    P' = -r E(z) (2/D(h) - A), Q' = r E(w) (2/D(h) - B), g = D(z) A/(2 r), its slope A - B.
    """
    D, Dz, inverse, A, B, product = work[0], work[1], work[2], work[3], work[4], work[5]
    w = h - z
    _deficit(h, weights, D)
    _invert(D, inverse)
    _deficit(w, weights, D)
    _multiply(D, inverse, 1.0, A)
    _deficit(z, weights, Dz)
    _multiply(Dz, inverse, 1.0, B)
    _spread(z, roots, weights, inverse, A, work[6], work[7], P, dP)
    _spread(w, roots, weights, inverse, B, work[6], work[7], Q, dQ)
    for j in range(len(dP)):
        dP[j] *= -1
    _multiply(Dz, A, 1.0, product)
    return _last_over_root(product, roots) / 2, A[-1] - B[-1]


@kernel
def _spread(
    x: float,
    roots: FloatArray,
    weights: FloatArray,
    inverse: FloatArray,
    ratio: FloatArray,
    E: FloatArray,
    rest: FloatArray,
    out: FloatArray,
    slope: FloatArray,
) -> None:
    """E(x) ratio and r E(x) (2 inverse - ratio)."""
    fill_taylor(np.exp(-x), x, weights, E)
    _multiply(E, ratio, 1.0, out)
    for j in range(len(rest)):
        slope[j] = 2 * inverse[j] - ratio[j]
    _multiply(E, slope, 1.0, rest)
    _multiply(rest, roots, 1.0, slope)


@kernel
def _entire(x: float, h: float, factors: FloatArray, C: FloatArray, S: FloatArray) -> None:
    """Taylor coefficients at s = 1 of C = cosh(r x) and S = sinh(r x)/(r x), as many terms as h >= x needs.

    Horner's rule for Taylor coefficients in y = s x^2 at y = x^2, of sum y^m/(2 m)! and sum y^m/(2 m + 1)!.
    """
    y, terms, power = x**2, len(C), 1.0
    while power * factors[2 * (terms - len(C))] > NEGLIGIBLE:
        power *= h**2
        terms += 1
    C[:] = 0.0
    S[:] = 0.0
    for m in range(terms - 1, -1, -1):
        for k in range(len(C) - 1, 0, -1):
            C[k] = y * C[k] + C[k - 1]
            S[k] = y * S[k] + S[k - 1]
        C[0] = y * C[0] + factors[2 * m]
        S[0] = y * S[0] + factors[2 * m + 1]
    power = y
    for k in range(1, len(C)):
        C[k] *= power
        S[k] *= power
        power *= y


@kernel
def _deficit(x: float, weights: FloatArray, D: FloatArray) -> None:
    """Taylor coefficients of 1 - exp(-2 r x)."""
    fill_taylor(-np.exp(-2 * x), 2 * x, weights, D)
    D[0] = -np.expm1(-2 * x)


@kernel
def _multiply(a: FloatArray, b: FloatArray, factor: float, out: FloatArray) -> None:
    """Product of two Taylor series, times a factor, into a third array."""
    for k in range(len(out)):
        total = 0.0
        for i in range(k + 1):
            total += a[i] * b[k - i]
        out[k] = factor * total


@kernel
def _invert(a: FloatArray, out: FloatArray) -> None:
    """1/a of a Taylor series."""
    out[0] = 1 / a[0]
    for k in range(1, len(out)):
        total = 0.0
        for i in range(k):
            total -= out[i] * a[k - i]
        out[k] = total * out[0]


@inline
def _last(a: FloatArray, b: FloatArray) -> float:
    """Last Taylor coefficient of a product."""
    total = 0.0
    for i in range(len(b)):
        total += a[i] * b[len(b) - 1 - i]
    return total


@inline
def _last_over_root(a: FloatArray, roots: FloatArray) -> float:
    """Last Taylor coefficient of a/r: 1/r is twice the derivative of r = sqrt(s)."""
    total = 0.0
    for i in range(len(a)):
        total += 2 * (i + 1) * roots[i + 1] * a[len(a) - 1 - i]
    return total
