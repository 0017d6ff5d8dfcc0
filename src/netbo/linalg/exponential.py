"""Divided differences of exp(-sqrt(s) h) at s = 1, ..., 1, 1 + shift, every sum with terms of one sign.

With r = sqrt(s) and E(r) = exp(-h r), Newton's interpolation at r = q, 1, ..., 1, q = sqrt(1 + shift), gives

    e[1 (k times), 1 + shift]
        = sum_(i=1..k) E[1 (i times), q] sum_(j=1..k) r[1 (j times), 1 + shift] ((r - 1)^(i-1))_(k-j)

with Taylor coefficients f_m at s = 1, E[1 (i times), q] = (-h)^i exp(-h) phi_i(-u), u = h (q - 1), and
phi_i(x) = sum_j x^j/(i + j)!.
"""

import numpy as np

from netbo.arrays import FloatArray
from netbo.linalg.kernels import inline, kernel

UPWARD = (
    4.0  # from this u on phi_i follows from phi_(i-1), which is then well below its value 1/(i-1)! at u = 0
)
NEGLIGIBLE = 1e-17  # relative size of a term that changes no digit


@kernel
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


@kernel
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
