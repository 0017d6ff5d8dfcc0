import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from netbo import MetricGraph, open_rectangle, star
from netbo.errors import ParameterError, PointError
from netbo.plotting.profile import lay_out


def fork():
    """Edges a: 0 -> 1, b: 2 -> 1, c: 2 -> 3, d: 1 -> 4."""
    return MetricGraph([0, 2, 2, 1], [1, 1, 3, 4], [1.0, 2.0, 3.0, 4.0], edge_ids=list("abcd"))


def test_edges_are_turned_to_go_on_where_the_last_one_ended():
    route = lay_out(fork(), ["a", "b", "c"])

    assert_array_equal(route.is_reversed, [False, True, False])
    assert_array_equal(route.first_vertices, [0, 1, 2])
    assert_array_equal(route.last_vertices, [1, 2, 3])
    assert np.all(route.is_joined)
    assert_array_equal(route.starts, [0, 1, 3, 6])


def test_the_first_edge_is_turned_towards_the_second():
    route = lay_out(fork(), ["c", "b", "a"])

    assert_array_equal(route.is_reversed, [True, False, True])
    assert np.all(route.is_joined)


def test_a_route_may_jump():
    assert_array_equal(lay_out(fork(), ["a", "c", "d"]).is_joined, [False, False])


def test_without_names_all_edges_are_laid_out_in_order():
    route = lay_out(open_rectangle(), None)

    assert_array_equal(route.edges, np.arange(5))
    assert route.starts[-1] == 75


def test_samples_run_along_the_axis_and_along_the_edges():
    """On the reversed edge b the axis runs on while z falls."""
    route = lay_out(fork(), ["a", "b"])
    row, place, points = route.sample(30)
    on_b = row == 1

    assert np.all(np.diff(place) >= 0)
    assert place[-1] == 3
    assert_allclose(place[on_b], 1 + (2 - points.z[on_b]))
    assert (points.z[on_b][0], points.z[on_b][-1]) == (2, 0)


def test_places_of_points_on_the_route():
    graph = fork()
    route = lay_out(graph, ["a", "b"])
    index, place = route.place(graph.points(["b", "a", "d"], [0.5, 0.25, 2.0]))

    assert_array_equal(index, [0, 1])
    assert_allclose(place, [2.5, 0.25])


def test_a_vertex_is_found_by_any_of_its_edges():
    """The fork's vertex 1, named as an end of an edge that is not on the route, and it appears once."""
    graph = fork()
    index, place = lay_out(graph, ["a", "b"]).place(graph.points("d", [0.0]))

    assert_array_equal(index, [0])
    assert_array_equal(place, [1.0])


def test_the_centre_of_a_star_appears_wherever_the_route_passes():
    graph = star(3)
    _, place = lay_out(graph, None).place(graph.vertex_points([0]))

    assert_array_equal(place, [1.0, 2.0])


def test_a_route_needs_an_edge_that_exists():
    with pytest.raises(ParameterError, match="a profile needs at least one edge, got none"):
        lay_out(fork(), [])
    with pytest.raises(PointError, match="z"):
        lay_out(fork(), ["z"])
