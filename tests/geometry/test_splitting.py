import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from netbo import geometry
from netbo.geometry import MetricGraph, circle, interval, split_at


def test_pieces_take_the_place_of_their_edge():
    graph = MetricGraph(
        [0, 1],
        [1, 2],
        [4.0, 1.0],
        edge_ids=["a", "b"],
        edge_attributes={"kind": ["old", "new"], "k": np.array([7, 8])},
    )
    split = graph.split(graph.points("a", [3.0, 1.0]))

    assert split.edge_ids == (("a", 0), ("a", 1), ("a", 2), "b")
    assert_array_equal(split.tails, [0, 3, 4, 1])
    assert_array_equal(split.heads, [3, 4, 1, 2])
    assert_array_equal(split.lengths, [1.0, 2.0, 1.0, 1.0])
    assert split.edge_attributes["kind"] == ["old", "old", "old", "new"]
    assert_array_equal(split.edge_attributes["k"], [7, 7, 7, 8])
    assert split.vertex_ids == range(5)


def test_named_vertices_get_named_company():
    graph = MetricGraph([0], [1], [4.0], edge_ids=["road"], vertex_ids=["a", "b"])

    assert graph.split(graph.points("road", 1.5)).vertex_ids == ("a", "b", ("road", 1.5))


def test_points_at_vertices_and_repeated_points_change_nothing():
    graph = interval(2.0)

    assert graph.split(graph.vertex_points()) is graph
    assert graph.split(graph.points(0, [1e-15, 2.0 - 1e-15])) is graph
    assert graph.split(graph.points(0, [0.5, 0.5, 0.5 + 1e-15])).n_edges == 2


def test_a_loop_may_be_split():
    split = circle(6.0).split(circle(6.0).points(0, [2.0, 4.0]))

    assert (split.n_vertices, split.n_edges, split.is_connected) == (3, 3, True)
    assert_array_equal(split.degrees, [2, 2, 2])


def test_cuts_at_corners_and_between_keep_the_drawing():
    curve = [[0, 0], [2, 0], [2, 2], [4, 2]]
    graph = MetricGraph([0], [1], [12.0], curves=[curve])
    split = split_at(graph, graph.points(0, [4.0, 5.0, 6.0]))
    x = graph.points(0, np.linspace(0, 12, 25))

    assert_allclose(split.graph.embed(split.transfer(x)), graph.embed(x), atol=1e-14)
    assert_allclose(split.graph.positions, [[0, 0], [4, 2], [2, 0], [2, 0.5], [2, 1]])
    assert_allclose(split.graph.drawing.tail_places, split.graph.positions[split.graph.tails])


def test_transfer_counts_from_the_new_tail():
    graph = interval(4.0)
    split = split_at(graph, graph.points(0, [1.0, 3.0]))
    moved = split.transfer(graph.points(0, [0.5, 1.0, 2.5, 4.0]))

    assert_array_equal(moved.edge, [0, 1, 1, 2])
    assert_array_equal(moved.z, [0.5, 0.0, 1.5, 1.0])
    assert moved.graph is split.graph


@pytest.mark.parametrize(
    ("older", "newer"),
    [
        ("splitting", "split_at"),
        ("merging", "merge_degree_two"),
        ("cutting", "cut_at"),
        ("contracting", "contract"),
    ],
)
def test_the_older_names_of_changes_to_a_graph_still_work(older, newer):
    assert getattr(geometry, older) is getattr(geometry, newer)
