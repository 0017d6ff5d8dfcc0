"""alpha from data: the evidence is a smooth function of it, and its maximum is near the truth."""

import numpy as np
import pytest

import netbo
from netbo import FiniteElementSpace, Matern, Observations, whittle_matern
from netbo.errors import ParameterError
from netbo.posterior import condition, fit_parameters, fit_smoothness

NOISE = 0.02**2


@pytest.fixture(scope="module")
def space():
    return FiniteElementSpace.build(netbo.narrow_rectangle(), max_cell=1.0)


def simulated(space, alpha, seed, n=50):
    rng = np.random.default_rng(seed)
    places = space.nodes[rng.choice(space.n_nodes, n, replace=False)]
    values = whittle_matern(space, Matern(alpha, range=10.0)).sample(places, rng)
    return Observations(places, values + NOISE**0.5 * rng.standard_normal(n))


def test_the_evidence_is_smooth_in_alpha_across_whole_and_fractional_values(space):
    """Second differences over steps of 0.02 through 2 alpha = 2 do not jump."""
    data = simulated(space, 1.0, 0, n=25)
    alphas = np.arange(0.9, 1.101, 0.02)
    evidence = [
        condition(whittle_matern(space, Matern(a, range=10.0)), data, regularization=NOISE).log_evidence()
        for a in alphas
    ]
    second = np.diff(evidence, 2)

    assert np.all(np.abs(np.diff(second)) < 0.1 * np.abs(second).max())


@pytest.mark.slow
@pytest.mark.parametrize("alpha", [0.5, 0.8, 1.2])
def test_alpha_is_found_from_fifty_values(space, alpha):
    """Three simulations each: the truth has at most 4 less log evidence than the best alpha.

    Twice that is a chi-square with one degree of freedom, which exceeds 8 in 0.5 % of cases.
    """
    for seed in range(3):
        data = simulated(space, alpha, seed)
        found = fit_smoothness(
            lambda a: whittle_matern(space, Matern(a, range=10.0)), data, regularization=NOISE
        )
        truth = fit_parameters(whittle_matern(space, Matern(alpha, range=10.0)), data, regularization=NOISE)

        assert found.fit.log_evidence >= truth.log_evidence - 1e-3
        assert truth.log_evidence >= found.fit.log_evidence - 4.0
        assert found.interval[0] <= found.alpha <= found.interval[1]
        assert [a for a, _ in found.profile] == sorted(a for a, _ in found.profile)


@pytest.mark.parametrize("bounds", [(1.0, 0.5), (0.2, 1.0), (0.5, np.inf)])
def test_bounds_of_alpha_are_checked(space, bounds):
    with pytest.raises(ParameterError, match="bounds of alpha must be"):
        fit_smoothness(
            lambda a: whittle_matern(space, Matern(a, range=10.0)), simulated(space, 1.0, 0), bounds=bounds
        )
