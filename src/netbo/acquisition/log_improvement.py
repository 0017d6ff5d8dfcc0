"""Logarithm of the expected improvement, to all digits however small it is."""

import math

import numpy as np
from scipy.special import erfcx, ndtr

from netbo.arrays import FloatArray

DIRECT = -1.0  # above it phi + z Phi loses less than two bits
ASYMPTOTIC = -30.0  # below it nine terms of the series have all digits; above it erfcx loses less than four
HALF_LOG_2_PI = math.log(2 * math.pi) / 2
# 1 - x M(x) = x^-2 (1 - 3 x^-2 + 15 x^-4 - ...), M the Mills ratio: double factorials
SERIES = tuple((-1.0) ** k * math.prod(range(1, 2 * k + 2, 2)) for k in range(9))


def log_expected_improvement(mean: FloatArray, std: FloatArray, best: FloatArray | float) -> FloatArray:
    """log E max(f - best, 0) for f ~ N(mean, std^2), broadcast.

    log std + log h(z), h(z) = phi(z) + z Phi(z), z = (mean - best) / std. Where std is 0 it is the logarithm
    of the improvement, -inf if there is none.
    """
    gap, std = np.broadcast_arrays(np.asarray(mean - best, dtype=np.float64), std)
    with np.errstate(divide="ignore", over="ignore", invalid="ignore"):
        z = gap / std
        is_sure = (std == 0) | (z == np.inf)
        sure = np.log(np.maximum(gap, 0.0))
        uncertain = np.log(std) + _log_h(np.where(is_sure, 0.0, z))
    return np.where(is_sure, sure, uncertain)


def _log_h(z: FloatArray) -> FloatArray:
    """log(phi(z) + z Phi(z)): for z << 0 both terms cancel, so 1 - x M(x), x = -z, is formed instead."""
    result = np.empty_like(z)
    is_direct, is_far = z >= DIRECT, z < ASYMPTOTIC
    near = z[is_direct]
    result[is_direct] = np.log(np.exp(-near * near / 2 - HALF_LOG_2_PI) + near * ndtr(near))
    middle = z[~is_direct & ~is_far]
    mills = math.sqrt(math.pi / 2) * erfcx(-middle / math.sqrt(2))
    result[~is_direct & ~is_far] = np.log1p(middle * mills) - middle * middle / 2 - HALF_LOG_2_PI
    far = z[is_far]
    series = np.log(np.polynomial.polynomial.polyval(far**-2, SERIES))
    result[is_far] = series - 2 * np.log(-far) - far * far / 2 - HALF_LOG_2_PI
    return result
