"""The discrete field on a circle, diagonal in Fourier modes, at N = 1e5 and every kappa.

Mode k of N equal cells h, t = 2 pi k / N, has mass m = h (lumped) or h (2 + cos t) / 3 and stiffness
2 (1 - cos t) / h; so the covariance at lag d is sum_k (kappa^2 + mu)^-p cos(t d) / (N m tau^2), with
mu = stiffness / m. Sums are exact (math.fsum) and 1 - cos t is 2 sin^2(t / 2): the twin keeps 1e-15.
"""

import math

import numpy as np
import pytest
from numpy.testing import assert_allclose

import netbo

N = 100_000
LENGTH = 7.0
LAGS = (0, 1, 2, 10, 1000, 25_000, 50_000)
DIAMETER = LENGTH / 2


@pytest.fixture(scope="module")
def space():
    return netbo.FiniteElementSpace(netbo.circle(LENGTH), np.array([N]))


def mode_variances(kappa, p, lumped):
    """Variance of each Fourier mode."""
    h, t = LENGTH / N, 2 * np.pi * np.arange(N) / N
    mass = np.full(N, h) if lumped else h * (2 + np.cos(t)) / 3
    mu = 4 * np.sin(t / 2) ** 2 / h / mass
    return (kappa**2 + mu) ** (-p) / (N * mass)


def covariance(weights, lag):
    """Covariance at a lag of whole cells."""
    return math.fsum(weights * np.cos(2 * np.pi * (np.arange(N) * lag % N) / N))


def drop(weights, lag):
    """Variance minus covariance, without cancellation."""
    return math.fsum(weights * 2 * np.sin(np.pi * (np.arange(N) * lag % N) / N) ** 2)


@pytest.mark.parametrize("lumped", [False, True], ids=["consistent", "lumped"])
@pytest.mark.parametrize("p", [1, 2, 3, 4])
@pytest.mark.parametrize("reach", [1e-6, 1e-3, 1.0, 1e3, 1e6])
def test_prior_covariance_is_that_of_the_fourier_modes(space, reach, p, lumped):
    """kappa times the diameter from 1e-6, where one mode is all, to 1e6, where cells are independent.

    The square of the condition number of Q there is 1e+40 and more.
    """
    kappa = reach / DIAMETER
    prior = netbo.whittle_matern(space, netbo.Matern(alpha=p / 2, kappa=kappa, tau=1.0), lumped=lumped)
    weights = mode_variances(kappa, p, lumped)
    expected = [covariance(weights, lag) for lag in LAGS]
    variances = prior.variance(space.nodes)
    found = prior.covariance(space.nodes[list(LAGS)], space.nodes[[0]])[:, 0]

    assert_allclose(variances, expected[0], rtol=1e-9)
    assert_allclose(found, expected, rtol=1e-9, atol=1e-12 * expected[0])


@pytest.mark.parametrize("lumped", [False, True], ids=["consistent", "lumped"])
@pytest.mark.parametrize("p", [1, 2, 3, 4])
@pytest.mark.parametrize("reach", [1e-6, 1e-3, 1.0, 1e3])
def test_one_observation_leaves_what_differs_along_the_circle(space, reach, p, lumped):
    """The level of the field is known after it, so the small differences show: down to 1e-26 of the level.

    Variance at lag d, v - c(d)^2 / (v + noise), with noise = v - c at a quarter of the circle.
    """
    kappa = reach / DIAMETER
    prior = netbo.whittle_matern(space, netbo.Matern(alpha=p / 2, kappa=kappa, tau=1.0), lumped=lumped)
    weights = mode_variances(kappa, p, lumped)
    v, noise = covariance(weights, 0), drop(weights, N // 4)
    drops = np.array([drop(weights, lag) for lag in LAGS])
    expected = (v * noise + drops * (2 * v - drops)) / (v + noise)
    data = netbo.Observations(space.nodes[[0]], [1.0])
    posterior = netbo.condition(prior, data, regularization=noise)

    assert_allclose(posterior.variance(space.nodes[list(LAGS)]), expected, rtol=1e-9)
    assert posterior.information_gain() == pytest.approx(np.log1p(v / noise) / 2, rel=1e-10)
