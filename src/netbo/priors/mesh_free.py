"""The true Whittle-Matérn kernel k of the continuum (eq:kernel exact), for every alpha > 1/4, without a mesh.

With hyperbolic elements the block system is exact at its nodes, whatever they are: K^-1 is the Green's
function of kappa^2 - Laplacian there. So a question about points is answered on the mesh through them.
"""

from abc import ABC, abstractmethod
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Self

import numpy as np

from netbo.arrays import FloatArray
from netbo.fem import PointMesh, WidenedMesh
from netbo.geometry import MetricGraph, Points
from netbo.linalg import (
    Elements,
    RationalPower,
    ShiftedElements,
    ShiftedHyperbolic,
    hyperbolic_elements,
    rational_power,
)
from netbo.priors.base import DensePrior
from netbo.priors.finite_element import FiniteElementPrior
from netbo.priors.fractional import FractionalPrior
from netbo.priors.matern import Matern

REMEMBERED = 6  # meshes, the latest: of the observations, of the candidates, of both, with and without gaps


def mesh_through(graph: MetricGraph, points: tuple[Points, ...], gap: float = 0.0) -> PointMesh:
    """The mesh with nodes at the points; the same object for the same points, whichever prior asks.

    gap: length of a piece of edge between a junction and each of its arms. The latest stay with the graph.
    """
    kept: list[tuple[float, tuple[Points, ...], PointMesh]] = graph.__dict__.setdefault("_meshes", [])
    for known_gap, known, mesh in kept:
        is_same = known_gap == gap and len(known) == len(points)
        if is_same and all(a is b for a, b in zip(known, points, strict=True)):
            return mesh
    mesh = WidenedMesh.between(graph, gap, *points) if gap else PointMesh.through(graph, *points)
    graph.__dict__["_meshes"] = [*kept, (gap, points, mesh)][-REMEMBERED:]
    return mesh


@dataclass(frozen=True, eq=False)
class MaternOnGraph(ABC):
    """A field on the network itself with Matérn parameters."""

    graph: MetricGraph
    matern: Matern
    vertex_condition: FloatArray  # theta of eq:kirchhoff at every vertex

    @property
    def range(self) -> float:
        """Distance over which the field loses its memory."""
        return self.matern.range

    @property
    def sigma(self) -> float:
        """Standard deviation on the infinite line; everywhere, if the variance is made constant."""
        return self.matern.sigma

    def rescaled(self, *, range: float | None = None, sigma: float | None = None) -> Self:  # noqa: A002
        """The same prior with another range, another sigma, or both."""
        return replace(self, matern=self.matern.rescaled(range=range, sigma=sigma))

    @abstractmethod
    def on(self, *points: Points) -> DensePrior:
        """The field at the points, on the mesh through them."""

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


# The true Whittle-Matérn kernel k of the continuum (eq:kernel exact) for whole 2 alpha, without a mesh.


@dataclass(frozen=True, eq=False)
class ExactPrior(FiniteElementPrior):
    """The true field at the nodes of a mesh; between them it is linear, and only there not exact."""

    def _elements(self) -> Elements:
        return hyperbolic_elements(self.matern.kappa * self.space.cell_lengths, self.order + 1)


@dataclass(frozen=True, eq=False)
class MeshFreePrior(MaternOnGraph):
    """L^alpha (tau u) = W on the network itself, for 2 alpha = 1, 2, 3, 4.

    With a junction gap it is the field of a network whose junctions keep their arms two gaps apart, so that
    values may differ from arm to arm; where edges meet end to end nothing changes.
    """

    is_constant: bool = False
    junction_gap: float = 0.0

    def is_rescaling_of(self, other: "MeshFreePrior") -> bool:
        """Whether the two differ in range and sigma alone."""
        return (
            self.graph is other.graph
            and self.matern.alpha == other.matern.alpha
            and self.is_constant == other.is_constant
            and self.junction_gap == other.junction_gap
            and _are_equal(self.vertex_condition, other.vertex_condition)
        )

    def on(self, *points: Points) -> ExactPrior:
        """The field at the points, on the mesh through them."""
        return ExactPrior(
            space=mesh_through(self.graph, points, self.junction_gap),
            matern=self.matern,
            is_lumped=False,
            vertex_condition=self.vertex_condition,
            is_constant=self.is_constant,
        )


def _are_equal(one: FloatArray, other: FloatArray) -> bool:
    return one is other or np.array_equal(one, other)


# The true Whittle-Matérn kernel for every alpha > 1/4, without a mesh: sums of exact shifted operators.


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
class MeshFreeFractionalPrior(MaternOnGraph):
    """L^alpha (tau u) = W on the network itself, for every alpha > 1/4."""

    tolerance: float = 1e-8  # kernel error relative to the variance

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

    def on(self, *points: Points) -> ExactFractionalPrior:
        """The field at the points, on the mesh through them."""
        return ExactFractionalPrior(
            space=mesh_through(self.graph, points),
            matern=self.matern,
            is_lumped=False,
            vertex_condition=self.vertex_condition,
            tolerance=self.tolerance,
        )
