import math

import numpy as np
import pytest
from scipy.integrate import quad

from netbo import Matern
from netbo.errors import ParameterError


@pytest.mark.parametrize("alpha", [0.3, 0.5, 0.75, 1.0, 1.5, 2.0])
@pytest.mark.parametrize("kappa", [0.2, 1.0, 30.0])
def test_both_spellings_say_the_same(alpha, kappa):
    """range = sqrt(8 nu) / kappa with nu = 2 alpha - 1/2."""
    paper = Matern(alpha=alpha, kappa=kappa, tau=0.4)
    human = Matern(alpha=alpha, range=paper.range, sigma=paper.sigma)

    assert paper.range == pytest.approx(math.sqrt(8 * (2 * alpha - 0.5)) / kappa)
    assert human.kappa == pytest.approx(paper.kappa, rel=1e-14)
    assert human.tau == pytest.approx(paper.tau, rel=1e-13)
    assert human.sigma == pytest.approx(paper.sigma, rel=1e-14)


@pytest.mark.parametrize("alpha", [0.4, 0.5, 0.75, 1.0, 1.5, 2.0])
def test_sigma_is_the_integral_of_the_spectral_density(alpha):
    """Variance on the line: (1 / 2 pi) int (kappa^2 + w^2)^(-2 alpha) dw / tau^2."""
    matern = Matern(alpha=alpha, kappa=1.3, tau=0.7)
    variance = quad(lambda w: (1.3**2 + w**2) ** (-2 * alpha), -np.inf, np.inf)[0] / (2 * np.pi) / 0.7**2

    assert matern.sigma**2 == pytest.approx(variance, rel=1e-7)


def test_amplitude_is_what_the_unit_field_is_multiplied_by():
    """sigma^2 at (kappa, tau) over sigma^2 at (1, 1)."""
    matern = Matern(alpha=1.5, kappa=2.0, tau=3.0)

    assert matern.amplitude == pytest.approx(matern.sigma**2 / Matern(alpha=1.5, kappa=1.0).sigma ** 2)


def test_the_amplitude_left_out_is_one_in_its_spelling():
    assert Matern(alpha=1.0, kappa=2.0).tau == 1.0
    assert Matern(alpha=1.0, range=2.0).sigma == pytest.approx(1.0, rel=1e-15)
    assert Matern(alpha=1.0, range=2.0, tau=3.0).tau == 3.0
    assert Matern(alpha=1.0, kappa=2.0, sigma=3.0).sigma == pytest.approx(3.0, rel=1e-15)


def test_rescaling_keeps_what_is_left_out():
    matern = Matern(alpha=1.0, range=2.0, sigma=3.0)

    assert matern.rescaled(range=5.0).sigma == pytest.approx(3.0, rel=1e-14)
    assert matern.rescaled(range=5.0).range == pytest.approx(5.0, rel=1e-14)
    assert matern.rescaled(sigma=7.0).range == pytest.approx(2.0, rel=1e-14)
    assert matern.rescaled(sigma=7.0).sigma == pytest.approx(7.0, rel=1e-14)


@pytest.mark.parametrize(("alpha", "order"), [(0.5, 1), (1, 2), (np.float64(1.5), 3), (2.0, 4)])
def test_the_order_is_twice_alpha(alpha, order):
    assert Matern(alpha=alpha, kappa=1.0).order == order


def test_extreme_scales_do_not_overflow():
    """Logarithms inside: kappa^(2 nu) alone would leave the doubles."""
    matern = Matern(alpha=2.0, kappa=1e-60, sigma=1.0)

    assert matern.sigma == pytest.approx(1.0, rel=1e-12)


@pytest.mark.parametrize("alpha", [0.75, 1.2])
def test_a_fraction_has_no_order(alpha):
    with pytest.raises(ParameterError, match=r"whole number 2 alpha, got alpha=.*; take 1/2, 1, 3/2 or 2"):
        _ = Matern(alpha=alpha, kappa=1.0).order


@pytest.mark.parametrize("alpha", [0.25, 0.1, -1.0, math.nan])
def test_a_field_without_variance_is_refused(alpha):
    """At alpha <= 1/4 the spectral density is not integrable."""
    with pytest.raises(ParameterError, match=r"alpha must be above 1/4, got .*; 1 is a smooth start"):
        Matern(alpha=alpha, kappa=1.0)


@pytest.mark.parametrize("given", [{}, {"kappa": 1.0, "range": 1.0}])
def test_the_length_scale_is_given_once(given):
    with pytest.raises(ParameterError, match=r"give kappa or range, one of them, got kappa="):
        Matern(alpha=1.0, **given)


def test_the_amplitude_is_given_once():
    with pytest.raises(ParameterError, match=r"give tau or sigma, not both, got tau=1.0 and sigma=2.0"):
        Matern(alpha=1.0, kappa=1.0, tau=1.0, sigma=2.0)


@pytest.mark.parametrize("name", ["kappa", "range", "tau", "sigma"])
@pytest.mark.parametrize("value", [0.0, -1.0, math.inf, math.nan])
def test_scales_are_positive_and_finite(name, value):
    scale = {} if name in ("kappa", "range") else {"kappa": 1.0}

    with pytest.raises(ParameterError, match=rf"{name} must be positive and finite, got .*unit of length"):
        Matern(alpha=1.0, **scale, **{name: value})


@pytest.mark.parametrize("value", ["1", True, [1.0], 1j])
def test_scales_are_numbers(value):
    with pytest.raises(ParameterError, match=r"kappa must be a number, got .*; pass a float"):
        Matern(alpha=1.0, kappa=value)
    with pytest.raises(ParameterError, match=r"alpha must be a number, got .*; pass a float"):
        Matern(alpha=value, kappa=1.0)


@pytest.mark.parametrize(
    "options",
    [
        {"range": 1e308},
        {"range": 1e-300},
        {"kappa": 1e200},
        {"kappa": 1e-200},
        {"range": 1.0, "sigma": 1e200},
        {"range": 1.0, "sigma": 1e-200},
        {"range": 1.0, "tau": 1e300},
    ],
)
def test_a_variance_that_is_no_number_is_refused(options):
    with pytest.raises(ParameterError, match=r"variance of the field must be a number .* got alpha=1"):
        Matern(alpha=1.0, **options)


def test_an_infinite_smoothness_is_refused():
    with pytest.raises(ParameterError, match="alpha must be above 1/4, got inf"):
        Matern(alpha=math.inf, range=1.0)
