"""The lambda of the posterior, which need not be the noise variance of the likelihood."""

from dataclasses import dataclass
from typing import Protocol


class RegularizationRule(Protocol):
    """Lambda as a function of noise and time."""

    def __call__(self, noise: float | None, n: int) -> float | None:
        """Lambda given the noise variance (given or fitted) and the number of observations."""


@dataclass(frozen=True, slots=True)
class NoiseVariance:
    """lambda = sigma_eps^2: the posterior is the Bayesian one."""

    def __call__(self, noise: float | None, n: int) -> float | None:
        """The noise variance itself."""
        return noise


@dataclass(frozen=True, slots=True)
class GrowingConfidence:
    """lambda = 1 + 2 / (N_init + t): where the printed widths come from."""

    def __call__(self, noise: float | None, n: int) -> float | None:
        """1 + 2 / (n + 1); n = N_init + t - 1 observations exist when the t-th query is chosen."""
        return 1 + 2 / (n + 1)


@dataclass(frozen=True, slots=True)
class FixedRegularization:
    """lambda = a number."""

    value: float

    def __call__(self, noise: float | None, n: int) -> float | None:
        """The number."""
        return self.value
