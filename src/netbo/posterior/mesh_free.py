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

from netbo.arrays import FloatArray, IntArray
from netbo.errors import ParameterError
from netbo.fem import Location, Mesh
from netbo.geometry import Points
from netbo.linalg import (
    CellBlocks,
    InCells,
    Interpolation,
    cell_forms,
    cell_moments,
    end_forms,
    end_values,
    field_sign,
    hyperbolic_interpolation,
)
from netbo.posterior.base import Evidence, EvidenceDerivatives, EvidenceTerms, Mean, Posterior
from netbo.posterior.block import BlockPosterior
from netbo.posterior.joint import Joint, PlainJoint
from netbo.posterior.observations import Observations
from netbo.priors import MeshFreePrior, Prior, field_sources

# Slopes of mean and variance along the edge, between the nodes of an exact system: closed form.


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

    def field_slope(self, solution: FloatArray) -> FloatArray:
        """Its derivative along the edge, in units of 1/kappa, (n,)."""
        return self._apply(solution, self._end_slopes)

    def _apply(self, solution: FloatArray, ends: tuple[FloatArray, FloatArray]) -> FloatArray:
        return end_values(self.at.left, self.at.right, *ends, solution)

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
        self._placed: tuple[Points, InCells] | None = None
        self._formed: tuple[Points, FloatArray] | None = None
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
    def cell_blocks(self) -> CellBlocks:
        """The inverse of the block system at the ends of every cell."""
        return self.base.factor.select_cells()

    @property
    def _solution(self) -> FloatArray:
        """Block solution for y - m at the vertices and observations, (N, p)."""
        solution = self.base.solution
        return solution.about_mean(solution.blocks)

    @cached_property
    def rows(self) -> FloatArray:
        """Block solutions for y - m and, with an estimated mean, for ones, (N, r, p)."""
        rows = [self._solution, *self.base.solution.blocks[1:]]
        return np.ascontiguousarray(np.stack(rows, axis=1))

    def in_cells(self, x: Points) -> InCells:
        """The points among the vertices and observations; the last ones are kept."""
        if self._placed is None or self._placed[0] is not x:
            at = self.base.prior.space.locate(x)
            left, right, lengths = self._cells
            self._placed = (x, InCells(at.cell, at.fraction * lengths[at.cell], lengths, left, right))
        return self._placed[1]

    @cached_property
    def _cells(self) -> tuple[IntArray, IntArray, FloatArray]:
        """Nodes at both ends and lengths of the cells, in units of 1/kappa."""
        left, right, lengths = self.base.prior.space.cell_ends
        return left, right, self.prior.matern.kappa * lengths

    def _fields(self, x: Points) -> FloatArray:
        """Fields of the rows at points, (n, r); the last ones are kept."""
        if self._formed is None or self._formed[0] is not x:
            self._formed = (x, cell_forms(self.in_cells(x), self.rows))
        return self._formed[1]

    def field_mean(self, x: Points) -> FloatArray:
        """k(x)' T^-1 (y - m), (n,)."""
        if self.prior.is_constant:
            return self._at(x).field_mean(x)
        self.base.say_mean_loss()
        return self._fields(x)[:, 0]

    def field_of_ones(self, x: Points) -> FloatArray:
        """k(x)' T^-1 1, (n,)."""
        if self.prior.is_constant:
            return self._at(x).field_of_ones(x)
        return self._fields(x)[:, 1]

    def field_variance(self, x: Points) -> FloatArray:
        """k(x, x) - k(x)' T^-1 k(x), (n,)."""
        if self.prior.is_constant:
            return self._at(x).field_variance(x)
        forms, unit = cell_moments(self.in_cells(x), self.rows, self.cell_blocks)
        self._formed = (x, forms)
        return self.base.prior.amplitude * unit

    def _between(self, x: Points) -> Between:
        nodal = self.base.prior
        return Between.nodes(nodal.space, nodal.matern.kappa, nodal.order, x)

    def mean_slope(self, x: Points) -> FloatArray:
        """Derivative of the posterior mean along the edge, towards its head, (n,)."""
        self._require_slopes()
        return self.prior.matern.kappa * self._between(x).field_slope(self._solution)

    def variance_slope(self, x: Points) -> FloatArray:
        """Derivative of the posterior variance along the edge, towards its head, (n,)."""
        self._require_slopes()
        place, kappa = self._between(x), self.prior.matern.kappa
        slope = self.base.prior.amplitude * place.variance_slope(self.cell_blocks)
        if self.mean_is_open:
            solution = self.base.solution.blocks[1]
            missing, change = 1 - self.field_of_ones(x), -place.field_slope(solution)
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
                rows = self.rows_towards(other)
                if rows is not None:
                    columns = self.base.prior.amplitude * cell_forms(self.in_cells(one), rows)
                    return columns if other is y else columns.T
        return self._at(x, y).field_covariance(x, y)

    def rows_towards(self, places: Points) -> FloatArray | None:
        """Block solutions, (N, n, p), of a source at each of some nodes; None if one is no node."""
        for known, rows in self._solved:
            if known is places:
                return rows
        at = self.base.prior.space.locate(places)
        if not np.all((at.fraction == 0) | (at.fraction == 1)):
            return None
        solutions = self.base.factor.solve(field_sources(self.base.factor, at))
        rows = np.ascontiguousarray(solutions.transpose(1, 0, 2))
        self._solved = [*self._solved, (places, rows)][-REMEMBERED:]
        return rows

    def joint_with(self, places: Points) -> Joint:
        """Moments of candidates jointly with some places, at best observed ones."""
        rows = None if self.prior.is_constant or not len(places) else self.rows_towards(places)
        return PlainJoint(self, places) if rows is None else JointByCells(self, places, rows)

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

    def evidence_at(self, prior: Prior, regularization: float | None) -> Evidence:
        """What `with_parameters` would say of the evidence."""
        if not (isinstance(prior, MeshFreePrior) and self.prior.is_rescaling_of(prior)):
            return self.with_parameters(prior, regularization)
        nodal = self.base.prior.rescaled(range=prior.range, sigma=prior.sigma)
        return self.base.evidence_at(nodal, regularization)

    def extend(self, new: Observations) -> Self:
        """The posterior after more observations: their places become nodes."""
        return self._with_more(new)


