"""Objectives that locate an event (a leak, a fault): simulate it at a point, compare with readings."""

from abc import ABC, abstractmethod
from enum import Enum
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike

from netbo.arrays import FloatArray
from netbo.checks import require_positive
from netbo.errors import ParameterError
from netbo.geometry import Point

END_TOLERANCE = 1e-6  # of the edge; an event this near to an end is at the vertex


class MisfitScore(Enum):
    """Two numbers with the same maximum; residuals are in standard deviations of their instruments.

    LOG_LIKELIHOOD is -sum(residual^2) / 2: differences are log odds, but far from the truth it falls by
    thousands. ROOT_MEAN_SQUARE is -sqrt(mean(residual^2)): about -1 at the truth, and gentle enough elsewhere
    to be modelled by a Gaussian process.
    """

    LOG_LIKELIHOOD = "log likelihood"
    ROOT_MEAN_SQUARE = "root mean square"

    def of(self, residuals: FloatArray) -> float:
        """The score of residuals divided by their standard deviations."""
        squares = float(np.square(residuals).sum())
        if self is MisfitScore.LOG_LIKELIHOOD:
            return 0.0 - squares / 2
        return 0.0 - float(np.sqrt(squares / residuals.size))


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


def require_sd(sd: float, name: str) -> float:
    """A positive finite standard deviation."""
    return require_positive(name, sd, "give the error of one reading", kind="positive")


def require_fraction(fraction: float) -> float:
    """A share of an edge's length, from 0 at its tail to 1 at its head."""
    if not 0 <= fraction <= 1:
        raise ParameterError(f"a fraction must lie in 0..1, got {fraction}; measure from the tail")
    return float(fraction)
