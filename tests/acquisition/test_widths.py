"""Widths against their formulas; whether they cover is asked in truth/test_width_coverage.py."""

from dataclasses import FrozenInstanceError, replace
from math import log, sqrt

import numpy as np
import pytest

import netbo
from netbo import Observations, Points
from netbo.acquisition import FixedWidth, PaperWidth, ValidWidth, Width
from netbo.errors import ParameterError

B, R, DELTA, b = 1.7, 0.3, 0.1, 0.02
PAPER = PaperWidth(rkhs_bound=B, noise_bound=R, failure_probability=DELTA, misspecification=b)
VALID = ValidWidth(rkhs_bound=B, noise_bound=R, failure_probability=DELTA, misspecification=b)
OWN_NOISE = np.array([0.04, 0.3, 0.04, 0.1, 0.2, 0.09, 0.5, 0.04, 0.04, 1.5])


def dense_gain(prior, observations, noise):
    """log|I + Lambda^(-1/2) K Lambda^(-1/2)| / 2."""
    root = np.sqrt(np.broadcast_to(noise, len(observations)))
    K = prior.covariance(observations.points, observations.points) / np.outer(root, root)
    return np.linalg.slogdet(np.eye(len(K)) + K)[1] / 2


def no_data(prior):
    return netbo.condition(prior, Observations(Points(np.empty(0, dtype=int), []), []), regularization=0.2)


@pytest.mark.parametrize("regularization", [0.05, 1.0, 1 + 2 / 11])
def test_the_paper_width_is_the_printed_formula(prior, observations, regularization):
    """alg:GP-bandits-FEM with N_init + t = n + 1 = 11."""
    posterior = netbo.condition(prior, observations, regularization=regularization)
    gain = dense_gain(prior, observations, regularization)
    bias = b * sqrt(10) / sqrt(1 + 2 / 11)
    middle = 11 * (regularization - 1) / 2

    assert PAPER.beta(posterior) == pytest.approx(
        B + R * sqrt(2 * (gain + middle + log(1 / DELTA))) + bias, rel=1e-10
    )
    assert PAPER.sampling(posterior) == pytest.approx(
        B + R * sqrt(2 * (gain + middle + log(2 / DELTA))) + bias, rel=1e-10
    )


def test_the_middle_term_of_the_paper_width_is_one_at_its_regularization(prior, observations):
    posterior = netbo.condition(prior, observations, regularization=1 + 2 / 11)
    gain = dense_gain(prior, observations, 1 + 2 / 11)
    width = replace(PAPER, misspecification=0.0)

    assert width.beta(posterior) == pytest.approx(B + R * sqrt(2 * (gain + 1 + log(1 / DELTA))), rel=1e-10)


def test_the_root_of_a_negative_number_is_taken_as_zero(observations):
    """Twenty repeats gain log(1 + 20 k / lambda)/2 < 3, and the middle term takes away about 10."""
    prior = netbo.euclidean_matern(netbo.interval(1.0), nu=0.5, range=1.0, sigma=1.0)
    points = prior.graph.points(0, np.full(20, 0.5))
    posterior = netbo.condition(prior, Observations(points, np.zeros(20)), regularization=0.09)

    assert dense_gain(prior, posterior.observations, 0.09) + 21 * (0.09 - 1) / 2 + log(2 / DELTA) < 0
    assert PAPER.beta(posterior) == PAPER.sampling(posterior)
    assert PAPER.beta(posterior) == pytest.approx(B + b * sqrt(20) / sqrt(1 + 2 / 21), rel=1e-12)


@pytest.mark.parametrize("regularization", [0.05, 1.0, 3.0])
def test_the_valid_width_divides_noise_and_misspecification_by_the_regularization(
    prior, observations, regularization
):
    posterior = netbo.condition(prior, observations, regularization=regularization)
    gain = dense_gain(prior, observations, regularization)
    root, bias = sqrt(regularization), b * sqrt(10) / sqrt(regularization)

    assert VALID.beta(posterior) == pytest.approx(
        B + R / root * sqrt(2 * (gain + log(1 / DELTA))) + bias, rel=1e-10
    )
    assert VALID.sampling(posterior) == pytest.approx(
        B + R / root * sqrt(2 * (gain + log(2 / DELTA))) + bias, rel=1e-10
    )


