import pickle
from dataclasses import FrozenInstanceError, replace

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from netbo.errors import GraphError, PointError
from netbo.geometry import MetricGraph, Points, circle, grid, interval, star


def two_components() -> MetricGraph:
    """Triangle, and a loop with a tail."""
    return MetricGraph(
        [0, 1, 2, 3, 3],
        [1, 2, 0, 3, 4],
        [1.0, 1.0, 1.0, 2.0, 5.0],
        edge_ids=["ab", "bc", "ca", "loop", "tail"],
        vertex_ids=list("abcde"),
        unit="km",
    )


def test_counts_degrees_and_components():
    graph = two_components()

    assert (graph.n_vertices, graph.n_edges, graph.total_length) == (5, 5, 10.0)
    assert_array_equal(graph.degrees, [2, 2, 2, 3, 1])  # a loop counts twice
    assert_array_equal(graph.components, [0, 0, 0, 1, 1])
    assert (graph.n_components, graph.is_connected, graph.dimension) == (2, False, None)


def test_repr_is_one_line_with_unit():
    assert repr(two_components()) == "MetricGraph(5 vertices, 5 edges, total length 10 km, 2 components)"
    assert repr(circle(2.5)) == "MetricGraph(1 vertex, 1 edge, total length 2.5, 1 component)"


def test_everything_is_read_only():
    graph = grid(2, 2)

    with pytest.raises(FrozenInstanceError):
        graph.lengths = np.ones(4)
    for array in (graph.tails, graph.heads, graph.lengths, graph.positions, graph.degrees, graph.components):
        assert not array.flags.writeable
    with pytest.raises(TypeError):
        graph.edge_attributes["new"] = [1]


def test_arrays_given_stay_the_callers():
    lengths = np.ones(1)
    graph = MetricGraph([0], [1], lengths)
    lengths[0] = 5.0

    assert graph.total_length == 1.0


def test_pickling_keeps_everything_and_the_lock():
    graph = replace(circle(2.0), unit="m", crs="EPSG:25832", edge_attributes={"kind": ["ring"]})
    copy = pickle.loads(pickle.dumps(graph))

    assert copy.has_edges_of(graph)
    assert (copy.unit, copy.crs, dict(copy.edge_attributes)) == ("m", "EPSG:25832", {"kind": ["ring"]})
    assert_array_equal(copy.curves.coordinates, graph.curves.coordinates)
    assert not copy.lengths.flags.writeable
    assert not copy.curves.coordinates.flags.writeable


def test_lengths_may_be_the_drawn_ones():
    corner = [[0, 0], [3, 0], [3, 4]]

    assert MetricGraph([0], [1], None, curves=[corner]).lengths[0] == 7.0
    assert MetricGraph([0], [1], None, positions=[[0, 0], [3, 4]]).lengths[0] == 5.0
    assert_array_equal(
        MetricGraph([0, 0], [1, 1], None, curves=[corner, None], positions=[[0, 0], [3, 4]]).lengths,
        [7.0, 5.0],
    )


def test_curves_place_the_vertices():
    graph = MetricGraph([1, 2], [2, 0], None, curves=[[[0, 0], [1, 0]], [[1, 0], [1, 1]]])

    assert_array_equal(graph.positions, [[1, 1], [0, 0], [1, 0]])


def test_attributes_are_kept_as_they_are():
    kinds = ["a", None, {"b": 1}]

    assert (
        MetricGraph([0, 0, 0], [1, 1, 1], [1, 1, 1], edge_attributes={"kind": kinds}).edge_attributes["kind"]
        is kinds
    )


def test_ids_of_numpy_become_those_of_python():
    graph = MetricGraph([0], [1], [1.0], edge_ids=np.array([7]), vertex_ids=np.array(["a", "b"]))

    assert graph.edge_ids == (7,)
    assert type(graph.edge_ids[0]) is int
    assert graph.vertex_ids == ("a", "b")
    assert type(graph.vertex_ids[0]) is str


def test_points_are_found_by_the_users_ids():
    graph = two_components()

    assert graph.points(["loop", "ab"], [1.5, 0.25]) == Points([3, 0], [1.5, 0.25])
    assert graph.points("loop", fraction=[0.0, 0.5]) == Points([3, 3], [0.0, 1.0])
    assert graph.points(["ab", "bc"], 0.5) == Points([0, 1], [0.5, 0.5])


def test_a_tuple_that_is_an_id_is_one_id():
    graph = interval(2.0).split(interval(2.0).points(0, 0.5))

    assert graph.points((0, 1), 0.25) == Points([1], [0.25])
    assert graph.points(((0, 0), (0, 1)), 0.25) == Points([0, 1], [0.25, 0.25])


