"""Positive rational approximations of x^b."""

import math
import re
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy import integrate, special

from netbo.errors import ParameterError
from netbo.linalg import RationalPower, closed_form_power, interpolated_power, rational_power
from support.reference import matern_correlation

ALPHAS = [0.3, 0.45, 0.6, 0.75, 1.25, 1.6, 2.3]


def line_kernel(power: RationalPower, lag: np.ndarray) -> np.ndarray:
    """Kernel on the infinite line at kappa = tau = 1, for n = 0 and 1, from Green's functions.

    1 / (lambda + c) is exp(-sqrt(1 + c) h) / (2 sqrt(1 + c)), and x c / (lambda + c) = x - 1 / (lambda + c).
    """
    root = np.sqrt(1 + 1 / power.shifts)
    resolvents = np.exp(-np.multiply.outer(lag, root)) / (2 * root)
    first = np.exp(-lag) / 2
    if power.whole == 0:
        return resolvents @ (power.weights / power.shifts) + power.tail * first
    second = (1 + lag) * np.exp(-lag) / 4
    terms = first[:, None] - resolvents
    return power.constant * first + terms @ power.weights + power.tail * second


@pytest.mark.parametrize("make", [rational_power, closed_form_power])
@pytest.mark.parametrize("alpha", ALPHAS)
def test_every_number_is_positive(make, alpha):
    """So the sum is a covariance, whatever its error; without white noise where paths would not have it."""
    power = make(2 * alpha, 1e-7)

    assert np.all(power.weights > 0)
    assert np.all(power.shifts > 0)
    assert power.tail >= 0
    assert power.constant > 0 if power.whole else power.constant == 0


@pytest.mark.parametrize("tolerance", [1e-3, 1e-8, 1e-12])
@pytest.mark.parametrize("lowest", [0.0, 1e-3, 1e-8])
@pytest.mark.parametrize("alpha", [0.45, 0.75, 1.25, 1.6, 2.3])
def test_the_tolerance_is_kept(alpha, lowest, tolerance):
    assert rational_power(2 * alpha, tolerance, lowest).error <= tolerance


@pytest.mark.parametrize("alpha", [0.3, 0.45, 0.6, 0.75, 0.95])
@pytest.mark.parametrize("make", [rational_power, closed_form_power])
def test_the_error_bounds_the_kernel_on_the_line_at_all_lags(make, alpha):
    """Against Bessel's form of the Matérn kernel; tight within a factor of 50 at lag 0 or elsewhere."""
    power = make(2 * alpha, 1e-6)
    nu = 2 * alpha - 0.5
    variance = special.gamma(nu) / (math.sqrt(4 * math.pi) * special.gamma(nu + 0.5))
    lag = np.concatenate([np.zeros(1), np.geomspace(1e-4, 20, 400)])
    wrong = np.abs(line_kernel(power, lag) / variance - matern_correlation(lag, nu)).max()

    assert power.error / 50 < wrong < 1.02 * power.error + 1e-12


@pytest.mark.parametrize(("alpha", "lowest"), [(0.45, 1e-3), (0.75, 0.0), (1.25, 1e-4)])
def test_the_error_is_the_integral_it_says(alpha, lowest):
    """Adaptive quadrature in omega, on a coarse fit."""
    power = interpolated_power(2 * alpha, 3, lowest)
    far = math.sqrt(1 / lowest - 1) if lowest else np.inf

    def integral(function):
        ends = [0.0, 1.0, 10.0, min(30.0, far), far]
        return sum(integrate.quad(function, *piece, limit=500)[0] for piece in pairwise(ends))

    def x(omega):
        return 1 / (1 + omega**2)

    missed = integral(lambda omega: abs(float(power(x(omega))) - x(omega) ** power.power))
    expected = max(missed / integral(lambda omega: x(omega) ** power.power), abs(float(power(1.0)) - 1))

    assert power.error == pytest.approx(expected, rel=0.02)


@pytest.mark.parametrize(
    ("alpha", "closed", "fewest"),
    [
        (0.3, 197, 210),
        (0.45, 65, 64),
        (0.6, 40, 25),
        (0.75, 35, 18),
        (1.25, 30, 9),
        (1.6, 30, 6),
        (2.3, 30, 5),
    ],
)
def test_the_number_of_terms_on_the_continuum(alpha, closed, fewest):
    """For 1e-8: of the closed form within three of the number in the numerics, and of what is chosen."""
    assert abs(closed_form_power(2 * alpha, 1e-8).n_terms + 1 - closed) <= 3
    assert rational_power(2 * alpha, 1e-8).n_terms <= fewest


