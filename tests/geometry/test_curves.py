import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from netbo.geometry import MetricGraph, grid, road


def test_distance_is_drawn_at_the_same_share_of_the_curve():
    """Length 14 on a curve of drawn length 7: each unit of z is half a unit of the drawing."""
    graph = MetricGraph([0], [1], [14.0], curves=[[[0, 0], [3, 0], [3, 4]]])
    places = graph.embed(graph.points(0, [0.0, 3.0, 6.0, 8.0, 14.0]))

    assert_allclose(places, [[0, 0], [1.5, 0], [3, 0], [3, 1], [3, 4]])


def test_curves_in_space_have_three_coordinates():
    graph = MetricGraph([0], [1], None, curves=[[[0, 0, 0], [0, 0, 2]]])

    assert graph.dimension == 3
    assert graph.points(0, 0.5)[0].xy == (0.0, 0.0, 0.5)


def test_repeated_corners_and_dots_are_harmless():
    curves = [[[0, 0], [0, 0], [2, 0], [2, 0]], [[2, 0], [2, 0], [2, 0]]]
    graph = MetricGraph([0, 1], [1, 1], [2.0, 5.0], curves=curves)
    places = graph.embed(graph.points([0, 0, 0, 1, 1, 1], [0, 1, 2, 0, 2.5, 5]))

    assert_allclose(places, [[0, 0], [1, 0], [2, 0], [2, 0], [2, 0], [2, 0]])


def test_a_short_edge_after_long_ones_keeps_its_digits():
    """Sums over all curves at once would lose what is small against the total."""
    far = np.linspace(0, 1e9, 1000)
    long = np.stack([far, np.zeros(1000)], axis=1)
    short = 1e-6 * np.stack([np.arange(5.0), np.zeros(5)], axis=1)
    graph = MetricGraph([0, 0], [1, 2], None, curves=[long, short])

    assert graph.lengths[1] == pytest.approx(4e-6, rel=1e-14)
    assert_allclose(graph.drawing.fractions[1000:], [0, 0.25, 0.5, 0.75, 1], rtol=1e-14)


def test_fractions_rise_from_zero_to_one_on_every_edge():
    curves = road(200, seed=3).curves
    first, last = curves.starts[:-1], curves.starts[1:] - 1

    assert np.all(curves.fractions[first] == 0)
    assert np.all(curves.fractions[last] == 1)
    assert np.all(np.diff(curves.fractions)[curves.segments] > 0)


def test_straight_edges_need_no_curves():
    graph = grid(2, 2)

    assert graph.curves is None
    assert len(graph.drawing) == 4
    assert_array_equal(graph.drawing.head_places, graph.positions[graph.heads])
