import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from netbo.errors import GraphError, ParameterError
from netbo.geometry import MetricGraph, contract, merge_vertices, star


def two_roundabouts() -> MetricGraph:
    """Long road between two pairs of vertices that are meant to be one."""
    return MetricGraph(
        [0, 1, 2, 2],
        [1, 2, 3, 3],
        [0.01, 5.0, 0.02, 8.0],
        edge_ids=list("abcd"),
        edge_attributes={"k": [1, 2, 3, 4]},
    )


def test_short_edges_disappear_and_what_they_closed_becomes_a_loop():
    graph = merge_vertices(two_roundabouts(), 0.1)

    assert graph.edge_ids == ("b", "d")
    assert graph.vertex_ids == (0, 2)
    assert graph.edge_attributes["k"] == [2, 4]
    assert_array_equal(np.stack([graph.tails, graph.heads]), [[0, 1], [1, 1]])


def test_points_of_short_edges_go_to_the_vertex():
    graph = two_roundabouts()
    merged = contract(graph, 0.1)
    moved = merged.transfer(graph.points(["a", "b", "c", "d"], [0.005, 2.0, 0.0, 3.0]))
    vertices = merged.graph.vertex_points()

    assert_array_equal(merged.graph.distance(moved[[0, 2]], vertices), [[0.0, 5.0], [5.0, 0.0]])
    assert_array_equal(moved.z[[1, 3]], [2.0, 3.0])


def test_vertices_drawn_at_one_place_become_one():
    """Lines of a drawing whose ends were not snapped."""
    curves = [[[0, 0], [1, 0]], [[1.001, 0], [2, 0]], [[1, 0.001], [1, 1]]]
    graph = MetricGraph([0, 2, 4], [1, 3, 5], None, curves=curves)

    assert graph.n_components == 3
    assert merge_vertices(graph, 0.01).n_components == 1
    assert merge_vertices(graph, 1e-6) is graph


def test_curves_are_drawn_up_to_the_vertex_that_stays():
    curves = [[[0, 0], [0.5, 1], [1, 0]], [[1.001, 0], [2, 0]]]
    graph = merge_vertices(MetricGraph([0, 2], [1, 3], None, curves=curves), 0.01)

    assert_array_equal(graph.drawing.tail_places[1], graph.drawing.head_places[0])
    assert_array_equal(graph.embed(graph.points(0, fraction=0.5)), [[0.5, 1]])


def test_the_tolerance_is_in_the_unit_of_the_lengths():
    """Drawn in degrees, measured in metres: one metre is not one degree."""
    degrees = np.array([[0, 0], [0.001, 0], [0.00100001, 0], [0.002, 0]])
    graph = MetricGraph([0, 2], [1, 3], [111.0, 111.0], positions=degrees)

    assert_allclose(merge_vertices(graph, 1.0).positions, degrees[[0, 1, 3]])


def test_short_loops_stay():
    graph = MetricGraph([0, 0], [1, 0], [5.0, 0.01])

    assert merge_vertices(graph, 0.1) is graph


def test_a_barrier_heals():
    graph = star(4).cut(0, [0, 1])

    assert merge_vertices(graph, 1e-9).is_connected


def test_a_tolerance_that_leaves_nothing_is_refused():
    with pytest.raises(
        GraphError, match=r"in every component, got 9.0, which leaves none at vertex 0; lower it"
    ):
        merge_vertices(two_roundabouts(), 9.0)


@pytest.mark.parametrize("tolerance", [-1.0, np.nan, np.inf])
def test_a_tolerance_is_a_length(tolerance):
    with pytest.raises(ParameterError, match=r"tolerance must be a finite length, got .*; use 0"):
        merge_vertices(two_roundabouts(), tolerance)
