"""The posterior of a finite element prior in precision form: its cost does not grow with the data."""

import warnings
from functools import cached_property, partial
from typing import Self

import numpy as np

from netbo.arrays import FloatArray
from netbo.checks import explained
from netbo.errors import AccuracyWarning, ParameterError
from netbo.geometry import Points
from netbo.linalg import BlockFactor, derivative_form, derivative_trace, field_sign
from netbo.posterior.base import Evidence, EvidenceDerivatives, EvidenceTerms, Gradient, Mean, Posterior
from netbo.posterior.border import BorderedFactor, fits_a_border, stiff_places
from netbo.posterior.evidence import NodalEvidence
from netbo.posterior.mesh_data import CentredValues, MeshData
from netbo.posterior.nodal_solution import LARGEST_MEAN_LOSS, NodalSolution
from netbo.posterior.observations import Observations
from netbo.posterior.rank_one import NodalState, Step, Updated
from netbo.priors import FiniteElementPrior, Prior, field_covariance, interpolated_variance

REFRESH = 16  # observations added by rank one before the next one factors anew
LARGEST_VARIANCE_LOSS = 1e-2  # relative, of the variance of an estimated mean, before something is said
LARGEST_EVIDENCE_LOSS = 1e-6  # of the log evidence, or of 1
LEAST_NOISE = 1e-60  # in units of sigma^2: of a smooth field with a long range 1e-30 still shows
LEAST_NOISE_INSIDE = 1e-13  # of three or more points inside one cell, of which two would tell the others


