"""What every posterior answers, the constant mean all of them share, and leave-one-out."""

import warnings
from abc import ABC, abstractmethod
from dataclasses import dataclass
from enum import Enum
from typing import NamedTuple, Protocol, Self, runtime_checkable

import numpy as np

from netbo.arrays import FloatArray
from netbo.checks import explained, require_paths
from netbo.errors import AccuracyWarning
from netbo.geometry import Points, thumbnail
from netbo.notebook import card
from netbo.posterior.observations import Observations
from netbo.priors import Prior
from netbo.wording import counted

# What the other measurements say of each one, without conditioning again for each.

SAFE_GROWTH = 1e8  # beyond it a growth leaves fewer than three digits
LARGEST_GROWTH = 1e10  # of a variance by leaving the mean open; beyond it the others say nothing of the mean


@dataclass(frozen=True, slots=True)
class LeaveOneOut:
    """Mean and variance of every measurement, its noise included, given all others.

    Where the others do not determine an estimated mean (there are none, or all but infinitely noisy ones)
    the variance is inf and the mean NaN.
    """

    mean: FloatArray  # (n,)
    variance: FloatArray  # (n,)


def leave_one_out(
    values: FloatArray,
    dual: FloatArray,
    inverse_diagonal: FloatArray,
    dual_of_ones: FloatArray | None = None,
) -> LeaveOneOut:
    """mean_i = y_i - [P y]_i / P_ii and variance_i = 1 / P_ii, from [P y]_i and [T^-1]_ii.

    P = T^-1 for a given mean; for an estimated one P = T^-1 - T^-1 1 1' T^-1 / (1' T^-1 1).
    """
    precision = inverse_diagonal
    is_known = np.ones(len(values), dtype=bool)
    if dual_of_ones is not None:
        precision = inverse_diagonal - dual_of_ones**2 / dual_of_ones.sum()
        is_known = (precision * LARGEST_GROWTH > inverse_diagonal) & (len(values) > 1)
        lost = int(np.count_nonzero(is_known & (precision * SAFE_GROWTH < inverse_diagonal)))
        if lost:
            warnings.warn(
                f"the others should say something of the mean, got {counted(lost, 'value')} of which all but "
                f"one part in {SAFE_GROWTH:g} is their own: what is predicted there without them keeps few "
                "digits; let noise variances differ by less, or give the mean",
                AccuracyWarning,
                stacklevel=3,
            )
    variance = np.full(len(values), np.inf)
    np.divide(1.0, precision, out=variance, where=is_known)
    mean = np.full(len(values), np.nan)
    mean[is_known] = (values - dual / np.where(is_known, precision, 1.0))[is_known]
    return LeaveOneOut(mean, variance)


LOG_2_PI = float(np.log(2 * np.pi))


class MeanSetting(Enum):
    """How the constant mean of the field is found, when it is not a number."""

    ESTIMATED = "estimated"  # by generalized least squares; its uncertainty is part of the posterior


ESTIMATED = MeanSetting.ESTIMATED  # given as mean= to condition or fit_parameters
Mean = float | MeanSetting


class Gradient(NamedTuple):
    """Derivatives in the logarithms of the parameters; `noise` is the common variance."""

    range: float
    sigma: float
    noise: float


@dataclass(frozen=True, slots=True)
class EvidenceTerms:
    """log p(y) = -(log_determinant + quadratic + n log 2 pi) / 2, with T = K_t + Lambda."""

    n: int
    log_determinant: float  # log|T|
    quadratic: float  # (y - m)' T^-1 (y - m)

    @property
    def log_evidence(self) -> float:
        """Logarithm of the density of the data."""
        return -(self.log_determinant + self.quadratic + self.n * LOG_2_PI) / 2


@dataclass(frozen=True, slots=True)
class EvidenceDerivatives:
    """Derivatives of the two terms of the evidence."""

    log_determinant: Gradient
    quadratic: Gradient

    @property
    def log_evidence(self) -> Gradient:
        """Gradient of the log evidence; an estimated mean is optimal, so it adds nothing."""
        return Gradient(*(-(d + q) / 2 for d, q in zip(self.log_determinant, self.quadratic, strict=True)))