@pytest.mark.parametrize(
    ("arguments", "options", "match"),
    [
        (("lop", 0.1), {}, "no edge has the id 'lop'; did you mean 'loop'"),
        ((17, 0.1), {}, r"no edge has the id 17; try one of 'ab', 'bc', 'ca', \.\.\. \(graph.edge_ids\)"),
        (([["ab"]], 0.1), {}, "edge ids must be hashable, got"),
        (((["ab"],), 0.1), {}, "edge ids must be hashable, got .*; pass a flat sequence"),
        (("ab",), {}, "needs distance or fraction, got 0 of them; pass exactly one"),
        (("ab", 0.1), {"fraction": 0.1}, "needs distance or fraction, got 2"),
        ((["ab", "bc"], [0.1, 0.2, 0.3]), {}, "must match, got 2 and 3; give one place"),
        (("ab", 1.5), {}, "within the edge, got 1.5 on edge 'ab'"),
    ],
)
def test_points_off_the_network_are_refused(arguments, options, match):
    with pytest.raises(PointError, match=match):
        two_components().points(*arguments, **options)


def test_the_hint_sees_through_types():
    with pytest.raises(PointError, match=r"no edge has the id '0'; did you mean 0?"):
        interval().points("0", 0.5)


def test_vertex_points_stand_for_the_vertices():
    graph = grid(3, 4)

    assert_array_equal(graph.embed(graph.vertex_points()), graph.positions)
    assert_array_equal(graph.embed(graph.vertex_points([7, 2])), graph.positions[[7, 2]])
    assert len(graph.vertex_points([])) == 0


def test_vertex_points_refuse_unknown_vertices():
    with pytest.raises(PointError, match=r"vertices must lie in 0\.\.1, got 2; find the index of a name"):
        interval().vertex_points([2])


def test_vertex_ids_have_indices():
    assert_array_equal(two_components().vertex_indices(["c", "a"]), [2, 0])
    with pytest.raises(GraphError, match="no vertex has the id 'z'; try one of 'a', 'b', 'c'"):
        two_components().vertex_indices("z")


def test_bind_forgives_rounding_and_nothing_else():
    graph = interval(3.0)

    assert graph.bind(Points([0], [3.0 * (1 + 1e-13)])).z[0] == 3.0
    with pytest.raises(PointError, match=r"within the edge, got 3.00000003"):
        graph.bind(Points([0], [3.00000003]))


def test_bind_knows_points_of_another_graph():
    graph = star(3)
    points = graph.points(0, 0.5)

    assert graph.bind(points) is points
    assert pickle.loads(pickle.dumps(graph)).bind(points) == points
    with pytest.raises(
        PointError, match=r"must lie on .*2 vertices.*, got points of .*4 vertices.*; map them with"
    ):
        interval().bind(points)


def test_component_of_points():
    graph = two_components()

    assert_array_equal(graph.component_of(graph.points(["tail", "ab"], 0.5)), [1, 0])


def test_subgraph_keeps_names_attributes_and_drawing():
    positions = np.arange(10.0).reshape(5, 2)
    graph = replace(
        two_components(), positions=positions, edge_attributes={"rank": np.arange(5), "kind": "vwxyz"}
    )
    part = graph.subgraph(1)

    assert repr(part) == "MetricGraph(2 vertices, 2 edges, total length 7 km, 1 component)"
    assert (part.edge_ids, part.vertex_ids) == (("loop", "tail"), ("d", "e"))
    assert_array_equal(part.positions, positions[3:])
    assert_array_equal(part.edge_attributes["rank"], [3, 4])
    assert part.edge_attributes["kind"] == ["y", "z"]


def test_subgraph_keeps_curves():
    square = [[0, 0], [1, 0], [1, 1]]
    graph = MetricGraph([0, 2], [1, 3], None, curves=[[[5, 5], [6, 6]], square])
    part = graph.subgraph(1)

    assert_allclose(part.embed(part.points(1, 1.5)), [[1.0, 0.5]])


def test_subgraph_refuses_unknown_components():
    with pytest.raises(GraphError, match=r"labelled 0\.\.1, got 2; see .components"):
        two_components().subgraph(2)


def test_a_graph_without_coordinates_cannot_be_drawn():
    graph = two_components()

    with pytest.raises(GraphError, match="needs coordinates, got neither; pass curves= or positions="):
        graph.embed(graph.points("ab", 0.5))
    with pytest.raises(GraphError, match="needs coordinates"):
        graph.nearest([[0, 0]])


def test_lengths_over_eighteen_orders_of_magnitude_stay_apart():
    graph = MetricGraph([0, 1, 2], [1, 2, 3], [1e-9, 1e9, 1e-9])
    ends = graph.vertex_points()

    assert_allclose(graph.distance(ends[:1], ends), [[0.0, 1e-9, 1e9, 1e9]], rtol=1e-14)
    assert_allclose(graph.distance(ends[2:], ends[3:]), [[1e-9], [0.0]], rtol=1e-14)