class BlockPosterior(Posterior):
    """Field given observations, from one factorization of the prior's block system with their load D.

    data, values: where the observations lie and what was measured, if another posterior knows it already.
    nodal: mean and variance at the nodes, if they were updated by rank one; else from `solution`.
    """

    prior: FiniteElementPrior

    def __init__(
        self,
        prior: FiniteElementPrior,
        observations: Observations,
        *,
        regularization: float | None,
        mean: Mean,
        data: MeshData | None = None,
        values: CentredValues | None = None,
        nodal: NodalState | None = None,
    ) -> None:
        super().__init__(prior, observations, regularization=regularization, mean=mean)
        self.data = data or MeshData.through(prior.space, observations.points)
        self.noise = _floored(self.noise, prior, self.data)
        self.values = values or CentredValues.of(observations, self.data, self.noise, mean)
        self.solution = NodalSolution(prior, self.data, self.values, self.noise)
        self.nodal: NodalState = nodal or self.solution
        self._mean_is_said = False
        self._latest: NodalEvidence | None = None

    @property
    def factor(self) -> BlockFactor:
        """The block system with the load of the observations."""
        return self.solution.factor

    @property
    def estimated_mean(self) -> float:
        """The constant mean m: the given number, or its estimate."""
        if not self.mean_is_open:
            return self.values.centre
        return self.values.centre + self.nodal.means.shift

    @property
    def mean_precision(self) -> float:
        """1' T^-1 1."""
        if self.nodal is self.solution and self.solution.mean_loss > LARGEST_VARIANCE_LOSS:
            warnings.warn(
                f"an estimated mean should keep two digits of its variance, got an error of "
                f"{self.solution.mean_loss:.1g}: the field varies far more than the noise "
                f"({self.noise.min():.3g}) where it was measured; shorten the range, raise the noise or "
                "give the mean",
                AccuracyWarning,
                stacklevel=3,
            )
        return self.nodal.means.ones_ones

    def field_mean(self, x: Points) -> FloatArray:
        """k(x)' T^-1 (y - m), (n,)."""
        self.say_mean_loss()
        at, means = self.prior.space.locate(x), self.nodal.means
        field = at.interpolate(means.values)
        if self.mean_is_open:
            field = field - means.shift * at.interpolate(means.ones)
        return self.prior.scale(at) * field

    def say_mean_loss(self) -> None:
        """Warn, once, if values contradict each other so much that the mean keeps few digits."""
        if self._mean_is_said or self.nodal is not self.solution:
            return
        self._mean_is_said = True
        loss = self.solution.mean_loss_of(self.observations.points)
        if loss > LARGEST_MEAN_LOSS:
            warnings.warn(
                "values should agree where the field can hardly differ, got ones that contradict each other "
                f"beside a noise of {self.noise.min():.3g}: the mean may be off by {loss:.1g} of them; "
                "raise the noise, shorten the range, or look at the values",
                AccuracyWarning,
                stacklevel=4,
            )

    def log_evidence(self) -> float:
        """Log density of the data; an AccuracyWarning where rounding leaves little of it."""
        quadratic, loss = self.solution.refined_quadratic()
        evidence = super().log_evidence() - (quadratic - self.solution.quadratic) / 2
        loss = (loss + self.solution.determinant_loss) / 2
        if loss > LARGEST_EVIDENCE_LOSS * max(1.0, abs(evidence)):
            warnings.warn(
                f"the log evidence should keep six digits, got {evidence:.6g} known to about {loss:.1g}: the "
                f"field varies far more than the noise ({self.noise.min():.3g}) where it was measured; raise "
                "the noise, shorten the range, or put nearly noiseless values at nodes",
                AccuracyWarning,
                stacklevel=2,
            )
        return evidence

    def field_of_ones(self, x: Points) -> FloatArray:
        """k(x)' T^-1 1, (n,)."""
        at = self.prior.space.locate(x)
        return self.prior.scale(at) * at.interpolate(self.nodal.means.ones)

    def field_variance(self, x: Points) -> FloatArray:
        """k(x, x) - k(x)' T^-1 k(x), (n,)."""
        at = self.prior.space.locate(x)
        unit = interpolated_variance(self.nodal.spread, at)
        return self.prior.amplitude * self.prior.scale(at) ** 2 * unit

    def field_covariance(self, x: Points, y: Points) -> FloatArray:
        """k(x, y) - k(x)' T^-1 k(y), (n, m)."""
        at_x, at_y = self.prior.space.locate(x), self.prior.space.locate(y)
        unit = field_covariance(self.factor, at_x, at_y)
        return self.prior.amplitude * self.prior.scale(at_x)[:, None] * unit * self.prior.scale(at_y)

    def field_deviations(self, x: Points, rng: np.random.Generator, n: int) -> FloatArray:
        """n draws of the field minus its mean, (n, len(x))."""
        prior, solution, at = self.prior, self.solution, self.prior.space.locate(x)
        spread = prior.amplitude * solution.scale * np.sqrt(solution.precisions)
        paths, is_load = np.empty((n, len(x))), np.ones(len(spread), dtype=np.bool_)
        is_load[solution.border] = False
        for path in paths:
            kick = np.zeros(prior.space.n_nodes)
            kicks = spread * rng.standard_normal(len(spread))
            self.data.spread_to_nodes(kick, np.where(is_load, kicks, 0.0))
            path[:] = prior.path(self.factor, at, rng, kick)
            if isinstance(self.factor, BorderedFactor):
                towards = self.factor.response((kicks / solution.weight)[solution.border])
                path[:] = path + prior.scale(at) * at.interpolate(towards)
        return paths

    def information_gain(self) -> float:
        """Mutual information of data and field (rmk:maximin design)."""
        return self.nodal.information_gain

    @property
    def dual(self) -> FloatArray:
        """T^-1 (y - m), (n,)."""
        return self.solution.about_mean(self.solution.duals)

    @property
    def dual_of_ones(self) -> FloatArray:
        """T^-1 1, (n,), where the mean is estimated."""
        ones: FloatArray = self.solution.duals[1]
        return ones

    def inverse_diagonal(self) -> FloatArray:
        """[T^-1]_ii, (n,)."""
        return self.solution.inverse_diagonal()

    def evidence_terms(self) -> EvidenceTerms:
        """log|T| and (y - m)' T^-1 (y - m)."""
        solution = self.solution
        log_determinant = 2 * solution.information_gain + float(np.log(self.noise).sum())
        return EvidenceTerms(len(self.observations), log_determinant, self._scatter + solution.quadratic)

    @property
    def _scatter(self) -> float:
        """Sum of (value - mean of its place)^2 / lambda: the part of the quadratic that no field explains."""
        if len(self.data.places) == len(self.observations):
            return 0.0
        return float(np.sum(self.values.deviations**2 / self.noise))

    def evidence_derivatives(self) -> EvidenceDerivatives:
        """Derivatives of both terms, at no solve more: traces of the selected inverse, forms of the solution.

        In s = kappa^2 at fixed tau by the element matrices; in sigma, and in kappa at fixed sigma, through
        the factor a by which the field at each observation is scaled.
        """
        prior, solution, selected = self.prior, self.solution, self.solution.selected
        p, unit, dual = prior.order, prior.unit, solution.about_mean(solution.merged_duals)
        trace = derivative_trace(unit.elements, p, selected.diagonals, selected.couples)
        trace -= unit.log_determinant_derivative
        x = solution.about_mean(solution.blocks)
        form = field_sign(p) * derivative_form(unit.mesh.topology, unit.elements, x) / prior.amplitude
        leverage = solution.leverage
        fit = solution.about_mean(self.values.merged) - dual / solution.precisions
        stretch = prior.scale_derivative(self.data.places)
        noise = self._noise_derivatives(leverage, dual)
        return EvidenceDerivatives(
            log_determinant=Gradient(
                range=-2 * trace - 2 * float(stretch @ leverage),
                sigma=2 * float(leverage.sum()),
                noise=noise[0],
            ),
            quadratic=Gradient(
                range=-2 * form + 2 * float(stretch @ (dual * fit)),
                sigma=-2 * float(dual @ fit),
                noise=noise[1],
            ),
        )

    def _noise_derivatives(self, leverage: FloatArray, dual: FloatArray) -> tuple[float, float]:
        """Derivatives of both terms in the log of the common noise variance, from what the places have."""
        precisions, has_own = self.solution.precisions, self.observations.has_own_noise
        if not has_own.any():
            quadratic = self._scatter + float(np.sum(dual**2 / precisions))
            return len(self.observations) - float(leverage.sum()), -quadratic
        shares = (leverage / precisions)[self.data.distinct.group] / self.noise
        return float((1 - shares)[~has_own].sum()), -float((self.noise * self.dual**2)[~has_own].sum())

    @explained
    def with_parameters(self, prior: Prior, regularization: float | None) -> Self:
        """The posterior of the same data under other parameters; what depends on the data alone is kept."""
        if not isinstance(prior, FiniteElementPrior) or prior.space is not self.prior.space:
            raise ParameterError(
                "with_parameters takes the same prior rescaled, got another; use condition()"
            )
        if self._latest is not None:
            self._latest.share_unit(prior)
        made = self._remaking(prior, regularization)()
        if self._latest is not None and self._latest.is_at(prior, regularization):
            self._latest.share_solution(made.solution)
        return made

    def evidence_at(self, prior: Prior, regularization: float | None) -> Evidence:
        """What `with_parameters` would say of the evidence: by numbers alone where these suffice."""
        if not (isinstance(prior, FiniteElementPrior) and self._is_nodal and regularization is not None):
            return self.with_parameters(prior, regularization)
        if not LEAST_NOISE * prior.sigma**2 <= regularization < np.inf:
            return self.with_parameters(prior, regularization)
        if self._latest is not None:
            self._latest.share_unit(prior)
        otherwise = self._remaking(prior, regularization)
        self._latest = NodalEvidence(prior, self.values, regularization, otherwise)
        return self._latest

    def _remaking(self, prior: FiniteElementPrior, regularization: float | None) -> partial[Self]:
        """What makes the posterior under other parameters; it does not keep this one alive."""
        return partial(
            type(self),
            prior,
            self.observations,
            regularization=regularization,
            mean=self.mean_setting,
            data=self.data,
            values=None if self.observations.has_own_noise.any() else self.values,
        )

    @cached_property
    def _is_nodal(self) -> bool:
        """Whether the evidence may take the short way whatever the parameters."""
        has_own_noise = bool(self.observations.has_own_noise.any())
        is_seen = len(self.observations) > 0 and self.data.is_at_nodes
        return is_seen and not has_own_noise and not self.prior.is_constant

    @explained
    def extend(self, new: Observations) -> Self:
        """The posterior after more observations, each a rank-one update of mean and variances.

        One solve and a pass over the nodes; covariances, samples and evidence factor anew when asked for.
        """
        if len(new) == 1:
            return self._extended_by_one(new)
        posterior = self
        for index in range(len(new)):
            one = Observations(new.points[[index]], new.values[[index]], new.noise[[index]])
            posterior = posterior.extend(one)
        return posterior

    def _extended_by_one(self, new: Observations) -> Self:
        if self.nodal.n_updates >= REFRESH or not len(self.observations):
            return self._with_more(new)
        prior, everything = self.prior, self.observations.joined(new)
        data = MeshData.through(prior.space, everything.points)
        noise = _floored(everything.noise_variances(self.regularization), prior, data)
        if len(stiff_places(prior, data, data.distinct.precisions(noise))):
            return self._with_more(new)
        at, centre = data.at[len(self.observations) :], self.values.centre
        scale = float(prior.scale(at)[0])
        step = Step(
            at=at,
            value=float(new.values[0]) - centre,
            scale=scale,
            amplitude=prior.amplitude,
            column=self.nodal.column(at),
            noise=float(noise[-1]) / (prior.amplitude * scale**2),
        )
        return type(self)(
            prior,
            everything,
            regularization=self.regularization,
            mean=self.mean_setting,
            data=data,
            values=CentredValues.of(everything, data, noise, self.mean_setting, centre),
            nodal=Updated(self.nodal, step, prior.space),
        )


def _floored(noise: FloatArray, prior: FiniteElementPrior, data: MeshData) -> FloatArray:
    """Noise variances that leave the block system its digits; `condition` says where that is felt."""
    least = np.full(len(noise), LEAST_NOISE)
    if not data.places.is_at_nodes:
        depend = data.is_crowded if fits_a_border(prior, data) else data.at.fraction > 0
        least[depend] = LEAST_NOISE_INSIDE
    least *= prior.sigma**2
    return noise if np.all(noise >= least) else np.maximum(noise, least)
