"""Mean and variance of the field at all nodes, and how one more observation changes them."""

from dataclasses import dataclass
from typing import Self

import numpy as np

from netbo.arrays import FloatArray
from netbo.fem import Location


@dataclass(frozen=True, slots=True)
class Moments:
    """Nodal solutions for the values and for ones, variances of the unit field, and sums of T^-1.

    `values` and `ones` are (Q + D)^-1 E Lambda^-1 v times the amplitude, for v the values and v = 1.
    """

    values: FloatArray  # (N,)
    ones: FloatArray  # (N,), or (0,) where the mean is given
    variances: FloatArray  # (N,) diagonal of (Q + D)^-1
    neighbours: FloatArray  # (n_cells,) (Q + D)^-1 across each cell
    ones_ones: float  # 1' T^-1 1
    ones_values: float  # 1' T^-1 v
    gain: float  # log|I + Lambda^-1 K_t| / 2

    def updated(self, column: FloatArray, ends: tuple[FloatArray, FloatArray], step: "Step") -> Self:
        """Moments after one more observation, by rank one: column = (Q + D)^-1 e(x), ends its cells' ends."""
        denominator = step.variance + step.noise
        gain = column / denominator
        value = step.innovation(self.values, step.value)
        one = step.innovation(self.ones, 1.0) if len(self.ones) else 0.0
        spread = step.amplitude * denominator  # of the new value given the old ones, before scaling
        return type(self)(
            values=self.values + value * gain,
            ones=self.ones + one * gain if len(self.ones) else self.ones,
            variances=self.variances - column * gain,
            neighbours=self.neighbours - ends[0] * ends[1] / denominator,
            ones_ones=self.ones_ones + one**2 / spread,
            ones_values=self.ones_values + one * value / spread,
            gain=self.gain + float(np.log1p(step.variance / step.noise)) / 2,
        )


@dataclass(frozen=True, slots=True)
class Step:
    """One more observation as the unit field sees it."""

    at: Location  # of the single point
    value: float
    scale: float  # a(x)
    amplitude: float
    variance: float  # e(x)' (Q + D)^-1 e(x) before the observation
    noise: float  # lambda / (amplitude a^2)

    def innovation(self, nodal: FloatArray, value: float) -> float:
        """What the new value says beyond the nodal solution, in units of the field before scaling."""
        return value / self.scale - float(self.at.interpolate(nodal)[0])
