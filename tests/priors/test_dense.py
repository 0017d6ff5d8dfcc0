import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from netbo.priors import base as dense
from netbo.priors import gaussian_samples
from support.reference import covariance_errors, matern_correlation

DRAWS = 4000


def on_a_line(n: int, nu: float) -> np.ndarray:
    x = np.linspace(0, 1, n)
    return 3.0 * matern_correlation(np.sqrt(8 * nu) * np.abs(x[:, None] - x), nu)


def spread_of_one_dimension() -> np.ndarray:
    """Rank one and slightly indefinite: more than the jitter, as rounding leaves it."""
    direction = np.linspace(1.0, 2.0, 6)
    return np.outer(direction, direction) - 1e-10 * np.eye(6)


@pytest.mark.parametrize(
    "covariance",
    [on_a_line(8, 0.5), on_a_line(8, 2.5), spread_of_one_dimension(), np.diag([4.0, 0.0, 1e-9])],
    ids=["rough", "smooth", "indefinite to rounding", "with a known value"],
)
def test_draws_have_the_covariance(covariance):
    """4,000 draws, every second moment and every mean within five standard errors."""
    draws = gaussian_samples(covariance, np.random.default_rng(0), DRAWS)
    variance = np.diag(covariance)
    some = variance > 0

    assert draws.shape == (DRAWS, len(covariance))
    assert np.abs(covariance_errors(draws[:, some], covariance[np.ix_(some, some)])).max() < 5
    assert np.abs(draws.mean(axis=0)[some] / np.sqrt(variance[some] / DRAWS)).max() < 5
    assert np.abs(draws[:, ~some]).max(initial=0.0) < 6e-6 * np.sqrt(variance.max())


@pytest.mark.parametrize(
    ("covariance", "is_whole"), [(on_a_line(8, 1.5), True), (spread_of_one_dimension(), False)]
)
def test_eigenvectors_are_taken_only_where_cholesky_stops(monkeypatch, covariance, is_whole):
    asked = []
    monkeypatch.setattr(dense, "eigh", lambda matrix: asked.append(1) or np.linalg.eigh(matrix))
    gaussian_samples(covariance, np.random.default_rng(0), 2)

    assert (not asked) == is_whole


def test_the_covariance_given_is_left_as_it_is():
    covariance = on_a_line(5, 1.5)
    before = covariance.copy()
    gaussian_samples(covariance, np.random.default_rng(0), 2)

    assert_array_equal(covariance, before)


def test_a_field_without_variance_is_zero():
    assert_array_equal(gaussian_samples(np.zeros((3, 3)), np.random.default_rng(0), 2), 0.0)
    assert gaussian_samples(np.zeros((0, 0)), np.random.default_rng(0), 2).shape == (2, 0)


def test_the_jitter_moves_a_path_by_a_millionth():
    """Against the draw of the exact Cholesky factor from the same numbers."""
    covariance = on_a_line(6, 0.5)
    path = gaussian_samples(covariance, np.random.default_rng(3), 1)[0]
    exact = np.linalg.cholesky(covariance) @ np.random.default_rng(3).standard_normal(6)

    assert_allclose(path, exact, atol=1e-6 * np.sqrt(3.0))
