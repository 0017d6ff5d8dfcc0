import numpy as np
import pytest
from numpy.testing import assert_allclose

from netbo.errors import ParameterError
from netbo.plotting import draw_calibration


def test_values_stand_over_predictions_and_those_beyond_two_sd_apart():
    ax = draw_calibration([1.0, 2.0, 3.0], [0.5, 0.1, np.inf], [1.5, 2.5, 9.0], label="flow (l/s)")
    within, beyond = ax.containers

    assert_allclose(within.lines[0].get_xydata(), [[1.0, 1.5]])
    assert_allclose(beyond.lines[0].get_xydata(), [[2.0, 2.5]])
    assert [text.get_text() for text in ax.get_legend().get_texts()] == ["within 2 sd", "beyond"]
    assert ax.get_ylabel() == "flow (l/s)"


def test_bars_are_two_standard_deviations_to_either_side():
    ax = draw_calibration([1.0], [0.5], [1.5])
    (bar,) = ax.containers[0].lines[2]

    assert_allclose(bar.get_segments()[0], [[0.0, 1.5], [2.0, 1.5]])


def test_nothing_to_predict_is_an_empty_picture():
    assert not draw_calibration([1.0], [np.inf], [1.0]).containers


def test_columns_must_match():
    with pytest.raises(
        ParameterError, match="one prediction and one standard deviation a value, got 2, 1 and 2"
    ):
        draw_calibration([1.0, 2.0], [1.0], [1.0, 2.0])
