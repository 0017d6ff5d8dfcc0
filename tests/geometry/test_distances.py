import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from netbo.geometry import MetricGraph, Points, circle, distances, interval, road, star, uniform_points


def test_on_an_interval_distance_is_the_difference():
    graph = interval(5.0)
    z = np.array([0.0, 1.25, 5.0])
    x = graph.points(0, z)

    assert_array_equal(graph.distance(x, x), np.abs(z[:, None] - z))


def test_on_a_circle_the_shorter_way_round_counts():
    graph = circle(8.0)
    x = graph.points(0, [0.0, 1.0, 3.0, 6.5, 8.0])

    assert_allclose(graph.distance(x[1:2], x), [[1.0, 0.0, 2.0, 2.5, 1.0]], rtol=1e-15)


def test_a_shortcut_beats_the_own_edge():
    """Two points of one long edge are nearer around through its parallel."""
    graph = MetricGraph([0, 0], [1, 1], [10.0, 1.0])
    x = graph.points([0, 0], [1.0, 9.0])

    assert graph.distance(x[:1], x[1:])[0, 0] == 3.0


def test_parallel_edges_are_not_added_up():
    graph = MetricGraph([0, 1, 0], [1, 0, 1], [3.0, 2.0, 7.0])
    x = graph.vertex_points()

    assert_array_equal(graph.distance(x, x), [[0.0, 2.0], [2.0, 0.0]])


def test_every_name_of_a_vertex_is_the_vertex():
    graph = star(3, 2.0)
    centre = graph.points([0, 1, 2], 0.0)

    assert_array_equal(graph.distance(centre, centre), np.zeros((3, 3)))
    assert_array_equal(graph.distance(centre, graph.points(1, 2.0)), np.full((3, 1), 2.0))


def test_between_components_distance_is_infinite():
    graph = MetricGraph([0, 2], [1, 3], [1.0, 1.0])
    x = graph.points([0, 1], [0.5, 0.5])

    assert_array_equal(graph.distance(x, x), [[0.0, np.inf], [np.inf, 0.0]])


def test_the_shape_is_that_of_the_two_sides():
    graph = circle(1.0)
    none, some = Points([], []), graph.points(0, [0.1, 0.2, 0.3])

    assert graph.distance(none, some).shape == (0, 3)
    assert graph.distance(some, none).shape == (3, 0)
    assert graph.distance(some, some[:2]).shape == (3, 2)


def test_blocks_of_sources_change_nothing(monkeypatch):
    graph = road(60, seed=1)
    x = uniform_points(graph, 40, np.random.default_rng(2))
    x = Points.concatenate([x, x[:5], graph.vertex_points()[:5]])
    whole = graph.distance(x, x)
    monkeypatch.setattr(distances, "MAX_ENTRIES", 500)

    assert_array_equal(graph.distance(x, x), whole)


def test_points_a_hair_apart_keep_their_distance():
    """Differences of z, not of sums of lengths."""
    graph = MetricGraph([0, 1], [1, 2], [1e9, 1e-9])
    x = graph.points(1, [1e-10, 3e-10])

    assert graph.distance(x[:1], x[1:])[0, 0] == pytest.approx(2e-10, rel=1e-14)


def test_a_point_just_beside_a_vertex_is_a_source_of_its_own():
    """A link that rounds to zero would read as no link."""
    graph = interval(1.0)
    z = np.array([0.0, 5e-324, 1e-300, 1.0])
    x = graph.points(0, z)

    assert_array_equal(graph.distance(x, x), np.abs(z[:, None] - z))


def test_one_search_finds_the_distance_from_the_nearest():
    """The smallest of all distances, to the bit: also on the edge of a source, from a vertex, on a loop."""
    graph = MetricGraph([0, 1, 2, 2, 4], [1, 2, 2, 3, 5], [2.0, 3.0, 4.0, 1.0, 2.0])  # two components
    rng = np.random.default_rng(2)
    x = Points.concatenate([uniform_points(graph, 6, rng), graph.points([0, 3], [0.0, 1.0])])
    y = Points.concatenate([uniform_points(graph, 200, rng), graph.vertex_points(), x])

    assert_array_equal(distances.to_nearest(graph, x, y), graph.distance(x, y).min(axis=0))


def test_a_limit_leaves_all_shorter_distances_as_they_are():
    graph, rng = road(40, seed=1), np.random.default_rng(3)
    x, y = uniform_points(graph, 5, rng), uniform_points(graph, 300, rng)
    whole, limit = graph.distance(x, y), 0.3 * graph.diameter
    found = distances.between(graph, x, y, limit=limit)
    is_short = whole <= limit

    assert 0 < is_short.sum() < is_short.size
    assert_array_equal(found[is_short], whole[is_short])
    assert np.all(found >= whole)