# Kernel error of best uniform approximations on [1/769, 1], 4 and 8 terms: of x^f, type (m, m), or for n = 0
# of x^(f-1), type (m - 1, m). baryrat 2.1.2: brasil(g, (1/769, 1), degree, tol=1e-3), error by trapezoids.
BEST_UNIFORM = {
    0.3: (1.0e-3, 2.4e-7), 0.45: (2.3e-4, 5.1e-8), 0.6: (7.2e-5, 1.7e-8), 0.75: (5.9e-5, 1.4e-8),
    1.25: (4.6e-5, 1.0e-8), 1.6: (6.1e-5, 1.4e-8), 2.3: (2.9e-5, 6.6e-9),
}  # fmt: skip


@pytest.mark.parametrize("alpha", ALPHAS)
def test_interpolants_are_as_good_as_best_uniform_approximations(alpha):
    """Within a factor of two at the same number of terms, usually better: the measure is the kernel's."""
    found = [interpolated_power(2 * alpha, m, 1 / 769).error for m in (4, 8)]

    assert np.all(found < 2 * np.array(BEST_UNIFORM[alpha]))


@pytest.mark.parametrize(
    ("alpha", "reached"),
    [
        (0.75, (3e-1, 4e-4, 8e-8)),
        (1.25, (2e-2, 4e-5, 8e-9)),
        (1.6, (1e-2, 2e-5, 4e-9)),
        (2.3, (2e-2, 4e-5, 8e-9)),
    ],
)
def test_squared_fits_need_more_terms_than_ours(alpha, reached):
    """The paper's way on the true interval, eigenvalues over 769, m = 1, 4, 8: our errors are smaller."""
    found = [interpolated_power(2 * alpha, m, 1 / 769).error for m in (1, 4, 8)]

    assert np.all(found < np.array(reached))


@pytest.mark.parametrize("alpha", [0.4, 0.7, 1.3])
def test_the_closed_form_is_smooth_in_alpha(alpha):
    """Differences in b are those of x^b; nodes that enter or leave move it by the tolerance at most."""
    tolerance, step = 1e-10, 1e-3
    x = np.geomspace(1e-6, 1, 200)
    up, down = (closed_form_power(2 * alpha + h, tolerance)(x) for h in (step, -step))
    slope = x ** (2 * alpha) * np.sinh(step * np.log(x)) / step

    assert_allclose((up - down) / (2 * step), slope, rtol=0, atol=2 * tolerance / step)


def test_near_one_quarter_it_says_what_can_be_reached():
    """alpha = 0.26: shifts below the smallest double would be needed."""
    with pytest.raises(ParameterError, match=r"can be approximated to 2\.\de-06 .* got tolerance 1\.0e-08"):
        rational_power(0.52)

    assert rational_power(0.52, 2.5e-6).error < 2.5e-6
    with pytest.raises(ParameterError, match="has a closed form for tolerances from"):
        closed_form_power(0.52, 1e-8)


def test_what_double_precision_cannot_hold_is_refused():
    with pytest.raises(ParameterError, match="can be approximated to"):
        rational_power(1.5, 1e-18)
    with pytest.raises(ParameterError, match="with 60 terms rounding spoils the interpolant"):
        interpolated_power(1.5, 60, 1e-3)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((0.5,), "the power 2 alpha must be above 1/2, got 0.5"),
        ((math.inf,), "must be above 1/2, got inf"),
        ((2.0,), "the power 2 is whole"),
        ((1.5, 0.0), "tolerance must be between 0 and 1, got 0.0"),
        ((1.5, 1e-8, 1.0), r"lowest must be in \[0, 1\), got 1.0"),
    ],
)
def test_bad_arguments_are_refused(arguments, message):
    with pytest.raises(ParameterError, match=message):
        rational_power(*arguments)


def test_the_table_of_the_theory_page_is_what_is_computed():
    """One digit is printed: within a third."""
    page = Path(__file__).parents[2] / "docs" / "theory" / "fractional.md"
    rows = [line.strip("| ").split(" | ") for line in page.read_text(encoding="utf-8").splitlines()]
    table = {
        float(row[0]): [float(entry) for entry in row[1:]] for row in rows if re.match(r"\d\.\d", row[0])
    }

    assert sorted(table) == ALPHAS
    for alpha, printed in table.items():
        computed = [interpolated_power(2 * alpha, m, 1 / 769).error for m in range(1, 9)]
        assert_allclose(printed, computed, rtol=0.34)
