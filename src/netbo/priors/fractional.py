"""Whittle-Matérn priors of any smoothness alpha > 1/4, as sums of shifted operators (eq:rational kernel)."""

import math
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Self

import numpy as np

from netbo.arrays import FloatArray
from netbo.fem import Location
from netbo.geometry import Points
from netbo.linalg import RationalField, RationalPower, ShiftedElements, ShiftedHats, rational_power
from netbo.priors.base import gaussian_samples
from netbo.priors.finite_element import COLUMNS, MaternOnSpace, interpolated_variance


@dataclass(frozen=True, eq=False)
class FractionalPrior(MaternOnSpace):
    """tau^-2 e(x)' g(kappa^2 L_h^-1) e(x') with a rational g(x) ~ x^(2 alpha), accurate to `tolerance`.

    The paper fits x^alpha and squares the fit; here x^(2 alpha) is fitted by a positive sum of x / (x + s),
    so that only scalar systems at shifted kappa^2 are solved. Inside, lengths are in the unit 1/kappa.
    """

    is_lumped: bool
    vertex_condition: FloatArray  # theta of eq:kirchhoff at every vertex
    tolerance: float = 1e-8  # kernel error relative to the variance, see RationalPower.error

    def __post_init__(self) -> None:
        _ = self.power  # an accuracy out of reach is refused here

    def rescaled(self, *, range: float | None = None, sigma: float | None = None) -> Self:  # noqa: A002
        """The same prior with another range, another sigma, or both."""
        other = replace(self, matern=self.matern.rescaled(range=range, sigma=sigma))
        if range in (None, self.range) and "field" in vars(self):  # a new one's kappa may differ by rounding
            vars(other)["field"] = self.field
        return other

    @cached_property
    def lowest(self) -> float:
        """A power of ten below kappa^2 / lambda for every eigenvalue lambda of the mesh.

        Element by element, G + Theta <= (12 / h^2 + 4 theta / h) C, with 4 and 2 for lumped mass. Ranges of
        one decade share a fit, and a kernel does not depend on how its range was arrived at.
        """
        cell = self.matern.kappa * float(self.space.cell_lengths.min())
        theta = float(self.vertex_condition.max(initial=0.0)) / self.matern.kappa
        largest = 4 / cell**2 + 2 * theta / cell if self.is_lumped else 12 / cell**2 + 4 * theta / cell
        return 10.0 ** math.floor(-math.log10(1 + largest))

    @cached_property
    def power(self) -> RationalPower:
        """The approximation of x^(2 alpha)."""
        return rational_power(2 * self.matern.alpha, self.tolerance, self.lowest)

    @property
    def error(self) -> float:
        """Kernel error relative to the variance, measured on the fit (`RationalPower.error`)."""
        return self.power.error

    @cached_property
    def shifted(self) -> ShiftedElements:
        """Elements at shifted kappa^2, in the unit of length 1/kappa."""
        return ShiftedHats(self.matern.kappa * self.space.cell_lengths, self.is_lumped)

    @cached_property
    def field(self) -> RationalField:
        """The field at kappa = tau = 1, at the nodes, which a rescaled prior of the same range shares."""
        robin = self.vertex_condition / self.matern.kappa
        return RationalField(self.space.topology, self.shifted, self.power, robin)

    def covariance(self, x: Points, y: Points) -> FloatArray:
        """k(x, y), (n, m)."""
        return self.matern.amplitude * self._forms(self.field, x, y)[0]

    def _forms(
        self, field: RationalField, x: Points, y: Points, *, smoother: bool = False
    ) -> list[FloatArray]:
        """e(x)' G e(y) of the unit field, and of the one an order smoother, solving for the shorter side."""
        if len(y) > len(x):
            return [form.T for form in self._forms(field, y, x, smoother=smoother)]
        at_x, at_y = self.space.locate(x), self.space.locate(y)
        forms = [np.empty((len(x), len(y))) for _ in range(1 + smoother)]
        for first in range(0, len(y), COLUMNS):
            part = slice(first, first + COLUMNS)
            fields = field.columns(self._hats(at_y[part]), smoother=smoother)
            for form, columns in zip(forms, fields, strict=True):
                form[:, part] = at_x.interpolate(columns).T
        return forms

    def _hats(self, at: Location) -> FloatArray:
        """Rows e(x), dense, (n, N)."""
        hats, index = np.zeros((len(at), self.space.n_nodes)), np.arange(len(at))
        np.add.at(hats, (index, at.left), 1 - at.fraction)
        np.add.at(hats, (index, at.right), at.fraction)
        return hats

    def variance(self, x: Points) -> FloatArray:
        """k(x, x), (n,)."""
        return self.matern.amplitude * self._unit_variance(x)

    def _unit_variance(self, x: Points, *, smoother: bool = False) -> FloatArray:
        """Of the unit field, or of the one an order smoother; steep terms by their columns."""
        at = self.space.locate(x)
        variance = interpolated_variance(self.field.selected(smoother=smoother), at)
        steep = self.field.steep(smoother=smoother)
        if steep is not None:
            for first in range(0, len(x), COLUMNS):
                part = slice(first, first + COLUMNS)
                form = self._forms(steep, x[part], x[part], smoother=smoother)[-1]
                variance[part] += np.diag(form)
        return variance

    def range_derivative(self, x: Points, y: Points) -> FloatArray:
        """d k(x, y) / d log range at fixed sigma, (n, m): amplitude (2 b G_(n+1) - 2 nu G_n), b = 2 alpha.

        dCov_b / ds = -b Cov_(b+1), and Cov_(b+1) has the same fit: the derivative is that of the exact kernel
        to the accuracy of the fit.
        """
        unit, higher = self._forms(self.field, x, y, smoother=True)
        return self._stretched(unit, higher)

    def range_derivative_of_variance(self, x: Points) -> FloatArray:
        """d k(x, x) / d log range at fixed sigma, (n,)."""
        return self._stretched(self._unit_variance(x), self._unit_variance(x, smoother=True))

    def _stretched(self, unit: FloatArray, higher: FloatArray) -> FloatArray:
        m = self.matern
        return m.amplitude * (4 * m.alpha * higher - 2 * m.nu * unit)

    def sample(self, x: Points, rng: np.random.Generator, n: int | None = None) -> FloatArray:
        """A sample path at x, (len(x),); n paths, (n, len(x)).

        From independent fields, one a term; from the covariance if more paths are asked for than points.
        """
        count = 1 if n is None else n
        if count > len(x) or not self.field.has_paths:
            paths = gaussian_samples(self.covariance(x, x), rng, count)
            return paths[0] if n is None else paths
        at, root = self.space.locate(x), math.sqrt(self.matern.amplitude)
        paths = np.empty((count, len(x)))
        for path in paths:
            path[:] = root * at.interpolate(self.field.path(rng))
        return paths[0] if n is None else paths
