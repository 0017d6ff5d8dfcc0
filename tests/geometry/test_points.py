import pickle

import numpy as np
import pytest

from netbo.errors import PointError
from netbo.geometry import MetricGraph, Point, Points, interval, open_rectangle


@pytest.fixture
def named() -> MetricGraph:
    return MetricGraph([0, 1], [1, 2], [2.0, 4.0], positions=[[0, 0], [2, 0], [2, 4]], edge_ids=["a", "b"])


def test_points_of_no_graph_know_edge_and_distance_only():
    point = Points([3], [0.5])[0]

    assert point == Point(3, 0.5)
    assert (point.edge_id, point.distance, point.fraction, point.xy) == (3, 0.5, None, None)


def test_points_of_a_graph_speak_the_words_of_its_user(named):
    point = named.points("b", 1.0)[0]

    assert (point.edge, point.edge_id, point.distance, point.fraction) == (1, "b", 1.0, 0.25)
    assert point.xy == (2.0, 1.0)


def test_points_of_a_graph_without_coordinates_have_no_xy():
    point = MetricGraph([0], [1], [2.0]).points(0, 1.0)[0]

    assert (point.fraction, point.xy) == (0.5, None)


def test_iterating_gives_what_indexing_gives(named):
    points = named.points(["a", "b", "a"], [0.0, 4.0, 1.0])

    assert list(points) == [points[0], points[1], points[-1]]
    assert [point.xy for point in points] == [(0.0, 0.0), (2.0, 4.0), (1.0, 0.0)]


def test_slices_masks_and_index_arrays_stay_bound(named):
    points = named.points(["a", "b", "a"], [0.0, 4.0, 1.0])

    assert points[1:] == Points([1, 0], [4.0, 1.0])
    assert points[points.edge == 0] == Points([0, 0], [0.0, 1.0])
    assert points[np.array([2, 0])] == Points([0, 0], [1.0, 0.0])
    assert points[[2, 0]].graph is named


def test_an_index_beyond_the_last_point_is_an_index_error():
    with pytest.raises(IndexError):
        Points([0], [0.0])[1]


def test_equality_is_by_value_and_never_by_graph(named):
    assert named.points("a", 1.0) == Points([0], [1.0])
    assert Points([0], [1.0]) != Points([0], [2.0])
    assert Points([0], [1.0]) != "a"


def test_at_gathers_point_objects(named):
    points = named.points(["a", "b"], [1.0, 2.0])

    assert Points.at(points) == points
    assert Points.at(points[1], graph=named)[0].edge_id == "b"
    assert len(Points.at([])) == 0


def test_concatenate_keeps_order_and_graph(named):
    joined = Points.concatenate([named.points("b", 1.0), Points([0], [2.0])])

    assert joined == Points([1, 0], [1.0, 2.0])
    assert joined.graph is named
    assert len(Points.concatenate([])) == 0


def test_concatenate_refuses_points_of_two_graphs():
    with pytest.raises(PointError, match="must lie on one graph, got 2; bind them"):
        Points.concatenate([interval().points(0, 0.5), interval().points(0, 0.5)])


def test_arrays_are_read_only_also_after_pickling(named):
    points = named.points("a", 1.0)
    copy = pickle.loads(pickle.dumps(points))

    assert copy == points
    assert copy[0].edge_id == "a"
    for array in (points.edge, points.z, copy.edge, copy.z):
        assert not array.flags.writeable


def test_a_point_travels_without_its_graph():
    graph = open_rectangle()
    sent = pickle.dumps(graph.points(0, 1.0)[0])

    assert len(sent) < 500
    assert pickle.loads(sent).xy == graph.points(0, 1.0)[0].xy


def test_the_array_given_stays_the_callers():
    z = np.array([1.0])
    Points([0], z)
    z[0] = 2.0

    assert z.flags.writeable


@pytest.mark.parametrize(
    ("edge", "z", "match"),
    [
        ([0], [np.nan], "finite and not negative, got nan at index 0; measure from the tail"),
        ([0, 0], [0.0, np.inf], "finite and not negative, got inf at index 1"),
        ([0], [-0.5], "finite and not negative, got -0.5"),
        ([-1], [0.5], "edges are counted from 0, got -1"),
        ([0, 1], [0.5], "one distance per edge, got 2 edges and 1 distances"),
        ([0.5], [0.5], "edges of points must be whole numbers"),
    ],
)
def test_impossible_points_are_refused(edge, z, match):
    with pytest.raises(PointError, match=match):
        Points(edge, z)


def test_points_bound_to_a_graph_lie_on_it(named):
    with pytest.raises(
        PointError, match=r"edges must lie in 0\.\.1, got 2 at index 0; address points by your"
    ):
        Points([2], [0.0], graph=named)
    with pytest.raises(PointError, match=r"within the edge, got 4.5 on edge 'b' of length 4.0; measure from"):
        Points([1], [4.5], graph=named)
    with pytest.raises(PointError, match="not negative, got nan"):
        Points([1], [np.nan], graph=named)
