import matplotlib.pyplot as plt
import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from netbo.errors import ParameterError
from netbo.plotting import draw_regret

RUNS = [[0.5, 0.3, 0.0], [0.9, 0.2, 0.2], [0.7, 0.1, 0.1], [0.6, 0.6, 0.6], [0.8, 0.4, 0.005]]


def test_the_line_is_the_median_and_lasts_for_the_last_measurement():
    ax = draw_regret(RUNS, label="ours")
    (line,) = [each for each in ax.lines if each.get_label() == "ours"]

    assert_array_equal(line.get_xdata(), [1, 2, 3, 4])
    assert_allclose(line.get_ydata(), [0.7, 0.3, 0.1, 0.1])


def test_the_band_holds_the_central_half():
    """Of five runs the quartiles are the second and the fourth."""
    ax = draw_regret(RUNS)
    (band,) = ax.collections
    corners = band.get_paths()[0].vertices[:, 1]

    assert_allclose(sorted(set(np.round(corners, 12))), [0.005, 0.2, 0.4, 0.6, 0.8])


def test_regret_of_zero_stays_in_the_picture():
    ax = draw_regret([[1.0, 0.0]])
    low, high = ax.get_ylim()

    assert low < 0
    assert high > 1
    assert 0.0 in ax.get_yticks()


def test_methods_share_given_axes_and_one_line_of_tolerance():
    _, ax = plt.subplots()
    for label in ("ours", "theirs"):
        assert draw_regret(RUNS, ax, label=label, tolerance=0.05) is ax
    tolerance = [line for line in ax.lines if line.get_gid() == "tolerance"]

    assert len(tolerance) == 1
    assert_array_equal(tolerance[0].get_ydata(), [0.05, 0.05])
    assert (ax.get_xlabel(), ax.get_ylabel()) == ("measurements", "regret")


@pytest.mark.parametrize("regret", [[], [0.5, 0.1], [[]]])
def test_regret_must_be_a_table(regret):
    with pytest.raises(ParameterError, match=r"must be \(runs, measurements\), got shape"):
        draw_regret(regret)


@pytest.mark.parametrize("worst", [-0.1, np.nan])
def test_regret_is_never_negative(worst):
    with pytest.raises(ParameterError, match=r"not negative, got (-0.1|nan); check the maximum"):
        draw_regret([[0.5, worst]])


@pytest.mark.parametrize("tolerance", [0.0, -1.0, np.inf])
def test_the_tolerance_is_positive(tolerance):
    with pytest.raises(ParameterError, match="tolerance must be a positive regret, got"):
        draw_regret([[0.5]], tolerance=tolerance)
