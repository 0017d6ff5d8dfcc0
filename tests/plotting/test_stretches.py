import matplotlib.pyplot as plt
import numpy as np
import pytest
from matplotlib.collections import LineCollection
from numpy.testing import assert_allclose, assert_array_equal

from netbo import MetricGraph, grid, interval, road
from netbo.errors import ParameterError
from netbo.plotting import draw_stretches, style


def lines(ax):
    return [each for each in ax.collections if isinstance(each, LineCollection)]


def test_stretches_follow_the_bends_and_are_as_long_as_asked():
    graph = road(20, seed=4)
    _, drawn = lines(draw_stretches(graph, [3, 7], graph.lengths[[3, 7]] * 0.2, graph.lengths[[3, 7]] * 0.9))
    segments = np.array(drawn.get_segments())
    _, off = graph.nearest(segments.reshape(-1, 2))

    assert off.max() < 1e-9
    assert np.linalg.norm(np.diff(segments, axis=1), axis=2).sum() == pytest.approx(
        0.7 * graph.lengths[[3, 7]].sum()
    )


def test_the_largest_values_are_on_top_and_have_a_colour_bar():
    graph = interval(4.0)
    ax = draw_stretches(graph, [0, 0, 0], [0, 1, 2], [1, 2, 3], values=[2.0, 9.0, 5.0], label="share")
    drawn = lines(ax)[-1]

    assert_array_equal(drawn.get_array(), [2.0, 5.0, 9.0])
    assert_allclose(np.array(drawn.get_segments())[:, 0, 0], [0, 2, 1])
    assert drawn.colorbar.ax.get_ylabel() == "share"


def test_without_values_they_have_one_colour_and_a_name():
    _, ax = plt.subplots()
    drawn = draw_stretches(interval(4.0), 0, 3.0, 1.0, ax, label="to search")

    assert drawn is ax
    assert lines(ax)[0].get_label() == "to search"
    assert_allclose(lines(ax)[0].get_segments()[0][:, 0], [1.0, 3.0])


def test_a_single_place_is_drawn_as_a_dot():
    (segment,) = lines(draw_stretches(interval(4.0), [0], [2.0], [2.0]))[-1].get_segments()

    assert_array_equal(segment, [[2.0, 0.0], [2.0, 0.0]])


def test_few_stretches_on_a_dense_network_stay_visible():
    drawn = lines(draw_stretches(grid(80, 80), [0], [0.0], [1.0]))[-1]

    assert drawn.get_linewidth()[0] == style.STRETCH_WIDTH


def test_numbers_must_match():
    graph = MetricGraph([0, 1], [1, 2], [1.0, 1.0], positions=[[0, 0], [1, 0], [2, 0]])
    with pytest.raises(ParameterError, match="stretches need one value each, got 1 for 2"):
        draw_stretches(graph, [0, 1], [0.0, 0.0], [1.0, 1.0], values=[1.0])
    with pytest.raises(ParameterError, match="stretches need one start each, got 3 for 2"):
        draw_stretches(graph, [0, 1], [0.0, 0.0, 0.0], [1.0, 1.0])
