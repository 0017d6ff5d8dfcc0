"""Evidence and its slopes at many parameters, where they take no more than numbers: no posterior is made.

The case of nearly every fit: all observations at nodes, one noise variance, an amplitude that is constant.
`BlockPosterior` has the formulas and everything else; both agree to the last bit.
"""

from collections.abc import Callable
from functools import cached_property
from typing import Protocol

import numpy as np

from netbo.arrays import FloatArray
from netbo.linalg import (
    BlockFactor,
    Load,
    SelectedSums,
    apply_stiffness,
    derivative_form,
    derivative_trace,
    field_sign,
)
from netbo.posterior.base import Evidence, EvidenceDerivatives, EvidenceTerms, Gradient
from netbo.posterior.mesh_data import CentredValues
from netbo.posterior.nodal_solution import EPSILON, LARGEST_LOSS_OF_ONES, STRONG, NodalSolution
from netbo.priors import FiniteElementPrior


class SolvedEvidence(Evidence, Protocol):
    """A posterior, seen as what it says of the evidence."""

    @property
    def solution(self) -> NodalSolution:
        """What the block system says."""


class NodalEvidence:
    """Evidence of observations at nodes, all with the same noise variance.

    otherwise: the posterior, asked where the mean has next to no precision and the short way loses digits.
    """

    def __init__(
        self,
        prior: FiniteElementPrior,
        values: CentredValues,
        noise: float,
        otherwise: Callable[[], SolvedEvidence],
    ) -> None:
        self.prior, self.values, self.otherwise = prior, values, otherwise
        self.node = values.data.places.left
        self.noise = np.full(len(values.values), noise)
        self.precisions = values.data.distinct.precisions(self.noise)
        self.weight = prior.amplitude * self.precisions

    def is_at(self, prior: FiniteElementPrior, noise: float | None) -> bool:
        """Whether these are its parameters."""
        return self.prior.matern == prior.matern and noise == self.noise[0]

    def share_unit(self, prior: FiniteElementPrior) -> None:
        """Give a prior of the same range its unit field: a grid asks for several noises at one range."""
        if self.prior.matern.kappa == prior.matern.kappa:
            vars(prior).setdefault("unit", self.prior.unit)

    def share_solution(self, solution: NodalSolution) -> None:
        """Give a solution at the same parameters what has been computed of it."""
        if "_blocks" in vars(self):
            vars(solution).setdefault("factor", self._factor)
            vars(solution).setdefault("_solved", (self._blocks, np.zeros((len(self._blocks), 0))))

    @cached_property
    def _factor(self) -> BlockFactor:
        rows = np.zeros(self.prior.space.n_nodes)
        rows[self.node] = self.weight
        return self.prior.unit.factored(Load(weight=rows, coupling=np.zeros(1)))

    @cached_property
    def _blocks(self) -> FloatArray:
        """Block solutions for the centred values and, with an estimated mean, for ones, (r, N, p)."""
        prior, merged = self.prior, self.values.merged
        rhs = np.zeros((len(merged), prior.space.n_nodes, prior.order))
        rhs[:, self.node, -1] = (field_sign(prior.order) * prior.amplitude * self.precisions) * merged
        return self._factor.solve(rhs)

    @cached_property
    def _duals(self) -> FloatArray:
        """T^-1 v of the distinct observations, (r, m): (v - fit) / lambda, or K x_0 where that is better."""
        blocks, values = self._blocks, self.values.merged
        fits = blocks[:, self.node, -1]
        duals: FloatArray = self.precisions * (values - fits)
        if self.weight.max() < STRONG:
            return duals
        prior, unit, node = self.prior, self.prior.unit, self.node
        for x, value, fit, dual in zip(blocks, values, fits, duals, strict=True):
            start = np.ascontiguousarray(x[:, 0])
            flow, size = apply_stiffness(unit.mesh.topology, unit.elements, unit.robin, start)
            error = self.precisions * np.maximum(abs(value), abs(fit))
            better = size[node] / prior.amplitude < error
            dual[better] = (field_sign(prior.order) * flow[node] / prior.amplitude)[better]
        return duals

    @cached_property
    def _exception(self) -> Evidence | None:
        """The posterior, where its way is needed."""
        least = EPSILON * self.precisions.sum() / LARGEST_LOSS_OF_ONES
        is_usual = not self.values.has_ones or self._duals[1].sum() >= least
        if is_usual:
            return None
        made = self.otherwise()
        self.share_solution(made.solution)
        return made

    def _about_mean(self, rows: FloatArray) -> FloatArray:
        """What belongs to y - m, from the rows of the centred values and of ones."""
        if not self.values.has_ones:
            return np.asarray(rows[0])
        return np.asarray(rows[0] - self._mean_shift * rows[1])

    @cached_property
    def _mean_shift(self) -> float:
        sums = self._duals.sum(axis=1)
        return float(sums[0] / sums[1])

    @cached_property
    def _scatter(self) -> float:
        if len(self.node) == len(self.noise):
            return 0.0
        return float(np.sum(self.values.deviations**2 / self.noise))

    def evidence_terms(self) -> EvidenceTerms:
        """log|T| and (y - m)' T^-1 (y - m)."""
        if self._exception is not None:
            return self._exception.evidence_terms()
        unit = self.prior.unit
        gain = (self._factor.log_determinant - unit.log_determinant) / 2
        quadratic = float(self.values.merged[0] @ self._about_mean(self._duals))
        log_determinant = 2 * gain + float(np.log(self.noise).sum())
        return EvidenceTerms(len(self.noise), log_determinant, self._scatter + quadratic)

    @cached_property
    def _selected(self) -> SelectedSums:
        return self._factor.select_with_sums()

    def evidence_derivatives(self) -> EvidenceDerivatives:
        """Derivatives of both terms; `BlockPosterior.evidence_derivatives` says how."""
        if self._exception is not None:
            return self._exception.evidence_derivatives()
        prior, unit, selected, precisions = self.prior, self.prior.unit, self._selected, self.precisions
        p, dual = prior.order, self._about_mean(self._duals)
        trace = derivative_trace(unit.elements, p, selected.diagonals, selected.couples)
        trace -= unit.log_determinant_derivative
        x = self._about_mean(self._blocks)
        form = field_sign(p) * derivative_form(unit.mesh.topology, unit.elements, x) / prior.amplitude
        leverage = self.weight * selected.variances[self.node]
        fit = self._about_mean(self.values.merged) - dual / precisions
        stretch = np.full(len(dual), prior.matern.nu)
        scattered = self._scatter + float(np.sum(dual**2 / precisions))
        return EvidenceDerivatives(
            log_determinant=Gradient(
                range=-2 * trace - 2 * float(stretch @ leverage),
                sigma=2 * float(leverage.sum()),
                noise=len(self.noise) - float(leverage.sum()),
            ),
            quadratic=Gradient(
                range=-2 * form + 2 * float(stretch @ (dual * fit)),
                sigma=-2 * float(dual @ fit),
                noise=-scattered,
            ),
        )
