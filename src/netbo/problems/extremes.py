"""Smallest and largest value of an outer function on intervals."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass

import numpy as np

from netbo.arrays import FloatArray
from netbo.problems.outer import OuterFunction

STEPS_PER_UNIT = 256  # of the grid; outer functions have periods of 1 or more, so no wave is missed
FEWEST_STEPS = 256  # on short intervals
ZOOMS = 20  # each leaves a quarter of a valley: 1e-12 of it, far below where its floor is flat in rounding
SHARES = np.linspace(0.0, 1.0, 9)


@dataclass(frozen=True, slots=True)
class Extremes:
    """min g, one place where it is attained, and max g."""

    minimum: float
    minimizer: float
    maximum: float


def extremes(outer: OuterFunction, intervals: Iterable[tuple[float, float]]) -> Extremes:
    """Extremes of g over closed intervals: all valleys and hills of a dense grid, zoomed into.

    The known minimizer is taken as it is where it lies inside: a zoom would end next to it.
    """
    lowest, highest = [], []
    for low, high in intervals:
        grid = np.linspace(low, high, FEWEST_STEPS + int(STEPS_PER_UNIT * (high - low)))
        lowest += [_lowest(outer, grid)]
        highest += [_lowest(lambda a: -outer(a), grid)]
        if low <= outer.minimizer <= high:
            lowest = [outer.minimizer, *lowest]
    values, hills = outer(np.array(lowest)), outer(np.array(highest))
    best = int(np.argmin(values))
    return Extremes(minimum=float(values[best]), minimizer=lowest[best], maximum=float(hills.max()))


def _lowest(function: Callable[[FloatArray], FloatArray], grid: FloatArray) -> float:
    """Place of the smallest value between the ends of the grid."""
    values = np.pad(function(grid), 1, constant_values=np.inf)
    valleys = np.flatnonzero((values[1:-1] <= values[:-2]) & (values[1:-1] <= values[2:]))
    low, high = grid[np.maximum(valleys - 1, 0)], grid[np.minimum(valleys + 1, len(grid) - 1)]
    rows = np.arange(len(valleys))
    for _ in range(ZOOMS):
        finer = low[:, None] + (high - low)[:, None] * SHARES  # (valleys, 9)
        best = np.argmin(function(finer), axis=1)
        low, high = finer[rows, np.maximum(best - 1, 0)], finer[rows, np.minimum(best + 1, 8)]
    zoomed = np.clip((low + high) / 2, grid[0], grid[-1])  # rounding may leave the interval
    places = np.concatenate([grid[valleys], zoomed])
    return float(places[np.argmin(function(places))])
