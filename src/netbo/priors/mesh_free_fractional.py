"""The true Whittle-Matérn kernel for every alpha > 1/4, without a mesh: sums of exact shifted operators."""

from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Self

import numpy as np

from netbo.arrays import FloatArray
from netbo.geometry import MetricGraph, Points
from netbo.linalg import RationalPower, ShiftedElements, ShiftedHyperbolic, rational_power
from netbo.priors.fractional import FractionalPrior
from netbo.priors.matern import Matern
from netbo.priors.mesh_free import Meshes


@dataclass(frozen=True, eq=False)
class ExactFractionalPrior(FractionalPrior):
    """The field at the nodes of a mesh, exact up to the fit of x^(2 alpha); linear between the nodes."""

    @cached_property
    def power(self) -> RationalPower:
        """The approximation of x^(2 alpha) on all of (0, 1]: the continuum has eigenvalues without end."""
        return rational_power(2 * self.matern.alpha, self.tolerance)

    @cached_property
    def shifted(self) -> ShiftedElements:
        """Exact elements of every cell at shifted kappa^2, in the unit of length 1/kappa."""
        return ShiftedHyperbolic(self.matern.kappa * self.space.cell_lengths)


@dataclass(frozen=True, eq=False)
class MeshFreeFractionalPrior:
    """L^alpha (tau u) = W on the network itself, for every alpha > 1/4."""

    graph: MetricGraph
    matern: Matern
    vertex_condition: FloatArray  # theta of eq:kirchhoff at every vertex
    tolerance: float = 1e-8  # kernel error relative to the variance
    meshes: Meshes = field(default_factory=Meshes, repr=False)

    def __post_init__(self) -> None:
        _ = self.power  # an accuracy out of reach is refused here

    @property
    def power(self) -> RationalPower:
        """The approximation of x^(2 alpha)."""
        return rational_power(2 * self.matern.alpha, self.tolerance)

    @property
    def error(self) -> float:
        """Kernel error relative to the variance, measured on the fit (`RationalPower.error`)."""
        return self.power.error

    @property
    def range(self) -> float:
        """Distance over which the field loses its memory."""
        return self.matern.range

    @property
    def sigma(self) -> float:
        """Standard deviation on the infinite line."""
        return self.matern.sigma

    def rescaled(self, *, range: float | None = None, sigma: float | None = None) -> Self:  # noqa: A002
        """The same prior with another range, another sigma, or both."""
        return replace(self, matern=self.matern.rescaled(range=range, sigma=sigma))

    def on(self, *points: Points) -> ExactFractionalPrior:
        """The field at the points, on the mesh through them."""
        return ExactFractionalPrior(
            space=self.meshes.through(self.graph, points),
            matern=self.matern,
            is_lumped=False,
            vertex_condition=self.vertex_condition,
            tolerance=self.tolerance,
        )

    def covariance(self, x: Points, y: Points) -> FloatArray:
        """k(x, y), (n, m)."""
        return self.on(x, y).covariance(x, y)

    def variance(self, x: Points) -> FloatArray:
        """k(x, x), (n,)."""
        return self.on(x).variance(x)

    def sample(self, x: Points, rng: np.random.Generator, n: int | None = None) -> FloatArray:
        """A sample path at x, (len(x),); n paths, (n, len(x))."""
        return self.on(x).sample(x, rng, n)

    def range_derivative(self, x: Points, y: Points) -> FloatArray:
        """d k(x, y) / d log range at fixed sigma, (n, m)."""
        return self.on(x, y).range_derivative(x, y)

    def range_derivative_of_variance(self, x: Points) -> FloatArray:
        """d k(x, x) / d log range at fixed sigma, (n,)."""
        return self.on(x).range_derivative_of_variance(x)
