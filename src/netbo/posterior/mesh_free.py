"""The posterior of a mesh-free prior: exact everywhere, on the mesh through observations and questions.

Nodes are the vertices and the observations. Mean and variance between them have a closed form. Covariances
and samples at other points are answered with nodes there too, which changes nothing at the old ones; the
answers to the last questions are kept.

With P, Q and g of the cell (`netbo.linalg.interpolation`) and c(x) holding P_(p-1-i), Q_(p-1-i) in block row
i at the cell's ends: field c'x and variance (-1)^(p-1) (c' S^-1 c + g_(p-1)(z, z)), for the unit field.
"""

from dataclasses import dataclass
from functools import cached_property
from typing import Self

import numpy as np

from netbo.arrays import FloatArray
from netbo.errors import ParameterError
from netbo.fem import Location, Mesh
from netbo.geometry import Points
from netbo.linalg import (
    CellBlocks,
    Interpolation,
    end_forms,
    end_values,
    field_sign,
    hyperbolic_interpolation,
)
from netbo.posterior.base import EvidenceDerivatives, EvidenceTerms, Mean, Posterior
from netbo.posterior.block import BlockPosterior
from netbo.posterior.observations import Observations
from netbo.priors import MeshFreePrior, Prior, field_sources

# Mean and variance between the nodes of an exact system, and their slopes along the edge: closed form.


@dataclass(frozen=True, eq=False)
class Between:
    """Points among the nodes of a mesh, for a field with inverse length scale kappa."""

    at: Location
    order: int
    interpolation: Interpolation

    @classmethod
    def nodes(cls, mesh: Mesh, kappa: float, order: int, x: Points) -> "Between":
        """Where the points lie and what the ends of their cells give them."""
        at = mesh.locate(x)
        cells = kappa * mesh.cell_lengths[at.cell]
        return cls(at, order, hyperbolic_interpolation(cells, at.fraction * cells, order))

    @cached_property
    def _ends(self) -> tuple[FloatArray, FloatArray]:
        """c(x) at the left and right ends, (n, p) each."""
        return self.interpolation.left[:, ::-1], self.interpolation.right[:, ::-1]

    @cached_property
    def _end_slopes(self) -> tuple[FloatArray, FloatArray]:
        """dc/dz, in units of 1/kappa."""
        return self.interpolation.left_slope[:, ::-1], self.interpolation.right_slope[:, ::-1]

    def field(self, solution: FloatArray) -> FloatArray:
        """c(x)' x for a block solution (N, p), (n,)."""
        return self._apply(solution, self._ends)

    def field_slope(self, solution: FloatArray) -> FloatArray:
        """Its derivative along the edge, in units of 1/kappa, (n,)."""
        return self._apply(solution, self._end_slopes)

    def _apply(self, solution: FloatArray, ends: tuple[FloatArray, FloatArray]) -> FloatArray:
        return end_values(self.at.left, self.at.right, *ends, solution)

    def variance(self, blocks: CellBlocks) -> FloatArray:
        """Variance of the unit field, (n,)."""
        whole = self._form(blocks, self._ends) + self.interpolation.bridge
        return field_sign(self.order) * whole

    def variance_slope(self, blocks: CellBlocks) -> FloatArray:
        """Its derivative along the edge, in units of 1/kappa, (n,)."""
        whole = 2 * self._form(blocks, self._end_slopes) + self.interpolation.bridge_slope
        return field_sign(self.order) * whole

    def _form(self, blocks: CellBlocks, ends: tuple[FloatArray, FloatArray]) -> FloatArray:
        """ends' S^-1 c(x), (n,)."""
        return end_forms(self.at.cell, *ends, *self._ends, blocks.left, blocks.right, blocks.across)


REMEMBERED = 2  # questions


