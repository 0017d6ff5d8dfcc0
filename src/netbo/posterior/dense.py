"""The posterior of a prior known by its kernel, in the t x t form (eq:postmean, eq:postcov)."""

import math
import warnings
from dataclasses import dataclass
from functools import cached_property
from typing import Self

import numpy as np
from scipy.linalg import solve_triangular
from scipy.linalg.lapack import dpotrf, dpotrs

from netbo.arrays import FloatArray, IntArray
from netbo.errors import AccuracyWarning, NumericalError, ParameterError
from netbo.geometry import Points
from netbo.posterior.base import EvidenceDerivatives, EvidenceTerms, Gradient, Posterior
from netbo.posterior.joint import Joint, PlainJoint
from netbo.posterior.observations import Observations
from netbo.priors import DensePrior, KernelPrior, Prior, gaussian_samples

SAFETY = 1.5  # between the error that a rational fit reports and that of a kernel on a network
WORTH_A_WORD = 0.01  # of a log evidence: models are compared by differences of 1


class Targets:
    """Points asked about and what they have to do with the observations."""

    def __init__(self, x: Points, covariance: FloatArray, cholesky: FloatArray) -> None:
        self.x, self._cholesky = x, cholesky
        self.covariance = covariance  # (len(x), n) k(x)

    @cached_property
    def whitened(self) -> FloatArray:
        """L^-1 k(x), (n, len(x))."""
        whitened: FloatArray = solve_triangular(
            self._cholesky, self.covariance.T, lower=True, check_finite=False
        )
        return whitened


