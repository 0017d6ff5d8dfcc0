"""Weak opinions on parameters, which steady a fit to few values."""

import math
from dataclasses import dataclass

import numpy as np

from netbo.arrays import FloatArray
from netbo.errors import ParameterError


@dataclass(frozen=True, slots=True)
class Belief:
    """A log-normal opinion on a positive parameter, held before any data."""

    median: float
    log_sd: float

    def __post_init__(self) -> None:
        if not (0 < self.median < np.inf and 0 < self.log_sd < np.inf):
            raise ParameterError(
                f"a belief needs a positive median and log_sd, got {self.median} and {self.log_sd}; "
                "log_sd=1 says: within a factor 3"
            )

    def loss(self, log_value: float) -> tuple[float, float]:
        """Minus the log density in log_value, up to a constant, and its slope."""
        distance = (log_value - float(np.log(self.median))) / self.log_sd
        return distance**2 / 2, distance / self.log_sd


@dataclass(frozen=True, slots=True)
class Beliefs:
    """Opinions that steady a fit to few values; the range in diameters, the noise as lambda / sigma^2."""

    range: Belief | None = None
    noise_ratio: Belief | None = None

    def loss(self, parameters: dict[str, float], diameter: float) -> tuple[float, FloatArray]:
        """Minus the log density of all opinions at logarithms of parameters, and its gradient in them."""
        held = {"range": (self.range, math.log(diameter)), "noise_ratio": (self.noise_ratio, 0.0)}
        total, pull = 0.0, np.zeros(len(parameters))
        for index, (name, value) in enumerate(parameters.items()):
            belief, unit = held.get(name, (None, 0.0))
            if belief is not None:
                loss, pull[index] = belief.loss(value - unit)
                total += loss
        return total, pull