class Evidence(Protocol):
    """Log evidence at some parameters, in its two terms; a posterior has it too."""

    def evidence_terms(self) -> EvidenceTerms:
        """The two terms of the log evidence."""

    def evidence_derivatives(self) -> EvidenceDerivatives:
        """Their derivatives in log range, log sigma and log noise (of observations without their own)."""


class Posterior(ABC):
    """The field given observations: a Gaussian field again. `condition` makes one.

    Subclasses answer for the field without its mean; the mean is added here. With an estimated mean,
    mu = m + k(x)' T^-1 (y - m) and the variance grows by (1 - k(x)' T^-1 1)^2 / (1' T^-1 1).

    Attributes
    ----------
    prior : Prior
        The field before the data.
    observations : Observations
        The data.
    regularization : float or None
        Noise variance of observations without their own.
    noise : ndarray
        Noise variance of every observation, (n,).
    mean_setting : float or ESTIMATED
        The constant mean that was asked for; `estimated_mean` is its number.

    Examples
    --------
    >>> import netbo
    >>> graph = netbo.interval(3.0)
    >>> prior = netbo.whittle_matern(graph, netbo.Matern(alpha=1.0, range=1.0))
    >>> data = netbo.Observations(graph.points(0, [0.5, 2.0]), [1.0, -1.0])
    >>> posterior = netbo.condition(prior, data, noise=0.01)
    >>> round(posterior.log_evidence(), 3), round(posterior.information_gain(), 3)
    (-2.874, 4.683)
    >>> x = graph.points(0, [0.5, 1.0])
    >>> posterior.sample(x, np.random.default_rng(0), n=3).shape
    (3, 2)
    >>> posterior.extend(netbo.Observations(x[1:], [0.0])).std(x).round(3).tolist()
    [0.099, 0.099]
    """

    def __init__(
        self, prior: Prior, observations: Observations, *, regularization: float | None, mean: Mean
    ) -> None:
        self.prior, self.observations, self.regularization = prior, observations, regularization
        self.noise = observations.noise_variances(regularization)  # (n,) variance of every observation
        self.mean_setting = mean

    def __repr__(self) -> str:
        return describe(self)

    def _repr_html_(self) -> str:
        return describe_in_html(self)

    def _with_more(self, new: Observations) -> Self:
        """The posterior of all observations, from scratch."""
        data = self.observations.joined(new)
        return type(self)(self.prior, data, regularization=self.regularization, mean=self.mean_setting)

    @abstractmethod
    def field_mean(self, x: Points) -> FloatArray:
        """k(x)' T^-1 (y - m), (n,)."""

    @abstractmethod
    def field_of_ones(self, x: Points) -> FloatArray:
        """k(x)' T^-1 1, (n,)."""

    @abstractmethod
    def field_variance(self, x: Points) -> FloatArray:
        """k(x, x) - k(x)' T^-1 k(x), (n,)."""

    @abstractmethod
    def field_covariance(self, x: Points, y: Points) -> FloatArray:
        """k(x, y) - k(x)' T^-1 k(y), (n, m)."""

    @abstractmethod
    def field_deviations(self, x: Points, rng: np.random.Generator, n: int) -> FloatArray:
        """n draws of the field minus its mean, (n, len(x))."""

    @property
    @abstractmethod
    def estimated_mean(self) -> float:
        """The constant mean m: the given number, or its estimate."""

    @property
    @abstractmethod
    def mean_precision(self) -> float:
        """1' T^-1 1, the reciprocal variance of an estimated mean."""

    @property
    @abstractmethod
    def dual(self) -> FloatArray:
        """T^-1 (y - m), (n,)."""

    @property
    @abstractmethod
    def dual_of_ones(self) -> FloatArray:
        """T^-1 1, (n,), where the mean is estimated."""

    @abstractmethod
    def inverse_diagonal(self) -> FloatArray:
        """[T^-1]_ii, (n,)."""

    @abstractmethod
    def information_gain(self) -> float:
        """Mutual information of data and field, log|I + Lambda^-1 K_t| / 2 (rmk:maximin design).

        The mean is held fixed in it: a flat prior on the mean would make it infinite.
        """

    @abstractmethod
    def evidence_terms(self) -> EvidenceTerms:
        """The two terms of the log evidence."""

    @abstractmethod
    def evidence_derivatives(self) -> EvidenceDerivatives:
        """Their derivatives in log range, log sigma and log noise (of observations without their own)."""

    @abstractmethod
    def with_parameters(self, prior: Prior, regularization: float | None) -> Self:
        """The posterior of the same data and mean setting under a rescaled prior and another noise.

        Parameters
        ----------
        prior : Prior
            `self.prior.rescaled(...)`: another range, another sigma, or both.
        regularization : float or None
            Noise variance of observations without their own.

        Raises
        ------
        ParameterError
            If the prior is another one.
        """

    def evidence_at(self, prior: Prior, regularization: float | None) -> Evidence:
        """What `with_parameters` would say of the evidence: at best without a posterior."""
        return self.with_parameters(prior, regularization)

    @abstractmethod
    def extend(self, new: Observations) -> Self:
        """The posterior after more observations, with the parameters as they are; this one stays."""

    @property
    def mean_is_open(self) -> bool:
        """Whether the constant mean is estimated, its uncertainty a part of the posterior."""
        return isinstance(self.mean_setting, MeanSetting)

    @explained
    def mean(self, x: Points) -> FloatArray:
        """Posterior mean, (n,) (eq:postmean, eq:fem postmean)."""
        return self.estimated_mean + self.field_mean(x)

    @explained
    def variance(self, x: Points) -> FloatArray:
        """Posterior variance, (n,) (eq:poststd; eq:fem poststd omits lambda, eq:fem postcov has it)."""
        variance = self.field_variance(x)
        if self.mean_is_open:
            variance = variance + (1 - self.field_of_ones(x)) ** 2 / self.mean_precision
        return np.maximum(variance, 0.0)

    @explained
    def std(self, x: Points) -> FloatArray:
        """Posterior standard deviation of the field (not of a new measurement), (n,)."""
        std: FloatArray = np.sqrt(self.variance(x))
        return std

    @explained
    def covariance(self, x: Points, y: Points) -> FloatArray:
        """Posterior covariance, (n, m) (eq:postcov, eq:fem postcov)."""
        covariance = self.field_covariance(x, y)
        if self.mean_is_open:
            open_x, open_y = 1 - self.field_of_ones(x), 1 - self.field_of_ones(y)
            covariance = covariance + np.outer(open_x, open_y) / self.mean_precision
        return covariance

    @explained
    def sample(
        self, x: Points, rng: np.random.Generator, *, scale: float = 1.0, n: int | None = None
    ) -> FloatArray:
        """A sample path of the posterior, or several.

        Parameters
        ----------
        x : Points
            Where to sample.
        rng : numpy.random.Generator
            The same state gives the same paths.
        scale : float, default 1.0
            By which deviations from the posterior mean are multiplied.
        n : int, optional
            Number of paths.

        Returns
        -------
        ndarray
            One path, (len(x),), or n of them, (n, len(x)).
        """
        deviations, _ = self.draw(x, rng, 1 if n is None else require_paths(n))
        paths: FloatArray = self.mean(x) + scale * deviations
        return paths[0] if n is None else paths

    def draw(self, x: Points, rng: np.random.Generator, n: int) -> tuple[FloatArray, FloatArray]:
        """n sample paths minus the posterior mean, (n, len(x)), and the constant mean of each, (n,)."""
        paths = self.field_deviations(x, rng, n)
        if not self.mean_is_open:
            return paths, np.full(n, self.estimated_mean)
        shift = rng.standard_normal(n) / np.sqrt(self.mean_precision)
        return paths + np.outer(shift, 1 - self.field_of_ones(x)), self.estimated_mean + shift

    def leave_one_out(self) -> LeaveOneOut:
        """Mean and variance of every measurement given all others, with the parameters as they are."""
        ones = self.dual_of_ones if self.mean_is_open else None
        return leave_one_out(self.observations.values, self.dual, self.inverse_diagonal(), ones)

    def log_evidence(self) -> float:
        """Log density of the data, -n/2 log 2 pi included; at the estimated mean, if it is estimated."""
        return self.evidence_terms().log_evidence

    def log_evidence_error(self) -> float:
        """By how much the log evidence may be off because the kernel is an approximation; 0 where it is not.

        Only kernels of fractional alpha are: to `prior.error` of the variance, which little noise magnifies.
        """
        return 0.0

    def log_evidence_gradient(self) -> Gradient:
        """Derivatives of the log evidence in log range, log sigma and log noise."""
        return self.evidence_derivatives().log_evidence


