"""The true kernel of fractional smoothness: between its whole neighbours, on lines and circles, anywhere."""

import mpmath as mp
import numpy as np
import pytest
from numpy.testing import assert_allclose

import netbo
from netbo import Matern, whittle_matern
from netbo.errors import ParameterError
from netbo.priors import ConstantVariance, FractionalPrior, MeshFreeFractionalPrior
from support.reference import contract_graph

ALPHAS = [0.45, 0.6, 0.75, 0.9, 1.25, 1.6, 2.3]


def points(graph, n, seed=0):
    return netbo.uniform_points(graph, n, np.random.default_rng(seed))


def circle_covariance(matern, length, lags, terms=200_000):
    """Fourier series tau^-2 sum (kappa^2 + (2 pi k / L)^2)^(-2 alpha) cos(2 pi k d / L) / L."""
    k = np.arange(1, terms + 1)
    powers = (matern.kappa**2 + (2 * np.pi * k / length) ** 2) ** (-2 * matern.alpha)
    waves = np.cos(2 * np.pi * np.outer(lags, k) / length)
    return (matern.kappa ** (-4 * matern.alpha) + 2 * waves @ powers) / (length * matern.tau**2)


@pytest.mark.parametrize("alpha", [0.75, 1.25, 1.6, 2.3])
def test_on_the_circle_it_is_the_fourier_series(alpha):
    """Lags away from 0, where the series' tail is below 1e-10 of the variance for alpha >= 0.75."""
    matern = Matern(alpha, range=2.0, sigma=1.5)
    graph = netbo.circle(5.0)
    lags = np.array([0.7, 1.3, 2.5])
    prior = whittle_matern(graph, matern)
    found = prior.covariance(graph.points(0, 0.3), graph.points(0, 0.3 + lags))[0]

    assert_allclose(found, circle_covariance(matern, 5.0, lags), atol=2e-8 * matern.sigma**2)


@pytest.mark.parametrize("alpha", ALPHAS)
def test_on_a_long_edge_it_is_the_matern_kernel(alpha):
    """sigma^2 2^(1 - nu)/Gamma(nu) (kappa d)^nu K_nu(kappa d) in the middle of 400 ranges."""
    matern = Matern(alpha, range=1.0, sigma=1.3)
    graph = netbo.interval(400.0)
    lags = np.array([0.05, 0.4, 1.1, 2.0])
    found = whittle_matern(graph, matern).covariance(graph.points(0, 200.0), graph.points(0, 200.0 + lags))[0]
    nu = matern.nu

    def closed(d):
        u = mp.mpf(matern.kappa * d)
        return float(matern.sigma**2 * 2 ** (1 - nu) / mp.gamma(nu) * u**nu * mp.besselk(nu, u))

    assert_allclose(found, [closed(d) for d in lags], atol=2e-8 * matern.sigma**2)


@pytest.mark.parametrize("alpha", ALPHAS)
def test_it_reports_its_error_and_keeps_the_promise(alpha):
    prior = whittle_matern(contract_graph(), Matern(alpha, range=2.0))

    assert isinstance(prior, MeshFreeFractionalPrior)
    assert prior.error <= prior.tolerance == 1e-8


@pytest.mark.parametrize("whole", [0.5, 1.0, 1.5, 2.0])
def test_the_kernel_is_continuous_where_2_alpha_is_whole(whole):
    """Just beside a whole number the sum of shifted systems meets the block system."""
    graph = contract_graph()
    x, y = points(graph, 6), points(graph, 5, 1)
    exact = whittle_matern(graph, Matern(whole, range=2.0)).covariance(x, y)
    beside = whittle_matern(graph, Matern(whole + 1e-7, range=2.0)).covariance(x, y)

    assert_allclose(beside, exact, atol=3e-7 * np.abs(exact).max())


@pytest.mark.parametrize("alpha", [0.6, 1.25])
def test_more_points_change_nothing(alpha):
    """Nodes are where points are asked about; the answers at the old ones stay."""
    graph = contract_graph()
    x, more = points(graph, 6), points(graph, 40, 1)
    prior = whittle_matern(graph, Matern(alpha, range=2.0), vertex_condition=0.3)
    together = netbo.Points.concatenate([x, more])

    assert_allclose(prior.covariance(together, together)[:6, :6], prior.covariance(x, x), rtol=1e-9)
    assert_allclose(prior.variance(together)[:6], np.diag(prior.covariance(x, x)), rtol=1e-8)


@pytest.mark.parametrize("alpha", [0.45, 0.75, 1.6])
def test_finite_elements_of_fractional_smoothness_tend_to_it(alpha):
    graph = contract_graph()
    x = points(graph, 8)
    matern = Matern(alpha, range=3.0)
    exact = whittle_matern(graph, matern).covariance(x[:4], x[4:])
    error = []
    for cell in (0.2, 0.05):
        space = netbo.FiniteElementSpace.build(graph, max_cell=cell)
        prior = whittle_matern(space, matern)
        assert isinstance(prior, FractionalPrior)
        error.append(np.abs(prior.covariance(x[:4], x[4:]) - exact).max())

    assert error[1] < error[0] / 4
    assert error[1] < 2e-3 * np.abs(exact).max()


@pytest.mark.slow
def test_sample_paths_have_its_covariance():
    """20,000 paths: entries within five standard errors, sqrt((k_ii k_jj + k_ij^2) / 20,000)."""
    graph = contract_graph()
    x = points(graph, 5)
    prior = whittle_matern(graph, Matern(0.75, range=2.0))
    expected = prior.covariance(x, x)
    rng = np.random.default_rng(1)
    paths = np.concatenate([prior.sample(x, rng, n=5) for _ in range(4000)])
    found = paths.T @ paths / len(paths)
    error = np.sqrt((np.outer(np.diag(expected), np.diag(expected)) + expected**2) / len(paths))

    assert np.all(np.abs(found - expected) < 5 * error)


def test_posterior_paths_corrected_by_the_data_have_the_posterior_covariance():
    """Matheron's rule against the posterior's own moments: 1,500 paths, five standard errors."""
    graph = contract_graph()
    x, at = points(graph, 4), points(graph, 5, 1)
    prior = whittle_matern(graph, Matern(0.75, range=2.0))
    data = netbo.Observations(x, [0.5, -1.0, 0.3, 0.8])
    posterior = netbo.condition(prior, data, regularization=0.05, mean=netbo.ESTIMATED)
    rng = np.random.default_rng(2)
    paths = np.concatenate([posterior.sample(at, rng, n=5) for _ in range(300)]) - posterior.mean(at)
    expected = posterior.covariance(at, at)
    error = np.sqrt((np.outer(np.diag(expected), np.diag(expected)) + expected**2) / len(paths))

    assert np.all(np.abs(paths.T @ paths / len(paths) - expected) < 5 * error)
    assert np.all(np.abs(paths.mean(axis=0)) < 5 * np.sqrt(np.diag(expected) / len(paths)))


def test_a_constant_variance_is_constant():
    graph = contract_graph()
    prior = whittle_matern(graph, Matern(0.75, range=2.0, sigma=1.4), constant_variance=True)
    x = points(graph, 6)

    assert isinstance(prior, ConstantVariance)
    assert_allclose(prior.variance(x), 1.4**2)
    assert_allclose(np.diag(prior.covariance(x, x)), 1.4**2, rtol=1e-8)


def test_an_accuracy_out_of_reach_says_which_can_be_had():
    with pytest.raises(ParameterError, match="e-"):
        whittle_matern(contract_graph(), Matern(0.255, range=2.0), tolerance=1e-12)
