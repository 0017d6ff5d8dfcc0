"""The few separate places where the maximum may be."""

import math
from dataclasses import dataclass
from statistics import NormalDist

import numpy as np

from netbo.arrays import BoolArray, FloatArray, IntArray
from netbo.errors import ParameterError
from netbo.geometry import Point
from netbo.optimize.answers.maximizer import MaximizerSamples
from netbo.optimize.candidates import SearchSpace
from netbo.posterior import Surrogate


@dataclass(frozen=True, slots=True)
class Mode:
    """A place, the probability that the maximum is near it, and what the objective is there."""

    point: Point
    probability: float  # that the maximum lies within the separation, and near no earlier mode
    probability_error: float  # standard error of the probability, from the number of sample paths
    mean: float
    low: float  # ends of the credible interval of the objective at the point
    high: float


def modes(
    samples: MaximizerSamples,
    surrogate: Surrogate,
    search: SearchSpace,
    k: int,
    separation: float,
    *,
    level: float = 0.95,
) -> list[Mode]:
    """Up to k places farther than `separation` from each other, the most probable first.

    Greedy: the most probable candidate, of equals the one with the largest mean, takes all sample paths whose
    maximum lies within `separation` along the network; the next is chosen from what remains. So there are
    fewer than k when nothing remains. The interval is mean -+ quantile * std at `level`.
    """
    _require(k, separation, level)
    samples.require_of(search)
    drawn, counts = np.unique(samples.index, return_counts=True)
    mean = surrogate.mean(search.points[drawn])
    order = np.lexsort((drawn, -mean, -counts))
    remaining = np.ones(len(drawn), dtype=np.bool_)
    centres: list[int] = []
    taken: list[int] = []
    while remaining.any() and len(centres) < k:
        centre = int(order[np.argmax(remaining[order])])
        near = remaining & _within(search, drawn, centre, separation)
        centres.append(centre)
        taken.append(int(counts[near].sum()))
        remaining &= ~near
    at = search.points[drawn[centres]]
    half_width = NormalDist().inv_cdf((1 + level) / 2) * surrogate.std(at)
    found = [
        _mode(point, count / len(samples), len(samples), value, width)
        for point, count, value, width in zip(at, taken, mean[centres], half_width, strict=True)
    ]
    return sorted(found, key=lambda mode: -mode.probability)


def _within(search: SearchSpace, drawn: IntArray, centre: int, separation: float) -> BoolArray:
    """Which drawn candidates lie within the separation of one of them: one search from it."""
    points = search.points[drawn]
    distance: FloatArray = search.graph.distance(points[centre : centre + 1], points)[0]
    return np.asarray(distance <= separation)


def _mode(point: Point, probability: float, n: int, mean: float, half_width: float) -> Mode:
    return Mode(
        point=point,
        probability=probability,
        probability_error=math.sqrt(probability * (1 - probability) / n),
        mean=float(mean),
        low=float(mean - half_width),
        high=float(mean + half_width),
    )


def _require(k: int, separation: float, level: float) -> None:
    if k < 1:
        raise ParameterError(f"k counts the modes to find, got {k}; ask for one or more")
    if not separation >= 0:
        raise ParameterError(
            f"separation must be a length, not negative, got {separation}; a tenth of the diameter is a start"
        )
    if not 0 < level < 1:
        raise ParameterError(f"level must lie between 0 and 1, got {level}; 0.95 is usual")
