"""Mean and variance of the field at all nodes, and how one more observation changes them by rank one."""

from dataclasses import dataclass
from functools import cached_property
from typing import Protocol, Self

import numpy as np

from netbo.arrays import FloatArray, IntArray
from netbo.fem import Location, Mesh


@dataclass(frozen=True, slots=True)
class Step:
    """One more observation as the unit field sees it."""

    at: Location  # of the single point
    value: float
    scale: float  # a(x)
    amplitude: float
    column: FloatArray  # (N,) (Q + D)^-1 e(x) before the observation
    noise: float  # lambda / (amplitude a^2)

    @property
    def variance(self) -> float:
        """e(x)' (Q + D)^-1 e(x) before the observation."""
        return float(self.at.interpolate(self.column)[0])

    @property
    def denominator(self) -> float:
        """Variance of the new value given the old ones, in units of the amplitude and the scale."""
        return self.variance + self.noise

    def innovation(self, nodal: FloatArray, value: float) -> float:
        """What the new value says beyond the nodal solution, in units of the field before scaling."""
        return value / self.scale - float(self.at.interpolate(nodal)[0])

    def project(self, column: FloatArray, at: Location) -> FloatArray:
        """A column (Q + D)^-1 e(x) of another point, after this observation."""
        return column - self.column * (float(at.interpolate(self.column)[0]) / self.denominator)


@dataclass(frozen=True, slots=True)
class NodalMeans:
    """Nodal solutions for the values and for ones, and sums of T^-1.

    `values` and `ones` are (Q + D)^-1 E Lambda^-1 v times the amplitude, for v the values and v = 1.
    """

    values: FloatArray  # (N,)
    ones: FloatArray  # (N,), or (0,) where the mean is given
    ones_ones: float  # 1' T^-1 1
    ones_values: float  # 1' T^-1 v

    @property
    def shift(self) -> float:
        """What an estimated mean is beyond the constant that was subtracted from the values."""
        return self.ones_values / self.ones_ones if len(self.ones) else 0.0

    def after(self, step: Step) -> Self:
        """The same after one more observation."""
        gain = step.column / step.denominator
        value = step.innovation(self.values, step.value)
        one = step.innovation(self.ones, 1.0) if len(self.ones) else 0.0
        unit = step.amplitude * step.denominator
        return type(self)(
            values=self.values + value * gain,
            ones=self.ones + one * gain if len(self.ones) else self.ones,
            ones_ones=self.ones_ones + one**2 / unit,
            ones_values=self.ones_values + one * value / unit,
        )


@dataclass(frozen=True, slots=True)
class NodalSpread:
    """Variances of the unit field at the nodes and its covariances across cells."""

    variances: FloatArray  # (N,) diagonal of (Q + D)^-1
    neighbours: FloatArray  # (n_cells,) (Q + D)^-1 across each cell

    def after(self, step: Step, left: IntArray, right: IntArray) -> Self:
        """The same after one more observation; left and right are the nodes at the ends of the cells."""
        gain = step.column / step.denominator
        return type(self)(
            variances=self.variances - step.column * gain,
            neighbours=self.neighbours - step.column[left] * gain[right],
        )


class NodalState(Protocol):
    """Mean and variance of the field at all nodes, solved for or updated."""

    @property
    def means(self) -> NodalMeans:
        """Of the field."""

    @property
    def spread(self) -> NodalSpread:
        """Of the field."""

    @property
    def information_gain(self) -> float:
        """Mutual information of data and field."""

    @property
    def n_updates(self) -> int:
        """Observations added since the last factorization."""

    def column(self, at: Location) -> FloatArray:
        """(Q + D)^-1 e(x) at all nodes for a single point, (N,)."""


@dataclass(frozen=True, eq=False)
class Updated:
    """The state after one more observation: a pass over the nodes instead of a factorization."""

    before: NodalState
    step: Step
    mesh: Mesh

    @cached_property
    def means(self) -> NodalMeans:
        """Of the field."""
        return self.before.means.after(self.step)

    @cached_property
    def spread(self) -> NodalSpread:
        """Of the field."""
        left, right, _ = self.mesh.cell_ends
        return self.before.spread.after(self.step, left, right)

    @property
    def information_gain(self) -> float:
        """Mutual information of data and field; the observation adds log(1 + variance / noise) / 2."""
        return self.before.information_gain + float(np.log1p(self.step.variance / self.step.noise)) / 2

    @property
    def n_updates(self) -> int:
        """Observations added since the last factorization."""
        return self.before.n_updates + 1

    def column(self, at: Location) -> FloatArray:
        """(Q + D)^-1 e(x) at all nodes for a single point, (N,)."""
        return self.step.project(self.before.column(at), at)
