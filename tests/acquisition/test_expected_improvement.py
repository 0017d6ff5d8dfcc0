"""Expected improvement over the best posterior mean."""

import mpmath as mp
import numpy as np
import pytest
from numpy.testing import assert_allclose

import netbo
from netbo import Observations, Points
from netbo.acquisition import LogExpectedImprovement
from netbo.errors import ParameterError


@pytest.mark.parametrize("margin", [0.0, 0.4])
def test_it_is_the_improvement_over_the_best_mean_at_an_observed_point(posterior, candidates, rng, margin):
    """By mpmath at every candidate; the incumbent is the mean there, not the value measured."""
    best = mp.mpf(posterior.mean(posterior.observations.points).max() + margin)
    expected = []
    with mp.workdps(60):
        for mean, std in zip(posterior.mean(candidates), posterior.std(candidates), strict=True):
            z = (mp.mpf(mean) - best) / mp.mpf(std)
            expected.append(float(mp.log(mp.mpf(std) * (mp.npdf(z) + z * mp.ncdf(z)))))

    assert_allclose(
        LogExpectedImprovement(margin).scores(posterior, candidates, rng), expected, rtol=1e-11, atol=1e-11
    )
    assert best - margin != posterior.observations.values.max()


def test_a_margin_moves_the_search_away_from_the_incumbent(posterior, candidates, rng):
    """A larger margin never lowers the standard deviation of the choice."""
    chosen = [
        int(np.argmax(LogExpectedImprovement(margin).scores(posterior, candidates, rng)))
        for margin in (0.0, 0.5, 5.0)
    ]

    assert (np.diff(posterior.std(candidates)[chosen]) >= 0).all()


def test_without_observations_it_is_the_logarithm_of_the_standard_deviation(prior, candidates, rng):
    none = Observations(Points(np.empty(0, dtype=int), []), [])
    empty = netbo.condition(prior, none, regularization=0.1)

    assert_allclose(
        LogExpectedImprovement().scores(empty, candidates, rng), np.log(prior.variance(candidates)) / 2
    )


@pytest.mark.parametrize("margin", [-0.1, np.nan, "0"])
def test_a_margin_is_not_negative(margin):
    with pytest.raises(ParameterError, match=r"margin must be a finite number, not negative, got .*; 0 is"):
        LogExpectedImprovement(margin)