# A posterior in a few words: what it was conditioned on and its parameters.


class Described(Protocol):
    """What there is to say of one posterior, or of several."""

    @property
    def prior(self) -> Prior: ...  # noqa: D102
    @property
    def observations(self) -> Observations: ...  # noqa: D102
    @property
    def noise(self) -> FloatArray: ...  # noqa: D102
    def mean(self, x: Points) -> FloatArray: ...  # noqa: D102


def describe(posterior: Described) -> str:
    """One line."""
    facts = ", ".join(f"{name} {text}" for name, text in _facts(posterior))
    return f"{type(posterior).__name__}({facts})"


def describe_in_html(posterior: Described) -> str:
    """Facts and a picture of the mean with the observations."""
    graph, data = posterior.prior.graph, posterior.observations
    facts = [*_facts(posterior), ("network", repr(graph))]
    marks = {"observed": graph.bind(data.points)} if len(data.points) else {}
    seen = thumbnail(graph, posterior.mean, marks=marks, alt="posterior mean on the network")
    return card(type(posterior).__name__, facts, picture=seen)


def _facts(posterior: Described) -> list[tuple[str, str]]:
    prior, noise = posterior.prior, posterior.noise
    unit = f" {prior.graph.unit}" if prior.graph.unit else ""
    spread = np.unique(np.sqrt([noise.min(), noise.max()]) if len(noise) else [])
    return [
        ("observations", str(len(noise))),
        ("range", f"{prior.range:.4g}{unit}"),
        ("sd", f"{prior.sigma:.4g}"),
        ("noise sd", " to ".join(f"{value:.4g}" for value in spread) or "none"),
    ]


