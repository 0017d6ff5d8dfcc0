"""What priors without a mesh share: questions about points are answered on the mesh through them."""

from abc import ABC, abstractmethod
from dataclasses import dataclass, field, replace
from typing import Self

import numpy as np

from netbo.arrays import FloatArray
from netbo.fem import PointMesh
from netbo.geometry import MetricGraph, Points
from netbo.priors.matern import Matern
from netbo.priors.protocol import DensePrior

REMEMBERED = 4  # meshes, the latest: those of the observations, of the candidates and of both


class Meshes:
    """The latest meshes of a network, by the points they were made for."""

    def __init__(self) -> None:
        self._known: list[tuple[tuple[Points, ...], PointMesh]] = []

    def __reduce__(self) -> tuple[type["Meshes"], tuple[()]]:
        return Meshes, ()  # a copy starts empty: meshes are quickly made

    def through(self, graph: MetricGraph, points: tuple[Points, ...]) -> PointMesh:
        """The mesh with nodes at the points; the same object for the same points."""
        for known, mesh in self._known:
            if len(known) == len(points) and all(a is b for a, b in zip(known, points, strict=True)):
                return mesh
        mesh = PointMesh.through(graph, *points)
        self._known = [*self._known, (points, mesh)][-REMEMBERED:]
        return mesh


@dataclass(frozen=True, eq=False)
class MaternOnGraph(ABC):
    """A field on the network itself with Matérn parameters."""

    graph: MetricGraph
    matern: Matern
    vertex_condition: FloatArray  # theta of eq:kirchhoff at every vertex
    meshes: Meshes = field(default_factory=Meshes, repr=False, kw_only=True)

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
