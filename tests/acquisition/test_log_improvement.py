"""The logarithm of the expected improvement against mpmath."""

import mpmath as mp
import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from netbo.acquisition import log_expected_improvement


def log_h(z: float) -> float:
    """log(phi + z Phi) with 80 digits, of which the cancellation takes 2 log10|z|, so at most 16."""
    with mp.workdps(80):
        x = mp.mpf(z)
        return float(mp.log(mp.npdf(x) + x * mp.erfc(-x / mp.sqrt(2)) / 2))


def log_improvement_by_quadrature(mean: float, std: float, best: float) -> float:
    """log of the integral of (f - best) against the density of f, above best."""
    with mp.workdps(30):
        pieces = [mp.mpf(best) + std * step for step in (0, *np.logspace(-6, 6, 25, base=2.0).tolist())]
        return float(mp.log(mp.quad(lambda f: (f - best) * mp.npdf(f, mean, std), pieces)))


def test_it_has_all_digits_from_certain_success_to_beyond_hope():
    """z from 1000 to -1e8, densely where the formula changes; relative to max(|log h|, 1).

    Near z = 0.9, where h = 1, a relative error of the logarithm would be one of h itself.
    """
    seams = np.concatenate([c + np.linspace(-0.01, 0.01, 21) for c in (-1.0, -30.0)])
    z = np.concatenate([np.logspace(3, -8, 120), [0.0], -np.logspace(-8, 8, 300), seams])
    expected = np.array([log_h(value) for value in z])
    error = np.abs(log_expected_improvement(z, np.ones(len(z)), 0.0) - expected)

    assert (error / np.maximum(np.abs(expected), 1.0)).max() < 1e-14


@pytest.mark.parametrize(
    ("mean", "std", "best"), [(0.3, 1.7, 0.1), (-2.0, 0.5, 1.0), (5.0, 2.0, -1.0), (1e-3, 3e-4, 4e-3)]
)
def test_it_is_the_integral_of_the_improvement(mean, std, best):
    found = log_expected_improvement(np.array([mean]), np.array([std]), best)

    assert_allclose(found, log_improvement_by_quadrature(mean, std, best), rtol=1e-12)


def test_it_increases_across_its_formulas():
    """A tie or a step back would let rounding choose the query."""
    z = np.concatenate([c + np.linspace(-1e-6, 1e-6, 201) for c in (-30.0, -1.0)])

    assert (np.diff(log_expected_improvement(z, np.ones(len(z)), 0.0)) > 0).all()


def test_without_doubt_it_is_the_logarithm_of_the_improvement():
    mean, best = np.array([3.0, 1.0, -2.0]), 1.0

    assert_array_equal(log_expected_improvement(mean, np.zeros(3), best), [np.log(2.0), -np.inf, -np.inf])


def test_hardly_any_doubt_is_no_doubt():
    """Neither quotients nor squares that overflow may warn or become NaN."""
    mean = np.array([2.0, -2.0, 0.0, 2.0, -2.0])
    std = np.array([1e-320, 1e-320, 1e-320, 1e-200, 1e-200])
    found = log_expected_improvement(mean, std, 0.0)

    assert_allclose(found[[0, 3]], np.log(2.0), rtol=1e-14)
    assert_array_equal(found[[1, 4]], -np.inf)
    assert np.isfinite(found[2])


def test_it_broadcasts_over_draws_of_the_incumbent():
    mean, std, best = np.array([0.1, 0.2, 0.3]), np.array([1.0, 2.0, 0.0]), np.array([[0.0], [0.25]])
    found = log_expected_improvement(mean, std, best)
    rows = [log_expected_improvement(mean, std, float(value)) for value in best[:, 0]]

    assert_array_equal(found, rows)
