"""What the other measurements say of each one, without conditioning again for each."""

from dataclasses import dataclass

import numpy as np

from netbo.arrays import FloatArray

LARGEST_GROWTH = 1e10  # of a variance by leaving the mean open; beyond it the others say nothing of the mean


@dataclass(frozen=True, slots=True)
class LeaveOneOut:
    """Mean and variance of every measurement, its noise included, given all others.

    Where the others do not determine an estimated mean (there are none, or all but infinitely noisy ones)
    the variance is inf and the mean NaN.
    """

    mean: FloatArray  # (n,)
    variance: FloatArray  # (n,)


def leave_one_out(
    values: FloatArray,
    dual: FloatArray,
    inverse_diagonal: FloatArray,
    dual_of_ones: FloatArray | None = None,
) -> LeaveOneOut:
    """mean_i = y_i - [P y]_i / P_ii and variance_i = 1 / P_ii, from [P y]_i and [T^-1]_ii.

    P = T^-1 for a given mean; for an estimated one P = T^-1 - T^-1 1 1' T^-1 / (1' T^-1 1).
    """
    precision = inverse_diagonal
    is_known = np.ones(len(values), dtype=bool)
    if dual_of_ones is not None:
        precision = inverse_diagonal - dual_of_ones**2 / dual_of_ones.sum()
        is_known = (precision * LARGEST_GROWTH > inverse_diagonal) & (len(values) > 1)
    variance = np.full(len(values), np.inf)
    np.divide(1.0, precision, out=variance, where=is_known)
    mean = np.full(len(values), np.nan)
    mean[is_known] = (values - dual / np.where(is_known, precision, 1.0))[is_known]
    return LeaveOneOut(mean, variance)