class DensePosterior(Posterior):
    """Field given observations, from the Cholesky factor of T = K_t + Lambda.

    What was computed of the last `Points` object asked about is kept for the next question at it.
    """

    prior: DensePrior
    _last: Targets | None = None

    @cached_property
    def kernel(self) -> FloatArray:
        """K_t, the prior covariance of the observed places, (n, n)."""
        return self.prior.covariance(self.observations.points, self.observations.points)

    @cached_property
    def cholesky(self) -> FloatArray:
        """Lower factor of T, (n, n); what lies above its diagonal has no meaning."""
        T = self.kernel.copy()
        T.flat[:: len(T) + 1] += self.noise
        return _factored(T, self)

    def _solve(self, values: FloatArray) -> FloatArray:
        """T^-1 values."""
        if not len(values):
            return values
        solution: FloatArray = dpotrs(self.cholesky, values, lower=1)[0]
        return solution

    @cached_property
    def _centred(self) -> tuple[float, FloatArray]:
        """The mean and T^-1 (y - m)."""
        y = self.observations.values
        if not self.mean_is_open:
            mean = float(self.mean_setting)  # type: ignore[arg-type]
            return mean, self._solve(y - mean)
        centre = float(np.average(y, weights=1 / self.noise))
        dual = self._solve(y - centre)
        shift = float(dual.sum() / self.dual_of_ones.sum())
        return centre + shift, dual - shift * self.dual_of_ones

    @cached_property
    def dual_of_ones(self) -> FloatArray:
        """T^-1 1, (n,)."""
        return self._solve(np.ones(len(self.observations)))

    @property
    def dual(self) -> FloatArray:
        """T^-1 (y - m), (n,)."""
        return self._centred[1]

    def inverse_diagonal(self) -> FloatArray:
        """Sums of squares of the columns of L^-1."""
        inverse = solve_triangular(self.cholesky, np.eye(len(self.observations)), lower=True)
        diagonal: FloatArray = np.einsum("ij,ij->j", inverse, inverse)
        return diagonal

    @property
    def estimated_mean(self) -> float:
        """The constant mean m: the given number, or its estimate."""
        return self._centred[0]

    @property
    def mean_precision(self) -> float:
        """1' T^-1 1."""
        return float(self.dual_of_ones.sum())

    def targets(self, x: Points) -> Targets:
        """Covariances of points with the observations; the last ones are kept."""
        last = self._last
        if last is None or last.x is not x:
            last = Targets(x, self.prior.covariance(x, self.observations.points), self.cholesky)
            self._last = last
        return last

    def field_mean(self, x: Points) -> FloatArray:
        """k(x)' T^-1 (y - m), (n,)."""
        return self.targets(x).covariance @ self.dual

    def field_of_ones(self, x: Points) -> FloatArray:
        """k(x)' T^-1 1, (n,)."""
        return self.targets(x).covariance @ self.dual_of_ones

    def field_variance(self, x: Points) -> FloatArray:
        """k(x, x) - k(x)' T^-1 k(x), (n,)."""
        reduction: FloatArray = np.einsum("ij,ij->j", *(self.targets(x).whitened,) * 2)
        return self.prior.variance(x) - reduction

    def field_covariance(self, x: Points, y: Points) -> FloatArray:
        """k(x, y) - k(x)' T^-1 k(y), (n, m)."""
        return self.prior.covariance(x, y) - self.targets(x).whitened.T @ self.targets(y).whitened

    def field_deviations(self, x: Points, rng: np.random.Generator, n: int) -> FloatArray:
        """n draws of the field minus its mean, (n, len(x))."""
        if isinstance(self.prior, KernelPrior) or n > len(x):
            return gaussian_samples(self.field_covariance(x, x), rng, n)
        return self._corrected_paths(x, rng, n)

    def _corrected_paths(self, x: Points, rng: np.random.Generator, n: int) -> FloatArray:
        """Prior paths minus what the data say of them (Matheron's rule): no covariance among the points.

        For priors with paths of their own: f(x) - k(x)' T^-1 (f(x_1..t) + noise) deviates as the posterior.
        """
        t = len(self.observations)
        paths = self.prior.sample(Points.concatenate([self.observations.points, x]), rng, n)
        measured = paths[:, :t] + np.sqrt(self.noise) * rng.standard_normal((n, t))
        explained: FloatArray = (self.targets(x).covariance @ self._solve(measured.T)).T
        return paths[:, t:] - explained

    def joint_with(self, places: Points) -> Joint:
        """Moments of candidates jointly with some places, at best observed ones."""
        known = self.observations.points
        same = (places.edge[:, None] == known.edge) & (places.z[:, None] == known.z)
        if not (len(places) and same.any(axis=1).all()):
            return PlainJoint(self, places)
        return DenseJoint(self, places, np.argmax(same, axis=1))

    def information_gain(self) -> float:
        """Mutual information of data and field (rmk:maximin design)."""
        return (self._log_determinant - float(np.log(self.noise).sum())) / 2

    @property
    def _log_determinant(self) -> float:
        return 2 * float(np.log(np.diag(self.cholesky)).sum())

    def evidence_terms(self) -> EvidenceTerms:
        """log|T| and (y - m)' T^-1 (y - m)."""
        mean, dual = self._centred
        quadratic = float((self.observations.values - mean) @ dual)
        return EvidenceTerms(len(self.observations), self._log_determinant, quadratic)

    def log_evidence(self) -> float:
        """Log density of the data; an AccuracyWarning where the kernel is not known well enough for it."""
        error = self.log_evidence_error()
        if error > WORTH_A_WORD:
            warnings.warn(
                f"beside a noise of {self.noise.min():.3g} the kernel should be exact, got one known to "
                f"{_kernel_error(self.prior):.1g} of its variance, and the log evidence may be off by "
                f"{error:.2g}; raise the noise, or lower tolerance= of whittle_matern",
                AccuracyWarning,
                stacklevel=2,
            )
        return super().log_evidence()

    def log_evidence_error(self) -> float:
        """By how much the log evidence may be off because the kernel is an approximation.

        For |dK_ij| <= e s_i s_j, s^2 the variances: (g + e (s' |a|)^2) / (2 (1 - g)), g = e s' |T^-1| s, with
        the dual a; infinite where g >= 1.
        """
        error = SAFETY * _kernel_error(self.prior)
        if not error or not len(self.observations):
            return 0.0
        s = np.sqrt(np.maximum(np.diag(self.kernel), 0.0))
        inverse = np.abs(self._solve(np.eye(len(s))))
        g = error * float(s @ inverse @ s)
        if g >= 1:
            return math.inf
        return (g + error * float(np.abs(self.dual) @ s) ** 2) / (2 * (1 - g))

    def evidence_derivatives(self) -> EvidenceDerivatives:
        """Derivatives of both terms: tr(T^-1 dT) and -(T^-1 y)' dT (T^-1 y)."""
        inverse, dual = self._solve(np.eye(len(self.observations))), self._centred[1]
        points = self.observations.points
        noise = np.where(self.observations.has_own_noise, 0.0, self.noise)
        changes = (self.prior.range_derivative(points, points), 2 * self.kernel, np.diag(noise))
        return EvidenceDerivatives(
            log_determinant=Gradient(*(float(np.sum(inverse * change)) for change in changes)),
            quadratic=Gradient(*(-float(dual @ change @ dual) for change in changes)),
        )

    def with_parameters(self, prior: Prior, regularization: float | None) -> Self:
        """The posterior of the same data under other parameters."""
        if type(prior) is not type(self.prior):
            raise ParameterError(
                "with_parameters takes the same prior rescaled, got another; use condition()"
            )
        return type(self)(prior, self.observations, regularization=regularization, mean=self.mean_setting)

    def extend(self, new: Observations) -> Self:
        """The posterior after more observations; the Cholesky factor grows by rows, the old ones stay."""
        other = self._with_more(new)
        old, n = len(self.observations), len(self.observations) + len(new)
        if not old:
            return other
        kernel = np.empty((n, n))
        kernel[:old, :old] = self.kernel
        kernel[old:, :old] = self.prior.covariance(new.points, self.observations.points)
        kernel[:old, old:] = kernel[old:, :old].T
        kernel[old:, old:] = self.prior.covariance(new.points, new.points)
        rows = solve_triangular(self.cholesky, kernel[:old, old:], lower=True).T
        factor = np.zeros((n, n))
        factor[:old, :old], factor[old:, :old] = self.cholesky, rows
        corner = kernel[old:, old:] + np.diag(other.noise[old:]) - rows @ rows.T
        factor[old:, old:] = _factored(corner, other)
        other.kernel, other.cholesky = kernel, factor
        return other