# Moments of candidates and their covariances with some nodes, which acquisitions ask for again and again.


FEW = 3  # places whose covariances come with the moments, since they are asked for first


@dataclass(frozen=True, eq=False)
class JointByCells:
    """Some nodes and what a source at each of them does to the field."""

    posterior: MeshFreePosterior
    places: Points
    rows: FloatArray  # (N, k, p)

    @cached_property
    def covariance(self) -> FloatArray:
        """Of the values at the places, (k, k)."""
        return self.at(self.places).covariance(len(self.places))

    @cached_property
    def first_rows(self) -> FloatArray:
        """Solutions that mean and variance need, and those of the first places, (N, r + 3, p)."""
        return np.concatenate([self.posterior.rows, self.rows[:, :FEW]], axis=1)

    @cached_property
    def open_means(self) -> FloatArray:
        """What the data leave open of an estimated mean at the places, (k,)."""
        return 1 - self.posterior.field_of_ones(self.places)

    def at(self, x: Points) -> "CandidatesInCells":
        """The candidates, located once."""
        return CandidatesInCells(self, self.posterior.in_cells(x), x)


@dataclass(frozen=True, eq=False)
class CandidatesInCells:
    """Candidates in the cells of the observations."""

    joint: JointByCells
    at: InCells
    x: Points

    @cached_property
    def _moments(self) -> tuple[FloatArray, FloatArray]:
        """Forms of the first rows, (n, r + 3), and variances of the unit field, (n,)."""
        return cell_moments(self.at, self.joint.first_rows, self.joint.posterior.cell_blocks)

    @property
    def mean(self) -> FloatArray:
        """Of the candidates, (n,)."""
        mean: FloatArray = self.joint.posterior.estimated_mean + self._moments[0][:, 0]
        return mean

    @cached_property
    def variance(self) -> FloatArray:
        """Of the candidates, (n,)."""
        posterior, (forms, unit) = self.joint.posterior, self._moments
        variance = posterior.base.prior.amplitude * unit
        if posterior.mean_is_open:
            variance += (1 - forms[:, 1]) ** 2 / posterior.mean_precision
        return np.maximum(variance, 0.0)

    def covariance(self, n: int, part: IntArray | None = None) -> FloatArray:
        """Of some candidates, or of all, with the first n places, (len(part), n)."""
        joint, forms = self.joint, self._moments[0]
        posterior, rows = joint.posterior, joint.rows
        chosen = slice(None) if part is None else part
        if n <= FEW:
            first = posterior.rows.shape[1]
            fields = forms[chosen, first : first + n]
        else:
            some = rows if n == rows.shape[1] else np.ascontiguousarray(rows[:, :n])
            fields = cell_forms(self.at[chosen], some)
        covariance: FloatArray = posterior.base.prior.amplitude * fields
        if posterior.mean_is_open:
            missing = joint.open_means[:n] / posterior.mean_precision
            covariance += np.outer(1 - forms[chosen, 1], missing)
        return covariance
