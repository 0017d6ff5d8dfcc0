import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from numpy.testing import assert_array_equal

from netbo import MetricGraph, Points, grid, open_rectangle
from netbo.errors import PointError
from netbo.geometry.distances import shortest_path
from netbo.plotting.profile import Route
from support.strategies import metric_graphs, points_on


def shortest_route(graph: MetricGraph, start: Points, end: Points) -> Route:
    return Route(graph, *shortest_path(graph, start, end))


@given(metric_graphs(), st.data())
def test_a_route_is_as_long_as_the_distance_and_has_no_jump(graph, data):
    both = data.draw(points_on(graph, max_size=2))
    assume(len(both) == 2)
    distance = graph.distance(both[:1], both[1:])[0, 0]
    assume(0 < distance < np.inf)
    route = shortest_route(graph, both[:1], both[1:])
    _, _, points = route.sample(1)

    assert route.starts[-1] == pytest.approx(distance)
    assert np.all(route.is_joined)
    assert graph.distance(points[:1], both[:1])[0, 0] == pytest.approx(0, abs=1e-9)
    assert graph.distance(points[-1:], both[1:])[0, 0] == pytest.approx(0, abs=1e-9)


def test_within_an_edge_it_may_be_shorter_to_leave_it():
    """A long edge beside a short one: from end to end of the long one the short one is taken."""
    graph = MetricGraph([0, 0], [1, 1], [10.0, 1.0])
    route = shortest_route(graph, graph.points(0, 1.0), graph.points(0, 9.5))

    assert_array_equal(route.edges, [0, 1, 0])
    assert_array_equal(route.is_reversed, [True, False, True])
    assert route.starts[-1] == 2.5


def test_the_shortest_of_parallel_edges_is_taken():
    graph = MetricGraph([0, 1, 1, 2], [1, 2, 2, 3], [1.0, 5.0, 2.0, 1.0])

    assert_array_equal(shortest_route(graph, graph.points(0, 0.0), graph.points(3, 1.0)).edges, [0, 2, 3])


def test_observations_beyond_the_ends_of_a_path_are_not_on_it():
    graph = open_rectangle()
    route = shortest_route(graph, graph.points(2, 4.0), graph.points(2, 10.0))
    index, place = route.place(graph.points(2, [3.9, 5.0, 10.1, 0.0]))

    assert_array_equal(index, [1])
    assert_array_equal(place, [1.0])


def test_a_path_needs_two_different_places_of_one_component():
    apart = MetricGraph([0, 2], [1, 3], [1.0, 1.0])
    street = grid(2, 2)

    with pytest.raises(PointError, match="two places of one component"):
        shortest_route(apart, apart.points(0, 0.5), apart.points(1, 0.5))
    with pytest.raises(PointError, match="two different places"):
        shortest_route(street, street.points(0, 0.5), street.points(0, 0.5))
    with pytest.raises(PointError, match="one place as its end"):
        shortest_route(street, street.points(0, 0.5), street.points(0, [0.1, 0.2]))
