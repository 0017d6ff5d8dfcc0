"""Narrowing down maxima along edges, all brackets at once: few questions, each at many points."""

from dataclasses import dataclass

import numpy as np

from netbo.arrays import BoolArray, FloatArray, IntArray
from netbo.geometry import MetricGraph, Points
from netbo.optimize.candidates import Scores
from netbo.optimize.surroundings import RESOLUTION

N_PLACES = 17  # in a bracket, its ends included: a round makes it eight times narrower


@dataclass(frozen=True, slots=True, eq=False)
class Brackets:
    """Stretches of edges, each around a place whose score is larger than at the ends."""

    edge: IntArray
    low: FloatArray
    high: FloatArray

    def __len__(self) -> int:
        return len(self.edge)

    def __getitem__(self, index: IntArray | BoolArray) -> "Brackets":
        return Brackets(self.edge[index], self.low[index], self.high[index])

    def places(self, graph: MetricGraph) -> Points:
        """Equally many places in each bracket, from end to end."""
        z = np.linspace(self.low, self.high, N_PLACES, axis=1)
        return Points(np.repeat(self.edge, N_PLACES), z.ravel(), graph=graph)


def refine(brackets: Brackets, scores: Scores, graph: MetricGraph) -> tuple[Points, float]:
    """The best place found in any of the brackets, and its score; -inf scores are no places.

    Each round asks once, at 17 places a bracket, and goes on between the neighbours of the best of them. A
    bracket is given up when a score concave around its peak could no longer reach the best one. It compares
    scores only, so kinks are found as well as smooth maxima, down to 1e-6 of the edge.
    """
    place, best = Points.at([], graph=graph), -np.inf
    while len(brackets):
        x = brackets.places(graph)
        values = scores(x).reshape(len(brackets), N_PLACES)
        top = np.argmax(values, axis=1)
        peaks = np.take_along_axis(values, top[:, None], axis=1)[:, 0]
        winner = int(np.argmax(peaks))
        if peaks[winner] > best:
            index = winner * N_PLACES + int(top[winner])
            place, best = x[index : index + 1], float(peaks[winner])
        brackets = _narrowed(brackets, x, top)[_is_promising(values, top, peaks, best)]
        brackets = brackets[brackets.high - brackets.low > RESOLUTION * graph.lengths[brackets.edge]]
    return place, best


def _narrowed(brackets: Brackets, x: Points, top: IntArray) -> Brackets:
    z, row = x.z.reshape(len(brackets), N_PLACES), np.arange(len(brackets))
    low, high = z[row, np.maximum(top - 1, 0)], z[row, np.minimum(top + 1, N_PLACES - 1)]
    return Brackets(brackets.edge, low, high)


def _is_promising(values: FloatArray, top: IntArray, peaks: FloatArray, best: float) -> BoolArray:
    """Whether a concave score could exceed the best: by no more than it fell on the other side of its top."""
    row = np.arange(len(values))
    left, right = values[row, np.maximum(top - 1, 0)], values[row, np.minimum(top + 1, N_PLACES - 1)]
    is_place = peaks > -np.inf
    rise = np.full(len(values), -np.inf)
    rise[is_place] = peaks[is_place] - np.minimum(left, right)[is_place]
    return np.asarray(is_place & (peaks + rise >= best))