class MeshFreePosterior(Posterior):
    """Field given observations under the true kernel."""

    prior: MeshFreePrior

    def __init__(
        self, prior: MeshFreePrior, observations: Observations, *, regularization: float | None, mean: Mean
    ) -> None:
        super().__init__(prior, observations, regularization=regularization, mean=mean)
        self._placed: tuple[Points, Between] | None = None
        self._asked: list[tuple[tuple[Points, ...], BlockPosterior]] = []
        self._solved: list[tuple[Points, FloatArray]] = []

    @cached_property
    def base(self) -> BlockPosterior:
        """The posterior at the vertices and the observations."""
        return self._on(self.observations.points)

    def _on(self, *points: Points) -> BlockPosterior:
        return BlockPosterior(
            self.prior.on(*points),
            self.observations,
            regularization=self.regularization,
            mean=self.mean_setting,
        )

    def _at(self, *points: Points) -> BlockPosterior:
        """The posterior on the mesh through the observations and the points asked about."""
        for known, posterior in self._asked:
            if len(known) == len(points) and all(a is b for a, b in zip(known, points, strict=True)):
                return posterior
        posterior = self._on(self.observations.points, *points)
        self._asked = [*self._asked, (points, posterior)][-REMEMBERED:]
        return posterior

    @cached_property
    def _cell_blocks(self) -> CellBlocks:
        return self.base.factor.select_cells()

    @property
    def _solution(self) -> FloatArray:
        """Block solution for y - m at the vertices and observations, (N, p)."""
        solution = self.base.solution
        return solution.about_mean(solution.blocks)

    def _between(self, x: Points) -> Between:
        """The points among the vertices and observations; the last ones are kept."""
        if self._placed is None or self._placed[0] is not x:
            nodal = self.base.prior
            place = Between.nodes(nodal.space, nodal.matern.kappa, nodal.order, x)
            self._placed = (x, place)
        return self._placed[1]

    def field_mean(self, x: Points) -> FloatArray:
        """k(x)' T^-1 (y - m), (n,)."""
        if self.prior.is_constant:
            return self._at(x).field_mean(x)
        self.base.say_mean_loss()
        return self._between(x).field(self._solution)

    def field_of_ones(self, x: Points) -> FloatArray:
        """k(x)' T^-1 1, (n,)."""
        if self.prior.is_constant:
            return self._at(x).field_of_ones(x)
        return self._between(x).field(self.base.solution.blocks[1])

    def field_variance(self, x: Points) -> FloatArray:
        """k(x, x) - k(x)' T^-1 k(x), (n,)."""
        if self.prior.is_constant:
            return self._at(x).field_variance(x)
        return self.base.prior.amplitude * self._between(x).variance(self._cell_blocks)

    def mean_slope(self, x: Points) -> FloatArray:
        """Derivative of the posterior mean along the edge, towards its head, (n,)."""
        self._require_slopes()
        return self.prior.matern.kappa * self._between(x).field_slope(self._solution)

    def variance_slope(self, x: Points) -> FloatArray:
        """Derivative of the posterior variance along the edge, towards its head, (n,)."""
        self._require_slopes()
        place, kappa = self._between(x), self.prior.matern.kappa
        slope = self.base.prior.amplitude * place.variance_slope(self._cell_blocks)
        if self._mean_is_estimated:
            solution = self.base.solution.blocks[1]
            missing, change = 1 - place.field(solution), -place.field_slope(solution)
            slope = slope + 2 * missing * change / self.mean_precision
        return kappa * slope

    def _require_slopes(self) -> None:
        if self.prior.is_constant:
            raise ParameterError(
                "slopes exist for the field itself, got a variance made constant; leave constant_variance out"
            )

    def field_covariance(self, x: Points, y: Points) -> FloatArray:
        """k(x, y) - k(x)' T^-1 k(y), (n, m); quickest where those of one side are observed or vertices."""
        if not self.prior.is_constant and len(x) and len(y):
            for one, other in ((x, y), (y, x)):
                solutions = self._solutions(other)
                if solutions is not None:
                    between = self._between(one)
                    columns = np.stack([between.field(each) for each in solutions], axis=1)
                    return self.base.prior.amplitude * (columns if other is y else columns.T)
        return self._at(x, y).field_covariance(x, y)

    def _solutions(self, places: Points) -> FloatArray | None:
        """Block solutions, (n, N, p), of a source at each of some nodes; None if one is no node."""
        for known, solutions in self._solved:
            if known is places:
                return solutions
        at = self.base.prior.space.locate(places)
        if not np.all((at.fraction == 0) | (at.fraction == 1)):
            return None
        solutions = self.base.factor.solve(field_sources(self.base.factor, at))
        self._solved = [*self._solved, (places, solutions)][-REMEMBERED:]
        return solutions

    def field_deviations(self, x: Points, rng: np.random.Generator, n: int) -> FloatArray:
        """n draws of the field minus its mean, (n, len(x))."""
        return self._at(x).field_deviations(x, rng, n)

    @property
    def estimated_mean(self) -> float:
        """The constant mean m: the given number, or its estimate."""
        return self.base.estimated_mean

    @property
    def mean_precision(self) -> float:
        """1' T^-1 1."""
        return self.base.mean_precision

    def information_gain(self) -> float:
        """Mutual information of data and field (rmk:maximin design)."""
        return self.base.information_gain()

    def log_evidence(self) -> float:
        """Log density of the data; an AccuracyWarning where rounding leaves little of it."""
        return self.base.log_evidence()

    def evidence_terms(self) -> EvidenceTerms:
        """log|T| and (y - m)' T^-1 (y - m)."""
        return self.base.evidence_terms()

    def evidence_derivatives(self) -> EvidenceDerivatives:
        """Derivatives of both terms."""
        return self.base.evidence_derivatives()

    @property
    def dual(self) -> FloatArray:
        """T^-1 (y - m), (n,)."""
        return self.base.dual

    @property
    def dual_of_ones(self) -> FloatArray:
        """T^-1 1, (n,)."""
        return self.base.dual_of_ones

    def inverse_diagonal(self) -> FloatArray:
        """[T^-1]_ii, (n,)."""
        return self.base.inverse_diagonal()

    def with_parameters(self, prior: Prior, regularization: float | None) -> Self:
        """The posterior of the same data under other parameters; the mesh of the observations stays."""
        if not isinstance(prior, MeshFreePrior) or prior.graph is not self.prior.graph:
            raise ParameterError(
                "with_parameters takes the same prior rescaled, got another; use condition()"
            )
        other = type(self)(prior, self.observations, regularization=regularization, mean=self.mean_setting)
        if self.prior.is_rescaling_of(prior):
            nodal = self.base.prior.rescaled(range=prior.range, sigma=prior.sigma)
            other.base = self.base.with_parameters(nodal, regularization)
        return other

    def extend(self, new: Observations) -> Self:
        """The posterior after more observations: their places become nodes."""
        return self._with_more(new)
