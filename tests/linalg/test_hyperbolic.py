"""Exact elements, their divided differences and interpolation against many-digit arithmetic."""

import mpmath as mp
import numpy as np
import pytest
from numpy.testing import assert_allclose

from netbo.linalg.elements import hat_differences, hat_elements
from netbo.linalg.hyperbolic import hyperbolic_differences, hyperbolic_elements
from netbo.linalg.interpolation import hyperbolic_interpolation

LENGTHS = [1e-10, 1e-5, 0.03, 0.7, 2.49, 2.51, 5.0, 40.0, 650.0, 1e6]
SHIFTS = [1e-30, 1e-8, 0.02, 1.3, 4.7, 50.0, 1e7, 1e30]
SMALLEST = 1e-290  # below this, numbers near underflow have fewer digits
DIGITS = 400  # numerical differentiation of numbers that differ by 1e-200


def off_diagonal(s, h):
    return -mp.sqrt(s) / mp.sinh(mp.sqrt(s) * h)


def row_sum(s, h):
    return mp.sqrt(s) * mp.tanh(mp.sqrt(s) * h / 2)


def true_differences(function, h, shift, n):
    """K[1 (k times), 1 + shift] by the definition, with digits to spare."""
    with mp.workdps(DIGITS):
        h, shift = mp.mpf(float(h)), mp.mpf(float(shift))
        taylor = mp.taylor(lambda s: function(s, h), 1, n)
        if not shift:
            return [float(value) for value in taylor]
        differences = [function(1 + shift, h)]
        for k in range(n):
            differences.append((differences[-1] - taylor[k]) / shift)
        return [float(value) for value in differences]


def test_taylor_coefficients_have_all_their_digits_on_cells_of_any_length():
    """Off-diagonals and row sums to order 5, from 1e-10 to 1e6 correlation lengths."""
    elements = hyperbolic_elements(np.array(LENGTHS), 5)
    off = [true_differences(off_diagonal, h, 0.0, 5) for h in LENGTHS]
    row = [true_differences(row_sum, h, 0.0, 5) for h in LENGTHS]

    assert elements.order == 5
    assert_allclose(elements.off, off, rtol=1e-14, atol=SMALLEST)
    assert_allclose(elements.row, row, rtol=1e-14)


@pytest.mark.parametrize("shift", SHIFTS)
def test_divided_differences_have_all_their_digits_at_any_shift(shift):
    """K(1 + shift) is conditioned like exp(-r), with up to r = 700 rounding errors; the others are not."""
    elements = hyperbolic_differences(np.array(LENGTHS), shift, 4)
    off = np.array([true_differences(off_diagonal, h, shift, 4) for h in LENGTHS])
    row = [true_differences(row_sum, h, shift, 4) for h in LENGTHS]

    assert_allclose(elements.off[:, 0], off[:, 0], rtol=1e-13, atol=SMALLEST)
    assert_allclose(elements.off[:, 1:], off[:, 1:], rtol=1e-14, atol=SMALLEST)
    assert_allclose(elements.row, row, rtol=1e-14)


def test_the_forms_for_short_and_long_cells_and_large_shifts_meet():
    """A cell a rounding error longer has the same element: on either side another form is used."""
    for h, shift in [(2.5, 0.0), (2.5, 0.8), (2.5, 4.9), (0.5, 143.0), (1.7, (6 / 1.7) ** 2 - 1)]:
        below, above = h * (1 - 1e-15), h * (1 + 1e-15)
        elements = hyperbolic_differences(np.array([below, above]), shift, 4)

        assert_allclose(elements.off[0], elements.off[1], rtol=1e-13)
        assert_allclose(elements.row[0], elements.row[1], rtol=1e-13)


def shifted(cells, shift):
    """Off-diagonals and row sums of K(1 + shift)."""
    elements = hyperbolic_differences(cells, shift, 0)
    return elements.off[:, 0], elements.row[:, 0]


def test_a_shift_of_zero_gives_the_element_itself():
    cells = np.array(LENGTHS)
    elements = hyperbolic_elements(cells, 2)
    off, row = shifted(cells, 0.0)

    assert_allclose(off, elements.off[:, 0], rtol=1e-15, atol=SMALLEST)
    assert_allclose(row, elements.row[:, 0], rtol=1e-15)


