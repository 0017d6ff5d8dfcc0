"""The finite element prior k_h for whole 2 alpha (lemma:kernel in terms of fem basis), in block form."""

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Protocol, Self

import numpy as np

from netbo.arrays import FloatArray
from netbo.checks import explained, require_paths
from netbo.fem import Location, Mesh
from netbo.geometry import MetricGraph, Points
from netbo.linalg import (
    BlockFactor,
    Elements,
    FieldNoise,
    Load,
    SelectedInverse,
    field_sign,
    hat_elements,
    log_determinant_derivative,
)
from netbo.priors.matern import Matern


@dataclass(frozen=True, eq=False)
class MaternOnSpace:
    """A field on a mesh with Matérn parameters."""

    space: Mesh
    matern: Matern

    @property
    def graph(self) -> MetricGraph:
        """The network."""
        return self.space.graph

    @property
    def range(self) -> float:
        """Distance over which the field loses its memory."""
        return self.matern.range

    @property
    def sigma(self) -> float:
        """Standard deviation on the infinite line; everywhere, if the variance is made constant."""
        return self.matern.sigma


SMALL_MESH = 20_000  # nodes; below it a factor of S takes a millisecond or two more than one of K
COLUMNS = 16  # right-hand sides solved at a time: bounds the memory of a covariance


@dataclass(frozen=True, eq=False)
class UnitField:
    """The field on a mesh at unit amplitude, lengths in the unit 1/kappa: the same for every sigma."""

    mesh: Mesh
    elements: Elements  # with one Taylor coefficient to spare
    robin: FloatArray  # Robin parameter of every vertex
    order: int  # p = 2 alpha

    def factored(self, load: Load) -> BlockFactor:
        """The block system with the load of observations."""
        return BlockFactor(self.mesh.topology, self.elements, self.order, load, self.robin)

    @cached_property
    def factor(self) -> BlockFactor:
        """The block system without observations."""
        return BlockFactor(self.mesh.topology, self.elements, self.order, None, self.robin)

    @cached_property
    def selected(self) -> SelectedInverse:
        """Variances at the nodes and covariances across cells."""
        return self.factor.select()

    @cached_property
    def _stiffness(self) -> BlockFactor:
        """K = K_0 or, on a small mesh through points, S, of which log|det S| = p log|K|.

        K takes half the time, and seconds to compile for, once: the default gets along without p = 1.
        """
        t = self.mesh.topology
        is_small = not t.is_even and t.n_nodes < SMALL_MESH
        return self.factor if is_small else BlockFactor(t, self.elements, 1, None, self.robin)

    @property
    def log_determinant(self) -> float:
        """p log|K|, with interior nodes in units of their element's diagonal."""
        return self.order / self._stiffness.order * self._stiffness.log_determinant

    @cached_property
    def log_determinant_derivative(self) -> float:
        """p tr(K^-1 dK/ds) at s = 1."""
        return self.order / self._stiffness.order * log_determinant_derivative(self._stiffness)

    @cached_property
    def smoother(self) -> "UnitField":
        """The field one order smoother: dCov_p / ds = -p Cov_(p+1)."""
        return UnitField(self.mesh, self.elements, self.robin, self.order + 1)

    @cached_property
    def noise(self) -> FieldNoise:
        """What a sample path is solved from."""
        return FieldNoise(self.mesh.topology, self.elements, self.order, self.robin)