# What acquisitions and answers ask of a model of the objective, whether one posterior or several.


@runtime_checkable
class Surrogate(Protocol):
    """The objective given observations: every `Posterior` is one, and so is a mixture of them."""

    @property
    def observations(self) -> Observations:
        """What it was conditioned on."""

    @property
    def noise(self) -> FloatArray:
        """Noise variance of every observation, (n,)."""

    @explained
    def mean(self, x: Points) -> FloatArray:
        """Mean of the objective, (n,)."""

    @explained
    def variance(self, x: Points) -> FloatArray:
        """Variance of the objective, (n,)."""

    @explained
    def std(self, x: Points) -> FloatArray:
        """Standard deviation of the objective, (n,)."""

    @explained
    def covariance(self, x: Points, y: Points) -> FloatArray:
        """Covariance of the objective, (n, m)."""

    @explained
    def sample(
        self, x: Points, rng: np.random.Generator, *, scale: float = 1.0, n: int | None = None
    ) -> FloatArray:
        """A sample path at x, (len(x),); n paths, (n, len(x)); deviations from the mean times `scale`."""

    def information_gain(self) -> float:
        """Mutual information of data and objective (rmk:maximin design)."""

    def extend(self, new: Observations) -> Self:
        """The same model after more observations, with its parameters as they are."""

    def leave_one_out(self) -> LeaveOneOut:
        """Each measurement as predicted from all others."""
