"""IGP-UCB and the confidence widths: beta_t of IGP-UCB and v_t of GP-TS."""

import math
from abc import ABC, abstractmethod
from dataclasses import dataclass, field
from typing import ClassVar, Protocol, runtime_checkable

import numpy as np

from netbo.arrays import FloatArray
from netbo.checks import explained_class, require_nonnegative
from netbo.errors import ParameterError
from netbo.geometry import Points
from netbo.posterior import Surrogate


@runtime_checkable
class Width(Protocol):
    """Half widths of confidence bands, in posterior standard deviations."""

    def beta(self, surrogate: Surrogate) -> float:
        """beta_t: mean +- beta_t std holds the objective everywhere (eq:parametersbetav)."""

    def sampling(self, surrogate: Surrogate) -> float:
        """v_t: what the deviations of a Thompson sample are multiplied by (eq:parametersbetav)."""


@explained_class
@dataclass(frozen=True, slots=True)
class FixedWidth:
    """The same width at every step; 1 makes a Thompson sample a draw of the posterior itself."""

    value: float

    def __post_init__(self) -> None:
        require_nonnegative("a width", self.value, "2 is about 95 %")

    def beta(self, surrogate: Surrogate) -> float:
        """The value."""
        return float(self.value)

    def sampling(self, surrogate: Surrogate) -> float:
        """The value."""
        return float(self.value)


@dataclass(frozen=True, slots=True)
class _TheoreticalWidth(ABC):
    """What the two formulas for the width share: their settings, and log(1/delta) against log(2/delta)."""

    rkhs_bound: float = 1.0  # B, norm of the objective under the prior's kernel, so in units of its amplitude
    noise_bound: float | None = None  # R, sub-Gaussian; None: the noise is as large as the model says
    failure_probability: float = 0.05  # delta, that the band fails anywhere at any time
    misspecification: float = 0.0  # b, distance of the objective from the functions with a finite norm

    def __post_init__(self) -> None:
        require_nonnegative("rkhs_bound", self.rkhs_bound, "1 suits a well scaled prior")
        require_nonnegative("misspecification", self.misspecification, "0 trusts the prior")
        if self.noise_bound is not None:
            require_nonnegative("noise_bound", self.noise_bound, "pass a standard deviation, or None")
        require_nonnegative("failure_probability", self.failure_probability, "try 0.05")
        if not 0 < self.failure_probability < 1:
            raise ParameterError(
                f"failure_probability must lie between 0 and 1, got {self.failure_probability}; try 0.05"
            )

    def beta(self, surrogate: Surrogate) -> float:
        """beta_t, with log(1/delta)."""
        return self._width(surrogate, -math.log(self.failure_probability))

    def sampling(self, surrogate: Surrogate) -> float:
        """v_t, with log(2/delta)."""
        return self._width(surrogate, math.log(2) - math.log(self.failure_probability))

    @abstractmethod
    def _width(self, surrogate: Surrogate, log_odds: float) -> float:
        """The width, given log(1/delta) or log(2/delta)."""


@explained_class
@dataclass(frozen=True, slots=True)
class PaperWidth(_TheoreticalWidth):
    """The width as printed (alg:GP-bandits-FEM; with b = 0 eq:parametersbetav).

    B + R sqrt(2 (gain + (n + 1)(lambda - 1)/2 + log(1/delta))) + b sqrt(n) / sqrt(1 + 2/(n + 1)), where
    n = N_init + t - 1 and gain is that of the realized history (rmk:maximin design).

    The middle term is meant for lambda = 1 + 2/(n + 1), where it is 1. With lambda = R^2 the band is too
    narrow, and the root may be of a negative number, which is taken as 0: see ValidWidth. A noise_bound of
    None is R = sqrt(lambda). Differing noise variances count by their mean; before the first, lambda = 1.
    """

    def _width(self, surrogate: Surrogate, log_odds: float) -> float:
        n = len(surrogate.observations)
        regularization = float(surrogate.noise.mean()) if n else 1.0
        noise_bound = math.sqrt(regularization) if self.noise_bound is None else self.noise_bound
        exponent = surrogate.information_gain() + (n + 1) * (regularization - 1) / 2 + log_odds
        bias = self.misspecification * math.sqrt(n) / math.sqrt(1 + 2 / (n + 1))
        return float(self.rkhs_bound + noise_bound * math.sqrt(2 * max(exponent, 0.0)) + bias)


@explained_class
@dataclass(frozen=True, slots=True)
class ValidWidth(_TheoreticalWidth):
    """The width that holds for every lambda > 0: with probability 1 - delta at all points and all times.

    B + (R / sqrt(lambda)) sqrt(2 (gain + log(1/delta))) + b sqrt(n) / sqrt(lambda), n = N_init + t - 1.

    With differing variances the factors are max_i R / sqrt(lambda_i) and b sqrt(sum_i 1 / lambda_i), as one
    sees by dividing each observation by sqrt(lambda_i). A noise_bound of None is R / sqrt(lambda) = 1: every
    measurement is sub-Gaussian with its own variance. Before the first measurement that factor is 1, too.

    The band is for an objective of norm B around a known mean; an estimated mean is outside the theorem. An
    objective that only lies within b of a function of norm B may leave the band by b.
    """

    def _width(self, surrogate: Surrogate, log_odds: float) -> float:
        noise = surrogate.noise
        excess = 1.0
        if self.noise_bound is not None and len(noise):
            excess = self.noise_bound / math.sqrt(noise.min())
        bias = self.misspecification * math.sqrt((1 / noise).sum())
        exponent = max(surrogate.information_gain(), 0.0) + log_odds
        return float(self.rkhs_bound + excess * math.sqrt(2 * exponent) + bias)


# IGP-UCB: the highest upper end of the confidence band.


@explained_class
@dataclass(frozen=True, slots=True)
class IgpUcb:
    """Upper confidence bound mu_{t-1}(x) + beta_t sigma_{t-1}(x) (alg:GP-bandits-FEM)."""

    hallucinates: ClassVar[bool] = True

    width: Width = field(default_factory=ValidWidth)

    def scores(self, surrogate: Surrogate, x: Points, rng: np.random.Generator) -> FloatArray:
        """Upper bounds at the candidates, (n,); nothing is drawn."""
        return surrogate.mean(x) + self.width.beta(surrogate) * surrogate.std(x)


UpperConfidenceBound = IgpUcb  # the field's name