def test_a_cell_at_a_shift_is_a_longer_cell():
    """sqrt(s) h is all that matters: K(s; h) = sqrt(s) K(1; sqrt(s) h)."""
    cells, shift = np.array([0.1, 1.0, 2.0, 5.0]), 8.0
    off, row = shifted(cells, shift)
    longer = hyperbolic_elements(3 * cells, 1)

    assert_allclose(off, 3 * longer.off[:, 0], rtol=1e-14)
    assert_allclose(row, 3 * longer.row[:, 0], rtol=1e-14)


def test_the_ends_of_a_long_cell_do_not_know_each_other():
    """Off-diagonals fall to 0 and row sums rise to kappa, in both the element and its shifted twin."""
    cells = np.geomspace(1e-10, 1e6, 400)
    for shift in (0.0, 3.0, 1e30):
        off, row = shifted(cells, shift)

        assert np.all(np.diff(off) >= 0)
        assert np.all(np.diff(row) >= 0)
        assert off[-1] == 0
        assert row[-1] == np.sqrt(1 + shift)


@pytest.mark.parametrize("lumped", [False, True])
def test_hats_are_linear_in_s(lumped):
    """(K(1 + shift) - K(1))/shift = K' at every shift, and further differences vanish."""
    cells, shift = np.array([0.1, 0.5, 2.0]), 2.5
    at_one = hat_elements(cells, 1, lumped=lumped)
    differences = hat_differences(cells, shift, 3, lumped=lumped)

    for got, known in ((differences.off, at_one.off), (differences.row, at_one.row)):
        assert_allclose((got[:, 0] - known[:, 0]) / shift, got[:, 1], rtol=1e-12, atol=1e-15)
        assert_allclose(got[:, 1], known[:, 1])
        assert not got[:, 2:].any()
    assert_allclose(hat_differences(cells, shift, 0, lumped=lumped).off, differences.off[:, :1])


def true_interpolation(h, z, order):
    """P, Q, their slopes, g(z, z) and its slope: Taylor coefficients (6, order)."""
    with mp.workdps(120):
        h, z = mp.mpf(float(h)), mp.mpf(float(z))
        functions = (
            lambda r: mp.sinh(r * (h - z)) / mp.sinh(r * h),
            lambda r: mp.sinh(r * z) / mp.sinh(r * h),
            lambda r: -r * mp.cosh(r * (h - z)) / mp.sinh(r * h),
            lambda r: r * mp.cosh(r * z) / mp.sinh(r * h),
            lambda r: mp.sinh(r * z) * mp.sinh(r * (h - z)) / (r * mp.sinh(r * h)),
            lambda r: mp.sinh(r * (h - 2 * z)) / mp.sinh(r * h),
        )
        return [mp.taylor(lambda s, f=f: f(mp.sqrt(s)), 1, order - 1) for f in functions]


@pytest.mark.parametrize("h", [1e-8, 0.02, 1.0, 2.49, 2.51, 8.0, 1e3])
def test_interpolation_between_nodes_keeps_its_digits(h):
    """Relative to the largest value in the cell; the slopes are derivatives in z of the same functions."""
    near = np.minimum(h, [0.0, 1e-6 * h, 0.2 * h, 0.5 * h, 0.9, 3.0])
    z = np.unique([*near, *(h - near)])
    expected = np.array([true_interpolation(h, x, 4) for x in z], dtype=float)  # (n, 6, 4)
    largest = np.abs(expected).max(axis=0)
    for order in (1, 2, 3, 4):
        at = hyperbolic_interpolation(np.full(len(z), h), z, order)
        curves = [at.left, at.right, at.left_slope, at.right_slope]
        last = np.stack([at.bridge, at.bridge_slope], axis=1)

        for i, values in enumerate(curves):
            assert_allclose((values - expected[:, i, :order]) / largest[i, :order], 0, atol=1e-14)
        assert_allclose((last - expected[:, 4:, order - 1]) / largest[4:, order - 1], 0, atol=1e-14)
