"""Means and covariances of many small sets of points, most of which have most points in common.

BoTorch asks for the joint law of [what was measured, one candidate, what is pending] for every candidate.
Only the candidate differs, so a solve for each point in common and one variance a candidate are enough.
"""

import numpy as np

from netbo.arrays import FloatArray, IntArray
from netbo.geometry import MetricGraph, Points
from netbo.posterior import Surrogate

TOGETHER = 1_000  # points whose whole covariance is computed at once


def joint_moments(
    surrogate: Surrogate, graph: MetricGraph, sets: FloatArray
) -> tuple[FloatArray, FloatArray]:
    """Means (b, q) and covariances (b, q, q) of the objective at b sets of q rows (edge, distance)."""
    b, q, _ = sets.shape
    mean, covariance = np.empty((b, q)), np.empty((b, q, q))
    if not sets.size:
        return mean, covariance
    is_common = (sets == sets[:1]).all(axis=(0, 2)) if q > 1 else np.zeros(1, dtype=np.bool_)
    common, varying = np.flatnonzero(is_common), np.flatnonzero(~is_common)
    if len(common):
        x = as_points(sets[0, common], graph)
        mean[:, common] = surrogate.mean(x)
        covariance[:, common[:, None], common] = _symmetric(surrogate.covariance(x, x))
    if len(varying):
        step = b if len(varying) == 1 else max(1, TOGETHER // len(varying))
        for first in range(0, b, step):
            part = slice(first, first + step)
            _fill_varying(surrogate, graph, sets[part], common, varying, mean[part], covariance[part])
    return mean, covariance


def _fill_varying(
    surrogate: Surrogate,
    graph: MetricGraph,
    sets: FloatArray,
    common: IntArray,
    varying: IntArray,
    mean: FloatArray,
    covariance: FloatArray,
) -> None:
    """Moments of the points that differ between sets, among themselves and with the common ones."""
    rows, where = np.unique(sets[:, varying].reshape(-1, 2), axis=0, return_inverse=True)
    which = where.reshape(len(sets), len(varying))  # row of each varying point
    x = as_points(rows, graph)
    mean[:, varying] = surrogate.mean(x)[which]
    if len(varying) == 1:
        covariance[:, varying[0], varying[0]] = surrogate.variance(x)[which[:, 0]]
    else:
        among = _symmetric(surrogate.covariance(x, x))
        covariance[:, varying[:, None], varying] = among[which[:, :, None], which[:, None, :]]
    if len(common):
        across = surrogate.covariance(x, as_points(sets[0, common], graph))[which]  # (b, v, c)
        covariance[:, varying[:, None], common] = across
        covariance[:, common[:, None], varying] = across.transpose(0, 2, 1)


def as_points(rows: FloatArray, graph: MetricGraph) -> Points:
    """Points of a network at rows (edge, distance)."""
    return Points(rows[:, 0].astype(np.int64), rows[:, 1], graph=graph)


def _symmetric(matrix: FloatArray) -> FloatArray:
    half: FloatArray = (matrix + matrix.T) / 2
    return half