@dataclass(frozen=True, eq=False)
class FiniteElementPrior(MaternOnSpace):
    """tau^-2 e(x)' Q^-1 e(x') with Q = C (kappa^2 + C^-1 G)^p, p = 2 alpha, without Q.

    Everything inside is in the unit of length 1/kappa, where the covariance is `amplitude` times that of the
    unit field. With `is_constant` the field is divided by its own standard deviation and multiplied by sigma.
    """

    is_lumped: bool
    vertex_condition: FloatArray  # theta of eq:kirchhoff at every vertex
    is_constant: bool = False

    @cached_property
    def order(self) -> int:
        """p = 2 alpha."""
        return self.matern.order

    @cached_property
    def unit(self) -> UnitField:
        """The field at unit amplitude, which a rescaled prior of the same range shares."""
        robin = self.vertex_condition / self.matern.kappa
        return UnitField(self.space, self._elements(), robin, self.order)

    def _elements(self) -> Elements:
        cells = self.matern.kappa * self.space.cell_lengths
        return hat_elements(cells, self.order + 1, lumped=self.is_lumped)

    @explained
    def rescaled(self, *, range: float | None = None, sigma: float | None = None) -> Self:  # noqa: A002
        """The same prior with another range, another sigma, or both."""
        other = replace(self, matern=self.matern.rescaled(range=range, sigma=sigma))
        if range in (None, self.range) and "unit" in vars(self):  # a new one's kappa may differ by rounding
            vars(other)["unit"] = self.unit
        return other

    @cached_property
    def amplitude(self) -> float:
        """Variance factor of the unit field; 1 where the variance is made constant: `scale` has it all."""
        return 1.0 if self.is_constant else self.matern.amplitude

    def scale(self, at: Location) -> FloatArray:
        """Factor a(x) by which the field at the points differs from sqrt(amplitude) times the unit field."""
        if not self.is_constant:
            return np.ones(len(at))
        return self.sigma / np.sqrt(interpolated_variance(self.unit.selected, at))

    def scale_derivative(self, at: Location) -> FloatArray:
        """d log a / d log kappa at fixed sigma: nu; p v_(p+1) / v_p where the variance is made constant."""
        if not self.is_constant:
            return np.full(len(at), self.matern.nu)
        higher = interpolated_variance(self.unit.smoother.selected, at)
        return self.order * higher / interpolated_variance(self.unit.selected, at)

    @explained
    def variance(self, x: Points) -> FloatArray:
        """k_h(x, x), (n,)."""
        at = self.space.locate(x)
        if self.is_constant:
            return np.full(len(x), self.sigma**2)
        return self.amplitude * interpolated_variance(self.unit.selected, at)

    @explained
    def covariance(self, x: Points, y: Points) -> FloatArray:
        """k_h(x, y), (n, m)."""
        at_x, at_y = self.space.locate(x), self.space.locate(y)
        unit = field_covariance(self.unit.factor, at_x, at_y)
        return self.amplitude * self.scale(at_x)[:, None] * unit * self.scale(at_y)

    def range_derivative(self, x: Points, y: Points) -> FloatArray:
        """d k_h(x, y) / d log range at fixed sigma, (n, m).

        a(x) a(y) amplitude (2 p Cov_(p+1) - (a'(x) + a'(y)) Cov_p), with a' = d log a / d log kappa.
        """
        at_x, at_y = self.space.locate(x), self.space.locate(y)
        fields = (self.unit, self.unit.smoother)
        unit, higher = (field_covariance(field.factor, at_x, at_y) for field in fields)
        stretch = self.scale_derivative(at_x)[:, None] + self.scale_derivative(at_y)
        change = 2 * self.order * higher - stretch * unit
        return self.amplitude * self.scale(at_x)[:, None] * change * self.scale(at_y)

    def range_derivative_of_variance(self, x: Points) -> FloatArray:
        """d k_h(x, x) / d log range at fixed sigma, (n,); zero where the variance is made constant."""
        at = self.space.locate(x)
        if self.is_constant:
            return np.zeros(len(x))
        fields = (self.unit, self.unit.smoother)
        unit, higher = (interpolated_variance(field.selected, at) for field in fields)
        return 2 * self.amplitude * (self.order * higher - self.matern.nu * unit)

    @explained
    def sample(self, x: Points, rng: np.random.Generator, n: int | None = None) -> FloatArray:
        """A sample path at x, (len(x),); n paths, (n, len(x))."""
        at = self.space.locate(x)
        paths = np.empty((1 if n is None else require_paths(n), len(x)))
        for path in paths:
            path[:] = self.path(self.unit.factor, at, rng)
        return paths[0] if n is None else paths

    def path(
        self, factor: BlockFactor, at: Location, rng: np.random.Generator, load: FloatArray | None = None
    ) -> FloatArray:
        """One draw of the field at the points, from the factor of prior or posterior.

        load: what the noise of the observations adds to the field's row of the right-hand side, (N,).
        """
        rhs = np.zeros((1, self.space.n_nodes, self.order))
        if load is not None:
            rhs[0, :, -1] = load
        self.unit.noise.add(rng, float(np.sqrt(self.amplitude)), rhs[0])
        return self.scale(at) * at.interpolate(factor.solve(rhs)[0, :, -1])


class NodalVariances(Protocol):
    """Diagonal of a matrix on the nodes and its entries across cells."""

    @property
    def variances(self) -> FloatArray:
        """The diagonal, (N,)."""

    @property
    def neighbours(self) -> FloatArray:
        """Entries between the two ends of each cell, (n_cells,)."""


def interpolated_variance(selected: NodalVariances, at: Location) -> FloatArray:
    """e(x)' Z e(x) from the diagonal of Z and its entries across cells."""
    left, right, across = (
        selected.variances[at.left],
        selected.variances[at.right],
        selected.neighbours[at.cell],
    )
    f = at.fraction
    return (1 - f) ** 2 * left + 2 * f * (1 - f) * across + f**2 * right


def field_columns(factor: BlockFactor, at: Location) -> FloatArray:
    """Columns (Q + D)^-1 e(x) at all nodes, (n, N)."""
    return factor.solve(field_sources(factor, at))[:, :, -1]


def field_sources(factor: BlockFactor, at: Location) -> FloatArray:
    """Right-hand sides whose solutions have (Q + D)^-1 e(x) in the field's place, (n, N, p)."""
    n, p = len(at), factor.order
    sign = field_sign(p)
    rhs = np.zeros((n, factor.topology.n_nodes, p))
    index = np.arange(n)
    np.add.at(rhs[:, :, -1], (index, at.left), sign * (1 - at.fraction))
    np.add.at(rhs[:, :, -1], (index, at.right), sign * at.fraction)
    return rhs


def field_covariance(factor: BlockFactor, at_x: Location, at_y: Location) -> FloatArray:
    """e(x)' (Q + D)^-1 e(y), (n, m), solving for the shorter side, a few columns at a time."""
    if len(at_y) > len(at_x):
        return field_covariance(factor, at_y, at_x).T
    covariance = np.empty((len(at_x), len(at_y)))
    for first in range(0, len(at_y), COLUMNS):
        part = slice(first, first + COLUMNS)
        covariance[:, part] = at_x.interpolate(field_columns(factor, at_y[part])).T
    return covariance
