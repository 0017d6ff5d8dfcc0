"""Objectives that locate an event (a leak, a fault): simulate it at a point, compare with readings."""

from abc import ABC, abstractmethod
from collections.abc import Callable
from contextlib import suppress
from enum import Enum
from typing import Any, ClassVar

import numpy as np
from numpy.polynomial import Polynomial
from numpy.typing import ArrayLike

from netbo.arrays import FloatArray
from netbo.checks import require_positive
from netbo.errors import NumericalError, ParameterError
from netbo.geometry import Point

END_TOLERANCE = 1e-6  # of the edge; an event this near to an end is at the vertex
NEGLIGIBLE = 0.01  # standard deviations: readings without errors have a logarithm, too
GAIN = 1e-3  # of the log root mean square: a size that promises less is not simulated
TRIALS = 6  # sizes of an event simulated at one place, at most
LEAP = 4.0  # times the largest size yet: not farther at once
SMALLER = np.array([0.1, 0.01])  # times a first size that has no solution


class MisfitScore(Enum):
    """Three numbers with the same maximum; residuals are in standard deviations of their instruments.

    LOG_ROOT_MEAN_SQUARE is -log sqrt(mean(residual^2)): about 0 at the truth, and less by one where residuals
    are e times as large: no value lies far from all others, which suits a Gaussian process.
    ROOT_MEAN_SQUARE is -sqrt(mean(residual^2)): about -1 at the truth.
    LOG_LIKELIHOOD is -sum(residual^2) / 2: differences are log odds, but it falls by thousands and more.
    """

    LOG_ROOT_MEAN_SQUARE = "log root mean square"
    ROOT_MEAN_SQUARE = "root mean square"
    LOG_LIKELIHOOD = "log likelihood"

    def of(self, residuals: FloatArray) -> float:
        """The score of residuals divided by their standard deviations."""
        squares = float(np.square(residuals).sum())
        if self is MisfitScore.LOG_LIKELIHOOD:
            return 0.0 - squares / 2
        mean = squares / residuals.size
        if self is MisfitScore.ROOT_MEAN_SQUARE:
            return 0.0 - float(np.sqrt(mean))
        return -float(np.log(mean + NEGLIGIBLE**2)) / 2


def as_score(chosen: MisfitScore | str) -> MisfitScore:
    """A score given as itself or by its words.

    >>> as_score("root mean square").of(np.array([3.0, -4.0, 0.0, 0.0]))
    -2.5
    """
    words = {score.value: score for score in MisfitScore}
    word = chosen.value if isinstance(chosen, MisfitScore) else chosen
    if word not in words:
        raise ParameterError(f"score must be one of {', '.join(words)}, got {word!r}; choose one of them")
    return words[word]


class Misfit(ABC):
    """A function of a `Point`: how well an event there explains the readings; picklable.

    Subclasses simulate the event and give the residuals.
    """

    event: ClassVar[str]  # in messages: "leak"
    edge: ClassVar[str]  # in messages: "pipe"
    score: MisfitScore

    def __call__(self, point: Point) -> float:
        """The score of an event at a point of the network."""
        if point.fraction is None:
            raise ParameterError(
                f"a {self.event} needs the fraction of its {self.edge}, got none on {point.edge_id!r}; "
                "take points of a network"
            )
        return self.at(point.edge_id, point.fraction)

    def at(self, edge: Any, fraction: float) -> float:
        """The score of an event at a fraction (0 to 1) of an edge, from its tail."""
        return self.score.of(self.residuals(edge, fraction))

    @abstractmethod
    def residuals(self, edge: Any, fraction: float) -> FloatArray:
        """Simulated minus measured, in standard deviations."""


def best_size(
    residuals: Callable[[float], FloatArray],
    known: tuple[float, FloatArray],
    start: float,
    highest: float,
) -> tuple[float, FloatArray]:
    """The size of an event that explains the readings best, and the residuals there; few simulations.

    known: the smallest size and its residuals. Each residual is taken as the parabola through three sizes
    that were simulated; the sum of their squares has its minimum in closed form.
    """
    tried = [known, _first_trial(residuals, start)]
    while len(tried) <= TRIALS:
        best = min(tried, key=_squares)
        nearest = sorted(tried, key=lambda each: abs(each[0] - best[0]))[:3]
        reach = min(highest, LEAP * max(size for size, _ in tried))
        size, promised = _parabolic_minimum(nearest, known[0], reach)
        is_known = any(abs(size - other) <= GAIN * size for other, _ in tried)
        if is_known or promised > (1 - 2 * GAIN) * _squares(best):
            break
        try:
            tried.append((size, residuals(size)))
        except NumericalError:  # more than can be had at that place
            break
    return min(tried, key=_squares)


def _first_trial(residuals: Callable[[float], FloatArray], start: float) -> tuple[float, FloatArray]:
    """The first of a few sizes for which there is a solution: a narrow pipe cannot give much."""
    try:
        return start, residuals(start)
    except NumericalError:
        for size in start * SMALLER:
            with suppress(NumericalError):
                return float(size), residuals(float(size))
        raise


def _squares(trial: tuple[float, FloatArray]) -> float:
    return float(np.square(trial[1]).sum())


def _parabolic_minimum(
    trials: list[tuple[float, FloatArray]], lowest: float, highest: float
) -> tuple[float, float]:
    """Where the sum of squares of the polynomials through the trials is smallest, and that sum."""
    scale = max(size for size, _ in trials)
    powers = np.vander(np.array([size for size, _ in trials]) / scale, increasing=True)
    coefficients = np.linalg.solve(powers, np.stack([each for _, each in trials]))  # (degree + 1, n)
    gram, degree = coefficients @ coefficients.T, len(trials) - 1
    squares = Polynomial([np.trace(gram[::-1], power - degree) for power in range(2 * degree + 1)])
    ends = np.array([lowest, highest]) / scale
    turns = squares.deriv().roots()
    turns = turns.real[(np.abs(turns.imag) < 1e-9) & (turns.real > ends[0]) & (turns.real < ends[1])]
    found = np.concatenate([ends, turns])
    best = found[np.argmin(squares(found))]
    return float(best * scale), max(float(squares(best)), 0.0)


def residuals_of(simulated: ArrayLike, measured: ArrayLike, sd: float) -> FloatArray:
    """Simulated minus measured in standard deviations, without the readings that are missing (NaN).

    >>> residuals_of([1.0, 2.0, 3.0], [0.5, np.nan, 3.0], 0.25)
    array([2., 0.])
    """
    read = np.asarray(measured, dtype=np.float64)
    off = (np.asarray(simulated, dtype=np.float64) - read) / sd
    return np.asarray(off[~np.isnan(read)])


def as_second_sd(sd: float | None, name: str, *, readings: str, has_readings: bool) -> float:
    """Standard deviation of the optional readings, required if there are any."""
    if sd is None and has_readings:
        raise ParameterError(f"{readings} need {name}, got none; give the error of one reading")
    return require_sd(1.0 if sd is None else sd, name)


def require_sd(sd: float | None, name: str) -> float:
    """A positive finite standard deviation."""
    return require_positive(name, sd, "give the error of one reading", kind="positive")


def require_fraction(fraction: float) -> float:
    """A share of an edge's length, from 0 at its tail to 1 at its head."""
    if not 0 <= fraction <= 1:
        raise ParameterError(f"a fraction must lie in 0..1, got {fraction}; measure from the tail")
    return float(fraction)
