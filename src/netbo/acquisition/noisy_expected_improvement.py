"""Expected improvement over an incumbent whose value is not known exactly."""

from dataclasses import dataclass
from functools import cache
from typing import ClassVar

import numpy as np
from scipy.special import ndtri

from netbo.acquisition.incumbents import likely_incumbents
from netbo.acquisition.log_improvement import log_expected_improvement
from netbo.arrays import FloatArray, read_only
from netbo.checks import require_count
from netbo.errors import ParameterError
from netbo.geometry import Points
from netbo.posterior import Surrogate

SOBOL_SEED = 20240229  # any constant: the score is a function of model and data
SOBOL_BITS = 30
EXPLAINED = 1e-10  # of a variance: what is left below it is rounding
ENTRIES = 1_000_000  # draws times candidates held at once


@dataclass(frozen=True, slots=True)
class NoisyExpectedImprovement:
    """log E max(f(x) - max_j f(x_j), 0) over the joint posterior of f(x) and f at the observed places x_j.

    Given values s at those places, f(x) is Gaussian with mean mu(x) + c(x)' A^+ (s - mu) and variance
    sigma^2(x) - c(x)' A^+ c(x), A and c the posterior covariances: the improvement is in closed form, and its
    mean over s is taken with quasi-random draws, always the same. Only the observed places with the largest
    mean + 2 std take part. A query at one of them improves nothing, so no incumbent is measured again; where
    all candidates are such places, all scores are -inf or negligible. Without observations it is log std.
    """

    hallucinates: ClassVar[bool] = True

    n_draws: int = 32
    n_incumbents: int = 16

    def __post_init__(self) -> None:
        require_count("n_incumbents", self.n_incumbents, "16 is the usual one")
        require_count("n_draws", self.n_draws, "32 is the usual one")
        if self.n_draws & (self.n_draws - 1):
            raise ParameterError(
                f"n_draws must be a power of two, where Sobol points are balanced, got {self.n_draws}; try 32"
            )

    def scores(self, surrogate: Surrogate, x: Points, rng: np.random.Generator) -> FloatArray:
        """Log expected improvements at the candidates, (n,); nothing is drawn from `rng`."""
        mean, variance = surrogate.mean(x), surrogate.variance(x)
        if not len(surrogate.observations):
            return log_expected_improvement(np.sqrt(variance), np.zeros(len(x)), 0.0)  # log std
        places = likely_incumbents(surrogate, self.n_incumbents)
        scale = max(variance.max(initial=0.0), surrogate.variance(places).max())
        root, inverse_root = _square_roots(surrogate.covariance(places, places), EXPLAINED * scale)
        draws = _normal_draws(self.n_draws, self.n_incumbents)[:, : len(places)]
        bests = (surrogate.mean(places) + draws @ root).max(axis=1, keepdims=True)  # (n_draws, 1)
        weights = surrogate.covariance(x, places) @ inverse_root  # (n, m)
        left = variance - np.einsum("ij,ij->i", weights, weights)
        std = np.sqrt(np.where(left > EXPLAINED * variance, left, 0.0))
        scores = np.empty(len(x))
        step = max(1, ENTRIES // self.n_draws)
        for first in range(0, len(x), step):
            part = slice(first, first + step)
            given = log_expected_improvement(mean[part] + draws @ weights[part].T, std[part], bests)
            scores[part] = np.logaddexp.reduce(given, axis=0) - np.log(self.n_draws)
        return scores


def _square_roots(covariance: FloatArray, cut: float) -> tuple[FloatArray, FloatArray]:
    """A^(1/2) and its pseudo-inverse without eigenvalues up to `cut`.

    The symmetric root is one matrix, whatever signs and bases the eigenvectors come with.
    """
    values, vectors = np.linalg.eigh((covariance + covariance.T) / 2)
    roots, kept = np.sqrt(values[values > cut]), vectors[:, values > cut]
    return (kept * roots) @ kept.T, (kept / roots) @ kept.T


@cache
def _normal_draws(n: int, dimension: int) -> FloatArray:
    """Standard normal scrambled Sobol points, (n, dimension)."""
    from scipy.stats.qmc import Sobol  # noqa: PLC0415 - scipy.stats takes most of a second to import

    uniform = Sobol(dimension, scramble=True, bits=SOBOL_BITS, seed=SOBOL_SEED).random(n)
    half_cell = 0.5 / 2**SOBOL_BITS  # keeps 0 from becoming -inf
    draws: FloatArray = ndtri(uniform + half_cell)
    read_only(draws)
    return draws
