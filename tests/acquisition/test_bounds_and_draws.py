"""IGP-UCB, GP-TS and the two baselines against their definitions."""

import numpy as np
from numpy.testing import assert_allclose, assert_array_equal

import netbo
from netbo import Observations
from netbo.acquisition import FixedWidth, GpTs, IgpUcb, MaxVariance, PaperWidth, RandomSearch, ValidWidth
from support.reference import covariance_errors

PATHS = 4000


def dense_posterior(prior, data, noise, mean, x):
    """eq:postmean and eq:postcov with plain inverses."""
    K = prior.covariance(data.points, data.points) + noise * np.eye(len(data))
    cross = prior.covariance(x, data.points)
    centre = mean + cross @ np.linalg.solve(K, data.values - mean)
    return centre, prior.covariance(x, x) - cross @ np.linalg.solve(K, cross.T)


def test_igp_ucb_is_the_mean_and_beta_standard_deviations(prior, posterior, candidates, rng):
    mean, covariance = dense_posterior(prior, posterior.observations, 0.05, 0.3, candidates)
    std = np.sqrt(np.diag(covariance))
    width = PaperWidth(rkhs_bound=2.0)

    assert_allclose(IgpUcb(FixedWidth(2.5)).scores(posterior, candidates, rng), mean + 2.5 * std, rtol=1e-9)
    assert_allclose(
        IgpUcb(width).scores(posterior, candidates, rng), mean + width.beta(posterior) * std, rtol=1e-9
    )
    assert IgpUcb().width == ValidWidth()


def test_gp_ts_draws_from_the_posterior_with_deviations_times_v(prior, posterior, candidates):
    """4000 paths: means within 5 standard errors at 10 points, second moments within 5 of theirs."""
    x = candidates[::4]
    mean, covariance = dense_posterior(prior, posterior.observations, 0.05, 0.3, x)
    rng, acquisition = np.random.default_rng(7), GpTs(FixedWidth(2.0))
    deviations = np.array([acquisition.scores(posterior, x, rng) for _ in range(PATHS)]) - mean
    errors = deviations.mean(axis=0) / np.sqrt(4 * np.diag(covariance) / PATHS)

    assert np.abs(errors).max() < 5
    assert np.abs(covariance_errors(deviations, 4 * covariance)).max() < 5


def test_gp_ts_uses_the_sampling_width(posterior, candidates):
    """The deviations of one seed are those of width 1, times v_t."""
    mean = posterior.mean(candidates)
    one, wide = (
        GpTs(width).scores(posterior, candidates, np.random.default_rng(1)) - mean
        for width in (FixedWidth(1.0), ValidWidth(0.5))
    )

    assert_allclose(wide, ValidWidth(0.5).sampling(posterior) * one, rtol=1e-9, atol=1e-12)
    assert GpTs().width == FixedWidth(1.0)


def test_max_variance_does_not_see_the_values(prior, observations, candidates, rng):
    """Its scores are the standard deviations, which only the places decide."""
    other = Observations(observations.points, -5 * observations.values)
    scores, others = (
        MaxVariance().scores(netbo.condition(prior, data, regularization=0.05), candidates, rng)
        for data in (observations, other)
    )
    _, covariance = dense_posterior(prior, observations, 0.05, 0.0, candidates)

    assert_array_equal(scores, others)
    assert_allclose(scores, np.sqrt(np.diag(covariance)), rtol=1e-9)


def test_random_search_chooses_every_candidate_equally_often(posterior, candidates):
    """8000 choices among 8: counts within 5 binomial standard deviations, 5 * 29.6, of 1000."""
    rng, x = np.random.default_rng(11), candidates[:8]
    choices = [int(np.argmax(RandomSearch().scores(posterior, x, rng))) for _ in range(8000)]

    assert np.abs(np.bincount(choices, minlength=8) - 1000).max() < 148
