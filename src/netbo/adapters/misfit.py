"""How well a simulation explains what was measured: one number, largest where it explains it best."""

from __future__ import annotations

from enum import Enum

import numpy as np

from netbo.arrays import FloatArray
from netbo.errors import ParameterError


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


def require_sd(sd: float, name: str) -> float:
    """A positive finite standard deviation."""
    if not (np.isfinite(sd) and sd > 0):
        raise ParameterError(f"{name} must be positive, got {sd}; give the error of one reading")
    return float(sd)


def require_fraction(fraction: float) -> float:
    """A share of an edge's length, from 0 at its tail to 1 at its head."""
    if not 0 <= fraction <= 1:
        raise ParameterError(f"a fraction must lie in 0..1, got {fraction}; measure from the tail")
    return float(fraction)