def test_differing_variances_count_by_the_smallest_in_the_valid_width_and_by_the_mean_in_the_paper_width(
    prior, observations
):
    data = Observations(observations.points, observations.values, OWN_NOISE)
    posterior = netbo.condition(prior, data)
    gain = dense_gain(prior, data, OWN_NOISE)
    valid = B + R / 0.2 * sqrt(2 * (gain + log(1 / DELTA))) + b * sqrt(np.sum(1 / OWN_NOISE))
    middle = 11 * (OWN_NOISE.mean() - 1) / 2
    paper = B + R * sqrt(2 * (gain + middle + log(1 / DELTA))) + b * sqrt(10) / sqrt(1 + 2 / 11)

    assert VALID.beta(posterior) == pytest.approx(valid, rel=1e-10)
    assert PAPER.beta(posterior) == pytest.approx(paper, rel=1e-10)


def test_values_off_by_the_misspecification_move_the_mean_within_its_share_of_the_width(
    prior, observations, candidates
):
    """Errors of -b or b in every value, of signs that at each candidate push the mean as far as they can."""
    exact = netbo.condition(prior, Observations(observations.points, np.zeros(10), OWN_NOISE))
    unit = [
        netbo.condition(prior, Observations(observations.points, row, OWN_NOISE)).mean(candidates)
        for row in np.eye(10)
    ]
    furthest = b * np.abs(unit).sum(axis=0)
    share = VALID.beta(exact) - replace(VALID, misspecification=0.0).beta(exact)

    assert (furthest <= share * exact.std(candidates)).all()
    assert (furthest / (share * exact.std(candidates))).max() > 0.1


def test_without_a_noise_bound_the_noise_is_what_the_model_says(prior, observations):
    data = Observations(observations.points, observations.values, OWN_NOISE)
    posterior = netbo.condition(prior, data)
    common = netbo.condition(prior, observations, regularization=0.5)

    assert ValidWidth(1.0).beta(posterior) == pytest.approx(
        1 + sqrt(2 * (dense_gain(prior, data, OWN_NOISE) + log(20))), rel=1e-10
    )
    assert PaperWidth().beta(common) == PaperWidth(noise_bound=sqrt(0.5)).beta(common)
    assert ValidWidth().beta(common) == pytest.approx(ValidWidth(noise_bound=sqrt(0.5)).beta(common))


def test_without_observations_nothing_was_gained(prior):
    empty = no_data(prior)

    assert PAPER.beta(empty) == pytest.approx(B + R * sqrt(2 * log(1 / DELTA)), rel=1e-12)
    assert VALID.beta(empty) == pytest.approx(B + sqrt(2 * log(1 / DELTA)), rel=1e-12)
    assert VALID.sampling(empty) == pytest.approx(B + sqrt(2 * log(2 / DELTA)), rel=1e-12)


def test_the_width_does_not_depend_on_the_unit_of_the_objective(prior, observations):
    """B is a norm under the prior's kernel, so it is in units of the amplitude."""
    scaled = netbo.condition(
        prior.rescaled(sigma=7 * prior.sigma),
        Observations(observations.points, 7 * observations.values),
        regularization=49 * 0.05,
    )
    posterior = netbo.condition(prior, observations, regularization=0.05)

    assert ValidWidth(2.0).beta(scaled) == pytest.approx(ValidWidth(2.0).beta(posterior), rel=1e-10)


def test_a_fixed_width_is_itself(posterior):
    assert FixedWidth(2).beta(posterior) == FixedWidth(2).sampling(posterior) == 2.0


@pytest.mark.parametrize("width", [PAPER, VALID, FixedWidth(1.0)])
def test_every_width_satisfies_the_protocol_and_stays_as_it_is(width):
    assert isinstance(width, Width)
    with pytest.raises((FrozenInstanceError, TypeError)):
        width.rkhs_bound = 3.0


@pytest.mark.parametrize("kind", [PaperWidth, ValidWidth])
@pytest.mark.parametrize("value", [-1.0, np.nan, np.inf, "2", True])
@pytest.mark.parametrize("name", ["rkhs_bound", "noise_bound", "misspecification"])
def test_bounds_must_be_finite_and_not_negative(kind, name, value):
    with pytest.raises(ParameterError, match=f"{name} must be a finite number, not negative, got"):
        kind(**{name: value})


@pytest.mark.parametrize("kind", [PaperWidth, ValidWidth])
@pytest.mark.parametrize("value", [0, 0.0, 1.0, 2.0])
def test_a_failure_probability_lies_between_zero_and_one(kind, value):
    with pytest.raises(ParameterError, match=r"failure_probability must lie between 0 and 1, got .*; try"):
        kind(failure_probability=value)
    with pytest.raises(ParameterError, match="failure_probability must be a finite number"):
        kind(failure_probability=None)


def test_a_fixed_width_is_not_negative():
    with pytest.raises(ParameterError, match=r"a width must be a finite number, not negative, got -0\.5"):
        FixedWidth(-0.5)
