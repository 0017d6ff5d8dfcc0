import matplotlib.pyplot as plt
import numpy as np
import pytest
from numpy.testing import assert_array_equal

from netbo.errors import ParameterError
from netbo.plotting import draw_convergence

VALUES = [np.nan, 1.0, 3.0, np.nan, 2.0, 4.0]


def line(ax, label):
    (found,) = [each for each in ax.lines if each.get_label() == label]
    return found


@pytest.mark.parametrize(
    ("direction", "best"),
    [("maximize", [np.nan, 1, 3, 3, 3, 4]), ("minimize", [np.nan, 1, 1, 1, 1, 1])],
)
def test_the_stair_is_the_best_so_far(direction, best):
    ax = draw_convergence(VALUES, direction=direction)

    assert_array_equal(line(ax, "best so far").get_xdata(), [1, 2, 3, 4, 5, 6])
    assert_array_equal(line(ax, "best so far").get_ydata(), best)


def test_values_stand_over_their_numbers_and_failures_at_the_foot():
    ax = draw_convergence(VALUES)

    assert_array_equal(line(ax, "observations").get_xydata(), [[2, 1], [3, 3], [5, 2], [6, 4]])
    assert_array_equal(line(ax, "failed").get_xdata(), [1, 4])
    assert ax.get_ylim()[1] < 5  # marks of failures are placed in the picture, not among the values


def test_without_failures_none_are_explained():
    ax = draw_convergence([1.0, 2.0])

    assert [text.get_text() for text in ax.get_legend().get_texts()] == ["best so far", "observations"]


def test_given_axes_are_used_and_labelled():
    _, ax = plt.subplots()

    assert draw_convergence([1.0, 2.0], ax, reference=2.5, label="pressure (bar)") is ax
    assert ax.get_ylabel() == "pressure (bar)"
    assert_array_equal(line(ax, "optimum").get_ydata(), [2.5, 2.5])


def test_all_evaluations_may_have_failed():
    ax = draw_convergence([np.nan, np.nan])

    assert_array_equal(line(ax, "failed").get_xdata(), [1, 2])


@pytest.mark.parametrize("values", [[], [[1.0, 2.0]], 3.0])
def test_values_must_be_a_vector(values):
    with pytest.raises(ParameterError, match="needs a vector of values, got shape"):
        draw_convergence(values)


def test_directions_are_two():
    with pytest.raises(ParameterError, match="one of maximize, minimize, got 'up'"):
        draw_convergence([1.0], direction="up")