# Moments of candidates and their covariances with some observed places.


@dataclass(frozen=True, eq=False)
class DenseJoint:
    """Some observed places."""

    posterior: DensePosterior
    places: Points
    rows: IntArray  # an observation at each place

    @cached_property
    def whitened(self) -> FloatArray:
        """L^-1 k(places), (n, k)."""
        posterior = self.posterior
        whitened: FloatArray = solve_triangular(
            posterior.cholesky, posterior.kernel[:, self.rows], lower=True, check_finite=False
        )
        return whitened

    @cached_property
    def open_means(self) -> FloatArray:
        """What the data leave open of an estimated mean at the places, (k,)."""
        posterior = self.posterior
        return np.asarray(1 - posterior.kernel[self.rows] @ posterior.dual_of_ones)

    @cached_property
    def covariance(self) -> FloatArray:
        """Of the values at the places, (k, k)."""
        return self.at(self.places).covariance(len(self.places))

    def at(self, x: Points) -> "DenseCandidates":
        """The candidates."""
        return DenseCandidates(self, self.posterior.targets(x))


@dataclass(frozen=True, eq=False)
class DenseCandidates:
    """Candidates and their covariances with all observations."""

    joint: DenseJoint
    targets: Targets

    @cached_property
    def _open_means(self) -> FloatArray:
        return np.asarray(1 - self.targets.covariance @ self.joint.posterior.dual_of_ones)

    @cached_property
    def mean(self) -> FloatArray:
        """Of the candidates, (n,)."""
        posterior = self.joint.posterior
        return np.asarray(posterior.estimated_mean + self.targets.covariance @ posterior.dual)

    @cached_property
    def variance(self) -> FloatArray:
        """Of the candidates, (n,)."""
        posterior, whitened = self.joint.posterior, self.targets.whitened
        variance = posterior.prior.variance(self.targets.x) - np.einsum("ij,ij->j", whitened, whitened)
        if posterior.mean_is_open:
            variance = variance + self._open_means**2 / posterior.mean_precision
        return np.asarray(np.maximum(variance, 0.0))

    def covariance(self, n: int, part: IntArray | None = None) -> FloatArray:
        """Of some candidates, or of all, with the first n places, (len(part), n)."""
        joint, targets = self.joint, self.targets
        known, whitened = targets.covariance, targets.whitened
        if part is not None:
            known, whitened = known[part], whitened[:, part]
        covariance: FloatArray = known[:, joint.rows[:n]] - whitened.T @ joint.whitened[:, :n]
        if joint.posterior.mean_is_open:
            open_means = self._open_means if part is None else self._open_means[part]
            covariance += np.outer(open_means, joint.open_means[:n] / joint.posterior.mean_precision)
        return covariance


def _kernel_error(prior: Prior) -> float:
    """Of a covariance, relative to the variance."""
    return float(getattr(prior, "error", 0.0))


def _factored(matrix: FloatArray, posterior: DensePosterior) -> FloatArray:
    """Lower factor of the T of a posterior, or of what earlier observations leave of it."""
    if not len(matrix):
        return matrix
    factor, stopped = dpotrf(matrix, lower=1, clean=0)
    if stopped or not math.isfinite(factor[-1, -1]):  # what is no number goes on to the last pivot
        raise NumericalError(
            f"K + Lambda is not positive definite (n={len(posterior.observations)}, smallest noise "
            f"{posterior.noise.min():.3g}, sigma^2 {posterior.prior.sigma**2:.3g}); raise the noise variance"
        )
    return np.asarray(factor)
